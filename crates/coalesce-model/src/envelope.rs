//! The JSON that every command prints: one envelope, and each command's own fields.
//!
//! These types are the one source of what is said: the terminal pages are made from them, and the
//! schema in the repository is generated from them. They hold plain data with lines and columns
//! worked out; nothing here reads a file, and no path in it is absolute.

use std::{collections::BTreeMap, sync::Arc};

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    ByteSpan, Certainty, Code, Evidence, Finding, Form, Guard, ImportTarget, LanguageKind,
    LineIndex, Module, ModuleKind, NotRewritten, Reference, Rewrite, Root, Safety, Severity, Texts,
    TreePath,
};

/// Version of the envelope. It is raised when a field goes away or changes its meaning; new
/// fields may come without.
pub const SCHEMA: u32 = 1;

/// What a command prints with `--format json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(transform = tie_command_to_body)]
pub struct Envelope {
    /// Version of this format.
    pub schema: u32,
    /// The command that printed it.
    pub command: Command,
    /// The root as it was given on the command line.
    pub root: String,
    /// What names begin at, and how it was found.
    pub roots: Vec<Root>,
    /// What there is to say about places in the tree.
    pub findings: Vec<FindingEntry>,
    /// The command's own fields.
    #[serde(flatten)]
    pub body: Body,
}

impl Envelope {
    /// An envelope around `body`, without roots and findings yet.
    #[must_use]
    pub fn new(root: impl Into<String>, command: Command, body: Body) -> Self {
        Self {
            schema: SCHEMA,
            command,
            root: root.into(),
            roots: Vec::new(),
            findings: Vec::new(),
            body,
        }
    }
}

/// The commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Command {
    /// `coalesce audit`.
    Audit,
    /// `coalesce refs`.
    Refs,
    /// `coalesce plan`.
    Plan,
    /// `coalesce migrate`.
    Migrate,
    /// `coalesce rollback`.
    Rollback,
    /// `coalesce recover`.
    Recover,
    /// `coalesce status`.
    Status,
    /// `coalesce check`.
    Check,
    /// `coalesce explain`.
    Explain,
}

impl Command {
    /// As it is typed.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Audit => "audit",
            Self::Refs => "refs",
            Self::Plan => "plan",
            Self::Migrate => "migrate",
            Self::Rollback => "rollback",
            Self::Recover => "recover",
            Self::Status => "status",
            Self::Check => "check",
            Self::Explain => "explain",
        }
    }
}

/// Each command's own fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Body {
    /// Of `audit`.
    Audit(Audit),
    /// Of `refs`.
    Refs(Refs),
    /// Of `plan`.
    Plan(Plan),
    /// Of `migrate`.
    Migrate(Migrate),
    /// Of `rollback`.
    Rollback(Rollback),
    /// Of `recover`.
    Recover(Recover),
    /// Of `status`.
    Status(Status),
    /// Of `check`.
    Check(Check),
    /// Of `explain`.
    Explain(Explain),
    /// Of any command that could not do its work.
    Failed(Failed),
}

/// The order of [`Body`]'s variants, for the schema; the last one goes with every command.
const BODY_COMMANDS: [Command; 9] = [
    Command::Audit,
    Command::Refs,
    Command::Plan,
    Command::Migrate,
    Command::Rollback,
    Command::Recover,
    Command::Status,
    Command::Check,
    Command::Explain,
];

/// Says in the schema which fields go with which command; the derived one allows any pair.
fn tie_command_to_body(schema: &mut schemars::Schema) {
    let Some(bodies) = schema
        .get_mut("anyOf")
        .and_then(|bodies| bodies.as_array_mut())
    else {
        return;
    };
    for (body, command) in bodies.iter_mut().zip(BODY_COMMANDS) {
        if let Some(body) = body.as_object_mut() {
            let tie = schemars::json_schema!({ "command": { "const": command.as_str() } });
            let properties = body
                .entry("properties")
                .or_insert_with(|| schemars::json_schema!({}).to_value());
            if let (Some(properties), Some(tie)) = (properties.as_object_mut(), tie.as_object()) {
                properties.extend(tie.clone());
            }
        }
    }
}

/// Bytes of one file, with the place as a person reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Range {
    /// First byte, 0-based.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// Line of the first byte, 1-based.
    pub line: u32,
    /// Column of the first byte in characters, 1-based.
    pub column: u32,
}

/// One thing to say, with its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct FindingEntry {
    /// What kind; `coalesce explain CODE` tells more.
    pub code: Code,
    /// How bad.
    pub severity: Severity,
    /// The file, relative to the root; a manifest as it was given.
    pub path: String,
    /// The place, when it is narrower than the file.
    pub range: Option<Range>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

/// How many files were read, and which were not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Files {
    /// Files that were read.
    pub read: usize,
    /// Files that were not, and why.
    pub skipped: Vec<SkippedFile>,
}

/// A file that was not read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct SkippedFile {
    /// The file, relative to the root.
    pub path: String,
    /// Why, as a sentence fragment.
    pub reason: String,
}

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
    /// Import cycles in the tree as it is.
    pub cycles_before: CycleCounts,
    /// Import cycles in the tree as it would be.
    pub cycles_after: CycleCounts,
    /// The answer to the one question.
    pub verdict: Verdict,
    /// The change as a unified diff.
    pub diff: String,
    /// Where the plan was saved, as given.
    pub saved: Option<String>,
}

/// How many import cycles there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CycleCounts {
    /// Closed by imports that run with their module.
    pub eager: usize,
    /// The others.
    pub lazy: usize,
}

/// Will the imports still work?
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Verdict {
    /// Whether they will.
    pub imports_still_work: bool,
    /// The same in a sentence, and why when they will not.
    pub message: String,
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
    /// `move` or `replace`.
    pub verb: String,
    /// The name before.
    pub from: String,
    /// The name after.
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

/// One text with its lines, to turn byte spans into [`Range`]s.
#[derive(Clone, Debug)]
pub struct Located {
    text: Arc<str>,
    lines: LineIndex,
}

impl Located {
    /// Indexes the lines of `text`.
    #[must_use]
    pub fn new(text: Arc<str>) -> Self {
        Self {
            lines: LineIndex::new(&text),
            text,
        }
    }

    /// The span with its line and column.
    #[must_use]
    pub fn range(&self, span: ByteSpan) -> Range {
        let position = self.lines.position(&self.text, span.start);
        Range {
            start: span.start,
            end: span.end,
            line: position.line,
            column: position.column,
        }
    }

    /// The line that holds the span's first byte, without the spaces around it.
    #[must_use]
    pub fn line_text(&self, span: ByteSpan) -> &str {
        let start = self
            .lines
            .line_start(self.lines.line_number(span.start))
            .unwrap_or(0);
        let rest = self.text.get(start as usize..).unwrap_or_default();
        let line = rest.split(['\n', '\r']).next().unwrap_or_default();
        line.trim_start_matches('\u{feff}').trim()
    }
}

/// Makes entries with lines and columns; each file's lines are indexed once.
pub struct Locator<'t> {
    texts: &'t dyn Texts,
    seen: BTreeMap<TreePath, Option<Located>>,
}

impl<'t> Locator<'t> {
    /// A locator for files of `texts`.
    #[must_use]
    pub fn new(texts: &'t dyn Texts) -> Self {
        Self {
            texts,
            seen: BTreeMap::new(),
        }
    }

    /// The file's lines; `None` when the file has no text.
    pub fn located(&mut self, path: &TreePath) -> Option<&Located> {
        if !self.seen.contains_key(path) {
            self.seen
                .insert(path.clone(), self.texts.text(path).map(Located::new));
        }
        self.seen.get(path).and_then(Option::as_ref)
    }

    /// The span with its line and column; `None` when the file has no text.
    pub fn range(&mut self, path: &TreePath, span: ByteSpan) -> Option<Range> {
        self.located(path).map(|located| located.range(span))
    }

    /// A finding of the tree.
    pub fn finding(&mut self, finding: &Finding) -> FindingEntry {
        FindingEntry {
            code: finding.code,
            severity: finding.severity,
            path: finding.path.to_string(),
            range: finding
                .span
                .and_then(|span| self.range(&finding.path, span)),
            message: finding.message.clone(),
            help: finding.help.clone(),
        }
    }

    /// A reference; `None` when its file has no text, which a reference's file always has.
    pub fn reference(&mut self, reference: &Reference) -> Option<ReferenceEntry> {
        let located = self.located(&reference.path)?;
        Some(ReferenceEntry {
            path: reference.path.clone(),
            range: located.range(reference.span),
            form: reference.form,
            certainty: reference.certainty,
            line_text: located.line_text(reference.span).to_owned(),
        })
    }

    /// A reference that changes.
    pub fn rewrite(&mut self, rewrite: &Rewrite) -> RewriteEntry {
        RewriteEntry {
            path: rewrite.path.clone(),
            range: self.range(&rewrite.path, rewrite.span),
            form: rewrite.form,
            evidence: rewrite.evidence,
            from: rewrite.from.clone(),
            to: rewrite.to.clone(),
            reason: rewrite.reason.clone(),
            safety: rewrite.safety,
        }
    }

    /// A reference that stays.
    pub fn not_rewritten(&mut self, reference: &NotRewritten) -> NotRewrittenEntry {
        NotRewrittenEntry {
            path: reference.path.clone(),
            range: self.range(&reference.path, reference.span),
            form: reference.form,
            name: reference.name.clone(),
            why: reference.why.clone(),
        }
    }
}

/// The JSON schema of [`Envelope`], with line ends as the file in the repository has them.
#[must_use]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Envelope)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryTexts;

    #[test]
    fn places_are_worked_out_from_the_text() {
        let texts = MemoryTexts::fixture("//- a.py\nx = 1\n  import é.b\n");
        let path = TreePath::new("a.py").unwrap();
        let mut locator = Locator::new(&texts);
        let range = locator.range(&path, ByteSpan::new(17, 20)).unwrap();
        assert_eq!(
            range,
            Range {
                start: 17,
                end: 20,
                line: 2,
                column: 11
            }
        );
        assert_eq!(
            locator
                .located(&path)
                .unwrap()
                .line_text(ByteSpan::empty(17)),
            "import é.b"
        );
        assert_eq!(
            locator.range(&TreePath::new("none").unwrap(), ByteSpan::empty(0)),
            None
        );
    }

    #[test]
    fn the_schema_ties_each_command_to_its_fields() {
        let schema = schema().to_value();
        let bodies = schema
            .get("anyOf")
            .and_then(|bodies| bodies.as_array())
            .unwrap();
        assert_eq!(bodies.len(), BODY_COMMANDS.len() + 1);
        for (body, command) in bodies.iter().zip(BODY_COMMANDS) {
            let tied = body
                .pointer("/properties/command/const")
                .and_then(|name| name.as_str());
            assert_eq!(tied, Some(command.as_str()));
            let referenced = body
                .get("$ref")
                .and_then(|name| name.as_str())
                .unwrap_or_default();
            assert!(
                referenced.to_lowercase().ends_with(command.as_str()),
                "{referenced}"
            );
        }
    }
}
