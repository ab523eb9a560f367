//! The simulated HIP library: what a program finds when it looks for
//! `libamdhip64`. `GPU_SIM_HIP_DEVICES` counts its devices (none), `GPU_SIM_HIP_BYTES` and
//! `GPU_SIM_HIP_NAME` say what each is, `GPU_SIM_HIP_VERSION` what the runtime says it is.
//! `HIP_VISIBLE_DEVICES` hides devices, and `GPU_SIM_FAULTS` fails calls, by HIP's names. Work given to it
//! is the simulated machine's. `gpu_sim_hip_verify` answers 0 when everything was given back and no
//! rule was broken.
#![expect(unsafe_code, reason = "the library's interface is pointers")]
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the library's manual documents them"
)]

mod memory;
mod streams;

use std::{
    cell::Cell,
    collections::BTreeSet,
    ffi::{CStr, c_char, c_int, c_uint},
    sync::{Mutex, OnceLock},
};

use gpu_sim::{Code, Config, Machine, environment, pointers::Answers};

/// How this library answers.
const ANSWERS: Answers<Code> = Answers {
    no_room: || Code::INVALID_VALUE,
};
/// What a set-up that is none answers with.
const UNKNOWN: Code = Code(999);

/// What nobody said anything about: bytes of a device, and the runtime's version.
const USUAL_BYTES: u64 = 16 << 30;
const USUAL_VERSION: u64 = 60_300_000;

struct Library {
    machine: Machine,
    version: u64,
    /// The devices that a program may see, by their number in the machine.
    visible: Vec<usize>,
    bytes: u64,
    name: String,
    contexts: Mutex<BTreeSet<u32>>,
}

static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();

thread_local! {
    static CURRENT: Cell<c_int> = const { Cell::new(0) };
}

fn number(name: &str, usual: u64) -> Result<u64, String> {
    match std::env::var(name) {
        Err(_) => Ok(usual),
        Ok(text) => {
            let parsed = text.parse();
            parsed.map_err(|_| format!("{name} cannot be `{text}`"))
        }
    }
}

impl Library {
    fn from_environment() -> Result<Self, String> {
        if std::env::var("COALESCE_DRIVER").as_deref() == Ok("real") {
            return Err("a real library is wanted, and this is a simulated one".to_owned());
        }
        let count = number("GPU_SIM_HIP_DEVICES", 0)? as usize;
        let bytes = number("GPU_SIM_HIP_BYTES", USUAL_BYTES)?;
        let setup = environment::Setup::from_environment().map_err(|error| error.to_string())?;
        let config = Config {
            schedule: setup.config.schedule,
            ..Config::with_devices(&vec![bytes; count])
        };
        let hidden = std::env::var("HIP_VISIBLE_DEVICES").ok();
        let visible = environment::visible(hidden.as_deref(), &config.devices);
        let library = Self {
            machine: Machine::new(config),
            version: number("GPU_SIM_HIP_VERSION", USUAL_VERSION)?,
            visible,
            bytes,
            name: std::env::var("GPU_SIM_HIP_NAME").unwrap_or("Simulated GPU".to_owned()),
            contexts: Mutex::default(),
        };
        for fault in setup.faults {
            library.machine.plan(fault);
        }
        Ok(library)
    }
}

/// A call: counted, and failing by plan.
fn call(function: &'static str, body: impl FnOnce(&Library) -> Result<(), Code>) -> c_int {
    let made = LIBRARY.get_or_init(|| {
        let made = Library::from_environment();
        made.map_err(|error| eprintln!("gpu-sim: {error}")).ok()
    });
    let done = made.as_ref().ok_or(UNKNOWN).and_then(|library| {
        library.machine.enter(function)?;
        body(library)
    });
    done.map_or_else(|Code(code)| code, |()| 0)
}

/// A call on a device that can be seen, with its number in the machine.
fn on_device(
    function: &'static str,
    device: c_int,
    body: impl FnOnce(&Library, usize) -> Result<(), Code>,
) -> c_int {
    call(function, |library| {
        let place = usize::try_from(device).map_err(|_| Code::INVALID_DEVICE)?;
        let number = library.visible.get(place).ok_or(Code::INVALID_DEVICE)?;
        body(library, *number)
    })
}

/// A call on the thread's device, whose context is made with the first.
fn on_current(
    function: &'static str,
    body: impl FnOnce(&Machine, u32) -> Result<(), Code>,
) -> c_int {
    on_device(function, CURRENT.get(), |library, number| {
        let device = u32::try_from(number).map_err(|_| Code::INVALID_DEVICE)?;
        let machine = &library.machine;
        let made = || -> Result<(), Code> {
            let mut contexts = library.contexts.lock();
            let contexts = contexts.as_mut().map_err(|_| UNKNOWN)?;
            if !contexts.contains(&device) {
                machine.retain_context(device)?;
                contexts.insert(device);
            }
            Ok(())
        };
        made()?;
        body(machine, device)
    })
}

/// Whether everything but contexts was given back and no rule was broken: then 0.
#[unsafe(no_mangle)]
pub extern "C" fn gpu_sim_hip_verify() -> c_int {
    let Some(Some(library)) = LIBRARY.get() else {
        return 0;
    };
    match library.machine.verify() {
        Ok(()) => 0,
        Err(complaint) => {
            eprintln!("gpu-sim: {complaint}");
            1
        }
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn hipInit(flags: c_uint) -> c_int {
    call("hipInit", |library| match (flags, library.visible.len()) {
        (0, 0) => Err(Code::NO_DEVICE),
        (0, _) => Ok(()),
        _ => Err(Code::INVALID_VALUE),
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipRuntimeGetVersion(version: *mut c_int) -> c_int {
    call("hipRuntimeGetVersion", |library| {
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(version, library.version as c_int) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDriverGetVersion(version: *mut c_int) -> c_int {
    call("hipDriverGetVersion", |library| {
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(version, library.version as c_int) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDeviceCount(count: *mut c_int) -> c_int {
    call("hipGetDeviceCount", |library| {
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(count, library.visible.len() as c_int) }?;
        if library.visible.is_empty() {
            return Err(Code::NO_DEVICE);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGet(device: *mut c_int, ordinal: c_int) -> c_int {
    on_device("hipDeviceGet", ordinal, |_, _| {
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(device, ordinal) }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipSetDevice(device: c_int) -> c_int {
    on_device("hipSetDevice", device, |_, _| {
        CURRENT.set(device);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDevice(device: *mut c_int) -> c_int {
    on_device("hipGetDevice", CURRENT.get(), |_, _| {
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(device, CURRENT.get()) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetName(to: *mut c_char, length: c_int, device: c_int) -> c_int {
    on_device("hipDeviceGetName", device, |library, _| {
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put_text(to, length, &library.name) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetPCIBusId(
    to: *mut c_char,
    length: c_int,
    device: c_int,
) -> c_int {
    on_device("hipDeviceGetPCIBusId", device, |library, number| {
        let devices = library.machine.config().devices;
        let place = devices
            .get(number)
            .ok_or(Code::INVALID_DEVICE)?
            .bus_address();
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put_text(to, length, &place) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetUuid(to: *mut [u8; 16], device: c_int) -> c_int {
    on_device("hipDeviceGetUuid", device, |library, number| {
        let devices = library.machine.config().devices;
        let uuid = devices.get(number).ok_or(Code::INVALID_DEVICE)?.uuid;
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(to, uuid) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceTotalMem(to: *mut usize, device: c_int) -> c_int {
    on_device("hipDeviceTotalMem", device, |library, _| {
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(to, library.bytes as usize) }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGetErrorString(code: c_int) -> *const c_char {
    let text: &CStr = match Code(code) {
        Code(0) => c"no error",
        Code::INVALID_VALUE => c"invalid argument",
        Code::NO_DEVICE => c"no ROCm-capable device is detected",
        Code::INVALID_DEVICE => c"invalid device ordinal",
        _ => c"unknown error",
    };
    text.as_ptr()
}
