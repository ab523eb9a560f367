//! What may stand above a class, by names: of a class that too many are below, each class that moves is followed upwards
//! instead.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::{Carried, Head, MOST_NAMES, Readers, heads, known, may_define};
use crate::names::{is_word, last_word, places_of_word};

impl Readers<'_> {
    /// Whether a piece of code may define a class, or one below it.
    pub(super) fn may_define_below(&self, piece: &Carried, class: &str) -> bool {
        let above = piece.above.get_or_init(|| self.above(piece.text()));
        let own = [class.to_owned()];
        let is_above = above.as_ref().is_none_or(|above| above.contains(class));
        is_above || may_define(piece, &own)
    }

    /// All names that may be of what the classes of a text are made of; none where there are too many, or one is given to
    /// what goes on in another line.
    fn above(&self, text: &str) -> Option<FxHashSet<String>> {
        let mut open: Vec<String> = heads(text).iter().flat_map(bases).collect();
        let mut above = FxHashSet::default();
        while let Some(name) = open.pop() {
            if !above.insert(name.clone()) {
                continue;
            }
            if above.len() > MOST_NAMES {
                return None;
            }
            let given = known(&self.given, &name, || {
                self.right_above(&name).map(Arc::from)
            });
            open.extend(given?.iter().cloned());
        }
        Some(above)
    }

    /// What the classes of one name may be made of, and what is given to that name.
    fn right_above(&self, name: &str) -> Option<Vec<String>> {
        let mut found = Vec::new();
        for text in self.all() {
            let heads = heads_in(text, name);
            found.extend(heads.iter().flat_map(bases));
            found.extend(given(text, name)?);
        }
        Some(found)
    }
}

/// The heads of the classes of one name in a text.
fn heads_in<'t>(text: &'t str, name: &str) -> Vec<Head<'t>> {
    if !text.contains(name) {
        return Vec::new();
    }
    let mut heads = heads(text);
    heads.retain(|head| head.name == name);
    heads
}

/// The names in the head of a class.
fn bases(head: &Head<'_>) -> Vec<String> {
    let words = head.bases.split(|c: char| !is_word(c));
    words
        .filter(|word| !word.is_empty() && *word != "metaclass")
        .map(str::to_owned)
        .collect()
}

/// The names that stand where a text gives one to something: `import A as B`, `B = A`; none where that goes on in another
/// line.
fn given(text: &str, name: &str) -> Option<Vec<String>> {
    let mut found = Vec::new();
    for at in places_of_word(text, name) {
        let (before, after) = text.split_at(at);
        let line = before.rsplit('\n').next().unwrap_or_default();
        let rest = after.get(name.len()..).unwrap_or_default();
        let rest = rest.split('\n').next().unwrap_or_default().trim_start();
        if let Some(renamed) = line.strip_suffix(" as ") {
            found.push(last_word(renamed.trim_end()).to_owned());
        }
        let begins = line.trim().is_empty();
        let value = rest.split_once('=').filter(|(kind, value)| {
            let annotated = kind.is_empty() || kind.starts_with(':');
            begins && annotated && !value.starts_with('=')
        });
        let Some((_, value)) = value else { continue };
        if value.trim_end().ends_with(['(', '[', '{', '\\']) {
            return None;
        }
        let words = value.split(|c: char| !is_word(c));
        found.extend(words.filter(|word| !word.is_empty()).map(str::to_owned));
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_given_by_imports_and_assignments() {
        for (text, expected) in [
            ("from a import Base as Known\n", Some(vec!["Base"])),
            ("Known = a.Base\n", Some(vec!["a", "Base"])),
            ("Known: type = Base\n", Some(vec!["Base"])),
            ("if x:\n    Known = Base\n", Some(vec!["Base"])),
            ("Known == Base\nf(Known, x=Base)\n", Some(vec![])),
            ("Known = make(\n    Base)\n", None),
        ] {
            let found = given(text, "Known");
            let expected = expected.map(|all| all.into_iter().map(str::to_owned).collect());
            assert_eq!(found, expected, "{text}");
        }
    }
}
