//! Names of definitions in files of configuration, `"kind": "Dense"`, which what reads the names of definitions may be given.

use coalesce_model::{ByteSpan, TreePath, Unproven, UnprovenKind};

use super::found_by_name::Traveller;
use crate::names::occurrences;

impl Traveller<'_> {
    /// The first place that says the name by itself.
    pub(super) fn in_configuration(&self) -> Option<Unproven> {
        let paths = self.texts.paths().iter();
        let mut files = paths.filter(|path| {
            let extension = path.extension().unwrap_or_default();
            matches!(extension, "json" | "yaml" | "yml" | "toml" | "ini" | "cfg")
        });
        files.find_map(|path| {
            let text = self.texts.text(path)?;
            let mut places = occurrences(&text, &self.moved.item);
            let span = places.find(|span| stands_alone(path, &text, *span))?;
            Some(Unproven {
                path: path.clone(),
                span: Some(span),
                kind: UnprovenKind::OwnPlace,
                name: self.moved.change.from.clone(),
                why: "a configuration says its name, and something reads the names of definitions"
                    .to_owned(),
            })
        })
    }
}

/// Whether a name is a value of its own: in quotes, or the whole of a value where none are needed.
fn stands_alone(path: &TreePath, text: &str, span: ByteSpan) -> bool {
    let before = text.get(..span.start as usize).unwrap_or_default();
    let after = text.get(span.end as usize..).unwrap_or_default();
    let quoted = before.ends_with(['"', '\'']) && after.starts_with(['"', '\'']);
    let bare = !matches!(path.extension(), Some("json" | "toml"));
    quoted || bare && begins_value(before) && ends_value(after)
}

/// Whether a value begins behind a text: a key's, one of a list, or one of a line of several. A word of a sentence does not.
fn begins_value(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let head = line.trim_end();
    let spaced = head.len() < line.len();
    let item = head.trim_start();
    item.is_empty()
        || head.ends_with(['=', '[', '{', ','])
        || spaced && (head.ends_with(':') || matches!(item, "-" | "?") || item.ends_with(" -"))
}

/// Whether a value ends before a text.
fn ends_value(after: &str) -> bool {
    let line = after.split(['\n', '\r']).next().unwrap_or_default();
    let rest = line.trim_start();
    let comment = rest.len() < line.len() && rest.starts_with(['#', ';']);
    rest.is_empty() || comment || rest.starts_with([',', ']', '}'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_told_from_sentences() {
        for (text, expected) in [
            ("kind: Dense", true),
            ("kind = Dense  # so", true),
            ("kinds: [Dense, Sparse]", true),
            ("- Dense", true),
            ("  - - Dense", true),
            ("kinds =\n    Dense\n", true),
            ("kind: 'Dense'", true),
            ("text: A layer that is Dense", false),
            ("text: >\n  This layer is\n  called Dense\n", false),
            ("text: Dense layers", false),
            ("text: (Dense, Sparse)", false),
        ] {
            let path = TreePath::new("a.yaml").unwrap();
            let at = text.find("Dense").unwrap();
            let span = ByteSpan::from_range(at..at + 5);
            assert_eq!(stands_alone(&path, text, span), expected, "{text}");
        }
    }
}
