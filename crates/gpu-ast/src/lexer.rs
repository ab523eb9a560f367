//! Where Rust's tokens stand, in a text that its parser has taken. It looks for their ends alone and judges nothing:
//! asking the parser's own tokens copies all of them.

use crate::build::Token;

/// What may begin with a byte.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ByteClass {
    Space,
    /// Also of numbers, where they do not begin one.
    Word,
    Digit,
    Quote,
    Apostrophe,
    Slash,
    /// Of characters beyond ASCII.
    Beyond,
    Punctuation,
}

const CLASSES: [ByteClass; 256] = {
    let mut classes = [ByteClass::Punctuation; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b' ' | 0x09..=0x0d => ByteClass::Space,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => ByteClass::Word,
            b'0'..=b'9' => ByteClass::Digit,
            b'"' => ByteClass::Quote,
            b'\'' => ByteClass::Apostrophe,
            b'/' => ByteClass::Slash,
            0x80.. => ByteClass::Beyond,
            _ => ByteClass::Punctuation,
        };
        byte += 1;
    }
    classes
};

/// The tokens of `text[at..]`, brackets among them. A comment of documentation is one, another is none.
pub struct Tokens<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
}

impl<'t> Tokens<'t> {
    pub fn new(text: &'t str, at: usize) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            at,
        }
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn class(&self) -> Option<ByteClass> {
        let byte = *self.bytes.get(self.at)?;
        Some(CLASSES[usize::from(byte)])
    }

    /// The character at this place, if it is one that parts tokens.
    fn wide_space(&self) -> Option<usize> {
        let letter = self.text.get(self.at..)?.chars().next()?;
        let is_space = letter.is_whitespace() || matches!(letter, '\u{200e}' | '\u{200f}');
        is_space.then(|| letter.len_utf8())
    }

    /// Goes to the next token. Its class, if there is one.
    fn skip(&mut self) -> Option<ByteClass> {
        loop {
            match self.class()? {
                ByteClass::Space => self.at += 1,
                ByteClass::Slash => match (self.peek(1), self.peek(2), self.peek(3)) {
                    (b'/', b'!', _) => return Some(ByteClass::Slash),
                    (b'/', b'/', next) if next != b'/' => return Some(ByteClass::Slash),
                    (b'/', ..) => self.line(),
                    (b'*', b'!', _) => return Some(ByteClass::Slash),
                    (b'*', b'*', next) if next != b'*' && next != b'/' => {
                        return Some(ByteClass::Slash);
                    }
                    (b'*', ..) => self.block(),
                    _ => return Some(ByteClass::Punctuation),
                },
                ByteClass::Beyond => match self.wide_space() {
                    Some(bytes) => self.at += bytes,
                    None => return Some(ByteClass::Word),
                },
                class => return Some(class),
            }
        }
    }

    /// To the end of the line.
    fn line(&mut self) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let end = rest.iter().position(|byte| *byte == b'\n');
        self.at += end.unwrap_or(rest.len());
    }

    /// Past a comment that others may be in.
    fn block(&mut self) {
        let mut depth = 0_usize;
        while self.at < self.bytes.len() {
            match (self.peek(0), self.peek(1)) {
                (b'/', b'*') => (depth, self.at) = (depth + 1, self.at + 2),
                (b'*', b'/') => {
                    (depth, self.at) = (depth.saturating_sub(1), self.at + 2);
                    if depth == 0 {
                        return;
                    }
                }
                _ => self.at += 1,
            }
        }
    }

    /// To the end of a word or of a literal's suffix.
    fn word(&mut self) {
        loop {
            match self.class() {
                Some(ByteClass::Word | ByteClass::Digit) => self.at += 1,
                Some(ByteClass::Beyond) if self.wide_space().is_none() => self.at += 1,
                _ => return,
            }
            // Within a character.
            while !self.text.is_char_boundary(self.at) {
                self.at += 1;
            }
        }
    }

    /// Past the next quotation mark that no backslash is before, and the suffix behind it.
    fn quoted(&mut self, mark: u8) {
        while let Some(byte) = self.bytes.get(self.at) {
            self.at += if *byte == b'\\' { 2 } else { 1 };
            if *byte == mark {
                break;
            }
        }
        self.word();
    }

    /// Past a raw string whose `#` and quotation mark are next.
    fn raw(&mut self) {
        let mut hashes = 0;
        while self.peek(hashes) == b'#' {
            hashes += 1;
        }
        self.at += hashes + 1;
        while self.at < self.bytes.len() {
            let is_end = self.peek(0) == b'"' && (1..=hashes).all(|next| self.peek(next) == b'#');
            self.at += 1;
            if is_end {
                self.at += hashes;
                break;
            }
        }
        self.word();
    }

    /// A word, or a literal that begins as one: `b"…"`, `br#"…"#`, `c"…"`, `r"…"`, `b'…'`; `r#word`.
    fn word_or_literal(&mut self) {
        let letters = match (self.peek(0), self.peek(1)) {
            (b'b' | b'c', b'r') => 2,
            (b'b' | b'c' | b'r', _) => 1,
            _ => return self.word(),
        };
        let is_raw = self.peek(letters - 1) == b'r';
        match self.peek(letters) {
            b'"' if !is_raw => self.past(letters + 1, b'"'),
            b'\'' if letters == 1 && self.peek(0) == b'b' => {
                // The byte itself may be a quotation mark.
                self.at += letters + 1;
                self.at += usize::from(self.peek(0) != b'\\');
                self.quoted(b'\'');
            }
            b'"' | b'#' if is_raw => {
                let hashes = (letters..).take_while(|next| self.peek(*next) == b'#');
                match self.peek(letters + hashes.count()) {
                    b'"' => {
                        self.at += letters;
                        self.raw();
                    }
                    _ if letters == 1 => {
                        self.at += 2;
                        self.word();
                    }
                    _ => self.word(),
                }
            }
            _ => self.word(),
        }
    }

    fn past(&mut self, bytes: usize, mark: u8) {
        self.at += bytes;
        self.quoted(mark);
    }

    /// A character, or the mark of a lifetime, whose name is a token of its own.
    fn apostrophe(&mut self) {
        let rest = self.text.get(self.at + 1..).unwrap_or_default();
        let Some(letter) = rest.chars().next() else {
            self.at += 1;
            return;
        };
        let behind = rest.as_bytes().get(letter.len_utf8());
        if letter == '\\' {
            self.past(1, b'\'');
        } else if behind == Some(&b'\'') {
            self.at += 1 + letter.len_utf8() + 1;
            self.word();
        } else {
            self.at += 1;
        }
    }

    fn digits(&mut self) {
        while matches!(self.peek(0), b'0'..=b'9' | b'_') {
            self.at += 1;
        }
    }

    fn number(&mut self) {
        if self.peek(0) == b'0' && matches!(self.peek(1), b'x' | b'o' | b'b') {
            return self.word();
        }
        self.digits();
        if self.peek(0) == b'.' {
            // Neither a range nor a field.
            let next = self
                .text
                .get(self.at + 1..)
                .and_then(|rest| rest.chars().next());
            if next.is_some_and(|next| next == '.' || next == '_' || next.is_alphabetic()) {
                return;
            }
            self.at += 1;
            self.digits();
        }
        if matches!(self.peek(0), b'e' | b'E') {
            let sign = usize::from(matches!(self.peek(1), b'+' | b'-'));
            let underscores = (1 + sign..).take_while(|next| self.peek(*next) == b'_');
            let first = 1 + sign + underscores.count();
            if self.peek(first).is_ascii_digit() {
                self.at += first;
                self.digits();
            }
        }
        self.word();
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let class = self.skip()?;
        let start = self.at;
        match class {
            ByteClass::Word | ByteClass::Beyond => self.word_or_literal(),
            ByteClass::Digit => self.number(),
            ByteClass::Quote => self.past(1, b'"'),
            ByteClass::Apostrophe => self.apostrophe(),
            ByteClass::Slash if self.peek(1) == b'/' => self.line(),
            ByteClass::Slash => self.block(),
            ByteClass::Punctuation | ByteClass::Space => self.at += 1,
        }
        let place = |at: usize| u32::try_from(at.min(self.bytes.len())).unwrap_or(u32::MAX);
        Some(Token {
            start: place(start),
            end: place(self.at),
        })
    }
}
