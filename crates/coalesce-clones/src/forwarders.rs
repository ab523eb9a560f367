//! Modules whose functions only call another function: they define something, and it is nothing.

use coalesce_model::{TokenClass, UnitKind, outline::marks};

use crate::{
    align::{self, Statement},
    source::{SourceFile, Unit},
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
