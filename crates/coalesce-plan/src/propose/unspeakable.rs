//! Copies of which no entry of a manifest can speak: what is no module, and modules that share one name.

use super::drafting::first_of;
use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::TreePath;

use super::copies::{Class, Modules};

/// Places of a list that are told.
const TOLD: usize = 3;

/// Takes the classes out that no entry can speak of, and says which they are and why.
pub fn take_out(modules: &Modules<'_>, classes: &mut Vec<Class<'_>>) -> Vec<String> {
    if modules.lexicon().for_devices {
        let kernels = std::mem::take(classes);
        return of_kernels(&kernels).into_iter().collect();
    }
    let shared = shared_names(modules);
    let mut said: BTreeMap<&str, usize> = BTreeMap::new();
    for class in classes.iter_mut() {
        let before = class.copies.len();
        let name = |module: usize| modules.module(module).map(|module| module.name.as_str());
        let ambiguous = |module: usize| name(module).filter(|name| shared.contains_key(name));
        if let Some(name) = class.copies.iter().find_map(|copy| ambiguous(copy.module)) {
            class.copies.retain(|copy| ambiguous(copy.module).is_none());
            *said.entry(name).or_default() += before - class.copies.len();
        }
    }
    classes.retain(|class| class.copies.len() > 1);
    let remark = |(name, copies): (&str, usize)| {
        let paths = shared.get(name).into_iter().flatten();
        let paths: Vec<&str> = paths.map(|path| path.as_str()).collect();
        format!(
            "Left out: {} in `{name}`, which is the name of several modules ({}): no entry can say which of them it \
             means.",
            counted(copies, "copy", "copies"),
            first_of(&paths, TOLD)
        )
    };
    said.into_iter().map(remark).collect()
}

/// Kernels are read and compared, and nothing is moved of them.
fn of_kernels(classes: &[Class<'_>]) -> Option<String> {
    let paths: BTreeSet<&TreePath> = classes
        .iter()
        .flat_map(|class| class.copies.iter().map(|copy| &copy.path))
        .collect();
    let paths: Vec<&str> = paths.into_iter().map(TreePath::as_str).collect();
    (!classes.is_empty()).then(|| {
        format!(
            "Left out: {} of copies in kernels, as in {}: no entry can name them, since they are no modules. \
             `coalesce audit` tells them, and `coalesce diff` what differs.",
            counted(classes.len(), "class", "classes"),
            first_of(&paths, TOLD)
        )
    })
}

/// Names that several modules have, each in a file of its own: one for each condition or package. A file of types is
/// another text of its module, and of programs with the name of their library the library is meant.
fn shared_names<'g>(modules: &Modules<'g>) -> BTreeMap<&'g str, BTreeSet<&'g TreePath>> {
    let separator = modules.language().separator();
    let mut files: BTreeMap<&str, BTreeSet<&TreePath>> = BTreeMap::new();
    let own = modules.all().iter();
    let own =
        own.filter(|module| module.inline.is_none() && module.path.extension() != Some("pyi"));
    for module in own.filter(|module| module.name.contains(separator)) {
        files.entry(&module.name).or_default().insert(&module.path);
    }
    files.retain(|_, paths| paths.len() > 1);
    files
}

fn counted(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}
