//! The parts of the page of `audit` that tell of duplicates, idioms and GPU roles.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::envelope::{
    Audit, DifferenceAspect, DuplicateEntry, DuplicateKind, DuplicateMember, HomeEntry, RoleEntry,
    StubKind,
};

use crate::{
    date::day,
    page::{BOLD, DIM, PLACE, PLAIN, Page, WARN, count, listed},
};

/// Members of a class that are shown.
const MEMBERS_SHOWN: usize = 6;
/// Differences of a class that are shown.
const DIFFERENCES_SHOWN: usize = 6;
/// Classes that are shown before the rest is counted.
const CLASSES_SHOWN: usize = 15;

/// The same of a chapter that has a line for each, and places in such a line.
const LINES_SHOWN: usize = 5;
const PLACES_LISTED: usize = 2;
/// Classes that are told with a class and named.
const INNER_SHOWN: usize = 4;
/// What copies are listed apart, with the reason.
const CHAPTERS: [(&str, &str, &str); 14] = [
    (
        "product",
        "Duplicates",
        "Likely worth acting on, the likeliest first, by many lines in a row that are one text; what each does alone is below it. \
         Likelihood: that a maintainer calls it duplicated. Whether to merge is for you to say.",
    ),
    (
        "next",
        "More duplicates",
        "The same with less to gain: fewer lines in a row that are one text, or less likely copies.",
    ),
    (
        "alike",
        "Alike, and perhaps left so",
        "The same in part, or too little: most maintainers leave such copies.",
    ),
    (
        "variants",
        "Variants in a family of files",
        "One file for each model, chip, shape or version, or folders that mirror each other file by file: perhaps the \
         project's own rule.",
    ),
    (
        "asked",
        "Asked for by the language",
        "A trait or a macro wants it for each type, one stands in place of a default, one waits or changes what it is \
         given and the other does not, or each is there under a condition of its own.",
    ),
    (
        "kernels",
        "Kernels, alike and not the same",
        "They run on a device or are written in assembly: what differs may be what each was tuned by, and passages may be \
         there for speed.",
    ),
    (
        "packages",
        "In several packages, alike and not the same",
        "Each package has its own: one home for them is a package that all may depend on.",
    ),
    (
        "backends",
        "Duplicates of backends",
        "The same once for each backend: perhaps on purpose, and what one does alone may be missing in \
         the others.",
    ),
    (
        "kept",
        "Copies that are kept",
        "A text beside it speaks of the other copy or asks to keep both in step, one is deprecated, or it is a step of a \
         migration, which is not written again.",
    ),
    (
        "programs",
        "Duplicates of programs",
        "Each has an entry of its own and stands alone: a library for what they share is a larger step.",
    ),
    (
        "tests",
        "Duplicates in tests",
        "At least all but one copy stands among tests.",
    ),
    (
        "examples",
        "Duplicates in examples",
        "Examples, documentation and benchmarks may repeat themselves.",
    ),
    (
        "generated",
        "Duplicates of generated code",
        "To be mended in what writes it.",
    ),
    (
        "vendored",
        "Duplicates of vendored code",
        "Other projects' code: to be mended there.",
    ),
];
/// The chapter of what is there to be acted on.
const FIRST_CHAPTER: &str = "product";
/// The first of these that has classes tells them at length; of others a line each.
const AT_LENGTH: [&str; 3] = [FIRST_CHAPTER, "next", "alike"];

/// A chapter of copies, as a page tells it.
pub struct ToldChapter<'a> {
    /// Its name in the envelope.
    pub name: &'static str,
    /// What stands above it.
    pub heading: &'static str,
    /// Why its copies are told together.
    pub why: &'static str,
    /// Whether its classes are there to be acted on, or only to be known.
    pub to_act_on: bool,
    /// Whether its classes are told at length.
    pub at_length: bool,
    /// Its classes, the first first; those inside of larger ones are told with them.
    pub classes: Vec<&'a DuplicateEntry>,
}

/// The chapters in which there is something to tell, and the classes inside of larger ones.
pub fn chapters(audit: &Audit) -> (Vec<ToldChapter<'_>>, Vec<&DuplicateEntry>) {
    let told = audit.duplicates.iter();
    let told = told.filter(|class| class.new != Some(false));
    let (idioms, copies): (Vec<&DuplicateEntry>, Vec<&DuplicateEntry>) =
        told.partition(|class| class.kind == DuplicateKind::Idiom);
    // A class in a larger one is told with it, where that is told.
    let ids: BTreeSet<&str> = copies.iter().map(|class| class.id.as_str()).collect();
    let is_told = |id: &String| ids.contains(id.as_str());
    let (inner, outer): (Vec<&DuplicateEntry>, Vec<&DuplicateEntry>) = copies
        .iter()
        .partition(|class| class.inside.as_ref().is_some_and(is_told));
    let mut chapters = chapters_of_copies(&outer);
    chapters.push(ToldChapter {
        name: "idioms",
        heading: "Scattered GPU idioms",
        why: "The same question asked again in each place; one of them should answer it.",
        // Their texts are no copies of each other, and readers would leave them.
        to_act_on: false,
        at_length: true,
        classes: idioms,
    });
    chapters.retain(|chapter| !chapter.classes.is_empty());
    (chapters, inner)
}

/// The classes that `--fail-on duplicates` is about: what the page lists to be acted on as duplicates, and where a
/// baseline says what is known, everything that it lacks.
pub fn failing(audit: &Audit) -> Vec<&DuplicateEntry> {
    let all = || audit.duplicates.iter();
    if all().any(|class| class.new.is_some()) {
        return all().filter(|class| class.new == Some(true)).collect();
    }
    let (chapters, _) = chapters(audit);
    let first = chapters.into_iter();
    let first = first.filter(|chapter| chapter.name == FIRST_CHAPTER);
    first.flat_map(|chapter| chapter.classes).collect()
}

fn chapters_of_copies<'a>(outer: &[&'a DuplicateEntry]) -> Vec<ToldChapter<'a>> {
    let has_some = |chapter: &&str| outer.iter().any(|class| class.chapter == *chapter);
    let at_length = AT_LENGTH.into_iter().find(has_some);
    let told = |(chapter, heading, why): (&'static str, &'static str, &'static str)| {
        let own = outer.iter().filter(|class| class.chapter == chapter);
        ToldChapter {
            name: chapter,
            heading,
            why,
            to_act_on: chapter == FIRST_CHAPTER,
            // Where nothing comes first, what is next is all that there is.
            at_length: Some(chapter) == at_length,
            classes: own.copied().collect(),
        }
    };
    CHAPTERS.into_iter().map(told).collect()
}

/// Writes duplicates, idioms and roles; returns how many classes there are to act on.
pub fn write(page: &mut Page, audit: &Audit) -> usize {
    let (chapters, inner) = chapters(audit);
    for chapter in &chapters {
        if chapter.at_length {
            classes(page, chapter, &inner);
        } else {
            lines(page, chapter);
        }
    }
    if audit.generated_files > 0 {
        let left_out = format!(
            "{} say they are generated and were not searched for duplicates (--generated)",
            count(audit.generated_files, "file")
        );
        page.put(DIM, left_out).end();
    }
    if audit.left_out_shims > 0 {
        let left_out = format!(
            "{} of `migrate` was not searched for duplicates: `coalesce status` tells when it can go",
            count(audit.left_out_shims, "shim")
        );
        let left_out = match audit.left_out_shims {
            1 => left_out,
            _ => left_out
                .replace(" was ", " were ")
                .replace("when it can", "when they can"),
        };
        page.put(DIM, left_out).end();
    }
    if let Some(why) = &audit.history_unread {
        let told = format_args!("when copies were last changed is not told: {why}");
        page.put(WARN, told).end();
    }
    forwarders(page, audit);
    roles(page, &audit.roles);
    let to_act_on = chapters.iter().filter(|chapter| chapter.to_act_on);
    to_act_on.map(|chapter| chapter.classes.len()).sum()
}

impl ToldChapter<'_> {
    /// Begins its section; what there is to act on stands out.
    fn begin(&self, page: &mut Page) {
        let style = if self.to_act_on { WARN } else { BOLD };
        page.section(style, self.heading, self.classes.len(), self.why);
    }
}

fn classes(page: &mut Page, chapter: &ToldChapter<'_>, inner: &[&DuplicateEntry]) {
    chapter.begin(page);
    page.first(CLASSES_SHOWN, &chapter.classes, |page, class| {
        write_class(page, class);
        let inside = |other: &&&DuplicateEntry| other.inside.as_ref() == Some(&class.id);
        let inside: Vec<String> = inner
            .iter()
            .filter(inside)
            .map(|one| one.id.clone())
            .collect();
        if !inside.is_empty() {
            let listed = listed(&inside, INNER_SHOWN);
            page.put(DIM, format_args!("      told with it: {listed}"))
                .end();
        }
    });
}

/// A chapter of which each class is a line.
fn lines(page: &mut Page, chapter: &ToldChapter<'_>) {
    chapter.begin(page);
    page.first(LINES_SHOWN, &chapter.classes, |page, class| {
        write_line(page, class);
    });
}

fn write_line(page: &mut Page, class: &DuplicateEntry) {
    page.put(PLAIN, "  ")
        .put(BOLD, &class.id)
        .put(PLAIN, format_args!("  {} alike, ", class.similarity));
    page.put(
        PLAIN,
        format_args!("{}: ", count(class.removable_lines as usize, "line")),
    );
    let place = |member: &DuplicateMember| format!("{}:{}", member.path, member.lines[0]);
    let places: Vec<String> = class.members.iter().map(place).collect();
    page.put(PLACE, listed(&places, PLACES_LISTED)).end();
}

fn write_class(page: &mut Page, class: &DuplicateEntry) {
    write_title(page, class);
    let mut days = class.members.iter().map(|member| member.changed.map(day));
    // One day for all of them tells nothing.
    let first_day = days.next().flatten();
    let differ = days.any(|day| day != first_day);
    first_members(page, &class.members, |page, _, member| {
        write_member(page, member, differ);
    });
    if let Some(home) = &class.home {
        write_home(page, home);
    }
    write_differences(page, class);
}

fn write_differences(page: &mut Page, class: &DuplicateEntry) {
    let paths = short_paths(&class.members);
    let only = class.differences.iter().map(|difference| {
        let at = difference.member;
        let path = paths.get(at).copied().unwrap_or_default();
        let item = class.members.get(at);
        let item = item.map_or("", |member| member.item.as_str());
        let place = format!("{path}:{} {item}", difference.line);
        Only {
            place: place.trim_end().to_owned(),
            aspect: difference.aspect,
            text: &difference.text,
        }
    });
    first_differences(page, &only.collect::<Vec<_>>());
}

fn write_title(page: &mut Page, class: &DuplicateEntry) {
    page.put(PLAIN, "  ").put(BOLD, &class.id);
    let members = count(class.members.len(), "place");
    match &class.title {
        Some(title) => page.put(PLAIN, format_args!("  {members}: {title}")),
        None => page.put(
            PLAIN,
            format_args!(
                "  {members}, {} alike{}, {} could go",
                class.similarity,
                likely(class),
                count(class.removable_lines as usize, "line")
            ),
        ),
    }
    .end();
}

/// Where a copy is; when it was last changed, where that is to be told.
fn write_member(page: &mut Page, member: &DuplicateMember, with_day: bool) {
    let [first, last] = member.lines;
    page.put(PLAIN, "    ")
        .put(PLACE, format_args!("{}:{first}-{last}", member.path));
    if !member.item.is_empty() {
        page.put(PLAIN, format_args!("  {}", member.item));
    }
    if member.uncommitted {
        page.put(DIM, "  changed, and not committed");
    } else if let Some(changed) = member.changed.filter(|_| with_day) {
        page.put(DIM, format_args!("  last changed {}", day(changed)));
    }
    page.end();
}

/// Where the copies could be one, and why there.
fn write_home(page: &mut Page, home: &HomeEntry) {
    match &home.name {
        Some(name) => page.put(PLAIN, "    could stay: ").put(BOLD, name),
        None => page.put(PLAIN, "    a new home is needed"),
    };
    if !home.reasons.is_empty() {
        page.put(DIM, format_args!("  {}", home.reasons.join("; ")));
    }
    page.end();
}

/// For each member as much of the end of its path as tells its file from the others.
fn short_paths(members: &[DuplicateMember]) -> Vec<&str> {
    let paths: BTreeSet<&str> = members.iter().map(|member| member.path.as_str()).collect();
    let mut short: BTreeMap<&str, &str> = BTreeMap::new();
    let mut open: Vec<&str> = paths.into_iter().collect();
    let mut parts = 1;
    while !open.is_empty() {
        let mut by_end: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for path in open.drain(..) {
            by_end.entry(end_of(path, parts)).or_default().push(path);
        }
        for (end, paths) in by_end {
            match paths.as_slice() {
                [path] => drop(short.insert(path, end)),
                _ => open.extend(paths),
            }
        }
        parts += 1;
    }
    let short_of = |member: &DuplicateMember| short.get(member.path.as_str()).copied();
    let of = |member| short_of(member).unwrap_or_default();
    // The names live as long as the paths that they are the ends of.
    members.iter().map(of).collect()
}

/// The last parts of a path.
fn end_of(path: &str, parts: usize) -> &str {
    let cut = path.rmatch_indices('/').nth(parts - 1);
    cut.and_then(|(at, _)| path.get(at + 1..)).unwrap_or(path)
}

/// The first members of a class, each written with its place in it, and how many more there are.
pub fn first_members<T>(
    page: &mut Page,
    members: &[T],
    mut write: impl FnMut(&mut Page, usize, &T),
) {
    let limit = page.limit(MEMBERS_SHOWN);
    for (at, member) in members.iter().enumerate().take(limit) {
        write(page, at, member);
    }
    let more = members.len().saturating_sub(limit);
    if more > 0 {
        page.put(DIM, format_args!("    and {more} more")).end();
    }
}

/// Something that one place has and another one has not.
pub struct Only<'d> {
    /// File and line.
    pub place: String,
    /// What it is about.
    pub aspect: DifferenceAspect,
    /// Its text.
    pub text: &'d str,
}

/// The first differences of a class, and how many more there are.
pub fn first_differences(page: &mut Page, differences: &[Only<'_>]) {
    let limit = page.limit(DIFFERENCES_SHOWN);
    for only in differences.iter().take(limit) {
        page.put(DIM, format_args!("      only {}", only.place))
            .put(DIM, format_args!("  [{}] ", only.aspect.as_str()))
            .put(PLAIN, only.text)
            .end();
    }
    let more = differences.len().saturating_sub(limit);
    if more > 0 {
        let more = count(more, "more difference");
        page.put(DIM, format_args!("      and {more}")).end();
    }
}

/// How likely a maintainer calls it duplicated, where that is known.
fn likely(class: &DuplicateEntry) -> String {
    let likely = |likelihood| format!(", likelihood {likelihood}");
    class.likelihood.map_or(String::new(), likely)
}

/// Modules that are neither empty nor redirects, and still do nothing themselves.
fn forwarders(page: &mut Page, audit: &Audit) {
    let forwarders: Vec<_> = audit
        .stubs
        .iter()
        .filter(|stub| stub.kind == StubKind::Forwarder)
        .collect();
    if forwarders.is_empty() {
        return;
    }
    let why = "Each of their functions hands its arguments on to another one.";
    page.section(BOLD, "Modules that only forward", forwarders.len(), why);
    page.some(&forwarders, |page, stub| {
        page.put(PLAIN, "  ")
            .put(PLACE, &stub.path)
            .put(PLAIN, "  ");
        page.put(BOLD, &stub.module);
        let importers = if stub.importers.is_empty() {
            "nobody".to_owned()
        } else {
            listed(&stub.importers, 4)
        };
        page.put(PLAIN, format_args!("  imported by {importers}"))
            .end();
    });
}

/// The role × module table.
fn roles(page: &mut Page, roles: &[RoleEntry]) {
    if roles.is_empty() {
        return;
    }
    let why = "What each module calls GPU libraries for, and how often.";
    page.section(BOLD, "GPU roles", roles.len(), why);
    page.some(roles, |page, entry| {
        page.put(PLAIN, "  ").put(BOLD, &entry.module);
        let packages = listed(&entry.packages, 4);
        page.put(DIM, format_args!("  {packages}")).put(PLAIN, " ");
        for role in &entry.roles {
            page.put(PLAIN, format_args!("  {} {}", role.role, role.count));
        }
        page.end();
    });
}

#[cfg(test)]
mod tests {
    use coalesce_model::TreePath;

    use super::*;

    #[test]
    fn copies_are_told_apart_by_as_little_as_does() {
        let member = |path: &str| DuplicateMember {
            path: TreePath::new(path).unwrap(),
            item: String::new(),
            lines: [1, 2],
            changed: None,
            uncommitted: false,
        };
        let members = [
            "lidar/core/gpu.py",
            "lidar/optimization/gpu.py",
            "gpu.py",
            "a/core/gpu.py",
            "b/pool.py",
            "b/pool.py",
        ];
        let members: Vec<_> = members.map(member).into();
        assert_eq!(
            short_paths(&members),
            [
                "lidar/core/gpu.py",
                "optimization/gpu.py",
                "gpu.py",
                "a/core/gpu.py",
                "pool.py",
                "pool.py"
            ]
        );
    }
}
