//! Shims of single items: where they are, who still names the old path, and what it takes to remove
//! some of them.
//!
//! A shim is what follows its marker, `// coalesce: item shim ID NAME`. One that was edited by hand,
//! so that no definition or re-export of the name follows, is a refusal.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Edit, Finding, ItemShim, LanguagePlan, Reference, Texts, TreePath};
use rustc_hash::FxHashMap;

use crate::{
    facts::{ImplFunction, LeafKind, SourceFacts, VisibilityKind},
    references,
    resolve::{FileId, Found, ItemId, ModuleId, Res, Site, World},
    retire::lines,
    rewrite::{
        functions,
        use_tree::{self, LeafChange},
    },
};

/// Every old name that a shim keeps.
pub(crate) fn all(world: &World) -> Vec<ItemShim> {
    let mut shims = Vec::new();
    for (file, facts) in files(world) {
        for (manifest, name) in &facts.item_shims {
            let Some(home) = home_of(world, file, facts, name) else {
                continue;
            };
            let module = world[home].canonical.clone();
            shims.push(ItemShim {
                name: format!("{module}::{name}"),
                module,
                path: path_of(world, file),
                manifest: manifest.to_string(),
            });
        }
    }
    shims.sort_by(|a, b| a.name.cmp(&b.name));
    shims.dedup();
    shims
}

/// A shim whose old name is looked for.
struct Kept<'w> {
    name: &'w str,
    file: FileId,
    home: Option<ModuleId>,
    /// The import that keeps the name, where one does.
    leaf: Option<(FileId, u32)>,
}

/// Shims whose old names are looked for, by what keeps the name: an item of a module, or an import.
struct KeptNames<'w> {
    kept: Vec<Option<Kept<'w>>>,
    by_item: FxHashMap<(ModuleId, &'w str), Vec<usize>>,
    by_leaf: FxHashMap<(FileId, u32), Vec<usize>>,
}

impl<'w> KeptNames<'w> {
    fn new(world: &'w World, names: &[&'w str]) -> Self {
        let shims = shims_by_name(world);
        let kept = names.iter().map(|name| {
            let (file, facts, last) = *shims.get(*name)?;
            Some(Kept {
                name: last,
                file,
                home: home_of(world, file, facts, last),
                leaf: leaf_of(facts, last).map(|leaf| (file, leaf)),
            })
        });
        let mut found = Self {
            kept: kept.collect(),
            by_item: FxHashMap::default(),
            by_leaf: FxHashMap::default(),
        };
        found.index();
        found
    }

    /// Notes by which item and by which import each is found.
    fn index(&mut self) {
        let kept = self.kept.iter().enumerate();
        for (at, one) in kept.filter_map(|(at, one)| Some((at, one.as_ref()?))) {
            if let Some(home) = one.home {
                let item = (home, one.name);
                self.by_item.entry(item).or_default().push(at);
            }
            if let Some(leaf) = one.leaf {
                self.by_leaf.entry(leaf).or_default().push(at);
            }
        }
    }

    /// Those that a step of a path goes through, from outside of their own files.
    fn named_by(&self, world: &World, step: &Found, here: Option<FileId>) -> Vec<usize> {
        let mut named: Vec<usize> = Vec::new();
        for (res, _) in step.all() {
            let found = item_named(world, res).filter(|(item, _)| !world[*item].local);
            if let Some((item, name)) = found {
                let item = (world[item].module, name.as_str());
                named.extend(self.by_item.get(&item).into_iter().flatten());
            }
        }
        let leaf = step.import.and_then(|leaf| self.by_leaf.get(&leaf));
        named.extend(leaf.into_iter().flatten());
        named.retain(|at| {
            let kept = self.kept.get(*at).and_then(Option::as_ref);
            kept.is_some_and(|kept| here != Some(kept.file))
        });
        named.sort_unstable();
        named.dedup();
        named
    }

    /// Adds what a site names of them to the references of each.
    fn collect(
        &self,
        world: &World,
        facts: &SourceFacts,
        site: &Site<'_>,
        here: Option<FileId>,
        found: &mut [Vec<Reference>],
    ) {
        for (at, step) in site.trace.steps.iter().enumerate() {
            for named in self.named_by(world, step, here) {
                let Some(found) = found.get_mut(named) else {
                    continue;
                };
                references::push(world, facts, site, at, found);
            }
        }
    }
}

/// For each name who names an item by it, which a shim keeps, outside of the file of the shim. The tree is
/// gone through once for all of them.
pub(crate) fn references(world: &World, names: &[&str]) -> Vec<Vec<Reference>> {
    let kept = KeptNames::new(world, names);
    let mut found = vec![Vec::new(); names.len()];
    for load in 0..world.load_count() {
        let path = world.path_of_load(load);
        let here = path.and_then(|path| world.file_at(path));
        world.visit(load, &mut |facts, site| {
            kept.collect(world, facts, &site, here, &mut found)
        });
    }
    for found in &mut found {
        found.sort();
        found.dedup();
    }
    found
}

/// Removes the shims of these names, and the imports that only they used.
pub(crate) fn retire(world: &World, names: &[String], texts: &dyn Texts) -> LanguagePlan {
    let mut plan = LanguagePlan::default();
    let gone = texts_of_shims(world, names, texts, &mut plan.refusals);
    for (file, spans) in &gone {
        let path = path_of(world, *file);
        if let Some(text) = texts.text(&path) {
            let edits = plan.edits.entry(path).or_default();
            edits.extend(removals(world, *file, &text, spans));
        }
    }
    plan
}

/// The texts of the shims of these names, by file; refused are those that are not found, and calls that may be of
/// one.
fn texts_of_shims(
    world: &World,
    names: &[String],
    texts: &dyn Texts,
    refusals: &mut Vec<Finding>,
) -> BTreeMap<FileId, Vec<ByteSpan>> {
    let mut gone: BTreeMap<FileId, Vec<ByteSpan>> = BTreeMap::new();
    let shims = shims_by_name(world);
    for name in names {
        let Some(&(file, facts, last)) = shims.get(name) else {
            continue;
        };
        let path = path_of(world, file);
        refusals.extend(calls_in_doubt(world, name, last, texts));
        let spans = texts.text(&path).map(|text| spans(facts, &text, last));
        match spans.filter(|spans| !spans.is_empty()) {
            Some(spans) => gone.entry(file).or_default().extend(spans),
            None => refusals.push(changed_shim(&path, last)),
        }
    }
    gone
}

/// The item that a result leads to and the name by which a shim keeps it: `Type::method` for a member.
fn item_named(world: &World, res: Res) -> Option<(ItemId, String)> {
    match res {
        Res::Item(item) => Some((item, world[item].name.clone())),
        Res::Member(item, name) => {
            let name = world.names.text(name);
            Some((item, format!("{}::{name}", world[item].name)))
        }
        _ => None,
    }
}

/// Refusals for calls by the name of a method that may be calls of this one, which a shim keeps under `name`.
fn calls_in_doubt(world: &World, name: &str, last: &str, texts: &dyn Texts) -> Vec<Finding> {
    if !last.contains("::") {
        return Vec::new();
    }
    let calls = functions::calls_of(world, name, texts).into_iter();
    calls
        .map(|(path, span)| {
            let message = format!("`{name}` may be called here: what it is called on is not known");
            Finding::refusal(path, message).at(span)
        })
        .collect()
}

/// Deletes the shims at `gone` of a file, and the imports that only they used.
fn removals(world: &World, file: FileId, text: &str, gone: &[ByteSpan]) -> Vec<Edit> {
    let facts = world.facts(file);
    let deleted = gone.iter().map(|span| Edit::delete(lines(text, *span)));
    let mut edits: Vec<Edit> = deleted.collect();
    let spent = spent(world, file, facts, gone);
    for declaration in &facts.uses {
        let (first, last) = declaration.leaves;
        let inside = gone.iter().any(|span| span.contains(declaration.span));
        if !inside && (first..last).any(|leaf| spent.contains_key(&leaf)) {
            edits.extend(use_tree::edit(facts, text, declaration, &spent, &[]));
        }
    }
    edits
}

/// Private imports of a file that nothing but what goes names.
fn spent(
    world: &World,
    file: FileId,
    facts: &SourceFacts,
    gone: &[ByteSpan],
) -> BTreeMap<u32, LeafChange> {
    let (mut freed, mut used) = (BTreeSet::new(), BTreeSet::new());
    for load in 0..world.load_count() {
        let here = world
            .path_of_load(load)
            .and_then(|path| world.file_at(path));
        world.visit(load, &mut |_, site| {
            let first = site.segments.first().map_or(0, |first| first.span.start);
            let contains = |span: &ByteSpan| span.start <= first && first < span.end;
            let goes = here == Some(file) && gone.iter().any(contains);
            let named = if goes { &mut freed } else { &mut used };
            named.extend(site.trace.steps.iter().filter_map(|step| step.import));
        });
    }
    freed
        .into_iter()
        .filter(|import| import.0 == file && !used.contains(import))
        .filter(|(_, leaf)| is_private(facts, *leaf))
        .map(|(_, leaf)| (leaf, LeafChange::Drop))
        .collect()
}

fn is_private(facts: &SourceFacts, leaf: u32) -> bool {
    {
        let leaf = facts.leaf(leaf);
        let declaration = facts.declaration(leaf.declaration);
        leaf.kind != LeafKind::Glob && (declaration.visibility.kind == VisibilityKind::Private)
    }
}

/// The texts of a shim: from its marker to the end of what follows, for each condition one.
fn spans(facts: &SourceFacts, text: &str, name: &str) -> Vec<ByteSpan> {
    let mut found = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let marker = line.trim().strip_prefix(MARKER);
        let own = marker.and_then(|rest| rest.trim().split_once(' '));
        if own.is_none_or(|(_, own)| own.trim() != name) {
            continue;
        }
        let start = start + line.len() - line.trim_start().len();
        let start = u32::try_from(start).unwrap_or(u32::MAX);
        let next = kept_behind(facts, name, start);
        found.extend(next.map(|next| ByteSpan::new(start, next.end)));
    }
    found
}

/// The first definition or import behind `start` that keeps a name.
fn kept_behind(facts: &SourceFacts, name: &str, start: u32) -> Option<ByteSpan> {
    let items = facts.items.iter();
    let items = items.filter(|item| facts.name(item.name.name) == name);
    let uses = facts.uses.iter().filter(|declaration| {
        let (first, last) = declaration.leaves;
        (first..last).any(|leaf| Some(leaf) == leaf_of(facts, name))
    });
    let methods = methods_of(facts, name).map(|function| function.span);
    items
        .map(|item| item.span)
        .chain(methods)
        .chain(uses.map(|declaration| declaration.span))
        .filter(|span| span.start > start)
        .min()
}

/// What stands above the shim of an item, before its id and name.
const MARKER: &str = "// coalesce: item shim ";

/// The leaf of a re-export that brings a name.
fn leaf_of(facts: &SourceFacts, name: &str) -> Option<u32> {
    let found = facts.leaves.iter().position(|leaf| {
        let bound = leaf
            .alias
            .or_else(|| facts.segments(leaf.segments).last().copied());
        let declaration = facts.declaration(leaf.declaration);
        leaf.kind == LeafKind::Name
            && bound.is_some_and(|bound| facts.name(bound.name) == name)
            && (declaration.visibility.kind == VisibilityKind::Public)
    });
    u32::try_from(found?).ok()
}

fn files(world: &World) -> impl Iterator<Item = (FileId, &SourceFacts)> {
    let all = world.sources();
    all.map(|(file, _)| (file, world.facts(file)))
        .filter(|(_, facts)| !facts.item_shims.is_empty())
}

fn path_of(world: &World, file: FileId) -> TreePath {
    let file = &world[file];
    file.path.clone()
}

/// The file of each shim and the last part of its name, by its name.
fn shims_by_name(world: &World) -> FxHashMap<String, (FileId, &SourceFacts, &str)> {
    let mut by_name = FxHashMap::default();
    for (file, facts) in files(world) {
        for (_, last) in &facts.item_shims {
            let Some(home) = home_of(world, file, facts, last) else {
                continue;
            };
            let name = format!("{}::{last}", world[home].canonical);
            by_name.entry(name).or_insert((file, facts, &**last));
        }
    }
    by_name
}

/// The functions of blocks of a type by their name with that of the type before it: `Type::method`.
fn methods_of<'f>(facts: &'f SourceFacts, name: &'f str) -> impl Iterator<Item = &'f ImplFunction> {
    let parts = name.split_once("::");
    facts.impl_functions.iter().filter(move |function| {
        let block = facts.impls.get(function.of as usize);
        let of = block.and_then(|block| {
            let path = facts.path(block.self_path?);
            facts.segments(path.segments).last()
        });
        let of = of.map(|of| facts.name(of.name));
        of.zip(Some(facts.name(function.name.name))) == parts
    })
}

/// The module of a file that has a name.
fn home_of(world: &World, file: FileId, facts: &SourceFacts, name: &str) -> Option<ModuleId> {
    let scope = facts
        .items
        .iter()
        .find(|item| facts.name(item.name.name) == name)
        .map(|item| item.scope)
        .or_else(|| {
            let method = methods_of(facts, name).next()?;
            Some(facts.impls.get(method.of as usize)?.scope)
        })
        .or_else(|| {
            let leaf = facts.leaf(leaf_of(facts, name)?);
            Some(facts.declaration(leaf.declaration).scope)
        })?;
    let bodies = &world[file].bodies;
    bodies
        .iter()
        .map(|body| &world[body])
        .find(|body| body.scope == scope)
        .map(|body| body.module)
}

/// Refuses to remove a shim that somebody has edited.
fn changed_shim(path: &TreePath, name: &str) -> Finding {
    Finding::refusal(
        path.clone(),
        format!("the shim of `{name}` is not as it was left and cannot be removed"),
    )
    .with_help("remove it and its marker by hand".to_owned())
}
