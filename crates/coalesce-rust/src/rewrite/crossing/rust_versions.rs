//! The oldest Rust that packages promise to compile with (`rust-version`), which what comes to one may not do.

use coalesce_cargo::package::rust_version;
use coalesce_model::Finding;

use super::Check;
use crate::{resolve::CrateId, rewrite::mapping::Mapping};

impl Check<'_> {
    /// Warns where code goes to a package that promises an older Rust than the one it was written for.
    pub(super) fn rust_version(&mut self, (from, to): (CrateId, CrateId)) {
        let (old, new) = (promised(self.mapping, from), promised(self.mapping, to));
        let Some(new) = new else { return };
        if old.as_ref().is_some_and(|old| parts(old) <= parts(&new)) {
            return;
        }
        let world = self.mapping.world;
        let written = match old {
            Some(old) => format!("was written for Rust {old}"),
            None => "comes from a package that promises none".to_owned(),
        };
        let message = format!(
            "`{}` promises to compile with Rust {new}, and what comes to it {written}: whether it uses what is newer is \
             not known",
            world.package_of(to).name
        );
        let manifest = world.manifest_of(world[to].package);
        let told = Finding::warning(manifest, message);
        if !self.found.notes.contains(&told) {
            self.found.notes.push(told);
        }
    }
}

/// The `rust-version` of a crate's package, its own or that of its workspace.
fn promised(mapping: &Mapping<'_>, krate: CrateId) -> Option<String> {
    rust_version(mapping.texts, &mapping.world.package_of(krate).directory)
}

/// The numbers of a version, of which those that are missing are 0.
fn parts(version: &str) -> [u32; 3] {
    let mut numbers = version.split('.').map(|part| part.parse().unwrap_or(0));
    std::array::from_fn(|_| numbers.next().unwrap_or(0))
}
