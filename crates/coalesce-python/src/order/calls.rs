//! Calls of what a tree defines, by the names of functions, classes and their methods.
//!
//! What is called runs once an interpreter, and as a supposition: what it imports counts for what
//! it does itself, and is undone for what comes after.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::program::{MAXIMUM_DEPTH, Meaning, Program, State, Supposed};
use crate::{
    flow::{Body, Calls, Event, Flow, What},
    graph::Entity,
    rewrite::is_builtin,
};

/// What runs when a class is called.
const CONSTRUCTORS: [&str; 4] = [
    "__new__",
    "__init__",
    "__post_init__",
    "__attrs_post_init__",
];

/// What runs when a class gets a subclass or, as a metaclass, a class.
const HOOKS: [&str; 6] = [
    "__init_subclass__",
    "__prepare__",
    "__set_name__",
    "__call__",
    "__new__",
    "__init__",
];

/// What a use comes to: the module and the bodies of an item, and the attribute of it.
pub(super) struct Used<'g> {
    home: usize,
    bodies: Rc<[usize]>,
    attribute: Option<&'g str>,
}

/// How something is called that a use in a body, or outside of any, reads.
fn called_in(called: Calls, around: Option<&Body>) -> Calls {
    match called {
        // What is called in the end, a body does not say.
        Calls::No if around.is_some() => Calls::Maybe,
        other => other,
    }
}

impl<'g> Program<'g> {
    /// One thing that a module does, or one of its bodies.
    pub(super) fn event(
        &self,
        module: usize,
        event: &'g Event,
        around: Option<&'g Body>,
        state: &mut State,
        depth: usize,
    ) {
        match &event.what {
            What::Import(statement) => self.import(module, *statement, state, depth),
            What::Own(attribute) => self.own(module, *attribute, around, state, depth),
            What::Use {
                local,
                chain,
                called,
            } => {
                let called = called_in(*called, around);
                if let Some(used) = self.used((module, *local, around), chain, state, depth) {
                    self.call(&used, called, state, depth);
                }
            }
        }
    }

    /// An attribute of the object or the class that a method belongs to.
    fn own(
        &self,
        module: usize,
        attribute: u32,
        around: Option<&'g Body>,
        state: &mut State,
        depth: usize,
    ) {
        if let (Some(flow), Some(of)) = (self.flow(module), around.and_then(|body| body.of)) {
            let class = self.bodies_of(module, flow.text(of));
            let name = flow.text(attribute);
            self.methods(module, &class, &[name], state, depth);
        }
    }

    pub(super) fn flow(&self, module: usize) -> Option<&'g Flow> {
        self.graph.facts.get(module).map(|facts| &facts.flow)
    }

    /// A name is read with its attributes: the item of the tree that it means.
    fn used(
        &self,
        (module, local, around): (usize, Option<(u32, u32)>, Option<&Body>),
        chain: &[u32],
        state: &mut State,
        depth: usize,
    ) -> Option<Used<'g>> {
        let flow = self.flow(module)?;
        let mut attributes = chain.iter().map(|name| flow.text(*name));
        let root = attributes.next()?;
        let meaning = match local {
            Some((statement, leaf)) => self.local(module, statement, leaf),
            None => self.read_name(module, root, around, state),
        };
        let meaning = self.read_attributes(module, meaning, &mut attributes, state, depth);
        let Meaning::Item(home, bodies) = meaning else {
            return None;
        };
        Some(Used {
            home,
            bodies,
            attribute: attributes.next(),
        })
    }

    /// A module reads a name of its own.
    fn read_name(
        &self,
        module: usize,
        name: &'g str,
        around: Option<&Body>,
        state: &mut State,
    ) -> Meaning {
        if self.running(module, state)
            && !self.bound_by_now(module, name, state)
            && !self.is_built_in(module, name, around)
        {
            state.fail(module, module, name);
        }
        self.member(module, name)
    }

    /// A module reads attributes of others, as long as these are modules: what the last one of them is.
    fn read_attributes(
        &self,
        module: usize,
        root: Meaning,
        attributes: &mut impl Iterator<Item = &'g str>,
        state: &mut State,
        depth: usize,
    ) -> Meaning {
        let mut meaning = root;
        while let Meaning::Module(target) = meaning
            && let Some(attribute) = attributes.next()
        {
            meaning = self.read_attribute(module, (target, attribute), state, depth);
        }
        meaning
    }

    /// A module reads an attribute of another one.
    fn read_attribute(
        &self,
        module: usize,
        (target, name): (usize, &'g str),
        state: &mut State,
        depth: usize,
    ) -> Meaning {
        let found = self.member(target, name);
        let unbound = self.has_to_be_bound((target, name), &found, state)
            && self.running(target, state)
            && !self.bound_by_now(target, name, state);
        if unbound || self.is_half_executed((target, name), &found, state) {
            state.fail(module, target, name);
        }
        self.give(target, name, state, depth);
        found
    }

    /// Whether an attribute of a package is a module below it that is being executed, and that nothing else binds: the package
    /// has it when it is through.
    fn is_half_executed(
        &self,
        (target, name): (usize, &'g str),
        found: &Meaning,
        state: &State,
    ) -> bool {
        matches!(found, Meaning::Module(found) if self.running(*found, state)
            && self.graph.submodule(target, name) == Some(*found))
            && !self.running(target, state)
            && self.sources(target, name).is_empty()
    }

    /// Whether something has to have bound an attribute of a module for it to be there.
    fn has_to_be_bound(
        &self,
        (target, name): (usize, &str),
        found: &Meaning,
        state: &State,
    ) -> bool {
        // A submodule is an attribute of its package when it is through, or something has bound it.
        match found {
            Meaning::Item(..) => true,
            Meaning::Module(found) => {
                let through = state.stage.get(*found) == Some(&2);
                let own = self.graph.submodule(target, name) == Some(*found);
                // What a call that need not happen would have executed by then is not known, but for what is under way.
                let known = state.supposed.is_none() || self.running(*found, state);
                known && !(own && through)
            }
            Meaning::Other => false,
        }
    }

    /// Whether a name is there before a module binds anything. Outside of functions that is what is read above a
    /// definition of the same name, whoever comes there first: `builtin_open = open`. A function would read the other
    /// one if it was called later, so there no more than a star import may bind it.
    fn is_built_in(&self, module: usize, name: &'g str, around: Option<&Body>) -> bool {
        let sources = self.sources(module, name);
        is_builtin(name) && (around.is_none() || sources.iter().all(|source| source.opaque))
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
        let entity = self.graph.bound_entity(module, (statement, leaf));
        let meaning = entity.map_or(Meaning::Other, |entity| self.meaning(entity));
        self.locals.borrow_mut().insert(key, meaning.clone());
        meaning
    }

    /// What is called may not be called in the end: it is played for what fails, and undone.
    fn call(&self, used: &Used<'g>, called: Calls, state: &mut State, depth: usize) {
        let nothing = used.bodies.is_empty() || called == Calls::No || depth > MAXIMUM_DEPTH;
        if nothing || !self.matters(used.home, state) {
            return;
        }
        if state.supposed.is_some() {
            return self.run(used, called, state, depth);
        }
        state.supposed = Some(Supposed::default());
        self.run(used, called, state, depth);
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
            state.pending |= self.reach().bit(module);
        }
    }

    fn run(&self, used: &Used<'g>, called: Calls, state: &mut State, depth: usize) {
        let Some(flow) = self.flow(used.home) else {
            return;
        };
        for at in used.bodies.iter() {
            if let Some(body) = flow.bodies.get(*at) {
                self.run_body(used, (*at, body), called, state, depth);
            }
        }
    }

    /// A class, or a function, is called, or an attribute of it is read.
    fn run_body(
        &self,
        used: &Used<'g>,
        (at, body): (usize, &'g Body),
        called: Calls,
        state: &mut State,
        depth: usize,
    ) {
        let home = used.home;
        match (body.class, called, used.attribute) {
            (true, Calls::Base, _) => self.told(home, body, state, depth),
            (true, Calls::Yes, None) => self.methods(home, &[at], &CONSTRUCTORS, state, depth),
            (true, _, Some(name)) => self.methods(home, &[at], &[name], state, depth),
            // A class is handed on for many reasons; to be called is the rarest.
            (true, ..) | (false, Calls::Base, _) => {}
            (false, _, name) => {
                self.body(home, at, state, depth);
                if let Some(name) = name {
                    self.of_instance(home, body, name, state, depth);
                }
            }
        }
    }

    fn body(&self, home: usize, at: usize, state: &mut State, depth: usize) {
        let Some(body) = self.flow(home).and_then(|flow| flow.bodies.get(at)) else {
            return;
        };
        if depth > MAXIMUM_DEPTH || !state.ran.insert((home, at)) {
            return;
        }
        if let Some(supposed) = &mut state.supposed {
            supposed.ran.push((home, at));
        }
        for event in &body.events {
            self.event(home, event, Some(body), state, depth + 1);
        }
    }

    /// A class gets a subclass, or another one of which it is the class: some are told.
    fn told(&self, home: usize, class: &'g Body, state: &mut State, depth: usize) {
        let Some(flow) = self.flow(home) else {
            return;
        };
        let own = self.bodies_of(home, flow.text(class.name));
        if class.hooks {
            self.methods(home, &own, &HOOKS, state, depth);
            return;
        }
        for used in self.bases(home, class, state, depth) {
            if depth < MAXIMUM_DEPTH && !(used.home == home && used.bodies == own) {
                self.run(&used, Calls::Base, state, depth + 1);
            }
        }
    }

    /// What stands among the bases of a class.
    fn bases(
        &self,
        home: usize,
        class: &'g Body,
        state: &mut State,
        depth: usize,
    ) -> Vec<Used<'g>> {
        let bases = class.events.iter().filter_map(|event| match &event.what {
            What::Use {
                local,
                chain,
                called: Calls::Base,
            } => self.used((home, *local, Some(class)), chain, state, depth),
            _ => None,
        });
        bases.collect()
    }

    /// Methods of a class, or of what it is made of.
    fn methods(
        &self,
        home: usize,
        classes: &[usize],
        names: &[&'g str],
        state: &mut State,
        depth: usize,
    ) {
        let flow = self.flow(home);
        for at in classes {
            let class = flow.and_then(|flow| flow.bodies.get(*at));
            let Some(class) = class.filter(|body| body.class) else {
                continue;
            };
            let left = self.own_methods((home, class), names, state, depth);
            if left.is_empty() || depth > MAXIMUM_DEPTH {
                continue;
            }
            let bases = self.bases(home, class, state, depth).into_iter();
            let is_own = |used: &Used<'_>| used.home == home && used.bodies.contains(at);
            for used in bases.filter(|used| !is_own(used)) {
                self.methods(used.home, &used.bodies, &left, state, depth + 1);
            }
        }
    }

    /// Methods that the body of a class has itself: those of them that are left for its bases.
    fn own_methods(
        &self,
        (home, class): (usize, &Body),
        names: &[&'g str],
        state: &mut State,
        depth: usize,
    ) -> Vec<&'g str> {
        let mut left = Vec::new();
        for name in names {
            match self.method_of(home, class.name, name) {
                // A constructor calls those of its bases, as a rule.
                Some(method) => {
                    self.body(home, method, state, depth + 1);
                    left.extend(CONSTRUCTORS.contains(name).then_some(*name));
                }
                None => left.push(*name),
            }
        }
        left
    }

    /// A method or property of what a name holds: of the classes that its value is made with.
    fn of_instance(
        &self,
        home: usize,
        value: &'g Body,
        name: &'g str,
        state: &mut State,
        depth: usize,
    ) {
        for event in &value.events {
            if let What::Use {
                local,
                chain,
                called: Calls::Yes,
            } = &event.what
                && let Some(used) = self.used((home, *local, Some(value)), chain, state, depth)
            {
                self.methods(used.home, &used.bodies, &[name], state, depth + 1);
            }
        }
    }

    /// The bodies that a name of a module has.
    fn bodies_of(&self, module: usize, item: &str) -> Rc<[usize]> {
        let bodies = self.bodies.get(module).map(|bodies| {
            bodies.get_or_init(|| {
                let mut by_name: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
                let flow = self.flow(module);
                for (at, body) in flow
                    .into_iter()
                    .flat_map(|flow| flow.bodies.iter().enumerate())
                {
                    if let (Some(flow), None) = (flow, body.of) {
                        by_name.entry(flow.text(body.name)).or_default().push(at);
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

    /// The body of a method of a class of a module.
    fn method_of(&self, module: usize, class: u32, name: &str) -> Option<usize> {
        let methods = self.methods.get(module)?.get_or_init(|| {
            let flow = self.flow(module);
            let bodies = flow.into_iter().flat_map(|flow| {
                let bodies = flow.bodies.iter().enumerate();
                bodies.filter_map(|(at, body)| Some(((body.of?, flow.text(body.name)), at)))
            });
            bodies.collect()
        });
        methods.get(&(class, name)).copied()
    }

    /// Whether executing a module comes to one that the changes touch.
    pub(super) fn leads_on(&self, module: usize, state: &State) -> bool {
        if self.leading.get(module) != Some(&true)
            || self.reach().touched_from(module) & state.pending == 0
        {
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
}
