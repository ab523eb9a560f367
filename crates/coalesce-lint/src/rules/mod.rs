//! One rule a file; the file is named after the rule's code.
//!
//! What a rule finds, why that is bad, an example and what to write instead stand in
//! `coalesce-report/src/explain/CODE.md`, and a case of it in `tests/cases/program/check-CODE`.

pub mod deprecated_path;
pub mod expired_shim;
pub mod forbidden_edge;
pub mod forbidden_path;
pub mod gpu_outside_home;
pub mod new_eager_cycle;
pub mod orphan_file;
pub mod project_rule;
pub mod removed_reference;
pub mod stale_guarded_import;
pub mod unresolved_internal_import;
pub mod unused_shim;

use coalesce_model::{Code, Finding, Module, finding::codes};

use crate::Subject;

/// One rule.
pub struct Rule {
    /// What it reports.
    pub code: Code,
    /// Everything that it finds in a tree.
    pub check: fn(&Subject<'_>) -> Vec<Finding>,
}

/// All rules, in the order in which they are listed.
pub const RULES: [Rule; 12] = [
    Rule {
        code: codes::UNRESOLVED_IMPORT,
        check: unresolved_internal_import::check,
    },
    Rule {
        code: codes::REMOVED_REFERENCE,
        check: removed_reference::check,
    },
    Rule {
        code: codes::STALE_GUARD,
        check: stale_guarded_import::check,
    },
    Rule {
        code: codes::DEPRECATED_PATH,
        check: deprecated_path::check,
    },
    Rule {
        code: codes::FORBIDDEN_PATH,
        check: forbidden_path::check,
    },
    Rule {
        code: codes::FORBIDDEN_EDGE,
        check: forbidden_edge::check,
    },
    Rule {
        code: codes::NEW_EAGER_CYCLE,
        check: new_eager_cycle::check,
    },
    Rule {
        code: codes::ORPHAN_FILE,
        check: orphan_file::check,
    },
    Rule {
        code: codes::EXPIRED_SHIM,
        check: expired_shim::check,
    },
    Rule {
        code: codes::UNUSED_SHIM,
        check: unused_shim::check,
    },
    Rule {
        code: codes::GPU_OUTSIDE_HOME,
        check: gpu_outside_home::check,
    },
    Rule {
        code: codes::PROJECT_RULE,
        check: project_rule::check,
    },
];

/// All names of a module.
pub fn names(module: &Module) -> Vec<&str> {
    std::iter::once(&module.name)
        .chain(&module.also)
        .map(String::as_str)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_case_and_a_page_of_its_name() {
        let workspace = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        for rule in &RULES {
            let case = format!("{workspace}/tests/cases/program/check-{}/args", rule.code);
            assert!(std::path::Path::new(&case).is_file(), "{case}");
            let page = format!(
                "{workspace}/crates/coalesce-report/src/explain/{}.md",
                rule.code
            );
            assert!(std::path::Path::new(&page).is_file(), "{page}");
            let file = rule.code.0.replace('-', "_");
            let source = format!("{workspace}/crates/coalesce-lint/src/rules/{file}.rs");
            assert!(std::path::Path::new(&source).is_file(), "{source}");
        }
    }
}
