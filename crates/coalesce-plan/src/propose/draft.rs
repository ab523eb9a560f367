//! A manifest in the making: entries with their reasons, and the text that they come to.
//!
//! What can be followed as it is stands as an entry; what a person has to decide, and what the
//! planner refused, stands as a comment that becomes an entry by taking the `# ` away. So the text
//! is always one that `plan` accepts.

use std::{collections::BTreeSet, fmt::Write as _};

use coalesce_model::manifest::toml_key;

/// What stands where a person has to choose: no choice, so that nobody takes one by accident.
const UNDECIDED: &str = "CHOOSE";

/// What an entry does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DraftVerb {
    /// A module gives way to another one that has all of it.
    ReplaceModule,
    /// An item gives way to another one.
    ReplaceItem,
    /// A module gives way to another one, what that one lacks goes there.
    Merge,
    /// A module that holds nothing goes.
    Remove,
}

impl DraftVerb {
    /// As it stands in the manifest.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReplaceModule | Self::ReplaceItem => "replace",
            Self::Merge => "merge",
            Self::Remove => "remove",
        }
    }
}

/// A definition that both copies have and that is not the same in both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Its name in the copy that goes.
    pub name: String,
    /// What differs, line by line, marked with `-` and `+`.
    pub diff: String,
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftEntry {
    /// What it does.
    pub verb: DraftVerb,
    /// The name that goes.
    pub from: String,
    /// The name that stays; empty for a removal.
    pub to: String,
    /// `(old, new)` of what the one that stays calls by another name.
    pub rename: Vec<(String, String)>,
    /// What a person has to decide.
    pub decisions: Vec<Decision>,
    /// Whether the old name goes on working for a release.
    pub shim: bool,
    /// Where the copy that stays goes first, `(from, to)`: a place that both packages can use. `to` of
    /// the entry is there.
    pub first_move: Option<(String, String)>,
    /// Sentences that say why.
    pub reasons: Vec<String>,
    /// Why it stands as a comment: what the planner refused or could not prove. Entries with decisions do as well.
    pub refused: Option<String>,
}

impl DraftEntry {
    /// Whether the entry can be followed as it is.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.refused.is_none() && self.decisions.is_empty()
    }

    /// The lines of the move that the entry needs.
    fn move_lines(&self) -> Vec<String> {
        let Some((from, to)) = &self.first_move else {
            return Vec::new();
        };
        let mut lines = vec![
            "[[move]]".to_owned(),
            format!("from = {}", quoted(from)),
            format!("to = {}", quoted(to)),
        ];
        if self.verb == DraftVerb::ReplaceItem {
            lines.push("kind = \"item\"".to_owned());
        }
        lines
    }

    /// The lines that say what goes, and where.
    fn names(&self) -> Vec<String> {
        let (from, to) = (quoted(&self.from), quoted(&self.to));
        match self.verb {
            DraftVerb::ReplaceModule => vec![format!("from = {from}"), format!("to = {to}")],
            DraftVerb::ReplaceItem => vec![
                format!("from = {from}"),
                format!("to = {to}"),
                "kind = \"item\"".to_owned(),
            ],
            DraftVerb::Merge => vec![format!("from = {from}"), format!("into = {to}")],
            DraftVerb::Remove => vec![format!("module = {from}")],
        }
    }

    /// The lines of the entry itself, without comments; `decided` is what stands for decisions.
    fn lines(&self, decided: &str) -> Vec<String> {
        let mut lines = vec![format!("[[{}]]", self.verb.as_str())];
        lines.extend(self.names());
        if !self.rename.is_empty() {
            let pairs = self.rename.iter();
            let pairs = pairs.map(|(old, new)| format!("{} = {}", toml_key(old), quoted(new)));
            lines.push(table("rename", pairs));
        }
        if self.verb == DraftVerb::Merge && !self.decisions.is_empty() {
            let names = self.decisions.iter().map(|one| toml_key(&one.name));
            let pairs = names.map(|name| format!("{name} = \"{decided}\""));
            lines.push(table("decide", pairs));
        }
        if self.shim {
            lines.push("shim = true".to_owned());
        }
        lines
    }

    fn write(&self, text: &mut String, told: &mut BTreeSet<String>) {
        text.push('\n');
        // Small copies in many places have one home, and that is said once.
        for reason in self
            .reasons
            .iter()
            .filter(|reason| told.insert((*reason).clone()))
        {
            comment(text, reason);
        }
        if let Some(refused) = &self.refused {
            comment(text, &format!("Left to you: {refused}."));
        }
        if !self.decisions.is_empty() {
            self.write_decisions(text);
        }
        let mark = if self.is_open() { "" } else { "# " };
        for line in self.lines(UNDECIDED) {
            let _ = writeln!(text, "{mark}{line}");
        }
    }

    fn write_decisions(&self, text: &mut String) {
        let choices = if self.verb == DraftVerb::Merge {
            " The choices are \"keep-into\", \"keep-from\" and \"rename:NAME\"."
        } else {
            ""
        };
        comment(
            text,
            &format!(
                "Left to you: the copies differ. `-` is {}, `+` is {}.{choices}",
                self.from, self.to
            ),
        );
        for decision in &self.decisions {
            comment(text, &format!("  {}:", decision.name));
            for line in decision.diff.lines() {
                comment(text, &format!("    {line}"));
            }
        }
    }
}

/// A manifest in the making.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// What the migration is for, in a sentence.
    pub description: String,
    /// The entries, in the order of the text.
    pub entries: Vec<DraftEntry>,
    /// Sentences on the whole: what following it would change.
    pub forecast: Vec<String>,
    /// Sentences on copies of which no entry can speak.
    pub remarks: Vec<String>,
}

impl Draft {
    /// The manifest, with all of its comments. The same draft gives the same text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for line in &self.forecast {
            comment(&mut text, line);
        }
        self.head(&mut text);
        let mut moved = BTreeSet::new();
        let mut told = BTreeSet::new();
        for entry in &self.entries {
            if entry.is_open() && moved.insert(entry.first_move.clone()) {
                write_lines(&mut text, &entry.move_lines());
            }
            entry.write(&mut text, &mut told);
        }
        for entry in self.entries.iter().filter(|entry| entry.is_open()) {
            forbid(&mut text, entry);
        }
        for remark in &self.remarks {
            text.push('\n');
            comment(&mut text, remark);
        }
        text
    }

    /// How many places copies go to first, so that those who use the others can use them.
    #[must_use]
    pub fn moves(&self) -> usize {
        let open = self.entries.iter().filter(|entry| entry.is_open());
        let moves = open.filter_map(|entry| entry.first_move.as_ref());
        moves.collect::<BTreeSet<_>>().len()
    }

    /// The entries of these indices alone, as a manifest: what the planner is asked about.
    #[must_use]
    pub fn text_of(&self, entries: &[usize]) -> String {
        let mut text = String::new();
        self.head(&mut text);
        let mut moved = BTreeSet::new();
        for entry in entries.iter().filter_map(|at| self.entries.get(*at)) {
            if moved.insert(entry.first_move.clone()) {
                write_lines(&mut text, &entry.move_lines());
            }
            write_lines(&mut text, &entry.lines("keep-into"));
        }
        text
    }

    fn head(&self, text: &mut String) {
        let description = quoted(&self.description);
        let _ = writeln!(text, "schema = 1\ndescription = {description}");
    }
}

fn write_lines(text: &mut String, lines: &[String]) {
    if !lines.is_empty() {
        text.push('\n');
    }
    for line in lines {
        let _ = writeln!(text, "{line}");
    }
}

fn forbid(text: &mut String, entry: &DraftEntry) {
    let message = if entry.to.is_empty() {
        format!("`{}` is gone", entry.from)
    } else {
        format!("use {}", entry.to)
    };
    let (import, message) = (quoted(&entry.from), quoted(&message));
    let _ = write!(
        text,
        "\n[[forbid]]\nimport = {import}\nmessage = {message}\n"
    );
}

fn table(name: &str, pairs: impl Iterator<Item = String>) -> String {
    format!("{name} = {{ {} }}", pairs.collect::<Vec<_>>().join(", "))
}

/// A line of comment. Control characters of a tree's text would end it, or not be TOML.
fn comment(text: &mut String, line: &str) {
    let harmless: String = line
        .chars()
        .map(|character| {
            if character.is_control() {
                ' '
            } else {
                character
            }
        })
        .collect();
    let _ = writeln!(text, "# {harmless}");
}

fn quoted(value: &str) -> String {
    toml_edit::Value::from(value).to_string()
}
