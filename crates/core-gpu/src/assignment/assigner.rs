//! Which device a plan gets.

use std::sync::atomic::{AtomicUsize, Ordering};

use core_gpu_driver::{DeviceInfo, PlatformKind};

use crate::{
    assignment::{
        AssignedDevice, Assignment, AssignmentError, LibraryProbe, MemoryType, Plan, PlanStep,
    },
    devices::MemoryReport,
    platform::DeviceName,
    registry::{Health, RegistryStatus},
};

/// How to choose among the devices that would do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AssignmentPolicy {
    /// The first that has room for a further pipeline; where none has, the first, whose slot is then
    /// waited for.
    FirstAvailable,
    /// The one with the fewest pipelines.
    #[default]
    LeastLoaded,
    /// The one with the most free memory; where that is not known, the most memory.
    MostFree,
    /// Each in its turn.
    RoundRobin,
}

/// A device that a plan might get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssignableDevice {
    /// What it is.
    pub info: DeviceInfo,
    /// Bytes that are free on it, where that is known.
    pub free_bytes: Option<u64>,
    /// Pipelines on it now.
    pub active: u32,
    /// Pipelines that may be on it.
    pub max_pipelines: u32,
    /// It is not out of use.
    pub healthy: bool,
}

impl AssignableDevice {
    /// Bytes that a step could have.
    fn room_bytes(&self) -> u64 {
        self.free_bytes.unwrap_or(self.info.total_bytes)
    }
}

/// The devices of a registry as candidates, with what a report says of their memory.
#[must_use]
pub fn candidates(status: &RegistryStatus, memory: &MemoryReport) -> Vec<AssignableDevice> {
    let free = |info: &DeviceInfo| {
        let found = memory.devices.iter().find(|device| device.id == info.id);
        found.and_then(|device| device.free_bytes)
    };
    let devices = status.devices.iter();
    devices
        .map(|device| AssignableDevice {
            free_bytes: free(&device.info),
            active: device.active,
            max_pipelines: device.max_pipelines,
            healthy: device.health == Health::Healthy,
            info: device.info.clone(),
        })
        .collect()
}

/// Gives plans their devices. Any thread.
#[derive(Debug, Default)]
pub struct Assigner {
    policy: AssignmentPolicy,
    next: AtomicUsize,
}

impl Assigner {
    /// With this policy.
    #[must_use]
    pub const fn new(policy: AssignmentPolicy) -> Self {
        Self {
            policy,
            next: AtomicUsize::new(0),
        }
    }

    /// The device of a plan: one for all steps that need one.
    ///
    /// # Errors
    /// See [`AssignmentError`].
    pub fn assign(
        &self,
        plan: &Plan,
        candidates: &[AssignableDevice],
        libraries: &dyn LibraryProbe,
    ) -> Result<Assignment, AssignmentError> {
        plan.validate()?;
        check_libraries(plan, libraries)?;
        let needs: Vec<&PlanStep> = plan
            .steps
            .iter()
            .filter(|step| step.needs_device())
            .collect();
        let device = if needs.is_empty() {
            None
        } else {
            let fit = fitting(plan, &needs, candidates)?;
            self.choose(&fit).map(|chosen| AssignedDevice {
                name: DeviceName::of(&chosen.info).to_string(),
                id: chosen.info.id,
            })
        };
        Ok(Assignment {
            version: 1,
            plan: plan.name.clone(),
            device,
            steps: needs.iter().map(|step| step.name.clone()).collect(),
        })
    }

    /// The devices of several plans that are to run at the same time: each counts for those after
    /// it, with the memory of its largest step.
    ///
    /// # Errors
    /// Of the first plan that has none; see [`AssignmentError`].
    pub fn assign_all(
        &self,
        plans: &[Plan],
        candidates: &[AssignableDevice],
        libraries: &dyn LibraryProbe,
    ) -> Result<Vec<Assignment>, AssignmentError> {
        let mut candidates = candidates.to_vec();
        let one = |plan: &Plan| {
            let assignment = self.assign(plan, &candidates, libraries)?;
            let taken = assignment.device.as_ref().map(|device| device.id);
            let of_it = |candidate: &&mut AssignableDevice| Some(candidate.info.id) == taken;
            if let Some(candidate) = candidates.iter_mut().find(of_it) {
                let bytes = plan.steps.iter().filter_map(|step| step.bytes).max();
                candidate.active = candidate.active.saturating_add(1);
                candidate.free_bytes = candidate
                    .free_bytes
                    .map(|free| free.saturating_sub(bytes.unwrap_or(0)));
            }
            Ok(assignment)
        };
        plans.iter().map(one).collect()
    }

    fn choose<'a>(&self, fit: &[&'a AssignableDevice]) -> Option<&'a AssignableDevice> {
        let first = fit.first().copied();
        match self.policy {
            AssignmentPolicy::FirstAvailable => {
                let has_room =
                    |candidate: &&&AssignableDevice| candidate.active < candidate.max_pipelines;
                fit.iter().find(has_room).copied().or(first)
            }
            AssignmentPolicy::LeastLoaded => {
                fit.iter().min_by_key(|candidate| candidate.active).copied()
            }
            AssignmentPolicy::MostFree => {
                let most = fit.iter().rev();
                most.max_by_key(|candidate| candidate.room_bytes()).copied()
            }
            AssignmentPolicy::RoundRobin => {
                let turn = self.next.fetch_add(1, Ordering::Relaxed);
                fit.get(turn.checked_rem(fit.len())?).copied()
            }
        }
    }
}

fn check_libraries(plan: &Plan, libraries: &dyn LibraryProbe) -> Result<(), AssignmentError> {
    for step in &plan.steps {
        for library in step.needed_libraries() {
            libraries
                .look(library)
                .map_err(|missing| AssignmentError::Library {
                    step: step.name.clone(),
                    library: library.to_owned(),
                    why: missing.0,
                })?;
        }
    }
    Ok(())
}

/// The candidates that have the memory of all steps, and enough of it.
fn fitting<'a>(
    plan: &Plan,
    needs: &[&PlanStep],
    candidates: &'a [AssignableDevice],
) -> Result<Vec<&'a AssignableDevice>, AssignmentError> {
    let is_gpu = |candidate: &&AssignableDevice| candidate.info.id.platform != PlatformKind::Host;
    let gpus: Vec<_> = candidates.iter().filter(is_gpu).collect();
    let healthy: Vec<_> = gpus.iter().copied().filter(|gpu| gpu.healthy).collect();
    if healthy.is_empty() {
        return Err(no_device(needs, !gpus.is_empty()));
    }
    let platforms = plan.platforms()?;
    let has = |gpu: &&AssignableDevice| platforms.contains(&gpu.info.id.platform);
    let fit: Vec<_> = healthy.iter().copied().filter(has).collect();
    if fit.is_empty() {
        return Err(wrong_platform(needs, &healthy));
    }
    enough(needs, fit)
}

fn first_memory(step: &PlanStep) -> MemoryType {
    step.device_memory().next().unwrap_or(step.input)
}

fn no_device(needs: &[&PlanStep], out_of_use: bool) -> AssignmentError {
    let first = needs.first();
    AssignmentError::NoDevice {
        step: first.map_or_else(String::new, |step| step.name.clone()),
        memory: first.map_or(MemoryType::Host, |step| first_memory(step)),
        out_of_use,
    }
}

/// The first step whose memory none of these has; the first at all where several only fail together.
fn wrong_platform(needs: &[&PlanStep], gpus: &[&AssignableDevice]) -> AssignmentError {
    let kinds: Vec<_> = gpus.iter().map(|gpu| gpu.info.id.platform).collect();
    let has = |memory: MemoryType| kinds.iter().any(|kind| memory.platforms().contains(kind));
    let of = |step| PlanStep::device_memory(step).map(move |memory| (step, memory));
    let all: Vec<(&PlanStep, MemoryType)> = needs.iter().copied().flat_map(of).collect();
    let lacking = all.iter().find(|(_, memory)| !has(*memory));
    let mut present: Vec<_> = kinds.iter().map(|kind| kind.name()).collect();
    present.dedup();
    let culprit = lacking.or(all.first());
    AssignmentError::Platform {
        step: culprit.map_or_else(String::new, |(step, _)| step.name.clone()),
        memory: culprit.map_or(MemoryType::Host, |(_, memory)| *memory),
        present: present.join(", "),
    }
}

/// Those with room for the largest step.
fn enough<'a>(
    needs: &[&PlanStep],
    fit: Vec<&'a AssignableDevice>,
) -> Result<Vec<&'a AssignableDevice>, AssignmentError> {
    let largest = needs.iter().max_by_key(|step| step.bytes);
    let Some((step, bytes)) = largest.and_then(|step| Some((step, step.bytes?))) else {
        return Ok(fit);
    };
    let most = fit.iter().map(|gpu| gpu.room_bytes()).max().unwrap_or(0);
    let roomy = fit.into_iter().filter(|gpu| gpu.room_bytes() >= bytes);
    let roomy: Vec<_> = roomy.collect();
    if roomy.is_empty() {
        return Err(AssignmentError::Memory {
            step: step.name.clone(),
            bytes,
            most,
        });
    }
    Ok(roomy)
}
