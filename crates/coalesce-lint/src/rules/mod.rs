//! One rule a file; the file is named after the rule's code.

pub mod forbidden_path;
pub mod new_eager_cycle;
pub mod unresolved_internal_import;
