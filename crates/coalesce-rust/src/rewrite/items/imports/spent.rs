//! Imports that nobody needs any more.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use coalesce_model::{ByteSpan, Unproven, UnprovenKind};

use super::{Import, Settler, between, home_of, leaf_of, visibility_of};
use crate::{
    facts::{LeafKind, Origin, ScopeId, SourceFacts, VisibilityKind},
    resolve::{Body, BodyId, CrateId, FileId, ModuleId, Res, is_within},
    rewrite::{
        conditions::conditions_of,
        method_calls::{self, calls::Called},
        traits::{self, Demand},
        use_tree::LeafChange,
        walk::is_of_module,
    },
};

/// What was read of modules, each once: a module may have any number of imports.
#[derive(Default)]
pub(super) struct Read {
    called: RefCell<BTreeMap<ModuleId, Rc<Called>>>,
    own_called: RefCell<BTreeMap<ModuleId, Rc<Called>>>,
    usages: RefCell<BTreeMap<ModuleId, Rc<traits::Usage>>>,
}

fn once<T>(
    known: &RefCell<BTreeMap<ModuleId, Rc<T>>>,
    module: ModuleId,
    read: impl FnOnce() -> T,
) -> Rc<T> {
    if let Some(known) = known.borrow().get(&module) {
        return Rc::clone(known);
    }
    let read = Rc::new(read());
    known.borrow_mut().insert(module, Rc::clone(&read));
    read
}

impl<'a> Settler<'_, 'a> {
    /// Imports that only what left used, or what is spelled anew.
    pub(super) fn spent(&mut self) {
        let world = self.world();
        let mut freed = std::mem::take(&mut self.scan.freed_imports);
        freed.extend(self.globs_of_left_empty());
        for import in freed {
            if !is_of_module(world, import) {
                self.spend_in_block(import);
                continue;
            }
            let Some(home) = home_of(world, import) else {
                continue;
            };
            let glob = leaf_of(world, import).kind == LeafKind::Glob;
            match self.speller().glob_target(import).filter(|_| glob) {
                Some(target) => self.spend(import, home, target),
                None if glob => self.spend_variants(import, home),
                None => self.spend_name(import, home),
            }
        }
    }

    /// Takes an import out that stands in a block which stays, brings modules alone, and served only what is spelled
    /// without it now.
    fn spend_in_block(&mut self, import: (FileId, u32)) {
        let world = self.world();
        let fact = leaf_of(world, import);
        let facts = world.facts(import.0);
        let is_document = facts.declaration_of(import.1).origin == Origin::DocCode;
        let stays = is_document || self.set.chunk_at(import.0, fact.span.start).is_none();
        let is_used =
            self.scan.used_imports.contains(&import) || self.scan.doc_imports.contains(&import);
        if !stays || is_used {
            return;
        }
        if fact.kind == LeafKind::Glob {
            let target = self.speller().glob_target(import);
            if let Some(target) = target.filter(|_| is_document) {
                self.spend_in_document(import, target);
            }
            return;
        }
        let Some((_, found)) = world.found_by_leaf(import) else {
            return;
        };
        let mut led = found.all().peekable();
        if led.peek().is_some() && led.all(|(res, _)| matches!(res, Res::Module(_))) {
            let work = self.scan.files.entry(import.0).or_default();
            work.leaves.insert(import.1, LeafChange::Drop);
        }
    }

    /// Takes an import of one name out that nobody needs any more.
    fn spend_name(&mut self, import: (FileId, u32), home: ModuleId) {
        let stays = self.used(import, home);
        if stays != Demand::No && self.hand_down(import, home) {
            return;
        }
        let leaves = self.scan.for_methods.get(&import);
        if stays == Demand::No && self.scan.doc_imports.contains(&import) {
            let told = self.for_documents_alone(import);
            self.scan.told.unproven.push(told);
        } else if stays == Demand::No {
            // Also where it leads through what moves, and was to be spelled anew: `use Kind::{A, B};`.
            let work = self.scan.files.entry(import.0).or_default();
            work.leaves.insert(import.1, LeafChange::Drop);
        } else if stays == Demand::Perhaps || leaves == Some(&Demand::Perhaps) {
            self.scan.guessed.insert(import);
        }
    }

    /// The private globs of modules of which nothing stays but imports: whatever they brought, nobody is left who
    /// says it.
    fn globs_of_left_empty(&self) -> Vec<(FileId, u32)> {
        let world = self.world();
        let moving = self.set.moving.iter();
        let homes: BTreeSet<ModuleId> = moving.map(|one| one.home).collect();
        let mut found = Vec::new();
        for home in homes.into_iter().filter(|home| self.is_left_empty(*home)) {
            for body in world.bodies_of(home) {
                let facts = world.facts(body.file);
                let leaves = (0_u32..).zip(&facts.leaves);
                let globs = leaves.filter(|(at, leaf)| {
                    let declaration = facts.declaration_of(*at);
                    leaf.kind == LeafKind::Glob
                        && declaration.scope == body.scope
                        && declaration.visibility.kind == VisibilityKind::Private
                });
                found.extend(globs.map(|(at, _)| (body.file, at)));
            }
        }
        found
    }

    /// An import that stays since links go through it.
    fn for_documents_alone(&self, import: (FileId, u32)) -> Unproven {
        let world = self.world();
        let fact = leaf_of(world, import);
        let path = self.set.path(import.0);
        let text = self.set.mapping.texts.text(&path);
        let name = text.as_deref().and_then(|text| fact.span.of(text));
        Unproven {
            name: name.unwrap_or_default().to_owned(),
            path,
            span: Some(fact.span),
            kind: UnprovenKind::LeftUnused,
            why: "links in documents alone go through this import, and the compiler warns of that"
                .to_owned(),
        }
    }

    /// Takes a glob of an `enum` out whose variants nobody says any more.
    fn spend_variants(&mut self, import: (FileId, u32), home: ModuleId) {
        let private = visibility_of(self.world(), import) == Some(VisibilityKind::Private);
        if !private || self.scan.used_globs.contains(&import) {
            return;
        }
        if self.is_left_empty(home) || self.are_variants_idle(import, home) {
            let work = self.scan.files.entry(import.0).or_default();
            work.leaves.insert(import.1, LeafChange::Drop);
        }
    }

    /// Whether an import is known to bring variants alone, of which nobody says one.
    fn are_variants_idle(&self, import: (FileId, u32), home: ModuleId) -> bool {
        let world = self.world();
        let names = world.space(home).names.iter();
        let mut brought = names
            .filter(|(_, bindings)| bindings.iter().any(|one| one.import == Some(import)))
            .map(|(sym, bindings)| (world.names.text(*sym).to_string(), bindings))
            .peekable();
        let known = brought.peek().is_some();
        let idle = brought.all(|(name, bindings)| {
            let mut own = bindings.iter().filter(|one| one.import == Some(import));
            own.all(|one| matches!(one.res, Res::Variant(..)))
                && !self.scan.used_names.contains(&(home, name.clone()))
                && !self.is_used_elsewhere(import, home, &name)
        });
        known && idle
    }

    /// Gives an import that only tests inside of its module go on using, by `use super::*`, to them: for
    /// others it would be unused. Whether that could be.
    fn hand_down(&mut self, import: (FileId, u32), home: ModuleId) -> bool {
        let world = self.world();
        let facts = world.facts(import.0);
        let fact = leaf_of(world, import);
        let speller = self.speller();
        let said = speller.absolute(import).zip(speller.krate_of(import));
        let last = facts.segments(fact.segments).last().copied();
        let Some((said, bound)) = said.zip(fact.alias.or(last)) else {
            return false;
        };
        let bound = facts.name(bound.name);
        let private = visibility_of(world, import) == Some(VisibilityKind::Private);
        if !private || self.scan.used_imports.contains(&import) {
            return false;
        }
        if self.own_demand(import, (home, bound), home) != Demand::No {
            return false;
        }
        let Some(users) = self.tests_with(import, (home, bound)) else {
            return false;
        };
        for user in users {
            self.hand_to(user, import, (home, bound), &said);
        }
        let work = self.scan.files.entry(import.0).or_default();
        work.leaves.entry(import.1).or_insert(LeafChange::Drop);
        true
    }

    /// Gives an import of a module to a text inside of it; `path` is that of what it brings, with the crate of that.
    fn hand_to(
        &mut self,
        user: BodyId,
        import: (FileId, u32),
        (home, bound): (ModuleId, &str),
        (path, krate): &(Vec<String>, CrateId),
    ) {
        let world = self.world();
        let module = world[user].module;
        let place = self.set.mapping.after(module);
        let needs = &mut self.scan.told.needs;
        let speller = self.set.mapping.speller();
        let path = speller.said_in(path.clone(), *krate, &place, needs);
        // Whether they call one of its methods is not known where it is no more than possible.
        if self.own_demand(import, (home, bound), module) == Demand::Perhaps {
            self.scan.guessed.insert(import);
        }
        let alias = leaf_of(world, import).alias.map(|_| bound.to_owned());
        let cfg = self.conditions(import);
        let list = self.imports.left.entry(user).or_default();
        list.insert(Import { path, alias, cfg });
    }

    /// The texts of tests that have a name of their parent by a glob and use it; `None` where other code
    /// does.
    fn tests_with(
        &self,
        import: (FileId, u32),
        (home, name): (ModuleId, &str),
    ) -> Option<BTreeSet<BodyId>> {
        let world = self.world();
        let mut users = BTreeSet::new();
        for (file, source) in world.sources() {
            let below = |body: &&BodyId| is_within(world, world[*body].module, home);
            let inside: Vec<&BodyId> = source.bodies.iter().filter(below).collect();
            if inside.is_empty() {
                continue;
            }
            users.extend(self.sayers_by_glob(file, import, (home, name))?);
            let callers = inside.into_iter().filter(|body| {
                let module = world[*body].module;
                module != home
                    && self.has_glob_of(file, module, home)
                    && self.own_demand(import, (home, name), module) != Demand::No
            });
            users.extend(callers);
        }
        let tested = |body: &BodyId| {
            let conditions = conditions_of(self.set.mapping, world[body].module);
            conditions.contains("test")
        };
        (!users.is_empty() && users.iter().all(tested)).then_some(users)
    }

    /// The texts of a file that stay and say a name of a module by a glob of it; `None` where one goes through the import
    /// itself.
    fn sayers_by_glob(
        &self,
        file: FileId,
        import: (FileId, u32),
        (home, name): (ModuleId, &str),
    ) -> Option<Vec<BodyId>> {
        let world = self.world();
        let (mut users, mut others) = (Vec::new(), false);
        world.visit_file(&world[file], &mut |facts, site| {
            let start = site.segments.first().map_or(0, |first| first.span.start);
            if self.set.chunk_at(file, start).is_some() {
                return;
            }
            for (step, segment) in site.trace.steps.iter().zip(site.segments) {
                others |= step.import == Some(import);
                let glob = step.import.filter(|_| step.glob);
                let target = glob.and_then(|glob| self.speller().glob_target(glob));
                let says = target == Some(home) && facts.name(segment.name) == name;
                users.extend(says.then(|| world.body_of(&site)));
            }
        });
        (!others).then_some(users)
    }

    /// Whether something that stays uses an import.
    pub(super) fn used(&self, import: (FileId, u32), home: ModuleId) -> Demand {
        match self.named(import, home) {
            None => Demand::Yes,
            Some(name) => self.demand(import, home, &name),
        }
    }

    /// The name of a private import that nothing which stays says; `None` where something does.
    fn named(&self, import: (FileId, u32), home: ModuleId) -> Option<String> {
        let world = self.world();
        let fact = leaf_of(world, import);
        let private = visibility_of(world, import) == Some(VisibilityKind::Private);
        if !private || fact.kind == LeafKind::Glob || self.scan.used_imports.contains(&import) {
            return None;
        }
        let facts = world.facts(import.0);
        let bound = fact
            .alias
            .or_else(|| facts.segments(fact.segments).last().copied());
        let name = facts.name(bound?.name).to_owned();
        // Of imports of one name under conditions, sites of a file are led through one.
        let mut variants = world.bindings(home, &name).iter();
        let is_variant_used = variants.any(|one| {
            let own = one.import.filter(|own| !one.glob && own.0 == import.0);
            own.is_some_and(|own| self.scan.used_imports.contains(&own))
        });
        let said = is_variant_used
            || self.scan.used_names.contains(&(home, name.clone()))
            || self.is_used_elsewhere(import, home, &name);
        (!said).then_some(name)
    }

    /// Whether a file that no other question made us read uses a private import.
    pub(super) fn is_used_elsewhere(
        &self,
        import: (FileId, u32),
        home: ModuleId,
        name: &str,
    ) -> bool {
        let world = self.world();
        let mut files = world.sources().filter(|(file, source)| {
            let mut modules = source.bodies.iter().map(|body| world[body].module);
            modules.any(|module| is_within(world, module, home)) && !self.scan.read.contains(file)
        });
        files.any(|(file, _)| self.is_used_in(file, import, (home, name)))
    }

    /// Whether a file goes through an import, or says its name by a glob of the module or of one inside.
    fn is_used_in(
        &self,
        file: FileId,
        import: (FileId, u32),
        (home, name): (ModuleId, &str),
    ) -> bool {
        let world = self.world();
        let mut used = false;
        world.visit_file(&world[file], &mut |facts, site| {
            for (step, segment) in site.trace.steps.iter().zip(site.segments) {
                let glob = step.import.filter(|_| step.glob);
                let target = glob.and_then(|glob| self.speller().glob_target(glob));
                // A derive has its trait by the prelude.
                let is_below = target.is_some_and(|target| is_within(world, target, home));
                let by_glob = is_below && facts.name(segment.name) == name;
                used |= step.import == Some(import) || by_glob;
            }
        });
        used
    }

    /// Whether a module inside another one has all that that imports, by a glob.
    fn has_glob_of(&self, file: FileId, user: ModuleId, home: ModuleId) -> bool {
        let world = self.world();
        let inside = user != home && is_within(world, user, home);
        let mut leaves = (0_u32..).zip(&world.facts(file).leaves);
        inside
            && leaves.any(|(at, leaf)| {
                leaf.kind == LeafKind::Glob && self.speller().glob_target((file, at)) == Some(home)
            })
    }

    /// Whether what stays in a module calls a method of a trait that it imports.
    fn demand(&self, import: (FileId, u32), home: ModuleId, name: &str) -> Demand {
        let world = self.world();
        let bindings = world.space(home).names.values().flatten();
        let mut brought = bindings.filter(|one| one.import == Some(import)).peekable();
        if brought.peek().is_some() && !brought.any(|one| traits::may_be_trait(world, one.res)) {
            return Demand::No;
        }
        if world.bodies_of(home).filter(|body| !body.included).count() > 1 {
            // Each text of a module has imports of its own.
            let methods = self.called_with_globs(home, Some(import.0));
            return self.demand_by(import, (home, name), &methods);
        }
        let methods = once(&self.read.called, home, || {
            self.called_with_globs(home, None)
        });
        self.demand_by(import, (home, name), &methods)
    }

    /// The methods that what stays of a module calls, in one of its files or in all, and of those that take its names
    /// by a glob.
    fn called_with_globs(&self, home: ModuleId, only: Option<FileId>) -> Called {
        let world = self.world();
        let mut methods = Called::default();
        let bodies = world.bodies.iter();
        let users: BTreeSet<(FileId, ModuleId)> = bodies
            .filter(|body| match body.module == home {
                true => body.included || only.is_none_or(|only| only == body.file),
                false => self.has_glob_of(body.file, body.module, home),
            })
            .map(|body| (body.file, body.module))
            .collect();
        for (file, user) in users {
            let Some(text) = self.set.mapping.texts.text(&self.set.path(file)) else {
                continue;
            };
            methods.extend(self.methods_that_stay(user, file, &text));
        }
        methods
    }

    /// The same of one module alone, without those inside of it.
    fn own_demand(
        &self,
        import: (FileId, u32),
        (home, name): (ModuleId, &str),
        user: ModuleId,
    ) -> Demand {
        let methods = once(&self.read.own_called, user, || self.called_by_itself(user));
        self.demand_by(import, (home, name), &methods)
    }

    /// The methods that what stays of a module calls, without the modules inside of it.
    fn called_by_itself(&self, user: ModuleId) -> Called {
        let world = self.world();
        let texts = self.set.mapping.texts;
        let mut methods = Called::default();
        for body in world.bodies_of(user) {
            let Some(text) = texts.text(&self.set.path(body.file)) else {
                continue;
            };
            for span in self.own_text(body) {
                methods.extend(method_calls::called(world, user, (&text, span), texts));
            }
        }
        methods
    }

    /// What stays of a body, without the modules inside of it.
    fn own_text(&self, body: &Body) -> Vec<ByteSpan> {
        let facts = self.world().facts(body.file);
        let inner = facts.modules.iter();
        let inner = inner.filter(|one| one.scope == body.scope && one.body.is_some());
        let chunks = self.set.chunks.iter().filter(|one| one.file == body.file);
        let mut left_out: Vec<ByteSpan> = inner.map(|one| one.span).collect();
        left_out.extend(chunks.map(|one| one.span));
        between(between_braces(facts, body.scope), left_out)
    }

    fn demand_by(
        &self,
        import: (FileId, u32),
        (home, name): (ModuleId, &str),
        methods: &Called,
    ) -> Demand {
        let world = self.world();
        let bindings = world.space(home).names.values().flatten();
        let brought = bindings.filter(|binding| binding.import == Some(import));
        let texts = self.set.mapping.texts;
        let usage = once(&self.read.usages, home, || {
            traits::Usage::of(world, home, texts)
        });
        let looks = |name: &str| usage.looks_like_trait(name);
        let demands = brought.map(|one| self.asked(&looks).demand((name, one.res), methods));
        // What a macro defines may be a trait; without a call of any method nobody needs it.
        let unknown = match methods.is_empty() {
            true => Demand::No,
            false => Demand::Perhaps,
        };
        demands.max().unwrap_or(unknown)
    }
}

/// What stands in a scope, without the braces around it: between them are items, which a parser reads.
pub(super) fn between_braces(facts: &SourceFacts, scope: ScopeId) -> ByteSpan {
    let fact = facts.scope(scope);
    match scope.0 {
        0 => fact.span,
        _ => ByteSpan::new(fact.items_start, fact.span.end.saturating_sub(1)),
    }
}
