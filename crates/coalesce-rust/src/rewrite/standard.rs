//! What comes with the language, as the crate says it that code goes to: `alloc` is called `std` where
//! nobody says `extern crate alloc`. The other way round it is left to what is asked of every plan.

use super::{mapping::Mapping, packages::condition_of_no_std, place::Place, spell::Respelling};
use crate::{
    facts::{Origin, SourceFacts},
    resolve::{CrateId, Res, Site},
};

/// `alloc` as the first name of a path that goes to a crate that has all of it by the name of `std`.
pub(super) fn respell(
    mapping: &Mapping<'_>,
    (facts, site): (&SourceFacts, &Site<'_>),
    here: &Place,
) -> Option<Respelling> {
    let world = mapping.world;
    let old = world[world.module_of(site.space)].krate;
    let (first, step) = (site.segments.first()?, site.trace.steps.first()?);
    if old == here.krate || site.segments.len() < 2 || facts.name(first.name) != "alloc" {
        return None;
    }
    let read = !matches!(site.origin, Origin::DocCode | Origin::Quoted);
    let outside = step.all().all(|(res, _)| matches!(res, Res::External(_)));
    // A library that goes as a whole takes its `extern crate` along.
    let root = world[old].root;
    let stays = root.is_none_or(|root| mapping.after(root).krate == old);
    let says_std = read
        && outside
        && stays
        && declares_alloc(mapping, old)
        && !declares_alloc(mapping, here.krate)
        && has_std(mapping, here.krate);
    says_std.then(|| Respelling {
        start: 0,
        end: 1,
        path: vec!["std".to_owned()],
        from: "alloc".to_owned(),
        to: "std".to_owned(),
    })
}

/// Whether the root of a crate says `extern crate alloc`.
fn declares_alloc(mapping: &Mapping<'_>, krate: CrateId) -> bool {
    let declared = mapping.world.declared_crates(krate);
    declared.contains(&("alloc", "alloc"))
}

fn has_std(mapping: &Mapping<'_>, krate: CrateId) -> bool {
    let text = mapping.texts.text(&mapping.world[krate].root_file);
    text.is_some_and(|text| condition_of_no_std(&text).is_none())
}
