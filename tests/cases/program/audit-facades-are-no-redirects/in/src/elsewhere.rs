pub use std::time::Duration;
