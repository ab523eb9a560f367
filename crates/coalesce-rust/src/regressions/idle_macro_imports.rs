//! Imports of macros that are seen by where they stand as well: the compiler takes those, and warns of the import.

use std::collections::BTreeMap;

use coalesce_model::{ByteSpan, Unproven};
use rustc_hash::FxHashSet;

use super::{Tree, UNUSED_IMPORTS, Warning, said_anew};
use crate::{
    facts::{ItemKind, Namespaces, Origin, SourceFacts, UseLeaf, VisibilityKind},
    resolve::{FileId, ItemId, Res, Site, UseSite, World},
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
        let is_candidate = |leaf: &UseLeaf| is_private_by_own_name(facts, leaf, &macros);
        if !facts.leaves.iter().any(is_candidate) {
            continue;
        }
        let mut read = MacroImports::default();
        world.visit_file(source, &mut |facts, site| match site.site {
            UseSite::Leaf(leaf) if is_private_by_own_name(facts, facts.leaf(leaf), &macros) => {
                read.import(world, (file, leaf), &site);
            }
            UseSite::Leaf(_) => {}
            _ => read.path(world, file, &site),
        });
        found.extend(read.idle(file));
    }
    found
}

/// The imports of macros in a file that are seen without them, and what needs them all the same.
#[derive(Default)]
struct MacroImports {
    imports: Vec<(u32, ItemId, Key, ByteSpan)>,
    /// Imports that paths go through: `self::name!` needs one.
    by_path: FxHashSet<u32>,
    /// Macros that are called where they are not seen, as above their definitions.
    called_unseen: FxHashSet<ItemId>,
}

impl MacroImports {
    fn import(&mut self, world: &World, (file, leaf): (FileId, u32), site: &Site<'_>) {
        let span = world.facts(file).leaf(leaf).span;
        let last = site.trace.steps.last();
        let last = last.map(|step| step.all().collect::<Vec<_>>());
        let [(Res::Item(item), Namespaces::MACRO)] = last.as_deref().unwrap_or_default() else {
            return;
        };
        let module = world.module_of(site.space);
        let at = span.start;
        if is_in_scope(world, *item, Anchor { module, file, at }) {
            let key = (world[module].canonical.clone(), world[*item].name.clone());
            self.imports.push((leaf, *item, key, span));
        }
    }

    fn path(&mut self, world: &World, file: FileId, site: &Site<'_>) {
        if site.segments.len() > 1 {
            let steps = site.trace.steps.iter().filter_map(|step| step.import);
            let own = steps.filter(|(of, _)| *of == file).map(|(_, leaf)| leaf);
            self.by_path.extend(own);
            return;
        }
        if is_macro_in_scope(world, file, site) {
            return;
        }
        let all = site.trace.steps.iter().flat_map(|step| step.all());
        self.called_unseen
            .extend(all.filter_map(|(res, _)| match res {
                Res::Item(item) if world[item].kind == ItemKind::Macro => Some(item),
                _ => None,
            }));
    }

    fn idle(self, file: FileId) -> impl Iterator<Item = (Key, (FileId, ByteSpan))> {
        let Self {
            imports,
            by_path,
            called_unseen,
        } = self;
        let idle = imports.into_iter().filter(move |(leaf, item, ..)| {
            !by_path.contains(leaf) && !called_unseen.contains(item)
        });
        idle.map(move |(_, _, key, span)| (key, (file, span)))
    }
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
