//! `coalesce devices` on simulated machines: the program itself, with the simulated libraries where
//! it looks for a driver.
#![cfg(all(target_os = "linux", feature = "devices"))]
#![expect(clippy::unwrap_used, reason = "a test may end")]

use std::process::{Command, Output};

use gpu_sim::case::Case;
use serde_json::Value;

/// Runs the program, with slots in a directory of the test's own.
fn coalesce(slots: &tempfile::TempDir, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_coalesce"))
        .arg("devices")
        .args(arguments)
        .env("COALESCE_GPU_SLOTS_DIRECTORY", slots.path())
        .output()
        .unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let slots = tempfile::tempdir().unwrap();
    let output = coalesce(&slots, &[&["--format", "json"], arguments].concat());
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn at<'v>(value: &'v Value, pointer: &str) -> &'v Value {
    value.pointer(pointer).unwrap_or(&Value::Null)
}

#[test]
fn platforms_devices_and_slots_are_shown() {
    Case::new("platforms_devices_and_slots_are_shown")
        .variable("GPU_SIM_DEVICES", "1073741824,2147483648")
        .variable("GPU_SIM_USED", "1048576")
        .variable("GPU_SIM_TEMPERATURE", "41")
        .variable("GPU_SIM_PROCESSES", "42:4096")
        .run(|| {
            for arguments in [&[][..], &["--isolated"]] {
                let found = json(arguments);
                assert_eq!(at(&found, "/command"), "devices");
                let names: Vec<_> = (0..4)
                    .map(|place| at(&found, &format!("/platforms/{place}/name")).clone())
                    .collect();
                assert_eq!(names, ["cuda", "rocm", "metal", "cpu"]);
                assert_eq!(at(&found, "/platforms/0/devices"), 2);
                assert_eq!(at(&found, "/platforms/0/version"), 12_080);
                assert_eq!(at(&found, "/platforms/2/unavailable/code"), "other-system");
                assert_eq!(at(&found, "/devices/1/name"), "cuda:1");
                assert_eq!(at(&found, "/devices/1/total_bytes"), 2_147_483_648_u64);
                assert_eq!(at(&found, "/devices/1/slots/capacity"), &Value::Null);
                // What the management library tells, by identity: its order is another one.
                assert_eq!(at(&found, "/devices/1/free_bytes"), 2_146_435_072_u64);
                assert_eq!(at(&found, "/devices/1/health/temperature_celsius"), 41);
                assert_eq!(at(&found, "/devices/1/health/sick/0"), &Value::Null);
                assert_eq!(at(&found, "/devices/0/processes/0/process"), 42);
                assert_eq!(at(&found, "/devices/0/processes/0/used_bytes"), 4096);
                assert_eq!(at(&found, "/devices/2/health"), &Value::Null);
                assert_eq!(at(&found, "/devices/2/name"), "cpu");
                assert_eq!(at(&found, "/recommended"), "cuda:1");
            }
        });
}

#[test]
fn the_page_says_the_same() {
    Case::new("the_page_says_the_same")
        .variable("GPU_SIM_DEVICES", "1073741824")
        .without_library("sim_hip")
        .run(|| {
            let slots = tempfile::tempdir().unwrap();
            let output = coalesce(&slots, &[]);
            let page = String::from_utf8(output.stdout).unwrap();
            let lines: Vec<_> = page.lines().map(str::trim_end).collect();
            assert_eq!(lines[0], "there   cuda    1 device, version 12080");
            assert!(lines[1].starts_with("absent  rocm    no library: tried libamdhip64.so.7"));
            assert_eq!(lines[2], "absent  metal   Metal is not on this system");
            assert_eq!(lines[3], "there   cpu     1 device");
            assert!(lines[6].starts_with("cuda:0  1.0 GiB"), "{page}");
            assert!(lines[6].contains("unused"), "{page}");
            assert!(page.contains("take cuda:0 where nothing speaks for another"));
        });
}

#[test]
fn who_holds_a_slot_is_shown() {
    use std::sync::Arc;

    use core_gpu::{
        platform::Deadline,
        slots::{FileSlots, Request, SlotGuard, SlotStore},
    };
    Case::new("who_holds_a_slot_is_shown")
        .variable("GPU_SIM_DEVICES", "1073741824")
        .run(|| {
            let slots = tempfile::tempdir().unwrap();
            let look = || -> Value {
                let output = coalesce(&slots, &["--format", "json"]);
                serde_json::from_slice(&output.stdout).unwrap()
            };
            let id = at(&look(), "/devices/0/id").as_str().unwrap().to_owned();
            let store: Arc<dyn SlotStore> = Arc::new(FileSlots::new(slots.path()));
            let request = Request::on(id.parse().unwrap(), 2).with_bytes(3 << 20);
            let mut slot = SlotGuard::acquire(&store, &request, Deadline::now()).unwrap();
            slot.note_use(std::time::Duration::from_millis(7)).unwrap();
            let found = look();
            assert_eq!(at(&found, "/devices/0/slots/held/0"), slot.slot());
            let holder = at(&found, "/devices/0/slots/holders/0");
            assert_eq!(at(holder, "/slot"), slot.slot());
            assert_eq!(at(holder, "/claimed_bytes"), 3 << 20);
            assert_eq!(at(holder, "/used_milliseconds"), 7);
            assert!(at(holder, "/held_seconds").is_u64());
            assert_eq!(at(&found, "/devices/0/slots/claimed_bytes"), 3 << 20);
            let process = at(holder, "/process").as_u64();
            let shown = process.map_or_else(|| "unknown".to_owned(), |number| number.to_string());
            assert!(process.is_none_or(|number| number == u64::from(std::process::id())));
            let page = coalesce(&slots, &[]);
            let page = String::from_utf8(page.stdout).unwrap();
            let line = format!("cuda:0: slot {} is held by process {shown}", slot.slot());
            assert!(page.contains(&line), "{page}");
            let claims = ", and claims 3.0 MiB";
            assert!(
                page.contains(" s, used for ") && page.contains(claims),
                "{page}"
            );
        });
}

#[test]
fn a_hang_is_a_reason_in_either_way() {
    for arguments in ["", "--isolated"] {
        Case::new("a_hang_is_a_reason_in_either_way")
            .variable("GPU_SIM_FAULTS", "cuInit:1:hang")
            .variable("ARGUMENTS", arguments)
            .run(|| {
                let more = std::env::var("ARGUMENTS").unwrap();
                let more: Vec<_> = more.split_terminator(' ').collect();
                let found = json(&[&["--deadline", "0.3"], more.as_slice()].concat());
                assert_eq!(at(&found, "/platforms/0/unavailable/code"), "hung");
                assert_eq!(at(&found, "/recommended"), "cpu");
            });
    }
}

#[test]
fn a_management_library_that_hangs_holds_nothing_up() {
    Case::new("a_management_library_that_hangs_holds_nothing_up")
        .variable("GPU_SIM_FAULTS", "nvmlInit:1:hang,nvmlInit:2:hang")
        .run(|| {
            let found = json(&["--deadline", "0.3"]);
            assert_eq!(at(&found, "/devices/0/name"), "cuda:0");
            assert_eq!(at(&found, "/devices/0/free_bytes"), &Value::Null);
            assert_eq!(at(&found, "/devices/0/health"), &Value::Null);
        });
}

#[test]
fn a_wrong_environment_is_told() {
    let slots = tempfile::tempdir().unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_coalesce"));
    program.arg("devices").env("GPU_BACKEND", "tpu");
    let output = program
        .env("COALESCE_GPU_SLOTS_DIRECTORY", slots.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let talk = String::from_utf8(output.stderr).unwrap();
    assert!(talk.contains("GPU_BACKEND cannot be `tpu`"), "{talk}");
}

#[test]
fn watching_shows_page_after_page() {
    use std::{
        io::{BufRead as _, BufReader},
        process::Stdio,
    };
    let mut child = Command::new(env!("CARGO_BIN_EXE_coalesce"))
        .args(["devices", "--watch", "0.05", "--platform", "cpu"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let pages = output
        .lines()
        .map(Result::unwrap)
        .filter(|line| line.starts_with("there   cpu"));
    assert_eq!(pages.take(3).count(), 3);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// One member of etcd, gone with this.
struct Member {
    url: String,
    process: std::process::Child,
    _folder: tempfile::TempDir,
}

impl Member {
    /// None where etcd is not installed, which is told.
    fn start() -> Option<Member> {
        let address = |_| std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let held = [0, 1].map(address);
        let [url, peer] = [0, 1].map(|at| format!("http://{}", held[at].local_addr().unwrap()));
        drop(held);
        let folder = tempfile::tempdir().unwrap();
        let started = Command::new("etcd")
            .arg("--data-dir")
            .arg(folder.path())
            .args([
                "--listen-client-urls",
                &url,
                "--advertise-client-urls",
                &url,
            ])
            .args([
                "--listen-peer-urls",
                &peer,
                "--initial-advertise-peer-urls",
                &peer,
            ])
            .args(["--initial-cluster", &format!("default={peer}")])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn();
        let Ok(process) = started else {
            println!("skipped: no etcd");
            return None;
        };
        Some(Member {
            url,
            process,
            _folder: folder,
        })
    }

    /// A machine that announces itself, and looks again after so many seconds.
    fn announce(&self, name: &str, seconds: &str) -> std::process::Child {
        let mut announces = Command::new(env!("CARGO_BIN_EXE_coalesce"));
        announces
            .args(["devices", "--cluster", &self.url])
            .args(["--watch", seconds, "--announce", name])
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap()
    }

    /// Waits until a machine of that name is in the list, or is not.
    fn wait_for(&self, name: &str, is_shown: bool) {
        let begin = std::time::Instant::now();
        loop {
            let page = self.shown(&["--format", "json"]);
            let page: Value = serde_json::from_slice(&page.stdout).unwrap();
            let nodes = at(&page, "/cluster/nodes").as_array().unwrap();
            if nodes.iter().any(|node| at(node, "/name") == name) == is_shown {
                return;
            }
            let waited = begin.elapsed().as_secs();
            assert!(waited < 120, "{name} is shown: {}", !is_shown);
            std::thread::sleep(std::time::Duration::from_millis(200));
        }
    }

    /// The cluster, once it answers.
    fn shown(&self, arguments: &[&str]) -> Output {
        let slots = tempfile::tempdir().unwrap();
        let arguments = [&["--cluster", &self.url], arguments].concat();
        let begin = std::time::Instant::now();
        loop {
            let output = coalesce(&slots, &arguments);
            if output.status.success() || begin.elapsed().as_secs() > 60 {
                return output;
            }
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn machines_of_a_cluster_are_shown() {
    let run = || {
        let Some(member) = Member::start() else {
            return;
        };
        let found: Value =
            serde_json::from_slice(&member.shown(&["--format", "json"]).stdout).unwrap();
        assert_eq!(at(&found, "/cluster/nodes"), &serde_json::json!([]));
        assert_eq!(at(&found, "/devices"), &serde_json::json!([]));
        let mut announces = member.announce("a machine", "1");
        let mut store = core_gpu_etcd::EtcdOptions::new([&member.url]);
        store.node = "another".to_owned();
        let store = core_gpu_etcd::EtcdSlots::new(store).unwrap();
        let shown = || {
            let output = member.shown(&["--format", "json"]);
            serde_json::from_slice::<Value>(&output.stdout).unwrap()
        };
        let begin = std::time::Instant::now();
        while at(&shown(), "/cluster/nodes/0") == &Value::Null && begin.elapsed().as_secs() < 60 {}
        let found = shown();
        let device = at(&found, "/cluster/nodes/0/devices/0");
        assert_eq!(at(&found, "/cluster/nodes/0/name"), "a machine");
        assert_eq!(at(device, "/name"), "cuda:0");
        assert_eq!(at(device, "/total_bytes"), 1_073_741_824_u64);
        assert_eq!(at(device, "/capacity"), &Value::Null);
        // A slot of a device that no machine announces.
        let id = core_gpu::driver::DeviceId {
            platform: core_gpu::driver::PlatformKind::Simulated,
            uuid: [7; 16],
        };
        let request = core_gpu::slots::Request::on(id, 3).with_bytes(1 << 30);
        let wait = core_gpu::platform::Deadline::after(std::time::Duration::from_secs(30));
        let claim = core_gpu::slots::SlotStore::claim(&store, &request, wait).unwrap();
        store.close(&id, "its fan stands").unwrap();
        let page = String::from_utf8(member.shown(&[]).stdout).unwrap();
        for part in [
            "a machine",
            "(nobody)",
            "1/3",
            "closed",
            "held by another, process",
            "its fan stands",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        drop(claim);
        announces.kill().unwrap();
        announces.wait().unwrap();
    };
    Case::new("machines_of_a_cluster_are_shown")
        .variable("GPU_SIM_DEVICES", "1073741824")
        .run(run);
    let nobody = coalesce(
        &tempfile::tempdir().unwrap(),
        &["--cluster", "http://127.0.0.1:1"],
    );
    assert_eq!(nobody.status.code(), Some(2), "{nobody:?}");
}

/// Who is ended withdraws; who is killed is gone with a lease that has nothing to do with how often it looks.
#[test]
fn machines_that_stop_announcing_are_gone() {
    let run = || {
        let Some(member) = Member::start() else {
            return;
        };
        drop(member.shown(&[]));
        let mut ended = member.announce("a machine", "3600");
        member.wait_for("a machine", true);
        let told = Command::new("kill")
            .args(["-TERM", &ended.id().to_string()])
            .status();
        assert!(told.unwrap().success());
        let status = ended.wait().unwrap();
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        assert_eq!(signal, Some(15));
        let page = member.shown(&["--format", "json"]);
        let page: Value = serde_json::from_slice(&page.stdout).unwrap();
        assert_eq!(at(&page, "/cluster/nodes"), &serde_json::json!([]));
        let mut killed = member.announce("another machine", "3600");
        member.wait_for("another machine", true);
        killed.kill().unwrap();
        killed.wait().unwrap();
        member.wait_for("another machine", false);
    };
    Case::new("machines_that_stop_announcing_are_gone")
        .variable("GPU_SIM_DEVICES", "1073741824")
        .run(run);
}
