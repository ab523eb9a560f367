//! References in files of no programming language: configuration, documents, notebooks.
//!
//! Full names and the paths of moved files, with the class of evidence for each. Code inside
//! documents goes back to the language, as a fragment. Nothing is read from disk here.

mod blocks;
mod document;
mod foreign;
mod fragment;
mod generated_pages;
mod gone;
mod history;
mod kind;
mod names;
mod packages;
mod places;
mod removed;
mod sphinx;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use aho_corasick::AhoCorasick;
use coalesce_model::{
    ByteSpan, Certainty, Change, ChangeKind, Edit, Evidence, FileReferences, Form, LanguageGraph,
    LanguageKind, LanguagePlan, LineIndex, Mention, Reference, Rewrite, Safety, Subject, Texts,
    TreePath, UnprovenKind, language::RewriteOptions, pattern::NamePattern,
    reference::ends_with_module_option,
};
use rayon::prelude::*;

pub use crate::kind::may_hold_unread_code;
use crate::{
    kind::{FileKind, kind},
    names::{dotted, occurrences, stands_alone},
    places::Places,
};

/// Why the import of an item from where it was is told.
const IMPORTED: &str = "code in a file of another kind imports it from where it was";

/// So much of a line before or behind a name is looked at, in bytes.
const LONGEST_LINE: usize = 4096;

/// Longer texts in files of other kinds are data that a program wrote.
const LONGEST_FOREIGN_TEXT: usize = 1 << 20;

/// What stands before a byte in its line. A line that is read for more than names is short, and one of
/// data may be the whole file.
fn line_before(text: &str, at: u32) -> &str {
    let before = text.get(..at as usize).unwrap_or_default();
    let start = before.floor_char_boundary(before.len().saturating_sub(LONGEST_LINE));
    let before = before.get(start..).unwrap_or_default();
    before.rsplit('\n').next().unwrap_or_default()
}

/// What stands behind a byte in its line, as far.
fn line_behind(text: &str, at: u32) -> &str {
    let behind = text.get(at as usize..).unwrap_or_default();
    let behind = behind
        .get(..behind.floor_char_boundary(LONGEST_LINE))
        .unwrap_or_default();
    behind.split('\n').next().unwrap_or_default()
}

/// Works out what the changes of one language mean for text files, and the files that move and go by its plan.
#[must_use]
pub fn rewrite(
    changes: &[Change],
    proposal: &LanguagePlan,
    graph: &dyn LanguageGraph,
    options: RewriteOptions,
    texts: &dyn Texts,
) -> LanguagePlan {
    let given = changes.iter().filter(|change| !removed::is_removal(change));
    let mut given: Vec<Change> = given.cloned().collect();
    let renamed = given
        .iter()
        .flat_map(|change| renamed_items(change, graph.language().separator()));
    let renamed: Vec<Change> = renamed.collect();
    given.extend(renamed);
    let rewriter = TextRewriter {
        proposal,
        changes: &given,
        places: Places::new(proposal, texts),
        graph,
        texts,
        separator: graph.language().separator(),
        prose: options.prose,
    };
    let mut plan = LanguagePlan::default();
    for found in rewriter.files(texts) {
        found.tell(&mut plan);
    }
    removed::tell(changes, graph.language(), texts, &mut plan);
    plan
}

/// The items that get other names where their module gives way, each as a change of its own.
fn renamed_items<'c>(
    change: &'c Change,
    separator: &'c str,
) -> impl Iterator<Item = Change> + use<'c> {
    let renamed = match &change.kind {
        ChangeKind::Replace { rename } => rename.as_slice(),
        _ => &[],
    };
    renamed.iter().map(move |(old, new)| Change {
        subject: Subject::Item,
        kind: ChangeKind::Replace { rename: Vec::new() },
        from: [&change.from, separator, old].concat(),
        to: [&change.to, separator, new].concat(),
        ..change.clone()
    })
}

/// Full names in configuration files that a pattern fits, for the lint.
#[must_use]
pub fn mentions(patterns: &[NamePattern], texts: &dyn Texts) -> Vec<Mention> {
    let mut found: Vec<Mention> = text_files(texts)
        .filter(|(_, kind)| *kind == FileKind::Configuration)
        .filter_map(|(path, _)| Some((path, texts.text(path)?)))
        .filter(|(path, text)| may_match(patterns, text) && !is_manifest(path, text))
        .flat_map_iter(|(path, text)| {
            let lines = LineIndex::new(&text);
            let fits = |name: &&(ByteSpan, &str)| {
                patterns
                    .iter()
                    .any(|pattern| pattern.matches_name_or_parent(name.1))
            };
            let names = dotted(&text);
            let mentions: Vec<_> = names
                .iter()
                .filter(fits)
                .map(|(span, name)| Mention {
                    path: path.clone(),
                    span: *span,
                    line: lines.line_number(span.start),
                    name: (*name).to_owned(),
                })
                .collect();
            mentions
        })
        .collect();
    found.sort_by(|a, b| (&a.path, a.span).cmp(&(&b.path, b.span)));
    found
}

/// Whether a text holds the longest plain part of one of the patterns: taking a text apart into
/// names costs much more than looking for a word.
fn may_match(patterns: &[NamePattern], text: &str) -> bool {
    patterns.iter().any(|pattern| {
        let parts = pattern.as_str().split(['*', '.', ':']);
        let longest = parts.max_by_key(|part| part.len()).unwrap_or_default();
        memchr::memmem::find(text.as_bytes(), longest.as_bytes()).is_some()
    })
}

/// For each of `names` the places in text files that name it, a module or item, in full.
#[must_use]
pub fn references(
    names: &[&str],
    language: LanguageKind,
    texts: &dyn Texts,
) -> Vec<Vec<Reference>> {
    let dotted = names.iter().enumerate();
    let dotted = dotted.filter(|(_, name)| name.contains(language.separator()));
    let (owners, patterns): (Vec<usize>, Vec<&str>) = dotted.unzip();
    let mut by_name = vec![Vec::new(); names.len()];
    let Some(finder) = finder(&patterns) else {
        return by_name;
    };
    let files = text_files(texts)
        .filter(|(path, _)| {
            path.extension()
                .and_then(LanguageKind::of_extension)
                .is_none()
        })
        .filter_map(|(path, kind)| Some((path, kind, texts.text(path)?)));
    let files = files.filter(|(path, _, text)| !is_manifest(path, text));
    let owners = &owners;
    let found = files.flat_map_iter(|(path, kind, text)| {
        let named = named_in(&text, &finder).into_iter();
        named.filter_map(move |(pattern, span)| {
            let owner = *owners.get(pattern)?;
            Some((owner, reference(path, kind, span)))
        })
    });
    for (owner, reference) in found.collect::<Vec<_>>() {
        if let Some(own) = by_name.get_mut(owner) {
            own.push(reference);
        }
    }
    for found in &mut by_name {
        found.sort();
    }
    by_name
}

/// Where names stand in a text, each with the number of its pattern.
fn named_in(text: &str, finder: &AhoCorasick) -> Vec<(usize, ByteSpan)> {
    let places = finder.find_overlapping_iter(text);
    let alone = places.filter(|place| stands_alone(text, place.range()));
    alone
        .map(|place| {
            let span = ByteSpan::from_range(place.range());
            (place.pattern().as_usize(), span)
        })
        .collect()
}

fn reference(path: &TreePath, kind: FileKind, span: ByteSpan) -> Reference {
    let form = match kind {
        FileKind::Configuration => Form::Configuration,
        _ => Form::Prose,
    };
    Reference {
        path: path.clone(),
        span,
        segments: vec![span],
        form,
        certainty: Certainty::Exact,
    }
}

/// Finds any of several names; `None` where there are none.
fn finder(names: &[&str]) -> Option<AhoCorasick> {
    (!names.is_empty()).then(|| {
        AhoCorasick::new(names)
            .expect("invariant: names of a tree that was read are fewer than 2³¹ states")
    })
}

/// Whether a file is a migration manifest, also one of which every entry is a comment yet, what was applied of one, or
/// a saved plan: it names what moves because it says so, and stays.
#[must_use]
pub fn is_manifest(path: &TreePath, text: &str) -> bool {
    if path.extension() == Some("json") {
        let keys = ["\"plan\": ", "\"manifests\": [", "\"operations\": ["];
        return text.starts_with("{\n") && keys.iter().all(|key| text.contains(key));
    }
    let is_own = path
        .parent()
        .is_some_and(|folder| folder.as_str() == "migrations");
    match path.extension() {
        // Whatever stands there is read as one.
        Some("toml") => is_own || has_entries(text),
        Some("applied") => is_own || text.starts_with(RECORD),
        _ => false,
    }
}

/// What the first line of a file begins with that says what was applied.
const RECORD: &str = "# What `coalesce migrate` has applied of ";

/// Whether a TOML file that says its schema has tables of a manifest, proposed ones included, which are comments.
fn has_entries(text: &str) -> bool {
    let is_schema = |line: &str| {
        let rest = line.strip_prefix("schema").map(str::trim_start);
        rest.is_some_and(|rest| rest.starts_with('='))
    };
    let name = |line: &str| {
        let line = line.trim_start_matches(['#', ' ', '\t']);
        let (name, _) = line.strip_prefix("[[")?.split_once("]]")?;
        Some(name.trim().to_owned())
    };
    let is_entry = |line: &str| name(line).is_some_and(|name| TABLES.contains(&name.as_str()));
    text.lines().any(is_schema) && text.lines().any(is_entry)
}

/// The tables of a manifest of which there may be several.
const TABLES: [&str; 6] = ["move", "replace", "merge", "remove", "forbid", "accessor"];

fn text_files(texts: &dyn Texts) -> impl ParallelIterator<Item = (&TreePath, FileKind)> {
    texts
        .paths()
        .par_iter()
        .filter_map(|path| Some((path, kind(path)?)))
}

pub(crate) struct TextRewriter<'a> {
    /// What the language does itself.
    proposal: &'a LanguagePlan,
    changes: &'a [Change],
    places: Places,
    graph: &'a dyn LanguageGraph,
    texts: &'a dyn Texts,
    separator: &'static str,
    prose: bool,
}

pub(crate) struct Found {
    told: FileReferences,
    edits: Vec<Edit>,
    /// The bytes that they change.
    changed: Spans,
    /// The bytes of references that stay.
    left: Spans,
}

/// Parts of a text, apart from each other: where each begins, and its end.
#[derive(Default)]
struct Spans(BTreeMap<u32, u32>);

impl Spans {
    fn insert(&mut self, span: ByteSpan) {
        let (mut start, mut end) = (span.start, span.end);
        while let Some((&near, &far)) = self.0.range(..end).next_back()
            && far > start
        {
            self.0.remove(&near);
            (start, end) = (start.min(near), end.max(far));
        }
        let known = self.0.entry(start).or_insert(end);
        *known = end.max(*known);
    }

    /// Whether a span is a part of one of them.
    fn contain(&self, span: ByteSpan) -> bool {
        let mut before = self.0.range(..=span.start);
        before.next_back().is_some_and(|(_, end)| span.end <= *end)
    }

    /// Whether one of them shares a byte with a span, or stands inside of it.
    fn meets(&self, span: ByteSpan) -> bool {
        let mut before = self.0.range(..span.end);
        before.next_back().is_some_and(|(_, end)| *end > span.start)
    }
}

/// How a reference that changes is described.
pub(crate) struct Reason {
    form: Form,
    evidence: Evidence,
    safety: Safety,
    text: &'static str,
}

impl Found {
    fn new(path: TreePath) -> Self {
        Self {
            told: FileReferences::new(path),
            edits: Vec::new(),
            changed: Spans::default(),
            left: Spans::default(),
        }
    }

    /// Adds all of it to a plan.
    fn tell(self, plan: &mut LanguagePlan) {
        if !self.edits.is_empty() {
            plan.edits.insert(self.told.path.clone(), self.edits);
        }
        plan.tell(self.told);
    }

    fn covered(&self, span: ByteSpan) -> bool {
        self.changed.meets(span)
    }

    /// Whether something at these bytes was told already.
    fn is_left(&self, span: ByteSpan) -> bool {
        self.left.meets(span)
    }

    fn edit(&mut self, edit: Edit) {
        self.changed.insert(edit.span);
        self.edits.push(edit);
    }

    fn change(&mut self, span: ByteSpan, from: &str, to: &str, reason: Reason) {
        self.edit(Edit::replace(span, to));
        self.told.rewrites.push(Rewrite {
            path: self.told.path.clone(),
            span,
            form: reason.form,
            evidence: reason.evidence,
            from: from.to_owned(),
            to: to.to_owned(),
            reason: reason.text.to_owned(),
            safety: reason.safety,
        });
    }

    /// A place that runs, and that is not changed.
    fn doubt(&mut self, span: ByteSpan, name: &str, why: &str) {
        self.told
            .doubt(span, UnprovenKind::DynamicImport, name, why);
    }

    fn leave(&mut self, span: ByteSpan, form: Form, name: &str, why: &str) {
        self.left.insert(span);
        self.told.leave(span, form, name, why);
    }
}

/// Where a name stands of which nothing is said yet.
fn free_names(text: &str, name: &str, found: &Found) -> Vec<ByteSpan> {
    let all = occurrences(text, name);
    all.filter(|span| !found.covered(*span) && !found.is_left(*span))
        .collect()
}

/// Whether a name is that of a group of entry points, in the head of a table or as a key: `[project.entry-points."pkg.plugins"]`,
/// `pkg.plugins =` below `[options.entry_points]`.
fn is_group(text: &str, span: ByteSpan) -> bool {
    let line = line_before(text, span.start);
    let of_groups = |head: &str| {
        let tables = ["entry_points", "entry-points", "tool.poetry.plugins"];
        tables.iter().any(|table| head.contains(table))
    };
    if line.trim_start().starts_with('[') {
        return of_groups(line);
    }
    let before = text.get(..span.start as usize).unwrap_or_default();
    let section = before.rfind("\n[").and_then(|at| before.get(at..));
    let section = section.and_then(|section| section.trim_start().lines().next());
    let behind = line_behind(text, span.end);
    let behind = match line {
        "" => Some(behind),
        "\"" | "'" => behind.strip_prefix(line),
        _ => None,
    };
    let is_key = behind.is_some_and(|behind| behind.trim_start().starts_with('='));
    is_key && section.is_some_and(of_groups)
}

/// Whether the module of a filter of warnings follows a text: `ignore::DeprecationWarning:`.
fn ends_with_filter(line: &str) -> bool {
    let actions = ["always", "default", "error", "ignore", "module", "once"];
    let apart = |c: char| c.is_whitespace() || "\"',[(=".contains(c);
    let filter = line.rsplit(apart).next().unwrap_or_default();
    let action = filter.split(':').next().unwrap_or_default();
    actions.contains(&action) && filter.ends_with(':') && filter.matches(':').count() == 3
}

impl TextRewriter<'_> {
    /// What becomes of the files that name something that changes.
    fn files(&self, texts: &dyn Texts) -> Vec<Found> {
        let names = self.searched_names();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let Some(names) = finder(&names) else {
            return Vec::new();
        };
        let is_data = |kind: FileKind, text: &str| {
            kind == FileKind::Foreign && text.len() > LONGEST_FOREIGN_TEXT
        };
        let unproven = self.unproven_places();
        let own = self.graph.language().extensions();
        let is_own = |path: &TreePath| path.extension().is_some_and(|one| own.contains(&one));
        text_files(texts)
            .filter(|(path, _)| !self.proposal.deletes.contains(path))
            .filter_map(|(path, kind)| {
                if is_own(path) {
                    let told = unproven.get(path).map(Vec::as_slice);
                    return self.source(path, told.unwrap_or_default());
                }
                let text = texts.text(path).filter(|text| !is_data(kind, text))?;
                if !names.is_match(&*text) {
                    return None;
                }
                let told = unproven.get(path).map(Vec::as_slice);
                Some(self.file((path, kind), &text, told.unwrap_or_default()))
            })
            .collect()
    }

    /// The last parts of the names that change, and of paths that go: a file that has none of them says nothing of these.
    fn searched_names(&self) -> BTreeSet<String> {
        let names = self.changes.iter().filter_map(|change| {
            let last = change.from.rsplit(self.separator).next()?;
            // A package in dashes stands in the paths of its files.
            let dashed = (last == change.from).then(|| last.replace('_', "-"));
            Some(std::iter::once(last.to_owned()).chain(dashed))
        });
        let gone = self.places.gone_names().map(str::to_owned);
        names.flatten().chain(gone).collect()
    }

    /// What a source of the language says of pages that are made of it: the language reads all else.
    fn source(&self, path: &TreePath, told: &[ByteSpan]) -> Option<Found> {
        let text = self.texts.text(path)?;
        memchr::memmem::find(text.as_bytes(), b".html")?;
        let mut found = Found::new(path.clone());
        self.leave_to_language(path, told, &mut found);
        generated_pages::tell(self, &text, &mut found);
        Some(found)
    }

    /// The places of each file that the language itself tells as not proven.
    fn unproven_places(&self) -> BTreeMap<&TreePath, Vec<ByteSpan>> {
        let mut found: BTreeMap<&TreePath, Vec<ByteSpan>> = BTreeMap::new();
        for one in &self.proposal.unproven {
            found.entry(&one.path).or_default().extend(one.span);
        }
        found
    }

    fn file(&self, (path, kind): (&TreePath, FileKind), text: &str, told: &[ByteSpan]) -> Found {
        let mut found = Found::new(path.clone());
        if is_manifest(path, text) {
            return found;
        }
        self.leave_to_language(path, told, &mut found);
        match kind {
            FileKind::History => self.history(text, &mut found),
            FileKind::Configuration | FileKind::Operations => {
                self.configuration(kind, text, &mut found)
            }
            FileKind::Document => {
                if path.extension() == Some("txt") {
                    document::plain(self, text, &mut found);
                }
                document::rewrite(self, text, &mut found);
                sphinx::rewrite(self, text, &mut found);
                self.places.document(text, &mut found);
                packages::tell(self, false, text, &mut found);
                self.imports_in_document(text, &mut found);
                generated_pages::tell(self, text, &mut found);
            }
            FileKind::Foreign => foreign::tell(self, path, text, &mut found),
            FileKind::Notebook => document::notebook(self, text, &mut found),
        }
        found.edits.sort();
        found
    }

    /// Notes what the language edits itself, and what it tells: it is said by that.
    fn leave_to_language(&self, path: &TreePath, told: &[ByteSpan], found: &mut Found) {
        let edits = self.proposal.edits.get(path).into_iter().flatten();
        for span in edits.map(|edit| edit.span).chain(told.iter().copied()) {
            found.left.insert(span);
        }
    }

    /// Every changed name in a text: its place, the name, and the new one. Longest names first
    /// where they share a start.
    fn names(&self, text: &str) -> Vec<(ByteSpan, String, String)> {
        let mut names = Vec::new();
        let entry_points = self.changes.iter();
        let entry_points = entry_points.flat_map(|change| self.entry_points(change, text));
        let entry_points: HashSet<u32> = entry_points.map(|(span, ..)| span.start).collect();
        let (nested, at_top): (Vec<&Change>, Vec<&Change>) = self
            .changes
            .iter()
            .partition(|change| change.from.contains(self.separator));
        let begun = at_top.into_iter().flat_map(|change| {
            let spans = occurrences(text, &change.from);
            let begun = spans.filter(|span| {
                let stands =
                    self.begins_full_name(change, text, *span) || self.is_argument(text, *span);
                stands && !self.is_longer(change, text, *span)
            });
            begun.map(|span| (span, change.from.clone(), change.to.clone()))
        });
        names.extend(begun.filter(|(span, ..)| !entry_points.contains(&span.start)));
        for change in nested {
            names.extend(self.entry_points(change, text));
            names.extend(self.expressions(change, text));
            let spans = occurrences(text, &change.from).filter(|span| {
                !entry_points.contains(&span.start)
                    && !self.is_longer(change, text, *span)
                    && !self.is_function_beside(change, text, *span)
            });
            names.extend(spans.map(|span| (span, change.from.clone(), change.to.clone())));
        }
        names.sort_by_key(|(span, ..)| *span);
        names
    }

    /// Whether the name of a module at the top, which may be any word, begins the full name of something that it has:
    /// `pkg.cli`, `krate::pool`, or `pkg:main` in an entry point.
    fn begins_full_name(&self, change: &Change, text: &str, span: ByteSpan) -> bool {
        let rest = text.get(span.end as usize..).unwrap_or_default();
        let part = rest.strip_prefix(self.separator).or_else(|| {
            let rest = rest.strip_prefix(" : ").or_else(|| rest.strip_prefix(':'));
            rest.filter(|_| self.separator == ".")
        });
        let part = part.unwrap_or_default();
        let end = part.find(|c: char| !(c.is_alphanumeric() || c == '_'));
        let part = part.get(..end.unwrap_or(part.len())).unwrap_or_default();
        let full = format!("{}{}{part}", change.from, self.separator);
        !part.is_empty() && self.graph.knows(&full)
    }

    /// Whether a name is what an option of a tool, a statement or a filter of warnings is given: `python -m pkg`, `--cov=pkg`,
    /// `import pkg`, `error:::pkg`.
    fn is_argument(&self, text: &str, span: ByteSpan) -> bool {
        let before = text.get(..span.start as usize).unwrap_or_default();
        let rest = text.get(span.end as usize..).unwrap_or_default();
        let ends = |c: char| c.is_whitespace() || "\"',;)]".contains(c);
        let alone = rest.is_empty() || rest.starts_with(ends);
        let line = line_before(text, span.start);
        let imported = line.ends_with("import ") && !line.contains("from ")
            || line.ends_with("from ") && rest.starts_with(" import ");
        self.separator == "."
            && (alone && (imported || ends_with_module_option(before))
                || (alone || rest.starts_with([':', '.'])) && ends_with_filter(line))
    }

    /// Whether the name of a module is called here, so that it is that of a function or macro beside it.
    fn is_function_beside(&self, change: &Change, text: &str, span: ByteSpan) -> bool {
        let behind = text.get(span.end as usize..).unwrap_or_default();
        let is_called = behind.starts_with('(') || behind.starts_with("!(");
        self.separator == "::" && change.subject == Subject::Module && is_called
    }

    /// Whether what stands at a name is the longer name of another change.
    fn is_longer(&self, change: &Change, text: &str, span: ByteSpan) -> bool {
        let rest = text.get(span.start as usize..).unwrap_or_default();
        self.changes.iter().any(|other| {
            other.from.len() > change.from.len()
                && other.from.starts_with(&change.from)
                && rest
                    .strip_prefix(other.from.as_str())
                    .is_some_and(|behind| {
                        let next = behind.chars().next();
                        !next.is_some_and(|c| c.is_alphanumeric() || c == '_')
                    })
        })
    }

    /// An item behind the colon of an entry point: `pkg.old:f`, `pkg.old : f`.
    fn entry_points(&self, change: &Change, text: &str) -> Vec<(ByteSpan, String, String)> {
        if change.subject != Subject::Item || self.separator != "." {
            return Vec::new();
        }
        let part = |name: &str, colon: &str| {
            let (module, item) = name.rsplit_once('.')?;
            Some(format!("{module}{colon}{item}"))
        };
        let mut found = Vec::new();
        for colon in [":", " : "] {
            if let (Some(from), Some(to)) = (part(&change.from, colon), part(&change.to, colon)) {
                let spans = occurrences(text, &from);
                found.extend(spans.map(|span| (span, from.clone(), to.clone())));
            }
        }
        found
    }

    /// A name as regular expressions have it: `pkg\\.old`.
    fn expressions(&self, change: &Change, text: &str) -> Vec<(ByteSpan, String, String)> {
        let mut found = Vec::new();
        for dot in ["\\.", "\\\\."].iter().filter(|_| self.separator == ".") {
            let (from, to) = (change.from.replace('.', dot), change.to.replace('.', dot));
            let spans: Vec<ByteSpan> = occurrences(text, &from).collect();
            found.extend(
                spans
                    .into_iter()
                    .map(|span| (span, from.clone(), to.clone())),
            );
        }
        found
    }

    fn history(&self, text: &str, found: &mut Found) {
        if let Some((span, from, _)) = self.names(text).into_iter().next() {
            found.leave(span, Form::Prose, &from, "history stays as it was written");
        }
    }

    fn configuration(&self, kind: FileKind, text: &str, found: &mut Found) {
        for (span, from, to) in self.names(text) {
            if self.is_imported_beside(text, span, &from) {
                let why = "the line imports the module that it leaves";
                found.leave(span, Form::Configuration, &from, why);
                found.doubt(span, &from, why);
                continue;
            }
            if is_group(text, span) {
                let why = "a group of entry points is called like this, and keeps its name";
                found.leave(span, Form::Configuration, &from, why);
                if self.asks_for_groups() {
                    let why =
                        "a group of entry points is called like this, and somebody asks for groups";
                    found.doubt(span, &from, why);
                }
                continue;
            }
            let reason = Reason {
                form: Form::Configuration,
                evidence: Evidence::ExactName,
                safety: Safety::Safe,
                text: "a full name in a configuration file",
            };
            found.change(span, &from, &to, reason);
        }
        for (span, name) in self.imports_of_items(text) {
            found.leave(span, Form::Configuration, &name, IMPORTED);
            found.doubt(span, &name, IMPORTED);
        }
        self.names_for_headers(text, found);
        let operations = kind == FileKind::Operations;
        packages::tell(self, operations, text, found);
        let runs = self.separator == "." && kind::runs(&found.told.path);
        self.places.configuration(operations, runs, text, found);
    }

    /// Items by their last names alone, of which `cbindgen` writes headers: one that gets another name is missing there.
    fn names_for_headers(&self, text: &str, found: &mut Found) {
        if self.separator != "::" || found.told.path.file_name() != "cbindgen.toml" {
            return;
        }
        for change in self.changes {
            let last = |name: &str| name.rsplit("::").next().unwrap_or_default().to_owned();
            let (old, new) = (last(&change.from), last(&change.to));
            if change.subject != Subject::Item || old == new {
                continue;
            }
            for span in free_names(text, &old, found) {
                let why = "headers are made of it by its old name";
                found.leave(span, Form::Configuration, &change.from, why);
                found.doubt(span, &change.from, why);
            }
        }
    }

    /// Whether a program of the tree looks for entry points.
    fn asks_for_groups(&self) -> bool {
        let mut sources = self.texts.paths().iter();
        sources.any(|path| {
            let text = self
                .texts
                .text(path)
                .filter(|_| path.extension() == Some("py"));
            text.is_some_and(|text| text.contains("entry_points(") || text.contains("stevedore"))
        })
    }

    /// Whether the line of an item's full name is code that imports its module: `python -c "import pkg.a; pkg.a.f()"`.
    fn is_imported_beside(&self, text: &str, span: ByteSpan, name: &str) -> bool {
        let item = |change: &Change| change.from == name && change.subject == Subject::Item;
        if self.separator != "." || !self.changes.iter().any(item) {
            return false;
        }
        let line = line_before(text, span.start);
        let module = name.rsplit_once('.').map_or("", |(module, _)| module);
        line.contains("import ") && occurrences(line, module).next().is_some()
    }

    /// Lines of code in other files that import an item from the module that it leaves: nobody here reads such code.
    fn imports_of_items(&self, text: &str) -> Vec<(ByteSpan, String)> {
        let items = self
            .changes
            .iter()
            .filter(|change| self.separator == "." && change.subject == Subject::Item);
        let found = items.flat_map(|change| {
            let (module, item) = change.from.rsplit_once('.').unwrap_or_default();
            let start = format!("from {module} import ");
            let lines = text.match_indices(&start).filter_map(|(at, found)| {
                let rest = text.get(at + found.len()..).unwrap_or_default();
                let line = rest.split(['\n', ';']).next().unwrap_or_default();
                let mut words = line.split(|c: char| !(c.is_alphanumeric() || c == '_'));
                let end = at + found.len() + line.len();
                words
                    .any(|word| word == item)
                    .then(|| (ByteSpan::from_range(at..end), change.from.clone()))
            });
            lines.collect::<Vec<_>>()
        });
        found.collect()
    }

    /// Those of a document, as in code that stands indented, where nothing else was said of them.
    fn imports_in_document(&self, text: &str, found: &mut Found) {
        for (span, name) in self.imports_of_items(text) {
            if !found.covered(span) && !found.is_left(span) {
                found.leave(span, Form::DocCode, &name, IMPORTED);
            }
        }
    }
}
