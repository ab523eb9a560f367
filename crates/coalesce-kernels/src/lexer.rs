//! Tokens of the C family, WGSL included: comments left out, directives of the preprocessor kept.

use std::{collections::BTreeSet, sync::LazyLock};

use coalesce_model::{ByteSpan, TokenClass};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// Where it is.
    pub span: ByteSpan,
    /// What it is to the duplicate finder.
    pub class: TokenClass,
    /// Whether it is part of a directive (`#define …`).
    pub directive: bool,
    /// Whether it is the `#` of one.
    pub begins_directive: bool,
}

/// Operators of several bytes, longer ones first.
const OPERATORS: [&str; 24] = [
    "<<<", ">>>", "<<=", ">>=", "...", "::", "->", "++", "--", "<<", "&&", "||", "==", "!=", "<=",
    ">=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=",
];

/// The tokens of `text` within `span`.
pub fn tokens(text: &str, span: ByteSpan) -> Vec<Token> {
    let mut lexer = Lexer {
        bytes: text.as_bytes().get(..span.end as usize).unwrap_or_default(),
        at: span.start as usize,
        directive: false,
        line_is_blank: true,
        found: Vec::new(),
    };
    while lexer.step() {}
    lexer.found
}

struct Lexer<'t> {
    bytes: &'t [u8],
    at: usize,
    directive: bool,
    line_is_blank: bool,
    found: Vec<Token>,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Reads one token or what is between two; false at the end.
    fn step(&mut self) -> bool {
        if self.at >= self.bytes.len() {
            return false;
        }
        match self.peek(0) {
            b'\n' => {
                (self.directive, self.line_is_blank) = (false, true);
                self.at += 1;
            }
            b'\\' => self.at += 1 + self.line_end(1),
            byte if byte.is_ascii_whitespace() => self.at += 1,
            b'/' if self.peek(1) == b'/' => self.skip_line(),
            b'/' if self.peek(1) == b'*' => self.skip_block(),
            b'"' => self.quoted(0, b'"'),
            b'\'' => self.quoted(0, b'\''),
            b'#' if self.line_is_blank => self.begin_directive(),
            b'R' if self.peek(1) == b'"' => self.raw(),
            b'u' | b'U' | b'L' if self.peek(1) == b'"' => self.quoted(1, b'"'),
            byte if is_word(byte) && !byte.is_ascii_digit() => self.word(),
            byte if byte.is_ascii_digit() => self.number(),
            b'.' if self.peek(1).is_ascii_digit() => self.number(),
            _ => self.operator(),
        }
        true
    }

    /// Bytes of a line end that stands so many bytes ahead; 0 where there is none.
    fn line_end(&self, ahead: usize) -> usize {
        match (self.peek(ahead), self.peek(ahead + 1)) {
            (b'\r', b'\n') => 2,
            (b'\n', _) => 1,
            _ => 0,
        }
    }

    fn push(&mut self, bytes: usize, class: TokenClass) {
        let end = (self.at + bytes).min(self.bytes.len());
        self.found.push(Token {
            span: ByteSpan::from_range(self.at..end),
            class,
            directive: self.directive,
            begins_directive: false,
        });
        self.at = end;
        self.line_is_blank = false;
    }

    fn rest(&self) -> &[u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn skip_line(&mut self) {
        let rest = self.rest();
        self.at += rest
            .iter()
            .position(|byte| *byte == b'\n')
            .unwrap_or(rest.len());
    }

    fn skip_block(&mut self) {
        let inside = self.rest().get(2..).unwrap_or_default();
        let end = inside.windows(2).position(|pair| pair == b"*/");
        self.at += end.map_or(inside.len() + 2, |end| end + 4);
    }

    fn begin_directive(&mut self) {
        self.directive = true;
        self.push(1, TokenClass::Punct);
        if let Some(hash) = self.found.last_mut() {
            hash.begins_directive = true;
        }
    }

    fn word(&mut self) {
        let rest = self.rest();
        let bytes = rest.iter().position(|byte| !is_word(*byte));
        let bytes = bytes.unwrap_or(rest.len());
        let word = rest.get(..bytes).unwrap_or_default();
        let class = if is_keyword(word) {
            TokenClass::Keyword
        } else {
            TokenClass::Word
        };
        self.push(bytes, class);
    }

    fn number(&mut self) {
        let mut bytes = 1;
        loop {
            let (last, next) = (self.peek(bytes - 1), self.peek(bytes));
            let exponent = matches!(next, b'+' | b'-')
                && matches!(last, b'e' | b'E' | b'p' | b'P')
                && !(matches!(last, b'e' | b'E') && self.peek(1) == b'x');
            let separator = next == b'\'' && is_word(self.peek(bytes + 1));
            if !(is_word(next) || next == b'.' || exponent || separator) {
                break;
            }
            bytes += 1;
        }
        self.push(bytes, TokenClass::Number);
    }

    /// A string that ends at its quote, or with the line where it lacks one.
    fn quoted(&mut self, prefix: usize, quote: u8) {
        let mut bytes = prefix + 1;
        loop {
            match self.peek(bytes) {
                b'\\' => bytes += 2,
                b'\n' => break,
                0 if self.at + bytes >= self.bytes.len() => break,
                byte if byte == quote => {
                    bytes += 1;
                    break;
                }
                _ => bytes += 1,
            }
        }
        self.string(bytes);
    }

    /// `R"delimiter(…)delimiter"`.
    fn raw(&mut self) {
        let rest = self.rest();
        let opens = rest.iter().take(20).position(|byte| *byte == b'(');
        let Some(opens) = opens else {
            return self.quoted(1, b'"');
        };
        let delimiter = rest.get(2..opens).unwrap_or_default();
        let ending = [b")", delimiter, b"\""].concat();
        let inside = rest.get(opens..).unwrap_or_default();
        let end = inside
            .windows(ending.len())
            .position(|window| window == ending.as_slice());
        let bytes = end.map_or(rest.len(), |end| opens + end + ending.len());
        self.string(bytes);
    }

    fn string(&mut self, bytes: usize) {
        let text = self.rest().get(..bytes).unwrap_or_default();
        let class = if text.contains(&b' ') {
            TokenClass::Prose
        } else {
            TokenClass::Key
        };
        self.push(bytes, class);
    }

    fn operator(&mut self) {
        let rest = self.rest();
        let known = OPERATORS
            .iter()
            .find(|operator| rest.starts_with(operator.as_bytes()));
        let whole = rest.first().map_or(1, |first| match first {
            0xf0.. => 4,
            0xe0.. => 3,
            0xc0.. => 2,
            _ => 1,
        });
        self.push(
            known.map_or(whole, |operator| operator.len()),
            TokenClass::Punct,
        );
    }
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

/// Words of the languages. Names of types are not among them: what a kernel computes in is what tells
/// two of them apart.
const KEYWORDS: &str = "\
    alignas asm auto break case class const constexpr continue default delete do else enum \
    extern false fn for friend if inline kernel let loop namespace new nullptr operator \
    private protected public restrict return sizeof static static_cast struct switch \
    template this true typedef typename union using var virtual void volatile while \
    __global__ __device__ __host__ __forceinline__ __restrict__ __shared__ __constant__ \
    __kernel __global __local __private __constant __inline__ device threadgroup thread \
    constant";

/// The same, one by one.
static KEYWORD_SET: LazyLock<BTreeSet<&'static [u8]>> =
    LazyLock::new(|| KEYWORDS.split_whitespace().map(str::as_bytes).collect());

fn is_keyword(word: &[u8]) -> bool {
    KEYWORD_SET.contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        let all = ByteSpan::from_range(0..text.len());
        let spans = tokens(text, all).into_iter().map(|token| token.span);
        spans.filter_map(|span| span.of(text)).collect()
    }

    #[test]
    fn tokens_are_what_a_compiler_sees() {
        let cases: [(&str, &[&str]); 8] = [
            ("a/*b*/c // d\ne", &["a", "c", "e"]),
            ("1.0e-5f+0x1F-2", &["1.0e-5f", "+", "0x1F", "-", "2"]),
            ("0xe+1", &["0xe", "+", "1"]),
            (
                "k<<<g, b>>>(x)",
                &["k", "<<<", "g", ",", "b", ">>>", "(", "x", ")"],
            ),
            ("\"a \\\" b\" 'c'", &["\"a \\\" b\"", "'c'"]),
            ("R\"x(a\"b)x\" c", &["R\"x(a\"b)x\"", "c"]),
            ("é a", &["é", "a"]),
            ("/* never closed", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(texts(text), expected, "{text}");
        }
    }

    #[test]
    fn a_directive_goes_on_behind_a_backslash() {
        let text = "#define A(x) \\\n  x + 1\nint b;";
        let all = ByteSpan::from_range(0..text.len());
        let marked = tokens(text, all);
        let inside = marked.iter().filter(|token| token.directive);
        let inside: Vec<&str> = inside.filter_map(|token| token.span.of(text)).collect();
        assert_eq!(inside, ["#", "define", "A", "(", "x", ")", "x", "+", "1"]);
    }
}
