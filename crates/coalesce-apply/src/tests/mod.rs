//! The laws of apply: all or nothing, undone byte for byte, both ways open after any stop, and
//! nothing lost that somebody writes meanwhile.

#[cfg(feature = "git")]
mod dirty;
mod faults;
mod hostile;
mod power;
mod races;
mod refusals;
mod undo;

use std::{collections::BTreeMap, fs, path::Path};

use coalesce_model::{ContentHash, TreePath};

use crate::{Content, FileChange, Stamp, system::mode};

/// Everything below a directory: bytes and permission bits.
type Snapshot = BTreeMap<String, (Option<Vec<u8>>, u32)>;

fn snapshot(root: &Path) -> Snapshot {
    let mut found = Snapshot::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path
                .strip_prefix(root)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let bytes = metadata.is_file().then(|| fs::read(&path).unwrap());
            found.insert(name, (bytes, mode(&metadata)));
            if metadata.is_dir() {
                open.push(path);
            }
        }
    }
    found
}

/// What a user sees: without our own state.
fn seen(root: &Path) -> Snapshot {
    let mut snapshot = snapshot(root);
    snapshot.retain(|name, _| !name.starts_with(".coalesce"));
    snapshot
}

fn path(text: &str) -> TreePath {
    TreePath::new(text).unwrap()
}

fn write(root: &Path, name: &str, bytes: impl AsRef<[u8]>) {
    let file = root.join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, bytes).unwrap();
}

/// The changes that bring each of `after` about in the tree as it is; `None` deletes.
fn changes(root: &Path, after: &[(&str, Option<&str>)]) -> Vec<FileChange> {
    let change = |(name, text): &(&str, Option<&str>)| {
        let file = root.join(name);
        let before = fs::read(&file).ok().map(|bytes| Stamp {
            hash: ContentHash::of(&bytes),
            mode: mode(&fs::metadata(&file).unwrap()),
        });
        let after = text.map(|text| Content {
            bytes: text.into(),
            mode: None,
        });
        FileChange {
            path: path(name),
            before,
            after,
        }
    };
    after.iter().map(change).collect()
}

const BEFORE: &[(&str, &str)] = &[
    ("a/old.py", "x = 1\r\n"),
    ("a/b/c.py", "\u{feff}y"),
    ("keep.py", "k"),
    ("edit.py", "from a import old\n"),
    ("p/a.py", "1"),
    ("p/b.py", "2"),
];
/// A move, a deletion that empties directories, an edit, and two files that change places.
const AFTER: &[(&str, Option<&str>)] = &[
    ("a/old.py", None),
    ("a/b/c.py", None),
    ("n/m/new.py", Some("x = 1\r\n")),
    ("edit.py", Some("from n.m import new\n")),
    ("p/a.py", Some("2")),
    ("p/b.py", Some("1")),
];

/// The tree of `BEFORE`, with permission bits of its own.
fn tree() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in BEFORE {
        write(directory.path(), name, text);
    }
    #[cfg(unix)]
    for (name, bits) in [("edit.py", 0o755), ("a/b/c.py", 0o640), ("a/b", 0o750)] {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(bits);
        fs::set_permissions(directory.path().join(name), mode).unwrap();
    }
    directory
}
