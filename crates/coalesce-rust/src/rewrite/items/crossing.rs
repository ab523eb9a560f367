//! What stands in the way of an item that leaves its crate for another one.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Texts, TreePath};

use super::{
    super::{
        cargo::is_macro_package,
        conditions::conditions_of,
        crossing::{Crossing, Gate, is_default},
        mapping::refusal,
        spell::module_in,
    },
    moving::{Chunk, Moving, Set},
};
use crate::resolve::{CrateId, FileId, ItemId, ModuleId, Res, UseSite};

/// Looks at every item that goes to another crate.
pub(super) fn check(set: &Set<'_>, texts: &dyn Texts) -> Crossing {
    let mut found = Crossing::default();
    let mut pairs: BTreeSet<(CrateId, CrateId, TreePath)> = BTreeSet::new();
    for moving in set.moving.iter().filter(|moving| crosses(set, moving)) {
        let file = set
            .mapping
            .file_of(moving.home)
            .unwrap_or_else(TreePath::root);
        pairs.insert((set.mapping.krate(moving.home), moving.to.krate, file));
    }
    for (from, to, file) in pairs {
        let package = set.world()[to].package;
        if is_macro_package(set.world(), texts, package) {
            let message = "a library of procedural macros exports nothing else".to_owned();
            found.refusals.push(refusal(file, message));
            continue;
        }
        found.between(set.mapping, (from, to), &file);
    }
    for chunk in &set.chunks {
        if let Some(moving) = Some(set.moving(chunk.moving))
            .filter(|moving| crosses(set, moving) && !set.is_dropped(chunk))
        {
            text_of(set, chunk, moving, texts, &mut found);
            conditions(set, chunk, moving, texts, &mut found);
        }
    }
    orphans(set, &mut found);
    calls(set, &mut found);
    found
}

/// Whether an item goes to another crate.
fn crosses(set: &Set<'_>, moving: &Moving<'_>) -> bool {
    let carries = !moving.gives_way() || set.is_whole(moving.home);
    carries && set.mapping.krate(moving.home) != moving.to.krate
}

/// Features that the other crate does not have, and variables that cargo sets for each package.
fn text_of(
    set: &Set<'_>,
    chunk: &Chunk,
    moving: &Moving<'_>,
    texts: &dyn Texts,
    found: &mut Crossing,
) {
    let crates = (set.mapping.krate(moving.home), moving.to.krate);
    let gate = Gate::new(set.mapping, crates, texts);
    let path = set.path(chunk.file);
    let Some(text) = texts.text(&path) else {
        return;
    };
    for condition in &chunk.cfg {
        found.under(&gate, &path, condition);
    }
    found.features(&gate, (&path, &text), chunk.span);
    found.of_cargo(&gate, (&path, &text), chunk.span);
}

/// What the text uses of other crates and what those have under a condition alone.
fn conditions(
    set: &Set<'_>,
    chunk: &Chunk,
    moving: &Moving<'_>,
    texts: &dyn Texts,
    found: &mut Crossing,
) {
    let world = set.world();
    let mut used: BTreeSet<ModuleId> = BTreeSet::new();
    world.visit_file(&world[chunk.file], &mut |_, site| {
        let inside = |at: u32| chunk.span.start <= at && at < chunk.span.end;
        if site
            .segments
            .first()
            .is_none_or(|first| !inside(first.span.start))
        {
            return;
        }
        let moves = site.trace.steps.iter().any(|step| {
            step.all()
                .any(|(res, _)| matches!(res, Res::Item(item) if set.of(item).is_some()))
        });
        if moves {
            return;
        }
        for step in &site.trace.steps {
            used.extend(module_in(step));
            used.extend(step.all().filter_map(|(res, _)| match res {
                Res::Item(item) => Some(world[item].module),
                _ => None,
            }));
        }
    });
    let elsewhere = |module: &ModuleId| set.mapping.krate(*module) != moving.to.krate;
    for module in used.into_iter().filter(elsewhere) {
        for condition in conditions_of(set.mapping, module) {
            if is_default(set.mapping, module, &condition, texts) {
                continue;
            }
            let name = set.mapping.name_of(&set.mapping.after(module));
            let message = format!(
                "`{name}`, which it uses, is only there under cfg({condition}) of its own crate"
            );
            found.refusals.push(refusal(set.path(chunk.file), message));
        }
    }
}

/// Calls of macros, in the place of items, that name what goes to another crate: they may implement
/// something for it, which only its own crate may.
fn calls(set: &Set<'_>, found: &mut Crossing) {
    let world = set.world();
    for (at, source) in world.files.iter().enumerate() {
        let file = FileId(u32::try_from(at).unwrap_or(u32::MAX));
        let facts = world.facts(file);
        let calls = facts.macro_calls.iter().filter(|call| call.item_position);
        let bodies: Vec<ByteSpan> = calls.map(|call| call.body).collect();
        if bodies.is_empty() {
            continue;
        }
        world.visit_file(&source, &mut |_, site| {
                let Some(first) = site.segments.first() else {
                    return;
                };
                let inside = bodies.iter().any(|body| body.contains(first.span));
                if !inside || set.chunk_at(file, first.span.start).is_some() {
                    return;
                }
                let steps = site.trace.steps.iter().flat_map(|step| step.all());
                let moving = steps.into_iter().find_map(|(res, _)| match res {
                    Res::Item(item) => Some(set.moving(set.of(item)?)),
                    _ => None,
                });
                if let Some(moving) = moving.filter(|moving| crosses(set, moving)) {
                    found.refusals.push(refusal(
                            source.path.clone(),
                            format!(
                                "a macro may implement something for `{}` here, which only its own crate may",
                                moving.change.from
                            ),
                        ).at(first.span).with_help("write out what the macro makes, or move that along".to_owned()));
                }
            });
    }
}

/// `impl`s that would be in another crate than both their trait and their type.
fn orphans(set: &Set<'_>, found: &mut Crossing) {
    let crossing = set.moving.iter().filter(|moving| crosses(set, moving));
    let from: BTreeSet<CrateId> = crossing
        .map(|moving| set.mapping.krate(moving.home))
        .collect();
    let world = set.world();
    let mut seen = BTreeSet::new();
    for body in &world.bodies {
        let krate = set.mapping.krate(body.module);
        if !from.contains(&krate) || !seen.insert((body.file, body.scope)) {
            continue;
        }
        let facts = world.facts(body.file);
        let named = named(set, body.file);
        for fact in facts.impls.iter().filter(|fact| fact.scope == body.scope) {
            let item = |path: Option<u32>| named.get(&path?).copied();
            let (of, by) = (item(fact.self_path), item(fact.trait_path));
            let chunk = set.chunk_at(body.file, fact.span.start);
            let home = chunk
                .map(|chunk| set.moving(chunk.moving))
                .map_or(krate, |moving| moving.to.krate);
            let local = |item: Option<ItemId>| item.map(|item| krate_after(set, item) == home);
            let touched = chunk.is_some() || local(of) == Some(false) || local(by) == Some(false);
            let allowed = match fact.trait_path {
                None => local(of) == Some(true),
                Some(_) => local(of) == Some(true) || local(by) == Some(true),
            };
            let was = |item: Option<ItemId>| {
                item.map(|item| &world[item])
                    .is_some_and(|node| set.mapping.krate(node.module) == krate)
            };
            if !touched || allowed || !(was(of) || was(by)) {
                continue;
            }
            let message = "this `impl` would be in another crate than its trait and its type";
            found.refusals.push(
                refusal(set.path(body.file), message.to_owned())
                    .at(fact.span)
                    .with_help("move the type, or the trait, along with it".to_owned()),
            );
        }
    }
}

fn krate_after(set: &Set<'_>, item: ItemId) -> CrateId {
    let moving = set.of(item).map(|at| set.moving(at));
    let node = Some(&set.world()[item]);
    match moving {
        Some(moving) if !moving.gives_way() || set.is_whole(moving.home) => moving.to.krate,
        _ => {
            let node = node.expect("invariant: an item's number is its place in the table");
            set.mapping.krate(node.module)
        }
    }
}

/// The items that the paths of a file name, by path.
fn named(set: &Set<'_>, file: FileId) -> BTreeMap<u32, ItemId> {
    let mut found = BTreeMap::new();
    set.world().visit_file(&set.world()[file], &mut |_, site| {
        let UseSite::Path(path) = site.site else {
            return;
        };
        let last = site.trace.steps.last().into_iter();
        for (res, _) in last.flat_map(|last| last.all()) {
            if let Res::Item(item) = res {
                found.entry(path).or_insert(item);
            }
        }
    });
    found
}
