//! Tables that load modules at run time: names resolve through them, and they follow what moves.

use coalesce_model::{Change, LanguageGraph as _, MemoryTexts, UnprovenKind};

use crate::support::{applied, duplicate, graph, item, moving, plan, shimmed};

/// Two modules below a package whose `__init__.py` is `table`, and a user.
fn tree(table: &str) -> String {
    format!(
        "//- pkg/__init__.py\n//- pkg/sub/__init__.py\n{table}//- pkg/sub/one.py\ndef a(): pass\n\n\ndef b(): pass\n//- pkg/sub/two.py\ndef c(): pass\n//- use.py\nfrom pkg.sub import a, b\n"
    )
}

const STRUCTURE: &str = "import sys\nfrom .lazy import LazyModule\n_structure = {\"one\": [\"a\", \"b\"], \"two\": [\"c\"]}\nsys.modules[__name__] = LazyModule(__name__, _structure)\n";
const STATEMENTS: &str = "import sys\n_s = {}\n_s[\"one\"] = [\"a\"]\nif X:\n    _s[\"one\"].append(\"b\")\n_s[\"two\"] = [\"c\"]\nsys.modules[__name__] = make(__name__, _s)\n";
const ATTACH: &str = "import lazy_loader as lazy\n\n__getattr__, __dir__, __all__ = lazy.attach(\n    __name__,\n    submod_attrs={\n        \"one\": [\"a\", \"b\"],\n        \"two\": [\"c\"],\n    },\n)\n";
const BY_NAME: &str = "import importlib\n_where = {\"a\": \".one\", \"b\": \"pkg.sub.one\", \"c\": (\".two\", \"c\")}\ndef __getattr__(name):\n    if name in _where:\n        return getattr(importlib.import_module(_where[name], __name__), name)\n    raise AttributeError(name)\n";
const PREFIXED: &str = "from importlib import import_module\n_TABLE = {\"one\": [\"a\", \"b\"], \"two\": [\"c\"]}\n_WHERE = {name: module for module, names in _TABLE.items() for name in names}\ndef _load(name):\n    return getattr(import_module(f\"{__name__}.{_WHERE[name]}\"), name)\ndef __getattr__(name):\n    return _load(name)\n";

/// What a file says after the changes, nothing being refused.
fn after(tree: &str, changes: &[Change], path: &str) -> String {
    let texts = MemoryTexts::fixture(tree);
    let plan = plan(&texts, changes, false);
    assert_eq!(plan.refusals, [], "{tree}");
    applied(&texts, &plan).remove(path).unwrap()
}

/// The messages of the refusals.
fn refused(tree: &str, changes: &[Change]) -> Vec<String> {
    let texts = MemoryTexts::fixture(tree);
    let refusals = plan(&texts, changes, false).refusals;
    refusals
        .into_iter()
        .map(|refusal| refusal.message)
        .collect()
}

#[test]
fn names_resolve_through_tables() {
    for table in [STRUCTURE, STATEMENTS, ATTACH, BY_NAME, PREFIXED] {
        let texts = MemoryTexts::fixture(&tree(table));
        let graph = graph(&texts);
        let problems: Vec<String> = graph
            .findings()
            .into_iter()
            .map(|each| each.message)
            .collect();
        assert!(
            problems
                .iter()
                .all(|problem| !problem.contains("does not exist") || problem.contains("lazy")),
            "{table}: {problems:?}"
        );
        for (name, full) in [
            ("pkg.sub.a", "pkg.sub.one.a"),
            ("pkg.sub.c", "pkg.sub.two.c"),
        ] {
            assert_eq!(graph.canonical(name).as_deref(), Some(full), "{table}");
        }
        let found = graph.references("pkg.sub.one.a", &texts);
        assert!(
            found
                .iter()
                .any(|each| each.path.as_str() == "pkg/sub/__init__.py"),
            "{table}"
        );
    }
}

#[test]
fn branches_and_matches_are_tables_too() {
    for body in [
        "    if name == \"a\":\n        from .one import a\n        return a\n",
        "    if name in (\"a\",):\n        from .one import a as found\n        return found\n",
        "    if name == \"a\":\n        return importlib.import_module(\".one\", __name__).a\n",
        "    if name == \"x\":\n        return 1\n    elif name == \"a\":\n        from . import one\n        return one.a\n",
        "    match name:\n        case \"a\":\n            from .one import a\n            return a\n",
    ] {
        let table = format!(
            "import importlib\ndef __getattr__(name):\n{body}    raise AttributeError(name)\n"
        );
        let graph = graph(&MemoryTexts::fixture(&tree(&table)));
        assert_eq!(
            graph.canonical("pkg.sub.a").as_deref(),
            Some("pkg.sub.one.a"),
            "{body}"
        );
    }
}

#[test]
fn modules_are_followed_by_their_keys() {
    let change = [moving("pkg.sub.one", "pkg.sub.first")];
    for (table, before, then) in [
        (STRUCTURE, "{\"one\":", "{\"first\":"),
        (STATEMENTS, "_s[\"one\"]", "_s[\"first\"]"),
        (ATTACH, "\"one\":", "\"first\":"),
        (PREFIXED, "\"one\":", "\"first\":"),
    ] {
        let text = after(&tree(table), &change, "pkg/sub/__init__.py");
        assert_eq!(text, table.replace(before, then));
    }
    let text = after(&tree(BY_NAME), &change, "pkg/sub/__init__.py");
    assert_eq!(
        text,
        BY_NAME
            .replace("\".one\"", "\".first\"")
            .replace("pkg.sub.one", "pkg.sub.first")
    );
}

#[test]
fn an_item_goes_from_one_entry_to_another() {
    let change = [item("pkg.sub.one.a", "pkg.sub.two.a")];
    for (table, then) in [
        (STRUCTURE, "{\"one\": [\"b\"], \"two\": [\"c\", \"a\"]}"),
        (
            ATTACH,
            "        \"one\": [\"b\"],\n        \"two\": [\"c\", \"a\"],\n",
        ),
        (
            BY_NAME,
            "{\"a\": \".two\", \"b\": \"pkg.sub.one\", \"c\": (\".two\", \"c\")}",
        ),
    ] {
        let text = after(&tree(table), &change, "pkg/sub/__init__.py");
        assert!(text.contains(then), "{text}");
    }
    // A module that the table has not named gets an entry of its own.
    let change = [item("pkg.sub.one.a", "pkg.sub.three.a")];
    let text = after(&tree(STATEMENTS), &change, "pkg/sub/__init__.py");
    assert!(
        text.contains("_s = {}\n_s[\"three\"] = [\"a\"]\nif X:\n"),
        "{text}"
    );
    let text = after(&tree(ATTACH), &change, "pkg/sub/__init__.py");
    assert!(
        text.contains("\"one\": [\"b\"],\n        \"three\": [\"a\"],\n"),
        "{text}"
    );
    let text = after(&tree(STRUCTURE), &change, "pkg/sub/__init__.py");
    assert!(
        text.contains("{\"one\": [\"b\"], \"three\": [\"a\"], \"two\""),
        "{text}"
    );
}

#[test]
fn what_a_table_cannot_say_is_refused() {
    for table in [STRUCTURE, ATTACH, PREFIXED] {
        let away = refused(&tree(table), &[moving("pkg.sub.one", "pkg.other")]);
        assert!(
            away.iter().any(|why| why.contains("which is not below it")),
            "{away:?}"
        );
        // An item goes on being on offer through the module that it leaves.
        let renamed = [item("pkg.sub.one.a", "pkg.sub.two.other")];
        assert_eq!(after(&tree(table), &renamed, "pkg/sub/__init__.py"), table);
        let text = after(&tree(table), &renamed, "pkg/sub/one.py");
        assert!(text.contains("import other as a"), "{text}");
        // Behind a shim the table goes on leading where it led.
        let shim = [shimmed(moving("pkg.sub.one", "pkg.other"))];
        assert_eq!(after(&tree(table), &shim, "pkg/sub/__init__.py"), table);
    }
    // A name says where it is by itself.
    let text = after(
        &tree(BY_NAME),
        &[moving("pkg.sub.one", "pkg.other")],
        "pkg/sub/__init__.py",
    );
    assert!(
        text.contains("\"a\": \"..other\", \"b\": \"pkg.other\""),
        "{text}"
    );
}

#[test]
fn the_stub_of_a_package_says_what_is_loaded() {
    let package = "import lazy_loader as _lazy\n\n__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)\n";
    let tree = format!(
        "{}//- pkg/sub/__init__.pyi\nfrom .one import a, b\nfrom .two import c\n",
        tree(package)
    );
    let graph = graph(&MemoryTexts::fixture(&tree));
    assert_eq!(
        graph.canonical("pkg.sub.a").as_deref(),
        Some("pkg.sub.one.a")
    );
    let stub = after(
        &tree,
        &[moving("pkg.sub.one", "pkg.sub.first")],
        "pkg/sub/__init__.pyi",
    );
    assert_eq!(stub, "from .first import a, b\nfrom .two import c\n");
    for (to, imported) in [
        ("pkg.util.a", "import a as a"),
        ("pkg.sub.two.other", "import other as a"),
    ] {
        let change = [item("pkg.sub.one.a", to)];
        let text = after(&tree, &change, "pkg/sub/one.py");
        assert!(text.contains(imported), "{text}");
        let stub = after(&tree, &change, "pkg/sub/__init__.pyi");
        assert_eq!(stub, "from .one import a, b\nfrom .two import c\n");
    }
}

#[test]
fn lists_of_modules_follow_their_modules() {
    let attach = "import lazy_loader\n__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, [\"one\", \"two\"])\n";
    let text = after(
        &tree(attach),
        &[moving("pkg.sub.one", "pkg.sub.first")],
        "pkg/sub/__init__.py",
    );
    assert!(text.contains("[\"first\", \"two\"]"), "{text}");
    let text = after(
        &tree(attach),
        &[moving("pkg.sub.one", "pkg.first")],
        "pkg/sub/__init__.py",
    );
    assert!(text.contains("[\"two\"]"), "{text}");
    let scipy = "import importlib as _il\n_modules = [\"one\", \"two\"]\ndef __getattr__(name):\n    if name in _modules:\n        return _il.import_module(f\"pkg.sub.{name}\")\n    raise AttributeError\n";
    let graph = graph(&MemoryTexts::fixture(&tree(scipy)));
    assert_eq!(
        graph.canonical("pkg.sub.two").as_deref(),
        Some("pkg.sub.two")
    );
}

#[test]
fn tables_of_unknown_kinds_are_told() {
    for table in [
        "import sys\nfrom .lazy import LazyModule, define\nsys.modules[__name__] = LazyModule(__name__, define(__file__))\n",
        "from importlib import import_module\ndef __getattr__(name):\n    return getattr(import_module(lookup(name)), name)\n",
        "import lazy_loader\n__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submod_attrs=read())\n",
    ] {
        let texts = MemoryTexts::fixture(&tree(table));
        assert!(
            graph(&texts)
                .findings()
                .iter()
                .all(|each| !each.message.contains("pkg.sub.a"))
        );
        let plan = plan(&texts, &[moving("pkg.sub.one", "pkg.sub.first")], false);
        let kinds: Vec<UnprovenKind> = plan.unproven.iter().map(|each| each.kind).collect();
        assert_eq!(kinds, [UnprovenKind::RuntimeTable], "{table}");
    }
}

#[test]
fn tables_with_more_than_names_are_read() {
    let change = [moving("pkg.sub.one", "pkg.sub.first")];
    // The package stands beside each module.
    let pairs = "from importlib import import_module\n_imports = {\"a\": (__spec__.parent, \".one\"), \"b\": (__spec__.parent, \".one\")}\ndef __getattr__(name):\n    found = _imports.get(name)\n    package, module = found\n    if module == '__module__':\n        return import_module(f'.{name}', package=package)\n    return getattr(import_module(module, package=package), name)\n";
    assert_eq!(
        after(&tree(pairs), &change, "pkg/sub/__init__.py"),
        pairs.replace(".one", ".first")
    );
    // All names of a module.
    let all = "import sys\n_s = {\"two\": [\"c\"]}\nfrom . import one\n_s[\"one\"] = [name for name in dir(one) if name]\nsys.modules[__name__] = Lazy(__name__, _s)\n";
    let text = after(&tree(all), &change, "pkg/sub/__init__.py");
    assert!(text.contains("_s[\"first\"] = [name"), "{text}");
    let plan = plan(&MemoryTexts::fixture(&tree(all)), &change, false);
    assert_eq!(plan.unproven, []);
    // Who imports what the table says, the file does not show.
    let handed = "from other import import_attr\n_imports = {\"a\": \"one\", \"c\": \"two\"}\ndef __getattr__(name):\n    return import_attr(name, _imports[name], __spec__.parent)\n";
    let told = |to: &Change| {
        self::plan(
            &MemoryTexts::fixture(&tree(handed)),
            std::slice::from_ref(to),
            false,
        )
        .unproven
        .len()
    };
    assert_eq!(told(&moving("pkg.sub.one", "pkg.sub.first")), 1);
    assert_eq!(told(&moving("pkg.sub.three", "pkg.sub.first")), 0);
}

#[test]
fn names_put_together_of_known_parts_are_names() {
    let head = "//- pkg/__init__.py\n//- pkg/old.py\n//- pkg/use.py\nimport importlib\nfrom importlib import import_module as load\n";
    for (before, then) in [
        (
            "importlib.import_module(f\"{__package__}.old\")",
            "importlib.import_module(f\"{__package__}.new\")",
        ),
        (
            "importlib.import_module(__package__ + \".old\")",
            "importlib.import_module(__package__ + \".new\")",
        ),
        (
            "importlib.import_module(\"pkg\" + \".old\")",
            "importlib.import_module(\"pkg.new\")",
        ),
        (
            "importlib.import_module(f\"pkg.{'old'}\")",
            "importlib.import_module(\"pkg.new\")",
        ),
        (
            "importlib.import_module(\".old\", __package__)",
            "importlib.import_module(\".new\", __package__)",
        ),
        (
            "importlib.import_module(\".old\", package=\"pkg\")",
            "importlib.import_module(\".new\", package=\"pkg\")",
        ),
    ] {
        let tree = format!("{head}module = {before}\n");
        let text = after(&tree, &[moving("pkg.old", "pkg.new")], "pkg/use.py");
        assert!(text.contains(then), "{text}");
        let graph = graph(&MemoryTexts::fixture(&tree));
        let found = graph.references("pkg.old", &MemoryTexts::fixture(&tree));
        assert_eq!(found.len(), 1, "{before}");
    }
    // Where the package does not lead to it, the whole name stands.
    let tree = format!("{head}module = importlib.import_module(f\"{{__package__}}.old\")\n");
    let text = after(&tree, &[moving("pkg.old", "other.new")], "pkg/use.py");
    assert!(
        text.contains("importlib.import_module(\"other.new\")"),
        "{text}"
    );
    let tree = format!("{head}module = importlib.import_module(f\"pkg.{{name}}\")\n");
    let unproven = plan(
        &MemoryTexts::fixture(&tree),
        &[moving("pkg.old", "pkg.new")],
        false,
    )
    .unproven;
    assert_eq!(unproven.len(), 1);
}

#[test]
fn compiled_and_generated_modules_are_opaque() {
    for (files, import) in [
        (
            "//- setup.py\nsetup(ext_modules=[Extension(\"pkg.native\", [\"n.c\"])])\n",
            "from pkg.native import x",
        ),
        (
            "//- pyproject.toml\n[tool.maturin]\nmodule-name = \"pkg.core\"\n",
            "from .core import x",
        ),
        (
            "//- pyproject.toml\n[[tool.setuptools-rust.ext-modules]]\ntarget = \"pkg.rs\"\n",
            "from . import rs",
        ),
        ("//- pkg/fast.pyx\n", "from .fast import x"),
        (
            "//- pkg/fast.cpython-311-x86_64-linux-gnu.so\n",
            "import pkg.fast",
        ),
        ("", "from ._native import x"),
        ("", "from . import _C"),
        ("", "from ._version import version"),
        ("", "from .proto.things_pb2 import Thing"),
    ] {
        let tree = format!(
            "{files}//- pkg/__init__.py\n//- pkg/proto/__init__.py\n//- pkg/api.py\n{import}\n"
        );
        let problems = graph(&MemoryTexts::fixture(&tree)).findings();
        assert_eq!(problems, [], "{import}");
    }
    // A slip of the pen is one.
    let slip = "//- pkg/__init__.py\n//- pkg/_utils.py\n//- pkg/api.py\nfrom ._utlis import x\nfrom .other import y\n";
    assert_eq!(graph(&MemoryTexts::fixture(slip)).findings().len(), 2);
}

/// A package whose stub is read when it runs, with a module in it, and a user of what it offers.
const STUBBED: &str = "//- pkg/__init__.py
//- pkg/sub/__init__.py
import lazy_loader as _lazy
__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
//- pkg/sub/__init__.pyi
__all__ = ['tools', 'extra', 'shrink']
from . import tools
from . import extra, more
from .sizes import shrink, grow
//- pkg/sub/tools.py
t = 1
//- pkg/sub/extra.py
//- pkg/sub/more.py
//- pkg/sub/sizes.py
def shrink(): pass
def grow(): pass
//- pkg/other/__init__.py
//- pkg/use.py
from .sub import shrink, grow
print(shrink(), grow())
";

#[test]
fn a_module_that_leaves_goes_from_the_stub() {
    let stub = "pkg/sub/__init__.pyi";
    for (from, to, expected) in [
        (
            "pkg.sub.tools",
            "pkg.other.tools",
            "__all__ = ['extra', 'shrink']\nfrom . import extra, more\n",
        ),
        (
            "pkg.sub.extra",
            "pkg.other.extra",
            "__all__ = ['tools', 'shrink']\nfrom . import tools\nfrom . import more\n",
        ),
        (
            "pkg.sub.more",
            "pkg.sub.rest",
            "__all__ = ['tools', 'extra', 'shrink']\nfrom . import tools\nfrom . import extra, rest\n",
        ),
    ] {
        let text = after(STUBBED, &[moving(from, to)], stub);
        assert_eq!(
            text,
            format!("{expected}from .sizes import shrink, grow\n"),
            "{from}"
        );
    }
}

#[test]
fn users_of_a_table_that_keeps_naming_a_shim_take_the_new_name() {
    let user = "pkg/use.py";
    let change = shimmed(moving("pkg.sub.sizes", "pkg.other.sizes"));
    let text = after(STUBBED, &[change], user);
    assert_eq!(
        text,
        "from .other.sizes import shrink, grow\nprint(shrink(), grow())\n"
    );
    let change = shimmed(duplicate("pkg.sub.sizes.shrink", "pkg.sub.sizes.grow"));
    let text = after(STUBBED, &[change], user);
    assert!(
        text.contains("from .sub.sizes import grow as shrink"),
        "{text}"
    );
    // What the stub can say is no shim's.
    let change = shimmed(moving("pkg.sub.sizes", "pkg.sub.lengths"));
    let text = after(STUBBED, &[change], user);
    assert_eq!(
        text,
        "from .sub import shrink, grow\nprint(shrink(), grow())\n"
    );
}

#[test]
fn an_item_that_no_table_can_lead_to_stays_in_the_module_that_it_leaves() {
    let change = [item("pkg.sub.sizes.shrink", "pkg.other.less.shrink")];
    for path in ["pkg/sub/__init__.pyi", "pkg/use.py"] {
        let as_it_was = applied(
            &MemoryTexts::fixture(STUBBED),
            &plan(&MemoryTexts::fixture(STUBBED), &[], false),
        );
        assert_eq!(after(STUBBED, &change, path), as_it_was[path]);
    }
    let text = after(STUBBED, &change, "pkg/sub/sizes.py");
    assert!(
        text.starts_with("from pkg.other.less import shrink as shrink\n"),
        "{text}"
    );
    let tabled = tree(ATTACH) + "//- pkg/other/__init__.py\n";
    let change = [item("pkg.sub.one.a", "pkg.other.more.a")];
    assert!(after(&tabled, &change, "pkg/sub/__init__.py").contains("\"one\": [\"a\", \"b\"]"));
    assert!(
        after(&tabled, &change, "pkg/sub/one.py").contains("from pkg.other.more import a as a")
    );
    // With a shim the table names that.
    let change = [shimmed(change[0].clone())];
    assert!(!after(&tabled, &change, "pkg/sub/one.py").starts_with("from pkg.other"));
}
