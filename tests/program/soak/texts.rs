//! Texts that nobody wrote, made of such as somebody did.

use super::Luck;

/// A text that somebody else might have written: bits turned, pieces cut out, doubled, exchanged.
pub(super) fn mutated(luck: &mut Luck, text: &[u8], words: &[&str]) -> Vec<u8> {
    let mut bytes = text.to_vec();
    for _ in 0..=luck.below(4) {
        let (at, length) = (luck.below(bytes.len() + 1), luck.below(40));
        let end = (at + length).min(bytes.len());
        match luck.below(6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << luck.below(8),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let piece = bytes[at..end].to_vec();
                let to = luck.below(bytes.len() + 1);
                drop(bytes.splice(to..to, piece));
            }
            3 => {
                let word = luck.pick(words).repeat(1 + luck.below(3));
                drop(bytes.splice(at..at, word.into_bytes()));
            }
            4 => bytes.truncate(at),
            _ => {
                let word = luck.pick(words).repeat(300 + luck.below(2_000));
                drop(bytes.splice(at..end, word.into_bytes()));
            }
        }
    }
    bytes
}

pub(super) const WORDS: [&str; 40] = [
    "(",
    "[",
    "{",
    "}",
    "\"",
    "'",
    "\"\"\"",
    "#",
    "if ",
    "lambda: ",
    ".a",
    "::a",
    "use a::{",
    "mod m{",
    "\n",
    "    ",
    "\t",
    "\r\n",
    "\u{feff}",
    "\u{202e}",
    "\0",
    "..",
    "/",
    "\\",
    "import a.b\n",
    "from . import *\n",
    "a",
    "é",
    "=",
    "[[move]]\n",
    "from = \"p.kernels\"\n",
    "to = \"p\"\n",
    "-1",
    "99999999999999999999",
    "null",
    "[]",
    "#[path = \"a.rs\"] mod x;\n",
    "match ",
    "&",
    "f\"{",
];
