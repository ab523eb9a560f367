//! Macros that are handed to other macros by their plain names: `step!(1, own!(…))`, where `step!`
//! takes `$name:ident !`.
//!
//! A path does not fit there. Only macros of the tree are looked at, by their names.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Edit, Finding};

use super::{super::mapping::refusal, moving::Set, scan::Scan};
use crate::{
    facts::ItemKind,
    lexer::{self, TokenKind},
};

/// Names in the bodies of macros that would become paths where a macro takes a plain name.
pub(super) fn check(set: &Set<'_>, scan: &Scan) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut takers = None;
    for (file, work) in &scan.files {
        let path = set.path(*file);
        let paths: Vec<&Edit> = work.edits.iter().filter(|edit| is_path(edit)).collect();
        let facts = Some(set.world().facts(*file)).filter(|_| !paths.is_empty());
        let (Some(facts), Some(text)) = (facts, set.mapping.texts.text(&path)) else {
            continue;
        };
        let macros = facts
            .items
            .iter()
            .filter(|item| item.kind == ItemKind::Macro);
        let bodies: Vec<ByteSpan> = macros.map(|item| item.span).collect();
        for edit in paths {
            let body = bodies.iter().find(|body| body.contains(edit.span));
            let Some(body) = body else { continue };
            let takers = takers.get_or_insert_with(|| takers_of_names(set));
            let by = calls_around(&text, *body, edit.span.start)
                .into_iter()
                .find(|name| takers.contains(name));
            found.extend(by.map(|by| {
                refusal(
                    path.clone(),
                    format!(
                        "`{by}!` takes a plain name here, and not the path `{}`",
                        edit.text
                    ),
                )
                .at(edit.span)
            }));
        }
    }
    found
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

/// The macros whose calls in a text are open at a byte.
fn calls_around(text: &str, body: ByteSpan, at: u32) -> Vec<String> {
    let mut open: Vec<Option<String>> = Vec::new();
    let mut before: [&str; 2] = ["", ""];
    for token in lexer::tokens(text, body) {
        if token.span.start >= at {
            break;
        }
        match token.kind {
            TokenKind::Open(_) => open.push((before[1] == "!").then(|| before[0].to_owned())),
            TokenKind::Close(_) => drop(open.pop()),
            _ => {}
        }
        before = [before[1], token.span.of(text).unwrap_or_default()];
    }
    open.into_iter().flatten().collect()
}
