//! `forbidden-edge`: a module imports one of a layer above its own.

use coalesce_model::{
    Finding, Guard, Import, ImportTarget, LanguageGraph, Layers, Module, Severity, finding::codes,
    pattern::NamePattern,
};

use crate::Subject;

/// Every import between modules of the tree, late ones included; not those for type checkers alone.
pub fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let tables = &subject.settings.layers;
    let graphs = subject.index.graphs().iter().filter(|_| !tables.is_empty());
    let edges = graphs.flat_map(|graph| graph.imports().iter().filter_map(|one| edge(*graph, one)));
    let crossed = edges.flat_map(|(import, from, to)| {
        tables
            .iter()
            .filter_map(move |layers| Some((import, layers, crossed(layers, from, to)?)))
    });
    crossed
        .map(|(import, layers, message)| Finding {
            code: codes::FORBIDDEN_EDGE,
            severity: Severity::Error,
            path: import.path.clone(),
            span: Some(import.span),
            message,
            help: Some(format!(
                "hand it in from above, or move what is needed down; the order `{}` stands in coalesce.toml",
                layers.name
            )),
        })
        .collect()
}

/// An import at run time with the modules at both ends.
fn edge<'g>(
    graph: &'g dyn LanguageGraph,
    import: &'g Import,
) -> Option<(&'g Import, &'g Module, &'g Module)> {
    let ImportTarget::Module(target) = import.target else {
        return None;
    };
    let from = graph.modules().get(import.importer)?;
    let to = graph.modules().get(target)?;
    (import.guard != Guard::TypeChecking).then_some((import, from, to))
}

/// What is wrong with an import, if it goes up.
fn crossed(layers: &Layers, from: &Module, to: &Module) -> Option<String> {
    let (lower, higher) = (layer(&layers.order, from)?, layer(&layers.order, to)?);
    let name = |at: usize| layers.order.get(at).map_or("", NamePattern::as_str);
    (higher < lower).then(|| {
        format!(
            "`{}` of the layer `{}` imports `{}` of `{}`, which stands above it",
            from.name,
            name(lower),
            to.name,
            name(higher)
        )
    })
}

/// The layer of a module: of several that fit, the one with the longest pattern.
fn layer(order: &[NamePattern], module: &Module) -> Option<usize> {
    let fits = |pattern: &NamePattern| {
        let mut names = std::iter::once(&module.name).chain(&module.also);
        names.any(|name| pattern.matches_name_or_parent(name))
    };
    let fitting = order
        .iter()
        .enumerate()
        .filter(|(_, pattern)| fits(pattern));
    let longest = fitting.max_by_key(|(at, pattern)| (pattern.as_str().len(), usize::MAX - at));
    longest.map(|(at, _)| at)
}
