//! A page in the making: styled pieces of text, every piece made harmless for a terminal.
//!
//! Text from the tree reaches a page only through [`Page::put`], which escapes control characters
//! and marks that reorder text; so no file name can move the cursor or hide a line.

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Write as _},
};

use anstyle::{AnsiColor, Color, Style};
use coalesce_model::{
    Severity,
    envelope::{Files, FindingEntry, Range},
};

use crate::{Options, excerpt, typed};

pub const PLAIN: Style = Style::new();
pub const BOLD: Style = Style::new().bold();
pub const DIM: Style = Style::new().dimmed();
pub const BAD: Style = colored(AnsiColor::Red).bold();
pub const WARN: Style = colored(AnsiColor::Yellow).bold();
pub const GOOD: Style = colored(AnsiColor::Green).bold();
pub const PLACE: Style = colored(AnsiColor::Cyan);
pub const REMOVED: Style = colored(AnsiColor::Red);
pub const ADDED: Style = colored(AnsiColor::Green);

const fn colored(color: AnsiColor) -> Style {
    Style::new().fg_color(Some(Color::Ansi(color)))
}

/// How many lines a section of lesser importance shows before it refers to the JSON.
pub const SECTION_LIMIT: usize = 20;

/// Files that are named of those that were skipped for one reason.
const SKIPPED_SHOWN: usize = 3;

/// A page in the making.
pub struct Page {
    text: String,
    options: Options,
    /// The tree that it tells of, as it was named.
    root: String,
}

impl Page {
    /// An empty page.
    pub fn new(options: Options) -> Self {
        Self {
            text: String::new(),
            options,
            root: ".".to_owned(),
        }
    }

    /// The page of a tree that was named so.
    pub fn about(mut self, root: &str) -> Self {
        root.clone_into(&mut self.root);
        self
    }

    /// What to type for this tree.
    pub fn command<W: AsRef<str>>(&self, words: &[W]) -> String {
        typed::command(&self.root, words)
    }

    /// The last line of a page: what to type next, and what for.
    pub fn next<W: AsRef<str>>(&mut self, what_for: &str, words: &[W]) {
        if self.quiet() {
            return;
        }
        let command = self.command(words);
        self.put(PLAIN, format_args!("{what_for}: "))
            .put(BOLD, command)
            .end();
    }

    /// Whether only findings are wanted.
    pub fn quiet(&self) -> bool {
        self.options.quiet
    }

    /// Whether all of every list is wanted.
    pub fn all(&self) -> bool {
        self.options.all
    }

    /// How many entries of a list are shown, where `usual` are unless all are wanted.
    pub fn limit(&self, usual: usize) -> usize {
        if self.options.all { usize::MAX } else { usual }
    }

    /// Whether a long diff is shown as a whole.
    pub fn shows_diff(&self) -> bool {
        self.options.diff || self.options.all
    }

    /// Columns for texts side by side; `None` for one below the other.
    pub fn columns(&self) -> Option<usize> {
        self.options.columns
    }

    /// Adds a piece of text to the line.
    pub fn put(&mut self, style: Style, text: impl Display) -> &mut Self {
        let style = if self.options.color { style } else { PLAIN };
        let infallible = "invariant: writing to a String does not fail";
        write!(self.text, "{style}").expect(infallible);
        write!(Harmless(&mut self.text), "{text}").expect(infallible);
        write!(self.text, "{style:#}").expect(infallible);
        self
    }

    /// Ends the line.
    pub fn end(&mut self) {
        self.text.push('\n');
    }

    /// Ends the line as this one ends: with a carriage return if it has one.
    pub fn end_as(&mut self, line: &str) {
        self.text
            .push_str(if line.ends_with('\r') { "\r\n" } else { "\n" });
    }

    /// Adds a whole plain line.
    pub fn line(&mut self, text: impl Display) {
        self.put(PLAIN, text).end();
    }

    /// Parts two sections: an empty line, unless the page begins here.
    pub fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.end();
        }
    }

    /// Begins a section: a heading with its count, and a sentence that says why it matters.
    pub fn section(&mut self, style: Style, heading: &str, count: usize, why: &str) {
        self.gap();
        self.put(style, format_args!("{heading}: {count}")).end();
        if !why.is_empty() && !self.quiet() {
            self.put(PLAIN, "  ").put(DIM, why).end();
        }
    }

    /// The lines of a section, the first [`SECTION_LIMIT`] of them.
    pub fn some<T>(&mut self, entries: &[T], write: impl FnMut(&mut Self, &T)) {
        self.first(SECTION_LIMIT, entries, write);
    }

    /// The lines of a section, the first `usual` of them unless all are asked for.
    pub fn first<T>(&mut self, usual: usize, entries: &[T], mut write: impl FnMut(&mut Self, &T)) {
        let limit = self.limit(usual);
        for entry in entries.iter().take(limit) {
            write(self, entry);
        }
        let more = entries.len().saturating_sub(limit);
        if more > 0 {
            self.put(DIM, format_args!("  and {more} more (--all)"))
                .end();
        }
    }

    /// Adds `path:line:column`, or the path alone.
    pub fn place(&mut self, path: impl Display, range: Option<Range>) -> &mut Self {
        match range {
            Some(range) => self.put(
                PLACE,
                format_args!("{path}:{}:{}", range.line, range.column),
            ),
            None => self.put(PLACE, path),
        }
    }

    /// Adds a finding with the line that it stands on, where it has one; else as [`Page::finding`].
    pub fn finding_with_excerpt(&mut self, finding: &FindingEntry) {
        if self.options.quiet {
            return self.finding(finding);
        }
        self.gap();
        match excerpt::render(finding, self.options.color) {
            Some(text) => {
                self.text.push_str(&text);
                self.end();
            }
            None => self.finding(finding),
        }
    }

    /// Adds a finding: place, severity and code, message; its help on a line of its own.
    pub fn finding(&mut self, finding: &FindingEntry) {
        // What concerns the whole tree has no place in it.
        if finding.path != "." {
            self.place(&finding.path, finding.range).put(PLAIN, ": ");
        }
        let (style, label) = match finding.severity {
            Severity::Error => (BAD, "error"),
            Severity::Warning => (WARN, "warning"),
            Severity::Note => (BOLD, "note"),
        };
        self.put(style, label);
        // A note finds fault with nothing, so there is no fault to name.
        if finding.severity != Severity::Note {
            self.put(DIM, format_args!("[{}]", finding.code));
        }
        self.put(PLAIN, format_args!(": {}", finding.message)).end();
        self.help(finding);
    }

    /// Adds what helps against a finding, on a line of its own.
    pub fn help(&mut self, finding: &FindingEntry) {
        if let Some(help) = &finding.help {
            self.put(PLAIN, "    ")
                .put(BOLD, "help")
                .put(PLAIN, format_args!(": {help}"))
                .end();
        }
    }

    /// Says which files were not read: each with its reason, so that none is passed over. Of many with one
    /// reason, as links are, the first are named.
    pub fn skipped(&mut self, files: &Files) {
        if files.skipped.is_empty() || self.quiet() {
            return;
        }
        self.section(BOLD, "Not read", files.skipped.len(), "");
        let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for skipped in &files.skipped {
            let paths = by_reason.entry(&skipped.reason).or_default();
            paths.push(&skipped.path);
        }
        let by_reason: Vec<_> = by_reason.into_iter().collect();
        self.some(&by_reason, |page, (reason, paths)| {
            let shown = listed(paths, page.limit(SKIPPED_SHOWN));
            page.put(PLAIN, "  ").put(PLACE, shown);
            page.put(PLAIN, format_args!(": {reason}")).end();
        });
    }

    /// The page.
    pub fn finish(self) -> String {
        self.text
    }
}

/// A text with what a terminal would obey spelled out.
pub fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    Harmless(&mut out)
        .write_str(text)
        .expect("invariant: writing to a String does not fail");
    out
}

/// Escapes what a terminal would obey: control characters but tab, and marks that reorder text.
struct Harmless<'p>(&'p mut String);

impl fmt::Write for Harmless<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut done = 0;
        for (at, character) in text
            .char_indices()
            .filter(|(_, character)| is_obeyed(*character))
        {
            self.0.push_str(text.get(done..at).unwrap_or_default());
            self.0.extend(character.escape_default());
            done = at + character.len_utf8();
        }
        self.0.push_str(text.get(done..).unwrap_or_default());
        Ok(())
    }
}

/// Whether a terminal would obey a character, or show text in another order for it.
pub fn is_obeyed(character: char) -> bool {
    (character.is_control() && character != '\t')
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// JSON in which the characters that are `hidden` stand as `\u` escapes. They must stand in strings alone.
pub fn spell_out(json: &str, hidden: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        if hidden(character) {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                write!(out, "\\u{unit:04x}").expect("invariant: writing to a String does not fail");
            }
        } else {
            out.push(character);
        }
    }
    out
}

/// `1 file`, `2 files`.
pub fn count(number: usize, noun: &str) -> String {
    format!("{number} {}", plural(number, noun))
}

/// The noun for so many.
pub fn plural(number: usize, noun: &str) -> String {
    match (number, noun.strip_suffix('y')) {
        (1, _) => noun.to_owned(),
        (_, Some(stem)) => format!("{stem}ies"),
        (_, None) => format!("{noun}s"),
    }
}

/// Up to `limit` names, and how many more there are.
pub fn listed<T: AsRef<str>>(names: &[T], limit: usize) -> String {
    let shown: Vec<&str> = names.iter().take(limit).map(AsRef::as_ref).collect();
    let more = names.len().saturating_sub(limit);
    if more == 0 {
        shown.join(", ")
    } else {
        format!("{} and {more} more", shown.join(", "))
    }
}

/// What was read, and what was not; `audit` lists that.
pub fn read_counts(files: &Files) -> String {
    let skipped = files.skipped.len();
    let in_part = match files.incomplete.len() {
        0 => String::new(),
        number => format!(" ({number} in part)"),
    };
    let listed_by = if skipped == 0 && in_part.is_empty() {
        ""
    } else {
        " (listed by audit)"
    };
    format!(
        "checked {}{in_part}, skipped {skipped}{listed_by}",
        count(files.read, "file")
    )
}

#[cfg(test)]
mod tests {
    use coalesce_model::envelope::SkippedFile;

    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_escaped_and_the_rest_stays() {
        for (text, shown) in [
            ("a\u{1b}[2Jb.py", "a\\u{1b}[2Jb.py"),
            ("two\nlines\r", "two\\nlines\\r"),
            ("tab\tédition 日本", "tab\tédition 日本"),
            ("abc\u{202e}def", "abc\\u{202e}def"),
        ] {
            let mut page = Page::new(Options {
                color: true,
                ..Options::default()
            });
            page.put(PLAIN, text);
            assert_eq!(page.finish(), shown);
        }
    }

    #[test]
    fn what_is_not_known_whole_is_counted() {
        let file = || SkippedFile {
            path: "a.rs".into(),
            reason: "does not parse".into(),
        };
        let mut files = Files {
            read: 2,
            ..Files::default()
        };
        assert_eq!(read_counts(&files), "checked 2 files, skipped 0");
        files.incomplete.push(file());
        assert_eq!(
            read_counts(&files),
            "checked 2 files (1 in part), skipped 0 (listed by audit)"
        );
        files.skipped.push(file());
        assert_eq!(
            read_counts(&files),
            "checked 2 files (1 in part), skipped 1 (listed by audit)"
        );
    }

    #[test]
    fn numbers_have_their_nouns() {
        assert_eq!(count(1, "entry"), "1 entry");
        assert_eq!(count(0, "entry"), "0 entries");
        assert_eq!(listed(&["a", "b", "c"], 2), "a, b and 1 more");
    }
}
