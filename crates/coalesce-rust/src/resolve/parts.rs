//! Paths that a macro puts together from parts that nobody sees in one place: `old::module::$name`
//! in its body, `name` where it is called; or `$module::Name`.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Texts};

use super::{
    Found, Site,
    world::{FileId, ModuleId, World},
};
use crate::{
    facts::{Item, ItemKind, SourceFacts},
    lexer,
};

/// A word in the call of a macro that becomes a part of a path.
pub(crate) struct Part {
    pub file: FileId,
    pub span: ByteSpan,
    /// Indexes into what was sought; one at least.
    pub of: Vec<usize>,
}

/// Words that become parts of paths to what modules have by these names.
pub(crate) fn parts(world: &World, texts: &dyn Texts, sought: &[(ModuleId, &str)]) -> Vec<Part> {
    let mut found = Vec::new();
    if sought.is_empty() {
        return found;
    }
    let open = open_paths(world, texts);
    if open.is_empty() {
        return found;
    }
    for (file, source) in world.sources() {
        let facts = world.facts(file);
        let calls = calls(facts, &open);
        let loads = source.loads.iter().filter(|_| !calls.is_empty());
        for load in loads {
            world.visit(*load as usize, &mut |facts, site| {
                found.extend(part(file, facts, &site, &calls, sought));
            });
        }
    }
    found
}

/// The word of a site in one of these calls, where it becomes part of a path to what is sought.
fn part(
    file: FileId,
    facts: &SourceFacts,
    site: &Site<'_>,
    calls: &[(&Open, ByteSpan)],
    sought: &[(ModuleId, &str)],
) -> Option<Part> {
    let first = site.segments.first()?;
    let (open, _) = calls.iter().find(|(_, body)| body.contains(first.span))?;
    let name = facts.name(first.name);
    let module = site.trace.steps.last().and_then(Found::module);
    let is_meant = |(home, wanted): &(ModuleId, &str)| {
        (open.behind.contains(home) && name == *wanted)
            || (open.names.contains(*wanted) && module == Some(*home))
    };
    let meant = sought.iter().enumerate();
    let meant = meant.filter(|(_, one)| is_meant(one));
    let of: Vec<usize> = meant.map(|(at, _)| at).collect();
    (!of.is_empty()).then_some(Part {
        file,
        span: first.span,
        of,
    })
}

/// The calls of macros with open paths, and what stands between their delimiters.
fn calls<'o>(facts: &SourceFacts, open: &'o BTreeMap<String, Open>) -> Vec<(&'o Open, ByteSpan)> {
    let calls = facts.macro_calls.iter().filter_map(|call| {
        let path = facts.path(call.path);
        let name = facts.segments(path.segments).last()?;
        Some((open.get(facts.name(name.name))?, call.body))
    });
    calls.collect()
}

/// What the caller completes in the paths of a macro.
#[derive(Default)]
struct Open {
    /// Modules before a part that the caller gives.
    behind: BTreeSet<ModuleId>,
    /// Names behind one.
    names: BTreeSet<String>,
}

/// Macros with such paths, by name.
fn open_paths(world: &World, texts: &dyn Texts) -> BTreeMap<String, Open> {
    let mut found: BTreeMap<String, Open> = BTreeMap::new();
    for (file, source) in world.sources() {
        let facts = world.facts(file);
        let macros = facts.items.iter();
        let macros: Vec<_> = macros.filter(|item| item.kind == ItemKind::Macro).collect();
        let Some(text) = texts.text(&source.path).filter(|_| !macros.is_empty()) else {
            continue;
        };
        let named = macros
            .iter()
            .map(|item| (item, names_behind(&text, item.span)));
        for (item, names) in named.filter(|(_, names)| !names.is_empty()) {
            let name = facts.name(item.name.name).to_owned();
            found.entry(name).or_default().names.extend(names);
        }
        world.visit_file(source, &mut |facts, site| {
            if let Some((item, module)) = completed(&macros, &text, &site) {
                let name = facts.name(item.name.name).to_owned();
                found.entry(name).or_default().behind.insert(module);
            }
        });
    }
    found
}

/// The macro in whose body a path stands that the caller completes, and the module before what it gives.
fn completed<'m>(macros: &[&'m Item], text: &str, site: &Site<'_>) -> Option<(&'m Item, ModuleId)> {
    let last = site.segments.last()?;
    let item = macros.iter().find(|item| item.span.contains(last.span))?;
    let rest = text.get(last.span.end as usize..).unwrap_or_default();
    let module = site.trace.steps.last().and_then(Found::module)?;
    is_completed(rest).then_some((*item, module))
}

/// Whether what stands behind a path goes on with what a macro is given: `::$name`, `::{$name, other}`.
fn is_completed(rest: &str) -> bool {
    let Some(rest) = rest.strip_prefix("::") else {
        return false;
    };
    let list = rest
        .strip_prefix('{')
        .and_then(|list| list.split('}').next());
    rest.starts_with('$') || list.is_some_and(|list| list.contains('$'))
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
