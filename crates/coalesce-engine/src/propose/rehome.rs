//! Another home for copies of one text.
//!
//! The copy that ranks first may need what most of the others do not, so that few can go to it. One whose module needs
//! less is tried then, and taken where more copies can go to it.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ImportTarget, LanguageGraph as _, Texts as _};
use coalesce_plan::propose::{Draft, DraftEntry, DraftVerb};
use coalesce_python::{PythonGraph, is_standard};

use super::{homes::unfit, trial::NOT_TRIED};
use crate::Session;

/// Homes that are tried for a group.
const TRIED: usize = 3;

/// The entries, by index, of copies of one text that give way to one home, of which some cannot.
pub(super) fn groups(draft: &Draft) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, entry) in draft.entries.iter().enumerate() {
        let plain = entry.decisions.is_empty() && entry.first_move.is_none();
        if entry.verb == DraftVerb::ReplaceItem && plain && !is_private(&entry.from) {
            groups.entry(&entry.to).or_default().push(at);
        }
    }
    // Where others give way to that home as well, or it goes itself, it has to stay what it is.
    let named = |home: &str| {
        let all = draft.entries.iter();
        all.filter(|entry| entry.to == home || entry.from == home)
            .count()
    };
    groups.retain(|home, group| named(home) == group.len());
    let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
    groups.retain(|group| group.len() > 1 && open(draft, group) < tried(draft, group));
    groups
}

/// How many entries of a group can be followed.
pub(super) fn open(draft: &Draft, group: &[usize]) -> usize {
    entries(draft, group)
        .filter(|entry| entry.is_open())
        .count()
}

/// How many of them were tried.
fn tried(draft: &Draft, group: &[usize]) -> usize {
    let tried = |entry: &&DraftEntry| entry.refused.as_deref() != Some(NOT_TRIED);
    entries(draft, group).filter(tried).count()
}

fn entries<'d>(draft: &'d Draft, group: &'d [usize]) -> impl Iterator<Item = &'d DraftEntry> {
    group.iter().filter_map(|at| draft.entries.get(*at))
}

/// The copies of a group whose modules bring the others less that they do not need themselves than its home does, those
/// that bring least first.
pub(super) fn homes(session: &Session, draft: &Draft, group: &[usize]) -> Vec<String> {
    let needs = Needs::new(session);
    let Some(home) = entries(draft, group).next().map(|entry| &entry.to) else {
        return Vec::new();
    };
    let goes = entries(draft, group).map(|entry| &entry.from);
    let all: Vec<(&String, Needed<'_>)> = goes
        .chain([home])
        .filter_map(|copy| Some((copy, needs.of(copy)?)))
        .collect();
    let brings = |own: &Needed<'_>| -> usize {
        let others = all.iter();
        others.map(|(_, other)| own.difference(other).count()).sum()
    };
    let mut rated: Vec<(usize, &String)> =
        all.iter().map(|(copy, own)| (brings(own), *copy)).collect();
    rated.sort();
    let of_home = rated.iter().find(|(_, copy)| *copy == home);
    let most = of_home.map_or(0, |(brings, _)| *brings);
    let better = rated.iter().take_while(|(brings, _)| *brings < most);
    let homes = better.filter(|(_, copy)| !is_unfit(session, copy));
    homes.map(|(_, copy)| (*copy).clone()).take(TRIED).collect()
}

/// The draft in which the copies of a group give way to another one of them.
pub(super) fn with_home(draft: &Draft, group: &[usize], home: &str) -> Draft {
    let mut changed = draft.clone();
    for at in group {
        let Some(entry) = changed.entries.get_mut(*at) else {
            continue;
        };
        if entry.from == home {
            entry.from.clone_from(&entry.to);
        }
        home.clone_into(&mut entry.to);
        entry.refused = None;
        entry.reasons = vec![
            format!("`{}` is a copy of `{home}`.", entry.from),
            format!("`{home}` stays: its module needs the least, so most copies can go to it."),
        ];
    }
    changed
}

/// Whether a name says that it is its module's own.
fn is_private(name: &str) -> bool {
    let item = name.rsplit('.').next().unwrap_or_default();
    item.starts_with('_') && !item.starts_with("__")
}

/// Whether nobody should come to use what the module of an item has.
fn is_unfit(session: &Session, item: &str) -> bool {
    let graph = &session.python.graph;
    let module = item.rsplit_once('.').map(|(module, _)| module);
    let modules = graph.modules();
    let Some(at) = modules
        .iter()
        .position(|one| Some(one.name.as_str()) == module)
    else {
        return true;
    };
    let Some(path) = modules.get(at).map(|module| &module.path) else {
        return true;
    };
    let imported = || {
        let mut imports = graph.imports().iter();
        imports.any(|one| one.target == ImportTarget::Module(at) && one.importer != at)
    };
    let text = session.tree.text(path);
    text.is_none_or(|text| unfit(path, &text, &imported).is_some())
}

/// What a module needs, by name.
type Needed<'s> = BTreeSet<&'s str>;

/// What Python modules need when they are imported: libraries, and modules of the tree.
struct Needs<'s> {
    graph: &'s PythonGraph,
    by_name: BTreeMap<&'s str, usize>,
    /// What each imports at once.
    modules: Vec<Vec<usize>>,
    libraries: Vec<Vec<&'s str>>,
}

impl<'s> Needs<'s> {
    fn new(session: &'s Session) -> Self {
        let graph = &session.python.graph;
        let all = graph.modules().iter().enumerate();
        let by_name: BTreeMap<&str, usize> =
            all.map(|(at, module)| (module.name.as_str(), at)).collect();
        let count = graph.modules().len();
        let mut modules: Vec<Vec<usize>> = vec![Vec::new(); count];
        let mut libraries: Vec<Vec<&str>> = vec![Vec::new(); count];
        for import in graph.imports().iter().filter(|import| import.eager) {
            let library = import.name.split('.').next().unwrap_or_default();
            match import.target {
                ImportTarget::Module(target) => push(&mut modules, import.importer, target),
                _ if is_standard(library) => {}
                _ => push(&mut libraries, import.importer, library),
            }
        }
        Self {
            graph,
            by_name,
            modules,
            libraries,
        }
    }

    /// What the module of an item needs, itself included.
    fn of(&self, item: &str) -> Option<Needed<'s>> {
        let (module, _) = item.rsplit_once('.')?;
        let mut left = vec![*self.by_name.get(module)?];
        let (mut seen, mut needed) = (BTreeSet::new(), Needed::new());
        while let Some(at) = left.pop() {
            if seen.insert(at) {
                left.extend(self.modules.get(at).into_iter().flatten());
                needed.extend(self.libraries.get(at).into_iter().flatten());
                let module = self.graph.modules().get(at);
                needed.extend(module.map(|module| module.name.as_str()));
            }
        }
        Some(needed)
    }
}

fn push<T>(lists: &mut [Vec<T>], at: usize, value: T) {
    if let Some(list) = lists.get_mut(at) {
        list.push(value);
    }
}
