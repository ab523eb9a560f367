//! Imports that only a text which goes went through, where another one takes its place and says other names.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Edit, TreePath};

use crate::{
    facts::{LeafKind, VisibilityKind},
    resolve::{FileId, ModuleId, Res, World},
    rewrite::{
        items::{between, moving::Set},
        method_calls::{self, calls::Called},
        traits::{self, Asked, Demand, Usage},
        use_tree::{self, LeafChange},
        walk::is_of_module,
    },
};

/// An import by its file and leaf.
type ImportId = (FileId, u32);

/// What is said by a name that stands first in a path of a module.
pub(super) fn first_names(world: &World, module: ModuleId) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for body in world.bodies_of(module) {
        let facts = world.facts(body.file);
        let code = world.code_of(body);
        let firsts = facts.paths.iter();
        let firsts = firsts.filter_map(|path| facts.segments(path.segments).first());
        let inside = firsts.filter(|first| code.contains(first.span));
        found.extend(inside.map(|first| facts.name(first.name).to_owned()));
    }
    found
}

/// Takes the imports out that nothing goes through once the texts of a set have gone; `said` are the names that arrive.
pub(super) fn edits(set: &Set<'_>, said: &BTreeSet<String>) -> Vec<(TreePath, Edit)> {
    let world = set.world();
    let homes: BTreeSet<ModuleId> = set.moving.iter().map(|one| one.home).collect();
    let mut dropped: BTreeMap<FileId, BTreeMap<u32, LeafChange>> = BTreeMap::new();
    for home in homes {
        for (file, leaf) in freed(set, home, said) {
            let leaves = dropped.entry(file).or_default();
            leaves.insert(leaf, LeafChange::Drop);
        }
    }
    let mut found = Vec::new();
    for (file, leaves) in dropped {
        let (facts, path) = (world.facts(file), set.path(file));
        let Some(text) = set.mapping.texts.text(&path) else {
            continue;
        };
        for declaration in &facts.uses {
            let (first, last) = declaration.leaves;
            if (first..last).any(|leaf| leaves.contains_key(&leaf)) {
                let edits = use_tree::edit(facts, &text, declaration, &leaves, &[]);
                found.extend(edits.into_iter().map(|edit| (path.clone(), edit)));
            }
        }
    }
    found
}

/// The private imports of a module that the texts went through, and nothing else does.
fn freed(set: &Set<'_>, home: ModuleId, said: &BTreeSet<String>) -> Vec<ImportId> {
    let world = set.world();
    let mut imports = imports_of(world, home);
    imports.retain(|_, (name, _)| !said.contains(name));
    if imports.is_empty() {
        return Vec::new();
    }
    let users = ImportUsers::of(set, home, &imports);
    let traits = TraitsAsked::new(set, home);
    let freed = imports.into_iter().filter(|(import, result)| {
        let is_left = users.gone.contains(import) && !users.stay.contains(import);
        is_left && !traits.asks_for(result)
    });
    freed.map(|(import, _)| import).collect()
}

/// The private imports of names of a module, each with the name and what it leads to.
fn imports_of(world: &World, home: ModuleId) -> BTreeMap<ImportId, (String, Vec<Res>)> {
    let mut found: BTreeMap<ImportId, (String, Vec<Res>)> = BTreeMap::new();
    for (name, bindings) in world.space(home).names.iter() {
        for one in bindings.iter().filter(|one| !one.glob) {
            let Some(import) = one.import else { continue };
            let facts = world.facts(import.0);
            let visibility = facts.declaration_of(import.1).visibility.kind;
            let is_name = facts.leaf(import.1).kind != LeafKind::Glob;
            if visibility == VisibilityKind::Private && is_name && is_of_module(world, import) {
                let name = world.names.text(*name).to_string();
                let known = found.entry(import).or_insert((name, Vec::new()));
                known.1.push(one.res);
            }
        }
    }
    found
}

/// Which imports what goes, and what stays, goes through.
#[derive(Default)]
struct ImportUsers {
    gone: BTreeSet<ImportId>,
    stay: BTreeSet<ImportId>,
}

impl ImportUsers {
    fn of(set: &Set<'_>, home: ModuleId, imports: &BTreeMap<ImportId, (String, Vec<Res>)>) -> Self {
        let world = set.world();
        let speller = set.mapping.speller();
        let mut found = Self::default();
        for (file, source) in world.sources_within(home) {
            world.visit_file(source, &mut |facts, site| {
                let start = site.segments.first().map_or(0, |first| first.span.start);
                let goes = set.chunk_at(file, start).is_some();
                for (step, segment) in site.trace.steps.iter().zip(site.segments) {
                    let Some(import) = step.import else { continue };
                    let by_glob = step.glob && speller.glob_target(import) == Some(home);
                    let name = facts.name(segment.name);
                    let named = imports
                        .iter()
                        .filter(|(_, (known, _))| by_glob && known == name);
                    found.stay.extend(named.map(|(import, _)| *import));
                    match goes {
                        true => found.gone.insert(import),
                        false => found.stay.insert(import),
                    };
                }
            });
            for (_, sites) in world.said_in(file) {
                for site in sites {
                    let through = site.trace.steps.iter().filter_map(|step| step.import);
                    found.stay.extend(through);
                }
            }
        }
        found
    }
}

/// Whether what stays in a module calls methods of traits.
struct TraitsAsked<'s, 'a> {
    set: &'s Set<'a>,
    called: Called,
    usage: Usage,
}

impl<'s, 'a> TraitsAsked<'s, 'a> {
    fn new(set: &'s Set<'a>, home: ModuleId) -> Self {
        let (world, texts) = (set.world(), set.mapping.texts);
        let mut called = Called::default();
        for body in world.bodies_of(home) {
            let Some(text) = texts.text(&world[body.file].path) else {
                continue;
            };
            for part in parts_that_stay(set, body.file, world.code_of(body)) {
                called.extend(method_calls::called(world, home, (&text, part), texts));
            }
        }
        Self {
            set,
            called,
            usage: Usage::of(world, home, texts),
        }
    }

    fn asks_for(&self, (name, results): &(String, Vec<Res>)) -> bool {
        let (world, texts) = (self.set.world(), self.set.mapping.texts);
        let looks = |name: &str| self.usage.looks_like_trait(name);
        let asked = Asked {
            world,
            texts,
            looks: &looks,
        };
        results.iter().any(|res| {
            traits::may_be_trait(world, *res)
                && asked.demand((name, *res), &self.called) != Demand::No
        })
    }
}

/// What a file has of some code besides the texts of a set.
fn parts_that_stay(set: &Set<'_>, file: FileId, code: ByteSpan) -> Vec<ByteSpan> {
    let chunks = set.chunks.iter().filter(|chunk| chunk.file == file);
    let mut gone: Vec<ByteSpan> = chunks.map(|chunk| chunk.span).collect();
    gone.retain(|span| code.contains(*span));
    between(code, gone)
}
