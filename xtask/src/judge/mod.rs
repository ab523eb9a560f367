//! `cargo xtask judge`: random consolidations of a real tree, with the compiler or the interpreter
//! as judge of what the program says of them.
//!
//! Each round draws a manifest from a seed, applies it to a scratch copy of the tree, lets the
//! language decide, and undoes it. What is refused is never counted as right. Of Python, what reading cannot prove
//! is tried with `migrate --verify`, too, and judged the same way.

mod arguments;
mod asked;
mod candidates;
mod consolidation;
mod declared;
mod interpreter;
mod names;
mod oracle;
mod planted;
mod rounds;
mod rustc;
pub mod scratch;
mod suite;
mod tally;

use std::fs;

use anyhow::Context as _;

use self::{
    arguments::Arguments, candidates::Candidates, consolidation::Consolidation, rounds::Judge,
    tally::Tally,
};
use crate::random::Random;

/// How often what was drawn already is drawn anew.
const TRIES: u32 = 20;

const HELP: &str = "\
cargo xtask judge TREE [OPTIONS]

Draws consolidations of TREE at random, applies each to a scratch copy, asks the compiler (`cargo
check`, all targets; default, no and all features where those compile before) or the interpreter
(every module is imported, and the names of each that can be read in time compared) whether the result works as before,
and undoes it. What cannot be proven by reading is tried with `migrate --verify` as well, where it is Python.

This RUNS the tree's code: build scripts, procedural macros, imports. Use it on trees you trust.

  --seed N        where the numbers begin (1)
  --count N       how many consolidations (20)
  --kinds LIST    of module,item,replace,merge, with commas (all)
  --shims N       how many of a hundred moves leave a shim (50)
  --bin PATH      judge that program instead of this build
  --python PATH   the interpreter (python3)
  --target DIR    where Cargo builds, so that runs share the dependencies (a folder of this run's own)
  --keep DIR      write each manifest and what was said of it there, by number
  --plant N       plant copies first (0), and draw replacements and merges of these alone: modules and items as people
                  copy them, with small changes, under other names, some of their users redirected. Of five two or so
                  are controls, marked `!`, which mean something else; of those *resolved* is wrong unless it is decided
  --tests COMMAND what runs the tree's tests, by `sh` in its copy ($PYTHON is the interpreter), where they pass as it is
  --no-verify     do not try what cannot be proven by reading with `migrate --verify`, which takes most of the time
  --any-target    draw among all modules, not only what a maintainer could ask for
  --list          print the manifests that would be drawn, and stop

The last lines count, each by kind: wrong (does not compile or import, or warns anew), names (does, but a name
of a module is gone, has come, leads elsewhere or warns, and nobody said so), crashed (the program gave no
answer), right (told resolved), checked (proven by `--verify` alone), not proven, refused. Exits with 1 when
one of the first three is not nought.
";

/// `cargo xtask judge`.
pub fn run(words: Vec<String>) -> anyhow::Result<()> {
    let arguments = Arguments::parse(words)?;
    if arguments.plants > 0 {
        return run_planted(&arguments);
    }
    let candidates = Candidates::read(&arguments)?;
    let drawn = draw_all(&candidates, &arguments);
    println!(
        "{}: {} modules, {} duplicates; {} consolidations drawn, seed {}",
        arguments.tree.display(),
        candidates.modules(),
        candidates.duplicates(),
        drawn.len(),
        arguments.seed
    );
    if arguments.list {
        list(&drawn);
        return Ok(());
    }
    judge_all(&drawn, &Judge::new(&arguments)?, &arguments)
}

/// The same of copies that are planted first.
fn run_planted(arguments: &Arguments) -> anyhow::Result<()> {
    let mut judge = Judge::new(arguments)?;
    let mut random = Random::new(arguments.seed);
    let plants = judge.plant(&mut random)?;
    let drawn = draw_new(arguments, |drawn| {
        let draws = (0..TRIES).map(|_| planted::draw(&plants, &mut random, arguments));
        draws.flatten().find(|one| !drawn.contains(one))
    });
    println!(
        "{}: {} copies planted; {} consolidations drawn, seed {}",
        arguments.tree.display(),
        plants.len(),
        drawn.len(),
        arguments.seed
    );
    if arguments.list {
        list(&drawn);
        return Ok(());
    }
    if let Some(folder) = &arguments.keep {
        judge.keep(&folder.join("tree"))?;
    }
    judge_all(&drawn, &judge, arguments)
}

fn list(drawn: &[Consolidation]) {
    for (at, one) in drawn.iter().enumerate() {
        println!("# {}\n{}", at + 1, one.manifest());
    }
}

/// As many as are asked for, as far as something is drawn.
fn draw_new(
    arguments: &Arguments,
    mut draw: impl FnMut(&[Consolidation]) -> Option<Consolidation>,
) -> Vec<Consolidation> {
    let mut drawn = Vec::new();
    for _ in 0..arguments.count {
        let one = draw(&drawn);
        drawn.extend(one);
    }
    drawn
}

/// Draws as many as are asked for, none twice where anything new is found.
fn draw_all(candidates: &Candidates, arguments: &Arguments) -> Vec<Consolidation> {
    let mut random = Random::new(arguments.seed);
    draw_new(arguments, |drawn| {
        let mut draws = (0..TRIES).map(|_| candidates.draw(&mut random, arguments));
        // What was drawn already says nothing new.
        let new = |one: &Option<Consolidation>| {
            arguments.any_target || one.as_ref().is_none_or(|one| !drawn.contains(one))
        };
        draws.find(new).flatten()
    })
}

/// Tries each, and tells what became of it.
fn judge_all(
    drawn: &[Consolidation],
    judge: &Judge<'_>,
    arguments: &Arguments,
) -> anyhow::Result<()> {
    if let Some(folder) = &arguments.keep {
        fs::create_dir_all(folder)
            .with_context(|| format!("failed to make {}", folder.display()))?;
    }
    for line in judge.told() {
        println!("judged: {line}");
    }
    let mut tally = Tally::default();
    for (at, one) in drawn.iter().enumerate() {
        let outcome = judge.round(one)?;
        println!("{:4} {:8} {}", at + 1, outcome.word(), one.summary());
        if let Some(folder) = &arguments.keep {
            outcome.keep(folder, at + 1, one)?;
        }
        tally.add(one, outcome);
    }
    print!("\n{tally}");
    let failures = tally.failures();
    anyhow::ensure!(
        failures == 0,
        "{failures} were told to work and do not, or had no answer"
    );
    Ok(())
}
