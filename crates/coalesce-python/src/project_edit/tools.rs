//! What settings of tools and builds say of a package at the top by its name alone: `plugins = ["pkg"]`, `source = pkg`,
//! `package_data={"pkg": […]}`, `include = ["pkg*"]`. Names with a point and arguments of commands are read with all texts.

mod arguments;
mod ini;
mod setup;
mod toml;

pub(super) use ini::heads;

use coalesce_model::{
    ByteSpan, Change, ChangeKind, Edit, Evidence, Form, LanguagePlan, Rewrite, Safety, Subject,
    Texts, TreePath, Unproven, UnprovenKind, reference::ends_with_module_option,
};

use rustc_hash::FxHashSet;

use crate::rewrite::{Mapping, is_edited};

/// What a word of a setting is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SettingRole {
    /// It names the package.
    Name,
    /// It is the path of a folder, from that of the file on.
    Folder,
    /// It is a pattern that any folder fits which is called so.
    AnyFolder,
    /// It is the path of a folder, where there is such a one, and else names the package.
    NameOrFolder,
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
const FOLLOWED: [(&str, SettingRole); 29] = [
    ("exclude", SettingRole::AnyFolder),
    ("extend_exclude", SettingRole::AnyFolder),
    ("files", SettingRole::Folder),
    ("ignored_modules", SettingRole::Name),
    ("include", SettingRole::Folder),
    ("includes", SettingRole::Folder),
    ("known_first_party", SettingRole::Name),
    ("known_local_folder", SettingRole::Name),
    ("load_plugins", SettingRole::Name),
    ("module", SettingRole::Name),
    ("module_name", SettingRole::Name),
    ("modules", SettingRole::Name),
    ("omit", SettingRole::Folder),
    ("only_include", SettingRole::Folder),
    ("package", SettingRole::Name),
    ("packages", SettingRole::Name),
    ("paths", SettingRole::Folder),
    ("plugins", SettingRole::Name),
    ("python_packages", SettingRole::Name),
    ("root_package", SettingRole::Name),
    ("root_packages", SettingRole::Name),
    ("source", SettingRole::NameOrFolder),
    ("source_dirs", SettingRole::Folder),
    ("source_modules", SettingRole::Name),
    ("source_pkgs", SettingRole::Name),
    ("src", SettingRole::Folder),
    ("src_paths", SettingRole::Folder),
    ("targets", SettingRole::Folder),
    ("testpaths", SettingRole::Folder),
];

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
    let followed = FOLLOWED.iter().find(|(known, _)| *known == key);
    match followed {
        Some(_) if builds => Some(SettingRole::Built),
        Some((_, role)) => Some(*role),
        None => (!DESCRIBING.contains(&key.as_str())).then_some(SettingRole::Unknown),
    }
}

/// Brings heads of sections up to date that are about a module below the top, `[mypy-pkg.sub]`.
pub fn modules_in_heads(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let changes = mapping.changes.iter();
    let moved = changes.filter(|change| change.kind == ChangeKind::Move);
    let moved: Vec<&Change> = moved.collect();
    let files = texts.paths().iter().filter(|path| {
        let known = ["mypy.ini", ".mypy.ini", "setup.cfg", "tox.ini"];
        !moved.is_empty() && known.contains(&path.file_name())
    });
    for path in files {
        let Some(text) = texts.text(path) else {
            continue;
        };
        for span in heads(&text).into_iter().flat_map(|head| words(&text, head)) {
            let word = span.of(&text).unwrap_or_default();
            for change in moved.iter().copied() {
                let from = change.from.as_str();
                let rest = word.strip_prefix(from);
                let rest = rest.filter(|rest| rest.is_empty() || rest.starts_with('.'));
                // Of a module and one inside of it, both of which move, the nearer one is meant.
                let nearest = mapping.renames.nearest(word);
                let is_nearest = nearest.is_some_and(|(nearest, _)| nearest.from == from);
                let rest = rest.filter(|_| from.contains('.') && is_nearest);
                if let Some(rest) = rest {
                    let name = ByteSpan::new(span.start, span.end - length(rest));
                    rename((path, name), (change, &change.to), plan);
                }
            }
        }
    }
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
        let file = SettingsFile {
            mapping,
            texts,
            path,
            text: &text,
        };
        for value in read(&text) {
            for change in &named {
                file.follow(&value, change, plan);
            }
        }
    }
}

/// The packages and folders that the tables of a build in a `pyproject.toml` say, each by its last name.
pub(super) fn built_in(text: &str) -> FxHashSet<&str> {
    let values = toml::of_project(text).into_iter();
    let built = values.filter(|value| value.role == SettingRole::Built);
    let said = built.filter_map(|value| {
        let said = value.span.of(text)?.trim_end_matches('/');
        said.rsplit('/').next()
    });
    said.collect()
}

/// How the settings in a file are read.
fn reader(path: &TreePath) -> Option<fn(&str) -> Vec<SettingValue>> {
    match path.file_name() {
        "pyproject.toml" => Some(toml::of_project),
        "ruff.toml" | ".ruff.toml" => Some(toml::of_tool),
        "setup.cfg" | "tox.ini" | "pytest.ini" | ".pytest.ini" | "mypy.ini" | ".mypy.ini"
        | ".coveragerc" | ".isort.cfg" | ".importlinter" | ".pylintrc" | "pylintrc" => {
            Some(ini::values)
        }
        "MANIFEST.in" => Some(ini::manifest),
        "setup.py" => Some(setup::values),
        _ => None,
    }
}

/// A file of settings that is brought up to date.
struct SettingsFile<'f> {
    mapping: &'f Mapping<'f>,
    texts: &'f dyn Texts,
    path: &'f TreePath,
    text: &'f str,
}

/// What becomes of a word.
enum WordOutcome {
    Becomes(String),
    Unknown,
    Stays,
}

impl SettingsFile<'_> {
    /// Brings the words of one value up to date.
    fn follow(&self, value: &SettingValue, change: &Change, plan: &mut LanguagePlan) {
        for span in words(self.text, value.span) {
            let word = span.of(self.text).unwrap_or_default();
            let Some(rest) = word.strip_prefix(change.from.as_str()) else {
                continue;
            };
            if rest == ".py" {
                self.file(span, value.role, change, plan);
            }
            // Patterns of what is below it go along; names below it are read elsewhere, and so are paths.
            if !matches!(rest, "" | "*" | ".*" | ".**") || is_read_elsewhere(self.text, span) {
                continue;
            }
            let name = ByteSpan::new(span.start, span.end - length(rest));
            // What nobody knows the meaning of is told where it is the name and nothing else.
            let alone = rest.is_empty() && span == value.span;
            let outcome = match value.role {
                SettingRole::Unknown if !alone => WordOutcome::Stays,
                role => self.outcome(role, rest, change),
            };
            match outcome {
                WordOutcome::Becomes(new) => rename((self.path, name), (change, &new), plan),
                WordOutcome::Unknown => doubt((self.path, name), change, plan),
                WordOutcome::Stays => {}
            }
        }
    }

    /// What becomes of the name of a package at the top, before the `rest` of its word.
    fn outcome(&self, role: SettingRole, rest: &str, change: &Change) -> WordOutcome {
        let (own, other) = (self.own_folder(change), self.has_other_folder(change));
        match role {
            SettingRole::Name => named(rest, change),
            SettingRole::NameOrFolder if other => WordOutcome::Stays,
            SettingRole::NameOrFolder if own.is_none() => named(rest, change),
            SettingRole::Folder | SettingRole::NameOrFolder => {
                own.map_or(WordOutcome::Stays, |own| self.folder(&own, rest, change))
            }
            SettingRole::AnyFolder => match own.or_else(|| self.folder_of(change)) {
                Some(_) if self.has_more_folders(change) => WordOutcome::Unknown,
                Some(own) => self.folder(&own, rest, change),
                None => WordOutcome::Stays,
            },
            SettingRole::Built if change.kind != ChangeKind::Move => named(rest, change),
            SettingRole::Built if change.shim.is_some() || change.to.contains('.') || other => {
                WordOutcome::Unknown
            }
            SettingRole::Built => named(rest, change),
            SettingRole::Unknown if change.kind == ChangeKind::Move => WordOutcome::Unknown,
            SettingRole::Unknown => WordOutcome::Stays,
        }
    }

    /// What becomes of the path of a folder that a package is in, seen from where the file is.
    fn folder(&self, own: &str, rest: &str, change: &Change) -> WordOutcome {
        if change.kind != ChangeKind::Move {
            return named(rest, change);
        }
        let Some(new) = self.mapping.paths.get(own) else {
            return WordOutcome::Unknown;
        };
        let last = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let around = self.path.parent().unwrap_or_else(TreePath::root);
        let at_own = own == self.beside(change);
        let new = match at_own {
            true => TreePath::new(new)
                .ok()
                .and_then(|new| new.strip_prefix(&around).map(str::to_owned)),
            false => Some(last(new)),
        };
        match new {
            // A pattern of what begins so is none of what lies below.
            Some(new) if rest == "*" && new.contains('/') => WordOutcome::Unknown,
            Some(new) => WordOutcome::Becomes(new),
            None => WordOutcome::Unknown,
        }
    }

    /// Brings the path of a file up to date that is a module by itself: `testpaths = ["test_gpu.py"]`.
    fn file(&self, span: ByteSpan, role: SettingRole, change: &Change, plan: &mut LanguagePlan) {
        let takes_paths = !matches!(role, SettingRole::Name | SettingRole::Unknown);
        let both = role == SettingRole::Built && change.shim.is_some();
        let around = self.path.parent().unwrap_or_else(TreePath::root);
        let graph = self.mapping.graph;
        let module = graph.find(None, &change.from);
        let module = module.and_then(|module| graph.modules.get(module));
        let named = around.join(span.of(self.text).unwrap_or_default());
        let is_it = module.is_some_and(|module| named.is_ok_and(|named| named == module.path));
        let new = module.and_then(|module| self.mapping.files.get(&module.path));
        let new = new.filter(|_| is_it && takes_paths && change.kind == ChangeKind::Move);
        match new.map(|new| new.strip_prefix(&around)) {
            // The file stays as a shim, and what is built needs the new one as well.
            Some(_) if both => doubt((self.path, span), change, plan),
            Some(Some(new)) => rename((self.path, span), (change, new), plan),
            Some(None) => doubt((self.path, span), change, plan),
            None => {}
        }
    }

    /// The path that the name of a package is, from the folder of the file on.
    fn beside(&self, change: &Change) -> String {
        let around = self.path.parent().unwrap_or_else(TreePath::root);
        let path = around.join(&change.from);
        path.map_or_else(|_| change.from.clone(), |path| path.as_str().to_owned())
    }

    /// The folder of a package that changes.
    fn folder_of(&self, change: &Change) -> Option<String> {
        let graph = self.mapping.graph;
        let module = graph.modules.get(graph.find(None, &change.from)?)?;
        let folder = module.path.parent().filter(|_| module.package)?;
        Some(folder.as_str().to_owned())
    }

    /// The same, where the name is its path as seen from the file.
    fn own_folder(&self, change: &Change) -> Option<String> {
        let folder = self.folder_of(change)?;
        (folder == self.beside(change)).then_some(folder)
    }

    /// Whether the name is the path of a folder that is not the one of the package.
    fn has_other_folder(&self, change: &Change) -> bool {
        let path = TreePath::new(&self.beside(change));
        self.own_folder(change).is_none() && path.is_ok_and(|path| self.texts.is_directory(&path))
    }

    /// Whether more folders of the tree are called as the package is.
    fn has_more_folders(&self, change: &Change) -> bool {
        let own = self.folder_of(change);
        let mut paths = self.texts.paths().iter();
        paths.any(|path| {
            let mut above = std::iter::successors(path.parent(), TreePath::parent);
            above.any(|folder| {
                folder.file_name() == change.from && Some(folder.as_str()) != own.as_deref()
            })
        })
    }
}

/// What becomes of the name of a package.
fn named(rest: &str, change: &Change) -> WordOutcome {
    match change.kind {
        ChangeKind::Move if rest == "*" && change.to.contains('.') => WordOutcome::Unknown,
        ChangeKind::Move => WordOutcome::Becomes(change.to.clone()),
        _ if change.shim.is_none() => WordOutcome::Unknown,
        _ => WordOutcome::Stays,
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
pub(super) fn words(text: &str, value: ByteSpan) -> Vec<ByteSpan> {
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

fn rename(
    (path, span): (&TreePath, ByteSpan),
    (change, new): (&Change, &str),
    plan: &mut LanguagePlan,
) {
    // Lists of packages are edited by those who know what joins them.
    if is_edited(plan, path, span) {
        return;
    }
    let edits = plan.edits.entry(path.clone()).or_default();
    edits.push(Edit::replace(span, new));
    plan.rewrites.push(Rewrite {
        path: path.clone(),
        span,
        form: Form::Configuration,
        evidence: Evidence::ExactName,
        from: change.from.clone(),
        to: new.to_owned(),
        reason: "a package in a setting of a tool".to_owned(),
        safety: Safety::Safe,
    });
}

fn doubt((path, span): (&TreePath, ByteSpan), change: &Change, plan: &mut LanguagePlan) {
    if is_edited(plan, path, span) {
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
