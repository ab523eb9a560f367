//! Which files the compiler has read, and what was set when it did.
//!
//! Cargo names what it has made, also where that was fresh; beside each stands the compiler's own list
//! of the files that it was made from.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use crate::{check::CompiledFile, scratch::path_in};

/// One thing that was compiled.
pub(crate) struct Artifact {
    /// Its package, as cargo calls it.
    pub package: String,
    /// The features that were on.
    pub features: Vec<String>,
    /// What was made.
    pub filenames: Vec<PathBuf>,
    /// Whether with its tests.
    pub test: bool,
}

/// Everything that one call of cargo has made, of packages of the tree.
#[derive(Default)]
pub(crate) struct Artifacts {
    all: Vec<Artifact>,
    /// What build scripts have set, by package.
    set: BTreeMap<String, Vec<String>>,
}

impl Artifacts {
    /// Adds what was made.
    pub fn add(&mut self, artifact: Artifact) {
        self.all.push(artifact);
    }

    /// Adds what a build script has set for its package.
    pub fn set_by_build_script(&mut self, package: String, names: Vec<String>) {
        self.set.entry(package).or_default().extend(names);
    }

    /// The files of the tree that were compiled; `set` is what the compiler sets for the target, and
    /// `place` the directory that it ran in.
    pub fn files(&self, tree: &Path, place: &Path, set: &[String]) -> Vec<CompiledFile> {
        let mut found = BTreeSet::new();
        for artifact in &self.all {
            let names = self.names(artifact, set);
            let made = artifact.filenames.iter();
            let lists = made.filter_map(|made| list_beside(made));
            let texts = lists.filter_map(|list| fs::read_to_string(list).ok());
            for text in texts {
                let sources = sources(&text).into_iter();
                let inside = sources.filter_map(|source| path_in(tree, &place.join(source)));
                found.extend(inside.map(|path| CompiledFile {
                    path,
                    names: names.clone(),
                }));
            }
        }
        found.into_iter().collect()
    }

    fn names(&self, artifact: &Artifact, set: &[String]) -> Vec<String> {
        let features = artifact.features.iter();
        let mut names = set.to_vec();
        names.extend(features.map(|feature| format!("feature=\"{feature}\"")));
        names.extend(
            self.set
                .get(&artifact.package)
                .into_iter()
                .flatten()
                .cloned(),
        );
        if artifact.test {
            names.push("test".to_owned());
        }
        names.sort();
        names.dedup();
        names
    }
}

/// The compiler's list beside what it has made: `libname-hash.rmeta` has `name-hash.d`.
fn list_beside(made: &Path) -> Option<PathBuf> {
    let stem = made.file_stem()?.to_str()?;
    let of =
        |stem: &str| Some(made.with_file_name(format!("{stem}.d"))).filter(|list| list.is_file());
    stem.strip_prefix("lib").and_then(of).or_else(|| of(stem))
}

/// The files of a list in make's format: what stands behind the first colon of its first rule.
fn sources(list: &str) -> Vec<String> {
    let Some((_, named)) = list.lines().next().and_then(|rule| rule.split_once(": ")) else {
        return Vec::new();
    };
    let mut sources = Vec::new();
    let mut source = String::new();
    let mut letters = named.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.peek() == Some(&' ') => source.extend(letters.next()),
            ' ' => sources.push(std::mem::take(&mut source)),
            _ => source.push(letter),
        }
    }
    sources.push(source);
    sources.retain(|source| !source.is_empty());
    sources
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_what_was_made_come_with_what_was_set() {
        let scratch = tempfile::tempdir().unwrap();
        let made = scratch.path().join("liba-1.rmeta");
        let list = format!(
            "{}: src/lib.rs src/two\\ words.rs /registry/x.rs\n\nsrc/lib.rs:\n",
            made.display()
        );
        fs::write(scratch.path().join("a-1.d"), list).unwrap();
        let mut artifacts = Artifacts::default();
        artifacts.add(Artifact {
            package: "a".to_owned(),
            features: vec!["cuda".to_owned()],
            filenames: vec![made],
            test: true,
        });
        artifacts.set_by_build_script("a".to_owned(), vec!["fast".to_owned()]);
        let tree = Path::new("/s/tree");
        let files = artifacts.files(tree, &tree.join("a"), &["unix".to_owned()]);
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["a/src/lib.rs", "a/src/two words.rs"]);
        let names = files
            .first()
            .map(|file| file.names.clone())
            .unwrap_or_default();
        assert_eq!(names, ["fast", "feature=\"cuda\"", "test", "unix"]);
    }
}
