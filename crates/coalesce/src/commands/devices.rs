//! `devices`: which GPUs this machine has, and who uses them. Opens no device. With `--isolated`
//! each platform is looked for by this program in a process of its own, since a driver that crashes
//! takes its process along, and a thread that hangs in one cannot be ended. Of several machines:
//! `cluster`.

use std::{
    collections::BTreeMap,
    env,
    io::Read as _,
    process::{Child, Command as Program, Stdio},
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use coalesce_model::envelope::{
    Body, Command, DeviceEntry, Devices, Envelope, HealthEntry, HostEntry, PlatformEntry,
    ProcessEntry, SlotsEntry, UnavailableEntry,
};
use coalesce_verify::wait_for_end;
use core_gpu::{
    configuration::Configuration,
    devices::{AvailableDevices, DeviceManager, DeviceMemory, ProcessUse, ResolvedDevice},
    driver::{DeviceId, PlatformKind},
    monitor::{DeviceHealth, HealthLimits, Monitor, Quarantine, SystemSource},
    platform::{
        CpuPlatform, CudaPlatform, MetalPlatform, Platform, Platforms, RocmPlatform, Status,
        host_memory,
    },
    slots::{FileSlots, SlotStore as _},
};

use crate::{
    cli,
    commands::cluster,
    exit::{Failure, Outcome},
};

/// The platforms by name, in the order of preference.
const NAMES: &[&str] = &["cuda", "rocm", "metal", "cpu"];
/// What a process needs beside what it looks for.
const START: Duration = Duration::from_secs(2);

/// Runs `devices`.
///
/// # Errors
/// When the environment says something that is no configuration, or this program cannot be started
/// again.
pub fn run(global: &cli::Global, arguments: &cli::Devices) -> anyhow::Result<Outcome> {
    let devices = if !arguments.cluster.is_empty() {
        let own = || Ok(look(arguments)?.devices);
        Devices {
            cluster: Some(cluster::look(arguments, own)?),
            ..Devices::default()
        }
    } else if arguments.isolated {
        isolated(arguments)?
    } else {
        look(arguments)?
    };
    let root = global.root.display().to_string();
    let envelope = Envelope::new(root, Command::Devices, Body::Devices(devices));
    Ok(Outcome::success(envelope))
}

/// Looks in this process.
fn look(arguments: &cli::Devices) -> anyhow::Result<Devices> {
    let configuration = Configuration::from_environment()
        .map_err(|error| Failure::user(format!("the environment: {error}")))?;
    let deadline = Duration::from_secs_f64(arguments.deadline);
    let wanted = |name: &&&str| {
        arguments
            .platform
            .as_deref()
            .is_none_or(|only| only == **name)
    };
    let platforms = NAMES.iter().filter(wanted).map(|name| platform(name));
    let platforms = Arc::new(Platforms::new(platforms.collect(), deadline));
    let manager = DeviceManager::new(&platforms, configuration.preference);
    let available = manager.available_devices();
    let memory = manager.memory_info().devices;
    let store = FileSlots::new(&configuration.slot_directory);
    let told = Told {
        health: health(deadline),
        processes: manager.processes(),
    };
    let host = host_memory();
    let shown = |kind| {
        arguments
            .platform
            .as_deref()
            .is_none_or(|only| only == name(kind))
    };
    Ok(Devices {
        platforms: platforms
            .all()
            .iter()
            .filter(|status| shown(status.kind))
            .map(platform_entry)
            .collect(),
        recommended: available.recommended_device.to_string(),
        devices: device_entries(&available, &memory, &told, &store, shown),
        host: HostEntry {
            total_bytes: host.total_bytes,
            available_bytes: host.available_bytes,
        },
        cluster: None,
    })
}

fn platform(name: &str) -> Arc<dyn Platform> {
    match name {
        "cuda" => Arc::new(CudaPlatform::from_environment()),
        "rocm" => Arc::new(RocmPlatform::from_environment()),
        "metal" => Arc::new(MetalPlatform),
        _ => Arc::new(CpuPlatform),
    }
}

/// The name on the command line.
fn name(kind: PlatformKind) -> &'static str {
    match kind {
        PlatformKind::Host => "cpu",
        kind => kind.name(),
    }
}

fn platform_entry(status: &Status<'_>) -> PlatformEntry {
    let found = status.answer.ok();
    PlatformEntry {
        name: name(status.kind).to_owned(),
        version: found.and_then(|found| found.version),
        devices: found.map_or(0, |found| found.devices.len()),
        unavailable: status.answer.err().map(|why| UnavailableEntry {
            code: why.code().to_owned(),
            why: why.to_string(),
        }),
    }
}

fn device_entries(
    available: &AvailableDevices,
    memory: &[DeviceMemory],
    told: &Told,
    store: &FileSlots,
    shown: impl Fn(PlatformKind) -> bool,
) -> Vec<DeviceEntry> {
    let devices = available.devices.iter();
    devices
        .filter(|device| shown(device.info.id.platform))
        .map(|device| {
            let memory = memory.iter().find(|memory| memory.id == device.info.id);
            DeviceEntry {
                health: told.health.get(&device.info.id).map(health_entry),
                processes: told
                    .processes
                    .get(&device.info.id)
                    .map(|all| all.iter().map(process_entry).collect()),
                ..device_entry(device, memory, store)
            }
        })
        .collect()
}

fn process_entry(one: &ProcessUse) -> ProcessEntry {
    ProcessEntry {
        process: one.process,
        used_bytes: one.used_bytes,
    }
}

fn device_entry(
    device: &ResolvedDevice,
    memory: Option<&DeviceMemory>,
    store: &FileSlots,
) -> DeviceEntry {
    let info = &device.info;
    let (major, minor) = info.compute_capability;
    let is_cpu = info.id.platform == PlatformKind::Host;
    DeviceEntry {
        name: device.name.to_string(),
        id: info.id.to_string(),
        model: info.name.clone(),
        bus_address: info.bus_address.clone(),
        compute_capability: (major > 0).then(|| format!("{major}.{minor}")),
        total_bytes: Some(info.total_bytes),
        free_bytes: match memory {
            Some(memory) => memory.free_bytes,
            None => host_memory().available_bytes.filter(|_| is_cpu),
        },
        ours_bytes: memory.and_then(|memory| memory.reserved_bytes),
        others_bytes: memory.and_then(DeviceMemory::others_bytes),
        processes: None,
        health: None,
        slots: (!is_cpu).then(|| slots_entry(&info.id, store)),
    }
}

fn slots_entry(device: &DeviceId, store: &FileSlots) -> SlotsEntry {
    let looked = store.status(device);
    let looked = looked.and_then(|status| Ok((status.capacity, store.holders(device)?)));
    match looked {
        Ok((capacity, holders)) => SlotsEntry {
            capacity,
            held: holders.iter().map(|holder| holder.slot).collect(),
            holders: holders.iter().map(cluster::holder_entry).collect(),
            claimed_bytes: holders
                .iter()
                .fold(0, |sum, holder| sum.saturating_add(holder.claimed_bytes)),
            error: None,
        },
        Err(error) => SlotsEntry {
            error: Some(error.to_string()),
            ..SlotsEntry::default()
        },
    }
}

/// What the management library tells.
struct Told {
    health: BTreeMap<DeviceId, DeviceHealth>,
    processes: BTreeMap<DeviceId, Vec<ProcessUse>>,
}

/// How the devices are, where NVIDIA's management library tells it in time.
fn health(deadline: Duration) -> BTreeMap<DeviceId, DeviceHealth> {
    let (sender, receiver) = mpsc::sync_channel(1);
    // It may hang, as any library of a driver; then it is left behind when this program ends.
    let look = move || {
        let source = SystemSource::open();
        let looked = source.map(|source| {
            let limits = HealthLimits::default();
            Monitor::new(source, Arc::new(Nobody), limits)
                .look(Duration::ZERO)
                .clone()
        });
        // Nobody hears it when the deadline is over.
        let _ = sender.send(looked.unwrap_or_default());
    };
    let started = thread::Builder::new().spawn(look);
    let heard = started
        .ok()
        .and_then(|_| receiver.recv_timeout(deadline).ok());
    heard.unwrap_or_default()
}

/// Takes no device out of use: this program only shows them.
struct Nobody;

impl Quarantine for Nobody {
    fn quarantine(&self, _device: &DeviceId, _why: &str) -> Result<(), String> {
        Ok(())
    }

    fn readmit(&self, _device: &DeviceId) -> Result<(), String> {
        Ok(())
    }
}

fn health_entry(health: &DeviceHealth) -> HealthEntry {
    let vital = health.vital.clone().unwrap_or_default();
    HealthEntry {
        sick: health.conditions.iter().map(ToString::to_string).collect(),
        notices: health.notices.iter().map(ToString::to_string).collect(),
        utilization_percent: vital.utilization_percent,
        temperature_celsius: vital.temperature_celsius,
        power_milliwatts: vital.power_milliwatts,
    }
}

/// Looks for each platform in a process of its own, for all at the same time.
fn isolated(arguments: &cli::Devices) -> anyhow::Result<Devices> {
    let deadline = Duration::from_secs_f64(arguments.deadline);
    let started = NAMES.iter().map(|name| Ok((*name, start(name, deadline)?)));
    let started: Vec<(&str, Child)> = started.collect::<anyhow::Result<_>>()?;
    let mut all = Devices::default();
    let end = Instant::now() + deadline + START;
    for (name, child) in started {
        match finish(child, end) {
            Ok(found) => {
                // The first platform that has a device recommends it; the processor is last.
                if all.recommended.is_empty() && !found.devices.is_empty() {
                    all.recommended = found.recommended;
                }
                all.platforms.extend(found.platforms);
                all.devices.extend(found.devices);
                all.host = found.host;
            }
            Err((code, why)) => all.platforms.push(PlatformEntry {
                name: name.to_owned(),
                unavailable: Some(UnavailableEntry {
                    code: code.to_owned(),
                    why,
                }),
                ..PlatformEntry::default()
            }),
        }
    }
    Ok(all)
}

fn start(name: &str, deadline: Duration) -> anyhow::Result<Child> {
    let own = env::current_exe().context("this program does not find itself")?;
    let child = Program::new(own)
        .args(["devices", "--format", "json", "--platform", name])
        .args(["--deadline", &deadline.as_secs_f64().to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn();
    child.context("this program could not be started again")
}

/// What a process found, or a word and a sentence about how it ended.
fn finish(mut child: Child, end: Instant) -> Result<Devices, (&'static str, String)> {
    let output = child.stdout.take();
    let reader = thread::spawn(move || {
        let mut text = String::new();
        let read = output.map(|mut output| output.read_to_string(&mut text));
        read.and_then(Result::ok).map(|_| text)
    });
    let limit = end.saturating_duration_since(Instant::now());
    let failed = |error: std::io::Error| ("failed", error.to_string());
    let status = wait_for_end(&mut child, limit).map_err(failed)?;
    let Some(status) = status else {
        child.kill().and_then(|()| child.wait()).map_err(failed)?;
        return Err((
            "hung",
            "its process did not end in time, and was ended".to_owned(),
        ));
    };
    let text = reader.join().ok().flatten().filter(|_| status.success());
    let found = text.and_then(|text| serde_json::from_str(&text).ok());
    found.ok_or_else(|| ("ended", format!("its process ended with {status}")))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    /// A process that stands for one that looks for a platform.
    fn shell(script: &str) -> Child {
        let shell = Program::new("sh")
            .args(["-c", script])
            .stdout(Stdio::piped())
            .spawn();
        shell.unwrap()
    }

    #[test]
    fn how_a_process_ends_is_why_there_is_no_platform() {
        let soon = Duration::from_millis(300);
        let patient = Duration::from_secs(60);
        // What the process does, how long it may take, the word and the beginning of the sentence.
        let cases = [
            (
                "kill -9 $$",
                patient,
                "ended",
                "its process ended with signal: 9",
            ),
            (
                "exit 2",
                patient,
                "ended",
                "its process ended with exit status: 2",
            ),
            (
                "echo devices",
                patient,
                "ended",
                "its process ended with exit status: 0",
            ),
            (
                "exec sleep 60",
                soon,
                "hung",
                "its process did not end in time",
            ),
        ];
        for (script, deadline, code, why) in cases {
            let ended = finish(shell(script), Instant::now() + deadline).unwrap_err();
            assert_eq!(ended.0, code, "{script}");
            assert!(ended.1.starts_with(why), "{}", ended.1);
        }
    }

    #[test]
    fn what_a_process_says_is_read() {
        let entry = Devices {
            recommended: "cpu".to_owned(),
            ..Devices::default()
        };
        let body = Body::Devices(entry.clone());
        let envelope = Envelope::new(".", Command::Devices, body);
        let json = coalesce_report::json(&envelope).unwrap();
        let child = shell(&format!("cat <<'END'\n{json}END\n"));
        let found = finish(child, Instant::now() + Duration::from_secs(60));
        assert_eq!(found, Ok(entry));
    }
}
