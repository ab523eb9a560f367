//! Tables of crates that say what to take for what one wants: each row has an example in the crate's
//! documentation that uses it, so that it runs with the tests.

use std::collections::BTreeSet;

use crate::repository::File;

/// How such a table begins in the documentation of a crate.
const TABLE: &str = "//! | you want | take |";

/// Rows of which nothing is in an example.
pub fn problems(files: &[File]) -> Vec<String> {
    let mut problems = Vec::new();
    for file in files {
        let Some(folder) = file.path.strip_suffix("lib.rs") else {
            continue;
        };
        let lines: Vec<_> = file.text.as_deref().unwrap_or_default().lines().collect();
        let Some(table) = lines.iter().position(|line| *line == TABLE) else {
            continue;
        };
        let used = words_of_examples(files, folder);
        let rows = (table + 3..).zip(&lines[table + 2..]);
        for (line, row) in rows.take_while(|(_, row)| row.starts_with("//! |")) {
            let names = names(row);
            if !names.iter().any(|name| used.contains(name)) {
                problems.push(format!(
                    "{}:{line}: no example uses one of {}",
                    file.path,
                    names.join(", ")
                ));
            }
        }
    }
    problems
}

/// What a row says to take, by the last parts of the names.
fn names(row: &str) -> Vec<&str> {
    let taken = row.rsplit('|').nth(1).unwrap_or_default();
    let names = taken.split('`').skip(1).step_by(2);
    names
        .map(|name| name.rsplit("::").next().unwrap_or(name))
        .collect()
}

/// Words of the examples in the documentation of the files of a crate.
fn words_of_examples<'f>(files: &'f [File], folder: &str) -> BTreeSet<&'f str> {
    let mut words = BTreeSet::new();
    for file in files.iter().filter(|file| file.path.starts_with(folder)) {
        let mut fenced = false;
        for line in file.text.as_deref().unwrap_or_default().lines() {
            let line = line.trim_start();
            // A fence may depend on a feature.
            if line.starts_with("#![cfg_attr(feature") && line.contains("doc = \"```") {
                fenced = true;
                continue;
            }
            let Some(said) = line.strip_prefix("///").or(line.strip_prefix("//!")) else {
                continue;
            };
            if said.trim_start().starts_with("```") {
                fenced = !fenced;
            } else if fenced {
                words.extend(said.split(|c: char| !c.is_alphanumeric() && c != '_'));
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_without_an_example_is_found() {
        let file = |path: &str, text: &str| File {
            path: path.into(),
            text: Some(text.into()),
        };
        let files = [
            file(
                "crates/a/src/lib.rs",
                "//! A.\n//!\n//! | you want | take |\n//! | --- | --- |\n//! | one | [`One`] |\n\
                 //! | two | [`Some::two`], or [`other`] |\n//! | three | `three` |\n//!\n",
            ),
            file(
                "crates/a/src/one.rs",
                "/// Not in `three`.\n/// ```\n/// use a::One;\n/// One::two();\n/// ```\nstruct One;\n\
                 // three\n",
            ),
            file("crates/b/src/lib.rs", "//! ```\n//! three()\n//! ```\n"),
        ];
        assert_eq!(
            problems(&files),
            ["crates/a/src/lib.rs:7: no example uses one of three"]
        );
    }
}
