//! Marks names by what they are to their function: parameters and variables, callees, attributes.
//!
//! An approximation from tokens: what it does not recognise stays a plain name.

use coalesce_model::{
    Outline, OutlineToken, OutlineUnit, TokenClass,
    outline::{
        locals::{self, Declares},
        marks,
    },
};
use rustc_hash::FxHashSet;

/// Tokens that a pattern may have at most, as far as this looks.
const PATTERN: usize = 32;

/// Marks all tokens of `outline`.
pub fn mark(text: &str, outline: &mut Outline) {
    neighbours(text, &mut outline.tokens);
    let declares = Declares {
        parameters: |unit: &OutlineUnit, tokens: &mut [OutlineToken]| {
            parameters(text, unit, tokens)
        },
        variables: |unit: &OutlineUnit, tokens: &[OutlineToken], names: &mut FxHashSet<_>| {
            variables(text, unit, tokens, names);
        },
        free: marks::ATTRIBUTE,
    };
    locals::mark(text, outline, declares);
}

fn word<'t>(text: &'t str, token: &OutlineToken) -> &'t str {
    token.span.of(text).unwrap_or("")
}

/// What the tokens before and after say.
fn neighbours(text: &str, tokens: &mut [OutlineToken]) {
    let mut before = "";
    for at in 0..tokens.len() {
        let after = tokens.get(at + 1).map_or("", |next| word(text, next));
        let Some(token) = tokens.get_mut(at) else {
            return;
        };
        if token.class == TokenClass::Word {
            if matches!(before, "." | "::") {
                token.marks |= marks::ATTRIBUTE;
            }
            if matches!(after, "(" | "!") {
                token.marks |= marks::CALLEE;
            }
        }
        before = token.span.of(text).unwrap_or("");
    }
}

fn is_variable(token: &OutlineToken, own: &str) -> bool {
    token.class == TokenClass::Word
        && token.marks & (marks::ATTRIBUTE | marks::CALLEE) == 0
        && own.starts_with(|first: char| first.is_lowercase() || first == '_')
}

/// Names in the brackets after the function's name.
fn parameters<'t>(text: &'t str, unit: &OutlineUnit, tokens: &mut [OutlineToken]) -> Vec<&'t str> {
    let mut names = Vec::new();
    let head = unit.first as usize..unit.body as usize;
    let head = tokens.get_mut(head).unwrap_or_default();
    let start = head.iter().position(|token| word(text, token) == "(");
    let mut depth = 0usize;
    for at in start.unwrap_or(head.len())..head.len() {
        let declares = head.get(at + 1).is_some_and(|next| word(text, next) == ":");
        let Some(token) = head.get_mut(at) else {
            return names;
        };
        let own = word(text, token);
        match own {
            "(" | "[" => depth += 1,
            ")" | "]" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return names;
                }
            }
            _ if declares && depth >= 1 && is_variable(token, own) => {
                token.marks |= marks::PARAMETER | marks::LOCAL;
                names.push(own);
            }
            _ => {}
        }
    }
    names
}

/// Names that the body binds with `let`, `for`, closures and match arms.
fn variables<'t>(
    text: &'t str,
    unit: &OutlineUnit,
    tokens: &[OutlineToken],
    names: &mut FxHashSet<&'t str>,
) {
    let body = unit.body as usize..unit.end as usize;
    let body = tokens.get(body).unwrap_or_default();
    for (at, token) in body.iter().enumerate() {
        let rest = body.get(at + 1..).unwrap_or_default();
        match word(text, token) {
            "let" => bind(text, rest, &["=", ";", ":", "else"], names),
            "for" => bind(text, rest, &["in", "{", "<"], names),
            "|" if opens_closure(text, body, at) => bind(text, rest, &["|"], names),
            "=>" => {
                let arm = body.get(at.saturating_sub(PATTERN)..at).unwrap_or_default();
                let starts =
                    |token: &OutlineToken| matches!(word(text, token), "{" | "}" | ";" | "=>");
                let from = arm.iter().rposition(starts).map_or(0, |at| at + 1);
                let pattern = arm.get(from..).unwrap_or_default();
                let end = pattern
                    .iter()
                    .position(|token| word(text, token) == "if")
                    .unwrap_or(pattern.len());
                bind(text, pattern.get(..end).unwrap_or_default(), &[], names);
            }
            _ => {}
        }
    }
}

fn opens_closure(text: &str, body: &[OutlineToken], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| body.get(before));
    let before = before.map_or("", |token| word(text, token));
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
        let own = word(text, token);
        if ends.contains(&own) {
            return;
        }
        if is_variable(token, own) {
            names.insert(own);
        }
    }
}
