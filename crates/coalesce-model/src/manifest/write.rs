//! The text of a manifest with one entry: what a command line with a verb stands for.

use std::fmt::Write as _;

use toml_writer::{ToTomlKey as _, ToTomlValue as _, TomlKeyBuilder, TomlStringBuilder};

use super::Verb;
use crate::Uses;

/// One entry as a command line says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryText {
    /// What it does.
    pub verb: Verb,
    /// The name before; the module that goes.
    pub from: String,
    /// The name after; `None` of a removal.
    pub to: Option<String>,
    /// `module`, `item` or `crate`, where that is said.
    pub kind: Option<String>,
    /// Whether a shim stays.
    pub shim: bool,
    /// First release with the new name.
    pub since: Option<String>,
    /// Release that removes the shim.
    pub remove_in: Option<String>,
    /// What users call what has another name.
    pub uses: Uses,
    /// `(old item, new item)`.
    pub rename: Vec<(String, String)>,
    /// `(item, choice)`.
    pub decide: Vec<(String, String)>,
}

impl EntryText {
    /// An entry with nothing but its names.
    #[must_use]
    pub fn new(verb: Verb, from: impl Into<String>, to: Option<String>) -> Self {
        Self {
            verb,
            from: from.into(),
            to,
            kind: None,
            shim: false,
            since: None,
            remove_in: None,
            uses: Uses::default(),
            rename: Vec::new(),
            decide: Vec::new(),
        }
    }

    /// A name for the manifest that a file and a journal can have: `move-pkg.gpu`.
    #[must_use]
    pub fn id(&self) -> String {
        let plain = |c: char| {
            if c.is_alphanumeric() || "._-".contains(c) {
                c
            } else {
                '-'
            }
        };
        let name: String = self.from.replace("::", ".").chars().map(plain).collect();
        format!("{}-{}", self.verb.as_str(), name.trim_matches(['.', '-']))
    }

    /// The whole manifest.
    #[must_use]
    pub fn manifest(&self) -> String {
        let mut text = String::from("schema = 1\n");
        let dates = [("since", &self.since), ("remove-in", &self.remove_in)];
        if dates.iter().any(|(_, date)| date.is_some()) {
            text.push_str("\n[shims]\n");
        }
        for (key, date) in dates {
            line(&mut text, key, date.as_deref());
        }
        text.push('\n');
        text.push_str(&self.table());
        text
    }

    /// The entry alone, from `[[verb]]` on.
    #[must_use]
    pub fn table(&self) -> String {
        let mut text = format!("[[{}]]\n", self.verb.as_str());
        let (from, to) = match self.verb {
            Verb::Remove => ("module", "to"),
            Verb::Merge => ("from", "into"),
            Verb::Access => ("import", "get"),
            Verb::Move | Verb::Replace => ("from", "to"),
        };
        line(&mut text, from, Some(&self.from));
        line(&mut text, to, self.to.as_deref());
        line(&mut text, "kind", self.kind.as_deref());
        if self.shim {
            text.push_str("shim = true\n");
        }
        if self.uses != Uses::default() {
            line(&mut text, "uses", Some(self.uses.as_str()));
        }
        table(&mut text, "rename", &self.rename);
        table(&mut text, "decide", &self.decide);
        text
    }
}

fn line(text: &mut String, key: &str, value: Option<&str>) {
    if let Some(value) = value {
        let _ = writeln!(text, "{key} = {}", quoted(value));
    }
}

fn table(text: &mut String, key: &str, pairs: &[(String, String)]) {
    if pairs.is_empty() {
        return;
    }
    let pair = |(name, value): &(String, String)| format!("{} = {}", toml_key(name), quoted(value));
    let pairs: Vec<String> = pairs.iter().map(pair).collect();
    let _ = writeln!(text, "{key} = {{ {} }}", pairs.join(", "));
}

/// A key of TOML: bare where it can be, quoted where it has to be.
#[must_use]
pub fn toml_key(name: &str) -> String {
    let key = TomlKeyBuilder::new(name);
    let key = key.as_unquoted().unwrap_or_else(|| key.as_basic());
    key.to_toml_key()
}

/// A basic string of TOML.
fn quoted(value: &str) -> String {
    TomlStringBuilder::new(value).as_basic().to_toml_value()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Manifest;

    #[test]
    fn what_is_written_is_what_is_read() {
        let entry = EntryText {
            kind: Some("module".to_owned()),
            shim: true,
            since: Some("3.0".to_owned()),
            remove_in: Some("4.0".to_owned()),
            rename: vec![("old".to_owned(), "new".to_owned())],
            decide: vec![("x = \"1\"\\".to_owned(), "keep-from".to_owned())],
            ..EntryText::new(Verb::Merge, "a::gpu", Some("a::core".to_owned()))
        };
        let manifest = Manifest::parse("m/x.toml", &entry.manifest()).unwrap();
        let read = &manifest.entries[0];
        assert_eq!(
            (read.from.text.as_str(), read.to.text.as_str()),
            ("a::gpu", "a::core")
        );
        assert_eq!((read.shim, read.rename.len()), (true, 1));
        assert_eq!(read.decide[0].item, "x = \"1\"\\");
        assert_eq!(manifest.remove_in.as_deref(), Some("4.0"));
        assert_eq!(entry.id(), "merge-a.gpu");
    }

    #[test]
    fn a_name_that_is_none_is_read_as_one_and_refused() {
        for wrong in ["a\"b", "a\nb", "a\\", "../x"] {
            let entry = EntryText::new(Verb::Remove, wrong, None);
            let errors = Manifest::parse("m/x.toml", &entry.manifest()).unwrap_err();
            assert!(
                errors[0].message.contains("is not a module name"),
                "{errors:?}"
            );
            assert!(!entry.id().contains(['/', '\n', '"']), "{}", entry.id());
        }
    }
}
