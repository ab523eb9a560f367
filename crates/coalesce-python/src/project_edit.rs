//! Hand-written lists of packages: packages that come into being are added to them; and of modules.
//!
//! Entries that name a package which moves are full names, and change as such elsewhere; nothing
//! else of a project file is touched here.

mod builds;
mod checkers;
mod included;
mod modules;
mod shipped;
mod tools;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use coalesce_model::{
    ByteSpan, Change, ChangeKind, Edit, Finding, LanguagePlan, Severity, Texts, TreePath,
    change::Renames, finding::codes, texts::start_of_text,
};

use ruff_python_ast::{
    self as ast, Expr,
    visitor::{self, Visitor},
};

use crate::{
    analysis::shift,
    extract::is_dotted,
    extract::is_identifier,
    parser::{parse_module, statements},
    project::Document,
    rewrite::Mapping,
};

/// What a list of a project file holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ListKind {
    Packages,
    /// Modules at the top that are in no package.
    Modules,
}

impl ListKind {
    /// Its key in `pyproject.toml`.
    const fn in_pyproject(self) -> &'static str {
        match self {
            Self::Packages => "packages",
            Self::Modules => "py-modules",
        }
    }

    /// Its key in setuptools' own format, and in calls of `setup`.
    const fn in_setup(self) -> &'static str {
        match self {
            Self::Packages => "packages",
            Self::Modules => "py_modules",
        }
    }
}

pub use builds::names_in_builds;
pub use checkers::checked_otherwise;
pub use included::check as check_what_is_built;
pub(crate) use included::{Going, going};
pub use modules::module_lists;
pub use tools::{modules_in_heads, names_in_settings};

/// One entry of a list.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    name: String,
    /// With its quotes.
    span: ByteSpan,
}

/// Adds packages that the plan makes to the lists that name their neighbours.
pub fn package_lists(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let new = new_packages(mapping, plan);
    if new.is_empty() {
        return;
    }
    for (path, text) in project_files(texts) {
        let lists = lists(&path, &text, ListKind::Packages);
        let all = lists
            .iter()
            .flat_map(|list| new.iter().map(move |name| (list, name)));
        for (list, name) in all {
            add(mapping, &path, &text, list, name, plan);
        }
    }
}

/// The project files of a tree, with their texts.
fn project_files(texts: &dyn Texts) -> Vec<(TreePath, Arc<str>)> {
    let files = texts.paths().iter().filter(|path| {
        matches!(
            path.file_name(),
            "pyproject.toml" | "setup.cfg" | "setup.py"
        )
    });
    files
        .filter_map(|path| Some((path.clone(), texts.text(path)?)))
        .collect()
}

/// Regular packages that are there after the plan and whose names were not before, or that stay as
/// shims while their entry follows the move.
fn new_packages(mapping: &Mapping<'_>, plan: &LanguagePlan) -> BTreeSet<String> {
    let mut new = BTreeSet::new();
    let made: BTreeMap<&TreePath, ()> = plan.creates.iter().map(|file| (&file.path, ())).collect();
    let items = mapping.items.list.iter().filter(|moved| moved.travels());
    let directories = items.map(|moved| {
        let file = moved.path_after(mapping);
        (&moved.parent, file.and_then(|file| file.parent()))
    });
    for (name, directory) in directories {
        new.extend(made_above((name, directory), &made));
    }
    for change in &mapping.changes {
        let directory = directory_after(mapping, change);
        new.extend(made_above((&change.to, directory), &made));
        let shimmed = mapping
            .graph
            .modules
            .iter()
            .filter(|module| module.package && made.contains_key(&module.path));
        new.extend(shimmed.map(|module| module.name.clone()));
    }
    new
}

/// The directory where what a change moves lies afterwards.
fn directory_after(mapping: &Mapping<'_>, change: &Change) -> Option<TreePath> {
    let graph = mapping.graph;
    let module = graph.find(None, &change.from);
    let module = module.and_then(|index| graph.modules.get(index));
    let module = module.filter(|_| change.kind == ChangeKind::Move)?;
    let directory = mapping.files.get(&module.path)?.parent()?;
    match module.package {
        // Its own entry is renamed; one that was not listed before stays so.
        true => directory.parent(),
        false => Some(directory),
    }
}

/// The packages around what goes to a name, in a directory, that the plan makes.
fn made_above(
    (name, mut directory): (&str, Option<TreePath>),
    made: &BTreeMap<&TreePath, ()>,
) -> Vec<String> {
    let mut name = name;
    let mut new = Vec::new();
    while let (Some(package), Some((above, _))) = (directory, name.rsplit_once('.')) {
        let file = package.join("__init__.py");
        let is_made = file.is_ok_and(|file| made.contains_key(&file));
        new.extend(is_made.then(|| above.to_owned()));
        (name, directory) = (above, package.parent());
    }
    new
}

/// The lists of a kind in a project file.
fn lists(path: &TreePath, text: &str, kind: ListKind) -> Vec<Vec<Entry>> {
    let lists = match path.file_name() {
        "pyproject.toml" => pyproject(text, kind).into_iter().collect(),
        "setup.cfg" => vec![setup_cfg(text, kind)],
        _ => setup_py(text, kind),
    };
    lists
        .into_iter()
        .filter(|list: &Vec<Entry>| !list.is_empty())
        .collect()
}

fn pyproject(text: &str, kind: ListKind) -> Option<Vec<Entry>> {
    let bom = start_of_text(text) as usize;
    let document = toml_edit::Document::parse(text.get(bom..)?).ok()?;
    let document = Document::new(document.as_item());
    let list = document.at(&["tool", "setuptools", kind.in_pyproject()])?;
    let entry = |value: &toml_edit::Value| {
        let span = value.span()?;
        Some(Entry {
            name: value.as_str()?.to_owned(),
            span: ByteSpan::from_range(span.start + bom..span.end + bom),
        })
    };
    list.as_array()?.iter().map(entry).collect()
}

/// `packages =` of setuptools' own format: a name on each line, or those beside the key with commas between.
fn setup_cfg(text: &str, kind: ListKind) -> Vec<Entry> {
    let mut entries = Vec::new();
    let (mut inside, mut at) = (false, 0);
    let mut section = "";
    for line in text.split_inclusive('\n') {
        let content = line.trim();
        if line.starts_with('[') {
            section = content;
        }
        let mut take = |name: &str, from: usize| {
            let is_name = is_dotted(name) || is_identifier(name);
            let start = at + from;
            entries.extend(is_name.then(|| Entry {
                name: name.to_owned(),
                span: ByteSpan::from_range(start..start + name.len()),
            }));
            is_name
        };
        let indented = line.starts_with([' ', '\t']);
        let taken = inside && indented && take(content, line.len() - line.trim_start().len());
        if !taken && !content.is_empty() && !content.starts_with('#') {
            let pair = line.split_once('=');
            let value = pair.filter(|(key, _)| key.trim() == kind.in_setup());
            let value = value.map(|(_, value)| value);
            inside = value.is_some_and(|value| {
                // Other tools have such a key, too.
                let listed = section == "[options]" && value.contains(',');
                let listed = kind == ListKind::Modules || listed;
                value.trim().is_empty() || listed && take_all(value, &mut take, line.len())
            });
        }
        at += line.len();
    }
    entries
}

/// Takes the names of a value at the end of a line, up to the first that is none.
fn take_all(value: &str, take: &mut dyn FnMut(&str, usize) -> bool, end: usize) -> bool {
    let mut at = end - value.len();
    value.split(',').all(|part| {
        let from = at + part.len() - part.trim_start().len();
        at += part.len() + 1;
        take(part.trim(), from)
    })
}

/// `packages=["a", "a.b"]` in a call or an assignment, or by the name of such a list. Only a list of nothing but literals is one
/// that somebody wrote by hand; a comprehension or a sum is left alone.
fn setup_py(text: &str, kind: ListKind) -> Vec<Vec<Entry>> {
    let (parsed, start) = parse_module(text);
    let mut found = NameLists {
        key: kind.in_setup(),
        names: vec![kind.in_setup().to_owned()],
        start,
        lists: Vec::new(),
    };
    found.visit_body(statements(&parsed));
    if found.names.len() > 1 {
        // The list stands above the call that names it.
        found.lists.clear();
        found.visit_body(statements(&parsed));
    }
    found.lists
}

struct NameLists {
    /// The argument that is such a list.
    key: &'static str,
    /// What such lists are called: as the argument, and as it is given one by name.
    names: Vec<String>,
    /// Bytes before what was parsed.
    start: u32,
    lists: Vec<Vec<Entry>>,
}

impl NameLists {
    fn list(&mut self, value: &Expr) {
        let Expr::List(list) = value else {
            return;
        };
        let entries = list.elts.iter().map(|element| match element {
            Expr::StringLiteral(literal) => Some(Entry {
                name: literal.value.to_str().to_owned(),
                span: shift(literal.range, self.start),
            }),
            _ => None,
        });
        self.lists.extend(entries.collect::<Option<Vec<Entry>>>());
    }
}

impl<'a> Visitor<'a> for NameLists {
    fn visit_stmt(&mut self, statement: &'a ast::Stmt) {
        if let ast::Stmt::Assign(assign) = statement
            && let [Expr::Name(name)] = assign.targets.as_slice()
            && self.names.iter().any(|known| known == name.id.as_str())
        {
            self.list(&assign.value);
        }
        visitor::walk_stmt(self, statement);
    }

    fn visit_keyword(&mut self, keyword: &'a ast::Keyword) {
        let named = keyword.arg.as_ref();
        if named.is_some_and(|name| name.as_str() == self.key) {
            self.list(&keyword.value);
            let given = keyword.value.as_name_expr().map(|name| name.id.to_string());
            let given = given.filter(|given| !self.names.contains(given));
            self.names.extend(given);
        }
        visitor::walk_keyword(self, keyword);
    }
}

fn add(
    mapping: &Mapping<'_>,
    path: &TreePath,
    text: &str,
    list: &[Entry],
    name: &str,
    plan: &mut LanguagePlan,
) {
    let own_entry = list.iter().position(|entry| entry.name == name);
    if !joins(mapping, list, name, own_entry.is_some()) {
        return;
    }
    let place = own_entry.or_else(|| place_in_order(list, name));
    let Some(entry) = list.get(place.unwrap_or(list.len() - 1)) else {
        return;
    };
    let edit = insertion(path, text, entry, name);
    plan.notes.push(joined(path, entry, name, "packages"));
    join_edit(plan.edits.entry(path.clone()).or_default(), edit);
}

/// Adds an edit: two packages that join at one place are one.
fn join_edit(edits: &mut Vec<Edit>, edit: Edit) {
    let mut others = edits.iter_mut();
    match others.find(|other| other.span == edit.span && edit.span.is_empty()) {
        Some(other) if !other.text.contains(&edit.text) => other.text.push_str(&edit.text),
        Some(_) => {}
        None => edits.push(edit),
    }
}

/// Whether a package is to be listed where its neighbours are.
fn joins(mapping: &Mapping<'_>, list: &[Entry], name: &str, was_listed: bool) -> bool {
    let renames = Renames::new(&mapping.changes, ".");
    let after = |entry: &Entry| renames.name_after(&entry.name);
    let top = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let known = list.iter().any(|entry| after(entry) == name);
    let neighbours = list.iter().any(|entry| top(&entry.name) == top(name));
    // A list that names none of the packages below its top has them from elsewhere.
    let below_top = format!("{}.", top(name));
    let below = |name: &str| name.starts_with(&below_top);
    let modules = &mapping.graph.modules;
    let partial = !list.iter().any(|entry| below(&entry.name))
        && modules
            .iter()
            .any(|module| module.package && below(&module.name));
    // A shim's package is listed again only where it was.
    let was_package = mapping.graph.find(None, name).is_some();
    !known && !partial && neighbours && (!was_package || was_listed)
}

/// The entry that a name comes after, in a list that is sorted.
fn place_in_order(list: &[Entry], name: &str) -> Option<usize> {
    let mut pairs = list.windows(2);
    let sorted = pairs.all(|pair| matches!(pair, [a, b] if a.name <= b.name));
    let before = || list.iter().rposition(|entry| entry.name.as_str() < name);
    sorted.then(before).flatten()
}

fn joined(path: &TreePath, entry: &Entry, name: &str, what: &str) -> Finding {
    Finding {
        code: codes::UNSAFE_CHANGE,
        severity: Severity::Note,
        path: path.clone(),
        span: Some(entry.span),
        message: format!("`{name}` joins the list of {what}"),
        help: None,
    }
}

/// An entry after another one, written as that one is.
fn insertion(path: &TreePath, text: &str, entry: &Entry, name: &str) -> Edit {
    let before = text.get(..entry.span.start as usize).unwrap_or_default();
    let indentation = before.rsplit('\n').next().unwrap_or_default();
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let own_line = indentation.trim().is_empty() && before.contains('\n');
    if path.file_name() == "setup.cfg" {
        let is_line_of_names = !own_line && list_goes_on(text, entry);
        if is_line_of_names {
            return Edit::insert(entry.span.end, format!(", {name}"));
        }
        let indentation = if own_line { indentation } else { "    " };
        return Edit::insert(entry.span.end, format!("{newline}{indentation}{name}"));
    }
    let written = text.get(entry.span.start as usize..).unwrap_or_default();
    let quote = written.chars().next().unwrap_or('"');
    let rest = text.get(entry.span.end as usize..).unwrap_or_default();
    let comma = rest.starts_with(',');
    match (own_line, comma) {
        // After the comment that belongs to the entry.
        (true, true) => Edit::insert(
            entry.span.end + line_length(rest),
            format!("{newline}{indentation}{quote}{name}{quote},"),
        ),
        (true, false) => Edit::insert(
            entry.span.end,
            format!(",{newline}{indentation}{quote}{name}{quote}"),
        ),
        (false, _) => Edit::insert(entry.span.end, format!(", {quote}{name}{quote}")),
    }
}

/// Whether a comma stands on the line of an entry of `setup.cfg`, so that names have commas between.
fn list_goes_on(text: &str, entry: &Entry) -> bool {
    let (before, after) = text.split_at(entry.span.end as usize);
    let before = before.rsplit('\n').next().unwrap_or_default();
    let after = after.split('\n').next().unwrap_or_default();
    before.contains(',') || after.contains(',')
}

/// Bytes up to the end of the line.
fn line_length(rest: &str) -> u32 {
    let line = rest.split(['\r', '\n']).next().unwrap_or_default();
    u32::try_from(line.len()).unwrap_or(0)
}
