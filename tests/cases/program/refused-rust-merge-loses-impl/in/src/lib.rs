pub mod a;
pub mod b;
pub struct Pool(pub usize);
