//! Paths that come to say more than they have to, made short where `unused_qualifications` asks for that.

use std::collections::BTreeMap;

use coalesce_model::{ByteSpan, Edit, LanguagePlan, Texts, TreePath};

use crate::{
    RustGraph,
    facts::SourceFacts,
    lexer,
    regressions::{NeedlessPath, Tree, needless_paths},
};

/// What stands before a name whose parameters follow in angle brackets.
const HEADS: [&str; 6] = ["fn", "struct", "enum", "trait", "type", "union"];

/// Takes away what stands before the names that such paths could begin with; those whose names a variable may have
/// stay, and are told.
pub(super) fn shorten(before: Tree<'_>, graph: &RustGraph, texts: &dyn Texts) -> LanguagePlan {
    let world = &graph.world;
    let after = Tree { world, texts };
    let mut edits: BTreeMap<TreePath, Vec<Edit>> = BTreeMap::new();
    for one in needless_paths(before, after) {
        let path = &world[one.file].path;
        let edit = texts.text(path).and_then(|text| without_head(&text, &one));
        let edit = edit.filter(|_| !is_declared_again(world.facts(one.file), &one.name));
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

/// Whether a file declares or imports a name more than once, in whichever scopes: another one may be nearer.
fn is_declared_again(facts: &SourceFacts, name: &str) -> bool {
    let imported = facts.leaves.iter().filter(|leaf| {
        let last = facts.segments(leaf.segments).last().copied();
        let bound = leaf.alias.or(last);
        bound.is_some_and(|bound| facts.name(bound.name) == name)
    });
    let items = facts.items.iter().map(|item| item.name.name);
    let modules = facts.modules.iter().map(|module| module.name.name);
    let declared = items.chain(modules).filter(|own| facts.name(*own) == name);
    imported.count() + declared.count() > 1
}

/// Whether a name may be that of a variable or a parameter somewhere in a text.
fn is_variable(text: &str, name: &str) -> bool {
    let tokens = lexer::tokens(text, ByteSpan::from_range(0..text.len()));
    let words = tokens.iter().map(|token| token.span.of(text));
    let words: Vec<&str> = words.map(Option::unwrap_or_default).collect();
    let mut named = (0..words.len()).filter(|at| words.get(*at) == Some(&name));
    match name.starts_with(char::is_uppercase) {
        true => named.any(|at| is_type_parameter(&words, at)),
        false => named.any(|at| stands_alone(&words, at)),
    }
}

/// Whether a word is neither called nor part of a path, nor declared as an item.
fn stands_alone(words: &[&str], at: usize) -> bool {
    let word = |at: Option<usize>| at.and_then(|at| words.get(at)).copied();
    let (before, behind) = (word(at.checked_sub(1)), word(Some(at + 1)));
    let in_path = match before {
        Some(":") => word(at.checked_sub(2)) == Some(":"),
        Some("." | "fn" | "mod" | "use" | "const" | "static") => true,
        _ => is_imported(words, at),
    };
    let leads_on = behind == Some(":") && word(Some(at + 2)) == Some(":");
    !in_path && !leads_on && !matches!(behind, Some("(" | "!"))
}

/// Whether a word stands in a `use` declaration: nothing in one is a variable.
fn is_imported(words: &[&str], at: usize) -> bool {
    let mut before = (0..at).rev().filter_map(|at| words.get(at).copied());
    before.find(|word| matches!(*word, ";" | "=" | "(" | ")" | "use")) == Some("use")
}

/// Whether a word may be declared as a parameter of a definition or an `impl`: among the first angle brackets behind
/// its head.
fn is_type_parameter(words: &[&str], at: usize) -> bool {
    let begins = |word: &&str| matches!(*word, "<" | ",");
    let before = at.checked_sub(1).and_then(|at| words.get(at));
    if !before.is_some_and(begins) {
        return false;
    }
    let mut depth = 1_usize;
    let open = (0..at).rev().find(|back| {
        match words.get(*back) {
            Some(&">") => depth += 1,
            Some(&"<") => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    let word = |back: usize| {
        open.and_then(|open| words.get(open.checked_sub(back)?))
            .copied()
    };
    word(1) == Some("impl") || word(2).is_some_and(|head| HEADS.contains(&head))
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
            ("fn f(x: Vec<Mean>, y: T<u8, Mean>) {}", false),
            ("fn f<A: Into<u8>, Mean>(x: Mean) {}", true),
            ("impl<Mean> T for S<Mean> {}", true),
            ("struct S<Mean>(Mean);", true),
        ] {
            let known = ["fmt", "Mean", "mean"];
            let name = known.into_iter().find(|name| text.contains(name)).unwrap();
            assert_eq!(is_variable(text, name), expected, "{text}");
        }
    }
}
