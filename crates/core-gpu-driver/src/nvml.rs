//! NVIDIA's management library: how devices are. It is looked up at run time, needs no context, and
//! tells of devices that this process does not use. What a figure means for anybody is not judged
//! here.

use std::{
    ffi::{CStr, CString, c_char, c_int, c_uint, c_ulonglong, c_void},
    ptr,
    sync::OnceLock,
    time::Duration,
};

use crate::{dynamic, error::Absent, identity::Dashed};

/// The library's names.
const LIBRARIES: &[&str] = &["libnvidia-ml.so.1", "libnvidia-ml.so", "nvml.dll"];
/// Room for an identifier, in bytes.
const TEXT: usize = 96;
/// The library's documented numbers.
const NOT_SUPPORTED: c_int = 3;
const INVALID_ARGUMENT: c_int = 2;
const NOT_FOUND: c_int = 6;
const TOO_SMALL: c_int = 7;
const TIMEOUT: c_int = 10;
const LOST: c_int = 15;
const SENSOR_OF_THE_CHIP: c_uint = 0;
const THRESHOLD_SHUTDOWN: c_uint = 0;
const THRESHOLD_SLOWDOWN: c_uint = 1;
const CORRECTED: c_uint = 0;
const UNCORRECTED: c_uint = 1;
const SINCE_DRIVER_START: c_uint = 0;
const CRITICAL_ERROR: c_ulonglong = 8;

/// `nvmlMemory_t`.
#[repr(C)]
#[derive(Default)]
struct Memory {
    total: c_ulonglong,
    free: c_ulonglong,
    used: c_ulonglong,
}

/// `nvmlUtilization_t`.
#[repr(C)]
#[derive(Default)]
struct Utilization {
    chip: c_uint,
    memory: c_uint,
}

/// `nvmlProcessInfo_t`, in the shape that it has since version 2.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct ProcessInfo {
    process: c_uint,
    used: c_ulonglong,
    slice: c_uint,
    part: c_uint,
}

/// `nvmlEventData_t`.
#[repr(C)]
struct EventData {
    device: *mut c_void,
    kind: c_ulonglong,
    data: c_ulonglong,
    slice: c_uint,
    part: c_uint,
}

dynamic::table! {
    library: "libnvidia-ml";
    required {
    init = "nvmlInit_v2": fn();
    count = "nvmlDeviceGetCount_v2": fn(*mut c_uint);
    handle_by_index = "nvmlDeviceGetHandleByIndex_v2": fn(c_uint, *mut *mut c_void);
    handle_by_uuid = "nvmlDeviceGetHandleByUUID": fn(*const c_char, *mut *mut c_void);
    uuid = "nvmlDeviceGetUUID": fn(*mut c_void, *mut c_char, c_uint);
    }
    optional {
    name = "nvmlDeviceGetName": fn(*mut c_void, *mut c_char, c_uint);
    driver_version = "nvmlSystemGetDriverVersion": fn(*mut c_char, c_uint);
    memory = "nvmlDeviceGetMemoryInfo": fn(*mut c_void, *mut Memory);
    utilization = "nvmlDeviceGetUtilizationRates": fn(*mut c_void, *mut Utilization);
    temperature = "nvmlDeviceGetTemperature": fn(*mut c_void, c_uint, *mut c_uint);
    threshold = "nvmlDeviceGetTemperatureThreshold": fn(*mut c_void, c_uint, *mut c_uint);
    power = "nvmlDeviceGetPowerUsage": fn(*mut c_void, *mut c_uint);
    power_limit = "nvmlDeviceGetEnforcedPowerLimit": fn(*mut c_void, *mut c_uint);
    throttling = "nvmlDeviceGetCurrentClocksThrottleReasons": fn(*mut c_void, *mut c_ulonglong);
    memory_errors =
        "nvmlDeviceGetTotalEccErrors": fn(*mut c_void, c_uint, c_uint, *mut c_ulonglong);
    remapped_rows = "nvmlDeviceGetRemappedRows":
        fn(*mut c_void, *mut c_uint, *mut c_uint, *mut c_uint, *mut c_uint);
    most_slices = "nvmlDeviceGetMaxMigDeviceCount": fn(*mut c_void, *mut c_uint);
    slice = "nvmlDeviceGetMigDeviceHandleByIndex": fn(*mut c_void, c_uint, *mut *mut c_void);
    processes = "nvmlDeviceGetComputeRunningProcesses_v3":
        fn(*mut c_void, *mut c_uint, *mut ProcessInfo);
    event_set = "nvmlEventSetCreate": fn(*mut *mut c_void);
    free_event_set = "nvmlEventSetFree": fn(*mut c_void);
    register_events = "nvmlDeviceRegisterEvents": fn(*mut c_void, c_ulonglong, *mut c_void);
    wait = "nvmlEventSetWait_v2": fn(*mut c_void, *mut EventData, c_uint);
    }
}

/// Why the library did not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ManagementError {
    /// There is no library, or it lacks a function.
    #[error(transparent)]
    Absent(#[from] Absent),
    /// The device is gone: it has fallen off the bus, or cannot be reached any more.
    #[error("{function}: the device is lost")]
    Lost {
        /// The library's function.
        function: &'static str,
    },
    /// A call failed.
    #[error("{function} failed with code {code}")]
    Call {
        /// The library's function.
        function: &'static str,
        /// The library's number.
        code: i32,
    },
}

fn check(function: &'static str, code: c_int) -> Result<(), ManagementError> {
    match code {
        0 => Ok(()),
        LOST => Err(ManagementError::Lost { function }),
        code => Err(ManagementError::Call { function, code }),
    }
}

/// The library, started. It stays started as long as the process runs.
#[derive(Clone, Copy, Debug)]
pub struct Management(&'static Table);

/// A device as the library knows it.
#[derive(Clone, Copy, Debug)]
pub struct ManagedDevice {
    table: &'static Table,
    handle: Handle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Handle(*mut c_void);

// SAFETY: the library may be called by any thread, with any of its handles.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

/// How a device is at one moment. What the device or the library does not tell is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Percent of the last moments in which a kernel ran.
    pub utilization_percent: Option<u32>,
    /// Percent of the last moments in which memory was read or written.
    pub memory_utilization_percent: Option<u32>,
    /// Bytes in use, by whomever.
    pub used_bytes: Option<u64>,
    /// Bytes that there are.
    pub total_bytes: Option<u64>,
    /// Degrees Celsius of the chip.
    pub temperature_celsius: Option<u32>,
    /// Degrees at which the device slows down.
    pub slowdown_celsius: Option<u32>,
    /// Degrees at which the device switches itself off.
    pub shutdown_celsius: Option<u32>,
    /// Power that it draws.
    pub power_milliwatts: Option<u32>,
    /// Power that it may draw.
    pub power_limit_milliwatts: Option<u32>,
    /// Why it runs slower than it could, as the library's bits.
    pub throttling: Option<u64>,
    /// Errors of memory that were put right, since the driver started.
    pub corrected_errors: Option<u64>,
    /// Errors of memory that were not.
    pub uncorrected_errors: Option<u64>,
    /// Rows of memory that others stand in for.
    pub remapped_rows: Option<RemappedRows>,
}

/// A process that uses a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceProcess {
    /// Its number, as the system's first name space of processes has it.
    pub process: u32,
    /// Bytes of the device's memory that it holds; `None` where the driver does not tell.
    pub used_bytes: Option<u64>,
}

/// Rows of memory that others stand in for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RemappedRows {
    /// For errors that were put right.
    pub corrected: u32,
    /// For errors that were not.
    pub uncorrected: u32,
    /// One is to be replaced at the next reset.
    pub pending: bool,
    /// One could not be replaced.
    pub failed: bool,
}

impl Management {
    /// Loads and starts the library, once for the process.
    ///
    /// # Errors
    /// [`ManagementError::Absent`]; as starting fails, which is tried again by the next call.
    pub fn load() -> Result<Self, ManagementError> {
        static STARTED: OnceLock<()> = OnceLock::new();
        let table = Table::loaded(|| dynamic::load("NVML", LIBRARIES, None))?;
        if STARTED.get().is_none() {
            // SAFETY: it takes nothing, and may be called more than once.
            check("nvmlInit", unsafe { (table.init)() })?;
            STARTED.get_or_init(|| ());
        }
        Ok(Self(table))
    }

    /// The driver's version, as text.
    ///
    /// # Errors
    /// As the library's call fails.
    pub fn driver_version(self) -> Result<String, ManagementError> {
        const SYMBOL: &str = "nvmlSystemGetDriverVersion";
        let function = self.0.driver_version.ok_or_else(|| missing(SYMBOL))?;
        // SAFETY: it writes as many bytes at most, the zero byte included.
        text(SYMBOL, |to, room| unsafe { function(to, room) })
    }

    /// All devices of the machine, in the library's order, which is nobody else's.
    ///
    /// # Errors
    /// As the library's calls fail.
    pub fn devices(self) -> Result<Vec<ManagedDevice>, ManagementError> {
        let mut count = 0;
        // SAFETY: it writes one number.
        check("nvmlDeviceGetCount", unsafe {
            (self.0.count)(&raw mut count)
        })?;
        (0..count)
            .map(|index| {
                self.handle("nvmlDeviceGetHandleByIndex", |to| {
                    // SAFETY: it writes one handle.
                    unsafe { (self.0.handle_by_index)(index, to) }
                })
            })
            .collect()
    }

    /// The device, or the slice of one, with an identity: the driver's sixteen bytes.
    ///
    /// # Errors
    /// As the library's call fails; code 6 when there is none.
    pub fn device(self, uuid: &[u8; 16]) -> Result<ManagedDevice, ManagementError> {
        let dashed = Dashed(uuid);
        match self.device_named(&format!("GPU-{dashed}")) {
            Err(ManagementError::Call {
                code: NOT_FOUND | INVALID_ARGUMENT,
                ..
            }) => self.device_named(&format!("MIG-{dashed}")),
            found => found,
        }
    }

    /// The device of a name: `GPU-IDENTITY`, `MIG-IDENTITY`, and the name that drivers before 470 had
    /// for a slice, `MIG-GPU-IDENTITY/GPU-INSTANCE/COMPUTE-INSTANCE`, where the library still knows
    /// it. Which identity that is tells [`ManagedDevice::uuid`].
    ///
    /// # Errors
    /// As the library's call fails; code 6, or 2 for a name that is none, when there is none.
    pub fn device_named(self, name: &str) -> Result<ManagedDevice, ManagementError> {
        let text = CString::new(name).unwrap_or_default();
        self.handle("nvmlDeviceGetHandleByUUID", |to| {
            // SAFETY: it reads the text up to its zero byte, and writes one handle.
            unsafe { (self.0.handle_by_uuid)(text.as_ptr(), to) }
        })
    }

    fn handle(
        self,
        function: &'static str,
        call: impl FnOnce(*mut *mut c_void) -> c_int,
    ) -> Result<ManagedDevice, ManagementError> {
        let mut handle = ptr::null_mut();
        check(function, call(&raw mut handle))?;
        Ok(ManagedDevice {
            table: self.0,
            handle: Handle(handle),
        })
    }
}

fn missing(symbol: &'static str) -> ManagementError {
    let library = "libnvidia-ml";
    Absent::Symbol { library, symbol }.into()
}

/// Sixteen bytes of an identity as the library writes it, of a device or of a slice. The name that
/// old drivers have for a slice holds its device's identity and none of its own: that is none.
fn uuid_bytes(text: &str) -> Option<[u8; 16]> {
    let digits: String = text
        .strip_prefix("GPU-")
        .or_else(|| text.strip_prefix("MIG-"))?
        .chars()
        .filter(|digit| *digit != '-')
        .collect();
    let mut uuid = [0; 16];
    for (index, byte) in uuid.iter_mut().enumerate() {
        let pair = digits.get(2 * index..2 * index + 2)?;
        *byte = u8::from_str_radix(pair, 16).ok()?;
    }
    (digits.len() == 32).then_some(uuid)
}

fn text(
    function: &'static str,
    call: impl FnOnce(*mut c_char, c_uint) -> c_int,
) -> Result<String, ManagementError> {
    let mut bytes = [0_u8; TEXT];
    check(function, call(bytes.as_mut_ptr().cast(), TEXT as c_uint))?;
    let text = CStr::from_bytes_until_nul(&bytes).unwrap_or_default();
    Ok(text.to_string_lossy().into_owned())
}

/// Asks for one value, where the function is there. Not there, and not told by this device, is
/// `None`; a lost device is an error.
fn figure<F: Copy, T: Default>(
    function: Option<F>,
    call: impl FnOnce(F, *mut T) -> c_int,
) -> Result<Option<T>, ManagementError> {
    let Some(function) = function else {
        return Ok(None);
    };
    let mut value = T::default();
    match call(function, &raw mut value) {
        0 => Ok(Some(value)),
        LOST => Err(ManagementError::Lost {
            function: "reading the device",
        }),
        _ => Ok(None),
    }
}

impl ManagedDevice {
    /// The slices (MIG) that it is cut into; none where it is whole, or the library does not tell.
    #[must_use]
    pub fn slices(&self) -> Vec<Self> {
        let (Some(most), Some(slice)) = (self.table.most_slices, self.table.slice) else {
            return Vec::new();
        };
        let mut count = 0;
        // SAFETY: it writes one number.
        if unsafe { most(self.handle.0, &raw mut count) } != 0 {
            return Vec::new();
        }
        let found = (0..count).filter_map(|index| {
            let mut handle = ptr::null_mut();
            // SAFETY: it writes one handle. Where no slice has this index it answers with a code.
            let code = unsafe { slice(self.handle.0, index, &raw mut handle) };
            (code == 0).then_some(Self {
                table: self.table,
                handle: Handle(handle),
            })
        });
        found.collect()
    }

    /// Its identity: the driver's sixteen bytes.
    ///
    /// # Errors
    /// As the library's call fails; code 3 for a name that holds none, as drivers before 470 have
    /// for a slice.
    pub fn uuid(&self) -> Result<[u8; 16], ManagementError> {
        const SYMBOL: &str = "nvmlDeviceGetUUID";
        // SAFETY: it writes as many bytes at most, the zero byte included.
        let text = text(SYMBOL, |to, room| unsafe {
            (self.table.uuid)(self.handle.0, to, room)
        })?;
        uuid_bytes(&text).ok_or(ManagementError::Call {
            function: SYMBOL,
            code: NOT_SUPPORTED,
        })
    }

    /// Its name.
    ///
    /// # Errors
    /// As the library's call fails.
    pub fn name(&self) -> Result<String, ManagementError> {
        const SYMBOL: &str = "nvmlDeviceGetName";
        let function = self.table.name.ok_or_else(|| missing(SYMBOL))?;
        // SAFETY: as above.
        text(SYMBOL, |to, room| unsafe {
            function(self.handle.0, to, room)
        })
    }

    /// How it is now.
    ///
    /// # Errors
    /// [`ManagementError::Lost`].
    pub fn read(&self) -> Result<Reading, ManagementError> {
        let (table, handle) = (self.table, self.handle.0);
        let number = |function: Option<unsafe extern "C" fn(*mut c_void, *mut c_uint) -> c_int>| {
            // SAFETY: here and below each function writes the value that it is given room for.
            figure(function, |call, to| unsafe { call(handle, to) })
        };
        let threshold = |which| {
            // SAFETY: as above.
            figure(table.threshold, |call, to| unsafe {
                call(handle, which, to)
            })
        };
        let errors = |kind| {
            // SAFETY: as above.
            figure(table.memory_errors, |call, to: *mut c_ulonglong| unsafe {
                call(handle, kind, SINCE_DRIVER_START, to)
            })
        };
        // SAFETY: as above.
        let memory = figure(table.memory, |call, to: *mut Memory| unsafe {
            call(handle, to)
        })?;
        // SAFETY: as above.
        let utilization = figure(table.utilization, |call, to: *mut Utilization| unsafe {
            call(handle, to)
        })?;
        Ok(Reading {
            utilization_percent: utilization.as_ref().map(|found| found.chip),
            memory_utilization_percent: utilization.map(|found| found.memory),
            used_bytes: memory.as_ref().map(|found| found.used),
            total_bytes: memory.map(|found| found.total),
            // SAFETY: as above.
            temperature_celsius: figure(table.temperature, |call, to| unsafe {
                call(handle, SENSOR_OF_THE_CHIP, to)
            })?,
            slowdown_celsius: threshold(THRESHOLD_SLOWDOWN)?,
            shutdown_celsius: threshold(THRESHOLD_SHUTDOWN)?,
            power_milliwatts: number(table.power)?,
            power_limit_milliwatts: number(table.power_limit)?,
            // SAFETY: as above.
            throttling: figure(table.throttling, |call, to: *mut c_ulonglong| unsafe {
                call(handle, to)
            })?,
            corrected_errors: errors(CORRECTED)?,
            uncorrected_errors: errors(UNCORRECTED)?,
            remapped_rows: self.remapped_rows()?,
        })
    }

    /// The processes that compute on it, whoever's they are. `None` where the library does not tell.
    ///
    /// # Errors
    /// As the library's call fails.
    pub fn processes(&self) -> Result<Option<Vec<DeviceProcess>>, ManagementError> {
        const SYMBOL: &str = "nvmlDeviceGetComputeRunningProcesses";
        /// Bytes that are not known.
        const NOT_AVAILABLE: c_ulonglong = c_ulonglong::MAX;
        let Some(function) = self.table.processes else {
            return Ok(None);
        };
        let mut room = vec![ProcessInfo::default(); 64];
        loop {
            let mut count = room.len() as c_uint;
            // SAFETY: there is room for as many as it is told.
            let code = unsafe { function(self.handle.0, &raw mut count, room.as_mut_ptr()) };
            match code {
                // More have started since; a limit, so that this ends.
                TOO_SMALL if room.len() < 1 << 16 => {
                    room.resize(room.len() * 2, ProcessInfo::default());
                }
                NOT_SUPPORTED => return Ok(None),
                code => {
                    check(SYMBOL, code)?;
                    room.truncate(count as usize);
                    break;
                }
            }
        }
        let process = |info: ProcessInfo| DeviceProcess {
            process: info.process,
            used_bytes: Some(info.used).filter(|used| *used != NOT_AVAILABLE),
        };
        Ok(Some(room.into_iter().map(process).collect()))
    }

    fn remapped_rows(&self) -> Result<Option<RemappedRows>, ManagementError> {
        let found = figure(self.table.remapped_rows, |call, to: *mut [c_uint; 4]| {
            let first: *mut c_uint = to.cast();
            // SAFETY: each pointer has room for one of the four numbers.
            unsafe {
                call(
                    self.handle.0,
                    first,
                    first.add(1),
                    first.add(2),
                    first.add(3),
                )
            }
        })?;
        Ok(
            found.map(|[corrected, uncorrected, pending, failed]| RemappedRows {
                corrected,
                uncorrected,
                pending: pending != 0,
                failed: failed != 0,
            }),
        )
    }
}

/// Critical errors of devices (XIDs), as they happen. One thread at a time.
#[derive(Debug)]
pub struct CriticalErrors {
    table: &'static Table,
    set: Handle,
    devices: Vec<(Handle, [u8; 16])>,
}

/// A critical error of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CriticalError {
    /// The device's identity.
    pub uuid: [u8; 16],
    /// The driver's number of the error.
    pub xid: u64,
}

impl CriticalErrors {
    /// Listens to devices from now on.
    ///
    /// # Errors
    /// [`Absent::Symbol`]; as the library's calls fail. A device that has no such events is one that
    /// never raises any.
    pub fn of(management: Management, devices: &[ManagedDevice]) -> Result<Self, ManagementError> {
        const SYMBOL: &str = "nvmlEventSetCreate";
        let table = management.0;
        let (Some(create), Some(register)) = (table.event_set, table.register_events) else {
            return Err(missing(SYMBOL));
        };
        let mut set = ptr::null_mut();
        // SAFETY: it writes one handle.
        check(SYMBOL, unsafe { create(&raw mut set) })?;
        let mut errors = Self {
            table,
            set: Handle(set),
            devices: Vec::new(),
        };
        for device in devices {
            // SAFETY: both are live handles of the library.
            let code = unsafe { register(device.handle.0, CRITICAL_ERROR, set) };
            if code == NOT_SUPPORTED {
                continue;
            }
            check("nvmlDeviceRegisterEvents", code)?;
            errors.devices.push((device.handle, device.uuid()?));
        }
        Ok(errors)
    }

    /// The next error, if one comes within this time.
    ///
    /// # Errors
    /// As the library's call fails.
    pub fn next(&mut self, within: Duration) -> Result<Option<CriticalError>, ManagementError> {
        const SYMBOL: &str = "nvmlEventSetWait_v2";
        let wait = self.table.wait.ok_or_else(|| missing(SYMBOL))?;
        let milliseconds = c_uint::try_from(within.as_millis()).unwrap_or(c_uint::MAX);
        let mut data = EventData {
            device: ptr::null_mut(),
            kind: 0,
            data: 0,
            slice: 0,
            part: 0,
        };
        // SAFETY: the set lives as long as this value; it writes one event.
        let code = unsafe { wait(self.set.0, &raw mut data, milliseconds) };
        if code == TIMEOUT {
            return Ok(None);
        }
        check(SYMBOL, code)?;
        let known = self
            .devices
            .iter()
            .find(|(handle, _)| handle.0 == data.device);
        Ok(known.map(|(_, uuid)| CriticalError {
            uuid: *uuid,
            xid: data.data,
        }))
    }
}

impl Drop for CriticalErrors {
    fn drop(&mut self) {
        if let Some(free) = self.table.free_event_set {
            // SAFETY: the set is not used again. A failure leaves nothing that could be done.
            let _ = unsafe { free(self.set.0) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_go_there_and_back() {
        let uuid = *b"0123456789abcdef";
        for begin in ["GPU", "MIG"] {
            let text = format!("{begin}-{}", Dashed(&uuid));
            assert_eq!(text[3..], *"-30313233-3435-3637-3839-616263646566");
            assert_eq!(uuid_bytes(&text), Some(uuid));
        }
        for wrong in [
            "",
            "GPU-",
            "30313233",
            "GPU-3031323",
            "MIG-",
            "CPU-30313233-3435-3637-3839-616263646566",
            // A slice, as old drivers name it: the identity is its device's.
            "MIG-GPU-30313233-3435-3637-3839-616263646566/7/0",
        ] {
            assert_eq!(uuid_bytes(wrong), None, "{wrong}");
        }
    }
}
