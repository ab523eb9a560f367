pub use crate::clock::Tick;
