//! Plans and what becomes of them.

use core_gpu_driver::{DeviceInfo, Driver as _, HostDriver, PlatformKind};

use super::*;

/// A device of a platform, with bytes, free bytes and pipelines on it.
fn gpu(
    platform: PlatformKind,
    ordinal: u8,
    total: u64,
    free: Option<u64>,
    active: u32,
) -> AssignableDevice {
    let mut uuid = [7; 16];
    uuid[15] = ordinal;
    AssignableDevice {
        info: DeviceInfo {
            id: DeviceId { platform, uuid },
            ordinal: u32::from(ordinal),
            total_bytes: total,
            ..HostDriver::new(1).info().clone()
        },
        free_bytes: free,
        active,
        max_pipelines: 2,
        healthy: true,
    }
}

fn cuda(ordinal: u8, free: u64, active: u32) -> AssignableDevice {
    gpu(PlatformKind::Cuda, ordinal, 1000, Some(free), active)
}

/// A plan of steps written as `name:input>output` with a space between.
fn plan(text: &str) -> Plan {
    text.split(' ').fold(Plan::new("plan"), |plan, step| {
        let (name, memory) = step.split_once(':').unwrap();
        let (input, output) = memory.split_once('>').unwrap();
        let (input, output) = (input.parse().unwrap(), output.parse().unwrap());
        plan.step(PlanStep::new(name, input, output))
    })
}

fn all_libraries() -> Libraries {
    Libraries::these(MemoryType::ALL.iter().map(|memory| memory.name()))
}

#[test]
fn plans_get_a_device_or_a_reason() {
    let of = |kind| gpu(kind, 0, 1000, None, 0);
    let amd = || vec![of(PlatformKind::Rocm)];
    let both = || vec![of(PlatformKind::Rocm), of(PlatformKind::Cuda)];
    let sick = || {
        let mut device = cuda(0, 9, 0);
        device.healthy = false;
        vec![device]
    };
    // The plan, the devices, the device it gets or why it gets none.
    let cases = [
        ("a:numpy>numpy b:host>pinned", vec![], Ok(None)),
        ("a:numpy>numpy", vec![cuda(0, 9, 0)], Ok(None)),
        (
            "a:numpy>cupy b:cupy>numpy",
            vec![cuda(0, 9, 0)],
            Ok(Some("cuda:0")),
        ),
        ("a:torch>torch", amd(), Ok(Some("rocm:0"))),
        ("a:torch>jax b:jax>cuda", both(), Ok(Some("cuda:0"))),
        ("a:torch>jax b:hip>host", both(), Ok(Some("rocm:0"))),
        (
            "a:numpy>numpy b:numpy>cupy",
            vec![],
            Err("step `b` works on cupy memory and there is no GPU"),
        ),
        (
            "a:torch>torch",
            sick(),
            Err("step `a` works on torch memory and there is no GPU in use"),
        ),
        (
            "a:torch>torch b:cuda>cuda",
            amd(),
            Err("step `b` works on cuda memory, which no GPU here has: they are rocm"),
        ),
        (
            "a:torch>torch b:cuda>host c:host>hip",
            both(),
            Err("step `c` works on hip memory and step `b` on cuda: no one device has both"),
        ),
        (
            "a:metal>cupy",
            both(),
            Err("step `a` works on cupy memory and step `a` on metal: no one device has both"),
        ),
        (
            "a:host>host a:host>host",
            vec![],
            Err("step `a`: each step needs a name of its own"),
        ),
    ];
    for (text, candidates, wanted) in cases {
        let assigned = Assigner::default().assign(&plan(text), &candidates, &all_libraries());
        let device = assigned.map(|assignment| assignment.device.map(|device| device.name));
        let wanted = wanted.map(|name| name.map(str::to_owned));
        let device = device.map_err(|error| error.to_string());
        assert_eq!(device, wanted.map_err(str::to_owned), "{text}");
    }
}

#[test]
fn a_missing_library_names_its_step() {
    let libraries = Libraries::these(["numpy", "cupy"]);
    let one = plan("a:numpy>cupy b:torch>numpy");
    let error = Assigner::default().assign(&one, &[cuda(0, 9, 0)], &libraries);
    assert_eq!(
        error.unwrap_err().to_string(),
        "step `b` needs the library torch: it is not among those listed"
    );
    let more =
        Plan::new("more").step(PlanStep::new("c", MemoryType::Host, MemoryType::Host).library("x"));
    let error = Assigner::default().assign(&more, &[], &libraries);
    assert!(matches!(error, Err(AssignmentError::Library { library, .. }) if library == "x"));
}

#[test]
fn policies_choose_differently() {
    let candidates = || {
        vec![
            cuda(0, 100, 2),
            cuda(1, 300, 1),
            cuda(2, 900, 1),
            cuda(3, 200, 0),
        ]
    };
    let cases = [
        (
            AssignmentPolicy::FirstAvailable,
            ["cuda:1", "cuda:1", "cuda:1"],
        ),
        (
            AssignmentPolicy::LeastLoaded,
            ["cuda:3", "cuda:3", "cuda:3"],
        ),
        (AssignmentPolicy::MostFree, ["cuda:2", "cuda:2", "cuda:2"]),
        (AssignmentPolicy::RoundRobin, ["cuda:0", "cuda:1", "cuda:2"]),
    ];
    let one = plan("a:cuda>cuda");
    for (policy, wanted) in cases {
        let assigner = Assigner::new(policy);
        let chosen = [(); 3].map(|()| {
            let assigned = assigner.assign(&one, &candidates(), &all_libraries());
            assigned.unwrap().device.unwrap().name
        });
        assert_eq!(chosen, wanted, "{policy:?}");
    }
    let full = [cuda(0, 1, 2), cuda(1, 1, 2)];
    let assigned =
        Assigner::new(AssignmentPolicy::FirstAvailable).assign(&one, &full, &all_libraries());
    assert_eq!(assigned.unwrap().device.unwrap().name, "cuda:0");
}

#[test]
fn plans_together_count_for_each_other() {
    let candidates = [cuda(0, 500, 0), cuda(1, 400, 0)];
    let large = |bytes| {
        Plan::new("p").step(PlanStep::new("a", MemoryType::Cuda, MemoryType::Cuda).bytes(bytes))
    };
    // The policy, the bytes of each plan, the devices or the message.
    type Wanted<'a> = Result<&'a [&'a str], &'a str>;
    let cases: &[(AssignmentPolicy, &[u64], Wanted<'_>)] = &[
        (
            AssignmentPolicy::LeastLoaded,
            &[1, 1, 1],
            Ok(&["cuda:0", "cuda:1", "cuda:0"]),
        ),
        (
            AssignmentPolicy::MostFree,
            &[300, 300],
            Ok(&["cuda:0", "cuda:1"]),
        ),
        (
            AssignmentPolicy::FirstAvailable,
            &[450, 1, 100],
            Ok(&["cuda:0", "cuda:0", "cuda:1"]),
        ),
        (
            AssignmentPolicy::MostFree,
            &[300, 300, 300],
            Err("step `a` needs 300 bytes, and the most that a device has is 200"),
        ),
    ];
    for (policy, bytes, wanted) in cases {
        let plans: Vec<_> = bytes.iter().map(|bytes| large(*bytes)).collect();
        let assigned = Assigner::new(*policy).assign_all(&plans, &candidates, &all_libraries());
        let names = assigned.map(|all| {
            let names = all.into_iter().map(|one| one.device.unwrap().name);
            names.collect::<Vec<_>>()
        });
        let wanted = wanted.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        let names = names.map_err(|error| error.to_string());
        assert_eq!(names, wanted.map_err(str::to_owned), "{policy:?} {bytes:?}");
    }
}

#[test]
fn plans_and_assignments_go_through_json() {
    let text = r#"{"name":"p","steps":[{"name":"a","input":"numpy","output":"cuda","bytes":5}]}"#;
    let read: Plan = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
    let assigned = Assigner::default().assign(&read, &[cuda(1, 9, 0)], &all_libraries());
    let assigned = assigned.unwrap();
    let written = serde_json::to_string(&assigned).unwrap();
    assert_eq!(
        written,
        r#"{"version":1,"plan":"p","device":{"name":"cuda:1","id":"cuda:GPU-07070707-0707-0707-0707-070707070701"},"steps":["a"]}"#
    );
    assert_eq!(
        serde_json::from_str::<Assignment>(&written).unwrap(),
        assigned
    );
    assert_eq!(assigned.device_of("a").unwrap().name, "cuda:1");
    assert_eq!(assigned.device_of("b"), None);
    let wrong = text.replace("cuda", "cudaa");
    let error = serde_json::from_str::<Plan>(&wrong)
        .unwrap_err()
        .to_string();
    let wanted = "step `a`: `cudaa` is no type of memory; known are numpy, cupy, torch, tensorflow, \
                  jax, pyclesperanto, host, pinned, cuda, hip, metal";
    assert!(error.starts_with(wanted), "{error}");
}

#[cfg(unix)]
#[test]
fn an_interpreter_is_asked_once_and_its_failure_is_told() {
    let none = PythonLibraries::of("/nowhere/python");
    let missing = none.look("numpy").unwrap_err();
    assert!(
        missing
            .0
            .starts_with("/nowhere/python could not be asked for it")
    );
    let fails = PythonLibraries::of("false");
    assert_eq!(
        fails.look("numpy"),
        Err(LibraryMissing("false does not find it".to_owned()))
    );
    let finds = PythonLibraries::of("true");
    assert_eq!((finds.look("numpy"), finds.look("numpy")), (Ok(()), Ok(())));
    let python = PythonLibraries::of("python3");
    let found = (python.look("json"), python.look("no_such_package"));
    match found {
        (Ok(()), Err(missing)) => assert_eq!(missing.0, "python3 does not find it"),
        (Err(missing), _) => println!("skipped: {missing}"),
        found => panic!("{found:?}"),
    }
}
