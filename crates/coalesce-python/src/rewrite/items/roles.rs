//! Places where an item must be a class, or where what it gives must be callable: a function cannot
//! stand in for a class there, nor a class for a function.
//!
//! Syntax only; calls and members are looked at in `signatures`.

use coalesce_model::ByteSpan;
use ruff_python_ast::{
    self as ast, ExceptHandler, Expr, Pattern, Stmt,
    visitor::{self, Visitor},
};
use ruff_text_size::Ranged;

use crate::parser::{parse_module, statements};

/// What a place asks of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// `isinstance`, a base, `except`, a pattern.
    Class,
    /// `@f` or `@f(…)`.
    Decorator,
}

/// The places of a file that ask for more than a value of expressions that end at `ends`.
pub fn roles(text: &str, ends: &[u32]) -> Vec<(ByteSpan, Role)> {
    let (parsed, start) = parse_module(text);
    let mut search = Search {
        start,
        ends,
        found: Vec::new(),
    };
    search.visit_body(statements(&parsed));
    search.found
}

struct Search<'a> {
    start: u32,
    ends: &'a [u32],
    found: Vec<(ByteSpan, Role)>,
}

impl Search<'_> {
    /// Notes a name or a chain that is one of ours; those of a tuple and of `a | b` too.
    fn asks(&mut self, expression: &Expr, role: Role) {
        match expression {
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|each| self.asks(each, role)),
            Expr::BinOp(either) => {
                self.asks(&either.left, role);
                self.asks(&either.right, role);
            }
            Expr::Name(_) | Expr::Attribute(_) => {
                let range = expression.range();
                let (start, end) = (range.start().to_u32(), range.end().to_u32());
                let span = ByteSpan::new(start + self.start, end + self.start);
                if self.ends.contains(&span.end) {
                    self.found.push((span, role));
                }
            }
            _ => {}
        }
    }

    fn decorators(&mut self, decorators: &[ast::Decorator]) {
        for decorator in decorators {
            match &decorator.expression {
                Expr::Call(call) => self.asks(&call.func, Role::Decorator),
                plain => self.asks(plain, Role::Decorator),
            }
        }
    }
}

impl Visitor<'_> for Search<'_> {
    fn visit_stmt(&mut self, statement: &Stmt) {
        match statement {
            Stmt::FunctionDef(function) => self.decorators(&function.decorator_list),
            Stmt::ClassDef(class) => {
                self.decorators(&class.decorator_list);
                for base in class.arguments.iter().flat_map(|all| &all.args) {
                    self.asks(base, Role::Class);
                }
            }
            Stmt::Try(guarded) => {
                let handlers = guarded.handlers.iter();
                let caught =
                    handlers.filter_map(|ExceptHandler::ExceptHandler(one)| one.type_.as_deref());
                caught.for_each(|caught| self.asks(caught, Role::Class));
            }
            _ => {}
        }
        visitor::walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &Expr) {
        if let Expr::Call(call) = expression
            && let Expr::Name(name) = &*call.func
            && matches!(name.id.as_str(), "isinstance" | "issubclass")
            && let Some(class) = call.arguments.args.get(1)
        {
            self.asks(class, Role::Class);
        }
        visitor::walk_expr(self, expression);
    }

    fn visit_pattern(&mut self, pattern: &Pattern) {
        if let Pattern::MatchClass(class) = pattern {
            self.asks(&class.cls, Role::Class);
        }
        visitor::walk_pattern(self, pattern);
    }
}
