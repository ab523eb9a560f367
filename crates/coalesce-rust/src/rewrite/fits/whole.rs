//! Everything that gives way in a migration, held against what takes its place, in the tree as it is:
//! whether its users fit, by types as far as names tell, and whether what reads alike is the same.
//!
//! What is known not to fit is refused with both signatures. What the names alone do not tell (an
//! alias with parameters, `impl Trait`, more general parameters) is listed as not proven. Receivers
//! are not known: what stands behind a dot counts by its name, in files that name the type.

mod alternatives;
mod gone;
pub(crate) mod opposites;
mod shims;

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{
    ByteSpan, Change, ChangeKind, Finding, Subject, Texts, TreePath, Unproven, UnprovenKind,
    finding::codes,
};

use self::gone::Gone;
use super::{
    Use,
    auto_traits::AutoTraits,
    circular, compare,
    differing::Differing,
    implementations, lost,
    meaning::{Comparison, Meaning},
    names::Names,
    promises,
    shape::{self, Shape},
    signature::{Definition, Gives, Signatures},
    types::Fits,
    usage::Usage,
    writers::Writers,
};
use crate::{
    facts::ItemKind,
    resolve::{ExpandedCall, FileId, ImplSite, ItemId, ModuleId, Res, World},
    rewrite::{
        items::is_exported,
        mapping::{Mapping, refusal},
        merge,
    },
};

/// What does not fit, and what is not known to.
#[derive(Default)]
pub(in super::super) struct Whole {
    pub refusals: Vec<Finding>,
    pub unproven: Vec<Unproven>,
    pub notes: Vec<Finding>,
}

impl Whole {
    fn tell_once(&mut self) {
        self.refusals.sort();
        self.refusals.dedup();
        self.unproven.sort();
        self.unproven.dedup();
    }
}

/// Looks at every replacement of a migration.
pub(in super::super) fn check(world: &World, changes: &[Change], texts: &dyn Texts) -> Whole {
    let mut whole = Whole::default();
    if !changes.iter().any(is_replacement) {
        return whole;
    }
    let modules: Vec<Change> = changes
        .iter()
        .filter(|change| change.subject == Subject::Module && change.kind != ChangeKind::Remove)
        .cloned()
        .collect();
    let mapping = Mapping::new(world, &modules, texts);
    let found = Pairs::new(&mapping, changes);
    if found.all.is_empty() && found.offered.is_empty() {
        return whole;
    }
    let mut names = Names::new(world, texts);
    whole.refusals.extend(circular::check(&names, &found));
    names.gone = gone(&mapping, &found);
    let twice = implementations::check(&mapping, &names, &found);
    whole.refusals.extend(twice.refusals);
    whole.unproven.extend(twice.unproven);
    let gone = Gone::new(&mapping, &names, &found);
    let goes = |file: FileId, module: ModuleId, at: u32| gone.has(file, module, at);
    if !found.moved.is_empty() {
        // Where the one that stays moves as well, each stage sees one of both only.
        let pairs = &found.moved;
        let found = compare(&mapping, pairs, &BTreeSet::new(), &goes);
        whole.refusals.extend(found);
    }
    let fitting = Fitting {
        mapping: &mapping,
        names: &names,
        found: &found,
        definitions: definitions(&names, &found.all),
    };
    let mut matched = BTreeSet::new();
    let uses = super::uses(&mapping, &found.all, &goes);
    let mut differing = Differing::new(&names, &found, &uses);
    let told = promises::check((&names, &found), &uses);
    whole.unproven.extend(told);
    for (file, uses) in uses {
        let text = texts.text(&world[file].path);
        if text.is_some_and(|text| text.contains("match ")) {
            let variants = uses.iter().filter(|one| one.inside.is_some());
            matched.extend(variants.map(|one| one.item));
        }
        fitting.file(file, &uses, &gone, &mut whole);
    }
    fitting.shims(&mut whole);
    fitting.meanings(&gone, &mut differing, &mut whole);
    fitting.opposites(&mut whole);
    fitting.lacks(&matched, &mut whole);
    whole.tell_once();
    whole
}

const fn is_replacement(change: &Change) -> bool {
    matches!(
        change.kind,
        ChangeKind::Replace { .. } | ChangeKind::Supersede
    )
}

/// What gives way, and what takes its place.
pub(super) struct Pairs {
    pub all: BTreeMap<ItemId, ItemId>,
    /// Those whose place is taken by what moves in the same migration.
    moved: BTreeMap<ItemId, ItemId>,
    /// Those of modules that are merged: whether the texts mean the same was decided there.
    pub merged: BTreeSet<ItemId>,
    /// Those that the name of what should take their place leads to.
    pub offered: BTreeSet<ItemId>,
    /// Those that an entry of their own names.
    pub of_entries: BTreeSet<ItemId>,
    /// Macros of which no entry speaks, but one for their module.
    untold: BTreeSet<ItemId>,
    /// Those whose old name is kept.
    pub shimmed: BTreeSet<ItemId>,
    /// Those of which a merge says that the other one is kept.
    pub decided: BTreeSet<ItemId>,
}

impl Pairs {
    fn new(mapping: &Mapping<'_>, changes: &[Change]) -> Self {
        let world = mapping.world;
        let mut found = Self {
            all: super::pairs_with_macros(mapping),
            moved: BTreeMap::new(),
            merged: BTreeSet::new(),
            offered: super::offered(mapping),
            of_entries: BTreeSet::new(),
            untold: BTreeSet::new(),
            shimmed: BTreeSet::new(),
            decided: BTreeSet::new(),
        };
        let is_kept = |old: &ItemId| {
            let change = mapping.change_of(world[*old].module);
            change.is_some_and(|change| change.shim.is_some())
        };
        found.shimmed = found.all.keys().copied().filter(is_kept).collect();
        let all = found.all.keys().copied();
        found.untold = all
            .filter(|old| world[*old].kind == ItemKind::Macro)
            .collect();
        let merges = merge::merges(changes);
        // What the one offers of the other, a merge brings along.
        let is_merged = |old: &ItemId| {
            let change = mapping.change_of(world[*old].module);
            change.is_some_and(|change| merges.contains(change))
        };
        found.offered.retain(|old| !is_merged(old));
        let merged = found.all.keys().copied().filter(is_merged);
        found.merged = merged.collect();
        for change in changes.iter().filter(|one| one.subject == Subject::Item) {
            found.item(world, change, changes);
        }
        found
    }

    /// What an entry for one item says.
    fn item(&mut self, world: &World, change: &Change, changes: &[Change]) {
        let from = items(world, &change.from);
        self.untold.retain(|old| !from.contains(old));
        self.of_entries.extend(&from);
        if change.shim.is_some() {
            self.shimmed.extend(&from);
        }
        match change.kind {
            ChangeKind::Move => {
                self.all.retain(|old, _| !from.contains(old));
                self.offered.retain(|old| !from.contains(old));
            }
            ChangeKind::Supersede => {
                self.all.retain(|old, _| !from.contains(old));
                let there = items(world, &change.to);
                self.pair(world, &there, &from);
                self.decided.extend(there);
            }
            ChangeKind::Replace { .. } => {
                let there = items(world, &change.to);
                self.offered
                    .extend(from.iter().filter(|item| there.contains(item)));
                if !there.is_empty() {
                    self.pair(world, &from, &there);
                    return;
                }
                let moved = before(changes, &change.to).map(|name| items(world, &name));
                let known: BTreeSet<ItemId> = self.all.keys().copied().collect();
                self.pair(world, &from, &moved.unwrap_or_default());
                let new = self.all.iter().filter(|(old, _)| !known.contains(old));
                self.moved.extend(new.map(|(old, new)| (*old, *new)));
            }
            ChangeKind::Remove => {}
        }
    }

    fn pair(&mut self, world: &World, old: &[ItemId], new: &[ItemId]) {
        let spaces = |item: &ItemId| Some(world[item].namespaces);
        for one in old {
            let mut there = new.iter().filter(|other| *other != one);
            let stand_in = there.find(|other| {
                let both = spaces(one).zip(spaces(other));
                both.is_some_and(|(a, b)| a.meets(b))
            });
            self.all.extend(stand_in.map(|other| (*one, *other)));
        }
    }
}

/// The items that a full name means.
fn items(world: &World, name: &str) -> Vec<ItemId> {
    let Some((home, name)) = name.rsplit_once("::") else {
        return Vec::new();
    };
    let homes = world.modules_named(home).into_iter();
    let found = homes.flat_map(|home| world.below(home, name));
    found
        .filter_map(|res| match res {
            Res::Item(item) => Some(item),
            _ => None,
        })
        .collect()
}

/// The name before of what will have this one.
fn before(changes: &[Change], to: &str) -> Option<String> {
    let mut moves = changes.iter().filter(|one| one.kind == ChangeKind::Move);
    if let Some(item) = moves.clone().find(|one| one.to == to) {
        return Some(item.from.clone());
    }
    moves.find_map(|one| {
        let rest = to.strip_prefix(one.to.as_str())?;
        rest.starts_with("::")
            .then(|| format!("{}{rest}", one.from))
    })
}

/// What goes with its module and has nothing in its place.
fn gone(mapping: &Mapping<'_>, found: &Pairs) -> BTreeSet<ItemId> {
    let items = mapping.world.items.iter().zip(0..);
    let ids = items.filter(|(node, _)| mapping.is_replaced(node.module));
    let ids = ids.map(|(_, at)| ItemId(at));
    ids.filter(|item| !found.all.contains_key(item)).collect()
}

fn definitions(
    names: &Names<'_>,
    pairs: &BTreeMap<ItemId, ItemId>,
) -> BTreeMap<ItemId, Definition> {
    let signatures = Signatures { names, pairs };
    let both: BTreeSet<ItemId> = pairs.iter().flat_map(|(old, new)| [*old, *new]).collect();
    both.into_iter()
        .map(|item| (item, signatures.of(item)))
        .collect()
}

/// Users, held against what they will use.
struct Fitting<'f, 'm> {
    mapping: &'f Mapping<'m>,
    names: &'f Names<'f>,
    found: &'f Pairs,
    definitions: BTreeMap<ItemId, Definition>,
}

/// A place that relies on a name of a definition.
struct Reliance<'r> {
    path: &'r TreePath,
    span: ByteSpan,
    /// The member or variant; `None` for the definition itself.
    name: Option<&'r str>,
    pair: (ItemId, ItemId),
    /// Whether what a call gives there is known to be used.
    is_consumed: bool,
}

impl Fitting<'_, '_> {
    fn file(&self, file: FileId, uses: &[Use], gone: &Gone<'_, '_>, whole: &mut Whole) {
        let world = self.mapping.world;
        let source = &world[file];
        let Some(names) = self.names.file(file) else {
            return;
        };
        let usage = Usage::of(&names.text);
        let mut named: BTreeSet<(ItemId, ItemId)> = BTreeSet::new();
        for one in uses {
            let Some(new) = self.found.all.get(&one.item) else {
                continue;
            };
            let pair = (one.item, *new);
            named.insert(pair);
            let reliance = |name| Reliance {
                path: &source.path,
                span: one.span,
                name,
                pair,
                is_consumed: usage.consumes(one.span.start),
            };
            match &one.inside {
                Some((name, _)) => self.judge(&reliance(Some(name)), whole),
                None if one.import => {}
                None => {
                    let literal = usage.literals.get(&one.span.start).into_iter();
                    let said = literal.flat_map(|literal| &literal.names);
                    let said = said.map(|name| Some(name.as_str()));
                    let all = std::iter::once(None).chain(said);
                    all.for_each(|name| self.judge(&reliance(name), whole));
                }
            }
        }
        self.dotted(file, (&names.text, &usage), &named, gone, whole);
    }

    /// Judges what stands behind the dots of a file, by each pair that it names.
    fn dotted(
        &self,
        file: FileId,
        (text, usage): (&str, &Usage),
        named: &BTreeSet<(ItemId, ItemId)>,
        gone: &Gone<'_, '_>,
        whole: &mut Whole,
    ) {
        let path = &self.mapping.world[file].path;
        let mut told = BTreeSet::new();
        let said = lost::dotted(text).into_iter();
        for (span, name) in said.filter(|(span, _)| !gone.has_byte(file, span.start)) {
            for pair in named.iter().filter(|pair| told.insert((name, **pair))) {
                let reliance = Reliance {
                    path,
                    span,
                    name: Some(name),
                    pair: *pair,
                    is_consumed: usage.consumes(span.start),
                };
                self.judge(&reliance, whole);
            }
        }
    }

    /// What both definitions give under a name, where both give something.
    fn both(&self, reliance: &Reliance<'_>) -> Vec<(&Gives, &Gives)> {
        let (old, new) = reliance.pair;
        let definitions = self.definitions.get(&old).zip(self.definitions.get(&new));
        let Some((old, new)) = definitions else {
            return Vec::new();
        };
        match reliance.name {
            None => old.own.as_ref().zip(new.own.as_ref()).into_iter().collect(),
            Some(name) => old.shared(new, name),
        }
    }

    fn judge(&self, reliance: &Reliance<'_>, whole: &mut Whole) {
        if reliance.name.is_none() {
            whole.unproven.extend(self.unread_signature(reliance));
        }
        for both in self.both(reliance) {
            self.judge_pair(reliance, both, whole);
        }
    }

    fn judge_pair(&self, reliance: &Reliance<'_>, (old, new): (&Gives, &Gives), whole: &mut Whole) {
        let fits = old.fits(new, reliance.is_consumed, self.names);
        if fits == Fits::Yes {
            return;
        }
        let name = |item: ItemId| {
            let full = self.names.name_of(Res::Item(item));
            reliance
                .name
                .map_or(full.clone(), |name| format!("{full}::{name}"))
        };
        let (old_name, new_name) = (name(reliance.pair.0), name(reliance.pair.1));
        let mut says = format!(
            "`{new_name}` is `{}`, where `{old_name}` was `{}`",
            new.text(),
            old.text()
        );
        if let Some((one, other)) = old.apart(new) {
            let full = |item: ItemId| self.names.name_of(Res::Item(item));
            says.push_str(&format!(
                ", and `{}` is another type than `{}`",
                full(other),
                full(one)
            ));
        }
        if fits == Fits::No {
            whole.refusals.push(refusal(reliance.path.clone(), format!("{says}: this does not fit")).coded(codes::MISMATCHED_REPLACEMENT).at(reliance.span).with_help(format!(
                    "change what uses `{old_name}` first, or give `{new_name}` what it takes and gives"
                )));
        } else {
            let unproven = Unproven {
                path: reliance.path.clone(),
                span: Some(reliance.span),
                kind: UnprovenKind::UnknownType,
                name: old_name,
                why: format!("{says}: whether this fits, the names do not tell"),
            };
            if !whole.unproven.contains(&unproven) {
                whole.unproven.push(unproven);
            }
        }
    }

    /// What reads alike and is something else, and macros that make something else.
    fn meanings(&self, gone: &Gone<'_, '_>, differing: &mut Differing<'_>, whole: &mut Whole) {
        // That a macro stands for another one of its name, nobody has said: what calls it relies on both being the same.
        let mut pairs = self.found.all.clone();
        pairs.retain(|old, _| !self.found.untold.contains(old));
        let comparison = Comparison::new(self.names, &pairs);
        let writers = Writers::new(self.mapping.world, self.names.texts);
        let auto_traits = AutoTraits::new(self.names);
        let mut same = Vec::new();
        for (old, new) in &self.found.all {
            let Some(pair) = self.alike(*old, *new) else {
                continue;
            };
            if self.mapping.world[*old].kind == ItemKind::Macro {
                self.macro_meaning(&comparison, (*old, *new), (&pair, gone), whole);
                continue;
            }
            if comparison.are_alike_by_conditions(*old, *new) {
                continue;
            }
            let to = &pair.to;
            if comparison.keeps(*old) {
                let why = format!("it and `{to}` each keep a state, and become one");
                whole.unproven.push(pair.unproven(why));
                continue;
            }
            if writers.has(*old) && comparison.of(*old, *new) == Meaning::OtherText {
                let why = format!(
                    "it serves what writes code, and `{to}` does something else: what is written for others \
                     is not read"
                );
                let kind = UnprovenKind::ProceduralMacro;
                whole.unproven.push(Unproven {
                    kind,
                    ..pair.unproven(why)
                });
                continue;
            }
            let meaning = comparison.of(*old, *new);
            if meaning != Meaning::Same {
                whole.unproven.extend(auto_traits.lost((*old, *new), &pair));
            }
            // Of a merge, what becomes of each that differs is in the manifest.
            if self.found.merged.contains(old) {
                continue;
            }
            match meaning {
                Meaning::Same => same.push((*old, pair)),
                Meaning::OtherText => {
                    differing.add(*old);
                    if self.mapping.world[*old].kind == ItemKind::TypeAlias {
                        let why = format!("it stands for another type than `{to}`");
                        whole.unproven.push(pair.unproven(why));
                    }
                    let value = differing.other_value(&comparison, (*old, *new), &pair);
                    whole.unproven.extend(value);
                }
                meaning => self.tell(&pair, meaning, whole),
            }
        }
        let unseen = same
            .iter()
            .filter_map(|(old, pair)| differing.unseen(*old, pair));
        whole.unproven.extend(unseen);
        whole.notes.extend(differing.warnings());
    }

    /// A definition that gives way, at its place, and what the one in its place is called.
    fn alike(&self, old: ItemId, new: ItemId) -> Option<Alike> {
        let world = self.mapping.world;
        let (file, at) = world[old].definitions.first()?;
        let name = |item: ItemId| self.names.name_of(Res::Item(item));
        Some(Alike {
            path: world[*file].path.clone(),
            span: world.facts(*file).item(*at).name.span,
            from: name(old),
            to: name(new),
        })
    }

    /// What is said of two definitions that read alike.
    fn tell(&self, pair: &Alike, meaning: Meaning, whole: &mut Whole) {
        let (from, to) = (&pair.from, &pair.to);
        match meaning {
            Meaning::Same | Meaning::OtherText | Meaning::OtherType { .. } => {}
            Meaning::OtherThing { name, old, new } => {
                let message = format!(
                    "`{from}` reads like `{to}` and is something else: its `{name}` is `{old}`, that of the other one `{new}`"
                );
                let is_ours = old
                    .split("::")
                    .next()
                    .is_some_and(|first| self.is_of_tree(first));
                let help = match is_ours {
                    true => format!(
                        "say in the manifest what becomes of `{old}`, or write what it does where it is used"
                    ),
                    false => format!("have both name the same first: `{old}` or `{new}`"),
                };
                let refused = refusal(pair.path.clone(), message);
                let refused = refused.coded(codes::MISMATCHED_REPLACEMENT);
                whole.refusals.push(refused.at(pair.span).with_help(help));
            }
            Meaning::State { item } => {
                let node = &self.mapping.world[item];
                let name = &node.name;
                let why = format!(
                    "it reads like `{to}`, and each keeps a state of its own: `{name}` stays"
                );
                if !self.mapping.is_replaced(node.module) {
                    whole.unproven.push(pair.unproven(why));
                }
            }
            Meaning::Unknown { name, is_of_one } => {
                let known = if is_of_one {
                    "known of one of both alone"
                } else {
                    "not known"
                };
                let why = format!("it reads like `{to}`, and what `{name}` leads to is {known}");
                whole.unproven.push(pair.unproven(why));
            }
            Meaning::Deprecated { new } => {
                let why = format!(
                    "`{to}` names `{new}`, which is deprecated, and the compiler warns of those who call it"
                );
                let kind = UnprovenKind::Lint;
                whole.unproven.push(Unproven {
                    kind,
                    ..pair.unproven(why)
                });
            }
            Meaning::Unread { why } => {
                let why = format!("it reads like `{to}`, and may mean something else: {why}");
                whole.unproven.push(pair.unproven(why));
            }
        }
    }

    /// Whether a name begins with a library of the tree.
    fn is_of_tree(&self, first: &str) -> bool {
        let mut crates = self.mapping.world.crates.iter();
        crates.any(|krate| krate.canonical == first)
    }

    /// Holds a macro against the one in its place, as calls read both that stay. What another one makes has no
    /// signature that could be held against what is used: that is told of each file that calls it.
    fn macro_meaning(
        &self,
        comparison: &Comparison<'_, '_>,
        (old, new): (ItemId, ItemId),
        (pair, gone): (&Alike, &Gone<'_, '_>),
        whole: &mut Whole,
    ) {
        let world = self.mapping.world;
        let calls: Vec<&ExpandedCall> = world.expansions().calls_of(old).collect();
        let stays = |call: &&&ExpandedCall| !self.goes(gone, call);
        let staying: Vec<&ExpandedCall> = calls.iter().filter(stays).copied().collect();
        // Of those that nobody calls here, others may call what is exported.
        let is_of_others = calls.is_empty() && is_exported(world, old);
        let is_told = !calls.is_empty() && !self.found.untold.contains(&old);
        if staying.is_empty() && !is_of_others && !is_told {
            return;
        }
        let read = if staying.is_empty() { &calls } else { &staying };
        let spaces = read.iter().map(|call| call.space).collect();
        let (from, to) = (&pair.from, &pair.to);
        let other = match comparison.of_macros((old, new), &spaces) {
            Meaning::OtherText => format!("`{to}!` makes something else than `{from}!`"),
            Meaning::OtherType { old, new } => {
                format!("`{to}!` names `{new}`, where `{from}!` named `{old}`")
            }
            meaning => {
                self.tell(pair, meaning, whole);
                return;
            }
        };
        let why = format!("{other}: whether this fits, the names do not tell");
        let mut places: BTreeMap<FileId, u32> = BTreeMap::new();
        for call in staying {
            let first = places.entry(call.file).or_insert(call.at);
            *first = call.at.min(*first);
        }
        let kind = UnprovenKind::UnknownType;
        let other = Unproven {
            kind,
            ..pair.unproven(why)
        };
        if places.is_empty() {
            whole.unproven.push(other.clone());
        }
        whole
            .unproven
            .extend(places.into_iter().map(|(file, at)| Unproven {
                path: world[file].path.clone(),
                span: Some(ByteSpan::empty(at)),
                ..other.clone()
            }));
    }

    /// Whether a call stands in what goes, and not in what a merge takes along.
    fn goes(&self, gone: &Gone<'_, '_>, call: &ExpandedCall) -> bool {
        let world = self.mapping.world;
        let module = world.module_of(call.space);
        let mut merged = self.found.merged.iter();
        let is_merged = merged.any(|item| world[*item].module == module);
        gone.has_text(call.file, call.at) || (self.mapping.is_replaced(module) && !is_merged)
    }

    /// Traits that only what gives way has, and variants that only what takes its place has.
    fn lacks(&self, matched: &BTreeSet<ItemId>, whole: &mut Whole) {
        let world = self.mapping.world;
        let both = self.found.all.iter();
        let both: BTreeSet<ItemId> = both.flat_map(|(old, new)| [*old, *new]).collect();
        let shapes = shape::shapes(world, &both, self.names.texts);
        for (old, new) in &self.found.all {
            if let (Some(here), Some(there)) = (shapes.get(old), shapes.get(new)) {
                let is_matched = matched.contains(old);
                let lacking = self.lacks_of((*old, here), (*new, there), is_matched);
                whole.unproven.extend(lacking);
            }
        }
    }

    /// The same of two definitions; `is_matched` tells whether a `match` may list the variants of the old one.
    fn lacks_of(
        &self,
        old: (ItemId, &Shape),
        new: (ItemId, &Shape),
        is_matched: bool,
    ) -> Vec<Unproven> {
        let place = self.names.definition(old.0);
        let Some((file, fact)) = place.filter(|_| old.1.is_known && new.1.is_known) else {
            return Vec::new();
        };
        let is_merged = self.found.merged.contains(&old.0);
        let lost = (!is_merged).then(|| self.lost_traits(old, new)).flatten();
        let others = is_matched.then(|| self.other_variants(old, new));
        let why = lost.into_iter().chain(others.into_iter().flatten());
        why.map(|why| Unproven {
            path: self.mapping.world[file].path.clone(),
            span: Some(fact.name.span),
            kind: UnprovenKind::UnknownType,
            name: self.name_of(old.0),
            why,
        })
        .collect()
    }

    /// What a `match` that lists the variants of the old one does not fit.
    fn other_variants(
        &self,
        (old, here): (ItemId, &Shape),
        (new, there): (ItemId, &Shape),
    ) -> Vec<String> {
        let is_enum = |item: ItemId| self.mapping.world[item].kind == ItemKind::Enum;
        let (from, to) = (self.name_of(old), self.name_of(new));
        let mut found = Vec::new();
        if is_enum(old) && !is_enum(new) {
            found.push(format!(
                "`{to}` is no enumeration, and a `match` may list the variants of `{from}`"
            ));
        }
        let more = there.variants.keys();
        let more = more.filter(|name| !here.variants.contains_key(*name));
        let more: Vec<&str> = more.map(String::as_str).collect();
        if !more.is_empty() {
            let more = more.join(", ");
            found.push(format!(
                "`{to}` has {more} besides, and a `match` may list those of `{from}` alone"
            ));
        }
        found
    }

    /// What is told of traits that only what gives way has.
    fn lost_traits(
        &self,
        (old, here): (ItemId, &Shape),
        (new, there): (ItemId, &Shape),
    ) -> Option<String> {
        let has = self.traits_of(new, there);
        let lost = here.derives.difference(&has).cloned();
        let lost: Vec<String> = lost.chain(self.implemented_alone(old, new, &has)).collect();
        (!lost.is_empty()).then(|| {
            format!(
                "`{}` lacks {}: whether users need that, the names do not tell",
                self.name_of(new),
                lost.join(", ")
            )
        })
    }

    fn name_of(&self, item: ItemId) -> String {
        self.names.name_of(Res::Item(item))
    }

    /// The traits that `impl`s are of which go with a type, where the one in its place has none like that: nobody
    /// has to name one who needs it (`?`, `.into()`, `{}`).
    fn implemented_alone(
        &self,
        old: ItemId,
        new: ItemId,
        has: &BTreeSet<String>,
    ) -> BTreeSet<String> {
        let world = self.mapping.world;
        let (from, to) = (&world[old].name, &world[new].name);
        let trait_of = |site: &ImplSite| {
            let text = self.names.texts.text(&world[site.file].path)?;
            let head = merge::impl_head(&text, site.span, &|name| name.to_owned())?;
            let (of, _) = head.split_once(" for ")?;
            // What it is of itself (`PartialEq<Old> for Old`), it is of the other one then.
            Some(match of.split_once('<') {
                Some((name, arguments)) => format!("{name}<{}", arguments.replace(from, to)),
                None => of.to_owned(),
            })
        };
        let goes = |site: &&ImplSite| {
            site.module == world[old].module || self.mapping.is_replaced(site.module)
        };
        let (own, stay): (Vec<&ImplSite>, Vec<&ImplSite>) = world.impls_of(old).partition(goes);
        let stay = stay.into_iter().chain(world.impls_of(new));
        let there: BTreeSet<String> = stay.filter_map(trait_of).collect();
        let own = own.into_iter().filter(|site| !site.is_inherent());
        own.filter_map(trait_of)
            .filter(|of| !there.contains(of) && !has.contains(of))
            .collect()
    }

    /// The traits that a type derives, or that its `impl`s are of, by their last names.
    fn traits_of(&self, item: ItemId, shape: &Shape) -> BTreeSet<String> {
        let world = self.mapping.world;
        let mut found = shape.derives.clone();
        let named = world.impls_of(item).filter_map(|one| one.trait_name(world));
        found.extend(named.map(str::to_owned));
        found
    }
}

/// A definition that gives way and the one in its place, for people.
pub(super) struct Alike {
    path: TreePath,
    span: ByteSpan,
    from: String,
    pub to: String,
}

impl Alike {
    /// What is not known of both.
    pub fn unproven(&self, why: String) -> Unproven {
        Unproven {
            path: self.path.clone(),
            span: Some(self.span),
            kind: UnprovenKind::Equivalence,
            name: self.from.clone(),
            why,
        }
    }
}
