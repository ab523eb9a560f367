//! Where the rustfmt of a toolchain is.
//!
//! What stands on the path as `rustfmt` is rustup's proxy as a rule. It looks for a file of the
//! project that names a toolchain, from the directory that it is started in upwards, and starts what
//! that names, which may be a program of the project. So it is not started: its settings say which
//! toolchain the user has chosen.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
};

use coalesce_tree::plain::{self, Links};
use serde::Deserialize;

/// Longer settings are none of rustup's.
const SETTINGS_BYTES: u64 = 1 << 20;
/// The programs' names.
const RUSTFMT: &str = if cfg!(windows) {
    "rustfmt.exe"
} else {
    "rustfmt"
};
const RUSTUP: &str = if cfg!(windows) {
    "rustup.exe"
} else {
    "rustup"
};

/// What the environment says, as far as it matters here.
struct Environment {
    path: Vec<PathBuf>,
    toolchain: Option<String>,
    rustup_home: Option<PathBuf>,
}

/// What rustup keeps of the user's choices.
#[derive(Deserialize, Default)]
struct Choices {
    default_toolchain: Option<String>,
    #[serde(default)]
    overrides: BTreeMap<PathBuf, String>,
}

/// The absolute path of a rustfmt that is no part of the tree at `root`.
pub(super) fn rustfmt(root: &Path) -> Option<PathBuf> {
    let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    let home = variable("HOME").or_else(|| variable("USERPROFILE"));
    let home = home.map(|home| PathBuf::from(home).join(".rustup"));
    let environment = Environment {
        path: env::split_paths(&variable("PATH")?).collect(),
        toolchain: variable("RUSTUP_TOOLCHAIN").and_then(|name| name.into_string().ok()),
        rustup_home: variable("RUSTUP_HOME").map(PathBuf::from).or(home),
    };
    environment.rustfmt(root)
}

impl Environment {
    fn rustfmt(&self, root: &Path) -> Option<PathBuf> {
        let foreign = |path: &Path| outside(path, root);
        for directory in self.path.iter().filter(|directory| directory.is_absolute()) {
            let Some(found) = foreign(&directory.join(RUSTFMT)) else {
                continue;
            };
            if !is_proxy(directory, &found) {
                return Some(found);
            }
            if let Some(found) = self.of_rustup(root) {
                return Some(found);
            }
        }
        None
    }

    /// The rustfmt of the toolchain that the user has chosen.
    fn of_rustup(&self, root: &Path) -> Option<PathBuf> {
        let home = self
            .rustup_home
            .as_ref()
            .filter(|home| home.is_absolute())?;
        let text =
            plain::read_to_string(&home.join("settings.toml"), SETTINGS_BYTES, Links::Follow);
        let choices: Choices = toml::from_str(&text.unwrap_or_default()).unwrap_or_default();
        let overridden = root
            .ancestors()
            .find_map(|above| choices.overrides.get(above));
        let name = self.toolchain.as_ref().or(overridden);
        let name = name.or(choices.default_toolchain.as_ref())?;
        if Path::new(name).is_absolute() {
            return outside(&Path::new(name).join("bin").join(RUSTFMT), root);
        }
        let directory = toolchain(&home.join("toolchains"), name)?;
        outside(&directory.join("bin").join(RUSTFMT), root)
    }
}

/// The directory of a toolchain whose name may lack the machine that it is for.
fn toolchain(all: &Path, name: &str) -> Option<PathBuf> {
    if name.contains(['/', '\\']) || name.starts_with('.') {
        return None;
    }
    let exact = all.join(name);
    if exact.is_dir() {
        return Some(exact);
    }
    let longer = format!("{name}-");
    let mut fits: Vec<PathBuf> = fs::read_dir(all)
        .ok()?
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&longer))
        .map(|entry| entry.path())
        .collect();
    fits.sort();
    fits.into_iter().next()
}

/// The real path of a plain file that is no part of the tree.
fn outside(file: &Path, root: &Path) -> Option<PathBuf> {
    let real = file.canonicalize().ok()?;
    let plain = fs::metadata(&real).is_ok_and(|metadata| metadata.is_file());
    (plain && !real.starts_with(root)).then_some(real)
}

/// Whether it is rustup under another name: a link to it, or the same bytes.
fn is_proxy(directory: &Path, found: &Path) -> bool {
    if found.file_name().is_some_and(|name| name == RUSTUP) {
        return true;
    }
    let length = |path: &Path| fs::metadata(path).map(|metadata| metadata.len()).ok();
    let rustup = length(&directory.join(RUSTUP));
    rustup.is_some() && rustup == length(found)
}

#[cfg(all(test, unix))]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn make(path: &Path, bytes: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    #[test]
    fn no_program_of_the_tree_and_no_proxy_is_found() {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path().canonicalize().unwrap();
        let (root, home, bin) = (top.join("tree"), top.join("rustup"), top.join("cargo/bin"));
        make(&root.join("bin/rustfmt"), "evil");
        make(&root.join("toolchain/bin/rustfmt"), "evil");
        make(&bin.join("rustup"), "proxy");
        std::os::unix::fs::symlink("rustup", bin.join("rustfmt")).unwrap();
        for name in ["stable-x", "nightly-x", "pinned"] {
            make(
                &home.join("toolchains").join(name).join("bin/rustfmt"),
                name,
            );
        }
        let evil = top.join("evil");
        fs::create_dir_all(&evil).unwrap();
        std::os::unix::fs::symlink(root.join("bin/rustfmt"), evil.join("rustfmt")).unwrap();
        let overrides = format!(
            "default_toolchain = \"stable-x\"\nversion = \"12\"\n[overrides]\n\"{}\" = \"pinned\"\n",
            top.join("other").display()
        );
        make(&home.join("settings.toml"), &overrides);
        let find = |path: &[&Path], toolchain: Option<&str>, root: &Path| {
            let environment = Environment {
                path: path.iter().map(|path| (*path).to_owned()).collect(),
                toolchain: toolchain.map(str::to_owned),
                rustup_home: Some(home.clone()),
            };
            let found = environment.rustfmt(root);
            found.map(|path| fs::read_to_string(path).unwrap())
        };
        let relative = Path::new("bin");
        let tree = root.join("bin");
        let first: &[&Path] = &[relative, &tree, &evil, &bin];
        assert_eq!(find(first, None, &root).as_deref(), Some("stable-x"));
        assert_eq!(
            find(first, Some("nightly"), &root).as_deref(),
            Some("nightly-x")
        );
        let custom = root.join("toolchain");
        assert_eq!(find(first, custom.to_str(), &root), None);
        assert_eq!(find(first, Some("../../evil"), &root), None);
        let other = top.join("other/project");
        assert_eq!(
            find(first, None, &other).as_deref(),
            Some("evil"),
            "of another tree"
        );
        assert_eq!(find(&[&bin], None, &other).as_deref(), Some("pinned"));
        assert_eq!(find(&[&tree, &evil], None, &root), None);
        // A copy instead of a link is a proxy, too.
        fs::remove_file(bin.join("rustfmt")).unwrap();
        make(&bin.join("rustfmt"), "proxy");
        assert_eq!(find(&[&bin], None, &root).as_deref(), Some("stable-x"));
    }
}
