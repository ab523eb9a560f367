//! What users of a definition get when another one takes its place. Python says it in annotations, or
//! not at all.

use ruff_python_ast::{
    Expr, Stmt, StmtFunctionDef, UnaryOp,
    comparable::ComparableExpr,
    visitor::{self, Visitor},
};
use ruff_text_size::Ranged;

use super::{changed_copies, equivalence::Definition, signatures::Swap, unlike};
use crate::{
    analysis::{Use, shift},
    rewrite::mapping::Mapping,
};

/// What is known of a definition and another one of another text that takes its place.
pub(super) enum Results {
    /// Functions of one result, values of one type.
    Alike,
    /// They give two types, or are two kinds of thing: how, as a sentence.
    Differ(String),
    /// Nothing in the text says what they give: which, as a sentence.
    Unknown(String),
}

/// Compares what two definitions give, as far as annotations and plain expressions say it.
pub(super) fn compare(
    mapping: &Mapping<'_>,
    (swap, old, new): (&Swap, &Definition, &Definition),
) -> Results {
    let (from, to) = (&swap.from, &swap.to);
    match (&old.statement, &new.statement) {
        (Stmt::FunctionDef(was), Stmt::FunctionDef(is)) => {
            if was.is_async == is.is_async {
                return match functions(mapping, swap, (old, was), (new, is)) {
                    Results::Alike if changed_copies::are_copies(was, is) => Results::Unknown(
                        format!("`{from}` and `{to}` are nearly one text, and not the same"),
                    ),
                    told => told,
                };
            }
            let waited = if is.is_async { to } else { from };
            Results::Differ(format!(
                "of `{from}` and `{to}`, only `{waited}` has to be awaited"
            ))
        }
        (Stmt::ClassDef(was), Stmt::ClassDef(is)) => {
            let unlike = unlike::classes(mapping, swap, (old, was), is);
            let why = format!("the classes `{from}` and `{to}` are not the same");
            unlike.map_or(Results::Unknown(why), Results::Differ)
        }
        (was, is) if is_value(was) && is_value(is) => values(swap, was, is),
        _ => Results::Differ(format!("`{from}` and `{to}` are two kinds of thing")),
    }
}

/// Compares two values by their types.
fn values(swap: &Swap, was: &Stmt, is: &Stmt) -> Results {
    let why = format!("`{}` and `{}` are not the same value", swap.from, swap.to);
    match decide(value(was), value(is), why.clone()) {
        // Whether users mind is nothing that a type tells, as it does of what functions give.
        Results::Alike => Results::Unknown(why),
        told => told,
    }
}

fn functions(
    mapping: &Mapping<'_>,
    swap: &Swap,
    (old, was): (&Definition, &StmtFunctionDef),
    (new, is): (&Definition, &StmtFunctionDef),
) -> Results {
    let (from, to) = (&swap.from, &swap.to);
    let why = format!("`{from}` and `{to}` are not the same, nor known to return one type");
    if let Some(why) = kinds_apart(swap, was, is) {
        return Results::Differ(why);
    }
    // A decorator may make anything of what a function returns.
    if !was.decorator_list.is_empty() || !is.decorator_list.is_empty() {
        return Results::Unknown(why);
    }
    if let (Some(a), Some(b)) = (was.returns.as_deref(), is.returns.as_deref()) {
        return annotations(mapping, swap, (old, a), (new, b));
    }
    if yields(was) != yields(is) {
        let only = if yields(was) { from } else { to };
        let why = format!("of `{from}` and `{to}`, only `{only}` yields its values one by one");
        return Results::Differ(why);
    }
    decide(returned(was), returned(is), why)
}

/// Which of two functions alone is of a kind, as a sentence.
fn kinds_apart(swap: &Swap, was: &StmtFunctionDef, is: &StmtFunctionDef) -> Option<String> {
    let (from, to) = (&swap.from, &swap.to);
    KINDS.iter().find_map(|(decorator, what)| {
        let (a, b) = (is_decorated(was, decorator), is_decorated(is, decorator));
        let only = if a { from } else { to };
        (a != b).then(|| format!("of `{from}` and `{to}`, only `{only}` is {what}"))
    })
}

/// Compares what two functions say that they return.
fn annotations(
    mapping: &Mapping<'_>,
    swap: &Swap,
    (old, a): (&Definition, &Expr),
    (new, b): (&Definition, &Expr),
) -> Results {
    if is_same(mapping, (old, a), (new, b)) {
        return Results::Alike;
    }
    Results::Differ(format!(
        "`{}` returns {}, and `{}` returns {}",
        swap.from,
        spelled(mapping, old, a),
        swap.to,
        spelled(mapping, new, b)
    ))
}

/// Decorators that make another kind of thing of a function, and which.
const KINDS: [(&str, &str); 4] = [
    ("contextmanager", "a context manager"),
    ("asynccontextmanager", "an asynchronous context manager"),
    ("fixture", "a fixture of pytest"),
    ("singledispatch", "one that others add to"),
];

/// Whether a decorator of this name, called or not, stands on a function.
pub(super) fn is_decorated(function: &StmtFunctionDef, name: &str) -> bool {
    let last = |expression: &Expr| match expression {
        Expr::Name(found) => found.id.as_str() == name,
        Expr::Attribute(found) => found.attr.as_str() == name,
        _ => false,
    };
    let mut decorators = function.decorator_list.iter();
    decorators.any(|decorator| match &decorator.expression {
        Expr::Call(call) => last(&call.func),
        plain => last(plain),
    })
}

fn yields(function: &StmtFunctionDef) -> bool {
    let mut returns = Returns::default();
    returns.visit_body(&function.body);
    returns.yields
}

fn decide(was: Option<Kind>, is: Option<Kind>, why: String) -> Results {
    match (was, is) {
        (Some(was), Some(is)) if was == is => Results::Alike,
        // `None` stands for a value that comes later, and for one that there is not.
        (Some(was), Some(is)) if was != Kind::Nothing && is != Kind::Nothing => {
            Results::Differ(format!("{why}: {} and {}", was.told(), is.told()))
        }
        _ => Results::Unknown(why),
    }
}

/// A type that an expression shows by itself, whatever the names in it mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Nothing,
    Truth,
    Integer,
    Float,
    Text,
    Bytes,
    List,
    Dictionary,
    Set,
    /// Of so many values.
    Tuple(usize),
}

impl Kind {
    /// As a page names it.
    fn told(self) -> String {
        let name = match self {
            Self::Nothing => "`None`",
            Self::Truth => "`bool`",
            Self::Integer => "`int`",
            Self::Float => "`float`",
            Self::Text => "`str`",
            Self::Bytes => "`bytes`",
            Self::List => "`list`",
            Self::Dictionary => "`dict`",
            Self::Set => "`set`",
            Self::Tuple(values) => return format!("a `tuple` of {values}"),
        };
        name.to_owned()
    }
}

fn kind(expression: &Expr) -> Option<Kind> {
    Some(match expression {
        Expr::NoneLiteral(_) => Kind::Nothing,
        Expr::BooleanLiteral(_) => Kind::Truth,
        Expr::UnaryOp(not) if not.op == UnaryOp::Not => Kind::Truth,
        Expr::NumberLiteral(number) if number.value.is_int() => Kind::Integer,
        Expr::NumberLiteral(number) if number.value.is_float() => Kind::Float,
        Expr::StringLiteral(_) | Expr::FString(_) => Kind::Text,
        Expr::BytesLiteral(_) => Kind::Bytes,
        Expr::List(_) | Expr::ListComp(_) => Kind::List,
        Expr::Dict(_) | Expr::DictComp(_) => Kind::Dictionary,
        Expr::Set(_) | Expr::SetComp(_) => Kind::Set,
        Expr::Tuple(tuple) if !tuple.elts.iter().any(Expr::is_starred_expr) => {
            Kind::Tuple(tuple.elts.len())
        }
        _ => return None,
    })
}

fn value(statement: &Stmt) -> Option<Kind> {
    match statement {
        Stmt::Assign(assign) => kind(&assign.value),
        Stmt::AnnAssign(assign) => kind(assign.value.as_deref()?),
        _ => None,
    }
}

/// The type that every `return` of a function shows; `None` where they differ, one does not show it, or
/// something else than `return` gives values.
fn returned(function: &StmtFunctionDef) -> Option<Kind> {
    let mut returns = Returns::default();
    returns.visit_body(&function.body);
    // Who leaves a body by its end gets nothing.
    if !matches!(function.body.last(), Some(Stmt::Return(_) | Stmt::Raise(_))) {
        returns.kinds.push(Some(Kind::Nothing));
    }
    match returns.kinds.split_first() {
        Some((first, others)) if others.iter().all(|other| other == first) => {
            first.filter(|_| !returns.yields)
        }
        _ => None,
    }
}

/// What the `return` statements of one function show, without those of functions in it.
#[derive(Default)]
struct Returns {
    kinds: Vec<Option<Kind>>,
    yields: bool,
}

impl Visitor<'_> for Returns {
    fn visit_stmt(&mut self, statement: &Stmt) {
        match statement {
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
            Stmt::Return(found) => {
                let shown = found.value.as_deref().map_or(Some(Kind::Nothing), kind);
                self.kinds.push(shown);
                visitor::walk_stmt(self, statement);
            }
            _ => visitor::walk_stmt(self, statement),
        }
    }

    fn visit_expr(&mut self, expression: &Expr) {
        self.yields |= matches!(expression, Expr::Yield(_) | Expr::YieldFrom(_));
        if !matches!(expression, Expr::Lambda(_)) {
            visitor::walk_expr(self, expression);
        }
    }
}

fn is_value(statement: &Stmt) -> bool {
    matches!(statement, Stmt::Assign(_) | Stmt::AnnAssign(_))
}

/// Whether two annotations say the same in names that mean the same.
fn is_same(
    mapping: &Mapping<'_>,
    (old, a): (&Definition, &Expr),
    (new, b): (&Definition, &Expr),
) -> bool {
    let pairs = names_in(old, a).zip(names_in(new, b));
    ComparableExpr::from(a) == ComparableExpr::from(b)
        && pairs
            .into_iter()
            .all(|(a, b)| old.meaning(mapping, a) == new.meaning(mapping, b))
}

fn names_in<'a>(definition: &'a Definition, part: &Expr) -> impl Iterator<Item = &'a Use> {
    let span = shift(part.range(), definition.start()).range();
    let inside = move |used: &&Use| {
        let root = used.chain.first();
        root.is_some_and(|root| span.contains(&(root.span.start as usize)))
    };
    definition.names().filter(inside)
}

/// An annotation by the names that it leads to, for people.
fn spelled(mapping: &Mapping<'_>, definition: &Definition, part: &Expr) -> String {
    match (names_in(definition, part).next(), part) {
        (Some(used), Expr::Name(_) | Expr::Attribute(_)) => {
            let parts = used.chain.iter().skip(1).map(|part| part.text.as_str());
            let root = definition.meaning(mapping, used);
            let root = root.or_else(|| Some(used.chain.first()?.text.clone()));
            let name: Vec<&str> = root.as_deref().into_iter().chain(parts).collect();
            format!("`{}`", name.join("."))
        }
        _ => "another annotated type".to_owned(),
    }
}
