//! Records of logs that are told from others by what they say of the code that wrote them: `record.module == "old"`,
//! `"old.py" in caplog.text`. What moves, or gets another name, says another one afterwards.

use std::{
    cell::{OnceCell, RefCell},
    sync::Arc,
};

use coalesce_model::{ByteSpan, Change, ChangeKind, LanguagePlan, Texts, Unproven, UnprovenKind};
use rustc_hash::FxHashMap;

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
    let shown = ShownFields::new(texts);
    let said: Vec<SaidField<'_>> = writing
        .flat_map(|change| of_change(mapping, &shown, change))
        .collect();
    if said.is_empty() {
        return;
    }
    let elsewhere = SaidElsewhere::new(texts);
    let modules = mapping.graph.modules.iter();
    let told = modules.filter_map(|module| {
        let file = RecordReader::new(texts.text(&module.path)?)?;
        let (said, span) = said
            .iter()
            .find_map(|said| Some((said, said.place_in(&file, &elsewhere)?)))?;
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

/// Which fields formats of the tree show; each is looked for once.
struct ShownFields<'t> {
    texts: &'t dyn Texts,
    shown: [OnceCell<bool>; RecordField::ALL.len()],
}

impl<'t> ShownFields<'t> {
    fn new(texts: &'t dyn Texts) -> Self {
        Self {
            texts,
            shown: std::array::from_fn(|_| OnceCell::new()),
        }
    }

    fn has(&self, at: usize, field: &RecordField) -> bool {
        let looked_for = || field.place_in_formats(self.texts).is_some();
        let shown = self.shown.get(at);
        shown.is_some_and(|shown| *shown.get_or_init(looked_for))
    }
}

/// Which values files say that may tell what records are held against; each is looked for once.
struct SaidElsewhere<'t> {
    texts: &'t dyn Texts,
    known: RefCell<FxHashMap<String, bool>>,
}

impl<'t> SaidElsewhere<'t> {
    fn new(texts: &'t dyn Texts) -> Self {
        Self {
            texts,
            known: RefCell::default(),
        }
    }

    fn has(&self, value: &str) -> bool {
        let known = self.known.borrow().get(value).copied();
        known.unwrap_or_else(|| {
            let mut paths = self.texts.paths().iter().filter(|path| may_configure(path));
            let found = paths.any(|path| {
                let text: Arc<str> = self.texts.text(path).unwrap_or_default();
                has_literal(&text, value)
            });
            self.known.borrow_mut().insert(value.to_owned(), found);
            found
        })
    }
}

/// A file that has to do with records or lines of logs.
struct RecordReader {
    text: Arc<str>,
    of_records: bool,
    of_lines: bool,
    /// The texts in it that may say something, once somebody asks.
    literals: OnceCell<Vec<ByteSpan>>,
}

impl RecordReader {
    fn new(text: Arc<str>) -> Option<Self> {
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        let (of_records, of_lines) = (has(&HAVING_RECORDS), has(&HAVING_LINES));
        (of_records || of_lines).then(|| Self {
            text: Arc::clone(&text),
            of_records,
            of_lines,
            literals: OnceCell::new(),
        })
    }

    fn literals(&self) -> &[ByteSpan] {
        self.literals.get_or_init(|| {
            let analysis = Analysis::without_annotations(&self.text);
            let literals = analysis.strings.iter();
            let literals = literals.filter(|literal| !literal.documentation && !literal.annotation);
            literals.map(|literal| literal.span).collect()
        })
    }
}

fn of_change<'c>(
    mapping: &Mapping<'_>,
    shown_fields: &ShownFields<'_>,
    change: &'c Change,
) -> Vec<SaidField<'c>> {
    let fields = RecordField::ALL.iter().enumerate();
    let fields = fields.filter(|(_, field)| field.name != "name");
    let said = fields.filter_map(|(at, field)| {
        let (from, to) = shows(mapping, field, change)?;
        Some(SaidField {
            change,
            field,
            values: [from, to],
            shown: shown_fields.has(at, field),
        })
    });
    said.collect()
}

impl SaidField<'_> {
    /// Where a file looks for what records say.
    fn place_in(&self, file: &RecordReader, elsewhere: &SaidElsewhere<'_>) -> Option<ByteSpan> {
        let record = file
            .of_records
            .then(|| self.read_of_record(&file.text, elsewhere))
            .flatten();
        record.or_else(|| {
            // pytest's own lines show the file.
            let by_pytest = || self.field.name == "filename" && file.text.contains("caplog.text");
            (file.of_lines && (self.shown || by_pytest())).then(|| self.in_literal(file))?
        })
    }

    /// Where the field of a record is read, and held against what is said now or then.
    fn read_of_record(&self, text: &str, elsewhere: &SaidElsewhere<'_>) -> Option<ByteSpan> {
        let places = self.field.read_as.iter().flat_map(|word| {
            let places = text.match_indices(word);
            places.map(|(at, word)| (at, at + word.len()))
        });
        let mut places = places.filter(|(_, end)| {
            let after = text.get(*end..).unwrap_or_default();
            !after.starts_with(is_word) && !after.starts_with('(')
        });
        let (at, end) =
            places.find(|(at, end)| self.is_told_apart(text, (*at, *end), elsewhere))?;
        Some(ByteSpan::from_range(at..end))
    }

    fn is_told_apart(
        &self,
        text: &str,
        (at, end): (usize, usize),
        elsewhere: &SaidElsewhere<'_>,
    ) -> bool {
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
        let said = || self.values.iter().any(|value| elsewhere.has(value));
        compared && !written(line.0) && !written(line.1) && said()
    }

    /// Where a text of a file says one of the values beside other words.
    fn in_literal(&self, file: &RecordReader) -> Option<ByteSpan> {
        let says = |content: &str| {
            let mut values = self.values.iter();
            values.any(|value| occurrences_of_word(content, value))
        };
        let mut literals = file.literals().iter();
        let found = literals.find(|literal| literal.of(&file.text).is_some_and(says))?;
        Some(*found)
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
