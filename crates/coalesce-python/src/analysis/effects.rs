//! What executing a module may do to others: calls for their own sake, values that it sets elsewhere,
//! decorators, which may register what they stand on.
//!
//! A method of what the module has made itself (`parser.add_argument(…)`) changes nothing of others, and what
//! only writes a warning or sets a logger up is not counted.

use std::collections::BTreeSet;

use coalesce_model::ByteSpan;
use ruff_python_ast::{
    self as ast, Expr, Stmt,
    visitor::{self, Visitor},
};
use ruff_text_size::Ranged;

use super::{
    parts::{Definition, DefinitionKind, Scope},
    predicates::{
        chain, is_name, is_own_entry, is_run_as_program, is_type_checking, is_warning, last_name,
    },
    shift,
};
use crate::facts::Effect;

/// Methods that put something into what they belong to.
const KEEPING: [&str; 8] = [
    "add",
    "append",
    "extend",
    "insert",
    "register",
    "setdefault",
    "update",
    "__setitem__",
];

/// The effects of executing these statements of a module, in source order.
pub(super) fn find(
    body: &[Stmt],
    start: u32,
    module: &Scope,
    definitions: &[Definition],
) -> Vec<Effect> {
    let code = definitions
        .iter()
        .filter(|each| each.kind != DefinitionKind::Value);
    let mut finder = EffectFinder {
        start,
        module,
        code: code.map(|each| each.name.as_str()).collect(),
        found: Vec::new(),
    };
    finder.block(body);
    finder.found
}

/// The first warning that executing these statements gives, outside of handlers: those tell what was not
/// found.
pub(super) fn first_warning(body: &[Stmt], start: u32) -> Option<ByteSpan> {
    body.iter().find_map(|statement| match statement {
        Stmt::Expr(expression) => {
            is_warned(&expression.value).then(|| shift(expression.range(), start))
        }
        Stmt::If(inner) if !is_run_as_program(&inner.test) && !is_type_checking(&inner.test) => {
            let mut others = inner.elif_else_clauses.iter();
            first_warning(&inner.body, start)
                .or_else(|| others.find_map(|clause| first_warning(&clause.body, start)))
        }
        Stmt::With(inner) => first_warning(&inner.body, start),
        _ => None,
    })
}

/// `warnings.warn(…)`, by any name of that module. Loggers have a method of this name; they go by theirs.
fn is_warned(value: &Expr) -> bool {
    let Expr::Call(call) = value else {
        return false;
    };
    let of_logger = matches!(&*call.func, Expr::Attribute(method)
        if last_name(&method.value).is_some_and(|name| name.to_ascii_lowercase().contains("log")));
    !of_logger && matches!(last_name(&call.func), Some("warn" | "warn_explicit"))
}

struct EffectFinder<'m> {
    start: u32,
    module: &'m Scope,
    /// Functions and classes of the module.
    code: BTreeSet<&'m str>,
    found: Vec<Effect>,
}

impl EffectFinder<'_> {
    fn block(&mut self, body: &[Stmt]) {
        for statement in body {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::FunctionDef(function) => self.decorated(&function.name, &function.decorator_list),
            Stmt::ClassDef(class) => {
                self.decorated(&class.name, &class.decorator_list);
                self.block(&class.body);
            }
            Stmt::Expr(expression) => self.expression(&expression.value),
            Stmt::Assign(assign) => assign.targets.iter().for_each(|target| self.set(target)),
            Stmt::AugAssign(assign) => self.set(&assign.target),
            Stmt::Delete(delete) => delete.targets.iter().for_each(|target| self.set(target)),
            Stmt::If(found) => self.branches(found),
            Stmt::Try(found) => self.tried(found),
            Stmt::With(found) => self.block(&found.body),
            Stmt::For(found) => self.block(&found.body),
            Stmt::While(found) => self.block(&found.body),
            _ => {}
        }
    }

    fn branches(&mut self, found: &ast::StmtIf) {
        if !is_run_as_program(&found.test) && !is_type_checking(&found.test) {
            self.block(&found.body);
        }
        let others = found.elif_else_clauses.iter();
        others.for_each(|clause| self.block(&clause.body));
    }

    fn tried(&mut self, found: &ast::StmtTry) {
        self.block(&found.body);
        for ast::ExceptHandler::ExceptHandler(handler) in &found.handlers {
            self.block(&handler.body);
        }
        self.block(&found.orelse);
        self.block(&found.finalbody);
    }

    fn decorated(&mut self, name: &str, decorators: &[ast::Decorator]) {
        for decorator in decorators {
            let called = match &decorator.expression {
                Expr::Call(call) => &call.func,
                other => other,
            };
            self.tell(decorator, Some(name), chain(called).unwrap_or_default());
        }
    }

    /// A call as a statement. Nothing else that stands alone does anything.
    fn expression(&mut self, value: &Expr) {
        let Expr::Call(call) = value else {
            return;
        };
        if is_warning(value) || is_of_a_logger(&call.func) {
            return;
        }
        let chain = chain(&call.func).unwrap_or_default();
        if !chain.first().is_some_and(|root| self.is_made_here(root)) {
            self.tell(call, None, chain);
        }
    }

    /// `other.name = …`, `other.table["…"] = …`
    fn set(&mut self, target: &Expr) {
        let place = match target {
            Expr::Subscript(subscript) if is_own_entry(subscript) => return,
            Expr::Subscript(subscript) => &subscript.value,
            Expr::Attribute(attribute) => &attribute.value,
            _ => return,
        };
        let chain = chain(place).unwrap_or_default();
        if !chain.first().is_some_and(|root| self.is_made_here(root)) {
            self.tell(target, None, chain);
        }
    }

    /// Whether the module gives this name a value itself, and neither imports nor defines it.
    fn is_made_here(&self, root: &str) -> bool {
        let bindings = self.module.bindings.get(root);
        let own = bindings.is_some_and(|bindings| bindings.iter().all(|one| one.import.is_none()));
        root == "__all__" || (own && !self.code.contains(root))
    }

    fn tell(&mut self, at: impl Ranged, item: Option<&str>, chain: Vec<String>) {
        self.found.push(Effect {
            span: shift(at.range(), self.start),
            item: item.map(str::to_owned),
            chain,
        });
    }
}

/// `logging.getLogger(__name__).addHandler(…)`
fn is_of_a_logger(called: &Expr) -> bool {
    matches!(called, Expr::Attribute(attribute)
        if matches!(&*attribute.value, Expr::Call(call) if is_named(&call.func, "getLogger")))
}

fn is_named(expression: &Expr, name: &str) -> bool {
    is_name(expression, name)
        || matches!(expression, Expr::Attribute(attribute) if attribute.attr.as_str() == name)
}

/// Functions of the module that put something into what is not their own: `TABLE[name] = function`.
pub(super) fn storing_functions(body: &[Stmt], module: &Scope) -> Vec<String> {
    let functions = body.iter().filter_map(|statement| match statement {
        Stmt::FunctionDef(function) => Some(function),
        _ => None,
    });
    let keeping = functions.filter(|function| {
        let mut keeper = Keeper {
            module,
            keeps: false,
        };
        keeper.visit_body(&function.body);
        keeper.keeps
    });
    keeping.map(|function| function.name.to_string()).collect()
}

struct Keeper<'m> {
    module: &'m Scope,
    keeps: bool,
}

impl Keeper<'_> {
    /// A name of the module: its local namesakes are rare, and counting them is no harm.
    fn kept(&mut self, place: &Expr) {
        let chain = chain(place).unwrap_or_default();
        let lasts = chain
            .first()
            .is_some_and(|root| root == "sys" || self.module.bindings.contains_key(root.as_str()));
        self.keeps |= lasts;
    }

    /// Something is set.
    fn set(&mut self, target: &Expr) {
        match target {
            Expr::Subscript(subscript) => self.kept(&subscript.value),
            Expr::Attribute(attribute) => self.kept(&attribute.value),
            _ => {}
        }
    }
}

impl<'a> Visitor<'a> for Keeper<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Assign(assign) => assign.targets.iter().for_each(|target| self.set(target)),
            Stmt::Global(_) => self.keeps = true,
            _ => {}
        }
        visitor::walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::Call(call) = expression
            && let Expr::Attribute(attribute) = &*call.func
            && KEEPING.contains(&attribute.attr.as_str())
        {
            self.kept(&attribute.value);
        }
        visitor::walk_expr(self, expression);
    }
}

#[cfg(test)]
mod tests {
    use super::first_warning;
    use crate::parser;

    #[test]
    fn warnings_are_told_from_records_of_a_logger() {
        for (text, warned) in [
            ("import warnings\nwarnings.warn('x')\n", true),
            ("from warnings import warn\nif 1:\n    warn('x')\n", true),
            ("if 1:\n    pass\nelse:\n    w.warn_explicit('x')\n", true),
            ("logger.warn('x')\nself.log.warn('x')\n", false),
            (
                "if __name__ == '__main__':\n    warnings.warn('x')\n",
                false,
            ),
            (
                "try:\n    import x\nexcept ImportError:\n    warnings.warn('x')\n",
                false,
            ),
        ] {
            let (parsed, start) = parser::parse_module(text);
            let found = first_warning(parser::statements(&parsed), start);
            assert_eq!(found.is_some(), warned, "{text}");
        }
    }
}
