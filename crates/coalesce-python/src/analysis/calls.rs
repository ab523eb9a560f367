//! Calls, wherever they stand.

use ruff_python_ast::{
    Expr, ExprCall, Stmt,
    visitor::{self, Visitor},
};

/// All calls in some statements, an outer one before those inside of it.
pub(crate) fn calls_in(body: &[Stmt]) -> Vec<&ExprCall> {
    struct Calls<'t>(Vec<&'t ExprCall>);
    impl<'t> Visitor<'t> for Calls<'t> {
        fn visit_expr(&mut self, expression: &'t Expr) {
            self.0.extend(expression.as_call_expr());
            visitor::walk_expr(self, expression);
        }
    }
    let mut calls = Calls(Vec::new());
    calls.visit_body(body);
    calls.0
}
