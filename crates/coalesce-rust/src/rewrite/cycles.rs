//! Packages that would need each other once code has moved between them: cargo takes no such tree.
//!
//! Says which names make them need each other, and what would solve it.

use std::collections::BTreeSet;

use coalesce_model::{Finding, finding::codes, shortest_path};

use super::{
    mapping::{Mapping, refusal},
    needs::Because,
};
use crate::resolve::World;

/// Names that are shown of those that a package is needed for.
const SHOWN: usize = 3;

/// That one package would need another one of the tree from now on.
pub(super) struct Edge {
    /// The package that needs it.
    pub from: usize,
    /// The other one.
    pub to: usize,
    /// A module that needs it.
    pub by: String,
    /// What for, each with the module that says so.
    pub because: BTreeSet<(String, Because)>,
}

/// The edges that close a cycle with `known` ones or among themselves.
pub(super) fn closed(
    mapping: &Mapping<'_>,
    known: &BTreeSet<(usize, usize)>,
    new: &[Edge],
) -> Vec<Finding> {
    let mut all = known.clone();
    all.extend(new.iter().map(|edge| (edge.from, edge.to)));
    let teller = Teller {
        mapping,
        known,
        new,
    };
    let found = new.iter().filter_map(|edge| {
        let way = way(&all, edge.to, edge.from)?;
        Some(teller.finding(edge, &way))
    });
    found.collect()
}

/// The shortest way from one package to another, both included.
pub(super) fn way(edges: &BTreeSet<(usize, usize)>, from: usize, to: usize) -> Option<Vec<usize>> {
    let needed = |at: usize| {
        edges
            .range((at, 0)..=(at, usize::MAX))
            .map(|(_, next)| *next)
    };
    shortest_path(from, needed, |at| at == to)
}

struct Teller<'t, 'm> {
    mapping: &'t Mapping<'m>,
    known: &'t BTreeSet<(usize, usize)>,
    new: &'t [Edge],
}

impl Teller<'_, '_> {
    fn finding(&self, edge: &Edge, way: &[usize]) -> Finding {
        let world = self.mapping.world;
        let back: Vec<String> = way
            .windows(2)
            .filter_map(|pair| match pair {
                [from, to] => Some(self.step(*from, *to)),
                _ => None,
            })
            .collect();
        let message = format!(
            "`{}` would need `{}`{}; {}: packages cannot need each other",
            edge.by,
            package(world, edge.to),
            reasons(edge),
            back.join(", ")
        );
        let path = world.manifest_of(edge.from);
        refusal(path, message)
            .coded(codes::CIRCULAR_PACKAGES)
            .with_help(self.help(edge, way))
    }

    fn step(&self, from: usize, to: usize) -> String {
        let world = self.mapping.world;
        let (user, used) = (package(world, from), package(world, to));
        let edge = self
            .new
            .iter()
            .find(|edge| (edge.from, edge.to) == (from, to));
        match edge.filter(|_| !self.known.contains(&(from, to))) {
            Some(edge) => format!("`{user}` would need `{used}`{}", reasons(edge)),
            None => format!("`{user}` needs `{used}` already"),
        }
    }

    /// What would take one of the edges away.
    fn help(&self, edge: &Edge, way: &[usize]) -> String {
        let mut all = vec![edge];
        all.extend(way.windows(2).filter_map(|pair| {
            let same = |edge: &&Edge| {
                pair == [edge.from, edge.to] && !self.known.contains(&(edge.from, edge.to))
            };
            self.new.iter().find(same)
        }));
        let causes = all.iter().flat_map(|edge| &edge.because);
        let ways: BTreeSet<String> = causes
            .map(|(by, because)| self.way_out(by, because))
            .collect();
        let more = ways.len().saturating_sub(SHOWN);
        let ways: Vec<String> = ways.into_iter().take(SHOWN).collect();
        match (ways.is_empty(), more) {
            (true, _) => "move what both name to a package that both can need".to_owned(),
            (false, 0) => ways.join("; or "),
            (false, more) => format!("{}; or do the like for {more} more", ways.join("; or ")),
        }
    }

    /// What would take one cause of an edge away.
    fn way_out(&self, by: &str, because: &Because) -> String {
        match because {
            Because::Shim(name) => format!("leave no shim of `{name}`"),
            Because::Names(name) if self.moves(name) => {
                format!("move what names `{name}` in `{by}` as well")
            }
            Because::Names(name) => {
                format!("move `{name}` as well, there or to a package that both can need")
            }
        }
    }

    /// Whether a name is one that something gets by moving.
    fn moves(&self, name: &str) -> bool {
        self.mapping.changes.iter().any(|change| {
            let rest = name.strip_prefix(&*change.to);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        })
    }
}

fn package(world: &World, at: usize) -> &str {
    &world.package(at).name
}

fn reasons(edge: &Edge) -> String {
    let mut said: BTreeSet<String> = BTreeSet::new();
    for (by, because) in &edge.because {
        said.insert(match because {
            Because::Names(name) => format!("`{by}` names `{name}`"),
            Because::Shim(name) => format!("`{by}` keeps a shim of `{name}`"),
        });
    }
    if said.is_empty() {
        return String::new();
    }
    let more = said.len().saturating_sub(SHOWN);
    let said: Vec<String> = said.into_iter().take(SHOWN).collect();
    match more {
        0 => format!(" ({})", said.join(", ")),
        more => format!(" ({} and {more} more)", said.join(", ")),
    }
}
