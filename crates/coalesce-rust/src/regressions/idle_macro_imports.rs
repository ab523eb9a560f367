//! Imports of macros that are seen by where they stand as well: the compiler takes those, and warns of the import.

use std::collections::BTreeMap;

use coalesce_model::{ByteSpan, Unproven};
use rustc_hash::FxHashSet;

use super::{Tree, UNUSED_IMPORTS, Warning, said_anew};
use crate::{
    facts::{ItemKind, Namespaces, Origin, SourceFacts, UseLeaf, VisibilityKind},
    resolve::{FileId, Res, Site, SourceFile, UseSite, World},
    rewrite::{Anchor, is_in_scope},
};

/// The module with an import, and the macro that it is of.
type Key = (String, String);

const SEEN_ANYWAY: Warning = Warning {
    lints: UNUSED_IMPORTS,
    why: "the macro is seen here without this import, by where it stands, and the compiler warns of the import",
};

/// Such imports that the tree before has not.
pub(crate) fn idle_macro_imports(before: Tree<'_>, after: Tree<'_>) -> Vec<Unproven> {
    let now = idle(after.world);
    if now.is_empty() {
        return Vec::new();
    }
    let then = idle(before.world);
    let new = said_anew(&now, &then).into_iter();
    new.filter_map(|(name, place)| SEEN_ANYWAY.told(after, *place, name))
        .collect()
}

fn idle(world: &World) -> BTreeMap<Key, (FileId, ByteSpan)> {
    let macros = world
        .items
        .iter()
        .filter(|item| item.kind == ItemKind::Macro);
    let macros: FxHashSet<&str> = macros.map(|item| item.name.as_str()).collect();
    let mut found = BTreeMap::new();
    for (file, source) in world.sources() {
        let facts = world.facts(file);
        // Few files import a macro.
        let mut leaves = facts.leaves.iter();
        if leaves.any(|leaf| is_private_by_own_name(facts, leaf, &macros)) {
            let imports = imports_in(world, file, source, &macros).into_iter();
            found.extend(imports.map(|(key, span)| (key, (file, span))));
        }
    }
    found
}

/// The imports of a file that it needs for no path: `self::name!` needs the import.
fn imports_in(
    world: &World,
    file: FileId,
    source: &SourceFile,
    macros: &FxHashSet<&str>,
) -> Vec<(Key, ByteSpan)> {
    let mut by_path: FxHashSet<u32> = FxHashSet::default();
    let mut imports = Vec::new();
    world.visit_file(source, &mut |facts, site| {
        if let UseSite::Leaf(leaf) = site.site {
            let import = seen_anyway(world, (file, leaf), facts, &site, macros);
            imports.extend(import.map(|key| (leaf, key, facts.leaf(leaf).span)));
        } else if site.segments.len() > 1 {
            let steps = site.trace.steps.iter().filter_map(|step| step.import);
            by_path.extend(steps.filter(|(of, _)| *of == file).map(|(_, leaf)| leaf));
        }
    });
    imports.retain(|(leaf, ..)| !by_path.contains(leaf));
    let imports = imports.into_iter();
    imports.map(|(_, key, span)| (key, span)).collect()
}

/// The key of a private import of a macro that is in scope there by where it stands.
fn seen_anyway(
    world: &World,
    (file, leaf): (FileId, u32),
    facts: &SourceFacts,
    site: &Site<'_>,
    macros: &FxHashSet<&str>,
) -> Option<Key> {
    let last = site.trace.steps.last()?.all().collect::<Vec<_>>();
    let [(Res::Item(item), Namespaces::MACRO)] = last.as_slice() else {
        return None;
    };
    let leaf = facts.leaf(leaf);
    let module = world.module_of(site.space);
    let place = Anchor {
        module,
        file,
        at: leaf.span.start,
    };
    let is_private = is_private_by_own_name(facts, leaf, macros);
    (is_private && is_in_scope(world, *item, place))
        .then(|| (world[module].canonical.clone(), world[*item].name.clone()))
}

/// Whether a private import, of a module or a block, brings something called like a macro by that name.
fn is_private_by_own_name(facts: &SourceFacts, leaf: &UseLeaf, macros: &FxHashSet<&str>) -> bool {
    let declaration = facts.declaration(leaf.declaration);
    let is_private = matches!(
        declaration.visibility.kind,
        VisibilityKind::Private | VisibilityKind::SelfModule
    );
    let own = facts.segments(leaf.segments).last();
    let own = own
        .map(|own| facts.name(own.name))
        .filter(|own| macros.contains(own));
    let is_renamed = leaf
        .alias
        .is_some_and(|alias| Some(facts.name(alias.name)) != own);
    is_private && declaration.origin == Origin::Code && own.is_some() && !is_renamed
}

/// Whether a path is a macro's plain name, and that macro is seen there by where it stands.
pub(super) fn is_macro_in_scope(world: &World, file: FileId, site: &Site<'_>) -> bool {
    let [name] = site.segments else {
        return false;
    };
    let mut all = site.trace.steps.iter().flat_map(|step| step.all());
    all.any(|(res, _)| match res {
        Res::Item(item) if world[item].kind == ItemKind::Macro => {
            let module = world.module_of(site.space);
            let at = name.span.start;
            is_in_scope(world, item, Anchor { module, file, at })
        }
        _ => false,
    })
}
