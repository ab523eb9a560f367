//! The token scanner: imports, modules, items and paths of text that no parser reads.
//!
//! It knows no grammar beyond what marks these: a keyword at the start of a statement, `::`, the
//! `.` before a field, the `:` after a name that is declared. Local names it does not see.

use coalesce_model::ByteSpan;

use super::{
    Item, ItemKind, LeafKind, ModuleDeclaration, Namespaces, Origin, ScopeId, ScopeKind, Segment,
    UseDeclaration, UseTree, Visibility, VisibilityKind,
    extract::Leaf,
    source::{Builder, index, private},
};
use crate::lexer::{self, Token, TokenKind};

/// Words that are no name in a path.
const KEYWORDS: [&str; 44] = [
    "as",
    "async",
    "await",
    "box",
    "break",
    "const",
    "continue",
    "dyn",
    "else",
    "enum",
    "extern",
    "false",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "let",
    "loop",
    "match",
    "mod",
    "move",
    "mut",
    "pub",
    "ref",
    "return",
    "static",
    "struct",
    "trait",
    "true",
    "try",
    "type",
    "union",
    "unsafe",
    "use",
    "where",
    "while",
    "yield",
    "_",
    "macro_rules",
    "default",
    "auto",
    "raw",
];

/// What the scanner looks for.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Mode {
    /// `use`, `mod` and items are declarations of the scope.
    declarations: bool,
    /// Braces open scopes.
    scopes: bool,
    /// Names of one segment count.
    single: bool,
}

/// Scans a whole file from `base`, which lies behind the byte-order mark and the `#!` line.
pub(super) fn broken_file(builder: &mut Builder<'_>, base: u32) {
    let span = ByteSpan::new(base, index(builder.text.len()));
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
    }
    .run();
}

/// Scans the body of a `macro_rules!`, patterns and all.
pub(super) fn macro_body(builder: &mut Builder<'_>, tokens: &[Token]) {
    Scanner {
        builder,
        tokens,
        mode: Mode {
            declarations: true,
            scopes: true,
            single: true,
        },
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
                let key = at
                    .checked_sub(2)
                    .and_then(|at| tokens.get(at))
                    .map(|key| builder.slice(key.span));
                let text = builder.slice(content);
                if text.contains("::")
                    || (after_equals && key.is_some_and(|key| path_keys.contains(&key)))
                {
                    let origin = std::mem::replace(&mut builder.origin, Origin::AttributeString);
                    builder.path_in_text(content, Namespaces::ALL);
                    builder.origin = origin;
                }
            }
            TokenKind::Ident if after_equals => {
                let single = Mode {
                    declarations: false,
                    scopes: false,
                    single: true,
                };
                Scanner {
                    builder,
                    tokens,
                    mode: single,
                }
                .path(at);
            }
            TokenKind::Ident => {
                let inside = at > 1 && tokens.get(at - 1).is_some_and(|before| before.is(b':'));
                if !inside {
                    let paths = Mode {
                        declarations: false,
                        scopes: false,
                        single: false,
                    };
                    Scanner {
                        builder,
                        tokens,
                        mode: paths,
                    }
                    .path(at);
                }
            }
            _ => {}
        }
    }
}

/// Notes the names that the first format string of `body` prints: `"{NAME}"`.
pub(super) fn format_names(builder: &mut Builder<'_>, body: ByteSpan) {
    let Some(quote) = memchr::memchr(b'"', builder.slice(body).as_bytes()) else {
        return;
    };
    let from = ByteSpan::new(body.start + index(quote), body.end);
    let Some(Token {
        kind: TokenKind::Text { content },
        ..
    }) = lexer::tokens_from(builder.text, from)
    else {
        return;
    };
    let text = builder.slice(content);
    let mut at = 0;
    while let Some(open) = text.get(at..).and_then(|rest| rest.find('{')) {
        let start = at + open + 1;
        let name = text.get(start..).unwrap_or_default();
        let end = name
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(name.len());
        let capital = name.starts_with(|c: char| c.is_uppercase());
        if capital
            && name
                .get(end..)
                .is_some_and(|rest| rest.starts_with(['}', ':']))
        {
            let span = ByteSpan::from_range(start..start + end).shifted(content.start);
            let origin = std::mem::replace(&mut builder.origin, Origin::FormatString);
            builder.path_in_text(span, Namespaces::VALUE);
            builder.origin = origin;
        }
        at = start + usize::from(name.starts_with('{'));
    }
}

struct Scanner<'s, 'b, 't> {
    builder: &'b mut Builder<'t>,
    tokens: &'s [Token],
    mode: Mode,
}

impl<'t> Scanner<'_, '_, 't> {
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
                    let span = ByteSpan::new(token.span.start, self.closing(at));
                    scopes.push(Some(self.builder.open_scope(
                        ScopeKind::Block,
                        span,
                        token.span.end,
                    )));
                    at + 1
                }
                TokenKind::Close(b'}') if self.mode.scopes => {
                    if let Some(Some(outer)) = scopes.pop() {
                        self.builder.scope = outer;
                    }
                    at + 1
                }
                _ => at + 1,
            };
        }
        self.builder.scope = outermost;
    }

    fn text(&self, at: usize) -> &'t str {
        self.tokens
            .get(at)
            .map_or("", |token| self.builder.slice(token.span))
    }

    fn is_ident(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is_ident())
    }

    fn is(&self, at: usize, punct: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(punct))
    }

    fn is_colons(&self, at: usize) -> bool {
        let pair = (self.tokens.get(at), self.tokens.get(at + 1));
        matches!(pair, (Some(a), Some(b)) if a.is(b':') && b.is(b':') && a.span.end == b.span.start)
    }

    /// The end of the bracket that opens at `at`.
    fn closing(&self, at: usize) -> u32 {
        let mut depth = 0usize;
        for token in self.tokens.get(at..).unwrap_or_default() {
            match token.kind {
                TokenKind::Open(_) => depth += 1,
                TokenKind::Close(_) => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return token.span.end;
                    }
                }
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

    /// The index of the `pub` that belongs to the keyword at `at`, or `at`.
    fn visibility_start(&self, at: usize) -> usize {
        let mut from = at;
        while from > 0
            && matches!(
                self.text(from - 1),
                "unsafe" | "async" | "const" | "default"
            )
        {
            from -= 1;
        }
        if from > 0 && self.text(from - 1) == "pub" {
            return from - 1;
        }
        let close = from.checked_sub(1).and_then(|at| self.tokens.get(at));
        if close.is_some_and(|token| token.kind == TokenKind::Close(b')')) {
            let open = (0..from - 1).rev().find(|at| {
                self.tokens
                    .get(*at)
                    .is_some_and(|t| t.kind == TokenKind::Open(b'('))
            });
            if let Some(open) = open.filter(|open| *open > 0 && self.text(open - 1) == "pub") {
                return open - 1;
            }
        }
        at
    }

    fn visibility(&self, at: usize) -> Visibility {
        let start = self.tokens.get(at).map_or(0, |token| token.span.start);
        let from = self.visibility_start(at);
        let Some(first) = self.tokens.get(from).filter(|_| from < at) else {
            return private(start);
        };
        let parenthesis = self
            .tokens
            .get(from + 1)
            .is_some_and(|token| token.kind == TokenKind::Open(b'('));
        let (kind, end) = match self.text(from + 2) {
            _ if !parenthesis => (VisibilityKind::Public, first.span.end),
            "super" => (VisibilityKind::Super, self.closing(from + 1)),
            "self" => (VisibilityKind::SelfModule, self.closing(from + 1)),
            _ => (VisibilityKind::Crate, self.closing(from + 1)),
        };
        Visibility {
            kind,
            span: ByteSpan::new(first.span.start, end),
        }
    }

    fn word(&mut self, at: usize, scopes: &mut Vec<Option<ScopeId>>) -> usize {
        let word = self.text(at);
        if self.mode.declarations && self.starts_statement(at) {
            match word {
                "use" => return self.use_declaration(at),
                "mod" if self.is_ident(at + 1) => return self.module(at, scopes),
                _ => {
                    if let Some(next) = self.item(at) {
                        return next;
                    }
                }
            }
        }
        self.path(at)
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
            self.builder.path(&segments, colons, namespaces);
        }
        next
    }

    fn segment(&mut self, at: usize) -> Option<(Segment, usize)> {
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

    fn is_keyword(&self, at: usize) -> bool {
        KEYWORDS.contains(&self.text(at))
    }

    /// Whether a path may be one: names of one segment that are declared or labelled are not.
    fn counts(&self, segments: &[Segment], behind: usize) -> bool {
        if segments.len() > 1 {
            return true;
        }
        let declared = self.is(behind, b':') && !self.is_colons(behind);
        self.mode.single && !declared
    }

    fn namespaces(&self, behind: usize) -> Namespaces {
        let call = self.is(behind, b'!') && !self.is(behind + 1, b'=');
        if call {
            Namespaces::MACRO
        } else {
            Namespaces::TYPE.or(Namespaces::VALUE)
        }
    }

    fn module(&mut self, at: usize, scopes: &mut Vec<Option<ScopeId>>) -> usize {
        let Some(name) = self
            .tokens
            .get(at + 1)
            .map(|token| self.builder.segment(token.span))
        else {
            return at + 1;
        };
        let visibility = self.visibility(at);
        let behind = self.tokens.get(at + 2).copied();
        let open = behind.filter(|token| token.kind == TokenKind::Open(b'{'));
        if open.is_none() && !self.is(at + 2, b';') {
            return at + 2;
        }
        let end = open.map_or(behind.map_or(name.span.end, |semi| semi.span.end), |_| {
            self.closing(at + 2)
        });
        let declaration = ModuleDeclaration {
            scope: self.builder.scope,
            name,
            span: ByteSpan::new(visibility.span.start, end),
            attributes: None,
            visibility,
            cfg: Vec::new(),
            path_attributes: self.path_attributes(at),
            macro_use: false,
            body: None,
            origin: self.builder.origin,
        };
        self.builder.facts.modules.push(declaration);
        let Some(open) = open.filter(|_| self.mode.scopes) else {
            return at + 3;
        };
        let declared = self.builder.facts.modules.len() - 1;
        let span = ByteSpan::new(open.span.start, end);
        scopes.push(Some(self.builder.open_scope(
            ScopeKind::Module(index(declared)),
            span,
            open.span.end,
        )));
        let scope = self.builder.scope;
        if let Some(declaration) = self.builder.facts.modules.get_mut(declared) {
            declaration.body = Some(scope);
        }
        at + 3
    }

    /// `path = "…"` in the attributes before the declaration at `at`.
    fn path_attributes(&self, at: usize) -> Vec<super::PathAttribute> {
        let mut found = Vec::new();
        let mut end = self.visibility_start(at);
        while let Some(open) = self.attribute_before(end) {
            let inside = self.tokens.get(open..end).unwrap_or_default();
            let conditional = inside
                .iter()
                .any(|token| self.builder.slice(token.span) == "cfg_attr");
            for window in inside.windows(3) {
                if let [name, equals, value] = window
                    && let TokenKind::Text { content } = value.kind
                    && equals.is(b'=')
                    && self.builder.slice(name.span) == "path"
                {
                    let value = Box::from(self.builder.slice(content));
                    let cfg = conditional.then(|| Box::from("cfg_attr"));
                    found.push(super::PathAttribute {
                        value,
                        span: content,
                        cfg,
                    });
                }
            }
            end = open;
        }
        found
    }

    /// The index of the `#` of an attribute that ends before `end`.
    fn attribute_before(&self, end: usize) -> Option<usize> {
        let last = self.tokens.get(end.checked_sub(1)?)?;
        if last.kind != TokenKind::Close(b']') {
            return None;
        }
        let mut depth = 0usize;
        for at in (0..end).rev() {
            match self.tokens.get(at)?.kind {
                TokenKind::Close(_) => depth += 1,
                TokenKind::Open(_) => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return at.checked_sub(1).filter(|hash| self.is(*hash, b'#'));
            }
        }
        None
    }

    fn item(&mut self, at: usize) -> Option<usize> {
        let both = Namespaces::TYPE.or(Namespaces::VALUE);
        let (kind, namespaces) = match self.text(at) {
            "struct" => (ItemKind::Struct, both),
            "enum" => (ItemKind::Enum, Namespaces::TYPE),
            "union" => (ItemKind::Union, Namespaces::TYPE),
            "trait" => (ItemKind::Trait, Namespaces::TYPE),
            "type" => (ItemKind::TypeAlias, Namespaces::TYPE),
            "fn" => (ItemKind::Function, Namespaces::VALUE),
            "const" => (ItemKind::Const, Namespaces::VALUE),
            "static" => (ItemKind::Static, Namespaces::VALUE),
            "macro_rules" if self.is(at + 1, b'!') => (ItemKind::Macro, Namespaces::MACRO),
            _ => return None,
        };
        let skip =
            usize::from(kind == ItemKind::Macro || matches!(self.text(at + 1), "mut" | "ref"));
        let name_at = at + 1 + skip;
        if !self.is_ident(name_at) || self.is_keyword(name_at) {
            return None;
        }
        let token = *self.tokens.get(name_at)?;
        let name = self.builder.segment(token.span);
        let visibility = self.visibility(at);
        let span = ByteSpan::new(visibility.span.start, name.span.end);
        let variants = if kind == ItemKind::Enum {
            self.variants(name_at + 1)
        } else {
            Vec::new()
        };
        self.builder.facts.items.push(Item {
            scope: self.builder.scope,
            name,
            kind,
            namespaces,
            visibility,
            span,
            signature: span,
            conditional: false,
            exported: false,
            variants,
            origin: self.builder.origin,
        });
        Some(name_at + 1)
    }

    /// Names at depth one of the braces after `at` that stand at the start of a variant.
    fn variants(&mut self, at: usize) -> Vec<Segment> {
        let open = (at..at + 64).find(|at| {
            self.tokens
                .get(*at)
                .is_none_or(|t| t.kind == TokenKind::Open(b'{'))
        });
        let mut variants = Vec::new();
        let mut depth = 0usize;
        let mut expected = false;
        for index in open.unwrap_or(usize::MAX)..self.tokens.len() {
            let Some(token) = self.tokens.get(index).copied() else {
                break;
            };
            match token.kind {
                TokenKind::Open(_) => {
                    depth += 1;
                    expected = depth == 1;
                }
                TokenKind::Close(close) => {
                    depth = depth.saturating_sub(1);
                    expected = depth == 1 && close == b']' && expected;
                    if depth == 0 {
                        break;
                    }
                    expected = expected || (depth == 1 && close == b']');
                }
                TokenKind::Punct(b',') => expected = depth == 1,
                TokenKind::Ident if depth == 1 && expected => {
                    variants.push(self.builder.segment(token.span));
                    expected = false;
                }
                _ => {}
            }
        }
        variants
    }

    fn use_declaration(&mut self, at: usize) -> usize {
        let Some(keyword) = self.tokens.get(at).map(|token| token.span) else {
            return at + 1;
        };
        let visibility = self.visibility(at);
        let colons = self.is_colons(at + 1);
        let mut next = if colons { at + 3 } else { at + 1 };
        let leading = self
            .tokens
            .get(at + 1)
            .filter(|_| colons)
            .map(|token| ByteSpan::new(token.span.start, token.span.start + 2));
        let first = index(self.builder.facts.leaves.len());
        let Some(tree) = self.use_tree(&mut next, &mut Vec::new(), colons, 0) else {
            self.builder.facts.leaves.truncate(first as usize);
            return at + 1;
        };
        if !self.is(next, b';') {
            self.builder.facts.leaves.truncate(first as usize);
            return at + 1;
        }
        let end = self
            .tokens
            .get(next)
            .map_or(keyword.end, |semi| semi.span.end);
        let last = index(self.builder.facts.leaves.len());
        self.builder.facts.uses.push(UseDeclaration {
            scope: self.builder.scope,
            span: ByteSpan::new(visibility.span.start, end),
            attributes: None,
            keyword: ByteSpan::new(keyword.start, end),
            visibility,
            cfg: Vec::new(),
            leading_colons: leading,
            tree,
            leaves: (first, last),
            origin: self.builder.origin,
        });
        next + 1
    }

    fn use_tree(
        &mut self,
        next: &mut usize,
        prefix: &mut Vec<Segment>,
        colons: bool,
        depth: u32,
    ) -> Option<UseTree> {
        if depth > 64 {
            return None;
        }
        let token = *self.tokens.get(*next)?;
        if token.is(b'*') {
            *next += 1;
            let leaf = Leaf {
                kind: LeafKind::Glob,
                own: 0,
                alias: None,
                span: token.span,
            };
            return Some(self.builder.leaf(leaf, prefix, colons));
        }
        if token.kind == TokenKind::Open(b'{') {
            return self.use_group(next, prefix, colons, depth);
        }
        let (segment, behind) = self.segment(*next)?;
        *next = behind;
        if self.is_colons(*next) {
            *next += 2;
            prefix.push(segment);
            let rest = self.use_tree(next, prefix, colons, depth + 1);
            prefix.pop();
            return Some(UseTree::Path(segment, Box::new(rest?)));
        }
        let mut alias = None;
        if self.text(*next) == "as" && self.is_ident(*next + 1) {
            alias = self.tokens.get(*next + 1).map(|token| token.span);
            *next += 2;
        }
        let alias = alias.map(|span| self.builder.segment(span));
        Some(self.builder.name_leaf(segment, alias, prefix, colons))
    }

    fn use_group(
        &mut self,
        next: &mut usize,
        prefix: &mut Vec<Segment>,
        colons: bool,
        depth: u32,
    ) -> Option<UseTree> {
        let open = self.tokens.get(*next)?.span.start;
        *next += 1;
        let mut items = Vec::new();
        loop {
            let token = *self.tokens.get(*next)?;
            if token.kind == TokenKind::Close(b'}') {
                *next += 1;
                return Some(UseTree::Group(ByteSpan::new(open, token.span.end), items));
            }
            items.push(self.use_tree(next, prefix, colons, depth + 1)?);
            if self.is(*next, b',') {
                *next += 1;
            }
        }
    }
}
