//! What becomes of each item of a module that gives way.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{
    ByteSpan, Change, ChangeKind, Edit, Finding, Subject, Texts, TreePath, finding::codes,
};

use super::{Edits, Survey, before, carried_tests, impls, note, reexports, statements};
use crate::{
    facts::ItemKind,
    resolve::{FileId, ItemId, ModuleId, Reach, Res, World, is_within},
    rewrite::{
        items::{
            moving::{Chunk, Moving, Set, is_bound_public},
            replace::primary,
        },
        mapping::{Mapping, refusal},
        shims::Forward,
    },
};

/// What becomes of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// An entry speaks for it: index into the ones said.
    Said(usize),
    /// The other module has one of that name.
    Covered,
    /// It goes where the module goes, because something that goes there needs it.
    Comes,
    /// Nobody that stays needs it.
    Goes,
}

/// Works one module out.
pub(super) fn work(
    world: &World,
    (merge, all): (&Change, &[Change]),
    modules: &[Change],
    texts: &dyn Texts,
    (survey, edits): (&mut Survey, &mut Edits),
) {
    let Some(module) = world.modules_named(&merge.from).first().copied() else {
        return;
    };
    let own = all.iter();
    let own = own.filter(|item| super::parent(&item.from) == Some(merge.from.as_str()));
    let said: Vec<&Change> = own.collect();
    let guess = everything(world, module, merge, &said, modules);
    let mapping = Mapping::new(world, &guess, texts);
    let set = Set::new(&mapping, std::slice::from_ref(&merge.from));
    let home = Home {
        world,
        module,
        merge,
        said: &said,
        all,
        set: &set,
        texts,
    };
    let sorted = impls::sort(&home);
    survey
        .clearing
        .refusals
        .extend(sorted.refusals.iter().cloned());
    survey.clearing.notes.extend(sorted.notes.iter().cloned());
    let tests = carried_tests::find(&home, modules);
    let uses = home.uses(&sorted, &tests.below);
    let fates = home.fates(&uses);
    home.changes(&fates, modules, survey);
    let macros = home.moved_macros().into_iter();
    survey.items.extend(macros.map(|change| Change {
        to: before(modules, &change.to),
        ..change.clone()
    }));
    home.lost(&fates, &uses, (survey, edits));
    for (file, span) in &sorted.cut {
        home.cut(*file, *span, edits);
    }
    for (path, edit) in &sorted.added {
        edits.push(path.clone(), edit.clone());
    }
    for (file, span) in statements::said_by_both(&home) {
        home.cut(file, span, edits);
    }
    let kept = |file: FileId, at: u32| home.is_kept(&fates, &sorted, file, at);
    statements::check(&home, &kept, &mut survey.clearing.refusals);
    reexports::bring(&home, edits);
    carried_tests::carry(&home, &tests, &mut survey.clearing, edits);
}

/// Every item of a module as one that moves: shows which texts belong to which.
fn everything(
    world: &World,
    module: ModuleId,
    merge: &Change,
    said: &[&Change],
    modules: &[Change],
) -> Vec<Change> {
    let own = world.items.iter().filter(|item| {
        item.module == module
            && !item.local
            && !matches!(item.kind, ItemKind::Macro | ItemKind::Unknown)
    });
    let names: BTreeSet<&str> = own.map(|item| item.name.as_str()).collect();
    let into = before(modules, &merge.to);
    names
        .into_iter()
        .map(|name| {
            let from = format!("{}::{name}", merge.from);
            let said = said.iter().find(|change| change.from == from);
            let to = said.map(|change| before(modules, &change.to));
            Change {
                to: to.unwrap_or_else(|| format!("{into}::{}", renamed(merge, name))),
                from,
                subject: Subject::Item,
                kind: ChangeKind::Move,
                shim: None,
                uses: merge.uses,
            }
        })
        .collect()
}

/// The name that the other module has for one of the old one.
pub(super) fn renamed<'n>(merge: &'n Change, name: &'n str) -> &'n str {
    let ChangeKind::Replace { rename } = &merge.kind else {
        return name;
    };
    let found = rename.iter().find(|(old, _)| old == name);
    found.map_or(name, |(_, new)| new)
}

/// A module that gives way, its items taken as ones that move.
pub(super) struct Home<'h> {
    pub world: &'h World,
    pub module: ModuleId,
    pub merge: &'h Change,
    /// What is said of its items.
    said: &'h [&'h Change],
    /// What is said of items at all.
    all: &'h [Change],
    pub set: &'h Set<'h>,
    pub texts: &'h dyn Texts,
}

/// Who names the items.
#[derive(Default)]
struct Uses {
    /// From one item of the module to another, by index.
    inner: BTreeMap<usize, BTreeSet<usize>>,
    /// Named by what goes to the new module whatever else does.
    needed: BTreeSet<usize>,
    /// Named by what stays, and one place that does.
    outside: BTreeMap<usize, (FileId, ByteSpan)>,
}

impl Home<'_> {
    /// The module in its place; `None` when it is in no crate of the tree.
    pub fn target(&self) -> Option<ModuleId> {
        let into = self.merge.to.as_str();
        self.world.modules_named(into).first().copied()
    }

    pub fn path(&self) -> TreePath {
        self.set.mapping.file_of(self.module)
    }

    /// What takes the place of an item, if the other module has that: an item of the tree, or
    /// something from outside.
    pub fn is_covered(&self, moving: &Moving<'_>) -> bool {
        let target = self.set.mapping.at(&moving.to);
        let node = Some(&self.world[moving.item]);
        let (Some(target), Some(node)) = (target, node) else {
            return false;
        };
        let bindings = Some(self.world.space(target))
            .zip(self.world.names.get(&moving.name))
            .and_then(|(space, sym)| space.names.get(&sym));
        bindings.into_iter().flatten().any(|binding| {
            let own = binding.import.is_none() || binding.reach != Reach::Within(target);
            own && binding.namespaces.meets(node.namespaces)
                && binding.res != Res::Item(moving.item)
        })
    }

    /// Whether the other module shows the item as its own already.
    fn is_shown(&self, moving: &Moving<'_>) -> bool {
        let target = self.set.mapping.at(&moving.to);
        let bindings = target
            .map(|target| self.world.space(target))
            .zip(self.world.names.get(&moving.name))
            .and_then(|(space, sym)| space.names.get(&sym));
        let mut bindings = bindings.into_iter().flatten();
        bindings.any(|binding| !binding.glob && binding.res == Res::Item(moving.item))
    }

    /// The entry that speaks for an item. One that only says what the module's says is none.
    pub fn said_of(&self, moving: &Moving<'_>) -> Option<usize> {
        let name = moving.change.from.as_str();
        let said = self.said.iter().position(|change| change.from == name)?;
        let change = self.said.get(said)?;
        let last = name.rsplit("::").next().unwrap_or(name);
        let default = format!("{}::{}", self.merge.to, renamed(self.merge, last));
        let replaced = matches!(change.kind, ChangeKind::Replace { .. });
        let repeats = replaced && change.to == default && self.is_covered(moving);
        (!repeats).then_some(said)
    }

    /// Whether an entry speaks for an item of a module in this one.
    pub fn says_of_items(&self, module: &str) -> bool {
        let mut all = self.all.iter();
        all.any(|change| super::parent(&change.from) == Some(module))
    }

    /// The item in the place of one, where that is in the tree.
    pub fn primary(&self, moving: &Moving<'_>) -> Option<ItemId> {
        primary(self.set, moving).filter(|item| *item != moving.item)
    }

    /// What both modules have: the item that goes, and the one in its place.
    pub fn covered(&self) -> BTreeMap<ItemId, ItemId> {
        let moving = self.set.moving.iter();
        moving
            .filter(|moving| self.said_of(moving).is_none() && self.is_covered(moving))
            .filter_map(|moving| Some((moving.item, self.primary(moving)?)))
            .collect()
    }

    /// The name that an item has in the other module; `None` where it goes elsewhere, or is none of this one.
    pub fn name_beside(&self, name: &str) -> Option<String> {
        self.world.items_of(self.module, name).first()?;
        let full = format!("{}::{name}", self.merge.from);
        let said = self.said.iter().find(|change| change.from == full);
        let Some(change) = said else {
            return Some(self.name_there(name));
        };
        let (home, new) = change.to.rsplit_once("::")?;
        (home == self.merge.to).then(|| new.to_owned())
    }

    /// The name that the other module has for one.
    pub fn name_there(&self, name: &str) -> String {
        renamed(self.merge, name).to_owned()
    }

    pub fn text(&self, file: FileId) -> Option<std::sync::Arc<str>> {
        self.texts.text(&self.set.path(file))
    }

    pub fn cut(&self, file: FileId, span: ByteSpan, edits: &mut Edits) {
        if let Some(text) = self.text(file) {
            edits.cut(self.set.path(file), &text, span);
        }
    }

    /// Who names what; `below` are the modules in this one that go along with it.
    fn uses(&self, sorted: &impls::Sorted, below: &[ModuleId]) -> Uses {
        let mut uses = Uses::default();
        for (file, source) in self.world.sources() {
            self.world
                .visit_steps(source, &mut |_, site, segment, res| {
                    let start = site.segments.first().map_or(0, |first| first.span.start);
                    if let Res::Item(item) | Res::Variant(item, _) | Res::Member(item, _) = res
                        && let Some(to) = self.set.of(item)
                    {
                        let here = self.world.module_of(site.space);
                        let place = (file, start, segment.span);
                        self.note_use(&mut uses, sorted, below, (here, place), to);
                    }
                });
        }
        uses
    }

    fn note_use(
        &self,
        uses: &mut Uses,
        sorted: &impls::Sorted,
        below: &[ModuleId],
        (here, (file, at, span)): (ModuleId, (FileId, u32, ByteSpan)),
        to: usize,
    ) {
        if let Some(chunk) = self.set.chunk_at(file, at) {
            if sorted.is_cut(file, at) {
                return;
            }
            if sorted.is_kept(file, chunk) {
                uses.needed.insert(to);
            }
            uses.inner.entry(chunk.moving).or_default().insert(to);
        } else if below
            .iter()
            .any(|child| is_within(self.world, here, *child))
        {
            uses.needed.insert(to);
        } else if !is_within(self.world, here, self.module) {
            uses.outside.entry(to).or_insert((file, span));
        }
    }

    /// What becomes of each item, by index into the set.
    fn fates(&self, uses: &Uses) -> Vec<Fate> {
        let mut fates: Vec<Fate> = Vec::new();
        let mut open: Vec<usize> = uses.needed.iter().copied().collect();
        for (at, moving) in self.set.moving.iter().enumerate() {
            let fate = self.fate_of(at, moving);
            if matches!(fate, Fate::Said(_) | Fate::Comes) && !self.is_said_replaced(moving) {
                open.push(at);
            }
            fates.push(fate);
        }
        bring_needed(&mut fates, open, uses);
        fates
    }

    /// What becomes of an item by itself, whatever needs it.
    fn fate_of(&self, at: usize, moving: &Moving<'_>) -> Fate {
        match self.said_of(moving) {
            Some(said) => Fate::Said(said),
            None if self.is_covered(moving) => Fate::Covered,
            None if self.is_shown(moving) || self.is_test(at) => Fate::Comes,
            None => Fate::Goes,
        }
    }

    /// Whether a change says that another item takes its place.
    fn is_said_replaced(&self, moving: &Moving<'_>) -> bool {
        let said = self.said_of(moving).and_then(|said| self.said.get(said));
        said.is_some_and(|change| matches!(change.kind, ChangeKind::Replace { .. }))
    }

    /// Whether an item is a test by itself.
    fn is_test(&self, at: usize) -> bool {
        self.set.chunks.iter().any(|chunk| {
            chunk.moving == at && chunk.definition.is_some() && {
                let text = self.text(chunk.file);
                text.is_some_and(|text| {
                    carried_tests::is_test(chunk.span.of(&text).unwrap_or_default())
                })
            }
        })
    }

    /// Macros of the module of which it is said that they move.
    pub fn moved_macros(&self) -> Vec<&Change> {
        let moves = self.said.iter().copied().filter(|change| {
            let name = change.from.rsplit("::").next().unwrap_or_default();
            let named = self.world.items_of(self.module, name);
            let is_macro = |item: &ItemId| self.world[*item].kind == ItemKind::Macro;
            change.kind == ChangeKind::Move && !named.is_empty() && named.iter().all(is_macro)
        });
        moves.collect()
    }

    /// The changes of the items, and the names that a shim goes on having.
    fn changes(&self, fates: &[Fate], modules: &[Change], survey: &mut Survey) {
        let mut told = BTreeSet::new();
        for (moving, fate) in self.set.moving.iter().zip(fates) {
            let Some(kind) = self.kind_of(*fate) else {
                continue;
            };
            if !told.insert(moving.change.from.as_str()) {
                continue;
            }
            if *fate == Fate::Comes {
                let message = format!("`{}` comes along: what moves needs it", moving.change.from);
                let (file, span) = self.place(moving);
                let path = self.set.path(file);
                survey.clearing.notes.push(note(path, span, message));
            }
            if is_bound_public(self.world, self.module, moving.item) {
                survey.forwards.extend(self.forward(moving, *fate));
            }
            survey.items.push(Change {
                kind,
                to: before(modules, &moving.change.to),
                ..moving.change.clone()
            });
        }
    }

    /// How an item of a fate changes; `None` of one that goes.
    fn kind_of(&self, fate: Fate) -> Option<ChangeKind> {
        match fate {
            Fate::Said(said) => match self.said.get(said).map(|change| &change.kind) {
                Some(kind @ ChangeKind::Replace { .. }) => Some(kind.clone()),
                _ => Some(ChangeKind::Move),
            },
            Fate::Covered => Some(ChangeKind::Replace { rename: Vec::new() }),
            Fate::Comes => Some(ChangeKind::Move),
            Fate::Goes => None,
        }
    }

    fn forward(&self, moving: &Moving<'_>, fate: Fate) -> Option<Forward> {
        let old = super::super::spell::written(moving.change.from.rsplit("::").next()?);
        let (to, new) = match fate {
            Fate::Said(said) => self.said.get(said)?.to.rsplit_once("::")?,
            _ => (self.merge.to.as_str(), moving.name.as_str()),
        };
        Some(Forward {
            home: self.merge.from.clone(),
            old,
            to: to.to_owned(),
            new: new.to_owned(),
        })
    }

    /// Where an item is defined.
    fn place(&self, moving: &Moving<'_>) -> (FileId, ByteSpan) {
        let node = &self.world[moving.item];
        let first = node.definitions.first();
        let found = first.map(|(file, at)| {
            let fact = self.world.facts(*file).item(*at);
            (*file, fact.name.span)
        });
        found.unwrap_or((FileId(0), ByteSpan::default()))
    }

    /// What goes with the module: refused where somebody that stays names it.
    fn lost(&self, fates: &[Fate], uses: &Uses, (survey, edits): (&mut Survey, &mut Edits)) {
        for (at, moving) in self.set.moving.iter().enumerate() {
            if fates.get(at) != Some(&Fate::Goes) {
                continue;
            }
            let name = &moving.change.from;
            if let Some((file, span)) = uses.outside.get(&at) {
                let refused = self.missing(moving, *file, *span);
                survey.clearing.refusals.push(refused);
                continue;
            }
            let (file, span) = self.place(moving);
            let message = format!("`{name}` goes with its module: nothing that stays names it");
            let told = note(self.set.path(file), span, message);
            survey.clearing.notes.push(told);
            let chunks = self.set.chunks.iter().filter(|chunk| chunk.moving == at);
            let own = chunks.filter(|chunk| chunk.definition.is_some() || self.is_of(chunk));
            for chunk in own {
                self.cut(chunk.file, chunk.span, edits);
            }
        }
    }

    /// Whether an `impl` names the item that it is a part of, and was not only put to it.
    pub fn is_of(&self, chunk: &Chunk) -> bool {
        let Some(text) = self.text(chunk.file) else {
            return false;
        };
        let own = chunk.span.of(&text).unwrap_or_default();
        let open = own.find('{').unwrap_or(own.len());
        let end = chunk.span.start + u32::try_from(open).unwrap_or(0);
        let mut named = false;
        self.world
            .visit_file(&self.world[chunk.file], &mut |_, site| {
                let inside = site.segments.first().is_some_and(|first| {
                    chunk.span.start <= first.span.start && first.span.start < end
                });
                let last = site.trace.steps.last().filter(|_| inside);
                named |= last.is_some_and(|last| {
                    last.all().any(|(res, _)| match res {
                        Res::Item(item) => self.set.of(item) == Some(chunk.moving),
                        _ => false,
                    })
                });
            });
        named
    }

    fn missing(&self, moving: &Moving<'_>, file: FileId, span: ByteSpan) -> Finding {
        let message = format!(
            "`{}` has no `{}`, which is used here",
            self.merge.to, moving.name
        );
        refusal(self.set.path(file), message)
            .coded(codes::MISMATCHED_REPLACEMENT)
            .at(span)
            .with_help(format!(
                "move `{}` in an entry of its own",
                moving.change.from
            ))
    }

    /// Whether a byte of the module is part of a text that arrives in the new one.
    fn is_kept(&self, fates: &[Fate], sorted: &impls::Sorted, file: FileId, at: u32) -> bool {
        let Some(chunk) = self.set.chunk_at(file, at) else {
            return false;
        };
        if sorted.is_cut(file, at) {
            return false;
        }
        match fates.get(chunk.moving) {
            Some(Fate::Said(said)) => self
                .said
                .get(*said)
                .is_some_and(|change| !matches!(change.kind, ChangeKind::Replace { .. })),
            Some(Fate::Comes) => true,
            _ => sorted.is_kept(file, chunk),
        }
    }
}

/// An edit in a file.
pub(super) type Added = (TreePath, Edit);

/// Has the items come along that what moves needs.
fn bring_needed(fates: &mut [Fate], mut open: Vec<usize>, uses: &Uses) {
    let mut seen = BTreeSet::new();
    while let Some(at) = open.pop() {
        if !seen.insert(at) {
            continue;
        }
        match fates.get_mut(at) {
            Some(fate @ Fate::Goes) => *fate = Fate::Comes,
            Some(Fate::Said(_) | Fate::Comes) => {}
            _ => continue,
        }
        open.extend(uses.inner.get(&at).into_iter().flatten());
    }
}
