//! `unused-shim`: a shim that nothing in the tree names any more.

use coalesce_model::{Finding, Severity, finding::codes};

use super::expired_shim::is_due;
use crate::Subject;

/// Notes: who uses the package from outside may still need them. One that is due is told as that.
pub fn check(subject: &Subject<'_>) -> Vec<Finding> {
    // A package may keep the name of its old module as an attribute, which is no reference of the module.
    let graphs = subject.index.graphs();
    let is_imported = |name: &str| {
        let mut imports = graphs.iter().flat_map(|graph| graph.imports());
        imports.any(|import| import.name == name)
    };
    let unused = subject.shims.iter().filter(|(shim, references)| {
        *references == 0 && !is_due(shim, subject.release) && !is_imported(&shim.name)
    });
    unused
        .map(|(shim, _)| Finding {
            code: codes::UNUSED_SHIM,
            severity: Severity::Note,
            path: shim.path.clone(),
            span: None,
            message: match &shim.remove_in {
                Some(release) => format!(
                    "nothing in the tree names the shim `{}`, which goes in {release}",
                    shim.name
                ),
                None => format!("nothing in the tree names the shim `{}`", shim.name),
            },
            help: Some("`coalesce retire --unused` plans its removal".to_owned()),
        })
        .collect()
}
