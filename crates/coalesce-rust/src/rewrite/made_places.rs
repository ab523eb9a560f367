//! Relative paths in arguments of macros, which are read where the macro puts them: in a module that it makes,
//! `super` is the module of the call, and not the one around that.
//!
//! From the place of the call such a path leads nowhere, or somewhere else.

use super::mapping::Mapping;
use crate::{
    facts::{ItemKind, Origin, SourceFacts},
    lexer::{self, Token},
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
    let in_arguments = is_in_arguments(site);
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

fn is_in_arguments(site: &Site<'_>) -> bool {
    matches!(site.origin, Origin::MacroArguments | Origin::MacroTokens)
}

/// Whether a site is one word that a rule of the macro it is an argument of has in its pattern. Macros go by their
/// names, and all of the tree are looked at.
pub(super) fn is_word_of_pattern(
    mapping: &Mapping<'_>,
    facts: &SourceFacts,
    site: &Site<'_>,
) -> bool {
    let [only] = site.segments else {
        return false;
    };
    if !is_in_arguments(site) {
        return false;
    }
    let word = facts.name(only.name);
    let asks = |text: &str, tokens: &[Token]| {
        let words = tokens.iter().map(|token| token.span.of(text));
        let words: Vec<&str> = words.map(Option::unwrap_or_default).collect();
        let mut said = (0..words.len()).filter(|at| words.get(*at) == Some(&word));
        said.any(|at| {
            let is_literal = at.checked_sub(1).and_then(|at| words.get(at)) != Some(&"$");
            is_literal && is_in_pattern(&words, at)
        })
    };
    macros_around(facts, site).any(|name| any_macro(mapping, name, &asks))
}

/// Whether a word of a macro's text stands in front of the `=>` of its rule: of what is around it, innermost first, one
/// bracket has that behind it.
fn is_in_pattern(words: &[&str], at: usize) -> bool {
    let mut depth = 0_usize;
    let mut behind = (at..words.len()).filter(|at| match words.get(*at) {
        Some(&("(" | "[" | "{")) => {
            depth += 1;
            false
        }
        Some(&(")" | "]" | "}")) if depth == 0 => true,
        Some(&(")" | "]" | "}")) => {
            depth -= 1;
            false
        }
        _ => false,
    });
    behind.any(|close| words.get(close + 1) == Some(&"=") && words.get(close + 2) == Some(&">"))
}

/// Whether the text of a macro that the site is an argument of declares modules. Macros go by their names.
fn makes_modules(mapping: &Mapping<'_>, facts: &SourceFacts, site: &Site<'_>) -> bool {
    let declares = |text: &str, tokens: &[Token]| {
        let mut words = tokens.iter().filter(|token| token.is_ident());
        words.any(|word| word.span.of(text) == Some("mod"))
    };
    macros_around(facts, site).any(|name| any_macro(mapping, name, &declares))
}

/// The names of the macros that a site is an argument of.
fn macros_around<'f>(facts: &'f SourceFacts, site: &Site<'f>) -> impl Iterator<Item = &'f str> {
    let first = site.segments.first().map(|first| first.span);
    let calls = facts.macro_calls.iter();
    let calls = calls.filter(move |call| first.is_some_and(|first| call.body.contains(first)));
    calls.filter_map(|call| {
        let path = facts.segments(facts.path(call.path).segments);
        path.last().map(|last| facts.name(last.name))
    })
}

/// Whether the text of a macro of this name is such.
fn any_macro(mapping: &Mapping<'_>, name: &str, is_such: &dyn Fn(&str, &[Token]) -> bool) -> bool {
    mapping.world.sources().any(|(file, source)| {
        let facts = mapping.world.facts(file);
        let mut items = facts.items.iter();
        items.any(|item| {
            let named = item.kind == ItemKind::Macro && facts.name(item.name.name) == name;
            let text = named.then(|| mapping.texts.text(&source.path)).flatten();
            text.is_some_and(|text| is_such(&text, &lexer::tokens(&text, item.span)))
        })
    })
}
