//! Objects of equal text that other modules change: they fill the one, register with it, make classes of it, set its
//! attributes. Who comes to have it in place of the other sees what was done to it.

use ruff_python_ast::{
    Decorator, Expr, ExprCall, ExprContext, Stmt,
    visitor::{self, Visitor},
};
use ruff_text_size::Ranged;
use rustc_hash::FxHashSet;

use super::{
    equal_objects::Item,
    equivalence::{Definition, Modules},
    identity::READERS,
    signatures::Swap,
};
use crate::{analysis::predicates::last_name, rewrite::mapping::Mapping};

/// Methods that change a list, a set, a dictionary.
const CHANGING: [&str; 16] = [
    "add",
    "append",
    "appendleft",
    "clear",
    "discard",
    "extend",
    "extendleft",
    "insert",
    "pop",
    "popitem",
    "popleft",
    "remove",
    "reverse",
    "setdefault",
    "sort",
    "update",
];

/// Methods of loggers that write and change nothing, beside [`READERS`].
const WRITERS: [&str; 4] = ["critical", "exception", "log", "warn"];

/// Functions that set an attribute of what they are given first.
const SETTING: [&str; 3] = ["delattr", "object", "setattr"];

/// The first object of these pairs that another module changes, where somebody has its counterpart, as a sentence.
pub(super) fn first(
    mapping: &Mapping<'_>,
    modules: &Modules<'_>,
    swap: &Swap,
    pairs: &[(Definition, Definition)],
) -> Option<String> {
    let (from, to) = (&swap.from, &swap.to);
    pairs.iter().find_map(|(old, new)| {
        let place = place(mapping, modules, (old, new))?;
        let what = match old.item == swap.item {
            true => "are two objects of equal text".to_owned(),
            false => format!("have each a `{}` of its own", old.item),
        };
        Some(format!(
            "`{from}` and `{to}` {what}, and `{place}` changes one of them: who has the other does not see it"
        ))
    })
}

/// The module that changes one of two objects, if the other is used.
fn place(
    mapping: &Mapping<'_>,
    modules: &Modules<'_>,
    (old, new): (&Definition, &Definition),
) -> Option<String> {
    let kind = Kind::of(&old.statement)?;
    let [was, is] = [old, new].map(|each| {
        let item = (each.module, each.item.clone());
        handling(mapping, modules, &item, kind)
    });
    let changed = was.changed.filter(|_| is.used);
    let changed = changed.or(is.changed.filter(|_| was.used))?;
    Some(mapping.graph.modules.get(changed)?.name.clone())
}

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A list, a set, a dictionary that is spelled out.
    Container,
    /// What a call gives.
    Made,
    /// A class or a function.
    Defined,
}

impl Kind {
    fn of(statement: &Stmt) -> Option<Self> {
        let value = match statement {
            Stmt::ClassDef(_) | Stmt::FunctionDef(_) => return Some(Self::Defined),
            Stmt::Assign(assign) => &*assign.value,
            Stmt::AnnAssign(assign) => assign.value.as_deref()?,
            _ => return None,
        };
        match value {
            Expr::Call(_) => Some(Self::Made),
            Expr::List(_)
            | Expr::Dict(_)
            | Expr::Set(_)
            | Expr::ListComp(_)
            | Expr::DictComp(_)
            | Expr::SetComp(_) => Some(Self::Container),
            _ => None,
        }
    }
}

/// What a tree does with an object.
struct Handling {
    used: bool,
    /// The first module other than its own that changes it.
    changed: Option<usize>,
}

fn handling(mapping: &Mapping<'_>, modules: &Modules<'_>, item: &Item, kind: Kind) -> Handling {
    let used = modules.used_items(mapping.graph);
    let mut found = Handling {
        used: false,
        changed: None,
    };
    for user in used.users(item) {
        let Some(read) = modules.read_of(mapping.graph, *user) else {
            continue;
        };
        let mut search = Search {
            ends: used.ends(*user, item),
            start: read.start,
            kind,
            used: false,
            changed: false,
        };
        search.visit_body(&read.statements);
        found.used |= search.used;
        if search.changed && *user != item.0 {
            found.changed.get_or_insert(*user);
        }
    }
    found
}

/// What a module does with an object.
struct Search {
    /// Where its names end.
    ends: FxHashSet<u32>,
    start: u32,
    kind: Kind,
    used: bool,
    changed: bool,
}

impl Search {
    fn is_ours(&self, expression: &Expr) -> bool {
        matches!(expression, Expr::Name(_) | Expr::Attribute(_))
            && (self.ends).contains(&(expression.range().end().to_u32() + self.start))
    }

    /// Whether it is the object, or an attribute of it.
    fn is_part(&self, expression: &Expr) -> bool {
        let owner = expression.as_attribute_expr().map(|part| &*part.value);
        self.is_ours(expression) || owner.is_some_and(|owner| self.is_ours(owner))
    }

    /// `@ours.command`, `@ours.command(…)`.
    fn registers(&self, decorator: &Decorator) -> bool {
        let called = match &decorator.expression {
            Expr::Call(call) => &*call.func,
            plain => plain,
        };
        let method = called.as_attribute_expr();
        method.is_some_and(|method| self.is_ours(&method.value))
    }

    /// A call whose result nobody takes is there for what it does.
    fn is_for_effect(&self, expression: &Expr) -> bool {
        let call = expression
            .as_call_expr()
            .filter(|_| self.kind == Kind::Made);
        let method = call.and_then(|call| call.func.as_attribute_expr());
        method.is_some_and(|method| {
            let name = method.attr.as_str();
            self.is_ours(&method.value) && !READERS.contains(&name) && !WRITERS.contains(&name)
        })
    }

    fn is_changing(&self, call: &ExprCall) -> bool {
        let method = call.func.as_attribute_expr();
        let changes = method.is_some_and(|method| {
            CHANGING.contains(&method.attr.as_str()) && self.is_part(&method.value)
        });
        let sets = last_name(&call.func).is_some_and(|name| SETTING.contains(&name));
        let given = call.arguments.args.first();
        changes || sets && given.is_some_and(|given| self.is_ours(given))
    }
}

impl Visitor<'_> for Search {
    fn visit_stmt(&mut self, statement: &Stmt) {
        let decorators = match statement {
            Stmt::FunctionDef(function) => &function.decorator_list[..],
            Stmt::ClassDef(class) => &class.decorator_list,
            _ => &[],
        };
        self.changed |= decorators.iter().any(|each| self.registers(each));
        self.changed |= match statement {
            Stmt::AugAssign(assign) => self.is_part(&assign.target),
            Stmt::Expr(found) => self.is_for_effect(&found.value),
            Stmt::ClassDef(class) => {
                let bases = class.arguments.iter().flat_map(|all| &all.args);
                self.kind == Kind::Made && bases.into_iter().any(|base| self.is_ours(base))
            }
            _ => false,
        };
        visitor::walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &Expr) {
        let stored = |context: &ExprContext| !matches!(context, ExprContext::Load);
        self.changed |= match expression {
            Expr::Subscript(place) => stored(&place.ctx) && self.is_part(&place.value),
            Expr::Attribute(place) => stored(&place.ctx) && self.is_ours(&place.value),
            Expr::Call(call) => self.is_changing(call),
            _ => false,
        };
        let context = match expression {
            Expr::Name(name) => Some(&name.ctx),
            Expr::Attribute(attribute) => Some(&attribute.ctx),
            _ => None,
        };
        let read = context.is_some_and(|context| !stored(context));
        self.used |= read && self.is_ours(expression);
        visitor::walk_expr(self, expression);
    }
}
