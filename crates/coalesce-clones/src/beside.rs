//! Files that stand beside each other on purpose, as far as paths say so: folders of which one mirrors the other
//! file by file, versions, and folders with one file for each model. Reads no text.

use std::collections::BTreeSet;

use coalesce_model::TreePath;

use crate::{report::Member, source::SourceFile};

/// Files of one name that two folders have from which on one mirrors the other.
const MIRRORED: usize = 3;
/// Names that files of any folder have.
const ANYWHERE: [&str; 17] = [
    "__init__", "base", "build", "common", "config", "core", "error", "errors", "init__", "lib",
    "main", "mod", "setup", "tests", "types", "utils", "version",
];
/// Folders in which each file is one of many that stand for themselves.
const ONE_FILE_EACH: [&str; 3] = ["models", "backbones", "model_zoo"];

/// Which files a tree has.
#[derive(Default)]
pub struct Layout {
    /// Their paths without what the names end with, sorted.
    paths: Vec<String>,
}

impl Layout {
    /// That of these files.
    #[must_use]
    pub fn new(files: &[SourceFile]) -> Self {
        let paths = files.iter().map(|file| stem(&file.path).to_owned());
        let mut paths: Vec<String> = paths.collect();
        paths.sort_unstable();
        Self { paths }
    }

    /// Whether some of these members stand beside each other on purpose: in folders that mirror each other, in folders
    /// of versions, or in files of which there is one for each model.
    #[must_use]
    pub fn parts(&self, members: &[Member]) -> bool {
        let paths: BTreeSet<&str> = members.iter().map(|member| stem(&member.path)).collect();
        let mut others = paths.iter();
        let Some(first) = others.next() else {
            return false;
        };
        let all = |is_so: &dyn Fn(&str) -> bool| others.clone().all(|other| is_so(other));
        paths.len() > 1
            && (all(&|other| self.mirror(first, other))
                || all(&|other| versions(first) != versions(other))
                || paths.iter().all(|path| is_one_each(path)))
    }

    /// Whether the folders in which the ways to two files part have files of the same names.
    fn mirror(&self, one: &str, other: &str) -> bool {
        let [left, right] = [one, other].map(|path| path.split('/').collect::<Vec<&str>>());
        let shared = left.iter().zip(&right);
        let shared = shared.take_while(|(one, other)| one == other).count();
        let folder = |path: &[&str], depth: usize| {
            let folders = path.get(..depth.min(path.len().saturating_sub(1)));
            folders.unwrap_or_default().join("/")
        };
        let parting = (folder(&left, shared + 1), folder(&right, shared + 1));
        let nearest = (folder(&left, left.len()), folder(&right, right.len()));
        self.have_same_names(&parting) || self.have_same_names(&nearest)
    }

    fn have_same_names(&self, (one, other): &(String, String)) -> bool {
        if one == other || one.is_empty() || other.is_empty() {
            return false;
        }
        let is_in = |inner: &str, outer: &str| {
            inner
                .strip_prefix(outer)
                .is_some_and(|rest| rest.starts_with('/'))
        };
        let is_nested = is_in(one, other) || is_in(other, one);
        let own: BTreeSet<&str> = self.names(one, is_nested).collect();
        let mut same = self
            .names(other, is_nested)
            .filter(|name| own.contains(name));
        same.nth(MIRRORED - 1).is_some()
    }

    /// What the files of a folder are called within it; `direct`: without those of folders in it.
    fn names(&self, folder: &str, direct: bool) -> impl Iterator<Item = &str> {
        let start = format!("{folder}/");
        let first = self.paths.partition_point(|path| *path < start);
        let below = self.paths.get(first..).unwrap_or_default().iter();
        let names = below.map_while(move |path| path.strip_prefix(&start));
        let names = names.filter(move |name| !direct || !name.contains('/'));
        let names = names.map(|name| name.trim_start_matches('_'));
        names.filter(|name| !ANYWHERE.contains(&file_name(name)))
    }
}

/// Whether they stand in several folders, in files that all have one name which is theirs: each folder has its own.
pub fn share_a_name(members: &[Member]) -> bool {
    let paths: BTreeSet<&str> = members.iter().map(|member| stem(&member.path)).collect();
    let mut names = paths
        .iter()
        .map(|path| file_name(path).trim_start_matches('_'));
    let Some(first) = names.next() else {
        return false;
    };
    paths.len() > 1 && !ANYWHERE.contains(&first) && names.all(|name| name == first)
}

/// A path without what the name of its file ends with.
fn stem(path: &TreePath) -> &str {
    let path = path.as_str();
    path.rsplit_once('.').map_or(path, |(stem, _)| stem)
}

fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// The words of a path that name versions: `v2`.
fn versions(path: &str) -> BTreeSet<&str> {
    let is_version = |word: &&str| {
        let number = word.strip_prefix('v').unwrap_or("");
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    path.split(['/', '_', '.', '-'])
        .filter(is_version)
        .collect()
}

/// Whether a file is in a folder with one for each model.
fn is_one_each(path: &str) -> bool {
    let mut folders = path.split('/').rev().skip(1);
    folders.any(|folder| ONE_FILE_EACH.contains(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parted(files: &[&str], members: &[&str]) -> bool {
        let mut paths: Vec<String> = files.iter().map(|path| (*path).to_owned()).collect();
        paths.sort_unstable();
        let member = |path: &&str| Member {
            path: TreePath::new(path).expect("it is a path"),
            item: String::new(),
            lines: (1, 9),
            start: 0,
        };
        let members: Vec<Member> = members.iter().map(member).collect();
        Layout { paths }.parts(&members)
    }

    #[test]
    fn folders_with_files_of_the_same_names_mirror_each_other() {
        let nested = [
            "p/array/random",
            "p/array/overlap",
            "p/array/slicing",
            "p/array/new/_random",
            "p/array/new/_overlap",
            "p/array/new/_slicing",
        ];
        assert!(parted(
            &nested,
            &["p/array/random.py", "p/array/new/_random.py"]
        ));
        assert!(!parted(
            &nested[..5],
            &["p/array/random.py", "p/array/new/_random.py"]
        ));
        let beside = [
            "p/amd/a/x",
            "p/amd/b/y",
            "p/amd/z",
            "p/nvidia/a/x",
            "p/nvidia/b/y",
            "p/nvidia/z",
        ];
        assert!(parted(&beside, &["p/amd/a/x.py", "p/nvidia/z.py"]));
        assert!(!parted(&beside, &["p/amd/a/x.py", "p/amd/z.py"]));
        let common = [
            "p/a/utils",
            "p/a/base",
            "p/a/types",
            "p/b/utils",
            "p/b/base",
            "p/b/types",
        ];
        assert!(!parted(&common, &["p/a/utils.py", "p/b/utils.py"]));
    }

    #[test]
    fn files_of_one_name_are_told_by_the_name() {
        let member = |path: &str| Member {
            path: TreePath::new(path).expect("it is a path"),
            item: String::new(),
            lines: (1, 9),
            start: 0,
        };
        for (one, other, expected) in [
            ("p/a/reader.py", "p/b/reader.py", true),
            ("p/a/_reader.py", "p/b/reader.py", true),
            ("p/a/reader.py", "p/a/reader.py", false),
            ("p/a/reader.py", "p/a/writer.py", false),
            ("p/a/utils.py", "p/b/utils.py", false),
            ("p/a/__init__.py", "p/b/__init__.py", false),
        ] {
            let told = share_a_name(&[member(one), member(other)]);
            assert_eq!(told, expected, "{one} {other}");
        }
    }

    #[test]
    fn versions_and_models_stand_beside_each_other() {
        for (members, expected) in [
            (["p/v1/a.py", "p/v2/a.py"], true),
            (["p/a.py", "p/v2/a.py"], true),
            (["p/v2/a.py", "p/v2/b.py"], false),
            (["p/models/a.py", "p/models/b/c.py"], true),
            (["p/models/a.py", "p/models/a.py"], false),
            (["p/models.py", "p/b.py"], false),
        ] {
            assert_eq!(parted(&[], &members), expected, "{members:?}");
        }
    }
}
