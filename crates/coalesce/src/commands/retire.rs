//! `retire`: the removal of shims that are due or that nobody uses, as a plan or at once.

use std::cmp::Ordering;

use coalesce_apply::Store;
use coalesce_model::{
    Finding, LanguageGraph, LanguageKind, Reference, Severity, TreePath,
    envelope::{Body, Command, Retire, RetiredShim, ShimEntry},
    finding::codes,
    manifest::nearest,
};
use coalesce_plan::{SavedPlan, assemble};

use super::{
    Page, files, manifests,
    migrate::{apply, refuse_unfinished},
    open,
    plan::hash,
    rollback::failure,
    shims::{of_items, references, shims},
    work::Worked,
};
use crate::{
    cli,
    exit::{Exit, Failure, Outcome},
    named_files,
    session::Session,
};

/// What stands for the manifests in the journal.
const ID: &str = "retire";

/// One shim, whether it goes, and who names it.
type Asked = (ShimEntry, bool, Vec<Reference>);

/// Runs `retire`.
///
/// # Errors
/// When the tree cannot be read or written, or a name is no shim.
pub fn run(global: &cli::Global, arguments: &cli::Retire) -> anyhow::Result<Outcome> {
    let store = Store::open(&global.root).map_err(failure)?;
    refuse_unfinished(&store)?;
    let session = open(global)?;
    let all = shims(&session, &manifests(&session, &[])?);
    let asked = asked(&session, all, arguments)?;
    let mut worked = work_out(&session, &asked, arguments.even_used);
    if !arguments.unused {
        worked
            .assembled
            .refusals
            .extend(asked.iter().filter_map(still_used));
    }
    let mut page = Page::new(&session, global);
    let mut body = Retire {
        plan: worked.body(&session, &mut page, files(&session)),
        shims: asked
            .iter()
            .map(|(shim, goes, references)| RetiredShim {
                shim: shim.clone(),
                goes: *goes,
                references: references
                    .iter()
                    .filter_map(|reference| page.locator.reference(reference))
                    .collect(),
            })
            .collect(),
        ..Retire::default()
    };
    if !worked.refused() && !worked.nothing_to_do() {
        if let Some(path) = &arguments.out {
            save(&session, &worked, path)?;
            body.plan.saved = Some(path.display().to_string());
        }
        if arguments.apply {
            let allowed = super::migrate::Allowed {
                dirty: arguments.allow_dirty,
                yes: arguments.yes,
            };
            body.migration = Some(apply(&session, &store, &worked, allowed)?);
            body.applied = true;
        }
    }
    let refused = worked.refused();
    let envelope = page.envelope(Command::Retire, &worked.findings(), Body::Retire(body));
    let exit = if refused { Exit::Failed } else { Exit::Success };
    Ok(Outcome { envelope, exit })
}

/// The shims that were asked about. One that is still used stays, unless it is to go even so;
/// `--unused` asks only about those that are not.
fn asked(
    session: &Session,
    all: Vec<ShimEntry>,
    arguments: &cli::Retire,
) -> Result<Vec<Asked>, Failure> {
    for name in &arguments.names {
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
        let due = match (&arguments.due, &shim.remove_in) {
            (Some(version), Some(remove_in)) => compare(remove_in, version)?.is_le(),
            _ => false,
        };
        if due || arguments.unused || arguments.names.contains(&shim.name) {
            chosen.push(shim);
        }
    }
    let named = references(session, &chosen);
    let asked = chosen.into_iter().zip(named).map(|(shim, references)| {
        let goes = references.is_empty() || (arguments.even_used && !arguments.unused);
        (shim, goes, references)
    });
    Ok(asked.collect())
}

/// Why a shim that was asked for by name or release does not go.
fn still_used((shim, goes, references): &Asked) -> Option<Finding> {
    let refusal = || Finding {
        code: codes::UNSAFE_CHANGE,
        severity: Severity::Error,
        path: shim.path.clone(),
        span: None,
        message: match references.len() {
            1 => format!("`{}` is still named at 1 place", shim.name),
            places => format!("`{}` is still named at {places} places", shim.name),
        },
        help: Some("let them name the new home, or pass --even-used".to_owned()),
    };
    (!goes).then(refusal)
}

/// Orders releases by their numbers; `4.0` is `4.0.0`, and what follows a number (`rc1`, `-beta`)
/// is left out of the comparison.
fn compare(a: &str, b: &str) -> Result<Ordering, Failure> {
    let (mut a, mut b) = (numbers(a)?, numbers(b)?);
    let length = a.len().max(b.len());
    a.resize(length, 0);
    b.resize(length, 0);
    Ok(a.cmp(&b))
}

fn numbers(release: &str) -> Result<Vec<u64>, Failure> {
    let number = |part: &str| {
        let digits = part.find(|c: char| !c.is_ascii_digit());
        let (digits, rest) = part.split_at(digits.unwrap_or(part.len()));
        Some((digits.parse().ok()?, rest.is_empty()))
    };
    let mut found = Vec::new();
    for part in release.trim().trim_start_matches('v').split('.') {
        match number(part) {
            Some((number, true)) => found.push(number),
            Some((number, false)) => {
                found.push(number);
                break;
            }
            None => break,
        }
    }
    if found.is_empty() {
        let failure = Failure::user(format!("`{release}` is no release number"));
        return Err(failure.hint("write it like `4.0.0`"));
    }
    Ok(found)
}

/// The removal of those that go, proven as any other change of the tree.
fn work_out(session: &Session, asked: &[Asked], even_used: bool) -> Worked {
    let going: Vec<ShimEntry> = asked
        .iter()
        .filter(|(_, goes, _)| *goes)
        .map(|(shim, ..)| shim.clone())
        .collect();
    let mut worked = removal(session, &going);
    if even_used {
        // Who is told that users break and does it even so has decided.
        let (refused, broken) = std::mem::take(&mut worked.assembled.refusals)
            .into_iter()
            .partition(|finding| !finding.message.contains("would not resolve any more"));
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

/// The removal of shims, proven.
pub fn removal(session: &Session, shims: &[ShimEntry]) -> Worked {
    let mut worked = Worked {
        manifests: vec![ID.to_owned()],
        ..Worked::default()
    };
    let items = of_items(session, shims);
    let modules = shims.iter().filter(|shim| !items.contains(&shim.name));
    let paths = modules.map(|shim| &shim.path);
    let items: Vec<String> = items.iter().cloned().collect();
    let of = |language: LanguageKind| -> Vec<TreePath> {
        let extension = match language {
            LanguageKind::Python => "py",
            LanguageKind::Rust => "rs",
        };
        let own = paths.clone();
        own.filter(|path| path.extension() == Some(extension))
            .cloned()
            .collect()
    };
    let (python, rust) = (of(LanguageKind::Python), of(LanguageKind::Rust));
    let proposals = vec![
        session.python.graph.retire(&python, &session.tree),
        session.rust.graph.retire(&rust, &session.tree),
        session.python.graph.retire_items(&items, &session.tree),
        session.rust.graph.retire_items(&items, &session.tree),
    ];
    worked.assembled = assemble(proposals, &session.tree);
    if !python.is_empty() || !items.is_empty() {
        worked.prove(&session.python, &[], session);
    }
    if !rust.is_empty() || !items.is_empty() {
        worked.prove(&session.rust, &[], session);
    }
    worked
}

fn save(session: &Session, worked: &Worked, path: &std::path::Path) -> anyhow::Result<()> {
    let saved = SavedPlan::new(
        worked.manifests.clone(),
        worked.assembled.clone(),
        worked.proven,
        session.sources(),
        |path| hash(session, path),
    );
    Ok(named_files::write(path, &saved.to_json()?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_compare_by_number() {
        for (a, b, order) in [
            ("4.0.0", "4.0.0", Ordering::Equal),
            ("4.0", "4.0.0", Ordering::Equal),
            ("v4", "4.0.1", Ordering::Less),
            ("3.10.0", "3.9", Ordering::Greater),
            ("4.0.0rc1", "4.0.0", Ordering::Equal),
            ("4.0-beta", "4.0.1", Ordering::Less),
        ] {
            assert_eq!(compare(a, b).unwrap(), order, "{a} {b}");
        }
        for wrong in ["", "next", "-1", "99999999999999999999999"] {
            assert!(compare(wrong, "1").is_err(), "{wrong}");
        }
    }
}
