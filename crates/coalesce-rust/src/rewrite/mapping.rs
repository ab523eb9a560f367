//! Where every module of the tree is after the changes.
//!
//! Nothing is decided here about files or texts: only which change speaks for which module, and the
//! place that each module has afterwards.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, OnceLock, PoisonError},
};

use coalesce_model::{Change, ChangeKind, Finding, Subject, Texts, TreePath, finding::codes};

use super::{
    place::Place,
    spell::Speller,
    tests_only::{self, Crossings},
    variants,
};
use crate::{
    condition_macros::ConditionMacros,
    discover::TargetKind,
    facts::{self, Namespaces},
    resolve::{BodyId, CrateId, FileId, ItemId, ModuleId, World, id},
};

/// The changes, resolved against the tree.
pub(crate) struct Mapping<'a> {
    pub world: &'a World,
    pub texts: &'a dyn Texts,
    pub changes: &'a [Change],
    /// The module that each change names, and where it goes.
    pub roots: Vec<Option<(ModuleId, Place)>>,
    /// The libraries among them, which go as a whole.
    pub libraries: Vec<Library>,
    after: Vec<Place>,
    owner: Vec<Option<usize>>,
    /// Modules that stay or move, by their place after; replaced ones are left out.
    by_place: BTreeMap<Place, ModuleId>,
    /// Changes that cannot be made at all.
    pub refusals: Vec<Finding>,
    crossings_of_tests: OnceLock<Crossings>,
    condition_macros: OnceLock<ConditionMacros>,
    said_of_bodies: Vec<OnceLock<Vec<String>>>,
    entered: OnceLock<BTreeSet<ItemId>>,
    macro_words: OnceLock<BTreeSet<String>>,
    hiding: Mutex<BTreeMap<(FileId, String), BTreeMap<u32, Namespaces>>>,
}

/// A library that becomes a module of another one, or gives way to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Library {
    /// Index of the change.
    pub change: usize,
    /// Its root module.
    pub module: ModuleId,
    /// Its crate.
    pub krate: CrateId,
    /// Its package.
    pub package: usize,
    /// The package that takes over.
    pub target: usize,
}

/// An error at a file.
pub(super) fn refusal(path: TreePath, message: impl Into<String>) -> Finding {
    Finding::refusal(path, message)
}

impl<'a> Mapping<'a> {
    pub fn new(world: &'a World, changes: &'a [Change], texts: &'a dyn Texts) -> Self {
        let mut mapping = Self {
            world,
            texts,
            changes,
            roots: Vec::new(),
            libraries: Vec::new(),
            after: Vec::new(),
            owner: vec![None; world.modules.len()],
            by_place: BTreeMap::new(),
            refusals: Vec::new(),
            crossings_of_tests: OnceLock::new(),
            condition_macros: OnceLock::new(),
            said_of_bodies: world.bodies.iter().map(|_| OnceLock::new()).collect(),
            entered: OnceLock::new(),
            macro_words: OnceLock::new(),
            hiding: Mutex::new(BTreeMap::new()),
        };
        for (at, change) in changes.iter().enumerate() {
            let root = mapping.root(change);
            if let Some((module, place)) = &root {
                let library = mapping.library(at, *module, place.krate);
                mapping.libraries.extend(library);
            }
            mapping.roots.push(root);
        }
        mapping.places();
        mapping
    }

    /// The words that bodies of macros begin paths with.
    pub fn macro_words(&self) -> &BTreeSet<String> {
        self.macro_words
            .get_or_init(|| super::follow::macro_words(self.world))
    }

    /// Whether a path that begins at a byte of a file would lead to something local there if it began with a name.
    pub fn is_hidden(&self, (file, at): (FileId, u32), name: &str, wanted: Namespaces) -> bool {
        let key = (file, name.to_owned());
        let mut known = self.hiding.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.entry(key).or_insert_with(|| {
            let text = self.texts.text(&self.world[file].path);
            let read = text.map(|text| facts::hiding(&text, name));
            read.unwrap_or_default()
        });
        found.get(&at).is_some_and(|hidden| hidden.meets(wanted))
    }

    fn root(&mut self, change: &Change) -> Option<(ModuleId, Place)> {
        if change.subject != Subject::Module {
            return None;
        }
        let module = self.world.modules_named(&change.from).first().copied()?;
        match self.place_of(change, module) {
            Ok(place) => Some((module, place)),
            Err(refused) => {
                self.refusals.push(refused);
                None
            }
        }
    }

    /// Where a change takes a module; why it cannot.
    fn place_of(&self, change: &Change, module: ModuleId) -> Result<Place, Finding> {
        let node = &self.world[module];
        let refused = |message: String| refusal(self.file_of(module), message);
        let own = node.parent.is_some().then_some(node.krate);
        let Some((to, below)) = self.target(own, &change.to) else {
            let message = format!(
                "`{}` is in no library of the tree: `{}` cannot go there",
                change.to, change.from
            );
            return Err(refused(message).coded(codes::OUT_OF_REACH));
        };
        if own.is_none() && to == node.krate {
            return Err(refused(format!("`{}` cannot go into itself", change.from)));
        }
        let names = below.split("::").filter(|name| !name.is_empty());
        let path: Vec<String> = names.map(str::to_owned).collect();
        if let Some(name) = path.iter().find(|name| !is_identifier(name)) {
            let to = &change.to;
            let message = format!("`{name}` of `{to}` is not the name of a module");
            return Err(refused(message));
        }
        Ok(Place { krate: to, path })
    }

    /// The change as that of a library, where it names the root of one.
    fn library(&self, change: usize, module: ModuleId, to: CrateId) -> Option<Library> {
        let node = &self.world[module];
        let krate = &self.world[node.krate];
        let target = &self.world[to];
        node.parent.is_none().then_some(Library {
            change,
            module,
            krate: node.krate,
            package: krate.package,
            target: target.package,
        })
    }

    /// The library that leaves a crate, if that is one.
    pub fn library_of(&self, krate: CrateId) -> Option<&Library> {
        self.libraries.iter().find(|library| library.krate == krate)
    }

    /// The package that the targets of a package belong to after.
    pub fn package_after(&self, package: usize) -> usize {
        let moved = self
            .libraries
            .iter()
            .find(|library| library.package == package);
        moved.map_or(package, |library| library.target)
    }

    /// The crate that a name after is in, its own one first, and the names below the root.
    pub fn target<'n>(&self, own: Option<CrateId>, to: &'n str) -> Option<(CrateId, &'n str)> {
        let ids = (0..self.world.crates.len()).filter_map(|at| u32::try_from(at).ok());
        let libraries = ids.map(CrateId).filter(|krate| {
            let found = &self.world[krate];
            found.kind == TargetKind::Lib && found.root.is_some()
        });
        own.into_iter().chain(libraries).find_map(|krate| {
            let found = &self.world[krate];
            let below = [found.canonical.as_str(), found.name.as_str()]
                .into_iter()
                .find_map(|root| match to.strip_prefix(root)? {
                    "" => Some(""),
                    rest => rest.strip_prefix("::"),
                })?;
            Some((krate, below))
        })
    }

    /// The crate of a module before.
    pub fn krate(&self, module: ModuleId) -> CrateId {
        self.world[module].krate
    }

    /// Whether a module leaves its crate for another one.
    pub fn crosses(&self, module: ModuleId) -> bool {
        self.krate(module) != self.after(module).krate
    }

    /// Each module after its parent.
    fn places(&mut self) {
        for at in 0..self.world.modules.len() {
            let (place, owner) = self.place_and_owner(ModuleId(id(at)));
            if let Some(slot) = self.owner.get_mut(at) {
                *slot = owner;
            }
            self.after.push(place);
        }
        for (module, place) in (0..).map(ModuleId).zip(&self.after) {
            if !self.is_replaced(module) {
                self.by_place.insert(place.clone(), module);
            }
        }
    }

    /// Where a module is after, and by which change, once those around it are known.
    fn place_and_owner(&self, module: ModuleId) -> (Place, Option<usize>) {
        let node = &self.world[module];
        let mut roots = self.roots.iter().enumerate();
        let changed = roots.find_map(|(change, root)| match root {
            Some((changed, place)) if *changed == module => Some((change, place)),
            _ => None,
        });
        if let Some((change, place)) = changed {
            return (place.clone(), Some(change));
        }
        let above = node.parent.map(ModuleId::index);
        let place = above.and_then(|above| self.after.get(above));
        let place = place.map(|above| above.child(&node.name));
        let owner = above.and_then(|above| self.owner.get(above).copied().flatten());
        (place.unwrap_or_else(|| Place::root(node.krate)), owner)
    }

    /// The first file of a module, or of what is around it.
    pub fn file_of(&self, module: ModuleId) -> TreePath {
        self.world.file_of(module).clone()
    }

    /// The place of a module after the changes.
    pub fn after(&self, module: ModuleId) -> Place {
        let place = self.after.get(module.index());
        place
            .expect("invariant: every module has a place after")
            .clone()
    }

    /// The module that is at a place after the changes.
    pub fn at(&self, place: &Place) -> Option<ModuleId> {
        self.by_place.get(place).copied()
    }

    /// Names that lead from one module of a test target to another one, in the tree as it is.
    pub fn crossings_of_tests(&self) -> &Crossings {
        let world = self.world;
        self.crossings_of_tests
            .get_or_init(|| tests_only::crossings(world))
    }

    /// Whether another crate imports variants of an enum.
    pub fn is_entered(&self, item: ItemId) -> bool {
        let read = || variants::imported_by_others(self.world);
        self.entered.get_or_init(read).contains(&item)
    }

    /// Macros of the tree that put conditions around items.
    pub fn condition_macros(&self) -> &ConditionMacros {
        let read = || ConditionMacros::new(self.world, self.texts);
        self.condition_macros.get_or_init(read)
    }

    /// The conditions and lints that a body has from its declaration and its head, read once.
    pub fn said_of_body(&self, body: BodyId, read: impl FnOnce() -> Vec<String>) -> &[String] {
        let slot = self.said_of_bodies.get(body.index());
        slot.expect("invariant: there is a slot for each body")
            .get_or_init(read)
    }

    /// The crate of a file; the first of several.
    pub fn crate_of(&self, file: FileId) -> Option<CrateId> {
        let first = self.world[file].bodies.first()?;
        Some(self.krate(self.world[*first].module))
    }

    /// The change that speaks for a module: the nearest around it.
    pub fn owner(&self, module: ModuleId) -> Option<usize> {
        self.owner.get(module.index()).copied().flatten()
    }

    /// Whether a module gets another place or goes.
    pub fn changes_modules(&self) -> bool {
        self.roots.iter().any(Option::is_some)
    }

    pub fn is_changed(&self, module: ModuleId) -> bool {
        self.owner(module).is_some()
    }

    /// Whether it is the very module that a change names.
    pub fn is_root(&self, module: ModuleId) -> bool {
        let own = self
            .owner(module)
            .and_then(|at| self.roots.get(at)?.as_ref());
        own.is_some_and(|(changed, _)| *changed == module)
    }

    pub fn change_of(&self, module: ModuleId) -> Option<&'a Change> {
        self.changes.get(self.owner(module)?)
    }

    /// Whether a module goes away because another one takes its place.
    pub fn is_replaced(&self, module: ModuleId) -> bool {
        self.change_of(module)
            .is_some_and(|change| matches!(change.kind, ChangeKind::Replace { .. }))
    }

    /// The name that an item of a module has after; a path where it is not in the very module that
    /// takes over.
    pub fn item_after<'n>(&'n self, module: ModuleId, name: &'n str) -> &'n str {
        let renames = match self.change_of(module).map(|change| &change.kind) {
            Some(ChangeKind::Replace { rename }) if self.is_root(module) => rename.as_slice(),
            _ => &[],
        };
        renames
            .iter()
            .find(|(old, _)| old == name)
            .map_or(name, |(_, new)| new)
    }

    /// How paths are spelled after the changes.
    pub fn speller(&self) -> Speller<'_> {
        Speller { mapping: self }
    }

    /// The full name of a place.
    pub fn name_of(&self, place: &Place) -> String {
        let root = &self.world[place.krate];
        let mut name = root.canonical.clone();
        for part in &place.path {
            name.push_str("::");
            name.push_str(part);
        }
        name
    }
}

/// Whether a name can be that of a module; keywords are left to the compiler.
fn is_identifier(name: &str) -> bool {
    let plain = name.strip_prefix("r#").unwrap_or(name);
    let mut letters = plain.chars();
    letters
        .next()
        .is_some_and(|first| first == '_' || first.is_alphabetic())
        && letters.all(|letter| letter == '_' || letter.is_alphanumeric())
        && plain != "_"
}
