//! Items: functions, types, traits, constants, implementations.

use coalesce_model::ByteSpan;
use syn::visit::{self, Visit};

use super::{
    Impl, ImplFunction, Item, ItemKind, Namespaces, PathFact, Visibility, extract::Extractor,
    source::index,
};

impl Extractor<'_, '_> {
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

    /// Binds generic parameters; the caller leaves them.
    pub(super) fn generics(&mut self, generics: &syn::Generics) {
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

    pub(super) fn implementation(&mut self, item: &syn::ItemImpl) {
        let start = self.before_modifiers(self.places.start(item.impl_token.span));
        let outer = self.read_outer(&item.attrs, start);
        let mark = self.builder.enter_item();
        self.generics(&item.generics);
        let trait_path = item.trait_.as_ref();
        let trait_path = trait_path.and_then(|(path, _)| self.whole_path(path, Namespaces::TYPE));
        let self_path = self.path_of_self(&item.self_ty);
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
        let of = index(self.builder.facts.impls.len() - 1);
        self.impl_functions(of, &item.items);
    }

    /// The path of the type that an `impl` is for; none of a type that is no path.
    fn path_of_self(&mut self, kind: &syn::Type) -> Option<u32> {
        if let syn::Type::Path(path) = kind {
            return self.qualified(path.qself.as_ref(), &path.path, Namespaces::TYPE);
        }
        self.visit_type(kind);
        None
    }

    fn impl_functions(&mut self, of: u32, items: &[syn::ImplItem]) {
        for inner in items {
            if let syn::ImplItem::Fn(function) = inner {
                self.impl_function(of, function);
            }
        }
    }

    fn impl_function(&mut self, of: u32, function: &syn::ImplItemFn) {
        let name = self.segment(&function.sig.ident);
        let visibility = match &function.vis {
            syn::Visibility::Public(token) => Some(token.span),
            syn::Visibility::Restricted(restricted) => Some(restricted.pub_token.span),
            syn::Visibility::Inherited => None,
        };
        let before = function.attrs.iter().map(|one| one.pound_token.span);
        let before = before.chain(visibility).map(|span| self.places.start(span));
        let code = self.signature_start(&function.sig);
        let start = before.chain([code]).min().unwrap_or(code);
        let end = self.places.past(function.block.brace_token.span.close());
        let span = ByteSpan::new(start, end);
        let functions = &mut self.builder.facts.impl_functions;
        functions.push(ImplFunction { of, name, span });
    }

    pub(super) fn signature(&mut self, signature: &syn::Signature) {
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

    pub(super) fn enumeration(&mut self, item: &syn::ItemEnum) {
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

    pub(super) fn structure(&mut self, item: &syn::ItemStruct) {
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

    pub(super) fn trait_item(&mut self, item: &syn::ItemTrait) {
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

    pub(super) fn function(&mut self, item: &syn::ItemFn) {
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

    pub(super) fn foreign(&mut self, item: &syn::ForeignItem) {
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
        // Where a visibility would stand, before what says of a function whether it is safe.
        let start = match item {
            syn::ForeignItem::Fn(item) => self.signature_start(&item.sig),
            syn::ForeignItem::Static(item) => {
                self.before_modifiers(self.places.start(item.static_token.span))
            }
            syn::ForeignItem::Type(item) => self.places.start(item.type_token.span),
            _ => name.start,
        };
        let new = NewItem::new(attributes, visibility, ident, start)
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

    pub(super) fn union_item(&mut self, item: &syn::ItemUnion) {
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

    pub(super) fn trait_alias(&mut self, item: &syn::ItemTraitAlias) {
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

    pub(super) fn type_alias(&mut self, item: &syn::ItemType) {
        let start = self.places.start(item.type_token.span);
        let end = self.places.past(item.semi_token.span);
        let new = NewItem::new(&item.attrs, &item.vis, &item.ident, start)
            .is(ItemKind::TypeAlias, Namespaces::TYPE)
            .spans(end, end);
        self.simple(new, Some(&item.generics), |this| {
            let facts = &this.builder.facts;
            let (own, first) = (facts.items.len() - 1, facts.paths.len());
            this.visit_type(&item.ty);
            this.aliased(own, first, &item.ty);
        });
    }

    /// Notes the path that an alias stands for, where it does for one: among those from `first` on.
    fn aliased(&mut self, own: usize, first: usize, kind: &syn::Type) {
        let syn::Type::Path(path) = kind else { return };
        let start = path.path.segments.first();
        let start = start.filter(|_| path.qself.is_none());
        let Some(start) = start.map(|start| self.places.ident(&start.ident).start) else {
            return;
        };
        let facts = &mut self.builder.facts;
        let begins = |path: &PathFact| {
            let segments = facts.segments(path.segments);
            segments.first().is_some_and(|one| one.span.start == start)
        };
        let at = facts.paths.iter().skip(first).position(begins);
        let alias = at.map(|at| (index(own), index(first + at)));
        facts.aliases.extend(alias);
    }

    pub(super) fn constant(&mut self, item: &syn::ItemConst) {
        let start = self.places.start(item.const_token.span);
        let end = self.places.past(item.semi_token.span);
        let body = self.places.start(item.eq_token.span);
        let new = NewItem::new(&item.attrs, &item.vis, &item.ident, start)
            .is(ItemKind::Const, Namespaces::VALUE)
            .spans(body, end);
        self.value(new, Some(&item.generics), (&item.ty, &item.expr));
    }

    pub(super) fn static_item(&mut self, item: &syn::ItemStatic) {
        let start = self.places.start(item.static_token.span);
        let end = self.places.past(item.semi_token.span);
        let body = self.places.start(item.eq_token.span);
        let new = NewItem::new(&item.attrs, &item.vis, &item.ident, start)
            .is(ItemKind::Static, Namespaces::VALUE)
            .spans(body, end);
        self.value(new, None, (&item.ty, &item.expr));
    }

    /// A constant or a static, with its type and what it is.
    fn value(
        &mut self,
        new: NewItem<'_>,
        generics: Option<&syn::Generics>,
        (kind, value): (&syn::Type, &syn::Expr),
    ) {
        self.simple(new, generics, |this| {
            this.visit_type(kind);
            this.visit_expr(value);
        });
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
