//! Whether the one that stays has what users of the one that goes name: variants, fields,
//! functions, methods. Receivers are not known, so fields and methods count by their name.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Finding, finding::codes};
use syn::visit::Visit;

use super::{
    super::{
        fits::{compare, dotted},
        mapping::refusal,
        merge::member_name,
        needs::{Need, Subject},
        place::Place,
    },
    moving::{Moving, Set},
    rules,
    scan::Scan,
};
use crate::{
    facts::ItemKind,
    resolve::{FileId, ItemId, ModuleId, Res},
    syntax,
};

/// What stands in the way of each replacement.
pub(in super::super) fn check(set: &Set<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (index, moving) in set.moving.iter().enumerate() {
        if moving.gives_way() {
            found.extend(one(set, index, moving));
        }
    }
    if found.is_empty() {
        found.extend(fits(set));
    }
    found
}

/// Calls, literals and patterns that would not fit what stays.
fn fits(set: &Set<'_>) -> Vec<Finding> {
    let moving = set.moving.iter().filter(|moving| moving.gives_way());
    let pairs: BTreeMap<ItemId, ItemId> = moving
        .filter_map(|moving| Some((moving.item, primary(set, moving)?)))
        .collect();
    let goes = |file: FileId, _: ModuleId, at: u32| {
        let chunk = set.chunk_at(file, at);
        chunk.is_some_and(|chunk| set.is_dropped(chunk))
    };
    let whole = |item: &ItemId| {
        let node = &set.world()[item];
        set.is_whole(node.module)
    };
    let carried: BTreeSet<ItemId> = pairs.keys().copied().filter(whole).collect();
    compare(set.mapping, &pairs, &carried, &goes)
}

/// What stays has to be seen by those who name it from now on.
pub(super) fn needs(set: &Set<'_>, scan: &Scan) -> Vec<Need> {
    let world = set.world();
    let speller = set.mapping.speller();
    let mut needs = Vec::new();
    for (index, moving) in set.moving.iter().enumerate() {
        let Some(primary) = moving.gives_way().then(|| primary(set, moving)).flatten() else {
            continue;
        };
        let home = world[primary].module;
        let own = world
            .space(home)
            .names
            .values()
            .flatten()
            .find(|one| one.import.is_none() && one.res == Res::Item(primary));
        let Some(own) = own else { continue };
        let krate = moving.to.krate;
        // A macro is named by a path beside its definition; that it has none is refused by itself.
        let is_macro = world[primary].kind == ItemKind::Macro;
        let exported = is_macro && rules::is_exported(world, primary);
        let has_path = |user: &Place| exported || (is_macro && user.krate == krate);
        for user in scan.users.get(&index).into_iter().flatten() {
            if !has_path(user) && !speller.sees(user, own.reach, home) {
                needs.push(Need::new(Subject::Item(primary), user.clone()));
            }
        }
    }
    needs
}

/// The item that stays.
pub(in super::super) fn primary(set: &Set<'_>, moving: &Moving<'_>) -> Option<ItemId> {
    let world = set.world();
    let module = set.mapping.at(&moving.to)?;
    let sym = world.names.get(&moving.name)?;
    let bindings = world.space(module).names.get(&sym)?;
    let node = &world[moving.item];
    bindings.iter().find_map(|binding| match binding.res {
        Res::Item(item) if binding.namespaces.meets(node.namespaces) => Some(item),
        _ => None,
    })
}

fn one(set: &Set<'_>, index: usize, moving: &Moving<'_>) -> Vec<Finding> {
    let world = set.world();
    let path = set.mapping.file_of(moving.home);
    let Some(primary) = primary(set, moving) else {
        // It leads out of the tree: what it has is not known.
        return Vec::new();
    };
    if !alike(moving.kind, world[primary].kind) {
        let message = format!(
            "`{}` is another kind of item than `{}`",
            moving.change.to, moving.change.from
        );
        let refused = refusal(path, message).coded(codes::MISMATCHED_REPLACEMENT);
        return vec![refused];
    }
    if moving.kind == ItemKind::Macro {
        let why = rules::stands_in(set, moving, primary);
        let refused = why.map(|why| refusal(path, why).coded(codes::MISMATCHED_REPLACEMENT));
        return refused.into_iter().collect();
    }
    let (old, mut new) = (Members::of(set, moving.item), Members::of(set, primary));
    if set.is_whole(moving.home) {
        // What the `impl`s of the old one have goes along with them.
        new.names.extend(old.methods(set));
    }
    let mut found = old.elsewhere(set, index);
    let lost: BTreeSet<&String> = old.names.difference(&new.names).collect();
    if lost.is_empty() {
        return found;
    }
    found.extend(used(set, index, moving, &lost));
    found
}

/// Types may stand for types, and values for values.
fn alike(a: ItemKind, b: ItemKind) -> bool {
    use ItemKind::{Const, Enum, Function, Macro, Static, Struct, Trait, TypeAlias, Union};
    match a {
        Struct | Enum | Union | TypeAlias => matches!(b, Struct | Enum | Union | TypeAlias),
        Const | Static => matches!(b, Const | Static),
        Function | Trait | Macro => a == b,
        _ => false,
    }
}

/// Where names of the one that goes are used that the other one lacks.
fn used(
    set: &Set<'_>,
    index: usize,
    moving: &Moving<'_>,
    lost: &BTreeSet<&String>,
) -> Vec<Finding> {
    let world = set.world();
    let mut found: BTreeMap<String, Finding> = BTreeMap::new();
    let mut miss = |file: FileId, span: ByteSpan, name: &str| {
        let message = format!("`{}` has no `{name}`, which is used here", moving.change.to);
        let finding = refusal(set.path(file), message)
            .coded(codes::MISMATCHED_REPLACEMENT)
            .at(span);
        found.entry(name.to_owned()).or_insert(finding);
    };
    for (at, source) in world.files.iter().enumerate() {
        let file = FileId(u32::try_from(at).unwrap_or(u32::MAX));
        let stays = |at: u32| {
            let chunk = set.chunk_at(file, at);
            chunk.is_none_or(|chunk| !set.is_dropped(chunk))
        };
        let mut named = false;
        world.visit_file(source, &mut |facts, site| {
            for (step, segment) in site.trace.steps.iter().zip(site.segments) {
                let name = facts.name(segment.name);
                for (res, _) in step.all() {
                    let of = match res {
                        Res::Item(item) | Res::Member(item, _) | Res::Variant(item, _) => {
                            set.of(item) == Some(index)
                        }
                        _ => false,
                    };
                    named |= of;
                    let inside = matches!(res, Res::Member(..) | Res::Variant(..));
                    let missing = lost.iter().any(|lost| *lost == name);
                    if of && inside && missing && stays(segment.span.start) {
                        miss(file, segment.span, name);
                    }
                }
            }
        });
        let Some(text) = set.mapping.texts.text(&source.path).filter(|_| named) else {
            continue;
        };
        for (span, name) in dotted(&text) {
            if lost.iter().any(|lost| **lost == name) && stays(span.start) {
                miss(file, span, name);
            }
        }
    }
    found.into_values().collect()
}

/// What can be named of an item.
#[derive(Default)]
pub(in super::super) struct Members {
    pub names: BTreeSet<String>,
    /// `impl` blocks, by file and place.
    pub impls: Vec<(FileId, ByteSpan)>,
}

impl Members {
    /// The names that the `impl`s have.
    pub fn methods(&self, set: &Set<'_>) -> BTreeSet<String> {
        let mut found = Self::default();
        for (file, span) in &self.impls {
            let text = set.mapping.texts.text(&set.path(*file));
            let own = text.as_deref().and_then(|text| span.of(text));
            found.read(own.unwrap_or_default());
        }
        found.names
    }

    pub fn of(set: &Set<'_>, item: ItemId) -> Self {
        let world = set.world();
        let mut members = Self::default();
        let node = &world[item];
        for (file, at) in &node.definitions {
            let text = set.mapping.texts.text(&set.path(*file));
            let span = world.facts(*file).item(*at).span;
            members.read(
                text.as_deref()
                    .and_then(|text| span.of(text))
                    .unwrap_or_default(),
            );
        }
        for one in world.impls_of(item) {
            if let Some(text) = set.mapping.texts.text(&set.path(one.file)) {
                members.read(one.span.of(&text).unwrap_or_default());
                members.impls.push((one.file, one.span));
            }
        }
        members
    }

    /// Reads the names of fields, variants, functions and constants.
    fn read(&mut self, text: &str) {
        let _trees = syntax::Trees::begin();
        if let Ok(item) = syntax::parse::<syn::Item>(text) {
            self.visit_item(&item);
        }
    }

    /// `impl` blocks that would be left without their type.
    fn elsewhere(&self, set: &Set<'_>, index: usize) -> Vec<Finding> {
        let home = set.moving(index).home;
        if set.is_whole(home) {
            // What the other one has of it was taken out before.
            return Vec::new();
        }
        let outside = self.impls.iter().filter(|(file, span)| {
            let chunk = set.chunk_at(*file, span.start);
            chunk.is_none_or(|chunk| chunk.moving != index)
        });
        outside
            .map(|(file, span)| {
                refusal(
                    set.path(*file),
                    "this `impl` stands in another module than its type, which goes".to_owned(),
                )
                .coded(codes::LOST_DEFINITION)
                .at(*span)
                .with_help("remove it first, or move what it adds to the one that stays".to_owned())
            })
            .collect()
    }
}

impl<'ast> Visit<'ast> for Members {
    fn visit_field(&mut self, field: &'ast syn::Field) {
        self.names
            .extend(field.ident.as_ref().map(syn::Ident::to_string));
    }

    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        self.names.insert(variant.ident.to_string());
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        self.names.extend(member_name(item));
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.names.insert(item.sig.ident.to_string());
    }

    fn visit_trait_item_const(&mut self, item: &'ast syn::TraitItemConst) {
        self.names.insert(item.ident.to_string());
    }

    fn visit_trait_item_type(&mut self, item: &'ast syn::TraitItemType) {
        self.names.insert(item.ident.to_string());
    }

    fn visit_block(&mut self, _: &'ast syn::Block) {}
}
