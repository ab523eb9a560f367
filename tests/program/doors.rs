//! Doors that a tree can leave open for programs of its own: hooks, filters, wrappers, files that name
//! a toolchain, modules that interpreters load by themselves, programs that stand first on the path,
//! journals and plans. No command but `verify` starts anything of it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(unix)]

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

struct House {
    directory: tempfile::TempDir,
}

/// Programs that other programs look for on the path.
const ON_THE_PATH: [&str; 12] = [
    "rustfmt", "rustup", "rustc", "cargo", "git", "python", "python3", "sh", "ssh", "gpg", "less",
    "pytest",
];
/// Hooks of a repository.
pub const HOOKS: [&str; 9] = [
    "pre-commit",
    "post-checkout",
    "post-merge",
    "post-commit",
    "post-index-change",
    "post-rewrite",
    "reference-transaction",
    "pre-auto-gc",
    "fsmonitor-watchman",
];
/// Settings of a repository that name a program.
pub const SETTINGS: [&str; 14] = [
    "core.fsmonitor",
    "core.sshCommand",
    "core.editor",
    "core.pager",
    "core.askPass",
    "core.alternateRefsCommand",
    "filter.door.clean",
    "filter.door.smudge",
    "filter.door.process",
    "diff.door.textconv",
    "diff.external",
    "credential.helper",
    "gpg.program",
    "uploadpack.packObjectsHook",
];

impl House {
    fn new() -> Self {
        let house = Self {
            directory: tempfile::tempdir().unwrap(),
        };
        house.sources();
        house.doors();
        house
    }

    fn tree(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join("tree")
    }

    /// Made by whoever gets in.
    fn mark(&self) -> PathBuf {
        self.tree().with_file_name("opened")
    }

    fn write(&self, name: &str, text: &str) {
        coalesce_tests::write_file(&self.tree(), name, text).unwrap();
    }

    fn program(&self, name: &str) {
        let text = format!("#!/bin/sh\necho {name} >> {}\n", self.mark().display());
        self.write(name, &text);
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.tree().join(name), mode).unwrap();
    }

    fn sources(&self) {
        self.write(
            "Cargo.toml",
            "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        );
        self.write(
            "src/lib.rs",
            "pub mod kernels;\npub mod core;\npub fn f() -> u8 {\n    kernels::one()\n}\n",
        );
        self.write("src/kernels.rs", "pub fn one() -> u8 {\n    1\n}\n");
        self.write("src/core.rs", "pub fn two() -> u8 {\n    2\n}\n");
        self.write("pyproject.toml", "[project]\nname = \"q\"\n[build-system]\nrequires = []\nbuild-backend = \"backend\"\nbackend-path = [\".\"]\n");
        self.write("q/__init__.py", "");
        self.write("q/kernels.py", "X = 1\n");
        self.write("q/user.py", "from q.kernels import X\n");
        let manifest = "schema = 1\n[[move]]\nfrom = \"p::kernels\"\nto = \"p::core::kernels\"\n[[move]]\nfrom = \"q.kernels\"\nto = \"q.core.gpu\"\n";
        self.write("m.toml", manifest);
    }

    fn doors(&self) {
        for name in ON_THE_PATH {
            self.program(&format!("bin/{name}"));
            self.program(name);
        }
        self.repository();
        let bin = self.tree().join("bin");
        let python = format!("open({:?}, 'a').write('python')\n", self.mark());
        for name in [
            "conftest.py",
            "sitecustomize.py",
            "usercustomize.py",
            "setup.py",
            "noxfile.py",
            "backend.py",
            "tasks.py",
            "q/conftest.py",
        ] {
            self.write(name, &python);
        }
        self.write("evil.pth", &format!("import os; {python}"));
        let build = format!(
            "fn main() {{ std::fs::write({:?}, \"build\").unwrap(); }}\n",
            self.mark()
        );
        self.write("build.rs", &build);
        let program = |name: &str| bin.join(name).display().to_string();
        let cargo = format!(
            "[build]\nrustc-wrapper = {0:?}\nrustc = {0:?}\nrustdoc = {0:?}\n[alias]\nfmt = \"run\"\n[target.'cfg(all())']\nrunner = {0:?}\nlinker = {0:?}\n",
            program("rustc")
        );
        let toolchain = format!("[toolchain]\npath = {:?}\n", self.tree());
        // The folder for temporary files is in the tree, too.
        for directory in ["", "tmp/"] {
            self.write(&format!("{directory}.cargo/config.toml"), &cargo);
            self.write(&format!("{directory}rust-toolchain.toml"), &toolchain);
            self.write(&format!("{directory}rust-toolchain"), "door");
            self.write(&format!("{directory}clippy.toml"), "");
            self.write(&format!("{directory}rustfmt.toml"), "max_width = 90\n");
        }
        self.write(".envrc", &program("sh"));
        self.write("Makefile", &format!("all:\n\t{}\n", program("sh")));
        self.write(".pre-commit-config.yaml", "repos: []\n");
    }

    fn repository(&self) {
        for name in HOOKS {
            self.program(&format!(".git/hooks/{name}"));
            self.program(&format!("hooks/{name}"));
        }
        let mut config = format!(
            "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\thooksPath = {}\n[include]\n\tpath = ../other.config\n",
            self.tree().join("hooks").display()
        );
        for setting in SETTINGS {
            let (section, key) = setting.rsplit_once('.').unwrap();
            let section = match section.split_once('.') {
                Some((outer, inner)) => format!("{outer} \"{inner}\""),
                None => section.to_owned(),
            };
            let program = self.tree().join("bin/sh");
            config.push_str(&format!("[{section}]\n\t{key} = {}\n", program.display()));
        }
        self.write(".git/config", &config);
        self.write("other.config", &config);
        self.write(".git/HEAD", "ref: refs/heads/main\n");
        self.write(".gitattributes", "* filter=door diff=door\n");
        for name in ["objects", "refs/heads"] {
            fs::create_dir_all(self.tree().join(".git").join(name)).unwrap();
        }
    }

    /// A call from within the tree, whose own programs come first on the path.
    fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let own = std::env::var_os("PATH").unwrap_or_default();
        let mut path = vec![
            PathBuf::from("."),
            PathBuf::from("bin"),
            self.tree().join("bin"),
        ];
        path.extend(std::env::split_paths(&own));
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.tree())
            .env("PATH", std::env::join_paths(path).unwrap())
            .env("TMPDIR", self.tree().join("tmp"))
            .env("COALESCE_CACHE_DIR", self.tree().join("cache"))
            .stdin(Stdio::null());
        command
    }
}

const COALESCE: &str = env!("CARGO_BIN_EXE_coalesce-under-test");

/// Every command that starts nothing, in an order in which each has something to do.
const CALLS: [&str; 16] = [
    "audit",
    "audit --propose proposal.toml",
    "check --write-baseline baseline.json",
    "check --baseline baseline.json",
    "status",
    "refs q.kernels",
    "diff q.kernels q.user",
    "plan m.toml --out plan.json",
    "migrate --yes --allow-dirty --plan plan.json",
    "rollback --yes",
    "migrate --yes --allow-dirty m.toml",
    "recover --undo",
    "status",
    "retire --unused",
    "rollback --yes",
    "explain import-cycle",
];

#[test]
fn no_command_starts_anything_of_a_tree() {
    let house = House::new();
    let git = coalesce_tests::read_tree(&house.tree().join(".git")).unwrap();
    for call in CALLS {
        let words: Vec<&str> = call.split(' ').collect();
        let output = house.command(Path::new(COALESCE), &words).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code().is_some_and(|code| code < 3),
            "{call}: {said}"
        );
        assert!(
            !house.mark().exists(),
            "{call}: {}",
            fs::read_to_string(house.mark()).unwrap()
        );
        let kept = coalesce_tests::read_tree(&house.tree().join(".git")).unwrap();
        assert_eq!(kept, git, "{call} touched the repository");
    }
}

/// The same by what the kernel says: no program but the rustfmt of a toolchain.
#[test]
fn no_program_but_rustfmt_is_started_at_all() {
    let strace = Command::new("strace").arg("-V").output();
    if !strace.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: there is no strace");
        return;
    }
    let strace = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .map(|directory| directory.join("strace"))
        .find(|path| path.is_file())
        .unwrap();
    let house = House::new();
    let log = house.mark().with_extension("log");
    for call in CALLS {
        let mut words = vec!["-f", "-qq", "-e", "trace=execve,execveat", "-o"];
        words.extend([log.to_str().unwrap(), COALESCE]);
        words.extend(call.split(' '));
        let output = house.command(&strace, &words).output().unwrap();
        if !log.exists() {
            eprintln!("skipped: {}", String::from_utf8_lossy(&output.stderr));
            return;
        }
        let text = fs::read_to_string(&log).unwrap();
        // A call that another thread interrupts is told again when it resumes, without its program.
        let calls = text.lines().filter(|line| line.contains("execve"));
        let started = calls.filter(|line| !line.contains("resumed>")).skip(1);
        for line in started {
            let program = line.split('"').nth(1).unwrap_or_default();
            let own = Path::new(program).starts_with(house.tree());
            assert!(program.ends_with("/bin/rustfmt") && !own, "{call}: {line}");
            assert!(program.starts_with('/'), "{call}: {line}");
        }
    }
    assert!(!house.mark().exists());
}
