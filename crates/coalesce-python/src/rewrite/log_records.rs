//! Records of logs that are told from others by what they say of the code that wrote them: `record.module == "old"`,
//! `"old.py" in caplog.text`. What moves, or gets another name, says another one afterwards.

use std::sync::Arc;

use coalesce_model::{ByteSpan, Change, ChangeKind, LanguagePlan, Texts, Unproven, UnprovenKind};

use super::{
    log_formats::{RecordField, may_configure, shows},
    mapping::Mapping,
    module_names::Readers,
};
use crate::{
    analysis::Analysis,
    names::{is_word, literal_at, occurrences_of_word},
};

const WHY: &str =
    "it tells records of logs by what wrote them, and what moves is called otherwise afterwards";

/// Calls that write to a log.
const WRITING: [&str; 9] = [
    ".critical(",
    ".debug(",
    ".error(",
    ".exception(",
    ".fatal(",
    ".info(",
    ".log(",
    ".warn(",
    ".warning(",
];

/// Words of a file that has to do with records of logs.
const HAVING_RECORDS: [&str; 5] = ["LogRecord", "assertLogs", "caplog", "logging", "loguru"];

/// Words of a file that looks at the lines of logs.
const HAVING_LINES: [&str; 7] = [
    "assertLogs",
    "capfd",
    "caplog.text",
    "capsys",
    "getvalue(",
    "stderr",
    "stdout",
];

/// What a record says of a change, before and after.
struct SaidField<'c> {
    change: &'c Change,
    field: &'static RecordField,
    values: [String; 2],
    /// Whether lines of logs show it.
    shown: bool,
}

/// Tells each file that looks for what records of logs come to say otherwise.
pub fn check(
    mapping: &Mapping<'_>,
    readers: &Readers<'_>,
    texts: &dyn Texts,
    plan: &mut LanguagePlan,
) {
    let changes = mapping.all.iter();
    let writing =
        changes.filter(|change| change.kind == ChangeKind::Move && writes(readers, change));
    let said: Vec<SaidField<'_>> = writing
        .flat_map(|change| of_change(mapping, texts, change))
        .collect();
    if said.is_empty() {
        return;
    }
    let modules = mapping.graph.modules.iter();
    let told = modules.filter_map(|module| {
        let text = texts.text(&module.path)?;
        let (said, span) = said
            .iter()
            .find_map(|said| Some((said, said.place_in(&text, texts)?)))?;
        Some(Unproven {
            path: module.path.clone(),
            span: Some(span),
            kind: UnprovenKind::OwnPlace,
            name: said.change.from.clone(),
            why: WHY.to_owned(),
        })
    });
    plan.unproven.extend(told);
}

/// Whether what a change takes along writes to a log.
fn writes(readers: &Readers<'_>, change: &Change) -> bool {
    let pieces = readers.pieces(change);
    pieces.is_none_or(|pieces| {
        let mut pieces = pieces.iter();
        pieces.any(|piece| WRITING.iter().any(|call| piece.text().contains(call)))
    })
}

fn of_change<'c>(
    mapping: &Mapping<'_>,
    texts: &dyn Texts,
    change: &'c Change,
) -> Vec<SaidField<'c>> {
    let fields = RecordField::ALL.iter().filter(|field| field.name != "name");
    let said = fields.filter_map(|field| {
        let (from, to) = shows(mapping, field, change)?;
        Some(SaidField {
            change,
            field,
            values: [from, to],
            shown: field.place_in_formats(texts).is_some(),
        })
    });
    said.collect()
}

impl SaidField<'_> {
    /// Where a file looks for what records say.
    fn place_in(&self, text: &str, texts: &dyn Texts) -> Option<ByteSpan> {
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        let record = has(&HAVING_RECORDS)
            .then(|| self.read_of_record(text, texts))
            .flatten();
        record.or_else(|| {
            // pytest's own lines show the file.
            let shown = self.shown || self.field.name == "filename" && text.contains("caplog.text");
            (shown && has(&HAVING_LINES)).then(|| self.in_literal(text))?
        })
    }

    /// Where the field of a record is read, and held against what is said now or then.
    fn read_of_record(&self, text: &str, texts: &dyn Texts) -> Option<ByteSpan> {
        let places = self.field.read_as.iter().flat_map(|word| {
            let places = text.match_indices(word);
            places.map(|(at, word)| (at, at + word.len()))
        });
        let mut places = places.filter(|(_, end)| {
            let after = text.get(*end..).unwrap_or_default();
            !after.starts_with(is_word) && !after.starts_with('(')
        });
        let (at, end) = places.find(|(at, end)| self.is_told_apart(text, (*at, *end), texts))?;
        Some(ByteSpan::from_range(at..end))
    }

    fn is_told_apart(&self, text: &str, (at, end): (usize, usize), texts: &dyn Texts) -> bool {
        let (before, after) = (
            text.get(..at).unwrap_or_default(),
            text.get(end..).unwrap_or_default(),
        );
        let [from, to] = &self.values;
        let given = |method: &str| {
            let (given, _) = after.strip_prefix(method).and_then(literal_at)?;
            given.rsplit('/').next()
        };
        if let Some(start) = given(".startswith(") {
            return from.starts_with(start) != to.starts_with(start);
        }
        if let Some(end) = given(".endswith(") {
            return from.ends_with(end) != to.ends_with(end);
        }
        if self.values.iter().any(|value| has_literal(text, value)) {
            return true;
        }
        // What it is held against may stand elsewhere.
        let line = (
            before.rsplit('\n').next().unwrap_or_default(),
            after.split('\n').next().unwrap_or_default(),
        );
        let compares = ["==", "!=", " in ", "[", "get("];
        let written = |part: &str| part.contains(['"', '\'']);
        let compared = compares.iter().any(|sign| {
            line.0.contains(sign) || line.1.trim_start().starts_with(sign.trim_start())
        });
        compared && !written(line.0) && !written(line.1) && self.is_said_elsewhere(texts)
    }

    /// Whether any file that may say what records are held against has one of the values.
    fn is_said_elsewhere(&self, texts: &dyn Texts) -> bool {
        let mut paths = texts.paths().iter().filter(|path| may_configure(path));
        paths.any(|path| {
            let text: Arc<str> = texts.text(path).unwrap_or_default();
            self.values.iter().any(|value| has_literal(&text, value))
        })
    }

    /// Where a text of a file says one of the values beside other words.
    fn in_literal(&self, text: &str) -> Option<ByteSpan> {
        let analysis = Analysis::without_annotations(text);
        let literals = analysis.strings.iter();
        let mut literals = literals.filter(|literal| !literal.documentation && !literal.annotation);
        let says = |content: &str| {
            let mut values = self.values.iter();
            values.any(|value| occurrences_of_word(content, value))
        };
        let found = literals.find(|literal| literal.span.of(text).is_some_and(says))?;
        Some(found.span)
    }
}

/// Whether a text has a value in quotes.
fn has_literal(text: &str, value: &str) -> bool {
    let quotes = ['"', '\''];
    text.match_indices(value).any(|(at, value)| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + value.len()..).unwrap_or_default();
        before.ends_with(quotes) && after.starts_with(quotes)
    })
}
