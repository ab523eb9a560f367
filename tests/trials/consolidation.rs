//! A `.txt` is a consolidation of Rust modules or items, the compiler as judge.
//!
//! What a file says, in this order:
//! - what the case is about, in a sentence
//! - `edition 2015`, optional (else 2024), and any number of `flags …`: the crate is compiled with
//!   each of these lines, or once without; its manifest declares the conditions that they set
//! - `move from -> to`, `replace from -> to`, `merge from -> into`, each with `module`, where it is
//!   one, and `shim` behind it or not; below it `decide item choice` of a merge, `rename old -> new` of
//!   a module, `uses rename` or `uses alias`; `remove module`; `shims line` for a line of that table
//! - `//- path` and the text of a file, for each file before; the crate is called `krate`, unless
//!   there is a `Cargo.toml`: then cargo checks the workspace, `--locked` where there is a lock file
//! - what comes of it: `//= path` and the text for files that are new or differ, `//x path` for
//!   those that are gone; or `refused: message` and `not proven: why`
//!
//! Before and after it compiles without a warning but for code that nobody uses, rollback gives
//! back every byte, and a second run finds nothing to do. `COALESCE_BLESS=1` writes what comes of
//! it; read that.

use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::Command,
};

use anyhow::{Context as _, ensure};

use coalesce_tests::{Tree, difference, read_tree, write_tree};
use tempfile::TempDir;

/// What a case starts from, and the text up to its outcome.
struct Case {
    given: String,
    outcome: String,
    edition: String,
    flags: Vec<Vec<String>>,
    manifest: String,
    files: BTreeMap<String, String>,
    workspace: bool,
}

fn read(text: &str) -> anyhow::Result<Case> {
    let mut case = Case {
        given: String::new(),
        outcome: String::new(),
        edition: "2024".to_owned(),
        flags: Vec::new(),
        manifest: "schema = 1\ndescription = \"a case\"\n[shims]\nremove-in = \"9.0.0\"\n"
            .to_owned(),
        files: BTreeMap::new(),
        workspace: false,
    };
    let mut file: Option<String> = None;
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next_if(|line| !is_outcome(line)) {
        case.given.push_str(line);
        if let Some(path) = line.strip_prefix("//- ") {
            file = Some(path.trim().to_owned());
            case.files.insert(path.trim().to_owned(), String::new());
        } else if let Some(file) = file.as_ref().and_then(|file| case.files.get_mut(file)) {
            file.push_str(line);
        } else {
            head(&mut case, line.trim())?;
        }
    }
    case.outcome = lines.collect();
    if case.flags.is_empty() {
        case.flags.push(Vec::new());
    }
    case.workspace = case.files.contains_key("Cargo.toml");
    let package = format!(
        "[package]\nname = \"krate\"\nversion = \"0.1.0\"\nedition = \"{}\"\n{}",
        case.edition,
        declared(&case.flags)
    );
    case.files.entry("Cargo.toml".to_owned()).or_insert(package);
    Ok(case)
}

/// What a manifest has to declare for conditions that flags set, since the compiler warns of others.
fn declared(flags: &[Vec<String>]) -> String {
    let (mut features, mut names) = (BTreeSet::new(), BTreeSet::new());
    for pair in flags.iter().flat_map(|flags| flags.windows(2)) {
        let [key, value] = pair else { continue };
        if key != "--cfg" {
            continue;
        }
        match value.strip_prefix("feature=") {
            Some(name) => features.insert(format!("{} = []\n", name.trim_matches('"'))),
            None => names.insert(format!("'cfg({value})'")),
        };
    }
    let mut text = String::new();
    if !features.is_empty() {
        text.push_str("[features]\n");
        text.extend(features);
    }
    if !names.is_empty() {
        let names: Vec<String> = names.into_iter().collect();
        let names = names.join(", ");
        text.push_str("[lints.rust]\n");
        text.push_str(&format!(
            "unexpected_cfgs = {{ level = \"warn\", check-cfg = [{names}] }}\n"
        ));
    }
    text
}

fn is_outcome(line: &str) -> bool {
    ["//= ", "//x ", "refused: ", "not proven: "]
        .iter()
        .any(|start| line.starts_with(start))
}

fn head(case: &mut Case, line: &str) -> anyhow::Result<()> {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    match word {
        "edition" => rest.clone_into(&mut case.edition),
        "flags" => case
            .flags
            .push(rest.split_whitespace().map(str::to_owned).collect()),
        "remove" => {
            let entry = format!("[[remove]]\nmodule = \"{rest}\"\n");
            case.manifest.push_str(&entry);
        }
        "decide" => {
            let (item, choice) = rest.split_once(' ').context("`item choice`")?;
            let entry = format!("decide.{item} = \"{choice}\"\n");
            case.manifest.push_str(&entry);
        }
        "move" | "replace" | "merge" => {
            let (from, to) = rest.split_once(" -> ").context("`from -> to`")?;
            let (to, shim) = to
                .strip_suffix(" shim")
                .map_or((to, false), |to| (to, true));
            let (to, kind) = to
                .strip_suffix(" module")
                .map_or((to, ""), |to| (to, "kind = \"module\"\n"));
            let key = if word == "merge" { "into" } else { "to" };
            let entry = format!("[[{word}]]\nfrom = \"{from}\"\n{key} = \"{to}\"\nshim = {shim}\n");
            case.manifest.push_str(&entry);
            case.manifest.push_str(kind);
        }
        "rename" => {
            let (old, new) = rest.split_once(" -> ").context("`old -> new`")?;
            case.manifest
                .push_str(&format!("rename.{old} = \"{new}\"\n"));
        }
        "uses" => case.manifest.push_str(&format!("uses = \"{rest}\"\n")),
        "shims" => {
            let dates = "remove-in = \"9.0.0\"\n";
            case.manifest = case
                .manifest
                .replacen(dates, &format!("{dates}{rest}\n"), 1);
        }
        _ => {}
    }
    Ok(())
}

/// Runs the case of a file.
pub fn run(path: &Path) -> anyhow::Result<()> {
    let text = fs::read_to_string(path)?;
    let case = read(&text)?;
    let folder = tempfile::tempdir()?;
    let root = folder.path().join("krate");
    let mut tree = Tree::new();
    for (path, text) in &case.files {
        for (at, _) in path.match_indices('/') {
            tree.insert(path.get(..at).unwrap_or_default().to_owned(), None);
        }
        tree.insert(path.clone(), Some(text.clone().into_bytes()));
    }
    write_tree(&root, &tree)?;
    let before = read_tree(&root)?;
    let manifest = folder.path().join("case.toml");
    fs::write(&manifest, &case.manifest)?;
    compiles(&case, &root, State::Before).context("before")?;
    let manifest = manifest.to_string_lossy().into_owned();
    let done = coalesce(&root, &["migrate", &manifest, "--format", "json"])?;
    let after = read_tree(&root)?;
    let outcome = if done.0 == 0 {
        compiles(&case, &root, State::After).context("after")?;
        let again = coalesce(&root, &["migrate", &manifest])?;
        ensure!(again.1.contains("nothing to do"), "again: {}", again.1);
        let back = coalesce(&root, &["rollback", "--yes"])?;
        ensure!(back.0 == 0, "rollback: {}", back.1);
        changed(&before, &after)
    } else {
        ensure!(before == after, "refused, and the tree changed");
        refusals(&done.1)?
    };
    let rest = read_tree(&root)?;
    ensure!(rest == before, "rollback leaves something else");
    if std::env::var_os("COALESCE_BLESS").is_some() {
        fs::write(path, format!("{}{outcome}", case.given))?;
        return Ok(());
    }
    ensure!(
        outcome == case.outcome,
        "{}",
        difference(&case.outcome, &outcome)
    );
    Ok(())
}

fn changed(before: &Tree, after: &Tree) -> String {
    let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let mut text = String::new();
    for path in paths {
        let file = |tree: &Tree| tree.get(path).cloned().flatten();
        match (file(before), file(after)) {
            (old, Some(new)) if old.as_ref() != Some(&new) => {
                text.push_str(&format!("//= {path}\n{}", String::from_utf8_lossy(&new)));
            }
            (Some(_), None) => text.push_str(&format!("//x {path}\n")),
            _ => {}
        }
    }
    text
}

fn refusals(page: &str) -> anyhow::Result<String> {
    let page: serde_json::Value = serde_json::from_str(page).context(page.to_owned())?;
    let findings = page["findings"].as_array().context("no findings")?;
    let errors = findings
        .iter()
        .filter(|finding| finding["severity"] == "error");
    let mut lines: Vec<String> = errors
        .map(|finding| format!("refused: {}\n", finding["message"].as_str().unwrap_or("")))
        .collect();
    let unproven = page["unproven"].as_array();
    let unproven = unproven.into_iter().flatten();
    lines.extend(
        unproven.map(|place| format!("not proven: {}\n", place["why"].as_str().unwrap_or(""))),
    );
    lines.sort();
    Ok(lines.concat())
}

fn coalesce(root: &Path, arguments: &[&str]) -> anyhow::Result<(i32, String)> {
    let output = Command::new(env!("CARGO_BIN_EXE_coalesce-under-test"))
        .args(arguments)
        .current_dir(root)
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    Ok((output.status.code().unwrap_or(-1), text + &errors))
}

/// The tree of a case before or after its consolidation.
#[derive(Clone, Copy)]
enum State {
    Before,
    After,
}

thread_local! {
    /// What cargo knows of the compiler, which it would ask three times a check otherwise: a folder for each
    /// thread and state, so that nobody waits and nothing that was built before counts as built after.
    static TARGETS: [OnceCell<TempDir>; 2] = const { [OnceCell::new(), OnceCell::new()] };
}

/// Whether a tree has targets or code that only tests, examples or benchmarks build.
fn has_tests(case: &Case) -> bool {
    let words = ["test", "bench", "example"];
    let mut texts = case.files.iter().flat_map(|(path, text)| [path, text]);
    texts.any(|text| words.iter().any(|word| text.contains(word)))
}

/// Checks a workspace as its CI would.
fn checks(case: &Case, root: &Path, state: State) -> anyhow::Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let target = TARGETS.with(|targets| {
        let [before, after] = targets;
        let target = match state {
            State::Before => before,
            State::After => after,
        };
        match target.get() {
            Some(target) => Ok(target.path().to_owned()),
            None => tempfile::tempdir().map(|made| target.get_or_init(|| made).path().to_owned()),
        }
    })?;
    let locked = case.files.contains_key("Cargo.lock").then_some("--locked");
    let output = Command::new(cargo)
        .args(["check", "--quiet", "--offline", "--workspace"])
        .args(has_tests(case).then_some("--all-targets"))
        .args(locked)
        .env("CARGO_TARGET_DIR", &target)
        .env("RUSTFLAGS", "-A dead_code -D warnings")
        .current_dir(root)
        .output()?;
    fs::remove_dir_all(target.join("debug")).ok();
    ensure!(
        output.status.success(),
        "cargo does not take it:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    if locked.is_none() {
        fs::remove_file(root.join("Cargo.lock")).ok();
    }
    Ok(())
}

fn compiles(case: &Case, root: &Path, state: State) -> anyhow::Result<()> {
    if case.workspace {
        return checks(case, root, state);
    }
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let out = tempfile::tempdir()?;
    for flags in &case.flags {
        let output = Command::new(&compiler)
            .args([
                "src/lib.rs",
                "--crate-name=krate",
                "--crate-type=lib",
                "--emit=metadata",
            ])
            .args([
                "-A",
                "dead_code",
                "-D",
                "warnings",
                "--edition",
                &case.edition,
            ])
            .args(flags)
            .arg("--out-dir")
            .arg(out.path())
            .current_dir(root)
            .output()?;
        ensure!(
            output.status.success(),
            "it does not compile with {flags:?}:\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(())
}
