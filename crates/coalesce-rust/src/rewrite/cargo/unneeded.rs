//! Dependencies that nothing names any more, once code has moved: told, and left to the reader.
//!
//! A line is not taken out by itself: what a derive or an attribute writes may name the crate behind
//! it, and its features may be wanted for others.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Edit, EditSet, Finding, LanguagePlan, Texts, TreePath};

use crate::{
    discover::{DependencyKind, Package, ResolvedDependency},
    lexer,
    resolve::{FileId, World},
    rewrite::mapping::Mapping,
};

/// Says of each package that changes which dependencies it does not name any more.
pub(in super::super) fn tell(mapping: &Mapping<'_>, plan: &mut LanguagePlan) {
    let world = mapping.world;
    let after = After::new(plan);
    let mut notes = Vec::new();
    for (at, package) in world.packages.iter().enumerate() {
        let path = world.manifest_of(at);
        let is_there = mapping.texts.exists(&path) && !after.deleted.contains(&path);
        if !is_there || !changes(world, package, plan) {
            continue;
        }
        let known = package
            .dependencies
            .iter()
            .filter(|known| is_of_code(known));
        let names: BTreeSet<&str> = known.map(|known| known.name.as_str()).collect();
        let idle = names.into_iter().filter(|name| {
            is_named_before(world, package, name)
                && !after.is_named(world, package, name, (mapping.texts, plan))
        });
        notes.extend(idle.map(|name| note(path.clone(), &package.name, name)));
    }
    notes.sort();
    notes.dedup();
    plan.notes.extend(notes);
}

fn note(manifest: TreePath, package: &str, name: &str) -> Finding {
    let message = format!("`{package}` does not name `{name}` any more");
    let help = format!("its line can go, unless what a macro writes names `{name}`");
    Finding::note(manifest, message).with_help(help)
}

/// Whether it is a package that the sources of this one name, and no line that others inherit.
fn is_of_code(known: &ResolvedDependency) -> bool {
    use DependencyKind::{Build, Dev, Normal};
    matches!(known.kind, Normal | Dev | Build)
}

/// Whether a plan writes to a source of a package, or takes one away.
fn changes(world: &World, package: &Package, plan: &LanguagePlan) -> bool {
    let edited = plan.edits.keys();
    let left = plan.moves.iter().map(|one| &one.from);
    let mut changed = edited.chain(left).chain(&plan.deletes);
    changed.any(|path| path.extension() == Some("rs") && is_of(world, package, path))
}

/// Whether a file is one of a package, and of no package inside of it.
pub(super) fn is_of(world: &World, package: &Package, path: &TreePath) -> bool {
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
        let mut files = world.files.iter().enumerate();
        in_new
            || files.any(|(at, source)| {
                let path = self.moved.get(&source.path).unwrap_or(&source.path);
                if self.deleted.contains(&source.path) || !is_of(world, package, path) {
                    return false;
                }
                match plan.edits.get(&source.path) {
                    Some(edits) => has_word_after(&source.path, edits, name, texts),
                    None => names_it(world, at, name),
                }
            })
    }
}

/// Whether a word stands in a file after the edits. What cannot be read goes on naming it, for all that is known.
fn has_word_after(path: &TreePath, edits: &[Edit], name: &str, texts: &dyn Texts) -> bool {
    let new = texts.text(path).and_then(|text| {
        let set = EditSet::from_edits(&text, edits.to_vec()).ok()?;
        set.apply(&text).ok()
    });
    new.is_none_or(|new| has_word(&new, name))
}

/// Whether a word stands in code, or in a comment, which may be a document.
fn has_word(text: &str, name: &str) -> bool {
    let whole = ByteSpan::from_range(0..text.len());
    let mut tokens = lexer::tokens(text, whole).into_iter();
    let in_code = tokens.any(|token| token.is_ident() && token.span.of(text) == Some(name));
    let path = format!("{name}::");
    in_code || text.contains(&path)
}
