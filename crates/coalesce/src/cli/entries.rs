//! Arguments of the commands that stand for a manifest with one entry, and of `init`.

use std::path::PathBuf;

use clap::{ArgAction, Args, builder::PossibleValuesParser};
use coalesce_model::{
    Uses,
    manifest::{EntryText, Verb},
};

use super::{ApplyOptions, Docs};

/// Arguments of `init`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Examples:\n  coalesce init\n  coalesce init --out migrations/0002-one-pool.toml"
)]
pub struct Init {
    /// The manifest to write; what is there already is never written over
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// What the commands of one entry have in common.
#[derive(Clone, Debug, Args)]
pub struct EntryOptions {
    /// Also write the manifest that the command stands for; nothing is written over
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Change the tree; without it the plan is only shown
    #[arg(long)]
    pub apply: bool,
    /// What becomes of full names in prose: comments, docstrings, documents
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    pub docs: Docs,
    /// How it is applied.
    #[command(flatten)]
    pub applying: ApplyOptions,
}

/// What is said of the old name.
#[derive(Clone, Debug, Default, Args)]
pub struct ShimOptions {
    /// The old name goes on working, with a warning
    #[arg(long, action = ArgAction::SetTrue)]
    pub shim: bool,
    /// First release with the new name
    #[arg(long, value_name = "VERSION", requires = "shim")]
    pub since: Option<String>,
    /// Release that removes the shim
    #[arg(long, value_name = "VERSION", requires = "shim")]
    pub remove_in: Option<String>,
}

/// What is said of the names that files use.
#[derive(Clone, Debug, Default, Args)]
pub struct UsesOption {
    /// What files call what they import by a name that changes: the new name throughout, or the old one
    /// by an alias
    #[arg(long = "uses", value_name = "HOW", value_parser = PossibleValuesParser::new(["rename", "alias"]))]
    pub how: Option<String>,
}

/// What is said of the names before and after.
#[derive(Clone, Debug, Default, Args)]
pub struct NameOptions {
    /// An item that has another name afterwards
    #[arg(long, value_name = "OLD=NEW", value_parser = pair)]
    pub rename: Vec<(String, String)>,
    /// What files call what they import by a name that changes
    #[command(flatten)]
    pub uses: UsesOption,
    /// What stays at the old name.
    #[command(flatten)]
    pub shim: ShimOptions,
}

impl NameOptions {
    /// The entry of two names.
    fn entry(&self, verb: Verb, from: &str, to: &str) -> EntryText {
        let mut entry = EntryText::new(verb, from, Some(to.to_owned()));
        entry.rename.clone_from(&self.rename);
        entry.uses = match self.uses.how.as_deref() {
            Some("alias") => Uses::Alias,
            _ => Uses::Rename,
        };
        entry.shim = self.shim.shim;
        entry.since.clone_from(&self.shim.since);
        entry.remove_in.clone_from(&self.shim.remove_in);
        entry
    }
}

/// What `move --help` ends with.
pub const MOVE_EXAMPLES: &str = "Examples:\n  coalesce move lidar.gpu_utils lidar.core.gpu\n  \
    coalesce move lidar.gpu_utils lidar.core.gpu --shim --remove-in 4.0 --apply\n  \
    coalesce move crate_name::gpu::Pool crate_name::core::Pool --save migrations/0003-pool.toml";
/// What `replace --help` ends with.
pub const REPLACE_EXAMPLES: &str = "Examples:\n  \
    coalesce replace lidar.old.pick_device lidar.core.gpu.select_device\n  \
    coalesce replace lidar.gpu_old lidar.core.gpu --rename detect=find_devices --apply";

/// Arguments of `move` and `replace`.
#[derive(Clone, Debug, Args)]
pub struct NamePair {
    /// The name before: `a.b.c` in Python, `a::b::c` in Rust
    #[arg(value_name = "FROM")]
    pub from: String,
    /// The name after: with `move` nothing may stand there yet, with `replace` it must be there
    #[arg(value_name = "TO")]
    pub to: String,
    /// What the names are, where both a module and an item have them
    #[arg(long, value_name = "KIND", value_parser = PossibleValuesParser::new(["module", "item", "crate"]))]
    pub kind: Option<String>,
    /// What is said of the names.
    #[command(flatten)]
    pub names: NameOptions,
    /// What becomes of the plan.
    #[command(flatten)]
    pub options: EntryOptions,
}

/// Arguments of `merge`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Examples:\n  coalesce merge lidar.optimization.gpu lidar.core.gpu\n  \
                  coalesce merge lidar.old lidar.new --decide LIMIT=keep-into --decide flush=rename:flush_all"
)]
pub struct Merge {
    /// The module that gives way: `a.b.c` in Python, `a::b::c` in Rust
    #[arg(value_name = "FROM")]
    pub from: String,
    /// The module that takes its place; it must be there
    #[arg(value_name = "INTO")]
    pub into: String,
    /// What becomes of an item that both have: `keep-into`, `keep-from` or `rename:NAME`
    #[arg(long, value_name = "ITEM=CHOICE", value_parser = pair)]
    pub decide: Vec<(String, String)>,
    /// What is said of the names.
    #[command(flatten)]
    pub names: NameOptions,
    /// What becomes of the plan.
    #[command(flatten)]
    pub options: EntryOptions,
}

/// Arguments of `remove`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example: coalesce remove lidar.gpu_stub --apply")]
pub struct Remove {
    /// A module that nobody uses: `a.b.c` in Python, `a::b::c` in Rust
    #[arg(value_name = "MODULE")]
    pub module: String,
    /// What becomes of the plan.
    #[command(flatten)]
    pub options: EntryOptions,
}

impl NamePair {
    /// The entry that it stands for.
    #[must_use]
    pub fn entry(&self, verb: Verb) -> EntryText {
        let kind = self.kind.clone();
        let entry = self.names.entry(verb, &self.from, &self.to);
        EntryText { kind, ..entry }
    }
}

impl Merge {
    /// The entry that it stands for.
    #[must_use]
    pub fn entry(&self) -> EntryText {
        let decide = self.decide.clone();
        let entry = self.names.entry(Verb::Merge, &self.from, &self.into);
        EntryText { decide, ..entry }
    }
}

impl Remove {
    /// The entry that it stands for.
    #[must_use]
    pub fn entry(&self) -> EntryText {
        EntryText::new(Verb::Remove, &self.module, None)
    }
}

/// `a=b`, parted at the last `=`: the key of a decision may be a statement.
fn pair(text: &str) -> Result<(String, String), String> {
    let (left, right) = text
        .rsplit_once('=')
        .ok_or_else(|| format!("`{text}` has no `=`"))?;
    let (left, right) = (left.trim(), right.trim());
    if left.is_empty() || right.is_empty() {
        return Err(format!("`{text}` lacks one side of the `=`"));
    }
    Ok((left.to_owned(), right.to_owned()))
}
