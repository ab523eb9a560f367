//! `cargo check` as a judge.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Context as _;
use serde_json::Value;

/// The feature sets that are tried.
const FEATURES: &[&[&str]] = &[&[], &["--no-default-features"], &["--all-features"]];
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
    /// The first error.
    error: Option<String>,
    /// How many warnings of each lint.
    warnings: BTreeMap<String, usize>,
}

/// The configurations in which the tree compiles.
pub struct Compiler {
    target: PathBuf,
    configurations: Vec<(Vec<&'static str>, Answer)>,
}

impl Compiler {
    /// Finds them.
    pub fn new(root: &Path, beside: &Path) -> anyhow::Result<Self> {
        let mut compiler = Self {
            target: beside.to_owned(),
            configurations: Vec::new(),
        };
        let mut last = None;
        for features in FEATURES {
            for targets in TARGETS {
                let words = [*features, *targets].concat();
                let answer = compiler.ask(root, &words)?;
                if answer.error.is_none() {
                    compiler.configurations.push((words, answer));
                    break;
                }
                last = answer.error;
            }
        }
        anyhow::ensure!(
            !compiler.configurations.is_empty(),
            "the tree does not compile as it is: {}",
            last.unwrap_or_default()
        );
        Ok(compiler)
    }

    /// The first thing that is worse.
    pub fn objection(&self, root: &Path) -> anyhow::Result<Option<String>> {
        for (words, before) in &self.configurations {
            let after = self.ask(root, words)?;
            let configuration = words.join(" ");
            if let Some(error) = after.error {
                return Ok(Some(format!("does not compile ({configuration}): {error}")));
            }
            for (lint, count) in after.warnings {
                let known = before.warnings.get(&lint).copied().unwrap_or_default();
                if count > known {
                    return Ok(Some(format!(
                        "warns anew ({configuration}): {lint}, {known} before and {count} after"
                    )));
                }
            }
        }
        Ok(None)
    }

    fn ask(&self, root: &Path, words: &[&str]) -> anyhow::Result<Answer> {
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
        if !output.status.success() && answer.error.is_none() {
            let said = String::from_utf8_lossy(&output.stderr);
            let error = said.lines().find(|line| line.starts_with("error"));
            let error = error.map_or_else(|| said.trim().to_owned(), ToOwned::to_owned);
            answer.error = Some(error);
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
            Some("error") if self.error.is_none() => {
                let place = said.get("spans").and_then(|spans| spans.get(0));
                let file = place.and_then(|place| place.get("file_name")?.as_str());
                let line = place.and_then(|place| place.get("line_start")?.as_u64());
                self.error = Some(format!(
                    "{} {text} ({}:{})",
                    code.unwrap_or("error"),
                    file.unwrap_or("?"),
                    line.unwrap_or(0)
                ));
            }
            // Without a code it is the count at the end.
            Some("warning") => {
                if let Some(code) = code {
                    *self.warnings.entry(code.to_owned()).or_default() += 1;
                }
            }
            _ => {}
        }
    }
}
