//! Each command's own fields.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Answer, DuplicateEntry, Files, GpuLines, Proposal, Range, RoleEntry, StubEntry, Verify,
};
use crate::{
    Certainty, Code, Evidence, Form, Guard, ImportTarget, LanguageKind, Module, ModuleKind, Safety,
    TreePath, UnprovenKind,
};

/// What `audit` found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Audit {
    /// What was read.
    pub files: Files,
    /// Every module, by name.
    pub modules: Vec<ModuleEntry>,
    /// Modules that import each other, eager cycles first.
    pub cycles: Vec<CycleEntry>,
    /// Imports whose failure would go unnoticed.
    pub guarded_imports: Vec<GuardedImport>,
    /// Copies of each other, idioms among them: chapter by chapter, those that are worth most first.
    pub duplicates: Vec<DuplicateEntry>,
    /// What is alike in shape but calls, or works on, something else.
    pub siblings: Vec<DuplicateEntry>,
    /// What files do with GPU libraries.
    pub roles: Vec<RoleEntry>,
    /// What does the same with a GPU library in several places, whatever the text.
    pub idioms: Vec<DuplicateEntry>,
    /// Modules that define nothing of their own.
    pub stubs: Vec<StubEntry>,
    /// GPU lines and how many of them are copies.
    pub gpu_lines: GpuLines,
    /// Copies that comments in the tree allow.
    pub allowed_duplicates: usize,
    /// Files that say they are generated, in which no duplicates were looked for.
    pub generated_files: usize,
    /// Shims of this program, of modules and of items, in which no duplicates were looked for.
    pub left_out_shims: usize,
    /// Why it is not told when files were last changed, where their repository cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history_unread: Option<String>,
    /// The codes that make the command fail, as asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fail_on: Vec<Code>,
    /// The manifest that was proposed, when that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposal: Option<Proposal>,
}

/// One module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ModuleEntry {
    /// Canonical name.
    pub name: String,
    /// The file that holds it.
    pub path: TreePath,
    /// Its language.
    pub language: LanguageKind,
    /// What it amounts to.
    pub kind: ModuleKind,
    /// Lines of the file, or of the braces for an inline module.
    pub lines: u32,
    /// Names of the items that it defines, in source order.
    pub defines: Vec<String>,
    /// Names that it offers to others.
    pub exports: Vec<String>,
    /// Names of the modules that import it, sorted.
    pub importers: Vec<String>,
}

impl ModuleEntry {
    /// Whether its file is one that may well be empty, since it only holds others.
    #[must_use]
    pub fn holds_others(&self) -> bool {
        matches!(
            self.path.file_name(),
            "__init__.py" | "__init__.pyi" | "mod.rs" | "lib.rs"
        )
    }

    /// `module`, imported by `importers`.
    #[must_use]
    pub fn new(module: &Module, importers: Vec<String>) -> Self {
        Self {
            name: module.name.clone(),
            path: module.path.clone(),
            language: module.language,
            kind: module.kind,
            lines: module.lines,
            defines: module.defines.clone(),
            exports: module.exports.clone(),
            importers,
        }
    }
}

/// A strongly connected component of the import graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CycleEntry {
    /// Names of its modules, sorted.
    pub modules: Vec<String>,
    /// Whether imports that run with the module suffice to close it.
    pub eager: bool,
    /// A shortest cycle through it.
    pub shortest: Vec<CycleStep>,
}

/// One import on a cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CycleStep {
    /// Importing module.
    pub from: String,
    /// Imported module.
    pub to: String,
    /// File of the import.
    pub path: TreePath,
    /// Line of the import, 1-based.
    pub line: u32,
    /// Whether it runs when the module does.
    pub eager: bool,
}

/// An import that stands where a failure stays silent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct GuardedImport {
    /// File.
    pub path: TreePath,
    /// The imported name in the file.
    pub range: Option<Range>,
    /// The importing module.
    pub importer: String,
    /// The full name that it imports.
    pub name: String,
    /// What becomes of it.
    pub outcome: ImportOutcome,
    /// What it stands inside of.
    pub guard: Guard,
}

/// What becomes of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ImportOutcome {
    /// It names a package of the tree, but nothing that is there: the fallback always runs.
    Unresolved,
    /// It may or may not be there.
    Opaque,
    /// It leads to a module of the tree.
    Internal,
    /// It leads out of the tree.
    External,
}

impl From<&ImportTarget> for ImportOutcome {
    fn from(target: &ImportTarget) -> Self {
        match target {
            ImportTarget::Module(_) => Self::Internal,
            ImportTarget::External => Self::External,
            ImportTarget::Unresolved => Self::Unresolved,
            ImportTarget::Opaque => Self::Opaque,
        }
    }
}

/// What `refs` found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Refs {
    /// What was read.
    pub files: Files,
    /// The module or item that was asked for.
    pub name: String,
    /// Where it is named, by file and place.
    pub references: Vec<ReferenceEntry>,
}

/// A place that names a module or an item.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct ReferenceEntry {
    /// File.
    pub path: TreePath,
    /// The place.
    pub range: Range,
    /// How it is written.
    pub form: Form,
    /// How sure it is.
    pub certainty: Certainty,
    /// The line of the file that holds it, without the spaces around it.
    pub line_text: String,
}

/// What `plan` worked out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Plan {
    /// What was read.
    pub files: Files,
    /// The manifests it was made from, by id.
    pub manifests: Vec<String>,
    /// What happens to files, by path.
    pub operations: Vec<OperationEntry>,
    /// Each reference that changes.
    pub rewrites: Vec<RewriteEntry>,
    /// Each reference that should and does not.
    pub not_rewritten: Vec<NotRewrittenEntry>,
    /// Each place that the change may concern and that could not be proven.
    pub unproven: Vec<UnprovenEntry>,
    /// Public names of packages that nobody can write any more: those who use them elsewhere break.
    pub lost_names: Vec<LostName>,
    /// Public functions and classes that are called another way afterwards, of packages that are published, and where a shim
    /// stays: those who call them elsewhere may have to change the call.
    pub changed_signatures: Vec<ChangedSignature>,
    /// Import cycles in the tree as it is.
    pub cycles_before: CycleCounts,
    /// Import cycles in the tree as it would be.
    pub cycles_after: CycleCounts,
    /// What was proven.
    pub answer: Answer,
    /// The change as a unified diff.
    pub diff: String,
    /// Where the plan was saved, as given.
    pub saved: Option<String>,
}

/// How many import cycles there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CycleCounts {
    /// Closed by imports that run with their module.
    pub eager: usize,
    /// The others.
    pub lazy: usize,
}

/// What happens to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OperationKind {
    /// It goes to another path, possibly edited on the way.
    Move,
    /// It comes into being.
    Create,
    /// Its text changes.
    Edit,
    /// It goes away.
    Delete,
}

/// One file and what happens to it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct OperationEntry {
    /// What happens.
    pub operation: OperationKind,
    /// The file, by its path before; for a creation, after.
    pub path: TreePath,
    /// Where a moved file goes.
    pub to: Option<TreePath>,
    /// Why, where it is not plain from the references.
    pub reason: Option<String>,
}

/// A reference that changes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct RewriteEntry {
    /// File, by its path before.
    pub path: TreePath,
    /// The place before.
    pub range: Option<Range>,
    /// How it is written.
    pub form: Form,
    /// Why it counts as a reference.
    pub evidence: Evidence,
    /// The full name before.
    pub from: String,
    /// The full name after.
    pub to: String,
    /// Why it changes the way it does.
    pub reason: String,
    /// How far to trust it.
    pub safety: Safety,
}

/// A reference that should change and does not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct NotRewrittenEntry {
    /// File, by its path before.
    pub path: TreePath,
    /// The place.
    pub range: Option<Range>,
    /// How it is written.
    pub form: Form,
    /// What it names.
    pub name: String,
    /// Why it stays.
    pub why: String,
}

/// A public name that is gone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct LostName {
    /// The full name; of a module that is gone, not those below it.
    pub name: String,
    /// The public name of the same thing afterwards; null where there is none.
    pub instead: Option<String>,
    /// Whether a shim keeps it: not a name that a module had of an import which waits in its functions now.
    pub shim_keeps: bool,
}

/// A public function or class that gave way to one that is called another way.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct ChangedSignature {
    /// The public name that its callers write before.
    pub name: String,
    /// The public name of what they get from now on: the same with a shim, or where a re-export leads to it.
    pub now: String,
    /// What follows its name before: parameters and, where they are said, types.
    pub before: String,
    /// The same of what takes its place.
    pub after: String,
}

/// A place that the change may concern and that could not be proven.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct UnprovenEntry {
    /// File, by its path before.
    pub path: TreePath,
    /// The place, when it is narrower than the file.
    pub range: Option<Range>,
    /// What keeps it from being proven.
    pub kind: UnprovenKind,
    /// What may be concerned.
    pub name: String,
    /// Why it matters here.
    pub why: String,
}

/// What `migrate` did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Migrate {
    /// The plan.
    #[serde(flatten)]
    pub plan: Plan,
    /// Whether it was applied; false when there was nothing to do or it was refused.
    pub applied: bool,
    /// The name by which `rollback` undoes it.
    pub migration: Option<String>,
    /// The `check` baseline that was written, as given.
    pub baseline: Option<String>,
    /// Guard tests that were written.
    pub tests: Vec<String>,
    /// What `--verify` found.
    pub verification: Option<Verify>,
    /// The commits of `--commits`; null where none were made.
    pub committed: Option<Committed>,
}

/// Commits that a migration was made into.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Committed {
    /// Full hash of the commit that they stand on.
    pub base: String,
    /// In their order.
    pub commits: Vec<CommitEntry>,
    /// Why they are not more, and what git would have done otherwise.
    pub notes: Vec<String>,
}

/// One commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CommitEntry {
    /// Full hash.
    pub hash: String,
    /// First line of its message.
    pub subject: String,
    /// How many files it changes.
    pub files: usize,
}

/// What a command of one entry would change, or has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EntryMigration {
    /// The manifest that the command stands for.
    pub manifest: String,
    /// Where the manifest was written, as given.
    pub manifest_saved: Option<String>,
    /// The plan, and what was done.
    #[serde(flatten)]
    pub migrate: Migrate,
    /// The command that applies the plan; null where it was applied, refused, or has nothing to do.
    pub next: Option<String>,
}

/// What `init` wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Init {
    /// The manifest.
    pub manifest: String,
    /// The JSON schema beside it; null where one was there.
    pub schema_written: Option<String>,
    /// What was read.
    pub files: Files,
}

/// What `rollback` did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Rollback {
    /// The migration that was undone; `None` when there was none.
    pub migration: Option<String>,
    /// Files that are as they were before, by path.
    pub restored: Vec<TreePath>,
}

/// What `recover` did about a migration that was cut off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Recover {
    /// The migration; `None` when none was unfinished.
    pub migration: Option<String>,
    /// Which way it went.
    pub outcome: RecoverOutcome,
    /// Files that were written or restored, by path.
    pub paths: Vec<TreePath>,
}

/// Which way a recovery went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RecoverOutcome {
    /// The migration was carried through.
    Finished,
    /// The tree is as it was before.
    Undone,
    /// No migration was unfinished.
    Nothing,
}

/// What `status` found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Status {
    /// What was read.
    pub files: Files,
    /// The manifests, by id.
    pub manifests: Vec<ManifestEntry>,
    /// A migration that was cut off.
    pub unfinished: Option<MigrationEntry>,
    /// Migrations that `rollback` can undo, newest first.
    pub migrations: Vec<MigrationEntry>,
    /// Shims that are still there, by name.
    pub shims: Vec<ShimEntry>,
}

/// How far a manifest or an entry has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// The tree is as it asks.
    Done,
    /// Some entries are done.
    Partly,
    /// None is.
    Open,
}

/// One manifest and how far it has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ManifestEntry {
    /// Its file name without extension.
    pub id: String,
    /// What it is for.
    pub description: String,
    /// How far it has come.
    pub state: State,
    /// Its moves and replacements.
    pub entries: Vec<ManifestLine>,
}

/// One entry of a manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ManifestLine {
    /// `move`, `replace`, `merge` or `remove`.
    pub verb: String,
    /// The name before.
    pub from: String,
    /// The name after; empty for a removal.
    pub to: String,
    /// `done` or `open`.
    pub state: State,
}

/// A migration that the journal knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MigrationEntry {
    /// Its name.
    pub id: String,
    /// How many files it touches.
    pub files: usize,
}

/// A module that Coalesce left at an old name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ShimEntry {
    /// The old name.
    pub name: String,
    /// Its file.
    pub path: TreePath,
    /// The manifest that it carries.
    pub manifest: Option<String>,
    /// The release that removes it.
    pub remove_in: Option<String>,
    /// Modules that still import it, sorted.
    pub users: Vec<String>,
}

/// What `check` looked at; what it found stands in the envelope's findings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Check {
    /// What was read.
    pub files: Files,
    /// The rules that ran.
    pub rules: Vec<Code>,
    /// The baseline that old findings were held against, as given.
    pub baseline: Option<String>,
    /// The baseline that was written, as given.
    pub written: Option<String>,
    /// How many findings comments in the code allow.
    pub allowed: usize,
    /// How many findings the baseline lists.
    pub known: usize,
    /// How many findings are in files that were not asked about.
    pub elsewhere: usize,
    /// Imports of which reading cannot tell whether they work: the name is made at run time or by a
    /// build.
    pub unchecked: Vec<UncheckedImport>,
    /// The revision since which files have changed that were asked about, as given.
    pub changed_since: Option<String>,
    /// What `--fix` did; null where nothing was to be done or asked for.
    pub fixed: Option<Fixed>,
}

/// An import from a module of the tree that `check` could not check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UncheckedImport {
    /// The file.
    pub path: TreePath,
    /// The line, 1-based.
    pub line: u32,
    /// The full name that is imported.
    pub name: String,
}

/// What `check --fix` did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Fixed {
    /// The name by which `rollback` undoes it; null where no file was edited.
    pub migration: Option<String>,
    /// How many files were edited.
    pub files: usize,
    /// The commits of that; null where none were asked for, or none could be made.
    pub committed: Option<Committed>,
    /// The baseline from which entries were taken that are gone, as given.
    pub baseline: Option<String>,
}

/// What `explain` says about a code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Explain {
    /// The code.
    pub code: Code,
    /// What it finds.
    pub what: String,
    /// Why it is bad.
    pub why: String,
    /// An example.
    pub example: String,
    /// What to write instead.
    pub instead: String,
}

/// Why a command could not do its work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Failed {
    /// What went wrong.
    pub error: ErrorEntry,
}

/// An error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ErrorEntry {
    /// Whose it is.
    pub kind: ErrorKind,
    /// What went wrong.
    pub message: String,
    /// Where, when it is a place in a file.
    pub place: Option<ErrorPlace>,
    /// What would help.
    pub hints: Vec<String>,
}

/// Whose error it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ErrorKind {
    /// The command line, or the state of the tree.
    User,
    /// A manifest or another file that says what to do.
    Config,
    /// Ours.
    Internal,
}

/// A place that an error points at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ErrorPlace {
    /// The file as the user knows it.
    pub path: String,
    /// Line, 1-based.
    pub line: u32,
    /// Column in characters, 1-based.
    pub column: u32,
    /// The line of the file.
    pub line_text: String,
    /// How many characters of it are meant.
    pub length: u32,
}
