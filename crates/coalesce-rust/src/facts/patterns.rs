//! Expressions and patterns: where local names come and go.

use coalesce_model::ByteSpan;
use syn::visit::{self, Visit};

use super::{Namespaces, ScopeKind, extract::Extractor};

impl Extractor<'_, '_> {
    /// A block; it gets a scope when it holds items.
    pub fn block(&mut self, block: &syn::Block) {
        let mark = self.builder.mark();
        let has_items = block
            .stmts
            .iter()
            .any(|statement| matches!(statement, syn::Stmt::Item(_)));
        let outer = has_items.then(|| {
            let span = self.places.between(&block.brace_token.span);
            self.builder.open_scope(ScopeKind::Block, span, span.start)
        });
        self.statements(&block.stmts);
        if let Some(outer) = outer {
            self.builder.scope = outer;
        }
        self.builder.leave(mark);
    }

    /// Statements in the innermost scope.
    pub fn statements(&mut self, statements: &[syn::Stmt]) {
        for statement in statements {
            self.visit_stmt(statement);
        }
    }

    /// `let`: the value and the `else` block do not see the new names.
    pub fn local(&mut self, local: &syn::Local) {
        for attribute in &local.attrs {
            self.visit_attribute(attribute);
        }
        if let Some(init) = &local.init {
            self.visit_expr(&init.expr);
            if let Some((_, diverge)) = &init.diverge {
                self.visit_expr(diverge);
            }
        }
        self.visit_pat(&local.pat);
    }

    /// An identifier binds, unless it can name a constant: those are written in capitals.
    pub fn ident_pattern(&mut self, pattern: &syn::PatIdent) {
        for attribute in &pattern.attrs {
            self.visit_attribute(attribute);
        }
        let span = self.places.ident(&pattern.ident);
        let name = self.builder.slice(span);
        let plain =
            pattern.by_ref.is_none() && pattern.mutability.is_none() && pattern.subpat.is_none();
        if plain && name.starts_with(|first: char| first.is_uppercase()) {
            self.constant_or_binding(span);
        } else {
            self.builder.bind(name, Namespaces::VALUE);
        }
        if let Some((_, inner)) = &pattern.subpat {
            self.visit_pat(inner);
        }
    }

    fn constant_or_binding(&mut self, span: ByteSpan) {
        let segment = self.builder.segment(span);
        if let Some(path) = self.builder.path(&[segment], false, Namespaces::VALUE)
            && let Some(path) = self.builder.facts.paths.get_mut(path as usize)
        {
            path.may_bind = true;
        }
    }

    /// An expression; those that bind names keep them to themselves.
    pub fn expression(&mut self, expression: &syn::Expr) {
        match expression {
            syn::Expr::Path(path) => self.value_path(path),
            syn::Expr::Struct(literal) => self.struct_literal(literal),
            syn::Expr::ForLoop(each) => self.for_loop(each),
            syn::Expr::Closure(_) | syn::Expr::While(_) => self.scoped(expression),
            syn::Expr::If(condition) => self.condition(condition),
            syn::Expr::Let(binding) => {
                self.visit_expr(&binding.expr);
                self.visit_pat(&binding.pat);
            }
            syn::Expr::Verbatim(tokens) => self.verbatim(tokens, false),
            _ => visit::visit_expr(self, expression),
        }
    }

    /// A path that names a value, in an expression or a pattern.
    pub fn value_path(&mut self, path: &syn::ExprPath) {
        self.expression_attributes(&path.attrs);
        self.qualified(path.qself.as_ref(), &path.path, Namespaces::VALUE);
    }

    fn expression_attributes(&mut self, attributes: &[syn::Attribute]) {
        for attribute in attributes {
            self.visit_attribute(attribute);
        }
    }

    fn scoped(&mut self, expression: &syn::Expr) {
        let mark = self.builder.mark();
        visit::visit_expr(self, expression);
        self.builder.leave(mark);
    }

    fn struct_literal(&mut self, literal: &syn::ExprStruct) {
        self.expression_attributes(&literal.attrs);
        self.qualified(literal.qself.as_ref(), &literal.path, Namespaces::TYPE);
        for field in &literal.fields {
            self.shorthand(field.colon_token.is_none(), &field.member);
            self.visit_field_value(field);
        }
        if let Some(rest) = &literal.rest {
            self.visit_expr(rest);
        }
    }

    /// Notes a field that is said by the name of what it gets.
    pub fn shorthand(&mut self, is_short: bool, member: &syn::Member) {
        if let (true, syn::Member::Named(name)) = (is_short, member) {
            let start = self.places.ident(name).start;
            self.builder.facts.shorthands.push(start);
        }
    }

    fn for_loop(&mut self, each: &syn::ExprForLoop) {
        self.expression_attributes(&each.attrs);
        self.visit_expr(&each.expr);
        let mark = self.builder.mark();
        self.visit_pat(&each.pat);
        self.visit_block(&each.body);
        self.builder.leave(mark);
    }

    /// Names of an `if let` are seen by its block, not by its `else`. A chain of `else if` is
    /// walked in a loop: it may be long.
    fn condition(&mut self, first: &syn::ExprIf) {
        let mut next = Some(first);
        while let Some(condition) = next {
            self.expression_attributes(&condition.attrs);
            let mark = self.builder.mark();
            self.visit_expr(&condition.cond);
            self.visit_block(&condition.then_branch);
            self.builder.leave(mark);
            next = match condition.else_branch.as_ref().map(|(_, branch)| &**branch) {
                Some(syn::Expr::If(inner)) => Some(inner),
                Some(other) => {
                    self.visit_expr(other);
                    None
                }
                None => None,
            };
        }
    }
}
