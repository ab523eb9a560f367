//! Records of loggers that are told from others by the name of the logger: `record.name.endswith("old")`,
//! `logging.Filter("pkg.old")`. What moves and writes to the logger of its module writes to another one afterwards.

use coalesce_model::{
    ByteSpan, Change, ChangeKind, LanguagePlan, Texts, TreePath, Unproven, UnprovenKind,
};

use super::{
    mapping::Mapping,
    module_names::{Readers, modules, tells_apart},
};
use crate::names::{is_or_below, is_word, last_word, literal_at, occurrences_of_word};

const OWN: &str = "getLogger(__name__)";
const WHY: &str = "it tells records by the names of loggers, and what moves writes to another one";

/// The changes by which loggers come to have other names.
pub(super) fn writers<'m>(mapping: &'m Mapping<'_>, readers: &Readers<'_>) -> Vec<&'m Change> {
    let changes = mapping.all.iter();
    changes
        .filter(|change| change.kind == ChangeKind::Move && writes(readers, change))
        .collect()
}

/// Tells each file that goes by the names of loggers of which one comes to be another.
pub fn check(
    mapping: &Mapping<'_>,
    readers: &Readers<'_>,
    texts: &dyn Texts,
    plan: &mut LanguagePlan,
) {
    let writers = writers(mapping, readers);
    let modules = mapping.graph.modules.iter();
    let paths = modules
        .map(|module| &module.path)
        .filter(|_| !writers.is_empty());
    plan.unproven
        .extend(paths.filter_map(|path| first_told(path, &texts.text(path)?, &writers)));
}

/// The first of some changes whose logger a file goes by.
fn first_told(path: &TreePath, text: &str, writers: &[&Change]) -> Option<Unproven> {
    let mut told = writers.iter();
    let (change, span) = told.find_map(|change| Some((change, told_at(text, change)?)))?;
    Some(Unproven {
        path: path.clone(),
        span: Some(span),
        kind: UnprovenKind::OwnPlace,
        name: change.from.clone(),
        why: WHY.to_owned(),
    })
}

/// Whether what a change takes along writes to a logger that is named after its module.
fn writes(readers: &Readers<'_>, change: &Change) -> bool {
    let pieces = readers.pieces(change);
    let mut pieces = pieces.iter().flat_map(|pieces| pieces.iter());
    pieces.any(|piece| {
        let mut made = piece.file.match_indices(OWN);
        made.any(|(at, _)| {
            let before = piece.file.get(..at).unwrap_or_default();
            let line = before.rsplit('\n').next().unwrap_or_default();
            let name = line
                .split_once('=')
                .map_or("", |(name, _)| last_word(name.trim_end()));
            let text = piece.text();
            text.contains(OWN) || !name.is_empty() && occurrences_of_word(text, name)
        })
    })
}

/// Where a text tells the logger of the old module from that of the new one.
fn told_at(text: &str, change: &Change) -> Option<ByteSpan> {
    let names = text.match_indices("record.name").find_map(|(at, word)| {
        let (before, after) = (text.get(..at)?, text.get(at + word.len()..)?);
        let told = tells_apart(before, after, change, &|_| true) || is_compared(after, change);
        (!after.starts_with(is_word) && told).then(|| ByteSpan::from_range(at..at + word.len()))
    });
    names.or_else(|| {
        text.match_indices("Filter(").find_map(|(at, call)| {
            let start = at + call.len();
            let (name, _) = literal_at(text.get(start..)?)?;
            let (from, to) = modules(change);
            (passes(from, name) != passes(to, name))
                .then(|| ByteSpan::from_range(start + 1..start + 1 + name.len()))
        })
    })
}

/// Whether a filter lets the records of a logger pass: it is named so, or below.
fn passes(logger: &str, filter: &str) -> bool {
    filter.is_empty() || is_or_below(logger, filter)
}

/// Whether a name is held against others: against texts of which one is that of a logger, or against what is not written
/// there.
fn is_compared(after: &str, change: &Change) -> bool {
    let after = after.trim_start();
    let asked = ["==", "!=", "in ", "not in "];
    let Some(rest) = asked.iter().find_map(|form| after.strip_prefix(form)) else {
        return false;
    };
    let line = rest.lines().next().unwrap_or_default();
    let (from, to) = modules(change);
    let mut parts = line.split(['"', '\'']);
    let written = parts.clone().count() > 2;
    !written || parts.any(|part| part == from || part == to)
}
