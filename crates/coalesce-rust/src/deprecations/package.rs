//! The package that names every old name once, and the test that holds rustc to it.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_cargo::{features, manifest::manifest_facts};
use coalesce_model::TreePath;

use super::OldName;

/// A package whose old names are tried.
#[derive(Clone, Debug)]
pub struct Dependency {
    /// Its directory.
    pub directory: TreePath,
    /// Its `Cargo.toml`.
    pub manifest: String,
}

/// The files of the package, `(path in its directory, text)`; `None` when there is no name to try or
/// a manifest does not parse. `up` leads from the package's directory to the root of the tree.
#[must_use]
pub fn package(
    names: &[OldName],
    dependencies: &[Dependency],
    up: &str,
    manifests: &str,
) -> Option<Vec<(&'static str, String)>> {
    // A library as other packages see it was not built as a test.
    let names: Vec<&OldName> = names
        .iter()
        .filter(|name| !name.conditions.iter().any(|condition| is_test(condition)))
        .collect();
    if names.is_empty() {
        return None;
    }
    let packages = dependencies
        .iter()
        .filter(|one| names.iter().any(|name| name.package == one.directory));
    let packages: Option<Vec<Package>> = packages.map(Package::read).collect();
    let packages = packages?;
    let features = features(&names, &packages);
    Some(vec![
        ("Cargo.toml", manifest(&packages, &features, up)),
        ("src/lib.rs", library(&names, manifests)),
        ("tests/deprecations.rs", test(&names, &features)),
    ])
}

fn is_test(condition: &str) -> bool {
    let mut words = condition.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '"');
    words.any(|word| word == "test")
}

/// What a manifest says that matters here.
struct Package {
    directory: TreePath,
    name: String,
    features: BTreeSet<String>,
    /// Features that are on where nobody says anything.
    default: BTreeSet<String>,
}

impl Package {
    fn read(dependency: &Dependency) -> Option<Self> {
        let text = dependency.manifest.as_str();
        let name = manifest_facts(text).package?;
        let default = features::defaults(&features::features(text).ok()?);
        let known = features::declared(text).ok()?;
        Some(Self {
            directory: dependency.directory.clone(),
            name,
            features: known,
            default,
        })
    }
}

/// The features that conditions name, with those that each switches on.
fn features(names: &[&OldName], packages: &[Package]) -> BTreeMap<String, Feature> {
    let mut features: BTreeMap<String, Feature> = BTreeMap::new();
    for name in names {
        let package = packages.iter().find(|one| one.directory == name.package);
        for feature in name.conditions.iter().flat_map(|text| features_in(text)) {
            let Some(package) = package.filter(|package| package.features.contains(&feature))
            else {
                continue;
            };
            let known = features.entry(feature.clone()).or_default();
            known.switches.insert(format!("{}/{feature}", package.name));
            known.default |= package.default.contains(&feature);
        }
    }
    features
}

#[derive(Default)]
struct Feature {
    switches: BTreeSet<String>,
    default: bool,
}

/// The `x` of each `feature = "x"`.
fn features_in(condition: &str) -> Vec<String> {
    let parts = condition.split("feature").skip(1);
    let values = parts.filter_map(|part| {
        let value = part.trim_start().strip_prefix('=')?.trim_start();
        value
            .strip_prefix('"')?
            .split('"')
            .next()
            .map(str::to_owned)
    });
    values.collect()
}

fn manifest(packages: &[Package], features: &BTreeMap<String, Feature>, up: &str) -> String {
    let mut text = "# Shows which old names rustc warns about: `cargo test`.\n[package]\nname = \"migration-deprecations\"\nversion = \"0.0.0\"\nedition = \"2021\"\npublish = false\n\n[dependencies]\n".to_owned();
    for package in packages {
        let path = match package.directory.is_root() {
            true => up.trim_end_matches('/').to_owned(),
            false => format!("{up}{}", package.directory),
        };
        text.push_str(&format!("{} = {{ path = \"{path}\" }}\n", package.name));
    }
    text.push_str(&feature_table(features));
    text.push_str("\n# On its own: it is no member of the workspace around it.\n[workspace]\n");
    text
}

/// The `[features]` of the package; nothing where it has none.
fn feature_table(features: &BTreeMap<String, Feature>) -> String {
    if features.is_empty() {
        return String::new();
    }
    let default = features.iter().filter(|(_, feature)| feature.default);
    let default: Vec<String> = default.map(|(name, _)| format!("\"{name}\"")).collect();
    let mut text = format!("\n[features]\ndefault = [{}]\n", default.join(", "));
    for (name, feature) in features.iter().filter(|(name, _)| *name != "default") {
        let switches = feature.switches.iter();
        let switches: Vec<String> = switches.map(|switch| format!("\"{switch}\"")).collect();
        text.push_str(&format!("{name} = [{}]\n", switches.join(", ")));
    }
    text
}

/// The line that names an old name, without its condition.
fn line(name: &OldName) -> String {
    format!("use ::{} as _;", name.path)
}

fn condition(name: &OldName) -> Option<String> {
    match name.conditions.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        several => Some(format!("all({})", several.join(", "))),
    }
}

fn library(names: &[&OldName], manifests: &str) -> String {
    let list = |warns: bool| -> String {
        let fits = names.iter().filter(|name| name.warns == warns);
        fits.map(|name| {
            let condition =
                condition(name).map_or_else(String::new, |text| format!("#[cfg({text})] "));
            format!("    {condition}{}\n", line(name))
        })
        .collect()
    };
    let mut text = format!(
        "//! Every old name that {manifests} keeps, used once.\n//!\n//! All of it compiles; with `-D deprecated` each name of `warns` is an error and none of `silent`\n//! is, as `cargo test` shows. What is silent only a migration of the users finds.\n#![allow(unused_imports, unexpected_cfgs)]\n"
    );
    for (name, warns) in [("warns", true), ("silent", false)] {
        let list = list(warns);
        if !list.is_empty() {
            text.push_str(&format!("\n#[rustfmt::skip]\nmod {name} {{\n{list}}}\n"));
        }
    }
    text
}

fn test(names: &[&OldName], features: &BTreeMap<String, Feature>) -> String {
    let rows: String = names
        .iter()
        .filter(|name| name.warns)
        .map(|name| {
            let built =
                condition(name).map_or_else(|| "true".to_owned(), |text| format!("cfg!({text})"));
            format!("    (\"{}\", {built}),\n", line(name))
        })
        .collect();
    let features: String = features
        .keys()
        .filter(|name| *name != "default")
        .map(|name| format!("    (\"{name}\", cfg!(feature = \"{name}\")),\n"))
        .collect();
    TEST.replace("@ROWS", &rows).replace("@FEATURES", &features)
}

const TEST: &str = r##"//! Holds rustc to what the library says of each old name.
#![allow(unexpected_cfgs)]

use std::{collections::BTreeSet, env, process::Command};

/// Lines of the library that `-D deprecated` refuses, and whether they are compiled here.
#[rustfmt::skip]
const WARNS: &[(&str, bool)] = &[
@ROWS];

/// Features of this build.
#[rustfmt::skip]
const FEATURES: &[(&str, bool)] = &[
@FEATURES];

const LIBRARY: &str = include_str!("../src/lib.rs");

/// Numbers of the lines of the library that are refused.
fn refused(lint: &str) -> (BTreeSet<usize>, String) {
    let on = FEATURES.iter().filter(|(_, on)| *on).map(|(name, _)| *name);
    let on: Vec<&str> = on.collect();
    let output = Command::new(env!("CARGO"))
        .args(["rustc", "--lib", "--offline", "--message-format", "short"])
        .args(["--no-default-features", "--features", &on.join(",")])
        .args(["--", lint, "deprecated"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("CARGO_TERM_COLOR", "never")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).replace('\\', "/");
    let lines = said.lines().filter_map(|line| {
        let place = line.strip_prefix("src/lib.rs:")?;
        let (number, rest) = place.split_once(':')?;
        rest.contains("error").then(|| number.parse().unwrap())
    });
    (lines.collect(), said)
}

#[test]
fn each_name_that_can_warn_does_and_no_other() {
    let (refused, said) = refused("-D");
    let mut wanted = BTreeSet::new();
    for (line, compiled) in WARNS {
        let known = LIBRARY.lines().position(|text| text.trim().ends_with(line));
        let number = known.unwrap_or_else(|| panic!("the library has no `{line}`")) + 1;
        if *compiled {
            wanted.insert(number);
        }
    }
    let text = |number: &usize| LIBRARY.lines().nth(number - 1).unwrap_or_default().trim();
    let quiet: Vec<_> = wanted.difference(&refused).map(text).collect();
    let loud: Vec<_> = refused.difference(&wanted).map(text).collect();
    assert!(quiet.is_empty(), "rustc says nothing about {quiet:#?}\n{said}");
    assert!(loud.is_empty(), "rustc refuses, too, {loud:#?}\n{said}");
}

#[test]
fn everything_compiles_where_deprecated_names_are_allowed() {
    let (refused, said) = refused("-A");
    assert!(refused.is_empty(), "{said}");
}
"##;
