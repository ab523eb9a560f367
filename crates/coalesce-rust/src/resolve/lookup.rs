//! From a path in a space to what each of its prefixes names.

use super::{
    names::{root_of, sym},
    world::{Binding, FileId, ItemId, ModuleId, Reach, Res, Space, SpaceId, SpaceKind, Sym, World},
};
use crate::{
    discover::Edition,
    facts::{ExternCrate, LeafKind, Namespaces, Origin, PathFact, Segment, SourceFacts, UseLeaf},
    words::PRIMITIVES,
};

/// How many candidates are kept: the three namespaces, and `cfg` variants of them.
const MOST: usize = 6;

/// What a name may lead to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    list: [(Res, Namespaces); MOST],
    len: usize,
    /// Something that cannot be seen may supply the name.
    pub opaque: bool,
    /// The import that supplied it.
    pub import: Option<(FileId, u32)>,
    /// Whether a glob supplied it.
    pub glob: bool,
    /// How many segments follow the name of something outside.
    pub tail: u16,
}

impl Found {
    pub const NONE: Self = Self {
        list: [(Res::External(Sym(0)), Namespaces(0)); MOST],
        len: 0,
        opaque: false,
        import: None,
        glob: false,
        tail: 0,
    };

    /// Nothing is found, and something that cannot be seen may supply the name.
    pub const UNKNOWN: Self = Self {
        opaque: true,
        ..Self::NONE
    };

    pub fn one(res: Res, namespaces: Namespaces) -> Self {
        let mut found = Self::NONE;
        found.push(res, namespaces);
        found
    }

    pub fn push(&mut self, res: Res, namespaces: Namespaces) {
        for (known, of) in self.list.iter_mut().take(self.len) {
            if *known == res {
                *of = of.or(namespaces);
                return;
            }
        }
        if let Some(slot) = self.list.get_mut(self.len) {
            *slot = (res, namespaces);
            self.len += 1;
        } else {
            self.opaque = true;
        }
    }

    /// Adds what another one leads to; the first that leads somewhere tells of the import.
    fn add(&mut self, found: &Self) {
        self.opaque |= found.opaque;
        if self.is_empty() {
            self.import = found.import;
            self.glob = found.glob;
        }
        for (res, namespaces) in found.all() {
            self.push(res, namespaces);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The same, where a module cannot be meant.
    fn without_modules(&self) -> Self {
        if self.module().is_none() {
            return *self;
        }
        let mut found = Self::NONE;
        for (res, namespaces) in self.all() {
            if !matches!(res, Res::Module(_)) {
                found.push(res, namespaces);
            }
        }
        found
    }

    pub fn all(&self) -> impl Iterator<Item = (Res, Namespaces)> + '_ {
        self.list.iter().take(self.len).copied()
    }

    /// The items among them.
    pub fn items(&self) -> impl Iterator<Item = ItemId> + '_ {
        self.all().filter_map(|(res, _)| match res {
            Res::Item(item) => Some(item),
            _ => None,
        })
    }

    /// The module among them.
    pub fn module(&self) -> Option<ModuleId> {
        self.all().find_map(|(res, _)| match res {
            Res::Module(module) => Some(module),
            _ => None,
        })
    }
}

/// What each prefix of a path names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    /// One for each segment.
    pub steps: Vec<Found>,
    /// The first segment that names nothing that is there, in a module whose names are all known.
    pub unresolved: Option<usize>,
}

/// Looks names up for one load of a file.
pub(crate) struct Lookup<'w> {
    pub world: &'w World,
    pub load: usize,
}

/// The words that start a path.
enum Start {
    Root(ModuleId),
    Module(ModuleId),
    Nowhere,
    Name,
}

impl Lookup<'_> {
    /// What a leaf leads to; for a glob, what stands before the `*`.
    pub fn leaf(&self, facts: &SourceFacts, leaf: &UseLeaf, space: SpaceId) -> Found {
        let trace = self.leaf_trace(facts, leaf, space);
        trace
            .steps
            .last()
            .copied()
            .unwrap_or_else(|| self.whole_root(space))
    }

    /// `use *;` and `use {self};` start at the crate root of the 2015 edition.
    fn whole_root(&self, space: SpaceId) -> Found {
        let module = self.world.module_of(space);
        Found::one(Res::Module(root_of(self.world, module)), Namespaces::TYPE)
    }

    /// What each segment of a leaf names.
    pub fn leaf_trace(&self, facts: &SourceFacts, leaf: &UseLeaf, space: SpaceId) -> Trace {
        let last = match leaf.kind {
            LeafKind::Name => Namespaces::ALL,
            LeafKind::SelfModule => Namespaces::TYPE,
            LeafKind::Glob => Namespaces::TYPE,
        };
        let request = Request {
            segments: facts.segments(leaf.segments),
            colons: leaf.leading_colons,
            last,
            import: true,
            quoted: false,
        };
        self.trace(facts, &request, space)
    }

    /// What each segment of a path names.
    pub fn path_trace(&self, facts: &SourceFacts, path: &PathFact, space: SpaceId) -> Trace {
        let segments = facts.segments(path.segments);
        let visibility = path.origin == Origin::Visibility;
        let request = Request {
            segments,
            colons: path.leading_colons,
            last: path.namespaces,
            import: visibility,
            quoted: path.origin == Origin::Quoted,
        };
        self.trace(facts, &request, space)
    }

    /// What each segment of a path names that a macro reads as it likes, where `path_trace` finds
    /// nothing at its end: what parses as a value may be a type, a trait or, by a path, a macro.
    pub fn other_trace(
        &self,
        facts: &SourceFacts,
        path: &PathFact,
        space: SpaceId,
    ) -> Option<Trace> {
        let last = other_namespaces(path)?;
        let request = Request {
            segments: facts.segments(path.segments),
            colons: path.leading_colons,
            last,
            import: false,
            quoted: path.origin == Origin::Quoted,
        };
        let trace = self.trace(facts, &request, space);
        let found = trace.steps.last().is_some_and(|last| !last.is_empty());
        found.then_some(trace)
    }

    /// What an `extern crate` names.
    pub fn crate_trace(
        &self,
        facts: &SourceFacts,
        declaration: &ExternCrate,
        space: SpaceId,
    ) -> Trace {
        let file = self.world.load(self.load).file;
        let names = self.world.file_names.get(file.index());
        let sym = names
            .and_then(|names| names.get(declaration.name.name.0 as usize))
            .copied();
        let module = self.world.module_of(space);
        let step = match sym {
            _ if facts.name(declaration.name.name) == "self" => {
                Found::one(Res::Module(root_of(self.world, module)), Namespaces::TYPE)
            }
            Some(sym) => self.extern_name(sym, module, space),
            None => Found::NONE,
        };
        Trace {
            steps: vec![step],
            unresolved: None,
        }
    }

    fn trace(&self, facts: &SourceFacts, request: &Request<'_>, space: SpaceId) -> Trace {
        let mut trace = Trace {
            steps: Vec::with_capacity(request.segments.len()),
            unresolved: None,
        };
        let file = self.world.load(self.load).file;
        let from = self.asking_module(space);
        let mut before: Option<Found> = None;
        for (at, segment) in request.segments.iter().enumerate() {
            let wanted = request.wanted(at);
            let Some(sym) = sym(self.world, file, segment.name.0) else {
                break;
            };
            let name = facts.name(segment.name);
            let found = match before {
                // A module is no type: what stands alone as one means that of the language.
                None if request.is_primitive(name, wanted) => {
                    let found = self.first(name, sym, wanted, request, space);
                    found.without_modules()
                }
                None => self.first(name, sym, wanted, request, space),
                Some(before) => self.after(&before, (name, sym), wanted, from),
            };
            let known = before.is_some_and(|before| !before.is_empty() && !before.opaque);
            if found.is_empty() && !found.opaque && known && trace.unresolved.is_none() {
                trace.unresolved = Some(at);
            }
            trace.steps.push(found);
            before = Some(found);
        }
        trace
    }

    /// The module that asks; none for a doc test, which is a crate of its own: nothing of this one is inside it.
    fn asking_module(&self, space: SpaceId) -> Option<ModuleId> {
        let inside = !self.world.in_doc_code(space);
        let space = self.space(space).filter(|_| inside)?;
        Some(space.module)
    }

    fn space(&self, space: SpaceId) -> Option<&Space> {
        self.world.spaces.get(space.0 as usize)
    }

    fn start(&self, name: &str, space: SpaceId) -> Start {
        let Some(here) = self.space(space) else {
            return Start::Nowhere;
        };
        let outside = self.world.in_doc_code(space);
        match name {
            "crate" | "self" | "super" if outside => Start::Nowhere,
            "crate" | "$crate" => Start::Root(root_of(self.world, here.module)),
            "self" => Start::Module(here.module),
            "super" => match self.world[here.module].parent {
                Some(parent) => Start::Module(parent),
                None => Start::Nowhere,
            },
            _ => Start::Name,
        }
    }

    fn first(
        &self,
        name: &str,
        sym: Sym,
        wanted: Namespaces,
        request: &Request<'_>,
        space: SpaceId,
    ) -> Found {
        if request.quoted {
            let library = self.world.library_called(sym);
            let found = library.map(|root| Found::one(Res::Module(root), Namespaces::TYPE));
            return found.unwrap_or(Found::UNKNOWN);
        }
        match self.start(name, space) {
            Start::Root(module) | Start::Module(module) => {
                Found::one(Res::Module(module), Namespaces::TYPE)
            }
            Start::Nowhere => Found::UNKNOWN,
            Start::Name => self.first_name(sym, wanted, request, space),
        }
    }

    fn first_name(
        &self,
        sym: Sym,
        wanted: Namespaces,
        request: &Request<'_>,
        space: SpaceId,
    ) -> Found {
        let Some(here) = self.space(space) else {
            return Found::NONE;
        };
        let edition = &self.world[self.world[here.module].krate];
        let old = (edition.edition == Edition::E2015) && !self.world.in_doc_code(space);
        if request.colons && !old {
            return self.extern_name(sym, here.module, space);
        }
        if old && (request.colons || request.import) {
            return self.first_name_from_root(sym, wanted, here.module, space);
        }
        let found = self.lexical(sym, wanted, space);
        match found.import {
            // `use quote::quote;`, `pub use euclid;`: an import does not begin with what it brings itself.
            Some(import) if request.import && !found.glob && self.begins_with(import, sym) => {
                let outside = self.extern_name(sym, here.module, space);
                if outside.is_empty() { found } else { outside }
            }
            _ => found,
        }
    }

    /// A name of the crate's root, else a crate: where paths of the 2015 edition begin.
    fn first_name_from_root(
        &self,
        sym: Sym,
        wanted: Namespaces,
        here: ModuleId,
        space: SpaceId,
    ) -> Found {
        let root = root_of(self.world, here);
        let found = self.in_module(root, sym, wanted, Some(here));
        if !found.is_empty() {
            return found;
        }
        let outside = self.extern_name(sym, here, space);
        Found {
            opaque: outside.opaque || (outside.is_empty() && found.opaque),
            ..outside
        }
    }

    /// Whether an import begins with a name.
    fn begins_with(&self, (file, leaf): (FileId, u32), sym: Sym) -> bool {
        let facts = self.world.facts(file);
        let first = facts.segments(facts.leaf(leaf).segments).first();
        first.is_some_and(|first| facts.name(first.name) == self.world.names.as_str(sym))
    }

    /// A name without a path: blocks outwards, the module, macros of the modules around it, then
    /// crates.
    fn lexical(&self, sym: Sym, wanted: Namespaces, space: SpaceId) -> Found {
        let mut at = space;
        let mut opaque = false;
        while let Some(here) = self.space(at) {
            let names = here.names.get(&sym).unwrap_or_default();
            let found = self.pick(None, names, wanted);
            if !found.is_empty() {
                return Found {
                    opaque: opaque || found.opaque,
                    ..found
                };
            }
            opaque |= here.opaque || here.unknown.contains(&sym);
            match here.parent {
                Some(parent) if here.kind == SpaceKind::Block => at = parent,
                _ => return self.outermost(sym, wanted, at, opaque),
            }
        }
        Found {
            opaque,
            ..Found::NONE
        }
    }

    fn outermost(&self, sym: Sym, wanted: Namespaces, space: SpaceId, opaque: bool) -> Found {
        let Some(here) = self.space(space) else {
            return Found::NONE;
        };
        if wanted.meets(Namespaces::MACRO)
            && here.kind == SpaceKind::Module
            && let Some(found) = self.macro_above(here.module, sym)
        {
            return found;
        }
        if wanted.meets(Namespaces::TYPE) {
            let found = self.extern_name(sym, here.module, space);
            if !found.is_empty() {
                return found;
            }
        }
        Found {
            opaque,
            ..Found::NONE
        }
    }

    /// A macro of a module around this one.
    fn macro_above(&self, module: ModuleId, sym: Sym) -> Option<Found> {
        let mut at = self.world[module].parent;
        while let Some(module) = at {
            let names = self.world.space(module).names.get(&sym);
            let mut names = names.unwrap_or_default().to_vec();
            // What a module imports from elsewhere, a derive in a module inside of it does not see.
            names.retain(|one| one.import.is_none() || !matches!(one.res, Res::External(_)));
            let found = self.pick(None, &names, Namespaces::MACRO);
            if !found.is_empty() {
                return Some(found);
            }
            at = self.world[module].parent;
        }
        None
    }

    /// A crate by its name. Doc tests name the library that they stand in, too.
    fn extern_name(&self, sym: Sym, module: ModuleId, space: SpaceId) -> Found {
        let krate = &self.world[self.world[module].krate];
        let name = self.world.names.as_str(sym);
        let world = self.world;
        let is_document = || world.in_doc_code(space) || world.is_of_document(module);
        if name == krate.name && is_document() {
            return Found::one(Res::Module(root_of(self.world, module)), Namespaces::TYPE);
        }
        let mut found = Found::NONE;
        let first = krate
            .externs
            .partition_point(|(known, _)| known.as_str() < name);
        let named = krate.externs.iter().skip(first);
        for (_, target) in named.take_while(|(known, _)| known == name) {
            match target.and_then(|target| self.world[target].root) {
                Some(root) => found.push(Res::Module(root), Namespaces::TYPE),
                None => found.push(Res::External(sym), Namespaces::TYPE),
            }
        }
        found
    }

    /// A name of a module, as `from` sees it, or another crate. What it must not see counts only when there is nothing
    /// else: reach is known less well than names.
    fn in_module(
        &self,
        module: ModuleId,
        sym: Sym,
        wanted: Namespaces,
        from: Option<ModuleId>,
    ) -> Found {
        let space = self.world.space(module);
        let bindings = space.names.get(&sym).unwrap_or_default();
        let found = self.pick_seen(module, bindings, wanted, from);
        let unknown = space.opaque || space.std_glob || space.unknown.contains(&sym);
        Found {
            opaque: found.opaque || (found.is_empty() && unknown),
            ..found
        }
    }

    /// Picks of what `from` sees, or where that is nothing of all.
    fn pick_seen(
        &self,
        module: ModuleId,
        bindings: &[Binding],
        wanted: Namespaces,
        from: Option<ModuleId>,
    ) -> Found {
        let seen = |binding: &&Binding| {
            binding.reach == Reach::Public
                || from.is_some_and(|from| binding.reach.is_seen_from(self.world, from))
        };
        if bindings.iter().any(|binding| !seen(&binding)) {
            let visible: Vec<Binding> = bindings.iter().filter(seen).copied().collect();
            let found = self.pick(Some(module), &visible, wanted);
            if !found.is_empty() {
                return found;
            }
        }
        self.pick(Some(module), bindings, wanted)
    }

    fn after(
        &self,
        before: &Found,
        (name, sym): (&str, Sym),
        wanted: Namespaces,
        from: Option<ModuleId>,
    ) -> Found {
        let mut result = Found {
            opaque: before.opaque,
            tail: before.tail + 1,
            ..Found::NONE
        };
        for (res, _) in before.all() {
            let found = match (res, name) {
                (Res::Module(module), "super") => self.parent_of(module),
                (Res::Module(module), "self") => Found::one(Res::Module(module), Namespaces::TYPE),
                (Res::Module(module), _) => self.in_module(module, sym, wanted, from),
                (Res::Item(item), _) => Found::one(self.of_item(item, sym), wanted),
                (Res::External(_), _) => Found::one(res, wanted),
                (Res::Variant(..) | Res::Member(..), _) => Found::UNKNOWN,
            };
            result.add(&found);
        }
        result
    }

    fn parent_of(&self, module: ModuleId) -> Found {
        let parent = self.world[module].parent;
        parent.map_or(Found::NONE, |parent| {
            Found::one(Res::Module(parent), Namespaces::TYPE)
        })
    }

    /// A name behind that of an item.
    fn of_item(&self, item: ItemId, sym: Sym) -> Res {
        let variants = self.world.variants.get(&item);
        if variants.is_some_and(|variants| variants.contains(&sym)) {
            Res::Variant(item, sym)
        } else {
            Res::Member(item, sym)
        }
    }
}

struct Request<'s> {
    segments: &'s [Segment],
    colons: bool,
    last: Namespaces,
    import: bool,
    /// Whether the path is read in a crate that is not known.
    quoted: bool,
}

impl Request<'_> {
    /// Whether the path is the name of a primitive type and nothing else, where a type is meant.
    fn is_primitive(&self, name: &str, wanted: Namespaces) -> bool {
        let is_alone = self.segments.len() == 1 && !self.import && !self.colons;
        is_alone && wanted == Namespaces::TYPE && PRIMITIVES.contains(name)
    }

    /// What the segment at `at` may be: the last one what the path names, those before it types and modules.
    fn wanted(&self, at: usize) -> Namespaces {
        if at + 1 == self.segments.len() {
            self.last
        } else {
            Namespaces::TYPE
        }
    }
}

/// What a path may also be that a macro reads as it likes.
fn other_namespaces(path: &PathFact) -> Option<Namespaces> {
    match path.origin {
        Origin::Code | Origin::Visibility | Origin::DocLink | Origin::FormatString => None,
        // A plain word would meet macros that it has nothing to do with.
        _ if path.segments.len == 1 && path.namespaces == Namespaces::MACRO => None,
        _ if path.segments.len == 1 => Some(Namespaces::TYPE.or(Namespaces::VALUE)),
        _ => Some(Namespaces::ALL),
    }
}

impl Lookup<'_> {
    /// The bindings of these namespaces; explicit ones hide those of globs, namespace by namespace,
    /// within one variant of the module that they are looked up in from outside.
    fn pick(&self, module: Option<ModuleId>, bindings: &[Binding], wanted: Namespaces) -> Found {
        let mut found = Found::NONE;
        let explicit = || bindings.iter().filter(|binding| !binding.glob);
        let apart = bindings.len() > 1
            && explicit().next().is_some()
            && module.is_some_and(|module| self.has_variants(module));
        for binding in bindings {
            let mut namespaces = binding.namespaces.and(wanted);
            if binding.glob {
                let hides = |one: &&Binding| !apart || self.shares_file(one, binding);
                let hidden = explicit().filter(hides);
                let hidden = hidden.fold(Namespaces(0), |all, one| all.or(one.namespaces));
                namespaces = Namespaces(namespaces.0 & !hidden.0);
            }
            if namespaces.0 == 0 {
                continue;
            }
            if found.is_empty() {
                found.import = binding.import;
                found.glob = binding.glob;
            }
            found.push(binding.res, namespaces);
        }
        if let Some(own) = self.own_import(&found, bindings) {
            found.import = Some(own);
        }
        found
    }

    /// The import of the asking file that brings the same as one of another file: where a module has several texts,
    /// each goes through its own.
    fn own_import(&self, found: &Found, bindings: &[Binding]) -> Option<(FileId, u32)> {
        let (picked, _) = found.import.filter(|_| bindings.len() > 1)?;
        let file = self.world.load(self.load).file;
        let (res, _) = found.all().next()?;
        let mut alike = bindings
            .iter()
            .filter(|one| picked != file && one.res == res && one.glob == found.glob);
        alike.find_map(|one| one.import.filter(|(own, _)| *own == file))
    }

    /// Whether a module has several bodies, each under a condition of its own.
    fn has_variants(&self, module: ModuleId) -> bool {
        let bodies = self.world.bodies_of(module);
        bodies.filter(|body| !body.included).count() > 1
    }

    /// Whether a definition or import stands in the file of an import.
    fn shares_file(&self, one: &Binding, import: &Binding) -> bool {
        let Some((file, _)) = import.import else {
            return true;
        };
        match (one.import, one.res) {
            (Some((own, _)), _) => own == file,
            (None, Res::Item(item)) => {
                let node = &self.world[item];
                node.definitions.iter().any(|(own, _)| *own == file)
            }
            _ => true,
        }
    }
}
