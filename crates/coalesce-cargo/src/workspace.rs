//! What the root of a workspace says of a package: that it is a member, and what others inherit.

use coalesce_model::{ByteSpan, Edit, Texts, TreePath, lines};
use toml_edit::Item;

use crate::{
    Error,
    dependencies::{self, Entry},
    document::{edited, parse},
};

/// The manifest of the workspace around a directory, and its directory.
#[must_use]
pub fn root(texts: &dyn Texts, directory: &TreePath) -> Option<(TreePath, TreePath)> {
    let mut at = Some(directory.clone());
    while let Some(here) = at {
        let manifest = here.join("Cargo.toml").ok()?;
        let text = texts.text(&manifest);
        if let Some(found) = text.as_deref().and_then(|text| parse(text).ok())
            && let Some(workspace) = found.get("workspace")
        {
            return (!excludes(workspace, &here, directory)).then_some((manifest, here));
        }
        at = here.parent();
    }
    None
}

/// Whether a workspace leaves a directory out.
fn excludes(workspace: &Item, root: &TreePath, directory: &TreePath) -> bool {
    let list = workspace.get("exclude").and_then(Item::as_array);
    list.into_iter().flatten().any(|path| {
        let path = path.as_str().and_then(|path| root.join(path).ok());
        path.is_some_and(|path| path == *directory || directory.strip_prefix(&path).is_some())
    })
}

/// What `[workspace.dependencies]` says of a package in a directory.
///
/// # Errors
/// When the manifest does not parse, or cannot be edited as it is written.
pub fn shared(text: &str, root: &TreePath, directory: &TreePath) -> Result<Option<Entry>, Error> {
    Ok(shared_dependencies(text)?.into_iter().find(|entry| {
        let path = entry.string("path").and_then(|path| root.join(&path).ok());
        path.as_ref() == Some(directory)
    }))
}

/// What `[workspace.dependencies]` has for all members, sorted by place.
///
/// # Errors
/// When the manifest does not parse.
pub fn shared_dependencies(text: &str) -> Result<Vec<Entry>, Error> {
    dependencies::table(text, &["workspace", "dependencies"])
}

/// Without the member, and without what speaks of it for others.
///
/// # Errors
/// When the manifest does not parse, or cannot be edited as it is written.
pub fn without(text: &str, root: &TreePath, directory: &TreePath) -> Result<String, Error> {
    let mut text = text.to_owned();
    for list in ["members", "default-members"] {
        text = without_member(&text, list, root, directory)?;
    }
    if let Some(entry) = shared(&text, root, directory)? {
        text = dependencies::remove(&text, &entry)?;
    }
    for source in sources(&text)? {
        let all = dependencies::table(&text, &["patch", &source])?;
        let own = all.into_iter().find(|entry| {
            let path = entry.string("path").and_then(|path| root.join(&path).ok());
            path.as_ref() == Some(directory)
        });
        if let Some(own) = own {
            text = dependencies::remove(&text, &own)?;
        }
    }
    Ok(text)
}

/// The sources that `[patch]` patches.
fn sources(text: &str) -> Result<Vec<String>, Error> {
    let document = parse(text)?;
    let patch = document.get("patch").and_then(Item::as_table_like);
    let names = patch.into_iter().flat_map(|table| table.iter());
    Ok(names.map(|(name, _)| name.to_owned()).collect())
}

fn without_member(
    text: &str,
    list: &str,
    root: &TreePath,
    directory: &TreePath,
) -> Result<String, Error> {
    let document = parse(text)?;
    let array = document
        .get("workspace")
        .and_then(|workspace| workspace.get(list)?.as_array());
    let Some(array) = array else {
        return Ok(text.to_owned());
    };
    let spans: Vec<(ByteSpan, bool)> = array
        .iter()
        .filter_map(|value| {
            let named = value.as_str().and_then(|path| root.join(path).ok());
            let span = ByteSpan::from_range(value.span()?);
            Some((span, named.as_ref() == Some(directory)))
        })
        .collect();
    let Some(at) = spans.iter().position(|(_, own)| *own) else {
        return Ok(text.to_owned());
    };
    let Some((span, _)) = spans.get(at) else {
        return Ok(text.to_owned());
    };
    let line = ByteSpan::new(
        lines::line_start(text, span.start),
        lines::line_end(text, span.end),
    );
    let before = ByteSpan::new(line.start, span.start).of(text);
    let after = ByteSpan::new(span.end, line.end).of(text);
    let alone = before.is_some_and(|before| before.trim().is_empty())
        && after.is_some_and(|after| {
            let rest = after.trim().trim_start_matches(',').trim();
            rest.is_empty() || rest.starts_with('#')
        });
    if alone {
        return edited(text, Edit::delete(line));
    }
    let next = spans.get(at + 1).map(|(next, _)| next.start);
    let last = at.checked_sub(1).and_then(|at| spans.get(at));
    let gone = match (next, last) {
        (Some(next), _) => ByteSpan::new(span.start, next),
        (None, Some((last, _))) => ByteSpan::new(last.end, span.end),
        (None, None) => *span,
    };
    edited(text, Edit::delete(gone))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_goes_with_all_that_speaks_of_it() {
        let (root, old) = (TreePath::root(), TreePath::new("crates/old").unwrap());
        for (before, after) in [
            (
                "[workspace]\nmembers = [\"app\", \"crates/old\", \"z\"]\n",
                "[workspace]\nmembers = [\"app\", \"z\"]\n",
            ),
            (
                "[workspace]\nmembers = [\n    \"app\",\n    \"crates/old\", # why\n]\ndefault-members = [\"crates/old\"]\n",
                "[workspace]\nmembers = [\n    \"app\",\n]\ndefault-members = []\n",
            ),
            (
                "[workspace]\nmembers = [\"crates/*\"]\n\n[workspace.dependencies]\nold = { path = \"crates/old\" }\nserde = \"1\"\n\n[patch.crates-io]\nold = { path = \"./crates/old\" }\n",
                "[workspace]\nmembers = [\"crates/*\"]\n\n[workspace.dependencies]\nserde = \"1\"\n",
            ),
        ] {
            assert_eq!(without(before, &root, &old).unwrap(), after, "{before}");
        }
    }
}
