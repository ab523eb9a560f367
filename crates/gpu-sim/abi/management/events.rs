//! What devices raise, and who waits for it. `GPU_SIM_EVENTS` has what is raised as soon as somebody
//! listens: `0:8:79` is the driver's first device, the type 8 (an XID) and 79 as its data; more are
//! separated by commas. `gpu_sim_raise` raises one under way.
//!
//! An XID of 79 is a device that has fallen off the bus: every later call on it says so.

use std::{
    collections::{BTreeMap, VecDeque},
    ffi::{c_int, c_uint, c_ulonglong, c_void},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::{
    ANSWERS, INVALID_ARGUMENT, Library, NOT_SUPPORTED, TIMEOUT, call, figures, handle, on_device,
};

/// Types that devices can raise: errors of memory, performance states, XIDs, clocks.
const SUPPORTED: u64 = 0x1f;
/// An XID.
const XID: u64 = 8;
/// The XID of a device that is not on the bus any more.
const OFF_THE_BUS: u64 = 79;
/// Sets are numbers far from zero, and from devices' handles.
const SETS: usize = 0x00f0_0000;
/// Not a slice of a device.
const WHOLE: c_uint = c_uint::MAX;
/// How many events a set keeps that nobody waits for; the oldest go first.
const KEPT: usize = 1024;

/// Something that a device raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The device's number in this library.
    pub device: usize,
    /// One bit.
    pub kind: u64,
    /// For an XID, its number.
    pub data: u64,
}

/// Who listens to what.
#[derive(Debug, Default)]
struct Set {
    /// Types, by device.
    wanted: BTreeMap<usize, u64>,
    raised: VecDeque<Event>,
}

#[derive(Debug, Default)]
struct State {
    sets: BTreeMap<usize, Set>,
    next: usize,
    /// Raised before anybody listened to it.
    early: Vec<Event>,
}

/// All events of the library.
#[derive(Debug, Default)]
pub struct Events {
    state: Mutex<State>,
    raised: Condvar,
}

impl Events {
    /// Reads what is to be raised from the environment.
    ///
    /// # Errors
    /// A text that says no event, or of a device that is not there.
    pub fn from_environment(devices: usize) -> Result<Self, String> {
        let events = Self::default();
        let Ok(text) = std::env::var("GPU_SIM_EVENTS") else {
            return Ok(events);
        };
        let early: Option<Vec<Event>> = text.split(',').map(|one| event(one, devices)).collect();
        events.lock().early = early.ok_or_else(|| format!("GPU_SIM_EVENTS cannot be `{text}`"))?;
        Ok(events)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Raises one, for all who listen to it.
    pub fn raise(&self, event: Event) {
        let mut state = self.lock();
        for set in state.sets.values_mut() {
            set.hear(event);
        }
        drop(state);
        self.raised.notify_all();
    }

    fn listen(&self, set: usize, device: usize, kinds: u64) -> Result<(), c_int> {
        let mut state = self.lock();
        let State { sets, early, .. } = &mut *state;
        let found = sets.get_mut(&set).ok_or(INVALID_ARGUMENT)?;
        *found.wanted.entry(device).or_default() |= kinds;
        early.retain(|event| !found.hear(*event));
        drop(state);
        self.raised.notify_all();
        Ok(())
    }

    fn wait(&self, set: usize, timeout: Duration) -> Result<Event, c_int> {
        let end = Instant::now() + timeout;
        let mut state = self.lock();
        loop {
            let found = state.sets.get_mut(&set).ok_or(INVALID_ARGUMENT)?;
            if let Some(event) = found.raised.pop_front() {
                return Ok(event);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(TIMEOUT);
            }
            let waited = self.raised.wait_timeout(state, left);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Set {
    /// Keeps an event that is listened to; whether it was.
    fn hear(&mut self, event: Event) -> bool {
        let wanted = self.wanted.get(&event.device).copied().unwrap_or(0);
        let heard = wanted & event.kind != 0;
        if heard {
            self.raised.push_back(event);
            if self.raised.len() > KEPT {
                self.raised.pop_front();
            }
        }
        heard
    }
}

/// `device:type:data`, the device in the driver's order.
fn event(text: &str, devices: usize) -> Option<Event> {
    let mut parts = text.trim().split(':').map(|part| part.parse::<u64>().ok());
    let ordinal = usize::try_from(parts.next()??).ok()?;
    let event = Event {
        device: devices.checked_sub(1)?.checked_sub(ordinal)?,
        kind: parts.next()??,
        data: parts.next()??,
    };
    parts.next().is_none().then_some(event)
}

/// The device has raised it: what follows from it for the device.
pub fn takes_effect(library: &Library, event: Event) {
    if event.kind == XID && event.data == OFF_THE_BUS {
        library.figures.set(event.device, figures::LOST, 1);
    }
}

fn set(pointer: *mut c_void) -> Result<usize, c_int> {
    pointer.addr().checked_sub(SETS).ok_or(INVALID_ARGUMENT)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlEventSetCreate(to: *mut *mut c_void) -> c_int {
    call("nvmlEventSetCreate", |library| {
        let mut state = library.events.lock();
        let number = state.next;
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(to, std::ptr::without_provenance_mut(SETS + number)) }?;
        state.next += 1;
        state.sets.insert(number, Set::default());
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlEventSetFree(pointer: *mut c_void) -> c_int {
    call("nvmlEventSetFree", |library| {
        let gone = library.events.lock().sets.remove(&set(pointer)?);
        library.events.raised.notify_all();
        gone.map(|_| ()).ok_or(INVALID_ARGUMENT)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetSupportedEventTypes(
    handle: *mut c_void,
    to: *mut c_ulonglong,
) -> c_int {
    let function = "nvmlDeviceGetSupportedEventTypes";
    // SAFETY: the caller's promise.
    on_device(function, handle, |_, _| unsafe {
        ANSWERS.put(to, SUPPORTED)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceRegisterEvents(
    handle: *mut c_void,
    kinds: c_ulonglong,
    pointer: *mut c_void,
) -> c_int {
    on_device("nvmlDeviceRegisterEvents", handle, |library, number| {
        if kinds & !SUPPORTED != 0 {
            return Err(NOT_SUPPORTED);
        }
        library.events.listen(set(pointer)?, number, kinds)
    })
}

/// An event (`nvmlEventData_t`).
#[repr(C)]
pub struct EventData {
    device: *mut c_void,
    kind: c_ulonglong,
    data: c_ulonglong,
    slice: c_uint,
    part: c_uint,
}

/// Waits in earnest, at most as many milliseconds, and lets the event be put where the caller wants it.
fn wait(
    pointer: *mut c_void,
    milliseconds: c_uint,
    put: impl FnOnce(Event) -> Result<(), c_int>,
) -> c_int {
    call("nvmlEventSetWait", |library| {
        let timeout = Duration::from_millis(u64::from(milliseconds));
        let event = library.events.wait(set(pointer)?, timeout)?;
        takes_effect(library, event);
        put(event)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlEventSetWait_v2(
    pointer: *mut c_void,
    to: *mut EventData,
    milliseconds: c_uint,
) -> c_int {
    wait(pointer, milliseconds, |event| {
        let data = EventData {
            device: handle(event.device),
            kind: event.kind,
            data: event.data,
            slice: WHOLE,
            part: WHOLE,
        };
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(to, data) }
    })
}

/// The same as above; the structure was the shorter of the two, and is filled in so far.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlEventSetWait(
    pointer: *mut c_void,
    to: *mut [u64; 3],
    milliseconds: c_uint,
) -> c_int {
    wait(pointer, milliseconds, |event| {
        let device = handle(event.device).addr() as u64;
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(to, [device, event.kind, event.data]) }
    })
}
