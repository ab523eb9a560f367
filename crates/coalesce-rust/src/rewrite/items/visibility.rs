//! Who has to see the items that leave: the visibilities that they are written with.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Edit, Finding, TreePath, finding::codes};

use super::{
    super::{
        place::Place,
        public::{is_reachable_after, severity_of_widening},
    },
    moving::{Chunk, Moving, Set, is_bound_public},
    scan::Scan,
};
use crate::{
    facts::{ItemKind, Visibility, VisibilityKind},
    resolve::{FileId, ModuleId},
};

/// What widening takes.
#[derive(Default)]
pub(in crate::rewrite) struct ItemVisibility {
    pub edits: BTreeMap<TreePath, Vec<Edit>>,
    pub notes: Vec<Finding>,
    /// Starts of the texts in which something becomes `pub`.
    pub shown: BTreeSet<(FileId, ByteSpan)>,
}

/// The visibilities of what moves.
pub(in crate::rewrite) fn widen(set: &Set<'_>, scan: &Scan) -> ItemVisibility {
    let mut made = ItemVisibility::default();
    for chunk in &set.chunks {
        made.definition(set, scan, chunk);
    }
    made
}

/// What a moved item says before its keyword, a space behind it; `None` to leave what it says.
fn visibility(
    set: &Set<'_>,
    moving: &Moving<'_>,
    users: &BTreeSet<Place>,
    written: Visibility,
) -> Option<String> {
    let mut reach = Some(moving.to.clone());
    for user in users {
        reach = reach.and_then(|reach| reach.common(user));
    }
    let Some(reach) = reach else {
        return (written.kind != VisibilityKind::Public).then(|| "pub ".to_owned());
    };
    let crosses = set.mapping.krate(moving.home) != moving.to.krate;
    match written.kind {
        VisibilityKind::Public if is_narrowed(set, moving) => Some("pub(crate) ".to_owned()),
        VisibilityKind::Public => None,
        VisibilityKind::Crate if !crosses => None,
        _ => Some(reach.visibility(&moving.to)),
    }
}

impl ItemVisibility {
    fn definition(&mut self, set: &Set<'_>, scan: &Scan, chunk: &Chunk) {
        let moving = set.moving(chunk.moving);
        let Some(at) = chunk.definition else {
            return;
        };
        if moving.gives_way() || moving.rules.is_some() {
            return;
        }
        let said = set.world().facts(chunk.file).item(at).visibility;
        if said.kind == VisibilityKind::Public && shows(set, moving) {
            self.shown.insert((chunk.file, chunk.span));
        }
        let nobody = BTreeSet::new();
        let users = scan.users.get(&chunk.moving).unwrap_or(&nobody);
        let Some(text) = visibility(set, moving, users, said) else {
            let is_shown_publicly = said.kind == VisibilityKind::Public && shows(set, moving);
            let place = (set.path(chunk.file), said.span);
            let of_one_crate = set.mapping.krate(moving.home) == moving.to.krate;
            self.notes.extend(
                (is_shown_publicly && of_one_crate).then(|| public_anew(set, moving, place)),
            );
            return;
        };
        let path = set.path(chunk.file);
        let edits = self.edits.entry(path.clone()).or_default();
        edits.extend(edit(said.span, &text));
        if text == "pub " {
            self.shown.insert((chunk.file, chunk.span));
        }
        if !text.is_empty() {
            self.notes.push(note(set, moving, (path, said.span), &text));
        }
    }
}

/// Says another visibility in the place of one.
fn edit(said: ByteSpan, text: &str) -> Option<Edit> {
    match (said.is_empty(), text.is_empty()) {
        (true, true) => None,
        (true, false) => Some(Edit::insert(said.start, text.to_owned())),
        (false, true) => Some(Edit::delete(ByteSpan::new(said.start, said.end + 1))),
        (false, false) => Some(Edit::replace(said, text.trim_end())),
    }
}

fn note(
    set: &Set<'_>,
    moving: &Moving<'_>,
    (path, span): (TreePath, ByteSpan),
    text: &str,
) -> Finding {
    let message = format!(
        "`{}` becomes {}, because its users are elsewhere",
        set.name_after(moving),
        text.trim_end()
    );
    Finding {
        code: codes::UNSAFE_CHANGE,
        severity: severity_of_widening(set.mapping, &moving.to, text),
        path,
        span: Some(span),
        message,
        help: None,
    }
}

/// Says that other crates come to have a name which they had not, since its module is public.
fn public_anew(set: &Set<'_>, moving: &Moving<'_>, (path, span): (TreePath, ByteSpan)) -> Finding {
    let message = format!(
        "`{}` becomes a name of the library: it stood where other crates do not see it",
        set.name_after(moving)
    );
    Finding {
        code: codes::UNSAFE_CHANGE,
        severity: severity_of_widening(set.mapping, &moving.to, "pub "),
        path,
        span: Some(span),
        message,
        help: Some("`pub(crate)` keeps it inside, where no public signature says it".to_owned()),
    }
}

/// Where other crates can no longer name an item, though modules are `opened`.
pub(in crate::rewrite) fn lost(set: &Set<'_>, opened: &[ModuleId]) -> Vec<Finding> {
    let mut found = Vec::new();
    for chunk in &set.chunks {
        let moving = set.moving(chunk.moving);
        if !loses_others(set, chunk, opened) {
            continue;
        }
        let message = format!(
            "other crates could name `{}`, and cannot name `{}`: `{}` is not public",
            moving.change.from,
            set.name_after(moving),
            set.mapping.name_of(&moving.to)
        );
        let help = "re-export it, or make its new module `pub`".to_owned();
        found.push(Finding::warning(set.path(chunk.file), message).with_help(help));
    }
    found
}

/// Whether other crates can name what a text defines before, and not after.
fn loses_others(set: &Set<'_>, chunk: &Chunk, opened: &[ModuleId]) -> bool {
    let moving = set.moving(chunk.moving);
    let moves = !moving.gives_way() && moving.rules.is_none();
    let Some(at) = chunk.definition.filter(|_| moves) else {
        return false;
    };
    let written = set.world().facts(chunk.file).item(at).visibility;
    let home = set.mapping.after(moving.home);
    written.kind == VisibilityKind::Public
        && is_reachable_after(set.mapping, &home, &[])
        && set.mapping.at(&moving.to).is_some()
        && !is_reachable_after(set.mapping, &moving.to, opened)
}

/// Whether `pub` would show to other crates what they could not name before. Types keep their
/// `pub`: interfaces may be made of them.
fn is_narrowed(set: &Set<'_>, moving: &Moving<'_>) -> bool {
    let value = matches!(
        moving.kind,
        ItemKind::Function | ItemKind::Const | ItemKind::Static
    );
    value
        && set.mapping.krate(moving.home) == moving.to.krate
        && is_reachable_after(set.mapping, &moving.to, &[])
        && !is_reachable(set, moving)
}

/// Whether other crates can name what moves, and could not before.
fn shows(set: &Set<'_>, moving: &Moving<'_>) -> bool {
    is_reachable_after(set.mapping, &moving.to, &[]) && !is_reachable(set, moving)
}

/// Whether other crates could name what moves, or it is re-exported as if they could.
pub(super) fn is_reachable(set: &Set<'_>, moving: &Moving<'_>) -> bool {
    let home = set.mapping.after(moving.home);
    is_bound_public(set.world(), moving.home, moving.item)
        && (is_reachable_after(set.mapping, &home, &[]) || set.world().is_reexported(moving.item))
}
