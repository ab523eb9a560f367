//! Edits of one text: sorted, disjoint, in offsets of the original, stamped with its hash.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ByteSpan, ContentHash};

/// Replaces the bytes under `span` by `text`. An empty span inserts, an empty text deletes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Edit {
    /// The bytes that go, in the original text.
    pub span: ByteSpan,
    /// What comes in their place.
    pub text: String,
}

impl Edit {
    /// An edit that replaces `span` by `text`.
    #[must_use]
    pub fn replace(span: ByteSpan, text: impl Into<String>) -> Self {
        Self {
            span,
            text: text.into(),
        }
    }

    /// Whether it takes text away and puts nothing in its place.
    #[must_use]
    pub const fn deletes(&self) -> bool {
        self.text.is_empty() && !self.span.is_empty()
    }

    /// Takes in a deletion that begins before this one ends: two that go may both take the blank line between them.
    /// Gives whether it does.
    pub fn takes_in(&mut self, next: &Self) -> bool {
        let overlaps = self.deletes() && next.deletes() && next.span.start < self.span.end;
        if overlaps {
            self.span = self.span.cover(next.span);
        }
        overlaps
    }

    /// An edit that puts `text` before the byte at `at`.
    #[must_use]
    pub fn insert(at: u32, text: impl Into<String>) -> Self {
        Self::replace(ByteSpan::empty(at), text)
    }

    /// An edit that removes `span`.
    #[must_use]
    pub fn delete(span: ByteSpan) -> Self {
        Self::replace(span, "")
    }
}

/// Why edits cannot be put together or applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// Two different edits touch the same bytes.
    #[error("two edits overlap at byte {}: {:?} and {:?}", second.span.start, first.text, second.text)]
    Overlap {
        /// The edit that starts first.
        first: Edit,
        /// The edit that starts inside it.
        second: Edit,
    },
    /// The text is not the one that the edits were made for.
    #[error("the text has changed since the edits were made")]
    Stale,
    /// A span ends outside the text or inside a character.
    #[error("byte {0} is not a boundary of the text")]
    OutOfBounds(u32),
}

/// Edits of one text. The invariant (sorted, no two overlap, all belong to the text with this
/// hash) holds by construction; a text that has changed is refused, never merged with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EditSet {
    hash: ContentHash,
    edits: Vec<Edit>,
}

impl EditSet {
    /// No edit yet, for `text`.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self {
            hash: ContentHash::of(text.as_bytes()),
            edits: Vec::new(),
        }
    }

    /// Puts `edits` together for `text`, in any order; the same edit twice counts once.
    ///
    /// # Errors
    /// [`EditError::Overlap`] when two of them touch the same bytes, or insert at the same place.
    pub fn from_edits(text: &str, mut edits: Vec<Edit>) -> Result<Self, EditError> {
        edits.sort();
        edits.dedup();
        for pair in edits.windows(2) {
            if let [first, second] = pair
                && (second.span.start < first.span.end || second.span.start == first.span.start)
            {
                return Err(EditError::Overlap {
                    first: first.clone(),
                    second: second.clone(),
                });
            }
        }
        Ok(Self {
            edits,
            ..Self::new(text)
        })
    }

    /// Adds the edits of `other`, which must be for the same text.
    ///
    /// # Errors
    /// [`EditError::Stale`] for another text, [`EditError::Overlap`] as in [`Self::from_edits`].
    pub fn merge(self, other: Self, text: &str) -> Result<Self, EditError> {
        if self.hash != other.hash {
            return Err(EditError::Stale);
        }
        let mut edits = self.edits;
        edits.extend(other.edits);
        Self::from_edits(text, edits)
    }

    /// The hash of the text that the edits belong to.
    #[must_use]
    pub fn hash(&self) -> ContentHash {
        self.hash
    }

    /// The edits, in order.
    #[must_use]
    pub fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// The text with every edit made; every other byte is the original's.
    ///
    /// # Errors
    /// [`EditError::Stale`] when `text` is another one, [`EditError::OutOfBounds`] when a span
    /// does not fit it.
    pub fn apply(&self, text: &str) -> Result<String, EditError> {
        if ContentHash::of(text.as_bytes()) != self.hash {
            return Err(EditError::Stale);
        }
        let grown: usize = self.edits.iter().map(|edit| edit.text.len()).sum();
        let mut result = String::with_capacity(text.len() + grown);
        let mut done = 0;
        for edit in &self.edits {
            let kept = text.get(done..edit.span.start as usize);
            result.push_str(kept.ok_or(EditError::OutOfBounds(edit.span.start))?);
            result.push_str(&edit.text);
            done = edit.span.end as usize;
        }
        let end = ByteSpan::from_range(done..done).start;
        result.push_str(text.get(done..).ok_or(EditError::OutOfBounds(end))?);
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn overlap_is_refused_and_the_same_edit_counts_once() {
        let one = Edit::replace(ByteSpan::new(0, 2), "x");
        let two = Edit::replace(ByteSpan::new(1, 3), "y");
        assert!(matches!(
            EditSet::from_edits("abcd", vec![one.clone(), two]),
            Err(EditError::Overlap { .. })
        ));
        let set = EditSet::from_edits("abcd", vec![one.clone(), one]).unwrap();
        assert_eq!(set.apply("abcd").unwrap(), "xcd");
    }

    #[test]
    fn another_text_is_refused() {
        let set = EditSet::from_edits("ab", vec![Edit::insert(1, "-")]).unwrap();
        assert_eq!(set.apply("ac"), Err(EditError::Stale));
    }

    proptest! {
        #[test]
        fn bytes_outside_the_edits_stay(text in "[a-zé\r\n]{0,40}", cuts in prop::collection::btree_set(0usize..40, 0..8)) {
            let bounds: Vec<u32> = cuts
                .into_iter()
                .filter(|cut| text.is_char_boundary(*cut) && *cut <= text.len())
                .map(|cut| u32::try_from(cut).unwrap())
                .collect();
            let edits = bounds
                .chunks_exact(2)
                .map(|pair| Edit::replace(ByteSpan::new(pair[0], pair[1]), "#"))
                .collect::<Vec<_>>();
            let mut expected = String::new();
            let mut done = 0;
            for edit in &edits {
                expected.push_str(&text[done..edit.span.start as usize]);
                expected.push('#');
                done = edit.span.end as usize;
            }
            expected.push_str(&text[done..]);
            let set = EditSet::from_edits(&text, edits).unwrap();
            prop_assert_eq!(set.apply(&text).unwrap(), expected);
        }
    }
}
