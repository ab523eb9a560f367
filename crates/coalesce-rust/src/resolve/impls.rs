//! Every `impl` of a tree, with the type and the trait that its head leads to. Read once.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::ByteSpan;

use super::{
    uses::UseSite,
    world::{FileId, ItemId, ModuleId, Res, World},
};
use crate::facts::Impl;

/// An `impl`, once for each place of its text.
#[derive(Debug)]
pub(crate) struct ImplSite {
    /// The module that it stands in, as the first crate that loads the file sees it.
    pub module: ModuleId,
    pub file: FileId,
    pub span: ByteSpan,
    pub fact: Impl,
    /// The type of the tree that it is of.
    pub of: Option<ItemId>,
    /// The trait of the tree that it implements.
    pub by: Option<ItemId>,
}

impl ImplSite {
    /// Whether it implements no trait at all.
    pub fn is_inherent(&self) -> bool {
        self.fact.trait_path.is_none()
    }
}

impl World {
    /// All of them, by bodies of modules.
    pub(crate) fn impls(&self) -> &[ImplSite] {
        self.impls.get_or_init(|| self.read_impls())
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
            let item = |path: Option<u32>| paths.get(&path?).copied();
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
