//! Builds that are told by lists what they take: packages by their names, folders and files by their paths. What goes
//! where no list reaches is not installed, and who imports it is.

use std::ops::Range;

use coalesce_model::{
    ByteSpan, EditSet, ImportTarget, LanguagePlan, Module, Subject, Texts, TreePath, Unproven,
    UnprovenKind, change::Renames, texts::start_of_text,
};
use toml_edit::Item;

use super::{
    Entry, ListKind, builds::GOING_BY_PROJECT, lists, project_files, shipped::first_left_out,
};
use crate::{
    names::occurrences_of_word,
    patterns::reaches,
    project::{Document, NAME_OF_MODULE, NAMES, tables_of},
    rewrite::Mapping,
};

/// Keys of lists of paths, as builds have them.
const PATHS: [&[&str]; 7] = [
    &["tool", "hatch", "build", "targets", "wheel", "packages"],
    &["tool", "hatch", "build", "targets", "wheel", "only-include"],
    &["tool", "hatch", "build", "packages"],
    &["tool", "hatch", "build", "only-include"],
    &["tool", "scikit-build", "wheel", "packages"],
    &["tool", "pdm", "build", "includes"],
    &["tool", "poetry", "packages"],
];

/// Keys of lists of patterns as `.gitignore` has them: one of a single name reaches into every folder.
const PATTERNS: [&[&str]; 2] = [
    &["tool", "hatch", "build", "targets", "wheel", "include"],
    &["tool", "hatch", "build", "include"],
];

/// Keys of names of the modules that are built, and folders in which they are looked for.
const MODULES: [(&[&str], &[&str]); 3] = [
    (&["tool", "flit", "module", "name"], &["", "src/"]),
    (NAME_OF_MODULE, &["", "src/"]),
    (&["tool", "uv", "build-backend", "module-name"], &["src/"]),
];

/// The key that says where the last of these are looked for.
const ROOT_OF_MODULES: &[&str] = &["tool", "uv", "build-backend", "module-root"];

/// The key of what is taken besides.
const MORE: &[&str] = &["tool", "poetry", "include"];

/// What a project file says is built.
#[derive(Default)]
struct BuildLists {
    /// Packages, and modules at the top, by their names.
    packages: Vec<Entry>,
    modules: Vec<Entry>,
    /// Folders, files and patterns of both, from the folder of the project on.
    paths: Vec<Entry>,
}

impl BuildLists {
    fn of(path: &TreePath, text: &str) -> Self {
        let all = |kind| lists(path, text, kind).into_iter().flatten().collect();
        let paths = match path.file_name() {
            "pyproject.toml" => paths(text).unwrap_or_default(),
            _ => Vec::new(),
        };
        Self {
            packages: all(ListKind::Packages),
            modules: all(ListKind::Modules),
            paths,
        }
    }

    /// The first place that says something.
    fn place(&self) -> Option<ByteSpan> {
        let all = self.packages.iter().chain(&self.modules).chain(&self.paths);
        all.map(|entry| entry.span).next()
    }

    /// The same where names and paths of the tree that move are followed, as they are with all texts.
    fn followed(mut self, mapping: &Mapping<'_>, around: &TreePath) -> Self {
        let renames = Renames::new(&mapping.changes, ".");
        let names = self.packages.iter_mut().chain(&mut self.modules);
        for entry in names {
            entry.name = renames.name_after(&entry.name);
        }
        for entry in &mut self.paths {
            let named = entry.name.trim_start_matches(ANYWHERE);
            let path = around.join(named.trim_matches('/'));
            let new = path.ok().and_then(|path| mapping.paths.get(path.as_str()));
            let new = new.and_then(|new| TreePath::new(new).ok());
            let new = new.and_then(|new| new.strip_prefix(around).map(str::to_owned));
            entry.name = new.unwrap_or_else(|| entry.name.clone());
        }
        self
    }

    /// Whether a module, in a file below the folder of the project, is built.
    fn has(&self, place: &ModulePlace, below: &str) -> bool {
        let name = place.name.as_str();
        let package = match place.is_package {
            true => Some(name),
            false => name.rsplit_once('.').map(|(package, _)| package),
        };
        let named = match package {
            Some(package) => self.packages.iter().any(|entry| entry.name == package),
            None => self.modules.iter().any(|entry| entry.name == name),
        };
        named || self.paths.iter().any(|entry| reaches(&entry.name, below))
    }
}

/// What a pattern begins with that reaches into every folder.
const ANYWHERE: &str = "**/";

fn paths(text: &str) -> Option<Vec<Entry>> {
    let start = start_of_text(text) as usize;
    let document = toml_edit::Document::parse(text.get(start..)?).ok()?;
    let document = Document::new(document.as_item());
    let listed = |keys: &[&str]| document.at(keys).map(entries).unwrap_or_default();
    let patterns = PATTERNS.into_iter().flat_map(listed);
    let patterns = patterns.map(
        |(name, span)| match name.trim_end_matches('/').contains('/') {
            true => (name, span),
            false => (format!("{ANYWHERE}{name}"), span),
        },
    );
    let mut found: Vec<Named> = PATHS.into_iter().flat_map(listed).collect();
    found.extend(patterns);
    found.extend(modules(&document));
    if found.is_empty() {
        found = by_project(&document).unwrap_or_default();
    }
    found.extend(listed(MORE));
    let entries = found.into_iter().map(|(name, span)| Entry {
        name,
        span: ByteSpan::from_range(span.start + start..span.end + start),
    });
    Some(entries.collect())
}

/// A path, and where the document says it.
pub(super) type Named = (String, Range<usize>);

/// What a build takes by the names of modules.
fn modules(document: &Document<'_>) -> Vec<Named> {
    let root = document.at(ROOT_OF_MODULES).and_then(Item::as_str);
    let root = root.map(|root| match root.trim_matches('/') {
        "" | "." => String::new(),
        root => format!("{root}/"),
    });
    let named = MODULES.into_iter().flat_map(|(keys, folders)| {
        let names = document.at(keys).map(entries).unwrap_or_default();
        names.into_iter().map(move |name| (name, folders))
    });
    let paths = named.flat_map(|((name, span), folders)| {
        let of_uv = folders.len() == 1;
        let root = root.as_deref().filter(|_| of_uv);
        let folders = root.map_or_else(|| folders.to_vec(), |root| vec![root]);
        places_of_module(&name.replace('.', "/"), &folders, &span)
    });
    paths.collect()
}

/// Where a module may lie, as a package or as a file.
fn places_of_module(path: &str, folders: &[&str], span: &Range<usize>) -> Vec<Named> {
    let places = folders.iter().flat_map(|folder| {
        let package = format!("{folder}{path}");
        let file = format!("{package}.py");
        [(package, span.clone()), (file, span.clone())]
    });
    places.collect()
}

/// What a build takes that has no list and goes by the name of the project.
fn by_project(document: &Document<'_>) -> Option<Vec<Named>> {
    let backend = document.at(&["build-system", "build-backend"])?.as_str()?;
    let goes_by = GOING_BY_PROJECT.iter().any(|known| backend.contains(known));
    let mut names = NAMES.iter().filter_map(|keys| document.at(keys));
    let name = names.next().filter(|_| goes_by)?;
    let called = name.as_str()?.to_lowercase().replace(['-', '.'], "_");
    Some(places_of_module(&called, &["", "src/"], &name.span()?))
}

/// The paths of a list, or the only one: texts, and tables that say where one lies (`{ include = "pkg", from = "src" }`).
pub(super) fn entries(list: &Item) -> Vec<Named> {
    let only = list.as_value().into_iter().filter(|value| value.is_str());
    let values = list.as_array().into_iter().flatten();
    let texts = only
        .chain(values)
        .filter_map(|value| Some((value.as_str()?.to_owned(), value.span()?)));
    let tables = tables_of(list).into_iter().filter_map(|table| {
        let text = |key: &str| table.get(key).and_then(Item::as_str);
        let from = text("from").map(|from| format!("{}/", from.trim_end_matches('/')));
        let name = format!("{}{}", from.unwrap_or_default(), text("include")?);
        Some((name, table.get("include")?.span()?))
    });
    texts.chain(tables).collect()
}

/// A module, and its file.
pub(crate) struct ModulePlace {
    pub(crate) name: String,
    pub(crate) file: TreePath,
    is_package: bool,
}

/// The package that a module of this name is in, or is; a module at the top is one by itself.
pub(crate) fn package_of(name: &str, is_package: bool) -> &str {
    match name.rsplit_once('.') {
        Some((above, _)) if !is_package => above,
        _ => name,
    }
}

impl ModulePlace {
    pub(crate) fn package(&self) -> &str {
        package_of(&self.name, self.is_package)
    }

    fn of(module: &Module) -> Self {
        Self {
            name: module.name.clone(),
            file: module.path.clone(),
            is_package: module.package,
        }
    }
}

/// Something that goes to another file.
pub(crate) struct Going {
    pub(crate) name: String,
    source: usize,
    /// Its module before and afterwards.
    pub(crate) was: ModulePlace,
    pub(crate) is: ModulePlace,
    /// The item that goes, where it is not the module.
    pub(crate) item: Option<String>,
}

/// Holds what moves against what the project files say is built, before and after.
pub fn check(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let going = going(mapping);
    if going.is_empty() {
        return;
    }
    for (path, text) in project_files(texts) {
        let planned = planned_text(plan, &path, &text);
        let file = (&path, &*text, &*planned);
        let left_out = first_left_out(mapping, texts, &going, file);
        let unlisted = first_unlisted(mapping, texts, &going, file);
        plan.unproven.extend(left_out.into_iter().chain(unlisted));
    }
}

/// What goes to where no list of a project file reaches.
fn first_unlisted(
    mapping: &Mapping<'_>,
    texts: &dyn Texts,
    going: &[Going],
    (path, text, planned): (&TreePath, &str, &str),
) -> Option<Unproven> {
    let before = BuildLists::of(path, text);
    let span = before.place()?;
    let around = path.parent().unwrap_or_else(TreePath::root);
    let after = BuildLists::of(path, planned).followed(mapping, &around);
    let has = |lists: &BuildLists, place: &ModulePlace| {
        let below = place.file.strip_prefix(&around);
        below.is_some_and(|below| lists.has(place, below))
    };
    let built = |module: usize| {
        let module = mapping.graph.modules.get(module);
        module.is_some_and(|module| has(&before, &ModulePlace::of(module)))
    };
    let build = Build {
        path,
        span,
        has_before: &|place| has(&before, place),
        has_after: &|place| has(&after, place),
        imports: &built,
    };
    build.first_missing(mapping, texts, going, |going| {
        let name = &going.is.name;
        format!("this says what is built, and not `{name}`, which something of it imports")
    })
}

/// What a place in a project file says of what is built.
pub(crate) struct Build<'b> {
    pub(crate) path: &'b TreePath,
    pub(crate) span: ByteSpan,
    /// Whether it takes a module in, before the changes and after them.
    pub(crate) has_before: &'b dyn Fn(&ModulePlace) -> bool,
    pub(crate) has_after: &'b dyn Fn(&ModulePlace) -> bool,
    /// Whether a module of the tree is among those whose imports have to work.
    pub(crate) imports: &'b dyn Fn(usize) -> bool,
}

impl Build<'_> {
    /// The first of what goes that is no longer built, while something which is goes on importing it.
    pub(crate) fn first_missing(
        &self,
        mapping: &Mapping<'_>,
        texts: &dyn Texts,
        going: &[Going],
        why: impl Fn(&Going) -> String,
    ) -> Option<Unproven> {
        let mut going = going.iter();
        let missing = going.find(|going| {
            (self.has_before)(&going.was)
                && !(self.has_after)(&going.is)
                && is_needed(mapping, texts, going, self.imports)
        })?;
        Some(Unproven {
            path: self.path.clone(),
            span: Some(self.span),
            kind: UnprovenKind::Condition,
            name: missing.name.clone(),
            why: why(missing),
        })
    }
}

/// The text of a file once the plan is applied.
fn planned_text(plan: &LanguagePlan, path: &TreePath, text: &str) -> String {
    let edits = plan.edits.get(path).cloned().unwrap_or_default();
    let edits = EditSet::from_edits(text, edits).ok();
    let planned = edits.and_then(|edits| edits.apply(text).ok());
    planned.unwrap_or_else(|| text.to_owned())
}

/// What moves from one file to another.
pub(crate) fn going(mapping: &Mapping<'_>) -> Vec<Going> {
    let graph = mapping.graph;
    let modules = graph.modules.iter().enumerate();
    let modules = modules.filter_map(|(at, module)| {
        let (name, file) = (mapping.new_name(at)?, mapping.files.get(&module.path)?);
        let source = module.path.extension() == Some("py") && !mapping.goes_away(at);
        source.then(|| Going {
            name: module.name.clone(),
            source: at,
            was: ModulePlace::of(module),
            is: ModulePlace {
                name: name.to_owned(),
                file: file.clone(),
                is_package: module.package,
            },
            item: None,
        })
    });
    let items = mapping.items.list.iter().filter(|moved| moved.travels());
    let items = items.filter_map(|moved| {
        let target = moved.target.and_then(|target| graph.modules.get(target));
        let module = graph.modules.get(moved.source)?;
        Some(Going {
            name: moved.change.from.clone(),
            source: moved.source,
            was: ModulePlace::of(module),
            is: ModulePlace {
                name: moved.parent.clone(),
                file: moved.path_after(mapping)?,
                is_package: target.is_some_and(|target| target.package),
            },
            item: Some(moved.item.clone()),
        })
    });
    modules.chain(items).collect()
}

/// Whether something that is built imports what goes, or goes on using it.
fn is_needed(
    mapping: &Mapping<'_>,
    texts: &dyn Texts,
    going: &Going,
    built: &dyn Fn(usize) -> bool,
) -> bool {
    let graph = mapping.graph;
    let goes_to = graph.find(None, &going.is.name);
    let mut changes = mapping.all.iter().filter(|change| match change.subject {
        Subject::Item => going.item.is_some() && change.from == going.name,
        _ => going.item.is_none() && change.from == going.name,
    });
    let uses_itself = going.item.as_ref().is_some_and(|item| {
        let module = graph.modules.get(going.source);
        let text = module.and_then(|module| texts.text(&module.path));
        let used = |line: &&str| occurrences_of_word(line, item);
        text.is_some_and(|text| text.lines().filter(used).count() > 1)
    });
    let mut imports = graph.imports.iter();
    let imported = imports.any(|import| {
        import.target == ImportTarget::Module(going.source)
            && import.importer != going.source
            && Some(import.importer) != goes_to
            && built(import.importer)
    });
    imported || uses_itself || changes.any(|change| change.shim.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Vec<String> {
        let found = paths(text).unwrap_or_default();
        found.into_iter().map(|entry| entry.name).collect()
    }

    #[test]
    fn poetry_says_where_a_package_lies() {
        for text in [
            "[tool.poetry]\npackages = [{ include = \"ph\", from = \"src\" }, { include = \"x.py\" }]\n",
            "[[tool.poetry.packages]]\ninclude = \"ph\"\nfrom = \"src\"\n[[tool.poetry.packages]]\ninclude = \"x.py\"\n",
        ] {
            assert_eq!(named(text), ["src/ph", "x.py"]);
        }
    }

    #[test]
    fn builds_name_modules_and_patterns() {
        let flit = "[tool.flit.module]\nname = \"ph\"\n";
        assert_eq!(named(flit), ["ph", "ph.py", "src/ph", "src/ph.py"]);
        let uv = "[tool.uv.build-backend]\nmodule-name = [\"ph.a\"]\nmodule-root = \"\"\n";
        assert_eq!(named(uv), ["ph/a", "ph/a.py"]);
        let hatch = "[tool.hatch.build]\ninclude = [\"*.py\", \"/ph\"]\n";
        assert_eq!(named(hatch), ["**/*.py", "/ph"]);
    }
}
