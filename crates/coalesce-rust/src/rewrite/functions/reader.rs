//! The calls of a method in a file, each with what is known of what it is called on.

use std::{cell::Cell, collections::BTreeMap};

use coalesce_model::ByteSpan;
use syn::{
    parse::{ParseStream, Parser},
    spanned::Spanned,
    visit::{self, Visit},
};

use super::{
    documents::DocumentCode,
    sources::{ParsedFile, Sources, TypesAround},
    values::{self, CalledOnType, Value},
};
use crate::{
    resolve::ItemId,
    syntax::{self, FunctionReader},
    words::{EXPRESSION_MACROS, FORMAT_MACROS, LOG_MACROS},
};

/// How many types that hand calls on are followed.
const MOST_STEPS: usize = 8;

/// A call by a dot.
pub(super) struct DotCall {
    /// Where the name of the method begins.
    pub name: u32,
    /// What it is called on, without the parentheses around it.
    pub on: ByteSpan,
    /// The same with them.
    pub whole: ByteSpan,
    pub receiver: CalledOnType,
    /// The arguments of `::<…>`, and how many types are among them.
    pub generics: Option<ByteSpan>,
    /// The parenthesis before the arguments.
    pub open: u32,
    pub arguments: Vec<ByteSpan>,
    /// Whether saying what it is called on does nothing else.
    pub is_place: bool,
    /// The variable that it is called on, or is in.
    pub root: Option<String>,
    /// The macro in whose arguments it stands, where that may do anything with them.
    pub by_macro: Option<String>,
}

/// Reads the calls of a method of a type.
pub(super) fn calls(
    sources: &Sources<'_>,
    source: &ParsedFile,
    (of, method): (ItemId, &str),
) -> Vec<DotCall> {
    let mut reader = CallReader::new(sources, source, (of, method));
    reader.visit_file(&source.tree);
    reader.calls
}

/// The same of code in documentation.
pub(super) fn calls_in_document(
    sources: &Sources<'_>,
    code: &DocumentCode,
    (of, method): (ItemId, &str),
) -> Vec<DotCall> {
    let mut reader = CallReader::new(sources, &code.source, (of, method));
    for statement in &code.statements {
        reader.visit_stmt(statement);
    }
    reader.calls
}

pub(super) struct CallReader<'s, 'w> {
    pub(super) sources: &'s Sources<'w>,
    pub(super) source: &'s ParsedFile,
    of: ItemId,
    method: &'s str,
    pub(super) around: TypesAround,
    pub(super) values: BTreeMap<String, Value>,
    by_macro: Option<String>,
    calls: Vec<DotCall>,
}

impl<'s, 'w> CallReader<'s, 'w> {
    fn new(sources: &'s Sources<'w>, source: &'s ParsedFile, of: (ItemId, &'s str)) -> Self {
        let (of, method) = of;
        Self {
            sources,
            source,
            of,
            method,
            around: TypesAround::default(),
            values: BTreeMap::new(),
            by_macro: None,
            calls: Vec::new(),
        }
    }
}

impl CallReader<'_, '_> {
    pub(super) fn value_of(&self, ty: &syn::Type) -> Value {
        self.sources.value(self.source, ty, &self.around)
    }

    /// The type of a parameter: of one without a name nothing is known but its bounds.
    fn parameter(&self, ty: &syn::Type) -> Value {
        match ty {
            syn::Type::ImplTrait(of) if !self.says_deref(of) => Value::Other,
            syn::Type::Reference(reference) => {
                let inner = self.parameter(&reference.elem);
                Value::reference(reference.mutability.is_some(), inner)
            }
            ty => self.value_of(ty),
        }
    }

    fn value_of_receiver(&self, receiver: &syn::Receiver) -> Value {
        let own = self.around.own.clone().unwrap_or(Value::Unknown);
        match &receiver.kind {
            syn::ReceiverKind::Value => own,
            syn::ReceiverKind::Reference(_, _, mutable) => Value::reference(mutable.is_some(), own),
            syn::ReceiverKind::Typed(_, ty) => self.value_of(ty),
            _ => Value::Unknown,
        }
    }

    fn closure(&mut self, closure: &syn::ExprClosure, given: &[Value]) {
        self.within(|reader| {
            for (at, input) in closure.inputs.iter().enumerate() {
                let value = given.get(at).cloned().unwrap_or(Value::Unknown);
                reader.bind(input, &value);
            }
            reader.visit_expr(&closure.body);
        });
    }

    fn span(&self, of: &impl Spanned) -> ByteSpan {
        let span = of.span();
        ByteSpan::new(self.source.start(span), self.source.end(span))
    }

    /// Whether bounds may hand calls on to another type.
    fn says_deref(&self, bounds: &impl Spanned) -> bool {
        let said = self.span(bounds);
        let said = said.of(&self.source.text);
        said.is_none_or(|said| said.contains("Deref"))
    }

    fn note(&mut self, call: &syn::ExprMethodCall, on: &Value) {
        let receiver = self.receiver(on);
        let mut inner = &*call.receiver;
        while let syn::Expr::Paren(paren) = inner {
            inner = &paren.expr;
        }
        let generics = call.turbofish.as_ref().map(|one| self.span(&one.args));
        let found = DotCall {
            name: self.source.start(call.method.span()),
            on: self.span(&inner),
            whole: self.span(&call.receiver),
            receiver,
            generics,
            open: self.source.start(call.paren_token.span.open()),
            arguments: call.args.iter().map(|one| self.span(one)).collect(),
            is_place: is_place(inner),
            root: root_of(inner),
            by_macro: self.by_macro.clone(),
        };
        self.calls.push(found);
    }

    /// Whether the method, called on a value, is that of the type.
    fn receiver(&self, on: &Value) -> CalledOnType {
        let steps = Cell::new(0);
        let handed_on = |item: ItemId| {
            steps.set(steps.get() + 1);
            match self.sources.has_method(item, self.method) {
                true => None,
                // Some hand on to themselves.
                false if steps.get() > MOST_STEPS => Some(Value::Unknown),
                false => self.sources.handed_on(item),
            }
        };
        on.receiver(self.of, self.method, &handed_on)
    }

    /// Reads what a macro is given: expressions, or else statements.
    fn arguments_of_macro(&mut self, name: &str, tokens: &proc_macro2::TokenStream) {
        let parsed = match name {
            "matches" | "assert_matches" => matched.parse2(tokens.clone()).map(|value| vec![value]),
            _ => expressions.parse2(tokens.clone()),
        };
        if let Ok(all) = parsed {
            return self.within(|reader| all.iter().for_each(|one| reader.argument(one)));
        }
        if let Ok(statements) = syn::Block::parse_within.parse2(tokens.clone()) {
            self.within(|reader| statements.iter().for_each(|one| reader.visit_stmt(one)));
        }
    }

    /// Reads one argument of a macro: `name = value` gives a value.
    fn argument(&mut self, argument: &syn::Expr) {
        match argument {
            syn::Expr::Assign(named) => self.visit_expr(&named.right),
            other => self.visit_expr(other),
        }
    }
}

/// Whether an expression only says where something is.
fn is_place(expression: &syn::Expr) -> bool {
    match expression {
        syn::Expr::Path(_) => true,
        syn::Expr::Field(field) => is_place(&field.base),
        syn::Expr::Paren(inner) => is_place(&inner.expr),
        syn::Expr::Reference(inner) => is_place(&inner.expr),
        syn::Expr::Unary(inner) if matches!(inner.op, syn::UnOp::Deref(_)) => is_place(&inner.expr),
        _ => false,
    }
}

/// The variable that an expression begins with.
fn root_of(expression: &syn::Expr) -> Option<String> {
    match expression {
        syn::Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
        syn::Expr::Field(inner) => root_of(&inner.base),
        syn::Expr::Paren(inner) => root_of(&inner.expr),
        syn::Expr::Reference(inner) => root_of(&inner.expr),
        syn::Expr::Unary(inner) => root_of(&inner.expr),
        syn::Expr::Index(inner) => root_of(&inner.expr),
        syn::Expr::MethodCall(inner) => root_of(&inner.receiver),
        syn::Expr::Try(inner) => root_of(&inner.expr),
        _ => None,
    }
}

/// Expressions parted by commas or semicolons.
pub(super) fn expressions(input: ParseStream<'_>) -> syn::Result<Vec<syn::Expr>> {
    let mut found = Vec::new();
    while !input.is_empty() {
        found.push(input.parse()?);
        if input.is_empty() {
            break;
        }
        if input.peek(syn::Token![;]) {
            input.parse::<syn::Token![;]>()?;
        } else {
            input.parse::<syn::Token![,]>()?;
        }
    }
    Ok(found)
}

/// The value of `matches!(value, …)`.
fn matched(input: ParseStream<'_>) -> syn::Result<syn::Expr> {
    let value = input.parse()?;
    input.parse::<syn::Token![,]>()?;
    input.parse::<proc_macro2::TokenStream>()?;
    Ok(value)
}

impl<'ast> FunctionReader<'ast> for CallReader<'_, '_> {
    fn within(&mut self, read: impl FnOnce(&mut Self)) {
        let outer = (self.around.clone(), self.values.clone());
        read(self);
        (self.around, self.values) = outer;
    }

    fn forget_variables(&mut self) {
        self.values.clear();
    }

    /// Type parameters: what is called on a value of one is a trait's.
    fn generics(&mut self, generics: &syn::Generics) {
        let bounds = generics.params.iter().any(|one| self.says_deref(one));
        let mut clauses = generics.where_clause.iter();
        let known = match bounds || clauses.any(|clause| self.says_deref(clause)) {
            true => Value::Unknown,
            false => Value::Other,
        };
        for parameter in generics.type_params() {
            let name = parameter.ident.to_string();
            self.around.parameters.insert(name, known.clone());
        }
    }

    fn input(&mut self, input: &syn::FnArg) {
        match input {
            syn::FnArg::Typed(typed) => {
                let value = self.parameter(&typed.ty);
                self.bind(&typed.pat, &value);
            }
            syn::FnArg::Receiver(receiver) => {
                let own = self.value_of_receiver(receiver);
                self.values.insert("self".to_owned(), own);
            }
        }
    }
}

impl<'ast> Visit<'ast> for CallReader<'_, '_> {
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.within(|reader| {
            reader.around = TypesAround::default();
            reader.function(&item.sig, Some(&item.block));
        });
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, Some(&item.block));
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.function(&item.sig, item.default.as_ref());
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        self.within(|reader| {
            reader.around = TypesAround::default();
            reader.values.clear();
            reader.generics(&item.generics);
            reader.around.own = Some(reader.value_of(&item.self_ty));
            visit::visit_item_impl(reader, item);
        });
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.within(|reader| {
            reader.around = TypesAround::default();
            reader.values.clear();
            let hands_on = item.supertraits.iter().any(|one| reader.says_deref(one));
            reader.around.own = Some(match hands_on {
                true => Value::Unknown,
                false => Value::Other,
            });
            reader.generics(&item.generics);
            visit::visit_item_trait(reader, item);
        });
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        self.within(|reader| visit::visit_block(reader, block));
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        let given = syntax::visit_given(self, local);
        let value = given.map_or(Value::Unknown, |given| self.value(given));
        self.bind(&local.pat, &value);
    }

    fn visit_expr_match(&mut self, expression: &'ast syn::ExprMatch) {
        self.visit_expr(&expression.expr);
        let value = self.value(&expression.expr);
        for arm in &expression.arms {
            self.within(|reader| {
                reader.bind(&arm.pat, &value);
                if let syn::Pat::Guard(guarded) = &arm.pat {
                    reader.visit_expr(&guarded.guard);
                }
                reader.visit_expr(&arm.body);
            });
        }
    }

    fn visit_expr_let(&mut self, expression: &'ast syn::ExprLet) {
        self.visit_expr(&expression.expr);
        let value = self.value(&expression.expr);
        self.bind(&expression.pat, &value);
    }

    fn visit_expr_if(&mut self, expression: &'ast syn::ExprIf) {
        self.within(|reader| {
            reader.visit_expr(&expression.cond);
            reader.visit_block(&expression.then_branch);
        });
        if let Some((_, other)) = &expression.else_branch {
            self.visit_expr(other);
        }
    }

    fn visit_expr_while(&mut self, expression: &'ast syn::ExprWhile) {
        self.within(|reader| visit::visit_expr_while(reader, expression));
    }

    fn visit_expr_for_loop(&mut self, expression: &'ast syn::ExprForLoop) {
        self.visit_expr(&expression.expr);
        let value = self.value(&expression.expr);
        self.within(|reader| {
            reader.bind(&expression.pat, &values::element(&value));
            reader.visit_block(&expression.body);
        });
    }

    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        self.closure(closure, &[]);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let on = self.value(&call.receiver);
        if call.method == self.method {
            self.note(call, &on);
        }
        self.visit_expr(&call.receiver);
        let given = values::given(&on, &call.method.to_string());
        for argument in &call.args {
            match argument {
                syn::Expr::Closure(closure) => self.closure(closure, &given),
                other => self.visit_expr(other),
            }
        }
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        if !item.mac.path.is_ident("macro_rules") {
            visit::visit_item_macro(self, item);
        }
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let name = call.path.segments.last().map(|last| last.ident.to_string());
        let name = name.unwrap_or_default();
        let known = EXPRESSION_MACROS.contains(&name)
            || FORMAT_MACROS.contains(&name)
            || LOG_MACROS.contains(&name);
        let outer = self.by_macro.clone();
        if !known && self.by_macro.is_none() {
            self.by_macro = Some(name.clone());
        }
        self.arguments_of_macro(&name, &call.tokens);
        self.by_macro = outer;
    }
}
