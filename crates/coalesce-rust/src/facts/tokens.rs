//! The token scanner: imports, modules, items and paths of text that no parser reads.
//!
//! It knows no grammar beyond what marks these: a keyword at the start of a statement, `::`, the
//! `.` before a field, the `:` after a name that is declared. Local names it does not see.

use coalesce_model::ByteSpan;

use super::{
    Namespaces, Origin, ScopeId, ScopeKind, Segment,
    local_names::{LocalName, local_names},
    source::Builder,
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

/// Scans what the rules of a `macro_rules!` write: words of their patterns name nothing.
pub(super) fn macro_body(builder: &mut Builder<'_>, tokens: &[Token]) {
    let locals = local_names(builder.text, tokens);
    let written = written_by_rules(tokens);
    for tokens in written.unwrap_or_else(|| vec![tokens]) {
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
}

/// What stands behind the `=>` of each rule, its bracket included; `None` for what are no rules.
fn written_by_rules(tokens: &[Token]) -> Option<Vec<&[Token]>> {
    let (mut found, mut at) = (Vec::new(), 0);
    while tokens.get(at).is_some() {
        let arrow = lexer::closing(tokens, at)? + 1;
        let begins = tokens.get(arrow)?.is(b'=') && tokens.get(arrow + 1)?.is(b'>');
        let open = begins.then_some(arrow + 2)?;
        let close = lexer::closing(tokens, open)?;
        found.push(tokens.get(open..=close)?);
        at = close + 1;
        at += usize::from(tokens.get(at).is_some_and(|token| token.is(b';')));
    }
    Some(found)
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

/// Notes the constants that the format string of a call prints or measures by: `"{NAME:>WIDTH$}"`.
pub(super) fn format_names(builder: &mut Builder<'_>, name: &str, body: ByteSpan) {
    if !words::FORMAT_MACROS.contains(name) && !words::LOG_MACROS.contains(name) {
        return;
    }
    let tokens = lexer::tokens(builder.text, body);
    let arguments = arguments(&tokens);
    let Some(content) = format_string(name, &arguments) else {
        return;
    };
    // What an argument gives the name of is no constant.
    let given = arguments.iter().filter_map(|argument| match argument {
        [name, equals, ..] if name.is_ident() && equals.is(b'=') => Some(builder.slice(name.span)),
        _ => None,
    });
    let given: Vec<&str> = given.collect();
    let text = builder.slice(content);
    let origin = std::mem::replace(&mut builder.origin, Origin::FormatString);
    for (start, end) in captured_constants(text) {
        if !text
            .get(start..end)
            .is_some_and(|name| given.contains(&name))
        {
            let span = ByteSpan::from_range(start..end).shifted(content.start);
            builder.path_in_text(span, Namespaces::VALUE);
        }
    }
    builder.origin = origin;
}

/// What stands between the commas of a call.
pub(crate) fn arguments(tokens: &[Token]) -> Vec<&[Token]> {
    let mut depth = 0_usize;
    let between = tokens.split(|token| {
        match token.kind {
            TokenKind::Open(_) => depth += 1,
            TokenKind::Close(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && token.is(b',')
    });
    between.collect()
}

/// The format string among the arguments of a macro: at the place of that, or the first string of one that logs.
fn format_string(name: &str, arguments: &[&[Token]]) -> Option<ByteSpan> {
    let place = match name {
        "assert" | "debug_assert" | "ensure" | "write" | "writeln" => 1,
        "assert_eq" | "assert_ne" | "debug_assert_eq" | "debug_assert_ne" => 2,
        _ => 0,
    };
    let text = |argument: &&[Token]| match argument {
        [one] => match one.kind {
            TokenKind::Text { content } => Some(content),
            _ => None,
        },
        _ => None,
    };
    match words::FORMAT_MACROS.contains(name) {
        true => arguments.get(place).and_then(text),
        false => arguments.iter().find_map(text),
    }
}

/// Where the names of constants stand in the braces of a format string: only names in capitals are of constants.
fn captured_constants(text: &str) -> Vec<(usize, usize)> {
    let is_letter = |one: char| one.is_alphanumeric() || one == '_';
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(open) = text.get(at..).and_then(|rest| rest.find('{')) {
        let start = at + open + 1;
        let rest = text.get(start..).unwrap_or_default();
        let is_escaped = text.get(..start).is_some_and(|head| head.ends_with("\\u{"));
        if rest.starts_with('{') || is_escaped {
            at = start + usize::from(!is_escaped);
            continue;
        }
        let inside = rest.split_once('}').map_or(rest, |(inside, _)| inside);
        let end = inside.find(|one| !is_letter(one)).unwrap_or(inside.len());
        let prints = inside
            .get(end..)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(':'));
        found.extend(prints.then_some((start, start + end)));
        found.extend(inside.match_indices('$').filter_map(|(dollar, _)| {
            let head = inside.get(..dollar)?;
            let name = head.trim_end_matches(is_letter).len();
            Some((start + name, start + dollar))
        }));
        at = start + inside.len();
    }
    let is_constant = |name: &str| name.starts_with(char::is_uppercase);
    found.retain(|(start, end)| text.get(*start..*end).is_some_and(is_constant));
    found
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
