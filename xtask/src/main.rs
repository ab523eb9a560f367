//! `cargo xtask …`: builds what a command needs, and nothing else, and starts it.
//!
//! Of the standard library alone, so that it is there in a second. `audit`, `plan` and the like are
//! the `coalesce` program; what only this repository needs is the program `xtask-tools`.

mod build;
mod ci;
mod dist;
mod evidence;
mod python;
mod root;
mod test;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::ExitCode,
};

use build::{Program, start};
use root::repository_root;

const HELP: &str = "\
The repository's own commands:
  test [ARGS…]        all tests; installs or names the programs that some of them need
  bless               write what cases and pages print now; read it before you commit it
  tidy                the rules that a compiler does not know; --counts [NAME] counts functions
  codegen [--check]   write the generated files, or only compare them
  bench [NAME…]       benchmarks, ours beside the peers that are installed
  draw AUDIT ROOT     random classes of an audit's duplicates, to be read
  judge TREE          random consolidations of a tree, with the compiler or interpreter as judge
  weights DIRECTORY   fit what is told of duplicates to the labelled classes, and try it on others
  words DIRECTORY     how common words are in the labelled trees
  device              what a card shows, packed for a machine that has one, and run here
  seeded TREE OLD NEW what check finds of mistakes that are written into a real tree
  soak [--minutes N]  what needs minutes to show itself
  evidence [NAME…]    what needs PostgreSQL, Slurm, Ray, PyTorch or DuckDB, or machines of its own
  dist                the program as an archive and as a Python wheel, each tried
  ci                  what CI runs, stage by stage
  help                this text
Anything else goes to coalesce: audit, refs, plan, migrate, rollback, recover, status, check,
explain; see `cargo xtask check --help`. `audit` without --root reads the sample tree.
Each builds what it needs the first time; coalesce is built for a quick start there, and for
speed by `cargo build --release -p coalesce`.
";

/// What goes wrong here is told and never looked at: a sentence will do.
type Outcome<T = ()> = Result<T, String>;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    match run(arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Vec<OsString>) -> Outcome<ExitCode> {
    let rest = arguments.get(1..).unwrap_or_default();
    match arguments.first().and_then(|command| command.to_str()) {
        Some("test") => test::run(rest)?,
        Some("bless") => test::bless()?,
        Some("dist") => dist::run(rest)?,
        Some("evidence") => evidence::run(rest)?,
        Some("ci") => ci::run()?,
        None | Some("help" | "--help" | "-h") => print!("{HELP}"),
        Some("tidy" | "codegen" | "draw" | "device" | "seeded" | "soak") => {
            return start(&Program::tools("dev"), arguments);
        }
        // These reckon for minutes, or run coalesce in their own process.
        Some("bench" | "judge" | "weights" | "words") => {
            return start(&Program::tools("release"), arguments);
        }
        Some(command) => {
            let program = Program::coalesce(command);
            let sample = command == "audit" && !names_root(rest);
            let root = sample.then(|| ["--root".into(), sample_tree().into_os_string()]);
            return start(
                &program,
                arguments.into_iter().chain(root.into_iter().flatten()),
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn names_root(arguments: &[OsString]) -> bool {
    let mut words = arguments.iter().filter_map(|word| word.to_str());
    words.any(|word| {
        word == "--root" || word.starts_with("--root=") || matches!(word, "--help" | "-h")
    })
}

/// The duplicated sample tree, by the shortest path that leads there.
fn sample_tree() -> PathBuf {
    let sample = Path::new("examples/duplicated");
    let here = if sample.is_dir() {
        sample.to_owned()
    } else {
        repository_root().join(sample)
    };
    eprintln!(
        "reading the sample tree {}; `--root .` reads this directory",
        here.display()
    );
    here
}
