//! Modules that are made to be run by their paths, too (`if __package__: … else: sys.path.insert(…)`), where an import is
//! added to them that counts from their package: there is none then.

use coalesce_model::{Edit, LanguagePlan, Texts, Unproven, UnprovenKind};

use super::{is_program, mapping::Mapping};

/// What tells whether a module has a package, or makes it find one.
const ASKING: [&str; 2] = ["__package__", "sys.path"];

/// Tells programs that get a relative import and had none that is executed in any case.
pub fn check(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let graph = mapping.graph;
    let mut told = Vec::new();
    for (path, edits) in &plan.edits {
        let module = graph.module_of(path);
        let facts = module.and_then(|module| graph.facts.get(module));
        let mut imports = facts.into_iter().flat_map(|facts| &facts.imports);
        let has_already = imports.any(|import| {
            let relative = import.from.as_ref().is_some_and(|from| from.level > 0);
            relative && import.eager && !import.conditional
        });
        let gets = edits.iter().any(is_relative_import);
        let text = texts.text(path).filter(|_| gets && !has_already);
        let is_run = |text: &str| is_program(text) && ASKING.iter().any(|word| text.contains(word));
        if text.is_some_and(|text| is_run(&text)) {
            told.push(Unproven {
                path: path.clone(),
                span: None,
                kind: UnprovenKind::FailingImport,
                name: module.map_or_else(String::new, |module| mapping.name_after(module)),
                why: "it may be run by its path, where it has no package that a relative import counts from"
                    .to_owned(),
            });
        }
    }
    plan.unproven.extend(told);
}

/// Whether an edit adds a line that imports relatively, at the left of the file.
fn is_relative_import(edit: &Edit) -> bool {
    edit.text.lines().any(|line| line.starts_with("from ."))
}
