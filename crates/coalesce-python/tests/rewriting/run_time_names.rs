//! Names that are put together when the program runs, and texts that look like them.

use coalesce_model::{MemoryTexts, UnprovenKind};

use crate::support::{applied, moving, plan, replacing, shimmed};

const TREE: &str =
    "//- pkg/__init__.py\n//- pkg/sub/__init__.py\n//- pkg/sub/m.py\n//- pkg/old.py\nX = 1\n";

/// What is told of a move, with one file more in the tree.
fn kinds(from: &str, to: &str, file: &str) -> Vec<UnprovenKind> {
    let texts = MemoryTexts::fixture(&format!("{TREE}//- pkg/use.py\n{file}\n"));
    let unproven = plan(&texts, &[moving(from, to)], false).unproven;
    unproven.into_iter().map(|each| each.kind).collect()
}

#[test]
fn a_prefix_with_a_gap_is_doubted_where_it_can_become_the_name() {
    for (text, doubted) in [
        ("name = f\"pkg.{x}\"", true),
        ("name = 'pkg.%s' % x", true),
        ("name = f\"pkg.{x}.inner\"", false),
        ("name = f\"pkg.{x}.X\"", true),
        ("name = f\"pkg.{x}:main\"", true),
        ("text = f\"pkg.{type(self).__name__}({old})\"", false),
        ("text = 'pkg.%s(%s)' % (x, old)", false),
    ] {
        let found = kinds(
            "pkg.old",
            "pkg.new",
            &format!("def f(self, x, old): {text}"),
        );
        assert_eq!(!found.is_empty(), doubted, "{text}: {found:?}");
    }
}

#[test]
fn what_import_by_name_gives_is_followed_or_doubted() {
    for (text, after) in [
        (
            "m = __import__('pkg.sub').sub",
            Some("m = __import__('pkg.new').new"),
        ),
        (
            "m = __import__('pkg.sub.%s' % (x,)).sub",
            Some("m = __import__('pkg.new.%s' % (x,)).new"),
        ),
        (
            "m = __import__(f'pkg.sub.{x}').sub",
            Some("m = __import__(f'pkg.new.{x}').new"),
        ),
        ("__import__('pkg.sub')", Some("__import__('pkg.new')")),
        (
            "m = __import__('pkg.sub', fromlist=['m'])",
            Some("m = __import__('pkg.new', fromlist=['m'])"),
        ),
        ("m = __import__('pkg.sub')", None),
        ("m = getattr(__import__('pkg.sub'), 'x')", None),
    ] {
        let texts = MemoryTexts::fixture(&format!("{TREE}//- pkg/use.py\nx = 'm'\n{text}\n"));
        let plan = plan(&texts, &[moving("pkg.sub", "pkg.new")], false);
        let told = plan
            .unproven
            .iter()
            .any(|each| each.why.contains("first package"));
        assert_eq!(told, after.is_none(), "{text}: {:?}", plan.unproven);
        let file = applied(&texts, &plan).remove("pkg/use.py");
        if let Some(after) = after {
            assert_eq!(file.as_deref(), Some(&*format!("x = 'm'\n{after}\n")));
        }
    }
}

#[test]
fn the_end_of_a_name_is_doubted_where_the_package_imports_by_values() {
    let loader = "//- pkg/load.py\nimport importlib\ndef load(n): return importlib.import_module(f'{__package__}.{n}')\n";
    for (rest, doubted) in [(loader, true), ("", false)] {
        let tree = format!("{TREE}{rest}//- pkg/use.py\nload('sub.m')\n");
        let texts = MemoryTexts::fixture(&tree);
        for change in [
            moving("pkg.sub.m", "pkg.sub.n"),
            shimmed(moving("pkg.sub", "pkg.new")),
        ] {
            let plan = plan(&texts, &[change], false);
            let told = plan
                .unproven
                .iter()
                .any(|each| each.path.as_str() == "pkg/use.py");
            assert_eq!(told, doubted, "{:?}", plan.unproven);
        }
    }
}

#[test]
fn entry_points_of_what_the_other_module_lacks_are_refused() {
    for file in [
        "pyproject.toml\n[project.scripts]\na = \"pkg.old:f\"",
        "setup.cfg\n[options.entry_points]\ng =\n    a = pkg.old:f",
        "setup.py\nsetup(entry_points={'g': ['a = pkg.old:f']})",
        "pkg/use.py\nTABLE = {'a': 'pkg.old:f'}",
    ] {
        for (own, refused) in [("", 1), ("def f(): pass\n", 0)] {
            let tree = format!("{TREE}def f(): pass\n//- pkg/cur.py\nX = 1\n{own}//- {file}\n");
            let plan = plan(
                &MemoryTexts::fixture(&tree),
                &[replacing("pkg.old", "pkg.cur", &[])],
                false,
            );
            assert_eq!(plan.refusals.len(), refused, "{tree}: {:?}", plan.refusals);
        }
    }
}

#[test]
fn a_table_of_another_module_reaches_what_it_spells() {
    let loads = "from pkg.tables import TABLE\ndef __getattr__(name):\n    if name in TABLE:\n        return getattr(__import__(TABLE[name], fromlist=[name]), name)\n    raise AttributeError(name)\n";
    let indirectly = "import importlib\nfrom .tables import TABLE\ndef _load(name):\n    path = TABLE.get(name)\n    return getattr(importlib.import_module(path), name)\ndef __getattr__(name):\n    return _load(name)\n";
    let by_name = "import importlib\nfrom .tables import TABLE\ndef __getattr__(name):\n    return importlib.import_module(TABLE[name] + name)\n";
    let full = "TABLE = {\"f\": \"pkg.other\"}\n";
    let ends = "TABLE = {\"f\": (\"other\", \".old\")}\n";
    let made = "TABLE = {\"f\": \"pkg.other\"}\nTABLE.update(found())\n";
    for (package, table, told) in [
        (loads, full, false),
        (indirectly, full, false),
        (loads, ends, true),
        (loads, made, true),
        (by_name, full, true),
    ] {
        let tree = format!(
            "//- pkg/__init__.py\n{package}//- pkg/tables.py\n{table}//- pkg/other.py\ndef f(): pass\n//- pkg/old.py\nX = 1\n//- pkg/sub/__init__.py\n"
        );
        let texts = MemoryTexts::fixture(&tree);
        let unproven = plan(&texts, &[moving("pkg.old", "pkg.sub.old")], false).unproven;
        let tables = unproven
            .iter()
            .filter(|each| each.kind == UnprovenKind::RuntimeTable);
        assert_eq!(tables.count() > 0, told, "{tree}: {unproven:?}");
    }
}

#[test]
fn a_list_of_other_files_finds_no_module() {
    for (list, told) in [
        ("list(HERE.glob(\"*.json\"))", false),
        ("list(HERE.glob('data/*.csv'))", false),
        ("list(HERE.glob(\"*.json\" + MORE))", true),
        ("list(HERE.glob(\"*.py\"))", true),
        ("list(HERE.glob(\"*\"))", true),
        ("list(HERE.glob(PATTERN))", true),
        ("list(HERE.glob(\"*.json\")) + list(HERE.iterdir())", true),
    ] {
        let tree = format!(
            "//- pkg/__init__.py\n//- pkg/find.py\nfrom pathlib import Path\nHERE = Path(__file__).parent\nFILES = {list}\n//- pkg/old.py\nX = 1\n//- pkg/sub/__init__.py\n"
        );
        let texts = MemoryTexts::fixture(&tree);
        let unproven = plan(&texts, &[moving("pkg.old", "pkg.sub.old")], false).unproven;
        let found = unproven
            .iter()
            .any(|each| each.why.contains("lists the files"));
        assert_eq!(found, told, "{list}: {unproven:?}");
    }
}
