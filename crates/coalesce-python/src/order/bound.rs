//! Which names of a half-executed module are bound by now.

use std::{collections::BTreeSet, rc::Rc};

use coalesce_model::Guard;
use rustc_hash::FxHashMap;

use super::program::{Program, Source, State};
use crate::{
    facts::{ImportStatement, Leaf},
    graph::Entity,
};

/// What every module has before anything of it is executed, whatever binds it anew.
const OF_EVERY_MODULE: [&str; 9] = [
    "__builtins__",
    "__class__",
    "__dict__",
    "__doc__",
    "__file__",
    "__loader__",
    "__name__",
    "__package__",
    "__spec__",
];

/// Longer chains of star imports count as bringing a name.
const MAXIMUM_STARS: u32 = 16;

/// The import statements that run with their module, by their numbers in it.
pub(super) struct ExecutedImports<'g> {
    /// By the names that they bind.
    by_name: FxHashMap<&'g str, Vec<usize>>,
    /// Those that take all names.
    stars: Vec<usize>,
}

impl<'g> ExecutedImports<'g> {
    fn of(imports: &'g [ImportStatement]) -> Self {
        let mut found = Self {
            by_name: FxHashMap::default(),
            stars: Vec::new(),
        };
        for (at, import) in imports.iter().enumerate() {
            let executed = import.top_level && import.eager;
            let leaves = import.leaves.iter().filter(|_| executed);
            leaves.for_each(|leaf| found.add(at, leaf));
        }
        found
    }

    fn add(&mut self, at: usize, leaf: &'g Leaf) {
        self.by_name.entry(leaf.bound()).or_default().push(at);
        if leaf.name.text == "*" {
            self.stars.push(at);
        }
    }
}

impl Source {
    /// Something that the text binds for certain.
    const fn bound_at(at: u32) -> Self {
        Self {
            at,
            opaque: false,
            star: None,
            submodule: None,
            may_fail: false,
        }
    }
}

impl<'g> Program<'g> {
    /// Whether a module that is being executed has bound a name already.
    pub(super) fn bound_by_now(&self, module: usize, name: &'g str, state: &State) -> bool {
        match state.position.get(&module) {
            Some(position) => {
                self.bound_at(module, name, *position, state, 0)
                    || self.is_given(module, name, *position)
            }
            None => true,
        }
    }

    /// Whether `__getattr__` of a module gives a name that nothing else binds, once the module has come so far.
    fn is_given(&self, module: usize, name: &'g str, position: u32) -> bool {
        let functions = self.sources(module, "__getattr__");
        !functions.is_empty()
            && functions.iter().all(|function| function.at < position)
            && self.sources(module, name).is_empty()
            && self.graph.lazy_source(module, name).is_some()
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
        // `__path__ = extend_path(__path__, __name__)` reads what a package has from the first.
        let is_package = || {
            self.graph
                .modules
                .get(module)
                .is_some_and(|own| own.package)
        };
        let own = OF_EVERY_MODULE.contains(&name) || name == "__path__" && is_package();
        if supplied || own || depth > MAXIMUM_STARS {
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
    pub(super) fn brings(
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
    pub(super) fn sources(&self, module: usize, name: &'g str) -> Rc<[Source]> {
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
        let own = own.and_then(|own| own.get(name));
        let mut sources: Vec<Source> = Vec::new();
        sources.extend(own.map(|at| Source::bound_at(at.saturating_sub(1))));
        let imports = self.executed_imports(module, name).into_iter();
        sources.extend(imports.filter_map(|import| self.supplies(module, import, name)));
        // What else binds it, as the handler of a `try`, is what is there without the library.
        if sources.iter().any(|source| !source.opaque) {
            sources.retain(|source| !source.may_fail);
        }
        let sources: Rc<[Source]> = sources.into();
        let mut known = self.sources.borrow_mut();
        known.insert((module, name), Rc::clone(&sources));
        sources
    }

    /// The import statements of a module that may bind a name when it runs, in their order.
    fn executed_imports(&self, module: usize, name: &str) -> Vec<&'g ImportStatement> {
        let graph = self.graph;
        let imports = graph.facts.get(module).map(|facts| &facts.imports);
        let Some((imports, known)) = imports.zip(self.executed.get(module)) else {
            return Vec::new();
        };
        let known = known.get_or_init(|| ExecutedImports::of(imports));
        let own = known.by_name.get(name).into_iter().flatten();
        let found: BTreeSet<usize> = own.chain(&known.stars).copied().collect();
        found.into_iter().filter_map(|at| imports.get(at)).collect()
    }

    /// Whether an import statement of a module binds a name.
    fn supplies(&self, module: usize, import: &ImportStatement, name: &str) -> Option<Source> {
        let at = import.span.start;
        if import.leaves.iter().any(|leaf| leaf.bound() == name) {
            return Some(Source::bound_at(at));
        }
        if !import.leaves.iter().any(|leaf| leaf.name.text == "*") {
            return None;
        }
        let star = self.graph.base_module(module, import);
        let (opaque, found) = match star.map(|star| self.graph.star_member(star, name)) {
            Some(Entity::Missing) => return None,
            Some(Entity::Module(found)) => (false, Some(found)),
            Some(Entity::Item(..)) => (false, None),
            Some(Entity::External | Entity::Opaque) | None => (true, None),
        };
        let submodule = found
            .filter(|found| star.is_some_and(|star| self.is_bare_submodule(star, name, *found)));
        Some(Source {
            at,
            opaque,
            star,
            submodule,
            may_fail: opaque && matches!(import.guard, Guard::ImportError | Guard::Suppressed),
        })
    }

    /// Whether a name of a package is a module below it, and nothing that the package binds.
    fn is_bare_submodule(&self, package: usize, name: &str, found: usize) -> bool {
        !self.graph.binds(package, name) && self.graph.submodule(package, name) == Some(found)
    }
}
