//! The management library, as a monitor sees it: devices in an order of their own, figures that
//! change while it looks, events that it waits for.

use std::{ffi::CString, time::Instant};

use gpu_sim::case::Case;
use libloading::Library;

/// The types of the library's events and the codes of its answers that are asked here.
const XID: u64 = 8;
const UNINITIALIZED: i32 = 1;
const NOT_SUPPORTED: i32 = 3;
const TIMEOUT: i32 = 10;
const LOST: i32 = 15;

/// The library, loaded; closing it would end the machine.
struct Management(&'static Library);

/// An event as the library fills it in.
#[repr(C)]
#[derive(Default, Debug, PartialEq)]
struct Event {
    device: usize,
    kind: u64,
    data: u64,
    slice: u32,
    part: u32,
}

impl Management {
    fn load() -> Self {
        // SAFETY: loading the simulated library runs nothing of interest.
        let library = unsafe { Library::new("libnvidia-ml.so.1") }.unwrap();
        Self(Box::leak(Box::new(library)))
    }

    fn start() -> Self {
        let management = Self::load();
        assert_eq!(
            management.call::<extern "C" fn() -> i32>("nvmlInit_v2")(),
            0
        );
        management
    }

    fn call<F: Copy>(&self, function: &str) -> F {
        // SAFETY: who asks says the function's documented type.
        *unsafe { self.0.get::<F>(function.as_bytes()) }.unwrap()
    }

    fn device(&self, index: u32) -> usize {
        let mut handle = 0;
        let get: extern "C" fn(u32, *mut usize) -> i32 = self.call("nvmlDeviceGetHandleByIndex_v2");
        assert_eq!(get(index, &raw mut handle), 0);
        handle
    }

    /// A function that fills in one value.
    fn figure<T: Default>(&self, function: &str, handle: usize) -> (i32, T) {
        let mut value = T::default();
        let get: extern "C" fn(usize, *mut T) -> i32 = self.call(function);
        (get(handle, &raw mut value), value)
    }

    /// A function that fills in one value by a kind.
    fn figure_of<T: Default>(&self, function: &str, handle: usize, kind: u32) -> (i32, T) {
        let mut value = T::default();
        let get: extern "C" fn(usize, u32, *mut T) -> i32 = self.call(function);
        (get(handle, kind, &raw mut value), value)
    }

    /// Errors of memory: corrected or not, since the last start or ever.
    fn errors(&self, handle: usize, kind: u32, since: u32) -> (i32, u64) {
        let mut count = 0;
        let get: extern "C" fn(usize, u32, u32, *mut u64) -> i32 =
            self.call("nvmlDeviceGetTotalEccErrors");
        (get(handle, kind, since, &raw mut count), count)
    }

    fn set(&self, ordinal: u32, name: &str, value: u64) -> i32 {
        let name = CString::new(name).unwrap();
        let set: extern "C" fn(u32, *const std::ffi::c_char, u64) -> i32 =
            self.call("gpu_sim_set_figure");
        set(ordinal, name.as_ptr(), value)
    }

    fn listen(&self, handle: usize, kinds: u64) -> usize {
        let mut set = 0;
        let create: extern "C" fn(*mut usize) -> i32 = self.call("nvmlEventSetCreate");
        let register: extern "C" fn(usize, u64, usize) -> i32 =
            self.call("nvmlDeviceRegisterEvents");
        assert_eq!(create(&raw mut set), 0);
        assert_eq!(register(handle, kinds, set), 0);
        set
    }

    fn wait(&self, set: usize, milliseconds: u32) -> (i32, Event) {
        let mut event = Event::default();
        let wait: extern "C" fn(usize, *mut Event, u32) -> i32 = self.call("nvmlEventSetWait_v2");
        (wait(set, &raw mut event, milliseconds), event)
    }
}

fn xid(device: usize, data: u64) -> Event {
    Event {
        device,
        kind: XID,
        data,
        slice: u32::MAX,
        part: u32::MAX,
    }
}

#[test]
fn the_management_library_knows_the_same_devices_in_another_order() {
    Case::new("management::the_management_library_knows_the_same_devices_in_another_order")
        .variable("GPU_SIM_DEVICES", "1073741824,4194304")
        .variable("GPU_SIM_USED", "1048576")
        .variable("GPU_SIM_FAULTS", "nvmlDeviceGetPowerUsage:1:before:15")
        .run(|| {
            let library = Management::load();
            let mut devices = 0;
            let count: extern "C" fn(*mut u32) -> i32 = library.call("nvmlDeviceGetCount_v2");
            assert_eq!(count(&raw mut devices), UNINITIALIZED);
            let library = Management::start();
            assert_eq!((count(&raw mut devices), devices), (0, 2));
            let first = library.device(0);
            assert_eq!(
                library.figure::<[u64; 3]>("nvmlDeviceGetMemoryInfo", first),
                (0, [4 << 20, 3 << 20, 1 << 20]),
                "the driver's second"
            );
            assert_eq!(
                library.figure::<u32>("nvmlDeviceGetMinorNumber", first),
                (0, 1)
            );
            let power = || library.figure::<u32>("nvmlDeviceGetPowerUsage", first);
            assert_eq!((power().0, power()), (LOST, (0, 60_000)));
        });
}

#[test]
fn figures_are_the_environments_and_change_under_way() {
    Case::new("management::figures_are_the_environments_and_change_under_way")
        .variable("GPU_SIM_DEVICES", "1048576,1048576")
        .variable("GPU_SIM_TEMPERATURE", "40,70")
        .variable("GPU_SIM_UTILIZATION", "93")
        .run(|| {
            let library = Management::start();
            let (second, first) = (library.device(0), library.device(1));
            let degrees = |device| library.figure_of::<u32>("nvmlDeviceGetTemperature", device, 0);
            assert_eq!((degrees(first), degrees(second)), ((0, 40), (0, 70)));
            assert_eq!(library.set(0, "TEMPERATURE", 88), 0);
            assert_eq!((degrees(first), degrees(second)), ((0, 88), (0, 70)));
            assert_ne!(
                library.set(2, "TEMPERATURE", 88),
                0,
                "there is no such device"
            );
            assert_ne!(library.set(0, "TEMPER", 88), 0, "there is no such figure");
            let used = library.figure::<[u32; 2]>("nvmlDeviceGetUtilizationRates", first);
            assert_eq!(used, (0, [93, 0]));
            let limit = library.figure::<u32>("nvmlDeviceGetEnforcedPowerLimit", first);
            assert_eq!(limit, (0, 700_000));
            let slows = library.figure_of::<u32>("nvmlDeviceGetTemperatureThreshold", first, 1);
            assert_eq!(slows, (0, 89));
            let fan = library.figure::<u32>("nvmlDeviceGetFanSpeed", first);
            assert_eq!(fan.0, NOT_SUPPORTED);
            library.set(0, "THROTTLE", 0x48);
            for name in [
                "nvmlDeviceGetCurrentClocksThrottleReasons",
                "nvmlDeviceGetCurrentClocksEventReasons",
            ] {
                assert_eq!(library.figure::<u64>(name, first), (0, 0x48));
            }
        });
}

#[test]
fn a_figure_that_is_none_is_refused() {
    for (name, value) in [
        ("GPU_SIM_TEMPERATURE", "hot"),
        ("GPU_SIM_TEMPERATURE", "1,2"),
        ("GPU_SIM_EVENTS", "0:8"),
        ("GPU_SIM_EVENTS", "1:8:79"),
        ("COALESCE_DRIVER", "real"),
    ] {
        Case::new("management::a_figure_that_is_none_is_refused")
            .variable(name, value)
            .run(|| {
                let start: extern "C" fn() -> i32 = Management::load().call("nvmlInit_v2");
                assert_eq!(start(), 999);
            });
    }
}

#[test]
fn memory_errors_and_remapped_rows_are_counted() {
    Case::new("management::memory_errors_and_remapped_rows_are_counted")
        .variable("GPU_SIM_ECC_CORRECTED", "3")
        .variable("GPU_SIM_ECC_UNCORRECTED_EVER", "2")
        .variable("GPU_SIM_ROWS_UNCORRECTED", "1")
        .variable("GPU_SIM_ROWS_PENDING", "1")
        .run(|| {
            let library = Management::start();
            let device = library.device(0);
            let all = [(0, 0), (0, 1), (1, 0), (1, 1)];
            let errors = all.map(|(kind, since)| library.errors(device, kind, since));
            assert_eq!(errors, [(0, 3), (0, 0), (0, 0), (0, 2)]);
            let mut rows = [9_u32; 4];
            let [corrected, uncorrected, pending, failed] = &mut rows;
            type Rows = extern "C" fn(usize, *mut u32, *mut u32, *mut u32, *mut u32) -> i32;
            let get: Rows = library.call("nvmlDeviceGetRemappedRows");
            assert_eq!(get(device, corrected, uncorrected, pending, failed), 0);
            assert_eq!(rows, [0, 1, 1, 0]);
            library.set(0, "ECC", 0);
            assert_eq!(library.errors(device, 0, 0).0, NOT_SUPPORTED);
        });
}

#[test]
fn events_reach_those_who_listen() {
    Case::new("management::events_reach_those_who_listen")
        .variable("GPU_SIM_DEVICES", "1048576,1048576")
        .variable("GPU_SIM_EVENTS", "0:8:31,0:8:63")
        .run(|| {
            let library = Management::start();
            let (second, first) = (library.device(0), library.device(1));
            let deaf = library.listen(second, XID);
            let set = library.listen(first, XID);
            assert_eq!(library.wait(set, 0), (0, xid(first, 31)));
            assert_eq!(library.wait(set, 0), (0, xid(first, 63)));
            let start = Instant::now();
            assert_eq!(library.wait(set, 20).0, TIMEOUT);
            assert!(start.elapsed().as_millis() >= 20);
            assert_eq!(library.wait(deaf, 0).0, TIMEOUT, "another device's");
        });
}

#[test]
fn a_device_that_falls_off_the_bus_is_lost_and_no_other() {
    Case::new("management::a_device_that_falls_off_the_bus_is_lost_and_no_other")
        .variable("GPU_SIM_DEVICES", "1048576,1048576")
        .run(|| {
            let library = Management::start();
            let (second, first) = (library.device(0), library.device(1));
            let set = library.listen(first, XID);
            let raise: extern "C" fn(u32, u64, u64) -> i32 = library.call("gpu_sim_raise");
            let waiting = std::thread::spawn(move || Management::load().wait(set, 10_000));
            assert_eq!(raise(0, XID, 79), 0);
            assert_eq!(waiting.join().unwrap(), (0, xid(first, 79)));
            let power = |device| library.figure::<u32>("nvmlDeviceGetPowerUsage", device).0;
            assert_eq!((power(first), power(second)), (LOST, 0));
        });
}
