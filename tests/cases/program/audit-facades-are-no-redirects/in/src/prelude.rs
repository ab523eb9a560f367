pub use crate::clock::{Instant, Tick};
