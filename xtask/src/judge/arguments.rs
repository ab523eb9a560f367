//! The words of the command line.

use std::path::PathBuf;

use anyhow::{Context as _, bail};

use super::{HELP, consolidation::Kind};

/// What was asked for.
pub struct Arguments {
    /// The tree; it is only read.
    pub tree: PathBuf,
    /// Where the random numbers begin.
    pub seed: u64,
    /// How many consolidations are drawn.
    pub count: u64,
    /// Which kinds.
    pub kinds: Vec<Kind>,
    /// How many of a hundred moves leave a shim.
    pub shims: u64,
    /// The program, and what comes before its own arguments.
    pub program: PathBuf,
    /// The interpreter.
    pub python: PathBuf,
    /// Where Cargo builds; `None` for a folder of this run's own.
    pub target: Option<PathBuf>,
    /// Where manifests and answers are kept.
    pub keep: Option<PathBuf>,
    /// Whether only the manifests are wanted.
    pub list: bool,
    /// How many copies are planted before the draw; what is drawn then is about them.
    pub plants: usize,
    /// A command that runs the tree's tests.
    pub tests: Option<String>,
    /// Whether what reading cannot prove is tried with `migrate --verify`.
    pub verify: bool,
    /// Whether sources and targets are drawn among all modules, asked for or not.
    pub any_target: bool,
}

impl Arguments {
    /// Reads the words.
    pub fn parse(words: Vec<String>) -> anyhow::Result<Self> {
        let mut arguments = Self {
            tree: PathBuf::new(),
            seed: 1,
            count: 20,
            kinds: Kind::ALL.to_vec(),
            shims: 50,
            program: std::env::current_exe()?,
            python: PathBuf::from("python3"),
            target: None,
            keep: None,
            list: false,
            plants: 0,
            tests: None,
            verify: true,
            any_target: false,
        };
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--help" | "-h" => bail!("{HELP}"),
                "--list" => arguments.list = true,
                "--no-verify" => arguments.verify = false,
                "--any-target" => arguments.any_target = true,
                option if option.starts_with('-') => {
                    let value = words.next();
                    let value = value.with_context(|| format!("{option} needs a value"))?;
                    arguments.set(option, &value)?;
                }
                tree => arguments.tree = PathBuf::from(tree),
            }
        }
        anyhow::ensure!(arguments.tree.is_dir(), "no tree is named\n\n{HELP}");
        arguments.tree = arguments.tree.canonicalize()?;
        Ok(arguments)
    }

    fn set(&mut self, option: &str, value: &str) -> anyhow::Result<()> {
        let number = || -> anyhow::Result<u64> {
            value
                .parse()
                .with_context(|| format!("{option} takes a number, not `{value}`"))
        };
        match option {
            "--seed" => self.seed = number()?,
            "--count" => self.count = number()?,
            "--plant" => self.plants = usize::try_from(number()?)?,
            "--tests" => self.tests = Some(value.to_owned()),
            "--shims" => self.shims = number()?,
            "--bin" => self.program = PathBuf::from(value).canonicalize()?,
            // A program to be looked up has no folder; a link is not followed, since it is how a virtual
            // environment is known.
            "--python" if !value.contains(std::path::MAIN_SEPARATOR) => {
                self.python = PathBuf::from(value);
            }
            "--python" => self.python = std::path::absolute(value)?,
            "--target" => self.target = Some(std::path::absolute(value)?),
            "--keep" => self.keep = Some(PathBuf::from(value)),
            "--kinds" => {
                let kinds = value.split(',').map(Kind::parse);
                self.kinds = kinds.collect::<anyhow::Result<_>>()?;
            }
            _ => bail!("there is no option `{option}`\n\n{HELP}"),
        }
        Ok(())
    }
}
