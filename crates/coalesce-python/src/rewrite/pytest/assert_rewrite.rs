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
    let modules = 0..mapping.graph.modules.len();
    if !modules
        .clone()
        .any(|module| mapping.new_name(module).is_some())
    {
        return;
    }
    let found = modules.flat_map(|file| come_too_late(mapping, file, texts));
    plan.unproven.extend(found);
}

/// Those of one file.
fn come_too_late(mapping: &Mapping<'_>, file: usize, texts: &dyn Texts) -> Vec<Unproven> {
    let graph = mapping.graph;
    let module = graph.modules.get(file);
    let text = module.and_then(|module| texts.text(&module.path));
    let Some((module, text)) = module.zip(text.filter(|text| text.contains(CALL))) else {
        return Vec::new();
    };
    let analysis = Analysis::new(&text);
    let given = analysis.strings.iter().filter(|string| {
        let before = text.get(..string.span.start as usize);
        let before = before.unwrap_or_default();
        before
            .rfind(CALL)
            .is_some_and(|at| !before.get(at..).unwrap_or_default().contains(')'))
    });
    let found = given.filter_map(|string| {
        let named = graph.find(None, string.span.of(&text)?)?;
        let new = mapping.new_name(named).map(|_| mapping.name_after(named))?;
        let imported = imported_above(graph, file, &analysis, string.span.start);
        let comes = imported.iter().any(|other| mapping.name_after(*other) == new);
        (comes && !imported.contains(&named)).then(|| Unproven {
            path: module.path.clone(),
            span: Some(string.span),
            kind: UnprovenKind::Condition,
            name: module.name.clone(),
            why: format!(
                "pytest is asked to rewrite the assertions of `{new}`, which is imported above this then"
            ),
        })
    });
    found.collect()
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
