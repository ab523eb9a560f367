//! Imports that served somebody and now serve nobody, or nobody who is there without a condition.

use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet},
};

use coalesce_model::{ByteSpan, Unproven};

use super::{
    super::{UNUSED_IMPORTS, Warning},
    ConditionedUses, Named, is_standard_trait, is_trait, sites_of,
};
use crate::{
    facts::{LeafKind, Origin, SourceFacts, VisibilityKind},
    resolve::{ExpandedCall, FileId, Found, ModuleId, Res, Site, Target, UseSite, World},
    rewrite::{Demand, is_of_module},
};

pub(super) const UNUSED_IMPORT: Warning = Warning {
    lints: UNUSED_IMPORTS,
    why: "only code under a condition uses this import, and the compiler warns of that without it",
};

const IDLE_IMPORT: Warning = Warning {
    lints: UNUSED_IMPORT.lints,
    why: "nothing uses this import any more, and the compiler warns of that",
};

/// What makes an import of a file the same one in two trees.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct ImportKey {
    /// The full name of the module that it stands in.
    module: String,
    /// The name that it binds.
    name: String,
    /// Which one of its file's, where it stands in a block: there may be several of one name.
    in_block: Option<usize>,
}

/// An import of a file, the conditions that it stands under, and its uses.
struct Import {
    leaf: u32,
    span: ByteSpan,
    /// Whether it leads out of the tree.
    outside: bool,
    /// What it leads to, where that is a trait, which methods need unseen.
    of_trait: Option<Res>,
    /// The module that it stands in.
    here: ModuleId,
    own: BTreeSet<String>,
    uses: ConditionedUses,
}

impl Import {
    /// Whether it is used wherever it is there.
    fn serves(&self) -> bool {
        self.uses.cover(&self.own)
    }

    fn warning(&self) -> &'static Warning {
        if self.uses.0.is_empty() {
            &IDLE_IMPORT
        } else {
            &UNUSED_IMPORT
        }
    }
}

/// The private imports of a file.
#[derive(Default)]
struct FileImports {
    imports: BTreeMap<ImportKey, Import>,
    by_leaf: BTreeMap<u32, ImportKey>,
}

impl FileImports {
    /// The imports that a path begins with.
    fn of_path(&mut self, file: FileId, facts: &SourceFacts, site: &Site<'_>) -> Vec<&mut Import> {
        let (Some(step), Some(first)) = (site.trace.steps.first(), site.segments.first()) else {
            return Vec::new();
        };
        if step.glob {
            // Which module of the file its glob has it from is not asked.
            let name = facts.name(first.name);
            let all = self.imports.iter_mut();
            let alike = all.filter(|(key, _)| key.in_block.is_none() && key.name == name);
            return alike.map(|(_, import)| import).collect();
        }
        let import = step.import.filter(|(of, _)| *of == file);
        let key = import.and_then(|(_, leaf)| self.by_leaf.get(&leaf));
        let found = key.and_then(|key| self.imports.get_mut(key));
        found.into_iter().collect()
    }
}

impl Named<'_> {
    /// Imports that served wherever they are there, or are new, and now serve only under a condition, or nowhere.
    pub(super) fn imports_in_part(&mut self, before: &mut Named<'_>) -> Vec<Unproven> {
        let mut found = Vec::new();
        for (file, was) in self.changed_files(before) {
            let served = before.imports(was).imports;
            let below = OnceCell::new();
            for (key, import) in self.imports(file).imports {
                let was = served.get(&key);
                // What was idle already was warned of before. In a block, an import that binds another name now is
                // one that the plan has spelled anew.
                let is_told = match was {
                    Some(was) => was.serves() && !import.serves(),
                    None if key.in_block.is_some() => import.uses.0.is_empty(),
                    // A module that has moved has the imports that it had.
                    None => {
                        let mut known = served.keys();
                        let is_new = known.all(|other| other.name != key.name);
                        is_new && !import.uses.0.is_empty() && !import.serves()
                    }
                };
                let world = self.tree.world;
                let serves_below = || {
                    let below = below.get_or_init(|| world.leaves_used_below(file));
                    below.contains(&import.leaf)
                };
                // Of what is outside, nobody knows whether it is a trait: one that no path names is settled elsewhere.
                let idle = import.uses.0.is_empty();
                let is_trait = import.outside || import.of_trait.is_some();
                let settled = idle && (is_trait || serves_below());
                let told = (is_told && !settled)
                    .then(|| self.unused((file, import.span), &key.name, import.warning()));
                found.extend(told.flatten());
            }
        }
        found
    }

    /// The private imports of a file.
    fn imports(&mut self, file: FileId) -> FileImports {
        let world = self.tree.world;
        let sites = sites_of(world, file);
        let mut found = FileImports::default();
        for (facts, site) in &sites {
            if let Some((key, import)) = self.import_at(file, facts, site) {
                found.by_leaf.insert(import.leaf, key.clone());
                found.imports.entry(key).or_insert(import);
            }
        }
        for (facts, site) in &sites {
            if matches!(site.origin, Origin::DocLink | Origin::DocCode) {
                continue;
            }
            for import in found.of_path(file, facts, site) {
                import.uses.0.extend(self.conditions_of(file, site));
            }
        }
        self.imports_for_macros(file, &mut found);
        for import in found.imports.values_mut() {
            self.note_methods(file, import);
        }
        found
    }

    /// Adds the uses of a trait's import by methods that the file calls.
    fn note_methods(&mut self, file: FileId, import: &mut Import) {
        let Some(of) = import.of_trait.filter(|_| !import.serves()) else {
            return;
        };
        // Where all code stands under the same conditions, it is settled elsewhere whether one calls them.
        if !self.has_parts_under_more(file, &import.own) {
            import.uses.0.insert(import.own.clone());
            return;
        }
        let demand = self.demand_in_parts((file, import.here), &import.own, of);
        if demand.always != Demand::No {
            import.uses.0.insert(import.own.clone());
        }
        let more = demand.under_more.into_iter();
        import.uses.0.extend(more.map(|(conditions, _)| conditions));
    }

    /// The private import that a site is, with what makes it the same one.
    fn import_at(
        &mut self,
        file: FileId,
        facts: &SourceFacts,
        site: &Site<'_>,
    ) -> Option<(ImportKey, Import)> {
        let world = self.tree.world;
        let (name, span, of_trait) = private_import(world, facts, site)?;
        let own = self.conditions_of_import(file, site)?;
        let UseSite::Leaf(leaf) = site.site else {
            return None;
        };
        let here = world.module_of(site.space);
        let mut led = site.trace.steps.last().into_iter().flat_map(Found::all);
        let import = Import {
            leaf,
            span,
            outside: led.any(|(res, _)| matches!(res, Res::External(_))),
            of_trait,
            here,
            own,
            uses: ConditionedUses::default(),
        };
        let in_block = !is_of_module(world, (file, leaf));
        let key = ImportKey {
            module: world.name_of(&Target::Module(here)),
            name,
            in_block: in_block.then(|| place_among_blocks(world, (file, leaf))),
        };
        Some((key, import))
    }

    /// Adds the uses of imports that bodies of macros go through for the calls in a file.
    fn imports_for_macros(&mut self, file: FileId, found: &mut FileImports) {
        for (calls, sites) in self.tree.world.said_in(file) {
            let imports = sites.filter_map(|site| site.trace.steps.first()?.import);
            let own = imports.filter(|(of, _)| *of == file);
            let used: BTreeSet<_> = own
                .filter_map(|(_, leaf)| found.by_leaf.get(&leaf))
                .collect();
            if used.is_empty() {
                continue;
            }
            let conditions = calls
                .iter()
                .filter_map(|call| self.conditions_at_call(*call));
            let conditions: BTreeSet<_> = conditions.collect();
            let imports = found.imports.iter_mut();
            for (_, import) in imports.filter(|(key, _)| used.contains(key)) {
                import.uses.0.extend(conditions.iter().cloned());
            }
        }
    }

    /// The conditions that a call of a macro stands under.
    fn conditions_at_call(&mut self, call: ExpandedCall) -> Option<BTreeSet<String>> {
        let world = self.tree.world;
        let body = world.body_in(world.module_of(call.space), call.file)?;
        Some(self.conditions.at_place(call.file, body, call.at))
    }
}

/// How many declarations of its file's blocks stand before that of an import.
fn place_among_blocks(world: &World, (file, leaf): (FileId, u32)) -> usize {
    let facts = world.facts(file);
    let own = facts.leaf(leaf).declaration;
    let before = (0..own).map(|at| facts.declaration(at).scope);
    before
        .filter(|scope| facts.module_scope(*scope) != *scope)
        .count()
}

/// The name of a private import that leads to a module or an item, its place, and what it leads to where that is known
/// as a trait.
fn private_import(
    world: &World,
    facts: &SourceFacts,
    site: &Site<'_>,
) -> Option<(String, ByteSpan, Option<Res>)> {
    let UseSite::Leaf(leaf) = site.site else {
        return None;
    };
    let leaf = facts.leaf(leaf);
    let declaration = facts.declaration(leaf.declaration);
    let private = declaration.visibility.kind == VisibilityKind::Private;
    // Nothing warns of what code in documents imports.
    if !private || leaf.kind == LeafKind::Glob || declaration.origin == Origin::DocCode {
        return None;
    }
    let mut led = site.trace.steps.last()?.all().peekable();
    led.peek()?;
    let led: Vec<Res> = led.map(|(res, _)| res).collect();
    if led.iter().any(|res| matches!(res, Res::Member(..))) {
        return None;
    }
    let of_trait = led.into_iter().find(|res| match res {
        Res::External(name) => is_standard_trait(world.names.text(*name).as_ref()),
        _ => is_trait(world, *res),
    });
    let last = site.segments.last().copied()?;
    // One without a name is known by that of what it brings.
    let alias = leaf.alias.filter(|alias| facts.name(alias.name) != "_");
    let bound = alias.unwrap_or(last);
    Some((facts.name(bound.name).to_owned(), leaf.span, of_trait))
}
