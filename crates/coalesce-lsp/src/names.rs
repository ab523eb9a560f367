//! What is named at a place of a text, by the engine's own resolution: of all that is called so, the
//! one that has a reference there.

use coalesce_engine::Session;
use coalesce_model::{LanguageGraph, LanguageKind, Reference, TreePath};

/// Modules and items of one last name that are asked whether they are meant.
const CANDIDATES: usize = 64;

/// A module or an item, and who names it.
#[derive(Debug)]
pub struct Named {
    /// Its full name.
    pub name: String,
    /// Its language.
    pub language: LanguageKind,
    /// Every place that names it.
    pub references: Vec<Reference>,
}

/// The language of a file by its ending.
#[must_use]
pub fn language_of(path: &TreePath) -> Option<LanguageKind> {
    path.extension().and_then(LanguageKind::of_extension)
}

/// The word that holds a byte or ends before it.
#[must_use]
pub fn word_at(text: &str, offset: usize) -> Option<&str> {
    let belongs = |character: char| character == '_' || character.is_alphanumeric();
    let (before, after) = text.split_at_checked(offset)?;
    let start = before.trim_end_matches(belongs).len();
    let length = after.len() - after.trim_start_matches(belongs).len();
    let word = text.get(start..offset + length)?;
    (!word.is_empty() && !word.starts_with(|first: char| first.is_numeric())).then_some(word)
}

/// What the word at a byte of a file means; `None` where it is nothing that other modules can name.
#[must_use]
pub fn named_at(session: &Session, path: &TreePath, text: &str, offset: usize) -> Option<Named> {
    let word = word_at(text, offset)?;
    let language = language_of(path)?;
    let graph = session.part(language).graph();
    let named = |name: &str| Named {
        references: references(session, graph, name),
        name: name.to_owned(),
        language,
    };
    let covers = |reference: &Reference| {
        let span = reference.span.start as usize..=reference.span.end as usize;
        reference.path == *path && span.contains(&offset)
    };
    let candidates = candidates(graph, path, word);
    let mut all = candidates.iter().map(|(name, _)| named(name));
    all.find(|named| named.references.iter().any(covers))
        .or_else(|| {
            // A definition is no reference of itself.
            let (name, _) = candidates.iter().find(|(_, here)| *here)?;
            Some(named(name))
        })
}

/// Everything of this last name, with whether this file defines it; those first, then those nearby.
fn candidates(graph: &dyn LanguageGraph, path: &TreePath, word: &str) -> Vec<(String, bool)> {
    let separator = graph.language().separator();
    let mut found = Vec::new();
    for module in graph.modules() {
        let own = module.path == *path;
        if module.defines.iter().any(|item| item == word) {
            found.push((format!("{}{separator}{word}", module.name), own));
        }
        if module.name.rsplit(separator).next() == Some(word) {
            found.push((module.name.clone(), false));
        }
    }
    found.sort_by_key(|(name, own)| (!own, name.len()));
    found.truncate(CANDIDATES);
    found
}

fn references(session: &Session, graph: &dyn LanguageGraph, name: &str) -> Vec<Reference> {
    let mut references = graph.references(name, &session.tree);
    let texts = coalesce_text::references(&[name], graph.language(), &session.tree);
    references.extend(texts.into_iter().flatten());
    references.sort();
    references.dedup_by(|a, b| a.path == b.path && a.span == b.span);
    references
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_at_either_end() {
        let text = "from a.bé import c_1\nx = 12";
        for (offset, word) in [
            (0, Some("from")),
            (4, Some("from")),
            (7, Some("bé")),
            (8, Some("bé")),
            (18, Some("c_1")),
            (24, None),
            (27, None),
            (99, None),
        ] {
            assert_eq!(word_at(text, offset), word, "{offset}");
        }
    }
}
