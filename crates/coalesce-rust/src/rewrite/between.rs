//! The tree between two stages of a migration, and both stages told as one change of the tree as it
//! is.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use coalesce_model::{
    ByteSpan, Edit, EditSet, FileMove, Finding, LanguagePlan, Overlay, Texts, TreePath, Unproven,
};

use super::{mapping::refusal, packages::difference};
use crate::{Facts, Rust, RustGraph, resolve::World};
use coalesce_model::Language as _;

/// The tree that one stage leaves, for the next one.
pub(super) struct Between<'a> {
    tree: Overlay<'a>,
    /// What the edits that led here moved, by path now.
    shifts: BTreeMap<TreePath, Shifts>,
    /// Files that came into being.
    made: BTreeSet<TreePath>,
}

impl<'a> Between<'a> {
    pub fn new(base: &'a dyn Texts, plan: &LanguagePlan) -> Result<Self, Finding> {
        let after: BTreeMap<&TreePath, &TreePath> =
            plan.moves.iter().map(|one| (&one.from, &one.to)).collect();
        let (mut changed, mut shifts) = (BTreeMap::new(), BTreeMap::new());
        for (path, edits) in &plan.edits {
            let now = after.get(path).copied().unwrap_or(path).clone();
            let text = base.text(path).unwrap_or_else(|| Arc::from(""));
            let new = EditSet::from_edits(&text, edits.clone())
                .and_then(|set| set.apply(&text))
                .map_err(|error| refusal(path.clone(), error.to_string()))?;
            changed.insert(now.clone(), Arc::from(new));
            shifts.insert(now, Shifts::of(edits));
        }
        for file in &plan.creates {
            changed.insert(file.path.clone(), Arc::from(file.text.as_str()));
        }
        let paths = paths_after(base, plan, &after);
        let before = after.iter();
        let before = before.map(|(from, to)| ((*to).clone(), (*from).clone()));
        Ok(Self {
            tree: Overlay::new(base, paths, changed, before.collect()),
            shifts,
            made: plan.creates.iter().map(|file| file.path.clone()).collect(),
        })
    }

    /// Its files and texts.
    pub const fn tree(&self) -> &Overlay<'a> {
        &self.tree
    }

    /// This tree, resolved; what did not change is not read again.
    pub fn graph(&self, world: &World) -> RustGraph {
        let language = Rust;
        let paths = self.tree.paths().iter();
        let own = paths.filter(|path| language.claims(path));
        let files = own.filter_map(|path| Some((path.clone(), self.facts(world, path)?)));
        let files: Vec<(TreePath, Arc<Facts>)> = files.collect();
        language.resolve(
            &files,
            self.tree.paths(),
            &coalesce_model::Settings::default(),
        )
    }

    /// The facts of a file, read where its text is new.
    fn facts(&self, world: &World, path: &TreePath) -> Option<Arc<Facts>> {
        let known = world.file_at(self.tree.path_before(path));
        if let Some(known) = known.filter(|_| !self.tree.has_new_text(path)) {
            return Some(Arc::clone(&world[known].facts));
        }
        let text = self.tree.text(path)?;
        Some(Arc::new(Rust.facts(path, &text)))
    }

    /// Both plans as one against the tree as it is.
    pub fn joined(&self, mut first: LanguagePlan, second: LanguagePlan) -> LanguagePlan {
        for (path, edits) in second.edits {
            self.edited(&mut first, path, edits);
        }
        for one in second.moves {
            self.moved(&mut first, &one);
        }
        for path in second.deletes {
            self.deleted(&mut first, path);
        }
        first.creates.extend(second.creates);
        let rewrites = second.rewrites.into_iter().map(|one| {
            let (path, span) = self.told(&one.path, one.span);
            coalesce_model::Rewrite { path, span, ..one }
        });
        first.rewrites.extend(rewrites);
        let left = second.not_rewritten.into_iter().map(|one| {
            let (path, span) = self.told(&one.path, one.span);
            coalesce_model::NotRewritten { path, span, ..one }
        });
        first.not_rewritten.extend(left);
        self.add_findings(&mut first, (second.unproven, second.notes, second.refusals));
        first
    }

    /// Adds edits of a file of this tree to a plan against the tree as it is.
    fn edited(&self, first: &mut LanguagePlan, path: TreePath, edits: Vec<Edit>) {
        let Some(text) = self.tree.text(&path) else {
            return;
        };
        let new = EditSet::from_edits(&text, edits).and_then(|set| set.apply(&text));
        let new = match new {
            Ok(new) => new,
            Err(error) => return first.refusals.push(refusal(path, error.to_string())),
        };
        if self.made.contains(&path) {
            let made = first.creates.iter_mut().find(|file| file.path == path);
            if let Some(made) = made {
                made.text = new;
            }
            return;
        }
        let old = self.tree.path_before(&path);
        let text = self.tree.base().text(old).unwrap_or_else(|| Arc::from(""));
        match difference(&text, &new) {
            Some(edit) => first.edits.insert(old.clone(), vec![edit]),
            None => first.edits.remove(old),
        };
    }

    /// Adds what is told of places of this tree.
    fn add_findings(
        &self,
        first: &mut LanguagePlan,
        (unproven, notes, refusals): (Vec<Unproven>, Vec<Finding>, Vec<Finding>),
    ) {
        let unproven = unproven.into_iter().map(|one| {
            let (path, span) = self.told_of(&one.path, one.span);
            Unproven { path, span, ..one }
        });
        first.unproven.extend(unproven);
        let told = |one: Finding| {
            let (path, span) = self.told_of(&one.path, one.span);
            Finding { path, span, ..one }
        };
        first.notes.extend(notes.into_iter().map(told));
        first.refusals.extend(refusals.into_iter().map(told));
    }

    /// A place of the tree between, or a file of it, in the tree as it is.
    fn told_of(&self, path: &TreePath, span: Option<ByteSpan>) -> (TreePath, Option<ByteSpan>) {
        let (path, told) = self.told(path, span.unwrap_or_default());
        (path, span.map(|_| told))
    }

    /// A file that the second stage moves, wherever the first one had it from.
    fn moved(&self, first: &mut LanguagePlan, one: &FileMove) {
        if let Some(made) = first.creates.iter_mut().find(|made| made.path == one.from) {
            made.path = one.to.clone();
            return;
        }
        let old = self.tree.path_before(&one.from).clone();
        first.moves.retain(|earlier| earlier.from != old);
        if old != one.to {
            first.moves.push(FileMove {
                from: old,
                to: one.to.clone(),
            });
        }
    }

    /// A file that the second stage takes away.
    fn deleted(&self, first: &mut LanguagePlan, path: TreePath) {
        if self.made.contains(&path) {
            first.creates.retain(|made| made.path != path);
            return;
        }
        let old = self.tree.path_before(&path).clone();
        first.moves.retain(|earlier| earlier.from != old);
        first.edits.remove(&old);
        first.deletes.push(old);
    }

    /// Where something is in the tree as it is.
    fn told(&self, path: &TreePath, span: ByteSpan) -> (TreePath, ByteSpan) {
        let old = self.tree.path_before(path).clone();
        let Some(shifts) = self.shifts.get(path) else {
            return (old, span);
        };
        let (start, end) = (shifts.before(span.start), shifts.before(span.end));
        (old, ByteSpan::new(start, end.max(start)))
    }
}

/// The files that a plan leaves; `after` says where those go that move.
fn paths_after(
    base: &dyn Texts,
    plan: &LanguagePlan,
    after: &BTreeMap<&TreePath, &TreePath>,
) -> BTreeSet<TreePath> {
    let gone: BTreeSet<&TreePath> = plan.deletes.iter().chain(after.keys().copied()).collect();
    let old = base.paths().iter().filter(|path| !gone.contains(path));
    let mut paths: BTreeSet<TreePath> = old.cloned().collect();
    paths.extend(after.values().map(|path| (*path).clone()));
    paths.extend(plan.creates.iter().map(|file| file.path.clone()));
    paths
}

/// Where the bytes of a file were before its edits.
struct Shifts {
    /// Of each edit, in order: the end of its text in the new file, its start in the old one, and how much later
    /// what follows stands in the new one.
    edits: Vec<(i64, u32, i64)>,
}

impl Shifts {
    fn of(edits: &[Edit]) -> Self {
        let mut edits: Vec<&Edit> = edits.iter().collect();
        edits.sort();
        let mut shift = 0_i64;
        let passed = edits.into_iter().map(|edit| {
            let length = i64::try_from(edit.text.len()).unwrap_or(0);
            let end = i64::from(edit.span.start) + shift + length;
            shift += length - i64::from(edit.span.len());
            (end, edit.span.start, shift)
        });
        Self {
            edits: passed.collect(),
        }
    }

    /// Where a byte was; one of a new text where that came in.
    fn before(&self, at: u32) -> u32 {
        let new = i64::from(at);
        let passed = self.edits.partition_point(|(end, ..)| *end <= new);
        let last = passed.checked_sub(1).and_then(|last| self.edits.get(last));
        let shift = last.map_or(0, |(.., shift)| *shift);
        let old = u32::try_from(new - shift).unwrap_or(at);
        let next = self.edits.get(passed);
        next.map_or(old, |(_, start, _)| old.min(*start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_told_where_they_were() {
        // "abcdef" became "XYabdef!!": two bytes came, `c` went, two more came at the end.
        let shifts = Shifts::of(&[
            Edit::insert(0, "XY"),
            Edit::delete(ByteSpan::new(2, 3)),
            Edit::insert(6, "!!"),
        ]);
        let told: Vec<u32> = (0..=9).map(|at| shifts.before(at)).collect();
        assert_eq!(told, [0, 0, 0, 1, 3, 4, 5, 6, 6, 6]);
    }
}
