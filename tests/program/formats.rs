//! What others read: SARIF by its schema, annotations and summaries of GitHub, the steps of the action,
//! and findings of changed lines.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

const SCHEMA: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/program/data/sarif-schema-2.1.0.json"
);

/// Holds a document against the schema; 3 where Python lacks the package.
const VALIDATE: &str = "\
import json, sys
try:
    import jsonschema
except ImportError:
    sys.exit(3)
schema, document = (json.load(open(path, encoding='utf-8')) for path in sys.argv[1:])
cls = jsonschema.validators.validator_for(schema)
cls.check_schema(schema)
errors = list(cls(schema, format_checker=cls.FORMAT_CHECKER).iter_errors(document))
for error in errors[:5]:
    print('/'.join(map(str, error.absolute_path)), error.message[:200])
sys.exit(1 if errors else 0)
";

/// A tree with a repository of its own, and a home for caches.
struct Scratch {
    directory: tempfile::TempDir,
}

impl Scratch {
    fn new(files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let scratch = Self { directory };
        for (path, text) in files {
            scratch.write(path, text);
        }
        scratch
    }

    fn tree(&self) -> PathBuf {
        self.directory.path().join("tree")
    }

    fn write(&self, path: &str, text: &str) {
        coalesce_tests::write_file(&self.tree(), path, text).unwrap();
    }

    /// Runs a program in the tree, with nothing of this machine's CI in its surroundings.
    fn run(&self, program: &str, arguments: &[&str], variables: &[(&str, &Path)]) -> Output {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.tree())
            .env_remove("GITHUB_STEP_SUMMARY")
            .env("XDG_CACHE_HOME", self.directory.path().join("cache"))
            .envs(variables.iter().copied());
        command.output().unwrap()
    }

    fn coalesce(&self, line: &str) -> Output {
        let words: Vec<&str> = line.split(' ').collect();
        self.run(env!("CARGO_BIN_EXE_coalesce-under-test"), &words, &[])
    }

    fn git(&self, line: &str) {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
        let words = line.split(' ');
        let words: Vec<&str> = identity.into_iter().chain(words).collect();
        let output = self.run("git", &words, &[]);
        assert!(output.status.success(), "{}", text(&output.stderr));
    }

    /// A file beside the tree.
    fn beside(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

const BROKEN: &[(&str, &str)] = &[
    ("pkg/__init__.py", ""),
    (
        "pkg/a, b.py",
        "from pkg.gone import x\n\n\ndef f():\n    from pkg.lost import y\n\n    return x, y\n",
    ),
    (
        "coalesce.toml",
        "[[rule]]\nname = 'no-print'\nover = 'calls'\nregex = '^print$'\nmessage = '50 % of it: gone'\nseverity = 'warning'\n",
    ),
    ("pkg/c.py", "print(\"é\")\n"),
];

#[test]
fn sarif_is_what_its_schema_asks_for() {
    let tree = Scratch::new(BROKEN);
    for command in [
        "check --format sarif",
        "audit --format sarif",
        "audit --root nowhere --format sarif",
    ] {
        let output = tree.coalesce(command);
        let document = tree.beside("log.sarif");
        fs::write(&document, &output.stdout).unwrap();
        let arguments = ["-c", VALIDATE, SCHEMA, document.to_str().unwrap()];
        let judged = match Command::new("python3").args(arguments).output() {
            Ok(judged) => judged,
            Err(_) => {
                println!("skipped: python3 is not installed");
                return;
            }
        };
        if judged.status.code() == Some(3) {
            println!("skipped: python3 has no jsonschema");
            return;
        }
        assert!(
            judged.status.success(),
            "{command}: {}",
            text(&judged.stdout)
        );
    }
}

#[test]
fn of_a_change_the_changed_lines_come_first() {
    let tree = Scratch::new(BROKEN);
    tree.git("init -q -b main");
    tree.git("add -A");
    tree.git("commit -qm one");
    tree.git("checkout -qb change");
    tree.write(
        "pkg/a, b.py",
        "from pkg.gone import x\n\n\ndef f():\n    from pkg.lost import y\n    from pkg.missing import z\n\n    return x, y, z\n",
    );
    tree.write("pkg/new.py", "print(1)\n");
    let output = tree.coalesce("check --changed-since main --format github");
    let lines = text(&output.stdout);
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(
        lines,
        [
            "::error file=pkg/a%2C b.py,line=6,col=29,title=unresolved-internal-import::`pkg.missing.z` does not exist",
            "::error file=pkg/a%2C b.py,line=1,col=22,title=unresolved-internal-import::`pkg.gone.x` does not exist",
            "::error file=pkg/a%2C b.py,line=5,col=26,title=unresolved-internal-import::`pkg.lost.y` does not exist",
            "::warning file=pkg/new.py,line=1,col=1,title=project-rule::no-print: 50 %25 of it: gone",
        ]
    );
    assert_eq!(output.status.code(), Some(1));
    let page = text(&tree.coalesce("check --changed-since main").stdout);
    let hidden = "not shown: 1 finding in files that were not asked about, or are as at main";
    assert!(page.contains(hidden), "{page}");
    // What the branch has committed is a change of it as well, and what main did since is not.
    tree.git("add -A");
    tree.git("commit -qm two");
    let committed = tree.coalesce("check --changed-since main --format github");
    assert_eq!(text(&committed.stdout), text(&output.stdout));
    let wrong = tree.coalesce("check --changed-since nowhere");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("does not know `nowhere`"));
}

#[test]
fn the_summary_of_a_job_has_what_annotations_drop() {
    let many: String = (0..25)
        .map(|at| format!("from pkg.gone import x{at}\n"))
        .collect();
    let tree = Scratch::new(&[("pkg/__init__.py", ""), ("pkg/a.py", &many)]);
    let summary = tree.beside("summary.md");
    fs::write(&summary, "before\n").unwrap();
    let program = env!("CARGO_BIN_EXE_coalesce-under-test");
    let variables = [("GITHUB_STEP_SUMMARY", summary.as_path())];
    let output = tree.run(program, &["check", "--format", "github"], &variables);
    let shown = text(&output.stdout);
    assert_eq!(shown.matches("::error ").count(), 10, "{shown}");
    assert!(
        shown.ends_with("15 more in the summary of the job\n"),
        "{shown}"
    );
    let written = fs::read_to_string(&summary).unwrap();
    assert!(written.starts_with("before\n"), "{written}");
    assert_eq!(
        written.matches("| unresolved-internal-import |").count(),
        25
    );
}

/// The scripts of the action, by the names of their steps.
fn steps(action: &str) -> Vec<(String, String)> {
    let mut steps = Vec::new();
    let (mut name, mut lines) = (String::new(), action.lines().peekable());
    while let Some(line) = lines.next() {
        if let Some(named) = line.trim_start().strip_prefix("- name: ") {
            name = named.to_owned();
        }
        let Some(first) = line.trim_start().strip_prefix("run: ") else {
            continue;
        };
        let indent = line.len() - line.trim_start().len();
        let mut script = if first == "|" {
            String::new()
        } else {
            first.to_owned()
        };
        let inside = |line: &&str| line.len() - line.trim_start().len() > indent;
        while let Some(line) = lines.next_if(inside) {
            script.push_str(line.trim_start());
            script.push('\n');
        }
        steps.push((name.clone(), script));
    }
    steps
}

#[test]
#[cfg(unix)]
fn the_steps_of_the_action_run_as_scripts() {
    let action = concat!(env!("CARGO_MANIFEST_DIR"), "/../action.yml");
    let steps = steps(&fs::read_to_string(action).unwrap());
    let names: Vec<&str> = steps.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["Install", "SARIF", "Check"]);
    let tree = Scratch::new(BROKEN);
    let runner = tree.beside("runner");
    let programs = runner.join("coalesce/bin");
    fs::create_dir_all(&programs).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_coalesce-under-test"));
    std::os::unix::fs::symlink(program, programs.join("coalesce")).unwrap();
    let (sarif, root) = (tree.beside("out.sarif"), tree.tree());
    let variables = [
        ("RUNNER_TEMP", runner.as_path()),
        ("ROOT", &root),
        ("SARIF", &sarif),
        ("ARGUMENTS", Path::new("--release 4.0.0")),
    ];
    // Findings do not stop the first of them, and fail the second.
    for (at, code) in [(1, 0), (2, 1)] {
        let script = [
            "--noprofile",
            "--norc",
            "-eo",
            "pipefail",
            "-c",
            &steps[at].1,
        ];
        let output = tree.run("bash", &script, &variables);
        assert_eq!(output.status.code(), Some(code), "{}", text(&output.stderr));
    }
    let log: serde_json::Value = serde_json::from_slice(&fs::read(&sarif).unwrap()).unwrap();
    assert_eq!(log["runs"][0]["results"].as_array().unwrap().len(), 3);
    // What could not be looked at stops both.
    let variables = [
        variables[0],
        ("ROOT", Path::new("/nowhere")),
        variables[2],
        variables[3],
    ];
    for at in [1, 2] {
        let script = [
            "--noprofile",
            "--norc",
            "-eo",
            "pipefail",
            "-c",
            &steps[at].1,
        ];
        let output = tree.run("bash", &script, &variables);
        assert!(!output.status.success(), "{}", steps[at].0);
    }
}
