//! What is called where a class is made: `__init_subclass__` of the classes above it, or its metaclass. They may put it
//! somewhere, as a decorator does.

use crate::{
    flow::{Body, Calls, Flow, What},
    graph::{Entity, PythonGraph},
};

/// Longer chains of base classes are not followed.
const MAXIMUM_BASES: usize = 20;

/// Classes that make classes; what is made of them does, too.
const METACLASSES: [&str; 4] = ["type", "ABCMeta", "EnumMeta", "EnumType"];

/// A method as a module leads to it.
pub(super) type Hook = (usize, Vec<String>);

/// The place of the first base of a class, and what is called where the class is made.
pub(super) fn hooks_of(
    graph: &PythonGraph,
    module: usize,
    class: &Body,
) -> Option<(u32, Vec<Hook>)> {
    let flow = &graph.facts.get(module)?.flow;
    let at = bases_of(flow, class).next()?.0;
    let hooks = hooks_above(graph, module, class, 0);
    (!hooks.is_empty()).then_some((at, hooks))
}

fn hooks_above(graph: &PythonGraph, module: usize, class: &Body, depth: usize) -> Vec<Hook> {
    let mut found = Vec::new();
    let Some(facts) = graph.facts.get(module).filter(|_| depth < MAXIMUM_BASES) else {
        return found;
    };
    for (_, chain) in bases_of(&facts.flow, class) {
        let Entity::Item(home, item) = graph.follow(module, None, chain.iter().copied()).end else {
            continue;
        };
        let Some(above) = graph.facts.get(home).map(|facts| &facts.flow) else {
            continue;
        };
        let mut bodies = above.bodies.iter();
        let Some(base) = bodies.find(|body| body.class && above.text(body.name) == item) else {
            continue;
        };
        let methods = methods_of(above, base).iter();
        found.extend(methods.map(|method| {
            let names = chain.iter().chain(std::iter::once(method));
            (module, names.map(|name| (*name).to_owned()).collect())
        }));
        found.extend(hooks_above(graph, home, base, depth + 1));
    }
    found
}

/// The methods of a class that are called where one below it is made, or one that it makes.
fn methods_of(flow: &Flow, class: &Body) -> &'static [&'static str] {
    let makes =
        |(_, chain): (u32, Vec<&str>)| chain.last().is_some_and(|last| METACLASSES.contains(last));
    match (class.hooks, bases_of(flow, class).any(makes)) {
        (false, _) => &[],
        (true, true) => &["__init__", "__new__"],
        (true, false) => &["__init_subclass__"],
    }
}

/// What stands among the bases of a class, with its place.
fn bases_of<'f>(flow: &'f Flow, class: &'f Body) -> impl Iterator<Item = (u32, Vec<&'f str>)> {
    class.events.iter().filter_map(|event| match &event.what {
        What::Use {
            chain,
            called: Calls::Base,
            ..
        } => Some((
            event.at,
            chain.iter().map(|name| flow.text(*name)).collect(),
        )),
        _ => None,
    })
}
