//! Where crates name a single language: what is particular to one is a question to its `Grammar` or its graph, so that
//! a further language is a crate and a line of the registry.
//!
//! What is left is counted, a crate a line, and only becomes fewer.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

use super::code::is_for_tests;

/// Packages that may: the languages themselves, and what defines which there are.
const OWN: [&str; 4] = [
    "coalesce-kernels",
    "coalesce-model",
    "coalesce-python",
    "coalesce-rust",
];
/// How many places others have: the package and the number.
const PLACES: &str = include_str!("languages.txt");
/// The type whose variants are languages.
const KIND: &str = "LanguageKind";

/// Places that name a language, by package.
#[derive(Default)]
pub struct LanguagePlaces(BTreeMap<String, Vec<String>>);

impl LanguagePlaces {
    /// Adds those of a file, tests left out.
    pub fn add(&mut self, path: &str, syntax: &syn::File) {
        let Some(package) = package_of(path) else {
            return;
        };
        let mut finder = Finder::default();
        finder.visit_file(syntax);
        let places = finder.lines.into_iter();
        let all = self.0.entry(package.to_owned()).or_default();
        all.extend(places.map(|line| format!("{path}:{line}")));
    }

    /// Packages that have more than they may, or fewer than is written down.
    pub fn problems(&self) -> Vec<String> {
        self.problems_with(PLACES)
    }

    fn problems_with(&self, listed: &str) -> Vec<String> {
        let bounds: BTreeMap<&str, usize> = listed.lines().filter_map(read_line).collect();
        let none = Vec::new();
        let names = self
            .0
            .keys()
            .map(String::as_str)
            .chain(bounds.keys().copied());
        let names: BTreeSet<&str> = names.collect();
        let compare = |name: &str| {
            let places = self.0.get(name).unwrap_or(&none);
            compare(name, places, bounds.get(name).copied().unwrap_or(0))
        };
        names.into_iter().filter_map(compare).collect()
    }
}

fn compare(name: &str, places: &[String], may: usize) -> Option<String> {
    let is = places.len();
    if is > may {
        return Some(format!(
            "{name}: names a language in {is} places, more than {may}; ask its `Grammar` or its graph: {}",
            places.join(", ")
        ));
    }
    (is < may).then(|| {
        format!("{name}: names a language in {is} places and no longer in {may}: write it down")
    })
}

fn read_line(line: &str) -> Option<(&str, usize)> {
    let (name, number) = line.split_once(' ')?;
    Some((name, number.parse().ok()?))
}

/// The package of a file of the toolkit, where that may not name languages as it likes.
fn package_of(path: &str) -> Option<&str> {
    let (folder, _) = path.split_once("/src/")?;
    let name = folder.strip_prefix("crates/")?;
    (!OWN.contains(&name)).then_some(name)
}

/// Finds the lines of one file.
#[derive(Default)]
struct Finder {
    lines: Vec<usize>,
}

impl Finder {
    /// What a macro is given is not parsed: there, the words have to do.
    fn tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for four in tokens.windows(4) {
            let [
                TokenTree::Ident(kind),
                TokenTree::Punct(_),
                TokenTree::Punct(_),
                TokenTree::Ident(variant),
            ] = four
            else {
                continue;
            };
            if kind == KIND && is_variant(&variant.to_string()) {
                self.lines.push(kind.span().start().line);
            }
        }
        for token in tokens {
            if let TokenTree::Group(group) = token {
                self.tokens(group.stream());
            }
        }
    }
}

impl<'ast> Visit<'ast> for Finder {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_for_tests(module) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let mut last = path.segments.iter().rev();
        if let (Some(variant), Some(kind)) = (last.next(), last.next())
            && kind.ident == KIND
            && is_variant(&variant.ident.to_string())
        {
            self.lines.push(kind.ident.span().start().line);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        self.tokens(called.tokens.clone());
        visit::visit_macro(self, called);
    }
}

/// Whether it is the name of a variant: not that of a function, and not `ALL`.
fn is_variant(name: &str) -> bool {
    name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(path: &str, text: &str) -> LanguagePlaces {
        let mut found = LanguagePlaces::default();
        found.add(path, &syn::parse_file(text).expect("it parses"));
        found
    }

    #[test]
    fn arms_comparisons_and_macros_are_counted_and_tests_are_not() {
        let cases = [
            (
                "fn f(k: K) { match k { LanguageKind::Rust => {} _ => {} } }",
                1,
            ),
            (
                "fn f(k: K) -> bool { k == coalesce_model::LanguageKind::Python }",
                1,
            ),
            (
                "fn f(k: K) -> bool { matches!(k, LanguageKind::Rust | LanguageKind::Kernel) }",
                2,
            ),
            ("fn f() { assert!(g(LanguageKind::Rust)); }", 1),
            (
                "fn f() { g(LanguageKind::ALL, LanguageKind::of_name(x)) }",
                0,
            ),
            ("fn f() { format!(\"{}\", LanguageKind::ALL.len()); }", 0),
            (
                "#[cfg(test)] mod tests { fn f() { g(LanguageKind::Rust) } }",
                0,
            ),
        ];
        for (text, expected) in cases {
            let found = places("crates/coalesce-plan/src/a.rs", text);
            let count: usize = found.0.values().map(Vec::len).sum();
            assert_eq!(count, expected, "{text}");
        }
    }

    #[test]
    fn languages_themselves_and_tests_beside_src_may_name_them() {
        let text = "fn f() { g(LanguageKind::Rust) }";
        for path in [
            "crates/coalesce-rust/src/a.rs",
            "crates/coalesce-plan/tests/a.rs",
        ] {
            assert!(places(path, text).0.is_empty(), "{path}");
        }
    }

    #[test]
    fn a_number_only_becomes_smaller() {
        let text = "fn f() { g(LanguageKind::Rust) }";
        let found = places("crates/coalesce-plan/src/a.rs", text);
        let cases = [
            ("coalesce-plan 1", 0),
            ("coalesce-plan 2", 1),
            ("", 1),
            ("coalesce-plan 0", 1),
        ];
        for (listed, expected) in cases {
            assert_eq!(found.problems_with(listed).len(), expected, "{listed}");
        }
        let gone = LanguagePlaces::default();
        assert_eq!(gone.problems_with("coalesce-text 3").len(), 1);
    }
}
