"""Guards a migration: the old module paths stay unused, and their shims work."""
import importlib
import subprocess
import sys
import warnings

import pytest

MOVED = [
]
SHIMMED = [
    ("p.kernels", "p.gpu"),
]


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
