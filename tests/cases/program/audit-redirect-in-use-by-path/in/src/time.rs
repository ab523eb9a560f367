pub use crate::clock::Duration;
