//! The one place where text goes to the parser, and so the one place that says how deep it may be.
//!
//! Parser, visitors and destructors recurse: one level a bracket, an operator, an attribute, a call
//! or a keyword in a row. A text that nests deeper than the interpreter itself takes gives what an
//! empty one gives, and the reason.

mod bodies;

use bodies::Bodies;
use coalesce_model::{ByteSpan, texts::start_of_text};
use ruff_python_ast::{Mod, Stmt};
use ruff_python_parser::{Mode, ParseOptions, Parsed, parse_unchecked};

/// Brackets within brackets; the interpreter takes 200.
const BRACKETS: usize = 200;
/// Blocks within blocks; the interpreter takes 100.
const BLOCKS: usize = 100;
/// Operators, attributes, calls, subscripts and keywords of one statement that no comma parts.
const CHAIN: usize = 2_000;
/// Names, operators and strings of one text: its tree takes up to 200 bytes for each.
const TOKENS: usize = 3_000_000;

/// Which bytes a name goes on with.
const IN_WORDS: [bool; 256] = {
    let mut inside = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        inside[byte] =
            byte >= 0x80 || byte == b'_' as usize || (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    inside
};

/// The tree of a text, as far as the parser could make one of it.
pub(crate) fn parse(text: &str, mode: Mode) -> Parsed<Mod> {
    parse_or_say(text, mode).0
}

/// A whole file, and where its text begins: behind a byte-order mark.
pub(crate) fn parse_module(text: &str) -> (Parsed<Mod>, u32) {
    let start = start_of_text(text);
    let source = text.get(start as usize..).unwrap_or_default();
    (parse(source, Mode::Module), start)
}

/// The statements of a whole file.
pub(crate) fn statements(parsed: &Parsed<Mod>) -> &[Stmt] {
    match parsed.syntax() {
        Mod::Module(module) => &module.body,
        Mod::Expression(_) => &[],
    }
}

/// The same, with where and why it was not parsed at all.
pub(crate) fn parse_or_say(text: &str, mode: Mode) -> (Parsed<Mod>, Option<(ByteSpan, String)>) {
    let problem = Scan::new(text, None).too_deep();
    let text = if problem.is_some() { "" } else { text };
    (parse_unchecked(text, ParseOptions::from(mode)), problem)
}

/// The same of a module without the bodies of functions that no import depends on. All other nodes are where they are
/// in the whole text; what is wrong inside of such a body is not seen.
pub(crate) fn parse_outside_bodies(text: &str) -> (Parsed<Mod>, Option<(ByteSpan, String)>) {
    let mut scan = Scan::new(text, Bodies::new(text));
    let problem = scan.too_deep();
    let shorter = scan.bodies.take().and_then(|bodies| bodies.left_out(text));
    let text = match (&problem, &shorter) {
        (Some(_), _) => "",
        (None, shorter) => shorter.as_deref().unwrap_or(text),
    };
    let parsed = parse_unchecked(text, ParseOptions::from(Mode::Module));
    (parsed, problem)
}

/// One pass over the bytes of a text.
struct Scan<'t> {
    bytes: &'t [u8],
    at: usize,
    /// Of each open bracket, and of the statement, how far its expression has grown.
    chains: Vec<usize>,
    /// Columns of the blocks that are open.
    blocks: Vec<usize>,
    /// What was passed, but numbers.
    tokens: usize,
    /// Bodies of functions, where somebody wants to know them.
    bodies: Option<Bodies>,
}

impl<'t> Scan<'t> {
    fn new(text: &'t str, bodies: Option<Bodies>) -> Self {
        Self {
            bytes: text.as_bytes(),
            at: 0,
            chains: vec![0],
            blocks: Vec::new(),
            tokens: 0,
            bodies,
        }
    }

    /// Where and why the text is not parsed.
    fn too_deep(&mut self) -> Option<(ByteSpan, String)> {
        let what = self.run()?;
        let at = u32::try_from(self.at.min(self.bytes.len())).unwrap_or(u32::MAX);
        Some((ByteSpan::empty(at), what))
    }

    /// What is too deep; `None` at the end of the text.
    ///
    /// Every byte of every text comes by here, so what most bytes are is asked first, and what is
    /// too deep only where something grew.
    fn run(&mut self) -> Option<String> {
        self.indentation();
        while let Some(byte) = self.bytes.get(self.at).copied() {
            let start = self.at;
            self.at += 1;
            let grew = match byte {
                b' ' | b'\t' | b'\r' | b'\x0c' | b'0'..=b'9' => continue,
                b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => self.word(start),
                b'\n' if self.chains.len() > 1 => {
                    self.line_in_brackets();
                    continue;
                }
                _ => self.mark(byte, start),
            };
            self.tokens += usize::from(byte != b'\n');
            if (grew || self.tokens > TOKENS)
                && let Some(what) = self.too_much(grew, start)
            {
                return Some(what);
            }
        }
        self.line_end(self.bytes.len());
        self.bodies.take_if(|_| self.chains.len() > 1);
        None
    }

    /// A line that begins no further in than the function around it closes brackets, or nobody has closed them: where
    /// the parser goes on after that, this pass does not know.
    fn line_in_brackets(&mut self) {
        let Some(column) = self.bodies.as_ref().and_then(Bodies::column) else {
            return;
        };
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let first = rest.iter().take(column + 1).find(|byte| **byte != b' ');
        if !matches!(first, None | Some(b')' | b']' | b'}' | b'#' | b'\n')) {
            self.bodies = None;
        }
    }

    /// A line has ended that no bracket holds together with the next one.
    fn line_end(&mut self, at: usize) {
        if let Some(bodies) = &mut self.bodies {
            bodies.line_end(at);
        }
    }

    /// Passes over what begins with a mark or ends a line; whether something grew by it.
    fn mark(&mut self, byte: u8, start: usize) -> bool {
        let grows = match byte {
            b'#' => {
                self.comment();
                0
            }
            b'"' | b'\'' => self.string(byte, start),
            b'(' | b'[' | b'{' => return self.opens(),
            b')' | b']' | b'}' if self.chains.len() > 1 => return self.closes(),
            b',' | b';' => {
                self.restart();
                0
            }
            b'\\' => {
                self.backslash();
                0
            }
            b'\n' => return self.line_feed(start),
            b'!'..=b'/' | b':'..=b'@' | b'^' | b'|' | b'~' => 1,
            _ => 0,
        };
        self.grow(grows);
        grows > 0
    }

    fn opens(&mut self) -> bool {
        self.grow(1);
        self.chains.push(0);
        true
    }

    fn closes(&mut self) -> bool {
        self.chains.pop();
        true
    }

    /// Before anything but the end of a line it is a mistake.
    fn backslash(&mut self) {
        let ends = self.bytes.get(self.at) == Some(&b'\n');
        self.bodies.take_if(|_| !ends);
        self.at += 1;
    }

    fn line_feed(&mut self, start: usize) -> bool {
        self.restart();
        self.line_end(start);
        self.indentation();
        true
    }

    /// What is too much for the parser, where something grew or there are too many tokens, with the token
    /// that begins at `start`.
    fn too_much(&mut self, grew: bool, start: usize) -> Option<String> {
        let what = if self.tokens > TOKENS {
            "too long to be parsed: more than 3,000,000 tokens".to_owned()
        } else {
            let over = self.over().filter(|_| grew)?;
            format!("nested too deeply to be parsed: {over}")
        };
        self.at = start;
        Some(what)
    }

    fn over(&self) -> Option<String> {
        let chain = self.chains.last().copied().unwrap_or_default();
        if self.chains.len() > BRACKETS + 1 {
            Some(format!("more than {BRACKETS} brackets within each other"))
        } else if self.blocks.len() > BLOCKS {
            Some(format!("more than {BLOCKS} blocks within each other"))
        } else if chain > CHAIN {
            Some(format!(
                "more than {CHAIN} operators or attributes in one expression"
            ))
        } else {
            None
        }
    }

    fn grow(&mut self, by: usize) {
        if let Some(chain) = self.chains.last_mut() {
            *chain += by;
        }
    }

    fn restart(&mut self) {
        if let Some(chain) = self.chains.last_mut() {
            *chain = 0;
        }
    }

    fn comment(&mut self) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    }

    /// Passes over a string, whose opening quote is at `start`; how many braces open in it, if it is
    /// one that holds expressions.
    fn string(&mut self, quote: u8, start: usize) -> usize {
        let triple = self.bytes.get(self.at..self.at + 2) == Some(&[quote, quote]);
        self.at += if triple { 2 } else { 0 };
        let first = self.at;
        let formatted = self.is_formatted(start);
        let braces = match triple && !formatted {
            true => self.long_string(quote),
            false => self.short_string(quote, triple, formatted),
        };
        if let Some(bodies) = &mut self.bodies {
            let quotes = if triple { 3 } else { 1 };
            let last = self.at.min(self.bytes.len()).saturating_sub(quotes);
            let text = self.bytes.get(first..last).unwrap_or_default();
            bodies.string(first, text, formatted);
        }
        braces
    }

    /// Whether the string whose opening quote is at `start` holds expressions.
    fn is_formatted(&self, start: usize) -> bool {
        let prefix = self.bytes.get(start.saturating_sub(2)..start);
        let letter = |byte: &u8| matches!(byte, b'f' | b'F' | b't' | b'T');
        match prefix.unwrap_or_default() {
            [first, b'r' | b'R'] => letter(first),
            [.., last] => letter(last),
            [] => false,
        }
    }

    /// Passes over the rest of a string of one line, or of one that holds expressions.
    fn short_string(&mut self, quote: u8, triple: bool, formatted: bool) -> usize {
        let mut braces = 0;
        while let Some(byte) = self.bytes.get(self.at).copied() {
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'{' => braces += usize::from(formatted),
                b'\n' if !triple => {
                    // Nobody has closed it.
                    self.bodies = None;
                    break;
                }
                byte if byte == quote && self.ends_string(quote, triple) => break,
                _ => {}
            }
        }
        braces
    }

    /// Whether the quote that was passed ends a string, with those that go with it.
    fn ends_string(&mut self, quote: u8, triple: bool) -> bool {
        let ends = !triple || self.bytes.get(self.at..self.at + 2) == Some(&[quote, quote]);
        self.at += if triple && ends { 2 } else { 0 };
        ends
    }

    /// Passes over the rest of a string in three quotes that holds no expressions, mostly a docstring. No braces open in it.
    fn long_string(&mut self, quote: u8) -> usize {
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            let Some(next) = memchr::memchr2(quote, b'\\', rest) else {
                self.at = self.bytes.len();
                return 0;
            };
            match rest.get(next..next + 3) {
                Some(found) if found == [quote; 3] => {
                    self.at += next + 3;
                    return 0;
                }
                _ if rest.get(next) == Some(&b'\\') => self.at += next + 2,
                _ => self.at += next + 1,
            }
        }
    }

    /// Passes over a name; whether it is a keyword that an expression grows by.
    fn word(&mut self, start: usize) -> bool {
        let rest = self.bytes.get(start..).unwrap_or_default();
        let length = rest
            .iter()
            .position(|byte| !IN_WORDS[usize::from(*byte)])
            .unwrap_or(rest.len());
        self.at = start + length;
        let grows = grows_expression(rest.get(..length).unwrap_or_default());
        self.grow(usize::from(grows));
        grows
    }

    /// At the start of a line: which blocks it ends or opens. Lines without code do neither.
    fn indentation(&mut self) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let blank = |byte: &u8| !matches!(byte, b' ' | b'\t' | b'\x0c');
        let column = rest.iter().position(blank).unwrap_or(rest.len());
        let (blanks, code) = rest.split_at_checked(column).unwrap_or_default();
        if matches!(code.first(), None | Some(b'\n' | b'\r' | b'#')) {
            return;
        }
        // How wide a tab is depends on what stands before it.
        self.bodies
            .take_if(|_| blanks.iter().any(|blank| *blank != b' '));
        if let Some(bodies) = &mut self.bodies {
            bodies.line(code, column, self.at + column);
        }
        let open = self.blocks.len();
        while self.blocks.last().is_some_and(|block| *block > column) {
            self.blocks.pop();
        }
        if column > self.blocks.last().copied().unwrap_or_default() {
            // Further out than the last line, and in line with none before: which block goes on, the parser says.
            self.bodies.take_if(|_| self.blocks.len() < open);
            self.blocks.push(column);
        }
    }
}

/// Whether a word makes an expression deeper. Every word of a text comes by here: its length is looked at before its
/// letters.
fn grows_expression(word: &[u8]) -> bool {
    matches!(
        word,
        b"and"
            | b"async"
            | b"await"
            | b"else"
            | b"for"
            | b"if"
            | b"in"
            | b"is"
            | b"lambda"
            | b"not"
            | b"or"
            | b"yield"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_nest_is_seen() {
        let times = |text: &str, count: usize| text.repeat(count);
        for text in [
            format!("x = {}1{}", times("(", 201), times(")", 201)),
            format!("x = {}", times("[{(", 67)),
            format!("x = a{}", times(".b", 3_000)),
            format!("x = a{}", times("()", 3_000)),
            format!("x = a{}", times("[0]", 3_000)),
            format!("x = {}1", times("lambda: ", 3_000)),
            format!("x = {}1", times("not ", 3_000)),
            format!("x = {}1", times("-", 3_000)),
            format!("x = 1{}", times(" + 1", 3_000)),
            format!("x = 1{}", times(" if y else 1", 3_000)),
            format!("x = [1{}]", times(" for x in y", 3_000)),
            format!("x = 1{}", times(" \\\n + 1", 3_000)),
            format!("x = (1{})", times("\n + 1", 3_000)),
            format!("import a{}", times(".a", 40_000)),
            format!("x = {}", times("f\"{", 3_000)),
            format!("x = f'{}1{}'", times("{", 3_000), times("}", 3_000)),
            // The last line is in a hundred and one blocks.
            (0..102)
                .map(|level| format!("{}if x:\n", times(" ", level)))
                .collect(),
            format!("x: {}1", times("await ", 3_000)),
            format!("x: {}", times("é.", 3_000)),
        ] {
            assert!(
                Scan::new(&text, None).too_deep().is_some(),
                "{}…",
                text.get(..30).unwrap_or_default()
            );
        }
    }

    #[test]
    fn long_texts_that_do_not_nest_are_parsed() {
        let times = |text: &str, count: usize| text.repeat(count);
        for text in [
            times("x = a.b + c.d()\n", 5_000),
            format!("x = [{}]", times("a.b(), ", 5_000)),
            format!("x = ({})", times("'((((((' ", 5_000)),
            format!("\"\"\"{}\"\"\"\n", times("a.b.c\n", 5_000)),
            times("# ((((((\n", 5_000),
            times("def f():\n    if x:\n        y\n", 5_000),
            times("x = '\\'(((('\n", 5_000),
            times("x = 1; y = 2;", 5_000),
            times("x = f'{a}'\n", 5_000),
        ] {
            assert_eq!(
                Scan::new(&text, None).too_deep(),
                None,
                "{}…",
                text.get(..30).unwrap_or_default()
            );
        }
    }
}
