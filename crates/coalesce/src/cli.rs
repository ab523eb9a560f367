//! The command line: what can be asked for, as data.
//!
//! Only definitions and their help; `terminal` reads the arguments, calls the commands and prints.

#[cfg(feature = "devices")]
mod devices;
mod entries;
mod fleet;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

#[cfg(feature = "devices")]
pub use devices::Devices;
pub use entries::{EntryOptions, Init, Merge, NamePair, Remove, ShimOptions};
pub use fleet::{Fleet, FleetEngine};

use clap::{
    ArgAction, ArgGroup, Args, Parser, Subcommand, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser as _},
};
use coalesce_engine::PlanOptions;
use coalesce_model::{
    Code,
    envelope::{self, Grade},
    finding::codes,
};

use crate::exit::Exit;

/// One call of `coalesce`.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "coalesce",
    version = env!("COALESCE_VERSION"),
    about = "Finds duplicated modules, moves them onto one home, and keeps the tree clean",
    after_help = after_help(),
    disable_help_subcommand = true,
    max_term_width = 100
)]
pub struct Invocation {
    /// What goes for all commands.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

impl Invocation {
    /// Reads a call, the program's name left out; for programs that call this one as a library.
    ///
    /// # Errors
    /// As the command line would say it.
    pub fn of<'w>(words: impl IntoIterator<Item = &'w str>) -> Result<Self, clap::Error> {
        Self::try_parse_from(std::iter::once("coalesce").chain(words))
    }
}

/// What goes for all commands.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "All commands")]
pub struct Global {
    /// Directory of the tree; the names of the tree begin below it
    #[arg(long, global = true, value_name = "DIR", default_value = ".")]
    pub root: PathBuf,
    /// What is printed; only `json` is an interface
    #[arg(
        long,
        global = true,
        value_name = "FORMAT",
        value_enum,
        default_value_t
    )]
    pub format: Format,
    /// Whether pages are coloured; `auto` also heeds NO_COLOR and CLICOLOR
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t)]
    pub color: Color,
    /// Print nothing but errors and what was asked for: findings, references, the state of manifests
    #[arg(short, long, global = true, action = ArgAction::SetTrue)]
    pub quiet: bool,
    /// Show all of every list; pages cut long ones and say how much is left
    #[arg(long, global = true, action = ArgAction::SetTrue)]
    pub all: bool,
    /// Read every file again instead of using facts cached from an earlier run
    #[arg(long, global = true, action = ArgAction::SetTrue)]
    pub no_cache: bool,
    /// Whether the process ends with this command, as the terminal knows and servers do not.
    #[arg(skip)]
    pub ends: bool,
}

/// What is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A page for people.
    #[default]
    Human,
    /// One JSON object, described by schema/coalesce.schema.json.
    Json,
    /// Findings and duplicates as SARIF 2.1.0, for code scanning.
    Sarif,
    /// Findings as annotations of GitHub's workflows; all of them go to the summary of the job.
    Github,
}

/// Whether pages are coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// When standard output is a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The commands.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Write a manifest to begin with: all of it commented out, with names of this tree
    Init(Init),
    /// Show what is broken, cyclic, orphaned or empty, worst first
    Audit(Audit),
    /// Show every reference of a module or item
    Refs(Refs),
    /// Show what of the tree is like a piece of code, or has a signature like it
    Find(Find),
    /// Show what several repositories have of each other, and which copies are behind
    Fleet(Fleet),
    /// Show which definitions of one module, class or item another one has, and what differs
    Diff(Diff),
    /// Give a module, item or crate another name
    #[command(after_help = entries::MOVE_EXAMPLES)]
    Move(NamePair),
    /// Let one module or item give way to another one that has all of it
    #[command(after_help = entries::REPLACE_EXAMPLES)]
    Replace(NamePair),
    /// Let one module give way to another one; what that one lacks moves to it
    Merge(Merge),
    /// Take out a module that nobody uses
    Remove(Remove),
    /// Show what a migration would change, and why; writes nothing
    Plan(Plan),
    /// Plan, check, and apply
    Migrate(Migrate),
    /// Undo the last migration, byte for byte
    Rollback(Rollback),
    /// Finish or undo a migration that was cut off
    Recover(Recover),
    /// Show how far each manifest has come, and which shims are left
    Status(Status),
    /// Look for what a consolidated tree must not have; for CI
    Check(Check),
    /// Run the project's own checks on a scratch copy, before and after the change
    Verify(Verify),
    /// Plan the removal of shims that are due or that nobody uses any more
    Retire(Retire),
    /// Explain a finding
    Explain(Explain),
    /// Show what may stand in a manifest or in coalesce.toml, or how a command is called
    Help(Help),
    /// Write completions for a shell to standard output
    Completions(Completions),
    /// Write the manual page to standard output
    Man(Man),
    /// Show which GPUs this machine has, and who uses them
    #[cfg(feature = "devices")]
    Devices(Devices),
    /// Serve an editor on standard input and output, by the Language Server Protocol
    #[cfg(feature = "lsp")]
    Lsp(Server),
    /// Serve an agent on standard input and output, by the Model Context Protocol
    #[cfg(feature = "mcp")]
    Mcp(Server),
}

impl Command {
    /// The same command, as the envelope names it; `None` of those that tell of the program itself, as
    /// plain text.
    #[must_use]
    pub const fn name(&self) -> Option<envelope::Command> {
        Some(match self {
            Self::Help(_) | Self::Completions(_) | Self::Man(_) => return None,
            Self::Init(_) => envelope::Command::Init,
            Self::Move(_) => envelope::Command::Move,
            Self::Replace(_) => envelope::Command::Replace,
            Self::Merge(_) => envelope::Command::Merge,
            Self::Remove(_) => envelope::Command::Remove,
            Self::Audit(_) => envelope::Command::Audit,
            Self::Refs(_) => envelope::Command::Refs,
            Self::Find(_) => envelope::Command::Find,
            Self::Fleet(_) => envelope::Command::Fleet,
            Self::Diff(_) => envelope::Command::Diff,
            Self::Plan(_) => envelope::Command::Plan,
            Self::Migrate(_) => envelope::Command::Migrate,
            Self::Rollback(_) => envelope::Command::Rollback,
            Self::Recover(_) => envelope::Command::Recover,
            Self::Status(_) => envelope::Command::Status,
            Self::Check(_) => envelope::Command::Check,
            Self::Verify(_) => envelope::Command::Verify,
            Self::Retire(_) => envelope::Command::Retire,
            Self::Explain(_) => envelope::Command::Explain,
            #[cfg(feature = "devices")]
            Self::Devices(_) => envelope::Command::Devices,
            #[cfg(feature = "lsp")]
            Self::Lsp(_) => envelope::Command::Lsp,
            #[cfg(feature = "mcp")]
            Self::Mcp(_) => envelope::Command::Mcp,
        })
    }

    /// Whether a long diff is shown as a whole.
    #[must_use]
    pub const fn shows_diff(&self) -> bool {
        matches!(self, Self::Plan(plan) if plan.diff)
    }

    /// Where a page for a browser goes besides.
    #[must_use]
    pub fn html(&self) -> Option<&Path> {
        match self {
            Self::Audit(audit) => audit.html.as_deref(),
            Self::Check(check) => check.html.as_deref(),
            Self::Diff(diff) => diff.html.as_deref(),
            Self::Plan(plan) => plan.html.as_deref(),
            _ => None,
        }
    }

    /// How texts that are compared stand on the page.
    #[must_use]
    pub const fn layout(&self) -> Layout {
        match self {
            Self::Diff(diff) if diff.side_by_side => Layout::SideBySide,
            Self::Diff(diff) if !diff.unified => Layout::Fitting,
            _ => Layout::Unified,
        }
    }

    /// After how many seconds the command runs again, and again after that.
    #[must_use]
    pub const fn repeats(&self) -> Option<f64> {
        match self {
            #[cfg(feature = "devices")]
            Self::Devices(devices) => devices.watch,
            _ => None,
        }
    }
}

/// What counts as a duplicate, and which are known.
#[derive(Clone, Debug, Default, Args)]
pub struct DuplicateOptions {
    /// Duplicates that are known: only a new class, or a new member of an old one, is a finding
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Write the duplicates that there are now as a baseline; with `--baseline`, only those of them that
    /// it lists
    #[arg(long, value_name = "FILE")]
    pub write_baseline: Option<PathBuf>,
    /// Lines that a function, class or block must have to be a duplicate
    #[arg(long, value_name = "LINES")]
    pub min_lines: Option<u32>,
    /// Tokens that its body must have
    #[arg(long, value_name = "TOKENS")]
    pub min_tokens: Option<u32>,
    /// Look for duplicates in files that say they are generated as well
    #[arg(long, action = ArgAction::SetTrue)]
    pub generated: bool,
    /// Look for duplicates in these files only; a glob as in .gitignore
    #[arg(long, value_name = "GLOB")]
    pub include: Vec<String>,
    /// Do not look for duplicates in these files; a glob as in .gitignore
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<String>,
}

/// Arguments of `audit`.
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = "Example: coalesce audit --fail-on stale-guarded-import,orphan-file")]
pub struct Audit {
    /// End with code 1 at a finding of one of these kinds (`duplicates`: those to act on); --quiet tells only them
    #[arg(long, value_name = "CODE", value_delimiter = ',', value_parser = code_parser())]
    pub fail_on: Vec<Code>,
    /// Do not look for duplicates
    #[arg(long, action = ArgAction::SetTrue)]
    pub no_duplicates: bool,
    /// What counts as a duplicate.
    #[command(flatten)]
    pub duplicates: DuplicateOptions,
    /// Write a manifest that makes the copies give way to one of them; what has to be decided, and
    /// what cannot be followed, stands in it as comments. Every entry is tried, those with most lines
    /// first, for 45 seconds at most; Ctrl-C ends the trying, and what was tried is written
    #[arg(long, value_name = "FILE", conflicts_with = "no_duplicates")]
    pub propose: Option<PathBuf>,
    /// Propose shims: old names go on working, and warn, until they are retired
    #[arg(long, requires = "propose")]
    pub shims: bool,
    /// Also write a page for a browser
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Also write fingerprints of this tree into a folder that `fleet` asks: NAME.parquet
    #[arg(long, value_name = "DIR")]
    pub parquet: Option<PathBuf>,
    /// What the repository is called in it; else as its folder
    #[arg(long, value_name = "NAME", requires = "parquet")]
    pub repository: Option<String>,
}

/// Arguments of `refs`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Examples:\n  coalesce refs lidar.core.gpu\n  coalesce refs lidar::gpu::Pool --format json"
)]
pub struct Refs {
    /// Full name of a module or item: `a.b.c` in Python, `a::b::c` in Rust
    pub name: String,
}

/// Arguments of `find`.
#[derive(Clone, Debug, Args)]
#[command(
    group = clap::ArgGroup::new("wanted").required(true),
    after_help = "Examples:\n  coalesce find --snippet new.py\n  git show :src/pool.rs | coalesce find --snippet - --language rust --format json\n  coalesce find --signature 'def compute_normals(points, k)'"
)]
pub struct Find {
    /// A file with the code that is looked for; `-` reads standard input
    #[arg(long, value_name = "FILE", group = "wanted")]
    pub snippet: Option<PathBuf>,
    /// A signature, or only a name
    #[arg(long, value_name = "TEXT", group = "wanted")]
    pub signature: Option<String>,
    /// What the snippet is written in; guessed by its file's name, or its text
    #[arg(long, requires = "snippet")]
    pub language: Option<SnippetLanguage>,
    /// How many places are told
    #[arg(long, value_name = "N", default_value = "10")]
    pub limit: NonZeroUsize,
}

/// What a snippet is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SnippetLanguage {
    /// Python.
    Python,
    /// Rust.
    Rust,
    /// A GPU kernel: CUDA, HIP, OpenCL, Metal or WGSL.
    Kernel,
}

/// How texts that are compared stand on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Side by side, whatever the width.
    SideBySide,
    /// Side by side if the terminal is wide enough.
    Fitting,
    /// One below the other.
    Unified,
}

/// Arguments of `diff`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "A and B are names of modules, classes or items, or files below the root; \
                  `src/a.py:Class.method` is an item of a file.\n\n\
                  Examples:\n  coalesce diff lidar.optimization.gpu lidar.core.gpu\n  \
                  coalesce diff lidar.gpu.Pool.allocate lidar.core.memory.Pool.allocate\n  \
                  coalesce diff crate_name::gpu crate_name::core::gpu --html diff.html"
)]
pub struct Diff {
    /// The one: `a.b.c` in Python, `a::b::c` in Rust, or a file
    #[arg(value_name = "A")]
    pub left: String,
    /// The other
    #[arg(value_name = "B")]
    pub right: String,
    /// Lines side by side, however narrow the terminal
    #[arg(long, conflicts_with = "unified")]
    pub side_by_side: bool,
    /// Lines one below the other, however wide the terminal
    #[arg(long)]
    pub unified: bool,
    /// Also write a page for a browser
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// Which manifests.
#[derive(Clone, Debug, Default, Args)]
pub struct Manifests {
    /// Manifests to follow; all in `migrations/` of the root when none is named
    #[arg(value_name = "MANIFEST")]
    pub manifests: Vec<PathBuf>,
    /// What becomes of full names in prose: comments, docstrings, documents
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    pub docs: Docs,
    /// Leave edited Rust files as edited, also those that rustfmt had laid out before
    #[arg(long)]
    pub no_rustfmt: bool,
    /// Plan also where what cannot be read may name what moves; it is told
    #[arg(long)]
    pub allow_unread: bool,
}

impl Manifests {
    /// The words by which they were named, and what was said of them.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let paths = self.manifests.iter().map(|path| path.display().to_string());
        let mut words: Vec<String> = paths.collect();
        if self.docs == Docs::Rewrite {
            words.push("--docs=rewrite".to_owned());
        }
        for (said, option) in [
            (self.no_rustfmt, "--no-rustfmt"),
            (self.allow_unread, "--allow-unread"),
        ] {
            words.extend(said.then(|| option.to_owned()));
        }
        words
    }

    /// The same, as the engine takes it.
    #[must_use]
    pub fn options(&self) -> PlanOptions {
        PlanOptions {
            prose: self.docs == Docs::Rewrite,
            layout: !self.no_rustfmt,
            allow_unread: self.allow_unread,
            ..PlanOptions::default()
        }
    }
}

/// What becomes of full names in prose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Docs {
    /// They stay.
    #[default]
    Keep,
    /// They change, except in changelogs and history.
    Rewrite,
}

/// Arguments of `plan`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Examples:\n  coalesce plan\n  coalesce plan migrations/0001-one-gpu.toml --out plan.json"
)]
pub struct Plan {
    /// Which manifests.
    #[command(flatten)]
    pub manifests: Manifests,
    /// Save the plan, for `migrate --plan`
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// End with code 1 when less than this was proven
    #[arg(long, value_name = "GRADE", value_parser = grade_parser())]
    pub require: Option<Grade>,
    /// Show the whole diff; of a long one only its size is told otherwise
    #[arg(long)]
    pub diff: bool,
    /// Also write a page for a browser
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// How a plan goes to the tree.
#[derive(Clone, Debug, Default, Args)]
pub struct ApplyOptions {
    /// Apply only if the project's own checks pass; runs the project's code, see `verify --help`
    #[arg(long)]
    pub verify: bool,
    /// Apply only what was proven this far: `resolved`, `compiled` or `tested`
    #[arg(long, value_name = "GRADE", value_parser = grade_parser())]
    pub require: Option<Grade>,
    /// Apply also where places are left that could not be proven
    #[arg(long, conflicts_with = "require")]
    pub allow_unproven: bool,
    /// Also touch files with uncommitted changes
    #[arg(long)]
    pub allow_dirty: bool,
    /// Commit it as well, in steps that each resolve: files move, users follow, old names go; only on
    /// a tree that is as its last commit
    #[arg(long, conflicts_with = "allow_dirty")]
    pub commits: bool,
    /// Ask nothing, not even where somebody is at the terminal
    #[arg(short, long)]
    pub yes: bool,
}

/// Arguments of `migrate`.
#[derive(Clone, Debug, Default, Args)]
#[command(
    after_help = "Examples:\n  coalesce migrate --verify\n  coalesce migrate migrations/0001-one-gpu.toml\n  \
                  coalesce migrate --plan plan.json --require compiled\n  coalesce migrate --verify --commits"
)]
pub struct Migrate {
    /// Which manifests.
    #[command(flatten)]
    pub manifests: Manifests,
    /// Apply exactly this saved plan; refused when the tree has changed since
    #[arg(long, value_name = "FILE", conflicts_with_all = ["manifests", "docs", "no_rustfmt"])]
    pub plan: Option<PathBuf>,
    /// How it is applied.
    #[command(flatten)]
    pub applying: ApplyOptions,
    /// Write guard tests for the project's own suite: no old import, shims warn
    #[arg(long, value_name = "DIR", conflicts_with = "plan")]
    pub emit_tests: Option<PathBuf>,
    /// Write a baseline of the migrated tree, for `check --baseline`
    #[arg(long, value_name = "FILE")]
    pub write_baseline: Option<PathBuf>,
}

/// Arguments of `rollback`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Refuses, naming them, where files have changed since the migration.")]
pub struct Rollback {
    /// Migration to undo, as `status` names it; the last one when left out
    #[arg(value_name = "ID")]
    pub id: Option<String>,
    /// Ask nothing, not even where somebody is at the terminal
    #[arg(short, long)]
    pub yes: bool,
}

/// Arguments of `recover`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "A migration that was killed leaves a journal; both ways work at any point, any number of times."
)]
pub struct Recover {
    /// Carry the migration through
    #[arg(long, conflicts_with = "undo")]
    pub finish: bool,
    /// Put everything back; so it is also where nobody is there to be asked
    #[arg(long)]
    pub undo: bool,
}

/// Arguments of `status`.
#[derive(Clone, Debug, Args)]
pub struct Status {}

/// Arguments of `check`.
#[derive(Clone, Debug, Default, Args)]
#[command(
    after_help = "Rules of the project's own, layers and homes stand in coalesce.toml (`coalesce help settings`).\n\n\
                  Examples:\n  coalesce check\n  coalesce check --write-baseline .coalesce-baseline.json\n  \
                  coalesce check src --baseline .coalesce-baseline.json\n  \
                  coalesce check --changed-since origin/main --format github\n  coalesce check --fix"
)]
pub struct Check {
    /// Report only findings below these paths; the whole tree is read either way
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Report only findings in the files that FILE lists, a line each; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub files: Option<PathBuf>,
    /// Report only findings in files that differ from where this branch left REV
    #[arg(long, value_name = "REV")]
    pub changed_since: Option<String>,
    /// Report only what is not in this baseline, and what it lists that is gone
    #[arg(long, value_name = "FILE", conflicts_with = "write_baseline")]
    pub baseline: Option<PathBuf>,
    /// Write a baseline of the tree as it is
    #[arg(long, value_name = "FILE")]
    pub write_baseline: Option<PathBuf>,
    /// Also write a page for a browser
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// The release that is being made: shims that it removes have expired
    #[arg(long, value_name = "VERSION", value_parser = release)]
    pub release: Option<String>,
    /// Also look for duplicates that this baseline of `audit` lacks
    #[arg(long, value_name = "FILE")]
    pub duplicates: Option<PathBuf>,
    /// First lead imports of old names on, as `migrate` does, and take out of the baseline what is gone
    #[arg(long, conflicts_with = "write_baseline")]
    pub fix: bool,
    /// How `--fix` is applied.
    #[command(flatten)]
    pub applying: ApplyOptions,
}

/// A release number.
fn release(text: &str) -> Result<String, String> {
    coalesce_model::release::compare(text, "0").map_err(|error| error.to_string())?;
    Ok(text.to_owned())
}

/// Arguments of `verify`.
#[derive(Clone, Debug, Args)]
#[command(after_help = VERIFY_HELP)]
pub struct Verify {
    /// Which manifests.
    #[command(flatten)]
    pub manifests: Manifests,
    /// Verify this saved plan; refused when the tree has changed since
    #[arg(long, value_name = "FILE", conflicts_with_all = ["manifests", "docs", "no_rustfmt"])]
    pub plan: Option<PathBuf>,
    /// End with code 1 when less than this was proven
    #[arg(long, value_name = "GRADE", value_parser = grade_parser())]
    pub require: Option<Grade>,
}

const VERIFY_HELP: &str = "\
This runs the project's code: its build scripts, macros, imports and tests. Nothing else
does but `--verify` of the commands that change a tree.

What runs: `cargo check --workspace --all-targets` in each workspace; every Python module imported
once, in a process of its own. `[verify]` of a manifest says otherwise: `commands` (shell lines that
run instead), `tests` (what pytest is given), `timeout` (seconds a program may take, 1200 if unsaid).
All of it runs in a copy below the user's cache directory, which is kept for the next time; what
.gitignore names is not copied. With shims, the checks run once more without them.

Exit codes: 0 nothing new fails, 1 something new fails, 2 could not be verified.";

/// Arguments of `retire`.
#[derive(Clone, Debug, Args)]
#[command(
    group = ArgGroup::new("which").required(true).args(["names", "due", "unused"]),
    after_help = "Examples:\n  coalesce retire --unused\n  coalesce retire --due 4.0.0 --apply\n  \
                  coalesce retire lidar.gpu --out plan.json"
)]
pub struct Retire {
    /// Old names whose shims go
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Shims that this release removes, or an earlier one
    #[arg(long, value_name = "VERSION")]
    pub due: Option<String>,
    /// Shims that nothing in the tree names any more
    #[arg(long)]
    pub unused: bool,
    /// Also shims that are still used; their users break
    #[arg(long)]
    pub even_used: bool,
    /// Save the plan, for `migrate --plan`
    #[arg(long, value_name = "FILE", conflicts_with = "apply")]
    pub out: Option<PathBuf>,
    /// Remove them; `rollback` brings them back
    #[arg(long)]
    pub apply: bool,
    /// How it is applied.
    #[command(flatten)]
    pub applying: ApplyOptions,
}

/// Arguments of `explain`.
#[derive(Clone, Debug, Args)]
pub struct Explain {
    /// The kind of finding, as it is printed
    #[arg(value_name = "CODE", value_parser = code_parser())]
    pub code: Code,
}

/// Arguments of `lsp` and `mcp`: none but those of all commands.
#[cfg(any(feature = "lsp", feature = "mcp"))]
#[derive(Clone, Debug, Default, Args)]
pub struct Server {}

/// Arguments of `help`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Examples:\n  coalesce help manifest\n  coalesce help settings --schema > coalesce.toml.schema.json\n  \
                  coalesce help migrate"
)]
pub struct Help {
    /// `manifest`, `settings`, or a command
    #[arg(value_name = "TOPIC")]
    pub topic: Option<String>,
    /// The JSON schema of `manifest` or `settings`, for editors
    #[arg(long, requires = "topic")]
    pub schema: bool,
}

/// Arguments of `completions`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Examples:\n  coalesce completions bash > ~/.local/share/bash-completion/completions/coalesce\n  \
                  coalesce completions zsh > ~/.zfunc/_coalesce"
)]
pub struct Completions {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: clap_complete::Shell,
}

/// Arguments of `man`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Examples:\n  coalesce man > ~/.local/share/man/man1/coalesce.1\n  coalesce man migrate | man -l -"
)]
pub struct Man {
    /// The command whose page it is; the program's own when left out
    #[arg(value_name = "COMMAND")]
    pub command: Option<String>,
}

fn grade_parser() -> impl clap::builder::TypedValueParser<Value = Grade> {
    PossibleValuesParser::new(Grade::ALL.map(Grade::as_str)).map(|name| {
        let known = Grade::ALL.into_iter().find(|grade| grade.as_str() == name);
        known.expect("invariant: the parser lets only grades of the list through")
    })
}

fn code_parser() -> impl clap::builder::TypedValueParser<Value = Code> {
    PossibleValuesParser::new(codes::ALL.map(|code| code.0)).map(|name| {
        let known = codes::ALL.into_iter().find(|code| code.0 == name);
        known.expect("invariant: the parser lets only codes of the list through")
    })
}

fn after_help() -> String {
    let mut text = String::from(
        "The loop:\n  coalesce audit                       what is wrong with the tree\n  \
         coalesce move OLD NEW                a first migration; or write one: `coalesce init`\n  \
         coalesce plan                        what migrations/*.toml would change\n  \
         coalesce migrate --verify            compile and import it on a copy, then change it\n  \
         coalesce check                       in CI, from now on\n  \
         coalesce rollback                    undo\n\nExit codes:\n",
    );
    for exit in Exit::ALL {
        text.push_str(&format!("  {}  {}\n", exit.code(), exit.meaning()));
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_definitions_hold_together_and_the_help_names_every_exit_code() {
        Invocation::command().debug_assert();
        let help = Invocation::command().render_long_help().to_string();
        for exit in Exit::ALL {
            assert!(
                help.contains(&format!("{}  {}", exit.code(), exit.meaning())),
                "{help}"
            );
        }
    }

    #[test]
    fn arguments_that_cannot_go_together_are_refused() {
        for (arguments, fits) in [
            ("migrate --plan p.json", true),
            ("migrate --plan p.json m.toml", false),
            ("migrate --require compiled --verify", true),
            ("migrate --require certain", false),
            ("migrate --require tested --allow-unproven", false),
            ("plan --require resolved --diff", true),
            ("recover", true),
            ("recover --finish --undo", false),
            ("recover --undo", true),
            ("audit --fail-on orphan-file,import-cycle --root x", true),
            ("audit --fail-on orphan", false),
            ("check --format json src", true),
            (
                "check --release 4.0.0 --changed-since main --fix --yes",
                true,
            ),
            ("check --release next", false),
            ("check --fix --write-baseline b.json", false),
            ("explain empty-stub", true),
            ("retire", false),
            ("verify --plan p.json", true),
            ("verify --plan p.json m.toml", false),
            ("migrate --verify m.toml", true),
            ("migrate --commits --verify", true),
            ("migrate --commits --allow-dirty", false),
            ("retire --unused --apply --commits", true),
            ("retire --due 4.0.0 --apply", true),
            ("retire --unused --due 4.0.0", false),
            ("retire a.b c.d --out p.json", true),
            ("move a.b a.c --shim --remove-in 4.0", true),
            ("move a.b a.c --remove-in 4.0", false),
            ("move a.b", false),
            ("replace a.b a.c --rename x=y --rename p=q", true),
            ("replace a.b a.c --rename x", false),
            ("merge a.b a.c --decide x=rename:y --kind module", false),
            ("remove a.b --apply --yes", true),
            ("completions fish", true),
            ("help manifest --schema", true),
            ("help --schema", false),
        ] {
            let read = Invocation::of(arguments.split(' '));
            assert_eq!(read.is_ok(), fits, "{arguments}");
        }
    }
}
