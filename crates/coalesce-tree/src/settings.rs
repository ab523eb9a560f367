//! `coalesce.toml`: what a tree says about how it is to be read.

use std::{io::ErrorKind as IoErrorKind, path::Path};

use coalesce_model::{DuplicateSettings, LineIndex, Settings, TreePath};
use ignore::overrides::{Override, OverrideBuilder};
use serde::Deserialize;
use toml::Spanned;

use crate::{
    Error, ErrorKind,
    filter::PathFilter,
    plain::{self, Links},
};

const FILE: &str = "coalesce.toml";
/// Longer settings are a mistake.
const MAXIMUM_BYTES: u64 = 1 << 20;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Document {
    #[serde(default)]
    exclude: Vec<Spanned<String>>,
    #[serde(default)]
    python: Python,
    #[serde(default)]
    duplicates: Duplicates,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Python {
    roots: Option<Vec<Spanned<String>>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Duplicates {
    min_lines: Option<u32>,
    min_tokens: Option<u32>,
    #[serde(default)]
    generated: bool,
    #[serde(default)]
    include: Vec<Spanned<String>>,
    #[serde(default)]
    exclude: Vec<Spanned<String>>,
}

/// Settings of the walk and of the languages.
pub(crate) struct TreeSettings {
    /// What is left out of the walk.
    pub exclude: Override,
    /// What languages need to know.
    pub for_languages: Settings,
}

/// Reads the settings of the tree at `root`; a tree without the file has none.
pub(crate) fn read(root: &Path) -> Result<TreeSettings, Error> {
    match plain::read_to_string(&root.join(FILE), MAXIMUM_BYTES, Links::Refuse) {
        Ok(text) => parse(root, &text),
        Err(error) if error.kind() == IoErrorKind::NotFound => parse(root, ""),
        Err(error) => Err(Error::new(ErrorKind::from(&error), FILE, error.to_string())),
    }
}

fn parse(root: &Path, text: &str) -> Result<TreeSettings, Error> {
    let document: Document = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        malformed(text, at, error.message())
    })?;
    let roots = document
        .python
        .roots
        .map(|roots| python_roots(text, &roots));
    Ok(TreeSettings {
        exclude: excluded(root, text, &document.exclude)?,
        for_languages: Settings {
            python_roots: roots.transpose()?,
            duplicates: duplicates(text, &document.duplicates)?,
            ..Settings::default()
        },
    })
}

fn malformed(text: &str, at: usize, message: &str) -> Error {
    let at = u32::try_from(at).unwrap_or(0);
    let position = LineIndex::new(text).position(text, at);
    let path = format!("{FILE}:{}:{}", position.line, position.column);
    // The parser's second line only lists what it expected.
    let message = message.lines().next().unwrap_or_default();
    Error::new(ErrorKind::Settings, path, message)
}

fn python_roots(text: &str, roots: &[Spanned<String>]) -> Result<Vec<TreePath>, Error> {
    let root = |root: &Spanned<String>| {
        TreePath::new(root.get_ref())
            .map_err(|error| malformed(text, root.span().start, &error.to_string()))
    };
    roots.iter().map(root).collect()
}

fn duplicates(text: &str, said: &Duplicates) -> Result<DuplicateSettings, Error> {
    let globs = |globs: &[Spanned<String>]| -> Result<Vec<String>, Error> {
        for glob in globs {
            PathFilter::new(std::slice::from_ref(glob.get_ref()), &[])
                .map_err(|message| malformed(text, glob.span().start, &message))?;
        }
        Ok(globs.iter().map(|glob| glob.get_ref().clone()).collect())
    };
    Ok(DuplicateSettings {
        min_lines: said.min_lines,
        min_tokens: said.min_tokens,
        generated: said.generated,
        include: globs(&said.include)?,
        exclude: globs(&said.exclude)?,
    })
}

fn excluded(root: &Path, text: &str, globs: &[Spanned<String>]) -> Result<Override, Error> {
    let mut exclude = OverrideBuilder::new(root);
    for glob in globs {
        let wrong = |message: &str| malformed(text, glob.span().start, message);
        if glob.get_ref().starts_with('!') {
            return Err(wrong("`!` takes nothing back here; name what is left out"));
        }
        // In an override, `!` marks what is left out.
        exclude
            .add(&format!("!{}", glob.get_ref()))
            .map_err(|error| wrong(&error.to_string()))?;
    }
    exclude
        .build()
        .map_err(|error| malformed(text, 0, &error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_name_their_line() {
        let parse = |text| parse(Path::new("/tree"), text);
        let settings = parse("exclude = ['vendor/']\n[python]\nroots = ['src']\n").unwrap();
        let roots = settings.for_languages.python_roots;
        assert_eq!(roots, Some(vec![TreePath::new("src").unwrap()]));
        for (text, start) in [
            ("x = 1", "coalesce.toml:1:1: unknown field"),
            ("[python]\nroots = ['.', '..']", "coalesce.toml:2:15: `..`"),
            ("exclude = [\n 'a',\n 'a[']", "coalesce.toml:3:2: "),
            ("exclude = ['!a']", "coalesce.toml:1:12: `!`"),
            ("exclude = 1\n", "coalesce.toml:1:11: "),
        ] {
            let message = parse(text).err().map(|error| error.to_string());
            let message = message.unwrap_or_default();
            assert!(message.starts_with(start), "{message}");
        }
    }
}
