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

/// An option of tools that takes the name of a module.
struct ModuleOption {
    name: &'static str,
    /// Words of which one stands before it in the command; none where the option is nobody else's.
    commands: &'static [&'static str],
    /// Words behind which the option belongs to something else.
    ends: &'static [&'static str],
}

const MODULE_OPTIONS: [ModuleOption; 6] = [
    ModuleOption {
        name: "-m",
        commands: &["python", "executable", "coverage run"],
        ends: &["-m", "pytest"],
    },
    ModuleOption {
        name: "-p",
        commands: &["pytest", "py.test", "addopts", "mypy"],
        ends: &["mkdir"],
    },
    ModuleOption {
        name: "--package",
        commands: &["mypy"],
        ends: &[],
    },
    ModuleOption {
        name: "--source",
        commands: &["coverage"],
        ends: &[],
    },
    ModuleOption {
        name: "--cov",
        commands: &[],
        ends: &[],
    },
    ModuleOption {
        name: "--pyargs",
        commands: &[],
        ends: &[],
    },
];

/// How far before an option the command is looked for, in bytes.
const LONGEST_COMMAND: usize = 400;

/// Whether what stands behind a text is the name of a module for an option of a tool: `python -m pkg`, `"--cov", "pkg"`.
///
/// ```
/// use coalesce_model::reference::ends_with_module_option;
///
/// assert!(ends_with_module_option("python -m "));
/// assert!(ends_with_module_option("[sys.executable, '-m', '"));
/// assert!(ends_with_module_option("pytest tests --cov="));
/// assert!(!ends_with_module_option("python -m pytest -m "));
/// assert!(!ends_with_module_option("mkdir -p "));
/// ```
#[must_use]
pub fn ends_with_module_option(before: &str) -> bool {
    let between = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | '=');
    let head = before.trim_end_matches(between);
    if head.len() == before.len() {
        return false;
    }
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    MODULE_OPTIONS.iter().any(|option| {
        let command = head.strip_suffix(option.name);
        let command = command.filter(|command| !command.ends_with(is_word));
        command.is_some_and(|command| option.is_of(command))
    })
}

impl ModuleOption {
    /// Whether it belongs to what stands at the end of a text.
    fn is_of(&self, command: &str) -> bool {
        let start = command.len().saturating_sub(LONGEST_COMMAND);
        let near = command.get(command.floor_char_boundary(start)..);
        let near = near.unwrap_or_default();
        let begin = self.commands.iter().filter_map(|word| {
            let at = near.rfind(word)?;
            Some(at + word.len())
        });
        let rest = begin.max().and_then(|at| near.get(at..));
        self.commands.is_empty()
            || rest.is_some_and(|rest| !self.ends.iter().any(|word| rest.contains(word)))
    }
}
