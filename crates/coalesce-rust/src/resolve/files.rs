//! Which files a `mod`, an `include!` or a macro's body brings in.

use std::sync::Arc;

use coalesce_model::TreePath;
use rustc_hash::FxHashMap;

use super::{
    tree::{Entry, Here, Loader, Walk, id},
    world::{FileId, World},
};
use crate::facts::{Facts, Include, IncludeKind, ItemKind, ModuleDeclaration, Origin, SourceFacts};

/// The modules that macros declare, by the macro's name: file and index into its `modules`.
pub(super) type MacroModules = FxHashMap<String, Vec<(FileId, u32)>>;

pub(super) fn macro_modules(world: &World) -> MacroModules {
    let mut found = MacroModules::default();
    for (file, _) in world.sources() {
        let facts = world.facts(file);
        let bodies = facts
            .modules
            .iter()
            .enumerate()
            .filter(|(_, module)| module.origin == Origin::MacroBody && module.body.is_none());
        let defined = bodies.filter_map(|(at, module)| {
            let mut items = facts
                .items
                .iter()
                .filter(|item| item.kind == ItemKind::Macro);
            Some((at, items.find(|item| item.span.contains(module.span))?))
        });
        for (at, item) in defined {
            let name = facts.name(item.name.name).to_owned();
            found.entry(name).or_default().push((file, id(at)));
        }
    }
    found
}

impl Loader<'_> {
    /// Modules that the body of a called macro declares: `crate_root!();`
    pub(super) fn macro_modules(&mut self, walk: &Walk<'_>) {
        for call in walk
            .facts
            .macro_calls
            .iter()
            .filter(|call| call.item_position)
        {
            let path = walk.facts.path(call.path);
            let name = walk.facts.segments(path.segments).last();
            let name = name.map_or("", |name| walk.facts.name(name.name));
            let Some(declared) = self.macros.get(name) else {
                continue;
            };
            let Some(Some(here)) = walk.places.get(call.scope.0 as usize) else {
                continue;
            };
            let here = here.clone();
            for (file, at) in declared.clone() {
                self.macro_module(&here, file, at);
            }
        }
    }

    fn macro_module(&mut self, here: &Here, file: FileId, at: u32) {
        let source = &self.world[file];
        let facts = Arc::clone(&source.facts);
        let Facts::Source(facts) = &*facts else {
            return;
        };
        let declaration = facts.module(at);
        let child = self.child(here.module, facts.name(declaration.name.name));
        for (file, owns_directory) in self.files_of(here, facts, declaration) {
            let depth = here.place.depth + 1;
            let entry = Entry {
                owns_directory,
                included: false,
                depth,
                conditional: true,
            };
            self.load_file(child, file, None, &entry);
        }
    }

    /// The files of `mod name;`, and whether each owns its directory.
    pub(super) fn files_of(
        &self,
        here: &Here,
        facts: &SourceFacts,
        declaration: &ModuleDeclaration,
    ) -> Vec<(FileId, bool)> {
        let name = facts.name(declaration.name.name);
        let mut found: Vec<(FileId, bool)> = Vec::new();
        for path in &declaration.path_attributes {
            let file = self.file_below(here.place.base(), &path.value);
            found.extend(file.map(|file| (file, true)));
        }
        let always = declaration
            .path_attributes
            .iter()
            .any(|path| path.cfg.is_none());
        if !always {
            for guess in [format!("{name}.rs"), format!("{name}/mod.rs")] {
                let file = self.file_below(&here.place.directory, &guess);
                found.extend(file.map(|file| (file, false)));
            }
        }
        found
    }

    fn file_below(&self, directory: &TreePath, path: &str) -> Option<FileId> {
        let path = directory.join(path).ok()?;
        self.world.file_at(&path)
    }

    /// The file that an `include!` names.
    fn included_file(&self, include: &Include, here: &Here) -> Option<FileId> {
        if include.from_manifest {
            let path = include.value.trim_start_matches('/');
            return self.file_below(&self.package_directory(), path);
        }
        self.file_below(&here.place.file_directory, &include.value)
    }

    /// Files of `include!` become further bodies of the module around the call.
    pub(super) fn includes(&mut self, walk: &Walk<'_>) {
        let includes = walk.facts.includes.iter();
        for include in includes.filter(|include| include.kind == IncludeKind::Code) {
            let Some(Some(here)) = walk.places.get(include.scope.0 as usize) else {
                continue;
            };
            let Some(file) = self.included_file(include, here) else {
                continue;
            };
            let entry = Entry {
                owns_directory: true,
                included: true,
                depth: here.place.depth + 1,
                conditional: here.place.conditional,
            };
            self.load_file(here.module, file, None, &entry);
        }
    }

    fn package_directory(&self) -> TreePath {
        self.world.package_of(self.krate).directory.clone()
    }
}
