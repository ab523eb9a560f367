//! Who turns a feature on in a package that code leaves turns it on in the one that the code goes to.
//!
//! It is turned on by the features of a line, by its default features, by lists of features
//! (`gpu = ["old/cuda"]`, `old?/trace`). Where there is no line that could carry it, that is told.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_cargo::{
    dependencies::{self as entries, Entry},
    features::{self, Features},
};
use coalesce_model::{TreePath, Unproven, UnprovenKind};

use super::{
    super::mapping::Mapping,
    book::{Book, Wrong},
    defaults::dependents,
    effective::Effective,
    wishes::{Switch, ask, names},
};
use crate::discover::DependencyKind;

/// Carries what turns a feature on over to the package that has the code now.
pub(super) fn carry(
    mapping: &Mapping<'_>,
    book: &mut Book<'_>,
    switch: &Switch,
) -> Result<Vec<Unproven>, Wrong> {
    let is_forwarded = forward(mapping, book, switch)?;
    let before = OldFeature::new(mapping, switch)?;
    let mut open = Vec::new();
    for at in before.dependents() {
        let turns_on = before.of_user(at)?;
        if turns_on.is_none() {
            continue;
        }
        if at == switch.to {
            open.extend(within(mapping, book, switch, &turns_on)?);
        } else if !follow(mapping, book, (at, switch), &turns_on)? && !is_forwarded {
            open.extend(before.without_line(at));
        }
    }
    Ok(open)
}

/// Whether all packages of the tree that depend on the one which the code leaves have the feature on by that: by
/// default, others may not come to have it.
pub(super) fn is_on_for_all(mapping: &Mapping<'_>, switch: &Switch) -> Result<bool, Wrong> {
    let before = OldFeature::new(mapping, switch)?;
    for at in before.dependents() {
        if !before.of_user(at)?.by_line {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Packages that have the feature on in the package that the code goes to, where it was not in the one
/// that the code leaves: the code does there what it did not.
pub(super) fn on_by_others(mapping: &Mapping<'_>, switch: &Switch) -> Result<Vec<Unproven>, Wrong> {
    let before = OldFeature::new(mapping, switch)?;
    let dependents = before.dependents();
    let mut always = !dependents.is_empty();
    for at in dependents {
        always &= before.of_user(at)?.by_line;
    }
    if always {
        return Ok(Vec::new());
    }
    let turned = switch.reversed();
    let other = OldFeature::new(mapping, &turned)?;
    let mut open = Vec::new();
    for at in other.dependents() {
        let (new, old) = (other.of_user(at)?, before.of_user(at)?);
        let by_lists = || new.by_lists.iter().any(|list| !old.by_lists.contains(list));
        let more = !old.by_line && (new.by_line || by_lists());
        if at != switch.from && more {
            let name = &mapping.world.package(switch.from).name;
            let why = format!("where the code did not have that of `{name}`");
            open.push(other.left_open(at, &why));
        }
    }
    Ok(open)
}

/// How a package turns a feature of another one on.
#[derive(Default)]
struct TurnsOn {
    /// By a line for it.
    by_line: bool,
    /// By these features of its own.
    by_lists: BTreeSet<String>,
}

impl TurnsOn {
    fn is_none(&self) -> bool {
        !self.by_line && self.by_lists.is_empty()
    }
}

impl Switch {
    /// The feature of that name, for code that goes the other way.
    fn reversed(&self) -> Self {
        Self {
            from: self.to,
            to: self.from,
            feature: self.feature.clone(),
        }
    }
}

/// The tree before, asked for a feature of the package that code leaves.
struct OldFeature<'m, 'a> {
    mapping: &'m Mapping<'a>,
    switch: &'m Switch,
    features: Features,
}

impl<'m, 'a> OldFeature<'m, 'a> {
    fn new(mapping: &'m Mapping<'a>, switch: &'m Switch) -> Result<Self, Wrong> {
        let features = manifest(mapping, switch.from)?.features;
        Ok(Self {
            mapping,
            switch,
            features,
        })
    }

    /// The packages that depend on it.
    fn dependents(&self) -> Vec<usize> {
        dependents(self.mapping, self.switch.from)
    }

    fn of_user(&self, at: usize) -> Result<TurnsOn, Wrong> {
        let mapping = self.mapping;
        let said = manifest(mapping, at)?;
        let mut book = Book::new(mapping.texts, BTreeMap::new());
        let package = mapping.world.package(at);
        let mut found = TurnsOn::default();
        let own = said.entries.iter();
        for entry in own.filter(|entry| names(mapping, at, self.switch.from, entry)) {
            let line = Effective::of(&mut book, mapping.texts, package, entry);
            found.by_line |= line.turns_on(&self.features, &self.switch.feature);
            found
                .by_lists
                .extend(self.lists(&said.features, &entry.key));
        }
        Ok(found)
    }

    /// The features whose lists turn it on by a key.
    fn lists(&self, own: &Features, key: &str) -> Vec<String> {
        let wanted = [self.switch.feature.clone()].into();
        let turns_on = |said: &String| {
            let parts = said.split_once('/');
            parts.is_some_and(|(dependency, feature)| {
                dependency.trim_end_matches('?') == key
                    && features::reaches(&self.features, feature, &wanted)
            })
        };
        let lists = own.iter().filter(|(_, list)| list.iter().any(turns_on));
        lists.map(|(name, _)| name.clone()).collect()
    }

    /// What is open where a package turned it on that has no line for the one which has the code now; nothing
    /// where it is the only one that depends on the old one.
    fn without_line(&self, at: usize) -> Option<Unproven> {
        let mut others = self.dependents().into_iter();
        others.any(|other| other != at).then(|| {
            let name = &self.mapping.world.package(self.switch.to).name;
            let why = format!("and `{name}`, which has the code now, is none of its dependencies");
            self.left_open(at, &why)
        })
    }

    fn left_open(&self, at: usize, why: &str) -> Unproven {
        let world = self.mapping.world;
        let feature = &self.switch.feature;
        Unproven {
            path: world.manifest_of(at),
            span: None,
            kind: UnprovenKind::Condition,
            name: feature.clone(),
            why: format!(
                "`{}` turns `{feature}` of `{}` on, {why}",
                world.package(at).name,
                world.package(self.switch.from).name
            ),
        }
    }
}

/// What a manifest says before.
struct SaidBefore {
    entries: Vec<Entry>,
    features: Features,
}

fn manifest(mapping: &Mapping<'_>, at: usize) -> Result<SaidBefore, Wrong> {
    let path = mapping.world.manifest_of(at);
    let text = mapping.texts.text(&path).unwrap_or_default();
    let wrong = |why: coalesce_cargo::Error| (path.clone(), why.to_string());
    Ok(SaidBefore {
        entries: entries::dependencies(&text).map_err(wrong)?,
        features: features::features(&text).map_err(wrong)?,
    })
}

/// Has the feature of the package that the code leaves turn on that of the one that it goes to; whether
/// the one depends on the other.
fn forward(mapping: &Mapping<'_>, book: &mut Book<'_>, switch: &Switch) -> Result<bool, Wrong> {
    let (from, to, name) = (switch.from, switch.to, &switch.feature);
    let old: TreePath = mapping.world.manifest_of(from);
    let mut is_forwarded = false;
    book.change(&old, |text| {
        let own = entries::dependencies(text)?;
        let line = own.iter().find(|entry| {
            entry.kind() == DependencyKind::Normal && names(mapping, from, to, entry)
        });
        let Some(line) = line else {
            return Ok(text.to_owned());
        };
        is_forwarded = true;
        let said = features::features(text)?;
        let list = match features::of(&said, name) {
            Some(list) => list.clone(),
            None => vec![format!("dep:{name}")],
        };
        Ok(features::put(text, name, &with(list, line, name))?)
    })?;
    Ok(is_forwarded)
}

/// A list that turns a feature of a dependency on besides.
fn with(mut list: Vec<String>, line: &Entry, feature: &str) -> Vec<String> {
    let weak = if line.is("optional") { "?" } else { "" };
    let more = format!("{}{weak}/{feature}", line.key);
    let strong = format!("{}/{feature}", line.key);
    if !list.contains(&more) && !list.contains(&strong) {
        list.push(more);
    }
    list
}

/// Has a user of both turn the feature on in both; whether it depends on the one that has the code now.
fn follow(
    mapping: &Mapping<'_>,
    book: &mut Book<'_>,
    (at, switch): (usize, &Switch),
    turns_on: &TurnsOn,
) -> Result<bool, Wrong> {
    let path = mapping.world.manifest_of(at);
    let target = mapping.world.manifest_of(switch.to);
    let wrong = |why: coalesce_cargo::Error| (path.clone(), why.to_string());
    let there = features::features(&book.text(&target)?).map_err(wrong)?;
    let all = entries::dependencies(&book.text(&path)?).map_err(wrong)?;
    let lines: Vec<&Entry> = all
        .iter()
        .filter(|entry| names(mapping, at, switch.to, entry))
        .collect();
    for line in &lines {
        let package = mapping.world.package(at);
        let known = Effective::of(book, mapping.texts, package, line);
        if !known.turns_on(&there, &switch.feature) {
            book.change(&path, |text| turn_on(text, turns_on, line, &switch.feature))?;
        }
    }
    Ok(!lines.is_empty())
}

/// A manifest that turns a feature on for a line as it did before: in the line, or in lists of features.
fn turn_on(text: &str, turns_on: &TurnsOn, line: &Entry, feature: &str) -> Result<String, String> {
    if turns_on.by_line {
        return ask(text, &entries::find(text, line)?, feature);
    }
    let mut text = text.to_owned();
    for name in &turns_on.by_lists {
        let said = features::features(&text)?;
        let list = features::of(&said, name).cloned().unwrap_or_default();
        text = features::put(&text, name, &with(list, line, feature))?;
    }
    Ok(text)
}

/// The package that has the code now turned the feature on in the one that it had the code from: its
/// lists say so of its own, and what a line asked for it cannot ask of itself.
fn within(
    mapping: &Mapping<'_>,
    book: &mut Book<'_>,
    switch: &Switch,
    turns_on: &TurnsOn,
) -> Result<Option<Unproven>, Wrong> {
    let path = mapping.world.manifest_of(switch.to);
    let feature = &switch.feature;
    book.change(&path, |text| in_lists(text, turns_on, switch))?;
    let wrong = |why: coalesce_cargo::Error| (path.clone(), why.to_string());
    let now = features::features(&book.text(&path)?).map_err(wrong)?;
    let is_on = features::defaults(&now).contains(feature)
        && is_on_for_users(mapping, book, (switch, &now))?;
    let why = "and cannot ask that of itself, now that the code is its own";
    (turns_on.by_line && !is_on)
        .then(|| OldFeature::new(mapping, switch).map(|before| before.left_open(switch.to, why)))
        .transpose()
}

/// Whether all packages of the tree that depend on the one which has the code now turn the feature on by a line of
/// theirs: some may go without its default features.
fn is_on_for_users(
    mapping: &Mapping<'_>,
    book: &mut Book<'_>,
    (switch, features): (&Switch, &Features),
) -> Result<bool, Wrong> {
    let mut is_on = true;
    for at in dependents(mapping, switch.to) {
        let path = mapping.world.manifest_of(at);
        let text = book.text(&path)?;
        let all = entries::dependencies(&text).map_err(|why| (path, why.to_string()))?;
        let package = mapping.world.package(at);
        let mut lines = all
            .iter()
            .filter(|entry| names(mapping, at, switch.to, entry));
        is_on &= lines.any(|entry| {
            let line = Effective::of(book, mapping.texts, package, entry);
            line.turns_on(features, &switch.feature)
        });
    }
    Ok(is_on)
}

/// A manifest whose lists of features that turned the feature on turn that of its own on.
fn in_lists(text: &str, turns_on: &TurnsOn, switch: &Switch) -> Result<String, String> {
    let feature = &switch.feature;
    let mut text = text.to_owned();
    for name in turns_on.by_lists.iter().filter(|name| *name != feature) {
        let said = features::features(&text)?;
        let mut list = features::of(&said, name).cloned().unwrap_or_default();
        if !list.contains(feature) {
            list.push(feature.clone());
        }
        text = features::put(&text, name, &list)?;
    }
    Ok(text)
}
