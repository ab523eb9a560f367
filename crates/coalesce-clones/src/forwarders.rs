//! Functions that only hand on what they were given, and modules of nothing else: they define
//! something, and it is nothing.

use coalesce_model::{TokenClass, UnitKind, outline::marks};

use crate::{
    align::{self, Statement},
    source::{SourceFile, Token, Unit},
};

/// Whether all that a file defines are functions that hand their arguments on.
#[must_use]
pub fn is_forwarder(file: &SourceFile) -> bool {
    let defined = || file.units.iter().filter(|unit| unit.parent == Some(0));
    let functions = || defined().filter(|unit| unit.kind == UnitKind::Function);
    let other = |unit: &Unit| {
        !matches!(
            unit.kind,
            UnitKind::Function | UnitKind::Imports | UnitKind::GuardedImport
        )
    };
    functions().next().is_some()
        && !defined().any(other)
        && functions().all(|unit| forwards(file, unit))
}

/// Tokens from which on a function is more than a way to another one.
const HANDED_ON: usize = 40;

/// Whether a body is one short expression of names alone: calls, fields and the function's own
/// arguments, without a condition, an operator, a number or a text. Where two are equal, both are
/// the short form of something else already: with one of them gone, its users would write the same
/// expression.
#[must_use]
pub fn is_delegation(file: &SourceFile, unit: &Unit) -> bool {
    let mut body = file.body_of(unit);
    let word = |token: &Token| token.span().of(&file.text).unwrap_or("");
    // Rust's body has its brackets, and what ends with one is told from a block by its `;`.
    if let [open, inside @ .., close] = body
        && (word(open), word(close)) == ("{", "}")
    {
        body = inside;
    }
    // What a call was for may be all that is said after it.
    let done = body.len().saturating_sub(5);
    if let (before, [ok, ..]) = body.split_at(done)
        && word(ok) == "Ok"
        && body
            .get(done + 1..)
            .unwrap_or_default()
            .iter()
            .all(|token| matches!(word(token), "(" | ")"))
    {
        body = before;
    }
    let later = body.iter().skip(1);
    if body.len() > HANDED_ON || later.clone().any(|token| token.has(marks::STATEMENT)) {
        return false;
    }
    let names_only = |token: &Token| match token.class {
        TokenClass::Word => true,
        TokenClass::Keyword => matches!(
            word(token),
            "return" | "await" | "self" | "Self" | "cls" | "super" | "mut" | "crate" | "move"
        ),
        TokenClass::Punct => matches!(
            word(token),
            "(" | ")"
                | ","
                | "."
                | "::"
                | "&"
                | "*"
                | "**"
                | "="
                | "?"
                | ";"
                | "{"
                | "}"
                | ":"
                | "|"
        ),
        TokenClass::Number | TokenClass::Key | TokenClass::Prose => false,
    };
    body.iter().all(names_only) && body.iter().any(|token| token.has(marks::CALLEE))
}

/// Whether a body only keeps what it gets under names of its own: `self.clock = site.clock()`, line
/// by line, without a condition, an operator, a number or a text. Objects that need the same are
/// wired the same; there is nothing in it that could be wrong in one copy alone.
#[must_use]
pub fn is_wiring(file: &SourceFile, unit: &Unit) -> bool {
    let word = |token: &Token| token.span().of(&file.text).unwrap_or("");
    let body = file.body_of(unit);
    let starts: Vec<usize> = (0..body.len())
        .filter(|at| {
            body.get(*at)
                .is_some_and(|token| token.has(marks::STATEMENT))
        })
        .collect();
    let at = |place: usize| body.get(place).map_or("", word);
    let keeps = |start: &usize| match at(*start) {
        "super" => true,
        "self" => at(start + 1) == "." && matches!(at(start + 3), "=" | ":"),
        _ => false,
    };
    let kept = starts.iter().all(keeps);
    let plain = |token: &Token| match token.class {
        TokenClass::Word => true,
        TokenClass::Keyword => matches!(word(token), "self" | "super" | "cls" | "None"),
        TokenClass::Punct => matches!(
            word(token),
            "(" | ")" | "," | "." | "=" | ":" | "[" | "]" | "|"
        ),
        TokenClass::Number | TokenClass::Key | TokenClass::Prose => false,
    };
    kept && !starts.is_empty() && body.iter().all(plain)
}

/// Whether a function does nothing but call another one with its own arguments; a warning and an
/// import before that are no work.
fn forwards(file: &SourceFile, unit: &Unit) -> bool {
    let statements = align::statements(file, unit);
    let mut work = statements
        .iter()
        .filter(|statement| !is_preamble(file, statement));
    let (Some(call), None) = (work.next(), work.next()) else {
        return false;
    };
    let tokens = file
        .tokens
        .get(call.tokens.0 as usize..call.tokens.1 as usize);
    let tokens = tokens.unwrap_or_default();
    let word = |at: usize| {
        let token = tokens.get(at);
        token
            .and_then(|token| token.span().of(&file.text))
            .unwrap_or("")
    };
    let start = usize::from(matches!(word(0), "return" | "await"));
    let Some(open) = (start..tokens.len()).find(|at| word(*at) == "(") else {
        return false;
    };
    let path = tokens.get(start..open).unwrap_or_default();
    let names_function = path.iter().all(|token| {
        token.class == TokenClass::Word && !token.has(marks::LOCAL)
            || matches!(token.span().of(&file.text), Some("." | "::"))
    });
    let arguments = tokens.get(open + 1..).unwrap_or_default();
    let only_own = arguments.iter().all(|token| match token.class {
        TokenClass::Word => token.marks & (marks::LOCAL | marks::KEYWORD_ARGUMENT) != 0,
        TokenClass::Punct => {
            let text = token.span().of(&file.text);
            matches!(text, Some("(" | ")" | "," | "=" | "*" | "**" | "}" | ";"))
        }
        _ => false,
    });
    !path.is_empty() && names_function && only_own
}

fn is_preamble(file: &SourceFile, statement: &Statement) -> bool {
    let first = file.tokens.get(statement.tokens.0 as usize);
    let word = first.and_then(|token| token.span().of(&file.text));
    matches!(word, Some("import" | "from" | "use" | "warnings" | "}"))
}
