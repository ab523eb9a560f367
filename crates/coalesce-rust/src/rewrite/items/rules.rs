//! `macro_rules!` among what moves: from where they can be named, and the import that gives them a
//! path.
//!
//! A macro that moves is named by path from then on, however its users found it before: an exported
//! one by the root of its crate, another one through a `use` behind its definition. What its body
//! says by plain names is found where it is called, and stays. Nothing is expanded.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use coalesce_model::ByteSpan;

use super::{
    imports::home_of,
    moving::{Moving, Set},
    replace,
};
use crate::{
    facts::{ItemKind, LeafKind, VisibilityKind},
    resolve::{FileId, ItemId, ModuleId, Res, UseSite, World},
    rewrite::{
        macro_arms::{Arm, arms},
        place::Place,
        spell::written,
        walk::is_of_module,
    },
    syntax,
    words::COMPILER_ATTRIBUTES,
};

/// What only macros have.
#[derive(Clone, Debug, Default)]
pub(in crate::rewrite) struct Rules {
    /// `#[macro_export]`, or it gets that because it goes to another crate than its users.
    pub exported: bool,
    /// It gets `#[macro_export]`.
    pub gains_export: bool,
    /// `use name;` beside the definition, which gave it a path.
    pub imports: Vec<((FileId, u32), VisibilityKind)>,
}

/// Whether an import of a macro of that name is ambiguous.
pub(in crate::rewrite) fn is_attribute(name: &str) -> bool {
    COMPILER_ATTRIBUTES.contains(name)
}

/// What is known of a macro that its module defines.
pub(super) fn of(world: &World, home: ModuleId, item: ItemId) -> Option<Rules> {
    let node = &world[item];
    (node.kind == ItemKind::Macro).then(|| Rules {
        exported: is_exported(world, item),
        gains_export: false,
        imports: imports(world, home, item, &node.name),
    })
}

/// `#[macro_export]`
pub(crate) fn is_exported(world: &World, item: ItemId) -> bool {
    let node = &world[item];
    let definitions = &node.definitions;
    definitions.iter().any(|(file, at)| {
        let facts = world.facts(*file);
        let fact = facts.item(*at);
        fact.exported
    })
}

/// The macro that a crate exports by a name of its root, where another module defines it.
pub(super) fn exported_by(world: &World, root: ModuleId, name: &str) -> Vec<ItemId> {
    if world[root].parent.is_some() {
        return Vec::new();
    }
    let named = world.items_of(root, name).into_iter();
    named.filter(|item| is_exported(world, *item)).collect()
}

/// Several definitions one after the other, of which the place of a call picks one.
pub(in crate::rewrite) fn is_redefined(world: &World, item: ItemId) -> bool {
    let node = &world[item];
    let definitions = &node.definitions;
    let plain = |(file, at): &(FileId, u32)| {
        let facts = world.facts(*file);
        let fact = facts.item(*at);
        !fact.conditional
    };
    definitions.len() > 1 && definitions.iter().any(plain)
}

/// Whether a text defines a macro by example.
pub(super) fn is_by_example(text: &str) -> bool {
    let _trees = syntax::Trees::begin();
    let item = syntax::parse::<syn::Item>(text);
    let found = matches!(
        &item,
        Ok(syn::Item::Macro(item)) if item.ident.is_some() && item.mac.path.is_ident("macro_rules")
    );
    found
}

/// The imports of a module that do nothing but give its macro a path.
pub(in crate::rewrite) fn imports(
    world: &World,
    home: ModuleId,
    item: ItemId,
    name: &str,
) -> Vec<((FileId, u32), VisibilityKind)> {
    let bindings = world.bindings(home, name);
    let mut found = Vec::new();
    for binding in bindings.iter() {
        let own = binding.res == Res::Item(item) && !binding.glob;
        let Some((file, at)) = binding.import.filter(|_| own) else {
            continue;
        };
        let facts = world.facts(file);
        let leaf = facts.leaf(at);
        let declaration = facts.declaration(leaf.declaration);
        let plain = leaf.kind == LeafKind::Name && leaf.segments.len == 1 && leaf.alias.is_none();
        let known = found.iter().any(|(known, _)| *known == (file, at));
        if plain && !known && own_module(world, (file, at)) == Some(home) {
            found.push(((file, at), declaration.visibility.kind));
        }
    }
    found
}

/// Whether an import beside a macro lets the whole crate name it.
fn has_wide_import(world: &World, item: ItemId) -> bool {
    let node = &world[item];
    let imports = imports(world, node.module, item, &node.name);
    let wide = |kind| matches!(kind, VisibilityKind::Crate | VisibilityKind::Public);
    imports.iter().any(|(_, kind)| wide(*kind))
}

/// The module that an import stands in, where no block has it.
fn own_module(world: &World, leaf: (FileId, u32)) -> Option<ModuleId> {
    home_of(world, leaf).filter(|_| is_of_module(world, leaf))
}

/// Macros that leave their crate and are called there by others get `#[macro_export]`; those that
/// give way are named as the ones that stay are.
pub(super) fn place(set: &mut Set<'_>) {
    for at in 0..set.moving.len() {
        let Some(exported) = exported_after(set, set.moving(at)) else {
            continue;
        };
        let Some(moving) = set.moving.get_mut(at) else {
            continue;
        };
        moving.named_at = match exported {
            true => Place::root(moving.to.krate),
            false => moving.to.clone(),
        };
        if let Some(rules) = &mut moving.rules {
            rules.gains_export = exported && !rules.exported;
            rules.exported = exported;
        }
    }
}

/// Whether a macro is exported after; `None` where that stays as it is.
fn exported_after(set: &Set<'_>, moving: &Moving<'_>) -> Option<bool> {
    let rules = moving.rules.as_ref()?;
    if moving.gives_way() {
        let primary = replace::primary(set, moving)?;
        return Some(is_exported(set.world(), primary));
    }
    let crosses = set.mapping.krate(moving.home) != moving.to.krate;
    (!rules.exported && crosses && has_users(set, moving.item)).then_some(true)
}

/// Whether text that stays names a macro.
fn has_users(set: &Set<'_>, item: ItemId) -> bool {
    let world = set.world();
    let mut found = false;
    for (file, source) in world.sources() {
        world.visit_file(source, &mut |_, site| {
            let own = match site.site {
                UseSite::Leaf(leaf) => set.path_giver((file, leaf)).is_some(),
                _ => false,
            };
            let start = site.segments.first().map_or(0, |first| first.span.start);
            let stays = !own && set.chunk_at(file, start).is_none();
            let steps = site.trace.steps.iter().flat_map(|step| step.all());
            found |= stays && steps.into_iter().any(|(res, _)| res == Res::Item(item));
        });
    }
    found
}

/// What stands behind the definitions of macros in their new places, by index.
pub(super) fn imports_behind(
    set: &Set<'_>,
    users: &BTreeMap<usize, BTreeSet<Place>>,
) -> BTreeMap<usize, String> {
    let none = BTreeSet::new();
    let all = set.moving.iter().enumerate();
    all.filter_map(|(at, moving)| {
        let users = users.get(&at).unwrap_or(&none);
        Some((at, import_behind(set, moving, users)?))
    })
    .collect()
}

/// What stands behind the definition of a macro in its new place; nothing where nobody names it by
/// path.
fn import_behind(set: &Set<'_>, moving: &Moving<'_>, users: &BTreeSet<Place>) -> Option<String> {
    let rules = moving.rules.as_ref()?;
    let kept = |kind: VisibilityKind| rules.imports.iter().any(|(_, own)| *own == kind);
    if rules.exported {
        let root = moving.to.path.is_empty();
        let shown = !root && kept(VisibilityKind::Public);
        return shown.then(|| format!("pub use {};", written(&moving.name)));
    }
    if users.is_empty() && rules.imports.is_empty() {
        return None;
    }
    let mut reach = moving.to.clone();
    for user in users {
        reach = reach.common(user)?;
    }
    let crosses = set.mapping.krate(moving.home) != moving.to.krate;
    let visibility = if kept(VisibilityKind::Crate) && !crosses {
        "pub(crate) ".to_owned()
    } else {
        reach.visibility(&moving.to)
    };
    Some(format!("{visibility}use {};", written(&moving.name)))
}

/// Why a macro cannot stand in for one that gives way: it has no path, or takes something else.
pub(super) fn stands_in(set: &Set<'_>, moving: &Moving<'_>, primary: ItemId) -> Option<String> {
    let world = set.world();
    let to = &moving.change.to;
    if !is_exported(world, primary) && !has_wide_import(world, primary) {
        let name = &moving.name;
        let advice = if is_attribute(name) {
            format!(
                "`use {name};` would be ambiguous with an attribute, so that it needs another name first"
            )
        } else {
            format!("`pub(crate) use {name};` behind it would give it one")
        };
        return Some(format!("`{to}!` has no path: {advice}"));
    }
    (!take_alike(set, moving.item, primary)).then(|| {
        format!(
            "`{to}!` takes something else than `{}!`",
            moving.change.from
        )
    })
}

/// Whether the arms of two macros take the same, in one order.
fn take_alike(set: &Set<'_>, old: ItemId, new: ItemId) -> bool {
    let world = set.world();
    let texts = |item: ItemId| -> Vec<(Arc<str>, ByteSpan)> {
        let definitions = world[item].definitions.iter();
        let read = definitions.filter_map(|(file, at)| {
            let fact = world.facts(*file).item(*at);
            let rules = ByteSpan::new(fact.signature.end, fact.span.end);
            Some((set.mapping.texts.text(&set.path(*file))?, rules))
        });
        read.collect()
    };
    let (left, right) = (texts(old), texts(new));
    let (Some(left), Some(right)) = (all_arms(&left), all_arms(&right)) else {
        return false;
    };
    let mut pairs = left.iter().zip(&right);
    left.len() == right.len() && pairs.all(|(a, b)| a.takes == b.takes)
}

/// The arms of all definitions of a macro, one after the other.
fn all_arms(definitions: &[(Arc<str>, ByteSpan)]) -> Option<Vec<Arm<'_>>> {
    let mut found = Vec::new();
    for (text, rules) in definitions {
        found.extend(arms(text, *rules)?);
    }
    Some(found)
}
