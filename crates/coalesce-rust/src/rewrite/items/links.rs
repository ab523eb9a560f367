//! Links of documentation that are a short name: the name stays to be read, the path goes behind it.
//!
//! ``[`Data`]`` becomes ``[`Data`](crate::new::Data)``, not ``[`crate::new::Data`]``. Links with a
//! target of their own, and those that were a path before, are edited where they stand.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Edit};

use crate::facts::{Origin, SourceFacts};

/// Rewrites the edits of a file that would make short links long.
pub(super) fn keep_short(facts: &SourceFacts, text: &str, edits: &mut [Edit]) {
    let links: BTreeSet<(u32, u32)> = facts
        .paths
        .iter()
        .filter(|path| path.origin == Origin::DocLink)
        .filter_map(|path| facts.segments(path.segments).first())
        .map(|first| (first.span.start, first.span.end))
        .collect();
    for edit in edits {
        let first = (edit.span.start, edit.span.end);
        if links.contains(&first)
            && edit.text.contains("::")
            && let Some(inline) = with_target(text, edit)
        {
            *edit = inline;
        }
    }
}

/// The edit that puts the target behind a link; `None` where it has one, or is more than a name.
fn with_target(text: &str, edit: &Edit) -> Option<Edit> {
    let before = text.get(..edit.span.start as usize)?;
    let after = text.get(edit.span.end as usize..)?;
    let (ticks, open) = match before.strip_suffix('`') {
        Some(before) => (true, before),
        None => (false, before),
    };
    let close = after.find(']')?;
    let inner = after.get(..close)?;
    let rest = if ticks {
        inner.strip_suffix('`')?
    } else {
        inner
    };
    let behind = after.get(close + 1..)?;
    let alone = open.ends_with('[')
        && !open.ends_with("][")
        && !behind.starts_with(['(', '[', ':'])
        && !rest.contains(['`', '\n', '[', '<', ' ']);
    // A target has no need of the parentheses of a call.
    let rest = rest.trim_end_matches("()");
    let at = edit.span.end + u32::try_from(close + 1).ok()?;
    alone.then(|| Edit {
        span: ByteSpan::empty(at),
        text: format!("({}{rest})", edit.text),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_put_behind_a_name_alone() {
        for (text, expected) in [
            (
                "/// See [`Data`].",
                Some("/// See [`Data`](crate::new::Data)."),
            ),
            ("/// See [Data].", Some("/// See [Data](crate::new::Data).")),
            (
                "/// See [`Data::new()`], too.",
                Some("/// See [`Data::new()`](crate::new::Data::new), too."),
            ),
            ("/// See [it](Data).", None),
            ("/// See [it][Data].", None),
            ("/// [`Data`]: Data", None),
            ("/// See [`struct@Data`].", None),
        ] {
            let start = u32::try_from(text.rfind("Data").unwrap_or(0)).unwrap_or(0);
            let start = match text.find("Data") {
                Some(first) if text.contains("]:") => u32::try_from(first).unwrap_or(0),
                _ => start,
            };
            let edit = Edit::replace(ByteSpan::new(start, start + 4), "crate::new::Data");
            let found = with_target(text, &edit).map(|edit| {
                let (head, tail) = text.split_at(edit.span.start as usize);
                format!("{head}{}{tail}", edit.text)
            });
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }
}
