//! What a module that moves reads of its own name and place, and names that stand in bytes.
//!
//! `Path(__file__).parent / "table.csv"` looks beside the new file afterwards, `get_data(__package__, …)` in
//! the new package. A definition that uses such a name does not move at all (`items::needs`); a module does,
//! and what it looks for has to be looked at by a person.

mod climbs;

use coalesce_model::{ByteSpan, Form, Subject, UnprovenKind};

use super::file::{File, FileEdits};
use crate::{analysis::Use, graph::Entity, names::last_word};

/// Names that say where a module is.
const PLACES: [&str; 5] = [
    "__file__",
    "__loader__",
    "__package__",
    "__path__",
    "__spec__",
];

/// Calls that do nothing with the name of a module but say it, or keep it as what a definition belongs to.
const SAYING: [&str; 14] = [
    "Enum",
    "NewType",
    "create_model",
    "deprecated",
    "format",
    "getattr",
    "hasattr",
    "isinstance",
    "make_dataclass",
    "namedtuple",
    "print",
    "repr",
    "setattr",
    "str",
];

/// Calls that import what they are told, which is followed where they are.
const IMPORTING: [&str; 4] = ["__import__", "attach", "find_spec", "import_module"];

/// Calls over more lines are not looked at.
const LINES_OF_A_CALL: usize = 6;

/// Tells each such use in a file that moves, where its package does not move as a whole.
pub fn doubt(file: &File<'_>, found: &mut FileEdits) {
    places_of_others(file, found);
    let moves = |module| file.mapping.moves_alone(module);
    if !file.module.is_some_and(moves) {
        climbs::doubt(file, found);
        return;
    }
    let kind = UnprovenKind::OwnPlace;
    let why = "the module moves; what it finds by this may not be there";
    for (span, name) in looked_up(file) {
        found.told.doubt(span, kind, name, why);
    }
    for used in &file.analysis().uses {
        let Some(root) = used.chain.first() else {
            continue;
        };
        let bound = file.analysis().binding_scope(used.scope, &root.text);
        if bound.is_some() || used.store || !looks(file.text, used) {
            continue;
        }
        if root.text == "__file__" {
            found.told.leave(root.span, Form::FilePath, "__file__", why);
        }
        found.told.doubt(root.span, kind, &root.text, why);
    }
}

/// Tells where the place of a module that moves alone is read of it: `os.path.dirname(pkg.gpu.__file__)`.
fn places_of_others(file: &File<'_>, found: &mut FileEdits) {
    let reads = |used: &&Use| {
        let mut links = used.chain.iter().skip(1);
        links.any(|link| PLACES.contains(&link.text.as_str()))
    };
    for used in file.analysis().uses.iter().filter(reads) {
        let read = used.chain.iter().skip(1);
        for (meaning, place) in file.names.meanings(used).iter().zip(read) {
            let moves = matches!(meaning.entity, Some(Entity::Module(module)) if file.mapping.moves_alone(module));
            let name = place.text.as_str();
            if moves && PLACES.contains(&name) && !used.store {
                let why = "the module moves; what is found by its place may not be there";
                let kind = UnprovenKind::OwnPlace;
                found.told.doubt(place.span, kind, name, why);
            }
        }
    }
}

/// Where a file looks its own place up by a text: `globals()["__file__"]`.
fn looked_up<'f>(file: &'f File<'_>) -> Vec<(ByteSpan, &'f str)> {
    let strings = file.analysis().strings.iter();
    let found = strings.filter_map(|string| {
        let name = string.span.of(file.text)?;
        let before = file.text.get(..string.span.start as usize)?;
        let before = before.trim_end_matches(['"', '\'']);
        let table = before
            .strip_suffix('[')
            .or_else(|| before.strip_suffix(".get("))?;
        let own = ["globals()", "locals()", "vars()"];
        let is_own = own.iter().any(|call| table.ends_with(call));
        (is_own && PLACES.contains(&name)).then_some((string.span, name))
    });
    found.collect()
}

/// Whether something is looked for by a use.
fn looks(text: &str, used: &Use) -> bool {
    let [root, rest @ ..] = used.chain.as_slice() else {
        return false;
    };
    match root.text.as_str() {
        "__name__" if !rest.is_empty() => true,
        "__name__" if gives_own_module(text, root.span) => reads_place(text),
        "__name__" => call_before(text, root.span).is_some_and(|call| !only_says(call)),
        name => {
            PLACES.contains(&name)
                && !call_before(text, root.span).is_some_and(|call| IMPORTING.contains(&call))
        }
    }
}

/// Ways to have a module by its name.
const GIVING_MODULES: [&str; 4] = ["modules[", "import_module(", "__import__(", "find_spec("];

/// What is asked of a module, or done with one, to find what lies beside it.
const READING_PLACES: [&str; 8] = [
    ".__file__",
    ".__package__",
    ".__path__",
    ".__spec__",
    ".origin",
    "files(",
    "getfile(",
    "getsourcefile(",
];

/// Whether a module has itself as a value: `sys.modules[__name__]`.
fn gives_own_module(text: &str, name: ByteSpan) -> bool {
    let before = text.get(..name.start as usize).unwrap_or_default();
    let after = text.get(name.end as usize..).unwrap_or_default();
    let before = before.trim_end();
    after.trim_start().starts_with([']', ')'])
        && GIVING_MODULES.iter().any(|form| before.ends_with(form))
}

/// Whether a text asks some module where it is.
fn reads_place(text: &str) -> bool {
    READING_PLACES.iter().any(|form| text.contains(form))
}

/// Whether a call does not look for anything by the name that it is given: loggers, tracers, warnings and errors say it,
/// and imports are followed where they are.
fn only_says(call: &str) -> bool {
    let lower = call.to_lowercase();
    let says = [
        "log",
        "tracer",
        "meter",
        "warn",
        "deprecat",
        "error",
        "exception",
    ];
    says.iter().any(|word| lower.contains(word))
        || call.is_empty()
        || SAYING.contains(&call)
        || IMPORTING.contains(&call)
}

/// The last word of what is called with the arguments that a place stands among, within a few lines.
pub(super) fn call_before(text: &str, place: ByteSpan) -> Option<&str> {
    let before = text.get(..place.start as usize)?;
    let start = before.rmatch_indices('\n').nth(LINES_OF_A_CALL);
    let lines = before.get(start.map_or(0, |(at, _)| at)..)?;
    let mut closed = 0_usize;
    let mut characters = lines.char_indices().rev();
    let (open, character) = characters.find(|(_, character)| {
        match character {
            ')' | ']' => closed += 1,
            '(' | '[' if closed == 0 => return true,
            '(' | '[' => closed -= 1,
            _ => {}
        }
        false
    })?;
    let called = lines.get(..open).filter(|_| character == '(')?;
    Some(last_word(called.trim_end()))
}

/// Tells names of what changes that stand in bytes, as in what `pickle` writes: they are not rewritten.
pub fn in_bytes(file: &File<'_>, found: &mut FileEdits) {
    if !file.text.contains("loads(") && !file.text.contains("Unpickler") {
        return;
    }
    for change in file.mapping.named_in(file.text) {
        let name = match change.subject {
            Subject::Item => change.from.rsplit_once('.').map(|(above, _)| above),
            _ => None,
        };
        let name = name.unwrap_or(&change.from);
        let places = memchr::memmem::find_iter(file.text.as_bytes(), name.as_bytes());
        for at in places.filter(|at| is_in_bytes(file.text, *at)) {
            let span = ByteSpan::from_range(at..at + name.len());
            let why = "it stands in bytes, which may be read back as objects of this module";
            found
                .told
                .doubt(span, UnprovenKind::DynamicImport, name, why);
        }
    }
}

/// Whether a place stands in a literal of bytes that begins on its line.
fn is_in_bytes(text: &str, at: usize) -> bool {
    let line = text.get(..at).and_then(|before| before.rsplit('\n').next());
    let quote = line.and_then(|line| {
        let quote = line.rfind(['"', '\''])?;
        line.get(..quote)
    });
    quote.is_some_and(|before| {
        let before = before.trim_end_matches(['"', '\'']);
        let prefix = before
            .rsplit(|c: char| !c.is_alphanumeric())
            .next()
            .unwrap_or_default();
        matches!(prefix.to_lowercase().as_str(), "b" | "br" | "rb")
    })
}
