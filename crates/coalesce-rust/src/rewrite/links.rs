//! Links of documentation: what is read of them follows what they lead to.
//!
//! A short name stays to be read, and the path goes behind it: ``[`Data`]`` becomes
//! ``[`Data`](crate::new::Data)``, not ``[`crate::new::Data`]``. A text that spells a part of its
//! target, ``[`old::Data`](crate::old::Data)``, spells that of the new one. A label that others
//! refer to stays, and is told.

use std::collections::BTreeMap;

use coalesce_model::{ByteSpan, Edit, Evidence, Form, NotRewritten, Rewrite, Safety, TreePath};

use super::draft::Told;
use crate::facts::{Origin, SourceFacts};

/// Lets the texts of the links follow whose targets are edited.
pub(super) fn follow(
    (facts, path, text): (&SourceFacts, &TreePath, &str),
    edits: &mut Vec<Edit>,
    told: &mut Told,
) {
    let links = links_of(facts);
    let mut more = Vec::new();
    for edit in edits.iter_mut() {
        let link = links.range(..=edit.span.start).next_back();
        let Some((_, link)) = link.filter(|(_, link)| link.contains(edit.span)) else {
            continue;
        };
        if let Some(shown) = Shown::of(text, *link) {
            more.extend(shown.follow((path, text), *link, edit, told));
        } else if *link == edit.span
            && edit.text.contains("::")
            && !edit.span.of(text).is_some_and(|old| old.contains("::"))
            && let Some(inline) = with_target(text, edit)
        {
            *edit = inline;
        }
    }
    edits.extend(more);
}

/// The links in documents, by where they begin.
fn links_of(facts: &SourceFacts) -> BTreeMap<u32, ByteSpan> {
    let paths = facts.paths.iter();
    let links = paths.filter(|path| path.origin == Origin::DocLink);
    let links = links.filter_map(|path| {
        let segments = facts.segments(path.segments);
        let (first, last) = (segments.first()?, segments.last()?);
        Some((first.span.start, first.span.cover(last.span)))
    });
    links.collect()
}

/// What is read of a link that has a target of its own.
struct Shown {
    /// Its place, without backticks and the parentheses of a call.
    span: ByteSpan,
    /// Whether backticks are around it.
    ticks: bool,
    /// Whether it is a label, which others refer to.
    label: bool,
}

impl Shown {
    /// The text before a target: `[text](target)`, `[text]: target`.
    fn of(text: &str, target: ByteSpan) -> Option<Self> {
        let head = text.get(..target.start as usize)?;
        let head = head.strip_suffix('`').unwrap_or(head);
        let (head, label) = match head.strip_suffix("](") {
            Some(head) => (head, false),
            None => (head.trim_end_matches(' ').strip_suffix("]:")?, true),
        };
        let open = head.rfind('[')? + 1;
        let inner = head.get(open..)?;
        let bare = inner
            .strip_prefix('`')
            .and_then(|rest| rest.strip_suffix('`'));
        let start = open + usize::from(bare.is_some());
        let name = bare.unwrap_or(inner);
        let name = name
            .strip_suffix("()")
            .or(name.strip_suffix('!'))
            .unwrap_or(name);
        Some(Self {
            span: ByteSpan::from_range(start..start + name.len()),
            ticks: bare.is_some(),
            label,
        })
    }

    /// The edit that lets a text which spells the end of the old target spell that of the new one.
    fn follow(
        &self,
        (path, text): (&TreePath, &str),
        target: ByteSpan,
        edit: &Edit,
        told: &mut Told,
    ) -> Option<Edit> {
        let shown = self.span.of(text)?;
        let new = self.new_text(text, target, edit)?;
        if self.label {
            told.not_rewritten.push(NotRewritten {
                path: path.clone(),
                span: self.span,
                form: Form::DocLink,
                name: shown.to_owned(),
                why: "the label of a link, which others refer to by it".to_owned(),
            });
            return None;
        }
        told.rewrites.push(Rewrite {
            path: path.clone(),
            span: self.span,
            form: Form::DocLink,
            evidence: Evidence::ExactName,
            from: shown.to_owned(),
            to: new.clone(),
            reason: "is read for a target that moves".to_owned(),
            safety: Safety::NeedsReview,
        });
        Some(Edit::replace(self.span, new))
    }

    /// What the text says where its target is edited.
    fn new_text(&self, text: &str, target: ByteSpan, edit: &Edit) -> Option<String> {
        let (old, shown) = (target.of(text)?, self.span.of(text)?);
        let head = text.get(target.start as usize..edit.span.start as usize)?;
        let tail = text.get(edit.span.end as usize..target.end as usize)?;
        let new = format!("{head}{}{tail}", edit.text);
        let new = moved_part(old, shown, &new)?;
        // One word without backticks may be a word of the sentence.
        let says_it = self.ticks || shown.contains("::");
        (new != shown && says_it).then_some(new)
    }
}

/// What a part of an old path is in the new one: counted from the end, for that is what stays.
fn moved_part(old: &str, part: &str, new: &str) -> Option<String> {
    let names = |path: &str| -> Vec<String> { path.split("::").map(str::to_owned).collect() };
    let (old, part, new) = (names(old), names(part), names(new));
    let at = old.windows(part.len()).rposition(|names| names == part)?;
    let behind = old.len() - at - part.len();
    let end = new.len().checked_sub(behind)?;
    Some(new.get(end.saturating_sub(part.len())..end)?.join("::"))
}

/// The edit that puts the target behind a link; `None` where it has one, or is more than a name.
pub(super) fn with_target(text: &str, edit: &Edit) -> Option<Edit> {
    let before = text.get(..edit.span.start as usize)?;
    let after = text.get(edit.span.end as usize..)?;
    let close = after.find(']')?;
    let inner = after.get(..close)?;
    let (open, rest) = match before.strip_suffix('`') {
        Some(open) => (open, inner.strip_suffix('`')?),
        None => (before, inner),
    };
    let behind = after.get(close + 1..)?;
    let alone = open.ends_with('[')
        && !open.ends_with("][")
        && !behind.starts_with(['(', '['])
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
    fn a_text_that_spells_the_end_of_its_target_follows() {
        for (text, expected) in [
            ("[`a::Old`](crate::a::Old)", Some("b::New")),
            ("[`Old`](crate::a::Old)", Some("New")),
            ("[Old](crate::a::Old)", None),
            ("[a::Old](crate::a::Old)", Some("b::New")),
            ("[`crate::a::Old`](crate::a::Old)", Some("crate::b::New")),
            ("[`a::Old()`](crate::a::Old)", Some("b::New")),
            ("[`c::Old`](crate::a::Old)", None),
            ("[`crate::a`](crate::a::Old)", Some("crate::b")),
            ("[the old one](crate::a::Old)", None),
            ("[`a::Old`]: crate::a::Old", None),
        ] {
            let start = text.rfind("crate").unwrap();
            let target = ByteSpan::from_range(start..start + "crate::a::Old".len());
            let edit = Edit::replace(target, "crate::b::New");
            let path = TreePath::root();
            let mut told = Told::default();
            let found = Shown::of(text, target)
                .and_then(|shown| shown.follow((&path, text), target, &edit, &mut told));
            let found = found.map(|edit| edit.text);
            assert_eq!(found.as_deref(), expected, "{text}");
            assert_eq!(told.not_rewritten.len(), usize::from(text.contains("]:")));
        }
    }

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
            (
                "/// - [`Data`]: which it is",
                Some("/// - [`Data`](crate::new::Data): which it is"),
            ),
            ("/// See [`struct@Data`].", None),
        ] {
            let start = u32::try_from(text.rfind("Data").unwrap_or(0)).unwrap_or(0);
            let edit = Edit::replace(ByteSpan::new(start, start + 4), "crate::new::Data");
            let found = with_target(text, &edit).map(|edit| {
                let (head, tail) = text.split_at(edit.span.start as usize);
                format!("{head}{}{tail}", edit.text)
            });
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }
}
