//! Names that a module takes from others when it arrives.
//!
//! A module hides what globs bring by the same name, and competes with a crate of that name. Code
//! in its new parent that means the other one would mean it from then on.

use coalesce_model::{Finding, finding::codes};

use super::{
    mapping::{Mapping, refusal},
    place::Place,
    structure::Structure,
};
use crate::{
    facts::Namespaces,
    resolve::{FileId, Found, ModuleId, Res, Site, World, leading_colons},
};

/// Code that would mean a module that arrives, and means something else now.
pub(super) fn check(mapping: &Mapping<'_>, structure: &Structure) -> Vec<Finding> {
    let world = mapping.world;
    let mut found = Vec::new();
    let arriving = mapping.roots.iter().flatten().map(|(module, _)| *module);
    let arriving = arriving.filter(|module| !mapping.is_replaced(*module));
    let mut places: Vec<Place> = arriving.map(|module| mapping.after(module)).collect();
    places.extend(structure.made.keys().cloned());
    places.sort();
    places.dedup();
    for place in places {
        let home = place.parent().and_then(|home| mapping.at(&home));
        let Some(home) = home else { continue };
        found.extend(taken(mapping, world, home, &place));
    }
    found
}

fn taken(mapping: &Mapping<'_>, world: &World, home: ModuleId, place: &Place) -> Option<Finding> {
    let name = place.name();
    for (index, file) in world.files.iter().enumerate() {
        let facts = u32::try_from(index).ok().map(|at| world.facts(FileId(at)));
        if !facts.is_some_and(|facts| facts.names.iter().any(|known| **known == *name)) {
            continue;
        }
        for load in &file.loads {
            let mut other = None;
            world.visit(*load as usize, &mut |facts, site| {
                let at = site
                    .segments
                    .iter()
                    .position(|segment| facts.name(segment.name) == name);
                // `::name` means a crate and nothing else.
                let at = at.filter(|at| *at > 0 || !leading_colons(facts, site.site));
                if let Some(at) = at.filter(|at| is_another(mapping, &site, *at, home)) {
                    other = site.segments.get(at).map(|segment| segment.span);
                }
            });
            if let Some(span) = other {
                let message = format!(
                    "`{name}` means something else here, and would mean `{}`",
                    mapping.name_of(place)
                );
                return Some(
                    refusal(file.path.clone(), message)
                        .coded(codes::NAME_TAKEN)
                        .at(span)
                        .with_help("give the module another name".to_owned()),
                );
            }
        }
    }
    None
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
    if outer != Some(home) {
        return false;
    }
    let names_type = step
        .all()
        .any(|(_, namespaces)| namespaces.meets(Namespaces::TYPE));
    let is_crate = at == 0
        && step.import.is_none()
        && step.all().any(|(res, _)| match res {
            Res::External(_) => true,
            // A library that goes away is spelled anew wherever it is named.
            Res::Module(module) => {
                let other =
                    world[module].parent.is_none() && world[module].krate != world[home].krate;
                other && !mapping.is_changed(module)
            }
            _ => false,
        });
    names_type && (step.glob || is_crate)
}
