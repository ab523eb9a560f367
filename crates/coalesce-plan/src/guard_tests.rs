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

const PYTHON_HEAD: &str = r#""""Guards a migration: the old module paths stay unused, and their shims work."""
import importlib
import subprocess
import sys
import warnings

import pytest

"#;

const PYTHON_TESTS: &str = r#"

@pytest.mark.parametrize("old, new", MOVED)
def test_the_old_path_is_gone(old, new):
    importlib.import_module(new)
    with pytest.raises(ImportError):
        importlib.import_module(old)


@pytest.mark.parametrize("old, new", SHIMMED)
def test_the_shim_warns_and_forwards(old, new):
    sys.modules.pop(old, None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        shim = importlib.import_module(old)
    assert any(issubclass(w.category, DeprecationWarning) and new in str(w.message) for w in caught)
    target = importlib.import_module(new)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for name in [n for n in vars(target) if not n.startswith("__")]:
            assert getattr(shim, name) is getattr(target, name)


@pytest.mark.parametrize("old, new", MOVED + SHIMMED)
def test_the_new_path_does_not_use_the_old_one(old, new):
    code = "import importlib, sys; importlib.import_module(%r); sys.exit(%r in sys.modules)" % (new, old)
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
"#;
