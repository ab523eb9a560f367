//! The files in which mypy and pyright have their settings.

use coalesce_model::{ByteSpan, Texts, TreePath, lines::placed_lines, texts::start_of_text};
use regex::Regex;
use toml_edit::{Document, Item, Value};

use crate::project::tables_of;

/// Settings for some modules.
pub(super) struct ModuleRule {
    pub(super) patterns: Vec<String>,
    /// Where the patterns stand.
    pub(super) span: ByteSpan,
    /// Something passes that would be told else.
    pub(super) eases: bool,
    /// Something is told that would pass else.
    pub(super) tightens: bool,
}

impl ModuleRule {
    fn new(span: ByteSpan) -> Self {
        Self {
            patterns: Vec::new(),
            span,
            eases: false,
            tightens: false,
        }
    }

    /// What one setting does. Of those that nobody knows here it may be both.
    fn note(&mut self, key: &str, value: &str) {
        let is_on = match value.trim().to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Some(true),
            "false" | "0" | "no" | "off" => Some(false),
            _ => None,
        };
        let begins = |words: &[&str]| words.iter().any(|word| key.starts_with(word));
        let tightens = match key {
            // About what a module is to those who import it.
            "module" | "follow_imports" | "follow_untyped_imports" | "ignore_missing_imports" => {
                return;
            }
            "disable_error_code" => Some(false),
            "enable_error_code" => Some(true),
            _ if begins(&["allow_", "ignore_", "implicit_"]) => is_on.map(|is_on| !is_on),
            _ if begins(&[
                "check_",
                "disallow_",
                "extra_checks",
                "local_partial_types",
                "no_implicit_",
                "strict",
                "warn_",
            ]) =>
            {
                is_on
            }
            _ => None,
        };
        self.tightens |= tightens != Some(false);
        self.eases |= tightens != Some(true);
    }
}

/// The settings of one file.
#[derive(Default)]
pub(super) struct CheckerFile {
    pub(super) modules: Vec<ModuleRule>,
    /// Expressions that paths of files are searched with, from the folder of this one on.
    pub(super) left_out: Vec<(Regex, ByteSpan)>,
    /// Patterns of files and folders.
    pub(super) places_left_out: Vec<(String, ByteSpan)>,
    /// Files and folders that are checked; all, if there is none.
    pub(super) looked_into: Vec<(String, ByteSpan)>,
    /// Files and folders that are checked more strictly than others.
    pub(super) checked_strictly: Vec<(String, ByteSpan)>,
}

impl CheckerFile {
    /// One of the settings for all modules.
    fn note(&mut self, key: &str, value: &str, span: ByteSpan) {
        match key {
            "exclude" => self
                .left_out
                .extend(Regex::new(value).ok().map(|expression| (expression, span))),
            "files" => self.looked_into.extend(words(value, span)),
            _ => {}
        }
    }
}

/// The settings of a file that has such.
pub(super) fn read(path: &TreePath, texts: &dyn Texts) -> Option<CheckerFile> {
    match path.file_name() {
        "pyproject.toml" => of_project(&texts.text(path)?),
        "mypy.ini" | ".mypy.ini" | "setup.cfg" => Some(of_sections(&texts.text(path)?)),
        _ => None,
    }
}

/// Words with commas between.
fn words(value: &str, span: ByteSpan) -> impl Iterator<Item = (String, ByteSpan)> {
    let words = value.split([',', '\n']).map(str::trim);
    let words = words.filter(|word| !word.is_empty());
    words.map(move |word| (word.to_owned(), span))
}

/// The tables of a `pyproject.toml`.
fn of_project(text: &str) -> Option<CheckerFile> {
    let start = start_of_text(text);
    let document = Document::parse(text.get(start as usize..)?).ok()?;
    let tools = document.get("tool")?.as_table_like()?;
    let mut found = CheckerFile::default();
    let place = |item: &Item| {
        let span = ByteSpan::from_range(item.span()?);
        Some(ByteSpan::new(span.start + start, span.end + start))
    };
    let table = |tool: &str| tools.get(tool).and_then(Item::as_table_like);
    if let Some(mypy) = table("mypy") {
        for (key, item) in mypy.iter() {
            let Some(span) = place(item) else { continue };
            for said in strings(item) {
                found.note(key, said, span);
            }
        }
        let rules = mypy.get("overrides").into_iter().flat_map(tables_of);
        found.modules.extend(rules.filter_map(|rule| {
            let named = rule.get("module")?;
            let mut read = ModuleRule::new(place(named)?);
            read.patterns
                .extend(strings(named).into_iter().map(str::to_owned));
            for (key, item) in rule.iter() {
                read.note(key, item.to_string().trim());
            }
            Some(read)
        }));
    }
    if let Some(pyright) = table("pyright") {
        for (key, item) in pyright.iter() {
            let list = match key {
                "exclude" | "ignore" => &mut found.places_left_out,
                "include" => &mut found.looked_into,
                "strict" => &mut found.checked_strictly,
                _ => continue,
            };
            let Some(span) = place(item) else { continue };
            list.extend(
                strings(item)
                    .into_iter()
                    .map(|said| (said.to_owned(), span)),
            );
        }
    }
    Some(found)
}

/// A text, or those of a list.
fn strings(item: &Item) -> Vec<&str> {
    match item {
        Item::Value(Value::String(text)) => vec![text.value().as_str()],
        Item::Value(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The sections `[mypy]` and `[mypy-pkg.*]` of a file.
fn of_sections(text: &str) -> CheckerFile {
    let mut found = CheckerFile::default();
    let mut section = Section::Other;
    // A value goes on in the lines below it that are indented.
    let mut open: Option<(&str, String, ByteSpan)> = None;
    for (at, line) in placed_lines(text) {
        let content = line.trim();
        let span = ByteSpan::from_range(at..at + line.len());
        if content.is_empty() || content.starts_with(['#', ';']) {
            continue;
        }
        if let Some((_, value, place)) = open.as_mut().filter(|_| line.starts_with([' ', '\t'])) {
            value.push('\n');
            value.push_str(content);
            *place = ByteSpan::new(place.start, span.end);
            continue;
        }
        found.close(&section, open.take());
        if let Some(head) = content.strip_prefix('[') {
            section = found.open(head.trim_end_matches(']'), span);
        } else if let Some((key, value)) = line.split_once('=') {
            open = Some((key.trim(), value.trim().to_owned(), span));
        }
    }
    found.close(&section, open.take());
    found
}

/// What a section is about.
enum Section {
    All,
    SomeModules,
    Other,
}

impl CheckerFile {
    /// A section begins.
    fn open(&mut self, head: &str, span: ByteSpan) -> Section {
        if head == "mypy" {
            return Section::All;
        }
        let Some(modules) = head.strip_prefix("mypy-") else {
            return Section::Other;
        };
        let mut rule = ModuleRule::new(span);
        rule.patterns
            .extend(words(modules, span).map(|(word, _)| word));
        self.modules.push(rule);
        Section::SomeModules
    }

    /// A setting is read to its end.
    fn close(&mut self, section: &Section, setting: Option<(&str, String, ByteSpan)>) {
        let Some((key, value, span)) = setting else {
            return;
        };
        match section {
            Section::All => self.note(key, value.trim(), span),
            Section::SomeModules => {
                if let Some(rule) = self.modules.last_mut() {
                    rule.note(key, &value);
                }
            }
            Section::Other => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(found: &CheckerFile) -> Vec<(String, bool, bool)> {
        let rules = found.modules.iter();
        rules
            .map(|rule| (rule.patterns.join(" "), rule.eases, rule.tightens))
            .collect()
    }

    #[test]
    fn settings_are_read_in_both_forms() {
        let expected = [
            ("a.* b".to_owned(), true, false),
            ("c".to_owned(), false, true),
            ("d".to_owned(), false, false),
        ];
        let ini = "[mypy]\nfiles = src, tools\nexclude = (?x)(\n    ^src/old/\n    | ^src/gen/)\n\
            [mypy-a.*,b]\nignore_errors = True\n[mypy-c]\ndisallow_untyped_defs = true\n\
            [mypy-d]\nignore_missing_imports = True\n[other]\nexclude = x\n";
        let toml = "[tool.mypy]\nfiles = ['src', 'tools']\nexclude = ['^src/old/', '^src/gen/']\n\
            [[tool.mypy.overrides]]\nmodule = ['a.*', 'b']\nignore_errors = true\n\
            [[tool.mypy.overrides]]\nmodule = 'c'\ndisallow_untyped_defs = true\n\
            [[tool.mypy.overrides]]\nmodule = 'd'\nignore_missing_imports = true\n";
        for found in [of_sections(ini), of_project(toml).unwrap()] {
            assert_eq!(rules(&found), expected);
            let places: Vec<&str> = found
                .looked_into
                .iter()
                .map(|(place, _)| place.as_str())
                .collect();
            assert_eq!(places, ["src", "tools"]);
            let is_out = |path: &str| found.left_out.iter().any(|(out, _)| out.is_match(path));
            assert!(is_out("src/gen/a.py") && is_out("src/old/a.py") && !is_out("src/a.py"));
        }
    }
}
