//! Which platform somebody wants, by name and by the variables that programs have used so far.

use std::{fmt, str::FromStr};

use core_gpu_driver::PlatformKind;

/// Which platform to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preference {
    /// The first that is there: CUDA, ROCm, Metal, the processor.
    #[default]
    Auto,
    /// This one.
    Platform(PlatformKind),
}

/// What to do when a platform that was asked for is not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fallback {
    /// That is an error.
    Error,
    /// Use the processor, and warn once why.
    #[default]
    Cpu,
}

/// A name that is no platform's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{variable} cannot be `{value}`: known are {known}")]
pub struct PreferenceError {
    /// Where it stands.
    pub variable: &'static str,
    /// What it says.
    pub value: String,
    /// What it could say.
    pub known: &'static str,
}

const KNOWN: &str = "auto, cuda, rocm (or hip), metal (or mps), cpu (or host)";
const KNOWN_TRUTHS: &str = "0, 1, true, false, yes, no";

impl Preference {
    /// The processor.
    pub const CPU: Self = Self::Platform(PlatformKind::Host);

    /// What the variables `GPU_BACKEND` and `USE_CUDA` say, read through a function. `USE_CUDA=0`
    /// means the processor, and only where `GPU_BACKEND` leaves it open; `USE_CUDA=1` says nothing
    /// that `auto` does not. `None` when neither says anything.
    ///
    /// # Errors
    /// A value that is none.
    pub fn from_variables(
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, PreferenceError> {
        let backend = variable("GPU_BACKEND").filter(|text| !text.trim().is_empty());
        let backend = backend
            .map(|text| named("GPU_BACKEND", &text))
            .transpose()?;
        let use_cuda = variable("USE_CUDA").filter(|text| !text.trim().is_empty());
        let use_cuda = use_cuda.map(|text| truth(&text)).transpose()?;
        Ok(match (backend, use_cuda) {
            (None | Some(Self::Auto), Some(false)) => Some(Self::CPU),
            (backend, _) => backend,
        })
    }
}

fn truth(text: &str) -> Result<bool, PreferenceError> {
    match text.trim().to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" => Ok(true),
        "0" | "false" | "no" => Ok(false),
        _ => Err(PreferenceError {
            variable: "USE_CUDA",
            value: text.to_owned(),
            known: KNOWN_TRUTHS,
        }),
    }
}

fn named(variable: &'static str, text: &str) -> Result<Preference, PreferenceError> {
    let lower = text.trim().to_ascii_lowercase();
    if lower == "auto" {
        return Ok(Preference::Auto);
    }
    platform(&lower)
        .map(Preference::Platform)
        .ok_or_else(|| PreferenceError {
            variable,
            value: text.to_owned(),
            known: KNOWN,
        })
}

/// The platform of a name in small letters.
pub(super) fn platform(name: &str) -> Option<PlatformKind> {
    Some(match name {
        "cuda" => PlatformKind::Cuda,
        "rocm" | "hip" => PlatformKind::Rocm,
        "metal" | "mps" => PlatformKind::Metal,
        "vulkan" => PlatformKind::Vulkan,
        "cpu" | "host" => PlatformKind::Host,
        "simulated" => PlatformKind::Simulated,
        _ => return None,
    })
}

/// What the platform is called where names of devices are read: the processor is `cpu`.
pub(crate) const fn name_of(kind: PlatformKind) -> &'static str {
    match kind {
        PlatformKind::Host => "cpu",
        kind => kind.name(),
    }
}

impl FromStr for Preference {
    type Err = PreferenceError;

    fn from_str(text: &str) -> Result<Self, PreferenceError> {
        named("the platform", text)
    }
}

impl fmt::Display for Preference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Platform(kind) => f.write_str(name_of(*kind)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_platforms() {
        let cases = [
            ("auto", Preference::Auto),
            ("CUDA", Preference::Platform(PlatformKind::Cuda)),
            ("hip", Preference::Platform(PlatformKind::Rocm)),
            ("mps", Preference::Platform(PlatformKind::Metal)),
            (" metal ", Preference::Platform(PlatformKind::Metal)),
            ("cpu", Preference::CPU),
        ];
        for (name, wanted) in cases {
            assert_eq!(name.parse(), Ok(wanted), "{name}");
        }
        let error = "gpu".parse::<Preference>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "the platform cannot be `gpu`: known are auto, cuda, rocm (or hip), metal (or mps), \
             cpu (or host)"
        );
    }

    #[test]
    fn the_old_variable_counts_only_where_the_new_one_leaves_it_open() {
        let cuda = Some(Preference::Platform(PlatformKind::Cuda));
        let (cpu, auto) = (Some(Preference::CPU), Some(Preference::Auto));
        let cases: [(&str, &str, Option<Option<Preference>>); 12] = [
            ("", "", Some(None)),
            ("", "0", Some(cpu)),
            ("", "false", Some(cpu)),
            ("", "1", Some(None)),
            ("", "yes", Some(None)),
            ("auto", "0", Some(cpu)),
            ("auto", "true", Some(auto)),
            ("cuda", "0", Some(cuda)),
            ("cuda", "", Some(cuda)),
            ("cpu", "1", Some(cpu)),
            ("gpu", "", None),
            ("", "maybe", None),
        ];
        for (backend, use_cuda, wanted) in cases {
            let read = Preference::from_variables(|name| match name {
                "GPU_BACKEND" => Some(backend.to_owned()),
                _ => Some(use_cuda.to_owned()),
            });
            assert_eq!(read.ok(), wanted, "{backend} {use_cuda}");
        }
    }
}
