pub struct Device;

pub fn count() -> u32 {
    1
}
