//! From the text before and after to the edits between them, line by line.

use lsp_types::TextEdit;
use similar::{DiffOp, TextDiff};

use crate::lines::{Encoding, Lines};

/// Edits that make `after` of `before`. They are of whole lines, and none touches another.
#[must_use]
pub fn between(before: &str, after: &str, encoding: Encoding) -> Vec<TextEdit> {
    let mark = '\u{feff}';
    let (shown, after) = (
        before.trim_start_matches(mark),
        after.trim_start_matches(mark),
    );
    let diff = TextDiff::from_lines(shown, after);
    let old = starts(diff.iter_old_slices());
    let new = starts(diff.iter_new_slices());
    let lines = Lines::new(shown, encoding);
    let at = |starts: &[usize], line: usize| starts.get(line).copied().unwrap_or(0);
    let changed = diff
        .ops()
        .iter()
        .filter(|op| !matches!(op, DiffOp::Equal { .. }));
    let edit = |op: &DiffOp| {
        let (before, written) = (op.old_range(), op.new_range());
        let text = after.get(at(&new, written.start)..at(&new, written.end));
        TextEdit {
            range: lines.range(at(&old, before.start)..at(&old, before.end)),
            new_text: text.unwrap_or_default().to_owned(),
        }
    };
    changed.map(edit).collect()
}

/// Where lines begin that stand one behind the other, and where the last one ends.
fn starts<'t>(lines: impl Iterator<Item = &'t str>) -> Vec<usize> {
    let mut starts = vec![0];
    let mut at = 0;
    for line in lines {
        at += line.len();
        starts.push(at);
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an editor makes of edits: the last first, so that places stay true.
    fn applied(text: &str, edits: &[TextEdit]) -> String {
        let mut text = text.to_owned();
        for edit in edits.iter().rev() {
            let lines = Lines::new(&text, Encoding::Utf16);
            let start = lines.offset(edit.range.start).unwrap();
            let end = lines.offset(edit.range.end).unwrap();
            text.replace_range(start..end, &edit.new_text);
        }
        text
    }

    #[test]
    fn edits_lead_from_one_text_to_the_other() {
        for (before, after) in [
            ("", "a\n"),
            ("a\n", ""),
            ("a\nb\nc\n", "a\nx\nc\n"),
            ("a\nb", "b"),
            ("a\nb", "a\nb\n"),
            ("é𝄞\r\nb\r\nc", "b\r\nc\r\nd"),
            ("a\rb\rc", "a\rx\rc"),
            ("same\n", "same\n"),
        ] {
            let edits = between(before, after, Encoding::Utf16);
            assert_eq!(applied(before, &edits), after, "{before:?} {edits:?}");
            assert_eq!(edits.is_empty(), before == after);
        }
    }
}
