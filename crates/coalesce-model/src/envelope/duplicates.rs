//! What `audit` says about duplicates.

use std::{borrow::Cow, fmt};

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::{LanguageKind, TreePath};

/// A share between 0 and 1, in thousandths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share(u16);

impl Share {
    /// The nearest thousandth; what is outside of 0 to 1 is brought to the nearer end.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is between 0 and 1000"
    )]
    pub fn new(share: f32) -> Self {
        Self((share.clamp(0.0, 1.0) * 1000.0).round() as u16)
    }

    /// As a number between 0 and 1.
    #[must_use]
    pub fn value(self) -> f64 {
        f64::from(self.0) / 1000.0
    }
}

/// As percent, without a fraction.
impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", self.0 / 10)
    }
}

impl Serialize for Share {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.value())
    }
}

impl JsonSchema for Share {
    fn schema_name() -> Cow<'static, str> {
        "Share".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A share between 0 and 1.",
            "type": "number",
            "minimum": 0,
            "maximum": 1
        })
    }
}

/// What the members of a class of duplicates are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DuplicateKind {
    /// Modules.
    Module,
    /// Classes, structs, enums, traits and `impl` blocks.
    Class,
    /// Functions and methods.
    Function,
    /// Statements of modules.
    Block,
    /// Places that do the same with the same library, whatever their text.
    Idiom,
}

impl DuplicateKind {
    /// As a noun.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Module => "module",
            Self::Class => "class",
            Self::Function => "function",
            Self::Block => "block",
            Self::Idiom => "idiom",
        }
    }
}

/// Copies of each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DuplicateEntry {
    /// A name that stays when lines shift and members come or go.
    pub id: String,
    /// What the members are.
    pub kind: DuplicateKind,
    /// Their language.
    pub language: LanguageKind,
    /// The copies, by file and place.
    pub members: Vec<DuplicateMember>,
    /// The least that makes a member part of it: of functions and blocks the tokens in common, of
    /// classes and modules what of the smaller one has a counterpart. 1 says that all are the same but for
    /// local names, each for one throughout, and messages.
    pub similarity: Share,
    /// How likely a maintainer calls it duplicated, of functions and blocks: a probability that was fitted to what
    /// readers said of such pairs. It says nothing of whether anybody wants it gone. `null` for other kinds.
    pub likelihood: Option<Share>,
    /// How like it is to code that maintainers merged, by how much is the same in the same words and decides something:
    /// no probability (of what has 0.6 and more readers would merge a third).
    /// `null` where nobody asks: tests, examples, other projects' code.
    pub merging: Option<Share>,
    /// Lines that would go if one copy stayed.
    pub removable_lines: u32,
    /// What each copy does that the others do not; those of the file that was changed last come first.
    pub differences: Vec<DifferenceEntry>,
    /// Where it could have its one home: of functions, types and modules of what a program does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home: Option<HomeEntry>,
    /// What the catalogue says of an idiom.
    pub title: Option<String>,
    /// Where it belongs on a page: `product` (what to do first), `next` (the same with less to gain), `alike` (perhaps left as
    /// it is), `variants` (in each file of a family, version or folder), `asked` (the language asks for it more than once),
    /// `kernels` (on a device), `packages` (with changes, in several of them), `idioms` (the same question, and no text),
    /// `backends` (once for each backend), `kept` (a text beside it speaks of the other copy, one is deprecated, or it is
    /// a step of a migration), `programs` (that each stand alone), `tests`, `examples`, `generated` or `vendored`.
    pub chapter: String,
    /// The id of the class that it is told with: a larger one in whose members all of its members stand, or the first of
    /// a family of which it is another part (they share a place, overlap, one stands in all places of the other, or they
    /// have the very same files or functions of one rare name). `null` where there is none.
    pub inside: Option<String>,
    /// Whether the baseline does not know it, or not all of its members; `None` without a baseline.
    pub new: Option<bool>,
}

/// Where copies could have their one home.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HomeEntry {
    /// The full name of the member that could stay, or that it would have in a library that all members can use
    /// already; `null` where a new home is needed.
    pub name: Option<String>,
    /// What speaks for it, the strongest first, or why no member can stay where it is.
    pub reasons: Vec<String>,
}

/// One copy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct DuplicateMember {
    /// Its file.
    pub path: TreePath,
    /// Its name inside of the file; empty for modules and for blocks without a name.
    pub item: String,
    /// First and last line, 1-based.
    pub lines: [u32; 2],
    /// When a commit last changed its file, in seconds since 1970; only of classes whose differences are
    /// told, and where commits tell it.
    pub changed: Option<i64>,
    /// Whether its file has changes that no commit holds; then it is the newest. Asked of the same ones.
    pub uncommitted: bool,
}

/// Something that one member does and no other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DifferenceEntry {
    /// Which member: index into the class's list.
    pub member: usize,
    /// What it is about.
    pub aspect: DifferenceAspect,
    /// Line in the member's file, 1-based.
    pub line: u32,
    /// The text, on one line, cut where it is long.
    pub text: String,
}

/// What a difference is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DifferenceAspect {
    /// A condition.
    Guard,
    /// A number or key in a statement that the others have too.
    Constant,
    /// What is done otherwise.
    Fallback,
    /// What is caught or raised.
    Exception,
    /// What is imported.
    Import,
    /// A parameter, or what it is when left out.
    Default,
    /// What is returned.
    Return,
    /// Another part of a head: a decorator, an attribute, visibility, a type. In `diff` only.
    Signature,
    /// Anything else.
    Statement,
    /// A message. In `diff` only.
    Wording,
}

impl DifferenceAspect {
    /// As a noun.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Guard => "guard",
            Self::Constant => "constant",
            Self::Fallback => "fallback",
            Self::Exception => "exception",
            Self::Import => "import",
            Self::Default => "default",
            Self::Return => "return",
            Self::Signature => "signature",
            Self::Wording => "wording",
            Self::Statement => "statement",
        }
    }
}

/// What a file does with GPU libraries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RoleEntry {
    /// The file.
    pub path: TreePath,
    /// Its module; the path where no module is known.
    pub module: String,
    /// Its language.
    pub language: LanguageKind,
    /// The libraries that it calls, sorted.
    pub packages: Vec<String>,
    /// How many calls for what, by role.
    pub roles: Vec<RoleCount>,
}

/// Calls for one thing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct RoleCount {
    /// What for: `detect`, `select`, `allocate`, `pool`, `release`, `measure`, `transfer`, `stream`,
    /// `profile`, `launch` or `compute`.
    pub role: String,
    /// How many calls.
    pub count: u32,
    /// Line of the first, 1-based.
    pub line: u32,
}

/// A module that defines nothing, and who still imports it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StubEntry {
    /// The module.
    pub module: String,
    /// Its file.
    pub path: TreePath,
    /// Its language.
    pub language: LanguageKind,
    /// What it amounts to.
    pub kind: StubKind,
    /// Modules that import it, sorted.
    pub importers: Vec<String>,
}

/// What a module without definitions of its own amounts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StubKind {
    /// It is empty.
    Empty,
    /// It only re-exports.
    Redirect,
    /// It is a shim that Coalesce wrote.
    Shim,
    /// All of its functions only call another one.
    Forwarder,
}

/// Lines of code that call GPU libraries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GpuLines {
    /// Lines of functions and guarded imports with such a call.
    pub total: u32,
    /// Those of them that would go if one copy of each stayed.
    pub duplicate: u32,
}
