//! Paths that lead through re-exports: where one goes, and by which one others can name an item.
//!
//! Nothing is spelled here for a particular crate; a path starts below the root of the library that
//! gives it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rustc_hash::FxHashMap;

use crate::facts::Namespaces;

use super::{
    FileId, ItemId, ModuleId, UseSite, World,
    world::{Binding, Reach, Res, Space, SpaceKind},
};

/// Modules in modules are followed no further when public paths are looked for.
const DEEPEST: usize = 8;

impl World {
    /// Whether a `pub use` brings the item somewhere.
    pub(crate) fn is_reexported(&self, item: ItemId) -> bool {
        !self.modules_with(item).is_empty()
    }

    /// What a `pub use` brings, with where.
    fn public_imports(&self) -> impl Iterator<Item = (&Space, &Binding)> {
        self.spaces.iter().flat_map(|space| {
            let bindings = space.names.values().flatten();
            let imported = bindings.filter(|one| one.import.is_some());
            let public = imported.filter(|one| one.reach == Reach::Public);
            public.map(move |one| (space, one))
        })
    }

    /// The modules to which a `pub use` brings an item.
    pub(crate) fn modules_with(&self, item: ItemId) -> &[ModuleId] {
        let reexported = self.reexported.get_or_init(|| {
            let mut found: FxHashMap<ItemId, Vec<ModuleId>> = FxHashMap::default();
            for (space, one) in self.public_imports() {
                if let Res::Item(item) = one.res {
                    found.entry(item).or_default().push(space.module);
                }
            }
            found
        });
        reexported.get(&item).map_or(&[], Vec::as_slice)
    }

    /// Whether what a module has by a name is imports of another module by its own path, and nothing else. An import that
    /// some other modules may use and not all is none: who has the module by it is not looked for.
    pub(crate) fn imports_only(&self, name: &str, of: &str) -> bool {
        let Some((outer, last)) = name.rsplit_once("::") else {
            return false;
        };
        let outer = self.modules_named(outer).into_iter();
        let bindings: Vec<(ModuleId, &Binding)> = outer
            .flat_map(|outer| {
                let bindings = self.bindings(outer, last);
                bindings.iter().map(move |one| (outer, one))
            })
            .filter(|(_, one)| !one.glob)
            .collect();
        let is_import = |(outer, one): &(ModuleId, &Binding)| {
            let leads = matches!(one.res, Res::Module(module) if self[module].canonical == of);
            let plain = one.reach == Reach::Public || one.reach == Reach::Within(*outer);
            leads && plain && one.import.is_some_and(|import| self.names_directly(import))
        };
        !bindings.is_empty() && bindings.iter().all(is_import)
    }

    /// Whether no other import is on the way of an import.
    fn names_directly(&self, (file, leaf): (FileId, u32)) -> bool {
        let mut direct = true;
        self.visit_file(&self[file], &mut |_, site| {
            if site.site == UseSite::Leaf(leaf) {
                direct &= site.trace.steps.iter().all(|step| step.import.is_none());
            }
        });
        direct
    }

    /// The modules that show another one by a `pub use`, with the name that it has there.
    pub(crate) fn reexporters(&self, module: ModuleId) -> &[(ModuleId, Binding)] {
        let reexporters = self.reexporters.get_or_init(|| {
            let mut found: FxHashMap<ModuleId, Vec<(ModuleId, Binding)>> = FxHashMap::default();
            let imports = self.public_imports();
            for (space, binding) in imports.filter(|(space, _)| space.kind == SpaceKind::Module) {
                if let Res::Module(shown) = binding.res {
                    let shown = found.entry(shown).or_default();
                    shown.push((space.module, *binding));
                }
            }
            found
        });
        let found = reexporters.get(&module);
        found.map(Vec::as_slice).unwrap_or_default()
    }

    /// What a path below a module leads to, in every namespace: its modules, what it imports, and the
    /// libraries that it gives on.
    pub(crate) fn below(&self, module: ModuleId, path: &str) -> Vec<Res> {
        let mut names = path.split("::").peekable();
        let mut at = module;
        while let Some(name) = names.next() {
            let found = self.named_in(at, name);
            if names.peek().is_none() {
                return found.iter().map(|binding| binding.res).collect();
            }
            let next = found.iter().find_map(|binding| match binding.res {
                Res::Module(module) => Some(module),
                _ => None,
            });
            match next {
                Some(next) => at = next,
                None => return Vec::new(),
            }
        }
        Vec::new()
    }

    /// What a full name leads to, that of a library first, re-exports followed.
    pub(crate) fn leads_to(&self, name: &str) -> Vec<Res> {
        let Some((krate, rest)) = name.split_once("::") else {
            return Vec::new();
        };
        let roots = self.modules_named(krate);
        let found = roots.into_iter().map(|root| self.below(root, rest));
        found.flatten().collect()
    }

    /// The full name of what a path leads to that stands in a module, or, without one, begins with a library. `None` where
    /// that is not one thing of the tree, or a glob brings what it begins with.
    pub(crate) fn meant(&self, module: &str, path: &[String]) -> Option<String> {
        let (first, rest) = path.split_first()?;
        if module.is_empty() {
            let root = only(self.modules_named(first))?;
            return self.full_name_below(root, rest);
        }
        if matches!(first.as_str(), "crate" | "self" | "super") {
            let own: Vec<String> = module.split("::").map(str::to_owned).collect();
            return self.meant("", &crate::grammar::absolute(path, &own, &[]));
        }
        let place = only(self.modules_named(module))?;
        let bindings = self.bindings(place, first);
        let library = self.library_seen_as(place, first);
        let library = library.filter(|_| !rest.is_empty());
        if bindings.is_empty() {
            return self.full_name_below(library?, rest);
        }
        // Whether a path of an import begins with `::` is not told here.
        let other = |binding: &Binding| {
            binding.glob || library.is_some_and(|root| binding.res != Res::Module(root))
        };
        let is_one = !bindings.iter().any(other);
        is_one.then(|| self.full_name_below(place, path)).flatten()
    }

    /// The root of the library of the tree that a module can name so; `None` where another one may be meant.
    fn library_seen_as(&self, module: ModuleId, name: &str) -> Option<ModuleId> {
        let externs = self[self[module].krate].externs.iter();
        let named = externs.filter(|(known, _)| known == name);
        let krate = only(named.map(|(_, krate)| *krate).collect())??;
        self[krate].root
    }

    /// The full name of what a path below a module leads to.
    fn full_name_below(&self, root: ModuleId, path: &[String]) -> Option<String> {
        let (mut at, mut rest) = (root, path);
        while let Some((name, behind)) = rest.split_first() {
            let wanted = match behind {
                [] => Namespaces::ALL,
                _ => Namespaces::TYPE,
            };
            let bindings = self.bindings(at, name).iter();
            let found: Vec<Res> = bindings
                .filter(|binding| binding.namespaces.meets(wanted))
                .map(|binding| binding.res)
                .collect();
            let names: BTreeSet<String> = found
                .iter()
                .map(|res| self.name_of(&self.target(*res)))
                .collect();
            let mut full = only(names.into_iter().collect())?;
            match found.first()? {
                Res::Module(module) => (at, rest) = (*module, behind),
                Res::External(_) => return None,
                _ => {
                    for segment in behind {
                        full.push_str("::");
                        full.push_str(segment);
                    }
                    return Some(full);
                }
            }
        }
        Some(self[at].canonical.clone())
    }

    fn named_in(&self, module: ModuleId, name: &str) -> &[Binding] {
        self.bindings(module, name)
    }

    /// The shortest path below a library's root by which others can name each item, of several the
    /// first by alphabet.
    pub(crate) fn public_paths(&self, root: ModuleId) -> BTreeMap<ItemId, Vec<String>> {
        let mut paths = BTreeMap::new();
        let mut seen = BTreeSet::from([root]);
        let mut waiting = VecDeque::from([(root, Vec::new())]);
        while let Some((module, path)) = waiting.pop_front() {
            for (name, res) in self.public_names(module) {
                let mut path: Vec<String> = path.clone();
                path.push(name);
                match res {
                    Res::Item(item) => drop(paths.entry(item).or_insert(path)),
                    Res::Module(module) if path.len() < DEEPEST && seen.insert(module) => {
                        waiting.push_back((module, path));
                    }
                    _ => {}
                }
            }
        }
        paths
    }

    /// The names that everybody sees in a module, by alphabet.
    fn public_names(&self, module: ModuleId) -> Vec<(String, Res)> {
        let names = self.space(module).names.iter();
        let mut found: Vec<(String, Res)> = names
            .flat_map(|(sym, bindings)| bindings.iter().map(move |binding| (*sym, binding)))
            .filter(|(_, binding)| binding.reach == Reach::Public)
            .map(|(sym, binding)| (self.names.as_str(sym).to_owned(), binding.res))
            .collect();
        found.sort();
        found
    }
}

/// The only one of a list; `None` of none and of several.
fn only<T>(list: Vec<T>) -> Option<T> {
    let mut list = list.into_iter();
    list.next().filter(|_| list.next().is_none())
}
