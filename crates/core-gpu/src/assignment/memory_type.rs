//! Whose arrays a step reads and writes, or which memory.

use std::{fmt, str::FromStr};

use core_gpu_driver::PlatformKind;
use serde::{Deserialize, Serialize};

/// A library's arrays, or bare memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum MemoryType {
    /// NumPy's arrays, on the host.
    Numpy,
    /// CuPy's, on CUDA or ROCm.
    Cupy,
    /// PyTorch's, on a device.
    Torch,
    /// TensorFlow's, on a device.
    Tensorflow,
    /// JAX's, on a device.
    Jax,
    /// pyclesperanto's, on whatever has OpenCL.
    Pyclesperanto,
    /// Memory of the host.
    Host,
    /// Memory of the host that a device reads and writes by itself.
    Pinned,
    /// Memory of a CUDA device.
    Cuda,
    /// Memory of a ROCm device.
    Hip,
    /// Memory of a Metal device.
    Metal,
}

impl MemoryType {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::Numpy,
        Self::Cupy,
        Self::Torch,
        Self::Tensorflow,
        Self::Jax,
        Self::Pyclesperanto,
        Self::Host,
        Self::Pinned,
        Self::Cuda,
        Self::Hip,
        Self::Metal,
    ];

    /// The name in plans.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Numpy => "numpy",
            Self::Cupy => "cupy",
            Self::Torch => "torch",
            Self::Tensorflow => "tensorflow",
            Self::Jax => "jax",
            Self::Pyclesperanto => "pyclesperanto",
            Self::Host => "host",
            Self::Pinned => "pinned",
            Self::Cuda => "cuda",
            Self::Hip => "hip",
            Self::Metal => "metal",
        }
    }

    /// All names, for messages.
    #[must_use]
    pub fn names() -> String {
        let names: Vec<_> = Self::ALL.iter().map(|kind| kind.name()).collect();
        names.join(", ")
    }

    /// The library whose arrays these are; bare memory is of none.
    #[must_use]
    pub const fn library(self) -> Option<&'static str> {
        match self {
            Self::Host | Self::Pinned | Self::Cuda | Self::Hip | Self::Metal => None,
            library => Some(library.name()),
        }
    }

    /// The platforms whose devices have it; empty for what is on the host. A simulated device counts
    /// as any.
    #[must_use]
    pub const fn platforms(self) -> &'static [PlatformKind] {
        use PlatformKind::{Cuda, Metal, Rocm, Simulated};
        match self {
            Self::Numpy | Self::Host | Self::Pinned => &[],
            Self::Cupy => &[Cuda, Rocm, Simulated],
            Self::Torch | Self::Tensorflow | Self::Jax | Self::Pyclesperanto => {
                &[Cuda, Rocm, Metal, Simulated]
            }
            Self::Cuda => &[Cuda, Simulated],
            Self::Hip => &[Rocm, Simulated],
            Self::Metal => &[Metal, Simulated],
        }
    }

    /// Whether it is on a device.
    #[must_use]
    pub const fn needs_device(self) -> bool {
        !self.platforms().is_empty()
    }
}

impl fmt::Display for MemoryType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for MemoryType {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        let found = Self::ALL.iter().find(|kind| kind.name() == name);
        found.copied().ok_or(())
    }
}
