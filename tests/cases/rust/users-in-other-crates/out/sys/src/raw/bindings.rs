#![allow(non_upper_case_globals)]
pub const lowerCase: u32 = 1;
pub mod field {
    pub const TOTAL: u32 = 2;
}
pub fn device_count() -> u32 {
    lowerCase
}
