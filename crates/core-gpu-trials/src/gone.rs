//! Holders whose process is gone, and when their slots come back: measured so that a busy machine proves nothing
//! wrong. What is asserted is that a slot was still held when a question was *sent*, later than is promised by more
//! than the longest answer took meanwhile.

use std::{
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use core_gpu::slots::{Request, SlotStore};

use crate::{device, remote::soon};

/// Whom a holder asks.
const ADDRESS: &str = "SLOTS_HOLDER_ADDRESS";
/// The device of which a holder has the only slot.
const DEVICE: u8 = 61;
/// When a slot that is still held counts as held for ever.
const FOR_EVER: Duration = Duration::from_secs(120);

/// A process that takes a slot and holds it until it is killed. Does nothing where nobody asks for one: a test of the
/// store's calls it, and [`Holder::start`] is given that test.
///
/// # Panics
/// There is no slot.
pub fn hold_for_ever<S: SlotStore>(open: impl Fn(&str) -> S) {
    let Ok(address) = std::env::var(ADDRESS) else {
        return;
    };
    let store = open(&address);
    let claim = store.claim(&request(), soon()).unwrap();
    loop {
        thread::sleep(Duration::from_secs(1));
        drop(store.check(&claim));
    }
}

/// What a holder asks for.
#[must_use]
pub fn request() -> Request {
    Request::on(device(DEVICE), 1)
}

/// A process that holds a slot.
#[derive(Debug)]
pub struct Holder(Child);

impl Holder {
    /// Starts one by the test that calls [`hold_for_ever`], and waits until it holds.
    ///
    /// # Panics
    /// It does not, within a minute.
    #[must_use]
    pub fn start(test: &str, address: &str, store: &dyn SlotStore) -> Holder {
        let mut process = Command::new(std::env::current_exe().unwrap());
        process.args(["--exact", test]).env(ADDRESS, address);
        let process = process.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let holder = Holder(process.unwrap());
        let begin = Instant::now();
        while !is_held(store).unwrap_or(false) {
            assert!(begin.elapsed() < Duration::from_secs(60), "nobody holds");
            thread::sleep(Duration::from_millis(20));
        }
        holder
    }

    /// Ends it without a warning. When that was.
    ///
    /// # Panics
    /// It cannot be ended.
    #[must_use]
    pub fn kill(mut self) -> Instant {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
        Instant::now()
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Whether the slot is held; nothing where the store does not answer.
#[must_use]
pub fn is_held(store: &dyn SlotStore) -> Option<bool> {
    let status = store.status(&device(DEVICE)).ok()?;
    Some(!status.held.is_empty())
}

/// What was seen of a slot until it was free.
#[derive(Clone, Copy, Debug)]
pub struct Return {
    /// When the last question was sent that was answered with "held".
    pub still_held: Instant,
    /// When the last change of leader was seen, if there was one: not before it.
    pub led_since: Option<Instant>,
    /// The longest that an answer took.
    pub longest: Duration,
}

impl Return {
    /// Looks until the slot is free: each look says whether it is held and under which leader, or nothing. Which one
    /// led before is told where that is known.
    ///
    /// # Panics
    /// It is held for ever.
    pub fn watch(before: Option<u64>, mut look: impl FnMut() -> Option<(bool, u64)>) -> Return {
        let begin = Instant::now();
        let mut seen = Return {
            still_held: begin,
            led_since: None,
            longest: Duration::ZERO,
        };
        let mut leader = before;
        loop {
            let sent = Instant::now();
            if let Some((is_held, led_by)) = look() {
                seen.longest = seen.longest.max(sent.elapsed());
                if leader.is_some_and(|known| known != led_by) {
                    seen.led_since = Some(Instant::now());
                }
                leader = Some(led_by);
                if !is_held {
                    return seen;
                }
                seen.still_held = sent;
            }
            assert!(begin.elapsed() < FOR_EVER, "held for ever: {seen:?}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Fails where the slot was held for longer than is promised: so long from an event on.
    ///
    /// # Panics
    /// It was.
    pub fn keeps(&self, promise: Duration, from: Instant) {
        let held = self.still_held.saturating_duration_since(from);
        println!(
            "free after {held:?}, of {promise:?}; longest answer {:?}",
            self.longest
        );
        assert!(
            held <= promise + self.longest,
            "{held:?} of {promise:?}: {self:?}"
        );
    }
}
