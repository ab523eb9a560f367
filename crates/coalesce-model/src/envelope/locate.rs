//! From byte spans to the places that an envelope prints: line and column worked out from the text.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    Excerpt, FindingEntry, NotRewrittenEntry, Range, ReferenceEntry, RewriteEntry, UnprovenEntry,
};
use crate::{
    ByteSpan, Finding, LineIndex, NotRewritten, Reference, Rewrite, Texts, TreePath, Unproven,
};

/// Bytes of a line beyond which it is not shown.
const LONGEST_LINE: usize = 400;
/// Bytes in front of a place that are shown of a longer line.
const BEFORE: usize = 100;

/// One text with its lines, to turn byte spans into [`Range`]s.
#[derive(Clone, Debug)]
pub struct Located {
    text: Arc<str>,
    lines: LineIndex,
}

impl Located {
    /// Indexes the lines of `text`.
    #[must_use]
    pub fn new(text: Arc<str>) -> Self {
        Self {
            lines: LineIndex::new(&text),
            text,
        }
    }

    /// The span with its line and column.
    #[must_use]
    pub fn range(&self, span: ByteSpan) -> Range {
        let position = self.lines.position(&self.text, span.start);
        Range {
            start: span.start,
            end: span.end,
            line: position.line,
            column: position.column,
        }
    }

    /// The line that holds the span's first byte, and what of it the span means; `None` for a line that
    /// nobody would read.
    #[must_use]
    pub fn excerpt(&self, span: ByteSpan) -> Option<Excerpt> {
        let line_start = self.lines.line_start(self.lines.line_number(span.start))? as usize;
        let line = self.line_from(line_start);
        let begin = (span.start as usize).checked_sub(line_start)?;
        if begin > LONGEST_LINE {
            return None;
        }
        let end = (span.end as usize - line_start).clamp(begin, line.len());
        // A mark in front of the text is no character of it.
        let mark = line.len() - line.trim_start_matches('\u{feff}').len();
        let line = line.get(mark..)?;
        (line.len() <= LONGEST_LINE).then(|| Excerpt {
            line: line.to_owned(),
            start: begin.saturating_sub(mark),
            end: end.saturating_sub(mark),
        })
    }

    /// The line that holds the span's first byte, without the spaces around it; of a line that nobody would read,
    /// what stands around the span.
    #[must_use]
    pub fn line_text(&self, span: ByteSpan) -> &str {
        let start = self
            .lines
            .line_start(self.lines.line_number(span.start))
            .unwrap_or(0) as usize;
        let before = (span.start as usize).saturating_sub(start);
        let from = if before > LONGEST_LINE {
            self.text.floor_char_boundary(start + before - BEFORE)
        } else {
            start
        };
        let line = self.line_from(from);
        let end = line.floor_char_boundary(LONGEST_LINE);
        let line = line.get(..end).unwrap_or_default();
        line.trim_start_matches('\u{feff}').trim()
    }

    /// What stands from a byte to the end of its line, and no more than tells whether it is too long: a text of one
    /// line may have thousands of places.
    fn line_from(&self, from: usize) -> &str {
        let end = self.text.floor_char_boundary(from + LONGEST_LINE + 8);
        let rest = self.text.get(from..end).unwrap_or_default();
        rest.split(['\n', '\r']).next().unwrap_or_default()
    }
}

/// Makes entries with lines and columns; each file's lines are indexed once.
pub struct Locator<'t> {
    texts: &'t dyn Texts,
    seen: BTreeMap<TreePath, Option<Located>>,
}

impl<'t> Locator<'t> {
    /// A locator for files of `texts`.
    #[must_use]
    pub fn new(texts: &'t dyn Texts) -> Self {
        Self {
            texts,
            seen: BTreeMap::new(),
        }
    }

    /// The file's lines; `None` when the file has no text.
    pub fn located(&mut self, path: &TreePath) -> Option<&Located> {
        if !self.seen.contains_key(path) {
            self.seen
                .insert(path.clone(), self.texts.text(path).map(Located::new));
        }
        self.seen.get(path).and_then(Option::as_ref)
    }

    /// The span with its line and column; `None` when the file has no text.
    pub fn range(&mut self, path: &TreePath, span: ByteSpan) -> Option<Range> {
        self.located(path).map(|located| located.range(span))
    }

    /// A finding of the tree.
    pub fn finding(&mut self, finding: &Finding) -> FindingEntry {
        FindingEntry {
            code: finding.code,
            severity: finding.severity,
            path: finding.path.to_string(),
            range: finding
                .span
                .and_then(|span| self.range(&finding.path, span)),
            message: finding.message.clone(),
            help: finding.help.clone(),
            excerpt: None,
            changed: None,
        }
    }

    /// A finding of the tree with the line that it stands on.
    pub fn finding_with_line(&mut self, finding: &Finding) -> FindingEntry {
        let excerpt = finding.span.and_then(|span| {
            let located = self.located(&finding.path)?;
            located.excerpt(span)
        });
        FindingEntry {
            excerpt,
            ..self.finding(finding)
        }
    }

    /// A reference; `None` when its file has no text, which a reference's file always has.
    pub fn reference(&mut self, reference: &Reference) -> Option<ReferenceEntry> {
        let located = self.located(&reference.path)?;
        Some(ReferenceEntry {
            path: reference.path.clone(),
            range: located.range(reference.span),
            form: reference.form,
            certainty: reference.certainty,
            line_text: located.line_text(reference.span).to_owned(),
        })
    }

    /// A reference that changes.
    pub fn rewrite(&mut self, rewrite: &Rewrite) -> RewriteEntry {
        RewriteEntry {
            path: rewrite.path.clone(),
            range: self.range(&rewrite.path, rewrite.span),
            form: rewrite.form,
            evidence: rewrite.evidence,
            from: rewrite.from.clone(),
            to: rewrite.to.clone(),
            reason: rewrite.reason.clone(),
            safety: rewrite.safety,
        }
    }

    /// A reference that stays.
    pub fn not_rewritten(&mut self, reference: &NotRewritten) -> NotRewrittenEntry {
        NotRewrittenEntry {
            path: reference.path.clone(),
            range: self.range(&reference.path, reference.span),
            form: reference.form,
            name: reference.name.clone(),
            why: reference.why.clone(),
        }
    }

    /// A place that could not be proven.
    pub fn unproven(&mut self, unproven: &Unproven) -> UnprovenEntry {
        let span = unproven.span;
        UnprovenEntry {
            path: unproven.path.clone(),
            range: span.and_then(|span| self.range(&unproven.path, span)),
            kind: unproven.kind,
            name: unproven.name.clone(),
            why: unproven.why.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryTexts;

    #[test]
    fn places_are_worked_out_from_the_text() {
        let texts = MemoryTexts::fixture("//- a.py\nx = 1\n  import é.b\n");
        let path = TreePath::new("a.py").unwrap();
        let mut locator = Locator::new(&texts);
        let range = locator.range(&path, ByteSpan::new(17, 20)).unwrap();
        assert_eq!(
            range,
            Range {
                start: 17,
                end: 20,
                line: 2,
                column: 11
            }
        );
        assert_eq!(
            locator
                .located(&path)
                .unwrap()
                .line_text(ByteSpan::empty(17)),
            "import é.b"
        );
        assert_eq!(
            locator.range(&TreePath::new("none").unwrap(), ByteSpan::empty(0)),
            None
        );
    }

    #[test]
    fn of_long_lines_what_is_around_is_shown() {
        let line = format!("\u{feff}  first = 1\n{}", "ä(x) ".repeat(1_000));
        let located = Located::new(Arc::from(line.as_str()));
        let at = u32::try_from(line.find('ä').unwrap()).unwrap();
        assert_eq!(located.line_text(ByteSpan::new(5, 7)), "first = 1");
        assert!(located.excerpt(ByteSpan::new(5, 7)).is_some());
        for start in [at, at + 390, at + 900, at + 5_000, at + 5_990] {
            let text = located.line_text(ByteSpan::empty(start));
            assert!(!text.is_empty() && text.len() <= LONGEST_LINE, "{start}");
            assert!(located.excerpt(ByteSpan::empty(start)).is_none(), "{start}");
        }
    }
}
