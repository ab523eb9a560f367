//! Python as a judge: every module is imported, each in a process of its own, and its names are read.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::Context as _;
use coalesce_model::LanguageKind;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    consolidation::{Consolidation, Kind},
    declared::{Declared, renamed},
    names::{ModulePair, Reading, differences},
    oracle::Objection,
    scratch::read_tree,
};

/// The program that imports.
const IMPORTS: &str = concat!(include_str!("names.py"), "\n\n", include_str!("imports.py"));
/// What one import may take.
const SECONDS: u32 = 60;

/// What became of one import.
#[derive(Deserialize)]
struct Import {
    error: Option<String>,
    external: Vec<String>,
    warned: bool,
    warnings: Vec<String>,
}

/// What is known of a module.
#[derive(Deserialize)]
struct ImportedModule {
    import: Import,
    /// None where it cannot be imported.
    names: Option<Reading>,
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
    names: BTreeMap<String, Reading>,
    external: Vec<String>,
}

impl Interpreter {
    /// Imports every module of the untouched tree.
    pub fn new(root: &Path, python: &Path) -> anyhow::Result<Self> {
        let mut interpreter = Self {
            python: python.to_owned(),
            before: BTreeMap::new(),
            names: BTreeMap::new(),
            external: Vec::new(),
        };
        let modules = Modules::read(root)?;
        let first = interpreter.import(&modules, None)?;
        let own: BTreeSet<&str> = modules.names.iter().map(|name| top(name)).collect();
        let loaded = first.values().flat_map(|known| &known.import.external);
        let external: BTreeSet<&String> =
            loaded.filter(|name| !own.contains(name.as_str())).collect();
        interpreter.external = external.into_iter().cloned().collect();
        // Once more, as everything is imported from now on: what others load is loaded already.
        for (name, known) in interpreter.import(&modules, None)? {
            let again = first.get(&name).and_then(|first| first.names.as_ref());
            if let Some(mut names) = known.names {
                names.settle(again);
                interpreter.names.insert(name.clone(), names);
            }
            interpreter.before.insert(name, known.import);
        }
        let mut before = interpreter.before.values();
        let works = before.any(|import| import.error.is_none());
        anyhow::ensure!(works, "no module of the tree can be imported as it is");
        Ok(interpreter)
    }

    /// What is judged, in a line.
    pub fn told(&self) -> String {
        let count =
            |of: &dyn Fn(&Reading) -> bool| self.names.values().filter(|names| of(names)).count();
        format!(
            "{} modules of Python, {} can be imported; the names of {} are compared, those of {} took too long",
            self.before.len(),
            self.names.len(),
            count(&|names| names.names().is_some()),
            count(&|names| matches!(names, Reading::Late { .. })),
        )
    }

    /// The first module that could be imported before and cannot be now, or that has come and cannot be.
    pub fn first_error(&self, root: &Path) -> anyhow::Result<Option<String>> {
        let after = self.import(&Modules::read(root)?, None)?;
        let failing = after
            .iter()
            .find_map(|(name, ImportedModule { import, .. })| {
                let failed = self.before.get(name).is_some_and(|old| old.error.is_some());
                let error = import.error.as_ref().filter(|_| !failed)?;
                Some(format!("import {name}: {error}"))
            });
        Ok(failing)
    }

    /// The first thing that is worse; what imports of old names come to, before what differs in names.
    pub fn objection(
        &self,
        root: &Path,
        done: &Consolidation,
        answer: &Value,
    ) -> anyhow::Result<Option<Objection>> {
        let modules = Modules::read(root)?;
        let after = self.import(&modules, Some(done))?;
        if let Some(worse) = self.worse(&after, done) {
            return Ok(Some(Objection::Fails(worse)));
        }
        let declared = Declared::new(done, &self.names, answer);
        let differing: Vec<String> = self
            .pairs(&after, done)
            .flat_map(|pair| self.compared(pair, &after, &declared))
            .collect();
        Ok((!differing.is_empty()).then(|| Objection::Names(differing.join("\n"))))
    }

    /// The first module whose import is worse than before.
    fn worse(
        &self,
        after: &BTreeMap<String, ImportedModule>,
        done: &Consolidation,
    ) -> Option<String> {
        for (name, ImportedModule { import, .. }) in after {
            let old = if self.before.contains_key(name) {
                name.clone()
            } else {
                before(name, done)
            };
            let worked = self.before.get(&old).is_none_or(|old| old.error.is_none());
            if let Some(error) = import.error.as_ref().filter(|_| worked) {
                return Some(format!("import {name}: {error}"));
            }
            if import.warned {
                return Some(format!("import {name} warns of the old name"));
            }
        }
        let lost = self.before.iter().find(|(name, import)| {
            let elsewhere = renamed(name, &done.from, &done.to);
            import.error.is_none() && !after.contains_key(*name) && !after.contains_key(&elsewhere)
        });
        lost.map(|(name, _)| format!("there is no module {name} any more"))
    }

    /// Each module of before with what it is now; one that moved and is kept at its old name is both.
    fn pairs<'p>(
        &'p self,
        after: &'p BTreeMap<String, ImportedModule>,
        done: &'p Consolidation,
    ) -> impl Iterator<Item = (&'p String, String)> {
        let moves = done.kind == Kind::Module;
        self.names.keys().flat_map(move |old| {
            let elsewhere = renamed(old, &done.from, &done.to);
            let moved = (moves && elsewhere != *old).then_some(elsewhere);
            let here = after.contains_key(old).then(|| old.clone());
            here.into_iter().chain(moved).map(move |new| (old, new))
        })
    }

    /// What differs in one module.
    fn compared(
        &self,
        (old, new): (&String, String),
        after: &BTreeMap<String, ImportedModule>,
        declared: &Declared<'_>,
    ) -> Vec<String> {
        let pair = ModulePair { old, new: &new };
        let warned = |import: &Import| import.warnings.clone();
        let (Some(import), Some(known)) = (self.before.get(old), after.get(&new)) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        let (told, tells) = (warned(import), warned(&known.import));
        if let Some(new_warning) = declared
            .new_warning(&told, &tells)
            .filter(|_| !declared.is_shim(pair))
        {
            found.push(format!("import {new} warns anew: {new_warning}"));
        }
        match (self.names.get(old), &known.names) {
            (Some(Reading::Known(before)), Some(Reading::Known(after))) => {
                found.extend(differences(pair, before, after, declared));
            }
            (Some(Reading::Known(_)), Some(Reading::Ended { ended })) => {
                found.push(format!(
                    "reading the names of {new} ends the interpreter ({ended})"
                ));
            }
            _ => {}
        }
        found
    }

    fn import(
        &self,
        modules: &Modules,
        done: Option<&Consolidation>,
    ) -> anyhow::Result<BTreeMap<String, ImportedModule>> {
        let question = json!({
            "roots": modules.roots,
            "modules": modules.names,
            "preload": self.external,
            "old": done.map(|done| &done.from),
            "seconds": SECONDS,
            "probes": self.probes(done),
        });
        let answer = self.ask(modules, &question)?;
        let answers: BTreeMap<String, ImportedModule> =
            serde_json::from_slice(&answer).context("the interpreter's answer cannot be read")?;
        let silent = modules
            .names
            .iter()
            .find(|name| !answers.contains_key(*name));
        anyhow::ensure!(
            silent.is_none(),
            "the interpreter says nothing of {}",
            silent.cloned().unwrap_or_default()
        );
        Ok(answers)
    }

    /// The names that were there before, by module; of one that moves by its new name, too.
    fn probes(&self, done: Option<&Consolidation>) -> BTreeMap<String, Vec<&String>> {
        let mut probes = BTreeMap::new();
        for (name, read) in &self.names {
            let Some(read) = read.names() else { continue };
            let names: Vec<&String> = read.names.keys().collect();
            if let Some(done) = done {
                probes.insert(renamed(name, &done.from, &done.to), names.clone());
            }
            probes.insert(name.clone(), names);
        }
        probes
    }

    /// Gives an interpreter a question as its input; what it prints.
    ///
    /// # Errors
    /// When it does not end well: then nothing was judged.
    fn ask(&self, modules: &Modules, question: &Value) -> anyhow::Result<Vec<u8>> {
        let mut child = Command::new(&self.python)
            .args(["-c", IMPORTS])
            .env("PYTHONPATH", joined(&modules.roots)?)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .current_dir(std::env::temp_dir())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("failed to start {}", self.python.display()))?;
        let mut input = child.stdin.take().context("the interpreter has no input")?;
        input.write_all(question.to_string().as_bytes())?;
        drop(input);
        let output = child.wait_with_output()?;
        anyhow::ensure!(
            output.status.success(),
            "the interpreter ended with {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        );
        Ok(output.stdout)
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

fn joined(roots: &[PathBuf]) -> anyhow::Result<OsString> {
    std::env::join_paths(roots).context("a root's path cannot be handed to the interpreter")
}

#[cfg(test)]
mod tests;
