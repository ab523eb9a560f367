//! Links and devices of a tree that changes: they stay as they are, and nothing is written through
//! them. What a link leads to is not read.

use std::collections::BTreeSet;

use coalesce_model::{Finding, Refusal, Severity, Texts as _, TreePath, finding::codes};
use coalesce_plan::{Assembled, Operation};

use crate::Session;

/// Refuses what would have to be done to links, and says which stay behind.
pub fn look_at(session: &Session, assembled: &mut Assembled) {
    let links = moved_links(session, &assembled.operations);
    assembled.refusals.extend(links);
    let led = led_to(session, &assembled.operations);
    assembled.refusals.extend(led);
    let left = left_links(session, &mut assembled.operations);
    let (refused, noted): (Vec<Finding>, Vec<Finding>) = left
        .into_iter()
        .partition(|finding| finding.severity == Severity::Error);
    assembled.refusals.extend(refused);
    assembled.notes.extend(noted);
}

/// Links and devices in a directory that moves: nothing is written through a link, and what one
/// leads to from the new place is not for us to say.
fn moved_links(session: &Session, operations: &[Operation]) -> Vec<Finding> {
    let files = session.tree.files();
    let odd: BTreeSet<&TreePath> = files
        .iter()
        .filter(|file| file.kind != coalesce_tree::FileKind::Plain)
        .map(|file| &file.path)
        .collect();
    let moved = operations.iter().filter_map(|operation| match operation {
        Operation::Move { from, .. } => odd.get(from),
        _ => None,
    });
    moved
        .map(|path| Refusal::LinkWouldMove.at(path, None))
        .collect()
}

/// Files that leave their place while a link leads to them, or to the folder that they are all of: what is
/// read through it, as `alias.py -> old.py` is, would be gone.
fn led_to(session: &Session, operations: &[Operation]) -> Vec<Finding> {
    let left: BTreeSet<&TreePath> = operations
        .iter()
        .filter_map(|operation| match operation {
            Operation::Move { from: path, .. } | Operation::Delete { path } => Some(path),
            _ => None,
        })
        .collect();
    if left.is_empty() {
        return Vec::new();
    }
    let files = session.tree.files();
    let links = files
        .iter()
        .filter(|file| file.kind == coalesce_tree::FileKind::Link);
    let led = links.filter_map(|file| {
        let target = target(session, &file.path)?;
        let is_inside = |path: &&TreePath| path.strip_prefix(&target).is_some();
        let mut below = files.iter().map(|file| &file.path).filter(is_inside);
        let gone = left.iter().copied().find(is_inside)?;
        let refusal = Refusal::LinkLeadsHere {
            link: file.path.clone(),
        };
        let all = below.all(|path| left.contains(path));
        (all && !left.contains(&file.path)).then(|| refusal.at(gone, None))
    });
    led.collect()
}

/// What a link leads to in the end, inside of the tree.
fn target(session: &Session, link: &TreePath) -> Option<TreePath> {
    let root = session.tree.root().canonicalize().ok()?;
    let real = root.join(link.as_str()).canonicalize().ok()?;
    TreePath::new(real.strip_prefix(&root).ok()?.to_str()?).ok()
}

/// Links in a folder that goes: they stay, since nothing is done to what is no plain file. Where a
/// workspace takes every folder of a pattern for a member, one without a manifest must not stay.
fn left_links(session: &Session, operations: &mut Vec<Operation>) -> Vec<Finding> {
    let files = session.tree.files();
    let odd: BTreeSet<&TreePath> = files
        .iter()
        .filter(|file| file.kind != coalesce_tree::FileKind::Plain)
        .map(|file| &file.path)
        .collect();
    let mut left = Vec::new();
    operations.retain(|operation| match operation {
        Operation::Delete { path } if odd.contains(path) => {
            left.push(Finding {
                code: codes::LINK_IN_THE_WAY,
                severity: if by_pattern(session, path) {
                    Severity::Error
                } else {
                    Severity::Warning
                },
                path: path.clone(),
                span: None,
                message: "its folder goes, and this stays: it is no plain file".to_owned(),
                help: Some("remove it by hand".to_owned()),
            });
            false
        }
        _ => true,
    });
    left
}

/// Whether a workspace around a path has members by a pattern.
fn by_pattern(session: &Session, path: &TreePath) -> bool {
    let mut at = path.parent();
    while let Some(here) = at {
        let text = here
            .join("Cargo.toml")
            .ok()
            .and_then(|manifest| session.tree.text(&manifest));
        let members = text.as_deref().and_then(|text| text.split_once("members"));
        let list = members.and_then(|(_, rest)| rest.split_once(']'));
        if list.is_some_and(|(list, _)| list.contains('*')) {
            return true;
        }
        at = here.parent();
    }
    false
}
