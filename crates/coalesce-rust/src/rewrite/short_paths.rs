//! Paths that come to say more than they have to, made short where `unused_qualifications` asks for that.

use std::collections::BTreeMap;

use coalesce_model::{ByteSpan, Edit, LanguagePlan, Texts, TreePath};

use crate::{
    RustGraph,
    lexer::{self, Token},
    regressions::{NeedlessPath, Tree, needless_paths},
};

/// Takes away what stands before the names that such paths could begin with; those whose names a variable may have
/// stay, and are told.
pub(super) fn shorten(before: Tree<'_>, graph: &RustGraph, texts: &dyn Texts) -> LanguagePlan {
    let world = &graph.world;
    let after = Tree { world, texts };
    let mut edits: BTreeMap<TreePath, Vec<Edit>> = BTreeMap::new();
    for one in needless_paths(before, after) {
        let path = &world[one.file].path;
        let edit = texts.text(path).and_then(|text| without_head(&text, &one));
        if let Some(edit) = edit {
            edits.entry(path.clone()).or_default().push(edit);
        }
    }
    LanguagePlan {
        edits,
        ..LanguagePlan::default()
    }
}

/// The edit that takes away what stands before the name of a path.
fn without_head(text: &str, path: &NeedlessPath) -> Option<Edit> {
    let head = path.said.split_once(&format!("::{}", path.name))?.0;
    let rest = text.get(path.start as usize..)?;
    let rest = rest.strip_prefix(head)?.strip_prefix("::")?;
    let is_whole = rest.strip_prefix(path.name.as_str())?;
    let ends = !is_whole.starts_with(|next: char| next.is_alphanumeric() || next == '_');
    let start = path.start as usize;
    let colons = text.get(..start)?.ends_with("::");
    let span = ByteSpan::from_range(start..start + head.len() + "::".len());
    (ends && !colons && !is_variable(text, &path.name)).then(|| Edit::delete(span))
}

/// Whether a name may be that of a variable or a parameter somewhere in a text: it stands by itself, and is neither
/// called nor part of a path. Names of types begin with a capital letter.
fn is_variable(text: &str, name: &str) -> bool {
    if name.starts_with(char::is_uppercase) {
        return false;
    }
    let tokens = lexer::tokens(text, ByteSpan::from_range(0..text.len()));
    let said = |token: Option<&Token>| {
        token
            .and_then(|token| token.span.of(text))
            .unwrap_or_default()
    };
    let mut named = tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| said(Some(token)) == name);
    named.any(|(at, _)| {
        let before = at.checked_sub(1).and_then(|at| tokens.get(at));
        let behind = tokens.get(at + 1);
        let in_path = matches!(
            said(before),
            ":" | "." | "fn" | "mod" | "use" | "const" | "static"
        ) && (said(before) != ":" || said(tokens.get(at.wrapping_sub(2))) == ":");
        let leads_on = said(behind) == ":" && said(tokens.get(at + 2)) == ":";
        !in_path && !leads_on && !matches!(said(behind), "(" | "!")
    })
}

#[cfg(test)]
mod tests {
    use super::is_variable;

    #[test]
    fn names_that_stand_alone_may_be_variables() {
        for (text, expected) in [
            ("fn mean() {} fn f() { mean(); crate::mean }", false),
            ("use std::fmt; fn f() -> fmt::Result {}", false),
            ("fn f() { let mean = 1; mean(); }", true),
            ("fn f(mean: u8) {}", true),
            ("fn f(x: T) { x.map(|mean| 1) }", true),
        ] {
            let name = if text.contains("fmt") { "fmt" } else { "mean" };
            assert_eq!(is_variable(text, name), expected, "{text}");
        }
    }
}
