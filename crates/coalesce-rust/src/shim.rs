//! What a Rust shim looks like.
