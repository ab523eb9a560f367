//! The laws of reading: what the walk sees, what is skipped and said so, and that cached facts are
//! those of the file as it is.

#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

mod words;

use std::{fs, path::Path, sync::atomic::Ordering};

use coalesce_model::{ContentHash, Texts as _, TreePath};
use coalesce_tree::{ErrorKind, FactsCache, SourceTree};

use crate::words::Words;

fn write(root: &Path, name: &str, bytes: impl AsRef<[u8]>) {
    let file = root.join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, bytes).unwrap();
}

fn paths(tree: &SourceTree) -> Vec<&str> {
    tree.paths().iter().map(TreePath::as_str).collect()
}

fn path(text: &str) -> TreePath {
    TreePath::new(text).unwrap()
}

#[test]
fn the_walk_obeys_the_ignore_files_of_the_tree_and_passes_by_what_is_no_source() {
    let directory = tempfile::tempdir().unwrap();
    let seen = [
        ".github/ci.yml",
        ".gitignore",
        "a/b.py",
        "a/kept.log",
        "coalesce.toml",
        "z.py",
    ];
    let unseen = [
        "a/gone.log",
        ".git/config",
        "sub/.git",
        "a/__pycache__/b.py",
        "node_modules/x.py",
        "target/CACHEDIR.TAG",
        "target/x.py",
        "venv/pyvenv.cfg",
        "venv/lib/x.py",
        ".coalesce/lock",
        "vendor/x.py",
        "old/x.py",
    ];
    for name in seen.iter().chain(&unseen) {
        write(directory.path(), name, "");
    }
    write(directory.path(), ".gitignore", "*.log\n!kept.log\n/old/\n");
    write(
        directory.path(),
        "coalesce.toml",
        "exclude = ['/vendor/']\n",
    );
    let tree = SourceTree::open(directory.path()).unwrap();
    assert_eq!(paths(&tree), seen);
    assert_eq!(tree.skips(), []);
}

#[test]
fn what_has_no_text_is_skipped_with_its_reason_once_it_is_wanted() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    write(root, "binary.py", b"a\0b");
    write(root, "latin.py", b"caf\xe9");
    write(root, "picture.png", b"\x89PNG\0");
    write(root, "text.py", "\u{feff}x\r\n");
    fs::File::create(root.join("huge.py"))
        .and_then(|file| file.set_len(coalesce_tree::MAXIMUM_FILE_BYTES + 1))
        .unwrap();
    write(root, "pyproject.toml", vec![b'#'; (4 << 20) + 1]);
    let tree = SourceTree::open(root).unwrap();
    let facts = tree.facts(&Words::default(), None);
    assert_eq!(facts.len(), 1);
    assert_eq!(tree.text(&path("pyproject.toml")), None);
    assert_eq!(
        tree.text(&path("text.py")).as_deref(),
        Some("\u{feff}x\r\n")
    );
    assert_eq!(tree.text(&path("none.py")), None);
    let skips = tree.skips();
    let skips: Vec<_> = skips
        .iter()
        .map(|skip| (skip.path.as_str(), skip.reason.as_str()))
        .collect();
    let expected = [
        ("binary.py", "binary: it holds a NUL byte"),
        ("huge.py", "larger than 64 MiB"),
        ("latin.py", "not UTF-8 at byte 3, in line 1"),
        ("pyproject.toml", "larger than 4 MiB"),
    ];
    assert_eq!(skips, expected);
}

#[cfg(unix)]
#[test]
fn links_and_strange_names_are_named_and_never_followed() {
    use std::os::unix::{ffi::OsStrExt as _, fs::symlink};
    let (outside, directory) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let root = directory.path();
    write(outside.path(), "secret.py", "secret");
    symlink(outside.path(), root.join("out")).unwrap();
    symlink(outside.path().join("secret.py"), root.join("link.py")).unwrap();
    fs::write(root.join(std::ffi::OsStr::from_bytes(b"\xff.py")), "").unwrap();
    fs::write(root.join("a\\b.py"), "").unwrap();
    let tree = SourceTree::open(root).unwrap();
    assert_eq!(paths(&tree), ["link.py", "out"]);
    assert!(tree.facts(&Words::default(), None).is_empty());
    let reasons: Vec<_> = tree.skips().into_iter().map(|skip| skip.reason).collect();
    assert_eq!(
        reasons
            .iter()
            .filter(|reason| reason.contains("symbolic link"))
            .count(),
        2
    );
    assert_eq!(
        reasons
            .iter()
            .filter(|reason| reason.contains("its name"))
            .count(),
        2,
        "{reasons:?}"
    );
    for name in ["out/secret.py", "link.py"] {
        assert_eq!(
            tree.content(&path(name)).unwrap_err().kind(),
            ErrorKind::NotAFile
        );
    }
    for name in ["out/secret.py", "..", "none/../../x"] {
        assert_eq!(
            tree.tree_path(&root.join(name)).unwrap_err().kind(),
            ErrorKind::Outside
        );
    }
    assert_eq!(
        tree.tree_path(&root.join("new/x.py")).unwrap(),
        path("new/x.py")
    );
}

#[test]
fn a_text_that_was_forgotten_is_read_again_and_is_the_same_or_none() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), "a.py", "x = 1");
    write(directory.path(), "b.py", "y = 1");
    let mut tree = SourceTree::open(directory.path()).unwrap();
    let (a, b) = (path("a.py"), path("b.py"));
    assert!(tree.text(&a).is_some() && tree.text(&b).is_some());
    write(directory.path(), "b.py", "y = 2");
    tree.forget_texts(10);
    assert_eq!(tree.text(&b).as_deref(), Some("y = 1"), "so few are kept");
    tree.forget_texts(9);
    assert_eq!(tree.text(&a).as_deref(), Some("x = 1"));
    assert_eq!(tree.text(&b), None);
    let reasons: Vec<String> = tree
        .skips()
        .iter()
        .map(|skip| skip.reason.clone())
        .collect();
    assert_eq!(reasons, ["it changed while the tree was read"]);
}

#[test]
fn a_root_that_is_none_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), "file", "");
    write(directory.path(), "bad/coalesce.toml", "exclud = []\n");
    for (name, kind) in [
        ("none", ErrorKind::NotFound),
        ("file", ErrorKind::NotADirectory),
        ("bad", ErrorKind::Settings),
    ] {
        let error = SourceTree::open(&directory.path().join(name))
            .err()
            .unwrap();
        assert_eq!(error.kind(), kind, "{error}");
    }
}

/// Facts of one run, and how many files were taken apart for them.
fn run(root: &Path, cache: &Path) -> (Vec<(String, usize)>, usize) {
    let (tree, words) = (SourceTree::open(root).unwrap(), Words::default());
    let cache = FactsCache::open_in(cache, &tree, &words);
    let facts = tree.facts(&words, Some(&cache));
    let facts = facts
        .into_iter()
        .map(|(path, count)| (path.to_string(), *count))
        .collect();
    (facts, words.taken.load(Ordering::Relaxed))
}

fn age(file: &Path) {
    let past = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    fs::File::options()
        .write(true)
        .open(file)
        .and_then(|file| file.set_modified(past))
        .unwrap();
}

#[test]
fn cached_facts_are_those_of_the_file_as_it_is() {
    let (directory, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let root = directory.path();
    write(root, "a.py", "one two");
    write(root, "b.py", "one");
    let both = |a: usize| vec![("a.py".to_owned(), a), ("b.py".to_owned(), 1)];
    assert_eq!(run(root, cache.path()), (both(2), 2));
    // Fresh files are read again, and known by their hash.
    assert_eq!(run(root, cache.path()), (both(2), 0));
    // Another text of the same length, its time set back.
    write(root, "a.py", "one 2 3");
    age(&root.join("a.py"));
    assert_eq!(run(root, cache.path()), (both(3), 1));
    fs::remove_file(root.join("b.py")).unwrap();
    assert_eq!(run(root, cache.path()), (vec![("a.py".to_owned(), 3)], 0));
}

#[test]
fn a_damaged_cache_is_dropped_wherever_the_damage_is() {
    let (directory, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(directory.path(), "a.py", "one two");
    let facts = vec![("a.py".to_owned(), 2)];
    run(directory.path(), cache.path());
    let file = fs::read_dir(cache.path())
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let whole = fs::read(&file).unwrap();
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        fs::write(&file, &damaged).unwrap();
        assert_eq!(
            run(directory.path(), cache.path()),
            (facts.clone(), 1),
            "byte {at}"
        );
        fs::write(&file, &whole[..at]).unwrap();
        assert_eq!(
            run(directory.path(), cache.path()),
            (facts.clone(), 1),
            "cut at {at}"
        );
    }
}

#[test]
fn a_cache_of_any_length_is_not_read() {
    let (directory, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(directory.path(), "a.py", "one two");
    let facts = vec![("a.py".to_owned(), 2)];
    run(directory.path(), cache.path());
    let mut entries = fs::read_dir(cache.path()).unwrap();
    let file = entries.next().unwrap().unwrap().path();
    let opened = fs::File::options().write(true).open(&file).unwrap();
    // Nothing of it is on the disk.
    opened.set_len((4 << 30) + 1).unwrap();
    assert_eq!(run(directory.path(), cache.path()), (facts.clone(), 1));
    assert_eq!(run(directory.path(), cache.path()), (facts, 0));
    assert!(fs::metadata(&file).unwrap().len() < 4_096);
}

/// What others may have written says what they like.
#[cfg(unix)]
#[test]
fn a_cache_that_others_may_have_written_is_not_read() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let (directory, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(directory.path(), "a.py", "one two");
    let facts = vec![("a.py".to_owned(), 2)];
    let taken = || run(directory.path(), cache.path());
    assert_eq!(taken(), (facts.clone(), 1));
    assert_eq!(taken(), (facts.clone(), 0), "it is read");
    let mut entries = fs::read_dir(cache.path()).unwrap();
    let file = entries.next().unwrap().unwrap().path();
    for mode in [0o666, 0o620, 0o602] {
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(taken(), (facts.clone(), 1), "{mode:o}");
        assert_eq!(taken(), (facts.clone(), 0), "made anew");
    }
    let elsewhere = directory.path().join("cache");
    fs::rename(&file, &elsewhere).unwrap();
    symlink(&elsewhere, &file).unwrap();
    assert_eq!(taken(), (facts.clone(), 1), "a link");
    fs::remove_file(&file).unwrap();
    let pipe = std::process::Command::new("mkfifo").arg(&file).status();
    if pipe.is_ok_and(|status| status.success()) {
        assert_eq!(taken(), (facts, 1), "a pipe");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn settled_files_are_not_even_opened() {
    let (directory, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(directory.path(), "a.py", "one two");
    // The time of change cannot be set back, so it is waited for.
    std::thread::sleep(std::time::Duration::from_millis(2_100));
    run(directory.path(), cache.path());
    let (tree, words) = (
        SourceTree::open(directory.path()).unwrap(),
        Words::default(),
    );
    let cache = FactsCache::open_in(cache.path(), &tree, &words);
    write(directory.path(), "a.py", "one two three");
    assert_eq!(*tree.facts(&words, Some(&cache))[0].1, 2);
    // What the facts were taken from is no longer there: it must not be edited by them.
    assert_eq!(tree.text(&path("a.py")), None);
    assert!(
        tree.skips()[0].reason.contains("changed"),
        "{:?}",
        tree.skips()
    );
    assert_eq!(tree.seen(&path("a.py")), Some(ContentHash::of(b"one two")));
}

/// Whoever opens a pipe that nobody writes to waits for ever.
#[cfg(unix)]
#[test]
fn nobody_waits_for_a_pipe_and_nothing_is_read_from_outside() {
    let pipe = |path: &Path| {
        let made = std::process::Command::new("mkfifo").arg(path).status();
        made.is_ok_and(|status| status.success())
    };
    let outside = tempfile::tempdir().unwrap();
    write(outside.path(), "rules", "*.py\n");
    for name in [
        ".gitignore",
        ".ignore",
        "coalesce.toml",
        "a/.gitignore",
        "a/.ignore",
        "a/b.py",
    ] {
        for linked in [false, true] {
            let directory = tempfile::tempdir().unwrap();
            let root = directory.path();
            write(root, "a/c.py", "");
            write(root, "z.py", "");
            let at = root.join(name);
            if linked {
                std::os::unix::fs::symlink(outside.path().join("rules"), &at).unwrap();
            } else if !pipe(&at) {
                eprintln!("skipped: there is no mkfifo");
                return;
            }
            let tree = SourceTree::open(root);
            if !name.starts_with("a/") {
                assert!(tree.is_err(), "{name} {linked}");
                continue;
            }
            let tree = tree.unwrap();
            // The directory was not listed, and that is said.
            assert!(paths(&tree).contains(&"z.py"), "{name} {linked}");
            let skips = tree.skips();
            let reasons: Vec<_> = skips.iter().map(|skip| skip.reason.as_str()).collect();
            assert_eq!(skips.len(), 1, "{name} {linked}: {reasons:?}");
        }
    }
}

/// A link to a file of the tree is as good as the file.
#[cfg(unix)]
#[test]
fn an_ignore_file_may_be_a_link_inside_the_tree() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    write(root, "rules", "gone.py\n");
    write(root, "a/gone.py", "");
    write(root, "a/kept.py", "");
    std::os::unix::fs::symlink("../rules", root.join("a/.gitignore")).unwrap();
    std::os::unix::fs::symlink("nowhere", root.join(".gitignore")).unwrap();
    let tree = SourceTree::open(root).unwrap();
    assert!(paths(&tree).contains(&"a/kept.py"));
    assert!(!paths(&tree).contains(&"a/gone.py"));
}
