//! How a file uses the paths that stand in it: as calls, as literals, with generic arguments.
//!
//! Keyed by the first byte of a path's last segment. What stands in macro calls that are not code
//! is not seen.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::Visit;

use crate::syntax;

/// Fields that a literal or a pattern names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Literal {
    pub names: BTreeSet<String>,
    /// Whether the other fields come from elsewhere, or do not matter.
    pub rest: bool,
}

/// The uses of paths in a file.
#[derive(Debug, Default)]
pub(super) struct Usage {
    /// Calls and tuple patterns, with how much they give.
    pub calls: BTreeMap<u32, usize>,
    pub literals: BTreeMap<u32, Literal>,
    /// Types and constants that are given.
    pub generics: BTreeMap<u32, usize>,
    /// Paths that stand for a value by themselves.
    pub values: BTreeSet<u32>,
    /// Names of methods that are called.
    methods: BTreeSet<u32>,
    /// Calls that are a statement, or the last thing in the block of one: nobody may use what they give.
    statements: BTreeSet<u32>,
    offset: usize,
}

impl Usage {
    pub fn of(text: &str) -> Self {
        let _trees = syntax::Trees::begin();
        let plain = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut usage = Self {
            offset: text.len() - plain.len(),
            ..Self::default()
        };
        if plain.starts_with("#!") && !plain.starts_with("#![") {
            // A line for the shell is left out by the parser.
            usage.offset += plain.find('\n').unwrap_or(0);
        }
        let code = text.get(usage.offset..).unwrap_or_default();
        if let Ok(file) = syntax::parse::<syn::File>(code) {
            usage.visit_file(&file);
        }
        usage
    }

    /// Whether something stands where what it gives is used; not known of macro calls that are no code.
    pub fn consumes(&self, place: u32) -> bool {
        let is_read = self.values.contains(&place) || self.methods.contains(&place);
        is_read && !self.statements.contains(&place)
    }

    fn place(&self, path: &syn::Path) -> Option<u32> {
        self.start(&path.segments.last()?.ident)
    }

    fn start(&self, ident: &proc_macro2::Ident) -> Option<u32> {
        let start = ident.span().byte_range().start;
        u32::try_from(start + self.offset).ok()
    }

    /// Notes the calls that give a statement its value.
    fn statement(&mut self, expression: &syn::Expr) {
        match expression {
            syn::Expr::Call(call) => {
                if let syn::Expr::Path(path) = &*call.func {
                    self.statements.extend(self.place(&path.path));
                }
            }
            syn::Expr::MethodCall(call) => self.statements.extend(self.start(&call.method)),
            syn::Expr::Await(awaited) => self.statement(&awaited.base),
            syn::Expr::Paren(inner) => self.statement(&inner.expr),
            syn::Expr::Group(inner) => self.statement(&inner.expr),
            syn::Expr::Block(inner) => self.last_of(&inner.block),
            syn::Expr::Unsafe(inner) => self.last_of(&inner.block),
            syn::Expr::If(branches) => {
                self.last_of(&branches.then_branch);
                if let Some((_, other)) = &branches.else_branch {
                    self.statement(other);
                }
            }
            syn::Expr::Match(arms) => {
                for arm in &arms.arms {
                    self.statement(&arm.body);
                }
            }
            _ => {}
        }
    }

    fn last_of(&mut self, block: &syn::Block) {
        if let Some(syn::Stmt::Expr(last, _)) = block.stmts.last() {
            self.statement(last);
        }
    }

    fn tokens(&mut self, tokens: &proc_macro2::TokenStream) {
        let parser = syn::punctuated::Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
        if let Ok(list) = syn::parse::Parser::parse2(parser, tokens.clone()) {
            for expression in &list {
                self.visit_expr(expression);
            }
        }
    }
}

impl<'ast> Visit<'ast> for Usage {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        for segment in &path.segments {
            let syn::PathArguments::AngleBracketed(arguments) = &segment.arguments else {
                continue;
            };
            let given = arguments.args.iter().filter(|argument| {
                matches!(
                    argument,
                    syn::GenericArgument::Type(_) | syn::GenericArgument::Const(_)
                )
            });
            let start = segment.ident.span().byte_range().start + self.offset;
            if let (Ok(start), count @ 1..) = (u32::try_from(start), given.count()) {
                self.generics.insert(start, count);
            }
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let syn::Expr::Path(path) = &*call.func
            && let Some(place) = self.place(&path.path)
        {
            self.calls.insert(place, call.args.len());
        }
        syn::visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.methods.extend(self.start(&call.method));
        syn::visit::visit_expr_method_call(self, call);
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        let last = block.stmts.len().saturating_sub(1);
        for (at, statement) in block.stmts.iter().enumerate() {
            if let syn::Stmt::Expr(expression, semicolon) = statement
                && (at < last || semicolon.is_some())
            {
                self.statement(expression);
            }
        }
        syn::visit::visit_block(self, block);
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        self.values.extend(self.place(&path.path));
        syn::visit::visit_expr_path(self, path);
    }

    fn visit_expr_struct(&mut self, literal: &'ast syn::ExprStruct) {
        if let Some(place) = self.place(&literal.path) {
            let names = literal.fields.iter().map(|field| name(&field.member));
            let found = Literal {
                names: names.collect(),
                rest: literal.rest.is_some() || literal.dot2_token.is_some(),
            };
            self.literals.insert(place, found);
        }
        syn::visit::visit_expr_struct(self, literal);
    }

    fn visit_pat_struct(&mut self, pattern: &'ast syn::PatStruct) {
        if let Some(place) = self.place(&pattern.path) {
            let names = pattern.fields.iter().map(|field| name(&field.member));
            let found = Literal {
                names: names.collect(),
                rest: pattern.rest.is_some(),
            };
            self.literals.insert(place, found);
        }
        syn::visit::visit_pat_struct(self, pattern);
    }

    fn visit_pat_tuple_struct(&mut self, pattern: &'ast syn::PatTupleStruct) {
        let open = pattern
            .elems
            .iter()
            .any(|element| matches!(element, syn::Pat::Rest(_)));
        if let Some(place) = self.place(&pattern.path).filter(|_| !open) {
            self.calls.insert(place, pattern.elems.len());
        }
        syn::visit::visit_pat_tuple_struct(self, pattern);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.tokens(&call.tokens);
        syn::visit::visit_macro(self, call);
    }
}

fn name(member: &syn::Member) -> String {
    match member {
        syn::Member::Named(name) => name.to_string(),
        syn::Member::Unnamed(index) => index.index.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_are_found_where_they_stand() {
        let text = "fn f() { a::b(1, 2); println!(\"{}\", c(3)); let S { x, .. } = d::<u8>(); }";
        let usage = Usage::of(text);
        let at = |name: &str| u32::try_from(text.find(name).unwrap()).unwrap();
        assert_eq!(usage.calls.get(&at("b(1")), Some(&2));
        assert_eq!(usage.calls.get(&at("c(3")), Some(&1));
        assert_eq!(usage.generics.get(&at("d::<")), Some(&1));
        assert!(usage.literals.get(&at("S {")).unwrap().rest);
    }
}
