//! Which of the pairs that maintainers merged, or keep apart, the whole finder tells, and why not the
//! others. Each tree is searched by weights that were fitted to other repositories.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::Path,
};

use coalesce_clones::{
    Duplicate, Options, SourceFile,
    evidence::{Evidence, Room},
    find,
    grams::Runs,
    likelihood::{self, FEATURES, Fitted},
    pairs::{self, Comparison, Groups},
    verdict::Verdict,
};
use coalesce_model::LanguageKind;

use super::{
    fit::{self, Row},
    labels::{Class, Labels, Origin, Place},
    measure::{self, Measurement, Units},
};

/// So many times longer than the unit, a member says nothing against a pair that is kept apart: two
/// copied modules may hold unlike functions.
const LONGER: u32 = 3;

/// What became of one pair.
struct PairOutcome {
    tree: String,
    language: &'static str,
    kind: String,
    merged: bool,
    told: bool,
    why: String,
    places: String,
}

/// What is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The whole tree of a pair.
    Tree,
    /// The files of the tree's pairs alone.
    Pairs,
}

/// Searches the trees of merged pairs, and prints what was found.
pub fn run(
    directory: &Path,
    labels: &Labels,
    measurement: &Measurement,
    scope: Scope,
) -> anyhow::Result<()> {
    let mut outcomes = Vec::new();
    for tree in &labels.trees {
        let root = directory.join(&tree.name);
        let own = |class: &&Class| class.tree == tree.name && class.origin == Origin::Merged;
        let pairs: Vec<&Class> = labels.classes.iter().filter(own).collect();
        if pairs.is_empty() || !root.is_dir() {
            continue;
        }
        let options = Options {
            fitted: fitted_without(measurement, &tree.repository)?,
            ..Options::default()
        };
        let paths = measure::paths(pairs.iter().copied());
        let wanted = |path: &str| scope == Scope::Tree || paths.contains(path);
        let files = measure::sources_of(&root, wanted)?;
        let report = find(files.clone(), options);
        let code = code_lines(&files, &pairs);
        let search = Search::new(files, &pairs, options);
        for pair in pairs {
            let told = is_told(pair, &report.duplicates, &code);
            let sibling = !told && is_told(pair, &report.siblings, &code);
            outcomes.push(search.outcome(pair, told, sibling));
        }
    }
    print(&outcomes);
    Ok(())
}

/// The weights that all repositories but one ask for.
fn fitted_without(measurement: &Measurement, repository: &str) -> anyhow::Result<Fitted> {
    let weights = |language: LanguageKind| -> anyhow::Result<likelihood::Weights> {
        let others = measurement
            .classes
            .iter()
            .filter(|class| class.language == language && class.repository != repository);
        let rows: Vec<&Row> = others.map(|class| &class.row).collect();
        let found = fit::fit(&rows, fit::STRENGTH)?;
        let mut of = [0.0; FEATURES];
        for (weight, found) in of.iter_mut().zip(&found.of) {
            *weight = *found as f32;
        }
        Ok(likelihood::Weights {
            base: found.base as f32,
            of,
        })
    };
    Fitted::new(weights)
}

/// The lines of a file on which there is code.
type CodeLines = BTreeMap<String, BTreeSet<u32>>;

fn code_lines(files: &[SourceFile], pairs: &[&Class]) -> CodeLines {
    let paths: BTreeSet<&str> = pairs
        .iter()
        .flat_map(|pair| pair.places.iter().map(|place| place.path.as_str()))
        .collect();
    let mut code = CodeLines::new();
    for file in files
        .iter()
        .filter(|file| paths.contains(file.path.as_str()))
    {
        let mut lines = BTreeSet::new();
        let (mut line, mut at) = (1, 0);
        for token in &file.tokens {
            let before = file.text.as_bytes().get(at..token.start as usize);
            line += memchr_count(before.unwrap_or_default());
            at = token.start as usize;
            let inside = file.text.as_bytes().get(token.span().range());
            lines.extend(line..=line + memchr_count(inside.unwrap_or_default()));
        }
        code.insert(file.path.to_string(), lines);
    }
    code
}

fn memchr_count(bytes: &[u8]) -> u32 {
    let breaks = bytes.iter().filter(|byte| **byte == b'\n').count();
    u32::try_from(breaks).unwrap_or(u32::MAX)
}

/// Whether one class has at least half of the code lines of the smaller place, of both places.
fn is_told(pair: &Class, classes: &[Duplicate], code: &CodeLines) -> bool {
    let [a, b] = pair.places.as_slice() else {
        return false;
    };
    let (left, right) = (code_of(a, code), code_of(b, code));
    let need = left.len().min(right.len()).div_ceil(2).max(1);
    let covers = |ranges: &[(u32, u32)], lines: &BTreeSet<u32>| {
        let inside = |line: &&u32| {
            let mut ranges = ranges.iter();
            ranges.any(|(first, last)| (first..=last).contains(line))
        };
        lines.iter().filter(inside).count() >= need
    };
    classes.iter().any(|class| {
        let (of_a, of_b) = (ranges(pair, class, a), ranges(pair, class, b));
        if a.path != b.path {
            return covers(&of_a, &left) && covers(&of_b, &right);
        }
        of_a.iter().any(|x| {
            let others = of_b.iter().filter(|y| *y != x);
            covers(&[*x], &left) && others.clone().any(|y| covers(&[*y], &right))
        })
    })
}

/// The lines of a place that are code; all of them where nobody knows.
fn code_of(place: &Place, code: &CodeLines) -> BTreeSet<u32> {
    let all = place.lines.0..=place.lines.1;
    match code.get(&place.path) {
        Some(code) => code.range(all).copied().collect(),
        None => all.collect(),
    }
}

/// The lines of a class's members in the file of a place; of what is no duplicate, those that are not much
/// longer.
fn ranges(pair: &Class, class: &Duplicate, place: &Place) -> Vec<(u32, u32)> {
    let span = |lines: (u32, u32)| lines.1 - lines.0 + 1;
    let usable = class.members.iter().filter(|member| {
        member.path.as_str() == place.path
            && (pair.duplicated || span(member.lines) <= LONGER * span(place.lines))
    });
    usable.map(|member| member.lines).collect()
}

/// What is needed to say why a pair is not told.
struct Search {
    units: Units,
    runs: Runs,
    candidates: BTreeSet<(u32, u32)>,
    representative: BTreeMap<u32, u32>,
    options: Options,
}

impl Search {
    fn new(files: Vec<SourceFile>, pairs: &[&Class], options: Options) -> Self {
        let mut units = Units::new(files, pairs.iter().copied());
        units.corpus.fitted = options.fitted;
        let groups = Groups::new(&units.corpus, options.minimum);
        let runs = Runs::new(&units.corpus, groups.representatives());
        let candidates = pairs::candidates(&units.corpus, &runs);
        let mut representative = BTreeMap::new();
        for group in &groups.groups {
            let first = group.first().copied().unwrap_or(0);
            representative.extend(group.iter().map(|at| (*at, first)));
        }
        Self {
            units,
            runs,
            candidates: candidates.into_iter().collect(),
            representative,
            options,
        }
    }

    fn outcome(&self, pair: &Class, told: bool, sibling: bool) -> PairOutcome {
        let (why, language) = match pair.places.as_slice() {
            [a, b] => (self.why(a, b), language(a)),
            _ => ("no pair".to_owned(), ""),
        };
        let places = pair.places.iter();
        let place = |place: &Place| format!("{}:{}-{}", place.path, place.lines.0, place.lines.1);
        PairOutcome {
            tree: pair.tree.clone(),
            language,
            kind: pair.kind.clone(),
            merged: pair.duplicated,
            told,
            why: match (told, sibling) {
                (true, _) => why,
                (false, true) => format!("sibling: {why}"),
                (false, false) => why,
            },
            places: places.map(place).collect::<Vec<_>>().join(" "),
        }
    }

    fn why(&self, a: &Place, b: &Place) -> String {
        let corpus = &self.units.corpus;
        let (Some(left), Some(right)) = (self.units.at(a), self.units.at(b)) else {
            return format!("no unit: {} | {}", self.around(a), self.around(b));
        };
        if left == right {
            return "one unit around both".to_owned();
        }
        if let Some(small) = [left, right].into_iter().find_map(|at| self.too_little(at)) {
            return small;
        }
        let first = |at: u32| self.representative.get(&at).copied().unwrap_or(at);
        let pair = (first(left).min(first(right)), first(left).max(first(right)));
        let known = pair.0 == pair.1 || self.candidates.contains(&pair);
        let found = if pair.0 == pair.1 {
            match pairs::of_equals(corpus, (left, right)) {
                Some(compared) => Comparison::Compared(compared),
                None => Comparison::NotComparable,
            }
        } else {
            pairs::comparison(corpus, &self.runs, pair, &mut Room::default())
        };
        let found = Told(found);
        match known {
            true => format!("{found}"),
            false => format!("no candidate; {found}"),
        }
    }

    /// Why a unit is too small to be compared, if it is.
    fn too_little(&self, at: u32) -> Option<String> {
        let corpus = &self.units.corpus;
        let entry = corpus.entries.get(at as usize)?;
        let names: f32 = entry.features.iter().map(|name| name.weight).sum();
        let (work, delegates) = (entry.work, entry.delegates);
        let too_little = !pairs::counts(corpus, entry, self.options.minimum);
        too_little
            .then(|| format!("too little: work {work}, names {names:.1}, delegates {delegates}"))
    }

    /// The kinds of the units that a place is mostly in.
    fn around(&self, place: &Place) -> String {
        let files = self.units.corpus.files.iter();
        let file = files.clone().find(|file| file.path.as_str() == place.path);
        let Some(file) = file else {
            return "no file".to_owned();
        };
        let inside = file
            .units
            .iter()
            .rfind(|unit| unit.lines.0 <= place.lines.0 && place.lines.1 <= unit.lines.1);
        inside.map_or("nothing".to_owned(), |unit| {
            format!("in {:?} of {} lines", unit.kind, unit.line_count())
        })
    }
}

fn language(place: &Place) -> &'static str {
    if place.path.ends_with(".py") {
        "python"
    } else {
        "rust"
    }
}

/// A comparison as it is told.
struct Told(Comparison);

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Comparison::NotComparable => write!(f, "not comparable"),
            Comparison::OtherNames(evidence) => write!(f, "names: {}", numbers(evidence)),
            Comparison::OtherRuns(evidence) => write!(f, "runs: {}", numbers(evidence)),
            Comparison::OtherText(evidence) => write!(f, "bound: {}", numbers(evidence)),
            Comparison::Compared(compared) => {
                let verdict = match compared.verdict {
                    Verdict::Duplicate => "told, but in no class",
                    Verdict::Minor => "minor",
                    Verdict::Sibling => "look-alikes",
                    Verdict::Unrelated => "unrelated",
                };
                let likely = compared.likelihood;
                write!(
                    f,
                    "{verdict}: likely {likely:.2}, {}",
                    numbers(&compared.evidence)
                )
            }
        }
    }
}

fn numbers(evidence: &Evidence) -> String {
    let name = if evidence.same_name { ", one name" } else { "" };
    let file = if evidence.same_file { ", one file" } else { "" };
    let tests = if evidence.tests { ", tests" } else { "" };
    let opposite = if evidence.opposite { ", opposite" } else { "" };
    format!(
        "{}/{} tokens, similar {:.2}, alike {:.2}, contained {:.2}, runs {:.2}, gathered {:.2}, stretch {}, lines {}/{}{name}{file}{tests}{opposite}",
        evidence.sizes.0,
        evidence.sizes.1,
        evidence.similarity(),
        evidence.alike(),
        evidence.contained(),
        evidence.run_containment(),
        evidence.gathered,
        evidence.stretch,
        evidence.lines.shared,
        evidence.lines.fewer,
    )
}

fn print(outcomes: &[PairOutcome]) {
    for one in outcomes {
        let label = if one.merged { "T" } else { "F" };
        let told = if one.told { "told" } else { "not told" };
        let PairOutcome {
            tree,
            kind,
            why,
            places,
            language,
            ..
        } = one;
        println!("{told}\t{label}\t{language}\t{kind}\t{tree}\t{places}\t{why}");
    }
    for language in ["python", "rust"] {
        let count = |merged: bool, told: bool| {
            let one = |one: &&PairOutcome| {
                one.language == language && one.merged == merged && (one.told || !told)
            };
            outcomes.iter().filter(one).count()
        };
        println!(
            "{language}: {} of {} merged pairs are told, {} of {} that are kept apart",
            count(true, true),
            count(true, false),
            count(false, true),
            count(false, false),
        );
    }
}
