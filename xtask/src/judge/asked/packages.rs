//! The packages of a workspace, as Cargo tells them, and which needs which.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Context as _;
use serde_json::Value;

/// Folders whose packages are for the repository itself.
const APART: &[&str] = &[
    "bench",
    "benches",
    "benchmarks",
    "demo",
    "demos",
    "example",
    "examples",
    "fuzz",
    "test",
    "testing",
    "tests",
    "tools",
    "xtask",
];

/// Where a module belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    /// Index of the package.
    pub package: usize,
    /// The root file of its target, absolute.
    pub target: PathBuf,
    /// Whether that is a library which others can name.
    pub library: bool,
}

struct Package {
    directory: PathBuf,
    /// The name of its library in code.
    library: Option<String>,
    /// Root files of libraries, programs and procedural macros, absolute, with whether others can name what they have.
    products: BTreeMap<PathBuf, bool>,
    /// All that it needs to be built, through others too: indices.
    needs: BTreeSet<usize>,
}

/// The packages of a workspace.
#[derive(Default)]
pub struct Packages {
    packages: Vec<Package>,
}

impl Packages {
    /// Asks Cargo, without the network. A tree without `Cargo.toml` has none.
    pub fn read(root: &Path) -> anyhow::Result<Self> {
        if !root.join("Cargo.toml").is_file() {
            return Ok(Self::default());
        }
        let output = Command::new("cargo")
            .args([
                "metadata",
                "--no-deps",
                "--offline",
                "--format-version",
                "1",
            ])
            .current_dir(root)
            .output()
            .context("failed to start cargo")?;
        anyhow::ensure!(
            output.status.success(),
            "cargo metadata: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
        let metadata: Value = serde_json::from_slice(&output.stdout)?;
        let told = array(&metadata, "packages");
        let mut packages: Vec<Package> = told.iter().map(|one| Package::of(root, one)).collect();
        let direct: Vec<BTreeSet<usize>> = told
            .iter()
            .map(|one| needed_directly(one, &packages))
            .collect();
        for (at, package) in packages.iter_mut().enumerate() {
            package.needs = reached(at, &direct);
        }
        Ok(Self { packages })
    }

    /// The target whose root file this is, and its package; `None` for tests, benchmarks, examples, build scripts, and
    /// packages that are for the repository itself.
    pub fn product(&self, root_file: &Path) -> Option<Home> {
        let mut numbered = self.packages.iter().enumerate();
        numbered.find_map(|(package, told)| {
            Some(Home {
                package,
                target: root_file.to_owned(),
                library: *told.products.get(root_file)?,
            })
        })
    }

    /// Whether Cargo would take it that `from` comes to need `to`.
    pub fn may_need(&self, from: usize, to: usize) -> bool {
        from == to || !self.needs(to).is_some_and(|needs| needs.contains(&from))
    }

    /// Whether `to` may come to need the package whose library code calls `name`; yes for what is no library of the workspace.
    pub fn may_name(&self, to: usize, name: &str) -> bool {
        let mut named = self.packages.iter();
        let named = named.position(|package| package.library.as_deref() == Some(name));
        named.is_none_or(|named| named != to && self.may_need(to, named))
    }

    fn needs(&self, package: usize) -> Option<&BTreeSet<usize>> {
        self.packages.get(package).map(|package| &package.needs)
    }
}

impl Package {
    fn of(root: &Path, told: &Value) -> Self {
        let manifest = PathBuf::from(word(told, "manifest_path"));
        let directory = manifest.parent().unwrap_or(&manifest).to_owned();
        let below = directory.strip_prefix(root).unwrap_or(&directory);
        let apart = below.iter().any(|part| {
            let part = part.to_string_lossy();
            APART.contains(&part.as_ref())
        });
        let mut package = Self {
            directory,
            library: None,
            products: BTreeMap::new(),
            needs: BTreeSet::new(),
        };
        for target in array(told, "targets") {
            let kinds: Vec<&str> = array(target, "kind")
                .iter()
                .filter_map(Value::as_str)
                .collect();
            let library = kinds.iter().any(|kind| kind.ends_with("lib"));
            if library {
                package.library = Some(word(target, "name").replace('-', "_"));
            }
            let inside = kinds.contains(&"bin") || kinds.contains(&"proc-macro");
            if !apart && (library || inside) {
                let path = PathBuf::from(word(target, "src_path"));
                package.products.insert(path, library);
            }
        }
        package
    }
}

/// The packages of the workspace that `told` needs to be built; its tests may need others.
fn needed_directly(told: &Value, packages: &[Package]) -> BTreeSet<usize> {
    let built = |dependency: &&Value| dependency.get("kind").and_then(Value::as_str) != Some("dev");
    let paths = array(told, "dependencies").iter().filter(built);
    let paths = paths.filter_map(|dependency| dependency.get("path")?.as_str());
    paths
        .filter_map(|path| {
            let mut directories = packages.iter().map(|package| &package.directory);
            directories.position(|directory| directory == Path::new(path))
        })
        .collect()
}

fn reached(from: usize, direct: &[BTreeSet<usize>]) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        for next in direct.get(at).into_iter().flatten() {
            if reached.insert(*next) {
                open.push(*next);
            }
        }
    }
    reached
}

fn array<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    let array = value.get(key).and_then(Value::as_array);
    array.map_or(&[], Vec::as_slice)
}

fn word(value: &Value, key: &str) -> String {
    let word = value.get(key).and_then(Value::as_str);
    word.unwrap_or_default().to_owned()
}
