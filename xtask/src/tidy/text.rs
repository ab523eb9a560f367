//! Rules about every text file: nothing of one machine, nothing of one registry.

use crate::repository::File;

/// What must not stand in any file, and what it is. Written in pieces, so that this file passes.
const FORBIDDEN: &[(&str, &str)] = &[
    (concat!("/ro", "ot/"), "a path of one machine"),
    (concat!("/ho", "me/"), "a path of one machine"),
    (concat!("/Us", "ers/"), "a path of one machine"),
    (concat!("/wo", "rk/"), "a path of one machine"),
    (concat!("C:\\Us", "ers"), "a path of one machine"),
    (concat!("index.cra", "tes.io"), "a registry's host"),
    (concat!("static.cra", "tes.io"), "a registry's host"),
    (concat!("pypi", ".org"), "a registry's host"),
    (concat!("pythonhos", "ted.org"), "a registry's host"),
    (concat!("registry.np", "mjs.org"), "a registry's host"),
];

/// The only source that a locked package may come from.
const LOCK_SOURCE: &str = concat!("registry+https://github.com/rust-lang/cra", "tes.io-index");

/// How long the map may be: who is new reads it whole, and details have a place in `docs/internals`.
const MAP: (&str, usize) = ("ARCHITECTURE.md", 250);

/// Files that name a machine or a registry, and a map that nobody reads to its end.
pub fn problems(files: &[File]) -> Vec<String> {
    let mut problems = Vec::new();
    for file in files {
        let Some(text) = &file.text else { continue };
        let (map, most) = MAP;
        let lines = text.lines().count();
        if file.path == map && lines > most {
            problems.push(format!("{map}: has {lines} lines, more than {most}"));
        }
        for (number, line) in (1..).zip(text.lines()) {
            for (_, what) in FORBIDDEN.iter().filter(|(part, _)| line.contains(part)) {
                problems.push(format!("{}:{number}: {what}", file.path));
            }
            let source = line
                .strip_prefix("source = ")
                .map(|source| source.trim_matches('"'));
            if file.path == "Cargo.lock" && source.is_some_and(|source| source != LOCK_SOURCE) {
                problems.push(format!(
                    "{}:{number}: a source that others may not have",
                    file.path
                ));
            }
        }
    }
    problems
}
