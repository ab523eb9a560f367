//! What is refused because importing would do something else, and what may be allowed.

use std::sync::Arc;

use coalesce_model::{
    Allowed, Change, Finding, Language as _, LanguageGraph as _, MemoryTexts, Settings, Texts as _,
    TreePath,
};
use coalesce_python::{Python, PythonGraph};

use crate::support::{applied, duplicate, graph, item, moving, plan, replacing};

fn allowing(texts: &MemoryTexts, allowed: Allowed) -> PythonGraph {
    let claimed = texts.paths().iter().filter(|path| Python.claims(path));
    let facts = claimed.map(|path| {
        let text = texts.text(path).unwrap();
        (path.clone(), Arc::new(Python.facts(path, &text)))
    });
    let files: Vec<_> = facts.collect();
    let settings = Settings {
        allowed,
        advice: true,
        ..Settings::default()
    };
    Python.resolve(&files, texts.paths(), &settings)
}

/// What would break, the changes being made.
fn proven(tree: &str, changes: &[Change], allowed: Allowed) -> Vec<Finding> {
    let before = MemoryTexts::fixture(tree);
    let plan = plan(&before, changes, false);
    assert_eq!(plan.refusals, [], "{tree}");
    let files = applied(&before, &plan).into_iter();
    let after =
        MemoryTexts::new(files.map(|(path, text)| (TreePath::new(&path).unwrap(), text.into())));
    graph(&before).find_regressions(&allowing(&after, allowed), changes, &before, &after)
}

fn check(tree: &str, changes: &[Change], expected: &[&str]) {
    let found = proven(tree, changes, Allowed::default());
    let messages: Vec<&str> = found.iter().map(|each| each.message.as_str()).collect();
    assert_eq!(messages.len(), expected.len(), "{tree}\n{messages:?}");
    for (message, part) in messages.iter().zip(expected) {
        assert!(message.contains(part), "{message}");
    }
}

const PLOTS: &str = "//- pkg/__init__.py\nfrom .core import area\n//- pkg/core.py\ndef area(): pass\n//- pkg/plots.py\n";

#[test]
fn what_importing_needs_does_not_grow() {
    let change = [item("pkg.core.area", "pkg.plots.area")];
    for (head, refused) in [
        ("import drawing\n", true),
        ("from drawing.sub import x\n", true),
        (
            "try:\n    import drawing\nexcept ImportError:\n    drawing = None\n",
            false,
        ),
        (
            "try:\n    import drawing\nexcept ImportError:\n    pass\nelse:\n    import drawing.more\n",
            false,
        ),
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import drawing\n",
            false,
        ),
        (
            "import sys\nif sys.platform == 'x':\n    import drawing\n",
            false,
        ),
        ("def show():\n    import drawing\n", false),
        ("import json, os.path\n", false),
        ("from .behind import b\n", true),
    ] {
        let tree = format!("{PLOTS}{head}//- pkg/behind.py\nimport drawing\nb = 1\n");
        let expected: &[&str] = if refused {
            &["importing `pkg` (and one more module) would need `drawing`"]
        } else {
            &[]
        };
        check(&tree, &change, expected);
    }
    // What is installed with the project is there.
    let declared = format!(
        "//- pyproject.toml\n[project]\ndependencies = [\"Drawing>=1\"]\n{PLOTS}import drawing\n"
    );
    check(&declared, &change, &[]);
    // The package around the new place counts, too.
    let around = "//- pkg/__init__.py\n//- pkg/core.py\ndef area(): pass\n//- pkg/gui/__init__.py\nimport toolkit\n//- pkg/use.py\nfrom pkg.core import area\n";
    check(
        around,
        &[moving("pkg.core", "pkg.gui.core")],
        &["importing `pkg.use` (and one more module) would need `toolkit`"],
    );
}

#[test]
fn a_table_makes_what_it_loads_needed_when_a_name_is_asked_for() {
    let tree = "//- pkg/__init__.py\n//- pkg/lazy/__init__.py\nimport lazy_loader\n__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submod_attrs={\"a\": [\"x\"], \"b\": [\"y\"]})\n//- pkg/lazy/a.py\ndef x(): pass\n//- pkg/lazy/b.py\nimport heavy\ny = 1\n//- pkg/use.py\nfrom .lazy import x\n";
    check(
        tree,
        &[item("pkg.lazy.a.x", "pkg.lazy.b.x")],
        &["importing `pkg.use` would need `heavy`"],
    );
}

#[test]
fn a_manifest_may_allow_it() {
    let change = [item("pkg.core.area", "pkg.plots.area")];
    let tree = format!("{PLOTS}import drawing\n");
    let allowed = Allowed {
        requirements: vec!["drawing".to_owned()],
        ..Allowed::default()
    };
    assert_eq!(proven(&tree, &change, allowed), []);
    let help = proven(&tree, &change, Allowed::default())
        .remove(0)
        .help
        .unwrap();
    assert!(
        help.ends_with("allow.requirements = [\"drawing\"]"),
        "{help}"
    );
}

const CONFIG: &str = "//- pkg/__init__.py\n//- pkg/context.py\ndef start(): pass\n//- pkg/gpu.py\nFLAG = 1\ndef start(): pass\n//- pkg/config.py\n";

#[test]
fn a_guarded_import_ends_as_it_did() {
    for guard in [
        "try:\n    from pkg.context import FLAG\nexcept ImportError:\n    FLAG = 0\n",
        "from contextlib import suppress\nwith suppress(ImportError):\n    from .context import FLAG\n",
        "def ask():\n    try:\n        from .context import FLAG\n    except Exception:\n        FLAG = 0\n    return FLAG\n",
    ] {
        let tree = format!("{CONFIG}{guard}");
        let change = [replacing("pkg.context", "pkg.gpu", &[])];
        check(
            &tree,
            &change,
            &["the guarded import of `FLAG` fails now and would succeed"],
        );
        let allowed = Allowed {
            guarded_imports: vec!["pkg.config".to_owned()],
            ..Allowed::default()
        };
        assert_eq!(proven(&tree, &change, allowed), []);
    }
    let works = format!(
        "{CONFIG}try:\n    from pkg.context import start\nexcept ImportError:\n    start = None\n"
    );
    check(&works, &[replacing("pkg.context", "pkg.gpu", &[])], &[]);
}

#[test]
fn what_a_guarded_import_needs_stays_the_same() {
    let tree = |old: &str, new: &str| {
        format!(
            "//- pkg/__init__.py\n//- pkg/gpu.py\n{old}def f(): pass\n//- pkg/core.py\n{new}//- pkg/use.py\ntry:\n    from .gpu import f\nexcept ImportError:\n    f = None\n"
        )
    };
    let change = [item("pkg.gpu.f", "pkg.core.f")];
    check(
        &tree("import cupy\n", ""),
        &change,
        &["fails now where `cupy` is missing"],
    );
    check(
        &tree("", "import cupy\n"),
        &change,
        &["would fail without a word where `cupy` is missing"],
    );
    check(&tree("import cupy\n", "import cupy\n"), &change, &[]);
}

#[test]
fn a_replaced_module_is_held_against_its_calls() {
    let refused = |tree: &str, changes: &[Change]| -> Vec<String> {
        let refusals = plan(&MemoryTexts::fixture(tree), changes, false).refusals;
        refusals
            .into_iter()
            .map(|refusal| refusal.message)
            .collect()
    };
    let tree = |call: &str| {
        format!(
            "//- pkg/__init__.py\n//- pkg/new.py\ndef create(enabled=True): pass\ndef same(a): pass\n//- pkg/old.py\ndef get(enable=True): pass\ndef same(b): pass\n//- main.py\n{call}\n"
        )
    };
    let change = [replacing("pkg.old", "pkg.new", &[("get", "create")])];
    for call in [
        "from pkg.old import get\nget(enable=False)",
        "from pkg import old\nold.get(enable=False)",
        "import pkg.old\npkg.old.get(1, 2)",
        "from pkg.old import get as g\ng(enable=1)",
        "from pkg.old import same\nsame(b=1)",
        "from pkg.old import same\nsame()",
    ] {
        assert_eq!(refused(&tree(call), &change).len(), 1, "{call}");
    }
    for call in [
        "from pkg.old import get\nget(False)",
        "from pkg.old import same\nsame(1)",
    ] {
        assert_eq!(refused(&tree(call), &change), [] as [String; 0], "{call}");
    }
}

#[test]
fn equal_texts_with_other_meanings_are_no_copies() {
    let refused = |tree: &str| -> usize {
        let changes = [duplicate("p.a.f", "p.b.f")];
        plan(&MemoryTexts::fixture(tree), &changes, false)
            .refusals
            .len()
    };
    let tree = |a: &str, b: &str, text: &str| {
        format!(
            "//- p/__init__.py\n//- p/a.py\n{a}{text}//- p/b.py\n{b}{text}//- use.py\nfrom p.a import f\n"
        )
    };
    let calls = "\n\ndef f(x):\n    return helper(x)\n";
    let (one, two) = (
        "def helper(x):\n    return 1\n",
        "def helper(x):\n    return 2\n",
    );
    assert_eq!(refused(&tree(one, two, calls)), 1);
    assert_eq!(refused(&tree(one, one, calls)), 0);
    assert_eq!(
        refused(&tree(
            "from torch import helper\n",
            "from numpy import helper\n",
            calls
        )),
        1
    );
    assert_eq!(
        refused(&tree(
            "from torch import helper\n",
            "from torch import helper\n",
            calls
        )),
        0
    );
    assert_eq!(
        refused(&tree(
            "LIMIT = 1\n",
            "LIMIT = 2\n",
            "\n\ndef f(x=LIMIT):\n    return x\n"
        )),
        1
    );
    let typed = "\n\ndef f(x: Result) -> Result:\n    return x\n";
    let class = |field: &str| format!("class Result:\n    {field}: int\n");
    assert_eq!(refused(&tree(&class("a"), &class("b"), typed)), 1);
}

#[test]
fn advice_is_followed_and_helps() {
    let tree = |stack: &str| {
        format!(
            "//- app/__init__.py\n//- app/core/__init__.py\nfrom app.core.ctx import run\n//- app/core/ctx.py\nfrom app.core.mem.stack import stack\ndef run(): return stack()\n//- app/core/mem/__init__.py\nfrom .deco import d\nfrom .wrap import W\n//- app/core/mem/deco.py\nfrom app.core.util import opt\ndef d(): return opt()\n//- app/core/mem/stack.py\n{stack}//- app/core/mem/wrap.py\nclass W: pass\n//- app/core/util.py\ndef opt(): return 1\n"
        )
    };
    let change = [moving("app.core.mem", "app.memt")];
    let found = proven(
        &tree("from app.core.mem import W\ndef stack():\n    return W()\n"),
        &change,
        Allowed::default(),
    );
    let help = found.first().and_then(|found| found.help.clone());
    assert_eq!(
        help.as_deref(),
        Some("in `app.memt.stack`, import `W` inside of the functions that use it")
    );
    check(
        &tree("def stack():\n    from app.core.mem import W\n    return W()\n"),
        &change,
        &[],
    );
    // Nothing that would not help is advised.
    let base = proven(
        &tree("from app.core.mem import W\nclass stack(W): pass\n"),
        &change,
        Allowed::default(),
    );
    let help = base.first().and_then(|found| found.help.clone());
    assert!(help.is_none_or(|help| !help.contains("app.memt.stack`, import `W`")));
}

#[test]
fn folders_in_packages_are_parts_of_them() {
    for (project, at) in [
        ("//- pyproject.toml\n[project]\nname='pkg'\n", "src/"),
        (
            "//- pyproject.toml\n[build-system]\nbuild-backend='hatchling.build'\n",
            "src/",
        ),
        (
            "//- setup.py\nfrom setuptools import setup, find_packages\nsetup(packages=find_packages('src'))\n",
            "src/",
        ),
        (
            "//- setup.cfg\n[options.packages.find]\nwhere = lib\n",
            "lib/",
        ),
        (
            "//- pyproject.toml\n[tool.poetry]\npackages=[{include='pkg', from='py'}]\n",
            "py/",
        ),
        (
            "//- pyproject.toml\n[tool.maturin]\npython-source='python'\n",
            "python/",
        ),
        (
            "//- pyproject.toml\n[tool.pdm.build]\npackage-dir='code'\n",
            "code/",
        ),
        ("", "src/"),
        ("", ""),
    ] {
        let tree = format!(
            "{project}//- {at}pkg/__init__.py\n//- {at}pkg/json/__init__.py\n//- {at}pkg/json/provider.py\nP = 1\n//- {at}pkg/sub/deep/app.py\nfrom ...json.provider import P\n"
        );
        let texts = MemoryTexts::fixture(&tree);
        let names: Vec<String> = graph(&texts)
            .modules()
            .iter()
            .map(|module| module.name.clone())
            .collect();
        assert!(
            names.contains(&"pkg.sub.deep.app".to_owned()),
            "{project}: {names:?}"
        );
        let plan = plan(&texts, &[moving("pkg.json", "pkg.ser")], false);
        let app = applied(&texts, &plan)
            .remove(&format!("{at}pkg/sub/deep/app.py"))
            .unwrap();
        assert_eq!(app, "from ...ser.provider import P\n", "{project}");
    }
}

#[test]
fn every_binding_of_module_level_is_a_name() {
    let tree = "//- a.py\nif __name__ == \"__main__\":\n    cache = 1\n    print(cache)\nfor item in x:\n    print(item)\nwith open(x) as handle:\n    print(handle)\ntry:\n    tried = 1\nexcept OSError as error:\n    print(error)\nprint(tried)\nmatch x:\n    case [first, *rest]:\n        print(first, rest)\nif (walrus := x):\n    print(walrus)\nprint([inner := y for y in x], inner)\n";
    let texts = MemoryTexts::fixture(tree);
    let graph = graph(&texts);
    for name in [
        "cache", "item", "handle", "tried", "error", "first", "rest", "walrus", "inner",
    ] {
        let found = graph.references(&format!("a.{name}"), &texts);
        assert!(!found.is_empty(), "{name}");
    }
    let class = "//- b.py\nclass C:\n    xs = [1]\n    ys = [x for x in xs]\nxs = 2\n";
    let texts = MemoryTexts::fixture(class);
    assert_eq!(self::graph(&texts).references("b.xs", &texts), []);
}

#[test]
fn stubs_in_a_tree_of_their_own_go_along() {
    for root in ["stubs/acme", "typings/acme", "acme-stubs"] {
        let tree = format!(
            "//- pyproject.toml\n[project]\nname='acme'\n//- src/acme/__init__.py\n//- src/acme/gpu.py\nclass Pool: pass\n//- src/acme/gpu.pyi\nclass Pool: ...\n//- {root}/__init__.pyi\n//- {root}/gpu.pyi\nclass Pool: ...\n//- {root}/use.pyi\nfrom acme.gpu import Pool\n"
        );
        let texts = MemoryTexts::fixture(&tree);
        let plan = plan(&texts, &[moving("acme.gpu", "acme.core.devices")], false);
        assert_eq!(plan.refusals, []);
        let files = applied(&texts, &plan);
        assert!(
            files.contains_key(&format!("{root}/core/devices.pyi")),
            "{:?}",
            files.keys()
        );
        assert_eq!(
            files.get(&format!("{root}/use.pyi")).unwrap(),
            "from acme.core.devices import Pool\n"
        );
    }
}
