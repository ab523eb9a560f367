//! What bodies of `macro_rules!` name, as their callers read it.
//!
//! Where a call goes elsewhere, or what a body leads to does, `super::`, `self::` and names of modules in the
//! body may lead there no longer. They are named through `$crate` then, if all calls agree on what they lead
//! to; where they do not, the proof says so. Whatever a body names is to be seen by those who call.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{
    ByteSpan, Edit, Evidence, Form, Rewrite, Safety, TreePath, Unproven, UnprovenKind,
};

use super::{
    draft::span_of,
    items::moving::{Chunk, Set},
    mapping::Mapping,
    needs::{Need, NeededThing},
    place::Place,
    scan::Borrow,
    spell::{Speller, spelled},
    traits::Demand,
    walk::{Leaving, Walk},
};
use crate::{
    facts::{ItemKind, Origin, SourceFacts},
    lexer,
    resolve::{ExpandedCall, FileId, Found, ItemId, Reach, Res, Said, Site, UseSite},
};

/// What bodies of macros take.
#[derive(Default)]
pub(super) struct BodyChanges {
    pub edits: BTreeMap<TreePath, Vec<Edit>>,
    pub needs: Vec<Need>,
    pub rewrites: Vec<Rewrite>,
    /// Items that leave, and from where calls name them.
    pub users: BTreeSet<(usize, Place)>,
    /// Imports that calls which stay go through.
    pub used: BTreeSet<(FileId, u32)>,
    /// Imports that calls which leave go through.
    pub freed: BTreeSet<(FileId, u32)>,
    /// Plain names that calls which leave read in bodies, and the modules that have to have them.
    pub lent: Vec<Borrow>,
    /// Items that leave, and that calls in their old module name by bodies of other modules.
    pub left: BTreeSet<(usize, ExpandedCall)>,
    /// Calls of macros that say of whom something is seen, in what moves.
    pub unproven: Vec<Unproven>,
}

/// Works the bodies of all macros out that are called, but for those that leave by themselves.
pub(super) fn settle(set: &Set<'_>, edits: &BTreeMap<TreePath, Vec<Edit>>) -> BodyChanges {
    let mut work = Bodies {
        mapping: set.mapping,
        set,
        known: edits,
        made: BodyChanges::default(),
    };
    let expansions = set.world().expansions();
    for (item, calls) in expansions.macros() {
        if set.of(item).is_some() {
            continue;
        }
        let calls = work.calls_by_place(calls);
        for said in expansions.said_by(item) {
            work.said(item, said, &calls);
        }
        work.restricted(item, &calls);
    }
    work.made
}

struct Bodies<'w, 'a> {
    mapping: &'w Mapping<'a>,
    set: &'w Set<'a>,
    /// What is changed already.
    known: &'w BTreeMap<TreePath, Vec<Edit>>,
    made: BodyChanges,
}

/// A path of a body as one call reads it.
struct Reading<'w> {
    facts: &'w SourceFacts,
    site: Site<'w>,
    walk: Walk,
    call: ExpandedCall,
    /// Where the call is after.
    here: Place,
    /// Whether the call, or something that the path leads through, goes elsewhere.
    concerns: bool,
    chunk: Option<&'w Chunk>,
}

impl<'w> Bodies<'w, '_> {
    /// Of calls those that read a body in one place alike, once.
    fn calls_by_place(&self, calls: &BTreeSet<ExpandedCall>) -> Vec<ExpandedCall> {
        let mut spaces: BTreeMap<_, ExpandedCall> = BTreeMap::new();
        for call in calls {
            let chunk = self.chunk(call).map(|chunk| chunk.span);
            spaces.entry((call.space, chunk)).or_insert(*call);
        }
        spaces.into_values().collect()
    }

    fn chunk(&self, call: &ExpandedCall) -> Option<&'w Chunk> {
        self.set.chunk_at(call.file, call.at)
    }

    fn read(&self, said: &Said, call: &ExpandedCall) -> Option<Reading<'w>> {
        let world = self.mapping.world;
        let (facts, site) = world.said_at(said, call.space)?;
        let led = |step: &Found| !step.is_empty() && !step.opaque;
        if !site.trace.steps.iter().all(led) {
            return None;
        }
        let chunk = self.chunk(call);
        let leaving = Some(Leaving {
            set: self.set,
            chunk,
        });
        let speller = self.mapping.speller();
        let walk = speller.walk(facts, &site, leaving, 0);
        let here = speller.place_of(&site, leaving);
        let goes = |step: &Found| step.all().any(|(res, _)| self.goes(res));
        let concerns = chunk.is_some()
            || self.mapping.is_changed(world.module_of(call.space))
            || site.trace.steps.iter().any(goes);
        Some(Reading {
            facts,
            site,
            walk,
            call: *call,
            here,
            concerns,
            chunk,
        })
    }

    /// Whether something goes elsewhere.
    fn goes(&self, res: Res) -> bool {
        match res {
            Res::Module(module) => self.mapping.is_changed(module),
            Res::Item(item) | Res::Variant(item, _) | Res::Member(item, _) => {
                self.mapping.is_changed(self.mapping.world[item].module)
                    || self.set.of(item).is_some()
            }
            Res::External(_) => false,
        }
    }

    fn said(&mut self, item: ItemId, said: &Said, calls: &[ExpandedCall]) {
        let readings = calls.iter().filter_map(|call| self.read(said, call));
        let mut readings: Vec<Reading<'w>> = readings.collect();
        self.note_imports(&readings);
        if !readings.iter().any(|reading| reading.concerns) {
            return;
        }
        let Some(first) = readings.first() else {
            return;
        };
        let mut words = first.site.segments.iter();
        let word = words.next().map(|one| first.facts.name(one.name));
        let absolute = matches!(word, Some("crate" | "$crate"));
        let respelled = self.is_respelled(said, first);
        let breaks = readings
            .iter()
            .any(|one| one.concerns && one.walk.broken.is_some());
        if !respelled && (!breaks || absolute) {
            return self.keep(item, said, &mut readings);
        }
        let Some((end, target)) = common_target(&readings) else {
            return;
        };
        if !respelled {
            self.spell(item, said, &readings, (end, target));
        }
        for reading in &readings {
            self.see(target, &reading.here);
        }
    }

    /// Notes what a path of a body that stays as it is asks for where calls read it.
    fn keep(&mut self, item: ItemId, said: &Said, readings: &mut [Reading<'w>]) {
        let world = self.mapping.world;
        for reading in readings.iter_mut().filter(|reading| reading.concerns) {
            self.made.needs.append(&mut reading.walk.needs);
            for named in &reading.walk.named {
                self.made.users.insert((*named, reading.here.clone()));
            }
            let away = world.module_of(reading.call.space) != world[item].module;
            let left = reading.walk.left.filter(|_| away);
            self.made.left.extend(left.map(|at| (at, reading.call)));
            self.lend(said, reading);
        }
    }

    /// Notes the imports that calls lead through: those of what moves, and those of what stays.
    fn note_imports(&mut self, readings: &[Reading<'_>]) {
        for reading in readings {
            let steps = reading.site.trace.steps.iter();
            let imports = steps.filter_map(|step| step.import);
            match reading.chunk {
                Some(_) => self.made.freed.extend(imports),
                None => self.made.used.extend(imports),
            }
        }
    }

    /// Whether the path itself is spelled anew, whoever calls it.
    fn is_respelled(&self, said: &Said, reading: &Reading<'_>) -> bool {
        let span = span_of(&reading.site, 0, reading.site.segments.len());
        let file = &self.mapping.world[said.file].path;
        let mut edits = self.known.get(file).into_iter().flatten();
        edits.any(|edit| edit.span.start < span.end && span.start < edit.span.end)
    }

    /// Calls that go to another module and write `pub(super)`, or `pub(in …)`: who sees what they make is not followed.
    fn restricted(&mut self, item: ItemId, calls: &[ExpandedCall]) {
        let world = self.mapping.world;
        let moving = calls.iter().filter(|call| self.leaves_parent(call));
        let moving: Vec<&ExpandedCall> = moving.collect();
        if moving.is_empty() || !self.restricts(item) {
            return;
        }
        let name = &world[item].name;
        let told = moving.into_iter().map(|call| Unproven {
            path: world[call.file].path.clone(),
            span: Some(ByteSpan::empty(call.at)),
            kind: UnprovenKind::MacroBuiltPath,
            name: name.clone(),
            why: format!(
                "`{name}!` says `pub(super)` or `pub(in …)`, which is another module where this goes"
            ),
        });
        self.made.unproven.extend(told);
    }

    /// Whether a call has another module around its own after.
    fn leaves_parent(&self, call: &ExpandedCall) -> bool {
        let world = self.mapping.world;
        let module = world.module_of(call.space);
        let before = world[module].parent;
        let before = before.map(|parent| self.mapping.after(parent));
        let chunk = self.chunk(call);
        let here = chunk.map(|chunk| self.set.moving(chunk.moving).to.clone());
        before != here.unwrap_or_else(|| self.mapping.after(module)).parent()
    }

    /// Whether the body of a macro says `pub(super)` or `pub(in …)`.
    fn restricts(&self, item: ItemId) -> bool {
        let world = self.mapping.world;
        let mut definitions = world[item].definitions.iter();
        definitions.any(|(file, at)| {
            let Some(text) = self.mapping.texts.text(&world[*file].path) else {
                return false;
            };
            let tokens = lexer::tokens(&text, world.facts(*file).item(*at).span);
            let words: Vec<&str> = tokens
                .iter()
                .map(|token| token.span.of(&text).unwrap_or_default())
                .collect();
            words
                .windows(3)
                .any(|said| matches!(said, ["pub", "(", "super" | "in"]))
        })
    }

    /// Lends a name to the module that a call goes to.
    fn lend(&mut self, said: &Said, reading: &Reading<'w>) {
        let (Some(chunk), Some(source)) = (reading.chunk, reading.walk.borrowed) else {
            return;
        };
        let (site, facts) = (&reading.site, reading.facts);
        let (Some(first), Some(step)) = (site.segments.first(), site.trace.steps.first()) else {
            return;
        };
        self.made.lent.push(Borrow {
            name: facts.name(first.name).to_owned(),
            source,
            to: reading.here.clone(),
            results: step.all().collect(),
            file: said.file,
            site: said.site,
            span: first.span,
            origin: Origin::MacroBody,
            cfg: chunk.cfg.clone(),
            demand: Demand::Yes,
            lent: true,
        });
    }

    /// Names what a path of a body leads to through `$crate`.
    fn spell(
        &mut self,
        item: ItemId,
        said: &Said,
        readings: &[Reading<'w>],
        (end, target): (usize, Res),
    ) {
        let world = self.mapping.world;
        let Some(first) = readings.first() else {
            return;
        };
        let own = self.mapping.after(world[item].module).krate;
        let (home, name) = self.after(target);
        let path = matches!(said.site, UseSite::Path(_));
        let imported = readings.iter().any(|reading| {
            let steps = reading.site.trace.steps.iter().take(end + 1);
            steps.into_iter().any(|step| step.import.is_some())
        });
        let inside = readings.iter().all(|reading| reading.here.krate == own);
        if !path || imported || !inside || home.krate != own {
            return;
        }
        let mut path = vec!["$crate".to_owned()];
        path.extend(home.path.iter().cloned());
        path.extend(name);
        self.say((said.file, span_of(&first.site, 0, end + 1)), target, &path);
    }

    /// Spells a path of a body as one through `$crate`, and tells it.
    fn say(&mut self, (file, span): (FileId, ByteSpan), target: Res, path: &[String]) {
        let world = self.mapping.world;
        let file = world[file].path.clone();
        self.made.rewrites.push(Rewrite {
            path: file.clone(),
            span,
            form: Form::Macro,
            evidence: Evidence::Resolved,
            from: world.name_of(&world.target(target)),
            to: path.join("::"),
            reason: "the body of a macro says it for those who call it".to_owned(),
            safety: Safety::NeedsReview,
        });
        let edits = self.made.edits.entry(file).or_default();
        let edit = Edit::replace(span, spelled(path));
        if !edits.contains(&edit) {
            edits.push(edit);
        }
    }

    /// Where a module or an item is after: its module, and the name of the item there.
    fn after(&self, target: Res) -> (Place, Option<String>) {
        match target {
            Res::Module(module) => (self.mapping.after(module), None),
            Res::Item(item) | Res::Variant(item, _) | Res::Member(item, _) => {
                let node = &self.mapping.world[item];
                let moving = self.set.of(item).map(|at| self.set.moving(at));
                match moving {
                    Some(moving) => (moving.named_at.clone(), Some(moving.name.clone())),
                    None => (self.mapping.after(node.module), Some(node.name.clone())),
                }
            }
            Res::External(_) => unreachable!("invariant: only modules and items are targets"),
        }
    }

    /// A caller has to see what a body names, and the way there.
    fn see(&mut self, target: Res, here: &Place) {
        let world = self.mapping.world;
        let speller = Speller {
            mapping: self.mapping,
        };
        let (home, _) = self.after(target);
        speller.chain(&home, here, &mut self.made.needs);
        let Res::Item(item) = target else { return };
        if let Some(at) = self.set.of(item) {
            self.made.users.insert((at, here.clone()));
            return;
        }
        let node = &world[item];
        // Macros that stay are seen by where they stand.
        let reach = world
            .definition_reach(item)
            .filter(|_| node.kind != ItemKind::Macro);
        let seen = |reach: Reach| speller.sees(here, reach, node.module);
        if reach.is_some_and(|reach| !seen(reach)) {
            let need = Need::new(NeededThing::Item(item), here.clone());
            self.made.needs.push(need);
        }
    }
}

/// The last module or item that a path leads through, where that is the same for all calls, and the number of its
/// step.
fn common_target(readings: &[Reading<'_>]) -> Option<(usize, Res)> {
    let of = |reading: &Reading<'_>| {
        let steps = reading.site.trace.steps.iter().enumerate();
        let mut known = steps.filter_map(|(at, step)| {
            let mut all = step.all().map(|(res, _)| res);
            let res = all.find(|res| matches!(res, Res::Module(_) | Res::Item(_)))?;
            Some((at, res))
        });
        known.next_back()
    };
    let mut all = readings.iter().map(of);
    let first = all.next()??;
    all.all(|one| one == Some(first)).then_some(first)
}
