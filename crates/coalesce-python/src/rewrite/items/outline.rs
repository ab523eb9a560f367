//! The statements of a module one below the other: what each binds, and what it is.
//!
//! Text and syntax only; what a name means is not known here.

use std::collections::BTreeSet;

use coalesce_model::ByteSpan;
use ruff_python_ast::{
    self as ast, Expr, Stmt,
    visitor::{self, Visitor},
};
use ruff_text_size::Ranged;
use rustc_hash::FxHashMap;

use super::{behind, certain, guarded};
use crate::{
    analysis::predicates::last_name,
    parser::{parse_module, statements},
};

/// What a statement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Documentation,
    Future,
    Import,
    /// `if TYPE_CHECKING:`, from the first to the last statement of its body.
    Typing {
        body: ByteSpan,
    },
    /// `try`, `if` or `with` around imports alone.
    Guarded,
    /// `__all__ = …` and its like.
    Dunder,
    Function {
        overload: bool,
    },
    Class,
    /// One name gets a value.
    Assign,
    /// `if __name__ == "__main__":`.
    Program,
    Other,
}

/// A statement at module level.
#[derive(Debug)]
pub struct Statement {
    /// Decorators included.
    pub span: ByteSpan,
    pub kind: Kind,
    /// The name of a definition or of a plain assignment.
    pub name: Option<String>,
    /// A block that would be empty without its imports.
    pub only_imports: bool,
    /// A block in which nothing is done but that names are bound.
    pub binds_only: bool,
    /// Names whose objects the statement changes: `f.x = 1`, `X[0] = 1`, `@f.register`.
    pub changes: Vec<String>,
    /// Names whose objects it may change by a method: `X.append(1)`.
    pub calls: Vec<String>,
    /// It binds a value that no method changes: text, a number, a path.
    pub fixed: bool,
    /// It does something to what a name holds, and nothing else.
    pub attached: bool,
}

/// A function that no other function is around.
#[derive(Debug)]
pub struct Function {
    pub span: ByteSpan,
    /// Where a statement can be put in, before the first one after the documentation.
    pub entry: Option<BodyStart>,
}

/// Where a statement can be put into a body.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BodyStart {
    /// The start of a line, or of the statement that stands behind the head of a function.
    pub at: u32,
    pub indentation: String,
    /// The whole function stands in one line.
    pub behind_head: bool,
}

impl BodyStart {
    /// A statement as it is put in.
    pub fn text(&self, statement: &str) -> String {
        if self.behind_head {
            format!("{statement}; ")
        } else {
            format!("{}{statement}\n", self.indentation)
        }
    }
}

/// A module's statements and functions, and names that `global` declares by the place.
#[derive(Debug, Default)]
pub struct Outline {
    pub statements: Vec<Statement>,
    /// The statements of each name.
    pub by_name: FxHashMap<String, Vec<usize>>,
    /// The statements that change what a name holds.
    pub changing: FxHashMap<String, Vec<usize>>,
    /// The statements that call methods of what a name holds.
    pub calling: FxHashMap<String, Vec<usize>>,
    pub functions: Vec<Function>,
    /// `if __name__ == "__main__":`, which is a body of its own, too.
    pub programs: Vec<Function>,
    pub globals: Vec<(ByteSpan, String)>,
    /// Names that executing the module calls, and decorators.
    pub calls: Vec<String>,
    /// Names that it has, whatever its conditions come to.
    pub certain: BTreeSet<String>,
}

impl Outline {
    pub fn new(text: &str) -> Self {
        let (parsed, start) = parse_module(text);
        let body = statements(&parsed);
        let mut walker = Walker {
            text,
            start,
            found: Self::default(),
        };
        walker.found.certain = certain::bound(body).unwrap_or_default();
        for (at, statement) in body.iter().enumerate() {
            walker.statement(at, statement);
            walker.visit_stmt(statement);
            let mut calls = Calls::default();
            calls.visit_stmt(statement);
            walker.found.calls.extend(calls.names);
        }
        walker.found.list_by_names();
        walker.found
    }

    fn list_by_names(&mut self) {
        for (at, statement) in self.statements.iter().enumerate() {
            let lists = [
                (statement.name.as_slice(), &mut self.by_name),
                (statement.changes.as_slice(), &mut self.changing),
                (statement.calls.as_slice(), &mut self.calling),
            ];
            for (names, list) in lists {
                for name in names {
                    list.entry(name.clone()).or_default().push(at);
                }
            }
        }
    }

    /// The statement that covers a place.
    pub fn around(&self, at: u32) -> Option<usize> {
        self.statements
            .iter()
            .position(|statement| statement.span.start <= at && at < statement.span.end)
    }
}

struct Walker<'t> {
    text: &'t str,
    start: u32,
    found: Outline,
}

impl Walker<'_> {
    fn span(&self, node: impl Ranged) -> ByteSpan {
        let range = node.range();
        ByteSpan::new(
            range.start().to_u32() + self.start,
            range.end().to_u32() + self.start,
        )
    }

    fn statement(&mut self, at: usize, statement: &Stmt) {
        let kind = kind(at, statement, self.start);
        let name = match statement {
            Stmt::FunctionDef(function) => Some(function.name.to_string()),
            Stmt::ClassDef(class) => Some(class.name.to_string()),
            Stmt::Assign(assign) => match &*assign.targets {
                [Expr::Name(name)] => Some(name.id.to_string()),
                _ => None,
            },
            Stmt::AnnAssign(assign) => match &*assign.target {
                Expr::Name(name) => Some(name.id.to_string()),
                _ => None,
            },
            Stmt::TypeAlias(alias) => match &*alias.name {
                Expr::Name(name) => Some(name.id.to_string()),
                _ => None,
            },
            _ => None,
        };
        self.found.statements.push(Statement {
            span: self.span(statement),
            kind,
            name,
            only_imports: match statement {
                Stmt::If(block) => {
                    let mut body = block.body.iter();
                    block.elif_else_clauses.is_empty()
                        && body.all(|each| matches!(each, Stmt::Import(_) | Stmt::ImportFrom(_)))
                }
                _ => false,
            },
            binds_only: guarded::binds_only(statement),
            changes: changes(statement),
            calls: method_calls(statement),
            attached: behind::is_attached(statement),
            fixed: match statement {
                Stmt::Assign(assign) => is_fixed(&assign.value),
                Stmt::AnnAssign(assign) => assign.value.as_deref().is_some_and(is_fixed),
                _ => false,
            },
        });
        if let (Kind::Program, Stmt::If(block)) = (kind, statement) {
            let entry = block.body.first();
            let entry = entry.and_then(|first| self.line_of(self.span(first).start));
            let span = self.span(statement);
            self.found.programs.push(Function { span, entry });
        }
    }

    fn function(&mut self, function: &ast::StmtFunctionDef) {
        let documented = matches!(
            function.body.first(),
            Some(Stmt::Expr(first)) if matches!(&*first.value, Expr::StringLiteral(_))
        );
        let first = function.body.get(usize::from(documented));
        let entry = first.and_then(|first| {
            let at = self.span(first).start;
            self.line_of(at).or_else(|| self.behind_head(at))
        });
        let span = self.span(function);
        self.found.functions.push(Function { span, entry });
    }

    /// The place of a statement that stands behind the head of its function: `def f(): return 1`.
    fn behind_head(&self, at: u32) -> Option<BodyStart> {
        let before = self.text.get(..at as usize)?;
        let line = before.rsplit(['\n', '\r']).next().unwrap_or_default();
        let head = line.trim();
        let whole = head.starts_with("def ") || head.starts_with("async def ");
        (whole && head.ends_with(':')).then(|| BodyStart {
            at,
            indentation: String::new(),
            behind_head: true,
        })
    }

    /// The start of the line that a statement begins, and its indentation.
    fn line_of(&self, at: u32) -> Option<BodyStart> {
        let before = self.text.get(..at as usize)?;
        let start = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
        let indentation = before.get(start..)?;
        indentation.trim().is_empty().then(|| BodyStart {
            at: u32::try_from(start).unwrap_or(at),
            indentation: indentation.to_owned(),
            behind_head: false,
        })
    }
}

impl Visitor<'_> for Walker<'_> {
    fn visit_stmt(&mut self, statement: &Stmt) {
        match statement {
            Stmt::FunctionDef(function) => {
                self.function(function);
                let mut globals = Globals::default();
                visitor::walk_stmt(&mut globals, statement);
                let span = self.span(function);
                let names = globals.names.into_iter().map(|name| (span, name));
                self.found.globals.extend(names);
            }
            _ => visitor::walk_stmt(self, statement),
        }
    }
}

/// What is called when a statement of a module is executed.
#[derive(Default)]
struct Calls {
    names: Vec<String>,
}

impl Visitor<'_> for Calls {
    fn visit_stmt(&mut self, statement: &Stmt) {
        match statement {
            Stmt::FunctionDef(function) => {
                for decorator in &function.decorator_list {
                    self.names.extend(base(&decorator.expression));
                    self.visit_expr(&decorator.expression);
                }
                let parameters = function.parameters.iter_non_variadic_params();
                for default in parameters.filter_map(|parameter| parameter.default.as_deref()) {
                    self.visit_expr(default);
                }
            }
            Stmt::ClassDef(class) => {
                let decorators = class.decorator_list.iter();
                self.names
                    .extend(decorators.filter_map(|decorator| base(&decorator.expression)));
                visitor::walk_stmt(self, statement);
            }
            Stmt::If(block) if is_program(&block.test) => {}
            _ => visitor::walk_stmt(self, statement),
        }
    }

    fn visit_expr(&mut self, expression: &Expr) {
        match expression {
            Expr::Lambda(_) => {}
            Expr::Call(call) => {
                self.names.extend(base(&call.func));
                visitor::walk_expr(self, expression);
            }
            _ => visitor::walk_expr(self, expression),
        }
    }
}

#[derive(Default)]
struct Globals {
    names: Vec<String>,
}

impl Visitor<'_> for Globals {
    fn visit_stmt(&mut self, statement: &Stmt) {
        if let Stmt::Global(global) = statement {
            self.names
                .extend(global.names.iter().map(|name| name.to_string()));
        }
        visitor::walk_stmt(self, statement);
    }
}

fn kind(at: usize, statement: &Stmt, text_start: u32) -> Kind {
    let dunder = |name: &str| name.starts_with("__") && name.ends_with("__");
    match statement {
        Stmt::Expr(expression)
            if at == 0 && matches!(&*expression.value, Expr::StringLiteral(_)) =>
        {
            Kind::Documentation
        }
        Stmt::ImportFrom(import)
            if import
                .module
                .as_ref()
                .is_some_and(|module| module.as_str() == "__future__") =>
        {
            Kind::Future
        }
        Stmt::Import(_) | Stmt::ImportFrom(_) => Kind::Import,
        Stmt::FunctionDef(function) => Kind::Function {
            overload: function
                .decorator_list
                .iter()
                .any(|decorator| last_name(&decorator.expression) == Some("overload")),
        },
        Stmt::ClassDef(_) => Kind::Class,
        Stmt::Assign(assign) => match &*assign.targets {
            [Expr::Name(name)] if dunder(name.id.as_str()) => Kind::Dunder,
            [Expr::Name(_)] => Kind::Assign,
            _ => Kind::Other,
        },
        Stmt::AnnAssign(assign) => match &*assign.target {
            Expr::Name(name) if dunder(name.id.as_str()) => Kind::Dunder,
            Expr::Name(_) => Kind::Assign,
            _ => Kind::Other,
        },
        Stmt::TypeAlias(_) => Kind::Assign,
        Stmt::If(conditional) if is_program(&conditional.test) => Kind::Program,
        Stmt::If(conditional) if last_name(&conditional.test) == Some("TYPE_CHECKING") => {
            Kind::Typing {
                body: span_of_suite(conditional, text_start),
            }
        }
        Stmt::If(conditional) if only_imports(&conditional.body) => Kind::Guarded,
        Stmt::Try(guarded) if only_imports(&guarded.body) => Kind::Guarded,
        _ => Kind::Other,
    }
}

/// From the first to the last statement below a condition.
fn span_of_suite(conditional: &ast::StmtIf, text_start: u32) -> ByteSpan {
    let (first, last) = (conditional.body.first(), conditional.body.last());
    let start = first.map_or(conditional.start(), Ranged::start).to_u32();
    let end = last.map_or(conditional.end(), Ranged::end).to_u32();
    ByteSpan::new(start + text_start, end + text_start)
}

fn only_imports(body: &[Stmt]) -> bool {
    body.iter()
        .any(|statement| matches!(statement, Stmt::Import(_) | Stmt::ImportFrom(_)))
        && body.iter().all(|statement| {
            matches!(
                statement,
                Stmt::Import(_) | Stmt::ImportFrom(_) | Stmt::Pass(_) | Stmt::Assign(_)
            )
        })
}

fn is_program(test: &Expr) -> bool {
    let Expr::Compare(compare) = test else {
        return false;
    };
    let is_name = |side: &Expr| matches!(side, Expr::Name(name) if name.id.as_str() == "__name__");
    is_name(&compare.left) || compare.comparators.iter().any(is_name)
}

/// The name that a chain of attributes, subscripts and calls begins with, when it has any.
fn root(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Attribute(attribute) => base(&attribute.value),
        Expr::Subscript(subscript) => base(&subscript.value),
        Expr::Call(call) => root(&call.func),
        _ => None,
    }
}

fn base(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Name(name) => Some(name.id.to_string()),
        other => root(other),
    }
}

fn method_calls(statement: &Stmt) -> Vec<String> {
    let changed = |call: &ast::ExprCall| {
        let called = root(&call.func);
        called.or_else(|| behind::set_by_name(call).and_then(base))
    };
    match statement {
        Stmt::Expr(expression) => match &*expression.value {
            Expr::Call(call) => changed(call).into_iter().collect(),
            _ => Vec::new(),
        },
        Stmt::For(statement) => statement.body.iter().flat_map(method_calls).collect(),
        Stmt::If(statement) => statement.body.iter().flat_map(method_calls).collect(),
        _ => Vec::new(),
    }
}

/// Whether a value is of a type whose methods leave it as it is.
fn is_fixed(value: &Expr) -> bool {
    match value {
        Expr::StringLiteral(_)
        | Expr::BytesLiteral(_)
        | Expr::NumberLiteral(_)
        | Expr::BooleanLiteral(_)
        | Expr::FString(_) => true,
        // Paths are put together with `/`.
        Expr::BinOp(operation) => is_fixed(&operation.left) || is_fixed(&operation.right),
        Expr::Attribute(attribute) => is_fixed(&attribute.value),
        Expr::Call(call) => match &*call.func {
            Expr::Attribute(method) if is_fixed(&method.value) => true,
            Expr::Name(name) => is_path(name.id.as_str()),
            Expr::Attribute(attribute) => is_path(attribute.attr.as_str()),
            _ => false,
        },
        _ => false,
    }
}

fn is_path(class: &str) -> bool {
    matches!(
        class,
        "Path" | "PurePath" | "PosixPath" | "WindowsPath" | "PurePosixPath" | "PureWindowsPath"
    )
}

fn changes(statement: &Stmt) -> Vec<String> {
    let mut found = Vec::new();
    match statement {
        Stmt::Assign(assign) => found.extend(behind::parts(&assign.targets).filter_map(root)),
        Stmt::AugAssign(assign) => found.extend(base(&assign.target)),
        Stmt::Delete(delete) => found.extend(delete.targets.iter().filter_map(base)),
        Stmt::FunctionDef(function) => {
            let decorators = function.decorator_list.iter();
            found.extend(decorators.filter_map(|decorator| root(&decorator.expression)));
        }
        Stmt::ClassDef(class) => {
            let decorators = class.decorator_list.iter();
            found.extend(decorators.filter_map(|decorator| root(&decorator.expression)));
        }
        Stmt::For(statement) => found.extend(statement.body.iter().flat_map(changes)),
        Stmt::If(statement) => found.extend(statement.body.iter().flat_map(changes)),
        _ => {}
    }
    found
}
