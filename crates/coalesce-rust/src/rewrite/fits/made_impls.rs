//! Calls of macros that may implement something: what they write has no text that could be compared.

use std::collections::BTreeSet;

use super::{implementations::items_in, names::Names};
use crate::{
    facts::{ItemKind, MacroCall},
    lexer,
    resolve::{FileId, ItemId, ModuleId, Res},
};

/// The calls that may implement a type, or a trait, each by the words of the macro and of what it is given, the item's
/// own name left out.
pub(super) fn implementing(names: &Names<'_>, item: ItemId) -> BTreeSet<String> {
    let world = names.world;
    let node = &world[item];
    let kinds = [
        ItemKind::Struct,
        ItemKind::Enum,
        ItemKind::Union,
        ItemKind::Trait,
    ];
    let mut found = BTreeSet::new();
    if !kinds.contains(&node.kind) {
        return found;
    }
    for body in world.bodies_of(node.module) {
        let facts = world.facts(body.file);
        let calls = facts.macro_calls.iter();
        let own =
            calls.filter(|call| call.item_position && facts.module_scope(call.scope) == body.scope);
        for call in own {
            found.extend(said_for(names, item, (body.file, body.module), call));
        }
    }
    found
}

/// What a call says, where it or the body of its macro names an item.
fn said_for(
    names: &Names<'_>,
    item: ItemId,
    (file, module): (FileId, ModuleId),
    call: &MacroCall,
) -> Option<String> {
    let world = names.world;
    let facts = world.facts(file);
    let text = names.file(file)?;
    let path = facts.segments(facts.path(call.path).segments);
    let led = names.leads_to(&text, module, path.last()?.span);
    let macros = led.into_iter().filter_map(|res| match res {
        Res::Item(own) if world[own].kind == ItemKind::Macro => Some(own),
        _ => None,
    });
    let macros: Vec<ItemId> = macros.collect();
    let is_given = items_in(names, &text, (module, call.body)).contains(&item);
    let body_names = || macros.iter().any(|one| body_names(names, *one, item));
    if !is_given && !body_names() {
        return None;
    }
    let definitions = macros.iter().filter_map(|one| {
        let (file, fact) = names.definition(*one)?;
        let text = names.file(file)?;
        Some(words_of(&text.text, fact.span, &world[item].name))
    });
    let mut said: Vec<String> = definitions.collect();
    said.push(facts.name(path.last()?.name).to_owned());
    said.push(words_of(&text.text, call.body, &world[item].name));
    Some(said.join(" / "))
}

/// Whether the body of a macro says the name of an item.
fn body_names(names: &Names<'_>, of: ItemId, item: ItemId) -> bool {
    let known = names.definition(of).and_then(|(file, fact)| {
        let text = names.file(file)?;
        let tokens = lexer::tokens(&text.text, fact.span);
        let name = names.world[item].name.as_str();
        let mut words = tokens.iter().filter_map(|one| one.span.of(&text.text));
        Some(words.any(|word| word == name))
    });
    known.unwrap_or(true)
}

fn words_of(text: &str, span: coalesce_model::ByteSpan, left_out: &str) -> String {
    let tokens = lexer::tokens(text, span);
    let words = tokens.iter().filter_map(|one| one.span.of(text));
    let words = words.map(|word| if word == left_out { "_" } else { word });
    words.collect::<Vec<_>>().join(" ")
}
