//! Names that two globs come to bring into one place, of two things: who says one there means neither.
//!
//! An item that arrives is asked for in `rewrite/items/taken`; here it makes no difference what came: an item, a
//! module, or an import that went along with one. What conditions choose between is not ambiguous.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Finding, Unproven, UnprovenKind, finding::codes};

use super::{Tree, conditions::Conditions};
use crate::{
    facts::{Namespaces, Origin, PathFact, SourceFacts},
    resolve::{Binding, FileId, Found, Res, Site, UseSite, World},
    rewrite::are_opposite,
};

/// Where such a name is said in plain code of the tree `after`, and was not one before.
pub(crate) fn ambiguous_names(before: Tree<'_>, after: Tree<'_>) -> Vec<Finding> {
    let places = ambiguous_places(before, after).into_iter();
    let certain = places.filter(|place| place.certainty == Certainty::Certain);
    let told = certain.map(|place| {
        let message = format!(
            "`{}` would be ambiguous here: two globs come to bring it, of two things",
            place.name
        );
        Finding::refusal(after.world[place.file].path.clone(), message)
            .coded(codes::NAME_TAKEN)
            .at(place.span)
            .with_help("import by name what is meant here first".to_owned())
    });
    told.collect()
}

/// The same where it may be one: of what a macro is given, and where conditions decide about the globs.
pub(crate) fn names_perhaps_ambiguous(before: Tree<'_>, after: Tree<'_>) -> Vec<Unproven> {
    let places = ambiguous_places(before, after).into_iter();
    let told = places.filter_map(|place| {
        let (kind, doubt) = match place.certainty {
            Certainty::Certain => return None,
            Certainty::ByMacro => (
                UnprovenKind::MacroArgument,
                "whether the macro says it is not known",
            ),
            Certainty::ByConditions => (
                UnprovenKind::UnknownType,
                "whether both are there at once is not known",
            ),
        };
        Some(Unproven {
            path: after.world[place.file].path.clone(),
            span: Some(place.span),
            kind,
            name: place.name,
            why: format!("two globs come to bring this name here, of two things, and {doubt}"),
        })
    });
    told.collect()
}

/// A place that says such a name.
struct AmbiguousPlace {
    file: FileId,
    span: ByteSpan,
    name: String,
    certainty: Certainty,
}

/// How certain it is that a place means neither of two things.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Certainty {
    Certain,
    /// A macro is given the name.
    ByMacro,
    /// The globs, or what they bring, stand under other conditions or in several files of a module.
    ByConditions,
}

/// The names that two globs of one module bring as different things, by the module; each with whether that is so
/// under all conditions.
type AmbiguousNames = BTreeMap<(String, String), bool>;

/// The first place of each such name in each file.
fn ambiguous_places(before: Tree<'_>, after: Tree<'_>) -> Vec<AmbiguousPlace> {
    let mut names = ambiguous(after);
    if names.is_empty() {
        return Vec::new();
    }
    let known = ambiguous(before);
    let moved = |all: &AmbiguousNames, other: &World, name: &str| {
        let own = all.keys().filter(|(_, own)| own == name);
        own.filter(|(module, _)| other.modules_named(module).is_empty())
            .count()
    };
    let all = names.clone();
    // A module that goes takes its names to the one that it becomes; one that stays makes up for no other.
    names.retain(|key, _| {
        let (module, name) = key;
        let stays = !before.world.modules_named(module).is_empty();
        let goes_along = || moved(&all, before.world, name) <= moved(&known, after.world, name);
        !known.contains_key(key) && (stays || !goes_along())
    });
    let world = after.world;
    let words: BTreeSet<&str> = names.keys().map(|(_, name)| name.as_str()).collect();
    let mut found = Vec::new();
    for (file, source) in world.sources() {
        let mut said = world.facts(file).names.iter();
        if words.is_empty() || !said.any(|name| words.contains(&**name)) {
            continue;
        }
        let mut seen = BTreeSet::new();
        world.visit_file(source, &mut |facts, site| {
            if let Some(place) = place_of(world, file, (facts, &site), &names)
                && seen.insert(place.name.clone())
            {
                found.push(place);
            }
        });
    }
    found
}

/// Where a site says one of these names, by the globs of the module that has it.
fn place_of(
    world: &World,
    file: FileId,
    (facts, site): (&SourceFacts, &Site<'_>),
    names: &AmbiguousNames,
) -> Option<AmbiguousPlace> {
    let is_given = match site.origin {
        Origin::Code | Origin::KnownMacro | Origin::Attribute | Origin::FormatString => false,
        Origin::MacroArguments => true,
        _ => return None,
    };
    let mut here = Some(world.module_of(site.space));
    for (at, (step, segment)) in site.trace.steps.iter().zip(site.segments).enumerate() {
        let name = facts.name(segment.name);
        let is_always = here.filter(|_| step.glob).and_then(|here| {
            let key = (world[here].canonical.clone(), name.to_owned());
            names.get(&key).copied()
        });
        if let Some(is_always) = is_always
            && leads_to_two(step, wanted_at(facts, site, at))
        {
            return Some(AmbiguousPlace {
                file,
                span: segment.span,
                name: name.to_owned(),
                certainty: match (is_given, is_always) {
                    (true, _) => Certainty::ByMacro,
                    (false, false) => Certainty::ByConditions,
                    (false, true) => Certainty::Certain,
                },
            });
        }
        here = step.module();
    }
    None
}

/// What the segment at `at` of a site may be.
fn wanted_at(facts: &SourceFacts, site: &Site<'_>, at: usize) -> Namespaces {
    let of_path = |path: &PathFact| path.namespaces;
    match site.site {
        UseSite::Path(path) if at + 1 == site.segments.len() => of_path(facts.path(path)),
        UseSite::Leaf(_) if at + 1 == site.segments.len() => Namespaces::ALL,
        _ => Namespaces::TYPE,
    }
}

/// Whether a step leads to two things in one namespace.
fn leads_to_two(step: &Found, wanted: Namespaces) -> bool {
    let all: Vec<(Res, Namespaces)> = step.all().collect();
    let differ = |(at, one): (usize, &(Res, Namespaces))| {
        let mut others = all.iter().skip(at + 1);
        others.any(|other| one.1.and(wanted).meets(other.1))
    };
    all.iter().enumerate().any(differ)
}

fn ambiguous(tree: Tree<'_>) -> AmbiguousNames {
    let world = tree.world;
    let mut conditions = Conditions::new(tree);
    let mut found = AmbiguousNames::new();
    for space in &world.spaces {
        for (name, bindings) in space.names.several() {
            let module = &world[space.module];
            let Some(is_always) = ambiguity(world, &mut conditions, bindings) else {
                continue;
            };
            let is_always = is_always && module.bodies.len() < 2;
            let key = (
                module.canonical.clone(),
                world.names.as_str(*name).to_owned(),
            );
            *found.entry(key).or_insert(false) |= is_always;
        }
    }
    found
}

/// Whether two globs bring different things of one namespace, that nothing hides and no conditions choose between: if so,
/// whether that is under whichever conditions.
fn ambiguity(world: &World, conditions: &mut Conditions<'_>, bindings: &[Binding]) -> Option<bool> {
    let explicit = bindings.iter().filter(|one| !one.glob);
    let hidden = explicit.fold(Namespaces(0), |all, one| all.or(one.namespaces));
    let shown = |one: &Binding| Namespaces(one.namespaces.0 & !hidden.0);
    let globs: Vec<&Binding> = bindings.iter().filter(|one| one.glob).collect();
    let mut found = None;
    for (at, one) in globs.iter().enumerate() {
        for other in globs.iter().skip(at + 1) {
            if one.import == other.import
                || !shown(one).meets(shown(other))
                || !are_different(world, one.res, other.res)
            {
                continue;
            }
            let (own, others) = (of_binding(conditions, one), of_binding(conditions, other));
            let mut all = own.iter();
            if !all.any(|one| others.iter().any(|other| are_opposite(one, other))) {
                *found.get_or_insert(false) |= own == others;
            }
        }
    }
    found
}

/// Whether two results are two things; the standard library shows one under several names.
fn are_different(world: &World, one: Res, other: Res) -> bool {
    match (one, other) {
        (Res::External(one), Res::External(other)) => !world.are_one_outside(one, other),
        _ => one != other,
    }
}

/// The conditions of an import and of what it brings.
fn of_binding(conditions: &mut Conditions<'_>, binding: &Binding) -> BTreeSet<String> {
    let mut found = match binding.res {
        Res::Item(item) | Res::Variant(item, _) | Res::Member(item, _) => conditions.of_item(item),
        Res::Module(module) => conditions.of_module(module),
        Res::External(_) => BTreeSet::new(),
    };
    let import = binding.import.map(|import| conditions.of_import(import));
    found.extend(import.into_iter().flatten());
    found
}
