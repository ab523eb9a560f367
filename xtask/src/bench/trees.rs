//! The trees that benchmarks read: a real package where there is one, else one made here.
//!
//! None of them is part of the repository, and what is measured works on copies.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};

/// The package of the LiDAR project, as a registry has it. A wheel is only unpacked: nothing of it
/// runs.
pub const LIDAR_PACKAGE: &str = "ign-lidar-hd==4.1.18";
/// Names the tree when the command line does not.
pub const VARIABLE: &str = "COALESCE_BENCH_TREE";

/// A tree and the move that is tried on it.
#[derive(Clone, Debug)]
pub struct Tree {
    /// How it is called in the table.
    pub name: String,
    /// Where it is.
    pub root: PathBuf,
    /// Its importable package.
    pub package: &'static str,
    /// Modules that move: old and new name.
    pub moves: &'static [(&'static str, &'static str)],
}

/// What is no part of a tree.
const FOREIGN: [&str; 3] = [".git", ".coalesce", "__pycache__"];
/// The move of the LiDAR project's consolidation.
const LIDAR: &[(&str, &str)] = &[
    (
        "ign_lidar.optimization.gpu_kernels",
        "ign_lidar.core.gpu_kernels",
    ),
    (
        "ign_lidar.optimization.gpu_accelerated_ops",
        "ign_lidar.core.gpu_accelerated_ops",
    ),
];
const MADE: &[(&str, &str)] = &[
    ("made.optimization.kernels", "made.core.kernels"),
    ("made.optimization.operations", "made.core.operations"),
];

impl Tree {
    /// The tree at `root`, the one of the registry if it is there, or one made in `directory`.
    pub fn find(root: Option<&Path>, directory: &Path) -> anyhow::Result<Self> {
        let named = root
            .map(Path::to_owned)
            .or_else(|| std::env::var_os(VARIABLE).map(PathBuf::from));
        let registry = directory.join("ign-lidar-hd");
        let (name, root) = match named {
            Some(root) => ("lidar", root),
            None if registry.is_dir() => ("lidar-wheel", registry),
            None => return Self::made(directory, "made-300", 300),
        };
        if !root.join("ign_lidar/optimization/gpu_kernels.py").is_file() {
            bail!(
                "{} is no tree of the LiDAR project: ign_lidar/optimization/gpu_kernels.py is missing",
                root.display()
            );
        }
        let root = root
            .canonicalize()
            .with_context(|| root.display().to_string())?;
        Ok(Self {
            name: name.to_owned(),
            root,
            package: "ign_lidar",
            moves: LIDAR,
        })
    }

    /// A tree of `modules` modules, a tenth of which use the two that move; the same one each time.
    pub fn made(directory: &Path, name: &str, modules: usize) -> anyhow::Result<Self> {
        let root = directory.join(name);
        Ok(Self {
            name: name.to_owned(),
            root: lay_out(&root, made_files(modules))?,
            package: "made",
            moves: MADE,
        })
    }

    /// The manifest of the move.
    pub fn manifest(&self) -> String {
        self.entries("kernels to core", |from, to| {
            format!("[[move]]\nfrom = \"{from}\"\nto = \"{to}\"\n")
        })
    }

    /// A manifest that forbids the names that move, for `check`.
    pub fn forbids(&self) -> String {
        self.entries("kernels are in core", |from, to| {
            format!("[[forbid]]\nimport = \"{from}\"\nmessage = \"use {to}\"\n")
        })
    }

    /// A manifest with an entry for each name that moves.
    fn entries(&self, description: &str, entry: impl Fn(&str, &str) -> String) -> String {
        let entries = self.moves.iter().map(|(from, to)| entry(from, to));
        let entries: Vec<String> = entries.collect();
        let head = format!("schema = 1\ndescription = \"{description}\"\n");
        format!("{head}\n{}", entries.join("\n"))
    }
}

/// Writes files below `root` that are not there as they should be, and gives it without links.
pub fn lay_out(
    root: &Path,
    files: impl Iterator<Item = (String, String)>,
) -> anyhow::Result<PathBuf> {
    for (path, text) in files {
        let path = root.join(path);
        if let Some(above) = path.parent() {
            fs::create_dir_all(above)?;
        }
        if fs::read_to_string(&path).ok().as_ref() != Some(&text) {
            fs::write(&path, text).with_context(|| path.display().to_string())?;
        }
    }
    Ok(root.canonicalize()?)
}

fn made_files(modules: usize) -> impl Iterator<Item = (String, String)> {
    let fixed = [
        ("pyproject.toml", "[project]\nname = \"made\"\n".to_owned()),
        ("made/__init__.py", String::new()),
        ("made/core/__init__.py", String::new()),
        ("made/optimization/__init__.py", String::new()),
        ("made/optimization/kernels.py", body(0)),
        ("made/optimization/operations.py", body(1)),
    ];
    let fixed = fixed.map(|(path, text)| (path.to_owned(), text));
    let packages = (0..modules.div_ceil(25))
        .map(|package| (format!("made/part_{package}/__init__.py"), String::new()));
    let made = (0..modules).map(|number| {
        let package = number / 25;
        let mut text = "import os\nfrom pathlib import Path\n".to_owned();
        match number % 20 {
            3 => text.push_str("from made.optimization.kernels import work_3, work_4 as four\n"),
            7 => text.push_str("from ..optimization import operations\n"),
            _ if number % 25 > 0 => {
                text.push_str(&format!("from .module_{} import work_1\n", number - 1));
            }
            _ => {}
        }
        (
            format!("made/part_{package}/module_{number}.py"),
            text + &body(number),
        )
    });
    fixed.into_iter().chain(packages).chain(made)
}

/// About 400 lines of functions that a parser has to walk through.
fn body(seed: usize) -> String {
    let mut text = String::new();
    for number in 0..40 {
        text.push_str(&format!(
            "\n\ndef work_{number}(left, right=None, *rest, **options):\n    \
             \"\"\"Adds {seed} to everything that is there.\"\"\"\n    \
             total = sum(value * {number} for value in rest if value is not None)\n    \
             if right is None and options.get(\"scale\", {seed}) > 3:\n        \
             return [left.field[index] + total for index in range({number})]\n    \
             return {{\"total\": total, \"left\": left, \"text\": f\"{{left}} of {{right}}\"}}\n"
        ));
    }
    text
}

/// A fresh copy of a tree.
pub fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    match fs::remove_dir_all(to) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => copy_into(from, to).with_context(|| format!("failed to copy {}", from.display())),
    }
}

fn copy_into(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let name = entry.file_name();
        if kind.is_dir() {
            if name.to_str().is_none_or(|name| !FOREIGN.contains(&name)) {
                copy_into(&entry.path(), &to.join(name))?;
            }
        } else if kind.is_file() {
            fs::copy(entry.path(), to.join(name))?;
        }
    }
    Ok(())
}

/// Whether both trees have the same files with the same bytes.
pub fn same(one: &Path, other: &Path) -> anyhow::Result<bool> {
    let names_here = names(one)?;
    if names_here != names(other)? {
        return Ok(false);
    }
    for (name, directory) in names_here {
        let (one, other) = (one.join(&name), other.join(&name));
        let equal = if directory {
            same(&one, &other)?
        } else {
            fs::read(one)? == fs::read(other)?
        };
        if !equal {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Files and folders of a folder, which of them are folders, and without what no tree has of itself.
fn names(folder: &Path) -> anyhow::Result<Vec<(OsString, bool)>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let ours = entry
            .file_name()
            .to_str()
            .is_none_or(|name| !FOREIGN.contains(&name));
        let kind = entry.file_type()?;
        if ours && (kind.is_dir() || kind.is_file()) {
            names.push((entry.file_name(), kind.is_dir()));
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_made_tree_has_the_modules_of_its_move_and_users_of_them() {
        let files: Vec<_> = made_files(60).collect();
        let users = files.iter().filter(|(_, text)| {
            text.contains("made.optimization.kernels") || text.contains("optimization import")
        });
        assert_eq!(users.count(), 6);
        assert_eq!(files.len(), 6 + 60 + 3);
        assert!(files.into_iter().eq(made_files(60)));
    }
}
