//! Attributes: conditions, module paths, derives, paths and strings that name things.

use coalesce_model::ByteSpan;
use syn::{Token, punctuated::Punctuated, spanned::Spanned, visit::Visit};

use super::{
    Include, IncludeKind, Item, ItemKind, Namespaces, Origin, PathAttribute, Segment,
    docs::DocLine, extract::Extractor, source::private, tokens,
};
use crate::{
    lexer::{self, Token as LexedToken, TokenKind},
    words,
};

/// Keys of attributes whose string is a path even when it has one segment.
const PATH_KEYS: [&str; 8] = [
    "with",
    "serialize_with",
    "deserialize_with",
    "skip_serializing_if",
    "default",
    "remote",
    "try_from",
    "getter",
];

/// What the outer attributes of an item say.
pub(super) struct Outer {
    /// First byte of the item, attributes included.
    pub start: u32,
    /// First byte after the attributes.
    pub code: u32,
    /// All of them.
    pub attributes: Option<ByteSpan>,
    /// The text of each `cfg`.
    pub cfg: Vec<Box<str>>,
    /// `#[path]`
    pub paths: Vec<PathAttribute>,
    /// `#[macro_use]`
    pub macro_use: bool,
    /// `#[macro_export]`, `#[proc_macro]`
    pub exported: bool,
}

impl Extractor<'_, '_> {
    /// Visits the outer attributes of an item whose code starts at `code`.
    pub fn read_outer(&mut self, attributes: &[syn::Attribute], code: u32) -> Outer {
        let mut outer = Outer {
            start: code,
            code,
            attributes: None,
            cfg: Vec::new(),
            paths: Vec::new(),
            macro_use: false,
            exported: false,
        };
        for attribute in attributes
            .iter()
            .filter(|attribute| matches!(attribute.style, syn::AttrStyle::Outer))
        {
            let span = self.attribute_span(attribute);
            outer.start = outer.start.min(span.start);
            outer.attributes = Some(outer.attributes.map_or(span, |before| before.cover(span)));
            self.read_meta(&attribute.meta, None, &mut outer);
            self.visit_attribute(attribute);
        }
        outer
    }

    pub fn attribute_span(&self, attribute: &syn::Attribute) -> ByteSpan {
        let start = self.places.start(attribute.pound_token.span);
        let end = self.places.past(attribute.bracket_token.span.close());
        ByteSpan::new(start, end.max(start))
    }

    fn read_meta(&mut self, meta: &syn::Meta, cfg: Option<&str>, outer: &mut Outer) {
        let first = meta.path().segments.first();
        let name = first
            .map(|first| first.ident.to_string())
            .unwrap_or_default();
        match (name.as_str(), meta) {
            ("cfg", syn::Meta::List(list)) => outer.cfg.push(self.arguments_text(list).into()),
            ("cfg_attr", syn::Meta::List(list)) => {
                for (condition, inner) in self.conditional(list) {
                    self.read_meta(&inner, Some(&condition), outer);
                }
            }
            ("path", syn::Meta::NameValue(value)) => {
                outer.paths.extend(self.path_attribute(value, cfg))
            }
            ("macro_use", _) => outer.macro_use = true,
            ("macro_export" | "proc_macro" | "proc_macro_attribute", _) => outer.exported = true,
            (name, _)
                if words::BUILT_IN_ATTRIBUTES.contains(name)
                    || words::PLAIN_ATTRIBUTES.contains(name) => {}
            _ => self.builder.mark_opaque(),
        }
    }

    fn path_attribute(
        &self,
        value: &syn::MetaNameValue,
        cfg: Option<&str>,
    ) -> Option<PathAttribute> {
        let syn::Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Str(literal),
            ..
        }) = &value.value
        else {
            return None;
        };
        Some(PathAttribute {
            value: literal.value().into(),
            span: self.content(literal),
            cfg: cfg.map(Box::from),
        })
    }

    pub(super) fn arguments_text(&self, list: &syn::MetaList) -> &str {
        self.builder
            .slice(self.places.between(list.delimiter.span()))
            .trim()
    }

    /// The attributes of a `cfg_attr`, each with the condition.
    fn conditional(&self, list: &syn::MetaList) -> Vec<(String, syn::Meta)> {
        let parser = Punctuated::<syn::Meta, Token![,]>::parse_terminated;
        let Ok(metas) = list.parse_args_with(parser) else {
            return Vec::new();
        };
        let mut metas = metas.into_iter();
        let Some(condition) = metas.next() else {
            return Vec::new();
        };
        let start = self.places.start(condition.span());
        let whole = self.places.between(list.delimiter.span());
        let text = self
            .builder
            .slice(ByteSpan::new(start, whole.end.max(start)));
        let condition = balanced_prefix(text).trim().to_owned();
        metas.map(|meta| (condition.clone(), meta)).collect()
    }

    /// What stands between the quotes of a literal.
    pub fn content(&self, literal: &syn::LitStr) -> ByteSpan {
        let start = self.places.start(literal.span());
        let end = ByteSpan::from_range(0..self.builder.text.len()).end;
        let end = lexer::tokens_from(self.builder.text, ByteSpan::new(start, end.max(start)));
        match end.map(|token| token.kind) {
            Some(TokenKind::Text { content }) => content,
            _ => ByteSpan::empty(start),
        }
    }

    /// A string literal of code.
    pub fn literal(&mut self, literal: &syn::LitStr) {
        let content = self.content(literal);
        self.builder.string(content);
    }

    /// One attribute: its name, its derives, the paths in its arguments; docs are collected.
    pub fn attribute(&mut self, attribute: &syn::Attribute) {
        let path = attribute.path();
        if path.is_ident("doc") {
            self.doc(attribute);
            return;
        }
        let origin = std::mem::replace(&mut self.builder.origin, Origin::Attribute);
        let end = self.places.start(attribute.bracket_token.span.close());
        self.meta(&attribute.meta, end);
        self.builder.origin = origin;
    }

    fn doc(&mut self, attribute: &syn::Attribute) {
        let inner = matches!(attribute.style, syn::AttrStyle::Inner(_));
        let span = self.attribute_span(attribute);
        if let syn::Meta::NameValue(value) = &attribute.meta {
            if let syn::Expr::Macro(call) = &value.value {
                self.made_doc(&call.mac, inner);
                return;
            }
            self.doc_line(span, inner);
        }
    }

    fn doc_line(&mut self, span: ByteSpan, inner: bool) {
        self.docs.push(DocLine {
            span,
            inner,
            scope: self.builder.scope,
        });
    }

    /// Documentation that a macro gives: `include_str!`, alone or among the parts of `concat!`, and the texts of that.
    /// Others (`env!`, `stringify!`) name no file.
    fn made_doc(&mut self, mac: &syn::Macro, inner: bool) {
        if mac.path.is_ident("include_str") {
            self.include(mac, IncludeKind::Doc);
        }
        if !mac.path.is_ident("concat") {
            return;
        }
        let parser = Punctuated::<syn::Expr, Token![,]>::parse_terminated;
        for part in mac.parse_body_with(parser).into_iter().flatten() {
            match part {
                syn::Expr::Macro(call) => self.made_doc(&call.mac, inner),
                syn::Expr::Lit(text) => self.doc_literal(&text.lit, inner),
                _ => {}
            }
        }
    }

    /// Documentation in a literal by itself.
    fn doc_literal(&mut self, literal: &syn::Lit, inner: bool) {
        if let syn::Lit::Str(literal) = literal {
            let start = self.places.start(literal.span());
            // With its quotes.
            let end = self.content(literal).end + 1;
            self.doc_line(ByteSpan::new(start, end), inner);
        }
    }

    fn meta(&mut self, meta: &syn::Meta, end: u32) {
        let name = meta
            .path()
            .segments
            .first()
            .map(|segment| segment.ident.to_string())
            .unwrap_or_default();
        match (name.as_str(), meta) {
            ("derive", syn::Meta::List(list)) => self.derive(list),
            ("cfg_attr", syn::Meta::List(list)) => {
                for (_, inner) in self.conditional(list) {
                    self.meta(&inner, end);
                }
            }
            ("doc", syn::Meta::NameValue(value)) => match &value.value {
                syn::Expr::Macro(call) => self.made_doc(&call.mac, false),
                syn::Expr::Lit(text) => self.doc_literal(&text.lit, false),
                _ => {}
            },
            (name, _) if words::BUILT_IN_ATTRIBUTES.contains(name) => {}
            _ => {
                self.emit(meta.path(), usize::MAX, Namespaces::MACRO);
                self.unknown_meta(meta, end);
            }
        }
    }

    fn derive(&mut self, list: &syn::MetaList) {
        let parser = Punctuated::<syn::Path, Token![,]>::parse_terminated;
        let Ok(paths) = list.parse_args_with(parser) else {
            return;
        };
        for path in &paths {
            let last = path
                .segments
                .last()
                .map(|segment| segment.ident.to_string())
                .unwrap_or_default();
            if !words::PLAIN_DERIVES.contains(&last) {
                self.builder.mark_opaque();
            }
            self.emit(path, usize::MAX, Namespaces::MACRO);
        }
    }

    /// Arguments of an attribute that some macro reads: paths after `=` or with two segments, and
    /// strings that spell one.
    fn unknown_meta(&mut self, meta: &syn::Meta, attribute_end: u32) {
        let span = match meta {
            syn::Meta::Path(_) => return,
            syn::Meta::List(list) => self.places.between(list.delimiter.span()),
            syn::Meta::NameValue(value) => {
                let start = self.places.start(value.eq_token.span);
                ByteSpan::new(start, attribute_end.max(start))
            }
        };
        let tokens = lexer::tokens(self.builder.text, span);
        tokens::attribute_arguments(self.builder, &tokens, &PATH_KEYS);
    }

    /// A function that is a procedural macro also defines the macro.
    pub fn proc_macro(&mut self, attributes: &[syn::Attribute]) {
        let Some(function) = self.builder.facts.items.last().cloned() else {
            return;
        };
        for attribute in attributes {
            let Some(name) = self.name_of_proc_macro(attribute, function.name) else {
                continue;
            };
            let visibility = private(function.span.start);
            self.builder.facts.items.push(Item {
                name,
                kind: ItemKind::Macro,
                namespaces: Namespaces::MACRO,
                visibility: super::Visibility {
                    kind: super::VisibilityKind::Public,
                    ..visibility
                },
                exported: true,
                ..function.clone()
            });
        }
    }

    /// The name of the macro that an attribute makes of the function `function`.
    fn name_of_proc_macro(
        &mut self,
        attribute: &syn::Attribute,
        function: Segment,
    ) -> Option<Segment> {
        let path = attribute.path();
        if path.is_ident("proc_macro") || path.is_ident("proc_macro_attribute") {
            return Some(function);
        }
        let syn::Meta::List(list) = &attribute.meta else {
            return None;
        };
        path.is_ident("proc_macro_derive").then_some(())?;
        let span = self.places.between(list.delimiter.span());
        let first = lexer::tokens_from(self.builder.text, span)?;
        Some(self.builder.segment(first.span))
    }

    /// `include!("…")` and its like.
    pub fn include(&mut self, mac: &syn::Macro, kind: IncludeKind) {
        let span = self.places.between(mac.delimiter.span());
        let tokens = lexer::tokens(self.builder.text, span);
        self.include_of(&tokens, kind);
    }

    /// The same, by its arguments.
    pub fn include_of(&mut self, arguments: &[LexedToken], kind: IncludeKind) {
        let Some((span, from_manifest)) = self.included_path(arguments) else {
            return;
        };
        let value = Box::from(self.builder.slice(span));
        let scope = self.builder.scope;
        self.builder.facts.includes.push(Include {
            scope,
            kind,
            value,
            span,
            from_manifest,
        });
    }

    /// Where the path that is included stands, and whether it begins at the directory of the manifest.
    fn included_path(&self, tokens: &[LexedToken]) -> Option<(ByteSpan, bool)> {
        let texts: Vec<ByteSpan> = tokens
            .iter()
            .filter_map(|token| match token.kind {
                TokenKind::Text { content } => Some(content),
                _ => None,
            })
            .collect();
        let from_manifest = texts
            .first()
            .is_some_and(|first| self.builder.slice(*first) == "CARGO_MANIFEST_DIR");
        match texts.as_slice() {
            [only] if tokens.len() <= 2 => Some((*only, from_manifest)),
            [_, path] if from_manifest => Some((*path, from_manifest)),
            _ => None,
        }
    }
}

/// The text up to the first comma outside brackets.
fn balanced_prefix(text: &str) -> &str {
    let mut depth = 0usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => return text.get(..at).unwrap_or(text),
            _ => {}
        }
    }
    text
}
