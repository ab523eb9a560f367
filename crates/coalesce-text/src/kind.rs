//! What a text file is for; it decides what may change in it.

use coalesce_model::TreePath;

use crate::history;

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
    let extension = lower.rsplit_once('.').map(|(_, extension)| extension);
    let document = matches!(
        extension,
        Some("md" | "markdown" | "rst" | "txt" | "adoc" | "mdx")
    );
    if extension.is_none() && is_operations(path, &lower) {
        return Some(FileKind::Operations);
    }
    if history::is_history(path, document || extension.is_none()) {
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
        // What an installation reads; the rest of its folder is for people.
        _ if is_entry_points(path) => Some(FileKind::Configuration),
        _ if document => Some(FileKind::Document),
        _ => None,
    }
}

fn is_entry_points(path: &TreePath) -> bool {
    let folder = path.parent().unwrap_or_else(TreePath::root);
    let metadata =
        folder.file_name().ends_with(".egg-info") || folder.file_name().ends_with(".dist-info");
    metadata && path.file_name() == "entry_points.txt"
}

/// Whether what a file names is run or built; files that say who owns what, or what is measured, are not.
pub fn runs(path: &TreePath) -> bool {
    let name = path.file_name().to_lowercase();
    let told = [
        "codeowners",
        ".coveragerc",
        "labeler",
        "codecov",
        "dependabot",
        "funding",
        "mergify",
    ];
    !told.iter().any(|word| name.contains(word)) && !path.as_str().contains("ISSUE_TEMPLATE")
}

/// Names of files that build, test, guard or ship a project.
const OPERATIONS: [&str; 19] = [
    "dockerfile",
    "containerfile",
    "makefile",
    "justfile",
    "codeowners",
    ".coveragerc",
    "codecov.yml",
    ".codecov.yml",
    ".gitlab-ci.yml",
    "noxfile",
    "procfile",
    "jenkinsfile",
    "vagrantfile",
    "snakefile",
    "cmakelists.txt",
    "meson.build",
    "build",
    "build.bazel",
    "workspace",
];

/// Folders whose files without an extension are programs that say their language in their first line.
const PROGRAMS: [&str; 8] = [
    "bin",
    "ci",
    ".ci",
    "hooks",
    ".githooks",
    "release",
    "scripts",
    "tools",
];

fn is_operations(path: &TreePath, lower: &str) -> bool {
    let first = path.components().next().unwrap_or_default();
    let directory = matches!(first, ".github" | ".circleci" | ".gitlab" | ".buildkite");
    let script = matches!(
        lower.rsplit_once('.').map(|(_, extension)| extension),
        Some("sh" | "bash" | "mk" | "bat" | "ps1")
    );
    let above = path.parent().unwrap_or_else(TreePath::root);
    let mut above = above.components();
    let program = !lower.contains('.') && above.any(|part| PROGRAMS.contains(&part));
    let named = OPERATIONS.contains(&lower) || lower.starts_with("dockerfile.");
    named || directory || script || program
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
            ("doc/whats_new/v1.9.rst", Some(FileKind::History)),
            ("doc/release/api_1.9.rst", Some(FileKind::History)),
            ("doc/release/old_release_log.rst", Some(FileKind::History)),
            ("doc/api_2.0.1.rst", Some(FileKind::History)),
            ("docs/v0.24.md", Some(FileKind::History)),
            ("RELEASE_NOTES.md", Some(FileKind::History)),
            ("releasenotes/notes/a-1b2c.yaml", Some(FileKind::History)),
            ("newsfragments/12.bugfix", Some(FileKind::History)),
            ("changes/12.rst", Some(FileKind::History)),
            ("docs/migration-guide.md", Some(FileKind::History)),
            ("docs/upgrading.rst", Some(FileKind::History)),
            ("NEWS", Some(FileKind::History)),
            ("docs/releasing.md", Some(FileKind::Document)),
            ("docs/release_process.md", Some(FileKind::Document)),
            ("docs/newsletter.md", Some(FileKind::Document)),
            ("docs/changing.md", Some(FileKind::Document)),
            ("docs/api.rst", Some(FileKind::Document)),
            ("a.egg-info/entry_points.txt", Some(FileKind::Configuration)),
            ("a.egg-info/SOURCES.txt", Some(FileKind::Document)),
            ("CMakeLists.txt", Some(FileKind::Operations)),
            ("scripts/release", Some(FileKind::Operations)),
            ("nb/a.ipynb", Some(FileKind::Notebook)),
            ("Cargo.lock", None),
            ("src/lib.rs", None),
        ] {
            assert_eq!(kind(&TreePath::new(path).unwrap()), expected, "{path}");
        }
    }
}
