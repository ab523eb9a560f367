//! `migrate --emit-tests` for Rust: the package that it writes passes, and fails where rustc is silent.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

const FILES: &[(&str, &str)] = &[
    (
        "Cargo.toml",
        "[package]\nname = \"a-b\"\nedition = \"2021\"\n[features]\ndefault = [\"x\"]\nx = []\ny = []\n",
    ),
    (
        "src/lib.rs",
        "pub mod old;\npub mod home;\nmod hidden;\npub use old::Kind;\n",
    ),
    ("src/home.rs", "pub fn here() {}\n"),
    ("src/hidden.rs", "pub mod r#type { pub fn run() {} }\n"),
    (
        "src/old.rs",
        "pub struct Named { pub value: u8 }\npub struct Tuple(pub u8);\npub enum Kind { A, B }\n\
         pub fn run() {}\n#[cfg(feature = \"x\")]\npub const ON: u8 = 1;\n\
         #[cfg(feature = \"y\")]\npub trait Off {}\n#[cfg(test)]\npub fn tested() {}\n\
         pub trait Trait {}\npub static STATE: u8 = 1;\npub(crate) fn inside() {}\n\
         #[deprecated(note = \"its own\")]\npub trait Ancient {}\n\
         pub mod r#type { pub fn deep() {} pub trait Quiet {} }\n",
    ),
    (
        "m.toml",
        "schema = 1\n[[move]]\nfrom = \"a_b::old\"\nto = \"a_b::home::new\"\nshim = true\n",
    ),
];

/// What the package names, those that warn first.
const NAMES: &str = "\
#[cfg(feature = \"x\")] use ::a_b::old::ON as _;
use ::a_b::old as _;
use ::a_b::old::Ancient as _;
use ::a_b::old::Kind as _;
use ::a_b::old::Named as _;
use ::a_b::old::Tuple as _;
use ::a_b::old::r#type as _;
use ::a_b::old::r#type::deep as _;
use ::a_b::old::run as _;

#[cfg(feature = \"y\")] use ::a_b::old::Off as _;
use ::a_b::old::STATE as _;
use ::a_b::old::Trait as _;
use ::a_b::old::r#type::Quiet as _;
";

fn write(tree: &Path) {
    for (path, text) in FILES {
        coalesce_tests::write_file(tree, path, text).unwrap();
    }
}

fn coalesce(tree: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_coalesce-under-test"))
        .args(words)
        .current_dir(tree)
        .env("COALESCE_CACHE_DIR", "off")
        .output()
        .unwrap()
}

fn cargo(tree: &Path, words: &[&str]) -> (bool, String) {
    let output = Command::new("cargo")
        .args(["test", "--offline", "--quiet", "--test", "deprecations"])
        .args(words)
        .current_dir(tree.join("guard/migration-deprecations"))
        .env("CARGO_TARGET_DIR", tree.join("target"))
        .env_remove("RUSTFLAGS")
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    (
        output.status.success(),
        String::from_utf8_lossy(&said).into_owned(),
    )
}

#[test]
fn the_package_holds_rustc_to_each_name() {
    if Command::new("cargo").arg("--version").output().is_err() {
        println!("skipped: cargo is not installed");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let tree = directory.path();
    write(tree);
    let done = coalesce(
        tree,
        &["migrate", "m.toml", "--yes", "--emit-tests", "guard"],
    );
    let talk = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{talk}");
    let library = tree.join("guard/migration-deprecations/src/lib.rs");
    let library = fs::read_to_string(library).unwrap();
    let (warns, silent) = library.split_once("mod silent").unwrap();
    let lines = |part: &str| -> String {
        let mut lines: Vec<&str> = part.lines().map(str::trim).collect();
        lines.retain(|line| line.contains("use ::"));
        lines.sort_unstable();
        lines.iter().map(|line| format!("{line}\n")).collect()
    };
    assert_eq!(format!("{}\n{}", lines(warns), lines(silent)), NAMES);
    for features in [&[][..], &["--all-features"], &["--no-default-features"]] {
        let (passed, said) = cargo(tree, features);
        assert!(passed, "{features:?}: {said}");
    }
    // Without its attributes the module is silent, and the package says so.
    for path in ["src/lib.rs", "src/old.rs"] {
        let text = fs::read_to_string(tree.join(path)).unwrap();
        fs::write(
            tree.join(path),
            text.replace("#[deprecated(", "#[doc(alias = \"x\")] // "),
        )
        .unwrap();
    }
    let (passed, said) = cargo(tree, &[]);
    assert!(
        !passed && said.contains("rustc says nothing about"),
        "{said}"
    );
    assert!(said.contains("use ::a_b::old::run as _;"), "{said}");
}
