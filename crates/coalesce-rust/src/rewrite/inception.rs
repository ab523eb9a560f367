//! Modules that come to have the name of the one around them: clippy speaks of that by itself (`module_inception`).

use coalesce_model::{Change, ChangeKind, LanguagePlan, Subject, Unproven, UnprovenKind};

use super::mapping::Mapping;
use crate::lints;

/// The lint, and the groups that it is of.
const LINTS: [&str; 4] = [
    "clippy::module_inception",
    "clippy::style",
    "clippy::all",
    "warnings",
];

/// Tells them in a tree that is looked at by clippy.
pub(super) fn tell(mapping: &Mapping<'_>, plan: &mut LanguagePlan) {
    plan.unproven.extend(first_warned_of(mapping));
}

/// The first that clippy warns of, if anybody asks it.
fn first_warned_of(mapping: &Mapping<'_>) -> Option<Unproven> {
    let changes = mapping.changes.iter();
    let mut made = changes.filter_map(|change| Some((change, made_inside(mapping, change)?)));
    let (change, name) = made.next()?;
    is_looked_at(mapping).then_some(())?;
    let world = mapping.world;
    let root = name.split("::").next().unwrap_or_default();
    let around = name.rsplit_once("::").map_or(root, |(around, _)| around);
    let mut homes = [around, root]
        .into_iter()
        .flat_map(|name| world.modules_named(name));
    let body = world.bodies_of(homes.next()?).next()?;
    let place = (body.file, world.code_of(body).start);
    let is_off = lints::is_off(world, place, &LINTS, mapping.texts);
    (!is_off).then(|| Unproven {
        path: world[body.file].path.clone(),
        span: None,
        kind: UnprovenKind::Lint,
        name: change.to.clone(),
        why: format!(
            "`{name}` comes to have the name of the module around it: clippy warns of that (`module_inception`)"
        ),
    })
}

/// The module that a change makes in one of its own name, below the root.
fn made_inside(mapping: &Mapping<'_>, change: &Change) -> Option<String> {
    let is_inside = |name: &str| {
        let mut names = name.rsplit("::");
        let (last, around) = (names.next(), names.next());
        last == around && names.next().is_some()
    };
    let module = match (change.subject, &change.kind) {
        (Subject::Module, ChangeKind::Move) if !is_inside(&change.from) => change.to.as_str(),
        (Subject::Item, ChangeKind::Move) => change.to.rsplit_once("::")?.0,
        _ => return None,
    };
    let is_new = mapping.world.modules_named(module).is_empty();
    (is_new && is_inside(module)).then(|| module.to_owned())
}

/// Whether a file of the tree speaks of clippy: its settings, or what CI runs.
fn is_looked_at(mapping: &Mapping<'_>) -> bool {
    let is_of_build = |name: &str, extension: Option<&str>| {
        let words = ["clippy.toml", ".clippy.toml", "Makefile", "justfile"];
        words.contains(&name) || matches!(extension, Some("toml" | "yaml" | "yml" | "sh"))
    };
    let mut paths = mapping.texts.paths().iter();
    paths.any(|path| {
        is_of_build(path.file_name(), path.extension())
            && (path.file_name().ends_with("clippy.toml")
                || mapping
                    .texts
                    .text(path)
                    .is_some_and(|text| text.contains("clippy")))
    })
}
