//! Files, variables and the program, and what each may say.

use core_gpu_driver::PlatformKind;
use core_gpu_memory::test_support::variables;

use super::*;

#[test]
fn the_program_goes_over_the_environment_and_that_over_the_file() {
    let file = "[gpu.platform]\npreference = \"rocm\"\nfallback = \"error\"\n\
                [gpu.registry]\nmax-pipelines = 3\nconfigured-num-workers = 12\n\
                [gpu.memory]\ncache-size = 7\n";
    let configuration = Configuration::builder()
        .max_pipelines(5)
        .toml(file)
        .unwrap()
        .environment(variables(&[
            ("GPU_BACKEND", "cuda"),
            ("COALESCE_GPU_REGISTRY_MAX_PIPELINES", "4"),
            ("COALESCE_GPU_SLOTS_DIRECTORY", "/slots"),
            ("COALESCE_GPU_MEMORY_MAX_FRACTION", "0.5"),
            ("HOME", "/"),
        ]))
        .unwrap()
        .build()
        .unwrap();
    let wanted = Configuration {
        preference: Preference::Platform(PlatformKind::Cuda),
        fallback: Fallback::Error,
        configured_num_workers: Some(12),
        max_pipelines: Some(5),
        slot_directory: PathBuf::from("/slots"),
        memory: MemoryConfig {
            cache_size: 7,
            max_fraction: 0.5,
            ..MemoryConfig::default()
        },
        ..Configuration::default()
    };
    assert_eq!(configuration, wanted);
}

#[test]
fn no_cuda_counts_where_the_preference_is_open() {
    // The file, the variables, the preference that comes of them.
    type Variables<'a> = &'a [(&'a str, &'a str)];
    let cases: &[(&str, Variables<'_>, &str)] = &[
        ("", &[], "auto"),
        ("", &[("USE_CUDA", "0")], "cpu"),
        ("", &[("USE_CUDA", "1")], "auto"),
        ("auto", &[("USE_CUDA", "0")], "cpu"),
        ("rocm", &[("USE_CUDA", "0")], "rocm"),
        ("rocm", &[("GPU_BACKEND", "auto"), ("USE_CUDA", "0")], "cpu"),
        ("rocm", &[("GPU_BACKEND", "mps")], "metal"),
        (
            "rocm",
            &[
                ("GPU_BACKEND", "mps"),
                ("COALESCE_GPU_PLATFORM_PREFERENCE", "cuda"),
            ],
            "cuda",
        ),
        ("cuda", &[("COALESCE_GPU_BACKEND_ENABLED", "no")], "cpu"),
    ];
    for (file, environment, wanted) in cases {
        let mut builder = Configuration::builder();
        if !file.is_empty() {
            let text = format!("[gpu.platform]\npreference = \"{file}\"\n");
            builder = builder.toml(&text).unwrap();
        }
        let builder = builder.environment(variables(environment)).unwrap();
        let preference = builder.build().unwrap().preference;
        assert_eq!(preference.to_string(), *wanted, "{file} {environment:?}");
    }
}

#[test]
fn strategies_workers_profiler_and_monitor_are_read_from_everywhere() {
    let flat = "[gpu]\nstrategy = \"multi_gpu\"\ndevices = [\"cuda:1\", \"cuda:0\"]\n\
                workers_per_gpu = 2\nmemory_threshold = 0.25\n";
    let grouped = "[gpu.strategy]\nname = \"multi_gpu\"\ndevices = \"cuda:1, cuda:0\"\n\
                   memory-threshold = 0.25\n[gpu.workers]\nper-gpu = 2\n";
    let environment = variables(&[
        ("COALESCE_GPU_STRATEGY", "multi_gpu"),
        ("COALESCE_GPU_DEVICES", "cuda:1,cuda:0"),
        ("COALESCE_GPU_WORKERS_PER_GPU", "2"),
        ("COALESCE_GPU_MEMORY_THRESHOLD", "0.25"),
    ]);
    let names = ["cuda:1", "cuda:0"].map(|name| name.parse().unwrap());
    let wanted = StrategyConfig {
        strategy: "multi_gpu".to_owned(),
        devices: Some(names.to_vec()),
        workers_per_gpu: 2,
        memory_threshold: 0.25,
        ..StrategyConfig::default()
    };
    let builder = Configuration::builder;
    for built in [
        builder().toml(flat),
        builder().toml(grouped),
        builder().environment(environment),
        Ok(builder()
            .strategy("multi_gpu")
            .devices(names)
            .workers_per_gpu(2)
            .memory_threshold(0.25)),
    ] {
        let configuration = built.unwrap().build().unwrap();
        assert_eq!(configuration.strategy, wanted);
        assert_eq!(configuration.workers, WorkerSettings::default());
        assert_eq!(configuration.monitor, MonitorSettings::default());
    }
    let rest = "[gpu.workers]\ncpu = 3\ndeadline-ms = 50\ngreeting-limit-ms = 60\n\
                waiting = 7\nmost-bytes = 8\n[gpu.profiler]\nenabled = true\n\
                ranges = false\n[gpu.monitor]\ninterval-ms = 10\n\
                temperature-celsius = 70\nwell-looks = 9\ncritical = [48, 79]\n";
    let rest = builder().toml(rest).unwrap().build().unwrap();
    assert_eq!(rest.strategy.cpu_workers, Some(3));
    let workers = WorkerSettings {
        deadline: Some(Duration::from_millis(50)),
        greeting_limit: Some(Duration::from_millis(60)),
        waiting: Some(7),
        most_bytes: Some(8),
    };
    assert_eq!(rest.workers, workers);
    assert!(rest.profiler.enabled && !rest.profiler.ranges);
    let monitor = MonitorSettings {
        interval: Duration::from_millis(10),
        limits: HealthLimits {
            temperature_celsius: Some(70),
            critical: vec![48, 79],
            well_looks: 9,
        },
    };
    assert_eq!(rest.monitor, monitor);
}

#[test]
fn what_is_wrong_in_a_file_is_named() {
    let files = [
        (
            "[gpu]\ndevices = [\"gpu7\"]\n",
            "`gpu.devices` in the file must be a list of devices such as `cuda:0`, not a list",
        ),
        (
            "[gpu]\nworkers-per-gpu = 0\n",
            "`gpu.workers-per-gpu` in the file must be a whole number, 1 or more, not 0",
        ),
        (
            "[gpu]\nmemory-threshold = 1.5\n",
            "`gpu.memory-threshold` in the file must be a part of one, from 0 to 1, not 1.5",
        ),
        (
            "[gpu.monitor]\nintervall-ms = 2\n",
            "unknown key `gpu.monitor.intervall-ms` in the file; did you mean \
             `gpu.monitor.interval-ms`?",
        ),
        (
            "[gpu.platform]\npreferense = \"cuda\"\n",
            "unknown key `gpu.platform.preferense` in the file; did you mean \
             `gpu.platform.preference`?",
        ),
        (
            "[gpu.platform]\npreference = \"gpu\"\n",
            "`gpu.platform.preference` in the file must be auto, cuda, rocm, metal or cpu, not \
             \"gpu\"",
        ),
        (
            "[gpu.registry]\nmax-pipelines = 0\n",
            "`gpu.registry.max-pipelines` in the file must be a whole number, 1 or more, not 0",
        ),
        (
            "[gpu.memory]\ncache-sise = 1\n",
            "unknown key `gpu.memory.cache-sise` in the file; did you mean \
             `gpu.memory.cache-size`?",
        ),
    ];
    for (file, wanted) in files {
        let error = Configuration::builder().toml(file).unwrap_err();
        assert_eq!(error.to_string(), wanted);
    }
}

#[test]
fn what_is_wrong_in_the_environment_is_named() {
    let environment = [
        (
            ("COALESCE_GPU_SLOTS_DIRECTOR", "x"),
            "unknown key `COALESCE_GPU_SLOTS_DIRECTOR` in the environment; did you mean \
             `COALESCE_GPU_SLOTS_DIRECTORY`?",
        ),
        (
            ("GPU_BACKEND", "tpu"),
            "GPU_BACKEND cannot be `tpu`: known are auto, cuda, rocm (or hip), metal (or mps), \
             cpu (or host)",
        ),
        (
            ("USE_CUDA", "maybe"),
            "USE_CUDA cannot be `maybe`: known are 0, 1, true, false, yes, no",
        ),
    ];
    for (variable, wanted) in environment {
        let builder = Configuration::builder().environment(variables(&[variable]));
        assert_eq!(builder.unwrap_err().to_string(), wanted);
    }
}
