//! Definitions in the arguments of a macro that makes nothing else to be named: the call moves as a whole, where all
//! that it defines goes to one place.

use std::collections::BTreeSet;

use coalesce_model::ByteSpan;
use syn::spanned::Spanned as _;

use crate::{
    facts::{Item, MacroCall, Origin, SourceFacts},
    lexer,
    resolve::{ModuleId, World},
    syntax,
    words::WRAPPING_MACROS,
};

/// The call around a definition, its attributes and semicolon included, where all that it makes goes along; `None`
/// where the macro is another one, or makes more. `goes` says of an item of the call whether it goes with this one.
pub(super) fn whole_call(
    (world, home): (&World, ModuleId),
    (facts, fact): (&SourceFacts, &Item),
    text: &str,
    goes: &dyn Fn(&Item) -> bool,
) -> Option<ByteSpan> {
    let call = call_around(facts, fact)?;
    if call.scope != fact.scope || !is_wrapper(world, facts, call) {
        return None;
    }
    let mut items = facts.items.iter();
    let alone = items.all(|item| {
        item.span == fact.span
            || !call.body.contains(item.span)
            || item.scope != fact.scope
            || goes(item)
    });
    let declares = facts.uses.iter().any(|one| call.body.contains(one.span))
        || facts.modules.iter().any(|one| call.body.contains(one.span));
    let parted = is_called(facts, call, "cfg_if") && names_module((world, home), facts, call);
    if !alone || declares || parted || names_more(text, call.body) {
        return None;
    }
    statement(text, fact.span)
}

/// The one call, among the items of a file, that a definition is given to.
fn call_around<'f>(facts: &'f SourceFacts, fact: &Item) -> Option<&'f MacroCall> {
    let argument = matches!(
        fact.origin,
        Origin::KnownMacro | Origin::MacroArguments | Origin::MacroTokens
    );
    let around = |call: &&MacroCall| call.body.contains(fact.span);
    let mut calls = facts.macro_calls.iter().filter(around);
    let (Some(call), None) = (calls.next(), calls.next()) else {
        return None;
    };
    (argument && call.item_position && facts.problem.is_none()).then_some(call)
}

fn is_called(facts: &SourceFacts, call: &MacroCall, name: &str) -> bool {
    let path = facts.path(call.path);
    let last = facts.segments(path.segments).last();
    last.is_some_and(|last| facts.name(last.name) == name)
}

/// Whether the arms of a call name anything of their module: an import would serve one of them alone.
fn names_module((world, home): (&World, ModuleId), facts: &SourceFacts, call: &MacroCall) -> bool {
    let own: BTreeSet<&str> = facts
        .items
        .iter()
        .filter(|item| call.body.contains(item.span))
        .map(|item| facts.name(item.name.name))
        .collect();
    facts.paths.iter().any(|path| {
        let first = facts.segments(path.segments).first();
        first.is_some_and(|first| {
            let name = facts.name(first.name);
            let inside = call.body.contains(first.span) && !own.contains(name);
            inside && (name == "super" || name == "self" || !world.bindings(home, name).is_empty())
        })
    })
}

/// Whether a call is one of a known macro, which no macro of the tree has the name of.
pub(super) fn is_wrapper(world: &World, facts: &SourceFacts, call: &MacroCall) -> bool {
    let path = facts.path(call.path);
    let Some(last) = facts.segments(path.segments).last() else {
        return false;
    };
    let name = facts.name(last.name);
    WRAPPING_MACROS.contains(name) && world.macros_named(name).is_empty()
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

/// The macro call, as a statement, that a definition stands in, or that has such arguments.
pub(super) fn statement(text: &str, definition: ByteSpan) -> Option<ByteSpan> {
    let _trees = syntax::Trees::begin();
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
    found
}
