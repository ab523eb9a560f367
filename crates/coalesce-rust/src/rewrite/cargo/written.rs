//! Packages that procedural macros name in what they write: who gets the macros needs these as well, and no path
//! in the tree says so.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{Unproven, UnprovenKind};

use super::{Gets, Wanted, Wish, is_macro_package, sources, unneeded::is_of};
use crate::{discover::DependencyKind, rewrite::mapping::Mapping};

/// Macros that come to a package without one that their sources name, and that is there where the code comes from.
pub(super) fn unproven(mapping: &Mapping<'_>, wishes: &BTreeMap<Gets, Wish>) -> Vec<Unproven> {
    let world = mapping.world;
    let mut found = Vec::new();
    for gets in wishes.keys() {
        let Wanted::Tree { package } = gets.wanted else {
            continue;
        };
        if !is_macro_package(world, mapping.texts, package) {
            continue;
        }
        let name = &world.package(package).name;
        let lacking = lacking(mapping, gets.package, wishes).into_iter();
        found.extend(lacking.filter(|other| names(mapping, package, other)).map(|other| Unproven {
            path: world.manifest_of(gets.package),
            span: None,
            kind: UnprovenKind::ProceduralMacro,
            name: name.clone(),
            why: format!("what `{name}` writes may name `{other}`, which is there where the code comes from, and not here"),
        }));
    }
    found
}

/// What the packages that the code comes from depend on, and the one that it comes to does not.
fn lacking<'m>(
    mapping: &Mapping<'m>,
    to: usize,
    wishes: &BTreeMap<Gets, Wish>,
) -> BTreeSet<&'m str> {
    let world = mapping.world;
    let normal = |package: usize| {
        let all = world.package(package).dependencies.iter();
        all.filter(|known| known.kind == DependencyKind::Normal)
            .map(|known| known.name.as_str())
    };
    let mut lacking: BTreeSet<&str> = sources(mapping).into_iter().flat_map(normal).collect();
    for has in normal(to) {
        lacking.remove(has);
    }
    for gets in wishes.keys().filter(|gets| gets.package == to) {
        let name = match &gets.wanted {
            Wanted::Tree { package } => &world.package(*package).name.replace('-', "_"),
            Wanted::Outside { name, .. } => name,
        };
        lacking.remove(name.as_str());
    }
    lacking
}

/// Whether the sources of a package say a name, in code or in text.
fn names(mapping: &Mapping<'_>, package: usize, name: &str) -> bool {
    let world = mapping.world;
    let package = world.package(package);
    let files = world.files.iter();
    let mut own = files.filter(|file| is_of(world, package, &file.path));
    own.any(|file| {
        let text = mapping.texts.text(&file.path);
        text.is_none_or(|text| {
            let is_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
            text.split(|letter| !is_of_name(letter))
                .any(|word| word == name)
        })
    })
}
