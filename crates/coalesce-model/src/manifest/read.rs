//! From the TOML text to a [`Manifest`], every error with its place.

use std::collections::BTreeMap;

use toml::Spanned;

use super::{
    Accessor, Choice, Decision, Entry, Forbid, Manifest, ManifestError, Name, NameKind, Removal,
    Verb, nearest,
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
            nearest(key, expected(first)).map(|known| format!("did you mean `{known}`?")),
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
        self.errors.push(error_at(
            self.path,
            self.text,
            span,
            message.into(),
            help.map(str::to_owned),
        ));
    }

    fn moves(&mut self, tables: Vec<Spanned<MoveTable>>) -> Vec<Entry> {
        let tables = tables.into_iter().map(Spanned::into_inner);
        tables
            .map(|table| Entry {
                verb: Verb::Move,
                kind: self.kind(table.kind.as_ref()),
                from: self.name(&table.from),
                to: self.name(&table.to),
                shim: table.shim,
                uses: table.uses,
                rename: table.rename.into_iter().collect(),
                decide: Vec::new(),
            })
            .collect()
    }

    fn replaces(&mut self, tables: Vec<Spanned<ReplaceTable>>) -> Vec<Entry> {
        let tables = tables.into_iter().map(Spanned::into_inner);
        tables
            .map(|table| Entry {
                verb: Verb::Replace,
                kind: self.kind(table.kind.as_ref()),
                from: self.name(&table.from),
                to: self.name(&table.to),
                shim: table.shim,
                uses: table.uses,
                rename: table.rename.into_iter().collect(),
                decide: Vec::new(),
            })
            .collect()
    }

    fn merges(&mut self, tables: Vec<Spanned<MergeTable>>) -> Vec<Entry> {
        let tables = tables.into_iter().map(Spanned::into_inner);
        tables
            .map(|table| {
                let decide = self.decisions(table.decide);
                for decision in &decide {
                    if table.rename.contains_key(&decision.item) {
                        let message = format!("`{}` is both renamed and decided", decision.item);
                        self.fail(decision.span, message, Some("write one of the two"));
                    }
                }
                Entry {
                    verb: Verb::Merge,
                    kind: self.module_kind(table.kind.as_ref()),
                    from: self.name(&table.from),
                    to: self.name(&table.into),
                    shim: table.shim,
                    uses: table.uses,
                    rename: table.rename.into_iter().collect(),
                    decide,
                }
            })
            .collect()
    }

    fn decisions(&mut self, table: BTreeMap<Spanned<String>, Spanned<String>>) -> Vec<Decision> {
        let mut found = Vec::new();
        for (item, value) in table {
            let Some(choice) = Choice::parse(value.get_ref()) else {
                let message = format!("`{}` is no decision", value.get_ref());
                let near = nearest(value.get_ref(), ["keep-into", "keep-from"]);
                let help = near.map_or_else(
                    || "write `keep-into`, `keep-from` or `rename:NAME`".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                );
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
        for table in tables.into_iter().map(Spanned::into_inner) {
            let module = self.name(&table.module);
            let same = |name: &Name| name.text == module.text && name.within == module.within;
            if entries.iter().any(|entry| same(&entry.from))
                || found.iter().any(|other| same(&other.module))
            {
                let message = format!("`{}` stands in two entries", module.text);
                self.fail(module.span, message, None);
            }
            if entries.iter().any(|entry| same(&entry.to)) {
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
            let except = table.except.iter();
            found.push(Accessor {
                library,
                get,
                has,
                except: except.map(|pattern| NamePattern::new(pattern)).collect(),
            });
        }
        found
    }

    fn forbids(&mut self, tables: Vec<Spanned<ForbidTable>>) -> Vec<Forbid> {
        let tables = tables.into_iter().map(Spanned::into_inner);
        tables
            .map(|table| Forbid {
                span: ByteSpan::from_range(table.import.span()),
                import: NamePattern::new(table.import.get_ref()),
                except: table
                    .except
                    .iter()
                    .map(|pattern| NamePattern::new(pattern))
                    .collect(),
                message: table.message,
            })
            .collect()
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
        }
        Name {
            text: text.to_owned(),
            within,
            span,
        }
    }

    fn contradictions(&mut self, entries: &[Entry]) {
        for (at, entry) in entries.iter().enumerate() {
            let earlier = entries.get(..at).unwrap_or_default();
            if earlier.iter().any(|other| {
                other.from.text == entry.from.text && other.from.within == entry.from.within
            }) {
                self.fail(
                    entry.from.span,
                    format!("`{}` stands in two entries", entry.from.text),
                    None,
                );
            }
            let same_target = |other: &&Entry| {
                other.to.text == entry.to.text
                    && other.to.within == entry.to.within
                    && other.verb == Verb::Move
                    && entry.verb == Verb::Move
            };
            if let Some(other) = earlier.iter().find(same_target) {
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
        if inside && matches!(entry.verb, Verb::Move | Verb::Merge) {
            let message = format!(
                "`{}` cannot {} inside itself",
                entry.from.text,
                entry.verb.as_str()
            );
            let steps = (entry.verb == Verb::Move)
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
        for entry in entries {
            let mut chain = vec![entry.from.text.as_str()];
            let mut at = entry;
            while let Some(following) = next.get(at.to.text.as_str()) {
                if following.from.text == entry.from.text {
                    chain.push(&entry.from.text);
                    let least = chain.iter().min() == chain.first();
                    if least && chain.len() > 2 {
                        self.fail(
                            entry.from.span,
                            format!("a cycle of moves: {}", chain.join(" → ")),
                            None,
                        );
                    }
                    break;
                }
                if chain.contains(&following.from.text.as_str()) {
                    break;
                }
                chain.push(&following.from.text);
                at = following;
            }
        }
    }
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
        assert_eq!((entry.verb, entry.to.text.as_str()), (Verb::Merge, "a.c"));
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
