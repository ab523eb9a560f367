//! The module that would lead on from an old name: `pub use new::*;`, and its declaration.

use coalesce_model::{LanguageGraph as _, Texts, TreePath, language::LeadingModule};

use crate::RustGraph;

/// The module that leads on from one name to the module of another one.
pub fn module(graph: &RustGraph, from: &str, to: &str, texts: &dyn Texts) -> Option<LeadingModule> {
    let (above, name) = from.rsplit_once("::")?;
    let mut modules = graph.modules().iter();
    let above = modules.find(|module| module.name == above && module.inline.is_none())?;
    texts.text(&above.path)?;
    Some(LeadingModule {
        path: place(&above.path, name)?,
        text: format!("pub use {}::*;\n", path_from(from, to)),
        declaration: Some((above.path.clone(), format!("\npub mod {name};\n"))),
    })
}

/// Where the file of a module stands that the one above it declares.
fn place(above: &TreePath, name: &str) -> Option<TreePath> {
    let file = match above.file_name() {
        "lib.rs" | "main.rs" | "mod.rs" => above.parent()?.join(&format!("{name}.rs")),
        _ => {
            let stem = above.as_str().strip_suffix(".rs")?;
            TreePath::new(&format!("{stem}/{name}.rs"))
        }
    };
    file.ok()
}

/// How the old module names the new one: by `crate` within one crate.
fn path_from(from: &str, to: &str) -> String {
    let first = |name: &str| name.split("::").next().unwrap_or_default().to_owned();
    let (own, other) = (first(from), first(to));
    match to.strip_prefix(&other) {
        Some(rest) if own == other => format!("crate{rest}"),
        _ => to.to_owned(),
    }
}
