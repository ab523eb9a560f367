//! What one Python file contributes: owned, compact, in byte offsets of the file.

use coalesce_model::{ByteSpan, Guard};
use serde::{Deserialize, Serialize};

use crate::flow::Flow;

/// A text with its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spanned {
    /// The text; of a dotted name without blanks.
    pub text: String,
    /// Its place.
    pub span: ByteSpan,
}

/// The facts of one file: a source file, or a project file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PythonFacts {
    /// Number of lines.
    pub lines: u32,
    /// Id of the manifest that a shim names.
    pub shim: Option<String>,
    /// Items that a shim at the end of the file keeps at their old name, and the manifest of each.
    pub item_shims: Vec<(String, String)>,
    /// Where and why the file does not parse; the other facts are then what could be recovered.
    pub syntax_error: Option<(ByteSpan, String)>,
    /// Every import statement, in source order.
    pub imports: Vec<ImportStatement>,
    /// Names bound at module level by something else than an import, in source order, each once.
    pub defines: Vec<String>,
    /// `__all__`, when it is literal.
    pub all: Option<Vec<Spanned>>,
    /// Names may appear that the text does not show: `__getattr__`, `globals()`, `exec`, a dynamic `__all__`.
    pub dynamic: bool,
    /// All such names stand in tables that are read whole, or in the file of types beside this one.
    pub tabled: bool,
    /// A package that may have modules of which no file of the tree tells: it changes where its modules
    /// are looked for, or which ones are loaded.
    pub makes_modules: bool,
    /// Modules that a package may have so by their full names, and what is below them.
    pub made_modules: Vec<String>,
    /// Modules that the file puts into `sys.modules`, and that look for their submodules where another package does.
    pub path_redirects: Vec<PathRedirect>,
    /// What the module consists of besides imports.
    pub content: Content,
    /// String literals that are dotted names of two and more segments and nothing else, with their
    /// lines (1-based).
    pub names: Vec<(Spanned, u32)>,
    /// Import roots that a project file declares, relative to its directory, with the reason.
    pub declared_roots: Vec<(String, String)>,
    /// Names bound at module level only when the file runs as a program, in source order.
    pub program_names: Vec<String>,
    /// The file of types beside this one says what is imported at run time.
    pub lazy_stub: bool,
    /// Tables that load modules at run time and could not be read.
    pub unknown_tables: Vec<ByteSpan>,
    /// Functions that look names up in tables of which nobody knows whether they load modules.
    pub perhaps_tables: Vec<ByteSpan>,
    /// Calls that import a module of which only the beginning of the name is known.
    pub open_imports: Vec<FromPart>,
    /// Whether a call imports a module by a name that is no literal from its beginning on.
    pub imports_by_value: bool,
    /// Distributions that a project file says are always installed along.
    pub requirements: Vec<String>,
    /// What a project file says of the distribution that its folder is.
    pub distribution: DeclaredDistribution,
    /// Full names of compiled modules that a project file says are built.
    pub extensions: Vec<String>,
    /// What executing the file and calling its definitions does, in order.
    pub flow: Flow,
    /// What executing the file may do to other modules, in source order.
    pub effects: Vec<Effect>,
    /// The first warning that executing the file gives, but those of a failed import.
    pub warning: Option<ByteSpan>,
    /// Functions of the module that put what they are given, or something else, into what lasts.
    pub storing_functions: Vec<String>,
}

/// What a project file says of a distribution, besides what is always installed along.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeclaredDistribution {
    /// Its name as it is written; none where the file is one of settings alone.
    pub name: Option<String>,
    /// What is installed along where somebody asks for more: extras, groups for tests.
    pub on_request: Vec<String>,
    /// What is installed along is worked out when it is built.
    pub worked_out: bool,
}

impl PythonFacts {
    /// Each name that is imported, with its statement.
    pub fn import_leaves(&self) -> impl Iterator<Item = (&ImportStatement, &Leaf)> {
        self.imports.iter().flat_map(|import| {
            let leaves = import.leaves.iter();
            leaves.map(move |leaf| (import, leaf))
        })
    }
}

/// A module that is an object in `sys.modules`, and whose `__path__` is that of a package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathRedirect {
    /// Full name of the module.
    pub module: String,
    /// Full name of the package.
    pub package: String,
}

/// Something that executing a module may do to others: a call for its own sake, a value that is set
/// elsewhere, a decorator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// The place.
    pub span: ByteSpan,
    /// The definition that a decorator stands on.
    pub item: Option<String>,
    /// What is called, or set: a name and its attributes. Empty where it is no such chain.
    pub chain: Vec<String>,
}

/// What a module consists of, as far as its kind depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Content {
    /// Nothing but documentation.
    #[default]
    Nothing,
    /// Imports, `__all__` and warnings.
    Imports,
    /// Code of its own.
    Code,
}

/// One import statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportStatement {
    /// From the keyword to the end of the last name or the closing parenthesis.
    pub span: ByteSpan,
    /// The module part of `from … import`; `None` for `import …`.
    pub from: Option<FromPart>,
    /// The imported names, in order; a star is a leaf named `*`.
    pub leaves: Vec<Leaf>,
    /// Executed with the module.
    pub eager: bool,
    /// Stands at module level, where its names become the module's.
    pub top_level: bool,
    /// What it stands inside of.
    pub guard: Guard,
    /// Stands in a branch of an `if`: whether it is executed, the text does not say.
    pub conditional: bool,
    /// A table says it, and it is executed when one of its names is asked for.
    pub lazy: bool,
}

/// The module part of a `from` import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FromPart {
    /// Number of leading dots.
    pub level: u32,
    /// What follows the dots; empty for `from . import`.
    pub module: String,
    /// Dots and module together.
    pub span: ByteSpan,
}

impl FromPart {
    /// The module that a text names, its first dots counted: `.device`, `pkg.device`.
    pub(crate) fn of_text(text: &str, span: ByteSpan) -> Self {
        let module = text.trim_start_matches('.');
        Self {
            level: u32::try_from(text.len() - module.len()).unwrap_or(u32::MAX),
            module: module.to_owned(),
            span,
        }
    }

    /// The absolute name of the module in a module of package `package`; `None` when the dots lead
    /// above the top.
    #[must_use]
    pub fn absolute(&self, package: &str) -> Option<String> {
        if self.level == 0 {
            return Some(self.module.clone());
        }
        let mut base = package;
        for _ in 1..self.level {
            (base, _) = base.rsplit_once('.')?;
        }
        if base.is_empty() {
            return None;
        }
        // Asked for every import of a tree: one text, and no list of its parts.
        let mut name = String::with_capacity(base.len() + 1 + self.module.len());
        name.push_str(base);
        for part in self.module.split('.').filter(|part| !part.is_empty()) {
            name.push('.');
            name.push_str(part);
        }
        if self.module.ends_with('.') {
            name.push('.');
        }
        Some(name)
    }
}

/// One imported name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leaf {
    /// The name: dotted in `import a.b`.
    pub name: Spanned,
    /// The name after `as`.
    pub alias: Option<Spanned>,
    /// Name and alias together.
    pub span: ByteSpan,
    /// Line of the name, 1-based.
    pub line: u32,
}

impl Leaf {
    /// The name that the leaf binds: for `import a.b` without alias that is `a`.
    #[must_use]
    pub fn bound(&self) -> &str {
        match &self.alias {
            Some(alias) => &alias.text,
            None => self.name.text.split('.').next().unwrap_or(&self.name.text),
        }
    }
}

impl ImportStatement {
    /// Whether it is `from __future__ import annotations`: annotations are texts then, which nothing evaluates.
    #[must_use]
    pub fn leaves_annotations_as_texts(&self) -> bool {
        let from = self.from.as_ref();
        from.is_some_and(|from| from.level == 0 && from.module == "__future__")
            && self
                .leaves
                .iter()
                .any(|leaf| leaf.name.text == "annotations")
    }

    /// Whether a name that it binds is what it says, whatever an earlier statement has bound it to.
    #[must_use]
    pub fn replaces(&self, earlier: &Self) -> bool {
        // `import a.b` and `import a.c` bind one thing.
        let may_differ = self.from.is_some() || earlier.from.is_some();
        may_differ && self.guard == Guard::None && !self.conditional && !self.lazy
    }

    /// The absolute name of the module that a `from` part means, in a module of package `package`.
    /// `None` when the dots lead above the top.
    #[must_use]
    pub fn base(&self, package: &str) -> Option<String> {
        self.from.as_ref()?.absolute(package)
    }

    /// The full name that a leaf means, before re-exports are followed.
    #[must_use]
    pub fn full_name(&self, leaf: &Leaf, package: &str) -> Option<String> {
        match &self.from {
            None => Some(leaf.name.text.clone()),
            Some(_) => Some(format!("{}.{}", self.base(package)?, leaf.name.text)),
        }
    }
}
