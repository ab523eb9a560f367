//! `coalesce.toml`: what a tree says about how it is to be read.

use std::{fs, io::ErrorKind as IoErrorKind, path::Path};

use coalesce_model::{LineIndex, Settings, TreePath};
use serde::Deserialize;

use crate::{Error, ErrorKind};

const FILE: &str = "coalesce.toml";

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Document {
    #[serde(default)]
    exclude: Vec<String>,
    #[serde(default)]
    python: Python,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Python {
    roots: Option<Vec<String>>,
}

/// Settings of the walk and of the languages.
#[derive(Default)]
pub(crate) struct TreeSettings {
    /// Globs of files that are left out, in the syntax of ignore files.
    pub exclude: Vec<String>,
    pub for_languages: Settings,
}

/// Reads the settings of the tree at `root`; a tree without the file has none.
pub(crate) fn read(root: &Path) -> Result<TreeSettings, Error> {
    let text = match fs::read_to_string(root.join(FILE)) {
        Ok(text) => text,
        Err(error) if error.kind() == IoErrorKind::NotFound => return Ok(TreeSettings::default()),
        Err(error) => {
            return Err(Error::new(
                ErrorKind::from(&error),
                FILE.to_owned(),
                error.to_string(),
            ));
        }
    };
    parse(&text)
}

fn parse(text: &str) -> Result<TreeSettings, Error> {
    let malformed = |at: u32, message: &str| {
        let position = LineIndex::new(text).position(text, at);
        let path = format!("{FILE}:{}:{}", position.line, position.column);
        Error::new(
            ErrorKind::Settings,
            path,
            message.lines().next().unwrap_or_default().to_owned(),
        )
    };
    let document: Document = toml::from_str(text).map_err(|error| {
        let start = error
            .span()
            .map_or(0, |span| u32::try_from(span.start).unwrap_or(0));
        malformed(start, error.message())
    })?;
    let roots = document.python.roots.map(|roots| {
        roots
            .iter()
            .map(|root| TreePath::new(root))
            .collect::<Result<_, _>>()
    });
    let roots = roots
        .transpose()
        .map_err(|error| malformed(0, &error.to_string()))?;
    Ok(TreeSettings {
        exclude: document.exclude,
        for_languages: Settings {
            python_roots: roots,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_name_their_line() {
        let settings = parse("exclude = ['vendor/']\n[python]\nroots = ['src']\n").unwrap();
        assert_eq!(
            settings.for_languages.python_roots,
            Some(vec![TreePath::new("src").unwrap()])
        );
        for (text, start) in [
            ("x = 1", "coalesce.toml:1:1: unknown field"),
            ("[python]\nroots = ['..']", "coalesce.toml:1:1: `..` leads"),
        ] {
            let message = parse(text)
                .err()
                .map(|error| error.to_string())
                .unwrap_or_default();
            assert!(message.starts_with(start), "{message}");
        }
    }
}
