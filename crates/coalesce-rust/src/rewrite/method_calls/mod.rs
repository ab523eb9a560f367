//! The methods that a text calls and that a trait in scope may have to give it.
//!
//! What a bound gives to a type parameter needs no import: `graph.neighbors()` where `graph: G` and
//! `G: IntoNeighbors`; nor does what a type has by itself. Receivers are known as far as `kinds` tells;
//! the methods of all others count.

mod kinds;

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Texts};
use syn::{
    parse::Parser,
    punctuated::Punctuated,
    visit::{self, Visit},
};

use self::kinds::{Given, ReceiverKind, Scope};
use super::traits;
use crate::{
    facts::ItemKind,
    resolve::{ModuleId, Res, World},
    syntax,
};

/// Macros of the standard library whose arguments are expressions.
const OF_EXPRESSIONS: [&str; 22] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "dbg",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "eprint",
    "eprintln",
    "format",
    "format_args",
    "panic",
    "print",
    "println",
    "todo",
    "unimplemented",
    "unreachable",
    "vec",
    "write",
    "writeln",
    "ready",
    "matches",
];

/// The names of methods that code in a module calls, but for those that its bounds and types give.
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
        given: Given::new(world, texts),
        world,
        home,
        types: Scope::new(),
        values: Scope::new(),
        called: BTreeSet::new(),
    };
    reader.visit_file(&parsed);
    let called = reader.called;
    drop(reader.given);
    drop(parsed);
    proc_macro2::extra::invalidate_current_thread_spans();
    called
}

struct Reader<'g> {
    given: Given<'g>,
    world: &'g World,
    home: ModuleId,
    /// What type parameters and `Self` are known to be.
    types: Scope,
    /// The same of parameters and local variables.
    values: Scope,
    called: BTreeSet<String>,
}

impl Reader<'_> {
    /// Whether the module has a trait of this tree by that name: `Trait::method` names its trait, and another one
    /// that has such a method, too, is not asked.
    fn is_trait(&self, name: &str) -> bool {
        let bindings = self.world.bindings(self.home, name);
        let mut all = bindings.iter();
        all.any(|binding| match binding.res {
            Res::Item(item) => self.world[item].kind == ItemKind::Trait,
            _ => false,
        })
    }

    fn kind_of_type(&self, ty: &syn::Type) -> Option<ReceiverKind> {
        self.given.kind(self.home, &self.types, ty)
    }

    /// What the path of a type before a function's name stands for.
    fn kind_of_names(&self, path: &syn::ExprPath) -> Option<ReceiverKind> {
        let mut path = syn::TypePath {
            attrs: Vec::new(),
            qself: path.qself.clone(),
            path: path.path.clone(),
        };
        path.path.segments.pop();
        path.path.segments.pop_punct();
        if path.path.segments.is_empty() {
            let qself = path.qself.filter(|qself| qself.as_token.is_none())?;
            return self.kind_of_type(&qself.ty);
        }
        self.kind_of_type(&syn::Type::Path(path))
    }

    /// What is known of the type of an expression.
    fn kind(&mut self, expression: &syn::Expr) -> Option<ReceiverKind> {
        match expression {
            syn::Expr::Paren(inner) => self.kind(&inner.expr),
            syn::Expr::Group(inner) => self.kind(&inner.expr),
            syn::Expr::Reference(inner) => self.kind(&inner.expr),
            syn::Expr::Unary(inner) if matches!(inner.op, syn::UnOp::Deref(_)) => {
                self.kind(&inner.expr)
            }
            syn::Expr::Cast(cast) => self.kind_of_type(&cast.ty),
            syn::Expr::Path(path) if path.qself.is_none() => {
                let name = path.path.get_ident()?;
                self.values.get(&name.to_string()).cloned()
            }
            syn::Expr::Struct(made) => {
                let path = syn::TypePath {
                    attrs: Vec::new(),
                    qself: None,
                    path: made.path.clone(),
                };
                self.kind_of_type(&syn::Type::Path(path))
            }
            syn::Expr::Field(field) => {
                let of = self.kind(&field.base)?;
                self.given.field(&of, &field.member)
            }
            syn::Expr::MethodCall(call) => {
                let of = self.kind(&call.receiver)?;
                self.given.result(&of, &call.method.to_string())
            }
            syn::Expr::Call(call) => {
                let syn::Expr::Path(path) = &*call.func else {
                    return None;
                };
                let last = path.path.segments.last()?.ident.to_string();
                match self.kind_of_names(path) {
                    Some(of) => self.given.result(&of, &last),
                    None if path.qself.is_none() && !self.values.contains_key(&last) => {
                        self.given.called(self.home, &path.path)
                    }
                    None => None,
                }
            }
            _ => None,
        }
    }

    /// Reads something that has names of its own, and forgets them.
    fn within(&mut self, read: impl FnOnce(&mut Self)) {
        let outer = (self.types.clone(), self.values.clone());
        read(self);
        (self.types, self.values) = outer;
    }

    fn generics(&mut self, generics: &syn::Generics) {
        self.given.generics(self.home, generics, &mut self.types);
    }

    /// Takes a pattern's name for what is known of it.
    fn bind(&mut self, pattern: &syn::Pat, kind: Option<ReceiverKind>) {
        self.visit_pat(pattern);
        let mut pattern = pattern;
        while let syn::Pat::Type(typed) = pattern {
            pattern = &typed.pat;
        }
        if let (syn::Pat::Ident(name), Some(kind)) = (pattern, kind)
            && name.subpat.is_none()
        {
            self.values.insert(name.ident.to_string(), kind);
        }
    }

    fn function(&mut self, signature: &syn::Signature, block: Option<&syn::Block>) {
        self.within(|reader| {
            reader.generics(&signature.generics);
            for input in &signature.inputs {
                match input {
                    syn::FnArg::Typed(typed) => {
                        let kind = reader
                            .given
                            .parameter(reader.home, &reader.types, &typed.ty);
                        reader.bind(&typed.pat, kind);
                    }
                    syn::FnArg::Receiver(_) => {
                        let own = reader.types.get("Self").cloned();
                        reader
                            .values
                            .extend(own.map(|own| ("self".to_owned(), own)));
                    }
                }
            }
            if let Some(block) = block {
                reader.visit_block(block);
            }
        });
    }

    /// The arguments of a macro that takes expressions; whether they are that.
    fn arguments(&mut self, call: &syn::Macro) -> bool {
        let parser = Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
        let Ok(arguments) = parser.parse2(call.tokens.clone()) else {
            return false;
        };
        for argument in &arguments {
            match argument {
                syn::Expr::Assign(named) => self.visit_expr(&named.right),
                other => self.visit_expr(other),
            }
        }
        true
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
        self.within(|reader| {
            reader.types.remove("Self");
            reader.generics(&item.generics);
            let own = reader.kind_of_type(&item.self_ty);
            reader.types.extend(own.map(|own| ("Self".to_owned(), own)));
            visit::visit_item_impl(reader, item);
        });
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.within(|reader| {
            let home = reader.home;
            let mut own = reader.given.bounds(home, &item.supertraits);
            own.push((home, item.ident.to_string()));
            reader
                .types
                .insert("Self".to_owned(), ReceiverKind::Bounded(own));
            reader.generics(&item.generics);
            visit::visit_item_trait(reader, item);
        });
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        self.within(|reader| visit::visit_block(reader, block));
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        self.within(|reader| visit::visit_arm(reader, arm));
    }

    fn visit_expr_if(&mut self, expression: &'ast syn::ExprIf) {
        self.within(|reader| visit::visit_expr_if(reader, expression));
    }

    fn visit_expr_while(&mut self, expression: &'ast syn::ExprWhile) {
        self.within(|reader| visit::visit_expr_while(reader, expression));
    }

    fn visit_expr_for_loop(&mut self, expression: &'ast syn::ExprForLoop) {
        self.visit_expr(&expression.expr);
        self.within(|reader| {
            reader.visit_pat(&expression.pat);
            reader.visit_block(&expression.body);
        });
    }

    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        self.within(|reader| {
            for input in &closure.inputs {
                let kind = match input {
                    syn::Pat::Type(typed) => reader.kind_of_type(&typed.ty),
                    _ => None,
                };
                reader.bind(input, kind);
            }
            reader.visit_expr(&closure.body);
        });
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        let mut kind = None;
        if let Some(init) = &local.init {
            self.visit_expr(&init.expr);
            if let Some((_, diverge)) = &init.diverge {
                self.visit_expr(diverge);
            }
            kind = self.kind(&init.expr);
        }
        if let syn::Pat::Type(typed) = &local.pat {
            kind = self.kind_of_type(&typed.ty).or(kind);
        }
        self.bind(&local.pat, kind);
    }

    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        self.values.remove(&pattern.ident.to_string());
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let method = call.method.to_string();
        let kind = self.kind(&call.receiver);
        if !kind.is_some_and(|kind| self.given.gives(&kind, &method)) {
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
            [_] if named.is_some() || qself.is_none() => false,
            [before, _] if qself.is_none() && self.is_trait(before) => false,
            // `fs::read_to_string`: a function of a module is no method.
            [.., before, _] if is_module(before) => false,
            [.., last] => {
                let kind = self.kind_of_names(path);
                !kind.is_some_and(|kind| self.given.gives(&kind, last))
            }
        };
        self.called.extend(names.last().filter(|_| counts).cloned());
        visit::visit_expr_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let name = call.path.segments.last().map(|last| last.ident.to_string());
        let name = name.unwrap_or_default();
        if matches!(name.as_str(), "write" | "writeln") {
            self.called.insert("write_fmt".to_owned());
        }
        if !OF_EXPRESSIONS.contains(&name.as_str()) || !self.arguments(call) {
            let said = call.tokens.to_string();
            let whole = ByteSpan::from_range(0..said.len());
            self.called.extend(traits::method_names(&said, whole));
        }
    }
}

/// Whether a name before another one is a module's, as names are written: of types, only those of the language
/// itself begin with a small letter.
fn is_module(name: &str) -> bool {
    let small = name.starts_with(|first: char| first.is_lowercase() || first == '_');
    let number = matches!(name.chars().next(), Some('i' | 'u' | 'f'))
        && name
            .get(1..)
            .is_some_and(|size| size == "size" || size.parse::<u8>().is_ok());
    small && !number && !matches!(name, "bool" | "char" | "str")
}
