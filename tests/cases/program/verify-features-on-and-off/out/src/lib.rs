pub mod core;
pub mod user;
