//! Code that asks where a definition stands, but not by its `__module__`: `inspect.getfile(type(self))`,
//! `f.__code__.co_filename`, `f.__globals__["__name__"]`, `namespace["__module__"]`. Files beside it are found so.

use std::cell::LazyCell;

use coalesce_model::{ByteSpan, Change, ChangeKind, Subject};

use super::{
    Readers, Whose, asked, changes_module, in_parentheses, innermost_function, tells_apart,
};
use crate::{
    analysis::Analysis,
    graph::Entity,
    names::{is_or_below, is_word, last_word},
    rewrite::places::path_of,
};

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// The path of the file.
    File,
    /// The name of the module.
    Name,
    /// A file in the folder of the module.
    Beside,
}

/// One place that asks.
struct Asking {
    /// Where the expression ends of which it is asked.
    object: usize,
    /// The whole expression.
    span: (usize, usize),
    sought: Answer,
    /// What alone can be asked so begins with this.
    of: Option<&'static str>,
}

/// The call that gives the module of a definition, which is asked for its file then.
const GIVING_MODULE: &str = "getmodule(";

/// Calls that are given a definition.
const CALLS: [(&str, Answer); 4] = [
    (GIVING_MODULE, Answer::File),
    ("getfile(", Answer::File),
    ("getsourcefile(", Answer::File),
    ("whichmodule(", Answer::Name),
];

/// Attributes of a definition.
const ATTRIBUTES: [(&str, Answer); 5] = [
    (".__code__.co_filename", Answer::File),
    (".__globals__[\"__file__\"]", Answer::File),
    (".__globals__['__file__']", Answer::File),
    (".__globals__[\"__name__\"]", Answer::Name),
    (".__globals__['__name__']", Answer::Name),
];

/// Ways to ask anything for its module's name, or a namespace of which nobody knows whose it is.
const OF_ANY: [&str; 4] = [
    "[\"__module__\"]",
    "['__module__']",
    "attrgetter(\"__module__\")",
    "attrgetter('__module__')",
];

/// What leads from the name of a module to a file, and what the expression goes on with.
const BY_NAME: [(&str, &str, Answer); 5] = [
    ("modules[", "].__file__", Answer::File),
    ("import_module(", ").__file__", Answer::File),
    ("get_data(", ",", Answer::Beside),
    ("files(", ")", Answer::Beside),
    ("open_text(", ",", Answer::Beside),
];

impl<'m> Readers<'m> {
    /// Where a file or the module of a definition is asked for, and a change that gives that another one.
    pub fn place_asked(&self, (module, text): (usize, &str)) -> Option<(ByteSpan, &'m Change)> {
        asking(text).into_iter().find_map(|asking| {
            if is_shown(text, &asking) {
                return None;
            }
            let mut changes = self.mapping.all.iter().filter(|change| {
                change.kind == ChangeKind::Move && self.is_another(text, &asking, change)
            });
            let before = text.get(..asking.object).unwrap_or_default();
            // What is asked is one thing, whichever change may be meant.
            let named = LazyCell::new(|| self.named_there((module, text), before));
            let whose = LazyCell::new(|| self.whose(text, &asking));
            let told = changes.find(|change| {
                self.takes_along_what_asks((module, text), &asking, change)
                    .or_else(|| is_named(named.as_ref()?, change))
                    .unwrap_or_else(|| {
                        self.has_such(&asking, change)
                            && whose
                                .as_ref()
                                .is_some_and(|whose| self.comes_there(whose, change))
                    })
            })?;
            let (start, end) = asking.span;
            Some((ByteSpan::from_range(start..end), told))
        })
    }

    /// Whether a change gives what it takes along another answer.
    fn is_another(&self, text: &str, asking: &Asking, change: &Change) -> bool {
        let item = change.subject == Subject::Item;
        if asking.sought == Answer::Name {
            let (start, end) = asking.span;
            let (before, after) = (text.get(..start), text.get(end..).unwrap_or_default());
            let taken_apart = after.starts_with(['.', '[']);
            let differs = || tells_apart(before.unwrap_or_default(), after, change, &|_| true);
            // A module that moves as a whole is found by its new name.
            return match taken_apart {
                true => (!item || changes_module(change)) && differs(),
                false => item && changes_module(change),
            };
        }
        if is_of_name(text, asking) {
            return self.changes_file_name(change);
        }
        if item && !changes_module(change) {
            return false;
        }
        // What lies beside the file of a package goes along with it.
        let goes_along = !item && self.is_package(&change.from);
        let beside = asking.sought == Answer::Beside || is_of_folder(text, asking);
        !beside || !goes_along && self.changes_folder(change)
    }

    /// Whether what a change takes along lies in a file that is called otherwise.
    fn changes_file_name(&self, change: &Change) -> bool {
        let (from, to) = super::modules(change);
        let is_file = |name: &str| !self.is_package(name);
        let last = |name: &str| name.rsplit('.').next().map(str::to_owned);
        let same = last(from) == last(to) && is_file(from) == is_file(to);
        let stays = !is_file(from) && (change.subject == Subject::Module || !is_file(to));
        !same && !stays
    }

    fn is_package(&self, name: &str) -> bool {
        let graph = self.mapping.graph;
        let module = graph.find(None, name);
        let module = module.and_then(|module| graph.modules.get(module));
        module.is_some_and(|module| module.package)
    }

    /// Whether what a change takes along lies in another folder afterwards.
    fn changes_folder(&self, change: &Change) -> bool {
        let graph = self.mapping.graph;
        let folder = |name: &str| name.rsplit_once('.').map(|(folder, _)| folder.to_owned());
        let Some(path) = path_of(self.mapping, change).filter(|_| change.subject == Subject::Item)
        else {
            return folder(&change.from) != folder(&change.to);
        };
        let (_, to) = super::modules(change);
        let target = graph.find(None, to).and_then(|at| graph.modules.get(at));
        match target {
            Some(target) => target.path.parent() != path.parent(),
            None => {
                let (from, _) = super::modules(change);
                self.is_package(from) || folder(from) != folder(to)
            }
        }
    }

    /// Whether a change takes along the code itself that is asked; none where something else is.
    fn takes_along_what_asks(
        &self,
        (module, text): (usize, &str),
        asking: &Asking,
        change: &Change,
    ) -> Option<bool> {
        let given = text.get(asking.span.0..asking.object);
        // Of an attribute it is what stands before it that is asked.
        let own = given.unwrap_or_else(|| {
            let before = text.get(..asking.object).unwrap_or_default();
            before.rsplit('\n').next().unwrap_or_default()
        });
        let is_own = own.contains("frame") || own.contains("lambda");
        is_own.then(|| self.takes_along((module, text), asking, change))
    }

    /// Whose place is asked for; none where it is that of a library's.
    fn whose(&self, text: &str, asking: &Asking) -> Option<Whose> {
        let whose = match self.is_affordable() {
            true => made_by(text, asking).unwrap_or_else(|| asked(text, asking.object)),
            false => Whose::Any,
        };
        let of_library = matches!(whose, Whose::Any) && self.is_of_library(text, asking.object);
        (!of_library).then_some(whose)
    }

    /// Whether what a change takes along has a function, or a class, where only such a one can be asked so.
    fn has_such(&self, asking: &Asking, change: &Change) -> bool {
        let Some(word) = asking.of else {
            return true;
        };
        let pieces = self.pieces(change);
        pieces.is_none_or(|pieces| pieces.iter().any(|piece| piece.text().contains(word)))
    }

    /// Whether a change takes along the code that asks for its own place.
    fn takes_along(&self, (module, text): (usize, &str), asking: &Asking, change: &Change) -> bool {
        let own = self.mapping.graph.modules.get(module);
        let own = own.map_or("", |module| module.name.as_str());
        if change.subject != Subject::Item {
            return is_or_below(own, &change.from);
        }
        let (from, _) = super::modules(change);
        let at = ByteSpan::from_range(asking.object..asking.object);
        let pieces = (from == own).then(|| self.pieces(change)).flatten();
        let mut pieces = pieces.iter().flat_map(|pieces| pieces.iter());
        pieces.any(|piece| piece.span.contains(at) && *piece.file == *text)
    }

    /// What an imported name is of which it is asked: a module, with an item of it; none of both where that is outside of
    /// the tree. None at all where the expression is no such name.
    fn named_there(
        &self,
        (module, text): (usize, &str),
        before: &str,
    ) -> Option<Option<(String, Option<String>)>> {
        let head = before.trim_end_matches(|c: char| is_word(c) || c == '.');
        let chain = before.get(head.len()..)?;
        let root = chain.split('.').next().filter(|root| !root.is_empty())?;
        let graph = self.mapping.graph;
        let name = |module: usize| Some(graph.modules.get(module)?.name.clone());
        let analysis = Analysis::new(text);
        let mut inner = analysis.scopes.iter().skip(1);
        let [binding] = analysis.bindings(0, root) else {
            return None;
        };
        if inner.any(|scope| scope.bindings.contains_key(root)) {
            return None;
        }
        let Some((import, leaf)) = binding.import else {
            let mut own = analysis
                .definitions
                .iter()
                .filter(|each| each.class.is_none());
            let defined = chain == root && own.any(|each| each.name == root);
            return defined.then(|| Some((name(module)?, Some(root.to_owned()))));
        };
        let (statement, _) = analysis.imports.get(import)?;
        let leaf = statement.leaves.get(leaf)?;
        match graph.leaf_entity(module, statement, leaf) {
            Entity::External => Some(None),
            Entity::Module(module) if chain == root => Some(Some((name(module)?, None))),
            Entity::Item(module, item) if chain == root => Some(Some((name(module)?, Some(item)))),
            _ => None,
        }
    }
}

/// Whether the thing of the tree that is asked by its name is what a change takes along.
fn is_named(named: &Option<(String, Option<String>)>, change: &Change) -> Option<bool> {
    let is_it = named
        .as_ref()
        .is_some_and(|(owner, item)| match change.subject {
            Subject::Item => item
                .as_ref()
                .is_some_and(|item| change.from == format!("{owner}.{item}")),
            _ => is_or_below(owner, &change.from),
        });
    Some(is_it)
}

/// All such places of a text, in order.
fn asking(text: &str) -> Vec<Asking> {
    let mut found: Vec<Asking> = Vec::new();
    for (call, sought) in CALLS {
        for (at, _) in text.match_indices(call) {
            let start = at + call.len();
            let inside = in_parentheses(text.get(start..).unwrap_or_default());
            let first = inside.split(',').next().unwrap_or_default().trim_end();
            let whole = text.get(..at).unwrap_or_default();
            // Neither a longer name nor the definition of one.
            let after = text.get(start + inside.len() + 1..).unwrap_or_default();
            let is_asked = call != GIVING_MODULE || after.starts_with(".__file__");
            let is_call =
                is_asked && !whole.ends_with(is_word) && !whole.trim_end().ends_with("def");
            found.extend((is_call && !inside.is_empty()).then_some(Asking {
                object: start + first.len(),
                span: (at, start + inside.len() + 1),
                sought,
                of: None,
            }));
        }
    }
    let attributes = ATTRIBUTES.into_iter().flat_map(|(attribute, sought)| {
        let places = text.match_indices(attribute);
        places.map(move |(at, _)| Asking {
            object: at,
            span: (at + 1, at + attribute.len()),
            sought,
            of: Some("def "),
        })
    });
    found.extend(attributes);
    found.extend(of_any(text));
    found.extend(by_name(text));
    found.sort_by_key(|asking| asking.span);
    found
}

/// Namespaces that are asked for the name of a module, and not given one.
fn of_any(text: &str) -> Vec<Asking> {
    let places = OF_ANY.into_iter().flat_map(|form| {
        let places = text.match_indices(form);
        places.map(move |(at, _)| (at, at + form.len()))
    });
    let read = places.filter(|(at, end)| {
        let after = text.get(*end..).unwrap_or_default().trim_start();
        let before = text.get(..*at).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let set = after.starts_with('=') && !after.starts_with("==");
        // A list of names is none that is asked: `WRAPPED = ["__module__"]`.
        let is_subscript = before.ends_with(|c: char| is_word(c) || matches!(c, ')' | ']'));
        !set && !line.trim_start().starts_with("del ")
            && (is_subscript || text.get(*at..).is_some_and(|rest| rest.starts_with('a')))
    });
    read.map(|(at, end)| Asking {
        object: owner_end(text, at),
        span: (at, end),
        sought: Answer::Name,
        of: text
            .get(at..)
            .filter(|rest| rest.starts_with('['))
            .map(|_| "class "),
    })
    .collect()
}

/// Where that ends of which a namespace is asked: `vars(cls)`, `cls.__dict__`.
fn owner_end(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    if let Some(owner) = before.strip_suffix(".__dict__") {
        return owner.len();
    }
    let inside = before.strip_suffix(')').unwrap_or(before);
    let word = last_word(inside);
    match inside.len() < before.len() && inside.ends_with(&format!("vars({word}")) {
        true => inside.len(),
        false => at,
    }
}

/// Modules that are found by their names, and whose place is asked for.
fn by_name(text: &str) -> Vec<Asking> {
    let places = text.match_indices(super::NAME);
    let found = places.filter_map(|(at, name)| {
        let after = text.get(at + name.len()..)?;
        let before = super::spellings::without_type(text.get(..at)?);
        let opened = before.trim_end_matches(|c: char| is_word(c) || c == '.');
        let opened = opened.strip_suffix("type(").unwrap_or(opened);
        let mut forms = BY_NAME.into_iter();
        let (_, rest, sought) =
            forms.find(|(call, rest, _)| opened.ends_with(call) && after.starts_with(rest))?;
        Some(Asking {
            object: at,
            span: (at + 1, at + name.len() + rest.len()),
            sought,
            of: None,
        })
    });
    found.collect()
}

/// The classes that a metaclass makes, where it asks the namespace that it is given.
fn made_by(text: &str, asking: &Asking) -> Option<Whose> {
    let analysis = Analysis::new(text);
    let place = ByteSpan::from_range(asking.span.0..asking.span.0 + 1);
    let function = innermost_function(&analysis, place)?;
    let makes = matches!(
        function.name.as_str(),
        "__new__" | "__init__" | "__prepare__"
    );
    let class = function
        .class
        .clone()
        .filter(|_| makes && asking.of == Some("class "))?;
    Some(Whose::Instances(class))
}

/// Whether what is asked for is shown to people as it is, and nothing is made of it.
fn is_shown(text: &str, asking: &Asking) -> bool {
    let before = text.get(..asking.span.0).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    let shown = ["print(", "logger.", "logging.", "log.", "warn(", "raise "];
    let head = line.trim_start();
    // What goes on behind it is made something of: a file beside it is opened.
    let behind = text.get(asking.span.1..).unwrap_or_default();
    let is_value = behind.is_empty() || behind.starts_with([')', '}', ',', '\n', '\r']);
    is_value && shown.iter().any(|call| head.starts_with(call))
}

/// Whether no more than the folder of a file counts: `Path(inspect.getfile(cls)).with_name(…)`, `os.path.dirname(…)`.
fn is_of_folder(text: &str, asking: &Asking) -> bool {
    let (start, end) = asking.span;
    let after = text.get(end..).unwrap_or_default();
    let after = after.trim_start_matches(')');
    let after = after.strip_prefix(".resolve()").unwrap_or(after);
    let line = text.get(..start).unwrap_or_default();
    let line = line.rsplit('\n').next().unwrap_or_default();
    // A folder further up, or what it is called, is another one where a package goes elsewhere.
    let further = [".parent.parent", ".parent.name", ".parents"];
    let beside = after.starts_with(".parent")
        || after.starts_with(".with_name(")
        || line.matches("dirname(").count() == 1;
    beside && !further.iter().any(|form| after.starts_with(form))
}

/// Whether no more than what the file is called counts: `Path(inspect.getfile(cls)).stem`.
fn is_of_name(text: &str, asking: &Asking) -> bool {
    let after = text.get(asking.span.1..).unwrap_or_default();
    let after = after.trim_start_matches(')');
    let line = text.get(..asking.span.0).unwrap_or_default();
    let line = line.rsplit('\n').next().unwrap_or_default();
    after.starts_with(".stem") || after.starts_with(".name") || line.contains("basename(")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sets_or_lists_names_asks_for_none() {
        for (text, expected) in [
            ("namespace[\"__module__\"] = name", 0),
            ("WRAPPED = [\"__module__\"]", 0),
            ("home = namespace[\"__module__\"]", 1),
            ("vars(cls)['__module__'] == other", 1),
            ("def getfile(path):", 0),
            ("inspect.getfile(cls)", 1),
            ("frame.f_code.co_filename", 0),
            ("f.__code__.co_filename", 1),
            ("sys.modules[cls.__module__].__file__", 1),
            ("sys.modules[cls.__module__].VALUE", 0),
            ("pkgutil.get_data(type(self).__module__, \"k.cu\")", 1),
        ] {
            assert_eq!(asking(text).len(), expected, "{text}");
        }
    }
}
