//! What a piece of code has by its own imports, and where the paths through these lead.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::Subject;

use super::names_of;
use crate::{
    facts::{LeafKind, Namespaces, PathFact, ScopeId, ScopeKind, SourceFacts, VisibilityKind},
    resolve::{Binding, ModuleId, Reach, Res},
    rewrite::{mapping::Mapping, mentions},
};

/// How many imports of imports are followed.
const DEEPEST: usize = 8;

/// The first segments of a path, said anew.
pub(super) struct Spelling {
    /// The full name before of what they name.
    pub from: String,
    pub to: String,
    pub len: usize,
}

/// What gives a first name its meaning.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// Something that the code has by itself, or that nobody knows.
    Own,
    /// A leaf of an import that gives the name.
    Import(u32),
    /// A glob.
    Glob(u32),
    /// A library.
    Library,
}

/// A path in full: how many of its names stand for the first segment, and where that is from.
struct Full {
    names: Vec<String>,
    /// Where the name of the first segment stands in these.
    first: usize,
    source: Source,
}

/// A name of a full path that leads elsewhere.
pub(super) struct Broken {
    pub at: usize,
    /// The full names of it before and after.
    pub from: String,
    pub to: String,
}

/// What the imports of a piece of code bring.
pub(super) struct FragmentImports<'a> {
    pub mapping: &'a Mapping<'a>,
    facts: &'a SourceFacts,
    /// Imports that paths went through which are spelled without them now, with the names of what these led to.
    freed: BTreeMap<u32, (String, String)>,
    /// Imports that are gone through.
    used: BTreeSet<u32>,
    /// Whether what is private is named as well, as links do.
    sees_all: bool,
}

impl<'a> FragmentImports<'a> {
    pub fn new(mapping: &'a Mapping<'a>, facts: &'a SourceFacts) -> Self {
        Self {
            mapping,
            facts,
            freed: BTreeMap::new(),
            used: BTreeSet::new(),
            sees_all: false,
        }
    }

    /// What links of a document may lead to.
    pub fn of_links(mapping: &'a Mapping<'a>, facts: &'a SourceFacts) -> Self {
        Self {
            sees_all: true,
            ..Self::new(mapping, facts)
        }
    }

    /// Whether the code gives the first name of a path a meaning of its own.
    pub fn is_bound(&self, path: &PathFact) -> bool {
        let segments = self.facts.segments(path.segments);
        let first = segments.first();
        let source = first.map(|first| self.source(path.scope, self.facts.name(first.name), true));
        !path.leading_colons && !matches!(source, None | Some(Source::Library))
    }

    /// What becomes of a path, by what its first name means here.
    pub fn follow(&mut self, at: usize) -> Option<Spelling> {
        let facts = self.facts;
        let path = facts.paths.get(at)?;
        let segments = facts.segments(path.segments);
        let names = names_of(facts, segments);
        let first = names.first()?;
        let full = match path.leading_colons {
            true => self.full(Source::Library, &names, 0)?,
            false => self.full(self.source(path.scope, first, true), &names, 0)?,
        };
        let broken = self.broken(&full.names, path.namespaces);
        let broken = broken.filter(|broken| broken.at >= full.first);
        // The import of the very thing is spelled anew itself.
        let broken = broken
            .filter(|broken| broken.at > full.first || !matches!(full.source, Source::Import(_)));
        let Some(broken) = broken else {
            self.note_use(&full);
            return None;
        };
        let (to, is_kept) = self.said(path.scope, &full, &broken);
        if is_kept {
            self.note_use(&full);
        } else if let Source::Import(leaf) | Source::Glob(leaf) = full.source {
            let names = (broken.from.clone(), broken.to.clone());
            self.freed.entry(leaf).or_insert(names);
        }
        Some(Spelling {
            from: broken.from,
            to,
            len: broken.at + 1 - full.first,
        })
    }

    fn note_use(&mut self, full: &Full) {
        if let Source::Import(leaf) | Source::Glob(leaf) = full.source {
            self.used.insert(leaf);
        }
    }

    /// What becomes of what an import leads to: the full names before and after.
    pub fn follow_import(&self, leaf: u32) -> Option<(String, String)> {
        let full = self.full_import(leaf, 0)?;
        let broken = self.broken(&full.names, Namespaces::ALL)?;
        // One that begins with another import goes on with that.
        if !matches!(full.source, Source::Library) {
            let is_behind = broken.at > full.first;
            let own = is_behind.then(|| self.said(self.scope_of(leaf), &full, &broken).0)?;
            let rest = full.names.get(broken.at + 1..)?.iter().cloned();
            let names: Vec<String> = std::iter::once(own).chain(rest).collect();
            return Some((broken.from, names.join("::")));
        }
        Some((full.names.join("::"), in_full(&full.names, &broken)))
    }

    /// The imports that served only what is spelled without them now.
    pub fn spent(&mut self) -> BTreeMap<u32, (String, String)> {
        for leaf in 0..u32::try_from(self.facts.leaves.len()).unwrap_or(0) {
            let full = self.full_import(leaf, 0);
            full.into_iter().for_each(|full| self.note_use(&full));
        }
        let mut freed = self.freed.clone();
        freed.retain(|leaf, _| {
            let is_private = self.facts.declaration_of(*leaf).visibility.kind;
            is_private == VisibilityKind::Private
                && !self.used.contains(leaf)
                && (self.facts.leaf(*leaf).kind != LeafKind::Glob || self.brings_no_trait(*leaf))
        });
        freed
    }

    /// Whether nothing that a glob brings could serve unseen: of a trait, methods may be called.
    fn brings_no_trait(&self, leaf: u32) -> bool {
        let full = self.full_import(leaf, 0);
        let module = full.and_then(|full| self.module(&full.names));
        module.is_some_and(|module| !self.mapping.world.may_give_traits(module))
    }

    fn scope_of(&self, leaf: u32) -> ScopeId {
        self.facts.declaration_of(leaf).scope
    }

    /// The broken names of a path, said through what the first segment comes by, where that can be, and else in
    /// full; whether it is the former.
    fn said(&self, scope: ScopeId, full: &Full, broken: &Broken) -> (String, bool) {
        let head = match full.source {
            Source::Import(_) => full.names.get(..=full.first),
            Source::Glob(_) => full.names.get(..full.first),
            Source::Own | Source::Library => None,
        };
        let Some(head) = head else {
            return (broken.to.clone(), true);
        };
        let head_after = match self.broken(head, Namespaces::ALL) {
            Some(broken) => in_full(head, &broken),
            None => head.join("::"),
        };
        let rest = broken.to.strip_prefix(head_after.as_str());
        let Some(rest) = rest.and_then(|rest| rest.strip_prefix("::")) else {
            return (broken.to.clone(), false);
        };
        match full.source {
            Source::Import(leaf) => (format!("{}::{rest}", self.bound(leaf)), true),
            _ => {
                let first = rest.split("::").next().unwrap_or_default();
                match self.source(scope, first, true) {
                    Source::Import(_) => (broken.to.clone(), false),
                    _ if self.has_own(scope, first) => (broken.to.clone(), false),
                    _ => (rest.to_owned(), true),
                }
            }
        }
    }

    /// The name that an import gives.
    fn bound(&self, leaf: u32) -> String {
        let fact = self.facts.leaf(leaf);
        let last = self.facts.segments(fact.segments).last().copied();
        let bound = fact.alias.or(last);
        bound.map_or_else(String::new, |one| names_of(self.facts, &[one]).join(""))
    }

    /// The whole path of names of which the first one has its meaning from a source.
    fn full(&self, source: Source, names: &[String], depth: usize) -> Option<Full> {
        let first = names.first()?;
        let mut head = match source {
            Source::Own => return None,
            Source::Library => Vec::new(),
            Source::Import(leaf) | Source::Glob(leaf) => self.full_import(leaf, depth + 1)?.names,
        };
        if !matches!(source, Source::Import(_)) {
            head.push(first.clone());
        }
        let at = head.len() - 1;
        head.extend(names.iter().skip(1).cloned());
        Some(Full {
            names: head,
            first: at,
            source,
        })
    }

    /// The whole path of what an import leads to; of a glob, that of its module.
    fn full_import(&self, leaf: u32, depth: usize) -> Option<Full> {
        let fact = self.facts.leaf(leaf);
        let names = names_of(self.facts, self.facts.segments(fact.segments));
        let first = names.first().filter(|_| depth < DEEPEST)?;
        let is_library = |name: &str| self.module(&[name.to_owned()]).is_some();
        // An import does not begin with what it brings itself.
        let is_itself = self.bound(leaf) == *first;
        if fact.leading_colons || is_itself && is_library(first) {
            let is_known = is_library(first);
            return is_known.then_some(Full {
                names,
                first: 0,
                source: Source::Library,
            });
        }
        // What a glob may bring is not asked for the beginning of an import.
        let source = self.source(self.scope_of(leaf), first, false);
        (!is_itself).then(|| self.full(source, &names, depth))?
    }

    /// What a name means in a scope, by a glob as well where that is asked.
    fn source(&self, scope: ScopeId, name: &str, by_glob: bool) -> Source {
        let mut at = Some(scope);
        while let Some(scope) = at {
            if self.declares(scope, name) {
                return Source::Own;
            }
            if let Some(source) = self.imported(scope, name, by_glob) {
                return source;
            }
            let fact = self.facts.scope(scope);
            let is_module = matches!(fact.kind, ScopeKind::Module(_));
            at = fact.parent.filter(|_| !is_module);
        }
        match self.module(&[name.to_owned()]) {
            Some(_) => Source::Library,
            None => Source::Own,
        }
    }

    /// Whether a scope, or one around it, declares a name.
    fn has_own(&self, scope: ScopeId, name: &str) -> bool {
        let above = |at: &ScopeId| self.facts.scope(*at).parent;
        let mut scopes = std::iter::successors(Some(scope), above);
        scopes.any(|scope| self.declares(scope, name))
    }

    fn declares(&self, scope: ScopeId, name: &str) -> bool {
        let mut items = self.facts.items.iter();
        let mut modules = self.facts.modules.iter();
        items.any(|item| item.scope == scope && self.facts.name(item.name.name) == name)
            || modules.any(|one| one.scope == scope && self.facts.name(one.name.name) == name)
    }

    /// The import of a scope that brings a name; names of their own go before globs.
    fn imported(&self, scope: ScopeId, name: &str, by_glob: bool) -> Option<Source> {
        let leaves = 0..u32::try_from(self.facts.leaves.len()).unwrap_or(0);
        let own: Vec<u32> = leaves
            .filter(|leaf| self.scope_of(*leaf) == scope)
            .collect();
        let is_glob = |leaf: &u32| self.facts.leaf(*leaf).kind == LeafKind::Glob;
        let (globs, named): (Vec<u32>, Vec<u32>) = own.into_iter().partition(is_glob);
        if let Some(leaf) = named.into_iter().find(|leaf| self.bound(*leaf) == name) {
            return Some(Source::Import(leaf));
        }
        let brings = |leaf: &u32| {
            let full = self.full_import(*leaf, 1);
            let module = full.and_then(|full| self.module(&full.names));
            module.is_some_and(|module| self.offered(module, name).next().is_some())
        };
        let mut globs = globs.into_iter().filter(|_| by_glob);
        globs.find(brings).map(Source::Glob)
    }

    /// What a module has by a name, as far as that is seen.
    fn offered(&self, module: ModuleId, name: &str) -> impl Iterator<Item = &Binding> {
        let bindings = self.mapping.world.bindings(module, name).iter();
        bindings.filter(|binding| self.sees_all || binding.reach == Reach::Public)
    }

    /// The module that a full path leads to.
    pub fn module(&self, names: &[String]) -> Option<ModuleId> {
        let (first, rest) = names.split_first()?;
        let (_, root) = mentions::module_of(self.mapping, &[first.as_str()])?;
        rest.iter().try_fold(root, |module, name| {
            self.offered(module, name).find_map(|one| match one.res {
                Res::Module(module) => Some(module),
                _ => None,
            })
        })
    }

    /// The last name of a full path that leads elsewhere after; its last one is looked for where it is wanted.
    pub fn broken(&self, names: &[String], wanted: Namespaces) -> Option<Broken> {
        let (first, rest) = names.split_first()?;
        let (_, mut module) = mentions::module_of(self.mapping, &[first.as_str()])?;
        let mut broken = self.mapping.is_changed(module).then(|| Broken {
            at: 0,
            from: first.clone(),
            to: self.name_after(module),
        });
        for (at, name) in (1..).zip(rest) {
            let is_last = names.len() == at + 1;
            let wanted = if is_last { wanted } else { Namespaces::TYPE };
            let offered = self.offered(module, name).copied();
            let found: Vec<Binding> = offered.filter(|one| one.namespaces.meets(wanted)).collect();
            let owner = module;
            let child = found.iter().find_map(|one| match one.res {
                Res::Module(module) => Some((module, one.import.is_none())),
                _ => None,
            });
            let defines_item = found
                .iter()
                .any(|one| one.import.is_none() && matches!(one.res, Res::Item(_)));
            let to = match child {
                Some((child, is_own)) if !(is_last && defines_item) => {
                    module = child;
                    let holds = !is_own || {
                        let after = self.mapping.after(owner).child(name);
                        self.mapping.after(child) == after
                    };
                    (!holds).then(|| self.name_after(child))
                }
                _ if defines_item => {
                    return self.broken_item(names, at, owner).or(broken);
                }
                _ => return broken,
            };
            if let Some(to) = to {
                let from = self.mapping.world[module].canonical.clone();
                broken = Some(Broken { at, from, to });
            }
        }
        broken
    }

    /// The same of what a module defines, and of what that has.
    fn broken_item(&self, names: &[String], at: usize, owner: ModuleId) -> Option<Broken> {
        let own = names.get(at)?;
        let mut from = self.mapping.world[owner].canonical.clone();
        let mut found = None;
        for (at, name) in names.iter().enumerate().skip(at).take(2) {
            from = format!("{from}::{name}");
            let items = self.mapping.changes.iter();
            let mut items = items.filter(|change| change.subject == Subject::Item);
            if let Some(change) = items.find(|change| change.from == from) {
                found = Some((at, from.clone(), change.to.clone()));
            }
        }
        let renamed = || {
            let new = self.mapping.item_after(owner, own);
            let is_renamed = self.mapping.is_replaced(owner) && new != own;
            is_renamed.then(|| {
                let from = format!("{}::{own}", self.mapping.world[owner].canonical);
                (at, from, format!("{}::{new}", self.name_after(owner)))
            })
        };
        let (at, from, to) = found.or_else(renamed)?;
        Some(Broken { at, from, to })
    }

    fn name_after(&self, module: ModuleId) -> String {
        self.mapping.name_of(&self.mapping.after(module))
    }
}

/// A full path with what is broken of it said anew.
fn in_full(names: &[String], broken: &Broken) -> String {
    let rest = names.iter().skip(broken.at + 1).cloned();
    let names: Vec<String> = std::iter::once(broken.to.clone()).chain(rest).collect();
    names.join("::")
}
