//! What bodies of macros that stay name, for the calls in what moves and for those in what it leaves.

use std::collections::BTreeMap;

use coalesce_model::{ByteSpan, Edit, TreePath};

use super::{
    super::{expansions, place::Place},
    moving::Set,
    scan::{Left, Scan},
};
use crate::{
    facts::Origin,
    resolve::{ExpandedCall, UseSite},
};

/// Adds to a scan what bodies of macros ask for.
pub(super) fn settle(set: &Set<'_>, scan: &mut Scan) {
    let files = scan.files.iter();
    let known: BTreeMap<TreePath, Vec<Edit>> = files
        .map(|(file, work)| (set.path(*file), work.edits.clone()))
        .collect();
    let mut made = expansions::settle(set, &known);
    for (path, edits) in made.edits {
        if let Some(file) = set.world().file_at(&path) {
            scan.files.entry(file).or_default().edits.extend(edits);
        }
    }
    scan.told.needs.append(&mut made.needs);
    scan.told.rewrites.append(&mut made.rewrites);
    scan.told.unproven.append(&mut made.unproven);
    scan.used_imports.extend(made.used);
    scan.freed_imports.extend(made.freed);
    for (at, user) in made.users {
        note_user(scan, at, user);
    }
    let left = made.left.into_iter();
    scan.left
        .extend(left.filter_map(|(moving, call)| left_behind(set, moving, call)));
    scan.borrows.append(&mut made.lent);
}

/// Notes who has what moves by a macro: who calls the macro around a path goes by it as well.
fn note_user(scan: &mut Scan, moving: usize, user: Place) {
    if let Some(by_path) = scan.by_path.get_mut(&moving) {
        by_path.insert(user.clone());
    }
    scan.users.entry(moving).or_default().insert(user);
}

/// A call in the old module of what left: its name is one that a macro says.
fn left_behind(set: &Set<'_>, moving: usize, call: ExpandedCall) -> Option<Left> {
    let world = set.world();
    let module = world.module_of(call.space);
    let body = world.body_in(module, call.file)?;
    Some(Left {
        moving,
        file: call.file,
        site: UseSite::Path(u32::MAX),
        span: ByteSpan::empty(call.at),
        origin: Origin::MacroTokens,
        body,
        here: set.mapping.after(module),
    })
}
