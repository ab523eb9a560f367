pub use crate::clock::Instant;
