//! What the program does when it is stopped, when the disk is full, and when it is not alone.
//!
//! Whatever happens, the tree is as it was or as it shall be, or `recover` brings it there, either
//! way. Which step fails is tried one by one in `coalesce-apply`; here the whole program is.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    collections::BTreeMap,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::Duration,
};

use coalesce_tests::read_tree;

/// Files of the tree; enough of them to be stopped between two.
pub(super) const USERS: usize = 24;

/// A tree with a migration, and where the facts of its runs go.
pub(super) struct Scratch {
    directory: tempfile::TempDir,
}

pub(super) type Files = BTreeMap<String, Option<Vec<u8>>>;

impl Scratch {
    pub(super) fn new() -> Self {
        let scratch = Self {
            directory: tempfile::tempdir().unwrap(),
        };
        fill(&scratch.tree());
        scratch
    }

    pub(super) fn tree(&self) -> PathBuf {
        self.directory.path().join("tree")
    }

    /// Writes a file of the tree.
    pub(super) fn write(&self, name: &str, text: &str) {
        let file = self.tree().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    pub(super) fn files(&self) -> Files {
        read_tree(&self.tree()).unwrap()
    }

    pub(super) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(super::soak::program());
        command
            .args(arguments.split_whitespace())
            .current_dir(self.tree())
            .env("COALESCE_CACHE_DIR", "off")
            .stdin(Stdio::null());
        command
    }

    /// Runs it to its end and expects this exit code.
    pub(super) fn run(&self, arguments: &str, code: i32) -> String {
        expect(&self.command(arguments).output().unwrap(), code)
    }

    /// Where the journal of the only migration is.
    pub(super) fn journal(&self) -> PathBuf {
        let directory = fs::read_dir(self.tree().join(".coalesce/journal")).unwrap();
        let mut files = directory.map(|entry| entry.unwrap().path());
        files.find(|path| path.is_file()).unwrap()
    }
}

fn fill(tree: &Path) {
    fs::create_dir_all(tree.join("p")).unwrap();
    let mut files = vec![
        (
            "pyproject.toml".to_owned(),
            "[project]\nname = \"p\"\n".to_owned(),
        ),
        ("p/__init__.py".to_owned(), String::new()),
        ("p/kernels.py".to_owned(), "X = 1\n".repeat(400)),
        (
            "m.toml".to_owned(),
            "schema = 1\n[[move]]\nfrom = \"p.kernels\"\nto = \"p.core.gpu\"\nshim = true\n"
                .to_owned(),
        ),
    ];
    for number in 0..USERS {
        let text = format!(
            "from p.kernels import X\n# {number}\n{}",
            "y = 2\n".repeat(400)
        );
        files.push((format!("p/user_{number:02}.py"), text));
    }
    for (name, text) in files {
        fs::write(tree.join(name), text).unwrap();
    }
}

pub(super) fn expect(output: &Output, code: i32) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(code), "{said}{printed}");
    said + &printed
}

/// A migration that was cut off after `placed` of its files had taken their place.
pub(super) fn cut_off(placed: usize) -> (Scratch, Files, Files) {
    let scratch = Scratch::new();
    let before = scratch.files();
    scratch.run("migrate m.toml", 0);
    let after = scratch.files();
    let journal = scratch.journal();
    fs::rename(&journal, journal.with_extension("started")).unwrap();
    let changed = before
        .iter()
        .filter(|(name, bytes)| after.get(*name) != Some(*bytes));
    for (name, bytes) in changed.skip(placed) {
        fs::write(scratch.tree().join(name), bytes.as_ref().unwrap()).unwrap();
    }
    (scratch, before, after)
}

/// Held against half of a migration, a manifest says that its target is there already, or worse.
#[test]
fn status_of_half_a_migration_says_how_to_go_on() {
    let own = "schema = 1\n[[move]]\nfrom = \"p.kernels\"\nto = \"p.core.gpu\"\nshim = true\n";
    for placed in [1, USERS / 2, USERS + 1] {
        for (manifest, text) in [("0001.toml", own), ("0002.toml", "no manifest at all\n")] {
            let (scratch, _, _) = cut_off(placed);
            scratch.write(&format!("migrations/{manifest}"), text);
            let said = scratch.run("status", 0);
            assert!(said.contains("unfinished: m was cut off"), "{said}");
            assert!(said.contains("recover --finish") && said.contains("recover --undo"));
            assert!(!said.contains("exists already"), "{said}");
            let said = scratch.run("--format json status", 0);
            assert!(said.contains("\"unfinished\""), "{said}");
        }
    }
}

#[test]
fn a_migration_that_was_cut_off_is_offered_and_both_ways_work_any_number_of_times() {
    for placed in [0, 1, USERS / 2, USERS + 1] {
        for (way, forth) in [("--finish", true), ("--undo", false)] {
            let (scratch, before, after) = cut_off(placed);
            let between = scratch.files();
            for arguments in ["migrate m.toml", "rollback --yes"] {
                let said = scratch.run(arguments, 2);
                assert!(said.contains("the migration m was cut off"), "{said}");
                assert!(said.contains("recover"), "{said}");
            }
            let said = scratch.run("status", 0);
            assert!(said.contains("unfinished: m was cut off"), "{said}");
            assert!(said.contains("recover --finish") && said.contains("recover --undo"));
            assert_eq!(scratch.files(), between, "nothing of it changed the tree");
            scratch.run(&format!("recover {way}"), 0);
            assert_eq!(
                scratch.files(),
                if forth { after } else { before.clone() },
                "{way}"
            );
            assert!(
                scratch
                    .run(&format!("recover {way}"), 0)
                    .contains("no migration")
            );
            if forth {
                scratch.run("rollback --yes", 0);
                assert_eq!(scratch.files(), before);
            }
        }
    }
}

#[test]
fn a_file_that_was_changed_after_the_cut_is_named_and_kept() {
    let (scratch, ..) = cut_off(USERS / 2);
    let mine = scratch.tree().join("p/user_03.py");
    fs::write(&mine, "mine\n").unwrap();
    for way in ["--finish", "--undo"] {
        let said = scratch.run(&format!("recover {way}"), 2);
        assert!(said.contains("p/user_03.py"), "{said}");
        assert_eq!(fs::read_to_string(&mine).unwrap(), "mine\n");
    }
}

#[test]
fn a_migration_that_is_killed_can_be_undone_and_made_anew() {
    for step in 0..24 {
        let scratch = Scratch::new();
        let before = scratch.files();
        let mut child = scratch
            .command("migrate m.toml --quiet")
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_micros(700 * step));
        child.kill().unwrap();
        child.wait().unwrap();
        scratch.run("recover --undo", 0);
        scratch.run("rollback --yes", 0);
        assert_eq!(scratch.files(), before, "killed after {step} steps");
        scratch.run("migrate m.toml", 0);
        scratch.run("rollback --yes", 0);
        assert_eq!(scratch.files(), before);
    }
}

#[test]
fn a_second_migration_at_the_same_time_waits_for_nobody() {
    let scratch = Scratch::new();
    let before = scratch.files();
    fs::create_dir_all(scratch.tree().join(".coalesce/journal")).unwrap();
    let lock = File::create(scratch.tree().join(".coalesce/lock")).unwrap();
    lock.lock().unwrap();
    let said = scratch.run("migrate m.toml", 2);
    assert!(
        said.contains("another migration of this tree is under way"),
        "{said}"
    );
    assert_eq!(scratch.files(), before);
    drop(lock);
    scratch.run("migrate m.toml", 0);
    scratch.run("rollback --yes", 0);
    assert_eq!(scratch.files(), before);
}

#[test]
fn of_migrations_that_start_together_one_is_applied_once() {
    for _ in 0..8 {
        let scratch = Scratch::new();
        let before = scratch.files();
        let start = || {
            let mut command = scratch.command("migrate m.toml");
            command
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        };
        let children = [start(), start(), start()];
        let mut applied = 0;
        for child in children {
            let output = child.wait_with_output().unwrap();
            let printed = String::from_utf8_lossy(&output.stdout);
            applied += usize::from(printed.contains("applied, undo with"));
            let refused = output.status.code() == Some(2);
            assert!(refused || output.status.success(), "{output:?}");
        }
        assert_eq!(applied, 1);
        assert!(scratch.run("migrate m.toml", 0).contains("nothing to do"));
        scratch.run("rollback --yes", 0);
        assert_eq!(scratch.files(), before);
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_grow_stops_the_migration_before_the_tree_changes() {
    let scratch = Scratch::new();
    let before = scratch.files();
    let migrate = format!(
        "trap '' XFSZ; ulimit -f 4; exec '{}' migrate m.toml",
        env!("CARGO_BIN_EXE_coalesce-under-test")
    );
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &migrate])
        .current_dir(scratch.tree())
        .env("COALESCE_CACHE_DIR", "off");
    let said = expect(&shell.output().unwrap(), 2);
    assert!(said.contains("the journal cannot be written"), "{said}");
    assert_eq!(scratch.files(), before);
    assert!(!scratch.tree().join(".coalesce").exists());
}

/// Room for the tree alone up to room for everything, page by page: at some of them the disk is
/// full while files are written.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_full_leaves_the_tree_as_it_was() {
    let scratch = Scratch::new();
    let script = r#"
        set -e
        mount -t tmpfs -o "size=${PAGES}k" tmpfs "$DISK"
        cp -r "$TREE" "$DISK/tree"
        cd "$DISK/tree"
        code=0
        "$COALESCE" migrate m.toml > /dev/null 2> "$SAID" || code=$?
        if [ "$code" = 2 ]; then
            diff -r -x .coalesce "$TREE" . > /dev/null && [ ! -e .coalesce ] || code=9
        elif [ "$code" = 0 ]; then
            # An undo needs room, too; where there is none, the migration stands until there is.
            "$COALESCE" rollback --yes > /dev/null 2> "$SAID" || {
                mount -o remount,size=4m "$DISK"
                "$COALESCE" rollback --yes > /dev/null
            }
            diff -r -x .coalesce "$TREE" . > /dev/null || code=9
        fi
        exit $code
    "#;
    let disk = scratch.directory.path().join("disk");
    let said = scratch.directory.path().join("said");
    fs::create_dir(&disk).unwrap();
    let mut seen = BTreeMap::new();
    for pages in (30..130).step_by(2) {
        let mut command = Command::new("unshare");
        command
            .args(["--user", "--map-root-user", "--mount", "sh", "-c", script])
            .env("PAGES", (4 * pages).to_string())
            .env("DISK", &disk)
            .env("TREE", scratch.tree())
            .env("SAID", &said)
            .env("COALESCE", env!("CARGO_BIN_EXE_coalesce-under-test"))
            .env("COALESCE_CACHE_DIR", "off");
        let Ok(output) = command.output() else {
            println!("skipped: no unshare to make a small disk with");
            return;
        };
        let text = fs::read_to_string(&said).unwrap_or_default();
        let code = output.status.code();
        let trouble = String::from_utf8_lossy(&output.stderr).into_owned();
        match code {
            Some(0) => _ = seen.insert("enough", pages),
            Some(2) if text.contains("No space left") => {
                let journal = text.contains("journal") || text.contains(".coalesce cannot");
                seen.insert(if journal { "journal" } else { "files" }, pages);
            }
            _ if trouble.contains("unshare") || trouble.contains("mount:") => {
                println!("skipped: no small disk can be made here: {trouble}");
                return;
            }
            // Not even the tree has room.
            Some(1) if trouble.contains("cp:") => {}
            _ => panic!("{pages} pages: {code:?} {trouble}{text}"),
        }
    }
    let places: Vec<_> = seen.into_keys().collect();
    assert_eq!(places, ["enough", "files", "journal"]);
}

/// A crate whose plan starts `rustfmt`, which is given a file of settings.
#[cfg(unix)]
fn fill_with_rust(tree: &Path) {
    let mut library = String::from("pub mod kernels;\n");
    for number in 0..USERS {
        library.push_str(&format!("pub mod user_{number};\n"));
        let text = "use crate::kernels::f;\n\npub fn g() {\n    f();\n}\n";
        let file = tree.join(format!("src/user_{number}.rs"));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let package = "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let manifest = "schema = 1\n[[move]]\nfrom = \"p::kernels\"\nto = \"p::core::kernels\"\n";
    for (name, text) in [
        ("Cargo.toml", package),
        ("src/lib.rs", &library),
        ("src/kernels.rs", "pub fn f() {}\n"),
        ("m.toml", manifest),
    ] {
        fs::write(tree.join(name), text).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn a_plan_that_is_stopped_leaves_no_files_behind() {
    let directory = tempfile::tempdir().unwrap();
    let (tree, temporary) = (directory.path().join("tree"), directory.path().join("tmp"));
    fs::create_dir(&temporary).unwrap();
    fill_with_rust(&tree);
    let before = read_tree(&tree).unwrap();
    let mut stopped = 0;
    for millis in (0..200).step_by(20) {
        let mut child = Command::new(super::soak::program())
            .args(["plan", "m.toml"])
            .current_dir(&tree)
            .env("COALESCE_CACHE_DIR", "off")
            .env("TMPDIR", &temporary)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(millis));
        let pid = child.id().to_string();
        // What is started in the background of a script ignores interrupts, and so does what it starts.
        let signal = if millis % 40 == 0 { "-INT" } else { "-TERM" };
        let sent = Command::new("kill").args([signal, &pid]).status().unwrap();
        stopped += usize::from(child.wait().unwrap().code().is_none() && sent.success());
        let left: Vec<_> = fs::read_dir(&temporary).unwrap().collect();
        assert!(left.is_empty(), "after {millis} ms: {left:?}");
        assert_eq!(read_tree(&tree).unwrap(), before);
    }
    assert!(stopped > 0, "each was faster than its signal");
}
