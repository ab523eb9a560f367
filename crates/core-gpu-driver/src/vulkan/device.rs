//! The loader, its devices, and one of them opened.

use std::{
    ffi::CStr,
    sync::{Arc, OnceLock},
};

use ash::vk;

use crate::{
    error::{Absent, DriverError},
    identity::{Capabilities, DeviceId, DeviceInfo, PlatformKind},
};

/// What addresses are multiples of, in bytes.
pub(super) const ALIGNMENT: u64 = 256;
/// The version that has what is used here as a part of the core.
const VERSION: u32 = vk::API_VERSION_1_2;

/// The loader's library and an instance, for as long as the process runs.
pub(super) struct Loader {
    /// Keeps the library.
    _entry: ash::Entry,
    pub(super) instance: ash::Instance,
}

/// A device that will do.
pub(super) struct Found {
    pub(super) physical: vk::PhysicalDevice,
    pub(super) family: u32,
    pub(super) nanoseconds_per_tick: f64,
    pub(super) storage_alignment: u64,
    pub(super) info: DeviceInfo,
}

/// A call's answer as an error.
pub(super) fn error(function: &'static str, code: vk::Result, device: DeviceId) -> DriverError {
    match code {
        vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_HOST_MEMORY => {
            DriverError::OutOfMemory
        }
        vk::Result::ERROR_DEVICE_LOST => DriverError::Lost {
            device,
            code: code.as_raw(),
        },
        code => DriverError::Call {
            function,
            code: code.as_raw(),
            from_earlier_work: false,
        },
    }
}

/// A device's identity before it is known, for errors.
const UNKNOWN: DeviceId = DeviceId {
    platform: PlatformKind::Vulkan,
    uuid: [0; 16],
};

/// The loader, loaded at the first call. A failure is not kept: the next call tries again.
pub(super) fn loader() -> Result<&'static Loader, DriverError> {
    static LOADER: OnceLock<Loader> = OnceLock::new();
    if let Some(loader) = LOADER.get() {
        return Ok(loader);
    }
    // SAFETY: loading the library runs its initialisers, which is what any program that links to it
    // does.
    let entry = unsafe { ash::Entry::load() }.map_err(|error| Absent::Library {
        platform: "Vulkan",
        tried: error.to_string(),
    })?;
    let application = vk::ApplicationInfo::default().api_version(VERSION);
    let wanted = vk::InstanceCreateInfo::default().application_info(&application);
    // SAFETY: the description lives until the call is over, and names no extension.
    let made = unsafe { entry.create_instance(&wanted, None) };
    let instance = made.map_err(|code| match code {
        // A loader without a driver.
        vk::Result::ERROR_INCOMPATIBLE_DRIVER => Absent::Library {
            platform: "Vulkan",
            tried: "the loader finds no driver".to_owned(),
        }
        .into(),
        code => error("vkCreateInstance", code, UNKNOWN),
    })?;
    // Of two that load at once the second's is dropped; its instance stays, as the process does.
    Ok(LOADER.get_or_init(|| Loader {
        _entry: entry,
        instance,
    }))
}

/// The devices that will do, without opening any. No device is no error.
///
/// # Errors
/// [`Absent::Library`]; as the loader's calls fail.
pub fn devices() -> Result<Vec<DeviceInfo>, DriverError> {
    let found = find(loader()?)?;
    Ok(found.into_iter().map(|found| found.info).collect())
}

pub(super) fn find(loader: &Loader) -> Result<Vec<Found>, DriverError> {
    // SAFETY: the instance lives as long as the process.
    let all = unsafe { loader.instance.enumerate_physical_devices() };
    let all = all.map_err(|code| error("vkEnumeratePhysicalDevices", code, UNKNOWN))?;
    let able = all
        .into_iter()
        .filter_map(|physical| describe(&loader.instance, physical));
    Ok((0..)
        .zip(able)
        .map(|(ordinal, found)| Found {
            info: DeviceInfo {
                ordinal,
                ..found.info
            },
            ..found
        })
        .collect())
}

/// A device, unless it lacks something.
fn describe(instance: &ash::Instance, physical: vk::PhysicalDevice) -> Option<Found> {
    let mut identity = vk::PhysicalDeviceIDProperties::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut identity);
    // SAFETY: here and below the device came from the instance, and what is written has room.
    unsafe { instance.get_physical_device_properties2(physical, &mut properties) };
    let properties = properties.properties;
    if properties.api_version < VERSION || !is_able(instance, physical) {
        return None;
    }
    // SAFETY: as above.
    let families = unsafe { instance.get_physical_device_queue_family_properties(physical) };
    let family = families.iter().position(|family| {
        // Only these can fill and write times.
        let compute = family.queue_flags.contains(vk::QueueFlags::COMPUTE);
        compute && family.timestamp_valid_bits > 0
    })?;
    // SAFETY: as above.
    let memory = unsafe { instance.get_physical_device_memory_properties(physical) };
    let name = CStr::from_bytes_until_nul(bytes_of(&properties.device_name)).unwrap_or_default();
    let shared = matches!(
        properties.device_type,
        vk::PhysicalDeviceType::INTEGRATED_GPU | vk::PhysicalDeviceType::CPU
    );
    Some(Found {
        physical,
        family: u32::try_from(family).ok()?,
        nanoseconds_per_tick: f64::from(properties.limits.timestamp_period),
        storage_alignment: properties.limits.min_storage_buffer_offset_alignment.max(1),
        info: DeviceInfo {
            id: DeviceId {
                platform: PlatformKind::Vulkan,
                uuid: identity.device_uuid,
            },
            ordinal: 0,
            name: name.to_string_lossy().into_owned(),
            total_bytes: local_bytes(&memory),
            compute_capability: (0, 0),
            bus_address: None,
            driver_version: properties.driver_version,
            alignment_bytes: ALIGNMENT as usize,
            capabilities: Capabilities {
                integrated: shared,
                ..Capabilities::default()
            },
        },
    })
}

fn is_able(instance: &ash::Instance, physical: vk::PhysicalDevice) -> bool {
    let mut able = vk::PhysicalDeviceVulkan12Features::default();
    let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut able);
    // SAFETY: as in `describe`.
    unsafe { instance.get_physical_device_features2(physical, &mut features) };
    able.timeline_semaphore == vk::TRUE && able.buffer_device_address == vk::TRUE
}

/// Bytes of the largest heap that is the device's own.
fn local_bytes(memory: &vk::PhysicalDeviceMemoryProperties) -> u64 {
    let heaps = memory.memory_heaps_as_slice().iter();
    let local = heaps.filter(|heap| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL));
    local.map(|heap| heap.size).max().unwrap_or(0)
}

/// C's letters as bytes.
fn bytes_of(letters: &[std::ffi::c_char]) -> &[u8] {
    // SAFETY: both have one byte, and every byte is a letter.
    unsafe { std::slice::from_raw_parts(letters.as_ptr().cast(), letters.len()) }
}

/// An opened device: what outlives whatever is made on it.
pub(super) struct Open {
    pub(super) device: ash::Device,
    pub(super) memory: vk::PhysicalDeviceMemoryProperties,
    pub(super) family: u32,
    pub(super) nanoseconds_per_tick: f64,
    /// What the offset of a kernel's buffer is a multiple of, in bytes.
    pub(super) storage_alignment: u64,
    pub(super) id: DeviceId,
}

impl Open {
    pub(super) fn of(loader: &Loader, found: &Found) -> Result<Arc<Self>, DriverError> {
        let mut wanted = vk::PhysicalDeviceVulkan12Features::default()
            .timeline_semaphore(true)
            .buffer_device_address(true);
        // Every device has it. A kernel reaches nothing but the bytes that it was given.
        let robust = vk::PhysicalDeviceFeatures::default().robust_buffer_access(true);
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(found.family)
            .queue_priorities(&priorities)];
        let create = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_features(&robust)
            .push_next(&mut wanted);
        let instance = &loader.instance;
        // SAFETY: the device came from this instance and has these features; what is described lives
        // until the call is over.
        let device = unsafe { instance.create_device(found.physical, &create, None) };
        let id = found.info.id;
        Ok(Arc::new(Self {
            device: device.map_err(|code| error("vkCreateDevice", code, id))?,
            // SAFETY: as above.
            memory: unsafe { instance.get_physical_device_memory_properties(found.physical) },
            family: found.family,
            nanoseconds_per_tick: found.nanoseconds_per_tick,
            storage_alignment: found.storage_alignment,
            id,
        }))
    }

    /// An answer as a result.
    pub(super) fn check<T>(
        &self,
        function: &'static str,
        answer: ash::prelude::VkResult<T>,
    ) -> Result<T, DriverError> {
        answer.map_err(|code| error(function, code, self.id))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        // SAFETY: whatever was made on the device keeps this value, so that all of it is gone; what
        // still runs is waited for first. A failure means that the device is lost.
        unsafe {
            let _ = self.device.device_wait_idle();
            self.device.destroy_device(None);
        }
    }
}
