//! What a file of types says of a definition that goes where none is.

use coalesce_model::{LanguagePlan, Texts, Unproven, UnprovenKind};
use ruff_python_ast::Stmt;

use super::{
    Moved,
    place::{Block, Placing},
};
use crate::{
    names::occurrences_of_word,
    parser::{parse_module, statements},
    rewrite::mapping::Mapping,
};

/// Tells files of types that say what a module has, and nothing of an item that comes to it: no such file of the module that
/// it leaves says it either.
pub fn unsaid_types(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let graph = mapping.graph;
    let types_of = |name: &str| {
        let modules = graph.modules.iter();
        let mut types =
            modules.filter(|module| module.name == name && module.path.extension() == Some("pyi"));
        let found = types.next()?;
        Some((&found.path, texts.text(&found.path)?))
    };
    for moved in mapping.items.list.iter().filter(|moved| moved.travels()) {
        let Some((path, there)) = types_of(&moved.parent) else {
            continue;
        };
        // The table of lazy imports, which nobody reads types of where nothing says so.
        let target = moved.target.and_then(|target| graph.facts.get(target));
        if target.is_some_and(|facts| facts.lazy_stub) && !mapping.types_are_read() {
            continue;
        }
        let left = graph.modules.get(moved.source);
        let left = left.and_then(|left| types_of(&left.name));
        let goes_along = left.is_some_and(|(_, text)| occurrences_of_word(&text, &moved.item));
        let is_said =
            occurrences_of_word(&there, &moved.name) || there.contains("def __getattr__(");
        plan.unproven
            .extend((!goes_along && !is_said).then(|| Unproven {
                path: path.clone(),
                span: None,
                kind: UnprovenKind::Condition,
                name: moved.change.from.clone(),
                why: "this says what its module has for who reads types, and nothing of what comes to it"
                    .to_owned(),
            }));
    }
}

impl Placing<'_, '_> {
    /// What a file of types says of an item and nothing says afterwards: the module where it arrives has no such file, and
    /// the definition says no types itself.
    pub(super) fn lost_types(&self, moved: &Moved, block: &Block) -> Option<Unproven> {
        let mut own = self
            .arriving
            .blocks
            .iter()
            .filter(|other| other.index == block.index && other.path.extension() == Some("py"));
        let is_typed = |other: &Block| {
            let mut left = self.arriving.left.iter();
            let left = left.find(|left| left.source.path == other.path)?;
            Some(says_types(other.extents.first()?.of(&left.source.text)?))
        };
        let said = own.any(|other| is_typed(other).unwrap_or(false));
        (!said && moved.travels()).then(|| Unproven {
            path: block.path.clone(),
            span: block.extents.first().copied(),
            kind: UnprovenKind::Condition,
            name: moved.change.from.clone(),
            why: format!(
                "what this says of its types is lost: `{}` has no file of types",
                moved.parent
            ),
        })
    }
}

/// Whether a definition says types itself: a function the one of its result, a class that of some function or value.
fn says_types(text: &str) -> bool {
    let (parsed, _) = parse_module(text);
    statements(&parsed).iter().any(is_typed)
}

fn is_typed(statement: &Stmt) -> bool {
    match statement {
        Stmt::FunctionDef(function) => function.returns.is_some(),
        Stmt::ClassDef(class) => class.body.iter().any(is_typed),
        Stmt::AnnAssign(_) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::says_types;

    #[test]
    fn types_are_those_of_the_definition() {
        for (text, expected) in [
            ("def f(a) -> int:\n    pass\n", true),
            ("def f(a):  # def f(a) -> int:\n    pass\n", false),
            ("def f(a=\"->:\\n\"):\n    pass\n", false),
            ("@cached(\"def \")\ndef f(a): return 1\n", false),
            ("class C:\n    def f(self) -> int: ...\n", true),
            ("N: int = 1\n", true),
        ] {
            assert_eq!(says_types(text), expected, "{text}");
        }
    }
}
