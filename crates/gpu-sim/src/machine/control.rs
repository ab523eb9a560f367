//! What a test does to a machine from outside, and what it asks it at the end. None of it is a
//! driver call: it is not counted and cannot fail by plan.

use std::{collections::BTreeMap, fmt};

use core_gpu_driver::RawStream;

use crate::{
    code::Code,
    fault::Fault,
    machine::{
        Machine,
        state::{State, Work},
        submit::{Order, Request},
    },
    memory::Origin,
    violation::Violation,
};

/// Bytes that were moved, as calls asked for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// From the host to a device.
    pub to_device_bytes: u64,
    /// From a device to the host.
    pub to_host_bytes: u64,
    /// Within a device, or between two.
    pub within_bytes: u64,
}

/// What faults did that no caller can know of, in bytes of device memory as they were asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultBooks {
    /// Allocated by calls that answered with an error: nobody knows the address.
    pub orphaned_bytes: u64,
    /// Freed by calls that answered with an error.
    pub freed_despite_error_bytes: u64,
}

/// What has not been given back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// Device memory, as it was asked for, mapped memory included.
    pub device_bytes: u64,
    /// How many allocations that is.
    pub allocations: usize,
    /// Pinned memory of the host.
    pub pinned_bytes: u64,
    /// Streams that were made.
    pub streams: usize,
    /// Events.
    pub events: usize,
    /// Reserved ranges of addresses.
    pub reservations: usize,
    /// Handles of memory without an address.
    pub physical: usize,
    /// Contexts, counted as often as they are held.
    pub contexts: u64,
}

impl fmt::Display for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} bytes in {} allocations, {} pinned bytes, {} streams, {} events, {} reservations, \
             {} handles of memory, {} contexts",
            self.device_bytes,
            self.allocations,
            self.pinned_bytes,
            self.streams,
            self.events,
            self.reservations,
            self.physical,
            self.contexts
        )
    }
}

/// What a machine has against the program that used it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// What was not given back; contexts are not counted.
    pub live: Live,
    /// Rules that were broken.
    pub violations: Vec<Violation>,
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not given back: {}", self.live)?;
        for violation in &self.violations {
            write!(f, "\nbroken: {violation}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Complaint {}

impl State {
    pub(crate) fn live_bytes(&self) -> u64 {
        let freed = Origin::Ordered { freed: true };
        self.memory
            .all()
            .filter(|(_, found)| found.origin != freed)
            .map(|(_, found)| found.data.len() as u64)
            .sum()
    }

    fn live(&self) -> Live {
        let freed = Origin::Ordered { freed: true };
        Live {
            device_bytes: self.live_bytes(),
            allocations: self
                .memory
                .all()
                .filter(|(_, found)| found.origin != freed)
                .count(),
            pinned_bytes: self.pinned.values().map(|pinned| pinned.bytes).sum(),
            streams: self
                .streams
                .values()
                .filter(|stream| stream.made && !stream.destroyed)
                .count(),
            events: self.events.len(),
            reservations: self.reservations.len(),
            physical: self
                .physical
                .values()
                .filter(|known| !known.destroyed)
                .count(),
            contexts: self.devices.iter().map(|device| device.contexts).sum(),
        }
    }
}

/// For tests. Any thread.
impl Machine {
    /// Plans a fault.
    pub fn plan(&self, fault: Fault) {
        self.lock().faults.plan(fault);
    }

    /// How often each driver function was called, by its documented name.
    #[must_use]
    pub fn calls(&self) -> BTreeMap<&'static str, u64> {
        self.lock().faults.calls().clone()
    }

    /// Lets everything go on that hangs now: calls by plan, and stalled streams.
    pub fn release_hangs(&self) {
        self.lock().releases += 1;
        self.wake();
    }

    /// Puts work on a stream that is not done before [`Machine::release_hangs`]: a slow kernel.
    ///
    /// # Errors
    /// For an unknown stream.
    pub fn stall(&self, device: u32, stream: RawStream) -> Result<(), Code> {
        let mut state = self.lock();
        let releases = state.releases;
        state.put(device, stream, Work::Stall { releases })
    }

    /// Puts work on a stream that fails when it is its turn. Every work's failure is sticky.
    ///
    /// # Errors
    /// For an unknown stream.
    pub fn fail_work(&self, device: u32, stream: RawStream, code: Code) -> Result<(), Code> {
        self.lock().put(device, stream, Work::Fail(code))
    }

    /// Turns one bit in each of the next `count` copies from the host that run: a broken link.
    pub fn damage_uploads(&self, count: u64) {
        self.lock().damaged_uploads = count;
    }

    /// Loses a device: every call on it answers with this code from now on.
    pub fn lose(&self, device: u32, code: Code) {
        if let Ok(device) = self.lock().device(device) {
            device.sticky = Some(code);
        }
        self.wake();
    }

    /// Says how many bytes other processes hold.
    pub fn set_other_processes(&self, device: u32, bytes: u64) {
        if let Ok(device) = self.lock().device(device) {
            device.other_processes_bytes = bytes;
        }
    }

    /// Goes on as a forked child: every call answers that the driver is not initialised.
    pub fn pretend_forked(&self) {
        self.lock().process = 0;
    }

    /// Whether this process is a forked child of the one that made the machine.
    #[must_use]
    pub fn is_forked(&self) -> bool {
        self.lock().process != std::process::id()
    }

    /// The machine's time in nanoseconds.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.lock().now
    }

    /// Bytes that were moved so far.
    #[must_use]
    pub fn moved(&self) -> Moved {
        self.lock().moved
    }

    /// What faults did so far that no caller can know of.
    #[must_use]
    pub fn fault_books(&self) -> FaultBooks {
        self.lock().fault_books
    }

    /// Rules that were broken so far.
    #[must_use]
    pub fn violations(&self) -> Vec<Violation> {
        self.lock().violations.clone()
    }

    /// What has not been given back.
    #[must_use]
    pub fn live(&self) -> Live {
        self.lock().live()
    }

    /// Fails when anything but contexts has not been given back, or a rule was broken. For the end
    /// of a test.
    ///
    /// # Errors
    /// The complaint.
    pub fn verify(&self) -> Result<(), Complaint> {
        let state = self.lock();
        let live = Live {
            contexts: 0,
            ..state.live()
        };
        if live == Live::default() && state.violations.is_empty() {
            return Ok(());
        }
        Err(Complaint {
            live,
            violations: state.violations.clone(),
        })
    }
}

impl State {
    fn put(&mut self, device: u32, stream: RawStream, work: Work) -> Result<(), Code> {
        let key = self.key(device, stream)?;
        self.submit_after("control", key, Request::new(work), Order::default())?;
        self.after_call();
        Ok(())
    }
}
