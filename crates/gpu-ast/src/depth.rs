//! Which texts a parser that recurses is given. It and everything that walks its trees take one level of
//! the stack for each bracket, block, operator or call in a row; a text that nests further than people
//! write is refused, and the others are parsed on a stack that is large enough for what is left.
//!
//! It counts bytes and knows no strings, so that a text with ten thousand operators in one literal without
//! a comma or a semicolon is refused as well.

use crate::error::{AstError, line_of};

/// Brackets within brackets.
const BRACKETS: usize = 400;
/// Operators, dots, brackets and words in a row that no comma, semicolon or end of a statement parts.
const CHAIN: usize = 10_000;
/// Columns that a block may stand in.
const INDENTATION: usize = 2_000;
/// Bytes of stack: what `CHAIN` levels take, several times over.
const STACK: usize = 512 << 20;

/// Whether a text may be parsed.
pub fn check(text: &str) -> Result<(), AstError> {
    match too_deep_at(text.as_bytes()) {
        None => Ok(()),
        Some(at) => Err(AstError::TooDeep {
            line: line_of(text, at),
        }),
    }
}

fn too_deep_at(bytes: &[u8]) -> Option<usize> {
    let (mut brackets, mut chain, mut column) = (0_usize, 0_usize, Some(0_usize));
    // The byte before, and the last one that is no space.
    let (mut before, mut last) = (b'\n', b'\n');
    for (at, byte) in bytes.iter().copied().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => (brackets, chain) = (brackets + 1, chain + 1),
            b')' | b']' | b'}' => brackets = brackets.saturating_sub(1),
            b',' | b';' => chain = 0,
            b'\n' => {
                // A statement may go on after an operator, within brackets, and before `else`.
                let goes_on = brackets > 0 || is_operator(last) || last == b'}' || last == b'\\';
                chain = if goes_on { chain } else { 0 };
                column = Some(0);
            }
            _ if is_operator(byte) => chain += 1,
            _ => {}
        }
        column = match (column, byte) {
            (Some(column), b' ' | b'\t') => Some(column + 1),
            (Some(column), b'\n') => Some(column),
            (Some(column), _) if column > INDENTATION => return Some(at),
            _ => None,
        };
        chain += usize::from(byte.is_ascii_alphabetic() && !before.is_ascii_alphanumeric());
        if brackets > BRACKETS || chain > CHAIN {
            return Some(at);
        }
        before = byte;
        if !matches!(byte, b' ' | b'\t' | b'\r') {
            last = byte;
        }
    }
    None
}

fn is_operator(byte: u8) -> bool {
    matches!(
        byte,
        b'+' | b'-'
            | b'*'
            | b'/'
            | b'%'
            | b'&'
            | b'|'
            | b'^'
            | b'~'
            | b'!'
            | b'='
            | b'<'
            | b'>'
            | b'.'
            | b'?'
            | b'@'
            | b':'
    )
}

/// Runs something on a stack of its own, large enough for every text that was let through.
pub fn on_a_large_stack<T: Send>(job: impl FnOnce() -> T + Send) -> Result<T, std::io::Error> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        let answer = thread.spawn_scoped(scope, job)?.join();
        answer.map_err(|_| std::io::Error::other("the parser gave up"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_writes_is_refused() {
        for (text, fine) in [
            ("(".repeat(300), true),
            ("(".repeat(500), false),
            ("!".repeat(20_000), false),
            ("x = a\n".repeat(20_000), true),
            ("x.y(\n".repeat(500), false),
            ("a +\n".repeat(20_000), false),
            ("not ".repeat(20_000), false),
            ("if x {} else ".repeat(20_000), false),
            ("f(1, 2); ".repeat(20_000), true),
            (format!("{}x", " ".repeat(3_000)), false),
        ] {
            assert_eq!(check(&text).is_ok(), fine, "{}", &text[..20]);
        }
    }
}
