//! The simulated machine's management library: what a program finds when it looks for
//! `libnvidia-ml`. Its devices are those that the environment names, in the opposite order to the
//! driver's, since the two orders need not agree; a program has to tell devices by their identity.
//!
//! What a device shows is in `figures`: read from the environment at the start, changed by `control`
//! while a program runs. `events` are what a device raises. Nothing changes by itself, and nothing
//! of it comes from the simulated driver, which is another library with a machine of its own.
#![expect(unsafe_code, reason = "the library's interface is pointers")]

mod control;
mod events;
mod figures;
mod health;
mod processes;
mod system;

use std::{
    ffi::{c_char, c_int, c_uint, c_void},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
};

use gpu_sim::{Code, DeviceConfig, Machine, environment::Setup, pointers::Answers};

use crate::{events::Events, figures::Figures};

/// The library's own codes.
const UNINITIALIZED: c_int = 1;
const INVALID_ARGUMENT: c_int = 2;
const NOT_SUPPORTED: c_int = 3;
const NOT_FOUND: c_int = 6;
const TOO_SMALL: c_int = 7;
const TIMEOUT: c_int = 10;
const LOST: c_int = 15;
const UNKNOWN: c_int = 999;

/// How this library answers.
const ANSWERS: Answers<c_int> = Answers {
    no_room: || INVALID_ARGUMENT,
};

/// Handles are numbers far from zero.
const HANDLES: usize = 0x00e0_0000;

struct Library {
    machine: Machine,
    /// In the order of this library.
    devices: Vec<DeviceConfig>,
    figures: Figures,
    events: Events,
}

static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
static STARTED: AtomicU32 = AtomicU32::new(0);

impl Library {
    fn from_environment() -> Result<Self, String> {
        if std::env::var("COALESCE_DRIVER").as_deref() == Ok("real") {
            return Err("a real library is wanted, and this is a simulated one".to_owned());
        }
        let setup = Setup::from_environment().map_err(|error| error.to_string())?;
        let mut devices = setup.config.devices.clone();
        devices.reverse();
        let library = Self {
            figures: Figures::from_environment(devices.len())?,
            events: Events::from_environment(devices.len())?,
            machine: Machine::new(setup.config),
            devices,
        };
        for fault in setup.faults {
            library.machine.plan(fault);
        }
        Ok(library)
    }

    /// A device's number in the driver's order.
    fn ordinal(&self, device: usize) -> usize {
        self.devices.len() - 1 - device
    }
}

fn library() -> Result<&'static Library, c_int> {
    let made = LIBRARY.get_or_init(|| {
        let made = Library::from_environment();
        made.map_err(|error| eprintln!("gpu-sim: {error}")).ok()
    });
    made.as_ref().ok_or(UNKNOWN)
}

/// A call: counted, failing by plan, and only between start and end.
fn call(function: &'static str, body: impl FnOnce(&Library) -> Result<(), c_int>) -> c_int {
    let done = library().and_then(|library| {
        if STARTED.load(SeqCst) == 0 {
            return Err(UNINITIALIZED);
        }
        library.machine.enter(function).map_err(|Code(code)| code)?;
        body(library)
    });
    done.err().unwrap_or(0)
}

/// A call on a device that is still there.
fn on_device(
    function: &'static str,
    handle: *mut c_void,
    body: impl FnOnce(&Library, usize) -> Result<(), c_int>,
) -> c_int {
    call(function, |library| {
        let (number, _) = device(library, handle)?;
        if library.figures.get(number, figures::LOST) != 0 {
            return Err(LOST);
        }
        body(library, number)
    })
}

fn device(library: &Library, handle: *mut c_void) -> Result<(usize, &DeviceConfig), c_int> {
    let number = handle.addr().checked_sub(HANDLES).ok_or(INVALID_ARGUMENT)?;
    let found = library.devices.get(number).ok_or(INVALID_ARGUMENT)?;
    Ok((number, found))
}

fn handle(number: usize) -> *mut c_void {
    std::ptr::without_provenance_mut(HANDLES + number)
}

/// # Safety
/// `to` is null or has room for `length` bytes.
unsafe fn put_text(to: *mut c_char, length: c_uint, text: &str) -> Result<(), c_int> {
    if !to.is_null() && text.len() >= length as usize {
        return Err(TOO_SMALL);
    }
    // SAFETY: the caller's promise.
    unsafe { ANSWERS.put_text(to, length, text) }
}
