//! What a name is that no file of the tree has: outside of it, made by a build, or missing.

use std::sync::Arc;

use coalesce_model::{Module, TreePath, manifest::nearest};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Entity, PythonGraph};
use crate::{facts::PythonFacts, names::is_or_below, roots::is_project_file};

impl PythonGraph {
    /// What a name is that no module has: outside, missing, or opaque.
    pub(super) fn absent(&self, importer: Option<usize>, name: &str) -> Entity {
        let mut known = name;
        let found = loop {
            if let Some(module) = self.find(importer, known) {
                break module;
            }
            let Some(dot) = memchr::memrchr(b'.', known.as_bytes()) else {
                return Entity::External;
            };
            known = known.get(..dot).unwrap_or_default();
        };
        let Some(module) = self.modules.get(found) else {
            return Entity::Opaque;
        };
        let next = name.get(known.len() + 1..).unwrap_or_default();
        let next = next.split('.').next().unwrap_or_default();
        // What is imported as a module has to be one: names that a package makes at run time do not help.
        let regular = module.package && !self.may_be_made(known, name);
        match !regular || self.may_be_other(known) || self.may_be_generated(found, next) {
            true => Entity::Opaque,
            false => Entity::Missing,
        }
    }

    /// Whether a name may be that of an installed package besides: the standard library has a package `test`, and any
    /// other may be called so.
    fn may_be_other(&self, known: &str) -> bool {
        let top = known.split('.').next().unwrap_or(known);
        let own_top = self.by_name.get(top).is_some_and(|found| !found.is_empty());
        !own_top || top == "test"
    }

    /// Whether a package has a submodule that is compiled: its file or its source is there, or a
    /// project file says that it is built.
    pub(crate) fn is_compiled(&self, package: usize, name: &str) -> bool {
        let Some(module) = self.modules.get(package).filter(|module| module.package) else {
            return false;
        };
        let stems = module.path.parent();
        let stems = stems.and_then(|directory| self.extensions.get(&directory));
        stems.is_some_and(|stems| stems.iter().any(|stem| stem == name))
            || self.built.contains(&format!("{}.{name}", module.name))
    }

    /// Whether a package, or one that it is in, may have a module of this name that is no file.
    fn may_be_made(&self, package: &str, name: &str) -> bool {
        self.facts_from(package).any(|facts| {
            let mut made = facts.made_modules.iter();
            let is_it =
                |made: &String| is_or_below(name, made) && !self.looks_in_vain(facts, made, name);
            facts.makes_modules || made.any(is_it)
        })
    }

    /// The facts of a package and of those that it is in.
    fn facts_from(&self, package: &str) -> impl Iterator<Item = &Arc<PythonFacts>> {
        let above = std::iter::successors(Some(package), |name| {
            name.rsplit_once('.').map(|(above, _)| above)
        });
        let modules = above.filter_map(|name| self.find(None, name));
        modules.filter_map(|module| self.facts.get(module))
    }

    /// Whether a module that is made looks for what is below it where another package does, and that one has no such
    /// submodule, nor may have any that is no file.
    fn looks_in_vain(&self, facts: &PythonFacts, made: &str, name: &str) -> bool {
        let mut redirects = facts.path_redirects.iter();
        let Some(redirect) = redirects.find(|redirect| redirect.module == made) else {
            return false;
        };
        let below = name.strip_prefix(made);
        let below = below.and_then(|below| below.strip_prefix('.'));
        // Names of the object itself are not looked for on its path.
        let Some(submodule) = below.and_then(|below| below.split('.').next()) else {
            return false;
        };
        let package = redirect.package.as_str();
        let Some(found) = self.find(None, package) else {
            return false;
        };
        let regular = self.modules.get(found).is_some_and(|module| module.package);
        let target = format!("{package}.{submodule}");
        let is_there = self.find(None, &target).is_some()
            || self.is_namespace(&target)
            || self.may_be_generated(found, submodule)
            || package.split('.').next() == Some("test");
        regular && !is_there && !self.is_made_by_others((facts, made), name, package, &target)
    }

    /// Whether a package, or one that it is in, may make a module of the name `target`, or something besides `made` that
    /// `name` is below of. Not `may_be_made` again: redirects may lead to each other.
    fn is_made_by_others(
        &self,
        (facts, made): (&PythonFacts, &str),
        name: &str,
        package: &str,
        target: &str,
    ) -> bool {
        self.facts_from(package).any(|others| {
            let own = |one: &String| one == made && std::ptr::eq(&**others, facts);
            let mut all = others.made_modules.iter();
            others.makes_modules
                || all.any(|one| is_or_below(target, one) || (is_or_below(name, one) && !own(one)))
        })
    }

    /// Whether a package may have a submodule that the tree does not show: a compiled extension, or
    /// a file that the build writes.
    pub(super) fn may_be_generated(&self, package: usize, name: &str) -> bool {
        let Some(directory) = self
            .modules
            .get(package)
            .and_then(|module| module.path.parent())
        else {
            return false;
        };
        self.is_compiled(package, name)
            || name.contains("version")
            || ["_generated", "_build", "_git"]
                .iter()
                .any(|start| name.starts_with(start))
            || ["_pb2", "_pb2_grpc", "_generated", "build_info", "git_info"]
                .iter()
                .any(|end| name.ends_with(end))
            || self.may_be_compiled(&directory, name)
    }

    /// Whether a private module that is not in the tree is what a compiler makes: nobody imports a
    /// module of their own that is not there, unless they have misspelled one that is.
    fn may_be_compiled(&self, directory: &TreePath, name: &str) -> bool {
        let private = name.starts_with('_') && !name.starts_with("__");
        let beside = || {
            let here = |module: &&Module| {
                let path = &module.path;
                let holds = if module.package {
                    path.parent().and_then(|own| own.parent())
                } else {
                    path.parent()
                };
                holds.as_ref() == Some(directory)
            };
            let names = self.modules.iter().filter(here);
            names.map(|module| module.name.rsplit('.').next().unwrap_or_default())
        };
        private
            && (name.len() < 5
                || nearest(name, beside().filter(|other| other.starts_with('_'))).is_none())
    }
}

/// What all project files declare of one kind.
pub(super) fn declared(
    files: &[(TreePath, Arc<PythonFacts>)],
    of: impl Fn(&PythonFacts) -> &Vec<String>,
) -> FxHashSet<String> {
    files
        .iter()
        .flat_map(|(_, facts)| of(facts).iter().cloned())
        .collect()
}

/// The project files, with what each of them declares.
pub(super) fn project_files(
    files: &[(TreePath, Arc<PythonFacts>)],
) -> Vec<(TreePath, Arc<PythonFacts>)> {
    let project_files = files.iter().filter(|(path, _)| is_project_file(path));
    project_files.cloned().collect()
}

/// Stems of compiled modules and their sources, by directory.
pub(super) fn extensions(paths: &[TreePath]) -> FxHashMap<TreePath, Vec<String>> {
    let mut found: FxHashMap<TreePath, Vec<String>> = FxHashMap::default();
    for path in paths.iter().filter(|path| is_compiled_or_source(path)) {
        let stem = path.file_name().split('.').next();
        let directory = path.parent().unwrap_or_else(TreePath::root);
        let stems = found.entry(directory).or_default();
        stems.push(stem.unwrap_or_default().to_owned());
    }
    found
}

/// Whether a file is a compiled module, or what one is made of.
fn is_compiled_or_source(path: &TreePath) -> bool {
    matches!(
        path.extension(),
        Some(
            "so" | "pyd"
                | "pyx"
                | "pxd"
                | "c"
                | "cpp"
                | "cc"
                | "cu"
                | "f"
                | "f90"
                | "in"
                | "tp"
                | "rs"
                | "build"
        )
    )
}
