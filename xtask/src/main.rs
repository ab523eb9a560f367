//! The repository's own commands: `cargo xtask …`.
//!
//! Everything that `coalesce` does, by the same code, and what only this repository needs: tests,
//! the rules that a compiler does not know, generated files, benchmarks, and what CI runs.

mod bench;
mod ci;
mod codegen;
mod device;
mod draw;
mod judge;
mod random;
mod repository;
mod sample;
mod soak;
mod test;
mod tidy;
mod weights;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::ExitCode,
};

use repository::Repository;

const HELP: &str = "\
The repository's own commands:
  test [ARGS…]        all tests; installs or names the programs that some of them need
  bless               write what cases and pages print now; read it before you commit it
  tidy                the rules that a compiler does not know
  codegen [--check]   write the generated files, or only compare them
  bench [NAME…]       benchmarks, ours beside the peers that are installed
  draw AUDIT ROOT     random classes of an audit's duplicates, to be read
  judge TREE          random consolidations of a tree, with the compiler or interpreter as judge
  weights DIRECTORY   fit what is told of duplicates to the labelled classes, and try it on others
  device              what a card shows, packed for a machine that has one, and run here
  soak [--minutes N]  what needs minutes to show itself
  ci                  what CI runs, stage by stage
  help                this text
Anything else goes to coalesce: audit, refs, plan, migrate, rollback, recover, status, check,
explain; see `cargo xtask check --help`. `audit` without --root reads the sample tree.
";

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let program = arguments.next();
    let rest: Vec<OsString> = arguments.collect();
    let own = match rest.first().and_then(|command| command.to_str()) {
        Some("test") => test::run(&Repository::find(), words(&rest)),
        Some("bless") => test::bless(&Repository::find()),
        Some("tidy") => tidy::run(&Repository::find()),
        Some("codegen") => codegen::run(&Repository::find(), words(&rest)),
        Some("bench") => bench::run(&Repository::find(), words(&rest)),
        Some("draw") => draw::run(words(&rest)),
        Some("judge") => judge::run(words(&rest)),
        Some("weights") => weights::run(&Repository::find(), words(&rest)),
        Some("device") => device::run(&Repository::find(), words(&rest)),
        Some("soak") => soak::run(&Repository::find(), words(&rest)),
        Some("ci") => ci::run(&Repository::find()),
        None | Some("help" | "--help" | "-h") => {
            print!("{HELP}");
            Ok(())
        }
        Some(command) => {
            let sample = (command == "audit" && !names_root(&rest)).then(sample_tree);
            let root = sample
                .into_iter()
                .flat_map(|root| ["--root".into(), root.into_os_string()]);
            return coalesce::terminal::start(program.into_iter().chain(rest.clone()).chain(root));
        }
    };
    match own {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// What follows the command, as text.
fn words(arguments: &[OsString]) -> Vec<String> {
    arguments
        .iter()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect()
}

fn names_root(arguments: &[OsString]) -> bool {
    arguments
        .iter()
        .filter_map(|word| word.to_str())
        .any(|word| {
            word == "--root" || word.starts_with("--root=") || matches!(word, "--help" | "-h")
        })
}

/// The duplicated sample tree, by the shortest path that leads there.
fn sample_tree() -> PathBuf {
    let sample = Path::new("examples/duplicated");
    let here = if sample.is_dir() {
        sample.to_owned()
    } else {
        Repository::find().root.join(sample)
    };
    eprintln!(
        "reading the sample tree {}; `--root .` reads this directory",
        here.display()
    );
    here
}
