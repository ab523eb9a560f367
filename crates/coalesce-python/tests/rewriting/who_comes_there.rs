//! Code that asks what it is given for its module, its package or its turn: what changes has to come there to be doubted.

use coalesce_model::{MemoryTexts, UnprovenKind};

use crate::support::{item, moving, plan};

fn told(tree: &str, change: coalesce_model::Change) -> Vec<UnprovenKind> {
    let plan = plan(&MemoryTexts::fixture(tree), &[change], false);
    assert!(plan.refusals.is_empty(), "{:?}", plan.refusals);
    plan.unproven.into_iter().map(|each| each.kind).collect()
}

#[test]
fn the_module_of_instances_is_that_of_classes_which_have_the_method() {
    let base = "//- pkg/__init__.py\n//- pkg/base.py\nclass Base:\n    def where(self):\n        return self.__module__.rpartition('.')[0]\n//- pkg/sub/__init__.py\n//- pkg/mid.py\nfrom .base import Base as Root\nclass Mid(Root): pass\n";
    for (old, doubted) in [
        ("class Other: pass", false),
        ("from abc import ABC\nclass Other(ABC): pass", false),
        ("from .mid import Mid\nclass Other(Mid): pass", true),
        ("from . import mid\nclass Other(mid.Mid): pass", true),
        (
            "def make(base):\n    class Other(base): pass\n    return Other",
            true,
        ),
        (
            "from .mid import Mid\nOther = type('Other', (Mid,), {})",
            true,
        ),
        (
            "from .mid import Mid\ndef f(x): return isinstance(x, Mid)",
            false,
        ),
    ] {
        let found = told(
            &format!("{base}//- pkg/old.py\n{old}\n"),
            moving("pkg.old", "pkg.sub.old"),
        );
        assert_eq!(!found.is_empty(), doubted, "{old}: {found:?}");
    }
}

#[test]
fn the_module_of_what_is_decorated_is_that_of_code_with_the_decorator() {
    let registry = "//- pkg/__init__.py\n//- pkg/reg.py\nimport sys\ndef export(f):\n    sys.modules[f.__module__].__dict__.setdefault('__all__', []).append(f.__name__)\n    return f\n//- pkg/new.py\n";
    for (old, other, doubted) in [
        (
            "from .reg import export\n@export\ndef f(): return 1",
            "",
            true,
        ),
        (
            "from .reg import export\n@export\ndef g(): return 1\ndef f(): return 2",
            "",
            false,
        ),
        (
            "def f(): return 2",
            "from .reg import export\nfrom .old import f\nexport(f)",
            true,
        ),
        ("def f(): return 2", "from .reg import export as e", true),
    ] {
        let tree = format!("{registry}//- pkg/old.py\n{old}\n//- pkg/use.py\n{other}\n");
        let found = told(&tree, item("pkg.old.f", "pkg.new.f"));
        assert_eq!(
            found.contains(&UnprovenKind::OwnPlace),
            doubted,
            "{old}: {found:?}"
        );
    }
}

#[test]
fn a_loop_over_the_exports_of_a_named_module_is_doubted_for_those_of_that_module() {
    let tree = "//- pkg/__init__.py\n__all__ = ['x']\nx = 1\n//- pkg/old.py\n__all__ = ['f']\ndef f(): pass\ndef _g(): pass\n//- pkg/new.py\n__all__ = ['y']\ny = 1\n";
    for (name, walked, doubted) in [
        ("f", "pkg", false),
        ("f", "pkg.old", true),
        ("f", "pkg.new", true),
        ("f", "module", true),
        ("_g", "module", false),
    ] {
        let tree = format!(
            "{tree}//- use.py\nimport pkg.old, pkg.new\ndef go(module):\n    for name in {walked}.__all__: print(name)\n"
        );
        let change = item(&format!("pkg.old.{name}"), &format!("pkg.new.{name}"));
        let found = told(&tree, change);
        assert_eq!(
            found.contains(&UnprovenKind::RuntimeTable),
            doubted,
            "{name} {walked}: {found:?}"
        );
    }
    let asked = format!(
        "{tree}//- use.py\ndef go(module):\n    for name in getattr(module, '__all__', ()): print(name)\n"
    );
    assert!(told(&asked, item("pkg.old.f", "pkg.new.f")).contains(&UnprovenKind::RuntimeTable));
}

#[test]
fn a_value_of_a_call_that_counts_keeps_its_turn() {
    let tree = "//- pkg/__init__.py\n//- pkg/n.py\nimport itertools\nnew = itertools.count().__next__\ndef plain(): return 1\n//- pkg/new.py\n";
    for (old, doubted) in [
        ("from .n import new\nA = new()\nB = new()", true),
        ("from .n import new\nA = new()", false),
        ("from .n import plain\nA = plain()\nB = plain()", false),
    ] {
        let found = told(
            &format!("{tree}//- pkg/old.py\n{old}\n"),
            item("pkg.old.A", "pkg.new.A"),
        );
        assert_eq!(
            found.contains(&UnprovenKind::OwnPlace),
            doubted,
            "{old}: {found:?}"
        );
    }
}

#[test]
fn a_package_that_is_taken_as_a_value_is_doubted_where_something_reads_the_module() {
    let tree = "//- pkg/__init__.py\nfrom . import use\n//- pkg/a/__init__.py\n//- pkg/a/b.py\n//- pkg/c/__init__.py\n//- pkg/use.py\nimport pkg.a.b\n";
    for (file, doubted) in [
        ("import pkg\ndef get(): return pkg.a\nprint(get().b)", true),
        ("import pkg\ndef get(): return pkg.a", false),
        ("import pkg\ndef get(x): return x.b\nget(pkg.a)", true),
        ("import pkg.a.b\nprint(pkg.a.b)", false),
    ] {
        let found = told(
            &format!("{tree}//- main.py\n{file}\n"),
            moving("pkg.a.b", "pkg.c.b"),
        );
        assert_eq!(!found.is_empty(), doubted, "{file}: {found:?}");
    }
}

#[test]
fn data_that_another_package_names_is_told() {
    let tree = "//- pkg/__init__.py\n//- pkg/core/__init__.py\n//- pkg/old/__init__.py\n//- pkg/old/data/b.json\n{}\n";
    for (file, doubted) in [
        (
            "pyproject.toml\n[tool.setuptools.package-data]\npkg = [\"old/data/*.json\"]",
            true,
        ),
        (
            "pyproject.toml\n[tool.setuptools.package-data]\npkg = [\"**/*.json\"]",
            false,
        ),
        (
            "setup.cfg\n[options.package_data]\npkg =\n    */data/*.json",
            true,
        ),
        (
            "setup.cfg\n[options.package_data]\npkg.old = data/*.json",
            false,
        ),
        (
            "setup.py\nsetup(package_data={'pkg': ['old/data/*.json']})",
            true,
        ),
    ] {
        let found = told(
            &format!("{tree}//- {file}\n"),
            moving("pkg.old", "pkg.core.old"),
        );
        assert_eq!(
            found.contains(&UnprovenKind::OwnPlace),
            doubted,
            "{file}: {found:?}"
        );
    }
}

#[test]
fn a_table_of_pairs_with_the_package_is_read() {
    let tree = "//- pkg/__init__.py\nfrom importlib import import_module\n_IMPORTS = {\n    'sub': (__spec__.parent, '__module__'),\n    'F': (__spec__.parent, '.old'),\n}\n_DEPRECATED = {'F'}\ndef __getattr__(name):\n    if name in _DEPRECATED: print(name)\n    found = _IMPORTS.get(name)\n    package, module = found\n    if module == '__module__':\n        return import_module(f'.{name}', package=package)\n    return getattr(import_module(module, package=package), name)\n//- pkg/sub.py\n//- pkg/old.py\nclass F: pass\n//- pkg/core/__init__.py\n//- pkg/other.py\n";
    assert_eq!(told(tree, moving("pkg.other", "pkg.core.other")), []);
    let found = told(tree, moving("pkg.old", "pkg.core.old"));
    assert_eq!(found, [], "the table follows");
}

#[test]
fn a_value_that_is_pickled_by_a_text_is_told() {
    for (text, doubted) in [("return 'NONE'", true), ("return (None_, ())", false)] {
        let tree = format!(
            "//- pkg/__init__.py\n//- pkg/old.py\nclass None_:\n    def __reduce__(self):\n        {text}\nNONE = None_()\n//- pkg/new.py\n"
        );
        let found = told(&tree, item("pkg.old.NONE", "pkg.new.NONE"));
        assert_eq!(
            found.contains(&UnprovenKind::DynamicImport),
            doubted,
            "{text}: {found:?}"
        );
    }
}
