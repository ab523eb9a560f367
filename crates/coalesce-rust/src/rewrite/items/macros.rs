//! Macros that moved text calls and that are seen by where they stand.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Finding, Texts};

use super::{
    super::{mapping::refusal, place::Place, spell::module_in},
    moving::Set,
    scan::Scan,
};
use crate::{
    facts::ItemKind,
    lexer,
    resolve::{FileId, ItemId, ModuleId},
};

/// Calls that would be out of scope in the new place.
pub(super) fn check(set: &Set<'_>, scan: &Scan) -> Vec<Finding> {
    let mut found = Vec::new();
    for ((item, place), (file, span)) in &scan.macros {
        if is_seen(set, *item, place) {
            continue;
        }
        let name = set.world().items.get(item.index());
        let name = name.map_or("", |node| node.name.as_str());
        found.push(Finding {
            span: Some(*span),
            help: Some(format!(
                "`pub(crate) use {name};` behind its definition gives it a path, if that can be"
            )),
            ..refusal(
                set.path(*file),
                format!(
                    "`{name}!` would be out of scope in `{}`",
                    set.mapping.name_of(place)
                ),
            )
        });
    }
    found
}

/// Whether the end of the module at a place sees a macro by where it stands.
pub(super) fn is_seen(set: &Set<'_>, item: ItemId, place: &Place) -> bool {
    let world = set.world();
    let Some(node) = world.items.get(item.index()) else {
        return false;
    };
    let Some((file, at)) = node.definitions.first().copied() else {
        return false;
    };
    let fact = world
        .facts(file)
        .and_then(|facts| facts.items.get(at as usize));
    let Some(fact) = fact else { return false };
    let mut scope = (node.module, file, fact.span.end);
    while let Some(outer) = given(set, scope.0) {
        scope = outer;
    }
    is_below(set, scope, place)
}

/// Whether a macro at the end of the module at a place is seen by its plain name: from a byte of a
/// file of `user`, which stays, or from the end of the module at `here`.
pub(super) fn is_seen_at_end(
    set: &Set<'_>,
    to: &Place,
    here: &Place,
    user: Option<(ModuleId, FileId, u32)>,
) -> bool {
    let Some(mut module) = set.mapping.at(to) else {
        return false;
    };
    while let Some((outer, file, at)) = given(set, module) {
        module = outer;
        let around = set.mapping.after(outer);
        let seen = match user {
            Some((own, own_file, own_at)) if own == outer => own_file == file && own_at > at,
            _ => *here != around && is_below(set, (outer, file, at), here),
        };
        if seen {
            return true;
        }
    }
    false
}

/// Where a module gives its macros to the one around it.
fn given(set: &Set<'_>, module: ModuleId) -> Option<(ModuleId, FileId, u32)> {
    let world = set.world();
    let parent = world.module(module)?.parent?;
    let declarations = world.declarations(module);
    let (file, at) = *declarations.first()?;
    let declaration = world.facts(file)?.modules.get(at as usize)?;
    let gives = declaration.macro_use || world.gives_macros(module);
    gives.then_some((parent, file, declaration.span.end))
}

fn is_below(set: &Set<'_>, (module, file, at): (ModuleId, FileId, u32), place: &Place) -> bool {
    let around = set.mapping.after(module);
    if !place.is_within(&around) {
        return false;
    }
    let Some(name) = place.path.get(around.path.len()) else {
        // What arrives stands at the end.
        return true;
    };
    let world = set.world();
    let Some(child) = set.mapping.at(&around.child(name)) else {
        return false;
    };
    world.declarations(child).iter().any(|(declared, index)| {
        let facts = world.facts(*declared);
        let span = facts
            .and_then(|facts| facts.modules.get(*index as usize))
            .map(|one| one.span);
        let span: ByteSpan = span.unwrap_or_default();
        *declared == file && span.start > at
    })
}

/// Calls of macros that put together a path to what moves from parts that nobody sees in one place:
/// `old::module::$name`, `$module::Name`.
pub(super) fn fragments(set: &Set<'_>, texts: &dyn Texts) -> Vec<Finding> {
    let mut found = Vec::new();
    let wanted: BTreeMap<String, Parts> = definitions(set, texts);
    if wanted.is_empty() {
        return found;
    }
    let world = set.world();
    for (at, source) in world.files.iter().enumerate() {
        let file = FileId(u32::try_from(at).unwrap_or(u32::MAX));
        let Some(facts) = world.facts(file) else {
            continue;
        };
        let calls: Vec<(&Parts, ByteSpan)> = facts
            .macro_calls
            .iter()
            .filter_map(|call| {
                let path = facts.paths.get(call.path as usize)?;
                let name = facts.segments(path.segments).last()?;
                Some((wanted.get(facts.name(name.name))?, call.body))
            })
            .collect();
        if calls.is_empty() {
            continue;
        }
        for load in &source.loads {
            world.visit(*load as usize, &mut |facts, site| {
                let Some(first) = site.segments.first() else {
                    return;
                };
                let inside = calls.iter().find(|(_, body)| body.contains(first.span));
                let Some((parts, _)) = inside else { return };
                let name = facts.name(first.name);
                let module = site.trace.steps.last().and_then(module_in);
                let moving = set.moving.iter().find(|moving| {
                    let old = world.items.get(moving.item.index()).map(|item| &item.name);
                    let old = old.map_or("", String::as_str);
                    (parts.behind.contains(&moving.home) && name == old)
                        || (parts.names.contains(old) && module == Some(moving.home))
                });
                if let Some(moving) = moving {
                    found.push(Finding {
                        span: Some(first.span),
                        ..refusal(
                            source.path.clone(),
                            format!(
                                "a macro puts a path to `{}` together from this and parts of its own",
                                moving.change.from
                            ),
                        )
                    });
                }
            });
        }
    }
    found
}

/// What the paths of a macro are put together from.
#[derive(Default)]
struct Parts {
    /// Modules before a part that the caller gives.
    behind: BTreeSet<ModuleId>,
    /// Names behind one.
    names: BTreeSet<String>,
}

/// Macros with such paths, by name.
fn definitions(set: &Set<'_>, texts: &dyn Texts) -> BTreeMap<String, Parts> {
    let world = set.world();
    let mut found: BTreeMap<String, Parts> = BTreeMap::new();
    for (at, source) in world.files.iter().enumerate() {
        let file = FileId(u32::try_from(at).unwrap_or(u32::MAX));
        let Some(facts) = world.facts(file) else {
            continue;
        };
        let macros: Vec<_> = facts
            .items
            .iter()
            .filter(|item| item.kind == ItemKind::Macro)
            .collect();
        let Some(text) = texts.text(&source.path).filter(|_| !macros.is_empty()) else {
            continue;
        };
        for item in &macros {
            let names = names_behind(&text, item.span);
            if !names.is_empty() {
                let parts = found
                    .entry(facts.name(item.name.name).to_owned())
                    .or_default();
                parts.names.extend(names);
            }
        }
        for load in &source.loads {
            world.visit(*load as usize, &mut |facts, site| {
                let Some(last) = site.segments.last() else {
                    return;
                };
                let inside = macros.iter().find(|item| item.span.contains(last.span));
                let rest = text.get(last.span.end as usize..).unwrap_or_default();
                let module = site.trace.steps.last().and_then(module_in);
                if let (Some(item), Some(module), true) = (inside, module, rest.starts_with("::$"))
                {
                    let name = facts.name(item.name.name).to_owned();
                    found.entry(name).or_default().behind.insert(module);
                }
            });
        }
    }
    found
}

/// Names that stand behind `$part::` in a macro.
fn names_behind(text: &str, span: ByteSpan) -> BTreeSet<String> {
    let tokens = lexer::tokens(text, span);
    let windows = tokens.windows(5);
    windows
        .filter_map(|window| match window {
            [dollar, part, one, two, name]
                if dollar.is(b'$')
                    && part.is_ident()
                    && one.is(b':')
                    && two.is(b':')
                    && name.is_ident() =>
            {
                name.span.of(text).map(str::to_owned)
            }
            _ => None,
        })
        .collect()
}
