//! `cargo check` as a judge.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Context as _;
use serde_json::Value;

use super::consolidation::Consolidation;

/// The feature sets that are tried, and as many features as compile together where not all do.
const FEATURES: &[&[&str]] = &[&[], &["--no-default-features"], &["--all-features"]];
/// How many features are tried to be added to each other.
const FEATURES_TRIED: usize = 24;
/// The targets that are tried, the most first: some trees lack what their tests need.
const TARGETS: &[&[&str]] = &[
    &["--all-targets"],
    // Benchmarks are often of the nightly compiler.
    &["--lib", "--bins", "--tests", "--examples"],
    &["--lib", "--bins"],
    &[],
];

/// What the compiler says of one configuration.
#[derive(Default)]
struct Answer {
    /// The errors, each with its place.
    errors: Vec<String>,
    /// How often each lint warns of each name.
    warnings: BTreeMap<(String, String), usize>,
}

/// The configurations in which the tree compiles.
pub struct Compiler {
    target: PathBuf,
    configurations: Vec<(Vec<String>, Answer)>,
}

impl Compiler {
    /// Finds them.
    pub fn new(root: &Path, beside: &Path) -> anyhow::Result<Self> {
        let mut compiler = Self {
            target: beside.to_owned(),
            configurations: Vec::new(),
        };
        let declared = features_of(root)?;
        let mut errors = Vec::new();
        for features in FEATURES {
            // Without features all sets of them are one.
            if features.is_empty() || !declared.is_empty() {
                errors.extend(compiler.try_features(root, &strings(features))?);
            }
        }
        let all = compiler.configurations.iter();
        let has_all = declared.is_empty()
            || all
                .clone()
                .any(|(words, _)| words.iter().any(|word| word == "--all-features"));
        if !has_all && let Some(together) = compiler.together(root, declared)? {
            compiler.try_features(root, &together)?;
        }
        anyhow::ensure!(
            !compiler.configurations.is_empty(),
            "the tree does not compile as it is: {}",
            errors.pop().unwrap_or_default()
        );
        Ok(compiler)
    }

    /// Adds the configuration of a feature set with the most targets that compile; the last error where none do.
    fn try_features(&mut self, root: &Path, features: &[String]) -> anyhow::Result<Option<String>> {
        let mut last = None;
        for targets in TARGETS {
            let words = [features, &strings(targets)].concat();
            let answer = self.ask(root, &words)?;
            let Some(error) = answer.errors.first() else {
                self.configurations.push((words, answer));
                return Ok(None);
            };
            last = Some(error.clone());
        }
        Ok(last)
    }

    /// As many features as compile together, each added where the ones before it bear it.
    fn together(&self, root: &Path, declared: Vec<String>) -> anyhow::Result<Option<Vec<String>>> {
        let mut together: Vec<String> = Vec::new();
        for feature in declared.into_iter().take(FEATURES_TRIED) {
            together.push(feature);
            let words = ["--features".to_owned(), together.join(",")];
            if !self.ask(root, &words)?.errors.is_empty() {
                together.pop();
            }
        }
        let found = (!together.is_empty()).then(|| together.join(","));
        Ok(found.map(|features| vec!["--features".to_owned(), features]))
    }

    /// What is judged, a line for each configuration.
    pub fn told(&self) -> Vec<String> {
        let configurations = self.configurations.iter();
        let lines =
            configurations.map(|(words, _)| format!("cargo check --workspace {}", words.join(" ")));
        lines.collect()
    }

    /// The errors of the first configuration that has any, where the tree compiled before; new warnings are none.
    pub fn errors(&self, root: &Path) -> anyhow::Result<Vec<String>> {
        for (words, _) in &self.configurations {
            let errors = self.ask(root, words)?.errors;
            if !errors.is_empty() {
                return Ok(errors);
            }
        }
        Ok(Vec::new())
    }

    /// The first thing that is worse.
    pub fn objection(&self, root: &Path, done: &Consolidation) -> anyhow::Result<Option<String>> {
        for (words, before) in &self.configurations {
            let after = self.ask(root, words)?;
            let configuration = words.join(" ");
            if let Some(error) = after.errors.first() {
                return Ok(Some(format!("does not compile ({configuration}): {error}")));
            }
            if let Some(new) = new_warning(&before.warnings, &after.warnings, done) {
                return Ok(Some(format!("warns anew ({configuration}): {new}")));
            }
        }
        Ok(None)
    }

    fn ask(&self, root: &Path, words: &[String]) -> anyhow::Result<Answer> {
        let output = Command::new("cargo")
            .args(["check", "--workspace", "--quiet", "--message-format=json"])
            .args(words)
            .current_dir(root)
            .env("CARGO_TARGET_DIR", &self.target)
            .env_remove("CARGO_MANIFEST_DIR")
            .output()
            .context("failed to start cargo")?;
        let mut answer = Answer::default();
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            if let Ok(message) = serde_json::from_str::<Value>(line) {
                answer.hear(&message);
            }
        }
        if !output.status.success() && answer.errors.is_empty() {
            let said = String::from_utf8_lossy(&output.stderr);
            let error = said.lines().find(|line| line.starts_with("error"));
            let error = error.map_or_else(|| said.trim().to_owned(), ToOwned::to_owned);
            answer.errors.push(error);
        }
        Ok(answer)
    }
}

impl Answer {
    fn hear(&mut self, message: &Value) {
        let Some(said) = message.get("message").filter(|said| said.is_object()) else {
            return;
        };
        let text = said.get("message").and_then(Value::as_str).unwrap_or("");
        let code = said.get("code").and_then(|code| code.get("code"));
        let code = code.and_then(Value::as_str);
        match said.get("level").and_then(Value::as_str) {
            Some("error") => {
                let place = spans(said).next();
                let file = place.and_then(|place| place.get("file_name")?.as_str());
                let line = place.and_then(|place| place.get("line_start")?.as_u64());
                self.errors.push(format!(
                    "{} {text} ({}:{})",
                    code.unwrap_or("error"),
                    file.unwrap_or("?"),
                    line.unwrap_or(0)
                ));
            }
            // Without a code it is the count at the end.
            Some("warning") => {
                if let Some(code) = code {
                    for name in names_in(text, said) {
                        *self.warnings.entry((code.to_owned(), name)).or_default() += 1;
                    }
                }
            }
            _ => {}
        }
    }
}

/// The first warning that there was less of before.
fn new_warning(
    before: &BTreeMap<(String, String), usize>,
    after: &BTreeMap<(String, String), usize>,
    done: &Consolidation,
) -> Option<String> {
    let known = by_last_names(before, done);
    let now = by_last_names(after, done);
    now.into_iter().find_map(|(warning, count)| {
        let known = known.get(&warning).copied().unwrap_or_default();
        let (lint, name) = warning;
        (count > known).then(|| format!("{lint}, {name}: {known} before and {count} after"))
    })
}

/// Warnings by what their names end with. One that says an old name is one that says the new name; how much of a path
/// is written, and by which alias, changes where a name comes to stand elsewhere or to be the only one.
fn by_last_names<'w>(
    warnings: &'w BTreeMap<(String, String), usize>,
    done: &Consolidation,
) -> BTreeMap<(&'w str, String), usize> {
    let last = |path: &str| path.rsplit("::").next().unwrap_or_default().to_owned();
    let (old, new) = (last(&done.from), last(&done.to));
    let mut known: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for ((lint, name), count) in warnings {
        let name = last_names(name, |word| {
            if word == old {
                new.clone()
            } else {
                word.to_owned()
            }
        });
        *known.entry((lint, name)).or_default() += count;
    }
    known
}

/// A piece of code in which each path is its last name, changed so; what an import calls it is left out.
fn last_names(code: &str, changed: impl Fn(&str) -> String) -> String {
    let code = code.split_once(" as ").map_or(code, |(path, _)| path);
    let mut plain = String::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let named = |c: char| c.is_alphanumeric() || c == '_';
        let end = rest.find(|c| !named(c)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        if word.is_empty() {
            plain.push(first);
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
        } else if let Some(behind) = behind.strip_prefix("::") {
            rest = behind;
        } else {
            plain.push_str(&changed(word));
            rest = behind;
        }
    }
    plain
}

/// What a warning is about: each name between backticks, since one message may list several; else, where there are too
/// many to list, the code that it points at; else all of it.
fn names_in(text: &str, said: &Value) -> Vec<String> {
    let names = text.split('`').skip(1).step_by(2);
    let mut names: Vec<String> = names.map(ToOwned::to_owned).collect();
    if names.is_empty() {
        names.extend(spans(said).filter_map(pointed_at));
    }
    if names.is_empty() {
        names.push(text.to_owned());
    }
    names
}

/// The places that a message is about.
fn spans(said: &Value) -> impl Iterator<Item = &Value> {
    let spans = said.get("spans").and_then(Value::as_array);
    let primary = |span: &&Value| span.get("is_primary").and_then(Value::as_bool) == Some(true);
    spans.into_iter().flatten().filter(primary)
}

/// The code of a place on one line.
fn pointed_at(span: &Value) -> Option<String> {
    let lines = span.get("text")?.as_array()?;
    let [line] = lines.as_slice() else {
        return None;
    };
    let column = |key: &str| usize::try_from(line.get(key)?.as_u64()?).ok();
    let (start, end) = (column("highlight_start")?, column("highlight_end")?);
    let text = line.get("text")?.as_str()?.chars();
    let width = end.checked_sub(start)?;
    Some(text.skip(start.checked_sub(1)?).take(width).collect())
}

/// The features of the packages, each with its package.
fn features_of(root: &Path) -> anyhow::Result<Vec<String>> {
    let output = Command::new("cargo")
        .args(["metadata", "--no-deps", "--format-version", "1", "--quiet"])
        .current_dir(root)
        .output()
        .context("failed to start cargo")?;
    let metadata: Value =
        serde_json::from_slice(&output.stdout).context("cargo metadata printed no JSON")?;
    let packages = metadata.get("packages").and_then(Value::as_array);
    let features = packages.into_iter().flatten().flat_map(|package| {
        let name = package
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let features = package.get("features").and_then(Value::as_object);
        let features = features.into_iter().flatten().map(|(feature, _)| feature);
        features
            .filter(|feature| *feature != "default")
            .map(move |feature| format!("{name}/{feature}"))
    });
    Ok(features.collect())
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use coalesce_model::LanguageKind;

    use super::*;
    use crate::judge::consolidation::Kind;

    fn done() -> Consolidation {
        Consolidation {
            kind: Kind::Item,
            language: LanguageKind::Rust,
            from: "one::old::f".to_owned(),
            to: "one::new::f".to_owned(),
            shim: false,
            decide: Vec::new(),
            planted: None,
        }
    }

    fn heard(message: &Value) -> Answer {
        let mut answer = Answer::default();
        answer.hear(message);
        answer
    }

    fn answer(warnings: &[(&str, &str)]) -> Answer {
        let mut answer = Answer::default();
        for (code, message) in warnings {
            answer.hear(&serde_json::json!({
                "message": {"message": message, "level": "warning", "code": {"code": code}}
            }));
        }
        answer
    }

    fn new(before: &[(&str, &str)], after: &[(&str, &str)]) -> Option<String> {
        new_warning(&answer(before).warnings, &answer(after).warnings, &done())
    }

    #[test]
    fn one_warning_that_goes_does_not_pay_for_another_one() {
        let said = new(
            &[("unused_imports", "unused import: `a::A`")],
            &[("unused_imports", "unused import: `b::B`")],
        );
        assert_eq!(
            said.as_deref(),
            Some("unused_imports, B: 0 before and 1 after")
        );
    }

    #[test]
    fn a_list_that_is_shorter_is_no_new_warning() {
        let before = ("unused_imports", "unused imports: `A` and `B`");
        assert_eq!(
            new(&[before], &[("unused_imports", "unused import: `A`")]),
            None
        );
    }

    #[test]
    fn a_warning_that_moves_along_is_the_same_one() {
        let before = ("deprecated", "use of deprecated function `one::old::f`");
        let after = ("deprecated", "use of deprecated function `one::new::f`");
        assert_eq!(new(&[before], &[after]), None);
        assert!(new(&[before], &[after, after]).is_some());
    }
    #[test]
    fn an_import_with_an_alias_that_gets_the_real_name_is_the_same_one() {
        let before = ("unused_imports", "unused import: `crate::old::f as g`");
        let after = ("unused_imports", "unused import: `crate::new::f`");
        assert_eq!(new(&[before], &[after]), None);
        assert!(new(&[], &[after]).is_some());
    }

    #[test]
    fn a_type_is_the_same_one_by_its_path_and_by_its_name() {
        let before = (
            "dead_code",
            "method `get` of `Vec<one::old::Level>` is never used",
        );
        let after = ("dead_code", "method `get` of `Vec<Level>` is never used");
        assert_eq!(new(&[before], &[after]), None);
        let other = ("dead_code", "method `get` of `Vec<Unit>` is never used");
        assert!(new(&[before], &[other]).is_some());
    }

    #[test]
    fn a_message_that_lists_no_names_is_about_the_code_that_it_points_at() {
        let span = |code: &str, primary| {
            serde_json::json!({
                "is_primary": primary,
                "text": [{"text": format!("    fn {code}() {{"), "highlight_start": 8, "highlight_end": 8 + code.len()}]
            })
        };
        let answer = heard(&serde_json::json!({"message": {
            "message": "multiple methods are never used", "level": "warning", "code": {"code": "dead_code"},
            "spans": [span("half", true), span("Level", false), span("double", true)]
        }}));
        let names: Vec<&str> = answer
            .warnings
            .keys()
            .map(|(_, name)| name.as_str())
            .collect();
        assert_eq!(names, ["double", "half"]);
    }

    #[test]
    fn all_errors_are_told_each_with_its_place() {
        let mut answer = Answer::default();
        for file in ["src/a.rs", "src/b.rs"] {
            answer.hear(&serde_json::json!({"message": {
                "message": "mismatched types", "level": "error", "code": {"code": "E0308"},
                "spans": [{"is_primary": true, "file_name": file, "line_start": 7}]
            }}));
        }
        let expected = ["a", "b"].map(|name| format!("E0308 mismatched types (src/{name}.rs:7)"));
        assert_eq!(answer.errors, expected);
    }
}
