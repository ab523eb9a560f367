//! What reads otherwise than the one in its place: that one serves for the other is the manifest's word, which was
//! given of the names in its entries, and of nothing that these use in turn.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Finding, Unproven};

use super::{
    Use,
    meaning::{Comparison, words},
    names::Names,
    values::{ApartValues, is_constant},
    whole::{Alike, Pairs},
};
use crate::{
    facts::ItemKind,
    resolve::{FileId, ItemId, ModuleId, Res},
};

/// The definitions that give way, by what is known of their texts.
pub(super) struct Differing<'d> {
    names: &'d Names<'d>,
    pairs: &'d Pairs,
    /// What stays names these.
    used: BTreeSet<ItemId>,
    /// Those that read otherwise than what takes their place.
    other: BTreeSet<ItemId>,
    /// Those of which a value that differs is told.
    told: BTreeSet<ItemId>,
}

impl<'d> Differing<'d> {
    pub fn new(names: &'d Names<'d>, pairs: &'d Pairs, uses: &[(FileId, Vec<Use>)]) -> Self {
        let used = uses.iter().flat_map(|(_, uses)| uses);
        Self {
            names,
            pairs,
            used: used.map(|one| one.item).collect(),
            other: BTreeSet::new(),
            told: BTreeSet::new(),
        }
    }

    /// Keeps that a definition reads otherwise than the one in its place.
    pub fn add(&mut self, old: ItemId) {
        self.other.insert(old);
    }

    /// That users get another value, where the one in its place is known to have one: nothing that reads otherwise
    /// altogether, of which only the manifest can know that it serves.
    pub fn other_value(
        &mut self,
        comparison: &Comparison<'_, '_>,
        (old, new): (ItemId, ItemId),
        pair: &Alike,
    ) -> Option<Unproven> {
        let is_seen = self.used.contains(&old) || self.pairs.shimmed.contains(&old);
        let is_asked = is_seen && !self.pairs.decided.contains(&old);
        let apart = is_asked.then(|| comparison.values_apart(old, new));
        let ApartValues { old: was, new: is } = apart??;
        self.told.insert(old);
        let to = &pair.to;
        let why = if is_constant(self.names.world[old].kind) {
            format!("it is `{was}`, and `{to}` is `{is}`")
        } else {
            format!("it has `{was}` where `{to}` has `{is}`")
        };
        Some(pair.unproven(format!(
            "{why}: that one serves for the other is the manifest's word"
        )))
    }

    /// What reads like the one in its place, is used, and names something of its module that does not: an entry for
    /// the module brings the two together unseen.
    pub fn unseen(&self, old: ItemId, pair: &Alike) -> Option<Unproven> {
        let hidden = self.used.contains(&old).then(|| self.reached_from(old));
        let hidden = hidden?
            .into_iter()
            .find(|item| self.other.contains(item) && !self.pairs.of_entries.contains(item))?;
        let name = |item: ItemId| self.names.name_of(Res::Item(item));
        let there = self.pairs.all.get(&hidden).copied().map(name);
        Some(pair.unproven(format!(
            "it reads like `{}` and uses `{}`, which reads otherwise than `{}`: that one serves for the other is the \
             manifest's word",
            pair.to,
            name(hidden),
            there.unwrap_or_default()
        )))
    }

    /// Of each module or item of an entry, that what is used of it reads otherwise from now on.
    pub fn warnings(&self) -> Vec<Finding> {
        let world = self.names.world;
        let mut by_module: BTreeMap<_, Vec<ItemId>> = BTreeMap::new();
        let told = |item: &&ItemId| self.told.contains(item);
        for item in self
            .other
            .intersection(&self.used)
            .filter(|item| !told(item))
        {
            let home = world[*item].module;
            let apart = self.pairs.of_entries.contains(item).then_some(*item);
            by_module.entry((home, apart)).or_default().push(*item);
        }
        by_module
            .into_values()
            .filter_map(|items| self.warning(&items))
            .collect()
    }

    fn warning(&self, items: &[ItemId]) -> Option<Finding> {
        let world = self.names.world;
        let first = items.first()?;
        let (file, fact) = self.names.definition(*first)?;
        let name = |item: ItemId| self.names.name_of(Res::Item(item));
        let listed = items.iter().filter_map(|item| {
            let there = self.pairs.all.get(item)?;
            Some(format!("`{}` than `{}`", name(*there), name(*item)))
        });
        let listed: Vec<String> = listed.collect();
        let message = format!("users get what reads otherwise: {}", listed.join(", "));
        let warning = Finding::warning(world[file].path.clone(), message);
        let help = "that one serves for the other is the manifest's word: only types and names are compared";
        Some(warning.at(fact.name.span).with_help(help.to_owned()))
    }

    /// The definitions that give way along with one that names them, or that what it names does in turn.
    fn reached_from(&self, item: ItemId) -> Vec<ItemId> {
        let mut found = Vec::new();
        let (mut open, mut seen) = (vec![item], BTreeSet::from([item]));
        while let Some(item) = open.pop() {
            let mut all = named_by(self.names, item);
            all.extend(traits_called_by(self.names, item));
            let pairs = all.into_iter();
            let pairs = pairs.filter(|named| self.pairs.all.contains_key(named));
            for named in pairs.filter(|named| seen.insert(*named)) {
                open.push(named);
                found.push(named);
            }
        }
        found
    }
}

/// The traits of its module whose methods a definition may call, by the names behind its dots.
fn traits_called_by(names: &Names<'_>, item: ItemId) -> BTreeSet<ItemId> {
    let mut found = BTreeSet::new();
    for (file, span, module) in texts_of(names, item) {
        let Some(text) = names.file(file) else {
            continue;
        };
        let words = words(&text, span).into_iter();
        let called = words.filter(|word| word.is_behind_dot);
        let traits = called.flat_map(|word| names.traits_with(module, word.text));
        found.extend(traits.filter_map(|res| match res {
            Res::Item(item) => Some(item),
            _ => None,
        }));
    }
    found
}

/// The texts of a definition and of its `impl`s, each with the module that it stands in.
fn texts_of(names: &Names<'_>, item: ItemId) -> Vec<(FileId, ByteSpan, ModuleId)> {
    let module = names.world[item].module;
    let own = names.definition(item);
    let own = own.map(|(file, fact)| (file, fact.span, module));
    own.into_iter().chain(names.impls(item)).collect()
}

/// The items that the text of a definition and of its `impl`s names. What types make of a trait is theirs.
pub(super) fn named_by_own(names: &Names<'_>, item: ItemId) -> BTreeSet<ItemId> {
    let mut texts = texts_of(names, item);
    if names.world[item].kind == ItemKind::Trait {
        texts.truncate(1);
    }
    named_in(names, texts)
}

/// The items that the text of a definition and of its `impl`s names, those of a trait for types included.
fn named_by(names: &Names<'_>, item: ItemId) -> BTreeSet<ItemId> {
    named_in(names, texts_of(names, item))
}

fn named_in(names: &Names<'_>, texts: Vec<(FileId, ByteSpan, ModuleId)>) -> BTreeSet<ItemId> {
    let mut found = BTreeSet::new();
    for (file, span, module) in texts {
        let Some(text) = names.file(file) else {
            continue;
        };
        let words = words(&text, span).into_iter().filter(|word| word.is_name);
        let led = words.flat_map(|word| names.leads_to(&text, module, word.span));
        found.extend(led.filter_map(|res| match res {
            Res::Item(item) | Res::Member(item, _) | Res::Variant(item, _) => Some(item),
            _ => None,
        }));
    }
    found
}
