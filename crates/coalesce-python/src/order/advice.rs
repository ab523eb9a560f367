//! What would help against a read that comes too early: one import that can wait until its names are
//! used. It is tried before it is told.

use std::collections::BTreeSet;

use super::{
    Failure, played,
    program::{Program, Statement},
    regressions,
};
use crate::{
    facts::ImportStatement,
    flow::{Calls, Event, Flow, What},
    graph::PythonGraph,
};

/// An import that nothing needs at once, and without which everything can be imported as before.
pub fn advice(
    after: &PythonGraph,
    touched: &[bool],
    (branches, known): (bool, &BTreeSet<Failure>),
    (first, reader, target, name, certain): &Failure,
) -> Option<String> {
    let named = |name: &str| after.modules.iter().position(|module| module.name == name);
    let (first, reader) = (named(first).filter(|_| *certain)?, named(reader)?);
    let mut program = Program::new(after, touched, branches);
    let mut state = program.fresh();
    state.trail = Some(Vec::new());
    program.execute(program.top(first), &mut state, 0);
    program.execute(first, &mut state, 0);
    let full = format!("{target}.{name}");
    let (_, trail) = state.trails.into_iter().find(|((by, of, item, _), _)| {
        let of = after.modules.get(*of);
        *by == reader && of.is_some_and(|of| format!("{}.{item}", of.name) == full)
    })?;
    // The nearest one first: it is where the name is used.
    trail.into_iter().rev().find_map(|statement| {
        let names = waits(after, statement)?;
        program.without = Some(statement);
        let failing = played(&program, after, &str::to_owned);
        let helps = regressions(&failing, known).next().is_none();
        let module = after.modules.get(statement.0).filter(|_| helps)?;
        Some(format!(
            "in `{}`, import {} inside of the functions that use it",
            module.name,
            names
                .iter()
                .map(|name| format!("`{name}`"))
                .collect::<Vec<_>>()
                .join(", "),
        ))
    })
}

/// The names of a statement that only functions of its module use, which nothing calls at once.
fn waits(graph: &PythonGraph, (module, statement): Statement) -> Option<Vec<String>> {
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

/// Whether names are used, and by nothing but functions that the module does not call itself.
fn only_called_later(flow: &Flow, names: &[String]) -> bool {
    let root = |event: &Event| match &event.what {
        What::Use { chain, .. } => chain.first().map(|root| flow.text(*root)),
        What::Import(_) | What::Own(_) => None,
    };
    let named =
        |event: &Event| root(event).is_some_and(|name| names.iter().any(|other| other == name));
    let is_call = |event: &&Event| {
        matches!(
            event.what,
            What::Use {
                called: Calls::Yes,
                ..
            }
        )
    };
    let called: Vec<&str> = flow
        .module
        .iter()
        .filter(is_call)
        .filter_map(root)
        .collect();
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
