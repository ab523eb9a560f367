//! Fields, methods and associated items that code names which no longer stands where it sees them.
//!
//! Code may name a member after a dot whose receiver nobody knows. It counts as naming it where it
//! can have a value of that type at all; what only has the same name is left as it is. Each widening
//! is a note of the plan, and one that lets other crates in is a warning.

use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet},
};

use coalesce_model::{ByteSpan, Edit, Finding, TreePath, finding::codes};
use rustc_hash::FxHashMap;

use super::{
    code::{Code, Mention, Resolved},
    members::{Member, MemberKind},
    types::Reachable,
};
use crate::{
    facts::{ItemKind, ScopeKind},
    resolve::{Body, CrateId, FileId, ItemId, ModuleId, World, is_within},
    rewrite::{
        mapping::{Mapping, refusal},
        needs::{Need, NeededThing},
        place::Place,
        public::severity_of_widening,
        relocation::{Piece, Relocation},
    },
};

/// What the widenings of members take.
#[derive(Default)]
pub(in super::super) struct MemberWidenings {
    pub edits: BTreeMap<TreePath, Vec<Edit>>,
    pub notes: Vec<Finding>,
    pub refusals: Vec<Finding>,
    /// Types that come with what is widened.
    pub needs: Vec<Need>,
    /// Where members become `pub`.
    pub public: Vec<(FileId, u32)>,
}

impl MemberWidenings {
    /// The same, each edit and each note once.
    fn sorted(mut self) -> Self {
        for edits in self.edits.values_mut() {
            edits.sort();
            edits.dedup();
        }
        self.notes.sort();
        self.notes.dedup();
        self
    }
}

/// Code of one module before and one after.
struct Region {
    from: ModuleId,
    to: Place,
    parts: Vec<(FileId, ByteSpan)>,
    moves: bool,
    /// The bodies of the macros that it calls: they are read where they are called.
    bodies: OnceCell<Vec<(FileId, ByteSpan)>>,
    code: OnceCell<Code>,
    types: OnceCell<BTreeSet<ItemId>>,
}

impl Region {
    /// Whether a word stands in the code, as part of another one or not.
    fn says(&self, tree: &Resolved<'_>, word: &str) -> bool {
        let mut parts = self.parts.iter().chain(self.bodies(tree));
        parts.any(|(file, span)| {
            let text = tree.text_of(*file);
            let part = text.as_deref().and_then(|text| span.of(text));
            part.is_some_and(|part| part.contains(word))
        })
    }

    fn code(&self, tree: &Resolved<'_>) -> &Code {
        self.code.get_or_init(|| {
            let mut code = Code::default();
            for (file, span) in self.parts.iter().chain(self.bodies(tree)) {
                code.read(tree, *file, *span);
            }
            code
        })
    }

    fn bodies(&self, tree: &Resolved<'_>) -> &[(FileId, ByteSpan)] {
        self.bodies.get_or_init(|| bodies_called(tree, &self.parts))
    }
}

/// The definitions of the macros that code calls, and of those that these call.
fn bodies_called(tree: &Resolved<'_>, parts: &[(FileId, ByteSpan)]) -> Vec<(FileId, ByteSpan)> {
    let world = tree.world;
    let mut open = parts.to_vec();
    let mut seen: BTreeSet<ItemId> = BTreeSet::new();
    let mut found = Vec::new();
    while let Some((file, span)) = open.pop() {
        let paths = tree.paths_of(file);
        let named = paths.within(span).flat_map(|named| &named.items);
        let macros = named.filter(|item| world[**item].kind == ItemKind::Macro);
        for item in macros.filter(|item| seen.insert(**item)) {
            let definitions = world[*item].definitions.iter();
            let bodies = definitions.map(|(file, at)| (*file, world.facts(*file).item(*at).span));
            open.extend(bodies.clone());
            found.extend(bodies);
        }
    }
    found
}

/// Why code can no longer see a member.
#[derive(Clone, Copy)]
enum Cause<'m> {
    CodeLeaves,
    MemberLeaves,
    /// It has named this type so far.
    Replaces(&'m str),
}

/// Works out what has to be widened.
pub(in super::super) fn widen(relocation: &Relocation<'_>) -> MemberWidenings {
    if relocation.pieces.is_empty() && relocation.replaced.is_empty() {
        return MemberWidenings::default();
    }
    let world = relocation.mapping.world;
    let tree = Resolved::new(world, relocation.mapping.texts);
    let regions = regions(relocation);
    let within = regions_by_module(world, &regions);
    let mut work = Work {
        relocation,
        tree: &tree,
        reachable: Reachable::new(&tree),
        regions,
        within,
        old_reach: BTreeMap::new(),
        restricted: BTreeMap::new(),
        homes: Homes::of(relocation),
        made: MemberWidenings::default(),
    };
    work.read_replaced();
    work.members();
    work.replacements();
    work.made.sorted()
}

/// The regions in each module, or in one below it.
fn regions_by_module(world: &World, regions: &[Region]) -> BTreeMap<ModuleId, Vec<usize>> {
    let mut within: BTreeMap<ModuleId, Vec<usize>> = BTreeMap::new();
    for (index, region) in regions.iter().enumerate() {
        let above = |module: &ModuleId| world[*module].parent;
        for module in std::iter::successors(Some(region.from), above) {
            within.entry(module).or_default().push(index);
        }
    }
    within
}

/// All code of the tree that stays or moves, by module before and after.
fn regions(relocation: &Relocation<'_>) -> Vec<Region> {
    let mapping = relocation.mapping;
    let mut found: BTreeMap<(ModuleId, Place, bool), Vec<(FileId, ByteSpan)>> = BTreeMap::new();
    for piece in &relocation.pieces {
        let key = (piece.from, piece.to.clone(), true);
        found.entry(key).or_default().push((piece.file, piece.span));
    }
    let mut apart = Apart::new(relocation);
    for body in &mapping.world.bodies {
        let key = (body.module, mapping.after(body.module), false);
        let parts = apart.parts_that_stay(body).into_iter();
        let parts = parts.map(|span| (body.file, span));
        found.entry(key).or_default().extend(parts);
    }
    let regions = found.into_iter().map(|((from, to, moves), parts)| Region {
        from,
        to,
        parts,
        moves,
        bodies: OnceCell::new(),
        code: OnceCell::new(),
        types: OnceCell::new(),
    });
    regions.filter(|region| !region.parts.is_empty()).collect()
}

/// What does not stay of the bodies of a tree, or is a body of its own.
struct Apart<'a> {
    world: &'a World,
    /// The modules of a file that stand in it, by where they begin.
    modules: FxHashMap<FileId, Vec<ByteSpan>>,
    /// What moves or goes, by the body that it leaves.
    leaving: FxHashMap<(ModuleId, FileId), Vec<ByteSpan>>,
}

impl<'a> Apart<'a> {
    fn new(relocation: &Relocation<'a>) -> Self {
        let mut leaving: FxHashMap<_, Vec<ByteSpan>> = FxHashMap::default();
        for piece in &relocation.pieces {
            let of = leaving.entry((piece.from, piece.file)).or_default();
            of.push(piece.span);
        }
        for (module, file, span) in &relocation.gone {
            leaving.entry((*module, *file)).or_default().push(*span);
        }
        Self {
            world: relocation.mapping.world,
            modules: FxHashMap::default(),
            leaving,
        }
    }

    /// The parts of a body that neither move nor are modules of their own.
    fn parts_that_stay(&mut self, body: &Body) -> Vec<ByteSpan> {
        let facts = self.world.facts(body.file);
        let own = facts.scope(body.scope).span;
        let modules = self.modules.entry(body.file).or_insert_with(|| {
            let scopes = facts.scopes.iter();
            let scopes = scopes.filter(|one| matches!(one.kind, ScopeKind::Module(_)));
            let mut spans: Vec<ByteSpan> = scopes.map(|one| one.span).collect();
            spans.sort();
            spans
        });
        let first = modules.partition_point(|one| one.start < own.start);
        let inner = modules.iter().skip(first);
        let inner = inner.take_while(|one| one.start <= own.end);
        let leaving = self.leaving.get(&(body.module, body.file));
        let mut others: Vec<ByteSpan> = inner
            .filter(|one| **one != own)
            .chain(leaving.into_iter().flatten())
            .filter(|one| own.start <= one.start && one.end <= own.end)
            .copied()
            .collect();
        others.sort();
        let mut found = Vec::new();
        let mut start = own.start;
        for other in others.into_iter().chain([ByteSpan::empty(own.end)]) {
            if other.start > start {
                found.push(ByteSpan::new(start, other.start));
            }
            start = start.max(other.end);
        }
        found
    }
}

struct Work<'w, 'a> {
    relocation: &'w Relocation<'a>,
    tree: &'w Resolved<'w>,
    reachable: Reachable<'w, 'w>,
    regions: Vec<Region>,
    /// The regions in or below each module.
    within: BTreeMap<ModuleId, Vec<usize>>,
    /// How far the members of replaced types are seen, by type and name; none: everywhere.
    old_reach: BTreeMap<(ItemId, String), Option<ModuleId>>,
    /// Whether a file says that something is seen by a part of the crate alone; read once, whatever
    /// the number of its modules.
    restricted: BTreeMap<FileId, bool>,
    homes: Homes,
    made: MemberWidenings,
}

/// Where what leaves comes from.
struct Homes {
    /// The pieces of each module and file, by their starts.
    pieces: BTreeMap<(ModuleId, FileId), Vec<usize>>,
    /// The modules that pieces leave.
    modules: BTreeSet<ModuleId>,
    /// Those, and the modules around them.
    around: BTreeSet<ModuleId>,
    /// Their crates.
    crates: BTreeSet<CrateId>,
    /// The crates of what gives way.
    replaced: BTreeSet<CrateId>,
}

impl Homes {
    fn of(relocation: &Relocation<'_>) -> Self {
        let (mapping, world) = (relocation.mapping, relocation.mapping.world);
        let mut pieces: BTreeMap<(ModuleId, FileId), Vec<usize>> = BTreeMap::new();
        for (at, piece) in relocation.pieces.iter().enumerate() {
            let own = pieces.entry((piece.from, piece.file));
            own.or_default().push(at);
        }
        for own in pieces.values_mut() {
            own.sort_by_key(|at| relocation.pieces.get(*at).map(|piece| piece.span));
        }
        let modules: BTreeSet<ModuleId> = pieces.keys().map(|(module, _)| *module).collect();
        let mut around = BTreeSet::new();
        for module in &modules {
            let mut at = Some(*module);
            while let Some(module) = at.filter(|module| around.insert(*module)) {
                at = world[module].parent;
            }
        }
        let replaced = relocation.replaced.values();
        Self {
            crates: modules
                .iter()
                .map(|module| mapping.krate(*module))
                .collect(),
            replaced: replaced
                .map(|item| mapping.krate(world[item].module))
                .collect(),
            pieces,
            modules,
            around,
        }
    }

    /// Whether a module is in or around one that a piece leaves.
    fn are_near(&self, world: &World, module: ModuleId) -> bool {
        let mut outer = std::iter::successors(Some(module), |at| world[*at].parent);
        self.around.contains(&module) || outer.any(|outer| self.modules.contains(&outer))
    }
}

impl<'a> Work<'_, 'a> {
    fn mapping(&self) -> &Mapping<'_> {
        self.relocation.mapping
    }

    /// Works every member out that may have to be widened, each place of one once.
    fn members(&mut self) {
        let tree = self.tree;
        let mut seen = BTreeSet::new();
        for body in &tree.world.bodies {
            if !self.may_matter(body) {
                continue;
            }
            let members = tree.members_of(body);
            let new = members.of(body).iter().filter(|member| {
                seen.insert((member.file, member.at, member.home, member.name.clone()))
            });
            for member in new {
                self.member(member);
            }
        }
    }

    fn read_replaced(&mut self) {
        let world = self.tree.world;
        let home = |item: &ItemId| Some(world[item].module);
        let homes: BTreeSet<ModuleId> = self.relocation.replaced.keys().filter_map(home).collect();
        let bodies = world.bodies.iter();
        for body in bodies.filter(|body| homes.contains(&body.module)) {
            for member in self.tree.members_of(body).of(body) {
                let key = |of: &ItemId| (*of, member.name.clone());
                let own = member.of.iter().map(|of| (key(of), member.reach));
                self.old_reach.extend(own);
            }
        }
    }

    /// Whether members of a body may be out of sight after, or become those of what gave way.
    fn may_matter(&mut self, body: &Body) -> bool {
        let world = self.mapping().world;
        let home = body.module;
        let own = self.mapping().krate(home);
        self.homes.replaced.contains(&own)
            || self.homes.are_near(world, home)
            || (self.homes.crates.contains(&own) && self.is_restricted(body.file))
    }

    fn is_restricted(&mut self, file: FileId) -> bool {
        let tree = self.tree;
        *self.restricted.entry(file).or_insert_with(|| {
            let said = ["pub(super)", "pub(in", "pub(crate)", "pub(self)"];
            let text = tree.text_of(file);
            text.is_some_and(|text| said.iter().any(|said| text.contains(said)))
        })
    }

    /// The piece that a byte of a module stands in.
    fn piece_at(&self, file: FileId, module: ModuleId, at: u32) -> Option<&Piece> {
        let pieces = &self.relocation.pieces;
        let own = self.homes.pieces.get(&(module, file))?;
        let starts = |piece: &usize| pieces.get(*piece).is_some_and(|one| one.span.start <= at);
        let before = own.partition_point(starts);
        let last = own.get(before.checked_sub(1)?)?;
        pieces.get(*last).filter(|piece| at < piece.span.end)
    }

    fn member(&mut self, member: &Member) {
        let Some(reach) = member.reach else { return };
        let at = member.at.start;
        if self.relocation.is_gone(member.home, member.file, at) {
            return;
        }
        let piece = self.piece_at(member.file, member.home, at);
        if piece.is_some_and(|piece| !piece.members) {
            return;
        }
        let moves = piece.is_some();
        let home = piece.map_or_else(
            || self.mapping().after(member.home),
            |piece| piece.to.clone(),
        );
        let seen = self.seen_after(member, reach, &home);
        let mut wanted: Option<(Option<Place>, Cause<'_>)> = None;
        let takes_over = self.replaced_by(member).next().is_some();
        let users: Vec<usize> = match takes_over {
            false => self.within.get(&reach).cloned().unwrap_or_default(),
            true => (0..self.regions.len()).collect(),
        };
        for at in users {
            let Some(region) = self.regions.get(at) else {
                break;
            };
            if !(moves || region.moves || takes_over) || region.to.is_within(&seen) {
                continue;
            }
            let Some((of, cause)) = self.cause(member, reach, moves, region) else {
                continue;
            };
            if !self.names(at, member, &of) {
                continue;
            }
            let Some(region) = self.regions.get(at) else {
                break;
            };
            let needs = types_out_of_sight(self.relocation.mapping, member, &region.to);
            self.made.needs.extend(needs);
            let (reach, _) = wanted.get_or_insert((Some(seen.clone()), cause));
            *reach = reach.take().and_then(|reach| reach.common(&region.to));
        }
        if let Some((reach, cause)) = wanted.filter(|_| member.kind != MemberKind::Function) {
            self.write(member, reach, &home, cause);
        }
    }

    /// The types that the one of a member takes the place of.
    fn replaced_by<'s>(&'s self, member: &'s Member) -> impl Iterator<Item = ItemId> + 's {
        let all = self.relocation.replaced.iter();
        all.filter(|(_, new)| member.of.contains(new))
            .map(|(old, _)| *old)
    }

    /// By which types the code of a region may have named a member so far, and why it may not see it
    /// any more; `None` where it could not name it.
    fn cause<'s>(
        &'s self,
        member: &'s Member,
        reach: ModuleId,
        moves: bool,
        region: &Region,
    ) -> Option<(BTreeSet<ItemId>, Cause<'a>)> {
        let world = self.relocation.mapping.world;
        if is_within(world, region.from, reach) && (moves || region.moves) {
            let cause = if moves {
                Cause::MemberLeaves
            } else {
                Cause::CodeLeaves
            };
            return Some((member.of.clone(), cause));
        }
        let old = self.replaced_by(member).find(|old| {
            let known = self.old_reach.get(&(*old, member.name.clone()));
            let limit = known.copied().flatten();
            limit.is_none_or(|limit| is_within(world, region.from, limit))
        })?;
        let name = world[old].name.as_str();
        Some((BTreeSet::from([old]), Cause::Replaces(name)))
    }

    /// The place whose code sees a member after, as its visibility is written.
    fn seen_after(&self, member: &Member, reach: ModuleId, home: &Place) -> Place {
        if member.at.is_empty() || reach == member.home {
            return home.clone();
        }
        let before = self.mapping().after(reach);
        match before.common(home) {
            Some(common) => common,
            // In another crate, `pub(crate)` is said of that one, and `pub(super)` of what is there.
            None if before.path.is_empty() => Place::root(home.krate),
            None => home.parent().unwrap_or_else(|| Place::root(home.krate)),
        }
    }

    /// What takes the place of items has to be seen by those who name them so far.
    fn replacements(&mut self) {
        let world = self.tree.world;
        let speller = self.relocation.mapping.speller();
        for (old, new) in &self.relocation.replaced {
            let (before, node) = (&world[old], &world[new]);
            // Macros are seen by where they stand, or by a path that they have beside that.
            let reach = world.definition_reach(*new);
            let Some(reach) = reach.filter(|_| node.kind != ItemKind::Macro) else {
                continue;
            };
            let unseen = |region: &&Region| !speller.sees(&region.to, reach, node.module);
            let named = |region: &&Region| {
                region.says(self.tree, &before.name) && region.code(self.tree).items().contains(old)
            };
            for region in self.regions.iter().filter(unseen).filter(named) {
                let need = Need::new(NeededThing::Item(*new), region.to.clone());
                self.made.needs.push(need);
            }
        }
    }

    /// Whether the code of a region names a member of one of these types.
    fn names(&mut self, region: usize, member: &Member, of: &BTreeSet<ItemId>) -> bool {
        let tree = self.tree;
        let Some(region) = self.regions.get(region) else {
            return false;
        };
        // What makes or takes apart a tuple does not say the numbers of its fields, nor does `..other` say the names.
        let is_said = member.kind == MemberKind::Position
            || member.kind == MemberKind::Field && region.says(tree, "..")
            || region.says(tree, &member.name)
            || region.says(tree, ".$");
        if !is_said {
            return false;
        }
        let code = region.code(tree);
        match code.mentions(member, of) {
            Mention::Never => false,
            Mention::Certain => true,
            Mention::Maybe => {
                let reachable = &mut self.reachable;
                let types = region
                    .types
                    .get_or_init(|| reachable.from(code.items(), &region.parts, region.from));
                of.is_empty() || !types.is_disjoint(of)
            }
        }
    }

    fn write(&mut self, member: &Member, reach: Option<Place>, home: &Place, cause: Cause<'_>) {
        let path = &self.tree.world[member.file];
        let path = path.path.clone();
        let name = member.full_name();
        if !member.plain {
            let refused = refusal(path, hidden_in_macro(&name)).coded(codes::OUT_OF_REACH);
            self.made.refusals.push(refused);
            return;
        }
        let public = reach.is_none();
        let text = reach.map_or_else(|| "pub ".to_owned(), |reach| reach.visibility(home));
        let because = match cause {
            Cause::CodeLeaves => "code that moves out of its module may use it".to_owned(),
            Cause::MemberLeaves => "code that it leaves behind may use it".to_owned(),
            Cause::Replaces(old) => format!("code that named `{old}` may use it"),
        };
        self.made.notes.push(Finding {
            code: codes::UNSAFE_CHANGE,
            severity: severity_of_widening(self.relocation.mapping, home, &text),
            path: path.clone(),
            span: Some(member.at),
            message: format!("`{name}` becomes {}: {because}", text.trim_end()),
            help: None,
        });
        if public {
            self.made.public.push((member.file, member.at.start));
        }
        let edit = if member.at.is_empty() {
            Edit::insert(member.at.start, text)
        } else {
            Edit::replace(member.at, text.trim_end())
        };
        self.made.edits.entry(path).or_default().push(edit);
    }
}

fn hidden_in_macro(name: &str) -> String {
    format!("`{name}` would have to be widened, and a macro defines it")
}

/// The types of a member that would be out of sight.
fn types_out_of_sight(mapping: &Mapping<'_>, member: &Member, place: &Place) -> Vec<Need> {
    let world = mapping.world;
    let speller = mapping.speller();
    let mut needs = Vec::new();
    for name in &member.types {
        let items = world.items_of(member.home, name).into_iter();
        let unseen = items.filter(|item| {
            let reach = world.definition_reach(*item);
            reach.is_some_and(|reach| !speller.sees(place, reach, world[*item].module))
        });
        needs.extend(unseen.map(|item| Need::new(NeededThing::Item(item), place.clone())));
    }
    needs
}
