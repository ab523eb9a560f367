//! What modules import afterwards: the new ones what arrives in them needs, the old ones what left
//! and is still named there.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{
    ByteSpan, Edit, Evidence, Finding, Form, NotRewritten, Rewrite, Safety, Texts,
};

use super::{
    super::{
        inherit,
        mapping::refusal,
        place::Place,
        sight::{Need, Purpose, Subject},
        spell::{Speller, written},
        traits,
        use_tree::LeafChange,
    },
    moving::{Moving, Set, conditions},
    replace,
    scan::{Borrow, Left, Scan, is_concerned, untouchable},
    shims::Shims,
    walk::{Source, is_of_module},
};
use crate::{
    facts::{ItemKind, LeafKind, MacroReading, Namespaces, Origin, UseLeaf, VisibilityKind},
    lexer,
    resolve::{Binding, BodyId, CrateId, FileId, ItemId, ModuleId, Res, UseSite, World},
};

/// One name that a module imports.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Import {
    /// The path as its crate says it.
    pub path: Vec<String>,
    /// `as name`
    pub alias: Option<String>,
    /// Conditions, as attributes.
    pub cfg: BTreeSet<String>,
}

/// What modules import from now on.
#[derive(Default)]
pub(super) struct Imports {
    /// In the modules that items arrive in.
    pub arriving: BTreeMap<Place, BTreeSet<Import>>,
    /// In the bodies that items left.
    pub left: BTreeMap<BodyId, BTreeSet<Import>>,
}

/// Works the imports out; sites that cannot have them are spelled anew.
pub(super) fn settle(set: &Set<'_>, scan: &mut Scan, shims: &Shims, texts: &dyn Texts) -> Imports {
    let mut settler = Settler {
        set,
        scan,
        texts,
        imports: Imports::default(),
    };
    settler.shims(shims);
    settler.traits();
    settler.borrowed();
    settler.loose();
    settler.left_traits();
    settler.left_words();
    settler.left();
    settler.inner_globs();
    settler.globs();
    settler.spent();
    settler.imports
}

struct Settler<'s, 'a> {
    set: &'s Set<'a>,
    scan: &'s mut Scan,
    texts: &'s dyn Texts,
    imports: Imports,
}

/// How many globs of globs are followed.
const DEEPEST: usize = 16;

/// What a module has for a name already.
enum Known {
    Same,
    Another,
    Nothing,
}

impl<'a> Settler<'_, 'a> {
    fn world(&self) -> &'a World {
        self.set.mapping.world
    }

    fn speller(&self) -> Speller<'a> {
        Speller {
            mapping: self.set.mapping,
        }
    }

    /// What shims have to see: the way to what they forward to, and the types of signatures.
    fn shims(&mut self, shims: &Shims) {
        let world = self.world();
        for (index, moved) in self.set.moving.iter().enumerate() {
            if !moved.shim {
                continue;
            }
            let here = self.set.mapping.after(moved.home);
            self.speller().chain(&moved.to, &here, &mut self.scan.needs);
            self.depend(moved.to.krate, &here);
            self.scan
                .users
                .entry(index)
                .or_default()
                .insert(here.clone());
            for name in shims.needed.get(&index).into_iter().flatten() {
                let bindings = world
                    .space(moved.home)
                    .zip(world.names.get(name))
                    .and_then(|(space, sym)| space.names.get(&sym));
                for binding in bindings.into_iter().flatten() {
                    self.scan.used_imports.extend(binding.import);
                    self.imported_back(moved.home, binding.res, &here);
                }
            }
        }
    }

    /// A type of a signature that left without a shim.
    fn imported_back(&mut self, home: ModuleId, res: Res, here: &Place) {
        let moved = match res {
            Res::Item(item) => self
                .set
                .of(item)
                .and_then(|at| Some((at, self.set.moving(at)?))),
            _ => None,
        };
        let Some((index, moved)) = moved.filter(|(_, moved)| !moved.shim) else {
            return;
        };
        let bodies = self
            .world()
            .module(home)
            .map_or(&[][..], |node| &node.bodies);
        let mut path = self.speller().rooted_in(here.krate, &moved.to);
        path.push(moved.name.clone());
        self.scan
            .users
            .entry(index)
            .or_default()
            .insert(here.clone());
        if let Some(body) = bodies.first() {
            let list = self.imports.left.entry(*body).or_default();
            let (alias, cfg) = (None, BTreeSet::new());
            list.insert(Import { path, alias, cfg });
        }
    }

    /// Traits that method calls in moved text may need.
    fn traits(&mut self) {
        let world = self.world();
        let mut found: Vec<Borrow> = Vec::new();
        for chunk in &self.set.chunks {
            let (Some(moving), false) = (self.set.moving(chunk.moving), self.set.is_dropped(chunk))
            else {
                continue;
            };
            let path = self.set.path(chunk.file);
            let (Some(text), Some(space)) = (self.texts.text(&path), world.space(moving.home))
            else {
                continue;
            };
            let methods = traits::method_names(&text, chunk.span);
            let usage = traits::Usage::of(world, moving.home, self.texts);
            let mut names: Vec<_> = space.names.iter().collect();
            names.sort_by_key(|(sym, _)| **sym);
            for (sym, bindings) in names {
                let name = world.names.text(*sym).to_string();
                for binding in bindings {
                    let looks = |name: &str| usage.looks_like_trait(name);
                    let needed =
                        traits::is_needed(world, &name, binding.res, &methods, self.texts, &looks);
                    let source = match (binding.import, binding.glob, binding.res) {
                        (Some(import), true, _) => Source::Glob(import),
                        (Some(import), false, _) => Source::Import(import),
                        (None, _, Res::Item(item)) => {
                            self.set.of(item).map_or(Source::Item(item), Source::Moved)
                        }
                        _ => continue,
                    };
                    if !needed {
                        continue;
                    }
                    if let Some(import) = binding.import {
                        self.scan.freed_imports.insert(import);
                    }
                    found.push(Borrow {
                        name: name.clone(),
                        source,
                        to: moving.to.clone(),
                        results: vec![(binding.res, binding.namespaces)],
                        file: chunk.file,
                        site: UseSite::ExternCrate(u32::MAX),
                        span: chunk.span,
                        origin: Origin::Code,
                        cfg: chunk.cfg.clone(),
                    });
                }
            }
        }
        self.scan.borrows.extend(found);
    }

    /// What the module at a place has for a name after.
    fn known(&self, place: &Place, name: &str, results: &[(Res, Namespaces)]) -> Known {
        let world = self.world();
        let wanted = results
            .iter()
            .fold(Namespaces(0), |all, (_, namespaces)| all.or(*namespaces));
        let arriving = self
            .set
            .moving
            .iter()
            .find(|moving| moving.to == *place && moving.name == name && !moving.gives_way());
        if let Some(arriving) = arriving {
            let same = results
                .iter()
                .any(|(res, _)| *res == Res::Item(arriving.item));
            return if same { Known::Same } else { Known::Another };
        }
        let bindings = self
            .set
            .mapping
            .at(place)
            .and_then(|module| world.space(module))
            .zip(world.names.get(name))
            .and_then(|(space, sym)| space.names.get(&sym));
        let mut met = bindings
            .into_iter()
            .flatten()
            .filter(|binding| binding.namespaces.meets(wanted))
            .filter(|binding| !self.is_leaving(binding.res, binding.import.is_none()))
            .peekable();
        if met.peek().is_none() {
            return Known::Nothing;
        }
        let same = met.all(|binding| results.iter().any(|(res, _)| self.same(*res, binding.res)));
        if same { Known::Same } else { Known::Another }
    }

    /// Whether a module has a trait in scope under no name.
    fn has_unnamed(&self, place: &Place, results: &[(Res, Namespaces)]) -> bool {
        let world = self.world();
        let module = self.set.mapping.at(place);
        let space = module.and_then(|module| world.space(module));
        let bindings = space
            .zip(world.names.get("_"))
            .and_then(|(space, sym)| space.names.get(&sym));
        bindings
            .into_iter()
            .flatten()
            .any(|known| results.iter().any(|(res, _)| *res == known.res))
    }

    fn is_leaving(&self, res: Res, defined: bool) -> bool {
        defined && matches!(res, Res::Item(item) if self.set.of(item).is_some())
    }

    fn same(&self, a: Res, b: Res) -> bool {
        a == b
    }

    /// The path of a borrowed name, as its new crate says it.
    fn path(&mut self, borrow: &Borrow) -> Option<Vec<String>> {
        let speller = self.speller();
        let world = self.world();
        let after = |set: &Set<'_>, moving: usize| {
            let moving = set.moving(moving)?;
            let mut path = speller.rooted_in(borrow.to.krate, &moving.to);
            path.push(moving.name.clone());
            Some((path, moving.to.krate))
        };
        let moved = borrow.results.iter().find_map(|(res, _)| match res {
            Res::Item(item) => Some((self.set.of(*item)?, None)),
            Res::Variant(item, name) => Some((self.set.of(*item)?, Some(*name))),
            _ => None,
        });
        if let Some((moving, variant)) = moved {
            let (mut path, krate) = after(self.set, moving)?;
            path.extend(variant.map(|name| world.names.text(name).to_string()));
            let users = self.scan.users.entry(moving).or_default();
            users.insert(borrow.to.clone());
            self.depend(krate, &borrow.to);
            return Some(path);
        }
        if let Some(path) = self.variants(borrow) {
            return path;
        }
        let (place, name) = match borrow.source {
            Source::Moved(moving) => return Some(after(self.set, moving)?.0),
            Source::Item(item) => {
                let node = world.items.get(item.index())?;
                self.see_item(node.module, item, &borrow.to);
                (self.set.mapping.after(node.module), node.name.clone())
            }
            Source::Module(module) => {
                let needs = &mut self.scan.needs;
                speller.see_module(module, &borrow.to, needs);
                let node = world.module(module)?;
                (self.set.mapping.after(node.parent?), node.name.clone())
            }
            Source::Import(leaf) => {
                let path = speller.absolute(leaf)?;
                let krate = speller.krate_of(leaf)?;
                return Some(speller.said_in(path, krate, &borrow.to, &mut self.scan.needs));
            }
            Source::Glob(leaf) => {
                let (path, krate) = self.through_glob(leaf, borrow, 0)?;
                return Some(speller.said_in(path, krate, &borrow.to, &mut self.scan.needs));
            }
        };
        speller.chain(&place, &borrow.to, &mut self.scan.needs);
        self.depend(place.krate, &borrow.to);
        let mut path = speller.rooted_in(borrow.to.krate, &place);
        path.push(name);
        Some(path)
    }

    /// The path of a name that is one thing under one condition and another under another: it goes
    /// through the module that has it so.
    fn variants(&mut self, borrow: &Borrow) -> Option<Option<Vec<String>>> {
        let (world, speller) = (self.world(), self.speller());
        let mut home = match borrow.source {
            Source::Import(leaf) | Source::Glob(leaf) => home_of(world, leaf)?,
            Source::Item(item) => world.items.get(item.index())?.module,
            Source::Module(_) | Source::Moved(_) => return None,
        };
        let sym = world.names.get(&borrow.name)?;
        for _ in 0..DEEPEST {
            let bindings = world.space(home)?.names.get(&sym)?;
            let explicit = || bindings.iter().filter(|one| !one.glob);
            let several = explicit().any(|one| {
                let other = |other: &&Binding| {
                    other.import != one.import && other.namespaces.meets(one.namespaces)
                };
                explicit().any(|binding| other(&binding))
            });
            if several {
                let seen = bindings
                    .iter()
                    .all(|one| speller.sees(&borrow.to, one.reach, home));
                let place = self.set.mapping.after(home);
                let mut path = speller.rooted_in(borrow.to.krate, &place);
                path.push(borrow.name.clone());
                speller.chain(&place, &borrow.to, &mut self.scan.needs);
                self.depend(place.krate, &borrow.to);
                let items = bindings.iter().all(|one| one.import.is_none());
                if !seen && items {
                    // Variants of a definition are widened together.
                    return None;
                }
                return Some(seen.then_some(path));
            }
            let import = bindings.iter().find_map(|one| one.import)?;
            let facts = world.facts(import.0)?;
            let fact = facts.leaves.get(import.1 as usize)?;
            if fact.kind == LeafKind::Glob {
                home = speller.glob_target(import)?;
            } else {
                return None;
            }
        }
        None
    }

    /// The path of what a glob brings, as its crate says it, without a way through imports that
    /// are private to somebody.
    fn through_glob(
        &mut self,
        leaf: (FileId, u32),
        borrow: &Borrow,
        depth: usize,
    ) -> Option<(Vec<String>, CrateId)> {
        let (world, speller) = (self.world(), self.speller());
        let outside = |speller: &Speller<'_>| {
            let mut path = speller.absolute(leaf)?;
            path.push(borrow.name.clone());
            Some((path, speller.krate_of(leaf)?))
        };
        let Some(target) = speller.glob_target(leaf) else {
            return outside(&speller);
        };
        let sym = world.names.get(&borrow.name)?;
        let bindings = world.space(target).and_then(|space| space.names.get(&sym));
        let wanted = |res: Res| borrow.results.iter().any(|(known, _)| *known == res);
        let binding = bindings.into_iter().flatten().find(|one| wanted(one.res));
        let Some(binding) = binding else {
            return outside(&speller);
        };
        match binding.import {
            Some(import) if binding.glob && depth < DEEPEST => {
                self.through_glob(import, borrow, depth + 1)
            }
            Some(import) if !binding.glob => {
                Some((speller.absolute(import)?, speller.krate_of(import)?))
            }
            Some(_) => None,
            None => {
                match binding.res {
                    Res::Item(item) => self.see_item(target, item, &borrow.to),
                    Res::Module(module) => {
                        speller.see_module(module, &borrow.to, &mut self.scan.needs);
                    }
                    _ => {}
                }
                let place = self.set.mapping.after(target);
                let mut path = speller.rooted(&place);
                path.push(borrow.name.clone());
                Some((path, place.krate))
            }
        }
    }

    /// Notes that an item which `home` defines has to be seen from a place, unless it is anyway.
    fn see_item(&mut self, home: ModuleId, item: ItemId, by: &Place) {
        let names = self.world().space(home).map(|space| &space.names);
        let mut own = names
            .into_iter()
            .flat_map(|names| names.values().flatten())
            .filter(|binding| binding.import.is_none() && binding.res == Res::Item(item));
        if own.any(|binding| self.speller().sees(by, binding.reach, home)) {
            return;
        }
        self.scan.needs.push(Need {
            subject: Subject::Item(item),
            by: by.clone(),
        });
    }

    fn depend(&mut self, krate: CrateId, by: &Place) {
        if krate != by.krate {
            self.scan.needs.push(Need {
                subject: Subject::Crate(krate, Purpose::Code),
                by: by.clone(),
            });
        }
    }

    /// Names that text which arrives says.
    fn borrowed(&mut self) {
        let borrows = std::mem::take(&mut self.scan.borrows);
        let mut by_name: BTreeMap<(Place, String), Vec<Borrow>> = BTreeMap::new();
        for borrow in borrows {
            if borrow.name == "_" {
                self.name(&borrow.to.clone(), "_", &[borrow]);
                continue;
            }
            let key = (borrow.to.clone(), borrow.name.clone());
            by_name.entry(key).or_default().push(borrow);
        }
        for ((place, name), borrows) in by_name {
            self.name(&place, &name, &borrows);
        }
    }

    fn name(&mut self, place: &Place, name: &str, borrows: &[Borrow]) {
        let Some(first) = borrows.first() else { return };
        let results: Vec<(Res, Namespaces)> = borrows
            .iter()
            .flat_map(|borrow| borrow.results.iter().copied())
            .collect();
        let several = borrows.iter().any(|borrow| borrow.source != first.source);
        let methods = |borrow: &&Borrow| matches!(borrow.site, UseSite::ExternCrate(_));
        match self.known(place, name, &results) {
            _ if name == "_" => {
                if self.has_unnamed(place, &results) {
                    return;
                }
            }
            Known::Same => return,
            Known::Another => return self.respell(borrows),
            Known::Nothing => {}
        }
        if several && borrows.iter().any(|borrow| borrow.results != first.results) {
            return self.respell(borrows);
        }
        // A doc link alone asks for no import.
        if borrows
            .iter()
            .all(|borrow| borrow.origin == Origin::DocLink)
        {
            return self.respell(borrows);
        }
        let Some(path) = self.path(first) else {
            self.refuse(
                first,
                &format!("`{name}` cannot be named from the new place"),
            );
            return;
        };
        let mut own = match first.source {
            Source::Import(leaf) | Source::Glob(leaf) => self.conditions(leaf),
            _ => BTreeSet::new(),
        };
        for (res, _) in &first.results {
            own.extend(self.conditions_of(*res));
        }
        let mut users = borrows.iter().map(|borrow| &borrow.cfg);
        let mut cfg = users.next().cloned().unwrap_or_default();
        for other in users {
            cfg.retain(|condition| other.contains(condition));
        }
        cfg.extend(own);
        let only_methods = borrows.iter().all(|borrow| methods(&borrow));
        let bound = path.last().is_some_and(|last| last == name);
        let hidden = only_methods && name == "_";
        let import = Import {
            path,
            alias: (!bound || hidden).then(|| name.to_owned()),
            cfg,
        };
        let list = self.imports.arriving.entry(place.clone()).or_default();
        list.insert(import);
    }

    fn refuse(&mut self, borrow: &Borrow, message: &str) {
        let finding = Finding {
            span: Some(borrow.span),
            ..refusal(self.set.path(borrow.file), message.to_owned())
        };
        self.scan.refusals.push(finding);
    }

    /// Names that mean something else in the new place are written out.
    fn respell(&mut self, borrows: &[Borrow]) {
        for borrow in borrows {
            let Some(path) = self.path(borrow) else {
                let message = format!("`{}` means something else in the new place", borrow.name);
                self.refuse(borrow, &message);
                continue;
            };
            if matches!(borrow.site, UseSite::ExternCrate(_)) {
                // A method call: the trait has to be in scope, under no name.
                let import = Import {
                    path,
                    alias: Some("_".to_owned()),
                    cfg: borrow.cfg.clone(),
                };
                let list = self.imports.arriving.entry(borrow.to.clone()).or_default();
                list.insert(import);
                continue;
            }
            if untouchable(borrow.origin, true).is_some() {
                let message = format!(
                    "`{}` means something else in the new place, and cannot be spelled out here",
                    borrow.name
                );
                self.refuse(borrow, &message);
                continue;
            }
            self.replace(borrow.file, borrow.site, borrow.span, &path);
        }
    }

    /// Puts a whole path in the place of a first name.
    fn replace(&mut self, file: FileId, site: UseSite, span: ByteSpan, path: &[String]) {
        let names: Vec<String> = path.iter().map(|name| written(name)).collect();
        let work = self.scan.files.entry(file).or_default();
        let UseSite::Leaf(leaf) = site else {
            work.edits.push(Edit::replace(span, names.join("::")));
            return;
        };
        let world = self.set.mapping.world;
        let Some(facts) = world.facts(file) else {
            return;
        };
        let Some(fact) = facts.leaves.get(leaf as usize) else {
            return;
        };
        let segments = facts.segments(fact.segments);
        let rest = segments.iter().skip(1);
        let mut path = path.to_vec();
        path.extend(rest.map(|segment| facts.name(segment.name).to_owned()));
        let alias = fact.alias.map(|alias| facts.name(alias.name).to_owned());
        let old = segments.last().map(|last| facts.name(last.name).to_owned());
        let alias = alias
            .or(old)
            .filter(|bound| fact.kind != LeafKind::Glob && Some(bound) != path.last());
        let change = LeafChange::Path { path, alias };
        work.leaves.insert(leaf, change);
    }

    /// Names that nothing known brings: preludes, macros. The new place must not have them for
    /// something else.
    fn loose(&mut self) {
        self.carry_globs();
        let loose = std::mem::take(&mut self.scan.loose);
        for ((place, name, site), (file, span, origin)) in loose {
            let Some(other) = self.shadowed(&place, &name, origin) else {
                continue;
            };
            if let (Some(path), None) = (in_core(&name), untouchable(origin, true)) {
                self.replace(file, site, span, &path.map(str::to_owned));
                continue;
            }
            let finding = Finding {
                span: Some(span),
                ..refusal(
                    self.set.path(file),
                    format!("`{name}` would mean `{other}` in the new place"),
                )
            };
            self.scan.refusals.push(finding);
        }
    }

    /// What cannot be seen may come from globs that lead out of the tree, or be what a derive macro
    /// writes: those imports go along.
    fn carry_globs(&mut self) {
        let mut wanted: BTreeSet<(ModuleId, Place, bool)> = BTreeSet::new();
        let mut preludes: BTreeSet<(ModuleId, Place)> = BTreeSet::new();
        for chunk in &self.set.chunks {
            let Some(moving) = self.set.moving(chunk.moving) else {
                continue;
            };
            if moving.gives_way() {
                continue;
            }
            let unknown = self
                .scan
                .loose
                .iter()
                .any(|((place, name, _), (file, span, origin))| {
                    *file == chunk.file
                        && chunk.span.contains(*span)
                        && *place == moving.to
                        && may_be_imported(name, *origin)
                });
            let derived = self.scan.derives.contains(&(chunk.file, chunk.span));
            let path = self.set.path(chunk.file);
            let text = self.texts.text(&path);
            let methods = text.map(|text| traits::method_names(&text, chunk.span));
            if methods.is_some_and(|methods| !methods.is_empty()) {
                preludes.insert((moving.home, moving.to.clone()));
            }
            if unknown || derived {
                wanted.insert((moving.home, moving.to.clone(), derived));
            }
        }
        for (home, place) in preludes {
            self.carry(home, &place, &|fact, path, _| {
                let last = path.last().map(String::as_str);
                fact.kind == LeafKind::Glob && last == Some("prelude")
            });
        }
        for (home, place, derived) in wanted {
            self.carry(home, &place, &|fact, _, used| {
                fact.kind == LeafKind::Glob || (derived && !used)
            });
        }
    }

    /// Takes the imports of a module along that are `wanted`, and of globs those that lead to what
    /// cannot be seen.
    fn carry(
        &mut self,
        home: ModuleId,
        place: &Place,
        wanted: &dyn Fn(&UseLeaf, &[String], bool) -> bool,
    ) {
        let (world, speller) = (self.world(), self.speller());
        let known: BTreeSet<Vec<String>> = self
            .set
            .mapping
            .at(place)
            .map(|module| leaves_of(world, module))
            .unwrap_or_default()
            .into_iter()
            .filter_map(|leaf| speller.absolute(leaf))
            .collect();
        for leaf in leaves_of(world, home) {
            let Some(fact) = leaf_of(world, leaf) else {
                continue;
            };
            let glob = fact.kind == LeafKind::Glob;
            let target = speller.glob_target(leaf);
            let known_whole =
                glob && target.is_some_and(|at| world.space(at).is_some_and(|space| !space.opaque));
            let used =
                self.scan.used_imports.contains(&leaf) || self.scan.freed_imports.contains(&leaf);
            let (Some(mut path), Some(krate)) = (speller.absolute(leaf), speller.krate_of(leaf))
            else {
                continue;
            };
            if known_whole || !wanted(fact, &path, used) {
                continue;
            }
            if known.contains(&path)
                || target.is_some_and(|at| self.set.mapping.after(at) == *place)
            {
                continue;
            }
            path = speller.said_in(path, krate, place, &mut self.scan.needs);
            let alias = fact.alias.and_then(|alias| {
                let facts = world.facts(leaf.0)?;
                Some(facts.name(alias.name).to_owned())
            });
            if glob {
                path.push("*".to_owned());
            }
            let mut cfg = self.conditions(leaf);
            let around = inherit::around_item(self.set.mapping, home, leaf.0, place, self.texts);
            cfg.extend(around.into_iter().filter(|said| said.starts_with("#[cfg(")));
            let list = self.imports.arriving.entry(place.clone()).or_default();
            list.insert(Import { path, alias, cfg });
        }
    }

    /// What a name of a prelude would mean in a place instead.
    fn shadowed(&self, place: &Place, name: &str, origin: Origin) -> Option<String> {
        let quiet = matches!(
            origin,
            Origin::DocLink | Origin::FormatString | Origin::MacroTokens | Origin::Attribute
        );
        if quiet {
            return None;
        }
        let world = self.world();
        let module = self.set.mapping.at(place)?;
        let bindings = world.space(module)?.names.get(&world.names.get(name)?)?;
        bindings.iter().find_map(|binding| {
            let target = world.name_of(&world.target(binding.res));
            match binding.res {
                Res::External(_) => {
                    let standard = ["std::", "core::", "alloc::"];
                    let known = standard.iter().any(|start| target.starts_with(start));
                    (!known || name == "Result").then_some(target)
                }
                Res::Item(item) if self.set.of(item).is_some() => None,
                _ => Some(target),
            }
        })
    }

    /// Names of what left in calls of macros that were not read as code.
    fn left_words(&mut self) {
        let world = self.world();
        let mut found = Vec::new();
        for (index, moved) in self.set.moving.iter().enumerate() {
            let old = world
                .items
                .get(moved.item.index())
                .map(|item| item.name.clone());
            let old = old.unwrap_or_default();
            let bodies = world
                .module(moved.home)
                .map_or(&[][..], |node| &node.bodies);
            if moved.shim || moved.to == self.set.mapping.after(moved.home) {
                continue;
            }
            for id in bodies {
                let Some(body) = world.bodies.get(id.index()) else {
                    continue;
                };
                let text = self.texts.text(&self.set.path(body.file));
                let (Some(facts), Some(text)) = (world.facts(body.file), text) else {
                    continue;
                };
                let calls = facts.macro_calls.iter().filter(|call| {
                    call.reading == MacroReading::Tokens
                        && call.item_position
                        && call.scope == body.scope
                        && self.set.chunk_at(body.file, call.body.start).is_none()
                });
                let said = calls.filter_map(|call| word(&text, call.body, &old));
                found.extend(said.map(|span| Left {
                    moving: index,
                    file: body.file,
                    site: UseSite::Path(u32::MAX),
                    span,
                    origin: Origin::MacroTokens,
                    body: *id,
                    here: self.set.mapping.after(moved.home),
                }));
            }
        }
        for left in &found {
            let users = self.scan.users.entry(left.moving).or_default();
            users.insert(left.here.clone());
        }
        self.scan.left.extend(found);
    }

    /// Plain names, in the old module, of what left it.
    fn left(&mut self) {
        let left = std::mem::take(&mut self.scan.left);
        let mut groups: BTreeMap<(BodyId, usize), Vec<Left>> = BTreeMap::new();
        for one in left {
            groups.entry((one.body, one.moving)).or_default().push(one);
        }
        for ((body, moving), uses) in groups {
            self.left_in(body, moving, &uses);
        }
    }

    fn left_in(&mut self, body: BodyId, moving: usize, uses: &[Left]) {
        let Some(moved) = self.set.moving(moving) else {
            return;
        };
        let Some(first) = uses.first() else { return };
        let world = self.world();
        let speller = self.speller();
        let old = world
            .items
            .get(moved.item.index())
            .map(|item| item.name.clone());
        let old = old.unwrap_or_default();
        let mut path = speller.rooted_in(first.here.krate, &moved.to);
        path.push(moved.name.clone());
        speller.chain(&moved.to, &first.here, &mut self.scan.needs);
        self.depend(moved.to.krate, &first.here);
        let shim = moved.shim;
        let links = uses.iter().all(|one| one.origin == Origin::DocLink);
        let renamed = old != moved.name;
        let fixed = uses
            .iter()
            .any(|one| untouchable(one.origin, !matches!(one.site, UseSite::Leaf(_))).is_some());
        let home = first.here == moved.to;
        let taken = renamed && self.has_name(&first.here, &moved.name);
        let taken = taken && !self.has_primary(&first.here, moved);
        if shim || links || home || (taken && !fixed) {
            for one in uses {
                let path = if home {
                    vec![moved.name.clone()]
                } else {
                    path.clone()
                };
                self.rename(one, &path, &old);
            }
            return;
        }
        if self.has_primary(&first.here, moved) && !fixed {
            for one in uses {
                self.rename(one, std::slice::from_ref(&moved.name), &old);
            }
            return;
        }
        let alias = (renamed && fixed).then(|| old.clone());
        if renamed && !fixed {
            for one in uses {
                self.rename(one, std::slice::from_ref(&moved.name), &old);
            }
        }
        let cfg = self.conditions_of(Res::Item(moved.item));
        let list = self.imports.left.entry(body).or_default();
        list.insert(Import { path, alias, cfg });
    }

    /// Whether a module has the one that takes the place of another by its name already.
    fn has_primary(&self, place: &Place, moved: &Moving<'_>) -> bool {
        let world = self.world();
        let Some(primary) = moved.gives_way().then(|| replace::primary(self.set, moved)) else {
            return false;
        };
        let module = self.set.mapping.at(place);
        let bindings = module
            .and_then(|module| world.space(module))
            .zip(world.names.get(&moved.name))
            .and_then(|(space, sym)| space.names.get(&sym));
        let same = |res: Res| primary.is_some_and(|primary| res == Res::Item(primary));
        bindings
            .into_iter()
            .flatten()
            .any(|binding| same(binding.res))
    }

    fn has_name(&self, place: &Place, name: &str) -> bool {
        let world = self.world();
        let module = self.set.mapping.at(place);
        let space = module.and_then(|module| world.space(module));
        space
            .zip(world.names.get(name))
            .is_some_and(|(space, sym)| space.names.contains_key(&sym))
    }

    fn rename(&mut self, one: &Left, path: &[String], old: &str) {
        let to = path.join("::");
        let leaf = matches!(one.site, UseSite::Leaf(_));
        if let Some(why) = untouchable(one.origin, !leaf) {
            self.scan.not_rewritten.push(NotRewritten {
                path: self.set.path(one.file),
                span: one.span,
                form: Form::Macro,
                name: old.to_owned(),
                why: why.to_owned(),
            });
            return;
        }
        self.scan.rewrites.push(Rewrite {
            path: self.set.path(one.file),
            span: one.span,
            form: if leaf { Form::ImportFrom } else { Form::Path },
            evidence: Evidence::Resolved,
            from: old.to_owned(),
            to,
            reason: "names what moves".to_owned(),
            safety: Safety::Safe,
        });
        self.replace(one.file, one.site, one.span, path);
    }

    /// Globs that brought what left: it is imported besides.
    fn globs(&mut self) {
        self.public_globs();
        let mut open: Vec<((FileId, u32), usize)> =
            std::mem::take(&mut self.scan.globs).into_iter().collect();
        let mut seen = BTreeSet::new();
        while let Some((leaf, moving)) = open.pop() {
            if !seen.insert((leaf, moving)) {
                continue;
            }
            let Some(target) = self.speller().glob_target(leaf) else {
                continue;
            };
            match self.way(target, moving) {
                Way::Glob(further) => open.push((further, moving)),
                Way::Defined => self.beside(leaf, target, moving),
                Way::Other => {}
            }
        }
    }

    /// How a module has what moves before.
    fn way(&self, module: ModuleId, moving: usize) -> Way {
        let world = self.world();
        let Some(moved) = self.set.moving(moving) else {
            return Way::Other;
        };
        let Some(space) = world.space(module) else {
            return Way::Other;
        };
        let mut bindings = space.names.values().flatten();
        let mut found = Way::Other;
        let own = bindings.any(|binding| {
            let same = binding.res == Res::Item(moved.item);
            match (same, binding.import) {
                (true, None) => true,
                (true, Some(import)) if binding.glob => {
                    found = Way::Glob(import);
                    false
                }
                _ => false,
            }
        });
        if own { Way::Defined } else { found }
    }

    /// Globs that others see bring what they brought, used here or not.
    fn public_globs(&mut self) {
        let world = self.world();
        for (index, moved) in self.set.moving.iter().enumerate() {
            let res = Res::Item(moved.item);
            let bindings = world
                .spaces
                .iter()
                .flat_map(|space| space.names.values().flatten())
                .filter(|binding| binding.glob && binding.res == res);
            for binding in bindings {
                let Some(import) = binding.import else {
                    continue;
                };
                let public = visibility_of(world, import) != Some(VisibilityKind::Private);
                if public || self.needs_trait(import, moved.item) {
                    self.scan.globs.insert((import, index));
                }
            }
        }
    }

    /// Whether the code that a glob serves may call methods of a trait that it brings.
    fn needs_trait(&self, leaf: (FileId, u32), item: ItemId) -> bool {
        let world = self.world();
        let scope = world.facts(leaf.0).and_then(|facts| {
            let declaration = facts.leaves.get(leaf.1 as usize)?.declaration;
            facts.scope(facts.uses.get(declaration as usize)?.scope)
        });
        let text = self.texts.text(&self.set.path(leaf.0));
        let (Some(scope), Some(text)) = (scope, text) else {
            return false;
        };
        let methods = traits::method_names(&text, scope.span);
        self.is_trait_with(item, &methods)
    }

    fn is_trait_with(&self, item: ItemId, methods: &BTreeSet<String>) -> bool {
        traits::is_needed(
            self.world(),
            "",
            Res::Item(item),
            methods,
            self.texts,
            &|_| false,
        )
    }

    /// Traits that left, where the old module calls their methods without naming them.
    fn left_traits(&mut self) {
        let world = self.world();
        for (index, moved) in self.set.moving.iter().enumerate() {
            if moved.kind != ItemKind::Trait || moved.to == self.set.mapping.after(moved.home) {
                continue;
            }
            let bodies = world
                .module(moved.home)
                .map_or(&[][..], |node| &node.bodies);
            for id in bodies {
                let Some(body) = world.bodies.get(id.index()) else {
                    continue;
                };
                let known = self
                    .scan
                    .left
                    .iter()
                    .any(|one| one.moving == index && one.body == *id);
                let text = self.texts.text(&self.set.path(body.file));
                let Some(text) = text.filter(|_| !known) else {
                    continue;
                };
                let methods = self.methods_that_stay(body.file, &text);
                if !self.is_trait_with(moved.item, &methods) {
                    continue;
                }
                let here = self.set.mapping.after(moved.home);
                let speller = self.speller();
                let mut path = speller.rooted_in(here.krate, &moved.to);
                path.push(moved.name.clone());
                speller.chain(&moved.to, &here, &mut self.scan.needs);
                self.depend(moved.to.krate, &here);
                let users = self.scan.users.entry(index).or_default();
                users.insert(here);
                let alias = moved.shim.then(|| "_".to_owned());
                let cfg = self.conditions_of(Res::Item(moved.item));
                let list = self.imports.left.entry(*id).or_default();
                list.insert(Import { path, alias, cfg });
            }
        }
    }

    /// Globs inside moved text: what only their old place let them bring is imported besides.
    fn inner_globs(&mut self) {
        let world = self.world();
        for chunk in &self.set.chunks {
            let (Some(moving), Some(facts)) =
                (self.set.moving(chunk.moving), world.facts(chunk.file))
            else {
                continue;
            };
            let text = self.texts.text(&self.set.path(chunk.file));
            let Some(text) = text.filter(|_| !moving.gives_way()) else {
                continue;
            };
            let leaves = facts.leaves.iter().enumerate();
            for (at, leaf) in leaves {
                if leaf.kind == LeafKind::Glob && chunk.span.contains(leaf.span) {
                    let leaf = (chunk.file, u32::try_from(at).unwrap_or(u32::MAX));
                    let methods = traits::method_names(&text, chunk.span);
                    self.inner_glob(leaf, &moving.to, &methods);
                }
            }
        }
    }

    fn inner_glob(&mut self, leaf: (FileId, u32), to: &Place, methods: &BTreeSet<String>) {
        let (world, speller) = (self.world(), self.speller());
        let target = speller.glob_target(leaf);
        let Some((target, space)) = target.and_then(|at| Some((at, world.space(at)?))) else {
            return;
        };
        let usage = traits::Usage::of(world, target, self.texts);
        let looks = |name: &str| usage.looks_like_trait(name);
        let mut names: Vec<_> = space.names.iter().collect();
        names.sort_by_key(|(sym, _)| **sym);
        for (sym, bindings) in names {
            let name = world.names.text(*sym).to_string();
            let said = self.scan.used_inner.contains(&(leaf, name.clone()));
            for binding in bindings {
                let seen = speller.sees(to, binding.reach, target);
                let needed = said
                    || traits::is_needed(world, &name, binding.res, methods, self.texts, &looks);
                if seen || !needed {
                    continue;
                }
                let Some(import) = binding.import else {
                    if let Res::Item(item) = binding.res {
                        let by = to.clone();
                        let subject = Subject::Item(item);
                        self.scan.needs.push(Need { subject, by });
                    }
                    continue;
                };
                let (Some(path), Some(krate), Some(fact)) = (
                    speller.absolute(import).filter(|_| !binding.glob),
                    speller.krate_of(import),
                    leaf_of(world, leaf),
                ) else {
                    continue;
                };
                let path = speller.said_in(path, krate, to, &mut self.scan.needs);
                let mut tree: String = path
                    .iter()
                    .map(|one| written(one))
                    .collect::<Vec<_>>()
                    .join("::");
                if path.last() != Some(&name) {
                    tree = format!("{tree} as {name}");
                }
                let work = self.scan.files.entry(leaf.0).or_default();
                work.besides
                    .entry(fact.declaration)
                    .or_default()
                    .insert(tree);
            }
        }
    }

    /// Imports what left its module next to the glob that brought it.
    fn beside(&mut self, leaf: (FileId, u32), target: ModuleId, moving: usize) {
        let world = self.world();
        let Some(moved) = self.set.moving(moving) else {
            return;
        };
        let speller = self.speller();
        let Some(here) = home_of(world, leaf) else {
            return;
        };
        let place = self.set.mapping.after(here);
        if place == moved.to && is_of_module(world, leaf) {
            return;
        }
        let old = world
            .items
            .get(moved.item.index())
            .map(|item| item.name.clone());
        let old = old.unwrap_or_default();
        if !moved.shim && self.is_imported(target, here, moving) {
            return;
        }
        if self.is_brought(leaf, here, moving) {
            return;
        }
        let mut path = speller.rooted_in(place.krate, &moved.to);
        path.push(moved.name.clone());
        speller.chain(&moved.to, &place, &mut self.scan.needs);
        self.depend(moved.to.krate, &place);
        let users = self.scan.users.entry(moving).or_default();
        users.insert(place);
        let mut tree: String = path
            .iter()
            .map(|name| written(name))
            .collect::<Vec<_>>()
            .join("::");
        if old != moved.name {
            tree = format!("{tree} as {old}");
        }
        let Some(fact) = leaf_of(world, leaf) else {
            return;
        };
        let work = self.scan.files.entry(leaf.0).or_default();
        let list = work.besides.entry(fact.declaration).or_default();
        list.insert(tree);
    }

    /// Whether the old module imports what left it, and its glob brings that import here.
    fn is_imported(&self, target: ModuleId, here: ModuleId, moving: usize) -> bool {
        let world = self.world();
        let bodies = world.module(target).map_or(&[][..], |node| &node.bodies);
        let Some(moved) = self.set.moving(moving) else {
            return false;
        };
        let imported = bodies.iter().any(|body| {
            let list = self.imports.left.get(body);
            list.is_some_and(|list| {
                list.iter()
                    .any(|import| import.path.last() == Some(&moved.name) && import.alias.is_none())
            })
        });
        imported && crate::resolve::is_within(world, here, target)
    }

    /// Whether another glob of the same module brings it from its new place.
    fn is_brought(&self, leaf: (FileId, u32), here: ModuleId, moving: usize) -> bool {
        let world = self.world();
        let Some(moved) = self.set.moving(moving) else {
            return false;
        };
        let Some(target) = self.set.mapping.at(&moved.to) else {
            return false;
        };
        let Some(facts) = world.facts(leaf.0) else {
            return false;
        };
        let visibility = visibility_of(world, leaf);
        facts.leaves.iter().enumerate().any(|(at, other)| {
            let at = (leaf.0, u32::try_from(at).unwrap_or(u32::MAX));
            other.kind == LeafKind::Glob
                && at != leaf
                && visibility_of(world, at) == visibility
                && home_of(world, at) == Some(here)
                && is_of_module(world, at)
                && self.speller().glob_target(at) == Some(target)
        })
    }

    /// Imports that only what left used, or what is spelled anew.
    fn spent(&mut self) {
        let world = self.world();
        let freed = std::mem::take(&mut self.scan.freed_imports);
        for import in freed {
            let home = home_of(world, import);
            let Some(home) = home.filter(|_| is_of_module(world, import)) else {
                continue;
            };
            if !self.is_used(import, home) {
                let work = self.scan.files.entry(import.0).or_default();
                work.leaves.entry(import.1).or_insert(LeafChange::Drop);
            }
        }
    }

    fn is_used(&self, import: (FileId, u32), home: ModuleId) -> bool {
        let world = self.world();
        let Some(fact) = leaf_of(world, import) else {
            return true;
        };
        let private = visibility_of(world, import) == Some(VisibilityKind::Private);
        if !private || fact.kind == LeafKind::Glob || self.scan.used_imports.contains(&import) {
            return true;
        }
        let Some(facts) = world.facts(import.0) else {
            return true;
        };
        let bound = fact
            .alias
            .or_else(|| facts.segments(fact.segments).last().copied());
        let Some(bound) = bound else { return true };
        let name = facts.name(bound.name).to_owned();
        if self.scan.used_names.contains(&(home, name.clone())) {
            return true;
        }
        self.is_used_elsewhere(import, home, &name) || self.may_be_needed(import, home, &name)
    }

    /// Whether a file that no other question made us read uses a private import.
    fn is_used_elsewhere(&self, import: (FileId, u32), home: ModuleId, name: &str) -> bool {
        let world = self.world();
        let mut used = false;
        for (at, source) in world.files.iter().enumerate() {
            let file = FileId(u32::try_from(at).unwrap_or(u32::MAX));
            let below = source.bodies.iter().any(|body| {
                let body = world.bodies.get(body.index());
                body.is_some_and(|body| crate::resolve::is_within(world, body.module, home))
            });
            if !below || is_concerned(self.set, file) {
                continue;
            }
            for load in &source.loads {
                world.visit(*load as usize, &mut |facts, site| {
                    for (step, segment) in site.trace.steps.iter().zip(site.segments) {
                        let glob = step.glob && facts.name(segment.name) == name;
                        used |= step.import == Some(import) || glob;
                    }
                });
            }
        }
        used
    }

    /// Whether what stays in a module may call a method of a trait that it imports.
    fn may_be_needed(&self, import: (FileId, u32), home: ModuleId, name: &str) -> bool {
        let world = self.world();
        let results: Vec<Res> = world
            .space(home)
            .into_iter()
            .flat_map(|space| space.names.values().flatten())
            .filter(|binding| binding.import == Some(import))
            .map(|binding| binding.res)
            .collect();
        let mut methods = BTreeSet::new();
        let mut bodies: Vec<_> = world
            .bodies
            .iter()
            .filter(|body| crate::resolve::is_within(world, body.module, home))
            .map(|body| body.file)
            .collect();
        bodies.sort_unstable();
        bodies.dedup();
        for file in bodies {
            let Some(text) = self.texts.text(&self.set.path(file)) else {
                continue;
            };
            methods.extend(self.methods_that_stay(file, &text));
        }
        let usage = traits::Usage::of(world, home, self.texts);
        let looks = |name: &str| usage.looks_like_trait(name);
        results.is_empty()
            || results
                .iter()
                .any(|res| traits::is_needed(world, name, *res, &methods, self.texts, &looks))
    }

    /// Names behind dots in what does not leave a file.
    fn methods_that_stay(&self, file: FileId, text: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut start = 0;
        let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
        let chunks = self.set.chunks.iter().filter(|chunk| chunk.file == file);
        for span in chunks.map(|chunk| chunk.span).chain([ByteSpan::empty(end)]) {
            if span.start > start {
                found.extend(traits::method_names(text, ByteSpan::new(start, span.start)));
            }
            start = start.max(span.end);
        }
        found
    }

    /// The conditions on the only definition of an item.
    fn conditions_of(&self, res: Res) -> BTreeSet<String> {
        let (Res::Item(item) | Res::Variant(item, _)) = res else {
            return BTreeSet::new();
        };
        let world = self.world();
        let node = world.items.get(item.index());
        let [(file, at)] = node.map_or(&[][..], |node| &node.definitions) else {
            return BTreeSet::new();
        };
        let fact = world
            .facts(*file)
            .and_then(|facts| facts.items.get(*at as usize));
        let text = self.texts.text(&self.set.path(*file));
        let own = fact.filter(|fact| fact.conditional).zip(text);
        own.and_then(|(fact, text)| Some(conditions(fact.span.of(&text)?)))
            .unwrap_or_default()
    }

    /// The conditions on an import.
    fn conditions(&self, (file, leaf): (FileId, u32)) -> BTreeSet<String> {
        let world = self.world();
        let found = world.facts(file).and_then(|facts| {
            let declaration = facts.leaves.get(leaf as usize)?.declaration;
            let span = facts.uses.get(declaration as usize)?.span;
            let text = self.texts.text(&self.set.path(file))?;
            let item: syn::ItemUse = syn::parse_str(span.of(&text)?).ok()?;
            Some(inherit::conditions(&item.attrs))
        });
        proc_macro2::extra::invalidate_current_thread_spans();
        found.unwrap_or_default().into_iter().collect()
    }
}

/// Where a name stands in a span, not behind a dot or a path.
fn word(text: &str, span: ByteSpan, name: &str) -> Option<ByteSpan> {
    let mut before = false;
    for token in lexer::tokens(text, span) {
        if token.is_ident() && !before && token.span.of(text) == Some(name) {
            return Some(token.span);
        }
        before = token.is(b'.') || token.is(b':');
    }
    None
}

/// Whether a name that leads nowhere known may be one that a glob brings.
fn may_be_imported(name: &str, origin: Origin) -> bool {
    let quiet = matches!(
        origin,
        Origin::DocLink | Origin::DocCode | Origin::FormatString
    );
    !quiet && PRELUDE.binary_search(&name).is_err()
}

/// The way to what preludes bring, for where a module has the name for something else.
fn in_core(name: &str) -> Option<[&'static str; 4]> {
    Some(match name {
        "Ok" => ["core", "result", "Result", "Ok"],
        "Err" => ["core", "result", "Result", "Err"],
        "Some" => ["core", "option", "Option", "Some"],
        "None" => ["core", "option", "Option", "None"],
        "Result" => ["core", "prelude", "v1", "Result"],
        "Option" => ["core", "prelude", "v1", "Option"],
        _ => return None,
    })
}

/// Names that every module has: of preludes, of built-in macros, derives and attributes.
const PRELUDE: &[&str] = &[
    "AsMut",
    "AsRef",
    "Box",
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "DoubleEndedIterator",
    "Drop",
    "Eq",
    "Err",
    "ExactSizeIterator",
    "Extend",
    "Fn",
    "FnMut",
    "FnOnce",
    "From",
    "FromIterator",
    "Hash",
    "Into",
    "IntoIterator",
    "Iterator",
    "None",
    "Ok",
    "Option",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Result",
    "Self",
    "Send",
    "Sized",
    "Some",
    "String",
    "Sync",
    "ToOwned",
    "ToString",
    "TryFrom",
    "TryInto",
    "Unpin",
    "Vec",
    "allow",
    "assert",
    "assert_eq",
    "assert_ne",
    "automatically_derived",
    "bench",
    "bool",
    "cfg",
    "cfg_attr",
    "char",
    "cold",
    "column",
    "compile_error",
    "concat",
    "dbg",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "default",
    "deny",
    "deprecated",
    "derive",
    "doc",
    "drop",
    "env",
    "eprint",
    "eprintln",
    "expect",
    "f32",
    "f64",
    "file",
    "forbid",
    "format",
    "format_args",
    "global_allocator",
    "i128",
    "i16",
    "i32",
    "i64",
    "i8",
    "ignore",
    "include",
    "include_bytes",
    "include_str",
    "inline",
    "isize",
    "line",
    "link",
    "macro_export",
    "macro_use",
    "matches",
    "module_path",
    "must_use",
    "no_mangle",
    "non_exhaustive",
    "option_env",
    "panic",
    "path",
    "print",
    "println",
    "repr",
    "should_panic",
    "str",
    "stringify",
    "target_feature",
    "test",
    "thread_local",
    "todo",
    "track_caller",
    "transparent",
    "u128",
    "u16",
    "u32",
    "u64",
    "u8",
    "unimplemented",
    "unreachable",
    "usize",
    "vec",
    "warn",
    "write",
    "writeln",
];

/// The imports of a module that stand in none of its blocks.
fn leaves_of(world: &World, module: ModuleId) -> Vec<(FileId, u32)> {
    let bodies = world.module(module).map_or(&[][..], |node| &node.bodies);
    let mut found = Vec::new();
    for body in bodies
        .iter()
        .filter_map(|body| world.bodies.get(body.index()))
    {
        let Some(facts) = world.facts(body.file) else {
            continue;
        };
        for (at, leaf) in facts.leaves.iter().enumerate() {
            let declaration = facts.uses.get(leaf.declaration as usize);
            if declaration.is_some_and(|one| one.scope == body.scope && one.origin == Origin::Code)
            {
                found.push((body.file, u32::try_from(at).unwrap_or(u32::MAX)));
            }
        }
    }
    found
}

/// How a module has a name.
enum Way {
    Defined,
    Glob((FileId, u32)),
    Other,
}

fn leaf_of(world: &World, (file, leaf): (FileId, u32)) -> Option<&UseLeaf> {
    world.facts(file)?.leaves.get(leaf as usize)
}

fn visibility_of(world: &World, (file, leaf): (FileId, u32)) -> Option<VisibilityKind> {
    let facts = world.facts(file)?;
    let declaration = facts.leaves.get(leaf as usize)?.declaration;
    let declaration = facts.uses.get(declaration as usize)?;
    Some(declaration.visibility.kind)
}

/// The module that has an import.
pub(super) fn home_of(world: &World, (file, leaf): (FileId, u32)) -> Option<ModuleId> {
    let facts = world.facts(file)?;
    let declaration = facts.leaves.get(leaf as usize)?.declaration;
    let scope = facts.uses.get(declaration as usize)?.scope;
    let load = *world.files.get(file.index())?.loads.first()?;
    let load = world.loads.get(load as usize)?;
    Some(world.module_of(*load.spaces.get(scope.0 as usize)?))
}
