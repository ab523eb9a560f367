//! Places that name a module or an item.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ByteSpan, TreePath};

/// How a reference is written.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Form {
    /// A whole-module import: `import a.b`, `use a::b;`, `extern crate a`.
    Import,
    /// A name out of a module: `from a.b import c`, a leaf of a use tree.
    ImportFrom,
    /// A star or glob import.
    Glob,
    /// `pub use`, or an import that a package re-exports.
    Reexport,
    /// A name or an attribute chain in code: `a.b.c`, `a::b::C`.
    Path,
    /// A module declaration: `mod a;`.
    Declaration,
    /// A definition again: an assignment to a name that is already defined.
    Binding,
    /// An attribute or a decorator argument that holds a path.
    Attribute,
    /// Inside a macro's body or arguments.
    Macro,
    /// An entry of `__all__`.
    ExportList,
    /// A string literal of code that is a full name: `mock.patch("a.b")`, `importlib`, annotations.
    String,
    /// A string literal or configuration value that is the path of a file.
    FilePath,
    /// A link or path in a doc comment.
    DocLink,
    /// Code inside documentation: a doc test, a fenced block, a notebook cell.
    DocCode,
    /// A value in a configuration file.
    Configuration,
    /// Prose in a comment, a docstring or a document.
    Prose,
}

/// How sure the resolution is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Certainty {
    /// It names this and nothing else.
    Exact,
    /// It may name this or another candidate.
    Ambiguous,
    /// It could be supplied by something that is not visible: a star import, a macro, an extension.
    Opaque,
}

/// Why a text counts as a reference; what may be rewritten by default depends on it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// The language resolves it.
    Resolved,
    /// A full name, exactly, in a string or a configuration value.
    ExactName,
    /// The exact path of a moved file, in a string or a configuration value.
    ExactPath,
    /// A full name in prose: rewritten only on request.
    Prose,
    /// Less than a full name: reported only.
    Bare,
}

/// A place in a file that names a module or an item.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    /// File.
    pub path: TreePath,
    /// The whole reference, as far as it names the target.
    pub span: ByteSpan,
    /// The segments of the name, in order; the last one is the target's own.
    pub segments: Vec<ByteSpan>,
    /// How it is written.
    pub form: Form,
    /// How sure it is.
    pub certainty: Certainty,
}

/// Schemes behind which a dotted name stands and no address: `ext://` (configuration of Python's `logging`), `module://`
/// (backends of Matplotlib), `py://` and `python://`.
const NAME_SCHEMES: [&str; 4] = ["ext://", "module://", "py://", "python://"];

/// Whether what stands behind a text is a dotted name for such a scheme: `ext://pkg.log.STREAM`.
///
/// ```
/// use coalesce_model::reference::ends_with_name_scheme;
///
/// assert!(ends_with_name_scheme("stream: ext://"));
/// assert!(!ends_with_name_scheme("see https://"));
/// assert!(!ends_with_name_scheme("see text://"));
/// ```
#[must_use]
pub fn ends_with_name_scheme(before: &str) -> bool {
    NAME_SCHEMES.iter().any(|scheme| {
        let head = before.strip_suffix(scheme);
        head.is_some_and(|head| !head.ends_with(char::is_alphanumeric))
    })
}
