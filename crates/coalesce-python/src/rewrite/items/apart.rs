//! Functions and classes of equal text that are two things: each has its cache, its counter, the values that it
//! keeps between calls, the name of its module; and who catches the one does not catch the other.

use ruff_python_ast::{
    self as ast, Expr, ExprContext, Stmt, StmtClassDef, StmtFunctionDef,
    visitor::{self, Visitor},
};

use super::{identity::READERS, results::is_decorated};
use crate::analysis::predicates::last_name;

/// Decorators that keep what a function has given.
const CACHES: [&str; 7] = [
    "cache",
    "cached",
    "functools_cache",
    "lru_cache",
    "memoize",
    "memoized",
    "ttl_cache",
];

/// Methods that change what they belong to.
const CHANGING: [&str; 7] = [
    "add",
    "append",
    "extend",
    "insert",
    "pop",
    "setdefault",
    "update",
];

/// Calls whose result cannot be told from an equal one, nor changed.
const PLAIN_CALLS: [&str; 26] = [
    "abs",
    "bool",
    "bytes",
    "chr",
    "float",
    "format",
    "frozenset",
    "hash",
    "int",
    "isinstance",
    "join",
    "len",
    "lower",
    "max",
    "min",
    "ord",
    "pow",
    "repr",
    "replace",
    "round",
    "str",
    "strip",
    "sum",
    "tuple",
    "upper",
    "find_spec",
];

/// What each of two definitions of equal text has for itself, as the end of "each of them has …".
pub(super) fn own_state(statement: &Stmt, item: &str) -> Option<&'static str> {
    match statement {
        Stmt::FunctionDef(function) => of_function(function, item),
        Stmt::ClassDef(class) => of_class(class, item),
        _ => None,
    }
}

/// Whether a function keeps what it has given.
pub(super) fn is_cached(statement: &Stmt) -> bool {
    let function = statement.as_function_def_stmt();
    function.is_some_and(|function| CACHES.iter().any(|name| is_decorated(function, name)))
}

fn of_function(function: &StmtFunctionDef, item: &str) -> Option<&'static str> {
    if CACHES.iter().any(|name| is_decorated(function, name)) && !gives_plain(function, item) {
        return Some("a cache of its own");
    }
    for parameter in function.parameters.iter_non_variadic_params() {
        let name = parameter.name().as_str();
        if parameter.default.as_deref().is_some_and(is_container) && keeps(&function.body, name) {
            return Some("a default value of its own, which it fills");
        }
    }
    let of_itself = |owner: &Expr| matches!(owner, Expr::Name(name) if name.id.as_str() == item);
    sets_attributes(&function.body, &of_itself).then_some("attributes of its own, which it sets")
}

fn of_class(class: &StmtClassDef, item: &str) -> Option<&'static str> {
    let of_class = |owner: &Expr| match owner {
        Expr::Name(name) => name.id.as_str() == item || name.id.as_str() == "cls",
        Expr::Attribute(attribute) => attribute.attr.as_str() == "__class__",
        Expr::Call(call) => last_name(&call.func) == Some("type") && call.arguments.len() == 1,
        _ => false,
    };
    if sets_attributes(&class.body, &of_class) {
        return Some("values of its own, which its methods set for all its objects");
    }
    let mut fills = class.body.iter().filter_map(|statement| match statement {
        Stmt::Assign(assign) => Some((assign.targets.first()?, &*assign.value)),
        Stmt::AnnAssign(assign) => Some((&*assign.target, assign.value.as_deref()?)),
        _ => None,
    });
    let filled = fills.any(|(target, value)| {
        let name = last_name(target).unwrap_or_default();
        is_container(value) && !binds_on_self(class, name) && keeps(&class.body, name)
    });
    filled.then_some("a value of its own, which its methods fill")
}

/// Whether all that a function returns are values that equal ones may stand for.
fn gives_plain(function: &StmtFunctionDef, item: &str) -> bool {
    struct PlainReturns<'a> {
        item: &'a str,
        plain: bool,
    }
    impl Visitor<'_> for PlainReturns<'_> {
        fn visit_stmt(&mut self, statement: &Stmt) {
            match statement {
                Stmt::Return(found) => {
                    let value = found.value.as_deref();
                    self.plain &= value.is_none_or(|value| is_plain(value, self.item));
                }
                Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
                _ => visitor::walk_stmt(self, statement),
            }
        }
    }
    let mut returns = PlainReturns { item, plain: true };
    returns.visit_body(&function.body);
    returns.plain
}

fn is_plain(value: &Expr, item: &str) -> bool {
    match value {
        Expr::StringLiteral(_)
        | Expr::BytesLiteral(_)
        | Expr::NumberLiteral(_)
        | Expr::BooleanLiteral(_)
        | Expr::NoneLiteral(_)
        | Expr::FString(_)
        | Expr::Compare(_) => true,
        Expr::BinOp(found) => is_plain(&found.left, item) || is_plain(&found.right, item),
        Expr::UnaryOp(found) => {
            matches!(found.op, ast::UnaryOp::Not) || is_plain(&found.operand, item)
        }
        Expr::BoolOp(found) => found.values.iter().all(|value| is_plain(value, item)),
        Expr::If(found) => is_plain(&found.body, item) && is_plain(&found.orelse, item),
        Expr::Tuple(found) => found.elts.iter().all(|value| is_plain(value, item)),
        Expr::Call(call) => {
            last_name(&call.func).is_some_and(|name| name == item || PLAIN_CALLS.contains(&name))
        }
        _ => false,
    }
}

/// A value that can be filled.
fn is_container(value: &Expr) -> bool {
    match value {
        Expr::List(_) | Expr::Dict(_) | Expr::Set(_) => true,
        Expr::Call(call) => last_name(&call.func).is_some_and(|name| {
            matches!(
                name,
                "list"
                    | "dict"
                    | "set"
                    | "defaultdict"
                    | "deque"
                    | "Counter"
                    | "OrderedDict"
                    | "count"
                    | "object"
            )
        }),
        _ => false,
    }
}

/// Whether code changes what a name, or an attribute of that name, holds, or hands it out.
fn keeps(body: &[Stmt], name: &str) -> bool {
    struct Search<'a> {
        name: &'a str,
        found: bool,
    }
    impl Search<'_> {
        fn is_ours(&self, value: &Expr) -> bool {
            last_name(value) == Some(self.name)
        }
    }
    impl Visitor<'_> for Search<'_> {
        fn visit_stmt(&mut self, statement: &Stmt) {
            self.found |= match statement {
                Stmt::AugAssign(assign) => self.is_ours(&assign.target),
                Stmt::Return(found) => found.value.as_deref().is_some_and(|it| self.is_ours(it)),
                _ => false,
            };
            visitor::walk_stmt(self, statement);
        }

        fn visit_expr(&mut self, expression: &Expr) {
            let is_ours = |value: &Expr| self.is_ours(value);
            self.found |= changes_content(expression, is_ours, |method| !READERS.contains(&method));
            visitor::walk_expr(self, expression);
        }
    }
    let mut search = Search { name, found: false };
    search.visit_body(body);
    search.found
}

/// Whether an object gets an attribute of this name for itself.
fn binds_on_self(class: &StmtClassDef, name: &str) -> bool {
    let of_self = |owner: &Expr| matches!(owner, Expr::Name(found) if found.id.as_str() == "self");
    let mut search = Sets {
        owner: &of_self,
        name: Some(name),
        found: false,
    };
    search.visit_body(&class.body);
    search.found
}

fn sets_attributes(body: &[Stmt], owner: &dyn Fn(&Expr) -> bool) -> bool {
    let mut search = Sets {
        owner,
        name: None,
        found: false,
    };
    search.visit_body(body);
    search.found
}

/// Looks for attributes of an owner that are set, or, of any name, filled.
struct Sets<'a> {
    owner: &'a dyn Fn(&Expr) -> bool,
    name: Option<&'a str>,
    found: bool,
}

impl Sets<'_> {
    fn is_ours(&self, value: &Expr) -> bool {
        matches!(value, Expr::Attribute(attribute)
            if (self.owner)(&attribute.value) && self.name.is_none_or(|name| attribute.attr.as_str() == name))
    }
}

impl Visitor<'_> for Sets<'_> {
    fn visit_expr(&mut self, expression: &Expr) {
        self.found |= match expression {
            Expr::Attribute(place) => {
                !matches!(place.ctx, ExprContext::Load) && self.is_ours(expression)
            }
            other => {
                let is_ours = |value: &Expr| self.is_ours(value);
                self.name.is_none()
                    && changes_content(other, is_ours, |method| CHANGING.contains(&method))
            }
        };
        visitor::walk_expr(self, expression);
    }
}

/// Whether an expression changes what an object of ours contains: by a subscript, a method, or `next`.
fn changes_content(
    expression: &Expr,
    is_ours: impl Fn(&Expr) -> bool,
    is_changing: impl Fn(&str) -> bool,
) -> bool {
    match expression {
        Expr::Subscript(place) => is_ours(&place.value) && !matches!(place.ctx, ExprContext::Load),
        Expr::Call(call) => match &*call.func {
            Expr::Attribute(method) => is_ours(&method.value) && is_changing(&method.attr),
            function => {
                last_name(function) == Some("next") && call.arguments.args.iter().any(is_ours)
            }
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use ruff_python_parser::Mode;

    use super::*;

    #[test]
    fn what_definitions_keep_for_themselves_is_seen() {
        for (text, expected) in [
            ("def x(a, seen=[]):\n    seen.append(a)", true),
            ("def x(a, seen={}):\n    seen[a] = 1", true),
            ("def x(a, names=[]):\n    return sorted(names)", false),
            ("def x(a, names=()):\n    return names", false),
            (
                "@lru_cache(maxsize=None)\ndef x(a):\n    return {a: 1}",
                true,
            ),
            ("@cache\ndef x():\n    return Client()", true),
            (
                "@cache\ndef x(n):\n    return n if n < 2 else x(n - 1)",
                true,
            ),
            (
                "@cache\ndef x(n):\n    return 1 if n < 2 else n * x(n - 1)",
                false,
            ),
            (
                "@lru_cache\ndef x():\n    return find_spec('cupy') is not None",
                false,
            ),
            ("def x():\n    x.calls += 1", true),
            (
                "class x:\n    last = 0\n    @classmethod\n    def f(cls): cls.last += 1",
                true,
            ),
            (
                "class x:\n    all = []\n    def f(self): self.all.append(self)",
                true,
            ),
            ("class x:\n    def f(self): x.all.append(self)", true),
            (
                "class x:\n    ids = count()\n    def __init__(self): self.id = next(x.ids)",
                true,
            ),
            (
                "class x:\n    all = []\n    def __init__(self): self.all = []\n    def f(self): self.all.append(1)",
                false,
            ),
            (
                "class x:\n    kinds = ['a']\n    def f(self): return self.kinds[0]",
                false,
            ),
            ("class x:\n    def f(self): self.n = 1", false),
        ] {
            let parsed = crate::parser::parse(text, Mode::Module);
            let ast::Mod::Module(module) = parsed.syntax() else {
                panic!("{text}")
            };
            let [first, ..] = &*module.body else {
                panic!("{text}")
            };
            assert_eq!(own_state(first, "x").is_some(), expected, "{text}");
        }
    }
}
