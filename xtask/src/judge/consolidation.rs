//! One consolidation as a manifest.

use std::fmt::Write as _;

use anyhow::bail;
use coalesce_model::LanguageKind;

use super::planted::Change;

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A module moves.
    Module,
    /// An item moves.
    Item,
    /// An item or a module gives way to a copy of it.
    Replace,
    /// A module goes into another one.
    Merge,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Module, Self::Item, Self::Replace, Self::Merge];

    /// By its name.
    pub fn parse(word: &str) -> anyhow::Result<Self> {
        for kind in Self::ALL {
            if kind.as_str() == word {
                return Ok(kind);
            }
        }
        bail!("there is no kind `{word}`: module, item, replace, merge")
    }

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Module => "module",
            Self::Item => "item",
            Self::Replace => "replace",
            Self::Merge => "merge",
        }
    }
}

/// What is known of a copy that was planted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planted {
    /// What was changed in the copy.
    pub changes: Vec<Change>,
    /// What of it means something else, and is not decided on.
    pub differs: Vec<String>,
}

/// One consolidation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consolidation {
    /// What is done.
    pub kind: Kind,
    /// The language of what moves.
    pub language: LanguageKind,
    /// What goes.
    pub from: String,
    /// Where it goes, or what stays.
    pub to: String,
    /// Whether the old name is kept.
    pub shim: bool,
    /// What becomes of what both have and is not the same.
    pub decide: Vec<(String, String)>,
    /// The copy that it is about, where one was planted.
    pub planted: Option<Planted>,
}

impl Consolidation {
    /// The manifest's text.
    pub fn manifest(&self) -> String {
        let (table, target) = match self.kind {
            Kind::Module | Kind::Item => ("move", "to"),
            Kind::Replace => ("replace", "to"),
            Kind::Merge => ("merge", "into"),
        };
        let mut text = String::from("schema = 1\n");
        if self.shim {
            text.push_str("[shims]\nsince = \"1.0.0\"\nremove-in = \"2.0.0\"\n");
        }
        let (from, to) = (&self.from, &self.to);
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "[[{table}]]\nfrom = \"{from}\"\n{target} = \"{to}\"\n"
        );
        match self.kind {
            Kind::Module => text.push_str("kind = \"module\"\n"),
            Kind::Item => text.push_str("kind = \"item\"\n"),
            Kind::Replace | Kind::Merge => {}
        }
        if self.shim {
            text.push_str("shim = true\n");
        }
        if !self.decide.is_empty() {
            let decided = self.decide.iter();
            let decided = decided.map(|(name, what)| format!("{name} = \"{what}\""));
            let decided: Vec<String> = decided.collect();
            let _ = writeln!(text, "decide = {{ {} }}", decided.join(", "));
        }
        text
    }

    /// The same on one line.
    pub fn summary(&self) -> String {
        let shim = if self.shim { ", with a shim" } else { "" };
        let decided = self
            .decide
            .iter()
            .map(|(name, what)| format!(", {name}: {what}"));
        let decided: String = decided.collect();
        let (kind, changes) = (self.kind.as_str(), self.changes());
        format!(
            "{kind} {} -> {}{shim}{decided}{changes}",
            self.from, self.to
        )
    }

    /// What was changed in the copy, in brackets.
    fn changes(&self) -> String {
        let Some(planted) = &self.planted else {
            return String::new();
        };
        let changes: Vec<&str> = planted
            .changes
            .iter()
            .map(|change| change.as_str())
            .collect();
        let differs = if planted.differs.is_empty() {
            ""
        } else {
            "; differs"
        };
        format!(" ({}{differs})", changes.join(", "))
    }
}
