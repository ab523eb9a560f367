//! What `diff` says: which definitions of one side the other has, and what differs.

use schemars::JsonSchema;
use serde::Serialize;

use super::{DifferenceAspect, Files};
use crate::{LanguageKind, TreePath};

/// What `diff` found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Diff {
    /// What was read.
    pub files: Files,
    /// The first that was named.
    pub left: DiffSide,
    /// The second.
    pub right: DiffSide,
    /// How many definitions stand in which relation; members count instead of their class.
    pub counts: Vec<RelationCount>,
    /// Definitions in the order of the left side, then what only the right side has.
    pub coverage: Vec<CoverageEntry>,
}

/// One of the compared sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DiffSide {
    /// As it was asked for.
    pub name: String,
    /// The module's canonical name; empty for a file that is no module.
    pub module: String,
    /// The item inside of the module; empty for the module itself.
    pub item: String,
    /// Its file.
    pub path: TreePath,
    /// Its language.
    pub language: LanguageKind,
}

/// How many definitions stand in one relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RelationCount {
    /// The relation.
    pub relation: CoverageRelation,
    /// How many.
    pub count: usize,
}

/// How a definition of one side stands to the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CoverageRelation {
    /// Equal up to comments, docstrings, layout, and names of imports that mean the same.
    Same,
    /// Equal but for messages, and for local names that are other ones everywhere.
    Reworded,
    /// Its head differs.
    ChangedSignature,
    /// What it does differs.
    ChangedBody,
    /// Both differ.
    ChangedSignatureAndBody,
    /// One name for two things.
    Conflicting,
    /// Only the left side has it.
    OnlyLeft,
    /// Only the right side has it.
    OnlyRight,
}

impl CoverageRelation {
    /// As it is written in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Reworded => "reworded",
            Self::ChangedSignature => "changed-signature",
            Self::ChangedBody => "changed-body",
            Self::ChangedSignatureAndBody => "changed-signature-and-body",
            Self::Conflicting => "conflicting",
            Self::OnlyLeft => "only-left",
            Self::OnlyRight => "only-right",
        }
    }
}

/// What is to be known beside the relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CoverageNote {
    /// The left side only imports it from the right one.
    LeftImports,
    /// The right side only imports it from the left one.
    RightImports,
}

/// What a definition is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DefinitionKind {
    /// A module.
    Module,
    /// A Python class.
    Class,
    /// A Rust struct.
    Struct,
    /// A Rust enum.
    Enum,
    /// A Rust union.
    Union,
    /// A Rust trait.
    Trait,
    /// An `impl` block.
    Impl,
    /// A function.
    Function,
    /// A function of a class, trait or `impl`.
    Method,
    /// A macro.
    Macro,
    /// A constant, static, or variable of a module or class.
    Constant,
    /// A type alias.
    Alias,
    /// A field or variant.
    Field,
    /// A name that an import brings.
    Import,
    /// Any other statement of a module or class.
    Statement,
}

impl DefinitionKind {
    /// As a noun.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Module => "module",
            Self::Class => "class",
            Self::Struct => "struct",
            Self::Enum => "enum",
            Self::Union => "union",
            Self::Trait => "trait",
            Self::Impl => "impl",
            Self::Function => "function",
            Self::Method => "method",
            Self::Macro => "macro",
            Self::Constant => "constant",
            Self::Alias => "alias",
            Self::Field => "field",
            Self::Import => "import",
            Self::Statement => "statement",
        }
    }
}

/// A definition of one side or of both; one place at least is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CoverageEntry {
    /// How they stand to each other.
    pub relation: CoverageRelation,
    /// What is to be known beside that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<CoverageNote>,
    /// Where the left side has it.
    pub left: Option<DefinitionPlace>,
    /// Where the right side has it; of what conflicts, what stands in its way.
    pub right: Option<DefinitionPlace>,
    /// What differs, what hurts most first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<CoverageDifference>,
    /// Local names that are other ones on the right side, everywhere.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub renamed: Vec<RenamedLocal>,
    /// The lines of both, aligned: changed ones with those around them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hunks: Vec<AlignedHunk>,
    /// Members of classes, `impl` blocks and modules.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<Self>,
}

/// Where a definition is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DefinitionPlace {
    /// What it is.
    pub kind: DefinitionKind,
    /// Its name with those around it; of a statement without a name its text.
    pub name: String,
    /// First and last line, 1-based.
    pub lines: [u32; 2],
}

/// Something that differs; one side at least is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CoverageDifference {
    /// What it is about.
    pub aspect: DifferenceAspect,
    /// Whether both sides have it, in blocks that do not stand for each other.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub moved: bool,
    /// What the left side has.
    pub left: Option<NumberedLine>,
    /// What the right side has instead.
    pub right: Option<NumberedLine>,
}

/// A line, or a statement on one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NumberedLine {
    /// Line, 1-based.
    pub line: u32,
    /// Its text, without the line's end.
    pub text: String,
}

/// A local name that is another one on the right side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RenamedLocal {
    /// On the left side.
    pub left: String,
    /// On the right side.
    pub right: String,
}

/// Lines of both sides, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AlignedHunk {
    /// The lines.
    pub rows: Vec<AlignedRow>,
}

/// A line of both sides, or of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AlignedRow {
    /// Whether both are equal up to their common indentation.
    pub equal: bool,
    /// The line of the left side.
    pub left: Option<NumberedLine>,
    /// The line of the right side.
    pub right: Option<NumberedLine>,
}
