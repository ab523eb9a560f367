//! Who may read what `Debug` writes of a type that gets another name: texts and expected outputs that say the name, and
//! code that keeps such a text, or writes it where another program may read it.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, LineIndex, TreePath};

use super::Reader;
use crate::{
    facts::ItemKind,
    lexer::{self, TokenKind},
    resolve::{ItemId, World},
    rewrite::method_calls::debugged::{DebuggedValues, WRITING, debugged},
};

/// A place that writes or keeps what `Debug` says.
pub(super) struct DebugPlace {
    path: TreePath,
    line: u32,
    /// What it writes, where that is known.
    values: Option<DebuggedValues>,
}

impl DebugPlace {
    /// Whether it may show a type of some name.
    fn may_show(&self, reader: &Reader<'_>, name: &str) -> bool {
        let holds =
            |item: ItemId, has_arguments: bool| reader.may_hold((item, has_arguments), name);
        let values = self.values.as_ref();
        values.is_none_or(|values| values.may_hold(&holds))
    }
}

/// The types of a tree, and what stands for them, by their names.
fn types_by_name(world: &World) -> BTreeMap<String, Vec<ItemId>> {
    let mut found: BTreeMap<String, Vec<ItemId>> = BTreeMap::new();
    for (item, node) in (0_u32..).map(ItemId).zip(&world.items) {
        let is_type = matches!(
            node.kind,
            ItemKind::Struct | ItemKind::Enum | ItemKind::Union | ItemKind::TypeAlias
        );
        if is_type {
            found.entry(node.name.clone()).or_default().push(item);
        }
    }
    found
}

impl Reader<'_> {
    /// Who may read what `Debug` writes of a type: a text that says its name, or something that keeps such texts.
    pub(super) fn debug_text(&self, name: &str) -> Option<String> {
        if self.is_said_in_texts(name) {
            return Some("a text of the tree says it".to_owned());
        }
        let mut files = self.texts.paths().iter();
        if let Some(path) = files.find(|path| self.is_expected_in(path, name)) {
            return Some(format!("{path} says it"));
        }
        let places = self.debugs.get_or_init(|| self.debug_places());
        let may_show = places.iter().find(|place| place.may_show(self, name));
        may_show.map(|place| {
            let (path, line) = (&place.path, place.line);
            format!("{path}:{line} writes what `Debug` says of something")
        })
    }

    /// Where sources write or keep what `Debug` says.
    fn debug_places(&self) -> Vec<DebugPlace> {
        let mut found = Vec::new();
        for (file, source) in self.world.sources() {
            let text = self.texts.text(&source.path).unwrap_or_default();
            let kept = kept_debugs(&text);
            if kept.is_empty() {
                continue;
            }
            let known = debugged(self.world, file, self.texts);
            let mut known: BTreeMap<u32, DebuggedValues> = known
                .into_iter()
                .flatten()
                .map(|values| (values.start, values))
                .collect();
            let lines = LineIndex::new(&text);
            found.extend(kept.into_iter().map(|span| DebugPlace {
                path: source.path.clone(),
                line: lines.line_number(span.start),
                values: known.remove(&span.start),
            }));
        }
        found
    }

    /// Whether a value of a type may be, or hold, one of a name, by the words of definitions. What writes its `Debug` by
    /// hand may write anything.
    fn may_hold(&self, (of, has_arguments): (ItemId, bool), sought: &str) -> bool {
        let named = self.types_by_name.get_or_init(|| types_by_name(self.world));
        let (mut open, mut seen) = (vec![of], BTreeSet::from([of]));
        while let Some(item) = open.pop() {
            if self.world[item].name == sought {
                return true;
            }
            for (file, at) in &self.world[item].definitions {
                let Some(text) = self.texts.text(&self.world[*file].path) else {
                    return true;
                };
                let fact = self.world.facts(*file).item(*at);
                let words: Vec<&str> = lexer::tokens(&text, fact.span)
                    .iter()
                    .filter_map(|token| token.span.of(&text))
                    .collect();
                let is_alias = fact.kind == ItemKind::TypeAlias;
                let name = words.iter().position(|word| *word == self.world[item].name);
                let is_generic = name.and_then(|at| words.get(at + 1)) == Some(&"<");
                let is_open = words.contains(&"dyn")
                    || words.contains(&sought)
                    || !is_alias && !words.contains(&"Debug")
                    || is_generic && item == of && !has_arguments;
                if is_open {
                    return true;
                }
                let types = words.iter().filter_map(|word| named.get(*word)).flatten();
                open.extend(types.copied().filter(|item| seen.insert(*item)));
            }
        }
        false
    }

    /// Whether a file that is no source, and no document, says a name, as one with an expected output does. Below tests
    /// such an output may be kept in any text: `trycmd` has them in documents and in TOML.
    fn is_expected_in(&self, path: &TreePath, name: &str) -> bool {
        let never = ["lock", "rs"];
        let elsewhere = ["md", "rst", "toml"];
        let of_test =
            path.components().any(|part| part == "tests") && path.file_name() != "Cargo.toml";
        let is_other = |one: &str| never.contains(&one) || !of_test && elsewhere.contains(&one);
        if path.extension().is_some_and(is_other) {
            return false;
        }
        let text = self.texts.text(path).filter(|text| text.contains(name));
        text.is_some_and(|text| {
            let words = lexer::tokens(&text, ByteSpan::from_range(0..text.len()));
            words.iter().any(|word| word.span.of(&text) == Some(name))
        })
    }

    /// Whether some text between quotes says a name.
    fn is_said_in_texts(&self, name: &str) -> bool {
        self.world.sources().any(|(_, source)| {
            let text = self.texts.text(&source.path);
            let Some(text) = text.filter(|text| text.contains(name)) else {
                return false;
            };
            let tokens = lexer::tokens(&text, ByteSpan::from_range(0..text.len()));
            let mut said = tokens.iter().filter_map(|token| match token.kind {
                TokenKind::Text { content } => Some(content),
                _ => None,
            });
            said.any(|content| {
                let words = lexer::tokens(&text, content);
                words.iter().any(|word| word.span.of(&text) == Some(name))
            })
        })
    }
}

/// Where a source writes or keeps what `Debug` writes: by `format!`, `println!` and their like, or in a snapshot. What is
/// logged or panicked with is for people.
fn kept_debugs(text: &str) -> Vec<ByteSpan> {
    // Whatever stands before it: `{:#?}`, `{:02x?}`, `{value:>10?}`.
    let holds = |text: &str| text.contains("?}");
    if !holds(text) && !text.contains("_debug") && !text.contains("dbg!") {
        return Vec::new();
    }
    let tokens = lexer::tokens(text, ByteSpan::from_range(0..text.len()));
    let found = tokens.iter().enumerate().filter_map(|(at, token)| {
        let word = token.span.of(text)?;
        let is_snapshot = word.ends_with("debug_snapshot") || word.ends_with("debug_eq");
        let makes_text = WRITING.contains(&word)
            && tokens.get(at + 1).is_some_and(|next| next.is(b'!'))
            && lexer::closing(&tokens, at + 2)
                .and_then(|close| tokens.get(at + 2..close))
                .is_some_and(|inside| {
                    let mut texts = inside.iter().filter_map(|one| one.span.of(text));
                    texts.any(holds)
                });
        let is_shown = word == "dbg" && tokens.get(at + 1).is_some_and(|next| next.is(b'!'));
        (is_snapshot || is_shown || makes_text).then_some(token.span)
    });
    found.collect()
}
