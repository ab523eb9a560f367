//! The page of `diff`: what differs by what it is about, which definitions cover which, and the lines
//! side by side.

use coalesce_model::envelope::{
    AlignedRow, CoverageDifference, CoverageEntry, CoverageNote, CoverageRelation, DefinitionKind,
    DefinitionPlace, Diff, DifferenceAspect, Envelope, NumberedLine,
};
use unicode_width::UnicodeWidthChar as _;

use crate::page::{
    ADDED, BAD, BOLD, DIM, GOOD, PLACE, PLAIN, Page, REMOVED, WARN, count, read_counts,
};

/// Columns that a side has at least.
const NARROWEST: usize = 20;
/// Columns beyond which a side gets no wider.
const WIDEST: usize = 240;

/// What matters most, first.
pub const RELATIONS: [CoverageRelation; 8] = [
    CoverageRelation::Conflicting,
    CoverageRelation::ChangedSignatureAndBody,
    CoverageRelation::ChangedBody,
    CoverageRelation::ChangedSignature,
    CoverageRelation::OnlyLeft,
    CoverageRelation::OnlyRight,
    CoverageRelation::Reworded,
    CoverageRelation::Same,
];

/// What hurts most, first.
pub const ASPECTS: [DifferenceAspect; 10] = [
    DifferenceAspect::Guard,
    DifferenceAspect::Constant,
    DifferenceAspect::Fallback,
    DifferenceAspect::Exception,
    DifferenceAspect::Import,
    DifferenceAspect::Default,
    DifferenceAspect::Return,
    DifferenceAspect::Signature,
    DifferenceAspect::Statement,
    DifferenceAspect::Wording,
];

/// What a relation is called on a page.
pub const fn relation(relation: CoverageRelation) -> &'static str {
    match relation {
        CoverageRelation::Same => "same",
        CoverageRelation::Reworded => "reworded",
        CoverageRelation::ChangedSignature => "changed signature",
        CoverageRelation::ChangedBody => "changed body",
        CoverageRelation::ChangedSignatureAndBody => "changed signature and body",
        CoverageRelation::Conflicting => "conflicting",
        CoverageRelation::OnlyLeft => "only in A",
        CoverageRelation::OnlyRight => "only in B",
    }
}

/// What an aspect is called as a heading.
pub const fn heading(aspect: DifferenceAspect) -> &'static str {
    match aspect {
        DifferenceAspect::Guard => "Guards",
        DifferenceAspect::Constant => "Constants",
        DifferenceAspect::Fallback => "Fallbacks",
        DifferenceAspect::Exception => "Exceptions",
        DifferenceAspect::Import => "Imports",
        DifferenceAspect::Default => "Parameters and defaults",
        DifferenceAspect::Return => "Returned values",
        DifferenceAspect::Signature => "Signatures",
        DifferenceAspect::Statement => "Statements",
        DifferenceAspect::Wording => "Messages",
    }
}

/// Entries as a table has them: members instead of the class that both sides have, unless its head
/// differs as well; a class that one side alone has stands for its members.
pub fn flat(entries: &[CoverageEntry]) -> Vec<&CoverageEntry> {
    let mut found = Vec::new();
    for entry in entries {
        let whole = matches!(
            entry.relation,
            CoverageRelation::OnlyLeft
                | CoverageRelation::OnlyRight
                | CoverageRelation::Same
                | CoverageRelation::Conflicting
        );
        if whole || entry.members.is_empty() || !entry.differences.is_empty() {
            found.push(entry);
        }
        let keeps = matches!(
            entry.relation,
            CoverageRelation::OnlyLeft | CoverageRelation::OnlyRight
        );
        if keeps {
            // A member that stands for something of the other side is no longer only here.
            let covered = |member: &&CoverageEntry| member.left.is_some() && member.right.is_some();
            found.extend(entry.members.iter().filter(covered));
        } else if entry.relation != CoverageRelation::Same {
            found.extend(flat(&entry.members));
        }
    }
    found
}

/// Entries whose differences say something: two things of one name differ in everything.
pub fn comparable<'e>(entries: &[&'e CoverageEntry]) -> Vec<&'e CoverageEntry> {
    let conflicts = |entry: &&CoverageEntry| entry.relation == CoverageRelation::Conflicting;
    entries
        .iter()
        .copied()
        .filter(|entry| !conflicts(entry))
        .collect()
}

/// The name of an entry: one, or both where they differ.
pub fn name(entry: &CoverageEntry) -> String {
    match (&entry.left, &entry.right) {
        (Some(left), Some(right)) if left.name != right.name && !is_nameless(left, right) => {
            let verb = match entry.relation {
                CoverageRelation::Conflicting => "against",
                _ => "as",
            };
            format!("{} {verb} {}", left.name, right.name)
        }
        (Some(place), _) | (None, Some(place)) => place.name.clone(),
        (None, None) => String::new(),
    }
}

/// Whether both are statements, which have no name but their text.
fn is_nameless(left: &DefinitionPlace, right: &DefinitionPlace) -> bool {
    (left.kind, right.kind) == (DefinitionKind::Statement, DefinitionKind::Statement)
}

/// What is to be known of an entry beside its relation.
pub fn note(entry: &CoverageEntry) -> Option<String> {
    let mut notes: Vec<String> = Vec::new();
    match (entry.note, &entry.left, &entry.right) {
        (Some(CoverageNote::LeftImports), ..) => notes.push("A imports it from B".to_owned()),
        (Some(CoverageNote::RightImports), ..) => notes.push("B imports it from A".to_owned()),
        (None, Some(left), Some(right)) if left.kind != right.kind => {
            let (left, right) = (left.kind.as_str(), right.kind.as_str());
            notes.push(format!("{left} in A, {right} in B"));
        }
        _ => {}
    }
    let renamed = entry.renamed.iter();
    notes.extend(renamed.map(|one| format!("in B {} is {}", one.left, one.right)));
    (!notes.is_empty()).then(|| notes.join(", "))
}

/// `18-20`, or `-` where a side has none.
pub fn lines(place: Option<&DefinitionPlace>) -> String {
    match place {
        Some(place) if place.lines[0] == place.lines[1] => place.lines[0].to_string(),
        Some(place) => format!("{}-{}", place.lines[0], place.lines[1]),
        None => "-".to_owned(),
    }
}

/// The differences of one aspect, each with the entry that has it.
pub fn of_aspect<'d>(
    entries: &[&'d CoverageEntry],
    aspect: DifferenceAspect,
) -> Vec<(&'d CoverageEntry, &'d CoverageDifference)> {
    let each = entries.iter().flat_map(|entry| {
        let own = entry.differences.iter();
        own.map(move |difference| (*entry, difference))
    });
    each.filter(|(_, difference)| difference.aspect == aspect)
        .collect()
}

/// Writes the page of `diff`.
pub fn write(page: &mut Page, envelope: &Envelope, diff: &Diff) {
    for (letter, side) in [("A", &diff.left), ("B", &diff.right)] {
        page.put(BOLD, letter)
            .put(PLAIN, "  ")
            .put(BOLD, &side.name);
        if side.name != side.path.as_str() {
            page.put(PLAIN, "  ").put(PLACE, &side.path);
        }
        page.end();
    }
    for finding in &envelope.findings {
        page.finding(finding);
    }
    let entries = flat(&diff.coverage);
    aspects(page, &comparable(&entries));
    table(page, &entries);
    if !page.quiet() {
        for entry in entries.iter().filter(|entry| !entry.hunks.is_empty()) {
            aligned(page, entry);
        }
    }
    summary(page, diff);
}

/// What differs, by what it is about.
fn aspects(page: &mut Page, entries: &[&CoverageEntry]) {
    for aspect in ASPECTS {
        let found = of_aspect(entries, aspect);
        if found.is_empty() || (page.quiet() && aspect == DifferenceAspect::Wording) {
            continue;
        }
        page.section(WARN, heading(aspect), found.len(), "");
        let mut last = None;
        page.some(&found, |page, (entry, difference)| {
            let name = name(entry);
            if last.as_ref() != Some(&name) {
                page.put(PLAIN, "  ").put(BOLD, &name).end();
            }
            last = Some(name);
            side(page, "A", REMOVED, difference.left.as_ref());
            side(page, "B", ADDED, difference.right.as_ref());
            if difference.moved {
                page.put(DIM, "             the same, in another block")
                    .end();
            }
        });
    }
}

fn side(page: &mut Page, letter: &str, style: anstyle::Style, text: Option<&NumberedLine>) {
    page.put(DIM, format_args!("    {letter} "));
    match text {
        Some(text) => page
            .put(PLACE, format_args!("{:>5}", text.line))
            .put(PLAIN, "  ")
            .put(style, &text.text),
        None => page.put(DIM, "    -"),
    }
    .end();
}

/// Which definition covers which; equal ones in one line.
fn table(page: &mut Page, entries: &[&CoverageEntry]) {
    for wanted in RELATIONS {
        let of = entries.iter().copied();
        let of: Vec<&CoverageEntry> = of.filter(|entry| entry.relation == wanted).collect();
        if !of.is_empty() {
            write_relation(page, wanted, of);
        }
    }
}

/// The definitions of one relation; imports of which there is no more to say in one line.
fn write_relation(page: &mut Page, wanted: CoverageRelation, of: Vec<&CoverageEntry>) {
    let style = match wanted {
        CoverageRelation::Conflicting => BAD,
        CoverageRelation::Same | CoverageRelation::Reworded => GOOD,
        _ => WARN,
    };
    page.section(style, &capitalized(relation(wanted)), of.len(), "");
    let (plain, imports): (Vec<&CoverageEntry>, Vec<&CoverageEntry>) =
        of.into_iter().partition(|entry| !is_plain_import(entry));
    if wanted == CoverageRelation::Same {
        page.some(&plain, |page, entry| row(page, entry));
    } else {
        plain.iter().for_each(|entry| row(page, entry));
    }
    if !imports.is_empty() {
        let names: Vec<String> = imports.into_iter().map(name).collect();
        page.put(DIM, "  imports   ")
            .put(PLAIN, names.join(", "))
            .end();
    }
}

fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().into_iter();
    first
        .flat_map(char::to_uppercase)
        .chain(characters)
        .collect()
}

/// Whether an entry is an import of which there is no more to say than its name.
fn is_plain_import(entry: &CoverageEntry) -> bool {
    let kind = entry
        .left
        .as_ref()
        .or(entry.right.as_ref())
        .map(|place| place.kind);
    kind == Some(DefinitionKind::Import)
        && note(entry).is_none()
        && matches!(
            entry.relation,
            CoverageRelation::Same | CoverageRelation::OnlyLeft | CoverageRelation::OnlyRight
        )
}

fn row(page: &mut Page, entry: &CoverageEntry) {
    let kind = entry
        .left
        .as_ref()
        .or(entry.right.as_ref())
        .map_or("", |place| place.kind.as_str());
    page.put(DIM, format_args!("  {kind:<9} "))
        .put(PLAIN, name(entry));
    if let Some(left) = &entry.left {
        page.put(PLACE, format_args!("  A:{}", lines(Some(left))));
    }
    if let Some(right) = &entry.right {
        page.put(PLACE, format_args!("  B:{}", lines(Some(right))));
    }
    if let Some(note) = note(entry) {
        page.put(DIM, format_args!("  ({note})"));
    }
    page.end();
}

/// The lines of an entry, side by side or one below the other.
fn aligned(page: &mut Page, entry: &CoverageEntry) {
    page.gap();
    page.put(BOLD, name(entry));
    page.put(PLACE, format_args!("  A:{}", lines(entry.left.as_ref())));
    page.put(PLACE, format_args!("  B:{}", lines(entry.right.as_ref())))
        .end();
    let columns = page.columns();
    for hunk in &entry.hunks {
        page.put(DIM, "  ···").end();
        match columns {
            Some(columns) => side_by_side(page, &hunk.rows, columns),
            None => unified(page, &hunk.rows),
        }
    }
}

fn unified(page: &mut Page, rows: &[AlignedRow]) {
    for run in rows.chunk_by(|a, b| a.equal == b.equal) {
        let equal = run.first().is_some_and(|row| row.equal);
        let mut put = |sign: &str, style, line: Option<&NumberedLine>| {
            if let Some(line) = line {
                page.put(DIM, format_args!("{:>6} ", line.line));
                page.put(style, format_args!("{sign} {}", line.text)).end();
            }
        };
        if equal {
            run.iter()
                .for_each(|row| put(" ", PLAIN, row.left.as_ref()));
        } else {
            run.iter()
                .for_each(|row| put("-", REMOVED, row.left.as_ref()));
            run.iter()
                .for_each(|row| put("+", ADDED, row.right.as_ref()));
        }
    }
}

fn side_by_side(page: &mut Page, rows: &[AlignedRow], columns: usize) {
    // Two numbers of six columns each, a sign between two spaces.
    let width = (columns.min(WIDEST).saturating_sub(17) / 2).max(NARROWEST);
    for row in rows {
        let sign = match (&row.left, &row.right) {
            _ if row.equal => " ",
            (Some(_), None) => "<",
            (None, _) => ">",
            _ => "|",
        };
        let (left, right) = (
            Column::new(row.left.as_ref(), width),
            Column::new(row.right.as_ref(), width),
        );
        let styles = if row.equal {
            (PLAIN, PLAIN)
        } else {
            (REMOVED, ADDED)
        };
        for at in 0..left.parts.len().max(right.parts.len()) {
            left.put(page, at, styles.0, width);
            page.put(DIM, format_args!(" {sign} "));
            right.put(page, at, styles.1, 0);
            page.end();
        }
    }
}

/// One line cut to the width of its column.
struct Column {
    line: Option<u32>,
    parts: Vec<(String, usize)>,
}

impl Column {
    fn new(line: Option<&NumberedLine>, width: usize) -> Self {
        let mut parts: Vec<(String, usize)> = Vec::new();
        for character in line.map_or("", |line| line.text.as_str()).chars() {
            let (text, wide) = match character {
                '\t' => ("    ".to_owned(), 4),
                other => (other.to_string(), other.width().unwrap_or(0)),
            };
            let fits = parts.last().is_some_and(|(_, used)| used + wide <= width);
            if !fits {
                parts.push((String::new(), 0));
            }
            if let Some((part, used)) = parts.last_mut() {
                part.push_str(&text);
                *used += wide;
            }
        }
        if parts.is_empty() {
            parts.push((String::new(), 0));
        }
        Self {
            line: line.map(|line| line.line),
            parts,
        }
    }

    fn put(&self, page: &mut Page, at: usize, style: anstyle::Style, width: usize) {
        match self.line.filter(|_| at == 0) {
            Some(line) => page.put(DIM, format_args!("{line:>6} ")),
            None => page.put(PLAIN, "       "),
        };
        let (text, used) = self
            .parts
            .get(at)
            .map_or(("", 0), |(text, used)| (text.as_str(), *used));
        page.put(style, text);
        page.put(PLAIN, " ".repeat(width.saturating_sub(used)));
    }
}

fn summary(page: &mut Page, diff: &Diff) {
    if page.quiet() {
        return;
    }
    page.gap();
    page.line(format_args!(
        "{}; {}",
        counts(diff),
        read_counts(&diff.files)
    ));
}

/// How many definitions there are, and in which relations.
pub fn counts(diff: &Diff) -> String {
    let number = |wanted| {
        let of = diff.counts.iter().filter(|count| count.relation == wanted);
        of.map(|count| count.count).sum::<usize>()
    };
    let told = RELATIONS
        .into_iter()
        .filter(|relation| number(*relation) > 0);
    let told: Vec<String> = told
        .map(|one| format!("{} {}", number(one), relation(one)))
        .collect();
    let all: usize = diff.counts.iter().map(|count| count.count).sum();
    if told.is_empty() {
        return "0 definitions".to_owned();
    }
    format!("{}: {}", count(all, "definition"), told.join(", "))
}
