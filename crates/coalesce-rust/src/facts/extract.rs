//! Reads the tables of a file off its syntax tree: items, modules, imports, and paths with scope.
//!
//! What it does with items, imports, patterns, attributes and macros is in files of those names.

use coalesce_model::ByteSpan;
use syn::visit::{self, Visit};

use super::{
    Namespaces, Origin, Segment, SourceFacts, Visibility, VisibilityKind, attributes::Outer, docs,
    parse::Source, places::Places, source::Builder, source::private,
};

/// Walks a syntax tree.
pub(super) struct Extractor<'b, 't> {
    pub places: &'b Places<'t>,
    pub builder: &'b mut Builder<'t>,
    pub docs: Vec<docs::DocLine>,
    /// How many macro calls are around what is read.
    pub macros: u32,
    buffer: Vec<Segment>,
}

/// The facts of a parsed file.
pub(super) fn file(source: &Source<'_>, file: &syn::File) -> SourceFacts {
    read(source, file, Builder::new(source.text)).facts
}

/// Fills the tables of a builder from a parsed file.
pub(super) fn read<'t>(
    source: &Source<'t>,
    file: &syn::File,
    mut builder: Builder<'t>,
) -> Builder<'t> {
    let places = Places::new(source.text, source.base);
    let mut extractor = Extractor::new(&places, &mut builder);
    let start = extractor
        .module_attributes(&file.attrs)
        .unwrap_or(source.base);
    if let Some(scope) = extractor.builder.facts.scopes.first_mut() {
        scope.items_start = start;
    }
    for item in &file.items {
        extractor.visit_item(item);
    }
    let lines = std::mem::take(&mut extractor.docs);
    docs::read(&mut builder, lines);
    builder
}

impl<'b, 't> Extractor<'b, 't> {
    pub fn new(places: &'b Places<'t>, builder: &'b mut Builder<'t>) -> Self {
        Self {
            places,
            builder,
            docs: Vec::new(),
            macros: 0,
            buffer: Vec::new(),
        }
    }

    /// Reads what stands at the head of the module whose scope is open; gives the end of it.
    pub(super) fn module_attributes(&mut self, attributes: &[syn::Attribute]) -> Option<u32> {
        let scope = self.builder.scope;
        for attribute in attributes {
            match &attribute.meta {
                syn::Meta::List(list)
                    if matches!(attribute.style, syn::AttrStyle::Inner(_))
                        && list.path.is_ident("cfg") =>
                {
                    let text = self.arguments_text(list).into();
                    self.builder.facts.inner_cfg.push((scope, text));
                }
                syn::Meta::Path(path)
                    if matches!(attribute.style, syn::AttrStyle::Inner(_))
                        && path.is_ident("macro_use") =>
                {
                    self.builder.facts.inner_macro_use.push(scope);
                }
                _ => {}
            }
        }
        self.inner_attributes(attributes)
    }

    /// Reads inner attributes and docs; gives the end of the last.
    pub(super) fn inner_attributes(&mut self, attributes: &[syn::Attribute]) -> Option<u32> {
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

    pub(super) fn visibility(
        &mut self,
        visibility: &syn::Visibility,
        otherwise: u32,
    ) -> Visibility {
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

    /// Reads the outer attributes of an item whose first token without them is at `start`.
    pub(super) fn outer(
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

    pub fn bind_ident(&mut self, ident: &syn::Ident, namespaces: Namespaces) {
        let name = self.builder.slice(self.places.ident(ident));
        self.builder.bind(name, namespaces);
    }

    pub(super) fn attributes(&mut self, attributes: &[syn::Attribute]) {
        for attribute in attributes {
            if matches!(attribute.style, syn::AttrStyle::Outer) {
                self.visit_attribute(attribute);
            }
        }
    }
}

impl<'ast> Visit<'ast> for Extractor<'_, '_> {
    fn visit_item_union(&mut self, item: &'ast syn::ItemUnion) {
        self.union_item(item);
    }

    fn visit_item_trait_alias(&mut self, item: &'ast syn::ItemTraitAlias) {
        self.trait_alias(item);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.type_alias(item);
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.constant(item);
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        self.static_item(item);
    }

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

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.trait_item(item);
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
                    .is_some_and(|name| crate::words::PRIMITIVES.contains(&name.to_string()));
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
            self.shorthand(field.colon_token.is_none(), &field.member);
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
