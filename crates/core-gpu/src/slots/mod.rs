//! A share of a device for a while, across threads and processes of one machine.
//!
//! A device has so many slots; who holds one may use the device. A claim may name bytes of the device's
//! memory as well ([`Request::with_bytes`]): it is refused while the claims of all holders together
//! would be more than the budget. A slot is held by the process that uses the device, and goes back when its guard is dropped, also while unwinding, and when the
//! process ends in whatever way. [`FileSlots`] keeps them with the kernel's locks on files;
//! [`SlotStore`] is what another store implements, one for several machines for example. Waiting is
//! not fair: who asks again first has it.
//!
//! ```
//! use std::sync::Arc;
//! use core_gpu::{platform::Deadline, slots::{FileSlots, Request, SlotGuard, SlotStore}};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let directory = folder.path().join("slots");
//! # let device = core_gpu::driver::Driver::info(&core_gpu::driver::HostDriver::new(1)).id;
//! let store: Arc<dyn SlotStore> = Arc::new(FileSlots::new(directory));
//! let request = Request::on(device, 2);
//! let slot = SlotGuard::acquire(&store, &request, Deadline::now())?;
//! println!("slot {} of {}", slot.slot(), slot.device());
//! drop(slot);
//! # Ok(())
//! # }
//! ```

mod error;
mod file;
mod holders;
mod pause;
mod record;
pub mod remote;

use std::{
    any::Any,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use core_gpu_driver::DeviceId;

use crate::{
    platform::Deadline,
    warning::{Warning, warn},
};

pub use error::SlotError;
pub use file::FileSlots;

/// A device that would do, and how many slots it is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The device.
    pub device: DeviceId,
    /// How many may hold it at a time. All who ask must say the same, or nobody may hold it when the
    /// number changes.
    pub slots: u32,
    /// Bytes of its memory that all holders together may claim. Asked of those only who claim bytes.
    pub budget_bytes: u64,
}

/// One slot of one of these devices: of the first that has one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The devices, the most wanted first.
    pub devices: Vec<Wanted>,
    /// Bytes of the device's memory that are claimed with the slot.
    pub bytes: u64,
}

impl Request {
    /// A slot of one device.
    #[must_use]
    pub fn on(device: DeviceId, slots: u32) -> Self {
        Self::default().or(device, slots)
    }

    /// Or of this one.
    #[must_use]
    pub fn or(self, device: DeviceId, slots: u32) -> Self {
        self.or_within(Wanted {
            device,
            slots,
            budget_bytes: u64::MAX,
        })
    }

    /// Or of this one, whose holders together may claim so much of its memory.
    #[must_use]
    pub fn or_within(mut self, wanted: Wanted) -> Self {
        self.devices.push(wanted);
        self
    }

    /// Refuses at once what can never be had: for stores.
    ///
    /// # Errors
    /// [`SlotError::Nothing`] without a device that has slots, [`SlotError::OverBudget`] for more bytes
    /// than any of them may give.
    pub fn check(&self) -> Result<(), SlotError> {
        let with_slots = self.devices.iter().filter(|wanted| wanted.slots > 0);
        let Some(largest) = with_slots.max_by_key(|wanted| wanted.budget_bytes) else {
            return Err(SlotError::Nothing);
        };
        if self.bytes > largest.budget_bytes {
            return Err(SlotError::OverBudget {
                device: largest.device,
                asked_bytes: self.bytes,
                budget_bytes: largest.budget_bytes,
            });
        }
        Ok(())
    }

    /// Claims bytes of the device's memory with the slot. They are a promise among those who claim:
    /// nothing is allocated, and nobody is kept from allocating more.
    #[must_use]
    pub fn with_bytes(mut self, bytes: u64) -> Self {
        self.bytes = bytes;
        self
    }
}

/// How long a claim holds without being renewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValidUntil {
    /// As long as the process lives and does not release it.
    Released,
    /// Until then: the device must not be used after it. By a clock that stands still while the machine
    /// sleeps: after a sleep only a new check tells.
    Time(Deadline),
}

/// A slot that is held.
pub struct Claim {
    /// The device.
    pub device: DeviceId,
    /// The slot's number on it.
    pub slot: u32,
    hold: Box<dyn Any + Send + Sync>,
}

impl Claim {
    /// A claim, with whatever a store needs to know of it. Where dropping that lets go of the slot,
    /// the slot cannot be lost.
    #[must_use]
    pub fn new(device: DeviceId, slot: u32, hold: impl Any + Send + Sync) -> Self {
        Self {
            device,
            slot,
            hold: Box::new(hold),
        }
    }

    /// The slot is somebody else's, or may be.
    #[must_use]
    pub fn lost(&self) -> SlotError {
        SlotError::Lost {
            device: self.device,
            slot: self.slot,
        }
    }

    /// What the store put in, where it is of this type.
    pub fn hold_ref<T: Any>(&self) -> Option<&T> {
        self.hold.downcast_ref()
    }

    /// What the store put in, where it is of this type.
    pub fn hold_mut<T: Any>(&mut self) -> Option<&mut T> {
        self.hold.downcast_mut()
    }

    /// Takes what the store put in, where it is of this type.
    pub fn hold<T: Any>(self) -> Option<T> {
        self.hold.downcast().ok().map(|hold| *hold)
    }
}

impl fmt::Debug for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "slot {} of {}", self.slot, self.device)
    }
}

/// How many slots of a device are held, at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct SlotStatus {
    /// How many there are; `None` where nobody has asked for one yet.
    pub capacity: Option<u32>,
    /// The numbers of those that are held, by whatever process.
    pub held: Vec<u32>,
    /// Bytes that their holders claim together.
    pub claimed_bytes: u64,
}

/// A slot that is held, and by whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct SlotHolder {
    /// The slot's number.
    pub slot: u32,
    /// The process that took it; `None` where the system does not tell. For people: a process that
    /// this one started may hold it by now.
    pub process: Option<u32>,
    /// Bytes of the device's memory that it claims.
    pub claimed_bytes: u64,
    /// How long it has held the slot; `None` where it does not say.
    pub held_for: Option<Duration>,
    /// How long of that the device worked for it, as it says itself ([`SlotGuard::note_use`]).
    pub used_for: Duration,
}

impl SlotHolder {
    /// The part of the time that it uses of the time that it holds, of one.
    #[must_use]
    pub fn busy_part(&self) -> Option<f64> {
        let held = self.held_for.filter(|held| !held.is_zero())?;
        Some((self.used_for.as_secs_f64() / held.as_secs_f64()).min(1.0))
    }
}

impl fmt::Display for SlotHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "slot {}: ", self.slot)?;
        match self.process {
            Some(process) => write!(f, "process {process}")?,
            None => f.write_str("unknown process")?,
        }
        if self.claimed_bytes > 0 {
            write!(f, ", {} bytes", self.claimed_bytes)?;
        }
        if let Some(held) = self.held_for {
            write!(f, ", held for {} s", held.as_secs())?;
        }
        if let Some(busy) = self.busy_part() {
            write!(f, ", {:.0}% of it busy", busy * 100.0)?;
        }
        Ok(())
    }
}

/// Where slots are kept. Any thread, any process that it reaches.
pub trait SlotStore: fmt::Debug + Send + Sync {
    /// Takes a slot, waiting for one until the deadline.
    ///
    /// # Errors
    /// [`SlotError::Full`] when the deadline is over, and what is wrong with the store at once.
    fn claim(&self, request: &Request, by: Deadline) -> Result<Claim, SlotError>;

    /// Goes on holding a slot.
    ///
    /// # Errors
    /// The slot is not held any more: stop using the device.
    fn renew(&self, claim: &Claim) -> Result<ValidUntil, SlotError>;

    /// Whether the slot is still held, as far as can be said without asking anybody else: cheap, and for
    /// before each piece of work.
    ///
    /// # Errors
    /// As [`SlotStore::renew`].
    fn check(&self, claim: &Claim) -> Result<ValidUntil, SlotError> {
        self.renew(claim)
    }

    /// Gives a slot back.
    ///
    /// # Errors
    /// It could not be. It is free at the latest when the process ends.
    fn release(&self, claim: Claim) -> Result<(), SlotError>;

    /// Hears that the device worked so long for the holder of a slot, on top of what it heard before.
    /// For people to read; a store that keeps no such books does nothing.
    ///
    /// # Errors
    /// It could not be written down.
    fn note_use(&self, claim: &mut Claim, time: Duration) -> Result<(), SlotError> {
        let _ = (claim, time);
        Ok(())
    }

    /// How many slots of a device are held. Takes none.
    ///
    /// # Errors
    /// What is wrong with the store.
    fn status(&self, device: &DeviceId) -> Result<SlotStatus, SlotError>;
}

/// A slot, held until it is dropped.
#[must_use = "the slot is given back when this is dropped"]
#[derive(Debug)]
pub struct SlotGuard {
    claim: Option<Claim>,
    store: Arc<dyn SlotStore>,
    /// How many guards of this device the process has, where somebody counts.
    active: Option<Arc<AtomicU32>>,
    device: DeviceId,
    slot: u32,
}

impl SlotGuard {
    /// Takes a slot: [`Deadline::now`] tries, [`Deadline::never`] waits as long as it takes.
    ///
    /// # Errors
    /// As [`SlotStore::claim`].
    pub fn acquire(
        store: &Arc<dyn SlotStore>,
        request: &Request,
        by: Deadline,
    ) -> Result<Self, SlotError> {
        let claim = store.claim(request, by)?;
        Ok(Self {
            device: claim.device,
            slot: claim.slot,
            claim: Some(claim),
            store: Arc::clone(store),
            active: None,
        })
    }

    /// Counts it as long as it is held.
    pub(crate) fn counted(mut self, active: &Arc<AtomicU32>) -> Self {
        active.fetch_add(1, Ordering::Relaxed);
        self.active = Some(Arc::clone(active));
        self
    }

    /// The device that may be used.
    #[must_use]
    pub const fn device(&self) -> DeviceId {
        self.device
    }

    /// The slot's number, below the device's number of slots.
    #[must_use]
    pub const fn slot(&self) -> u32 {
        self.slot
    }

    /// Whether the slot is still held: for before each piece of work, where a store may lose it while
    /// this process sleeps.
    ///
    /// # Errors
    /// As [`SlotStore::check`]: [`SlotError::Lost`] when somebody else may have it by now.
    pub fn check(&self) -> Result<ValidUntil, SlotError> {
        match &self.claim {
            Some(claim) => self.store.check(claim),
            None => Err(SlotError::Lost {
                device: self.device,
                slot: self.slot,
            }),
        }
    }

    /// Says that the device worked so long for this process, on top of what was said before, so that
    /// others see whether the slot is used or only held.
    ///
    /// # Errors
    /// As [`SlotStore::note_use`].
    pub fn note_use(&mut self, time: Duration) -> Result<(), SlotError> {
        match &mut self.claim {
            Some(claim) => self.store.note_use(claim, time),
            None => Ok(()),
        }
    }

    /// Gives the slot back, for who wants to know whether it worked.
    ///
    /// # Errors
    /// As [`SlotStore::release`].
    pub fn release(mut self) -> Result<(), SlotError> {
        self.give_back()
    }

    fn give_back(&mut self) -> Result<(), SlotError> {
        let Some(claim) = self.claim.take() else {
            return Ok(());
        };
        if let Some(active) = self.active.take() {
            active.fetch_sub(1, Ordering::Relaxed);
        }
        self.store.release(claim)
    }
}

impl Drop for SlotGuard {
    fn drop(&mut self) {
        if let Err(why) = self.give_back() {
            let (slot, device) = (self.slot, self.device);
            warn(&Warning::SlotNotReleased {
                why: format!("slot {slot} of {device}: {why}"),
            });
        }
    }
}
