pub mod disk;
pub mod memory;
pub mod row;
pub mod cell;
pub use cell::Value;
