//! Migration manifests: TOML in, data with positions out.
//!
//! Reading checks what a manifest can be checked for by itself: keys, verbs, names, entries that
//! contradict each other. Whether the names exist is the plan's business.

mod guard;
mod meant;
mod read;
mod record;
mod tables;
mod write;

use std::fmt;

pub use guard::{GUARD_HEAD, GUARD_PACKAGE, is_guard};
pub use meant::{did_you_mean, name_meant, nearest};
pub use read::{FURTHER_MISTAKES, MOST_MISTAKES};
pub use record::{AppliedEntries, applied_line, record_path, removal_line};
use schemars::JsonSchema;
use serde::Deserialize;
pub use tables::EXAMPLES;
pub use write::{EntryText, toml_key};

use crate::{Allowed, ByteSpan, LanguageKind, ShimStyle, Uses, json_schema, pattern::NamePattern};

/// One migration manifest.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// `0001-name`: the file name without its extension.
    pub id: String,
    /// The path as the user knows it, for messages.
    pub path: String,
    /// Its text, for snippets.
    pub text: String,
    /// What the migration is for, in a sentence.
    pub description: String,
    /// First release with the new names.
    pub since: Option<String>,
    /// Release that removes the shims.
    pub remove_in: Option<String>,
    /// Whether shims of traits warn where they are asked for, and can then not be implemented by their
    /// old names. Rust alone.
    pub trait_bounds: bool,
    /// How much of a shim stands in its own file. Python alone.
    pub shim_style: ShimStyle,
    /// Files that use old names on purpose, as globs of `.gitignore`.
    pub keep_uses: Vec<String>,
    /// Moves, replacements and merges, in the order of the file; the order means nothing.
    pub entries: Vec<Entry>,
    /// Modules that go, in the order of the file.
    pub removals: Vec<Removal>,
    /// Guarded imports that give way to functions, in the order of the file.
    pub accessors: Vec<Accessor>,
    /// What `check` forbids from now on.
    pub forbids: Vec<Forbid>,
    /// How `verify` checks the result.
    pub verify: VerifyTable,
    /// What may change when modules are imported.
    pub allow: Allowed,
    /// What is known to have been applied of it.
    pub applied: AppliedEntries,
}

/// How the project checks itself: what `coalesce verify` and `migrate --verify` run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct VerifyTable {
    /// Commands of the system's shell that are run in the root of the copy, instead of what would
    /// be run otherwise.
    #[serde(default)]
    pub commands: Vec<String>,
    /// What pytest is given; without an entry no tests are run.
    #[serde(default)]
    pub tests: Vec<String>,
    /// How long each program may take, in seconds; 1200 where nothing is said.
    pub timeout: Option<u64>,
    /// Configurations that are tried beside what is tried anyway.
    #[serde(default)]
    pub matrix: Vec<VerifyConfiguration>,
}

/// One configuration that is compiled beside what is tried anyway.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct VerifyConfiguration {
    /// Packages of the workspace by name; all of them when there is none.
    pub packages: Vec<String>,
    /// Features that are on.
    pub features: Vec<String>,
    /// Whether the default features are off.
    pub no_default_features: bool,
    /// The target triple.
    pub target: Option<String>,
}

/// A name with the place it was written at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// `a.b.c` or `a::b::c`.
    pub text: String,
    /// The directory that the name is looked up under, from `dir//name`.
    pub within: Option<String>,
    /// Place of the value in the manifest, quotes included.
    pub span: ByteSpan,
}

impl Name {
    /// The language its separator tells; `None` for a single segment.
    #[must_use]
    pub fn language(&self) -> Option<LanguageKind> {
        LanguageKind::of_name(&self.text)
    }
}

/// What an entry does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// `[[move]]`: `to` must not exist yet.
    Move,
    /// `[[replace]]`: `to` must exist.
    Replace,
    /// `[[merge]]`: `into` must exist; what it lacks moves to it.
    Merge,
    /// `[[remove]]`: the module goes, and nothing takes its place.
    Remove,
    /// `[[accessor]]`: guarded imports of a library give way to a function.
    Access,
}

impl Verb {
    /// As it stands in the manifest.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Move => "move",
            Self::Replace => "replace",
            Self::Merge => "merge",
            Self::Remove => "remove",
            Self::Access => "accessor",
        }
    }
}

/// What an [`Entry`] does, which says two names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryVerb {
    /// [`Verb::Move`].
    Move,
    /// [`Verb::Replace`].
    Replace,
    /// [`Verb::Merge`].
    Merge,
}

impl EntryVerb {
    /// As it stands in the manifest.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.as_verb().as_str()
    }

    /// One of all verbs.
    #[must_use]
    pub const fn as_verb(self) -> Verb {
        match self {
            Self::Move => Verb::Move,
            Self::Replace => Verb::Replace,
            Self::Merge => Verb::Merge,
        }
    }
}

/// What the names of an entry are, where a name may be several things.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "lowercase")]
pub enum NameKind {
    /// A module.
    Module,
    /// A class, function, constant or other item.
    Item,
    /// The root of a crate, which is a Rust name of one segment.
    Crate,
}

/// One `[[move]]`, `[[replace]]` or `[[merge]]`.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What it does.
    pub verb: EntryVerb,
    /// `kind`, when the entry gives it.
    pub kind: Option<NameKind>,
    /// The name before.
    pub from: Name,
    /// The name after; `into` of a merge.
    pub to: Name,
    /// Whether a shim stays at the old name.
    pub shim: bool,
    /// What users call what has another name.
    pub uses: Uses,
    /// `(old item, new item)` of a moved, replaced or merged module.
    pub rename: Vec<(String, String)>,
    /// What becomes of things that both modules of a merge have and that are not the same.
    pub decide: Vec<Decision>,
}

/// One entry of the `decide` table of a `[[merge]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The item of `from`, or the first line of a statement that defines nothing.
    pub item: String,
    /// Place of the key in the manifest.
    pub span: ByteSpan,
    /// What becomes of it.
    pub choice: Choice,
}

/// What becomes of a thing that two merged modules have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// `"keep-into"`: that of `into` stays, and everybody uses it.
    KeepInto,
    /// `"keep-from"`: that of `from` takes the place of the other one.
    KeepFrom,
    /// `"rename:NAME"`: both stay; that of `from` gets this name in `into`.
    Rename(String),
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeepInto => f.write_str("keep-into"),
            Self::KeepFrom => f.write_str("keep-from"),
            Self::Rename(name) => write!(f, "rename:{name}"),
        }
    }
}

impl Choice {
    /// The choice that `text` is; `None` for what is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "keep-into" => Some(Self::KeepInto),
            "keep-from" => Some(Self::KeepFrom),
            _ => {
                let name = text.strip_prefix("rename:")?.trim();
                (!name.is_empty()).then(|| Self::Rename(name.to_owned()))
            }
        }
    }
}

/// One `[[remove]]`.
#[derive(Clone, Debug)]
pub struct Removal {
    /// The module that goes.
    pub module: Name,
}

/// One `[[accessor]]`.
#[derive(Clone, Debug)]
pub struct Accessor {
    /// The library, as it is imported.
    pub library: Name,
    /// The function that gives the library, or `None` where it is missing.
    pub get: Name,
    /// The function that says whether it is there.
    pub has: Option<Name>,
    /// Modules that go on importing it themselves.
    pub except: Vec<NamePattern>,
}

/// One `[[forbid]]`.
#[derive(Clone, Debug)]
pub struct Forbid {
    /// What must not be imported or named.
    pub import: NamePattern,
    /// Importers that may.
    pub except: Vec<NamePattern>,
    /// What to say.
    pub message: Option<String>,
    /// Place in the manifest.
    pub span: ByteSpan,
}

/// Why a manifest cannot be followed: what, where, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}:{line}:{column}: {message}")]
pub struct ManifestError {
    /// The manifest's path as the user knows it.
    pub path: String,
    /// Line number, 1-based.
    pub line: u32,
    /// Column in characters, 1-based.
    pub column: u32,
    /// The offending bytes.
    pub span: ByteSpan,
    /// What is wrong: lower-case, no final period.
    pub message: String,
    /// What would be right, often the nearest existing name.
    pub help: Option<String>,
}

impl Manifest {
    /// An error of this manifest at `span`.
    #[must_use]
    pub fn error(
        &self,
        span: ByteSpan,
        message: impl Into<String>,
        help: Option<String>,
    ) -> ManifestError {
        read::error_at(&self.path, &self.text, span, message.into(), help)
    }
}

/// The JSON schema of a manifest (draft 2020-12), as editors take it by `#:schema`.
#[must_use]
pub fn schema() -> schemars::Schema {
    json_schema::as_read::<tables::Document>()
}
