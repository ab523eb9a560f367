//! Texts that are changed in several steps, each of which reads what the one before it left.

use std::{collections::BTreeMap, sync::Arc};

use coalesce_model::{ByteSpan, Edit, EditSet, Texts, TreePath};

use super::super::declarations::joined;

/// What goes wrong: the file, and why.
pub(in super::super) type Wrong = (TreePath, String);

/// Manifests and lock files on the way to what they will be.
pub(in super::super) struct Book<'a> {
    texts: &'a dyn Texts,
    edits: BTreeMap<TreePath, Vec<Edit>>,
    open: BTreeMap<TreePath, (Arc<str>, String)>,
}

impl<'a> Book<'a> {
    /// Starts from edits that were made already.
    pub fn new(texts: &'a dyn Texts, edits: BTreeMap<TreePath, Vec<Edit>>) -> Self {
        Self {
            texts,
            edits,
            open: BTreeMap::new(),
        }
    }

    /// The text of a file as it stands now.
    pub fn text(&mut self, path: &TreePath) -> Result<String, Wrong> {
        if let Some((_, text)) = self.open.get(path) {
            return Ok(text.clone());
        }
        let wrong = |why: String| (path.clone(), why);
        let old = self
            .texts
            .text(path)
            .ok_or_else(|| wrong("it would have to be edited and cannot be read".to_owned()))?;
        let edits = self.edits.remove(path).unwrap_or_default();
        let set =
            EditSet::from_edits(&old, joined(edits)).map_err(|error| wrong(error.to_string()))?;
        let text = set.apply(&old).map_err(|error| wrong(error.to_string()))?;
        self.open.insert(path.clone(), (old, text.clone()));
        Ok(text)
    }

    /// Puts another text in the place of one.
    pub fn set(&mut self, path: &TreePath, text: String) -> Result<(), Wrong> {
        self.text(path)?;
        if let Some((_, now)) = self.open.get_mut(path) {
            *now = text;
        }
        Ok(())
    }

    /// Changes a text; an error says why not.
    pub fn change(
        &mut self,
        path: &TreePath,
        change: impl FnOnce(&str) -> Result<String, String>,
    ) -> Result<(), Wrong> {
        let text = self.text(path)?;
        let text = change(&text).map_err(|why| (path.clone(), why))?;
        self.set(path, text)
    }

    /// All edits, one for each text that was opened.
    pub fn close(self) -> BTreeMap<TreePath, Vec<Edit>> {
        let mut edits = self.edits;
        for (path, (old, new)) in self.open {
            if let Some(edit) = difference(&old, &new) {
                edits.insert(path, vec![edit]);
            }
        }
        edits
    }
}

/// The smallest edit from one text to another.
pub(in super::super) fn difference(old: &str, new: &str) -> Option<Edit> {
    if old == new {
        return None;
    }
    let start: usize = old
        .chars()
        .zip(new.chars())
        .take_while(|(a, b)| a == b)
        .map(|(a, _)| a.len_utf8())
        .sum();
    let (old_rest, new_rest) = (old.get(start..)?, new.get(start..)?);
    let end: usize = old_rest
        .chars()
        .rev()
        .zip(new_rest.chars().rev())
        .take_while(|(a, b)| a == b)
        .map(|(a, _)| a.len_utf8())
        .sum();
    let span = ByteSpan::from_range(start..old.len() - end);
    let text = new_rest.get(..new_rest.len() - end)?;
    Some(Edit::replace(span, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_edit_is_made() {
        for (old, new, span, text) in [
            ("abcd", "abXd", 2..3, "X"),
            ("aaa", "aa", 2..3, ""),
            ("ä", "ö", 0..2, "ö"),
        ] {
            let edit = difference(old, new).unwrap();
            assert_eq!((edit.span, &*edit.text), (ByteSpan::from_range(span), text));
        }
        assert!(difference("a", "a").is_none());
    }
}
