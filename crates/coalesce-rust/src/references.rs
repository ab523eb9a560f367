//! All places that name a module or an item.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Certainty, Form, Reference, Texts, TreePath};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::{
    facts::{LeafKind, SourceFacts},
    resolve::{ItemId, ModuleId, Res, Site, UseSite, World, form, parts},
};

/// What a name stands for.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    modules: Vec<ModuleId>,
    items: Vec<ItemId>,
    variants: Vec<(ItemId, String)>,
    external: Option<String>,
}

impl Wanted {
    /// Everything of that name: modules, items, variants; or something outside the tree. A name that
    /// starts with a package's instead of a target's counts when there is no other.
    pub fn of(world: &World, name: &str) -> Self {
        let mut wanted = Self::below(world, name, World::modules_named);
        if wanted.is_empty() {
            wanted = Self::below(world, name, World::modules_of_package);
        }
        if wanted.is_empty() {
            wanted = Self::reexported(world, name);
        } else if has_variants(world, name) {
            // One variant of the module may define what another one passes on.
            let passed_on = Self::reexported(world, name);
            wanted.modules.extend(passed_on.modules);
            wanted.items.extend(passed_on.items);
            wanted.variants.extend(passed_on.variants);
        }
        if wanted.is_empty() {
            wanted.external = Some(name.to_owned());
        }
        wanted
    }

    /// What a name leads to that is defined elsewhere in the tree.
    fn reexported(world: &World, name: &str) -> Self {
        let mut wanted = Self::default();
        for res in world.bound(name) {
            match res {
                Res::Module(module) => wanted.modules.push(module),
                Res::Item(item) => wanted.items.push(item),
                Res::Variant(item, sym) => {
                    let variant = world.symbol(sym).to_string();
                    wanted.variants.push((item, variant));
                }
                Res::Member(..) | Res::External(_) => {}
            }
        }
        wanted
    }

    fn below(world: &World, name: &str, modules: impl Fn(&World, &str) -> Vec<ModuleId>) -> Self {
        let mut wanted = Self {
            modules: modules(world, name),
            ..Self::default()
        };
        let Some((outer, last)) = name.rsplit_once("::") else {
            return wanted;
        };
        for module in modules(world, outer) {
            wanted.items.extend(world.items_of(module, last));
        }
        let Some((outer, item)) = outer.rsplit_once("::") else {
            return wanted;
        };
        for module in modules(world, outer) {
            let enums = world
                .items_of(module, item)
                .into_iter()
                .filter(|item| world.has_variant(*item, last));
            wanted
                .variants
                .extend(enums.map(|item| (item, last.to_owned())));
        }
        wanted
    }

    /// Whether nothing of the tree has the name.
    pub fn is_empty(&self) -> bool {
        self.modules.is_empty() && self.items.is_empty() && self.variants.is_empty()
    }
}

/// Whether the module that a name stands in has several bodies, each under a condition.
fn has_variants(world: &World, name: &str) -> bool {
    let outer = name.rsplit_once("::").map_or("", |(outer, _)| outer);
    let modules = world.modules_named(outer).into_iter();
    let mut nodes = modules.map(|module| &world[module]);
    nodes.any(|node| node.bodies.len() > 1)
}

/// Every reference of each of `names`, sorted: the tree is gone through once, however many there are. A name that is
/// there several times is looked for once.
pub(crate) fn references(world: &World, names: &[&str], texts: &dyn Texts) -> Vec<Vec<Reference>> {
    let distinct: BTreeSet<&str> = names.iter().copied().collect();
    let distinct: Vec<&str> = distinct.into_iter().collect();
    let found = references_of_distinct(world, &distinct, texts);
    let of = |name: &&str| {
        let at = distinct.binary_search(name).ok();
        at.and_then(|at| found.get(at)).cloned().unwrap_or_default()
    };
    names.iter().map(of).collect()
}

fn references_of_distinct(world: &World, names: &[&str], texts: &dyn Texts) -> Vec<Vec<Reference>> {
    let sought = SoughtNames::of(world, names);
    let mut by_name = vec![Vec::new(); names.len()];
    for (of, reference) in sought.found(world) {
        if let Some(own) = by_name.get_mut(of) {
            own.push(reference);
        }
    }
    for (wanted, found) in sought.wanted.iter().zip(&mut by_name) {
        declarations(world, wanted, found);
    }
    put_together(world, &sought.wanted, texts, &mut by_name);
    for found in &mut by_name {
        found.sort();
        found.dedup_by(|second, first| {
            second.path == first.path && second.span == first.span && second.form == first.form
        });
    }
    by_name
}

/// What several names stand for, and which of them something stands for.
#[derive(Default)]
struct SoughtNames {
    /// By number of the name.
    wanted: Vec<Wanted>,
    modules: FxHashMap<ModuleId, Vec<usize>>,
    items: FxHashMap<ItemId, Vec<usize>>,
    variants: FxHashMap<ItemId, Vec<(String, usize)>>,
    external: FxHashMap<String, Vec<usize>>,
}

impl SoughtNames {
    fn of(world: &World, names: &[&str]) -> Self {
        let mut sought = Self::default();
        for (at, name) in names.iter().enumerate() {
            let wanted = Wanted::of(world, name);
            for module in &wanted.modules {
                sought.modules.entry(*module).or_default().push(at);
            }
            for item in &wanted.items {
                sought.items.entry(*item).or_default().push(at);
            }
            for (item, variant) in &wanted.variants {
                let of = sought.variants.entry(*item).or_default();
                of.push((variant.clone(), at));
            }
            if let Some(name) = &wanted.external {
                sought.external.entry(name.clone()).or_default().push(at);
            }
            sought.wanted.push(wanted);
        }
        sought
    }

    /// Adds the numbers of the names that stand for this.
    fn add(&self, world: &World, res: Res, to: &mut Vec<usize>) {
        match res {
            Res::Module(module) => to.extend(self.modules.get(&module).into_iter().flatten()),
            Res::Item(item) => to.extend(self.items.get(&item).into_iter().flatten()),
            Res::Variant(item, name) => {
                let name = world.symbol(name);
                let variants = self.variants.get(&item).into_iter().flatten();
                let same = variants.filter(|(variant, _)| **variant == *name);
                to.extend(same.map(|(_, at)| *at));
            }
            Res::Member(..) | Res::External(_) => {}
        }
    }

    /// The references to all of them, each with the place of its name.
    fn found(&self, world: &World) -> Vec<(usize, Reference)> {
        (0..world.load_count())
            .into_par_iter()
            .flat_map_iter(|load| {
                let mut found = Vec::new();
                world.visit(load, &mut |facts, site| {
                    self.collect(world, facts, &site, &mut found)
                });
                found
            })
            .collect()
    }

    /// Adds a reference for each name that a step of this site leads to.
    fn collect(
        &self,
        world: &World,
        facts: &SourceFacts,
        site: &Site<'_>,
        found: &mut Vec<(usize, Reference)>,
    ) {
        let mut references = Vec::new();
        for at in 0..site.trace.steps.len() {
            let named = self.named_at(world, facts, site, at);
            if named.is_empty() {
                continue;
            }
            references.clear();
            push(world, facts, site, at, &mut references);
            for of in named {
                found.extend(references.iter().map(|one| (of, one.clone())));
            }
        }
    }

    /// The names that one step of a site leads to, each once.
    fn named_at(
        &self,
        world: &World,
        facts: &SourceFacts,
        site: &Site<'_>,
        at: usize,
    ) -> Vec<usize> {
        let mut named = Vec::new();
        let step = site.trace.steps.get(at).into_iter();
        for (res, _) in step.flat_map(|step| step.all()) {
            self.add(world, res, &mut named);
        }
        if !self.external.is_empty()
            && let Some(name) = world.external_name(facts, site, at)
        {
            named.extend(self.external.get(&name).into_iter().flatten());
        }
        named.sort_unstable();
        named.dedup();
        named
    }
}

/// Words in calls of macros that put together a path of them: nobody sees it whole.
fn put_together(
    world: &World,
    wanted: &[Wanted],
    texts: &dyn Texts,
    by_name: &mut [Vec<Reference>],
) {
    let items = wanted.iter().enumerate().flat_map(|(at, wanted)| {
        let items = wanted.items.iter().map(|item| &world[item]);
        items.map(move |item| (at, (item.module, item.name.as_str())))
    });
    let (owners, sought): (Vec<usize>, Vec<(ModuleId, &str)>) = items.unzip();
    let known: Vec<usize> = by_name.iter().map(Vec::len).collect();
    for part in parts(world, texts, &sought) {
        let of = part.of.iter().filter_map(|of| owners.get(*of));
        let mut of: Vec<usize> = of.copied().collect();
        of.dedup();
        for owner in of {
            let (Some(found), Some(known)) = (by_name.get_mut(owner), known.get(owner)) else {
                continue;
            };
            push_part(found, *known, &world[part.file].path, part.span);
        }
    }
}

/// Adds a word that may be part of a path, unless one of the first `known` references contains it.
fn push_part(found: &mut Vec<Reference>, known: usize, path: &TreePath, span: ByteSpan) {
    let resolved = found
        .iter()
        .take(known)
        .any(|one| one.path == *path && one.span.contains(span));
    if resolved {
        return;
    }
    found.push(Reference {
        path: path.clone(),
        span,
        segments: vec![span],
        form: Form::Macro,
        certainty: Certainty::Ambiguous,
    });
}

pub(crate) fn push(
    world: &World,
    facts: &SourceFacts,
    site: &Site<'_>,
    at: usize,
    found: &mut Vec<Reference>,
) {
    let Some(reference) = reference_at(world, facts, site, at) else {
        return;
    };
    let is_last = at + 1 == site.segments.len();
    let own = span_of_self(facts, site).filter(|_| is_last);
    let own = own.map(|span| Reference {
        span,
        ..reference.clone()
    });
    found.push(reference);
    found.extend(own);
}

/// The reference of the segments up to and with the one at `at`.
fn reference_at(
    world: &World,
    facts: &SourceFacts,
    site: &Site<'_>,
    at: usize,
) -> Option<Reference> {
    let path = world.path_of_load(site.load)?;
    let segments = site.segments.iter().take(at + 1);
    let segments: Vec<ByteSpan> = segments.map(|segment| segment.span).collect();
    let (first, last) = (*segments.first()?, *segments.last()?);
    let is_last = at + 1 == site.segments.len();
    let form = form(facts, site);
    let is_grouped = grouped(facts, site);
    Some(Reference {
        path: path.clone(),
        span: if is_grouped { last } else { first.cover(last) },
        segments,
        form: if is_last { form } else { prefix_form(form) },
        certainty: world.certainty(site, at + 1),
    })
}

/// Where the `self` of `use path::{self}` stands, which names the module once more.
fn span_of_self(facts: &SourceFacts, site: &Site<'_>) -> Option<ByteSpan> {
    let UseSite::Leaf(leaf) = site.site else {
        return None;
    };
    let leaf = facts.leaf(leaf);
    (leaf.kind == LeafKind::SelfModule).then_some(leaf.span)
}

/// A module on the way to an imported name is a part of that path.
fn prefix_form(form: Form) -> Form {
    match form {
        Form::ImportFrom | Form::Glob | Form::Import => Form::ImportFrom,
        other => other,
    }
}

/// Whether the segments of a site are parted by other leaves of a group, so that they have no one
/// place.
fn grouped(facts: &SourceFacts, site: &Site<'_>) -> bool {
    let UseSite::Leaf(leaf) = site.site else {
        return false;
    };
    ((facts.leaf(leaf).own as usize) < site.segments.len())
        && site.segments.windows(2).any(|pair| match pair {
            [first, second] => second.span.start > first.span.end + 2,
            _ => false,
        })
}

/// `mod name;` names the module's file.
fn declarations(world: &World, wanted: &Wanted, found: &mut Vec<Reference>) {
    let modules = wanted.modules.iter();
    for (file, declaration) in modules.flat_map(|module| world.declarations(*module)) {
        let declaration = world.facts(file).module(declaration);
        if declaration.body.is_some() {
            continue;
        }
        let span = declaration.name.span;
        found.push(Reference {
            path: world[file].path.clone(),
            span,
            segments: vec![span],
            form: Form::Declaration,
            certainty: Certainty::Exact,
        });
    }
}
