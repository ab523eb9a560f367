//! Members of what others can name no more: functions that nobody calls, fields that nobody reads, variants that
//! nobody makes.
//!
//! They are looked for by their names, since types of values are not known. What is said of `self`, of `Self`, or of the
//! type by its name is the type's for certain, and so is a name that nothing else has.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Unproven};
use syn::spanned::Spanned;

use super::{ConditionedUses, DEAD_CODE, Named, Warning};
use crate::{
    facts::ItemKind,
    lexer::{self, Token, TokenKind},
    resolve::{FileId, ItemId, World},
    syntax,
    words::INHERENT_METHODS,
};

const PERHAPS_DEAD: Warning = Warning {
    lints: DEAD_CODE.lints,
    why: "others could name it where it was and cannot any more, and whether anybody here uses it, reading cannot tell: \
          the compiler may warn of that",
};

/// Derives that make no use of what they read or make, as the compiler counts.
const IDLE_DERIVES: [&str; 5] = ["Clone", "Copy", "Debug", "Default", "Eq"];
/// Those that read no variant and make none, besides.
const OF_VARIANTS: [&str; 4] = ["Hash", "Ord", "PartialEq", "PartialOrd"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum HiddenMemberKind {
    Function,
    Field,
    Variant,
}

struct HiddenMember {
    name: String,
    kind: HiddenMemberKind,
    file: FileId,
    /// Of its name.
    at: ByteSpan,
    /// All of it.
    span: ByteSpan,
}

/// A type or a trait with what its members are told by.
struct Holder<'n> {
    item: ItemId,
    name: &'n str,
    /// Its definition and its `impl`s.
    blocks: Vec<(FileId, ByteSpan)>,
    members: Vec<HiddenMember>,
}

/// A place that says a member's name.
struct MemberUse {
    member: usize,
    /// Whether it is the member for certain.
    is_certain: bool,
    /// The member whose own text says it.
    inside: Option<usize>,
    conditions: BTreeSet<String>,
}

impl Named<'_> {
    /// What the compiler may say of the public members of something hidden.
    pub(super) fn members_in_doubt(&mut self, item: ItemId) -> Vec<Unproven> {
        let world = self.tree.world;
        let holder = Holder {
            item,
            name: &world[item].name,
            blocks: blocks_of(world, item),
            members: self.members_of(item),
        };
        if holder.members.is_empty() || self.is_shown(item) {
            return Vec::new();
        }
        let said = self.said_of(&holder);
        let own = self.conditions.of_item(item);
        let used = serving(&said, holder.members.len(), &own, |said| said.is_certain);
        let perhaps = serving(&said, holder.members.len(), &own, |_| true);
        let members = holder.members.into_iter().enumerate();
        let told = members.filter(|(at, _)| !used.contains(at));
        told.filter_map(|(at, member)| {
            let warning = match perhaps.contains(&at) {
                true => &PERHAPS_DEAD,
                false => &DEAD_CODE,
            };
            self.unused((member.file, member.at), &member.name, warning)
        })
        .collect()
    }

    /// The members of an item that others could name as long as they could name the item.
    fn members_of(&self, item: ItemId) -> Vec<HiddenMember> {
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
        let text = self.tree.texts.text(&self.tree.world[file].path);
        let parsed = text.as_deref().and_then(|text| span.of(text));
        let parsed = parsed.and_then(|text| syntax::parse::<syn::Item>(text).ok());
        let mut reader = Reader {
            file,
            base: span.start,
            found: Vec::new(),
        };
        if let Some(parsed) = &parsed {
            reader.item(parsed);
        }
        let found = reader.found;
        drop(parsed);
        proc_macro2::extra::invalidate_current_thread_spans();
        found
    }

    /// All places of its crate that say a member's name.
    fn said_of(&mut self, holder: &Holder<'_>) -> Vec<MemberUse> {
        let world = self.tree.world;
        let krate = world[world[holder.item].module].krate;
        let mut found = Vec::new();
        let mut tokens_of: Vec<(FileId, std::sync::Arc<str>, Vec<Token>)> = Vec::new();
        for (file, source) in world.sources() {
            let mut bodies = source.bodies.iter().map(|body| &world[world[*body].module]);
            if !bodies.any(|module| module.krate == krate) {
                continue;
            }
            let text = self.tree.texts.text(&source.path);
            let says = |text: &str| holder.members.iter().any(|one| text.contains(&one.name));
            let Some(text) = text.filter(|text| says(text)) else {
                continue;
            };
            let tokens = lexer::tokens(&text, ByteSpan::from_range(0..text.len()));
            tokens_of.push((file, text, tokens));
        }
        let alone: Vec<bool> = holder
            .members
            .iter()
            .map(|member| self.is_alone(holder, member, &tokens_of))
            .collect();
        for (file, text, tokens) in &tokens_of {
            for at in 0..tokens.len() {
                let reader = TextTokens { text, tokens };
                found.extend(self.said_at(holder, (*file, at), (&reader, &alone)));
            }
        }
        found
    }

    /// The member that a token says, if it does.
    fn said_at(
        &mut self,
        holder: &Holder<'_>,
        (file, at): (FileId, usize),
        (words, alone): (&TextTokens<'_>, &[bool]),
    ) -> Option<MemberUse> {
        let span = words.tokens.get(at)?.span;
        let word = words.at(at);
        let word = word.split('.').next().unwrap_or(word);
        let member = holder.members.iter().position(|one| one.name == word)?;
        let kind = holder.members.get(member)?.kind;
        let inside = |(of, block): &(FileId, ByteSpan)| *of == file && block.contains(span);
        let is_inside = holder.blocks.iter().any(inside);
        let is_certain = match (kind, words.before(at)) {
            (HiddenMemberKind::Function | HiddenMemberKind::Variant, Before::Path(of)) => {
                let is_own = of == holder.name || (of == "Self" && is_inside);
                let is_made = kind == HiddenMemberKind::Function || !words.is_pattern(at);
                is_made && (is_own || alone.get(member) == Some(&true))
            }
            (HiddenMemberKind::Function, Before::Dot(of)) => {
                (of == "self" && is_inside) || alone.get(member) == Some(&true)
            }
            (HiddenMemberKind::Field, Before::Dot(of)) => {
                let is_read = words.is_read(at);
                is_read && ((of == "self" && is_inside) || alone.get(member) == Some(&true))
            }
            // Patterns read fields, and what is written beside them does not.
            (HiddenMemberKind::Field | HiddenMemberKind::Variant, Before::Other) => false,
            (HiddenMemberKind::Function, Before::Other) | (_, Before::Definition) => return None,
            (HiddenMemberKind::Field, Before::Path(_))
            | (HiddenMemberKind::Variant, Before::Dot(_)) => {
                return None;
            }
        };
        let own = holder
            .members
            .iter()
            .any(|one| one.file == file && one.at == span);
        let whole = |one: &HiddenMember| one.file == file && one.span.contains(span);
        let inside = holder.members.iter().position(whole);
        (!own).then(|| MemberUse {
            member,
            is_certain,
            inside,
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

    /// Whether nothing else of the crate, and no type of the standard library, has a member's name.
    fn is_alone(
        &self,
        holder: &Holder<'_>,
        member: &HiddenMember,
        files: &[(FileId, std::sync::Arc<str>, Vec<Token>)],
    ) -> bool {
        if member.kind == HiddenMemberKind::Variant || INHERENT_METHODS.contains(&member.name) {
            return false;
        }
        if member
            .name
            .starts_with(|first: char| first.is_ascii_digit())
        {
            return false;
        }
        let is_trait = self.tree.world[holder.item].kind == ItemKind::Trait;
        let is_other = |file: FileId, span: ByteSpan| {
            let mut own = holder.blocks.iter();
            let is_own = own.any(|(of, block)| *of == file && block.contains(span));
            // A type may have it by a trait as well.
            let is_member = member.file == file && member.at == span;
            !(is_member || (is_own && is_trait))
        };
        !files.iter().any(|(file, text, tokens)| {
            tokens.windows(3).any(|three| {
                let [before, word, behind] = three else {
                    return false;
                };
                let before = before.span.of(text).unwrap_or_default();
                let is_declared = match member.kind {
                    HiddenMemberKind::Field => {
                        behind.is(b':') && matches!(before, "{" | "," | "pub" | ")" | "]")
                    }
                    _ => matches!(before, "fn" | "const"),
                };
                is_declared
                    && word.span.of(text) == Some(&member.name)
                    && is_other(*file, word.span)
            })
        })
    }
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
        for member in 0..count {
            let mut uses = ConditionedUses::default();
            let places = said
                .iter()
                .filter(|one| one.member == member && counts(one));
            let live = places.filter(|one| one.inside.is_none_or(|at| found.contains(&at)));
            uses.0.extend(live.map(|one| one.conditions.clone()));
            if uses.cover(own) {
                found.insert(member);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// The definition of an item, and all `impl`s of it.
fn blocks_of(world: &World, item: ItemId) -> Vec<(FileId, ByteSpan)> {
    let definitions = world[item].definitions.iter();
    let definitions = definitions.map(|(file, at)| (*file, world.facts(*file).item(*at).span));
    let of_type = world.impls_of(item).map(|one| (one.file, one.span));
    let is_trait = world[item].kind == ItemKind::Trait;
    let of_trait = world
        .impls()
        .iter()
        .filter(|one| is_trait && one.by == Some(item));
    let of_trait = of_trait.map(|one| (one.file, one.span));
    definitions.chain(of_type).chain(of_trait).collect()
}

/// What stands before a name.
enum Before<'t> {
    /// `self.name`
    Dot(&'t str),
    /// `Type::name`
    Path(&'t str),
    /// `fn name`
    Definition,
    Other,
}

struct TextTokens<'t> {
    text: &'t str,
    tokens: &'t [Token],
}

impl<'t> TextTokens<'t> {
    fn at(&self, at: usize) -> &'t str {
        let token = self.tokens.get(at);
        token
            .and_then(|token| token.span.of(self.text))
            .unwrap_or_default()
    }

    fn before(&self, at: usize) -> Before<'t> {
        let back = |count: usize| at.checked_sub(count).map_or("", |at| self.at(at));
        match (back(1), back(2)) {
            (".", of) => Before::Dot(of),
            (":", ":") => Before::Path(back(3)),
            ("fn" | "const" | "struct" | "enum" | "mod" | "let" | "use", _) => Before::Definition,
            _ => Before::Other,
        }
    }

    /// Whether a field is read where it is said, and not only written.
    fn is_read(&self, at: usize) -> bool {
        let is_written = self.at(at + 1) == "=" && self.at(at + 2) != "=";
        !is_written && self.at(at + 1) != "("
    }

    /// Whether a path of a variant may be a pattern, by what stands behind it and behind what is around it.
    fn is_pattern(&self, at: usize) -> bool {
        let mut next = at + 1;
        loop {
            match self.tokens.get(next).map(|token| token.kind) {
                None => return false,
                Some(TokenKind::Open(_)) => match lexer::closing(self.tokens, next) {
                    Some(close) => next = close + 1,
                    None => return true,
                },
                Some(TokenKind::Close(_)) => {
                    if self.is_in_matches(next) {
                        return true;
                    }
                    next += 1;
                }
                Some(TokenKind::Punct(b'=')) => return self.at(next + 1) != "=",
                Some(TokenKind::Punct(b'|')) => return true,
                Some(TokenKind::Punct(b',')) => match self.end_of_group(next) {
                    Some(close) => next = close,
                    None => return false,
                },
                Some(_) => return self.at(next) == "if",
            }
        }
    }

    /// The token that closes what is around a token.
    fn end_of_group(&self, mut at: usize) -> Option<usize> {
        loop {
            match self.tokens.get(at)?.kind {
                TokenKind::Open(_) => at = lexer::closing(self.tokens, at)? + 1,
                TokenKind::Close(_) => return Some(at),
                _ => at += 1,
            }
        }
    }

    /// Whether a token closes the arguments of `matches!` or its like.
    fn is_in_matches(&self, close: usize) -> bool {
        let mut depth = 0_usize;
        for at in (0..=close).rev() {
            match self.tokens.get(at).map(|token| token.kind) {
                Some(TokenKind::Close(_)) => depth += 1,
                Some(TokenKind::Open(_)) => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                let back = |count: usize| at.checked_sub(count).map_or("", |at| self.at(at));
                return back(1) == "!" && back(2).contains("matches");
            }
        }
        false
    }
}

/// Reads the members of an item out of its syntax.
struct Reader {
    file: FileId,
    base: u32,
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
            syn::Item::Enum(item) if !makes_variants(&item.attrs) => {
                for variant in &item.variants {
                    let is_default = variant
                        .attrs
                        .iter()
                        .any(|one| one.path().is_ident("default"));
                    if !is_default {
                        self.add(HiddenMemberKind::Variant, &variant.ident, variant);
                    }
                }
            }
            syn::Item::Trait(item) => {
                for one in &item.items {
                    match one {
                        syn::TraitItem::Fn(own) => {
                            self.add(HiddenMemberKind::Function, &own.sig.ident, own);
                        }
                        syn::TraitItem::Const(own) => {
                            self.add(HiddenMemberKind::Function, &own.ident, own);
                        }
                        _ => {}
                    }
                }
            }
            syn::Item::Impl(item) if item.trait_.is_none() => {
                for one in &item.items {
                    match one {
                        syn::ImplItem::Fn(own) if is_public(&own.vis) => {
                            self.add(HiddenMemberKind::Function, &own.sig.ident, own);
                        }
                        syn::ImplItem::Const(own) if is_public(&own.vis) => {
                            self.add(HiddenMemberKind::Function, &own.ident, own);
                        }
                        _ => {}
                    }
                }
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
        if !is_public(&field.vis) || is_empty(&field.ty) {
            return;
        }
        match &field.ident {
            Some(ident) => self.add(HiddenMemberKind::Field, ident, field),
            None => {
                let name = index.to_string();
                self.push(HiddenMemberKind::Field, name, field.ty.span(), field.span());
            }
        }
    }

    fn add(&mut self, kind: HiddenMemberKind, ident: &syn::Ident, whole: &impl Spanned) {
        let name = ident.to_string();
        let name = name.strip_prefix("r#").unwrap_or(&name).to_owned();
        self.push(kind, name, ident.span(), whole.span());
    }

    fn push(
        &mut self,
        kind: HiddenMemberKind,
        name: String,
        at: proc_macro2::Span,
        span: proc_macro2::Span,
    ) {
        let place = |span: proc_macro2::Span| {
            let own = ByteSpan::from_range(span.byte_range());
            ByteSpan::new(own.start + self.base, own.end + self.base)
        };
        self.found.push(HiddenMember {
            name,
            kind,
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
