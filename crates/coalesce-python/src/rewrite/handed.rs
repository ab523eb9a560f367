//! What a function of the tree is handed for a parameter, where it is never anything but a function of another library.
//!
//! NumPy hands the function that was called to `__array_function__`, and the package hands it on: `func.__module__` of
//! that is a name of NumPy, whatever moves in the tree.

use std::sync::Arc;

use coalesce_model::ByteSpan;

use super::module_names::in_parentheses;
use crate::{
    analysis::{Analysis, Definition, DefinitionKind},
    facts::{ImportStatement, Leaf},
    graph::PythonGraph,
    names::{arguments_at, is_word, occurrences_of_word},
};

/// Methods that a library calls with functions of its own.
const PROTOCOLS: [&str; 3] = [
    "__array_function__",
    "__array_ufunc__",
    "__torch_function__",
];

/// What makes functions of the tree some that a protocol hands on.
const DISPATCHERS: [&str; 3] = [
    "array_function_dispatch",
    "array_function_from_dispatcher",
    "handle_torch_function",
];

/// Whether all calls of a function in these texts hand something of another library to the parameter with this number.
pub fn is_from_elsewhere(
    graph: &PythonGraph,
    texts: &[Arc<str>],
    function: &str,
    parameter: usize,
) -> bool {
    let dispatched = |text: &Arc<str>| DISPATCHERS.iter().any(|word| text.contains(word));
    !texts.iter().any(dispatched)
        && texts.iter().all(|text| asks_by_hand(graph, text))
        && texts
            .iter()
            .filter(|text| occurrences_of_word(text, function))
            .all(|text| hands_what_is_outside(graph, text, function, parameter))
}

/// Whether who calls a protocol by hand gives it something of another library.
fn asks_by_hand(graph: &PythonGraph, text: &str) -> bool {
    PROTOCOLS.iter().all(|protocol| {
        let call = format!(".{protocol}(");
        let mut places = text.match_indices(&call).peekable();
        if places.peek().is_none() {
            return true;
        }
        let analysis = Analysis::new(text);
        places.all(|(at, _)| {
            let place = ByteSpan::from_range(at..at + call.len());
            let rest = text.get(at + call.len()..).unwrap_or_default();
            let given = arguments(rest);
            let first = given.first();
            first.is_some_and(|first| is_outside(graph, &analysis, text, place, first))
        })
    })
}

fn hands_what_is_outside(
    graph: &PythonGraph,
    text: &str,
    function: &str,
    parameter: usize,
) -> bool {
    let analysis = Analysis::new(text);
    text.match_indices(function).all(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + function.len()..).unwrap_or_default();
        if before.ends_with(is_word) || after.starts_with(is_word) {
            return true;
        }
        let place = ByteSpan::from_range(at..at + function.len());
        if before.ends_with("def ") || is_plain_import(&analysis, place) {
            return true;
        }
        let given = after.strip_prefix('(').map(arguments);
        let argument = given.and_then(|given| given.get(parameter).copied());
        argument.is_some_and(|argument| is_outside(graph, &analysis, text, place, argument))
    })
}

/// Whether a place is the name that an import brings, under that name.
fn is_plain_import(analysis: &Analysis, place: ByteSpan) -> bool {
    analysis.imports.iter().any(|(import, _)| {
        let mut leaves = import.leaves.iter();
        leaves.any(|leaf| leaf.name.span == place && leaf.alias.is_none())
    })
}

/// Whether an argument is what a protocol hands to the method around it, or an attribute of another library.
fn is_outside(
    graph: &PythonGraph,
    analysis: &Analysis,
    text: &str,
    place: ByteSpan,
    argument: &str,
) -> bool {
    let root = argument.split('.').next().unwrap_or_default();
    if argument.is_empty() || !argument.chars().all(|c| is_word(c) || c == '.') {
        return false;
    }
    if root != argument {
        return is_of_libraries(graph, analysis, text, root);
    }
    is_handed_by_protocol(analysis, text, place, argument)
}

/// Whether an argument is what a protocol hands to the method around it, which sets it to nothing else.
fn is_handed_by_protocol(analysis: &Analysis, text: &str, place: ByteSpan, argument: &str) -> bool {
    let functions = analysis
        .definitions
        .iter()
        .filter(|each| each.kind == DefinitionKind::Function && each.span.contains(place));
    let around: Option<&Definition> = functions.min_by_key(|each| each.span.end - each.span.start);
    around.is_some_and(|method| {
        let code = method.span.of(text).unwrap_or_default();
        method.class.is_some()
            && PROTOCOLS.contains(&method.name.as_str())
            && second_parameter(code) == Some(argument)
            && !code.contains(&format!("{argument} ="))
    })
}

/// Whether each import that binds a name is one of another library.
fn is_of_libraries(graph: &PythonGraph, analysis: &Analysis, text: &str, root: &str) -> bool {
    let imported = analysis.bindings(0, root);
    if let [only] = imported
        && only.import.is_none()
    {
        return is_imported_or_skipped(graph, text, root);
    }
    let is_library = |(at, leaf): (usize, usize)| {
        let import = analysis.imports.get(at).map(|(import, _)| import);
        let leaf = import.and_then(|import| Some((import, import.leaves.get(leaf)?)));
        leaf.is_some_and(|(import, leaf)| is_of_library(graph, import, leaf))
    };
    let mut imports = imported.iter().map(|binding| binding.import);
    !imported.is_empty() && imports.all(|import| import.is_some_and(is_library))
}

/// Whether a name of a test file is given another library, or the tests are left out:
/// `np = pytest.importorskip("numpy")`.
fn is_imported_or_skipped(graph: &PythonGraph, text: &str, name: &str) -> bool {
    let assigned = format!("\n{name} = pytest.importorskip(\"");
    let rest = text.split_once(&assigned).map(|(_, rest)| rest);
    let library = rest.and_then(|rest| rest.split(['"', '.']).next());
    library.is_some_and(|library| graph.find(None, library).is_none())
}

/// Whether an import brings something of another library, also through a module of the tree that imports it.
fn is_of_library(graph: &PythonGraph, import: &ImportStatement, leaf: &Leaf) -> bool {
    let outside = |name: &str| {
        let top = name.split('.').next();
        top.is_some_and(|top| graph.find(None, top).is_none())
    };
    let Some(from) = &import.from else {
        return outside(&leaf.name.text);
    };
    if from.level > 0 {
        return false;
    }
    let Some(module) = graph.find(None, &from.module) else {
        return outside(&from.module);
    };
    let imports = graph.facts.get(module).into_iter();
    let mut brought = imports.flat_map(|facts| &facts.imports).filter(|import| {
        let mut leaves = import.leaves.iter();
        import.top_level && leaves.any(|other| other.bound() == leaf.name.text)
    });
    brought.next().is_some_and(|import| match &import.from {
        Some(from) => from.level == 0 && outside(&from.module),
        None => import.leaves.iter().all(|other| outside(&other.name.text)),
    })
}

/// The parameter of a method that comes after its object.
fn second_parameter(code: &str) -> Option<&str> {
    let (_, rest) = code.split_once("def ")?;
    let (_, rest) = rest.split_once('(')?;
    let second = in_parentheses(rest).split(',').nth(1)?.trim();
    second.split(|c: char| !is_word(c)).next()
}

/// The arguments of a call behind its parenthesis.
fn arguments(text: &str) -> Vec<&str> {
    let found = arguments_at(text, 0).into_iter();
    found.map(|(_, argument)| argument.trim()).collect()
}

/// The number of a parameter in the head of a function; none where one of the same name stands in an inner one.
pub fn parameter_number(code: &str, word: &str) -> Option<usize> {
    let mut heads = memchr::memmem::find_iter(code.as_bytes(), b"def ");
    let first = heads.next()?;
    heads.next().is_none().then_some(())?;
    let (_, rest) = code.get(first..)?.split_once('(')?;
    let parameters = arguments(rest);
    parameters.iter().position(|parameter| {
        let name = parameter.split(|c: char| !is_word(c)).next();
        name == Some(word)
    })
}
