//! What clippy is told to speak of wherever it is used (`disallowed-methods` in a `clippy.toml`). A shim uses what it
//! stands for all the same, and says so.

use std::collections::BTreeSet;

use coalesce_model::{Texts, TreePath};
use toml_edit::{DocumentMut, Item, Value};

/// The keys of clippy's settings, and the lint that reads each.
const KEYS: [(&str, &str); 3] = [
    ("disallowed-macros", "clippy::disallowed_macros"),
    ("disallowed-methods", "clippy::disallowed_methods"),
    ("disallowed-types", "clippy::disallowed_types"),
];

/// The lints that speak of whatever has one of some names. Settings may name a thing by any path that leads to it, so the
/// last name is what counts.
pub(super) fn lints_of(
    texts: &dyn Texts,
    is_used: impl Fn(&str) -> bool,
) -> BTreeSet<&'static str> {
    let settings = texts.paths().iter().filter(|path| is_settings(path));
    let read = settings.filter_map(|path| texts.text(path)?.parse().ok());
    let mut found = BTreeSet::new();
    for settings in read.collect::<Vec<DocumentMut>>() {
        for (key, lint) in KEYS {
            let list = settings.get(key).and_then(Item::as_array);
            let mut paths = list.into_iter().flatten().filter_map(path_of);
            let used = |path: &str| is_used(path.rsplit("::").next().unwrap_or_default());
            if paths.any(used) {
                found.insert(lint);
            }
        }
    }
    found
}

fn is_settings(path: &TreePath) -> bool {
    matches!(path.file_name(), "clippy.toml" | ".clippy.toml")
}

/// `"a::b"` or `{ path = "a::b", reason = "…" }`.
fn path_of(value: &Value) -> Option<&str> {
    let inside = || value.as_inline_table()?.get("path")?.as_str();
    value.as_str().or_else(inside)
}
