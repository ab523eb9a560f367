//! What stores of slots over a network have in common: how long a holder believes in its lease, what
//! holders and machines say of themselves, and a cluster as of one moment.

use std::{
    collections::BTreeMap,
    fmt,
    hash::{BuildHasher as _, Hasher as _, RandomState},
    sync::atomic::{AtomicU64, Ordering::SeqCst},
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use core_gpu_driver::DeviceId;
use serde::{Deserialize, Serialize};

use super::{Claim, Request, SlotError, SlotHolder, ValidUntil, Wanted};
use crate::platform::Deadline;

/// The part of a lease's time that a holder does without at its end: one in so many.
const MARGIN: u32 = 5;

/// Time since the machine was started, sleep included where the system tells: a lease runs out meanwhile.
#[must_use]
pub fn clock() -> Duration {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let id = rustix::time::ClockId::Boottime;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let id = rustix::time::ClockId::Monotonic;
    let time = rustix::time::clock_gettime(id);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Until when a holder believes in its lease: before the store does not any more. The time counts from before
/// the question, by [`clock`], and ends a fifth of the lease early.
#[derive(Debug, Default)]
pub struct Belief {
    /// Milliseconds of the clock; zero where it is lost.
    until: AtomicU64,
}

impl Belief {
    /// In a lease of so long that was asked for at that time of [`clock`].
    #[must_use]
    pub fn new(asked: Duration, lease: Duration) -> Self {
        Self {
            until: AtomicU64::new(end_of_belief(asked, lease)),
        }
    }

    /// The store has confirmed the lease, for so long from a question at that time of [`clock`]. One that was
    /// lost stays so; whether it was not.
    pub fn confirm(&self, asked: Duration, lease: Duration) -> bool {
        let grown = |known: u64| (known > 0).then(|| known.max(end_of_belief(asked, lease)));
        self.until.fetch_update(SeqCst, SeqCst, grown).is_ok()
    }

    /// How long the lease may still be used; none when somebody else may have what it is for.
    #[must_use]
    pub fn left(&self) -> Option<Duration> {
        let until = Duration::from_millis(self.until.load(SeqCst));
        until.checked_sub(clock()).filter(|left| !left.is_zero())
    }

    /// Until when a claim under the lease may be used.
    ///
    /// # Errors
    /// [`SlotError::Lost`].
    pub fn check(&self, claim: &Claim) -> Result<ValidUntil, SlotError> {
        // Before the lease is asked: whatever holds this up makes the answer earlier, not later.
        let now = Instant::now();
        let left = self.left().ok_or_else(|| claim.lost())?;
        Ok(ValidUntil::Time(Deadline::at(now + left)))
    }

    /// The same, where the store was asked to renew it and said whether it is there.
    ///
    /// # Errors
    /// [`SlotError::Lost`], and as the store failed.
    pub fn after<E: Into<SlotError>>(
        &self,
        renewed: Result<bool, E>,
        claim: &Claim,
    ) -> Result<ValidUntil, SlotError> {
        match renewed {
            Ok(true) => self.check(claim),
            Ok(false) => Err(claim.lost()),
            Err(error) => Err(error.into()),
        }
    }

    /// It is lost, or given back.
    pub fn end(&self) {
        self.until.store(0, SeqCst);
    }
}

fn end_of_belief(asked: Duration, lease: Duration) -> u64 {
    let until = asked + lease - lease / MARGIN;
    u64::try_from(until.as_millis()).unwrap_or(u64::MAX)
}

/// What a holder says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HolderRecord {
    /// The machine that it runs on.
    pub node: String,
    /// Its process there.
    pub process: u32,
    /// Bytes that it claims.
    pub bytes: u64,
    /// When it took the slot, in milliseconds since 1970, by its own clock.
    pub since: u64,
    /// Time that the device worked for it, in microseconds.
    pub used: u64,
}

impl HolderRecord {
    /// Of this process, on a machine of that name, from now on.
    #[must_use]
    pub fn beginning(node: &str, bytes: u64) -> Self {
        Self {
            node: node.to_owned(),
            process: std::process::id(),
            bytes,
            since: milliseconds(),
            used: 0,
        }
    }

    /// The device worked so long for it, on top of what is known.
    pub fn add_use(&mut self, time: Duration) {
        let more = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.used = self.used.saturating_add(more);
    }

    /// The holder of a slot who says that.
    #[must_use]
    pub fn holder(&self, slot: u32) -> SlotHolder {
        let held = milliseconds().checked_sub(self.since);
        SlotHolder {
            slot,
            process: Some(self.process),
            claimed_bytes: self.bytes,
            held_for: held.map(Duration::from_millis),
            used_for: Duration::from_micros(self.used),
        }
    }
}

fn milliseconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}

/// A number of which no two are the same, in whatever process.
#[must_use]
pub fn unique_number() -> i64 {
    // More than nothing: stores write zero where there is none.
    (RandomState::new().build_hasher().finish() >> 1 | 1).cast_signed()
}

/// How long who waits lets others ask first, when a slot went back: all who wait hear the same, and not all of a
/// hundred may ask for each. Longer each time that it came too late, up to half a second.
#[must_use]
pub fn time_apart(missed: u32) -> Duration {
    let longest = Duration::from_millis(2) * (1 << missed.min(8));
    let number = u32::try_from(unique_number().unsigned_abs() >> 32).unwrap_or(0);
    longest.mul_f64(f64::from(number) / f64::from(u32::MAX >> 1))
}

/// Where this process begins to look for a slot: not where all others do.
#[must_use]
pub fn first_slot(slots: u32) -> u32 {
    std::process::id().checked_rem(slots).unwrap_or(0)
}

/// What came of asking for a slot of one device.
#[derive(Debug)]
pub enum Tried {
    /// It is taken.
    Taken(Claim),
    /// All of them are held.
    Full,
    /// The holders claim too many bytes.
    NoRoom(SlotError),
    /// The device takes no claims.
    Closed(String),
    /// Others go by another number and hold slots.
    Other(u32),
    /// Somebody was quicker.
    Again,
}

/// Why no device gave a slot.
#[derive(Debug, Default)]
struct Refused {
    /// Somebody was quicker: another try may do.
    again: bool,
    /// What to say without waiting.
    at_once: Option<SlotError>,
    why: Option<SlotError>,
}

impl Refused {
    /// What to say when it was waited for long enough.
    fn error(self, request: &Request, waited: Duration) -> SlotError {
        let devices = request.devices.len();
        let why = self.at_once.or(self.why);
        why.unwrap_or(SlotError::Full { devices, waited })
    }
}

/// Asks for a slot of each device in turn, once.
fn try_devices<E>(
    request: &Request,
    mut ask: impl FnMut(&Wanted) -> Result<Tried, E>,
) -> Result<Result<Claim, Refused>, E> {
    let mut refused = Refused::default();
    let (mut no_room, mut closed) = (None, Vec::new());
    let with_slots = || request.devices.iter().filter(|wanted| wanted.slots > 0);
    for wanted in with_slots() {
        let device = wanted.device;
        match ask(wanted)? {
            Tried::Taken(claim) => return Ok(Ok(claim)),
            Tried::Full => (),
            Tried::Again => refused.again = true,
            Tried::NoRoom(why) => no_room = no_room.or(Some(why)),
            Tried::Closed(why) => closed.push(SlotError::Closed { device, why }),
            Tried::Other(stored) => {
                refused.at_once = Some(SlotError::Capacity {
                    device,
                    stored,
                    asked: wanted.slots,
                });
            }
        }
    }
    // One that is closed says nothing of the others.
    let all_closed = closed.len() == with_slots().count();
    let first = closed.into_iter().next().filter(|_| all_closed);
    refused.why = first.or(no_room);
    Ok(Err(refused))
}

/// A store's tries at one claim.
pub trait Attempts {
    /// What a store says.
    type Error: Into<SlotError>;

    /// All devices are about to be tried, perhaps for the last time.
    fn begin(&mut self, is_last: bool);

    /// Asks for a slot of a device.
    ///
    /// # Errors
    /// As the store fails.
    fn try_device(&mut self, request: &Request, wanted: &Wanted) -> Result<Tried, Self::Error>;

    /// Whether the store did not answer, so that the claim may have been made: the next try finds out.
    fn is_open(&mut self, error: &Self::Error) -> bool;

    /// Waits until there may be a slot, for so long at most.
    fn wait(&mut self, most: Duration);

    /// There will be no other try.
    fn give_up(&mut self);
}

/// How often a request that must not wait looks again after others were quicker.
const ROUNDS: u32 = 40;
/// A request that waits looks again after so long, whatever it hears.
pub const POLL: Duration = Duration::from_secs(1);

/// Takes a slot, waiting for one until the deadline: what [`super::SlotStore::claim`] is of a store over a network.
///
/// # Errors
/// As [`super::SlotStore::claim`].
pub fn claim(
    request: &Request,
    by: Deadline,
    attempts: &mut impl Attempts,
) -> Result<Claim, SlotError> {
    request.check()?;
    let (start, mut rounds) = (Instant::now(), 0);
    loop {
        attempts.begin(by.is_over());
        let tried = try_devices(request, |wanted| attempts.try_device(request, wanted));
        let refused = match tried {
            Ok(Ok(claim)) => return Ok(claim),
            Ok(Err(refused)) => refused,
            Err(error) => {
                if !attempts.is_open(&error) || by.is_over() {
                    attempts.give_up();
                    return Err(error.into());
                }
                Refused::default()
            }
        };
        rounds += 1;
        let go_on = refused.again && rounds <= ROUNDS;
        if refused.at_once.is_some() || (by.is_over() && !go_on) {
            attempts.give_up();
            return Err(refused.error(request, start.elapsed()));
        }
        match go_on {
            true => thread::sleep(Duration::from_millis(u64::from(rounds.min(10)))),
            false => attempts.wait(by.left().unwrap_or(POLL)),
        }
    }
}

/// What a store over a network said, as an error of slots.
#[must_use]
pub fn error_of(said: &impl fmt::Display, is_no_space: bool) -> SlotError {
    let why = said.to_string();
    match is_no_space {
        true => SlotError::StoreFull { why },
        false => SlotError::Store { why },
    }
}

/// Closes all devices of a machine, saying that it is drained.
///
/// # Errors
/// As closing fails; some may be closed then.
pub fn drain<E>(
    node: &str,
    devices: &[DeviceId],
    close: impl Fn(&DeviceId, &str) -> Result<(), E>,
) -> Result<(), E> {
    let why = format!("{node} is drained");
    devices.iter().try_for_each(|device| close(device, &why))
}

/// A device as its machine announces it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeDevice {
    /// Its identity, as slots are kept by.
    pub id: String,
    /// Its name on that machine.
    pub name: String,
    /// What its maker calls it.
    pub model: String,
    /// All the memory it has.
    pub total_bytes: Option<u64>,
    /// What nobody holds.
    pub free_bytes: Option<u64>,
    /// What is wrong with it; empty for one that is well, `None` where nobody tells.
    pub sick: Option<Vec<String>>,
}

/// All slots of a device, whatever machine it is in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceSlots {
    /// The device's identity.
    pub device: String,
    /// How many slots there are; `None` where nobody has asked for one yet.
    pub capacity: Option<u32>,
    /// Why it takes no new claims, where it does not.
    pub closed: Option<String>,
    /// Bytes that the holders claim together.
    pub claimed_bytes: u64,
    /// Who holds which slot, with the machine's name.
    pub holders: Vec<(String, SlotHolder)>,
}

impl DeviceSlots {
    /// Adds a holder, and what it claims.
    pub fn add(&mut self, slot: u32, record: &HolderRecord) {
        self.claimed_bytes = self.claimed_bytes.saturating_add(record.bytes);
        self.holders
            .push((record.node.clone(), record.holder(slot)));
    }
}

/// A cluster at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClusterView {
    /// The store's revision then.
    pub revision: u64,
    /// What machines announce, by their names.
    pub nodes: BTreeMap<String, Vec<NodeDevice>>,
    /// Devices of which slots were ever asked for, by identity.
    pub slots: BTreeMap<String, DeviceSlots>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn belief_ends_before_the_lease_and_is_lost_for_good() {
        let (now, lease) = (clock(), Duration::from_secs(10));
        let belief = Belief::new(now, lease);
        let left = belief.left().unwrap();
        assert!(left <= Duration::from_secs(8) && left > Duration::from_secs(7));
        // An older answer that comes late takes nothing away.
        assert!(belief.confirm(now.saturating_sub(lease), lease));
        assert!(belief.left().unwrap() > Duration::from_secs(7));
        belief.end();
        assert_eq!(belief.left(), None);
        assert!(!belief.confirm(clock(), lease));
        assert_eq!(belief.left(), None);
        let past = clock().saturating_sub(Duration::from_secs(9));
        assert_eq!(Belief::new(past, lease).left(), None);
    }

    #[test]
    fn who_comes_too_late_waits_longer() {
        for missed in 0..20 {
            assert!(time_apart(missed) <= Duration::from_millis(512));
            assert!(time_apart(0) <= Duration::from_millis(2));
        }
        assert!((0..64).any(|_| time_apart(8) > Duration::from_millis(100)));
    }
}
