pub struct Instant(u64);
pub struct Duration(u64);
impl Duration {
    pub fn from_secs(seconds: u64) -> Self {
        Self(seconds)
    }
    pub fn as_secs(self) -> u64 {
        self.0
    }
}
