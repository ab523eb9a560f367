//! Which old names a planned tree keeps, as another crate says them.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Texts, TreePath};
use syn::{parse::Parser as _, spanned::Spanned as _};

use crate::{
    RustGraph,
    discover::TargetKind,
    facts::{ScopeId, SourceFacts, VisibilityKind},
    raw_names::written,
    resolve::{CrateId, FileId, ModuleId, Reach, Res, World},
};

/// How the note of a deprecation of ours starts.
const OURS: &str = "note = \"use `";

/// An old name that still works.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OldName {
    /// The directory of the package that it is a name of.
    pub package: TreePath,
    /// `crate_name::old::Name`, raw identifiers spelled so.
    pub path: String,
    /// Conditions under which it is there, each what stands in a `cfg(…)`.
    pub conditions: Vec<String>,
    /// Whether rustc warns about it.
    pub warns: bool,
}

/// The names of libraries that the files `changed` of the planned tree keep, sorted. `before` are the
/// texts of the tree as it is.
#[must_use]
pub fn old_names(
    after: &RustGraph,
    changed: &[TreePath],
    before: &dyn Texts,
    texts: &dyn Texts,
) -> Vec<OldName> {
    let world = &after.world;
    let known = names_before(before);
    let mut found = BTreeSet::new();
    for path in changed.iter().filter(|path| is_rust(path)) {
        if let (Some(file), Some(text)) = (world.file_at(path), texts.text(path)) {
            let reader = Reader {
                world,
                texts,
                file,
                text: &text,
                known: &known,
            };
            reader.read(&mut found);
        }
    }
    found.into_iter().collect()
}

/// What shims keep in the tree as it is.
fn names_before(before: &dyn Texts) -> BTreeSet<String> {
    let mut known: BTreeSet<String> = BTreeSet::new();
    for path in before.paths().iter().filter(|path| is_rust(path)) {
        if let Some(text) = before.text(path).filter(|text| text.contains(OURS)) {
            known.extend(ours_in(&text));
        }
    }
    known
}

fn is_rust(path: &TreePath) -> bool {
    path.extension() == Some("rs")
}

/// The notes of ours in a text, each with what follows up to its line's end.
fn ours_in(text: &str) -> impl Iterator<Item = String> + '_ {
    let starts = text.match_indices(OURS);
    starts.filter_map(|(at, _)| Some(text.get(at..)?.lines().next()?.to_owned()))
}

struct Reader<'r> {
    world: &'r World,
    texts: &'r dyn Texts,
    file: FileId,
    text: &'r str,
    /// Notes that were there before.
    known: &'r BTreeSet<String>,
}

/// Where a module is, for whoever names it from outside.
struct Home {
    package: TreePath,
    path: String,
    conditions: Vec<String>,
}

impl Reader<'_> {
    fn read(&self, found: &mut BTreeSet<OldName>) {
        let facts = self.world.facts(self.file);
        for body in &self.world[self.file].bodies {
            let body = &self.world[body];
            let Some(home) = home_of(self.world, body.module) else {
                continue;
            };
            found.extend(self.modules(&home, body.scope));
            found.extend(self.items(&home, body.scope));
            if body.scope.0 == 0 && facts.shim_marker.is_some() {
                self.silent(&home, body.module, found);
            }
        }
    }

    /// The public modules of a body that a shim of ours declares.
    fn modules(&self, home: &Home, scope: ScopeId) -> Vec<OldName> {
        let facts = self.world.facts(self.file);
        let declared = facts.modules.iter().filter(|one| one.scope == scope);
        let public = declared.filter(|one| one.visibility.kind == VisibilityKind::Public);
        let ours = public.filter(|one| one.attributes.is_some_and(|span| self.is_ours(span)));
        ours.map(|module| {
            let name = self.spelled(module.name.span);
            home.named(name, module.cfg.iter().map(ToString::to_string), true)
        })
        .collect()
    }

    /// The public items of a body that a shim of ours defines.
    fn items(&self, home: &Home, scope: ScopeId) -> Vec<OldName> {
        let facts = self.world.facts(self.file);
        let defined = facts.items.iter().filter(|one| one.scope == scope);
        let public = defined.filter(|one| one.visibility.kind == VisibilityKind::Public);
        let heads = public.map(|one| (one, ByteSpan::new(one.span.start, one.signature.start)));
        let ours = heads.filter(|(_, head)| self.is_ours(*head));
        ours.map(|(item, head)| {
            let name = self.spelled(item.name.span);
            let conditions = conditions(head.of(self.text).unwrap_or_default());
            home.named(name, conditions, true)
        })
        .collect()
    }

    /// Whether attributes hold a deprecation that the plan has written.
    fn is_ours(&self, attributes: ByteSpan) -> bool {
        let text = attributes.of(self.text).unwrap_or_default();
        ours_in(text).any(|note| !self.known.contains(&note))
    }

    fn spelled(&self, span: ByteSpan) -> &str {
        span.of(self.text).unwrap_or_default()
    }

    /// Public names that a shim has by its re-exports alone, its modules included: rustc is silent
    /// about those, unless they were deprecated all along.
    fn silent(&self, home: &Home, module: ModuleId, found: &mut BTreeSet<OldName>) {
        let space = self.world.space(module);
        let mut inner = Vec::new();
        for (sym, bindings) in space.names.iter() {
            let name = self.world.names.as_str(*sym);
            let public = bindings.iter().filter(|one| one.reach == Reach::Public);
            let of_items = public.filter(|one| self.is_for_others(one.res));
            let by_import: Vec<bool> = of_items.map(|one| one.import.is_some()).collect();
            if !by_import.is_empty() && by_import.iter().all(|by_import| *by_import) {
                let definitions = self.definitions(module, name);
                let own = joined(&definitions);
                let warns = !definitions.is_empty() && definitions.iter().all(|one| one.deprecated);
                found.insert(home.named(&written(name), own, warns));
            }
            inner.extend(bindings.iter().filter_map(|one| match one.res {
                Res::Module(child) if one.import.is_none() => Some(child),
                _ => None,
            }));
        }
        for child in inner {
            if let Some(home) = home_of(self.world, child) {
                self.silent(&home, child, found);
            }
        }
    }

    /// Whether something is an item that its module shows to everybody: a public glob brings more to
    /// its own crate than to others.
    fn is_for_others(&self, res: Res) -> bool {
        match res {
            Res::Module(_) => false,
            Res::Item(item) => {
                let reach = self.world.definition_reach(item);
                reach.is_none_or(|reach| reach == Reach::Public)
            }
            Res::Variant(..) | Res::Member(..) | Res::External(_) => true,
        }
    }

    /// The definitions that a name of a module leads to.
    fn definitions(&self, module: ModuleId, name: &str) -> Vec<Definition> {
        let names = &self.world.names;
        let bindings = names.get(name).and_then(|sym| {
            let space = self.world.space(module);
            space.names.get(&sym)
        });
        let items = bindings
            .into_iter()
            .flatten()
            .filter_map(|binding| match binding.res {
                Res::Item(item) => Some(&self.world[item]),
                _ => None,
            });
        let places: BTreeSet<(FileId, u32)> =
            items.flat_map(|item| item.definitions.clone()).collect();
        places
            .into_iter()
            .filter_map(|(file, at)| self.definition(file, at))
            .collect()
    }

    /// What one item of a file says of itself.
    fn definition(&self, file: FileId, at: u32) -> Option<Definition> {
        let item = self.world.facts(file).item(at);
        let text = self.texts.text(&self.world[file].path)?;
        let head = ByteSpan::new(item.span.start, item.signature.start);
        let head = head.of(&text)?;
        Some(Definition {
            conditions: conditions(head),
            deprecated: head.contains("#[deprecated"),
        })
    }
}

/// What stands on a definition.
struct Definition {
    conditions: Vec<String>,
    deprecated: bool,
}

/// When one of several definitions is there: none where one of them always is.
fn joined(definitions: &[Definition]) -> Option<String> {
    if definitions.iter().any(|one| one.conditions.is_empty()) {
        return None;
    }
    let all = |one: &Definition| match one.conditions.as_slice() {
        [one] => one.clone(),
        several => format!("all({})", several.join(", ")),
    };
    match definitions {
        [] => None,
        [one] => Some(all(one)),
        several => {
            let each: Vec<String> = several.iter().map(all).collect();
            Some(format!("any({})", each.join(", ")))
        }
    }
}

impl Home {
    fn named(
        &self,
        name: &str,
        conditions: impl IntoIterator<Item = String>,
        warns: bool,
    ) -> OldName {
        OldName {
            package: self.package.clone(),
            path: format!("{}::{name}", self.path),
            conditions: self.conditions.iter().cloned().chain(conditions).collect(),
            warns,
        }
    }
}

/// `None` for a module that no other crate can name.
fn home_of(world: &World, module: ModuleId) -> Option<Home> {
    let mut names = Vec::new();
    let mut conditions = Vec::new();
    let mut at = module;
    loop {
        let node = &world[at];
        let Some(parent) = node.parent else {
            return home_in(world, node.krate, names, conditions);
        };
        if node.local || !is_declared_public(world, at) {
            return None;
        }
        conditions.extend(module_conditions(world, at));
        names.push(written(&node.name));
        at = parent;
    }
}

/// The home of names, from the innermost on, in a library; `None` for other crates.
fn home_in(
    world: &World,
    krate: CrateId,
    mut names: Vec<String>,
    conditions: Vec<String>,
) -> Option<Home> {
    let krate = &world[krate];
    (krate.kind == TargetKind::Lib).then_some(())?;
    names.push(krate.name.clone());
    names.reverse();
    Some(Home {
        package: world.package(krate.package).directory.clone(),
        path: names.join("::"),
        conditions,
    })
}

fn is_declared_public(world: &World, module: ModuleId) -> bool {
    let declarations = world.declarations(module);
    let mut declared = declarations.iter().map(|(file, at)| {
        let facts: &SourceFacts = world.facts(*file);
        facts.module(*at)
    });
    declared.any(|one| one.visibility.kind == VisibilityKind::Public)
}

/// The conditions on the declaration of a module; none where it has several.
fn module_conditions(world: &World, module: ModuleId) -> Vec<String> {
    let declarations = world.declarations(module);
    let [(file, at)] = declarations.as_slice() else {
        return Vec::new();
    };
    let facts = world.facts(*file);
    let declared = facts.module(*at);
    let conditions = &declared.cfg;
    conditions.iter().map(ToString::to_string).collect()
}

/// What stands in each `cfg(…)` of a list of attributes.
fn conditions(attributes: &str) -> Vec<String> {
    let parsed = syn::Attribute::parse_outer.parse_str(attributes);
    let attributes_of = parsed.unwrap_or_default();
    let conditions = attributes_of.iter().filter_map(|attribute| {
        let list = attribute.meta.require_list().ok()?;
        let span = list.tokens.span().byte_range();
        let text = attributes.get(span)?.to_owned();
        attribute.path().is_ident("cfg").then_some(text)
    });
    conditions.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_as_written() {
        for (attributes, expected) in [
            ("", vec![]),
            ("/// Text.\n#[inline]\n", vec![]),
            (
                "#[cfg(unix)]\n#[cfg(any(feature = \"a\", test))]\n#[deprecated]",
                vec!["unix", "any(feature = \"a\", test)"],
            ),
        ] {
            assert_eq!(conditions(attributes), expected, "{attributes}");
        }
    }
}
