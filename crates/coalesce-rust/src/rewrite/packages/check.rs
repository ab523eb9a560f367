//! What makes a library one that cannot become a part of another package.

use std::collections::BTreeSet;

use coalesce_cargo::package::{Tie, is_published, ties};
use coalesce_model::{Finding, TreePath};

use super::{
    super::{
        cargo::is_macro_package,
        mapping::{Library, Mapping, refusal},
    },
    Packages,
};
use crate::{
    discover::{Edition, Package, TargetKind},
    facts::ItemKind,
    resolve::CrateId,
};

/// Refuses a library, with every reason.
pub(super) fn library(mapping: &Mapping<'_>, library: &Library, made: &mut Packages) {
    let world = mapping.world;
    let krate = &world[library.krate];
    let package = world.package(library.package);
    let path = world.manifest_of(library.package);
    let mut reasons = Vec::new();
    if krate.kind != TargetKind::Lib {
        let reason = format!("`{}` is no library: only those go as a whole", krate.name);
        made.refusals.push(refusal(path, reason));
        return;
    }
    if library.package == library.target {
        return;
    }
    let moves = !mapping.is_replaced(library.module);
    reasons.extend(kind(mapping, library, package));
    reasons.extend(twice(mapping, library));
    if moves {
        reasons.extend(edition(mapping, library));
        reasons.extend(macros(mapping, library));
    }
    let text = mapping.texts.text(&path);
    reasons.extend(text.iter().flat_map(|text| said(text, moves)));
    if is_published(mapping.texts, &package.directory) {
        made.notes.push(published(mapping, library, package, &path));
    }
    let refusals = reasons.into_iter();
    let refusals = refusals.map(|reason| refusal(path.clone(), reason));
    made.refusals.extend(refusals);
}

/// Macro packages and programs.
fn kind(mapping: &Mapping<'_>, library: &Library, package: &Package) -> Vec<String> {
    let mut reasons = Vec::new();
    for at in [library.package, library.target] {
        if is_macro_package(mapping.world, mapping.texts, at) {
            reasons.push(format!(
                "`{}` is a library of procedural macros, which has to stay by itself",
                mapping.world.package(at).name
            ));
        }
    }
    reasons.extend(program(package));
    let script = |at: usize| {
        let mut targets = mapping.world.package(at).targets.iter();
        targets.any(|target| target.kind == TargetKind::BuildScript)
    };
    if script(library.package) && script(library.target) && !mapping.is_replaced(library.module) {
        reasons.push(format!(
            "`{}` has a build script, and so has the package that it would go to",
            package.name
        ));
    }
    reasons
}

fn program(package: &Package) -> Option<String> {
    let targets = package.targets.iter();
    let programs: Vec<&str> = targets
        .filter(|target| target.kind == TargetKind::Bin)
        .map(|target| target.name.as_str())
        .collect();
    (!programs.is_empty()).then(|| {
        format!(
            "`{}` has a program, `{}`: move its modules one by one, or the program first",
            package.name,
            programs.join("`, `")
        )
    })
}

/// Two libraries in one chain of changes.
fn twice(mapping: &Mapping<'_>, library: &Library) -> Option<String> {
    let chained = mapping
        .libraries
        .iter()
        .any(|other| other.package == library.target);
    chained.then(|| "what it would go to goes away as well: name the last one".to_owned())
}

fn edition(mapping: &Mapping<'_>, library: &Library) -> Option<String> {
    let place = mapping.after(library.module);
    let edition = |krate: CrateId| {
        let found = &mapping.world[krate];
        found.edition
    };
    let (old, new) = (edition(library.krate), edition(place.krate));
    if old != new {
        return Some(format!(
            "it is written in edition {}, and would be read in edition {}: `cargo fix --edition` brings the older crate up",
            old.year(),
            new.year()
        ));
    }
    (old == Edition::E2015)
        .then(|| "in edition 2015, paths start at the root that it would lose".to_owned())
}

/// Macros that both libraries export.
fn macros(mapping: &Mapping<'_>, library: &Library) -> Option<String> {
    let place = mapping.after(library.module);
    let (own, other) = (
        exported(mapping, library.krate),
        exported(mapping, place.krate),
    );
    let both: Vec<&str> = own.intersection(&other).map(String::as_str).collect();
    (!both.is_empty()).then(|| {
        format!(
            "both libraries export `{}!`, and a library has one macro of a name",
            both.join("!`, `")
        )
    })
}

/// The macros that a library exports.
pub(super) fn exported(mapping: &Mapping<'_>, krate: CrateId) -> BTreeSet<String> {
    let world = mapping.world;
    let mut found = BTreeSet::new();
    for item in &world.items {
        let own = item.kind == ItemKind::Macro && mapping.krate(item.module) == krate;
        if !own {
            continue;
        }
        let exported = item.definitions.iter().any(|(file, at)| {
            let facts = world.facts(*file);
            let item = facts.item(*at);
            item.exported
        });
        if exported {
            found.insert(item.name.clone());
        }
    }
    found
}

/// What the manifest itself says that stands in the way.
fn said(text: &str, moves: bool) -> Vec<String> {
    let Ok(ties) = ties(text) else {
        return vec!["its manifest does not parse".to_owned()];
    };
    let reason = |tie: Tie| match tie {
        Tie::Links => moves.then(|| "it says `links`, which is a package's own".to_owned()),
        Tie::Workspace => Some("it is the root of the workspace".to_owned()),
        Tie::CrateType(kind) => Some(format!("it is built as a `{kind}` by its own name")),
    };
    ties.into_iter().filter_map(reason).collect()
}

fn published(
    mapping: &Mapping<'_>,
    library: &Library,
    package: &Package,
    path: &TreePath,
) -> Finding {
    let shim = mapping
        .changes
        .get(library.change)
        .is_some_and(|change| change.shim.is_some());
    let message = if shim {
        format!(
            "`{}` may be published: publish the package that takes over first, then the shim",
            package.name
        )
    } else {
        format!(
            "`{}` may be published: who has it from elsewhere stays with its last release",
            package.name
        )
    };
    Finding::note(path.clone(), message)
        .with_help((!shim).then(|| "`shim = true` leaves a package that forwards".to_owned()))
}
