//! Every `impl` of a tree, with the type and the trait that its head leads to, read once; traits that are in scope.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::ByteSpan;
use rustc_hash::FxHashMap;

use super::{
    tree::id,
    uses::UseSite,
    world::{FileId, ItemId, ModuleId, Res, World},
};
use crate::facts::{Impl, ItemKind, SourceFacts};

/// An `impl`, once for each place of its text.
#[derive(Debug)]
pub(crate) struct ImplSite {
    /// The module that it stands in, as the first crate that loads the file sees it.
    pub module: ModuleId,
    pub file: FileId,
    pub span: ByteSpan,
    pub fact: Impl,
    /// The type of the tree that it is of, also where its head says that by an alias.
    pub of: Option<ItemId>,
    /// The trait of the tree that it implements.
    pub by: Option<ItemId>,
}

impl ImplSite {
    /// Whether it implements no trait at all.
    pub fn is_inherent(&self) -> bool {
        self.fact.trait_path.is_none()
    }

    /// The last name of the trait that it implements.
    pub fn trait_name<'w>(&self, world: &'w World) -> Option<&'w str> {
        let facts = world.facts(self.file);
        let path = facts.path(self.fact.trait_path?);
        let last = facts.segments(path.segments).last()?;
        Some(facts.name(last.name))
    }
}

/// Aliases of aliases that are followed.
const DEEPEST: usize = 8;

/// The places of blocks by their modules and headers.
pub(super) type ImplsByHeader = FxHashMap<ModuleId, FxHashMap<String, Vec<(FileId, ByteSpan)>>>;

/// The header of a block without generics; `None` where its type is no path.
fn header_of(facts: &SourceFacts, fact: &Impl) -> Option<String> {
    let last = |path: u32| {
        let path = facts.paths.get(path as usize)?;
        let last = facts.segments(path.segments).last()?;
        Some(facts.name(last.name))
    };
    let of = last(fact.self_path?)?;
    Some(match fact.trait_path {
        Some(path) => format!("impl {} for {of}", last(path)?),
        None => format!("impl {of}"),
    })
}

impl World {
    /// The trait of the tree that a name leads to.
    pub(crate) fn as_trait(&self, res: Res) -> Option<ItemId> {
        match res {
            Res::Item(item) if self[item].kind == ItemKind::Trait => Some(item),
            _ => None,
        }
    }

    /// The traits of the tree that a module has in scope by any name: their methods need none.
    pub(crate) fn traits_in_scope(&self, module: ModuleId) -> impl Iterator<Item = ItemId> {
        let bindings = self.space(module).names.values().flatten();
        bindings.filter_map(|binding| self.as_trait(binding.res))
    }

    /// All of them, by bodies of modules.
    pub(crate) fn impls(&self) -> &[ImplSite] {
        self.impls.get_or_init(|| self.read_impls())
    }

    /// Those of a type of the tree.
    pub(crate) fn impls_of(&self, of: ItemId) -> impl Iterator<Item = &ImplSite> {
        let all = self.impls();
        let by_type = self.impls_by_type.get_or_init(|| {
            let mut found: FxHashMap<ItemId, Vec<u32>> = FxHashMap::default();
            for (at, one) in all.iter().enumerate() {
                let known = one.of.map(|of| found.entry(of).or_default());
                known.into_iter().for_each(|known| known.push(id(at)));
            }
            found
        });
        let own = by_type.get(&of).into_iter().flatten();
        own.filter_map(|at| all.get(*at as usize))
    }

    fn read_impls(&self) -> Vec<ImplSite> {
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        let mut named: BTreeMap<FileId, BTreeMap<u32, ItemId>> = BTreeMap::new();
        for body in &self.bodies {
            let facts = self.facts(body.file);
            if facts.impls.is_empty() || !seen.insert((body.file, body.scope)) {
                continue;
            }
            let paths = named
                .entry(body.file)
                .or_insert_with(|| self.items_of_paths(body.file));
            let item = |path: Option<u32>| paths.get(&path?).map(|item| self.behind_alias(*item));
            let own = facts.impls.iter().filter(|fact| fact.scope == body.scope);
            found.extend(own.map(|fact| ImplSite {
                module: body.module,
                file: body.file,
                span: fact.span,
                of: item(fact.self_path),
                by: item(fact.trait_path),
                fact: *fact,
            }));
        }
        found
    }

    /// What an alias of a type of the tree stands for, aliases of aliases too; another item is that itself.
    pub(crate) fn behind_alias(&self, item: ItemId) -> ItemId {
        if self[item].kind != ItemKind::TypeAlias {
            return item;
        }
        let aliases = self.aliases.get_or_init(|| self.read_aliases());
        let steps = std::iter::successors(Some(item), |at| aliases.get(at).copied());
        steps.take(DEEPEST).last().unwrap_or(item)
    }

    fn read_aliases(&self) -> FxHashMap<ItemId, ItemId> {
        let mut found = FxHashMap::default();
        let mut paths: BTreeMap<FileId, BTreeMap<u32, ItemId>> = BTreeMap::new();
        for (at, node) in (0_u32..).zip(&self.items) {
            // Of several definitions, conditions choose one.
            let [(file, own)] = node.definitions.as_slice() else {
                continue;
            };
            if node.kind != ItemKind::TypeAlias {
                continue;
            }
            let aliases = &self.facts(*file).aliases;
            let path = aliases.iter().find(|(item, _)| item == own);
            let known = paths
                .entry(*file)
                .or_insert_with(|| self.items_of_paths(*file));
            let of = path.and_then(|(_, path)| known.get(path));
            found.extend(of.map(|of| (ItemId(at), *of)));
        }
        found
    }

    /// The blocks of a module with such a header, without generics: `impl Type` or `impl Trait for Type` by the
    /// last names of their paths.
    pub(crate) fn impls_headed(&self, module: ModuleId, header: &str) -> &[(FileId, ByteSpan)] {
        let by_header = self.impls_by_header.get_or_init(|| {
            let mut found: ImplsByHeader = FxHashMap::default();
            for one in self.impls() {
                if let Some(header) = header_of(self.facts(one.file), &one.fact) {
                    let of_module = found.entry(one.module).or_default();
                    let places = of_module.entry(header).or_default();
                    places.push((one.file, one.span));
                }
            }
            for places in found
                .values_mut()
                .flat_map(|of_module| of_module.values_mut())
            {
                places.sort();
                places.dedup();
            }
            found
        });
        let of_module = by_header.get(&module);
        let found = of_module.and_then(|of_module| of_module.get(header));
        found.map(Vec::as_slice).unwrap_or_default()
    }

    /// The items that paths of a file lead to, by path.
    fn items_of_paths(&self, file: FileId) -> BTreeMap<u32, ItemId> {
        let mut found = BTreeMap::new();
        self.visit_file(&self[file], &mut |_, site| {
            let UseSite::Path(path) = site.site else {
                return;
            };
            let last = site.trace.steps.last().into_iter();
            let item = last
                .flat_map(|last| last.all())
                .find_map(|(res, _)| match res {
                    Res::Item(item) => Some(item),
                    _ => None,
                });
            found.extend(item.map(|item| (path, item)));
        });
        found
    }
}
