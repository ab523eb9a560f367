//! What has a module of its own that can be asked for: classes and functions have, plain values have not.

use coalesce_model::{Change, Subject};
use ruff_python_ast::{
    Expr,
    visitor::{self, Visitor},
};

use super::{MAKERS, Readers, heads, local_name};
use crate::{
    analysis::{DefinitionKind, predicates::collect_assigned_values},
    names::{is_word, last_word},
    parser::{parse_module, statements},
};

/// Calls of the standard library and of Python that make neither a class nor a function. What `TypeVar` and its kin make has
/// a module, and nobody asks for it.
const MAKING_VALUES: [&str; 17] = [
    "ContextVar",
    "Lock",
    "ParamSpec",
    "RLock",
    "TypeVar",
    "TypeVarTuple",
    "compile",
    "deque",
    "dict",
    "frozenset",
    "getLogger",
    "list",
    "object",
    "set",
    "str",
    "tuple",
    "uuid4",
];

/// Calls that make classes.
const MAKING_CLASSES: [&str; 10] = [
    "Enum",
    "Flag",
    "IntEnum",
    "NamedTuple",
    "NewType",
    "TypedDict",
    "make_dataclass",
    "namedtuple",
    "new_class",
    "type",
];

/// Whether the object that ends at a place is a class, whatever it is: `type(x)`, one of the `mro()` of another, a parameter
/// that is annotated so.
pub(super) fn is_class(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    if before.ends_with(".__class__") || is_type_call(before) {
        return true;
    }
    local_name(text, at)
        .is_some_and(|(code, word)| is_annotated(code, word) || is_of_bases(code, word))
}

/// `type(x)`, of one name.
fn is_type_call(before: &str) -> bool {
    let Some(inside) = before.strip_suffix(')') else {
        return false;
    };
    let word = last_word(inside);
    let head = inside.strip_suffix(word).unwrap_or(inside);
    let called = head.strip_suffix("type(");
    !word.is_empty()
        && called.is_some_and(|called| !called.ends_with(|c: char| is_word(c) || c == '.'))
}

/// `def f(word: type[T])`, of a parameter that is set nowhere else.
fn is_annotated(code: &str, word: &str) -> bool {
    let types = ["type", "type[", "Type["];
    let form = format!("{word}: ");
    let head = code.split_once(')').map_or(code, |(head, _)| head);
    let places = head.match_indices(form.as_str());
    let mut annotations =
        places.filter(|(at, _)| !head.get(..*at).unwrap_or_default().ends_with(is_word));
    let annotated = annotations.any(|(at, found)| {
        let rest = head.get(at + found.len()..).unwrap_or_default();
        let rest = rest.strip_prefix("typing.").unwrap_or(rest);
        types.iter().any(|form| {
            let after = rest.strip_prefix(form);
            after.is_some_and(|after| {
                form.ends_with('[')
                    || !after.starts_with(|c: char| is_word(c) || c == '.' || c == ' ')
            })
        })
    });
    annotated && !super::sets(code, word)
}

/// Whether all loops over which a name is set go over classes.
fn is_of_bases(code: &str, word: &str) -> bool {
    let form = format!("for {word} in ");
    let over: Vec<&str> = code
        .match_indices(form.as_str())
        .filter_map(|(at, found)| {
            let rest = code.get(at + found.len()..)?;
            rest.split(['\n', ':']).next()
        })
        .collect();
    let classes = ["mro()", "__mro__", "__bases__", "__subclasses__()"];
    let all = over.iter().all(|over| {
        let over = over.split(" if ").next().unwrap_or(over);
        let over = over.trim_end().trim_end_matches([')', ']', '}']);
        classes
            .iter()
            .any(|form| over.ends_with(form.trim_end_matches(')')) || over.ends_with(form))
    });
    // A comprehension sets a name of its own.
    !over.is_empty() && all && !code.contains(&format!("{word} = "))
}

impl Readers<'_> {
    /// Whether what a change takes along has a module that can be asked for, where classes alone may be asked or functions, too.
    pub(super) fn has_module(&self, change: &Change, classes_alone: bool) -> bool {
        match change.subject {
            Subject::Item => self.item_has_module(change, classes_alone).unwrap_or(true),
            Subject::Module if classes_alone => self.pieces(change).is_none_or(|pieces| {
                pieces.iter().any(|piece| {
                    let text = piece.text();
                    !heads(text).is_empty() || MAKERS.iter().any(|maker| text.contains(maker))
                })
            }),
            Subject::Module => true,
        }
    }

    /// The same of an item; nothing where its definition is not seen.
    fn item_has_module(&self, change: &Change, classes_alone: bool) -> Option<bool> {
        let (module, item) = change.from.rsplit_once('.')?;
        let graph = self.mapping.graph;
        let read = self.mapping.read(self.texts, graph.find(None, module)?)?;
        let own = read.analysis.definitions.iter();
        let mut own = own
            .filter(|each| each.class.is_none() && each.name == item)
            .filter(|each| each.kind != DefinitionKind::Value)
            .peekable();
        if own.peek().is_some() {
            return Some(own.any(|each| !classes_alone || each.kind == DefinitionKind::Class));
        }
        let (parsed, _) = parse_module(&read.text);
        let mut values = Vec::new();
        let is_it = |target: &Expr| matches!(target, Expr::Name(name) if name.id.as_str() == item);
        collect_assigned_values(statements(&parsed), &is_it, &mut values);
        let bindings = read.analysis.bindings(0, item);
        (!values.is_empty() && values.len() == bindings.len()).then(|| {
            values
                .iter()
                .any(|value| may_have_module(value, classes_alone, is_constant(item)))
        })
    }
}

/// Whether a name is spelled as those of constants are: `LIMIT`, `_RE_WORD`.
fn is_constant(name: &str) -> bool {
    let name = name.trim_start_matches('_');
    name.len() > 1 && !name.contains(char::is_lowercase)
}

/// Whether a value may be something that is made where it stands and knows its module.
fn may_have_module(value: &Expr, classes_alone: bool, constant: bool) -> bool {
    let mut makers = ValueMakers {
        classes_alone,
        constant,
        found: false,
    };
    makers.visit_expr(value);
    makers.found
}

/// Looks for calls, and for functions without a name.
struct ValueMakers {
    classes_alone: bool,
    /// What is called so by convention is no function.
    constant: bool,
    found: bool,
}

impl<'a> Visitor<'a> for ValueMakers {
    fn visit_expr(&mut self, expression: &'a Expr) {
        self.found |= match expression {
            Expr::Lambda(_) => !self.classes_alone,
            Expr::Call(call) => {
                let called = match &*call.func {
                    Expr::Name(name) => name.id.as_str(),
                    Expr::Attribute(attribute) => attribute.attr.as_str(),
                    _ => "",
                };
                match self.constant {
                    true => MAKING_CLASSES.contains(&called),
                    false => !MAKING_VALUES.contains(&called),
                }
            }
            Expr::Await(_) | Expr::Yield(_) | Expr::YieldFrom(_) => true,
            _ => false,
        };
        visitor::walk_expr(self, expression);
    }
}
