//! What the names in two definitions of equal text lead to, and what those definitions need in their turn.
//!
//! A name that means one thing in both is no difference. Two definitions of their own are none where they say and mean the
//! same as well, however far that goes on.

use std::collections::BTreeSet;

use ruff_python_ast::{
    Stmt,
    comparable::{ComparableExpr, ComparableStmt},
};

use super::equivalence::{Definition, Modules, body_of, item_of, name_in_library};
use crate::{
    analysis::Use,
    facts::{ImportStatement, Leaf},
    graph::Entity,
    rewrite::mapping::Mapping,
};

/// What a name in two definitions of equal text leads to.
pub(super) enum Sense {
    /// One thing, or two that are the same.
    Same,
    /// Two things.
    Another,
    /// Two definitions of which the changes make one, and that are not the same: which, as a sentence.
    Unlike(String),
}

/// A module and the name of a definition in it.
type Place = (usize, String);

/// What looks names up, and has each pair of definitions compared once.
pub(super) struct Senses<'m> {
    mapping: &'m Mapping<'m>,
    modules: &'m Modules<'m>,
    compared: BTreeSet<(Place, Place)>,
}

impl<'m> Senses<'m> {
    pub(super) fn new(mapping: &'m Mapping<'m>, modules: &'m Modules<'m>) -> Self {
        Self {
            mapping,
            modules,
            compared: BTreeSet::new(),
        }
    }

    /// The first name in two definitions of equal text that does not mean the same in both.
    pub(super) fn first_other<'d>(
        &mut self,
        old: &'d Definition,
        new: &'d Definition,
    ) -> Option<(&'d Use, &'d Use, Sense)> {
        let mut names = old.names().zip(new.names());
        names.find_map(|(a, b)| match self.of((old, a), (new, b)) {
            Sense::Same => None,
            other => Some((a, b, other)),
        })
    }

    /// The first name that the imports inside of two definitions of equal text bring from two places, as a sentence.
    pub(super) fn first_other_import(
        &mut self,
        old: &Definition,
        new: &Definition,
    ) -> Option<String> {
        let graph = self.mapping.graph;
        let leaves = old.imported_leaves().zip(new.imported_leaves());
        for ((was, a), (is, b)) in leaves {
            let named = |import: &ImportStatement, leaf: &Leaf, module: usize| {
                let full = import.full_name(leaf, graph.package_of(module));
                let full = full.unwrap_or_else(|| leaf.name.text.clone());
                self.mapping.renames.name_after(&full)
            };
            let (from, to) = (named(was, a, old.module), named(is, b, new.module));
            let same = match (
                graph.leaf_entity(old.module, was, a),
                graph.leaf_entity(new.module, is, b),
            ) {
                (a, b) if a == b => from == to || !matches!(a, Entity::Missing | Entity::Opaque),
                (Entity::Item(home, item), Entity::Item(other, name)) => {
                    let (was, is) = ((home, item), (other, name));
                    self.is_compared(&was, &is)
                        || matches!(self.of_two(was, is, from == to), Sense::Same)
                }
                _ => from == to,
            };
            if !same {
                let name = &a.name.text;
                return Some(format!("`{name}` in them is `{from}` and `{to}`"));
            }
        }
        None
    }

    /// The pairs of definitions that have been compared on the way and could be read.
    pub(super) fn pairs(&self) -> Vec<(Definition, Definition)> {
        let read =
            |(module, item): &Place| Definition::new(self.mapping, *module, item, self.modules);
        let pairs = self.compared.iter();
        let pairs = pairs.filter_map(|(was, is)| Some((read(was)?, read(is)?)));
        pairs.filter(|(old, new)| old.has_text_of(new)).collect()
    }

    fn of(&mut self, (old, a): (&Definition, &Use), (new, b): (&Definition, &Use)) -> Sense {
        let names = a.chain.first().zip(b.chain.first());
        if names.is_some_and(|(a, b)| a.text == old.item && b.text == new.item) {
            return Sense::Same;
        }
        let graph = self.mapping.graph;
        let libraries = name_in_library(graph, old, a).zip(name_in_library(graph, new, b));
        let same_name = libraries.is_some_and(|(was, is)| was.is(&is))
            || old.meaning(self.mapping, a) == new.meaning(self.mapping, b);
        let places = item_of(self.mapping, old, a).zip(item_of(self.mapping, new, b));
        // What is of the one class is not of the other, whatever their texts.
        let two = places.as_ref().is_some_and(|(was, is)| was != is);
        if two && !same_name && old.asks_for(a) && self.is_class(&places) {
            return Sense::Another;
        }
        match places {
            Some((was, is)) if was == is || self.is_compared(&was, &is) => Sense::Same,
            Some((was, is)) => self.of_two(was, is, same_name),
            None if same_name => Sense::Same,
            None => Sense::Another,
        }
    }

    /// Whether the first of two places has a class.
    fn is_class(&self, places: &Option<(Place, Place)>) -> bool {
        let place = places.as_ref().map(|((module, item), _)| (*module, item));
        let found = place
            .and_then(|(module, item)| Definition::new(self.mapping, module, item, self.modules));
        found.is_some_and(|found| matches!(found.statement, Stmt::ClassDef(_)))
    }

    /// Whether two definitions have been compared before, or are being compared.
    fn is_compared(&mut self, was: &Place, is: &Place) -> bool {
        !self.compared.insert((was.clone(), is.clone()))
    }

    /// Compares two definitions, to which one name leads after the changes or not.
    fn of_two(&mut self, was: Place, is: Place, same_name: bool) -> Sense {
        let read =
            |(module, item): &Place| Definition::new(self.mapping, *module, item, self.modules);
        let alike = match (read(&was), read(&is)) {
            (Some(old), Some(new)) if old.has_text_of(&new) => {
                self.first_other(&old, &new).is_none()
                    && self.first_other_import(&old, &new).is_none()
            }
            (Some(old), Some(new)) => gives_one_of(&old, &new),
            _ => self.has_same_statements(&was, &is),
        };
        match (alike, same_name) {
            (true, _) => Sense::Same,
            (false, false) => Sense::Another,
            (false, true) => Sense::Unlike(format!(
                "`{}` in them is `{}` and `{}`, which are not known to be the same",
                was.1,
                self.full_name(&was),
                self.full_name(&is)
            )),
        }
    }

    /// Whether names that several statements define have them in the same words.
    fn has_same_statements(&self, was: &Place, is: &Place) -> bool {
        let read = |(module, _): &Place| self.modules.read(self.mapping, *module);
        let (Some(old), Some(new)) = (read(was), read(is)) else {
            return false;
        };
        let (old, new) = (old.definitions_of(&was.1), new.definitions_of(&is.1));
        let both = old.iter().zip(&new);
        let mut same = both.map(|(a, b)| ComparableStmt::from(*a) == ComparableStmt::from(*b));
        !old.is_empty() && old.len() == new.len() && same.all(|same| same)
    }

    fn full_name(&self, (module, item): &Place) -> String {
        let module = self.mapping.graph.modules.get(*module);
        let name = module.map_or("", |module| module.name.as_str());
        format!("{name}.{item}")
    }
}

/// Whether two names are set in the branches of a `try` or an `if`, and to the same things, whatever the words around them.
fn gives_one_of(old: &Definition, new: &Definition) -> bool {
    let both = [old, new].map(|each| given(&each.statement, &each.item));
    matches!(&both, [Some(was), Some(is)] if was == is && !was.is_empty())
}

/// What the branches of a statement give a name; none where it is no such statement, or a branch defines something.
fn given(statement: &Stmt, item: &str) -> Option<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for one in body_of(statement)? {
        match one {
            Stmt::Import(import) => found.extend(import.names.iter().filter_map(|alias| {
                let bound = alias.asname.as_ref().unwrap_or(&alias.name);
                (bound.as_str() == item).then(|| alias.name.to_string())
            })),
            Stmt::ImportFrom(import) => found.extend(import.names.iter().filter_map(|alias| {
                let bound = alias.asname.as_ref().unwrap_or(&alias.name);
                let module = import.module.as_ref().map_or("", |name| name.as_str());
                let full = format!(
                    "{}{module}.{}",
                    ".".repeat(import.level as usize),
                    alias.name
                );
                (bound.as_str() == item).then_some(full)
            })),
            Stmt::Assign(assign) => {
                let is_named = |target: &ruff_python_ast::Expr| {
                    let name = target.as_name_expr().map(|name| name.id.as_str());
                    // A definition that is compared has lost its own name.
                    name.is_some_and(|name| name == item || name.is_empty())
                };
                if assign.targets.iter().any(is_named) {
                    found.insert(format!("{:?}", ComparableExpr::from(&*assign.value)));
                }
            }
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => return None,
            other if body_of(other).is_some() => found.extend(given(other, item)?),
            _ => {}
        }
    }
    Some(found)
}
