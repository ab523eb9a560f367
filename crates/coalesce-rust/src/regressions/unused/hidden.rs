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
        let before = ItemsByName::of(old);
        let after = items_of_code(new);
        let is_there: BTreeSet<&str> = after.iter().map(|(_, name)| name.as_str()).collect();
        let gone = before.gone(&is_there);
        let mut found = Vec::new();
        for (item, name) in &after {
            let (item, kind) = (*item, new[*item].kind);
            let was_seen = match before.open.get(name) {
                Some(is_open) => *is_open,
                None => gone.had_open(last(name), kind),
            };
            if !was_seen || is_open(new, item) || self.is_told_by_attributes(item) {
                continue;
            }
            let unused = match new[item].kind {
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

fn last(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// The items of a tree by their names, and what they are.
struct ItemsByName {
    /// Whether others can name them.
    open: BTreeMap<String, bool>,
    kinds: BTreeMap<String, ItemKind>,
}

/// What has gone, by its last name.
#[derive(Default)]
struct GoneItems {
    open: BTreeSet<(String, ItemKind)>,
    hidden: BTreeSet<(String, ItemKind)>,
}

impl ItemsByName {
    fn of(world: &World) -> Self {
        let all = items_of_code(world);
        let open = all
            .iter()
            .map(|(item, name)| (name.clone(), is_open(world, *item)));
        let open = open.collect();
        let kinds = all.into_iter().map(|(item, name)| (name, world[item].kind));
        let kinds = kinds.collect();
        Self { open, kinds }
    }

    /// What is no more.
    fn gone(&self, is_there: &BTreeSet<&str>) -> GoneItems {
        let mut found = GoneItems::default();
        for (name, is_open) in self
            .open
            .iter()
            .filter(|(name, _)| !is_there.contains(name.as_str()))
        {
            let kind = self.kinds.get(name).copied().unwrap_or(ItemKind::Unknown);
            let key = (last(name).to_owned(), kind);
            match is_open {
                true => found.open.insert(key),
                false => found.hidden.insert(key),
            };
        }
        found
    }
}

impl GoneItems {
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
