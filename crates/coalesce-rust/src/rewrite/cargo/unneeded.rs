//! Dependencies that nothing names any more, once code has moved: told, and left to the reader.
//!
//! A line is not taken out by itself: what a derive or an attribute writes may name the crate behind
//! it, and its features may be wanted for others.

use std::collections::BTreeMap;

use coalesce_model::{ByteSpan, EditSet, Finding, LanguagePlan, Texts, TreePath};

use super::{package_at, sources};
use crate::{
    discover::{DependencyKind, Package},
    lexer,
    resolve::{FileId, World},
    rewrite::mapping::Mapping,
};

/// Says of each package which dependencies on what something left it does not name any more.
pub(in super::super) fn tell(mapping: &Mapping<'_>, plan: &mut LanguagePlan) {
    let world = mapping.world;
    let sources = sources(mapping);
    let after = After::new(plan);
    let mut notes = Vec::new();
    for (at, package) in world.packages.iter().enumerate() {
        let of_sources = package.dependencies.iter().filter(|known| {
            let leads = package_at(world, known.directory.as_ref());
            known.kind == DependencyKind::Normal
                && leads.is_some_and(|leads| leads != at && sources.contains(&leads))
        });
        for known in of_sources {
            let path = world.manifest_of(at);
            if !mapping.texts.exists(&path) || after.deleted.contains(&path) {
                continue;
            }
            if is_named_before(world, package, &known.name)
                && !after.is_named(world, package, &known.name, (mapping.texts, plan))
            {
                notes.push(
                    Finding::note(
                        path,
                        format!("`{}` does not name `{}` any more", package.name, known.name),
                    )
                    .with_help(format!(
                        "its line can go, unless what a macro writes names `{}`",
                        known.name
                    )),
                );
            }
        }
    }
    notes.sort();
    notes.dedup();
    plan.notes.extend(notes);
}

/// Whether a file is one of a package, and of no package inside of it.
fn is_of(world: &World, package: &Package, path: &TreePath) -> bool {
    let around = world
        .packages
        .iter()
        .filter(|other| other.directory.is_root() || path.strip_prefix(&other.directory).is_some());
    let nearest = around.max_by_key(|other| other.directory.as_str().len());
    nearest.is_some_and(|nearest| nearest.directory == package.directory)
}

fn is_named_before(world: &World, package: &Package, name: &str) -> bool {
    world
        .files
        .iter()
        .enumerate()
        .any(|(at, source)| is_of(world, package, &source.path) && names_it(world, at, name))
}

/// Whether a name stands in a file, as the facts of it say.
fn names_it(world: &World, at: usize, name: &str) -> bool {
    let file = u32::try_from(at).ok().map(FileId);
    let facts = file.map(|file| world.facts(file));
    facts.is_some_and(|facts| facts.names.iter().any(|known| **known == *name))
}

/// Where files are after.
struct After {
    moved: BTreeMap<TreePath, TreePath>,
    deleted: Vec<TreePath>,
}

impl After {
    fn new(plan: &LanguagePlan) -> Self {
        let moves = plan.moves.iter();
        Self {
            moved: moves
                .map(|one| (one.from.clone(), one.to.clone()))
                .collect(),
            deleted: plan.deletes.clone(),
        }
    }

    fn is_named(
        &self,
        world: &World,
        package: &Package,
        name: &str,
        (texts, plan): (&dyn Texts, &LanguagePlan),
    ) -> bool {
        let made = plan.creates.iter();
        let in_new = made
            .filter(|file| is_of(world, package, &file.path))
            .any(|file| has_word(&file.text, name));
        in_new
            || world.files.iter().enumerate().any(|(at, source)| {
                let path = self.moved.get(&source.path).unwrap_or(&source.path);
                if self.deleted.contains(&source.path) || !is_of(world, package, path) {
                    return false;
                }
                let Some(edits) = plan.edits.get(&source.path) else {
                    return names_it(world, at, name);
                };
                // What cannot be read goes on naming it, for all that is known.
                let text = texts.text(&source.path);
                let new = text.and_then(|text| {
                    let set = EditSet::from_edits(&text, edits.clone()).ok()?;
                    set.apply(&text).ok()
                });
                new.is_none_or(|new| has_word(&new, name))
            })
    }
}

/// Whether a word stands in code, or in a comment, which may be a document.
fn has_word(text: &str, name: &str) -> bool {
    let whole = ByteSpan::from_range(0..text.len());
    let mut tokens = lexer::tokens(text, whole).into_iter();
    let in_code = tokens.any(|token| token.is_ident() && token.span.of(text) == Some(name));
    let path = format!("{name}::");
    in_code || text.contains(&path)
}
