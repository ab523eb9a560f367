#[cfg(unix)]
pub use crate::clock::Instant;
#[cfg(not(unix))]
pub use crate::clock::Tick as Instant;
