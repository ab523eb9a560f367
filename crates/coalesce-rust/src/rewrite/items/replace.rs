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
        needs::{Need, NeededThing},
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
pub(in crate::rewrite) fn needs(set: &Set<'_>, scan: &Scan) -> Vec<Need> {
    let giving_way = set.moving.iter().enumerate();
    let giving_way = giving_way.filter(|(_, moving)| moving.gives_way());
    giving_way
        .flat_map(|(index, moving)| needs_of(set, scan, index, moving))
        .collect()
}

/// The same for what takes the place of one item.
fn needs_of(set: &Set<'_>, scan: &Scan, index: usize, moving: &Moving<'_>) -> Vec<Need> {
    let world = set.world();
    let Some(primary) = primary(set, moving) else {
        return Vec::new();
    };
    let home = world[primary].module;
    let mut bindings = world.space(home).names.values().flatten();
    let own = bindings.find(|one| one.import.is_none() && one.res == Res::Item(primary));
    let Some(own) = own else {
        return Vec::new();
    };
    // A macro is named by a path beside its definition; that it has none is refused by itself.
    let is_macro = world[primary].kind == ItemKind::Macro;
    let exported = is_macro && rules::is_exported(world, primary);
    let has_path = |user: &Place| exported || (is_macro && user.krate == moving.to.krate);
    let speller = set.mapping.speller();
    let users = scan.users.get(&index).into_iter().flatten();
    let blind = users.filter(|user| !has_path(user) && !speller.sees(user, own.reach, home));
    blind
        .map(|user| Need::new(NeededThing::Item(primary), user.clone()))
        .collect()
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
    let Some(primary) = primary(set, moving) else {
        // It leads out of the tree: what it has is not known.
        return Vec::new();
    };
    let why = match moving.kind {
        kind if !alike(kind, set.world()[primary].kind) => Some(format!(
            "`{}` is another kind of item than `{}`",
            moving.change.to, moving.change.from
        )),
        ItemKind::Macro => rules::stands_in(set, moving, primary),
        _ => return lacking(set, index, moving, primary),
    };
    let path = set.mapping.file_of(moving.home);
    let refused = why.map(|why| refusal(path, why).coded(codes::MISMATCHED_REPLACEMENT));
    refused.into_iter().collect()
}

/// What the one that stays lacks of what is used, and what would be left of the other one.
fn lacking(set: &Set<'_>, index: usize, moving: &Moving<'_>, primary: ItemId) -> Vec<Finding> {
    let (old, mut new) = (Members::of(set, moving.item), Members::of(set, primary));
    if set.is_whole(moving.home) {
        // What the `impl`s of the old one have goes along with them.
        new.names.extend(old.methods(set));
    }
    let mut found = old.elsewhere(set, index);
    let lost: BTreeSet<&str> = old
        .names
        .difference(&new.names)
        .map(String::as_str)
        .collect();
    if !lost.is_empty() {
        found.extend(used(set, index, &lost));
    }
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
fn used(set: &Set<'_>, index: usize, lost: &BTreeSet<&str>) -> Vec<Finding> {
    let world = set.world();
    let mut uses = LostUses {
        set,
        index,
        lost,
        found: BTreeMap::new(),
    };
    for (file, source) in world.sources() {
        let named = uses.read_paths(file);
        let text = set.mapping.texts.text(&source.path).filter(|_| named);
        uses.read_dots(file, text.as_deref().unwrap_or_default());
    }
    uses.found.into_values().collect()
}

/// Uses of names that the one which stays lacks.
struct LostUses<'u, 'a> {
    set: &'u Set<'a>,
    /// The one that goes.
    index: usize,
    lost: &'u BTreeSet<&'u str>,
    /// The first use of each name.
    found: BTreeMap<String, Finding>,
}

impl LostUses<'_, '_> {
    fn miss(&mut self, file: FileId, span: ByteSpan, name: &str) {
        let to = &self.set.moving(self.index).change.to;
        let message = format!("`{to}` has no `{name}`, which is used here");
        let finding = refusal(self.set.path(file), message)
            .coded(codes::MISMATCHED_REPLACEMENT)
            .at(span);
        self.found.entry(name.to_owned()).or_insert(finding);
    }

    /// Whether a name is lost where text stays.
    fn is_lost(&self, file: FileId, span: ByteSpan, name: &str) -> bool {
        let chunk = self.set.chunk_at(file, span.start);
        self.lost.contains(name) && chunk.is_none_or(|chunk| !self.set.is_dropped(chunk))
    }

    /// Reads the paths of a file; whether one of them names the one that goes.
    fn read_paths(&mut self, file: FileId) -> bool {
        let world = self.set.world();
        let mut named = false;
        world.visit_file(&world[file], &mut |facts, site| {
            for (step, segment) in site.trace.steps.iter().zip(site.segments) {
                named |= step.all().any(|(res, _)| self.leads_to_it(res));
                let name = facts.name(segment.name);
                let mut inside = step.all().filter(|(res, _)| is_inside(*res));
                let own = inside.any(|(res, _)| self.leads_to_it(res));
                if own && self.is_lost(file, segment.span, name) {
                    self.miss(file, segment.span, name);
                }
            }
        });
        named
    }

    fn leads_to_it(&self, res: Res) -> bool {
        match res {
            Res::Item(item) | Res::Member(item, _) | Res::Variant(item, _) => {
                self.set.of(item) == Some(self.index)
            }
            _ => false,
        }
    }

    /// Reads the names behind dots in a text.
    fn read_dots(&mut self, file: FileId, text: &str) {
        for (span, name) in dotted(text) {
            if self.is_lost(file, span, name) {
                self.miss(file, span, name);
            }
        }
    }
}

/// Whether something is below an item.
fn is_inside(res: Res) -> bool {
    matches!(res, Res::Member(..) | Res::Variant(..))
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
