//! Names that no reader of the tree sees: what procedural macros write, and what macros put together
//! of parts of words. Places that may name what moves are told, and left as they are.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Change, Texts, TreePath, Unproven, UnprovenKind};

use super::cargo::is_macro_package;
use crate::{
    discover::TargetKind,
    facts::{IncludeKind, QUOTES, SourceFacts},
    lexer::{self, Token, TokenKind},
    resolve::{FileId, World},
};

/// All such places, file by file, but for the paths in quoted code that are settled.
pub(super) fn places(
    world: &World,
    (changes, settled): (&[Change], &BTreeSet<(TreePath, ByteSpan)>),
    texts: &dyn Texts,
) -> Vec<Unproven> {
    let sought: Vec<Sought<'_>> = changes.iter().map(Sought::new).collect();
    let crates: BTreeSet<&str> = world.crates.iter().map(|krate| &*krate.name).collect();
    let mut found = Vec::new();
    for (file, source) in world.sources() {
        let facts = world.facts(file);
        let Some(text) = texts.text(&source.path) else {
            continue;
        };
        let reader = Reader {
            path: &source.path,
            text: &text,
            sought: &sought,
            crates: &crates,
            settled,
        };
        found.extend(reader.quoted(facts));
        found.extend(reader.included(facts, (world, texts)));
        found.extend(reader.pasted());
        found.extend(reader.written(maker(world, texts, file)));
    }
    found
}

/// What makes code of the strings of a file.
fn maker(world: &World, texts: &dyn Texts, file: FileId) -> Option<UnprovenKind> {
    let body = world[file].bodies.first()?;
    let krate = &world[world[world[body].module].krate];
    match krate.kind {
        TargetKind::BuildScript => Some(UnprovenKind::Generated),
        TargetKind::Lib if is_macro_package(world, texts, krate.package) => {
            Some(UnprovenKind::ProceduralMacro)
        }
        _ => None,
    }
}

/// What a change takes away from its old name.
struct Sought<'c> {
    change: &'c Change,
    /// The names below the crate; the crate's where it is that which goes.
    names: Vec<&'c str>,
}

impl<'c> Sought<'c> {
    fn new(change: &'c Change) -> Self {
        let mut names: Vec<&str> = change.from.split("::").collect();
        if names.len() > 1 {
            names.remove(0);
        }
        Self { change, names }
    }

    /// Whether names lead to the module, or library, that what goes stands in.
    fn is_around(&self, before: &[&str], above: &[&str]) -> bool {
        let whole = self.names.split_last().map(|(_, whole)| whole);
        let library = self.change.from.split("::").next();
        whole == Some(above) && (!above.is_empty() || before.last().copied() == library)
    }

    /// Whether words, and whatever is filled in between them, may make up the last of the names.
    fn is_made_of(&self, parts: &[Option<&str>]) -> bool {
        let plain = |word: &str| word.to_lowercase().replace('_', "");
        let whole = plain(self.names.last().copied().unwrap_or_default());
        let mut rest = whole.as_str();
        let (mut is_open, mut is_said) = (false, false);
        for part in parts {
            let Some(word) = part.map(plain) else {
                is_open = true;
                continue;
            };
            is_said |= !word.is_empty();
            let at = match is_open {
                true => rest.find(&word),
                false => rest.starts_with(&word).then_some(0),
            };
            let Some(at) = at else { return false };
            rest = rest.get(at + word.len()..).unwrap_or_default();
            is_open = false;
        }
        is_said && (is_open || rest.is_empty() || self.ends_with(parts, &whole))
    }

    /// Whether a name ends with the last of some parts: where that stands in it once more, the first place says nothing.
    fn ends_with(&self, parts: &[Option<&str>], whole: &str) -> bool {
        let last = parts.last().copied().flatten();
        last.is_some_and(|last| {
            parts.contains(&None) && whole.ends_with(&last.to_lowercase().replace('_', ""))
        })
    }
}

/// One file.
struct Reader<'r> {
    path: &'r TreePath,
    text: &'r str,
    sought: &'r [Sought<'r>],
    /// The names of the tree's crates.
    crates: &'r BTreeSet<&'r str>,
    /// Paths in quoted code of which all is known.
    settled: &'r BTreeSet<(TreePath, ByteSpan)>,
}

/// A path in quoted code: its names, `#name` those that are filled in, each with its place. Of a
/// list in braces each path is one, with the names before the braces.
#[derive(Clone, Default)]
struct Quoted<'t> {
    names: Vec<&'t str>,
    spans: Vec<ByteSpan>,
    /// How many of the names stand before braces.
    before: usize,
}

impl<'t> Quoted<'t> {
    fn push(&mut self, name: &'t str, span: ByteSpan) {
        self.names.push(name);
        self.spans.push(span);
    }

    /// The place of the names from `start` to `end`.
    fn span(&self, start: usize, end: usize) -> ByteSpan {
        let spans = self.spans.get(start..end).unwrap_or_default();
        let first = spans.first().copied().unwrap_or_default();
        spans.iter().copied().fold(first, ByteSpan::cover)
    }
}

impl<'r> Reader<'r> {
    fn word(&self, token: &Token) -> &'r str {
        token.span.of(self.text).unwrap_or_default()
    }

    fn unproven(&self, kind: UnprovenKind, span: ByteSpan, why: String) -> Unproven {
        Unproven {
            path: self.path.clone(),
            span: Some(span),
            kind,
            name: span.of(self.text).unwrap_or_default().to_owned(),
            why,
        }
    }

    /// Code that is included and not read, since it is no source by its name: the words that it has tell what it may name.
    fn included(&self, facts: &SourceFacts, (world, texts): (&World, &dyn Texts)) -> Vec<Unproven> {
        let codes = facts.includes.iter();
        let codes = codes.filter(|one| one.kind == IncludeKind::Code && !one.from_manifest);
        let found = codes.filter_map(|include| {
            let path = self.path.parent()?.join(&include.value).ok()?;
            let text = match world.file_at(&path) {
                Some(_) => None,
                None => texts.text(&path),
            }?;
            let words = lexer::tokens(&text, ByteSpan::from_range(0..text.len()));
            let words = words.iter().filter(|token| token.is_ident());
            let words: BTreeSet<&str> = words.filter_map(|token| token.span.of(&text)).collect();
            let is_named = |sought: &&Sought<'_>| {
                sought.names.last().is_some_and(|last| words.contains(last))
            };
            let from = &self.sought.iter().find(is_named)?.change.from;
            let why = format!(
                "the file that is included here is not read, and it may name `{from}`: one that ends with `.rs` is"
            );
            Some(self.unproven(UnprovenKind::Generated, include.span, why))
        });
        found.collect()
    }

    /// Paths in `quote!` that may lead to what moves: they are read where the macro is called.
    fn quoted(&self, facts: &SourceFacts) -> Vec<Unproven> {
        let mut found = Vec::new();
        for call in &facts.macro_calls {
            let last = facts.segments(facts.path(call.path).segments).last();
            if !last.is_some_and(|last| QUOTES.contains(&facts.name(last.name))) {
                continue;
            }
            for quoted in self.paths(&lexer::tokens(self.text, call.body)) {
                let named = self
                    .sought
                    .iter()
                    .find(|sought| self.leads_to(&quoted, sought));
                found.extend(named.map(|sought| {
                    let from = &sought.change.from;
                    let why = format!("a macro writes this, and it may lead to `{from}`");
                    let span = quoted.span(quoted.before, quoted.names.len());
                    self.unproven(UnprovenKind::ProceduralMacro, span, why)
                }));
            }
        }
        found
    }

    fn paths(&self, tokens: &[Token]) -> Vec<Quoted<'r>> {
        let mut found = Vec::new();
        // What stands before each brace that is open.
        let mut lists: Vec<Quoted<'r>> = Vec::new();
        let mut path: Option<Quoted<'r>> = None;
        let mut joined = false;
        let mut rest = tokens;
        while let [token, after @ ..] = rest {
            let next = after.first();
            let filled = token.is(b'#') && next.is_some_and(|next| next.is_ident());
            let colons = token.is(b':') && next.is_some_and(|next| next.is(b':'));
            let named = filled || token.is_ident() || (joined && token.is(b'*'));
            if !(colons || (joined && (named || token.kind == TokenKind::Open(b'{')))) {
                found.extend(path.take());
            }
            if named {
                let last = next.filter(|_| filled).unwrap_or(token);
                let span = token.span.cover(last.span);
                let listed = || lists.last().cloned().unwrap_or_default();
                let path = path.get_or_insert_with(listed);
                path.push(span.of(self.text).unwrap_or_default(), span);
            } else if token.kind == TokenKind::Open(b'{') {
                let mut list = path.take().unwrap_or_default();
                list.before = list.names.len();
                lists.push(list);
            } else if token.kind == TokenKind::Close(b'}') {
                lists.pop();
            }
            joined = colons && path.is_some();
            rest = if filled || colons {
                after.get(1..).unwrap_or_default()
            } else {
                after
            };
        }
        found.extend(path);
        found
    }

    /// Whether a path of several names may be one to what moves.
    fn leads_to(&self, quoted: &Quoted<'_>, sought: &Sought<'_>) -> bool {
        let Some(first) = quoted.names.first().filter(|_| quoted.names.len() > 1) else {
            return false;
        };
        let own = first.starts_with('#')
            || matches!(*first, "crate" | "self" | "super")
            || self.crates.contains(first);
        let len = sought.names.len();
        let mut all = quoted.names.windows(len).enumerate();
        own && all.any(|(at, names)| {
            let (before, names) = (quoted.names.get(..at), names.split_last());
            let Some((before, (last, above))) = before.zip(names) else {
                return false;
            };
            let same = match *last {
                // All of the module or library around what goes.
                "*" => sought.is_around(before, above),
                _ => quoted.names.get(at..at + len) == Some(&sought.names[..]),
            };
            same && !self.is_settled(quoted.span(0, at + len))
        })
    }

    /// Whether these names are part of a path of which all is known.
    fn is_settled(&self, names: ByteSpan) -> bool {
        let mut settled = self.settled.iter();
        settled.any(|(path, span)| path == self.path && span.contains(names))
    }

    /// Strings that become code, and say the name of what moves.
    fn written(&self, maker: Option<UnprovenKind>) -> Vec<Unproven> {
        let Some(kind) = maker else {
            return Vec::new();
        };
        let whole = ByteSpan::from_range(0..self.text.len());
        let mut found = Vec::new();
        for token in lexer::tokens(self.text, whole) {
            let TokenKind::Text { content } = token.kind else {
                continue;
            };
            // What a build script tells Cargo is no code: `cargo::rustc-cfg=name`.
            let text = content.of(self.text).unwrap_or_default();
            if kind == UnprovenKind::Generated && text.starts_with("cargo:") {
                continue;
            }
            let said: Vec<Token> = lexer::tokens(self.text, content);
            let named = self.sought.iter().find(|sought| {
                let last = sought.names.last().copied().unwrap_or_default();
                let mut words = said.iter().filter(|token| token.is_ident());
                words.any(|token| self.word(token) == last)
            });
            found.extend(named.map(|sought| {
                let from = &sought.change.from;
                let why = format!("code is made of this text, and it may name `{from}`");
                self.unproven(kind, content, why)
            }));
        }
        found
    }

    /// Words that `paste!` and its like put together: `[<Store $kind>]`.
    fn pasted(&self) -> Vec<Unproven> {
        if !self.text.contains("[<") {
            return Vec::new();
        }
        let whole = ByteSpan::from_range(0..self.text.len());
        let tokens = lexer::tokens(self.text, whole);
        let mut found = Vec::new();
        for (at, pair) in tokens.windows(2).enumerate() {
            let [open, less] = pair else { continue };
            let joined = open.span.end == less.span.start;
            if !(open.kind == TokenKind::Open(b'[') && less.is(b'<') && joined) {
                continue;
            }
            let inner = tokens.get(at + 2..).unwrap_or_default();
            let len = inner.iter().take_while(|token| !token.is(b'>')).count();
            let inner = inner.get(..len).unwrap_or_default();
            let parts = self.parts(inner);
            // `[<I as Iterator>::Item; 2]` is a type: what puts names together ends with `>]`.
            let last = tokens.get(at + 2 + len + 1);
            let last = last.filter(|one| one.kind == TokenKind::Close(b']'));
            let Some(last) = last.filter(|_| parts.contains(&None)) else {
                continue;
            };
            let named = self.sought.iter().find(|sought| sought.is_made_of(&parts));
            found.extend(named.map(|sought| {
                let from = &sought.change.from;
                let why = format!("a macro makes a name of this, and it may be that of `{from}`");
                let span = open.span.cover(last.span);
                self.unproven(UnprovenKind::MacroBuiltPath, span, why)
            }));
        }
        found
    }

    /// The words that stand for themselves, and `None` for what is filled in: `$part`, with the `:snake` behind it.
    fn parts(&self, tokens: &[Token]) -> Vec<Option<&'r str>> {
        let mut found = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|before| tokens.get(before));
            let is_filled = before.is_some_and(|one| one.is(b'$'));
            let is_word = token.is_ident() && !before.is_some_and(|one| one.is(b':'));
            if is_filled || is_word {
                found.push((!is_filled).then(|| self.word(token)));
            }
        }
        found
    }
}
