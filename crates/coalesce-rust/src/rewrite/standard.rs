//! What comes with the language, as the crate says it that code goes to: `alloc` is called `std` where
//! nobody says `extern crate alloc`, and `std` is called `core` or `alloc` where there is none, as far as
//! these have the same. What they lack is left to what is asked of every plan.

use super::{mapping::Mapping, packages::condition_of_no_std, place::Place, spell::Respelling};
use crate::{
    discover::Edition,
    facts::{Origin, SourceFacts},
    resolve::{Body, CrateId, Res, Site},
    words,
};

/// A path that begins with the name of a part of the library, and goes to a crate that calls that part otherwise.
pub(super) fn respell(
    mapping: &Mapping<'_>,
    (facts, site): (&SourceFacts, &Site<'_>),
    here: &Place,
) -> Option<Respelling> {
    let world = mapping.world;
    let old = world[world.module_of(site.space)].krate;
    let step = site.trace.steps.first()?;
    if old == here.krate || matches!(site.origin, Origin::DocCode | Origin::Quoted) {
        return None;
    }
    let outside = step.all().all(|(res, _)| matches!(res, Res::External(_)));
    // A library that goes as a whole takes its `extern crate` along.
    let root = world[old].root;
    let stays = root.is_none_or(|root| mapping.after(root).krate == old);
    let path: Vec<&str> = site
        .segments
        .iter()
        .map(|segment| facts.name(segment.name))
        .collect();
    let whole = path == ["std", "fmt"] && !names_format(facts);
    let said = (outside && stays)
        .then(|| said_in(mapping, (old, here.krate), &path, whole))
        .flatten()?;
    Some(Respelling {
        start: 0,
        end: 1,
        path: vec![said.to_owned()],
        from: path
            .first()
            .map(|first| (*first).to_owned())
            .unwrap_or_default(),
        to: said.to_owned(),
    })
}

/// What the first name of a path becomes between two crates; `None` where it stays.
///
/// `whole`: whether core has all that is used of the module, which has more in `std`.
pub(super) fn said_in(
    mapping: &Mapping<'_>,
    (old, new): (CrateId, CrateId),
    path: &[&str],
    whole: bool,
) -> Option<&'static str> {
    let [first, module, rest @ ..] = path else {
        return None;
    };
    match *first {
        _ if old == new => None,
        "alloc" => {
            let std = declares_alloc(mapping, old)
                && !declares_alloc(mapping, new)
                && has_std(mapping, new);
            std.then_some("std")
        }
        // Before 2018 imports begin at the root, which has no `core`.
        "std" if mapping.world[new].edition != Edition::E2015 && !says_std(mapping, new) => {
            let name = rest.first().map(|name| format!("{module}::{name}"));
            let has = |words: &words::Words| {
                words.contains(module) || name.as_deref().is_some_and(|name| words.contains(name))
            };
            if whole || has(&words::OF_CORE) {
                Some("core")
            } else {
                (has(&words::OF_ALLOC) && declares_alloc(mapping, new)).then_some("alloc")
            }
        }
        _ => None,
    }
}

/// Whether a file names the one function of `std::fmt` that `core` lacks.
fn names_format(facts: &SourceFacts) -> bool {
    facts.paths.iter().any(|path| {
        let segments = facts.segments(path.segments).iter();
        let names: Vec<&str> = segments.map(|segment| facts.name(segment.name)).collect();
        names.ends_with(&["fmt", "format"])
    })
}

/// Whether the root of a crate says `extern crate alloc`.
fn declares_alloc(mapping: &Mapping<'_>, krate: CrateId) -> bool {
    let declared = mapping.world.declared_crates(krate);
    declared.contains(&("alloc", "alloc"))
}

/// Whether a crate can say `std` as it is: it is never `no_std`, or says `extern crate std` without a condition.
fn says_std(mapping: &Mapping<'_>, krate: CrateId) -> bool {
    let world = mapping.world;
    let root = world[krate].root.map(|root| world.bodies_of(root));
    let mut bodies = root.into_iter().flatten();
    let declares = |body: &Body| {
        let facts = world.facts(body.file);
        let text = mapping.texts.text(&world[body.file].path);
        let mut declared = facts.extern_crates.iter();
        declared.any(|one| {
            let bound = one.alias.unwrap_or(one.name);
            let said = text.as_deref().and_then(|text| one.span.of(text));
            let is_always_there = said.is_some_and(|said| !said.contains("cfg("));
            facts.name(bound.name) == "std" && is_always_there
        })
    };
    has_std(mapping, krate) || bodies.any(declares)
}

fn has_std(mapping: &Mapping<'_>, krate: CrateId) -> bool {
    let text = mapping.texts.text(&mapping.world[krate].root_file);
    text.is_some_and(|text| condition_of_no_std(&text).is_none())
}
