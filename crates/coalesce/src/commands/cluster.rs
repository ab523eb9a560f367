//! `devices --cluster`: machines that keep their slots in etcd, and what they announce. With `--announce`
//! this machine is one of them, as long as the program runs.

use std::{
    env,
    sync::{Mutex, Once, PoisonError},
};

use coalesce_model::envelope::{
    ClusterEntry, DeviceEntry, NodeDeviceEntry, NodeEntry, NodeHolderEntry, SlotHolderEntry,
};
use core_gpu::slots::SlotHolder;
use core_gpu_etcd::{
    Announcement, ClusterView, DeviceSlots, EtcdError, EtcdOptions, EtcdSlots, NodeDevice, User,
};

use crate::{cli, exit::Failure};

/// What this process announces. It shows the cluster again and again, and announces itself once; the announcement
/// renews itself. Nothing drops it but [`withdraw`].
static ANNOUNCED: Mutex<Option<Announcement>> = Mutex::new(None);

/// Looks at the cluster.
///
/// # Errors
/// When no member answers, or one refuses.
pub fn look(
    arguments: &cli::Devices,
    own: impl FnOnce() -> anyhow::Result<Vec<DeviceEntry>>,
) -> anyhow::Result<ClusterEntry> {
    let mut options = EtcdOptions::new(&arguments.cluster);
    options.node = arguments.announce.clone().unwrap_or_default();
    options.user = user();
    let store = EtcdSlots::new(options).map_err(of_etcd)?;
    if arguments.announce.is_some() {
        announce(&store, &own()?).map_err(of_etcd)?;
    }
    Ok(entry(store.cluster().map_err(of_etcd)?))
}

fn of_etcd(error: EtcdError) -> Failure {
    Failure::user(error.to_string())
}

fn user() -> Option<User> {
    let name = env::var("COALESCE_GPU_CLUSTER_USER").ok()?;
    let password = env::var("COALESCE_GPU_CLUSTER_PASSWORD").unwrap_or_default();
    Some(User { name, password })
}

fn announce(store: &EtcdSlots, own: &[DeviceEntry]) -> Result<(), EtcdError> {
    // The processor has no slots, and every machine has one.
    let devices = own.iter().filter(|device| device.slots.is_some());
    let devices: Vec<_> = devices.map(announced).collect();
    let mut announced = ANNOUNCED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = announced.as_ref() {
        match known.update(&devices) {
            Err(error) if error.is_not_found() => (),
            updated => return updated,
        }
    }
    *announced = Some(store.announce(&devices)?);
    withdraw_when_interrupted();
    Ok(())
}

/// This machine is not in the list any more. One whose program was killed is gone when its lease has run out.
pub fn withdraw() {
    let mut announced = ANNOUNCED.lock().unwrap_or_else(PoisonError::into_inner);
    announced.take();
}

/// Withdraws when somebody interrupts or ends this program, and ends it as it would have been.
fn withdraw_when_interrupted() {
    static ONCE: Once = Once::new();
    #[cfg(unix)]
    ONCE.call_once(|| {
        use signal_hook::{
            consts::{SIGHUP, SIGINT, SIGTERM},
            iterator::Signals,
            low_level::emulate_default_handler,
        };

        let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGTERM]) else {
            return;
        };
        let wait = move || {
            if let Some(signal) = signals.forever().next() {
                withdraw();
                let _ = emulate_default_handler(signal);
            }
        };
        // Without it the lease runs out, as of one who is killed.
        let _ = std::thread::Builder::new().spawn(wait);
    });
    #[cfg(not(unix))]
    ONCE.call_once(|| ());
}

fn announced(device: &DeviceEntry) -> NodeDevice {
    NodeDevice {
        id: device.id.clone(),
        name: device.name.clone(),
        model: device.model.clone(),
        total_bytes: device.total_bytes,
        free_bytes: device.free_bytes,
        sick: device.health.as_ref().map(|health| health.sick.clone()),
    }
}

/// A device of which nothing but its slots is known.
fn unannounced(id: String) -> NodeDevice {
    NodeDevice {
        id,
        ..NodeDevice::default()
    }
}

/// Machines with their devices, each with its slots; then devices that no machine announces.
fn entry(view: ClusterView) -> ClusterEntry {
    let (revision, mut slots) = (view.revision, view.slots);
    let mut announced = |device: NodeDevice| {
        let slots = slots.remove(&device.id).unwrap_or_default();
        device_entry(device, slots)
    };
    let nodes = view.nodes.into_iter().map(|(name, devices)| NodeEntry {
        name: Some(name),
        devices: devices.into_iter().map(&mut announced).collect(),
    });
    let mut nodes: Vec<_> = nodes.collect();
    let devices = slots.into_iter();
    let devices = devices.map(|(id, slots)| device_entry(unannounced(id), slots));
    let devices: Vec<_> = devices.collect();
    if !devices.is_empty() {
        nodes.push(NodeEntry {
            name: None,
            devices,
        });
    }
    ClusterEntry { revision, nodes }
}

fn device_entry(device: NodeDevice, slots: DeviceSlots) -> NodeDeviceEntry {
    NodeDeviceEntry {
        id: device.id,
        name: device.name,
        model: device.model,
        total_bytes: device.total_bytes,
        free_bytes: device.free_bytes,
        sick: device.sick,
        closed: slots.closed,
        capacity: slots.capacity,
        claimed_bytes: slots.claimed_bytes,
        holders: slots
            .holders
            .into_iter()
            .map(|(node, holder)| NodeHolderEntry {
                node,
                holder: holder_entry(&holder),
            })
            .collect(),
    }
}

/// A slot that is held, as it is told.
pub fn holder_entry(holder: &SlotHolder) -> SlotHolderEntry {
    SlotHolderEntry {
        slot: holder.slot,
        process: holder.process,
        claimed_bytes: holder.claimed_bytes,
        held_seconds: holder.held_for.map(|held| held.as_secs()),
        used_milliseconds: u64::try_from(holder.used_for.as_millis()).unwrap_or(u64::MAX),
    }
}
