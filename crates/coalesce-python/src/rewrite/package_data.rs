//! Data that a package ships by patterns which count from another package: `"pkg" = ["old/data/*.json"]`.
//!
//! A pattern of the package that moves, or of one in it, goes along with its key. One that stands at a package around it
//! goes on naming the old folder.

use coalesce_model::{ByteSpan, ChangeKind, LanguagePlan, Texts, TreePath, Unproven, UnprovenKind};

use super::mapping::Mapping;

/// A folder that gets another place, and the name that its package has before.
struct Folder<'m> {
    name: &'m str,
    from: TreePath,
    to: TreePath,
}

/// Tells patterns that match a file before and not where it goes.
pub fn check(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let folders: Vec<Folder<'_>> = folders(mapping);
    if folders.is_empty() {
        return;
    }
    for path in texts.paths() {
        if !matches!(
            path.file_name(),
            "pyproject.toml" | "setup.cfg" | "setup.py"
        ) {
            continue;
        }
        let Some(text) = texts.text(path) else {
            continue;
        };
        if !text.contains("package_data") && !text.contains("package-data") {
            continue;
        }
        for (package, pattern) in patterns(mapping, &text) {
            let told = folders.iter().find(|folder| {
                let inside = package.name == folder.name
                    || package.name.starts_with(&format!("{}.", folder.name));
                !inside && loses(texts, &package.path, pattern.text, folder)
            });
            plan.unproven.extend(told.map(|folder| Unproven {
                path: path.clone(),
                span: Some(pattern.span),
                kind: UnprovenKind::OwnPlace,
                name: folder.name.to_owned(),
                why: format!(
                    "data of `{}` is named by this pattern, which does not reach its new place",
                    package.name
                ),
            }));
        }
    }
}

fn folders<'m>(mapping: &'m Mapping<'_>) -> Vec<Folder<'m>> {
    let moves = mapping
        .changes
        .iter()
        .filter(|change| change.kind == ChangeKind::Move);
    let folders = moves.filter_map(|change| {
        let module = mapping.graph.find(None, &change.from)?;
        let module = mapping
            .graph
            .modules
            .get(module)
            .filter(|module| module.package)?;
        Some(Folder {
            name: &module.name,
            from: module.path.parent()?,
            to: mapping.files.get(&module.path)?.parent()?,
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
        if line.contains("package_data") || line.contains("package-data") {
            inside = true;
        } else if line.starts_with('[') {
            inside = false;
        }
        if !inside {
            continue;
        }
        for (offset, word) in words(line) {
            let offset = start + offset;
            let folder = mapping.graph.find(None, word).and_then(|module| {
                let module = mapping.graph.modules.get(module)?;
                module.package.then(|| module.path.parent())?
            });
            if let Some(path) = folder {
                package = Some((word, path));
            } else if let Some((name, path)) = &package {
                let (name, path) = (*name, path.clone());
                let span = ByteSpan::from_range(offset..offset + word.len());
                found.push((Package { name, path }, Pattern { text: word, span }));
            }
        }
    }
    found
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
fn loses(texts: &dyn Texts, base: &TreePath, pattern: &str, folder: &Folder<'_>) -> bool {
    texts.paths().iter().any(|path| {
        let Some(rest) = path.strip_prefix(&folder.from) else {
            return false;
        };
        let Ok(new) = folder.to.join(rest) else {
            return false;
        };
        let matches_at = |path: &TreePath| {
            path.strip_prefix(base)
                .is_some_and(|rest| matches(pattern, rest))
        };
        !path.file_name().ends_with(".py") && matches_at(path) && !matches_at(&new)
    })
}

/// Whether a path matches a pattern in which `**` stands for any folders and `*` and `?` stay within one name.
fn matches(pattern: &str, path: &str) -> bool {
    let (first, rest) = pattern
        .split_once('/')
        .map_or((pattern, None), |(a, b)| (a, Some(b)));
    if first == "**" {
        let Some(rest) = rest else { return true };
        let below = path.split_once('/').map(|(_, below)| below);
        return matches(rest, path) || below.is_some_and(|below| matches(pattern, below));
    }
    let (name, below) = path
        .split_once('/')
        .map_or((path, None), |(a, b)| (a, Some(b)));
    let named = is_named(first.as_bytes(), name.as_bytes());
    match (rest, below) {
        (None, None) => named,
        (Some(rest), Some(below)) => named && matches(rest, below),
        _ => false,
    }
}

fn is_named(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => {
            is_named(rest, name)
                || name
                    .split_first()
                    .is_some_and(|(_, name)| is_named(pattern, name))
        }
        (Some((b'?', rest)), Some((_, name))) => is_named(rest, name),
        (Some((a, rest)), Some((b, name))) => a == b && is_named(rest, name),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_reach_as_far_as_the_shell_says() {
        for (pattern, path, reaches) in [
            ("old/data/*.json", "old/data/b.json", true),
            ("old/data/*.json", "core/old/data/b.json", false),
            ("*/data/*.json", "old/data/b.json", true),
            ("**/*.json", "core/old/data/b.json", true),
            ("**/*.json", "b.json", true),
            ("data/**", "data/a/b.txt", true),
            ("?.txt", "a.txt", true),
            ("*.txt", "a/b.txt", false),
        ] {
            assert_eq!(matches(pattern, path), reaches, "{pattern} {path}");
        }
    }
}
