//! Relative paths in arguments of macros, which are read where the macro puts them: in a module that it makes,
//! `super` is the module of the call, and not the one around that.
//!
//! From the place of the call such a path leads nowhere, or somewhere else.

use super::mapping::Mapping;
use crate::{
    facts::{ItemKind, MacroCall, Origin, SourceFacts},
    lexer,
    resolve::{ModuleId, Site, World},
};

/// How a relative path in the arguments of a macro is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArgumentReading {
    /// As it stands.
    AsWritten,
    /// In a module that the macro makes below the one of the call: the way from there stays what it is.
    Within,
    /// In a place that cannot be told.
    Unknown(&'static str),
}

/// How a path is read that code takes along to another module.
pub(super) fn reading(
    mapping: &Mapping<'_>,
    facts: &SourceFacts,
    site: &Site<'_>,
) -> ArgumentReading {
    let in_arguments = matches!(site.origin, Origin::MacroArguments | Origin::MacroTokens);
    let mut names = site.segments.iter().map(|segment| facts.name(segment.name));
    let relative = names.clone().take_while(|name| is_relative(name)).count();
    if !in_arguments || relative == 0 || relative == site.segments.len() {
        return ArgumentReading::AsWritten;
    }
    let steps = site.trace.steps.iter();
    let known = steps.take_while(|step| !step.is_empty()).count();
    let supers = names.clone().filter(|name| *name == "super").count();
    let leads_nowhere = known <= relative;
    if leads_nowhere && supers < 2 && site.trace.unresolved == Some(relative) {
        return ArgumentReading::Within;
    }
    let here = mapping.world.module_of(site.space);
    let own = |first| supers > 0 && has(mapping.world, here, first);
    let doubtful = leads_nowhere || names.nth(relative).is_some_and(own);
    if doubtful && makes_modules(mapping, facts, site) {
        return ArgumentReading::Unknown(match leads_nowhere {
            true => {
                "the macro makes modules, and from the call the path leads nowhere that is known"
            }
            false => "the macro makes modules, and the name is there for both readings",
        });
    }
    ArgumentReading::AsWritten
}

fn is_relative(name: &str) -> bool {
    matches!(name, "super" | "self")
}

/// Whether a module has a name.
fn has(world: &World, module: ModuleId, name: &str) -> bool {
    let names = &world.space(module).names;
    world
        .names
        .get(name)
        .is_some_and(|sym| names.contains_key(&sym))
}

/// Whether the text of a macro that the site is an argument of declares modules. Macros go by their names.
fn makes_modules(mapping: &Mapping<'_>, facts: &SourceFacts, site: &Site<'_>) -> bool {
    let Some(first) = site.segments.first() else {
        return false;
    };
    let around = |call: &&MacroCall| call.body.contains(first.span);
    let mut calls = facts.macro_calls.iter().filter(around);
    calls.any(|call| {
        let path = facts.segments(facts.path(call.path).segments);
        let name = path.last().map(|last| facts.name(last.name));
        name.is_some_and(|name| declares_modules(mapping, name))
    })
}

/// Whether a macro of this name holds `mod`.
fn declares_modules(mapping: &Mapping<'_>, name: &str) -> bool {
    mapping.world.sources().any(|(file, source)| {
        let facts = mapping.world.facts(file);
        let mut items = facts.items.iter();
        items.any(|item| {
            let named = item.kind == ItemKind::Macro && facts.name(item.name.name) == name;
            let text = named.then(|| mapping.texts.text(&source.path)).flatten();
            text.is_some_and(|text| {
                let tokens = lexer::tokens(&text, item.span);
                let mut words = tokens.iter().filter(|token| token.is_ident());
                words.any(|word| word.span.of(&text) == Some("mod"))
            })
        })
    })
}
