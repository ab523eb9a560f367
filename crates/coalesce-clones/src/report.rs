//! From classes and overlaps to what is said: each copy once, with a stable name, ranked by what acting
//! on it is worth.

use std::collections::BTreeMap;

use coalesce_model::{LanguageKind, TreePath, UnitKind, envelope::DuplicateKind};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::xxh3_64;

use crate::{
    acting,
    align::{self, Difference},
    catalogue::{self, Idiom, Role, RoleUse},
    chapters::Chapter,
    classes::{self, Class},
    containers::{self, Container, ContainerClass, Contents, Overlap},
    corpus::Corpus,
    families, forwarders,
    grams::Runs,
    likelihood::Fitted,
    merging::Measure,
    order,
    pairs::{self, Groups, Minimum},
    passages,
    source::{SourceFile, Unit},
    standing::Apart,
    verdict::Verdict,
};

/// Members beyond which differences are not told: nobody reads them.
const COMPARED_MEMBERS: usize = 12;

/// One copy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Member {
    /// Its file.
    pub path: TreePath,
    /// Its name inside of the file; empty for modules and blocks.
    pub item: String,
    /// First and last line, 1-based.
    pub lines: (u32, u32),
    /// First byte in the text.
    pub start: u32,
}

/// Copies of each other, or look-alikes.
#[derive(Clone, Debug)]
pub struct Duplicate {
    /// Its name, which line shifts and new members behind the first do not change.
    pub id: String,
    /// What its members are.
    pub kind: DuplicateKind,
    /// Their language.
    pub language: LanguageKind,
    /// The copies, by place.
    pub members: Vec<Member>,
    /// The least similarity that makes a member part of it, 0 to 1; for modules and classes the
    /// share of the smaller one that has a counterpart.
    pub similarity: f32,
    /// How likely a maintainer calls it duplicated, 0 to 1: of functions and blocks, the mean of the
    /// pairs that made the class; `None` for what is found otherwise.
    pub likelihood: Option<f32>,
    /// What its texts are to each other, which decides what a page says first. `None` where the places
    /// say that nobody asks: tests, examples, other projects' code.
    pub measure: Option<Measure>,
    /// Lines that would go if one copy stayed.
    pub removable_lines: u32,
    /// What each copy does that the others do not.
    pub differences: Vec<Difference>,
    /// Whether a member calls an interface of the catalogue.
    pub gpu: bool,
    /// What the catalogue says of an idiom; empty for other kinds.
    pub title: String,
    /// Where it belongs on a page.
    pub chapter: Chapter,
    /// The name of the class that it is told with: a larger one in whose members all of its members stand, or what
    /// comes first of a family that it is a part of.
    pub inside: Option<String>,
}

impl Duplicate {
    /// How likely it is worth acting on, 0 to 1, as far as its texts say; `None` where nobody asks.
    #[must_use]
    pub fn acting(&self) -> Option<f32> {
        let features = acting::features(&self.measure?, self.likelihood, &self.members);
        Some(acting::likelihood(&features))
    }

    /// How like it is to code that maintainers merged, 0 to 1: no probability (readers of unseen trees would merge a
    /// third of what has 0.6 and more).
    #[must_use]
    pub fn merging(&self) -> Option<f32> {
        self.measure.map(|measure| measure.likelihood())
    }
}

/// What one file does with one library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRole {
    /// The file.
    pub path: TreePath,
    /// Its language.
    pub language: LanguageKind,
    /// The library.
    pub package: String,
    /// What for.
    pub role: Role,
    /// How many calls.
    pub count: u32,
    /// Line of the first, 1-based.
    pub line: u32,
}

/// Lines that have to do with GPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GpuLines {
    /// Lines of functions, and of guarded imports, that call an interface of the catalogue.
    pub total: u32,
    /// Those of them that would go if one copy of each stayed.
    pub duplicate: u32,
}

/// All that was found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Copies: chapter by chapter, those that are worth most first.
    pub duplicates: Vec<Duplicate>,
    /// Look-alikes that are no copies.
    pub siblings: Vec<Duplicate>,
    /// What the catalogue finds scattered.
    pub idioms: Vec<Duplicate>,
    /// Which file does what with GPUs.
    pub roles: Vec<FileRole>,
    /// Files whose functions only call another one.
    pub forwarders: Vec<TreePath>,
    /// GPU lines.
    pub gpu_lines: GpuLines,
    /// Members that comments allow to be copies.
    pub allowed: usize,
}

/// What is looked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// What is too small.
    pub minimum: Minimum,
    /// What pairs are weighed by.
    pub fitted: Fitted,
}

/// Finds duplicates, siblings and idioms in `files`.
#[must_use]
pub fn find(files: Vec<SourceFile>, options: Options) -> Report {
    let mut corpus = Corpus::new(files);
    corpus.fitted = options.fitted;
    let gpu = gpu_code(&mut corpus);
    let classes = compared_classes(&corpus, options.minimum);
    let apart = Apart::new(&corpus.files);
    let mut writer = Writer {
        corpus: &corpus,
        gpu: &gpu,
        apart: &apart,
        allowed: 0,
    };
    let mut report = Report::default();
    tell_copies(&mut writer, &classes, &mut report);
    let inside = passages((&corpus, &apart), options.minimum, &report.duplicates);
    report.duplicates.extend(inside.0);
    report.idioms = writer.idioms(&gpu.idioms);
    report.allowed = writer.allowed + inside.1;
    let idioms = &report.idioms;
    report.duplicates.retain(|class| !is_said(class, idioms));
    report.duplicates.extend(report.idioms.iter().cloned());
    families::part_families(&mut report.duplicates);
    tell_files(&corpus, &gpu, &mut report);
    for list in [
        &mut report.duplicates,
        &mut report.siblings,
        &mut report.idioms,
    ] {
        finish(list);
    }
    order::name_families(&mut report.duplicates);
    order::put_first(&mut report.duplicates);
    report
}

/// Writes the copies and look-alikes of whole units, each where nothing larger says it.
fn tell_copies(writer: &mut Writer<'_>, classes: &[Class], report: &mut Report) {
    let containers = container_classes(writer.corpus, classes);
    let absorbed = Absorbed::new(writer.corpus, &containers);
    let outermost = containers
        .iter()
        .filter(|class| !absorbed.containers(class));
    let outermost = outermost.filter_map(|class| writer.containers(class));
    report.duplicates.extend(outermost);
    let told = classes.iter().filter(|class| !absorbed.class(class));
    let is_duplicate = |class: &&Class| class.verdict == Verdict::Duplicate;
    let (duplicates, siblings): (Vec<&Class>, Vec<&Class>) = told.partition(is_duplicate);
    report.duplicates.extend(writer.classes(&duplicates));
    report.siblings = writer.classes(&siblings);
}

/// Writes what is about files and lines, and not about copies.
fn tell_files(corpus: &Corpus, gpu: &catalogue::Scan, report: &mut Report) {
    report.gpu_lines = gpu_lines(corpus, gpu, &report.duplicates);
    let used = gpu.uses.iter();
    report.roles = used.filter_map(|used| file_role(corpus, used)).collect();
    let files = corpus.files.iter();
    let forwarders = files.filter(|file| forwarders::is_forwarder(file));
    report.forwarders = forwarders.map(|file| file.path.clone()).collect();
}

/// What of the corpus is about GPUs, which is noted in it.
fn gpu_code(corpus: &mut Corpus) -> catalogue::Scan {
    let mut gpu = catalogue::scan(corpus);
    let kernels = (0..).zip(&corpus.entries);
    let kernels = kernels.filter(|(_, entry)| corpus.file(entry).lexicon().for_devices);
    gpu.entries.extend(kernels.map(|(at, _)| at));
    corpus.note_gpu(&gpu.entries);
    gpu
}

/// Classes of units that are like each other.
fn compared_classes(corpus: &Corpus, minimum: Minimum) -> Vec<Class> {
    let groups = Groups::new(corpus, minimum);
    let runs = Runs::new(corpus, groups.representatives());
    let compared = pairs::compare(corpus, &runs);
    classes::classes(corpus, &runs, &groups, &compared)
}

/// Classes of types and modules that have much in common.
fn container_classes(corpus: &Corpus, classes: &[Class]) -> Vec<ContainerClass> {
    let contents = Contents::new(corpus);
    let mut overlaps = containers::overlaps(corpus, &contents, classes);
    // What modules have less in common is told with their classes and functions.
    overlaps.retain(|overlap| !overlap.is_of_modules() || overlap.covered >= MODULE_COVERED);
    let joined = containers::join(overlaps).into_iter();
    joined.filter_map(|class| class.outermost(corpus)).collect()
}

/// Passages of units that are no copies themselves, and how many members comments allow; without those
/// that stand in what is told already.
fn passages(
    (corpus, apart): (&Corpus, &Apart),
    minimum: Minimum,
    told: &[Duplicate],
) -> (Vec<Duplicate>, usize) {
    let Some(found) = passages::find(corpus) else {
        return (Vec::new(), 0);
    };
    let corpus = &found.corpus;
    let gpu = catalogue::scan(corpus);
    let mut writer = Writer {
        corpus,
        gpu: &gpu,
        apart,
        allowed: 0,
    };
    let classes = found.groups.into_iter().filter_map(|members| {
        let first = *members.first()?;
        let large = pairs::counts(corpus, corpus.entries.get(first as usize)?, minimum);
        let equals = pairs::of_equals(corpus, (first, *members.get(1)?))?;
        (large && equals.verdict == Verdict::Duplicate).then_some(Class {
            members,
            similarity: 1.0,
            likelihood: equals.likelihood,
            verdict: Verdict::Duplicate,
        })
    });
    let classes: Vec<Class> = classes.collect();
    let classes: Vec<&Class> = classes.iter().collect();
    let mut passages = writer.classes(&classes);
    let around = Around::new(told);
    passages.retain(|class| !around.hold(class));
    (passages, writer.allowed)
}

/// For each file the members of classes that stand in it.
struct Around<'d>(FxHashMap<&'d TreePath, Vec<(usize, &'d Member)>>);

impl<'d> Around<'d> {
    fn new(classes: &'d [Duplicate]) -> Self {
        let mut around: FxHashMap<&TreePath, Vec<(usize, &Member)>> = FxHashMap::default();
        for (at, class) in classes.iter().enumerate() {
            for member in &class.members {
                around.entry(&member.path).or_default().push((at, member));
            }
        }
        Self(around)
    }

    /// Whether each member of a class stands in another member of one of these.
    fn hold(&self, class: &Duplicate) -> bool {
        let of = |member: &Member| {
            let own = self.0.get(&member.path).map_or(&[][..], Vec::as_slice);
            let lines = member.lines;
            let holds =
                move |around: &Member| around.lines.0 <= lines.0 && lines.1 <= around.lines.1;
            own.iter().filter(move |(_, around)| holds(around))
        };
        let Some(first) = class.members.first() else {
            return false;
        };
        of(first).any(|(at, _)| {
            let mut places: FxHashSet<&Member> = FxHashSet::default();
            class.members.iter().all(|member| {
                let place = of(member).find(|(other, _)| other == at);
                place.is_some_and(|(_, around)| places.insert(around))
            })
        })
    }
}

fn file_role(corpus: &Corpus, used: &RoleUse) -> Option<FileRole> {
    let file = corpus.files.get(used.file as usize)?;
    Some(FileRole {
        path: file.path.clone(),
        language: file.language,
        package: used.package.clone(),
        role: used.role,
        count: used.count,
        line: used.line,
    })
}

/// Ranks a list and makes its names unique.
fn finish(list: &mut Vec<Duplicate>) {
    list.sort_by(|a, b| {
        let worth = order::worth(b).total_cmp(&order::worth(a));
        let first = a.chapter.cmp(&b.chapter).then(worth);
        first.then_with(|| (a.kind, &a.members, &a.id).cmp(&(b.kind, &b.members, &b.id)))
    });
    list.dedup_by(|a, b| a.kind == b.kind && a.members == b.members);
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for class in list.iter_mut() {
        let count = seen.entry(class.id.clone()).or_default();
        *count += 1;
        if *count > 1 {
            class.id = format!("{}-{count}", class.id);
        }
    }
    order::name_surrounding(list);
}

/// What is not told because a larger copy says it already.
struct Absorbed {
    /// For each entry the whole copies in which it has a counterpart, and in which member it stands.
    entries: FxHashMap<u32, Vec<(usize, Container)>>,
    /// For each file the whole copies that it is a member of.
    files: FxHashMap<u32, Vec<usize>>,
}

impl Absorbed {
    fn new(corpus: &Corpus, classes: &[ContainerClass]) -> Self {
        let mut absorbed = Self {
            entries: FxHashMap::default(),
            files: FxHashMap::default(),
        };
        for (at, class) in classes.iter().enumerate().filter(|(_, class)| class.whole) {
            let matched = class.overlaps.iter().flat_map(|overlap| &overlap.matched);
            for entry in matched.flat_map(|(a, b)| [*a, *b]) {
                absorbed.note(corpus, entry, (at, class));
            }
            for (file, _) in class.members.iter().filter(|member| member.1 == 0) {
                insert(&mut absorbed.files, *file, at);
            }
        }
        absorbed
    }

    /// Notes in which member of a class an entry has a counterpart.
    fn note(&mut self, corpus: &Corpus, entry: u32, (at, class): (usize, &ContainerClass)) {
        let around = containers::around(corpus, entry);
        let member = |around: &&Container| class.members.binary_search(around).is_ok();
        let Some(member) = around.iter().find(member) else {
            return;
        };
        let found = self.entries.entry(entry).or_default();
        if !found.contains(&(at, *member)) {
            found.push((at, *member));
        }
    }

    /// Whether a whole copy says all that a class does: each member in another member of it. Two in one
    /// are a duplicate inside of what was copied.
    fn class(&self, class: &Class) -> bool {
        let of = |entry: &u32| self.entries.get(entry).map_or(&[][..], Vec::as_slice);
        let Some(first) = class.members.first() else {
            return false;
        };
        of(first).iter().any(|(at, _)| {
            let mut places: FxHashSet<Container> = FxHashSet::default();
            class.members.iter().all(|entry| {
                let place = of(entry).iter().find(|(class, _)| class == at);
                place.is_some_and(|(_, member)| places.insert(*member))
            })
        })
    }

    /// Classes of modules that are whole copies.
    fn containers(&self, class: &ContainerClass) -> bool {
        if class.members.iter().any(|member| member.1 == 0) {
            return false;
        }
        in_one(&self.files, class.members.iter().map(|member| &member.0))
    }
}

/// The share of a module that must be in another one when they are no whole copies.
const MODULE_COVERED: f32 = 0.7;

fn insert(map: &mut FxHashMap<u32, Vec<usize>>, key: u32, class: usize) {
    let classes = map.entry(key).or_default();
    if classes.last() != Some(&class) {
        classes.push(class);
    }
}

/// Whether one class has all of them.
fn in_one<'k>(map: &FxHashMap<u32, Vec<usize>>, mut keys: impl Iterator<Item = &'k u32>) -> bool {
    let of = |key: &u32| map.get(key).map(Vec::as_slice).unwrap_or_default();
    let Some(first) = keys.next() else {
        return false;
    };
    let mut left = of(first).to_vec();
    for key in keys {
        left.retain(|class| of(key).contains(class));
    }
    !left.is_empty()
}

struct Writer<'c> {
    corpus: &'c Corpus,
    gpu: &'c catalogue::Scan,
    apart: &'c Apart,
    allowed: usize,
}

impl Writer<'_> {
    fn classes(&mut self, classes: &[&Class]) -> Vec<Duplicate> {
        let corpus = self.corpus;
        let told: Vec<(Duplicate, usize)> = classes
            .par_iter()
            .filter_map(|class| self.class(corpus, class))
            .collect();
        self.allowed += told.iter().map(|(_, allowed)| allowed).sum::<usize>();
        let told = told.into_iter().map(|(class, _)| class);
        told.filter(|class| class.members.len() > 1).collect()
    }

    /// A class without the members that comments allow, and how many these are.
    fn class(&self, corpus: &Corpus, class: &Class) -> Option<(Duplicate, usize)> {
        let units = class.members.iter().filter_map(|at| {
            let entry = corpus.entries.get(*at as usize)?;
            Some((*at, corpus.file(entry), corpus.unit(entry)))
        });
        let (mut kept, allowed): (Vec<_>, Vec<_>) =
            units.partition(|(_, file, unit)| !is_allowed(file, unit));
        let places = Places::new(kept.iter().map(|(_, file, unit)| (&file.path, unit.lines)));
        kept.retain(|(_, file, unit)| !places.hold(&file.path, unit.lines));
        let (_, first_file, first) = kept.first()?;
        let told =
            kept.len() > 1 && kept.len() <= COMPARED_MEMBERS && class.verdict == Verdict::Duplicate;
        let places: Vec<(&SourceFile, &Unit)> =
            kept.iter().map(|(_, file, unit)| (*file, *unit)).collect();
        let members: Vec<Member> = places
            .iter()
            .map(|(file, unit)| member(file, unit))
            .collect();
        let kind = kind_of(first.kind);
        let likelihood = Some(class.likelihood);
        let (chapter, measure) = Chapter::of((&members, &places), likelihood, self.apart);
        let class = Duplicate {
            id: id(kind, first_file, first),
            kind,
            language: first_file.language,
            similarity: alike(corpus, &kept, class.similarity),
            likelihood,
            removable_lines: removable(&places),
            differences: if told {
                align::differences(&places)
            } else {
                Vec::new()
            },
            gpu: kept.iter().any(|(at, _, _)| self.gpu.entries.contains(at)),
            chapter,
            measure,
            members,
            title: String::new(),
            inside: None,
        };
        Some((class, allowed.len()))
    }

    /// Classes or modules; `None` when comments leave less than two.
    fn containers(&mut self, class: &ContainerClass) -> Option<Duplicate> {
        let place = |(file, unit): &Container| {
            let file = self.corpus.files.get(*file as usize)?;
            Some((file, file.units.get(*unit as usize)?))
        };
        let mut members = class.members.clone();
        members.retain(|member| place(member).is_some_and(|(file, unit)| !is_allowed(file, unit)));
        let places: Vec<(&SourceFile, &Unit)> = members.iter().filter_map(place).collect();
        self.allowed += class.members.len() - members.len();
        let (file, unit) = *places.first().filter(|_| places.len() > 1)?;
        let kind = kind_of(unit.kind);
        let gpu = |at: &u32| self.gpu.entries.contains(at);
        let told: Vec<Member> = places
            .iter()
            .map(|(file, unit)| member(file, unit))
            .collect();
        let matched = || class.overlaps.iter().flat_map(|overlap| &overlap.matched);
        let differences = match class.overlaps.as_slice() {
            [overlap] if overlap.whole => self.inner_differences(overlap),
            _ => Vec::new(),
        };
        let (chapter, measure) = Chapter::of((&told, &places), None, self.apart);
        Some(Duplicate {
            id: id(kind, file, unit),
            kind,
            language: file.language,
            chapter,
            measure,
            members: told,
            inside: None,
            similarity: if are_same(&places) {
                1.0
            } else {
                class.alike()
            },
            likelihood: None,
            removable_lines: self.matched_lines(&members, &class.overlaps),
            differences,
            gpu: matched().any(|(a, b)| gpu(a) || gpu(b)),
            title: String::new(),
        })
    }

    /// Lines that have a counterpart: for each member but the one with most, those of its best
    /// match.
    fn matched_lines(&self, members: &[Container], overlaps: &[Overlap]) -> u32 {
        let lines = |at: u32| {
            let entry = self.corpus.entries.get(at as usize);
            entry.map_or(0, |entry| self.corpus.unit(entry).line_count())
        };
        let all = |container: &Container| self.lines_of_container(*container);
        let best = |member: &Container| {
            let of_member = overlaps
                .iter()
                .filter(|overlap| overlap.pair.0 == *member || overlap.pair.1 == *member);
            let sums = of_member.map(|overlap| {
                if overlap.identical {
                    return all(&overlap.pair.0).min(all(&overlap.pair.1));
                }
                let matched = overlap.matched.iter();
                matched.map(|(a, b)| lines(*a).min(lines(*b))).sum::<u32>()
            });
            // No more than it has, whatever of it stands inside of each other.
            sums.max().unwrap_or(0).min(all(member))
        };
        let each: Vec<u32> = members.iter().map(best).collect();
        each.iter().sum::<u32>() - each.iter().max().copied().unwrap_or(0)
    }

    /// Lines of a type or module.
    fn lines_of_container(&self, (file, unit): Container) -> u32 {
        let file = self.corpus.files.get(file as usize);
        let unit = file.and_then(|file| file.units.get(unit as usize));
        unit.map_or(0, Unit::line_count)
    }

    /// The differences of the matched members of a whole copy.
    fn inner_differences(&self, overlap: &Overlap) -> Vec<Difference> {
        let place = |at: u32| {
            let entry = self.corpus.entries.get(at as usize)?;
            Some((self.corpus.file(entry), self.corpus.unit(entry)))
        };
        let first = overlap.pair.0.0;
        let mut found = Vec::new();
        for (a, b) in &overlap.matched {
            let (Some(left), Some(right)) = (place(*a), place(*b)) else {
                continue;
            };
            let turned = self
                .corpus
                .entries
                .get(*a as usize)
                .is_some_and(|a| a.file != first);
            let pair = if turned { [right, left] } else { [left, right] };
            found.extend(align::differences(&pair));
        }
        found.sort_by_key(|difference| (difference.member, difference.line));
        found
    }

    fn idioms(&self, idioms: &[Idiom]) -> Vec<Duplicate> {
        let found = idioms.iter().filter_map(|idiom| self.idiom(idiom));
        found.collect()
    }

    /// What one idiom has in several places; `None` when comments leave less than two.
    fn idiom(&self, idiom: &Idiom) -> Option<Duplicate> {
        let places = idiom.places.iter().filter_map(|place| {
            let file = self.corpus.files.get(place.file as usize)?;
            let unit = file.units.get(place.unit as usize)?;
            (!is_allowed(file, unit)).then_some((file, unit, place.lines))
        });
        let places: Vec<(&SourceFile, &Unit, (u32, u32))> = places.collect();
        let (file, _, _) = places.first()?;
        let all = places.iter().map(|(file, unit, lines)| Member {
            lines: *lines,
            ..member(file, unit)
        });
        let all: Vec<Member> = all.collect();
        let around = Places::new(all.iter().map(|member| (&member.path, member.lines)));
        let mut members = all.clone();
        members.retain(|member| !around.hold(&member.path, member.lines));
        let lines = members.iter().map(|one| one.lines.1 - one.lines.0 + 1);
        let removable = lines.clone().sum::<u32>() - lines.max().unwrap_or(0);
        (members.len() > 1).then(|| Duplicate {
            id: format!("idiom-{}", idiom.id),
            kind: DuplicateKind::Idiom,
            language: file.language,
            removable_lines: removable,
            chapter: Chapter::of_idiom(&members),
            measure: None,
            members,
            inside: None,
            similarity: 1.0,
            likelihood: None,
            differences: Vec::new(),
            gpu: true,
            title: idiom.title.clone(),
        })
    }
}

/// Where members are, by file.
struct Places<'p>(FxHashMap<&'p TreePath, Vec<(u32, u32)>>);

impl<'p> Places<'p> {
    fn new(members: impl Iterator<Item = (&'p TreePath, (u32, u32))>) -> Self {
        let mut places: FxHashMap<&TreePath, Vec<(u32, u32)>> = FxHashMap::default();
        for (path, lines) in members {
            places.entry(path).or_default().push(lines);
        }
        Self(places)
    }

    /// Whether lines are a part of a member; the whole of it does not count.
    fn hold(&self, path: &TreePath, lines: (u32, u32)) -> bool {
        let members = self.0.get(path).map(Vec::as_slice).unwrap_or_default();
        members
            .iter()
            .any(|around| *around != lines && around.0 <= lines.0 && lines.1 <= around.1)
    }
}

/// Whether an idiom says all that a class of blocks says.
fn is_said(class: &Duplicate, idioms: &[Duplicate]) -> bool {
    let says = |idiom: &Duplicate| class.members.iter().all(|own| idiom.members.contains(own));
    class.kind == DuplicateKind::Block && idioms.iter().any(says)
}

/// Whether a comment allows a unit, or one around it, to be a copy.
fn is_allowed(file: &SourceFile, unit: &Unit) -> bool {
    let mut next = Some(unit);
    while let Some(unit) = next {
        if unit.allowed.is_some() {
            return true;
        }
        next = unit
            .parent
            .and_then(|parent| file.units.get(parent as usize));
    }
    false
}

const fn kind_of(kind: UnitKind) -> DuplicateKind {
    match kind {
        UnitKind::Module => DuplicateKind::Module,
        UnitKind::Class | UnitKind::Impl => DuplicateKind::Class,
        UnitKind::Function | UnitKind::Method => DuplicateKind::Function,
        UnitKind::Block | UnitKind::GuardedImport | UnitKind::Imports => DuplicateKind::Block,
    }
}

fn member(file: &SourceFile, unit: &Unit) -> Member {
    Member {
        path: file.path.clone(),
        item: file.item_name(unit),
        lines: unit.lines,
        start: file
            .tokens
            .get(unit.first as usize)
            .map_or(0, |token| token.start),
    }
}

/// Whether these are the same word for word.
fn are_same(places: &[(&SourceFile, &Unit)]) -> bool {
    fn words<'f>((file, unit): &'f (&SourceFile, &Unit)) -> impl Iterator<Item = u32> + 'f {
        file.tokens_of(unit).iter().map(|token| token.id)
    }
    let Some((first, others)) = places.split_first() else {
        return false;
    };
    others.iter().all(|other| words(first).eq(words(other)))
}

/// How alike these are: what is the same, local names and messages aside, and nothing else is so throughout.
fn alike(corpus: &Corpus, members: &[(u32, &SourceFile, &Unit)], similarity: f32) -> f32 {
    let exact = |(at, _, _): &(u32, &SourceFile, &Unit)| {
        let entry = corpus.entries.get(*at as usize);
        entry.map(|entry| (entry.exact, entry.size))
    };
    let mut texts = members.iter().map(exact);
    let first = texts.next();
    if texts.all(|other| Some(other) == first) {
        1.0
    } else {
        similarity.min(ALMOST)
    }
}

/// What is not the same throughout is no more alike than this.
const ALMOST: f32 = 0.999;

/// Lines of all copies but the longest.
fn removable(places: &[(&SourceFile, &Unit)]) -> u32 {
    let lines = places.iter().map(|(_, unit)| unit.line_count());
    lines.clone().sum::<u32>() - lines.max().unwrap_or(0)
}

/// A name from the first member: its kind, file and item; for what has no name, its text.
fn id(kind: DuplicateKind, file: &SourceFile, unit: &Unit) -> String {
    let word = kind.as_str();
    let mut key = format!("{word}\n{}\n{}\n", file.path, file.item_name(unit));
    if unit.name == 0 && unit.kind != UnitKind::Module {
        for token in file.tokens_of(unit) {
            key.push_str(&token.id.to_string());
        }
    }
    format!("{word}-{:010x}", xxh3_64(key.as_bytes()) & 0xff_ffff_ffff)
}

fn gpu_lines(corpus: &Corpus, gpu: &catalogue::Scan, duplicates: &[Duplicate]) -> GpuLines {
    let entries = gpu.entries.iter();
    let entries = entries.filter_map(|at| corpus.entries.get(*at as usize));
    let calling = entries.map(|entry| (&corpus.file(entry).path, corpus.unit(entry).lines));
    let places = by_file(calling);
    let copied = duplicates.iter().filter(|class| class.gpu);
    let copies = by_file(copied.flat_map(all_but_longest));
    let total = places.values().map(|lines| lines_of(lines).len());
    let duplicate = places.iter().filter_map(|(path, lines)| {
        let copied = lines_of(copies.get(path)?);
        Some(lines_of(lines).intersection(&copied).count())
    });
    let count = |lines: usize| u32::try_from(lines).unwrap_or(u32::MAX);
    GpuLines {
        total: count(total.sum()),
        duplicate: count(duplicate.sum()),
    }
}

/// Lines by the file that they stand in.
fn by_file<'p>(
    places: impl Iterator<Item = (&'p TreePath, (u32, u32))>,
) -> BTreeMap<&'p TreePath, Vec<(u32, u32)>> {
    let mut by_file: BTreeMap<&TreePath, Vec<(u32, u32)>> = BTreeMap::new();
    for (path, lines) in places {
        by_file.entry(path).or_default().push(lines);
    }
    by_file
}

/// The members that go where the longest one stays.
fn all_but_longest(class: &Duplicate) -> impl Iterator<Item = (&TreePath, (u32, u32))> {
    let lines = |member: &&Member| member.lines.1 - member.lines.0;
    let longest = class.members.iter().max_by_key(lines);
    let others = class.members.iter();
    let others = others.filter(move |member| Some(*member) != longest);
    others.map(|member| (&member.path, member.lines))
}

/// The line numbers that ranges cover.
fn lines_of(ranges: &[(u32, u32)]) -> FxHashSet<u32> {
    ranges
        .iter()
        .flat_map(|(first, last)| *first..=*last)
        .collect()
}
