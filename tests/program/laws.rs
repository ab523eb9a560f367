//! Laws of every verb, on small random trees of both languages.
//!
//! A migration that was applied has nothing left to do, and its undo gives every byte back; one
//! that is refused writes nothing. What a migration should make of a tree is in the cases.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::{Command, Output, Stdio},
};

use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};

use coalesce_tests::{Tree, read_tree, write_tree};

/// The functions of a module and what they return.
type Functions = BTreeMap<u8, u8>;

#[derive(Clone, Debug)]
struct Sample {
    rust: bool,
    verb: &'static str,
    old: Functions,
    new: Functions,
    /// Which function of `old` (else of `new`) a user has, and how it names it.
    uses: Vec<(bool, u8, u8)>,
    /// What both have is taken from `old`.
    from_old: bool,
    shim: bool,
    windows: bool,
}

fn samples() -> impl Strategy<Value = Sample> {
    let functions = || prop::collection::btree_map(0_u8..4, 0_u8..3, 1..4);
    let verbs = prop::sample::select(vec!["move", "replace", "merge", "remove"]);
    let uses = prop::collection::vec((any::<bool>(), 0_u8..4, 0_u8..3), 0..4);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (verbs, functions(), functions(), uses, flags).prop_map(
        |(verb, old, new, uses, (rust, from_old, shim, windows))| Sample {
            rust,
            verb,
            old,
            new,
            uses,
            from_old,
            shim,
            windows,
        },
    )
}

impl Sample {
    fn files(&self) -> Vec<(&'static str, String)> {
        let mut files = if self.rust {
            self.crate_files()
        } else {
            self.package_files()
        };
        if self.windows {
            for (_, text) in &mut files {
                *text = text.replace('\n', "\r\n");
            }
        }
        files.push(("m.toml", self.manifest()));
        files
    }

    fn manifest(&self) -> String {
        let name = |module: &str| {
            let separator = if self.rust { "::" } else { "." };
            format!("\"pkg{separator}{module}\"")
        };
        let (old, shim) = (name("old"), self.shim);
        let entry = match self.verb {
            "move" => format!("from = {old}\nto = {}\nshim = {shim}\n", name("moved")),
            "replace" => format!("from = {old}\nto = {}\nshim = {shim}\n", name("new")),
            "merge" => {
                let kept = if self.from_old {
                    "keep-from"
                } else {
                    "keep-into"
                };
                let both = self
                    .old
                    .iter()
                    .filter(|(key, value)| self.new.get(key).is_some_and(|other| other != *value));
                let decide: Vec<String> = both
                    .map(|(key, _)| format!("f{key} = \"{kept}\""))
                    .collect();
                let decide = decide.join(", ");
                format!(
                    "from = {old}\ninto = {}\nshim = {shim}\ndecide = {{ {decide} }}\n",
                    name("new")
                )
            }
            _ => format!("module = {}\n", name("gone")),
        };
        format!("schema = 1\n\n[[{}]]\n{entry}", self.verb)
    }

    /// What the user names, as far as there is such a function: module, function, way.
    fn used(&self) -> impl Iterator<Item = (usize, &'static str, u8, u8)> {
        let uses = self.uses.iter().enumerate();
        uses.filter_map(|(at, (old, function, way))| {
            let (module, functions) = if *old {
                ("old", &self.old)
            } else {
                ("new", &self.new)
            };
            functions
                .contains_key(function)
                .then_some((at, module, *function, *way))
        })
    }

    fn package_files(&self) -> Vec<(&'static str, String)> {
        let module = |functions: &Functions| {
            let functions = functions.iter();
            let texts =
                functions.map(|(name, value)| format!("def f{name}():\n    return {value}\n"));
            texts.collect::<Vec<_>>().join("\n\n")
        };
        let (mut imports, mut calls) = (BTreeSet::new(), String::new());
        for (at, module, function, way) in self.used() {
            let (import, call) = match way {
                0 => (
                    format!("from pkg.{module} import f{function} as u{at}\n"),
                    format!("u{at}()"),
                ),
                1 => (
                    format!("import pkg.{module}\n"),
                    format!("pkg.{module}.f{function}()"),
                ),
                _ => (
                    format!("from pkg import {module} as m{at}\n"),
                    format!("m{at}.f{function}()"),
                ),
            };
            imports.insert(import);
            calls.push_str(&format!("x{at} = {call}\n"));
        }
        let imports: String = imports.into_iter().collect();
        vec![
            ("pyproject.toml", "[project]\nname = \"pkg\"\n".into()),
            ("pkg/__init__.py", String::new()),
            ("pkg/old.py", module(&self.old)),
            ("pkg/new.py", module(&self.new)),
            ("pkg/gone.py", "\"\"\"To be written.\"\"\"\n".into()),
            ("pkg/user.py", format!("{imports}\n{calls}")),
        ]
    }

    fn crate_files(&self) -> Vec<(&'static str, String)> {
        let module = |functions: &Functions| {
            let functions = functions.iter();
            let texts = functions
                .map(|(name, value)| format!("pub fn f{name}() -> u32 {{\n    {value}\n}}\n"));
            texts.collect::<Vec<_>>().join("\n")
        };
        let (mut imports, mut calls) = (String::new(), String::new());
        for (at, module, function, way) in self.used() {
            let (import, call) = match way {
                0 => (
                    format!("use crate::{module}::f{function} as u{at};\n"),
                    format!("u{at}()"),
                ),
                1 => (String::new(), format!("crate::{module}::f{function}()")),
                _ => (
                    format!("use crate::{module} as m{at};\n"),
                    format!("m{at}::f{function}()"),
                ),
            };
            imports.push_str(&import);
            calls.push_str(&format!("\npub fn x{at}() -> u32 {{\n    {call}\n}}\n"));
        }
        let modules = ["gone", "new", "old", "user"].map(|name| format!("pub mod {name};\n"));
        let manifest = "[package]\nname = \"pkg\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
        vec![
            ("Cargo.toml", manifest.into()),
            ("src/lib.rs", modules.concat()),
            ("src/old.rs", module(&self.old)),
            ("src/new.rs", module(&self.new)),
            ("src/gone.rs", "//! To be written.\n".into()),
            ("src/user.rs", format!("{imports}{calls}")),
        ]
    }
}

fn coalesce(tree: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_coalesce-under-test"))
        .args(arguments)
        .current_dir(tree)
        .env("COALESCE_CACHE_DIR", "off")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn lay_out(tree: &Path, sample: &Sample) -> Tree {
    let directory = if sample.rust { "src" } else { "pkg" };
    let mut files = Tree::from([(directory.to_owned(), None)]);
    for (name, text) in sample.files() {
        files.insert(name.to_owned(), Some(text.into_bytes()));
    }
    write_tree(tree, &files).unwrap();
    files
}

/// Whether the migration was applied; the laws hold either way.
fn obeys(sample: &Sample) -> Result<bool, TestCaseError> {
    let scratch = tempfile::tempdir().unwrap();
    let tree = scratch.path();
    let before = lay_out(tree, sample);
    let said = |output: &Output| {
        let (out, err) = (&output.stdout, &output.stderr);
        format!(
            "{}{}",
            String::from_utf8_lossy(out),
            String::from_utf8_lossy(err)
        )
    };
    let first = coalesce(tree, &["migrate", "m.toml"]);
    let after = read_tree(tree).unwrap();
    if !first.status.success() {
        prop_assert!(
            after == before,
            "refused, and written all the same: {}",
            said(&first)
        );
        return Ok(false);
    }
    prop_assert!(after != before, "nothing was done: {}", said(&first));
    let second = coalesce(tree, &["migrate", "m.toml"]);
    prop_assert!(
        second.status.success(),
        "the second time: {}",
        said(&second)
    );
    prop_assert!(
        read_tree(tree).unwrap() == after,
        "twice is not once: {}",
        said(&second)
    );
    let undone = coalesce(tree, &["rollback", "--yes"]);
    prop_assert!(undone.status.success(), "rollback: {}", said(&undone));
    prop_assert!(read_tree(tree).unwrap() == before, "undo gives other bytes");
    Ok(true)
}

#[test]
fn twice_is_once_and_undo_gives_the_bytes_back() {
    let config = Config {
        cases: 64,
        failure_persistence: None,
        ..Config::default()
    };
    let applied: RefCell<BTreeSet<(bool, &str)>> = RefCell::default();
    TestRunner::new_with_rng(
        config,
        prop::test_runner::TestRng::deterministic_rng(prop::test_runner::RngAlgorithm::ChaCha),
    )
    .run(&samples(), |sample| {
        if obeys(&sample)? {
            applied.borrow_mut().insert((sample.rust, sample.verb));
        }
        Ok(())
    })
    .unwrap();
    // The laws say nothing about what is always refused.
    let expected = ["merge", "move", "remove", "replace"];
    let expected = expected.map(|verb| [(false, verb), (true, verb)]);
    let expected: BTreeSet<_> = expected.into_iter().flatten().collect();
    assert_eq!(applied.into_inner(), expected);
}
