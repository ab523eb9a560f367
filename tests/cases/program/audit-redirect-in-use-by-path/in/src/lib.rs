pub mod clock;
pub mod time;
pub mod unused;

pub fn now() -> u64 {
    crate::time::Duration::from_secs(1).as_secs()
}
