//! Which files of its folder a package has where it is published: `include` and `exclude`, which are patterns as those of an
//! ignore file.

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
        let any = |list: &[String]| list.iter().any(|pattern| fits(pattern, path));
        match self.included.is_empty() {
            true => any(&self.excluded),
            false => !any(&self.included),
        }
    }

    /// Whether a file is included by its own path, or that of a folder around it, and by no pattern.
    #[must_use]
    pub fn name(&self, path: &str) -> bool {
        let mut plain = self
            .included
            .iter()
            .filter(|one| !one.contains(['*', '?', '[']));
        plain.any(|one| fits(one, path))
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

/// Whether a path, or a folder around it, fits a pattern.
fn fits(pattern: &str, path: &str) -> bool {
    let plain = pattern.trim_end_matches('/');
    let parts: Vec<&str> = plain.trim_start_matches('/').split('/').collect();
    let names: Vec<&str> = path.split('/').collect();
    let starts = match plain.contains('/') {
        true => 1,
        false => names.len(),
    };
    (0..starts).any(|at| begins(&parts, names.get(at..).unwrap_or_default()))
}

/// Whether names begin with those that the parts of a pattern fit.
fn begins(parts: &[&str], names: &[&str]) -> bool {
    match (parts.split_first(), names.split_first()) {
        (None, _) => true,
        (Some((&"**", rest)), _) => {
            (0..=names.len()).any(|at| begins(rest, names.get(at..).unwrap_or_default()))
        }
        (Some((part, rest)), Some((name, below))) => {
            is_like(part.as_bytes(), name.as_bytes()) && begins(rest, below)
        }
        (Some(_), None) => false,
    }
}

/// Whether a name fits one part of a pattern. A class of letters may be any.
fn is_like(part: &[u8], name: &[u8]) -> bool {
    match (part.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => {
            (0..=name.len()).any(|at| is_like(rest, name.get(at..).unwrap_or_default()))
        }
        (Some((b'[', rest)), Some((_, below))) => {
            let end = rest
                .iter()
                .position(|byte| *byte == b']')
                .map_or(0, |at| at + 1);
            is_like(rest.get(end..).unwrap_or_default(), below)
        }
        (Some((b'?', rest)), Some((_, below))) => is_like(rest, below),
        (Some((one, rest)), Some((other, below))) => one == other && is_like(rest, below),
        _ => false,
    }
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
