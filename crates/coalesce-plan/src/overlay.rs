//! The tree as a plan would leave it, over the tree as it is.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use coalesce_model::{Overlay, Texts, TreePath};

use crate::Operation;

/// The tree `base` after `operations`.
#[must_use]
pub fn planned_tree<'a>(base: &'a dyn Texts, operations: &[Operation]) -> Overlay<'a> {
    let mut gone: BTreeSet<&TreePath> = BTreeSet::new();
    let mut there: BTreeSet<TreePath> = BTreeSet::new();
    let mut changed = BTreeMap::new();
    let mut moved = BTreeMap::new();
    for operation in operations {
        match operation {
            Operation::Move { from, to, text } => {
                gone.insert(from);
                there.insert(to.clone());
                let text = text.as_deref().map(Arc::from);
                moved.extend(text.is_none().then(|| (to.clone(), from.clone())));
                changed.extend(text.map(|text| (to.clone(), text)));
            }
            Operation::Delete { path } => drop(gone.insert(path)),
            Operation::Create { path, text, .. } | Operation::Edit { path, text } => {
                there.insert(path.clone());
                changed.insert(path.clone(), Arc::from(text.as_str()));
            }
        }
    }
    let stay = base.paths().iter().filter(|path| !gone.contains(path));
    there.extend(stay.cloned());
    Overlay::new(base, there, changed, moved)
}
