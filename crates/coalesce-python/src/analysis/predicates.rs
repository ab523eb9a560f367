//! What single expressions are, told by their spelling alone.

use coalesce_model::Guard;
use ruff_python_ast::{BoolOp, CmpOp, ExceptHandler, Expr, Stmt};

/// The guard inside of another one: what hides a failure prevails.
pub(super) fn stronger(outer: Guard, inner: Guard) -> Guard {
    if inner == Guard::None
        || (outer.hides_failure() && !inner.hides_failure() && inner != Guard::TypeChecking)
    {
        outer
    } else {
        inner
    }
}

/// `__name__ == "__main__"`, either way round, also beside conditions that run nothing.
pub(crate) fn is_run_as_program(test: &Expr) -> bool {
    let compare = match test {
        Expr::Compare(compare) => compare,
        Expr::BoolOp(all) if all.op == BoolOp::And => {
            let mut others = all.values.iter().filter(|one| !is_run_as_program(one));
            return all.values.iter().any(is_run_as_program) && others.all(runs_nothing);
        }
        _ => return false,
    };
    let ([CmpOp::Eq], [right]) = (&*compare.ops, &*compare.comparators) else {
        return false;
    };
    let main = |side: &Expr| matches!(side, Expr::StringLiteral(text) if text.value.to_str() == "__main__");
    let left = &*compare.left;
    (is_name(left, "__name__") && main(right)) || (main(left) && is_name(right, "__name__"))
}

/// Whether an expression is made of names, attributes and literals alone: `sys.platform != "win32"`.
fn runs_nothing(test: &Expr) -> bool {
    match test {
        Expr::Compare(compare) => {
            runs_nothing(&compare.left) && compare.comparators.iter().all(runs_nothing)
        }
        Expr::UnaryOp(operation) => runs_nothing(&operation.operand),
        other => other.is_literal_expr() || chain(other).is_some(),
    }
}

/// `sys.modules[__name__]`, where a module puts an object in its own place: nobody else has that.
pub fn is_own_entry(subscript: &ruff_python_ast::ExprSubscript) -> bool {
    let table = chain(&subscript.value).unwrap_or_default();
    table == ["sys", "modules"] && is_name(&subscript.slice, "__name__")
}

pub(super) fn is_name(expression: &Expr, name: &str) -> bool {
    matches!(expression, Expr::Name(found) if found.id.as_str() == name)
}

pub(crate) fn last_name(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => Some(attribute.attr.as_str()),
        _ => None,
    }
}

/// A name and its attributes, in order.
pub(crate) fn chain(expression: &Expr) -> Option<Vec<String>> {
    match expression {
        Expr::Name(name) => Some(vec![name.id.to_string()]),
        Expr::Attribute(attribute) => {
            let mut chain = chain(&attribute.value)?;
            chain.push(attribute.attr.to_string());
            Some(chain)
        }
        _ => None,
    }
}

/// What a string literal holds.
pub(crate) fn literal_text(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::StringLiteral(literal) => Some(literal.value.to_str()),
        _ => None,
    }
}

pub(super) fn assigns_all(targets: &[Expr]) -> bool {
    targets.iter().any(|target| is_name(target, "__all__"))
}

pub(crate) fn is_type_checking(test: &Expr) -> bool {
    last_name(test) == Some("TYPE_CHECKING")
}

/// `TYPE_CHECKING` or `not TYPE_CHECKING`.
pub(super) fn mentions_type_checking(test: &Expr) -> bool {
    match test {
        Expr::UnaryOp(not) => is_type_checking(&not.operand),
        other => is_type_checking(other),
    }
}

pub(super) fn catches_import_error(kind: &Expr) -> bool {
    match kind {
        Expr::Tuple(tuple) => tuple.elts.iter().any(catches_import_error),
        other => matches!(
            last_name(other),
            Some("ImportError" | "ModuleNotFoundError" | "Exception" | "BaseException")
        ),
    }
}

pub(super) fn is_suppress(context: &Expr) -> bool {
    let Expr::Call(call) = context else {
        return false;
    };
    last_name(&call.func) == Some("suppress")
        && call.arguments.args.iter().any(catches_import_error)
}

pub(super) fn is_warning(expression: &Expr) -> bool {
    let Expr::Call(call) = expression else {
        return false;
    };
    matches!(
        last_name(&call.func),
        Some("warn" | "warn_explicit" | "simplefilter")
    )
}

pub(super) fn is_logger(expression: &Expr) -> bool {
    matches!(expression, Expr::Call(call) if last_name(&call.func) == Some("getLogger"))
}

/// The blocks of a statement that run with its module, in their order: of a `try` the guarded one, its handlers, and the others.
pub(crate) fn blocks(statement: &Stmt) -> Vec<&[Stmt]> {
    match statement {
        Stmt::If(block) => {
            let others = block.elif_else_clauses.iter().map(|clause| &*clause.body);
            std::iter::once(&*block.body).chain(others).collect()
        }
        Stmt::Try(block) => {
            let handlers = block.handlers.iter();
            let handlers = handlers.map(|ExceptHandler::ExceptHandler(handler)| &*handler.body);
            let mut all = vec![&*block.body];
            all.extend(handlers);
            all.extend([&*block.orelse, &*block.finalbody]);
            all
        }
        Stmt::With(block) => vec![&*block.body],
        Stmt::For(block) => vec![&*block.body, &*block.orelse],
        Stmt::While(block) => vec![&*block.body, &*block.orelse],
        Stmt::Match(block) => block.cases.iter().map(|case| &*case.body).collect(),
        _ => Vec::new(),
    }
}

/// Collects the values that statements, and those in their blocks, give to a target.
pub(crate) fn collect_assigned_values<'s>(
    suite: &'s [Stmt],
    is_target: &dyn Fn(&Expr) -> bool,
    found: &mut Vec<&'s Expr>,
) {
    for statement in suite {
        match statement {
            Stmt::Assign(assign) if assign.targets.iter().any(is_target) => {
                found.push(&assign.value);
            }
            Stmt::AnnAssign(assign) if is_target(&assign.target) => {
                found.extend(assign.value.as_deref());
            }
            _ => {}
        }
        for block in blocks(statement) {
            collect_assigned_values(block, is_target, found);
        }
    }
}

/// Whether an expression is made of literals alone.
pub fn is_literal(expression: &Expr) -> bool {
    match expression {
        Expr::Dict(dict) => dict
            .items
            .iter()
            .all(|item| item.key.as_ref().is_some_and(is_literal) && is_literal(&item.value)),
        Expr::List(list) => list.elts.iter().all(is_literal),
        Expr::Tuple(tuple) => tuple.elts.iter().all(is_literal),
        Expr::Set(set) => set.elts.iter().all(is_literal),
        other => other.is_literal_expr(),
    }
}
