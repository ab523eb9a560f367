pub mod app;
pub mod cuda;
pub mod hip;
