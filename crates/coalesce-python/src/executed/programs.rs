//! Programs that the packages around them come to run when they are imported.
//!
//! `python -m pkg.cli` imports `pkg` first. Where that comes to import `pkg.cli`, the module is there twice: as
//! `pkg.cli` and as the program, and Python warns of it.

use coalesce_model::{Texts, Unproven, UnprovenKind};

use super::{Imports, Runs};
use crate::graph::PythonGraph;

/// The modules that have a program in them, and that packages around them run since the changes. `was` has for each module
/// the one that it was.
pub(super) fn run_by_their_packages(
    before: &PythonGraph,
    (old, new): &(Imports, Imports),
    was: &[Option<usize>],
    texts: &dyn Texts,
) -> Vec<Unproven> {
    let changed: Vec<usize> = (0..new.runs.len())
        .filter(|module| new.loses(*module, old, was))
        .collect();
    let (mut old_runs, mut new_runs) = (Runs::new(old), Runs::new(new));
    let earlier = |module: usize| was.get(module).copied().flatten();
    let mut unproven = Vec::new();
    for package in new.leading_to(&changed) {
        let is_program = |module: &usize| {
            let was = earlier(*module).and_then(|was| before.modules.get(was));
            let text = was.and_then(|was| texts.text(&was.path));
            text.is_some_and(|text| has_program(&text))
        };
        let below: Vec<usize> = below(new, package).filter(is_program).collect();
        let Some(package_was) = earlier(package).filter(|_| !below.is_empty()) else {
            continue;
        };
        let (ran, runs) = (old_runs.of(package_was), new_runs.of(package));
        let gained = below
            .into_iter()
            .filter(|program| runs.has(*program))
            .filter_map(earlier)
            .filter(|program| !ran.has(*program));
        unproven.extend(gained.filter_map(|program| told(before, program, package_was)));
    }
    unproven.dedup_by(|one, other| one.path == other.path);
    unproven
}

/// The modules below a package.
fn below(imports: &Imports, package: usize) -> impl Iterator<Item = usize> + '_ {
    let around = |module: &usize| imports.around.get(*module).copied().flatten();
    (0..imports.runs.len()).filter(move |module| {
        std::iter::successors(around(module), around).any(|above| above == package)
    })
}

/// Whether a text has `if __name__ == "__main__":` at its own level.
fn has_program(text: &str) -> bool {
    text.contains("__main__")
        && text.lines().any(|line| {
            let condition = line.strip_prefix("if __name__");
            condition.is_some_and(|rest| rest.contains("__main__"))
        })
}

fn told(before: &PythonGraph, program: usize, package: usize) -> Option<Unproven> {
    let (program, package) = (before.modules.get(program)?, before.modules.get(package)?);
    Some(Unproven {
        path: program.path.clone(),
        span: None,
        kind: UnprovenKind::NewlyExecuted,
        name: program.name.clone(),
        why: format!(
            "importing `{}` comes to run it: `python -m {}` warns then, and has it twice",
            package.name, program.name
        ),
    })
}
