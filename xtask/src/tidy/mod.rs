//! `cargo xtask tidy`: the rules of this repository that a compiler does not know.
//!
//! Each rule is a function from the repository's files to problems, one line each.

mod code;
mod edges;
mod languages;
mod shape;
mod text;
mod wants;

use anyhow::bail;

use crate::repository::{File, Repository};

/// `cargo xtask tidy`; with `--counts` and perhaps a package, a table instead.
pub fn run(repository: &Repository, arguments: &[String]) -> anyhow::Result<()> {
    let files = repository.files()?;
    if let Some(("--counts", of)) = arguments
        .split_first()
        .map(|(first, of)| (first.as_str(), of))
    {
        print!("{}", shape::table(&files, of.first().map(String::as_str))?);
        return Ok(());
    }
    let problems = problems(&files);
    for problem in &problems {
        println!("{problem}");
    }
    if !problems.is_empty() {
        bail!("{} problems in {} files", problems.len(), files.len());
    }
    println!("checked {} files: tidy", files.len());
    Ok(())
}

/// What is wrong, a line each, sorted.
pub fn problems(files: &[File]) -> Vec<String> {
    let mut problems = edges::problems(files);
    problems.extend(text::problems(files));
    problems.extend(code::problems(files));
    problems.extend(wants::problems(files));
    problems.sort();
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_tidy() {
        let files = Repository::find().files().unwrap();
        let problems = problems(&files);
        assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    }

    #[test]
    fn the_map_stays_short() {
        let map = |lines: usize| File {
            path: "ARCHITECTURE.md".into(),
            text: Some("- more\n".repeat(lines)),
        };
        let too_long = |lines: usize| {
            let found = problems(&[map(lines)]);
            found.contains(&format!(
                "ARCHITECTURE.md: has {lines} lines, more than 250"
            ))
        };
        assert!(!too_long(250));
        assert!(too_long(251));
    }

    #[test]
    fn each_rule_finds_what_it_is_for() {
        let file = |path: &str, text: &str| File {
            path: path.into(),
            text: Some(text.into()),
        };
        let long = format!(
            "//! Doc.\nfn long() {{\n{}}}\n",
            "    let x = 1;\n".repeat(70)
        );
        for (file, expected) in [
            (
                file("crates/a/src/lib.rs", "// coalesce: shim 0001\nfn f() {}\n"),
                "does not begin with `//!`",
            ),
            (
                file("crates/a/src/lib.rs", "fn f() {}\n"),
                "does not begin with `//!`",
            ),
            (file("crates/a/src/lib.rs", &long), "`long` has 72 lines"),
            (
                file("crates/a/src/lib.rs", &"//! Doc.\n".repeat(801)),
                "has 801 lines",
            ),
            (
                file("crates/a/src/lib.rs", "//! D.\n#[ignore]\nfn f() {}\n"),
                "`#[ignore]`",
            ),
            (
                file("crates/a/src/lib.rs", "//! D.\nuse std::{fs, io};\n"),
                "`std::fs`",
            ),
            (
                file("crates/a/src/lib.rs", "//! D.\nfn f() { unsafe {} }\n"),
                "`unsafe`",
            ),
            (
                file(
                    "crates/coalesce-plan/Cargo.toml",
                    "[dependencies]\ncoalesce-lint.workspace = true\n",
                ),
                "coalesce-lint",
            ),
            (
                file(
                    "crates/coalesce-plan/Cargo.toml",
                    "[dependencies]\nanyhow.workspace = true\n",
                ),
                "anyhow",
            ),
            (
                file("notes.md", concat!("see /ro", "ot/x")),
                "a path of one machine",
            ),
            (
                file("notes.md", concat!("from pypi", ".org")),
                "a registry's host",
            ),
            (
                file("crates/coalesce-lint/src/rules/odd_rule.rs", "//! D.\n"),
                "no finding code",
            ),
        ] {
            let found = problems(std::slice::from_ref(&file));
            assert!(
                found.iter().any(|problem| problem.contains(expected)),
                "{expected}: {found:?}"
            );
        }
    }
}
