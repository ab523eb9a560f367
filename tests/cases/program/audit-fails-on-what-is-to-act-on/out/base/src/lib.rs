//! What all others could stand on.

pub fn nothing() {}
