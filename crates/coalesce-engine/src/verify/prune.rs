//! Imports that a plan keeps on both sides because a method call may need them, and that the
//! compiler finds unused: they leave the plan.
//!
//! Only what was not unused before, stands in a file that the plan writes, is private, and cannot be
//! needed by code that this check does not compile. Each time the check is made again; what fails
//! without an import keeps it.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{Overlay, Texts as _, TreePath, envelope::UnusedImport as Entry};
use coalesce_plan::{Operation, planned_tree};
use coalesce_rust::Imports;
use coalesce_verify::{Check, Renames, UnusedImport, Wanted, compare};

use super::{Bench, states, verdict::Ran};
use crate::{
    Failure, Session,
    applying::file_changes,
    formatter,
    operation::{path_after, set_text},
};

/// How often the check is made again at most.
const ROUNDS: usize = 4;
/// Why an import stays whose file fails without it.
const NEEDED: &str = "the check fails without it";

/// What the pruning starts from.
#[derive(Clone, Copy)]
pub struct Start<'s> {
    /// The tree as it is.
    pub session: &'s Session,
    /// Its files.
    pub before: &'s Wanted,
    /// Those of the planned tree.
    pub after: &'s Wanted,
    /// The plan.
    pub operations: &'s [Operation],
    /// How things are called after, and were before.
    pub renames: &'s Renames,
    /// What was found before.
    pub baseline: &'s [Ran],
    /// What was found after.
    pub ran_after: &'s [Ran],
}

/// The plan without what nobody uses.
pub struct Pruned {
    /// The plan.
    pub operations: Vec<Operation>,
    /// What was found in the tree that it leaves.
    pub ran_after: Vec<Ran>,
}

impl Bench<'_> {
    /// Takes unused imports out of the plan and checks again. The copy is the planned tree after, as
    /// it was before this. `None` where nothing is taken out.
    pub fn prune(
        &self,
        start: &Start<'_>,
        entries: &mut Vec<Entry>,
    ) -> Result<Option<Pruned>, Failure> {
        let overlay = planned_tree(&start.session.tree, start.operations);
        let mut going = private_ones(start, &overlay, entries);
        let mut needed: BTreeSet<TreePath> = BTreeSet::new();
        let mut done = None;
        for _ in 0..ROUNDS {
            let (stay, go): (Vec<_>, Vec<_>) = going
                .into_iter()
                .partition(|import| needed.contains(&import.path));
            entries.extend(stay.into_iter().map(|import| entry(import, Some(NEEDED))));
            going = go;
            if going.is_empty() {
                break;
            }
            let tried = self.try_without(start, &overlay, &going)?;
            let broken = broken(start, &tried.ran_after, &going);
            if broken.is_empty() {
                entries.extend(going.iter().map(|import| entry(import, None)));
                done = Some(tried);
                break;
            }
            needed.extend(broken);
        }
        if done.is_none() && !needed.is_empty() {
            self.bring(start.after)?;
        }
        entries.sort();
        Ok(done)
    }

    fn try_without(
        &self,
        start: &Start<'_>,
        overlay: &Overlay<'_>,
        imports: &[&UnusedImport],
    ) -> Result<Pruned, Failure> {
        let mut operations = start.operations.to_vec();
        let mut edited: Vec<usize> = Vec::new();
        for (at, operation) in operations.iter_mut().enumerate() {
            let path = path_after(operation).clone();
            let own: BTreeSet<u32> = imports
                .iter()
                .filter(|import| import.path == path)
                .map(|import| import.last_byte)
                .collect();
            let text = overlay.text(&path).filter(|_| !own.is_empty());
            if let Some(new) = text.and_then(|text| Imports::of(&text).without(&own)) {
                set_text(operation, new);
                edited.push(at);
            }
        }
        lay_out(&mut operations, &edited, start.session);
        let stage = "after, without unused imports";
        self.try_operations(start, operations, start.ran_after, stage)
    }

    /// Makes the tree of another plan and what cargo says of it; what else was found is taken over.
    pub(super) fn try_operations(
        &self,
        start: &Start<'_>,
        operations: Vec<Operation>,
        ran: &[Ran],
        stage: &str,
    ) -> Result<Pruned, Failure> {
        let changes = file_changes(start.session, &operations)?;
        self.bring(&states::after(start.before, changes))?;
        let mut ran_after = Vec::new();
        for ran in ran {
            let outcome = match &ran.check {
                Check::Cargo { .. } => {
                    self.stage(stage, &ran.check);
                    self.checker.run(&ran.check)?
                }
                _ => ran.outcome.clone(),
            };
            ran_after.push(Ran::new(ran.state, &ran.check, outcome));
        }
        Ok(Pruned {
            operations,
            ran_after,
        })
    }
}

/// Of the imports that came to be unused those that may go; why the others stay is told.
fn private_ones<'s>(
    start: &Start<'s>,
    overlay: &Overlay<'_>,
    entries: &mut Vec<Entry>,
) -> Vec<&'s UnusedImport> {
    let mut found = new_ones(start);
    found.retain(|import| {
        let text = overlay.text(&import.path);
        let why = text.and_then(|text| stays(&text, import));
        entries.extend(why.map(|why| entry(import, Some(why))));
        why.is_none()
    });
    found
}

/// Imports that are unused after and were not before, in files that the plan writes.
fn new_ones<'s>(start: &Start<'s>) -> Vec<&'s UnusedImport> {
    let written: BTreeSet<&TreePath> = start.operations.iter().map(path_after).collect();
    let mut known: BTreeMap<(&TreePath, &str), usize> = BTreeMap::new();
    for import in start.baseline.iter().flat_map(|ran| &ran.outcome.unused) {
        *known.entry((&import.path, &import.name)).or_default() += 1;
    }
    let mut found = Vec::new();
    for import in start.ran_after.iter().flat_map(|ran| &ran.outcome.unused) {
        let before = start.renames.path(&import.path);
        let left = known.get_mut(&(before, import.name.as_str()));
        let new = left.is_none_or(|left| {
            let none = *left == 0;
            *left = left.saturating_sub(1);
            none
        });
        if new && written.contains(&import.path) {
            found.push(import);
        }
    }
    found
}

/// Why an import stays although the compiler finds it unused.
fn stays(text: &str, import: &UnusedImport) -> Option<&'static str> {
    if !Imports::of(text).is_private(import.last_byte) {
        return Some("it is visible to other modules");
    }
    has_conditions(text).then_some("code in its file is compiled under conditions only")
}

/// Whether a text has conditions that `cargo check --all-targets` may not meet.
fn has_conditions(text: &str) -> bool {
    let inner = text
        .match_indices("cfg")
        .filter_map(|(at, _)| text.get(at + "cfg".len()..));
    let mut conditions = inner.filter_map(|rest| {
        let rest = rest.strip_prefix("_attr").unwrap_or(rest);
        rest.strip_prefix('!').unwrap_or(rest).strip_prefix('(')
    });
    conditions.any(|inside| !inside.trim_start().starts_with("test)"))
}

/// Files of the imports without which something fails; all of them where no place tells.
fn broken(start: &Start<'_>, ran: &[Ran], imports: &[&UnusedImport]) -> BTreeSet<TreePath> {
    let edited: BTreeSet<&TreePath> = imports.iter().map(|import| &import.path).collect();
    let mut found = BTreeSet::new();
    let mut failed = false;
    for (old, new) in start.ran_after.iter().zip(ran) {
        let (failures, _) = compare(&old.outcome, &new.outcome, &Renames::default());
        failed |= !failures.is_empty();
        let places = failures.iter().flat_map(|failure| &failure.places);
        found.extend(
            places
                .map(|place| &place.path)
                .filter(|path| edited.contains(path)),
        );
    }
    if failed && found.is_empty() {
        found = edited;
    }
    found.into_iter().cloned().collect()
}

pub(super) fn lay_out(operations: &mut [Operation], edited: &[usize], session: &Session) {
    for at in edited {
        if let Some(operation) = operations.get_mut(*at) {
            // That there is no rustfmt was told when the plan was made.
            formatter::lay_out(std::slice::from_mut(operation), session);
        }
    }
}

fn entry(import: &UnusedImport, kept: Option<&str>) -> Entry {
    Entry {
        path: import.path.clone(),
        line: import.line,
        name: import.name.clone(),
        kept: kept.map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_may_need_stays() {
        let visible = Some("it is visible to other modules");
        let conditional = Some("code in its file is compiled under conditions only");
        for (text, expected) in [
            ("use a::B;\n", None),
            ("use a::{C, B};\n", None),
            ("#[cfg(test)]\nmod tests;\nuse a::B;\n", None),
            ("pub(crate) use a::B;\n", visible),
            ("pub(crate) use a::{C, B};\n", visible),
            ("use a::B;\n#[cfg(windows)]\nfn f() {}\n", conditional),
            ("use a::B;\nfn f() { if cfg!(unix) {} }\n", conditional),
        ] {
            let import = UnusedImport {
                path: TreePath::new("a.rs").unwrap(),
                line: 1,
                last_byte: u32::try_from(text.find('B').unwrap()).unwrap(),
                name: "B".to_owned(),
            };
            assert_eq!(stays(text, &import), expected, "{text}");
        }
    }
}
