//! Modules that their package hides behind something of their name: `from .policy import policy` in its `__init__.py`.
//!
//! Who takes such a module by `import pkg.policy as p` gets what hides it. Once the module is called otherwise it is the
//! module. `from . import policy as p` below that line is resolved by the graph, as is `pkg.policy`.

use coalesce_model::{LanguagePlan, Unproven, UnprovenKind};

use super::mapping::Mapping;
use crate::{
    facts::{ImportStatement, Leaf},
    graph::{Entity, PythonGraph},
};

/// Tells imports that take a module which moves, and get something else of its name.
pub fn check(mapping: &Mapping<'_>, plan: &mut LanguagePlan) {
    let graph = mapping.graph;
    let modules = 0..graph.modules.len();
    plan.unproven
        .extend(modules.filter_map(|module| hidden_by_star(mapping, module)));
    for hidden in (0..graph.modules.len()).filter_map(|module| Hidden::of(mapping, module)) {
        for (importer, facts) in graph.facts.iter().enumerate() {
            let leaves = facts.import_leaves();
            let taking =
                leaves.filter(|(import, leaf)| hidden.is_taken(graph, importer, import, leaf));
            let path = graph.modules.get(importer).map(|module| &module.path);
            plan.unproven.extend(taking.zip(path.into_iter().cycle()).map(
                |((_, leaf), path)| Unproven {
                    path: path.clone(),
                    span: Some(leaf.name.span),
                    kind: UnprovenKind::Condition,
                    name: hidden.name.to_owned(),
                    why: "its package has something else by this name, which this import gets, and not the module"
                        .to_owned(),
                },
            ));
        }
    }
}

/// Where the star import of another module brings something of the name of a module in the package which gets another one:
/// the package has by that name what comes last.
fn hidden_by_star(mapping: &Mapping<'_>, module: usize) -> Option<Unproven> {
    let graph = mapping.graph;
    let (package, last) = hiding_package(mapping, module)?;
    let leaves = graph.facts.get(package)?.import_leaves();
    let mut stars = leaves.filter(|(import, leaf)| {
        let source = graph.base_module(package, import);
        let brings = |source: usize| {
            let listed = graph.facts.get(source).and_then(|facts| facts.all.as_ref());
            let is_listed = listed.is_none_or(|all| all.iter().any(|entry| entry.text == last));
            source != module && is_listed && matches!(graph.member(source, last), Entity::Item(..))
        };
        leaf.name.text == "*" && source.is_some_and(brings)
    });
    let (_, star) = stars.next()?;
    Some(Unproven {
        path: graph.modules.get(package)?.path.clone(),
        span: Some(star.name.span),
        kind: UnprovenKind::Condition,
        name: graph.modules.get(module)?.name.clone(),
        why: format!(
            "this brings something that is called `{last}`, too, so that the package may not have the module by that name"
        ),
    })
}

/// The package that has a module by its name, if the module leaves it or is called otherwise there.
fn hiding_package<'g>(mapping: &Mapping<'g>, module: usize) -> Option<(usize, &'g str)> {
    let graph = mapping.graph;
    let name = graph.modules.get(module)?.name.as_str();
    let new = mapping.new_name(module)?;
    let (above, last) = name.rsplit_once('.')?;
    let (new_above, new_last) = new.rsplit_once('.').unwrap_or(("", new));
    let package = graph.find(Some(module), above)?;
    // Of a package that goes along with what is in it, it is hidden as before.
    let goes_along = mapping.name_after(package) == new_above && new_last == last;
    (!goes_along).then_some((package, last))
}

/// A module that gets another name, and is hidden by what its package has by the one that it has.
struct Hidden<'g> {
    module: usize,
    package: usize,
    name: &'g str,
}

impl<'g> Hidden<'g> {
    fn of(mapping: &Mapping<'g>, module: usize) -> Option<Self> {
        let graph = mapping.graph;
        let name = graph.modules.get(module)?.name.as_str();
        let (package, last) = hiding_package(mapping, module)?;
        let is_hidden = matches!(graph.member(package, last), Entity::Item(..));
        is_hidden.then_some(Self {
            module,
            package,
            name,
        })
    }

    /// Whether an import names the module and gets what hides it.
    fn is_taken(
        &self,
        graph: &PythonGraph,
        importer: usize,
        import: &ImportStatement,
        leaf: &Leaf,
    ) -> bool {
        let is_named = import.from.is_none() && leaf.alias.is_some() && importer != self.package;
        let is_module = || matches!(graph.leaf_entity(importer, import, leaf), Entity::Module(found) if found == self.module);
        is_named && is_module()
    }
}
