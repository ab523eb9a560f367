//! What a module that goes must not hold: that by which others reach it without naming it. An `impl` of
//! what stays, a macro call that may define anything, an attribute that makes its item known to the
//! linker or to a framework.

use std::ops::Range;

use coalesce_model::{ByteSpan, Texts};
use syn::{Attribute, Item, Meta, punctuated::Punctuated, spanned::Spanned as _, visit::Visit};

use crate::{
    resolve::{Body, ItemId, World},
    syntax,
    words::{NAMED_ALONE, PLAIN_DERIVES},
};

/// What stands in a body that others may reach without naming it: where, and what it is.
pub(super) fn reached_unnamed(
    world: &World,
    texts: &dyn Texts,
    body: &Body,
    goes: &dyn Fn(ItemId) -> bool,
) -> Vec<(ByteSpan, String)> {
    let _trees = syntax::Trees::begin();
    let facts = world.facts(body.file);
    let scope = facts.scope(body.scope);
    let closing = u32::from(body.scope.0 != 0);
    let inner = ByteSpan::new(scope.items_start, scope.span.end.saturating_sub(closing));
    let text = texts.text(&world[body.file].path);
    let code = text.as_deref().and_then(|text| inner.of(text));
    let Some(Ok(parsed)) = code.map(syntax::parse_file) else {
        return vec![(inner, "what does not parse".to_owned())];
    };
    let mut reader = Reader {
        start: inner.start,
        found: Vec::new(),
    };
    reader.visit_file(&parsed);
    let mut found = reader.found;
    let stays = |one: &&crate::facts::Impl| {
        let mut sites = world.impls().iter();
        let site = sites.find(|site| site.file == body.file && site.span == one.span);
        let ends = site.map(|site| [site.of, site.by]);
        !ends.is_some_and(|ends| ends.into_iter().flatten().any(goes))
    };
    let impls = facts.impls.iter().filter(|one| inner.contains(one.span));
    let others = impls.filter(stays);
    found.extend(others.map(|one| (one.span, "an `impl` of what stays".to_owned())));
    found.sort();
    found
}

struct Reader {
    /// Where the parsed text starts in its file.
    start: u32,
    found: Vec<(ByteSpan, String)>,
}

impl Reader {
    fn note(&mut self, range: Range<usize>, what: impl Into<String>) {
        let at = |at: usize| self.start + u32::try_from(at).unwrap_or(u32::MAX - self.start);
        let span = ByteSpan::new(at(range.start), at(range.end));
        self.found.push((span, what.into()));
    }

    fn attributes(&mut self, attributes: &[Attribute]) {
        for attribute in attributes {
            if let Some(name) = telling(&attribute.meta) {
                let what = format!("`{name}`, by which others may reach it");
                self.note(attribute.span().byte_range(), what);
            }
        }
    }
}

impl Visit<'_> for Reader {
    fn visit_item(&mut self, item: &Item) {
        match item {
            Item::Macro(call) if call.ident.is_none() => {
                self.note(item.span().byte_range(), "a macro call");
            }
            Item::ForeignMod(_) => self.note(item.span().byte_range(), "an `extern` block"),
            Item::ExternCrate(_) => self.note(item.span().byte_range(), "an `extern crate`"),
            _ => {}
        }
        self.attributes(attributes_of(item));
        syn::visit::visit_item(self, item);
    }

    fn visit_stmt_macro(&mut self, _: &syn::StmtMacro) {}
}

/// An attribute that may make its item known to somebody who does not name it.
fn telling(meta: &Meta) -> Option<String> {
    let name = |path: &syn::Path| {
        let segments = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string());
        segments.collect::<Vec<_>>().join("::")
    };
    let first = meta.path().segments.first()?.ident.to_string();
    let inside = || {
        let list = meta.require_list()?;
        list.parse_args_with(Punctuated::<Meta, syn::Token![,]>::parse_terminated)
    };
    if NAMED_ALONE.contains(&first) {
        return None;
    }
    match (first.as_str(), inside()) {
        // The first is the condition.
        ("cfg_attr", Ok(inside)) => inside.iter().skip(1).find_map(telling),
        ("derive", Ok(inside)) => {
            let is_plain = |meta: &Meta| {
                let last = meta.path().segments.last();
                last.is_some_and(|last| PLAIN_DERIVES.contains(&last.ident.to_string()))
            };
            let other = inside.iter().find(|meta| !is_plain(meta));
            other.map(|meta| name(meta.path()))
        }
        _ => Some(name(meta.path())),
    }
}

fn attributes_of(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
