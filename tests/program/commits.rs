//! `--commits`: what a migration leaves in a repository, each commit by itself, with real git as the
//! judge; and when none is made.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(unix)]

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use crate::doors::{HOOKS, SETTINGS};

const COALESCE: &str = env!("CARGO_BIN_EXE_coalesce-under-test");

/// A tree with a repository, in a directory of its own.
struct Checkout {
    directory: tempfile::TempDir,
}

impl Checkout {
    /// `None` where there is no git.
    fn of(files: &[(&str, &str)]) -> Option<Self> {
        let checkout = Self {
            directory: tempfile::tempdir().unwrap(),
        };
        for (name, text) in files {
            checkout.write(name, text);
        }
        checkout.begin()
    }

    fn of_sample() -> Option<Self> {
        let checkout = Self {
            directory: tempfile::tempdir().unwrap(),
        };
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let sample = coalesce_tests::read_tree(&root.join("examples/duplicated")).unwrap();
        coalesce_tests::write_tree(&checkout.tree(), &sample).unwrap();
        checkout.begin()
    }

    fn begin(self) -> Option<Self> {
        if Command::new("git").arg("--version").output().is_err() {
            eprintln!("skipped: there is no git");
            return None;
        }
        self.git(&["init", "-q", "-b", "main"]);
        self.git(&["config", "user.name", "Ada"]);
        self.git(&["config", "user.email", "ada@example.com"]);
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "as it was"]);
        Some(self)
    }

    fn tree(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join("tree")
    }

    fn write(&self, name: &str, text: &str) {
        coalesce_tests::write_file(&self.tree(), name, text).unwrap();
    }

    fn command(&self, program: &str, words: &[&str]) -> Output {
        let mut command = Command::new(program);
        let home = self.directory.path();
        command
            .args(words)
            .current_dir(self.tree())
            .env("HOME", home)
            .env("XDG_CACHE_HOME", home.join("cache"))
            .env("GIT_CONFIG_NOSYSTEM", "1");
        for name in ["XDG_CONFIG_HOME", "EMAIL", "GIT_DIR", "COALESCE_CACHE_DIR"] {
            command.env_remove(name);
        }
        command.output().unwrap()
    }

    fn git(&self, words: &[&str]) -> String {
        let output = self.command("git", words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {words:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// What the program prints, and its exit code.
    fn coalesce(&self, words: &str) -> (String, i32) {
        let words: Vec<&str> = words.split(' ').collect();
        let output = self.command(COALESCE, &words);
        let mut text = String::from_utf8(output.stdout).unwrap();
        text.push_str(&String::from_utf8(output.stderr).unwrap());
        (text, output.status.code().unwrap())
    }

    /// First lines of all messages, the newest first.
    fn subjects(&self) -> Vec<String> {
        let log = self.git(&["log", "--format=%s"]);
        log.lines().map(str::to_owned).collect()
    }

    /// The tree of a commit, written to a directory of its own.
    fn at(&self, commit: &str) -> PathBuf {
        let place = self.directory.path().join(format!("at-{}", commit.len()));
        let _ = fs::remove_dir_all(&place);
        let place = place.to_str().unwrap();
        self.git(&["worktree", "prune"]);
        self.git(&[
            "worktree", "add", "-q", "--force", "--detach", place, commit,
        ]);
        PathBuf::from(place)
    }
}

/// Whether every module of the sample can be imported; `None` where there is no Python.
fn imports(tree: &Path) -> Option<Output> {
    // `lidar.tiles` is in a cycle, on purpose, and comes second.
    let script = "import lidar, lidar.core.gpu, lidar.pipeline, lidar.optimization";
    let mut python = Command::new("python3");
    python.args(["-c", script]).current_dir(tree);
    python.output().ok()
}

/// `cargo check` of the sample's workspace.
fn compiles(tree: &Path, target: &Path) -> Output {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["check", "--offline", "--quiet", "--all-targets"]);
    command.current_dir(tree).env("CARGO_TARGET_DIR", target);
    command.output().unwrap()
}

#[test]
fn every_commit_builds_and_the_history_of_a_moved_file_goes_on() {
    let Some(checkout) = Checkout::of_sample() else {
        return;
    };
    let base = checkout.git(&["rev-parse", "HEAD"]);
    let before = coalesce_tests::read_tree(&checkout.tree()).unwrap();
    let (page, code) = checkout.coalesce("migrate --commits --yes");
    assert_eq!(code, 0, "{page}");
    assert_eq!(
        checkout.subjects(),
        [
            "one module knows the GPU: retire the old names",
            "one module knows the GPU: edit the users",
            "one module knows the GPU: move",
            "as it was"
        ]
    );
    assert_eq!(checkout.git(&["status", "--porcelain"]), "");
    assert_eq!(checkout.git(&["fsck", "--strict"]), "");
    let authors = checkout.git(&["log", "--format=%an <%ae> %cn", "-3"]);
    assert_eq!(authors, "Ada <ada@example.com> Ada\n".repeat(3));

    let target = checkout.directory.path().join("target");
    for commit in ["HEAD~2", "HEAD~1", "HEAD"] {
        let place = checkout.at(commit);
        let compiled = compiles(&place, &target);
        let said = String::from_utf8_lossy(&compiled.stderr);
        assert!(compiled.status.success(), "{commit}: {said}");
        if let Some(imported) = imports(&place) {
            let said = String::from_utf8_lossy(&imported.stderr);
            assert!(imported.status.success(), "{commit}: {said}");
        }
        let (page, code) =
            checkout.coalesce(&format!("audit --no-cache --root {}", place.display()));
        assert_eq!(code, 0, "{commit}: {page}");
        assert!(!page.contains("Imports that"), "{commit}: {page}");
    }
    for moved in ["lidar/core/gpu_kernels.py", "native/src/gpu_batch.rs"] {
        let followed = checkout.git(&["log", "--follow", "--format=%s", "--", moved]);
        assert!(followed.ends_with("as it was\n"), "{moved}: {followed}");
    }

    let (page, code) = checkout.coalesce("rollback --yes");
    assert_eq!(code, 0, "{page}");
    checkout.git(&["reset", "-q", base.trim()]);
    assert_eq!(checkout.git(&["status", "--porcelain"]), "");
    let files = |tree: &coalesce_tests::Tree| -> Vec<(String, Option<Vec<u8>>)> {
        let own = |(name, _): &(&String, &Option<Vec<u8>>)| !name.starts_with(".git");
        let own = tree.iter().filter(own);
        own.map(|(name, bytes)| (name.clone(), bytes.clone()))
            .collect()
    };
    let after = coalesce_tests::read_tree(&checkout.tree()).unwrap();
    assert_eq!(files(&after), files(&before));
}

/// A package of three modules, and a manifest that moves one of them.
const SMALL: [(&str, &str); 5] = [
    ("p/__init__.py", ""),
    ("p/core/__init__.py", ""),
    ("p/kernels.py", "def one():\n    return 1\n"),
    ("p/user.py", "from p.kernels import one\n\nprint(one())\n"),
    (
        "migrations/0001-home.toml",
        "schema = 1\n[[move]]\nfrom = \"p.kernels\"\nto = \"p.core.kernels\"\n",
    ),
];

#[test]
fn shims_that_stay_are_not_retired_and_a_module_without_users_is_one_commit() {
    let shim = SMALL.map(|(name, text)| {
        let text = match name {
            "migrations/0001-home.toml" => {
                "schema = 1\n[[move]]\nfrom = \"p.kernels\"\nto = \"p.core.kernels\"\nshim = true\n"
            }
            _ => text,
        };
        (name, text)
    });
    let Some(checkout) = Checkout::of(&shim) else {
        return;
    };
    let (page, code) = checkout.coalesce("migrate --commits --yes");
    assert_eq!(code, 0, "{page}");
    let subjects = checkout.subjects();
    assert_eq!(
        subjects,
        ["0001-home: edit the users", "0001-home: move", "as it was"]
    );
    assert_eq!(checkout.git(&["status", "--porcelain"]), "");
    // The shim goes by a commit of its own later.
    let (page, code) = checkout.coalesce("retire --unused --apply --commits --yes");
    assert_eq!(code, 0, "{page}");
    assert_eq!(checkout.subjects().first().unwrap(), "retire");
    assert!(!checkout.tree().join("p/kernels.py").exists());
    assert_eq!(checkout.git(&["status", "--porcelain"]), "");

    let unused = SMALL.map(|(name, text)| (name, if name == "p/user.py" { "" } else { text }));
    let checkout = Checkout::of(&unused).unwrap();
    let (page, code) = checkout.coalesce("migrate --commits --yes");
    assert_eq!(code, 0, "{page}");
    assert_eq!(checkout.subjects(), ["0001-home", "as it was"]);
}

#[test]
fn items_and_a_manifest_of_a_command_become_commits() {
    let files = [
        ("p/__init__.py", ""),
        (
            "p/a.py",
            "LIMIT = 3\n\n\ndef one():\n    return 1\n\n\ndef two():\n    return 2\n",
        ),
        ("p/b.py", "def three():\n    return 3\n"),
        (
            "p/user.py",
            "from p.a import one, two\n\nprint(one(), two())\n",
        ),
    ];
    let Some(checkout) = Checkout::of(&files) else {
        return;
    };
    let call = "move p.a.one p.b.one --save migrations/0001-one.toml --apply --commits --yes";
    let (page, code) = checkout.coalesce(call);
    assert_eq!(code, 0, "{page}");
    assert_eq!(checkout.git(&["status", "--porcelain"]), "", "{page}");
    let last = checkout.git(&["show", "--name-only", "--format=", "HEAD"]);
    assert!(last.contains("migrations/0001-one.toml\n"), "{last}");
    assert!(last.contains("migrations/0001-one.applied\n"), "{last}");
    for commit in ["HEAD~2", "HEAD~1", "HEAD"] {
        let place = checkout.at(commit);
        let mut python = Command::new("python3");
        python.args(["-m", "p.user"]).current_dir(&place);
        let Ok(output) = python.output() else { break };
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "1 2\n",
            "{commit}: {said}"
        );
    }
}

#[test]
fn nothing_of_the_repository_is_started_and_the_mode_of_a_file_is_kept() {
    let Some(checkout) = Checkout::of(&SMALL) else {
        return;
    };
    let kernels = checkout.tree().join("p/kernels.py");
    fs::set_permissions(kernels, fs::Permissions::from_mode(0o755)).unwrap();
    checkout.git(&["commit", "-q", "-a", "-m", "a mode"]);
    let mark = checkout.directory.path().join("opened");
    let program = checkout.directory.path().join("door");
    fs::write(
        &program,
        format!("#!/bin/sh\necho $0 >> {}\n", mark.display()),
    )
    .unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    for hook in HOOKS {
        fs::copy(&program, checkout.tree().join(".git/hooks").join(hook)).unwrap();
    }
    for setting in SETTINGS {
        checkout.git(&["config", setting, program.to_str().unwrap()]);
    }
    checkout.git(&["config", "commit.gpgSign", "true"]);
    let _ = fs::remove_file(&mark);
    let (page, code) = checkout.coalesce("migrate --commits --yes");
    assert_eq!(code, 0, "{page}");
    assert!(!mark.exists(), "{}", fs::read_to_string(&mark).unwrap());
    assert!(page.contains("these are not signed"), "{page}");
    let listed = checkout.git(&["-c", "core.fsmonitor=false", "ls-tree", "-r", "HEAD"]);
    let moved = listed
        .lines()
        .find(|line| line.ends_with("p/core/kernels.py"));
    assert!(moved.unwrap().starts_with("100755"), "{listed}");
}

/// A way to leave a repository in which no commits are made, and what is said of it.
type Obstacle = (&'static str, fn(&Checkout), &'static str);

const OBSTACLES: [Obstacle; 12] = [
    (
        "a changed file",
        |checkout| checkout.write("p/user.py", "from p.kernels import one\n"),
        "differ from the last commit or are in none: p/user.py",
    ),
    (
        "a changed file that nobody reads",
        |checkout| checkout.write("notes.txt", "two\n"),
        "notes.txt",
    ),
    (
        "a source that is in no commit",
        |checkout| checkout.write("p/new.py", "from p.kernels import one\n"),
        "p/new.py",
    ),
    (
        "a file that is gone",
        |checkout| fs::remove_file(checkout.tree().join("notes.txt")).unwrap(),
        "notes.txt",
    ),
    (
        "a staged change",
        |checkout| {
            checkout.write("notes.txt", "two\n");
            checkout.git(&["add", "notes.txt"]);
            checkout.write("notes.txt", "one\n");
        },
        "changes are staged in it, of notes.txt",
    ),
    (
        "a merge that is under way",
        |checkout| checkout.write(".git/MERGE_HEAD", &checkout.git(&["rev-parse", "HEAD"])),
        "something is under way in it: Merge",
    ),
    (
        "an index that is held",
        |checkout| checkout.write(".git/index.lock", ""),
        "another program holds its index",
    ),
    (
        "nobody who commits",
        |checkout| drop(checkout.git(&["config", "--unset", "user.email"])),
        "git does not know who commits",
    ),
    (
        "no commit",
        |checkout| drop(checkout.git(&["update-ref", "-d", "HEAD"])),
        "it has no commit yet",
    ),
    (
        "a filter",
        |checkout| {
            checkout.write(".gitattributes", "*.py filter=some\n");
            checkout.git(&["add", "-A"]);
            checkout.git(&["commit", "-q", "-m", "a filter"]);
        },
        "is converted on its way into a commit",
    ),
    (
        "a repository that stands elsewhere",
        |checkout| {
            let elsewhere = checkout.directory.path().join("elsewhere");
            fs::rename(checkout.tree().join(".git"), &elsewhere).unwrap();
            checkout.write(".git", &format!("gitdir: {}\n", elsewhere.display()));
        },
        "it stands elsewhere and does not know of this directory",
    ),
    (
        "objects that stand elsewhere",
        |checkout| {
            let (own, elsewhere) = (
                checkout.tree().join(".git/objects"),
                checkout.directory.path().join("elsewhere"),
            );
            fs::rename(&own, &elsewhere).unwrap();
            std::os::unix::fs::symlink(&elsewhere, &own).unwrap();
        },
        "its directory objects is a link",
    ),
];

#[test]
fn a_repository_that_is_not_as_its_last_commit_is_left_alone() {
    for (what, put_up, said) in OBSTACLES {
        let mut files = SMALL.to_vec();
        files.push(("notes.txt", "one\n"));
        let Some(checkout) = Checkout::of(&files) else {
            return;
        };
        put_up(&checkout);
        let before = coalesce_tests::read_tree(&checkout.tree()).unwrap();
        let (page, code) = checkout.coalesce("migrate --commits --yes");
        assert_eq!(code, 2, "{what}: {page}");
        assert!(page.contains(said), "{what}: {page}");
        let after = coalesce_tests::read_tree(&checkout.tree()).unwrap();
        assert_eq!(after, before, "{what}");
    }
    let bare = tempfile::tempdir().unwrap();
    let mut command = Command::new(COALESCE);
    command.args(["move", "p.a", "p.b", "--apply", "--commits", "--yes"]);
    fs::create_dir_all(bare.path().join("p")).unwrap();
    for name in ["p/__init__.py", "p/a.py"] {
        fs::write(bare.path().join(name), "").unwrap();
    }
    let output = command.current_dir(bare.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("there is none"), "{said}");
    assert!(bare.path().join("p/a.py").exists());
}

#[test]
fn a_linked_checkout_and_a_tree_below_the_top_are_committed_to() {
    let Some(checkout) = Checkout::of(&SMALL) else {
        return;
    };
    let place = checkout.directory.path().join("linked");
    let named = place.to_str().unwrap();
    checkout.git(&["worktree", "add", "-q", "-b", "other", named]);
    let (page, code) = checkout.coalesce(&format!("migrate --commits --yes --root {named}"));
    assert_eq!(code, 0, "{page}");
    assert_eq!(checkout.subjects(), ["as it was"]);
    let other = checkout.git(&["log", "--format=%s", "other"]);
    assert!(other.starts_with("0001-home: retire"), "{other}");
    assert_eq!(checkout.git(&["-C", named, "status", "--porcelain"]), "");

    let below: Vec<(String, &str)> = SMALL
        .iter()
        .map(|(name, text)| (format!("sub/{name}"), *text))
        .collect();
    let mut files: Vec<(&str, &str)> = below
        .iter()
        .map(|(name, text)| (name.as_str(), *text))
        .collect();
    files.push(("README", "outside\n"));
    let checkout = Checkout::of(&files).unwrap();
    let (page, code) = checkout.coalesce("migrate --commits --yes --root sub");
    assert_eq!(code, 0, "{page}");
    assert_eq!(checkout.git(&["status", "--porcelain"]), "");
    let listed = checkout.git(&["ls-tree", "-r", "--name-only", "HEAD"]);
    assert!(
        listed.contains("sub/p/core/kernels.py") && listed.contains("README"),
        "{listed}"
    );
}

#[test]
fn only_what_this_run_does_is_named() {
    let first =
        "schema = 1\ndescription = \"first thing\"\n[[move]]\nfrom = \"pkg.a\"\nto = \"pkg.a2\"\n";
    let second =
        "schema = 1\ndescription = \"second thing\"\n[[move]]\nfrom = \"pkg.b\"\nto = \"pkg.b2\"\n";
    let Some(checkout) = Checkout::of(&[
        ("pkg/__init__.py", ""),
        ("pkg/a.py", "X = 1\n"),
        ("pkg/b.py", "Y = 1\n"),
        ("migrations/0001.toml", first),
    ]) else {
        return;
    };
    let (said, code) = checkout.coalesce("migrate --yes --commits");
    assert_eq!(code, 0, "{said}");
    checkout.write("migrations/0002.toml", second);
    checkout.git(&["add", "-A"]);
    checkout.git(&["commit", "-q", "-m", "asked for"]);
    let (said, code) = checkout.coalesce("migrate --yes --commits");
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("coalesce rollback 0002,"), "{said}");
    assert_eq!(
        checkout.git(&["log", "-1", "--format=%B"]).trim(),
        "second thing\n\nmove pkg.b -> pkg.b2"
    );
    // Of one that was done before, later uses are led on: that is what the run does.
    checkout.write("pkg/later.py", "import pkg.a\n\nprint(pkg.a.X)\n");
    checkout.git(&["add", "-A"]);
    checkout.git(&["commit", "-q", "-m", "a branch"]);
    let (said, code) = checkout.coalesce("migrate --yes --commits");
    assert_eq!(code, 0, "{said}");
    assert_eq!(
        checkout.git(&["log", "-1", "--format=%B"]).trim(),
        "first thing\n\nlater uses of: move pkg.a -> pkg.a2"
    );
}

#[test]
fn what_was_verified_becomes_commits_and_later_uses_one_more() {
    let files = [
        ("p/__init__.py", ""),
        ("p/a.py", "def one():\n    return 1\n"),
        ("p/user.py", "from p.a import one\n\nprint(one())\n"),
        (
            "migrations/0001-home.toml",
            "schema = 1\ndescription = \"one home\"\n\n[[move]]\nfrom = \"p.a\"\nto = \"p.b\"\n",
        ),
    ];
    let Some(checkout) = Checkout::of(&files) else {
        return;
    };
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped: there is no python3");
        return;
    }
    let (page, code) = checkout.coalesce("migrate --verify --commits --yes");
    assert_eq!(code, 0, "{page}");
    assert!(page.contains("Compiled: "), "{page}");
    assert_eq!(checkout.git(&["status", "--porcelain"]), "", "{page}");
    for commit in ["HEAD~1", "HEAD"] {
        let place = checkout.at(commit);
        let mut python = Command::new("python3");
        let output = python.args(["-m", "p.user"]).current_dir(&place).output();
        let output = output.unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{commit}: {said}");
    }

    // A branch that was merged later names the module where it was.
    checkout.write("p/late.py", "from p.a import one\n");
    checkout.git(&["add", "-A"]);
    checkout.git(&["commit", "-q", "-m", "late"]);
    let (page, code) = checkout.coalesce("check --fix --commits --yes");
    assert_eq!(code, 0, "{page}");
    let hash = checkout.git(&["rev-parse", "--short=10", "HEAD"]);
    assert!(page.contains(&format!("commit {}", hash.trim())), "{page}");
    assert_eq!(checkout.git(&["status", "--porcelain"]), "", "{page}");
    assert_eq!(checkout.subjects()[1], "late");
    let changed = checkout.git(&["show", "--name-only", "--format=", "HEAD"]);
    assert_eq!(changed, "p/late.py\n");
    let late = fs::read_to_string(checkout.tree().join("p/late.py")).unwrap();
    assert_eq!(late, "from p.b import one\n");
}
