//! Plain functions for programs that want an answer and no types: on the platforms of the process,
//! with the preference that the environment states.

use core_gpu_driver::PlatformKind;

use crate::{
    configuration::{Configuration, ConfigurationError},
    platform::{DeviceName, Fallback, Platforms, Tuning, name_of, tuning},
};

/// The names of the platforms that are there, the best first and `cpu` last.
#[must_use]
pub fn detect_available_backends() -> Vec<&'static str> {
    let all = Platforms::system().all();
    all.iter()
        .filter(|status| status.answer.is_ok())
        .map(|status| name_of(status.kind))
        .collect()
}

/// The device that the environment and the machine suggest: of the preferred platform the one with
/// the most memory; the processor where there is none.
///
/// # Errors
/// The environment says something that is no configuration.
pub fn get_optimal_device() -> Result<DeviceName, ConfigurationError> {
    let preference = Configuration::from_environment()?.preference;
    let chosen = Platforms::system().select(preference, Fallback::Cpu);
    let device = chosen.ok().and_then(|chosen| {
        let best = crate::devices::best(&chosen.found().devices)?;
        Some(DeviceName::of(best))
    });
    Ok(device.unwrap_or(DeviceName::numbered(PlatformKind::Host, 0)))
}

/// Gives each setting that suits the optimal device to a function that sets it in the program's
/// libraries and says whether it did. Returns those that were set.
///
/// # Errors
/// As [`get_optimal_device`].
pub fn apply_platform_optimizations(
    hook: impl FnMut(PlatformKind, &Tuning) -> bool,
) -> Result<Vec<Tuning>, ConfigurationError> {
    let preference = Configuration::from_environment()?.preference;
    let chosen = Platforms::system().select(preference, Fallback::Cpu);
    Ok(chosen.map_or_else(
        |_| Vec::new(),
        |chosen| {
            let best = crate::devices::best(&chosen.found().devices);
            best.map_or_else(Vec::new, |device| {
                tuning::apply(chosen.platform().tunings(), device, hook)
            })
        },
    ))
}
