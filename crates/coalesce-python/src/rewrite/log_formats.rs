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
    let shown = RecordField::ALL.iter().filter_map(|field| {
        let mut changes = writers.iter();
        changes.find_map(|change| Some((field, shows(mapping, field, change)?)))
    });
    for (field, (from, to)) in shown {
        let place = field.place_in_formats(texts);
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

/// What a record of a log says of the code that wrote it.
pub(super) struct RecordField {
    pub(super) name: &'static str,
    /// How formats say it.
    word: &'static str,
    /// How it is read of a record.
    pub(super) read_as: &'static [&'static str],
    /// What it is for what a change takes along, before and after.
    value: fn(&Change) -> (String, String),
    /// Whether it is that of a file, which the one of a package does not say its name by.
    of_file: bool,
}

impl RecordField {
    pub(super) const ALL: [Self; 4] = [
        Self {
            name: "name",
            word: "%(name)s",
            read_as: &[".name"],
            value: name_of_logger,
            of_file: false,
        },
        Self {
            name: "module",
            word: "%(module)s",
            read_as: &[".module", "[\"module\"]", "['module']"],
            value: name_of_module,
            of_file: true,
        },
        Self {
            name: "filename",
            word: "%(filename)s",
            read_as: &[".filename", ".pathname", "[\"file\"].name", "['file'].name"],
            value: name_of_file,
            of_file: true,
        },
        Self {
            name: "funcName",
            word: "%(funcName)s",
            read_as: &[".funcName", "[\"function\"]", "['function']"],
            value: name_of_function,
            of_file: false,
        },
    ];

    /// Where a format of the tree shows it.
    pub(super) fn place_in_formats(&self, texts: &dyn Texts) -> Option<(TreePath, ByteSpan)> {
        let mut paths = texts.paths().iter().filter(|path| may_configure(path));
        paths.find_map(|path| place_of(path, self.word, texts))
    }
}

/// What a field says of what a change takes along, before and after, where that is not the same.
pub(super) fn shows(
    mapping: &Mapping<'_>,
    field: &RecordField,
    change: &Change,
) -> Option<(String, String)> {
    let (from, to) = (field.value)(change);
    let module = mapping.graph.find(None, modules(change).0);
    let module = module.and_then(|module| mapping.graph.modules.get(module));
    let of_package = field.of_file && module.is_some_and(|module| module.package);
    (from != to && !of_package).then_some((from, to))
}

fn name_of_logger(change: &Change) -> (String, String) {
    let (from, to) = modules(change);
    (from.to_owned(), to.to_owned())
}

fn name_of_module(change: &Change) -> (String, String) {
    let (from, to) = modules(change);
    (last(from).to_owned(), last(to).to_owned())
}

fn name_of_file(change: &Change) -> (String, String) {
    let (from, to) = name_of_module(change);
    (format!("{from}.py"), format!("{to}.py"))
}

fn name_of_function(change: &Change) -> (String, String) {
    let name = |full: &str| match change.subject {
        Subject::Item => last(full).to_owned(),
        _ => String::new(),
    };
    (name(&change.from), name(&change.to))
}

fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// Whether a file may say how logs are written: code, and files that configure it.
pub(super) fn may_configure(path: &TreePath) -> bool {
    let known = ["cfg", "conf", "ini", "json", "py", "toml", "yaml", "yml"];
    path.extension().is_some_and(|own| known.contains(&own))
}

/// Where a file has a part of a format.
fn place_of(path: &TreePath, word: &str, texts: &dyn Texts) -> Option<(TreePath, ByteSpan)> {
    let text = texts.text(path)?;
    let at = memchr::memmem::find(text.as_bytes(), word.as_bytes())?;
    Some((path.clone(), ByteSpan::from_range(at..at + word.len())))
}
