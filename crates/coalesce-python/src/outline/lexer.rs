//! A hand lexer of Python for comparing: comments are dropped, brackets join lines, a string is one
//! token. It never fails; an unfinished string ends with the text.

use coalesce_model::{ByteSpan, OutlineToken, TokenClass, outline::marks};

/// A logical line: where its statement begins.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// First token.
    pub first: u32,
    /// Columns of white space before it; a tab goes to the next multiple of eight.
    pub indent: u32,
    /// Number of its first line, 1-based.
    pub number: u32,
    /// Number of its last line, 1-based.
    pub last: u32,
}

/// All tokens and logical lines of `text`.
pub fn read(text: &str) -> (Vec<OutlineToken>, Vec<Line>) {
    let mut lexer = Lexer {
        bytes: text.as_bytes(),
        at: 0,
        number: 1,
        depth: 0,
        tokens: Vec::with_capacity(text.len() / 8),
        lines: Vec::with_capacity(text.len() / 48),
        fresh: true,
        indent: 0,
    };
    if text.starts_with('\u{feff}') {
        lexer.at = 3;
    }
    lexer.measure_indent();
    lexer.run();
    (lexer.tokens, lexer.lines)
}

struct Lexer<'t> {
    bytes: &'t [u8],
    at: usize,
    /// Current line, 1-based.
    number: u32,
    /// Open brackets.
    depth: usize,
    tokens: Vec<OutlineToken>,
    lines: Vec<Line>,
    /// Whether the next token begins a logical line.
    fresh: bool,
    indent: u32,
}

impl Lexer<'_> {
    fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn run(&mut self) {
        while let Some(first) = self.bytes.get(self.at).copied() {
            match first {
                b' ' | b'\t' | b'\x0c' => self.at += 1,
                b'\n' | b'\r' => self.line_end(first),
                b'#' => self.comment(),
                b'\\' if matches!(self.byte(1), b'\n' | b'\r') => {
                    self.at += 1;
                    self.newline();
                }
                _ => self.token(first),
            }
        }
        self.close_line();
    }

    /// Steps over a line end and counts it.
    fn newline(&mut self) {
        let crlf = self.byte(0) == b'\r' && self.byte(1) == b'\n';
        self.at += 1 + usize::from(crlf);
        self.number += 1;
    }

    fn line_end(&mut self, _first: u8) {
        let joined = self.depth > 0;
        if !joined {
            self.close_line();
        }
        self.newline();
        if !joined {
            self.fresh = true;
            self.measure_indent();
        }
    }

    /// The line that was read last ends here.
    fn close_line(&mut self) {
        if !self.fresh
            && let Some(line) = self.lines.last_mut()
        {
            line.last = self.number;
        }
    }

    fn measure_indent(&mut self) {
        self.indent = 0;
        loop {
            match self.byte(0) {
                b' ' => self.indent += 1,
                b'\t' => self.indent = (self.indent / 8 + 1) * 8,
                _ => return,
            }
            self.at += 1;
        }
    }

    fn comment(&mut self) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at += memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
    }

    fn token(&mut self, first: u8) {
        let start = self.at;
        let number = self.number;
        let class = match first {
            b'"' | b'\'' => self.string(),
            b'0'..=b'9' => self.number_literal(),
            b'.' if self.byte(1).is_ascii_digit() => self.number_literal(),
            byte if is_word(byte) => self.word(),
            _ => self.punct(first),
        };
        let statement = self.fresh || self.after_semicolon();
        if self.fresh {
            self.begin_line(number);
        }
        self.tokens.push(OutlineToken {
            span: ByteSpan::from_range(start..self.at),
            class,
            marks: if statement { marks::STATEMENT } else { 0 },
        });
    }

    /// A line begins with the token that comes next.
    fn begin_line(&mut self, number: u32) {
        self.fresh = false;
        self.lines.push(Line {
            first: u32::try_from(self.tokens.len()).unwrap_or(u32::MAX),
            indent: self.indent,
            number,
            last: number,
        });
    }

    fn after_semicolon(&self) -> bool {
        let last = self.tokens.last().map(|token| token.span.range());
        let byte = last.and_then(|range| self.bytes.get(range)).unwrap_or(b"");
        self.depth == 0 && byte == b";"
    }

    fn word(&mut self) -> TokenClass {
        let start = self.at;
        while is_word(self.byte(0)) {
            self.at += 1;
        }
        let word = self.bytes.get(start..self.at).unwrap_or_default();
        let quoted = matches!(self.byte(0), b'"' | b'\'') && word.len() <= 2;
        if quoted && word.iter().all(|byte| b"rRbBuUfFtT".contains(byte)) {
            return self.string();
        }
        if is_keyword(word) {
            TokenClass::Keyword
        } else {
            TokenClass::Word
        }
    }

    /// A string from its opening quote on.
    fn string(&mut self) -> TokenClass {
        let quote = self.byte(0);
        let triple = self.byte(1) == quote && self.byte(2) == quote;
        self.at += if triple { 3 } else { 1 };
        let start = self.at;
        let spaces = self.inside_string(quote, triple);
        let inside = self.at.saturating_sub(start);
        if self.byte(0) == quote {
            self.at += if triple { 3 } else { 1 };
        }
        self.at = self.at.min(self.bytes.len());
        if spaces || (triple && inside > 0) {
            TokenClass::Prose
        } else {
            TokenClass::Key
        }
    }

    /// The inside of a string; whether there are spaces in it.
    fn inside_string(&mut self, quote: u8, triple: bool) -> bool {
        let mut spaces = false;
        while let Some(byte) = self.bytes.get(self.at).copied() {
            match byte {
                b'\\' => {
                    self.at += 1;
                    self.within_string();
                }
                b'\n' | b'\r' if !triple => break,
                _ if byte == quote && (!triple || self.closes(quote)) => break,
                b' ' => {
                    spaces = true;
                    self.at += 1;
                }
                _ => self.within_string(),
            }
        }
        spaces
    }

    fn closes(&self, quote: u8) -> bool {
        self.byte(1) == quote && self.byte(2) == quote
    }

    /// One byte of a string, or a line end in it.
    fn within_string(&mut self) {
        if matches!(self.byte(0), b'\n' | b'\r') {
            self.newline();
        } else {
            self.at += 1;
        }
    }

    fn number_literal(&mut self) -> TokenClass {
        loop {
            let byte = self.byte(0);
            let signed = matches!(byte, b'+' | b'-')
                && matches!(self.bytes.get(self.at.wrapping_sub(1)), Some(b'e' | b'E'))
                && self.byte(1).is_ascii_digit();
            if !(is_word(byte) || byte == b'.' || signed) {
                return TokenClass::Number;
            }
            self.at += 1;
        }
    }

    fn punct(&mut self, first: u8) -> TokenClass {
        match first {
            b'(' | b'[' | b'{' => self.depth += 1,
            b')' | b']' | b'}' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        let pair = is_pair([first, self.byte(1)]);
        self.at += 1 + usize::from(pair);
        TokenClass::Punct
    }
}

/// Whether two bytes are one operator.
const fn is_pair(two: [u8; 2]) -> bool {
    matches!(
        &two,
        b"=="
            | b"!="
            | b"<="
            | b">="
            | b"->"
            | b":="
            | b"**"
            | b"//"
            | b"<<"
            | b">>"
            | b"+="
            | b"-="
            | b"*="
            | b"/="
            | b"%="
            | b"&="
            | b"|="
            | b"^="
            | b"@="
    )
}

/// Bytes of names; every byte of a character beyond ASCII counts.
const fn is_word(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric() || byte >= 0x80
}

/// Words of the language, and those that stand in every method.
fn is_keyword(word: &[u8]) -> bool {
    match word.len() {
        2 => matches!(word, b"if" | b"in" | b"is" | b"as" | b"or"),
        3 => matches!(
            word,
            b"def" | b"for" | b"not" | b"and" | b"try" | b"del" | b"cls"
        ),
        4 => matches!(
            word,
            b"self" | b"None" | b"True" | b"else" | b"elif" | b"from" | b"with" | b"pass"
        ),
        5 => matches!(
            word,
            b"False" | b"raise" | b"class" | b"while" | b"break" | b"yield" | b"async" | b"await"
        ),
        6 => matches!(
            word,
            b"return" | b"import" | b"except" | b"lambda" | b"global" | b"assert"
        ),
        7 => word == b"finally",
        8 => matches!(word, b"continue" | b"nonlocal"),
        _ => false,
    }
}
