//! Imports of macros that are seen by where they stand as well: the compiler takes those, and warns of the import.

use std::collections::BTreeMap;

use coalesce_model::{ByteSpan, Unproven};
use rustc_hash::FxHashSet;

use super::{Tree, UNUSED_IMPORTS, Warning, said_anew};
use crate::{
    facts::{ItemKind, Namespaces, Origin, SourceFacts, UseLeaf, VisibilityKind},
    resolve::{BodyId, FileId, Found, ItemId, ModuleId, Res, Site, UseSite, World},
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
    let new = idle_anew(before.world, after.world).into_iter();
    let told = new.filter_map(|(name, one)| SEEN_ANYWAY.told(after, (one.file, one.span), &name));
    told.collect()
}

/// The leaves of those that certainly serve nobody: other files of the module, or of modules below, may go through one.
pub(crate) fn idle_macro_leaves(before: &World, after: &World) -> Vec<(FileId, u32)> {
    let new = idle_anew(before, after).into_iter();
    let alone = new.filter(|(_, one)| stands_in_one_file(after, one.module, one.file));
    alone.map(|(_, one)| (one.file, one.leaf)).collect()
}

/// Whether a module and all below it stand in one file.
fn stands_in_one_file(world: &World, module: ModuleId, file: FileId) -> bool {
    let own = &world[module].bodies;
    let elsewhere = |body: &BodyId| world[*body].file != file;
    !own.iter().any(elsewhere)
        && world[module]
            .children
            .iter()
            .all(|below| stands_in_one_file(world, *below, file))
}

fn idle_anew(before: &World, after: &World) -> Vec<(String, IdleImport)> {
    let now = idle(after);
    if now.is_empty() {
        return Vec::new();
    }
    let then = idle(before);
    let new = said_anew(&now, &then).into_iter();
    new.map(|(name, one)| (name.to_owned(), *one)).collect()
}

/// An import that nobody needs.
#[derive(Clone, Copy)]
struct IdleImport {
    module: ModuleId,
    file: FileId,
    leaf: u32,
    span: ByteSpan,
}

fn idle(world: &World) -> BTreeMap<Key, IdleImport> {
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
            UseSite::Leaf(_) => read.path_through(file, &site),
            _ => read.path(world, file, &site),
        });
        found.extend(read.idle(file));
    }
    found
}

/// The imports of macros in a file that are seen without them, and what needs them all the same.
#[derive(Default)]
struct MacroImports {
    imports: Vec<MacroImport>,
    /// Imports that paths go through: `self::name!` needs one.
    by_path: FxHashSet<u32>,
    /// Macros that are called where they are seen.
    called_seen: FxHashSet<ItemId>,
    /// Macros that are called where they are not seen, as above their definitions, or where nobody can tell.
    called_unseen: FxHashSet<ItemId>,
}

/// An import of a macro.
struct MacroImport {
    module: ModuleId,
    leaf: u32,
    item: ItemId,
    key: Key,
    span: ByteSpan,
    /// Whether the macro is seen where it stands.
    is_seen: bool,
}

impl MacroImports {
    fn import(&mut self, world: &World, (file, leaf): (FileId, u32), site: &Site<'_>) {
        let span = world.facts(file).leaf(leaf).span;
        let last = site.trace.steps.last().into_iter();
        // A module of that name comes along; paths go through it, or nobody needs it.
        let mut led = last
            .flat_map(Found::all)
            .filter(|(res, _)| !matches!(res, Res::Module(_)));
        let (Some((Res::Item(item), Namespaces::MACRO)), None) = (led.next(), led.next()) else {
            return;
        };
        let module = world.module_of(site.space);
        let at = span.start;
        self.imports.push(MacroImport {
            module,
            leaf,
            item,
            key: (world[module].canonical.clone(), world[item].name.clone()),
            span,
            is_seen: is_in_scope(world, item, Anchor { module, file, at }),
        });
    }

    fn path_through(&mut self, file: FileId, site: &Site<'_>) {
        let steps = site.trace.steps.iter().filter_map(|step| step.import);
        let own = steps.filter(|(of, _)| *of == file).map(|(_, leaf)| leaf);
        self.by_path.extend(own);
    }

    fn path(&mut self, world: &World, file: FileId, site: &Site<'_>) {
        if site.segments.len() > 1 {
            return self.path_through(file, site);
        }
        // What the body of a macro calls is called somewhere else.
        let is_seen = site.origin != Origin::MacroBody && is_macro_in_scope(world, file, site);
        let all = site.trace.steps.iter().flat_map(|step| step.all());
        let macros = all.filter_map(|(res, _)| match res {
            Res::Item(item) if world[item].kind == ItemKind::Macro => Some(item),
            _ => None,
        });
        match is_seen {
            true => self.called_seen.extend(macros),
            false => self.called_unseen.extend(macros),
        }
    }

    fn idle(self, file: FileId) -> impl Iterator<Item = (Key, IdleImport)> {
        let Self {
            imports,
            by_path,
            called_seen,
            called_unseen,
        } = self;
        let idle = imports.into_iter().filter(move |one| {
            let is_seen = one.is_seen || called_seen.contains(&one.item);
            is_seen && !by_path.contains(&one.leaf) && !called_unseen.contains(&one.item)
        });
        idle.map(
            move |MacroImport {
                      module,
                      leaf,
                      key,
                      span,
                      ..
                  }| {
                (
                    key,
                    IdleImport {
                        module,
                        file,
                        leaf,
                        span,
                    },
                )
            },
        )
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
