//! What the play of an import need not go through: calls that can come to no module that is being executed, and modules
//! from which nothing leads back.
//!
//! A read fails where the module that is read is being executed. Whatever is called then was imported by it, in the end; so
//! what is called reads it only where both lead to each other. All of an import that is neither in such a cycle nor leads to a
//! touched module does what it did.

use coalesce_model::{ImportTarget, components};

use super::program::{Program, State};
use crate::{
    flow::What,
    graph::{Entity, PythonGraph},
};

/// Touched modules that are told from each other; further ones share the last bit.
const TOLD_APART: u32 = 63;

/// The bit that several may share: whether all of them were executed, it does not say.
pub(super) const SHARED: u64 = 1 << TOLD_APART;

/// Where modules lead, by all imports, those in functions included.
pub(super) struct Reach {
    /// The modules of a number lead to each other.
    component: Vec<usize>,
    /// The modules of each component.
    members: Vec<Vec<usize>>,
    /// The bit of each touched module; of the others none.
    bits: Vec<u64>,
    /// The touched modules that a component leads to, as bits.
    touched: Vec<u64>,
    /// Components that lead to no cycle and to no touched module, but for the packages around them.
    quiet: Vec<bool>,
}

impl Reach {
    pub fn new(graph: &PythonGraph, touched: &[bool], parents: &[Option<usize>]) -> Self {
        let edges = edges(graph, parents);
        let component = components(&edges);
        let count = component.iter().max().map_or(0, |last| last + 1);
        let members = members_of(&component, count);
        let mut reach = Self {
            component,
            bits: bits(touched),
            touched: vec![0; count],
            quiet: members.iter().map(|members| members.len() == 1).collect(),
            members,
        };
        // Nobody leads to a later component, so what it leads to is known.
        for module in reach.members.concat() {
            reach.mark(module, reach.bit(module), reach.bit(module) == 0);
            let around = above(module, parents);
            for target in edges.get(module).into_iter().flatten() {
                // The packages around a module are through when it is executed, or lead back to it.
                let mut executed = std::iter::once(*target).chain(above(*target, parents));
                let quiet = executed.all(|each| around.contains(&each) || reach.is_quiet(each));
                reach.mark(module, reach.touched_from(*target), quiet);
            }
        }
        reach
    }

    fn mark(&mut self, module: usize, bits: u64, quiet: bool) {
        let Some(component) = self.component.get(module).copied() else {
            return;
        };
        if let Some(touched) = self.touched.get_mut(component) {
            *touched |= bits;
        }
        if let Some(known) = self.quiet.get_mut(component) {
            *known &= quiet;
        }
    }

    pub fn component(&self, module: usize) -> Option<usize> {
        self.component.get(module).copied()
    }

    /// The touched modules that a module leads to, as bits.
    pub fn touched_from(&self, module: usize) -> u64 {
        let touched = self.component(module).and_then(|at| self.touched.get(at));
        touched.copied().unwrap_or(u64::MAX)
    }

    /// The bit of a touched module.
    pub fn bit(&self, module: usize) -> u64 {
        self.bits.get(module).copied().unwrap_or_default()
    }

    /// The bits of all touched modules.
    pub fn all_touched(&self) -> u64 {
        self.bits.iter().fold(0, |all, bit| all | bit)
    }

    /// The modules that lead to this one and that it leads to, itself included.
    pub fn members(&self, module: usize) -> &[usize] {
        let members = self.component(module).and_then(|at| self.members.get(at));
        members.map_or(&[], Vec::as_slice)
    }

    /// Whether all that the import of a module does is what it did.
    pub fn is_quiet(&self, module: usize) -> bool {
        let quiet = self.component(module).and_then(|at| self.quiet.get(at));
        quiet == Some(&true)
    }
}

/// The packages around a module.
fn above(module: usize, parents: &[Option<usize>]) -> Vec<usize> {
    let around = |module: &usize| parents.get(*module).copied().flatten();
    let all = std::iter::successors(Some(module), around);
    all.skip(1).collect()
}

/// A bit for each touched module.
fn bits(touched: &[bool]) -> Vec<u64> {
    let mut number = 0;
    let bits = touched.iter().map(|touched| match touched {
        true => {
            number += 1;
            1 << (number - 1).min(TOLD_APART)
        }
        false => 0,
    });
    bits.collect()
}

/// The modules that each names somewhere, and the packages around it.
fn edges(graph: &PythonGraph, parents: &[Option<usize>]) -> Vec<Vec<usize>> {
    let mut edges: Vec<Vec<usize>> = (parents.iter())
        .map(|parent| parent.iter().copied().collect())
        .collect();
    for import in &graph.imports {
        if let (ImportTarget::Module(target), Some(list)) =
            (&import.target, edges.get_mut(import.importer))
        {
            list.push(*target);
        }
    }
    for (module, list) in edges.iter_mut().enumerate() {
        list.extend(brought(graph, module));
        list.sort_unstable();
        list.dedup();
    }
    edges
}

/// The modules that what a module imports leads to, and those that it names through a package.
fn brought(graph: &PythonGraph, module: usize) -> Vec<usize> {
    let Some(facts) = graph.facts.get(module) else {
        return Vec::new();
    };
    let mut found: Vec<usize> = Vec::new();
    let mut through_packages = false;
    for (import, leaf) in facts.import_leaves() {
        let entity = graph.leaf_entity(module, import, leaf);
        through_packages |= leads_through_package(graph, &entity, &leaf.name.text);
        found.extend(match entity {
            Entity::Module(home) | Entity::Item(home, _) => Some(home),
            Entity::External | Entity::Missing | Entity::Opaque => None,
        });
    }
    if facts.lazy_stub {
        found.extend(graph.twin(module));
    }
    if through_packages {
        found.extend(named_through(graph, module));
    }
    found
}

/// Whether what an import names is a package, or comes through one, so that chains may go on below it.
fn leads_through_package(graph: &PythonGraph, entity: &Entity, name: &str) -> bool {
    let Entity::Module(target) = entity else {
        return name == "*";
    };
    let package = graph.modules.get(*target).is_some_and(|one| one.package);
    package || name.contains('.') || name == "*"
}

/// The modules of each component.
fn members_of(component: &[usize], count: usize) -> Vec<Vec<usize>> {
    let mut members = vec![Vec::new(); count];
    for (module, component) in component.iter().enumerate() {
        if let Some(members) = members.get_mut(*component) {
            members.push(module);
        }
    }
    members
}

/// The modules that the chains of a module go through.
fn named_through(graph: &PythonGraph, module: usize) -> Vec<usize> {
    let Some(flow) = graph.facts.get(module).map(|facts| &facts.flow) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for event in flow.events() {
        let What::Use { local, chain, .. } = &event.what else {
            continue;
        };
        let names = chain.iter().map(|name| flow.text(*name));
        let followed = graph.follow(module, *local, names);
        found.extend(followed.through);
        if let Entity::Item(home, _) = followed.end {
            found.push(home);
        }
    }
    found
}

impl Program<'_> {
    /// Whether what a module defines, when it is called now, may read what is being executed, or come to a touched module that
    /// was not executed yet.
    pub(super) fn matters(&self, module: usize, state: &State) -> bool {
        let reach = self.reach();
        let component = reach.component(module);
        let mut running = state.running.iter();
        running.any(|running| reach.component(*running) == component)
            || reach.touched_from(module) & state.pending != 0
    }
}
