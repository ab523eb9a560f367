//! Python as a judge: every module is imported, each in a process of its own.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::Context as _;
use coalesce_model::LanguageKind;
use serde_json::json;

use super::{consolidation::Consolidation, scratch::read_tree};

/// The program that imports.
const IMPORTS: &str = include_str!("imports.py");
/// What one import may take.
const SECONDS: u32 = 60;

/// What became of one import.
struct Import {
    error: Option<String>,
    external: Vec<String>,
    warned: bool,
}

/// The modules of a tree and where imports begin.
struct Modules {
    names: Vec<String>,
    roots: Vec<PathBuf>,
}

/// The interpreter, and what it says of the untouched tree.
pub struct Interpreter {
    python: PathBuf,
    before: BTreeMap<String, Import>,
    external: Vec<String>,
}

impl Interpreter {
    /// Imports every module of the untouched tree.
    pub fn new(root: &Path, python: &Path) -> anyhow::Result<Self> {
        let mut interpreter = Self {
            python: python.to_owned(),
            before: BTreeMap::new(),
            external: Vec::new(),
        };
        let modules = Modules::read(root)?;
        let before = interpreter.import(&modules, None)?;
        let own: BTreeSet<&str> = modules.names.iter().map(|name| top(name)).collect();
        let loaded = before.values().flat_map(|import| &import.external);
        let external: BTreeSet<&String> =
            loaded.filter(|name| !own.contains(name.as_str())).collect();
        interpreter.external = external.into_iter().cloned().collect();
        let works = before.values().any(|import| import.error.is_none());
        anyhow::ensure!(works, "no module of the tree can be imported as it is");
        interpreter.before = before;
        Ok(interpreter)
    }

    /// The first thing that is worse.
    pub fn objection(&self, root: &Path, done: &Consolidation) -> anyhow::Result<Option<String>> {
        let modules = Modules::read(root)?;
        let after = self.import(&modules, Some(&done.from))?;
        for (name, import) in &after {
            let old = if self.before.contains_key(name) {
                name.clone()
            } else {
                before(name, done)
            };
            let worked = self.before.get(&old).is_none_or(|old| old.error.is_none());
            if let Some(error) = import.error.as_ref().filter(|_| worked) {
                return Ok(Some(format!("import {name}: {error}")));
            }
            if import.warned {
                return Ok(Some(format!("import {name} warns of the old name")));
            }
        }
        let lost = self.before.iter().find(|(name, import)| {
            let elsewhere = renamed(name, &done.from, &done.to);
            import.error.is_none() && !after.contains_key(*name) && !after.contains_key(&elsewhere)
        });
        Ok(lost.map(|(name, _)| format!("there is no module {name} any more")))
    }

    fn import(
        &self,
        modules: &Modules,
        old: Option<&str>,
    ) -> anyhow::Result<BTreeMap<String, Import>> {
        let question = json!({
            "roots": modules.roots,
            "modules": modules.names,
            "preload": self.external,
            "old": old,
            "seconds": SECONDS,
        });
        let answer = self.ask(modules, &question)?;
        let answers: BTreeMap<String, (Option<String>, Vec<String>, bool)> =
            serde_json::from_slice(&answer).context("the interpreter gave no answer")?;
        let heard = answers
            .into_iter()
            .map(|(name, (error, external, warned))| {
                let import = Import {
                    error,
                    external,
                    warned,
                };
                (name, import)
            });
        Ok(heard.collect())
    }

    /// Gives an interpreter a question as its input; what it prints.
    fn ask(&self, modules: &Modules, question: &serde_json::Value) -> anyhow::Result<Vec<u8>> {
        let mut child = Command::new(&self.python)
            .args(["-c", IMPORTS])
            .env("PYTHONPATH", joined(&modules.roots)?)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .current_dir(std::env::temp_dir())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("failed to start {}", self.python.display()))?;
        let mut input = child.stdin.take().context("the interpreter has no input")?;
        input.write_all(question.to_string().as_bytes())?;
        drop(input);
        Ok(child.wait_with_output()?.stdout)
    }
}

impl Modules {
    /// Modules that are files of an import root; scripts and tests are no one's import.
    fn read(root: &Path) -> anyhow::Result<Self> {
        let session = read_tree(root)?;
        let mut names = Vec::new();
        let mut roots = Vec::new();
        for graph in session.graphs() {
            if graph.language() != LanguageKind::Python {
                continue;
            }
            let packages = graph.modules().iter().filter(|module| module.package);
            let packages: BTreeSet<&str> = packages.map(|module| top(&module.name)).collect();
            roots.extend(
                graph
                    .roots()
                    .iter()
                    .map(|at| root.join(at.path.to_string())),
            );
            let inside = graph.modules().iter().map(|module| &module.name);
            names.extend(inside.filter(|name| packages.contains(top(name))).cloned());
        }
        Ok(Self { names, roots })
    }
}

fn top(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

/// The module whose import says what to expect of one that was not there: the one that moved, or
/// the one whose item a new module holds.
fn before(name: &str, done: &Consolidation) -> String {
    let parent = |name: &str| name.rsplit_once('.').map(|(parent, _)| parent.to_owned());
    match (parent(&done.from), parent(&done.to)) {
        (Some(from), Some(to)) if to == name => from,
        _ => renamed(name, &done.to, &done.from),
    }
}

/// `name` with `from` at its beginning made `to`.
fn renamed(name: &str, from: &str, to: &str) -> String {
    match name.strip_prefix(from) {
        Some(rest) if rest.is_empty() || rest.starts_with('.') => format!("{to}{rest}"),
        _ => name.to_owned(),
    }
}

fn joined(roots: &[PathBuf]) -> anyhow::Result<OsString> {
    std::env::join_paths(roots).context("a root's path cannot be handed to the interpreter")
}
