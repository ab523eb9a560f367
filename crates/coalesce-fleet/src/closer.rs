//! The closer look: the texts of candidates beside each other, and the verdict that `audit` would give.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use coalesce_clones::{
    Corpus, SourceFile, Unit,
    align::{self, Difference},
    evidence::{Evidence, Room},
    grams::Runs,
    likelihood::likelihood,
    verdict::{Verdict, verdict},
};
use coalesce_engine::source_files;
use coalesce_model::TreePath;
use coalesce_tree::plain::{self, Links};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    engine::{Asked, Candidate, File},
    rows::{hash_of, number},
};

/// A file that is longer has no rows.
const MOST_BYTES: u64 = 64 << 20;

/// The texts of all units of which one was named beside another text.
pub struct Texts {
    corpus: Corpus,
    entries: FxHashMap<i64, u32>,
    /// Files that are gone, or have changed since their rows were written.
    pub gone: usize,
}

impl Texts {
    /// Reads them. `trees` is a folder of all repositories, where they are not where they were.
    #[must_use]
    pub fn read(asked: &Asked, trees: Option<&Path>) -> Self {
        let (same, different): (Vec<&Candidate>, Vec<&Candidate>) =
            asked.candidates.iter().partition(|pair| pair.same);
        let texts = different.into_iter().flat_map(|pair| [pair.a, pair.b]);
        let texts: FxHashSet<i64> = texts.collect();
        // All units of these texts: each may be told beside one of another text.
        let more = same.into_iter().filter(|pair| texts.contains(&pair.a));
        let units = more.map(|pair| pair.b).chain(texts.iter().copied());
        let files = units.filter_map(|unit| Some(asked.units.get(&unit)?.file));
        let files: FxHashSet<usize> = files.collect();
        let read = asked.files.par_iter().enumerate().map(|(at, file)| {
            let root = || match trees {
                Some(trees) => trees.join(&file.repository),
                None => PathBuf::from(&file.root),
            };
            files.contains(&at).then(|| read(file, &root()))
        });
        let read: Vec<Option<Option<Vec<SourceFile>>>> = read.collect();
        let read: Vec<Option<Vec<SourceFile>>> = read.into_iter().flatten().collect();
        let gone = read.iter().filter(|one| one.is_none()).count();
        let corpus = Corpus::new(read.into_iter().flatten().flatten().collect());
        let entries = (0..).zip(&corpus.entries).filter_map(|(at, entry)| {
            let (file, unit) = (corpus.file(entry), corpus.unit(entry));
            let (repository, path) = file.path.as_str().split_once('/')?;
            Some((number(repository, path, file.language, unit.first), at))
        });
        Self {
            entries: entries.collect(),
            gone,
            corpus,
        }
    }

    /// Of the candidates that are not the same text those that are copies, and how many could be
    /// compared.
    #[must_use]
    pub fn copies(&self, asked: &Asked) -> (Vec<(i64, i64)>, usize) {
        let different = asked.candidates.iter().filter(|pair| !pair.same);
        let different: Vec<(i64, i64)> = different.map(|pair| (pair.a, pair.b)).collect();
        let entry = |unit: &i64| self.entries.get(unit).copied();
        let chosen = different.iter().flat_map(|(a, b)| [entry(a), entry(b)]);
        let mut chosen: Vec<u32> = chosen.flatten().collect();
        chosen.sort_unstable();
        chosen.dedup();
        let runs = Runs::new(&self.corpus, chosen);
        let judged = different
            .par_iter()
            .map_init(Room::default, |room, (a, b)| {
                let (a, b) = (entry(a)?, entry(b)?);
                Some(self.is_copy(&runs, (a.min(b), a.max(b)), room))
            });
        let judged: Vec<Option<bool>> = judged.collect();
        let compared = judged.iter().flatten().count();
        let copies = different.into_iter().zip(judged);
        let copies = copies.filter(|(_, told)| *told == Some(true));
        (copies.map(|(pair, _)| pair).collect(), compared)
    }

    fn is_copy(&self, runs: &Runs, pair: (u32, u32), room: &mut Room) -> bool {
        Evidence::of_pair(&self.corpus, runs, pair, room).is_some_and(|evidence| {
            let likely = likelihood(&evidence, &self.corpus.fitted);
            let verdict = verdict(&evidence, likely);
            // What is too little to be told alone counts for what is around it.
            matches!(verdict, Verdict::Duplicate | Verdict::Minor)
        })
    }

    /// What each of two units has that the other has not; the first is member 0. `None` where they were
    /// not read.
    #[must_use]
    pub fn differences(&self, a: i64, b: i64) -> Option<Vec<Difference>> {
        Some(align::differences(&[self.place(a)?, self.place(b)?]))
    }

    fn place(&self, unit: i64) -> Option<(&SourceFile, &Unit)> {
        let entry = self.entries.get(&unit)?;
        let entry = self.corpus.entries.get(*entry as usize)?;
        Some((self.corpus.file(entry), self.corpus.unit(entry)))
    }
}

/// A file as it was when its rows were written, below the name of its repository.
fn read(file: &File, root: &Path) -> Option<Vec<SourceFile>> {
    let path = TreePath::new(&file.path).ok()?;
    let text = plain::read_to_string(&root.join(path.as_str()), MOST_BYTES, Links::Refuse).ok()?;
    if hash_of(&text) != file.hash {
        return None;
    }
    let path = TreePath::new(&format!("{}/{}", file.repository, file.path)).ok()?;
    Some(source_files(&path, &Arc::from(text)))
}
