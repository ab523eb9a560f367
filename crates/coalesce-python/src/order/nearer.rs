//! Imports that take a name from a package which passes it on, and that come before the package has it: the module that
//! defines the name has it earlier.
//!
//! `from pkg import Signal` in a module that `pkg` itself imports reads what `pkg` has bound so far; `from pkg._signal
//! import Signal` runs what defines it. It is the same object where one statement of the package binds the name, and one
//! of each module on the way. No name goes or comes, and nothing waits.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{Change, Guard, ImportChange, Module, Texts, change::Renames};

use super::{Failure, KnownFailures, failures, note, regressions, touched};
use crate::{
    facts::ImportStatement,
    graph::{Entity, PythonGraph},
    rewrite::{NameIndex, relative, stays_as_bound, taken_from},
};

/// Longer chains of modules that pass a name on are not followed.
const MAXIMUM_CHAIN: usize = 8;

/// What one module reads too early: the module that is to have it, and the names.
type EarlyReads<'f> = BTreeMap<(&'f str, &'f str), BTreeSet<&'f str>>;

/// Where names are looked for.
struct Search<'g> {
    graph: &'g PythonGraph,
    names: NameIndex<'g>,
}

/// The imports of one module that take names from where they are defined; nothing where none of those that come too early
/// can.
pub fn nearer_imports(
    before: &PythonGraph,
    after: &PythonGraph,
    changes: &[Change],
    texts: &dyn Texts,
) -> Vec<ImportChange> {
    let renames = Renames::new(changes, ".");
    let new_name = |name: &str| renames.name_after(name);
    let (touched_before, touched_after) = (touched(before, after), touched(after, before));
    let search = Search {
        graph: after,
        names: NameIndex::new(texts),
    };
    for branches in [true, false] {
        let failing = failures(after, &touched_after, branches, &str::to_owned);
        let known = KnownFailures::of(before, &touched_before, branches, &new_name);
        let mut early = early_reads(&failing, &known).into_iter();
        let found =
            early.find_map(|((reader, target), names)| mended(&search, (reader, target), &names));
        if let Some(found) = found {
            return vec![found];
        }
    }
    Vec::new()
}

/// The reads that fail for certain, and did not before.
fn early_reads<'f>(failing: &'f BTreeSet<Failure>, known: &'f KnownFailures) -> EarlyReads<'f> {
    let mut early = EarlyReads::new();
    for failure in regressions(failing, known).filter(|failure| failure.certain) {
        let (reader, target, name) = failure.read();
        early.entry((reader, target)).or_default().insert(name);
    }
    early
}

/// The statement of a module that takes all of these names from what has them later, taking them from elsewhere.
fn mended(
    search: &Search<'_>,
    (reader, target): (&str, &str),
    names: &BTreeSet<&str>,
) -> Option<ImportChange> {
    let graph = search.graph;
    let (module, package) = (index(graph, reader)?, index(graph, target)?);
    let own = graph.modules.get(module)?;
    let statement = early_statement(graph, (module, package), names)?;
    let homes = homes(search, (module, package), statement, names)?;
    let modules = spelled_homes(graph, module, statement, &homes);
    let text = search.names.texts.text(&own.path)?;
    let edits = taken_from(&text, statement.span, &modules)?;
    Some(ImportChange {
        path: own.path.clone(),
        edits,
        note: note(own, taken(own, target, &homes)),
        unproven: None,
        lost_names: Vec::new(),
    })
}

/// The statement of a module that takes one of these names of a package.
fn early_statement<'g>(
    graph: &'g PythonGraph,
    (module, package): (usize, usize),
    names: &BTreeSet<&str>,
) -> Option<&'g ImportStatement> {
    let mut imports = graph.facts.get(module)?.imports.iter();
    imports.find(|import| {
        let mut leaves = import.leaves.iter();
        is_plain(import)
            && graph.base_module(module, import) == Some(package)
            && leaves.any(|leaf| names.contains(leaf.name.text.as_str()))
    })
}

/// The module of each name, with dots where the statement has them.
fn spelled_homes(
    graph: &PythonGraph,
    module: usize,
    statement: &ImportStatement,
    homes: &BTreeMap<&str, Vec<&str>>,
) -> BTreeMap<String, String> {
    let dots = statement.from.as_ref().is_some_and(|from| from.level > 0);
    let spelled = |home: &str| {
        let relative = dots.then(|| relative(graph.package_of(module), home));
        relative.flatten().unwrap_or_else(|| home.to_owned())
    };
    let mut modules = BTreeMap::new();
    for (home, names) in homes {
        for name in names {
            modules.insert((*name).to_owned(), spelled(home));
        }
    }
    modules
}

/// The modules that define these names of a statement, each with its names.
fn homes<'g>(
    search: &Search<'g>,
    (module, package): (usize, usize),
    statement: &'g ImportStatement,
    names: &BTreeSet<&str>,
) -> Option<BTreeMap<&'g str, Vec<&'g str>>> {
    let mut homes: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let leaves = statement.leaves.iter().map(|leaf| leaf.name.text.as_str());
    for name in leaves.filter(|name| names.contains(name)) {
        let (home, defined) = home(search, package, name)?;
        if home == module || defined != name {
            return None;
        }
        let home = search.graph.modules.get(home)?;
        homes.entry(&home.name).or_default().push(name);
    }
    Some(homes)
}

/// What is told of the names that a module takes from where they are defined.
fn taken(own: &Module, target: &str, homes: &BTreeMap<&str, Vec<&str>>) -> String {
    let taken = homes.iter().map(|(home, names)| {
        let names = names.iter().map(|name| format!("`{name}`"));
        format!("{} from `{home}`", names.collect::<Vec<_>>().join(", "))
    });
    let taken = taken.collect::<Vec<_>>().join(", ");
    format!(
        "`{}` takes {taken} and not of `{target}`, where it would be read before it is bound",
        own.name
    )
}

fn index(graph: &PythonGraph, name: &str) -> Option<usize> {
    let mut modules = graph.modules.iter();
    modules.position(|module| module.name == name && module.path.extension() == Some("py"))
}

/// Whether a statement binds its names whenever its module is executed.
fn is_plain(import: &ImportStatement) -> bool {
    import.top_level
        && import.eager
        && !import.lazy
        && !import.conditional
        && import.guard == Guard::None
}

/// The module that defines what a package passes on, and its name there, where each on the way has it by one plain statement.
fn home(search: &Search<'_>, package: usize, name: &str) -> Option<(usize, String)> {
    let (mut module, mut name) = (package, name.to_owned());
    for _ in 0..MAXIMUM_CHAIN {
        match passed_on(search, module, &name)? {
            Some(next) => (module, name) = next,
            None => return (module != package).then_some((module, name)),
        }
    }
    None
}

/// Whether each name that a statement takes is one thing whenever it is read: one statement binds it in each module on the
/// way, and nothing sets it there.
pub(super) fn takes_what_stays(
    graph: &PythonGraph,
    texts: &dyn Texts,
    (module, import): (usize, &ImportStatement),
) -> bool {
    let names = NameIndex::new(texts);
    let search = Search { graph, names };
    let base = graph.base_module(module, import);
    let mut leaves = import.leaves.iter();
    base.is_some_and(|base| leaves.all(|leaf| stays(&search, base, &leaf.name.text)))
}

fn stays(search: &Search<'_>, module: usize, name: &str) -> bool {
    let (mut module, mut name) = (module, name.to_owned());
    for _ in 0..MAXIMUM_CHAIN {
        match passed_on(search, module, &name) {
            Some(Some(next)) => (module, name) = next,
            Some(None) => return true,
            None => return false,
        }
    }
    false
}

/// From where a module has a name: the statement that imports it, or none where the module defines it itself. Nothing where
/// something else may bind it, then or later.
fn passed_on(search: &Search<'_>, module: usize, name: &str) -> Option<Option<(usize, String)>> {
    let Search { graph, names, .. } = search;
    let (own, facts) = (graph.modules.get(module)?, graph.facts.get(module)?);
    let text = names.texts.text(&own.path)?;
    let full = format!("{}.{name}", own.name);
    if own.path.extension() != Some("py") || !stays_as_bound(names, &full, &text) {
        return None;
    }
    let mut leaves = facts.import_leaves();
    let imported = leaves.find(|(import, leaf)| leaf.bound() == name && import.top_level);
    let Some((import, leaf)) = imported else {
        let mut own = facts.flow.bound.iter();
        return own
            .any(|(bound, _)| facts.flow.text(*bound) == name)
            .then_some(None);
    };
    let base = graph.base_module(module, import)?;
    let found = graph.leaf_entity(module, import, leaf);
    let item = is_plain(import) && matches!(found, Entity::Item(..)) && base != module;
    item.then(|| Some((base, leaf.name.text.clone())))
}
