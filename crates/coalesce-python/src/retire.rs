//! What it takes to remove a shim: its file. A package whose modules stay must keep its `__init__`.
//!
//! Whether anybody still uses the shim is not asked here.

use std::collections::BTreeSet;

use coalesce_model::{Finding, LanguagePlan, Severity, Texts, TreePath, finding::codes};

/// Removes the shim files `shims`.
pub(crate) fn retire(shims: &[TreePath], texts: &dyn Texts) -> LanguagePlan {
    let going: BTreeSet<&TreePath> = shims.iter().collect();
    let mut plan = LanguagePlan::default();
    for path in shims {
        match module_that_stays(path, &going, texts) {
            None => plan.deletes.push(path.clone()),
            Some(other) => plan.refusals.push(Finding {
                code: codes::UNSAFE_CHANGE,
                severity: Severity::Error,
                path: path.clone(),
                span: None,
                message: format!("the shim cannot be removed: its package also holds {other}"),
                help: Some(
                    "move what the package holds first, or empty the file by hand".to_owned(),
                ),
            }),
        }
    }
    plan
}

/// A source file below a package that does not go with it.
fn module_that_stays<'t>(
    path: &TreePath,
    going: &BTreeSet<&TreePath>,
    texts: &'t dyn Texts,
) -> Option<&'t TreePath> {
    if path.file_stem() != "__init__" {
        return None;
    }
    let package = path.parent()?;
    let source = |path: &TreePath| matches!(path.extension(), Some("py" | "pyi"));
    texts.paths().iter().find(|other| {
        let below = other.strip_prefix(&package).is_some();
        below && source(other) && !going.contains(other)
    })
}
