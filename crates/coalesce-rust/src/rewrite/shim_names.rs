//! How a shim names what its signatures name.
//!
//! A signature is copied into a module that it was not written for. What it names is imported there
//! from where it is defined, or by an import that the shim may see: never by a private import, and
//! never through a private module. What cannot be named so comes through a re-export, which copies
//! no signature.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Edit, EditSet};

use super::{
    libraries::last_known,
    mapping::Mapping,
    place::Place,
    spell::{Speller, spelled},
};
use crate::{
    facts::{Origin, SourceFacts, VisibilityKind},
    resolve::{Binding, CrateId, FileId, Found, ModuleId, Reach, Res, Site, UseSite},
};

/// How many globs of globs are followed to the import that brings a name.
const DEEPEST: usize = 16;

/// The names of signatures that a shim copies.
pub(super) struct ShimNames<'a> {
    pub mapping: &'a Mapping<'a>,
    /// The module that the signatures are copied from.
    pub source: ModuleId,
    /// The module that the shim stands for.
    pub module: ModuleId,
    /// The place of the shim.
    pub here: Place,
}

/// What a name of a signature takes in a shim.
pub(super) struct Import {
    /// The path that the shim imports.
    pub path: Vec<String>,
    /// The import of the source module that brings the name there: its conditions count.
    pub by: Option<(FileId, u32)>,
}

/// Signatures whose paths hold in the shim.
pub(super) struct Respelled {
    /// The text with its paths spelled anew.
    pub text: String,
    /// Items whose signatures name what the shim cannot.
    pub unsayable: BTreeSet<String>,
}

impl<'a> ShimNames<'a> {
    fn speller(&self) -> Speller<'a> {
        self.mapping.speller()
    }

    fn bindings(&self, module: ModuleId, name: &str) -> &'a [Binding] {
        self.mapping.world.bindings(module, name)
    }

    /// The imports that a name takes; `None` where the shim cannot name what it leads to.
    /// `is_brought` says whether a glob or a definition of the shim brings a name of that reach.
    pub fn imports(&self, name: &str, is_brought: &dyn Fn(Reach) -> bool) -> Option<Vec<Import>> {
        let bindings = self.bindings(self.source, name).iter();
        let needed = bindings.filter(|binding| !is_brought(binding.reach));
        needed.map(|binding| self.import(name, binding)).collect()
    }

    fn import(&self, name: &str, binding: &Binding) -> Option<Import> {
        let by = self.import_behind(name, binding);
        let as_imported = by.and_then(|(import, glob)| {
            let mut path = self.speller().absolute(import)?;
            if glob {
                path.push(name.to_owned());
            }
            let krate = self.speller().krate_of(import)?;
            let root = Place::root(self.here.krate);
            Some(self.speller().said_in(path, krate, &root, &mut Vec::new()))
        });
        let as_defined = || self.definition(binding.res);
        let path = as_imported
            .filter(|path| self.leads(path))
            .or_else(|| as_defined().filter(|path| self.leads(path)))?;
        Some(Import {
            path,
            by: by.map(|(import, _)| import),
        })
    }

    /// The import that gives a name its path, and whether that is a glob: globs of modules of the
    /// tree are followed to the import which those have.
    fn import_behind(&self, name: &str, binding: &Binding) -> Option<((FileId, u32), bool)> {
        let mut found = (binding.import?, binding.glob);
        for _ in 0..DEEPEST {
            let target = found
                .1
                .then(|| self.speller().glob_target(found.0))
                .flatten();
            let Some(target) = target else { break };
            let mut own = self.bindings(target, name).iter();
            let Some(next) = own.find(|own| own.res == binding.res) else {
                break;
            };
            match next.import {
                Some(import) if import != found.0 => found = (import, next.glob),
                _ => break,
            }
        }
        Some(found)
    }

    /// The path of a definition of the tree as the crate of the shim says it.
    fn definition(&self, res: Res) -> Option<Vec<String>> {
        let world = self.mapping.world;
        let item = |item: crate::resolve::ItemId| {
            let node = &world[item];
            let home = self.mapping.after(node.module);
            let mut path = self.speller().rooted_in(self.here.krate, &home);
            path.push(node.name.clone());
            Some(path)
        };
        match res {
            Res::Module(module) => {
                let place = self.mapping.after(module);
                Some(self.speller().rooted_in(self.here.krate, &place))
            }
            Res::Item(found) => item(found),
            Res::Variant(of, name) => {
                let mut path = item(of)?;
                path.push(world.names.text(name).to_string());
                Some(path)
            }
            Res::Member(..) | Res::External(_) => None,
        }
    }

    /// Whether a path that starts at the root of a crate leads somewhere that the shim may see.
    fn leads(&self, path: &[String]) -> bool {
        let Some((first, rest)) = path.split_first() else {
            return false;
        };
        let Some(krate) = self.crate_called(first) else {
            return true;
        };
        let mut place = Place::root(krate);
        let mut at = self.mapping.at(&place);
        for (index, name) in rest.iter().enumerate() {
            let next = place.child(name);
            let below = self.mapping.at(&next);
            if below.is_some_and(|module| self.sees_module(module, &place)) {
                (place, at) = (next, below);
                continue;
            }
            if below.is_none() && self.is_made(&next) {
                (place, at) = (next, None);
                continue;
            }
            let Some(module) = at else { return false };
            let seen = self.seen_in(module, name);
            let inner = seen.iter().find_map(|res| match res {
                Res::Module(module) => Some(*module),
                _ => None,
            });
            let Some(module) = inner.filter(|_| index + 1 < rest.len()) else {
                // All of it, a variant, or something outside of the tree.
                return !seen.is_empty();
            };
            (place, at) = (self.mapping.after(module), Some(module));
        }
        true
    }

    /// What a module has by a name that the shim may see.
    fn seen_in(&self, module: ModuleId, name: &str) -> Vec<Res> {
        let bindings = self.bindings(module, name).iter();
        bindings
            .filter(|one| one.import.is_some() || !matches!(one.res, Res::Module(_)))
            .filter(|one| self.speller().sees(&self.here, one.reach, module))
            .map(|one| one.res)
            .collect()
    }

    /// The crate of the tree that a path of the shim starts with; `None` for one from elsewhere.
    fn crate_called(&self, first: &str) -> Option<CrateId> {
        if first == "crate" {
            return Some(self.here.krate);
        }
        let crates = &self.mapping.world.crates;
        let externs = &crates.get(self.here.krate.index())?.externs;
        let known = externs.iter().find(|(name, _)| name == first);
        match known {
            Some((_, krate)) => *krate,
            // A dependency that comes with the changes.
            None => crates
                .iter()
                .position(|krate| krate.root.is_some() && krate.name == first)
                .and_then(|at| u32::try_from(at).ok())
                .map(CrateId),
        }
    }

    /// Whether the declaration of a module after, inside `outer`, can be seen from the shim.
    fn sees_module(&self, module: ModuleId, outer: &Place) -> bool {
        let world = self.mapping.world;
        let declarations = world.declarations(module);
        let public = declarations.iter().any(|(file, at)| {
            let facts = world.facts(*file);
            let found = facts.module(*at);
            found.visibility.kind == VisibilityKind::Public
        });
        if public || declarations.is_empty() || self.here.is_within(outer) {
            return true;
        }
        let node = &world[module];
        let parent = node.parent.filter(|_| !self.mapping.is_root(module));
        parent.is_some_and(|parent| {
            let bindings = self.bindings(parent, &node.name).iter();
            let mut own = bindings.filter(|one| one.res == Res::Module(module));
            own.any(|one| {
                one.import.is_none() && self.speller().sees(&self.here, one.reach, parent)
            })
        })
    }

    /// Whether a place is that of a module which the changes make around one that moves.
    fn is_made(&self, place: &Place) -> bool {
        let roots = self.mapping.roots.iter().flatten();
        let mut around = roots.filter(|(_, to)| to != place && to.is_within(place));
        around.next().is_some()
    }

    /// The text of signatures, each path in it that starts at `crate`, `self` or `super` led to where
    /// it leads after. `base` is where the text starts in its file.
    pub fn respelled(&self, file: FileId, text: &str, base: u32) -> Respelled {
        let mut edits = Vec::new();
        let mut unsayable = BTreeSet::new();
        let world = self.mapping.world;
        let words = ["crate::", "self::", "super::"];
        let load = world[file].loads.first();
        let load = load.filter(|_| words.iter().any(|word| text.contains(word)));
        if let Some(load) = load {
            world.visit(
                *load as usize,
                &mut |facts, site| match self.signature_of(facts, &site) {
                    None => {}
                    Some((_, Some(path), span)) => edits.push((span, path)),
                    Some((name, None, _)) => drop(unsayable.insert(name)),
                },
            );
        }
        let edits = edits.into_iter().filter_map(|(span, path)| {
            let start = span.start.checked_sub(base)?;
            let span = ByteSpan::new(start, span.end.checked_sub(base)?);
            Some(Edit::replace(span, spelled(&path)))
        });
        let set = EditSet::from_edits(text, edits.collect());
        let new = set.and_then(|set| set.apply(text));
        Respelled {
            text: new.unwrap_or_else(|_| text.to_owned()),
            unsayable,
        }
    }

    /// Of a path in a signature of the source module that would lead elsewhere in the shim: the item
    /// whose signature it is, the new path, and what of it that stands for.
    fn signature_of(
        &self,
        facts: &SourceFacts,
        site: &Site<'_>,
    ) -> Option<(String, Option<Vec<String>>, ByteSpan)> {
        let world = self.mapping.world;
        let first = site.segments.first()?;
        let word = matches!(facts.name(first.name), "crate" | "self" | "super");
        let path = matches!(site.site, UseSite::Path(_)) && site.origin == Origin::Code;
        if !(word && path && world.module_of(site.space) == self.source) {
            return None;
        }
        let mut items = facts.items.iter();
        let owner = items.find(|item| item.signature.contains(first.span))?;
        let name = facts.name(owner.name.name).to_owned();
        let moved = |module: ModuleId| self.mapping.is_changed(module);
        let mut steps = site.trace.steps.iter().filter_map(Found::module);
        let through = steps.any(moved);
        let (at, res) = last_known(site)?;
        let inside = matches!(res, Res::Item(item) if moved(world[item].module));
        if self.source == self.module && !through && !inside {
            return None;
        }
        let span = first.span.cover(site.segments.get(at)?.span);
        let path = self.definition(res).filter(|path| self.leads(path));
        Some((name, path, span))
    }
}
