//! Classes whose objects are equal to those of their own class alone: enumerations, data classes, and what asks for the
//! class in its methods. Objects of two classes of equal text are never equal; once the two classes are one, they may be.
//!
//! Objects are followed from the classes through what gives them, holds them and is called with them, and a place counts
//! that compares those of the one with those of the other.

mod told;

use std::collections::BTreeSet;

use coalesce_model::Texts;
use rayon::prelude::*;
use ruff_python_ast::Stmt;
use rustc_hash::{FxHashMap, FxHashSet};

pub(super) use self::told::Told;
use super::{
    equivalence::Modules,
    signatures::Swap,
    value_flow::{Argument, CalledFunction, FlowInput, Handed, Sides, ValueFlow},
};
use crate::{
    analysis::Analysis,
    graph::{Entity, PythonGraph},
    names::Names,
    rewrite::mapping::Mapping,
};

/// Name of a module and of what it has.
pub(super) type Item = (usize, String);

/// What each module uses of the tree, and who uses what.
#[derive(Default)]
pub(super) struct UsedItems {
    /// By module: where a name of the tree ends, and what it is.
    by_module: Vec<FxHashMap<u32, Item>>,
    users: FxHashMap<Item, Vec<usize>>,
    /// The modules that set an item of another one: `module.NAME = value`.
    setters: FxHashMap<Item, Vec<usize>>,
}

impl UsedItems {
    /// The modules that use an item.
    pub(super) fn users(&self, item: &Item) -> &[usize] {
        self.users.get(item).map_or(&[], Vec::as_slice)
    }

    /// The modules that set an item of another one.
    pub(super) fn setters(&self, item: &Item) -> &[usize] {
        self.setters.get(item).map_or(&[], Vec::as_slice)
    }

    /// Where the names of an item end in a module.
    pub(super) fn ends(&self, module: usize, item: &Item) -> FxHashSet<u32> {
        let names = self.by_module.get(module).into_iter().flatten();
        let own = names.filter(|(_, found)| *found == item);
        own.map(|(end, _)| *end).collect()
    }
}

/// Reads what each module uses.
pub(super) fn used_items(graph: &PythonGraph, texts: &dyn Texts) -> UsedItems {
    let modules = graph.modules.par_iter().enumerate();
    let used = modules.map(|(index, module)| {
        let text = texts.text(&module.path).unwrap_or_default();
        used_by(graph, index, &text)
    });
    let used: Vec<UsedByModule> = used.collect();
    let mut found = UsedItems::default();
    for (module, used) in used.into_iter().enumerate() {
        let items: BTreeSet<&Item> = used.ends.values().collect();
        for item in items {
            let users = found.users.entry(item.clone()).or_default();
            users.push(module);
        }
        for item in used.set {
            found.setters.entry(item).or_default().push(module);
        }
        found.by_module.push(used.ends);
    }
    found
}

/// What one module uses of the tree.
struct UsedByModule {
    ends: FxHashMap<u32, Item>,
    set: Vec<Item>,
}

/// What one module uses.
fn used_by(graph: &PythonGraph, module: usize, text: &str) -> UsedByModule {
    let analysis = Analysis::without_annotations(text);
    let names = Names::new(graph, Some(module), &analysis);
    let meanings = analysis.uses.iter().flat_map(|used| names.meanings(used));
    let items = meanings.filter_map(|meaning| match meaning.entity {
        Some(Entity::Item(home, item)) => Some((meaning.segment.span.end, (home, item))),
        _ => None,
    });
    let assigned = analysis.uses.iter().filter(|used| used.assigned);
    let set = assigned.filter_map(|used| {
        let mut meanings = names.meanings(used);
        let whole = meanings.len() == used.chain.len();
        match meanings.pop().filter(|_| whole)?.entity? {
            Entity::Item(home, item) => Some((home, item)),
            _ => None,
        }
    });
    UsedByModule {
        ends: items.collect(),
        set: set.collect(),
    }
}

/// The module that compares objects of both classes of a swap.
pub(super) fn place(
    mapping: &Mapping<'_>,
    modules: &Modules<'_>,
    swap: &Swap,
    (statement, (home, item)): (&Stmt, (usize, &str)),
) -> Option<String> {
    let graph = mapping.graph;
    let told = Told::of(graph, modules, (swap.source, &swap.item, statement))?;
    let mut spread = Spread {
        graph,
        modules,
        told,
        used: modules.used_items(graph),
        held: FxHashMap::default(),
        handed: FxHashMap::default(),
        open: BTreeSet::new(),
    };
    spread.hold((swap.source, swap.item.clone()), 1);
    spread.hold((home, item.to_owned()), 2);
    let module = spread.compared()?;
    Some(graph.modules.get(module)?.name.clone())
}

/// How far objects of two classes come.
struct Spread<'a> {
    graph: &'a PythonGraph,
    modules: &'a Modules<'a>,
    told: Told,
    used: &'a UsedItems,
    /// What holds or gives them.
    held: FxHashMap<Item, Sides>,
    /// What is called with them, by module.
    handed: FxHashMap<usize, Handed>,
    /// Modules to look through.
    open: BTreeSet<usize>,
}

impl Spread<'_> {
    /// Follows the objects until some module compares them, or nothing more comes of it.
    fn compared(&mut self) -> Option<usize> {
        while let Some(module) = self.open.pop_first() {
            if self.look(module).unwrap_or_default() {
                return Some(module);
            }
        }
        None
    }

    /// Notes what an item holds; its users are to be looked through then.
    fn hold(&mut self, item: Item, sides: Sides) {
        let known = self.held.entry(item.clone()).or_default();
        if *known | sides != *known {
            *known |= sides;
            let users = self.used.users.get(&item).into_iter().flatten();
            self.open.extend(users);
        }
    }

    fn hand(&mut self, module: usize, called: (String, Argument), sides: Sides) {
        let handed = self.handed.entry(module).or_default();
        let known = handed.entry(called).or_default();
        if *known | sides != *known {
            *known |= sides;
            self.open.insert(module);
        }
    }

    /// Whether a module compares objects of both classes; what it does with them is noted.
    fn look(&mut self, module: usize) -> Option<bool> {
        let read = self.modules.read_of(self.graph, module)?;
        let items = self.used.by_module.get(module)?;
        let held = items.iter();
        let held = held.filter_map(|(end, item)| Some((*end, *self.held.get(item)?)));
        let none = Handed::default();
        let asked = FlowInput {
            told: &self.told,
            held: &held.collect(),
            items,
            handed: self.handed.get(&module).unwrap_or(&none),
            start: read.start,
        };
        let found = ValueFlow::new(asked, &read.statements);
        if found.compared {
            return Some(true);
        }
        let own = found.of_module();
        let own: Vec<(String, Sides)> = own.map(|(name, sides)| (name.to_owned(), sides)).collect();
        let calls = found.calls;
        for (name, sides) in own {
            self.hold((module, name), sides);
        }
        for ((callee, argument), sides) in calls {
            self.called(module, callee, argument, sides);
        }
        Some(false)
    }

    /// Modules whose classes a module may have objects of: those that it uses, and those that they use.
    fn homes(&self, module: usize) -> BTreeSet<usize> {
        let mut homes = BTreeSet::from([module]);
        for _ in 0..2 {
            let used = homes
                .iter()
                .filter_map(|home| self.used.by_module.get(*home));
            let used: Vec<usize> = used.flatten().map(|(_, (home, _))| *home).collect();
            homes.extend(used);
        }
        homes
    }

    /// Notes that a module calls something with such objects.
    fn called(&mut self, module: usize, callee: CalledFunction, argument: Argument, sides: Sides) {
        let method = match callee {
            CalledFunction::Item(home, item) => return self.hand(home, (item, argument), sides),
            CalledFunction::Method(method) => method,
        };
        let definition = format!("def {method}(");
        for home in self.homes(module) {
            let text = self.modules.text(self.graph, home);
            if text.is_some_and(|text| text.contains(&definition)) {
                self.hand(home, (method.clone(), argument.clone()), sides);
            }
        }
    }
}
