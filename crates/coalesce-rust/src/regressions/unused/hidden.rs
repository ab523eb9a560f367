//! What others could name where it was, and nobody can where it is: the compiler asks who uses it from then on.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Unproven};

use super::{Named, is_open};
use crate::{
    facts::{ItemKind, Origin},
    lexer,
    resolve::{ItemId, Target, World},
    rewrite::{Demand, demand_of_trait},
};

impl Named<'_> {
    /// Items that others could name where they were, and now nobody does, where they are; and their members.
    pub(super) fn hidden_items(&mut self, old: &World) -> Vec<Unproven> {
        let new = self.tree.world;
        let all = items_of_code(old).into_iter();
        let before: BTreeMap<String, ItemId> = all.map(|(item, name)| (name, item)).collect();
        let after = items_of_code(new);
        let is_there: BTreeSet<&str> = after.iter().map(|(_, name)| name.as_str()).collect();
        let gone = before.iter();
        let gone = gone.filter(|(name, _)| !is_there.contains(name.as_str()));
        let gone = GoneItems::of(old, gone);
        let mut found = Vec::new();
        for (item, name) in &after {
            let (item, kind) = (*item, new[*item].kind);
            if is_open(new, item) {
                continue;
            }
            let was_seen = match before.get(name) {
                Some(own) => is_open(old, *own),
                None => gone.had_open(last(name), kind),
            };
            if !was_seen || self.is_told_by_attributes(item) {
                continue;
            }
            let unused = match kind {
                ItemKind::Trait => self.unused_trait(item, name),
                _ => self.unused_item(item, name, true),
            };
            match unused {
                Some(unused) => found.push(unused),
                None => found.extend(self.members_in_doubt(item)),
            }
        }
        found
    }

    /// A trait that nothing names, and of which nobody is known to call a method.
    pub(super) fn unused_trait(&mut self, item: ItemId, name: &str) -> Option<Unproven> {
        let (world, texts) = (self.tree.world, self.tree.texts);
        let unused = self.unused_item(item, name, true)?;
        let krate = world[world[item].module].krate;
        let is_called = world.sources().any(|(_, source)| {
            let mut homes = source.bodies.iter().map(|body| world[*body].module);
            let home = homes.find(|home| world[*home].krate == krate);
            let code = home.and_then(|home| Some((home, texts.text(&source.path)?)));
            code.is_some_and(|(home, text)| {
                demand_of_trait(world, item, (home, &text), texts) == Demand::Yes
            })
        });
        (!is_called).then_some(unused)
    }
}

/// The items of code by their names, but for those in functions.
pub(super) fn items_of_code(world: &World) -> Vec<(ItemId, String)> {
    let all = (0..).map(ItemId).zip(&world.items);
    let code = all.filter(|(_, item)| {
        let mut definitions = item.definitions.iter();
        // What documents define is theirs.
        let is_code =
            definitions.any(|(file, at)| world.facts(*file).item(*at).origin == Origin::Code);
        !item.local && is_code
    });
    code.map(|(item, _)| (item, world.name_of(&Target::Item(item))))
        .collect()
}

fn last(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// What has gone, by its last name.
#[derive(Default)]
struct GoneItems {
    open: BTreeSet<(String, ItemKind)>,
    hidden: BTreeSet<(String, ItemKind)>,
}

impl GoneItems {
    fn of<'n>(world: &World, gone: impl Iterator<Item = (&'n String, &'n ItemId)>) -> Self {
        let mut found = Self::default();
        for (name, item) in gone {
            let key = (last(name).to_owned(), world[*item].kind);
            match is_open(world, *item) {
                true => found.open.insert(key),
                false => found.hidden.insert(key),
            };
        }
        found
    }

    /// Whether what arrives by a name may be something that others could name: it is called like that, or like nothing
    /// that has gone.
    fn had_open(&self, name: &str, kind: ItemKind) -> bool {
        let key = (name.to_owned(), kind);
        let is_renamed = || self.open.iter().any(|(_, of)| *of == kind);
        self.open.contains(&key) || (!self.hidden.contains(&key) && is_renamed())
    }
}

/// A function by its name.
pub(super) struct NamedFunction {
    pub name: String,
    pub span: ByteSpan,
    /// Whether it is plainly `pub`.
    pub is_public: bool,
}

/// The functions of a block, but those that a name with `_` in front says to be unused.
pub(super) fn functions_in(text: &str, block: ByteSpan) -> Vec<NamedFunction> {
    let mut found = Vec::new();
    let (mut is_public, mut is_function) = (false, false);
    for token in lexer::tokens(text, block) {
        let word = token.span.of(text).unwrap_or_default();
        if is_function && token.is_ident() && !word.starts_with('_') {
            found.push(NamedFunction {
                name: word.to_owned(),
                span: token.span,
                is_public,
            });
        }
        is_function = word == "fn";
        is_public = match word {
            "pub" => true,
            "const" | "async" | "unsafe" | "extern" | "fn" => is_public,
            _ => is_public && matches!(token.kind, lexer::TokenKind::Text { .. }),
        };
    }
    found
}
