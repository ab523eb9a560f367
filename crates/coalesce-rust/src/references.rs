//! All places that name a module or an item.

use coalesce_model::{ByteSpan, Certainty, Form, Reference, Texts};
use rayon::prelude::*;

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

    fn holds(&self, world: &World, res: Res) -> bool {
        match res {
            Res::Module(module) => self.modules.contains(&module),
            Res::Item(item) => self.items.contains(&item),
            Res::Variant(item, name) => {
                let name = world.symbol(name);
                self.variants
                    .iter()
                    .any(|(of, variant)| *of == item && **variant == *name)
            }
            Res::Member(..) | Res::External(_) => false,
        }
    }
}

/// Whether the module that a name stands in has several bodies, each under a condition.
fn has_variants(world: &World, name: &str) -> bool {
    let outer = name.rsplit_once("::").map_or("", |(outer, _)| outer);
    let modules = world.modules_named(outer).into_iter();
    let mut nodes = modules.map(|module| &world[module]);
    nodes.any(|node| node.bodies.len() > 1)
}

/// Every reference of `name`, sorted.
pub(crate) fn references(world: &World, name: &str, texts: &dyn Texts) -> Vec<Reference> {
    let wanted = Wanted::of(world, name);
    let mut found: Vec<Reference> = (0..world.load_count())
        .into_par_iter()
        .flat_map_iter(|load| {
            let mut found = Vec::new();
            world.visit(load, &mut |facts, site| {
                collect(world, &wanted, facts, &site, &mut found)
            });
            found
        })
        .collect();
    declarations(world, &wanted, &mut found);
    put_together(world, &wanted, texts, &mut found);
    found.sort();
    found.dedup_by(|second, first| {
        second.path == first.path && second.span == first.span && second.form == first.form
    });
    found
}

/// Words in calls of macros that put together a path of them: nobody sees it whole.
fn put_together(world: &World, wanted: &Wanted, texts: &dyn Texts, found: &mut Vec<Reference>) {
    let items = wanted.items.iter();
    let sought: Vec<(ModuleId, &str)> = items
        .map(|item| &world[item])
        .map(|item| (item.module, item.name.as_str()))
        .collect();
    let known = found.len();
    for part in parts(world, texts, &sought) {
        let path = &world[part.file].path;
        let resolved = found
            .iter()
            .take(known)
            .any(|one| one.path == *path && one.span.contains(part.span));
        if !resolved {
            found.push(Reference {
                path: path.clone(),
                span: part.span,
                segments: vec![part.span],
                form: Form::Macro,
                certainty: Certainty::Ambiguous,
            });
        }
    }
}

fn collect(
    world: &World,
    wanted: &Wanted,
    facts: &SourceFacts,
    site: &Site<'_>,
    found: &mut Vec<Reference>,
) {
    for (at, step) in site.trace.steps.iter().enumerate() {
        let named = if step.tail > 0 || wanted.external.is_some() {
            is_external(world, wanted, facts, site, at)
        } else {
            step.all().any(|(res, _)| wanted.holds(world, res))
        };
        if named {
            push(world, facts, site, at, found);
        }
    }
}

fn is_external(
    world: &World,
    wanted: &Wanted,
    facts: &SourceFacts,
    site: &Site<'_>,
    at: usize,
) -> bool {
    let tree = site
        .trace
        .steps
        .get(at)
        .is_some_and(|step| step.all().any(|(res, _)| wanted.holds(world, res)));
    tree || wanted
        .external
        .as_ref()
        .is_some_and(|name| world.external_name(facts, site, at).as_ref() == Some(name))
}

pub(crate) fn push(
    world: &World,
    facts: &SourceFacts,
    site: &Site<'_>,
    at: usize,
    found: &mut Vec<Reference>,
) {
    let Some(path) = world.path_of_load(site.load) else {
        return;
    };
    let segments: Vec<ByteSpan> = site
        .segments
        .iter()
        .take(at + 1)
        .map(|segment| segment.span)
        .collect();
    let (Some(first), Some(last)) = (segments.first(), segments.last()) else {
        return;
    };
    let is_last = at + 1 == site.segments.len();
    let form = if is_last {
        form(facts, site)
    } else {
        prefix_form(form(facts, site))
    };
    let certainty = world.certainty(site, at + 1);
    let span = if grouped(facts, site) {
        *last
    } else {
        first.cover(*last)
    };
    found.push(Reference {
        path: path.clone(),
        span,
        segments: segments.clone(),
        form,
        certainty,
    });
    if is_last
        && let UseSite::Leaf(leaf) = site.site
        && facts.leaf(leaf).kind == LeafKind::SelfModule
    {
        found.push(Reference {
            path: path.clone(),
            span: facts.leaf(leaf).span,
            segments,
            form,
            certainty,
        });
    }
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
    for module in &wanted.modules {
        for (file, declaration) in world.declarations(*module) {
            let facts = world.facts(file);
            let declaration = facts.module(declaration);
            let path = world[file].path.clone();
            if declaration.body.is_none() {
                let span = declaration.name.span;
                let certainty = Certainty::Exact;
                found.push(Reference {
                    path,
                    span,
                    segments: vec![span],
                    form: Form::Declaration,
                    certainty,
                });
            }
        }
    }
}
