//! Functions that are one text but for few places: copies of which one was changed. That both give one type does not
//! tell that their users mind as little as of two functions that somebody wrote apart.

use ruff_python_ast::{
    self as ast, BoolOp, CmpOp, Expr, Operator, Stmt, StmtFunctionDef, UnaryOp,
    comparable::{ComparableExpr, ComparableStmt},
    visitor::transformer::{self, Transformer},
};

/// Whether two functions of other texts are copies, one of which was changed.
pub(super) fn are_copies(was: &StmtFunctionDef, is: &StmtFunctionDef) -> bool {
    are_one_but_for_values(was, is) || share_most(was, is)
}

/// Whether they are one text but for values and operators: `x + 1` and `x - 2`.
fn are_one_but_for_values(was: &StmtFunctionDef, is: &StmtFunctionDef) -> bool {
    let of_any_value = |function: &StmtFunctionDef| {
        let mut body = function.body.clone();
        for statement in &mut body {
            WithoutValues.visit_stmt(statement);
        }
        body
    };
    let (was, is) = (of_any_value(was), of_any_value(is));
    let mut both = was.iter().zip(&is);
    was.len() == is.len() && both.all(|(a, b)| ComparableStmt::from(a) == ComparableStmt::from(b))
}

/// Puts one value in the place of all, and one operator of each kind.
struct WithoutValues;

impl Transformer for WithoutValues {
    fn visit_expr(&self, expr: &mut Expr) {
        transformer::walk_expr(self, expr);
        if expr.is_literal_expr() || expr.is_f_string_expr() {
            *expr = Expr::NoneLiteral(ast::ExprNoneLiteral::default());
        }
    }

    fn visit_bool_op(&self, operator: &mut BoolOp) {
        *operator = BoolOp::And;
    }

    fn visit_operator(&self, operator: &mut Operator) {
        *operator = Operator::Add;
    }

    fn visit_unary_op(&self, operator: &mut UnaryOp) {
        *operator = UnaryOp::Not;
    }

    fn visit_cmp_op(&self, operator: &mut CmpOp) {
        *operator = CmpOp::Eq;
    }
}

/// A statement, or what begins one that has others inside.
#[derive(PartialEq)]
enum StatementPart<'a> {
    Whole(Box<ComparableStmt<'a>>),
    Head(ComparableExpr<'a>),
}

/// Whether two thirds of the shorter one's statements, and half of the longer one's, are those of the other, too.
fn share_most(was: &StmtFunctionDef, is: &StmtFunctionDef) -> bool {
    let (mut old, mut new) = (Vec::new(), Vec::new());
    parts(&was.body, &mut old);
    parts(&is.body, &mut new);
    let (shorter, longer) = (old.len().min(new.len()), old.len().max(new.len()));
    let mut shared = 0;
    for part in &old {
        if let Some(at) = new.iter().position(|other| other == part) {
            new.swap_remove(at);
            shared += 1;
        }
    }
    shared > 0 && shared * 3 >= shorter * 2 && shared * 2 >= longer
}

fn parts<'a>(body: &'a [Stmt], found: &mut Vec<StatementPart<'a>>) {
    for statement in body {
        let bodies: Vec<&'a [Stmt]> = match statement {
            Stmt::If(one) => {
                found.push(StatementPart::Head((&*one.test).into()));
                let clauses = one.elif_else_clauses.iter();
                let tests = clauses.clone().filter_map(|clause| clause.test.as_ref());
                found.extend(tests.map(|test| StatementPart::Head(test.into())));
                std::iter::once(&*one.body)
                    .chain(clauses.map(|clause| &*clause.body))
                    .collect()
            }
            Stmt::For(one) => {
                found.push(StatementPart::Head((&*one.iter).into()));
                vec![&one.body, &one.orelse]
            }
            Stmt::While(one) => {
                found.push(StatementPart::Head((&*one.test).into()));
                vec![&one.body, &one.orelse]
            }
            Stmt::With(one) => {
                let items = one.items.iter();
                found.extend(items.map(|item| StatementPart::Head((&item.context_expr).into())));
                vec![&one.body]
            }
            Stmt::Try(one) => {
                let handlers = one.handlers.iter();
                let handlers = handlers.map(|ast::ExceptHandler::ExceptHandler(one)| &*one.body);
                [&*one.body, &one.orelse, &one.finalbody]
                    .into_iter()
                    .chain(handlers)
                    .collect()
            }
            Stmt::FunctionDef(one) => vec![&one.body],
            whole => {
                found.push(StatementPart::Whole(Box::new(whole.into())));
                Vec::new()
            }
        };
        for inner in bodies {
            parts(inner, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parser::parse_module;

    fn function(text: &str) -> StmtFunctionDef {
        let (parsed, _) = parse_module(text);
        let ast::Mod::Module(module) = parsed.into_syntax() else {
            panic!("{text}");
        };
        let first = module.body.into_iter().next();
        first.and_then(Stmt::function_def_stmt).expect(text)
    }

    fn are(old: &str, new: &str) -> bool {
        are_copies(&function(old), &function(new))
    }

    #[test]
    fn a_changed_value_or_operator_makes_a_changed_copy() {
        assert!(are(
            "def f(x):\n return x + 1\n",
            "def f(x):\n return x + 2\n"
        ));
        assert!(are(
            "def f(x):\n return x < 1\n",
            "def f(x):\n return x <= 1\n"
        ));
        let inner = "def f(k):\n def g(d):\n  d[k] += 1\n return g\n";
        assert!(are(inner, &inner.replace("+= 1", "-= 1")));
    }

    #[test]
    fn a_branch_less_makes_a_changed_copy() {
        let old = "def f(x):\n if x is None:\n  return 0\n y = x.a()\n y.b()\n return y\n";
        assert!(are(old, "def f(x):\n y = x.a()\n y.b()\n return y\n"));
    }

    #[test]
    fn what_was_written_apart_is_no_copy() {
        let old =
            "def f():\n try:\n  return cupy.available()\n except ImportError:\n  return False\n";
        assert!(!are(old, "def f():\n return torch.cuda.is_available()\n"));
    }
}
