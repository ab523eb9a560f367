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

/// Tokens that what `for` and `lambda` bind may have at most, as far as this looks.
const PATTERN: usize = 64;

/// Marks all tokens of `outline`.
pub fn mark(text: &str, outline: &mut Outline) {
    locals::mark::<PythonNames>(text, outline);
}

/// How Python says what names are.
struct PythonNames;

impl Names for PythonNames {
    const MEMBER: &[&str] = &["."];
    const CALL: &[&str] = &["("];
    const FREE: u8 = marks::ATTRIBUTE | marks::KEYWORD_ARGUMENT;

    fn mark_more(token: &mut OutlineToken, words: Neighbours<'_>, depth: usize) {
        if depth > 0 && words.after == "=" && matches!(words.before, "(" | ",") {
            token.marks |= marks::KEYWORD_ARGUMENT;
        }
    }

    fn parameters_begin(_: &str, head: &[OutlineToken]) -> Option<usize> {
        let name = head.iter().position(|token| token.has(marks::DEFINED))?;
        Some(name + 1)
    }

    fn is_parameter(_: OutlineToken, words: Neighbours<'_>, depth: usize) -> bool {
        depth == 1 && matches!(words.before, "(" | "," | "*" | "**")
    }

    fn variables<'t>(text: &'t str, body: &[OutlineToken], names: &mut FxHashSet<&'t str>) {
        variables(text, body, names);
    }
}

/// Names that the body assigns, loops over or binds with `as`.
fn variables<'t>(text: &'t str, body: &[OutlineToken], names: &mut FxHashSet<&'t str>) {
    for (at, token) in body.iter().enumerate() {
        if token.has(marks::STATEMENT) {
            targets(text, body.get(at..).unwrap_or_default(), names);
        }
        // Most tokens are names, and bind nothing.
        if !matches!(token.class, TokenClass::Keyword | TokenClass::Punct) {
            continue;
        }
        match token.word(text) {
            "for" => names.extend(bound_names(text, body, at, "in").take(16)),
            "as" if !token.has(marks::IMPORT) => {
                let next = body.get(at + 1);
                let next = next.filter(|next| next.class == TokenClass::Word);
                names.extend(next.map(|token| token.word(text)));
            }
            ":=" => {
                let before = at.checked_sub(1).and_then(|before| body.get(before));
                names.extend(before.map(|token| token.word(text)));
            }
            "lambda" => names.extend(bound_names(text, body, at, ":").take(8)),
            _ => {}
        }
    }
}

/// The names behind the keyword at `at`, up to the word that ends what it binds.
fn bound_names<'t>(
    text: &'t str,
    body: &[OutlineToken],
    at: usize,
    end: &'static str,
) -> impl Iterator<Item = &'t str> {
    let bound = body.get(at + 1..).unwrap_or_default().iter().take(PATTERN);
    let bound = bound.take_while(move |token| token.word(text) != end);
    let plain = bound.filter(|token| token.class == TokenClass::Word);
    plain.map(|token| token.word(text))
}

/// The targets of an assignment: `a = …`, `a, (b, *c) = …`, `a: T = …`, `a = b = …`, `a += …`.
fn targets<'t>(text: &'t str, statement: &[OutlineToken], names: &mut FxHashSet<&'t str>) {
    let mut found = FoundTargets::default();
    for (at, token) in statement.iter().enumerate().take(48) {
        if at > 0 && token.has(marks::STATEMENT) {
            return;
        }
        let own = token.word(text);
        match own {
            "=" | "+=" | "-=" | "*=" | "/=" => names.extend(found.take()),
            ":" if at == 1 => {
                names.extend(found.take());
                return;
            }
            "," | "(" | ")" | "*" | "[" | "]" => {}
            _ if token.class == TokenClass::Word && !token.has(marks::CALLEE) => found.add(own),
            _ => return,
        }
    }
}

/// The first names of a statement that may turn out to be targets.
#[derive(Default)]
struct FoundTargets<'t> {
    names: [&'t str; 16],
    count: usize,
}

impl<'t> FoundTargets<'t> {
    /// More than there is room for are passed over.
    fn add(&mut self, name: &'t str) {
        if let Some(slot) = self.names.get_mut(self.count) {
            *slot = name;
            self.count += 1;
        }
    }

    /// All of them, after which there are none.
    fn take(&mut self) -> impl Iterator<Item = &'t str> + use<'t> {
        let count = std::mem::take(&mut self.count);
        self.names.into_iter().take(count)
    }
}
