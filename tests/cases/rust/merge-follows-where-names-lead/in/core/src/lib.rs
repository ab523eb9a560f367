//! Units: a re-export at the root stands for what `types` defines.
pub mod funcs;
pub mod sums;
pub mod types;
pub use types::{Kind, Unit};
