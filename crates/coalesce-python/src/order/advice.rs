//! What would help against a read that comes too early: one import that can wait until its names are
//! used. It is tried before it is told.

use super::{
    Failure, KnownFailures,
    later::can_wait,
    played,
    program::{Program, Read, State, Statement},
    regressions,
};
use coalesce_model::Texts;

use crate::{
    facts::ImportStatement,
    flow::{Calls, Event, Flow, What},
    graph::{Entity, PythonGraph},
};

/// How many imports are tried for all failures together. A change may break thousands of reads at once,
/// which one import mends or none: advice is for people, and must not cost more than the plan.
const MAXIMUM_TRIALS: usize = 32;

/// How many of them on the whole tree: those that help the failures of a sample.
const MAXIMUM_WHOLE_TRIALS: usize = 4;

/// How many failures are such a sample, drawn from all over them.
const SAMPLE: usize = 16;

/// Tries what would help.
pub struct Adviser<'g> {
    after: &'g PythonGraph,
    texts: &'g dyn Texts,
    program: Program<'g>,
    /// What failed before the changes, too.
    known: &'g KnownFailures,
    /// What fails since them.
    new: &'g [&'g Failure],
    trials: usize,
    whole_trials: usize,
}

impl<'g> Adviser<'g> {
    pub fn new(
        (after, texts): (&'g PythonGraph, &'g dyn Texts),
        touched: &'g [bool],
        branches: bool,
        (known, new): (&'g KnownFailures, &'g [&'g Failure]),
    ) -> Self {
        Self {
            after,
            texts,
            program: Program::new(after, touched, branches),
            known,
            new,
            trials: 0,
            whole_trials: 0,
        }
    }

    /// An import that nothing needs at once, and without which everything can be imported as before.
    pub fn advice(&mut self, failure: &Failure) -> Option<String> {
        if !failure.certain || self.is_spent() {
            return None;
        }
        let state = play(&self.program, self.after, failure, Some(Vec::new()))?;
        let mut trails = state.trails.into_iter();
        let (_, trail) = trails.find(|(read, _)| is_read_of(self.after, read, failure))?;
        // The nearest one first: it is where the name is used.
        let mut trail = trail.into_iter().rev();
        trail.find_map(|statement| self.try_without(statement))
    }

    fn is_spent(&self) -> bool {
        self.trials >= MAXIMUM_TRIALS || self.whole_trials >= MAXIMUM_WHOLE_TRIALS
    }

    fn sample(&self) -> impl Iterator<Item = &'g Failure> {
        let step = self.new.len().div_ceil(SAMPLE).max(1);
        self.new.iter().step_by(step).copied()
    }

    /// Whether what fails by itself still does: one import, where a trial is all of them.
    fn still_fails(&self, failure: &Failure) -> bool {
        let state = play(&self.program, self.after, failure, None);
        state.is_some_and(|state| {
            state
                .failed
                .iter()
                .any(|read| is_read_of(self.after, read, failure))
        })
    }

    /// The advice to let one import wait, when that helps.
    fn try_without(&mut self, statement: Statement) -> Option<String> {
        let names = waits(self.after, statement)?;
        if self.is_spent() || !can_wait(self.after, self.texts, statement) {
            return None;
        }
        self.trials += 1;
        self.program.without = vec![statement];
        let helps = !self.sample().any(|failure| self.still_fails(failure)) && {
            self.whole_trials += 1;
            let failing = played(&self.program, self.after, &str::to_owned);
            regressions(&failing, self.known).next().is_none()
        };
        self.program.without.clear();
        let module = self.after.modules.get(statement.0).filter(|_| helps)?;
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        Some(format!(
            "in `{}`, import {} inside of the functions that use it",
            module.name,
            names.join(", "),
        ))
    }
}

/// Plays the import of the module that a failure begins with.
pub(super) fn play(
    program: &Program<'_>,
    graph: &PythonGraph,
    failure: &Failure,
    trail: Option<Vec<Statement>>,
) -> Option<State> {
    let mut modules = graph.modules.iter();
    let first = modules.position(|module| module.name == failure.first)?;
    let mut state = program.fresh();
    state.trail = trail;
    program.execute(program.top(first), &mut state, 0);
    program.execute(first, &mut state, 0);
    Some(state)
}

/// Whether a failed read is the one of a failure.
pub(super) fn is_read_of(graph: &PythonGraph, read: &Read, failure: &Failure) -> bool {
    let module = |index: usize| graph.modules.get(index);
    let full = |module: &str, name: &str| format!("{module}.{name}");
    module(read.reader).is_some_and(|by| by.name == failure.reader)
        && module(read.target)
            .is_some_and(|of| full(&of.name, &read.name) == full(&failure.target, &failure.name))
}

/// The names of a statement that only functions of its module use, which nothing calls at once.
pub(super) fn waits(graph: &PythonGraph, (module, statement): Statement) -> Option<Vec<String>> {
    let facts = graph.facts.get(module)?;
    let import: &ImportStatement = facts.imports.get(statement as usize)?;
    let own = graph.modules.get(module).filter(|own| !own.package)?;
    let names: Vec<String> = import
        .leaves
        .iter()
        .map(|leaf| leaf.bound().to_owned())
        .collect();
    let passed_on = graph.imports.iter().any(|other| {
        let item = other
            .name
            .strip_prefix(own.name.as_str())
            .and_then(|rest| rest.strip_prefix('.'));
        item.is_some_and(|item| names.iter().any(|name| name == item))
    });
    let listed = facts
        .all
        .iter()
        .flatten()
        .any(|entry| names.contains(&entry.text));
    let star = names.iter().any(|name| name == "*");
    let waits = import.top_level && import.eager && !passed_on && !listed && !star;
    (waits && only_called_later(&facts.flow, &names)).then_some(names)
}

/// Whether a module takes definitions of another one for others alone: it uses none of the names itself, and none is that of
/// a module below it, which would take its place.
pub(super) fn offers(graph: &PythonGraph, (module, statement): Statement) -> bool {
    let Some(facts) = graph.facts.get(module) else {
        return false;
    };
    let Some(import) = facts.imports.get(statement as usize) else {
        return false;
    };
    let flow = &facts.flow;
    let binds = |root: &str| import.leaves.iter().any(|leaf| leaf.bound() == root);
    let is_used = |event: &Event| root_of(flow, event).is_some_and(binds);
    import.top_level
        && import.eager
        && !flow.events().any(is_used)
        && import.leaves.iter().all(|leaf| {
            matches!(graph.leaf_entity(module, import, leaf), Entity::Item(..))
                && graph.submodule(module, leaf.bound()).is_none()
                && !graph.may_be_brought_by_star(module, leaf.bound())
        })
}

/// The name that a use begins with.
fn root_of<'f>(flow: &'f Flow, event: &Event) -> Option<&'f str> {
    match &event.what {
        What::Use { chain, .. } => chain.first().map(|root| flow.text(*root)),
        What::Import(_) | What::Own(_) => None,
    }
}

fn is_call(event: &Event) -> bool {
    matches!(
        event.what,
        What::Use {
            called: Calls::Yes,
            ..
        }
    )
}

/// Whether names are used, and by nothing but functions that the module does not call itself.
fn only_called_later(flow: &Flow, names: &[String]) -> bool {
    let root = |event: &Event| root_of(flow, event);
    let named =
        |event: &Event| root(event).is_some_and(|name| names.iter().any(|other| other == name));
    let calls = flow.module.iter().filter(|event| is_call(event));
    let called: Vec<&str> = calls.filter_map(root).collect();
    let mut users = flow
        .bodies
        .iter()
        .filter(|body| body.events.iter().any(named))
        .map(|body| flow.text(body.name))
        .peekable();
    users.peek().is_some()
        && !flow.module.iter().any(named)
        && users.all(|user| !called.contains(&user))
}
