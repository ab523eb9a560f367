//! What is known of the types of expressions.

use syn::parse::Parser;

use super::{
    reader::{CallReader, expressions},
    values::{self, Value},
};
use crate::{
    facts::{ItemKind, Namespaces},
    resolve::Res,
};

/// What a value of one of these types holds.
fn held_by(of: &Value, types: &[&str]) -> Value {
    match of {
        Value::Standard(name, _) if types.contains(&name.as_str()) => of.argument(0),
        _ => Value::Unknown,
    }
}

/// Whether a function of the standard library gives what was in the place that it is given: `mem::take`.
fn is_out_of_place(path: &syn::Path) -> bool {
    let names: Vec<String> = path
        .segments
        .iter()
        .map(|one| one.ident.to_string())
        .collect();
    match names.as_slice() {
        [.., module, name] => module == "mem" && matches!(name.as_str(), "take" | "replace"),
        _ => false,
    }
}

impl CallReader<'_, '_> {
    /// The type of an expression.
    pub(super) fn value(&mut self, expression: &syn::Expr) -> Value {
        match expression {
            syn::Expr::Paren(inner) => self.value(&inner.expr),
            syn::Expr::Group(inner) => self.value(&inner.expr),
            syn::Expr::Reference(inner) => {
                let of = self.value(&inner.expr);
                Value::reference(inner.mutability.is_some(), of)
            }
            syn::Expr::Unary(inner) => self.value_of_unary(inner),
            syn::Expr::Cast(cast) => self.value_of(&cast.ty),
            syn::Expr::Path(path) if path.qself.is_none() => self.value_of_name(&path.path),
            syn::Expr::Struct(made) => self.made(&made.path),
            syn::Expr::Field(field) => {
                let of = self.value(&field.base);
                self.sources.field(&of, &field.member)
            }
            syn::Expr::Index(index) => self.value_at_index(index),
            syn::Expr::Try(inner) => held_by(&self.value(&inner.expr), &["Option", "Result"]),
            syn::Expr::Await(inner) => held_by(&self.value(&inner.base), &["Future"]),
            syn::Expr::MethodCall(call) => self.value_of_method(call),
            syn::Expr::Call(call) => self.value_of_call(call),
            syn::Expr::Block(block) => self.value_of_block(&block.block),
            syn::Expr::Unsafe(block) => self.value_of_block(&block.block),
            syn::Expr::If(of) => match (self.value_of_block(&of.then_branch), &of.else_branch) {
                (Value::Unknown, Some((_, other))) => self.value(other),
                (known, _) => known,
            },
            syn::Expr::Macro(call) => self.value_of_macro(&call.mac),
            other => self.value_of_literal(other),
        }
    }

    /// The same of what makes values of the language's own types.
    fn value_of_literal(&mut self, expression: &syn::Expr) -> Value {
        match expression {
            syn::Expr::Array(array) => {
                let first = array.elems.first().map(|one| self.value(one));
                Value::standard("[]", vec![first.unwrap_or(Value::Unknown)])
            }
            syn::Expr::Repeat(repeat) => Value::standard("[]", vec![self.value(&repeat.expr)]),
            syn::Expr::Tuple(tuple) => {
                let all = tuple.elems.iter().map(|one| self.value(one));
                Value::standard("()", all.collect())
            }
            syn::Expr::Lit(_) | syn::Expr::Closure(_) => Value::Other,
            syn::Expr::Range(_) => Value::standard("iterator", vec![Value::Other]),
            _ => Value::Unknown,
        }
    }

    fn value_of_unary(&mut self, unary: &syn::ExprUnary) -> Value {
        let of = self.value(&unary.expr);
        match (unary.op, &of) {
            (syn::UnOp::Deref(_), Value::Reference(_, inner)) => (**inner).clone(),
            (syn::UnOp::Deref(_), Value::Standard(name, _)) if name != "[]" => of.argument(0),
            (syn::UnOp::Not(_) | syn::UnOp::Neg(_), Value::Other) => Value::Other,
            _ => Value::Unknown,
        }
    }

    fn value_at_index(&mut self, index: &syn::ExprIndex) -> Value {
        let of = self.value(&index.expr);
        let of = of.behind().0;
        let range = matches!(&*index.index, syn::Expr::Range(_));
        let Value::Standard(name, _) = of else {
            return Value::Unknown;
        };
        match name.as_str() {
            "[]" | "Vec" | "VecDeque" if range => Value::standard("[]", vec![of.argument(0)]),
            "[]" | "Vec" | "VecDeque" => of.argument(0),
            "HashMap" | "BTreeMap" => of.argument(1),
            _ => Value::Unknown,
        }
    }

    fn value_of_name(&self, path: &syn::Path) -> Value {
        if let Some(name) = path.get_ident()
            && let Some(known) = self.values.get(&name.to_string())
        {
            return known.clone();
        }
        let at = path.segments.len().saturating_sub(1);
        match self.source.leads_to(path, at, Namespaces::VALUE) {
            Some(Res::Item(item)) => match self.sources.world[item].kind {
                ItemKind::Const | ItemKind::Static => self.sources.constant(item),
                ItemKind::Struct => Value::Item(item, Vec::new()),
                _ => Value::Other,
            },
            Some(Res::Variant(item, _)) => Value::Item(item, Vec::new()),
            _ => match self.before_last(path) {
                Some(of) if path.segments.len() > 1 && self.has_variant(&of, path) => of,
                _ => Value::Unknown,
            },
        }
    }

    fn has_variant(&self, of: &Value, path: &syn::Path) -> bool {
        let last = path.segments.last().map(|last| last.ident.to_string());
        match (of, last) {
            (Value::Item(item, _), Some(last)) => self.sources.world.has_variant(*item, &last),
            _ => false,
        }
    }

    /// The type that the path before the last name is.
    fn before_last(&self, path: &syn::Path) -> Option<Value> {
        let mut before = path.clone();
        before.segments.pop();
        before.segments.pop_punct();
        (!before.segments.is_empty()).then(|| {
            let ty = syn::Type::Path(syn::TypePath {
                attrs: Vec::new(),
                qself: None,
                path: before,
            });
            self.value_of(&ty)
        })
    }

    /// What is made by naming a struct or a variant.
    fn made(&self, path: &syn::Path) -> Value {
        let at = path.segments.len().saturating_sub(1);
        let spaces = Namespaces::TYPE.or(Namespaces::VALUE);
        match self.source.leads_to(path, at, spaces) {
            Some(Res::Variant(item, _)) => Value::Item(item, Vec::new()),
            _ => self.value_of(&syn::Type::Path(syn::TypePath {
                attrs: Vec::new(),
                qself: None,
                path: path.clone(),
            })),
        }
    }

    fn value_of_method(&mut self, call: &syn::ExprMethodCall) -> Value {
        let on = self.value(&call.receiver);
        let method = call.method.to_string();
        let (of, outer) = on.behind();
        if let Value::Item(item, _) = of {
            let given = self.sources.result(*item, of, &method);
            // A reference to what cannot be cloned is cloned itself.
            let clones = method == "clone" && given == Value::Unknown && outer.is_none();
            return if clones { on.clone() } else { given };
        }
        let known = values::result(&on, &method);
        match of.argument(0) {
            inner @ Value::Item(item, _) if known == Value::Unknown && of.shows_what_it_holds() => {
                self.sources.result(item, &inner, &method)
            }
            _ => known,
        }
    }

    fn value_of_call(&mut self, call: &syn::ExprCall) -> Value {
        let syn::Expr::Path(path) = &*call.func else {
            return Value::Unknown;
        };
        if path.qself.is_some() {
            return Value::Unknown;
        }
        let path = &path.path;
        let Some(last) = path.segments.last().map(|last| last.ident.to_string()) else {
            return Value::Unknown;
        };
        let first = call.args.first().map(|first| self.value(first));
        let first = first.unwrap_or(Value::Unknown);
        match self.value_of_called(path) {
            Some(known) => known,
            None if path.segments.len() == 1 => self.value_of_plain_call(&last, first),
            None => self.value_of_call_below(path, &last, first),
        }
    }

    /// What a function, a struct or a variant gives to which a path leads.
    fn value_of_called(&self, path: &syn::Path) -> Option<Value> {
        let at = path.segments.len() - 1;
        match self.source.leads_to(path, at, Namespaces::VALUE)? {
            Res::Item(item) => Some(match self.sources.world[item].kind {
                ItemKind::Function => self.sources.called(item),
                ItemKind::Struct => Value::Item(item, Vec::new()),
                _ => Value::Unknown,
            }),
            Res::Variant(item, _) => Some(Value::Item(item, Vec::new())),
            _ => None,
        }
    }

    /// What a call of a plain name gives that the language knows, by its first argument.
    fn value_of_plain_call(&self, name: &str, first: Value) -> Value {
        match name {
            _ if self.values.contains_key(name) => Value::Unknown,
            "Some" => Value::standard("Option", vec![first]),
            "Ok" => Value::standard("Result", vec![first, Value::Unknown]),
            "Self" => self.around.own.clone().unwrap_or(Value::Unknown),
            _ => Value::Unknown,
        }
    }

    /// What a function or a variant of a type gives, by its last name and its first argument.
    fn value_of_call_below(&self, path: &syn::Path, last: &str, first: Value) -> Value {
        if is_out_of_place(path)
            && let Value::Reference(_, of) = first
        {
            return *of;
        }
        match self.before_last(path) {
            Some(of @ Value::Item(item, _)) => match self.sources.world.has_variant(item, last) {
                true => of,
                false => self.sources.result(item, &of, last),
            },
            Some(Value::Standard(name, held)) => {
                let holders = ["Box", "Arc", "Rc", "Mutex", "RwLock", "RefCell"];
                let holds = holders.contains(&name.as_str());
                match last {
                    "new" if holds => Value::standard(&name, vec![first]),
                    "clone" if holds => first.behind().0.clone(),
                    "new" | "with_capacity" | "default" => Value::standard(&name, held),
                    _ => Value::Unknown,
                }
            }
            _ => Value::Unknown,
        }
    }

    /// A block that is its last expression, and no more.
    fn value_of_block(&mut self, block: &syn::Block) -> Value {
        match block.stmts.as_slice() {
            [syn::Stmt::Expr(last, None)] => self.value(last),
            _ => Value::Unknown,
        }
    }

    fn value_of_macro(&mut self, call: &syn::Macro) -> Value {
        let name = call.path.get_ident().map(ToString::to_string);
        match name.as_deref() {
            Some("vec") => {
                let first = expressions.parse2(call.tokens.clone()).ok();
                let first = first.and_then(|all| all.into_iter().next());
                let first = first.map(|first| self.value(&first));
                Value::standard("Vec", vec![first.unwrap_or(Value::Unknown)])
            }
            Some("format" | "stringify" | "concat" | "matches") => Value::Other,
            _ => Value::Unknown,
        }
    }
}
