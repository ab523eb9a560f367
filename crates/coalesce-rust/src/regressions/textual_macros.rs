//! Macros that are seen by where they stand: a call reads the nearest definition above it, so that what goes behind
//! another one of the same name reads that, without an error.
//!
//! Each definition has as many calls as before. What a body calls by a plain name counts for each call of the macro,
//! since that is where it is looked up.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Finding, change::Renames, finding::codes};

use super::is_changed;
use crate::{
    facts::{ItemKind, Namespaces, Origin, SourceFacts},
    resolve::{FileId, ItemId, ItemNode, ModuleId, Res, Site, UseSite, World},
    rewrite::{Anchor, anchors_of},
};

/// Calls that read another macro of the same name in the tree `after` than in the one `before`.
pub(super) fn other_definitions(
    before: &World,
    after: &World,
    renames: &Renames<'_>,
) -> Vec<Finding> {
    let names: BTreeSet<String> = &ambiguous(before) | &ambiguous(after);
    if names.is_empty() {
        return Vec::new();
    }
    let old = Calls::read(before, &names, &|name| renames.name_after(name));
    let new = Calls::read(after, &names, &str::to_owned);
    let grown = new.places.iter().filter(|(meant, places)| {
        places.len() > old.count(meant) && old.definitions.contains(&meant.definition)
    });
    let taken = grown.filter(|(meant, _)| old.is_more_of_others(&new, meant));
    let changed = |file: &FileId| is_changed(after, before, *file);
    let found = taken.filter_map(|(meant, places)| {
        let known = places.iter().find(|(file, _)| changed(file));
        let (file, span) = known.or_else(|| places.first())?;
        let (home, _) = meant.definition.rsplit_once('#')?;
        let name = &meant.name;
        let message = format!(
            "`{name}!` would be `{home}!` here, which stands nearer than the one that was meant"
        );
        let refused = Finding::refusal(after[*file].path.clone(), message);
        Some(
            refused
                .coded(codes::TIED_TO_PLACE)
                .at(*span)
                .with_help("give the definitions names of their own first".to_owned()),
        )
    });
    found.collect()
}

/// Names of macros that a call may read otherwise by its place: several definitions have them, or imports as well.
fn ambiguous(world: &World) -> BTreeSet<String> {
    let mut defined: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, node) in macros(world) {
        *defined.entry(&node.name).or_default() += node.definitions.len();
    }
    let mut imported: BTreeSet<&str> = BTreeSet::new();
    for (file, _) in world.sources().filter(|_| !defined.is_empty()) {
        let facts = world.facts(file);
        let bound = facts.leaves.iter().filter_map(|leaf| {
            let last = facts.segments(leaf.segments).last().copied();
            Some(facts.name(leaf.alias.or(last)?.name))
        });
        imported.extend(bound.filter(|name| defined.contains_key(name)));
    }
    let several = defined.into_iter();
    let several = several.filter(|(name, count)| *count > 1 || imported.contains(name));
    several.map(|(name, _)| name.to_owned()).collect()
}

fn macros(world: &World) -> impl Iterator<Item = (ItemId, &ItemNode)> {
    let items = (0..).map(ItemId).zip(&world.items);
    items.filter(|(_, node)| node.kind == ItemKind::Macro && !node.local)
}

/// A name as calls say it, and the definition that they read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Meant {
    name: String,
    definition: String,
}

/// The calls of each definition, by where they stand.
#[derive(Default)]
struct Calls {
    places: BTreeMap<Meant, Vec<(FileId, ByteSpan)>>,
    definitions: BTreeSet<String>,
}

impl Calls {
    fn read(world: &World, names: &BTreeSet<String>, renamed: &dyn Fn(&str) -> String) -> Self {
        let known = definitions(world, renamed);
        let mut reader = Reader {
            world,
            names,
            leading: leading_to(&known, names),
            known,
            calls: Self::default(),
        };
        let known = reader.known.values().flatten();
        let definitions = known.map(|one| one.definition.clone()).collect();
        reader.calls.definitions = definitions;
        let files = world.sources().filter(|(file, _)| reader.calls_one(*file));
        let files: Vec<_> = files.collect();
        for (file, source) in files {
            let mut found = Vec::new();
            world.visit_file(source, &mut |facts, site| {
                found.extend(reader.call(file, facts, &site));
            });
            for call in found {
                reader.count(call);
            }
        }
        reader.calls
    }

    fn count(&self, meant: &Meant) -> usize {
        self.places.get(meant).map_or(0, Vec::len)
    }

    /// Whether another definition of the name, or what is none, has fewer calls in the other tree.
    fn is_more_of_others(&self, other: &Self, meant: &Meant) -> bool {
        let mut own = self.places.iter();
        own.any(|(one, places)| {
            one.name == meant.name
                && one.definition != meant.definition
                && places.len() > other.count(one)
        })
    }
}

/// A definition, and the byte of a module's text behind which it is seen there.
struct Seen {
    anchor: Anchor,
    is_conditional: bool,
    definition: String,
    /// The names that its body calls.
    body: Vec<String>,
}

/// The definitions of macros by their names, each wherever it is seen.
fn definitions(world: &World, renamed: &dyn Fn(&str) -> String) -> BTreeMap<String, Vec<Seen>> {
    let mut found: BTreeMap<String, Vec<Seen>> = BTreeMap::new();
    for (item, node) in macros(world) {
        let full = renamed(&world.name_of(&world.target(Res::Item(item))));
        // Those under conditions are one, whichever is there.
        let mut order = 0;
        for (file, at) in &node.definitions {
            let facts = world.facts(*file);
            let fact = facts.item(*at);
            let body = calls_within(facts, fact.span);
            let first = Anchor {
                module: node.module,
                file: *file,
                at: fact.span.end,
            };
            let given = anchors_of(world, first);
            let seen = given.map(|anchor| Seen {
                anchor,
                is_conditional: fact.conditional,
                definition: format!("{full}#{order}"),
                body: body.clone(),
            });
            found.entry(node.name.clone()).or_default().extend(seen);
            order += usize::from(!fact.conditional);
        }
    }
    for known in found.values_mut() {
        // Of those that a module gives at one place, the last one is meant.
        known.reverse();
        known.sort_by_key(|one| std::cmp::Reverse(one.anchor.at));
    }
    found
}

/// The macros of some names, and those whose bodies call one of them, through others too: no other call matters.
fn leading_to(known: &BTreeMap<String, Vec<Seen>>, names: &BTreeSet<String>) -> BTreeSet<String> {
    let mut found = names.clone();
    loop {
        let more = known.iter().filter(|(name, seen)| {
            let mut said = seen.iter().flat_map(|one| &one.body);
            !found.contains(*name) && said.any(|inner| found.contains(inner))
        });
        let more: Vec<String> = more.map(|(name, _)| name.clone()).collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

/// The macros that the body of one calls by plain names.
fn calls_within(facts: &SourceFacts, span: ByteSpan) -> Vec<String> {
    let bodies = facts
        .paths
        .iter()
        .filter(|path| path.origin == Origin::MacroBody && path.namespaces == Namespaces::MACRO);
    let said = bodies.filter_map(|path| match facts.segments(path.segments) {
        [name] if span.contains(name.span) => Some(facts.name(name.name).to_owned()),
        _ => None,
    });
    said.collect()
}

/// A call by a plain name.
struct PlainCall {
    name: String,
    place: Anchor,
    span: ByteSpan,
    /// What the name leads to, where no definition stands above it.
    by_path: String,
}

struct Reader<'w> {
    world: &'w World,
    names: &'w BTreeSet<String>,
    /// The names of macros by which a call comes to one of those.
    leading: BTreeSet<String>,
    known: BTreeMap<String, Vec<Seen>>,
    calls: Calls,
}

impl Reader<'_> {
    /// Whether a file calls a macro that matters, or one whose body may.
    fn calls_one(&self, file: FileId) -> bool {
        let facts = self.world.facts(file);
        let calls = facts.paths.iter();
        let mut calls = calls.filter(|path| path.namespaces == Namespaces::MACRO);
        calls.any(|path| {
            let last = facts.segments(path.segments).last();
            last.is_some_and(|last| self.leading.contains(facts.name(last.name)))
        })
    }

    fn call(&self, file: FileId, facts: &SourceFacts, site: &Site<'_>) -> Option<PlainCall> {
        let is_text = matches!(
            site.origin,
            Origin::MacroBody | Origin::DocLink | Origin::DocCode | Origin::FormatString
        );
        let (UseSite::Path(at), false) = (site.site, is_text) else {
            return None;
        };
        let last = site.segments.last()?;
        let name = facts.name(last.name);
        if facts.path(at).namespaces != Namespaces::MACRO || !self.leading.contains(name) {
            return None;
        }
        let mut led = site.trace.steps.last()?.all();
        let macros = led.find_map(|(res, _)| match res {
            Res::Item(item) => Some(item),
            _ => None,
        });
        if macros.is_some_and(|item| self.world[item].local) {
            return None;
        }
        let plain = site.segments.len() == 1;
        Some(PlainCall {
            name: name.to_owned(),
            place: Anchor {
                module: self.world.module_of(site.space),
                file,
                // By a path no definition above is meant.
                at: if plain { last.span.start } else { 0 },
            },
            span: last.span,
            by_path: macros.map_or_else(String::new, |item| self.only_definition(item)),
        })
    }

    /// A macro that a path leads to, as its only definition is told.
    fn only_definition(&self, item: ItemId) -> String {
        let (name, definitions) = (&self.world[item].name, &self.world[item].definitions);
        let known = self.known.get(name).into_iter().flatten();
        let mut known = known.filter(|one| {
            let anchor = &one.anchor;
            definitions.iter().any(|(file, at)| {
                *file == anchor.file
                    && self.world.facts(*file).item(*at).span.end == anchor.at
                    && self.world[item].module == anchor.module
            })
        });
        known
            .next()
            .map_or_else(String::new, |one| one.definition.clone())
    }

    /// Counts a call, and of each name once what the bodies say that it comes to: macros may call each other.
    fn count(&mut self, call: PlainCall) {
        let place = (call.place.file, call.span);
        let mut seen = BTreeSet::new();
        let mut open = vec![(call.name, call.by_path)];
        while let Some((name, by_path)) = open.pop() {
            if !seen.insert(name.clone()) {
                continue;
            }
            let above = match call.place.at {
                0 => Vec::new(),
                _ => self.above(&name, call.place),
            };
            let definition = above
                .first()
                .map_or(by_path, |first| first.definition.clone());
            let inner = above.iter().flat_map(|one| one.body.iter().cloned());
            open.extend(inner.map(|name| (name, String::new())));
            if self.names.contains(&name) {
                let places = self.calls.places.entry(Meant { name, definition });
                places.or_default().push(place);
            }
        }
    }

    /// The definitions of a name that may be meant at a place: the nearest one above, and those under conditions that
    /// stand nearer.
    fn above(&self, name: &str, place: Anchor) -> Vec<&Seen> {
        let known = self.known.get(name).map_or(&[][..], Vec::as_slice);
        let mut found = Vec::new();
        let mut around = Some(place);
        while let Some(place) = around {
            let here = known.iter().filter(|one| {
                let anchor = &one.anchor;
                anchor.module == place.module && anchor.file == place.file && anchor.at <= place.at
            });
            for one in here {
                found.push(one);
                if !one.is_conditional {
                    return found;
                }
            }
            around = declared_at(self.world, place.module);
        }
        found
    }
}

/// Where a module is declared in the one around it.
fn declared_at(world: &World, module: ModuleId) -> Option<Anchor> {
    let parent = world[module].parent?;
    let (file, at) = *world.declarations(module).first()?;
    Some(Anchor {
        module: parent,
        file,
        at: world.facts(file).module(at).span.start,
    })
}
