//! Where the walk goes: expressions and statements, each to what looks at it.

use coalesce_model::ByteSpan;
use ruff_python_ast::{
    self as ast, Expr, ExprContext, Stmt,
    visitor::{self, Visitor},
};

use super::{Called, Detail, Evaluated, Walker, beside_names};
use crate::facts::Spanned;

impl<'t> Visitor<'t> for Walker<'t> {
    fn visit_stmt(&mut self, statement: &'t Stmt) {
        // Blocks bind as they go; what is one statement binds when it is through.
        let through = match statement {
            Stmt::Assign(_)
            | Stmt::AnnAssign(_)
            | Stmt::AugAssign(_)
            | Stmt::Import(_)
            | Stmt::ImportFrom(_)
            | Stmt::FunctionDef(_)
            | Stmt::ClassDef(_)
            | Stmt::TypeAlias(_) => self.span(statement).end,
            _ => 0,
        };
        let outer = std::mem::replace(&mut self.through, through);
        self.statement(statement);
        self.through = outer;
    }

    fn visit_with_item(&mut self, item: &'t ast::WithItem) {
        let outer = std::mem::replace(&mut self.called, Called::Callee);
        self.visit_expr(&item.context_expr);
        self.called = outer;
        if let Some(names) = &item.optional_vars {
            self.visit_expr(names);
        }
    }

    fn visit_annotation(&mut self, annotation: &'t Expr) {
        let outer = std::mem::replace(&mut self.annotation, true);
        let evaluated = match self.evaluated {
            Evaluated::Never => Evaluated::Never,
            _ => Evaluated::WithoutFuture,
        };
        let evaluated = std::mem::replace(&mut self.evaluated, evaluated);
        self.visit_expr(annotation);
        self.evaluated = evaluated;
        self.annotation = outer;
    }

    fn visit_expr(&mut self, expression: &'t Expr) {
        if self.detail != Detail::Structure {
            let texts = beside_names::texts_in(expression, self.start);
            self.found.beside_names.extend(texts);
        }
        match expression {
            Expr::Name(name) => self.name(name),
            Expr::Attribute(attribute) => self.attribute(attribute, expression),
            Expr::StringLiteral(literal) => self.string(literal),
            Expr::Subscript(subscript) => self.subscript(subscript),
            Expr::Lambda(lambda) => self.lambda(lambda),
            Expr::ListComp(found) => self.comprehension(&found.generators, &[&found.elt]),
            Expr::SetComp(found) => self.comprehension(&found.generators, &[&found.elt]),
            Expr::Generator(found) => self.comprehension(&found.generators, &[&found.elt]),
            Expr::DictComp(found) => {
                let key = found.key.as_deref().unwrap_or(&found.value);
                self.comprehension(&found.generators, &[key, &found.value]);
            }
            Expr::Named(named) => self.walrus(named),
            Expr::Call(call) => {
                self.call(call);
                self.arguments(call);
            }
            _ => visitor::walk_expr(self, expression),
        }
    }

    fn visit_type_param(&mut self, parameter: &'t ast::TypeParam) {
        self.bind_identifier(parameter.name());
        visitor::walk_type_param(self, parameter);
    }

    fn visit_interpolated_string_element(&mut self, element: &'t ast::InterpolatedStringElement) {
        if let ast::InterpolatedStringElement::Interpolation(part) = element
            && part.debug_text.is_some()
        {
            let span = self.span(&*part.expression);
            self.found.printed.push(span);
        }
        visitor::walk_interpolated_string_element(self, element);
    }

    fn visit_pattern(&mut self, pattern: &'t ast::Pattern) {
        match pattern {
            ast::Pattern::MatchAs(ast::PatternMatchAs {
                name: Some(name), ..
            })
            | ast::Pattern::MatchStar(ast::PatternMatchStar {
                name: Some(name), ..
            })
            | ast::Pattern::MatchMapping(ast::PatternMatchMapping {
                rest: Some(name), ..
            }) => self.bind_identifier(name),
            ast::Pattern::MatchValue(value) => {
                let span = self.span(&*value.value);
                self.found.patterns.push(span);
            }
            ast::Pattern::MatchMapping(mapping) => {
                let keys = mapping.keys.iter().map(|key| self.span(key));
                let keys: Vec<ByteSpan> = keys.collect();
                self.found.patterns.extend(keys);
            }
            _ => {}
        }
        visitor::walk_pattern(self, pattern);
    }
}

impl<'t> Walker<'t> {
    fn name(&mut self, name: &ast::ExprName) {
        let store = !matches!(name.ctx, ExprContext::Load);
        let span = self.span(name);
        if matches!(name.ctx, ExprContext::Store) {
            self.bind(name.id.as_str(), span, None);
        }
        if self.detail != Detail::Structure {
            let text = name.id.as_str().to_owned();
            self.use_name(vec![Spanned { text, span }], store);
        }
    }

    fn attribute(&mut self, attribute: &ast::ExprAttribute, expression: &'t Expr) {
        if self.detail == Detail::Structure {
            if !begins_with_name(attribute) {
                visitor::walk_expr(self, expression);
            }
            return;
        }
        let Some(chain) = self.chain(attribute) else {
            return visitor::walk_expr(self, expression);
        };
        self.use_name(chain, false);
        if let Some(last) = self.found.uses.last_mut() {
            last.assigned = !matches!(attribute.ctx, ExprContext::Load);
        }
    }

    fn lambda(&mut self, lambda: &'t ast::ExprLambda) {
        if let Some(parameters) = &lambda.parameters {
            self.parameters_outside(parameters);
        }
        self.within(false, true, |walker| {
            if let Some(parameters) = &lambda.parameters {
                walker.parameters_inside(parameters);
            }
            walker.visit_expr(&lambda.body);
        });
    }
}

/// Whether attributes are those of a name.
fn begins_with_name(attribute: &ast::ExprAttribute) -> bool {
    let mut value = &*attribute.value;
    while let Expr::Attribute(inner) = value {
        value = &inner.value;
    }
    value.is_name_expr()
}
