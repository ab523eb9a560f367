//! One consolidation as a manifest.

use std::fmt::Write as _;

use anyhow::bail;
use coalesce_model::LanguageKind;

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
        text
    }

    /// The same on one line.
    pub fn summary(&self) -> String {
        let shim = if self.shim { ", with a shim" } else { "" };
        format!("{} {} -> {}{shim}", self.kind.as_str(), self.from, self.to)
    }
}
