//! The conditions (`cfg`) around a place of a file, and those under which a definition is there.

use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet},
};

use coalesce_model::ByteSpan;

use super::Tree;
use crate::{
    condition_macros::{self, ConditionMacros},
    lexer::{self, Token, TokenKind, closing},
    resolve::{BodyId, FileId, ItemId, ModuleId},
};

/// The conditions of a tree, each file read once.
pub(super) struct Conditions<'a> {
    tree: Tree<'a>,
    files: BTreeMap<FileId, Extents>,
    macros: OnceCell<ConditionMacros>,
}

/// A condition as people write it.
pub(super) fn display(condition: &str) -> String {
    condition.replace('=', " = ").replace(',', ", ")
}

impl<'a> Conditions<'a> {
    pub fn new(tree: Tree<'a>) -> Self {
        Self {
            tree,
            files: BTreeMap::new(),
            macros: OnceCell::new(),
        }
    }

    /// The conditions around a byte of a file that is a body of a module.
    pub fn at_place(&mut self, file: FileId, body: BodyId, at: u32) -> BTreeSet<String> {
        let mut found = self.around(file, at);
        found.extend(self.of_body(body));
        found
    }

    /// The conditions of a module; none where it has several bodies, of which some will be there.
    pub fn of_module(&mut self, module: ModuleId) -> BTreeSet<String> {
        match self.tree.world[module].bodies.as_slice() {
            [body] => self.of_body(*body),
            _ => BTreeSet::new(),
        }
    }

    /// The conditions of an item; none where it has several definitions.
    pub fn of_item(&mut self, item: ItemId) -> BTreeSet<String> {
        let world = self.tree.world;
        let node = &world[item];
        let [(file, at)] = node.definitions.as_slice() else {
            return BTreeSet::new();
        };
        let fact = world.facts(*file).item(*at);
        let mut found = self.around(*file, fact.name.span.start);
        let bodies = &world[node.module].bodies;
        let mut own = bodies.iter().filter(|body| world[*body].file == *file);
        if let (Some(body), None) = (own.next(), own.next()) {
            found.extend(self.of_body(*body));
        }
        found
    }

    /// The conditions around one definition in its file.
    pub fn around_definition(&mut self, (file, at): (FileId, u32)) -> BTreeSet<String> {
        let name = self.tree.world.facts(file).item(at).name.span;
        self.around(file, name.start)
    }

    /// The conditions of an import.
    pub fn of_import(&mut self, (file, leaf): (FileId, u32)) -> BTreeSet<String> {
        let span = self.tree.world.facts(file).leaf(leaf).span;
        self.around(file, span.start)
    }

    /// The parts of a file that stand under more than these conditions, each with all that are around it there; none of
    /// them is in another one.
    pub fn parts_under_more(
        &mut self,
        file: FileId,
        own: &BTreeSet<String>,
    ) -> Vec<(ByteSpan, BTreeSet<String>)> {
        let mut found: Vec<(ByteSpan, BTreeSet<String>)> = Vec::new();
        for span in self.extents_of(file).spans() {
            let behind = found.last().is_none_or(|(last, _)| last.end <= span.start);
            let around = behind.then(|| self.around(file, span.start));
            if let Some(around) = around.filter(|around| !around.is_subset(own)) {
                found.push((span, around));
            }
        }
        found
    }

    /// The conditions of a body of a module: of the declarations that lead to it, and of the heads of
    /// the files on the way.
    fn of_body(&mut self, body: BodyId) -> BTreeSet<String> {
        let world = self.tree.world;
        let mut found = BTreeSet::new();
        let mut at = Some(&world[body]);
        while let Some(body) = at {
            let facts = world.facts(body.file);
            let own = facts
                .inner_cfg
                .iter()
                .filter(|(scope, _)| *scope == body.scope);
            own.for_each(|(_, condition)| split(&plain(condition), &mut found));

            at = body.declared.map(|(outer, declaration)| {
                let outer = &world[outer];
                let facts = world.facts(outer.file);
                let declared = facts.module(declaration);
                for condition in &declared.cfg {
                    split(&plain(condition), &mut found);
                }
                found.extend(self.around(outer.file, declared.name.span.start));
                outer
            });
        }
        found
    }

    /// The conditions of attributes in a file whose items hold a byte.
    fn around(&mut self, file: FileId, at: u32) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for condition in self.extents_of(file).around(at) {
            split(condition, &mut found);
        }
        found
    }

    fn extents_of(&mut self, file: FileId) -> &Extents {
        let tree = self.tree;
        let macros = &self.macros;
        self.files.entry(file).or_insert_with(|| {
            let path = &tree.world[file].path;
            let text = tree.texts.text(path);
            let mut found = text.map(|text| extents(&text)).unwrap_or_default();
            let macros = macros.get_or_init(|| ConditionMacros::new(tree.world, tree.texts));
            found.extend(calls(tree, file, macros));
            Extents::new(found)
        })
    }
}

/// The conditions of a file by what they hold, so that those around a byte are found without looking at all.
struct Extents {
    /// By their starts, what is around others before those.
    all: Vec<Extent>,
}

struct Extent {
    span: ByteSpan,
    condition: String,
    /// The last one before it that ends behind its start.
    outer: Option<usize>,
}

impl Extents {
    fn new(mut found: Vec<(ByteSpan, String)>) -> Self {
        found.sort_by_key(|(span, _)| (span.start, std::cmp::Reverse(span.end)));
        let mut all: Vec<Extent> = Vec::with_capacity(found.len());
        let mut open: Vec<usize> = Vec::new();
        for (span, condition) in found {
            let ended = |at: &usize| all.get(*at).is_none_or(|one| one.span.end <= span.start);
            while open.last().is_some_and(ended) {
                open.pop();
            }
            let outer = open.last().copied();
            open.push(all.len());
            all.push(Extent {
                span,
                condition,
                outer,
            });
        }
        Self { all }
    }

    /// What each condition holds, in order.
    fn spans(&self) -> Vec<ByteSpan> {
        self.all.iter().map(|one| one.span).collect()
    }

    /// The conditions around a byte: whatever holds it was open where the last one before it began.
    fn around(&self, at: u32) -> impl Iterator<Item = &str> {
        let before = self.all.partition_point(|one| one.span.start <= at);
        let last = before.checked_sub(1).and_then(|last| self.all.get(last));
        let open = std::iter::successors(last, |one| self.all.get(one.outer?));
        let around = open.filter(move |one| at < one.span.end);
        around.map(|one| one.condition.as_str())
    }
}

/// What macros that put conditions around items are given, with those conditions.
fn calls(tree: Tree<'_>, file: FileId, macros: &ConditionMacros) -> Vec<(ByteSpan, String)> {
    let world = tree.world;
    let facts = world.facts(file);
    let mut found = Vec::new();
    let first = world[file].bodies.first();
    let Some(krate) = first.map(|body| world[world[*body].module].krate) else {
        return found;
    };
    for call in &facts.macro_calls {
        let added = macros.of_call(krate, facts, call).into_iter().flatten();
        let said = added.filter_map(|one| condition_macros::condition(one));
        found.extend(said.map(|said| (call.body, plain(said))));
    }
    found
}

/// A condition without its spaces, as conditions are compared.
fn plain(condition: &str) -> String {
    condition.split_whitespace().collect()
}

/// `all(…)` is several conditions.
fn split(condition: &str, found: &mut BTreeSet<String>) {
    match inside(condition, "all") {
        Some(parts) => parts.iter().for_each(|part| split(part, found)),
        None => drop(found.insert(condition.to_owned())),
    }
}

/// The parts of `word(…)`.
pub(super) fn inside<'c>(condition: &'c str, word: &str) -> Option<Vec<&'c str>> {
    let list = condition
        .strip_prefix(word)?
        .strip_prefix('(')?
        .strip_suffix(')')?;
    let (mut depth, mut quoted, mut start) = (0_u32, false, 0);
    let mut parts = Vec::new();
    for (at, byte) in list.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b'(' if !quoted => depth += 1,
            b')' if !quoted => depth = depth.saturating_sub(1),
            b',' if !quoted && depth == 0 => {
                parts.extend(list.get(start..at));
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.extend(list.get(start..).filter(|rest| !rest.is_empty()));
    Some(parts)
}

/// Each `#[cfg(…)]` of a text, with the span of what it stands on. Attributes stand on items,
/// statements, fields, variants, arms and arguments; where each of them ends is read from tokens, for
/// no parser knows the last three apart from what is around them.
fn extents(text: &str) -> Vec<(ByteSpan, String)> {
    if !text.contains("cfg") && !text.contains("test") {
        return Vec::new();
    }
    let tokens = lexer::tokens(text, ByteSpan::from_range(0..text.len()));
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        let Some((condition, behind)) = condition_at(text, &tokens, at) else {
            continue;
        };
        let start = tokens.get(at).map_or(0, |token| token.span.start);
        let end = end_of_element(text, &tokens, behind);
        found.push((ByteSpan::new(start, end), plain(condition)));
    }
    found
}

/// The condition of an attribute that starts at a token, and the first token behind it.
fn condition_at<'t>(text: &'t str, tokens: &[Token], at: usize) -> Option<(&'t str, usize)> {
    let [hash, open, word, list] = tokens.get(at..at + 4)? else {
        return None;
    };
    if !hash.is(b'#') || open.kind != TokenKind::Open(b'[') {
        return None;
    }
    let said = word.span.of(text)?;
    // A test is there for tests alone.
    if said == "test" && matches!(list.kind, TokenKind::Close(_)) {
        return Some((said, at + 4));
    }
    if said != "cfg" || list.kind != TokenKind::Open(b'(') {
        return None;
    }
    let close = tokens.get(closing(tokens, at + 3)?)?;
    let condition = text.get(list.span.end as usize..close.span.start as usize)?;
    Some((condition, closing(tokens, at + 1)? + 1))
}

/// Where what starts at a token ends, other attributes on it passed over.
fn end_of_element(text: &str, tokens: &[Token], at: usize) -> u32 {
    let whole = u32::try_from(text.len()).unwrap_or_default();
    let Some(mut at) = behind_attributes(tokens, at) else {
        return whole;
    };
    let by_comma = !is_item(text, tokens, at);
    let mut angles = 0_i32;
    let mut before: Option<&Token> = None;
    while let Some(token) = tokens.get(at) {
        let arrow = before.is_some_and(|before| before.is(b'-') || before.is(b'='));
        match token.kind {
            TokenKind::Close(_) => return token.span.start,
            TokenKind::Open(b'{') if ends_with_block(text, tokens, at) => {
                let close = closing(tokens, at).and_then(|close| tokens.get(close));
                return close.map_or(whole, |close| close.span.end);
            }
            TokenKind::Open(_) => {
                let Some(close) = closing(tokens, at) else {
                    return whole;
                };
                at = close;
            }
            TokenKind::Punct(b';') => return token.span.end,
            TokenKind::Punct(b'<') => angles += 1,
            TokenKind::Punct(b'>') if !arrow => angles -= 1,
            TokenKind::Punct(b',') if by_comma && angles <= 0 => return token.span.end,
            _ => {}
        }
        before = tokens.get(at);
        at += 1;
    }
    whole
}

/// The token behind attributes that start at one.
fn behind_attributes(tokens: &[Token], mut at: usize) -> Option<usize> {
    while tokens.get(at).is_some_and(|token| token.is(b'#')) {
        at = closing(tokens, at + 1)? + 1;
    }
    Some(at)
}

/// Whether nothing goes on behind the block that opens at a token.
fn ends_with_block(text: &str, tokens: &[Token], open: usize) -> bool {
    closing(tokens, open).is_some_and(|close| {
        let next = tokens.get(close + 1);
        !next.is_some_and(|next| {
            next.is(b'.') || next.is(b'?') || next.span.of(text) == Some("else")
        })
    })
}

/// The words that items and `let` start with.
const ITEM_WORDS: &[&str] = &[
    "async",
    "const",
    "enum",
    "extern",
    "fn",
    "impl",
    "let",
    "macro_rules",
    "mod",
    "static",
    "struct",
    "trait",
    "type",
    "union",
    "unsafe",
    "use",
];

/// Whether an item or a `let` starts at a token: no comma ends it.
fn is_item(text: &str, tokens: &[Token], mut at: usize) -> bool {
    let word = |at: usize| tokens.get(at).and_then(|token| token.span.of(text));
    if word(at) == Some("pub") {
        at += 1;
        if tokens
            .get(at)
            .is_some_and(|token| token.kind == TokenKind::Open(b'('))
        {
            at = closing(tokens, at).map_or(tokens.len(), |close| close + 1);
        }
    }
    word(at).is_some_and(|word| ITEM_WORDS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conditions_of(text: &str, name: &str) -> Vec<String> {
        let at = u32::try_from(text.find(name).unwrap()).unwrap();
        let mut found = BTreeSet::new();
        for (span, condition) in extents(text) {
            if span.start <= at && at < span.end {
                split(&condition, &mut found);
            }
        }
        found.into_iter().collect()
    }

    #[test]
    fn an_attribute_ends_with_what_it_stands_on() {
        let text = r#"
#[cfg(unix)]
#[inline]
fn f<T, U>(inside: T) -> [u8; 4] { body() }
fn g() {
    #[cfg(all(feature = "a", feature = "b"))]
    return statement();
    match x {
        #[cfg(windows)]
        A => arm(),
        B => other_arm(),
    }
}
struct S {
    #[cfg(test)]
    pub field: Map<K, V>,
    pub next: Next,
}
#[cfg(any(unix, windows))]
use a::{imported, more};
use a::plain;
"#;
        for (name, expected) in [
            ("inside", vec!["unix"]),
            ("body", vec!["unix"]),
            ("fn g", vec![]),
            ("statement", vec!["feature=\"a\"", "feature=\"b\""]),
            ("arm", vec!["windows"]),
            ("other_arm", vec![]),
            ("V>", vec!["test"]),
            ("Next", vec![]),
            ("imported", vec!["any(unix,windows)"]),
            ("plain", vec![]),
        ] {
            assert_eq!(conditions_of(text, name), expected, "{name}");
        }
    }
}
