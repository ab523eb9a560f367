//! What takes a place and is made of what has it: a wrapper would call itself, a re-export would lead nowhere.

use std::collections::BTreeSet;

use coalesce_model::{Finding, finding::codes};

use super::{differing::named_by_own, names::Names, whole::Pairs};
use crate::{
    resolve::{ItemId, Res},
    rewrite::mapping::refusal,
};

/// Replacements by what uses the one that goes, in its own text or in that of its module.
pub(super) fn check(names: &Names<'_>, pairs: &Pairs) -> Vec<Finding> {
    let wrapped = pairs
        .all
        .iter()
        .filter(|(old, new)| uses(names, **new, **old));
    let offered = pairs.offered.iter().map(|old| (old, old));
    wrapped
        .chain(offered)
        .filter_map(|(old, new)| told(names, *old, *new))
        .collect()
}

fn told(names: &Names<'_>, old: ItemId, new: ItemId) -> Option<Finding> {
    let (file, fact) = names.definition(new)?;
    let name = |item: ItemId| names.name_of(Res::Item(item));
    let message = if old == new {
        format!(
            "what takes the place of `{}` is a re-export of it, and would lead nowhere",
            name(old)
        )
    } else {
        format!(
            "`{}` uses `{}`, whose place it takes: it would come to use itself",
            name(new),
            name(old)
        )
    };
    let path = names.world[file].path.clone();
    let refused = refusal(path, message).coded(codes::MISMATCHED_REPLACEMENT);
    Some(refused.at(fact.name.span))
}

/// Whether the text of an item names another one, by itself or by what it names of its own module.
fn uses(names: &Names<'_>, item: ItemId, sought: ItemId) -> bool {
    let home = names.world[item].module;
    let (mut open, mut seen) = (vec![item], BTreeSet::from([item]));
    while let Some(item) = open.pop() {
        let named = named_by_own(names, item);
        if named.contains(&sought) {
            return true;
        }
        let own = named.into_iter();
        let own = own.filter(|named| names.world[*named].module == home);
        open.extend(own.filter(|named| seen.insert(*named)));
    }
    false
}
