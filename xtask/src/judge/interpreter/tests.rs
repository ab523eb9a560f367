//! Trees before and after, as somebody would leave them, with Python as judge.

use std::fs;

use super::*;
use crate::judge::{consolidation::Kind, planted};

/// A package with an item that others have, a submodule that nobody but another one imports, a table and names
/// that are made when they are asked for.
const TREE: &[(&str, &str)] = &[
    (
        "pkg/__init__.py",
        "from .shapes import Square\nfrom .registry import TABLE\n__all__ = [\"Square\", \"TABLE\", \"lazy\"]\n\n\
         def __getattr__(name):\n    if name == \"lazy\":\n        from . import later\n        return later.lazy\n    raise AttributeError(name)\n",
    ),
    (
        "pkg/shapes.py",
        "import os\n\nclass Square:\n    pass\n\ndef _area(square):\n    return os.sep\n",
    ),
    ("pkg/more.py", "from .shapes import *\n"),
    (
        "pkg/registry.py",
        "from .shapes import Square\nTABLE = {\"square\": Square, \"none\": None}\nNOW = object()\n",
    ),
    ("pkg/later.py", "def lazy():\n    pass\n"),
    ("pkg/target.py", "X = 1\n"),
];

fn tree(changes: &[(&str, &str)]) -> tempfile::TempDir {
    let files: Vec<(&str, &str)> = TREE.iter().chain(changes).copied().collect();
    planted::tests::tree(&files)
}

/// What is said of a tree in which these files have become others.
fn objection(done: &Consolidation, changes: &[(&str, &str)]) -> Option<Objection> {
    let folder = tree(&[]);
    let judge = Interpreter::new(folder.path(), Path::new("python3")).unwrap();
    for (path, text) in changes {
        match text {
            &"" => fs::remove_file(folder.path().join(path)).unwrap(),
            text => fs::write(folder.path().join(path), text).unwrap(),
        }
    }
    judge.objection(folder.path(), done, &Value::Null).unwrap()
}

fn done(from: &str, to: &str) -> Consolidation {
    Consolidation {
        kind: if from.ends_with("Square") {
            Kind::Item
        } else {
            Kind::Module
        },
        language: LanguageKind::Python,
        from: from.to_owned(),
        to: to.to_owned(),
        shim: false,
        decide: Vec::new(),
        planted: None,
    }
}

fn square() -> Consolidation {
    done("pkg.shapes.Square", "pkg.target.Square")
}

/// The item where it goes, and what is left of its old module.
const TARGET: (&str, &str) = ("pkg/target.py", "X = 1\n\nclass Square:\n    pass\n");
const LEFT: (&str, &str) = (
    "pkg/shapes.py",
    "import os\n\ndef _area(square):\n    return os.sep\n",
);
const REGISTRY: (&str, &str) = (
    "pkg/registry.py",
    "from .target import Square\nTABLE = {\"square\": Square, \"none\": None}\nNOW = object()\n",
);
const MORE: (&str, &str) = (
    "pkg/more.py",
    "from .shapes import *\nfrom .target import Square\n",
);
const PACKAGE: &str = "from . import shapes\nfrom .target import Square\nfrom .registry import TABLE\n\
    __all__ = [\"Square\", \"TABLE\", \"lazy\"]\n\ndef __getattr__(name):\n    if name == \"lazy\":\n        \
    from . import later\n        return later.lazy\n    raise AttributeError(name)\n";

/// All of them, with other ones in the place of some.
fn moved<'t>(others: &[(&'t str, &'t str)]) -> Vec<(&'t str, &'t str)> {
    let own = [TARGET, LEFT, REGISTRY, MORE, ("pkg/__init__.py", PACKAGE)];
    let kept = own
        .into_iter()
        .filter(|(path, _)| others.iter().all(|(other, _)| other != path));
    kept.chain(others.iter().copied()).collect()
}

#[track_caller]
fn names(changes: &[(&str, &str)], done: &Consolidation, expected: &str) {
    match objection(done, changes) {
        Some(Objection::Names(said)) => assert!(said.contains(expected), "{said}"),
        other => panic!("{other:?}, not {expected}"),
    }
}

#[test]
fn an_item_that_is_where_everybody_finds_it_is_right() {
    assert_eq!(objection(&square(), &moved(&[])), None);
}

#[test]
fn a_star_import_that_lacks_the_item_is_told() {
    let changed = moved(&[("pkg/more.py", "from .shapes import *\n")]);
    names(
        &changed,
        &square(),
        "pkg.more.Square: class pkg.shapes:Square before, gone after",
    );
}

#[test]
fn a_submodule_that_is_no_attribute_any_more_is_told() {
    let package = PACKAGE.replace("from . import shapes\n", "");
    let changed = moved(&[("pkg/__init__.py", &package)]);
    names(
        &changed,
        &square(),
        "pkg.shapes: module pkg.shapes before, gone after",
    );
}

#[test]
fn an_entry_of_a_table_that_is_gone_is_told() {
    let registry = REGISTRY.1.replace(", \"none\": None", "");
    let changed = moved(&[("pkg/registry.py", &registry)]);
    names(
        &changed,
        &square(),
        "pkg.TABLE: constant builtins:dict, 'none': None, 'square': class pkg.shapes:Square before",
    );
}

#[test]
fn a_name_that_is_given_when_it_is_asked_for_is_looked_at() {
    let package = PACKAGE.replace("return later.lazy", "return later.other");
    let changed = moved(&[("pkg/__init__.py", &package)]);
    names(
        &changed,
        &square(),
        "pkg.lazy: function pkg.later:lazy before, gone after",
    );
}

#[test]
fn a_name_that_leads_to_another_thing_is_told() {
    let registry = format!("{}class Square:\n    pass\n", REGISTRY.1);
    let changed = moved(&[("pkg/registry.py", &registry)]);
    names(
        &changed,
        &square(),
        "pkg.registry.Square: class pkg.shapes:Square before, class pkg.registry:Square after",
    );
}

#[test]
fn a_private_name_that_is_gone_is_told() {
    let changed = moved(&[("pkg/shapes.py", "import os\n")]);
    names(
        &changed,
        &square(),
        "pkg.shapes._area: function pkg.shapes:_area before, gone after",
    );
}

#[test]
fn an_import_that_only_what_left_needed_may_go_with_it() {
    let changed = moved(&[("pkg/shapes.py", "def _area(square):\n    return 1\n")]);
    assert_eq!(objection(&square(), &changed), None);
    // Elsewhere it is a name that is gone.
    let package = PACKAGE
        .replace("from .registry import TABLE\n", "")
        .replace("\"TABLE\", ", "");
    let changed = moved(&[("pkg/__init__.py", &package)]);
    names(&changed, &square(), "pkg.TABLE: constant builtins:dict");
}

#[test]
fn a_name_that_has_come_is_told() {
    let changed = moved(&[(
        "pkg/later.py",
        "def lazy():\n    pass\n\ndef other():\n    pass\n",
    )]);
    names(
        &changed,
        &square(),
        "pkg.later.other: nothing before, function pkg.later:other after",
    );
}

#[test]
fn a_warning_at_import_is_told() {
    let later = "import warnings as _w\n_w.warn('anew')\ndel _w\ndef lazy():\n    pass\n";
    let changed = moved(&[("pkg/later.py", later)]);
    names(
        &changed,
        &square(),
        "import pkg.later warns anew: UserWarning: anew",
    );
}

#[test]
fn a_name_that_warns_of_the_old_one_is_told() {
    let package = PACKAGE.replace(
        "        from . import later\n",
        "        import warnings\n        warnings.warn('old', DeprecationWarning)\n        from . import later\n",
    );
    let changed = moved(&[("pkg/__init__.py", &package)]);
    names(
        &changed,
        &square(),
        "pkg.lazy: warns anew: DeprecationWarning: old",
    );
}

#[test]
fn reading_names_that_ends_the_interpreter_is_told() {
    let package = PACKAGE.replace(
        "        return later.lazy",
        "        import os\n        os._exit(7)",
    );
    let changed = moved(&[("pkg/__init__.py", &package)]);
    names(
        &changed,
        &square(),
        "reading the names of pkg ends the interpreter",
    );
}

#[test]
fn a_module_that_moved_has_what_it_had() {
    let mut changes = vec![
        ("pkg/later.py", ""),
        ("pkg/late.py", "def lazy():\n    pass\n"),
    ];
    let package = TREE[0].1.replace(
        "from . import later\n        return later.lazy",
        "from . import late\n        return late.lazy",
    );
    changes.push(("pkg/__init__.py", &package));
    let done = done("pkg.later", "pkg.late");
    assert_eq!(objection(&done, &changes), None);
    changes[1] = (
        "pkg/late.py",
        "def lazy():\n    pass\n\ndef more():\n    pass\n",
    );
    names(
        &changes,
        &done,
        "pkg.late.more: nothing before, function pkg.late:more after",
    );
}

#[test]
fn a_module_behind_a_shim_gives_what_it_had() {
    let late = ("pkg/late.py", "def lazy():\n    pass\n");
    let shim = "import warnings\nwarnings.warn('`pkg.later` is deprecated', DeprecationWarning)\n\n\
        def __getattr__(name):\n    from . import late\n    return getattr(late, name)\n";
    let package = TREE[0].1.replace(
        "from . import later\n        return later.lazy",
        "from . import late\n        return late.lazy",
    );
    let mut changes = vec![late, ("pkg/later.py", shim), ("pkg/__init__.py", &package)];
    let done = Consolidation {
        shim: true,
        decide: Vec::new(),
        planted: None,
        ..done("pkg.later", "pkg.late")
    };
    assert_eq!(objection(&done, &changes), None);
    let empty = "import warnings\nwarnings.warn('`pkg.later` is deprecated', DeprecationWarning)\n";
    changes[1] = ("pkg/later.py", empty);
    names(
        &changes,
        &done,
        "pkg.later.lazy: function pkg.later:lazy before, gone after",
    );
}

#[test]
fn an_import_that_fails_comes_before_names() {
    let changed = moved(&[("pkg/later.py", "import nothing_of_the_kind\n")]);
    let said = objection(&square(), &changed);
    assert!(matches!(said, Some(Objection::Fails(said)) if said.contains("ModuleNotFoundError")));
}

#[test]
fn an_interpreter_that_gives_no_answer_is_an_error() {
    let folder = tree(&[]);
    assert!(Interpreter::new(folder.path(), Path::new("false")).is_err());
    assert!(Interpreter::new(folder.path(), Path::new("no-such-interpreter")).is_err());
}
