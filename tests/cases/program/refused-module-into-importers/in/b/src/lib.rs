//! The module is imported by what a third one shows: both would be defined there.
pub mod mid;
pub mod new;
pub mod old;
