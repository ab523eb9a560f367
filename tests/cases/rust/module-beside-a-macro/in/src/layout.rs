pub struct Shape(pub Vec<usize>);

pub fn extents(shape: &Shape) -> usize {
    shape.0.len()
}
