pub use crate::old;
