//! Which files of a tree a list of globs means. The syntax is that of `.gitignore`.

use coalesce_model::TreePath;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// Files that are included, all when nothing is said, less those that are excluded.
#[derive(Clone, Debug)]
pub struct PathFilter {
    include: Option<Gitignore>,
    exclude: Gitignore,
}

impl Default for PathFilter {
    /// Every file passes.
    fn default() -> Self {
        Self {
            include: None,
            exclude: Gitignore::empty(),
        }
    }
}

impl PathFilter {
    /// The filter that these globs make.
    ///
    /// # Errors
    /// What is wrong with a glob.
    pub fn new(include: &[String], exclude: &[String]) -> Result<Self, String> {
        Ok(Self {
            include: (!include.is_empty())
                .then(|| matcher(include))
                .transpose()?,
            exclude: matcher(exclude)?,
        })
    }

    /// Whether a file passes.
    #[must_use]
    pub fn passes(&self, path: &TreePath) -> bool {
        let named = |globs: &Gitignore| {
            globs
                .matched_path_or_any_parents(path.as_str(), false)
                .is_ignore()
        };
        self.include.as_ref().is_none_or(named) && !named(&self.exclude)
    }
}

fn matcher(globs: &[String]) -> Result<Gitignore, String> {
    let mut builder = GitignoreBuilder::new("");
    for glob in globs {
        builder
            .add_line(None, glob)
            .map_err(|error| error.to_string())?;
    }
    builder.build().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_name_files_and_what_is_below_directories() {
        for (include, exclude, path, passes) in [
            (&[][..], &[][..], "a/b.py", true),
            (&["src/"], &[], "src/a/b.py", true),
            (&["src/"], &[], "tests/b.py", false),
            (&[], &["tests/", "*_pb2.py"], "tests/a/b.py", false),
            (&[], &["*_pb2.py"], "a/x_pb2.py", false),
            (&["*.rs"], &["**/generated/**"], "a/generated/b.rs", false),
        ] {
            let owned = |globs: &[&str]| {
                globs
                    .iter()
                    .map(|glob| (*glob).to_owned())
                    .collect::<Vec<_>>()
            };
            let filter = PathFilter::new(&owned(include), &owned(exclude)).unwrap();
            assert_eq!(
                filter.passes(&TreePath::new(path).unwrap()),
                passes,
                "{path}"
            );
        }
        assert!(PathFilter::new(&["a{b".to_owned()], &[]).is_err());
    }
}
