//! Imports of macros that are seen by where they stand as well: the compiler takes those, and warns of the import.

use std::collections::BTreeMap;

use coalesce_model::{ByteSpan, Unproven, UnprovenKind};

use super::Tree;
use crate::{
    facts::{ItemKind, Namespaces, VisibilityKind},
    lints,
    resolve::{Binding, FileId, ItemId, ModuleId, Res, World},
    rewrite::{Anchor, is_in_scope},
};

/// The module with an import, and the macro that it is of.
type Key = (String, String);

/// Such imports that the tree before has not.
pub(crate) fn idle_macro_imports(before: Tree<'_>, after: Tree<'_>) -> Vec<Unproven> {
    let world = after.world;
    let now = idle(world);
    if now.is_empty() {
        return Vec::new();
    }
    let then = idle(before.world);
    let count = |all: &BTreeMap<Key, (FileId, ByteSpan)>, name: &str| {
        all.keys().filter(|(_, known)| known == name).count()
    };
    let mut found = Vec::new();
    for (key, (file, span)) in &now {
        let name = &key.1;
        let lint = ["unused_imports", "unused", "warnings"];
        // A module that goes takes an import along that was idle before.
        let is_new = !then.contains_key(key) && count(&now, name) > count(&then, name);
        if !is_new || lints::is_off(world, (*file, span.start), &lint, after.texts) {
            continue;
        }
        found.push(Unproven {
            path: world[*file].path.clone(),
            span: Some(*span),
            kind: UnprovenKind::LeftUnused,
            name: name.clone(),
            why: "the macro is seen here without this import, by where it stands, and the compiler warns of the import"
                .to_owned(),
        });
    }
    found
}

fn idle(world: &World) -> BTreeMap<Key, (FileId, ByteSpan)> {
    let mut found = BTreeMap::new();
    for (module, node) in (0_u32..).map(ModuleId).zip(&world.modules) {
        for binding in world.space(module).names.values().flatten() {
            let Some((item, place)) = import_of_macro(world, module, binding) else {
                continue;
            };
            if is_in_scope(world, item, place) {
                let key = (node.canonical.clone(), world[item].name.clone());
                let leaf = binding.import.map(|(_, leaf)| leaf).unwrap_or_default();
                found.insert(key, (place.file, world.facts(place.file).leaf(leaf).span));
            }
        }
    }
    found
}

/// The macro that a private import brings by its own name, and the place of the import.
fn import_of_macro(world: &World, module: ModuleId, binding: &Binding) -> Option<(ItemId, Anchor)> {
    let (file, leaf) = binding.import.filter(|_| !binding.glob)?;
    let Res::Item(item) = binding.res else {
        return None;
    };
    let facts = world.facts(file);
    let fact = facts.leaf(leaf);
    let is_private = facts.declaration(fact.declaration).visibility.kind == VisibilityKind::Private;
    let is_macro = world[item].kind == ItemKind::Macro && binding.namespaces == Namespaces::MACRO;
    let place = Anchor {
        module,
        file,
        at: fact.span.start,
    };
    (is_private && is_macro && fact.alias.is_none()).then_some((item, place))
}
