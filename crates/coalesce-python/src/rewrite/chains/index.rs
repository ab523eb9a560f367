//! The imports and uses of a file, taken together.
//!
//! Each import asks what the others load and what it is used for, each use asks what binds it. A file
//! may have thousands of both, so what they all ask is worked out once.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use rustc_hash::{FxHashMap, FxHashSet};

use super::{module_prefix, text_of};
use crate::{
    analysis::Use,
    facts::{ImportStatement, Leaf},
    names::is_or_below,
    rewrite::file::File,
};

/// Literals that are longer are no name that anybody looks for.
const LONGEST_NAME: usize = 256;

/// A name and the scope that binds it.
type Bound = (usize, String);
/// A statement among those of the file, and a leaf of it.
type Place = (usize, usize);
/// The modules that the items go to that a leaf is used for; `None` where it is used for more.
pub type Spent = Option<Arc<BTreeSet<String>>>;

/// What all imports and uses of a file come to.
#[derive(Default)]
pub struct Index {
    /// What `import a.b` names without an alias, in order.
    names: Vec<String>,
    /// The same after the changes.
    names_after: Vec<String>,
    /// Names that are bound by such imports, and by no other import.
    whole: FxHashMap<Bound, WholeNames>,
    /// The full names of modules that uses of such names begin with, by the scope that binds.
    used: FxHashMap<usize, FxHashSet<String>>,
    /// The scope that a leaf binds its name in, by where the leaf begins.
    scopes: FxHashMap<u32, usize>,
    /// How often a name is bound, in all scopes.
    bindings: FxHashMap<String, usize>,
    /// The uses that begin with a name.
    uses: FxHashMap<String, Vec<usize>>,
    /// Names that some use takes from no scope of the file.
    unbound: FxHashSet<String>,
    /// Those that mean what a scope binds to it.
    uses_of: FxHashMap<Bound, Vec<usize>>,
    /// The first import of a name that is a module's, and the module, as far as somebody has asked.
    modules: Mutex<FxHashMap<Bound, Option<(usize, usize)>>>,
    /// Names that some scope declares to be another one's.
    declared: FxHashSet<String>,
    /// What literals say that are no types.
    literals: FxHashSet<String>,
    /// What is known of leaves of one name that bind another one, as far as somebody has asked.
    spent: Mutex<FxHashMap<(Bound, String, bool), Spent>>,
}

/// The plain imports that bind one name.
struct WholeNames {
    first: Place,
    /// One for each name.
    by_name: FxHashMap<String, Place>,
    /// Whether there is more than one leaf.
    several: bool,
    /// The modules that they name.
    modules: FxHashSet<usize>,
    /// Whether executing one of these loads a module, as far as somebody has asked.
    brought: Mutex<FxHashMap<usize, bool>>,
}

impl WholeNames {
    fn of(first: Place) -> Self {
        Self {
            first,
            by_name: FxHashMap::default(),
            several: false,
            modules: FxHashSet::default(),
            brought: Mutex::default(),
        }
    }
}

impl Index {
    /// Looks at all imports and uses of a file.
    pub fn of(file: &File<'_>) -> Self {
        let mut index = Self::default();
        index.name_all(file);
        let mixed = index.bind_all(file);
        index.follow_uses(file);
        index.whole.retain(|bound, _| !mixed.contains(bound));
        let literals = file.analysis().strings.iter();
        let literals = literals.filter(|literal| !literal.annotation);
        let texts = literals.filter_map(|literal| literal.span.of(file.text));
        let names = texts.filter(|text| text.len() < LONGEST_NAME);
        index.literals = names.map(str::to_owned).collect();
        index
    }

    fn name_all(&mut self, file: &File<'_>) {
        let imports = file.analysis().imports.iter().map(|(import, _)| import);
        let leaves = imports
            .filter(|import| import.from.is_none())
            .flat_map(|import| &import.leaves);
        for leaf in leaves.filter(|leaf| leaf.alias.is_none()) {
            let name = &leaf.name.text;
            let after = file.absolute(name).unwrap_or_else(|| name.clone());
            self.names.push(name.clone());
            self.names_after.push(after);
        }
        for names in [&mut self.names, &mut self.names_after] {
            names.sort_unstable();
            names.dedup();
        }
    }

    /// Notes what binds which name; gives the names that imports of another kind bind as well.
    fn bind_all(&mut self, file: &File<'_>) -> FxHashSet<Bound> {
        let mut mixed = FxHashSet::default();
        for (scope, found) in file.analysis().scopes.iter().enumerate() {
            let declared = found.globals.iter().chain(&found.nonlocals);
            self.declared.extend(declared.cloned());
            for (name, bindings) in &found.bindings {
                *self.bindings.entry(name.clone()).or_default() += bindings.len();
                let imports = bindings.iter();
                let imports = imports
                    .filter_map(|binding| Some((binding.import?, file.names.import(binding)?)));
                for (place, (import, leaf)) in imports {
                    self.scopes.insert(leaf.span.start, scope);
                    let bound = (scope, name.clone());
                    if import.from.is_some() || leaf.alias.is_some() {
                        mixed.insert(bound);
                    } else {
                        self.bind(file, bound, (place, leaf));
                    }
                }
            }
        }
        mixed
    }

    fn bind(&mut self, file: &File<'_>, bound: Bound, (place, leaf): (Place, &Leaf)) {
        let whole = self.whole.entry(bound);
        let whole = whole.or_insert_with(|| WholeNames::of(place));
        whole.several |= whole.first != place;
        let name = &leaf.name.text;
        if !whole.by_name.contains_key(name) {
            whole.by_name.insert(name.clone(), place);
            whole.modules.extend(file.graph().find(file.module, name));
        }
    }

    fn follow_uses(&mut self, file: &File<'_>) {
        let analysis = file.analysis();
        for (number, used) in analysis.uses.iter().enumerate() {
            let Some(root) = used.chain.first() else {
                continue;
            };
            self.uses.entry(root.text.clone()).or_default().push(number);
            let Some(scope) = analysis.binding_scope(used.scope, &root.text) else {
                self.unbound.insert(root.text.clone());
                continue;
            };
            let bound = (scope, root.text.clone());
            let plain = self.whole.contains_key(&bound);
            self.uses_of.entry(bound).or_default().push(number);
            if let Some((length, _)) = module_prefix(file, &used.chain).filter(|_| plain) {
                let name = text_of(&used.chain, length);
                self.used.entry(scope).or_default().insert(name);
            }
        }
    }

    /// The package that `import a.b.c` loaded for chains such as `a.b.g()` and that nothing loads any
    /// more: the deepest one, which loads those above it.
    pub fn still_needed(&self, file: &File<'_>, leaf: &Leaf) -> Option<String> {
        let used = self.used.get(self.scopes.get(&leaf.span.start)?)?;
        let full = leaf.name.text.as_str();
        let ends = full.rmatch_indices('.').map(|(end, _)| end);
        let above = ends.filter_map(|end| full.get(..end));
        let needed = std::iter::once(full).chain(above).find(|name| {
            used.contains(*name)
                && file.absolute(name).is_none()
                && !begins_one_of(&self.names_after, name)
        });
        needed.map(str::to_owned)
    }

    /// Whether some plain import names a module or one below it, before the changes.
    pub fn loads(&self, name: &str) -> bool {
        begins_one_of(&self.names, name)
    }

    /// What binds a name, when plain imports do.
    pub fn whole<'f>(&'f self, file: &'f File<'f>, scope: usize, name: &str) -> Option<Whole<'f>> {
        let names = self.whole.get(&(scope, name.to_owned()))?;
        Some(Whole { file, names })
    }

    /// The module that an import binds to a name, and the import: the first of them that is a module's.
    pub fn module<'f>(
        &self,
        file: &'f File<'_>,
        scope: usize,
        name: &str,
    ) -> Option<(usize, &'f ImportStatement)> {
        let statement = |at: usize| Some(&file.analysis().imports.get(at)?.0);
        let bound = (scope, name.to_owned());
        let all = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.get(&bound) {
            return known.and_then(|(module, at)| Some((module, statement(at)?)));
        }
        drop(all);
        let bindings = file.analysis().bindings(scope, name).iter();
        let mut imports = bindings.filter_map(|binding| {
            let (import, leaf) = file.names.import(binding)?;
            Some((import, leaf, binding.import?.0))
        });
        let found =
            imports.find_map(|(import, leaf, at)| Some((file.leaf_module(import, leaf)?, at)));
        let mut all = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(bound, found);
        found.and_then(|(module, at)| Some((module, statement(at)?)))
    }

    /// The uses that begin with a name.
    pub fn uses<'f>(&'f self, file: &File<'f>, name: &str) -> impl Iterator<Item = &'f Use> {
        let all = &file.names.analysis.uses;
        let numbers = self.uses.get(name).into_iter().flatten();
        numbers.filter_map(|number| all.get(*number))
    }

    /// The uses that mean what a scope binds to a name.
    pub fn uses_of<'f>(
        &'f self,
        file: &File<'f>,
        scope: usize,
        name: &str,
    ) -> impl Iterator<Item = &'f Use> {
        let all = &file.names.analysis.uses;
        let numbers = self.uses_of.get(&(scope, name.to_owned()));
        let numbers = numbers.into_iter().flatten();
        numbers.filter_map(|number| all.get(*number))
    }

    /// The uses that go through what a leaf binds.
    pub fn uses_through<'f>(
        &'f self,
        file: &File<'f>,
        leaf: &Leaf,
    ) -> impl Iterator<Item = &'f Use> {
        let scope = self.scopes.get(&leaf.span.start).copied();
        let uses = scope.map(|scope| self.uses_of(file, scope, leaf.bound()));
        uses.into_iter().flatten()
    }

    /// Whether some scope declares a name to be another one's.
    pub fn declares(&self, name: &str) -> bool {
        self.declared.contains(name)
    }

    /// Whether a name is used where no scope of the file binds it.
    pub fn is_unbound(&self, name: &str) -> bool {
        self.unbound.contains(name)
    }

    /// Whether a name is used.
    pub fn is_used(&self, name: &str) -> bool {
        self.uses.contains_key(name)
    }

    /// Whether a literal that is no type says this and nothing else; `true` where nobody can tell.
    pub fn is_literal(&self, text: &str) -> bool {
        text.len() >= LONGEST_NAME || self.literals.contains(text)
    }

    /// Whether what a leaf binds is a name of the module.
    pub fn binds_in_module(&self, leaf: &Leaf) -> bool {
        self.scopes.get(&leaf.span.start) == Some(&0)
    }

    /// Whether a use goes through what a leaf binds.
    pub fn binds(&self, file: &File<'_>, leaf: &Leaf, used: &Use) -> bool {
        let bound = leaf.bound();
        let named = used.chain.first().is_some_and(|root| root.text == bound);
        let scope = self.scopes.get(&leaf.span.start).copied();
        named && scope.is_some() && file.analysis().binding_scope(used.scope, bound) == scope
    }

    /// Whether a name is bound or used anywhere but by this leaf, which goes, and its uses.
    pub fn is_taken(&self, name: &str, goes: Option<&Leaf>) -> bool {
        let own = goes.is_some_and(|goes| goes.bound() == name);
        let bindings = self.bindings.get(name).copied().unwrap_or_default();
        bindings > usize::from(own) || !own && self.uses.contains_key(name)
    }

    /// What `spent` says of a leaf, or has said of another one of the same name in the same place.
    pub fn spent(&self, leaf: &Leaf, spent: impl FnOnce() -> Spent) -> Spent {
        let Some(scope) = self.scopes.get(&leaf.span.start).copied() else {
            return spent();
        };
        let bound = (scope, leaf.bound().to_owned());
        let key = (bound, leaf.name.text.clone(), leaf.alias.is_some());
        let known = |all: &FxHashMap<_, Spent>| all.get(&key).cloned();
        let all = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known(&all) {
            return known;
        }
        drop(all);
        let told = spent();
        let mut all = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(key, told.clone());
        told
    }
}

/// Whether one of these sorted names is `name` or one below it: nothing that an identifier may have
/// comes before a dot.
fn begins_one_of(sorted: &[String], name: &str) -> bool {
    let at = sorted.partition_point(|other| other.as_str() < name);
    sorted.get(at).is_some_and(|other| is_or_below(other, name))
}

/// The plain imports behind the first name of a chain.
#[derive(Clone, Copy)]
pub struct Whole<'f> {
    file: &'f File<'f>,
    names: &'f WholeNames,
}

impl<'f> Whole<'f> {
    fn at(&self, (statement, leaf): Place) -> Option<(&'f ImportStatement, &'f Leaf)> {
        let (import, _) = self.file.names.analysis.imports.get(statement)?;
        Some((import, import.leaves.get(leaf)?))
    }

    /// The first of them.
    pub fn first(&self) -> Option<(&'f ImportStatement, &'f Leaf)> {
        self.at(self.names.first)
    }

    /// One that names this module.
    pub fn naming(&self, name: &str) -> Option<&'f Leaf> {
        let (_, leaf) = self.at(*self.names.by_name.get(name)?)?;
        Some(leaf)
    }

    /// Whether there is more than one.
    pub fn several(&self) -> bool {
        self.names.several
    }

    /// Whether what they name loads a module after the changes.
    pub fn bring(&self, module: usize) -> bool {
        let all = &self.names.brought;
        let known = all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(&module) {
            return *known;
        }
        drop(known);
        let mut modules = self.names.modules.iter();
        let brought = modules.any(|start| self.file.mapping.loads(*start, module));
        let mut known = all.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(module, brought);
        brought
    }
}
