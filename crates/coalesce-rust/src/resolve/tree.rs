//! Which files make up which modules of which crates, over the union of all `cfg`s.

use std::sync::Arc;

use coalesce_model::TreePath;
use rustc_hash::FxHashMap;

use super::{
    crates,
    files::{self, MacroModules},
    world::{
        Body, BodyId, CrateId, FileId, Load, ModuleId, ModuleNode, SourceFile, Space, SpaceId,
        SpaceKind, World,
    },
};
use crate::{
    discover::{self, ManifestFacts},
    facts::{Facts, ModuleDeclaration, Origin, Scope, ScopeId, ScopeKind, SourceFacts},
};

/// Modules nest no deeper.
const DEEPEST: usize = 128;
/// Modules of one crate that are one file: `#[path]` can make any number of a few files.
const MOST_LOADS: u32 = 64;
/// Of a tree of more modules no further files are looked at, and no plan is made: each takes two kilobytes, and in a plan
/// as much again for the tree as it would be.
pub(crate) const MOST_MODULES: usize = 250_000;

/// Reads packages and files and loads the module tree of each target.
pub(super) fn load(files: &[(TreePath, Arc<Facts>)], paths: &[TreePath]) -> World {
    let manifests: Vec<(TreePath, &ManifestFacts)> = files
        .iter()
        .filter_map(|(path, facts)| match &**facts {
            Facts::Manifest(manifest) => Some((path.clone(), &**manifest)),
            Facts::Source(_) => None,
        })
        .collect();
    let mut world = World {
        packages: discover::packages(&manifests, paths),
        ..World::default()
    };
    for (path, facts) in files {
        if let Facts::Source(source) = &**facts {
            let names = source.names.iter();
            let names = names.map(|name| world.names.intern(name)).collect();
            world.file_names.push(names);
            world.files.push(unloaded(path, facts));
        }
    }
    crates::crates(&mut world);
    crates::externs(&mut world);
    load_crates(&mut world);
    world
}

fn unloaded(path: &TreePath, facts: &Arc<Facts>) -> SourceFile {
    SourceFile {
        path: path.clone(),
        facts: Arc::clone(facts),
        bodies: Vec::new(),
        loads: Vec::new(),
    }
}

/// Loads the module tree of every crate.
fn load_crates(world: &mut World) {
    let macros = files::macro_modules(world);
    for at in 0..world.crates.len() {
        Loader {
            world: &mut *world,
            krate: CrateId(id(at)),
            macros: &macros,
            loads: FxHashMap::default(),
        }
        .root();
    }
}

/// A table index.
pub(crate) fn id(at: usize) -> u32 {
    u32::try_from(at).expect("invariant: what a tree has is numbered by 32 bits")
}

/// Where the files of a body's modules are.
#[derive(Clone)]
pub(super) struct Place {
    /// The directory of the file itself, for `#[path]`.
    pub(super) file_directory: TreePath,
    /// The directory of files of modules declared here.
    pub(super) directory: TreePath,
    /// Whether inline modules lie between the file and here.
    pub(super) inline: bool,
    pub(super) depth: usize,
    pub(super) conditional: bool,
}

impl Place {
    /// The directory from which the paths of `#[path]` lead.
    pub(super) fn base(&self) -> &TreePath {
        if self.inline {
            &self.directory
        } else {
            &self.file_directory
        }
    }

    /// The place of a whole file: files of its child modules are looked for beside it, or in a directory of its name.
    fn of_file(path: &TreePath, entry: &Entry) -> Self {
        let parent = path.parent().unwrap_or_else(TreePath::root);
        let owns = entry.owns_directory || path.file_name() == "mod.rs";
        let directory = if owns {
            parent.clone()
        } else {
            parent.join(path.file_stem()).unwrap_or(parent.clone())
        };
        Self {
            file_directory: parent,
            directory,
            inline: false,
            depth: entry.depth,
            conditional: entry.conditional,
        }
    }
}

pub(super) struct Loader<'w> {
    pub(super) world: &'w mut World,
    pub(super) krate: CrateId,
    pub(super) macros: &'w MacroModules,
    /// How many modules each file is.
    loads: FxHashMap<FileId, u32>,
}

impl Loader<'_> {
    fn root(&mut self) {
        let krate = &self.world[self.krate];
        let Some(file) = self.world.file_at(&krate.root_file) else {
            return;
        };
        let (name, canonical) = (krate.name.clone(), krate.canonical.clone());
        let module = self.add_module(None, name, canonical, false);
        if let Some(krate) = self.world.crates.get_mut(self.krate.index()) {
            krate.root = Some(module);
        }
        self.load_file(
            module,
            file,
            None,
            &Entry {
                owns_directory: true,
                included: false,
                depth: 0,
                conditional: false,
            },
        );
    }

    fn add_module(
        &mut self,
        parent: Option<ModuleId>,
        name: String,
        canonical: String,
        local: bool,
    ) -> ModuleId {
        let module = ModuleId(id(self.world.modules.len()));
        self.open_space(module);
        if !local {
            let known = self.world.by_name.entry(canonical.clone());
            known.or_insert(module);
        }
        let node = ModuleNode {
            krate: self.krate,
            parent,
            name,
            canonical,
            bodies: Vec::new(),
            children: Vec::new(),
            local,
        };
        self.world.modules.push(node);
        module
    }

    /// The space of a module that is about to be added.
    fn open_space(&mut self, module: ModuleId) {
        let space = SpaceId(id(self.world.spaces.len()));
        let new = Space::new(SpaceKind::Module, module, None);
        self.world.spaces.push(new);
        self.world.module_spaces.push(space);
    }

    pub(super) fn child(&mut self, parent: ModuleId, name: &str) -> ModuleId {
        let key = (parent, name.to_owned());
        if let Some(child) = self.world.children.get(&key) {
            return *child;
        }
        let node = &self.world[parent];
        let canonical = format!("{}::{name}", node.canonical);
        let local = node.local;
        let child = self.add_module(Some(parent), name.to_owned(), canonical, local);
        if let Some(node) = self.world.modules.get_mut(parent.index()) {
            node.children.push(child);
        }
        self.world.children.insert(key, child);
        child
    }

    /// A module that a block declares: another one with each declaration.
    fn local_child(&mut self, walk: &Walk<'_>, parent: ModuleId, at: u32, name: &str) -> ModuleId {
        let outer = &self.world[parent];
        let canonical = outer.canonical.clone();
        let canonical = format!("{canonical}::_::{name}");
        let child = self.add_module(Some(parent), name.to_owned(), canonical, true);
        self.world.local_modules.insert((walk.load, at), child);
        child
    }

    fn add_body(&mut self, body: Body) -> BodyId {
        let at = BodyId(id(self.world.bodies.len()));
        if let Some(node) = self.world.modules.get_mut(body.module.index()) {
            node.bodies.push(at);
        }
        if let Some(file) = self.world.files.get_mut(body.file.index()) {
            file.bodies.push(at);
        }
        self.world.bodies.push(body);
        at
    }

    /// Loads a file as a body of `module`.
    pub(super) fn load_file(
        &mut self,
        module: ModuleId,
        file: FileId,
        declared: Option<(BodyId, u32)>,
        entry: &Entry,
    ) {
        if self.is_loading(module, file) || self.leaves_out(module, file, entry) {
            return;
        }
        let facts = Arc::clone(&self.world[file].facts);
        let Facts::Source(facts) = &*facts else {
            return;
        };
        let body = self.add_body(Body {
            module,
            file,
            scope: ScopeId(0),
            declared,
            included: entry.included,
        });
        let place = Place::of_file(&self.world[file].path, entry);
        let mut walk = Walk {
            load: self.add_load(module, file, body, facts.scopes.len()),
            facts,
            places: vec![None; facts.scopes.len()],
        };
        self.scopes(&mut walk, module, body, place);
    }

    /// Leaves a file out that would be too much: what its module has is not known then.
    fn leaves_out(&mut self, module: ModuleId, file: FileId, entry: &Entry) -> bool {
        let is_full = self.world.modules.len() > MOST_MODULES;
        if is_full {
            self.world.left_out.get_or_insert(file);
        }
        let is_too_much = is_full || entry.depth > DEEPEST || !self.may_load(file);
        if is_too_much {
            self.leave_unknown(module);
        }
        is_too_much
    }

    /// Adds a load of a file whose scopes are all of the module and the body, so far; returns its number.
    fn add_load(&mut self, module: ModuleId, file: FileId, body: BodyId, scopes: usize) -> usize {
        let load = self.world.loads.len();
        if let Some(file) = self.world.files.get_mut(file.index()) {
            file.loads.push(id(load));
        }
        let space = self.world.space_of(module);
        self.world.loads.push(Load {
            file,
            spaces: vec![space; scopes],
            bodies: vec![body; scopes],
        });
        load
    }

    /// Counts the modules of this crate that a file is.
    fn may_load(&mut self, file: FileId) -> bool {
        let loads = self.loads.entry(file).or_default();
        *loads += 1;
        *loads <= MOST_LOADS
    }

    /// A module whose file is not looked at: nobody knows what it has.
    fn leave_unknown(&mut self, module: ModuleId) {
        let space = self.world.module_spaces.get(module.index());
        let space = space.and_then(|space| self.world.spaces.get_mut(space.0 as usize));
        if let Some(space) = space {
            space.opaque = true;
        }
    }

    fn is_loading(&self, module: ModuleId, file: FileId) -> bool {
        let mut at = Some(module);
        while let Some(node) = at.map(|module| &self.world[module]) {
            let holds = |body: &BodyId| self.world[body].file == file;
            if node.bodies.iter().any(holds) {
                return true;
            }
            at = node.parent;
        }
        false
    }

    /// Gives each scope its space, in order, and loads the modules that are declared in it.
    fn scopes(&mut self, walk: &mut Walk<'_>, module: ModuleId, body: BodyId, place: Place) {
        let facts = walk.facts;
        let declarations = declarations_by_scope(facts);
        let outer = Here {
            module,
            body,
            place,
        };
        for (at, scope) in facts.scopes.iter().enumerate() {
            let Some(here) = self.here(walk, at, scope, &outer) else {
                continue;
            };
            if scope.opaque {
                self.mark_opaque(walk.load, at);
            }
            for (declared, declaration) in declarations.get(at).into_iter().flatten() {
                self.declaration(walk, &here, *declared, declaration);
            }
            if let Some(slot) = walk.places.get_mut(at) {
                *slot = Some(here);
            }
        }
        self.includes(walk);
        self.macro_modules(walk);
    }

    /// Where the scope at `at` stands, in a file that stands at `outer`.
    fn here(
        &mut self,
        walk: &mut Walk<'_>,
        at: usize,
        scope: &Scope,
        outer: &Here,
    ) -> Option<Here> {
        let parent = scope.parent.map(|parent| parent.0 as usize);
        match (scope.kind, parent) {
            (ScopeKind::File, _) | (_, None) => Some(outer.clone()),
            (ScopeKind::Module(_), Some(parent)) => {
                let known = walk.places.get_mut(at).and_then(Option::take);
                known.or_else(|| self.nested(walk, parent, at, ScopeKind::Block))
            }
            (kind, Some(parent)) => self.nested(walk, parent, at, kind),
        }
    }

    fn mark_opaque(&mut self, load: usize, scope: usize) {
        let space = self
            .world
            .loads
            .get(load)
            .and_then(|load| load.spaces.get(scope))
            .copied();
        if let Some(space) = space.and_then(|space| self.world.spaces.get_mut(space.0 as usize)) {
            space.opaque = true;
        }
    }

    /// A block, doc test or macro body: a space below that of its parent.
    fn nested(
        &mut self,
        walk: &Walk<'_>,
        parent: usize,
        at: usize,
        kind: ScopeKind,
    ) -> Option<Here> {
        let here = walk.places.get(parent)?.clone()?;
        let space = SpaceId(id(self.world.spaces.len()));
        let load = self.world.loads.get_mut(walk.load)?;
        let outer = *load.spaces.get(parent)?;
        *load.spaces.get_mut(at)? = space;
        *load.bodies.get_mut(at)? = here.body;
        let kind = if kind == ScopeKind::DocCode {
            SpaceKind::DocCode
        } else {
            SpaceKind::Block
        };
        self.world
            .spaces
            .push(Space::new(kind, here.module, Some(outer)));
        Some(here)
    }

    fn declaration(
        &mut self,
        walk: &mut Walk<'_>,
        here: &Here,
        at: u32,
        declaration: &ModuleDeclaration,
    ) {
        let child = self.declared_child(walk, here, at, declaration);
        if let Some(scope) = declaration.body {
            let body = self.add_body(Body {
                module: child,
                file: self.world.load(walk.load).file,
                scope,
                declared: Some((here.body, at)),
                included: false,
            });
            self.open_inline(walk, here, body, declaration);
            return;
        }
        let conditional = is_conditional(here, declaration);
        self.module_files(walk, here, (at, child), declaration, conditional);
    }

    /// The module that a declaration is of: a new one for each in a block.
    fn declared_child(
        &mut self,
        walk: &Walk<'_>,
        here: &Here,
        at: u32,
        declaration: &ModuleDeclaration,
    ) -> ModuleId {
        let name = walk.facts.name(declaration.name.name);
        let load = self.world.loads.get(walk.load);
        let id = load.and_then(|load| load.spaces.get(declaration.scope.0 as usize));
        let id = id.copied();
        let space = id.and_then(|space| self.world.spaces.get(space.0 as usize));
        if space.is_none_or(|space| space.kind == SpaceKind::Module) {
            return self.child(here.module, name);
        }
        let child = self.local_child(walk, here.module, at, name);
        if id.is_some_and(|space| self.world.in_doc_code(space)) {
            self.world.document_modules.insert(child);
        }
        child
    }

    /// Gives the scope of an inline module its space, its body and its place.
    fn open_inline(
        &mut self,
        walk: &mut Walk<'_>,
        here: &Here,
        body: BodyId,
        declaration: &ModuleDeclaration,
    ) {
        let Body { module, scope, .. } = self.world[body];
        self.set_scope(walk.load, scope, body);
        let name = walk.facts.name(declaration.name.name);
        let place = Place {
            conditional: is_conditional(here, declaration),
            ..inline_place(&here.place, declaration, name)
        };
        if let Some(slot) = walk.places.get_mut(scope.0 as usize) {
            *slot = Some(Here {
                module,
                body,
                place,
            });
        }
    }

    /// Has a scope of a load be that of a body and of its module.
    fn set_scope(&mut self, load: usize, scope: ScopeId, body: BodyId) {
        let space = self.world.space_of(self.world[body].module);
        let Some(load) = self.world.loads.get_mut(load) else {
            return;
        };
        if let Some(slot) = load.spaces.get_mut(scope.0 as usize) {
            *slot = space;
        }
        if let Some(slot) = load.bodies.get_mut(scope.0 as usize) {
            *slot = body;
        }
    }

    fn module_files(
        &mut self,
        walk: &Walk<'_>,
        here: &Here,
        (at, child): (u32, ModuleId),
        declaration: &ModuleDeclaration,
        conditional: bool,
    ) {
        let found = self.files_of(here, walk.facts, declaration);
        if found.is_empty() && !conditional {
            let file = self.world.load(walk.load).file;
            self.world.missing.push((file, at));
        }
        if found.is_empty() {
            self.leave_unknown(child);
        }
        for (file, owns_directory) in found {
            let entry = Entry {
                owns_directory,
                included: false,
                depth: here.place.depth + 1,
                conditional,
            };
            self.load_file(child, file, Some((here.body, at)), &entry);
        }
    }
}

/// How a file comes into a module.
pub(super) struct Entry {
    pub(super) owns_directory: bool,
    pub(super) included: bool,
    pub(super) depth: usize,
    pub(super) conditional: bool,
}

/// Where a scope stands in the module tree.
#[derive(Clone)]
pub(super) struct Here {
    pub(super) module: ModuleId,
    pub(super) body: BodyId,
    pub(super) place: Place,
}

pub(super) struct Walk<'f> {
    pub(super) load: usize,
    pub(super) facts: &'f SourceFacts,
    pub(super) places: Vec<Option<Here>>,
}
/// Whether a condition stands on a module that is declared here, or on one around it.
fn is_conditional(here: &Here, declaration: &ModuleDeclaration) -> bool {
    here.place.conditional || !declaration.cfg.is_empty()
}

/// The modules that each scope declares, those that macros make left out.
fn declarations_by_scope(facts: &SourceFacts) -> Vec<Vec<(u32, &ModuleDeclaration)>> {
    let mut declarations = vec![Vec::new(); facts.scopes.len()];
    for (at, declaration) in (0..).zip(&facts.modules) {
        if let Some(list) = declarations.get_mut(declaration.scope.0 as usize)
            && declaration.origin != Origin::MacroBody
        {
            list.push((at, declaration));
        }
    }
    declarations
}

fn inline_place(outer: &Place, declaration: &ModuleDeclaration, name: &str) -> Place {
    let attribute = declaration.path_attributes.first();
    let directory = match attribute {
        Some(path) if outer.inline => outer.directory.join(&path.value),
        Some(path) => outer.file_directory.join(&path.value),
        None => outer.directory.join(name),
    };
    let directory = directory.unwrap_or_else(|_| outer.directory.clone());
    Place {
        directory,
        inline: true,
        ..outer.clone()
    }
}
