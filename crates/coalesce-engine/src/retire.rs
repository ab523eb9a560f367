//! The removal of shims that are due or that nobody uses, as a plan.

use std::cmp::Ordering;

use coalesce_model::{
    Finding, LanguageKind, Reference, Refusal, Severity, TreePath,
    envelope::ShimEntry,
    finding::codes,
    manifest::{Manifest, nearest},
    release,
};
use coalesce_plan::{PlanSource, assemble};

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
    for name in &wanted.names {
        if !all.iter().any(|shim| shim.name == *name) {
            let failure = Failure::user(format!("there is no shim at `{name}`"));
            let near = nearest(name, all.iter().map(|shim| shim.name.as_str()));
            return Err(match near {
                Some(near) => failure.hint(format!("did you mean `{near}`?")),
                None => failure.hint("`coalesce status` lists them"),
            });
        }
    }
    let mut chosen = Vec::new();
    for shim in all {
        let due = match (&wanted.due, &shim.remove_in) {
            (Some(version), Some(remove_in)) => compare(remove_in, version)?.is_le(),
            _ => false,
        };
        if due || wanted.unused || wanted.names.contains(&shim.name) {
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
    let going: Vec<ShimEntry> = selected
        .iter()
        .filter(|one| one.goes)
        .map(|one| one.shim.clone())
        .collect();
    let mut worked = removal(session, &going);
    let unread = unread_users(session, &going);
    worked.assembled.refusals.extend(unread);
    if even_used {
        // Who is told that users break and does it even so has decided.
        let (refused, broken) = std::mem::take(&mut worked.assembled.refusals)
            .into_iter()
            .partition(|finding| {
                !matches!(
                    finding.code,
                    codes::UNRESOLVED_AFTER_CHANGE | codes::UNREADABLE_SOURCE
                )
            });
        worked.assembled.refusals = refused;
        worked
            .assembled
            .notes
            .extend(broken.into_iter().map(|finding: Finding| Finding {
                severity: Severity::Warning,
                ..finding
            }));
    }
    worked
}

/// What could not be read and may use a shim that goes: that nothing names it is not known.
fn unread_users(session: &Session, going: &[ShimEntry]) -> Vec<Finding> {
    let mut old = OldNames::new();
    for shim in going {
        let extension = shim.path.extension().unwrap_or_default();
        let languages = LanguageKind::ALL.into_iter();
        for language in languages.filter(|language| language.extensions().contains(&extension)) {
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
    let mut worked = MigrationPlan {
        manifests: vec![ID.to_owned()],
        ..MigrationPlan::default()
    };
    let items = of_items(session, shims);
    let modules = shims.iter().filter(|shim| !items.contains(&shim.name));
    let paths = modules.map(|shim| &shim.path);
    let items: Vec<String> = items.iter().cloned().collect();
    let mut proposals = Vec::new();
    let mut concerned = Vec::new();
    for part in session.parts() {
        let own: Vec<TreePath> = paths
            .clone()
            .filter(|path| {
                path.extension()
                    .is_some_and(|end| part.kind().extensions().contains(&end))
            })
            .cloned()
            .collect();
        proposals.push(part.graph().retire(&own, &session.tree));
        proposals.push(part.graph().retire_items(&items, &session.tree));
        if !own.is_empty() || !items.is_empty() {
            concerned.push(part);
        }
    }
    worked.assembled = assemble(proposals, &session.tree);
    for part in concerned {
        worked.prove(&session.settings, part, &[], session);
    }
    worked
}
