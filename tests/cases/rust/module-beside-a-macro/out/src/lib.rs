pub mod layout;
pub mod shape;

#[macro_export]
macro_rules! shape {
    ($($extent:expr),*) => { $crate::shape::Shape(vec![$($extent),*]) };
}

pub fn cube() -> shape::Shape {
    shape!(1, 1, 1)
}
