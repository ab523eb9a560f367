//! Statements: where each of them leads the walk, and what it says of the module.

use coalesce_model::Guard;
use ruff_python_ast::{
    self as ast, Expr, Stmt,
    visitor::{self, Visitor},
};

use super::{
    Called, Evaluated, Walker,
    predicates::{
        assigns_all, catches_import_error, is_logger, is_name, is_run_as_program, is_suppress,
        is_type_checking, is_warning, mentions_type_checking,
    },
};
use crate::facts::Content;

impl<'t> Walker<'t> {
    pub(super) fn statement(&mut self, statement: &'t Stmt) {
        match statement {
            Stmt::Import(import) => self.import(None, &import.names, import.range),
            Stmt::ImportFrom(import) => {
                self.import(Some(self.module_part(import)), &import.names, import.range)
            }
            Stmt::FunctionDef(function) => self.function(function),
            Stmt::ClassDef(class) => self.class(class),
            Stmt::Try(guarded) => self.try_statement(guarded),
            Stmt::If(conditional) => self.if_statement(conditional),
            Stmt::With(with) if suppresses(with) => self.suppressed(statement),
            Stmt::Global(global) => self.global(global),
            Stmt::Nonlocal(names) => self.nonlocal(names),
            Stmt::Assign(assign) => self.assigned(assign, statement),
            Stmt::AugAssign(assign) => self.augmented(assign, statement),
            Stmt::AnnAssign(assign) => self.annotated(assign, statement),
            Stmt::For(each) => self.for_statement(each),
            _ => visitor::walk_stmt(self, statement),
        }
    }

    /// Below `with suppress(…)` a failure is passed over.
    fn suppressed(&mut self, statement: &'t Stmt) {
        let outer = std::mem::replace(&mut self.guard, Guard::Suppressed);
        visitor::walk_stmt(self, statement);
        self.guard = outer;
    }

    fn assigned(&mut self, assign: &'t ast::StmtAssign, statement: &'t Stmt) {
        if self.scope == 0 && assigns_all(&assign.targets) {
            self.assign_all(&assign.value, false);
        }
        self.assign(assign, statement);
    }

    fn augmented(&mut self, assign: &'t ast::StmtAugAssign, statement: &'t Stmt) {
        if self.scope == 0 && is_name(&assign.target, "__all__") {
            self.assign_all(&assign.value, true);
            visitor::walk_stmt(self, statement);
            return;
        }
        self.visit_expr(&assign.value);
        self.augments = assign.target.is_name_expr();
        self.visit_expr(&assign.target);
        self.augments = false;
    }

    fn annotated(&mut self, assign: &'t ast::StmtAnnAssign, statement: &'t Stmt) {
        let value = assign.value.as_deref();
        let list = self.scope == 0 && is_name(&assign.target, "__all__");
        if let Some(value) = value.filter(|_| list) {
            self.assign_all(value, false);
        }
        // The type of a local variable is nobody's business.
        let local = self.depth > 0 && matches!(&*assign.target, Expr::Name(_));
        let inner = if local {
            Evaluated::Never
        } else {
            self.evaluated
        };
        let outer = std::mem::replace(&mut self.evaluated, inner);
        self.visit_annotation(&assign.annotation);
        self.evaluated = outer;
        if let Some(value) = &assign.value {
            self.visit_expr(value);
            self.gets_value(&assign.target, statement);
        }
        self.visit_expr(&assign.target);
    }

    fn for_statement(&mut self, statement: &'t ast::StmtFor) {
        let outer = std::mem::replace(&mut self.called, Called::Callee);
        self.visit_expr(&statement.iter);
        self.called = outer;
        self.visit_expr(&statement.target);
        self.visit_body(&statement.body);
        self.visit_body(&statement.orelse);
    }

    fn try_statement(&mut self, statement: &'t ast::StmtTry) {
        let catches = catches_missing(statement);
        let (body, handlers) = if catches {
            (Guard::ImportError, Guard::Fallback)
        } else {
            (self.guard, self.guard)
        };
        self.guarded(body, &statement.body);
        for ast::ExceptHandler::ExceptHandler(handler) in &statement.handlers {
            self.handler(handler, handlers);
        }
        // What follows a success is executed only then.
        self.branches += usize::from(catches);
        self.visit_body(&statement.orelse);
        self.branches -= usize::from(catches);
        self.visit_body(&statement.finalbody);
    }

    fn handler(&mut self, handler: &'t ast::ExceptHandlerExceptHandler, guard: Guard) {
        if let Some(kind) = &handler.type_ {
            self.visit_expr(kind);
        }
        if let Some(name) = &handler.name {
            self.bind_identifier(name);
        }
        self.guarded(guard, &handler.body);
    }

    /// Whether a condition holds for type checkers alone, by whatever name `TYPE_CHECKING` was imported.
    fn asks_for_types(&self, test: &Expr) -> bool {
        let name = test.as_name_expr().map(|name| name.id.as_str());
        let imports = self.found.imports.iter();
        let mut leaves = imports.flat_map(|(import, _)| &import.leaves);
        is_type_checking(test)
            || leaves.any(|leaf| leaf.name.text == "TYPE_CHECKING" && name == Some(leaf.bound()))
    }

    fn if_statement(&mut self, statement: &'t ast::StmtIf) {
        self.visit_expr(&statement.test);
        let guard = if self.asks_for_types(&statement.test) {
            Guard::TypeChecking
        } else {
            self.guard
        };
        // Below `if not TYPE_CHECKING` and after `if TYPE_CHECKING` stands what is executed.
        let asked = mentions_type_checking(&statement.test) || {
            let test = match &*statement.test {
                Expr::UnaryOp(not) => &*not.operand,
                test => test,
            };
            self.asks_for_types(test)
        };
        let branch = usize::from(!asked);
        self.branches += branch;
        let outer = self.program;
        self.program |= is_run_as_program(&statement.test);
        self.guarded(guard, &statement.body);
        self.program = outer;
        for clause in &statement.elif_else_clauses {
            if let Some(test) = &clause.test {
                self.visit_expr(test);
            }
            self.visit_body(&clause.body);
        }
        self.branches -= branch;
    }

    /// What a statement of the module says of what the module consists of.
    pub(super) fn content(&mut self, statement: &Stmt) {
        if let Stmt::Try(guarded) = statement {
            let blocks = [&guarded.body, &guarded.orelse, &guarded.finalbody];
            let statements = blocks.into_iter().flatten();
            statements.for_each(|statement| self.content(statement));
            return;
        }
        self.found.content = self.found.content.max(content_of(statement));
    }
}

fn content_of(statement: &Stmt) -> Content {
    match statement {
        Stmt::Expr(statement)
            if statement.value.is_string_literal_expr()
                || statement.value.is_ellipsis_literal_expr() =>
        {
            Content::Nothing
        }
        Stmt::Pass(_) => Content::Nothing,
        Stmt::Expr(statement) if is_warning(&statement.value) => Content::Imports,
        Stmt::Import(_) | Stmt::ImportFrom(_) => Content::Imports,
        Stmt::Assign(assign) if assigns_all(&assign.targets) || is_logger(&assign.value) => {
            Content::Imports
        }
        Stmt::AugAssign(assign) if is_name(&assign.target, "__all__") => Content::Imports,
        Stmt::AnnAssign(assign) if is_name(&assign.target, "__all__") => Content::Imports,
        _ => Content::Code,
    }
}

/// Whether a statement passes over failures below it.
fn suppresses(with: &ast::StmtWith) -> bool {
    let mut items = with.items.iter();
    items.any(|item| is_suppress(&item.context_expr))
}

/// Whether a handler catches that a module is missing.
fn catches_missing(statement: &ast::StmtTry) -> bool {
    let mut handlers = statement.handlers.iter();
    handlers.any(|ast::ExceptHandler::ExceptHandler(handler)| {
        handler.type_.as_deref().is_none_or(catches_import_error)
    })
}
