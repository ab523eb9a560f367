//! Modules that are run no longer when something is imported: what is told of each.

use std::{
    cell::{LazyCell, OnceCell},
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use coalesce_model::{ByteSpan, Change, ImportTarget, Unproven, UnprovenKind};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Imports, ModuleSet, Registered, Runs, effects::ImportEffects, registered_items, replaced,
    unseen::Unseen,
};
use crate::{
    flow::{Event, Flow, What},
    graph::{Entity, PythonGraph},
    names::is_word,
    rewrite::is_program,
};

/// What is told of a module that others read as an attribute of its package.
const READ_AS_ATTRIBUTE: &str = "it is read as an attribute of its package, and nothing that is imported here loads it \
                                 any more";

/// The modules that are run no longer. `now` has for each module the one that it is afterwards.
pub(super) fn lost(
    graphs: (&PythonGraph, &PythonGraph),
    changes: &[Change],
    (old, new): &(Imports, Imports),
    now: &[Option<usize>],
    imported: &ImportEffects<'_, '_>,
) -> Vec<Unproven> {
    let (before, after) = graphs;
    let mut losses = Losses::new(graphs, changes, now, imported);
    let mut changed: Vec<usize> = losses.registered.iter().map(|item| item.home).collect();
    changed.extend((0..before.modules.len()).filter(|module| old.loses(*module, new, now)));
    let mut unproven = replaced::lost(before, after, changes, imported.told());
    let (mut old_runs, mut new_runs) = (Runs::new(old), Runs::new(new));
    for root in old.leading_to(&changed) {
        if let Some(root_now) = losses.now(root) {
            let (ran, runs) = (old_runs.of(root), new_runs.of(root_now));
            unproven.extend(losses.of_root((root, root_now), &ran, &runs));
        }
    }
    unproven
}

/// What is run no longer, of which each is told once.
struct Losses<'g> {
    before: &'g PythonGraph,
    after: &'g PythonGraph,
    now: &'g [Option<usize>],
    imported: &'g ImportEffects<'g, 'g>,
    unseen: Unseen<'g>,
    /// Items that register themselves and are told of no one yet.
    registered: Vec<Registered>,
    /// Who imports each module as soon as it is executed.
    importers: FxHashMap<usize, Vec<usize>>,
    /// What others import that stay, or are programs, and all that these lead to; once somebody asks.
    led: OnceCell<FxHashSet<usize>>,
    /// By module; nothing once it is told.
    told: BTreeMap<usize, Option<Unproven>>,
}

impl<'g> Losses<'g> {
    fn new(
        (before, after): (&'g PythonGraph, &'g PythonGraph),
        changes: &[Change],
        now: &'g [Option<usize>],
        imported: &'g ImportEffects<'g, 'g>,
    ) -> Self {
        Self {
            before,
            after,
            now,
            imported,
            unseen: Unseen::new(before, after, imported.told().texts),
            registered: registered_items(before, after, changes, imported),
            importers: eager_importers(before),
            led: OnceCell::new(),
            told: BTreeMap::new(),
        }
    }

    /// The module that one is afterwards.
    fn now(&self, module: usize) -> Option<usize> {
        self.now.get(module).copied().flatten()
    }

    /// What the import of `root` no longer runs: it `ran` those modules, and `runs` these.
    fn of_root(
        &mut self,
        (root, root_now): (usize, usize),
        ran: &ModuleSet,
        runs: &ModuleSet,
    ) -> Vec<Unproven> {
        let is_lost = |module: &usize| self.now(*module).is_some_and(|now| !runs.has(now));
        let gone: BTreeSet<usize> = ran.members().filter(is_lost).collect();
        let mut unproven = Vec::new();
        if !self.is_led_to((root, root_now)) {
            for module in &gone {
                unproven.extend(self.of_module(*module, root, runs));
            }
            unproven.extend(self.of_registered(root, ran, runs));
        }
        let gone = gone.iter().filter_map(|module| self.now(*module));
        let gone: BTreeSet<usize> = gone.collect();
        if !gone.is_empty() {
            let (was, is) = ((self.before, root), (self.after, root_now));
            let path = self.before.modules.get(root).map(|root| &root.path);
            let text = path.and_then(|path| self.imported.told().texts.text(path));
            let text = text.unwrap_or_default();
            unproven.extend(attributes(was, is, &gone, &text));
        }
        unproven
    }

    /// Whether a module goes elsewhere that others import, and that nobody runs as a program: what is run on the way to it is
    /// asked of those, as long as one of them is asked itself. Modules that go elsewhere together may import each other.
    fn is_led_to(&self, root: (usize, usize)) -> bool {
        self.is_passed_over(root) && self.led.get_or_init(|| self.led()).contains(&root.0)
    }

    fn led(&self) -> FxHashSet<usize> {
        let mut imported: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for (module, importer) in eager_imports(self.before) {
            imported.entry(importer).or_default().push(module);
        }
        let importers = imported.keys().copied();
        let is_asked = |importer: &usize| {
            let now = self.now(*importer);
            now.is_some_and(|now| !self.is_passed_over((*importer, now)))
        };
        let mut open: Vec<usize> = importers.filter(is_asked).collect();
        let mut led = FxHashSet::default();
        while let Some(module) = open.pop() {
            let imported = imported.get(&module).into_iter().flatten();
            open.extend(imported.copied().filter(|module| led.insert(*module)));
        }
        led
    }

    /// Whether a module goes elsewhere, and is no program.
    fn is_passed_over(&self, (root, root_now): (usize, usize)) -> bool {
        let name = |graph: &PythonGraph, module: usize| {
            let module = graph.modules.get(module);
            module.map(|module| module.name.clone())
        };
        let moves = name(self.before, root) != name(self.after, root_now);
        let path = self.before.modules.get(root).map(|root| &root.path);
        let text = || path.and_then(|path| self.imported.told().texts.text(path));
        moves && !text().is_none_or(|text| is_program(&text))
    }

    /// What a module does that is run no longer, unless that is told.
    fn of_module(&mut self, module: usize, root: usize, runs: &ModuleSet) -> Option<Unproven> {
        let found = self.told.entry(module).or_insert_with(|| {
            let told = self.imported.told().of_module(module, root);
            let told = told.or_else(|| self.imported.lost(module, root));
            told.or_else(|| self.unseen.of_module(module, root, runs))
        });
        found.take()
    }

    /// The items that registered themselves and do so no longer.
    fn of_registered(&mut self, root: usize, ran: &ModuleSet, runs: &ModuleSet) -> Vec<Unproven> {
        let mut unproven = Vec::new();
        self.registered.retain(|item| {
            // Nobody comes to it by its module alone where others import that: they are looked at themselves.
            let alone = item.registers && root == item.home && self.importers.contains_key(&root);
            let kept = !ran.has(item.home) || runs.has(item.arrives) || alone;
            if !kept {
                unproven.extend(item.unproven(self.before, root));
            }
            kept
        });
        unproven
    }
}

/// The modules that import each one as soon as they are executed.
fn eager_importers(graph: &PythonGraph) -> FxHashMap<usize, Vec<usize>> {
    let mut found: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    for (module, importer) in eager_imports(graph) {
        found.entry(module).or_default().push(importer);
    }
    found
}

/// The modules that others import as soon as these are executed, each with who does.
fn eager_imports(graph: &PythonGraph) -> impl Iterator<Item = (usize, usize)> {
    graph
        .imports
        .iter()
        .filter_map(|import| match import.target {
            ImportTarget::Module(target) if import.importer != target && import.eager => {
                Some((target, import.importer))
            }
            _ => None,
        })
}

/// Where a module, as it is afterwards, reads one of these as an attribute of its package, and imports it
/// nowhere itself.
fn attributes(
    (before, was): (&PythonGraph, usize),
    (graph, root): (&PythonGraph, usize),
    gone: &BTreeSet<usize>,
    text: &str,
) -> Vec<Unproven> {
    let (Some(module), Some(facts)) = (before.modules.get(was), graph.facts.get(root)) else {
        return Vec::new();
    };
    // Of a text that changes the place is another one.
    let known = before.facts.get(was);
    let same = known.is_some_and(|known| Arc::ptr_eq(known, facts));
    let reads = attributes_read(graph, (root, &facts.flow), gone);
    let values = read_of_values(graph, (root, &facts.flow), gone, text);
    let values = values.filter(|(_, lost)| reads.iter().all(|(_, known)| known != lost));
    let unproven = reads.into_iter().chain(values).map(|(at, lost)| Unproven {
        path: module.path.clone(),
        span: same.then(|| ByteSpan::empty(at)),
        kind: UnprovenKind::NotLoaded,
        name: graph
            .modules
            .get(lost)
            .map_or_else(String::new, |lost| lost.name.clone()),
        why: READ_AS_ATTRIBUTE.to_owned(),
    });
    unproven.collect()
}

/// The places where a module first reads each of these as an attribute, with what it reads.
fn attributes_read(
    graph: &PythonGraph,
    (module, flow): (usize, &Flow),
    gone: &BTreeSet<usize>,
) -> Vec<(u32, usize)> {
    // All imports of the tree are looked at only where something is missing.
    let own = LazyCell::new(|| targets_of(graph, module));
    let mut told = FxHashSet::default();
    let reads = flow.events().filter_map(|event| {
        let mut through = modules_read(graph, (module, flow), event).into_iter();
        let lost = through.find(|each| gone.contains(each) && !own.contains(each))?;
        told.insert(lost).then_some((event.at, lost))
    });
    reads.collect()
}

/// The modules that a module imports itself.
fn targets_of(graph: &PythonGraph, importer: usize) -> FxHashSet<usize> {
    let own = graph.imports.iter();
    let own = own.filter(|import| import.importer == importer);
    let targets = own.filter_map(|import| match import.target {
        ImportTarget::Module(target) => Some(target),
        _ => None,
    });
    targets.collect()
}

/// The modules that a use reads as attributes of others.
fn modules_read(graph: &PythonGraph, (module, flow): (usize, &Flow), event: &Event) -> Vec<usize> {
    let What::Use { local, chain, .. } = &event.what else {
        return Vec::new();
    };
    let chain = chain.iter().map(|name| flow.text(*name));
    let mut through = graph.follow(module, *local, chain).through;
    // The first is bound by an import of this module; the others are attributes.
    through.drain(..through.len().min(1));
    through
}

/// Where a module first takes a package as a value that has one of these, and reads its name of something: `sub = pkg.sub`,
/// `sub.old.f()`.
fn read_of_values(
    graph: &PythonGraph,
    (module, flow): (usize, &Flow),
    gone: &BTreeSet<usize>,
    text: &str,
) -> Option<(u32, usize)> {
    let has_name = |name: &str| {
        let attribute = format!(".{name}");
        text.match_indices(&attribute).any(|(at, found)| {
            let rest = text.get(at + found.len()..).unwrap_or_default();
            !rest.starts_with(is_word)
        })
    };
    let read = |lost: &usize| {
        let (parent, leaf) = graph.modules.get(*lost)?.name.rsplit_once('.')?;
        Some((graph.find(None, parent)?, *lost, leaf))
    };
    let lost = gone.iter().filter_map(read);
    let lost: Vec<(usize, usize, &str)> = lost.filter(|(_, _, leaf)| has_name(leaf)).collect();
    if lost.is_empty() {
        return None;
    }
    flow.events().find_map(|event| {
        let What::Use { local, chain, .. } = &event.what else {
            return None;
        };
        let links = chain.iter().map(|name| flow.text(*name));
        let Entity::Module(package) = graph.follow(module, *local, links).end else {
            return None;
        };
        let mut lost = lost.iter();
        let (_, lost, _) = lost.find(|(parent, ..)| *parent == package)?;
        Some((event.at, *lost))
    })
}
