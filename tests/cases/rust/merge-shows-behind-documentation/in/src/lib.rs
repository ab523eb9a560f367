//! Statistics.
pub mod legacy;
pub mod moments;
pub mod quantile;
