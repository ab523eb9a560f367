//! Two.
