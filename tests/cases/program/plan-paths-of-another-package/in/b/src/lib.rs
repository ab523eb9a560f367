pub fn own(root: &str) -> String {
    format!("{root}/src/gpu/pool.rs")
}
