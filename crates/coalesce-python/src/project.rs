//! What project files declare: import roots, compiled modules, and what is always installed along.

mod distribution;
mod setup;

use coalesce_model::{Texts, TreePath};
use toml_edit::{Item, TableLike};

use crate::facts::{DeclaredDistribution, PythonFacts};

pub use distribution::{NAME_OF_MODULE, NAMES};
pub use setup::setup_py;

/// The facts of a project file; a malformed one declares nothing.
pub fn facts(path: &TreePath, text: &str) -> PythonFacts {
    match path.file_name() {
        "pyproject.toml" => pyproject(text).unwrap_or_default(),
        _ => setup_cfg(text),
    }
}

/// A document by its keys.
pub struct Document<'d>(&'d Item);

impl<'d> Document<'d> {
    pub fn new(item: &'d Item) -> Self {
        Self(item)
    }

    pub fn at(&self, keys: &[&str]) -> Option<&'d Item> {
        keys.iter().try_fold(self.0, |item, key| item.get(key))
    }

    fn strings(&self, keys: &[&str]) -> Vec<String> {
        self.at(keys).map(strings).unwrap_or_default()
    }
}

fn pyproject(text: &str) -> Option<PythonFacts> {
    let document = toml_edit::Document::parse(text.trim_start_matches('\u{feff}')).ok()?;
    let document = Document(document.as_item());
    Some(PythonFacts {
        declared_roots: roots(&document),
        requirements: requirements(&document),
        distribution: distribution::of_pyproject(&document),
        extensions: extensions(&document),
        ..PythonFacts::default()
    })
}

/// Whether a directory has a project file of something that an index of packages takes.
pub fn is_published(texts: &dyn Texts, directory: &TreePath) -> bool {
    let text = |name: &str| texts.text(&directory.join(name).ok()?);
    text("setup.py").is_some()
        || text("setup.cfg")
            .is_some_and(|text| text.lines().any(|line| line.trim() == "[metadata]"))
        || text("pyproject.toml").is_some_and(|text| names_a_package(&text).unwrap_or(false))
}

fn names_a_package(pyproject: &str) -> Option<bool> {
    let document = toml_edit::Document::parse(pyproject.trim_start_matches('\u{feff}')).ok()?;
    let document = Document(document.as_item());
    let tables: [&[&str]; 3] = [
        &["project"],
        &["tool", "poetry"],
        &["tool", "flit", "metadata"],
    ];
    Some(tables.iter().any(|keys| document.at(keys).is_some()))
}

/// Keys that name import roots, and what a reader knows the table as.
const ROOTS: [(&[&str], &str); 8] = [
    (
        &["tool", "setuptools", "packages", "find", "where"],
        "[tool.setuptools.packages.find]",
    ),
    (
        &["tool", "setuptools", "package-dir", ""],
        "[tool.setuptools.package-dir]",
    ),
    (
        &["tool", "pytest", "ini_options", "pythonpath"],
        "[tool.pytest.ini_options]",
    ),
    (
        &["tool", "hatch", "build", "targets", "wheel", "sources"],
        "[tool.hatch]",
    ),
    (&["tool", "hatch", "build", "sources"], "[tool.hatch]"),
    (&["tool", "maturin", "python-source"], "[tool.maturin]"),
    (&["tool", "pdm", "build", "package-dir"], "[tool.pdm.build]"),
    (
        &["tool", "uv", "build-backend", "module-root"],
        "[tool.uv.build-backend]",
    ),
];

/// Lists of package directories, which say where each of them lies.
const PACKAGE_LISTS: [(&[&str], &str); 3] = [
    (
        &["tool", "hatch", "build", "targets", "wheel", "packages"],
        "[tool.hatch]",
    ),
    (&["tool", "hatch", "build", "packages"], "[tool.hatch]"),
    (
        &["tool", "scikit-build", "wheel", "packages"],
        "[tool.scikit-build]",
    ),
];

fn roots(document: &Document<'_>) -> Vec<(String, String)> {
    let mut roots = Vec::new();
    for (keys, table) in ROOTS {
        let named = document.strings(keys).into_iter();
        roots.extend(named.map(|root| declared_by(root, table)));
    }
    let poetry = document.at(&["tool", "poetry", "packages"]);
    let poetry = poetry.into_iter().flat_map(tables_of);
    let from = poetry.filter_map(|package| package.get("from")?.as_str());
    roots.extend(from.map(|root| declared_by(root.to_owned(), "[tool.poetry]")));
    for (keys, table) in PACKAGE_LISTS {
        let packages = document.strings(keys);
        let above = packages
            .iter()
            .filter_map(|package| package.rsplit_once('/'));
        roots.extend(above.map(|(above, _)| declared_by(above.to_owned(), table)));
    }
    roots
}

/// The tables of a list, in whichever of both forms it is written.
pub fn tables_of(list: &Item) -> Vec<&dyn TableLike> {
    match list {
        Item::ArrayOfTables(tables) => tables.iter().map(|table| table as &dyn TableLike).collect(),
        _ => {
            let values = list.as_array().into_iter().flatten();
            let tables = values.filter_map(toml_edit::Value::as_inline_table);
            tables.map(|table| table as &dyn TableLike).collect()
        }
    }
}

fn declared_by(root: String, table: &str) -> (String, String) {
    (root, format!("declared by {table} in pyproject.toml"))
}

/// Distributions that are installed with the project, whatever is asked for.
fn requirements(document: &Document<'_>) -> Vec<String> {
    let listed = document.strings(&["project", "dependencies"]);
    let mut names: Vec<String> = listed.iter().map(|line| distribution(line)).collect();
    let poetry = document
        .at(&["tool", "poetry", "dependencies"])
        .and_then(Item::as_table_like);
    for (name, value) in poetry.into_iter().flat_map(|table| table.iter()) {
        let optional = value.get("optional").and_then(Item::as_bool) == Some(true);
        if name != "python" && !optional {
            names.push(distribution(name));
        }
    }
    names
}

/// Whether a file is what a build says of a project: beside an unpacked package, or at the top of a
/// source distribution.
pub fn is_metadata(path: &TreePath) -> bool {
    match path.file_name() {
        "PKG-INFO" => true,
        "METADATA" => path
            .parent()
            .is_some_and(|parent| parent.extension() == Some("dist-info")),
        _ => false,
    }
}

/// What is installed along, as a build says it: `Requires-Dist` that no extra asks for. Unlike a
/// project file it knows what was worked out when it was built.
pub fn metadata(text: &str) -> PythonFacts {
    // A line of blanks goes on with the header above it, as a licence does.
    let headers = text.lines().take_while(|line| !line.is_empty());
    let listed = headers.filter_map(|line| line.strip_prefix("Requires-Dist:"));
    let always = listed.filter(|line| {
        let marker = line.split_once(';').map_or("", |(_, marker)| marker);
        !marker.contains("extra")
    });
    PythonFacts {
        requirements: always.map(|line| distribution(line.trim())).collect(),
        ..PythonFacts::default()
    }
}

/// The name of a requirement, in the spelling that indexes compare by.
pub fn distribution(line: &str) -> String {
    let end = line.find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.')));
    let name = line.get(..end.unwrap_or(line.len())).unwrap_or_default();
    name.to_lowercase().replace(['-', '.'], "_")
}

/// Compiled modules that the build makes.
fn extensions(document: &Document<'_>) -> Vec<String> {
    let mut names = document.strings(&["tool", "maturin", "module-name"]);
    let lists: [(&[&str], &str); 2] = [
        (&["tool", "setuptools", "ext-modules"], "name"),
        (&["tool", "setuptools-rust", "ext-modules"], "target"),
    ];
    for (keys, key) in lists {
        let Some(list) = document.at(keys) else {
            continue;
        };
        let inline = list.as_array().into_iter().flatten();
        names.extend(
            inline.filter_map(|each| Some(each.as_inline_table()?.get(key)?.as_str()?.to_owned())),
        );
        let tables = list.as_array_of_tables().into_iter().flatten();
        names.extend(tables.filter_map(|each| Some(each.get(key)?.as_str()?.to_owned())));
    }
    names
}

fn strings(item: &Item) -> Vec<String> {
    match item.as_array() {
        Some(array) => array
            .iter()
            .filter_map(|value| value.as_str().map(str::to_owned))
            .collect(),
        None => item.as_str().map(str::to_owned).into_iter().collect(),
    }
}

/// `package_dir`, `where` and `install_requires` of setuptools' own format.
fn setup_cfg(text: &str) -> PythonFacts {
    let mut found = PythonFacts::default();
    let (mut key, mut section) = (String::new(), "");
    for line in text.lines() {
        if line.starts_with('[') {
            key.clear();
            section = line.trim();
            continue;
        }
        let pair = line.split_once('=');
        let value = match pair.filter(|_| !line.starts_with([' ', '\t'])) {
            Some((name, rest)) => {
                name.trim().clone_into(&mut key);
                rest
            }
            None => line,
        };
        setup_value(&mut found, &key, value);
        distribution_value(&mut found.distribution, (section, &key), value.trim());
    }
    found
}

/// One value of a key of `setup.cfg`.
fn setup_value(found: &mut PythonFacts, key: &str, value: &str) {
    let value = value.trim();
    let root = match key {
        "where" => Some(value),
        "package_dir" => value.strip_prefix('=').map(str::trim),
        "install_requires" if !value.is_empty() && !value.starts_with('#') => {
            found.requirements.push(distribution(value));
            None
        }
        _ => None,
    };
    if let Some(root) = root.filter(|root| !root.is_empty()) {
        let reason = format!("declared by {key} in setup.cfg");
        found.declared_roots.push((root.to_owned(), reason));
    }
}

/// One value of a key of `setup.cfg`, as far as it says something of the distribution.
fn distribution_value(found: &mut DeclaredDistribution, (section, key): (&str, &str), value: &str) {
    match (section, key) {
        _ if value.is_empty() || value.starts_with('#') => {}
        ("[metadata]", "name") => found.name = Some(value.to_owned()),
        ("[options]", "install_requires") => found.worked_out |= value.starts_with("file:"),
        ("[options.extras_require]", _) | ("[options]", "tests_require") => {
            found.on_request.push(distribution(value));
        }
        _ => {}
    }
}
