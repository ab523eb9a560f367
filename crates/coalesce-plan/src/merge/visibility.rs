//! Definitions that differ in who sees them, and in nothing else: whoever names the one that stays comes to see it.

use coalesce_clones::coverage::{Difference, Entry, Relation, Text};
use coalesce_model::envelope::DifferenceAspect;

/// Whether both sides are the same, visibilities aside.
#[must_use]
pub fn is_same(entry: &Entry) -> bool {
    match entry.relation {
        Relation::Same | Relation::Reworded => true,
        Relation::ChangedSignature | Relation::ChangedBody | Relation::ChangedSignatureAndBody => {
            let mut differences = entry.differences.iter();
            let is_told = !entry.differences.is_empty() || !entry.members.is_empty();
            is_told && differences.all(is_of_visibility) && entry.members.iter().all(is_same)
        }
        _ => false,
    }
}

fn is_of_visibility(difference: &Difference) -> bool {
    let text = |side: &Option<Text>| {
        side.as_ref()
            .map_or("", |text| text.text.as_str())
            .to_owned()
    };
    let (left, right) = (text(&difference.left), text(&difference.right));
    let is_wording = difference.aspect == DifferenceAspect::Wording;
    is_wording || left != right && without_visibility(&left) == without_visibility(&right)
}

/// A text without `pub` or `pub(…)` at its beginning.
fn without_visibility(text: &str) -> &str {
    let text = text.trim_start();
    let Some(rest) = text.strip_prefix("pub") else {
        return text;
    };
    match rest.trim_start().strip_prefix('(') {
        Some(list) => list
            .split_once(')')
            .map_or(text, |(_, rest)| rest.trim_start()),
        None if rest.starts_with(|first: char| first.is_alphanumeric() || first == '_') => text,
        None => rest.trim_start(),
    }
}

#[cfg(test)]
mod tests {
    use super::without_visibility;

    #[test]
    fn visibilities_are_left_out() {
        for (text, expected) in [
            ("pub fn", "fn"),
            ("pub(crate) unsafe fn", "unsafe fn"),
            ("pub(in crate::a) fn", "fn"),
            ("fn", "fn"),
            ("public", "public"),
            ("pub", ""),
        ] {
            assert_eq!(without_visibility(text), expected, "{text}");
        }
    }
}
