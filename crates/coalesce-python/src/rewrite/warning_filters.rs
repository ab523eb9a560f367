//! Filters of warnings by the module that warns: `filterwarnings("ignore", module=r"pkg\.old")`, `error:::pkg.old`.
//!
//! A warning is that of the module whose code gives it or, with a `stacklevel`, of the one that calls that code. What moves
//! does either under another name afterwards, and nothing in the filter names what moves.

mod pattern;
mod written;

use coalesce_model::{
    ByteSpan, Change, LanguagePlan, Subject, Texts, TreePath, Unproven, UnprovenKind,
};

pub use self::written::ends_before_module;
use self::{pattern::passes, written::filters};
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
        let (span, change) = first_told(&texts.text(path)?, &ways)?;
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
fn first_told<'c>(text: &str, ways: &[Way<'c>]) -> Option<(ByteSpan, &'c Change)> {
    filters(text).into_iter().find_map(|filter| {
        let told = |(old, new): &(String, String)| {
            let (old, new) = (passes(&filter, old), passes(&filter, new));
            old.is_none() || new.is_none() || old != new
        };
        let mut ways = ways.iter();
        let way =
            ways.find(|way| !way.is_rewritten(&filter.module) && way.modules.iter().any(told))?;
        Some((filter.span, way.change))
    })
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
