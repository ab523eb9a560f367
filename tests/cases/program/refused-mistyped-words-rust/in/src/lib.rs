pub mod device;
pub mod legacy;
