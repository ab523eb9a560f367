//! Places that name a module or a file by text: strings with full names, includes, `#[path]`.

use coalesce_model::{ByteSpan, Edit, Evidence, Form, Rewrite, Safety, Subject, TreePath};

use super::{file::FileEdits, mapping::Mapping, structure::Structure};
use crate::{
    facts::{Include, Origin, SourceFacts},
    resolve::{FileId, ModuleId},
};

/// The edits of one file.
pub(super) fn rewrite(
    mapping: &Mapping<'_>,
    structure: &Structure,
    file: FileId,
    made: &mut FileEdits,
) {
    let world = mapping.world;
    let (Some(source), Some(facts)) = (world.files.get(file.index()), world.facts(file)) else {
        return;
    };
    let mut pass = Pass {
        mapping,
        structure,
        path: &source.path,
        facts,
        package: package_of(mapping, file),
        made,
    };
    pass.names();
    for include in &facts.includes {
        pass.include(include);
    }
    pass.path_attributes();
    pass.path_strings();
}

fn package_of(mapping: &Mapping<'_>, file: FileId) -> TreePath {
    let world = mapping.world;
    let body = world
        .files
        .get(file.index())
        .and_then(|file| file.bodies.first());
    body.and_then(|body| world.bodies.get(body.index()))
        .and_then(|body| world.module(body.module))
        .and_then(|node| world.crates.get(node.krate.index()))
        .and_then(|krate| world.packages.get(krate.package))
        .map_or_else(TreePath::root, |package| package.directory.clone())
}

struct Pass<'p> {
    mapping: &'p Mapping<'p>,
    structure: &'p Structure,
    path: &'p TreePath,
    facts: &'p SourceFacts,
    package: TreePath,
    made: &'p mut FileEdits,
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
        let covered = self
            .made
            .edits
            .iter()
            .any(|edit| edit.span.start < span.end && span.start < edit.span.end);
        if covered {
            return;
        }
        self.made.edits.push(Edit::replace(span, text));
        self.made.rewrites.push(Rewrite {
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

    fn include(&mut self, include: &Include) {
        let Some((old, new)) = self.directories() else {
            return;
        };
        let (old, new, value) = if include.from_manifest {
            let value = include.value.trim_start_matches('/');
            (self.package.clone(), self.package.clone(), value)
        } else {
            (old, new, &*include.value)
        };
        let Ok(target) = old.join(value) else { return };
        let text = self.moved(&target).relative_to(&new);
        if self.same(&old, &new, &target) || text == value {
            return;
        }
        let text = if include.from_manifest {
            format!("/{text}")
        } else {
            text
        };
        let (from, to) = (target.to_string(), self.moved(&target).to_string());
        self.replace(
            include.span,
            (Form::FilePath, Evidence::ExactPath),
            (&from, &to),
            text,
        );
    }

    /// Neither the file nor what it names moves: the path stays as its author wrote it.
    fn same(&self, old: &TreePath, new: &TreePath, target: &TreePath) -> bool {
        old == new && self.moved(target) == target
    }

    /// `#[path]` of modules that stay declared in this file.
    fn path_attributes(&mut self) {
        let Some((old, new)) = self.directories() else {
            return;
        };
        for (at, declaration) in self.facts.modules.iter().enumerate() {
            let leaves = self.structure.leaving.iter().any(|leaving| {
                leaving.declaration as usize == at
                    && self
                        .mapping
                        .world
                        .files
                        .get(leaving.file.index())
                        .is_some_and(|file| file.path == *self.path)
            });
            let plain = self.facts.module_scope(declaration.scope).0 == 0
                && declaration.origin == Origin::Code;
            if leaves || !plain {
                continue;
            }
            for attribute in &declaration.path_attributes {
                let Ok(target) = old.join(&attribute.value) else {
                    continue;
                };
                let text = self.moved(&target).relative_to(&new);
                if self.same(&old, &new, &target) || text == *attribute.value {
                    continue;
                }
                let (from, to) = (target.to_string(), self.moved(&target).to_string());
                let evidence = (Form::FilePath, Evidence::ExactPath);
                self.replace(attribute.span, evidence, (&from, &to), text);
            }
        }
    }

    /// Strings that are exactly the path of a file that moves, from the root or the package.
    fn path_strings(&mut self) {
        for string in &self.facts.path_strings {
            for base in [TreePath::root(), self.package.clone()] {
                let Ok(target) = base.join(&string.value) else {
                    continue;
                };
                let Some(new) = self.structure.files.get(&target) else {
                    continue;
                };
                let text = new.relative_to(&base);
                let (from, to) = (target.to_string(), new.to_string());
                let evidence = (Form::FilePath, Evidence::ExactPath);
                self.replace(string.span, evidence, (&from, &to), text);
                break;
            }
        }
    }
}

/// The full name that a text has after, where it is exactly the name of something that moves: what
/// it names before, and the text after.
pub(super) fn full_name(mapping: &Mapping<'_>, name: &str) -> Option<(String, String)> {
    if let Some(to) = item_name(mapping, name) {
        return Some((name.to_owned(), to));
    }
    let names: Vec<&str> = name.split("::").collect();
    let (count, module) = module_of(mapping, &names)?;
    if !mapping.is_changed(module) {
        return None;
    }
    let place = mapping.after(module);
    let home = mapping.world.crates.get(place.krate.index());
    let home = home.filter(|_| mapping.crosses(module));
    let first = home.map(|home| home.name.as_str());
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
fn item_name(mapping: &Mapping<'_>, name: &str) -> Option<String> {
    let items = mapping
        .changes
        .iter()
        .filter(|change| change.subject == Subject::Item);
    items.into_iter().find_map(|change| {
        let rest = name.strip_prefix(change.from.as_str())?;
        let whole = rest.is_empty() || rest.starts_with("::");
        whole.then(|| format!("{}{rest}", change.to))
    })
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
        let child = world
            .module(module)?
            .children
            .iter()
            .copied()
            .find(|child| {
                world
                    .module(*child)
                    .is_some_and(|child| child.name == *name)
            });
        let Some(child) = child else { break };
        module = child;
        count += 1;
    }
    Some((count, module))
}
