//! Globs that brought what left, and globs inside what left.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::Edit;

use super::{Import, Settler, home_of, leaf_of, visibility_of};
use crate::{
    facts::{LeafKind, Namespaces, Origin, VisibilityKind},
    resolve::{Binding, FileId, ItemId, ModuleId, Reach, Res, Sym, World, is_within},
    rewrite::{
        follow::Following,
        functions::is_stand_in,
        globs,
        items::moving::{Set, is_bound_public},
        lines,
        macro_methods::called_names,
        mapping::refusal,
        method_calls::calls::Called,
        place::Place,
        public::is_way_for_others,
        spell::{spelled, written},
        traits,
        use_tree::LeafChange,
        walk::is_of_module,
    },
};

impl<'a> Settler<'_, 'a> {
    /// Globs that brought what left: it is imported besides.
    pub(super) fn globs(&mut self) {
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
        let moved = self.set.moving(moving);
        let space = world.space(module);
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
    pub(super) fn public_globs(&mut self) {
        let world = self.world();
        let mut called: BTreeMap<(FileId, u32), Called> = BTreeMap::new();
        let bindings = world.spaces.iter();
        let bindings = bindings.flat_map(|space| space.names.values().flatten());
        let brought = bindings.filter_map(|one| match one.res {
            Res::Item(item) if one.glob => Some((one.import?, self.set.of(item)?, item)),
            _ => None,
        });
        let brought: Vec<((FileId, u32), usize, ItemId)> = brought.collect();
        for (import, index, item) in brought {
            let public = visibility_of(world, import) != Some(VisibilityKind::Private)
                && is_bound_public(world, self.set.moving(index).home, item)
                && !is_stand_in(&world[item].name);
            let gives_methods = !public && traits::may_be_trait(world, Res::Item(item)) && {
                let methods = called.entry(import);
                let methods = methods.or_insert_with(|| self.methods_served(import));
                self.is_trait_with(item, methods)
            };
            if public || gives_methods {
                self.scan.globs.insert((import, index));
            }
        }
    }

    /// Globs inside moved text: what only their old place let them bring is imported besides.
    pub(super) fn inner_globs(&mut self) {
        let world = self.world();
        let files: BTreeSet<FileId> = self.set.chunks.iter().map(|chunk| chunk.file).collect();
        for file in files {
            let Some(text) = self.set.mapping.texts.text(&self.set.path(file)) else {
                continue;
            };
            let leaves = (0_u32..).zip(&world.facts(file).leaves);
            for (at, leaf) in leaves.filter(|(_, leaf)| leaf.kind == LeafKind::Glob) {
                let chunk = self.set.chunk_at(file, leaf.span.start);
                let Some(chunk) = chunk.filter(|chunk| !self.set.is_dropped(chunk)) else {
                    continue;
                };
                let to = &self.set.moving(chunk.moving).to;
                let methods = Called::on_unknown(called_names(
                    world,
                    self.set.mapping.texts,
                    &text,
                    chunk.span,
                ));
                self.inner_glob((file, at), to, &methods);
            }
        }
    }

    pub(super) fn inner_glob(&mut self, leaf: (FileId, u32), to: &Place, methods: &Called) {
        let (world, speller) = (self.world(), self.speller());
        let target = speller.glob_target(leaf);
        let Some((target, space)) = target.map(|at| (at, world.space(at))) else {
            return;
        };
        let usage = traits::Usage::of(world, target, self.set.mapping.texts);
        let looks = |name: &str| usage.looks_like_trait(name);
        let mut names: Vec<_> = space.names.iter().collect();
        names.sort_by_key(|(sym, _)| **sym);
        for (sym, bindings) in names {
            let name = world.names.text(*sym).to_string();
            let said = self.scan.used_inner.contains(&(leaf, name.clone()));
            let hidden = bindings
                .iter()
                .filter(|one| !speller.sees(to, one.reach, target));
            for binding in hidden {
                if said || self.asked(&looks).is_needed((&name, binding.res), methods) {
                    self.import_beside(leaf, to, (&name, binding));
                }
            }
        }
    }

    /// Imports next to a glob what it does not bring any more.
    fn import_beside(
        &mut self,
        leaf: (FileId, u32),
        to: &Place,
        (name, binding): (&str, &Binding),
    ) {
        let needs = &mut self.scan.told.needs;
        let tree = globs::import_of(&self.set.mapping.speller(), to, (name, binding), needs);
        let Some(tree) = tree else { return };
        self.add_beside(leaf, tree);
    }

    /// Puts an import next to the declaration of a glob.
    fn add_beside(&mut self, leaf: (FileId, u32), tree: String) {
        let declaration = leaf_of(self.world(), leaf).declaration;
        let work = self.scan.files.entry(leaf.0).or_default();
        work.besides.entry(declaration).or_default().insert(tree);
    }

    /// Imports what left its module next to the glob that brought it.
    pub(super) fn beside(&mut self, leaf: (FileId, u32), target: ModuleId, moving: usize) {
        let world = self.world();
        let moved = self.set.moving(moving);
        let Some(here) = home_of(world, leaf) else {
            return;
        };
        let place = self.set.mapping.after(here);
        if place == moved.named_at && is_of_module(world, leaf) {
            self.spend(leaf, here, target);
            return;
        }
        let declaration = world.facts(leaf.0).declaration_of(leaf.1);
        // A document is a crate of its own: it has what the module has by no private import.
        let is_document = declaration.origin == Origin::DocCode;
        if !moved.shim && !is_document && self.is_imported(target, here, moving) {
            return;
        }
        if !is_document && self.is_had_besides(leaf, here, moving) {
            self.spend(leaf, here, target);
            return;
        }
        let private = visibility_of(world, leaf) == Some(VisibilityKind::Private);
        if !private && !is_bound_public(world, moved.home, moved.item) {
            self.beside_in_crate(leaf, (here, target), moving);
            return;
        }
        let cfg = self.conditions_besides(leaf, moving);
        let said = visibility_text(self.set, leaf);
        let settled = private && self.follows_by_glob(leaf, moving)
            // The glob brought it under its own condition.
            || !cfg.is_empty()
                && self.beside_by_itself(leaf, (here, target), moving, (&said, &cfg));
        if settled {
            return;
        }
        let tree = self.tree_of_moved(moving, &place, is_document);
        self.add_beside(leaf, tree);
        if is_document {
            self.spend_in_document(leaf, target);
        } else if !self.brings_new_name(leaf, moving) {
            self.spend(leaf, here, target);
        }
    }

    /// Takes a glob of a doc test out that serves nothing else there; of a trait, methods may be called.
    pub(super) fn spend_in_document(&mut self, leaf: (FileId, u32), target: ModuleId) {
        if !self.scan.used_globs.contains(&leaf) && !self.world().may_give_traits(target) {
            let work = self.scan.files.entry(leaf.0).or_default();
            work.leaves.insert(leaf.1, LeafChange::Drop);
        }
    }

    /// Imports what a part of its crate had by a public glob next to that, for the crate.
    fn beside_in_crate(
        &mut self,
        leaf: (FileId, u32),
        (here, target): (ModuleId, ModuleId),
        moving: usize,
    ) {
        let cfg = self.conditions_besides(leaf, moving);
        let said = ("pub(crate) ", &cfg);
        if self.is_of_the_crate(moving) && self.beside_by_itself(leaf, (here, target), moving, said)
        {
            return;
        }
        let message = format!(
            "a public glob brings `{}` to a part of its crate: name it in an import of its own",
            self.set.moving(moving).change.from
        );
        let refused = refusal(self.set.path(leaf.0), message);
        self.scan.told.refusals.push(refused);
    }

    /// The conditions of what moves that do not stand on an import.
    fn conditions_besides(&self, leaf: (FileId, u32), moving: usize) -> BTreeSet<String> {
        let own = self.conditions(leaf);
        let mut cfg = self.conditions_of(Res::Item(self.set.moving(moving).item));
        cfg.retain(|condition| !own.contains(condition));
        cfg
    }

    /// What leads from a place to what moves, by the name that it had.
    fn tree_of_moved(&mut self, moving: usize, place: &Place, is_document: bool) -> String {
        let moved = self.set.moving(moving);
        let old = &self.world()[moved.item].name;
        let mut path = self.path_to_moved(moving, place);
        if is_document {
            self.speller().start_at_crate(place, &mut path);
        }
        let tree = spelled(&path);
        match *old == moved.name {
            true => tree,
            false => format!("{tree} as {old}"),
        }
    }

    /// Whether a module goes on having what left another one without the glob that brought it.
    fn is_had_besides(&self, leaf: (FileId, u32), here: ModuleId, moving: usize) -> bool {
        let world = self.world();
        let moved = self.set.moving(moving);
        if is_of_module(world, leaf)
            && (self.is_named_too(here, moved.item) || self.is_another_by_name(leaf, here, moving))
        {
            return true;
        }
        // A shim is another definition: two globs that bring both are ambiguous.
        if !moved.shim && self.is_brought(leaf, here, moving) {
            return true;
        }
        let private = visibility_of(world, leaf) == Some(VisibilityKind::Private);
        !private && self.is_had_anyway(leaf, here, moving)
    }

    /// Lets uses of what has another name in its module take it: a glob goes on bringing that.
    fn follows_by_glob(&mut self, leaf: (FileId, u32), moving: usize) -> bool {
        let world = self.world();
        let moved = self.set.moving(moving);
        let path = self.set.path(leaf.0);
        let text = self.set.mapping.texts.text(&path);
        let Some(text) = text.filter(|_| self.set.is_in_place(moved)) else {
            return false;
        };
        let following = Following {
            mapping: self.set.mapping,
            file: leaf.0,
            text: &text,
            leaves: &|at| self.set.chunk_at(leaf.0, at).is_some(),
        };
        let old = world[moved.item].name.as_str();
        // What a glob of the very module brings is spelled as all other uses are.
        let is_spelled = self.brings_new_name(leaf, moving);
        let Some(spans) = following.by_glob(leaf.1, (old, &moved.name), is_spelled) else {
            return false;
        };
        let new = written(&moved.name);
        let edits = spans
            .into_iter()
            .filter(|_| !is_spelled)
            .map(|span| Edit::replace(span, new.as_str()));
        let work = self.scan.files.entry(leaf.0).or_default();
        work.edits.extend(edits);
        true
    }

    /// Whether a glob goes on bringing what has another name in its module, by that.
    fn brings_new_name(&self, leaf: (FileId, u32), moving: usize) -> bool {
        let target = self.speller().glob_target(leaf);
        target.is_some_and(|target| {
            self.set.mapping.after(target) == self.set.moving(moving).named_at
        })
    }

    /// Whether the whole crate of what moves sees it, and nobody else, and it stays there.
    fn is_of_the_crate(&self, moving: usize) -> bool {
        let world = self.world();
        let moved = self.set.moving(moving);
        let krate = world[moved.home].krate;
        let reach = world.definition_reach(moved.item);
        let root = world[krate].root;
        moved.named_at.krate == krate && root.is_some_and(|root| reach == Some(Reach::Within(root)))
    }

    /// Imports what left in front of a glob that brought it and stays, by a declaration with a visibility and
    /// conditions of its own; whether that could be.
    fn beside_by_itself(
        &mut self,
        leaf: (FileId, u32),
        (here, target): (ModuleId, ModuleId),
        moving: usize,
        (visibility, cfg): (&str, &BTreeSet<String>),
    ) -> bool {
        if !is_plain(self.world(), leaf)
            || self.is_spent(leaf, here, target)
            || self.shows_what_left(leaf, here)
        {
            return false;
        }
        let start = self.world().facts(leaf.0).declaration_of(leaf.1).span.start;
        let text = self.set.mapping.texts.text(&self.set.path(leaf.0));
        let indent = text.as_deref().and_then(|text| lines::prefix(text, start));
        let Some((text, indent)) = text.as_deref().zip(indent) else {
            return false;
        };
        let tree = self.tree_of_moved(moving, &self.set.mapping.after(here), false);
        let line = lines::line_break(text);
        let attributes = cfg.iter().map(|cfg| format!("{cfg}{line}{indent}"));
        let attributes: String = attributes.collect();
        let import = format!("{attributes}{visibility}use {tree};{line}{indent}");
        let edit = Edit::insert(start, import);
        let work = self.scan.files.entry(leaf.0).or_default();
        if !work.edits.contains(&edit) {
            work.edits.push(edit);
        }
        true
    }

    /// Takes a glob out that nobody needs any more, and keeps one to the crate that others see nothing of.
    pub(super) fn spend(&mut self, leaf: (FileId, u32), here: ModuleId, target: ModuleId) {
        let world = self.world();
        let is_public = visibility_of(world, leaf) == Some(VisibilityKind::Public);
        let opaque = world.space(target).opaque;
        if opaque && !is_public && self.is_spent(leaf, here, target) {
            let work = self.scan.files.entry(leaf.0).or_default();
            work.leaves.insert(leaf.1, LeafChange::Drop);
        } else if opaque && (is_public || world[here].children.is_empty()) {
            if self.shows_what_left(leaf, here) {
                let path = self.set.path(leaf.0);
                let span = leaf_of(world, leaf).span;
                let name = self.set.mapping.name_of(&self.set.mapping.after(target));
                let unproven = globs::may_bring_nothing((path, span), name);
                self.scan.told.unproven.push(unproven);
            }
        } else if self.is_spent(leaf, here, target) {
            let work = self.scan.files.entry(leaf.0).or_default();
            work.leaves.insert(leaf.1, LeafChange::Drop);
        } else if is_public && !opaque && self.shows_what_left(leaf, here) {
            self.narrow(leaf, target);
        }
    }

    /// Keeps a glob to its crate, which uses by it what others never saw.
    fn narrow(&mut self, leaf: (FileId, u32), target: ModuleId) {
        let facts = self.world().facts(leaf.0);
        if let Some(edit) = globs::narrowed(facts, leaf.1) {
            let work = self.scan.files.entry(leaf.0).or_default();
            work.edits.retain(|one| *one != edit);
            work.edits.push(edit);
            return;
        }
        let message = format!(
            "a public glob would bring nothing public of `{}` any more, and parts of the crate use by it \
             what is not: give it a `use` of its own",
            self.set.mapping.name_of(&self.set.mapping.after(target))
        );
        let refused = refusal(self.set.path(leaf.0), message);
        self.scan.told.refusals.push(refused);
    }

    /// Whether a glob serves a file that no other question made us read.
    fn serves_unread(&self, leaf: (FileId, u32)) -> bool {
        let world = self.world();
        if self.scan.read.contains(&leaf.0) {
            return false;
        }
        let moves = |res: Res| matches!(res, Res::Item(item) if self.set.of(item).is_some());
        let mut serves = false;
        world.visit_file(&world[leaf.0], &mut |_, site| {
            for step in &site.trace.steps {
                serves |= step.import == Some(leaf) && !step.all().any(|(res, _)| moves(res));
            }
        });
        serves
    }

    /// Whether a glob brings nothing any more that is used, as far as can be seen.
    pub(super) fn is_spent(&self, leaf: (FileId, u32), here: ModuleId, target: ModuleId) -> bool {
        let world = self.world();
        let alone = world[here].children.is_empty()
            && visibility_of(world, leaf) == Some(VisibilityKind::Private);
        let is_known = !world.space(target).opaque;
        if is_known && self.brings_what_left(leaf, here) {
            return true;
        }
        if !alone || self.scan.used_globs.contains(&leaf) || self.serves_unread(leaf) {
            return false;
        }
        if !is_known {
            return self.is_left_empty(here);
        }
        let mut brought = self.brought(leaf, here).map(|(_, one)| one.res);
        let may_serve = |res: Res| match res {
            Res::External(_) => true,
            Res::Item(item) => self.set.of(item).is_none() && self.needs_trait(leaf, item),
            _ => false,
        };
        !brought.any(may_serve)
    }

    /// Whether nothing of a module stays but imports.
    pub(super) fn is_left_empty(&self, here: ModuleId) -> bool {
        let world = self.world();
        let mut moving = self.set.moving.iter().filter(|one| one.home == here);
        if !world[here].children.is_empty() || moving.any(|one| one.shim) {
            return false;
        }
        world.bodies_of(here).all(|body| {
            let facts = world.facts(body.file);
            let leaves = |at: u32| self.set.chunk_at(body.file, at).is_some();
            let items = facts.items.iter().filter(|one| one.scope == body.scope);
            let impls = facts.impls.iter().filter(|one| one.scope == body.scope);
            let calls = facts.macro_calls.iter();
            let calls = calls.filter(|one| one.scope == body.scope);
            let mut starts = items
                .map(|one| one.span.start)
                .chain(impls.map(|one| one.span.start))
                .chain(calls.map(|one| one.body.start));
            starts.all(leaves)
        })
    }

    /// Whether all that a glob brings to a module leaves, without a shim in its place; of a `pub` one, all
    /// that is public, where nobody uses the rest.
    fn brings_what_left(&self, leaf: (FileId, u32), here: ModuleId) -> bool {
        let mut hidden = self
            .brought(leaf, here)
            .filter(|(name, one)| !self.shows(leaf, (*name, one)));
        self.shows_what_left(leaf, here)
            && (hidden.all(|(_, one)| self.leaves(one.res)) || !self.serves_somebody(leaf, here))
    }

    /// Whether all that others see of what a glob brings to a module leaves.
    fn shows_what_left(&self, leaf: (FileId, u32), here: ModuleId) -> bool {
        let shown = self.brought(leaf, here);
        let shown = shown.filter(|(name, one)| self.shows(leaf, (*name, one)));
        let mut shown = shown.peekable();
        shown.peek().is_some() && shown.all(|(_, one)| self.leaves(one.res))
    }

    /// What a glob brings to a module.
    fn brought(
        &self,
        leaf: (FileId, u32),
        here: ModuleId,
    ) -> impl Iterator<Item = (Sym, &'a Binding)> {
        globs::brought_by(self.world(), leaf, here)
    }

    /// Whether a glob passes something on as far as it says: `pub`, to everybody.
    fn shows(&self, leaf: (FileId, u32), (name, one): (Sym, &Binding)) -> bool {
        let is_public = visibility_of(self.world(), leaf) == Some(VisibilityKind::Public);
        !is_public || globs::is_public_binding(&self.speller(), name, one)
    }

    fn leaves(&self, res: Res) -> bool {
        let Res::Item(item) = res else { return false };
        let moving = self.set.of(item).map(|at| self.set.moving(at));
        moving.is_some_and(|moving| !moving.shim && !self.set.is_in_place(moving))
    }

    /// Whether something that a glob brings and that stays is used: by what stays, or by what arrives.
    fn serves_somebody(&self, leaf: (FileId, u32), here: ModuleId) -> bool {
        let brought = self.brought(leaf, here).map(|(_, one)| one.res);
        let stays: BTreeSet<Res> = brought
            .filter(|res| !matches!(res, Res::Item(item) if self.set.of(*item).is_some()))
            .collect();
        let is_needed = |res: &Res| matches!(res, Res::Item(item) if self.needs_trait(leaf, *item));
        if self.scan.used_globs.contains(&leaf) || stays.iter().any(is_needed) {
            return true;
        }
        let mut files = self.world().sources();
        files.any(|(file, _)| self.uses_any_of(file, &stays, (leaf, here)))
    }

    /// Whether a file says one of some things: text that stays, by a glob, or text that arrives in a module.
    fn uses_any_of(
        &self,
        file: FileId,
        stays: &BTreeSet<Res>,
        (leaf, here): ((FileId, u32), ModuleId),
    ) -> bool {
        let world = self.world();
        let here = self.set.mapping.after(here);
        let mut serves = false;
        world.visit_file(&world[file], &mut |_, site| {
            let start = site.segments.first().map_or(0, |first| first.span.start);
            let chunk = self.set.chunk_at(file, start);
            let arrives = chunk.map(|chunk| self.set.moving(chunk.moving).to == here);
            for step in &site.trace.steps {
                let of_stays = step.all().any(|(res, _)| stays.contains(&res));
                let by_glob = arrives.is_none() && step.import == Some(leaf);
                serves |= of_stays && (by_glob || arrives == Some(true));
            }
        });
        serves
    }

    /// Whether the old module imports what left it, and its glob brings that import here.
    pub(super) fn is_imported(&self, target: ModuleId, here: ModuleId, moving: usize) -> bool {
        let world = self.world();
        let bodies = &world[target].bodies;
        let moved = self.set.moving(moving);
        // By another name it is of no use to who has it by a glob.
        let old = &world[moved.item].name;
        let brings = |import: &Import| {
            let bound = import.alias.as_ref().or(import.path.last());
            import.path.last() == Some(&moved.name) && bound == Some(old)
        };
        let imported = bodies.iter().any(|body| {
            let list = self.imports.left.get(body);
            list.is_some_and(|list| list.iter().any(brings))
        });
        imported && is_within(world, here, target)
    }

    /// Whether a module imports an item by its name besides: by another one is not enough for who uses that.
    fn is_named_too(&self, here: ModuleId, item: ItemId) -> bool {
        let world = self.world();
        let name = world.names.get(&world[item].name);
        let bindings = name.and_then(|name| world.space(here).names.get(&name));
        let mut all = bindings.into_iter().flatten();
        all.any(|one| one.res == Res::Item(item) && one.import.is_some() && !one.glob)
    }

    /// Whether a module defines or imports something else by the name of what a glob brought, whatever holds: its own name wins,
    /// as that of a shim does beside `pub use new::*`.
    fn is_another_by_name(&self, leaf: (FileId, u32), here: ModuleId, moving: usize) -> bool {
        let world = self.world();
        let item = self.set.moving(moving).item;
        let bindings = world.bindings(here, &world[item].name);
        let of_glob = bindings
            .iter()
            .filter(|one| one.glob && one.import == Some(leaf) && one.res == Res::Item(item));
        let brought = of_glob.fold(Namespaces::default(), |all, one| all.or(one.namespaces));
        let own = bindings.iter().filter(|one| match one.import {
            None => is_always_beside(world, leaf, one.res),
            Some(import) => !one.glob && self.conditions(import).is_subset(&self.conditions(leaf)),
        });
        let own = own.fold(Namespaces::default(), |all, one| all.or(one.namespaces));
        brought != Namespaces::default() && brought.and(own) == brought
    }

    /// Whether all who have an item by globs of a module, which others cannot name, have it from its new place by
    /// globs as well, and nobody goes through that module itself: the compiler would warn of an import there.
    fn is_had_anyway(&self, leaf: (FileId, u32), here: ModuleId, moving: usize) -> bool {
        let world = self.world();
        if is_way_for_others(self.set.mapping, here) || self.set.moving(moving).shim {
            return false;
        }
        let globs = globs_of(world, here);
        let has_both = |outer: &(FileId, u32)| {
            home_of(world, *outer).is_some_and(|home| self.is_brought(*outer, home, moving))
        };
        let had = !globs.is_empty() && globs.iter().all(has_both);
        had && !self.is_gone_through(leaf, self.set.moving(moving).item)
    }

    /// Whether somebody names an item through an import.
    fn is_gone_through(&self, leaf: (FileId, u32), item: ItemId) -> bool {
        let world = self.world();
        let mut through = false;
        for (_, source) in world.sources() {
            world.visit_file(source, &mut |_, site| {
                let mut steps = site.trace.steps.iter();
                through |= steps.any(|step| {
                    let mut led = step.all();
                    step.import == Some(leaf) && led.any(|(res, _)| res == Res::Item(item))
                });
            });
        }
        through
    }

    /// Whether another glob of the same module brings it from its new place.
    pub(super) fn is_brought(&self, leaf: (FileId, u32), here: ModuleId, moving: usize) -> bool {
        let world = self.world();
        let moved = self.set.moving(moving);
        let Some(target) = self.set.mapping.at(&moved.named_at) else {
            return false;
        };
        let facts = world.facts(leaf.0);
        let visibility = visibility_of(world, leaf);
        (0_u32..).zip(&facts.leaves).any(|(at, other)| {
            let at = (leaf.0, at);
            other.kind == LeafKind::Glob
                && at != leaf
                && visibility_of(world, at) == visibility
                && home_of(world, at) == Some(here)
                && is_of_module(world, at)
                && self.speller().glob_target(at) == Some(target)
        })
    }
}

/// The globs of the tree that bring what a module has.
fn globs_of(world: &World, module: ModuleId) -> Vec<(FileId, u32)> {
    let globs = world.sources().flat_map(|(file, _)| {
        let leaves = (0_u32..).zip(&world.facts(file).leaves);
        let globs = leaves.filter(|(_, one)| one.kind == LeafKind::Glob);
        globs.map(move |(at, _)| (file, at))
    });
    globs
        .filter(|at| world.glob_target(*at) == Some(module))
        .collect()
}

/// Whether an import stands in code of a module, without attributes.
fn is_plain(world: &World, leaf: (FileId, u32)) -> bool {
    let declaration = world.facts(leaf.0).declaration_of(leaf.1);
    declaration.attributes.is_none()
        && declaration.origin == Origin::Code
        && is_of_module(world, leaf)
}

/// Whether an item is defined in the very text that an import stands in, under no condition of its own: of a module
/// with several texts, another one may define it.
fn is_always_beside(world: &World, (file, leaf): (FileId, u32), res: Res) -> bool {
    let Res::Item(item) = res else { return false };
    let scope = world.facts(file).declaration_of(leaf).scope;
    let mut definitions = world[item].definitions.iter();
    definitions.any(|(of, at)| {
        let fact = world.facts(*of).item(*at);
        *of == file && fact.scope == scope && !fact.conditional
    })
}

/// How a module has a name.
enum Way {
    Defined,
    Glob((FileId, u32)),
    Other,
}

/// The visibility of the declaration that holds a leaf, with a space behind it where there is one.
fn visibility_text(set: &Set<'_>, leaf: (FileId, u32)) -> String {
    let declaration = set.world().facts(leaf.0).declaration_of(leaf.1);
    let text = set.mapping.texts.text(&set.path(leaf.0));
    let said = text
        .as_deref()
        .and_then(|text| declaration.visibility.span.of(text));
    match said.map(str::trim) {
        Some(said) if !said.is_empty() => format!("{said} "),
        _ => String::new(),
    }
}
