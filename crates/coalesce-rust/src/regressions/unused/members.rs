//! Members of what others can name no more: functions that nobody calls, fields that nobody reads, variants that
//! nobody makes.
//!
//! They are looked for by their names, since types of values are not known. What is said of `self`, of `Self`, or of the
//! type by its name is the type's for certain, and so is a name that nothing else has.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Unproven};
use syn::spanned::Spanned;

use super::{
    ConditionedUses, DEAD_CODE, Named, Warning,
    read::{Before, ReadFile, field_or_name, is_given_to_items},
};
use crate::{
    facts::ItemKind,
    resolve::{FileId, ItemId, World},
    syntax,
    words::{INHERENT_METHODS, STANDARD_TRAITS, words_in},
};

const PERHAPS_DEAD: Warning = Warning {
    lints: DEAD_CODE.lints,
    why: "others could name it where it was and cannot any more, and whether anybody here uses it, reading cannot tell: \
          the compiler may warn of that",
};

/// Fields that types of the standard library have: `Range`.
const FIELDS_OF_STANDARD: [&str; 2] = ["end", "start"];

/// Derives that make no use of what they read or make, as the compiler counts.
const IDLE_DERIVES: [&str; 5] = ["Clone", "Copy", "Debug", "Default", "Eq"];
/// Those that read no variant and make none, besides.
const OF_VARIANTS: [&str; 4] = ["Hash", "Ord", "PartialEq", "PartialOrd"];

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum HiddenMemberKind {
    Function,
    Field,
    Variant,
}

/// A member of a type or a trait.
pub(super) struct HiddenMember {
    pub name: String,
    pub kind: HiddenMemberKind,
    /// The variant that has it as a field.
    pub variant: Option<String>,
    /// Whether others could name it as long as they could name the item.
    pub is_public: bool,
    pub file: FileId,
    /// Of its name.
    pub at: ByteSpan,
    /// All of it.
    span: ByteSpan,
}

impl HiddenMember {
    /// Whether it is a field without a name.
    fn is_position(&self) -> bool {
        self.name.starts_with(|first: char| first.is_ascii_digit())
    }
}

/// A type or a trait with what its members are told by.
struct Holder<'n> {
    item: ItemId,
    name: &'n str,
    /// Its definition and its `impl`s.
    blocks: Vec<(FileId, ByteSpan)>,
    members: Vec<HiddenMember>,
}

/// The members of an item, with what uses them.
pub(super) struct MembersState {
    pub members: Vec<HiddenMember>,
    pub said: Vec<MemberUse>,
    /// By numbers: those that are used for certain.
    pub used: BTreeSet<usize>,
    /// Those that are, or may be.
    pub perhaps: BTreeSet<usize>,
}

/// A place that says a member's name.
pub(super) struct MemberUse {
    pub member: usize,
    /// Whether it is the member for certain.
    is_certain: bool,
    /// The member whose own text says it.
    inside: Option<usize>,
    conditions: BTreeSet<String>,
}

impl Named<'_> {
    /// What the compiler may say of the public members of something hidden.
    pub(super) fn members_in_doubt(&mut self, item: ItemId) -> Vec<Unproven> {
        let members = self.members_of(item);
        if members.iter().all(|one| !one.is_public) || self.is_shown(item) {
            return Vec::new();
        }
        let state = self.state_of(item, members);
        // What others could not name was used by what they could, or the compiler warned of it before.
        let is_lost = |(at, member): &(usize, &HiddenMember)| {
            let mut said = state.said.iter();
            member.is_public
                || (!state.perhaps.contains(at)
                    && said.any(|one| one.member == *at && one.inside.is_some()))
        };
        let members = state.members.iter().enumerate();
        let told = members.filter(|one| !state.used.contains(&one.0) && is_lost(one));
        told.filter_map(|(at, member)| {
            let warning = match state.perhaps.contains(&at) {
                true => &PERHAPS_DEAD,
                false => &DEAD_CODE,
            };
            self.unused((member.file, member.at), &member.name, warning)
        })
        .collect()
    }

    /// What is known of the uses of an item's members.
    pub(super) fn state_of(&mut self, item: ItemId, members: Vec<HiddenMember>) -> MembersState {
        let world = self.tree.world;
        let holder = Holder {
            item,
            name: &world[item].name,
            blocks: blocks_of(world, item),
            members,
        };
        let said = self.said_of(&holder);
        let own = self.conditions.of_item(item);
        let count = holder.members.len();
        MembersState {
            used: serving(&said, count, &own, |said| said.is_certain),
            perhaps: serving(&said, count, &own, |_| true),
            members: holder.members,
            said,
        }
    }

    /// The members of an item that others could name as long as they could name the item.
    pub(super) fn members_of(&self, item: ItemId) -> Vec<HiddenMember> {
        let world = self.tree.world;
        let mut found = Vec::new();
        if let Some((file, at)) = world[item].definitions.first() {
            let span = world.facts(*file).item(*at).span;
            found.extend(self.members_in(*file, span));
        }
        let inherent = world.impls_of(item).filter(|one| one.is_inherent());
        for one in inherent {
            found.extend(self.members_in(one.file, one.span));
        }
        found.retain(|member| !member.name.starts_with('_'));
        found
    }

    fn members_in(&self, file: FileId, span: ByteSpan) -> Vec<HiddenMember> {
        let _trees = syntax::Trees::begin();
        let text = self.tree.texts.text(&self.tree.world[file].path);
        let parsed = text.as_deref().and_then(|text| span.of(text));
        let parsed = parsed.and_then(|text| syntax::parse::<syn::Item>(text).ok());
        let mut reader = Reader {
            file,
            base: span.start,
            variant: None,
            found: Vec::new(),
        };
        if let Some(parsed) = &parsed {
            reader.item(parsed);
        }

        reader.found
    }

    /// All places of its crate that say a member's name.
    fn said_of(&mut self, holder: &Holder<'_>) -> Vec<MemberUse> {
        let world = self.tree.world;
        let krate = world[world[holder.item].module].krate;
        let all = self.files_saying(holder);
        let alone = holder.members.iter();
        let alone: Vec<bool> = alone
            .map(|member| self.is_alone(holder, member, &all))
            .collect();
        let mut found = Vec::new();
        for file in all {
            let bodies = world[file].bodies.iter();
            let mut bodies = bodies.map(|body| &world[world[*body].module]);
            let is_inside = bodies.any(|module| module.krate == krate);
            let Some(read) = self.read_file(file).filter(|_| is_inside) else {
                continue;
            };
            found.extend(self.uses_in_file(holder, file, &read, &alone));
        }
        found
    }

    /// The files whose text has the name of a member, or of the type where members have numbers.
    fn files_saying(&self, holder: &Holder<'_>) -> Vec<FileId> {
        let says = |text: &str| holder.members.iter().any(|one| text.contains(&*one.name));
        let by_number = holder.members.iter().any(|one| one.is_position());
        let says = |text: &str| says(text) || (by_number && text.contains(holder.name));
        let texts = self.tree.texts;
        let sources = self.tree.world.sources().filter(|(_, source)| {
            let text = texts.text(&source.path);
            text.is_some_and(|text| says(&text))
        });
        sources.map(|(file, _)| file).collect()
    }

    /// The places of a file that say members; `alone` tells of each whether nothing else has its name.
    fn uses_in_file(
        &mut self,
        holder: &Holder<'_>,
        file: FileId,
        read: &ReadFile,
        alone: &[bool],
    ) -> Vec<MemberUse> {
        let world = self.tree.world;
        let mut found = Vec::new();
        for at in places_said(holder, read) {
            let place = (file, at);
            for said in said_at(holder, place, read, (alone, world)) {
                found.extend(self.member_use(holder, place, read, said));
            }
        }
        found
    }

    /// A place that says a member, unless dead code says it.
    fn member_use(
        &mut self,
        holder: &Holder<'_>,
        (file, at): (FileId, usize),
        read: &ReadFile,
        (member, is_certain): (usize, bool),
    ) -> Option<MemberUse> {
        let span = read.tokens.get(at)?.span;
        let mut all = holder.members.iter();
        let is_own = all.any(|one| one.file == file && one.at == span);
        if is_own || !self.is_said_by_live(read, span.start, holder.item) {
            return None;
        }
        let whole = |one: &HiddenMember| {
            let is_function = one.kind == HiddenMemberKind::Function;
            is_function && one.file == file && one.span.contains(span)
        };
        Some(MemberUse {
            member,
            is_certain,
            inside: holder.members.iter().position(whole),
            conditions: self.conditions_at(file, span.start),
        })
    }

    /// The conditions around a byte of a file, of the innermost body of a module there.
    fn conditions_at(&mut self, file: FileId, at: u32) -> BTreeSet<String> {
        let body = self.tree.world.body_around(file, at);
        body.map_or_else(BTreeSet::new, |body| {
            self.conditions.at_place(file, body, at)
        })
    }

    /// Whether nothing else of the tree, and no type or trait of the standard library, has a member's name.
    fn is_alone(&mut self, holder: &Holder<'_>, member: &HiddenMember, files: &[FileId]) -> bool {
        if is_name_of_others(member) {
            return false;
        }
        for file in files {
            let Some(read) = self.read_file(*file) else {
                return false;
            };
            if self.is_said_by_another(holder, member, *file, &read) {
                return false;
            }
        }
        true
    }

    /// Whether a place is that of a member, or of one of its trait in an `impl`: a type may have it by a trait as well.
    fn is_of_holder(
        &self,
        holder: &Holder<'_>,
        member: &HiddenMember,
        (file, span): (FileId, ByteSpan),
    ) -> bool {
        let is_trait = self.tree.world[holder.item].kind == ItemKind::Trait;
        let mut own = holder.blocks.iter();
        let is_own = own.any(|(of, block)| *of == file && block.contains(span));
        (member.file == file && member.at == span) || (is_own && is_trait)
    }

    /// Whether a file defines, or gives to something that may, what has a member's name and is another one.
    fn is_said_by_another(
        &self,
        holder: &Holder<'_>,
        member: &HiddenMember,
        file: FileId,
        read: &ReadFile,
    ) -> bool {
        let mut places = read.places_of(&member.name).iter().copied();
        places.any(|at| {
            let Some(token) = read.tokens.get(at) else {
                return false;
            };
            let is_declared = match member.kind == HiddenMemberKind::Field {
                true => self.is_field_declared(file, read, at),
                false => matches!(read.before(at), Before::Definition),
            };
            let is_given = || is_given_to_items(self, file, token.span.start);
            let is_own = self.is_of_holder(holder, member, (file, token.span));
            !is_own && (is_declared || is_given())
        })
    }

    /// Whether a name with a colon behind it is that of a field in a definition, or may be: a macro may make one.
    fn is_field_declared(&self, file: FileId, read: &ReadFile, at: usize) -> bool {
        let Some(token) = read.tokens.get(at) else {
            return false;
        };
        if read.at(at + 1) != ":" || read.at(at + 2) == ":" {
            return false;
        }
        let facts = self.tree.world.facts(file);
        let mut items = facts.items.iter();
        items.any(|item| {
            let kinds = [
                ItemKind::Struct,
                ItemKind::Enum,
                ItemKind::Union,
                ItemKind::Macro,
            ];
            kinds.contains(&item.kind) && item.span.contains(token.span)
        })
    }
}

/// Whether something outside the tree has the name of a member, or may have: so it is of variants and their fields.
fn is_name_of_others(member: &HiddenMember) -> bool {
    let name = member.name.as_str();
    match member.kind {
        _ if member.variant.is_some() => true,
        HiddenMemberKind::Variant => true,
        HiddenMemberKind::Field => FIELDS_OF_STANDARD.contains(&name) || member.is_position(),
        HiddenMemberKind::Function => INHERENT_METHODS.contains(name) || is_of_standard_trait(name),
    }
}

/// Whether a trait that comes with the language has a method of a name.
fn is_of_standard_trait(name: &str) -> bool {
    words_in(STANDARD_TRAITS).any(|one| one == name)
}

/// The tokens of a file that may say members: by their names, and in patterns by those of what has them.
fn places_said(holder: &Holder<'_>, read: &ReadFile) -> BTreeSet<usize> {
    let names = holder.members.iter().map(|one| one.name.as_str());
    let variants = holder
        .members
        .iter()
        .filter_map(|one| one.variant.as_deref());
    let all = names.chain(variants).chain([holder.name]);
    all.flat_map(|name| read.places_of(name).iter().copied())
        .collect()
}

/// The members that a token says, with whether each is it for certain.
fn said_at(
    holder: &Holder<'_>,
    (file, at): (FileId, usize),
    read: &ReadFile,
    (alone, world): (&[bool], &World),
) -> Vec<(usize, bool)> {
    let Some(span) = read.tokens.get(at).map(|token| token.span) else {
        return Vec::new();
    };
    let mut found = taken_apart(holder, at, read);
    let word = field_or_name(read.at(at));
    let is_inside = is_innermost(holder, (file, span), world);
    let of = read.holder_at(at);
    let is_trait = world[holder.item].kind == ItemKind::Trait;
    let is_another = of.is_some_and(|of| of != Some(holder.item)) && !is_trait;
    let is_known = of == Some(Some(holder.item));
    for (member, own) in holder.members.iter().enumerate() {
        if own.name != word || is_another {
            continue;
        }
        let is_alone = alone.get(member) == Some(&true);
        let is_certain = match (own.kind, read.before(at)) {
            (HiddenMemberKind::Function | HiddenMemberKind::Variant, Before::Path(before)) => {
                let is_own = is_known || is_alone || (before == "Self" && is_inside);
                is_own && (own.kind == HiddenMemberKind::Function || !read.is_pattern(at))
            }
            (HiddenMemberKind::Function, Before::Dot(before)) => {
                is_known || is_alone || (before == "self" && is_inside)
            }
            (HiddenMemberKind::Field, Before::Dot(before)) => {
                let is_own = is_known || is_alone || (before == "self" && is_inside);
                is_own && read.is_field(at) && own.variant.is_none()
            }
            (HiddenMemberKind::Variant, Before::Other) => is_known && !read.is_pattern(at),
            // Patterns read fields, and what is written beside them does not.
            (HiddenMemberKind::Field, Before::Other) => false,
            (HiddenMemberKind::Function, Before::Other)
            | (HiddenMemberKind::Field, Before::Path(_))
            | (HiddenMemberKind::Variant, Before::Dot(_))
            | (_, Before::Definition) => continue,
        };
        found.push((member, is_certain));
    }
    found
}

/// Whether the innermost block around a place is one of a type's.
fn is_innermost(holder: &Holder<'_>, (file, span): (FileId, ByteSpan), world: &World) -> bool {
    let impls = world.facts(file).impls.iter().map(|one| one.span);
    let around = impls.filter(|block| block.contains(span));
    let innermost = around.min_by_key(|block| block.len());
    let mut own = holder.blocks.iter().filter(|(of, _)| *of == file);
    own.any(|(_, block)| block.contains(span) && innermost.is_none_or(|one| one == *block))
}

/// The fields that a pattern reads, by the last name of its path: `Pair { left, right: x }`, `Pair(left, _)`.
fn taken_apart(holder: &Holder<'_>, at: usize, read: &ReadFile) -> Vec<(usize, bool)> {
    let variant = match read.holder_at(at) {
        Some(Some(of)) if of == holder.item => Some(read.at(at)),
        _ if read.item_at(at) == Some(holder.item) => None,
        _ => return Vec::new(),
    };
    let open = at + 1;
    if !matches!(read.at(open), "(" | "{") || !read.is_pattern(at) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (index, start) in read.parts(open).into_iter().enumerate() {
        let mut start = start;
        while matches!(read.at(start), "ref" | "mut") {
            start += 1;
        }
        let is_named = read.at(open) == "{";
        if read.at(start) == "." {
            break;
        }
        let name = match is_named {
            true => read.at(start).to_owned(),
            false => index.to_string(),
        };
        let value = match is_named && read.at(start + 1) == ":" {
            true => start + 2,
            false => start,
        };
        if read.at(value) == "_" {
            continue;
        }
        let own = holder.members.iter().position(|one| {
            one.kind == HiddenMemberKind::Field
                && one.name == name
                && one.variant.as_deref() == variant
        });
        found.extend(own.map(|own| (own, true)));
    }
    found
}

/// The members that are used wherever the item is there, by places that count: in the text of a member only if that
/// one is used.
fn serving(
    said: &[MemberUse],
    count: usize,
    own: &BTreeSet<String>,
    counts: fn(&MemberUse) -> bool,
) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    loop {
        let before = found.len();
        let more = (0..count).filter(|member| {
            let places = said
                .iter()
                .filter(|one| one.member == *member && counts(one));
            let live = places.filter(|one| one.inside.is_none_or(|at| found.contains(&at)));
            let live = live.map(|one| one.conditions.clone());
            ConditionedUses(live.collect()).cover(own)
        });
        let more: Vec<usize> = more.collect();
        found.extend(more);
        if found.len() == before {
            return found;
        }
    }
}

/// The definition of an item, and all `impl`s of it.
pub(super) fn blocks_of(world: &World, item: ItemId) -> Vec<(FileId, ByteSpan)> {
    let definitions = world[item].definitions.iter();
    let definitions = definitions.map(|(file, at)| (*file, world.facts(*file).item(*at).span));
    let of_type = world.impls_of(item).map(|one| (one.file, one.span));
    let is_trait = world[item].kind == ItemKind::Trait;
    let of_trait = if is_trait { world.impls() } else { &[] };
    let of_trait = of_trait.iter().filter(|one| one.by == Some(item));
    let of_trait = of_trait.map(|one| (one.file, one.span));
    definitions.chain(of_type).chain(of_trait).collect()
}

/// Reads the members of an item out of its syntax.
struct Reader {
    file: FileId,
    base: u32,
    /// The variant that is read.
    variant: Option<String>,
    found: Vec<HiddenMember>,
}

impl Reader {
    fn item(&mut self, item: &syn::Item) {
        match item {
            syn::Item::Struct(item) if !reads_fields(&item.attrs) => self.fields(&item.fields),
            syn::Item::Union(item) if !reads_fields(&item.attrs) => {
                for field in &item.fields.named {
                    self.field(0, field);
                }
            }
            syn::Item::Enum(item) if !makes_variants(&item.attrs) => self.enumeration(item),
            syn::Item::Trait(item) => {
                for one in &item.items {
                    self.trait_item(one);
                }
            }
            syn::Item::Impl(item) if item.trait_.is_none() => {
                for one in &item.items {
                    self.impl_item(one);
                }
            }
            _ => {}
        }
    }

    fn enumeration(&mut self, item: &syn::ItemEnum) {
        for variant in &item.variants {
            let is_default = variant
                .attrs
                .iter()
                .any(|one| one.path().is_ident("default"));
            if !is_default {
                self.add(HiddenMemberKind::Variant, &variant.ident, variant, true);
            }
            if !reads_fields(&item.attrs) {
                self.variant = Some(variant.ident.to_string());
                self.fields(&variant.fields);
                self.variant = None;
            }
        }
    }

    fn trait_item(&mut self, item: &syn::TraitItem) {
        match item {
            syn::TraitItem::Fn(own) => {
                self.add(HiddenMemberKind::Function, &own.sig.ident, own, true);
            }
            syn::TraitItem::Const(own) => {
                self.add(HiddenMemberKind::Function, &own.ident, own, true);
            }
            _ => {}
        }
    }

    fn impl_item(&mut self, item: &syn::ImplItem) {
        match item {
            syn::ImplItem::Fn(own) => {
                let is_public = is_public(&own.vis);
                self.add(HiddenMemberKind::Function, &own.sig.ident, own, is_public);
            }
            syn::ImplItem::Const(own) => {
                let is_public = is_public(&own.vis);
                self.add(HiddenMemberKind::Function, &own.ident, own, is_public);
            }
            _ => {}
        }
    }

    fn fields(&mut self, fields: &syn::Fields) {
        for (index, field) in fields.iter().enumerate() {
            self.field(index, field);
        }
    }

    fn field(&mut self, index: usize, field: &syn::Field) {
        if is_empty(&field.ty) {
            return;
        }
        let is_public = self.variant.is_some() || is_public(&field.vis);
        match &field.ident {
            Some(ident) => self.add(HiddenMemberKind::Field, ident, field, is_public),
            None => {
                let spans = (field.ty.span(), field.span());
                self.push(HiddenMemberKind::Field, index.to_string(), spans, is_public);
            }
        }
    }

    fn add(
        &mut self,
        kind: HiddenMemberKind,
        ident: &syn::Ident,
        whole: &impl Spanned,
        is_public: bool,
    ) {
        let name = ident.to_string();
        let name = name.strip_prefix("r#").unwrap_or(&name).to_owned();
        self.push(kind, name, (ident.span(), whole.span()), is_public);
    }

    fn push(
        &mut self,
        kind: HiddenMemberKind,
        name: String,
        (at, span): (proc_macro2::Span, proc_macro2::Span),
        is_public: bool,
    ) {
        let place = |span: proc_macro2::Span| {
            let own = ByteSpan::from_range(span.byte_range());
            ByteSpan::new(own.start + self.base, own.end + self.base)
        };
        self.found.push(HiddenMember {
            name,
            kind,
            variant: self.variant.clone(),
            is_public,
            file: self.file,
            at: place(at),
            span: place(span),
        });
    }
}

fn is_public(visibility: &syn::Visibility) -> bool {
    matches!(visibility, syn::Visibility::Public(_))
}

/// Whether a field holds nothing that could be read.
fn is_empty(ty: &syn::Type) -> bool {
    match ty {
        syn::Type::Tuple(tuple) => tuple.elems.is_empty(),
        syn::Type::Path(path) => {
            let last = path.path.segments.last();
            last.is_some_and(|last| last.ident == "PhantomData")
        }
        _ => false,
    }
}

/// Whether something that an attribute makes may read all fields, or their layout is what counts.
fn reads_fields(attributes: &[syn::Attribute]) -> bool {
    what_may_expand(attributes).any(|one| !IDLE_DERIVES.contains(&one.as_str()))
        || attributes.iter().any(|one| one.path().is_ident("repr"))
}

/// Whether something that an attribute makes may make all variants.
fn makes_variants(attributes: &[syn::Attribute]) -> bool {
    what_may_expand(attributes)
        .any(|one| !IDLE_DERIVES.contains(&one.as_str()) && !OF_VARIANTS.contains(&one.as_str()))
}

/// The last names of what an item derives, and of attributes of unknown meaning: each may make code of it.
fn what_may_expand(attributes: &[syn::Attribute]) -> impl Iterator<Item = String> {
    let mut found = Vec::new();
    for attribute in attributes {
        let own = attribute
            .path()
            .segments
            .last()
            .map(|last| last.ident.to_string());
        let own = own.unwrap_or_default();
        match own.as_str() {
            "derive" => {
                _ = attribute.parse_nested_meta(|meta| {
                    let last = meta.path.segments.last().map(|last| last.ident.to_string());
                    found.extend(last);
                    Ok(())
                })
            }
            "cfg_attr" => found.push(own),
            _ if crate::words::NAMED_ALONE.contains(&own) => {}
            _ => found.push(own),
        }
    }
    found.into_iter()
}
