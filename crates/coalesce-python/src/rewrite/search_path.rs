//! Modules that files find by where they look, and not by full names: beside them, when they are run by their paths, or in
//! a folder that a file of the tree puts into `sys.path`.
//!
//! Such a file goes on looking there when the module is elsewhere. Nothing says that it finds the new place by its full
//! name, so none of these imports is rewritten; each is told.

mod added_folders;

use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use coalesce_model::{
    ByteSpan, ChangeKind, Guard, ImportTarget, LanguagePlan, Subject, Texts, TreePath, Unproven,
    UnprovenKind,
};

use super::{
    mapping::Mapping,
    places::{is_required, path_of},
};
use crate::{
    facts::ImportStatement,
    names::{is_below, occurrences_of_word},
    requirements::standard::is_standard,
};

/// What changes where modules are looked for.
pub(super) const CHANGING: [&str; 2] = ["sys.path", "addsitedir"];

/// Tells the imports by which files find what goes elsewhere, or what that finds itself, by where they look.
pub fn check(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let mut search = Search::new(mapping, texts);
    for path in mapping.files.keys().chain(&mapping.gone) {
        if let Some(module) = mapping.graph.module_of(path) {
            search.leaving(module, None);
        }
    }
    let items = mapping.all.iter().filter(|change| {
        change.subject == Subject::Item && !matches!(change.kind, ChangeKind::Remove)
    });
    for change in items {
        let module = path_of(mapping, change).and_then(|path| mapping.graph.module_of(path));
        let item = change.from.rsplit('.').next();
        if let Some(module) = module {
            search.leaving(module, item);
        }
    }
    plan.unproven.extend(search.told);
    // A shim forwards to the new place by its full name.
    let shims = mapping.all.iter().filter(|change| {
        change.subject == Subject::Module
            && change.kind == ChangeKind::Move
            && change.shim.is_some()
    });
    for change in shims {
        let module = path_of(mapping, change).and_then(|path| mapping.graph.module_of(path));
        let doubt = module.and_then(|module| run_by_path(mapping, texts, module));
        plan.unproven.extend(doubt);
    }
}

/// That a program which imported nothing of its tree comes to, and does not find it by full names where it is run by its path:
/// a file of the tree runs the program so, or the tree has no project file that installs it and it lies in no package.
pub(super) fn run_by_path(
    mapping: &Mapping<'_>,
    texts: &dyn Texts,
    module: usize,
) -> Option<Unproven> {
    let graph = mapping.graph;
    let own = graph.modules.get(module)?;
    let folder = own.path.parent().filter(|folder| !folder.is_root())?;
    let text = texts.text(&own.path)?;
    let imports = &graph.facts.get(module)?.imports;
    let of_tree = imports.iter().any(|import| {
        import.from.as_ref().is_some_and(|from| from.level > 0)
            || names(import).any(|name| graph.find(Some(module), name).is_some())
    });
    let installed = ["pyproject.toml", "setup.py", "setup.cfg"];
    let installed = |folder: &TreePath| {
        let mut files = installed.iter().filter_map(|file| folder.join(file).ok());
        files.any(|file| texts.exists(&file))
    };
    let mut around = std::iter::successors(Some(folder.clone()), TreePath::parent);
    if of_tree || !is_program(&text) {
        return None;
    }
    let init = folder.join("__init__.py").ok()?;
    let runs = |path: &&TreePath| {
        **path != own.path
            && texts
                .text(path)
                .is_some_and(|text| runs_path(&text, own.path.as_str()))
    };
    let runner = texts.paths().iter().find(runs);
    let how = match runner {
        // What is installed is found; nobody knows whether it is where that runs.
        Some(runner) => format!("`{runner}` runs this file by its path"),
        None if around.any(|folder| installed(&folder)) => return None,
        None if !texts.exists(&init) || text.starts_with("#!") => {
            "this file may be run by its path".to_owned()
        }
        None => return None,
    };
    let first = imports.first().map(|import| import.span);
    Some(Unproven {
        path: own.path.clone(),
        span: first,
        kind: UnprovenKind::Condition,
        name: own.name.clone(),
        why: format!(
            "{how}, and finds what is beside it then; it comes to import from the tree by full names"
        ),
    })
}

/// Whether a text hands the path of a file to an interpreter, or to something that runs it.
fn runs_path(text: &str, path: &str) -> bool {
    text.match_indices(path).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        line.contains("python") || line.contains("executable") || line.trim_end().ends_with("./")
    })
}

/// Whether a file has what one has that is run by its path.
pub(crate) fn is_program(text: &str) -> bool {
    text.starts_with("#!") || text.contains("__main__")
}

/// Whether another module imports this one.
pub(super) fn is_imported(mapping: &Mapping<'_>, module: usize) -> bool {
    let target = ImportTarget::Module(module);
    let mut imports = mapping.graph.imports.iter();
    imports.any(|import| import.importer != module && import.target == target)
}

/// The first import of a module by one absolute name, or of what is below that.
pub(super) fn imported_as<'g>(
    mapping: &Mapping<'g>,
    module: usize,
    name: &str,
) -> Option<&'g ImportStatement> {
    let facts = mapping.graph.facts.get(module)?;
    let mut imports = facts.imports.iter();
    imports.find(|import| tops(import).any(|top| top == name))
}

/// The absolute names that a statement imports: of what it imports from, or of its leaves.
fn names(import: &ImportStatement) -> impl Iterator<Item = &str> {
    let from = import.from.as_ref();
    let of = from
        .filter(|from| from.level == 0)
        .map(|from| &*from.module);
    let leaves = import.leaves.iter().filter(move |_| from.is_none());
    of.into_iter().chain(leaves.map(|each| &*each.name.text))
}

/// The first parts of these.
fn tops(import: &ImportStatement) -> impl Iterator<Item = &str> {
    names(import).filter_map(|name| name.split('.').next())
}

/// For each such first part the modules that import it or what is below it, in order: asked for each module that goes
/// elsewhere, and there may be thousands.
fn importers<'g>(mapping: &Mapping<'g>) -> BTreeMap<&'g str, Vec<usize>> {
    let mut importers: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, facts) in mapping.graph.facts.iter().enumerate() {
        let own: BTreeSet<&str> = facts.imports.iter().flat_map(tops).collect();
        for top in own {
            importers.entry(top).or_default().push(index);
        }
    }
    importers
}

/// A folder, and the dotted name that a file has for whoever looks there.
struct Sought {
    folder: String,
    name: String,
}

impl Sought {
    /// The ways in which a file can be found, but for the one from the root of the tree.
    fn all(path: &TreePath) -> Vec<Self> {
        let mut parts: Vec<&str> = path.components().collect();
        let Some(file) = parts.pop() else {
            return Vec::new();
        };
        match file.split_once('.') {
            Some(("__init__", _)) => {}
            Some((stem, "py")) => parts.push(stem),
            _ => return Vec::new(),
        }
        let ways = (1..parts.len()).map(|at| {
            let (folder, name) = parts.split_at(at);
            Self {
                folder: folder.join("/"),
                name: name.join("."),
            }
        });
        ways.collect()
    }

    fn top(&self) -> &str {
        self.name.split('.').next().unwrap_or(&self.name)
    }
}

/// How a file finds a module.
enum Way {
    /// It lies in the folder of the file, which is run by its path.
    Beside,
    /// A file of the tree changes `sys.path`, and has to do with the folder.
    Path,
}

struct Search<'m> {
    mapping: &'m Mapping<'m>,
    texts: &'m dyn Texts,
    importers: BTreeMap<&'m str, Vec<usize>>,
    /// The files that change `sys.path`.
    changing: OnceCell<Vec<(TreePath, Arc<str>)>>,
    told: Vec<Unproven>,
    /// Places that are told already.
    seen: BTreeSet<(usize, ByteSpan)>,
}

impl<'m> Search<'m> {
    fn new(mapping: &'m Mapping<'m>, texts: &'m dyn Texts) -> Self {
        Self {
            mapping,
            texts,
            importers: importers(mapping),
            changing: OnceCell::new(),
            told: Vec::new(),
            seen: BTreeSet::new(),
        }
    }

    /// A module that goes elsewhere, or an item of it that does.
    fn leaving(&mut self, module: usize, item: Option<&str>) {
        let Some(path) = self.mapping.graph.modules.get(module).map(|own| &own.path) else {
            return;
        };
        self.found_beside_it(module, item);
        for sought in Sought::all(path) {
            let known = || self.mapping.graph.find(None, &sought.name).is_some();
            let importers = self.importers.get(sought.top());
            if let Some(importers) = importers.cloned().filter(|_| !known()) {
                for importer in importers.into_iter().filter(|each| *each != module) {
                    self.found_by(importer, (module, item), &sought);
                }
            }
        }
    }

    /// An import of another file that finds the module in a folder.
    fn found_by(
        &mut self,
        importer: usize,
        (module, item): (usize, Option<&str>),
        sought: &Sought,
    ) {
        let graph = self.mapping.graph;
        let modules = graph.modules.get(importer).zip(graph.modules.get(module));
        let Some((file, own)) = modules.filter(|_| !is_standard(sought.top())) else {
            return;
        };
        let Some(import) = self.import_of(importer, &sought.name, item) else {
            return;
        };
        if self.goes_along(&file.path, &own.path) {
            return;
        }
        let name = &sought.name;
        let what = item.map_or_else(
            || format!("`{name}`"),
            |item| format!("`{item}` of `{name}`"),
        );
        let why = match self.way(importer, import, sought) {
            Some(Way::Beside) => {
                format!("run by its path, this file finds {what} beside it, and not after the move")
            }
            Some(Way::Path) => {
                format!(
                    "this tree changes `sys.path`: the file may find {what} in `{}`, and not after the move",
                    sought.folder
                )
            }
            None => return,
        };
        self.tell(importer, import.span, (&own.name, item), why);
    }

    /// What the module that goes, run by its path, finds beside it; an item takes along what it uses.
    fn found_beside_it(&mut self, module: usize, item: Option<&str>) {
        let graph = self.mapping.graph;
        let (Some(own), Some(facts)) = (graph.modules.get(module), graph.facts.get(module)) else {
            return;
        };
        let folder = own.path.parent();
        let is_run = self.is_run(module);
        if own.package || !is_run {
            return;
        }
        for import in &facts.imports {
            for top in tops(import).filter(|top| !is_standard(top)) {
                let beside = folder
                    .as_ref()
                    .and_then(|own| own.join(&format!("{top}.py")).ok());
                let beside =
                    beside.filter(|path| *path != own.path && graph.module_of(path).is_some());
                let stays = |path: &TreePath| !self.goes_along(path, &own.path);
                let used = item.is_none_or(|item| self.uses(module, item, import));
                if used
                    && graph.find(None, top).is_none()
                    && beside.is_some_and(|path| stays(&path))
                {
                    let why = format!(
                        "run by its path, it finds `{top}` beside it, and not after the move"
                    );
                    self.tell(module, import.span, (&own.name, item), why);
                }
            }
        }
    }

    fn tell(
        &mut self,
        file: usize,
        span: ByteSpan,
        (module, item): (&str, Option<&str>),
        why: String,
    ) {
        let Some(found) = self.mapping.graph.modules.get(file) else {
            return;
        };
        if self.seen.insert((file, span)) {
            self.told.push(Unproven {
                path: found.path.clone(),
                span: Some(span),
                kind: UnprovenKind::Condition,
                name: item.map_or_else(|| module.to_owned(), |item| format!("{module}.{item}")),
                why,
            });
        }
    }

    /// The first statement of a file that imports a module by this name, or an item of it.
    fn import_of(
        &self,
        file: usize,
        name: &str,
        item: Option<&str>,
    ) -> Option<&'m ImportStatement> {
        let facts = self.mapping.graph.facts.get(file)?;
        let mut imports = facts.imports.iter();
        imports.find(|import| match item {
            Some(item) => self.takes(file, import, (name, item)),
            None => {
                names(import).any(|own| own == name || is_below(own, name))
                    || has_leaf(import, name)
            }
        })
    }

    /// Whether a statement brings an item of a module, by itself or through the module.
    fn takes(&self, file: usize, import: &ImportStatement, (name, item): (&str, &str)) -> bool {
        let from = import.from.is_some() && names(import).any(|own| own == name);
        if from {
            let mut leaves = import.leaves.iter();
            return leaves
                .any(|leaf| matches!(&*leaf.name.text, text if text == item || text == "*"));
        }
        let whole =
            has_leaf(import, name) || import.from.is_none() && names(import).any(|own| own == name);
        let path = self
            .mapping
            .graph
            .modules
            .get(file)
            .map(|module| &module.path);
        let text = path
            .filter(|_| whole)
            .and_then(|path| self.texts.text(path));
        text.is_some_and(|text| occurrences_of_word(&text, item))
    }

    /// Whether the definition of an item uses what a statement of its module brings.
    fn uses(&self, module: usize, item: &str, import: &ImportStatement) -> bool {
        self.mapping.read(self.texts, module).is_some_and(|file| {
            let own = file.analysis.definitions.iter();
            let own = own.filter(|each| each.class.is_none() && each.name == item);
            let mut texts = own.filter_map(|each| each.span.of(&file.text));
            texts.any(|text| {
                let mut leaves = import.leaves.iter();
                leaves.any(|leaf| occurrences_of_word(text, leaf.bound()))
            })
        })
    }

    /// Whether two files go to places that lie to each other as the old ones do.
    fn goes_along(&self, one: &TreePath, other: &TreePath) -> bool {
        let files = self
            .mapping
            .files
            .get(one)
            .zip(self.mapping.files.get(other));
        files.is_some_and(|(new_one, new_other)| {
            let folders = one.parent().zip(new_one.parent());
            let same_name = other.file_name() == new_other.file_name();
            same_name
                && folders.is_some_and(|(old, new)| {
                    other.relative_to(&old) == new_other.relative_to(&new)
                })
        })
    }

    /// How a file finds a module in a folder by an import that leads to nothing otherwise; `None` where nothing says that it does.
    fn way(&self, file: usize, import: &ImportStatement, sought: &Sought) -> Option<Way> {
        let found = self.mapping.graph.modules.get(file)?;
        let parent = found.path.parent();
        let beside = parent.is_some_and(|parent| parent.as_str() == sought.folder);
        if beside && (self.is_run(file) || self.is_lonely(file, import, sought)) {
            return Some(Way::Beside);
        }
        // What may fail has another way, and of a library that the project asks for there is another one.
        let last = sought.folder.rsplit('/').next()?;
        if import.guard.hides_failure() || is_required(self.mapping, sought.top()) {
            return None;
        }
        let own = |path: &TreePath| is_within(path.as_str(), &sought.folder);
        let mut changing = self.changing().iter();
        changing
            .any(|(path, text)| {
                let named = occurrences_of_word(text, last);
                own(path) || named && !added_folders::are_above(path, text)
            })
            .then_some(Way::Path)
    }

    /// Whether a file lies in no package, or has what one has that is run by its path.
    fn is_run(&self, file: usize) -> bool {
        let Some(module) = self.mapping.graph.modules.get(file) else {
            return false;
        };
        let init = module
            .path
            .parent()
            .and_then(|folder| folder.join("__init__.py").ok());
        let package = init.is_some_and(|init| self.texts.exists(&init));
        !package || is_program(&self.texts.text(&module.path).unwrap_or_default())
    }

    /// Whether a file that nobody imports asks in earnest for a name that no project file knows and nobody uses elsewhere.
    fn is_lonely(&self, file: usize, import: &ImportStatement, sought: &Sought) -> bool {
        let graph = self.mapping.graph;
        let elsewhere = |each: &usize| {
            let parent = graph
                .modules
                .get(*each)
                .and_then(|module| module.path.parent());
            parent.is_none_or(|parent| parent.as_str() != sought.folder)
        };
        let importers = self.importers.get(sought.top());
        import.guard == Guard::None
            && !is_required(self.mapping, sought.top())
            && !importers.is_some_and(|all| all.iter().any(elsewhere))
            && !is_imported(self.mapping, file)
    }

    fn changing(&self) -> &[(TreePath, Arc<str>)] {
        self.changing.get_or_init(|| {
            let modules = self.mapping.graph.modules.iter();
            let texts = modules.filter_map(|module| {
                let text = self.texts.text(&module.path)?;
                added_folders::changes_path(&text).then(|| (module.path.clone(), text))
            });
            texts.collect()
        })
    }
}

/// `from above import name`, of a dotted name.
fn has_leaf(import: &ImportStatement, name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(above, last)| {
        let mut leaves = import.leaves.iter();
        let from = import.from.as_ref();
        from.is_some_and(|from| from.level == 0 && from.module == above)
            && leaves.any(|leaf| leaf.name.text == last)
    })
}

/// Whether a path lies in a folder.
fn is_within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.starts_with('/'))
}
