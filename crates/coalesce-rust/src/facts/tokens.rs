//! The token scanner: imports, modules, items and paths of text that no parser reads.
//!
//! It knows no grammar beyond what marks these: a keyword at the start of a statement, `::`, the
//! `.` before a field, the `:` after a name that is declared. Local names it does not see.

use coalesce_model::ByteSpan;

use super::{
    Namespaces, Origin, ScopeId, ScopeKind, Segment,
    local_names::{LocalName, local_names},
    source::Builder,
    source::index,
};
use crate::{
    lexer::{self, Token, TokenKind},
    words,
};

/// What the scanner looks for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Mode {
    /// `use`, `mod` and items are declarations of the scope.
    declarations: bool,
    /// Braces open scopes.
    pub(super) scopes: bool,
    /// Names of one segment count.
    single: bool,
}

/// Scans a file from `base`, which lies behind the byte-order mark and the `#!` line, to `end`.
pub(super) fn broken_file(builder: &mut Builder<'_>, base: u32, end: u32) {
    let span = ByteSpan::new(base, end.max(base));
    let tokens = lexer::tokens(builder.text, span);
    builder.origin = Origin::BrokenFile;
    Scanner {
        builder,
        tokens: &tokens,
        mode: Mode {
            declarations: true,
            scopes: true,
            single: true,
        },
        inside_until: 0,
        locals: &[],
    }
    .run();
}

/// Scans code of documentation that does not parse.
pub(super) fn loose_code(builder: &mut Builder<'_>, tokens: &[Token]) {
    Scanner {
        builder,
        tokens,
        mode: Mode {
            declarations: true,
            scopes: false,
            single: true,
        },
        inside_until: 0,
        locals: &[],
    }
    .run();
}

/// Scans the arguments of a macro call.
pub(super) fn macro_arguments(builder: &mut Builder<'_>, tokens: &[Token], item_position: bool) {
    Scanner {
        builder,
        tokens,
        mode: Mode {
            declarations: item_position,
            scopes: false,
            single: true,
        },
        inside_until: 0,
        locals: &[],
    }
    .run();
}

/// Notes the paths of several names in quoted code. `#name` is filled in, and what follows it too.
pub(super) fn quoted(builder: &mut Builder<'_>, body: ByteSpan) {
    let tokens = lexer::tokens(builder.text, body);
    let origin = std::mem::replace(&mut builder.origin, Origin::Quoted);
    let mut scanner = Scanner {
        builder: &mut *builder,
        tokens: &tokens,
        mode: Mode {
            declarations: false,
            scopes: false,
            single: false,
        },
        inside_until: 0,
        locals: &[],
    };
    let mut at = 0;
    while at < tokens.len() {
        let filled_in = scanner.is(at, b'#') && scanner.is_ident(at + 1);
        let starts = scanner.is_ident(at) || (scanner.is_colons(at) && scanner.is_ident(at + 2));
        at = match (filled_in, starts) {
            (true, _) => scanner.behind(at + 2),
            (false, true) => scanner.path(at),
            (false, false) => at + 1,
        };
    }
    builder.origin = origin;
}

/// Scans the body of a `macro_rules!`, patterns and all.
pub(super) fn macro_body(builder: &mut Builder<'_>, tokens: &[Token]) {
    let locals = local_names(builder.text, tokens);
    Scanner {
        builder,
        tokens,
        mode: Mode {
            declarations: true,
            scopes: true,
            single: true,
        },
        inside_until: 0,
        locals: &locals,
    }
    .run();
}

/// Scans the arguments of an attribute: paths of two segments, names after `=`, and strings that
/// spell a path.
pub(super) fn attribute_arguments(builder: &mut Builder<'_>, tokens: &[Token], path_keys: &[&str]) {
    for (at, token) in tokens.iter().enumerate() {
        let after_equals = at > 0 && tokens.get(at - 1).is_some_and(|before| before.is(b'='));
        match token.kind {
            TokenKind::Text { content } => {
                let key = at.checked_sub(2).and_then(|at| tokens.get(at));
                let key = key.filter(|_| after_equals);
                let is_key = key.is_some_and(|key| path_keys.contains(&builder.slice(key.span)));
                string_path(builder, content, is_key);
            }
            TokenKind::Ident if after_equals || !is_inside_path(tokens, at) => {
                Scanner::of_paths(builder, tokens, after_equals).path(at);
            }
            _ => {}
        }
    }
}

/// Whether a word stands behind a colon of a path.
fn is_inside_path(tokens: &[Token], at: usize) -> bool {
    at > 1 && tokens.get(at - 1).is_some_and(|before| before.is(b':'))
}

/// Notes the path that a string of an attribute spells: where its key is one of paths, or several names are in it.
fn string_path(builder: &mut Builder<'_>, content: ByteSpan, is_key: bool) {
    if !is_key && !builder.slice(content).contains("::") {
        return;
    }
    let origin = std::mem::replace(&mut builder.origin, Origin::AttributeString);
    builder.path_in_text(content, Namespaces::ALL);
    builder.origin = origin;
}

/// Notes the names that the first format string of `body` prints: `"{NAME}"`.
pub(super) fn format_names(builder: &mut Builder<'_>, body: ByteSpan) {
    let Some(content) = first_string(builder, body) else {
        return;
    };
    let text = builder.slice(content);
    let mut at = 0;
    while let Some(open) = text.get(at..).and_then(|rest| rest.find('{')) {
        let start = at + open + 1;
        let name = text.get(start..).unwrap_or_default();
        if let Some(end) = printed_constant(name) {
            let span = ByteSpan::from_range(start..start + end).shifted(content.start);
            let origin = std::mem::replace(&mut builder.origin, Origin::FormatString);
            builder.path_in_text(span, Namespaces::VALUE);
            builder.origin = origin;
        }
        at = start + usize::from(name.starts_with('{'));
    }
}

/// The content of the first string of `body`.
fn first_string(builder: &Builder<'_>, body: ByteSpan) -> Option<ByteSpan> {
    let quote = memchr::memchr(b'"', builder.slice(body).as_bytes())?;
    let from = ByteSpan::new(body.start + index(quote), body.end);
    match lexer::tokens_from(builder.text, from)?.kind {
        TokenKind::Text { content } => Some(content),
        _ => None,
    }
}

/// Where a name ends that a format string prints, what is behind its `{` beginning with it; only names in
/// capitals are of constants.
fn printed_constant(text: &str) -> Option<usize> {
    let end = text
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(text.len());
    let capital = text.starts_with(|c: char| c.is_uppercase());
    let rest = text.get(end..)?;
    (capital && rest.starts_with(['}', ':'])).then_some(end)
}

pub(super) struct Scanner<'s, 'b, 't> {
    pub(super) builder: &'b mut Builder<'t>,
    pub(super) tokens: &'s [Token],
    pub(super) mode: Mode,
    /// Where the braces of an item end, whose inside is that item's: `struct Flags: u32 { const A = 1; }`.
    pub(super) inside_until: u32,
    /// Names that the text binds for itself.
    pub(super) locals: &'s [LocalName<'t>],
}

impl<'s, 'b, 't> Scanner<'s, 'b, 't> {
    /// Reads single paths; names alone count where `single`.
    fn of_paths(builder: &'b mut Builder<'t>, tokens: &'s [Token], single: bool) -> Self {
        Self {
            builder,
            tokens,
            mode: Mode {
                declarations: false,
                scopes: false,
                single,
            },
            inside_until: 0,
            locals: &[],
        }
    }

    fn run(&mut self) {
        let mut scopes: Vec<Option<ScopeId>> = Vec::new();
        let outermost = self.builder.scope;
        let mut at = 0;
        while let Some(token) = self.tokens.get(at).copied() {
            at = match token.kind {
                TokenKind::Ident => self.word(at, &mut scopes),
                TokenKind::Punct(b'$') => self.dollar(at),
                TokenKind::Punct(b':') if self.is_colons(at) && self.is_ident(at + 2) => {
                    self.path(at)
                }
                TokenKind::Text { content } => {
                    self.builder.string(content);
                    at + 1
                }
                TokenKind::Open(b'{') if self.mode.scopes => {
                    self.open_block(at, &token, &mut scopes);
                    at + 1
                }
                TokenKind::Close(b'}') if self.mode.scopes => {
                    self.close_scope(&mut scopes);
                    at + 1
                }
                _ => at + 1,
            };
        }
        self.builder.scope = outermost;
    }

    /// Opens the scope of a block.
    fn open_block(&mut self, at: usize, brace: &Token, scopes: &mut Vec<Option<ScopeId>>) {
        let span = ByteSpan::new(brace.span.start, self.closing(at));
        let outer = self
            .builder
            .open_scope(ScopeKind::Block, span, brace.span.end);
        scopes.push(Some(outer));
    }

    /// Returns to the scope around the innermost one.
    fn close_scope(&mut self, scopes: &mut Vec<Option<ScopeId>>) {
        if let Some(Some(outer)) = scopes.pop() {
            self.builder.scope = outer;
        }
    }

    pub(super) fn text(&self, at: usize) -> &'t str {
        self.tokens
            .get(at)
            .map_or("", |token| self.builder.slice(token.span))
    }

    pub(super) fn is_ident(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is_ident())
    }

    pub(super) fn is(&self, at: usize, punct: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(punct))
    }

    pub(super) fn is_colons(&self, at: usize) -> bool {
        let pair = (self.tokens.get(at), self.tokens.get(at + 1));
        matches!(pair, (Some(a), Some(b)) if a.is(b':') && b.is(b':') && a.span.end == b.span.start)
    }

    /// The end of the bracket that opens at `at`.
    pub(super) fn closing(&self, at: usize) -> u32 {
        let mut depth = 0usize;
        for token in self.tokens.get(at..).unwrap_or_default() {
            match token.kind {
                TokenKind::Open(_) => depth += 1,
                TokenKind::Close(_) if depth <= 1 => return token.span.end,
                TokenKind::Close(_) => depth -= 1,
                _ => {}
            }
        }
        self.tokens.last().map_or(0, |token| token.span.end)
    }

    /// Whether a statement or item can start at `at`: after `;`, a brace, an attribute or `pub`.
    fn starts_statement(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1).and_then(|at| self.tokens.get(at)) else {
            return true;
        };
        match before.kind {
            TokenKind::Punct(b';') | TokenKind::Open(b'{') | TokenKind::Close(b'}' | b']') => true,
            TokenKind::Close(b')') => self.visibility_start(at) < at,
            TokenKind::Ident => matches!(
                self.text(at - 1),
                "pub" | "unsafe" | "async" | "const" | "default"
            ),
            _ => false,
        }
    }

    fn word(&mut self, at: usize, scopes: &mut Vec<Option<ScopeId>>) -> usize {
        let word = self.text(at);
        let inside = self
            .tokens
            .get(at)
            .is_some_and(|token| token.span.start < self.inside_until);
        let declares = matches!(word, "const" | "static" | "type" | "fn");
        if inside && declares && self.starts_statement(at) && !self.is_keyword(at + 1) {
            // A name that the item has inside.
            return at + 2;
        }
        if self.mode.declarations
            && self.starts_statement(at)
            && let Some(next) = self.declaration(at, inside, scopes)
        {
            return next;
        }
        self.path(at)
    }

    /// Reads the declaration that begins with the word at `at`, if one does; of those inside of an item only
    /// imports.
    fn declaration(
        &mut self,
        at: usize,
        inside: bool,
        scopes: &mut Vec<Option<ScopeId>>,
    ) -> Option<usize> {
        match self.text(at) {
            "use" => Some(self.use_declaration(at)),
            _ if inside => None,
            "mod" if self.is_ident(at + 1) => Some(self.module(at, scopes)),
            _ => self.item(at),
        }
    }

    /// `$crate::…` is a path; `$name` and `$name:kind` are the macro's own.
    fn dollar(&mut self, at: usize) -> usize {
        if self.text(at + 1) == "crate" {
            return self.path(at);
        }
        if !self.is_ident(at + 1) {
            return at + 1;
        }
        if self.is(at + 2, b':') && !self.is_colons(at + 2) && self.is_ident(at + 3) {
            return at + 4;
        }
        let mut next = at + 2;
        while self.is_colons(next) && (self.is_ident(next + 2) || self.is(next + 2, b'$')) {
            next += 3;
        }
        next
    }

    /// The index behind the names that follow `at`, each after `::`.
    fn behind(&self, mut at: usize) -> usize {
        while self.is_colons(at) && self.is_ident(at + 2) {
            at += 3;
        }
        at
    }

    /// A path from `at`, which is `::`, `$crate` or a name. Gives the index behind it.
    fn path(&mut self, at: usize) -> usize {
        let colons = self.is_colons(at);
        let after_field = at > 0 && self.is(at - 1, b'.') && !(at > 1 && self.is(at - 2, b'.'));
        let inside = at > 1 && self.is_colons(at - 2);
        let mut next = if colons { at + 2 } else { at };
        let mut segments = Vec::new();
        while let Some((segment, behind)) = self.segment(next) {
            segments.push(segment);
            next = behind;
            let goes_on =
                self.is_colons(next) && (self.is_ident(next + 2) && !self.is_keyword(next + 2));
            if !goes_on {
                break;
            }
            next += 2;
        }
        if segments.is_empty() {
            return at + 1;
        }
        let namespaces = self.namespaces(next);
        if !after_field && !inside && self.counts(&segments, next) {
            self.watch(&segments);
            self.builder.path(&segments, colons, namespaces);
        }
        next
    }

    pub(super) fn segment(&mut self, at: usize) -> Option<(Segment, usize)> {
        let token = *self.tokens.get(at)?;
        if token.is(b'$') {
            let name = self.tokens.get(at + 1)?;
            let span = token.span.cover(name.span);
            return (self.text(at + 1) == "crate").then(|| (self.builder.segment(span), at + 2));
        }
        if !token.is_ident() || self.is_keyword(at) {
            return None;
        }
        Some((self.builder.segment(token.span), at + 1))
    }

    pub(super) fn is_keyword(&self, at: usize) -> bool {
        words::KEYWORDS.contains(self.text(at))
    }

    /// Whether a path may be one: names of one segment that are declared or labelled are not.
    fn counts(&self, segments: &[Segment], behind: usize) -> bool {
        if segments.len() > 1 {
            return true;
        }
        let declared = self.is(behind, b':') && !self.is_colons(behind);
        let called_macro = self.namespaces(behind) == Namespaces::MACRO;
        let is_local = |segment: &Segment| {
            let name = self.builder.slice(segment.span);
            let mut locals = self.locals.iter();
            locals.any(|local| local.hides(name, segment.span.start))
        };
        let local = !called_macro && segments.iter().any(is_local);
        self.mode.single && !declared && !local
    }

    /// Notes a path that a local name would hide if it began with the one that is watched.
    fn watch(&mut self, segments: &[Segment]) {
        let watched = self.builder.watched.as_mut();
        if let Some((watched, first)) = watched.zip(segments.first()) {
            let at = first.span.start;
            let mut locals = self.locals.iter();
            let hides = locals.any(|local| local.hides(watched.name, at));
            watched
                .hidden
                .extend(hides.then_some((at, Namespaces::VALUE)));
        }
    }

    fn namespaces(&self, behind: usize) -> Namespaces {
        let call = self.is(behind, b'!') && !self.is(behind + 1, b'=');
        if call {
            Namespaces::MACRO
        } else {
            Namespaces::TYPE.or(Namespaces::VALUE)
        }
    }
}
