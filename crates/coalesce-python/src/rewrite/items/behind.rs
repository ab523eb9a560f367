//! Statements that stand behind a definition and belong to it: `f.short_description = "…"`, `Shape.EMPTY = Shape()`,
//! `@f.register`. They go where it goes, so that who imports it there has what they make of it.

use coalesce_model::{ByteSpan, ChangeKind};
use ruff_python_ast::{Expr, ExprCall, Stmt};

use super::{
    Moved,
    outline::{Kind, Statement},
    source::Source,
};
use crate::{analysis::Called, names::occurrences_of_word, rewrite::mapping::Mapping};

/// Whether a statement only does something to what its first name holds, or defines what is handed to that.
pub fn is_attached(statement: &Stmt) -> bool {
    let part = |target: &Expr| matches!(target, Expr::Attribute(_) | Expr::Subscript(_));
    match statement {
        Stmt::Assign(assign) => matches!(&*assign.targets, [target] if part(target)),
        Stmt::AugAssign(assign) => part(&assign.target),
        Stmt::Expr(expression) => matches!(&*expression.value, Expr::Call(_)),
        Stmt::FunctionDef(function) => !function.decorator_list.is_empty(),
        Stmt::If(block) => block.elif_else_clauses.is_empty() && block.body.iter().all(is_attached),
        _ => false,
    }
}

/// What an assignment sets, its tuples taken apart.
pub fn parts(targets: &[Expr]) -> impl Iterator<Item = &Expr> {
    targets.iter().flat_map(|target| match target {
        Expr::Tuple(tuple) => tuple.elts.iter(),
        Expr::List(list) => list.elts.iter(),
        one => std::slice::from_ref(one).iter(),
    })
}

/// The object of `setattr(object, …)` and `delattr(object, …)`.
pub fn set_by_name(call: &ExprCall) -> Option<&Expr> {
    let named = matches!(&*call.func, Expr::Name(name) if matches!(name.id.as_str(), "setattr" | "delattr"));
    call.arguments.args.first().filter(|_| named)
}

/// The statements that change an item behind its definition, where all of them can go with it and nothing comes to be
/// done in another order.
pub fn along(
    mapping: &Mapping<'_>,
    source: &Source,
    moved: &Moved,
    own: &[usize],
) -> Option<Vec<usize>> {
    let item = moved.item.as_str();
    let leaves = moved.change.kind == ChangeKind::Move && !mapping.goes_away(source.module);
    let outline = &source.outline;
    let lists = [outline.changing.get(item), outline.calling.get(item)];
    let mut behind: Vec<usize> = lists.into_iter().flatten().flatten().copied().collect();
    behind.sort_unstable();
    behind.dedup();
    behind.retain(|at| !own.contains(at));
    let (last, first) = (*behind.last()?, *own.last()?);
    let statement = |at: &usize| outline.statements.get(*at);
    let goes = |at: &usize| {
        let statement = statement(at);
        *at > first && statement.is_some_and(|one| belongs(mapping, source, (one, item)))
    };
    let quiet = |at: usize| {
        let between = statement(&at).filter(|_| !behind.contains(&at));
        between.is_none_or(|between| is_quiet(source, between, item))
    };
    (leaves && behind.iter().all(goes) && (first + 1..last).all(quiet)).then_some(behind)
}

/// Whether a statement is about an item alone, and nothing else uses what it binds.
fn belongs(mapping: &Mapping<'_>, source: &Source, (statement, item): (&Statement, &str)) -> bool {
    let mut about = statement.changes.iter().chain(&statement.calls);
    statement.attached
        && about.all(|name| name == item)
        && bound_in(source, statement.span).all(|name| is_unused(mapping, source, name, statement))
}

/// The names of a module that a part of it binds.
fn bound_in(source: &Source, span: ByteSpan) -> impl Iterator<Item = &str> {
    let module = source.analysis.scopes.first().into_iter();
    let names = module.flat_map(|scope| &scope.bindings);
    names
        .filter(move |(_, bindings)| bindings.iter().any(|one| span.contains(one.span)))
        .map(|(name, _)| name.as_str())
}

/// Whether a name is there for the sake of its decorator: it is private, and nobody uses it.
fn is_unused(mapping: &Mapping<'_>, source: &Source, name: &str, statement: &Statement) -> bool {
    let analysis = &source.analysis;
    let used = analysis.uses_of(name).any(|used| {
        let root = used.chain.first();
        let outside = root.is_some_and(|root| !statement.span.contains(root.span));
        outside && analysis.binding_scope(used.scope, name) == Some(0)
    });
    let modules = &mapping.graph.modules;
    let own = modules
        .get(source.module)
        .map_or("", |own| own.name.as_str());
    let stem = own.rsplit('.').next().unwrap_or(own);
    let mut others = mapping.mentioning(stem).iter();
    let named = others.any(|(module, text)| {
        *module != source.module && name != "_" && occurrences_of_word(text, name)
    });
    name.starts_with('_') && !used && !named
}

/// Whether executing a statement calls nothing and does not look at an item: what stands behind it may come before it.
fn is_quiet(source: &Source, statement: &Statement, item: &str) -> bool {
    let defines = matches!(
        statement.kind,
        Kind::Function { .. } | Kind::Class | Kind::Typing { .. } | Kind::Dunder | Kind::Assign
    );
    let mut uses = source.analysis.uses_in(&[statement.span]);
    defines
        && !uses.any(|used| {
            let names = used.chain.first().is_some_and(|root| root.text == item);
            used.eager && (names || matches!(used.called, Called::Callee | Called::Passed))
        })
}
