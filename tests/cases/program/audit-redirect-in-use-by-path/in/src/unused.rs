pub use std::time::Instant;
