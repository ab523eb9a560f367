//! What modules import afterwards: the new ones what arrives in them needs, the old ones what left
//! and is still named there.

mod borrow;
mod carry;
mod given;
mod globs;
mod left;
mod made;
mod paths;
mod shims;
mod spent;
mod textual;

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Code, Edit};

use crate::{
    facts::{LeafKind, ScopeId, UseLeaf, VisibilityKind},
    resolve::{BodyId, FileId, ItemId, ModuleId, Res, UseSite, World},
    rewrite::{
        conditions,
        draft::leaf_change,
        items::{
            moving::{Set, conditions},
            scan::{Borrow, Scan},
            shims::Shims,
        },
        macro_methods::called_names,
        mapping::refusal,
        method_calls::{self, calls::Called},
        needs::{Because, Need, NeededThing},
        place::Place,
        spell::{Respelling, Speller, written},
        traits,
    },
};

/// One name that a module imports.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::rewrite) struct Import {
    /// The path as its crate says it.
    pub path: Vec<String>,
    /// `as name`
    pub alias: Option<String>,
    /// Conditions, as attributes.
    pub cfg: BTreeSet<String>,
}

impl Import {
    fn is_unnamed(&self) -> bool {
        self.alias.as_deref() == Some("_")
    }
}

/// What modules import from now on.
#[derive(Default)]
pub(in crate::rewrite) struct Imports {
    /// In the modules that items arrive in.
    pub arriving: BTreeMap<Place, BTreeSet<Import>>,
    /// In the bodies that items left.
    pub left: BTreeMap<BodyId, BTreeSet<Import>>,
}

impl Imports {
    /// Leaves traits out that are imported under no name, where the same text imports them by one as well.
    fn drop_unnamed(&mut self) {
        let lists = self.arriving.values_mut().chain(self.left.values_mut());
        for list in lists {
            let named = list.iter().filter(|one| !one.is_unnamed()).cloned();
            let named: Vec<Import> = named.collect();
            list.retain(|one| {
                let serves =
                    |other: &Import| other.path == one.path && other.cfg.is_subset(&one.cfg);
                !one.is_unnamed() || !named.iter().any(serves)
            });
        }
    }
}

/// Works the imports out; sites that cannot have them are spelled anew.
pub(in crate::rewrite) fn settle(set: &Set<'_>, scan: &mut Scan, shims: &Shims) -> Imports {
    let mut settler = Settler {
        set,
        read: spent::Read::default(),
        spans: BTreeMap::new(),
        scan,
        short: &shims.short,
        imports: Imports::default(),
    };
    settler.shims(shims);
    settler.textual();
    settler.traits();
    settler.borrowed();
    settler.loose();
    settler.left_traits();
    settler.left_words();
    settler.left();
    settler.inner_globs();
    settler.globs();
    settler.spent();
    settler.imports.drop_unnamed();
    settler.imports
}

struct Settler<'s, 'a> {
    set: &'s Set<'a>,
    read: spent::Read,
    /// Where the items and blocks of bodies are, sorted; read when they are asked for.
    spans: BTreeMap<(FileId, BodyId), Vec<ByteSpan>>,
    scan: &'s mut Scan,
    /// Names by which old modules import new ones.
    short: &'s BTreeMap<(ModuleId, Place), String>,
    imports: Imports,
}

impl<'a> Settler<'_, 'a> {
    fn world(&self) -> &'a World {
        self.set.mapping.world
    }

    fn speller(&self) -> Speller<'a> {
        self.set.mapping.speller()
    }

    /// Notes that an item which `home` defines has to be seen from a place, unless it is anyway.
    fn see_item(&mut self, home: ModuleId, item: ItemId, by: &Place) {
        let bindings = self.world().bindings(home, &self.world()[item].name);
        let mut own = bindings
            .iter()
            .filter(|binding| binding.import.is_none() && binding.res == Res::Item(item));
        if own.any(|binding| self.speller().sees(by, binding.reach, home)) {
            return;
        }
        self.scan
            .told
            .needs
            .push(Need::new(NeededThing::Item(item), by.clone()));
    }

    /// The path to what leaves, for somebody who names it from now on.
    fn path_to_moved(&mut self, moving: usize, here: &Place) -> Vec<String> {
        let moved = self.set.moving(moving);
        let speller = self.speller();
        speller.chain(&moved.named_at, here, &mut self.scan.told.needs);
        let because = Because::Names(self.set.name_after(moved));
        self.scan.told.depend(moved.to.krate, here, because);
        let users = self.scan.users.entry(moving).or_default();
        users.insert(here.clone());
        let mut path = speller.rooted_in(here.krate, &moved.named_at);
        path.push(moved.name.clone());
        path
    }

    fn refuse(&mut self, borrow: &Borrow, code: Code, message: &str) {
        let finding = refusal(self.set.path(borrow.file), message.to_owned()).coded(code);
        self.scan.told.refusals.push(finding.at(borrow.span));
    }

    /// Puts a whole path in the place of a first name.
    fn replace(&mut self, file: FileId, site: UseSite, span: ByteSpan, path: &[String]) {
        let names: Vec<String> = path.iter().map(|name| written(name)).collect();
        let facts = self.set.mapping.world.facts(file);
        let work = self.scan.files.entry(file).or_default();
        let UseSite::Leaf(leaf) = site else {
            let text = self.set.mapping.texts.text(&self.set.path(file));
            let text = text.as_deref().unwrap_or_default();
            let said = facts.with_field((text, span), names.join("::"));
            work.edits.push(Edit::replace(span, said));
            return;
        };
        let respelling = Respelling {
            end: 1,
            path: path.to_vec(),
            ..Respelling::default()
        };
        let change = leaf_change(facts, leaf, &respelling);
        work.leaves.extend(change.map(|change| (leaf, change)));
    }

    /// The methods that the code which a glob serves may call.
    fn methods_served(&self, leaf: (FileId, u32)) -> Called {
        let world = self.world();
        let facts = world.facts(leaf.0);
        let scope = facts.scope(facts.declaration_of(leaf.1).scope);
        let text = self.set.mapping.texts.text(&self.set.path(leaf.0));
        let texts = self.set.mapping.texts;
        let called = text.map(|text| called_names(world, texts, &text, scope.span));
        let called = called.map(Called::on_unknown);
        called.unwrap_or_default()
    }

    /// Whether the code that a glob serves may call methods of a trait that it brings.
    fn needs_trait(&self, leaf: (FileId, u32), item: ItemId) -> bool {
        traits::may_be_trait(self.world(), Res::Item(item))
            && self.is_trait_with(item, &self.methods_served(leaf))
    }

    fn is_trait_with(&self, item: ItemId, methods: &Called) -> bool {
        let asked = self.asked(&|_| false);
        asked.is_needed(("", Res::Item(item)), methods)
    }

    fn asked<'l>(&'l self, looks: &'l dyn Fn(&str) -> bool) -> traits::Asked<'l> {
        traits::Asked {
            world: self.set.mapping.world,
            texts: self.set.mapping.texts,
            looks,
        }
    }

    /// Methods that a module calls in what does not leave a file, but for those that bounds give. Modules inside
    /// of it that have none of its names call theirs by imports of their own.
    fn methods_that_stay(&self, home: ModuleId, file: FileId, text: &str) -> Called {
        let chunks = self.set.chunks.iter().filter(|chunk| chunk.file == file);
        let mut left_out: Vec<ByteSpan> = chunks.map(|chunk| chunk.span).collect();
        left_out.extend(self.modules_apart(home, file));
        let (world, texts) = (self.world(), self.set.mapping.texts);
        let facts = world.facts(file);
        let bodies = world.bodies_of(home).filter(|body| body.file == file);
        let mut found = Called::default();
        for body in bodies {
            let whole = spent::between_braces(facts, body.scope);
            for span in between(whole, left_out.clone()) {
                found.extend(method_calls::called(world, home, (text, span), texts));
            }
        }
        found
    }

    /// The modules that stand between the braces of a module's text and have no glob of it, nor has what is in them.
    fn modules_apart(&self, home: ModuleId, file: FileId) -> Vec<ByteSpan> {
        let world = self.world();
        let facts = world.facts(file);
        let bodies = world.bodies_of(home).filter(|body| body.file == file);
        let scopes: Vec<ScopeId> = bodies.map(|body| body.scope).collect();
        let globs = (0..).zip(&facts.leaves).filter(|(at, leaf)| {
            leaf.kind == LeafKind::Glob && self.speller().glob_target((file, *at)) == Some(home)
        });
        let globs: Vec<u32> = globs.map(|(_, leaf)| leaf.span.start).collect();
        let has_glob = |span: ByteSpan| {
            let mut globs = globs.iter();
            globs.any(|glob| span.contains(ByteSpan::empty(*glob)))
        };
        let inner = facts.modules.iter();
        let inner = inner.filter(|one| one.body.is_some() && scopes.contains(&one.scope));
        inner
            .map(|one| one.span)
            .filter(|span| !has_glob(*span))
            .collect()
    }

    /// The conditions on the only definition of an item.
    fn conditions_of(&self, res: Res) -> BTreeSet<String> {
        let (Res::Item(item) | Res::Variant(item, _)) = res else {
            return BTreeSet::new();
        };
        let world = self.world();
        let node = &world[item];
        let [(file, at)] = node.definitions.as_slice() else {
            return BTreeSet::new();
        };
        let fact = Some(world.facts(*file).item(*at));
        let text = self.set.mapping.texts.text(&self.set.path(*file));
        let chunk = self
            .set
            .chunk_at(*file, world.facts(*file).item(*at).span.start);
        let call = chunk.filter(|chunk| chunk.is_call);
        if let Some((call, text)) = call.zip(text.as_deref()) {
            return conditions(call.span.of(text).unwrap_or_default());
        }
        let own = fact.filter(|fact| fact.conditional).zip(text);
        own.and_then(|(fact, text)| Some(conditions(fact.span.of(&text)?)))
            .unwrap_or_default()
    }

    /// The conditions on an import.
    fn conditions(&self, import: (FileId, u32)) -> BTreeSet<String> {
        let found = conditions::of_import(self.set.mapping, import);
        found.into_iter().collect()
    }
}

fn leaf_of(world: &World, (file, leaf): (FileId, u32)) -> &UseLeaf {
    world.facts(file).leaf(leaf)
}

/// What a span has between others, in order.
pub(in crate::rewrite) fn between(whole: ByteSpan, mut others: Vec<ByteSpan>) -> Vec<ByteSpan> {
    others.sort();
    let mut found = Vec::new();
    let mut start = whole.start;
    for other in others.into_iter().chain([ByteSpan::empty(whole.end)]) {
        let end = other.start.min(whole.end);
        if start < end {
            found.push(ByteSpan::new(start, end));
        }
        start = start.max(other.end);
    }
    found
}

fn visibility_of(world: &World, (file, leaf): (FileId, u32)) -> Option<VisibilityKind> {
    let facts = world.facts(file);
    let declaration = facts.declaration_of(leaf);
    Some(declaration.visibility.kind)
}

/// The module that has an import.
pub(in crate::rewrite) fn home_of(world: &World, (file, leaf): (FileId, u32)) -> Option<ModuleId> {
    let facts = world.facts(file);
    let scope = facts.declaration_of(leaf).scope;
    let load = *world[file].loads.first()?;
    let load = world.loads.get(load as usize)?;
    Some(world.module_of(*load.spaces.get(scope.0 as usize)?))
}
