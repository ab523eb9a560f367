//! From manifests to a proven plan: what `plan` shows and `migrate` applies.

use std::{collections::BTreeSet, sync::Arc};

use coalesce_model::{
    Change, FileMove, Finding, Language, LanguageGraph, LanguageKind, LanguagePlan, Severity,
    TreePath,
    envelope::{Files, OperationEntry, OperationKind, Plan, Verdict},
    finding::codes,
    language::RewriteOptions,
    manifest::{Manifest, ManifestError},
};
use coalesce_plan::{Assembled, Checked, Operation, Overlay, Proof, Proven, assemble, prove};

use coalesce_model::Texts as _;
use coalesce_report::diff::Side;
use rayon::prelude::*;

use super::{Page, links, misfit};
use crate::{
    cli, formatter,
    session::{Part, Session},
};

/// A plan, proven or refused.
#[derive(Default)]
pub struct Worked {
    /// Ids of the manifests.
    pub manifests: Vec<String>,
    /// How far each entry is, and what is left to do.
    pub checked: Checked,
    /// File operations with their reasons; `refusals` holds those of the proof, too.
    pub assembled: Assembled,
    /// What the proof has counted.
    pub proven: Proven,
}

/// How far a plan is worked out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// What changes, and whether the languages refuse it.
    Changes,
    /// That, and the proof that the planned tree resolves.
    Proof,
}

/// Works out what the manifests ask of the tree, with its proof.
///
/// # Errors
/// When an entry does not fit the tree.
pub fn work_out(
    session: &Session,
    manifests: &[Manifest],
    arguments: &cli::Manifests,
) -> anyhow::Result<Worked> {
    work_to(Depth::Proof, session, manifests, arguments)
}

/// Works out what the manifests ask of the tree, as far as somebody wants to know it.
///
/// # Errors
/// When an entry does not fit the tree.
pub fn work_to(
    depth: Depth,
    session: &Session,
    manifests: &[Manifest],
    arguments: &cli::Manifests,
) -> anyhow::Result<Worked> {
    let options = RewriteOptions {
        prose: arguments.docs == cli::Docs::Rewrite,
        way: 0,
    };
    let index = session.index();
    let mut checked = coalesce_plan::check(manifests, &index, &session.tree)
        .map_err(|errors| misfit(&errors, manifests, session))?;
    let told = coalesce_plan::expand(manifests, &mut checked, &index, &session.tree)
        .map_err(|errors| misfit(&errors, manifests, session))?;
    let behind = behind_links(session, manifests);
    if !behind.is_empty() {
        return Err(misfit(&behind, manifests, session).into());
    }
    let mut worked = Worked {
        manifests: manifests
            .iter()
            .map(|manifest| manifest.id.clone())
            .collect(),
        ..Worked::default()
    };
    if !told.refusals.is_empty() {
        // Half of a merge is no plan: nothing else is worked out before it is decided.
        worked.assembled.refusals = told.refusals;
    } else if !checked.all_done() {
        session.progress.stage("working out the change");
        let ways = checked.changes.iter().map(|(language, changes)| {
            let graph = graph_of(session, *language);
            graph.ways(changes)
        });
        let ways = ways.max().unwrap_or(1);
        for way in 0..ways {
            let options = RewriteOptions { way, ..options };
            let mut tried = one_way(session, &checked, options, arguments);
            if depth == Depth::Proof {
                tried.prove_all(session, &checked);
            }
            // Of several refusals, the one of the plainest way is told.
            if way == 0 || !tried.refused() {
                (worked.assembled, worked.proven) = (tried.assembled, tried.proven);
            }
            if !worked.refused() {
                break;
            }
        }
    }
    worked.assembled.notes.extend(told.notes);
    worked.checked = checked;
    Ok(worked)
}

/// A plan that takes one of the ways, not yet proven.
fn one_way(
    session: &Session,
    checked: &Checked,
    options: RewriteOptions,
    arguments: &cli::Manifests,
) -> Worked {
    let mut worked = Worked {
        assembled: assemble(proposals(session, checked, options), &session.tree),
        ..Worked::default()
    };
    links::look_at(session, &mut worked.assembled);
    let unread = unreadable(session, checked);
    worked.assembled.refusals.extend(unread);
    if !worked.refused() && !arguments.no_rustfmt {
        let note = formatter::lay_out(&mut worked.assembled.operations, session);
        worked.assembled.notes.extend(note);
    }
    worked
}

fn graph_of(session: &Session, language: LanguageKind) -> &dyn LanguageGraph {
    match language {
        LanguageKind::Python => &session.python.graph,
        LanguageKind::Rust => &session.rust.graph,
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

/// Source files that could not be read as text and may name what moves: they would be left behind.
fn unreadable(session: &Session, checked: &Checked) -> Vec<Finding> {
    let mut found = Vec::new();
    for (language, changes) in &checked.changes {
        let extensions: &[&str] = match language {
            LanguageKind::Python => &["py", "pyi"],
            LanguageKind::Rust => &["rs"],
        };
        let last = |change: &Change| {
            change
                .from
                .rsplit(language.separator())
                .next()
                .unwrap_or_default()
                .to_owned()
        };
        let needles: Vec<String> = changes.iter().map(last).collect();
        for skip in session.tree.skips() {
            let source = skip
                .path
                .extension()
                .is_some_and(|extension| extensions.contains(&extension));
            let named = match session.tree.content(&skip.path) {
                Ok((bytes, _)) => needles.iter().any(|needle| {
                    bytes
                        .windows(needle.len().max(1))
                        .any(|window| window == needle.as_bytes())
                }),
                // A link leads to a file that is read by its own name; anything else may hold anything.
                Err(error) => error.kind() != coalesce_tree::ErrorKind::NotAFile,
            };
            if source && named {
                found.push(Finding {
                    code: codes::UNSAFE_CHANGE,
                    severity: Severity::Error,
                    path: skip.path.clone(),
                    span: None,
                    message: format!("it may name what moves, and cannot be read as text: {}", skip.reason),
                    help: Some("make it readable as UTF-8, or leave it out with `exclude` in coalesce.toml".to_owned()),
                });
            }
        }
    }
    found
}

fn proposals(session: &Session, checked: &Checked, options: RewriteOptions) -> Vec<LanguagePlan> {
    let mut proposals = Vec::new();
    for (language, changes) in &checked.changes {
        let graph = graph_of(session, *language);
        let proposal = graph.rewrite(changes, options, &session.tree);
        proposals.push(text_proposal(
            session,
            graph,
            changes,
            &proposal.moves,
            options,
        ));
        proposals.push(proposal);
    }
    proposals
}

fn text_proposal(
    session: &Session,
    graph: &dyn LanguageGraph,
    changes: &[Change],
    moves: &[FileMove],
    options: RewriteOptions,
) -> LanguagePlan {
    coalesce_text::rewrite(changes, moves, graph, options, &session.tree)
}

impl Worked {
    fn prove_all(&mut self, session: &Session, checked: &Checked) {
        for (language, changes) in &checked.changes {
            match language {
                LanguageKind::Python => self.prove(&session.python, changes, session),
                LanguageKind::Rust => self.prove(&session.rust, changes, session),
            }
        }
    }

    /// Proves the part of one language, refusing what would break.
    pub fn prove<L: Language>(&mut self, part: &Part<L>, changes: &[Change], session: &Session) {
        if !self.assembled.refusals.is_empty() {
            return;
        }
        session.progress.stage("resolving the tree as it would be");
        let files: &[(TreePath, Arc<L::Facts>)] = &part.files;
        let proof = prove(
            &part.language,
            files,
            &part.graph,
            changes,
            &self.assembled.operations,
            &session.settings,
            &session.tree,
        );
        count(&mut self.proven, &proof);
        self.assembled.refusals.extend(proof.refusals);
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
    pub fn body(&self, session: &Session, page: &mut Page<'_>, files: Files) -> Plan {
        let overlay = Overlay::new(&session.tree, &self.assembled.operations);
        Plan {
            files,
            manifests: self.manifests.clone(),
            operations: self
                .assembled
                .operations
                .iter()
                .map(operation_entry)
                .collect(),
            rewrites: self
                .assembled
                .rewrites
                .iter()
                .map(|rewrite| page.locator.rewrite(rewrite))
                .collect(),
            not_rewritten: self
                .assembled
                .not_rewritten
                .iter()
                .map(|reference| page.locator.not_rewritten(reference))
                .collect(),
            unproven: self
                .assembled
                .unproven
                .iter()
                .map(|unproven| page.locator.unproven(unproven))
                .collect(),
            cycles_before: self.proven.cycles_before,
            cycles_after: self.proven.cycles_after,
            verdict: self.verdict(),
            diff: diff(&self.assembled.operations, session, &overlay),
            saved: None,
        }
    }

    fn verdict(&self) -> Verdict {
        let review = self
            .assembled
            .rewrites
            .iter()
            .filter(|rewrite| rewrite.safety == coalesce_model::Safety::NeedsReview)
            .count();
        let refusals = self
            .assembled
            .refusals
            .iter()
            .filter(|finding| finding.severity == Severity::Error)
            .count();
        let message = if refusals > 0 {
            format!(
                "no: {refusals} reason{} above; nothing will be written",
                if refusals == 1 { "" } else { "s" }
            )
        } else if self.nothing_to_do() {
            "yes: there is nothing to do".to_owned()
        } else {
            let look = match review {
                0 => String::new(),
                1 => "; 1 rewrite deserves a look".to_owned(),
                review => format!("; {review} rewrites deserve a look"),
            };
            let imports = match self.proven.resolved_imports {
                0 => "no module of the planned tree imports another".to_owned(),
                1 => "the 1 import between modules of the planned tree resolves".to_owned(),
                count => {
                    format!("all {count} imports between modules of the planned tree resolve")
                }
            };
            format!("yes: {imports}{look}")
        };
        Verdict {
            imports_still_work: refusals == 0,
            message,
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
