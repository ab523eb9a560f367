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
    /// Source of another language, data, and all else that may be text.
    Foreign,
}

/// Endings of templates and examples of files, which are of the kind that stands before them.
const TEMPLATES: [&str; 10] = [
    "default", "dist", "example", "j2", "jinja", "jinja2", "sample", "template", "tmpl", "tpl",
];

/// Endings of files that may import what they name, Cython among them, and that nobody reads as code.
const UNREAD_CODE: [&str; 4] = ["pxd", "pxi", "pyx", "xml"];

/// Whether a file with an ending may hold code, or names that a program reads, and is not read as such: of Cython, or a
/// template of anything.
#[must_use]
pub fn may_hold_unread_code(extension: &str) -> bool {
    extension == "in" || UNREAD_CODE.contains(&extension) || TEMPLATES.contains(&extension)
}

/// Endings of files that hold no text, or none that somebody wrote.
const NO_TEXT: [&str; 72] = [
    "7z",
    "a",
    "arrow",
    "avi",
    "bin",
    "bmp",
    "bz2",
    "ckpt",
    "class",
    "cubin",
    "db",
    "dll",
    "dylib",
    "egg",
    "eot",
    "exe",
    "fatbin",
    "feather",
    "gif",
    "glb",
    "gz",
    "h5",
    "hdf5",
    "ico",
    "jar",
    "jpeg",
    "jpg",
    "joblib",
    "las",
    "laz",
    "lib",
    "map",
    "mov",
    "mp3",
    "mp4",
    "npy",
    "npz",
    "o",
    "obj",
    "ogg",
    "onnx",
    "otf",
    "parquet",
    "pcd",
    "pdf",
    "pickle",
    "pkl",
    "ply",
    "png",
    "pt",
    "pth",
    "ptx",
    "pyc",
    "pyd",
    "pyo",
    "safetensors",
    "so",
    "spv",
    "sqlite",
    "stl",
    "tar",
    "tgz",
    "tif",
    "tiff",
    "ttf",
    "wasm",
    "wav",
    "webp",
    "whl",
    "woff",
    "woff2",
    "zip",
];

/// The kind of a file; `None` for what is generated or holds no text.
pub fn kind(path: &TreePath) -> Option<FileKind> {
    let lower = path.file_name().to_lowercase();
    if is_written_by_tools(path, &lower) {
        return None;
    }
    let mut ends = TEMPLATES.iter();
    let of = ends.find_map(|end| path.as_str().strip_suffix(end)?.strip_suffix('.'));
    if let Some(Ok(of)) = of.map(TreePath::new) {
        return kind(&of).filter(|kind| *kind != FileKind::Foreign);
    }
    let extension = lower.rsplit_once('.').map(|(_, extension)| extension);
    let document = extension.is_some_and(|extension| DOCUMENTS.contains(&extension));
    let operations = is_operations(path, &lower);
    if extension.is_none() && operations {
        return Some(FileKind::Operations);
    }
    if history::is_history(path, document || extension.is_none()) {
        return Some(FileKind::History);
    }
    if operations {
        return Some(FileKind::Operations);
    }
    // What an installation reads; the rest of its folder is for people.
    let is_settings = lower.starts_with(".env") || SETTINGS.contains(&lower.as_str());
    if is_settings || is_entry_points(path) {
        return Some(FileKind::Configuration);
    }
    extension.map_or(Some(FileKind::Foreign), kind_by_ending)
}

fn is_written_by_tools(path: &TreePath, lower: &str) -> bool {
    lower.ends_with(".lock")
        || matches!(lower, "package-lock.json" | "uv.lock")
        || path.as_str().starts_with(".coalesce")
}

fn kind_by_ending(extension: &str) -> Option<FileKind> {
    match extension {
        "ipynb" => Some(FileKind::Notebook),
        one if CONFIGURATIONS.contains(&one) => Some(FileKind::Configuration),
        one if DOCUMENTS.contains(&one) => Some(FileKind::Document),
        // The engine tells of them.
        one if UNREAD_CODE.contains(&one) => None,
        one if NO_TEXT.contains(&one) => None,
        _ => Some(FileKind::Foreign),
    }
}

const DOCUMENTS: [&str; 26] = [
    "1", "3", "5", "7", "8", "adoc", "asciidoc", "dot", "gv", "htm", "html", "markdown", "md",
    "mdx", "mermaid", "mmd", "org", "plantuml", "puml", "rdoc", "rst", "tex", "textile", "txt",
    "typ", "wiki",
];

const CONFIGURATIONS: [&str; 25] = [
    "cfg",
    "conf",
    "desktop",
    "env",
    "gin",
    "hcl",
    "in",
    "ini",
    "json",
    "json5",
    "jsonc",
    "jsonnet",
    "libsonnet",
    "nix",
    "plist",
    "properties",
    "service",
    "socket",
    "spec",
    "tf",
    "tfvars",
    "timer",
    "toml",
    "yaml",
    "yml",
];

/// Settings of tools in files without an ending of their own.
const SETTINGS: [&str; 14] = [
    ".dockerignore",
    ".editorconfig",
    ".eslintignore",
    ".flake8",
    ".gitattributes",
    ".gitignore",
    ".hgignore",
    ".npmignore",
    ".prettierignore",
    ".pycodestyle",
    ".pydocstyle",
    ".pylintrc",
    ".style.yapf",
    "pylintrc",
];

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
const OPERATIONS: [&str; 20] = [
    "crontab",
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

/// Endings of scripts, those that are given to queues of a cluster among them.
const SCRIPTS: [&str; 14] = [
    "bash", "bat", "csh", "fish", "ksh", "mk", "nu", "pbs", "ps1", "qsub", "sbatch", "sh", "slurm",
    "zsh",
];

fn is_operations(path: &TreePath, lower: &str) -> bool {
    let first = path.components().next().unwrap_or_default();
    let directory = matches!(first, ".github" | ".circleci" | ".gitlab" | ".buildkite");
    let extension = lower.rsplit_once('.').map(|(_, extension)| extension);
    let script = extension.is_some_and(|extension| SCRIPTS.contains(&extension));
    let packaging = path.as_str().ends_with("debian/rules");
    let above = path.parent().unwrap_or_else(TreePath::root);
    let mut above = above.components();
    let program = !lower.contains('.') && above.any(|part| PROGRAMS.contains(&part));
    let named = OPERATIONS.contains(&lower) || lower.starts_with("dockerfile.");
    named || directory || script || program || packaging
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
            ("docs/paper.tex", Some(FileKind::Document)),
            ("man/acme.1", Some(FileKind::Document)),
            ("deploy/acme.service", Some(FileKind::Configuration)),
            ("conf/acme.yaml.example", Some(FileKind::Configuration)),
            (".flake8", Some(FileKind::Configuration)),
            ("debian/rules", Some(FileKind::Operations)),
            ("ci/run.fish", Some(FileKind::Operations)),
            ("jobs/train.sbatch", Some(FileKind::Operations)),
            ("src/lib.rs", Some(FileKind::Foreign)),
            ("native/a.cu", Some(FileKind::Foreign)),
            ("data/rows.csv", Some(FileKind::Foreign)),
            ("docs/logo.png", None),
        ] {
            assert_eq!(kind(&TreePath::new(path).unwrap()), expected, "{path}");
        }
    }
}
