//! Uses of an old name that came after its entry was applied: a branch that was merged later names the
//! module where it was. Running the manifest again leads them on as well.
//!
//! Where nothing stands at the old name any more, the languages are asked about a tree that has a
//! module there which only leads on; what they would do to that module is left out.

mod items;

use std::collections::BTreeSet;

use coalesce_model::{
    Change, ChangeKind, Form, Import, ImportTarget, LanguagePlan, Module, ModuleKind, ShimRequest,
    Subject, Texts as _, TreePath,
    language::RewriteOptions,
    manifest::{Entry, Manifest, applied_line, is_guard},
};
use coalesce_plan::{Checked, EntryState, Operation};

use crate::{Session, session::LanguagePart};

/// What leads later uses of an applied entry on.
pub struct Renewal {
    /// Id of the manifest that has the entry.
    pub manifest: String,
    /// The entry, as a record says it.
    pub entry: String,
    /// What changes.
    pub plan: LanguagePlan,
}

/// What leads later uses of applied entries on, entry by entry.
pub fn proposals(
    session: &Session,
    manifests: &[Manifest],
    checked: &Checked,
    options: RewriteOptions,
) -> Vec<Renewal> {
    let is_done = |manifest: &Manifest, entry: &Entry| {
        checked.entries.iter().any(|report| {
            report.state == EntryState::Done
                && report.manifest == manifest.id
                && report.from == entry.from.text
        })
    };
    let mut proposals = Vec::new();
    for manifest in manifests {
        let entries = manifest.entries.iter();
        for entry in entries.filter(|entry| is_done(manifest, entry)) {
            let plans = session.parts().into_iter().filter_map(|part| {
                let entry = followed(manifests, part, entry);
                proposal(session, part, (manifest, &entry), options)
            });
            proposals.extend(plans.map(|plan| Renewal {
                manifest: manifest.id.clone(),
                entry: applied_line(entry),
                plan,
            }));
        }
    }
    proposals
}

/// The entry with where its target is now: entries that were applied since may have led it on.
fn followed(manifests: &[Manifest], part: &dyn LanguagePart, entry: &Entry) -> Entry {
    let graph = part.graph();
    let separator = graph.language().separator();
    let applied = || {
        manifests.iter().flat_map(|manifest| {
            let entries = manifest.entries.iter();
            entries.filter(|entry| manifest.applied.is_recorded(entry))
        })
    };
    let mut found = entry.clone();
    // No chain is longer than there are entries; one that comes back ends here.
    for _ in 0..applied().count() {
        let name = found.to.text.as_str();
        if graph.knows(name) || graph.modules().iter().any(|module| module.name == name) {
            break;
        }
        let next = applied().find_map(|next| {
            let rest = name.strip_prefix(&next.from.text)?;
            let is_below = rest.is_empty() || rest.starts_with(separator);
            is_below.then_some((next, rest.to_owned()))
        });
        let Some((next, rest)) = next else { break };
        found.to.text = format!("{}{rest}", next.to.text);
        if rest.is_empty() {
            add_renames(&mut found.rename, &next.rename);
        }
    }
    found
}

/// Renames of the items of a module, followed by those of the module that took its place.
fn add_renames(renames: &mut Vec<(String, String)>, then: &[(String, String)]) {
    let new_name = |name: &str| {
        let renamed = then.iter().find(|(old, _)| old == name);
        renamed.map(|(_, new)| new.clone())
    };
    for (_, name) in renames.iter_mut() {
        if let Some(new) = new_name(name) {
            *name = new;
        }
    }
    let own: BTreeSet<String> = renames.iter().map(|(old, _)| old.clone()).collect();
    let others = then.iter().filter(|(old, _)| !own.contains(old));
    renames.extend(others.cloned());
}

fn proposal(
    session: &Session,
    part: &dyn LanguagePart,
    (manifest, entry): (&Manifest, &Entry),
    options: RewriteOptions,
) -> Option<LanguagePlan> {
    let modules = part.graph().modules();
    if !modules.iter().any(|module| module.name == entry.to.text) {
        return items::proposal(session, part, entry, options);
    }
    let users = users(session, part, entry);
    if users.is_empty() {
        return None;
    }
    let shim = modules.iter().find(|module| module.name == entry.from.text);
    let stand_in = match shim {
        Some(_) => StandIn::default(),
        None => StandIn::of(session, part, entry)?,
    };
    // The shim that is there stays: what cannot be led on goes on naming it, and stops no other use.
    let change = replacement(entry, shim.map(|_| ShimRequest::of(manifest)));
    let asked = RenewedPart {
        session,
        part,
        options,
    };
    asked.lead_on(change, &users, &stand_in)
}

/// What later uses are asked of.
struct RenewedPart<'a> {
    session: &'a Session,
    part: &'a dyn LanguagePart,
    options: RewriteOptions,
}

impl RenewedPart<'_> {
    /// The changes of some users in a tree that has the old name still; nothing where one cannot be led on: `check` tells
    /// that, and the entry itself is done.
    fn lead_on(
        &self,
        change: Change,
        users: &BTreeSet<TreePath>,
        stand_in: &StandIn,
    ) -> Option<LanguagePlan> {
        let operations = &stand_in.operations;
        let changes = [change];
        let mut plan = self
            .part
            .rewrite_in(self.session, operations, &changes, self.options);
        if !plan.refusals.is_empty() {
            return None;
        }
        keep_users(&mut plan, users, stand_in);
        (!plan.edits.is_empty()).then_some(plan)
    }
}

/// The change of an entry as if its module were still to give way.
fn replacement(entry: &Entry, shim: Option<ShimRequest>) -> Change {
    Change {
        from: entry.from.text.clone(),
        to: entry.to.text.clone(),
        subject: Subject::Module,
        kind: ChangeKind::Replace {
            rename: entry.rename.clone(),
        },
        shim,
        uses: entry.uses,
    }
}

/// Files that import the old name, by its shim or in vain.
fn users(session: &Session, part: &dyn LanguagePart, entry: &Entry) -> BTreeSet<TreePath> {
    let graph = part.graph();
    let inside = format!("{}{}", entry.from.text, graph.language().separator());
    let named = |import: &&Import| {
        let names = import.name == entry.from.text || import.name.starts_with(&inside);
        let leads = match import.target {
            ImportTarget::Unresolved => true,
            ImportTarget::Module(at) => {
                let target = graph.modules().get(at);
                target.is_some_and(|module: &Module| module.kind == ModuleKind::Shim)
            }
            ImportTarget::External | ImportTarget::Opaque => false,
        };
        let importer = graph.modules().get(import.importer);
        names && leads && importer.is_none_or(|importer| importer.kind != ModuleKind::Shim)
    };
    let paths = graph
        .imports()
        .iter()
        .filter(named)
        .map(|import| &import.path);
    let on_purpose = |path: &TreePath| is_guard(path, session.tree.text(path).as_deref());
    paths.filter(|path| !on_purpose(path)).cloned().collect()
}

/// Only edits of these files, and nothing of what stands in for the old module.
fn keep_users(plan: &mut LanguagePlan, users: &BTreeSet<TreePath>, stand_in: &StandIn) {
    plan.moves.clear();
    plan.creates.clear();
    plan.deletes.clear();
    plan.notes.clear();
    let declared: Vec<_> = plan
        .rewrites
        .iter()
        .filter(|rewrite| rewrite.form == Form::Declaration)
        .map(|rewrite| (rewrite.path.clone(), rewrite.span))
        .collect();
    plan.edits.retain(|path, edits| {
        edits.retain(|edit| {
            let is_declaration = declared.iter().any(|(file, span)| {
                file == path && span.start <= edit.span.end && edit.span.start <= span.end
            });
            !is_declaration && !stand_in.has(path, edit.span.start)
        });
        users.contains(path) && !edits.is_empty()
    });
    plan.rewrites.retain(|rewrite| {
        users.contains(&rewrite.path)
            && rewrite.form != Form::Declaration
            && !stand_in.has(&rewrite.path, rewrite.span.start)
    });
    plan.not_rewritten.retain(|one| users.contains(&one.path));
    plan.unproven.retain(|one| users.contains(&one.path));
}

/// A module at the old name that only leads on, as operations on the tree.
#[derive(Default)]
struct StandIn {
    operations: Vec<Operation>,
    /// The file that declares it, and where its own text ends.
    declared_in: Option<(TreePath, u32)>,
}

impl StandIn {
    fn of(session: &Session, part: &dyn LanguagePart, entry: &Entry) -> Option<Self> {
        let (from, to) = (entry.from.text.as_str(), entry.to.text.as_str());
        let leading = part.graph().leading_module(from, to, &session.tree)?;
        let mut stand_in = Self {
            operations: vec![create(leading.path, leading.text)],
            declared_in: None,
        };
        if let Some((path, added)) = leading.declaration {
            let own = session.tree.text(&path)?;
            stand_in.declared_in = Some((path.clone(), u32::try_from(own.len()).ok()?));
            let text = format!("{own}{added}");
            stand_in
                .operations
                .insert(0, Operation::Edit { path, text });
        }
        Some(stand_in)
    }

    /// Whether a place is part of what stands in.
    fn has(&self, path: &TreePath, start: u32) -> bool {
        let created = self.operations.iter().any(
            |operation| matches!(operation, Operation::Create { path: made, .. } if made == path),
        );
        let declared = self.declared_in.as_ref();
        created || declared.is_some_and(|(file, length)| file == path && start >= *length)
    }
}

fn create(path: TreePath, text: String) -> Operation {
    Operation::Create {
        path,
        text,
        reason: String::new(),
    }
}
