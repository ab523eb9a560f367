//! Blocks around definitions: `try`, `if` and their like, which leave as a whole or not at all.
//!
//! What is defined on its own is not looked at here, nor what only gives way (see `flags`).

use coalesce_model::ByteSpan;
use ruff_python_ast::{ExceptHandler, Expr, Stmt};

use super::{
    Moved, cut,
    outline::{Kind, Statement},
    source::Source,
};
use crate::rewrite::mapping::Mapping;

/// Whether an extent is a block that tries imports, as a whole.
pub fn is_guarded(source: &Source, extent: ByteSpan) -> bool {
    let mut statements = source.outline.statements.iter();
    statements.any(|each| {
        each.kind == Kind::Guarded && extent.contains(each.span) && extent.start == each.span.start
    })
}

/// The one statement that binds an item together with others, all of which go where it goes, as a
/// guarded import does, or all of which give way: it leaves as it is.
pub fn block_of(
    mapping: &Mapping<'_>,
    source: &Source,
    moved: &Moved,
) -> Option<(Kind, Vec<ByteSpan>)> {
    let outline = &source.outline;
    let place = source.analysis.bindings(0, &moved.item).first()?.span;
    let statement = outline.statements.get(outline.around(place.start)?)?;
    if !statement.binds_only || !matches!(statement.kind, Kind::Guarded | Kind::Other) {
        return None;
    }
    let goes = |name: &str| {
        let other = mapping.items.index(moved.source, name);
        let other = other.and_then(|at| mapping.items.list.get(at));
        other.is_some_and(|other| match moved.travels() {
            true => other.travels() && other.parent == moved.parent && other.name == other.item,
            false => !other.travels(),
        })
    };
    let bound = source.analysis.scopes.first()?;
    for (name, bindings) in &bound.bindings {
        let inside = bindings
            .iter()
            .filter(|binding| statement.span.contains(binding.span));
        let inside = inside.count();
        if inside > 0 && (inside < bindings.len() || !goes(name)) {
            return None;
        }
    }
    let changes = |other: &Statement| {
        let mut all = other.changes.iter().chain(&other.calls);
        all.any(|name| *name == moved.item)
    };
    if outline.statements.iter().any(changes) {
        return None;
    }
    let extent = cut::extent(&source.text, statement)?;
    Some((statement.kind, vec![extent]))
}

/// Whether a block only binds names, so that it does the same wherever it stands: imports,
/// assignments to names and definitions under `if` and `try`.
///
/// What calls for its effect, raises or loops is no such block: with it, more than names would go.
pub fn binds_only(statement: &Stmt) -> bool {
    let all = |suite: &[Stmt]| suite.iter().all(|inner| binds(inner) || binds_only(inner));
    match statement {
        Stmt::If(block) => {
            let mut others = block.elif_else_clauses.iter();
            all(&block.body) && others.all(|clause| all(&clause.body))
        }
        Stmt::Try(block) => {
            let mut handlers = block.handlers.iter();
            let suites = [&block.body, &block.orelse, &block.finalbody];
            suites.iter().all(|suite| all(suite))
                && handlers.all(|ExceptHandler::ExceptHandler(handler)| all(&handler.body))
        }
        _ => false,
    }
}

/// A statement that binds names and does nothing else.
fn binds(statement: &Stmt) -> bool {
    match statement {
        Stmt::Pass(_)
        | Stmt::Import(_)
        | Stmt::FunctionDef(_)
        | Stmt::ClassDef(_)
        | Stmt::TypeAlias(_) => true,
        Stmt::ImportFrom(import) => import.names.iter().all(|alias| alias.name.as_str() != "*"),
        Stmt::Assign(assign) => assign.targets.iter().all(is_name),
        Stmt::AnnAssign(assign) => is_name(&assign.target),
        Stmt::Expr(expression) => matches!(&*expression.value, Expr::StringLiteral(_)),
        _ => false,
    }
}

fn is_name(target: &Expr) -> bool {
    match target {
        Expr::Name(_) => true,
        Expr::Tuple(names) => names.elts.iter().all(is_name),
        _ => false,
    }
}
