//! Private imports that a module which leaves went through, by `super::` or a glob of the module around it, and nothing
//! else did: the compiler warns of them once it has left.

use std::{
    cell::{OnceCell, RefCell},
    collections::{BTreeMap, BTreeSet},
};

use coalesce_model::{Unproven, UnprovenKind};
use rustc_hash::FxHashMap;

use super::{
    conditions::conditions_of,
    mapping::Mapping,
    method_calls::{self, calls::Called},
    traits::{self, Asked, Demand, Usage},
};
use crate::{
    facts::{LeafKind, Origin, SourceFacts, VisibilityKind},
    resolve::{FileId, ModuleId, Res, Site, is_within},
};

/// An import by its file and leaf.
type ImportId = (FileId, u32);

/// What becomes of such imports.
#[derive(Default)]
pub(super) struct IdleImports {
    pub spent: BTreeSet<ImportId>,
    pub unproven: Vec<Unproven>,
}

/// Who goes through an import.
#[derive(Default)]
struct Users {
    /// Code that leaves the module around it.
    leave: bool,
    /// Code that stays, but for that of tests.
    stay: bool,
    /// Tests that stay.
    tests: bool,
    /// Links in documents that stay.
    links: bool,
}

impl Users {
    /// Adds a path of code, or of a document.
    fn add(&mut self, part: ModulePart, is_link: bool) {
        match part {
            ModulePart::Leaves => self.leave = true,
            _ if is_link => self.links = true,
            ModulePart::Stays => self.stay = true,
            ModulePart::Tests => self.tests = true,
        }
    }

    /// Adds the body of a macro; `leave` says whether all who call it leave.
    fn add_body(&mut self, leave: bool) {
        self.leave |= leave;
        self.stay |= !leave;
    }
}

/// Finds the imports that nothing goes through any more.
pub(super) fn find(mapping: &Mapping<'_>) -> IdleImports {
    let mut found = IdleImports::default();
    let roots: Vec<ModuleId> = mapping
        .roots
        .iter()
        .flatten()
        .map(|(root, _)| *root)
        .collect();
    for home in homes(mapping, &roots) {
        let imports = Imports::of(mapping, home);
        if !imports.results.is_empty() {
            imports.settle(&mut found);
        }
    }
    found
}

/// Whether what becomes of a module takes it out of another one.
fn leaves(mapping: &Mapping<'_>, module: ModuleId, home: ModuleId) -> bool {
    mapping.is_replaced(module) || !mapping.after(module).is_within(&mapping.after(home))
}

/// Whether an import brings a name to its module alone.
fn is_private_name(facts: &SourceFacts, leaf: u32) -> bool {
    let declared = facts.declaration_of(leaf);
    facts.leaf(leaf).kind != LeafKind::Glob
        && declared.origin == Origin::Code
        && declared.visibility.kind == VisibilityKind::Private
        && facts.module_scope(declared.scope) == declared.scope
}

/// The modules that stay and that a module inside of them leaves.
fn homes(mapping: &Mapping<'_>, roots: &[ModuleId]) -> BTreeSet<ModuleId> {
    let world = mapping.world;
    let homes = roots.iter().flat_map(|root| {
        let above = std::iter::successors(world[*root].parent, |home| world[*home].parent);
        above.filter(|home| !mapping.is_changed(*home) && leaves(mapping, *root, *home))
    });
    homes.collect()
}

/// What becomes of code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ModulePart {
    Leaves,
    Stays,
    /// It stays, and is there for tests alone.
    Tests,
}

/// The private imports of one module, with what they lead to.
struct Imports<'m> {
    mapping: &'m Mapping<'m>,
    home: ModuleId,
    results: BTreeMap<ImportId, Vec<(String, Res)>>,
    /// What code of each part calls; read when it is asked for.
    called: [OnceCell<Called>; 3],
    usage: OnceCell<Usage>,
    /// What becomes of modules, each asked for once.
    parts: RefCell<FxHashMap<ModuleId, ModulePart>>,
}

impl<'m> Imports<'m> {
    fn of(mapping: &'m Mapping<'m>, home: ModuleId) -> Self {
        let world = mapping.world;
        let names = world.space(home).names.iter();
        let all = names.flat_map(|(name, bindings)| bindings.iter().map(move |one| (*name, one)));
        let mut results: BTreeMap<ImportId, Vec<(String, Res)>> = BTreeMap::new();
        for (name, one) in all.filter(|(_, one)| !one.glob) {
            if let Some(import) = one.import {
                let name = world.names.text(name).to_string();
                results.entry(import).or_default().push((name, one.res));
            }
        }
        results.retain(|(file, leaf), all| {
            is_private_name(world.facts(*file), *leaf)
                && all.iter().all(|(_, res)| !concerns(mapping, *res))
        });
        Self {
            mapping,
            home,
            results,
            called: [OnceCell::new(), OnceCell::new(), OnceCell::new()],
            usage: OnceCell::new(),
            parts: RefCell::default(),
        }
    }

    fn settle(&self, found: &mut IdleImports) {
        let users = self.users();
        let none = Users::default();
        for (import, results) in &self.results {
            let users = users.get(import).unwrap_or(&none);
            if users.stay {
                continue;
            }
            let mut all = results.iter();
            let may_be_trait = all.any(|(_, res)| traits::may_be_trait(self.mapping.world, *res));
            let demand = |part: ModulePart| match may_be_trait {
                true => self.demand(results, part),
                false => Demand::No,
            };
            if !users.leave && demand(ModulePart::Leaves) == Demand::No {
                continue;
            }
            let is_for_others =
                users.links || users.tests || demand(ModulePart::Tests) != Demand::No;
            match demand(ModulePart::Stays) {
                Demand::Yes => {}
                Demand::No if !is_for_others => _ = found.spent.insert(*import),
                _ => found.unproven.push(self.told(*import)),
            }
        }
    }

    fn told(&self, (file, leaf): ImportId) -> Unproven {
        let world = self.mapping.world;
        let facts = world.facts(file);
        let fact = facts.leaf(leaf);
        let name = facts.segments(fact.segments).last();
        Unproven {
            path: world[file].path.clone(),
            span: Some(fact.span),
            kind: UnprovenKind::LeftUnused,
            name: name.map_or(String::new(), |name| facts.name(name.name).to_owned()),
            why: "a module that leaves went through this import, and whether anything else does is not known: the \
                  compiler may warn of that"
                .to_owned(),
        }
    }

    /// Who names something by the imports: paths through them, those of globs of the module, and bodies of macros.
    fn users(&self) -> BTreeMap<ImportId, Users> {
        let world = self.mapping.world;
        let mut found: BTreeMap<ImportId, Users> = BTreeMap::new();
        for (file, source) in world.sources_within(self.home) {
            world.visit_file(source, &mut |facts, site| {
                self.site(facts, &site, &mut found)
            });
            for (calls, sites) in world.said_in(file) {
                let mut calls = calls.iter().map(|call| world.module_of(call.space));
                let leave = calls.all(|module| self.part_of(module) == ModulePart::Leaves);
                let through = sites.flat_map(|site| {
                    let imports = site.trace.steps.iter().filter_map(|step| step.import);
                    imports.collect::<Vec<_>>()
                });
                for import in through.filter(|import| self.results.contains_key(import)) {
                    found.entry(import).or_default().add_body(leave);
                }
            }
        }
        found
    }

    fn site(&self, facts: &SourceFacts, site: &Site<'_>, found: &mut BTreeMap<ImportId, Users>) {
        let world = self.mapping.world;
        let part = self.part_of(world.module_of(site.space));
        let is_link = matches!(site.origin, Origin::DocLink | Origin::DocCode);
        for (step, segment) in site.trace.steps.iter().zip(site.segments) {
            let Some(import) = step.import else { continue };
            let by_glob =
                step.glob && self.mapping.speller().glob_target(import) == Some(self.home);
            let imports: Vec<ImportId> = match by_glob {
                true => self.named(facts.name(segment.name)).collect(),
                false => {
                    let own = self.results.contains_key(&import);
                    own.then_some(import).into_iter().collect()
                }
            };
            for own in imports {
                found.entry(own).or_default().add(part, is_link);
            }
        }
    }

    /// The imports that bring a name.
    fn named<'s>(&'s self, name: &'s str) -> impl Iterator<Item = ImportId> + 's {
        let all = self.results.iter();
        all.filter(move |(_, results)| results.iter().any(|(known, _)| known == name))
            .map(|(import, _)| *import)
    }

    /// What becomes of a module: it leaves where it goes to where it has nothing from this one any more.
    fn part_of(&self, module: ModuleId) -> ModulePart {
        let known = self.parts.borrow().get(&module).copied();
        known.unwrap_or_else(|| {
            let part = self.read_part(module);
            self.parts.borrow_mut().insert(module, part);
            part
        })
    }

    fn read_part(&self, module: ModuleId) -> ModulePart {
        let mapping = self.mapping;
        let leaves = is_within(mapping.world, module, self.home)
            && mapping.is_changed(module)
            && leaves(mapping, module, self.home);
        match leaves {
            true => ModulePart::Leaves,
            false if self.is_of_tests(module) => ModulePart::Tests,
            false => ModulePart::Stays,
        }
    }

    /// Whether a module is there for tests alone, where this one is not.
    fn is_of_tests(&self, module: ModuleId) -> bool {
        let is_test = |module| conditions_of(self.mapping, module).contains("test");
        is_test(module) && !is_test(self.home)
    }

    /// Whether methods that are called in one part need one of these as a trait.
    fn demand(&self, results: &[(String, Res)], part: ModulePart) -> Demand {
        let (world, texts) = (self.mapping.world, self.mapping.texts);
        let usage = self
            .usage
            .get_or_init(|| Usage::of(world, self.home, texts));
        let looks = |name: &str| usage.looks_like_trait(name);
        let asked = Asked {
            world,
            texts,
            looks: &looks,
        };
        let [leaves, stays, tests] = &self.called;
        let called = match part {
            ModulePart::Leaves => leaves,
            ModulePart::Stays => stays,
            ModulePart::Tests => tests,
        };
        let called = called.get_or_init(|| self.called_by(part));
        let demands = results.iter();
        let demands = demands.map(|(name, res)| asked.demand((name, *res), called));
        demands.max().unwrap_or(Demand::No)
    }

    fn called_by(&self, part: ModulePart) -> Called {
        let (world, texts) = (self.mapping.world, self.mapping.texts);
        let mut called = Called::default();
        for body in &world.bodies {
            let serves = body.module == self.home || self.has_glob(body.file, body.module);
            let is_asked = serves && self.part_of(body.module) == part;
            let text = is_asked.then(|| texts.text(&world[body.file].path));
            let Some(text) = text.flatten() else {
                continue;
            };
            let span = world.code_of(body);
            called.extend(method_calls::called(
                world,
                body.module,
                (&text, span),
                texts,
            ));
        }
        called
    }

    /// Whether a module inside of this one has all of its names by a glob.
    fn has_glob(&self, file: FileId, user: ModuleId) -> bool {
        let world = self.mapping.world;
        let speller = self.mapping.speller();
        let mut leaves = (0_u32..).zip(&world.facts(file).leaves);
        user != self.home
            && is_within(world, user, self.home)
            && leaves.any(|(at, leaf)| {
                leaf.kind == LeafKind::Glob && speller.glob_target((file, at)) == Some(self.home)
            })
    }
}

/// Whether something gets another place or goes: what becomes of its imports is settled by their paths.
fn concerns(mapping: &Mapping<'_>, res: Res) -> bool {
    match res {
        Res::Module(module) => mapping.is_changed(module),
        Res::Item(item) | Res::Variant(item, _) | Res::Member(item, _) => {
            mapping.is_changed(mapping.world[item].module)
        }
        Res::External(_) => false,
    }
}
