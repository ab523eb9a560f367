//! The devices of a plan's steps, settled before anything runs. A plan that cannot run fails here,
//! with the name of the step, and not when half of it is done.
//!
//! ```
//! use core_gpu::assignment::{Assigner, Libraries, MemoryType, Plan, AssignmentPolicy, PlanStep};
//!
//! # fn main() -> Result<(), core_gpu::assignment::AssignmentError> {
//! let plan = Plan::new("segment").step(PlanStep::new("blur", MemoryType::Numpy, MemoryType::Numpy));
//! let libraries = Libraries::these(["numpy"]);
//! let assignment = Assigner::new(AssignmentPolicy::LeastLoaded).assign(&plan, &[], &libraries)?;
//! assert!(assignment.device.is_none(), "no step needs a GPU");
//! # Ok(())
//! # }
//! ```

mod assigner;
mod library;
mod memory_type;
mod plan;

use core_gpu_driver::DeviceId;
use serde::{Deserialize, Serialize};

pub use assigner::{AssignableDevice, Assigner, AssignmentPolicy, candidates};
pub use library::{Libraries, LibraryMissing, LibraryProbe, PythonLibraries};
pub use memory_type::MemoryType;
pub use plan::{Plan, PlanStep};

/// Why a plan has no devices. Every message names the step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AssignmentError {
    /// A type of memory that is none.
    #[error(
        "step `{step}`: `{name}` is no type of memory; known are {}",
        MemoryType::names()
    )]
    UnknownMemoryType {
        /// The step.
        step: String,
        /// What it says.
        name: String,
    },
    /// Two steps of one name, or a step without one.
    #[error("step `{step}`: each step needs a name of its own")]
    Name {
        /// The name.
        step: String,
    },
    /// A library is missing that a step's memory is of.
    #[error("step `{step}` needs the library {library}: {why}")]
    Library {
        /// The step.
        step: String,
        /// The library.
        library: String,
        /// What was looked for.
        why: String,
    },
    /// A step needs a GPU and there is none, or none that is in use.
    #[error("step `{step}` works on {memory} memory and there is no GPU{}", if *out_of_use { " in use" } else { "" })]
    NoDevice {
        /// The step.
        step: String,
        /// Its memory.
        memory: MemoryType,
        /// There are GPUs, and all are out of use.
        out_of_use: bool,
    },
    /// No GPU is of a platform that has this memory.
    #[error("step `{step}` works on {memory} memory, which no GPU here has: they are {present}")]
    Platform {
        /// The step.
        step: String,
        /// Its memory.
        memory: MemoryType,
        /// The platforms of the GPUs that are there.
        present: String,
    },
    /// Two steps have memory that no one device has both of.
    #[error(
        "step `{step}` works on {memory} memory and step `{earlier}` on {other}: no one device has both"
    )]
    Conflict {
        /// The later step.
        step: String,
        /// Its memory.
        memory: MemoryType,
        /// The earlier step.
        earlier: String,
        /// Its memory.
        other: MemoryType,
    },
    /// A step needs more memory than any device that would do has free.
    #[error("step `{step}` needs {bytes} bytes, and the most that a device has is {most}")]
    Memory {
        /// The step.
        step: String,
        /// Bytes that it needs.
        bytes: u64,
        /// The most bytes that are free on one device, or that one has where that is not known.
        most: u64,
    },
}

/// The devices of a plan's steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assignment {
    /// The version of this form.
    pub version: u32,
    /// The plan's name.
    pub plan: String,
    /// The device of all steps that need one; `None` where none does.
    pub device: Option<AssignedDevice>,
    /// The steps that need a device, in order.
    pub steps: Vec<String>,
}

/// A device, by name for people and by identity for programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AssignedDevice {
    /// Its name by number, when the plan was made.
    pub name: String,
    /// Which one it is.
    #[serde(with = "identity")]
    pub id: DeviceId,
}

impl Assignment {
    /// The device of a step; `None` for one that needs none.
    #[must_use]
    pub fn device_of(&self, step: &str) -> Option<&AssignedDevice> {
        let needs = self.steps.iter().any(|name| name == step);
        self.device.as_ref().filter(|_| needs)
    }
}

/// An identity as the text that it is displayed as.
mod identity {
    use core_gpu_driver::DeviceId;
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub(super) fn serialize<S: Serializer>(id: &DeviceId, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(id)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<DeviceId, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests;
