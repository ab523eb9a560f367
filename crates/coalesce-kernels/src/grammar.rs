//! How kernels are written, as far as others ask.

use coalesce_model::{
    Grammar, LanguageKind, Lexicon,
    grammar::{TokenRange, Tokens, braced_end},
};

use crate::{Kernels, is_program};

static LEXICON: Lexicon = Lexicon {
    overloads: true,
    for_devices: true,
    ..Lexicon::plain(LanguageKind::Kernel)
};

impl Grammar for Kernels {
    fn lexicon(&self) -> &'static Lexicon {
        &LEXICON
    }

    fn recognizes(&self, text: &str) -> bool {
        is_program(text)
    }

    fn statement_end(&self, tokens: &dyn Tokens, range: TokenRange) -> u32 {
        match tokens.word(range.0) {
            "#" => directive_end(tokens, range),
            keyword => braced_end(tokens, range, keyword),
        }
    }

    fn as_function(&self, statements: &str) -> String {
        format!("void snippet() {{\n{statements}\n}}\n")
    }
}

/// Where a directive ends: with its line, or with the first that no backslash goes on from.
fn directive_end(tokens: &dyn Tokens, (first, end): TokenRange) -> u32 {
    let begins_line = |at: &u32| {
        let before = tokens.bytes(at.saturating_sub(1));
        let (Some((_, before)), Some((own, _))) = (before, tokens.bytes(*at)) else {
            return true;
        };
        let mut lines = tokens.text().get(before..own).unwrap_or("").split('\n');
        let last = lines.next_back();
        last.is_some() && lines.any(|line| !line.trim_end().ends_with('\\'))
    };
    (first + 1..end).find(begins_line).unwrap_or(end)
}
