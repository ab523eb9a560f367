//! Names that a module would have twice, of which the compiler takes neither.

use std::collections::BTreeSet;

use super::{Check, Problem};
use crate::{
    facts::ItemKind,
    resolve::{Binding, FileId, Res, Target},
};

impl Check<'_> {
    /// Names that a module both defines and imports, or defines or imports twice.
    pub(super) fn twice(&mut self, file: FileId) {
        let world = self.tree.world;
        for body in &world[file].bodies {
            let module = world[body].module;
            let names = world.space(module).names.iter();
            let twice = names.filter(|(_, bindings)| {
                self.has_rivals(bindings) || self.is_defined_twice(file, bindings)
            });
            let twice: Vec<String> = twice
                .map(|(sym, _)| world.names.text(*sym).to_string())
                .collect();
            // What is imported as `_` has no name.
            for name in twice.iter().filter(|name| *name != "_") {
                let full = format!("{}::{name}", world.name_of(&Target::Module(module)));
                self.add(file, (name, full), Problem::Twice);
            }
        }
    }

    /// Whether of two bindings of a name that are not the same one is there always: the other one is beside it whatever
    /// it stands under.
    fn has_rivals(&mut self, bindings: &[Binding]) -> bool {
        // Of what is outside, the namespaces are not known: a derive may share a trait's name.
        let own = |one: &&Binding| match one.res {
            Res::Item(_) => !one.glob,
            Res::Module(_) => !one.glob && one.import.is_some(),
            _ => false,
        };
        let named = bindings.iter().filter(own);
        let named = named.map(|one| (one, self.is_always(one)));
        let named: Vec<(&Binding, bool)> = named.collect();
        named.iter().enumerate().any(|(at, (one, is_always))| {
            named.iter().skip(at + 1).any(|(other, is_too)| {
                (*is_always && *is_too || (*is_always || *is_too) && are_two_imports(one, other))
                    && one.namespaces.meets(other.namespaces)
                    && (one.res != other.res || are_two_imports(one, other))
            })
        })
    }

    /// Whether a file defines one of the bindings of a name twice in one place, both always.
    fn is_defined_twice(&mut self, file: FileId, bindings: &[Binding]) -> bool {
        let world = self.tree.world;
        let items = bindings.iter().filter_map(|binding| match binding.res {
            Res::Item(item) if binding.import.is_none() => Some(&world[item]),
            _ => None,
        });
        let several =
            items.filter(|item| item.definitions.len() > 1 && item.kind != ItemKind::Macro);
        several.into_iter().any(|item| {
            let mut scopes = BTreeSet::new();
            let here = item.definitions.iter().filter(|(of, _)| *of == file);
            let mut always =
                here.filter(|place| self.conditions.around_definition(**place).is_empty());
            always.any(|(_, at)| !scopes.insert(world.facts(file).item(*at).scope))
        })
    }

    /// The conditions of an import; of a module that has several texts, those of its own text among them.
    fn around_import(&mut self, import: (FileId, u32)) -> BTreeSet<String> {
        let world = self.tree.world;
        let at = world.facts(import.0).leaf(import.1).span.start;
        let body = world.body_around(import.0, at);
        match body.filter(|body| world[world[*body].module].bodies.len() > 1) {
            Some(body) => self.conditions.at_place(import.0, body, at),
            None => self.conditions.of_import(import),
        }
    }

    /// Whether a name is there without a condition of its own.
    fn is_always(&mut self, binding: &Binding) -> bool {
        let own = match (binding.import, binding.res) {
            (Some(import), _) => self.around_import(import),
            (None, Res::Item(item)) => self.conditions.of_item(item),
            (None, _) => BTreeSet::new(),
        };
        own.is_empty()
    }
}

/// Whether a name is imported by two leaves: an error also where both lead to one thing.
fn are_two_imports(one: &Binding, other: &Binding) -> bool {
    let imports = one.import.zip(other.import);
    imports.is_some_and(|(one, other)| one != other)
}
