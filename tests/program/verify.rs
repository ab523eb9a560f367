//! `verify` where something is missing: no cargo, no Python, no pytest, no room, another one at work.
//!
//! What it finds in trees is in the folders of `cases`; here is what a folder cannot say.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    fs,
    path::PathBuf,
    process::{Command, Output, Stdio},
};

/// A tree with one module to move, and a cache of its own.
struct Scratch {
    directory: tempfile::TempDir,
}

const PYTHON: &[(&str, &str)] = &[
    ("p/__init__.py", ""),
    ("p/old.py", "def run():\n    return 1\n"),
    (
        "test_p.py",
        "import p.old\n\n\ndef test_passes():\n    assert p.old.run() == 1\n\n\ndef test_fails():\n    assert p.old.run() == 2\n\n\ndef test_breaks():\n    name = \"o\" + \"ld\"\n    assert __import__(\"p.\" + name).old.run() == 1\n",
    ),
    (
        "migrations/0001-x.toml",
        "schema = 1\n[[move]]\nfrom = \"p.old\"\nto = \"p.new\"\n[verify]\ntests = [\"test_p.py\"]\n",
    ),
];

const RUST: &[(&str, &str)] = &[
    (
        "Cargo.toml",
        "[package]\nname = \"p\"\nedition = \"2021\"\n",
    ),
    ("src/lib.rs", "pub mod old;\npub mod home;\n"),
    ("src/old.rs", "pub fn run() {}\n"),
    ("src/home.rs", ""),
    (
        "migrations/0001-x.toml",
        "schema = 1\n[[move]]\nfrom = \"p::old\"\nto = \"p::home::old\"\n",
    ),
];

impl Scratch {
    fn new(files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let scratch = Self { directory };
        for (path, text) in files {
            let path = scratch.tree().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        scratch
    }

    fn tree(&self) -> PathBuf {
        self.directory.path().join("tree")
    }

    fn cache(&self) -> PathBuf {
        self.directory.path().join("cache")
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_coalesce-under-test"));
        command
            .args(["verify", "--format", "json"])
            .current_dir(self.tree())
            .env("COALESCE_CACHE_DIR", self.cache())
            .env_remove("CARGO_TARGET_DIR")
            .stdin(Stdio::null());
        command
    }

    fn verify(&self, variables: &[(&str, &str)]) -> (Option<i32>, serde_json::Value) {
        let output = self.command().envs(variables.iter().copied()).output();
        answer(&output.unwrap())
    }
}

fn answer(output: &Output) -> (Option<i32>, serde_json::Value) {
    let talk = String::from_utf8_lossy(&output.stderr);
    assert!(!output.stdout.is_empty(), "{talk}");
    let value = serde_json::from_slice(&output.stdout).unwrap();
    (output.status.code(), value)
}

fn message(value: &serde_json::Value) -> &str {
    value
        .pointer("/error/message")
        .and_then(|message| message.as_str())
        .unwrap_or_default()
}

#[test]
fn what_is_missing_is_named() {
    for (files, variables, expected) in [
        (RUST, &[("PATH", "")][..], "`rustc` was not found"),
        (
            PYTHON,
            &[("COALESCE_PYTHON", "no-such-python")],
            "`no-such-python` was not found",
        ),
        (
            RUST,
            &[("COALESCE_CACHE_DIR", "off")],
            "there is no cache directory for the scratch copy",
        ),
    ] {
        let (code, said) = Scratch::new(files).verify(variables);
        assert_eq!((code, message(&said)), (Some(2), expected), "{said}");
    }
}

#[test]
fn a_tree_that_does_not_build_before_cannot_be_verified() {
    if Command::new("cargo").arg("--version").output().is_err() {
        println!("skipped: cargo is not installed");
        return;
    }
    for (path, text, expected) in [
        (
            "src/lib.rs",
            "pub mod old;\npub mod home;\nfn x() -> u8 { \"\" }\n",
            "mismatched types",
        ),
        (
            "Cargo.toml",
            "[package]\nname = \"p\"\nedition = \"2021\"\n[dependencies]\nq = { path = \"../q\" }\n",
            "q",
        ),
    ] {
        let scratch = Scratch::new(RUST);
        fs::write(scratch.tree().join(path), text).unwrap();
        let (code, said) = scratch.verify(&[]);
        assert_eq!(code, Some(2), "{said}");
        let message = message(&said);
        assert!(message.contains("fails before the change"), "{message}");
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn a_copy_that_cannot_be_written_is_named() {
    let scratch = Scratch::new(PYTHON);
    fs::write(scratch.cache(), "a file").unwrap();
    let (code, said) = scratch.verify(&[]);
    assert_eq!(code, Some(2));
    assert!(
        message(&said).starts_with("cannot write the scratch copy at "),
        "{said}"
    );
}

#[test]
fn tests_are_compared_one_by_one() {
    let python = std::env::var("COALESCE_TEST_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has_pytest = Command::new(&python).args(["-c", "import pytest"]).output();
    if !has_pytest.is_ok_and(|output| output.status.success()) {
        println!("skipped: {python} has no pytest");
        let (_, said) = Scratch::new(PYTHON).verify(&[("COALESCE_PYTHON", &python)]);
        assert!(
            message(&said).contains("pytest") || message(&said).contains("not found"),
            "{said}"
        );
        return;
    }
    let (code, said) = Scratch::new(PYTHON).verify(&[("COALESCE_PYTHON", &python)]);
    assert_eq!(code, Some(1), "{said}");
    let failures = said
        .get("failures")
        .and_then(|failures| failures.as_array())
        .unwrap();
    let subjects: Vec<_> = failures
        .iter()
        .filter_map(|failure| failure.get("subject")?.as_str())
        .collect();
    assert_eq!(subjects, ["test_p.py::test_breaks"]);
    assert_eq!(said.get("failing_before"), Some(&serde_json::json!(1)));
    let from = said
        .pointer("/failures/0/cause/from")
        .and_then(|from| from.as_str());
    assert_eq!(from, Some("p.old"), "{said}");
}

/// State, failures, and whether it is remembered, of each run.
fn runs(said: &serde_json::Value) -> Vec<String> {
    let runs = said.get("runs").and_then(|runs| runs.as_array());
    let run = |run: &serde_json::Value| {
        let of = |key: &str| run.get(key).cloned().unwrap_or_default();
        let remembered = match of("remembered") == serde_json::json!(true) {
            true => " remembered",
            false => "",
        };
        format!("{} {}{remembered}", of("state"), of("failed")).replace('"', "")
    };
    runs.unwrap().iter().map(run).collect()
}

#[test]
fn a_baseline_with_failures_is_remembered_until_the_tree_differs() {
    let files = [
        ("p/__init__.py", ""),
        ("p/old.py", "A = 1\n"),
        ("p/user.py", "from p.old import A\n"),
        ("p/broken.py", "import nowhere_at_all\n"),
        (
            "migrations/0001-x.toml",
            "schema = 1\n[[move]]\nfrom = \"p.old\"\nto = \"p.new\"\n",
        ),
    ];
    let scratch = Scratch::new(&files);
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: python3 is not installed");
        return;
    }
    for (before, change) in [
        ("before 1", None),
        ("before 1 remembered", Some("B = 2\n")),
        ("before 1", None),
    ] {
        let (code, said) = scratch.verify(&[]);
        assert_eq!(code, Some(0), "{said}");
        assert_eq!(runs(&said), [before, "after 1"], "{said}");
        if let Some(text) = change {
            fs::write(scratch.tree().join("p/other.py"), text).unwrap();
        }
    }
}

#[test]
fn a_second_check_of_rust_builds_nothing() {
    if Command::new("cargo").arg("--version").output().is_err() {
        println!("skipped: cargo is not installed");
        return;
    }
    let scratch = Scratch::new(RUST);
    fs::write(
        scratch.tree().join("src/lib.rs"),
        "pub mod old;\npub mod home;\n#[allow(deprecated)]\npub fn user() { old::run() }\n",
    )
    .unwrap();
    // What cargo has built is as old as it was.
    let built = || {
        let mut times = std::collections::BTreeMap::new();
        let copies = fs::read_dir(scratch.cache().join("verify")).unwrap();
        for copy in copies {
            let built = copy.unwrap().path().join("target/debug/deps");
            for entry in fs::read_dir(built).unwrap() {
                let entry = entry.unwrap();
                let time = entry.metadata().unwrap().modified().unwrap();
                times.insert(entry.path(), time);
            }
        }
        times
    };
    for shim in ["", "shim = true\n[shims]\nremove-in = \"9.0.0\"\n"] {
        let (from, to) = ("p::old", "p::home::old");
        let text = format!("schema = 1\n[[move]]\nfrom = \"{from}\"\nto = \"{to}\"\n{shim}");
        fs::write(scratch.tree().join("migrations/0001-x.toml"), text).unwrap();
        let first = scratch.verify(&[]);
        assert_eq!(first.0, Some(0), "{}", first.1);
        let before = built();
        assert!(!before.is_empty());
        let (code, said) = scratch.verify(&[]);
        assert_eq!(code, Some(0), "{said}");
        assert_eq!(built(), before, "{said}");
        assert!(runs(&said).contains(&"before 0 remembered".to_owned()));
    }
}

#[cfg(unix)]
#[test]
fn what_runs_ends_when_the_program_is_ended() {
    let scratch = Scratch::new(PYTHON);
    let mark = scratch.directory.path().join("running");
    let manifest = format!(
        "schema = 1\n[[move]]\nfrom = \"p.old\"\nto = \"p.new\"\n[verify]\ncommands = ['''echo $$ > {0}.new; mv {0}.new {0}; sleep 1000''']\n",
        mark.display()
    );
    fs::write(scratch.tree().join("migrations/0001-x.toml"), manifest).unwrap();
    let mut child = scratch.command().stdout(Stdio::null()).spawn().unwrap();
    let pause = || std::thread::sleep(std::time::Duration::from_millis(10));
    let until = |done: &dyn Fn() -> bool| {
        (0..3000).any(|_| {
            done() || {
                pause();
                false
            }
        })
    };
    assert!(until(&|| mark.exists()), "the command starts");
    let running = fs::read_to_string(&mark).unwrap();
    let signal = |name: &str, process: &str| {
        let mut kill = Command::new("kill");
        kill.args([name, process.trim()]).stderr(Stdio::null());
        kill.status().unwrap().success()
    };
    assert!(signal("-TERM", &child.id().to_string()));
    assert!(!child.wait().unwrap().success());
    // What has ended and was not waited for by whoever adopted it still has a number.
    let ended = || {
        let status = fs::read_to_string(format!("/proc/{}/stat", running.trim()));
        status.map_or_else(
            |_| !signal("-0", &running),
            |status| status.contains(") Z "),
        )
    };
    assert!(until(&ended), "{running} is still there");
}
