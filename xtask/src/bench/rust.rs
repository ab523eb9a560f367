//! Rust workspaces made here, of three sizes: whether time and memory grow with the lines alone.
//!
//! A workspace is crates of five modules; one module of twenty uses the module that moves.

use std::path::{Path, PathBuf};

use super::trees;

/// Sizes in thousands of lines; the last one is for `--slow`.
pub const SIZES: [(&str, usize); 3] = [("50k", 50), ("200k", 200), ("1m", 1000)];
/// Modules in a crate.
const MODULES: usize = 5;
/// Functions in a module.
const FUNCTIONS: usize = 40;
/// The module that moves, and where to.
pub const MOVE: (&str, &str) = ("made_core::fast::kernels", "made_core::home::kernels");

/// Makes the workspace of about `thousands` of lines below `directory`; the same one each time.
pub fn made(directory: &Path, name: &str, thousands: usize) -> anyhow::Result<PathBuf> {
    let root = directory.join(format!("made-rust-{name}"));
    trees::lay_out(&root, files(thousands * 1000))
}

/// The manifest of the move.
pub fn manifest() -> String {
    let (from, to) = MOVE;
    format!("schema = 1\n\n[[move]]\nfrom = \"{from}\"\nto = \"{to}\"\n")
}

fn files(lines: usize) -> impl Iterator<Item = (String, String)> {
    let fixed = [
        (
            "Cargo.toml",
            "[workspace]\nresolver = \"2\"\nmembers = [\"core\", \"parts/*\"]\n".to_owned(),
        ),
        ("core/Cargo.toml", package("made-core", "")),
        (
            "core/src/lib.rs",
            "pub mod fast;\npub mod home;\n".to_owned(),
        ),
        ("core/src/fast.rs", "pub mod kernels;\n".to_owned()),
        ("core/src/home.rs", "//! The home.\n".to_owned()),
        ("core/src/fast/kernels.rs", body(0)),
    ];
    let fixed = fixed.map(|(path, text)| (path.to_owned(), text));
    let modules = lines / body(0).lines().count();
    let crates = (0..modules.div_ceil(MODULES)).flat_map(crate_files);
    fixed
        .into_iter()
        .chain(crates)
        .chain((0..modules).map(module))
}

/// The manifest of a crate, and the root that declares its modules.
fn crate_files(number: usize) -> [(String, String); 2] {
    let list: String = (0..MODULES)
        .map(|at| format!("pub mod module_{at};\n"))
        .collect();
    let name = format!("made-part-{number}");
    let core = "made-core = { path = \"../../core\" }\n";
    [
        (format!("parts/{number}/Cargo.toml"), package(&name, core)),
        (format!("parts/{number}/src/lib.rs"), list),
    ]
}

/// A module: some use what moves, the others the module before them.
fn module(number: usize) -> (String, String) {
    let (krate, at) = (number / MODULES, number % MODULES);
    let mut text = "use std::collections::BTreeMap;\n".to_owned();
    match number % 20 {
        3 => text.push_str("use made_core::fast::kernels::{work_3, Table};\n"),
        7 => text.push_str("use made_core::fast::{self, kernels};\n"),
        _ if at > 0 => text.push_str(&format!("use crate::module_{}::Table as Other;\n", at - 1)),
        _ => {}
    }
    let path = format!("parts/{krate}/src/module_{at}.rs");
    (path, text + &body(number))
}

fn package(name: &str, dependencies: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\n{dependencies}"
    )
}

/// About 400 lines that a parser has to walk through.
fn body(seed: usize) -> String {
    let mut text = "\n/// What is counted.\n#[derive(Clone, Debug, Default)]\npub struct Table {\n    pub rows: Vec<(u32, String)>,\n    pub total: u64,\n}\n".to_owned();
    for number in 0..FUNCTIONS {
        text.push_str(&format!(
            "\n/// Adds {seed} to what is there; see [`Table`].\npub fn work_{number}(table: &mut Table, scale: Option<u64>) -> u64 {{\n    \
             let scale = scale.unwrap_or({number});\n    \
             for (at, (key, value)) in table.rows.iter().enumerate() {{\n        \
             table.total += u64::from(*key) * scale + value.len() as u64 + at as u64;\n    }}\n    \
             println!(\"{{}}\", table.total);\n    table.total\n}}\n"
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_has_its_lines_and_users_of_what_moves() {
        let files: Vec<_> = files(20_000).collect();
        let lines: usize = files.iter().map(|(_, text)| text.lines().count()).sum();
        assert!((19_000..22_000).contains(&lines), "{lines}");
        let users = files
            .iter()
            .filter(|(_, text)| text.contains("made_core::fast"));
        assert!(users.count() >= 4);
    }
}
