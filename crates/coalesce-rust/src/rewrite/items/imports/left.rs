//! What the old module goes on naming once it has left.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{
    ByteSpan, Evidence, Form, NotRewritten, Rewrite, Safety, Unproven, UnprovenKind,
};

use super::{Import, Settler, between};
use crate::{
    facts::{ItemKind, MacroReading, Origin, ScopeId, SourceFacts},
    lexer,
    resolve::{BodyId, FileId, Res, UseSite},
    rewrite::{
        conditions::{FOR_TESTS, is_there_without_tests},
        draft::untouchable,
        items::{
            moving::{Moving, Set, conditions, is_test},
            replace,
            scan::Left,
        },
        macro_methods::called_names,
        place::Place,
        traits::Demand,
    },
};

impl<'a> Settler<'_, 'a> {
    /// Names of what left in calls of macros that were not read as code.
    pub(super) fn left_words(&mut self) {
        let mut found = Vec::new();
        for (index, moved) in self.set.moving.iter().enumerate() {
            let here = self.set.mapping.after(moved.home);
            let left = self.world()[moved.home].bodies.iter();
            for body in left.filter(|_| moved.to != here) {
                let said = self.words_of_calls(*body, moved).into_iter();
                found.extend(said.map(|(file, span)| Left {
                    moving: index,
                    file,
                    site: UseSite::Path(u32::MAX),
                    span,
                    origin: Origin::MacroTokens,
                    body: *body,
                    here: here.clone(),
                }));
            }
        }
        // The word goes on naming a shim, and what is made of it may warn.
        let (shims, found): (Vec<Left>, Vec<Left>) = found
            .into_iter()
            .partition(|one| self.set.moving(one.moving).shim);
        let told: Vec<Unproven> = shims.iter().map(|one| self.says_shim(one)).collect();
        self.scan.told.unproven.extend(told);
        self.add_left(found);
    }

    fn add_left(&mut self, found: Vec<Left>) {
        for left in &found {
            let users = self.scan.users.entry(left.moving).or_default();
            users.insert(left.here.clone());
        }
        self.scan.left.extend(found);
    }

    /// Where calls of macros among the items of a body, which stay and were not read as code, say the old name first.
    fn words_of_calls(&self, body: BodyId, moved: &Moving<'_>) -> Vec<(FileId, ByteSpan)> {
        let old = &self.world()[moved.item].name;
        let body = &self.world()[body];
        let Some(text) = self.set.mapping.texts.text(&self.set.path(body.file)) else {
            return Vec::new();
        };
        let calls = self.world().facts(body.file).macro_calls.iter();
        let calls = calls.filter(|call| {
            call.reading != MacroReading::Empty
                && call.item_position
                && call.scope == body.scope
                && self.set.chunk_at(body.file, call.body.start).is_none()
        });
        calls
            .filter_map(|call| Some((body.file, word(&text, call.body, old)?)))
            .collect()
    }

    fn says_shim(&self, left: &Left) -> Unproven {
        let moved = self.set.moving(left.moving);
        let name = &self.world()[moved.item].name;
        Unproven {
            path: self.set.path(left.file),
            span: Some(left.span),
            kind: UnprovenKind::MacroArgument,
            name: name.to_owned(),
            why: format!(
                "a macro is given `{name}`, which is that of a shim from then on: what it makes of it may warn"
            ),
        }
    }

    /// Plain names, in the old module, of what left it.
    pub(super) fn left(&mut self) {
        let left = std::mem::take(&mut self.scan.left);
        let mut groups: BTreeMap<(BodyId, usize), Vec<Left>> = BTreeMap::new();
        for one in left {
            groups.entry((one.body, one.moving)).or_default().push(one);
        }
        for ((body, moving), uses) in groups {
            let uses = self.say_hidden_uses(moving, uses);
            self.left_in(body, moving, &uses);
        }
    }

    pub(super) fn left_in(&mut self, body: BodyId, moving: usize, uses: &[Left]) {
        let moved = self.set.moving(moving);
        let Some(Left { here, .. }) = uses.first() else {
            return;
        };
        let old = self.world()[moved.item].name.clone();
        let name = std::slice::from_ref(&moved.name);
        let links = uses.iter().all(|one| one.origin == Origin::DocLink);
        let (path, whole) = self.paths_to_left((body, moving), here, links);
        let (home, renamed) = (*here == moved.named_at, old != moved.name);
        let fixed = uses.iter().any(is_fixed);
        let shim = self.has_shim(moving, here);
        let said: Vec<(FileId, ByteSpan, Origin)> = uses
            .iter()
            .map(|one| (one.file, one.span, one.origin))
            .collect();
        if !renamed && self.is_said_for_callers(here, &said) {
            return;
        }
        if home && fixed && renamed && !shim {
            return self.keep_word(body, moving, uses);
        }
        let primary = self.has_primary(here, moved);
        let taken = renamed && !primary && self.has_name(here, &moved.name);
        match shim || links || taken && !fixed {
            _ if home => return self.rename_all(uses, (name, name), &old),
            true => return self.rename_all(uses, (&path, &whole), &old),
            false if primary && !fixed => return self.rename_all(uses, (name, name), &old),
            false if renamed && !fixed => self.rename_all(uses, (name, name), &old),
            false => {}
        }
        let alias = (renamed && fixed).then_some(old);
        self.import_left((body, moving), uses, path, alias);
    }

    /// Says uses by a path where something local has the new name; gives the others.
    fn say_hidden_uses(&mut self, moving: usize, uses: Vec<Left>) -> Vec<Left> {
        let moved = self.set.moving(moving);
        let old = self.world()[moved.item].name.clone();
        if old == moved.name {
            return uses;
        }
        let speller = self.speller();
        let is_hidden =
            |one: &Left| !is_fixed(one) && speller.is_local(one.file, (one.site, 1), &moved.name);
        let (hidden, others): (Vec<Left>, Vec<Left>) = uses.into_iter().partition(is_hidden);
        for one in &hidden {
            let path = speller.in_sight(&one.here, (&moved.named_at, &moved.name));
            self.rename(one, &path, &old);
        }
        others
    }

    /// The path to what left a module, through an import of the new one where that is there, and in full.
    fn paths_to_left(
        &mut self,
        (body, moving): (BodyId, usize),
        here: &Place,
        links: bool,
    ) -> (Vec<String>, Vec<String>) {
        let moved = self.set.moving(moving);
        let whole = self.path_to_moved(moving, here);
        let path = match links {
            true => whole.clone(),
            false => self.shortened(body, moved, whole.clone()),
        };
        (path, whole)
    }

    /// Whether a shim of what moves stays at a place.
    fn has_shim(&self, moving: usize, here: &Place) -> bool {
        let mut facades = self.set.facades.values();
        self.set.moving(moving).shim
            || facades.any(|facade| {
                facade.moving == moving && self.set.mapping.after(facade.home) == *here
            })
    }

    /// Spells uses as a path; links in documents in full, since nothing but a link would need the import.
    fn rename_all(&mut self, uses: &[Left], (path, whole): (&[String], &[String]), old: &str) {
        for one in uses {
            let said = match one.origin {
                Origin::DocLink => whole,
                _ => path,
            };
            self.rename(one, said, old);
        }
    }

    /// Imports what left a body, for uses in it.
    fn import_left(
        &mut self,
        (body, moving): (BodyId, usize),
        uses: &[Left],
        path: Vec<String>,
        alias: Option<String>,
    ) {
        let mut cfg = self.conditions_of(Res::Item(self.set.moving(moving).item));
        cfg.extend(self.conditions_of_all(uses));
        let list = self.imports.left.entry(body).or_default();
        list.insert(Import { path, alias, cfg });
    }

    /// The conditions that stand on the items of all uses: without them, nobody uses what is imported for these.
    fn conditions_of_all(&mut self, uses: &[Left]) -> BTreeSet<String> {
        let around: BTreeSet<(FileId, Option<ByteSpan>, &Place)> = uses
            .iter()
            .map(|one| (one.file, self.item_around(one), &one.here))
            .collect();
        let each = around
            .into_iter()
            .map(|(file, item, here)| self.conditions_on_item(file, item, here));
        each.reduce(|all, one| &all & &one).unwrap_or_default()
    }

    /// The item or block of a module that a use stands in.
    fn item_around(&mut self, one: &Left) -> Option<ByteSpan> {
        let world = self.set.mapping.world;
        let spans = self.spans.entry((one.file, one.body)).or_insert_with(|| {
            let (facts, scope) = (world.facts(one.file), world[one.body].scope);
            let items = facts.items.iter().filter(|item| item.scope == scope);
            let blocks = facts.impls.iter().filter(|block| block.scope == scope);
            let items = items.map(|item| item.span);
            let mut spans: Vec<ByteSpan> = items.chain(blocks.map(|block| block.span)).collect();
            spans.sort();
            spans
        });
        let before = spans.partition_point(|span| span.start <= one.span.start);
        let last = spans.get(before.checked_sub(1)?)?;
        last.contains(one.span).then_some(*last)
    }

    fn conditions_on_item(
        &self,
        file: FileId,
        item: Option<ByteSpan>,
        here: &Place,
    ) -> BTreeSet<String> {
        let text = self.set.mapping.texts.text(&self.set.path(file));
        let own = item.and_then(|span| span.of(text.as_deref()?));
        let Some(own) = own else {
            return BTreeSet::new();
        };
        let mut found = conditions(own);
        if is_test(own) && is_there_without_tests(self.set.mapping, here) {
            found.insert(FOR_TESTS.to_owned());
        }
        found
    }

    /// Names of what gets another name in its module, some of them words that a macro is given: those are
    /// kept, by an import of the new name as the old one.
    fn keep_word(&mut self, body: BodyId, moving: usize, uses: &[Left]) {
        let moved = self.set.moving(moving);
        let old = self.world()[moved.item].name.clone();
        for one in uses {
            if untouchable(one.origin, one.site, true).is_none() {
                self.rename(one, std::slice::from_ref(&moved.name), &old);
            }
        }
        let cfg = self.conditions_of(Res::Item(moved.item));
        let list = self.imports.left.entry(body).or_default();
        list.insert(Import {
            path: vec!["self".to_owned(), moved.name.clone()],
            alias: Some(old),
            cfg,
        });
    }

    /// The path through the import of the new module, where the old one has that.
    fn shortened(&mut self, id: BodyId, moved: &Moving<'_>, path: Vec<String>) -> Vec<String> {
        let body = &self.world()[id];
        let key = (moved.home, moved.named_at.clone());
        let own = body.module == moved.home;
        let Some(name) = self.short.get(&key).filter(|_| own && moved.shim).cloned() else {
            return path;
        };
        self.import_module(&key);
        vec![name, moved.name.clone()]
    }

    /// Whether a module has the one that takes the place of another by its name already.
    pub(super) fn has_primary(&self, place: &Place, moved: &Moving<'_>) -> bool {
        if !moved.gives_way() {
            return false;
        }
        let Some(primary) = replace::primary(self.set, moved) else {
            return false;
        };
        let mut bindings = self.bindings_at(place, &moved.name).iter();
        bindings.any(|binding| binding.res == Res::Item(primary))
    }

    pub(super) fn has_name(&self, place: &Place, name: &str) -> bool {
        let world = self.world();
        let module = self.set.mapping.at(place);
        let space = module.map(|module| world.space(module));
        space
            .zip(world.names.get(name))
            .is_some_and(|(space, sym)| space.names.contains_key(&sym))
    }

    pub(super) fn rename(&mut self, one: &Left, path: &[String], old: &str) {
        let moved = self.set.moving(one.moving);
        let leaf = matches!(one.site, UseSite::Leaf(_));
        if let Some(why) = untouchable(one.origin, one.site, true) {
            self.scan.told.not_rewritten.push(NotRewritten {
                path: self.set.path(one.file),
                span: one.span,
                form: Form::Macro,
                name: old.to_owned(),
                why: why.to_owned(),
            });
            return;
        }
        self.scan.told.rewrites.push(Rewrite {
            path: self.set.path(one.file),
            span: one.span,
            form: if leaf { Form::ImportFrom } else { Form::Path },
            evidence: Evidence::Resolved,
            from: moved.change.from.clone(),
            to: self.set.name_after(moved),
            reason: "names what moves".to_owned(),
            safety: Safety::Safe,
        });
        self.replace(one.file, one.site, one.span, path);
    }

    /// Traits that left, where the old module calls their methods without naming them.
    pub(super) fn left_traits(&mut self) {
        let world = self.world();
        let moving = self.set.moving.iter().enumerate();
        let traits = moving.filter(|(_, moved)| {
            moved.kind == ItemKind::Trait && moved.to != self.set.mapping.after(moved.home)
        });
        let traits: Vec<(usize, &Moving<'_>)> = traits.collect();
        for (index, moved) in traits {
            for id in &world[moved.home].bodies {
                let demand = self.demand_left(index, *id);
                if demand == Demand::Perhaps {
                    let body = &world[id];
                    let scope = world.facts(body.file).scope(body.scope).span;
                    let span = ByteSpan::empty(scope.start);
                    let call = (body.file, span, moved.name.clone());
                    self.scan.guessed_calls.insert(call);
                }
                if demand != Demand::No {
                    self.import_trait(index, *id);
                }
            }
        }
    }

    /// Whether a body calls methods of a trait that left its module, and does not name that.
    fn demand_left(&self, moving: usize, id: BodyId) -> Demand {
        let world = self.world();
        let moved = self.set.moving(moving);
        let body = &world[id];
        let mut left = self.scan.left.iter();
        let known = left.any(|one| one.moving == moving && one.body == id);
        let text = self.set.mapping.texts.text(&self.set.path(body.file));
        let Some(text) = text.filter(|_| !known) else {
            return Demand::No;
        };
        let mut methods = self.methods_that_stay(moved.home, body.file, &text);
        // Modules inside have names of their own.
        let inner = own_methods(self.set, world.facts(body.file), (body.scope, &text));
        methods.retain(|name| inner.contains(name));
        let asked = self.asked(&|_| false);
        asked.demand(("", Res::Item(moved.item)), &methods)
    }

    fn import_trait(&mut self, moving: usize, body: BodyId) {
        let moved = self.set.moving(moving);
        let path = self.path_to_moved(moving, &self.set.mapping.after(moved.home));
        let alias = moved.shim.then(|| "_".to_owned());
        let cfg = self.conditions_of(Res::Item(moved.item));
        let list = self.imports.left.entry(body).or_default();
        list.insert(Import { path, alias, cfg });
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

/// Names behind dots in a scope, those of the modules in it left out.
fn own_methods(
    set: &Set<'_>,
    facts: &SourceFacts,
    (scope, text): (ScopeId, &str),
) -> BTreeSet<String> {
    let inner = facts
        .modules
        .iter()
        .filter(|module| module.scope == scope && module.body.is_some())
        .map(|module| module.span);
    let own = between(facts.scope(scope).span, inner.collect()).into_iter();
    own.flat_map(|span| called_names(set.world(), set.mapping.texts, text, span))
        .collect()
}

/// Whether a use cannot be spelled anew.
fn is_fixed(one: &Left) -> bool {
    untouchable(one.origin, one.site, true).is_some()
}
