//! The facts that say which modules, imports and names there are, held against all facts of the same files: without the
//! bodies of functions that no import depends on, every one has to be the same, and at the same place.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use coalesce_model::{Language as _, TreePath};
use coalesce_python::{Python, facts::PythonFacts};

/// A folder of Python files that the test reads besides those of the repository.
const MORE: &str = "COALESCE_PYTHON_TREE";

/// All facts of a text but those that `structure` does not give.
fn expected(path: &TreePath, text: &str) -> PythonFacts {
    let whole = Python.facts(path, text);
    PythonFacts {
        flow: Default::default(),
        effects: Vec::new(),
        warning: None,
        storing_functions: Vec::new(),
        ..whole
    }
}

/// What differs. Of mistakes another one may be the first that is seen, or none: those inside of what is left out are not.
fn difference(text: &str) -> Option<String> {
    ["module.py", "package/__init__.py", "setup.py"]
        .iter()
        .find_map(|name| {
            let path = TreePath::new(name).unwrap();
            let (mut wanted, given) = (expected(&path, text), Python.structure(&path, text));
            if wanted.syntax_error.is_some() {
                wanted.syntax_error.clone_from(&given.syntax_error);
            }
            (wanted != given).then(|| format!("{name}: {}", first_difference(&wanted, &given)))
        })
}

/// The first lines that are not the same.
fn first_difference(wanted: &PythonFacts, given: &PythonFacts) -> String {
    let (wanted, given) = (format!("{wanted:#?}"), format!("{given:#?}"));
    let (wanted, given): (Vec<_>, Vec<_>) = (wanted.lines().collect(), given.lines().collect());
    let same = wanted.iter().zip(&given).take_while(|(a, b)| a == b);
    let same = same.count();
    let near = |lines: &[&str]| {
        let lines = lines.iter().skip(same.saturating_sub(3)).take(9);
        lines.map(|line| line.trim()).collect::<Vec<_>>().join(" ")
    };
    format!("wanted … {} … given … {} …", near(&wanted), near(&given))
}

fn python_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            python_files(&path, found);
        } else if kind.is_file()
            && path
                .extension()
                .is_some_and(|end| end == "py" || end == "pyi")
        {
            found.push(path);
        }
    }
}

#[test]
fn files_tell_the_same_without_bodies() {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases")];
    folders.extend(std::env::var_os(MORE).map(PathBuf::from));
    let (mut files, mut different) = (Vec::new(), Vec::new());
    folders
        .iter()
        .for_each(|folder| python_files(folder, &mut files));
    assert!(files.len() > 500, "{} files", files.len());
    for file in &files {
        let Ok(text) = fs::read_to_string(file) else {
            continue;
        };
        different.extend(difference(&text).map(|what| format!("{}: {what}", file.display())));
    }
    let first = different.iter().take(3).cloned().collect::<Vec<_>>();
    assert!(
        different.is_empty(),
        "{}: {}",
        different.len(),
        first.join("\n")
    );
}

/// A body that is long enough to be left out.
const LONG: &str = "    value = 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 + 10 + 11\n    return value\n";

#[test]
fn what_a_body_says_to_others_is_not_left_out() {
    for body in [
        "    import pkg.old\n",
        "    from pkg import old\n",
        "    global made\n    made = 1\n",
        "    __all__.append('made')\n",
        "    return importlib.import_module('pkg.old')\n",
        "    return __import__(name)\n",
        "    return find_spec('pkg.old')\n",
        "    return 'pkg.old'\n",
        "    return f'{x}' 'pkg.old'\n",
        "    return x if 'pkg.old' in x else 1\n",
        "    return RF'{x}' rb'x' Rf\"{load('pkg.old')}\"\n",
        "    return f\"{load('pkg.old')}\"\n",
        "    return f\"{load(\"pkg.old\")}\"\n",
        "    return '''pkg.old'''\n",
        "    def inner():\n        import pkg.old\n",
        "    class Inner:\n        from pkg import old\n",
        "    if x: return (\n'pkg.old',\n)\n",
        "    return 1; import pkg.old\n",
        "    return 1 \\\n+ 2\n",
    ] {
        for head in [
            "def f(x):\n",
            "async def f(x):\n",
            "class C:\n  def f(self):\n",
        ] {
            let text = format!("import a.b\n{head}{LONG}{body}\nmade_after = 1\nfrom c import d\n");
            assert_eq!(difference(&text), None, "\n{text}");
        }
    }
}

#[test]
fn what_stands_after_a_broken_body_is_not_left_out() {
    for body in [
        "    x = (\n",
        "    x = (1,\nmade_inside = 2\n    )\n",
        "    x = 'open\n",
        "    x = \"\"\"open\n",
        "    x = 1)\n",
        "    x = f'{\n",
        "    x \\ y\n",
        "    x = \\\"pkg.old\n",
        "\tx = 1\n",
        "    if:\n",
        "<<<<<<< ours\n    x = 1\n=======\n    x = 2\n>>>>>>> theirs\n",
        "    print 'x'\n",
        "  x = 1\n",
        "        x = 1\n",
        "    def\n",
        "    x = 1\r    y = 2\r",
    ] {
        for tail in [
            "class After:\n    from c import d\nmade_after = 1\n",
            "made_after = 1\nimport c.d\ndef g():\n    return 1\nmade_last = )\n",
            "def g():\n    return 1\n    return (2)\nimport c.d\n'''",
        ] {
            let text = format!("import a.b\ndef f(x):\n{LONG}{body}{LONG}{tail}");
            assert_eq!(difference(&text), None, "\n{text}");
        }
    }
}
