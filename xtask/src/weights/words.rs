//! `cargo xtask words DIRECTORY`: how common words are in the labelled trees, one tree of each
//! repository, as `crates/coalesce-clones/src/common.tsv` has it.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use anyhow::bail;
use coalesce_clones::{
    Corpus,
    common::{FEWEST, Role, UNITS},
};
use coalesce_model::{LanguageKind, UnitKind};

use super::{labels::Labels, measure::sources};
use crate::repository::Repository;

const HELP: &str = "\
cargo xtask words DIRECTORY

Prints crates/coalesce-clones/src/common.tsv: words that many units of several repositories have.
DIRECTORY holds the trees of xtask/labels/, as `weights` wants them.
";
/// Repositories that must have a word: what fewer have is theirs.
const REPOSITORIES: usize = 3;
/// Units that a tree must have of a language to be asked about it.
const LEAST_UNITS: usize = 400;

type Word = (LanguageKind, Role, String);

/// `cargo xtask words`.
pub fn run(repository: &Repository, arguments: Vec<String>) -> anyhow::Result<()> {
    let [directory] = arguments.as_slice() else {
        bail!("{HELP}");
    };
    let labels = Labels::read(&repository.root.join("xtask/labels"))?;
    let mut trees: BTreeMap<&str, &str> = BTreeMap::new();
    for tree in &labels.trees {
        if Path::new(directory).join(&tree.name).is_dir() {
            trees.entry(&tree.repository).or_insert(&tree.name);
        }
    }
    let mut shares = Shares::default();
    for name in trees.values() {
        let corpus = Corpus::new(sources(&Path::new(directory).join(name))?);
        for language in LanguageKind::ALL {
            shares.extend_with(language, Counted::new(&corpus, language));
        }
    }
    println!("# language, role, units of {UNITS} that have it, word; made by `cargo xtask words`");
    for ((language, role, word), of) in &shares.words {
        let all = shares.asked.get(language).copied().unwrap_or(1) as f64;
        let count = (of.iter().sum::<f64>() / all * f64::from(UNITS)).round();
        if of.len() >= REPOSITORIES && count >= f64::from(FEWEST) {
            println!("{}\t{}\t{count}\t{word}", language.as_str(), role.as_str());
        }
    }
    Ok(())
}

/// Of several repositories, which share of their units has each word.
#[derive(Default)]
struct Shares {
    words: BTreeMap<Word, Vec<f64>>,
    /// How many repositories have enough units of a language.
    asked: BTreeMap<LanguageKind, usize>,
}

impl Shares {
    /// Adds what was counted in one repository, if it has enough of the language.
    fn extend_with(&mut self, language: LanguageKind, counted: Option<Counted>) {
        let Some(counted) = counted else {
            return;
        };
        *self.asked.entry(language).or_default() += 1;
        for ((role, word), count) in counted.words {
            let all = match role {
                Role::Function => counted.functions,
                _ => counted.units,
            };
            let of = self.words.entry((language, role, word)).or_default();
            of.push(count as f64 / all.max(1) as f64);
        }
    }
}

/// In how many units of one language each word is.
struct Counted {
    units: usize,
    functions: usize,
    words: BTreeMap<(Role, String), usize>,
}

impl Counted {
    fn new(corpus: &Corpus, language: LanguageKind) -> Option<Self> {
        let mut counted = Self {
            units: 0,
            functions: 0,
            words: BTreeMap::new(),
        };
        for entry in &corpus.entries {
            let (file, unit) = (corpus.file(entry), corpus.unit(entry));
            if file.language != language {
                continue;
            }
            counted.units += 1;
            let mut own: BTreeSet<(Role, &str)> = BTreeSet::new();
            for token in corpus.body(entry) {
                let word = token.span().of(&file.text).unwrap_or("");
                let word = word.trim_matches(['"', '\'']);
                own.extend(Role::of(token).map(|role| (role, word)));
            }
            if matches!(unit.kind, UnitKind::Function | UnitKind::Method) {
                counted.functions += 1;
                let name = unit.name_span.of(&file.text).unwrap_or("");
                own.insert((Role::Function, name));
            }
            let plain = |word: &str| !word.is_empty() && !word.contains(['\t', '\n', '\r']);
            for (role, word) in own.into_iter().filter(|(_, word)| plain(word)) {
                *counted.words.entry((role, word.to_owned())).or_default() += 1;
            }
        }
        (counted.units >= LEAST_UNITS).then_some(counted)
    }
}
