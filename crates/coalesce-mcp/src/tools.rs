//! The tools: what each takes, what it gives, and what it may do to the tree.

use coalesce_model::{
    envelope::{self, Grade},
    json_schema,
};
use schemars::JsonSchema;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use crate::message::RpcError;

/// What `audit` takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AuditArguments {
    /// Do not look for duplicates: much faster in a large tree.
    pub no_duplicates: bool,
    /// Look for duplicates in these files only; globs as in .gitignore.
    pub include: Vec<String>,
    /// Do not look for duplicates in these files; globs as in .gitignore.
    pub exclude: Vec<String>,
    /// Entries of any list in the answer, at most; 50 unless told.
    pub limit: Option<u32>,
}

/// What `refs` takes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RefsArguments {
    /// Full name of a module or item: `a.b.c` in Python, `a::b::c` in Rust.
    pub name: String,
    /// Entries of any list in the answer, at most; 50 unless told.
    #[serde(default)]
    pub limit: Option<u32>,
}

/// What `diff` takes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiffArguments {
    /// The one module, class or item: `a.b.c` in Python, `a::b::c` in Rust, or a file.
    pub left: String,
    /// The other.
    pub right: String,
    /// Entries of any list in the answer, at most; 50 unless told.
    #[serde(default)]
    pub limit: Option<u32>,
}

/// What `plan` takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PlanArguments {
    /// The text of a manifest in TOML, for example `schema = 1`, then `[[move]]` with `from = "a.b"`
    /// and `to = "a.c"`. It goes before `manifests`.
    pub manifest: Option<String>,
    /// Manifests to follow, as paths below the root; all in `migrations/` when there is neither.
    pub manifests: Vec<String>,
    /// Also change full names in prose: comments, docstrings, documents.
    pub rewrite_docs: bool,
    /// Plan also where files that cannot be read may name what moves; it is told.
    pub allow_unread: bool,
    /// The answer is a failure when less than this was proven.
    #[schemars(with = "Option<GradeName>")]
    pub require: Option<GradeName>,
    /// Entries of any list in the answer, at most; 50 unless told.
    pub limit: Option<u32>,
}

/// What `migrate` takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MigrateArguments {
    /// The text of a manifest in TOML; it goes before `manifests`.
    pub manifest: Option<String>,
    /// Manifests to follow, as paths below the root; all in `migrations/` when there is neither.
    pub manifests: Vec<String>,
    /// Change the tree. Without it, nothing is written, and the answer says what would be.
    pub apply: bool,
    /// First run the project's own checks on a copy. This runs the project's code: build scripts,
    /// imports, tests. Only together with `apply`.
    pub verify: bool,
    /// Also change full names in prose: comments, docstrings, documents.
    pub rewrite_docs: bool,
    /// Plan also where files that cannot be read may name what moves; it is told.
    pub allow_unread: bool,
    /// Apply only what was proven this far.
    pub require: Option<GradeName>,
    /// Apply also where places are left that could not be proven.
    pub allow_unproven: bool,
    /// Also touch files with uncommitted changes.
    pub allow_dirty: bool,
    /// Entries of any list in the answer, at most; 50 unless told.
    pub limit: Option<u32>,
}

/// What `rollback` takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RollbackArguments {
    /// The migration to undo, as `migrate` named it; the last one when left out.
    pub id: Option<String>,
    /// Entries of any list in the answer, at most; 50 unless told.
    pub limit: Option<u32>,
}

/// What `exists_already` takes: a snippet or a signature.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExistsArguments {
    /// The code that is about to be written.
    pub snippet: Option<String>,
    /// What the snippet is written in; guessed from its text when left out.
    pub language: Option<SnippetLanguage>,
    /// A signature, or only a name, where there is no code yet.
    pub signature: Option<String>,
    /// Places that are told, at most; 10 unless told.
    pub limit: Option<u32>,
}

/// What a snippet is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SnippetLanguage {
    /// Python.
    Python,
    /// Rust.
    Rust,
    /// A GPU kernel: CUDA, HIP, OpenCL, Metal or WGSL.
    Kernel,
}

/// How far something was proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GradeName {
    /// Every reference resolves as before.
    Resolved,
    /// The project's own compiler or interpreter has read it.
    Compiled,
    /// The project's own tests pass.
    Tested,
}

impl From<GradeName> for Grade {
    fn from(name: GradeName) -> Self {
        match name {
            GradeName::Resolved => Self::Resolved,
            GradeName::Compiled => Self::Compiled,
            GradeName::Tested => Self::Tested,
        }
    }
}

/// What a tool was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// What is wrong with the tree.
    Audit(AuditArguments),
    /// Who names a module or an item.
    Refs(RefsArguments),
    /// What two modules, classes or items have in common.
    Diff(DiffArguments),
    /// What a migration would change.
    Plan(PlanArguments),
    /// A migration.
    Migrate(MigrateArguments),
    /// The way back.
    Rollback(RollbackArguments),
    /// Whether something exists already.
    Exists(ExistsArguments),
}

impl Request {
    /// Reads the arguments of a tool.
    ///
    /// # Errors
    /// When there is no such tool, or it does not take these.
    pub fn read(tool: &str, arguments: Value) -> Result<Self, RpcError> {
        let request = match tool {
            "audit" => Self::Audit(read(tool, arguments)?),
            "refs" => Self::Refs(read(tool, arguments)?),
            "diff" => Self::Diff(read(tool, arguments)?),
            "plan" => Self::Plan(read(tool, arguments)?),
            "migrate" => Self::Migrate(read(tool, arguments)?),
            "rollback" => Self::Rollback(read(tool, arguments)?),
            "exists_already" => Self::Exists(read(tool, arguments)?),
            _ => {
                let message = format!("there is no tool `{tool}`");
                return Err(RpcError::InvalidParams(message));
            }
        };
        Ok(request)
    }

    /// Entries that any list of the answer may have, if the caller has said so.
    #[must_use]
    pub const fn limit(&self) -> Option<u32> {
        match self {
            Self::Audit(arguments) => arguments.limit,
            Self::Refs(arguments) => arguments.limit,
            Self::Diff(arguments) => arguments.limit,
            Self::Plan(arguments) => arguments.limit,
            Self::Migrate(arguments) => arguments.limit,
            Self::Rollback(arguments) => arguments.limit,
            Self::Exists(arguments) => arguments.limit,
        }
    }
}

fn read<A: DeserializeOwned>(tool: &str, arguments: Value) -> Result<A, RpcError> {
    serde_json::from_value(arguments)
        .map_err(|error| RpcError::InvalidParams(format!("`{tool}`: {error}")))
}

/// A revision of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Revision {
    /// Tools, and texts as their results.
    November2024,
    /// Hints at what tools may do; several messages in one line.
    March2025,
    /// Results as data, with a schema.
    June2025,
}

impl Revision {
    /// All of them, the newest first.
    const ALL: [Self; 3] = [Self::June2025, Self::March2025, Self::November2024];

    /// The one that a client has asked for, or else the newest.
    #[must_use]
    pub fn negotiated(wanted: &str) -> Self {
        let known = Self::ALL.into_iter().find(|known| known.name() == wanted);
        known.unwrap_or(Self::June2025)
    }

    /// As the protocol writes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::November2024 => "2024-11-05",
            Self::March2025 => "2025-03-26",
            Self::June2025 => "2025-06-18",
        }
    }
}

/// What a tool may do to the tree.
#[derive(Clone, Copy)]
enum Effect {
    Reads,
    Changes,
}

/// A tool as it is listed.
struct Tool {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    effect: Effect,
    input: Value,
    output: Value,
}

/// The list of tools, as a client of this revision understands it.
#[must_use]
pub fn list(revision: Revision) -> Value {
    let tools = tools().into_iter().map(|tool| tool.entry(revision));
    json!({ "tools": tools.collect::<Vec<_>>() })
}

impl Tool {
    fn new<A: JsonSchema, B: JsonSchema>(
        name: &'static str,
        title: &'static str,
        effect: Effect,
        description: &'static str,
    ) -> Self {
        Self {
            name,
            title,
            description,
            effect,
            input: schema::<A>(),
            output: output::<B>(),
        }
    }

    fn entry(self, revision: Revision) -> Value {
        let mut entry = Map::new();
        entry.insert("name".to_owned(), self.name.into());
        entry.insert("description".to_owned(), self.description.into());
        entry.insert("inputSchema".to_owned(), self.input);
        if revision >= Revision::March2025 {
            let reads = matches!(self.effect, Effect::Reads);
            let hints = json!({
                "title": self.title,
                "readOnlyHint": reads,
                "destructiveHint": !reads,
                "idempotentHint": reads,
                "openWorldHint": false,
            });
            entry.insert("annotations".to_owned(), hints);
        }
        if revision >= Revision::June2025 {
            entry.insert("title".to_owned(), self.title.into());
            entry.insert("outputSchema".to_owned(), self.output);
        }
        Value::Object(entry)
    }
}

fn tools() -> [Tool; 7] {
    use Effect::{Changes, Reads};
    [
        Tool::new::<ExistsArguments, envelope::Find>(
            "exists_already",
            "Look for what exists already",
            Reads,
            "Whether the tree has a function or type like the one that is about to be written, by its \
             code or its signature. Ask this before you write it again.",
        ),
        Tool::new::<AuditArguments, envelope::Audit>(
            "audit",
            "Audit the tree",
            Reads,
            "What is wrong with the source tree: duplicated modules, classes and functions, import \
             cycles, imports that no longer resolve, orphaned files. Worst first.",
        ),
        Tool::new::<RefsArguments, envelope::Refs>(
            "refs",
            "Find references",
            Reads,
            "Every place that names a module or an item: code, strings, configuration, documents.",
        ),
        Tool::new::<DiffArguments, envelope::Diff>(
            "diff",
            "Compare two definitions",
            Reads,
            "Which definitions of one module, class or item another one has, and what differs. Ask \
             this before one of two copies gives way.",
        ),
        Tool::new::<PlanArguments, envelope::Plan>(
            "plan",
            "Plan a migration",
            Reads,
            "What a migration would change, why, what was proven of it and what was not. Writes \
             nothing.",
        ),
        Tool::new::<MigrateArguments, envelope::Migrate>(
            "migrate",
            "Migrate",
            Changes,
            "Moves, replaces, merges or removes modules and items, and the references to them that are found. \
             Writes nothing without `apply`. Refused where a change would break something, where \
             files have uncommitted changes, or where too little could be proven.",
        ),
        Tool::new::<RollbackArguments, envelope::Rollback>(
            "rollback",
            "Undo a migration",
            Changes,
            "Puts every file of a migration back, byte for byte; refused where one of them has \
             changed since.",
        ),
    ]
}

fn schema<T: JsonSchema>() -> Value {
    json_schema::as_read::<T>().to_value()
}

/// The body of a command within what every command says.
fn output<B: JsonSchema>() -> Value {
    json_schema::as_written::<Output<B>>().to_value()
}

/// What a tool gives, for its schema.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "its shape is what counts")]
struct Output<B> {
    /// Version of this format.
    schema: u32,
    /// The command that says it.
    command: envelope::Command,
    /// The root as it was given.
    root: String,
    /// What there is to say about places in the tree.
    findings: Vec<envelope::FindingEntry>,
    /// Entries that were left out of lists to keep the answer short, by the place of the list, and
    /// bytes that were left out of texts; ask with a larger `limit` to see them.
    left_out: std::collections::BTreeMap<String, u64>,
    #[serde(flatten)]
    body: B,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_that_is_listed_is_there_and_says_what_it_takes() {
        for tool in tools() {
            let read = Request::read(tool.name, json!({ "no such key": 1 }));
            let error = read.unwrap_err().to_string();
            assert!(error.contains("unknown field"), "{}: {error}", tool.name);
            for schema in [&tool.input, &tool.output] {
                assert_eq!(schema.get("type"), Some(&json!("object")), "{}", tool.name);
            }
            let closed = tool.input.get("additionalProperties");
            assert_eq!(closed, Some(&json!(false)), "{}", tool.name);
        }
        assert!(Request::read("verify", json!({})).is_err());
    }

    #[test]
    fn older_clients_get_the_list_that_they_know() {
        let first = |revision| list(revision)["tools"][0].clone();
        let keys = |revision| {
            let entry = first(revision);
            entry
                .as_object()
                .unwrap()
                .keys()
                .cloned()
                .collect::<Vec<_>>()
        };
        let oldest = keys(Revision::negotiated("2024-11-05"));
        assert_eq!(oldest, ["name", "description", "inputSchema"]);
        assert_eq!(keys(Revision::negotiated("1999-01-01")).len(), 6);
    }
}
