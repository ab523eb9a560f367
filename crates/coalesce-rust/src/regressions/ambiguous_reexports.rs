//! Names that two public globs of a module bring, of two things: others have neither by them, and the compiler warns.

use std::collections::BTreeMap;

use coalesce_model::Unproven;

use super::{
    LintPlace, LintPlaces,
    hidden_names::{GlobTarget, PublicGlob, TreeWithGlobs},
    linted_anew,
};
use crate::{
    facts::Namespaces,
    resolve::{ModuleId, Reach, Res, World},
};

/// What the tree has of it that the one before has not.
pub(crate) fn ambiguous_reexports(
    before: &TreeWithGlobs<'_>,
    after: &TreeWithGlobs<'_>,
) -> Vec<Unproven> {
    linted_anew(
        after.tree,
        (&ambiguous(after), &|| ambiguous(before)),
        ("ambiguous_glob_reexports", &|name, _| {
            format!(
                "this public glob and another one of its module come to bring `{name}`, of two things: the compiler \
                 warns of that"
            )
        }),
    )
}

/// By module and name, the glob that brings it as another one does.
fn ambiguous(of: &TreeWithGlobs<'_>) -> LintPlaces {
    let (world, globs) = (of.tree.world, &of.globs);
    let mut found = BTreeMap::new();
    for (here, own) in globs.of_modules().filter(|(_, own)| own.len() > 1) {
        note_ambiguous(world, here, own, &mut found);
    }
    found
}

/// Notes the names of a module that two of its globs bring as different things.
fn note_ambiguous(world: &World, here: ModuleId, own: &[PublicGlob], found: &mut LintPlaces) {
    let mut brought: BTreeMap<String, Vec<(Res, Namespaces)>> = BTreeMap::new();
    let names = own.iter().flat_map(|glob| {
        let names = names_of(world, glob.target).into_iter();
        names.map(move |named| (glob, named))
    });
    for (glob, (name, res, namespaces)) in names {
        let known = brought.entry(name.clone()).or_default();
        let differs = |(other, of): &(Res, Namespaces)| *other != res && of.meets(namespaces);
        if known.iter().any(differs) && !is_defined(world, here, &name) {
            let key = (world[here].canonical.clone(), name);
            let (file, span) = glob.place;
            let said = String::new();
            found.entry(key).or_insert(LintPlace { file, span, said });
        } else if !known.contains(&(res, namespaces)) {
            known.push((res, namespaces));
        }
    }
}

/// Whether a module has a name by more than globs: that is what others have.
fn is_defined(world: &World, module: ModuleId, name: &str) -> bool {
    world.bindings(module, name).iter().any(|one| !one.glob)
}

/// The public names of what a glob is of.
fn names_of(world: &World, target: GlobTarget) -> Vec<(String, Res, Namespaces)> {
    let mut found = Vec::new();
    if let GlobTarget::Module(module) = target {
        for (name, bindings) in world.space(module).names.iter() {
            let public = bindings.iter().filter(|one| one.reach == Reach::Public);
            let name = world.names.as_str(*name);
            found.extend(public.map(|one| (name.to_owned(), one.res, one.namespaces)));
        }
    }
    found.sort_by(|one, other| one.0.cmp(&other.0));
    found
}
