//! Public names of enums that lead to aliases from then on, as shims are: no import of a variant leads through one.

use std::collections::BTreeMap;

use coalesce_model::{Finding, finding::codes};

use super::is_open;
use crate::{
    facts::ItemKind,
    resolve::{ItemId, Target, World, id},
};

/// What those are told who import variants by such a name from elsewhere.
pub(crate) fn enums_behind_aliases(before: &World, after: &World) -> Vec<Finding> {
    let aliases = public_items(after, ItemKind::TypeAlias);
    if aliases.is_empty() {
        return Vec::new();
    }
    let enums = public_items(before, ItemKind::Enum).into_iter();
    let found = enums.filter(|(name, _)| aliases.contains_key(name));
    let told = found.filter_map(|(name, item)| told(before, &name, item));
    told.collect()
}

fn told(world: &World, name: &str, item: ItemId) -> Option<Finding> {
    let (file, at) = world[item].definitions.first()?;
    let message = format!(
        "`{name}` is an alias from then on, and no import leads through one: `use {name}::*`, or of a variant, breaks \
         for those who have it elsewhere"
    );
    let warning = Finding::warning(world[file].path.clone(), message);
    let help = "where another crate of the tree imports variants by it, a re-export stays instead";
    let span = world.facts(*file).item(*at).name.span;
    let warning = warning.coded(codes::PLAN_REMARK);
    Some(warning.at(span).with_help(help.to_owned()))
}

/// The items of a kind that other crates can name, by their names.
fn public_items(world: &World, kind: ItemKind) -> BTreeMap<String, ItemId> {
    let items = (0..id(world.items.len())).map(ItemId);
    let own = items.filter(|item| world[*item].kind == kind && is_open(world, *item));
    own.map(|item| (world.name_of(&Target::Item(item)), item))
        .collect()
}
