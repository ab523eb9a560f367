//! Documents that code has for its documentation: `#![doc = include_str!("../README.md")]`. Their links lead from the
//! module that they document.

use coalesce_model::{Documentation, Edit, Evidence, Form, Rewrite, TreePath};

use super::{names_of, rewrite_of, ways::Ways};
use crate::{
    facts::{self, IncludeKind, PathFact, SourceFacts},
    resolve::{FileId, ModuleId, World},
    rewrite::{links, mapping::Mapping},
};

/// The module that a document describes, or has an item which it describes; the first one of several.
pub(in crate::rewrite) fn documented_module(world: &World, path: &TreePath) -> Option<ModuleId> {
    world
        .sources()
        .find_map(|(file, _)| includer(world, file, path))
}

/// The module of a file that includes a document.
fn includer(world: &World, file: FileId, path: &TreePath) -> Option<ModuleId> {
    let source = &world[file];
    let includes = world.facts(file).includes.iter();
    let mut includes = includes.filter(|include| include.kind == IncludeKind::Doc);
    includes.find_map(|include| {
        let load = world.loads.get(*source.loads.first()? as usize)?;
        let space = load.spaces.get(include.scope.0 as usize)?;
        let module = world.module_of(*space);
        let value = include.value.trim_start_matches('/');
        let target = match include.from_manifest {
            true => {
                let package = world.package_of(world[module].krate);
                package.directory.join(value)
            }
            false => source.path.parent()?.join(value),
        };
        (target.ok()? == *path).then_some(module)
    })
}

/// What a document says of code, as the documentation of a module.
pub(in crate::rewrite) fn documentation(
    mapping: &Mapping<'_>,
    (path, home): (&TreePath, ModuleId),
) -> Option<Documentation> {
    let text = mapping.texts.text(path)?;
    let document = facts::document(&text);
    let links = Links {
        mapping,
        facts: &document.facts,
        ways: Ways::of_links(mapping, &document.facts),
        home,
        text: &text,
    };
    let paths = document.facts.paths.iter();
    let links = paths.filter_map(|path| links.follow(path)).collect();
    Some(Documentation {
        code: document.code,
        links,
    })
}

/// The links of one document.
struct Links<'l> {
    mapping: &'l Mapping<'l>,
    facts: &'l SourceFacts,
    ways: Ways<'l>,
    home: ModuleId,
    text: &'l str,
}

impl Links<'_> {
    /// What becomes of a link.
    fn follow(&self, path: &PathFact) -> Option<(Rewrite, Edit)> {
        let segments = self.facts.segments(path.segments);
        let names = names_of(self.facts, segments);
        let (head, skipped) = self.head(&names)?;
        let full: Vec<String> = head.iter().chain(names.get(skipped..)?).cloned().collect();
        let broken = self.ways.broken(&full)?;
        let len = (broken.at + 1 + skipped)
            .checked_sub(head.len())
            .filter(|len| *len > 0)?;
        let replaced = segments.get(..len)?;
        let span = replaced.first()?.span.cover(replaced.last()?.span);
        let edit = Edit::replace(span, self.said(&names, &broken.to));
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
    fn head(&self, names: &[String]) -> Option<(Vec<String>, usize)> {
        let world = self.mapping.world;
        let up = names.iter().take_while(|name| *name == "super").count();
        let first = names.first()?;
        let (module, skipped) = match first.as_str() {
            "crate" => (self.root(), 1),
            "self" => (self.home, 1),
            "super" => {
                let above = |module: ModuleId, _| world[module].parent;
                ((0..up).try_fold(self.home, above)?, up)
            }
            _ if !world.bindings(self.home, first).is_empty() => (self.home, 0),
            // What is none of the module's names is a library's.
            _ if self.ways.module(std::slice::from_ref(first)).is_some() => {
                return Some((Vec::new(), 0));
            }
            _ => return None,
        };
        let name = world[module].canonical.split("::");
        Some((name.map(str::to_owned).collect(), skipped))
    }

    /// The root of the crate that the document describes.
    fn root(&self) -> ModuleId {
        let world = self.mapping.world;
        let above = std::iter::successors(Some(self.home), |module| world[*module].parent);
        above.last().unwrap_or(self.home)
    }

    /// A full name as a link says it that has begun as this one.
    fn said(&self, names: &[String], to: &str) -> String {
        let own = self.mapping.name_of(&self.mapping.after(self.root()));
        let first = names.first().map_or("", String::as_str);
        let rest = to.strip_prefix(own.as_str());
        let rest = rest.and_then(|rest| rest.strip_prefix("::"));
        let is_root = self.mapping.world[self.home].parent.is_none();
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
