//! Methods that come before those that users call by their names now: what a type has by itself comes before what a trait
//! gives it, and before what it hands calls on to (the Rust reference, "Method-call expressions").

use super::{declared::TypeDeclaration, lost::dotted, names::Names};
use crate::{
    resolve::ItemId,
    rewrite::method_calls::homes::{hands_on, homes, implements},
};

/// The first method of `gained` that a type has in another way as well, by which somebody may call it.
pub(super) fn hidden<'g>(
    names: &Names<'_>,
    (item, declared): (ItemId, &TypeDeclaration),
    gained: impl Iterator<Item = &'g String>,
) -> Option<&'g String> {
    let mut gained = gained.filter(|name| has_otherwise(names, (item, declared), name));
    gained.find(|name| is_called(names, name))
}

/// Whether a type has a method by a trait of the tree, or may have it by what it hands calls on to.
fn has_otherwise(
    names: &Names<'_>,
    (item, declared): (ItemId, &TypeDeclaration),
    name: &str,
) -> bool {
    let world = names.world;
    let homes = homes(world, names.texts);
    let mut given = homes.traits.get(name).into_iter().flatten();
    declared.of_traits.contains(name)
        || given.any(|of| homes.open.contains(of) || implements(world, item, *of))
        || hands_on(world, names.texts, item)
}

/// Whether a text of the tree has a name behind a dot.
fn is_called(names: &Names<'_>, name: &str) -> bool {
    let mut sources = names.world.sources();
    sources.any(|(_, source)| {
        let text = names.texts.text(&source.path);
        text.filter(|text| text.contains(name))
            .is_some_and(|text| dotted(&text).iter().any(|(_, said)| *said == name))
    })
}
