//! Where a program tells the objects of one class from those of another: what it catches, asks for, dispatches on.
//! Once two classes of equal text are one, what belonged to the one is taken for the other there.

use coalesce_model::{ByteSpan, Texts};
use ruff_python_ast::{
    CmpOp, ExceptHandler, Expr, ExprCompare, Pattern, Stmt,
    visitor::{self, Visitor},
};
use ruff_text_size::{Ranged, TextRange};

use super::signatures::Swap;
use crate::{
    analysis::{
        Analysis, Use,
        predicates::{chain, last_name},
        shift,
    },
    graph::Entity,
    names::Names,
    parser::{parse_module, statements},
    rewrite::mapping::Mapping,
};

/// Calls whose arguments tell classes apart.
const ASKING: [&str; 10] = [
    "assertRaises",
    "assertRaisesRegex",
    "dispatch",
    "errorhandler",
    "isinstance",
    "issubclass",
    "raises",
    "register",
    "retry_if_exception_type",
    "suppress",
];

/// What the files do with one of the classes.
#[derive(Default)]
struct Side {
    /// Modules that use it outside of its definition.
    users: Vec<usize>,
    /// The first place that asks for it.
    asked: Option<String>,
    /// Modules that compare its members, or have them as keys.
    compares: Vec<usize>,
}

/// A definition that gives way, and the one that takes over: its module, its name and its place.
pub(super) type Pair<'d> = (ByteSpan, (usize, &'d str, ByteSpan));

/// The place that tells the two classes of a swap apart, where the other one comes up as well.
pub(super) fn place(
    mapping: &Mapping<'_>,
    texts: &dyn Texts,
    swap: &Swap,
    pair: Pair<'_>,
) -> Option<String> {
    let (was, is) = sides(mapping, texts, swap, pair);
    let asked = was.asked.as_ref().filter(|_| !is.users.is_empty());
    let asked = asked.or(is.asked.as_ref().filter(|_| !was.users.is_empty()));
    asked.cloned().or_else(|| compares_both(mapping, &was, &is))
}

/// The place that compares the two definitions of a swap, or has both as keys of one table.
pub(super) fn compared(
    mapping: &Mapping<'_>,
    texts: &dyn Texts,
    swap: &Swap,
    pair: Pair<'_>,
) -> Option<String> {
    let (was, is) = sides(mapping, texts, swap, pair);
    compares_both(mapping, &was, &is)
}

fn compares_both(mapping: &Mapping<'_>, was: &Side, is: &Side) -> Option<String> {
    let both = was.compares.iter().find(|module| is.users.contains(module));
    let both = both.or_else(|| is.compares.iter().find(|module| was.users.contains(module)));
    Some(mapping.graph.modules.get(*both?)?.name.clone())
}

/// What the files of the tree do with the two definitions of a swap.
fn sides(
    mapping: &Mapping<'_>,
    texts: &dyn Texts,
    swap: &Swap,
    (old, new): Pair<'_>,
) -> (Side, Side) {
    let (home, item, own) = new;
    let (mut was, mut is) = (Side::default(), Side::default());
    for (index, module) in mapping.graph.modules.iter().enumerate() {
        let Some(text) = texts
            .text(&module.path)
            .filter(|text| text.contains(&swap.item) || text.contains(item))
        else {
            continue;
        };
        let analysis = Analysis::without_annotations(&text);
        let names = Names::new(mapping.graph, Some(index), &analysis);
        let (parsed, start) = parse_module(&text);
        let mut asks = Asks {
            start,
            asked: Vec::new(),
            compared: Vec::new(),
        };
        asks.visit_body(statements(&parsed));
        let sides = [
            (&mut was, swap.source, swap.item.as_str(), old),
            (&mut is, home, item, own),
        ];
        for (side, source, name, own) in sides {
            for used in &analysis.uses {
                let Some(end) = end(&names, used, source, name) else {
                    continue;
                };
                if source == index && own.contains(end) {
                    continue;
                }
                side.users.push(index);
                let holds = |spans: &[ByteSpan]| spans.iter().any(|span| span.contains(end));
                if holds(&asks.asked) {
                    side.asked.get_or_insert_with(|| module.name.clone());
                }
                if holds(&asks.compared) {
                    side.compares.push(index);
                }
            }
        }
    }
    (was, is)
}

/// The place of the name in a use that leads to an item.
fn end(names: &Names<'_>, used: &Use, source: usize, item: &str) -> Option<ByteSpan> {
    let meanings = names.meanings(used);
    let at = meanings.iter().position(|meaning| {
        matches!(&meaning.entity, Some(Entity::Item(home, name)) if *home == source && name == item)
    })?;
    Some(used.chain.get(at)?.span)
}

/// Where a definition asks for a class: what stands in tests, is caught or is raised.
pub(super) fn asked_in(statement: &Stmt, start: u32) -> Vec<ByteSpan> {
    let mut asks = Asks {
        start,
        asked: Vec::new(),
        compared: Vec::new(),
    };
    asks.visit_stmt(statement);
    let mut found = asks.asked;
    found.append(&mut asks.compared);
    found
}

struct Asks {
    start: u32,
    asked: Vec<ByteSpan>,
    /// What stands at one side of a comparison, or is a key.
    compared: Vec<ByteSpan>,
}

impl Asks {
    /// `x == K.A`, `x in (K.A, K.B)`, `type(x) is K`.
    fn compare(&mut self, compare: &ExprCompare) {
        let sides = || std::iter::once(&*compare.left).chain(&compare.comparators);
        let is_type = |side: &Expr| match side {
            Expr::Call(call) => last_name(&call.func) == Some("type"),
            Expr::Attribute(found) => found.attr.as_str() == "__class__",
            _ => false,
        };
        let orders = |op: &CmpOp| matches!(op, CmpOp::Lt | CmpOp::LtE | CmpOp::Gt | CmpOp::GtE);
        if compare.ops.iter().any(orders) || sides().any(Expr::is_none_literal_expr) {
            return;
        }
        if sides().any(is_type) {
            let spans = sides().map(|side| shift(side.range(), self.start));
            self.asked.extend(spans);
        } else {
            sides().for_each(|side| self.chains(side));
        }
    }

    /// A name with its attributes, or several in a tuple: not what is made of them.
    fn chains(&mut self, expression: &Expr) {
        match expression {
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|each| self.chains(each)),
            // What is read of an object, `K(1).laps`, is no member of its class.
            Expr::Name(_) | Expr::Attribute(_) if chain(expression).is_some() => {
                self.compared.push(self.span(expression.range()));
            }
            _ => {}
        }
    }

    fn span(&self, range: TextRange) -> ByteSpan {
        shift(range, self.start)
    }
}

impl Visitor<'_> for Asks {
    fn visit_stmt(&mut self, statement: &Stmt) {
        if let Stmt::FunctionDef(function) = statement
            && function
                .decorator_list
                .iter()
                .any(|each| last_name(&each.expression) == Some("register"))
        {
            // `@show.register` goes by the type of the first argument.
            let first = function.parameters.iter_non_variadic_params().next();
            let annotation = first.and_then(|first| first.parameter.annotation.as_deref());
            self.asked
                .extend(annotation.map(|found| shift(found.range(), self.start)));
        }
        visitor::walk_stmt(self, statement);
    }

    fn visit_except_handler(&mut self, handler: &ExceptHandler) {
        let ExceptHandler::ExceptHandler(found) = handler;
        let caught = found.type_.as_deref().map(|found| self.span(found.range()));
        self.asked.extend(caught);
        visitor::walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &Pattern) {
        if let Pattern::MatchClass(found) = pattern {
            self.asked.push(self.span(found.cls.range()));
        }
        visitor::walk_pattern(self, pattern);
    }

    fn visit_expr(&mut self, expression: &Expr) {
        match expression {
            Expr::Call(call)
                if last_name(&call.func).is_some_and(|name| ASKING.contains(&name)) =>
            {
                let arguments = call.arguments.args.iter();
                let spans = arguments.map(|each| shift(each.range(), self.start));
                self.asked.extend(spans);
            }
            Expr::Compare(compare) => self.compare(compare),
            Expr::Dict(dict) => {
                let keys = dict.items.iter().filter_map(|item| item.key.as_ref());
                keys.for_each(|key| self.chains(key));
            }
            Expr::Set(set) => set.elts.iter().for_each(|each| self.chains(each)),
            // In a type, too, where it does no harm.
            Expr::Subscript(place) => self.chains(&place.slice),
            _ => {}
        }
        visitor::walk_expr(self, expression);
    }
}
