//! Which copies are homes for which: what nobody should come to use, and what a package cannot reach.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet, VecDeque, btree_map::Entry},
    rc::Rc,
};

use coalesce_model::{ImportTarget, LanguageGraph, LanguageKind, Module, Texts as _, TreePath};
use coalesce_plan::propose::{Copy, Homes, is_apart};
use coalesce_rust::discover::{DependencyKind, Package, TargetKind};

use crate::Session;

/// What modules are called that are there for what others share.
const HELPERS: [&str; 8] = [
    "utils", "util", "common", "shared", "helpers", "core", "base", "lib",
];
/// How many lines of a file say what it is for.
const HEAD_LINES: usize = 30;

/// Why a file is nobody's home, whoever it is. `is_imported`: whether another file imports it.
#[must_use]
pub fn unfit(path: &TreePath, text: &str, is_imported: &dyn Fn() -> bool) -> Option<String> {
    let why = if is_deprecated(text) {
        "says itself that it is deprecated"
    } else if path.extension() == Some("py") && works_at_import(text) {
        "is a script: it does its work when it is imported"
    } else if path.extension() == Some("py") && is_run(text) && !is_imported() {
        "is a script: it is run, and nothing imports it"
    } else {
        return None;
    };
    Some(format!("{path} {why}"))
}

/// The most packages of a tree that are followed from one package to those it depends on.
const MOST_REACHED: usize = 1_000;
/// Of how many packages it is kept what they depend on.
const MOST_KEPT: usize = 128;

/// The packages of a tree that a package depends on, however indirectly, by name, each with its distance.
type Reached<'p> = BTreeMap<&'p str, (usize, &'p Package)>;

/// What the packages of a tree can use of each other.
#[derive(Debug)]
pub struct PackageReach<'p> {
    by_directory: BTreeMap<&'p str, &'p Package>,
    /// By directory; the copies of one class ask for the same few again and again.
    kept: RefCell<BTreeMap<&'p str, Option<Rc<Reached<'p>>>>>,
}

impl<'p> PackageReach<'p> {
    /// What these packages can use of each other.
    #[must_use]
    pub fn new(packages: &'p [Package]) -> Self {
        let all = packages.iter();
        Self {
            by_directory: all.map(|one| (one.directory.as_str(), one)).collect(),
            kept: RefCell::default(),
        }
    }

    fn package(&self, path: &TreePath) -> Option<&'p Package> {
        let mut directory = path.as_str();
        while !directory.is_empty() {
            directory = directory.rsplit_once('/').map_or("", |(above, _)| above);
            if let Some(package) = self.by_directory.get(directory) {
                return Some(package);
            }
        }
        None
    }

    /// The packages that one depends on; `None` of more than [`MOST_REACHED`].
    fn reached(&self, package: &'p Package) -> Option<Rc<Reached<'p>>> {
        let mut kept = self.kept.borrow_mut();
        if let Some(known) = kept.get(package.directory.as_str()) {
            return known.clone();
        }
        if kept.len() >= MOST_KEPT {
            kept.clear();
        }
        let reached = self.follow(package).map(Rc::new);
        kept.insert(package.directory.as_str(), reached.clone());
        reached
    }

    fn follow(&self, package: &'p Package) -> Option<Reached<'p>> {
        let mut reached = Reached::new();
        let mut next = VecDeque::from([(package, 0)]);
        while let Some((package, distance)) = next.pop_front() {
            for directory in own_dependencies(package) {
                let Some(&found) = self.by_directory.get(directory.as_str()) else {
                    continue;
                };
                if let Entry::Vacant(entry) = reached.entry(found.name.as_str()) {
                    entry.insert((distance + 1, found));
                    next.push_back((found, distance + 1));
                }
            }
            if reached.len() > MOST_REACHED {
                return None;
            }
        }
        Some(reached)
    }

    /// What a package needs from outside of the tree, by the packages that it depends on as well.
    fn third_party(package: &'p Package, reached: &Reached<'p>) -> BTreeSet<&'p str> {
        let all = std::iter::once(package).chain(reached.values().map(|(_, one)| *one));
        all.flat_map(|one| &one.dependencies)
            .filter(|one| one.directory.is_none() && one.kind == DependencyKind::Normal)
            .map(|one| one.package.as_str())
            .collect()
    }

    /// Why those who use the Rust file `goes` cannot use `stays` where it is.
    #[must_use]
    pub fn missing(&self, stays: &TreePath, goes: &TreePath) -> Option<String> {
        let (home, user) = (self.package(stays)?, self.package(goes)?);
        let (name, other) = (&home.name, &user.name);
        if name == other {
            return None;
        }
        let (Some(of_home), Some(of_user)) = (self.reached(home), self.reached(user)) else {
            return Some(format!(
                "`{name}` or `{other}` depends on more than {MOST_REACHED} packages of the tree"
            ));
        };
        if of_user.contains_key(name.as_str()) {
            return None;
        }
        let mut targets = home.targets.iter();
        if !targets.any(|target| target.kind == TargetKind::Lib) {
            return Some(format!("`{name}` has no library that others could use"));
        }
        if of_home.contains_key(other.as_str()) {
            return Some(format!("`{name}` depends on `{other}` itself"));
        }
        let known = Self::third_party(user, &of_user);
        let needed = Self::third_party(home, &of_home);
        let more: Vec<&str> = needed.difference(&known).copied().collect();
        if !more.is_empty() {
            return Some(format!(
                "`{other}` does not depend on `{name}`, which needs {} besides",
                more.join(", ")
            ));
        }
        // Two packages that stand on the same one stand beside each other.
        let siblings = !of_home.is_empty() && !of_user.is_empty();
        siblings.then(|| format!("`{other}` does not depend on `{name}`, which stands beside it"))
    }

    /// The library of the nearest package that those of all of these files depend on.
    #[must_use]
    pub fn common(&self, paths: &[&TreePath]) -> Option<&'p str> {
        let (first, others) = paths.split_first()?;
        let reached = |path: &TreePath| self.reached(self.package(path)?);
        let mut shared = (*reached(first)?).clone();
        for other in others {
            let of_other = reached(other)?;
            shared.retain(|name, _| of_other.contains_key(name));
            for (name, (far, _)) in &mut shared {
                *far += of_other.get(name).map_or(0, |(far, _)| *far);
            }
        }
        let nearest = shared.iter().map(|(name, (far, _))| (*far, *name)).min();
        let (_, package) = shared.get(nearest?.1)?;
        let mut targets = package.targets.iter();
        let library = targets.find(|target| target.kind == TargetKind::Lib)?;
        Some(&library.name)
    }
}

/// The homes of one tree.
pub struct TreeHomes<'s> {
    session: &'s Session,
    reach: PackageReach<'s>,
    /// Why a file is none, by file.
    known: RefCell<BTreeMap<TreePath, Option<String>>>,
}

impl<'s> TreeHomes<'s> {
    /// The homes of the tree of this session.
    pub fn new(session: &'s Session) -> Self {
        Self {
            session,
            reach: PackageReach::new(&session.rust.graph.world.packages),
            known: RefCell::default(),
        }
    }

    fn file_is_unfit(&self, path: &TreePath) -> Option<String> {
        unfit(path, &self.session.tree.text(path)?, &|| {
            self.is_imported(path)
        })
    }

    /// Whether another file imports the Python module of a file.
    fn is_imported(&self, path: &TreePath) -> bool {
        let graph = &self.session.python.graph;
        graph.module_of(path).is_some_and(|own| {
            let mut imports = graph.imports().iter();
            imports.any(|one| one.target == ImportTarget::Module(own) && one.importer != own)
        })
    }

    /// The name that `stays` would have in the nearest module of helpers that the modules of both import.
    fn common_module(&self, stays: &Copy, goes: &Copy) -> Option<String> {
        let graph: &dyn LanguageGraph = &self.session.python.graph;
        let item = stays.item.as_deref()?;
        let shared = |name: &str| {
            let parts = name.split('.').zip(stays.name.split('.'));
            parts.take_while(|(a, b)| a == b).count()
        };
        let others = imported(graph, goes);
        let both = imported(graph, stays)
            .into_iter()
            .filter(|at| others.contains(at));
        let homes = both.filter_map(|at| graph.modules().get(at));
        let fits = |module: &&Module| {
            let last = module.name.rsplit('.').next().unwrap_or_default();
            let named = HELPERS.contains(&last.trim_matches('_'));
            named && !module.package && !is_apart(module.path.as_str()) && shared(&module.name) > 0
        };
        let home = homes
            .filter(fits)
            .max_by_key(|module| shared(&module.name))?;
        let name = format!("{}.{item}", home.name);
        let unfit = self.file_is_unfit(&home.path).is_some();
        (!unfit && !graph.is_taken(&name)).then_some(name)
    }
}

/// The modules that the file of a copy imports when it is imported itself.
fn imported(graph: &dyn LanguageGraph, copy: &Copy) -> BTreeSet<usize> {
    let own = graph.imports().iter().filter(|import| {
        let importer = graph.modules().get(import.importer);
        import.eager && importer.is_some_and(|module| module.path == copy.path)
    });
    own.filter_map(|import| match import.target {
        ImportTarget::Module(target) => Some(target),
        _ => None,
    })
    .collect()
}

fn own_dependencies(package: &Package) -> impl Iterator<Item = &TreePath> {
    let dependencies = package.dependencies.iter();
    let normal = dependencies.filter(|one| one.kind == DependencyKind::Normal);
    normal.filter_map(|one| one.directory.as_ref())
}

impl Homes for TreeHomes<'_> {
    fn unfit(&self, stays: &Copy) -> Option<String> {
        let mut known = self.known.borrow_mut();
        let look = || self.file_is_unfit(&stays.path);
        known.entry(stays.path.clone()).or_insert_with(look).clone()
    }

    fn out_of_reach(&self, stays: &Copy, goes: &Copy) -> Option<String> {
        if stays.path.extension() != Some("rs") {
            // What an import needs is compared when the entry is proven.
            return None;
        }
        self.reach.missing(&stays.path, &goes.path)
    }

    fn common(&self, stays: &Copy, goes: &Copy) -> Option<String> {
        if stays.path.extension() != Some("rs") {
            return self.common_module(stays, goes);
        }
        let library = self.reach.common(&[&stays.path, &goes.path])?;
        let separator = LanguageKind::Rust.separator();
        let last = stays.name.rsplit(separator).next()?;
        let name = format!("{library}{separator}{last}");
        (!self
            .session
            .index()
            .graphs()
            .iter()
            .any(|graph| graph.is_taken(&name)))
        .then_some(name)
    }
}

/// Whether the head of a file calls it deprecated.
fn is_deprecated(text: &str) -> bool {
    let head = text.lines().take(HEAD_LINES).map(str::trim);
    let mut in_docs = head.take_while(|line| {
        !line.starts_with("import ") && !line.starts_with("use ") && !line.starts_with("from ")
    });
    let said = in_docs.any(|line| {
        let lower = line.to_lowercase();
        let of_file = ["//!", "#!", "\"\"\"", "'''", ".. deprecated"];
        lower.contains("deprecated") && of_file.iter().any(|start| line.starts_with(start))
    });
    said || text.lines().any(|line| {
        // At the left edge it is the module that warns, not one of its functions.
        line.starts_with("warnings.warn(") || line.starts_with("warn(")
    })
}

/// Whether a Python module does more than define when it is imported.
fn works_at_import(text: &str) -> bool {
    let mut quoted: Option<&str> = None;
    for line in text.lines() {
        if let Some(quote) = quoted {
            quoted = quoted.filter(|_| !line.contains(quote));
            continue;
        }
        if is_work(line) {
            return true;
        }
        let mut quotes = ["\"\"\"", "'''"].into_iter();
        quoted = quotes.find(|quote| line.matches(quote).count() % 2 == 1);
    }
    false
}

/// Whether a Python file does something when it is run itself.
fn is_run(text: &str) -> bool {
    let mut lines = text.lines();
    lines.any(|line| line.starts_with("if __name__ ==") && line.contains("__main__"))
}

/// Whether a line of a Python module, at the left edge, does more than define.
fn is_work(line: &str) -> bool {
    const WORK: [&str; 8] = [
        "print(",
        "with ",
        "while ",
        "main(",
        "sys.exit(",
        "exit(",
        "raise SystemExit",
        "plt.show(",
    ];
    const RESULTS: [&str; 4] = ["= open(", ".parse_args(", "= input(", "sys.argv["];
    line.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && (WORK.iter().any(|work| line.starts_with(work))
            || RESULTS.iter().any(|work| line.contains(work)))
}

#[cfg(test)]
mod tests {
    use coalesce_rust::discover::ResolvedDependency;

    use super::*;

    #[test]
    fn a_script_works_when_it_is_imported() {
        for (text, works) in [
            ("\"\"\"A script.\"\"\"\nprint('x')\n", true),
            ("table = open('a').read()\n", true),
            ("import sys\nrows = sys.argv[1]\n", true),
            ("with Timer('x'):\n    pass\n", true),
            ("def f():\n    print('x')\n", false),
            ("\"\"\"Say\nprint(1)\n\"\"\"\nX = 1\n", false),
            ("if __name__ == '__main__':\n    print('x')\n", false),
            ("for name in NAMES:\n    register(name)\n", false),
        ] {
            assert_eq!(works_at_import(text), works, "{text}");
        }
    }

    /// Packages of which each depends on the next one.
    fn chain(length: usize) -> Vec<Package> {
        let directory = |at: usize| TreePath::new(&format!("crates/c{at}")).expect("a plain path");
        let dependency = |at: usize| ResolvedDependency {
            name: format!("c{at}"),
            package: format!("c{at}"),
            directory: Some(directory(at)),
            kind: DependencyKind::Normal,
            is_unconditional: true,
        };
        let package = |at: usize| Package {
            name: format!("c{at}"),
            directory: directory(at),
            targets: Vec::new(),
            dependencies: (at + 1 < length)
                .then(|| dependency(at + 1))
                .into_iter()
                .collect(),
        };
        (0..length).map(package).collect()
    }

    #[test]
    fn what_reaches_too_far_is_out_of_reach() {
        let path =
            |at: usize| TreePath::new(&format!("crates/c{at}/src/a.rs")).expect("a plain path");
        let packages = chain(MOST_REACHED);
        let reach = PackageReach::new(&packages);
        assert_eq!(reach.missing(&path(MOST_REACHED - 1), &path(0)), None);
        let packages = chain(MOST_REACHED + 2);
        let reach = PackageReach::new(&packages);
        let why = reach.missing(&path(MOST_REACHED + 1), &path(0));
        assert!(why.is_some_and(|why| why.contains("more than 1000 packages")));
        assert_eq!(reach.missing(&path(5), &path(4)), None);
    }

    #[test]
    fn a_file_says_that_it_is_deprecated() {
        for (text, deprecated) in [
            ("//! Deprecated: use `core`.\n", true),
            ("\"\"\"Deprecated, use pkg.core.\"\"\"\n", true),
            (
                "import warnings\nwarnings.warn('old', DeprecationWarning)\n",
                true,
            ),
            (
                "\"\"\"GPU.\"\"\"\ndef f():\n    warnings.warn('x')\n",
                false,
            ),
            (
                "//! Finds what is old.\n#[deprecated]\npub fn f() {}\n",
                false,
            ),
        ] {
            assert_eq!(is_deprecated(text), deprecated, "{text}");
        }
    }
}
