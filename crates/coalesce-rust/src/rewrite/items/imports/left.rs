//! What the old module goes on naming once it has left.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{
    ByteSpan, Evidence, Form, NotRewritten, Rewrite, Safety, Unproven, UnprovenKind,
};

use super::{Import, Settler};
use crate::{
    facts::{ItemKind, MacroReading, Origin, ScopeId, SourceFacts},
    lexer,
    resolve::{BodyId, FileId, Res, UseSite},
    rewrite::{
        conditions::{FOR_TESTS, is_there_without_tests},
        draft::untouchable,
        items::{
            facades::Facade,
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
        let world = self.world();
        let mut found = Vec::new();
        for (index, moved) in self.set.moving.iter().enumerate() {
            let old = &world[moved.item].name;
            let bodies = &world[moved.home].bodies;
            if moved.to == self.set.mapping.after(moved.home) {
                continue;
            }
            for id in bodies {
                let body = &world[id];
                let text = self.set.mapping.texts.text(&self.set.path(body.file));
                let facts = world.facts(body.file);
                let Some(text) = text else {
                    continue;
                };
                let calls = facts.macro_calls.iter().filter(|call| {
                    call.reading != MacroReading::Empty
                        && call.item_position
                        && call.scope == body.scope
                        && self.set.chunk_at(body.file, call.body.start).is_none()
                });
                let said = calls.filter_map(|call| word(&text, call.body, old));
                if moved.shim {
                    // The word goes on naming the shim, and what is made of it may warn.
                    let told = said.map(|span| self.says_shim(body.file, span, old));
                    let told: Vec<Unproven> = told.collect();
                    self.scan.told.unproven.extend(told);
                    continue;
                }
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

    fn says_shim(&self, file: FileId, span: ByteSpan, name: &str) -> Unproven {
        Unproven {
            path: self.set.path(file),
            span: Some(span),
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
            self.left_in(body, moving, &uses);
        }
    }

    pub(super) fn left_in(&mut self, body: BodyId, moving: usize, uses: &[Left]) {
        let moved = self.set.moving(moving);
        let Some(first) = uses.first() else { return };
        let old = self.world()[moved.item].name.clone();
        let whole = self.path_to_moved(moving, &first.here);
        let links = uses.iter().all(|one| one.origin == Origin::DocLink);
        let home_of_shim = |facade: &Facade| {
            facade.moving == moving && self.set.mapping.after(facade.home) == first.here
        };
        let shim = moved.shim || self.set.facades.values().any(home_of_shim);
        let path = if links {
            whole.clone()
        } else {
            self.shortened(body, moved, whole.clone())
        };
        let renamed = old != moved.name;
        let fixed = uses
            .iter()
            .any(|one| untouchable(one.origin, one.site, true).is_some());
        let home = first.here == moved.named_at;
        let taken = renamed && self.has_name(&first.here, &moved.name);
        let taken = taken && !self.has_primary(&first.here, moved);
        if home && fixed && renamed && !shim {
            self.keep_word(body, moving, uses);
            return;
        }
        if shim || links || home || (taken && !fixed) {
            for one in uses {
                let path = match (home, one.origin) {
                    (true, _) => vec![moved.name.clone()],
                    // Nothing but a link would need the import.
                    (false, Origin::DocLink) => whole.clone(),
                    (false, _) => path.clone(),
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
        let mut cfg = self.conditions_of(Res::Item(moved.item));
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
        let world = self.world();
        let Some(primary) = moved.gives_way().then(|| replace::primary(self.set, moved)) else {
            return false;
        };
        let module = self.set.mapping.at(place);
        let bindings = module
            .map(|module| world.space(module))
            .zip(world.names.get(&moved.name))
            .and_then(|(space, sym)| space.names.get(&sym));
        let same = |res: Res| primary.is_some_and(|primary| res == Res::Item(primary));
        bindings
            .into_iter()
            .flatten()
            .any(|binding| same(binding.res))
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
        for (index, moved) in self.set.moving.iter().enumerate() {
            if moved.kind != ItemKind::Trait || moved.to == self.set.mapping.after(moved.home) {
                continue;
            }
            let bodies = &world[moved.home].bodies;
            for id in bodies {
                let body = &world[id];
                let known = self
                    .scan
                    .left
                    .iter()
                    .any(|one| one.moving == index && one.body == *id);
                let text = self.set.mapping.texts.text(&self.set.path(body.file));
                let Some(text) = text.filter(|_| !known) else {
                    continue;
                };
                let mut methods = self.methods_that_stay(moved.home, body.file, &text);
                // Modules inside have names of their own.
                let inner = own_methods(self.set, world.facts(body.file), (body.scope, &text));
                methods.retain(|name| inner.contains(name));
                let asked = self.asked(&|_| false);
                match asked.demand(("", Res::Item(moved.item)), &methods) {
                    Demand::No => continue,
                    Demand::Perhaps => {
                        let span =
                            ByteSpan::empty(world.facts(body.file).scope(body.scope).span.start);
                        let call = (body.file, span, moved.name.clone());
                        self.scan.guessed_calls.insert(call);
                    }
                    Demand::Yes => {}
                }
                let path = self.path_to_moved(index, &self.set.mapping.after(moved.home));
                let alias = moved.shim.then(|| "_".to_owned());
                let cfg = self.conditions_of(Res::Item(moved.item));
                let list = self.imports.left.entry(*id).or_default();
                list.insert(Import { path, alias, cfg });
            }
        }
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
    let own = facts.scope(scope).span;
    let mut inner: Vec<ByteSpan> = facts
        .modules
        .iter()
        .filter(|module| module.scope == scope && module.body.is_some())
        .map(|module| module.span)
        .collect();
    inner.sort();
    let mut found = BTreeSet::new();
    let mut start = own.start;
    for span in inner.into_iter().chain([ByteSpan::empty(own.end)]) {
        if span.start > start {
            let span = ByteSpan::new(start, span.start);
            found.extend(called_names(set.world(), set.mapping.texts, text, span));
        }
        start = start.max(span.end);
    }
    found
}
