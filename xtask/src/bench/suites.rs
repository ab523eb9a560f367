//! The benchmarks: for each what ours does, what the others do, and what makes both ready.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::ensure;

use super::{
    Case, Peer, duplicates,
    measure::{Call, Contender},
    peers::Peers,
    registry::{self, Registry},
    rust,
    trees::{self, Tree},
};

/// All benchmarks.
pub const NAMES: [&str; 7] = [
    "migrate",
    "check",
    "audit",
    "refs",
    "index",
    "rust",
    "duplicates",
];
/// Names a Rust workspace that `rust` reads besides those that are made.
const RUST_TREE: &str = "COALESCE_BENCH_RUST";

/// Leaves of the rules those on imports: forbidden, deprecated, removed and unresolved names.
const OTHER_RULES_OFF: &str = "[check]\noff = [\"stale-guarded-import\", \"forbidden-edge\", \
    \"new-eager-cycle\", \"orphan-file\", \"expired-shim\", \"unused-shim\", \"gpu-outside-home\", \
    \"project-rule\"]\n";
/// Modules of the made tree that `index` reads.
const LARGE: usize = 3000;
/// Facts are kept without another look only where a change could not hide behind a coarse clock.
const SETTLED: Duration = Duration::from_millis(2100);

/// What the benchmarks work with.
pub struct Place {
    /// Our program.
    pub ours: PathBuf,
    /// The tree that is read.
    pub tree: Tree,
    /// Where copies go.
    pub directory: PathBuf,
    /// The other tools.
    pub peers: Peers,
    /// Whether to run what takes minutes.
    pub slow: bool,
}

/// A Rust workspace that is read.
struct RustTree {
    name: String,
    root: PathBuf,
    /// How many lines of Rust it has, where that is what is looked at.
    lines: Option<usize>,
    /// A module of it, and a manifest that moves it.
    moves: Option<(&'static str, PathBuf)>,
    /// Whether others are measured, too.
    peers: bool,
}

/// The cases of a benchmark, ready to run.
pub fn cases(name: &str, place: &Place) -> anyhow::Result<Vec<Case>> {
    match name {
        "migrate" => place.migrate(),
        "check" => {
            let mut cases = place.reads("check", &["check"])?;
            cases.extend(place.import_rules()?);
            Ok(cases)
        }
        "audit" => place.reads("audit", &["audit"]),
        "refs" => place.refs(),
        "index" => place.index(),
        "rust" => place.rust(),
        "duplicates" => Ok(duplicates::cases(place)),
        other => anyhow::bail!("there is no benchmark `{other}`"),
    }
}

impl Place {
    /// A path below the directory of copies.
    fn copy(&self, name: &str) -> PathBuf {
        self.directory.join("copies").join(name)
    }

    /// A fresh copy of the tree, with the manifest that forbids what moves.
    fn fresh(&self, name: &str, tree: &Tree) -> anyhow::Result<PathBuf> {
        let copy = self.copy(name);
        trees::copy(&tree.root, &copy)?;
        fs::create_dir_all(copy.join("migrations"))?;
        fs::write(copy.join("migrations/0001-forbid.toml"), tree.forbids())?;
        std::thread::sleep(SETTLED);
        Ok(copy)
    }

    fn ours(&self, root: &Path, words: &[&str], warm: bool) -> Call {
        let call = Call::new(&self.ours, root).with(words).finds();
        if warm {
            call.set("COALESCE_CACHE_DIR", self.directory.join("facts"))
        } else {
            call.with(["--no-cache"])
        }
    }

    /// `migrate` of two modules. Ours is undone before each round; the others get a fresh copy.
    fn migrate(&self) -> anyhow::Result<Vec<Case>> {
        let manifest = self.directory.join("migrate.toml");
        let mut cases = Vec::new();
        for (case, warm) in [("cold", false), ("warm", true)] {
            let root = self.copy(&format!("migrate-{case}"));
            trees::copy(&self.tree.root, &root)?;
            fs::write(&manifest, self.tree.manifest())?;
            std::thread::sleep(SETTLED);
            let undo = self.ours(&root, &["rollback", "--quiet"], warm);
            // The tree has a file that does not parse, which no reading proves.
            let call = self.ours(&root, &["migrate", "--quiet", "--allow-unproven"], warm);
            let ready = undo.clone();
            let ours = Contender {
                name: "coalesce".to_owned(),
                ready: Box::new(move || ready.run().map(drop)),
                call: call.with([&manifest]),
            };
            let (original, moves) = (self.tree.root.clone(), self.tree.moves);
            cases.push(Case {
                bench: "migrate",
                case: format!("{} {case}", self.tree.name),
                ours,
                peers: self.migrate_peers(warm),
                judge: Box::new(move || judge(&root, &original, moves, &undo)),
                size: None,
            });
        }
        Ok(cases)
    }

    /// Who else finds what a move rewrites, in the tree that nobody changes.
    fn migrate_peers(&self, warm: bool) -> Vec<Peer> {
        let mut peers = self.ruff(&self.tree, &self.tree.root, warm);
        peers.push(self.lint());
        if !warm {
            peers.extend([self.ast_grep(), self.rope(), self.libcst()]);
        }
        peers
    }

    /// A command that reads the whole tree, with and without what an earlier run has left.
    fn reads(&self, bench: &'static str, words: &[&str]) -> anyhow::Result<Vec<Case>> {
        let root = self.fresh("read", &self.tree)?;
        let mut cases = Vec::new();
        for (case, warm) in [("cold", false), ("warm", true)] {
            let mut peers = self.ruff(&self.tree, &root, warm);
            peers.push(self.grimp(&self.tree, &root, warm));
            peers.push(self.tach(&self.tree, "read-tach")?);
            cases.push(Case {
                bench,
                case: format!("{} {case}", self.tree.name),
                ours: plain("coalesce", self.ours(&root, words, warm)),
                peers,
                judge: Box::new(|| Ok(())),
                size: None,
            });
        }
        Ok(cases)
    }

    /// `check` with the rules on imports alone, beside the one rule of ruff that is about them.
    fn import_rules(&self) -> anyhow::Result<Vec<Case>> {
        let root = self.fresh("read-imports", &self.tree)?;
        fs::write(root.join("coalesce.toml"), OTHER_RULES_OFF)?;
        let case = |case: &str, warm| Case {
            bench: "check",
            case: format!("{} import rules, {case}", self.tree.name),
            ours: plain("coalesce", self.ours(&root, &["check"], warm)),
            peers: self.ruff(&self.tree, &root, warm),
            judge: Box::new(|| Ok(())),
            size: None,
        };
        Ok(vec![case("cold", false), case("warm", true)])
    }

    fn refs(&self) -> anyhow::Result<Vec<Case>> {
        let root = self.fresh("read", &self.tree)?;
        let name = self.tree.moves.first().map_or("", |(from, _)| from);
        let case = |case: &str, warm| Case {
            bench: "refs",
            case: format!("{} {case}", self.tree.name),
            ours: plain("coalesce", self.ours(&root, &["refs", name], warm)),
            peers: self.ruff(&self.tree, &root, warm),
            judge: Box::new(|| Ok(())),
            size: None,
        };
        Ok(vec![case("cold", false), case("warm", true)])
    }

    /// The audit of a large tree that is made here.
    fn index(&self) -> anyhow::Result<Vec<Case>> {
        let name = format!("made-{LARGE}");
        let tree = Tree::made(&self.directory, &name, LARGE)?;
        let root = self.fresh("large", &tree)?;
        let case = |case: &str, warm| Case {
            bench: "index",
            case: format!("{name} {case}"),
            ours: plain("coalesce", self.ours(&root, &["audit"], warm)),
            peers: {
                let mut peers = self.ruff(&tree, &root, warm);
                peers.push(self.grimp(&tree, &root, warm));
                peers
            },
            judge: Box::new(|| Ok(())),
            size: None,
        };
        Ok(vec![case("cold", false), case("warm", true)])
    }

    /// Audit, references and a planned move of Rust workspaces that differ in size only: made ones,
    /// and real packages put together. A plan writes nothing.
    fn rust(&self) -> anyhow::Result<Vec<Case>> {
        let mut cases = Vec::new();
        let sizes = rust::SIZES.into_iter();
        let sizes = sizes.filter(|(_, thousands)| *thousands < 1000 || self.slow);
        for (name, thousands) in sizes.clone() {
            let tree = RustTree {
                name: format!("made-{name}"),
                root: rust::made(&self.directory, name, thousands)?,
                lines: None,
                moves: Some((rust::MOVE.0, self.rust_manifest("made", rust::manifest())?)),
                // Those that need cargo to understand the tree can have this one.
                peers: thousands < if self.slow { 1000 } else { 200 },
            };
            cases.extend(self.rust_reads(&tree));
        }
        for (name, thousands) in sizes {
            match Registry::assembled(&self.directory, name, thousands) {
                Ok(found) => cases.extend(self.rust_reads(&self.assembled(name, found)?)),
                Err(error) => eprintln!("rust registry-{name}: not run: {error:#}"),
            }
        }
        if let Some(root) = std::env::var_os(RUST_TREE).map(PathBuf::from) {
            cases.extend(self.rust_reads(&RustTree {
                name: "tree".to_owned(),
                root: root.canonicalize()?,
                lines: None,
                moves: None,
                peers: true,
            }));
        }
        std::thread::sleep(SETTLED);
        Ok(cases)
    }

    /// Packages of the registry as a tree to read.
    fn assembled(&self, name: &str, found: Registry) -> anyhow::Result<RustTree> {
        let manifest = self.rust_manifest("registry", registry::manifest())?;
        Ok(RustTree {
            name: format!("registry-{name}"),
            root: found.root,
            lines: Some(found.lines),
            moves: Some((registry::MODULE, manifest)),
            peers: false,
        })
    }

    fn rust_manifest(&self, name: &str, text: String) -> anyhow::Result<PathBuf> {
        let path = self.directory.join(format!("rust-move-{name}.toml"));
        fs::write(&path, text)?;
        Ok(path)
    }

    fn rust_reads(&self, tree: &RustTree) -> Vec<Case> {
        let root = &tree.root;
        let mut calls = vec![("audit", self.words(root, &["audit"]))];
        if let Some((module, manifest)) = &tree.moves {
            calls.push(("refs", self.words(root, &["refs", module])));
            let plan = self.words(root, &["plan", "--quiet", "--no-rustfmt"]);
            calls.push(("plan", plan.map(|call| call.with([manifest]))));
        }
        let case = |what: &str, case: &str, ours: Contender| Case {
            bench: "rust",
            case: format!("{what} {} {case}", tree.name),
            ours,
            peers: if tree.peers && case == "cold" {
                self.rust_peers(what, root)
            } else {
                Vec::new()
            },
            judge: Box::new(|| Ok(())),
            size: tree.lines.map(|lines| (format!("{what} {case}"), lines)),
        };
        let both = calls.into_iter().flat_map(|(what, [cold, warm])| {
            let cold = case(what, "cold", plain("coalesce", cold));
            [cold, case(what, "warm", warmed(warm))]
        });
        both.collect()
    }

    /// Who else reads a Rust workspace; nobody else moves a module.
    fn rust_peers(&self, what: &str, root: &Path) -> Vec<Peer> {
        let analyzer = |name: &str, words: &[&str]| {
            if answers("rust-analyzer") {
                let call = Call::new("rust-analyzer", root).with(words);
                return Peer::Runs(plain(name, call));
            }
            let why = "not installed; `rustup component add rust-analyzer` gets it";
            Peer::NotRun(name.to_owned(), why.to_owned())
        };
        let output = self.directory.join("index.scip").display().to_string();
        match what {
            "audit" => {
                let words = ["prime-caches", "--disable-build-scripts", "."];
                let analyzer = analyzer("rust-analyzer prime-caches", &words);
                vec![analyzer, cargo_modules(root)]
            }
            "refs" => vec![analyzer(
                "rust-analyzer scip",
                &["scip", ".", "--output", &output],
            )],
            _ => Vec::new(),
        }
    }

    /// One command, cold and warm.
    fn words(&self, root: &Path, words: &[&str]) -> [Call; 2] {
        [false, true].map(|warm| self.ours(root, words, warm))
    }

    /// Ruff's lint of the tree with its own defaults.
    fn lint(&self) -> Peer {
        self.program("ruff lint", "ruff", |ruff| {
            let words = ["check", "--isolated", "--no-cache", "--quiet", "."];
            Ok(plain(
                "ruff lint",
                Call::new(ruff, &self.tree.root).with(words).finds(),
            ))
        })
    }

    /// Ruff's rule on imports that are forbidden, beside a run of ours that is warm or not: without
    /// its cache, and with it where ours has one.
    fn ruff(&self, tree: &Tree, root: &Path, warm: bool) -> Vec<Peer> {
        let mut peers = vec![self.banned_api("ruff TID251, no cache", tree, root, false)];
        if warm {
            peers.push(self.banned_api("ruff TID251, its cache", tree, root, true));
        }
        peers
    }

    fn banned_api(&self, name: &str, tree: &Tree, root: &Path, warm: bool) -> Peer {
        self.program(name, "ruff", |ruff| {
            let words = ["check", "--isolated", "--quiet", "--select", "TID251"];
            let mut call = Call::new(ruff, root).with(words).finds();
            for (from, to) in tree.moves {
                let rule = "lint.flake8-tidy-imports.banned-api";
                let setting = format!("{rule}.\"{from}\".msg = \"use {to}\"");
                call = call.with(["--config".to_owned(), setting]);
            }
            let call = if warm {
                let cache = self.directory.join("ruff-cache");
                call.with(["--cache-dir".into(), cache.into_os_string()])
            } else {
                call.with(["--no-cache"])
            };
            Ok(plain(name, call.with(["."])))
        })
    }

    fn grimp(&self, tree: &Tree, root: &Path, warm: bool) -> Peer {
        let Some(python) = self.peers.library("grimp") else {
            return missing("grimp");
        };
        let script = self.peers.script("grimp_graph.py").into_os_string();
        let call = Call::new(python, root).with([script, tree.package.into()]);
        let call = call
            .set("PYTHONPATH", root)
            .set("PYTHONDONTWRITEBYTECODE", "1");
        let cache = self.directory.join("grimp-cache");
        Peer::Runs(plain("grimp", if warm { call.with([cache]) } else { call }))
    }

    fn tach(&self, tree: &Tree, name: &str) -> anyhow::Result<Peer> {
        let root = self.copy(name);
        trees::copy(&tree.root, &root)?;
        let module = tree.moves.first().map_or("", |(from, _)| from);
        let settings = format!(
            "source_roots = [\".\"]\n\n[[modules]]\npath = \"{module}\"\ndepends_on = []\n"
        );
        fs::write(root.join("tach.toml"), settings)?;
        Ok(self.program("tach check", "tach", |tach| {
            Ok(plain(
                "tach check",
                Call::new(tach, &root).with(["check"]).finds(),
            ))
        }))
    }

    /// One rule that replaces absolute names in imports: neither files nor relative imports move.
    fn ast_grep(&self) -> Peer {
        let name = "ast-grep, absolute names only";
        let rules: Vec<String> = self
            .tree
            .moves
            .iter()
            .enumerate()
            .map(|(number, (from, to))| {
                let regex = from.replace('.', "\\.");
                format!(
                    "id: move-{number}\nlanguage: python\n\
                     rule: {{kind: dotted_name, regex: '^{regex}$'}}\nfix: {to}\n"
                )
            })
            .collect();
        self.program(name, "ast-grep", |program| {
            let root = self.copy("ast-grep");
            let call = Call::new(program, &root)
                .with(["scan", "-U", "--inline-rules"])
                .with([rules.join("---\n"), ".".to_owned()]);
            Ok(self.on_fresh_copy(name, root, call))
        })
    }

    fn rope(&self) -> Peer {
        let Some(python) = self.peers.library("rope") else {
            return missing("rope");
        };
        let root = self.copy("rope");
        let script = self.peers.script("rope_move.py").into_os_string();
        let mut call = Call::new(python, &root).with([script, ".".into()]);
        for (from, to) in self.tree.moves {
            let package = to.rsplit_once('.').map_or(*to, |(package, _)| package);
            let file = from.replace('.', "/") + ".py";
            call = call.with([file, package.replace('.', "/")]);
        }
        Peer::Runs(self.on_fresh_copy("rope", root, call))
    }

    /// The first of the moves only: each takes a minute.
    fn libcst(&self) -> Peer {
        let name = "LibCST, one of the moves";
        let Some(python) = self.peers.library("libcst") else {
            return missing(name);
        };
        let Some((from, to)) = self.tree.moves.first().filter(|_| self.slow) else {
            return Peer::NotRun(name.to_owned(), "takes minutes; --slow runs it".to_owned());
        };
        let root = self.copy("libcst");
        let words = ["-m", "libcst.tool", "codemod", "--no-format"];
        let names = ["--old_name", from, "--new_name", to, "."];
        let call = Call::new(python, &root)
            .with(words)
            .with(["rename.RenameCommand"])
            .with(names);
        Peer::Runs(self.on_fresh_copy(name, root, call))
    }

    fn on_fresh_copy(&self, name: &str, root: PathBuf, call: Call) -> Contender {
        let original = self.tree.root.clone();
        Contender {
            name: name.to_owned(),
            ready: Box::new(move || trees::copy(&original, &root)),
            call,
        }
    }

    fn program(
        &self,
        name: &str,
        program: &str,
        contender: impl FnOnce(PathBuf) -> anyhow::Result<Contender>,
    ) -> Peer {
        let Some(path) = self.peers.program(program) else {
            return missing(name);
        };
        contender(path).map_or_else(
            |error| Peer::NotRun(name.to_owned(), format!("{error:#}")),
            Peer::Runs,
        )
    }
}

/// A peer that is not installed.
pub fn missing(name: &str) -> Peer {
    let why = "not installed; --install-peers gets it";
    Peer::NotRun(name.to_owned(), why.to_owned())
}

/// A contender that leaves everything as it is.
pub fn plain(name: &str, call: Call) -> Contender {
    Contender {
        name: name.to_owned(),
        ready: Box::new(|| Ok(())),
        call,
    }
}

/// The modules are where they belong after the last round, and undoing it restores every byte.
fn judge(root: &Path, original: &Path, moves: &[(&str, &str)], undo: &Call) -> anyhow::Result<()> {
    let file = |name: &str| root.join(name.replace('.', "/") + ".py");
    for (from, to) in moves {
        ensure!(
            !file(from).exists() && file(to).exists(),
            "{from} did not move"
        );
    }
    undo.run()?;
    ensure!(trees::same(root, original)?, "rollback left another tree");
    Ok(())
}

/// Ours, with what warms it before each round: the largest is measured once only.
fn warmed(call: Call) -> Contender {
    let warm_up = call.clone();
    Contender {
        name: "coalesce".to_owned(),
        ready: Box::new(move || warm_up.run().map(drop)),
        call,
    }
}

/// Whether a program can be started.
fn answers(program: &str) -> bool {
    let output = std::process::Command::new(program)
        .arg("--version")
        .output();
    output.is_ok_and(|output| output.status.success())
}

fn cargo_modules(root: &Path) -> Peer {
    let name = "cargo-modules orphans, one package";
    if answers("cargo-modules") {
        let words = ["modules", "orphans", "--lib", "--package", "made-core"];
        return Peer::Runs(plain(name, Call::new("cargo-modules", root).with(words)));
    }
    let why = "not installed; `cargo install cargo-modules` gets it";
    Peer::NotRun(name.to_owned(), why.to_owned())
}
