//! Arguments and labels as they are written: where they end, and what their parts are.

use coalesce_model::ByteSpan;

use super::uses::length;
use crate::lexer::{Token, TokenKind};

/// The type arguments in a path, lifetimes left out; `None` where it has none.
pub(super) fn type_arguments(path: &str) -> Option<Vec<String>> {
    let open = match path.strip_prefix('<') {
        // `<Type<T>>::`
        Some(rest) => rest.find('<').map(|at| at + 1)?,
        None => path.find('<')?,
    };
    let found = parts_of_list(path.get(open + 1..)?)?.into_iter();
    let found = found.map(str::trim);
    let found = found.filter(|one| !one.is_empty() && !one.starts_with('\''));
    Some(found.map(str::to_owned).collect())
}

/// The parts of a list that goes up to a `>`, brackets of theirs included.
fn parts_of_list(list: &str) -> Option<Vec<&str>> {
    let mut found = Vec::new();
    let (mut depth, mut from) = (0_usize, 0_usize);
    for (at, letter) in list.char_indices() {
        match letter {
            '<' | '(' | '[' => depth += 1,
            ',' if depth == 0 => {
                found.push(list.get(from..at)?);
                from = at + 1;
            }
            '>' if depth == 0 => {
                found.push(list.get(from..at)?);
                break;
            }
            '>' | ')' | ']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    Some(found)
}

/// Where the first argument of a call ends, its comma included, if it is a variable, a field or a reference.
pub(super) fn end_of_place(arguments: &[Token]) -> Option<u32> {
    for token in arguments {
        match token.kind {
            TokenKind::Close(_) => return Some(token.span.start),
            TokenKind::Punct(b',') => return Some(token.span.end),
            TokenKind::Ident | TokenKind::Punct(b'&' | b'.' | b'*') => {}
            _ => return None,
        }
    }
    None
}

/// The end of a link whose words are what it leads to, and nothing else says where.
pub(super) fn end_of_own_label(text: &str, words: ByteSpan) -> Option<u32> {
    let before = text.get(..words.start as usize)?;
    let mark = match before.ends_with("[`") {
        true => "`]",
        false if before.ends_with('[') => "]",
        false => return None,
    };
    let rest = text.get(words.end as usize..)?.strip_prefix(mark)?;
    (!rest.starts_with(['(', ':', '['])).then(|| words.end + length(mark))
}
