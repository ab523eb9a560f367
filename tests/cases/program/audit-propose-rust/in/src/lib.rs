pub mod fusion;
pub mod autodiff;
pub mod take;
pub mod give;
