//! What a maintainer could ask for: which places a consolidation may come from and go to. The rule is written down
//! in `docs/evidence/README.md`; it knows nothing of what the program says.

mod imports;
mod packages;
mod source;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use coalesce_model::{LanguageKind, Texts, TreePath};

pub use self::imports::absolute as absolute_python;
use self::{
    imports::{Imports, is_within},
    packages::{Home, Packages},
    source::{Conditions, Source},
};
use super::candidates::Place;

/// Python: folders and modules that no product code is in.
const APART: &[&str] = &[
    "bench",
    "benches",
    "benchmark",
    "benchmarks",
    "ci",
    "conftest",
    "demo",
    "demos",
    "doc",
    "docs",
    "example",
    "examples",
    "fixtures",
    "fuzz",
    "noxfile",
    "script",
    "scripts",
    "setup",
    "test",
    "testing",
    "tests",
    "tools",
    "tutorial",
    "tutorials",
];
/// Rust: modules that no product code is in; which targets are product code says Cargo.
const MODULES_APART: &[&str] = &["bench", "benches", "test", "testing", "tests"];
/// How many lines of a file say that a program wrote it.
const HEAD: usize = 20;

/// What is known of a module that something may come from or go to.
struct Known {
    language: LanguageKind,
    /// Rust: its target.
    home: Option<Home>,
    /// Rust: the conditions that it stands under.
    conditions: BTreeSet<String>,
    /// Python: the folder of its project.
    project: Option<TreePath>,
    /// Python: whether it is run by its path.
    script: bool,
    /// Rust: what it says.
    source: Option<Source>,
}

/// The places of a tree, by module name.
pub struct Asked {
    packages: Packages,
    known: BTreeMap<String, Known>,
    /// What Python modules import.
    imports: Imports,
    /// The macros that files define, by the target.
    macros: BTreeMap<PathBuf, BTreeSet<String>>,
}

impl Asked {
    /// Reads what is known of `places`.
    ///
    /// `roots` are the names of targets with their root files.
    pub fn read(
        root: &Path,
        places: &[Place],
        roots: &[(String, TreePath)],
        texts: &dyn Texts,
    ) -> anyhow::Result<Self> {
        let mut asked = Self {
            packages: Packages::read(root)?,
            known: BTreeMap::new(),
            imports: Imports::default(),
            macros: BTreeMap::new(),
        };
        let mut conditions = Conditions::default();
        let mut sorted: Vec<&Place> = places.iter().collect();
        sorted.sort_by_key(|place| &place.name);
        for place in sorted {
            let Some(code) = texts.text(&place.path) else {
                continue;
            };
            let source = match place.language {
                LanguageKind::Rust => Source::read(&code),
                _ => None,
            };
            if let Some(source) = &source {
                conditions.add(&place.name, source);
            }
            if place.language == LanguageKind::Python {
                let package = place.path.file_name() == "__init__.py";
                asked.imports.add(&place.name, package, &code);
            }
            if !is_generated(&code) && !is_apart(place) {
                asked.add(
                    place,
                    Known {
                        language: place.language,
                        home: asked.home(root, place, roots),
                        conditions: match place.language {
                            LanguageKind::Rust => conditions.of(&place.name),
                            _ => BTreeSet::new(),
                        },
                        project: project(&place.path, texts),
                        script: is_script(&place.path, &code),
                        source,
                    },
                );
            }
        }
        Ok(asked)
    }

    fn add(&mut self, place: &Place, known: Known) {
        if let (Some(home), Some(source)) = (&known.home, &known.source) {
            let macros = self.macros.entry(home.target.clone()).or_default();
            macros.extend(source.macros());
        }
        self.known.insert(place.name.clone(), known);
    }

    /// Whether somebody would take something out of the module.
    pub fn is_source(&self, module: &str) -> bool {
        self.known
            .get(module)
            .is_some_and(|known| match known.language {
                LanguageKind::Rust => known.home.is_some() && !tested(&known.conditions),
                _ => true,
            })
    }

    /// Whether the module `from` could go below `to`, with all that stands below it.
    pub fn module(&self, from: &str, to: &str) -> bool {
        let Some(crossing) = self.crossing(from, to) else {
            return false;
        };
        if self.needs_already(from, to) {
            return false;
        }
        let below = format!("{from}::");
        let parts = self
            .known
            .iter()
            .filter(|(name, _)| *name == from || name.starts_with(&below));
        crossing.is_none_or(|package| {
            parts.map(|(_, known)| known).all(|known| {
                known.source.as_ref().is_some_and(|source| {
                    !source.leans_on_its_crate(self.macros(known))
                        && self.may_name(package, &source.words())
                })
            })
        })
    }

    /// Whether the definition `item` of the module `from` could go to the module `to`.
    pub fn item(&self, from: &str, item: &str, to: &str) -> bool {
        let Some(crossing) = self.crossing(from, to) else {
            return false;
        };
        let Some(known) = self
            .known
            .get(from)
            .filter(|known| known.language == LanguageKind::Rust)
        else {
            return !self.imports.needs(to, from);
        };
        let root = !from.contains("::");
        let Some(source) = known.source.as_ref().filter(|_| !(root && item == "main")) else {
            return false;
        };
        let Some(words) = source.item_words(item) else {
            return false;
        };
        crossing.is_none_or(|package| {
            !source.item_leans(item, &words, self.macros(known)) && self.may_name(package, &words)
        })
    }

    /// Whether a Python package around the new place, and not around the old one, needs what would go below it: whoever
    /// imports that would begin with those who need it.
    fn needs_already(&self, from: &str, to: &str) -> bool {
        let outer =
            std::iter::successors(Some(to), |at| at.rsplit_once('.').map(|(above, _)| above));
        let mut new = outer.take_while(|package| !is_within(from, package));
        new.any(|package| self.imports.needs(package, from))
    }

    /// Whether what `from` has could give way to what `to` has.
    pub fn pair(&self, from: &str, to: &str) -> bool {
        from == to && self.is_source(from) || self.crossing(from, to).is_some()
    }

    /// The package that what goes from `from` to `to` comes to be of, where that is another one; `None` where nobody
    /// would ask for it.
    fn crossing(&self, from: &str, to: &str) -> Option<Option<usize>> {
        let (before, after) = (self.known.get(from)?, self.known.get(to)?);
        let sensible = before.language == after.language
            && self.is_source(from)
            && self.is_source(to)
            && !after.script
            && before.project == after.project
            && after.conditions.is_subset(&before.conditions);
        let (Some(old), Some(new)) = (&before.home, &after.home) else {
            return sensible.then_some(None);
        };
        if old.target == new.target {
            return sensible.then_some(None);
        }
        let permitted = old.library
            && new.library
            && old.package != new.package
            && self.packages.may_need(old.package, new.package);
        (sensible && permitted).then_some(Some(new.package))
    }

    fn may_name(&self, package: usize, words: &BTreeSet<String>) -> bool {
        words
            .iter()
            .all(|word| self.packages.may_name(package, word))
    }

    fn macros(&self, known: &Known) -> &BTreeSet<String> {
        const NONE: &BTreeSet<String> = &BTreeSet::new();
        let home = known.home.as_ref();
        home.and_then(|home| self.macros.get(&home.target))
            .unwrap_or(NONE)
    }

    /// The target of a Rust module: of those by its name the one whose folder is nearest.
    fn home(&self, root: &Path, place: &Place, roots: &[(String, TreePath)]) -> Option<Home> {
        let name = place.name.split("::").next()?;
        let own = roots.iter().filter(|(of, at)| {
            let folder = at.parent();
            of == name && folder.is_none_or(|folder| place.path.strip_prefix(&folder).is_some())
        });
        let nearest = own.max_by_key(|(_, at)| (place.path == *at, at.components().count()))?;
        self.packages.product(&root.join(nearest.1.as_str()))
    }
}

/// Whether it is there for tests alone.
fn tested(conditions: &BTreeSet<String>) -> bool {
    conditions.iter().any(|condition| condition == "test")
}

fn is_generated(code: &str) -> bool {
    let mut head = code.lines().take(HEAD).map(str::to_lowercase);
    head.any(|line| {
        line.contains("@generated")
            || line.contains("do not edit")
            || line.contains("generated by")
            || line.contains("automatically generated")
            || line.contains("autogenerated")
    })
}

fn is_apart(place: &Place) -> bool {
    let mut names = place.name.split(place.language.separator());
    if place.language == LanguageKind::Rust {
        return names.any(|name| MODULES_APART.contains(&name));
    }
    let folders = place.path.components();
    let mut parts = folders
        .chain(names)
        .map(|part| part.strip_suffix(".py").unwrap_or(part));
    parts.any(|part| APART.contains(&part) || part.starts_with("test_") || part.ends_with("_test"))
}

/// The nearest folder with a project file of Python.
fn project(path: &TreePath, texts: &dyn Texts) -> Option<TreePath> {
    let mut folder = path.parent();
    while let Some(at) = folder {
        let has = |name| at.join(name).is_ok_and(|file| texts.exists(&file));
        if has("pyproject.toml") || has("setup.py") {
            return Some(at);
        }
        folder = at.parent();
    }
    None
}

fn is_script(path: &TreePath, code: &str) -> bool {
    let guarded = code
        .lines()
        .any(|line| line.starts_with("if __name__") && line.contains("__main__"));
    path.as_str().ends_with("__main__.py") || guarded
}
