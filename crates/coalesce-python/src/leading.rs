//! The module that would lead on from an old name: `from new import *`.

use coalesce_model::{LanguageGraph as _, Module, Texts, TreePath, language::LeadingModule};

use crate::PythonGraph;

/// The module that leads on from one name to the module of another one.
pub fn module(
    graph: &PythonGraph,
    from: &str,
    to: &str,
    texts: &dyn Texts,
) -> Option<LeadingModule> {
    let home = graph.modules().iter().find(|module| module.name == to)?;
    let path = place(from, home).filter(|path| !texts.exists(path))?;
    Some(LeadingModule {
        path,
        text: format!("from {to} import *\n"),
        declaration: None,
    })
}

/// Where a module would stand: below the directory that the name of the other one begins at.
fn place(name: &str, home: &Module) -> Option<TreePath> {
    let inside = home.name.replace('.', "/");
    let stem = home.path.as_str().strip_suffix(".py")?;
    let stem = stem.strip_suffix("/__init__").unwrap_or(stem);
    let root = stem.strip_suffix(&inside)?;
    TreePath::new(&format!("{root}{}.py", name.replace('.', "/"))).ok()
}
