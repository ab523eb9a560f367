//! What all backends stand on.

pub fn nothing() {}
