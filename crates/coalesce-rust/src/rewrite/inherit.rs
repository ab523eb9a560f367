//! What a module has from the modules around it and takes along when it leaves them: conditions,
//! and lints that are allowed.
//!
//! Lints that are denied stay behind: without them everything still compiles.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{Edit, Texts, TreePath};
use syn::spanned::Spanned as _;

use super::{lines, mapping::Mapping, place::Place, structure::Leaving};
use crate::{
    facts::VisibilityKind,
    resolve::{Body, FileId, ModuleId, World},
};

/// The attributes, outermost first, that the declaration of a module needs in its new place.
pub(super) fn attributes(
    mapping: &Mapping<'_>,
    leaving: &Leaving,
    known: &BTreeSet<String>,
    texts: &dyn Texts,
) -> Vec<String> {
    let world = mapping.world;
    let place = mapping.after(leaving.module);
    let mut found: Vec<String> = Vec::new();
    let mut at = body_around(world, leaving);
    while let Some(body) = at.filter(|body| !is_around(mapping, body, &place)) {
        let mut own = of_body(world, body, texts);
        own.retain(|attribute| !found.contains(attribute));
        own.append(&mut found);
        found = own;
        at = body
            .declared
            .and_then(|(outer, _)| world.bodies.get(outer.index()));
    }
    found.retain(|attribute| {
        let condition = attribute
            .strip_prefix("#[cfg(")
            .and_then(|rest| rest.strip_suffix(")]"));
        condition.is_none_or(|condition| !known.contains(&plain(condition)))
    });
    found
}

/// The attributes, outermost first, that an item says itself once it has left `home` for `place`.
pub(super) fn around_item(
    mapping: &Mapping<'_>,
    home: ModuleId,
    file: FileId,
    place: &Place,
    texts: &dyn Texts,
) -> Vec<String> {
    let world = mapping.world;
    let known: BTreeSet<String> = around_place(mapping, place, texts);
    let bodies = world.module(home).map_or(&[][..], |node| &node.bodies);
    let mut bodies = bodies
        .iter()
        .filter_map(|body| world.bodies.get(body.index()));
    let mut at = bodies.find(|body| body.file == file);
    let mut found: Vec<String> = Vec::new();
    while let Some(body) = at.filter(|body| !is_around(mapping, body, place)) {
        let mut own = of_body(world, body, texts);
        own.retain(|attribute| !found.contains(attribute) && !known.contains(&plain(attribute)));
        own.append(&mut found);
        found = own;
        at = body
            .declared
            .and_then(|(outer, _)| world.bodies.get(outer.index()));
    }
    found
}

/// `#[allow(missing_docs)]` on the declarations of modules that become public where docs are asked
/// for: what is inside was not written for others.
pub(super) fn undocumented(
    mapping: &Mapping<'_>,
    shown: &[ModuleId],
    texts: &dyn Texts,
) -> BTreeMap<TreePath, Vec<Edit>> {
    let mut found: BTreeMap<TreePath, Vec<Edit>> = BTreeMap::new();
    let lint = ("missing_docs", &["warn", "deny", "forbid"][..]);
    for module in shown {
        let Some(parent) = mapping.after(*module).parent() else {
            continue;
        };
        if set_at(mapping, &parent, lint, texts).is_none() {
            continue;
        }
        for (file, at) in mapping.world.declarations(*module) {
            let (Some(source), Some(facts)) = (
                mapping.world.files.get(file.index()),
                mapping.world.facts(file),
            ) else {
                continue;
            };
            let (Some(one), Some(text)) =
                (facts.modules.get(at as usize), texts.text(&source.path))
            else {
                continue;
            };
            let start = one.visibility.span.start;
            let public = one.visibility.kind == VisibilityKind::Public;
            let Some(indent) = lines::prefix(&text, start).filter(|_| !public) else {
                continue;
            };
            let line = lines::line_break(&text);
            let attribute = format!("{indent}#[allow(missing_docs)]{line}");
            let at = lines::line_start(&text, start);
            let edits = found.entry(source.path.clone()).or_default();
            edits.push(Edit::insert(at, attribute));
        }
    }
    found
}

/// The module around a place, or the place itself, whose head sets a lint to one of these levels.
pub(super) fn set_at(
    mapping: &Mapping<'_>,
    place: &Place,
    lint: (&str, &[&str]),
    texts: &dyn Texts,
) -> Option<ModuleId> {
    let (lint, levels) = lint;
    let mut at = Some(place.clone());
    while let Some(here) = at {
        let module = mapping.at(&here);
        let bodies = module
            .and_then(|module| mapping.world.module(module))
            .map_or(&[][..], |node| &node.bodies);
        let bodies = bodies
            .iter()
            .filter_map(|body| mapping.world.bodies.get(body.index()));
        for body in bodies.filter(|body| body.scope.0 == 0) {
            let file = mapping.world.files.get(body.file.index());
            let text = file.and_then(|file| texts.text(&file.path));
            let parsed = text.and_then(|text| syn::parse_file(&text).ok());
            let said = parsed.is_some_and(|file| {
                file.attrs.iter().any(|attribute| {
                    let path = attribute.path();
                    let said = attribute.meta.span().source_text().unwrap_or_default();
                    levels.iter().any(|level| path.is_ident(level))
                        && said
                            .split(|c: char| !c.is_alphanumeric() && c != '_')
                            .any(|w| w == lint)
                })
            });
            proc_macro2::extra::invalidate_current_thread_spans();
            if said {
                return module;
            }
        }
        at = here.parent();
    }
    None
}

/// What the modules around a place say, without spaces.
fn around_place(mapping: &Mapping<'_>, place: &Place, texts: &dyn Texts) -> BTreeSet<String> {
    let world = mapping.world;
    let mut found = BTreeSet::new();
    let mut at = Some(place.clone());
    while let Some(here) = at {
        let bodies = mapping
            .at(&here)
            .and_then(|module| world.module(module))
            .map_or(&[][..], |node| &node.bodies);
        for body in bodies
            .iter()
            .filter_map(|body| world.bodies.get(body.index()))
        {
            let own = of_body(world, body, texts);
            found.extend(own.iter().map(|attribute| plain(attribute)));
        }
        at = here.parent();
    }
    found
}

/// The lints that the files of a module allow at their head: a shim says the same names.
pub(super) fn allowed(world: &World, module: ModuleId, texts: &dyn Texts) -> Vec<String> {
    let bodies = world.module(module).map_or(&[][..], |node| &node.bodies);
    let mut found = Vec::new();
    for body in bodies
        .iter()
        .filter_map(|body| world.bodies.get(body.index()))
        .filter(|body| body.scope.0 == 0)
    {
        let file = world.files.get(body.file.index());
        let text = file.and_then(|file| texts.text(&file.path));
        let parsed = text.and_then(|text| syn::parse_file(&text).ok());
        let own = parsed.map(|file| kept(&file.attrs)).unwrap_or_default();
        found.extend(own.into_iter().filter(|own| own.starts_with("#[allow")));
    }
    found.sort();
    found.dedup();
    found
}

/// The conditions among attributes, written as outer ones.
pub(super) fn conditions(attributes: &[syn::Attribute]) -> Vec<String> {
    let mut found = kept(attributes);
    found.retain(|attribute| attribute.starts_with("#[cfg("));
    found
}

/// A condition without its spaces, as conditions are compared.
pub(super) fn plain(condition: &str) -> String {
    condition.split_whitespace().collect()
}

/// The body that a declaration stands in.
fn body_around<'w>(world: &'w World, leaving: &Leaving) -> Option<&'w Body> {
    let declared = |body: &&Body| {
        body.declared.is_some_and(|(outer, at)| {
            let outer = world.bodies.get(outer.index());
            at == leaving.declaration && outer.is_some_and(|outer| outer.file == leaving.file)
        })
    };
    let node = world.module(leaving.module)?;
    let mut own = node
        .bodies
        .iter()
        .filter_map(|body| world.bodies.get(body.index()));
    let (outer, _) = own.find(declared)?.declared?;
    world.bodies.get(outer.index())
}

/// Whether the new place is below the module of a body, so that it still has all from it.
fn is_around(mapping: &Mapping<'_>, body: &Body, place: &Place) -> bool {
    place.is_within(&mapping.after(body.module))
}

/// What the declaration of a body says, and the head of its file.
fn of_body(world: &World, body: &Body, texts: &dyn Texts) -> Vec<String> {
    let mut found = Vec::new();
    if let Some((outer, at)) = body.declared {
        let outer = world.bodies.get(outer.index());
        let declaration = outer.and_then(|outer| {
            let facts = world.facts(outer.file)?;
            let text = texts.text(&world.files.get(outer.file.index())?.path)?;
            let span = facts.modules.get(at as usize)?.span;
            span.of(&text).map(str::to_owned)
        });
        if let Some(text) = declaration {
            let attributes = syn::parse_str::<syn::ItemMod>(&text).map(|item| item.attrs);
            found.extend(kept(&attributes.unwrap_or_default()));
        }
    }
    if body.scope.0 == 0 {
        let file = world.files.get(body.file.index());
        if let Some(text) = file.and_then(|file| texts.text(&file.path)) {
            let attributes = syn::parse_file(&text).map(|file| file.attrs);
            found.extend(kept(&attributes.unwrap_or_default()));
        }
    }
    found
}

/// Conditions and allowed lints among attributes, written as outer ones.
fn kept(attributes: &[syn::Attribute]) -> Vec<String> {
    let mut found = Vec::new();
    for attribute in attributes {
        let path = attribute.path();
        let Some(said) = attribute.meta.span().source_text() else {
            continue;
        };
        let said = said.trim();
        if path.is_ident("cfg") || path.is_ident("allow") {
            found.push(format!("#[{said}]"));
        } else if path.is_ident("expect") {
            found.push(format!(
                "#[allow{}]",
                said.strip_prefix("expect").unwrap_or(said)
            ));
        } else if path.is_ident("cfg_attr") && said.contains("allow(") {
            found.push(format!("#[{said}]"));
        }
    }
    found
}
