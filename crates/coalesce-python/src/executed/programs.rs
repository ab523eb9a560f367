//! Programs that the packages around them come to run when they are imported.
//!
//! `python -m pkg.cli` imports `pkg` first. Where that comes to import `pkg.cli`, the module is there twice: as
//! `pkg.cli` and as the program, and Python warns of it.

use std::{cell::OnceCell, collections::BTreeSet};

use coalesce_model::{Texts, Unproven, UnprovenKind};

use ruff_python_ast::Stmt;

use super::{Imports, Runs};
use crate::{
    analysis::predicates::is_run_as_program,
    graph::PythonGraph,
    names::is_word,
    parser::{parse_module, statements},
};

/// What stands before the name of a module that is run as a program.
const RUNNING: [&str; 4] = ["-m ", "\"-m\", \"", "'-m', '", "run_module("];

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
    let programs = Programs {
        before,
        texts,
        run: OnceCell::new(),
    };
    let mut unproven = Vec::new();
    for package in new.leading_to(&changed) {
        let Some(package_was) = earlier(package) else {
            continue;
        };
        let mut below = below(new, package).peekable();
        if below.peek().is_none() {
            continue;
        }
        let (ran, runs) = (old_runs.of(package_was), new_runs.of(package));
        let gained = below
            .filter(|module| runs.has(*module))
            .filter_map(earlier)
            .filter(|module| !ran.has(*module) && programs.has(*module));
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

/// Which modules are programs: by what is in them, or since a file of the tree runs them.
struct Programs<'t> {
    before: &'t PythonGraph,
    texts: &'t dyn Texts,
    /// The names of modules that files of the tree run, read when the first is asked for.
    run: OnceCell<BTreeSet<String>>,
}

impl Programs<'_> {
    fn has(&self, module: usize) -> bool {
        let Some(module) = self.before.modules.get(module) else {
            return false;
        };
        let guarded = self
            .texts
            .text(&module.path)
            .is_some_and(|text| has_program(&text));
        guarded
            || self
                .run
                .get_or_init(|| names_run(self.texts))
                .contains(&module.name)
    }
}

/// The dotted names that files run as programs: `python -m pkg.tool`, `[sys.executable, "-m", "pkg.tool"]`.
fn names_run(texts: &dyn Texts) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for text in texts.paths().iter().filter_map(|path| texts.text(path)) {
        for before in RUNNING {
            let places = text.match_indices(before);
            let names = places.filter_map(|(at, before)| {
                let rest = text
                    .get(at + before.len()..)?
                    .trim_start_matches([' ', '"', '\'']);
                rest.split(|c: char| !(is_word(c) || c == '.')).next()
            });
            let dotted = names.filter(|name| name.contains('.'));
            found.extend(dotted.map(|name| name.trim_end_matches('.').to_owned()));
        }
    }
    found
}

/// Whether a text has `if __name__ == "__main__":` at its own level.
fn has_program(text: &str) -> bool {
    if !text.contains("__main__") {
        return false;
    }
    let (parsed, _) = parse_module(text);
    let mut conditions = statements(&parsed).iter().filter_map(Stmt::as_if_stmt);
    conditions.any(|condition| is_run_as_program(&condition.test))
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
