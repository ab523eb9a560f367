//! Modules, the roots they are named from, and who imports whom.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ByteSpan, TreePath};

/// A language that Coalesce understands.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum LanguageKind {
    /// Rust: names are parted by `::`.
    Rust,
    /// Python: names are parted by `.`.
    Python,
    /// GPU kernels of the C family and WGSL: compared, never moved. Names are parted by `::`.
    Kernel,
}

impl LanguageKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Python, Self::Rust, Self::Kernel];

    /// As the JSON has it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Rust => "rust",
            Self::Kernel => "kernel",
        }
    }

    /// The endings of its source files, the usual one first.
    #[must_use]
    pub const fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Python => &["py", "pyi"],
            Self::Rust => &["rs"],
            Self::Kernel => &["cu", "cuh", "hip", "cl", "metal", "wgsl"],
        }
    }

    /// The language of source files with this ending.
    #[must_use]
    pub fn of_extension(extension: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|language| language.extensions().contains(&extension))
    }

    /// What parts the segments of a name.
    #[must_use]
    pub const fn separator(self) -> &'static str {
        match self {
            Self::Rust | Self::Kernel => "::",
            Self::Python => ".",
        }
    }

    /// The language whose separator `name` uses; `None` for a name of one segment.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        if name.contains("::") {
            Some(Self::Rust)
        } else {
            name.contains('.').then_some(Self::Python)
        }
    }
}

/// A directory or crate target that names begin at, and how it was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Root {
    /// Its language.
    pub language: LanguageKind,
    /// Python: the directory whose children are importable. Rust: the root file of the target.
    pub path: TreePath,
    /// Rust: the target's crate name. Python: empty.
    pub name: String,
    /// What it is: `lib`, `bin`, `test`, `example`, `bench`, `build-script`, `import-root`, ….
    pub kind: String,
    /// How it was found, as a sentence fragment: `declared by [tool.setuptools] in pyproject.toml`.
    pub reason: String,
}

/// What a module amounts to.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum ModuleKind {
    /// It defines something.
    Module,
    /// It defines nothing and re-exports nothing.
    Stub,
    /// It only re-exports names of other modules, with or without a warning.
    Redirect,
    /// A redirect that Coalesce wrote; its file names the manifest.
    Shim,
}

/// One module: a Rust module (file or inline) or a Python module or package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Module {
    /// Canonical name: `crate_name::a::b`, `pkg.a.b`.
    pub name: String,
    /// The file that holds it.
    pub path: TreePath,
    /// Its language.
    pub language: LanguageKind,
    /// What it amounts to.
    pub kind: ModuleKind,
    /// Lines of the file, or of the braces for an inline module.
    pub lines: u32,
    /// Names of the items that it defines, in source order, each once.
    pub defines: Vec<String>,
    /// Names that it offers to others: public definitions, re-exports, `__all__`.
    pub exports: Vec<String>,
    /// For an inline module, its span in the file.
    pub inline: Option<ByteSpan>,
    /// Whether it can hold submodules as files: a Python package, a Rust `mod.rs` or root file.
    pub package: bool,
    /// Other canonical names of the same file: several roots reach it, or several targets share it.
    pub also: Vec<String>,
}

/// What an import stands inside of, as far as it changes what a failure means.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Guard {
    /// Nothing: it fails loudly.
    #[default]
    None,
    /// `try: … except ImportError` (or wider): a stale name fails nowhere, it turns a feature off.
    ImportError,
    /// The handler of such a `try`: the fallback.
    Fallback,
    /// `if TYPE_CHECKING`: never executed.
    TypeChecking,
    /// `contextlib.suppress(ImportError)`, `pytest.importorskip`: skipped without a word.
    Suppressed,
    /// Under a `cfg` or a condition that is not known.
    Conditional,
}

impl Guard {
    /// Whether a failure of the import would go unnoticed.
    #[must_use]
    pub const fn hides_failure(self) -> bool {
        matches!(self, Self::ImportError | Self::Fallback | Self::Suppressed)
    }
}

/// What an import leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportTarget {
    /// A module of the tree: index into the graph's modules.
    Module(usize),
    /// Outside the tree: a dependency or the standard library.
    External,
    /// It names a package of the tree, but nothing that is there.
    Unresolved,
    /// It may or may not be there: names made at run time, unexpanded macros, compiled extensions.
    Opaque,
}

/// One imported thing: one edge of the import graph. An import statement gives one for each module
/// that it loads or names; implicit parents (`a` for `import a.b`) are left to the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// Index of the importing module.
    pub importer: usize,
    /// Where it leads.
    pub target: ImportTarget,
    /// The full name as the importer means it: relative ones made absolute, without alias;
    /// `pkg.mod.item` for an item.
    pub name: String,
    /// File of the import.
    pub path: TreePath,
    /// The name in the source (the leaf of a list).
    pub span: ByteSpan,
    /// Line number of the span's first byte, 1-based.
    pub line: u32,
    /// Executed when the importing module is (module level, class body), not inside a function,
    /// nor under `TYPE_CHECKING`. Rust imports are never eager: order does not matter there.
    pub eager: bool,
    /// What it stands inside of.
    pub guard: Guard,
}

/// A text in a source file that looks like a module's full name or a file's path without being an
/// import: a string literal. `check` holds it against forbidden names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// File.
    pub path: TreePath,
    /// The name within the literal.
    pub span: ByteSpan,
    /// Line number, 1-based.
    pub line: u32,
    /// The dotted or `::` name.
    pub name: String,
}
