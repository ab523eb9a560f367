//! What fails after and did not before, names and paths that the migration changes aside.

use std::collections::BTreeMap;

use coalesce_model::TreePath;

use crate::check::{Failure, Outcome};

/// How things are called after, and were before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Renames {
    /// `(after, before)` of full names of modules; longer ones first.
    names: Vec<(String, String)>,
    /// Path after → path before, of moved files.
    paths: BTreeMap<TreePath, TreePath>,
}

impl Renames {
    /// Renames from `(after, before)` pairs of names and of paths.
    #[must_use]
    pub fn new(
        names: impl IntoIterator<Item = (String, String)>,
        paths: impl IntoIterator<Item = (TreePath, TreePath)>,
    ) -> Self {
        let mut names: Vec<_> = names
            .into_iter()
            .filter(|(after, before)| after != before)
            .collect();
        names.sort_by(|(a, _), (b, _)| (b.len(), a).cmp(&(a.len(), b)));
        names.dedup();
        let paths = paths.into_iter().collect();
        Self { names, paths }
    }

    /// The path before of a file after.
    #[must_use]
    pub fn path<'p>(&'p self, after: &'p TreePath) -> &'p TreePath {
        self.paths.get(after).unwrap_or(after)
    }

    /// A text with the names that it would have had before.
    #[must_use]
    pub fn text(&self, after: &str) -> String {
        let mut text = after.to_owned();
        let paths = self.paths.iter();
        let paths = paths.map(|(after, before)| (after.as_str(), before.as_str()));
        let names = self
            .names
            .iter()
            .map(|(after, before)| (after.as_str(), before.as_str()));
        for (after, before) in names.chain(paths) {
            text = replace_words(&text, after, before);
        }
        text
    }
}

/// Replaces a name where it stands for itself: not as a part of a longer name.
fn replace_words(text: &str, name: &str, by: &str) -> String {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let mut result = String::new();
    let mut done = 0;
    for (at, _) in text.match_indices(name) {
        if at < done {
            continue;
        }
        let before = text.get(..at).and_then(|head| head.chars().next_back());
        let after = text
            .get(at + name.len()..)
            .and_then(|tail| tail.chars().next());
        if before.is_some_and(part) || after.is_some_and(part) {
            continue;
        }
        result.push_str(text.get(done..at).unwrap_or_default());
        result.push_str(by);
        done = at + name.len();
    }
    result.push_str(text.get(done..).unwrap_or_default());
    result
}

/// The failures of `after` that `before` does not have, and how many both have.
#[must_use]
pub fn compare<'a>(
    before: &Outcome,
    after: &'a Outcome,
    renames: &Renames,
) -> (Vec<&'a Failure>, usize) {
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for failure in &before.failures {
        let place = failure.places.first().map(|place| &place.path);
        *known.entry(identity(&failure.key, place)).or_default() += 1;
    }
    let mut new = Vec::new();
    for failure in &after.failures {
        let place = failure
            .places
            .first()
            .map(|place| renames.path(&place.path));
        let identity = identity(&renames.text(&failure.key), place);
        match known.get_mut(&identity).filter(|left| **left > 0) {
            Some(left) => *left -= 1,
            None => new.push(failure),
        }
    }
    let both = after.failures.len() - new.len();
    (new, both)
}

fn identity(key: &str, place: Option<&TreePath>) -> String {
    place.map_or_else(|| key.to_owned(), |place| format!("{key} in {place}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Place;

    fn path(text: &str) -> TreePath {
        TreePath::new(text).unwrap()
    }

    fn failures(all: &[(&str, &str)]) -> Outcome {
        let failure = |(key, file): &(&str, &str)| Failure {
            subject: String::new(),
            key: (*key).to_owned(),
            message: String::new(),
            places: vec![Place {
                path: path(file),
                line: 1,
            }],
            suggestions: Vec::new(),
            settled: true,
        };
        Outcome {
            failures: all.iter().map(failure).collect(),
            ..Outcome::default()
        }
    }

    #[test]
    fn a_failure_is_known_by_its_old_name() {
        let renames = Renames::new(
            [
                ("q.gpu".to_owned(), "p.gpu".to_owned()),
                ("q.gpu.pool".to_owned(), "p.pool".to_owned()),
            ],
            [(path("q/gpu.py"), path("p/gpu.py"))],
        );
        for (before, after, new) in [
            (
                &[("E p.gpu", "p/gpu.py")][..],
                &[("E q.gpu", "q/gpu.py")][..],
                0,
            ),
            (&[("E p.pool.X", "a.py")], &[("E q.gpu.pool.X", "a.py")], 0),
            // The name is part of another one.
            (&[("E p.gpu_x", "a.py")], &[("E q.gpu_x", "a.py")], 1),
            // The same message in another file, and once more than before.
            (&[("E", "a.py")], &[("E", "b.py")], 1),
            (&[("E", "a.py")], &[("E", "a.py"), ("E", "a.py")], 1),
            (&[("E", "a.py")], &[], 0),
        ] {
            let (before, after) = (failures(before), failures(after));
            let (found, both) = compare(&before, &after, &renames);
            assert_eq!(found.len(), new, "{after:?}");
            assert_eq!(found.len() + both, after.failures.len());
        }
    }
}
