//! What an operation of a plan reads and writes.

use coalesce_model::TreePath;
use coalesce_plan::Operation;

/// The path before of a file that was there.
pub const fn path_before(operation: &Operation) -> Option<&TreePath> {
    match operation {
        Operation::Move { from, .. } => Some(from),
        Operation::Edit { path, .. } => Some(path),
        Operation::Create { .. } | Operation::Delete { .. } => None,
    }
}

/// The path of what it leaves, or removes.
pub const fn path_after(operation: &Operation) -> &TreePath {
    match operation {
        Operation::Move { to, .. } => to,
        Operation::Create { path, .. }
        | Operation::Edit { path, .. }
        | Operation::Delete { path } => path,
    }
}

/// Puts another text in the place of the one that it writes.
pub fn set_text(operation: &mut Operation, new: String) {
    match operation {
        Operation::Move { text, .. } => *text = Some(new),
        Operation::Create { text, .. } | Operation::Edit { text, .. } => *text = new,
        Operation::Delete { .. } => {}
    }
}
