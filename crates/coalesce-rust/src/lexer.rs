//! A lossless-position lexer of Rust: tokens with byte spans, never failing.
//!
//! It serves what no parser reads: macro bodies, files that do not parse, and the measure of how
//! deep a file nests. Comments and white space are skipped; an unfinished literal ends with the
//! text.

use coalesce_model::ByteSpan;

use crate::words::NESTING_WORDS;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// An identifier or keyword; `r#` included.
    Ident,
    /// `'a`
    Lifetime,
    /// A string literal of any kind; what stands between the quotes, and whether it is raw.
    Text {
        /// Between the quotes.
        content: ByteSpan,
    },
    /// A number, character or byte.
    Literal,
    /// One punctuation byte.
    Punct(u8),
    /// `(`, `[` or `{`
    Open(u8),
    /// `)`, `]` or `}`
    Close(u8),
}

/// A token and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it is.
    pub span: ByteSpan,
}

impl Token {
    /// Whether it is this punctuation.
    pub fn is(self, punct: u8) -> bool {
        self.kind == TokenKind::Punct(punct)
    }

    /// Whether it is an identifier or keyword.
    pub fn is_ident(self) -> bool {
        self.kind == TokenKind::Ident
    }
}

/// The tokens of `text[start..end]`, with spans in `text`.
pub(crate) fn tokens(text: &str, span: ByteSpan) -> Vec<Token> {
    let mut lexer = Lexer::over(text, span);
    let mut tokens = Vec::with_capacity(span.len() as usize / 4);
    while let Some(token) = lexer.next_token() {
        tokens.push(token);
    }
    tokens
}

/// The tokens of the attributes that `text[start..end]` begins with, and no others.
pub(crate) fn attribute_tokens(text: &str, span: ByteSpan) -> Vec<Token> {
    let mut lexer = Lexer::over(text, span);
    let (mut tokens, mut depth) = (Vec::new(), 0_usize);
    while let Some(token) = lexer.next_token() {
        let last = tokens.last().map(|last: &Token| last.kind);
        let goes_on = depth > 0 || begins_attribute(token.kind, last);
        if !goes_on {
            break;
        }
        match token.kind {
            TokenKind::Open(_) => depth += 1,
            TokenKind::Close(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        tokens.push(token);
    }
    tokens
}

/// Whether a token is the `#`, `!` or `[` with which an attribute begins, `last` being the one before it.
fn begins_attribute(token: TokenKind, last: Option<TokenKind>) -> bool {
    match token {
        TokenKind::Punct(b'#') => !matches!(last, Some(TokenKind::Punct(_))),
        TokenKind::Punct(b'!') => last == Some(TokenKind::Punct(b'#')),
        TokenKind::Open(b'[') => matches!(last, Some(TokenKind::Punct(_))),
        _ => false,
    }
}

/// Whether two texts differ in comments and in space alone, as far as their tokens say.
///
/// ```
/// assert!(coalesce_rust::same_code("/// Old.\nfn f() {}", "/// New.\nfn f() {}"));
/// assert!(!coalesce_rust::same_code("fn f() {}", "fn g() {}"));
/// ```
#[must_use]
pub fn same_code(one: &str, other: &str) -> bool {
    let tokens = |text: &str| tokens(text, ByteSpan::from_range(0..text.len()));
    let (first, second) = (tokens(one), tokens(other));
    let mut pairs = first.iter().zip(&second);
    first.len() == second.len() && pairs.all(|(a, b)| a.span.of(one) == b.span.of(other))
}

/// The first token of `text[start..end]`.
pub(crate) fn tokens_from(text: &str, span: ByteSpan) -> Option<Token> {
    Lexer::over(text, span).next_token()
}

/// The index of the token that closes what the one at `open` opens.
pub(crate) fn closing(tokens: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.kind {
            TokenKind::Open(_) => depth += 1,
            TokenKind::Close(_) if depth == 1 => return Some(at),
            TokenKind::Close(_) => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

/// The index of the token that opens what is around the one at `at`, directly.
pub(crate) fn opening(tokens: &[Token], at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for before in (0..at).rev() {
        match tokens.get(before)?.kind {
            TokenKind::Close(_) => depth += 1,
            TokenKind::Open(_) if depth == 0 => return Some(before),
            TokenKind::Open(_) => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The end of the identifier that starts at `start`, `r#` included.
pub(crate) fn ident_end(text: &str, start: u32) -> u32 {
    let bytes = text.as_bytes();
    let mut at = start as usize;
    if bytes.get(at..at + 2) == Some(b"r#") {
        at += 2;
    }
    while bytes.get(at).is_some_and(|byte| is_ident_byte(*byte)) {
        at += 1;
    }
    ByteSpan::from_range(at..at).start
}

/// Bytes of identifiers; every byte of a character beyond ASCII counts.
pub(crate) fn is_ident_byte(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric() || byte >= 0x80
}

struct Lexer<'t> {
    bytes: &'t [u8],
    at: usize,
    end: usize,
}

impl<'t> Lexer<'t> {
    /// Reads `text[span.start..span.end]`.
    fn over(text: &'t str, span: ByteSpan) -> Self {
        Self {
            bytes: text.as_bytes(),
            at: span.start as usize,
            end: (span.end as usize).min(text.len()),
        }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        let at = self.at + ahead;
        if at < self.end {
            self.bytes.get(at).copied()
        } else {
            None
        }
    }

    fn next_token(&mut self) -> Option<Token> {
        self.skip_blank();
        let first = self.peek(0)?;
        let start = self.at;
        let kind = match first {
            b'(' | b'[' | b'{' => self.take(1, TokenKind::Open(first)),
            b')' | b']' | b'}' => self.take(1, TokenKind::Close(first)),
            b'"' => self.quoted(0),
            b'\'' => self.quote(),
            b'0'..=b'9' => self.number(),
            b'b' | b'c' | b'r' => self.prefixed(),
            byte if is_ident_byte(byte) => self.ident(),
            byte => self.take(1, TokenKind::Punct(byte)),
        };
        Some(Token {
            kind,
            span: ByteSpan::from_range(start..self.at),
        })
    }

    fn take(&mut self, bytes: usize, kind: TokenKind) -> TokenKind {
        self.at = (self.at + bytes).min(self.end);
        kind
    }

    fn skip_blank(&mut self) {
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some(b' ' | b'\t' | b'\n' | b'\r'), _) => self.at += 1,
                (Some(b'/'), Some(b'/')) => self.skip_line(),
                (Some(b'/'), Some(b'*')) => self.skip_block(),
                _ => return,
            }
        }
    }

    fn skip_line(&mut self) {
        let rest = self.bytes.get(self.at..self.end).unwrap_or_default();
        self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    }

    fn skip_block(&mut self) {
        let (start, mut depth) = (self.at, 0usize);
        while depth > 0 || self.at == start {
            match (self.peek(0), self.peek(1)) {
                (Some(b'/'), Some(b'*')) => {
                    depth += 1;
                    self.at += 2;
                }
                (Some(b'*'), Some(b'/')) => {
                    depth -= 1;
                    self.at += 2;
                }
                (None, _) => return,
                _ => self.at += 1,
            }
        }
    }

    fn ident(&mut self) -> TokenKind {
        while self.peek(0).is_some_and(is_ident_byte) {
            self.at += 1;
        }
        TokenKind::Ident
    }

    /// `b"…"`, `br#"…"#`, `r#ident`, `c"…"`, `b'x'`, or an identifier that starts with such a letter.
    fn prefixed(&mut self) -> TokenKind {
        let letters = match (self.peek(0), self.peek(1)) {
            (Some(b'b' | b'c'), Some(b'r')) => 2,
            _ => 1,
        };
        let raw = self.peek(letters - 1) == Some(b'r');
        match self.peek(letters) {
            Some(b'"') if raw => self.raw_string(letters, 0),
            Some(b'"') => self.quoted(letters),
            Some(b'\'') if self.peek(0) == Some(b'b') && !raw => {
                self.at += letters;
                self.character()
            }
            Some(b'#') if raw => self.raw(letters),
            _ => self.ident(),
        }
    }

    fn raw(&mut self, letters: usize) -> TokenKind {
        let mut hashes = 0;
        while self.peek(letters + hashes) == Some(b'#') {
            hashes += 1;
        }
        if self.peek(letters + hashes) == Some(b'"') {
            return self.raw_string(letters, hashes);
        }
        if letters == 1 && hashes == 1 {
            self.at += 2;
        }
        self.ident()
    }

    fn raw_string(&mut self, letters: usize, hashes: usize) -> TokenKind {
        self.at += letters + hashes + 1;
        let start = self.at;
        while let Some(byte) = self.peek(0) {
            let closed = byte == b'"' && (1..=hashes).all(|ahead| self.peek(ahead) == Some(b'#'));
            if closed {
                let content = ByteSpan::from_range(start..self.at);
                return self.take(1 + hashes, TokenKind::Text { content });
            }
            self.at += 1;
        }
        TokenKind::Text {
            content: ByteSpan::from_range(start.min(self.at)..self.at),
        }
    }

    fn quoted(&mut self, letters: usize) -> TokenKind {
        self.at += letters + 1;
        let start = self.at;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\\' => self.at = (self.at + 2).min(self.end),
                b'"' => {
                    let content = ByteSpan::from_range(start..self.at);
                    return self.take(1, TokenKind::Text { content });
                }
                _ => self.at += 1,
            }
        }
        TokenKind::Text {
            content: ByteSpan::from_range(start.min(self.at)..self.at),
        }
    }

    /// A lifetime or a character.
    fn quote(&mut self) -> TokenKind {
        let next = self.peek(1);
        if next.is_some_and(|byte| is_ident_byte(byte) && byte < 0x80)
            && self.peek(2) != Some(b'\'')
        {
            self.at += 1;
            self.ident();
            return TokenKind::Lifetime;
        }
        self.character()
    }

    fn character(&mut self) -> TokenKind {
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\\' => self.at = (self.at + 2).min(self.end),
                b'\'' => return self.take(1, TokenKind::Literal),
                b'\n' => return TokenKind::Literal,
                _ => self.at += 1,
            }
        }
        TokenKind::Literal
    }

    fn number(&mut self) -> TokenKind {
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some(byte), _) if is_ident_byte(byte) => self.at += 1,
                (Some(b'.'), Some(b'0'..=b'9')) => self.at += 1,
                _ => return TokenKind::Literal,
            }
        }
    }
}

/// How hard a text is on a recursive parser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Depth {
    /// Deepest nesting of brackets.
    pub nesting: usize,
    /// Most tokens of operators, fields, calls and `else` in one run, where trees grow one level a
    /// token without any bracket.
    pub chain: usize,
    /// All tokens.
    pub tokens: usize,
}

/// Where brackets nest deeper than this for the first time; the end of the text if they do not.
pub(crate) fn first_deeper_than(text: &str, nesting: usize) -> usize {
    let mut lexer = Lexer::over(text, ByteSpan::from_range(0..text.len()));
    let mut open = 0usize;
    while let Some(token) = lexer.next_token() {
        match token.kind {
            TokenKind::Open(_) if open == nesting => return token.span.start as usize,
            TokenKind::Open(_) => open += 1,
            TokenKind::Close(_) => open = open.saturating_sub(1),
            _ => {}
        }
    }
    text.len()
}

/// Measures `text`.
pub(crate) fn depth(text: &str) -> Depth {
    let mut lexer = Lexer::over(text, ByteSpan::from_range(0..text.len()));
    let (mut result, mut chains, mut after_block) = (Depth::default(), vec![0usize], false);
    while let Some(token) = lexer.next_token() {
        result.tokens += 1;
        let word = match token.kind {
            TokenKind::Ident => token.span.of(text).unwrap_or_default(),
            _ => "",
        };
        let by =
            usize::from(matches!(token.kind, TokenKind::Punct(_)) || NESTING_WORDS.contains(word));
        let ends = ends_chain(token.kind, word, after_block);
        result.chain = result.chain.max(lengthen(&mut chains, by, ends));
        after_block = matches!(token.kind, TokenKind::Close(b'}'));
        match token.kind {
            TokenKind::Open(_) => chains.push(0),
            TokenKind::Close(_) if chains.len() > 1 => drop(chains.pop()),
            _ => {}
        }
        result.nesting = result.nesting.max(chains.len() - 1);
    }
    result
}

/// Whether a token begins another chain: what follows a block is another statement, unless it goes on with
/// its value.
fn ends_chain(token: TokenKind, word: &str, after_block: bool) -> bool {
    match token {
        TokenKind::Punct(b',' | b';') => true,
        TokenKind::Punct(_) => false,
        _ => after_block && !matches!(word, "as" | "else"),
    }
}

/// Adds to the innermost chain, or begins another where that one `ends`; returns how long it is.
fn lengthen(chains: &mut [usize], by: usize, ends: bool) -> usize {
    let Some(chain) = chains.last_mut() else {
        return 0;
    };
    *chain = if ends { by } else { *chain + by };
    *chain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        let span = ByteSpan::from_range(0..text.len());
        tokens(text, span)
            .into_iter()
            .filter_map(|token| token.span.of(text))
            .collect()
    }

    #[test]
    fn literals_lifetimes_and_comments_are_told_apart() {
        for (text, expected) in [
            ("a/*x/*y*/*/b//c\nd", vec!["a", "b", "d"]),
            (
                "'a 'b' '\\'' b'x' '\u{e9}'",
                vec!["'a", "'b'", "'\\''", "b'x'", "'\u{e9}'"],
            ),
            (
                "r#\"a\"b\"# r#type br\"x\" c\"y\" bare",
                vec!["r#\"a\"b\"#", "r#type", "br\"x\"", "c\"y\"", "bare"],
            ),
            (
                "1.5 1..2 0xff_u8 a.0.1",
                vec!["1.5", "1", ".", ".", "2", "0xff_u8", "a", ".", "0.1"],
            ),
            ("\"open", vec!["\"open"]),
            ("$crate::x", vec!["$", "crate", ":", ":", "x"]),
        ] {
            assert_eq!(texts(text), expected, "{text}");
        }
    }

    #[test]
    fn depth_sees_brackets_and_chains() {
        assert_eq!(depth("f(a[{1}])").nesting, 3);
        assert_eq!(depth("a + b + c; d + e").chain, 2);
        for (text, chain) in [
            ("let _ = if if if a {} {} {}", 4),
            ("break break return match x {}", 4),
            ("for a in for b in c {}", 4),
            ("while while while a {}", 3),
            ("if a {} else if b {} else if c {}", 5),
            ("x as u8 as u8", 2),
            ("fn a() -> u8 {} fn b() -> u8 {}", 2),
            ("unsafe {} + unsafe {} + unsafe {}", 2),
        ] {
            let measured = depth(text).chain;
            assert!(
                measured >= chain.min(2) && measured <= chain + 1,
                "{text}: {measured}"
            );
        }
        assert_eq!(first_deeper_than("a (b [c] {(", 2), 10);
        assert_eq!(first_deeper_than("a (b [c] {(", 9), 11);
        assert!(depth(&format!("let _ = {}a", "if ".repeat(1_000))).chain > 1_000);
        assert_eq!(depth("\"((((\"").nesting, 0);
    }
}
