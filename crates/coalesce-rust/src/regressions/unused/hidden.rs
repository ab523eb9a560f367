//! What others could name where it was, and nobody can where it is: the compiler asks who uses it from then on.

use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet},
};

use coalesce_model::{ByteSpan, Unproven};

use super::{Named, Tree, is_open};
use crate::{
    facts::{ItemKind, Origin},
    lexer,
    resolve::{ItemId, Target, World},
    rewrite::{Demand, demand_of_trait},
};

impl Named<'_> {
    /// Items that others could name where they were, and now nobody does, where they are; and their members.
    pub(super) fn hidden_items(&mut self, before: Tree<'_>) -> Vec<Unproven> {
        let (old, new) = (before.world, self.tree.world);
        let trees = (before, self.tree);
        let all = items_of_code(old).into_iter();
        let known: BTreeMap<String, ItemId> = all.map(|(item, name)| (name, item)).collect();
        let after = items_of_code(new);
        let is_there: BTreeSet<&str> = after.iter().map(|(_, name)| name.as_str()).collect();
        let gone = known.iter();
        let gone = gone.filter(|(name, _)| !is_there.contains(name.as_str()));
        let gone = GoneItems::of(old, gone);
        let methods = OnceCell::new();
        let mut found = Vec::new();
        for (item, name) in &after {
            let (item, kind) = (*item, new[*item].kind);
            if is_open(new, item) {
                continue;
            }
            let was_seen = match known.get(name) {
                Some(own) => is_open(old, *own),
                None => {
                    // A function may have been a method.
                    let methods = || methods.get_or_init(|| gone_methods(trees));
                    gone.had_open(last(name), kind)
                        || kind == ItemKind::Function && methods().had_open(last(name), kind)
                }
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

/// The functions of types that the second tree has not: open are those that others may have called.
fn gone_methods((before, after): (Tree<'_>, Tree<'_>)) -> GoneItems {
    let still = methods_of(after);
    let mut found = GoneItems::default();
    for ((of, name), is_public) in methods_of(before) {
        if still.contains_key(&(of, name.clone())) {
            continue;
        }
        let key = (name, ItemKind::Function);
        match is_public {
            true => found.open.insert(key),
            false => found.hidden.insert(key),
        };
    }
    found
}

/// The functions that types have by themselves, by the full names of these: whether they are plainly `pub`. What nobody
/// can name may be handed out all the same, and its methods are called then.
fn methods_of(tree: Tree<'_>) -> BTreeMap<(String, String), bool> {
    let world = tree.world;
    let mut found = BTreeMap::new();
    for site in world.impls().iter().filter(|site| site.is_inherent()) {
        let text = tree.texts.text(&world[site.file].path);
        let (Some(of), Some(text)) = (site.of, text) else {
            continue;
        };
        let full = world.name_of(&Target::Item(of));
        for function in functions_in(&text, site.span) {
            found.insert((full.clone(), function.name), function.is_public);
        }
    }
    found
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
