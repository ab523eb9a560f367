//! [`Shape`].

pub struct Shape(pub Vec<usize>);
