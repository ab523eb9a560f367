pub mod new;
pub mod old;
