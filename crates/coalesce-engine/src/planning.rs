//! From manifests to a proven plan: what `plan` shows and `migrate` applies.

mod added_imports;
mod later;
mod texts;

use std::{collections::BTreeSet, sync::Arc};

use coalesce_model::{
    AddedImport, Change, Finding, LanguagePlan, Overlay, Refusal, Settings, Severity, TreePath,
    Unproven,
    envelope::{ChangedSignature, Locator, LostName, OperationEntry, OperationKind, Plan},
    finding::codes,
    language::RewriteOptions,
    manifest::{Manifest, ManifestError},
};
use coalesce_plan::{
    Assembled, Checked, EntryState, Operation, PlanSource, Proof, Proven, assemble, planned_tree,
};

use coalesce_model::Texts as _;
use coalesce_report::diff::Side;
use rayon::prelude::*;

use crate::{
    Failure,
    applying::keep_manifests,
    formatter,
    grading::answer,
    kept::KeptUses,
    links,
    manifests::{misfit, record_of},
    renewal::{self, Renewal},
    session::{LanguagePart, Session},
    unread,
};

/// How a plan is worked out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanOptions {
    /// Whether full names in prose change too: comments, docstrings, documents.
    pub prose: bool,
    /// Whether edited Rust files that rustfmt had laid out are laid out again.
    pub layout: bool,
    /// How far the plan is worked out.
    pub depth: Depth,
    /// Whether a file or a directory that cannot be read, and may name what moves, is passed over.
    pub allow_unread: bool,
}

impl Default for PlanOptions {
    /// Prose stays, texts are laid out, the plan is proven, and a refusal comes with advice.
    fn default() -> Self {
        Self {
            prose: false,
            layout: true,
            depth: Depth::Advice,
            allow_unread: false,
        }
    }
}

/// What the manifests come to: a plan, proven or refused.
#[derive(Debug, Default)]
pub struct MigrationPlan {
    /// Ids of the manifests of which something is done; where there is nothing to do, of all.
    pub manifests: Vec<String>,
    /// Entries that were applied before, as records say them, and of which later uses are led on.
    pub led_on: Vec<String>,
    /// What it was worked out from.
    pub source: PlanSource,
    /// How far each entry is, and what is left to do.
    pub checked: Checked,
    /// File operations with their reasons; `refusals` holds those of the proof, too.
    pub assembled: Assembled,
    /// What the proof has counted.
    pub proven: Proven,
    /// Public names that nobody can write any more.
    pub lost_names: Vec<LostName>,
    /// Public functions and classes of packages that are called another way.
    pub changed_signatures: Vec<ChangedSignature>,
    /// Imports that the proof has found lacking, until they are added or told.
    pub(crate) added_imports: Vec<AddedImport>,
}

/// How far a plan is worked out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// What changes, and whether the languages refuse it.
    Changes,
    /// That, and the proof that the planned tree resolves.
    Proof,
    /// That, and what would help where the proof refuses.
    Advice,
}

/// Works out what the manifests ask of the tree, as far as the options say.
///
/// # Errors
/// When an entry does not fit the tree.
pub fn plan(
    session: &Session,
    manifests: &[Manifest],
    options: PlanOptions,
) -> Result<MigrationPlan, Failure> {
    session.may_plan()?;
    let index = session.index();
    let refuse = |errors: Vec<ManifestError>| misfit(&errors, manifests, session);
    let mut checked = coalesce_plan::check(manifests, &index, &session.tree).map_err(refuse)?;
    let told =
        coalesce_plan::expand(manifests, &mut checked, &index, &session.tree).map_err(refuse)?;
    let kept = KeptUses::of(manifests)?;
    let behind = behind_links(session, manifests);
    if !behind.is_empty() {
        return Err(refuse(behind));
    }
    let mut worked = MigrationPlan::of_manifests(session, manifests, options);
    if told.refusals.is_empty() {
        session.progress.stage("working out the change");
        let mut task = Task::new(session, &checked, options, kept);
        let renewals = renewal::proposals(session, manifests, &checked, task.rewriting(0));
        worked.name_those_at_work(manifests, &checked, &renewals);
        task.later = renewals.into_iter().map(|renewal| renewal.plan).collect();
        task.find_way(&mut worked);
    } else {
        // Half of a merge is no plan: nothing else is worked out before it is decided.
        worked.assembled.refusals = told.refusals;
    }
    worked.add_records(session, manifests);
    worked.assembled.notes.extend(told.notes);
    worked.checked = checked;
    Ok(worked)
}

/// What says beside each manifest of the tree what was applied of it.
fn records(session: &Session, manifests: &[Manifest]) -> Vec<Operation> {
    let mut records = Vec::new();
    for manifest in manifests {
        let Some(path) = record_of(session, manifest) else {
            continue;
        };
        let text = manifest.applied.record(manifest);
        match session.tree.text(&path) {
            Some(known) if *known == *text => {}
            Some(_) => records.push(Operation::Edit { path, text }),
            None => records.push(Operation::Create {
                path,
                text,
                reason: "says what of the manifest is applied".to_owned(),
            }),
        }
    }
    records
}

/// What a plan is worked out from.
struct Task<'t> {
    session: &'t Session,
    checked: &'t Checked,
    options: PlanOptions,
    /// What leads on later uses of what was applied.
    later: Vec<LanguagePlan>,
    /// Files that use old names on purpose.
    kept: KeptUses,
    /// What could not be read and may name what changes, whichever way is taken.
    unread: Vec<Finding>,
    /// What an ignore file leaves out and may name what changes.
    ignored: Vec<Unproven>,
}

impl<'t> Task<'t> {
    fn new(
        session: &'t Session,
        checked: &'t Checked,
        options: PlanOptions,
        kept: KeptUses,
    ) -> Self {
        Self {
            session,
            checked,
            options,
            later: Vec::new(),
            kept,
            unread: unread::look_for(session, &unread::old_names(checked)),
            ignored: unread::ignored(session, checked),
        }
    }

    const fn rewriting(&self, way: usize) -> RewriteOptions {
        RewriteOptions {
            prose: self.options.prose,
            way,
        }
    }

    /// Takes the first way that is not refused, the plainest one where all are.
    fn find_way(&self, worked: &mut MigrationPlan) {
        let ways = self.ways();
        for way in 0..ways {
            // Advice takes longer than the proof, and of several ways one is told.
            let tried = self.try_way(way, ways == 1);
            // Of several refusals, the one of the plainest way is told.
            if way == 0 || !tried.refused() {
                worked.take(tried);
            }
            if !worked.refused() {
                break;
            }
        }
        if !worked.refused() || self.options.depth != Depth::Advice {
            return;
        }
        if let Some(later) = later::in_some_way(self, ways) {
            worked.take(later);
        } else if ways > 1 {
            worked.take(self.try_way(0, true));
        }
    }

    /// How many ways there are.
    fn ways(&self) -> usize {
        let languages = self.checked.changes.iter();
        let ways =
            languages.map(|(language, changes)| self.session.part(*language).graph().ways(changes));
        let others = !self.later.is_empty() || !self.checked.accessors.is_empty();
        ways.max().unwrap_or(usize::from(others))
    }

    /// A plan that takes one of the ways, proven as far as is wanted.
    fn try_way(&self, way: usize, advice: bool) -> MigrationPlan {
        let mut tried = self.take_way(way);
        let depth = self.options.depth;
        if depth != Depth::Changes {
            let advice = advice && depth == Depth::Advice;
            tried.prove_all(self.session, self.checked, advice);
        }
        added_imports::add(self, way, tried)
    }

    /// A plan that takes one of the ways, not yet proven.
    fn take_way(&self, way: usize) -> MigrationPlan {
        let mut plan = MigrationPlan {
            assembled: assemble(self.proposals(way), &self.session.tree),
            ..MigrationPlan::default()
        };
        links::look_at(self.session, &mut plan.assembled);
        self.refuse_places(&mut plan.assembled);
        self.add_unproven(&mut plan.assembled);
        self.tell_unread(&mut plan.assembled);
        if !plan.refused() && self.options.layout {
            let note = formatter::lay_out(&mut plan.assembled.operations, self.session);
            plan.assembled.notes.extend(note);
        }
        plan
    }

    /// What the languages propose on one of the ways, files aside that use old names on purpose.
    fn proposals(&self, way: usize) -> Vec<LanguagePlan> {
        let mut proposals = proposals(self.session, self.checked, self.rewriting(way));
        proposals.extend(self.later.iter().cloned());
        for proposal in &mut proposals {
            self.kept.leave_out(proposal);
        }
        proposals
    }

    /// Refuses new files at places that are taken unseen, or that an ignore file leaves out.
    fn refuse_places(&self, assembled: &mut Assembled) {
        let taken = unseen_targets(self.session, &assembled.operations);
        let lost = unread::ignored_places(self.session, &assembled.operations);
        assembled.refusals.extend(taken);
        assembled.refusals.extend(lost);
    }

    /// Adds what may use an old name and is no source that a language reads.
    fn add_unproven(&self, assembled: &mut Assembled) {
        let (session, checked) = (self.session, self.checked);
        let mut places = unread::left_behind(session, &assembled.operations);
        places.extend(self.ignored.iter().cloned());
        places.extend(unread::foreign(session, checked, assembled));
        places.extend(unread::pickled(session, checked));
        places.extend(unread::settings(session, checked));
        assembled.unproven.extend(places);
    }

    /// What could not be read is a refusal, or a warning where that is allowed.
    fn tell_unread(&self, assembled: &mut Assembled) {
        let unread = self.unread.iter().cloned();
        if !self.options.allow_unread {
            assembled.refusals.extend(unread);
            return;
        }
        let warnings = unread.map(|finding| Finding {
            severity: Severity::Warning,
            ..finding
        });
        assembled.notes.extend(warnings);
    }
}

/// Targets below a linked directory: what is written there would land somewhere else.
fn behind_links(session: &Session, manifests: &[Manifest]) -> Vec<ManifestError> {
    let links = session.tree.files().iter();
    let links: Vec<&TreePath> = links
        .filter(|file| file.kind == coalesce_tree::FileKind::Link)
        .map(|file| &file.path)
        .collect();
    let graphs = session.graphs();
    let roots: Vec<_> = graphs.iter().flat_map(|graph| graph.roots()).collect();
    let through = |to: &str| {
        let inside = to.replace("::", "/").replace('.', "/");
        links.iter().find(|link| {
            roots.iter().any(|root| {
                let rest = link.strip_prefix(&root.path);
                let rest = rest.and_then(|rest| inside.strip_prefix(rest));
                rest.is_some_and(|rest| rest.starts_with('/'))
            })
        })
    };
    let entries = manifests
        .iter()
        .flat_map(|manifest| manifest.entries.iter().map(move |entry| (manifest, entry)));
    entries
        .filter_map(|(manifest, entry)| {
            let link = through(&entry.to.text)?;
            let message = format!("{link} is a symbolic link; nothing is written through links");
            Some(manifest.error(entry.to.span, message, None))
        })
        .collect()
}

/// Files that would come into being where one is that no ignore rule lets us see: nothing is written
/// over it, nor beside a file that is the same module in its other form.
fn unseen_targets(session: &Session, operations: &[Operation]) -> Vec<Finding> {
    let made = operations.iter().filter_map(|operation| match operation {
        Operation::Move { to: path, .. } | Operation::Create { path, .. } => Some(path),
        Operation::Edit { .. } | Operation::Delete { .. } => None,
    });
    let is_unseen = |path: &TreePath| {
        let absent =
            |error: &coalesce_tree::Error| error.kind() == coalesce_tree::ErrorKind::NotFound;
        !session.tree.exists(path)
            && !session
                .tree
                .content(path)
                .is_err_and(|error| absent(&error))
    };
    let forms = made.flat_map(|path| std::iter::once(path.clone()).chain(other_form(path)));
    forms
        .filter(is_unseen)
        .map(|path| Refusal::OccupiedPath.at(&path, None))
        .collect()
}

/// A module is a file, or a directory with a file that has a name for this.
fn other_form(path: &TreePath) -> Option<TreePath> {
    let (directory, name) = (path.parent()?, path.file_name());
    let form = match (name, path.extension()?) {
        ("__init__.py", _) => format!("{directory}.py"),
        ("mod.rs", _) => format!("{directory}.rs"),
        (_, "py") => format!("{directory}/{}/__init__.py", path.file_stem()),
        (_, "rs") => format!("{directory}/{}/mod.rs", path.file_stem()),
        _ => return None,
    };
    TreePath::new(&form).ok().filter(|_| !directory.is_root())
}

fn proposals(session: &Session, checked: &Checked, options: RewriteOptions) -> Vec<LanguagePlan> {
    let mut proposals = Vec::new();
    for (language, changes) in &checked.changes {
        let graph = session.part(*language).graph();
        let proposal = graph.rewrite(changes, options, &session.tree);
        let of_texts = coalesce_text::rewrite(changes, &proposal, graph, options, &session.tree);
        proposals.push(of_texts);
        proposals.push(proposal);
    }
    for accessor in &checked.accessors {
        let graphs = session.graphs();
        let made = graphs
            .iter()
            .map(|graph| graph.access(accessor, &session.tree));
        proposals.extend(made);
    }
    proposals
}

impl MigrationPlan {
    /// A plan of which nothing is worked out yet.
    fn of_manifests(session: &Session, manifests: &[Manifest], options: PlanOptions) -> Self {
        let ids = manifests.iter().map(|manifest| manifest.id.clone());
        Self {
            manifests: ids.collect(),
            source: PlanSource::Manifests {
                manifests: keep_manifests(session, manifests),
                prose: options.prose,
                layout: options.layout,
                allow_unread: options.allow_unread,
            },
            ..Self::default()
        }
    }

    /// Leaves the ids of manifests out that were done before, unless later uses of theirs are led on.
    fn name_those_at_work(
        &mut self,
        manifests: &[Manifest],
        checked: &Checked,
        renewals: &[Renewal],
    ) {
        let open = checked.entries.iter();
        let open = open.filter(|entry| entry.state == EntryState::Open);
        let renewed = renewals.iter().map(|renewal| &renewal.manifest);
        let at_work: BTreeSet<&String> = open.map(|entry| &entry.manifest).chain(renewed).collect();
        let ids = manifests.iter().map(|manifest| &manifest.id);
        let ids: Vec<String> = ids.filter(|id| at_work.contains(id)).cloned().collect();
        if !ids.is_empty() {
            self.manifests = ids;
        }
        self.led_on = renewals.iter().map(|one| one.entry.clone()).collect();
        self.led_on.dedup();
    }

    /// Adds what says beside each manifest of the tree what was applied of it, if anything changes.
    fn add_records(&mut self, session: &Session, manifests: &[Manifest]) {
        if self.refused() || self.nothing_to_do() {
            return;
        }
        let operations = &mut self.assembled.operations;
        operations.extend(records(session, manifests));
        operations.sort_by(|a, b| a.path().cmp(b.path()));
    }

    /// What another plan of the same changes came to.
    fn take(&mut self, tried: Self) {
        self.lost_names = tried.lost_names;
        self.changed_signatures = tried.changed_signatures;
        (self.assembled, self.proven) = (tried.assembled, tried.proven);
    }

    /// Proves what the operations leave, language by language; `advice` where a refusal is to say what
    /// would help.
    pub(crate) fn prove_all(&mut self, session: &Session, checked: &Checked, advice: bool) {
        let settings = Settings {
            allowed: checked.allowed.clone(),
            advice,
            ..session.settings.clone()
        };
        for part in session.parts() {
            let changes = checked.changes.get(&part.kind());
            let paths = self.assembled.operations.iter().map(Operation::path);
            let extensions = part.kind().extensions();
            let mut extension = paths.filter_map(|path| path.extension());
            // Later uses of what was applied change files without a change of this run.
            if changes.is_some() || extension.any(|one| extensions.contains(&one)) {
                let changes = changes.map(Vec::as_slice).unwrap_or_default();
                self.prove(&settings, part, changes, session);
            }
        }
    }

    /// Proves the part of one language, refusing what would break.
    pub(crate) fn prove(
        &mut self,
        settings: &Settings,
        part: &dyn LanguagePart,
        changes: &[Change],
        session: &Session,
    ) {
        if !self.assembled.refusals.is_empty() {
            return;
        }
        session.progress.stage("resolving the tree as it would be");
        let proof = part.prove(session, settings, &self.assembled.operations, changes);
        count(&mut self.proven, &proof);
        self.lost_names.extend(
            proof
                .lost_names
                .into_iter()
                .map(|(name, instead)| LostName {
                    name,
                    shim_keeps: instead.is_some(),
                    instead,
                }),
        );
        self.changed_signatures.extend(proof.changed_signatures);
        self.added_imports.extend(proof.added_imports);
        self.assembled.refusals.extend(proof.refusals);
        self.assembled.unproven.extend(proof.unproven);
        self.assembled.notes.extend(proof.notes);
    }

    /// Whether there is nothing to do.
    #[must_use]
    pub fn nothing_to_do(&self) -> bool {
        self.assembled.operations.is_empty() && self.assembled.refusals.is_empty()
    }

    /// Whether the plan must not be applied.
    #[must_use]
    pub fn refused(&self) -> bool {
        !self.assembled.refusals.is_empty()
    }

    /// Everything there is to say, refusals first. A file that does not parse is named once: the
    /// language and the proof both see it.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        let mut broken = BTreeSet::new();
        let refusals = self.assembled.refusals.iter();
        let mut all: Vec<Finding> = refusals.chain(&self.assembled.notes).cloned().collect();
        all.retain(|finding| {
            finding.code != codes::SYNTAX_ERROR || broken.insert(finding.path.clone())
        });
        all
    }

    /// The plan as it is printed.
    #[must_use]
    pub fn to_entry(&self, session: &Session, locator: &mut Locator<'_>) -> Plan {
        let Assembled {
            operations,
            rewrites,
            not_rewritten,
            unproven,
            ..
        } = &self.assembled;
        let overlay = planned_tree(&session.tree, operations);
        Plan {
            files: session.files(),
            manifests: self.manifests.clone(),
            operations: operations.iter().map(operation_entry).collect(),
            rewrites: rewrites.iter().map(|one| locator.rewrite(one)).collect(),
            not_rewritten: not_rewritten
                .iter()
                .map(|one| locator.not_rewritten(one))
                .collect(),
            unproven: unproven.iter().map(|one| locator.unproven(one)).collect(),
            lost_names: self.lost_names.clone(),
            changed_signatures: self.changed_signatures.clone(),
            cycles_before: self.proven.cycles_before,
            cycles_after: self.proven.cycles_after,
            answer: answer(self, None),
            diff: diff(operations, session, &overlay),
            saved: None,
        }
    }
}

fn count(proven: &mut Proven, proof: &Proof) {
    proven.resolved_imports += proof.resolved_imports;
    for (counts, found) in [
        (&mut proven.cycles_before, &proof.cycles_before),
        (&mut proven.cycles_after, &proof.cycles_after),
    ] {
        counts.eager += found.iter().filter(|cycle| cycle.eager).count();
        counts.lazy += found.iter().filter(|cycle| !cycle.eager).count();
    }
}

fn operation_entry(operation: &Operation) -> OperationEntry {
    let (kind, to, reason) = match operation {
        Operation::Move { to, .. } => (OperationKind::Move, Some(to.clone()), None),
        Operation::Create { reason, .. } => (OperationKind::Create, None, Some(reason.clone())),
        Operation::Edit { .. } => (OperationKind::Edit, None, None),
        Operation::Delete { .. } => (OperationKind::Delete, None, None),
    };
    OperationEntry {
        operation: kind,
        path: operation.path().clone(),
        to,
        reason,
    }
}

/// The change as one unified diff, file by file.
fn diff(operations: &[Operation], session: &Session, overlay: &Overlay<'_>) -> String {
    let one = |operation: &Operation| {
        let (old, new) = match operation {
            Operation::Move { from, to, .. } => (Some(from), Some(to)),
            Operation::Create { path, .. } => (None, Some(path)),
            Operation::Edit { path, .. } => (Some(path), Some(path)),
            Operation::Delete { path } => (Some(path), None),
        };
        let before = old.map(|path| (path, session.tree.text(path)));
        let after = new.map(|path| (path, overlay.text(path)));
        coalesce_report::diff::file_diff(before.as_ref().map(side), after.as_ref().map(side))
    };
    operations.par_iter().map(one).collect()
}

fn side<'a>((path, text): &'a (&TreePath, Option<Arc<str>>)) -> Side<'a> {
    Side {
        path,
        text: text.as_deref(),
    }
}
