//! The examples, the README's program among them, on simulated machines and without a GPU.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may end")]

use std::process::Command;

use gpu_sim::case::{Case, program_path};

const GIB: &str = "1073741824";

/// Whether this test was built for CUDA. The examples were then as well; else they may have been,
/// where cargo had them from another time.
const CUDA: bool = cfg!(feature = "cuda-any-bindings");

/// An example, and what it says with so many devices, a line or its part.
type Example = (&'static str, fn(usize) -> &'static str);

const EXAMPLES: [Example; 8] = [
    ("01-one-device", |devices| match devices {
        0 => "cpu: there is no GPU: cuda: ",
        1 => "cuda:0: the only device of cuda\nsum 6\n",
        2 => "cuda:0: the most memory of 2 devices of cuda\nsum 6\n",
        _ => "cuda:0: the most memory of 8 devices of cuda\nsum 6\n",
    }),
    ("02-many-streams", |devices| match devices {
        0 => "cpu: 7 on the second stream",
        _ => "cuda:0: 7 on the second stream",
    }),
    ("03-a-graph", |devices| match devices {
        0 => "not captured: the device has no graphs",
        _ => "cuda:0: 7",
    }),
    ("04-several-processes", |devices| match devices {
        0 => "2: cpu in ",
        // Each worker sees its own device as the first.
        _ => "3: cuda:0 in ",
    }),
    ("05-by-hand", |devices| match devices {
        0 => "cpu, slot ",
        _ => "cuda:0, slot ",
    }),
    ("06-profile", |_| "read back"),
    ("07-workers", |_| "1\n4\n9\n16\n25\n"),
    ("08-strategy", |devices| match devices {
        0 => "cpu worker 1: cpu",
        1 => "single_gpu worker 0: cuda:0 (as cuda:0)",
        _ => "ddp_nccl worker 1: cuda:1 (as cuda:0)",
    }),
];

#[test]
fn they_run_anywhere() {
    for devices in [0_usize, 1, 2, 8] {
        let case = Case::new("they_run_anywhere");
        let case = if devices == 0 {
            ["sim_cuda", "sim_management", "sim_hip", "sim_collectives"]
                .into_iter()
                .fold(case, Case::without_library)
        } else {
            let bytes = vec![GIB; devices].join(",");
            case.variable("GPU_SIM_DEVICES", &bytes)
                .without_library("sim_hip")
        };
        case.run(|| {
            for (name, says) in EXAMPLES {
                let answers = [says(devices), says(0)];
                run(name, if CUDA { &answers[..1] } else { &answers });
            }
        });
    }
}

fn run(name: &str, answers: &[&str]) {
    let scratch = tempfile::tempdir().unwrap();
    let output = Command::new(program_path("core-gpu", name).unwrap())
        .env("COALESCE_GPU_SLOTS_DIRECTORY", scratch.path().join("slots"))
        .env("TMPDIR", scratch.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{name}: {output:?}");
    let right = answers.iter().any(|answer| said.contains(answer));
    assert!(right, "{name}: {said}");
}
