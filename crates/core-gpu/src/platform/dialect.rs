//! What other libraries call a device. Each has names of its own, and PyTorch calls AMD's devices
//! `cuda`.

use core_gpu_driver::PlatformKind;

use crate::platform::DeviceName;

/// Whose names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dialect {
    /// `cuda:1` (ROCm too), `mps`, `cpu`.
    PyTorch,
    /// `/GPU:1`, `/CPU:0`.
    TensorFlow,
    /// `cuda:1`, `rocm:1`, `METAL:0`, `cpu:0`.
    Jax,
    /// The number alone; it has no processor.
    CuPy,
    /// The name of a provider, without the number: `CUDAExecutionProvider`.
    OnnxRuntime,
}

/// A name that has no translation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DialectError {
    /// The library has no name for devices of this platform.
    #[error("{dialect:?} has no name for a device of {platform}")]
    NoName {
        /// Whose names.
        dialect: Dialect,
        /// The platform.
        platform: PlatformKind,
    },
    /// The device is named by its identity: resolve it to its number first.
    #[error("`{0}` has no number: resolve it first")]
    NoNumber(String),
    /// It is no name of this library's.
    #[error("`{name}` is no device of {dialect:?}")]
    Unknown {
        /// The name.
        name: String,
        /// Whose names.
        dialect: Dialect,
    },
}

impl Dialect {
    /// The library's name for a device.
    ///
    /// # Errors
    /// See [`DialectError`].
    pub fn write(self, device: &DeviceName) -> Result<String, DialectError> {
        use PlatformKind::{Cuda, Host, Metal, Rocm};
        let number = device.ordinal();
        let number = number.ok_or_else(|| DialectError::NoNumber(device.to_string()))?;
        Ok(match (self, device.platform) {
            (Self::PyTorch, Cuda | Rocm) => format!("cuda:{number}"),
            (Self::PyTorch, Metal) => "mps".to_owned(),
            (Self::PyTorch, Host) => "cpu".to_owned(),
            (Self::TensorFlow, Cuda | Rocm | Metal) => format!("/GPU:{number}"),
            (Self::TensorFlow, Host) => "/CPU:0".to_owned(),
            (Self::Jax, Cuda) => format!("cuda:{number}"),
            (Self::Jax, Rocm) => format!("rocm:{number}"),
            (Self::Jax, Metal) => format!("METAL:{number}"),
            (Self::Jax, Host) => "cpu:0".to_owned(),
            (Self::CuPy, Cuda | Rocm) => number.to_string(),
            (Self::OnnxRuntime, Cuda) => "CUDAExecutionProvider".to_owned(),
            (Self::OnnxRuntime, Rocm) => "ROCMExecutionProvider".to_owned(),
            (Self::OnnxRuntime, Metal) => "CoreMLExecutionProvider".to_owned(),
            (Self::OnnxRuntime, Host) => "CPUExecutionProvider".to_owned(),
            (dialect, platform) => return Err(DialectError::NoName { dialect, platform }),
        })
    }

    /// The device of a library's name. Where a name stands for several platforms, `present` says
    /// which one this machine has: the first of it that fits.
    ///
    /// # Errors
    /// See [`DialectError`].
    pub fn read(self, name: &str, present: &[PlatformKind]) -> Result<DeviceName, DialectError> {
        let unknown = || DialectError::Unknown {
            name: name.to_owned(),
            dialect: self,
        };
        let lower = name.trim().to_ascii_lowercase();
        let (word, number) = self.parts(&lower).ok_or_else(unknown)?;
        let candidates = self.platforms(word).ok_or_else(unknown)?;
        let there = present.iter().find(|kind| candidates.contains(kind));
        let first = candidates.first().ok_or_else(unknown)?;
        Ok(DeviceName::numbered(*there.unwrap_or(first), number))
    }

    /// A name's word and number.
    fn parts(self, lower: &str) -> Option<(&str, u32)> {
        match self {
            Self::CuPy => Some(("", lower.parse().ok()?)),
            Self::OnnxRuntime => Some((lower, 0)),
            _ => match lower.trim_start_matches('/').split_once(':') {
                Some((word, number)) => Some((word, number.parse().ok()?)),
                None => Some((lower.trim_start_matches('/'), 0)),
            },
        }
    }

    /// The platforms that a word may stand for.
    fn platforms(self, word: &str) -> Option<&'static [PlatformKind]> {
        use PlatformKind::{Cuda, Host, Metal, Rocm};
        Some(match (self, word) {
            (Self::PyTorch, "cuda") | (Self::CuPy, "") => &[Cuda, Rocm],
            (Self::PyTorch, "mps") | (Self::Jax, "metal") => &[Metal],
            (Self::PyTorch | Self::TensorFlow | Self::Jax, "cpu") => &[Host],
            (Self::TensorFlow | Self::Jax, "gpu") => &[Cuda, Rocm, Metal],
            (Self::Jax, "cuda") => &[Cuda],
            (Self::Jax, "rocm") => &[Rocm],
            (Self::OnnxRuntime, "cudaexecutionprovider") => &[Cuda],
            (Self::OnnxRuntime, "rocmexecutionprovider") => &[Rocm],
            (Self::OnnxRuntime, "coremlexecutionprovider") => &[Metal],
            (Self::OnnxRuntime, "cpuexecutionprovider") => &[Host],
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_there_and_back() {
        use Dialect::{CuPy, Jax, OnnxRuntime, PyTorch, TensorFlow};
        let cases = [
            (PyTorch, "cuda:1", "cuda:1"),
            (PyTorch, "rocm:1", "cuda:1"),
            (PyTorch, "metal:0", "mps"),
            (PyTorch, "cpu", "cpu"),
            (TensorFlow, "cuda:2", "/GPU:2"),
            (TensorFlow, "cpu", "/CPU:0"),
            (Jax, "rocm:0", "rocm:0"),
            (Jax, "metal:0", "METAL:0"),
            (CuPy, "cuda:3", "3"),
            (CuPy, "rocm:0", "0"),
            (OnnxRuntime, "cuda:0", "CUDAExecutionProvider"),
            (OnnxRuntime, "cpu", "CPUExecutionProvider"),
        ];
        for (dialect, ours, theirs) in cases {
            let name: DeviceName = ours.parse().unwrap();
            assert_eq!(dialect.write(&name).as_deref(), Ok(theirs), "{ours}");
            let back = dialect.read(theirs, &[name.platform]);
            assert_eq!(back.unwrap().to_string(), ours, "{dialect:?} {theirs}");
        }
    }

    #[test]
    fn what_cannot_be_said_is_an_error() {
        let identity: DeviceName = "cuda:GPU-ab".parse().unwrap();
        assert!(matches!(
            Dialect::PyTorch.write(&identity),
            Err(DialectError::NoNumber(_))
        ));
        let cpu: DeviceName = "cpu".parse().unwrap();
        assert!(matches!(
            Dialect::CuPy.write(&cpu),
            Err(DialectError::NoName { .. })
        ));
        for (dialect, name) in [
            (Dialect::PyTorch, "xpu"),
            (Dialect::PyTorch, "cuda:x"),
            (Dialect::CuPy, "cpu"),
            (Dialect::OnnxRuntime, "cuda"),
        ] {
            assert!(matches!(
                dialect.read(name, &[]),
                Err(DialectError::Unknown { .. })
            ));
        }
    }
}
