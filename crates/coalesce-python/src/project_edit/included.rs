//! Builds that are told by lists what they take: packages by their names, folders and files by their paths. What goes
//! where no list reaches is not installed, and who imports it is.

use coalesce_model::{
    ByteSpan, EditSet, ImportTarget, LanguagePlan, Module, Subject, Texts, TreePath, Unproven,
    UnprovenKind, change::Renames, texts::start_of_text,
};
use toml_edit::{Document, Item, Value};

use super::{Entry, ListKind, builds::GOING_BY_PROJECT, lists, project_files};
use crate::{
    names::occurrences_of_word,
    rewrite::{Mapping, fits},
};

/// Keys of lists of paths, as builds have them.
const PATHS: [&[&str]; 9] = [
    &["tool", "hatch", "build", "targets", "wheel", "packages"],
    &["tool", "hatch", "build", "targets", "wheel", "include"],
    &["tool", "hatch", "build", "targets", "wheel", "only-include"],
    &["tool", "hatch", "build", "packages"],
    &["tool", "hatch", "build", "include"],
    &["tool", "hatch", "build", "only-include"],
    &["tool", "scikit-build", "wheel", "packages"],
    &["tool", "pdm", "build", "includes"],
    &["tool", "poetry", "packages"],
];

/// The key of what is taken besides.
const MORE: &[&str] = &["tool", "poetry", "include"];

/// Where the names of projects stand.
const NAMES: [&[&str]; 2] = [&["project", "name"], &["tool", "poetry", "name"]];

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
            let path = around.join(entry.name.trim_matches('/'));
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

/// Whether a path of a list is that of a file, of a folder around it, or a pattern that it fits.
fn reaches(path: &str, file: &str) -> bool {
    let path = path.trim_start_matches("./").trim_matches('/');
    let rest = file.strip_prefix(path);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || path.is_empty())
        || path.contains('*') && fits(&path.replace("**/", "*"), file)
}

fn paths(text: &str) -> Option<Vec<Entry>> {
    let start = start_of_text(text) as usize;
    let document = Document::parse(text.get(start..)?).ok()?;
    let listed = |keys: &[&str]| {
        let mut keys = keys.iter();
        let list = keys.try_fold(document.as_item(), |item, key| item.get(key));
        let list = list.and_then(Item::as_array).into_iter().flatten();
        let entries = list.filter_map(|value| entry(value, start));
        entries.collect::<Vec<Entry>>()
    };
    let mut found: Vec<Entry> = PATHS.into_iter().flat_map(listed).collect();
    if found.is_empty() {
        found = by_project(&document, start).unwrap_or_default();
    }
    found.extend(listed(MORE));
    Some(found)
}

/// What a build takes that has no list and goes by the name of the project.
fn by_project(document: &Document<&str>, start: usize) -> Option<Vec<Entry>> {
    let backend = document.get("build-system")?.get("build-backend")?;
    let backend = backend.as_str()?;
    let goes_by = GOING_BY_PROJECT.iter().any(|known| backend.contains(known));
    let mut names = NAMES.iter().filter_map(|keys| {
        let mut keys = keys.iter();
        keys.try_fold(document.as_item(), |item, key| item.get(key))
    });
    let name = names.next().filter(|_| goes_by)?;
    let called = name.as_str()?.to_lowercase().replace(['-', '.'], "_");
    let span = name.span()?;
    let paths = [
        called.clone(),
        format!("src/{called}"),
        format!("{called}.py"),
    ];
    let entries = paths.map(|name| Entry {
        name,
        span: ByteSpan::from_range(span.start + start..span.end + start),
    });
    Some(entries.into())
}

/// One path of a list: a text, or a table that says where it lies (`{ include = "pkg", from = "src" }`).
fn entry(value: &Value, start: usize) -> Option<Entry> {
    let span = value.span()?;
    let name = match value.as_inline_table() {
        Some(table) => {
            let text = |key: &str| table.get(key).and_then(Value::as_str);
            let from = text("from").map(|from| format!("{}/", from.trim_end_matches('/')));
            format!("{}{}", from.unwrap_or_default(), text("include")?)
        }
        None => value.as_str()?.to_owned(),
    };
    Some(Entry {
        name,
        span: ByteSpan::from_range(span.start + start..span.end + start),
    })
}

/// A module, and its file.
struct ModulePlace {
    name: String,
    file: TreePath,
    is_package: bool,
}

impl ModulePlace {
    fn of(module: &Module) -> Self {
        Self {
            name: module.name.clone(),
            file: module.path.clone(),
            is_package: module.package,
        }
    }
}

/// Something that goes to another file.
struct Going {
    name: String,
    source: usize,
    /// Its module before and afterwards.
    was: ModulePlace,
    is: ModulePlace,
    /// The item that goes, where it is not the module.
    item: Option<String>,
}

/// Holds what moves against the lists of the project that it is in, before and after.
pub fn check(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let going = going(mapping);
    if going.is_empty() {
        return;
    }
    for (path, text) in project_files(texts) {
        let before = BuildLists::of(&path, &text);
        let Some(span) = before.place() else { continue };
        let around = path.parent().unwrap_or_else(TreePath::root);
        let edits = plan.edits.get(&path).cloned().unwrap_or_default();
        let edits = EditSet::from_edits(&text, edits).ok();
        let planned = edits.and_then(|edits| edits.apply(&text).ok());
        let after = BuildLists::of(&path, planned.as_deref().unwrap_or(&text));
        let after = after.followed(mapping, &around);
        let has = |lists: &BuildLists, place: &ModulePlace| {
            let below = place.file.strip_prefix(&around);
            below.is_some_and(|below| lists.has(place, below))
        };
        let built = |module: usize| {
            let module = mapping.graph.modules.get(module);
            module.is_some_and(|module| has(&before, &ModulePlace::of(module)))
        };
        let lost = going.iter().find(|going| {
            has(&before, &going.was)
                && !has(&after, &going.is)
                && is_needed(mapping, texts, going, &built)
        });
        plan.unproven.extend(lost.map(|going| Unproven {
            path: path.clone(),
            span: Some(span),
            kind: UnprovenKind::Condition,
            name: going.name.clone(),
            why: format!(
                "this says what is built, and not `{}`, which something of it imports",
                going.is.name
            ),
        }));
    }
}

/// What moves from one file to another.
fn going(mapping: &Mapping<'_>) -> Vec<Going> {
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

    #[test]
    fn lists_reach_files_and_what_lies_in_folders() {
        for (path, file, expected) in [
            ("ph", "ph/gpu/run.py", true),
            ("ph", "ph_runner.py", false),
            ("src/ph/", "src/ph/run.py", true),
            ("ph_extra.py", "ph_extra.py", true),
            ("ph/**/*.py", "ph/gpu/run.py", true),
            ("ph/**/*.py", "ph/run.py", true),
            ("*.py", "ph_runner.py", true),
        ] {
            assert_eq!(reaches(path, file), expected, "{path} {file}");
        }
    }

    #[test]
    fn poetry_says_where_a_package_lies() {
        let text = "[tool.poetry]\npackages = [{ include = \"ph\", from = \"src\" }, { include = \"x.py\" }]\n";
        let found = paths(text).unwrap_or_default();
        let found: Vec<&str> = found.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(found, ["src/ph", "x.py"]);
    }
}
