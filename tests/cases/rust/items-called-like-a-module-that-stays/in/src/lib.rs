pub mod calls;
pub mod leads;
pub mod new;
pub mod old;
