//! Public imports of modules that others could reach and can no more: the compiler asks who goes through them.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Unproven};

use super::{
    Tree, UNUSED_IMPORTS, Warning, bindings_meant,
    conditions::Conditions,
    hidden_names::{TreeWithGlobs, is_code},
    idle_macro_imports::is_macro_in_scope,
    is_changed, is_open_module, said_anew,
    unused::ConditionedUses,
};
use crate::{
    facts::{LeafKind, Origin, SourceFacts, VisibilityKind},
    resolve::{FileId, ModuleId, Site, SourceFile, World},
};

/// The module with an import, and what that says.
type Key = (String, String);

/// An import that others cannot reach.
struct Unreached {
    file: FileId,
    leaf: u32,
    span: ByteSpan,
}

const UNREACHED: Warning = Warning {
    lints: UNUSED_IMPORTS,
    why: "others could reach this import where it was and cannot any more, and nothing here goes through it: the \
          compiler warns of that",
};

const RESTRICTED: Warning = Warning {
    lints: UNUSED_IMPORTS,
    why: "nothing goes through this import any more, and the compiler warns of that",
};

/// Such imports that the tree before has not, and that nothing in the tree goes through; and those for a part of a
/// crate that something went through.
pub(crate) fn idle_reexports(
    before: &TreeWithGlobs<'_>,
    after: &TreeWithGlobs<'_>,
) -> Vec<Unproven> {
    let mut found = idle_unreached(before, after);
    found.extend(idle_restricted(before, after));
    found
}

fn idle_unreached(before: &TreeWithGlobs<'_>, after: &TreeWithGlobs<'_>) -> Vec<Unproven> {
    let now = unreached(after);
    if now.is_empty() {
        return Vec::new();
    }
    let then = unreached(before);
    let new = said_anew(&now, &then);
    told(after.tree, &UNREACHED, &new)
}

fn idle_restricted(with: &TreeWithGlobs<'_>, without: &TreeWithGlobs<'_>) -> Vec<Unproven> {
    let (before, after) = (with.tree, without.tree);
    let lost = changed_names(before.world, after.world);
    let mut now = restricted(without);
    now.retain(|(_, said), _| lost.contains(said.as_str()));
    if now.is_empty() {
        return Vec::new();
    }
    let idle = idle_of(after, now.values());
    now.retain(|_, one| idle.contains(&(one.file, one.leaf)));
    let mut then = restricted(with);
    then.retain(|key, _| now.contains_key(key));
    let was_idle = idle_of(before, then.values());
    now.retain(|key, _| {
        then.get(key)
            .is_some_and(|was| !was_idle.contains(&(was.file, was.leaf)))
    });
    let told = now.iter();
    told.filter_map(|((_, said), one)| RESTRICTED.told(after, (one.file, one.span), said))
        .collect()
}

/// The names of files that the other tree has not, or not like this.
fn changed_names<'w>(world: &'w World, other: &World) -> BTreeSet<&'w str> {
    let files = world.sources().map(|(file, _)| file);
    let changed = files.filter(|file| is_changed(world, other, *file));
    let names = changed.flat_map(|file| &world.facts(file).names);
    names.map(|name| &**name).collect()
}

/// What is told of those imports that nothing goes through.
fn told(tree: Tree<'_>, warning: &Warning, all: &[(&str, &Unreached)]) -> Vec<Unproven> {
    if all.is_empty() {
        return Vec::new();
    }
    let idle = idle_of(tree, all.iter().map(|(_, one)| *one));
    let idle = all
        .iter()
        .filter(|(_, one)| idle.contains(&(one.file, one.leaf)));
    idle.filter_map(|(said, one)| warning.told(tree, (one.file, one.span), said))
        .collect()
}

/// The public imports of modules that others cannot name.
fn unreached(of: &TreeWithGlobs<'_>) -> BTreeMap<Key, Unreached> {
    let world = of.tree.world;
    // What a glob brings to where others see it is reached there.
    let shown = of.shown_modules();
    imports_of(world, &|module, facts, leaf| {
        let is_public = facts.declaration_of(leaf).visibility.kind == VisibilityKind::Public;
        if !is_public || shown.contains(&module) || is_open_module(world, module) {
            return None;
        }
        let last = facts.segments(facts.leaf(leaf).segments).last();
        let last = last.map_or("", |one| facts.name(one.name));
        // The way there changes with the place.
        Some(match facts.leaf(leaf).kind {
            LeafKind::Glob => format!("{last}::*"),
            _ => last.to_owned(),
        })
    })
}

/// The imports for a part of a crate that is more than a module, also where they are `pub` and nobody else can name the
/// module; but for globs.
fn restricted(of: &TreeWithGlobs<'_>) -> BTreeMap<Key, Unreached> {
    let world = of.tree.world;
    let shown = of.shown_modules();
    imports_of(world, &|module, facts, leaf| {
        let is_left_out = match facts.declaration_of(leaf).visibility.kind {
            VisibilityKind::Public => shown.contains(&module) || is_open_module(world, module),
            VisibilityKind::Private | VisibilityKind::SelfModule => true,
            _ => false,
        };
        let leaf = facts.leaf(leaf);
        if is_left_out || leaf.kind == LeafKind::Glob {
            return None;
        }
        let bound = leaf
            .alias
            .or_else(|| facts.segments(leaf.segments).last().copied());
        Some(facts.name(bound?.name).to_owned())
    })
}

/// Imports of modules by these and by what `said` says of those that are asked about.
fn imports_of(
    world: &World,
    said: &dyn Fn(ModuleId, &SourceFacts, u32) -> Option<String>,
) -> BTreeMap<Key, Unreached> {
    let mut found = BTreeMap::new();
    for (file, source) in world.sources() {
        let facts = world.facts(file);
        for body in &source.bodies {
            let body = &world[*body];
            let own = (0_u32..).zip(&facts.leaves).filter(|(leaf, _)| {
                facts.declaration_of(*leaf).scope == body.scope && is_code(facts, *leaf)
            });
            found.extend(own.filter_map(|(leaf, fact)| {
                let said = said(body.module, facts, leaf)?;
                let key = (world[body.module].canonical.clone(), said);
                let span = fact.span;
                Some((key, Unreached { file, leaf, span }))
            }));
        }
    }
    found
}

/// Those of some imports that no path of the tree goes through wherever they are there. Links in documents go through
/// none, as the compiler counts, and neither does who sees a macro by where it stands.
fn idle_of<'u>(
    tree: Tree<'_>,
    asked: impl Iterator<Item = &'u Unreached>,
) -> BTreeSet<(FileId, u32)> {
    let world = tree.world;
    let mut conditions = Conditions::new(tree);
    let mut asked: BTreeMap<(FileId, u32), ConditionedUses> = asked
        .map(|one| ((one.file, one.leaf), ConditionedUses::default()))
        .collect();
    let used = note_uses(world, &mut conditions, &mut asked);
    for import in through_all_globs(world, used) {
        if let Some(uses) = asked.get_mut(&import) {
            uses.0.insert(BTreeSet::new());
        }
    }
    let idle = asked.into_iter().filter(|((file, leaf), uses)| {
        let at = world.facts(*file).leaf(*leaf).span.start;
        let body = world.body_around(*file, at);
        let own = body.map(|body| conditions.at_place(*file, body, at));
        !uses.cover(&own.unwrap_or_default())
    });
    idle.map(|(import, _)| import).collect()
}

/// Notes the conditions of what goes through the imports that are asked for; returns all that something goes through.
fn note_uses(
    world: &World,
    conditions: &mut Conditions<'_>,
    asked: &mut BTreeMap<(FileId, u32), ConditionedUses>,
) -> BTreeSet<(FileId, u32)> {
    let mut used = BTreeSet::new();
    for (file, site, imports) in all_sites_through_imports(world) {
        used.extend(imports.iter().copied());
        let Some(first) = site.segments.first() else {
            continue;
        };
        let body = world.body_of(&site);
        for import in imports {
            let Some(uses) = asked.get_mut(&import) else {
                continue;
            };
            let own = conditions.at_place(file, body, first.span.start);
            uses.0.insert(own);
        }
    }
    used
}

/// The same sites of all files, each with its file.
fn all_sites_through_imports(
    world: &World,
) -> impl Iterator<Item = (FileId, Site<'_>, Vec<(FileId, u32)>)> {
    world.sources().flat_map(|(file, source)| {
        let sites = sites_through_imports(world, file, source).into_iter();
        sites.map(move |(site, imports)| (file, site, imports))
    })
}

/// The sites of a file that the compiler counts as uses of the imports that they go through.
fn sites_through_imports<'w>(
    world: &'w World,
    file: FileId,
    source: &SourceFile,
) -> Vec<(Site<'w>, Vec<(FileId, u32)>)> {
    let mut sites = Vec::new();
    world.visit_file(source, &mut |facts, site| {
        let is_read = !matches!(site.origin, Origin::DocLink | Origin::DocCode);
        if is_read && !is_macro_in_scope(world, file, &site) {
            let imports = imports_of_site(world, facts, &site);
            if !imports.is_empty() {
                sites.push((site, imports));
            }
        }
    });
    sites
}

/// The imports that a path goes through, also where a macro has its name by where it stands: no path leads by that.
fn imports_of_site(world: &World, facts: &SourceFacts, site: &Site<'_>) -> Vec<(FileId, u32)> {
    let steps = &site.trace.steps;
    let mut found: Vec<_> = steps.iter().filter_map(|step| step.import).collect();
    for (pair, segment) in steps.windows(2).zip(site.segments.iter().skip(1)) {
        if let [outer, step] = pair
            && step.import.is_none()
        {
            let meant = bindings_meant(world, outer, step, facts.name(segment.name));
            found.extend(meant.iter().filter_map(|one| one.import));
        }
    }
    found
}

/// What globs that are gone through lead on to.
fn through_all_globs(world: &World, mut used: BTreeSet<(FileId, u32)>) -> BTreeSet<(FileId, u32)> {
    let mut found = BTreeSet::new();
    loop {
        let further = through_globs(world, &used);
        let count = found.len();
        found.extend(further.iter().copied());
        used.extend(further);
        if found.len() == count {
            return found;
        }
    }
}

/// The imports by which what globs lead to has its names.
fn through_globs(world: &World, used: &BTreeSet<(FileId, u32)>) -> Vec<(FileId, u32)> {
    let targets: BTreeSet<ModuleId> = used
        .iter()
        .filter_map(|one| world.glob_target(*one))
        .collect();
    let bindings = targets
        .iter()
        .flat_map(|target| world.space(*target).names.values().flatten());
    bindings.filter_map(|one| one.import).collect()
}
