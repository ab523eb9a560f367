//! Data that a package ships by patterns which count from another package: `"pkg" = ["old/data/*.json"]`.
//!
//! A pattern of the package that moves, or of one in it, goes along with its key. One that stands at a package around it
//! goes on naming the old folder.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, ChangeKind, LanguagePlan, Texts, TreePath, Unproven, UnprovenKind};

use super::mapping::Mapping;
use crate::patterns::fits_path;

/// How many patterns of a project file are looked at: each is held against all data of what moves.
const MOST_PATTERNS: usize = 1_024;

/// A folder that gets another place, and the name that its package has before.
pub(super) struct Folder<'m> {
    pub(super) name: &'m str,
    /// What is in it and no code: where it is, and where it goes.
    pub(super) data: Vec<(TreePath, TreePath)>,
}

/// Tells patterns that match a file before and not where it goes.
pub fn check(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let folders: Vec<Folder<'_>> = folders(mapping, texts);
    if folders.is_empty() {
        return;
    }
    plan.unproven.extend(behind_shims(mapping, &folders));
    for path in texts.paths() {
        let file = path.file_name();
        if !matches!(file, "pyproject.toml" | "setup.cfg" | "setup.py") {
            continue;
        }
        let text = texts.text(path).unwrap_or_default();
        if text.contains("package_data") || text.contains("package-data") {
            plan.unproven
                .extend(of_file(mapping, &folders, path, &text));
        }
    }
}

/// Packages that a shim stays for and whose data goes along: who looks for that beside the old name finds none.
fn behind_shims(mapping: &Mapping<'_>, folders: &[Folder<'_>]) -> Vec<Unproven> {
    let shims = mapping
        .changes
        .iter()
        .filter(|change| change.shim.is_some());
    let found = shims.filter_map(|change| {
        let mut folders = folders.iter();
        let folder = folders.find(|folder| folder.name == change.from)?;
        let mut data = folder.data.iter().map(|(path, _)| path);
        let data = data.find(|path| {
            let code = matches!(
                path.extension(),
                Some("pyi" | "pyc" | "pyx" | "pxd" | "so" | "pyd")
            );
            !code && path.file_name() != "py.typed"
        })?;
        Some(Unproven {
            path: data.clone(),
            span: None,
            kind: UnprovenKind::OwnPlace,
            name: change.from.clone(),
            why: "data of a package behind a shim: who looks for it by the old name finds none"
                .to_owned(),
        })
    });
    found.collect()
}

/// The patterns of a project file that lose something.
fn of_file(
    mapping: &Mapping<'_>,
    folders: &[Folder<'_>],
    path: &TreePath,
    text: &str,
) -> Vec<Unproven> {
    let mut found = Vec::new();
    let mut known = BTreeSet::new();
    for (package, pattern) in patterns(mapping, text) {
        if !known.insert((package.name, pattern.text)) {
            continue;
        }
        if known.len() > MOST_PATTERNS {
            let why = format!("more than {MOST_PATTERNS} patterns of data are not looked at");
            let first = folders.first();
            found.extend(first.map(|folder| told(path, pattern.span, folder, why)));
            break;
        }
        let lost = folders
            .iter()
            .find(|folder| is_lost(folder, &package, &pattern));
        found.extend(lost.map(|folder| {
            let name = package.name;
            let why = format!(
                "data of `{name}` is named by this pattern, which does not reach its new place"
            );
            told(path, pattern.span, folder, why)
        }));
    }
    found
}

fn told(path: &TreePath, span: ByteSpan, folder: &Folder<'_>, why: String) -> Unproven {
    Unproven {
        path: path.clone(),
        span: Some(span),
        kind: UnprovenKind::OwnPlace,
        name: folder.name.to_owned(),
        why,
    }
}

/// Whether a pattern of a package that does not move along loses data of a folder.
fn is_lost(folder: &Folder<'_>, package: &Package<'_>, pattern: &Pattern<'_>) -> bool {
    let below = format!("{}.", folder.name);
    let inside = package.name == folder.name || package.name.starts_with(&below);
    !inside && loses(&package.path, pattern.text, folder)
}

pub(super) fn folders<'m>(mapping: &'m Mapping<'_>, texts: &dyn Texts) -> Vec<Folder<'m>> {
    let moves = mapping
        .changes
        .iter()
        .filter(|change| change.kind == ChangeKind::Move);
    let folders = moves.filter_map(|change| {
        let module = mapping.graph.find(None, &change.from)?;
        let module = mapping.graph.modules.get(module)?;
        let module = Some(module).filter(|module| module.package)?;
        let (from, to) = (
            module.path.parent()?,
            mapping.files.get(&module.path)?.parent()?,
        );
        let data = texts.paths().iter().filter_map(|path| {
            let rest = path.strip_prefix(&from)?;
            let is_data = !path.file_name().ends_with(".py");
            is_data.then_some((path.clone(), to.join(rest).ok()?))
        });
        Some(Folder {
            name: &module.name,
            data: data.collect(),
        })
    });
    folders.collect()
}

/// A package whose name is a text of its own, and its folder.
struct Package<'t> {
    name: &'t str,
    path: TreePath,
}

struct Pattern<'t> {
    text: &'t str,
    span: ByteSpan,
}

/// Patterns of a project file, each with the package that stands before it: `"pkg" = ["*.txt"]`, `pkg = *.txt`,
/// `"pkg": ["*.txt"]`.
fn patterns<'t>(mapping: &Mapping<'_>, text: &'t str) -> Vec<(Package<'t>, Pattern<'t>)> {
    let mut found = Vec::new();
    let (mut package, mut at, mut inside) = (None, 0, false);
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let headed = line.contains("package_data") || line.contains("package-data");
        inside = headed || (inside && !line.starts_with('['));
        if !inside {
            continue;
        }
        for (offset, word) in words(line) {
            if let Some(path) = folder_of(mapping, word) {
                package = Some((word, path));
            } else if let Some((name, path)) = &package {
                let (name, path) = (*name, path.clone());
                let at = start + offset;
                let span = ByteSpan::from_range(at..at + word.len());
                found.push((Package { name, path }, Pattern { text: word, span }));
            }
        }
    }
    found
}

/// The folder of a package of this name.
fn folder_of(mapping: &Mapping<'_>, name: &str) -> Option<TreePath> {
    let module = mapping.graph.find(None, name)?;
    let module = mapping.graph.modules.get(module)?;
    module.package.then(|| module.path.parent())?
}

/// What stands between the quotes, brackets and signs of a line, and where.
fn words(line: &str) -> Vec<(usize, &str)> {
    let apart = |c: char| c.is_whitespace() || "\"',[](){}=:".contains(c);
    let mut words = Vec::new();
    let mut begin = 0;
    for (at, sign) in line.match_indices(apart).chain([(line.len(), "")]) {
        let word = line.get(begin..at).unwrap_or_default();
        if !word.is_empty() {
            words.push((begin, word));
        }
        begin = at + sign.len();
    }
    words
}

/// Whether a pattern that counts from a folder matches a file in one that moves, and not where that goes.
fn loses(base: &TreePath, pattern: &str, folder: &Folder<'_>) -> bool {
    let matches_at = |path: &TreePath| {
        path.strip_prefix(base)
            .is_some_and(|path| fits_path(pattern, path))
    };
    let mut data = folder.data.iter();
    data.any(|(old, new)| matches_at(old) && !matches_at(new))
}
