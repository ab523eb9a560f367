//! Macros that are handed to other macros by their plain names: `step!(1, own!(…))`, where `step!`
//! takes `$name:ident !`.
//!
//! A path does not fit there. Only macros of the tree are looked at, by their names.

use std::{cell::OnceCell, collections::BTreeSet};

use coalesce_model::{ByteSpan, Edit, Finding};

use super::{super::mapping::refusal, moving::Set, scan::Scan};
use crate::{
    facts::ItemKind,
    lexer::{self, TokenKind},
    resolve::FileId,
};

/// Names in the bodies of macros that would become paths where a macro takes a plain name.
pub(super) fn check(set: &Set<'_>, scan: &Scan) -> Vec<Finding> {
    let takers = OnceCell::new();
    let takers = || takers.get_or_init(|| takers_of_names(set)) as &BTreeSet<String>;
    let files = scan.files.iter();
    let edits = files.map(|(file, work)| (*file, work.edits.as_slice()));
    edits
        .flat_map(|(file, edits)| handed_in(set, file, edits, &takers))
        .collect()
}

/// Those of one file.
fn handed_in<'t>(
    set: &Set<'_>,
    file: FileId,
    edits: &[Edit],
    takers: &dyn Fn() -> &'t BTreeSet<String>,
) -> Vec<Finding> {
    let path = set.path(file);
    let mut paths: Vec<&Edit> = edits.iter().filter(|edit| is_path(edit)).collect();
    paths.sort_by_key(|edit| edit.span.start);
    let facts = Some(set.world().facts(file)).filter(|_| !paths.is_empty());
    let (Some(facts), Some(text)) = (facts, set.mapping.texts.text(&path)) else {
        return Vec::new();
    };
    let macros = facts.items.iter();
    let macros = macros.filter(|item| item.kind == ItemKind::Macro);
    let taken = macros.flat_map(|item| {
        let inside = edits_in(&paths, item.span);
        match inside.is_empty() {
            true => Vec::new(),
            false => taken_by((&text, item.span), inside, takers()),
        }
    });
    let refused = taken.map(|(edit, by)| {
        let said = &edit.text;
        let message = format!("`{by}!` takes a plain name here, and not the path `{said}`");
        refusal(path.clone(), message).at(edit.span)
    });
    refused.collect()
}

/// Those of some edits, sorted, that stand in a text.
fn edits_in<'e>(edits: &[&'e Edit], body: ByteSpan) -> Vec<&'e Edit> {
    let first = edits.partition_point(|edit| edit.span.start < body.start);
    let behind = edits.get(first..).unwrap_or_default().iter();
    let inside = behind.take_while(|edit| edit.span.start < body.end);
    inside
        .filter(|edit| body.contains(edit.span))
        .copied()
        .collect()
}

fn is_path(edit: &Edit) -> bool {
    edit.text.contains("::") && !edit.span.is_empty()
}

/// The names of macros that take `$name:ident !`.
fn takers_of_names(set: &Set<'_>) -> BTreeSet<String> {
    let world = set.world();
    let mut found = BTreeSet::new();
    for node in &world.items {
        let Some((file, at)) = node.definitions.first().copied() else {
            continue;
        };
        if node.kind != ItemKind::Macro || found.contains(&node.name) {
            continue;
        }
        let fact = world.facts(file).item(at);
        let Some(text) = set.mapping.texts.text(&set.path(file)) else {
            continue;
        };
        let tokens = lexer::tokens(&text, fact.span);
        let said: Vec<&str> = tokens
            .iter()
            .map(|token| token.span.of(&text).unwrap_or_default())
            .collect();
        if said.windows(3).any(|three| three == [":", "ident", "!"]) {
            found.insert(node.name.clone());
        }
    }
    found
}

/// Which of some edits in the body of a macro, sorted, stand in a call of one of these macros, and of which.
fn taken_by<'e>(
    (text, body): (&str, ByteSpan),
    edits: Vec<&'e Edit>,
    takers: &BTreeSet<String>,
) -> Vec<(&'e Edit, String)> {
    let mut found = Vec::new();
    let mut edits = edits.into_iter().peekable();
    // The calls that are open, those of others as nothing.
    let mut open: Vec<Option<&str>> = Vec::new();
    let mut before: [&str; 2] = ["", ""];
    for token in lexer::tokens(text, body) {
        while let Some(edit) = edits.next_if(|edit| edit.span.start <= token.span.start) {
            let by = open.iter().flatten().next();
            found.extend(by.map(|by| (edit, (*by).to_owned())));
        }
        match token.kind {
            TokenKind::Open(_) => {
                let called = before[1] == "!" && takers.contains(before[0]);
                open.push(called.then_some(before[0]));
            }
            TokenKind::Close(_) => drop(open.pop()),
            _ => {}
        }
        before = [before[1], token.span.of(text).unwrap_or_default()];
    }
    found
}
