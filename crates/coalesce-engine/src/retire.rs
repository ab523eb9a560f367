//! The removal of shims that are due or that nobody uses, as a plan.

use std::cmp::Ordering;

use coalesce_model::{
    Finding, LanguageKind, Reference, Refusal, Severity, TreePath,
    envelope::ShimEntry,
    finding::codes,
    manifest::{Manifest, did_you_mean},
    release,
};
use coalesce_plan::{Assembled, PlanSource, assemble};

use crate::{
    Failure, MigrationPlan, Session,
    applying::keep_manifests,
    shims::{of_items, references, shims},
    unread::{self, OldNames},
};

/// What stands for the manifests in the journal.
const ID: &str = "retire";

/// Which shims are asked about.
#[derive(Clone, Debug, Default)]
pub struct ShimSelection {
    /// Those of these old names.
    pub names: Vec<String>,
    /// Those that this release removes, or an earlier one.
    pub due: Option<String>,
    /// Those that nothing in the tree names any more.
    pub unused: bool,
    /// Whether those that are still used go as well.
    pub even_used: bool,
}

impl ShimSelection {
    /// Whether a shim is asked about.
    fn has(&self, shim: &ShimEntry) -> Result<bool, Failure> {
        let due = match (&self.due, &shim.remove_in) {
            (Some(version), Some(remove_in)) => compare(remove_in, version)?.is_le(),
            _ => false,
        };
        Ok(due || self.unused || self.names.contains(&shim.name))
    }
}

/// One shim that was asked about.
#[derive(Clone, Debug)]
pub struct SelectedShim {
    /// The shim.
    pub shim: ShimEntry,
    /// Whether it goes.
    pub goes: bool,
    /// Who names it.
    pub references: Vec<Reference>,
}

/// The shims that were asked about, and what it takes to remove those that go.
///
/// # Errors
/// When a name is no shim, or a release no number.
pub fn retire(
    session: &Session,
    manifests: &[Manifest],
    wanted: &ShimSelection,
) -> Result<(Vec<SelectedShim>, MigrationPlan), Failure> {
    session.may_plan()?;
    let selected = selected(session, shims(session, manifests), wanted)?;
    let mut plan = plan_removal(session, &selected, wanted.even_used);
    plan.source = PlanSource::Shims {
        manifests: keep_manifests(session, manifests),
        names: wanted.names.clone(),
        due: wanted.due.clone(),
        unused: wanted.unused,
        even_used: wanted.even_used,
    };
    if !wanted.unused {
        let refusals = selected.iter().filter_map(still_used);
        plan.assembled.refusals.extend(refusals);
    }
    Ok((selected, plan))
}

/// The shims that were asked about. One that is still used stays, unless it is to go even so;
/// `--unused` asks only about those that are not.
fn selected(
    session: &Session,
    all: Vec<ShimEntry>,
    wanted: &ShimSelection,
) -> Result<Vec<SelectedShim>, Failure> {
    let mut names = wanted.names.iter();
    if let Some(name) = names.find(|name| all.iter().all(|shim| shim.name != **name)) {
        return Err(unknown_shim(name, &all));
    }
    let mut chosen = Vec::new();
    for shim in all {
        if wanted.has(&shim)? {
            chosen.push(shim);
        }
    }
    let named = references(session, &chosen);
    let selected = chosen.into_iter().zip(named).map(|(shim, references)| {
        let goes = references.is_empty() || (wanted.even_used && !wanted.unused);
        SelectedShim {
            shim,
            goes,
            references,
        }
    });
    Ok(selected.collect())
}

fn unknown_shim(name: &str, all: &[ShimEntry]) -> Failure {
    let failure = Failure::user(format!("there is no shim at `{name}`"));
    let near = did_you_mean(name, all.iter().map(|shim| shim.name.as_str()));
    failure.hint(near.unwrap_or_else(|| "`coalesce status` lists them".to_owned()))
}

/// Why a shim that was asked for by name or release does not go.
fn still_used(selected: &SelectedShim) -> Option<Finding> {
    let SelectedShim {
        shim,
        goes,
        references,
    } = selected;
    let refusal = || {
        let in_use = Refusal::ShimInUse {
            name: shim.name.clone(),
            places: references.len(),
        };
        in_use.at(&shim.path, None)
    };
    (!goes).then(refusal)
}

/// [`release::compare`], with what to write instead of what is none.
fn compare(a: &str, b: &str) -> Result<Ordering, Failure> {
    release::compare(a, b)
        .map_err(|error| Failure::user(error.to_string()).hint("write it like `4.0.0`"))
}

/// The removal of those that go, proven as any other change of the tree.
fn plan_removal(session: &Session, selected: &[SelectedShim], even_used: bool) -> MigrationPlan {
    let going = selected.iter().filter(|one| one.goes);
    let going: Vec<ShimEntry> = going.map(|one| one.shim.clone()).collect();
    let mut worked = removal(session, &going);
    let unread = unread_users(session, &going);
    worked.assembled.refusals.extend(unread);
    if even_used {
        warn_of_users(&mut worked.assembled);
    }
    worked
}

/// Refusals for the sake of users become warnings: who is told that users break and does it even so has
/// decided.
fn warn_of_users(assembled: &mut Assembled) {
    let is_of_users = |finding: &mut Finding| {
        matches!(
            finding.code,
            codes::UNRESOLVED_AFTER_CHANGE | codes::UNREADABLE_SOURCE
        )
    };
    let of_users = assembled.refusals.extract_if(.., is_of_users);
    assembled.notes.extend(of_users.map(|finding| Finding {
        severity: Severity::Warning,
        ..finding
    }));
}

/// What could not be read and may use a shim that goes: that nothing names it is not known.
fn unread_users(session: &Session, going: &[ShimEntry]) -> Vec<Finding> {
    let mut old = OldNames::new();
    for shim in going {
        let languages = LanguageKind::ALL.into_iter();
        for language in languages.filter(|language| is_source(&shim.path, *language)) {
            old.entry(language).or_default().push(shim.name.clone());
        }
    }
    let help =
        "make it readable, leave it out with `exclude` in coalesce.toml, or pass --even-used";
    let found = unread::look_for(session, &old).into_iter();
    found
        .map(|finding| Finding {
            help: Some(help.to_owned()),
            ..finding
        })
        .collect()
}

/// The removal of shims, proven.
pub fn removal(session: &Session, shims: &[ShimEntry]) -> MigrationPlan {
    let items = of_items(session, shims);
    let modules = shims.iter().filter(|shim| !items.contains(&shim.name));
    let paths: Vec<&TreePath> = modules.map(|shim| &shim.path).collect();
    let items: Vec<String> = items.iter().cloned().collect();
    let mut proposals = Vec::new();
    let mut concerned = Vec::new();
    for part in session.parts() {
        let own = paths.iter().filter(|path| is_source(path, part.kind()));
        let own: Vec<TreePath> = own.map(|path| (*path).clone()).collect();
        proposals.push(part.graph().retire(&own, &session.tree));
        proposals.push(part.graph().retire_items(&items, &session.tree));
        if !own.is_empty() || !items.is_empty() {
            concerned.push(part);
        }
    }
    let mut worked = MigrationPlan {
        manifests: vec![ID.to_owned()],
        assembled: assemble(proposals, &session.tree),
        ..MigrationPlan::default()
    };
    for part in concerned {
        worked.prove(&session.settings, part, &[], session);
    }
    worked
}

/// Whether a file is source of a language by its ending.
fn is_source(path: &TreePath, language: LanguageKind) -> bool {
    let extension = path.extension();
    extension.is_some_and(|extension| language.extensions().contains(&extension))
}
