//! Classes whose subclasses somebody asks for, by the names that stand before `.__subclasses__`.

use coalesce_model::Texts;
use rustc_hash::FxHashSet;

use crate::{
    graph::PythonGraph,
    names::{is_word, last_word},
};

const ASKED: &str = ".__subclasses__";

/// The names of these classes; of a function that is handed one, those that it is handed.
pub(super) fn classes(graph: &PythonGraph, texts: &dyn Texts) -> FxHashSet<String> {
    let mut walked = FxHashSet::default();
    let mut functions = FxHashSet::default();
    for module in &graph.modules {
        let Some(text) = texts.text(&module.path) else {
            continue;
        };
        for at in memchr::memmem::find_iter(text.as_bytes(), ASKED.as_bytes()) {
            let (before, after) = text.split_at_checked(at).unwrap_or_default();
            let after = after.get(ASKED.len()..).unwrap_or_default();
            let word = match last_word(before) {
                // `type.__subclasses__(kind)`
                "type" => argument(after).unwrap_or_default(),
                word => word,
            };
            let is_class = word.starts_with(|c: char| c.is_uppercase());
            walked.insert(word.to_owned());
            if !is_class {
                walked.extend(module.defines.iter().cloned());
                functions.extend(function_around(before).map(str::to_owned));
            }
        }
    }
    if !functions.is_empty() {
        let all = graph.modules.iter();
        for text in all.filter_map(|module| texts.text(&module.path)) {
            let handed = functions
                .iter()
                .flat_map(|function| handed(&text, function));
            walked.extend(handed.map(str::to_owned));
        }
    }
    walked
}

/// The function that a place stands in, unless that is a method.
fn function_around(before: &str) -> Option<&str> {
    let head = before.get(before.rfind("def ")? + "def ".len()..)?;
    let (name, parameters) = head.split_once('(')?;
    let first = parameters.trim_start();
    let method = ["self", "cls"].iter().any(|word| first.starts_with(word));
    (!method && name.chars().all(is_word)).then_some(name)
}

/// What calls of a function hand it first.
fn handed<'t>(text: &'t str, function: &str) -> Vec<&'t str> {
    let places = text.match_indices(function).filter(|(at, _)| {
        let before = text.get(..*at).unwrap_or_default();
        !before.ends_with(is_word) && !before.ends_with("def ")
    });
    let calls = places.filter_map(|(at, word)| argument(text.get(at + word.len()..)?));
    calls.collect()
}

/// The last name of the first argument of a call that begins with its parenthesis.
fn argument(after: &str) -> Option<&str> {
    let inside = after.strip_prefix('(')?.trim_start();
    let end = inside.find(|c: char| !is_word(c) && c != '.')?;
    Some(last_word(inside.get(..end)?))
}
