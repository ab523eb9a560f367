//! Modules whose assertions pytest is asked to rewrite: `pytest.register_assert_rewrite("tests.checks")` has to come before
//! the module is imported.

use coalesce_model::{LanguagePlan, Texts, Unproven, UnprovenKind};

use crate::{
    analysis::Analysis,
    graph::{Entity, PythonGraph},
    rewrite::mapping::Mapping,
};

const CALL: &str = "register_assert_rewrite(";

/// Tells texts of such calls that come to name a module which the file has imported by then, and did not before.
pub(super) fn check(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let graph = mapping.graph;
    let changed: Vec<usize> = (0..graph.modules.len())
        .filter(|module| mapping.new_name(*module).is_some())
        .collect();
    if changed.is_empty() {
        return;
    }
    for (file, module) in graph.modules.iter().enumerate() {
        let Some(text) = texts.text(&module.path).filter(|text| text.contains(CALL)) else {
            continue;
        };
        let analysis = Analysis::new(&text);
        for string in &analysis.strings {
            let named = string
                .span
                .of(&text)
                .and_then(|name| graph.find(None, name));
            let Some(named) = named.filter(|named| changed.contains(named)) else {
                continue;
            };
            let start = string.span.start;
            let before = text.get(..start as usize).unwrap_or_default();
            let is_given = before
                .rfind(CALL)
                .is_some_and(|at| !before.get(at..).unwrap_or_default().contains(')'));
            let imported = imported_above(graph, file, &analysis, start);
            let name = |module: &usize| mapping.name_after(*module);
            let new = mapping.name_after(named);
            let comes = imported.iter().any(|other| name(other) == new);
            if is_given && comes && !imported.contains(&named) {
                plan.unproven.push(Unproven {
                    path: module.path.clone(),
                    span: Some(string.span),
                    kind: UnprovenKind::Condition,
                    name: module.name.clone(),
                    why: format!(
                        "pytest is asked to rewrite the assertions of `{new}`, which is imported above this then"
                    ),
                });
            }
        }
    }
}

/// The modules that the statements above a place import.
fn imported_above(graph: &PythonGraph, file: usize, analysis: &Analysis, place: u32) -> Vec<usize> {
    let imports = analysis.imports.iter().map(|(import, _)| import);
    let above = imports.filter(|import| import.top_level && import.span.end <= place);
    let modules = above.flat_map(|import| {
        let base = graph.base_module(file, import);
        let leaves = import.leaves.iter();
        let leaves = leaves.filter_map(move |leaf| match graph.leaf_entity(file, import, leaf) {
            Entity::Module(module) => Some(module),
            _ => None,
        });
        base.into_iter().chain(leaves)
    });
    modules.collect()
}
