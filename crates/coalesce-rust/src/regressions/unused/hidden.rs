//! What others could name where it was, and nobody can where it is: the compiler asks who uses it from then on.
//!
//! Fields that nobody reads and variants that nobody makes are not asked about.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Unproven};

use super::{DEAD_CODE, Named, is_changed, is_open, items_of};
use crate::{
    facts::{Origin, SourceFacts},
    lexer,
    resolve::{FileId, ItemId, Res, Target, UseSite, World},
    rewrite::method_names,
};

impl Named<'_> {
    /// Items that others could name where they were, and now nobody does, where they are.
    pub(super) fn hidden_items(&mut self, before: &mut Named<'_>) -> Vec<Unproven> {
        let (old, new) = (before.tree.world, self.tree.world);
        let last = |name: &str| name.rsplit("::").next().unwrap_or(name).to_owned();
        let mut open: BTreeSet<String> = BTreeSet::new();
        for item in items_of_changed_files(old, new) {
            if is_open(old, item) {
                open.insert(old.name_of(&Target::Item(item)));
            }
        }
        let open_ends: BTreeSet<String> = open.iter().map(|name| last(name)).collect();
        let (mut found, mut hidden) = (Vec::new(), BTreeSet::new());
        for item in items_of_changed_files(new, old) {
            let name = new.name_of(&Target::Item(item));
            let is_same = open.contains(&name);
            let moved = || open_ends.contains(&last(&name)) && !has_item(old, &name);
            if !is_open(new, item) && (is_same || moved()) {
                // Who calls a macro, and whether anybody does, is not asked.
                found.extend(self.unused_item(item, &name, |used| !used.is_in_macro));
                hidden.insert(Res::Item(item));
            }
        }
        found.extend(self.hidden_methods(&hidden));
        found
    }

    /// Public functions of hidden types that nobody in the tree calls by name.
    fn hidden_methods(&self, hidden: &BTreeSet<Res>) -> Vec<Unproven> {
        let world = self.tree.world;
        let mut methods: Vec<(String, FileId, ByteSpan)> = Vec::new();
        let definitions = hidden.iter().filter_map(|res| match res {
            Res::Item(item) => world[*item].definitions.first(),
            _ => None,
        });
        let files: BTreeSet<FileId> = definitions.map(|(file, _)| *file).collect();
        for file in files {
            let Some(text) = self.tree.texts.text(&world[file].path) else {
                continue;
            };
            for block in blocks_of(world, file, hidden) {
                let functions = functions_in(&text, block).into_iter();
                let public = functions.filter(|one| one.is_public);
                methods.extend(public.map(|one| (one.name, file, one.span)));
            }
        }
        if methods.is_empty() {
            return Vec::new();
        }
        let mut called = BTreeSet::new();
        for (_, source) in world.sources() {
            if let Some(text) = self.tree.texts.text(&source.path) {
                called.extend(method_names(&text, ByteSpan::from_range(0..text.len())));
            }
        }
        methods.retain(|(name, ..)| !called.contains(name));
        let told = methods.into_iter();
        told.filter_map(|(name, file, span)| self.unused((file, span), &name, &DEAD_CODE))
            .collect()
    }
}

/// Whether a module of the tree has an item of its own by a full name.
fn has_item(world: &World, name: &str) -> bool {
    let Some((outer, last)) = name.rsplit_once("::") else {
        return false;
    };
    let mut modules = world.modules_named(outer).into_iter();
    modules.any(|module| !world.items_of(module, last).is_empty())
}

/// The items, by name, that stand in files which the other tree has not, or not like this.
fn items_of_changed_files(own: &World, other: &World) -> Vec<ItemId> {
    let all = (0..).map(ItemId).zip(&own.items);
    let changed = all.filter(|(_, item)| {
        let mut definitions = item.definitions.iter();
        !item.local
            && definitions.any(|(file, at)| {
                // What documents define is theirs.
                let code = own.facts(*file).item(*at).origin == Origin::Code;
                code && is_changed(own, other, *file)
            })
    });
    changed.map(|(item, _)| item).collect()
}

/// The `impl`s of no trait in a file that are of such types.
fn blocks_of(world: &World, file: FileId, types: &BTreeSet<Res>) -> Vec<ByteSpan> {
    let facts: &SourceFacts = world.facts(file);
    let mut found = Vec::new();
    world.visit_file(&world[file], &mut |_, site| {
        let UseSite::Path(path) = site.site else {
            return;
        };
        if items_of(&site).any(|item| types.contains(&item)) {
            let mut blocks = facts.impls.iter();
            let block = blocks.find(|one| one.self_path == Some(path) && one.trait_path.is_none());
            found.extend(block.map(|block| block.span));
        }
    });
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
