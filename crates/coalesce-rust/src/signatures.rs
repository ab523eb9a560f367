//! Whether a function that takes another one's place is called as that was: who calls it from outside
//! the tree may not know.
//!
//! Signatures are compared as texts, without the ways that lead to names and without the names of
//! parameters. Whether a type of another name is as good is for the compiler of its user to say.

use std::collections::BTreeMap;

use coalesce_model::{ByteSpan, Change, ChangeKind, Texts};

use crate::{
    facts::ItemKind,
    lexer,
    resolve::{ItemId, Res, World},
    rewrite::is_called_alike,
};

/// Of each pair of functions of a tree, by full names, their signatures where these differ in more than names that the
/// changes give.
pub fn apart(
    world: &World,
    pairs: &[(String, String)],
    changes: &[Change],
    texts: &dyn Texts,
) -> Vec<Option<(String, String)>> {
    let renames = Renames::of(changes);
    let pairs = pairs.iter().map(|(old, new)| {
        let items = (function(world, old)?, function(world, new)?);
        let text = |item| signature(world, item, texts);
        let (old, new) = (text(items.0)?, text(items.1)?);
        let is_apart = renames.differ(&old, &new) && !is_called_alike(world, items, texts);
        is_apart.then(|| (line(&old), line(&new)))
    });
    pairs.collect()
}

fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The function that a full name leads to.
fn function(world: &World, name: &str) -> Option<ItemId> {
    let led = world.leads_to(name).into_iter();
    let functions = led.filter_map(|res| match res {
        Res::Item(item) => Some(item).filter(|item| world[*item].kind == ItemKind::Function),
        _ => None,
    });
    functions.last()
}

/// What follows the name of a function, up to its body; nothing where that is defined under several conditions.
fn signature(world: &World, item: ItemId, texts: &dyn Texts) -> Option<String> {
    let [(file, at)] = world[item].definitions.as_slice() else {
        return None;
    };
    let fact = world.facts(*file).item(*at);
    let text = texts.text(&world[*file].path)?;
    let span = ByteSpan::new(fact.name.span.end, fact.signature.end);
    Some(span.of(&text)?.trim_end().to_owned())
}

/// Old names of items, each with the last name of its new path.
struct Renames<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> Renames<'a> {
    fn of(changes: &'a [Change]) -> Self {
        let lists = changes.iter().filter_map(|change| match &change.kind {
            ChangeKind::Replace { rename } => Some(rename),
            ChangeKind::Move | ChangeKind::Supersede | ChangeKind::Remove => None,
        });
        let last = |new: &'a str| new.rsplit("::").next().unwrap_or(new);
        let pairs = lists.flatten();
        Self(pairs.map(|(old, new)| (old.as_str(), last(new))).collect())
    }

    /// Whether two signatures, from behind the name to the body, read differently.
    fn differ(&self, old: &str, new: &str) -> bool {
        let old = plain(old).into_iter();
        let old: Vec<&str> = old
            .map(|word| self.0.get(word).copied().unwrap_or(word))
            .collect();
        old != plain(new)
    }
}

/// The tokens of a signature, without the ways to names, the names of parameters, and commas that
/// nothing follows.
fn plain(text: &str) -> Vec<&str> {
    let tokens = lexer::tokens(text, ByteSpan::from_range(0..text.len()));
    let words: Vec<(&str, bool)> = tokens
        .iter()
        .map(|token| (token.span.of(text).unwrap_or_default(), token.is_ident()))
        .collect();
    let at = |at: usize| words.get(at).map_or("", |(word, _)| *word);
    let mut found = Vec::new();
    let mut here = 0;
    while let Some((word, is_ident)) = words.get(here) {
        let idle = idle_words(here, *is_ident, &at);
        if idle == 0 {
            let last = *word == "," && matches!(at(here + 1), ")" | ">" | "");
            found.extend(Some(*word).filter(|_| !last));
        }
        here += idle.max(1);
    }
    found
}

/// How many words from one on say nothing of a signature: a step of a way, the name of a parameter, its `mut`.
fn idle_words<'w>(here: usize, is_ident: bool, at: &impl Fn(usize) -> &'w str) -> usize {
    let colon = at(here + 1) == ":";
    if is_ident && colon && at(here + 2) == ":" {
        3
    } else if is_ident && colon && is_before_parameter(here, at) {
        2
    } else {
        let is_mut = at(here) == "mut" && is_before_parameter(here, at);
        usize::from(is_mut && at(here + 2) == ":")
    }
}

fn is_before_parameter<'w>(here: usize, at: &impl Fn(usize) -> &'w str) -> bool {
    let before = here.checked_sub(1).map_or("", at);
    matches!(before, "(" | "," | "mut")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_differ_where_calls_may() {
        let changes = [Change {
            from: "old".into(),
            to: "new".into(),
            subject: coalesce_model::Subject::Module,
            kind: ChangeKind::Replace {
                rename: vec![("GpuPool".into(), "memory::Pool".into())],
            },
            shim: None,
            uses: coalesce_model::Uses::default(),
        }];
        let renames = Renames::of(&changes);
        for (old, new, differ) in [
            ("()", "()", false),
            ("(a: u8) -> u8 ", "(_b: u8,) -> u8", false),
            ("(p: &GpuPool)", "(pool: &crate::memory::Pool)", false),
            ("(p: &GpuPool)", "(p: &GpuPool)", true),
            ("(a: u8)", "(a: u16)", true),
            ("(a: u8)", "(a: u8, b: u8)", true),
            ("() -> Result<u8, String>", "() -> Result<u8, Error>", true),
            ("(mut a: u8)", "(a: u8)", false),
            (
                "<T: fmt::Debug>(a: T) -> std::vec::Vec<T>",
                "<T: Debug>(a: T) -> Vec<T>",
                false,
            ),
            ("<T>(a: T) where T: Copy", "<T>(a: T)", true),
        ] {
            assert_eq!(renames.differ(old, new), differ, "{old} | {new}");
        }
    }
}
