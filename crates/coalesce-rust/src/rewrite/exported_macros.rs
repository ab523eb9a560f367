//! Macros that a module exports and that leave their crate with it: other crates name them by the root of the crate,
//! whichever module has them.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Change, ChangeKind, Edit, ShimRequest, TreePath};

use super::{
    conditions,
    items::{arrive::at_end, is_exported, moving, reexport_of_macro},
    lines,
    mapping::Mapping,
    needs::{Because, Need, NeededThing, Purpose},
    place::Place,
    spell::{Respelling, spelled},
};
use crate::{
    facts::{ItemKind, Origin, SourceFacts, VisibilityKind},
    resolve::{CrateId, FileId, ItemId, Res, Site},
};

/// An exported macro whose module goes to another crate.
pub(super) struct LeavingMacro<'m> {
    pub item: ItemId,
    pub name: &'m str,
    change: &'m Change,
    from: CrateId,
    to: CrateId,
}

/// The exported macros that go to another crate with their modules.
pub(super) fn leaving<'m>(mapping: &'m Mapping<'m>) -> Vec<LeavingMacro<'m>> {
    let world = mapping.world;
    let items = world.items.iter().zip((0..).map(ItemId));
    let macros = items.filter(|(node, _)| node.kind == ItemKind::Macro && !node.local);
    let found = macros.filter_map(|(node, item)| {
        let change = mapping.change_of(node.module)?;
        let (from, to) = (mapping.krate(node.module), mapping.after(node.module).krate);
        let is_leaving = change.kind == ChangeKind::Move
            && from != to
            && mapping.library_of(from).is_none()
            && is_exported(world, item);
        is_leaving.then_some(LeavingMacro {
            item,
            name: &node.name,
            change,
            from,
            to,
        })
    });
    found.collect()
}

/// The names that may stand for them in a file.
pub(super) fn names(mapping: &Mapping<'_>) -> BTreeSet<String> {
    let leaving = leaving(mapping).into_iter();
    leaving.map(|one| one.name.to_owned()).collect()
}

/// Why a macro that goes to another crate cannot name what it names through `$crate`: that stays, and whoever calls
/// the macro need not have its crate.
pub(super) fn loses(
    mapping: &Mapping<'_>,
    (facts, site): (&SourceFacts, &Site<'_>),
    (here, new): (&Place, &Respelling),
) -> Option<String> {
    let first = site.segments.first()?;
    let is_body = site.origin == Origin::MacroBody && facts.name(first.name) == "$crate";
    let mut items = facts.items.iter();
    let is_exported = items.any(|one| one.exported && one.span.contains(first.span));
    let crosses = mapping.krate(mapping.world.module_of(site.space)) != here.krate;
    let is_lost = new.end > 0 && new.start == 0 && new.path.first()? != "$crate";
    let name = &mapping.world[here.krate].name;
    (is_body && is_exported && crosses && is_lost).then(|| {
        format!("a macro names this through `$crate`, which will be `{name}` and does not have it")
    })
}

/// Imports beside the globs of the roots that brought them, where somebody goes on saying their names.
pub(super) fn beside_globs(mapping: &Mapping<'_>) -> KeptMacros {
    let mut kept = KeptMacros::default();
    let leaving = leaving(mapping);
    let gone = leaving.iter().filter(|one| one.change.shim.is_none());
    let gone: BTreeMap<ItemId, &LeavingMacro<'_>> = gone.map(|one| (one.item, one)).collect();
    if gone.is_empty() {
        return kept;
    }
    for (import, item) in globs_of(mapping, &gone) {
        if let Some(one) = gone.get(&item) {
            kept.beside(mapping, import, one);
        }
    }
    kept
}

/// The globs that bring macros out of the roots of their crates to those who say their names, or may: others see what
/// a public glob brings.
fn globs_of(
    mapping: &Mapping<'_>,
    gone: &BTreeMap<ItemId, &LeavingMacro<'_>>,
) -> BTreeSet<((FileId, u32), ItemId)> {
    let world = mapping.world;
    let mut open = used_globs(mapping, gone);
    open.extend(public_globs(mapping, gone));
    let (mut found, mut seen) = (BTreeSet::new(), BTreeSet::new());
    while let Some((import, item)) = open.pop() {
        let target = mapping.speller().glob_target(import);
        let Some(target) = target.filter(|_| seen.insert((import, item))) else {
            continue;
        };
        if world[target].parent.is_none()
            && mapping.krate(target) == mapping.krate(world[item].module)
        {
            found.insert((import, item));
            continue;
        }
        let bindings = world.bindings(target, &world[item].name).iter();
        let further = bindings.filter(|one| one.glob && one.res == Res::Item(item));
        open.extend(further.filter_map(|one| Some((one.import?, item))));
    }
    found
}

fn used_globs(
    mapping: &Mapping<'_>,
    gone: &BTreeMap<ItemId, &LeavingMacro<'_>>,
) -> Vec<((FileId, u32), ItemId)> {
    let world = mapping.world;
    let mut found = Vec::new();
    for (_, source) in world.sources() {
        world.visit_file(source, &mut |_, site| {
            for step in site.trace.steps.iter().filter(|step| step.glob) {
                let items = step.all().filter_map(|(res, _)| match res {
                    Res::Item(item) if gone.contains_key(&item) => Some(item),
                    _ => None,
                });
                let import = step.import;
                found.extend(items.filter_map(|item| Some((import?, item))));
            }
        });
    }
    found
}

fn public_globs(
    mapping: &Mapping<'_>,
    gone: &BTreeMap<ItemId, &LeavingMacro<'_>>,
) -> Vec<((FileId, u32), ItemId)> {
    let world = mapping.world;
    let bindings = world
        .spaces
        .iter()
        .flat_map(|space| space.names.values().flatten());
    let found = bindings.filter_map(|one| {
        let Res::Item(item) = one.res else {
            return None;
        };
        let (file, leaf) = one
            .import
            .filter(|_| one.glob && gone.contains_key(&item))?;
        let visibility = world.facts(file).declaration_of(leaf).visibility.kind;
        (visibility != VisibilityKind::Private).then_some(((file, leaf), item))
    });
    found.collect()
}

/// What keeps their old names: a re-export in the root of the crate that they leave.
#[derive(Default)]
pub(super) struct KeptMacros {
    pub edits: BTreeMap<TreePath, Vec<Edit>>,
    pub needs: Vec<Need>,
}

impl KeptMacros {
    /// Imports a macro before the declaration of a glob, with its attributes and visibility.
    fn beside(
        &mut self,
        mapping: &Mapping<'_>,
        (file, leaf): (FileId, u32),
        one: &LeavingMacro<'_>,
    ) {
        let world = mapping.world;
        let source = &world[file];
        let declaration = world.facts(file).declaration_of(leaf);
        let text = mapping.texts.text(&source.path);
        let around = world.body_around(file, declaration.span.start);
        let (Some(text), Some(around)) = (text, around) else {
            return;
        };
        let here = mapping.after(world[around].module);
        let mut path = mapping
            .speller()
            .rooted_in(here.krate, &Place::root(one.to));
        path.push(one.name.to_owned());
        let head = ByteSpan::new(declaration.span.start, declaration.keyword.start);
        let said = head.of(&text).unwrap_or_default();
        let line = lines::line_break(&text);
        let indent = lines::prefix(&text, declaration.span.start).unwrap_or_default();
        let import = format!("{said}use {};{line}{indent}", spelled(&path));
        let edits = self.edits.entry(source.path.clone()).or_default();
        edits.push(Edit::insert(declaration.span.start, import));
        let because = Because::Names(format!(
            "{}::{}",
            mapping.name_of(&Place::root(one.to)),
            one.name
        ));
        let need = Need::new(NeededThing::Crate(one.to, Purpose::Code), here);
        self.needs.push(need.because(because));
    }
}

/// Keeps the old names of those whose modules leave a shim.
pub(super) fn keep(mapping: &Mapping<'_>) -> KeptMacros {
    let mut texts: BTreeMap<CrateId, BTreeSet<String>> = BTreeMap::new();
    let mut kept = KeptMacros::default();
    for one in leaving(mapping) {
        let Some(request) = &one.change.shim else {
            continue;
        };
        let here = Place::root(one.from);
        kept.needs.push(
            Need::new(NeededThing::Crate(one.to, Purpose::Code), here)
                .because(Because::Shim(one.change.from.clone())),
        );
        let text = reexport(mapping, &one, request);
        texts.entry(one.from).or_default().insert(text);
    }
    for (krate, texts) in texts {
        let edit = at_end_of_root(mapping, krate, &texts.into_iter().collect::<Vec<_>>());
        kept.edits
            .extend(edit.map(|(path, edit)| (path, vec![edit])));
    }
    kept
}

fn reexport(mapping: &Mapping<'_>, one: &LeavingMacro<'_>, request: &ShimRequest) -> String {
    let speller = mapping.speller();
    let mut path = speller.rooted_in(one.from, &Place::root(one.to));
    path.push(one.name.to_owned());
    let conditions: String = conditions_of(mapping, one)
        .iter()
        .map(|condition| format!("{condition}\n"))
        .collect();
    reexport_of_macro(request, (one.name, &conditions), &path)
}

/// The conditions of the definition of a macro, and of the modules around it.
fn conditions_of(mapping: &Mapping<'_>, one: &LeavingMacro<'_>) -> BTreeSet<String> {
    let (world, mut found) = (mapping.world, BTreeSet::new());
    let node = &world[one.item];
    for (file, at) in &node.definitions {
        let start = world.facts(*file).item(*at).span.start;
        let text = conditions::body_at(world, node.module, *file, start);
        let around = conditions::around_item(mapping, node.module, text, &Place::root(one.from));
        found.extend(around.into_iter().filter(|said| said.starts_with("#[cfg(")));
        let text = mapping.texts.text(&world[*file].path);
        let span = world.facts(*file).item(*at).span;
        found.extend(moving::conditions(
            text.as_deref()
                .and_then(|text| span.of(text))
                .unwrap_or_default(),
        ));
    }
    found
}

fn at_end_of_root(
    mapping: &Mapping<'_>,
    krate: CrateId,
    texts: &[String],
) -> Option<(TreePath, Edit)> {
    let world = mapping.world;
    let root = world[krate].root?;
    let body = &world[*world[root].bodies.first()?];
    let path = world[body.file].path.clone();
    let text = mapping.texts.text(&path)?;
    let end = u32::try_from(text.len()).ok()?;
    let edit = Edit::insert(end, at_end(&text, (end, ""), texts));
    Some((path, edit))
}
