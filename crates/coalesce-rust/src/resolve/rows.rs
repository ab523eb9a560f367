//! What the tables of a world say of each other: packages of crates, files of modules.

use coalesce_model::TreePath;

use rustc_hash::FxHashMap;

use super::{
    tree::id,
    world::{CrateId, FileId, ItemId, ModuleId, Reach, Res, SourceFile, Sym, World},
};
use crate::{discover::Package, facts::ItemKind};

impl World {
    /// The package of that number.
    pub(crate) fn package(&self, at: usize) -> &Package {
        let package = self.packages.get(at);
        package.expect("invariant: packages are named by their place in the table")
    }

    /// The package that a crate is a target of.
    pub(crate) fn package_of(&self, krate: CrateId) -> &Package {
        self.package(self[krate].package)
    }

    /// The macros of the tree that have a name.
    pub(crate) fn macros_named(&self, name: &str) -> &[ItemId] {
        let named = self.macros_by_name.get_or_init(|| {
            let mut found: FxHashMap<String, Vec<ItemId>> = FxHashMap::default();
            for (at, item) in self.items.iter().enumerate() {
                if item.kind == ItemKind::Macro {
                    let own = found.entry(item.name.clone()).or_default();
                    own.push(ItemId(id(at)));
                }
            }
            found
        });
        named.get(name).map_or(&[], Vec::as_slice)
    }

    /// Whether a glob of a module may bring a trait to others, whose methods may be called without its name.
    pub(crate) fn may_give_traits(&self, module: ModuleId) -> bool {
        let space = self.space(module);
        let brought = space.names.values().flatten();
        let mut brought = brought.filter(|binding| binding.reach == Reach::Public);
        space.opaque
            || brought.any(|binding| match binding.res {
                Res::Item(item) => self[item].kind == ItemKind::Trait,
                Res::External(_) => true,
                _ => false,
            })
    }

    /// The package that a path is in: the innermost one around it.
    pub(crate) fn package_around(&self, path: &TreePath) -> Option<&Package> {
        let around = self.packages.iter();
        let around = around.filter(|package| path.strip_prefix(&package.directory).is_some());
        around.max_by_key(|package| package.directory.as_str().len())
    }

    /// The manifest of a package.
    pub(crate) fn manifest_of(&self, package: usize) -> TreePath {
        let path = self.package(package).directory.join("Cargo.toml");
        path.expect("invariant: a plain name can be joined to any path")
    }

    /// The first file of a module; of one without a text, that of the nearest module around it.
    pub(crate) fn file_of(&self, module: ModuleId) -> &TreePath {
        let mut around = std::iter::successors(Some(module), |at| self[*at].parent);
        let body = around.find_map(|at| self.bodies_of(at).next());
        match body {
            Some(body) => &self[body.file].path,
            None => &self[self[module].krate].root_file,
        }
    }

    /// The `extern crate`s of a crate's root: what each names, and what that is bound as.
    pub(crate) fn declared_crates(&self, krate: CrateId) -> Vec<(&str, &str)> {
        let root = self[krate].root.map(|root| self.bodies_of(root));
        let bodies = root.into_iter().flatten();
        let declared = bodies.flat_map(|body| {
            let facts = self.facts(body.file);
            facts.extern_crates.iter().map(|one| {
                let bound = one.alias.unwrap_or(one.name);
                (facts.name(one.name.name), facts.name(bound.name))
            })
        });
        declared.collect()
    }

    /// Every source file.
    pub(crate) fn sources(&self) -> impl Iterator<Item = (FileId, &SourceFile)> + Clone {
        (0..).map(FileId).zip(&self.files)
    }

    /// Whether two names from outside are of one thing: the standard library shows one by several of its crates.
    pub(crate) fn are_one_outside(&self, one: Sym, other: Sym) -> bool {
        one == other || is_one_of_standard(self.names.as_str(one), self.names.as_str(other))
    }
}

/// Whether two full names are of one thing of the standard library, which several of its crates show.
pub(crate) fn is_one_of_standard(one: &str, other: &str) -> bool {
    let inside = |name: &str| -> Option<String> {
        let (first, rest) = name.split_once("::")?;
        matches!(first, "std" | "core" | "alloc").then(|| rest.to_owned())
    };
    inside(one).is_some_and(|rest| inside(other) == Some(rest))
}
