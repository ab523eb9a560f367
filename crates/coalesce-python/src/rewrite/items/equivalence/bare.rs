//! Definitions as they are compared: without their names and their documentation.

use ruff_python_ast::{self as ast, Expr, Stmt};

/// A definition without its name and its documentation.
pub(super) fn bare(statement: &Stmt, item: &str) -> Stmt {
    let mut statement = statement.clone();
    strip(&mut statement);
    match &mut statement {
        Stmt::FunctionDef(function) => function.name.id = ast::name::Name::empty(),
        Stmt::ClassDef(class) => class.name.id = ast::name::Name::empty(),
        other => forget_targets(other, item),
    }
    statement
}

fn forget_targets(statement: &mut Stmt, item: &str) {
    let forget_all = |body: &mut [Stmt]| body.iter_mut().for_each(|one| forget_targets(one, item));
    match statement {
        Stmt::Assign(assign) => {
            let targets = assign.targets.iter_mut();
            targets.for_each(|target| forget(target, item));
        }
        Stmt::AnnAssign(assign) => forget(&mut assign.target, item),
        Stmt::Try(found) => {
            forget_all(&mut found.body);
            forget_all(&mut found.orelse);
            forget_all(&mut found.finalbody);
            for ast::ExceptHandler::ExceptHandler(handler) in &mut found.handlers {
                forget_all(&mut handler.body);
            }
        }
        Stmt::If(found) => {
            forget_all(&mut found.body);
            for clause in &mut found.elif_else_clauses {
                forget_all(&mut clause.body);
            }
        }
        _ => {}
    }
}

fn forget(target: &mut Expr, item: &str) {
    if let Expr::Name(name) = target
        && name.id.as_str() == item
    {
        name.id = ast::name::Name::empty();
    }
}

fn strip(statement: &mut Stmt) {
    let body = match statement {
        Stmt::FunctionDef(function) => &mut function.body,
        Stmt::ClassDef(class) => &mut class.body,
        _ => return,
    };
    let documented =
        matches!(body.first(), Some(Stmt::Expr(first)) if first.value.is_string_literal_expr());
    if documented {
        body.remove(0);
    }
    body.iter_mut().for_each(strip);
}
