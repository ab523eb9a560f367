//! Marks names by what they are to their function: parameters and variables, callees, attributes.
//!
//! An approximation from tokens: what it does not recognise stays a plain name.

use coalesce_model::{
    Outline, OutlineToken, TokenClass,
    outline::{
        locals::{self, Names, Neighbours},
        marks,
    },
};
use rustc_hash::FxHashSet;

/// Tokens that a pattern may have at most, as far as this looks.
const PATTERN: usize = 32;

/// Marks all tokens of `outline`.
pub fn mark(text: &str, outline: &mut Outline) {
    locals::mark::<RustNames>(text, outline);
}

/// How Rust says what names are.
struct RustNames;

impl Names for RustNames {
    const MEMBER: &[&str] = &[".", "::"];
    const CALL: &[&str] = &["(", "!"];
    const FREE: u8 = marks::ATTRIBUTE;

    fn mark_more(_: &mut OutlineToken, _: Neighbours<'_>, _: usize) {}

    fn parameters_begin(text: &str, head: &[OutlineToken]) -> Option<usize> {
        // Attributes and visibilities before the keyword have brackets, too, and so have bounds of parameters.
        let keyword = head.iter().position(|token| token.word(text) == "fn");
        let mut depth = 0_usize;
        let behind = keyword.map_or(0, |keyword| keyword + 1);
        let mut rest = head.iter().enumerate().skip(behind);
        let found = rest.find(|(_, token)| {
            match token.word(text) {
                "<" => depth += 1,
                ">" => depth = depth.saturating_sub(1),
                word => return word == "(" && depth == 0,
            }
            false
        });
        found.map(|(at, _)| at)
    }

    fn is_parameter(token: OutlineToken, words: Neighbours<'_>, _: usize) -> bool {
        words.after == ":" && is_variable(token, words.own)
    }

    fn variables<'t>(text: &'t str, body: &[OutlineToken], names: &mut FxHashSet<&'t str>) {
        variables(text, body, names);
    }
}

fn is_variable(token: OutlineToken, own: &str) -> bool {
    token.class == TokenClass::Word
        && token.marks & (marks::ATTRIBUTE | marks::CALLEE) == 0
        && own.starts_with(|first: char| first.is_lowercase() || first == '_')
}

/// Names that the body binds with `let`, `for`, closures and match arms.
fn variables<'t>(text: &'t str, body: &[OutlineToken], names: &mut FxHashSet<&'t str>) {
    for (at, token) in body.iter().enumerate() {
        let rest = body.get(at + 1..).unwrap_or_default();
        match token.word(text) {
            "let" => bind(text, rest, &["=", ";", ":", "else"], names),
            "for" => bind(text, rest, &["in", "{", "<"], names),
            "|" if opens_closure(text, body, at) => bind(text, rest, &["|"], names),
            "=>" => {
                let arm = body.get(at.saturating_sub(PATTERN)..at).unwrap_or_default();
                let starts =
                    |token: &OutlineToken| matches!(token.word(text), "{" | "}" | ";" | "=>");
                let from = arm.iter().rposition(starts).map_or(0, |at| at + 1);
                let pattern = arm.get(from..).unwrap_or_default();
                let end = pattern
                    .iter()
                    .position(|token| token.word(text) == "if")
                    .unwrap_or(pattern.len());
                bind(text, pattern.get(..end).unwrap_or_default(), &[], names);
            }
            _ => {}
        }
    }
}

fn opens_closure(text: &str, body: &[OutlineToken], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| body.get(before));
    let before = before.map_or("", |token| token.word(text));
    matches!(
        before,
        "(" | "," | "=" | "move" | "return" | "{" | "=>" | ":"
    )
}

/// The names of a pattern that ends before one of `ends`.
fn bind<'t>(
    text: &'t str,
    pattern: &[OutlineToken],
    ends: &[&str],
    names: &mut FxHashSet<&'t str>,
) {
    for token in pattern.iter().take(PATTERN) {
        let own = token.word(text);
        if ends.contains(&own) {
            return;
        }
        if is_variable(*token, own) {
            names.insert(own);
        }
    }
}
