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
mod rounds;
mod rustc;
pub mod scratch;
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
  --keep DIR      write each manifest and what was said of it there, by number
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
        for (at, one) in drawn.iter().enumerate() {
            println!("# {}\n{}", at + 1, one.manifest());
        }
        return Ok(());
    }
    let tally = judge_all(&drawn, &arguments)?;
    print!("\n{tally}");
    let failures = tally.failures();
    anyhow::ensure!(
        failures == 0,
        "{failures} were told to work and do not, or had no answer"
    );
    Ok(())
}

/// Draws as many as are asked for, none twice where anything new is found.
fn draw_all(candidates: &Candidates, arguments: &Arguments) -> Vec<Consolidation> {
    let mut random = Random::new(arguments.seed);
    let mut drawn = Vec::new();
    for _ in 0..arguments.count {
        let mut draws = (0..TRIES).map(|_| candidates.draw(&mut random, arguments));
        // What was drawn already says nothing new.
        let new = |one: &Option<Consolidation>| {
            arguments.any_target || one.as_ref().is_none_or(|one| !drawn.contains(one))
        };
        let one = draws.find(new).flatten();
        drawn.extend(one);
    }
    drawn
}

/// Tries each, and tells what became of it.
fn judge_all(drawn: &[Consolidation], arguments: &Arguments) -> anyhow::Result<Tally> {
    if let Some(folder) = &arguments.keep {
        fs::create_dir_all(folder)
            .with_context(|| format!("failed to make {}", folder.display()))?;
    }
    let judge = Judge::new(arguments)?;
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
    Ok(tally)
}
