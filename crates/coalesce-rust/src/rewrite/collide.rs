//! Names that a module takes from others when it arrives.
//!
//! A module hides what globs bring by the same name, and competes with a crate of that name. Code
//! in its new parent that means the other one would mean it from then on.

use std::collections::BTreeMap;

use coalesce_model::{ByteSpan, Finding, finding::codes};

use super::{
    mapping::{Mapping, refusal},
    place::Place,
    structure::Structure,
};
use crate::{
    facts::Namespaces,
    resolve::{FileId, Found, ModuleId, Res, Site, leading_colons},
};

/// Modules that arrive, by their names, each with the module that it comes to.
type ArrivalsByName<'p> = BTreeMap<&'p str, Vec<(ModuleId, &'p Place)>>;

/// Where modules arrive.
fn arrivals(mapping: &Mapping<'_>, structure: &Structure) -> Vec<Place> {
    let arriving = mapping.roots.iter().flatten().map(|(module, _)| *module);
    let arriving = arriving.filter(|module| !mapping.is_replaced(*module));
    let mut places: Vec<Place> = arriving.map(|module| mapping.after(module)).collect();
    places.extend(structure.made.keys().cloned());
    places.sort();
    places.dedup();
    places
}

/// Where a file says the name of such a module, and means another one.
fn taken_in<'p>(
    mapping: &Mapping<'_>,
    file: FileId,
    by_name: &ArrivalsByName<'p>,
) -> BTreeMap<&'p Place, ByteSpan> {
    let world = mapping.world;
    let mut taken = BTreeMap::new();
    let mut names = world.facts(file).names.iter();
    if !names.any(|known| by_name.contains_key(&**known)) {
        return taken;
    }
    world.visit_file(&world[file], &mut |facts, site| {
        for (at, segment) in site.segments.iter().enumerate() {
            // `::name` means a crate and nothing else.
            let arriving = by_name.get(facts.name(segment.name));
            let arriving = arriving.filter(|_| at > 0 || !leading_colons(facts, site.site));
            for (home, place) in arriving.into_iter().flatten() {
                let is_new = !taken.contains_key(place);
                let is_taken = is_new && is_another(mapping, &site, at, *home);
                taken.extend(is_taken.then_some((*place, segment.span)));
            }
        }
    });
    taken
}

/// Code that would mean a module that arrives, and means something else now.
pub(super) fn check(mapping: &Mapping<'_>, structure: &Structure) -> Vec<Finding> {
    let world = mapping.world;
    let places = arrivals(mapping, structure);
    let mut by_name: ArrivalsByName<'_> = BTreeMap::new();
    for place in &places {
        let home = place.parent().and_then(|home| mapping.at(&home));
        if let Some(home) = home {
            by_name.entry(place.name()).or_default().push((home, place));
        }
    }
    let mut taken: BTreeMap<&Place, (FileId, ByteSpan)> = BTreeMap::new();
    for (file, _) in world.sources() {
        for (place, span) in taken_in(mapping, file, &by_name) {
            taken.entry(place).or_insert((file, span));
        }
    }
    let told = taken.into_iter().map(|(place, (file, span))| {
        let message = format!(
            "`{}` means something else here, and would mean `{}`",
            place.name(),
            mapping.name_of(place)
        );
        refusal(world[file].path.clone(), message)
            .coded(codes::NAME_TAKEN)
            .at(span)
            .with_help("give the module another name".to_owned())
    });
    told.collect()
}

/// Whether a segment is looked up in `home`, and found as a crate or by a glob.
fn is_another(mapping: &Mapping<'_>, site: &Site<'_>, at: usize, home: ModuleId) -> bool {
    let world = mapping.world;
    let Some(step) = site.trace.steps.get(at) else {
        return false;
    };
    let outer = match at.checked_sub(1) {
        None => Some(world.module_of(site.space)),
        Some(before) => site.trace.steps.get(before).and_then(Found::module),
    };
    let is_crate = || at == 0 && step.import.is_none() && is_other_crate(mapping, step, home);
    let mut led = step.all();
    outer == Some(home)
        && led.any(|(_, namespaces)| namespaces.meets(Namespaces::TYPE))
        && (step.glob || is_crate())
}

/// Whether a step leads to another crate than that of a module, which stays.
fn is_other_crate(mapping: &Mapping<'_>, step: &Found, home: ModuleId) -> bool {
    let world = mapping.world;
    step.all().any(|(res, _)| match res {
        Res::External(_) => true,
        // A library that goes away is spelled anew wherever it is named.
        Res::Module(module) => {
            let other = world[module].parent.is_none() && world[module].krate != world[home].krate;
            other && !mapping.is_changed(module)
        }
        _ => false,
    })
}
