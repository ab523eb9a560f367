//! Names that the body of a `macro_rules!` binds for itself: parameters of functions and closures, `let`, `for`.
//!
//! By tokens: a name is local from where it is bound to the end of the block or group that can see it. Names that
//! patterns of a `match` bind are not seen.

use crate::{
    lexer::{self, Token, TokenKind},
    words,
};

/// A local name, and where it hides what is called so outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LocalName<'t> {
    pub name: &'t str,
    /// The first byte that sees it.
    pub start: u32,
    /// The first byte that does so no more.
    pub end: u32,
}

impl LocalName<'_> {
    pub(super) fn hides(&self, name: &str, at: u32) -> bool {
        self.name == name && self.start <= at && at < self.end
    }
}

/// The local names of a text's tokens.
pub(super) fn local_names<'t>(text: &'t str, tokens: &[Token]) -> Vec<LocalName<'t>> {
    let mut reader = Reader {
        text,
        tokens,
        found: Vec::new(),
    };
    for at in 0..tokens.len() {
        match reader.word(at) {
            "let" => reader.binding(at),
            "for" => reader.loop_names(at),
            "|" if reader.opens_closure(at) => reader.closure(at),
            _ if reader.is_parameter(at) => reader.parameter(at),
            _ => {}
        }
    }
    reader.found
}

struct Reader<'s, 't> {
    text: &'t str,
    tokens: &'s [Token],
    found: Vec<LocalName<'t>>,
}

impl<'t> Reader<'_, 't> {
    fn word(&self, at: usize) -> &'t str {
        let token = self.tokens.get(at);
        token
            .and_then(|token| token.span.of(self.text))
            .unwrap_or_default()
    }

    fn kind(&self, at: usize) -> Option<TokenKind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    /// Whether what stands at `at` can be bound: a name, and neither a keyword nor a type, a constant or `$name`.
    fn is_name(&self, at: usize) -> bool {
        let word = self.word(at);
        let plain = self.kind(at) == Some(TokenKind::Ident) && !words::KEYWORDS.contains(word);
        let macro_word = at > 0 && self.word(at - 1) == "$";
        plain && !macro_word && !word.starts_with(char::is_uppercase)
    }

    /// `name:` behind `(` or `,`, `mut` or a space; a path's `::` is none.
    fn is_parameter(&self, at: usize) -> bool {
        let labelled = self.word(at + 1) == ":" && self.word(at + 2) != ":";
        let before = at.checked_sub(1).map(|before| self.word(before));
        let stands = before.is_some_and(|before| matches!(before, "(" | "," | "mut"));
        labelled && stands && self.is_name(at) && self.is_in_parentheses(at)
    }

    fn is_in_parentheses(&self, at: usize) -> bool {
        let open = lexer::opening(self.tokens, at);
        open.is_some_and(|open| self.word(open) == "(")
    }

    /// A parameter is seen in the block that follows its parentheses.
    fn parameter(&mut self, at: usize) {
        let Some(closing) = self.end_of_group(at) else {
            return;
        };
        if let Some((start, end)) = self.block_after(closing) {
            self.hide(at, start, end);
        }
    }

    /// `let PATTERN =`: seen behind the statement, or in the block of an `if`.
    fn binding(&mut self, at: usize) {
        let Some(equals) = self.position(at, |word| matches!(word, "=" | ";")) else {
            return;
        };
        let Some(behind) = self.position(equals, |word| matches!(word, ";" | "{")) else {
            return;
        };
        let end = self
            .end_of_group(at)
            .map_or(u32::MAX, |end| self.start(end));
        self.pattern((at + 1, equals), (self.start(behind), end));
    }

    /// `for PATTERN in`: seen in the block that follows. The `for` of an `impl` has no `in`.
    fn loop_names(&mut self, at: usize) {
        let stop = self.position(at, |word| matches!(word, "in" | "{" | ";"));
        let Some(within) = stop.filter(|stop| self.word(*stop) == "in") else {
            return;
        };
        if let Some((start, end)) = self.block_after(within) {
            self.pattern((at + 1, within), (start, end));
        }
    }

    /// A `|` where an expression begins.
    fn opens_closure(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map_or("", |before| self.word(before));
        let arrow = before == ">" && at > 1 && self.word(at - 2) == "=";
        arrow
            || matches!(
                before,
                "(" | "," | "=" | "move" | "{" | ";" | "[" | "return"
            )
    }

    /// The names of a closure are seen to the end of what it stands in.
    fn closure(&mut self, at: usize) {
        let Some(closing) = self.position(at, |word| word == "|") else {
            return;
        };
        let end = self
            .end_of_group(at)
            .map_or(u32::MAX, |end| self.start(end));
        self.pattern((at + 1, closing), (self.start(closing), end));
    }

    /// Every name of a pattern; types behind `:` are no names of it, and hide nothing that is written like one.
    fn pattern(&mut self, (from, to): (usize, usize), (start, end): (u32, u32)) {
        for at in from..to {
            let of_path = self.word(at + 1) == ":" && self.word(at + 2) == ":";
            let call = matches!(self.word(at + 1), "(" | "!");
            if self.is_name(at) && !of_path && !call {
                self.hide(at, start, end);
            }
        }
    }

    fn hide(&mut self, at: usize, start: u32, end: u32) {
        let name = self.word(at);
        self.found.push(LocalName { name, start, end });
    }

    fn start(&self, at: usize) -> u32 {
        self.tokens
            .get(at)
            .map_or(u32::MAX, |token| token.span.start)
    }

    /// The next token of the same group, behind `at`, of which this holds.
    fn position(&self, at: usize, holds: impl Fn(&str) -> bool) -> Option<usize> {
        let mut depth = 0_usize;
        for next in at + 1..self.tokens.len() {
            if depth == 0 && holds(self.word(next)) {
                return Some(next);
            }
            match self.kind(next)? {
                TokenKind::Open(_) => depth += 1,
                TokenKind::Close(_) => depth = depth.checked_sub(1)?,
                _ => {}
            }
        }
        None
    }

    /// The bracket that closes the group around `at`.
    fn end_of_group(&self, at: usize) -> Option<usize> {
        let mut depth = 0_usize;
        (at..self.tokens.len()).find(|next| match self.kind(*next) {
            Some(TokenKind::Open(_)) => {
                depth += 1;
                false
            }
            Some(TokenKind::Close(_)) if depth == 0 => true,
            Some(TokenKind::Close(_)) => {
                depth -= 1;
                false
            }
            _ => false,
        })
    }

    /// The first and last byte of the next braces behind `at`, in its group or where that ends.
    fn block_after(&self, at: usize) -> Option<(u32, u32)> {
        let open = self.position(at, |word| matches!(word, "{" | ";"))?;
        let end = self.end_of_group(open + 1)?;
        (self.word(open) == "{").then(|| (self.start(open), self.start(end)))
    }
}

#[cfg(test)]
mod tests {
    use coalesce_model::ByteSpan;

    use super::local_names;
    use crate::lexer;

    /// The uses of `token` that are outside, by their numbers among all that are written.
    fn outside(text: &str) -> Vec<usize> {
        let tokens = lexer::tokens(text, ByteSpan::from_range(0..text.len()));
        let names = local_names(text, &tokens);
        let starts = text.match_indices("token").map(|(at, _)| at);
        let numbered = starts.enumerate().filter(|(_, at)| {
            let at = u32::try_from(*at).expect("a short text");
            !names.iter().any(|name| name.hides("token", at))
        });
        numbered.map(|(number, _)| number).collect()
    }

    #[test]
    fn parameters_are_seen_in_their_function_alone() {
        assert_eq!(
            outside("fn a(token: T) -> u8 { token.clone() } fn b() { token() }"),
            [0, 2]
        );
        assert_eq!(
            outside("fn a(&self, mut token: T) where T: A { f(token) }"),
            [0]
        );
        assert_eq!(outside("struct A { token: T } fn b() { token() }"), [0, 1]);
    }

    #[test]
    fn let_binds_behind_its_statement() {
        assert_eq!(outside("{ let token = token(); token } token()"), [0, 1, 3]);
        assert_eq!(
            outside("{ if let Some(token) = token() { token } }"),
            [0, 1]
        );
        assert_eq!(outside("{ let (a, ref token) = x; token }"), [0]);
    }

    #[test]
    fn loops_and_closures_bind() {
        assert_eq!(
            outside("for token in token() { token; } token()"),
            [0, 1, 3]
        );
        assert_eq!(outside("impl token for A { fn b() { token() } }"), [0, 1]);
        assert_eq!(outside("x.map(|token| token.a()); token()"), [0, 2]);
        assert_eq!(outside("a || token()"), [0]);
        assert_eq!(outside("x.map(|| token()).map(|a| b)"), [0]);
    }
}
