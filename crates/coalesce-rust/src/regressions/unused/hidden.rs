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
    pub(super) fn hidden_items(&mut self, before: &Named<'_>) -> Vec<Unproven> {
        let (old, new) = (before.tree.world, self.tree.world);
        let (was_open, is_there) = (open_items(old), names_of_items(new));
        let gone = was_open
            .iter()
            .filter(|(name, _)| !is_there.contains(*name));
        // What goes may arrive under another name.
        let gone: BTreeSet<ItemKind> = gone.map(|(_, kind)| *kind).collect();
        let was_there = match gone.is_empty() {
            true => BTreeSet::new(),
            false => names_of_items(old),
        };
        let mut found = Vec::new();
        for (item, name) in items_of_code(new) {
            let arrives = || gone.contains(&new[item].kind) && !was_there.contains(&name);
            let was_seen = was_open.contains_key(&name) || arrives();
            if !was_seen || is_open(new, item) || self.is_told_by_attributes(item) {
                continue;
            }
            let unused = match new[item].kind {
                ItemKind::Trait => self.unused_trait(item, &name),
                _ => self.unused_item(item, &name, true),
            };
            match unused {
                Some(unused) => found.push(unused),
                None => found.extend(self.members_in_doubt(item)),
            }
        }
        found
    }

    /// A trait that nothing names, and of which nobody is known to call a method.
    fn unused_trait(&mut self, item: ItemId, name: &str) -> Option<Unproven> {
        let (world, texts) = (self.tree.world, self.tree.texts);
        let unused = self.unused_item(item, name, true)?;
        let is_called = world.sources().any(|(_, source)| {
            let home = source.bodies.first().map(|body| world[*body].module);
            let text = texts.text(&source.path);
            let demand = home.zip(text.as_deref()).map(|(home, text)| {
                let is_near = world[home].krate == world[world[item].module].krate;
                match is_near {
                    true => demand_of_trait(world, item, (home, text), texts),
                    false => Demand::No,
                }
            });
            demand == Some(Demand::Yes)
        });
        (!is_called).then_some(unused)
    }
}

/// The items of code by their names, but for those in functions.
fn items_of_code(world: &World) -> Vec<(ItemId, String)> {
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

fn names_of_items(world: &World) -> BTreeSet<String> {
    items_of_code(world)
        .into_iter()
        .map(|(_, name)| name)
        .collect()
}

/// What others can name, and what it is.
fn open_items(world: &World) -> BTreeMap<String, ItemKind> {
    let all = items_of_code(world).into_iter();
    let open = all.filter(|(item, _)| is_open(world, *item));
    open.map(|(item, name)| (name, world[item].kind)).collect()
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
