//! What is to run: steps, each with the memory that it reads and writes.

use std::collections::BTreeSet;

use core_gpu_driver::PlatformKind;
use serde::{Deserialize, Serialize};

use crate::assignment::{AssignmentError, MemoryType};

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlanStep {
    /// Its name, its own in the plan.
    pub name: String,
    /// What it reads.
    pub input: MemoryType,
    /// What it writes.
    pub output: MemoryType,
    /// Bytes of the device's memory that it needs, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Libraries that it needs beside those of its memory.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub libraries: Vec<String>,
}

impl PlanStep {
    /// A step that reads and writes this.
    #[must_use]
    pub fn new(name: &str, input: MemoryType, output: MemoryType) -> Self {
        Self {
            name: name.to_owned(),
            input,
            output,
            bytes: None,
            libraries: Vec::new(),
        }
    }

    /// With bytes of the device's memory that it needs.
    #[must_use]
    pub fn bytes(mut self, bytes: u64) -> Self {
        self.bytes = Some(bytes);
        self
    }

    /// With a library that it needs beside those of its memory.
    #[must_use]
    pub fn library(mut self, library: &str) -> Self {
        self.libraries.push(library.to_owned());
        self
    }

    /// The memory of it that is on a device, input first.
    pub(super) fn device_memory(&self) -> impl Iterator<Item = MemoryType> {
        let both = [self.input, self.output];
        both.into_iter().filter(|memory| memory.needs_device())
    }

    /// Whether it needs a device.
    #[must_use]
    pub fn needs_device(&self) -> bool {
        self.device_memory().next().is_some()
    }

    pub(super) fn needed_libraries(&self) -> impl Iterator<Item = &str> {
        let more = self.libraries.iter().map(String::as_str);
        let own = [self.input.library(), self.output.library()];
        more.chain(own.into_iter().flatten())
    }
}

/// Steps that run one after another on one device. Between two steps a program moves what the one
/// wrote to where the other reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written")]
pub struct Plan {
    /// Its name.
    pub name: String,
    /// Its steps, in order.
    pub steps: Vec<PlanStep>,
}

impl Plan {
    /// A plan without steps.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            steps: Vec::new(),
        }
    }

    /// With a further step.
    #[must_use]
    pub fn step(mut self, step: PlanStep) -> Self {
        self.steps.push(step);
        self
    }

    /// What is wrong with the plan itself, wherever it runs.
    ///
    /// # Errors
    /// Names that are missing or there twice; memory that no one device has.
    pub fn validate(&self) -> Result<(), AssignmentError> {
        let mut names = BTreeSet::new();
        for step in &self.steps {
            if step.name.is_empty() || !names.insert(&step.name) {
                let step = step.name.clone();
                return Err(AssignmentError::Name { step });
            }
        }
        self.platforms().map(|_| ())
    }

    /// The platforms that have the memory of all steps.
    pub(super) fn platforms(&self) -> Result<Vec<PlatformKind>, AssignmentError> {
        let mut left: Vec<PlatformKind> = PlatformKind::ALL.to_vec();
        let mut before: Vec<(&PlanStep, MemoryType)> = Vec::new();
        let steps = self.steps.iter();
        for (step, memory) in steps.flat_map(|step| step.device_memory().map(move |m| (step, m))) {
            // A simulated device has everything: it does not make real ones agree.
            let real =
                |kinds: &[PlatformKind]| kinds.iter().any(|kind| *kind != PlatformKind::Simulated);
            left.retain(|kind| memory.platforms().contains(kind));
            if !real(&left) {
                return Err(conflict(step, memory, &before));
            }
            before.push((step, memory));
        }
        Ok(left)
    }
}

/// The earlier step whose memory no device has together with this.
fn conflict(
    step: &PlanStep,
    memory: MemoryType,
    before: &[(&PlanStep, MemoryType)],
) -> AssignmentError {
    let shares = |other: MemoryType| {
        let both = |kind: &&PlatformKind| {
            **kind != PlatformKind::Simulated && memory.platforms().contains(kind)
        };
        other.platforms().iter().any(|kind| both(&kind))
    };
    let apart = before.iter().rev().find(|(_, other)| !shares(*other));
    let (earlier, other) = apart.or(before.last()).map_or_else(
        || (step.name.clone(), memory),
        |(earlier, other)| (earlier.name.clone(), *other),
    );
    AssignmentError::Conflict {
        step: step.name.clone(),
        memory,
        earlier,
        other,
    }
}

/// A plan as it is written, before its types of memory are known to be some.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    steps: Vec<WrittenStep>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenStep {
    name: String,
    input: String,
    output: String,
    #[serde(default)]
    bytes: Option<u64>,
    #[serde(default)]
    libraries: Vec<String>,
}

impl TryFrom<Written> for Plan {
    type Error = AssignmentError;

    fn try_from(written: Written) -> Result<Self, AssignmentError> {
        let read = |step: WrittenStep| {
            let memory = |name: &str| {
                name.parse()
                    .map_err(|()| AssignmentError::UnknownMemoryType {
                        step: step.name.clone(),
                        name: name.to_owned(),
                    })
            };
            Ok(PlanStep {
                input: memory(&step.input)?,
                output: memory(&step.output)?,
                name: step.name.clone(),
                bytes: step.bytes,
                libraries: step.libraries.clone(),
            })
        };
        let steps = written.steps.into_iter().map(read);
        Ok(Self {
            name: written.name,
            steps: steps.collect::<Result<_, _>>()?,
        })
    }
}
