//! Strategies: which one is taken, what their workers see, and groups of ranks as real processes.
#![cfg_attr(
    all(unix, feature = "cuda"),
    expect(clippy::unwrap_used, reason = "a test's failure")
)]

use core_gpu::{
    driver::{Capabilities, DeviceId, DeviceInfo, PlatformKind},
    platform::DeviceName,
    strategies::{
        Candidate, GpuStrategy, StrategyConfig, StrategyContext, StrategyError, StrategyTable,
        WorkerDevice, auto_select_strategy, register_strategy,
    },
};

fn candidate(ordinal: u32, free_bytes: Option<u64>) -> Candidate {
    let mut uuid = *b"device          ";
    uuid[15] = ordinal as u8;
    Candidate {
        info: DeviceInfo {
            id: DeviceId {
                platform: PlatformKind::Cuda,
                uuid,
            },
            ordinal,
            name: "a device".to_owned(),
            total_bytes: 1000,
            compute_capability: (9, 0),
            bus_address: None,
            driver_version: 12_080,
            alignment_bytes: 256,
            capabilities: Capabilities::default(),
        },
        free_bytes,
    }
}

fn config(strategy: &str) -> StrategyConfig {
    StrategyConfig {
        strategy: strategy.to_owned(),
        cpu_workers: Some(3),
        ..StrategyConfig::default()
    }
}

fn make(config: StrategyConfig, devices: u32) -> Result<Box<dyn GpuStrategy>, StrategyError> {
    let candidates = (0..devices).map(|ordinal| candidate(ordinal, Some(900)));
    StrategyTable::default().make(&StrategyContext::new(config, candidates)?)
}

#[test]
fn the_number_of_devices_chooses() {
    type Wanted = Result<(&'static str, usize), &'static str>;
    let cases: &[(&str, u32, Wanted)] = &[
        ("auto", 0, Ok(("cpu", 3))),
        ("auto", 1, Ok(("single_gpu", 1))),
        ("multi_gpu", 1, Ok(("multi_gpu", 1))),
        ("multi_gpu", 8, Ok(("multi_gpu", 8))),
        (
            "multi_gpu",
            0,
            Err("`multi_gpu` needs 1 devices, and there are 0"),
        ),
        ("auto", 2, Ok(("ddp_nccl", 2))),
        ("auto", 8, Ok(("ddp_nccl", 8))),
        ("cpu", 8, Ok(("cpu", 3))),
        ("single_gpu", 8, Ok(("single_gpu", 1))),
        ("ddp_nccl", 1, Ok(("ddp_nccl", 1))),
        (
            "single_gpu",
            0,
            Err("`single_gpu` needs 1 devices, and there are 0"),
        ),
        (
            "ddp_nccl",
            0,
            Err("`ddp_nccl` needs 1 devices, and there are 0"),
        ),
        (
            "horovod",
            2,
            Err("there is no strategy `horovod`; there are cpu, ddp_nccl, multi_gpu, single_gpu"),
        ),
    ];
    for (name, devices, wanted) in cases {
        let found = make(config(name), *devices);
        let found = found
            .as_ref()
            .map(|strategy| (strategy.backend(), strategy.num_workers()))
            .map_err(ToString::to_string);
        assert_eq!(found, wanted.map_err(str::to_owned), "{name} {devices}");
    }
}

#[test]
fn full_devices_do_not_count_and_the_error_says_so() {
    let mut config = config("auto");
    config.memory_threshold = 0.5;
    let candidates = [
        candidate(0, Some(400)),
        candidate(1, Some(600)),
        candidate(2, None),
        candidate(3, Some(100)),
    ];
    let context = StrategyContext::new(config.clone(), candidates.clone()).unwrap();
    let counts: Vec<_> = context.devices.iter().map(|one| one.info.ordinal).collect();
    assert_eq!(counts, [1, 2], "what cannot be read is not nothing");
    config.strategy = "single_gpu".to_owned();
    let one = [candidates[0].clone()];
    let context = StrategyContext::new(config, one).unwrap();
    let error = StrategyTable::default().make(&context).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("cuda:0 does not count: 40% of its memory is free, 50% is wanted"),
        "{error}"
    );
}

#[test]
fn one_device_for_several_processes_is_the_one_with_the_most_room() {
    let mut config = config("single_gpu");
    config.workers_per_gpu = 4;
    let candidates = [
        candidate(0, Some(400)),
        candidate(1, Some(900)),
        candidate(2, Some(900)),
    ];
    let context = StrategyContext::new(config, candidates).unwrap();
    let strategy = StrategyTable::default().make(&context).unwrap();
    assert_eq!(strategy.num_workers(), 4);
    for worker in 0..4 {
        let device = strategy.device_for_worker(worker).unwrap();
        assert_eq!(device.device.to_string(), "cuda:1");
        assert_eq!(device.in_worker.to_string(), "cuda:0");
        let wanted = [(
            "CUDA_VISIBLE_DEVICES".to_owned(),
            "GPU-64657669-6365-2020-2020-202020202001".to_owned(),
        )];
        assert_eq!(device.variables, wanted);
    }
    let error = strategy.device_for_worker(4).unwrap_err();
    assert_eq!(
        error,
        StrategyError::NoSuchWorker {
            worker: 4,
            workers: 4
        }
    );
}

#[test]
fn devices_are_named_once_and_must_be_there() {
    let named = |names: &[&str]| {
        let mut config = config("auto");
        let names = names.iter().map(|name| name.parse::<DeviceName>().unwrap());
        config.devices = Some(names.collect());
        make(config, 4)
    };
    assert_eq!(named(&["cuda:3", "cuda:1"]).unwrap().num_workers(), 2);
    for names in [&["cuda:4"][..], &["rocm:0"], &["cuda:1", "cuda:1"]] {
        let error = named(names).unwrap_err();
        let setting = "devices";
        assert!(
            matches!(&error, StrategyError::Setting { setting: found, .. } if *found == setting),
            "{error}"
        );
    }
}

#[test]
fn settings_that_cannot_be() {
    let with = |change: fn(&mut StrategyConfig)| {
        let mut config = config("auto");
        change(&mut config);
        make(config, 2).unwrap_err().to_string()
    };
    let cases = [
        (
            with(|config| config.memory_threshold = 1.5),
            "the setting `memory_threshold` cannot be 1.5",
        ),
        (
            with(|config| config.memory_threshold = f64::NAN),
            "the setting `memory_threshold` cannot be NaN",
        ),
        (
            with(|config| config.workers_per_gpu = 0),
            "the setting `workers_per_gpu` cannot be 0",
        ),
        (
            with(|config| {
                config.workers_per_gpu = 2;
                config.strategy = "ddp_nccl".to_owned();
            }),
            "2 workers for each device: NCCL refuses two ranks on one; take `single_gpu` or \
             `multi_gpu` for processes without collectives, or allow it with collectives of your \
             own",
        ),
    ];
    for (found, wanted) in cases {
        assert_eq!(found, wanted);
    }
}

#[test]
fn what_works_on_one_device_works_on_more() {
    // Devices, workers a device, whether ranks may share one: the strategy, and who has which.
    type Wanted<'a> = (&'a str, &'a [u32]);
    let cases: &[(u32, usize, bool, Wanted<'_>)] = &[
        (1, 2, false, ("single_gpu", &[0, 0])),
        (2, 2, false, ("multi_gpu", &[0, 1, 0, 1])),
        (3, 2, false, ("multi_gpu", &[0, 1, 2, 0, 1, 2])),
        (2, 2, true, ("ddp_nccl", &[0, 1, 0, 1])),
        (2, 1, true, ("ddp_nccl", &[0, 1])),
    ];
    for (devices, workers_per_gpu, ranks_share_devices, (backend, wanted)) in cases {
        let config = StrategyConfig {
            workers_per_gpu: *workers_per_gpu,
            ranks_share_devices: *ranks_share_devices,
            ..config("auto")
        };
        let mut strategy = make(config, *devices).unwrap();
        assert_eq!(strategy.backend(), *backend);
        assert_eq!(strategy.num_workers(), wanted.len());
        if *backend == "ddp_nccl" {
            continue;
        }
        strategy.initialize().unwrap();
        let device = |worker| strategy.device_for_worker(worker).unwrap().device;
        let ordinals: Vec<_> = (0..wanted.len())
            .map(|worker| device(worker).ordinal().unwrap())
            .collect();
        assert_eq!(ordinals, *wanted);
        assert!(strategy.device_for_worker(wanted.len()).is_err());
    }
}

#[test]
fn a_worker_on_a_slice_is_told_the_slice() {
    let mut slice = candidate(0, None);
    slice.info.capabilities.slice = true;
    for name in ["single_gpu", "multi_gpu"] {
        let context = StrategyContext::new(config(name), [slice.clone()]).unwrap();
        let strategy = StrategyTable::default().make(&context).unwrap();
        let told = strategy.device_for_worker(0).unwrap().variables;
        let wanted = "MIG-64657669-6365-2020-2020-202020202000".to_owned();
        assert_eq!(told, [("CUDA_VISIBLE_DEVICES".to_owned(), wanted)]);
    }
}

#[cfg(unix)]
#[test]
fn a_group_of_no_workers_is_done() {
    use core_gpu::strategies::RankGroup;
    #[derive(Debug)]
    struct Nobody;
    impl GpuStrategy for Nobody {
        fn initialize(&mut self) -> Result<(), StrategyError> {
            Ok(())
        }
        fn backend(&self) -> &str {
            "nobody"
        }
        fn num_workers(&self) -> usize {
            0
        }
        fn device_for_worker(&self, worker: usize) -> Result<WorkerDevice, StrategyError> {
            Err(StrategyError::NoSuchWorker { worker, workers: 0 })
        }
        fn cleanup(&mut self) -> Result<(), StrategyError> {
            Ok(())
        }
    }
    let command = |_| std::process::Command::new("true");
    let group = RankGroup::launch(&Nobody, command).unwrap();
    assert!(group.processes().is_empty());
    assert_eq!(group.wait(std::time::Duration::ZERO), Ok(()));
}

/// A strategy that nobody here knows.
#[derive(Debug)]
struct Remote;

impl GpuStrategy for Remote {
    fn initialize(&mut self) -> Result<(), StrategyError> {
        Ok(())
    }

    fn backend(&self) -> &str {
        "remote"
    }

    fn num_workers(&self) -> usize {
        1
    }

    fn device_for_worker(&self, worker: usize) -> Result<WorkerDevice, StrategyError> {
        let workers = self.num_workers();
        Err(StrategyError::NoSuchWorker { worker, workers })
    }

    fn cleanup(&mut self) -> Result<(), StrategyError> {
        Ok(())
    }
}

#[test]
fn a_new_strategy_needs_no_change_here() {
    register_strategy("remote", |_| Ok(Box::new(Remote))).unwrap();
    let strategy = auto_select_strategy(config("remote")).unwrap();
    assert_eq!(strategy.backend(), "remote");
    for taken in ["remote", "cpu", "auto"] {
        let error = register_strategy(taken, |_| Ok(Box::new(Remote))).unwrap_err();
        let name = taken.to_owned();
        assert_eq!(error, StrategyError::Registered { name });
    }
}

#[cfg(all(unix, feature = "cuda"))]
mod simulated {
    //! On the simulated libraries, in processes of their own.

    use std::{
        process::{Command, Stdio},
        time::{Duration, Instant},
    };

    use core_gpu::{
        driver::{
            Segment, Stream, StreamKind,
            nccl::{Communicator, Element, GroupIdentity, NcclError, Reduction},
        },
        platform::Platforms,
        strategies::{
            JoinError, MultiGpuDdp, Rank, RankGroup, StrategyConfig, StrategyError,
            auto_select_strategy,
        },
        workers::{TaskCall, TaskRegistry, WorkerCommand, WorkerPool, run_if_worker},
    };
    use gpu_sim::case::Case;

    const LIMIT: Duration = Duration::from_secs(40);
    const DEVICES: &str = "1048576,1048576,1048576,1048576";

    fn case(name: &str, devices: &str) -> Case {
        Case::new(&format!("simulated::{name}")).variable("GPU_SIM_DEVICES", devices)
    }

    fn of(strategy: &str) -> StrategyConfig {
        StrategyConfig {
            strategy: strategy.to_owned(),
            ..StrategyConfig::default()
        }
    }

    /// What the workers of these tests are; nothing where it is no worker.
    #[test]
    fn serve() {
        let devices = |(): ()| {
            let found = core_gpu::driver::cuda::devices().map_err(|error| error.to_string())?;
            let said = found.iter().map(|info| (info.ordinal, info.id.to_string()));
            Ok::<_, String>(said.collect::<Vec<_>>())
        };
        run_if_worker(&TaskRegistry::new().task("devices", devices));
    }

    fn serving() -> WorkerCommand {
        WorkerCommand::this_program()
            .unwrap()
            .argument("simulated::serve")
            .argument("--exact")
    }

    #[test]
    fn workers_see_their_device_as_the_first() {
        let name = "workers_see_their_device_as_the_first";
        case(name, DEVICES).run(|| {
            let mut config = of("single_gpu");
            config.devices = Some(vec!["cuda:2".parse().unwrap()]);
            config.workers_per_gpu = 2;
            let strategy = auto_select_strategy(config).unwrap();
            let wanted = strategy.device_for_worker(0).unwrap();
            let variables: Vec<_> = (0..strategy.num_workers())
                .map(|worker| strategy.device_for_worker(worker).unwrap().variables)
                .collect();
            let pool = WorkerPool::builder(serving())
                .workers(strategy.num_workers())
                .variables(move |worker| variables[worker].clone())
                .build()
                .unwrap();
            for _ in 0..4 {
                let job = pool.submit(TaskCall::new("devices", &()).unwrap()).unwrap();
                let seen: Vec<(u32, String)> = job.value().unwrap();
                assert_eq!(seen, [(0, wanted.id.unwrap().to_string())]);
            }
        });
    }

    #[test]
    fn workers_see_their_slice() {
        let case = case("workers_see_their_slice", DEVICES).variable("GPU_SIM_SLICES", "1");
        case.run(|| {
            let mut config = of("multi_gpu");
            config.workers_per_gpu = 2;
            let strategy = auto_select_strategy(config).unwrap();
            assert_eq!(strategy.num_workers(), 8);
            for worker in [1, 6] {
                let device = strategy.device_for_worker(worker).unwrap();
                let variables = device.variables;
                let pool = WorkerPool::builder(serving())
                    .workers(1)
                    .variables(move |_| variables.clone())
                    .build()
                    .unwrap();
                let job = pool.submit(TaskCall::new("devices", &()).unwrap()).unwrap();
                let seen: Vec<(u32, String)> = job.value().unwrap();
                assert_eq!(seen, [(0, device.id.unwrap().to_string())]);
            }
        });
    }

    /// What the ranks of these tests do; nothing where it is no rank.
    #[test]
    fn rank() {
        let Ok(rank) = Rank::from_environment() else {
            return;
        };
        let number = rank.launch().rank;
        let told = std::env::var("TEST_RANK").unwrap_or_default();
        if told == format!("die early {number}") {
            std::process::exit(41);
        }
        let platforms = Platforms::system();
        let devices: Vec<_> = core_gpu::driver::cuda::devices().unwrap();
        assert_eq!(devices.len(), 1, "a rank sees its own device only");
        let driver = platforms.open(&devices[0].id).unwrap();
        let joined = rank.communicator(&driver, LIMIT);
        if told == "one device" {
            let error = joined.err().unwrap();
            assert!(matches!(error, JoinError::SameDevice { .. }), "{error}");
            std::process::exit(43);
        }
        let mut group = joined.unwrap();
        let stream = Stream::new(&driver, StreamKind::NonBlocking).unwrap();
        let memory = Segment::allocate(&driver, 8).unwrap();
        let own = 1_u64 << (8 * number);
        stream
            .upload_and_wait(memory.whole(), &own.to_le_bytes())
            .unwrap();
        if told == format!("die late {number}") {
            std::process::abort();
        }
        let spans = (memory.whole(), memory.whole());
        group
            .all_reduce(spans, Element::U64, Reduction::Sum, &stream)
            .unwrap();
        let mut sum = [0; 8];
        stream.download_and_wait(&mut sum, memory.whole()).unwrap();
        let ranks = rank.launch().world_size;
        let wanted: u64 = (0..ranks).map(|rank| 1 << (8 * rank)).sum();
        assert_eq!(u64::from_le_bytes(sum), wanted);
        more_collectives(&mut group, &driver, &stream);
        // Before the last collective: one that is done with it may leave.
        group.check().unwrap();
        group.broadcast(spans, Element::U64, 0, &stream).unwrap();
        drop((group, memory, stream, driver));
        // A rank's own success, which the group sees: not the test's.
        std::process::exit(0);
    }

    /// Half floats, gathering, scattering, and messages round the ranks.
    fn more_collectives(
        group: &mut Communicator,
        driver: &std::sync::Arc<dyn core_gpu::driver::Driver>,
        stream: &Stream,
    ) {
        let ranks = group.ranks();
        let own = Segment::allocate(driver, 4).unwrap();
        let all = Segment::allocate(driver, 4 * ranks as usize).unwrap();
        // 1.5 and -2 in both kinds of half floats.
        for (element, halves) in [
            (Element::F16, [0x3e00_u16, 0xc000]),
            (Element::Bf16, [0x3fc0, 0xc000]),
        ] {
            let bytes: Vec<u8> = halves.iter().flat_map(|half| half.to_ne_bytes()).collect();
            stream.upload_and_wait(own.whole(), &bytes).unwrap();
            let both = (own.whole(), own.whole());
            group
                .all_reduce(both, element, Reduction::Maximum, stream)
                .unwrap();
            assert_eq!(read(&own, stream), bytes, "the largest of equals");
            group
                .all_gather((all.whole(), own.whole()), element, stream)
                .unwrap();
            assert_eq!(read(&all, stream), bytes.repeat(ranks as usize));
        }
        scatter_and_send(group, driver, stream, (&own, &all));
        let refused = group.send(own.whole(), Element::U32, ranks, stream);
        assert!(refused.is_err());
        let spans = (own.whole(), own.whole());
        assert!(group.all_gather(spans, Element::U32, stream).is_err() || ranks == 1);
    }

    fn read(segment: &Segment, stream: &Stream) -> Vec<u8> {
        let mut bytes = vec![0; segment.bytes() as usize];
        stream
            .download_and_wait(&mut bytes, segment.whole())
            .unwrap();
        bytes
    }

    /// Sums in parts, and messages round the ranks, through a number's memory and one for each rank.
    fn scatter_and_send(
        group: &mut Communicator,
        driver: &std::sync::Arc<dyn core_gpu::driver::Driver>,
        stream: &Stream,
        (own, all): (&Segment, &Segment),
    ) {
        let (rank, ranks) = (group.rank(), group.ranks());
        let numbers: Vec<u8> = (0..ranks)
            .flat_map(|part| (part * 10 + rank).to_ne_bytes())
            .collect();
        stream.upload_and_wait(all.whole(), &numbers).unwrap();
        let spans = (own.whole(), all.whole());
        group
            .reduce_scatter(spans, Element::U32, Reduction::Sum, stream)
            .unwrap();
        let sum = ranks * rank * 10 + (0..ranks).sum::<u32>();
        assert_eq!(read(own, stream), sum.to_ne_bytes());
        let (next, before) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
        let from_before = all.span(0, 4).unwrap();
        group
            .group(|group| {
                group.send(own.whole(), Element::U32, next, stream)?;
                group.receive(from_before, Element::U32, before, stream)
            })
            .unwrap();
        // What is not grouped would be done when the group ends, and has nothing to be borrowed by.
        let nobodys = GroupIdentity::from_bytes(&[0; 128]).unwrap();
        let inside = group.group(|_| Ok(Communicator::join(driver, &nobodys, 0, 1).map(drop)));
        let refused = inside.unwrap();
        assert!(
            matches!(refused, Err(NcclError::Refused { .. })),
            "{refused:?}"
        );
        let sum = ranks * before * 10 + (0..ranks).sum::<u32>();
        assert_eq!(read(all, stream)[..4], sum.to_ne_bytes());
    }

    fn ranks(told: &str) -> impl FnMut(usize) -> Command {
        let program = std::env::current_exe().unwrap();
        move |_| {
            let mut command = Command::new(&program);
            command
                .args(["simulated::rank", "--exact", "--nocapture"])
                .env("TEST_RANK", told)
                .stdin(Stdio::null())
                .stdout(Stdio::null());
            command
        }
    }

    fn run(told: &str) -> Result<(), StrategyError> {
        let mut strategy = auto_select_strategy(of("auto")).unwrap();
        assert_eq!(strategy.backend(), "ddp_nccl");
        strategy.initialize().unwrap();
        let group = RankGroup::launch(&*strategy, ranks(told)).unwrap();
        let processes = group.processes();
        let done = group.wait(LIMIT);
        let runs = |process: &Option<u32>| {
            let status = std::fs::read_to_string(format!("/proc/{}/stat", process.unwrap()));
            status.is_ok_and(|status| !status.contains(") Z"))
        };
        assert!(!processes.iter().any(runs), "nobody is left");
        strategy.cleanup().unwrap();
        done
    }

    #[test]
    fn ranks_meet_and_compute_together() {
        for devices in ["1048576,1048576", DEVICES] {
            let name = "ranks_meet_and_compute_together";
            case(name, devices).run(|| assert_eq!(run("work"), Ok(())));
        }
    }

    #[test]
    fn a_dead_rank_fails_its_group() {
        for (told, rank, how) in [
            ("die early 2", 2, "exit status: 41"),
            ("die late 1", 1, "signal: 6 (SIGABRT)"),
        ] {
            let name = "a_dead_rank_fails_its_group";
            case(name, DEVICES).variable("TOLD", told).run(|| {
                if std::env::var("TOLD").as_deref() != Ok(told) {
                    return;
                }
                let start = Instant::now();
                let Err(StrategyError::RankDied {
                    rank: found,
                    how: said,
                    others,
                }) = run(told)
                else {
                    panic!("the group did not fail")
                };
                assert!(start.elapsed() < LIMIT / 2, "nobody waits for the dead");
                // Others may fail of it before they are ended, and be seen first.
                if found == rank {
                    assert!(said.contains(how), "{said}");
                }
                assert_eq!(others, 3);
            });
        }
    }

    #[test]
    fn two_ranks_on_one_device_are_refused_before_nccl_is_asked() {
        let name = "two_ranks_on_one_device_are_refused_before_nccl_is_asked";
        case(name, "1048576,1048576").run(|| {
            let mut strategy = auto_select_strategy(of("ddp_nccl")).unwrap();
            strategy.initialize().unwrap();
            let first = strategy.device_for_worker(0).unwrap().variables;
            let first = first
                .into_iter()
                .find(|(name, _)| name == "CUDA_VISIBLE_DEVICES");
            let first = first.unwrap().1;
            let program = std::env::current_exe().unwrap();
            // The device's own variable goes over the strategy's.
            let group = RankGroup::launch(&*strategy, |_| {
                let mut command = Command::new("env");
                command
                    .arg(format!("CUDA_VISIBLE_DEVICES={first}"))
                    .arg(&program)
                    .args(["simulated::rank", "--exact", "--nocapture"])
                    .env("TEST_RANK", "one device")
                    .stdin(Stdio::null())
                    .stdout(Stdio::null());
                command
            });
            let error = group.unwrap().wait(LIMIT).unwrap_err();
            let said = error.to_string();
            assert!(said.contains("exit status: 43"), "{said}");
        });
    }

    #[test]
    fn without_the_library_the_error_says_so() {
        let name = "without_the_library_the_error_says_so";
        let missing: [(Case, &str); 2] = [
            (
                case(name, DEVICES).without_library("sim_collectives"),
                "no NCCL driver library: tried libnccl.so.2",
            ),
            (
                case(name, DEVICES).without_symbol("ncclCommAbort"),
                "libnccl has no function ncclCommAbort",
            ),
        ];
        for (case, wanted) in missing {
            case.variable("WANTED", wanted).run(|| {
                if std::env::var("WANTED").as_deref() != Ok(wanted) {
                    return;
                }
                let mut strategy = auto_select_strategy(of("ddp_nccl")).unwrap();
                let error = strategy.initialize().unwrap_err();
                assert!(matches!(error, StrategyError::Nccl { .. }));
                assert!(error.to_string().contains(wanted), "{error}");
                let error = strategy.device_for_worker(0).unwrap_err();
                assert!(matches!(error, StrategyError::NotInitialized { .. }));
            });
        }
    }

    #[test]
    fn a_group_has_an_end() {
        let name = "a_group_has_an_end";
        case(name, "1048576,1048576").run(|| {
            let mut strategy = auto_select_strategy(of("ddp_nccl")).unwrap();
            strategy.initialize().unwrap();
            let sleeping = |_| {
                let mut command = Command::new("sleep");
                command.arg("1000");
                command
            };
            let group = RankGroup::launch(&*strategy, sleeping).unwrap();
            let limit = Duration::from_millis(100);
            let ranks = vec![0, 1];
            assert_eq!(
                group.wait(limit),
                Err(StrategyError::Deadline { limit, ranks })
            );
        });
    }

    #[test]
    fn collectives_may_be_somebody_elses() {
        let name = "collectives_may_be_somebody_elses";
        case(name, DEVICES)
            .without_library("sim_collectives")
            .run(|| {
                use core_gpu::strategies::{StrategyContext, candidates};
                let manager = core_gpu::devices::DeviceManager::from_environment().unwrap();
                let context =
                    StrategyContext::new(StrategyConfig::default(), candidates(&manager)).unwrap();
                let strategy = MultiGpuDdp::new(&context).unwrap();
                let mut strategy = strategy.collectives(|| Ok(1));
                core_gpu::strategies::GpuStrategy::initialize(&mut strategy).unwrap();
                assert_eq!(strategy.collectives_version(), Some(1));
            });
    }

    /// The management library tells free memory without a context.
    #[test]
    fn memory_in_use_by_others_counts() {
        let name = "memory_in_use_by_others_counts";
        let case = case(name, "1000000,1000000").variable("GPU_SIM_USED", "900000,100000");
        case.run(|| {
            let mut config = of("auto");
            config.memory_threshold = 0.5;
            let strategy = auto_select_strategy(config).unwrap();
            assert_eq!(strategy.backend(), "single_gpu", "one of the two is full");
        });
    }

    /// One rank on a card. Two ranks need two cards, which nobody has run yet.
    #[test]
    fn one_rank_on_a_card() {
        if std::env::var("COALESCE_DRIVER").as_deref() != Ok("real") {
            eprintln!("skipped: COALESCE_DRIVER is not `real`");
            return;
        }
        let mut config = of("ddp_nccl");
        config.devices = Some(vec!["cuda:0".parse().unwrap()]);
        let mut strategy = auto_select_strategy(config).unwrap();
        strategy.initialize().unwrap();
        let group = RankGroup::launch(&*strategy, ranks("work")).unwrap();
        group.wait(LIMIT).unwrap();
    }
}
