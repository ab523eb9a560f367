//! Real packages of cargo's registry, put together to workspaces of three sizes: whether time and
//! memory grow with the lines alone.
//!
//! The packages stand in a list, each size is a beginning of it, and the module that moves is of its
//! first package, so that its users are the same in all sizes. Nothing is fetched here.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};

const PACKAGES: &str = include_str!("packages.txt");
/// The module that moves, and where to.
const MOVE: (&str, &str) = ("rayon::iter::plumbing", "rayon::plumbing");
/// What a package is read from.
const READ: [&str; 3] = ["rs", "toml", "md"];

/// A workspace of real packages.
pub struct Registry {
    /// Where it is.
    pub root: PathBuf,
    /// Lines of its Rust files.
    pub lines: usize,
}

/// The name of the module that moves.
pub const MODULE: &str = MOVE.0;

/// The manifest of the move.
pub fn manifest() -> String {
    let (from, to) = MOVE;
    format!("schema = 1\n\n[[move]]\nfrom = \"{from}\"\nto = \"{to}\"\n")
}

impl Registry {
    /// Puts about `thousands` of lines together below `directory`; the same ones each time.
    ///
    /// # Errors
    /// When a package is not in cargo's registry.
    pub fn assembled(directory: &Path, name: &str, thousands: usize) -> anyhow::Result<Self> {
        let root = directory.join(format!("registry-{name}"));
        let sources = sources()?;
        let mut lines = 0;
        fs::create_dir_all(root.join("crates"))?;
        for (package, count) in packages() {
            if lines >= thousands * 1000 {
                break;
            }
            let from = sources.iter().map(|source| source.join(&package));
            let Some(from) = from.into_iter().find(|from| from.is_dir()) else {
                bail!("{package} is not in cargo's registry; `cargo fetch` gets it");
            };
            let to = root.join("crates").join(&package);
            if !to.is_dir() {
                copy(&from, &to).with_context(|| format!("failed to copy {package}"))?;
            }
            lines += count;
        }
        let workspace = "[workspace]\nresolver = \"2\"\nmembers = [\"crates/*\"]\n";
        fs::write(root.join("Cargo.toml"), workspace)?;
        Ok(Self {
            root: root.canonicalize()?,
            lines,
        })
    }
}

/// Directory names of the packages, with the lines of each.
fn packages() -> impl Iterator<Item = (String, usize)> {
    let lines = PACKAGES.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| {
        let mut words = line.split(' ');
        let (name, version) = (words.next()?, words.next()?);
        Some((format!("{name}-{version}"), words.next()?.parse().ok()?))
    })
}

/// The directories of unpacked packages.
fn sources() -> anyhow::Result<Vec<PathBuf>> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    let directory = home.context("there is no home directory")?;
    let directory = directory.join("registry/src");
    let entries = fs::read_dir(&directory)
        .with_context(|| format!("nothing is in {}", directory.display()))?;
    let paths = entries.map(|entry| Ok(entry?.path()));
    paths.collect()
}

fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        let read = path.extension().and_then(|end| end.to_str());
        if kind.is_dir() {
            copy(&path, &to.join(entry.file_name()))?;
        } else if kind.is_file() && read.is_some_and(|end| READ.contains(&end)) {
            fs::create_dir_all(to)?;
            fs::copy(&path, to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sizes_are_beginnings_of_the_list() {
        let first = packages().next().map(|(package, _)| package);
        assert!(first.is_some_and(|package| package.starts_with("rayon-")));
        for wanted in [50_000, 200_000, 1_000_000] {
            let mut lines = 0;
            for (_, count) in packages() {
                if lines >= wanted {
                    break;
                }
                lines += count;
            }
            assert!((wanted..wanted + wanted / 100).contains(&lines), "{lines}");
        }
    }
}
