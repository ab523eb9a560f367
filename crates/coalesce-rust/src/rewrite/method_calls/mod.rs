//! The methods that a text calls and that a trait in scope may have to give it.
//!
//! What a bound gives to a type parameter needs no import: `graph.neighbors()` where `graph: G` and
//! `G: IntoNeighbors`; nor does what a type has by itself. Receivers are known as far as `kinds` tells;
//! the methods of all others count.

pub(crate) mod calls;
pub(crate) mod debugged;
mod expressions;
mod fields;
pub(crate) mod homes;
mod kinds;
mod members;
mod outside;
mod patterns;
mod receivers;

pub(crate) use receivers::receivers;

use coalesce_model::{ByteSpan, Texts};
use syn::{
    parse::Parser,
    punctuated::Punctuated,
    spanned::Spanned,
    visit::{self, Visit},
};

use self::{
    calls::{Called, CalledOn},
    debugged::DebuggedValues,
    kinds::{Given, ReceiverKind, Scope},
    receivers::KnownReceivers,
};
use super::macro_methods::{self, called_names};
use crate::{
    facts::ItemKind,
    resolve::{ModuleId, World},
    syntax::{self, FunctionReader},
    words::EXPRESSION_MACROS,
};

/// The names of methods that code in a module calls, but for those that its bounds and types give.
pub(crate) fn called(
    world: &World,
    home: ModuleId,
    (text, span): (&str, ByteSpan),
    texts: &dyn Texts,
) -> Called {
    let _trees = syntax::Trees::begin();
    let parsed = span.of(text).and_then(|text| syntax::parse_file(text).ok());
    let Some(parsed) = parsed else {
        let mut found = Called::default();
        found.extend_unknown(called_names(world, texts, text, span), Some(home));
        return found;
    };
    let mut reader = Reader::new(world, texts, home);
    reader.visit_file(&parsed);
    reader.called
}

struct Reader<'g> {
    given: Given<'g>,
    world: &'g World,
    texts: &'g dyn Texts,
    home: ModuleId,
    /// What type parameters and `Self` are known to be.
    types: Scope,
    /// The same of parameters and local variables.
    values: Scope,
    called: Called,
    /// What fields and methods are said of, where somebody asks for that.
    receivers: Option<KnownReceivers>,
    /// What is written by `Debug`, where somebody asks for that.
    debugged: Option<Vec<DebuggedValues>>,
}

impl<'g> Reader<'g> {
    /// One that knows nothing yet, of code in a module.
    fn new(world: &'g World, texts: &'g dyn Texts, home: ModuleId) -> Self {
        Self {
            given: Given::new(world, texts),
            world,
            texts,
            home,
            types: Scope::new(),
            values: Scope::new(),
            called: Called::default(),
            receivers: None,
            debugged: None,
        }
    }
}

impl Reader<'_> {
    /// Notes the method that `write!` and its like call on what they are given.
    fn write_call(&mut self, call: &syn::Macro, name: &str) {
        let target = first_argument(call);
        // A macro of the tree by that name may do anything.
        let mut items = self.world.items.iter();
        let is_own = items.any(|one| one.kind == ItemKind::Macro && one.name == name);
        let kind = target
            .filter(|_| !is_own)
            .and_then(|target| self.kind(&target));
        self.call(kind.as_ref(), "write_fmt".to_owned());
    }

    /// Whether the module has a trait of this tree by that name: `Trait::method` names its trait, and another one
    /// that has such a method, too, is not asked.
    fn is_trait(&self, name: &str) -> bool {
        let bindings = self.world.bindings(self.home, name);
        let mut all = bindings.iter();
        all.any(|binding| self.world.as_trait(binding.res).is_some())
    }

    fn kind_of_type(&self, ty: &syn::Type) -> Option<ReceiverKind> {
        self.given.kind(self.home, &self.types, ty)
    }

    /// Notes a call, unless what it is called on has the method by itself.
    fn call(&mut self, kind: Option<&ReceiverKind>, method: String) {
        let Some(kind) = kind else {
            return self.unknown(method);
        };
        match self.given.receiver(self.home, kind, &method) {
            Some(CalledOn::Unknown(_)) => self.unknown(method),
            Some(on) => self.called.add(method, on),
            None => {}
        }
    }

    /// Notes a call on what nobody can follow.
    fn unknown(&mut self, method: String) {
        let mut known = self.types.values();
        let bounded = known.any(|kind| {
            matches!(kind, ReceiverKind::Bounded(_)) && self.given.gives(kind, &method)
        });
        let on = match bounded {
            true => CalledOn::Bounded,
            false => CalledOn::Unknown(Some(self.home)),
        };
        self.called.add(method, on);
    }

    /// A closure that is given what is known of its arguments.
    fn closure(&mut self, closure: &syn::ExprClosure, given: &[Option<ReceiverKind>]) {
        self.within(|reader| {
            for (at, input) in closure.inputs.iter().enumerate() {
                reader.bind(input, given.get(at).cloned().flatten());
            }
            reader.visit_expr(&closure.body);
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

impl<'ast> FunctionReader<'ast> for Reader<'_> {
    fn within(&mut self, read: impl FnOnce(&mut Self)) {
        let outer = (self.types.clone(), self.values.clone());
        read(self);
        (self.types, self.values) = outer;
    }

    fn forget_variables(&mut self) {
        self.values.clear();
    }

    fn generics(&mut self, generics: &syn::Generics) {
        self.given.generics(self.home, generics, &mut self.types);
    }

    fn input(&mut self, input: &syn::FnArg) {
        match input {
            syn::FnArg::Typed(typed) => {
                let kind = self.given.parameter(self.home, &self.types, &typed.ty);
                self.bind(&typed.pat, kind);
            }
            syn::FnArg::Receiver(_) => {
                let own = self.types.get("Self").cloned();
                self.values.extend(own.map(|own| ("self".to_owned(), own)));
            }
        }
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
            own.traits.push((home, item.ident.to_string()));
            reader
                .types
                .insert("Self".to_owned(), ReceiverKind::Bounded(own));
            reader.generics(&item.generics);
            visit::visit_item_trait(reader, item);
        });
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let outer = self.home;
        if self.receivers.is_some() {
            let child = self.world.children.get(&(outer, item.ident.to_string()));
            self.home = child.copied().unwrap_or(outer);
        }
        visit::visit_item_mod(self, item);
        self.home = outer;
    }

    fn visit_expr_field(&mut self, field: &'ast syn::ExprField) {
        if self.receivers.is_some() {
            let kind = self.kind(&field.base);
            self.note(kind.as_ref(), field.member.span());
        }
        visit::visit_expr_field(self, field);
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        self.within(|reader| visit::visit_block(reader, block));
    }

    fn visit_expr_match(&mut self, expression: &'ast syn::ExprMatch) {
        self.visit_expr(&expression.expr);
        let kind = self.kind(&expression.expr);
        for arm in &expression.arms {
            self.within(|reader| {
                reader.bind(&arm.pat, kind.clone());
                reader.visit_expr(&arm.body);
            });
        }
    }

    fn visit_expr_let(&mut self, expression: &'ast syn::ExprLet) {
        self.visit_expr(&expression.expr);
        let kind = self.kind(&expression.expr);
        self.bind(&expression.pat, kind);
    }

    fn visit_expr_if(&mut self, expression: &'ast syn::ExprIf) {
        self.within(|reader| visit::visit_expr_if(reader, expression));
    }

    fn visit_expr_while(&mut self, expression: &'ast syn::ExprWhile) {
        self.within(|reader| visit::visit_expr_while(reader, expression));
    }

    fn visit_expr_for_loop(&mut self, expression: &'ast syn::ExprForLoop) {
        self.visit_expr(&expression.expr);
        let kind = self.kind(&expression.expr);
        let element = kind.and_then(|kind| outside::element(&kind));
        self.within(|reader| {
            reader.bind(&expression.pat, element);
            reader.visit_block(&expression.body);
        });
    }

    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        self.closure(closure, &[]);
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        let given = syntax::visit_given(self, local);
        let kind = given.and_then(|given| self.kind(given));
        self.bind(&local.pat, kind);
    }

    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        self.values.remove(&pattern.ident.to_string());
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let method = call.method.to_string();
        let kind = self.kind(&call.receiver);
        self.note(kind.as_ref(), call.method.span());
        self.call(kind.as_ref(), method.clone());
        self.visit_expr(&call.receiver);
        let given = kind.map_or_else(Vec::new, |kind| outside::given(&kind, &method));
        for argument in &call.args {
            match argument {
                syn::Expr::Closure(closure) => self.closure(closure, &given),
                other => self.visit_expr(other),
            }
        }
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        let qself = path.qself.as_ref();
        // `<T as Trait>::method` names its trait, and no more than that.
        let named = qself.filter(|qself| qself.as_token.is_some());
        let skipped = named.map_or(0, |qself| qself.position);
        let rest = path.path.segments.iter().skip(skipped);
        let names: Vec<String> = rest.map(|segment| segment.ident.to_string()).collect();
        match names.as_slice() {
            [] => {}
            [_] if named.is_some() || qself.is_none() => {}
            [before, _] if qself.is_none() && self.is_trait(before) => {}
            // `fs::read_to_string`: a function of a module is no method.
            [.., before, _] if is_module(before) => {}
            [.., last] => {
                let kind = self.kind_of_names(path);
                self.call(kind.as_ref(), last.clone());
            }
        }
        visit::visit_expr_path(self, path);
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        // What a macro calls is called where that is.
        if !item.mac.path.is_ident("macro_rules") {
            visit::visit_item_macro(self, item);
        }
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let name = call.path.segments.last().map(|last| last.ident.to_string());
        let name = name.unwrap_or_default();
        let arguments = call.tokens.to_string();
        let called = macro_methods::called_by(self.world, self.texts, &name, &arguments);
        for method in called.certain {
            self.unknown(method);
        }
        for method in called.doubtful {
            self.called.add(method, CalledOn::Doubtful);
        }
        self.note_debugged(call);
        if matches!(name.as_str(), "write" | "writeln") {
            self.write_call(call, &name);
        }
        if !EXPRESSION_MACROS.contains(&name) || !self.arguments(call) {
            let whole = ByteSpan::from_range(0..arguments.len());
            for method in called_names(self.world, self.texts, &arguments, whole) {
                self.unknown(method);
            }
        }
    }
}

/// The expression that a macro is given before the first comma.
fn first_argument(call: &syn::Macro) -> Option<syn::Expr> {
    let first = |input: syn::parse::ParseStream<'_>| {
        let first = input.parse::<syn::Expr>()?;
        input.parse::<proc_macro2::TokenStream>()?;
        Ok(first)
    };
    first.parse2(call.tokens.clone()).ok()
}

/// Whether a name before another one is a module's, as names are written: of types, only those of the language
/// itself begin with a small letter.
pub(super) fn is_module(name: &str) -> bool {
    let small = name.starts_with(|first: char| first.is_lowercase() || first == '_');
    let number = matches!(name.chars().next(), Some('i' | 'u' | 'f'))
        && name
            .get(1..)
            .is_some_and(|size| size == "size" || size.parse::<u8>().is_ok());
    small && !number && !matches!(name, "bool" | "char" | "str")
}
