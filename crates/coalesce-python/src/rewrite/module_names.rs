//! Code that goes by the name of the module that a definition stands in: `cls.__module__.rpartition(".")`,
//! `sys.modules[function.__module__]`.
//!
//! It goes by those that come there alone: the classes that have the method, or what a decorator stands on. Where that
//! cannot be told, it may be anything.

mod ancestors;
mod carried;
mod compared;
mod definition_places;
mod handed_classes;
mod library;
mod namespaces;
mod objects;
mod parts;
mod spellings;

use std::{
    cell::LazyCell,
    sync::{Arc, OnceLock},
};

use coalesce_model::{ByteSpan, Change, ChangeKind, Subject, Texts};
use rustc_hash::FxHashSet;

pub(super) use carried::Carried;
use carried::{ByName, known};
use spellings::Place;

use super::{
    handed::{is_from_elsewhere, parameter_number},
    items::is_builtin,
    mapping::Mapping,
};
use crate::{
    analysis::{Analysis, Definition, DefinitionKind, Use},
    names::{is_word, last_word, occurrences_of_word},
};

const NAME: &str = ".__module__";
/// How many bytes of text are gone through for all places that ask, each of them the whole tree: where it would be more,
/// whoever is asked may be anything.
const MOST_BYTES: usize = 48 << 20;
/// A class with more names, those of the classes below it among them, may be anything.
const MOST_NAMES: usize = 64;

/// Whose module is asked for.
enum Whose {
    /// That of the instances of a class, or of it and those below it.
    Instances(String),
    /// That of what a decorator stands on.
    Decorated(String),
    /// That of what a function is handed for the parameter with this number.
    Handed(String, usize),
    /// That of anything.
    Any,
}

/// The head of a class: its name, and what stands in its parentheses.
struct Head<'t> {
    name: &'t str,
    bases: &'t str,
}

/// What looks such code through.
pub struct Readers<'m> {
    mapping: &'m Mapping<'m>,
    texts: &'m dyn Texts,
    all: OnceLock<Vec<Arc<str>>>,
    affordable: OnceLock<bool>,
    /// By what changes.
    pieces: ByName<Option<Arc<[Carried]>>>,
    /// By the class that they are below.
    below: ByName<Option<Arc<[String]>>>,
    /// By what they are given.
    given: ByName<Option<Arc<[String]>>>,
}

impl<'m> Readers<'m> {
    pub fn new(mapping: &'m Mapping<'m>, texts: &'m dyn Texts) -> Self {
        Self {
            mapping,
            texts,
            all: OnceLock::new(),
            affordable: OnceLock::new(),
            pieces: ByName::default(),
            below: ByName::default(),
            given: ByName::default(),
        }
    }

    /// Where the name of a definition's module is taken apart, or leads to that module, and a change that may make another
    /// one of it.
    pub fn taken_apart(&self, (module, text): (usize, &str)) -> Option<(ByteSpan, &'m Change)> {
        let mut places = spellings::places(text).into_iter();
        places.find_map(|place| {
            let later = spellings::later_uses(text, &place);
            let changes = self.mapping.all.iter();
            // Both take the file apart, which few places need.
            let classes_alone = LazyCell::new(|| objects::is_class(text, place.object));
            let own = LazyCell::new(|| stands_in_private_function(text, place.object));
            let mut told = changes
                .filter(|change| {
                    // What a function of the module alone is given comes from the tree.
                    let may_be = |part: &str| !*own || self.is_literal(part);
                    is_told_apart(text, (&place, later.as_slice()), change, &may_be)
                })
                .filter(|change| {
                    let held_against = compared::with(self.mapping, (module, text), &place);
                    held_against.is_none_or(|other| compared::is_end_of(change, &other))
                })
                .filter(|change| self.has_module(change, *classes_alone))
                .peekable();
            told.peek()?;
            let asked = match self.is_affordable() {
                true => asked(text, place.object),
                false => Whose::Any,
            };
            if matches!(asked, Whose::Any) && self.is_of_library(text, place.object) {
                return None;
            }
            let change = told.find(|change| self.comes_there(&asked, change))?;
            Some((ByteSpan::from_range(place.object + 1..place.end), change))
        })
    }

    /// The texts of all modules.
    fn all(&self) -> &[Arc<str>] {
        self.all.get_or_init(|| {
            let modules = self.mapping.graph.modules.iter();
            modules
                .filter_map(|module| self.texts.text(&module.path))
                .collect()
        })
    }

    /// Whether a module has a text as a literal.
    fn is_literal(&self, text: &str) -> bool {
        let quoted = ['"', '\''].map(|quote| format!("{quote}{text}{quote}"));
        let mut all = self.all().iter();
        all.any(|module| quoted.iter().any(|quoted| module.contains(quoted.as_str())))
    }

    /// Whether there are so few places that ask, for the length of the tree, that each can be looked through.
    fn is_affordable(&self) -> bool {
        *self.affordable.get_or_init(|| {
            let places = self.all().iter();
            let places = places
                .map(|text| memchr::memmem::find_iter(text.as_bytes(), NAME.as_bytes()).count());
            let bytes = self.all().iter().map(|text| text.len());
            bytes
                .sum::<usize>()
                .saturating_mul(places.sum())
                .le(&MOST_BYTES)
        })
    }

    /// Whether a definition that a change takes along may be what is asked.
    fn comes_there(&self, asked: &Whose, change: &Change) -> bool {
        if matches!(change.kind, ChangeKind::Replace { .. }) {
            return true;
        }
        let Some(pieces) = self.pieces(change) else {
            return true;
        };
        match asked {
            Whose::Any => true,
            Whose::Instances(class) => {
                let below = self.below(class);
                let mut pieces = pieces.iter();
                pieces.any(|piece| match &below {
                    Some(below) => may_define(piece, below),
                    None => self.may_define_below(piece, class),
                })
            }
            Whose::Handed(function, parameter) => {
                let classes = handed_classes::of_calls(self.all(), function, *parameter);
                let comes =
                    |class: &String| self.comes_there(&Whose::Instances(class.clone()), change);
                classes.map_or_else(
                    || !is_from_elsewhere(self.mapping.graph, self.all(), function, *parameter),
                    |classes| classes.iter().any(comes),
                )
            }
            Whose::Decorated(function) => {
                let mut all = self.all().iter();
                let named = |piece: &Carried| occurrences_of_word(piece.text(), function);
                pieces.iter().any(named) || all.any(|text| is_more_than_decorator(text, function))
            }
        }
    }

    /// Whether the module is asked for of what a library of others has: of a local name that is given nothing but
    /// attributes of what is imported from there, and its own, which nobody in the tree sets.
    fn is_of_library(&self, text: &str, at: usize) -> bool {
        let Some((code, word)) = local_name(text, at) else {
            return false;
        };
        let analysis = Analysis::new(text);
        let libraries = library::of_values(code, word, &analysis);
        libraries.is_some_and(|values| {
            values.iter().all(|value| {
                let outside = self.mapping.graph.find(None, value.top()).is_none();
                outside && !self.all().iter().any(|text| value.may_be_set(text))
            })
        })
    }

    /// What a change takes along; none where that is not found.
    pub(super) fn pieces(&self, change: &Change) -> Option<Arc<[Carried]>> {
        // A module and an item may have one name.
        let name = format!("{:?} {}", change.subject, change.from);
        known(&self.pieces, &name, || {
            self.read_pieces(change).map(Arc::from)
        })
    }

    fn read_pieces(&self, change: &Change) -> Option<Vec<Carried>> {
        let graph = self.mapping.graph;
        if change.subject == Subject::Item {
            return self.pieces_of_item(change);
        }
        let below = format!("{}.", change.from);
        let modules = graph.modules.iter();
        let own = modules.filter(|each| each.name == change.from || each.name.starts_with(&below));
        let pieces = own.filter_map(|module| {
            let file = self.texts.text(&module.path)?;
            let span = ByteSpan::from_range(0..file.len());
            Some(Carried::new(file, span))
        });
        Some(pieces.collect())
    }

    /// The definitions that a change of an item takes along.
    fn pieces_of_item(&self, change: &Change) -> Option<Vec<Carried>> {
        let graph = self.mapping.graph;
        let (module, item) = change.from.rsplit_once('.')?;
        let module = graph.modules.get(graph.find(None, module)?)?;
        let file = self.texts.text(&module.path)?;
        let analysis = Analysis::new(&file);
        let own = |each: &&Definition| each.class.is_none() && each.name == item;
        let definitions = analysis.definitions.iter().filter(own);
        let pieces = definitions.map(|each| Carried::new(Arc::clone(&file), each.span));
        let pieces: Vec<Carried> = pieces.collect();
        (!pieces.is_empty()).then_some(pieces)
    }

    /// The names that a class and those below it may go by; none where there are too many.
    fn below(&self, class: &str) -> Option<Arc<[String]>> {
        known(&self.below, class, || self.find_below(class).map(Arc::from))
    }

    fn find_below(&self, class: &str) -> Option<Vec<String>> {
        let texts = self.all();
        let heads: Vec<Head<'_>> = texts.iter().flat_map(|text| heads(text)).collect();
        let words = heads.iter().flat_map(|head| {
            let bases = head.bases.split(|c: char| !is_word(c));
            bases.chain([head.name])
        });
        // Names of classes, and what stands where one is.
        let of_classes: FxHashSet<&str> = words.collect();
        let mut below = vec![class.to_owned()];
        let mut at = 0;
        while let Some(known) = below.get(at).cloned() {
            at += 1;
            let named = heads.iter();
            let named = named.filter(|head| occurrences_of_word(head.bases, &known));
            let others = texts.iter().flat_map(|text| other_names(text, &known));
            let names = named.map(|head| head.name).chain(others);
            for name in names.filter(|name| of_classes.contains(name)) {
                if !below.iter().any(|each| each == name) {
                    below.push(name.to_owned());
                }
                if below.len() > MOST_NAMES {
                    return None;
                }
            }
        }
        Some(below)
    }
}

/// Whether the innermost function around a place has a private name.
fn stands_in_private_function(text: &str, at: usize) -> bool {
    let analysis = Analysis::new(text);
    let function = innermost_function(&analysis, ByteSpan::from_range(at..at + 1));
    function.is_some_and(|function| function.name.starts_with('_'))
}

/// Whether a change makes a difference to what is done with the module that is asked for at a place.
fn is_told_apart(
    text: &str,
    (place, later): (&Place, &[usize]),
    change: &Change,
    may_be: &dyn Fn(&str) -> bool,
) -> bool {
    if place.is_module {
        return change.subject == Subject::Item
            && changes_module(change)
            && !namespaces::is_merged_module(text, place);
    }
    let told = |object: usize, end: usize| {
        let before = text.get(..object).unwrap_or_default();
        let after = text.get(end..).unwrap_or_default();
        tells_apart(before, after, change, may_be) && !meets_nothing(before, after, change)
    };
    told(place.object, place.end) && !first_part_alone(text, place, change)
        || later.iter().any(|at| told(*at, *at))
}

/// Whether a definition has another module afterwards.
fn changes_module(change: &Change) -> bool {
    let module = |name: &str| name.rsplit_once('.').map(|(module, _)| module.to_owned());
    module(&change.from) != module(&change.to)
}

/// Whose module is asked for at a place.
fn asked(text: &str, at: usize) -> Whose {
    let before = text.get(..at).unwrap_or_default();
    let Some(word) = word_asked(before) else {
        return Whose::Any;
    };
    let analysis = Analysis::new(text);
    let place = ByteSpan::from_range(at..at + 1);
    let Some(function) = innermost_function(&analysis, place) else {
        return Whose::Any;
    };
    let code = function.span.of(text).unwrap_or_default();
    match &function.class {
        // A function in a method may have parameters of the same name.
        Some(class) if first_parameters(code) == [word] && !code.contains("@staticmethod") => {
            Whose::Instances(class.clone())
        }
        None if first_parameters(code).contains(&word) => Whose::Decorated(function.name.clone()),
        class => match argument_number(class.is_some(), code, word) {
            // One that is set there is another one.
            Some(number) if !sets(code, word) => Whose::Handed(function.name.clone(), number),
            _ => Whose::Any,
        },
    }
}

/// The number of the argument that a function is handed for a parameter; none for a method that is called with its object
/// or without.
fn argument_number(is_method: bool, code: &str, word: &str) -> Option<usize> {
    let number = parameter_number(code, word)?;
    let is = |decorator: &str| {
        let mut lines = code.lines().map(str::trim);
        lines.any(|line| line == decorator)
    };
    match is_method && !is("@staticmethod") {
        true if is("@classmethod") => number.checked_sub(1),
        true => None,
        false => Some(number),
    }
}

/// The innermost function around a place.
fn innermost_function(analysis: &Analysis, place: ByteSpan) -> Option<&Definition> {
    let functions = analysis.definitions.iter();
    let functions =
        functions.filter(|each| each.kind == DefinitionKind::Function && each.span.contains(place));
    functions.min_by_key(|each| each.span.end - each.span.start)
}

/// The name whose module is asked for behind a text; none where it is no name alone.
fn word_asked(before: &str) -> Option<&str> {
    let itself = ["type(self)", "self.__class__", "type(cls)"];
    if itself.iter().any(|each| before.ends_with(each)) {
        return Some("self");
    }
    let word = last_word(before);
    let head = before.strip_suffix(word).unwrap_or(before);
    (!word.is_empty() && (word == "self" || !head.ends_with('.'))).then_some(word)
}

/// The code of the innermost function around a place, and the name that ends there; none for what is an attribute, and
/// at module level.
fn local_name(text: &str, at: usize) -> Option<(&str, &str)> {
    let before = text.get(..at)?;
    let word = last_word(before);
    let head = before.strip_suffix(word)?;
    let analysis = Analysis::new(text);
    let place = ByteSpan::from_range(at..at + 1);
    let functions = analysis
        .definitions
        .iter()
        .filter(|each| each.kind == DefinitionKind::Function && each.span.contains(place));
    let function = functions.min_by_key(|each| each.span.end - each.span.start)?;
    let code = function.span.of(text)?;
    (!word.is_empty() && !head.ends_with('.')).then_some((code, word))
}

/// Whether a piece of code may give a name another value.
fn sets(code: &str, word: &str) -> bool {
    let analysis = Analysis::new(code);
    let inner = analysis.scopes.iter().skip(1);
    inner
        .filter_map(|scope| scope.bindings.get(word))
        .any(|bindings| bindings.len() > 1)
}

/// The first parameter of each function in a piece of code.
fn first_parameters(code: &str) -> Vec<&str> {
    let places = memchr::memmem::find_iter(code.as_bytes(), b"def ");
    let heads = places.filter_map(|at| code.get(at..)?.split_once('('));
    let first = heads.map(|(_, rest)| {
        let rest = rest.trim_start();
        rest.split(|c: char| !is_word(c)).next().unwrap_or_default()
    });
    first.collect()
}

/// Whether a text has a function as anything else than a decorator that stands right above what it is for.
fn is_more_than_decorator(text: &str, function: &str) -> bool {
    if !occurrences_of_word(text, function) {
        return false;
    }
    let analysis = Analysis::new(text);
    let mut imports = analysis.imports.iter();
    let renamed = imports.any(|(import, _)| {
        let mut leaves = import.leaves.iter();
        leaves.any(|leaf| leaf.name.text == function && leaf.alias.is_some())
    });
    let listed = |span: ByteSpan| {
        let mut all = analysis.all.iter().flatten();
        all.any(|entry| entry.span == span)
    };
    let mut strings = analysis.strings.iter();
    let quoted =
        strings.any(|string| string.span.of(text) == Some(function) && !listed(string.span));
    let mut uses = analysis.uses.iter().filter(|used| !used.store);
    let decorates = |used: &Use| is_decorator(text, used, function);
    renamed || quoted || uses.any(|used| !decorates(used))
}

/// Whether a use is no use of a function, or decorates what stands right below it.
fn is_decorator(text: &str, used: &Use, function: &str) -> bool {
    let mut chain = used.chain.iter();
    let Some(found) = chain.find(|each| each.text == function) else {
        return true;
    };
    let before = text.get(..found.span.start as usize).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default().trim_start();
    let decorates = line.strip_prefix('@');
    decorates.is_some_and(|above| above.chars().all(|c| is_word(c) || c == '.'))
}

/// The heads of the classes of a text.
fn heads(text: &str) -> Vec<Head<'_>> {
    let places = memchr::memmem::find_iter(text.as_bytes(), b"class ");
    let heads = places.filter_map(|at| {
        let line = text.get(..at)?.rsplit('\n').next()?;
        let rest = text.get(at + "class ".len()..)?.trim_start();
        let name = rest.split(|c: char| !is_word(c)).next()?;
        if !line.trim().is_empty() || name.is_empty() {
            return None;
        }
        let bases = rest.get(name.len()..)?.trim_start();
        let bases = bases.strip_prefix('(').map_or("", in_parentheses);
        Some(Head { name, bases })
    });
    heads.collect()
}

/// A text up to the parenthesis that closes what was opened before it.
pub(super) fn in_parentheses(text: &str) -> &str {
    let mut depth = 0_u32;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' if depth == 0 => return text.get(..at).unwrap_or_default(),
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    text
}

/// Names that a text gives to what has a name already: `import A as B`, `B = A`.
fn other_names<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let lines = text.lines().filter(|line| occurrences_of_word(line, name));
    let named = lines.flat_map(|line| {
        let renamed = line.match_indices(" as ").map(|(at, separator)| {
            let rest = line.get(at + separator.len()..).unwrap_or_default();
            rest.split(|c: char| !is_word(c)).next().unwrap_or_default()
        });
        let assigned = line.split_once('=').map_or("", |(target, _)| {
            let target = target.split(':').next().unwrap_or_default();
            last_word(target.trim_end())
        });
        renamed.chain([assigned])
    });
    named.filter(|name| !name.is_empty()).collect()
}

/// Makers of classes without a `class` statement.
const MAKERS: [&str; 6] = [
    "new_class(",
    "make_dataclass(",
    "type(\"",
    "type('",
    "type(f\"",
    "type(name",
];

/// Whether a piece of code may define a class of one of these names, or one below them.
fn may_define(piece: &Carried, names: &[String]) -> bool {
    let text = piece.text();
    if MAKERS.iter().any(|maker| text.contains(maker)) {
        return true;
    }
    let heads = heads(text);
    if heads.is_empty() {
        return false;
    }
    let analysis = piece.analysis();
    heads.iter().any(|head| {
        names.iter().any(|name| name == head.name)
            || names
                .iter()
                .any(|name| occurrences_of_word(head.bases, name))
            || !is_told(head, analysis)
    })
}

/// Whether every base in the head of a class is built in, imported, or a class of the file.
fn is_told(head: &Head<'_>, analysis: &Analysis) -> bool {
    let outer = without_subscripts(head.bases);
    let mut bases = outer
        .split(',')
        .map(str::trim)
        .filter(|base| !base.is_empty());
    bases.all(|base| {
        let base = match base.split_once('=') {
            Some((key, value)) if key.trim() == "metaclass" => value.trim(),
            Some(_) => return !base.contains('('),
            None => base,
        };
        let root = base.split('.').next().unwrap_or_default();
        let plain = base.chars().all(|c| is_word(c) || c == '.');
        let bindings = analysis.bindings(0, root);
        let class = analysis.definitions.iter().any(|each| {
            each.kind == DefinitionKind::Class && each.class.is_none() && each.name == root
        });
        let known = bindings.iter().all(|each| each.import.is_some() || class);
        plain && known && (!bindings.is_empty() || is_builtin(root))
    })
}

/// What of a text stands in no brackets.
fn without_subscripts(text: &str) -> String {
    let mut depth = 0_u32;
    let outer = text.chars().filter(|c| {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && *c != ']'
    });
    outer.collect()
}

/// Whether what follows `__module__` may come out otherwise for a change. Where it is held against texts, one of them has
/// to be of a name; `may_be` says which texts that are not seen there may be.
pub(super) fn tells_apart(
    before: &str,
    after: &str,
    change: &Change,
    may_be: &dyn Fn(&str) -> bool,
) -> bool {
    let (from, to) = modules(change);
    let Some((method, rest)) = after
        .strip_prefix('.')
        .and_then(|rest| rest.split_once('('))
    else {
        let leads = after.starts_with([']', ')']) && leads_to_module(before);
        return from != to
            && (after.starts_with('[') || (leads && change.subject == Subject::Item));
    };
    let (argument, rest) = rest.split_once(')').unwrap_or((rest, ""));
    let constant = argument.trim();
    let given = match !constant.is_empty() && constant.chars().all(is_word) {
        true => spellings::texts_of_constant(before, constant),
        false => literals(argument),
    };
    let compared = literals(rest.lines().next().unwrap_or_default());
    if method == "split"
        && let Some(found) = parts::is_member_of_one(before, (from, to), (argument, rest), may_be)
    {
        return found;
    }
    let below = change.subject == Subject::Module;
    if parts::is_the_same((from, to), (method, argument, rest), below) {
        return false;
    }
    let top = |name: &str| name.split('.').next().map(str::to_owned);
    match method {
        "startswith" if !given.is_empty() => given
            .iter()
            .any(|text| from.starts_with(text) != to.starts_with(text)),
        "endswith" if !given.is_empty() => given
            .iter()
            .any(|text| from.ends_with(text) != to.ends_with(text)),
        "split" | "partition" if rest.starts_with("[0]") => top(from) != top(to),
        "split" | "rsplit" | "partition" | "rpartition"
            if rest.contains("==") && !compared.is_empty() =>
        {
            parts::tells_apart((from, to), (method, argument, rest), &compared)
        }
        "count" if !given.is_empty() => given
            .iter()
            .any(|text| from.matches(text).count() != to.matches(text).count()),
        "count" | "split" | "rsplit" | "partition" | "rpartition" | "startswith" | "endswith"
        | "find" | "rfind" | "index" | "rindex" | "replace" | "removeprefix" | "removesuffix" => {
            from != to
        }
        _ => false,
    }
}

/// The modules that a change is of: before, and after.
pub fn modules(change: &Change) -> (&str, &str) {
    let module = |name: &'_ str| match change.subject {
        Subject::Item => name.rfind('.').unwrap_or(0),
        _ => name.len(),
    };
    let (from, to) = (&change.from, &change.to);
    (
        from.get(..module(from)).unwrap_or_default(),
        to.get(..module(to)).unwrap_or_default(),
    )
}

/// Whether the first parts of a name are joined again and held against texts that neither name meets:
/// `".".join(cls.__module__.split(".")[:2]) in ["a.b", "c.d"]`.
fn meets_nothing(before: &str, after: &str, change: &Change) -> bool {
    let head = before.trim_end_matches(|c: char| is_word(c) || c == '.');
    let joined = ["\".\".join(", "'.'.join("];
    let taken = [".split(\".\")[:", ".split('.')[:"];
    let counted = taken.iter().find_map(|form| after.strip_prefix(form));
    let Some((count, rest)) = counted.and_then(|rest| rest.split_once("])")) else {
        return false;
    };
    let (true, Ok(count)) = (
        joined.iter().any(|form| head.ends_with(form)),
        count.trim().parse::<usize>(),
    ) else {
        return false;
    };
    let rest = rest.trim_start();
    let asked = ["not in ", "in ", "== ", "!= "];
    let Some((form, rest)) = asked
        .iter()
        .find_map(|form| Some((form, rest.strip_prefix(form)?)))
    else {
        return false;
    };
    let rest = rest.trim_start();
    let listed = match form.ends_with("in ") {
        true => rest
            .strip_prefix(['[', '(', '{'])
            .and_then(|rest| rest.split_once([']', ')', '}']))
            .map(|(listed, _)| listed),
        false => rest.lines().next().map(|line| line.trim_end_matches(':')),
    };
    let Some(listed) = listed else {
        return false;
    };
    let mut between = listed.split(['"', '\'']).step_by(2);
    if !between.all(|part| part.chars().all(|c| c == ',' || c.is_whitespace())) {
        return false;
    }
    // A module below one that moves has more parts.
    let meets = |name: &str, text: &str| {
        let parts: Vec<&str> = name.split('.').collect();
        let first = parts.get(..count.min(parts.len())).unwrap_or_default();
        let below = format!("{name}.");
        first.join(".") == text || (parts.len() < count && text.starts_with(&below))
    };
    let (from, to) = modules(change);
    let texts = literals(listed);
    !texts.is_empty()
        && !texts
            .iter()
            .any(|text| meets(from, text) || meets(to, text))
}

/// Whether the parts of a name are kept in a variable of a function that asks for the first one alone, which stays what
/// it is: `path = cls.__module__.split(".")`, `if path[0] == "concurrent":`. What stands under such a condition on
/// another first part is not come to.
fn first_part_alone(text: &str, place: &Place, change: &Change) -> bool {
    let (at, end) = (place.object, place.end);
    let top = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let (first, kept) = (top(&change.from), top(&change.from) == top(&change.to));
    let before = text.get(..at).unwrap_or_default();
    let head = before.rsplit('\n').next().unwrap_or_default();
    let after = text.get(end..).unwrap_or_default();
    let tail = after.lines().next().unwrap_or_default().trim_end();
    let Some((variable, asked)) = head.split_once('=') else {
        return false;
    };
    let variable = variable.trim();
    let plain = |c: char| is_word(c) || matches!(c, '.' | ' ' | '(' | ')');
    let taken = [".split(\".\")", ".split('.')"].contains(&tail);
    if !kept || !taken || !variable.chars().all(is_word) || !asked.chars().all(plain) {
        return false;
    }
    let analysis = Analysis::new(text);
    let place = ByteSpan::from_range(at..at + 1);
    let mut functions: Vec<&Definition> = analysis
        .definitions
        .iter()
        .filter(|each| each.kind == DefinitionKind::Function && each.span.contains(place))
        .collect();
    functions.sort_by_key(|each| each.span.end - each.span.start);
    let code = functions.first().and_then(|each| each.span.of(text));
    let Some(code) = code else {
        return false;
    };
    let assigned = format!("{head}{NAME}{tail}");
    let mut lines = code.lines().filter(|line| {
        let line = line.trim_start();
        !line.is_empty() && !line.starts_with('#')
    });
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let mut not_come_to: Option<usize> = None;
    lines.all(|line| {
        if not_come_to.is_some_and(|outer| indentation(line) > outer) {
            return true;
        }
        let condition = is_of_another_first_part(line, variable, &first);
        not_come_to = condition.then(|| indentation(line));
        line.trim_end() == assigned || reads_first_part(line, variable)
    })
}

/// Whether a line is nothing but a condition on another first part.
fn is_of_another_first_part(line: &str, variable: &str, first: &str) -> bool {
    let line = line.trim();
    let condition = line.strip_prefix("if ").or(line.strip_prefix("elif "));
    let compared = condition
        .and_then(|rest| rest.strip_prefix(variable)?.strip_prefix("[0] == "))
        .and_then(|rest| rest.strip_suffix(':'));
    compared.is_some_and(|text| {
        let part = text.trim_matches(['"', '\'']);
        text.len() == part.len() + 2 && part.chars().all(is_word) && part != first
    })
}

/// Whether a line has a variable as `variable[0]` alone, if at all, and sets it nowhere.
fn reads_first_part(line: &str, variable: &str) -> bool {
    let mut places = line.match_indices(variable);
    places.all(|(at, found)| {
        let before = line.get(..at).unwrap_or_default();
        let after = line.get(at + found.len()..).unwrap_or_default();
        if before.ends_with(is_word) || after.starts_with(is_word) {
            return true;
        }
        let rest = after.strip_prefix("[0]").map(str::trim_start);
        let sets = |rest: &str| {
            let rest = rest.trim_start_matches(['+', '-', '*', '/', '%', '|', '&', '^']);
            rest.starts_with('=') && !rest.starts_with("==")
        };
        rest.is_some_and(|rest| !sets(rest))
            && !before.ends_with('.')
            && !before.trim_end().ends_with("del")
    })
}

/// Whether a name that stands here is looked up as that of a module: `sys.modules[f.__module__]`. A module that moves as
/// a whole is found by its new name.
fn leads_to_module(before: &str) -> bool {
    if namespaces::is_merged_lookup(before) {
        return false;
    }
    let line = before.rsplit('\n').next().unwrap_or_default();
    let opened = spellings::without_type(line).trim_end_matches(|c: char| is_word(c) || c == '.');
    let opened = opened.strip_suffix("type(").unwrap_or(opened);
    let opened = opened.strip_suffix("getattr(").unwrap_or(opened);
    ["modules[", "modules.get(", "import_module("]
        .iter()
        .any(|call| opened.ends_with(call))
}

/// The texts in quotes of a piece of code.
fn literals(code: &str) -> Vec<&str> {
    code.split(['"', '\'']).skip(1).step_by(2).collect()
}
