//! What goes with a replaced module and is not in the one in its place: fields and methods that
//! are used behind a dot, and `impl`s.
//!
//! Receivers are not known: fields and methods count by their name, in files that name the module.
//! Whether an `impl` of a trait is needed is the compiler's business where the type has something
//! in its place; one for a type of somebody else is refused, as nothing takes its place.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Finding, Severity, finding::codes};

use super::{Use, shape::Shape};
use crate::{
    lexer,
    resolve::{FileId, ItemId, ModuleId},
    rewrite::{
        mapping::{Mapping, refusal},
        merge::impl_head,
    },
};

const MERGE_INSTEAD: &str = "say `[[merge]]` instead of `[[replace]]`: what it lacks comes along";

/// What would be lost.
#[derive(Default)]
pub(in super::super) struct Lost {
    pub refusals: Vec<Finding>,
    pub notes: Vec<Finding>,
}

/// A replaced item and what takes its place, as both are.
pub(super) struct Sides<'s> {
    pub mapping: &'s Mapping<'s>,
    pub pairs: &'s BTreeMap<ItemId, ItemId>,
    pub shapes: &'s BTreeMap<ItemId, Shape>,
}

/// An `impl` of a trait.
struct Block {
    module: ModuleId,
    file: FileId,
    span: ByteSpan,
    of: Option<ItemId>,
    by: Option<ItemId>,
    /// `Trait<X> for Type`, ways left out.
    head: String,
}

/// An `impl` in the names that hold after.
type Key = (String, Option<ItemId>, Option<ItemId>);

impl Sides<'_> {
    /// What is used behind a dot, in the files of `uses`, and is not there after.
    pub fn members(&self, uses: &[(FileId, Vec<Use>)]) -> Vec<Finding> {
        let mut found = Vec::new();
        for (file, uses) in uses {
            let named: BTreeSet<ItemId> = uses.iter().map(|one| one.item).collect();
            let lacking: BTreeMap<&str, ItemId> = named
                .iter()
                .flat_map(|item| self.lacking(*item).map(|name| (name, *item)))
                .collect();
            let source = Some(&self.mapping.world[file]);
            let text = source.and_then(|source| self.mapping.texts.text(&source.path));
            let (Some(source), Some(text)) = (source, text.filter(|_| !lacking.is_empty())) else {
                continue;
            };
            let mut told = BTreeSet::new();
            let used = dotted(&text).into_iter().filter_map(|(span, name)| {
                let new = self.pairs.get(lacking.get(name)?)?;
                Some((span, name, *new))
            });
            let used = used.filter(|(span, ..)| !self.goes(*file, span.start));
            for (span, name, new) in used.filter(|(_, name, _)| told.insert(*name)) {
                let of = super::name_of(self.mapping, new);
                let message = format!("`{of}` has no `{name}`, which is used here");
                let refused = refusal(source.path.clone(), message);
                let refused = refused.coded(codes::MISMATCHED_REPLACEMENT);
                found.push(refused.at(span).with_help(MERGE_INSTEAD.to_owned()));
            }
        }
        found
    }

    /// The fields and methods of an item that the one in its place lacks.
    fn lacking(&self, item: ItemId) -> impl Iterator<Item = &str> {
        let new = self.pairs.get(&item).and_then(|new| self.shapes.get(new));
        let old = self.shapes.get(&item);
        // Through `Deref`, a type has what another one has.
        let both = old
            .zip(new)
            .filter(|(_, new)| new.has_names && !new.is_pointer);
        both.into_iter().flat_map(|(old, new)| {
            let lost = old.names.difference(&new.names);
            lost.map(String::as_str)
        })
    }

    /// Whether a byte of a file goes with a replaced module.
    fn goes(&self, file: FileId, at: u32) -> bool {
        let world = self.mapping.world;
        let scopes = &world.facts(file).scopes;
        let mut bodies = world[file].bodies.iter().map(|body| &world[*body]);
        bodies.any(|body| {
            let scope = scopes.get(body.scope.0 as usize);
            self.mapping.is_replaced(body.module)
                && scope.is_some_and(|scope| scope.span.start <= at && at < scope.span.end)
        })
    }

    /// The `impl`s of traits that go and that nothing takes the place of.
    pub fn impls(&self) -> Lost {
        let mut lost = Lost::default();
        let blocks = self.blocks();
        let (gone, stay): (Vec<&Block>, Vec<&Block>) = blocks
            .iter()
            .partition(|block| self.mapping.is_replaced(block.module));
        let theirs: BTreeSet<Key> = stay.iter().map(|block| self.key(block)).collect();
        for block in gone {
            self.one(block, &theirs, &mut lost);
        }
        self.derives(&theirs, &mut lost.notes);
        lost
    }

    fn one(&self, block: &Block, theirs: &BTreeSet<Key>, lost: &mut Lost) {
        let key = self.key(block);
        let (head, new, _) = &key;
        let leaves = |item: Option<ItemId>| item.is_some_and(|item| self.leaves(item));
        if theirs.contains(&key) || leaves(block.of) || leaves(block.by) {
            return;
        }
        let stand_in = |item: Option<ItemId>| item.is_some_and(|one| self.pairs.contains_key(&one));
        if new.is_some_and(|new| self.derives_head(new, head)) {
            return;
        }
        let source = &self.mapping.world[block.file];
        let message = format!("`impl {head}` goes with its module, and nothing takes its place");
        let finding = refusal(source.path.clone(), message).at(block.span);
        if stand_in(block.of) || stand_in(block.by) {
            lost.notes.push(Finding {
                severity: Severity::Warning,
                help: Some("say `[[merge]]` if somebody needs it: it comes along then".to_owned()),
                ..finding
            });
        } else {
            lost.refusals.push(Finding {
                code: codes::LOST_DEFINITION,
                help: Some("say `[[merge]]`: it comes along then".to_owned()),
                ..finding
            });
        }
    }

    /// Whether a type derives the trait of the head of an `impl`.
    fn derives_head(&self, item: ItemId, head: &str) -> bool {
        let of = head.split_once(" for ").map(|(of, _)| of);
        let shape = self.shapes.get(&item);
        shape.is_some_and(|shape| of.is_some_and(|of| shape.derives.contains(of)))
    }

    /// Whether an item goes and has nothing in its place: who names it is refused elsewhere.
    fn leaves(&self, item: ItemId) -> bool {
        let node = &self.mapping.world[item];
        !self.pairs.contains_key(&item) && self.mapping.is_replaced(node.module)
    }

    fn key(&self, block: &Block) -> Key {
        let after = |item: ItemId| self.pairs.get(&item).copied().unwrap_or(item);
        (block.head.clone(), block.of.map(after), block.by.map(after))
    }

    /// What the old types derive and the new ones do not have.
    fn derives(&self, theirs: &BTreeSet<Key>, notes: &mut Vec<Finding>) {
        for (old, new) in self.pairs {
            let (Some(here), Some(there)) = (self.shapes.get(old), self.shapes.get(new)) else {
                continue;
            };
            let has = |of: &str| {
                let head = format!("{of} for ");
                there.derives.contains(of)
                    || theirs
                        .iter()
                        .any(|(known, item, _)| *item == Some(*new) && known.starts_with(&head))
            };
            let lost: Vec<&str> = here
                .derives
                .iter()
                .map(String::as_str)
                .filter(|of| !has(of))
                .collect();
            let node = &self.mapping.world[old];
            if there.is_known && !lost.is_empty() {
                let path = self.mapping.file_of(node.module);
                let name = super::name_of(self.mapping, *new);
                let message = format!("`{name}` does not derive {}", lost.join(", "));
                notes.push(Finding::warning(path, message));
            }
        }
    }

    /// The `impl`s of traits in modules that go, and all those of what is in their place.
    fn blocks(&self) -> Vec<Block> {
        let world = self.mapping.world;
        let blocks = world.impls().iter().filter_map(|one| {
            let text = self.mapping.texts.text(&world[one.file].path)?;
            let name = |name: &str| self.name_after(one.module, name);
            Some(Block {
                module: one.module,
                file: one.file,
                span: one.span,
                of: one.of,
                by: one.by,
                head: impl_head(&text, one.span, &name)?,
            })
        });
        blocks.collect()
    }

    /// The name that holds after for one in a module.
    fn name_after(&self, module: ModuleId, name: &str) -> String {
        if self.mapping.is_replaced(module) {
            let new = self.mapping.item_after(module, name);
            return new.rsplit("::").next().unwrap_or(new).to_owned();
        }
        name.to_owned()
    }
}

/// Names behind dots.
pub(in super::super) fn dotted(text: &str) -> Vec<(ByteSpan, &str)> {
    let mut found = Vec::new();
    let mut before = false;
    for token in lexer::tokens(text, ByteSpan::from_range(0..text.len())) {
        if token.is_ident() && before {
            found.push((token.span, token.span.of(text).unwrap_or_default()));
        }
        before = token.is(b'.');
    }
    found
}
