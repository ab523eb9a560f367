//! The order in which the changes of a migration are worked out: what leaves modules that give way,
//! then modules, then other items, then what is removed; each in the tree that those before leave.
//!
//! Every stage is told as one change of the tree as it is (`between`).

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{
    ByteSpan, Change, ChangeKind, Finding, LanguagePlan, Subject, Texts, TreePath, change::Renames,
};

use super::{
    between::Between, blocks, cargo, fits, functions, items::moving::is_bound_public,
    mapping::Mapping, merge, removal, shims::Forward, short_paths, spent_imports, stage,
};
use crate::{
    RustGraph,
    facts::ItemKind,
    regressions::{Tree, may_be_on},
    resolve::MOST_MODULES,
};

/// No module of which nothing stays, and no name that its shim keeps.
const NONE: (&[String], &[Forward]) = (&[], &[]);

/// Works the changes out.
pub(super) fn rewrite(graph: &RustGraph, changes: &[Change], texts: &dyn Texts) -> LanguagePlan {
    if let Some(refusal) = too_many(graph.world.modules.len()) {
        return LanguagePlan {
            refusals: vec![refusal],
            ..LanguagePlan::default()
        };
    }
    if let Some(plan) = functions::rewrite(graph, changes, texts) {
        return plan;
    }
    let sorted = Sorted::new(changes);
    let mut run = Run {
        graph,
        texts,
        plan: None,
    };
    sorted.work(&mut run);
    let mut plan = run.plan.unwrap_or_default();
    let whole = fits::check_whole(&graph.world, changes, texts);
    let told: BTreeSet<(TreePath, ByteSpan)> = plan
        .refusals
        .iter()
        .filter_map(|finding| Some((finding.path.clone(), finding.span?)))
        .collect();
    // A stage says more exactly what does not fit at a place.
    let is_told = |finding: &Finding| {
        let span = finding.span.filter(|_| !told.is_empty());
        span.is_some_and(|span| told.contains(&(finding.path.clone(), span)))
    };
    let more = whole.refusals.into_iter();
    plan.refusals
        .extend(more.filter(|finding| !is_told(finding)));
    plan.unproven.extend(whole.unproven);
    plan.notes.extend(whole.notes);
    if plan.refusals.is_empty() {
        let mapping = Mapping::new(&graph.world, changes, texts);
        cargo::tell_unneeded(&mapping, &mut plan);
    }
    plan
}

/// The refusal to plan for a tree of so many modules.
fn too_many(modules: usize) -> Option<Finding> {
    (modules > MOST_MODULES).then(|| {
        let message =
            format!("the tree has {modules} Rust modules; plans are made for up to {MOST_MODULES}");
        Finding::refusal(TreePath::root(), message)
    })
}

/// The changes, by the stage that they belong to.
struct Sorted {
    /// Modules that give way and whose items go to the module in their place.
    merges: Vec<Change>,
    /// What is said of items of those, and items that take the place of others.
    leaving: Vec<Change>,
    /// Items that get another name in a module which moves, as changes in that module.
    renamed: Vec<Change>,
    modules: Vec<Change>,
    items: Vec<Change>,
    /// Single `impl` blocks.
    blocks: Vec<Change>,
    removals: Vec<Change>,
}

impl Sorted {
    fn new(changes: &[Change]) -> Self {
        let merges = merge::merges(changes);
        let mut sorted = Self {
            merges,
            leaving: Vec::new(),
            renamed: Vec::new(),
            modules: Vec::new(),
            items: Vec::new(),
            blocks: Vec::new(),
            removals: Vec::new(),
        };
        let moves = changes
            .iter()
            .filter(|one| one.subject == Subject::Module && one.kind == ChangeKind::Move);
        let moves: BTreeMap<(&str, &str), &Change> =
            moves.map(|one| ((&*one.from, &*one.to), one)).collect();
        for change in changes {
            if let Some(there) = renamed_with_its_module(&moves, change) {
                sorted.renamed.push(there);
                continue;
            }
            let list = match (change.subject, &change.kind) {
                (_, ChangeKind::Remove) => &mut sorted.removals,
                (Subject::Item, _) if blocks::is_block(&change.from) => &mut sorted.blocks,
                (Subject::Module, _) => &mut sorted.modules,
                (Subject::Item, ChangeKind::Supersede) => &mut sorted.leaving,
                (Subject::Item, _) if merge::home_of(&sorted.merges, change).is_some() => {
                    &mut sorted.leaving
                }
                (Subject::Item, _) => &mut sorted.items,
            };
            list.push(change.clone());
        }
        sorted
    }

    fn work(&self, run: &mut Run<'_>) {
        let mut forwards = Vec::new();
        if !self.leaving.is_empty() || !self.merges.is_empty() {
            let survey = merge::survey(
                run.graph,
                (&self.merges, &self.leaving),
                &self.modules,
                run.texts,
            );
            forwards = survey.forwards;
            let homes = survey.homes;
            let items = survey.items;
            if !run.stage(|_, _| survey.clearing)
                || !run.stage(|graph, texts| stage::rewrite(graph, &items, (&homes, &[]), texts))
            {
                return;
            }
        }
        if !self.renamed.is_empty() {
            forwards.extend(renames(run.graph, &self.renamed, &self.modules));
            if !run.stage(|graph, texts| stage::rewrite(graph, &self.renamed, NONE, texts)) {
                return;
            }
        }
        if !self.modules.is_empty()
            && !run
                .stage(|graph, texts| stage::rewrite(graph, &self.modules, (&[], &forwards), texts))
        {
            return;
        }
        let items = self.after(&self.items);
        if !items.is_empty()
            && !run.stage(|graph, texts| stage::rewrite(graph, &items, NONE, texts))
        {
            return;
        }
        if !self.blocks(run) {
            return;
        }
        let removals = self.after(&self.removals);
        if !removals.is_empty()
            && !run.stage(|graph, texts| removal::rewrite(graph, &removals, texts))
        {
            return;
        }
        if !self.items.is_empty() || !self.leaving.is_empty() {
            run.drop_idle_imports();
        }
        run.shorten_paths();
    }

    /// Moves single blocks, by types that stand above them meanwhile; whether the next stage may follow.
    fn blocks(&self, run: &mut Run<'_>) -> bool {
        let blocks = self.after(&self.blocks);
        if blocks.is_empty() {
            return true;
        }
        let moves = blocks::changes(&blocks);
        let done = run.stage(|graph, texts| blocks::mark(graph, &blocks, texts))
            && run.stage(|graph, texts| stage::rewrite(graph, &moves, NONE, texts));
        if let Some(plan) = &mut run.plan {
            blocks::unmark(&blocks, plan);
        }
        done
    }

    /// Changes as the tree names them once the modules have moved.
    fn after(&self, changes: &[Change]) -> Vec<Change> {
        let renames = Renames::new(&self.modules, "::");
        let after = |change: &Change| Change {
            from: renames.name_after(&change.from),
            ..change.clone()
        };
        changes.iter().map(after).collect()
    }
}

/// The change of an item that goes nowhere but where its module goes, as one in the module before that does: then
/// the shim of the module has the old name.
fn renamed_with_its_module(
    moves: &BTreeMap<(&str, &str), &Change>,
    change: &Change,
) -> Option<Change> {
    let (module, name) = change.from.rsplit_once("::")?;
    let (place, new) = change.to.rsplit_once("::")?;
    let here = change.subject == Subject::Item && change.kind == ChangeKind::Move && name != new;
    let goes = moves.get(&(module, place))?;
    here.then(|| Change {
        to: format!("{module}::{new}"),
        shim: change.shim.clone().filter(|_| goes.shim.is_none()),
        ..change.clone()
    })
}

/// What the shims of modules keep for items that get another name with them.
fn renames(graph: &RustGraph, renamed: &[Change], modules: &[Change]) -> Vec<Forward> {
    let world = &graph.world;
    let one = |change: &Change| {
        let (home, old) = change.from.rsplit_once("::")?;
        let (_, new) = change.to.rsplit_once("::")?;
        let module = world.modules_named(home).first().copied()?;
        let mut items = world.items_of(module, old).into_iter();
        let public = items.any(|item| is_bound_public(world, module, item));
        let to = modules.iter().find(|other| other.from == home)?.to.clone();
        public.then(|| Forward {
            home: home.to_owned(),
            old: old.to_owned(),
            to,
            new: new.to_owned(),
        })
    };
    renamed.iter().filter_map(one).collect()
}

/// What was worked out so far.
struct Run<'a> {
    graph: &'a RustGraph,
    texts: &'a dyn Texts,
    plan: Option<LanguagePlan>,
}

impl Run<'_> {
    /// Makes paths short where a lint asks for that.
    fn shorten_paths(&mut self) {
        let before = Tree {
            world: &self.graph.world,
            texts: self.texts,
        };
        if self.plan.is_some() && may_be_on(before) {
            self.stage(|graph, texts| short_paths::shorten(before, graph, texts));
        }
    }

    /// Takes private globs out that what left went through, and nothing else, and new imports of macros that are seen
    /// without.
    fn drop_idle_imports(&mut self) {
        let before = Tree {
            world: &self.graph.world,
            texts: self.texts,
        };
        let has_globs = |path: &TreePath| {
            let text = self.texts.text(path);
            text.is_some_and(|text| text.contains("::*"))
        };
        let mut edited = self.plan.iter().flat_map(|plan| plan.edits.keys());
        if edited.any(has_globs) || self.imports_macros() {
            self.stage(|graph, texts| spent_imports::take_out(before, graph, texts));
        }
    }

    /// Whether an edit writes an import that may be one of a macro of the tree.
    fn imports_macros(&self) -> bool {
        let edits = self.plan.iter().flat_map(|plan| plan.edits.values());
        let texts = edits.flatten().map(|edit| edit.text.as_str());
        let imports = texts.filter(|text| text.contains("use "));
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
        let words = imports.flat_map(|text| text.split(move |letter| !is_part(letter)));
        let words: BTreeSet<&str> = words.collect();
        let mut items = self.graph.world.items.iter();
        !words.is_empty()
            && items.any(|item| item.kind == ItemKind::Macro && words.contains(item.name.as_str()))
    }

    /// Works one stage out in the tree that those before it leave; whether the next one may follow.
    fn stage(&mut self, work: impl FnOnce(&RustGraph, &dyn Texts) -> LanguagePlan) -> bool {
        let plan = match self.plan.take() {
            None => work(self.graph, self.texts),
            Some(first) => match Between::new(self.texts, &first) {
                Ok(between) => {
                    let after = between.graph(&self.graph.world);
                    let second = work(&after, between.tree());
                    between.joined(first, second)
                }
                Err(finding) => LanguagePlan {
                    refusals: vec![finding],
                    ..first
                },
            },
        };
        let goes_on = plan.refusals.is_empty();
        self.plan = Some(plan);
        goes_on
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_MODULES, too_many};

    #[test]
    fn a_tree_of_too_many_modules_is_not_planned() {
        assert_eq!(too_many(MOST_MODULES), None);
        let refusal = too_many(MOST_MODULES + 1).unwrap();
        assert!(
            refusal.message.contains("250001 Rust modules"),
            "{}",
            refusal.message
        );
    }
}
