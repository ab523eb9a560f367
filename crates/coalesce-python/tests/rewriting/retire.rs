//! Shims of single items that go again.

use coalesce_model::{LanguageGraph as _, MemoryTexts, Texts as _, TreePath};

use crate::support::{applied, graph, helped, item, moving, plan, shimmed};

/// A module that three items have left with shims; the users still say the old names.
fn left() -> MemoryTexts {
    let before = MemoryTexts::fixture(
        "//- pkg/__init__.py\n//- pkg/old.py\n__all__ = [\n    \"f\",\n    \"g\",\n]\n\n\ndef f():\n    return 1\n\n\ndef g():\n    return 2\n\n\nX = 3\n\n\ndef stays():\n    return X\n//- pkg/old.pyi\ndef f() -> int: ...\ndef g() -> int: ...\nX: int\n\ndef stays() -> int: ...\n//- pkg/new.pyi\n//- pkg/new.py\n",
    );
    let changes = ["f", "g", "X"]
        .map(|name| shimmed(item(&format!("pkg.old.{name}"), &format!("pkg.new.{name}"))));
    let mut files = applied(&before, &plan(&before, &changes, false));
    for (path, text) in [
        ("importer.py", "from pkg.old import f, stays\n"),
        (
            "attribute.py",
            "import pkg.old as old\n\nold.f()\nold.stays()\n",
        ),
        ("patches.py", "patch = 'pkg.old.f'\n"),
        ("stars.py", "from pkg.old import *\n\nprint(f)\n"),
        ("new_name.py", "from pkg.new import f\n"),
        (
            "local.py",
            "from pkg.old import stays\n\n\ndef run(f):\n    return f\n",
        ),
    ] {
        files.insert(path.to_owned(), text.to_owned());
    }
    let files = files.into_iter();
    MemoryTexts::new(files.map(|(path, text)| (TreePath::new(&path).unwrap(), text.into())))
}

#[test]
fn who_says_the_old_name() {
    let texts = left();
    let graph = graph(&texts);
    let names: Vec<String> = graph
        .item_shims()
        .into_iter()
        .map(|shim| shim.name)
        .collect();
    assert_eq!(names, ["pkg.old.f", "pkg.old.g", "pkg.old.X"]);
    let users = |name: &str| -> Vec<String> {
        let references = graph.item_shim_references(&[name], &texts);
        let references = references.into_iter().flatten();
        references
            .map(|reference| format!("{}:{}", reference.path, reference.span.start))
            .collect()
    };
    assert_eq!(
        users("pkg.old.f"),
        [
            "attribute.py:27",
            "importer.py:20",
            "patches.py:9",
            "stars.py:29"
        ]
    );
    assert!(users("pkg.old.g").is_empty());
    assert!(users("pkg.old.X").is_empty());
}

/// The file after some of its shims went.
fn after(names: &[&str]) -> (String, String) {
    let texts = left();
    let names: Vec<String> = names.iter().map(|name| format!("pkg.old.{name}")).collect();
    let plan = graph(&texts).retire_items(&names, &texts);
    assert!(plan.refusals.is_empty(), "{:?}", plan.refusals);
    let mut files = applied(&texts, &plan);
    let mut file = |path: &str| files.remove(path).unwrap();
    (file("pkg/old.py"), file("pkg/old.pyi"))
}

#[test]
fn some_of_the_shims_go() {
    let (source, types) = after(&["g"]);
    assert!(
        source.contains("# coalesce: item shim 0001-test f, X\nimport typing"),
        "{source}"
    );
    assert!(
        source.contains("\"f\": (") && !source.contains("\"g\""),
        "{source}"
    );
    assert!(source.contains("__all__ = [\n    \"f\",\n]"), "{source}");
    assert!(
        types.contains("item shim 0001-test f, X\n") && !types.contains(" g"),
        "{types}"
    );
    // `X` is imported by the module itself, so that nothing is left for type checkers.
    let (source, _) = after(&["f", "g"]);
    assert!(!source.contains("_typing"), "{source}");
    assert!(source.contains("\"X\": ("), "{source}");
}

#[test]
fn all_of_the_shims_go() {
    let (source, types) = after(&["f", "g", "X"]);
    assert_eq!(
        source, "from pkg.new import X\n\n\n__all__ = []\n\n\ndef stays():\n    return X\n",
        "{source}"
    );
    assert_eq!(types, "def stays() -> int: ...\n");
}

#[test]
fn what_was_edited_by_hand_stays() {
    let texts = left();
    let files = texts.paths().iter().map(|path| {
        let text = texts
            .text(path)
            .unwrap()
            .replace("del _forward_items", "pass");
        (path.clone(), text.into())
    });
    let texts = MemoryTexts::new(files);
    let plan = graph(&texts).retire_items(&["pkg.old.f".to_owned()], &texts);
    assert_eq!(plan.refusals.len(), 1);
}

#[test]
fn what_a_shim_brought_along_goes_with_the_last_of_them() {
    let before = MemoryTexts::fixture(
        "//- pkg/__init__.py\nfrom . import geo\n//- pkg/geo/__init__.py\nfrom .lie import So3\n//- pkg/geo/lie.py\nclass So3: pass\n//- pkg/geo/more.py\nx = 1\n",
    );
    let change = |from: &str, to: &str| helped(shimmed(moving(from, to)));
    let changes = [
        change("pkg.geo.lie", "pkg.lie"),
        change("pkg.geo.more", "pkg.more"),
    ];
    let files = applied(&before, &plan(&before, &changes, false));
    assert!(files.contains_key("pkg/_moved.py"));
    assert!(files["pkg/geo/__init__.py"].contains("from .. import lie"));
    let files = files.into_iter();
    let texts =
        MemoryTexts::new(files.map(|(path, text)| (TreePath::new(&path).unwrap(), text.into())));
    let shims = |names: &[&str]| -> Vec<TreePath> {
        names
            .iter()
            .map(|name| TreePath::new(name).unwrap())
            .collect()
    };
    let one = graph(&texts).retire(&shims(&["pkg/geo/lie.py"]), &texts);
    assert_eq!(one.refusals, []);
    let left = applied(&texts, &one);
    assert_eq!(left["pkg/geo/__init__.py"], "from ..lie import So3\n");
    assert!(left.contains_key("pkg/_moved.py"));
    let both = graph(&texts).retire(&shims(&["pkg/geo/lie.py", "pkg/geo/more.py"]), &texts);
    assert!(!applied(&texts, &both).contains_key("pkg/_moved.py"));
}
