//! The modules of a graph as programs that import and call each other.

use std::{
    cell::{OnceCell, RefCell},
    rc::Rc,
};

use coalesce_model::ImportTarget;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    bound::ExecutedImports,
    entered::{Entered, Entrance, Frame},
    reach::{Reach, SHARED},
};
use crate::{
    facts::{ImportStatement, Leaf},
    graph::PythonGraph,
};

/// Deeper chains of imports and calls are not followed.
pub(super) const MAXIMUM_DEPTH: usize = 900;

/// A read that fails.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Read {
    /// Who reads.
    pub reader: usize,
    /// The half-executed module.
    pub target: usize,
    pub name: String,
    /// Whether it happens for certain: what is called may not come to it.
    pub certain: bool,
    /// Whether somebody catches the failure, `try: from pkg import name`, and goes on without.
    pub caught: bool,
}

/// Where the execution stands.
#[derive(Clone, Default)]
pub struct State {
    /// 0: untouched, 1: being executed, 2: done.
    pub stage: Vec<u8>,
    /// The place that a module being executed has reached.
    pub(super) position: FxHashMap<usize, u32>,
    /// Star imports of half-executed modules, by module and place: how far those were.
    pub(super) partial: FxHashMap<(usize, u32), u32>,
    /// Bodies that were called already: whatever they read is bound since.
    pub(super) ran: FxHashSet<(usize, usize)>,
    /// While a call is played that need not happen.
    pub(super) supposed: Option<Supposed>,
    /// The modules that are being executed.
    pub(super) running: Vec<usize>,
    /// The components that are being entered.
    pub(super) frames: Vec<Frame>,
    /// The touched modules that were not executed yet, as bits.
    pub(super) pending: u64,
    /// How many of the imports that are being executed stand where a failure is caught.
    pub(super) catching: u32,
    /// Reads that have failed.
    pub failed: FxHashSet<Read>,
    /// The import statements that are being executed, while somebody wants to know.
    pub(super) trail: Option<Vec<Statement>>,
    /// The statements that were being executed when a read failed for certain.
    pub(super) trails: Vec<(Read, Vec<Statement>)>,
}

/// An import statement: its module and its number there.
pub(super) type Statement = (usize, u32);

impl State {
    pub(super) fn fail(&mut self, reader: usize, target: usize, name: &str) {
        let certain = self.supposed.is_none();
        let read = Read {
            reader,
            target,
            name: name.to_owned(),
            certain,
            caught: self.catching > 0,
        };
        if let Some(trail) = self.trail.as_ref().filter(|_| certain) {
            self.trails.push((read.clone(), trail.clone()));
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.failed.push(read.clone());
        }
        self.failed.insert(read);
    }
}

/// What a call that need not happen has done.
#[derive(Clone, Default)]
pub(super) struct Supposed {
    pub(super) executed: Vec<usize>,
    pub(super) ran: Vec<(usize, usize)>,
}

/// What may bind a name of a module.
pub(super) struct Source {
    /// From here on it is bound.
    pub(super) at: u32,
    /// Only perhaps.
    pub(super) opaque: bool,
    /// The module of which a star import at `at` takes it.
    pub(super) star: Option<usize>,
    /// What it takes is this submodule, which nothing in the text binds.
    pub(super) submodule: Option<usize>,
    /// Whether it may fail, and somebody goes on without: `try: from library import *`.
    pub(super) may_fail: bool,
}

/// The bodies of each name of a module.
type BodiesByName<'g> = FxHashMap<&'g str, Rc<[usize]>>;

/// The bodies of methods, by class and name.
type MethodsByName<'g> = FxHashMap<(u32, &'g str), usize>;

/// Something by module and name.
type ByMember<'g, T> = FxHashMap<(usize, &'g str), T>;

/// The import of every module of a graph.
pub struct Program<'g> {
    pub(super) graph: &'g PythonGraph,
    /// Whether branches of `if` are executed.
    branches: bool,
    /// Statements that are not executed, as if they stood inside of functions.
    pub(super) without: Vec<Statement>,
    /// Modules that the changes touch: only what leads to them is executed for a call that need
    /// not happen.
    pub(super) touched: &'g [bool],
    /// Modules that the imports of a module execute, without the packages around them.
    pub(super) loads: Vec<Vec<usize>>,
    /// Modules that touched ones can be reached from.
    pub(super) leading: Vec<bool>,
    pub(super) parents: Vec<Option<usize>>,
    reach: OnceCell<Reach>,
    /// What executing components from one of their modules came to.
    pub(super) entries: RefCell<FxHashMap<Entrance, Rc<Entered>>>,
    /// What import leaves name, by the places of their names.
    targets: Vec<Vec<(u32, usize, bool)>>,
    pub(super) own: Vec<OnceCell<FxHashMap<&'g str, u32>>>,
    pub(super) executed: Vec<OnceCell<ExecutedImports<'g>>>,
    pub(super) bodies: Vec<OnceCell<BodiesByName<'g>>>,
    pub(super) methods: Vec<OnceCell<MethodsByName<'g>>>,
    pub(super) sources: RefCell<ByMember<'g, Rc<[Source]>>>,
    pub(super) members: RefCell<ByMember<'g, Meaning>>,
    pub(super) locals: RefCell<FxHashMap<(usize, u32, u32), Meaning>>,
}

/// What a name means here.
#[derive(Clone)]
pub(super) enum Meaning {
    Module(usize),
    /// An item of a module: what calling it does.
    Item(usize, Rc<[usize]>),
    Other,
}

impl<'g> Program<'g> {
    pub fn new(graph: &'g PythonGraph, touched: &'g [bool], branches: bool) -> Self {
        let (parents, loads) = (parents(graph), loads(graph));
        Self {
            graph,
            branches,
            without: Vec::new(),
            touched,
            leading: leading(touched, &loads, &parents),
            loads,
            parents,
            reach: OnceCell::new(),
            entries: RefCell::default(),
            targets: targets(graph),
            own: graph.modules.iter().map(|_| OnceCell::new()).collect(),
            executed: graph.modules.iter().map(|_| OnceCell::new()).collect(),
            bodies: graph.modules.iter().map(|_| OnceCell::new()).collect(),
            methods: graph.modules.iter().map(|_| OnceCell::new()).collect(),
            sources: RefCell::default(),
            members: RefCell::default(),
            locals: RefCell::default(),
        }
    }

    /// The top-level package of a module.
    pub fn top(&self, module: usize) -> usize {
        let parents = std::iter::successors(Some(module), |module| {
            self.parents.get(*module).copied().flatten()
        });
        parents.last().unwrap_or(module)
    }

    /// Modules from which a touched one can be reached, also by what their functions import.
    pub fn reaching(&self) -> Vec<bool> {
        reaching(self.graph, self.touched, &self.parents)
    }

    pub(super) fn reach(&self) -> &Reach {
        self.reach
            .get_or_init(|| Reach::new(self.graph, self.touched, &self.parents))
    }

    /// A fresh interpreter.
    pub fn fresh(&self) -> State {
        State {
            stage: vec![0; self.graph.modules.len()],
            pending: self.reach().all_touched(),
            ..State::default()
        }
    }

    /// The import of a module.
    pub fn execute(&self, module: usize, state: &mut State, depth: usize) {
        self.note_entrance(module, state);
        if depth > MAXIMUM_DEPTH || state.stage.get(module) != Some(&0) {
            return;
        }
        if let Some(parent) = self.parents.get(module).copied().flatten() {
            self.execute(parent, state, depth + 1);
        }
        if state.stage.get(module) != Some(&0) {
            return;
        }
        if self.reach().is_quiet(module) {
            if let Some(stage) = state.stage.get_mut(module) {
                *stage = 2;
            }
        } else if state.supposed.is_some() || self.is_inside(module, state) {
            self.perform(module, state, depth);
        } else {
            self.enter(module, state, depth);
        }
    }

    /// Executes the text of a module.
    pub(super) fn perform(&self, module: usize, state: &mut State, depth: usize) {
        if let Some(stage) = state.stage.get_mut(module) {
            *stage = 1;
        }
        state.running.push(module);
        state.pending &= !self.reach().bit(module) | SHARED;
        if let Some(supposed) = &mut state.supposed {
            supposed.executed.push(module);
        }
        // Types beside a source file are never executed.
        let types = |module: &coalesce_model::Module| module.path.extension() == Some("pyi");
        let types = self.graph.modules.get(module).is_some_and(types);
        if let Some(facts) = self.graph.facts.get(module).filter(|_| !types) {
            for event in &facts.flow.module {
                state.position.insert(module, event.at);
                self.event(module, event, None, state, depth);
            }
        }
        state.position.remove(&module);
        state.running.pop();
        if let Some(stage) = state.stage.get_mut(module) {
            *stage = 2;
        }
    }

    pub(super) fn running(&self, module: usize, state: &State) -> bool {
        state.stage.get(module) == Some(&1)
    }

    pub(super) fn import(&self, module: usize, statement: u32, state: &mut State, depth: usize) {
        let facts = self.graph.facts.get(module);
        let Some(import) = facts.and_then(|facts| facts.imports.get(statement as usize)) else {
            return;
        };
        if import.conditional && !self.branches || self.without.contains(&(module, statement)) {
            return;
        }
        if let Some(trail) = &mut state.trail {
            trail.push((module, statement));
        }
        let catches = u32::from(import.guard.hides_failure());
        state.catching += catches;
        self.leaves(module, import, state, depth);
        state.catching -= catches;
        if let Some(trail) = &mut state.trail {
            trail.pop();
        }
    }

    /// The leaves of an import statement, one after the other.
    fn leaves(&self, module: usize, import: &'g ImportStatement, state: &mut State, depth: usize) {
        for leaf in &import.leaves {
            self.leaf(module, import, leaf, state, depth);
        }
    }

    fn leaf(
        &self,
        module: usize,
        import: &'g ImportStatement,
        leaf: &'g Leaf,
        state: &mut State,
        depth: usize,
    ) {
        let Some((target, whole)) = self.target(module, leaf.name.span.start) else {
            return;
        };
        if whole && self.has_other(module, import, &leaf.name.text, state) {
            return;
        }
        if state.supposed.is_none() || self.leads_on(target, state) {
            self.execute(target, state, depth + 1);
        }
        if leaf.name.text == "*" {
            self.star_leaf(module, import, target, state, depth);
        } else if !whole {
            self.read(module, target, &leaf.name.text, state, depth);
            self.give(target, &leaf.name.text, state, depth);
        }
    }

    /// A star import: what the other module lists is given, too.
    fn star_leaf(
        &self,
        module: usize,
        import: &'g ImportStatement,
        target: usize,
        state: &mut State,
        depth: usize,
    ) {
        self.star(module, import, target, state);
        let facts = self.graph.facts.get(target);
        let listed = facts.and_then(|facts| facts.all.as_ref());
        for name in listed.into_iter().flatten() {
            self.give(target, &name.text, state, depth);
        }
    }

    /// A table of a module, or its `__getattr__`, loads another one when a name is asked for, and reads it there.
    pub(super) fn give(&self, target: usize, name: &str, state: &mut State, depth: usize) {
        let Some(source) = self.graph.lazy_source(target, name) else {
            return;
        };
        if state.supposed.is_some() && !self.leads_on(source, state) {
            return;
        }
        self.execute(source, state, depth + 1);
        let facts = self.graph.facts.get(target);
        let imports = facts.into_iter().flat_map(|facts| &facts.imports);
        let leaves = imports
            .filter(|import| import.lazy)
            .flat_map(|import| &import.leaves);
        let mut named = leaves.filter(|leaf| leaf.bound() == name);
        if let Some(leaf) = named.next().filter(|_| depth < MAXIMUM_DEPTH)
            && self.graph.modules.get(source).is_some_and(|source| {
                source.name.rsplit('.').next() != Some(leaf.name.text.as_str())
            })
        {
            self.read(target, source, &leaf.name.text, state, depth + 1);
        }
    }

    /// Whether `from package import module` finds that a star import has brought the package
    /// something of that name: then no module is looked for.
    pub(super) fn has_other(
        &self,
        reader: usize,
        import: &ImportStatement,
        name: &'g str,
        state: &State,
    ) -> bool {
        let Some(package) = self.graph.base_module(reader, import) else {
            return false;
        };
        let position = state.position.get(&package).copied().unwrap_or(u32::MAX);
        let sources = self.sources(package, name);
        let mut stars = sources
            .iter()
            .filter(|source| source.star.is_some() && !source.opaque);
        stars.any(|source| self.brings(package, name, source, position, state, 0))
    }

    pub(super) fn target(&self, module: usize, at: u32) -> Option<(usize, bool)> {
        let targets = self.targets.get(module)?;
        let found = targets.binary_search_by_key(&at, |(at, ..)| *at).ok()?;
        targets
            .get(found)
            .map(|(_, target, whole)| (*target, *whole))
    }

    /// A star import brings of a half-executed module what it has bound.
    pub(super) fn star(
        &self,
        reader: usize,
        import: &ImportStatement,
        target: usize,
        state: &mut State,
    ) {
        let (true, Some(module)) = (
            reader != target && self.running(target, state),
            self.graph.modules.get(target),
        ) else {
            return;
        };
        for name in &module.exports {
            if !self.bound_by_now(target, name, state) {
                state.fail(reader, target, name);
            }
        }
        if let Some(position) = state.position.get(&target) {
            let position = *position;
            state.partial.insert((reader, import.span.start), position);
        }
    }

    /// `from target import item`, with `target` executed as far as it is.
    pub(super) fn read(
        &self,
        reader: usize,
        target: usize,
        item: &'g str,
        state: &mut State,
        depth: usize,
    ) {
        if !self.running(target, state) || self.bound_by_now(target, item, state) {
            return;
        }
        // The import system looks for a submodule of that name, bound or not. A compiled one has no
        // text here, and comes to be when it is asked for.
        match self.graph.submodule(target, item) {
            Some(submodule) => self.execute(submodule, state, depth + 1),
            None if self.sources(target, item).is_empty()
                && self.graph.is_compiled(target, item) => {}
            None => state.fail(reader, target, item),
        }
    }
}

/// What import leaves name, by the places of their names: the module to execute, and whether it is
/// what is named.
fn targets(graph: &PythonGraph) -> Vec<Vec<(u32, usize, bool)>> {
    let mut targets: Vec<Vec<(u32, usize, bool)>> = vec![Vec::new(); graph.modules.len()];
    for import in &graph.imports {
        let (ImportTarget::Module(target), Some(list)) =
            (&import.target, targets.get_mut(import.importer))
        else {
            continue;
        };
        let named = |name: &String| import.name == *name;
        let whole = graph
            .modules
            .get(*target)
            .is_some_and(|module| named(&module.name) || module.also.iter().any(named));
        list.push((import.span.start, *target, whole));
    }
    for list in &mut targets {
        list.sort_by_key(|(at, ..)| *at);
    }
    targets
}

/// The package around each module.
pub(crate) fn parents(graph: &PythonGraph) -> Vec<Option<usize>> {
    let by_name: FxHashMap<&str, usize> = graph
        .modules
        .iter()
        .enumerate()
        .rev()
        .map(|(index, module)| (module.name.as_str(), index))
        .collect();
    // A package without a file executes nothing; the ones above it do.
    let parent = |name: &str| {
        let above = std::iter::successors(Some(name), |name| Some(name.rsplit_once('.')?.0));
        above
            .skip(1)
            .find_map(|parent| by_name.get(parent).copied())
    };
    let modules = graph.modules.iter();
    modules.map(|module| parent(&module.name)).collect()
}

/// Modules that the imports of a module execute.
pub(crate) fn loads(graph: &PythonGraph) -> Vec<Vec<usize>> {
    let mut loads: Vec<Vec<usize>> = vec![Vec::new(); graph.modules.len()];
    for import in graph.imports.iter().filter(|import| import.eager) {
        if let (ImportTarget::Module(target), Some(list)) =
            (&import.target, loads.get_mut(import.importer))
        {
            list.push(*target);
        }
    }
    loads
}

/// Modules from which a touched one can be reached, also by what their functions import.
fn reaching(graph: &PythonGraph, touched: &[bool], parents: &[Option<usize>]) -> Vec<bool> {
    let mut loads: Vec<Vec<usize>> = vec![Vec::new(); graph.modules.len()];
    for import in &graph.imports {
        if let (ImportTarget::Module(target), Some(list)) =
            (&import.target, loads.get_mut(import.importer))
        {
            list.push(*target);
        }
    }
    leading(touched, &loads, parents)
}

/// Modules that come to a touched one in the end.
pub(crate) fn leading(
    touched: &[bool],
    loads: &[Vec<usize>],
    parents: &[Option<usize>],
) -> Vec<bool> {
    let users = users_of(touched.len(), loads, parents);
    let mut leading = touched.to_vec();
    let mut open: Vec<usize> = (0..touched.len())
        .filter(|at| touched.get(*at) == Some(&true))
        .collect();
    while let Some(module) = open.pop() {
        let users = users.get(module).into_iter().flatten();
        let marked = |user: &usize| {
            let mark = leading.get_mut(*user);
            mark.is_some_and(|leads| !std::mem::replace(leads, true))
        };
        open.extend(users.copied().filter(marked));
    }
    leading
}

/// The modules that load each module, or stand below it.
fn users_of(count: usize, loads: &[Vec<usize>], parents: &[Option<usize>]) -> Vec<Vec<usize>> {
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); count];
    let loads = loads.iter().zip(parents).enumerate();
    let loads = loads.flat_map(|(module, (loads, parent))| {
        let targets = loads.iter().chain(parent);
        targets.map(move |target| (module, *target))
    });
    for (module, target) in loads {
        if let Some(users) = users.get_mut(target) {
            users.push(module);
        }
    }
    users
}
