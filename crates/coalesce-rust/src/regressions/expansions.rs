//! What macros say, where they are called: `super::` and plain names in a body lead to what the caller has by
//! them, and what they lead through has to be seen from there.
//!
//! Each path of a body counts for each call. What leads nowhere for a call before counts as well, so that an arm
//! that a call does not take is no concern.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{
    Change, ChangeKind, Finding, TreePath, Unproven, UnprovenKind, change::Renames, finding::codes,
    language::LookupRegressions,
};

use super::{reaches_shown, textual_macros};
use crate::{
    facts::{ItemKind, SourceFacts},
    resolve::{FileId, Found, ItemId, MOST_READINGS, Res, Site, World, paths_of_body},
    rewrite::is_exported,
};

/// A macro, and what its body says.
type Key = (String, String);

/// What the paths of macros lead to, each with the number of calls.
#[derive(Default)]
struct Tally {
    targets: BTreeMap<(Key, String), usize>,
    gone: BTreeMap<Key, usize>,
    hidden: BTreeMap<Key, usize>,
    unknown: BTreeMap<Key, usize>,
    places: BTreeMap<Key, FileId>,
}

impl Tally {
    /// Counts calls of a text, with what they lead to.
    fn add(&mut self, key: Key, lead: Lead, calls: usize, renamed: &dyn Fn(&str) -> String) {
        let list = match lead {
            Lead::Gone => &mut self.gone,
            Lead::Hidden => &mut self.hidden,
            Lead::Unknown => &mut self.unknown,
            Lead::To(target) => {
                let target = renamed(&target);
                *self.targets.entry((key, target)).or_default() += calls;
                return;
            }
        };
        *list.entry(key).or_default() += calls;
    }

    /// How many calls of a text lead nowhere that is known and seen.
    fn nowhere(&self, key: &Key) -> usize {
        let lists = [&self.gone, &self.unknown, &self.hidden].into_iter();
        lists.filter_map(|list| list.get(key)).sum()
    }
}

/// What macros say for their callers in the tree `after`, and did not in the one `before`.
pub(crate) fn lookup_regressions(
    before: &World,
    after: &World,
    changes: &[Change],
) -> LookupRegressions {
    let renames = Renames::new(changes, "::");
    let old = tally(before, &|name| renames.name_after(name));
    let new = tally(after, &str::to_owned);
    let stand_ins = StandIns::new(before, &renames);
    let mut found = LookupRegressions::default();
    let known: BTreeSet<&Key> = old.places.keys().collect();
    let led: BTreeSet<&Key> = old.targets.keys().map(|(key, _)| key).collect();
    let macros: BTreeSet<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
    // Names that never led anywhere are those of the standard library, and of what is not read.
    let concerns = |key: &Key| {
        let arrives = macros.contains(key.0.as_str()) && !stand_ins.nowhere.contains(key);
        led.contains(key) || (!known.contains(key) && arrives)
    };
    let grown = |list: &BTreeMap<Key, usize>, known: &BTreeMap<Key, usize>| -> Vec<Key> {
        let more = list.iter().filter(|(key, calls)| {
            let before = known.get(*key).copied().unwrap_or_default();
            **calls > before && concerns(key)
        });
        more.map(|(key, _)| key.clone()).collect()
    };
    let path = |key: &Key| -> Option<TreePath> {
        let file = new.places.get(key)?;
        Some(after[*file].path.clone())
    };
    let mut refuse = |key: &Key, why: &str, code| {
        let (name, said) = key;
        let last = name.rsplit("::").next().unwrap_or(name);
        let message = format!("`{last}!` says `{said}`, which {why}");
        let help = "let the macro name it by `$crate::` and its whole path first".to_owned();
        let finding = path(key).map(|path| Finding::refusal(path, message));
        found
            .refusals
            .extend(finding.map(|one| one.coded(code).with_help(help)));
    };
    found
        .unproven
        .extend(not_read(before).or_else(|| not_read(after)));
    for key in grown(&new.gone, &old.gone) {
        let why = "would lead nowhere from a call";
        refuse(&key, why, codes::UNRESOLVED_AFTER_CHANGE);
    }
    for key in grown(&new.hidden, &old.hidden) {
        let why = "would not be seen from a call";
        refuse(&key, why, codes::OUT_OF_REACH);
    }
    for key in elsewhere(&old, &new, (&known, &stand_ins)) {
        let why = "would lead to another thing from a call";
        refuse(&key, why, codes::TIED_TO_PLACE);
    }
    let unknown = grown(&new.unknown, &old.unknown).into_iter();
    let unknown = unknown.filter_map(|key| Some(not_known(path(&key)?, &key)));
    found.unproven.extend(unknown);
    let others = textual_macros::other_definitions(before, after, &renames);
    found.refusals.extend(others);
    found
}

/// What is told of a path that leads for a call to what is not known.
fn not_known(path: TreePath, (name, said): &Key) -> Unproven {
    let last = name.rsplit("::").next().unwrap_or(name);
    Unproven {
        path,
        span: None,
        kind: UnprovenKind::MacroBuiltPath,
        name: said.clone(),
        why: format!(
            "`{last}!` says this, and what it leads to from where a call of it goes is not known"
        ),
    }
}

/// What is told of a tree whose macros are called too often for all bodies to be read.
fn not_read(world: &World) -> Option<Unproven> {
    let item = world.expansions().left_out()?;
    let node = &world[item];
    let (file, _) = node.definitions.first()?;
    Some(Unproven {
        path: world[*file].path.clone(),
        span: None,
        kind: UnprovenKind::MacroBuiltPath,
        name: node.name.clone(),
        why: format!(
            "bodies of macros are read for {MOST_READINGS} pairs of a call and a name, and there are more: what this one \
             and perhaps others name from where they are called is not known"
        ),
    })
}

/// What more calls than before lead to: of the same text, or where that is new, of the macro.
fn elsewhere(
    old: &Tally,
    new: &Tally,
    (known, stand_ins): (&BTreeSet<&Key>, &StandIns),
) -> BTreeSet<Key> {
    let (before, after) = (targets_by_macro(old), targets_by_macro(new));
    let macros: BTreeSet<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
    let mut found = BTreeSet::new();
    for ((key, target), calls) in &new.targets {
        let whole = (key.0.clone(), target.clone());
        let count = |list: &BTreeMap<(String, String), usize>| list.get(&whole).copied();
        let more = count(&after) > count(&before);
        let same = (key.clone(), target.clone());
        let text = old.targets.get(&same).copied().unwrap_or_default();
        // What led nowhere for a call before is no concern: it may be an arm that the call does not take.
        let found_now = old.nowhere(key).saturating_sub(new.nowhere(key));
        let concerns = macros.contains(key.0.as_str())
            && more
            && !stand_ins.led.contains(&same)
            && (!known.contains(key) || *calls > text + found_now);
        if concerns {
            found.insert(key.clone());
        }
    }
    found
}

/// How many calls of each macro lead to each target, whatever the text.
fn targets_by_macro(tally: &Tally) -> BTreeMap<(String, String), usize> {
    let mut found: BTreeMap<(String, String), usize> = BTreeMap::new();
    for (((name, _), target), calls) in &tally.targets {
        *found.entry((name.clone(), target.clone())).or_default() += calls;
    }
    found
}

/// What macros say that take the place of others, at their own place: who calls those reads it from then on, and
/// whether it is the same was asked where the two were held against each other.
#[derive(Default)]
struct StandIns {
    /// What the name of the crate leads to, whoever calls.
    led: BTreeSet<(Key, String)>,
    /// What leads nowhere where they stand either: names of the standard library.
    nowhere: BTreeSet<Key>,
}

impl StandIns {
    fn new(world: &World, renames: &Renames<'_>) -> Self {
        let mut found = Self::default();
        let items = world.items.iter().zip(0..);
        let macros = items.filter(|(node, _)| node.kind == ItemKind::Macro && !node.local);
        let mut by_name: BTreeMap<String, Vec<ItemId>> = BTreeMap::new();
        for (_, at) in macros {
            let item = ItemId(at);
            let name = renames.name_after(&full_name(world, item));
            by_name.entry(name).or_default().push(item);
        }
        let met = by_name.into_iter().filter(|(_, items)| items.len() > 1);
        for (name, items) in met {
            let stays = |item: &ItemId| {
                let own = full_name(world, *item);
                let change = renames.nearest(&own);
                change.is_none_or(|(change, _)| change.kind == ChangeKind::Move)
            };
            for item in items.into_iter().filter(stays) {
                found.read(world, item, (&name, renames));
            }
        }
        found
    }

    fn read(&mut self, world: &World, item: ItemId, (name, renames): (&str, &Renames<'_>)) {
        let own = world.space_of(world[item].module);
        // Who calls one that is not exported has the same crate.
        let is_inner = !is_exported(world, item);
        let is_of_crate =
            |text: &str| text.starts_with("$crate") || (is_inner && text.starts_with("crate::"));
        for said in paths_of_body(world, item) {
            let Some((facts, site)) = world.said_at(&said, own) else {
                continue;
            };
            let key = (name.to_owned(), text_of(facts, &site));
            match outcome(world, facts, &site) {
                Lead::To(target) if is_of_crate(&key.1) => {
                    self.led.insert((key, renames.name_after(&target)));
                }
                Lead::Gone | Lead::Unknown => {
                    self.nowhere.insert(key);
                }
                Lead::To(_) | Lead::Hidden => {}
            }
        }
    }
}

fn tally(world: &World, renamed: &dyn Fn(&str) -> String) -> Tally {
    let mut tally = Tally::default();
    let expansions = world.expansions();
    for (item, calls) in expansions.macros() {
        let name = renamed(&full_name(world, item));
        let mut spaces = BTreeMap::new();
        for call in calls {
            *spaces.entry(call.space).or_insert(0_usize) += 1;
        }
        let sites = expansions.said_by(item).iter().flat_map(|said| {
            let spaces = spaces.iter();
            spaces.map(move |(space, calls)| (said, *space, *calls))
        });
        for (said, space, calls) in sites {
            let Some((facts, site)) = world.said_at(said, space) else {
                continue;
            };
            let key = (name.clone(), text_of(facts, &site));
            tally.places.entry(key.clone()).or_insert(said.file);
            tally.add(key, outcome(world, facts, &site), calls, renamed);
        }
    }
    tally
}

fn full_name(world: &World, item: ItemId) -> String {
    world.name_of(&world.target(Res::Item(item)))
}

fn text_of(facts: &SourceFacts, site: &Site<'_>) -> String {
    let names = site.segments.iter().map(|one| facts.name(one.name));
    names.collect::<Vec<_>>().join("::")
}

/// What a path leads to for a call.
enum Lead {
    To(String),
    Gone,
    Hidden,
    Unknown,
}

fn outcome(world: &World, facts: &SourceFacts, site: &Site<'_>) -> Lead {
    let from = world.module_of(site.space);
    let mut outer: Option<&Found> = None;
    for (step, segment) in site.trace.steps.iter().zip(site.segments) {
        if step.opaque {
            return Lead::Unknown;
        }
        if step.is_empty() {
            return Lead::Gone;
        }
        let name = facts.name(segment.name);
        let reaches = outer.map(|outer| reaches_shown(world, outer, step, name));
        let reaches = reaches.unwrap_or_default();
        if !reaches.is_empty() && !reaches.iter().any(|reach| reach.is_seen_from(world, from)) {
            return Lead::Hidden;
        }
        outer = Some(step);
    }
    let last = site.trace.steps.last().and_then(|step| step.all().next());
    match last {
        // Macros are seen by where they stand, which is looked at by itself.
        Some((res, _)) => Lead::To(world.name_of(&world.target(res))),
        None => Lead::Unknown,
    }
}
