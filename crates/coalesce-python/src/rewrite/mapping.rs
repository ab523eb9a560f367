//! What the changes mean for every module: its name after, and where its file goes.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, OnceLock},
};

use coalesce_model::{
    Change, ChangeKind, ImportTarget, Module, Subject, Texts, TreePath, Uses, change::Renames,
};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    analysis::Analysis,
    graph::{Entity, PythonGraph},
    names::{is_below, occurrences, occurrences_of_word},
    references::Mentions,
    rewrite::{items::Items, lost, module_reads::ModuleReads, offers, type_checkers, words::Words},
    roots::is_in_stub_tree,
};

/// The changes, seen from the modules of a graph.
pub struct Mapping<'g> {
    pub graph: &'g PythonGraph,
    /// The changes of modules.
    pub changes: Vec<Change>,
    /// All changes, those of items too.
    pub all: &'g [Change],
    /// The same, to be looked up.
    pub renames: Renames<'g>,
    /// The items that change their name.
    pub items: Items,
    /// New names of the modules that change theirs.
    names: FxHashMap<usize, String>,
    /// Where files go, by path; those of replaced modules have no place.
    pub files: BTreeMap<TreePath, TreePath>,
    /// Files of replaced modules.
    pub gone: BTreeSet<TreePath>,
    /// Paths of what moves, files and the directories of packages, and where it goes.
    pub paths: FxHashMap<String, String>,
    /// Names of files that move and say something by themselves.
    pub file_names: FxHashSet<String>,
    /// Texts that every file with a reference contains: the last segments of the changed names, and
    /// of packages that need an import of their own.
    needles: Mentions,
    /// The same of each change, without those packages.
    named: Mentions,
    packages: ChangedPackages,
    /// For the last segment of each name that gets another one: the modules whose texts mention it.
    mentioning: BTreeMap<String, Vec<(usize, Arc<str>)>>,
    /// For each file, and for each directory of a package, that changes the length of the longest name that does.
    held_files: FxHashMap<TreePath, usize>,
    held_directories: FxHashMap<TreePath, usize>,
    /// Packages that nothing loads any more where something did.
    pub lost: BTreeSet<String>,
    /// Modules that each module imports when it is executed.
    eager: OnceLock<Vec<Vec<usize>>>,
    /// What the text of each module has that is worth looking at, once somebody asks.
    words: OnceLock<Vec<Words>>,
    /// The files that somebody has had a look at, by module.
    read: Vec<OnceLock<Option<Arc<AnalysedFile>>>>,
    /// What `types_are_read` says, once somebody asks.
    types_are_read: OnceLock<bool>,
    texts: &'g dyn Texts,
    /// What modules read of each other, as far as somebody has asked.
    pub module_reads: ModuleReads,
}

/// A file, and what the walk over it finds.
pub struct AnalysedFile {
    pub text: Arc<str>,
    pub analysis: Analysis,
}

/// The packages of modules that change.
struct ChangedPackages {
    /// As a text has them that goes on: `pkg.`.
    mentions: Mentions,
    /// For each package the changes in it.
    changes: Vec<Vec<usize>>,
}

fn packages_of(all: &[Change]) -> ChangedPackages {
    let mut packages: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, change) in all.iter().enumerate() {
        let dot = change.from.rfind('.');
        if let Some(package) = dot.and_then(|dot| change.from.get(..=dot))
            && change.subject == Subject::Module
        {
            packages.entry(package).or_default().push(at);
        }
    }
    let words = packages.keys().map(|package| [(*package).to_owned()]);
    let mentions = Mentions::new(&words.collect::<Vec<_>>());
    ChangedPackages {
        mentions,
        changes: packages.into_values().collect(),
    }
}

/// Whether a text has the package of a name where no identifier follows: `"pkg." + name`.
fn is_open_in(text: &str, name: &str) -> bool {
    let dot = name.rfind('.');
    let package = dot.and_then(|dot| name.get(..=dot)).unwrap_or_default();
    occurrences(text, package).next().is_some()
}

/// What a text has that names what changes, or the module of an item: the last segments of both.
fn words_of(change: &Change) -> Vec<String> {
    let segments = match change.subject {
        Subject::Module => 1,
        Subject::Item => 2,
    };
    let words = change.from.rsplit('.').take(segments);
    words.map(str::to_owned).collect()
}

impl<'g> Mapping<'g> {
    pub fn new(graph: &'g PythonGraph, all: &'g [Change], texts: &'g dyn Texts) -> Self {
        let (changes, items): (Vec<Change>, Vec<Change>) = all
            .iter()
            .cloned()
            .partition(|change| change.subject == Subject::Module);
        let words = all.iter().map(words_of);
        let words: Vec<Vec<String>> = words.collect();
        let mut needles: BTreeSet<String> = words.iter().flatten().cloned().collect();
        let mut mapping = Self {
            graph,
            changes: changes.clone(),
            all,
            renames: Renames::new(all, "."),
            items: Items::default(),
            names: FxHashMap::default(),
            files: BTreeMap::new(),
            types_are_read: OnceLock::new(),
            texts,
            gone: BTreeSet::new(),
            paths: FxHashMap::default(),
            file_names: FxHashSet::default(),
            needles: Mentions::default(),
            named: Mentions::new(&words),
            packages: packages_of(all),
            mentioning: mentioning(graph, all, texts),
            held_files: FxHashMap::default(),
            held_directories: FxHashMap::default(),
            lost: BTreeSet::new(),
            eager: OnceLock::new(),
            words: OnceLock::new(),
            read: graph.modules.iter().map(|_| OnceLock::new()).collect(),
            module_reads: ModuleReads::default(),
        };
        let renames = Renames::new(&changes, ".");
        for (index, module) in graph.modules.iter().enumerate() {
            let own = std::iter::once(&module.name).chain(&module.also);
            if let Some(name) = own.filter_map(|name| renames.renamed(name)).next() {
                mapping.names.insert(index, name);
            }
        }
        mapping.hold(&changes);
        for change in &changes {
            mapping.place(change, texts);
        }
        mapping.items = Items::new(&mapping, &items);
        mapping.name_paths();
        mapping.lost = lost::packages(&mapping);
        let leaves = mapping
            .lost
            .iter()
            .filter_map(|name| name.rsplit('.').next());
        let behind = offers::behind_shims(&mapping);
        let leaves = leaves.chain(behind.iter().map(String::as_str));
        needles.extend(leaves.map(str::to_owned));
        mapping.needles = Mentions::new(&[needles]);
        mapping
    }

    /// The modules that mention the last segment of a name that gets another one, of an item that changes, or of the
    /// module of one, with their texts.
    pub fn mentioning(&self, segment: &str) -> &[(usize, Arc<str>)] {
        self.mentioning.get(segment).map_or(&[], Vec::as_slice)
    }

    /// What the texts of the modules have that is worth looking at, by module.
    pub fn words(&self, texts: &dyn Texts) -> &[Words] {
        self.words.get_or_init(|| {
            let modules = self.graph.modules.par_iter();
            let words = |text: Option<Arc<str>>| text.map(|text| Words::of(&text));
            modules
                .map(|module| words(texts.text(&module.path)).unwrap_or_default())
                .collect()
        })
    }

    /// The file of a module; each is walked over once.
    pub fn read(&self, texts: &dyn Texts, module: usize) -> Option<Arc<AnalysedFile>> {
        let read = || {
            let text = texts.text(&self.graph.modules.get(module)?.path)?;
            let analysis = Analysis::new(&text);
            Some(Arc::new(AnalysedFile { text, analysis }))
        };
        self.read.get(module)?.get_or_init(read).clone()
    }

    /// Notes what belongs to each change.
    fn hold(&mut self, changes: &[Change]) {
        let graph = self.graph;
        for change in changes {
            let found = graph.find(None, &change.from);
            let Some(module) = found.and_then(|index| graph.modules.get(index)) else {
                continue;
            };
            let directory = module.path.parent().filter(|_| module.package);
            let held = directory.map(|directory| self.held_directories.entry(directory));
            let file = self.held_files.entry(module.path.clone());
            for longest in held.into_iter().chain([file]) {
                let longest = longest.or_default();
                *longest = change.from.len().max(*longest);
            }
        }
    }

    fn place(&mut self, change: &Change, texts: &dyn Texts) {
        let graph = self.graph;
        let Some(index) = graph.find(None, &change.from) else {
            return;
        };
        // Types in a tree of their own go along.
        for index in std::iter::once(index).chain(graph.types_elsewhere(index)) {
            self.place_files(change, index, texts);
        }
    }

    fn place_files(&mut self, change: &Change, index: usize, texts: &dyn Texts) {
        let Some(module) = self.graph.modules.get(index) else {
            return;
        };
        let Some(directory) = module.path.parent() else {
            return;
        };
        let base = self.target_base(&change.to, &module.name, &module.path, module.package);
        let own = Self::files_of(module, &directory, texts);
        for path in own {
            if self.is_held_nearer(&path, change) {
                continue;
            }
            let moves = matches!(change.kind, ChangeKind::Move | ChangeKind::Supersede);
            if !moves {
                self.gone.insert(path);
                continue;
            }
            let rest = path.strip_prefix(&directory).filter(|_| module.package);
            let rest = rest.map(|rest| format!("/{rest}")).or_else(|| {
                let extension = path.extension()?;
                Some(format!(".{extension}"))
            });
            let target = TreePath::new(&format!("{base}{}", rest.unwrap_or_default()));
            if let Ok(target) = target {
                self.files.insert(path, target);
            }
        }
    }

    /// The files of a module, and all in the folder of a package.
    fn files_of(module: &Module, directory: &TreePath, texts: &dyn Texts) -> Vec<TreePath> {
        if module.package {
            texts
                .paths()
                .iter()
                .filter(|path| path.strip_prefix(directory).is_some())
                .cloned()
                .collect()
        } else {
            let stub = [
                module.path.clone(),
                sibling(&module.path, "py"),
                sibling(&module.path, "pyi"),
            ];
            stub.into_iter()
                .filter(|path| texts.exists(path) || *path == module.path)
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect()
        }
    }

    /// Collects the paths of what moves: files, and whole directories.
    fn name_paths(&mut self) {
        for (from, to) in &self.files {
            self.paths
                .insert(from.as_str().to_owned(), to.as_str().to_owned());
            if !from.file_name().starts_with("__") && from.file_name().contains('.') {
                self.file_names.insert(from.file_name().to_owned());
            }
        }
        let moves = self.changes.iter();
        for change in moves.filter(|change| change.kind == ChangeKind::Move) {
            let module = self.graph.find(None, &change.from);
            let module = module.and_then(|index| self.graph.modules.get(index));
            let Some(module) = module.filter(|module| module.package) else {
                continue;
            };
            let file = self.files.get(&module.path);
            let directories = file.and_then(TreePath::parent).zip(module.path.parent());
            if let Some((to, from)) = directories {
                let (from, to) = (from.as_str().to_owned(), to.as_str().to_owned());
                self.paths.insert(from, to);
            }
        }
    }

    /// Whether a shim is asked for at a name, or at the module around it.
    pub fn has_shim(&self, name: &str) -> bool {
        let nearest = self.change_of(name);
        // What gets another name with its module has the module's shim.
        let with_module =
            |change: &&Change| change.subject == Subject::Item && self.goes_with_its_module(change);
        let around = nearest.filter(with_module).and_then(|change| {
            let (module, _) = change.from.rsplit_once('.')?;
            self.change_of(module)
        });
        around
            .or(nearest)
            .is_some_and(|change| change.shim.is_some())
    }

    /// What files call what they import by this name, once it has another one.
    pub fn uses_of(&self, name: &str) -> Uses {
        self.change_of(name)
            .map(|change| change.uses)
            .unwrap_or_default()
    }

    /// The change of a name, or of the nearest module around it.
    fn change_of(&self, name: &str) -> Option<&Change> {
        self.renames.nearest(name).map(|(change, _)| change)
    }

    /// Whether an item goes nowhere but where its module goes.
    fn goes_with_its_module(&self, change: &Change) -> bool {
        let halves = change.from.rsplit_once('.').zip(change.to.rsplit_once('.'));
        halves.is_some_and(|((from, _), (to, _))| {
            let mut modules = self.changes.iter();
            modules.any(|module| {
                module.kind == ChangeKind::Move && module.from == from && module.to == to
            })
        })
    }

    /// The items of a module that get another name and go nowhere but with it: old name, new name.
    pub fn renamed_with(&self, module: usize) -> Vec<(String, String)> {
        let new = self.new_name(module);
        let with = self.items.list.iter().filter(|moved| {
            moved.source == module
                && Some(moved.parent.as_str()) == new
                && self.moves(module)
                && moved.name != moved.item
        });
        with.map(|moved| (moved.item.clone(), moved.name.clone()))
            .collect()
    }

    /// Whether a text may name what changes.
    pub fn mentioned(&self, text: &str) -> bool {
        self.needles.any(text)
    }

    /// The changes of modules that a text may name, by their last segments or by what it adds to their packages.
    pub fn named_in_parts(&self, text: &str) -> impl Iterator<Item = &'g Change> {
        let ChangedPackages { mentions, changes } = &self.packages;
        let mut packages = mentions.of(text);
        packages.retain(|package| {
            let change = changes.get(*package).and_then(|own| own.first());
            let change = change.and_then(|at| self.all.get(*at));
            change.is_some_and(|change| is_open_in(text, &change.from))
        });
        let begun = packages.into_iter().filter_map(|at| changes.get(at));
        let mut found: BTreeSet<usize> = begun.flatten().copied().collect();
        found.extend(self.named.of(text));
        let all = self.all;
        let changes = found.into_iter().filter_map(move |at| all.get(at));
        changes.filter(|change| change.subject == Subject::Module)
    }

    /// The changes that a text may name in any way, or the module of an item that changes.
    pub fn named_in(&self, text: &str) -> impl Iterator<Item = &'g Change> {
        let all = self.all;
        let named = self.named.of(text).into_iter();
        named.filter_map(move |at| all.get(at))
    }

    /// Whether the file of a module moves, and not the whole package around it.
    pub fn moves_alone(&self, module: usize) -> bool {
        let Some(module) = self
            .graph
            .modules
            .get(module)
            .filter(|module| self.files.contains_key(&module.path))
        else {
            return false;
        };
        self.changes.iter().any(|change| change.from == module.name) && !module.package
    }

    /// Whether a path belongs to what changes below a change.
    fn is_held_nearer(&self, path: &TreePath, change: &Change) -> bool {
        let above = std::iter::successors(path.parent(), TreePath::parent);
        let directories = above.filter_map(|directory| self.held_directories.get(&directory));
        let files = self.held_files.get(path);
        let mut held = files.into_iter().chain(directories);
        held.any(|longest| *longest > change.from.len())
    }

    /// Whether something comes to stand below a module that is not there yet: it has to be a package.
    pub fn comes_to_be_package(&self, module: &str) -> bool {
        let mut changes = self.all.iter();
        changes.any(|change| {
            let home = match change.subject {
                Subject::Module => Some(change.to.as_str()),
                Subject::Item => change.to.rsplit_once('.').map(|(home, _)| home),
            };
            change.kind.carries_text() && home.is_some_and(|home| is_below(home, module))
        })
    }

    /// The file of a new module, whose path without extension this is.
    pub fn file_of_new(&self, module: &str, base: &str, extension: &str) -> Option<TreePath> {
        let path = match self.comes_to_be_package(module) {
            true => format!("{base}/__init__.{extension}"),
            false => format!("{base}.{extension}"),
        };
        TreePath::new(&path).ok()
    }

    /// The path, without extension, that a module called `to` has: below its own root where that
    /// has the top-level package, else below the nearest package that exists, else below its root.
    pub fn target_base(&self, to: &str, from: &str, path: &TreePath, package: bool) -> String {
        // A package of types alone has its name in its directory, too.
        if let Some(base) = stub_base(to, path) {
            return base;
        }
        let root = own_root(from, path, package);
        let top = to.split('.').next().unwrap_or(to);
        let types = is_in_stub_tree(path);
        let has_top = |file: &str| {
            let directory = joined(&root, top);
            let file = TreePath::new(&format!("{directory}/{file}")).ok();
            let known = file.and_then(|file| self.graph.module_of(&file));
            let named = known.and_then(|module| self.graph.modules.get(module));
            named.is_some_and(|module| module.name == top)
        };
        // A tree of types need not have a file for the package itself.
        let is_own = to != top
            && (has_top("__init__.py")
                || types && (has_top("__init__.pyi") || from.split('.').next() == Some(top)));
        let home = self.graph.module_of(path);
        let mut parent = to;
        while let Some((above, _)) = parent.rsplit_once('.').filter(|_| !is_own) {
            parent = above;
            let found = self
                .graph
                .find(home, parent)
                .and_then(|index| self.graph.modules.get(index));
            if let Some(directory) = found
                .filter(|module| module.package)
                .and_then(|module| module.path.parent())
            {
                let rest = to
                    .get(parent.len() + 1..)
                    .unwrap_or_default()
                    .replace('.', "/");
                return joined(directory.as_str(), &rest);
            }
        }
        joined(&root, &to.replace('.', "/"))
    }

    /// Whether somebody reads the types of the tree and asks which names a module offers.
    pub fn types_are_read(&self) -> bool {
        *(self.types_are_read).get_or_init(|| type_checkers::ask_for_offers(self.texts))
    }

    /// Whether the tree has a file of this path.
    pub fn has_file(&self, path: &str) -> bool {
        TreePath::new(path).is_ok_and(|path| self.texts.exists(&path))
    }

    /// The name of a module after the changes, if they give it another one.
    pub fn new_name(&self, module: usize) -> Option<&str> {
        self.names.get(&module).map(String::as_str)
    }

    /// The module that gets a name by the changes.
    pub fn arriving(&self, name: &str) -> Option<usize> {
        let mut found = self.names.iter().filter(|(_, new)| *new == name);
        found.next().map(|(module, _)| *module)
    }

    /// The name that a module has after the changes.
    pub fn name_after(&self, module: usize) -> String {
        let now = || {
            self.graph
                .modules
                .get(module)
                .map(|module| module.name.clone())
                .unwrap_or_default()
        };
        self.new_name(module).map_or_else(now, str::to_owned)
    }

    /// The package that relative imports of a module count from after the changes.
    pub fn package_after(&self, module: usize) -> String {
        let name = self.name_after(module);
        let package = self
            .graph
            .modules
            .get(module)
            .is_some_and(|module| module.package);
        if package {
            name
        } else {
            name.rsplit_once('.')
                .map(|(parent, _)| parent.to_owned())
                .unwrap_or_default()
        }
    }

    /// Whether the file of a module moves.
    pub fn moves(&self, module: usize) -> bool {
        self.graph
            .modules
            .get(module)
            .is_some_and(|module| self.files.contains_key(&module.path))
    }

    /// Where a file goes that moves.
    pub fn path_after(&self, path: &TreePath) -> Option<&TreePath> {
        self.files.get(path)
    }

    /// Whether the file of a module goes away.
    pub fn goes_away(&self, module: usize) -> bool {
        self.graph
            .modules
            .get(module)
            .is_some_and(|module| self.gone.contains(&module.path))
    }

    /// What a dotted name becomes, as spelled in the file of `from`; `None` when it stays. What
    /// follows the module goes along; the first item of a replaced module takes its new name.
    pub fn absolute(&self, from: Option<usize>, name: &str) -> Option<String> {
        let mut length = name.len();
        let module = loop {
            let prefix = name.get(..length)?;
            match self.graph.find(from, prefix) {
                Some(module) => break module,
                None => length = prefix.rfind('.')?,
            }
        };
        let (spelled, rest) = name.split_at_checked(length)?;
        let canonical = &self.graph.modules.get(module)?.name;
        // A package may be named by its file.
        let by_file = spelled.strip_suffix(".__init__");
        let by_file = by_file.filter(|_| !canonical.ends_with(".__init__"));
        let spelled = by_file.unwrap_or(spelled);
        let mut below = rest.splitn(3, '.').skip(1);
        if let Some(item) = below.next().and_then(|item| self.items.get(module, item)) {
            let parent = respelled(spelled, canonical, &item.parent)?;
            let tail = below.next().map(|tail| format!(".{tail}"));
            return Some(format!(
                "{parent}.{}{}",
                item.name,
                tail.unwrap_or_default()
            ));
        }
        let new = self.new_name(module)?;
        let mut result = respelled(spelled, canonical, new)?;
        if by_file.is_some() && !self.goes_away(module) {
            result.push_str(".__init__");
        }
        let mut segments = rest.split('.').skip(1);
        if let Some(item) = segments.next() {
            result.push('.');
            result.push_str(&self.item_after(module, item));
        }
        for segment in segments {
            result.push('.');
            result.push_str(segment);
        }
        Some(result)
    }

    /// The modules that executing `module` imports itself.
    pub fn executes(&self, module: usize) -> &[usize] {
        let eager = self.eager.get_or_init(|| {
            let mut eager = vec![Vec::new(); self.graph.modules.len()];
            for import in self.graph.imports.iter().filter(|import| import.eager) {
                if let (ImportTarget::Module(target), Some(list)) =
                    (&import.target, eager.get_mut(import.importer))
                {
                    list.push(*target);
                }
            }
            eager
        });
        eager.get(module).map_or(&[], Vec::as_slice)
    }

    /// Whether executing `module` loads `target` on the way.
    pub fn loads(&self, module: usize, target: usize) -> bool {
        let mut seen: FxHashSet<usize> = FxHashSet::default();
        let mut open = vec![module];
        while let Some(next) = open.pop() {
            if next == target {
                return true;
            }
            if seen.insert(next) {
                open.extend_from_slice(self.executes(next));
            }
        }
        false
    }

    /// The name that an item of a module has after the changes.
    pub fn item_after(&self, module: usize, item: &str) -> String {
        let name = self
            .graph
            .modules
            .get(module)
            .map(|module| module.name.as_str())
            .unwrap_or_default();
        let renames = self
            .changes
            .iter()
            .filter(|change| change.from == name)
            .find_map(|change| match &change.kind {
                ChangeKind::Replace { rename } => rename
                    .iter()
                    .find(|(old, _)| old == item)
                    .map(|(_, new)| new.clone()),
                ChangeKind::Move | ChangeKind::Supersede | ChangeKind::Remove => None,
            });
        renames.unwrap_or_else(|| item.to_owned())
    }

    /// For a replaced module: whether the module in its place has the item.
    pub fn lacks(&self, module: usize, item: &str) -> Option<&str> {
        let new = self.new_name(module).filter(|_| self.goes_away(module))?;
        let target = self.graph.find(None, new)?;
        // Who names an item that an entry of its own takes elsewhere follows that.
        if self.items.get(module, item).is_some() {
            return None;
        }
        let name = self.item_after(module, item);
        let arrives = self
            .items
            .list
            .iter()
            .any(|moved| moved.travels() && moved.parent == new && moved.name == name);
        (self.graph.member(target, &name) == Entity::Missing && !arrives).then_some(new)
    }

    /// For a replaced module: the one in its place, where that has the item from the replaced module alone.
    pub fn leads_back(&self, module: usize, item: &str) -> Option<&str> {
        let new = self.new_name(module).filter(|_| self.goes_away(module))?;
        let target = self.graph.find(None, new)?;
        let name = self.item_after(module, item);
        let found = self.graph.member(target, &name);
        let back = matches!(&found, Entity::Item(of, item) if *of == module && self.items.index(*of, item).is_none());
        back.then_some(new)
    }
}

/// The same parent for a name as it is spelled: see [`respelled`].
pub fn parent_as_spelled(graph: &PythonGraph, module: usize, spelled: &str, new: &str) -> String {
    let canonical = graph.modules.get(module).map(|module| &module.name);
    canonical
        .and_then(|canonical| respelled(spelled, canonical, new))
        .unwrap_or_else(|| new.to_owned())
}

/// `new` with the same root as `spelled`, which is another spelling of `canonical`: the tree may
/// import `src.pkg.a` what is called `pkg.a`, or the other way round.
fn respelled(spelled: &str, canonical: &str, new: &str) -> Option<String> {
    if spelled == canonical {
        return Some(new.to_owned());
    }
    if let Some(before) = spelled
        .strip_suffix(canonical)
        .filter(|before| before.ends_with('.'))
    {
        return Some(format!("{before}{new}"));
    }
    let root = canonical
        .strip_suffix(spelled)
        .filter(|root| root.ends_with('.'))?;
    Some(new.strip_prefix(root).unwrap_or(new).to_owned())
}

/// The path, without extension, of the types of a module in `pkg-stubs`.
fn stub_base(to: &str, path: &TreePath) -> Option<String> {
    let parts: Vec<&str> = path.components().collect();
    let at = parts.iter().position(|part| part.ends_with("-stubs"))?;
    let (top, rest) = to.split_once('.').unwrap_or((to, ""));
    let above = parts.get(..at)?.join("/");
    let base = format!("{top}-stubs/{}", rest.replace('.', "/"));
    Some(joined(&above, base.trim_end_matches('/')))
}

/// The directory that the name of a module counts from.
fn own_root(name: &str, path: &TreePath, package: bool) -> String {
    let stem = if package {
        path.parent().map(|directory| directory.as_str().to_owned())
    } else {
        path.as_str()
            .rsplit_once('.')
            .map(|(stem, _)| stem.to_owned())
    };
    stem.as_deref()
        .and_then(|stem| stem.strip_suffix(&name.replace('.', "/")))
        .unwrap_or_default()
        .trim_end_matches('/')
        .to_owned()
}

fn joined(directory: &str, rest: &str) -> String {
    if directory.is_empty() {
        rest.to_owned()
    } else {
        format!("{directory}/{rest}")
    }
}

fn sibling(path: &TreePath, extension: &str) -> TreePath {
    let stem = path
        .as_str()
        .rsplit_once('.')
        .map_or(path.as_str(), |(stem, _)| stem);
    TreePath::new(&format!("{stem}.{extension}")).unwrap_or_else(|_| path.clone())
}

/// The modules that mention the old last segment of what gets another one, and for an item also that of its module:
/// who names either may go by more than the name. So for the names that imports give to such a module.
fn mentioning(
    graph: &PythonGraph,
    changes: &[Change],
    texts: &dyn Texts,
) -> BTreeMap<String, Vec<(usize, Arc<str>)>> {
    let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    let mut segments = BTreeSet::new();
    let mut modules = BTreeSet::new();
    for change in changes {
        let is_item = change.subject == Subject::Item;
        if is_item || last(&change.from) != last(&change.to) {
            segments.insert(last(&change.from));
        }
        if let Some((above, _)) = change.from.rsplit_once('.').filter(|_| is_item) {
            modules.insert(last(above));
        }
        if let ChangeKind::Replace { rename } = &change.kind {
            segments.extend(rename.iter().map(|(old, _)| old.clone()));
        }
    }
    segments.extend(aliases_of(graph, &modules));
    segments.append(&mut modules);
    if segments.is_empty() {
        return BTreeMap::new();
    }
    let found: Vec<(String, (usize, Arc<str>))> = graph
        .modules
        .par_iter()
        .enumerate()
        .filter_map(|(index, module)| Some((index, texts.text(&module.path)?)))
        .flat_map_iter(|(index, text)| {
            let named = segments
                .iter()
                .filter(|segment| occurrences_of_word(&text, segment));
            let named: Vec<_> = named
                .map(|segment| (segment.clone(), (index, Arc::clone(&text))))
                .collect();
            named
        })
        .collect();
    let mut mentioning: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for (segment, module) in found {
        mentioning.entry(segment).or_default().push(module);
    }
    mentioning
}

/// What imports call modules of these last names, each other name once.
fn aliases_of(graph: &PythonGraph, modules: &BTreeSet<String>) -> BTreeSet<String> {
    let imports = graph.facts.iter().flat_map(|facts| &facts.imports);
    let renamed = imports.flat_map(|import| &import.leaves).filter(|leaf| {
        let last = leaf.name.text.rsplit('.').next().unwrap_or_default();
        modules.contains(last)
    });
    let aliases = renamed.filter_map(|leaf| leaf.alias.as_ref());
    aliases.map(|alias| alias.text.clone()).collect()
}
