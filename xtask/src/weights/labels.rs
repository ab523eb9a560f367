//! The labelled classes of `xtask/labels/`, as its README describes them. Reads no tree.

use std::{fs, path::Path};

use anyhow::{Context as _, bail};

/// Where a class comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Reported by the finder, and read.
    Read,
    /// A pair that maintainers merged, or keep apart.
    Merged,
    /// Reported by the finder, and read with the question whether anybody would merge it.
    Wanted,
}

impl Origin {
    /// Those that say whether something is duplicated.
    pub const ALL: [Self; 2] = [Self::Read, Self::Merged];

    /// Its file.
    pub const fn file(self) -> &'static str {
        match self {
            Self::Read => "read.tsv",
            Self::Merged => "merged.tsv",
            Self::Wanted => "wanted.tsv",
        }
    }
}

/// A tree at one commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// Its folder.
    pub name: String,
    /// `owner/name`.
    pub repository: String,
}

/// Lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, relative to the tree.
    pub path: String,
    /// First and last line, 1-based.
    pub lines: (u32, u32),
}

/// A labelled class.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Where it comes from.
    pub origin: Origin,
    /// Name of its tree.
    pub tree: String,
    /// What its units are.
    pub kind: String,
    /// Whether it is duplicated.
    pub duplicated: bool,
    /// How much the label counts, 0 to 1.
    pub weight: f64,
    /// Its members.
    pub places: Vec<Place>,
}

/// All labels.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    /// Trees, by name.
    pub trees: Vec<Tree>,
    /// Classes, by file and line.
    pub classes: Vec<Class>,
    /// Classes whose label says whether a maintainer would merge them.
    pub wanted: Vec<Class>,
}

impl Labels {
    /// Reads the files of `folder`.
    pub fn read(folder: &Path) -> anyhow::Result<Self> {
        let text = |name: &str| {
            let path = folder.join(name);
            fs::read_to_string(&path).with_context(|| format!("failed to read {}", path.display()))
        };
        let mut labels = Self {
            trees: rows("trees.tsv", &text("trees.tsv")?, tree)?,
            ..Self::default()
        };
        let classes = |origin: Origin| {
            let text = text(origin.file())?;
            rows(origin.file(), &text, |fields| class(origin, fields))
        };
        for origin in Origin::ALL {
            labels.classes.extend(classes(origin)?);
        }
        labels.wanted = classes(Origin::Wanted)?;
        let named = |class: &&Class| !labels.trees.iter().any(|tree| tree.name == class.tree);
        if let Some(class) = labels.classes.iter().chain(&labels.wanted).find(named) {
            bail!("trees.tsv lacks {}", class.tree);
        }
        Ok(labels)
    }
}

/// What `parse` makes of each line's fields; errors name the line.
fn rows<T>(
    name: &str,
    text: &str,
    parse: impl Fn(&[&str]) -> anyhow::Result<T>,
) -> anyhow::Result<Vec<T>> {
    let row = |(number, line): (usize, &str)| {
        let fields: Vec<&str> = line.split('\t').collect();
        parse(&fields).with_context(|| format!("{name}:{number}"))
    };
    (1..).zip(text.lines()).map(row).collect()
}

fn tree(fields: &[&str]) -> anyhow::Result<Tree> {
    let [name, repository, _commit] = fields else {
        bail!("three fields are needed");
    };
    Ok(Tree {
        name: (*name).to_owned(),
        repository: (*repository).to_owned(),
    })
}

fn class(origin: Origin, fields: &[&str]) -> anyhow::Result<Class> {
    let [tree, label, kind, places @ ..] = fields else {
        bail!("tree, label, kind and places are needed");
    };
    let (duplicated, weight) = match *label {
        "T" => (true, 1.0),
        "t" => (true, 0.5),
        "f" => (false, 0.5),
        "F" => (false, 1.0),
        _ => bail!("{label} is no label"),
    };
    if places.len() < 2 {
        bail!("two places at least are needed");
    }
    let places: anyhow::Result<Vec<Place>> = places.iter().map(|text| place(text)).collect();
    Ok(Class {
        origin,
        tree: (*tree).to_owned(),
        kind: (*kind).to_owned(),
        duplicated,
        weight,
        places: places?,
    })
}

fn place(text: &str) -> anyhow::Result<Place> {
    let parsed = || {
        let (path, lines) = text.rsplit_once(':')?;
        let (first, last) = lines.split_once('-')?;
        let lines: (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        (lines.0 <= lines.1).then(|| Place {
            path: path.to_owned(),
            lines,
        })
    };
    parsed().with_context(|| format!("{text} is no place"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_no_rows_are_named() {
        let cases = [
            ("one\tT\tfunction\ta.py:1-2\tb.py:3-4", Ok(())),
            (
                "one\tT\tfunction\ta.py:1-2",
                Err("x.tsv:1: two places at least are needed"),
            ),
            (
                "one\tX\tfunction\ta.py:1-2\tb.py:3-4",
                Err("x.tsv:1: X is no label"),
            ),
            (
                "one\tT\tfunction\ta.py:1-2\tb.py:9-4",
                Err("x.tsv:1: b.py:9-4 is no place"),
            ),
            (
                "one",
                Err("x.tsv:1: tree, label, kind and places are needed"),
            ),
        ];
        for (text, expected) in cases {
            let found = rows("x.tsv", text, |fields| class(Origin::Read, fields));
            let found = found.map(|_| ()).map_err(|error| format!("{error:#}"));
            assert_eq!(found, expected.map_err(ToOwned::to_owned), "{text}");
        }
    }

    #[test]
    fn the_labels_of_the_repository_are_read() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("labels");
        let labels = Labels::read(&folder).unwrap();
        for origin in Origin::ALL {
            assert!(labels.classes.iter().any(|class| class.origin == origin));
        }
    }
}
