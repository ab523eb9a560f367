//! Puts what the languages propose together into file operations with the texts they leave.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{
    Edit, EditSet, FileMove, Finding, LanguagePlan, NewFile, NotRewritten, Refusal, Rewrite, Texts,
    TreePath, Unproven, finding::codes,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One change of one file. Texts are whole, so that a saved plan needs nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "operation", rename_all = "lowercase")]
pub enum Operation {
    /// A file goes to another path; `text` is its new text when it is edited on the way.
    Move {
        /// Path before.
        from: TreePath,
        /// Path after.
        to: TreePath,
        /// New text; absent when the bytes stay.
        text: Option<String>,
    },
    /// A file comes into being, possibly where another one moved away.
    Create {
        /// Path.
        path: TreePath,
        /// Text.
        text: String,
        /// Why it is needed.
        reason: String,
    },
    /// A file's text changes.
    Edit {
        /// Path.
        path: TreePath,
        /// New text.
        text: String,
    },
    /// A file goes away.
    Delete {
        /// Path.
        path: TreePath,
    },
}

impl Operation {
    /// The path that the operation reads or removes; for a creation the path it makes.
    #[must_use]
    pub fn path(&self) -> &TreePath {
        match self {
            Self::Move { from: path, .. }
            | Self::Create { path, .. }
            | Self::Edit { path, .. }
            | Self::Delete { path } => path,
        }
    }
}

/// File operations and their reasons, not yet proven.
#[derive(Clone, Debug, Default)]
pub struct Assembled {
    /// In order of path; independent of each other.
    pub operations: Vec<Operation>,
    /// Every reference that changes, sorted.
    pub rewrites: Vec<Rewrite>,
    /// Every reference that should and does not, sorted.
    pub not_rewritten: Vec<NotRewritten>,
    /// Every place that the change may concern and that could not be proven, sorted.
    pub unproven: Vec<Unproven>,
    /// Why this must not be applied; empty when it may.
    pub refusals: Vec<Finding>,
    /// What else the reader should know.
    pub notes: Vec<Finding>,
}

/// Joins the proposals. Two that do not fit each other are a refusal, never a merge.
#[must_use]
pub fn assemble(proposals: Vec<LanguagePlan>, texts: &dyn Texts) -> Assembled {
    let mut joined = Joined::default();
    for proposal in proposals {
        joined.add(proposal);
    }
    joined.finish(texts)
}

#[derive(Default)]
struct Joined {
    moves: BTreeMap<TreePath, TreePath>,
    creates: BTreeMap<TreePath, (String, String)>,
    deletes: BTreeSet<TreePath>,
    edits: BTreeMap<TreePath, Vec<Edit>>,
    result: Assembled,
}

impl Joined {
    fn add(&mut self, proposal: LanguagePlan) {
        for file in proposal.moves {
            self.move_file(file);
        }
        for file in proposal.creates {
            self.create(file);
        }
        self.deletes.extend(proposal.deletes);
        for (path, edits) in proposal.edits {
            self.edits.entry(path).or_default().extend(edits);
        }
        self.result.rewrites.extend(proposal.rewrites);
        self.result.not_rewritten.extend(proposal.not_rewritten);
        self.result.unproven.extend(proposal.unproven);
        self.result.refusals.extend(proposal.refusals);
        // What stops nothing is no unsafe change, however it is called where it comes from.
        let remarks = proposal.notes.into_iter().map(|note| match note.code {
            codes::UNSAFE_CHANGE => Finding {
                code: codes::PLAN_REMARK,
                ..note
            },
            _ => note,
        });
        self.result.notes.extend(remarks);
    }

    fn move_file(&mut self, file: FileMove) {
        let other = self.moves.insert(file.from.clone(), file.to.clone());
        if let Some(other) = other.filter(|other| *other != file.to) {
            let two = Refusal::TwoTargets {
                one: other,
                other: file.to,
            };
            self.refuse(&file.from, two);
        }
    }

    fn create(&mut self, file: NewFile) {
        let made = (file.text.clone(), file.reason);
        let other = self.creates.insert(file.path.clone(), made);
        if other.is_some_and(|(text, _)| text != file.text) {
            let why = "two different files would be made there".to_owned();
            self.refuse(&file.path, Refusal::ConflictingEdits { why });
        }
    }

    fn refuse(&mut self, path: &TreePath, refusal: Refusal) {
        self.result.refusals.push(refusal.at(path, None));
    }

    fn finish(mut self, texts: &dyn Texts) -> Assembled {
        self.collisions(texts);
        let edits = std::mem::take(&mut self.edits);
        let mut edited: BTreeMap<TreePath, String> = BTreeMap::new();
        for (path, edits) in edits {
            if edits.is_empty() || self.deletes.contains(&path) {
                continue;
            }
            match edited_text(&path, edits, texts) {
                Ok(text) => drop(edited.insert(path, text)),
                Err(why) => self.refuse(&path, Refusal::ConflictingEdits { why }),
            }
        }
        let operations = self.operations(edited);
        let mut result = self.result;
        result.operations = operations;
        sort_and_dedup(&mut result.rewrites);
        sort_and_dedup(&mut result.not_rewritten);
        sort_and_dedup(&mut result.unproven);
        sort_and_dedup(&mut result.refusals);
        sort_and_dedup(&mut result.notes);
        result
    }

    /// The operations on files, by their paths.
    fn operations(&mut self, mut edited: BTreeMap<TreePath, String>) -> Vec<Operation> {
        let moves = std::mem::take(&mut self.moves).into_iter();
        let moves = moves.map(|(from, to)| {
            let text = edited.remove(&from);
            Operation::Move { from, to, text }
        });
        let mut operations: Vec<Operation> = moves.collect();
        let edits = edited.into_iter();
        operations.extend(edits.map(|(path, text)| Operation::Edit { path, text }));
        let deletes = std::mem::take(&mut self.deletes).into_iter();
        operations.extend(deletes.map(|path| Operation::Delete { path }));
        for (path, (text, reason)) in std::mem::take(&mut self.creates) {
            operations.push(Operation::Create { path, text, reason });
        }
        operations.sort_by(|a, b| a.path().cmp(b.path()));
        operations
    }

    /// A file must not land where another one is and stays, nor two at the same place.
    fn collisions(&mut self, texts: &dyn Texts) {
        let mut taken: BTreeMap<String, TreePath> = BTreeMap::new();
        let mut clashes = Vec::new();
        for to in self.moves.values().chain(self.creates.keys()) {
            let stays =
                texts.exists(to) && !self.moves.contains_key(to) && !self.deletes.contains(to);
            if stays {
                clashes.push((to.clone(), Refusal::OccupiedPath));
            }
            // File systems that ignore case must be able to hold the result, too.
            if let Some(other) = taken.insert(to.as_str().to_lowercase(), to.clone()) {
                clashes.push((to.clone(), Refusal::TwoFilesAtOnce { other }));
            }
        }
        for (path, refusal) in clashes {
            self.refuse(&path, refusal);
        }
    }
}

fn edited_text(path: &TreePath, edits: Vec<Edit>, texts: &dyn Texts) -> Result<String, String> {
    let text = texts
        .text(path)
        .ok_or("it would have to be edited and cannot be read")?;
    let set = EditSet::from_edits(&text, edits).map_err(|error| error.to_string())?;
    set.apply(&text).map_err(|error| error.to_string())
}

fn sort_and_dedup<T: Ord>(list: &mut Vec<T>) {
    list.sort();
    list.dedup();
}

#[cfg(test)]
mod tests {
    use coalesce_model::{ByteSpan, FileMove, MemoryTexts, NewFile};

    use super::*;

    fn path(text: &str) -> TreePath {
        TreePath::new(text).unwrap()
    }

    fn edit(file: &str, span: (u32, u32), text: &str) -> LanguagePlan {
        let edits = vec![Edit::replace(ByteSpan::new(span.0, span.1), text)];
        LanguagePlan {
            edits: BTreeMap::from([(path(file), edits)]),
            ..LanguagePlan::default()
        }
    }

    fn moving(from: &str, to: &str) -> LanguagePlan {
        LanguagePlan {
            moves: vec![FileMove {
                from: path(from),
                to: path(to),
            }],
            ..LanguagePlan::default()
        }
    }

    fn creating(file: &str, text: &str) -> LanguagePlan {
        let file = NewFile {
            path: path(file),
            text: text.into(),
            reason: "shim".into(),
        };
        LanguagePlan {
            creates: vec![file],
            ..LanguagePlan::default()
        }
    }

    #[test]
    fn proposals_for_one_file_join_and_a_moved_file_takes_its_edits_along() {
        let texts = MemoryTexts::fixture("//- a.py\nold = 1\n//- b.py\nx\n");
        let shim = creating("a.py", "shim\n");
        let joined = assemble(
            vec![
                moving("a.py", "c/a.py"),
                edit("a.py", (0, 3), "new"),
                edit("b.py", (0, 1), "y"),
                shim,
            ],
            &texts,
        );
        assert_eq!(joined.refusals, []);
        assert_eq!(
            joined.operations,
            [
                Operation::Move {
                    from: path("a.py"),
                    to: path("c/a.py"),
                    text: Some("new = 1\n".into())
                },
                Operation::Create {
                    path: path("a.py"),
                    text: "shim\n".into(),
                    reason: "shim".into()
                },
                Operation::Edit {
                    path: path("b.py"),
                    text: "y\n".into()
                },
            ]
        );
    }

    #[test]
    fn proposals_that_do_not_fit_are_refused() {
        let texts = MemoryTexts::fixture("//- a.py\nabc\n//- b.py\nabc\n");
        for (proposals, message) in [
            (
                vec![edit("a.py", (0, 2), "x"), edit("a.py", (1, 3), "y")],
                "two edits overlap at byte 1",
            ),
            (
                vec![moving("a.py", "c.py"), moving("a.py", "d.py")],
                "it would move to both",
            ),
            (vec![moving("a.py", "b.py")], "a file is there already"),
            (
                vec![moving("a.py", "C.py"), creating("c.py", "")],
                "would land there as well",
            ),
            (vec![edit("gone.py", (0, 0), "x")], "cannot be read"),
        ] {
            let refusals = assemble(proposals, &texts).refusals;
            assert!(
                refusals
                    .iter()
                    .any(|refusal| refusal.message.contains(message)),
                "{message}: {refusals:?}"
            );
        }
    }
}
