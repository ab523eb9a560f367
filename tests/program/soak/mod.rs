//! What chance finds: kills and edits at moments that nobody chose, and inputs that nobody wrote.
//!
//! Each soaks for two seconds, for as long as `COALESCE_SOAK_SECONDS` says or as often as
//! `COALESCE_SOAK_ROUNDS` says (`cargo xtask soak`). Every round has a number, which a failure names
//! and `COALESCE_SOAK_ROUND` starts from; what was found once is a case of its own.
//! `COALESCE_SOAK_PROGRAM` names another build of the program than the one that was built for the test.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[cfg(target_os = "linux")]
mod calls;
mod entries;
mod facts;
#[cfg(unix)]
mod large;
#[cfg(unix)]
mod many;
#[cfg(unix)]
mod scaling;
mod texts;
#[cfg(unix)]
mod trees;

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{Read, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use texts::{WORDS, mutated};

use super::interrupted::Scratch;

/// The program that is tried.
pub(super) fn program() -> PathBuf {
    let named = std::env::var_os("COALESCE_SOAK_PROGRAM").map(PathBuf::from);
    named.unwrap_or_else(|| env!("CARGO_BIN_EXE_coalesce-under-test").into())
}

/// A number that the surroundings give.
fn told<T: std::str::FromStr>(variable: &str) -> Option<T> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Reads all of a pipe on a thread of its own.
pub(super) fn drain(mut pipe: impl Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        bytes
    })
}

/// Numbers that follow from a round's.
pub(super) struct Luck(u64);

impl Luck {
    pub(super) fn of(round: u64) -> Self {
        Self(round.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % most.max(1) as u64).unwrap()
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        let at = self.below(from.len());
        &from[at]
    }
}

/// A text in which `#` stands for a number, and `##` for a `#`.
fn numbered(text: &str, number: usize) -> String {
    let text = text.replace("##", "\0").replace('#', &number.to_string());
    text.replace('\0', "#")
}

/// Where trees are kept on which something failed.
fn kept() -> Option<PathBuf> {
    let directory = PathBuf::from(std::env::var_os("COALESCE_SOAK_KEEP")?);
    fs::create_dir_all(&directory).unwrap();
    Some(directory)
}

/// Rounds until there were as many as asked for, or until the time is up.
fn soak(mut round: impl FnMut(u64)) {
    let rounds: Option<u64> = told("COALESCE_SOAK_ROUNDS");
    let seconds = told("COALESCE_SOAK_SECONDS").unwrap_or(2.0);
    let first: u64 = told("COALESCE_SOAK_ROUND").unwrap_or(1);
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let kept = kept();
    let mut count = 0;
    for number in first.. {
        // Where the process aborts, this says at which round.
        if let Some(directory) = &kept {
            fs::write(directory.join("round"), number.to_string()).unwrap();
        }
        round(number);
        count += 1;
        let enough = match rounds {
            Some(rounds) => count >= rounds,
            None => Instant::now() >= end,
        };
        if enough {
            break;
        }
    }
    println!("{count} rounds from {first}");
}

#[cfg(unix)]
#[test]
fn soak_kills() {
    let calm = Scratch::new();
    let before = calm.files();
    let begun = Instant::now();
    calm.run("migrate m.toml", 0);
    let typical = begun.elapsed();
    let after = calm.files();
    soak(|round| {
        let mut luck = Luck::of(round);
        let scratch = Scratch::new();
        for verb in [
            "migrate m.toml",
            "recover --undo",
            "recover --finish",
            "rollback --yes",
        ] {
            let mut child = scratch
                .command(verb)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let micros = u64::try_from(typical.as_micros()).unwrap() * 5 / 4;
            let wait = luck.below(usize::try_from(micros).unwrap());
            std::thread::sleep(Duration::from_micros(wait as u64));
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let way = *luck.pick(&["--undo", "--finish"]);
        scratch.run(&format!("recover {way}"), 0);
        let found = scratch.files();
        assert!(
            found == before || found == after,
            "round {round}: neither before nor after"
        );
        scratch.run("rollback --yes", 0);
        assert_eq!(scratch.files(), before, "round {round}");
    });
}

/// Whoever works in the tree meanwhile finds what they saved.
#[test]
fn soak_edits() {
    soak(|round| {
        let mut luck = Luck::of(round);
        let scratch = Scratch::new();
        let undoes = luck.below(2) == 1;
        if undoes {
            scratch.run("migrate m.toml", 0);
        }
        let tree = scratch.tree();
        let stop = AtomicBool::new(false);
        let verb = if undoes {
            "rollback --yes"
        } else {
            "migrate m.toml"
        };
        let (output, written) = std::thread::scope(|threads| {
            let writer = threads.spawn(|| {
                let mut saved = BTreeMap::new();
                for number in 0.. {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    std::thread::sleep(Duration::from_micros(luck.below(3_000) as u64));
                    let path = tree.join(format!("p/user_{:02}.py", luck.below(24)));
                    let mine = format!("# mine {round} {number}\n");
                    if save(&path, &mine, luck.below(2) == 0) {
                        saved.insert(path, mine);
                    }
                }
                saved
            });
            let output = scratch.command(verb).output().unwrap();
            stop.store(true, Ordering::Relaxed);
            (output, writer.join().unwrap())
        });
        let said = String::from_utf8_lossy(&output.stderr);
        // Where somebody saves faster than files are put back, that is said.
        if output.status.code() == Some(2) && said.contains("run `coalesce recover") {
            scratch.run("recover --undo", 0);
        }
        for (path, mine) in &written {
            let text = fs::read_to_string(path).unwrap();
            assert!(
                text.contains(mine.as_str()),
                "round {round}, {verb}: {}: {said}",
                path.display()
            );
        }
        assert!(
            output.status.code().is_some_and(|code| code < 3),
            "round {round}"
        );
    });
}

/// Saves a text, at the end of a file or in its place.
fn save(path: &Path, text: &str, append: bool) -> bool {
    if append {
        let file = File::options().append(true).open(path);
        return file.is_ok_and(|mut file| file.write_all(text.as_bytes()).is_ok());
    }
    let old = fs::read_to_string(path).unwrap_or_default();
    let new = path.with_extension("saved");
    fs::write(&new, old + text).is_ok() && fs::rename(new, path).is_ok()
}

/// Every command ends by itself, in time, with a code of ours, and only those that may change a tree
/// do; what they changed is undone byte for byte.
fn survives(scratch: &Scratch, round: u64, calls: &[&str]) {
    for call in calls {
        let before = scratch.files();
        let begun = Instant::now();
        let output = scratch.command(call).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let code = output.status.code();
        assert!(
            matches!(code, Some(0..=2)),
            "round {round}: {call}: {code:?} {said}"
        );
        assert!(!said.contains("panicked"), "round {round}: {call}: {said}");
        assert!(
            !said.contains("internal error"),
            "round {round}: {call}: {said}"
        );
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "round {round}: {call}"
        );
        if !call.starts_with("migrate") || code != Some(0) {
            assert_eq!(scratch.files(), before, "round {round}: {call} {code:?}");
        } else {
            scratch.run("rollback --yes", 0);
            assert_eq!(scratch.files(), before, "round {round}: {call}");
        }
    }
}

#[test]
fn soak_manifests() {
    soak(|round| {
        let mut luck = Luck::of(round);
        let scratch = Scratch::new();
        let file = scratch.tree().join("m.toml");
        let text = fs::read(&file).unwrap();
        fs::write(&file, mutated(&mut luck, &text, &WORDS)).unwrap();
        survives(&scratch, round, &["plan m.toml", "migrate m.toml"]);
    });
}

#[test]
fn soak_sources() {
    soak(|round| {
        let mut luck = Luck::of(round);
        let scratch = Scratch::new();
        let rust = "pub mod a;\nuse crate::a::{b, c as d};\n/// See [`a::b`].\npub fn f() -> u8 { let x = if b() { 1 } else { d!(a::b) }; x }\n";
        fs::write(
            scratch.tree().join("Cargo.toml"),
            "[package]\nname = \"r\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        )
        .unwrap();
        fs::create_dir_all(scratch.tree().join("src")).unwrap();
        fs::write(scratch.tree().join("src/lib.rs"), rust).unwrap();
        fs::write(
            scratch.tree().join("src/a.rs"),
            "pub fn b() -> bool { true }\n",
        )
        .unwrap();
        for name in [
            "p/kernels.py",
            "p/user_01.py",
            "src/lib.rs",
            "src/a.rs",
            "pyproject.toml",
            "Cargo.toml",
        ] {
            if luck.below(2) == 0 {
                let file = scratch.tree().join(name);
                let text = fs::read(&file).unwrap();
                fs::write(&file, mutated(&mut luck, &text, &WORDS)).unwrap();
            }
        }
        survives(
            &scratch,
            round,
            &["audit", "plan m.toml", "refs p.kernels", "migrate m.toml"],
        );
    });
}

#[test]
fn soak_journals() {
    soak(|round| {
        let mut luck = Luck::of(round);
        let scratch = Scratch::new();
        let before = scratch.files();
        scratch.run("migrate m.toml", 0);
        let file = scratch.journal();
        let text = fs::read(&file).unwrap();
        let whole = scratch.files();
        fs::write(&file, mutated(&mut luck, &text, &WORDS)).unwrap();
        if luck.below(2) == 0 {
            fs::rename(&file, file.with_extension("started")).unwrap();
        }
        for call in [
            "status",
            "rollback --yes",
            "recover --undo",
            "recover --finish",
        ] {
            let output = scratch.command(call).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(
                matches!(output.status.code(), Some(0..=2)),
                "round {round}: {call}: {said}"
            );
            assert!(!said.contains("panicked"), "round {round}: {call}: {said}");
            // A change that the record and its hash survive is none.
            let found = scratch.files();
            assert!(found == whole || found == before, "round {round}: {call}");
        }
    });
}

#[test]
fn soak_plans() {
    let calm = Scratch::new();
    calm.run("plan m.toml --out plan.json", 0);
    let text = fs::read(calm.tree().join("plan.json")).unwrap();
    calm.run("migrate --plan plan.json", 0);
    let after = calm.files();
    soak(|round| {
        let mut luck = Luck::of(round);
        let scratch = Scratch::new();
        let plan = mutated(&mut luck, &text, &WORDS);
        fs::write(scratch.tree().join("plan.json"), plan).unwrap();
        let before = scratch.files();
        let output = scratch
            .command("migrate --plan plan.json")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let mut found = scratch.files();
        let mut expected = if output.status.code() == Some(0) {
            after.clone()
        } else {
            before
        };
        for files in [&mut found, &mut expected] {
            files.remove("plan.json");
        }
        assert_eq!(found, expected, "round {round}: {said}");
        assert!(!said.contains("panicked"), "round {round}: {said}");
    });
}

/// A cache that anybody may have written changes nothing but the time.
#[test]
fn soak_caches() {
    soak(|round| {
        let mut luck = Luck::of(round);
        let scratch = Scratch::new();
        let cache = tempfile::tempdir().unwrap();
        let run = |call: &str| -> (Option<i32>, Vec<u8>) {
            let mut command: Command = scratch.command(call);
            let output = command
                .env("COALESCE_CACHE_DIR", cache.path())
                .output()
                .unwrap();
            (output.status.code(), output.stdout)
        };
        let first = run("plan m.toml");
        for entry in fs::read_dir(cache.path()).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let bytes = fs::read(&path).unwrap();
                fs::write(&path, mutated(&mut luck, &bytes, &WORDS)).unwrap();
            }
        }
        assert_eq!(run("plan m.toml"), first, "round {round}");
    });
}
