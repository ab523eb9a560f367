//! Modules that were attributes of the packages around them, since an import of an item loaded them that is elsewhere now.
//!
//! `from .old import f` in `pkg/__init__.py` made `old` an attribute of `pkg`, for whoever writes `import pkg;
//! pkg.old.g()`, and did what `old` does when it is imported. Where `f` has left it, the package imports `old` for itself,
//! below the statement that loaded it. Modules that items leave are looked at, as the packages around them load them, and
//! packages that modules leave: `from .sub.old import f` made `sub` an attribute.

use std::collections::BTreeSet;

use coalesce_model::{
    AddedImport, ByteSpan, Change, Edit, Evidence, Form, Module, Rewrite, Safety, Subject, Texts,
    Unproven, UnprovenKind,
};

use super::{Effects, Imports, ModuleSet, Runs, counterparts};
use crate::{
    facts::{ImportStatement, PythonFacts},
    graph::{Entity, PythonGraph},
    rewrite::{Header, relative},
};

/// Imports that packages need so that what they loaded on the way to an item is loaded still.
pub fn added_imports(
    before: &PythonGraph,
    after: &PythonGraph,
    changes: &[Change],
    after_texts: &dyn Texts,
) -> Vec<AddedImport> {
    let mut left = modules_that_items_leave(before, changes, after_texts);
    let now = counterparts(before, after, changes);
    left.extend(packages_that_modules_leave((before, after), changes, &now));
    if left.is_empty() {
        return Vec::new();
    }
    let search = Search {
        before,
        after,
        now: &now,
        imports: (&Imports::new(before), &Imports::new(after)),
        texts: after_texts,
    };
    left.into_iter()
        .flat_map(|module| search.of_module(module))
        .collect()
}

/// Those of items that register themselves are none: where they arrive, they come before or after others, and that is told.
fn modules_that_items_leave(
    before: &PythonGraph,
    changes: &[Change],
    texts: &dyn Texts,
) -> BTreeSet<usize> {
    let effects = Effects::new(before, texts);
    let items = changes
        .iter()
        .filter(|change| change.subject == Subject::Item);
    let homes = items.filter_map(|change| {
        let (home, item) = change.from.rsplit_once('.')?;
        let (parent, _) = change.to.rsplit_once('.')?;
        let module = before.find(None, home).filter(|_| home != parent)?;
        effects.of_item(module, item).is_none().then_some(module)
    });
    homes.collect()
}

/// Packages that lose a module, and still have something that somebody may ask them for.
fn packages_that_modules_leave(
    (before, after): (&PythonGraph, &PythonGraph),
    changes: &[Change],
    now: &[Option<usize>],
) -> BTreeSet<usize> {
    let leave = |change: &&Change| change.subject == Subject::Module && change.shim.is_none();
    let parents = changes.iter().filter(leave).filter_map(|change| {
        let (parent, _) = change.from.rsplit_once('.')?;
        let stays_inside = change
            .to
            .rsplit_once('.')
            .is_some_and(|(to, _)| to == parent);
        before.find(None, parent).filter(|_| !stays_inside)
    });
    let has_content = |package: &usize| {
        let after_it = now.get(*package).copied().flatten();
        after_it.is_some_and(|package| {
            let own = after.facts.get(package);
            let defines = own.is_some_and(|own| !own.defines.is_empty() || !own.imports.is_empty());
            let below = after
                .modules
                .get(package)
                .map(|own| format!("{}.", own.name));
            let mut modules = after.modules.iter();
            defines || below.is_some_and(|below| modules.any(|each| each.name.starts_with(&below)))
        })
    };
    parents.filter(has_content).collect()
}

struct Search<'g> {
    before: &'g PythonGraph,
    after: &'g PythonGraph,
    now: &'g [Option<usize>],
    imports: (&'g Imports, &'g Imports),
    texts: &'g dyn Texts,
}

/// A package around a module, by its numbers before and after.
#[derive(Clone, Copy)]
struct PackageAround {
    was: usize,
    now: usize,
}

impl<'g> Search<'g> {
    /// What the packages around a module have to import, the nearest first.
    fn of_module(&self, module: usize) -> Vec<AddedImport> {
        let Some(now) = self.stays(module) else {
            return Vec::new();
        };
        let (mut ran, mut runs) = (Runs::new(self.imports.0), Runs::new(self.imports.1));
        let mut mended: Vec<usize> = Vec::new();
        let mut found = Vec::new();
        for package in self.packages_around(module) {
            let after = runs.of(package.now);
            let still = after.has(now) || mended.iter().any(|inner| after.has(*inner));
            if still || !ran.of(package.was).has(module) {
                continue;
            }
            // Importing a package inside of the one that loads it loads it, too.
            if let Some(loading) = self.loading_statement(package.was, module) {
                mended.push(package.now);
                found.extend(self.kept(package, (module, now), loading));
            }
        }
        found
    }

    /// The number that a module has afterwards, if it keeps its name.
    fn stays(&self, module: usize) -> Option<usize> {
        let now = self.now.get(module).copied().flatten()?;
        let (old, new) = (
            self.before.modules.get(module)?,
            self.after.modules.get(now)?,
        );
        (old.name == new.name).then_some(now)
    }

    /// The packages around a module that have a file and stay, from the inside.
    fn packages_around(&self, module: usize) -> Vec<PackageAround> {
        let above = |module: &usize| self.imports.0.around.get(*module).copied().flatten();
        let packages = std::iter::successors(above(&module), above);
        let around = |was: usize| {
            let path = &self.before.modules.get(was)?.path;
            let now = self.stays(was)?;
            (path.file_name() == "__init__.py").then_some(PackageAround { was, now })
        };
        packages.filter_map(around).collect()
    }

    /// The import of a module in a package around it, unless the package calls something else so.
    fn kept(
        &self,
        package: PackageAround,
        (module, now): (usize, usize),
        loading: &ImportStatement,
    ) -> Option<AddedImport> {
        let (own, target) = (
            self.before.modules.get(package.was)?,
            self.before.modules.get(module)?,
        );
        let (parent, leaf) = target.name.rsplit_once('.')?;
        let bound = self.bound_name(&package, own, (parent, leaf))?;
        let below = self.same_statement(package.now, loading);
        let span = loading.span;
        let edit = self.edit(package.now, below, (parent, leaf, &bound));
        let after = self.after.modules.get(now)?;
        Some(AddedImport {
            path: own.path.clone(),
            edits: edit.into_iter().collect(),
            rewrite: told(own, span, &after.name),
            unproven: not_loaded(own, span, &target.name),
        })
    }

    /// The name that a package gives a module below it, if it has that left.
    fn bound_name(
        &self,
        package: &PackageAround,
        own: &Module,
        (parent, leaf): (&str, &str),
    ) -> Option<String> {
        let bound = match parent == own.name {
            true => leaf.to_owned(),
            false => format!("_{leaf}"),
        };
        let taken = self.before.binds(package.was, &bound) || self.after.binds(package.now, &bound);
        (!taken).then_some(bound)
    }

    /// The first statement of a package that loads a module when the package is executed.
    fn loading_statement(&self, package: usize, module: usize) -> Option<&'g ImportStatement> {
        let facts = self.before.facts.get(package)?;
        let imports = self.imports.0;
        let mut seen = ModuleSet::none(imports.runs.len());
        let above = |module: &usize| imports.around.get(*module).copied().flatten();
        for running in std::iter::successors(Some(package), above) {
            seen.add(running);
        }
        let mut eager = facts.imports.iter();
        eager.find(|import| {
            if import.eager && import.top_level {
                for target in targets(self.before, package, import) {
                    imports.run(target, &mut seen);
                }
            }
            seen.has(module)
        })
    }

    /// The statement of the planned file that binds what a statement bound.
    fn same_statement(&self, now: usize, import: &ImportStatement) -> Option<&'g ImportStatement> {
        let facts: &PythonFacts = self.after.facts.get(now)?;
        let names: Vec<&str> = import.leaves.iter().map(|leaf| leaf.bound()).collect();
        let mut imports = facts.imports.iter().rev();
        imports.find(|other| {
            let mut bound = other.leaves.iter().map(|leaf| leaf.bound());
            other.eager && other.top_level && bound.any(|name| names.contains(&name))
        })
    }

    /// The edit of the planned file of a package that makes it import a module.
    fn edit(
        &self,
        package: usize,
        below: Option<&ImportStatement>,
        (parent, leaf, bound): (&str, &str, &str),
    ) -> Option<Edit> {
        let own = self.after.modules.get(package)?;
        let text = self.texts.text(&own.path)?;
        let dots = self.has_dots(package, below)?;
        let relative = relative(&own.name, parent).filter(|_| dots);
        let alias = match leaf == bound {
            true => String::new(),
            false => format!(" as {bound}"),
        };
        let from = relative.as_deref().unwrap_or(parent);
        let statement = format!("from {from} import {leaf}{alias}  # noqa: F401");
        match below {
            Some(import) => line_below(&text, import.span, &statement),
            None => {
                let header = Header::of(&text);
                Some(Edit::insert(header.at, header.text(&[statement])))
            }
        }
    }

    /// Whether a package writes its imports with dots: as the statement does that it goes on from, else as any does.
    fn has_dots(&self, package: usize, below: Option<&ImportStatement>) -> Option<bool> {
        let facts = self.after.facts.get(package)?;
        let from = |import: &ImportStatement| import.from.as_ref().map(|from| from.level > 0);
        let any = || {
            facts
                .imports
                .iter()
                .any(|import| from(import) == Some(true))
        };
        Some(below.and_then(from).unwrap_or_else(any))
    }
}

fn not_loaded(package: &Module, span: ByteSpan, name: &str) -> Unproven {
    Unproven {
        path: package.path.clone(),
        span: Some(span),
        kind: UnprovenKind::NotLoaded,
        name: name.to_owned(),
        why: format!(
            "importing `{}` loaded it, and nothing that is imported there does any more",
            package.name
        ),
    }
}

/// What is told of an import that is kept.
fn told(package: &Module, span: ByteSpan, name: &str) -> Rewrite {
    Rewrite {
        path: package.path.clone(),
        span,
        form: Form::Import,
        evidence: Evidence::Resolved,
        from: name.to_owned(),
        to: name.to_owned(),
        reason: format!("`{name}` goes on being loaded with `{}`", package.name),
        safety: Safety::Safe,
    }
}

/// The modules of the tree that a statement executes itself.
fn targets(graph: &PythonGraph, importer: usize, import: &ImportStatement) -> Vec<usize> {
    let submodules =
        import
            .leaves
            .iter()
            .filter_map(|leaf| match graph.leaf_entity(importer, import, leaf) {
                Entity::Module(module) => Some(module),
                _ => None,
            });
    let mut found: Vec<usize> = submodules.collect();
    found.extend(graph.base_module(importer, import));
    found
}

/// A statement below another one, as far in as that is; nothing where the line holds more.
fn line_below(text: &str, span: ByteSpan, statement: &str) -> Option<Edit> {
    let start = span.start as usize;
    let line = text.get(..start)?.rsplit(['\n', '\r']).next()?;
    let line = line.trim_start_matches('\u{feff}');
    let rest = text.get(span.end as usize..)?;
    let tail = rest.split(['\n', '\r']).next()?;
    let ends = tail.trim_start().is_empty() || tail.trim_start().starts_with('#');
    let newline = match text.contains("\r\n") {
        true => "\r\n",
        false => "\n",
    };
    let at = span.end + u32::try_from(tail.len()).ok()?;
    let alone = line.trim().is_empty() && ends;
    alone.then(|| Edit::insert(at, format!("{newline}{line}{statement}")))
}
