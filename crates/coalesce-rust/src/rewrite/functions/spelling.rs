//! Texts of types and names, read and written anew.

use std::collections::BTreeSet;

use coalesce_model::ByteSpan;

use crate::lexer::{self, TokenKind};

/// The names and lifetimes in a text.
pub(super) fn words(text: &str) -> BTreeSet<String> {
    let whole = ByteSpan::from_range(0..text.len());
    let tokens = lexer::tokens(text, whole);
    let tokens = tokens
        .iter()
        .filter(|token| matches!(token.kind, TokenKind::Ident | TokenKind::Lifetime));
    tokens
        .filter_map(|token| token.span.of(text).map(str::to_owned))
        .collect()
}

/// A type without the name of a lifetime.
pub(super) fn without_name(text: &str, lifetime: &str) -> String {
    let whole = ByteSpan::from_range(0..text.len());
    let mut result = text.to_owned();
    for token in lexer::tokens(text, whole).iter().rev() {
        if token.kind == TokenKind::Lifetime && token.span.of(text) == Some(lifetime) {
            result.replace_range(token.span.range(), "'_");
        }
    }
    result
}

/// Whether a name is that of a type of whole numbers.
pub(super) fn is_integer(name: &str) -> bool {
    let size = name.strip_prefix(['i', 'u']);
    size.is_some_and(|size| size == "size" || size.parse::<u8>().is_ok())
}

/// `GpuManager` as `gpu_manager`
pub(super) fn snake(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut result = String::new();
    for (at, letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| letters.get(at));
        let after = letters.get(at + 1);
        let begins = letter.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase()
                    || before.is_ascii_digit()
                    || before.is_uppercase() && after.is_some_and(|after| after.is_lowercase())
            });
        if begins {
            result.push('_');
        }
        result.extend(letter.to_lowercase());
    }
    result
}
