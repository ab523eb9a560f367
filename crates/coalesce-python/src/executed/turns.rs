//! The order in which modules put something into one place when they are imported.
//!
//! `from pkg import a, b, c` runs three modules, one after the other, and each of them may put itself into a list. Where `b`
//! goes elsewhere the list of names is split, and where an item goes to another module it is made when that has its turn.
//! What is put into a table by its key counts where somebody goes through the table.

mod classes;
mod places;

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Change, ImportTarget, Unproven, UnprovenKind, change::Renames};
use rustc_hash::FxHashSet;

use self::places::FilledPlaces;
use super::{Effects, Imports, ModuleSet, forwarded_to, moved_items};
use crate::graph::PythonGraph;

/// What a module puts somewhere when it is executed.
#[derive(Clone, Debug)]
struct Deposit {
    /// The place, by its name after the changes.
    place: String,
    /// What is put there, by a name that it has before and after.
    what: String,
    module: usize,
    span: ByteSpan,
}

/// Tells what comes to be put into a place before something that it was put there after.
pub(super) fn changed(
    (before, after): (&PythonGraph, &PythonGraph),
    changes: &[Change],
    (old, new): (&Imports, &Imports),
    now: &[Option<usize>],
    effects: &Effects<'_>,
) -> Vec<Unproven> {
    let moved: Vec<usize> = reordered((before, after), now)
        .chain(moved_items(before, after, changes).map(|moved| moved.home))
        .collect();
    if moved.is_empty() {
        return Vec::new();
    }
    let (renames, none) = (Renames::new(changes, "."), Renames::new(&[], "."));
    let mut known = FilledPlaces::new(before, effects.texts, &renames);
    let was = Turns::new(before, old, &renames, &mut |module, chain: &[String]| {
        known.of(module, chain, effects.resolve(module, chain))
    });
    if was.are_alone() {
        return Vec::new();
    }
    let later = Effects::new(after, effects.texts);
    let is = Turns::new(after, new, &none, &mut |module, chain: &[String]| {
        known.known(after, (module, chain), &later.resolve(module, chain))
    });
    let mut places = BTreeSet::new();
    let mut unproven = Vec::new();
    for root in old.leading_to(&moved) {
        let Some(root_now) = now.get(root).copied().flatten() else {
            continue;
        };
        for (earlier, later) in swapped(&was.of(root), &is.of(root_now)) {
            if places.insert(earlier.place.clone()) {
                unproven.extend(out_of_turn(before, root, (&earlier, &later)));
            }
        }
    }
    unproven
}

/// The modules whose imports are not what they were.
fn reordered<'g>(
    (before, after): (&'g PythonGraph, &'g PythonGraph),
    now: &'g [Option<usize>],
) -> impl Iterator<Item = usize> {
    (0..before.modules.len()).filter(move |module| {
        let (old, new) = (
            before.facts.get(*module),
            now.get(*module)
                .copied()
                .flatten()
                .and_then(|now| after.facts.get(now)),
        );
        old.zip(new)
            .is_some_and(|(old, new)| old.imports != new.imports)
    })
}

/// Of each place the first two things that are there in another order.
fn swapped(was: &[Deposit], is: &[Deposit]) -> Vec<(Deposit, Deposit)> {
    let (was, is) = (by_place(was), by_place(is));
    let pairs = was.into_iter().filter_map(|(place, was)| {
        let is = is.get(place)?;
        let both = |one: &&&Deposit, others: &[&Deposit]| {
            others.iter().any(|other| other.what == one.what)
        };
        let mut first = was.iter().filter(|one| both(one, is));
        let mut second = is.iter().filter(|one| both(one, &was));
        first
            .by_ref()
            .zip(second.by_ref())
            .find(|(one, other)| one.what != other.what)
            .map(|(one, other)| {
                let before = was.iter().find(|each| each.what == other.what);
                ((**one).clone(), (**before.unwrap_or(other)).clone())
            })
    });
    pairs.collect()
}

/// What is put into each place, each thing once.
fn by_place(deposits: &[Deposit]) -> BTreeMap<&str, Vec<&Deposit>> {
    let mut found: BTreeMap<&str, Vec<&Deposit>> = BTreeMap::new();
    let mut known = FxHashSet::default();
    for one in deposits {
        if known.insert((&one.place, &one.what)) {
            found.entry(&one.place).or_default().push(one);
        }
    }
    found
}

fn out_of_turn(
    before: &PythonGraph,
    root: usize,
    (earlier, later): (&Deposit, &Deposit),
) -> Option<Unproven> {
    let module = before.modules.get(earlier.module)?;
    let root = &before.modules.get(root)?.name;
    let other = &before.modules.get(later.module)?.name;
    Some(Unproven {
        path: module.path.clone(),
        span: Some(earlier.span),
        kind: UnprovenKind::NotExecuted,
        name: module.name.clone(),
        why: format!(
            "importing `{root}` ran this before what `{other}` does with `{}`, and runs it after that: they come in another \
             order",
            earlier.place
        ),
    })
}

/// The place, by its name after the changes, into which a chain of a module puts something.
type PlaceOf<'a> = &'a mut dyn FnMut(usize, &[String]) -> Option<String>;

/// One step of executing a module.
enum ImportStep {
    Run(usize),
    Put(Deposit),
}

/// What the modules of a graph do in which order.
struct Turns<'g> {
    imports: &'g Imports,
    steps: Vec<Vec<ImportStep>>,
}

impl<'g> Turns<'g> {
    fn new(
        graph: &PythonGraph,
        imports: &'g Imports,
        renames: &Renames<'_>,
        place: PlaceOf<'_>,
    ) -> Self {
        let all = runs(graph).into_iter().enumerate();
        let steps = all.map(|(module, mut steps)| {
            steps.extend(deposits(graph, module, renames, &mut *place));
            steps.sort_by_key(|(at, _)| *at);
            steps.into_iter().map(|(_, step)| step).collect()
        });
        Self {
            imports,
            steps: steps.collect(),
        }
    }

    /// Whether nothing is put where something else is put.
    fn are_alone(&self) -> bool {
        let mut places = FxHashSet::default();
        let puts = self.steps.iter().flatten();
        let mut puts = puts.filter_map(|step| match step {
            ImportStep::Put(deposit) => Some(deposit.place.as_str()),
            ImportStep::Run(_) => None,
        });
        puts.all(|place| places.insert(place))
    }

    /// What is put somewhere by importing a module, in order: the packages around it run first.
    fn of(&self, root: usize) -> Vec<Deposit> {
        let mut seen = ModuleSet::none(self.steps.len());
        let mut found = Vec::new();
        let mut open = self.entered(root, &mut seen);
        while let Some((module, step)) = open.pop() {
            let Some(next) = self.steps.get(module).and_then(|steps| steps.get(step)) else {
                continue;
            };
            open.push((module, step + 1));
            match next {
                ImportStep::Put(deposit) => found.push(deposit.clone()),
                ImportStep::Run(target) => open.extend(self.entered(*target, &mut seen)),
            }
        }
        found
    }

    /// A module and the packages around it that have not run, the first to run last.
    fn entered(&self, module: usize, seen: &mut ModuleSet) -> Vec<(usize, usize)> {
        let above = |module: &usize| self.imports.around.get(*module).copied().flatten();
        let around: Vec<usize> = std::iter::successors(Some(module), above).collect();
        let new = around.into_iter().filter(|module| seen.add(*module));
        new.map(|module| (module, 0)).collect()
    }
}

/// The modules that each runs, with where it does.
fn runs(graph: &PythonGraph) -> Vec<Vec<(u32, ImportStep)>> {
    let mut steps: Vec<Vec<(u32, ImportStep)>> = Vec::new();
    steps.resize_with(graph.modules.len(), Vec::new);
    for import in graph.imports.iter().filter(|import| import.eager) {
        if let (ImportTarget::Module(target), Some(list)) =
            (&import.target, steps.get_mut(import.importer))
        {
            list.push((import.span.start, ImportStep::Run(*target)));
        }
    }
    for (module, list) in steps.iter_mut().enumerate() {
        let shimmed = forwarded_to(graph, module);
        list.extend(shimmed.map(|target| (u32::MAX, ImportStep::Run(target))));
    }
    steps
}

/// What a module puts somewhere, with where it does.
fn deposits(
    graph: &PythonGraph,
    module: usize,
    renames: &Renames<'_>,
    place: PlaceOf<'_>,
) -> Vec<(u32, ImportStep)> {
    let (Some(facts), Some(own)) = (graph.facts.get(module), graph.modules.get(module)) else {
        return Vec::new();
    };
    let puts = facts.effects.iter().filter_map(|effect| {
        let place = place(module, &effect.chain)?;
        let what = match &effect.item {
            Some(item) => renames.name_after(&format!("{}.{item}", own.name)),
            None => format!(
                "{} {}",
                renames.name_after(&own.name),
                effect.chain.join(".")
            ),
        };
        let deposit = Deposit {
            place,
            what,
            module,
            span: effect.span,
        };
        Some((effect.span.start, ImportStep::Put(deposit)))
    });
    let mut found: Vec<(u32, ImportStep)> = puts.collect();
    let classes = facts.flow.bodies.iter().filter(|body| body.class);
    for class in classes {
        let Some((at, hooks)) = classes::hooks_of(graph, module, class) else {
            continue;
        };
        let name = format!("{}.{}", own.name, facts.flow.text(class.name));
        let what = renames.name_after(&name);
        let places = hooks.iter().filter_map(|(home, chain)| place(*home, chain));
        found.extend(places.map(|place| {
            let (what, span) = (what.clone(), ByteSpan::empty(at));
            let put = Deposit {
                place,
                what,
                module,
                span,
            };
            (at, ImportStep::Put(put))
        }));
    }
    found
}
