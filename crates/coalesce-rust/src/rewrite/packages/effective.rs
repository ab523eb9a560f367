//! What a line of a manifest comes to, with what the workspace says for it.

use coalesce_cargo::{dependencies::Entry, features, features::Features, workspace};
use coalesce_model::{Texts, TreePath};

use super::book::Book;
use crate::discover::Package;

/// A line as if it said itself what it inherits.
pub(in super::super) struct Effective {
    pub entry: Entry,
    /// Where its path starts.
    directory: TreePath,
    /// Whether it has the default features.
    pub defaults: bool,
}

impl Effective {
    pub fn of(book: &mut Book<'_>, texts: &dyn Texts, package: &Package, entry: &Entry) -> Self {
        let own = Self {
            entry: entry.clone(),
            directory: package.directory.clone(),
            defaults: entry.default_features() != Some(false),
        };
        if !entry.is("workspace") {
            return own;
        }
        let Some((shared, directory)) = shared_line(book, texts, package, &entry.key) else {
            return own;
        };
        let mut whole = entry.clone();
        whole.inherit(&shared);
        // A member may turn them on, and cannot turn them off.
        let defaults =
            shared.default_features() != Some(false) || entry.default_features() == Some(true);
        Self {
            entry: whole,
            directory,
            defaults,
        }
    }

    /// The folder that it leads to, if it says one.
    pub fn place(&self) -> Option<TreePath> {
        let path = self.entry.string("path")?;
        self.directory.join(&path).ok()
    }

    /// Whether it turns a feature on in a package that has these.
    pub fn turns_on(&self, features: &Features, name: &str) -> bool {
        let wanted = [name.to_owned()].into();
        let mut asked = self.entry.features().into_iter();
        asked.any(|own| features::reaches(features, &own, &wanted))
            || self.defaults && features::reaches(features, "default", &wanted)
    }
}

/// The line of a workspace by which a package inherits, and the directory of the workspace.
fn shared_line(
    book: &mut Book<'_>,
    texts: &dyn Texts,
    package: &Package,
    key: &str,
) -> Option<(Entry, TreePath)> {
    let (path, directory) = workspace::root(texts, &package.directory)?;
    let text = book.text(&path).ok()?;
    let all = workspace::shared_dependencies(&text).ok()?;
    let shared = all.into_iter().find(|shared| shared.key == key)?;
    Some((shared, directory))
}
