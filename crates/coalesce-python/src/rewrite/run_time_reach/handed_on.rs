//! What a function of a library is handed that serves as a module's `__getattr__`: `__getattr__ = partial(deprecated,
//! __name__, {"Old": ("New", New)})`. It knows no more of the tree than that, and the name that it is asked for.

use coalesce_model::{ByteSpan, Change, Texts};
use ruff_python_ast::{Expr, ExprCall};

use super::maker_call;
use crate::{graph::PythonGraph, names::is_word, parser};

/// The words of the texts that a library is handed.
pub(super) struct Spelled {
    words: Vec<String>,
}

impl Spelled {
    /// Whether one of them is a part of the name of what a change is about, below the package.
    pub(super) fn says(&self, graph: &PythonGraph, package: usize, change: &Change) -> bool {
        let package = graph.modules.get(package).map(|own| own.name.as_str());
        let below = package.and_then(|package| change.from.strip_prefix(package));
        let mut parts = below.unwrap_or(&change.from).split('.');
        parts.any(|part| self.words.iter().any(|word| word == part))
    }
}

/// What the call at a place hands to a function of a library; none where it is no such call, or hands what is not read.
pub(super) fn handed_to_library(
    graph: &PythonGraph,
    module: usize,
    span: ByteSpan,
    texts: &dyn Texts,
) -> Option<Spelled> {
    let text = texts.text(&graph.modules.get(module)?.path)?;
    let (parsed, start) = parser::parse_module(&text);
    let call = maker_call(parser::statements(&parsed), span.start.checked_sub(start)?)?;
    let (function, handed) = served(call)?;
    if !call.arguments.keywords.is_empty() || !is_of_library(graph, module, function) {
        return None;
    }
    let mut words = Vec::new();
    for argument in handed {
        let own_name = argument.as_name_expr();
        let own_name = own_name.is_some_and(|name| name.id.as_str() == "__name__");
        (own_name || take_words(argument, &mut words)).then_some(())?;
    }
    Some(Spelled { words })
}

/// The function that a call hands something to: its own, or that of `partial`.
fn served(call: &ExprCall) -> Option<(&str, &[Expr])> {
    let called = match &*call.func {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        _ => return None,
    };
    match &*call.arguments.args {
        [Expr::Name(function), rest @ ..] if called == "partial" => {
            Some((function.id.as_str(), rest))
        }
        all => Some((call.func.as_name_expr()?.id.as_str(), all)),
    }
}

/// Whether one import of a module brings a name, from outside of the tree.
fn is_of_library(graph: &PythonGraph, module: usize, name: &str) -> bool {
    let imports = graph.facts.get(module).into_iter();
    let leaves = imports.flat_map(|facts| facts.import_leaves());
    let mut bringing = leaves.filter(|(_, leaf)| leaf.bound() == name);
    let (Some((import, _)), None) = (bringing.next(), bringing.next()) else {
        return false;
    };
    let from = import.from.as_ref().filter(|from| from.level == 0);
    let top = from.and_then(|from| from.module.split('.').next());
    top.is_some_and(|top| graph.find(None, top).is_none())
}

/// Takes the words of the texts in a table; `false` where it holds what is neither a literal nor, in a row of it, a name.
fn take_words(value: &Expr, words: &mut Vec<String>) -> bool {
    let mut row = |value: &Expr| match value {
        Expr::Tuple(tuple) => tuple
            .elts
            .iter()
            .all(|each| each.is_name_expr() || take_words(each, words)),
        other => take_words(other, words),
    };
    match value {
        Expr::Dict(dict) => dict.items.iter().all(|item| {
            let key = item.key.as_ref();
            key.is_some_and(Expr::is_string_literal_expr)
                && key.into_iter().chain([&item.value]).all(&mut row)
        }),
        Expr::List(list) => list.elts.iter().all(row),
        Expr::StringLiteral(literal) => {
            let own = literal.value.to_str().split(|c: char| !is_word(c));
            words.extend(own.filter(|word| !word.is_empty()).map(str::to_owned));
            true
        }
        other => {
            other.is_number_literal_expr()
                || other.is_boolean_literal_expr()
                || other.is_none_literal_expr()
        }
    }
}
