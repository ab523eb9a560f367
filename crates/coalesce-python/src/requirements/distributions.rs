//! Distributions that lie in one tree: each is installed by itself, so that one has another only where its project file
//! says so.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use coalesce_model::{
    Change, Guard, Module, Subject, TreePath, Unproven, UnprovenKind, change::Renames,
};

use super::{Libraries, Needs, is_for_tests, is_same};
use crate::{
    facts::{ImportStatement, Leaf, PythonFacts},
    graph::PythonGraph,
    project::distribution,
};

/// One distribution of a tree.
pub struct Distribution {
    /// Its name as it is written.
    name: String,
    directory: TreePath,
    /// What is installed along with it, and what that brings along of the tree, in the spelling that indexes compare by.
    requires: BTreeSet<String>,
    on_request: BTreeSet<String>,
    /// What it needs is worked out when it is built.
    worked_out: bool,
}

impl Distribution {
    fn beside(directory: &TreePath) -> Self {
        Self {
            name: String::new(),
            directory: directory.clone(),
            requires: BTreeSet::new(),
            on_request: BTreeSet::new(),
            worked_out: false,
        }
    }
}

/// The distributions of a tree, and which one each module is of. None where there is no more than one.
#[derive(Default)]
pub struct Distributions {
    list: Vec<Distribution>,
    of: Vec<Option<usize>>,
}

impl Distributions {
    /// Those that the project files of a tree name.
    pub fn new(graph: &PythonGraph) -> Self {
        let mut list = declared(&graph.projects);
        if list.len() < 2 {
            return Self::default();
        }
        spread(&mut list);
        let of = graph.modules.iter();
        let of = of.map(|module| nearest(&list, &module.path)).collect();
        Self { list, of }
    }

    fn of(&self, module: usize) -> Option<&Distribution> {
        self.list.get((*self.of.get(module)?)?)
    }

    /// The names of the distributions that these modules are of, and that a module is none of.
    pub fn others(&self, module: usize, targets: &[usize]) -> Libraries {
        let Some(own) = self.of(module) else {
            return Libraries::new();
        };
        let others = targets.iter().filter_map(|target| self.of(*target));
        let others = others.filter(|other| other.directory != own.directory);
        others.map(|other| other.name.clone()).collect()
    }

    fn named(&self, name: &str) -> Option<&Distribution> {
        self.list.iter().find(|each| each.name == name)
    }

    /// Whether a name is that of a distribution of the tree which is there wherever a module is; none where it is no such
    /// name.
    pub fn gives(&self, graph: &PythonGraph, module: usize, name: &str) -> Option<bool> {
        let other = self.named(name)?;
        Some(self.is_with(graph, module, other).unwrap_or(true))
    }

    /// Whether one has another distribution with it; none where nobody can tell.
    fn is_with(&self, graph: &PythonGraph, module: usize, other: &Distribution) -> Option<bool> {
        let Some(own) = self.of(module) else {
            return Some(true);
        };
        let name = distribution(&other.name);
        let module = graph.modules.get(module)?;
        let aside = is_for_tests(graph, module) || !is_packaged(graph, module);
        let asked = aside && own.on_request.contains(&name);
        // What stands beside packages of a project that others lie in has its whole environment.
        let around = aside && other.directory.strip_prefix(&own.directory).is_some();
        let has =
            own.directory == other.directory || own.requires.contains(&name) || asked || around;
        (has || !own.worked_out).then_some(has)
    }
}

/// Whether a module is part of a package, or lies where such ones do.
fn is_packaged(graph: &PythonGraph, module: &Module) -> bool {
    let top = module.name.split('.').next().unwrap_or_default();
    let top = graph.find(None, top).and_then(|top| graph.modules.get(top));
    top.is_some_and(|top| top.package)
}

/// What the project files of each folder say together.
fn declared(projects: &[(TreePath, Arc<PythonFacts>)]) -> Vec<Distribution> {
    let mut by_folder: BTreeMap<TreePath, Distribution> = BTreeMap::new();
    for (path, facts) in projects {
        let directory = path.parent().unwrap_or_else(TreePath::root);
        let found = by_folder.entry(directory);
        let found = found.or_insert_with_key(Distribution::beside);
        let said = &facts.distribution;
        if found.name.is_empty() {
            found.name = said.name.clone().unwrap_or_default();
        }
        found.requires.extend(facts.requirements.iter().cloned());
        found.on_request.extend(said.on_request.iter().cloned());
        found.worked_out |= said.worked_out;
    }
    let named = by_folder.into_values();
    named.filter(|found| !found.name.is_empty()).collect()
}

/// Adds what requirements that lie in the tree bring along.
fn spread(list: &mut [Distribution]) {
    let own = list.iter();
    let own = own.map(|each| (distribution(&each.name), each.requires.clone()));
    let own: BTreeMap<String, BTreeSet<String>> = own.collect();
    for each in list {
        let mut open: Vec<String> = each.requires.iter().cloned().collect();
        while let Some(name) = open.pop() {
            let brought = own.get(&name).into_iter().flatten();
            for more in brought {
                if each.requires.insert(more.clone()) {
                    open.push(more.clone());
                }
            }
        }
    }
}

/// The distribution whose folder is the nearest one around a file.
fn nearest(list: &[Distribution], path: &TreePath) -> Option<usize> {
    let around = list
        .iter()
        .enumerate()
        .filter(|(_, each)| path.strip_prefix(&each.directory).is_some());
    let found = around.max_by_key(|(_, each)| each.directory.components().count());
    found.map(|(at, _)| at)
}

/// What an import may need another distribution for, whenever it is executed.
fn loosely_needed(needs: &Needs<'_>, module: usize) -> BTreeSet<String> {
    let facts = needs.graph.facts.get(module);
    let leaves = facts.into_iter().flat_map(|facts| facts.import_leaves());
    let run = leaves.filter(|(import, _)| import.guard != Guard::TypeChecking);
    let others = |(import, leaf): (&ImportStatement, &Leaf)| {
        let (targets, _) = needs.reaches(module, import, leaf);
        needs.distributions.others(module, &targets)
    };
    run.flat_map(others).collect()
}

/// What nobody refuses, and may find another distribution missing: an import that waits or has a guard, one of a project
/// whose requirements are worked out, and a shim that leads to another distribution.
pub(super) fn unproven((old, new): (&Needs<'_>, &Needs<'_>), changes: &[Change]) -> Vec<Unproven> {
    if new.distributions.list.is_empty() {
        return Vec::new();
    }
    let (before, after) = (old.graph, new.graph);
    let mut unproven = Vec::new();
    let edited = (0..after.modules.len()).filter(|module| !is_as_it_was(before, after, *module));
    for module in edited {
        let needed = loosely_needed(new, module);
        let Some(origin) = origin(before, after, changes, module).filter(|_| !needed.is_empty())
        else {
            continue;
        };
        let had = origin.had.iter();
        let had: Libraries = had.flat_map(|each| loosely_needed(old, *each)).collect();
        let lost = needed.difference(&had).filter(|name| {
            !new.is_allowed(name) && new.misses(module, name) && !new.is_refused(module, name)
        });
        let place = origin.place;
        unproven.extend(lost.filter_map(|name| told(before, place, (new.name(module), name))));
    }
    unproven.extend(shims(new, before, changes));
    unproven
}

/// Whether a module has the name and the text that it had.
fn is_as_it_was(before: &PythonGraph, after: &PythonGraph, module: usize) -> bool {
    let name = after.modules.get(module).map(|module| &module.name);
    let was = name.and_then(|name| before.find(None, name));
    was.is_some_and(|was| is_same(before, was, after, module))
}

fn told(before: &PythonGraph, place: usize, (module, name): (&str, &str)) -> Option<Unproven> {
    Some(Unproven {
        path: before.modules.get(place)?.path.clone(),
        span: None,
        kind: UnprovenKind::FailingImport,
        name: module.to_owned(),
        why: format!(
            "it comes to import something of `{name}`, another project of the tree that its own one does not declare"
        ),
    })
}

/// Shims that lead to what their own distribution does not have.
fn shims(new: &Needs<'_>, before: &PythonGraph, changes: &[Change]) -> Vec<Unproven> {
    let graph = new.graph;
    let module_of = |graph: &PythonGraph, change: &Change, name: &str| match change.subject {
        Subject::Item => graph.find(None, name.rsplit_once('.')?.0),
        _ => graph.find(None, name),
    };
    let shimmed = changes.iter().filter(|change| change.shim.is_some());
    let found = shimmed.filter_map(|change| {
        let shim = module_of(graph, change, &change.from)?;
        let target = module_of(graph, change, &change.to)?;
        let place = module_of(before, change, &change.from)?;
        let others = new.distributions.others(shim, &[target]);
        let name = others.iter().find(|name| new.misses(shim, name))?;
        (!new.is_allowed(name)).then(|| told(before, place, (new.name(shim), name)))?
    });
    found.collect()
}

impl Needs<'_> {
    /// Whether importing a module fails for certain where a distribution is missing, which its own one does not declare.
    fn is_refused(&self, module: usize, name: &str) -> bool {
        let certain = self.own.get(module).is_some_and(|own| own.contains(name));
        certain && self.distributions.gives(self.graph, module, name) == Some(false)
    }

    /// Whether a distribution of the tree may be missing where a module is.
    fn misses(&self, module: usize, name: &str) -> bool {
        let other = self.distributions.named(name);
        other.is_some_and(|other| {
            self.distributions.is_with(self.graph, module, other) != Some(true)
        })
    }
}

/// What says of a module of the planned tree what it needed before.
#[derive(Default)]
pub struct EarlierPlace {
    /// The module of the tree as it was that is told.
    pub place: usize,
    /// Those whose needs are no new ones: itself by its old name, or, where it comes into being, all of its distribution.
    pub had: Vec<usize>,
    /// It comes into being.
    pub made: bool,
}

/// Where a module of the planned tree comes from; none where it is none that something goes to.
pub fn origin(
    before: &PythonGraph,
    after: &PythonGraph,
    changes: &[Change],
    module: usize,
) -> Option<EarlierPlace> {
    let made = after.modules.get(module)?;
    let renames = Renames::new(changes, ".");
    let is_it = |old: &Module| {
        old.path.extension() == made.path.extension()
            && (old.name == made.name || renames.renamed(&old.name).as_deref() == Some(&made.name))
    };
    let old = before.modules.iter().enumerate();
    let had: Vec<usize> = old
        .filter(|(_, old)| is_it(old))
        .map(|(at, _)| at)
        .collect();
    if let Some(place) = had.first().copied() {
        return Some(EarlierPlace {
            place,
            had,
            made: false,
        });
    }
    let mut left = changes.iter().filter_map(|change| {
        let (to, _) = change.to.rsplit_once('.')?;
        let (from, _) = change.from.rsplit_once('.')?;
        (change.subject == Subject::Item && to == made.name).then(|| before.find(None, from))?
    });
    let place = left.next()?;
    let known = Distributions::new(before);
    let home = nearest(&known.list, &made.path)?;
    let same = (0..before.modules.len()).filter(|at| known.of.get(*at) == Some(&Some(home)));
    Some(EarlierPlace {
        place,
        had: same.collect(),
        made: true,
    })
}
