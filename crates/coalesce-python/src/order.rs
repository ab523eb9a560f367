//! What would break at import time: names that are read before they are bound.
//!
//! A static cycle is no harm by itself. So the imports that execute with a module are played
//! through in the order that CPython executes them in, parent packages first, from every module of
//! the tree; a read of a name that a half-executed module has not bound yet fails. What module-level
//! code calls is followed by the names of functions and classes, across modules, as far as names
//! tell: all that a body reads and imports counts as done then, and as not done for what comes
//! after. What fails after the changes and did not before is reported.
//!
//! Calls of what is held in variables are not followed.

mod advice;
mod asked;
mod bound;
mod calls;
mod entered;
mod later;
mod lost;
mod nearer;
mod program;
mod reach;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use coalesce_model::{Change, Finding, Module, Severity, Texts, change::Renames, finding::codes};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::PythonGraph;
use advice::Adviser;
use program::{Program, Read, State};

pub use later::deferrals;
pub use nearer::nearer_imports;
pub(crate) use program::{leading, loads, parents};

/// A read that fails, by names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Failure {
    /// The module that is imported first.
    first: String,
    reader: String,
    /// The half-executed module.
    target: String,
    name: String,
    /// Whether it happens for certain.
    certain: bool,
    /// Whether somebody catches the failure.
    caught: bool,
}

impl Failure {
    /// Who reads what.
    fn read(&self) -> (&str, &str, &str) {
        (&self.reader, &self.target, &self.name)
    }

    fn owned_read(&self) -> (String, String, String) {
        let (reader, target, name) = self.read();
        (reader.to_owned(), target.to_owned(), name.to_owned())
    }

    /// The same read, whatever is imported first, and whether for certain or not.
    fn anywhere(&self) -> Self {
        Self {
            first: String::new(),
            certain: false,
            ..self.clone()
        }
    }
}

/// Reads that fail in `after` and did not in `before`.
pub fn order_regressions(
    before: &PythonGraph,
    after: &PythonGraph,
    changes: &[Change],
    texts: &dyn Texts,
) -> Vec<Finding> {
    let renames = Renames::new(changes, ".");
    let new_name = |name: &str| renames.name_after(name);
    let mut told: BTreeSet<(String, String, String)> = BTreeSet::new();
    let mut findings = Vec::new();
    // A condition may hold or not: what is safe has to be so either way.
    let (touched_before, touched_after) = (touched(before, after), touched(after, before));
    for branches in [true, false] {
        let failing = failures(after, &touched_after, branches, &str::to_owned);
        if failing.is_empty() {
            continue;
        }
        let known = KnownFailures::of(before, &touched_before, branches, &new_name);
        let new = worst(&failing, &known);
        let mut adviser = Adviser::new((after, texts), &touched_after, branches, (&known, &new));
        for failure in new
            .iter()
            .filter(|failure| told.insert(failure.owned_read()))
        {
            let found = finding(before, after, &new_name, failure);
            findings.extend(found.map(|found| Finding {
                help: (after.advice.then(|| adviser.advice(failure))).flatten(),
                ..found
            }));
        }
    }
    findings
}

/// Which modules of a graph the other one has not in the same words.
fn touched(graph: &PythonGraph, other: &PythonGraph) -> Vec<bool> {
    let same: FxHashSet<(&str, usize)> = (other.modules.iter().zip(&other.facts))
        .map(|(module, facts)| (module.name.as_str(), Arc::as_ptr(facts).addr()))
        .collect();
    let modules = graph.modules.iter().zip(&graph.facts);
    let touched =
        modules.map(|(module, facts)| !same.contains(&(&module.name, Arc::as_ptr(facts).addr())));
    touched.collect()
}

/// What failed before the changes, by the names after them.
struct KnownFailures {
    failures: BTreeSet<Failure>,
    /// The same reads, whatever is imported first, and whether for certain or not.
    reads: BTreeSet<Failure>,
    /// The packages that were around each module that is in another one now, itself the first.
    around: BTreeMap<String, Vec<String>>,
}

impl KnownFailures {
    fn of(
        graph: &PythonGraph,
        touched: &[bool],
        branches: bool,
        new_name: &dyn Fn(&str) -> String,
    ) -> Self {
        let failures = failures(graph, touched, branches, new_name);
        let reads = failures.iter().map(Failure::anywhere);
        let around = graph.modules.iter().filter_map(|module| {
            let now = new_name(&module.name);
            let were: Vec<String> = packages(&module.name).map(new_name).collect();
            (!were.iter().eq(packages(&now))).then_some((now, were))
        });
        Self {
            reads: reads.collect(),
            around: around.collect(),
            failures,
        }
    }

    /// Whether a read that fails did so before. One that was caught does not excuse one that nobody catches, and what
    /// need not happen is new when it could never happen. A package that could not be imported before is no safer to be
    /// in, for who was in it.
    fn has(&self, failure: &Failure) -> bool {
        let caught = [false, true]
            .into_iter()
            .filter(|caught| !caught || failure.caught);
        let was = |first: &str, caught: bool| {
            self.failures.contains(&Failure {
                first: first.to_owned(),
                caught,
                ..failure.clone()
            })
        };
        let is_read = |caught: bool| {
            let read = failure.anywhere();
            self.reads.contains(&Failure { caught, ..read })
        };
        let failed_in = |caught: bool| match self.around.get(&failure.first) {
            Some(were) => were.iter().any(|first| was(first, caught)),
            None => packages(&failure.first).any(|first| was(first, caught)),
        };
        let mut caught = caught;
        match failure.certain {
            true => caught.any(failed_in),
            false => caught.any(is_read),
        }
    }
}

/// A module and the packages around it, by name.
fn packages(name: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(name), |name| Some(name.rsplit_once('.')?.0))
}

/// Reads that fail now and did not before.
fn regressions<'f>(
    failing: &'f BTreeSet<Failure>,
    known: &'f KnownFailures,
) -> impl Iterator<Item = &'f Failure> {
    failing.iter().filter(|failure| !known.has(failure))
}

/// Of those the certain ones, if there are any: what may fail follows from what fails for certain more often than not.
fn worst<'f>(failing: &'f BTreeSet<Failure>, known: &'f KnownFailures) -> Vec<&'f Failure> {
    let mut new: Vec<&Failure> = regressions(failing, known).collect();
    if new.iter().any(|failure| failure.certain) {
        new.retain(|failure| failure.certain);
    }
    new
}

fn finding(
    before: &PythonGraph,
    after: &PythonGraph,
    new_name: &dyn Fn(&str) -> String,
    failure: &Failure,
) -> Option<Finding> {
    let reader = failure.reader.as_str();
    let was = before
        .modules
        .iter()
        .find(|module| new_name(&module.name) == reader);
    let is = || after.modules.iter().find(|module| module.name == reader);
    let path = was.or_else(is)?.path.clone();
    Some(Finding {
        code: codes::READ_BEFORE_BOUND,
        severity: Severity::Error,
        path,
        span: None,
        message: message_of(failure),
        help: None,
    })
}

/// What is told of a module whose imports are made otherwise.
fn note(own: &Module, message: String) -> Finding {
    Finding {
        code: codes::READ_BEFORE_BOUND,
        severity: Severity::Note,
        path: own.path.clone(),
        span: None,
        message,
        help: None,
    }
}

fn message_of(failure: &Failure) -> String {
    let (reader, target, name) = failure.read();
    let first = &failure.first;
    let what = if name == "*" {
        format!("all names of `{target}`")
    } else {
        format!("`{name}` of `{target}`")
    };
    let would = if failure.certain {
        "would"
    } else {
        "may be called to"
    };
    format!(
        "after the migration, `{reader}` {would} read {what} before it is bound, when `{first}` is imported first"
    )
}

/// Plays the import of every module from which a touched one can be reached, each in a fresh
/// interpreter; what a top-level package does is shared by all modules below it. The others do what
/// they did.
fn failures(
    graph: &PythonGraph,
    touched: &[bool],
    branches: bool,
    name: &dyn Fn(&str) -> String,
) -> BTreeSet<Failure> {
    played(&Program::new(graph, touched, branches), graph, name)
}

fn played(
    program: &Program<'_>,
    graph: &PythonGraph,
    name: &dyn Fn(&str) -> String,
) -> BTreeSet<Failure> {
    let reaching = program.reaching();
    let changes =
        |root: &usize| reaching.get(*root) == Some(&true) && !program.reach().is_quiet(*root);
    let roots = (0..graph.modules.len()).filter(changes);
    played_from(program, graph, roots, name)
}

/// Plays the import of these modules.
fn played_from(
    program: &Program<'_>,
    graph: &PythonGraph,
    roots: impl Iterator<Item = usize>,
    name: &dyn Fn(&str) -> String,
) -> BTreeSet<Failure> {
    // What waits may be something else than it was when they were played.
    program.entries.borrow_mut().clear();
    let mut tops: FxHashMap<usize, State> = FxHashMap::default();
    let mut failures = BTreeSet::new();
    let mut tell = |first: usize, found: FxHashSet<Read>| {
        let found = found.into_iter();
        failures.extend(found.map(|read| failure_of(graph, name, first, read)));
    };
    for root in roots {
        let top = program.top(root);
        let start = tops.entry(top).or_insert_with(|| {
            let mut state = program.fresh();
            program.execute(top, &mut state, 0);
            tell(top, std::mem::take(&mut state.failed));
            state
        });
        if start.stage.get(root) == Some(&0) {
            let mut state = start.clone();
            program.execute(root, &mut state, 0);
            tell(root, state.failed);
        }
    }
    failures
}

/// A read that fails when `first` is imported, by the names after the changes.
fn failure_of(
    graph: &PythonGraph,
    name: &dyn Fn(&str) -> String,
    first: usize,
    read: Read,
) -> Failure {
    let module_name = |module: usize| {
        let module = graph.modules.get(module);
        module.map(|module| name(&module.name)).unwrap_or_default()
    };
    // What is read has the name that it has after the changes.
    let module = graph.modules.get(read.target);
    let old = module.map(|module| format!("{}.{}", module.name, read.name));
    let new = name(&old.unwrap_or_default());
    let (target, item) = new.rsplit_once('.').unwrap_or_default();
    Failure {
        first: module_name(first),
        reader: module_name(read.reader),
        target: target.to_owned(),
        name: item.to_owned(),
        certain: read.certain,
        caught: read.caught,
    }
}
