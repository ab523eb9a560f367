//! Groups of ranks on several machines: network namespaces, each with simulated devices of its own. Where there
//! may be none, the trials say so.
#![cfg(all(target_os = "linux", feature = "cuda"))]
#![expect(clippy::unwrap_used, reason = "a test's failure")]

mod launchers;

use std::{
    path::Path,
    process::{Child, Command},
    time::Duration,
};

use core_gpu::{
    devices::DeviceManager,
    driver::{
        Segment, Stream, StreamKind,
        nccl::{Element, Reduction},
    },
    platform::Platforms,
    strategies::{
        GpuStrategy as _, GroupPart, Launch, MultiGpuDdp, Rank, RankGroup, SECRET_VARIABLE, Secret,
        StrategyConfig, StrategyContext, candidates,
    },
};
use core_gpu_trials::network::Network;
use gpu_sim::case::Case;

const LIMIT: Duration = Duration::from_secs(40);
const MACHINES: usize = 3;
const DEVICES: usize = 2;
/// Which machine a process is, and where the group meets.
const MACHINE: &str = "TEST_MACHINE";
const PLACE: &str = "TEST_PLACE";
/// Said by a rank that is done, where it is looked for.
const DONE: &str = "TEST_DONE";

/// A rank of these trials: all ranks of all machines add up. Nothing where it is none.
#[test]
fn rank() {
    let Ok(rank) = Rank::from_environment() else {
        return;
    };
    let Launch {
        rank: number,
        local_rank,
        world_size,
        ..
    } = *rank.launch();
    // A launcher shows a rank its own device only, or those of all ranks here.
    let devices = core_gpu::driver::cuda::devices().unwrap();
    if let Ok(wanted) = std::env::var("TEST_DEVICES") {
        assert_eq!(devices.len().to_string(), wanted);
    }
    let own = devices.get(local_rank).unwrap_or(&devices[0]);
    let driver = Platforms::system().open(&own.id).unwrap();
    let mut group = rank.communicator(&driver, LIMIT).unwrap();
    let stream = Stream::new(&driver, StreamKind::NonBlocking).unwrap();
    let memory = Segment::allocate(&driver, 8).unwrap();
    let own = 1_u64 << (8 * number);
    stream
        .upload_and_wait(memory.whole(), &own.to_le_bytes())
        .unwrap();
    let spans = (memory.whole(), memory.whole());
    group
        .all_reduce(spans, Element::U64, Reduction::Sum, &stream)
        .unwrap();
    let mut sum = [0; 8];
    stream.download_and_wait(&mut sum, memory.whole()).unwrap();
    let wanted: u64 = (0..world_size).map(|rank| 1 << (8 * rank)).sum();
    assert_eq!(u64::from_le_bytes(sum), wanted);
    group.check().unwrap();
    group.broadcast(spans, Element::U64, 0, &stream).unwrap();
    drop((group, memory, stream, driver));
    let done = std::path::PathBuf::from(std::env::var(DONE).unwrap());
    std::fs::write(done.join(number.to_string()), "").unwrap();
    std::process::exit(0);
}

/// This program again, as one of its trials.
fn trial(program: &mut Command, name: &str) -> Child {
    program
        .args([name, "--exact", "--nocapture"])
        .env_remove("GPU_SIM_CASE")
        .spawn()
        .unwrap()
}

/// A machine of a group that [`MultiGpuDdp`] starts: its part. Nothing where nobody asked.
#[test]
fn machine() {
    let (Ok(machine), Ok(place)) = (std::env::var(MACHINE), std::env::var(PLACE)) else {
        return;
    };
    let machine: usize = machine.parse().unwrap();
    let found = candidates(&DeviceManager::from_environment().unwrap());
    let context = StrategyContext::new(StrategyConfig::default(), found).unwrap();
    let part = GroupPart {
        world_size: MACHINES * DEVICES,
        first_rank: machine * DEVICES,
        address: place,
        secret: Secret::of_text("what all machines were told"),
    };
    let mut strategy = MultiGpuDdp::new(&context)
        .unwrap()
        .meeting_limit(LIMIT)
        .part_of_group(part);
    strategy.initialize().unwrap();
    let program = std::env::current_exe().unwrap();
    let group = RankGroup::launch(&strategy, |_| {
        let mut command = Command::new(&program);
        command.args(["rank", "--exact", "--nocapture"]);
        command
    });
    group.unwrap().wait(LIMIT).unwrap();
    strategy.cleanup().unwrap();
}

/// Every machine of a network as the closure starts its processes; all have to end well, and all ranks to be done.
fn on_machines(mut start: impl FnMut(&Network, usize, &Path) -> Vec<Child>) {
    let Some(network) = Network::start(MACHINES) else {
        return;
    };
    let done = tempfile::tempdir().unwrap();
    let processes: Vec<_> = (0..MACHINES)
        .flat_map(|machine| start(&network, machine, done.path()))
        .collect();
    let ends: Vec<_> = processes
        .into_iter()
        .map(|mut process| process.wait().unwrap())
        .collect();
    assert!(ends.iter().all(|end| end.success()), "{ends:?}");
    let ranks = std::fs::read_dir(done.path()).unwrap().count();
    assert_eq!(ranks, MACHINES * DEVICES);
}

fn case(name: &str) -> Case {
    Case::new(name).variable("GPU_SIM_DEVICES", "1048576,1048576")
}

/// What a process of a machine is told.
fn command(network: &Network, machine: usize, done: &Path) -> Command {
    let mut command = network.command(machine, std::env::current_exe().unwrap());
    command
        .env("GPU_SIM_MACHINE", machine.to_string())
        .env("GPU_SIM_ADDRESS", network.address(machine))
        .env(DONE, done);
    command
}

#[test]
fn machines_start_their_parts_of_a_group() {
    case("machines_start_their_parts_of_a_group").run(|| {
        on_machines(|network, machine, done| {
            let mut command = command(network, machine, done);
            command
                .env(MACHINE, machine.to_string())
                .env(PLACE, format!("{}:29501", network.address(0)));
            vec![trial(&mut command, "machine")]
        });
    });
    println!("{MACHINES} machines have started their parts of a group, or none may be made here");
}

/// As torchrun starts ranks, one process each: nobody but rank 0 is there to open the place to meet.
#[test]
fn ranks_of_another_launcher_meet_at_the_master() {
    case("ranks_of_another_launcher_meet_at_the_master").run(|| {
        on_machines(|network, machine, done| {
            let rank = |local: usize| {
                let mut command = command(network, machine, done);
                command
                    .env("RANK", (machine * DEVICES + local).to_string())
                    .env("WORLD_SIZE", (MACHINES * DEVICES).to_string())
                    .env("LOCAL_RANK", local.to_string())
                    .env("LOCAL_WORLD_SIZE", DEVICES.to_string())
                    .env("MASTER_ADDR", network.address(0))
                    .env("MASTER_PORT", "29400")
                    .env(SECRET_VARIABLE, "what all ranks were told");
                trial(&mut command, "rank")
            };
            (0..DEVICES).map(rank).collect()
        });
    });
    println!("ranks on {MACHINES} machines have met at the master, or none may be made here");
}
