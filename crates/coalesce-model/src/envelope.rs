//! The JSON that every command prints: one envelope, and each command's own fields.
//!
//! These types are the one source of what is said: the terminal pages are made from them, and the
//! schema in the repository is generated from them. They hold plain data with lines and columns
//! worked out; nothing here reads a file, and no path in it is absolute.

mod answer;
mod bodies;
mod coverage;
mod devices;
mod duplicates;
mod existing;
mod fleet;
mod locate;
mod proposal;
mod upkeep;

use schemars::JsonSchema;
use serde::Serialize;

pub use self::{
    answer::*, bodies::*, coverage::*, devices::*, duplicates::*, existing::*, fleet::*, locate::*,
    proposal::*, upkeep::*,
};
use crate::{Code, Root, Severity, json_schema};

/// Version of the envelope. It is raised when a field goes away or changes its meaning; new
/// fields may come without.
pub const SCHEMA: u32 = 2;

/// What a command prints with `--format json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(transform = tie_command_to_body)]
pub struct Envelope {
    /// Version of this format.
    pub schema: u32,
    /// The command that printed it.
    pub command: Command,
    /// The root as it was given on the command line.
    pub root: String,
    /// What names begin at, and how it was found.
    pub roots: Vec<Root>,
    /// What there is to say about places in the tree.
    pub findings: Vec<FindingEntry>,
    /// The command's own fields.
    #[serde(flatten)]
    pub body: Body,
}

impl Envelope {
    /// An envelope around `body`, without roots and findings yet.
    #[must_use]
    pub fn new(root: impl Into<String>, command: Command, body: Body) -> Self {
        Self {
            schema: SCHEMA,
            command,
            root: root.into(),
            roots: Vec::new(),
            findings: Vec::new(),
            body,
        }
    }
}

/// The commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Command {
    /// `coalesce audit`.
    Audit,
    /// `coalesce refs`.
    Refs,
    /// `coalesce find`.
    Find,
    /// `coalesce fleet`.
    Fleet,
    /// `coalesce diff`.
    Diff,
    /// `coalesce init`.
    Init,
    /// `coalesce move`.
    Move,
    /// `coalesce replace`.
    Replace,
    /// `coalesce merge`.
    Merge,
    /// `coalesce remove`.
    Remove,
    /// `coalesce plan`.
    Plan,
    /// `coalesce migrate`.
    Migrate,
    /// `coalesce rollback`.
    Rollback,
    /// `coalesce recover`.
    Recover,
    /// `coalesce status`.
    Status,
    /// `coalesce check`.
    Check,
    /// `coalesce verify`.
    Verify,
    /// `coalesce retire`.
    Retire,
    /// `coalesce explain`.
    Explain,
    /// `coalesce devices`, of a program that was built with it.
    Devices,
    /// `coalesce lsp`, which has no fields of its own: it speaks another language.
    Lsp,
    /// `coalesce mcp`, likewise.
    Mcp,
}

impl Command {
    /// As it is typed.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Audit => "audit",
            Self::Refs => "refs",
            Self::Find => "find",
            Self::Fleet => "fleet",
            Self::Diff => "diff",
            Self::Init => "init",
            Self::Move => "move",
            Self::Replace => "replace",
            Self::Merge => "merge",
            Self::Remove => "remove",
            Self::Plan => "plan",
            Self::Migrate => "migrate",
            Self::Rollback => "rollback",
            Self::Recover => "recover",
            Self::Status => "status",
            Self::Check => "check",
            Self::Verify => "verify",
            Self::Retire => "retire",
            Self::Explain => "explain",
            Self::Devices => "devices",
            Self::Lsp => "lsp",
            Self::Mcp => "mcp",
        }
    }
}

/// Each command's own fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Body {
    /// Of `audit`.
    Audit(Audit),
    /// Of `refs`.
    Refs(Refs),
    /// Of `find`.
    Find(Find),
    /// Of `fleet`.
    Fleet(Fleet),
    /// Of `diff`.
    Diff(Diff),
    /// Of `plan`.
    Plan(Plan),
    /// Of `move`, `replace`, `merge` and `remove`.
    Entry(EntryMigration),
    /// Of `init`.
    Init(Init),
    /// Of `migrate`.
    Migrate(Migrate),
    /// Of `rollback`.
    Rollback(Rollback),
    /// Of `recover`.
    Recover(Recover),
    /// Of `status`.
    Status(Status),
    /// Of `check`.
    Check(Check),
    /// Of `verify`.
    Verify(Verify),
    /// Of `retire`.
    Retire(Retire),
    /// Of `explain`.
    Explain(Explain),
    /// Of `devices`.
    Devices(Devices),
    /// Of any command that could not do its work.
    Failed(Failed),
}

/// The order of [`Body`]'s variants, for the schema; the last one goes with every command.
const BODY_COMMANDS: [&[Command]; 17] = [
    &[Command::Audit],
    &[Command::Refs],
    &[Command::Find],
    &[Command::Fleet],
    &[Command::Diff],
    &[Command::Plan],
    &[
        Command::Move,
        Command::Replace,
        Command::Merge,
        Command::Remove,
    ],
    &[Command::Init],
    &[Command::Migrate],
    &[Command::Rollback],
    &[Command::Recover],
    &[Command::Status],
    &[Command::Check],
    &[Command::Verify],
    &[Command::Retire],
    &[Command::Explain],
    &[Command::Devices],
];

/// Says in the schema which fields go with which command; the derived one allows any pair.
fn tie_command_to_body(schema: &mut schemars::Schema) {
    let Some(bodies) = schema
        .get_mut("anyOf")
        .and_then(|bodies| bodies.as_array_mut())
    else {
        return;
    };
    for (body, commands) in bodies.iter_mut().zip(BODY_COMMANDS) {
        if let Some(body) = body.as_object_mut() {
            let tie = match commands {
                [command] => {
                    schemars::json_schema!({ "command": { "const": command.as_str() } })
                }
                several => {
                    let names: Vec<&str> = several.iter().map(|command| command.as_str()).collect();
                    schemars::json_schema!({ "command": { "enum": names } })
                }
            };
            let properties = body
                .entry("properties")
                .or_insert_with(|| schemars::json_schema!({}).to_value());
            if let (Some(properties), Some(tie)) = (properties.as_object_mut(), tie.as_object()) {
                properties.extend(tie.clone());
            }
        }
    }
}

/// Bytes of one file, with the place as a person reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Range {
    /// First byte, 0-based.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// Line of the first byte, 1-based.
    pub line: u32,
    /// Column of the first byte in characters, 1-based.
    pub column: u32,
}

/// One thing to say, with its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct FindingEntry {
    /// What kind; `coalesce explain CODE` tells more.
    pub code: Code,
    /// How bad.
    pub severity: Severity,
    /// The file, relative to the root; a manifest as it was given.
    pub path: String,
    /// The place, when it is narrower than the file.
    pub range: Option<Range>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// The line that holds the place, of commands that show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<Excerpt>,
    /// Whether the place is on a line that has changed, where somebody asked since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<bool>,
}

/// A line of a file, and what of it is meant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Excerpt {
    /// The line without its end.
    pub line: String,
    /// First byte that is meant, in `line`.
    pub start: usize,
    /// One past the last byte that is meant, in `line`.
    pub end: usize,
}

/// How many files were read, and which were not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Files {
    /// Files that were read.
    pub read: usize,
    /// Files that were not, and why.
    pub skipped: Vec<SkippedFile>,
    /// Files that were read, and of which not all is known, and why: they do not parse, or a tree has
    /// more modules than are looked at. Broken Rust files that nothing loads are not among them.
    pub incomplete: Vec<SkippedFile>,
}

/// A file that was not read, or not all of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct SkippedFile {
    /// The file, relative to the root.
    pub path: String,
    /// Why, as a sentence fragment.
    pub reason: String,
}

/// The JSON schema of [`Envelope`], with line ends as the file in the repository has them.
#[must_use]
pub fn schema() -> schemars::Schema {
    json_schema::as_written::<Envelope>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_those_that_json_schema_has() {
        // A validator in strict mode stops at any other, and a patient one warns of each.
        assert!(!schema().to_value().to_string().contains("\"uint"));
    }

    #[test]
    fn the_schema_ties_each_command_to_its_fields() {
        let schema = schema().to_value();
        let bodies = schema
            .get("anyOf")
            .and_then(|bodies| bodies.as_array())
            .unwrap();
        assert_eq!(bodies.len(), BODY_COMMANDS.len() + 1);
        for (body, commands) in bodies.iter().zip(BODY_COMMANDS) {
            let tied = body.pointer("/properties/command").unwrap();
            let one = tied.get("const").and_then(|name| name.as_str());
            let several = tied.get("enum").and_then(|names| names.as_array());
            let several = several
                .into_iter()
                .flatten()
                .filter_map(|name| name.as_str());
            let names: Vec<&str> = one.into_iter().chain(several).collect();
            let wanted: Vec<&str> = commands.iter().map(|command| command.as_str()).collect();
            assert_eq!(names, wanted);
            let referenced = body
                .get("$ref")
                .and_then(|name| name.as_str())
                .unwrap_or_default();
            let [command] = commands else {
                assert!(referenced.ends_with("/EntryMigration"), "{referenced}");
                continue;
            };
            assert!(
                referenced.to_lowercase().ends_with(command.as_str()),
                "{referenced}"
            );
        }
    }
}
