//! Definitions in the arguments of a macro that makes nothing else to be named: the call moves as a whole.

use coalesce_model::ByteSpan;
use syn::spanned::Spanned as _;

use crate::{
    facts::{Item, ItemKind, MacroCall, Origin, SourceFacts},
    lexer,
    resolve::World,
    syntax,
    words::WRAPPING_MACROS,
};

/// The call around a definition, its attributes and semicolon included, where that definition is all
/// that it makes; `None` where the macro is another one, or makes more.
pub(super) fn whole_call(
    world: &World,
    (facts, fact): (&SourceFacts, &Item),
    text: &str,
) -> Option<ByteSpan> {
    let argument = matches!(
        fact.origin,
        Origin::KnownMacro | Origin::MacroArguments | Origin::MacroTokens
    );
    let around = |call: &&MacroCall| call.body.contains(fact.span);
    let mut calls = facts.macro_calls.iter().filter(around);
    let (Some(call), None) = (calls.next(), calls.next()) else {
        return None;
    };
    let plain = argument && call.item_position && facts.problem.is_none();
    if !plain || call.scope != fact.scope || !is_wrapper(world, facts, call) {
        return None;
    }
    let mut items = facts.items.iter();
    let alone = items.all(|item| item.span == fact.span || !call.body.contains(item.span));
    if !alone || names_more(text, call.body) {
        return None;
    }
    statement(text, fact.span)
}

/// Whether a call is one of a known macro, which no macro of the tree has the name of.
fn is_wrapper(world: &World, facts: &SourceFacts, call: &MacroCall) -> bool {
    let path = facts.path(call.path);
    let Some(last) = facts.segments(path.segments).last() else {
        return false;
    };
    let name = facts.name(last.name);
    WRAPPING_MACROS.contains(name)
        && !world
            .items
            .iter()
            .any(|item| item.kind == ItemKind::Macro && item.name == name)
}

/// Whether the arguments ask for types by names of their own: `#[project = Name]`.
fn names_more(text: &str, body: ByteSpan) -> bool {
    let tokens = lexer::tokens(text, body);
    tokens.windows(2).any(|pair| {
        let [word, next] = pair else { return false };
        let word = word.span.of(text).unwrap_or_default();
        word.starts_with("project") && next.is(b'=')
    })
}

/// The macro call, as a statement, that a definition stands in.
fn statement(text: &str, definition: ByteSpan) -> Option<ByteSpan> {
    // The parser leaves a byte-order mark and a `#!` line out, and counts from there.
    if text.starts_with('\u{feff}') || text.starts_with("#!") && !text.starts_with("#![") {
        return None;
    }
    let file = syntax::parse_file(text).ok()?;
    let mut open: Vec<&syn::Item> = file.items.iter().collect();
    let mut found = None;
    while let Some(item) = open.pop() {
        let range = item.span().byte_range();
        let span = ByteSpan::from_range(range);
        if !span.contains(definition) {
            continue;
        }
        match item {
            syn::Item::Macro(_) => found = Some(span),
            syn::Item::Mod(module) => {
                open.extend(module.content.iter().flat_map(|(_, items)| items));
            }
            _ => {}
        }
    }
    drop(file);
    proc_macro2::extra::invalidate_current_thread_spans();
    found
}
