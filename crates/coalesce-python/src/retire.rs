//! What it takes to remove a shim: its file. A package whose modules stay must keep its `__init__`.
//!
//! Whether anybody still uses the shim is not asked here.

use std::collections::BTreeSet;

use coalesce_model::{
    ByteSpan, Edit, Finding, LanguagePlan, Severity, Texts, TreePath, finding::codes,
};

use crate::{extract::SHIM_ATTRIBUTE, shim::helper::MARKER};

/// Removes the shim files `shims`.
pub(crate) fn retire(shims: &[TreePath], texts: &dyn Texts) -> LanguagePlan {
    let going: BTreeSet<&TreePath> = shims.iter().collect();
    let mut plan = LanguagePlan::default();
    for path in shims {
        match module_that_stays(path, &going, texts) {
            None => remove(path, &going, texts, &mut plan),
            Some(other) => plan.refusals.push(shared_package(path, other)),
        }
    }
    plan.deletes.extend(spent_helpers(&going, texts));
    plan
}

/// Removes one file, and what the package around it says of it.
fn remove(
    path: &TreePath,
    going: &BTreeSet<&TreePath>,
    texts: &dyn Texts,
    plan: &mut LanguagePlan,
) {
    plan.deletes.push(path.clone());
    let package = parent_file(path).filter(|package| !going.contains(package));
    if let Some((package, edits)) = package.and_then(|package| {
        let edits = attributes(path, &texts.text(&package)?);
        Some((package, edits))
    }) {
        plan.edits.entry(package).or_default().extend(edits);
    }
}

/// Refuses to remove a shim whose package holds something else.
fn shared_package(path: &TreePath, other: &TreePath) -> Finding {
    Finding {
        code: codes::UNSAFE_CHANGE,
        severity: Severity::Error,
        path: path.clone(),
        span: None,
        message: format!("the shim cannot be removed: its package also holds {other}"),
        help: Some("move what the package holds first, or empty the file by hand".to_owned()),
    }
}

/// Helpers that no other file uses once these shims are gone.
fn spent_helpers(going: &BTreeSet<&TreePath>, texts: &dyn Texts) -> Vec<TreePath> {
    let sources = || {
        let paths = texts.paths().iter();
        paths.filter(|path| path.extension() == Some("py"))
    };
    let holds = |path: &TreePath, is: &dyn Fn(&str) -> bool| {
        let text = texts.text(path);
        text.is_some_and(|text| is(&text))
    };
    let imports = |path: &TreePath| holds(path, &|text| text.contains("._moved import forward"));
    let helper = |path: &&TreePath| {
        path.file_name() == "_moved.py" && holds(path, &|text| text.starts_with(MARKER))
    };
    let spent = |helper: &&TreePath| {
        let package = helper.parent().unwrap_or_else(TreePath::root);
        let inside = |path: &&TreePath| path.strip_prefix(&package).is_some();
        let mut users = sources()
            .filter(inside)
            .filter(|path| imports(path))
            .peekable();
        users.peek().is_some() && users.all(|path| going.contains(path))
    };
    sources().filter(helper).filter(spent).cloned().collect()
}

/// The file of the package that a module is in.
fn parent_file(path: &TreePath) -> Option<TreePath> {
    let directory = path.parent()?;
    let directory = if path.file_stem() == "__init__" {
        directory.parent()?
    } else {
        directory
    };
    directory.join("__init__.py").ok()
}

/// The lines by which a package keeps the module behind a shim as its attribute.
fn attributes(shim: &TreePath, text: &str) -> Vec<Edit> {
    let directory = shim.parent().filter(|_| shim.file_stem() == "__init__");
    let leaf = directory
        .as_ref()
        .map_or(shim.file_stem(), TreePath::file_name);
    let mut at = 0;
    let mut edits = Vec::new();
    for line in text.split_inclusive('\n') {
        let span = ByteSpan::from_range(at..at + line.len());
        at += line.len();
        let statement = line.split("  # ").next().unwrap_or_default().trim_end();
        let bound = statement.rsplit(' ').next().unwrap_or_default();
        if line.contains(SHIM_ATTRIBUTE) && bound == leaf {
            edits.push(Edit::delete(span));
        }
    }
    edits
}

/// A source file below a package that does not go with it.
fn module_that_stays<'t>(
    path: &TreePath,
    going: &BTreeSet<&TreePath>,
    texts: &'t dyn Texts,
) -> Option<&'t TreePath> {
    if path.file_stem() != "__init__" {
        return None;
    }
    let package = path.parent()?;
    let source = |path: &TreePath| matches!(path.extension(), Some("py" | "pyi"));
    texts.paths().iter().find(|other| {
        let below = other.strip_prefix(&package).is_some();
        below && source(other) && !going.contains(other)
    })
}
