//! What a tree says about what `check` looks for: its own rules, layers and homes.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Severity, pattern::NamePattern};

/// What `coalesce.toml` says about `check`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckSettings {
    /// Codes of rules that do not run.
    pub off: Vec<String>,
    /// The release that is being made: shims that it removes have expired.
    pub release: Option<String>,
    /// The baseline of duplicates, relative to the root.
    pub duplicates: Option<String>,
    /// Who may import whom.
    pub layers: Vec<Layers>,
    /// Where GPU code of some roles belongs.
    pub homes: Vec<RoleHome>,
    /// The project's own rules.
    pub rules: Vec<ProjectRule>,
}

/// Modules in an order: each layer may import those below it, never those above.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layers {
    /// What the order is called in messages.
    pub name: String,
    /// From the top to the bottom.
    pub order: Vec<NamePattern>,
}

/// Where calls of GPU libraries with some roles belong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleHome {
    /// Roles of the catalogue: `detect`, `pool`, ….
    pub roles: Vec<String>,
    /// The modules that may have them.
    pub modules: Vec<NamePattern>,
    /// What to use instead.
    pub message: Option<String>,
}

/// What the regular expression of a project's own rule is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RuleSubject {
    /// The full name of everything that is imported.
    Imports,
    /// The dotted name of everything that is called, as it is written.
    Calls,
    /// Each line of source files.
    Text,
}

/// One rule of the project's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectRule {
    /// What it is called in messages and in `coalesce: allow(NAME, reason)`.
    pub name: String,
    /// What the expression is held against.
    pub over: RuleSubject,
    /// A regular expression in the syntax of the `regex` crate.
    pub regex: String,
    /// Modules by name, or files by glob where there is a `/`, in which it is allowed.
    pub home: Vec<String>,
    /// What is wrong with it.
    pub message: String,
    /// What to do instead.
    pub help: Option<String>,
    /// How bad it is.
    pub severity: Severity,
}
