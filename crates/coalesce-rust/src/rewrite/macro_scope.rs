//! Where macros are seen by where they stand.
//!
//! `macro_rules!` is in scope below its definition, in the modules declared there, and, where
//! `#[macro_use]` says so, in what follows the module around it.

use std::collections::BTreeMap;

use super::{items::arrive::tests_at_end, mapping::Mapping, place::Place, structure::Structure};
use crate::{
    facts::ItemKind,
    resolve::{FileId, ItemId, ModuleId, World},
};

/// From this byte of this file on, in this module and the modules declared there.
#[derive(Clone, Copy)]
pub(crate) struct Anchor {
    pub module: ModuleId,
    pub file: FileId,
    pub at: u32,
}

/// Modules that arrive, which can be declared behind a macro.
pub(super) struct Arriving<'s> {
    pub structure: &'s Structure,
    /// Byte of a file of a module behind which modules that arrive have to be declared.
    pub behind: BTreeMap<(ModuleId, FileId), u32>,
}

/// Whether the end of the module at a place sees a macro by where it stands; what arrives may be
/// declared so that it does.
pub(super) fn is_seen(
    mapping: &Mapping<'_>,
    item: ItemId,
    place: &Place,
    arriving: &mut Option<Arriving<'_>>,
) -> bool {
    let world = mapping.world;
    let node = &world[item];
    node.definitions.iter().any(|(file, at)| {
        let facts = world.facts(*file);
        let definition = Some(facts.item(*at));
        let first = definition.map(|definition| Anchor {
            module: node.module,
            file: *file,
            at: definition.span.end,
        });
        let anchors = std::iter::successors(first, |anchor| given(world, anchor.module));
        let mut anchors = anchors.collect::<Vec<_>>().into_iter();
        anchors.any(|anchor| covers(mapping, anchor, place, arriving))
    })
}

/// Whether the end of the module at a place sees another macro of the same name.
pub(super) fn is_another_seen(mapping: &Mapping<'_>, item: ItemId, place: &Place) -> bool {
    let world = mapping.world;
    let name = &world[item].name;
    let all = (0..).map(ItemId).zip(&world.items);
    let mut others = all.filter(|(other, node)| {
        node.kind == ItemKind::Macro && !node.local && *other != item && node.name == *name
    });
    others.any(|(other, _)| is_seen(mapping, other, place, &mut None))
}

/// Where a definition is seen behind an anchor, in the modules too that its module gives its macros to.
pub(crate) fn anchors_of(world: &World, first: Anchor) -> impl Iterator<Item = Anchor> {
    std::iter::successors(Some(first), |anchor| given(world, anchor.module))
}

/// Whether a place in the tree as it is sees a macro by where it stands.
pub(crate) fn is_in_scope(world: &World, item: ItemId, place: Anchor) -> bool {
    let node = &world[item];
    node.definitions.iter().any(|(file, at)| {
        let first = Some(Anchor {
            module: node.module,
            file: *file,
            at: world.facts(*file).item(*at).span.end,
        });
        let mut anchors = std::iter::successors(first, |anchor| given(world, anchor.module));
        anchors.any(|anchor| is_behind(world, anchor, place))
    })
}

/// Whether a place is in a module behind an anchor, or in one that is declared behind it.
fn is_behind(world: &World, anchor: Anchor, place: Anchor) -> bool {
    if place.module == anchor.module {
        return place.file == anchor.file && place.at > anchor.at;
    }
    let mut around = std::iter::successors(Some(place.module), |at| world[*at].parent);
    let child = around.find(|at| world[*at].parent == Some(anchor.module));
    let declarations = child.map(|child| world.declarations(child));
    declarations.into_iter().flatten().any(|(file, at)| {
        file == anchor.file && world.facts(file).module(at).span.start >= anchor.at
    })
}

/// Whether a macro at the end of the module at a place is seen by its plain name: from a byte of a
/// file of `user`, which stays, or from the end of the module at `here`.
pub(super) fn is_seen_at_end(
    mapping: &Mapping<'_>,
    to: &Place,
    here: &Place,
    user: Option<Anchor>,
) -> bool {
    let Some(module) = mapping.at(to) else {
        return false;
    };
    if is_in_tests(mapping, (module, to), here) {
        return true;
    }
    let outer = given(mapping.world, module);
    let mut outer = std::iter::successors(outer, |anchor| given(mapping.world, anchor.module));
    outer.any(|anchor| match user {
        Some(user) if user.module == anchor.module => {
            user.file == anchor.file && user.at > anchor.at
        }
        _ => *here != mapping.after(anchor.module) && covers(mapping, anchor, here, &mut None),
    })
}

/// Whether a place is in the tests of a module, before which stands what arrives in that.
fn is_in_tests(mapping: &Mapping<'_>, (module, to): (ModuleId, &Place), here: &Place) -> bool {
    let world = mapping.world;
    let child = here.path.get(to.path.len());
    let (Some(child), Some(body)) = (child, world[module].bodies.first()) else {
        return false;
    };
    let body = &world[body];
    let facts = world.facts(body.file);
    here.is_within(to)
        && tests_at_end(body.scope, facts)
            .is_some_and(|tests| facts.name(tests.name.name) == child.as_str())
}

/// Where a module gives its macros to the one around it.
fn given(world: &World, module: ModuleId) -> Option<Anchor> {
    let parent = world[module].parent?;
    let (file, at) = *world.declarations(module).first()?;
    let declaration = world.facts(file).module(at);
    let gives = declaration.macro_use || world.gives_macros(module);
    gives.then_some(Anchor {
        module: parent,
        file,
        at: declaration.span.end,
    })
}

impl Arriving<'_> {
    /// Notes that what arrives has to stand behind an anchor, and so does.
    fn stand_behind(&mut self, anchor: Anchor) -> bool {
        let key = (anchor.module, anchor.file);
        let at = self.behind.entry(key).or_default();
        *at = anchor.at.max(*at);
        true
    }
}

/// Whether the end of the module at a place lies behind an anchor.
fn covers(
    mapping: &Mapping<'_>,
    anchor: Anchor,
    place: &Place,
    arriving: &mut Option<Arriving<'_>>,
) -> bool {
    let around = mapping.after(anchor.module);
    if !place.is_within(&around) {
        return false;
    }
    let Some(name) = place.path.get(around.path.len()) else {
        // What arrives stands at the end.
        return true;
    };
    let child = around.child(name);
    let made = |arriving: &Arriving<'_>| arriving.structure.made.contains_key(&child);
    let declared = mapping
        .at(&child)
        .filter(|_| !arriving.as_ref().is_some_and(made))
        .filter(|module| arriving.is_none() || Structure::is_in_place(mapping, *module));
    let Some(declared) = declared else {
        return arriving
            .as_mut()
            .is_some_and(|arriving| arriving.stand_behind(anchor));
    };
    let world = mapping.world;
    world.declarations(declared).iter().any(|(file, index)| {
        let start = world.facts(*file).module(*index).span.start;
        *file == anchor.file && start >= anchor.at
    })
}
