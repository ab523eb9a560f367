pub mod core;
pub mod late;
