//! Classes whose subclasses somebody asks for, by the names that stand before `.__subclasses__`.

use coalesce_model::{Module, Texts};
use rustc_hash::FxHashSet;

use crate::{
    graph::PythonGraph,
    names::{is_word, last_word},
};

const ASKED: &str = ".__subclasses__";

/// The names of these classes; of a function that is handed one, those that it is handed.
pub(super) fn classes(graph: &PythonGraph, texts: &dyn Texts) -> FxHashSet<String> {
    let mut asked = AskedClasses::default();
    for module in &graph.modules {
        let Some(text) = texts.text(&module.path) else {
            continue;
        };
        for at in memchr::memmem::find_iter(text.as_bytes(), ASKED.as_bytes()) {
            asked.add(module, text.split_at_checked(at).unwrap_or_default());
        }
    }
    if !asked.functions.is_empty() {
        let all = graph.modules.iter();
        let texts = all.filter_map(|module| texts.text(&module.path));
        texts.for_each(|text| asked.add_handed(&text));
    }
    asked.classes
}

/// The classes that are found, and the functions that ask what they are handed.
#[derive(Default)]
struct AskedClasses {
    classes: FxHashSet<String>,
    functions: FxHashSet<String>,
}

impl AskedClasses {
    /// A place of a module where somebody asks, as what stands before it and after.
    fn add(&mut self, module: &Module, (before, after): (&str, &str)) {
        let after = after.get(ASKED.len()..).unwrap_or_default();
        let word = match last_word(before) {
            // `type.__subclasses__(kind)`
            "type" => argument(after).unwrap_or_default(),
            word => word,
        };
        let is_class = word.starts_with(|c: char| c.is_uppercase());
        self.classes.insert(word.to_owned());
        if !is_class {
            self.classes.extend(module.defines.iter().cloned());
            self.functions
                .extend(function_around(before).map(str::to_owned));
        }
    }

    /// What a text hands these functions.
    fn add_handed(&mut self, text: &str) {
        let functions = self.functions.iter();
        let handed = functions.flat_map(|function| handed(text, function));
        self.classes.extend(handed.map(str::to_owned));
    }
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
