//! The methods that a text calls and that a trait in scope may have to give it.
//!
//! What a bound gives to a type parameter needs no import: `graph.neighbors()` where `graph: G` and
//! `G: IntoNeighbors`. Receivers that are no plain parameter are not known, so their methods count.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Texts};
use syn::visit::{self, Visit};

use super::traits;
use crate::{
    facts::ItemKind,
    resolve::{ModuleId, Res, World},
    syntax,
};

/// How many traits above traits are followed.
const DEEPEST: usize = 8;

/// The names of methods that code in a module calls, but for those that its bounds give.
pub(super) fn called(
    world: &World,
    home: ModuleId,
    (text, span): (&str, ByteSpan),
    texts: &dyn Texts,
) -> BTreeSet<String> {
    let parsed = span.of(text).and_then(|text| syntax::parse_file(text).ok());
    let Some(parsed) = parsed else {
        return traits::method_names(text, span);
    };
    let mut reader = Reader {
        given: Given {
            world,
            texts,
            known: BTreeMap::new(),
        },
        home,
        bounds: BTreeMap::new(),
        called: BTreeSet::new(),
    };
    reader.visit_file(&parsed);
    let called = reader.called;
    drop(parsed);
    proc_macro2::extra::invalidate_current_thread_spans();
    called
}

/// What traits give, read once each.
struct Given<'g> {
    world: &'g World,
    texts: &'g dyn Texts,
    known: BTreeMap<(ModuleId, String), BTreeSet<String>>,
}

impl Given<'_> {
    /// The methods of the trait that a module calls so, those of the traits above it included.
    fn by(&mut self, home: ModuleId, name: &str, depth: usize) -> BTreeSet<String> {
        let key = (home, name.to_owned());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let mut found = BTreeSet::new();
        let world = self.world;
        let bindings = world.bindings(home, name);
        for binding in bindings.iter() {
            let Res::Item(item) = binding.res else {
                found.extend(traits::outside_methods(world, binding.res));
                continue;
            };
            let node = Some(&world[item]);
            let Some(node) = node.filter(|node| node.kind == ItemKind::Trait) else {
                continue;
            };
            let Some((methods, above)) = traits::read(world, item, self.texts) else {
                continue;
            };
            found.extend(methods);
            for name in above.iter().filter(|_| depth < DEEPEST) {
                found.extend(self.by(node.module, name, depth + 1));
            }
        }
        self.known.insert(key, found.clone());
        found
    }
}

struct Reader<'g> {
    given: Given<'g>,
    home: ModuleId,
    /// The traits that bound a type parameter or a plain parameter, by its name.
    bounds: BTreeMap<String, Vec<String>>,
    called: BTreeSet<String>,
}

impl Reader<'_> {
    /// Whether the bounds of what a name stands for give it a method.
    fn is_given(&mut self, name: &str, method: &str) -> bool {
        let traits = self.bounds.get(name).cloned().unwrap_or_default();
        traits
            .iter()
            .any(|bound| self.given.by(self.home, bound, 0).contains(method))
    }

    /// Whether the module has a trait of this tree by that name: `Trait::method` names its trait, and another one
    /// that has such a method, too, is not asked.
    fn is_trait(&self, name: &str) -> bool {
        let world = self.given.world;
        let bindings = world.bindings(self.home, name);
        let mut all = bindings.iter();
        all.any(|binding| match binding.res {
            Res::Item(item) => world[item].kind == ItemKind::Trait,
            _ => false,
        })
    }

    fn generics(&mut self, generics: &syn::Generics) {
        for parameter in generics.type_params() {
            let traits = traits_of(&parameter.bounds);
            let own = self.bounds.entry(parameter.ident.to_string()).or_default();
            own.extend(traits);
        }
        let clauses = generics.where_clause.iter();
        for predicate in clauses.flat_map(|clause| &clause.predicates) {
            if let syn::WherePredicate::Type(predicate) = predicate
                && let Some(name) = plain_type(&predicate.bounded_ty)
            {
                let own = self.bounds.entry(name).or_default();
                own.extend(traits_of(&predicate.bounds));
            }
        }
    }

    /// A function: its parameters have the bounds of their types, unless a pattern in it takes the
    /// name for something else.
    fn function(&mut self, signature: &syn::Signature, block: Option<&syn::Block>) {
        let outer = self.bounds.clone();
        self.generics(&signature.generics);
        let mut patterns = Patterns(BTreeSet::new());
        if let Some(block) = block {
            patterns.visit_block(block);
        }
        for input in &signature.inputs {
            let syn::FnArg::Typed(typed) = input else {
                continue;
            };
            let syn::Pat::Ident(name) = &*typed.pat else {
                continue;
            };
            let name = name.ident.to_string();
            let bounds = match &*typed.ty {
                syn::Type::ImplTrait(shown) => Some(traits_of(&shown.bounds)),
                other => plain_type(other).and_then(|name| self.bounds.get(&name).cloned()),
            };
            match bounds {
                Some(bounds) if !patterns.0.contains(&name) => self.bounds.insert(name, bounds),
                _ => self.bounds.remove(&name),
            };
        }
        if let Some(block) = block {
            self.visit_block(block);
        }
        self.bounds = outer;
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig, Some(&item.block));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, Some(&item.block));
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.function(&item.sig, item.default.as_ref());
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let outer = self.bounds.clone();
        self.generics(&item.generics);
        visit::visit_item_impl(self, item);
        self.bounds = outer;
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        let outer = self.bounds.clone();
        self.generics(&item.generics);
        let mut own = traits_of(&item.supertraits);
        own.push(item.ident.to_string());
        for name in ["self", "Self"] {
            self.bounds.insert(name.to_owned(), own.clone());
        }
        visit::visit_item_trait(self, item);
        self.bounds = outer;
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let method = call.method.to_string();
        let receiver = plain_receiver(&call.receiver);
        if !receiver.is_some_and(|name| self.is_given(&name, &method)) {
            self.called.insert(method);
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        let qself = path.qself.as_ref();
        // `<T as Trait>::method` names its trait, and no more than that.
        let named = qself.filter(|qself| qself.as_token.is_some());
        let skipped = named.map_or(0, |qself| qself.position);
        let rest = path.path.segments.iter().skip(skipped);
        let names: Vec<String> = rest.map(|segment| segment.ident.to_string()).collect();
        let counts = match names.as_slice() {
            [] => false,
            [_] => qself.is_some() && named.is_none(),
            [before, last] if qself.is_none() => {
                !self.is_trait(before) && !self.is_given(before, last)
            }
            _ => true,
        };
        self.called.extend(names.last().filter(|_| counts).cloned());
        visit::visit_expr_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let said = call.tokens.to_string();
        let whole = ByteSpan::from_range(0..said.len());
        self.called.extend(traits::method_names(&said, whole));
        if call.path.is_ident("write") || call.path.is_ident("writeln") {
            self.called.insert("write_fmt".to_owned());
        }
    }
}

/// Names that patterns bind.
struct Patterns(BTreeSet<String>);

impl<'ast> Visit<'ast> for Patterns {
    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        self.0.insert(pattern.ident.to_string());
        visit::visit_pat_ident(self, pattern);
    }
}

fn traits_of<'b>(bounds: impl IntoIterator<Item = &'b syn::TypeParamBound>) -> Vec<String> {
    let bounds = bounds.into_iter().filter_map(|bound| match bound {
        syn::TypeParamBound::Trait(bound) => bound.path.get_ident().or_else(|| {
            let mut segments = bound.path.segments.iter();
            let only = segments.next().filter(|_| segments.next().is_none());
            only.map(|segment| &segment.ident)
        }),
        _ => None,
    });
    bounds.map(ToString::to_string).collect()
}

/// The one name that a type is, behind any `&`.
fn plain_type(ty: &syn::Type) -> Option<String> {
    match ty {
        syn::Type::Reference(reference) => plain_type(&reference.elem),
        syn::Type::Path(path) if path.qself.is_none() => {
            path.path.get_ident().map(ToString::to_string)
        }
        _ => None,
    }
}

/// The one name that a receiver is, behind any `&`, `*` and parentheses.
fn plain_receiver(receiver: &syn::Expr) -> Option<String> {
    match receiver {
        syn::Expr::Paren(inner) => plain_receiver(&inner.expr),
        syn::Expr::Reference(inner) => plain_receiver(&inner.expr),
        syn::Expr::Unary(inner) if matches!(inner.op, syn::UnOp::Deref(_)) => {
            plain_receiver(&inner.expr)
        }
        syn::Expr::Path(path) if path.qself.is_none() => {
            path.path.get_ident().map(ToString::to_string)
        }
        _ => None,
    }
}
