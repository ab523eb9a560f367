//! Features under which a copy is compiled that gives way to one of another package: whoever turns one on for the
//! copy turns it on for what takes its place. Two texts may be one and do two things.

use coalesce_model::{ByteSpan, Unproven, UnprovenKind};

use super::{Crossing, Gate, named_features};
use crate::{
    resolve::{CrateId, FileId},
    rewrite::{items::moving::Set, mapping::Mapping, packages::Switch},
};

/// Asks for the features that items and modules which give way name. What becomes of those of whole libraries is written
/// with their manifests.
pub(super) fn ask_for_all(set: &Set<'_>, found: &mut Crossing) {
    let mapping = set.mapping;
    for chunk in set.chunks.iter().filter(|chunk| set.is_dropped(chunk)) {
        let moving = set.moving(chunk.moving);
        let crates = (mapping.krate(moving.home), moving.to.krate);
        ask(mapping, crates, (chunk.file, chunk.span), found);
    }
    for body in &mapping.world.bodies {
        let krate = mapping.krate(body.module);
        if mapping.is_replaced(body.module) && mapping.library_of(krate).is_none() {
            let span = mapping.world.facts(body.file).scope(body.scope).span;
            let crates = (krate, mapping.after(body.module).krate);
            ask(mapping, crates, (body.file, span), found);
        }
    }
}

/// Asks for the features that a text of one crate names where another crate has what takes its place.
fn ask(
    mapping: &Mapping<'_>,
    crates: (CrateId, CrateId),
    (file, span): (FileId, ByteSpan),
    found: &mut Crossing,
) {
    let path = &mapping.world[file].path;
    let text = mapping.texts.text(path).unwrap_or_default();
    let named = named_features(&text, span);
    // A gate reads two manifests, and few texts name a feature.
    if named.is_empty() {
        return;
    }
    let gate = Gate::new(mapping, crates);
    if gate.from == gate.to {
        return;
    }
    for (feature, at) in named {
        if !gate.own.contains(&feature) {
            continue;
        }
        if gate.known.contains(&feature) {
            found.wishes.replaced.insert(Switch {
                from: gate.from,
                to: gate.to,
                feature,
            });
            continue;
        }
        let why = format!(
            "what takes the place of this stands in `{}`, which has no such feature: nobody can turn on there what \
             this does with it",
            gate.name
        );
        found.unproven.push(Unproven {
            path: path.clone(),
            span: Some(at),
            kind: UnprovenKind::Condition,
            name: feature,
            why,
        });
    }
}
