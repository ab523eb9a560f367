//! Reads the tables of a file off its syntax tree: items, modules, imports, and paths with scope.
//!
//! Expressions and patterns, where local names come and go, are in `patterns`; attributes and
//! macros have files of their own.

use coalesce_model::ByteSpan;
use proc_macro2::Span;
use syn::visit::{self, Visit};

use super::{
    ExternCrate, Impl, Item, ItemKind, LeafKind, ModuleDeclaration, Namespaces, Origin, ScopeKind,
    Segment, SourceFacts, UseDeclaration, UseLeaf, UseTree, Visibility, VisibilityKind,
    attributes::Outer, docs, parse::Source, source::Builder, source::index, source::private,
};
use crate::lexer;

/// Types that a function of the same name does not hide.
const PRIMITIVES: [&str; 17] = [
    "bool", "char", "f32", "f64", "i128", "i16", "i32", "i64", "i8", "isize", "str", "u128", "u16",
    "u32", "u64", "u8", "usize",
];

/// Turns the parser's positions into bytes of the file.
pub(super) struct Places<'t> {
    text: &'t str,
    ascii: bool,
    lines: Vec<u32>,
}

impl<'t> Places<'t> {
    /// For a text whose parsed part starts at `base`.
    pub fn new(text: &'t str, base: u32) -> Self {
        let rest = text.as_bytes().get(base as usize..).unwrap_or_default();
        let mut lines = vec![base];
        lines.extend(memchr::memchr_iter(b'\n', rest).map(|at| base + index(at) + 1));
        Self {
            text,
            ascii: text.is_ascii(),
            lines,
        }
    }

    /// For code whose lines start at these bytes of the file.
    pub fn of_lines(text: &'t str, lines: Vec<u32>) -> Self {
        Self {
            text,
            ascii: text.is_ascii(),
            lines,
        }
    }

    /// The first byte of a token.
    pub fn start(&self, span: Span) -> u32 {
        let place = span.start();
        let line = self
            .lines
            .get(place.line.saturating_sub(1))
            .or(self.lines.last())
            .copied()
            .unwrap_or(0);
        if self.ascii {
            return line + index(place.column);
        }
        let rest = self.text.get(line as usize..).unwrap_or_default();
        let bytes: usize = rest.chars().take(place.column).map(char::len_utf8).sum();
        line + index(bytes)
    }

    /// One past the single character at `span`: a delimiter, a `;`, the end of a doc comment.
    pub fn past(&self, span: Span) -> u32 {
        let start = self.start(span);
        let rest = self.text.get(start as usize..).unwrap_or_default();
        start
            + rest
                .chars()
                .next()
                .map_or(0, |character| index(character.len_utf8()))
    }

    /// The place of an identifier.
    pub fn ident(&self, ident: &syn::Ident) -> ByteSpan {
        let start = self.start(ident.span());
        ByteSpan::new(start, lexer::ident_end(self.text, start))
    }

    /// What stands between two delimiters.
    pub fn between(&self, delimiters: &proc_macro2::extra::DelimSpan) -> ByteSpan {
        let open = self.past(delimiters.open());
        ByteSpan::new(open, self.start(delimiters.close()).max(open))
    }

    /// From the first to the last token of a stream.
    pub fn tokens(&self, tokens: &proc_macro2::TokenStream) -> Option<ByteSpan> {
        let start = tokens.clone().into_iter().next()?.span();
        let last = tokens.clone().into_iter().last()?;
        let start = self.start(start);
        let end = match last {
            proc_macro2::TokenTree::Group(group) => self.past(group.span_close()),
            other => self.start(other.span()) + index(other.to_string().len()),
        };
        Some(ByteSpan::new(start, end.max(start)))
    }
}

/// Walks a syntax tree.
pub(super) struct Extractor<'b, 't> {
    pub places: &'b Places<'t>,
    pub builder: &'b mut Builder<'t>,
    pub docs: Vec<docs::DocLine>,
    buffer: Vec<Segment>,
}

/// The facts of a parsed file.
pub(super) fn file(source: &Source<'_>, file: &syn::File) -> SourceFacts {
    let mut builder = Builder::new(source.text);
    let places = Places::new(source.text, source.base);
    let mut extractor = Extractor::new(&places, &mut builder);
    let start = extractor
        .inner_attributes(&file.attrs)
        .unwrap_or(source.base);
    if let Some(scope) = extractor.builder.facts.scopes.first_mut() {
        scope.items_start = start;
    }
    for item in &file.items {
        extractor.visit_item(item);
    }
    let lines = std::mem::take(&mut extractor.docs);
    docs::read(&mut builder, lines);
    builder.facts
}

impl<'b, 't> Extractor<'b, 't> {
    pub fn new(places: &'b Places<'t>, builder: &'b mut Builder<'t>) -> Self {
        Self {
            places,
            builder,
            docs: Vec::new(),
            buffer: Vec::new(),
        }
    }

    /// Reads inner attributes and docs; gives the end of the last.
    fn inner_attributes(&mut self, attributes: &[syn::Attribute]) -> Option<u32> {
        let mut end = None;
        for attribute in attributes {
            if matches!(attribute.style, syn::AttrStyle::Inner(_)) {
                self.visit_attribute(attribute);
                end = Some(self.places.past(attribute.bracket_token.span.close()));
            }
        }
        end
    }

    pub fn segment(&mut self, ident: &syn::Ident) -> Segment {
        let span = self.places.ident(ident);
        self.builder.segment(span)
    }

    /// Notes the first `count` segments of a path.
    pub fn emit(&mut self, path: &syn::Path, count: usize, namespaces: Namespaces) -> Option<u32> {
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        for segment in path.segments.iter().take(count) {
            let segment = self.segment(&segment.ident);
            buffer.push(segment);
        }
        let result = self
            .builder
            .path(&buffer, path.leading_colon.is_some(), namespaces);
        self.buffer = buffer;
        result
    }

    /// Notes a whole path and visits its generic arguments.
    pub fn whole_path(&mut self, path: &syn::Path, namespaces: Namespaces) -> Option<u32> {
        let result = self.emit(path, usize::MAX, namespaces);
        self.arguments(path);
        result
    }

    pub fn arguments(&mut self, path: &syn::Path) {
        for segment in &path.segments {
            self.visit_path_arguments(&segment.arguments);
        }
    }

    /// A path with an optional `<T as …>` before it.
    pub fn qualified(
        &mut self,
        qself: Option<&syn::QSelf>,
        path: &syn::Path,
        namespaces: Namespaces,
    ) -> Option<u32> {
        let Some(qself) = qself else {
            return self.whole_path(path, namespaces);
        };
        self.visit_type(&qself.ty);
        let result = self.emit(path, qself.position, Namespaces::TYPE);
        self.arguments(path);
        result
    }

    fn visibility(&mut self, visibility: &syn::Visibility, otherwise: u32) -> Visibility {
        match visibility {
            syn::Visibility::Inherited => private(otherwise),
            syn::Visibility::Public(token) => {
                let start = self.places.start(token.span);
                Visibility {
                    kind: VisibilityKind::Public,
                    span: ByteSpan::new(start, start + 3),
                }
            }
            syn::Visibility::Restricted(restricted) => self.restricted(restricted),
        }
    }

    fn restricted(&mut self, restricted: &syn::VisRestricted) -> Visibility {
        let start = self.places.start(restricted.pub_token.span);
        let end = self.places.past(restricted.paren_token.span.close());
        let simple = restricted
            .in_token
            .is_none()
            .then(|| restricted.path.get_ident().map(ToString::to_string));
        let origin = std::mem::replace(&mut self.builder.origin, Origin::Visibility);
        let path = self.emit(&restricted.path, usize::MAX, Namespaces::TYPE);
        self.builder.origin = origin;
        let kind = match simple.flatten().as_deref() {
            Some("crate") => VisibilityKind::Crate,
            Some("super") => VisibilityKind::Super,
            Some("self") => VisibilityKind::SelfModule,
            _ => path.map_or(VisibilityKind::Crate, VisibilityKind::In),
        };
        Visibility {
            kind,
            span: ByteSpan::new(start, end),
        }
    }

    fn item(&mut self, new: NewItem<'_>) -> Visibility {
        let outer = self.outer(new.attributes, new.visibility, new.start);
        let visibility = self.visibility(new.visibility, outer.code);
        let name = self.segment(new.name);
        if self.builder.slice(name.span) == "_" {
            return visibility;
        }
        let exported = outer.exported;
        let item = Item {
            scope: self.builder.scope,
            name,
            kind: new.kind,
            namespaces: new.namespaces,
            visibility,
            span: ByteSpan::new(outer.start, new.end.max(outer.start)),
            signature: ByteSpan::new(outer.code, new.body.max(outer.code)),
            conditional: !outer.cfg.is_empty(),
            exported,
            variants: Vec::new(),
            origin: self.builder.origin,
        };
        self.builder.facts.items.push(item);
        visibility
    }

    /// Reads the outer attributes of an item whose first token without them is at `start`.
    fn outer(
        &mut self,
        attributes: &[syn::Attribute],
        visibility: &syn::Visibility,
        start: u32,
    ) -> Outer {
        let code = match visibility {
            syn::Visibility::Inherited => start,
            syn::Visibility::Public(token) => self.places.start(token.span),
            syn::Visibility::Restricted(restricted) => self.places.start(restricted.pub_token.span),
        };
        self.read_outer(attributes, code)
    }

    /// Binds generic parameters; the caller leaves them.
    fn generics(&mut self, generics: &syn::Generics) {
        for parameter in &generics.params {
            match parameter {
                syn::GenericParam::Type(parameter) => {
                    self.bind_ident(&parameter.ident, Namespaces::TYPE)
                }
                syn::GenericParam::Const(parameter) => {
                    self.bind_ident(&parameter.ident, Namespaces::VALUE)
                }
                syn::GenericParam::Lifetime(_) => {}
            }
        }
    }

    pub fn bind_ident(&mut self, ident: &syn::Ident, namespaces: Namespaces) {
        let name = self.builder.slice(self.places.ident(ident));
        self.builder.bind(name, namespaces);
    }

    fn attributes(&mut self, attributes: &[syn::Attribute]) {
        for attribute in attributes {
            if matches!(attribute.style, syn::AttrStyle::Outer) {
                self.visit_attribute(attribute);
            }
        }
    }

    fn module(&mut self, module: &syn::ItemMod) {
        let keyword = module
            .unsafety
            .map_or(module.mod_token.span, |token| token.span);
        let keyword = self.places.start(keyword);
        let outer = self.outer(&module.attrs, &module.vis, keyword);
        let visibility = self.visibility(&module.vis, outer.code);
        let name = self.segment(&module.ident);
        let end = match (&module.content, &module.semi) {
            (Some((brace, _)), _) => self.places.past(brace.span.close()),
            (None, Some(semi)) => self.places.past(semi.span),
            (None, None) => name.span.end,
        };
        let declaration = ModuleDeclaration {
            scope: self.builder.scope,
            name,
            span: ByteSpan::new(outer.start, end),
            attributes: outer.attributes,
            visibility,
            cfg: outer.cfg,
            path_attributes: outer.paths,
            macro_use: outer.macro_use,
            body: None,
            origin: self.builder.origin,
        };
        self.builder.facts.modules.push(declaration);
        if let Some((brace, items)) = &module.content {
            self.module_body(brace, items, &module.attrs);
        }
    }

    fn module_body(
        &mut self,
        brace: &syn::token::Brace,
        items: &[syn::Item],
        attributes: &[syn::Attribute],
    ) {
        let at = self.builder.facts.modules.len() - 1;
        let open = self.places.start(brace.span.open());
        let span = ByteSpan::new(open, self.places.past(brace.span.close()));
        let mark = self.builder.enter_item();
        let outer = self
            .builder
            .open_scope(ScopeKind::Module(index(at)), span, open + 1);
        let scope = self.builder.scope;
        if let Some(declaration) = self.builder.facts.modules.get_mut(at) {
            declaration.body = Some(scope);
        }
        if let Some(end) = self.inner_attributes(attributes)
            && let Some(scope) = self.builder.facts.scopes.get_mut(scope.0 as usize)
        {
            scope.items_start = end;
        }
        for item in items {
            self.visit_item(item);
        }
        self.builder.scope = outer;
        self.builder.leave(mark);
    }

    fn use_declaration(&mut self, item: &syn::ItemUse) {
        let keyword = self.places.start(item.use_token.span);
        let outer = self.outer(&item.attrs, &item.vis, keyword);
        let visibility = self.visibility(&item.vis, outer.code);
        let end = self.places.past(item.semi_token.span);
        let leading_colons = item.leading_colon.map(|colons| {
            let start = self.places.start(colons.spans[0]);
            ByteSpan::new(start, start + 2)
        });
        let first = index(self.builder.facts.leaves.len());
        let mut prefix = Vec::new();
        let tree = self.use_tree(&item.tree, &mut prefix, leading_colons.is_some());
        let last = index(self.builder.facts.leaves.len());
        self.builder.facts.uses.push(UseDeclaration {
            scope: self.builder.scope,
            span: ByteSpan::new(outer.start, end),
            attributes: outer.attributes,
            keyword: ByteSpan::new(keyword, end),
            visibility,
            cfg: outer.cfg,
            leading_colons,
            tree,
            leaves: (first, last),
            origin: self.builder.origin,
        });
    }

    fn use_tree(
        &mut self,
        tree: &syn::UseTree,
        prefix: &mut Vec<Segment>,
        colons: bool,
    ) -> UseTree {
        match tree {
            syn::UseTree::Path(path) => {
                let segment = self.segment(&path.ident);
                prefix.push(segment);
                let rest = self.use_tree(&path.tree, prefix, colons);
                prefix.pop();
                UseTree::Path(segment, Box::new(rest))
            }
            syn::UseTree::Group(group) => {
                let open = self.places.start(group.brace_token.span.open());
                let span = ByteSpan::new(open, self.places.past(group.brace_token.span.close()));
                let items = group
                    .items
                    .iter()
                    .map(|item| self.use_tree(item, prefix, colons))
                    .collect();
                UseTree::Group(span, items)
            }
            syn::UseTree::Name(name) => self.name_leaf(&name.ident, None, prefix, colons),
            syn::UseTree::Rename(rename) => {
                let alias = self.segment(&rename.rename);
                self.name_leaf(&rename.ident, Some(alias), prefix, colons)
            }
            syn::UseTree::Glob(glob) => {
                let start = self.places.start(glob.star_token.span);
                let leaf = Leaf {
                    kind: LeafKind::Glob,
                    own: 0,
                    alias: None,
                    span: ByteSpan::new(start, start + 1),
                };
                self.builder.leaf(leaf, prefix, colons)
            }
        }
    }

    fn name_leaf(
        &mut self,
        ident: &syn::Ident,
        alias: Option<Segment>,
        prefix: &mut Vec<Segment>,
        colons: bool,
    ) -> UseTree {
        let name = self.segment(ident);
        self.builder.name_leaf(name, alias, prefix, colons)
    }

    fn extern_crate(&mut self, item: &syn::ItemExternCrate) {
        let start = self.places.start(item.extern_token.span);
        let outer = self.outer(&item.attrs, &item.vis, start);
        let visibility = self.visibility(&item.vis, outer.code);
        let name = self.segment(&item.ident);
        let alias = item.rename.as_ref().map(|(_, alias)| self.segment(alias));
        let end = self.places.past(item.semi_token.span);
        self.builder.facts.extern_crates.push(ExternCrate {
            scope: self.builder.scope,
            name,
            alias,
            span: ByteSpan::new(outer.start, end),
            visibility,
            macro_use: outer.macro_use,
        });
    }

    fn implementation(&mut self, item: &syn::ItemImpl) {
        let start = self.places.start(item.impl_token.span);
        let outer = self.read_outer(&item.attrs, start);
        let mark = self.builder.enter_item();
        self.generics(&item.generics);
        let trait_path = item
            .trait_
            .as_ref()
            .and_then(|(path, _)| self.whole_path(path, Namespaces::TYPE));
        let self_path = match &*item.self_ty {
            syn::Type::Path(path) => {
                self.qualified(path.qself.as_ref(), &path.path, Namespaces::TYPE)
            }
            other => {
                self.visit_type(other);
                None
            }
        };
        self.visit_generics(&item.generics);
        self.inner_attributes(&item.attrs);
        for inner in &item.items {
            self.visit_impl_item(inner);
        }
        self.builder.leave(mark);
        let span = ByteSpan::new(outer.start, self.places.past(item.brace_token.span.close()));
        self.builder.facts.impls.push(Impl {
            scope: self.builder.scope,
            span,
            self_path,
            trait_path,
        });
    }

    fn signature(&mut self, signature: &syn::Signature) {
        self.generics(&signature.generics);
        self.visit_generics(&signature.generics);
        for input in &signature.inputs {
            self.visit_fn_arg(input);
        }
        self.visit_return_type(&signature.output);
    }

    /// A definition whose inside sees its own generics and nothing of the function around it.
    fn definition(
        &mut self,
        new: NewItem<'_>,
        generics: &syn::Generics,
        inside: impl FnOnce(&mut Self),
    ) {
        self.item(new);
        let mark = self.builder.enter_item();
        self.generics(generics);
        self.visit_generics(generics);
        inside(self);
        self.builder.leave(mark);
    }

    fn enumeration(&mut self, item: &syn::ItemEnum) {
        let start = self.places.start(item.enum_token.span);
        let body = self.places.start(item.brace_token.span.open());
        let end = self.places.past(item.brace_token.span.close());
        let new = NewItem::new(&item.attrs, &item.vis, &item.ident, start)
            .is(ItemKind::Enum, Namespaces::TYPE)
            .spans(body, end);
        let at = self.builder.facts.items.len();
        self.definition(new, &item.generics, |this| {
            let variants = item
                .variants
                .iter()
                .map(|variant| this.segment(&variant.ident))
                .collect();
            if let Some(item) = this.builder.facts.items.get_mut(at) {
                item.variants = variants;
            }
            for variant in &item.variants {
                this.visit_variant(variant);
            }
        });
    }

    fn structure(&mut self, item: &syn::ItemStruct) {
        let start = self.places.start(item.struct_token.span);
        let named = self.places.ident(&item.ident).end;
        let semi = item.semi_token.map(|token| self.places.past(token.span));
        let (body, end, namespaces) = match &item.fields {
            syn::Fields::Named(fields) => {
                let span = fields.brace_token.span;
                (
                    self.places.start(span.open()),
                    self.places.past(span.close()),
                    Namespaces::TYPE,
                )
            }
            _ => (
                semi.unwrap_or(named),
                semi.unwrap_or(named),
                Namespaces::TYPE.or(Namespaces::VALUE),
            ),
        };
        let new = NewItem::new(&item.attrs, &item.vis, &item.ident, start)
            .is(ItemKind::Struct, namespaces)
            .spans(body, end);
        self.definition(new, &item.generics, |this| this.visit_fields(&item.fields));
    }

    fn trait_item(&mut self, item: &syn::ItemTrait) {
        let start = self.places.start(
            item.unsafety
                .map_or(item.trait_token.span, |token| token.span),
        );
        let body = self.places.start(item.brace_token.span.open());
        let end = self.places.past(item.brace_token.span.close());
        let new = NewItem::new(&item.attrs, &item.vis, &item.ident, start)
            .is(ItemKind::Trait, Namespaces::TYPE)
            .spans(body, end);
        self.definition(new, &item.generics, |this| {
            for bound in &item.supertraits {
                this.visit_type_param_bound(bound);
            }
            for inner in &item.items {
                this.visit_trait_item(inner);
            }
        });
    }

    fn function(&mut self, item: &syn::ItemFn) {
        let start = self.signature_start(&item.sig);
        let body = self.places.start(item.block.brace_token.span.open());
        let end = self.places.past(item.block.brace_token.span.close());
        let new = NewItem::new(&item.attrs, &item.vis, &item.sig.ident, start)
            .is(ItemKind::Function, Namespaces::VALUE)
            .spans(body, end);
        self.item(new);
        self.proc_macro(&item.attrs);
        let mark = self.builder.enter_item();
        self.signature(&item.sig);
        self.visit_block(&item.block);
        self.builder.leave(mark);
    }

    fn signature_start(&self, signature: &syn::Signature) -> u32 {
        let mut start = self.places.start(signature.fn_token.span);
        let spans = [
            signature.constness.map(|token| token.span),
            signature.asyncness.map(|token| token.span),
        ];
        for span in spans.into_iter().flatten() {
            start = start.min(self.places.start(span));
        }
        if let Some(abi) = &signature.abi {
            start = start.min(self.places.start(abi.extern_token.span));
        }
        self.before_modifiers(start)
    }

    /// Steps back over `unsafe`, `safe` and `async`, which the syntax tree keeps in several places.
    fn before_modifiers(&self, start: u32) -> u32 {
        let mut at = start as usize;
        loop {
            let before = self.builder.text.get(..at).unwrap_or_default().trim_end();
            let word = ["unsafe", "safe", "async", "default", "auto", "const"]
                .iter()
                .find(|word| {
                    let rest = before.strip_suffix(*word);
                    rest.is_some_and(|rest| {
                        !rest.ends_with(|last: char| last.is_alphanumeric() || last == '_')
                    })
                });
            match word {
                Some(word) => at = before.len() - word.len(),
                None => return index(at),
            }
        }
    }

    fn simple(
        &mut self,
        new: NewItem<'_>,
        generics: Option<&syn::Generics>,
        inside: impl FnOnce(&mut Self),
    ) {
        let empty = syn::Generics::default();
        self.definition(new, generics.unwrap_or(&empty), inside);
    }

    fn foreign(&mut self, item: &syn::ForeignItem) {
        let (attributes, visibility, ident, kind, namespaces) = match item {
            syn::ForeignItem::Fn(item) => (
                &item.attrs,
                &item.vis,
                &item.sig.ident,
                ItemKind::Function,
                Namespaces::VALUE,
            ),
            syn::ForeignItem::Static(item) => (
                &item.attrs,
                &item.vis,
                &item.ident,
                ItemKind::Static,
                Namespaces::VALUE,
            ),
            syn::ForeignItem::Type(item) => (
                &item.attrs,
                &item.vis,
                &item.ident,
                ItemKind::TypeAlias,
                Namespaces::TYPE,
            ),
            other => return visit::visit_foreign_item(self, other),
        };
        let name = self.places.ident(ident);
        let new = NewItem::new(attributes, visibility, ident, name.start)
            .is(kind, namespaces)
            .spans(name.end, name.end);
        self.item(new);
        let mark = self.builder.enter_item();
        match item {
            syn::ForeignItem::Fn(item) => self.signature(&item.sig),
            syn::ForeignItem::Static(item) => self.visit_type(&item.ty),
            _ => {}
        }
        self.builder.leave(mark);
    }
}

/// An item as the visitor meets it.
struct NewItem<'a> {
    attributes: &'a [syn::Attribute],
    visibility: &'a syn::Visibility,
    name: &'a syn::Ident,
    start: u32,
    kind: ItemKind,
    namespaces: Namespaces,
    body: u32,
    end: u32,
}

impl<'a> NewItem<'a> {
    fn new(
        attributes: &'a [syn::Attribute],
        visibility: &'a syn::Visibility,
        name: &'a syn::Ident,
        start: u32,
    ) -> Self {
        let (kind, namespaces) = (ItemKind::Unknown, Namespaces::ALL);
        Self {
            attributes,
            visibility,
            name,
            start,
            kind,
            namespaces,
            body: start,
            end: start,
        }
    }

    fn is(self, kind: ItemKind, namespaces: Namespaces) -> Self {
        Self {
            kind,
            namespaces,
            ..self
        }
    }

    fn spans(self, body: u32, end: u32) -> Self {
        Self { body, end, ..self }
    }
}

/// A leaf of a use tree as a reader meets it.
#[derive(Clone, Copy)]
pub(super) struct Leaf {
    pub kind: LeafKind,
    pub own: u16,
    pub alias: Option<Segment>,
    pub span: ByteSpan,
}

impl Builder<'_> {
    /// Notes a leaf that is a name or `self`, below `prefix`.
    pub fn name_leaf(
        &mut self,
        name: Segment,
        alias: Option<Segment>,
        prefix: &mut Vec<Segment>,
        colons: bool,
    ) -> UseTree {
        let span = alias.map_or(name.span, |alias| name.span.cover(alias.span));
        if self.slice(name.span) == "self" && !prefix.is_empty() {
            return self.leaf(
                Leaf {
                    kind: LeafKind::SelfModule,
                    own: 0,
                    alias,
                    span,
                },
                prefix,
                colons,
            );
        }
        prefix.push(name);
        let tree = self.leaf(
            Leaf {
                kind: LeafKind::Name,
                own: 1,
                alias,
                span,
            },
            prefix,
            colons,
        );
        prefix.pop();
        tree
    }

    /// Notes a leaf with its whole path. Its declaration is the next one to be pushed.
    pub fn leaf(&mut self, leaf: Leaf, path: &[Segment], colons: bool) -> UseTree {
        let segments = self.push_segments(path);
        let declaration = index(self.facts.uses.len());
        let Leaf {
            kind,
            own,
            alias,
            span,
        } = leaf;
        let leaf = UseLeaf {
            declaration,
            kind,
            segments,
            own,
            alias,
            span,
            leading_colons: colons,
        };
        self.facts.leaves.push(leaf);
        UseTree::Leaf(index(self.facts.leaves.len() - 1))
    }
}

impl<'ast> Visit<'ast> for Extractor<'_, '_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.module(item);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.use_declaration(item);
    }

    fn visit_item_extern_crate(&mut self, item: &'ast syn::ItemExternCrate) {
        self.extern_crate(item);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(item);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.structure(item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.enumeration(item);
    }

    fn visit_item_union(&mut self, item: &'ast syn::ItemUnion) {
        let start = self.places.start(item.union_token.span);
        let span = item.fields.brace_token.span;
        let (body, end) = (
            self.places.start(span.open()),
            self.places.past(span.close()),
        );
        let new = NewItem::new(&item.attrs, &item.vis, &item.ident, start)
            .is(ItemKind::Union, Namespaces::TYPE)
            .spans(body, end);
        self.definition(new, &item.generics, |this| {
            this.visit_fields_named(&item.fields)
        });
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.trait_item(item);
    }

    fn visit_item_trait_alias(&mut self, item: &'ast syn::ItemTraitAlias) {
        let start = self.places.start(item.trait_token.span);
        let end = self.places.past(item.semi_token.span);
        let new = NewItem::new(&item.attrs, &item.vis, &item.ident, start)
            .is(ItemKind::Trait, Namespaces::TYPE)
            .spans(end, end);
        self.simple(new, Some(&item.generics), |this| {
            for bound in &item.bounds {
                this.visit_type_param_bound(bound);
            }
        });
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        let start = self.places.start(item.type_token.span);
        let end = self.places.past(item.semi_token.span);
        let new = NewItem::new(&item.attrs, &item.vis, &item.ident, start)
            .is(ItemKind::TypeAlias, Namespaces::TYPE)
            .spans(end, end);
        self.simple(new, Some(&item.generics), |this| this.visit_type(&item.ty));
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        let start = self.places.start(item.const_token.span);
        let end = self.places.past(item.semi_token.span);
        let body = self.places.start(item.eq_token.span);
        let new = NewItem::new(&item.attrs, &item.vis, &item.ident, start)
            .is(ItemKind::Const, Namespaces::VALUE)
            .spans(body, end);
        self.simple(new, Some(&item.generics), |this| {
            this.visit_type(&item.ty);
            this.visit_expr(&item.expr);
        });
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        let start = self.places.start(item.static_token.span);
        let end = self.places.past(item.semi_token.span);
        let body = self.places.start(item.eq_token.span);
        let new = NewItem::new(&item.attrs, &item.vis, &item.ident, start)
            .is(ItemKind::Static, Namespaces::VALUE)
            .spans(body, end);
        self.simple(new, None, |this| {
            this.visit_type(&item.ty);
            this.visit_expr(&item.expr);
        });
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        self.implementation(item);
    }

    fn visit_item_foreign_mod(&mut self, item: &'ast syn::ItemForeignMod) {
        self.attributes(&item.attrs);
        for inner in &item.items {
            self.foreign(inner);
        }
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        match &item.ident {
            Some(name) => self.macro_definition(item, name),
            None => {
                self.attributes(&item.attrs);
                self.macro_call(&item.mac, true);
            }
        }
    }

    fn visit_item(&mut self, item: &'ast syn::Item) {
        match item {
            syn::Item::Verbatim(tokens) => self.verbatim(tokens, true),
            _ => visit::visit_item(self, item),
        }
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        let mark = self.builder.mark();
        match item {
            syn::ImplItem::Fn(function) => {
                self.attributes(&function.attrs);
                self.visit_visibility(&function.vis);
                self.signature(&function.sig);
                self.visit_block(&function.block);
            }
            syn::ImplItem::Macro(call) => self.macro_call(&call.mac, true),
            syn::ImplItem::Verbatim(tokens) => self.verbatim(tokens, false),
            syn::ImplItem::Type(alias) => {
                self.generics(&alias.generics);
                visit::visit_impl_item_type(self, alias);
            }
            other => visit::visit_impl_item(self, other),
        }
        self.builder.leave(mark);
    }

    fn visit_trait_item(&mut self, item: &'ast syn::TraitItem) {
        let mark = self.builder.mark();
        match item {
            syn::TraitItem::Fn(function) => {
                self.attributes(&function.attrs);
                self.signature(&function.sig);
                if let Some(block) = &function.default {
                    self.visit_block(block);
                }
            }
            syn::TraitItem::Macro(call) => self.macro_call(&call.mac, true),
            syn::TraitItem::Verbatim(tokens) => self.verbatim(tokens, false),
            syn::TraitItem::Type(alias) => {
                self.generics(&alias.generics);
                visit::visit_trait_item_type(self, alias);
            }
            other => visit::visit_trait_item(self, other),
        }
        self.builder.leave(mark);
    }

    fn visit_visibility(&mut self, visibility: &'ast syn::Visibility) {
        if let syn::Visibility::Restricted(restricted) = visibility {
            self.restricted(restricted);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.whole_path(path, Namespaces::TYPE);
    }

    fn visit_type_path(&mut self, path: &'ast syn::TypePath) {
        self.qualified(path.qself.as_ref(), &path.path, Namespaces::TYPE);
    }

    fn visit_type(&mut self, ty: &'ast syn::Type) {
        match ty {
            syn::Type::Verbatim(tokens) => self.verbatim(tokens, false),
            _ => visit::visit_type(self, ty),
        }
    }

    fn visit_generic_argument(&mut self, argument: &'ast syn::GenericArgument) {
        match argument {
            syn::GenericArgument::Type(syn::Type::Path(path)) if path.qself.is_none() => {
                let primitive = path
                    .path
                    .get_ident()
                    .is_some_and(|name| PRIMITIVES.iter().any(|known| name == known));
                let value = if primitive {
                    Namespaces::TYPE
                } else {
                    Namespaces::VALUE
                };
                self.whole_path(&path.path, Namespaces::TYPE.or(value));
            }
            _ => visit::visit_generic_argument(self, argument),
        }
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        self.attribute(attribute);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.macro_call(mac, false);
    }

    fn visit_lit_str(&mut self, literal: &'ast syn::LitStr) {
        self.literal(literal);
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        self.block(block);
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        self.local(local);
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        self.value_path(path);
    }

    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        self.ident_pattern(pattern);
    }

    fn visit_pat_struct(&mut self, pattern: &'ast syn::PatStruct) {
        self.qualified(pattern.qself.as_ref(), &pattern.path, Namespaces::TYPE);
        for field in &pattern.fields {
            self.visit_field_pat(field);
        }
    }

    fn visit_pat_tuple_struct(&mut self, pattern: &'ast syn::PatTupleStruct) {
        self.qualified(pattern.qself.as_ref(), &pattern.path, Namespaces::VALUE);
        for element in &pattern.elems {
            self.visit_pat(element);
        }
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        let mark = self.builder.mark();
        visit::visit_arm(self, arm);
        self.builder.leave(mark);
    }

    fn visit_expr(&mut self, expression: &'ast syn::Expr) {
        self.expression(expression);
    }
}
