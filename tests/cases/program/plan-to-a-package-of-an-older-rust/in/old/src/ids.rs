use std::sync::OnceLock;

pub static FIRST: OnceLock<u32> = OnceLock::new();
