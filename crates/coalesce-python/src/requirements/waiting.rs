//! Imports that stand in functions and stood nowhere so before: what they run has run by then, or it comes later than
//! anybody has seen it.
//!
//! A function that imports a module which importing its own module runs for certain finds it as it was made then, and
//! a name that is bound once is the same each time. That is proven on the planned tree, where something else may have gone
//! that used to run it. Of a module that a definition leaves the definition read its names at each call before, too.

use std::collections::BTreeSet;

use coalesce_model::{Change, Guard, Subject, Unproven, UnprovenKind, change::Renames};
use rustc_hash::FxHashSet;

use super::{Needs, is_certain, is_same, pairs};
use crate::{
    facts::{ImportStatement, Leaf},
    graph::{Entity, PythonGraph},
};

/// The imports in functions that are new, and that nothing has run by then.
pub(super) fn waiting((old, new): (&Needs<'_>, &Needs<'_>), changes: &[Change]) -> Vec<Unproven> {
    let (before, after) = (old.graph, new.graph);
    let renames = Renames::new(changes, ".");
    let known: BTreeSet<String> = (0..before.modules.len())
        .flat_map(|module| in_functions(old, module))
        .map(|found| renames.name_after(&found.name))
        .collect();
    let mut unproven = Vec::new();
    let mut told = BTreeSet::new();
    for (was, now) in pairs(before, after, changes) {
        if is_same(before, was, after, now) {
            continue;
        }
        let found = in_functions(new, now).into_iter().filter(|found| {
            !known.contains(&found.name) && !leaves(changes, &found.target, new.name(now))
        });
        let late = not_run_yet(new, now, found.collect()).into_iter();
        for late in late.filter(|late| told.insert((now, late.target.clone()))) {
            unproven.extend(late.unproven(before, was, new.name(now)));
        }
    }
    unproven
}

/// Those of the imports in functions of a module which it does not run for certain.
fn not_run_yet(new: &Needs<'_>, module: usize, found: Vec<InFunction>) -> Vec<InFunction> {
    if found.is_empty() {
        return found;
    }
    let runs = new.runs(module);
    let late = found.into_iter().filter(|found| !found.has_run(&runs));
    late.collect()
}

/// Whether importing a module runs for certain what one of its import statements runs, also without that statement.
pub fn runs_besides(graph: &PythonGraph, module: usize, statement: usize) -> bool {
    let needs = Needs::new(graph);
    let imports = graph.facts.get(module).map(|facts| &facts.imports);
    let imports = imports.into_iter().flatten().enumerate();
    let (mut waits, mut open): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    open.extend(needs.package_around(module));
    for (at, import) in imports {
        let leaves = import.leaves.iter();
        let runs = leaves.flat_map(|leaf| needs.reaches(module, import, leaf).0);
        match at == statement {
            true => waits.extend(runs),
            false if is_certain(import) => open.extend(runs),
            false => {}
        }
    }
    // What the module itself loads is what is asked about: of it no more than these.
    let runs = needs.runs_from(FxHashSet::from_iter([module]), open);
    !waits.is_empty() && waits.iter().all(|target| runs.contains(target))
}

/// One import in a function.
struct InFunction {
    /// The full name of what it imports, and the module of the tree that this is or is from.
    name: String,
    target: String,
    /// All modules that it runs.
    modules: Vec<usize>,
}

impl InFunction {
    fn has_run(&self, runs: &FxHashSet<usize>) -> bool {
        self.modules.iter().all(|module| runs.contains(module))
    }

    fn unproven(&self, before: &PythonGraph, was: usize, now: &str) -> Option<Unproven> {
        let module = before.modules.get(was)?;
        let (name, target) = (&self.name, &self.target);
        Some(Unproven {
            path: module.path.clone(),
            // A place of the planned text would be none of this one.
            span: None,
            kind: UnprovenKind::NotLoaded,
            name: now.to_owned(),
            why: format!(
                "it imports `{name}` when a function is called and not before, and nothing that importing it runs has \
                 run `{target}` by then: what that runs, or reads, comes later"
            ),
        })
    }
}

/// What the functions of a module import of the tree.
fn in_functions(needs: &Needs<'_>, module: usize) -> Vec<InFunction> {
    let facts = needs.graph.facts.get(module);
    let imports = facts.into_iter().flat_map(|facts| &facts.imports);
    let waiting = imports.filter(|import| is_waiting(import));
    let leaves = waiting.flat_map(|import| import.leaves.iter().map(move |leaf| (import, leaf)));
    leaves
        .filter_map(|(import, leaf)| in_function(needs, module, (import, leaf)))
        .collect()
}

fn is_waiting(import: &ImportStatement) -> bool {
    // What stands in the block of a program is executed right there, once.
    !import.eager && !import.top_level && !import.lazy && import.guard == Guard::None
}

fn in_function(
    needs: &Needs<'_>,
    module: usize,
    (import, leaf): (&ImportStatement, &Leaf),
) -> Option<InFunction> {
    let graph = needs.graph;
    let (modules, _) = needs.reaches(module, import, leaf);
    let name = |module: &usize| graph.modules.get(*module).map(|module| module.name.clone());
    let target = modules.last().and_then(name)?;
    let whole = matches!(graph.leaf_entity(module, import, leaf), Entity::Module(_));
    Some(InFunction {
        name: match whole {
            true => target.clone(),
            false => format!("{}.{}", modules.first().and_then(name)?, leaf.name.text),
        },
        target,
        modules,
    })
}

/// Whether an item leaves one of these modules for the other.
fn leaves(changes: &[Change], old: &str, new: &str) -> bool {
    let mut items = changes
        .iter()
        .filter(|change| change.subject == Subject::Item);
    items.any(|change| {
        let parent = |name: &str, module: &str| {
            name.rsplit_once('.')
                .is_some_and(|(parent, _)| parent == module)
        };
        parent(&change.from, old) && parent(&change.to, new)
    })
}

impl Needs<'_> {
    /// The modules that importing one runs for certain, itself included.
    fn runs(&self, module: usize) -> FxHashSet<usize> {
        self.runs_from(FxHashSet::default(), vec![module])
    }

    /// The modules that importing those that are open runs for certain, and those that have run.
    fn runs_from(&self, mut run: FxHashSet<usize>, mut open: Vec<usize>) -> FxHashSet<usize> {
        while let Some(module) = open.pop() {
            if run.insert(module) {
                open.extend(self.loads.get(module).into_iter().flatten());
            }
        }
        run
    }
}
