//! A plan as data: what a language proposes for a set of changes.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ByteSpan, Edit, Evidence, Finding, Form, TreePath, envelope::LostName};

/// How far a change may be trusted.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Safety {
    /// Resolved and proven: applied.
    Safe,
    /// Applied, and worth a look.
    NeedsReview,
    /// Shown only, never applied.
    ReportOnly,
}

/// One reference and what becomes of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Rewrite {
    /// File, by its path before the migration.
    pub path: TreePath,
    /// The place in the original text.
    pub span: ByteSpan,
    /// How the reference is written.
    pub form: Form,
    /// Why it counts as one.
    pub evidence: Evidence,
    /// The full name before.
    pub from: String,
    /// The full name after.
    pub to: String,
    /// Why it changes the way it does, as a sentence fragment.
    pub reason: String,
    /// How far to trust it.
    pub safety: Safety,
}

/// An import that waits until something is called, or takes names from nearer to where they are defined, in a file of the
/// tree as it would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportChange {
    /// File, by its path after the migration.
    pub path: TreePath,
    /// Edits of its text after the migration.
    pub edits: Vec<Edit>,
    /// What is told of it.
    pub note: Finding,
    /// What may be told apart by who looks, so that reading cannot tell whether it matters, if anything.
    pub unproven: Option<Unproven>,
    /// Public names that the module of the file has no more, of packages that are made to be published.
    pub lost_names: Vec<LostName>,
}

/// An import that the tree as it would be needs besides, so that what was loaded along with another one is loaded still.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedImport {
    /// File, by its path after the migration.
    pub path: TreePath,
    /// Edits of its text after the migration; none where the import has no place there.
    pub edits: Vec<Edit>,
    /// What is told of it.
    pub rewrite: Rewrite,
    /// What cannot be proven without the import.
    pub unproven: Unproven,
}

/// A reference that stays as it is, and why: printed, never silent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct NotRewritten {
    /// File, by its path before the migration.
    pub path: TreePath,
    /// The place in the original text.
    pub span: ByteSpan,
    /// How the reference is written.
    pub form: Form,
    /// What is named.
    pub name: String,
    /// Why it stays, as a sentence fragment.
    pub why: String,
}

/// What keeps a place from being proven by reading: the reader's own limits, named one by one.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum UnprovenKind {
    /// A path that a macro puts together from its arguments: `crate::op::$name`.
    MacroBuiltPath,
    /// A path among the arguments of a macro that may use it in any way.
    MacroArgument,
    /// What a procedural macro, an attribute or a derive writes.
    ProceduralMacro,
    /// A table of names that is read at run time, of a kind that is not known.
    RuntimeTable,
    /// An import whose name is worked out at run time.
    DynamicImport,
    /// A file whose text does not parse: what its tokens give is all that is known of it.
    DoesNotParse,
    /// A file that could not be read.
    Unread,
    /// Code that a build makes, or a compiled extension: its names cannot be looked at.
    Generated,
    /// A value whose type is not known, so that its members lead anywhere.
    UnknownType,
    /// A name that a test replaces (`mock.patch`) where nobody can tell who reads it.
    Patch,
    /// Code under a condition (`cfg`, a feature, a platform) that may hold without its counterpart.
    Condition,
    /// An import whose failure is caught: whether it succeeds depends on what is installed.
    GuardedImport,
    /// Equal text whose names may mean something else.
    Equivalence,
    /// Code that nothing names any more: a compiler that warns of that would come to warn.
    LeftUnused,
    /// What importing a module ran besides, and does not any more.
    NotExecuted,
    /// What is loaded later than before, or by others: an import that waits, a module that is read as an attribute.
    NotLoaded,
    /// What importing a module comes to run, and did not, that may do something to others.
    NewlyExecuted,
    /// What importing a module comes to run, and did not, that fails where a condition does not hold.
    FailingImport,
    /// What a module reads of its own name or place: `__file__`, `__package__`, parts of `__name__`.
    OwnPlace,
    /// A lint that is on where code arrives, and was not where it came from.
    Lint,
}

impl UnprovenKind {
    /// The kind as a page names it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MacroBuiltPath => "macro-built path",
            Self::MacroArgument => "macro argument",
            Self::ProceduralMacro => "procedural macro",
            Self::RuntimeTable => "run-time table",
            Self::DynamicImport => "dynamic import",
            Self::DoesNotParse => "does not parse",
            Self::Unread => "not read",
            Self::Generated => "generated or compiled",
            Self::UnknownType => "unknown type",
            Self::Patch => "patch",
            Self::Condition => "condition",
            Self::GuardedImport => "guarded import",
            Self::Equivalence => "equivalence",
            Self::LeftUnused => "left unused",
            Self::NotExecuted => "no longer executed",
            Self::NotLoaded => "no longer loaded",
            Self::NewlyExecuted => "newly executed",
            Self::FailingImport => "import that may fail",
            Self::OwnPlace => "own name or place",
            Self::Lint => "lint",
        }
    }
}

/// A place that the change may concern and that reading alone cannot prove. It stops nothing by
/// itself: the plan's answer is then *not proven*, and whoever applies it has to say so.
///
/// What is known to break is a refusal instead, and a reference that is known and stays as it is,
/// without harm to a build, is a [`NotRewritten`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Unproven {
    /// File, by its path before the migration.
    pub path: TreePath,
    /// The place in the original text; `None` for the file as a whole.
    pub span: Option<ByteSpan>,
    /// What keeps it from being proven.
    pub kind: UnprovenKind,
    /// What may be concerned: the name that moves, or the text that cannot be read.
    pub name: String,
    /// Why it matters here, as a sentence fragment: "`$o` may be any child of `crate::op`".
    pub why: String,
}

/// What a plan says of the references of one file.
#[derive(Debug)]
pub struct FileReferences {
    /// File, by its path before the migration.
    pub path: TreePath,
    /// References that change.
    pub rewrites: Vec<Rewrite>,
    /// References that should and do not.
    pub not_rewritten: Vec<NotRewritten>,
    /// Places that could not be proven.
    pub unproven: Vec<Unproven>,
}

impl FileReferences {
    /// Of a file of which nothing is said yet.
    #[must_use]
    pub const fn new(path: TreePath) -> Self {
        Self {
            path,
            rewrites: Vec::new(),
            not_rewritten: Vec::new(),
            unproven: Vec::new(),
        }
    }

    /// Says that a reference stays as it is.
    pub fn leave(&mut self, span: ByteSpan, form: Form, name: &str, why: &str) {
        self.not_rewritten.push(NotRewritten {
            path: self.path.clone(),
            span,
            form,
            name: name.to_owned(),
            why: why.to_owned(),
        });
    }

    /// Says that reading alone cannot prove a place.
    pub fn doubt(&mut self, span: ByteSpan, kind: UnprovenKind, name: &str, why: &str) {
        self.unproven.push(Unproven {
            path: self.path.clone(),
            span: Some(span),
            kind,
            name: name.to_owned(),
            why: why.to_owned(),
        });
    }
}

/// A file that goes to another path; edits of its text are keyed by `from`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct FileMove {
    /// Path before.
    pub from: TreePath,
    /// Path after.
    pub to: TreePath,
}

/// A file that comes into being: a shim, a parent package.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct NewFile {
    /// Path.
    pub path: TreePath,
    /// Its whole text.
    pub text: String,
    /// Why it is needed, as a sentence fragment.
    pub reason: String,
}

/// What one language proposes for a set of changes. Pure data: nothing has happened yet.
#[derive(Clone, Debug, Default)]
pub struct LanguagePlan {
    /// Files that move. A moved directory is spelled out file by file, data files included.
    pub moves: Vec<FileMove>,
    /// Files that come into being; may take the old path of a file that moves away.
    pub creates: Vec<NewFile>,
    /// Files that go away (replaced modules, `__init__.py` of emptied packages).
    pub deletes: Vec<TreePath>,
    /// Edits by path before the migration, in offsets of the original text; any order.
    pub edits: BTreeMap<TreePath, Vec<Edit>>,
    /// Every reference that changes, for the page.
    pub rewrites: Vec<Rewrite>,
    /// Every reference that should and does not.
    pub not_rewritten: Vec<NotRewritten>,
    /// Every place that the change may concern and that could not be proven.
    pub unproven: Vec<Unproven>,
    /// Why the plan must not be applied; empty for a plan that may.
    pub refusals: Vec<Finding>,
    /// What else the reader should know: made packages, widened visibility, broken files.
    pub notes: Vec<Finding>,
}

impl LanguagePlan {
    /// The paths of files that are not there any more: they move or go, and nothing arrives or is made there.
    #[must_use]
    pub fn leaving_paths(&self) -> BTreeSet<&TreePath> {
        let moved = self.moves.iter().map(|file| &file.from);
        let mut leaving: BTreeSet<&TreePath> = moved.chain(&self.deletes).collect();
        let made = self.creates.iter().map(|new| &new.path);
        for path in made.chain(self.moves.iter().map(|file| &file.to)) {
            leaving.remove(path);
        }
        leaving
    }

    /// Adds what is said of the references of one file.
    pub fn tell(&mut self, references: FileReferences) {
        self.rewrites.extend(references.rewrites);
        self.not_rewritten.extend(references.not_rewritten);
        self.unproven.extend(references.unproven);
    }
}
