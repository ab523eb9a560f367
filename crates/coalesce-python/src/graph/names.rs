//! Full names: what they mean in source files and in the files of types beside them.

use coalesce_model::{FoundItem, ItemPlace};

use super::{
    Entity, PythonGraph,
    look::{Known, Look},
};
use crate::{facts::ImportStatement, roots::is_in_stub_tree};

/// How many packages a name is followed through that have one thing or another for it.
const MAXIMUM_PACKAGES: usize = 3;

/// Whether an import takes all that a module has.
fn is_star(import: &ImportStatement) -> bool {
    import.leaves.iter().any(|leaf| leaf.name.text == "*")
}

impl PythonGraph {
    /// What a module has of a name by its star imports; none where it has no such import, or a name of its own.
    #[must_use]
    pub fn brought_by_star(&self, module: usize, name: &str) -> Option<Entity> {
        let facts = self.facts.get(module)?;
        let own =
            self.bindings(module)?.get(name).is_some() || self.submodule(module, name).is_some();
        let has_star = facts.imports.iter().any(is_star);
        (has_star && !own)
            .then(|| self.member(module, name))
            .filter(|found| *found != Entity::Missing)
    }

    /// Whether a star import of a module brings a name, too, and would give it instead of what binds it there.
    #[must_use]
    pub fn may_be_brought_by_star(&self, module: usize, name: &str) -> bool {
        let facts = self.facts.get(module);
        let imports = facts.into_iter().flat_map(|facts| &facts.imports);
        imports.filter(|import| is_star(import)).any(|import| {
            let base = self.base_module(module, import);
            base.is_none_or(|star| self.star_member(star, name) != Entity::Missing)
        })
    }

    /// The types of a module in trees of types alone.
    #[must_use]
    pub fn types_elsewhere(&self, module: usize) -> Vec<usize> {
        let named = self
            .modules
            .get(module)
            .and_then(|own| self.by_name.get(&own.name));
        let types = named.into_iter().flatten().copied().filter(|other| {
            let path = self.modules.get(*other).map(|other| &other.path);
            *other != module && path.is_some_and(is_in_stub_tree)
        });
        types.collect()
    }

    /// The other text of a module: its file of types, beside it or in a tree of types, or the reverse.
    #[must_use]
    pub fn twin(&self, module: usize) -> Option<usize> {
        let own = self.modules.get(module)?;
        let path = &own.path;
        let extension = match path.extension()? {
            "py" => "pyi",
            _ => "py",
        };
        let twin = format!("{}.{extension}", path.file_stem());
        let beside = self.by_path.get(&path.parent()?.join(&twin).ok()?).copied();
        beside.or_else(|| {
            let mut named = self.by_name.get(&own.name)?.iter().copied();
            named.find(|other| {
                let other = self.modules.get(*other).map(|other| &other.path);
                other.is_some_and(|other| {
                    other.extension() == Some(extension)
                        && (is_in_stub_tree(other) || is_in_stub_tree(path))
                })
            })
        })
    }

    /// The module that reading a name of another one loads, where a table says so.
    pub(crate) fn lazy_source(&self, module: usize, name: &str) -> Option<usize> {
        let facts = self.facts.get(module)?;
        // What tables say comes last.
        if !facts.lazy_stub && !facts.imports.last().is_some_and(|import| import.lazy) {
            return None;
        }
        let source = if facts.lazy_stub {
            self.twin(module)?
        } else {
            module
        };
        let imports = self.facts.get(source)?.imports.iter();
        let lazy = imports.filter(|import| import.lazy || source != module);
        let (import, leaf) = lazy
            .flat_map(|import| import.leaves.iter().map(move |leaf| (import, leaf)))
            .find(|(_, leaf)| leaf.bound() == name)?;
        match self.leaf_entity(source, import, leaf) {
            Entity::Module(target) => Some(target),
            Entity::Item(home, _) => Some(self.base_module(source, import).unwrap_or(home)),
            Entity::External | Entity::Missing | Entity::Opaque => None,
        }
    }

    /// What stands at `name`, an item of a module.
    pub(crate) fn item_named(&self, name: &str) -> Option<FoundItem> {
        let (parent, last) = name.rsplit_once('.')?;
        let module = self.find(None, parent)?;
        let shims = self.facts.get(module).map(|facts| &facts.item_shims);
        let shim = shims.into_iter().flatten().find(|(item, _)| item == last);
        let place = match (shim, self.member(module, last)) {
            (Some((_, manifest)), _) => ItemPlace::Shim(manifest.clone()),
            (None, Entity::Item(home, item)) if home == module && item == last => {
                // A name that an import brings from outside the tree is no definition.
                let bound = self.bindings(module)?.get(last)?;
                bound.defined.then_some(ItemPlace::Defined)?
            }
            (None, entity @ Entity::Item(..)) => ItemPlace::Reexport(self.full_name(&entity)?),
            (None, Entity::Missing) => match self.twin_member(module, last)? {
                Entity::Item(home, item) if item == last && Some(home) == self.twin(module) => {
                    ItemPlace::Defined
                }
                entity => ItemPlace::Reexport(self.full_name(&entity)?),
            },
            _ => return None,
        };
        Some(FoundItem { module, place })
    }

    /// What a full dotted name means: a module, or an item of one.
    #[must_use]
    pub fn lookup(&self, name: &str) -> Entity {
        if let Some(module) = self.find(None, name) {
            return Entity::Module(module);
        }
        let Some((parent, last)) = name.rsplit_once('.') else {
            return Entity::Missing;
        };
        match self.lookup(parent) {
            Entity::Module(module) => match self.member(module, last) {
                // A file of types may define names of its own.
                Entity::Missing => self.twin_member(module, last).unwrap_or(Entity::Missing),
                found => found,
            },
            Entity::Item(..) => Entity::Opaque,
            other => other,
        }
    }

    /// What a full name means in the source files, and in the files of types beside them.
    #[must_use]
    pub fn lookup_all(&self, name: &str) -> Vec<Entity> {
        let target = self.lookup(name);
        let twin = match (&target, name.rsplit_once('.')) {
            (Entity::Module(module), _) => self.twin(*module).map(Entity::Module),
            (_, Some((parent, last))) => match self.lookup(parent) {
                Entity::Module(module) => self.twin_member(module, last),
                _ => None,
            },
            _ => None,
        };
        let program = name.rsplit_once('.').and_then(|(module, last)| {
            let module = self.find(None, module)?;
            let names = &self.facts.get(module)?.program_names;
            names
                .iter()
                .any(|name| name == last)
                .then(|| Entity::Item(module, last.to_owned()))
        });
        let mut found: Vec<Entity> = std::iter::once(target).chain(twin).chain(program).collect();
        found.dedup();
        found.retain(|entity| matches!(entity, Entity::Module(_) | Entity::Item(..)));
        found
    }

    pub(super) fn twin_member(&self, module: usize, name: &str) -> Option<Entity> {
        let known = Known::default();
        self.twin_member_at(module, name, Look::new(&known))
    }

    pub(super) fn twin_member_at(
        &self,
        module: usize,
        name: &str,
        look: Look<'_>,
    ) -> Option<Entity> {
        let member = self.member_at(self.twin(module)?, name, look);
        matches!(member, Entity::Module(_) | Entity::Item(..)).then_some(member)
    }

    /// What a name of a module may mean, where more than one import binds it: `if …: from . import gpu as impl`, `else: …`.
    #[must_use]
    pub fn members(&self, module: usize, name: &str) -> Vec<Entity> {
        let mut found = Vec::new();
        self.add_members((module, name), 0, &mut found);
        found
    }

    fn add_members(&self, (module, name): (usize, &str), depth: usize, found: &mut Vec<Entity>) {
        let bound = self.bindings(module).and_then(|bound| bound.get(name));
        let several = bound.is_some_and(|bound| bound.several) && depth < MAXIMUM_PACKAGES;
        let Some(facts) = self.facts.get(module).filter(|_| several) else {
            let member = self.member(module, name);
            if !found.contains(&member) {
                found.push(member);
            }
            return;
        };
        let leaves = facts.import_leaves();
        let here = leaves.filter(|(import, leaf)| import.top_level && leaf.bound() == name);
        for (import, leaf) in here.filter(|(_, leaf)| leaf.name.text != "*") {
            let from = import.from.as_ref();
            let base = from.and_then(|_| self.base_module(module, import));
            match base.filter(|base| *base != module) {
                Some(base) => self.add_members((base, &leaf.name.text), depth + 1, found),
                None => {
                    let entity = self.leaf_entity(module, import, leaf);
                    if !found.contains(&entity) {
                        found.push(entity);
                    }
                }
            }
        }
    }

    /// The full name of an entity of the tree.
    #[must_use]
    pub fn full_name(&self, entity: &Entity) -> Option<String> {
        match entity {
            Entity::Module(module) => self.modules.get(*module).map(|module| module.name.clone()),
            Entity::Item(module, item) => self
                .modules
                .get(*module)
                .map(|module| format!("{}.{item}", module.name)),
            Entity::External | Entity::Missing | Entity::Opaque => None,
        }
    }
}
