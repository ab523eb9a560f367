//! How a moved Rust module is rewritten. For now every change is refused.

use coalesce_model::{
    Change, Edit, Finding, LanguagePlan, Rewrite, Severity, Texts, TreePath, finding::codes,
    language::RewriteOptions,
};

use crate::RustGraph;

/// Works the changes out.
pub(crate) fn rewrite(
    _graph: &RustGraph,
    changes: &[Change],
    _options: RewriteOptions,
    _texts: &dyn Texts,
) -> LanguagePlan {
    let refusal = |change: &Change| Finding {
        code: codes::UNSAFE_CHANGE,
        severity: Severity::Error,
        path: TreePath::root(),
        span: None,
        message: format!("moving `{}` is not supported yet", change.from),
        help: None,
    };
    LanguagePlan {
        refusals: changes.iter().map(refusal).collect(),
        ..LanguagePlan::default()
    }
}

/// The references of a piece of code, and the edits that follow.
pub(crate) fn rewrite_fragment(
    _graph: &RustGraph,
    _changes: &[Change],
    _code: &str,
) -> Vec<(Rewrite, Edit)> {
    Vec::new()
}
