//! Words that are keywords in later editions only, where a text has them as names: `try!(…)`, `mod async;`, `fn dyn()`.
//!
//! The parser knows the newest edition alone. What it refuses is read once more with such words as other names of the
//! same length, so that every place stays what it is; facts take names from the text itself.

use coalesce_model::ByteSpan;

use crate::lexer::{self, Token, TokenKind};

/// A text with those words as other names; `None` where it has none of them.
pub(crate) fn renamed(text: &str) -> Option<String> {
    let tokens = lexer::tokens(text, ByteSpan::from_range(0..text.len()));
    let mut new = String::new();
    let mut end = 0;
    for (at, token) in tokens.iter().enumerate() {
        let word = token.span.of(text).unwrap_or_default();
        let Some(name) = other_name(word).filter(|_| is_name(text, &tokens, at)) else {
            continue;
        };
        let range = token.span.start as usize..token.span.end as usize;
        new.push_str(text.get(end..range.start)?);
        new.push_str(name);
        end = range.end;
    }
    let rest = text.get(end..).filter(|_| !new.is_empty())?;
    new.push_str(rest);
    Some(new)
}

/// A name that is as long as a word, and no keyword.
fn other_name(word: &str) -> Option<&'static str> {
    match word {
        "async" => Some("asyn_"),
        "await" => Some("awai_"),
        "dyn" => Some("dy_"),
        "try" => Some("tr_"),
        _ => None,
    }
}

/// Whether a word that later editions have for something else stands as a name.
fn is_name(text: &str, tokens: &[Token], at: usize) -> bool {
    let said = |token: Option<&Token>| token.and_then(|token| token.span.of(text));
    let kind = |token: Option<&Token>| token.map(|token| token.kind);
    let before = at.checked_sub(1).and_then(|before| tokens.get(before));
    let (next, later) = (tokens.get(at + 1), tokens.get(at + 2));
    let is = |token: Option<&Token>, punct: u8| token.is_some_and(|token| token.is(punct));
    let is_declared = matches!(
        said(before),
        Some(
            "fn" | "mod"
                | "struct"
                | "enum"
                | "trait"
                | "type"
                | "const"
                | "static"
                | "let"
                | "use"
                | "as"
        )
    );
    let is_below = is(before, b':') || is(before, b'.') || (is(next, b':') && is(later, b':'));
    let is_macro = is(next, b'!') && matches!(kind(later), Some(TokenKind::Open(_)));
    let ends = matches!(said(next), Some(";" | "," | "=" | ":" | ")" | "}"));
    match said(tokens.get(at)) {
        // `future.await`, `Box<dyn A>`, `let f: async`: what later editions mean by them.
        Some("await") => !is(before, b'.') || kind(next) == Some(TokenKind::Open(b'(')),
        Some("dyn") => {
            is_declared && !matches!(said(before), Some("as"))
                || is_below && !is(before, b':')
                || ends
        }
        Some("try") => is_macro || is_declared || is_below || ends,
        _ => is_declared || is_below || ends || kind(next) == Some(TokenKind::Open(b'(')),
    }
}

#[cfg(test)]
mod tests {
    use super::renamed;

    #[test]
    fn names_of_older_editions_are_others_of_the_same_length() {
        let is = |text: &str, new: &str| assert_eq!(renamed(text).as_deref(), Some(new));
        is("fn a() { try!(b()) }", "fn a() { tr_!(b()) }");
        is("fn a() { try ! { b() } }", "fn a() { tr_ ! { b() } }");
        is("mod async; fn dyn() {}", "mod asyn_; fn dy_() {}");
        is("use async::a; async::b();", "use asyn_::a; asyn_::b();");
        is("a.try(1)", "a.tr_(1)");
    }

    #[test]
    fn keywords_stay() {
        let stays = |text: &str| assert_eq!(renamed(text), None);
        stays("async fn a() { b().await; c.await?; async move {} }");
        stays("fn a(b: &dyn C, d: Box<dyn E>) -> Box<dyn F> {}");
        stays("fn a() { x as &dyn A; try { b()? } }");
        stays("fn r#try() { r#async::a() }");
        stays("struct A { a: dyn B }");
    }
}
