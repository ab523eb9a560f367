//! An item that takes the place of one in another module: the old text goes first, so that the new
//! one can arrive under its name.

use coalesce_model::{Change, ChangeKind, Edit, LanguagePlan, Texts, TreePath};

use super::{Edits, freed_imports, note, shown_members};
use crate::{
    RustGraph,
    facts::{Visibility, VisibilityKind},
    resolve::{ItemId, World},
    rewrite::{
        items::{moving::Set, replace},
        mapping::{Mapping, refusal},
    },
};

/// Takes the text at `to` out, with its `impl`s; refused where users need what only that one has.
pub(super) fn clear(
    graph: &RustGraph,
    change: &Change,
    texts: &dyn Texts,
    edits: &mut Edits,
) -> LanguagePlan {
    let world = &graph.world;
    let mut plan = LanguagePlan::default();
    // What would become of its users if it gave way to the other one.
    let reversed = [Change {
        from: change.to.clone(),
        to: change.from.clone(),
        kind: ChangeKind::Replace { rename: Vec::new() },
        ..change.clone()
    }];
    let mapping = Mapping::new(world, &reversed, texts);
    let set = Set::new(&mapping, &[]);
    plan.refusals.extend(set.refusals.iter().cloned());
    plan.refusals.extend(replace::check(&set));
    for chunk in &set.chunks {
        let path = set.path(chunk.file);
        let Some(text) = texts.text(&path) else {
            let message = "it would have to be edited and cannot be read".to_owned();
            plan.refusals.push(refusal(path, message));
            continue;
        };
        let message = format!("goes: that of `{}` takes its place", change.from);
        plan.notes.push(note(path.clone(), chunk.span, message));
        edits.cut(path, &text, chunk.span);
    }
    let home = change.from.rsplit_once("::").map(|(home, _)| home);
    let home = home.and_then(|home| world.modules_named(home).first().copied());
    let said = home.map(|home| freed_imports::first_names(world, home));
    for (path, edit) in freed_imports::edits(&set, &said.unwrap_or_default()) {
        edits.push(path, edit);
    }
    let members = shown_members::show_as_far(world, (&change.from, &change.to), texts);
    for (path, edit) in show_as_far(world, change).into_iter().chain(members) {
        let message = format!("is seen from as far as that of `{}` from now on", change.to);
        plan.notes.push(note(path.clone(), edit.span, message));
        edits.push(path, edit);
    }
    plan
}

/// Has what stays be seen from as far as what goes.
fn show_as_far(world: &World, change: &Change) -> Option<(TreePath, Edit)> {
    let (_, there) = visibility(world, &change.to)?;
    let (path, here) = visibility(world, &change.from)?;
    (rank(there) > rank(here)).then_some(())?;
    let text = match there.kind {
        VisibilityKind::Public => "pub",
        _ => "pub(crate)",
    };
    Some((path, shown_members::say(here.span, text)))
}

/// The visibility that an item says, and the file that says it.
fn visibility(world: &World, name: &str) -> Option<(TreePath, Visibility)> {
    let (file, at) = *world[item_named(world, name)?].definitions.first()?;
    let fact = world.facts(file).item(at);
    let path = world[file].path.clone();
    Some((path, fact.visibility))
}

/// The item that a module defines by this full name.
pub(super) fn item_named(world: &World, name: &str) -> Option<ItemId> {
    let (parent, own) = name.rsplit_once("::")?;
    let home = *world.modules_named(parent).first()?;
    let mut items = world.items_of(home, own).into_iter();
    items.find(|item| world[*item].module == home)
}

/// How far a visibility reaches, roughly.
fn rank(visibility: Visibility) -> u8 {
    match visibility.kind {
        VisibilityKind::Public => 2,
        VisibilityKind::Private | VisibilityKind::SelfModule => 0,
        _ => 1,
    }
}
