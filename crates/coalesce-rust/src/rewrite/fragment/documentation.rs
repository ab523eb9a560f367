//! Documents that code has for its documentation: `#![doc = include_str!("../README.md")]`. Their links lead from the
//! module that they document.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Documentation, Edit, Evidence, Form, Rewrite, TreePath};

use super::{imports::FragmentImports, names_of, rewrite_of};
use crate::{
    facts::{self, IncludeKind, Namespaces, PathFact, SourceFacts},
    resolve::{FileId, ModuleId, World},
    rewrite::{links, mapping::Mapping},
};

/// The modules that a document describes, or has an item which it describes.
pub(in crate::rewrite) fn documented_modules(world: &World, path: &TreePath) -> Vec<ModuleId> {
    let sources = world.sources();
    let mut found: Vec<ModuleId> = sources
        .flat_map(|(file, _)| includers(world, file, path))
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The documents that code of the tree has for its documentation.
pub(in crate::rewrite) fn included_documents(world: &World) -> BTreeSet<TreePath> {
    let sources = world.sources();
    let all = sources.flat_map(|(file, _)| includes(world, file));
    all.map(|(path, _)| path).collect()
}

/// The modules of a file that include a document.
fn includers(world: &World, file: FileId, path: &TreePath) -> Vec<ModuleId> {
    let own = includes(world, file).into_iter();
    let own = own.filter(|(included, _)| included == path);
    own.map(|(_, module)| module).collect()
}

/// What a file has for documentation, each with the module that it stands in.
fn includes(world: &World, file: FileId) -> Vec<(TreePath, ModuleId)> {
    let source = &world[file];
    let includes = world.facts(file).includes.iter();
    let includes = includes.filter(|include| include.kind == IncludeKind::Doc);
    let found = includes.flat_map(|include| {
        let loads = source.loads.iter();
        let loads = loads.filter_map(|load| world.loads.get(*load as usize));
        let spaces = loads.filter_map(|load| load.spaces.get(include.scope.0 as usize));
        spaces.filter_map(|space| {
            let module = world.module_of(*space);
            let value = include.value.trim_start_matches('/');
            let path = match include.from_manifest {
                true => {
                    let package = world.package_of(world[module].krate);
                    package.directory.join(value).ok()?
                }
                false => source.path.parent()?.join(value).ok()?,
            };
            Some((path, module))
        })
    });
    found.collect()
}

/// What a document says of code, as the documentation of some modules.
pub(in crate::rewrite) fn documentation(
    mapping: &Mapping<'_>,
    (path, homes): (&TreePath, &[ModuleId]),
) -> Option<Documentation> {
    let text = mapping.texts.text(path)?;
    let document = facts::document(&text);
    let links = Links {
        mapping,
        facts: &document.facts,
        imports: FragmentImports::of_links(mapping, &document.facts),
        text: &text,
    };
    let mut said = Documentation {
        code: document.code,
        ..Documentation::default()
    };
    for path in &document.facts.paths {
        let mut from = homes.iter().map(|home| links.follow(*home, path));
        let first = from.next().flatten();
        let edit_of =
            |found: &Option<(Rewrite, Edit)>| found.as_ref().map(|(_, edit)| edit.clone());
        if from.all(|other| edit_of(&other) == edit_of(&first)) {
            said.links.extend(first);
        } else {
            said.divided.push(links.span(path));
        }
    }
    Some(said)
}

/// The links of one document.
struct Links<'l> {
    mapping: &'l Mapping<'l>,
    facts: &'l SourceFacts,
    imports: FragmentImports<'l>,
    text: &'l str,
}

impl Links<'_> {
    /// Where the path of a link stands.
    fn span(&self, path: &PathFact) -> ByteSpan {
        let segments = self.facts.segments(path.segments);
        let ends = segments.first().zip(segments.last());
        ends.map_or(ByteSpan::empty(0), |(first, last)| {
            first.span.cover(last.span)
        })
    }

    /// What becomes of a link in the documentation of a module.
    fn follow(&self, home: ModuleId, path: &PathFact) -> Option<(Rewrite, Edit)> {
        let segments = self.facts.segments(path.segments);
        let names = names_of(self.facts, segments);
        let (head, skipped) = self.head(home, &names, path.namespaces)?;
        let full: Vec<String> = head.iter().chain(names.get(skipped..)?).cloned().collect();
        let broken = self.imports.broken(&full, path.namespaces)?;
        let len = (broken.at + 1 + skipped)
            .checked_sub(head.len())
            .filter(|len| *len > 0)?;
        let replaced = segments.get(..len)?;
        let span = replaced.first()?.span.cover(replaced.last()?.span);
        let edit = Edit::replace(span, self.said(home, &names, &broken.to));
        let edit = match links::with_target(self.text, &edit) {
            Some(inline) if len == 1 && edit.text.contains("::") => inline,
            _ => edit,
        };
        let rewrite = Rewrite {
            form: Form::DocLink,
            evidence: Evidence::Resolved,
            ..rewrite_of(span, broken.from, &broken.to)
        };
        Some((rewrite, edit))
    }

    /// The full name of where a link begins, and how many of its names that stands for.
    fn head(
        &self,
        home: ModuleId,
        names: &[String],
        wanted: Namespaces,
    ) -> Option<(Vec<String>, usize)> {
        let world = self.mapping.world;
        let up = names.iter().take_while(|name| *name == "super").count();
        let first = names.first()?;
        let wanted = match names.len() {
            1 => wanted,
            _ => Namespaces::TYPE,
        };
        let bound = world.bindings(home, first).iter();
        let is_bound = || bound.clone().any(|one| one.namespaces.meets(wanted));
        let (module, skipped) = match first.as_str() {
            "crate" => (self.root(home), 1),
            "self" => (home, 1),
            "super" => {
                let above = |module: ModuleId, _| world[module].parent;
                ((0..up).try_fold(home, above)?, up)
            }
            _ if is_bound() => (home, 0),
            // What is none of the module's names is a library's.
            _ if self.imports.module(std::slice::from_ref(first)).is_some() => {
                return Some((Vec::new(), 0));
            }
            _ => return None,
        };
        let name = world[module].canonical.split("::");
        Some((name.map(str::to_owned).collect(), skipped))
    }

    /// The root of the crate that the document describes.
    fn root(&self, home: ModuleId) -> ModuleId {
        let world = self.mapping.world;
        let above = std::iter::successors(Some(home), |module| world[*module].parent);
        above.last().unwrap_or(home)
    }

    /// A full name as a link says it that has begun as this one.
    fn said(&self, home: ModuleId, names: &[String], to: &str) -> String {
        let own = self.mapping.name_of(&self.mapping.after(self.root(home)));
        let first = names.first().map_or("", String::as_str);
        let rest = to.strip_prefix(own.as_str());
        let rest = rest.and_then(|rest| rest.strip_prefix("::"));
        let is_root = self.mapping.world[home].parent.is_none();
        match rest {
            Some(rest) if is_root && first != "crate" && first != own => {
                let is_short = rest.contains("::") && names.len() == 1;
                if is_short {
                    format!("crate::{rest}")
                } else {
                    rest.to_owned()
                }
            }
            Some(rest) if first != own => format!("crate::{rest}"),
            _ => to.to_owned(),
        }
    }
}
