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
    facts::{LeafKind, Origin, SourceFacts, UseLeaf, VisibilityKind},
    resolve::{FileId, ModuleId, Res, Site, SourceFile, World},
    rewrite::{may_be_trait, may_call},
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
    found.extend(idle_unnamed(before, after));
    found
}

/// Traits that a module imports under no name for a part of its crate, and whose methods nobody calls any more who has
/// them by that.
fn idle_unnamed(before: &TreeWithGlobs<'_>, after: &TreeWithGlobs<'_>) -> Vec<Unproven> {
    let mut now = unnamed(after);
    now.retain(|_, one| !is_called(after.tree, one));
    if now.is_empty() {
        return Vec::new();
    }
    let mut then = unnamed(before);
    then.retain(|key, one| now.contains_key(key) && is_called(before.tree, one));
    let told = now.iter().filter(|(key, _)| then.contains_key(*key));
    told.filter_map(|((_, said), one)| RESTRICTED.told(after.tree, (one.file, one.span), said))
        .collect()
}

/// Such imports, by what they import.
fn unnamed(of: &TreeWithGlobs<'_>) -> BTreeMap<Key, Unreached> {
    for_parts(of, &|facts, leaf| {
        let alias = facts.name(leaf.alias?.name);
        let last = facts.segments(leaf.segments).last()?;
        (alias == "_").then(|| facts.name(last.name).to_owned())
    })
}

/// Whether code that has a trait under no name, by an import or by globs of its module, may call a method of it.
fn is_called(tree: Tree<'_>, import: &Unreached) -> bool {
    let world = tree.world;
    let bindings = world
        .bodies
        .iter()
        .map(|body| (body, world.bindings(body.module, "_")));
    let bindings: Vec<_> = bindings.filter(|(_, own)| !own.is_empty()).collect();
    let own = bindings.iter().flat_map(|(_, own)| own.iter());
    let own = own.filter(|one| one.import == Some((import.file, import.leaf)));
    let things: Vec<(String, Res)> = own.map(|one| ("_".to_owned(), one.res)).collect();
    let mut users = bindings.into_iter().filter(|(_, own)| {
        let own = own.iter();
        // Who imports it besides has it without this.
        let mut by_it =
            own.filter(|one| one.glob || one.import == Some((import.file, import.leaf)));
        by_it.any(|one| things.iter().any(|(_, res)| *res == one.res))
    });
    users.any(|(body, _)| {
        let text = tree.texts.text(&world[body.file].path);
        let code = text
            .as_deref()
            .and_then(|text| world.code_of(body).of(text));
        code.is_none_or(|code| may_call(world, (&things, false), (body.module, code), tree.texts))
    })
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
    for_parts(of, &|facts, leaf| {
        let last = facts.segments(leaf.segments).last().copied();
        (leaf.kind != LeafKind::Glob)
            .then(|| leaf.alias.or(last))
            .flatten()
            .map(|bound| facts.name(bound.name).to_owned())
    })
}

/// Imports for a part of a crate that is more than a module, by what `said` says of those that are asked about.
fn for_parts(
    of: &TreeWithGlobs<'_>,
    said: &dyn Fn(&SourceFacts, &UseLeaf) -> Option<String>,
) -> BTreeMap<Key, Unreached> {
    let world = of.tree.world;
    let shown = of.shown_modules();
    imports_of(world, &|module, facts, leaf| {
        let is_left_out = match facts.declaration_of(leaf).visibility.kind {
            VisibilityKind::Public => shown.contains(&module) || is_open_module(world, module),
            VisibilityKind::Private | VisibilityKind::SelfModule => true,
            _ => false,
        };
        (!is_left_out).then(|| said(facts, facts.leaf(leaf)))?
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
    for import in used
        .behind
        .into_iter()
        .chain(through_all_globs(world, used.first))
    {
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
) -> Used {
    let mut used = Used::default();
    for (file, site, imports) in all_sites_through_imports(world) {
        used.first.extend(imports.iter().copied());
        used.note_behind(world, file, &site);
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

/// The imports that paths go through.
#[derive(Default)]
struct Used {
    /// Those that a path goes through first.
    first: BTreeSet<(FileId, u32)>,
    /// Those that bring a name to where a glob has it from.
    behind: BTreeSet<(FileId, u32)>,
}

impl Used {
    /// Notes by which imports the modules that globs of a path lead to have its names.
    fn note_behind(&mut self, world: &World, file: FileId, site: &Site<'_>) {
        let facts = world.facts(file);
        for (step, segment) in site.trace.steps.iter().zip(site.segments) {
            let Some(glob) = step.import.filter(|_| step.glob) else {
                continue;
            };
            let name = facts.name(segment.name);
            let mut open = vec![glob];
            while let Some(target) = open.pop().and_then(|glob| world.glob_target(glob)) {
                let meant = world.bindings(target, name).iter();
                let meant = meant.filter(|one| step.all().any(|(res, _)| res == one.res));
                for (import, is_glob) in meant.filter_map(|one| Some((one.import?, one.glob))) {
                    let is_new = self.behind.insert(import);
                    open.extend((is_glob && is_new).then_some(import));
                }
            }
        }
    }
}

/// What globs that are gone through lead on to that may be a trait: nobody says by which of them methods are found.
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
    let traits = bindings.filter(|one| may_be_trait(world, one.res));
    traits.filter_map(|one| one.import).collect()
}
