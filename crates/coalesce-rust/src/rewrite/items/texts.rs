//! Places that name an item or a file by text: strings with full names, files that moved text
//! includes.

use coalesce_model::{ByteSpan, Edit, Evidence, Form, Rewrite, Safety, TreePath};

use super::{
    super::{mentions, structure::Structure},
    moving::{Chunk, Set},
    scan::Scan,
};
use crate::{facts::Include, resolve::FileId};

/// Adds the edits of strings and includes.
pub(super) fn rewrite(set: &Set<'_>, structure: &Structure, scan: &mut Scan) {
    let world = set.world();
    for at in 0..world.files.len() {
        let file = FileId(u32::try_from(at).unwrap_or(u32::MAX));
        let Some(facts) = world.facts(file) else {
            continue;
        };
        for string in &facts.strings {
            if let Some((from, to)) = mentions::full_name(set.mapping, &string.value) {
                let forms = (Form::String, Evidence::ExactName);
                replace(set, scan, (file, string.span), forms, (from, to));
            }
        }
        for include in &facts.includes {
            let chunk = set.chunk_at(file, include.span.start);
            let text = chunk.and_then(|chunk| included(set, structure, chunk, include));
            if let Some(to) = text {
                let forms = (Form::FilePath, Evidence::ExactPath);
                let from = include.value.to_string();
                replace(set, scan, (file, include.span), forms, (from, to));
            }
        }
    }
}

fn replace(
    set: &Set<'_>,
    scan: &mut Scan,
    (file, span): (FileId, ByteSpan),
    (form, evidence): (Form, Evidence),
    (from, to): (String, String),
) {
    let work = scan.files.entry(file).or_default();
    let meets = |edit: &Edit| edit.span.start < span.end && span.start < edit.span.end;
    if work.edits.iter().any(meets) {
        return;
    }
    work.edits.push(Edit::replace(span, to.clone()));
    scan.rewrites.push(Rewrite {
        path: set.path(file),
        span,
        form,
        evidence,
        from,
        to,
        reason: "names what moves, or leads on from it".to_owned(),
        safety: Safety::NeedsReview,
    });
}

/// The path of an included file from the new place.
fn included(
    set: &Set<'_>,
    structure: &Structure,
    chunk: &Chunk,
    include: &Include,
) -> Option<String> {
    let moving = set.moving(chunk.moving)?;
    if include.from_manifest || set.is_dropped(chunk) {
        return None;
    }
    let old = set.path(chunk.file).parent()?;
    let new = match structure.made.get(&moving.to) {
        Some(made) => made.file.parent()?,
        None => file_of(set, chunk)?.parent()?,
    };
    let target = old.join(&include.value).ok()?;
    let text = target.relative_to(&new);
    (old != new && text != *include.value).then_some(text)
}

fn file_of(set: &Set<'_>, chunk: &Chunk) -> Option<TreePath> {
    let moving = set.moving(chunk.moving)?;
    set.mapping.file_of(set.mapping.at(&moving.to)?)
}
