//! From manifests to a proven plan: what `plan` shows and `migrate` applies.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

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

use super::{Page, misfit};
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

/// Works out what the manifests ask of the tree.
///
/// # Errors
/// When an entry does not fit the tree.
pub fn work_out(
    session: &Session,
    manifests: &[Manifest],
    arguments: &cli::Manifests,
) -> anyhow::Result<Worked> {
    let options = RewriteOptions {
        prose: arguments.docs == cli::Docs::Rewrite,
    };
    let index = session.index();
    let checked = coalesce_plan::check(manifests, &index, &session.tree)
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
    if !checked.all_done() {
        session.progress.stage("working out the change");
        worked.assembled = assemble(proposals(session, &checked, options), &session.tree);
        let links = moved_links(session, &worked.assembled.operations);
        worked.assembled.refusals.extend(links);
        let led = led_to(session, &worked.assembled.operations);
        worked.assembled.refusals.extend(led);
        let left = left_links(session, &mut worked.assembled.operations);
        let (refused, noted): (Vec<Finding>, Vec<Finding>) = left
            .into_iter()
            .partition(|finding| finding.severity == Severity::Error);
        worked.assembled.refusals.extend(refused);
        worked.assembled.notes.extend(noted);
        worked
            .assembled
            .refusals
            .extend(unreadable(session, &checked));
        if !worked.refused() && !arguments.no_rustfmt {
            let note = formatter::lay_out(&mut worked.assembled.operations, session);
            worked.assembled.notes.extend(note);
        }
        for (language, changes) in &checked.changes {
            match language {
                LanguageKind::Python => worked.prove(&session.python, changes, session),
                LanguageKind::Rust => worked.prove(&session.rust, changes, session),
            }
        }
    }
    worked.checked = checked;
    Ok(worked)
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

/// Links and devices in a directory that moves: nothing is written through a link, and what one
/// leads to from the new place is not for us to say.
fn moved_links(session: &Session, operations: &[Operation]) -> Vec<Finding> {
    let files = session.tree.files();
    let odd: BTreeSet<&TreePath> = files
        .iter()
        .filter(|file| file.kind != coalesce_tree::FileKind::Plain)
        .map(|file| &file.path)
        .collect();
    let moved = operations.iter().filter_map(|operation| match operation {
        Operation::Move { from, .. } => odd.get(from),
        _ => None,
    });
    moved
        .map(|path| Finding {
            code: codes::UNSAFE_CHANGE,
            severity: Severity::Error,
            path: (*path).clone(),
            span: None,
            message: "it would have to move, and is no plain file".to_owned(),
            help: Some("move or remove the link by hand first".to_owned()),
        })
        .collect()
}

/// Sources that leave their place while a link of the same name stands elsewhere: links are not read,
/// so one that leads there would lead nowhere.
fn led_to(session: &Session, operations: &[Operation]) -> Vec<Finding> {
    let files = session.tree.files();
    let links: BTreeMap<&str, &TreePath> = files
        .iter()
        .filter(|file| file.kind == coalesce_tree::FileKind::Link)
        .map(|file| (file.path.file_name(), &file.path))
        .collect();
    let left = operations.iter().filter_map(|operation| match operation {
        Operation::Move { from: path, .. } | Operation::Delete { path } => Some(path),
        _ => None,
    });
    left.filter(|path| path.extension() == Some("rs"))
        .filter_map(|path| {
            let link = links.get(path.file_name())?;
            (*link != path && links.values().all(|other| *other != path)).then(|| Finding {
                code: codes::UNSAFE_CHANGE,
                severity: Severity::Error,
                path: path.clone(),
                span: None,
                message: format!("it would leave its place, and the link {link} may lead to it"),
                help: Some("put a file in the place of the link first".to_owned()),
            })
        })
        .collect()
}

/// Links in a folder that goes: they stay, since nothing is done to what is no plain file. Where a
/// workspace takes every folder of a pattern for a member, one without a manifest must not stay.
fn left_links(session: &Session, operations: &mut Vec<Operation>) -> Vec<Finding> {
    let files = session.tree.files();
    let odd: BTreeSet<&TreePath> = files
        .iter()
        .filter(|file| file.kind != coalesce_tree::FileKind::Plain)
        .map(|file| &file.path)
        .collect();
    let mut left = Vec::new();
    operations.retain(|operation| match operation {
        Operation::Delete { path } if odd.contains(path) => {
            left.push(Finding {
                code: codes::UNSAFE_CHANGE,
                severity: if by_pattern(session, path) {
                    Severity::Error
                } else {
                    Severity::Warning
                },
                path: path.clone(),
                span: None,
                message: "its folder goes, and this stays: it is no plain file".to_owned(),
                help: Some("remove it by hand".to_owned()),
            });
            false
        }
        _ => true,
    });
    left
}

/// Whether a workspace around a path has members by a pattern.
fn by_pattern(session: &Session, path: &TreePath) -> bool {
    let mut at = path.parent();
    while let Some(here) = at {
        let text = here
            .join("Cargo.toml")
            .ok()
            .and_then(|manifest| session.tree.text(&manifest));
        let members = text.as_deref().and_then(|text| text.split_once("members"));
        let list = members.and_then(|(_, rest)| rest.split_once(']'));
        if list.is_some_and(|(list, _)| list.contains('*')) {
            return true;
        }
        at = here.parent();
    }
    false
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
        let graph: &dyn LanguageGraph = match language {
            LanguageKind::Python => &session.python.graph,
            LanguageKind::Rust => &session.rust.graph,
        };
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
    operations.iter().map(one).collect()
}

fn side<'a>((path, text): &'a (&TreePath, Option<Arc<str>>)) -> Side<'a> {
    Side {
        path,
        text: text.as_deref(),
    }
}
