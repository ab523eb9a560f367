//! Finds calls of the catalogue in a tree, and the idioms that they make up.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{
    ByteSpan, LanguageKind, TokenClass, UnitKind,
    outline::{brackets, marks},
};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    data::{Catalogue, IdiomRule, IdiomUnit, Role},
    names::{Index, Known},
};
use crate::{
    corpus::{self, Corpus, Entry},
    source::{SourceFile, Token, Unit},
};

/// Tokens of the brackets of a call that are read.
const ARGUMENTS: usize = 64;

/// What one file does with one library.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RoleUse {
    /// Index into [`Corpus::files`].
    pub file: u32,
    /// The library.
    pub package: String,
    /// What for.
    pub role: Role,
    /// How many places.
    pub count: u32,
    /// Line of the first, 1-based.
    pub line: u32,
}

/// One member of an idiom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Index into [`Corpus::files`].
    pub file: u32,
    /// Index into [`SourceFile::units`].
    pub unit: u32,
    /// First and last line, 1-based.
    pub lines: (u32, u32),
}

/// Places that do the same with the same library.
#[derive(Clone, Debug)]
pub struct Idiom {
    /// `idiom-package`.
    pub id: String,
    /// What is wrong with several of them.
    pub title: String,
    /// The places, in order.
    pub places: Vec<Place>,
}

/// What the catalogue found.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// Uses by file, library and role.
    pub uses: Vec<RoleUse>,
    /// Idioms with more than one place.
    pub idioms: Vec<Idiom>,
    /// Entries of the corpus that call something of the catalogue.
    pub entries: FxHashSet<u32>,
}

/// One call.
struct Call {
    token: u32,
    package: String,
    role: Role,
}

/// Looks at all files.
#[must_use]
pub fn scan(corpus: &Corpus) -> Scan {
    let catalogue = Catalogue::built_in();
    let indexes = LanguageKind::ALL.map(|language| (language, Index::new(catalogue, language)));
    let calls_of = |file: &SourceFile| {
        let mut indexes = indexes.iter().filter(|(_, index)| !index.is_empty());
        let index = indexes.find(|(language, _)| *language == file.language);
        index.map_or_else(Vec::new, |(_, index)| calls(file, index))
    };
    let calls: Vec<Vec<Call>> = corpus.files.par_iter().map(calls_of).collect();
    let mut scan = Scan {
        uses: uses(corpus, &calls),
        ..Scan::default()
    };
    scan.entries = entries(corpus, &calls);
    scan.idioms = idioms(corpus, catalogue, &calls);
    scan
}

/// The calls of one file, in order.
fn calls(file: &SourceFile, index: &Index<'_>) -> Vec<Call> {
    let names = index.names(file);
    if names.is_empty() {
        return Vec::new();
    }
    let mut packages: Vec<_> = names.values().map(|known| known.package).collect();
    packages.sort_by(|a, b| a.name.cmp(&b.name));
    packages.dedup_by(|a, b| a.name == b.name);
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(token) = file.tokens.get(at) {
        let free = token.class == TokenClass::Word && !token.has(marks::IMPORT);
        if free && token.has(marks::ATTRIBUTE) {
            let name = format!(".{}", token.span().of(&file.text).unwrap_or(""));
            let call = packages
                .iter()
                .find_map(|package| Some((package, package.role(&name)?)));
            if let Some((package, role)) = call {
                found.push(call_at(at, &package.name, role));
            }
        } else if let Some(known) = names.get(&token.id).filter(|_| free) {
            let (name, end) = chain(file, at, known);
            let role = known.package.role(&name);
            let role = role.or_else(|| known.package.role_of_call(&name, texts_given(file, end)));
            if let Some(role) = role {
                found.push(call_at(at, &known.package.name, role));
            }
            at = end;
            continue;
        }
        at += 1;
    }
    found
}

/// The texts in the brackets that begin at a token.
fn texts_given(file: &SourceFile, open: usize) -> impl Iterator<Item = &str> {
    let word = |at: usize| ByteSpan::text_under(file.tokens.get(at).map(Token::span), &file.text);
    let end = match word(open) {
        "(" => brackets::behind_closing(&word, open..file.tokens.len().min(open + ARGUMENTS)),
        _ => open,
    };
    let inside = file.tokens.get(open..end).unwrap_or_default().iter();
    let texts = inside.filter(|token| token.class == TokenClass::Key);
    texts.map(|token| {
        let text = token.span().of(&file.text).unwrap_or("");
        text.trim_matches(['"', '\''])
    })
}

fn call_at(at: usize, package: &str, role: Role) -> Call {
    Call {
        token: u32::try_from(at).unwrap_or(u32::MAX),
        package: package.to_owned(),
        role,
    }
}

/// The full name that begins at a known one, without the library, and where it ends. A call in the
/// middle is stepped over: `cuda.Device(0).mem_info`.
fn chain(file: &SourceFile, start: usize, known: &Known<'_>) -> (String, usize) {
    let separator = file.language.separator();
    let mut name = known.inside.clone();
    let word = |at: usize| ByteSpan::text_under(file.tokens.get(at).map(Token::span), &file.text);
    let mut at = start + 1;
    loop {
        let is_next = word(at) == separator
            && file
                .tokens
                .get(at + 1)
                .is_some_and(|token| token.class == TokenClass::Word);
        if is_next {
            if !name.is_empty() {
                name.push_str(separator);
            }
            name.push_str(word(at + 1));
            at += 2;
        } else if word(at) == "(" && word(at + 1) == ")" && word(at + 2) == separator {
            at += 2;
        } else if word(at) == "(" && word(at + 2) == ")" && word(at + 3) == separator {
            at += 3;
        } else {
            return (name, at);
        }
    }
}

fn uses(corpus: &Corpus, calls: &[Vec<Call>]) -> Vec<RoleUse> {
    let mut uses = Vec::new();
    for (at, (file, calls)) in corpus.files.iter().zip(calls).enumerate() {
        let mut counts: BTreeMap<(&str, Role), (u32, u32)> = BTreeMap::new();
        for call in calls {
            let key = (call.package.as_str(), call.role);
            counts.entry(key).or_insert((0, call.token)).0 += 1;
        }
        uses.extend(
            counts
                .into_iter()
                .map(|((package, role), (count, token))| RoleUse {
                    file: u32::try_from(at).unwrap_or(u32::MAX),
                    package: package.to_owned(),
                    role,
                    count,
                    line: line_of(file, token),
                }),
        );
    }
    uses
}

fn line_of(file: &SourceFile, token: u32) -> u32 {
    let start = file
        .tokens
        .get(token as usize)
        .map_or(0, |token| token.start);
    let before = file
        .text
        .as_bytes()
        .get(..start as usize)
        .unwrap_or_default();
    u32::try_from(memchr::memchr_iter(b'\n', before).count() + 1).unwrap_or(u32::MAX)
}

/// Entries with a call in them, and guarded imports of a library.
fn entries(corpus: &Corpus, calls: &[Vec<Call>]) -> FxHashSet<u32> {
    let has_call = |(_, entry): &(usize, &Entry)| {
        let calls = calls
            .get(entry.file as usize)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let unit = corpus.unit(entry);
        let from = calls.partition_point(|call| call.token < unit.first);
        calls.get(from).is_some_and(|call| call.token < unit.end)
    };
    let entries = corpus.entries.iter().enumerate().filter(has_call);
    entries
        .map(|(at, _)| u32::try_from(at).unwrap_or(u32::MAX))
        .collect()
}

fn idioms(corpus: &Corpus, catalogue: &Catalogue, calls: &[Vec<Call>]) -> Vec<Idiom> {
    let packages: FxHashMap<u32, &str> = catalogue
        .packages
        .iter()
        .map(|package| {
            (
                crate::source::id_of(package.name.as_bytes()),
                package.name.as_str(),
            )
        })
        .collect();
    let mut found: BTreeMap<(String, String), BTreeSet<Place>> = BTreeMap::new();
    for (at, (file, calls)) in corpus.files.iter().zip(calls).enumerate() {
        let file_at = u32::try_from(at).unwrap_or(u32::MAX);
        for (unit_at, unit) in file.units.iter().enumerate() {
            let place = Place {
                file: file_at,
                unit: u32::try_from(unit_at).unwrap_or(u32::MAX),
                lines: unit.lines,
            };
            for rule in &catalogue.idioms {
                for package in matching(rule, file, unit, calls, &packages) {
                    let key = (format!("{}-{package}", rule.id), rule.title.clone());
                    found.entry(key).or_default().insert(place);
                }
            }
        }
    }
    let several = found.into_iter().filter(|(_, places)| places.len() > 1);
    several
        .map(|((id, title), places)| Idiom {
            id,
            title,
            places: places.into_iter().collect(),
        })
        .collect()
}

/// The libraries for which a unit is an instance of a rule.
fn matching(
    rule: &IdiomRule,
    file: &SourceFile,
    unit: &Unit,
    calls: &[Call],
    packages: &FxHashMap<u32, &str>,
) -> BTreeSet<String> {
    let none = BTreeSet::new();
    let fits = match rule.unit {
        IdiomUnit::GuardedImport => unit.kind == UnitKind::GuardedImport,
        IdiomUnit::Function => matches!(unit.kind, UnitKind::Function | UnitKind::Method),
    };
    if !fits || unit.line_count() > rule.most_lines {
        return none;
    }
    if rule
        .language
        .is_some_and(|language| language != file.language)
    {
        return none;
    }
    if rule.unit == IdiomUnit::GuardedImport {
        return guarded(file, unit, packages);
    }
    // A test calls what it tests, wherever that stands.
    if corpus::is_test(file, unit) || !is_named(rule, file, unit) || !has_keywords(rule, file, unit)
    {
        return none;
    }
    let from = calls.partition_point(|call| call.token < unit.first);
    let inside = calls
        .iter()
        .skip(from)
        .take_while(|call| call.token < unit.end);
    let wanted = inside.filter(|call| rule.roles.contains(&call.role));
    wanted.map(|call| call.package.clone()).collect()
}

/// The libraries that a `try` imports before its first `except`, if it also binds a flag.
fn guarded(file: &SourceFile, unit: &Unit, packages: &FxHashMap<u32, &str>) -> BTreeSet<String> {
    let tokens = file.tokens_of(unit);
    let word = |at: usize| {
        tokens
            .get(at)
            .and_then(|token| token.span().of(&file.text))
            .unwrap_or("")
    };
    let end = (0..tokens.len())
        .find(|at| word(*at) == "except")
        .unwrap_or(tokens.len());
    let is_root = |at: usize| {
        matches!(word(at.wrapping_sub(1)), "import" | "from") || word(at.wrapping_sub(1)) == ","
    };
    let answers = (0..tokens.len()).any(|at| match word(at) {
        "=" => matches!(word(at + 1), "True" | "False" | "None"),
        "return" => matches!(word(at + 1), "True" | "False"),
        _ => false,
    });
    if !answers {
        return BTreeSet::new();
    }
    let imported = (0..end)
        .filter(|at| is_root(*at))
        .filter_map(|at| tokens.get(at));
    let imported = imported.filter(|token| token.has(marks::IMPORT));
    imported
        .filter_map(|token| packages.get(&token.id))
        .map(|name| (*name).to_owned())
        .collect()
}

fn is_named(rule: &IdiomRule, file: &SourceFile, unit: &Unit) -> bool {
    let name = unit.name_span.of(&file.text).unwrap_or("").to_lowercase();
    let parts: Vec<&str> = name.split('_').collect();
    let has = |words: &[String]| {
        words.is_empty() || words.iter().any(|word| parts.contains(&word.as_str()))
    };
    has(&rule.words) && has(&rule.subjects)
}

fn has_keywords(rule: &IdiomRule, file: &SourceFile, unit: &Unit) -> bool {
    let body = file.body_of(unit);
    let word = |at: usize| {
        body.get(at)
            .and_then(|token| token.span().of(&file.text))
            .unwrap_or("")
    };
    let present = |wanted: &str| (0..body.len()).any(|at| word(at) == wanted);
    let all = rule.keywords.iter().all(|wanted| present(wanted));
    let truth = |at: usize| matches!(word(at), "True" | "False" | "true" | "false");
    let answers = || {
        let told = (0..body.len()).any(truth);
        let head = file
            .tokens
            .get(unit.first as usize..unit.body as usize)
            .unwrap_or_default();
        let typed = head
            .iter()
            .any(|token| token.span().of(&file.text) == Some("bool"));
        told || typed
    };
    all && (!rule.answers || answers())
}
