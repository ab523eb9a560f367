pub mod layout;

#[macro_export]
macro_rules! shape {
    ($($extent:expr),*) => { $crate::layout::Shape(vec![$($extent),*]) };
}

pub fn cube() -> layout::Shape {
    shape!(1, 1, 1)
}
