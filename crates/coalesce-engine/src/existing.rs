//! "Does this exist already?": the functions of a tree that a piece of code, or a signature, is like.
//!
//! An index of all units is kept between runs as facts are, so that a question costs the walk, the index
//! and the few files that are looked at closely. What is said of two texts is what `audit` says of them.

use std::{collections::BTreeSet, path::Path, sync::Arc};

use coalesce_clones::{
    Corpus, SourceFile, common,
    corpus::Entry,
    evidence::{Evidence, Room},
    grams::Runs,
    likelihood::likelihood,
    source::id_of,
    verdict::{Verdict, verdict},
};
use coalesce_model::{
    Grammar, LanguageKind, Texts as _, TreePath, UnitKind,
    envelope::{ExistingEntry, ExistingRelation, Share},
    language::Taken,
};
use coalesce_tree::{FactsCache, SourceTree};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use crate::{Failure, OUTLINERS};

/// Of runs of tokens one in so many is kept in the index.
const KEPT: u32 = 4;
/// Units that are compared closely.
const CLOSE: usize = 24;
/// The least likeness of signatures that is told.
const LIKE_SIGNATURE: f32 = 0.5;
/// The least share of common tokens that is told.
const ALIKE: f32 = 0.6;
/// The least share of a snippet that stands in something larger.
const INSIDE: f32 = 0.85;

/// What is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// A piece of code: functions, or statements of one.
    Snippet {
        /// The code.
        text: String,
        /// Its language; guessed where it is not said.
        language: Option<LanguageKind>,
    },
    /// A signature: `fn grow(&mut self, bytes: usize)`, `def normals(points, k)`, or a name alone.
    Signature(String),
}

/// Functions and types of the tree at `root` that are like what is wanted, the nearest first, at most
/// `limit`. `cache` keeps the index of the tree for the next question.
///
/// # Errors
/// When the tree cannot be read, or there is nothing in what is wanted that could be compared.
pub fn existing(
    root: &Path,
    cache: bool,
    wanted: &Wanted,
    limit: usize,
) -> Result<Vec<ExistingEntry>, Failure> {
    let tree = SourceTree::open(root).map_err(|error| Failure::user(error.to_string()))?;
    let kept = cache.then(|| FactsCache::open(&tree, &UnitIndex)).flatten();
    let index = tree.facts(&UnitIndex, kept.as_ref());
    let mut found = match wanted {
        Wanted::Snippet { text, language } => {
            let asked = Snippet::new(text, *language)?;
            asked.compare(&tree, &asked.candidates(&index))
        }
        Wanted::Signature(text) => Signature::new(text)?.find(&index),
    };
    sort_nearest_first(&mut found);
    // A signature is that of a function, and one in it may have it too.
    if matches!(wanted, Wanted::Snippet { .. }) {
        found = each_place_once(found);
    }
    found.truncate(limit);
    Ok(found)
}

fn sort_nearest_first(found: &mut [ExistingEntry]) {
    found.sort_by(|a, b| {
        by_nearness(b, a).then_with(|| (&a.path, a.lines).cmp(&(&b.path, b.lines)))
    });
}

/// Of places that stand in each other the first.
fn each_place_once(found: Vec<ExistingEntry>) -> Vec<ExistingEntry> {
    let mut told: Vec<ExistingEntry> = Vec::new();
    for entry in found {
        if !told.iter().any(|nearer| is_one_place(nearer, &entry)) {
            told.push(entry);
        }
    }
    told
}

/// Whether one of two places stands in the other: a function, and what is in it.
fn is_one_place(a: &ExistingEntry, b: &ExistingEntry) -> bool {
    let holds =
        |a: &ExistingEntry, b: &ExistingEntry| a.lines[0] <= b.lines[0] && b.lines[1] <= a.lines[1];
    a.path == b.path && (holds(a, b) || holds(b, a))
}

/// The index of a tree's units, as something that is kept between runs.
struct UnitIndex;

/// One unit, as far as a first look needs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct UnitKey {
    language: LanguageKind,
    item: String,
    lines: (u32, u32),
    exact: u64,
    parameters: Vec<u32>,
    runs: Vec<u32>,
}

impl Taken for UnitIndex {
    type Of = Vec<UnitKey>;

    const VERSION: u32 = 1;

    fn kept_as(&self) -> String {
        "units".to_owned()
    }

    fn files<'p>(&self, paths: &'p [TreePath]) -> BTreeSet<&'p TreePath> {
        let languages = OUTLINERS.iter();
        languages.flat_map(|one| one.sources(paths)).collect()
    }

    fn take(&self, path: &TreePath, text: &str) -> Vec<UnitKey> {
        let corpus = Corpus::new(source_files(path, &Arc::from(text)));
        let all = (0..corpus.entries.len()).filter_map(|at| u32::try_from(at).ok());
        let all: Vec<u32> = all.collect();
        let runs = Runs::new(&corpus, all.clone());
        let key = |at: &u32| {
            let entry = corpus.entries.get(*at as usize)?;
            let (file, unit) = (corpus.file(entry), corpus.unit(entry));
            Some(UnitKey {
                language: file.language,
                item: file.item_name(unit),
                lines: unit.lines,
                exact: entry.exact,
                parameters: entry.parameters.clone(),
                runs: kept(runs.of(*at)),
            })
        };
        all.iter().filter_map(key).collect()
    }
}

/// The runs that the index keeps: the same ones in every unit, and some of each.
fn kept(runs: &[u32]) -> Vec<u32> {
    let chosen = runs.iter().copied().filter(|run| run % KEPT == 0);
    let chosen: Vec<u32> = chosen.collect();
    if chosen.is_empty() {
        return runs.to_vec();
    }
    chosen
}

/// A file as the duplicate finder sees it: its own text, and kernels in its strings.
#[must_use]
pub fn source_files(path: &TreePath, text: &Arc<str>) -> Vec<SourceFile> {
    let mut read = OUTLINERS.iter().map(|one| one.source_files(path, text));
    read.find(|files| !files.is_empty()).unwrap_or_default()
}

type Index = [(TreePath, Arc<Vec<UnitKey>>)];

/// A place of the index: file, and lines of the unit.
type Place<'i> = (&'i TreePath, (u32, u32));

/// Code that is looked for.
struct Snippet {
    file: SourceFile,
    /// The entries of `file` alone, and their runs.
    corpus: Corpus,
    asked: Vec<u32>,
}

/// A function of a snippet, as far as the index needs it.
struct SnippetKey {
    exact: u64,
    runs: FxHashSet<u32>,
}

impl SnippetKey {
    /// How much a unit has in common with it, in thousandths of the smaller one, so that a copy inside of
    /// something larger counts; more than all for the same text.
    fn score(&self, unit: &UnitKey) -> u32 {
        if unit.exact == self.exact {
            return 2000;
        }
        let shared = unit.runs.iter().filter(|run| self.runs.contains(run));
        let few = self.runs.len().min(unit.runs.len()).max(1);
        u32::try_from(shared.count() * 1000 / few).unwrap_or(0)
    }
}

impl Snippet {
    fn new(text: &str, language: Option<LanguageKind>) -> Result<Self, Failure> {
        let nothing = || {
            let failure = Failure::user("there is no code in the snippet that could be compared");
            failure.hint("give a function, or the statements of one; `--language` says what it is")
        };
        let language = language.or_else(|| guessed(text)).ok_or_else(nothing)?;
        let whole = as_function(text, language);
        for text in std::iter::once(text.to_owned()).chain(whole) {
            let file = snippet_file(&text, language).ok_or_else(nothing)?;
            let corpus = Corpus::new(vec![file.clone()]);
            let asked: Vec<u32> = (0..)
                .zip(&corpus.entries)
                .filter(|(_, entry)| is_asked(&corpus, entry))
                .map(|(at, _)| at)
                .collect();
            if !asked.is_empty() {
                return Ok(Self {
                    file,
                    corpus,
                    asked,
                });
            }
        }
        Err(nothing())
    }

    /// The places that share most of what is distinctive, for each function of the snippet.
    fn candidates<'i>(&self, index: &'i Index) -> Vec<Place<'i>> {
        let runs = Runs::new(&self.corpus, self.asked.clone());
        let mut chosen: BTreeSet<Place<'i>> = BTreeSet::new();
        for at in &self.asked {
            let Some(entry) = self.corpus.entries.get(*at as usize) else {
                continue;
            };
            let key = SnippetKey {
                exact: entry.exact,
                runs: kept(runs.of(*at)).into_iter().collect(),
            };
            let units = index
                .iter()
                .flat_map(|(path, units)| units.iter().map(move |unit| (path, unit)));
            let scored = units.map(|(path, unit)| (key.score(unit), (path, unit.lines)));
            let mut scored: Vec<(u32, Place<'i>)> =
                scored.filter(|(score, _)| *score >= 200).collect();
            scored.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
            chosen.extend(scored.into_iter().take(CLOSE).map(|(_, place)| place));
        }
        chosen.into_iter().collect()
    }

    /// Compares the snippet's functions with these places, text by text.
    fn compare(&self, tree: &SourceTree, places: &[Place<'_>]) -> Vec<ExistingEntry> {
        let paths: BTreeSet<&TreePath> = places.iter().map(|(path, _)| *path).collect();
        let mut files = vec![self.file.clone()];
        for path in paths {
            let text = tree.text(path);
            files.extend(text.into_iter().flat_map(|text| source_files(path, &text)));
        }
        let corpus = Corpus::new(files);
        let entries = (0_u32..).zip(&corpus.entries);
        let (own, others): (Vec<_>, Vec<_>) =
            entries.partition(|(_, entry)| corpus.file(entry).path == self.file.path);
        let own = own
            .into_iter()
            .filter(|(_, entry)| is_asked(&corpus, entry));
        let asked: Vec<u32> = own.map(|(at, _)| at).collect();
        let others = others.into_iter().filter(|(_, entry)| {
            let (file, unit) = (corpus.file(entry), corpus.unit(entry));
            places.contains(&(&file.path, unit.lines))
        });
        let others: Vec<u32> = others.map(|(at, _)| at).collect();
        let mut chosen = [asked.clone(), others.clone()].concat();
        chosen.sort_unstable();
        let runs = Runs::new(&corpus, chosen);
        let mut room = Room::default();
        let best = |other: &u32| {
            let compared = asked
                .iter()
                .filter_map(|at| told(&corpus, &runs, (*at, *other), &mut room));
            compared.max_by(by_nearness)
        };
        others.iter().filter_map(best).collect()
    }
}

/// Whether an entry of a snippet is large enough, and of a kind, to be asked about.
fn is_asked(corpus: &Corpus, entry: &Entry) -> bool {
    let kind = corpus.unit(entry).kind;
    entry.size > 3
        && matches!(
            kind,
            UnitKind::Function | UnitKind::Method | UnitKind::Class | UnitKind::Block
        )
}

/// The nearer of two is the greater one.
fn by_nearness(a: &ExistingEntry, b: &ExistingEntry) -> std::cmp::Ordering {
    let compared = (a.relation, a.similarity).partial_cmp(&(b.relation, b.similarity));
    compared.unwrap_or(std::cmp::Ordering::Equal)
}

/// What is told of a unit of the snippet and one of the tree.
fn told(
    corpus: &Corpus,
    runs: &Runs,
    (asked, other): (u32, u32),
    room: &mut Room,
) -> Option<ExistingEntry> {
    let a = corpus.entries.get(asked as usize)?;
    let b = corpus.entries.get(other as usize)?;
    if corpus.language(a) != corpus.language(b) {
        return None;
    }
    let pair = (asked.min(other), asked.max(other));
    let evidence = Evidence::of_pair(corpus, runs, pair, room)?;
    let likely = likelihood(&evidence, &corpus.fitted);
    let relation = relation(&evidence, likely, (a, b))?;
    let (file, unit) = (corpus.file(b), corpus.unit(b));
    Some(ExistingEntry {
        path: file.path.clone(),
        item: file.item_name(unit),
        lines: [unit.lines.0, unit.lines.1],
        language: file.language,
        relation,
        similarity: Share::new(evidence.similarity()),
        likelihood: Some(Share::new(likely)),
    })
}

/// What `a`, which is asked about, is to `b`; `None` where nothing is told.
fn relation(
    evidence: &Evidence,
    likely: f32,
    (a, b): (&Entry, &Entry),
) -> Option<ExistingRelation> {
    let is_inside =
        evidence.containment() >= INSIDE && evidence.run_containment() >= 0.7 && a.size < b.size;
    if a.exact == b.exact && a.size == b.size {
        Some(ExistingRelation::Same)
    } else if verdict(evidence, likely) == Verdict::Duplicate {
        Some(ExistingRelation::Copy)
    } else if is_inside {
        Some(ExistingRelation::Inside)
    } else {
        (evidence.similarity() >= ALIKE).then_some(ExistingRelation::Alike)
    }
}

/// A snippet as a file of its language; its path is none of a tree's.
fn snippet_file(text: &str, language: LanguageKind) -> Option<SourceFile> {
    let ending = language.extensions().first()?;
    // Nothing below this directory is ever part of a tree.
    let path = TreePath::new(&format!(".coalesce/snippet.{ending}")).ok()?;
    source_files(&path, &Arc::from(text)).into_iter().next()
}

/// Statements as the body of a function.
fn as_function(text: &str, language: LanguageKind) -> Option<String> {
    let grammar = grammars().find(|grammar| grammar.lexicon().language == language)?;
    Some(grammar.as_function(text))
}

/// How each language is written.
fn grammars() -> impl Iterator<Item = &'static dyn Grammar> {
    OUTLINERS.iter().map(|outliner| outliner.written())
}

/// The language that a text is likely written in.
fn guessed(text: &str) -> Option<LanguageKind> {
    let signs = |grammar: &&'static dyn Grammar| -> usize {
        let signs = grammar.lexicon().signs.iter();
        signs.map(|sign| text.matches(sign).count()).sum()
    };
    let certain = grammars().find(|grammar| grammar.recognizes(text));
    let with_signs = || grammars().filter(|grammar| !grammar.lexicon().signs.is_empty());
    let likely = certain.or_else(|| with_signs().max_by_key(signs))?;
    Some(likely.lexicon().language)
}

/// A signature that is looked for.
struct Signature {
    name: Vec<String>,
    parameters: BTreeSet<u32>,
}

impl Signature {
    fn new(text: &str) -> Result<Self, Failure> {
        let head = text.split('(').next().unwrap_or("");
        let head = head.split('<').next().unwrap_or("");
        let word = |c: char| !(c.is_alphanumeric() || c == '_');
        let name = head.split(word).rfind(|word| !word.is_empty());
        let name = name.ok_or_else(|| Failure::user("the signature has no name"))?;
        let inside = text.split_once('(').map_or("", |(_, rest)| rest);
        let parameter = |part: &str| {
            let part = part.split([':', '=']).next().unwrap_or("");
            let name = part.split(word).rfind(|word| !word.is_empty())?;
            (!matches!(name, "self" | "cls")).then(|| id_of(name.as_bytes()))
        };
        Ok(Self {
            name: parts_of(name),
            parameters: parameters_of(inside)
                .into_iter()
                .filter_map(parameter)
                .collect(),
        })
    }

    fn find(&self, index: &Index) -> Vec<ExistingEntry> {
        let mut found = Vec::new();
        for (path, units) in index {
            let named = units.iter().filter(|unit| !unit.item.is_empty());
            let scored = named.map(|unit| (unit, self.likeness(unit)));
            let like = scored.filter(|(_, likeness)| *likeness >= LIKE_SIGNATURE);
            found.extend(like.map(|(unit, likeness)| ExistingEntry {
                path: path.clone(),
                item: unit.item.clone(),
                lines: [unit.lines.0, unit.lines.1],
                language: unit.language,
                relation: ExistingRelation::Signature,
                similarity: Share::new(likeness),
                likelihood: None,
            }));
        }
        found
    }

    /// Common words of the names, the rarer the more, and common names of parameters, 0 to 1.
    fn likeness(&self, unit: &UnitKey) -> f32 {
        let names = self.likeness_of_names(unit);
        if names == 0.0 || self.parameters.is_empty() || unit.parameters.is_empty() {
            return names;
        }
        let shared = unit
            .parameters
            .iter()
            .filter(|id| self.parameters.contains(id))
            .count();
        let all = self.parameters.len() + unit.parameters.len() - shared;
        0.7 * names + 0.3 * shared as f32 / all.max(1) as f32
    }

    /// The weight of the words that both names have, of that of all words, 0 to 1.
    fn likeness_of_names(&self, unit: &UnitKey) -> f32 {
        let name = unit.item.rsplit(['.', ':']).next().unwrap_or("");
        let parts = parts_of(name);
        let weight = |part: &String| {
            common::weight(unit.language, common::Role::Name.id(id_of(part.as_bytes())))
        };
        let weight_of = |words: &[String], are_in: bool, others: &[String]| -> f32 {
            let words = words.iter().filter(|word| others.contains(word) == are_in);
            words.map(weight).sum()
        };
        let both = weight_of(&parts, true, &self.name);
        if both == 0.0 {
            return 0.0;
        }
        let only = weight_of(&self.name, false, &parts) + weight_of(&parts, false, &self.name);
        both / (both + only)
    }
}

/// What stands between the commas of no inner bracket, up to the `)` that ends the list.
fn parameters_of(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut before) = (0_usize, 0, ' ');
    let mut parts = Vec::new();
    for (at, character) in text.char_indices() {
        match character {
            ')' if depth == 0 => {
                parts.push(text.get(start..at).unwrap_or_default());
                return parts;
            }
            '(' | '[' | '{' | '<' => depth += 1,
            '>' if before == '-' => {}
            ')' | ']' | '}' | '>' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(text.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            _ => {}
        }
        before = character;
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts
}

/// The words of a name: `compute_normals` and `computeNormals` have the same.
fn parts_of(name: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut lower = false;
    for c in name.chars() {
        if c == '_' {
            lower = false;
            parts.push(String::new());
            continue;
        }
        if parts.is_empty() || (c.is_uppercase() && lower) {
            parts.push(String::new());
        }
        lower = c.is_lowercase() || c.is_numeric();
        if let Some(part) = parts.last_mut() {
            part.extend(c.to_lowercase());
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_end_with_their_list_and_part_at_their_own_commas() {
        for (text, expected) in [
            ("x: i32) -> (u8, u8)", vec!["x: i32"]),
            (
                "m: HashMap<K, V>, n: [u8; 2])",
                vec!["m: HashMap<K, V>", " n: [u8; 2]"],
            ),
            ("f: fn(u8) -> u8, g: T)", vec!["f: fn(u8) -> u8", " g: T"]),
            ("a=(1, 2), *, b", vec!["a=(1, 2)", " *", " b"]),
            (")", vec![""]),
        ] {
            assert_eq!(parameters_of(text), expected, "{text}");
        }
    }
}
