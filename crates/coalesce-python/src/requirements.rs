//! What importing the modules of a tree needs from outside of it, before and after a change.
//!
//! A module needs what it imports when it is executed, outside of every guard and condition, and what
//! the modules that it imports so need, packages around them included. That may not grow: where the
//! library is missing, a module that could be imported could be no more. A name that the tree should have and has not
//! is such a library, too: what imports it fails wherever it is. So is what the standard library has on some systems
//! alone. The same is compared for
//! what stands under a guard, which would take another way without a word.

mod advice;
mod distributions;
mod guarded;
pub(crate) mod standard;
mod waiting;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use coalesce_model::{
    ByteSpan, Change, Finding, Guard, Module, Severity, TreePath, Unproven, change::Renames,
    finding::codes, shortest_path,
};
use rustc_hash::FxHashMap;

pub use self::waiting::runs_besides;

use self::distributions::{Distributions, origin};

use crate::{
    facts::{ImportStatement, Leaf},
    graph::{Entity, PythonGraph},
    rewrite::is_test,
};

/// Names of libraries.
type Libraries = BTreeSet<String>;

/// What every module of a graph needs when it is imported.
pub struct Needs<'g> {
    graph: &'g PythonGraph,
    of: Vec<Libraries>,
    /// The modules that each module executes for certain.
    loads: Vec<Vec<usize>>,
    own: Vec<Libraries>,
    /// What is imported by the name of something of the tree that is not there.
    absent: Libraries,
    /// The distributions that lie in the tree: to each other they are libraries.
    distributions: Distributions,
}

/// What changes for the worse, or without a word, when modules are imported.
pub fn regressions(before: &PythonGraph, after: &PythonGraph, changes: &[Change]) -> Vec<Finding> {
    let (old, new) = (Needs::new(before), Needs::new(after));
    let pairs = pairs(before, after, changes);
    let mut findings = grown(&old, &new, &pairs, &made(&old, &new, changes));
    let alone = findings.is_empty();
    findings.extend(guarded::changed((&old, &new), &pairs, alone));
    findings
}

/// What may come later than before, or find another distribution missing.
pub fn unproven(before: &PythonGraph, after: &PythonGraph, changes: &[Change]) -> Vec<Unproven> {
    let (old, new) = (Needs::new(before), Needs::new(after));
    let mut unproven = waiting::waiting((&old, &new), changes);
    unproven.extend(distributions::unproven((&old, &new), changes));
    unproven
}

/// Whether a module consists of the same text before and after.
fn is_same(before: &PythonGraph, was: usize, after: &PythonGraph, now: usize) -> bool {
    let facts = before.facts.get(was).zip(after.facts.get(now));
    facts.is_some_and(|(was, now)| Arc::ptr_eq(was, now))
}

/// A module before and after.
type Pair = (usize, usize);

fn pairs(before: &PythonGraph, after: &PythonGraph, changes: &[Change]) -> Vec<Pair> {
    let named = sources(after).map(|(at, module)| (module.name.as_str(), at));
    let by_name: FxHashMap<&str, usize> = named.collect();
    let renames = Renames::new(changes, ".");
    let mut pairs = Vec::new();
    for (at, module) in sources(before) {
        let new = renames.renamed(&module.name);
        // A shim stands where the module was: who imports that may need no more either.
        let names = [Some(module.name.as_str()), new.as_deref()];
        let found = names
            .into_iter()
            .flatten()
            .filter_map(|name| by_name.get(name));
        pairs.extend(found.map(|after| (at, *after)));
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// The modules of a graph that are no files of types.
fn sources(graph: &PythonGraph) -> impl Iterator<Item = (usize, &Module)> {
    let modules = graph.modules.iter().enumerate();
    modules.filter(|(_, module)| module.path.extension() == Some("py"))
}

/// Whether a statement is executed for certain when its module is, and fails loudly.
fn is_certain(import: &ImportStatement) -> bool {
    import.eager && import.guard == Guard::None && !import.conditional && !import.lazy
}

impl<'g> Needs<'g> {
    fn new(graph: &'g PythonGraph) -> Self {
        let count = graph.modules.len();
        let mut needs = Self {
            graph,
            of: Vec::new(),
            loads: vec![Vec::new(); count],
            own: vec![Libraries::new(); count],
            absent: Libraries::new(),
            distributions: Distributions::new(graph),
        };
        for (module, facts) in graph.facts.iter().enumerate() {
            let leaves = facts.import_leaves();
            for (import, leaf) in leaves.filter(|(import, _)| is_certain(import)) {
                needs.add(module, import, leaf);
            }
            let around = needs.package_around(module);
            if let Some(loads) = needs.loads.get_mut(module) {
                loads.extend(around);
            }
        }
        needs.spread();
        needs
    }

    /// Adds what a module needs for one name that it imports.
    fn add(&mut self, module: usize, import: &ImportStatement, leaf: &Leaf) {
        let (targets, library) = match self.absent_name(module, import, leaf) {
            Some(name) => {
                self.absent.insert(name.clone());
                (Vec::new(), Some(name))
            }
            None => self.reaches(module, import, leaf),
        };
        let others = self.distributions.others(module, &targets);
        if let (Some(loads), Some(own)) = (self.loads.get_mut(module), self.own.get_mut(module)) {
            loads.extend(targets);
            own.extend(library.into_iter().chain(others));
        }
    }

    /// The nearest package around a module, which is executed before it; those around that one are its own.
    fn package_around(&self, module: usize) -> Option<usize> {
        let name = self
            .graph
            .modules
            .get(module)
            .map_or("", |module| module.name.as_str());
        let mut above =
            std::iter::successors(name.rsplit_once('.'), |(above, _)| above.rsplit_once('.'));
        above.find_map(|(above, _)| self.graph.find(Some(module), above))
    }

    /// The full name of a leaf that the tree should have and has not.
    fn absent_name(&self, module: usize, import: &ImportStatement, leaf: &Leaf) -> Option<String> {
        let is_source = self.graph.modules.get(module)?.path.extension() == Some("py");
        let is_absent = is_source
            && matches!(
                self.graph.leaf_entity(module, import, leaf),
                Entity::Missing
            );
        let base = import
            .base(self.graph.package_of(module))
            .filter(|_| is_absent)?;
        Some(format!("{base}.{}", leaf.name.text))
    }

    /// The modules that a leaf executes, and the library that it is from.
    fn reaches(
        &self,
        module: usize,
        import: &ImportStatement,
        leaf: &Leaf,
    ) -> (Vec<usize>, Option<String>) {
        let graph = self.graph;
        let base = graph.base_module(module, import);
        let mut targets: Vec<usize> = base.into_iter().collect();
        match graph.leaf_entity(module, import, leaf) {
            Entity::Module(target) => targets.push(target),
            Entity::Item(..) => {
                targets.extend(base.and_then(|base| graph.lazy_source(base, &leaf.name.text)))
            }
            Entity::External if base.is_none() => {
                return (targets, self.library_of(import, leaf));
            }
            Entity::External | Entity::Missing | Entity::Opaque => {}
        }
        (targets, None)
    }

    /// The library that a leaf is from which no module of the tree has.
    fn library_of(&self, import: &ImportStatement, leaf: &Leaf) -> Option<String> {
        let name = match &import.from {
            Some(from) if from.level > 0 => return None,
            Some(from) => &from.module,
            None => &leaf.name.text,
        };
        let top = name.split('.').next().unwrap_or_default();
        match standard::is_standard(top) {
            true => {
                let from = import.from.as_ref().map(|from| from.module.as_str());
                standard::of_some_systems(from, &leaf.name.text)
            }
            false => Some(self.library(name, top).to_owned()),
        }
    }

    /// What a name is taken from: all below `top`, or one of several distributions that share it
    /// (`diffpy.structure`), where that is always there.
    fn library<'n>(&self, name: &'n str, top: &'n str) -> &'n str {
        let ends = name.match_indices('.').map(|(at, _)| at);
        let parts = ends.chain([name.len()]).filter_map(|end| name.get(..end));
        let mut shared = parts.skip(1).filter(|part| self.is_always_there(part));
        shared.next().unwrap_or(top)
    }

    /// Hands what each module needs to those that execute it.
    fn spread(&mut self) {
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); self.loads.len()];
        let loads = self.loads.iter().enumerate();
        let loads = loads.flat_map(|(module, loads)| loads.iter().map(move |load| (module, load)));
        for (module, target) in loads {
            if let Some(users) = users.get_mut(*target) {
                users.push(module);
            }
        }
        self.of.clone_from(&self.own);
        let libraries: Libraries = self.own.iter().flatten().cloned().collect();
        for library in &libraries {
            self.spread_library(library, &users);
        }
    }

    fn spread_library(&mut self, library: &str, users: &[Vec<usize>]) {
        let own = self.own.iter().enumerate();
        let needs = own.filter(|(_, own)| own.contains(library));
        let mut open: Vec<usize> = needs.map(|(module, _)| module).collect();
        while let Some(module) = open.pop() {
            let users = users.get(module).into_iter().flatten().copied();
            open.extend(users.filter(|user| {
                let of = self.of.get_mut(*user);
                of.is_some_and(|of| of.insert(library.to_owned()))
            }));
        }
    }

    fn of(&self, module: usize) -> Libraries {
        self.of.get(module).cloned().unwrap_or_default()
    }

    fn name(&self, module: usize) -> &str {
        self.graph
            .modules
            .get(module)
            .map_or("", |module| module.name.as_str())
    }

    /// Whether a library is there wherever the project is.
    fn is_always_there(&self, library: &str) -> bool {
        let requirements = &self.graph.requirements;
        let known = standard::distribution(library);
        let name = library.to_lowercase().replace('.', "_");
        requirements.contains(&name) || requirements.contains(known)
    }

    fn is_allowed(&self, library: &str) -> bool {
        self.graph
            .allowed
            .requirements
            .iter()
            .any(|allowed| allowed == library)
    }

    /// The way from a module to one that imports a library itself.
    fn way(&self, module: usize, library: &str) -> Vec<usize> {
        let loads = |at: usize| self.loads.get(at).into_iter().flatten().copied();
        let imports = |at: usize| self.own.get(at).is_some_and(|own| own.contains(library));
        shortest_path(module, loads, imports).unwrap_or_default()
    }
}

/// Modules that come into being and need another distribution of the tree, which nothing of their own one did.
fn made<'n>(old: &'n Needs<'_>, new: &'n Needs<'_>, changes: &[Change]) -> Vec<(&'n String, Pair)> {
    let mut found = Vec::new();
    for (module, needed) in new.of.iter().enumerate() {
        let missed = |library: &&String| {
            let given = new.distributions.gives(new.graph, module, library);
            given == Some(false) && !new.is_allowed(library)
        };
        let missed: Vec<&String> = needed.iter().filter(missed).collect();
        let from = || origin(old.graph, new.graph, changes, module);
        let from = (!missed.is_empty()).then(from).flatten();
        let Some(from) = from.filter(|from| from.made) else {
            continue;
        };
        let had = |library: &str| {
            let mut had = from.had.iter().filter_map(|each| old.of.get(*each));
            had.any(|had| had.contains(library))
        };
        let new = missed.into_iter().filter(|library| !had(library));
        found.extend(new.map(|library| (library, (from.place, module))));
    }
    found
}

/// Modules that would need a library that they did not need.
fn grown(
    old: &Needs<'_>,
    new: &Needs<'_>,
    pairs: &[Pair],
    made: &[(&String, Pair)],
) -> Vec<Finding> {
    let mut by_library: BTreeMap<&str, Vec<Pair>> = BTreeMap::new();
    for pair in pairs {
        for library in newly_needed(old, new, *pair) {
            by_library.entry(library).or_default().push(*pair);
        }
    }
    for (library, pair) in made {
        by_library.entry(library).or_default().push(*pair);
    }
    let libraries: BTreeSet<&str> = by_library.keys().copied().collect();
    let line = advice::requirements(&new.graph.allowed, &libraries);
    let first = libraries.first().copied().unwrap_or_default();
    let found = by_library.into_iter().filter_map(|(library, modules)| {
        let mut refusal = new_requirement(old, new, library, &modules)?;
        let told_for = Some(first).filter(|first| *first != library);
        refusal.help = Some(advice::help(&line, told_for, libraries.len()));
        Some(refusal)
    });
    found.collect()
}

/// Whether a module is a test, or helps tests: whoever imports it has what runs them. What a package ships in a folder
/// of tests may be imported by anybody.
fn is_for_tests(graph: &PythonGraph, module: &Module) -> bool {
    let file = module.path.file_name();
    let mut folders = module.path.components();
    is_test(file)
        || file == "conftest.py"
        || folders.any(is_of_tests) && !is_shipped(graph, &module.name)
}

fn is_of_tests(name: &str) -> bool {
    matches!(name, "test" | "tests")
}

/// Whether the folder of tests that a module is in is part of a regular package.
fn is_shipped(graph: &PythonGraph, name: &str) -> bool {
    let mut starts = name.match_indices('.').map(|(at, _)| at);
    starts.any(|at| {
        let (above, below) = name.split_at(at);
        let folder = below.trim_start_matches('.').split('.').next();
        let package = graph.find(None, above);
        let package = package.and_then(|package| graph.modules.get(package));
        folder.is_some_and(is_of_tests) && package.is_some_and(|package| package.package)
    })
}

/// The libraries that a module needs after and not before, and that nothing gives it.
fn newly_needed<'n>(old: &'n Needs<'_>, new: &'n Needs<'_>, (before, after): Pair) -> Vec<&'n str> {
    let (Some(had), Some(has)) = (old.of.get(before), new.of.get(after)) else {
        return Vec::new();
    };
    let tests = old.graph.modules.get(before);
    let tests = tests.is_some_and(|module| is_for_tests(old.graph, module));
    // What could not be imported for one name that is nowhere cannot be for another.
    let failed = had.iter().any(|library| old.absent.contains(library));
    // A name that the migration takes away is told where it is imported.
    let is_taken_away = |library: &String| {
        let known = || old.graph.lookup(library);
        new.absent.contains(library) && !matches!(known(), Entity::Missing | Entity::External)
    };
    let is_given = |library: &String| {
        if let Some(given) = new.distributions.gives(new.graph, after, library) {
            return given;
        }
        is_taken_away(library)
            || (tests && library == "pytest")
            || (failed && new.absent.contains(library))
            || new.is_always_there(library)
    };
    let needed = has.difference(had);
    needed
        .filter(|library| !is_given(library) && !new.is_allowed(library))
        .map(String::as_str)
        .collect()
}

/// The refusal of a library that these modules would come to need.
fn new_requirement(
    old: &Needs<'_>,
    new: &Needs<'_>,
    library: &str,
    modules: &[Pair],
) -> Option<Finding> {
    // The package that most programs import says it best.
    let depth = |pair: &&Pair| {
        let name = new.name(pair.1);
        (name.matches('.').count(), name.to_owned())
    };
    let (before, after) = *modules.iter().min_by_key(depth)?;
    let path = old.graph.modules.get(before)?.path.clone();
    let others = further_modules(modules.len() - 1);
    let why = why_needed(new, after, library);
    let message = format!(
        "after the migration, importing `{}`{others} would need `{library}`, {why}: {}",
        new.name(after),
        told_way(new, after, library),
    );
    Some(refusal(path, None, message, None).coded(codes::NEW_REQUIREMENT))
}

/// The way from a module to one that imports a library, as it is told.
fn told_way(needs: &Needs<'_>, module: usize, library: &str) -> String {
    let way = needs.way(module, library).into_iter();
    let way: Vec<String> = way.map(|at| format!("`{}`", needs.name(at))).collect();
    way.join(" imports ")
}

fn why_needed(needs: &Needs<'_>, module: usize, library: &str) -> &'static str {
    match needs.absent.contains(library) {
        true => "which is not there",
        false
            if needs
                .distributions
                .gives(needs.graph, module, library)
                .is_some() =>
        {
            "another project of the tree, which its own project does not declare"
        }
        false => "which it does not need now",
    }
}

fn further_modules(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => " (and one more module)".to_owned(),
        more => format!(" (and {more} more modules)"),
    }
}

fn refusal(
    path: TreePath,
    span: Option<ByteSpan>,
    message: String,
    help: Option<String>,
) -> Finding {
    Finding {
        code: codes::UNSAFE_CHANGE,
        severity: Severity::Error,
        path,
        span,
        message,
        help,
    }
}
