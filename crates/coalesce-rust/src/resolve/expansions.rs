//! Bodies of `macro_rules!`, read where the macros are called.
//!
//! All that a body names but `$crate` is looked up at the call: `super::` in it is the module around the one
//! that calls. Nothing is expanded: each path of a body counts for each call, whichever arm that takes.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::ByteSpan;
use rustc_hash::FxHashSet;

use super::{
    lookup::{Lookup, Trace},
    uses::{Site, UseSite},
    world::{FileId, ItemId, Res, SpaceId, SpaceKind, World},
};
use crate::facts::{ItemKind, Namespaces, Origin, Segment, SourceFacts};

/// How many paths of bodies are read from how many places, in one tree: a thousand calls of a macro that names a
/// thousand things are a million.
pub(crate) const MOST_READINGS: usize = 500_000;

/// A call of a macro that stands in no body of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ExpandedCall {
    pub file: FileId,
    /// Where it begins.
    pub at: u32,
    /// What it sees.
    pub space: SpaceId,
}

/// A path or an import in the body of a macro.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Said {
    pub file: FileId,
    pub load: usize,
    pub site: UseSite,
}

/// The macros of a tree that are called in it: what they say, and for whom.
#[derive(Debug, Default)]
pub(crate) struct Expansions {
    calls: BTreeMap<ItemId, BTreeSet<ExpandedCall>>,
    said: BTreeMap<ItemId, Vec<Said>>,
    /// By file the calls of each macro that see the same.
    by_file: BTreeMap<FileId, BTreeMap<(ItemId, SpaceId), Vec<ExpandedCall>>>,
    /// A macro whose calls are beyond [`MOST_READINGS`], the first of them: its body is not read, nor are others.
    left_out: Option<ItemId>,
}

impl Expansions {
    pub(super) fn of(world: &World) -> Self {
        let mut reader = Reader {
            world,
            direct: BTreeMap::new(),
            through: BTreeMap::new(),
            bodies: bodies(world),
        };
        for load in 0..world.load_count() {
            world.visit(load, &mut |facts, site| reader.site(facts, &site));
        }
        let mut found = Self {
            calls: reader.direct,
            ..Self::default()
        };
        found.hand_on(&reader.through);
        found.read_bodies(world);
        for (item, calls) in &found.calls {
            for call in calls {
                let known = found.by_file.entry(call.file).or_default();
                known.entry((*item, call.space)).or_default().push(*call);
            }
        }
        found
    }

    /// Reads what the bodies of macros name, as far as there is room for all their calls.
    fn read_bodies(&mut self, world: &World) {
        let mut left = MOST_READINGS;
        let Self {
            calls,
            said,
            left_out,
            ..
        } = self;
        calls.retain(|item, calls| {
            let spaces: BTreeSet<SpaceId> = calls.iter().map(|call| call.space).collect();
            let named = paths_of_body(world, *item);
            let readings = spaces.len().saturating_mul(named.len());
            let fits = readings <= left;
            if fits {
                left -= readings;
                said.insert(*item, named);
            } else {
                left_out.get_or_insert(*item);
            }
            fits
        });
    }

    /// The first macro whose calls are not read, since there are too many.
    pub fn left_out(&self) -> Option<ItemId> {
        self.left_out
    }

    /// The macros that are called, with their calls, those through bodies of others too.
    pub fn macros(&self) -> impl Iterator<Item = (ItemId, &BTreeSet<ExpandedCall>)> {
        self.calls.iter().map(|(item, calls)| (*item, calls))
    }

    /// From where a macro is called, through bodies of others too.
    pub fn calls_of(&self, item: ItemId) -> impl Iterator<Item = &ExpandedCall> {
        self.calls.get(&item).into_iter().flatten()
    }

    /// The calls in a file, each with its macro.
    pub fn calls_in(&self, file: FileId) -> impl Iterator<Item = (ItemId, &ExpandedCall)> {
        let groups = self.by_file.get(&file).into_iter().flatten();
        groups.flat_map(|((item, _), calls)| calls.iter().map(|call| (*item, call)))
    }

    /// What the body of a macro names that is called.
    pub fn said_by(&self, item: ItemId) -> &[Said] {
        self.said.get(&item).map(Vec::as_slice).unwrap_or_default()
    }

    /// Who calls a macro calls those that its body names.
    fn hand_on(&mut self, through: &BTreeMap<ItemId, BTreeSet<ItemId>>) {
        let mut open: Vec<ItemId> = self.calls.keys().copied().collect();
        let mut left = MOST_READINGS;
        while let Some(outer) = open.pop() {
            let Some(inner) = through.get(&outer) else {
                continue;
            };
            let calls = self.calls.get(&outer).cloned().unwrap_or_default();
            let handed = calls.len().saturating_mul(inner.len());
            if handed > left {
                // Of none it is known whether all its calls are.
                self.calls.clear();
                self.left_out = Some(outer);
                return;
            }
            left -= handed;
            let news = inner.iter().copied();
            open.extend(news.filter(|inner| self.add_calls(*inner, &calls)));
        }
    }

    /// Adds calls of a macro; whether one of them was not known.
    fn add_calls(&mut self, item: ItemId, calls: &BTreeSet<ExpandedCall>) -> bool {
        let known = self.calls.entry(item).or_default();
        let before = known.len();
        known.extend(calls.iter().copied());
        known.len() > before
    }
}

/// Finds calls.
struct Reader<'w> {
    world: &'w World,
    direct: BTreeMap<ItemId, BTreeSet<ExpandedCall>>,
    /// The macros that the body of a macro calls.
    through: BTreeMap<ItemId, BTreeSet<ItemId>>,
    bodies: BTreeMap<FileId, Vec<(u32, u32, ItemId)>>,
}

impl Reader<'_> {
    fn site(&mut self, facts: &SourceFacts, site: &Site<'_>) {
        let UseSite::Path(at) = site.site else { return };
        let read = !matches!(
            site.origin,
            Origin::Quoted | Origin::DocCode | Origin::DocLink | Origin::FormatString
        );
        if facts.path(at).namespaces != Namespaces::MACRO || !read {
            return;
        }
        let (Some(first), Some(last)) = (site.segments.first(), site.trace.steps.last()) else {
            return;
        };
        let world = self.world;
        let items = last.all().filter_map(|(res, _)| match res {
            Res::Item(item) if world[item].kind == ItemKind::Macro => Some(item),
            _ => None,
        });
        for item in items {
            self.note(item, site, first.span.start);
        }
    }

    /// Notes that a site whose path begins at `at` calls a macro, or the body of another macro does.
    fn note(&mut self, item: ItemId, site: &Site<'_>, at: u32) {
        let file = self.world.load(site.load).file;
        if site.origin == Origin::MacroBody {
            if let Some(outer) = self.around(file, at) {
                self.through.entry(outer).or_default().insert(item);
            }
            return;
        }
        let call = ExpandedCall {
            file,
            at,
            space: outermost(self.world, site.space),
        };
        self.direct.entry(item).or_default().insert(call);
    }

    /// The macro whose definition a place stands in.
    fn around(&self, file: FileId, at: u32) -> Option<ItemId> {
        let bodies = self.bodies.get(&file)?;
        let before = bodies.partition_point(|(start, ..)| *start <= at);
        let mut before = bodies.iter().take(before).rev();
        let around = before.find(|(_, end, _)| at < *end)?;
        Some(around.2)
    }
}

/// Where macros are defined, by file and sorted by place.
fn bodies(world: &World) -> BTreeMap<FileId, Vec<(u32, u32, ItemId)>> {
    let mut found: BTreeMap<FileId, Vec<(u32, u32, ItemId)>> = BTreeMap::new();
    for (index, node) in world.items.iter().enumerate() {
        if node.kind != ItemKind::Macro {
            continue;
        }
        for (file, item) in &node.definitions {
            let span = world.facts(*file).item(*item).span;
            let body = (span.start, span.end, ItemId(super::id(index)));
            found.entry(*file).or_default().push(body);
        }
    }
    for bodies in found.values_mut() {
        bodies.sort_unstable();
    }
    found
}

/// The space that a name is looked up in first: blocks without names of their own add nothing.
fn outermost(world: &World, mut space: SpaceId) -> SpaceId {
    loop {
        let node = &world[space];
        match node.parent {
            Some(parent)
                if node.kind == SpaceKind::Block
                    && node.names.values().next().is_none()
                    && node.unknown.is_empty()
                    && !node.opaque =>
            {
                space = parent;
            }
            _ => return space,
        }
    }
}

/// The paths and imports of the bodies of a macro, without those that begin with what the body has itself.
pub(crate) fn paths_of_body(world: &World, item: ItemId) -> Vec<Said> {
    let mut found = Vec::new();
    for (file, at) in &world[item].definitions {
        let facts = world.facts(*file);
        let span = facts.item(*at).span;
        let Some(load) = world[*file].loads.first().map(|load| *load as usize) else {
            continue;
        };
        let sites = sites_in_bodies(facts, span).into_iter();
        found.extend(sites.map(|site| Said {
            file: *file,
            load,
            site,
        }));
    }
    let mut seen = FxHashSet::default();
    found.retain(|said| seen.insert((said.file, said.site)) && !is_own(world, said));
    found
}

/// The paths and leaves of a file that stand in bodies of macros and in the span.
fn sites_in_bodies(facts: &SourceFacts, span: ByteSpan) -> Vec<UseSite> {
    let inside = |first: Option<&Segment>| first.is_some_and(|first| span.contains(first.span));
    let paths = (0_u32..).zip(&facts.paths);
    let paths = paths.filter(|(_, path)| path.origin == Origin::MacroBody);
    let paths = paths.filter(|(_, path)| inside(facts.segments(path.segments).first()));
    let leaves = (0_u32..).zip(&facts.leaves);
    let leaves = leaves.filter(|(_, leaf)| {
        facts.declaration(leaf.declaration).origin == Origin::MacroBody
            && inside(facts.segments(leaf.segments).first())
    });
    paths
        .map(|(at, _)| UseSite::Path(at))
        .chain(leaves.map(|(at, _)| UseSite::Leaf(at)))
        .collect()
}

/// Whether a path begins with a name that the body of the macro binds itself.
fn is_own(world: &World, said: &Said) -> bool {
    let facts = world.facts(said.file);
    let Some((scope, first)) = start(facts, said.site) else {
        return true;
    };
    let names = world.file_names.get(said.file.index());
    let sym = names.and_then(|names| names.get(first as usize)).copied();
    let mut at = world.load(said.load).spaces.get(scope as usize).copied();
    while let (Some(space), Some(sym)) = (at, sym) {
        let node = &world[space];
        if node.kind != SpaceKind::Block {
            return false;
        }
        if node.names.get(&sym).is_some() {
            return true;
        }
        at = node.parent;
    }
    false
}

/// The scope of a site, and the number of the name that it begins with.
fn start(facts: &SourceFacts, site: UseSite) -> Option<(u32, u32)> {
    let (scope, segments) = match site {
        UseSite::Path(at) => {
            let path = facts.path(at);
            (path.scope, path.segments)
        }
        UseSite::Leaf(at) => {
            let leaf = facts.leaf(at);
            (facts.declaration(leaf.declaration).scope, leaf.segments)
        }
        UseSite::ExternCrate(_) => return None,
    };
    let first = facts.segments(segments).first()?;
    Some((scope.0, first.name.0))
}

/// The segments of a site, and what they lead to when they are read in `from`.
fn trace_of<'f>(
    lookup: &Lookup<'_>,
    facts: &'f SourceFacts,
    site: UseSite,
    from: SpaceId,
) -> Option<(&'f [Segment], Trace)> {
    match site {
        UseSite::Path(at) => {
            let path = facts.path(at);
            let mut trace = lookup.path_trace(facts, path, from);
            if trace.steps.last().is_none_or(super::Found::is_empty)
                && let Some(other) = lookup.other_trace(facts, path, from)
            {
                trace = other;
            }
            Some((facts.segments(path.segments), trace))
        }
        UseSite::Leaf(at) => {
            let leaf = facts.leaf(at);
            let trace = lookup.leaf_trace(facts, leaf, from);
            Some((facts.segments(leaf.segments), trace))
        }
        UseSite::ExternCrate(_) => None,
    }
}

impl World {
    /// The macros that are called, read once.
    pub(crate) fn expansions(&self) -> &Expansions {
        self.expansions.get_or_init(|| Expansions::of(self))
    }

    /// The calls of macros in a file, those of one macro that see the same together, each with what the macro says for
    /// them.
    pub(crate) fn said_in<'w>(
        &'w self,
        file: FileId,
    ) -> impl Iterator<Item = (&'w [ExpandedCall], impl Iterator<Item = Site<'w>>)> {
        let expansions = self.expansions();
        let groups = expansions.by_file.get(&file).into_iter().flatten();
        groups.map(|((item, space), calls)| {
            let said = expansions.said_by(*item).iter();
            let sites = said.filter_map(|said| self.said_at(said, *space));
            (calls.as_slice(), sites.map(|(_, site)| site))
        })
    }

    /// What a macro says, as a call reads it; `$crate` is the crate of the macro, whoever calls.
    pub(crate) fn said_at(&self, said: &Said, space: SpaceId) -> Option<(&SourceFacts, Site<'_>)> {
        let facts = self.facts(said.file);
        let lookup = Lookup {
            world: self,
            load: said.load,
        };
        let (scope, first) = start(facts, said.site)?;
        let own = *self.load(said.load).spaces.get(scope as usize)?;
        let by_crate = facts.names.get(first as usize).map(|name| &**name) == Some("$crate");
        let from = if by_crate { own } else { space };
        let (segments, trace) = trace_of(&lookup, facts, said.site, from)?;
        let site = Site {
            load: said.load,
            site: said.site,
            scope: crate::facts::ScopeId(scope),
            space,
            segments,
            origin: Origin::MacroBody,
            trace,
        };
        Some((facts, site))
    }
}
