//! A machine's make in the environment: how a simulated driver library learns what it is, since a
//! program that loads it knows nothing of simulations.
//!
//! | variable | example | without it |
//! | --- | --- | --- |
//! | `GPU_SIM_DEVICES` | `1073741824,4096` (bytes of each; `none`) | one of 1 GiB |
//! | `GPU_SIM_SLICES` | `1` (all devices), `0,1` (each): a slice (MIG) | whole devices |
//! | `GPU_SIM_SCHEDULE` | `latest`, `eager`, `late:1`, `seed:7` | `latest` |
//! | `GPU_SIM_DRIVER_VERSION` | `12040` | 12080 |
//! | `GPU_SIM_FAULTS` | `cuMemAlloc:2:before:2,cuInit:1:hang` | none |
//! | `CUDA_VISIBLE_DEVICES` | `1,0`, `GPU-73696d75` | all devices, for the driver's library |
//! | `GPU_SIM_HIP_DEVICES`, `_BYTES`, `_NAME`, `_VERSION` | `2` | no device, for the HIP library |
//! | `GPU_SIM_MACHINE` | `2`: devices have other identities than another machine's | 0 |
//! | `GPU_SIM_ADDRESS` | `10.0.0.2`: where communicators of other machines find this one | loopback |
//! | `GPU_SIM_NCCL_BYTES` | `65536` (taken by each communicator) | 0 |
//! | `GPU_SIM_TEMPERATURE`, … | `40` or `40,71` (one for each device) | see below |
//! | `GPU_SIM_EVENTS` | `0:8:79` (device, type, data) | none |
//!
//! The last two are the management library's. Its figures: `USED` (bytes), `UTILIZATION`,
//! `MEMORY_UTILIZATION`, `FAN` (percent), `TEMPERATURE`, `TEMPERATURE_SHUTDOWN`,
//! `TEMPERATURE_SLOWDOWN`, `TEMPERATURE_MAX` (degrees), `POWER`, `POWER_LIMIT` (milliwatts), `ENERGY`
//! (millijoules), `CLOCK`, `MEMORY_CLOCK` (megahertz), `THROTTLE` (the library's bits), `ECC` (0 or
//! 1), `ECC_CORRECTED`, `ECC_UNCORRECTED`, `ECC_CORRECTED_EVER`, `ECC_UNCORRECTED_EVER` (errors),
//! `ROWS_CORRECTED`, `ROWS_UNCORRECTED`, `ROWS_PENDING`, `ROWS_FAILED` (remapped rows), `LOST` (0 or
//! 1). While a program runs, `gpu_sim_set_figure(device, name, value)` and
//! `gpu_sim_raise(device, type, data)` of that library change them; a raised XID 79 loses the device.
//!
//! With `COALESCE_DRIVER=real` the simulated libraries refuse to work, so that a test which wants a
//! card never takes them for one.
//!
//! A fault is a function, which call of it, `before`, `after`, `earlier` or `hang`, and its code.

use crate::{Code, Config, DeviceConfig, Fault, FaultMoment, Schedule};

/// Bytes of a device that nobody said anything about.
const USUAL_BYTES: u64 = 1 << 30;

/// A machine's make, and what is to go wrong on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// The machine.
    pub config: Config,
    /// The faults.
    pub faults: Vec<Fault>,
}

/// A variable that does not say what it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupError {
    /// Its name.
    pub variable: &'static str,
    /// What it says.
    pub value: String,
}

impl std::fmt::Display for SetupError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} cannot be `{}`", self.variable, self.value)
    }
}

impl std::error::Error for SetupError {}

impl Setup {
    /// Reads variables through a function, so that they need not be the process's.
    ///
    /// # Errors
    /// A value that is none.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, SetupError> {
        let devices = one(&variable, "GPU_SIM_DEVICES", devices)?.unwrap_or(vec![USUAL_BYTES]);
        let mut config = Config::with_devices(&devices);
        let machine = one(&variable, "GPU_SIM_MACHINE", |text| text.parse().ok())?.unwrap_or(0);
        for device in &mut config.devices {
            // The byte before the device's number.
            device.uuid[14] = machine;
        }
        let slices = one(&variable, "GPU_SIM_SLICES", slices)?.unwrap_or_default();
        for (place, device) in config.devices.iter_mut().enumerate() {
            if slices.get(place).or(slices.last()) == Some(&true) {
                device.slice = true;
                device.name.push_str(" MIG 1g.10gb");
            }
        }
        if let Some(schedule) = one(&variable, "GPU_SIM_SCHEDULE", schedule)? {
            config.schedule = schedule;
        }
        let version = one(&variable, "GPU_SIM_DRIVER_VERSION", |text| {
            text.parse().ok()
        })?;
        config.driver_version = version.unwrap_or(config.driver_version);
        let faults = one(&variable, "GPU_SIM_FAULTS", |text| {
            text.split(',').map(fault).collect()
        })?;
        Ok(Self {
            config,
            faults: faults.unwrap_or_default(),
        })
    }

    /// Reads the environment of this process.
    ///
    /// # Errors
    /// A value that is none.
    pub fn from_environment() -> Result<Self, SetupError> {
        Self::read(|name| std::env::var(name).ok())
    }
}

/// Which devices a program may see, in which order: what `CUDA_VISIBLE_DEVICES` and its like say, as
/// the driver reads them. Numbers and beginnings of identities (`GPU-…`), separated by commas. The
/// first that is none ends the list; one that comes twice hides all. Without a word, all of them.
#[must_use]
pub fn visible(said: Option<&str>, devices: &[DeviceConfig]) -> Vec<usize> {
    let Some(said) = said else {
        return (0..devices.len()).collect();
    };
    let mut visible = Vec::new();
    for name in said.split(',') {
        match device(name.trim(), devices) {
            Some(number) if !visible.contains(&number) => visible.push(number),
            Some(_) => return Vec::new(),
            None => break,
        }
    }
    visible
}

fn device(name: &str, devices: &[DeviceConfig]) -> Option<usize> {
    if name.starts_with("MIG-GPU-") {
        let same = |device: &DeviceConfig| device.old_slice_name().as_deref() == Some(name);
        return devices.iter().position(same);
    }
    if name.starts_with("GPU-") || name.starts_with("MIG-") {
        let (kind, beginning) = name.split_at(4);
        let wanted = beginning.replace('-', "").to_ascii_lowercase();
        let mut found = devices.iter().enumerate().filter(|(_, device)| {
            // A slice is none of the devices, and a device no slice.
            device.slice == (kind == "MIG-") && hexadecimal(device.uuid).starts_with(&wanted)
        });
        // One that more than one device has names none.
        return match (found.next(), found.next()) {
            (Some((number, _)), None) if !wanted.is_empty() => Some(number),
            _ => None,
        };
    }
    let number = name.parse().ok()?;
    (number < devices.len()).then_some(number)
}

fn hexadecimal(uuid: [u8; 16]) -> String {
    uuid.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn one<R>(
    variable: impl Fn(&str) -> Option<String>,
    name: &'static str,
    parse: impl Fn(&str) -> Option<R>,
) -> Result<Option<R>, SetupError> {
    let Some(value) = variable(name).filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    match parse(value.trim()) {
        Some(parsed) => Ok(Some(parsed)),
        None => Err(SetupError {
            variable: name,
            value,
        }),
    }
}

fn devices(text: &str) -> Option<Vec<u64>> {
    if text == "none" {
        return Some(Vec::new());
    }
    text.split(',')
        .map(|bytes| bytes.trim().parse().ok())
        .collect()
}

fn slices(text: &str) -> Option<Vec<bool>> {
    let one = |text: &str| match text.trim() {
        "1" => Some(true),
        "0" => Some(false),
        _ => None,
    };
    text.split(',').map(one).collect()
}

fn schedule(text: &str) -> Option<Schedule> {
    match text.split_once(':') {
        None if text == "latest" => Some(Schedule::Latest),
        None if text == "eager" => Some(Schedule::Eager),
        Some(("late", stream)) => Some(Schedule::OneLate(stream.parse().ok()?)),
        Some(("seed", seed)) => Some(Schedule::Seeded(seed.parse().ok()?)),
        _ => None,
    }
}

fn fault(text: &str) -> Option<Fault> {
    let mut parts = text.trim().split(':');
    let function = parts.next()?.to_owned();
    let occurrence = parts.next()?.parse().ok()?;
    let moment = match parts.next()? {
        "before" => FaultMoment::BeforeEffect,
        "after" => FaultMoment::AfterEffect,
        "earlier" => FaultMoment::FromEarlierWork,
        "hang" => FaultMoment::Hang,
        _ => return None,
    };
    let code = match (parts.next(), moment) {
        (Some(code), _) => Code(code.parse().ok()?),
        (None, FaultMoment::Hang) => Code(0),
        (None, _) => return None,
    };
    let fault = Fault {
        function,
        occurrence,
        moment,
        code,
    };
    parts.next().is_none().then_some(fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_become_a_machine() {
        let setup = Setup::read(|name| {
            let value = match name {
                "GPU_SIM_DEVICES" => "4096, 8192",
                "GPU_SIM_SCHEDULE" => "seed:7",
                "GPU_SIM_DRIVER_VERSION" => "12040",
                "GPU_SIM_FAULTS" => "cuMemAlloc:2:before:2,cuInit:1:hang",
                _ => return None,
            };
            Some(value.to_owned())
        })
        .unwrap();
        let bytes: Vec<_> = setup
            .config
            .devices
            .iter()
            .map(|device| device.total_bytes)
            .collect();
        assert_eq!(bytes, [4096, 8192]);
        assert_eq!(setup.config.schedule, Schedule::Seeded(7));
        assert_eq!(setup.config.driver_version, 12_040);
        let wanted = [
            Fault::before("cuMemAlloc", 2, Code::OUT_OF_MEMORY),
            Fault::hang("cuInit", 1),
        ];
        assert_eq!(setup.faults, wanted);
        let usual = Setup::read(|_| None).unwrap();
        assert_eq!(usual.config, Config::with_devices(&[1 << 30]));
    }

    #[test]
    fn devices_are_hidden_as_the_driver_hides_them() {
        let devices = Config::with_devices(&[1, 2, 3]).devices;
        let second = format!("GPU-{}", hexadecimal(devices[1].uuid));
        let cases: &[(Option<&str>, &[usize])] = &[
            (None, &[0, 1, 2]),
            (Some(""), &[]),
            (Some("-1"), &[]),
            (Some("2,0"), &[2, 0]),
            (Some("1,7,0"), &[1]),
            (Some("1,1"), &[]),
            (Some(&second), &[1]),
            (Some("GPU-73"), &[]),
            (Some("GPU-"), &[]),
            (Some("MIG-73"), &[]),
        ];
        for (said, wanted) in cases {
            assert_eq!(visible(*said, &devices), *wanted, "{said:?}");
        }
        let mut slices = devices;
        slices.iter_mut().for_each(|device| device.slice = true);
        let whole = second.as_str();
        let second = second.replace("GPU-", "MIG-");
        let old = slices[1].old_slice_name().unwrap();
        for (said, wanted) in [
            (whole, &[][..]),
            (&second, &[1]),
            (&old, &[1]),
            ("MIG-GPU-00/1/0", &[]),
        ] {
            assert_eq!(visible(Some(said), &slices), wanted, "{said}");
        }
    }

    #[test]
    fn what_is_no_value_is_named() {
        let cases = [
            ("GPU_SIM_DEVICES", "many"),
            ("GPU_SIM_SLICES", "some"),
            ("GPU_SIM_SCHEDULE", "later"),
            ("GPU_SIM_SCHEDULE", "seed:x"),
            ("GPU_SIM_FAULTS", "cuMemAlloc:1:before"),
            ("GPU_SIM_FAULTS", "cuMemAlloc:x:before:2"),
            ("GPU_SIM_FAULTS", "cuMemAlloc:1:before:2:3"),
        ];
        for (variable, value) in cases {
            let read = Setup::read(|name| (name == variable).then(|| value.to_owned()));
            let error = read.unwrap_err();
            assert_eq!((error.variable, error.value.as_str()), (variable, value));
        }
    }
}
