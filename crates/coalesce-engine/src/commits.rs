//! A migration in the steps that a history should show: files move, users follow, old names go.
//!
//! Between the steps the old names have to work, or the tree would not build there. So the manifests
//! are worked out once more as if every entry left a shim; what that plan does to the files themselves
//! is the first step, what it does to their users the second, and the plan as it was asked for the
//! last. A step that cannot be shown to resolve is none: what it would change goes with the next one.

use std::collections::BTreeSet;

use coalesce_apply::{CommitStep, Commits, Content, FileChange};
use coalesce_model::{
    Texts as _, TreePath,
    manifest::{Manifest, Verb, VerifyTable},
};
use coalesce_plan::{Assembled, EntryState, Operation, PlanSource};
use coalesce_report::diff::changed_lines;

use crate::{
    Failure, MigrationPlan, PlanOptions, Session,
    applying::{file_changes, read_manifests},
    manifests::record_of,
    plan, verify,
};

/// What a commit is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Whole,
    Move,
    Edit,
    Retire,
}

/// A state of the tree that becomes a commit.
#[derive(Debug)]
struct Step {
    purpose: Purpose,
    /// From the tree as it is to this state.
    operations: Vec<Operation>,
    /// How many files it leaves otherwise than the step before.
    files: usize,
}

/// The commits that a migration comes to, and why they are not more.
#[derive(Debug)]
pub struct PlannedCommits {
    steps: Vec<Step>,
    /// Steps that were joined to the next one, and why.
    pub joined: Vec<String>,
    title: String,
    entries: Vec<String>,
    /// Manifests of the tree that no commit has: they go along with what was done of them.
    manifests: Vec<TreePath>,
}

impl PlannedCommits {
    /// Takes a plan apart. With `checks`, the project's own are made of every step, on a copy.
    ///
    /// # Errors
    /// When a manifest does not fit the tree, or a check cannot be made.
    pub fn of(
        session: &Session,
        worked: &MigrationPlan,
        checks: Option<&VerifyTable>,
    ) -> Result<Self, Failure> {
        let manifests = match &worked.source {
            PlanSource::Manifests { manifests, .. } => read_manifests(session, manifests)?,
            PlanSource::Shims { .. } => Vec::new(),
        };
        let options = PlanOptions::of(&worked.source);
        let mut planned = Self {
            steps: Vec::new(),
            joined: Vec::new(),
            title: title(worked, &manifests),
            entries: entries(worked),
            manifests: uncommitted_files(session, &manifests)?,
        };
        let whole = &worked.assembled.operations;
        if !manifests.is_empty() {
            planned.add_steps_between(session, worked, manifests, options);
        }
        if let Some(checks) = checks {
            planned.verify(session, worked, checks)?;
        }
        planned.end_with(session, whole)?;
        planned.count(session)?;
        Ok(planned)
    }

    /// The states on the way, where there are any.
    fn add_steps_between(
        &mut self,
        session: &Session,
        worked: &MigrationPlan,
        mut manifests: Vec<Manifest>,
        options: PlanOptions,
    ) {
        manifests.iter_mut().for_each(leave_shims);
        manifests.retain(|manifest| !manifest.entries.is_empty());
        if manifests.is_empty() {
            return;
        }
        let shimmed = match accepted(session, &manifests, options) {
            Ok(shimmed) => shimmed,
            Err(why) => return self.join(Purpose::Edit, &why),
        };
        let records: BTreeSet<TreePath> = manifests
            .iter()
            .filter_map(|manifest| record_of(session, manifest))
            .collect();
        for (purpose, operations) in states_between(session, worked, &shimmed, &records) {
            match resolves(session, &shimmed, operations) {
                Ok(operations) => self.steps.push(Step {
                    purpose,
                    operations,
                    files: 0,
                }),
                Err(why) => self.join(purpose, &why),
            }
        }
    }

    /// Takes out the steps that do not pass the project's checks.
    fn verify(
        &mut self,
        session: &Session,
        worked: &MigrationPlan,
        checks: &VerifyTable,
    ) -> Result<(), Failure> {
        for step in std::mem::take(&mut self.steps) {
            let mut state = state(worked, step.operations);
            if verify(session, &mut state, checks)?.passed {
                self.steps.push(Step {
                    operations: state.assembled.operations,
                    ..step
                });
            } else {
                self.join(step.purpose, "it does not pass the project's checks");
            }
        }
        Ok(())
    }

    /// The plan as it was asked for comes last. Where it only adds files to the step before, such as
    /// what says that it was applied, it is that step.
    fn end_with(&mut self, session: &Session, whole: &[Operation]) -> Result<(), Failure> {
        let changes = file_changes(session, whole)?;
        let extended = match self.steps.last() {
            Some(last) => only_adds(&changes, &file_changes(session, &last.operations)?),
            None => false,
        };
        let joined = self.steps.pop_if(|_| extended);
        let purpose = if self.steps.is_empty() {
            Purpose::Whole
        } else {
            joined.map_or(Purpose::Retire, |step| step.purpose)
        };
        self.steps.push(Step {
            purpose,
            operations: whole.to_vec(),
            files: 0,
        });
        Ok(())
    }

    fn join(&mut self, purpose: Purpose, why: &str) {
        let what = match purpose {
            Purpose::Move => "the files that move and those that name them are one commit",
            Purpose::Whole | Purpose::Edit | Purpose::Retire => "all of it is one commit",
        };
        self.joined.push(format!("{what}: {why}"));
    }

    /// Refuses a tree of which no commits can be made, as [`Commits::make`] does.
    ///
    /// # Errors
    /// Why not.
    pub fn refuse_unclean(session: &Session) -> Result<(), Failure> {
        let read: Vec<TreePath> = session.sources().cloned().collect();
        Commits::make(session.tree.root(), &read, &[])?;
        Ok(())
    }

    /// How many commits there will be.
    #[must_use]
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there will be none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// First lines of the messages, with how many files each commit changes.
    pub fn subjects(&self) -> impl Iterator<Item = (String, usize)> {
        let steps = self.steps.iter();
        steps.map(|step| (self.subject(step.purpose), step.files))
    }

    /// How many files each step leaves otherwise than the one before.
    fn count(&mut self, session: &Session) -> Result<(), Failure> {
        let mut before: Vec<FileChange> = Vec::new();
        for step in &mut self.steps {
            let now = file_changes(session, &step.operations)?;
            let differs = now.iter().filter(|change| !before.contains(change));
            let is_left = |known: &&FileChange| !now.iter().any(|now| now.path == known.path);
            step.files = differs.count() + before.iter().filter(is_left).count();
            before = now;
        }
        if let Some(last) = self.steps.last_mut() {
            last.files += self.manifests.len();
        }
        Ok(())
    }

    /// Makes the commits; nothing names them, and the tree is as it was.
    ///
    /// # Errors
    /// As [`Commits::make`], and when a file cannot be read any more.
    pub fn make(&self, session: &Session) -> Result<Commits, Failure> {
        let mut steps = Vec::new();
        for (at, step) in self.steps.iter().enumerate() {
            let mut changes = file_changes(session, &step.operations)?;
            let is_last = at + 1 == self.steps.len();
            for path in self.manifests.iter().filter(|_| is_last) {
                let (bytes, mode) = session.tree.content(path)?;
                let mode = Some(mode);
                changes.push(FileChange {
                    path: path.clone(),
                    // In the commits, as opposed to the disk.
                    before: None,
                    after: Some(Content { bytes, mode }),
                });
            }
            steps.push(CommitStep {
                message: self.message(step.purpose),
                changes,
            });
        }
        let read: Vec<TreePath> = session.sources().cloned().collect();
        Ok(Commits::make(session.tree.root(), &read, &steps)?)
    }

    fn subject(&self, purpose: Purpose) -> String {
        let title = &self.title;
        match purpose {
            Purpose::Whole => title.clone(),
            Purpose::Move => format!("{title}: move"),
            Purpose::Edit if self.moves_apart() => format!("{title}: edit the users"),
            Purpose::Edit => format!("{title}: move, and edit the users"),
            Purpose::Retire => format!("{title}: retire the old names"),
        }
    }

    /// Whether files move in a commit of their own.
    fn moves_apart(&self) -> bool {
        let mut steps = self.steps.iter();
        steps.any(|step| matches!(step.purpose, Purpose::Move))
    }

    fn message(&self, purpose: Purpose) -> String {
        let what = match purpose {
            Purpose::Whole => "",
            Purpose::Move => "The old names lead on for now; nothing else changes.\n",
            Purpose::Edit if self.moves_apart() => "What used the old names uses the new ones.\n",
            Purpose::Edit => "Files move, and what used the old names uses the new ones.\n",
            Purpose::Retire => "Nothing uses the old names any more.\n",
        };
        let mut message = format!("{}\n", self.subject(purpose));
        for part in [what.to_owned(), self.entries.concat()] {
            if !part.is_empty() {
                message.push('\n');
                message.push_str(&part);
            }
        }
        message
    }
}

/// Whether changes are those of the step before and files that come into being besides.
fn only_adds(changes: &[FileChange], before: &[FileChange]) -> bool {
    let stays = |known: &FileChange| changes.iter().any(|change| change.path == known.path);
    let adds_only = changes.iter().all(|change| {
        let mut known = before.iter();
        match known.find(|known| known.path == change.path) {
            Some(known) => known.after == change.after,
            None => change.before.is_none(),
        }
    });
    adds_only && before.iter().all(stays)
}

/// What manifests come to, if it is not refused; else why.
fn accepted(
    session: &Session,
    manifests: &[Manifest],
    options: PlanOptions,
) -> Result<MigrationPlan, String> {
    let planned = plan(session, manifests, options).map_err(|failure| failure.to_string())?;
    match planned.assembled.refusals.first() {
        Some(refusal) => Err(refusal.message.clone()),
        None => Ok(planned),
    }
}

/// The tree with files moved, and the one with their users edited besides; none where there is nothing to
/// do for one of these. `records` are written by the last commit.
fn states_between(
    session: &Session,
    worked: &MigrationPlan,
    shimmed: &MigrationPlan,
    records: &BTreeSet<TreePath>,
) -> Vec<(Purpose, Vec<Operation>)> {
    let operations = shimmed.assembled.operations.iter();
    let kept = operations.filter(|operation| !records.contains(operation.path()));
    let is_user = |operation: &&Operation| is_user(session, shimmed, operation);
    let (users, structure): (Vec<&Operation>, Vec<&Operation>) = kept.partition(is_user);
    if users.is_empty() || structure.is_empty() {
        return Vec::new();
    }
    let moved: Vec<Operation> = structure.into_iter().cloned().collect();
    let mut edited = moved.clone();
    let users = users.into_iter().map(|user| as_planned(worked, user));
    edited.extend(users.cloned());
    edited.sort_by(|a, b| a.path().cmp(b.path()));
    vec![(Purpose::Move, moved), (Purpose::Edit, edited)]
}

/// A plan that leads to a state on the way.
fn state(worked: &MigrationPlan, operations: Vec<Operation>) -> MigrationPlan {
    MigrationPlan {
        manifests: worked.manifests.clone(),
        source: worked.source.clone(),
        assembled: Assembled {
            operations,
            ..Assembled::default()
        },
        ..MigrationPlan::default()
    }
}

/// The operations, if the tree resolves as they leave it; else why not.
fn resolves(
    session: &Session,
    shimmed: &MigrationPlan,
    operations: Vec<Operation>,
) -> Result<Vec<Operation>, String> {
    let mut state = state(shimmed, operations);
    state.prove_all(session, &shimmed.checked, false);
    match state.assembled.refusals.first() {
        None => Ok(state.assembled.operations),
        Some(refusal) => Err(format!("{}: {}", refusal.path, refusal.message)),
    }
}

/// Leaves a manifest that moves and keeps every old name.
fn leave_shims(manifest: &mut Manifest) {
    manifest.removals.clear();
    manifest.accessors.clear();
    for entry in &mut manifest.entries {
        entry.shim = true;
    }
}

/// A user as the plan leaves it: a verification may have mended it.
fn as_planned<'o>(worked: &'o MigrationPlan, user: &'o Operation) -> &'o Operation {
    let mut asked = worked.assembled.operations.iter();
    let is_it =
        |one: &&Operation| one.path() == user.path() && matches!(one, Operation::Edit { .. });
    asked.find(is_it).unwrap_or(user)
}

/// Whether an operation does nothing but lead references on: every line that it changes has one. What
/// declares a module is none, nor is what the change itself is about.
fn is_user(session: &Session, shimmed: &MigrationPlan, operation: &Operation) -> bool {
    let Operation::Edit { path, text } = operation else {
        return false;
    };
    if matches!(path.file_name(), "Cargo.toml" | "Cargo.lock") || concerned(session, shimmed, path)
    {
        return false;
    }
    let Some(old) = session.tree.text(path) else {
        return false;
    };
    let lines = rewritten_lines(shimmed, path, &old);
    // Lines of the old text that the new one has not: those that the way back would change.
    let changed = changed_lines(text, &old);
    !lines.is_empty() && changed.iter().all(|line| lines.contains(&(*line as usize)))
}

/// The lines of a text in which a plan changes references, 1-based.
fn rewritten_lines(plan: &MigrationPlan, path: &TreePath, text: &str) -> BTreeSet<usize> {
    let line_of = |at: u32| {
        let head = text.get(..at as usize);
        head.map_or(1, |head| head.lines().count())
    };
    let rewrites = plan.assembled.rewrites.iter();
    let own = rewrites.filter(|rewrite| rewrite.path == *path);
    own.flat_map(|rewrite| {
        let first = line_of(rewrite.span.start + 1);
        first..=line_of(rewrite.span.end).max(first)
    })
    .collect()
}

/// Whether a file holds what an entry names, or declares it where modules are declared: a module above it.
fn concerned(session: &Session, shimmed: &MigrationPlan, path: &TreePath) -> bool {
    shimmed.checked.changes.iter().any(|(language, changes)| {
        let graph = session.part(*language).graph();
        let separator = language.separator();
        let declares = graph.grammar().lexicon().declares_modules;
        let own = graph.modules().iter().filter(|module| module.path == *path);
        let own: Vec<&str> = own.map(|module| module.name.as_str()).collect();
        let names = changes.iter().flat_map(|change| [&change.from, &change.to]);
        let mut names = names.map(String::as_str);
        names.any(|name| {
            own.iter().any(|own| match declares {
                true => is_below(name, own, separator),
                false => {
                    name == *own
                        || name
                            .rsplit_once(separator)
                            .is_some_and(|(in_, _)| in_ == *own)
                            && !graph.modules().iter().any(|module| module.name == name)
                }
            })
        })
    })
}

/// Whether `name` is `above`, or stands below it.
fn is_below(name: &str, above: &str, separator: &str) -> bool {
    name.strip_prefix(above)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(separator))
}

/// What a commit is called: as the manifests at work describe themselves, or by their ids.
fn title(worked: &MigrationPlan, manifests: &[Manifest]) -> String {
    let described = |manifest: &Manifest| match manifest.description.lines().next() {
        Some(line) if !line.trim().is_empty() => line.trim().to_owned(),
        _ => manifest.id.clone(),
    };
    let at_work = manifests.iter();
    let at_work = at_work.filter(|manifest| worked.manifests.contains(&manifest.id));
    let titles: Vec<String> = at_work.map(described).collect();
    if titles.is_empty() {
        return worked.manifests.join(", ");
    }
    titles.join("; ")
}

/// What is done of the manifests, a line each: entries that are open, and later uses of those that were done before.
fn entries(worked: &MigrationPlan) -> Vec<String> {
    let open = worked.checked.entries.iter();
    let open = open.filter(|entry| entry.state == EntryState::Open);
    let done = open.map(|entry| {
        let (verb, from, to) = (entry.verb.as_str(), &entry.from, &entry.to);
        match entry.verb {
            Verb::Remove => format!("{verb} {from}\n"),
            _ => format!("{verb} {from} -> {to}\n"),
        }
    });
    let led_on = worked.led_on.iter();
    let led_on = led_on.map(|entry| format!("later uses of: {entry}\n"));
    done.chain(led_on).collect()
}

fn uncommitted_files(session: &Session, manifests: &[Manifest]) -> Result<Vec<TreePath>, Failure> {
    let files = manifests.iter();
    let files = files.filter(|manifest| record_of(session, manifest).is_some());
    let files = files.filter_map(|manifest| TreePath::new(&manifest.path).ok());
    let files: Vec<TreePath> = files.filter(|path| session.tree.exists(path)).collect();
    Ok(coalesce_apply::uncommitted(session.tree.root(), &files)?)
}
