//! The trees that are checked, file by file, and which checks a tree has.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_apply::FileChange;
use coalesce_model::{
    Finding, LanguageGraph, Module, ModuleKind, Texts as _, TreePath, envelope::ShimEntry,
    manifest::VerifyTable,
};
use coalesce_plan::{Operation, planned_tree};
use coalesce_rust::conditional_lines;
use coalesce_tree::FileKind;
use coalesce_verify::{CargoConfiguration, Check, Content, Wanted};

use super::reach::edited_code;

use crate::{
    Failure, Session,
    retire::removal,
    shims::{of_items, shims},
};

/// Workspaces inside others that are checked as well.
const INNER_WORKSPACES: usize = 16;

/// The tree as it is, and what is left out of the copy.
pub fn before(session: &Session) -> Result<(Wanted, Vec<String>), Failure> {
    let root = session.tree.root();
    let mut wanted = Wanted::new();
    let mut left_out = Vec::new();
    for file in session.tree.all_files()? {
        let place = root.join(file.path.as_str());
        let content = match file.kind {
            FileKind::Plain => Some(Content::Copy(place)),
            FileKind::Link => inner_link(&file.path, &place),
            _ => None,
        };
        match content {
            Some(content) => drop(wanted.insert(file.path, content)),
            None => left_out.push(format!(
                "{}: it leads out of the tree or is no file",
                file.path
            )),
        }
    }
    // Ignored by many libraries, and still what their builds go by.
    let directories = cargo_directories(session).into_iter();
    for lock in directories.filter_map(|directory| directory.join("Cargo.lock").ok()) {
        let place = root.join(lock.as_str());
        if place.is_file() && !place.is_symlink() {
            wanted.entry(lock).or_insert(Content::Copy(place));
        }
    }
    Ok((wanted, left_out))
}

/// A link that stays inside the tree, as it is.
fn inner_link(path: &TreePath, place: &std::path::Path) -> Option<Content> {
    let target = std::fs::read_link(place).ok()?;
    let directory = path.parent().unwrap_or_else(TreePath::root);
    // An absolute target, or too many steps up, is no path of the tree.
    directory.join(&target.to_str()?.replace('\\', "/")).ok()?;
    Some(Content::Link(target))
}

/// The tree as the plan leaves it.
pub fn after(before: &Wanted, changes: Vec<FileChange>) -> Wanted {
    let mut wanted = before.clone();
    for change in changes {
        match change.after {
            Some(content) => {
                let mode = content.mode.or(change.before.map(|stamp| stamp.mode));
                wanted.insert(change.path, Content::Bytes(content.bytes, mode));
            }
            None => drop(wanted.remove(&change.path)),
        }
    }
    wanted
}

/// The planned tree without the shims that the plan makes.
#[derive(Debug, Default)]
pub struct Hidden {
    /// Its files.
    pub wanted: Wanted,
    /// The shims that are hidden.
    pub shims: Vec<ShimEntry>,
    /// Why some are not.
    pub left_out: Vec<String>,
}

/// Takes the shims out of the planned tree that this plan has put there.
pub fn without_shims(session_after: &Session, after: &Wanted, operations: &[Operation]) -> Hidden {
    let made = written_shims(session_after, operations);
    if made.is_empty() {
        return Hidden::default();
    }
    let items = of_items(session_after, &made);
    let removed = removal(session_after, &made).assembled;
    let wanted = changed(after, &removed.operations);
    let is_edited = |shim: &ShimEntry| {
        removed.operations.iter().any(
            |operation| matches!(operation, Operation::Edit { path, .. } if *path == shim.path),
        )
    };
    let (shims, stay): (Vec<_>, Vec<_>) =
        made.into_iter()
            .partition(|shim| match items.contains(&shim.name) {
                true => is_edited(shim),
                false => !wanted.contains_key(&shim.path),
            });
    let stay = stay.iter();
    Hidden {
        left_out: stay
            .map(|shim| tell_shown(shim, &removed.refusals))
            .collect(),
        wanted,
        shims,
    }
}

/// The shims of the planned tree that stand in files which the plan writes.
fn written_shims(session_after: &Session, operations: &[Operation]) -> Vec<ShimEntry> {
    let written: BTreeSet<&TreePath> = operations
        .iter()
        .filter_map(|operation| match operation {
            Operation::Create { path, .. } | Operation::Edit { path, .. } => Some(path),
            Operation::Move { .. } | Operation::Delete { .. } => None,
        })
        .collect();
    let mut shims = shims(session_after, &[]);
    shims.retain(|shim| written.contains(&shim.path));
    shims
}

/// A tree with the edits and removals of `operations`.
fn changed(tree: &Wanted, operations: &[Operation]) -> Wanted {
    let mut changed = tree.clone();
    for operation in operations {
        match operation {
            Operation::Delete { path } => drop(changed.remove(path)),
            Operation::Edit { path, text } => {
                let bytes = text.clone().into_bytes();
                changed.insert(path.clone(), Content::Bytes(bytes, None));
            }
            Operation::Move { .. } | Operation::Create { .. } => {}
        }
    }
    changed
}

/// What is said of a shim that is not hidden.
fn tell_shown(shim: &ShimEntry, refusals: &[Finding]) -> String {
    let refusal = refusals.iter().find(|finding| finding.path == shim.path);
    let why = refusal.map_or("", |finding| finding.message.as_str());
    format!("{}: checked with the shim only: {why}", shim.path)
}

/// A check of a tree.
#[derive(Debug)]
pub struct Planned {
    /// The check.
    pub check: Check,
    /// What it comes to where it fails before.
    pub need: Need,
}

/// What becomes of a verification when a check of it fails before the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing can be compared.
    Required,
    /// It is left out: a workspace inside another one, which may be a fixture, and what the plan does not touch.
    Optional,
    /// It is left out, and whoever asked for it is told: a configuration of `matrix`.
    Asked,
}

/// Which checks a tree is given: what the manifests say, and the plan that is checked.
pub struct CheckSelection<'c> {
    /// What the manifests say.
    pub table: &'c VerifyTable,
    /// The plan.
    pub operations: &'c [Operation],
    configurations: Vec<(CargoConfiguration, Need)>,
}

impl<'c> CheckSelection<'c> {
    /// For a plan of this tree.
    pub fn new(session: &Session, table: &'c VerifyTable, operations: &'c [Operation]) -> Self {
        Self {
            table,
            operations,
            configurations: configurations(session, table, operations),
        }
    }

    /// The checks of a tree: what the manifest names, or what its languages have.
    pub fn of(&self, session: &Session) -> Vec<Planned> {
        let outer = |check| Planned {
            check,
            need: Need::Required,
        };
        let commands = self.table.commands.iter().cloned();
        let mut checks: Vec<Planned> = commands
            .map(|text| outer(Check::Command { text }))
            .collect();
        if checks.is_empty() {
            let touched = touched(self.operations);
            checks.extend(workspaces(session, &touched, &self.configurations));
            checks.extend(imports(session, &touched));
        }
        if !self.table.tests.is_empty() {
            checks.push(outer(Check::Tests {
                roots: import_roots(session),
                paths: self.table.tests.clone(),
            }));
        }
        checks
    }
}

/// The import of every module, where there are any.
fn imports(session: &Session, touched: &BTreeSet<&TreePath>) -> Option<Planned> {
    let modules = importable(session, |_| true);
    let mut extensions = touched.iter().map(|path| path.extension());
    (!modules.is_empty()).then(|| Planned {
        need: match extensions.any(|extension| matches!(extension, Some("py" | "pyi"))) {
            true => Need::Required,
            false => Need::Optional,
        },
        check: Check::Imports {
            roots: import_roots(session),
            modules,
            changed: importable(session, |path| touched.contains(path)),
        },
    })
}

/// Every path that a plan reads, writes or removes.
fn touched(operations: &[Operation]) -> BTreeSet<&TreePath> {
    let paths = operations.iter().flat_map(|operation| match operation {
        Operation::Move { from, to, .. } => [from, to],
        other => [other.path(), other.path()],
    });
    paths.collect()
}

/// Directories with a `Cargo.toml`, the outer ones first.
fn cargo_directories(session: &Session) -> Vec<TreePath> {
    let sources = session.tree.paths().iter();
    let manifests = sources.filter(|path| path.file_name() == "Cargo.toml");
    let mut directories: Vec<TreePath> = manifests.filter_map(TreePath::parent).collect();
    directories.sort_by_key(|directory| (directory.components().count(), directory.clone()));
    directories
}

/// Whether the `Cargo.toml` of a directory says that a workspace begins there.
fn declares_workspace(session: &Session, directory: &TreePath) -> bool {
    let manifest = directory.join("Cargo.toml").ok();
    let text = manifest.and_then(|path| session.tree.text(&path));
    text.unwrap_or_default()
        .lines()
        .any(|line| line.starts_with("[workspace]") || line.starts_with("[workspace."))
}

/// Whether a file is one that Cargo reads for a package in this directory.
fn is_built_in(path: &TreePath, directory: &TreePath) -> bool {
    path.strip_prefix(directory).is_some()
        && matches!(path.extension(), Some("rs" | "toml" | "lock"))
}

/// A workspace begins where no `Cargo.toml` stands above, or where one says so.
fn workspaces(
    session: &Session,
    touched: &BTreeSet<&TreePath>,
    configurations: &[(CargoConfiguration, Need)],
) -> Vec<Planned> {
    let mut outer: Vec<TreePath> = Vec::new();
    let mut checks = Vec::new();
    for directory in cargo_directories(session) {
        let mut above = outer.iter();
        let inner = above.any(|above| directory.strip_prefix(above).is_some());
        let too_many = checks.len() > INNER_WORKSPACES;
        if inner && (too_many || !declares_workspace(session, &directory)) {
            continue;
        }
        let concerned = touched.iter().any(|path| is_built_in(path, &directory));
        let check = |configuration, need| Planned {
            check: Check::Cargo {
                directory: directory.clone(),
                configuration,
            },
            need,
        };
        let need = match inner || !concerned {
            true => Need::Optional,
            false => Need::Required,
        };
        checks.push(check(CargoConfiguration::default(), need));
        // A configuration that cannot be built before says nothing.
        let more = configurations.iter().filter(|_| concerned && !inner);
        checks.extend(more.map(|(configuration, need)| check(configuration.clone(), *need)));
        if !inner {
            outer.push(directory);
        }
    }
    checks
}

/// The configurations that are tried beside the usual one: those of the manifests, each package that
/// the plan gives something by itself, and the features that conditions around edited lines name, all
/// on, and off.
fn configurations(
    session: &Session,
    table: &VerifyTable,
    operations: &[Operation],
) -> Vec<(CargoConfiguration, Need)> {
    let asked = asked(table);
    let count = asked.len();
    let mut all = asked;
    let alone = packages_with_more(session, operations).into_iter();
    all.extend(alone.map(|package| CargoConfiguration {
        packages: vec![package],
        ..CargoConfiguration::default()
    }));
    for (package, features) in features_around(session, operations) {
        let on = CargoConfiguration {
            packages: vec![package],
            features: features.into_iter().collect(),
            ..CargoConfiguration::default()
        };
        all.push(CargoConfiguration {
            features: Vec::new(),
            no_default_features: true,
            ..on.clone()
        });
        all.push(on);
    }
    let needs = std::iter::repeat_n(Need::Asked, count).chain(std::iter::repeat(Need::Optional));
    let mut seen = BTreeSet::new();
    let all = all.into_iter().zip(needs);
    all.filter(|(one, _)| seen.insert(one.clone())).collect()
}

/// The configurations of `matrix`.
pub fn asked(table: &VerifyTable) -> Vec<CargoConfiguration> {
    let own = table.matrix.iter().map(|one| CargoConfiguration {
        packages: one.packages.clone(),
        features: one.features.clone(),
        no_default_features: one.no_default_features,
        target: one.target.clone(),
    });
    own.collect()
}

/// The packages of several whose manifest the plan writes, or whose code it adds to: a check of the
/// workspace has the features on that any package asks for, and tells nothing of what one lacks.
fn packages_with_more(session: &Session, operations: &[Operation]) -> BTreeSet<String> {
    let packages = &session.rust.graph.world.packages;
    let overlay = planned_tree(&session.tree, operations);
    let stays = |name: &String| {
        let mut own = packages.iter().filter(|package| package.name == *name);
        own.any(|package| {
            let manifest = package.directory.join("Cargo.toml");
            manifest.is_ok_and(|path| overlay.exists(&path))
        })
    };
    // Who only names what has moved keeps as many lines as before.
    let has_more = |path: &TreePath, text: &str| {
        let before = session.tree.text(path);
        before.is_none_or(|before| text.lines().count() > before.lines().count())
    };
    let written = operations.iter().filter_map(|operation| match operation {
        Operation::Move { to, .. } => Some(to),
        Operation::Create { path, .. } => Some(path),
        Operation::Edit { path, text } => {
            (path.file_name() == "Cargo.toml" || has_more(path, text)).then_some(path)
        }
        Operation::Delete { .. } => None,
    });
    let built = written.filter(|path| matches!(path.extension(), Some("rs" | "toml")));
    let names = built.filter_map(|path| package_of(session, path));
    let names: BTreeSet<String> = names.filter(stays).collect();
    if packages.len() > 1 {
        names
    } else {
        BTreeSet::new()
    }
}

/// The features that conditions around edited lines name, package by package.
fn features_around(
    session: &Session,
    operations: &[Operation],
) -> BTreeMap<String, BTreeSet<String>> {
    let mut packages: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let overlay = planned_tree(&session.tree, operations);
    for (path, lines) in edited_code(session, operations) {
        let package = package_of(session, &path).filter(|_| path.extension() == Some("rs"));
        let Some(package) = package else { continue };
        let text = overlay.text(&path).unwrap_or_default();
        let around = conditional_lines(&text).into_iter().filter(|one| {
            let (first, last) = one.lines;
            lines.iter().any(|line| (first..=last).contains(line))
        });
        let features = around.flat_map(|one| one.features());
        packages.entry(package).or_default().extend(features);
    }
    packages.retain(|_, features| !features.is_empty());
    packages
}

/// The name of the package that a file belongs to: the one in the nearest directory above it.
fn package_of(session: &Session, path: &TreePath) -> Option<String> {
    let packages = session.rust.graph.world.packages.iter();
    let around = packages.filter(|package| path.strip_prefix(&package.directory).is_some());
    let nearest = around.max_by_key(|package| package.directory.components().count())?;
    Some(nearest.name.clone())
}

fn import_roots(session: &Session) -> Vec<TreePath> {
    let roots = session.python.graph.roots().iter();
    roots.map(|root| root.path.clone()).collect()
}

/// Modules that an import can name. What runs as a program is not imported.
fn importable(session: &Session, wanted: impl Fn(&TreePath) -> bool) -> Vec<String> {
    let fits = |module: &&Module| {
        let last = module.name.rsplit('.').next().unwrap_or_default();
        let program = matches!(last, "__main__" | "setup" | "conftest");
        module.path.extension() == Some("py") && !program && wanted(&module.path)
    };
    let modules = session.python.graph.modules().iter().filter(fits);
    let names: BTreeSet<String> = modules.map(|module| module.name.clone()).collect();
    names.into_iter().collect()
}

/// Whether a module is a shim.
pub fn is_shim(module: &Module) -> bool {
    module.kind == ModuleKind::Shim
}
