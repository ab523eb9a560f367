//! The items of a shim whose module gave way to one of another crate: each stands for what takes its
//! place, wherever that is defined and by whichever re-exports it is found.
//!
//! Signatures are copied from the definitions, every name in them in full as the shim's crate says
//! it. What cannot be said so comes through a re-export, about which rustc is silent.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Edit, EditSet, ShimRequest};

use super::{
    mapping::Mapping,
    place::Place,
    spell::{spelled, written},
};
use crate::{
    facts::{self, SourceFacts},
    resolve::{FileId, ItemId, ModuleId, Res, Site, UseSite},
    shim::{self, Dates, Shim, ShimItems},
    words::EVERYWHERE,
};

/// Libraries that every crate has.
const STANDARD: [&str; 3] = ["std", "core", "alloc"];

/// Writes the items of one shim module.
pub(super) struct StandIn<'a> {
    mapping: &'a Mapping<'a>,
    request: &'a ShimRequest,
    dates: &'a Dates,
    module: ModuleId,
    /// The module that takes over, and its place.
    target: ModuleId,
    place: Place,
    /// How others can name the items of the crate that takes over, below its root.
    public: BTreeMap<ItemId, Vec<String>>,
}

/// A name of the shim, and what it stands for.
struct Name<'n> {
    old: &'n str,
    /// The last name of its new path.
    new: &'n str,
    /// The module of its new path, as the shim's crate says it, and as others do.
    inside: String,
    outside: String,
}

/// What becomes of a path of a signature.
enum Said {
    /// It means the same in the shim, or nothing is known of it.
    Same,
    /// Its first segments, up to this byte, are said so.
    So(u32, Vec<String>),
    /// The shim's crate cannot name it.
    Never,
}

impl<'a> StandIn<'a> {
    /// `None` where no module of the tree takes over.
    pub fn new(
        mapping: &'a Mapping<'a>,
        (request, dates): (&'a ShimRequest, &'a Dates),
        module: ModuleId,
    ) -> Option<Self> {
        let place = mapping.after(module);
        let root = mapping.world[place.krate].root?;
        Some(Self {
            mapping,
            request,
            dates,
            module,
            target: mapping.at(&place)?,
            public: mapping.world.public_paths(root),
            place,
        })
    }

    /// The items for these names, old and new; what rustc warns about first.
    pub fn items(&self, names: &[(String, String)]) -> ShimItems {
        let mut made = ShimItems::default();
        let mut silent: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (old, new) in names {
            let name = self.name(old, new);
            let found = self.definition(new).and_then(|item| self.one(&name, item));
            let Some(found) = found else {
                let list = silent.entry(name.inside).or_default();
                list.push(if old == name.new {
                    old.clone()
                } else {
                    format!("{} as {old}", name.new)
                });
                made.silent.push(old.clone());
                continue;
            };
            made.text.push_str(&found.text);
            made.silent.extend(found.silent);
        }
        for (inside, list) in silent {
            made.text.push_str(&shim::reexport(&inside, &list));
        }
        made
    }

    fn name<'n>(&self, old: &'n str, new: &'n str) -> Name<'n> {
        let (home, last) = new.rsplit_once("::").unwrap_or(("", new));
        let mut place = self.place.clone();
        let names = home.split("::").filter(|name| !name.is_empty());
        place.path.extend(names.map(str::to_owned));
        let joined = |path: Vec<String>| spelled(&path);
        let speller = self.mapping.speller();
        let inside = speller.rooted_in(self.mapping.krate(self.module), &place);
        let krate = &self.mapping.world[place.krate];
        let krate = krate.name.as_str();
        let outside = std::iter::once(krate.to_owned()).chain(place.path);
        Name {
            old,
            new: last,
            inside: joined(inside),
            outside: joined(outside.collect()),
        }
    }

    /// The one item that a path leads to; none where several may be meant.
    fn definition(&self, path: &str) -> Option<ItemId> {
        let found = self.mapping.world.below(self.target, path);
        let found: BTreeSet<Res> = found.into_iter().collect();
        match found.into_iter().collect::<Vec<_>>().as_slice() {
            [Res::Item(item)] => Some(*item),
            _ => None,
        }
    }

    /// The definition that warns, where there can be one.
    fn one(&self, name: &Name<'_>, item: ItemId) -> Option<ShimItems> {
        let node = &self.mapping.world[item];
        let [(file, at)] = node.definitions.as_slice() else {
            return None;
        };
        let source = &self.mapping.world[file];
        let text = self.mapping.texts.text(&source.path)?;
        let fact = self.mapping.world.facts(*file).item(*at);
        let text = self.in_full(*file, fact, &text)?;
        let made = shim::items(&Shim {
            text: &text,
            defined_as: &node.name,
            inside: &name.inside,
            short: "",
            outside: &name.outside,
            names: &[(name.old.to_owned(), name.new.to_owned())],
            unsayable: &BTreeSet::new(),
            whole: false,
            dates: self.dates,
            trait_bounds: self.request.trait_bounds,
            known: &|first| self.is_known(first),
        })?;
        let warns = !made.silent.iter().any(|silent| silent == name.old);
        warns.then_some(made)
    }

    /// Whether a path may start so in the shim.
    fn is_known(&self, first: &str) -> bool {
        let krate = self.mapping.krate(self.module);
        let crates = &self.mapping.world.crates;
        let externs = crates.get(krate.index()).map(|krate| &krate.externs);
        let target = self
            .mapping
            .speller()
            .name_of_crate(krate, self.place.krate);
        let mut externs = externs.into_iter().flatten();
        first != "crate" && EVERYWHERE.contains(first)
            || STANDARD.contains(&first)
            || first == target
            || externs.any(|(name, known)| name == first && known.is_none())
    }

    /// The text of a definition, the paths of its signature said in full.
    fn in_full(&self, file: FileId, fact: &facts::Item, text: &str) -> Option<String> {
        let world = self.mapping.world;
        let mut edits: BTreeMap<ByteSpan, String> = BTreeMap::new();
        let mut can_be_said = true;
        world.visit_file(&world[file], &mut |facts, site| {
            let first = site.segments.first().map(|first| first.span);
            let Some(first) = first.filter(|first| is_in(fact.signature, *first)) else {
                return;
            };
            if !matches!(site.site, UseSite::Path(_)) {
                return;
            }
            match self.said(facts, &site) {
                Said::Same => {}
                Said::So(end, path) => {
                    let path: Vec<String> = path.iter().map(|name| written(name)).collect();
                    edits.insert(ByteSpan::new(first.start, end), path.join("::"));
                }
                Said::Never => can_be_said = false,
            }
        });
        let edits = edits.into_iter();
        let edits = edits
            .map(|(span, path)| Edit::replace(span, path))
            .collect();
        let new = EditSet::from_edits(text, edits).and_then(|set| set.apply(text));
        let new = new.ok().filter(|_| can_be_said)?;
        let tail = text.len().checked_sub(fact.span.end as usize)?;
        let end = new.len().checked_sub(tail)?;
        new.get(fact.span.start as usize..end).map(str::to_owned)
    }

    /// How the shim says a path.
    fn said(&self, facts: &SourceFacts, site: &Site<'_>) -> Said {
        let steps = site.trace.steps.iter().enumerate();
        let found = steps.rev().find_map(|(at, step)| {
            let mut all = step.all().map(|(res, _)| res);
            let item = all.find_map(|res| match res {
                Res::Item(item) => Some(item),
                _ => None,
            })?;
            Some((item, site.segments.get(at)?.span.end))
        });
        if let Some((item, end)) = found {
            let Some(path) = self.public.get(&item) else {
                return Said::Never;
            };
            let speller = self.mapping.speller();
            let krate = self.mapping.krate(self.module);
            let first = speller.name_of_crate(krate, self.place.krate);
            let path = std::iter::once(first).chain(path.iter().cloned());
            return Said::So(end, path.collect());
        }
        self.imported(facts, site)
    }

    /// How the shim says what a file imports from elsewhere.
    fn imported(&self, facts: &SourceFacts, site: &Site<'_>) -> Said {
        let (Some(step), Some(first)) = (site.trace.steps.first(), site.segments.first()) else {
            return Said::Same;
        };
        let Some(import) = step.import else {
            return Said::Same;
        };
        let speller = self.mapping.speller();
        let Some(mut path) = speller.absolute(import) else {
            return Said::Never;
        };
        if step.glob {
            path.push(facts.name(first.name).to_owned());
        }
        let start = path.first().map_or("", String::as_str);
        if self.is_known(start) {
            Said::So(first.span.end, path)
        } else {
            Said::Never
        }
    }
}

fn is_in(outer: ByteSpan, inner: ByteSpan) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}
