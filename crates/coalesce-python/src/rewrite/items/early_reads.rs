//! Where a module reads what arrives in it while it is executed: that has to stand above.

use super::{
    header::Header,
    place::{Block, Target},
    source,
};
use crate::{graph::Entity, names::Names, rewrite::mapping::Mapping};

/// Where the target first reads one of the items when it is executed.
pub(super) fn first_read(
    mapping: &Mapping<'_>,
    target: &Target,
    blocks: &[&Block],
    header: &Header,
) -> Option<u32> {
    let names: Vec<&str> = blocks
        .iter()
        .filter_map(|block| Some(mapping.items.list.get(block.index)?.name.as_str()))
        .collect();
    let analysis = &target.analysis;
    let reads = analysis.uses.iter().filter_map(|used| {
        let root = used.chain.first()?;
        let own = analysis.binding_scope(used.scope, &root.text) == Some(used.scope);
        let counts = used.eager && names.contains(&root.text.as_str()) && (!own || used.scope == 0);
        counts.then_some(root.span.start)
    });
    // A function of the target that is called at once may use them.
    let called = source::early(analysis, &target.outline);
    let called = names.iter().any(|name| called.contains(*name));
    let first = target.outline.statements.iter().map(|each| each.span.start);
    let first = first.filter(|at| called && *at >= header.at).min();
    let through = reads_through_modules(mapping, target, blocks);
    reads.chain(first).chain(through).min()
}

/// Where the target reads one of the items at once through the module that it leaves: `old.f`.
fn reads_through_modules(mapping: &Mapping<'_>, target: &Target, blocks: &[&Block]) -> Option<u32> {
    let names = Names::new(mapping.graph, target.module, &target.analysis);
    let arrives = |entity: &Option<Entity>| {
        matches!(entity, Some(Entity::Item(home, item)) if {
            let index = mapping.items.index(*home, item);
            index.is_some() && blocks.iter().any(|block| Some(block.index) == index)
        })
    };
    let uses = target.analysis.uses.iter();
    let eager = uses.filter(|used| used.eager && used.chain.len() > 1);
    let reading = eager.filter(|used| {
        let meanings = names.meanings(used);
        meanings.iter().any(|meaning| arrives(&meaning.entity))
    });
    reading
        .filter_map(|used| used.chain.first())
        .map(|root| root.span.start)
        .min()
}
