//! What is known of the types of expressions.

use syn::{parse::Parser, punctuated::Punctuated};

use super::{
    Reader, is_module,
    kinds::{NUMBER, ReceiverKind},
    outside::{self, outside},
};

/// Traits whose functions give what may be of any type.
const GIVE_ANY: [&str; 4] = ["AsMut", "AsRef", "Clone", "ToOwned"];

/// Types of the standard library whose functions of these names make one of themselves, and nothing around it.
const MADE: [&str; 9] = [
    "BTreeMap",
    "BTreeSet",
    "BinaryHeap",
    "HashMap",
    "HashSet",
    "LinkedList",
    "String",
    "Vec",
    "VecDeque",
];
const MAKE: [&str; 4] = ["default", "from", "new", "with_capacity"];

impl Reader<'_> {
    /// What the path of a type before a function's name stands for.
    pub(super) fn kind_of_names(&self, path: &syn::ExprPath) -> Option<ReceiverKind> {
        let mut path = syn::TypePath {
            attrs: Vec::new(),
            qself: path.qself.clone(),
            path: path.path.clone(),
        };
        path.path.segments.pop();
        path.path.segments.pop_punct();
        let Some(last) = path.path.segments.last() else {
            let qself = path.qself.filter(|qself| qself.as_token.is_none())?;
            return self.kind_of_type(&qself.ty);
        };
        let last = last.ident.to_string();
        let is_no_type = is_module(&last) || GIVE_ANY.contains(&last.as_str());
        let kind = self.kind_of_type(&syn::Type::Path(path));
        // What `mem::take` or `Clone::clone` gives is of the type that it is given, and of none called `mem` or `Clone`.
        kind.filter(|kind| !(is_no_type && matches!(kind, ReceiverKind::Outside(..))))
    }

    /// What is known of the type of an expression.
    pub(super) fn kind(&mut self, expression: &syn::Expr) -> Option<ReceiverKind> {
        match expression {
            syn::Expr::Paren(inner) => self.kind(&inner.expr),
            syn::Expr::Group(inner) => self.kind(&inner.expr),
            syn::Expr::Reference(inner) => self.kind(&inner.expr),
            syn::Expr::Unary(inner) if matches!(inner.op, syn::UnOp::Deref(_)) => {
                let kind = self.kind(&inner.expr)?;
                self.given.pointed(kind)
            }
            syn::Expr::Cast(cast) => self.kind_of_type(&cast.ty),
            syn::Expr::Path(path) if path.qself.is_none() => self.kind_of_name(path),
            syn::Expr::Struct(made) => self.kind_of_made(made),
            syn::Expr::Field(field) => self.kind_of_field(field),
            syn::Expr::Index(index) => {
                let of = self.kind(&index.expr)?;
                outside::at_index(&of, matches!(&*index.index, syn::Expr::Range(_)))
            }
            syn::Expr::Try(inner) => {
                let of = self.kind(&inner.expr)?;
                outside::inside(&of, 0)
            }
            syn::Expr::MethodCall(call) => {
                let of = self.kind(&call.receiver)?;
                self.given.result(&of, &call.method.to_string())
            }
            syn::Expr::Call(call) => self.kind_of_call(call),
            syn::Expr::Block(block) => self.kind_of_block(&block.block),
            syn::Expr::Unsafe(block) => self.kind_of_block(&block.block),
            syn::Expr::Macro(call) => self.kind_of_macro(&call.mac),
            other => self.kind_of_value(other),
        }
    }

    /// The same of what makes values of the language's own types.
    fn kind_of_value(&mut self, expression: &syn::Expr) -> Option<ReceiverKind> {
        Some(match expression {
            syn::Expr::Array(array) => {
                let first = array.elems.first().and_then(|first| self.kind(first));
                outside("[]", vec![first])
            }
            syn::Expr::Repeat(repeat) => outside("[]", vec![self.kind(&repeat.expr)]),
            syn::Expr::Tuple(tuple) => {
                let all = tuple.elems.iter().map(|one| self.kind(one));
                outside("()", all.collect())
            }
            syn::Expr::Range(range) => {
                let start = range.start.as_ref().and_then(|start| self.kind(start));
                outside("Range", vec![start])
            }
            syn::Expr::Lit(literal) => match literal.lit {
                syn::Lit::Int(_) | syn::Lit::Float(_) => outside(NUMBER, Vec::new()),
                _ => outside("value", Vec::new()),
            },
            syn::Expr::Closure(_) => outside("value", Vec::new()),
            syn::Expr::Binary(binary) => {
                use syn::BinOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
                match binary.op {
                    And(_) | Eq(_) | Ge(_) | Gt(_) | Le(_) | Lt(_) | Ne(_) | Or(_) => {
                        outside("bool", Vec::new())
                    }
                    _ => return None,
                }
            }
            _ => return None,
        })
    }

    fn kind_of_name(&self, path: &syn::ExprPath) -> Option<ReceiverKind> {
        let Some(name) = path.path.get_ident() else {
            let last = path.path.segments.last()?.ident.to_string();
            let of = self.kind_of_names(path);
            return match of.filter(|of| self.given.has_variant(of, &last)) {
                None => self.given.constant(self.home, &path.path),
                found => found,
            };
        };
        match self.values.get(&name.to_string()) {
            None => self.given.constant(self.home, &path.path),
            known => known.cloned(),
        }
    }

    fn kind_of_made(&mut self, made: &syn::ExprStruct) -> Option<ReceiverKind> {
        let path = syn::TypePath {
            attrs: Vec::new(),
            qself: None,
            path: made.path.clone(),
        };
        let kind = self.kind_of_type(&syn::Type::Path(path))?;
        let values: Vec<_> = made
            .fields
            .iter()
            .map(|field| (field.member.clone(), self.kind(&field.expr)))
            .collect();
        Some(self.given.made(kind, &values))
    }

    fn kind_of_field(&mut self, field: &syn::ExprField) -> Option<ReceiverKind> {
        let of = self.kind(&field.base)?;
        self.given.field(&of, &field.member)
    }

    fn kind_of_call(&mut self, call: &syn::ExprCall) -> Option<ReceiverKind> {
        let syn::Expr::Path(path) = &*call.func else {
            return None;
        };
        let last = path.path.segments.last()?.ident.to_string();
        if let Some(of) = self.kind_of_names(path) {
            let is_outside =
                matches!(&of, ReceiverKind::Outside(name, _) if MADE.contains(&name.as_str()));
            if is_outside && MAKE.contains(&last.as_str()) {
                return Some(of);
            }
            let is_variant = self.given.has_variant(&of, &last);
            return match is_variant {
                true => Some(of),
                false => self.given.result(&of, &last),
            };
        }
        if path.qself.is_some() || self.values.contains_key(&last) {
            return None;
        }
        let kinds: Vec<_> = call.args.iter().map(|one| self.kind(one)).collect();
        match (last.as_str(), kinds.as_slice()) {
            ("Some", [held]) => return Some(outside("Option", vec![held.clone()])),
            ("Ok", [held]) => return Some(outside("Result", vec![held.clone(), None])),
            _ => {}
        }
        let Some(made) = self.given.constant(self.home, &path.path) else {
            return self.given.called(self.home, &path.path);
        };
        let members = (0..kinds.len()).map(syn::Member::from);
        let values: Vec<_> = members.zip(kinds).collect();
        Some(self.given.made(made, &values))
    }

    /// A block that is its last expression, and no more.
    fn kind_of_block(&mut self, block: &syn::Block) -> Option<ReceiverKind> {
        match block.stmts.as_slice() {
            [syn::Stmt::Expr(last, None)] => self.kind(last),
            _ => None,
        }
    }

    fn kind_of_macro(&mut self, call: &syn::Macro) -> Option<ReceiverKind> {
        let name = call.path.get_ident()?.to_string();
        match name.as_str() {
            "vec" => {
                let parser = Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
                let elements = parser.parse2(call.tokens.clone()).ok();
                let first = elements.as_ref().and_then(Punctuated::first);
                let first = first.and_then(|first| self.kind(first));
                Some(outside("Vec", vec![first]))
            }
            "format" | "stringify" | "concat" => Some(outside("str", Vec::new())),
            _ => None,
        }
    }
}
