//! Functions that return a type hidden behind a trait, which borrows nothing of what they are given before edition 2024,
//! and all of it from then on.
//!
//! Methods of traits, and of their `impl`s, borrow all of it in each edition.

use std::{collections::BTreeSet, ops::Range};

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
    /// The lifetimes that the `impl` around declares, which `self` may have.
    of_impl: BTreeSet<String>,
    is_in_trait_impl: bool,
}

impl Reader {
    fn function(&mut self, signature: &syn::Signature) {
        let syn::ReturnType::Type(_, returned) = &signature.output else {
            return;
        };
        let mut given = Borrows::default();
        for input in &signature.inputs {
            given.visit_fn_arg(input);
            if let syn::FnArg::Receiver(_) = input {
                given.named.extend(self.of_impl.iter().cloned());
            }
        }
        let mut hidden = HiddenResult {
            given,
            is_open: false,
        };
        hidden.visit_type(returned);
        if hidden.is_open {
            self.found.push(Captured {
                name: signature.ident.to_string(),
                place: signature.ident.span().byte_range(),
            });
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        let of_impl = std::mem::take(&mut self.of_impl);
        self.function(&item.sig);
        visit::visit_item_fn(self, item);
        self.of_impl = of_impl;
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let declared = item.generics.lifetimes();
        let declared = declared.map(|one| one.lifetime.ident.to_string()).collect();
        let of_impl = std::mem::replace(&mut self.of_impl, declared);
        let outer = std::mem::replace(&mut self.is_in_trait_impl, item.trait_.is_some());
        visit::visit_item_impl(self, item);
        self.is_in_trait_impl = outer;
        self.of_impl = of_impl;
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !self.is_in_trait_impl {
            self.function(&item.sig);
        }
        visit::visit_impl_item_fn(self, item);
    }
}

/// Whether a type has an `impl Trait` that does not say all that its function is given to borrow.
struct HiddenResult {
    given: Borrows,
    is_open: bool,
}

impl<'ast> Visit<'ast> for HiddenResult {
    fn visit_type_impl_trait(&mut self, kind: &'ast syn::TypeImplTrait) {
        // A bound by a lifetime ends all that is borrowed, `use<…>` lists it.
        let says_all = kind.bounds.iter().any(|bound| {
            matches!(
                bound,
                syn::TypeParamBound::Lifetime(_) | syn::TypeParamBound::PreciseCapture(_)
            )
        });
        let mut said = Borrows::default();
        for bound in &kind.bounds {
            said.visit_type_param_bound(bound);
        }
        self.is_open |= !says_all && self.given.has_more_than(&said);
    }
}

/// What something borrows, by lifetimes and references.
#[derive(Default)]
struct Borrows {
    /// The lifetimes that are said by their names, but for `'static`.
    named: BTreeSet<String>,
    /// How many are not said: `&T`, `'_`.
    elided: usize,
}

impl Borrows {
    /// Whether this has a lifetime that `said` leaves out: one that is not said is the same all over a result, that of
    /// `self` or of the only argument.
    fn has_more_than(&self, said: &Self) -> bool {
        self.elided > usize::from(said.elided > 0) || !self.named.is_subset(&said.named)
    }
}

impl<'ast> Visit<'ast> for Borrows {
    fn visit_lifetime(&mut self, lifetime: &'ast syn::Lifetime) {
        match lifetime.ident.to_string().as_str() {
            "static" => {}
            "_" => self.elided += 1,
            name => {
                self.named.insert(name.to_owned());
            }
        }
    }

    fn visit_type_reference(&mut self, kind: &'ast syn::TypeReference) {
        self.elided += usize::from(kind.lifetime.is_none());
        visit::visit_type_reference(self, kind);
    }

    fn visit_receiver(&mut self, receiver: &'ast syn::Receiver) {
        // `self: &Self` says its type; `&self` has none that is written.
        let elided = match &receiver.kind {
            syn::ReceiverKind::Reference(_, lifetime, _) => lifetime.is_none(),
            _ => false,
        };
        self.elided += usize::from(elided);
        visit::visit_receiver(self, receiver);
    }

    // What functions are given borrows for their calls only.
    fn visit_parenthesized_generic_arguments(
        &mut self,
        _: &'ast syn::ParenthesizedGenericArguments,
    ) {
    }

    fn visit_type_fn_ptr(&mut self, _: &'ast syn::TypeFnPtr) {}

    fn visit_bound_lifetimes(&mut self, _: &'ast syn::BoundLifetimes) {}
}
