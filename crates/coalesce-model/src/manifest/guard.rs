//! What a migration writes to hold a tree to it: files that name old names on purpose.

use crate::TreePath;

/// The package that holds rustc to what it says of old names.
pub const GUARD_PACKAGE: &str = "migration-deprecations";

/// How the tests for the user's own suite begin.
pub const GUARD_HEAD: &str = "\"\"\"Guards a migration:";

/// Whether a file is one of those, by where it stands or, where its text is at hand, by how that begins.
#[must_use]
pub fn is_guard(path: &TreePath, text: Option<&str>) -> bool {
    // Asked of every import of a tree.
    let mut folders = path.as_str().rsplit('/').skip(1);
    folders.any(|folder| folder == GUARD_PACKAGE)
        || text.is_some_and(|text| text.starts_with(GUARD_HEAD))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guard_is_known_by_its_folder_or_its_first_words() {
        let path = |text: &str| TreePath::new(text).unwrap();
        assert!(is_guard(&path("a/migration-deprecations/src/lib.rs"), None));
        assert!(!is_guard(&path("a/x-migration-deprecations/lib.rs"), None));
        assert!(!is_guard(&path("migration-deprecations.py"), Some("x = 1")));
        assert!(is_guard(&path("t.py"), Some("\"\"\"Guards a migration: x")));
    }
}
