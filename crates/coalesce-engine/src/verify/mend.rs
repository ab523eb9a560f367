//! What the compiler says of the plan's own edits, and how to mend it: its suggestions are taken into the
//! plan, told, and checked again, until it compiles like before or nothing is left to take.
//!
//! Only files that the plan writes are touched. A suggestion is taken where the compiler is certain of
//! it, or where it knows one import that would bring a missing name; one that leads to more failures is
//! taken back.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{
    ByteSpan, Edit, EditSet, LineIndex, Overlay, Texts as _, TreePath, envelope::Mended,
};
use coalesce_plan::{Operation, planned_tree};
use coalesce_verify::{Check, Failure, Suggestion, compare};

use super::{
    Bench,
    prune::{Pruned, Start, lay_out},
    states,
    verdict::Ran,
};
use crate::{
    Failure as EngineFailure,
    applying::file_changes,
    operation::{path_after, set_text},
};

/// How often the check is made again at most.
const ROUNDS: usize = 4;

impl Bench<'_> {
    /// Takes what the compiler suggests into the plan. The copy is the planned tree before, and the
    /// mended one after. `None` where nothing is taken.
    pub fn mend(
        &self,
        start: &Start<'_>,
        told: &mut Vec<Mended>,
    ) -> Result<Option<Pruned>, EngineFailure> {
        let mut best: Option<Pruned> = None;
        for _ in 0..ROUNDS {
            let (operations, ran_after) = match &best {
                Some(best) => (best.operations.as_slice(), best.ran_after.as_slice()),
                None => (start.operations, start.ran_after),
            };
            let failing = new_failures(start, ran_after);
            let mended = mended_operations(start, operations, &failing);
            if mended.entries.is_empty() {
                break;
            }
            let tried =
                self.try_operations(start, mended.operations, ran_after, "after, mended")?;
            if new_failures(start, &tried.ran_after).len() >= failing.len() {
                // It helped nothing: the plan stays as it was, and so does the copy.
                let changes = file_changes(start.session, operations)?;
                self.bring(&states::after(start.before, changes))?;
                break;
            }
            told.extend(mended.entries);
            best = Some(tried);
        }
        Ok(best)
    }
}

/// What cargo finds after and did not before.
fn new_failures<'r>(start: &Start<'_>, ran: &'r [Ran]) -> Vec<&'r Failure> {
    let mut found = Vec::new();
    for ran in ran
        .iter()
        .filter(|ran| matches!(ran.check, Check::Cargo { .. }))
    {
        let baseline = start
            .baseline
            .iter()
            .find(|other| other.is_like(&ran.check));
        if let Some(baseline) = baseline {
            found.extend(compare(&baseline.outcome, &ran.outcome, start.renames).0);
        }
    }
    found
}

/// The plan with suggestions taken, and what was taken.
struct MendedPlan {
    operations: Vec<Operation>,
    entries: Vec<Mended>,
}

fn mended_operations(
    start: &Start<'_>,
    operations: &[Operation],
    failing: &[&Failure],
) -> MendedPlan {
    let overlay = planned_tree(&start.session.tree, operations);
    let written: BTreeSet<&TreePath> = operations.iter().map(path_after).collect();
    let mut taken_edits = TakenEdits::default();
    for failure in failing {
        if let Some(suggestion) = taken(failure, &written) {
            taken_edits.add(failure, suggestion, &overlay);
        }
    }
    let mut mended = operations.to_vec();
    let mut edited = Vec::new();
    for (at, operation) in mended.iter_mut().enumerate() {
        let path = path_after(operation).clone();
        match taken_edits.apply(&path, &overlay) {
            Some(new) => {
                set_text(operation, new);
                edited.push(at);
            }
            None => taken_edits.entries.retain(|entry| entry.path != path),
        }
    }
    lay_out(&mut mended, &edited, start.session);
    MendedPlan {
        operations: mended,
        entries: taken_edits.entries,
    }
}

/// The edits of suggestions that are taken, and what is told of them.
#[derive(Default)]
struct TakenEdits {
    edits: BTreeMap<TreePath, BTreeSet<Edit>>,
    entries: Vec<Mended>,
}

impl TakenEdits {
    fn add(&mut self, failure: &Failure, suggestion: &Suggestion, overlay: &Overlay<'_>) {
        for edit in &suggestion.edits {
            let own = self.edits.entry(edit.path.clone()).or_default();
            let is_new = own.insert(Edit {
                span: ByteSpan::new(edit.start, edit.end),
                text: edit.text.clone(),
            });
            if let Some(text) = overlay.text(&edit.path).filter(|_| is_new) {
                self.entries.push(Mended {
                    path: edit.path.clone(),
                    line: LineIndex::new(&text).line_number(edit.start),
                    error: failure.key.clone(),
                    mended: suggestion.message.clone(),
                });
            }
        }
    }

    /// The text of a file with its edits; `None` where it has none, or they contradict each other.
    fn apply(&self, path: &TreePath, overlay: &Overlay<'_>) -> Option<String> {
        let edits = self.edits.get(path)?.iter().cloned().collect();
        let text = overlay.text(path)?;
        let edits = EditSet::from_edits(&text, edits).ok()?;
        edits.apply(&text).ok()
    }
}

/// The suggestion of a failure that is taken.
fn taken<'f>(failure: &'f Failure, written: &BTreeSet<&TreePath>) -> Option<&'f Suggestion> {
    let own = |one: &&Suggestion| one.edits.iter().all(|edit| written.contains(&edit.path));
    let mut suggestions = failure.suggestions.iter().filter(own);
    let certain = suggestions.clone().find(|one| one.certain);
    certain.or_else(|| {
        suggestions.find(|one| match one.edits.as_slice() {
            [edit] => edit.text.trim_start().starts_with("use "),
            _ => false,
        })
    })
}

#[cfg(test)]
mod tests {
    use coalesce_verify::SuggestedEdit;

    use super::*;

    fn suggestion(path: &str, text: &str, certain: bool) -> Suggestion {
        Suggestion {
            message: text.to_owned(),
            edits: vec![SuggestedEdit {
                path: TreePath::new(path).unwrap(),
                start: 0,
                end: 0,
                text: text.to_owned(),
            }],
            certain,
        }
    }

    #[test]
    fn only_what_is_certain_or_one_import_is_taken_and_only_in_our_files() {
        let own = TreePath::new("src/own.rs").unwrap();
        let written = BTreeSet::from([&own]);
        let import = || suggestion("src/own.rs", "use crate::x::X;\n", false);
        let certain = || suggestion("src/own.rs", "crate::x::X", true);
        let mut several = import();
        several.edits.extend(import().edits);
        for (suggestions, expected) in [
            (vec![], None),
            (vec![import()], Some("use crate::x::X;\n")),
            (vec![import(), certain()], Some("crate::x::X")),
            // One of several: the compiler does not know which.
            (vec![several], None),
            (vec![suggestion("src/own.rs", "pub ", false)], None),
            (vec![suggestion("src/other.rs", "crate::x::X", true)], None),
        ] {
            let failure = Failure {
                subject: String::new(),
                key: String::new(),
                message: String::new(),
                places: Vec::new(),
                suggestions,
                settled: true,
            };
            let found = taken(&failure, &written).map(|one| one.message.as_str());
            assert_eq!(found, expected);
        }
    }
}
