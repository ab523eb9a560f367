//! Which files of its folder a package has where it is published: `include` and `exclude`, which are patterns as those of an
//! ignore file.

use ignore::gitignore::GitignoreBuilder;
use toml_edit::{Document, Item};

use crate::{Error, document::parse};

/// What a manifest says of that.
#[derive(Debug, Default)]
pub struct PackedFiles {
    included: Vec<String>,
    excluded: Vec<String>,
}

impl PackedFiles {
    /// Reads it.
    ///
    /// # Errors
    /// When the manifest does not parse.
    pub fn of(text: &str) -> Result<Self, Error> {
        let document = parse(text)?;
        Ok(Self {
            included: list(&document, "include"),
            excluded: list(&document, "exclude"),
        })
    }

    /// Whether a file, by its path from the manifest, is left out. A list that takes something back (`!path`) is not
    /// followed: nothing is left out by it.
    #[must_use]
    pub fn leave_out(&self, path: &str) -> bool {
        let takes_back = |list: &[String]| list.iter().any(|one| one.starts_with('!'));
        if takes_back(&self.included) || takes_back(&self.excluded) {
            return false;
        }
        match self.included.is_empty() {
            true => fits_any(&self.excluded, path),
            false => !fits_any(&self.included, path),
        }
    }

    /// Whether a file is included by its own path, or that of a folder around it, and by no pattern.
    #[must_use]
    pub fn name(&self, path: &str) -> bool {
        let plain = self.included.iter();
        fits_any(plain.filter(|one| !one.contains(['*', '?', '['])), path)
    }
}

fn list(document: &Document<&str>, key: &str) -> Vec<String> {
    let package = document.get("package");
    let list = package
        .and_then(|package| package.get(key))
        .and_then(Item::as_array);
    let said = list.into_iter().flatten().filter_map(|one| one.as_str());
    said.map(str::to_owned).collect()
}

/// Whether a path, or a folder around it, fits one of some patterns. Cargo takes them by the same library. One that it cannot
/// read fits nothing.
fn fits_any<'p>(patterns: impl IntoIterator<Item = &'p String>, path: &str) -> bool {
    let mut builder = GitignoreBuilder::new("");
    for pattern in patterns {
        // What cannot be read is not added.
        _ = builder.add_line(None, pattern);
    }
    let built = builder.build();
    built.is_ok_and(|built| built.matched_path_or_any_parents(path, false).is_ignore())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_left_out_by_lists_of_patterns() {
        for (list, path, expected) in [
            ("", "src/a.rs", false),
            ("include = [\"src/**\"]", "src/gpu/a.rs", false),
            ("include = [\"src/**/*.rs\"]", "src/a.rs", false),
            ("include = [\"/src\"]", "src/gpu/a.rs", false),
            ("include = [\"src/lib.rs\"]", "src/a.rs", true),
            ("include = [\"src/old/*\"]", "src/new/a.rs", true),
            ("include = [\"*.rs\"]", "src/new/a.rs", false),
            ("include = [\"*\", \"!src/new\"]", "src/new/a.rs", false),
            ("exclude = [\"src/gpu/\"]", "src/gpu/a.rs", true),
            ("exclude = [\"tests\"]", "src/a.rs", false),
        ] {
            let packed = PackedFiles::of(&format!("[package]\nname = \"a\"\n{list}\n")).unwrap();
            assert_eq!(packed.leave_out(path), expected, "{list} {path}");
        }
        let packed = PackedFiles::of("[package]\ninclude = [\"src/a.rs\", \"src/b/*\"]\n").unwrap();
        assert!(packed.name("src/a.rs") && !packed.name("src/b/c.rs"));
    }
}
