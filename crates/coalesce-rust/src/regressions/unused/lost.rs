//! Members, and traits, of what others could not name before either: something that has given way used them, and nothing
//! that stays does.
//!
//! Asked of what says a word that the changed files say less often than before: what only moves says as much.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Unproven};
use rustc_hash::FxHashMap;

use super::{
    DEAD_CODE, Named, Warning,
    hidden::items_of_code,
    is_open,
    members::{HiddenMember, MembersState, blocks_of},
};
use crate::{
    facts::ItemKind,
    lexer,
    regressions::is_changed,
    resolve::{FileId, ItemId, World},
};

const PERHAPS_LOST: Warning = Warning {
    lints: DEAD_CODE.lints,
    why: "what used it for certain has gone, and whether anything else does, reading cannot tell: the compiler may warn of \
          that",
};

impl Named<'_> {
    /// Members that something used before, and traits, that nothing uses now.
    pub(super) fn lost_members(&mut self, before: &mut Named<'_>) -> Vec<Unproven> {
        let fewer = said_less_often(before, self);
        if fewer.is_empty() {
            return Vec::new();
        }
        let old: BTreeMap<String, ItemId> = items_of_code(before.tree.world)
            .into_iter()
            .map(|(item, name)| (name, item))
            .collect();
        let mut found = Vec::new();
        for (item, name) in items_of_code(self.tree.world) {
            let Some(was) = old.get(&name).copied() else {
                continue;
            };
            if self.may_have_lost(item, &fewer) && !is_open(before.tree.world, was) {
                found.extend(self.lost_of((item, &name), (before, was)));
            }
        }
        found
    }

    /// Whether an item is one whose members, or methods, are used by name, and says one of these.
    fn may_have_lost(&self, item: ItemId, fewer: &BTreeSet<String>) -> bool {
        let world = self.tree.world;
        let kinds = [
            ItemKind::Struct,
            ItemKind::Enum,
            ItemKind::Union,
            ItemKind::Trait,
        ];
        let says = |(file, span): (FileId, ByteSpan)| {
            let text = self.tree.texts.text(&world[file].path);
            text.is_some_and(|text| {
                let mut tokens = lexer::tokens(&text, span).into_iter();
                tokens.any(|one| one.span.of(&text).is_some_and(|word| fewer.contains(word)))
            })
        };
        kinds.contains(&world[item].kind)
            && !is_open(world, item)
            && blocks_of(world, item).into_iter().any(says)
    }

    fn lost_of(
        &mut self,
        (item, name): (ItemId, &str),
        (before, was): (&mut Named<'_>, ItemId),
    ) -> Vec<Unproven> {
        if self.tree.world[item].kind == ItemKind::Trait
            && let Some(unused) = self.unused_trait(item, name)
        {
            let is_new = before.unused_trait(was, name).is_none();
            return is_new.then_some(unused).into_iter().collect();
        }
        let (own, others) = (self.members_of(item), before.members_of(was));
        if own.is_empty() || others.is_empty() || self.is_told_by_attributes(item) {
            return Vec::new();
        }
        let is_shown = self.is_shown(item);
        let (now, then) = (self.state_of(item, own), before.state_of(was, others));
        let lost = now.members.iter().enumerate().filter_map(|(at, member)| {
            let is_asked = !(is_shown && member.is_public);
            let warning = is_asked.then(|| lost_member((&now, at, member), &then));
            Some((member, warning.flatten()?))
        });
        let lost: Vec<(&HiddenMember, &Warning)> = lost.collect();
        lost.into_iter()
            .filter_map(|(member, warning)| {
                self.unused((member.file, member.at), &member.name, warning)
            })
            .collect()
    }
}

/// What is said of a member, where something used it before.
fn lost_member<'w>(
    (now, at, member): (&MembersState, usize, &HiddenMember),
    then: &MembersState,
) -> Option<&'w Warning> {
    let is_same = |one: &HiddenMember| {
        one.name == member.name && one.kind == member.kind && one.variant == member.variant
    };
    let was = then.members.iter().position(is_same)?;
    let count = |state: &MembersState, at: usize| {
        let own = state.said.iter().filter(|one| one.member == at);
        own.count()
    };
    if !now.perhaps.contains(&at) {
        return then.perhaps.contains(&was).then_some(&DEAD_CODE);
    }
    let is_in_doubt = !now.used.contains(&at) && then.used.contains(&was);
    (is_in_doubt && count(now, at) < count(then, was)).then_some(&PERHAPS_LOST)
}

/// The words that changed files say less often than they did.
fn said_less_often(before: &Named<'_>, after: &Named<'_>) -> BTreeSet<String> {
    let was = words_of(before, after.tree.world);
    let is = words_of(after, before.tree.world);
    let fewer = was
        .into_iter()
        .filter(|(word, count)| is.get(word).is_none_or(|now| now < count));
    fewer.map(|(word, _)| word).collect()
}

/// How often the files that are not the same in another tree say each name.
fn words_of(named: &Named<'_>, other: &World) -> FxHashMap<String, usize> {
    let world = named.tree.world;
    let mut found = FxHashMap::default();
    for (file, source) in world.sources() {
        let text = is_changed(world, other, file).then(|| named.tree.texts.text(&source.path));
        let Some(text) = text.flatten() else {
            continue;
        };
        let tokens = lexer::tokens(&text, ByteSpan::from_range(0..text.len())).into_iter();
        let words = tokens.filter(|token| token.is_ident());
        for word in words.filter_map(|token| token.span.of(&text)) {
            *found.entry(word.to_owned()).or_default() += 1;
        }
    }
    found
}
