//! Classes whose objects are equal to those of their own class alone: enumerations, data classes, and what asks for the
//! class in its `__eq__`. Objects of two classes of equal text are never equal; once the two classes are one, they may be.

use coalesce_model::Texts;
use rayon::prelude::*;
use ruff_python_ast::{
    CmpOp, Expr, ExprCompare, Stmt,
    visitor::{self, Visitor},
};
use rustc_hash::FxHashSet;

use super::{equivalence::Modules, signatures::Swap};
use crate::{
    analysis::{
        Analysis, Definition,
        predicates::{is_literal, last_name},
    },
    graph::{Entity, PythonGraph},
    names::Names,
    parser::{parse_module, statements},
    rewrite::mapping::Mapping,
};

/// Bases by whose values members are compared, whatever their class is.
const BY_VALUE: [&str; 6] = ["IntEnum", "IntFlag", "StrEnum", "bytes", "int", "str"];

const ENUMERATIONS: [&str; 4] = ["Enum", "Flag", "IntEnum", "StrEnum"];

/// Decorators that make an `__eq__` which asks for the class.
const COMPARED: [&str; 6] = ["attrs", "dataclass", "define", "frozen", "mutable", "s"];

/// Methods that look for what is equal to what they are given.
const LOOKING: [&str; 10] = [
    "add",
    "assertEqual",
    "assertIn",
    "assertIs",
    "assertNotEqual",
    "count",
    "get",
    "index",
    "pop",
    "remove",
];

/// How objects of a class are told from others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    /// By `==` and all that goes by it.
    Equal,
    /// By `is` alone: `==` goes by the value.
    Same,
}

/// One use of an item of the tree.
pub(super) struct UsedItem {
    /// The definition at module level that it stands in.
    by: Option<String>,
    item: (usize, String),
}

/// What each module uses of the tree.
pub(super) type UsedItems = Vec<Vec<UsedItem>>;

/// Reads what each module uses.
pub(super) fn used_items(graph: &PythonGraph, texts: &dyn Texts) -> UsedItems {
    let modules = graph.modules.par_iter().enumerate();
    let used = modules.map(|(index, module)| {
        let text = texts.text(&module.path).unwrap_or_default();
        used_by(graph, index, &text)
    });
    used.collect()
}

/// What one module uses.
fn used_by(graph: &PythonGraph, module: usize, text: &str) -> Vec<UsedItem> {
    let analysis = Analysis::without_annotations(text);
    let names = Names::new(graph, Some(module), &analysis);
    let definitions = analysis.definitions.iter();
    let mut own: Vec<&Definition> = definitions.filter(|each| each.class.is_none()).collect();
    own.sort_by_key(|each| each.span.start);
    let around = |at: u32| {
        let begun = own.partition_point(|each| each.span.start <= at);
        let last = begun.checked_sub(1).and_then(|last| own.get(last))?;
        (at < last.span.end).then(|| last.name.clone())
    };
    let uses = analysis.uses.iter().flat_map(|used| {
        let by = used.chain.first().and_then(|root| around(root.span.start));
        let meanings = names.meanings(used).into_iter();
        let items = meanings.filter_map(|meaning| match meaning.entity {
            Some(Entity::Item(home, item)) => Some((home, item)),
            _ => None,
        });
        items.map(move |item| UsedItem {
            by: by.clone(),
            item,
        })
    });
    uses.collect()
}

/// How far objects of a class are followed: through so many definitions that use each other.
const MOST_STEPS: usize = 3;

/// A class, and what uses it: its objects may come from there.
fn carriers(used: &UsedItems, class: (usize, String)) -> FxHashSet<(usize, String)> {
    let mut carriers = FxHashSet::from_iter([class]);
    for _ in 0..MOST_STEPS {
        let all = used.iter().enumerate();
        let users = all.flat_map(|(index, uses)| uses.iter().map(move |each| (index, each)));
        let users = users.filter(|(_, each)| carriers.contains(&each.item));
        let more = users.filter_map(|(index, each)| Some((index, each.by.clone()?)));
        let more: Vec<(usize, String)> = more.collect();
        carriers.extend(more);
    }
    carriers
}

/// The module that may hold objects of both classes of a swap, and compares.
pub(super) fn place(
    mapping: &Mapping<'_>,
    modules: &Modules<'_>,
    swap: &Swap,
    (statement, (home, item)): (&Stmt, (usize, &str)),
) -> Option<String> {
    let told = told_by(statement)?;
    let used = modules.used_items(mapping.graph);
    let both = [(swap.source, swap.item.as_str()), (home, item)];
    let both = both.map(|(home, item)| carriers(used, (home, item.to_owned())));
    let (index, _) = used.iter().enumerate().find(|(index, uses)| {
        let holds = |side: &FxHashSet<_>| uses.iter().any(|each| side.contains(&each.item));
        let text = || modules.text(mapping.graph, *index);
        both.iter().all(holds) && text().is_some_and(|text| compares(&text, told))
    })?;
    Some(mapping.graph.modules.get(index)?.name.clone())
}

/// How objects of a class are told from those of one of equal text, if they are.
fn told_by(statement: &Stmt) -> Option<Told> {
    let Stmt::ClassDef(class) = statement else {
        return None;
    };
    let is_any = |name: Option<&str>, of: &[&str]| name.is_some_and(|name| of.contains(&name));
    let bases = || class.bases().iter().map(last_name);
    let enumerates = bases().any(|base| is_any(base, &ENUMERATIONS));
    if enumerates || bases().any(|base| base.is_some_and(|base| base.ends_with("Enum"))) {
        let by_value = bases().any(|base| is_any(base, &BY_VALUE));
        return Some(if by_value { Told::Same } else { Told::Equal });
    }
    let mut decorators = class.decorator_list.iter();
    let compared = decorators.any(|decorator| makes_equality(&decorator.expression));
    let own = class
        .body
        .iter()
        .any(|each| matches!(each, Stmt::FunctionDef(method) if method.name.as_str() == "__eq__"));
    (compared || own).then_some(Told::Equal)
}

/// Whether a decorator makes an `__eq__`: `@dataclass` does, `@dataclass(eq=False)` does not.
fn makes_equality(decorator: &Expr) -> bool {
    let called = match decorator {
        Expr::Call(call) => {
            let equal = call.arguments.find_keyword("eq");
            let off =
                equal.is_some_and(|eq| matches!(&eq.value, Expr::BooleanLiteral(is) if !is.value));
            (!off).then_some(&*call.func)
        }
        plain => Some(plain),
    };
    let name = called.and_then(last_name);
    name.is_some_and(|name| COMPARED.contains(&name))
}

/// Whether a file compares what need be no literal.
fn compares(text: &str, told: Told) -> bool {
    let (parsed, _) = parse_module(text);
    let mut comparing = Comparing { told, found: false };
    comparing.visit_body(statements(&parsed));
    comparing.found
}

struct Comparing {
    told: Told,
    found: bool,
}

impl Comparing {
    fn compare(&self, compare: &ExprCompare) -> bool {
        let mut sides = std::iter::once(&*compare.left).chain(&compare.comparators);
        let told = compare.ops.iter().any(|op| match op {
            CmpOp::Is | CmpOp::IsNot => true,
            CmpOp::Eq | CmpOp::NotEq | CmpOp::In | CmpOp::NotIn => self.told == Told::Equal,
            _ => false,
        });
        told && !sides.any(is_plain)
    }
}

/// Whether an expression gives something that is no object of a class of the tree.
fn is_plain(expression: &Expr) -> bool {
    match expression {
        Expr::Call(call) => matches!(last_name(&call.func), Some("len" | "type")),
        Expr::FString(_) => true,
        other => is_literal(other) || matches!(last_name(other), Some("__name__" | "__class__")),
    }
}

impl Visitor<'_> for Comparing {
    fn visit_stmt(&mut self, statement: &Stmt) {
        self.found |= statement.is_match_stmt() && self.told == Told::Equal;
        visitor::walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &Expr) {
        let equal = self.told == Told::Equal;
        self.found |= match expression {
            Expr::Compare(compare) => self.compare(compare),
            Expr::Subscript(place) => equal && is_key(&place.slice),
            Expr::Call(call) => {
                let looks = call.func.is_attribute_expr()
                    && last_name(&call.func).is_some_and(|name| LOOKING.contains(&name));
                equal && looks && call.arguments.args.iter().any(|each| !is_literal(each))
            }
            _ => false,
        };
        visitor::walk_expr(self, expression);
    }
}

/// Whether what is looked up may be an object.
fn is_key(slice: &Expr) -> bool {
    let looked_up =
        |each: &Expr| each.is_name_expr() || each.is_attribute_expr() || each.is_call_expr();
    match slice {
        Expr::Tuple(keys) => keys.elts.iter().any(looked_up),
        key => looked_up(key),
    }
}
