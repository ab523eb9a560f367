//! What devices show: memory, use, temperature, power, clocks. Each figure has a variable of the
//! environment, `GPU_SIM_` and its name, with one value for all devices or one for each, separated
//! by commas, in the driver's order; `gpu_sim_set_figure` changes it under way.

use std::{
    collections::BTreeMap,
    ffi::{c_int, c_uint, c_ulonglong, c_void},
    sync::{Mutex, PoisonError},
};

use crate::{ANSWERS, INVALID_ARGUMENT, NOT_SUPPORTED, on_device};

/// Something that a device shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Figure {
    /// The end of its variable's name.
    pub name: &'static str,
    /// What it is when nobody says anything.
    pub usual: u64,
}

const fn figure(name: &'static str, usual: u64) -> Figure {
    Figure { name, usual }
}

/// Bytes in use; without a word, what the machine's other processes hold.
pub const USED: Figure = figure("USED", 0);
/// Percent of the last moments with a kernel on the device.
pub const UTILIZATION: Figure = figure("UTILIZATION", 0);
/// Percent of the last moments with memory read or written.
pub const MEMORY_UTILIZATION: Figure = figure("MEMORY_UTILIZATION", 0);
/// Degrees.
pub const TEMPERATURE: Figure = figure("TEMPERATURE", 35);
/// Degrees at which it turns itself off, slows down, and may have at most.
pub const TEMPERATURE_SHUTDOWN: Figure = figure("TEMPERATURE_SHUTDOWN", 92);
pub const TEMPERATURE_SLOWDOWN: Figure = figure("TEMPERATURE_SLOWDOWN", 89);
pub const TEMPERATURE_MAX: Figure = figure("TEMPERATURE_MAX", 85);
/// Milliwatts that it takes, and may take.
pub const POWER: Figure = figure("POWER", 60_000);
pub const POWER_LIMIT: Figure = figure("POWER_LIMIT", 700_000);
/// Millijoules since the driver was loaded.
pub const ENERGY: Figure = figure("ENERGY", 0);
/// Megahertz, and the most.
pub const CLOCK: Figure = figure("CLOCK", 1_980);
pub const MEMORY_CLOCK: Figure = figure("MEMORY_CLOCK", 2_619);
/// Percent; 101 is a device without one.
pub const FAN: Figure = figure("FAN", 101);
/// Why clocks are lower than they could be: the library's bits.
pub const THROTTLE: Figure = figure("THROTTLE", 0);
/// Memory corrects errors, or has no counters for them.
pub const ECC: Figure = figure("ECC", 1);
/// Errors of memory since the last start, and in all of the device's life.
pub const ECC_CORRECTED: Figure = figure("ECC_CORRECTED", 0);
pub const ECC_UNCORRECTED: Figure = figure("ECC_UNCORRECTED", 0);
pub const ECC_CORRECTED_EVER: Figure = figure("ECC_CORRECTED_EVER", 0);
pub const ECC_UNCORRECTED_EVER: Figure = figure("ECC_UNCORRECTED_EVER", 0);
/// Rows of memory that others stand in for, by why; whether one waits for a restart, or could not.
pub const ROWS_CORRECTED: Figure = figure("ROWS_CORRECTED", 0);
pub const ROWS_UNCORRECTED: Figure = figure("ROWS_UNCORRECTED", 0);
pub const ROWS_PENDING: Figure = figure("ROWS_PENDING", 0);
pub const ROWS_FAILED: Figure = figure("ROWS_FAILED", 0);
/// The device has fallen off the bus.
pub const LOST: Figure = figure("LOST", 0);

/// All of them.
const ALL: &[Figure] = &[
    USED,
    UTILIZATION,
    MEMORY_UTILIZATION,
    TEMPERATURE,
    TEMPERATURE_SHUTDOWN,
    TEMPERATURE_SLOWDOWN,
    TEMPERATURE_MAX,
    POWER,
    POWER_LIMIT,
    ENERGY,
    CLOCK,
    MEMORY_CLOCK,
    FAN,
    THROTTLE,
    ECC,
    ECC_CORRECTED,
    ECC_UNCORRECTED,
    ECC_CORRECTED_EVER,
    ECC_UNCORRECTED_EVER,
    ROWS_CORRECTED,
    ROWS_UNCORRECTED,
    ROWS_PENDING,
    ROWS_FAILED,
    LOST,
];

/// What somebody said of devices, by their number in this library.
#[derive(Debug, Default)]
pub struct Figures(Mutex<BTreeMap<(usize, &'static str), u64>>);

impl Figures {
    /// Reads what the environment says.
    ///
    /// # Errors
    /// A value that is no number, and fewer or more values than devices.
    pub fn from_environment(devices: usize) -> Result<Self, String> {
        let figures = Self::default();
        for figure in ALL {
            let variable = format!("GPU_SIM_{}", figure.name);
            let Ok(text) = std::env::var(&variable) else {
                continue;
            };
            let wrong = || format!("{variable} cannot be `{text}`");
            let parsed: Result<Vec<u64>, _> =
                text.split(',').map(|value| value.trim().parse()).collect();
            let values = parsed.map_err(|_| wrong())?;
            let one = match values.as_slice() {
                [one] => Some(*one),
                each if each.len() == devices => None,
                _ => return Err(wrong()),
            };
            for (ordinal, number) in (0..devices).rev().enumerate() {
                let value = one.or_else(|| values.get(ordinal).copied());
                figures.set(number, *figure, value.ok_or_else(wrong)?);
            }
        }
        Ok(figures)
    }

    /// What a device shows.
    pub fn get(&self, device: usize, figure: Figure) -> u64 {
        self.said(device, figure).unwrap_or(figure.usual)
    }

    /// What somebody said that a device shows.
    fn said(&self, device: usize, figure: Figure) -> Option<u64> {
        let said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        said.get(&(device, figure.name)).copied()
    }

    /// Lets a device show something.
    pub fn set(&self, device: usize, figure: Figure, value: u64) {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        said.insert((device, figure.name), value);
    }

    /// The figure of that name.
    pub fn named(name: &str) -> Option<Figure> {
        ALL.iter().copied().find(|figure| figure.name == name)
    }
}

/// A call that answers with one figure as a small number.
///
/// # Safety
/// `to` is null or has room for one value.
pub unsafe fn answer(
    function: &'static str,
    handle: *mut c_void,
    figure: Figure,
    to: *mut c_uint,
) -> c_int {
    on_device(function, handle, |library, number| {
        let value = library.figures.get(number, figure);
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(to, c_uint::try_from(value).unwrap_or(c_uint::MAX)) }
    })
}

/// Bytes of a device (`nvmlMemory_t`).
#[repr(C)]
pub struct MemoryFigures {
    total: c_ulonglong,
    free: c_ulonglong,
    used: c_ulonglong,
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMemoryInfo(
    handle: *mut c_void,
    to: *mut MemoryFigures,
) -> c_int {
    on_device("nvmlDeviceGetMemoryInfo", handle, |library, number| {
        let config = library.devices.get(number).ok_or(INVALID_ARGUMENT)?;
        let said = library.figures.said(number, USED);
        let used = said
            .unwrap_or(config.other_processes_bytes)
            .min(config.total_bytes);
        let figures = MemoryFigures {
            total: config.total_bytes,
            free: config.total_bytes - used,
            used,
        };
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(to, figures) }
    })
}

/// Percent of the last moments (`nvmlUtilization_t`).
#[repr(C)]
pub struct UtilizationFigures {
    gpu: c_uint,
    memory: c_uint,
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetUtilizationRates(
    handle: *mut c_void,
    to: *mut UtilizationFigures,
) -> c_int {
    on_device(
        "nvmlDeviceGetUtilizationRates",
        handle,
        |library, number| {
            let percent = |figure| library.figures.get(number, figure).min(100) as c_uint;
            let figures = UtilizationFigures {
                gpu: percent(UTILIZATION),
                memory: percent(MEMORY_UTILIZATION),
            };
            // SAFETY: the caller's promise.
            unsafe { ANSWERS.put(to, figures) }
        },
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetTemperature(
    handle: *mut c_void,
    sensor: c_uint,
    to: *mut c_uint,
) -> c_int {
    if sensor != 0 {
        return INVALID_ARGUMENT;
    }
    // SAFETY: the caller's promise.
    unsafe { answer("nvmlDeviceGetTemperature", handle, TEMPERATURE, to) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetTemperatureThreshold(
    handle: *mut c_void,
    kind: c_uint,
    to: *mut c_uint,
) -> c_int {
    let figure = match kind {
        0 => TEMPERATURE_SHUTDOWN,
        1 => TEMPERATURE_SLOWDOWN,
        3 => TEMPERATURE_MAX,
        2 | 4..=7 => return NOT_SUPPORTED,
        _ => return INVALID_ARGUMENT,
    };
    // SAFETY: the caller's promise.
    unsafe { answer("nvmlDeviceGetTemperatureThreshold", handle, figure, to) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetPowerUsage(handle: *mut c_void, to: *mut c_uint) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { answer("nvmlDeviceGetPowerUsage", handle, POWER, to) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetPowerManagementLimit(
    handle: *mut c_void,
    to: *mut c_uint,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { answer("nvmlDeviceGetPowerManagementLimit", handle, POWER_LIMIT, to) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetEnforcedPowerLimit(
    handle: *mut c_void,
    to: *mut c_uint,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { answer("nvmlDeviceGetEnforcedPowerLimit", handle, POWER_LIMIT, to) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetTotalEnergyConsumption(
    handle: *mut c_void,
    to: *mut c_ulonglong,
) -> c_int {
    let function = "nvmlDeviceGetTotalEnergyConsumption";
    on_device(function, handle, |library, number| {
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(to, library.figures.get(number, ENERGY)) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetClockInfo(
    handle: *mut c_void,
    kind: c_uint,
    to: *mut c_uint,
) -> c_int {
    let figure = match kind {
        0 | 1 => CLOCK,
        2 => MEMORY_CLOCK,
        3 => return NOT_SUPPORTED,
        _ => return INVALID_ARGUMENT,
    };
    // SAFETY: the caller's promise.
    unsafe { answer("nvmlDeviceGetClockInfo", handle, figure, to) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetFanSpeed(handle: *mut c_void, to: *mut c_uint) -> c_int {
    on_device("nvmlDeviceGetFanSpeed", handle, |library, number| {
        match library.figures.get(number, FAN) {
            // SAFETY: the caller's promise.
            percent @ 0..=100 => unsafe { ANSWERS.put(to, percent as c_uint) },
            _ => Err(NOT_SUPPORTED),
        }
    })
}
