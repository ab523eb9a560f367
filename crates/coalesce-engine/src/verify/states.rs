//! The trees that are checked, file by file, and which checks a tree has.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_apply::FileChange;
use coalesce_model::{
    LanguageGraph, LanguageKind, Module, ModuleKind, Texts as _, TreePath, envelope::ShimEntry,
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
    for manifest in cargo_manifests(session) {
        let lock = manifest
            .parent()
            .and_then(|directory| directory.join("Cargo.lock").ok());
        if let Some(lock) = lock {
            let place = root.join(lock.as_str());
            if place.is_file() && !place.is_symlink() {
                wanted.entry(lock).or_insert(Content::Copy(place));
            }
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
    let written: BTreeSet<&TreePath> = operations
        .iter()
        .filter_map(|operation| match operation {
            Operation::Create { path, .. } | Operation::Edit { path, .. } => Some(path),
            _ => None,
        })
        .collect();
    let mut made = shims(session_after, &[]);
    made.retain(|shim| written.contains(&shim.path));
    if made.is_empty() {
        return Hidden::default();
    }
    let items = of_items(session_after, &made);
    let removed = removal(session_after, &made).assembled;
    let edited: BTreeSet<TreePath> = removed
        .operations
        .iter()
        .filter(|operation| matches!(operation, Operation::Edit { .. }))
        .map(|operation| operation.path().clone())
        .collect();
    let mut wanted = after.clone();
    for operation in removed.operations {
        match operation {
            Operation::Delete { path } => drop(wanted.remove(&path)),
            Operation::Edit { path, text } => {
                wanted.insert(path, Content::Bytes(text.into_bytes(), None));
            }
            Operation::Move { .. } | Operation::Create { .. } => {}
        }
    }
    let (gone, stay): (Vec<_>, Vec<_>) =
        made.into_iter()
            .partition(|shim| match items.contains(&shim.name) {
                true => edited.contains(&shim.path),
                false => !wanted.contains_key(&shim.path),
            });
    let why = |shim: &ShimEntry| {
        let refusal = removed
            .refusals
            .iter()
            .find(|finding| finding.path == shim.path);
        let why = refusal.map_or("", |finding| finding.message.as_str());
        format!("{}: checked with the shim only: {why}", shim.path)
    };
    Hidden {
        left_out: stay.iter().map(why).collect(),
        wanted,
        shims: gone,
    }
}

/// A check of a tree.
#[derive(Debug)]
pub struct Planned {
    /// The check.
    pub check: Check,
    /// Whether it may be left out where it fails before: a workspace inside another one, which may
    /// be a fixture, and what the plan does not touch.
    pub optional: bool,
}

/// The checks of a tree: what the manifest names, or what its languages have.
pub fn checks(
    session: &Session,
    table: &VerifyTable,
    operations: &[Operation],
    configurations: &[CargoConfiguration],
) -> Vec<Planned> {
    let outer = |check| Planned {
        check,
        optional: false,
    };
    let mut checks: Vec<Planned> = Vec::new();
    let commands = table.commands.iter().cloned();
    checks.extend(commands.map(|text| outer(Check::Command { text })));
    let roots = import_roots(session);
    if table.commands.is_empty() {
        let touched = touched(operations);
        checks.extend(workspaces(session, &touched, configurations));
        let modules = importable(session, |_| true);
        if !modules.is_empty() {
            let changed = importable(session, |path| touched.contains(path));
            checks.push(Planned {
                optional: !touched
                    .iter()
                    .any(|path| matches!(path.extension(), Some("py" | "pyi"))),
                check: Check::Imports {
                    roots: roots.clone(),
                    modules,
                    changed,
                },
            });
        }
    }
    if !table.tests.is_empty() {
        checks.push(outer(Check::Tests {
            roots,
            paths: table.tests.clone(),
        }));
    }
    checks
}

/// Every path that a plan reads, writes or removes.
fn touched(operations: &[Operation]) -> BTreeSet<&TreePath> {
    let paths = operations.iter().flat_map(|operation| match operation {
        Operation::Move { from, to, .. } => [from, to],
        other => [other.path(), other.path()],
    });
    paths.collect()
}

fn cargo_manifests(session: &Session) -> Vec<TreePath> {
    let sources = session.tree.paths().iter();
    let manifests = sources.filter(|path| path.file_name() == "Cargo.toml");
    manifests.cloned().collect()
}

/// A workspace begins where no `Cargo.toml` stands above, or where one says so.
fn workspaces(
    session: &Session,
    touched: &BTreeSet<&TreePath>,
    configurations: &[CargoConfiguration],
) -> Vec<Planned> {
    let mut outer: Vec<TreePath> = Vec::new();
    let mut checks = Vec::new();
    let mut manifests: Vec<(TreePath, TreePath)> = cargo_manifests(session)
        .into_iter()
        .filter_map(|path| Some((path.parent()?, path)))
        .collect();
    manifests.sort_by_key(|(directory, _)| (directory.components().count(), directory.clone()));
    for (directory, path) in manifests {
        let inner = outer
            .iter()
            .any(|above| directory.strip_prefix(above).is_some());
        let says_so = || {
            let text = session.tree.text(&path).unwrap_or_default();
            text.lines()
                .any(|line| line.starts_with("[workspace]") || line.starts_with("[workspace."))
        };
        if inner && (checks.len() > INNER_WORKSPACES || !says_so()) {
            continue;
        }
        if !inner {
            outer.push(directory.clone());
        }
        let concerned = touched.iter().any(|path| {
            path.strip_prefix(&directory).is_some()
                && matches!(path.extension(), Some("rs" | "toml" | "lock"))
        });
        let check = |configuration| Check::Cargo {
            directory: directory.clone(),
            configuration,
        };
        checks.push(Planned {
            check: check(CargoConfiguration::default()),
            optional: inner || !concerned,
        });
        // A configuration that cannot be built before says nothing.
        let more = configurations.iter().filter(|_| concerned && !inner);
        checks.extend(more.map(|configuration| Planned {
            check: check(configuration.clone()),
            optional: true,
        }));
    }
    checks
}

/// The configurations that are tried beside the usual one: those of the manifests, and the features
/// that conditions around edited lines name, all on, and off.
pub fn configurations(
    session: &Session,
    table: &VerifyTable,
    operations: &[Operation],
) -> Vec<CargoConfiguration> {
    let own = table.matrix.iter().map(|one| CargoConfiguration {
        packages: one.packages.clone(),
        features: one.features.clone(),
        no_default_features: one.no_default_features,
        target: one.target.clone(),
    });
    let mut all: Vec<CargoConfiguration> = own.collect();
    let mut touched: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let overlay = planned_tree(&session.tree, operations);
    for (path, lines) in edited_code(session, operations) {
        let package = package_of(session, &path).filter(|_| path.extension() == Some("rs"));
        let Some(package) = package else { continue };
        let text = overlay.text(&path).unwrap_or_default();
        let around = conditional_lines(&text).into_iter().filter(|one| {
            lines
                .iter()
                .any(|line| (one.lines.0..=one.lines.1).contains(line))
        });
        let features = around.flat_map(|one| one.features());
        touched.entry(package).or_default().extend(features);
    }
    for (package, features) in touched
        .into_iter()
        .filter(|(_, features)| !features.is_empty())
    {
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
    let mut seen = BTreeSet::new();
    all.retain(|one| seen.insert(one.clone()));
    all
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
    let own = roots.filter(|root| root.language == LanguageKind::Python);
    own.map(|root| root.path.clone()).collect()
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
