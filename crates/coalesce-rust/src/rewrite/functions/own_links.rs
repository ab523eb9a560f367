//! Links by `Self` in the documentation of a type and its blocks: what they lead to is a function from then on.

use coalesce_model::{ByteSpan, Form};

use super::uses::{FileInWork, MethodPlaces, UsesOfMethod, length};

/// What is written of a link around `Self::method`.
struct OwnLink<'t> {
    /// Before and behind the brackets or parentheses, these included.
    span: ByteSpan,
    /// What says which kind is meant: `method@`.
    kind: &'t str,
    /// `()`, or nothing.
    call: &'t str,
    shape: LinkTarget,
}

/// Where a link says what it leads to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LinkTarget {
    /// `[target]`, with what is read.
    Alone,
    /// ``[text](target)``, `[text][target]` or `[text]: target`.
    Behind,
}

impl<'t> OwnLink<'t> {
    /// The link that a path is the target of.
    fn around(text: &'t str, path: ByteSpan) -> Option<Self> {
        let head = text.get(..path.start as usize)?;
        let tail = text.get(path.end as usize..)?;
        let word = |one: char| one.is_ascii_lowercase() || one == '@';
        let plain = head.trim_end_matches(word);
        let kind = head.get(plain.len()..).filter(|kind| kind.ends_with('@'));
        let head = kind.map_or(head, |_| plain);
        let call = if tail.starts_with("()") { "()" } else { "" };
        let tail = tail.get(call.len()..)?;
        let (head, tail, ticks) = match (head.strip_suffix('`'), tail.strip_prefix('`')) {
            (Some(head), Some(tail)) => (head, tail, 1),
            _ => (head, tail, 0),
        };
        let is_second = head.ends_with("][") || tail.starts_with("][");
        let shape = match head.ends_with('[') && tail.starts_with(']') && !is_second {
            true => LinkTarget::Alone,
            false => LinkTarget::Behind,
        };
        let around = u32::from(shape == LinkTarget::Alone);
        let kind = kind.unwrap_or_default();
        let start = path.start - length(kind) - ticks - around;
        let end = path.end + length(call) + ticks + around;
        Some(Self {
            span: ByteSpan::new(start, end),
            kind,
            call,
            shape,
        })
    }
}

impl MethodPlaces<'_, '_> {
    /// Spells links by `Self` anew.
    pub(super) fn own_links(&self, work: &FileInWork<'_>, uses: &mut UsesOfMethod) {
        let spans = self.spans_of_type(work);
        let sought = format!("Self::{}", self.method.name);
        for span in work.facts.own_links.iter().copied() {
            let is_sought = span.of(work.text) == Some(sought.as_str());
            let inside = spans.iter().any(|around| around.contains(span));
            if !is_sought || !inside || self.method.span.contains(span) {
                continue;
            }
            if let Some(link) = OwnLink::around(work.text, span) {
                self.own_link(work, &link, uses);
            }
        }
    }

    fn own_link(&self, work: &FileInWork<'_>, link: &OwnLink<'_>, uses: &mut UsesOfMethod) {
        let module = self.module_at(work.file, link.span.start);
        let path = module.and_then(|module| self.path_from(module, false).ok());
        let Some(path) = path else { return };
        let name = self.new_name();
        let kind = link.kind.replace("method@", "fn@");
        let call = link.call;
        let said = match link.shape {
            LinkTarget::Behind => format!("{kind}{path}{call}"),
            LinkTarget::Alone if self.is_name_alone(&path) => format!("[`{kind}{path}{call}`]"),
            LinkTarget::Alone => format!("[`{name}{call}`]({kind}{path})"),
        };
        if link.shape == LinkTarget::Behind
            && let Some(shown) = self.own_text(work.text, link.span)
        {
            self.edit(work, shown, name.to_owned(), uses);
        }
        self.edit(work, link.span, said, uses);
        self.tell(work, link.span, Form::DocLink, uses);
    }

    /// What is read of a link before its target, where that is the name of the method.
    fn own_text(&self, text: &str, target: ByteSpan) -> Option<ByteSpan> {
        let head = text.get(..target.start as usize)?.strip_suffix("](")?;
        let open = head.rfind("[`")? + 2;
        let shown = head.get(open..)?.strip_suffix('`')?;
        let shown = shown.strip_suffix("()").unwrap_or(shown);
        let name = self.method.name.as_str();
        let is_name = shown == name || shown.strip_prefix("Self::") == Some(name);
        is_name.then(|| ByteSpan::from_range(open..open + shown.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_stands_with_its_target_or_before_it() {
        for (text, expected) in [
            ("/// [`Self::take`].", Some("[`Self::take`]")),
            ("/// [`Self::take()`].", Some("[`Self::take()`]")),
            ("/// [Self::take]: takes it", Some("[Self::take]")),
            ("/// [`take`](Self::take)", Some("Self::take")),
            (
                "/// [`take`](method@Self::take \"it\")",
                Some("method@Self::take"),
            ),
            ("/// [it][Self::take]", Some("Self::take")),
            ("/// [it]: Self::take", Some("Self::take")),
        ] {
            let start = text.find("Self").unwrap();
            let path = ByteSpan::from_range(start..start + "Self::take".len());
            let found = OwnLink::around(text, path);
            let found = found.and_then(|link| link.span.of(text));
            assert_eq!(found, expected, "{text}");
        }
    }
}
