//! From the TOML text to a [`Manifest`], every error with its place.

use std::collections::{BTreeMap, BTreeSet};

use toml::Spanned;

use super::{
    Accessor, Choice, Decision, Entry, EntryVerb, Forbid, Manifest, ManifestError, Name, NameKind,
    Removal, Uses, did_you_mean,
    tables::{
        AccessorTable, Document, ForbidTable, MergeTable, MoveTable, RemoveTable, ReplaceTable,
    },
};
use crate::{ByteSpan, LineIndex, pattern::NamePattern};

pub(super) fn error_at(
    path: &str,
    text: &str,
    span: ByteSpan,
    message: String,
    help: Option<String>,
) -> ManifestError {
    let position = LineIndex::new(text).position(text, span.start);
    ManifestError {
        path: path.to_owned(),
        line: position.line,
        column: position.column,
        span,
        message,
        help,
    }
}

/// Bytes of a manifest: some forty thousand entries. What TOML is read into takes a hundred times as much.
const LONGEST: usize = 4 << 20;

/// Mistakes of one manifest that are told: each is looked for in its text, and nobody reads thousands.
pub const MOST_MISTAKES: usize = 100;
/// What is said of the others.
pub const FURTHER_MISTAKES: &str = "further mistakes are told once the first hundred are mended";

/// Parts of a name. Each may become a directory; no system has paths of thousands of them.
const MOST_PARTS: usize = 100;

fn too_long(path: &str, text: &str) -> ManifestError {
    let message = format!("the manifest is longer than {} MiB", LONGEST >> 20);
    let help = "write several manifests: they are applied together, too";
    error_at(
        path,
        text,
        ByteSpan::empty(0),
        message,
        Some(help.to_owned()),
    )
}

impl Manifest {
    /// Reads a manifest. `path` is what messages call it; its file name without extension becomes
    /// the id.
    ///
    /// # Errors
    /// Every mistake that the text alone shows: TOML syntax, unknown keys (with the nearest known
    /// one), decisions that are none, malformed names, one name in two entries.
    pub fn parse(path: &str, text: &str) -> Result<Self, Vec<ManifestError>> {
        if text.len() > LONGEST {
            return Err(vec![too_long(path, text)]);
        }
        let document: Document =
            toml::from_str(text).map_err(|error| vec![syntax_error(path, text, &error)])?;
        let mut reader = Reader {
            path,
            text,
            errors: Vec::new(),
        };
        let schema = ByteSpan::from_range(document.schema.span());
        if *document.schema.get_ref() != 1 {
            reader.fail(
                schema,
                "unknown schema version",
                Some("this version reads `schema = 1`"),
            );
        }
        let mut entries = reader.moves(document.moves);
        entries.extend(reader.replaces(document.replaces));
        entries.extend(reader.merges(document.merges));
        let removals = reader.removals(document.removals, &entries);
        let accessors = reader.accessors(document.accessors);
        let forbids = reader.forbids(document.forbids);
        entries.sort_by_key(|entry| entry.from.span);
        reader.contradictions(&entries);
        if !reader.errors.is_empty() {
            return Err(reader.errors);
        }
        let file_name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        Ok(Self {
            id: file_name
                .strip_suffix(".toml")
                .unwrap_or(file_name)
                .to_owned(),
            path: path.to_owned(),
            text: text.to_owned(),
            description: document.description.unwrap_or_default(),
            since: document.shims.since,
            remove_in: document.shims.remove_in,
            trait_bounds: document.shims.trait_bounds,
            shim_style: document.shims.style,
            keep_uses: document.shims.keep_uses,
            entries,
            removals,
            accessors,
            forbids,
            verify: document.verify,
            allow: document.allow,
            applied: super::AppliedEntries::default(),
        })
    }
}

fn syntax_error(path: &str, text: &str, error: &toml::de::Error) -> ManifestError {
    let span = error
        .span()
        .map_or(ByteSpan::empty(0), ByteSpan::from_range);
    let message = error.message();
    let (first, _) = message.split_once('\n').unwrap_or((message, ""));
    let unknown = first
        .strip_prefix("unknown field `")
        .and_then(|rest| rest.split('`').next());
    let (message, help) = match unknown {
        Some(key) => (
            format!("unknown key `{key}`"),
            did_you_mean(key, expected(first)),
        ),
        None => (first.to_owned(), None),
    };
    error_at(path, text, span, message, help)
}

/// The keys that may stand in a table, from the message about one that may not.
fn expected(message: &str) -> impl Iterator<Item = &str> {
    let keys = message
        .split_once(", expected")
        .map_or("", |(_, keys)| keys);
    keys.split('`').skip(1).step_by(2)
}

struct Reader<'a> {
    path: &'a str,
    text: &'a str,
    errors: Vec<ManifestError>,
}

impl Reader<'_> {
    fn fail(&mut self, span: ByteSpan, message: impl Into<String>, help: Option<&str>) {
        if self.errors.len() > MOST_MISTAKES {
            return;
        }
        let last = self.errors.len() == MOST_MISTAKES;
        let message = if last {
            FURTHER_MISTAKES.to_owned()
        } else {
            message.into()
        };
        let help = help.filter(|_| !last);
        self.errors.push(error_at(
            self.path,
            self.text,
            span,
            message,
            help.map(str::to_owned),
        ));
    }

    fn moves(&mut self, tables: Vec<Spanned<MoveTable>>) -> Vec<Entry> {
        let read = |table: MoveTable| Entry {
            kind: self.kind(table.kind.as_ref()),
            shim: table.shim,
            uses: table.uses,
            rename: table.rename.into_iter().collect(),
            ..self.entry(EntryVerb::Move, &table.from, &table.to)
        };
        tables
            .into_iter()
            .map(Spanned::into_inner)
            .map(read)
            .collect()
    }

    fn replaces(&mut self, tables: Vec<Spanned<ReplaceTable>>) -> Vec<Entry> {
        let read = |table: ReplaceTable| Entry {
            kind: self.kind(table.kind.as_ref()),
            shim: table.shim,
            uses: table.uses,
            rename: table.rename.into_iter().collect(),
            ..self.entry(EntryVerb::Replace, &table.from, &table.to)
        };
        tables
            .into_iter()
            .map(Spanned::into_inner)
            .map(read)
            .collect()
    }

    fn merges(&mut self, tables: Vec<Spanned<MergeTable>>) -> Vec<Entry> {
        let read = |table: MergeTable| {
            let decide = self.decisions(table.decide);
            for decision in &decide {
                // That the type in its place is not the same may be said of one that has another name there.
                let is_kept = decision.choice == Choice::KeepInto;
                if table.rename.contains_key(&decision.item) && !is_kept {
                    let message = format!("`{}` is both renamed and decided", decision.item);
                    self.fail(decision.span, message, Some("write one of the two"));
                }
            }
            Entry {
                kind: self.module_kind(table.kind.as_ref()),
                shim: table.shim,
                uses: table.uses,
                rename: table.rename.into_iter().collect(),
                decide,
                ..self.entry(EntryVerb::Merge, &table.from, &table.into)
            }
        };
        tables
            .into_iter()
            .map(Spanned::into_inner)
            .map(read)
            .collect()
    }

    /// An entry of two names, of which nothing else is said.
    fn entry(&mut self, verb: EntryVerb, from: &Spanned<String>, to: &Spanned<String>) -> Entry {
        Entry {
            verb,
            kind: None,
            from: self.name(from),
            to: self.name(to),
            shim: false,
            uses: Uses::default(),
            rename: Vec::new(),
            decide: Vec::new(),
        }
    }

    fn decisions(&mut self, table: BTreeMap<Spanned<String>, Spanned<String>>) -> Vec<Decision> {
        let mut found = Vec::new();
        for (item, value) in table {
            let Some(choice) = Choice::parse(value.get_ref()) else {
                let message = format!("`{}` is no decision", value.get_ref());
                let near = did_you_mean(value.get_ref(), ["keep-into", "keep-from"]);
                let all = || "write `keep-into`, `keep-from` or `rename:NAME`".to_owned();
                let help = near.unwrap_or_else(all);
                self.fail(ByteSpan::from_range(value.span()), message, Some(&help));
                continue;
            };
            if let Choice::Rename(name) = &choice
                && !is_segment(name)
            {
                let message = format!("`{name}` is not a name for an item");
                self.fail(ByteSpan::from_range(value.span()), message, None);
            }
            found.push(Decision {
                span: ByteSpan::from_range(item.span()),
                item: item.into_inner(),
                choice,
            });
        }
        found
    }

    /// The `kind` of an entry that is for modules only.
    fn module_kind(&mut self, value: Option<&Spanned<String>>) -> Option<NameKind> {
        let kind = self.kind(value);
        if let (Some(NameKind::Item), Some(value)) = (kind, value) {
            let span = ByteSpan::from_range(value.span());
            let help = "for a single item write `[[replace]]` or `[[move]]`";
            self.fail(span, "a merge is one of modules", Some(help));
        }
        kind
    }

    fn removals(&mut self, tables: Vec<Spanned<RemoveTable>>, entries: &[Entry]) -> Vec<Removal> {
        let mut found: Vec<Removal> = Vec::new();
        let mut sources: BTreeSet<_> = entries.iter().map(|entry| whole(&entry.from)).collect();
        let targets: BTreeSet<_> = entries.iter().map(|entry| whole(&entry.to)).collect();
        for table in tables.into_iter().map(Spanned::into_inner) {
            let module = self.name(&table.module);
            if !sources.insert(whole(&module)) {
                let message = format!("`{}` stands in two entries", module.text);
                self.fail(module.span, message, None);
            }
            if targets.contains(&whole(&module)) {
                let message = format!("`{}` is the target of another entry", module.text);
                self.fail(module.span, message, None);
            }
            found.push(Removal { module });
        }
        found.sort_by_key(|removal| removal.module.span);
        found
    }

    fn accessors(&mut self, tables: Vec<Spanned<AccessorTable>>) -> Vec<Accessor> {
        let mut found: Vec<Accessor> = Vec::new();
        for table in tables.into_iter().map(Spanned::into_inner) {
            let library = self.name(&table.import);
            let get = self.name(&table.get);
            let has = table.has.as_ref().map(|has| self.name(has));
            for function in std::iter::once(&get).chain(&has) {
                if function.language() != Some(crate::LanguageKind::Python) {
                    let message = format!("`{}` is no function of a Python module", function.text);
                    let help = "write its full name: `pkg.core.gpu.get_cupy`";
                    self.fail(function.span, message, Some(help));
                }
            }
            if library.text.contains('.') {
                let message = format!("`{}` is a part of a library", library.text);
                let help = "guarded imports of whole libraries give way";
                self.fail(library.span, message, Some(help));
            }
            if found.iter().any(|other| other.library.text == library.text) {
                let message = format!("`{}` stands in two entries", library.text);
                self.fail(library.span, message, None);
            }
            let except = self.patterns(&table.except, library.span);
            found.push(Accessor {
                library,
                get,
                has,
                except,
            });
        }
        found
    }

    fn forbids(&mut self, tables: Vec<Spanned<ForbidTable>>) -> Vec<Forbid> {
        let tables = tables.into_iter().map(Spanned::into_inner);
        let forbid = |table: ForbidTable| {
            let span = ByteSpan::from_range(table.import.span());
            Forbid {
                span,
                import: self.pattern(table.import.get_ref(), span),
                except: self.patterns(&table.except, span),
                message: table.message,
            }
        };
        tables.map(forbid).collect()
    }

    /// A pattern that some name may fit; one that none can would forbid, or except, nothing.
    fn pattern(&mut self, text: &str, span: ByteSpan) -> NamePattern {
        let pattern = NamePattern::new(text);
        if let Some(why) = pattern.fits_nothing() {
            let help = "a pattern is a name, with `*` for a part of it and `**` for several";
            self.fail(span, why, Some(help));
        }
        pattern
    }

    fn patterns(&mut self, texts: &[String], span: ByteSpan) -> Vec<NamePattern> {
        let patterns = texts.iter().map(|text| self.pattern(text, span));
        patterns.collect()
    }

    fn kind(&mut self, value: Option<&Spanned<String>>) -> Option<NameKind> {
        let value = value?;
        let kind = match value.get_ref().as_str() {
            "module" => NameKind::Module,
            "item" => NameKind::Item,
            "crate" => NameKind::Crate,
            other => {
                let message = format!("`{other}` is no kind of name");
                let help = "write `kind = \"module\"`, `\"item\"` or `\"crate\"`";
                self.fail(ByteSpan::from_range(value.span()), message, Some(help));
                return None;
            }
        };
        Some(kind)
    }

    fn name(&mut self, value: &Spanned<String>) -> Name {
        let span = ByteSpan::from_range(value.span());
        let (within, text) = match value.get_ref().split_once("//") {
            Some((within, text)) => (Some(within.to_owned()), text),
            None => (None, value.get_ref().as_str()),
        };
        if let Some(within) = &within
            && let Err(error) = crate::TreePath::new(within)
        {
            self.fail(span, error.to_string(), None);
        }
        let separator = if text.contains("::") { "::" } else { "." };
        let block = separator == "::";
        let is_part = |part: &str| is_segment(part) || (block && is_block(part));
        if !text.split(separator).all(is_part) {
            let path_like = text.contains('/') || text.contains('\\');
            let help = path_like.then_some(
                "write a module name such as `pkg.module` or `krate::module`, not a path",
            );
            self.fail(span, format!("`{text}` is not a module name"), help);
        } else if text.split(separator).nth(MOST_PARTS).is_some() {
            self.fail(span, format!("a name has {MOST_PARTS} parts at most"), None);
        }
        Name {
            text: text.to_owned(),
            within,
            span,
        }
    }

    fn contradictions(&mut self, entries: &[Entry]) {
        let mut sources = BTreeSet::new();
        // Where the first move to each place comes from.
        let mut moved: BTreeMap<_, &Entry> = BTreeMap::new();
        for entry in entries {
            if !sources.insert(whole(&entry.from)) {
                self.fail(
                    entry.from.span,
                    format!("`{}` stands in two entries", entry.from.text),
                    None,
                );
            }
            let moves = entry.verb == EntryVerb::Move;
            let other = moved.get(&whole(&entry.to)).copied();
            if moves && other.is_none() {
                moved.insert(whole(&entry.to), entry);
            }
            if let Some(other) = other.filter(|_| moves) {
                let message = format!(
                    "`{}` and `{}` both move to `{}`",
                    other.from.text, entry.from.text, entry.to.text
                );
                self.fail(entry.to.span, message, None);
            }
            // Programs of two packages may have one name.
            let same = entry.from.text == entry.to.text;
            if same && entry.from.within == entry.to.within {
                self.fail(
                    entry.to.span,
                    format!("`{}` moves to itself", entry.from.text),
                    None,
                );
            }
            self.languages(entry);
        }
        self.cycles(entries);
    }

    fn languages(&mut self, entry: &Entry) {
        if let (Some(from), Some(to)) = (entry.from.language(), entry.to.language())
            && from != to
        {
            let message = format!(
                "`{}` and `{}` are names of different languages",
                entry.from.text, entry.to.text
            );
            self.fail(entry.to.span, message, Some("`::` is Rust, `.` is Python"));
        }
        let separator = entry
            .from
            .language()
            .map_or(".", crate::LanguageKind::separator);
        let inside = entry
            .to
            .text
            .strip_prefix(&entry.from.text)
            .is_some_and(|rest| rest.starts_with(separator));
        if inside && matches!(entry.verb, EntryVerb::Move | EntryVerb::Merge) {
            let message = format!(
                "`{}` cannot {} inside itself",
                entry.from.text,
                entry.verb.as_str()
            );
            let steps = (entry.verb == EntryVerb::Move)
                .then_some("in two migrations: first to a free name beside it, then from there");
            self.fail(entry.to.span, message, steps);
        }
    }

    /// Moves that chase each other: `a` to `b` while `b` moves to `a`.
    fn cycles(&mut self, entries: &[Entry]) {
        let next: BTreeMap<&str, &Entry> = entries
            .iter()
            .map(|entry| (entry.from.text.as_str(), entry))
            .collect();
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let mut found: Vec<(ByteSpan, String)> = Vec::new();
        for entry in entries {
            let mut chain: Vec<&str> = Vec::new();
            let mut places: BTreeMap<&str, usize> = BTreeMap::new();
            let mut at = Some(entry.from.text.as_str());
            while let Some(name) = at.filter(|name| !seen.contains(name)) {
                seen.insert(name);
                places.insert(name, chain.len());
                chain.push(name);
                let to = next.get(name).map(|entry| entry.to.text.as_str());
                at = to.filter(|to| next.contains_key(to));
            }
            let first = at.and_then(|name| places.get(name).copied());
            let cycle = first.and_then(|first| chain.get_mut(first..));
            let Some(cycle) = cycle.filter(|cycle| cycle.len() > 1) else {
                continue;
            };
            // Told from the least name on.
            let least = cycle.iter().enumerate().min_by_key(|(_, name)| **name);
            let least = least.map_or(0, |(at, _)| at);
            cycle.rotate_left(least);
            let Some(begin) = cycle.first().and_then(|name| next.get(name)) else {
                continue;
            };
            let names = cycle.join(" → ");
            let message = format!("a cycle of moves: {names} → {}", begin.from.text);
            found.push((begin.from.span, message));
        }
        found.sort_by_key(|(span, _)| *span);
        for (span, message) in found {
            self.fail(span, message, None);
        }
    }
}

/// What tells a name from others: its text, and the package that it is looked for in.
fn whole(name: &Name) -> (String, Option<String>) {
    (name.text.clone(), name.within.clone())
}

/// Whether a text can be one segment of a name. File-derived Python names may start with a digit
/// or contain a dash; a name with a blank or a slash is none.
fn is_segment(segment: &str) -> bool {
    !segment.is_empty()
        && segment
            .chars()
            .all(|c| c.is_alphanumeric() || c == '_' || c == '-' || c == '#')
}

/// Whether a text is how a manifest names an `impl` block: `impl Type` or `impl Trait for Type`, of several of
/// one name with a number, `impl Type#2`.
fn is_block(text: &str) -> bool {
    let words: Vec<&str> = text.split(' ').collect();
    match words.as_slice() {
        ["impl", of] => is_segment(of),
        ["impl", of, "for", what] => is_segment(of) && is_segment(what),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "schema = 1\n";

    fn errors(body: &str) -> Vec<String> {
        let text = format!("{HEAD}{body}");
        match Manifest::parse("migrations/0001-x.toml", &text) {
            Ok(_) => Vec::new(),
            Err(errors) => errors
                .into_iter()
                .map(|error| {
                    format!(
                        "{error}{}",
                        error
                            .help
                            .as_deref()
                            .map(|help| format!(" ({help})"))
                            .unwrap_or_default()
                    )
                })
                .collect(),
        }
    }

    #[test]
    fn thousands_of_entries_are_read_one_by_one() {
        let moves = |count: usize, last: &str| -> String {
            let to = |at: usize| match at + 1 {
                next if next == count => last.to_owned(),
                next => format!("a.k{next}"),
            };
            let entry = |at| format!("[[move]]\nfrom = 'a.k{at}'\nto = '{}'\n", to(at));
            (0..count).map(entry).collect()
        };
        // Each moves to where the next one was; the last one to a free place, or to the first one's.
        assert_eq!(errors(&moves(20_000, "a.free")), Vec::<String>::new());
        let cycle = errors(&moves(20_000, "a.k0"));
        assert_eq!(cycle.len(), 1);
        let removals = (0..20_000).map(|at| format!("[[remove]]\nmodule = 'a.k{at}'\n"));
        let removals: String = removals.collect();
        assert_eq!(errors(&removals), Vec::<String>::new());
        let twice = errors(&format!("{removals}{removals}"));
        assert_eq!(twice.len(), MOST_MISTAKES + 1);
        assert!(twice.last().unwrap().contains(FURTHER_MISTAKES));
    }

    #[test]
    fn a_name_has_so_many_parts() {
        let entry = |parts: usize| {
            let to = vec!["b"; parts].join(".");
            format!("[[move]]\nfrom = 'a.b'\nto = '{to}'")
        };
        assert_eq!(errors(&entry(100)), Vec::<String>::new());
        let message = "migrations/0001-x.toml:4:6: a name has 100 parts at most";
        assert_eq!(errors(&entry(101)), [message]);
    }

    /// What a manifest holds after its first line, and its mistakes after the path.
    const MISTAKES: &[(&str, &[&str])] = &[
        (
            "[[move]]\nfrm = 'a.b'\nto = 'a.c'",
            &["3:1: unknown key `frm` (did you mean `from`?)"],
        ),
        (
            "[verify]\ncomands = ['make']",
            &["3:1: unknown key `comands` (did you mean `commands`?)"],
        ),
        (
            "[[move]]\nfrom = 'a.b'\nto = 'a.c'\nkind = 'function'",
            &[
                "5:8: `function` is no kind of name (write `kind = \"module\"`, `\"item\"` or `\"crate\"`)",
            ],
        ),
        (
            "[[merge]]\nfrom = 'a.b'\nto = 'a.c'",
            &["4:1: unknown key `to` (did you mean `into`?)"],
        ),
        (
            "[[merge]]\nfrom = 'a.b'\ninto = 'a.c'\ndecide = { x = 'keep-form', y = 'both' }",
            &[
                "5:16: `keep-form` is no decision (did you mean `keep-from`?)",
                "5:33: `both` is no decision (write `keep-into`, `keep-from` or `rename:NAME`)",
            ],
        ),
        (
            "[[merge]]\nfrom = 'a.b'\ninto = 'a.c'\nrename = { x = 'y' }\ndecide = { x = 'rename:a b' }",
            &[
                "6:16: `a b` is not a name for an item",
                "6:12: `x` is both renamed and decided (write one of the two)",
            ],
        ),
        (
            "[[merge]]\nfrom = 'a.b'\ninto = 'a.c'\nkind = 'item'",
            &[
                "5:8: a merge is one of modules (for a single item write `[[replace]]` or `[[move]]`)",
            ],
        ),
        (
            "[[remove]]\nmodule = 'a.b'\n[[remove]]\nmodul = 'a.b'",
            &["5:1: unknown key `modul` (did you mean `module`?)"],
        ),
        (
            "[[remove]]\nmodule = 'a.b'\n[[move]]\nfrom = 'a.b'\nto = 'a.c'",
            &["3:10: `a.b` stands in two entries"],
        ),
        (
            "[[remove]]\nmodule = 'a.c'\n[[merge]]\nfrom = 'a.b'\ninto = 'a.c'",
            &["3:10: `a.c` is the target of another entry"],
        ),
        (
            "[[move]]\nfrom = 'a.b'\nto = 'a::c'",
            &[
                "4:6: `a.b` and `a::c` are names of different languages (`::` is Rust, `.` is Python)",
            ],
        ),
        (
            "[[move]]\nfrom = 'a.b'\nto = 'a.b.c'",
            &[
                "4:6: `a.b` cannot move inside itself (in two migrations: first to a free name beside it, then from there)",
            ],
        ),
        (
            "[[move]]\nfrom = 'a/b.py'\nto = 'a.c'",
            &[
                "3:8: `a/b.py` is not a module name (write a module name such as `pkg.module` or `krate::module`, not a path)",
            ],
        ),
        (
            "[[move]]\nfrom = '../x//a.b'\nto = 'a.c'",
            &["3:8: `../x` leads outside the root"],
        ),
        (
            "[[move]]\nfrom = 'a.b'\nto = 'a.c'\n[[move]]\nfrom = 'a.b'\nto = 'a.d'",
            &["6:8: `a.b` stands in two entries"],
        ),
        (
            "[[move]]\nfrom = 'a.b'\nto = 'a.c'\n[[move]]\nfrom = 'a.c'\nto = 'a.b'",
            &["3:8: a cycle of moves: a.b → a.c → a.b"],
        ),
        (
            "[[move]]\nfrom = 'a.b'\nto = 'a.x'\n[[move]]\nfrom = 'a.c'\nto = 'a.x'",
            &["7:6: `a.b` and `a.c` both move to `a.x`"],
        ),
    ];

    #[test]
    fn every_mistake_has_a_place_and_often_a_remedy() {
        let at = "migrations/0001-x.toml";
        for (body, expected) in MISTAKES {
            let expected = expected.iter().map(|mistake| format!("{at}:{mistake}"));
            let expected: Vec<String> = expected.collect();
            assert_eq!(errors(body), expected, "{body}");
        }
    }

    #[test]
    fn a_manifest_of_any_length_is_not_read() {
        let text = format!("schema = 1\n#{}", "x".repeat(LONGEST));
        let errors = Manifest::parse("m.toml", &text).unwrap_err();
        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0].message, "the manifest is longer than 4 MiB");
    }

    #[test]
    fn a_manifest_keeps_what_it_says() {
        let text = "schema = 1\ndescription = 'd'\n[shims]\nsince = '1.0'\nremove-in = '2.0'\n[[replace]]\nfrom = 'a::b'\nto = 'a::c'\nkind = 'module'\nrename = { x = 'y' }\nshim = true\n[[forbid]]\nimport = 'a.*'\n[verify]\ntests = ['tests']\ntimeout = 60\n";
        let manifest = Manifest::parse("m/0002-y.toml", text).unwrap();
        assert_eq!(manifest.id, "0002-y");
        assert_eq!(
            manifest.entries[0].rename,
            [("x".to_owned(), "y".to_owned())]
        );
        assert_eq!(manifest.entries[0].kind, Some(NameKind::Module));
        assert!(manifest.entries[0].shim && manifest.forbids.len() == 1);
        assert_eq!(manifest.verify.tests, ["tests"]);
        assert_eq!(manifest.verify.timeout, Some(60));
    }

    #[test]
    fn merges_and_removals_keep_what_they_say() {
        let text = "schema = 1\n[[merge]]\nfrom = 'a.b'\ninto = 'a.c'\nrename = { p = 'q' }\ndecide = { x = 'keep-into', y = 'keep-from', z = 'rename:w' }\n[[remove]]\nmodule = 'a.d'\n";
        let manifest = Manifest::parse("m/0003-z.toml", text).unwrap();
        let entry = &manifest.entries[0];
        assert_eq!(
            (entry.verb, entry.to.text.as_str()),
            (EntryVerb::Merge, "a.c")
        );
        assert_eq!(entry.rename, [("p".to_owned(), "q".to_owned())]);
        let choices: Vec<_> = entry.decide.iter().map(|made| &made.choice).collect();
        assert_eq!(
            choices,
            [
                &Choice::KeepInto,
                &Choice::KeepFrom,
                &Choice::Rename("w".to_owned())
            ]
        );
        assert_eq!(entry.decide[0].span.of(text), Some("x"));
        assert_eq!(manifest.removals[0].module.text, "a.d");
    }
}
