//! Files that go by a plan, and folders of which nothing is left.

use std::collections::BTreeSet;

use coalesce_model::{LanguagePlan, Texts, TreePath};

/// Their paths, longest first: what has another place as a whole aside, and single words, which may be anything.
pub fn gone(proposal: &LanguagePlan, whole: &[(String, String)], texts: &dyn Texts) -> Vec<String> {
    let leaving = proposal.leaving_paths();
    let deleted = proposal.deletes.iter();
    let mut found: BTreeSet<TreePath> = deleted
        .filter(|path| leaving.contains(path))
        .cloned()
        .collect();
    found.extend(emptied(&leaving, proposal, texts));
    let has_place = |path: &String| whole.iter().any(|(from, _)| from == path);
    let found = found.into_iter().map(|path| path.as_str().to_owned());
    let mut found: Vec<String> = found
        .filter(|path| path.contains('/') && !has_place(path))
        .collect();
    found.sort_by(|a, b| (b.len(), a).cmp(&(a.len(), b)));
    found
}

/// The folders around what leaves in which nothing is left.
fn emptied(
    leaving: &BTreeSet<&TreePath>,
    proposal: &LanguagePlan,
    texts: &dyn Texts,
) -> BTreeSet<TreePath> {
    let mut emptied = folders_of(leaving.iter().copied());
    let made = proposal.creates.iter().map(|new| &new.path);
    let arriving = made.chain(proposal.moves.iter().map(|file| &file.to));
    let staying = texts.paths().iter().filter(|path| !leaving.contains(path));
    for folder in folders_of(staying.chain(arriving)) {
        emptied.remove(&folder);
    }
    emptied
}

/// The folders around some paths, the root aside.
fn folders_of<'p>(paths: impl Iterator<Item = &'p TreePath>) -> BTreeSet<TreePath> {
    let mut found = BTreeSet::new();
    for path in paths {
        let mut folder = path.parent();
        // Whatever is around a known one is known, too.
        while let Some(here) = folder.filter(|here| !here.is_root() && !found.contains(here)) {
            folder = here.parent();
            found.insert(here);
        }
    }
    found
}
