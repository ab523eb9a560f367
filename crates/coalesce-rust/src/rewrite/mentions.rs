//! Places that name a module, an item or a file by text: strings with full names, includes,
//! `#[path]`.

use std::collections::BTreeMap;

use coalesce_cargo::package::is_published;

use coalesce_model::{
    ByteSpan, Edit, Evidence, Form, Rewrite, Safety, Subject, TreePath, Unproven, UnprovenKind,
};

use super::{
    draft::Told,
    items::moving::{Chunk, Set},
    mapping::Mapping,
    structure::Structure,
};
use crate::{
    facts::{Include, Namespaces, Origin, SourceFacts},
    resolve::{CrateId, FileId, ModuleId, Res},
};

/// Adds the edits of one file.
pub(super) fn rewrite(
    (set, structure): (&Set<'_>, &Structure),
    file: FileId,
    edits: &mut Vec<Edit>,
    told: &mut Told,
) {
    let world = set.world();
    let (source, facts) = (&world[file], world.facts(file));
    let mut pass = Pass {
        taken: taken(edits),
        mapping: set.mapping,
        structure,
        set,
        file,
        path: &source.path,
        facts,
        edits,
        told,
    };
    pass.names();
    for include in &facts.includes {
        pass.include(include);
    }
    pass.path_attributes();
    pass.path_strings();
}

/// Where edits begin, each with the last end of those that begin there.
fn taken(edits: &[Edit]) -> BTreeMap<u32, u32> {
    let mut taken = BTreeMap::new();
    for edit in edits {
        let end: &mut u32 = taken.entry(edit.span.start).or_default();
        *end = edit.span.end.max(*end);
    }
    taken
}

struct Pass<'p> {
    mapping: &'p Mapping<'p>,
    structure: &'p Structure,
    set: &'p Set<'p>,
    file: FileId,
    path: &'p TreePath,
    facts: &'p SourceFacts,
    edits: &'p mut Vec<Edit>,
    /// Where these begin and end; a file may have a hundred thousand.
    taken: BTreeMap<u32, u32>,
    told: &'p mut Told,
}

impl Pass<'_> {
    fn names(&mut self) {
        for string in &self.facts.strings {
            let Some((from, to)) = full_name(self.mapping, &string.value) else {
                continue;
            };
            let evidence = (Form::String, Evidence::ExactName);
            self.replace(string.span, evidence, (&from, &to), to.clone());
        }
    }

    fn replace(
        &mut self,
        span: ByteSpan,
        (form, evidence): (Form, Evidence),
        (from, to): (&str, &str),
        text: String,
    ) {
        // Edits do not overlap, so the last that begins before the end of this one ends last.
        let before = self.taken.range(..span.end).next_back();
        if before.is_some_and(|(_, end)| span.start < *end) {
            return;
        }
        self.taken.insert(span.start, span.end);
        self.edits.push(Edit::replace(span, text));
        self.told.rewrites.push(Rewrite {
            path: self.path.clone(),
            span,
            form,
            evidence,
            from: from.to_owned(),
            to: to.to_owned(),
            reason: "names what moves".to_owned(),
            safety: Safety::NeedsReview,
        });
    }

    fn moved<'t>(&'t self, path: &'t TreePath) -> &'t TreePath {
        self.structure.files.get(path).unwrap_or(path)
    }

    fn directories(&self) -> Option<(TreePath, TreePath)> {
        Some((self.path.parent()?, self.moved(self.path).parent()?))
    }

    /// The package that has the file.
    fn package(&self) -> TreePath {
        let module = self.module();
        module.map_or_else(TreePath::root, |module| {
            self.package_of(self.mapping.krate(module))
        })
    }

    fn module(&self) -> Option<ModuleId> {
        let world = self.mapping.world;
        let body = world[self.file].bodies.first()?;
        Some(world[body].module)
    }

    fn package_of(&self, krate: CrateId) -> TreePath {
        self.mapping.world.package_of(krate).directory.clone()
    }

    /// What an include is relative to, before and after.
    fn bases(&self, include: &Include) -> Option<(TreePath, TreePath)> {
        let set = self.set;
        let chunk = set.chunk_at(self.file, include.span.start);
        let to = chunk.map(|chunk| &set.moving(chunk.moving).to);
        if include.from_manifest {
            let module = self.module()?;
            let after = to.map_or_else(|| self.mapping.after(module).krate, |to| to.krate);
            return Some((self.package(), self.package_of(after)));
        }
        match chunk {
            Some(chunk) if set.is_dropped(chunk) => None,
            Some(chunk) => Some((self.path.parent()?, self.arrival(chunk)?)),
            None => self.directories(),
        }
    }

    /// The directory of the file that a piece of text goes to.
    fn arrival(&self, chunk: &Chunk) -> Option<TreePath> {
        let to = &self.set.moving(chunk.moving).to;
        match self.structure.made.get(to) {
            Some(made) => made.file.parent(),
            None => self.mapping.file_of(self.mapping.at(to)?).parent(),
        }
    }

    fn include(&mut self, include: &Include) {
        let Some((old, new)) = self.bases(include) else {
            return;
        };
        let value = match include.from_manifest {
            true => include.value.trim_start_matches('/'),
            false => &*include.value,
        };
        let Ok(target) = old.join(value) else { return };
        let text = self.moved(&target).relative_to(&new);
        if self.same(&old, &new, &target) || text == value {
            return;
        }
        let text = match include.from_manifest {
            true => format!("/{text}"),
            false => text,
        };
        self.ask_for_package(include, &target);
        let (from, to) = (target.to_string(), self.moved(&target).to_string());
        let evidence = (Form::FilePath, Evidence::ExactPath);
        self.replace(include.span, evidence, (&from, &to), text);
    }

    /// Whether code goes to another package than the file that it includes: cargo packs each by itself.
    fn ask_for_package(&mut self, include: &Include, target: &TreePath) {
        let Some(module) = self.module() else { return };
        let chunk = self.set.chunk_at(self.file, include.span.start);
        let krate = match chunk {
            Some(chunk) => self.set.moving(chunk.moving).to.krate,
            None => self.mapping.after(module).krate,
        };
        let (old, new) = (self.package(), self.package_of(krate));
        let world = self.mapping.world;
        let is_in = |path: &TreePath, package: &TreePath| {
            let around = world.package_around(path);
            around.is_some_and(|around| around.directory == *package)
        };
        let to = self.moved(target);
        let is_apart = old != new && is_in(target, &old) && !is_in(to, &new);
        if is_apart && is_published(self.mapping.texts, &new) {
            self.told.unproven.push(Unproven {
                path: self.path.clone(),
                span: Some(include.span),
                kind: UnprovenKind::OwnPlace,
                name: target.to_string(),
                why: "the file stays in another package, and is not there where this one is published".to_owned(),
            });
        }
    }

    /// Neither the file nor what it names moves: the path stays as its author wrote it.
    fn same(&self, old: &TreePath, new: &TreePath, target: &TreePath) -> bool {
        old == new && self.moved(target) == target
    }

    /// `#[path]` of modules that stay declared in this file.
    fn path_attributes(&mut self) {
        let Some(bases) = self.directories() else {
            return;
        };
        for (at, declaration) in self.facts.modules.iter().enumerate() {
            let leaves = self.structure.leaving.iter().any(|leaving| {
                leaving.declaration as usize == at
                    && (self.mapping.world[leaving.file].path == *self.path)
            });
            let plain = self.facts.module_scope(declaration.scope).0 == 0
                && declaration.origin == Origin::Code;
            if leaves || !plain {
                continue;
            }
            for attribute in &declaration.path_attributes {
                self.path_attribute(&bases, (attribute.span, &*attribute.value));
            }
        }
    }

    /// One of them, from the directories before and after.
    fn path_attribute(
        &mut self,
        (old, new): &(TreePath, TreePath),
        (span, value): (ByteSpan, &str),
    ) {
        let Ok(target) = old.join(value) else { return };
        let text = self.moved(&target).relative_to(new);
        if self.same(old, new, &target) || text == value {
            return;
        }
        let (from, to) = (target.to_string(), self.moved(&target).to_string());
        let evidence = (Form::FilePath, Evidence::ExactPath);
        self.replace(span, evidence, (&from, &to), text);
    }

    /// Where a file or a directory goes to; a directory only as a whole.
    fn goes_to(&self, target: &TreePath) -> Option<TreePath> {
        let files = &self.structure.files;
        if let Some(new) = files.get(target) {
            return Some(new.clone());
        }
        let inside = |path: &&TreePath| {
            path.strip_prefix(target)
                .is_some_and(|rest| !rest.is_empty())
        };
        let mut new: Option<TreePath> = None;
        for path in self.mapping.texts.paths().iter().filter(inside) {
            let (rest, to) = (path.strip_prefix(target)?, files.get(path)?);
            let home = to.as_str().strip_suffix(rest)?.strip_suffix('/')?;
            if *new.get_or_insert(TreePath::new(home).ok()?) != TreePath::new(home).ok()? {
                return None;
            }
        }
        new
    }

    /// Strings that are exactly the path of a file or directory that moves, from the root or the package.
    fn path_strings(&mut self) {
        if self.structure.files.is_empty() {
            return;
        }
        for string in &self.facts.path_strings {
            // `concat!(env!("CARGO_MANIFEST_DIR"), "/src/a.txt")`
            let plain = string.value.trim_start_matches('/');
            let bases = [TreePath::root(), self.package()].into_iter();
            let mut moved = bases.filter_map(|base| {
                let target = base.join(plain).ok()?;
                let new = self.goes_to(&target)?;
                Some((base, target, new))
            });
            let Some((base, target, new)) = moved.next() else {
                continue;
            };
            let mut text = new.relative_to(&base);
            if plain.len() < string.value.len() {
                text.insert(0, '/');
            }
            if plain.ends_with('/') {
                text.push('/');
            }
            let (from, to) = (target.to_string(), new.to_string());
            let evidence = (Form::FilePath, Evidence::ExactPath);
            self.replace(string.span, evidence, (&from, &to), text);
        }
    }
}

/// The full name that a text has after, where it is exactly the name of something that moves: what
/// it names before, and the text after.
pub(super) fn full_name(mapping: &Mapping<'_>, name: &str) -> Option<(String, String)> {
    full_name_in(mapping, name, Namespaces::ALL)
}

/// The same of a path whose last name is looked for in some namespaces alone.
pub(super) fn full_name_in(
    mapping: &Mapping<'_>,
    name: &str,
    wanted: Namespaces,
) -> Option<(String, String)> {
    if let Some(to) = item_name(mapping, name, wanted) {
        return Some((name.to_owned(), to));
    }
    let names: Vec<&str> = name.split("::").collect();
    let (mut count, mut module) = module_of(mapping, &names)?;
    // `kit::pool()` calls a function beside the module.
    if count == names.len() && !wanted.meets(Namespaces::TYPE) {
        module = mapping.world[module].parent?;
        count -= 1;
    }
    if !mapping.is_changed(module) {
        return None;
    }
    let place = mapping.after(module);
    let home = &mapping.world[place.krate];
    let first = mapping.crosses(module).then_some(home.name.as_str());
    let mut path: Vec<&str> = first.or(names.first().copied()).into_iter().collect();
    path.extend(place.path.iter().map(String::as_str));
    for (at, rest) in names.iter().skip(count).enumerate() {
        path.push(if at == 0 {
            mapping.item_after(module, rest)
        } else {
            rest
        });
    }
    let to = path.join("::");
    (to != name).then(|| (name.to_owned(), to))
}

/// The full name after of an item that moves, or of something below it.
fn item_name(mapping: &Mapping<'_>, name: &str, wanted: Namespaces) -> Option<String> {
    let items = mapping
        .changes
        .iter()
        .filter(|change| change.subject == Subject::Item);
    items.into_iter().find_map(|change| {
        let rest = name.strip_prefix(change.from.as_str())?;
        let wanted = match rest {
            "" => wanted,
            _ if rest.starts_with("::") => Namespaces::TYPE,
            _ => return None,
        };
        let stands_there = stands_in(mapping, &change.from, wanted);
        stands_there.then(|| format!("{}{rest}", change.to))
    })
}

/// Whether an item may be meant by its name where that is looked for in some namespaces.
fn stands_in(mapping: &Mapping<'_>, name: &str, wanted: Namespaces) -> bool {
    let world = mapping.world;
    let Some((home, own)) = name.rsplit_once("::") else {
        return true;
    };
    let homes = world.modules_named(home).into_iter();
    let bound = homes.flat_map(|home| world.bindings(home, own));
    let bound = bound.filter(|one| one.import.is_none() && matches!(one.res, Res::Item(_)));
    let mut bound = bound.peekable();
    bound.peek().is_none() || bound.any(|one| one.namespaces.meets(wanted))
}

/// The module that a full name leads into, and how many of its segments name it.
pub(super) fn module_of(mapping: &Mapping<'_>, names: &[&str]) -> Option<(usize, ModuleId)> {
    let world = mapping.world;
    let (first, rest) = names.split_first()?;
    let krate = world
        .crates
        .iter()
        .find(|krate| krate.name == *first && krate.kind == crate::discover::TargetKind::Lib);
    let krate = krate.or_else(|| world.crates.iter().find(|krate| krate.name == *first))?;
    let mut module = krate.root?;
    let mut count = 1;
    for name in rest {
        let child = world[module]
            .children
            .iter()
            .copied()
            .find(|child| world[*child].name == *name);
        let Some(child) = child else { break };
        module = child;
        count += 1;
    }
    Some((count, module))
}
