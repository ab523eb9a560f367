//! Guard tests for the user's own suite: nothing imports the old name, the shim warns, and both
//! names give the same object.

use std::collections::BTreeMap;

use coalesce_model::{Change, LanguageKind};

/// The test files to write, `(file name, text)`, one for each language that the changes concern
/// and that has a guard: Python. Rust needs none, the compiler is the guard; `check` holds the rest.
#[must_use]
pub fn guard_tests(changes: &BTreeMap<LanguageKind, Vec<Change>>) -> Vec<(String, String)> {
    let Some(changes) = changes
        .get(&LanguageKind::Python)
        .filter(|changes| !changes.is_empty())
    else {
        return Vec::new();
    };
    vec![("test_migration_guard.py".to_owned(), python(changes))]
}

fn python(changes: &[Change]) -> String {
    let rows = |shimmed: bool| -> String {
        let fits = changes
            .iter()
            .filter(|change| change.shim.is_some() == shimmed);
        fits.map(|change| format!("    (\"{}\", \"{}\"),\n", change.from, change.to))
            .collect()
    };
    format!(
        "{PYTHON_HEAD}MOVED = [\n{}]\nSHIMMED = [\n{}]\n{PYTHON_TESTS}",
        rows(false),
        rows(true)
    )
}

const PYTHON_HEAD: &str = r#""""Guards a migration: nothing imports the old module paths, and their shims warn and forward."""
import ast
import importlib
import importlib.util
import pathlib
import subprocess
import sys
import types
import warnings

import pytest

"#;

const PYTHON_TESTS: &str = r##"PACKAGES = sorted({new.partition(".")[0] for _, new in MOVED + SHIMMED})


def load(name):
    """The module; the test is skipped where something that it needs is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in PACKAGES:
            raise
        pytest.skip("%s needs %s" % (name, error.name))


def imported(tree, package):
    """Lines, and what is imported there by a file of `package`: each a pair of module and name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                yield node.lineno, each.name, None
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join(base + ((node.module,) if node.module else ()))
            for each in node.names:
                yield node.lineno, module, each.name


def names_the_old(module, name, old):
    if module == old or module.startswith(old + "."):
        return True
    if name is None or module + "." + name != old:
        return False
    # What is not a module only has the name of the one that was there.
    return isinstance(getattr(load(module), name, None), (types.ModuleType, type(None)))


def sources(package):
    for root in getattr(load(package), "__path__", ()):
        for path in sorted(pathlib.Path(root).rglob("*.py")):
            text = path.read_bytes()
            if not text.startswith(b"# coalesce: shim"):
                yield path, (package,) + path.relative_to(root).parts[:-1], text


@pytest.mark.parametrize("package", PACKAGES)
def test_no_file_imports_the_old_path(package):
    found = []
    for path, inside, text in sources(package):
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            continue
        for line, module, name in imported(tree, inside):
            if any(names_the_old(module, name, old) for old, _ in MOVED + SHIMMED):
                found.append("%s:%d" % (path, line))
    assert found == []


@pytest.mark.parametrize("old, new", MOVED)
def test_the_old_path_is_gone(old, new):
    load(new)
    try:
        spec = importlib.util.find_spec(old)
    except ModuleNotFoundError:
        spec = None
    # A folder in which only caches are left can still be imported; there is nothing in it.
    assert spec is None or spec.origin is None


@pytest.mark.parametrize("old, new", SHIMMED)
def test_the_shim_warns_and_forwards(old, new):
    target = load(new)
    sys.modules.pop(old, None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        shim = importlib.import_module(old)
    assert any(issubclass(w.category, DeprecationWarning) and new in str(w.message) for w in caught)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for name in [n for n in vars(target) if not n.startswith("__")]:
            assert getattr(shim, name) is getattr(target, name)


@pytest.mark.parametrize("old, new", MOVED + SHIMMED)
def test_the_new_path_does_not_use_the_old_one(old, new):
    load(new)
    code = "import sys; sys.path[:] = %r; import %s; sys.exit(%r in sys.modules)" % (sys.path, new, old)
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
"##;

#[cfg(test)]
mod tests {
    use coalesce_model::manifest::GUARD_HEAD;

    use super::*;

    #[test]
    fn what_is_written_is_known_again() {
        assert!(PYTHON_HEAD.starts_with(GUARD_HEAD));
    }
}
