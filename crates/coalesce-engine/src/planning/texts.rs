//! The texts that a plan gives to files, to be edited once more.

use coalesce_model::{Edit, EditSet, Texts, TreePath};
use coalesce_plan::Operation;

/// Edits the text that a plan gives to a file; `None` where the edits do not fit it.
pub(super) fn edit(
    operations: &mut Vec<Operation>,
    path: &TreePath,
    edits: Vec<Edit>,
    tree: &dyn Texts,
) -> Option<()> {
    let text = text_in(operations, path, tree)?;
    let edits = EditSet::from_edits(text, edits).ok()?;
    *text = edits.apply(text).ok()?;
    Some(())
}

/// The text that a plan gives to a file, also to one that it has left alone so far.
fn text_in<'o>(
    operations: &'o mut Vec<Operation>,
    path: &TreePath,
    tree: &dyn Texts,
) -> Option<&'o mut String> {
    let has = |operation: &mut Operation| text_at(operation, path, tree).is_some();
    let at = match operations.iter_mut().position(has) {
        Some(at) => at,
        None => {
            operations.push(Operation::Edit {
                path: path.clone(),
                text: tree.text(path)?.to_string(),
            });
            operations.len() - 1
        }
    };
    text_at(operations.get_mut(at)?, path, tree)
}

/// The text that an operation gives to a file.
fn text_at<'o>(
    operation: &'o mut Operation,
    path: &TreePath,
    tree: &dyn Texts,
) -> Option<&'o mut String> {
    match operation {
        Operation::Move { from, to, text } if to == path => {
            let kept = || tree.text(from).map(|text| text.to_string());
            match text {
                Some(text) => Some(text),
                None => Some(text.insert(kept()?)),
            }
        }
        Operation::Create {
            path: own, text, ..
        }
        | Operation::Edit { path: own, text }
            if own == path =>
        {
            Some(text)
        }
        _ => None,
    }
}
