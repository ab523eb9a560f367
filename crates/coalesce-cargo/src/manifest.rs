//! Packages, workspaces and targets, from parsed `Cargo.toml` files and the list of files.
//!
//! Cargo is never run. Only what names modules is read: targets, editions, dependencies.

mod read;
mod targets;

use coalesce_model::{ByteSpan, TreePath};
use serde::{Deserialize, Serialize};

pub use read::manifest_facts;
pub use targets::packages;

/// An edition of the language, as far as paths differ.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Edition {
    /// `use` paths start at the crate root.
    #[default]
    E2015,
    /// `use` paths are like all others.
    E2018,
    /// As 2018.
    E2021,
    /// As 2018.
    E2024,
}

impl Edition {
    /// As it is written in a manifest.
    #[must_use]
    pub const fn year(self) -> &'static str {
        match self {
            Self::E2015 => "2015",
            Self::E2018 => "2018",
            Self::E2021 => "2021",
            Self::E2024 => "2024",
        }
    }
}

/// What a target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TargetKind {
    /// The library.
    Lib,
    /// A program.
    Bin,
    /// An example.
    Example,
    /// An integration test.
    Test,
    /// A benchmark.
    Bench,
    /// The build script.
    BuildScript,
}

/// A dependency of a manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependency {
    /// The name in code, underscored.
    pub name: String,
    /// The package it names.
    pub package: String,
    /// Its path relative to the manifest that says it.
    pub path: Option<String>,
    /// Whether the workspace says what it is (`workspace = true`).
    pub inherited: bool,
    /// The table that it stands in.
    pub kind: DependencyKind,
    /// Whether it is there on every system and with any features.
    pub is_unconditional: bool,
}

/// Which targets see a dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DependencyKind {
    /// All but the build script.
    Normal,
    /// Tests, examples, benches.
    Dev,
    /// The build script.
    Build,
    /// `[workspace.dependencies]`: what members may inherit.
    Workspace,
    /// `[patch.…]`: where a package really comes from.
    Patch,
}

/// A target that the manifest spells out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeclaredTarget {
    /// What it is.
    pub kind: TargetKind,
    /// `name = …`
    pub name: Option<String>,
    /// `path = …`
    pub path: Option<String>,
    /// `edition = …`
    pub edition: Option<Edition>,
}

/// What a `Cargo.toml` says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestFacts {
    /// `[package] name`; `None` for a virtual manifest.
    pub package: Option<String>,
    /// `edition`, of the package or, in a virtual manifest, of `[workspace.package]`.
    pub edition: Option<Edition>,
    /// `edition.workspace = true`
    pub edition_inherited: bool,
    /// `[workspace.package] edition`
    pub workspace_edition: Option<Edition>,
    /// Whether there is a `[workspace]`.
    pub workspace: bool,
    /// `build = "…"`, or `Some("")` for `build = false`.
    pub build: Option<String>,
    /// Targets that are spelled out.
    pub targets: Vec<DeclaredTarget>,
    /// Kinds whose targets are not found by themselves (`autobins = false`).
    pub no_auto: Vec<TargetKind>,
    /// Dependencies of all tables.
    pub dependencies: Vec<Dependency>,
    /// Why it does not parse.
    pub problem: Option<(ByteSpan, String)>,
}

/// A package of the tree.
#[derive(Clone, Debug)]
pub struct Package {
    /// `[package] name`
    pub name: String,
    /// The directory of its manifest.
    pub directory: TreePath,
    /// Its targets.
    pub targets: Vec<Target>,
    /// Its dependencies, inherited ones filled in; paths relative to the tree.
    pub dependencies: Vec<ResolvedDependency>,
}

/// A dependency with its directory in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedDependency {
    /// The name in code, underscored.
    pub name: String,
    /// The package it names.
    pub package: String,
    /// Directory in the tree, for path dependencies.
    pub directory: Option<TreePath>,
    /// Which targets see it.
    pub kind: DependencyKind,
    /// Whether it is there on every system and with any features.
    pub is_unconditional: bool,
}

/// A target of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// What it is.
    pub kind: TargetKind,
    /// The crate's name in code.
    pub name: String,
    /// Root file.
    pub path: TreePath,
    /// Its edition.
    pub edition: Edition,
    /// How it was found, as a sentence fragment.
    pub reason: String,
}

impl Edition {
    fn of(text: &str) -> Option<Self> {
        match text {
            "2015" => Some(Self::E2015),
            "2018" => Some(Self::E2018),
            "2021" => Some(Self::E2021),
            "2024" => Some(Self::E2024),
            _ => None,
        }
    }
}

impl TargetKind {
    /// The kind as roots call it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lib => "lib",
            Self::Bin => "bin",
            Self::Example => "example",
            Self::Test => "test",
            Self::Bench => "bench",
            Self::BuildScript => "build-script",
        }
    }

    /// The directory whose files are targets of this kind, below the package.
    const fn directory(self) -> &'static str {
        match self {
            Self::Lib | Self::BuildScript => "",
            Self::Bin => "src/bin",
            Self::Example => "examples",
            Self::Test => "tests",
            Self::Bench => "benches",
        }
    }
}

/// Kinds that a manifest lists as `[[kind]]`.
const LISTED: [TargetKind; 4] = [
    TargetKind::Bin,
    TargetKind::Example,
    TargetKind::Test,
    TargetKind::Bench,
];

/// A package's name as code writes it.
#[must_use]
pub fn crate_name(package: &str) -> String {
    package.replace('-', "_")
}
