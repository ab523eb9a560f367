//! What is wrong with a tree as it stands.

use coalesce_model::{ByteSpan, Finding, Import, ImportTarget, Severity, TreePath, finding::codes};

use super::PythonGraph;

impl PythonGraph {
    /// Unresolved imports and files that do not parse.
    pub(crate) fn problems(&self) -> Vec<Finding> {
        let imports = self.imports.iter();
        let unresolved = imports.filter(|import| import.target == ImportTarget::Unresolved);
        let mut problems: Vec<Finding> = unresolved.map(unresolved_import).collect();
        let modules = self.modules.iter().zip(&self.facts);
        problems.extend(modules.filter_map(|(module, facts)| {
            let (span, message) = facts.syntax_error.as_ref()?;
            Some(broken(&module.path, *span, message))
        }));
        problems
    }
}

fn unresolved_import(import: &Import) -> Finding {
    Finding {
        code: codes::UNRESOLVED_IMPORT,
        severity: Severity::Error,
        path: import.path.clone(),
        span: Some(import.span),
        message: format!("`{}` does not exist", import.name),
        help: None,
    }
}

fn broken(path: &TreePath, span: ByteSpan, message: &str) -> Finding {
    Finding {
        code: codes::SYNTAX_ERROR,
        severity: Severity::Warning,
        path: path.clone(),
        span: Some(span),
        message: format!("does not parse: {message}"),
        help: None,
    }
}
