//! The modules of a graph as programs that import and call each other.

use std::{
    cell::{OnceCell, RefCell},
    rc::Rc,
};

use coalesce_model::ImportTarget;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    facts::ImportStatement,
    flow::{Calls, Event, What},
    graph::{Entity, PythonGraph},
};

/// Deeper chains of imports and calls are not followed.
const MAXIMUM_DEPTH: usize = 900;

/// Longer chains of star imports count as bringing a name.
const MAXIMUM_STARS: u32 = 16;

/// A read that fails: the reader, the half-executed module, the name, and whether it happens for
/// certain: what is called may not come to it.
pub type Read = (usize, usize, String, bool);

/// Where the execution stands.
#[derive(Clone, Default)]
pub struct State {
    /// 0: untouched, 1: being executed, 2: done.
    pub stage: Vec<u8>,
    /// The place that a module being executed has reached.
    position: FxHashMap<usize, u32>,
    /// Star imports of half-executed modules, by module and place: how far those were.
    partial: FxHashMap<(usize, u32), u32>,
    /// Bodies that were called already: whatever they read is bound since.
    ran: FxHashSet<(usize, usize)>,
    /// While a call is played that need not happen.
    supposed: Option<Supposed>,
}

/// What a call that need not happen has done.
#[derive(Clone, Default)]
struct Supposed {
    executed: Vec<usize>,
    ran: Vec<(usize, usize)>,
}

/// What may bind a name of a module.
struct Source {
    /// From here on it is bound.
    at: u32,
    /// Only perhaps.
    opaque: bool,
    /// The module of which a star import at `at` takes it.
    star: Option<usize>,
    /// What it takes is this submodule, which nothing in the text binds.
    submodule: Option<usize>,
}

/// The bodies of each name of a module.
type BodiesByName<'g> = FxHashMap<&'g str, Rc<[usize]>>;

/// Something by module and name.
type ByMember<'g, T> = FxHashMap<(usize, &'g str), T>;

/// The import of every module of a graph.
pub struct Program<'g> {
    graph: &'g PythonGraph,
    /// Whether branches of `if` are executed.
    branches: bool,
    /// Modules that the changes touch: only what leads to them is executed for a call that need
    /// not happen.
    touched: &'g [bool],
    /// Modules that the imports of a module execute, without the packages around them.
    loads: Vec<Vec<usize>>,
    /// Modules that touched ones can be reached from.
    leading: Vec<bool>,
    parents: Vec<Option<usize>>,
    /// What import leaves name, by the places of their names.
    targets: Vec<Vec<(u32, usize, bool)>>,
    own: Vec<OnceCell<FxHashMap<&'g str, u32>>>,
    bodies: Vec<OnceCell<BodiesByName<'g>>>,
    sources: RefCell<ByMember<'g, Rc<[Source]>>>,
    members: RefCell<ByMember<'g, Meaning>>,
    locals: RefCell<FxHashMap<(usize, u32, u32), Meaning>>,
}

/// What a name means here.
#[derive(Clone)]
enum Meaning {
    Module(usize),
    /// An item of a module: what calling it does.
    Item(usize, Rc<[usize]>),
    Other,
}

impl<'g> Program<'g> {
    pub fn new(graph: &'g PythonGraph, touched: &'g [bool], branches: bool) -> Self {
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
        let parents: Vec<Option<usize>> = modules.map(|module| parent(&module.name)).collect();
        let loads = loads(graph);
        Self {
            graph,
            branches,
            touched,
            leading: leading(touched, &loads, &parents),
            loads,
            parents,
            targets: targets(graph),
            own: graph.modules.iter().map(|_| OnceCell::new()).collect(),
            bodies: graph.modules.iter().map(|_| OnceCell::new()).collect(),
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

    /// A fresh interpreter.
    pub fn fresh(&self) -> State {
        State {
            stage: vec![0; self.graph.modules.len()],
            ..State::default()
        }
    }

    /// The import of a module.
    pub fn execute(
        &self,
        module: usize,
        state: &mut State,
        found: &mut FxHashSet<Read>,
        depth: usize,
    ) {
        if depth > MAXIMUM_DEPTH || state.stage.get(module) != Some(&0) {
            return;
        }
        if let Some(parent) = self.parents.get(module).copied().flatten() {
            self.execute(parent, state, found, depth + 1);
        }
        match state.stage.get_mut(module) {
            Some(stage) if *stage == 0 => *stage = 1,
            _ => return,
        }
        if let Some(supposed) = &mut state.supposed {
            supposed.executed.push(module);
        }
        if let Some(facts) = self.graph.facts.get(module) {
            for event in &facts.flow.module {
                state.position.insert(module, event.at);
                self.event(module, event, false, state, found, depth);
            }
        }
        state.position.remove(&module);
        if let Some(stage) = state.stage.get_mut(module) {
            *stage = 2;
        }
    }

    fn running(&self, module: usize, state: &State) -> bool {
        state.stage.get(module) == Some(&1)
    }

    fn event(
        &self,
        module: usize,
        event: &Event,
        inner: bool,
        state: &mut State,
        found: &mut FxHashSet<Read>,
        depth: usize,
    ) {
        match &event.what {
            What::Import(statement) => self.import(module, *statement, state, found, depth),
            What::Use {
                local,
                chain,
                called,
            } => {
                let called = match called {
                    // What is called in the end, a body does not say.
                    Calls::No if inner => Calls::Maybe,
                    Calls::Base if inner => Calls::Yes,
                    other => *other,
                };
                if let Some((home, bodies)) = self.used(module, *local, chain, state, found) {
                    self.call(home, &bodies, called, state, found, depth);
                }
            }
        }
    }

    fn import(
        &self,
        module: usize,
        statement: u32,
        state: &mut State,
        found: &mut FxHashSet<Read>,
        depth: usize,
    ) {
        let facts = self.graph.facts.get(module);
        let Some(import) = facts.and_then(|facts| facts.imports.get(statement as usize)) else {
            return;
        };
        if import.conditional && !self.branches {
            return;
        }
        for leaf in &import.leaves {
            let Some((target, whole)) = self.target(module, leaf.name.span.start) else {
                continue;
            };
            if whole && self.has_other(module, import, &leaf.name.text, state) {
                continue;
            }
            if state.supposed.is_none() || self.leads_on(target, state) {
                self.execute(target, state, found, depth + 1);
            }
            if leaf.name.text == "*" {
                self.star(module, import, target, state, found);
            } else if !whole {
                self.read(module, target, &leaf.name.text, state, found, depth);
            }
        }
    }

    /// Whether `from package import module` finds that a star import has brought the package
    /// something of that name: then no module is looked for.
    fn has_other(
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

    fn target(&self, module: usize, at: u32) -> Option<(usize, bool)> {
        let targets = self.targets.get(module)?;
        let found = targets.binary_search_by_key(&at, |(at, ..)| *at).ok()?;
        targets
            .get(found)
            .map(|(_, target, whole)| (*target, *whole))
    }

    /// A star import brings of a half-executed module what it has bound.
    fn star(
        &self,
        reader: usize,
        import: &ImportStatement,
        target: usize,
        state: &mut State,
        found: &mut FxHashSet<Read>,
    ) {
        let (true, Some(module)) = (
            reader != target && self.running(target, state),
            self.graph.modules.get(target),
        ) else {
            return;
        };
        let certain = state.supposed.is_none();
        for name in &module.exports {
            if !self.bound_by_now(target, name, state) {
                found.insert((reader, target, name.clone(), certain));
            }
        }
        if let Some(position) = state.position.get(&target) {
            let position = *position;
            state.partial.insert((reader, import.span.start), position);
        }
    }

    /// `from target import item`, with `target` executed as far as it is.
    fn read(
        &self,
        reader: usize,
        target: usize,
        item: &'g str,
        state: &mut State,
        found: &mut FxHashSet<Read>,
        depth: usize,
    ) {
        if reader == target
            || !self.running(target, state)
            || self.bound_by_now(target, item, state)
        {
            return;
        }
        // The import system looks for a submodule of that name, bound or not.
        match self.graph.submodule(target, item) {
            Some(submodule) => self.execute(submodule, state, found, depth + 1),
            None => drop(found.insert((reader, target, item.to_owned(), state.supposed.is_none()))),
        }
    }

    /// A name is read with its attributes: the item of the tree that it means.
    fn used(
        &self,
        module: usize,
        local: Option<(u32, u32)>,
        chain: &[u32],
        state: &State,
        found: &mut FxHashSet<Read>,
    ) -> Option<(usize, Rc<[usize]>)> {
        let certain = state.supposed.is_none();
        let flow = &self.graph.facts.get(module)?.flow;
        let (root, attributes) = chain.split_first()?;
        let root = flow.text(*root);
        let mut meaning = match local {
            Some((statement, leaf)) => self.local(module, statement, leaf),
            None => {
                if self.running(module, state) && !self.bound_by_now(module, root, state) {
                    found.insert((module, module, root.to_owned(), certain));
                }
                self.member(module, root)
            }
        };
        for attribute in attributes {
            let name = flow.text(*attribute);
            let Meaning::Module(target) = meaning else {
                break;
            };
            let next = self.member(target, name);
            if matches!(next, Meaning::Item(..))
                && target != module
                && self.running(target, state)
                && !self.bound_by_now(target, name, state)
            {
                found.insert((module, target, name.to_owned(), certain));
            }
            meaning = next;
        }
        match meaning {
            Meaning::Item(home, bodies) => Some((home, bodies)),
            _ => None,
        }
    }

    fn member(&self, module: usize, name: &'g str) -> Meaning {
        if let Some(known) = self.members.borrow().get(&(module, name)) {
            return known.clone();
        }
        let meaning = self.meaning(self.graph.member(module, name));
        let mut members = self.members.borrow_mut();
        members.insert((module, name), meaning.clone());
        meaning
    }

    fn meaning(&self, entity: Entity) -> Meaning {
        match entity {
            Entity::Module(module) => Meaning::Module(module),
            Entity::Item(home, item) => Meaning::Item(home, self.bodies_of(home, &item)),
            Entity::External | Entity::Missing | Entity::Opaque => Meaning::Other,
        }
    }

    fn local(&self, module: usize, statement: u32, leaf: u32) -> Meaning {
        let key = (module, statement, leaf);
        if let Some(known) = self.locals.borrow().get(&key) {
            return known.clone();
        }
        let entity = self.local_entity(module, statement, leaf);
        let meaning = entity.map_or(Meaning::Other, |entity| self.meaning(entity));
        self.locals.borrow_mut().insert(key, meaning.clone());
        meaning
    }

    fn local_entity(&self, module: usize, statement: u32, leaf: u32) -> Option<Entity> {
        let imports = &self.graph.facts.get(module)?.imports;
        let import = imports.get(statement as usize)?;
        let leaf = import.leaves.get(leaf as usize)?;
        if import.from.is_none() && leaf.alias.is_none() {
            let top = self.graph.find(Some(module), leaf.bound())?;
            return Some(Entity::Module(top));
        }
        Some(self.graph.leaf_entity(module, import, leaf))
    }

    /// What is called may not be called in the end: it is played for what fails, and undone.
    fn call(
        &self,
        home: usize,
        bodies: &[usize],
        called: Calls,
        state: &mut State,
        found: &mut FxHashSet<Read>,
        depth: usize,
    ) {
        if bodies.is_empty() {
            return;
        }
        let maybe = match called {
            Calls::No => return,
            Calls::Base => return self.subclass(home, bodies, state, found, depth),
            Calls::Maybe => true,
            Calls::Yes => false,
        };
        if depth > MAXIMUM_DEPTH {
            return;
        }
        if state.supposed.is_some() {
            return self.run(home, bodies, maybe, state, found, depth);
        }
        state.supposed = Some(Supposed::default());
        self.run(home, bodies, maybe, state, found, depth);
        let supposed = state.supposed.take().unwrap_or_default();
        if supposed.executed.is_empty() {
            return;
        }
        for body in supposed.ran {
            state.ran.remove(&body);
        }
        for module in supposed.executed {
            if let Some(stage) = state.stage.get_mut(module) {
                *stage = 0;
            }
        }
    }

    /// Whether executing a module comes to one that the changes touch.
    fn leads_on(&self, module: usize, state: &State) -> bool {
        if self.leading.get(module) != Some(&true) {
            return false;
        }
        let mut seen = FxHashSet::default();
        let mut open = vec![module];
        while let Some(module) = open.pop() {
            if state.stage.get(module) != Some(&0) || !seen.insert(module) {
                continue;
            }
            if self.touched.get(module) == Some(&true) {
                return true;
            }
            open.extend(self.parents.get(module).copied().flatten());
            open.extend(self.loads.get(module).into_iter().flatten());
        }
        false
    }

    /// A class gets a subclass, or another one of which it is the class: some are told.
    fn subclass(
        &self,
        home: usize,
        bodies: &[usize],
        state: &mut State,
        found: &mut FxHashSet<Read>,
        depth: usize,
    ) {
        let Some(flow) = self.graph.facts.get(home).map(|facts| &facts.flow) else {
            return;
        };
        for at in bodies {
            let Some(body) = flow.bodies.get(*at) else {
                continue;
            };
            if body.hooks {
                self.call(home, &[*at], Calls::Yes, state, found, depth);
                continue;
            }
            for event in &body.events {
                if let What::Use {
                    local,
                    chain,
                    called: Calls::Base,
                } = &event.what
                    && depth < MAXIMUM_DEPTH
                    && let Some((base, bases)) = self.used(home, *local, chain, state, found)
                    && !(base == home && bases.contains(at))
                {
                    self.call(base, &bases, Calls::Base, state, found, depth + 1);
                }
            }
        }
    }

    fn run(
        &self,
        home: usize,
        bodies: &[usize],
        maybe: bool,
        state: &mut State,
        found: &mut FxHashSet<Read>,
        depth: usize,
    ) {
        let Some(facts) = self.graph.facts.get(home) else {
            return;
        };
        for at in bodies {
            // A class is handed on for many reasons; to be called is the rarest.
            let body = facts.flow.bodies.get(*at);
            let Some(body) = body.filter(|body| !(maybe && body.class)) else {
                continue;
            };
            if !state.ran.insert((home, *at)) {
                continue;
            }
            if let Some(supposed) = &mut state.supposed {
                supposed.ran.push((home, *at));
            }
            for event in &body.events {
                self.event(home, event, true, state, found, depth + 1);
            }
        }
    }

    fn bodies_of(&self, module: usize, item: &str) -> Rc<[usize]> {
        let bodies = self.bodies.get(module).map(|bodies| {
            bodies.get_or_init(|| {
                let mut by_name: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
                if let Some(facts) = self.graph.facts.get(module) {
                    for (at, body) in facts.flow.bodies.iter().enumerate() {
                        let name = facts.flow.text(body.name);
                        by_name.entry(name).or_default().push(at);
                    }
                }
                let by_name = by_name.into_iter();
                by_name
                    .map(|(name, bodies)| (name, bodies.into()))
                    .collect()
            })
        });
        let found = bodies.and_then(|bodies| bodies.get(item));
        found.map_or_else(|| Rc::from([]), Rc::clone)
    }

    /// Whether a module that is being executed has bound a name already.
    fn bound_by_now(&self, module: usize, name: &'g str, state: &State) -> bool {
        match state.position.get(&module) {
            Some(position) => self.bound_at(module, name, *position, state, 0),
            None => true,
        }
    }

    fn bound_at(
        &self,
        module: usize,
        name: &'g str,
        position: u32,
        state: &State,
        depth: u32,
    ) -> bool {
        let sources = self.sources(module, name);
        // What run-time code may supply is given the benefit of doubt.
        let supplied = name.starts_with("__") && name.ends_with("__") && sources.is_empty();
        if supplied || depth > MAXIMUM_STARS {
            return true;
        }
        let has = |source: &Source| self.brings(module, name, source, position, state, depth);
        if sources.iter().any(has) {
            return true;
        }
        let dynamic = self
            .graph
            .facts
            .get(module)
            .is_some_and(|facts| facts.dynamic);
        dynamic && sources.iter().all(|source| source.opaque)
    }

    /// Whether a source of a name has brought it when a module has reached a position.
    fn brings(
        &self,
        module: usize,
        name: &'g str,
        source: &Source,
        position: u32,
        state: &State,
        depth: u32,
    ) -> bool {
        // A submodule is a name of its package once it is executed.
        let executed = |module: usize| state.stage.get(module) == Some(&2);
        let partial = state.partial.get(&(module, source.at));
        source.at < position
            && source.submodule.is_none_or(executed)
            && match (source.star, partial) {
                (Some(star), Some(then)) => self.bound_at(star, name, *then, state, depth + 1),
                _ => true,
            }
    }

    /// All that may bind a name of a module.
    fn sources(&self, module: usize, name: &'g str) -> Rc<[Source]> {
        if let Some(known) = self.sources.borrow().get(&(module, name)) {
            return Rc::clone(known);
        }
        let own = self.own.get(module).map(|own| {
            own.get_or_init(|| {
                let flow = self.graph.facts.get(module).map(|facts| &facts.flow);
                let bound = flow.into_iter().flat_map(|flow| {
                    let bound = flow.bound.iter();
                    bound.map(|(name, at)| (flow.text(*name), *at))
                });
                bound.collect()
            })
        });
        let mut sources: Vec<Source> = Vec::new();
        sources.extend(own.and_then(|own| own.get(name)).map(|at| Source {
            at: at.saturating_sub(1),
            opaque: false,
            star: None,
            submodule: None,
        }));
        let imports = self.graph.facts.get(module).map(|facts| &facts.imports);
        let executed = imports.into_iter().flatten();
        let executed = executed.filter(|import| import.top_level && import.eager);
        sources.extend(executed.filter_map(|import| self.supplies(module, import, name)));
        let sources: Rc<[Source]> = sources.into();
        let mut known = self.sources.borrow_mut();
        known.insert((module, name), Rc::clone(&sources));
        sources
    }

    /// Whether an import statement of a module binds a name.
    fn supplies(&self, module: usize, import: &ImportStatement, name: &str) -> Option<Source> {
        let at = import.span.start;
        if import.leaves.iter().any(|leaf| leaf.bound() == name) {
            return Some(Source {
                at,
                opaque: false,
                star: None,
                submodule: None,
            });
        }
        if !import.leaves.iter().any(|leaf| leaf.name.text == "*") {
            return None;
        }
        let star = self.graph.base_module(module, import);
        let (opaque, found) = match star.map(|star| self.graph.star_member(star, name, 0)) {
            Some(Entity::Missing) => return None,
            Some(Entity::Module(found)) => (false, Some(found)),
            Some(Entity::Item(..)) => (false, None),
            Some(Entity::External | Entity::Opaque) | None => (true, None),
        };
        let submodule = found.filter(|found| {
            star.is_some_and(|star| {
                !self.graph.binds(star, name) && self.graph.submodule(star, name) == Some(*found)
            })
        });
        Some(Source {
            at,
            opaque,
            star,
            submodule,
        })
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

/// Modules that the imports of a module execute.
fn loads(graph: &PythonGraph) -> Vec<Vec<usize>> {
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

/// Modules that come to a touched one in the end.
fn leading(touched: &[bool], loads: &[Vec<usize>], parents: &[Option<usize>]) -> Vec<bool> {
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); touched.len()];
    for (module, (loads, parent)) in loads.iter().zip(parents).enumerate() {
        for target in loads.iter().chain(parent) {
            if let Some(users) = users.get_mut(*target) {
                users.push(module);
            }
        }
    }
    let mut leading = touched.to_vec();
    let mut open: Vec<usize> = (0..touched.len())
        .filter(|at| touched.get(*at) == Some(&true))
        .collect();
    while let Some(module) = open.pop() {
        for user in users.get(module).into_iter().flatten() {
            if let Some(leads) = leading.get_mut(*user).filter(|leads| !**leads) {
                *leads = true;
                open.push(*user);
            }
        }
    }
    leading
}
