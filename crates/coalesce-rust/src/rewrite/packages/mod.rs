//! A library that becomes a module of another one, or gives way to it: what it takes besides the
//! paths, which are spelled as those of any other module.
//!
//! `files` and `targets` say where files go, `head` what becomes of the attributes and macros of
//! the root, `manifest` what packages have to say. Programs, procedural macros and C
//! libraries stay what they are: their packages are refused in `check`.

mod book;
mod check;
mod defaults;
mod effective;
mod files;
mod head;
mod manifest;
mod retire;
mod shim;
mod switches;
mod targets;
mod users;
mod wishes;

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{Edit, Finding, TreePath, Unproven};

pub(super) use book::{Book, Wrong, difference};
pub(super) use defaults::are_off_for_all;
pub(super) use effective::Effective;
pub(super) use files::arrange;
pub(crate) use head::condition_of_no_std;
pub(super) use head::of_shim;
pub(crate) use retire::{package_of, packages as retire};
pub(super) use users::shared_entry;
pub(super) use wishes::{Ask, Switch, Wishes};

use super::{
    mapping::{Library, Mapping, refusal},
    shims::Shims,
    structure::Structure,
};
use crate::{
    discover::TargetKind,
    facts::{ExternCrate, Segment, SourceFacts, VisibilityKind},
    resolve::{FileId, ModuleId, World},
};

/// What the packages of a set of changes come to.
#[derive(Default)]
pub(super) struct Packages {
    pub edits: BTreeMap<TreePath, Vec<Edit>>,
    pub notes: Vec<Finding>,
    pub refusals: Vec<Finding>,
    pub unproven: Vec<Unproven>,
    /// Attributes of the declaration of each library that arrives, a line each.
    pub heads: BTreeMap<ModuleId, String>,
}

/// Looks at what would stand in the way, and works out the edits of root files.
pub(super) fn check(mapping: &Mapping<'_>) -> Packages {
    let mut made = Packages::default();
    for library in &mapping.libraries {
        let before = made.refusals.len();
        check::library(mapping, library, &mut made);
        if made.refusals.len() == before && !mapping.is_replaced(library.module) {
            head::root(mapping, library, &mut made);
        }
    }
    made
}

/// Manifests and lock files, with the edits that they have already.
pub(super) fn manifests(
    mapping: &Mapping<'_>,
    structure: &Structure,
    (shims, wishes): (&Shims, &Wishes),
    edits: &mut BTreeMap<TreePath, Vec<Edit>>,
) -> Packages {
    let mut made = Packages::default();
    if mapping.libraries.is_empty() && wishes.is_empty() {
        return made;
    }
    let mut book = Book::new(mapping.texts, std::mem::take(edits));
    for library in &mapping.libraries {
        let shim = shims.text_of(library.module);
        merge(mapping, structure, library, shim, &mut book, &mut made);
    }
    match wishes.grant(mapping, &mut book) {
        Ok(unproven) => made.unproven = unproven,
        Err((path, message)) => made.refusals.push(refusal(path, message)),
    }
    *edits = book.close();
    made
}

/// Merges the manifest of a library into that of the package that takes over.
fn merge<'m>(
    mapping: &Mapping<'m>,
    structure: &Structure,
    library: &Library,
    shim: Option<&str>,
    book: &mut Book<'m>,
    made: &mut Packages,
) {
    let mut merge = manifest::Merge {
        mapping,
        structure,
        library,
        book,
        shim,
        notes: Vec::new(),
    };
    if let Err((path, message)) = merge.run() {
        made.refusals.push(refusal(path, message));
    }
    made.notes.append(&mut merge.notes);
}

/// Whether a module belongs to a test, an example or a bench that goes along with its library.
pub(super) fn goes_along(mapping: &Mapping<'_>, module: ModuleId) -> bool {
    let krate = &mapping.world[mapping.krate(module)];
    let kind = matches!(
        krate.kind,
        TargetKind::Test | TargetKind::Example | TargetKind::Bench | TargetKind::BuildScript
    );
    let mut libraries = mapping.libraries.iter();
    kind && libraries.any(|library| library.package == krate.package)
}

/// The names that what moves may be found by: the last one of each module, for a library all that
/// the crates of the tree call it by.
pub(super) fn names(mapping: &Mapping<'_>) -> BTreeSet<String> {
    let world = mapping.world;
    let modules = mapping.roots.iter().flatten().map(|(module, _)| *module);
    let mut names: BTreeSet<String> = modules.map(|module| world[module].name.clone()).collect();
    for krate in world
        .crates
        .iter()
        .filter(|_| !mapping.libraries.is_empty())
    {
        let gone = krate
            .externs
            .iter()
            .filter(|(_, known)| known.is_some_and(|known| mapping.library_of(known).is_some()));
        names.extend(gone.map(|(name, _)| name.clone()));
    }
    names
}

/// What an `extern crate` of such a library becomes, or one in it of what it goes into; nothing where
/// its users name the new place, because the crate is `gone`.
pub(super) fn extern_crate(
    facts: &SourceFacts,
    declaration: &ExternCrate,
    path: &[String],
    gone: bool,
) -> Result<Option<String>, String> {
    let own = facts.name(declaration.name.name);
    if own == "self" {
        return Err(
            "`extern crate self` names the crate itself, which becomes a module".to_owned(),
        );
    }
    let bound = bound_name(facts, declaration);
    let first = path.first().map_or("crate", String::as_str);
    if declaration.macro_use {
        return crate_for_macros(own, first);
    }
    if bound == "_" {
        return Ok((first != "crate").then(|| format!("extern crate {first} as _;")));
    }
    let public = declaration.visibility.kind != VisibilityKind::Private;
    if gone && !public {
        return Ok(None);
    }
    Ok(Some(use_of(path, bound, public)))
}

/// Whether a path goes through a module to the crate that an `extern crate` there gives a name, as `crate::name::f()`. Who
/// begins with the name, by a glob as well, is spelled anew where the crate has another one.
pub(super) fn is_named_by_path(
    world: &World,
    (home, facts): (ModuleId, &SourceFacts),
    declaration: &ExternCrate,
) -> bool {
    let bound = bound_name(facts, declaration);
    let mut found = false;
    let says = |file: FileId| world.facts(file).names.iter().any(|name| **name == *bound);
    for (_, source) in world.sources().filter(|(file, _)| says(*file)) {
        world.visit_file(source, &mut |facts, site| {
            let is_bound = |segment: &Segment| facts.name(segment.name) == bound;
            let steps = site.trace.steps.iter();
            let later = site.segments.iter().skip(1);
            let mut through = steps.zip(later);
            found |=
                through.any(|(outer, segment)| outer.module() == Some(home) && is_bound(segment));
        });
    }
    found
}

/// The name that an `extern crate` brings.
fn bound_name<'f>(facts: &'f SourceFacts, declaration: &ExternCrate) -> &'f str {
    let bound = declaration.alias.unwrap_or(declaration.name);
    facts.name(bound.name)
}

fn crate_for_macros(own: &str, first: &str) -> Result<Option<String>, String> {
    if first == "crate" {
        return Err(format!(
            "`#[macro_use] extern crate {own}` gives macros that will be of this crate"
        ));
    }
    Ok(Some(format!("#[macro_use]\nextern crate {first};")))
}

/// A `use` of a path by the name `bound`.
fn use_of(path: &[String], bound: &str, public: bool) -> String {
    let last = path.last().map(String::as_str);
    let alias = if last == Some(bound) {
        String::new()
    } else {
        format!(" as {bound}")
    };
    let visibility = if public { "pub " } else { "" };
    format!("{visibility}use {}{alias};", path.join("::"))
}
