//! Import roots that `pyproject.toml` and `setup.cfg` declare.

use coalesce_model::TreePath;

use crate::facts::PythonFacts;

/// The facts of a project file; a malformed one declares nothing.
pub fn facts(path: &TreePath, text: &str) -> PythonFacts {
    let declared_roots = match path.file_name() {
        "pyproject.toml" => pyproject(text).unwrap_or_default(),
        _ => setup_cfg(text),
    };
    PythonFacts {
        declared_roots,
        ..PythonFacts::default()
    }
}

fn pyproject(text: &str) -> Option<Vec<(String, String)>> {
    let document = toml_edit::Document::parse(text.trim_start_matches('\u{feff}')).ok()?;
    let at = |keys: &[&str]| {
        keys.iter()
            .try_fold(document.as_item(), |item, key| item.get(key))
    };
    let mut roots = Vec::new();
    let mut declare = |item: Option<&toml_edit::Item>, reason: &str| {
        let strings = item.into_iter().flat_map(strings);
        roots.extend(strings.map(|root| (root, format!("declared by {reason} in pyproject.toml"))));
    };
    declare(
        at(&["tool", "setuptools", "packages", "find", "where"]),
        "[tool.setuptools.packages.find]",
    );
    declare(
        at(&["tool", "setuptools", "package-dir", ""]),
        "[tool.setuptools.package-dir]",
    );
    declare(
        at(&["tool", "pytest", "ini_options", "pythonpath"]),
        "[tool.pytest.ini_options]",
    );
    declare(
        at(&["tool", "hatch", "build", "targets", "wheel", "sources"]),
        "[tool.hatch]",
    );
    declare(at(&["tool", "maturin", "python-source"]), "[tool.maturin]");
    let poetry = at(&["tool", "poetry", "packages"]).and_then(toml_edit::Item::as_array);
    let from = poetry
        .into_iter()
        .flatten()
        .filter_map(|package| package.as_inline_table()?.get("from")?.as_str());
    roots.extend(from.map(|root| {
        (
            root.to_owned(),
            "declared by [tool.poetry] in pyproject.toml".to_owned(),
        )
    }));
    Some(roots)
}

fn strings(item: &toml_edit::Item) -> Vec<String> {
    match item.as_array() {
        Some(array) => array
            .iter()
            .filter_map(|value| value.as_str().map(str::to_owned))
            .collect(),
        None => item.as_str().map(str::to_owned).into_iter().collect(),
    }
}

/// `package_dir` and `where` of setuptools' own format.
fn setup_cfg(text: &str) -> Vec<(String, String)> {
    let mut roots = Vec::new();
    let mut key = String::new();
    for line in text.lines() {
        if line.starts_with('[') {
            key.clear();
        } else if let Some((name, value)) = line
            .split_once('=')
            .filter(|_| !line.starts_with([' ', '\t']))
        {
            key = name.trim().to_owned();
            roots.extend(root_of(&key, value));
        } else {
            roots.extend(root_of(&key, line));
        }
    }
    roots
}

fn root_of(key: &str, value: &str) -> Option<(String, String)> {
    let value = match key {
        "where" => value.trim(),
        "package_dir" => value.trim().strip_prefix('=')?.trim(),
        _ => return None,
    };
    (!value.is_empty()).then(|| (value.to_owned(), format!("declared by {key} in setup.cfg")))
}
