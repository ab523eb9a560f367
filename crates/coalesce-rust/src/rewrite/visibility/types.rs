//! Which types code can have values of, without naming them.
//!
//! What code names gives it more: a function its arguments and its result, a type its fields and what
//! its methods take and give, a trait that is in scope what it takes and gives. A type that is not
//! among those is out of its reach, whatever its fields are called. Names are resolved; a macro of the
//! tree gives what its body names.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::ByteSpan;
use syn::spanned::Spanned as _;

use super::code::Resolved;
use crate::{
    facts::{Impl, ItemKind},
    resolve::{FileId, ItemId, ModuleId},
    syntax,
};

/// The types in reach of an item, found one after the other.
pub(super) struct Reachable<'r, 'a> {
    tree: &'r Resolved<'a>,
    /// What an item gives to who has it.
    given: BTreeMap<ItemId, BTreeSet<ItemId>>,
    /// Items by definition; made when it is asked for.
    by_definition: BTreeMap<(FileId, u32), ItemId>,
    /// Files with `impl`s, by the names that are said in them.
    impls: BTreeMap<FileId, Vec<(Impl, Vec<ByteSpan>)>>,
}

impl<'r, 'a> Reachable<'r, 'a> {
    pub fn new(tree: &'r Resolved<'a>) -> Self {
        Self {
            tree,
            given: BTreeMap::new(),
            by_definition: BTreeMap::new(),
            impls: BTreeMap::new(),
        }
    }

    /// All that code can have which names these items, defines those of these parts, and stands in
    /// this module, whose traits are in scope.
    pub fn from(
        &mut self,
        named: &BTreeSet<ItemId>,
        parts: &[(FileId, ByteSpan)],
        module: ModuleId,
    ) -> BTreeSet<ItemId> {
        let mut waiting: Vec<ItemId> = named.iter().copied().collect();
        waiting.extend(self.defined_in(parts));
        waiting.extend(self.tree.world.traits_in_scope(module));
        let mut found = BTreeSet::new();
        while let Some(item) = waiting.pop() {
            if found.insert(item) {
                waiting.extend(self.given_by(item).iter().copied());
            }
        }
        found
    }

    fn defined_in(&mut self, parts: &[(FileId, ByteSpan)]) -> Vec<ItemId> {
        if self.by_definition.is_empty() {
            for (at, node) in self.tree.world.items.iter().enumerate() {
                let Ok(at) = u32::try_from(at) else { break };
                let own = node.definitions.iter();
                self.by_definition.extend(own.map(|one| (*one, ItemId(at))));
            }
        }
        let mut found = Vec::new();
        for (file, span) in parts {
            let items = (0_u32..).zip(&self.tree.world.facts(*file).items);
            let inside = items.filter(|(_, item)| span.contains(item.span));
            found.extend(inside.filter_map(|(at, _)| self.by_definition.get(&(*file, at))));
        }
        found
    }

    fn given_by(&mut self, item: ItemId) -> &BTreeSet<ItemId> {
        if !self.given.contains_key(&item) {
            let found = self.read(item);
            self.given.insert(item, found);
        }
        self.given.entry(item).or_default()
    }

    fn read(&mut self, item: ItemId) -> BTreeSet<ItemId> {
        let world = self.tree.world;
        let mut found = BTreeSet::new();
        let node = &world[item];
        for (file, at) in &node.definitions {
            let fact = world.facts(*file).item(*at);
            let span = match fact.kind {
                ItemKind::Function | ItemKind::Const | ItemKind::Static => fact.signature,
                _ => fact.span,
            };
            self.collect(*file, span, &mut found);
        }
        let has_impls = !matches!(
            node.kind,
            ItemKind::Function | ItemKind::Const | ItemKind::Static | ItemKind::Macro
        );
        if has_impls {
            self.read_impls(item, &node.name, &mut found);
        }
        found
    }

    fn collect(&self, file: FileId, span: ByteSpan, found: &mut BTreeSet<ItemId>) {
        let paths = self.tree.paths_of(file);
        let named = paths.within(span).flat_map(|named| named.items.iter());
        found.extend(named.copied());
    }

    /// What the `impl`s of a type, or of a trait, take and give.
    fn read_impls(&mut self, item: ItemId, name: &str, found: &mut BTreeSet<ItemId>) {
        let world = self.tree.world;
        for (file, _) in world.sources() {
            let facts = world.facts(file);
            if facts.impls.is_empty() || !facts.names.iter().any(|known| **known == *name) {
                continue;
            }
            let paths = self.tree.paths_of(file);
            let leads = |path: Option<u32>| {
                path.is_some_and(|path| paths.targets(path).any(|target| target == item))
            };
            let impls = self.impls_of(file).iter();
            let own = impls.filter(|(one, _)| leads(one.self_path) || leads(one.trait_path));
            for span in own.flat_map(|(_, spans)| spans) {
                let named = paths.within(*span).flat_map(|named| named.items.iter());
                found.extend(named.copied());
            }
        }
    }

    /// The `impl`s of a file, each with the parts of it that say types.
    fn impls_of(&mut self, file: FileId) -> &[(Impl, Vec<ByteSpan>)] {
        let tree = self.tree;
        self.impls.entry(file).or_insert_with(|| {
            let facts = tree.world.facts(file);
            let text = tree.text_of(file).unwrap_or_else(|| "".into());
            let impls = facts.impls.iter();
            let read = impls.map(|one| (*one, interface_of(&text, one.span)));
            read.collect()
        })
    }
}

/// Where an `impl` says types: in its signatures and associated types. All of it, where it does not
/// parse by itself.
fn interface_of(text: &str, span: ByteSpan) -> Vec<ByteSpan> {
    let _trees = syntax::Trees::begin();
    let own = span.of(text).unwrap_or_default();
    let Ok(parsed) = syntax::parse::<syn::ItemImpl>(own) else {
        return vec![span];
    };
    let place = |spanned: &dyn Fn() -> std::ops::Range<usize>| {
        let range = spanned();
        let start = u32::try_from(range.start).ok()?;
        let end = u32::try_from(range.end).ok()?;
        Some(ByteSpan::new(span.start + start, span.start + end))
    };
    let mut found = Vec::new();
    for item in &parsed.items {
        found.extend(match item {
            syn::ImplItem::Fn(item) => place(&|| item.sig.span().byte_range()),
            syn::ImplItem::Const(item) => place(&|| item.ty.span().byte_range()),
            syn::ImplItem::Type(item) => place(&|| item.ty.span().byte_range()),
            other => place(&|| other.span().byte_range()),
        });
    }
    if let Some((path, _)) = &parsed.trait_ {
        found.extend(place(&|| path.span().byte_range()));
    }
    found
}
