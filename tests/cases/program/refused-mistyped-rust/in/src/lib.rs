pub mod home;
pub mod old_gpu;
