//! Import cycles: strongly connected components, and the shortest cycle of each.

use std::collections::{BTreeMap, VecDeque};

use coalesce_model::{ImportTarget, LanguageGraph, TreePath};

/// Modules that import each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// Names of the modules of the component, sorted.
    pub modules: Vec<String>,
    /// Whether imports that are executed with the module suffice to close it.
    pub eager: bool,
    /// A shortest cycle through the component, starting at its first name.
    pub shortest: Vec<CycleEdge>,
}

/// One import on a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CycleEdge {
    /// Importing module.
    pub from: String,
    /// Imported module.
    pub to: String,
    /// File of the import.
    pub path: TreePath,
    /// Line of the import, 1-based.
    pub line: u32,
    /// Whether it is executed with the module.
    pub eager: bool,
}

/// Edges by source module: `(target, index of the import)`, sorted, one for each target.
type Adjacency = Vec<Vec<(usize, usize)>>;

/// The cycles of one graph: components closed by eager imports alone, then those that need a lazy
/// import. A component that is both is listed once, as eager.
#[must_use]
pub fn cycles(graph: &dyn LanguageGraph) -> Vec<Cycle> {
    let eager_edges = adjacency(graph, true);
    let eager = components(&eager_edges);
    let all_edges = adjacency(graph, false);
    let lazy = components(&all_edges)
        .into_iter()
        .filter(|component| !eager.contains(component));
    let lazy: Vec<_> = lazy
        .map(|component| describe(graph, &component, &all_edges, false))
        .collect();
    let mut found: Vec<_> = eager
        .iter()
        .map(|component| describe(graph, component, &eager_edges, true))
        .collect();
    found.extend(lazy);
    found
}

fn adjacency(graph: &dyn LanguageGraph, eager_only: bool) -> Adjacency {
    let mut edges: Adjacency = vec![Vec::new(); graph.modules().len()];
    for (at, import) in graph.imports().iter().enumerate() {
        if let ImportTarget::Module(target) = import.target
            && target != import.importer
            && (import.eager || !eager_only)
            && let Some(list) = edges.get_mut(import.importer)
        {
            list.push((target, at));
        }
    }
    for list in &mut edges {
        // An eager import comes first where a lazy one names the same module.
        list.sort_by_key(|(target, at)| {
            (
                *target,
                graph.imports().get(*at).is_none_or(|import| !import.eager),
                *at,
            )
        });
        list.dedup_by_key(|(target, _)| *target);
    }
    edges
}

/// Strongly connected components of two and more modules; members sorted, components by first
/// member.
fn components(edges: &Adjacency) -> Vec<Vec<usize>> {
    let targets = |list: &Vec<(usize, usize)>| list.iter().map(|(target, _)| *target).collect();
    let edges: Vec<Vec<usize>> = edges.iter().map(targets).collect();
    let mut found: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (module, component) in coalesce_model::components(&edges).into_iter().enumerate() {
        found.entry(component).or_default().push(module);
    }
    let mut several: Vec<Vec<usize>> = found.into_values().collect();
    several.retain(|component| component.len() > 1);
    several.sort();
    several
}

fn describe(
    graph: &dyn LanguageGraph,
    component: &[usize],
    edges: &Adjacency,
    eager: bool,
) -> Cycle {
    let name = |module: usize| {
        graph
            .modules()
            .get(module)
            .map(|module| module.name.clone())
            .unwrap_or_default()
    };
    let edge = |&(from, to, at): &(usize, usize, usize)| {
        let import = graph.imports().get(at)?;
        Some(CycleEdge {
            from: name(from),
            to: name(to),
            path: import.path.clone(),
            line: import.line,
            eager: import.eager,
        })
    };
    Cycle {
        modules: component.iter().map(|module| name(*module)).collect(),
        eager,
        shortest: shortest(component, edges).iter().filter_map(edge).collect(),
    }
}

/// A shortest cycle inside a component as `(from, to, import)`: breadth first from each member, no
/// deeper than the best so far; two edges end the search.
fn shortest(component: &[usize], edges: &Adjacency) -> Vec<(usize, usize, usize)> {
    let mut best: Vec<(usize, usize, usize)> = Vec::new();
    for start in component {
        let limit = if best.is_empty() {
            component.len()
        } else {
            best.len() - 1
        };
        if let Some(cycle) = cycle_through(*start, component, edges, limit) {
            best = cycle;
        }
        if best.len() == 2 {
            break;
        }
    }
    best
}

/// How the modules of a component were reached: by the import of which module, each.
struct Reached<'c> {
    component: &'c [usize],
    by: Vec<Option<(usize, usize)>>,
}

impl Reached<'_> {
    /// Notes that a module of the component is reached, if it was not before.
    fn note(&mut self, module: usize, by: (usize, usize)) -> bool {
        let place = self.component.binary_search(&module).ok();
        match place.and_then(|place| self.by.get_mut(place)) {
            Some(known @ None) => {
                *known = Some(by);
                true
            }
            _ => false,
        }
    }

    fn by(&self, module: usize) -> Option<(usize, usize)> {
        let place = self.component.binary_search(&module).ok()?;
        *self.by.get(place)?
    }

    /// The way by which a module was reached from itself.
    fn cycle(&self, start: usize) -> Vec<(usize, usize, usize)> {
        let mut cycle = Vec::new();
        let mut at = start;
        while let Some((from, import)) = self.by(at) {
            cycle.push((from, at, import));
            at = from;
            if at == start {
                break;
            }
        }
        cycle.reverse();
        cycle
    }
}

fn cycle_through(
    start: usize,
    component: &[usize],
    edges: &Adjacency,
    limit: usize,
) -> Option<Vec<(usize, usize, usize)>> {
    let mut reached = Reached {
        component,
        by: vec![None; component.len()],
    };
    let mut queue = VecDeque::from([(start, 0)]);
    while let Some((module, depth)) = queue.pop_front() {
        if depth >= limit {
            return None;
        }
        let targets = edges.get(module)?.iter();
        let new = targets.filter(|(target, import)| reached.note(*target, (module, *import)));
        queue.extend(new.map(|(target, _)| (*target, depth + 1)));
        if reached.by(start).is_some() {
            return Some(reached.cycle(start));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(usize, usize)], count: usize) -> Adjacency {
        let mut list = vec![Vec::new(); count];
        for (at, (from, to)) in edges.iter().enumerate() {
            list[*from].push((*to, at));
        }
        list
    }

    #[test]
    fn components_and_their_shortest_cycles() {
        // 0→1→2→0 with the short cut 1→0; 3→4→3; 5 alone.
        let edges = graph(&[(0, 1), (1, 2), (2, 0), (1, 0), (3, 4), (4, 3), (5, 0)], 6);
        let found = components(&edges);
        assert_eq!(found, [vec![0, 1, 2], vec![3, 4]]);
        assert_eq!(shortest(&found[0], &edges), [(0, 1, 0), (1, 0, 3)]);
    }

    #[test]
    fn a_long_ring_does_not_overflow_the_stack() {
        let count = 100_000;
        let ring: Vec<_> = (0..count).map(|at| (at, (at + 1) % count)).collect();
        let edges = graph(&ring, count);
        assert_eq!(components(&edges).len(), 1);
    }
}
