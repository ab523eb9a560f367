//! `cargo xtask bench`: what our commands need, beside other tools, in one run.
//!
//! Figures of one run are compared with each other only: what counts is the ratio.

mod build;
mod cubecl;
mod duplicates;
mod measure;
mod memory;
mod peers;
mod registry;
mod report;
mod rmm;
mod rust;
mod suites;
pub mod trees;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use measure::{Contender, Figures, race};
use peers::Peers;

use crate::repository::Repository;

const HELP: &str = "\
cargo xtask bench [NAME…] [OPTIONS]

Names: migrate, check, audit, refs, index, rust, duplicates; all of them when none is given. `memory` is apart: the
memory pool beside others, in one process; cases may be named after it, and --install-peers gets the
headers of RMM and builds cubecl-runtime for it. So is `build`: what core-gpu takes from nothing.

  --tree DIR        a checkout of the LiDAR project; COALESCE_BENCH_TREE does the same. Without it
                    the package of the registry is taken if it was installed, else a tree made here
                    COALESCE_BENCH_RUST names a Rust workspace that `rust` reads besides its own,
                    COALESCE_BENCH_LARGE a folder that `duplicates` searches besides
  --install-peers   get the other tools and the LiDAR package from their registries, into target/;
                    with --slow also the packages that `duplicates` searches
  --slow            also run what takes minutes
  --rounds N        how often each is run; 9 unless told
  --format FORMAT   human or json: one object a row
";

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
struct Options {
    names: Vec<String>,
    tree: Option<PathBuf>,
    install: bool,
    slow: bool,
    rounds: usize,
    json: bool,
}

/// One table row before it is measured: ours, and who is compared.
struct Case {
    /// The benchmark.
    bench: &'static str,
    /// What is tried.
    case: String,
    /// Ours.
    ours: Contender,
    /// The others, or why they do not run.
    peers: Vec<Peer>,
    /// Looks whether the result of the last round is right.
    judge: Box<dyn Fn() -> anyhow::Result<()>>,
    /// What is read and how many lines that are, where cases differ by that alone.
    size: Option<(String, usize)>,
}

/// Somebody else's tool.
enum Peer {
    /// It runs.
    Runs(Contender),
    /// It does not: its name and why.
    NotRun(String, String),
}

/// One row as it was measured.
struct Row {
    bench: &'static str,
    case: String,
    ours: Figures,
    peers: Vec<(String, Result<Figures, String>)>,
    size: Option<(String, usize)>,
}

/// `cargo xtask bench`.
pub fn run(repository: &Repository, arguments: Vec<String>) -> anyhow::Result<()> {
    if arguments
        .iter()
        .any(|word| word == "--help" || word == "-h")
    {
        print!("{HELP}");
        return Ok(());
    }
    let directory = target(repository)?.join("bench");
    match arguments.split_first() {
        Some((first, cases)) if first == "memory" => {
            let root = repository.root.canonicalize()?;
            let pools = memory::Pools {
                rmm: rmm::Rmm::new(&directory, &root),
                cubecl: cubecl::CubeCl::new(&directory, &root),
            };
            memory::run(repository, cases, &pools)
        }
        Some((first, [])) if first == "build" => build::run(repository, &directory),
        _ => run_cases(repository, directory, &options(arguments)?),
    }
}

/// Measures what the command line names, and tells of each row.
fn run_cases(repository: &Repository, directory: PathBuf, options: &Options) -> anyhow::Result<()> {
    let peers = Peers::new(&directory, &repository.root.canonicalize()?);
    if options.install {
        peers.install(&directory)?;
        duplicates::install(&peers, &directory, options.slow)?;
    }
    let place = suites::Place {
        ours: program(repository)?,
        tree: trees::Tree::find(options.tree.as_deref(), &directory)?,
        directory,
        peers,
        slow: options.slow,
    };
    if !options.json {
        report::head(&place.tree, options.rounds);
    }
    let mut sized = Vec::new();
    for name in &options.names {
        for case in suites::cases(name, &place)? {
            let row = measure(case, options.rounds)?;
            options.tell(&row)?;
            sized.extend(row.size.clone().map(|size| (size, row.ours)));
        }
    }
    if !options.json {
        report::growth(&sized);
    }
    Ok(())
}

fn options(arguments: Vec<String>) -> anyhow::Result<Options> {
    let mut options = Options {
        names: Vec::new(),
        tree: None,
        install: false,
        slow: false,
        rounds: 9,
        json: false,
    };
    let mut words = arguments.into_iter();
    while let Some(word) = words.next() {
        options.set(word, &mut words)?;
    }
    if options.names.is_empty() {
        options.names = suites::NAMES.map(str::to_owned).to_vec();
    }
    anyhow::ensure!(options.rounds > 0, "--rounds must be at least 1");
    Ok(options)
}

impl Options {
    /// Prints a row in the format that is asked for.
    fn tell(&self, row: &Row) -> anyhow::Result<()> {
        if self.json {
            return report::json(row);
        }
        report::human(row);
        Ok(())
    }

    fn set(&mut self, word: String, rest: &mut impl Iterator<Item = String>) -> anyhow::Result<()> {
        let mut value = || {
            let value = rest.next();
            value.with_context(|| format!("{word} needs a value"))
        };
        match word.as_str() {
            "--tree" => self.tree = Some(PathBuf::from(value()?)),
            "--install-peers" => self.install = true,
            "--slow" => self.slow = true,
            "--rounds" => self.rounds = value()?.parse().context("--rounds takes a number")?,
            "--format" => {
                self.json = match value()?.as_str() {
                    "json" => true,
                    "human" => false,
                    other => bail!("--format is human or json, not `{other}`"),
                }
            }
            name if suites::NAMES.contains(&name) => self.names.push(word),
            other => bail!("there is no benchmark `{other}`\n\n{HELP}"),
        }
        Ok(())
    }
}

/// Cargo's directory for what is built.
fn target(repository: &Repository) -> anyhow::Result<PathBuf> {
    let named = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target = named.unwrap_or_else(|| repository.root.join("target"));
    std::fs::create_dir_all(&target)?;
    Ok(target.canonicalize()?)
}

/// Builds the program that is measured, and says where it is.
fn program(repository: &Repository) -> anyhow::Result<PathBuf> {
    let mut cargo = std::process::Command::new("cargo");
    cargo
        .args(["build", "--release", "--quiet", "-p", "coalesce"])
        .current_dir(&repository.root);
    let status = cargo.status().context("failed to start cargo")?;
    anyhow::ensure!(status.success(), "coalesce does not build");
    let file = format!("coalesce{}", std::env::consts::EXE_SUFFIX);
    Ok(target(repository)?.join("release").join(Path::new(&file)))
}

fn measure(case: Case, rounds: usize) -> anyhow::Result<Row> {
    let mut contenders = vec![case.ours];
    let mut absent = Vec::new();
    for peer in case.peers {
        match peer {
            Peer::Runs(contender) => contenders.push(contender),
            Peer::NotRun(name, why) => absent.push((name, Err(why))),
        }
    }
    let mut taken = race(&contenders, rounds).into_iter();
    let ours = taken.next().context("nothing was measured")?;
    let ours = ours.with_context(|| format!("{} {}", case.bench, case.case))?;
    (case.judge)().with_context(|| format!("the result of {} {}", case.bench, case.case))?;
    let peers = contenders.iter().skip(1).zip(taken).map(|(peer, taken)| {
        let taken = taken.map_err(|error| format!("{error:#}"));
        (peer.name.clone(), taken)
    });
    Ok(Row {
        bench: case.bench,
        case: case.case,
        size: case.size,
        ours,
        peers: peers.chain(absent).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_or_refused() {
        for (line, expected) in [
            ("", Ok((suites::NAMES.len(), 9, false))),
            ("migrate check --rounds 3 --format json", Ok((2, 3, true))),
            ("migrat", Err("there is no benchmark `migrat`")),
            ("--rounds", Err("--rounds needs a value")),
            ("--rounds 0", Err("at least 1")),
            ("--format yaml", Err("human or json")),
        ] {
            let words = line.split_whitespace().map(str::to_owned).collect();
            match (options(words), expected) {
                (Ok(options), Ok((names, rounds, json))) => {
                    let read = (options.names.len(), options.rounds, options.json);
                    assert_eq!(read, (names, rounds, json), "{line}");
                }
                (Err(error), Err(part)) => {
                    assert!(error.to_string().contains(part), "{line}: {error}");
                }
                (read, _) => panic!("{line}: {read:?}"),
            }
        }
    }
}
