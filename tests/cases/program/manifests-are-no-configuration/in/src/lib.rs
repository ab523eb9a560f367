pub mod a;
pub mod h;
