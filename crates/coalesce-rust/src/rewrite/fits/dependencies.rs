//! What two crates have by the name of a dependency outside of the tree.

use std::{cell::RefCell, collections::BTreeMap};

use coalesce_cargo::{dependencies, manifest::crate_name};

use super::names::Names;
use crate::resolve::CrateId;

/// What comes with the compiler: it is the same for each crate.
const STANDARD: [&str; 5] = ["std", "core", "alloc", "proc_macro", "test"];

/// Packages and the name of a dependency of both.
type Key = (usize, usize, String);

/// Which dependencies are the same for two crates, each read once.
#[derive(Default)]
pub(super) struct OutsideNames {
    known: RefCell<BTreeMap<Key, bool>>,
}

impl OutsideNames {
    /// Whether both crates have the same thing by a name, as far as their manifests tell.
    pub fn is_one(&self, names: &Names<'_>, crates: (CrateId, CrateId), name: &str) -> bool {
        let package = |krate: CrateId| names.world[krate].package;
        let (one, other) = (package(crates.0), package(crates.1));
        if one == other || STANDARD.contains(&name) {
            return true;
        }
        let key = (one, other, name.to_owned());
        if let Some(known) = self.known.borrow().get(&key) {
            return *known;
        }
        let said = says(names, one, name);
        let is_one = said.is_some() && said == says(names, other, name);
        self.known.borrow_mut().insert(key, is_one);
        is_one
    }
}

/// What a manifest says of a dependency, in each of its tables; `None` where that does not tell which it is.
fn says(names: &Names<'_>, package: usize, name: &str) -> Option<Vec<String>> {
    let text = names.texts.text(&names.world.manifest_of(package))?;
    let mut entries = dependencies::dependencies(&text).ok()?;
    entries.retain(|entry| crate_name(&entry.key) == name);
    // What a path leads to, the folder of the manifest says as well.
    let is_told = !entries.is_empty() && entries.iter().all(|entry| entry.raw("path").is_none());
    let lines = entries.into_iter().map(|mut entry| {
        entry.fields.sort();
        format!("{:?} {} {:?}", entry.table, entry.key, entry.fields)
    });
    let mut lines: Vec<String> = lines.collect();
    lines.sort();
    is_told.then_some(lines)
}
