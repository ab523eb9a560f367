//! What could not be read and may name what moves: it would be left behind.

use coalesce_model::{Change, Finding, LanguageKind, Refusal, Texts as _};
use coalesce_plan::Checked;
use coalesce_tree::{Skip, Unread};

use crate::session::Session;

/// A finding for each file, directory and link that may hold a reference to what changes.
pub fn look_for(session: &Session, checked: &Checked) -> Vec<Finding> {
    if checked.changes.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for skip in session.tree.skips() {
        let may_name = |(language, changes): (&LanguageKind, &Vec<Change>)| {
            may_hold_names(session, &skip, *language, changes)
        };
        if checked.changes.iter().any(may_name) {
            found.push(finding(skip));
        }
    }
    found.extend(too_deep(session, checked));
    found
}

fn finding(skip: Skip) -> Finding {
    let what = match skip.unread {
        Unread::Directory => Some("it may hold what names what moves, and cannot be listed"),
        Unread::LinkOut => {
            Some("it leads out of the tree, and what it leads to may name what moves")
        }
        Unread::File | Unread::LinkInside | Unread::Special => None,
    };
    let why = skip.reason;
    let message = what.map(|what| format!("{what}: {why}"));
    let refusal = Refusal::UnreadableSource { why }.at(&skip.path, None);
    Finding {
        message: message.unwrap_or_else(|| refusal.message.clone()),
        ..refusal
    }
}

fn may_hold_names(
    session: &Session,
    skip: &Skip,
    language: LanguageKind,
    changes: &[Change],
) -> bool {
    let extension = skip.path.extension();
    let source = extension.is_some_and(|extension| language.extensions().contains(&extension));
    match skip.unread {
        Unread::Directory => true,
        Unread::LinkOut => {
            let target = session.tree.root().join(skip.path.as_str());
            source || std::fs::metadata(target).is_ok_and(|metadata| metadata.is_dir())
        }
        // It leads to what is read by its own name.
        Unread::LinkInside => false,
        // Nobody keeps sources in a pipe.
        Unread::Special => false,
        Unread::File => match session.tree.content(&skip.path) {
            Ok((bytes, _)) => source && names_any(&bytes, language, changes),
            Err(_) => source,
        },
    }
}

/// Whether bytes hold the last part of the old name of any change.
fn names_any(bytes: &[u8], language: LanguageKind, changes: &[Change]) -> bool {
    changes.iter().any(|change| {
        let last = change.from.rsplit(language.separator()).next();
        let needle = last.unwrap_or_default().as_bytes();
        bytes
            .windows(needle.len().max(1))
            .any(|window| window == needle)
    })
}

/// Files that nest so deeply that they were not parsed, and hold the name of what moves.
fn too_deep(session: &Session, checked: &Checked) -> Vec<Finding> {
    let python = session.python.files.iter().filter_map(|(path, facts)| {
        let (_, why) = facts.syntax_error.as_ref()?;
        Some((path, why.clone(), LanguageKind::Python))
    });
    let rust = session.rust.files.iter().filter_map(|(path, facts)| {
        let coalesce_rust::facts::Facts::Source(facts) = &**facts else {
            return None;
        };
        let problem = facts.problem.as_ref()?;
        Some((path, problem.message.to_string(), LanguageKind::Rust))
    });
    let deep = python.chain(rust).filter(|(path, why, language)| {
        let changes = checked.changes.iter().find(|(kind, _)| *kind == language);
        (why.starts_with("nested too deeply") || why.starts_with("too long to be parsed"))
            && session.tree.text(path).is_some_and(|text| {
                changes.is_some_and(|(_, changes)| names_any(text.as_bytes(), *language, changes))
            })
    });
    deep.map(|(path, why, _)| {
        finding(Skip {
            path: path.clone(),
            reason: why,
            unread: Unread::File,
        })
    })
    .collect()
}
