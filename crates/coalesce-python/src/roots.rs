//! What each file is called: import roots, judged by the imports that they make resolve.
//!
//! A regular package is named from the directory above its topmost `__init__.py`, unless the tree's
//! own imports spell it with the directories above (a namespace package, or a repository that
//! imports `src.x`). A file outside packages is named from the nearest declared root, else from the
//! root of the tree.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use coalesce_model::{LanguageKind, Root, Settings, TreePath};
use rustc_hash::FxHashMap;

use crate::facts::{Leaf, PythonFacts};

/// The names of one file: the canonical one, and others under which the tree imports it.
#[derive(Clone, Debug, Default)]
pub struct FileNames {
    pub canonical: String,
    pub also: Vec<String>,
}

/// Names for every source file, in the order of `files`, and the roots that they are named from.
pub struct Naming {
    pub names: Vec<FileNames>,
    pub roots: Vec<Root>,
}

type File = (TreePath, Arc<PythonFacts>);

/// Works the names out.
pub fn name_files(files: &[File], settings: &Settings) -> Naming {
    let sources: Vec<&TreePath> = files.iter().map(|(path, _)| path).collect();
    let mut namer = Namer::new(files, &sources, settings);
    let names = sources.iter().map(|path| match is_source(path) {
        true => namer.names(path),
        false => FileNames::default(),
    });
    let names = names.collect();
    let roots = namer.used.into_iter().map(|(path, reason)| Root {
        language: LanguageKind::Python,
        path,
        name: String::new(),
        kind: "import-root".to_owned(),
        reason,
    });
    Naming {
        names,
        roots: roots.collect(),
    }
}

/// Whether a file is Python source, and not a project file.
pub fn is_source(path: &TreePath) -> bool {
    matches!(path.extension(), Some("py" | "pyi"))
}

struct Namer<'f> {
    /// Directories with an `__init__`.
    packages: BTreeSet<TreePath>,
    /// Directories with a project file.
    projects: BTreeSet<TreePath>,
    declared: BTreeMap<TreePath, String>,
    /// The settings name the roots: no other one is tried.
    fixed: bool,
    /// How often the tree imports each dotted name or something below it.
    support: Support<'f>,
    /// Directories that hold a topmost package which the tree imports by its bare name.
    beside: BTreeSet<TreePath>,
    used: BTreeMap<TreePath, String>,
}

/// A name that a file may have: whether its root is declared, how much supports it, whether the root is the nearest one, the
/// parts of the name, the root, and the name.
type Candidate = (bool, u32, bool, usize, TreePath, String);

/// Where a file lies.
struct FilePlace<'p> {
    path: &'p TreePath,
    directory: TreePath,
    /// The topmost package that holds it.
    top: Option<TreePath>,
    /// The directory above that, or its own where no package holds it.
    nearest: Option<TreePath>,
}

impl FilePlace<'_> {
    /// What its package is called as seen from a root, or the file itself where it is in none.
    fn subject(&self, root: &TreePath) -> Cow<'_, str> {
        match &self.top {
            Some(top) => dotted_folder(top.strip_prefix(root).unwrap_or_default()),
            None => Cow::Owned(dotted(self.path, root)),
        }
    }
}

/// Whether a file says what a project consists of.
pub fn is_project_file(path: &TreePath) -> bool {
    matches!(
        path.file_name(),
        "pyproject.toml" | "setup.cfg" | "setup.py"
    )
}

fn projects(paths: &[&TreePath]) -> BTreeSet<TreePath> {
    let files = paths.iter().filter(|path| is_project_file(path));
    files.filter_map(|path| path.parent()).collect()
}

fn declared(files: &[File], settings: &Settings) -> BTreeMap<TreePath, String> {
    if let Some(roots) = &settings.python_roots {
        return roots
            .iter()
            .map(|root| (root.clone(), "named in coalesce.toml".to_owned()))
            .collect();
    }
    let mut declared = BTreeMap::from([(TreePath::root(), "the root of the tree".to_owned())]);
    declared.extend(conventional_roots(files));
    for (path, facts) in files {
        let directory = path.parent().unwrap_or_else(TreePath::root);
        let roots = facts.declared_roots.iter();
        declared.extend(roots.filter_map(|(root, reason)| {
            let root = directory.join(root).ok()?;
            Some((root, reason.clone()))
        }));
    }
    declared
}

/// Roots that build backends look for without being told, each with the reason.
fn conventional_roots(files: &[File]) -> Vec<(TreePath, String)> {
    let mut found = Vec::new();
    let project_files = files.iter().filter(|(path, _)| is_project_file(path));
    let beside_project_files = project_files.filter_map(|(path, _)| path.parent());
    let named: BTreeSet<TreePath> = beside_project_files.collect();
    let outermost = TreePath::root();
    let has_files = files.iter().any(|(path, _)| !path.as_str().contains('/'));
    for (beside, name) in named
        .iter()
        .chain(has_files.then_some(&outermost))
        .flat_map(conventional)
    {
        if let Ok(root) = beside.join(name)
            && (name != "src" || named.contains(beside))
            && holds_sources(files, &root)
        {
            let reason = format!("`{name}` beside a project file, without `__init__.py`");
            found.push((root, reason));
        }
    }
    found
}

/// What build backends look for beside a project file without being told.
fn conventional(beside: &TreePath) -> impl Iterator<Item = (&TreePath, &'static str)> {
    ["src", "stubs", "typings"]
        .into_iter()
        .map(move |name| (beside, name))
}

/// Whether a directory is no package and has sources below it.
fn holds_sources(files: &[File], directory: &TreePath) -> bool {
    let is_package = directory
        .join("__init__.py")
        .is_ok_and(|file| files.binary_search_by(|(path, _)| path.cmp(&file)).is_ok());
    let first = files.partition_point(|(path, _)| path < directory);
    let inside = |(path, _): &&File| path.strip_prefix(directory).is_some();
    let mut near = files
        .iter()
        .skip(first)
        .take_while(|(path, _)| path.as_str().starts_with(directory.as_str()));
    !is_package && near.any(|file| inside(&file) && is_source(&file.0))
}

/// How often imports say a dotted name or something below it.
#[derive(Default)]
struct Support<'f> {
    /// What stands between `from` and `import`, or behind `import` alone, and what these begin with.
    said: FxHashMap<&'f str, u32>,
    /// What is imported from a module, which may be a module, too: `from google.cloud import storage`.
    taken: FxHashMap<(&'f str, &'f str), u32>,
}

impl<'f> Support<'f> {
    /// What is imported from a module supports the module, too.
    fn add_from(&mut self, module: &'f str, leaves: &'f [Leaf]) {
        let times = u32::try_from(leaves.len() + 1).unwrap_or(u32::MAX);
        for prefix in prefixes(module) {
            *self.said.entry(prefix).or_default() += times;
        }
        for leaf in leaves {
            let taken = (module, leaf.name.text.as_str());
            *self.taken.entry(taken).or_default() += 1;
        }
    }

    /// What `import a.b` names.
    fn add_modules(&mut self, leaves: &'f [Leaf]) {
        let names = leaves.iter().map(|leaf| leaf.name.text.as_str());
        for prefix in names.flat_map(prefixes) {
            *self.said.entry(prefix).or_default() += 1;
        }
    }

    fn of(&self, name: &str) -> u32 {
        let said = self.said.get(name).copied().unwrap_or(0);
        let dots = memchr::memchr_iter(b'.', name.as_bytes());
        let parts = dots.filter_map(|dot| Some((name.get(..dot)?, name.get(dot + 1..)?)));
        let taken = parts.filter_map(|parts| self.taken.get(&parts));
        said + taken.sum::<u32>()
    }
}

fn support(files: &[File]) -> Support<'_> {
    let mut support = Support::default();
    let imports = files.iter().flat_map(|(_, facts)| &facts.imports);
    for import in imports {
        match &import.from {
            Some(from) if from.level == 0 => {
                support.add_from(&from.module, &import.leaves);
            }
            Some(_) => {}
            None => support.add_modules(&import.leaves),
        }
    }
    support
}

/// A dotted name and what it begins with: `a`, `a.b`, `a.b.c`.
fn prefixes(name: &str) -> impl Iterator<Item = &str> {
    let dots = memchr::memchr_iter(b'.', name.as_bytes());
    dots.chain([name.len()]).filter_map(|end| name.get(..end))
}

impl<'f> Namer<'f> {
    fn new(files: &'f [File], sources: &[&TreePath], settings: &Settings) -> Self {
        let packages = sources
            .iter()
            .filter(|path| path.file_stem() == "__init__" && is_source(path));
        let mut namer = Self {
            packages: packages.filter_map(|path| path.parent()).collect(),
            projects: projects(sources),
            declared: declared(files, settings),
            fixed: settings.python_roots.is_some(),
            support: support(files),
            beside: BTreeSet::new(),
            used: BTreeMap::new(),
        };
        namer.beside = namer.beside_packages();
        namer
    }

    fn beside_packages(&self) -> BTreeSet<TreePath> {
        let above = self.packages.iter().filter_map(|package| {
            let parent = package.parent()?;
            let bare = self.support.of(package.file_name()) > 0;
            (bare && !self.packages.contains(&parent)).then_some(parent)
        });
        above.collect()
    }

    fn names(&mut self, path: &TreePath) -> FileNames {
        let place = self.place_of(path);
        let mut candidates: Vec<Candidate> = Vec::new();
        let mut above = place.nearest.clone();
        while let Some(root) = above {
            match self.project_named_as_its_package(path, &root) {
                Some(project) if candidates.is_empty() => {
                    let parts = dotted(path, &root).split('.').count();
                    let name = dotted(path, &project);
                    candidates.push((false, 0, false, parts, project, name));
                }
                Some(_) => {}
                None => candidates.extend(self.candidate(&place, &root)),
            }
            above = root.parent();
        }
        self.choose(path, candidates)
    }

    fn place_of<'p>(&self, path: &'p TreePath) -> FilePlace<'p> {
        let directory = path.parent().unwrap_or_else(TreePath::root);
        let top = self.top(&directory);
        let nearest = match &top {
            Some(top) => top.parent(),
            None => Some(directory.clone()),
        };
        FilePlace {
            path,
            directory,
            top,
            nearest,
        }
    }

    /// The name that a file has as seen from a root, where something speaks for it.
    fn candidate(&self, place: &FilePlace<'_>, root: &TreePath) -> Option<Candidate> {
        let (top, nearest) = (place.top.as_ref(), place.nearest.as_ref());
        let subject = place.subject(root);
        let is_declared = self.declared.contains_key(root);
        let is_nearest = top.is_some() && nearest == Some(root);
        let support = self.supported(&subject, top, nearest);
        // The bare name of a script says nothing: every directory has its `utils`. Beside a
        // package it is what the package calls it.
        let beside = *root == place.directory && self.beside.contains(root);
        let telling = top.is_some() || beside || subject.contains('.');
        if !is_declared && (self.fixed || !(is_nearest || (telling && support > 0))) {
            return None;
        }
        let support = if telling || is_declared { support } else { 0 };
        let name = dotted(place.path, root);
        let parts = name.split('.').count();
        Some((is_declared, support, is_nearest, parts, root.clone(), name))
    }

    /// The folder between a root and a file, if it is that of a project called like its package:
    /// `gpu/pyproject.toml` beside `gpu/gpu/__init__.py`. The import system takes the package for that name, and never
    /// the folder, wherever it looks first.
    fn project_named_as_its_package(&self, path: &TreePath, root: &TreePath) -> Option<TreePath> {
        let below = path.strip_prefix(root)?;
        let first = below.split('/').next()?;
        let end = path.as_str().len() - below.len() + first.len();
        let folder = self.projects.get(path.as_str().get(..end)?)?;
        let holds = |package: &str| {
            let package = folder.join(package);
            package.is_ok_and(|package| self.packages.contains(&package))
        };
        let shadowed =
            !self.packages.contains(folder) && (holds(first) || holds(&format!("src/{first}")));
        shadowed.then(|| folder.clone())
    }

    /// How often the tree imports what a topmost package would be called. One that nobody imports,
    /// such as a plug-in, is called like its neighbours: `plugins/a/space/a` is `space.a` where the
    /// tree imports `space.b`.
    fn supported(&self, subject: &str, top: Option<&TreePath>, nearest: Option<&TreePath>) -> u32 {
        let count = |name: &str| self.support.of(name);
        let found = count(subject);
        let alone = top.is_some_and(|top| count(top.file_name()) == 0)
            && !nearest.is_some_and(|nearest| self.declared.contains_key(nearest));
        match subject.rsplit_once('.').filter(|_| found == 0 && alone) {
            Some((space, _)) => count(space).min(1),
            None => found,
        }
    }

    /// The topmost package that holds the directory; `None` when none does. A directory without
    /// `__init__.py` inside of a package is a part of it, as the import system sees it.
    fn top(&self, directory: &TreePath) -> Option<TreePath> {
        let mut top = directory.clone();
        while !self.packages.contains(&top) {
            top = top.parent().filter(|above| !above.is_root())?;
        }
        while let Some(above) = self.package_around(&top) {
            top = above;
        }
        Some(top)
    }

    /// The package that a package lies in: the folder above it, or the next one further up that is a package, where the tree's
    /// own imports spell the name through the folders between them.
    fn package_around(&self, package: &TreePath) -> Option<TreePath> {
        let parent = package.parent().filter(|parent| !parent.is_root())?;
        if self.packages.contains(&parent) {
            return Some(parent);
        }
        let mut folders = std::iter::successors(parent.parent(), TreePath::parent);
        let above = folders.find(|above| !above.is_root() && self.packages.contains(above))?;
        let root = self.outermost_of(&above).parent()?;
        let name = dotted_folder(package.strip_prefix(&root)?);
        (self.support.of(&name) > 0).then_some(above)
    }

    /// The outermost of the packages that follow each other without a gap.
    fn outermost_of(&self, package: &TreePath) -> TreePath {
        let mut top = package.clone();
        while let Some(parent) = top
            .parent()
            .filter(|parent| !parent.is_root() && self.packages.contains(parent))
        {
            top = parent;
        }
        top
    }

    fn choose(&mut self, path: &TreePath, mut candidates: Vec<Candidate>) -> FileNames {
        // Most supported first; then the directory above the package; then declared, nearest first.
        candidates.sort_by(|a, b| (b.1, b.2, b.0, a.3).cmp(&(a.1, a.2, a.0, b.3)));
        let Some((is_declared, supported, _, _, root, canonical)) = candidates.first().cloned()
        else {
            return FileNames {
                canonical: dotted(path, &TreePath::root()),
                also: Vec::new(),
            };
        };
        let reason = self.reason(&root, is_declared, supported);
        self.used.entry(root).or_insert(reason);
        let others = candidates.iter().skip(1).filter(|one| one.1 > 0);
        FileNames {
            also: others
                .map(|candidate| candidate.5.clone())
                .filter(|name| *name != canonical)
                .collect(),
            canonical,
        }
    }

    /// Why names begin at a root.
    fn reason(&self, root: &TreePath, is_declared: bool, supported: u32) -> String {
        if is_declared {
            self.declared.get(root).cloned().unwrap_or_default()
        } else if supported > 0 {
            "the tree's own imports resolve from it".to_owned()
        } else {
            "the directory above a package".to_owned()
        }
    }
}

/// Whether a path lies in a tree of types alone: `stubs/`, `typings/`, `pkg-stubs/`.
pub fn is_in_stub_tree(path: &TreePath) -> bool {
    let mut parts = path.components();
    path.extension() == Some("pyi")
        && parts.any(|part| matches!(part, "stubs" | "typings") || part.ends_with("-stubs"))
}

/// The dotted name of a folder; most have no other one above them.
fn dotted_folder(path: &str) -> Cow<'_, str> {
    match path.contains('/') {
        true => Cow::Owned(path.replace('/', ".")),
        false => Cow::Borrowed(path),
    }
}

/// The dotted name of a file as seen from `root`.
pub fn dotted(path: &TreePath, root: &TreePath) -> String {
    let relative = path.strip_prefix(root).unwrap_or(path.as_str());
    let stem = relative.rsplit_once('.').map_or(relative, |(stem, _)| stem);
    let name = stem.replace('/', ".");
    // A package of types alone is called after the package that they are the types of.
    let (top, below) = name.split_once('.').unwrap_or((&name, ""));
    let name = match top.strip_suffix("-stubs") {
        Some(typed) if below.is_empty() => typed.to_owned(),
        Some(typed) => format!("{typed}.{below}"),
        None => name,
    };
    match name.strip_suffix(".__init__") {
        Some(package) => package.to_owned(),
        None => name,
    }
}
