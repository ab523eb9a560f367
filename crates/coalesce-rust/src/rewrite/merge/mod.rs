//! A module that gives way while items of it move to the module in its place: what becomes of
//! everything in it, worked out before anything moves.
//!
//! What the other module has takes the place of the old one's; what is said to move and what that
//! needs moves; `impl`s and methods that only the old one has go along; tests go under the new
//! module; the rest goes, and is listed. What cannot be kept is refused by name. The texts that go
//! are taken out here (`Survey::clearing`); `items` and the stage of the modules do the rest.

mod carried_tests;
mod freed_imports;
mod home;
mod impls;
mod reexports;
mod shown_members;
mod statements;
mod supersede;
mod types;

use std::collections::BTreeMap;

use coalesce_model::{
    ByteSpan, Change, ChangeKind, Edit, Finding, LanguagePlan, Subject, Texts, TreePath,
};

pub(super) use impls::{head_at as impl_head, member_name};
pub(super) use types::derived;

use super::{declarations::joined, shims::Forward};
use crate::RustGraph;

/// What becomes of the modules that give way.
#[derive(Default)]
pub(super) struct Survey {
    /// Every item that moves or gives way.
    pub items: Vec<Change>,
    /// The modules that they leave, by name.
    pub homes: Vec<String>,
    /// Texts that go, and tests that change their module.
    pub clearing: LanguagePlan,
    /// Public names that a shim goes on having.
    pub forwards: Vec<Forward>,
}

/// The modules among the changes that give way, and of whose items something is said.
pub(super) fn merges(changes: &[Change]) -> Vec<Change> {
    let items = || {
        let items = changes.iter();
        items.filter(|change| change.subject == Subject::Item)
    };
    let merged = changes.iter().filter(|change| {
        change.subject == Subject::Module
            && matches!(change.kind, ChangeKind::Replace { .. })
            && items().any(|item| parent(&item.from) == Some(change.from.as_str()))
    });
    merged.cloned().collect()
}

/// The merge that speaks for the module of an item.
pub(super) fn home_of<'c>(merges: &'c [Change], item: &Change) -> Option<&'c Change> {
    merges
        .iter()
        .find(|merge| parent(&item.from) == Some(merge.from.as_str()))
}

fn parent(name: &str) -> Option<&str> {
    name.rsplit_once("::").map(|(parent, _)| parent)
}

/// Works out what becomes of the `merges`, of whose items `said` speaks; `modules` are the changes
/// of modules of the whole migration.
pub(super) fn survey(
    graph: &RustGraph,
    (merges, said): (&[Change], &[Change]),
    modules: &[Change],
    texts: &dyn Texts,
) -> Survey {
    let mut survey = Survey::default();
    let world = &graph.world;
    let mut edits = Edits::default();
    for merge in merges {
        let made = (&mut survey, &mut edits);
        home::work(world, (merge, said), modules, texts, made);
        survey.homes.push(merge.from.clone());
    }
    for change in said {
        if home_of(merges, change).is_none() {
            survey.items.push(Change {
                to: before(modules, &change.to),
                kind: ChangeKind::Move,
                ..change.clone()
            });
        }
        if change.kind == ChangeKind::Supersede {
            let change = Change {
                to: before(modules, &change.to),
                ..change.clone()
            };
            let found = supersede::clear(graph, &change, texts, &mut edits);
            survey.clearing.refusals.extend(found.refusals);
            survey.clearing.notes.extend(found.notes);
        }
    }
    survey.clearing.edits = edits.joined();
    survey.clearing.refusals.sort();
    survey.clearing.refusals.dedup();
    survey
}

/// The name in the tree before of a place that a module which moves brings.
fn before(modules: &[Change], to: &str) -> String {
    let moved = modules.iter().filter(|one| one.kind == ChangeKind::Move);
    let around = moved.filter_map(|one| {
        let rest = to.strip_prefix(one.to.as_str())?;
        (rest.is_empty() || rest.starts_with("::")).then_some((one, rest))
    });
    let nearest = around.max_by_key(|(one, _)| one.to.len());
    nearest.map_or_else(
        || to.to_owned(),
        |(one, rest)| format!("{}{rest}", one.from),
    )
}

/// Edits by file.
#[derive(Default)]
struct Edits(BTreeMap<TreePath, Vec<Edit>>);

impl Edits {
    fn push(&mut self, path: TreePath, edit: Edit) {
        self.0.entry(path).or_default().push(edit);
    }

    /// Takes whole lines out.
    fn cut(&mut self, path: TreePath, text: &str, span: ByteSpan) {
        let span = super::lines::with_comments_above(text, span);
        let edit = Edit::delete(super::lines::removal(text, span));
        self.push(path, edit);
    }

    /// Disjoint edits: deletions that meet are one, and what stands inside of one goes with it.
    fn joined(self) -> BTreeMap<TreePath, Vec<Edit>> {
        let mut found = BTreeMap::new();
        for (path, edits) in self.0 {
            let (mut gone, rest): (Vec<Edit>, Vec<Edit>) = edits
                .into_iter()
                .partition(|edit| edit.text.is_empty() && !edit.span.is_empty());
            gone.sort();
            let mut whole: Vec<Edit> = Vec::new();
            for edit in gone {
                push_deletion(&mut whole, edit);
            }
            let stays = |edit: &Edit| {
                !whole
                    .iter()
                    .any(|gone| gone.span.start < edit.span.start && edit.span.end < gone.span.end)
            };
            let mut all: Vec<Edit> = rest.into_iter().filter(stays).collect();
            all.extend(whole.iter().cloned());
            found.insert(path, joined(all));
        }
        found
    }
}

/// Something that the reader should know.
fn note(path: TreePath, span: ByteSpan, message: String) -> Finding {
    Finding::note(path, message).at(span)
}

/// Adds the next deletion, as one with the last where both meet.
fn push_deletion(whole: &mut Vec<Edit>, edit: Edit) {
    match whole.last_mut() {
        Some(last) if edit.span.start <= last.span.end => last.span = last.span.cover(edit.span),
        _ => whole.push(edit),
    }
}
