//! Which names a function declares: its parameters and what it says with a type, `var` or `let`.

use std::collections::BTreeSet;

use coalesce_model::{
    Outline, OutlineToken, OutlineUnit, TokenClass, UnitKind,
    outline::{brackets, marks},
};

/// Marks parameters where they are declared, and local names wherever they stand in their function.
pub fn mark(text: &str, outline: &mut Outline) {
    let functions: Vec<OutlineUnit> = outline
        .units
        .iter()
        .filter(|unit| matches!(unit.kind, UnitKind::Function | UnitKind::Method))
        .cloned()
        .collect();
    for unit in functions {
        let (first, body, end) = (unit.first as usize, unit.body as usize, unit.end as usize);
        let head = outline.tokens.get_mut(first..body).unwrap_or_default();
        let parameters = parameters(text, head);
        let mut names = names_at(text, head, &parameters);
        for at in parameters {
            if let Some(token) = head.get_mut(at) {
                token.marks |= marks::PARAMETER;
            }
        }
        let inside = outline.tokens.get_mut(body..end).unwrap_or_default();
        names.extend(names_at(text, inside, &declared(text, inside)));
        mark_uses(text, inside, &names);
    }
}

/// The words of these tokens.
fn names_at<'t>(text: &'t str, tokens: &[OutlineToken], places: &[usize]) -> BTreeSet<&'t str> {
    let tokens = places.iter().filter_map(|at| tokens.get(*at));
    tokens.filter_map(|token| token.span.of(text)).collect()
}

fn mark_uses(text: &str, tokens: &mut [OutlineToken], names: &BTreeSet<&str>) {
    let mut before = "";
    let mut behind_member = Vec::with_capacity(tokens.len());
    for token in tokens.iter() {
        behind_member.push(matches!(before, "." | "->" | "::"));
        before = token.span.of(text).unwrap_or("");
    }
    for (token, is_member) in tokens.iter_mut().zip(behind_member) {
        let word = token.span.of(text).unwrap_or("");
        if token.class != TokenClass::Word {
            continue;
        }
        if is_member {
            token.marks |= marks::ATTRIBUTE;
        } else if names.contains(word) {
            token.marks |= marks::LOCAL;
        }
    }
}

/// Names in the parentheses of a head that stand before a comma, the end, an attribute or a default; in
/// WGSL before a colon.
fn parameters(text: &str, head: &[OutlineToken]) -> Vec<usize> {
    let word = |at: usize| {
        head.get(at)
            .and_then(|token| token.span.of(text))
            .unwrap_or("")
    };
    let (mut depth, mut found) = (0_usize, Vec::new());
    for (at, token) in head.iter().enumerate() {
        match word(at) {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            _ => {}
        }
        let follows = matches!(word(at + 1), "," | ")" | "[" | "=" | ":");
        let typed = at > 0 && !matches!(word(at - 1), "." | "::" | "<");
        let alone = matches!(word(at.wrapping_sub(1)), "(" | ",") && word(at + 1) != ":";
        if depth == 1 && follows && typed && !alone && token.class == TokenClass::Word {
            found.push(at);
        }
    }
    found
}

/// Names that statements of a body declare.
fn declared(text: &str, body: &[OutlineToken]) -> Vec<usize> {
    let word = |at: usize| {
        body.get(at)
            .and_then(|token| token.span.of(text))
            .unwrap_or("")
    };
    let mut found = Vec::new();
    for (at, token) in body.iter().enumerate() {
        let begins_loop = at > 1 && word(at - 1) == "(" && word(at - 2) == "for";
        if token.has(marks::STATEMENT) && word(at) == "for" {
            continue;
        }
        if token.has(marks::STATEMENT) || begins_loop {
            declarators(&word, body, at, &mut found);
        }
    }
    found
}

/// Reads one declaration that begins at `at`: words of a type, then names parted by commas.
fn declarators<'t>(
    word: &impl Fn(usize) -> &'t str,
    body: &[OutlineToken],
    mut at: usize,
    found: &mut Vec<usize>,
) {
    let is_name = |at: usize| {
        body.get(at)
            .is_some_and(|token| token.class == TokenClass::Word)
    };
    let (mut words, mut angles) = (0, 0_usize);
    let limit = at + 24;
    while at < body.len() && at < limit {
        match word(at) {
            "return" | "if" | "while" | "else" | "switch" | "using" | "goto" | "case" | "#" => {
                return;
            }
            "<" if words > 0 => angles += 1,
            ">" => angles = angles.saturating_sub(1),
            ">>" => angles = angles.saturating_sub(2),
            _ if angles > 0 => {}
            "*" | "&" | "::" | "&&" => {}
            "," => {}
            _ if is_name(at) && words > 0 && ends_name(word(at + 1)) => {
                found.push(at);
                // Further names stand behind commas of no bracket.
                at = brackets::end_of_part(word, at + 1..body.len(), &[",", ";"]);
                if word(at) != "," {
                    return;
                }
            }
            _ if body.get(at).is_some_and(|token| {
                matches!(token.class, TokenClass::Word | TokenClass::Keyword)
            }) =>
            {
                words += 1;
            }
            _ => return,
        }
        at += 1;
    }
}

fn ends_name(next: &str) -> bool {
    matches!(next, "=" | ";" | "[" | "," | ":" | "{")
}
