pub struct Instant(u64);
pub struct Tick(u64);
