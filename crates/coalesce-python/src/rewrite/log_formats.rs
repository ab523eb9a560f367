//! Formats of logs that show where a record comes from: `%(name)s`, `%(module)s`, `%(funcName)s`. What moves, or gets
//! another name, comes to be shown by another one; who reads the logs, nothing in the tree says.

use coalesce_model::{
    ByteSpan, Change, Finding, LanguagePlan, Severity, Subject, Texts, TreePath, finding::codes,
};

use super::{
    logger_filters::writers,
    mapping::Mapping,
    module_names::{Readers, modules},
};

/// Notes what the formats of the tree come to show otherwise, each once.
pub fn check(
    mapping: &Mapping<'_>,
    readers: &Readers<'_>,
    texts: &dyn Texts,
    plan: &mut LanguagePlan,
) {
    let writers = writers(mapping, readers);
    let shown = FORMATS.iter().filter_map(|format| {
        let mut changes = writers.iter();
        changes.find_map(|change| Some((format.word, (format.shows)(change)?)))
    });
    for (word, (from, to)) in shown {
        let mut paths = texts.paths().iter().filter(|path| may_configure(path));
        let place = paths.find_map(|path| place_of(path, word, texts));
        plan.notes.extend(place.map(|(path, span)| Finding {
            code: codes::PLAN_REMARK,
            severity: Severity::Note,
            path,
            span: Some(span),
            message: format!("lines of logs that show `{from}` by this come to show `{to}`"),
            help: None,
        }));
    }
}

/// A part of a format, and what it shows of what a change takes along, before and after, where that is not the same.
struct LogFormat {
    word: &'static str,
    shows: fn(&Change) -> Option<(&str, &str)>,
}

const FORMATS: [LogFormat; 4] = [
    LogFormat {
        word: "%(name)s",
        shows: name_of_logger,
    },
    LogFormat {
        word: "%(module)s",
        shows: name_of_file,
    },
    LogFormat {
        word: "%(filename)s",
        shows: name_of_file,
    },
    LogFormat {
        word: "%(funcName)s",
        shows: name_of_function,
    },
];

fn name_of_logger(change: &Change) -> Option<(&str, &str)> {
    let (from, to) = modules(change);
    (from != to).then_some((from, to))
}

fn name_of_file(change: &Change) -> Option<(&str, &str)> {
    let (from, to) = modules(change);
    let ends = (last(from), last(to));
    (ends.0 != ends.1).then_some(ends)
}

fn name_of_function(change: &Change) -> Option<(&str, &str)> {
    let ends = (last(&change.from), last(&change.to));
    (change.subject == Subject::Item && ends.0 != ends.1).then_some(ends)
}

fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// Whether a file may say how logs are written: code, and files that configure it.
fn may_configure(path: &TreePath) -> bool {
    let known = ["cfg", "conf", "ini", "json", "py", "toml", "yaml", "yml"];
    path.extension().is_some_and(|own| known.contains(&own))
}

/// Where a file has a part of a format.
fn place_of(path: &TreePath, word: &str, texts: &dyn Texts) -> Option<(TreePath, ByteSpan)> {
    let text = texts.text(path)?;
    let at = memchr::memmem::find(text.as_bytes(), word.as_bytes())?;
    Some((path.clone(), ByteSpan::from_range(at..at + word.len())))
}
