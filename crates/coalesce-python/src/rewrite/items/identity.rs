//! Values that are more than their text: a lock, a sentinel, a table that functions fill. Two of equal text are two
//! objects, and who goes over from one to the other leaves the others behind.

use ruff_python_ast::{
    self as ast, CmpOp, Expr, ExprContext, Stmt,
    visitor::{self, Visitor},
};

use crate::analysis::predicates::last_name;

/// What gives an object of its own each time, to be told from others or to be filled.
const KEEPERS: [&str; 20] = [
    "Barrier",
    "BoundedSemaphore",
    "Condition",
    "ContextVar",
    "Counter",
    "Event",
    "Lock",
    "Queue",
    "RLock",
    "Semaphore",
    "SimpleQueue",
    "WeakKeyDictionary",
    "WeakSet",
    "WeakValueDictionary",
    "ChainMap",
    "count",
    "defaultdict",
    "deque",
    "local",
    "object",
];

/// Methods that leave what they are called on as it is.
pub(super) const READERS: [&str; 24] = [
    "copy",
    "count",
    "debug",
    "decode",
    "encode",
    "endswith",
    "error",
    "format",
    "fullmatch",
    "get",
    "index",
    "info",
    "items",
    "join",
    "keys",
    "lower",
    "match",
    "search",
    "split",
    "startswith",
    "sub",
    "upper",
    "values",
    "warning",
];

/// Whether it matters which of two objects of equal text a name means: by what makes the value, or by what the
/// modules that have the names do with it.
pub(super) fn matters(statement: &Stmt, item: &str, modules: &[&[Stmt]]) -> bool {
    let value = match statement {
        Stmt::Assign(assign) => Some(&*assign.value),
        Stmt::AnnAssign(assign) => assign.value.as_deref(),
        _ => None,
    };
    match value {
        Some(Expr::Call(call)) => {
            let name = last_name(&call.func).unwrap_or_default();
            KEEPERS.contains(&name) || modules.iter().any(|body| is_changed(body, item))
        }
        Some(
            Expr::List(_)
            | Expr::Dict(_)
            | Expr::Set(_)
            | Expr::ListComp(_)
            | Expr::DictComp(_)
            | Expr::SetComp(_)
            | Expr::Generator(_),
        ) => modules.iter().any(|body| is_changed(body, item)),
        _ => false,
    }
}

/// Whether something in a module changes what a name holds, or tells it from others.
fn is_changed(body: &[Stmt], item: &str) -> bool {
    let mut search = Search { item, found: false };
    search.visit_body(body);
    search.found
}

struct Search<'a> {
    item: &'a str,
    found: bool,
}

impl Search<'_> {
    fn is_ours(&self, expression: &Expr) -> bool {
        last_name(expression) == Some(self.item)
    }
}

impl Visitor<'_> for Search<'_> {
    fn visit_stmt(&mut self, statement: &Stmt) {
        let found = match statement {
            Stmt::AugAssign(assign) => self.is_ours(&assign.target),
            Stmt::Global(global) => global.names.iter().any(|name| name.as_str() == self.item),
            Stmt::With(with) => with
                .items
                .iter()
                .any(|item| self.is_ours(&item.context_expr)),
            _ => false,
        };
        self.found |= found;
        visitor::walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &Expr) {
        let found = match expression {
            Expr::Subscript(place) => {
                self.is_ours(&place.value) && !matches!(place.ctx, ExprContext::Load)
            }
            Expr::Attribute(place) => {
                self.is_ours(&place.value) && !matches!(place.ctx, ExprContext::Load)
            }
            Expr::Call(ast::ExprCall { func, .. }) => match &**func {
                Expr::Attribute(method) => {
                    self.is_ours(&method.value) && !READERS.contains(&method.attr.as_str())
                }
                _ => false,
            },
            Expr::Compare(compare) => {
                let mut sides = std::iter::once(&*compare.left).chain(&compare.comparators);
                let tells = |op: &CmpOp| matches!(op, CmpOp::Is | CmpOp::IsNot);
                compare.ops.iter().any(tells) && sides.any(|side| self.is_ours(side))
            }
            _ => false,
        };
        self.found |= found;
        visitor::walk_expr(self, expression);
    }
}

#[cfg(test)]
mod tests {
    use ruff_python_parser::Mode;

    use super::*;

    #[test]
    fn what_is_filled_or_told_from_others_has_identity() {
        for (text, expected) in [
            ("X = {}\ndef put(k): X[k] = 1\n", true),
            ("X = []\ndef add(f): X.append(f)\n", true),
            ("X = {'a': 1}\ndef get(k): return X.get(k)\n", false),
            ("X = [1, 2]\ndef get(i): return X[i]\n", false),
            ("X = object()\n", true),
            ("X = threading.Lock()\n", true),
            ("X = make()\ndef f():\n    with X: pass\n", true),
            ("X = make()\ndef f(x): return x is X\n", true),
            ("X = np.float32(1)\ndef f(): return X + 1\n", false),
            ("X = 4\n", false),
        ] {
            let parsed = crate::parser::parse(text, Mode::Module);
            let ast::Mod::Module(module) = parsed.syntax() else {
                panic!("{text}")
            };
            let [first, ..] = &*module.body else {
                panic!("{text}")
            };
            assert_eq!(matters(first, "X", &[&module.body]), expected, "{text}");
        }
    }
}
