//! For how much of a build the names of conditions are set: `test` and `doc` for one crate at a time, features and what
//! a build script tells cargo for one package, all others for everything that is compiled.

use std::collections::BTreeMap;

use coalesce_model::ByteSpan;

use super::{Tree, repeated_conditions::aliases_in};
use crate::{
    discover::TargetKind,
    lexer::{self, Token, TokenKind},
    resolve::CrateId,
    words::KNOWN_CONDITIONS,
};

/// How much of a build has a condition alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ConditionScope {
    /// The crate that is tested or documented: what it depends on is compiled without.
    Crate,
    Package,
    /// A build script may set it in one package, or each in its own and otherwise.
    Unknown,
    Everything,
}

/// Whether the build script of a package sets a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SetByScript {
    Never,
    /// It says the name, or puts names together.
    Perhaps,
    /// It tells cargo the name.
    Told,
}

/// Names that are set for the crate alone that somebody tests or documents.
const OF_ONE_CRATE: [&str; 4] = ["test", "doctest", "doc", "docsrs"];

/// What build scripts say, each read once.
pub(super) struct ConditionScopes<'a> {
    tree: Tree<'a>,
    scripts: BTreeMap<usize, String>,
}

impl<'a> ConditionScopes<'a> {
    pub fn new(tree: Tree<'a>) -> Self {
        Self {
            tree,
            scripts: BTreeMap::new(),
        }
    }

    /// For how much of what two crates are a condition holds alike: the least that any of its names is set for.
    pub fn of(&mut self, condition: &str, user: CrateId, target: CrateId) -> ConditionScope {
        let names = names_in(condition).into_iter();
        let scopes = names.map(|name| self.of_name(name, user, target));
        scopes.min().unwrap_or(ConditionScope::Everything)
    }

    /// Whether a name is set for one crate at a time.
    pub fn is_of_one_crate(condition: &str) -> bool {
        OF_ONE_CRATE.contains(&condition)
    }

    fn of_name(&mut self, name: &str, user: CrateId, target: CrateId) -> ConditionScope {
        if Self::is_of_one_crate(name) {
            return ConditionScope::Crate;
        }
        if name == "feature" {
            return ConditionScope::Package;
        }
        let packages = [user, target].map(|krate| self.tree.world[krate].package);
        if KNOWN_CONDITIONS.contains(name) || packages[0] == packages[1] {
            return ConditionScope::Everything;
        }
        let [user, target] = packages.map(|package| self.script(package).to_owned());
        match (set_by(&user, name), set_by(&target, name)) {
            (SetByScript::Never, SetByScript::Never) => ConditionScope::Everything,
            (SetByScript::Told, SetByScript::Never) => ConditionScope::Package,
            _ if user == target && !asks_of_package(&user) => ConditionScope::Everything,
            _ => ConditionScope::Unknown,
        }
    }

    fn script(&mut self, package: usize) -> &str {
        let tree = self.tree;
        let script = self.scripts.entry(package);
        script.or_insert_with(|| script_of(tree, package))
    }
}

/// Whether a build script sets a name.
fn set_by(script: &str, name: &str) -> SetByScript {
    let is_whole = |(at, found): (usize, &str)| {
        let behind = script.get(at + found.len()..).unwrap_or_default();
        !behind.starts_with(|one: char| one.is_alphanumeric() || one == '_')
    };
    let told = format!("{TOLD}{name}");
    if script.match_indices(told.as_str()).any(is_whole) || aliases_in(script).contains(&name) {
        return SetByScript::Told;
    }
    let mut words = script.split(|one: char| !one.is_alphanumeric() && one != '_');
    match puts_names_together(script) || words.any(|word| word == name) {
        true => SetByScript::Perhaps,
        false => SetByScript::Never,
    }
}

/// Whether what a build script comes to may hang on the package that it is of.
fn asks_of_package(script: &str) -> bool {
    [
        "feature",
        "CARGO_FEATURE",
        "CARGO_PKG",
        "CARGO_MANIFEST",
        "CARGO_CFG_FEATURE",
        "Path",
        "fs::",
    ]
    .iter()
    .any(|word| script.contains(word))
}

/// How a build script tells cargo of a name.
const TOLD: &str = "rustc-cfg=";

/// The text of the build script of a package, that of its modules behind it; nothing where it has none.
fn script_of(tree: Tree<'_>, package: usize) -> String {
    let world = tree.world;
    let is_script = |krate: CrateId| {
        let krate = &world[krate];
        krate.package == package && krate.kind == TargetKind::BuildScript
    };
    let files = world.sources().filter(|(_, source)| {
        let mut bodies = source.bodies.iter();
        bodies.any(|body| is_script(world[world[*body].module].krate))
    });
    let texts = files.filter_map(|(_, source)| tree.texts.text(&source.path));
    texts.map(|text| format!("{text}\n")).collect()
}

/// Whether a script tells cargo of names that it does not write out: `cargo:rustc-cfg={name}`.
fn puts_names_together(script: &str) -> bool {
    let mut said = script.match_indices(TOLD);
    said.any(|(at, found)| {
        let behind = script.get(at + found.len()..).unwrap_or_default();
        behind.starts_with('{') && !behind.starts_with("{{") || behind.starts_with('"')
    })
}

/// The names that a condition asks for: not its values, nor `all`, `any` and `not`.
fn names_in(condition: &str) -> Vec<&str> {
    let tokens = lexer::tokens(condition, ByteSpan::from_range(0..condition.len()));
    let opens = |at: usize| {
        let next: Option<&Token> = tokens.get(at + 1);
        next.is_some_and(|next| next.kind == TokenKind::Open(b'('))
    };
    let names = tokens.iter().enumerate();
    let names = names.filter(|(at, token)| token.is_ident() && !opens(*at));
    names
        .filter_map(|(_, token)| token.span.of(condition))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_values_and_from_what_joins_them() {
        for (condition, expected) in [
            ("test", vec!["test"]),
            ("all(unix,not(feature=\"test\"))", vec!["unix", "feature"]),
            ("any(loom,target_os=\"linux\")", vec!["loom", "target_os"]),
        ] {
            assert_eq!(names_in(condition), expected, "{condition}");
        }
    }

    #[test]
    fn a_script_puts_names_together_where_it_fills_one_in() {
        for (script, expected) in [
            ("println!(\"cargo:rustc-cfg=fast\")", false),
            ("println!(\"cargo:rustc-cfg={name}\")", true),
            ("println!(\"cargo::rustc-cfg={}\", name)", true),
            ("emit(\"cargo:rustc-cfg=\", name)", true),
            ("println!(\"cargo:rustc-link-lib={name}\")", false),
        ] {
            assert_eq!(puts_names_together(script), expected, "{script}");
        }
    }
}
