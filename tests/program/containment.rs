//! What the contained child keeps programs from, asked of it directly.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(target_os = "linux")]

use std::{
    fs,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

struct Ground {
    directory: tempfile::TempDir,
}

impl Ground {
    fn new() -> Self {
        let ground = Self {
            directory: tempfile::tempdir().unwrap(),
        };
        for name in ["tree", "scratch"] {
            fs::create_dir(ground.at(name)).unwrap();
        }
        fs::write(ground.at("tree/file"), "as it was").unwrap();
        ground
    }

    fn at(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    fn start(&self, bounds: serde_json::Value, script: &str) -> Child {
        let mut all = serde_json::json!({
            "tree": self.at("tree"),
            "scratch": self.at("scratch"),
            "report": self.at("scratch/report"),
            "memory_bytes": 1_u64 << 40,
            "disk_bytes": 1_u64 << 40,
            "file_bytes": 1_u64 << 40,
        });
        for (name, value) in bounds.as_object().unwrap() {
            all[name] = value.clone();
        }
        Command::new(env!("CARGO_BIN_EXE_coalesce-under-test"))
            .args(["__contained", &all.to_string(), "sh", "-c", script])
            .current_dir(self.at("scratch"))
            .env("TREE", self.at("tree"))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    /// Runs a script to its end; what was reported.
    fn run(&self, bounds: serde_json::Value, script: &str) -> serde_json::Value {
        let mut child = self.start(bounds, script);
        let input = child.stdin.take();
        let begun = Instant::now();
        let status = child.wait().unwrap();
        drop(input);
        assert!(begun.elapsed() < Duration::from_secs(60), "{script}");
        assert!(status.success(), "{script}");
        self.report()
    }

    fn report(&self) -> serde_json::Value {
        let text = fs::read_to_string(self.at("scratch/report")).unwrap();
        serde_json::from_str(&text).unwrap()
    }
}

fn none() -> serde_json::Value {
    serde_json::json!({})
}

fn is_running(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

#[test]
fn the_tree_itself_cannot_be_written_to() {
    for script in [
        "echo x > \"$TREE/new\"",
        "echo x >> \"$TREE/file\"",
        ": > \"$TREE/file\"",
        "rm \"$TREE/file\"",
        "mv \"$TREE/file\" .",
        "mkdir \"$TREE/directory\"",
        "ln -s x \"$TREE/link\"",
        "cd \"$TREE\" && echo x > new",
        "setsid sh -c 'echo x > \"$TREE/new\"'",
    ] {
        let ground = Ground::new();
        let report = ground.run(none(), script);
        if let Some(why) = report["writable"].as_str() {
            eprintln!("skipped: {why}");
            return;
        }
        assert_ne!(report["code"], 0, "{script}");
        let entries: Vec<_> = fs::read_dir(ground.at("tree")).unwrap().collect();
        assert_eq!(entries.len(), 1, "{script}");
        let text = fs::read_to_string(ground.at("tree/file")).unwrap();
        assert_eq!(text, "as it was", "{script}");
    }
}

#[test]
fn what_a_build_needs_it_may_do() {
    let ground = Ground::new();
    let script = "mkdir a b && echo x > a/f && mv a/f b/g && ln -s b/g l && cat \"$TREE/file\" \
                  > /dev/null && rm -r b && echo x > /dev/null && exit 7";
    let report = ground.run(none(), script);
    assert_eq!(report["code"], 7, "{report}");
}

#[test]
fn what_detaches_itself_ends_too() {
    for script in [
        "setsid sh -c 'echo $$ > pid; exec sleep 1000' & while [ ! -s pid ]; do sleep 0.01; done",
        "(setsid sh -c 'echo $$ > pid; exec sleep 1000 < /dev/null > /dev/null 2>&1' &) ; \
         while [ ! -s pid ]; do sleep 0.01; done",
        "sh -c 'trap \"\" TERM HUP INT; echo $$ > pid; while :; do sleep 1; done' & \
         while [ ! -s pid ]; do sleep 0.01; done",
    ] {
        let ground = Ground::new();
        let report = ground.run(none(), script);
        assert_eq!(report["code"], 0, "{report}");
        assert!(report["detached"].as_u64() > Some(0), "{report}");
        let pid = fs::read_to_string(ground.at("scratch/pid")).unwrap();
        assert!(!is_running(&pid), "{script}");
    }
}

/// What forks faster than anybody can look is ended with its group.
#[test]
fn a_control_group_is_ended_whole_and_goes_away() {
    let ground = Ground::new();
    let script = "cat /proc/self/cgroup > group; \
                  (setsid sh -c 'while :; do sh -c \"sleep 0.01\" & sleep 0.001; done' &) ; \
                  sleep 0.3";
    let report = ground.run(none(), script);
    if report["grouped"] != true {
        eprintln!("skipped: no control group can be made here");
        return;
    }
    let groups = fs::read_to_string(ground.at("scratch/group")).unwrap();
    let own = groups.lines().find_map(|line| line.strip_prefix("0::"));
    let own = own.unwrap();
    assert!(own.contains("/coalesce-"), "{groups}");
    let name = own.rsplit('/').next().unwrap();
    let left = Command::new("find")
        .args(["/sys/fs/cgroup", "-maxdepth", "4", "-name", name])
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8_lossy(&left.stdout),
        "",
        "the group is gone"
    );
}

#[test]
fn everything_ends_when_nobody_waits_for_it_any_more() {
    let ground = Ground::new();
    let mut child = ground.start(
        none(),
        "setsid sh -c 'echo $$ > pid; exec sleep 1000' & exec sleep 1000",
    );
    let begun = Instant::now();
    while !fs::read_to_string(ground.at("scratch/pid")).is_ok_and(|pid| pid.ends_with('\n')) {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(child.stdin.take());
    child.wait().unwrap();
    let pid = fs::read_to_string(ground.at("scratch/pid")).unwrap();
    assert!(!is_running(&pid));
    assert!(begun.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_contained_program_keeps_to_its_bounds() {
    let ground = Ground::new();
    let bounds = serde_json::json!({"file_bytes": 1 << 20});
    let report = ground.run(bounds, "head -c 3000000 /dev/zero > big");
    assert_ne!(report["code"], 0, "{report}");
    assert!(fs::metadata(ground.at("scratch/big")).unwrap().len() <= 1 << 20);
    let bounds = serde_json::json!({"disk_bytes": 8 << 20});
    let report = ground.run(bounds, "head -c 400000000 /dev/zero > big; sync; sleep 50");
    assert!(
        report["over"]
            .as_str()
            .is_some_and(|over| over.contains("disk")),
        "{report}"
    );
    fs::remove_file(ground.at("scratch/big")).unwrap();
    let bounds = serde_json::json!({"memory_bytes": 64 << 20});
    // A shell holds the whole value of a variable.
    let script = "x=$(head -c 100000000 /dev/zero | tr '\\0' x); sleep 50";
    let report = ground.run(bounds, script);
    assert!(
        report["over"]
            .as_str()
            .is_some_and(|over| over.contains("memory")),
        "{report}"
    );
}

#[test]
fn a_program_that_is_missing_is_told_from_one_that_fails() {
    let ground = Ground::new();
    let report = ground.run(none(), "exit 3");
    assert_eq!(
        (&report["code"], &report["failed"]),
        (&3.into(), &serde_json::Value::Null)
    );
    let mut child = ground.start(none(), "exec kill -9 $$");
    child.wait().unwrap();
    assert_eq!(ground.report()["code"], serde_json::Value::Null);
}
