//! Small trees, changes, and the trees that they leave.

use std::{collections::BTreeMap, sync::Arc};

use coalesce_model::{
    Change, ChangeKind, Edit, EditSet, Language as _, LanguageGraph as _, LanguagePlan,
    MemoryTexts, Settings, ShimRequest, ShimStyle, Subject, Texts, TreePath,
    language::RewriteOptions,
};
use coalesce_python::{Python, PythonGraph};

/// A move without a shim.
pub fn moving(from: &str, to: &str) -> Change {
    Change {
        from: from.into(),
        to: to.into(),
        subject: Subject::Module,
        kind: ChangeKind::Move,
        shim: None,
        uses: coalesce_model::Uses::default(),
    }
}

/// A move of an item without a shim.
pub fn item(from: &str, to: &str) -> Change {
    Change {
        subject: Subject::Item,
        ..moving(from, to)
    }
}

/// A replacement of an item.
pub fn duplicate(from: &str, to: &str) -> Change {
    Change {
        kind: ChangeKind::Replace { rename: Vec::new() },
        ..item(from, to)
    }
}

/// The same with a shim.
pub fn shimmed(change: Change) -> Change {
    let request = ShimRequest {
        manifest: "0001-test".into(),
        since: Some("3.9.0".into()),
        remove_in: Some("4.0.0".into()),
        trait_bounds: false,
        style: ShimStyle::Inline,
    };
    Change {
        shim: Some(request),
        ..change
    }
}

/// The same with a helper that is written once.
pub fn helped(change: Change) -> Change {
    let shim = change.shim.map(|request| ShimRequest {
        style: ShimStyle::Helper,
        ..request
    });
    Change { shim, ..change }
}

/// A replacement with renamed items.
pub fn replacing(from: &str, to: &str, rename: &[(&str, &str)]) -> Change {
    let rename = rename
        .iter()
        .map(|(old, new)| ((*old).to_owned(), (*new).to_owned()))
        .collect();
    Change {
        from: from.into(),
        to: to.into(),
        subject: Subject::Module,
        kind: ChangeKind::Replace { rename },
        shim: None,
        uses: coalesce_model::Uses::default(),
    }
}

/// The resolved graph of a tree.
pub fn graph(texts: &MemoryTexts) -> PythonGraph {
    let claimed = texts.paths().iter().filter(|path| Python.claims(path));
    let facts = |path: &TreePath| {
        Some((
            path.clone(),
            Arc::new(Python.facts(path, &texts.text(path)?)),
        ))
    };
    let files: Vec<_> = claimed.filter_map(facts).collect();
    Python.resolve(&files, texts.paths(), &Settings::default())
}

/// The proposal for a tree.
pub fn plan(texts: &MemoryTexts, changes: &[Change], prose: bool) -> LanguagePlan {
    graph(texts).rewrite(changes, RewriteOptions { prose, way: 0 }, texts)
}

/// The tree that a proposal leaves.
pub fn applied(texts: &MemoryTexts, plan: &LanguagePlan) -> BTreeMap<String, String> {
    let mut result = BTreeMap::new();
    for path in texts
        .paths()
        .iter()
        .filter(|path| !plan.deletes.contains(path))
    {
        let text = texts.text(path).expect("a fixture's own file");
        let edits: Vec<Edit> = plan.edits.get(path).cloned().unwrap_or_default();
        let set = EditSet::from_edits(&text, edits).expect("edits fit each other");
        let to = plan
            .moves
            .iter()
            .find(|file| file.from == *path)
            .map_or(path, |file| &file.to);
        result.insert(
            to.to_string(),
            set.apply(&text).expect("edits fit the text"),
        );
    }
    for file in &plan.creates {
        result.insert(file.path.to_string(), file.text.clone());
    }
    result
}

/// Checks that `changes` make `before` into `after`; of `after`, only the files that differ are
/// listed, files that must be gone with the one line `GONE`.
pub fn check(before: &str, changes: &[Change], after: &str) {
    check_with(before, changes, false, after);
}

/// The same with prose.
pub fn check_with(before: &str, changes: &[Change], prose: bool, after: &str) {
    let texts = MemoryTexts::fixture(before);
    let plan = plan(&texts, changes, prose);
    assert_eq!(plan.refusals, [], "{before}");
    let expected = MemoryTexts::fixture(after);
    let mut want: BTreeMap<String, String> = texts
        .paths()
        .iter()
        .map(|path| (path.to_string(), texts.text(path).unwrap().to_string()))
        .collect();
    for path in expected.paths() {
        match &*expected.text(path).unwrap() {
            "GONE\n" => drop(want.remove(path.as_str())),
            text => drop(want.insert(path.to_string(), text.to_owned())),
        }
    }
    let show = |tree: &BTreeMap<String, String>| {
        tree.iter()
            .map(|(path, text)| format!("//- {path}\n{text}"))
            .collect::<String>()
    };
    assert_eq!(show(&applied(&texts, &plan)), show(&want));
}
