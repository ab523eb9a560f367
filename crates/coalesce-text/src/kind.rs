//! What a text file is for; it decides what may change in it.

use coalesce_model::TreePath;

/// What a text file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Values that a program reads.
    Configuration,
    /// What builds, tests, guards or ships the project: CI, containers, owners, make.
    Operations,
    /// What people read.
    Document,
    /// A Jupyter notebook.
    Notebook,
    /// What was, and stays as it was written.
    History,
}

/// The kind of a file; `None` for source code, generated files and everything unknown.
pub fn kind(path: &TreePath) -> Option<FileKind> {
    let name = path.file_name();
    let lower = name.to_lowercase();
    if lower.ends_with(".lock")
        || matches!(lower.as_str(), "package-lock.json" | "uv.lock")
        || path.as_str().starts_with(".coalesce")
    {
        return None;
    }
    let history = [
        "changelog",
        "changes",
        "history",
        "news",
        "release",
        "whatsnew",
        "whats-new",
        "whats_new",
    ]
    .iter()
    .any(|word| lower.starts_with(word));
    let extension = lower.rsplit_once('.').map(|(_, extension)| extension);
    let document = matches!(
        extension,
        Some("md" | "markdown" | "rst" | "txt" | "adoc" | "mdx")
    );
    let old = path.components().any(|part| {
        matches!(
            part,
            "whatsnew"
                | "history"
                | "changelog"
                | "changelog.d"
                | "release_notes"
                | "release-notes"
                | "releases"
        )
    });
    if (history || (old && document)) && (document || extension.is_none()) {
        return Some(FileKind::History);
    }
    if is_operations(path, &lower) {
        return Some(FileKind::Operations);
    }
    match extension {
        Some("ipynb") => Some(FileKind::Notebook),
        Some(
            "yaml" | "yml" | "toml" | "json" | "ini" | "cfg" | "conf" | "env" | "properties" | "in",
        ) => Some(FileKind::Configuration),
        _ if lower.starts_with(".env") => Some(FileKind::Configuration),
        _ if document => Some(FileKind::Document),
        _ => None,
    }
}

fn is_operations(path: &TreePath, lower: &str) -> bool {
    let first = path.components().next().unwrap_or_default();
    let named = matches!(
        lower,
        "dockerfile"
            | "containerfile"
            | "makefile"
            | "justfile"
            | "codeowners"
            | ".coveragerc"
            | "codecov.yml"
            | ".codecov.yml"
            | ".gitlab-ci.yml"
            | "noxfile"
            | "procfile"
    );
    let directory = matches!(first, ".github" | ".circleci" | ".gitlab" | ".buildkite");
    let script = matches!(
        lower.rsplit_once('.').map(|(_, extension)| extension),
        Some("sh" | "bash" | "mk" | "bat" | "ps1")
    );
    named || directory || script || lower.starts_with("dockerfile.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_follow_names_and_places() {
        for (path, expected) in [
            ("conf/model.yaml", Some(FileKind::Configuration)),
            (".github/workflows/ci.yml", Some(FileKind::Operations)),
            ("Dockerfile", Some(FileKind::Operations)),
            ("README.md", Some(FileKind::Document)),
            ("CHANGELOG.md", Some(FileKind::History)),
            ("docs/releases/3.1.txt", Some(FileKind::History)),
            ("docs/history/3.0.rst", Some(FileKind::History)),
            ("doc/whats-new.rst", Some(FileKind::History)),
            ("nb/a.ipynb", Some(FileKind::Notebook)),
            ("Cargo.lock", None),
            ("src/lib.rs", None),
        ] {
            assert_eq!(kind(&TreePath::new(path).unwrap()), expected, "{path}");
        }
    }
}
