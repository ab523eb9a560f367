pub fn full(count: usize) -> Error { Error(count) }
pub struct Error(pub usize);
