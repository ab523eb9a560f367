//! Files that go by a plan, and folders of which nothing is left.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{LanguagePlan, Texts, TreePath};

/// Their paths, longest first: what has another place as a whole aside, and single words, which may be anything.
pub fn gone(
    files: &BTreeMap<TreePath, TreePath>,
    proposal: &LanguagePlan,
    whole: &[(String, String)],
    texts: &dyn Texts,
) -> Vec<String> {
    let going = Going::new(files, proposal);
    let deleted = proposal.deletes.iter().filter(|path| going.goes(path));
    let mut found: BTreeSet<TreePath> = deleted.cloned().collect();
    let left = files.keys().chain(&proposal.deletes);
    let mut folders: BTreeSet<TreePath> = left.filter_map(TreePath::parent).collect();
    while let Some(folder) = folders.pop_last() {
        if going.leaves_nothing(&folder, texts) {
            folders.extend(folder.parent());
            found.insert(folder);
        }
    }
    let has_place = |path: &String| whole.iter().any(|(from, _)| from == path);
    let found = found.into_iter().map(|path| path.as_str().to_owned());
    let mut found: Vec<String> = found
        .filter(|path| path.contains('/') && !has_place(path))
        .collect();
    found.sort_by(|a, b| (b.len(), a).cmp(&(a.len(), b)));
    found
}

/// What goes and what arrives.
struct Going<'p> {
    leaves: BTreeSet<&'p TreePath>,
    arrives: BTreeSet<&'p TreePath>,
}

impl<'p> Going<'p> {
    fn new(files: &'p BTreeMap<TreePath, TreePath>, proposal: &'p LanguagePlan) -> Self {
        let made = proposal.creates.iter().map(|new| &new.path);
        Self {
            leaves: files.keys().chain(&proposal.deletes).collect(),
            arrives: made.chain(files.values()).collect(),
        }
    }

    fn goes(&self, path: &TreePath) -> bool {
        self.leaves.contains(path) && !self.arrives.contains(path)
    }

    fn leaves_nothing(&self, folder: &TreePath, texts: &dyn Texts) -> bool {
        let inside = |path: &TreePath| path.strip_prefix(folder).is_some();
        let mut own = texts.paths().iter().filter(|path| inside(path));
        !folder.is_root()
            && own.all(|path| self.goes(path))
            && !self.arrives.iter().any(|path| inside(path))
    }
}
