//! What settings of tools and builds say of a package at the top by its name alone: `plugins = ["pkg"]`, `source = pkg`,
//! `package_data={"pkg": […]}`, `include = ["pkg*"]`. Names with a point and arguments of commands are read with all texts.

mod ini;
mod setup;
mod toml;

use coalesce_model::{
    ByteSpan, Change, ChangeKind, Edit, Evidence, Form, LanguagePlan, Rewrite, Safety, Subject,
    Texts, TreePath, Unproven, UnprovenKind, reference::ends_with_module_option,
};

use crate::rewrite::Mapping;

/// What a word of a setting is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SettingRole {
    /// It names the package, or its folder.
    Name,
    /// It says which packages are built.
    Built,
    /// Nothing says what becomes of it.
    Unknown,
}

/// A text of a setting, without its quotes.
#[derive(Debug, PartialEq, Eq)]
struct SettingValue {
    span: ByteSpan,
    role: SettingRole,
}

/// Keys whose values are names of packages and modules, folders, and patterns of both.
const NAMING: [&str; 30] = [
    "addopts",
    "exclude",
    "extend_exclude",
    "files",
    "ignored_modules",
    "include",
    "includes",
    "known_first_party",
    "known_local_folder",
    "load_plugins",
    "module",
    "module_name",
    "modules",
    "omit",
    "only_include",
    "package",
    "packages",
    "paths",
    "plugins",
    "python_packages",
    "root_package",
    "root_packages",
    "source",
    "source_dirs",
    "source_modules",
    "source_pkgs",
    "src",
    "src_paths",
    "targets",
    "testpaths",
];

/// Options of pytest that take other words than names of packages: `-m gpu` asks for a mark.
const TAKING_WORDS: [&str; 6] = ["-c", "-k", "-m", "-n", "-o", "-r"];

/// Keys whose values are words about the project, whatever they read like.
const DESCRIBING: [&str; 17] = [
    "author",
    "author_email",
    "authors",
    "classifiers",
    "description",
    "download_url",
    "issue_format",
    "keywords",
    "license",
    "long_description",
    "maintainer",
    "name",
    "platforms",
    "project",
    "title",
    "title_format",
    "url",
];

/// A key as all of them are compared.
fn plain(key: &str) -> String {
    key.trim().to_lowercase().replace('-', "_")
}

/// What the values of a key are, in the table of a tool or of a build.
fn role(key: &str, builds: bool) -> Option<SettingRole> {
    let key = plain(key);
    if NAMING.contains(&key.as_str()) {
        return Some(if builds {
            SettingRole::Built
        } else {
            SettingRole::Name
        });
    }
    (!DESCRIBING.contains(&key.as_str())).then_some(SettingRole::Unknown)
}

/// Brings settings up to date that name a package at the top which moves, and tells those of which that is not known.
pub fn names_in_settings(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let changes = mapping.changes.iter();
    let moved = changes.filter(|change| {
        let whole = change.subject == Subject::Module && !change.from.contains('.');
        whole && change.kind != ChangeKind::Remove
    });
    let moved: Vec<&Change> = moved.collect();
    if moved.is_empty() {
        return;
    }
    for path in texts.paths() {
        let Some(read) = reader(path) else { continue };
        let Some(text) = texts.text(path) else {
            continue;
        };
        let named = moved.iter().filter(|change| text.contains(&change.from));
        let named: Vec<&Change> = named.copied().collect();
        if named.is_empty() {
            continue;
        }
        for value in read(&text) {
            for change in &named {
                follow((path, &text), &value, change, plan);
            }
        }
    }
}

/// Whether the tables of a build in a `pyproject.toml` name a package, or its folder.
pub(super) fn says_what_is_built(text: &str, name: &str) -> bool {
    let values = toml::values(text);
    let mut built = values
        .iter()
        .filter(|value| value.role == SettingRole::Built);
    built.any(|value| {
        let said = value
            .span
            .of(text)
            .unwrap_or_default()
            .trim_end_matches('/');
        said.rsplit('/').next() == Some(name)
    })
}

/// How the settings in a file are read.
fn reader(path: &TreePath) -> Option<fn(&str) -> Vec<SettingValue>> {
    match path.file_name() {
        "pyproject.toml" | "ruff.toml" | ".ruff.toml" => Some(toml::values),
        "setup.cfg" | "tox.ini" | "pytest.ini" | ".pytest.ini" | "mypy.ini" | ".mypy.ini"
        | ".coveragerc" | ".isort.cfg" | ".importlinter" | ".pylintrc" | "pylintrc" => {
            Some(ini::values)
        }
        "MANIFEST.in" => Some(ini::manifest),
        "setup.py" => Some(setup::values),
        _ => None,
    }
}

/// Brings the words of one value up to date.
fn follow(
    (path, text): (&TreePath, &str),
    value: &SettingValue,
    change: &Change,
    plan: &mut LanguagePlan,
) {
    let mut last = "";
    for span in words(text, value.span) {
        let word = span.of(text).unwrap_or_default();
        let is_value = TAKING_WORDS.contains(&std::mem::replace(&mut last, word));
        let Some(rest) = word
            .strip_prefix(change.from.as_str())
            .filter(|_| !is_value)
        else {
            continue;
        };
        // Patterns of what is below it go along; names below it are read elsewhere, and so are paths.
        if !matches!(rest, "" | "*" | ".*" | ".**") || is_read_elsewhere(text, span) {
            continue;
        }
        let name = ByteSpan::new(span.start, span.end - length(rest));
        let nests = change.to.contains('.');
        let moves = change.kind == ChangeKind::Move;
        match value.role {
            SettingRole::Name | SettingRole::Built if !moves && change.shim.is_none() => {
                doubt((path, name), change, plan);
            }
            _ if !moves => {}
            SettingRole::Name if !(nests && rest == "*") => rename((path, name), change, plan),
            SettingRole::Built if change.shim.is_none() && !nests => {
                rename((path, name), change, plan)
            }
            // What nobody knows the meaning of is told where it is the name and nothing else.
            SettingRole::Unknown if rest.is_empty() && span == value.span => {
                doubt((path, name), change, plan);
            }
            SettingRole::Name | SettingRole::Built => doubt((path, name), change, plan),
            SettingRole::Unknown => {}
        }
    }
}

/// Whether a word is the argument of an option, which is read in all texts.
fn is_read_elsewhere(text: &str, span: ByteSpan) -> bool {
    ends_with_module_option(text.get(..span.start as usize).unwrap_or_default())
}

fn length(text: &str) -> u32 {
    u32::try_from(text.len()).unwrap_or(0)
}

/// The words of a value, which white space and commas keep apart.
fn words(text: &str, value: ByteSpan) -> Vec<ByteSpan> {
    let content = value.of(text).unwrap_or_default();
    let apart = |c: char| c.is_whitespace() || c == ',';
    let mut at = value.start;
    let mut found = Vec::new();
    for word in content.split_inclusive(apart) {
        let name = word.trim_end_matches(apart);
        found.extend((!name.is_empty()).then(|| ByteSpan::new(at, at + length(name))));
        at += length(word);
    }
    found
}

/// Whether the plan changes what stands at a place already.
fn is_edited(path: &TreePath, span: ByteSpan, plan: &LanguagePlan) -> bool {
    let mut edits = plan.edits.get(path).into_iter().flatten();
    edits.any(|edit| edit.span.start < span.end && span.start < edit.span.end)
}

fn rename((path, span): (&TreePath, ByteSpan), change: &Change, plan: &mut LanguagePlan) {
    // Lists of packages are edited by those who know what joins them.
    if is_edited(path, span, plan) {
        return;
    }
    let edits = plan.edits.entry(path.clone()).or_default();
    edits.push(Edit::replace(span, change.to.as_str()));
    plan.rewrites.push(Rewrite {
        path: path.clone(),
        span,
        form: Form::Configuration,
        evidence: Evidence::ExactName,
        from: change.from.clone(),
        to: change.to.clone(),
        reason: "a package in a setting of a tool".to_owned(),
        safety: Safety::Safe,
    });
}

fn doubt((path, span): (&TreePath, ByteSpan), change: &Change, plan: &mut LanguagePlan) {
    if is_edited(path, span, plan) {
        return;
    }
    plan.unproven.push(Unproven {
        path: path.clone(),
        span: Some(span),
        kind: UnprovenKind::Condition,
        name: change.from.clone(),
        why: "a setting says this name, and it does not follow".to_owned(),
    });
}
