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

/// Tokens that what `for` and `lambda` bind may have at most, as far as this looks.
const PATTERN: usize = 64;

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
        free: marks::ATTRIBUTE | marks::KEYWORD_ARGUMENT,
    };
    locals::mark(text, outline, declares);
}

fn word<'t>(text: &'t str, token: &OutlineToken) -> &'t str {
    token.span.of(text).unwrap_or("")
}

/// What the tokens before and after say.
fn neighbours(text: &str, tokens: &mut [OutlineToken]) {
    let mut before = "";
    let mut own = tokens.first().map_or("", |first| word(text, first));
    let mut depth = 0usize;
    for at in 0..tokens.len() {
        let after = tokens.get(at + 1).map_or("", |next| word(text, next));
        let Some(token) = tokens.get_mut(at) else {
            return;
        };
        if token.has(marks::STATEMENT) {
            depth = 0;
        }
        match token.class {
            TokenClass::Word => {
                if before == "." {
                    token.marks |= marks::ATTRIBUTE;
                }
                if after == "(" {
                    token.marks |= marks::CALLEE;
                }
                if depth > 0 && after == "=" && matches!(before, "(" | ",") {
                    token.marks |= marks::KEYWORD_ARGUMENT;
                }
            }
            TokenClass::Punct => match own {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            },
            _ => {}
        }
        (before, own) = (own, after);
    }
}

/// Names in the brackets after the function's name.
fn parameters<'t>(text: &'t str, unit: &OutlineUnit, tokens: &mut [OutlineToken]) -> Vec<&'t str> {
    let mut names = Vec::new();
    let head = tokens
        .get_mut(unit.first as usize..unit.body as usize)
        .unwrap_or_default();
    let Some(start) = head.iter().position(|token| token.has(marks::DEFINED)) else {
        return names;
    };
    let (mut depth, mut before) = (0usize, "");
    for token in head.get_mut(start + 1..).unwrap_or_default() {
        let own = word(text, token);
        match own {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return names;
                }
            }
            _ if depth == 1
                && token.class == TokenClass::Word
                && matches!(before, "(" | "," | "*" | "**") =>
            {
                token.marks |= marks::PARAMETER | marks::LOCAL;
                token.marks &= !marks::KEYWORD_ARGUMENT;
                names.push(own);
            }
            _ => {}
        }
        before = own;
    }
    names
}

/// Names that the body assigns, loops over or binds with `as`.
fn variables<'t>(
    text: &'t str,
    unit: &OutlineUnit,
    tokens: &[OutlineToken],
    names: &mut FxHashSet<&'t str>,
) {
    let body = tokens
        .get(unit.body as usize..unit.end as usize)
        .unwrap_or_default();
    for (at, token) in body.iter().enumerate() {
        if token.has(marks::STATEMENT) {
            targets(text, body.get(at..).unwrap_or_default(), names);
        }
        let next = || {
            body.get(at + 1)
                .filter(|next| next.class == TokenClass::Word)
        };
        // Most tokens are names, and bind nothing.
        if !matches!(token.class, TokenClass::Keyword | TokenClass::Punct) {
            continue;
        }
        match word(text, token) {
            "for" => {
                let bound = body.get(at + 1..).unwrap_or_default().iter().take(PATTERN);
                let bound = bound.take_while(|token| word(text, token) != "in");
                let plain = bound.filter(|token| token.class == TokenClass::Word);
                names.extend(plain.take(16).map(|token| word(text, token)));
            }
            "as" if !token.has(marks::IMPORT) => {
                names.extend(next().map(|token| word(text, token)));
            }
            ":=" => {
                let before = at.checked_sub(1).and_then(|before| body.get(before));
                names.extend(before.map(|token| word(text, token)));
            }
            "lambda" => {
                let bound = body.get(at + 1..).unwrap_or_default().iter().take(PATTERN);
                let bound = bound.take_while(|token| word(text, token) != ":");
                let plain = bound.filter(|token| token.class == TokenClass::Word);
                names.extend(plain.take(8).map(|token| word(text, token)));
            }
            _ => {}
        }
    }
}

/// The targets of an assignment: `a = …`, `a, (b, *c) = …`, `a: T = …`, `a = b = …`, `a += …`.
fn targets<'t>(text: &'t str, statement: &[OutlineToken], names: &mut FxHashSet<&'t str>) {
    let mut found: [&str; 16] = [""; 16];
    let mut count = 0;
    for (at, token) in statement.iter().enumerate().take(48) {
        if at > 0 && token.has(marks::STATEMENT) {
            return;
        }
        let own = word(text, token);
        match own {
            "=" | "+=" | "-=" | "*=" | "/=" => {
                names.extend(found.get(..count).unwrap_or_default().iter().copied());
                count = 0;
            }
            ":" if at == 1 => {
                names.extend(found.get(..count).unwrap_or_default().iter().copied());
                return;
            }
            "," | "(" | ")" | "*" | "[" | "]" => {}
            _ if token.class == TokenClass::Word && !token.has(marks::CALLEE) => {
                if let Some(slot) = found.get_mut(count) {
                    *slot = own;
                    count += 1;
                }
            }
            _ => return,
        }
    }
}
