pub mod gpu;

// src/gpu/pool.rs has the pool.
pub fn source(root: &str) -> String {
    std::fs::read_to_string(format!("{root}/src/gpu/pool.rs")).expect("see src/gpu/pool.rs for why")
}
