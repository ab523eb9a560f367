//! Filters of warnings by the module that warns: `filterwarnings("ignore", module=r"pkg\.old")`, `error:::pkg.old`.
//!
//! A warning is that of the module whose code gives it or, with a `stacklevel`, of the one that calls that code. What moves
//! does either under another name afterwards, and nothing in the filter names what moves.

mod written;

use coalesce_model::{
    ByteSpan, Change, LanguagePlan, Subject, Texts, TreePath, Unproven, UnprovenKind,
};
use regex::Regex;

pub use self::written::ends_before_module;
use self::written::{Filter, filters};
use super::{
    mapping::Mapping,
    module_names::{Carried, Readers, modules},
};
use crate::names::{is_word, last_word};

const WHY: &str = "it tells warnings by the module that gives or causes them, which is another one for what moves";

/// A change that takes code along, and the modules that this code is of: before, and after.
struct Way<'c> {
    change: &'c Change,
    modules: Vec<(String, String)>,
}

/// Tells each file with a filter that warnings of what moves pass before the changes alone, or after them alone.
pub fn check(
    mapping: &Mapping<'_>,
    readers: &Readers<'_>,
    texts: &dyn Texts,
    plan: &mut LanguagePlan,
) {
    let changes = mapping.all.iter();
    let ways: Vec<Way<'_>> = changes
        .filter(|change| change.kind.carries_text() && may_warn(readers, change))
        .map(|change| Way::new(mapping, change))
        .collect();
    let paths = texts.paths().iter();
    let paths = paths.filter(|path| !ways.is_empty() && is_read(path));
    plan.unproven.extend(paths.filter_map(|path| {
        let own = mapping.graph.module_of(path);
        let own = own.and_then(|own| mapping.graph.modules.get(own));
        let own = own.map(|own| own.name.as_str());
        let (span, change) = first_told((&texts.text(path)?, own), &ways)?;
        Some(Unproven {
            path: path.clone(),
            span: Some(span),
            kind: UnprovenKind::OwnPlace,
            name: change.from.clone(),
            why: WHY.to_owned(),
        })
    }));
}

/// Whether a file may hold a filter: code, configuration, and what starts programs.
fn is_read(path: &TreePath) -> bool {
    let kinds = ["py", "toml", "ini", "cfg", "yml", "yaml", "sh", "env"];
    path.extension().is_none_or(|kind| kinds.contains(&kind))
}

/// Whether what a change takes along calls something: the call may warn, or be warned of.
fn may_warn(readers: &Readers<'_>, change: &Change) -> bool {
    let pieces = readers.pieces(change);
    let pieces = pieces.iter().flat_map(|pieces| pieces.iter());
    pieces.map(Carried::text).any(|text| {
        text.match_indices('(').any(|(at, _)| {
            let before = text.get(..at).unwrap_or_default();
            let name = last_word(before);
            let head = before.strip_suffix(name).unwrap_or(before).trim_end();
            !name.is_empty() && !matches!(last_word(head), "def" | "class")
        })
    })
}

/// The first filter of a text that tells some way's modules apart, and its change.
fn first_told<'c>(
    (text, own): (&str, Option<&str>),
    ways: &[Way<'c>],
) -> Option<(ByteSpan, &'c Change)> {
    filters(text, own).into_iter().find_map(|filter| {
        let passed = Passed::of(&filter);
        let told = |(old, new): &(String, String)| match &passed {
            Some(passed) => passed.has(old) != passed.has(new),
            None => true,
        };
        let mut ways = ways.iter();
        let way =
            ways.find(|way| !way.is_rewritten(&filter.module) && way.modules.iter().any(told))?;
        Some((filter.span, way.change))
    })
}

/// The modules whose warnings pass a filter.
enum Passed {
    Named(String),
    /// Those whose names begin so.
    Beginning(Regex),
}

impl Passed {
    /// Nothing where it is not known what the filter says.
    fn of(filter: &Filter) -> Option<Self> {
        if !filter.read {
            return None;
        }
        if filter.exact {
            return Some(Self::Named(filter.module.clone()));
        }
        // `\\Z` is Python's for the end of a text.
        let expression = filter.module.replace("\\Z", "\\z");
        let expression = Regex::new(&format!("^(?:{expression})")).ok()?;
        Some(Self::Beginning(expression))
    }

    fn has(&self, module: &str) -> bool {
        match self {
            Self::Named(name) => name == module,
            Self::Beginning(expression) => expression.is_match(module),
        }
    }
}

impl<'c> Way<'c> {
    fn new(mapping: &Mapping<'_>, change: &'c Change) -> Self {
        let (from, to) = modules(change);
        let modules = match change.subject {
            Subject::Item => vec![(from.to_owned(), to.to_owned())],
            _ => {
                let modules = mapping.graph.modules.iter();
                let below = modules.filter_map(|module| {
                    let rest = module.name.strip_prefix(&change.from)?;
                    let below = rest.is_empty() || rest.starts_with('.');
                    below.then(|| (module.name.clone(), format!("{}{rest}", change.to)))
                });
                below.collect()
            }
        };
        Self { change, modules }
    }

    /// Whether a filter has the whole name of a module that moves, which the pass over texts follows.
    fn is_rewritten(&self, module: &str) -> bool {
        let plain = module.replace('\\', "");
        let rest = plain.strip_prefix(&self.change.from);
        self.change.subject != Subject::Item && rest.is_some_and(|rest| !rest.starts_with(is_word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_pass_what_python_lets_pass() {
        for (module, name, expected) in [
            ("p.b", "p.b", Some(true)),
            ("p.b", "p.bc", Some(true)),
            (r"p\.b$", "p.bc", Some(false)),
            (r"p\.b\Z|q", "qr", Some(true)),
            ("p.*old", "p.very.old", Some(true)),
            (r"p\.\w+$", "p.a.b", Some(false)),
            ("", "p", Some(true)),
            ("p.b", "x.p.b", Some(false)),
            (r"(p|q)\.old", "p.old", Some(true)),
            (r"(p|q)\.old", "p.young", Some(false)),
            (r"p(\..*)?$", "other.old", Some(false)),
            (r"p(?!\.old)", "p.old", None),
        ] {
            let filter = Filter {
                span: ByteSpan::empty(0),
                module: module.to_owned(),
                exact: false,
                read: true,
            };
            let passed = Passed::of(&filter).map(|passed| passed.has(name));
            assert_eq!(passed, expected, "{module} {name}");
        }
    }
}
