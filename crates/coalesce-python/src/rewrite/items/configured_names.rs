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
    let ends = after.is_empty() || after.starts_with(['\n', '\r', ',', ']', '}']);
    quoted || bare && ends && before.ends_with([' ', '=', '['])
}
