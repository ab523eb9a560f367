//! What the tests of this package have in common: trees as data, and what is different in them.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context as _, ensure};

/// A tree: path to bytes; `None` is a directory.
pub type Tree = BTreeMap<String, Option<Vec<u8>>>;

/// Every file, link and folder below `root`, but the journal of the program.
///
/// # Errors
/// When a file cannot be read or written.
pub fn read_tree(root: &Path) -> anyhow::Result<Tree> {
    let mut tree = Tree::new();
    let mut left = vec![root.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(&directory).with_context(|| directory.display().to_string())? {
            let path = entry?.path();
            let name = path
                .strip_prefix(root)?
                .to_string_lossy()
                .replace('\\', "/");
            // The journal is the tool's own and no part of the tree.
            if name == ".coalesce" {
                continue;
            }
            if path.is_symlink() {
                let target = fs::read_link(&path)?.to_string_lossy().into_owned();
                tree.insert(name, Some(format!("-> {target}").into_bytes()));
            } else if path.is_dir() {
                tree.insert(name, None);
                left.push(path);
            } else {
                tree.insert(name, Some(fs::read(&path)?));
            }
        }
    }
    Ok(tree)
}

/// Writes `tree` below `root`.
///
/// # Errors
/// When a file cannot be read or written.
pub fn write_tree(root: &Path, tree: &Tree) -> anyhow::Result<()> {
    fs::create_dir_all(root)?;
    for (name, bytes) in tree {
        let path = root.join(name);
        match bytes {
            None => fs::create_dir_all(&path)?,
            Some(bytes) => fs::write(&path, bytes).with_context(|| path.display().to_string())?,
        }
    }
    Ok(())
}

/// Writes a file below `root`, and the folders above it.
///
/// # Errors
/// When it cannot be written.
pub fn write_file(root: &Path, name: &str, text: impl AsRef<[u8]>) -> anyhow::Result<()> {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap_or(root))?;
    fs::write(&path, text).with_context(|| path.display().to_string())
}

/// Makes a symbolic link.
///
/// # Errors
/// When a file cannot be read or written.
#[cfg(unix)]
pub fn link(target: &str, path: &Path) -> anyhow::Result<()> {
    Ok(std::os::unix::fs::symlink(target, path)?)
}

/// Makes a symbolic link.
///
/// # Errors
/// When a file cannot be read or written.
#[cfg(not(unix))]
pub fn link(_: &str, _: &Path) -> anyhow::Result<()> {
    anyhow::bail!("symbolic links are tried on unix only")
}

/// Expects two trees to be the same.
///
/// # Errors
/// When they differ.
pub fn compare(expected: &Tree, actual: &Tree) -> anyhow::Result<()> {
    let mut wrong = Vec::new();
    for (name, bytes) in expected {
        match actual.get(name) {
            None => wrong.push(format!("{name} is missing")),
            Some(other) if other != bytes => {
                let text = |bytes: &Option<Vec<u8>>| {
                    String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned()
                };
                wrong.push(format!(
                    "{name} differs:\n{}",
                    difference(&text(bytes), &text(other))
                ));
            }
            Some(_) => {}
        }
    }
    let extra = actual.keys().filter(|name| !expected.contains_key(*name));
    wrong.extend(extra.map(|name| format!("{name} should not be there")));
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

/// Two texts as a unified diff, without its head.
#[must_use]
pub fn difference(expected: &str, actual: &str) -> String {
    let file = coalesce_model::TreePath::root();
    let side = |text| {
        Some(coalesce_report::diff::Side {
            path: &file,
            text: Some(text),
        })
    };
    let diff = coalesce_report::diff::file_diff(side(expected), side(actual));
    diff.lines().skip(3).collect::<Vec<_>>().join("\n")
}
