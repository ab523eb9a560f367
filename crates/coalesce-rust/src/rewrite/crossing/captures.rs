//! Functions that return a type hidden behind a trait, which borrows nothing of what they are given before edition 2024,
//! and all of it from then on.
//!
//! Methods of traits, and of their `impl`s, borrow all of it in each edition.

use std::ops::Range;

use syn::visit::{self, Visit};

/// A function whose result comes to borrow more.
pub(super) struct Captured {
    pub name: String,
    pub place: Range<usize>,
}

/// Those of a text, where nothing says what they borrow.
pub(super) fn captured(file: &syn::File) -> Vec<Captured> {
    let mut reader = Reader::default();
    reader.visit_file(file);
    reader.found
}

#[derive(Default)]
struct Reader {
    found: Vec<Captured>,
    is_in_trait_impl: bool,
}

impl Reader {
    fn function(&mut self, signature: &syn::Signature) {
        let syn::ReturnType::Type(_, returned) = &signature.output else {
            return;
        };
        let mut hidden = HiddenResult::default();
        hidden.visit_type(returned);
        let mut given = Borrows::default();
        signature
            .inputs
            .iter()
            .for_each(|input| given.visit_fn_arg(input));
        if hidden.is_open && given.are_any {
            self.found.push(Captured {
                name: signature.ident.to_string(),
                place: signature.ident.span().byte_range(),
            });
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig);
        visit::visit_item_fn(self, item);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let outer = std::mem::replace(&mut self.is_in_trait_impl, item.trait_.is_some());
        visit::visit_item_impl(self, item);
        self.is_in_trait_impl = outer;
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !self.is_in_trait_impl {
            self.function(&item.sig);
        }
        visit::visit_impl_item_fn(self, item);
    }
}

/// Whether a type has an `impl Trait` that says no lifetime and not what it borrows.
#[derive(Default)]
struct HiddenResult {
    is_open: bool,
}

impl<'ast> Visit<'ast> for HiddenResult {
    fn visit_type_impl_trait(&mut self, kind: &'ast syn::TypeImplTrait) {
        let says = kind.bounds.iter().any(|bound| {
            matches!(
                bound,
                syn::TypeParamBound::Lifetime(_) | syn::TypeParamBound::PreciseCapture(_)
            )
        });
        let mut own = Borrows::default();
        kind.bounds
            .iter()
            .for_each(|bound| own.visit_type_param_bound(bound));
        self.is_open |= !says && !own.are_any;
    }
}

/// Whether something borrows, by a lifetime or a reference.
#[derive(Default)]
struct Borrows {
    are_any: bool,
}

impl<'ast> Visit<'ast> for Borrows {
    fn visit_lifetime(&mut self, lifetime: &'ast syn::Lifetime) {
        self.are_any |= lifetime.ident != "static";
    }

    fn visit_type_reference(&mut self, kind: &'ast syn::TypeReference) {
        let is_static = kind
            .lifetime
            .as_ref()
            .is_some_and(|one| one.ident == "static");
        self.are_any |= !is_static;
        visit::visit_type_reference(self, kind);
    }

    fn visit_receiver(&mut self, receiver: &'ast syn::Receiver) {
        self.are_any |= matches!(receiver.kind, syn::ReceiverKind::Reference(..));
        visit::visit_receiver(self, receiver);
    }
}
