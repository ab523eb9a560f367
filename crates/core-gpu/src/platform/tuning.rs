//! Settings that suit a platform's devices, as data: a program reads them, or has them applied by a
//! function that knows its libraries. Nothing is set here.

use core_gpu_driver::{DeviceInfo, PlatformKind};

/// A setting's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(untagged)]
pub enum TuningValue {
    /// On or off.
    Switch(bool),
    /// A number of bytes.
    Bytes(u64),
    /// Hundredths.
    Percent(u8),
    /// One of the words that the library knows.
    Word(&'static str),
}

/// A setting of a library, and where it pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Tuning {
    /// Its name: the library, a dot, the setting.
    pub name: &'static str,
    /// What to set it to.
    pub value: TuningValue,
    /// The oldest compute capability that has it.
    pub least_capability: Option<(u32, u32)>,
    /// What it brings, and what it costs.
    pub why: &'static str,
}

impl Tuning {
    /// Whether a device has what this sets.
    #[must_use]
    pub fn suits(&self, device: &DeviceInfo) -> bool {
        self.least_capability
            .is_none_or(|least| device.compute_capability >= least)
    }
}

/// The first devices with TF32.
const AMPERE: Option<(u32, u32)> = Some((8, 0));

const fn always(name: &'static str, value: TuningValue, why: &'static str) -> Tuning {
    Tuning {
        name,
        value,
        least_capability: None,
        why,
    }
}

/// For NVIDIA's devices.
pub(super) const CUDA_TUNINGS: &[Tuning] = &[
    Tuning {
        name: "matmul.allow_tf32",
        value: TuningValue::Switch(true),
        least_capability: AMPERE,
        why: "several times faster products of f32, with ten bits of fraction",
    },
    Tuning {
        name: "cudnn.allow_tf32",
        value: TuningValue::Switch(true),
        least_capability: AMPERE,
        why: "the same for convolutions",
    },
    always(
        "cudnn.benchmark",
        TuningValue::Switch(true),
        "the fastest convolution for each shape is measured once: pays where shapes repeat",
    ),
    always(
        "pool.release_threshold_bytes",
        TuningValue::Bytes(u64::MAX),
        "the driver's own pool keeps what it has instead of giving it back at each wait",
    ),
    always(
        "pool.max_fraction_percent",
        TuningValue::Percent(90),
        "leaves room for contexts and for libraries that allocate by themselves",
    ),
];

/// For AMD's devices.
pub(super) const ROCM_TUNINGS: &[Tuning] = &[
    always(
        "miopen.benchmark",
        TuningValue::Switch(true),
        "the fastest convolution for each shape is measured once: pays where shapes repeat",
    ),
    always(
        "pool.release_threshold_bytes",
        TuningValue::Bytes(u64::MAX),
        "the driver's own pool keeps what it has instead of giving it back at each wait",
    ),
    always(
        "pool.max_fraction_percent",
        TuningValue::Percent(90),
        "leaves room for libraries that allocate by themselves",
    ),
];

/// For Apple's devices.
pub(super) const METAL_TUNINGS: &[Tuning] = &[
    always(
        "pool.max_fraction_percent",
        TuningValue::Percent(70),
        "the memory is the system's as well",
    ),
    always(
        "matmul.precision",
        TuningValue::Word("high"),
        "there are no doubles, and products of f32 are exact enough",
    ),
];

/// For the processor.
pub(super) const CPU_TUNINGS: &[Tuning] = &[
    always(
        "pool.max_fraction_percent",
        TuningValue::Percent(50),
        "the memory is every program's",
    ),
    always(
        "threads.bind",
        TuningValue::Switch(false),
        "a thread that is bound to a core waits for it where several programs run",
    ),
];

/// Gives each setting that suits a device to a function, and returns those that it took.
pub(super) fn apply(
    tunings: &[Tuning],
    device: &DeviceInfo,
    mut hook: impl FnMut(PlatformKind, &Tuning) -> bool,
) -> Vec<Tuning> {
    let suits = tunings.iter().filter(|tuning| tuning.suits(device));
    suits
        .filter(|tuning| hook(device.id.platform, tuning))
        .copied()
        .collect()
}

#[cfg(test)]
mod tests {
    use core_gpu_driver::{Driver as _, HostDriver};

    use super::*;

    #[test]
    fn old_devices_are_not_told_of_what_they_lack() {
        let mut device = HostDriver::new(1).info().clone();
        let cases = [((7, 5), false), ((8, 0), true), ((12, 0), true)];
        for (capability, wanted) in cases {
            device.compute_capability = capability;
            let taken = apply(CUDA_TUNINGS, &device, |_, _| true);
            let has = taken
                .iter()
                .any(|tuning| tuning.name == "matmul.allow_tf32");
            assert_eq!(has, wanted, "{capability:?}");
        }
        assert_eq!(apply(CUDA_TUNINGS, &device, |_, _| false), []);
    }
}
