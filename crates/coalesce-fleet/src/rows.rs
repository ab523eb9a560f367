//! What is known of a repository's units before anything is asked: a row for each fingerprint of each.
//! `docs/fleet.md` says what each column holds.

use std::{path::Path, sync::Arc};

use coalesce_clones::{
    Corpus,
    corpus::Entry,
    pairs::{Minimum, counts},
};
use coalesce_engine::source_files;
use coalesce_model::{LanguageKind, TreePath};
use xxhash_rust::xxh3::xxh3_64;

use crate::fingerprints;

/// The version of the form; rows of another one are refused.
pub const FORM: i32 = 1;
/// What is smaller is no news of another repository.
const MINIMUM: Minimum = Minimum {
    lines: 4,
    tokens: 24,
};

/// One unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitRow {
    /// Its language.
    pub language: LanguageKind,
    /// Its name inside of the file.
    pub symbol: String,
    /// First and last line, 1-based.
    pub lines: (u32, u32),
    /// Its number: a hash of repository, path and place.
    pub unit: i64,
    /// Hash of its text without local names and messages.
    pub exact: i64,
    /// Its fingerprints.
    pub grams: Vec<i64>,
}

/// The units of a file that are large enough; none of what says that it is generated.
#[must_use]
pub fn units(repository: &str, path: &TreePath, text: &Arc<str>) -> Vec<UnitRow> {
    let mut files = source_files(path, text);
    files.retain(|file| !file.is_generated());
    let corpus = Corpus::new(files);
    let row = |entry: &Entry| {
        let (file, unit) = (corpus.file(entry), corpus.unit(entry));
        UnitRow {
            language: file.language,
            symbol: file.item_name(unit),
            lines: unit.lines,
            unit: number(repository, path.as_str(), file.language, unit.first),
            exact: (entry.exact ^ u64::from(entry.size)).cast_signed(),
            grams: fingerprints::of(corpus.body(entry)),
        }
    };
    let entries = corpus.entries.iter();
    let large = entries.filter(|entry| counts(&corpus, entry, MINIMUM));
    large.map(row).filter(|row| !row.grams.is_empty()).collect()
}

/// The number of a unit, by its place; `first` is its first token.
#[must_use]
pub fn number(repository: &str, path: &str, language: LanguageKind, first: u32) -> i64 {
    let place = format!("{repository}\n{path}\n{}\n{first}", language.as_str());
    xxh3_64(place.as_bytes()).cast_signed()
}

/// The number of a file's text.
#[must_use]
pub fn hash_of(text: &str) -> i64 {
    xxh3_64(text.as_bytes()).cast_signed()
}

/// What a repository is called where nobody says it: as its folder.
#[must_use]
pub fn name_of(root: &Path) -> Option<String> {
    let root = root.canonicalize().ok()?;
    Some(root.file_name()?.to_str()?.to_owned())
}
