//! What a command has to say about a place.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ByteSpan, TreePath};

/// The name of a kind of finding: kebab-case, named after the bad thing, stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Code(pub &'static str);

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// The codes that exist. `explain`, the command line, SARIF, `allow` comments and tidy read this list.
pub mod codes {
    use super::Code;

    /// An import names a package of the tree, but nothing that is there.
    pub const UNRESOLVED_IMPORT: Code = Code("unresolved-internal-import");
    /// An import, string or configuration value names a forbidden path.
    pub const FORBIDDEN_PATH: Code = Code("forbidden-path");
    /// An import of a shim, outside of shims.
    pub const DEPRECATED_PATH: Code = Code("deprecated-path");
    /// A reference to what a manifest has moved, merged or removed.
    pub const REMOVED_REFERENCE: Code = Code("removed-reference");
    /// A shim that the release which is being made removes.
    pub const EXPIRED_SHIM: Code = Code("expired-shim");
    /// A shim that nothing in the tree names.
    pub const UNUSED_SHIM: Code = Code("unused-shim");
    /// An import of a module of a higher layer.
    pub const FORBIDDEN_EDGE: Code = Code("forbidden-edge");
    /// A call of a GPU library outside of the home of its role.
    pub const GPU_OUTSIDE_HOME: Code = Code("gpu-outside-home");
    /// What a rule of the project's own forbids.
    pub const PROJECT_RULE: Code = Code("project-rule");
    /// A comment that allows nothing.
    pub const UNUSED_ALLOW: Code = Code("unused-allow");
    /// An entry of a baseline that is not there any more.
    pub const SPENT_BASELINE: Code = Code("spent-baseline-entry");
    /// Modules that execute each other's import, where the baseline had no such cycle.
    pub const NEW_EAGER_CYCLE: Code = Code("new-eager-cycle");
    /// A file that does not parse.
    pub const SYNTAX_ERROR: Code = Code("syntax-error");
    /// A source file that no module tree reaches.
    pub const ORPHAN_FILE: Code = Code("orphan-file");
    /// Modules that import each other.
    pub const IMPORT_CYCLE: Code = Code("import-cycle");
    /// A guarded import that can no longer succeed: it silently turns a feature off.
    pub const STALE_GUARD: Code = Code("stale-guarded-import");
    /// A module without definitions.
    pub const EMPTY_STUB: Code = Code("empty-stub");
    /// Copies of each other, where one would do.
    pub const DUPLICATES: Code = Code("duplicates");
    /// A manifest that cannot be followed.
    pub const MANIFEST: Code = Code("manifest");
    /// A change that would break something.
    pub const UNSAFE_CHANGE: Code = Code("unsafe-change");
    /// Two merged modules have something that is not the same, and nobody said which stays.
    pub const UNDECIDED_MERGE: Code = Code("undecided-merge");
    /// A check of the project that fails on the planned tree and passes on the tree as it is.
    pub const NEW_FAILURE: Code = Code("new-failure");
    /// A check that fails once the shims of the plan are away.
    pub const FAILS_WITHOUT_SHIM: Code = Code("fails-without-shim");

    /// Less was proven of a plan than is asked for.
    pub const NOT_PROVEN: Code = Code("not-proven");

    /// An import that resolves, and would not after the change.
    pub const UNRESOLVED_AFTER_CHANGE: Code = Code("unresolved-after-change");
    /// A file that parses, and would not after the change.
    pub const UNPARSABLE_AFTER_CHANGE: Code = Code("unparsable-after-change");
    /// A guarded import that succeeds, and would fail silently after the change.
    pub const NEW_SILENT_FALLBACK: Code = Code("new-silent-fallback");
    /// A file is, or would land, where another one would.
    pub const OCCUPIED_PATH: Code = Code("occupied-path");
    /// Two edits that contradict each other.
    pub const CONFLICTING_EDITS: Code = Code("conflicting-edits");
    /// A source file that may name what moves and cannot be read.
    pub const UNREADABLE_SOURCE: Code = Code("unreadable-source");
    /// A link or device where a file would have to change.
    pub const LINK_IN_THE_WAY: Code = Code("link-in-the-way");
    /// A shim that is to go and is still named.
    pub const SHIM_IN_USE: Code = Code("shim-in-use");
    /// What is worth knowing of a plan, and stops nothing.
    pub const PLAN_REMARK: Code = Code("plan-remark");

    /// What moves, or what takes its place, could not be named from where it is used.
    pub const OUT_OF_REACH: Code = Code("out-of-reach");
    /// What is used without a condition would only be there under one.
    pub const MISSING_CONDITION: Code = Code("missing-condition");
    /// A name that means, or would come to mean, something else where it goes.
    pub const NAME_TAKEN: Code = Code("name-taken");
    /// What takes the place of something does not do for its users.
    pub const MISMATCHED_REPLACEMENT: Code = Code("mismatched-replacement");
    /// A definition, `impl` or statement that would go, with nothing in its place.
    pub const LOST_DEFINITION: Code = Code("lost-definition");
    /// A test, fixture or hook that pytest would not find any more.
    pub const LOST_TEST: Code = Code("lost-test");
    /// What is to be removed is still named.
    pub const REMOVED_IN_USE: Code = Code("removed-in-use");
    /// What cannot do its work, or be found, anywhere but where it stands.
    pub const TIED_TO_PLACE: Code = Code("tied-to-place");
    /// What the target, the language or a lint does not allow there.
    pub const FORBIDDEN_IN_TARGET: Code = Code("forbidden-in-target");
    /// Packages that would need each other.
    pub const CIRCULAR_PACKAGES: Code = Code("circular-packages");
    /// A name that would be read before it is bound, since modules are imported in another order.
    pub const READ_BEFORE_BOUND: Code = Code("read-before-bound");
    /// A package from outside that would be needed at import, and is not now.
    pub const NEW_REQUIREMENT: Code = Code("new-requirement");
    /// A guarded import that would end otherwise than it does.
    pub const CHANGED_GUARD: Code = Code("changed-guard");

    /// All of them, in the order of `explain`.
    pub const ALL: [Code; 46] = [
        UNRESOLVED_IMPORT,
        REMOVED_REFERENCE,
        DEPRECATED_PATH,
        FORBIDDEN_PATH,
        FORBIDDEN_EDGE,
        EXPIRED_SHIM,
        UNUSED_SHIM,
        GPU_OUTSIDE_HOME,
        PROJECT_RULE,
        UNUSED_ALLOW,
        SPENT_BASELINE,
        NEW_EAGER_CYCLE,
        SYNTAX_ERROR,
        ORPHAN_FILE,
        IMPORT_CYCLE,
        STALE_GUARD,
        EMPTY_STUB,
        DUPLICATES,
        MANIFEST,
        UNSAFE_CHANGE,
        UNDECIDED_MERGE,
        NEW_FAILURE,
        FAILS_WITHOUT_SHIM,
        NOT_PROVEN,
        UNRESOLVED_AFTER_CHANGE,
        UNPARSABLE_AFTER_CHANGE,
        NEW_SILENT_FALLBACK,
        OCCUPIED_PATH,
        CONFLICTING_EDITS,
        UNREADABLE_SOURCE,
        LINK_IN_THE_WAY,
        SHIM_IN_USE,
        PLAN_REMARK,
        OUT_OF_REACH,
        MISSING_CONDITION,
        NAME_TAKEN,
        MISMATCHED_REPLACEMENT,
        LOST_DEFINITION,
        LOST_TEST,
        REMOVED_IN_USE,
        TIED_TO_PLACE,
        FORBIDDEN_IN_TARGET,
        CIRCULAR_PACKAGES,
        READ_BEFORE_BOUND,
        NEW_REQUIREMENT,
        CHANGED_GUARD,
    ];
}

/// How bad it is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It breaks, or stops the command.
    Error,
    /// It will bite.
    Warning,
    /// Worth knowing.
    Note,
}

/// One thing to say, with its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// What kind.
    pub code: Code,
    /// How bad.
    pub severity: Severity,
    /// The file, relative to the root.
    pub path: TreePath,
    /// The place, when it is narrower than the file.
    pub span: Option<ByteSpan>,
    /// What is wrong: lower-case, no final period.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Finding {
    /// What stops a change, at a file.
    #[must_use]
    pub fn refusal(path: TreePath, message: impl Into<String>) -> Self {
        Self::of_change(Severity::Error, path, message.into())
    }

    /// What a change does and somebody will notice, at a file.
    #[must_use]
    pub fn warning(path: TreePath, message: impl Into<String>) -> Self {
        Self::of_change(Severity::Warning, path, message.into())
    }

    /// What is worth knowing of a change, at a file.
    #[must_use]
    pub fn note(path: TreePath, message: impl Into<String>) -> Self {
        Self::of_change(Severity::Note, path, message.into())
    }

    fn of_change(severity: Severity, path: TreePath, message: String) -> Self {
        Self {
            code: codes::UNSAFE_CHANGE,
            severity,
            path,
            span: None,
            message,
            help: None,
        }
    }

    /// The same by the name of its reason.
    #[must_use]
    pub fn coded(self, code: Code) -> Self {
        Self { code, ..self }
    }

    /// The same at a place of the file.
    #[must_use]
    pub fn at(self, span: impl Into<Option<ByteSpan>>) -> Self {
        Self {
            span: span.into(),
            ..self
        }
    }

    /// The same with what to do about it.
    #[must_use]
    pub fn with_help(self, help: impl Into<Option<String>>) -> Self {
        Self {
            help: help.into(),
            ..self
        }
    }
}
