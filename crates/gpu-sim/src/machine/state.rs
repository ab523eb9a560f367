//! What a machine remembers: devices, streams, events, pinned memory, and how they are found. What
//! happens to them is in the files beside this one.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    thread::ThreadId,
};

use core_gpu_driver::{CaptureMode, EventKind, HostAddress, RawEvent, RawStream};

use crate::{
    clock::{Clock, Moment, StreamKey},
    code::Code,
    config::Config,
    fault::Faults,
    kernel::Kernel,
    machine::{
        capture::{Capture, Graph},
        link::Links,
    },
    memory::Memory,
    schedule::{Random, Schedule},
    shadow::{Access, Broken, Shadow},
    violation::Violation,
};

/// Where the keys of legacy default streams begin; a device's is this plus its number.
const LEGACY_KEYS: u64 = 0x100;
/// Where handles begin.
const FIRST_HANDLE: u64 = 0x1_0000;

/// Why a call did not come to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It failed.
    Code(Code),
    /// It waits for work that hangs, and is to be tried again after a release.
    Blocked,
}

impl From<Code> for Stop {
    fn from(code: Code) -> Self {
        Self::Code(code)
    }
}

/// Bytes of the host that an upload reads.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// Taken at the call.
    Staged(Vec<u8>),
    /// Read when the work is done.
    Pinned(HostAddress),
}

/// A piece of work. All sizes are in bytes.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    /// Only its place counts.
    Nothing,
    /// Within and between devices.
    Copy { to: u64, from: u64, bytes: u64 },
    /// From the host.
    Upload { to: u64, from: Source, bytes: u64 },
    /// To the host.
    Download {
        to: HostAddress,
        from: u64,
        bytes: u64,
    },
    /// One value.
    Set { at: u64, value: u8, bytes: u64 },
    /// A program's own.
    Kernel(Kernel),
    /// Memory allocated in a stream's order goes back to the device's pool.
    Free { address: u64 },
    /// It fails, and the device with it.
    Fail(Code),
    /// It is not done before the releases of hangs are more than this many.
    Stall { releases: u64 },
}

/// Bytes that work touches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    pub(crate) start: u64,
    pub(crate) bytes: u64,
    pub(crate) access: Access,
}

/// Work on a stream's queue.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) sequence: u64,
    pub(crate) after: Vec<Moment>,
    pub(crate) work: Work,
}

/// How a stream stands to the legacy default stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    /// It is that stream.
    Legacy,
    /// It waits for it and is waited for.
    Blocking,
    /// Neither.
    Apart,
}

#[derive(Debug)]
pub(crate) struct StreamState {
    pub(crate) device: u32,
    pub(crate) relation: Relation,
    /// Made by the program, and its to destroy.
    pub(crate) made: bool,
    pub(crate) destroyed: bool,
    pub(crate) queue: VecDeque<Queued>,
    pub(crate) submitted: u64,
    pub(crate) completed: u64,
    /// What its last piece of work comes after, itself included.
    pub(crate) clock: Clock,
    pub(crate) busy_until: u64,
    /// Its place among all streams, in the order in which they were made.
    pub(crate) place: usize,
    pub(crate) capture: Option<u64>,
}

/// Where an event was recorded.
#[derive(Clone, Debug)]
pub(crate) enum Recording {
    /// On a stream.
    At {
        moment: Moment,
        clock: Clock,
        nanoseconds: u64,
    },
    /// In a capture: it has no place in time.
    Captured { capture: u64, clock: Clock },
}

#[derive(Debug)]
pub(crate) struct EventState {
    pub(crate) device: u32,
    pub(crate) kind: EventKind,
    pub(crate) recorded: Option<Recording>,
}

#[derive(Debug)]
pub(crate) struct PinnedState {
    pub(crate) device: u32,
    pub(crate) bytes: u64,
    pub(crate) users: Vec<Moment>,
}

#[derive(Debug)]
pub(crate) struct DeviceState {
    pub(crate) other_processes_bytes: u64,
    /// What its allocations take of it, rounded up.
    pub(crate) used_bytes: u64,
    /// What its pool for stream-ordered allocation keeps of freed memory.
    pub(crate) cached_bytes: u64,
    /// Freed in a stream's order, and not yet in the pool.
    pub(crate) pending_bytes: u64,
    pub(crate) contexts: u64,
    /// The code that every call answers with from now on.
    pub(crate) sticky: Option<Code>,
}

/// Memory without an address, or under one.
#[derive(Debug)]
pub(crate) struct Physical {
    pub(crate) device: u32,
    pub(crate) bytes: u64,
    /// Its contents, unless they are mapped.
    pub(crate) data: Option<Vec<u8>>,
    /// Its handle was given back: it goes with its mapping.
    pub(crate) destroyed: bool,
}

/// All that a machine remembers.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) config: Config,
    pub(crate) devices: Vec<DeviceState>,
    pub(crate) streams: BTreeMap<StreamKey, StreamState>,
    pub(crate) per_thread: Vec<(u32, ThreadId, StreamKey)>,
    pub(crate) events: BTreeMap<u64, EventState>,
    pub(crate) memory: Memory,
    pub(crate) shadow: Shadow,
    pub(crate) pinned: BTreeMap<u64, PinnedState>,
    pub(crate) reservations: BTreeMap<u64, u64>,
    pub(crate) physical: BTreeMap<u64, Physical>,
    pub(crate) captures: BTreeMap<u64, Capture>,
    pub(crate) graphs: BTreeMap<u64, Graph>,
    /// The call that is being made, and the one that broke a capture last.
    pub(crate) function: &'static str,
    pub(crate) broke_capture: Option<&'static str>,
    /// What threads have set of themselves.
    pub(crate) thread_modes: HashMap<ThreadId, CaptureMode>,
    /// What streams of each device had done that are gone: waiting for the device tells of it.
    pub(crate) gone: BTreeMap<u32, Clock>,
    /// What the host knows to be done.
    pub(crate) host: Clock,
    /// The machine's time, in nanoseconds.
    pub(crate) now: u64,
    pub(crate) links: Links,
    pub(crate) faults: Faults,
    pub(crate) violations: Vec<Violation>,
    pub(crate) random: Random,
    pub(crate) releases: u64,
    /// Uploads of which a bit is wrong, from the next one on.
    pub(crate) damaged_uploads: u64,
    pub(crate) process: u32,
    pub(crate) moved: crate::machine::control::Moved,
    pub(crate) fault_books: crate::machine::control::FaultBooks,
    streams_made: usize,
    next_handle: u64,
}

impl State {
    pub(crate) fn new(config: Config) -> Self {
        let devices = config.devices.iter().map(|device| DeviceState {
            other_processes_bytes: device.other_processes_bytes,
            used_bytes: 0,
            cached_bytes: 0,
            pending_bytes: 0,
            contexts: 0,
            sticky: None,
        });
        let seed = match config.schedule {
            Schedule::Seeded(seed) => seed,
            _ => 0,
        };
        Self {
            devices: devices.collect(),
            config,
            streams: BTreeMap::new(),
            per_thread: Vec::new(),
            events: BTreeMap::new(),
            memory: Memory::default(),
            shadow: Shadow::default(),
            pinned: BTreeMap::new(),
            reservations: BTreeMap::new(),
            physical: BTreeMap::new(),
            captures: BTreeMap::new(),
            graphs: BTreeMap::new(),
            function: "",
            broke_capture: None,
            thread_modes: HashMap::new(),
            gone: BTreeMap::new(),
            host: Clock::default(),
            now: 0,
            links: Links::default(),
            faults: Faults::default(),
            violations: Vec::new(),
            random: Random::new(seed),
            releases: 0,
            damaged_uploads: 0,
            process: std::process::id(),
            moved: crate::machine::control::Moved::default(),
            fault_books: crate::machine::control::FaultBooks::default(),
            streams_made: 0,
            next_handle: FIRST_HANDLE,
        }
    }

    pub(crate) fn handle(&mut self) -> u64 {
        self.next_handle += 0x10;
        self.next_handle
    }

    /// Takes a stream out that was destroyed and has nothing left to do.
    pub(crate) fn remove_stream(&mut self, key: StreamKey) {
        if let Some(stream) = self.streams.remove(&key) {
            self.gone
                .entry(stream.device)
                .or_default()
                .join(&stream.clock);
        }
    }

    pub(crate) fn device(&mut self, device: u32) -> Result<&mut DeviceState, Code> {
        let found = self.devices.get_mut(device as usize);
        found.ok_or(Code::INVALID_DEVICE)
    }

    pub(crate) fn add_stream(&mut self, key: StreamKey, device: u32, relation: Relation) {
        let made = relation != Relation::Legacy;
        let place = if made {
            self.streams_made += 1;
            self.streams_made - 1
        } else {
            usize::MAX
        };
        let stream = StreamState {
            device,
            relation,
            made,
            destroyed: false,
            queue: VecDeque::new(),
            submitted: 0,
            completed: 0,
            clock: Clock::default(),
            busy_until: 0,
            place,
            capture: None,
        };
        self.streams.insert(key, stream);
    }

    /// The stream that a handle means on a device, for this thread.
    pub(crate) fn key(&mut self, device: u32, raw: RawStream) -> Result<StreamKey, Code> {
        match raw {
            RawStream(0) | RawStream::LEGACY_DEFAULT => {
                let key = LEGACY_KEYS + u64::from(device);
                if !self.streams.contains_key(&key) {
                    self.add_stream(key, device, Relation::Legacy);
                }
                Ok(key)
            }
            RawStream::PER_THREAD_DEFAULT => Ok(self.per_thread_key(device)),
            RawStream(key) => {
                let live = self.streams.get(&key).filter(|stream| !stream.destroyed);
                live.map(|_| key).ok_or(Code::INVALID_HANDLE)
            }
        }
    }

    fn per_thread_key(&mut self, device: u32) -> StreamKey {
        let thread = std::thread::current().id();
        let known = self
            .per_thread
            .iter()
            .find(|(on, of, _)| *on == device && *of == thread);
        if let Some((_, _, key)) = known {
            return *key;
        }
        let key = self.handle();
        self.add_stream(key, device, Relation::Blocking);
        if let Some(stream) = self.streams.get_mut(&key) {
            stream.made = false;
        }
        self.per_thread.push((device, thread, key));
        key
    }

    pub(crate) fn stream(&mut self, key: StreamKey) -> Result<&mut StreamState, Code> {
        self.streams.get_mut(&key).ok_or(Code::INVALID_HANDLE)
    }

    pub(crate) fn event(&mut self, event: RawEvent) -> Result<&mut EventState, Code> {
        self.events.get_mut(&event.0).ok_or(Code::INVALID_HANDLE)
    }

    /// Whether a moment has been reached. Streams that are gone were.
    pub(crate) fn reached(&self, moment: Moment) -> bool {
        self.streams
            .get(&moment.stream)
            .is_none_or(|stream| stream.completed >= moment.sequence)
    }

    /// The pinned memory that an address of the host is in.
    pub(crate) fn pinned_at(&mut self, at: HostAddress) -> Option<&mut PinnedState> {
        let (start, pinned) = self.pinned.range_mut(..=at.get()).next_back()?;
        (at.get() - start < pinned.bytes).then_some(pinned)
    }

    /// Records a broken rule. The call fails if the machine is made so.
    pub(crate) fn broken(
        &mut self,
        function: &'static str,
        broken: Option<Broken>,
    ) -> Result<(), Code> {
        let Some(broken) = broken else {
            return Ok(());
        };
        self.violations.push(Violation {
            function,
            address: broken.address,
            bytes: broken.bytes,
            kind: broken.kind,
        });
        if self.config.violations_fail {
            return Err(Code::INVALID_VALUE);
        }
        Ok(())
    }
}
