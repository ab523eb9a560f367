//! Who has what moves without saying its name: calls of macros whose texts say it, documents that have it
//! by a glob, and method calls that a trait comes to where it arrives.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Unproven, UnprovenKind};

use super::{
    moving::{Moving, Set},
    taken::{GlobUsers, words_by_themselves},
};
use crate::{
    facts::{Item, ItemKind, LeafKind, MacroCall, Origin, SourceFacts},
    resolve::{Body, FileId, ItemId, ModuleId, Res, Site, World},
    rewrite::{fits::dotted, traits},
};

/// All such places.
pub(super) fn places(set: &Set<'_>) -> Vec<Unproven> {
    let mut found = macro_calls(set);
    found.extend(documents(set));
    found.extend(methods(set));
    found.extend(shared_texts(set));
    found
}

/// Files that something comes to and that another module is made of as well: it would have that, too.
fn shared_texts(set: &Set<'_>) -> Vec<Unproven> {
    let world = set.world();
    let arriving = set.moving.iter();
    let arriving = arriving.filter(|one| !one.gives_way() && !set.is_in_place(one));
    let found = arriving.filter_map(|moving| {
        let home = set.mapping.at(&moving.to)?;
        let body = world.bodies_of(home).next()?;
        let other = other_of_text(world, body, home)?;
        let why = format!(
            "`{}` is made of this file, too, and would have what arrives: whether that is used there, and resolves, is \
             not known",
            world[other].canonical
        );
        let place = (body.file, ByteSpan::empty(world.code_of(body).start));
        let kind = (UnprovenKind::LeftUnused, moving.name.as_str());
        Some(unproven(set, place, kind, why))
    });
    found.collect()
}

/// Another module that is made of the text of a body.
fn other_of_text(world: &World, body: &Body, home: ModuleId) -> Option<ModuleId> {
    let bodies = world[body.file].bodies.iter().map(|at| &world[at]);
    let mut others = bodies.filter(|one| one.scope == body.scope && one.module != home);
    others.next().map(|one| one.module)
}

fn unproven(
    set: &Set<'_>,
    (file, span): (FileId, ByteSpan),
    (kind, name): (UnprovenKind, &str),
    why: String,
) -> Unproven {
    Unproven {
        path: set.path(file),
        span: Some(span),
        kind,
        name: name.to_owned(),
        why,
    }
}

/// Calls of macros whose texts say the plain name of what moves, where a glob brings it.
fn macro_calls(set: &Set<'_>) -> Vec<Unproven> {
    let world = set.world();
    let saying = macros_that_say(set);
    if saying.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (file, _) in world.sources() {
        let facts = world.facts(file);
        for call in &facts.macro_calls {
            let path = facts.segments(facts.path(call.path).segments);
            let Some(last) = path.last() else { continue };
            let name = facts.name(last.name);
            let stays = set.chunk_at(file, last.span.start).is_none();
            if let Some(said) = saying.get(name).filter(|_| stays) {
                found.extend(had_by_call(set, file, call, said));
            }
        }
    }
    found
}

/// What a call of a macro that says some names has by a glob of its module.
fn had_by_call(
    set: &Set<'_>,
    file: FileId,
    call: &MacroCall,
    said: &BTreeSet<String>,
) -> Vec<Unproven> {
    let world = set.world();
    let facts = world.facts(file);
    let path = facts.segments(facts.path(call.path).segments);
    let Some(last) = path.last() else {
        return Vec::new();
    };
    let name = facts.name(last.name);
    let loads = world[file].loads.iter();
    let spaces = loads.filter_map(|load| {
        let spaces = &world.load(*load as usize).spaces;
        spaces.get(call.scope.0 as usize).copied()
    });
    let modules = spaces.map(|space| world.module_of(space));
    let had = modules.flat_map(|module| said.iter().flat_map(move |old| by_glob(set, old, module)));
    let told = had.map(|moving| {
        let (old, from) = (&world[moving.item].name, &moving.change.from);
        let why =
            format!("`{name}!` says `{old}`, and a glob brings `{from}` here, which it will not");
        let kind = (UnprovenKind::MacroBuiltPath, name);
        unproven(set, (file, last.span), kind, why)
    });
    told.collect()
}

/// What moves and a glob brings to a module by its old name.
fn by_glob<'s>(
    set: &'s Set<'_>,
    old: &str,
    module: ModuleId,
) -> impl Iterator<Item = &'s Moving<'s>> {
    let bindings = set.world().bindings(module, old).iter();
    let items = bindings
        .filter(|one| one.glob)
        .filter_map(|one| match one.res {
            Res::Item(item) => set.of(item),
            _ => None,
        });
    items.map(|at| set.moving(at))
}

/// The macros whose texts say the name of something that moves by itself, with those names.
fn macros_that_say(set: &Set<'_>) -> BTreeMap<String, BTreeSet<String>> {
    let world = set.world();
    let moving = set.moving.iter();
    let old: BTreeSet<&str> = moving.map(|moving| &*world[moving.item].name).collect();
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (file, _) in world.sources() {
        for (name, word) in said_by_macros(set, file, &old) {
            found.entry(name).or_default().insert(word);
        }
    }
    found
}

/// The macros of a file with the words among some that they say.
fn said_by_macros(set: &Set<'_>, file: FileId, words: &BTreeSet<&str>) -> Vec<(String, String)> {
    let facts = set.world().facts(file);
    let macros = facts.items.iter();
    let macros = macros.filter(|item| item.kind == ItemKind::Macro);
    let macros: Vec<&Item> = macros.collect();
    let mut names = facts.names.iter();
    if !names.any(|known| words.contains(&**known)) || macros.is_empty() {
        return Vec::new();
    }
    let Some(text) = set.mapping.texts.text(&set.path(file)) else {
        return Vec::new();
    };
    let said = macros.into_iter().flat_map(|item| {
        let body = ByteSpan::new(item.signature.end, item.span.end);
        let said = words_by_themselves(&text, body, b":.$").into_iter();
        let said = said.filter(|(_, word)| words.contains(word));
        said.map(|(_, word)| (facts.name(item.name.name).to_owned(), word.to_owned()))
    });
    said.collect()
}

/// Code in documents that has what moves by a glob of its old module.
fn documents(set: &Set<'_>) -> Vec<Unproven> {
    let world = set.world();
    let mut found = Vec::new();
    for (file, source) in world.sources() {
        let facts = world.facts(file);
        let mut globs = facts.leaves.iter().filter(|leaf| {
            let origin = facts.declaration(leaf.declaration).origin;
            leaf.kind == LeafKind::Glob && origin == Origin::DocCode
        });
        if globs.next().is_some() {
            world.visit_file(source, &mut |facts, site| {
                found.extend(had_by_document(set, file, (facts, &site)));
            });
        }
    }
    found
}

/// What a site of code in a document has by a glob.
fn had_by_document(
    set: &Set<'_>,
    file: FileId,
    (facts, site): (&SourceFacts, &Site<'_>),
) -> Vec<Unproven> {
    let world = set.world();
    let first = site.segments.first().zip(site.trace.steps.first());
    let first = first.filter(|(_, step)| step.glob && site.origin == Origin::DocCode);
    let Some((first, step)) = first else {
        return Vec::new();
    };
    let name = facts.name(first.name);
    let meant = step.all().filter_map(|(res, _)| match res {
        Res::Item(item) if world[item].name == name => Some(item),
        _ => None,
    });
    let meant: BTreeSet<ItemId> = meant.collect();
    // What a glob of its very module brought is imported besides.
    let target = step.import.and_then(|import| world.glob_target(import));
    let others = meant
        .into_iter()
        .filter(|item| target != Some(world[item].module));
    let moving = others.filter_map(|item| set.of(item));
    let told = moving.map(|at| {
        let from = &set.moving(at).change.from;
        let why = format!("a glob brings `{from}` to this code, and will not");
        let kind = (UnprovenKind::MacroBuiltPath, name);
        unproven(set, (file, first.span), kind, why)
    });
    told.collect()
}

/// Calls of methods that a trait has as well, where it comes into scope by a glob or by arriving.
fn methods(set: &Set<'_>) -> Vec<Unproven> {
    let traits = set.moving.iter().filter(|one| one.kind == ItemKind::Trait);
    let traits: Vec<&Moving<'_>> = traits.collect();
    if traits.is_empty() {
        return Vec::new();
    }
    let globs = GlobUsers::of(set);
    let arriving = traits.into_iter().filter_map(|moving| {
        let home = set.mapping.at(&moving.to)?;
        Some((moving, home))
    });
    let mut found = Vec::new();
    let mut scopes: BTreeMap<ModuleId, TraitsInScope> = BTreeMap::new();
    for (moving, home) in arriving {
        let own = members(set, moving.item);
        for user in globs.with_all_of(home) {
            let scope = scopes.entry(user);
            let scope = scope.or_insert_with(|| TraitsInScope::of(set, user));
            let is_new = !scope.traits.contains(&moving.item);
            let calls = is_new.then(|| scope.calls(set, moving, &own));
            found.extend(calls.into_iter().flatten());
        }
    }
    found
}

/// The names of the functions and constants of a trait.
fn members(set: &Set<'_>, item: ItemId) -> BTreeSet<String> {
    let read = traits::read(set.world(), item, set.mapping.texts);
    read.into_iter().flat_map(|(own, _)| own).collect()
}

/// The traits that a module names before, and the calls in it that may be of their methods.
struct TraitsInScope {
    traits: BTreeSet<ItemId>,
    /// The first call of each method of one of them, in each file.
    calls: BTreeMap<String, Vec<(FileId, ByteSpan)>>,
}

impl TraitsInScope {
    fn of(set: &Set<'_>, user: ModuleId) -> Self {
        let world = set.world();
        let traits: BTreeSet<ItemId> = world.traits_in_scope(user).collect();
        let names = traits.iter().flat_map(|item| members(set, *item));
        let names: BTreeSet<String> = names.collect();
        let mut calls: BTreeMap<String, Vec<(FileId, ByteSpan)>> = BTreeMap::new();
        for body in world.bodies_of(user).filter(|_| !names.is_empty()) {
            let Some(text) = set.mapping.texts.text(&world[body.file].path) else {
                continue;
            };
            let scope = world.facts(body.file).scope(body.scope).span;
            let mut told = BTreeSet::new();
            let named = dotted(&text).into_iter();
            let named = named.filter(|(span, name)| scope.contains(*span) && names.contains(*name));
            for (span, name) in named.filter(|(_, name)| told.insert(*name)) {
                let places = calls.entry(name.to_owned()).or_default();
                places.push((body.file, span));
            }
        }
        Self { traits, calls }
    }

    /// In each file the first call that may be of what a trait brings.
    fn calls(&self, set: &Set<'_>, moving: &Moving<'_>, own: &BTreeSet<String>) -> Vec<Unproven> {
        let mut first: BTreeMap<FileId, (ByteSpan, &str)> = BTreeMap::new();
        for name in own {
            for (file, span) in self.calls.get(name).into_iter().flatten() {
                let known = first.entry(*file).or_insert((*span, name));
                *known = (*known).min((*span, name));
            }
        }
        let why = format!(
            "`{}` has it too, and comes into scope here",
            set.name_after(moving)
        );
        let told = first.into_iter().map(|(file, (span, name))| {
            let kind = (UnprovenKind::UnknownType, name);
            unproven(set, (file, span), kind, why.clone())
        });
        told.collect()
    }
}
