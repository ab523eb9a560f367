//! Which definitions leave their module, with the `impl`s that go with them, and where they go.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
};

use coalesce_model::{ByteSpan, Change, ChangeKind, Finding, Subject, TreePath};

use super::{
    super::{
        blocks, conditions, lines,
        mapping::{Mapping, refusal},
        place::Place,
        public::{is_in_program, is_way_for_others},
    },
    bare_calls, called,
    facades::{self, Facade},
    orphans,
    rules::{self, Rules},
};
use crate::{
    facts::{Impl, Item, ItemKind, Origin},
    lexer::{self, TokenKind},
    resolve::{Binding, FileId, ItemId, ModuleId, Reach, Res, World},
    syntax,
};

/// Where paths of a file begin that lead to items, sorted, with those.
type ItemSites = Vec<(u32, ItemId)>;

/// An item that gives up its name.
pub(in super::super) struct Moving<'a> {
    pub change: &'a Change,
    pub item: ItemId,
    pub kind: ItemKind,
    /// The module that has it before.
    pub home: ModuleId,
    /// The module that has it after.
    pub to: Place,
    /// Its name after.
    pub name: String,
    /// Whether a shim stays: one is asked for, and somebody outside the crate can name the item.
    pub shim: bool,
    /// What only macros have.
    pub rules: Option<Rules>,
    /// The module by which it is named after: that it is in, or the root for an exported macro.
    pub named_at: Place,
}

impl Moving<'_> {
    /// Whether its definition goes, and users name another one.
    pub fn gives_way(&self) -> bool {
        matches!(self.change.kind, ChangeKind::Replace { .. })
    }
}

/// A piece of text that leaves: a definition or an `impl`.
pub(in super::super) struct Chunk {
    /// Index into [`Set::moving`].
    pub moving: usize,
    pub file: FileId,
    /// Comments above it included.
    pub span: ByteSpan,
    /// Index into the file's items; `None` for an `impl`.
    pub definition: Option<u32>,
    /// The conditions on it, as attributes, those of its old module included.
    pub cfg: BTreeSet<String>,
    /// Conditions and allowed lints that it had from the modules around it and has to say itself.
    pub inherited: Vec<String>,
    /// Whether it is the call of a macro that the definition stands in.
    pub is_call: bool,
}

impl Chunk {
    /// A call of a macro: attributes other than conditions do nothing on it.
    fn of_call(mut self) -> Self {
        self.inherited.retain(|said| said.starts_with("#[cfg("));
        self.is_call = true;
        self
    }
}

/// Everything that leaves at once.
pub(in super::super) struct Set<'a> {
    pub mapping: &'a Mapping<'a>,
    pub moving: Vec<Moving<'a>>,
    /// Sorted by file and place.
    pub chunks: Vec<Chunk>,
    pub refusals: Vec<Finding>,
    /// Re-exports that give way to shims, by file and leaf.
    pub facades: BTreeMap<(FileId, u32), Facade>,
    /// Modules of which nothing stays.
    whole: BTreeSet<ModuleId>,
    by_item: BTreeMap<ItemId, usize>,
    /// The modules that something leaves.
    homes: BTreeSet<ModuleId>,
    /// What it is named before.
    old_names: BTreeSet<String>,
    /// What gives way, by the names of what takes its place.
    giving_way: BTreeMap<String, Vec<usize>>,
    /// What is named after at a place by a name, but for what gives way.
    arriving: BTreeMap<Place, BTreeMap<String, usize>>,
}

impl<'a> Set<'a> {
    /// Of the modules named in `homes`, nothing stays.
    pub fn new(mapping: &'a Mapping<'a>, homes: &[String]) -> Self {
        let named = homes.iter();
        let whole = named.filter_map(|home| mapping.world.modules_named(home).first().copied());
        let mut set = Self {
            mapping,
            moving: Vec::new(),
            chunks: Vec::new(),
            refusals: Vec::new(),
            facades: BTreeMap::new(),
            whole: whole.collect(),
            by_item: BTreeMap::new(),
            homes: BTreeSet::new(),
            old_names: BTreeSet::new(),
            giving_way: BTreeMap::new(),
            arriving: BTreeMap::new(),
        };
        let changes = mapping.changes.iter();
        for change in changes.filter(|change| change.subject == Subject::Item) {
            let refused = set.change(change).err();
            set.refusals.extend(refused);
        }
        set.definitions();
        set.implementations();
        set.bare_calls();
        let orphans = orphans::orphans(&set).into_iter();
        let orphans: Vec<Chunk> = orphans
            .filter_map(|one| set.chunk(one.moving, one.file, one.span, Some(one.item)))
            .collect();
        set.chunks.extend(orphans);
        set.chunks.sort_by_key(|chunk| (chunk.file, chunk.span));
        rules::place(&mut set);
        set.facades = facades::of(&set);
        set
    }

    pub fn world(&self) -> &'a World {
        self.mapping.world
    }

    /// What becomes of an item; `None` when it stays.
    pub fn of(&self, item: ItemId) -> Option<usize> {
        self.by_item.get(&item).copied()
    }

    /// What has a name at a place after because it comes there.
    pub fn arriving_at(&self, place: &Place, name: &str) -> Option<usize> {
        self.arriving.get(place)?.get(name).copied()
    }

    /// What gives way to something of such a name.
    pub fn giving_way_to(&self, name: &str) -> impl Iterator<Item = &Moving<'a>> {
        let found = self.giving_way.get(name).into_iter().flatten();
        found.map(|at| self.moving(*at))
    }

    /// Whether something leaves a module, or one around it.
    pub fn leaves_around(&self, module: ModuleId) -> bool {
        let mut around = std::iter::successors(Some(module), |at| self.world()[*at].parent);
        around.any(|module| self.homes.contains(&module))
    }

    /// The names that what leaves has before.
    pub fn old_names(&self) -> impl Iterator<Item = &String> {
        self.old_names.iter()
    }

    pub fn moving(&self, at: usize) -> &Moving<'a> {
        self.moving
            .get(at)
            .expect("invariant: what leaves is named by its place in the list")
    }

    /// Whether an item gets another name in its own module.
    pub fn is_in_place(&self, moving: &Moving<'_>) -> bool {
        !moving.gives_way() && moving.to == self.mapping.after(moving.home)
    }

    /// Whether a piece of text and a macro go to the same module.
    pub fn goes_along(&self, chunk: &Chunk, moving: &Moving<'_>) -> bool {
        let by = self.moving(chunk.moving);
        moving.rules.is_some()
            && !moving.gives_way()
            && by.to == moving.to
            && !self.is_dropped(chunk)
    }

    /// The macro that an import gives a path, and does nothing else.
    pub fn path_giver(&self, import: (FileId, u32)) -> Option<&Moving<'a>> {
        let gives = |moving: &&Moving<'_>| {
            let rules = moving.rules.as_ref();
            rules.is_some_and(|rules| rules.imports.iter().any(|(own, _)| *own == import))
        };
        self.moving.iter().find(gives)
    }

    /// Where the definitions are that get another name in their module.
    pub fn renamed_in_place(&self) -> Vec<(FileId, ByteSpan, String)> {
        let mut found = Vec::new();
        for moving in &self.moving {
            let node = &self.world()[moving.item];
            if !self.is_in_place(moving) {
                continue;
            }
            for (file, at) in &node.definitions {
                let span = self.world().facts(*file).item(*at).name.span;
                found.push((*file, span, moving.name.clone()));
            }
        }
        found
    }

    /// The piece of text that holds a byte, if that leaves.
    pub fn chunk_at(&self, file: FileId, at: u32) -> Option<&Chunk> {
        let before = self
            .chunks
            .partition_point(|chunk| (chunk.file, chunk.span.start) <= (file, at));
        let chunk = self.chunks.get(before.checked_sub(1)?)?;
        (chunk.file == file && at < chunk.span.end).then_some(chunk)
    }

    /// Whether a chunk goes away instead of moving.
    pub fn is_dropped(&self, chunk: &Chunk) -> bool {
        let moving = self.moving(chunk.moving);
        let kept = chunk.definition.is_none() && self.is_whole(moving.home);
        !kept && moving.gives_way()
    }

    /// Whether nothing of a module stays: then `impl`s of what gives way are text of its successor.
    pub fn is_whole(&self, home: ModuleId) -> bool {
        self.whole.contains(&home)
    }

    /// The full name of a moving item after.
    pub fn name_after(&self, moving: &Moving<'_>) -> String {
        format!(
            "{}::{}",
            self.mapping.name_of(&moving.named_at),
            moving.name
        )
    }

    fn change(&mut self, change: &'a Change) -> Result<(), Finding> {
        let world = self.world();
        let unknown = |message: String| refusal(TreePath::root(), message);
        let (parent, name) = change
            .from
            .rsplit_once("::")
            .ok_or_else(|| unknown(format!("`{}` names no item", change.from)))?;
        let home = world.modules_named(parent).first().copied();
        let home = home.ok_or_else(|| unknown(format!("there is no module `{parent}`")))?;
        let file = self.mapping.file_of(home);
        let refused = |message: String| refusal(file.clone(), message);
        let (items, home, through_root) = named(world, home, name);
        check_definition(world, home, (parent, name), &items).map_err(refused)?;
        let (mut to, name) = self.target(change, home).map_err(refused)?;
        if through_root && to == Place::root(self.mapping.krate(home)) {
            // The root only names an exported macro: its text stays where it is.
            to = self.mapping.after(home);
        }
        for item in items {
            let moving = self.one(change, (item, home), (&to, &name));
            let moving = moving.map_err(refused)?;
            self.note(item, &moving);
            self.moving.push(moving);
        }
        Ok(())
    }

    /// The module that a change names, and the name of the item there.
    fn target(&self, change: &Change, home: ModuleId) -> Result<(Place, String), String> {
        let here = self.mapping.krate(home);
        let target = self.mapping.target(Some(here), &change.to);
        let (krate, below) = target.ok_or_else(|| {
            format!(
                "`{}` is in no library of the tree: `{}` cannot go there",
                change.to, change.from
            )
        })?;
        let mut path: Vec<String> = below.split("::").map(str::to_owned).collect();
        let name = path.pop().unwrap_or_default();
        Ok((Place { krate, path }, name))
    }

    /// Notes by what names something is found that is the next to leave.
    fn note(&mut self, item: ItemId, moving: &Moving<'_>) {
        let at = self.moving.len();
        self.by_item.insert(item, at);
        self.homes.insert(moving.home);
        self.old_names.insert(self.world()[item].name.clone());
        if moving.gives_way() {
            let named = self.giving_way.entry(moving.name.clone()).or_default();
            named.push(at);
        } else {
            let named = self.arriving.entry(moving.named_at.clone()).or_default();
            named.entry(moving.name.clone()).or_insert(at);
        }
    }

    /// An item that leaves `home`; why it cannot.
    fn one(
        &self,
        change: &'a Change,
        (item, home): (ItemId, ModuleId),
        (to, name): (&Place, &str),
    ) -> Result<Moving<'a>, String> {
        let world = self.world();
        let rules = rules_of(world, change, item, home)?;
        let exported = rules.as_ref().is_some_and(|rules| rules.exported);
        let known = match rules {
            // The name that it has in the root is what others know.
            Some(_) => {
                let crosses = to.krate != self.mapping.krate(home);
                exported && (crosses || world[item].name != name)
            }
            None => is_way_for_others(self.mapping, home) && is_bound_public(world, home, item),
        };
        let root = exported.then(|| Place::root(to.krate));
        Ok(Moving {
            change,
            item,
            kind: world[item].kind,
            home,
            to: to.clone(),
            name: name.to_owned(),
            shim: change.shim.is_some() && known,
            rules,
            named_at: root.unwrap_or_else(|| to.clone()),
        })
    }

    fn definitions(&mut self) {
        let mut found = Vec::new();
        let mut refusals = Vec::new();
        let all = self.moving.iter().enumerate().flat_map(|(at, moving)| {
            let definitions = self.world()[moving.item].definitions.iter();
            definitions.map(move |place| (at, moving, *place))
        });
        for (at, moving, place) in all {
            match self.definition(at, moving, place) {
                // What one call makes leaves once.
                Ok(Some(chunk)) if chunk.is_call && is_there(&found, &chunk) => {}
                Ok(chunk) => found.extend(chunk),
                Err(message) => refusals.push(refusal(self.path(place.0), message)),
            }
        }
        self.chunks.extend(found);
        self.refusals.extend(refusals);
    }

    /// The text of a definition; why it cannot be cut out.
    fn definition(
        &self,
        at: usize,
        moving: &Moving<'_>,
        (file, index): (FileId, u32),
    ) -> Result<Option<Chunk>, String> {
        let text = self.mapping.texts.text(&self.path(file));
        if let Some(call) = self.whole_call(moving, (file, index), text.as_deref()) {
            let chunk = self.chunk(at, file, call, Some(index));
            return Ok(chunk.map(Chunk::of_call));
        }
        self.check_text(moving, (file, index), text.as_deref())
            .map_err(|why| format!("`{}` {why}", moving.change.from))?;
        let span = self.world().facts(file).item(index).span;
        Ok(self.chunk(at, file, span, Some(index)))
    }

    /// The call of a macro that a definition leaves with.
    fn whole_call(
        &self,
        moving: &Moving<'_>,
        (file, index): (FileId, u32),
        text: Option<&str>,
    ) -> Option<ByteSpan> {
        if self.is_in_place(moving) || moving.gives_way() {
            return None;
        }
        let facts = self.world().facts(file);
        let goes = |item: &Item| self.goes_with(moving, file, item);
        let home = (self.world(), moving.home);
        called::whole_call(home, (facts, facts.item(index)), text?, &goes)
    }

    /// Why a definition cannot be cut out by itself, said of its name.
    fn check_text(
        &self,
        moving: &Moving<'_>,
        (file, index): (FileId, u32),
        text: Option<&str>,
    ) -> Result<(), &'static str> {
        let facts = self.world().facts(file);
        let fact = facts.item(index);
        if fact.origin != Origin::Code || facts.problem.is_some() {
            return Err(
                "is defined where it cannot be cut out: in a macro call, or in a file that does not parse",
            );
        }
        let is_root = self.world()[moving.home].parent.is_none();
        let is_main = facts.name(fact.name.name) == "main";
        if is_root && is_main && is_in_program(self.mapping, moving.home) {
            return Err("is where its program starts, and stays there");
        }
        let own = text.and_then(|text| fact.span.of(text));
        if moving.rules.is_some() && !own.is_some_and(rules::is_by_example) {
            return Err("is no `macro_rules!`: other macros do not move");
        }
        match own.is_none_or(is_no_item) {
            true => Err("is declared in an `extern` block, which names its library"),
            false => Ok(()),
        }
    }

    /// Whether an item of a file goes to the same place as another one, each by its own name.
    fn goes_with(&self, moving: &Moving<'_>, file: FileId, item: &Item) -> bool {
        let facts = self.world().facts(file);
        let name = facts.name(item.name.name);
        let mut others = self.moving.iter();
        let keeps_name = |one: &Moving<'_>| self.world()[one.item].name == one.name;
        keeps_name(moving)
            && others.any(|other| {
                let node = &self.world()[other.item];
                let is_it = node
                    .definitions
                    .iter()
                    .any(|(own, at)| *own == file && facts.item(*at).name.span == item.name.span);
                is_it
                    && node.name == name
                    && keeps_name(other)
                    && !other.gives_way()
                    && other.to == moving.to
            })
    }

    /// The definitions that a piece of text has: of a call, all that it makes.
    pub fn definitions_in(&self, chunk: &Chunk) -> Vec<(usize, u32)> {
        let Some(own) = chunk.definition else {
            return Vec::new();
        };
        if !chunk.is_call {
            return vec![(chunk.moving, own)];
        }
        let facts = self.world().facts(chunk.file);
        let mut found = Vec::new();
        for (at, moving) in self.moving.iter().enumerate() {
            let node = &self.world()[moving.item];
            let inside = node.definitions.iter().find(|(file, index)| {
                *file == chunk.file && chunk.span.contains(facts.item(*index).name.span)
            });
            found.extend(inside.map(|(_, index)| (at, *index)));
        }
        found
    }

    /// The `impl` blocks of the module for what moves.
    fn implementations(&mut self) {
        let own = self.world().impls().iter();
        let own = own.filter(|one| self.homes.contains(&one.module));
        let sites = RefCell::default();
        let stand_ins = self.stand_ins();
        let found = own.filter_map(|one| {
            let marked = self.marked(&stand_ins, one.file, one.span);
            let named = marked.or_else(|| self.of(one.of?));
            let foreign = || self.foreign_impl(one.file, &one.fact, &sites);
            let whole = || self.any_of(one.module);
            let moving = named.or_else(foreign).or_else(whole)?;
            let here = self.moving(moving).home == one.module;
            here.then(|| self.chunk(moving, one.file, one.span, None))?
        });
        let mut found: Vec<Chunk> = found.collect();
        // What stands in a call that moves goes with it.
        let calls: Vec<&Chunk> = self.chunks.iter().filter(|chunk| chunk.is_call).collect();
        found.retain(|one| {
            let mut calls = calls.iter();
            !calls.any(|call| call.file == one.file && call.span.contains(one.span))
        });
        self.chunks.extend(found);
    }

    /// Calls of macros that go with what they are given.
    fn bare_calls(&mut self) {
        let calls = bare_calls::find(self).into_iter();
        let chunks = calls.filter_map(|call| {
            let mut chunk = self.chunk(call.moving, call.file, call.span, None)?;
            // Attributes other than conditions do nothing on a call.
            chunk.inherited.retain(|said| said.starts_with("#[cfg("));
            Some(chunk)
        });
        let chunks: Vec<Chunk> = chunks.collect();
        self.chunks.extend(chunks);
    }

    /// The types that stand above blocks while these move: by the files and ends of their definitions.
    fn stand_ins(&self) -> BTreeMap<(FileId, u32), usize> {
        let mut found = BTreeMap::new();
        for (moving, one) in self.moving.iter().enumerate() {
            let node = &self.world()[one.item];
            if !blocks::is_stand_in(&node.name) {
                continue;
            }
            for (file, at) in &node.definitions {
                let end = self.world().facts(*file).item(*at).span.end;
                found.insert((*file, end), moving);
            }
        }
        found
    }

    /// The type that stands above a block while that moves by itself: nothing but space is between them.
    fn marked(
        &self,
        stand_ins: &BTreeMap<(FileId, u32), usize>,
        file: FileId,
        block: ByteSpan,
    ) -> Option<usize> {
        let before = stand_ins.range(..=(file, block.start)).next_back();
        let ((own, end), moving) = before.filter(|((own, _), _)| *own == file)?;
        let text = self.mapping.texts.text(&self.path(*own))?;
        let start = lines::with_comments_above(&text, block).start;
        let between = ByteSpan::new((*end).min(start), start).of(&text)?;
        (*end <= start && between.trim().is_empty()).then_some(*moving)
    }

    /// What moves and is all that an `impl` of somebody's trait for somebody's type has of this
    /// crate: `impl From<Error> for std::io::Error`.
    fn foreign_impl(
        &self,
        file: FileId,
        fact: &Impl,
        sites: &RefCell<BTreeMap<FileId, ItemSites>>,
    ) -> Option<usize> {
        let text = self.mapping.texts.text(&self.path(file))?;
        let open = fact.span.of(&text)?.find('{')?;
        let head = ByteSpan::new(fact.span.start, fact.span.start + u32::try_from(open).ok()?);
        let (mut moving, mut other) = (None, fact.trait_path.is_none());
        let mut sites = sites.borrow_mut();
        let sites = sites.entry(file).or_insert_with(|| self.item_sites(file));
        if let Some(at) = self.behind_reference(&text, head, sites) {
            return Some(at);
        }
        let first = sites.partition_point(|(at, _)| *at < head.start);
        let inside = sites.get(first..).unwrap_or_default().iter();
        for (_, item) in inside.take_while(|(at, _)| *at < head.end) {
            match self.of(*item) {
                Some(at) => moving = moving.or(Some(at)),
                None => other = true,
            }
        }
        moving.filter(|_| !other)
    }

    /// What moves, where an `impl` is for a reference to it: `impl Add<&Other> for &Vector`.
    fn behind_reference(&self, text: &str, head: ByteSpan, sites: &ItemSites) -> Option<usize> {
        let tokens = lexer::tokens(text, head);
        let word = |at: usize| tokens.get(at).and_then(|one| one.span.of(text));
        let is_head = |at: &usize| word(*at) == Some("for") && word(*at + 1) != Some("<");
        let behind = (0..tokens.len()).find(is_head)? + 1;
        let is_reference = |at: usize| {
            let token = tokens.get(at);
            word(at) == Some("mut") || token.is_some_and(|one| one.kind == TokenKind::Lifetime)
        };
        let mut of = (behind + 1..tokens.len()).skip_while(|at| is_reference(*at));
        let of = of.next().filter(|_| word(behind) == Some("&"))?;
        let start = tokens.get(of)?.span.start;
        let first = sites.partition_point(|(at, _)| *at < start);
        let named = sites.get(first..).unwrap_or_default().iter();
        let mut named = named.take_while(|(at, _)| *at == start);
        let moving = named.find_map(|(_, item)| self.of(*item))?;
        (!self.moving(moving).gives_way()).then_some(moving)
    }

    /// The items that paths of a file lead to.
    fn item_sites(&self, file: FileId) -> ItemSites {
        let mut sites = Vec::new();
        let world = self.world();
        world.visit_file(&world[file], &mut |_, site| {
            let first = site.segments.first().map(|first| first.span.start);
            let last = site.trace.steps.last();
            for (res, _) in last.into_iter().flat_map(|last| last.all()) {
                if let (Some(at), Res::Item(item)) = (first, res) {
                    sites.push((at, item));
                }
            }
        });
        // Of one place in the order of what it may mean.
        sites.sort_by_key(|(at, _)| *at);
        sites
    }

    /// Whoever takes along what belongs to no item of a module of which nothing stays.
    fn any_of(&self, home: ModuleId) -> Option<usize> {
        let whole = self.is_whole(home);
        whole.then(|| self.moving.iter().position(|one| one.home == home))?
    }

    fn chunk(
        &self,
        moving: usize,
        file: FileId,
        span: ByteSpan,
        definition: Option<u32>,
    ) -> Option<Chunk> {
        let node = self.moving(moving);
        if self.is_in_place(node) {
            // It gets another name where it is.
            return None;
        }
        let text = self.mapping.texts.text(&self.path(file))?;
        let own = span.of(&text).unwrap_or_default();
        let dropped = node.gives_way() && (definition.is_some() || !self.is_whole(node.home));
        let test = !dropped && is_test(own);
        let inherited = match dropped {
            true => Vec::new(),
            false => self.inherited(node, (file, span.start), test),
        };
        let mut cfg = conditions(own);
        // Without tests, nobody uses what a test imports.
        if test && conditions::is_there_without_tests(self.mapping, &node.to) {
            cfg.insert(conditions::FOR_TESTS.to_owned());
        }
        let known = inherited.iter().filter(|said| said.starts_with("#[cfg("));
        cfg.extend(known.cloned());
        Some(Chunk {
            moving,
            file,
            span: lines::with_comments_above(&text, span),
            definition,
            cfg,
            inherited,
            is_call: false,
        })
    }

    /// What a text of a file has to say itself where it goes; of a test, that it is there for tests alone.
    fn inherited(
        &self,
        moving: &Moving<'_>,
        (file, at): (FileId, u32),
        is_test: bool,
    ) -> Vec<String> {
        let mapping = self.mapping;
        let body = conditions::body_at(mapping.world, moving.home, file, at);
        let mut inherited = conditions::around_item(mapping, moving.home, body, &moving.to);
        let homes = (moving.home, &moving.to);
        if is_test && conditions::needs_test(mapping, homes, &inherited) {
            inherited.push(conditions::FOR_TESTS.to_owned());
        }
        inherited
    }

    pub fn path(&self, file: FileId) -> TreePath {
        let file = &self.world()[file];
        file.path.clone()
    }
}

/// Whether a piece of text is among others.
fn is_there(found: &[Chunk], chunk: &Chunk) -> bool {
    let mut found = found.iter();
    found.any(|one| one.file == chunk.file && one.span == chunk.span)
}

/// The items that a module defines by a name, or that it exports as the root of its crate; the
/// module that defines them, and whether the root only exports them.
fn named(world: &World, home: ModuleId, name: &str) -> (Vec<ItemId>, ModuleId, bool) {
    let own = |item: &ItemId| {
        let node = &world[item];
        node.module == home && !node.local
    };
    let items: Vec<ItemId> = world.items_of(home, name).into_iter().filter(own).collect();
    if !items.is_empty() {
        return (items, home, false);
    }
    let items = rules::exported_by(world, home, name);
    let first = items.first().map(|item| &world[item]);
    let home = first.map_or(home, |node| node.module);
    (items, home, true)
}

/// Whether a module has a name by an import as well.
fn is_imported_too(world: &World, home: ModuleId, name: &str, items: &[ItemId]) -> bool {
    // `use name;` behind a macro gives that very macro a path.
    let itself = |binding: &&Binding| {
        binding.import.is_some()
            && matches!(binding.res, Res::Item(item) if items.contains(&item)
                && rules::of(world, home, item).is_some())
    };
    let bindings = world.bindings(home, name);

    let own = |import: bool| {
        let own = bindings
            .iter()
            .filter(move |binding| !binding.glob && binding.import.is_some() == import)
            .filter(|binding| !itself(binding));
        own.fold(crate::facts::Namespaces(0), |all, one| {
            all.or(one.namespaces)
        })
    };
    own(true).meets(own(false))
}

/// Whether a module shows an item that it defines to everybody.
pub(in super::super) fn is_bound_public(world: &World, home: ModuleId, item: ItemId) -> bool {
    let mut all = world.bindings(home, &world[item].name).iter();
    all.any(|binding| {
        binding.import.is_none() && binding.res == Res::Item(item) && binding.reach == Reach::Public
    })
}

/// Whether a text is a test, which nobody calls.
pub(super) fn is_test(text: &str) -> bool {
    let _trees = syntax::Trees::begin();
    text.contains("test") && {
        let parsed = syntax::parse::<syn::ItemFn>(text);

        parsed.is_ok_and(|item| {
            let mut attributes = item.attrs.iter();
            attributes.any(|attribute| attribute.path().is_ident("test"))
        })
    }
}

/// The conditions of an item's text, as attributes.
pub(in crate::rewrite) fn conditions(text: &str) -> BTreeSet<String> {
    let _trees = syntax::Trees::begin();
    let parsed = syntax::parse::<syn::Item>(text).ok();
    let found = parsed.as_ref().map(|item| match item {
        syn::Item::Const(item) => conditions::conditions(&item.attrs),
        syn::Item::Enum(item) => conditions::conditions(&item.attrs),
        syn::Item::Fn(item) => conditions::conditions(&item.attrs),
        syn::Item::Impl(item) => conditions::conditions(&item.attrs),
        syn::Item::Macro(item) => conditions::conditions(&item.attrs),
        syn::Item::Static(item) => conditions::conditions(&item.attrs),
        syn::Item::Struct(item) => conditions::conditions(&item.attrs),
        syn::Item::Trait(item) => conditions::conditions(&item.attrs),
        syn::Item::TraitAlias(item) => conditions::conditions(&item.attrs),
        syn::Item::Type(item) => conditions::conditions(&item.attrs),
        syn::Item::Union(item) => conditions::conditions(&item.attrs),
        _ => Vec::new(),
    });
    found.unwrap_or_default().into_iter().collect()
}

/// Whether a text is no item by itself, as one in an `extern` block.
fn is_no_item(text: &str) -> bool {
    let _trees = syntax::Trees::begin();
    let item = syntax::parse::<syn::Item>(text);
    let foreign = matches!(item, Err(_) | Ok(syn::Item::Verbatim(_)));
    foreign
}

/// What only macros have of an item that leaves its module; why that cannot leave.
fn rules_of(
    world: &World,
    change: &Change,
    item: ItemId,
    home: ModuleId,
) -> Result<Option<Rules>, String> {
    let from = &change.from;
    if world[item].kind == ItemKind::Unknown {
        return Err(format!(
            "`{from}` comes out of a macro: there is no text of it to move"
        ));
    }
    let rules = rules::of(world, home, item);
    if rules.is_some() && rules::is_redefined(world, item) {
        return Err(format!(
            "`{from}` is defined several times, and calls see the one above them"
        ));
    }
    Ok(rules)
}

/// Why what a module has by a name is not what it defines.
fn check_definition(
    world: &World,
    home: ModuleId,
    (parent, name): (&str, &str),
    items: &[ItemId],
) -> Result<(), String> {
    if items.is_empty() {
        return Err(format!("`{parent}` does not define `{name}` itself"));
    }
    match is_imported_too(world, home, name, items) {
        true => Err(format!(
            "`{parent}::{name}` is defined under one condition and imported under another"
        )),
        false => Ok(()),
    }
}
