//! From a failure in the planned tree back to the planned change that brought it about.
//!
//! A line after is a line before by the difference of the two texts; what stands there is either a
//! reference that was rewritten, or one that was left as it is. Only a place is looked at, never
//! guessed from a message.

use std::{
    cell::RefCell,
    collections::{BTreeMap, btree_map::Entry},
};

use coalesce_model::{
    ByteSpan, LineIndex, NotRewritten, Rewrite, Texts, TreePath, envelope::FailureCause,
};
use similar::{Algorithm, DiffOp};

use crate::{check::Place, compare::Renames};

/// The planned changes, by place.
pub struct Blame<'a> {
    before: &'a dyn Texts,
    after: &'a dyn Texts,
    renames: &'a Renames,
    rewrites: BTreeMap<&'a TreePath, Vec<&'a Rewrite>>,
    not_rewritten: BTreeMap<&'a TreePath, Vec<&'a NotRewritten>>,
    /// For each file after, its lines before.
    lines: RefCell<BTreeMap<TreePath, Vec<Option<u32>>>>,
}

impl<'a> Blame<'a> {
    /// The changes that lead from the texts `before` to those `after`.
    #[must_use]
    pub fn new(
        before: &'a dyn Texts,
        after: &'a dyn Texts,
        renames: &'a Renames,
        rewrites: &'a [Rewrite],
        not_rewritten: &'a [NotRewritten],
    ) -> Self {
        Self {
            before,
            after,
            renames,
            rewrites: by_path(rewrites, |rewrite| &rewrite.path),
            not_rewritten: by_path(not_rewritten, |reference| &reference.path),
            lines: RefCell::default(),
        }
    }

    /// The change at the first of the places that has one.
    #[must_use]
    pub fn cause(&self, places: &[Place]) -> Option<FailureCause> {
        places.iter().find_map(|place| self.at(place))
    }

    fn at(&self, place: &Place) -> Option<FailureCause> {
        let line = self.line_before(place)?;
        let path = self.renames.path(&place.path);
        let text = self.before.text(path)?;
        let index = LineIndex::new(&text);
        let here = |span: ByteSpan| {
            (index.line_number(span.start)..=index.line_number(span.end)).contains(&line)
        };
        let cause = |from: &str, to: &str, reason: String| FailureCause {
            path: path.clone(),
            line,
            from: from.to_owned(),
            to: to.to_owned(),
            reason,
        };
        let mut rewritten = self.rewrites.get(path).into_iter().flatten();
        if let Some(one) = rewritten.find(|rewrite| here(rewrite.span)) {
            return Some(cause(&one.from, &one.to, one.reason.clone()));
        }
        let mut left = self.not_rewritten.get(path).into_iter().flatten();
        let left = left.find(|left| here(left.span))?;
        let reason = format!("was left as it is: {}", left.why);
        Some(cause(&left.name, &left.name, reason))
    }

    /// The line before of a place after; `None` for a line that is new.
    fn line_before(&self, place: &Place) -> Option<u32> {
        let mut lines = self.lines.borrow_mut();
        let lines = match lines.entry(place.path.clone()) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let before = self.before.text(self.renames.path(&place.path))?;
                let after = self.after.text(&place.path)?;
                entry.insert(lines_before(&before, &after))
            }
        };
        *lines.get(place.line.checked_sub(1)? as usize)?
    }
}

fn by_path<T>(all: &[T], path: impl Fn(&T) -> &TreePath) -> BTreeMap<&TreePath, Vec<&T>> {
    let mut found: BTreeMap<&TreePath, Vec<&T>> = BTreeMap::new();
    for one in all {
        found.entry(path(one)).or_default().push(one);
    }
    found
}

/// For each line of `after`, 0-based, its line in `before`, 1-based. A changed line is that at the
/// same place of the changed lines.
fn lines_before(before: &str, after: &str) -> Vec<Option<u32>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let mut lines = vec![None; new.len()];
    for operation in similar::capture_diff_slices(Algorithm::Myers, &old, &new) {
        if matches!(operation, DiffOp::Delete { .. } | DiffOp::Insert { .. }) {
            continue;
        }
        let (old, new) = (operation.old_range(), operation.new_range());
        let last = old.end.saturating_sub(1);
        for (slot, at) in lines
            .iter_mut()
            .skip(new.start)
            .take(new.len())
            .zip(old.start..)
        {
            *slot = u32::try_from(at.min(last) + 1).ok();
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use coalesce_model::{ByteSpan, Evidence, Form, MemoryTexts, Safety};

    use super::*;

    #[test]
    fn a_line_after_leads_to_the_reference_before() {
        let before =
            MemoryTexts::fixture("//- p/a.py\nx = 1\nimport p.gpu\ny = p.gpu.f()\nz = 'p.gpu'\n");
        let after = MemoryTexts::fixture(
            "//- q/a.py\n# new\nx = 1\nimport q.gpu\ny = q.gpu.f()\nz = 'p.gpu'\n",
        );
        let (old, new) = (
            TreePath::new("p/a.py").unwrap(),
            TreePath::new("q/a.py").unwrap(),
        );
        let text = before.text(&old).unwrap();
        let span = |what: &str| {
            let at = text.find(what).unwrap();
            ByteSpan::from_range(at..at + what.len())
        };
        let rewrites = [Rewrite {
            path: old.clone(),
            span: span("p.gpu"),
            form: Form::Import,
            evidence: Evidence::Resolved,
            from: "p.gpu".into(),
            to: "q.gpu".into(),
            reason: "it moves".into(),
            safety: Safety::Safe,
        }];
        let left = [NotRewritten {
            path: old.clone(),
            span: span("'p.gpu'"),
            form: Form::String,
            name: "p.gpu".into(),
            why: "less than a full name".into(),
        }];
        let renames = Renames::new([], [(new.clone(), old)]);
        let blame = Blame::new(&before, &after, &renames, &rewrites, &left);
        for (line, expected) in [
            (1, None),
            (2, None),
            (3, Some((2, "q.gpu"))),
            (5, Some((4, "p.gpu"))),
            (99, None),
        ] {
            let cause = blame.cause(&[Place {
                path: new.clone(),
                line,
            }]);
            let found = cause.as_ref().map(|cause| (cause.line, cause.to.as_str()));
            assert_eq!(found, expected, "line {line}");
        }
        let outside = Place {
            path: TreePath::new("z.py").unwrap(),
            line: 1,
        };
        let inside = Place { path: new, line: 3 };
        assert!(
            blame.cause(&[outside, inside]).is_some(),
            "the first place with a change"
        );
    }
}
