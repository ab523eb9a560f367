//! `cargo check` of every target, and what the compiler says, as data.
//!
//! Without the network where the dependencies are there; with it where cargo says that it needs it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use coalesce_model::TreePath;
use serde::Deserialize;

use crate::{
    check::{
        CargoConfiguration, Failure, Limits, Outcome, Place, SuggestedEdit, Suggestion, last_lines,
    },
    compiled::{Artifact, Artifacts},
    error::{Error, ErrorKind},
    program::{self, Finished},
    scratch::{Scratch, path_in},
    unused::{self, UnusedImport},
};

/// The target directory of a copy: beside the tree, so that no build writes into it.
pub(crate) fn target(scratch: &Scratch) -> PathBuf {
    scratch.directory().join("target")
}

/// Checks the workspace in `directory` of the copy.
pub(crate) fn check(
    scratch: &Scratch,
    directory: &TreePath,
    configuration: &CargoConfiguration,
    limits: Limits,
) -> Result<Outcome, Error> {
    let place = scratch.tree().join(directory.as_str());
    let locked = place.join("Cargo.lock").exists();
    let cargo = Cargo {
        scratch,
        place: &place,
        configuration,
        limits,
    };
    let mut done = cargo.run(locked)?;
    if locked && !done.success() && wants_network(&done) {
        done = cargo.run(false)?;
    }
    let reader = Reader {
        tree: scratch.tree(),
        place: &place,
        command: configuration.command(),
        set: cargo.names_of_target()?,
    };
    reader.outcome(&done)
}

/// One call of cargo.
struct Cargo<'c> {
    scratch: &'c Scratch,
    place: &'c Path,
    configuration: &'c CargoConfiguration,
    limits: Limits,
}

impl Cargo<'_> {
    fn run(&self, offline: bool) -> Result<Finished, Error> {
        let mut command = Command::new("cargo");
        command.args(self.configuration.arguments());
        command.args(["--keep-going", "--message-format", "json"]);
        if offline {
            command.arg("--offline");
        }
        command
            .current_dir(self.place)
            .env("CARGO_TARGET_DIR", target(self.scratch))
            .env("CARGO_TERM_COLOR", "never");
        program::run(
            &mut command,
            &self.configuration.command(),
            self.limits,
            self.scratch,
        )
    }

    /// What the compiler sets for the target, whatever the package.
    fn names_of_target(&self) -> Result<Vec<String>, Error> {
        let mut command = Command::new("rustc");
        command.args(["--print", "cfg"]).current_dir(self.place);
        if let Some(target) = &self.configuration.target {
            command.args(["--target", target]);
        }
        let done = program::run(&mut command, "rustc --print cfg", self.limits, self.scratch)?;
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        Ok(text.lines().map(str::to_owned).collect())
    }
}

/// Whether nothing was compiled, for want of what only the network has.
fn wants_network(done: &Finished) -> bool {
    done.stdout.is_empty()
        && (done.stderr.contains("--offline") || done.stderr.contains("offline mode"))
}

/// A line of cargo's output, as far as it matters.
#[derive(Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum Line {
    CompilerMessage {
        manifest_path: PathBuf,
        target: Target,
        message: Message,
    },
    CompilerArtifact {
        manifest_path: PathBuf,
        target: Target,
        profile: Profile,
        #[serde(default)]
        package_id: String,
        #[serde(default)]
        features: Vec<String>,
        #[serde(default)]
        filenames: Vec<PathBuf>,
    },
    BuildScriptExecuted {
        #[serde(default)]
        package_id: String,
        #[serde(default)]
        cfgs: Vec<String>,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
    name: String,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

#[derive(Deserialize)]
struct Message {
    level: String,
    code: Option<Code>,
    message: String,
    rendered: Option<String>,
    spans: Vec<Span>,
    #[serde(default)]
    children: Vec<Self>,
}

#[derive(Deserialize)]
struct Code {
    code: String,
}

#[derive(Deserialize)]
struct Span {
    file_name: PathBuf,
    line_start: u32,
    #[serde(default)]
    byte_start: u32,
    #[serde(default)]
    byte_end: u32,
    is_primary: bool,
    #[serde(default)]
    suggested_replacement: Option<String>,
    #[serde(default)]
    suggestion_applicability: Option<String>,
    expansion: Option<Box<Expansion>>,
}

impl Span {
    /// This place, and those of the macro calls that it comes of.
    fn with_expansions(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |span| {
            span.expansion.as_ref().map(|expansion| &expansion.span)
        })
    }
}

#[derive(Deserialize)]
struct Expansion {
    span: Span,
}

/// What cargo says of the units of a tree.
#[derive(Default)]
struct Said {
    /// Those that are compiled: manifest, kinds and name of the target, and whether it is its tests.
    built: BTreeSet<(PathBuf, Vec<String>, String, bool)>,
    failures: Vec<Failure>,
    /// Those that are not.
    broken: BTreeSet<String>,
    /// Imports that are called unused, by unit.
    said: Vec<(String, UnusedImport)>,
    artifacts: Artifacts,
}

impl Said {
    /// How often each unit is compiled: a target by itself, and with its tests.
    fn built_units(&self) -> BTreeMap<String, usize> {
        let mut units: BTreeMap<String, usize> = BTreeMap::new();
        for (manifest, kind, name, _) in &self.built {
            let unit = format!("{}{} `{name}`", manifest.display(), kind.join(", "));
            *units.entry(unit).or_default() += 1;
        }
        units
    }

    /// Whether anything was compiled besides build scripts, which are for the machine that builds.
    fn has_own_code(&self) -> bool {
        let mut built = self.built.iter();
        built.any(|(_, kinds, ..)| kinds.iter().all(|kind| kind != "custom-build"))
    }

    fn add_artifact(&mut self, artifact: Artifact, manifest: PathBuf, target: Target) {
        let built = (manifest, target.kind, target.name, artifact.test);
        self.built.insert(built);
        self.artifacts.add(artifact);
    }
}

struct Reader<'s> {
    tree: &'s Path,
    place: &'s Path,
    /// What is run, for people.
    command: String,
    /// What the compiler sets for the target.
    set: Vec<String>,
}

impl Reader<'_> {
    fn outcome(&self, done: &Finished) -> Result<Outcome, Error> {
        let mut said = self.report(&String::from_utf8_lossy(&done.stdout))?;
        // A library and its tests are compiled from the same files and fail alike.
        let mut seen = BTreeSet::new();
        let mut failures = std::mem::take(&mut said.failures);
        failures.retain(|failure| seen.insert((failure.key.clone(), failure.places.clone())));
        let silent = !done.success() && failures.is_empty();
        let talk = last_lines(&done.stderr);
        if silent {
            failures.push(Failure::of_program(self.command.clone(), talk.clone()));
        }
        let first = failures.first().map(|failure| failure.message.clone());
        let hopeless = !done.success() && !said.has_own_code();
        Ok(Outcome {
            judged: said.built.len() + said.broken.len() + usize::from(silent),
            hopeless: hopeless.then(|| first.unwrap_or(talk)),
            failures,
            unused: unused::agreed(&said.said, &said.built_units()),
            compiled: said.artifacts.files(self.tree, self.place, &self.set),
            ..Outcome::default()
        })
    }

    /// What cargo has printed, read line by line.
    fn report(&self, text: &str) -> Result<Said, Error> {
        let mut report = Said::default();
        for line in text.lines().filter(|line| line.starts_with('{')) {
            let line: Line = serde_json::from_str(line).map_err(|error| {
                Error::new(
                    ErrorKind::Report,
                    format!("cargo printed what cannot be read: {error}"),
                )
            })?;
            self.add(line, &mut report);
        }
        Ok(report)
    }

    fn add(&self, line: Line, report: &mut Said) {
        match line {
            Line::CompilerArtifact {
                manifest_path,
                target,
                profile,
                package_id,
                features,
                filenames,
            } if manifest_path.starts_with(self.tree) => {
                let artifact = Artifact {
                    package: package_id,
                    features,
                    filenames,
                    test: profile.test,
                };
                report.add_artifact(artifact, manifest_path, target);
            }
            Line::CompilerMessage {
                manifest_path,
                target,
                message,
            } => self.add_message(message, &manifest_path, &target, report),
            Line::BuildScriptExecuted { package_id, cfgs } => {
                report.artifacts.set_by_build_script(package_id, cfgs);
            }
            _ => {}
        }
    }

    fn add_message(&self, message: Message, manifest: &Path, target: &Target, report: &mut Said) {
        let subject = format!("{} `{}`", target.kind.join(", "), target.name);
        let unit = format!("{}{subject}", manifest.display());
        let unused = self.unused(&message).into_iter();
        report
            .said
            .extend(unused.map(|import| (unit.clone(), import)));
        if message.level.starts_with("error") {
            report.broken.insert(unit);
            report.failures.extend(self.failure(subject, message));
        }
    }

    /// The imports that a message calls unused.
    fn unused(&self, message: &Message) -> Vec<UnusedImport> {
        let code = message.code.as_ref().map(|code| code.code.as_str());
        if code != Some("unused_imports") {
            return Vec::new();
        }
        let own = |span: &&Span| span.is_primary && span.expansion.is_none();
        let spans = message.spans.iter().filter(own);
        spans.filter_map(|span| self.import(span)).collect()
    }

    fn import(&self, span: &Span) -> Option<UnusedImport> {
        let place = self.at(span)?;
        let text = fs::read_to_string(self.place.join(&span.file_name)).ok()?;
        let written = text.get(span.byte_start as usize..span.byte_end as usize)?;
        Some(UnusedImport {
            path: place.path,
            line: place.line,
            last_byte: span.byte_end.checked_sub(1)?,
            name: written.rsplit("::").next()?.trim().to_owned(),
        })
    }

    /// An error with its places; `None` for the sum at the end.
    fn failure(&self, subject: String, message: Message) -> Option<Failure> {
        if message.spans.is_empty() && message.message.starts_with("aborting due to") {
            return None;
        }
        let mut spans: Vec<&Span> = message.spans.iter().collect();
        spans.sort_by_key(|span| !span.is_primary);
        let expanded = spans.into_iter().flat_map(Span::with_expansions);
        let places = expanded.filter_map(|span| self.at(span)).collect();
        let suggestions = message.children.iter();
        let suggestions = suggestions
            .filter_map(|child| self.suggestion(child))
            .collect();
        let code = message.code.map(|code| code.code).unwrap_or_default();
        let rendered = message.rendered.as_deref().unwrap_or(&message.message);
        Some(Failure {
            subject,
            key: format!("{code} {}", message.message),
            message: rendered.trim_end().to_owned(),
            places,
            suggestions,
            settled: true,
        })
    }

    /// What a help message would change; several places are one change, or one of several ways.
    fn suggestion(&self, child: &Message) -> Option<Suggestion> {
        let spans = child.spans.iter();
        let suggested = spans.filter_map(|span| Some((span, span.suggested_replacement.as_ref()?)));
        let edits: Option<Vec<SuggestedEdit>> = suggested
            .map(|(span, text)| {
                Some(SuggestedEdit {
                    path: self.at(span)?.path,
                    start: span.byte_start,
                    end: span.byte_end,
                    text: text.clone(),
                })
            })
            .collect();
        let edits = edits.filter(|edits| !edits.is_empty())?;
        let certain = |span: &Span| {
            let applicability = span.suggestion_applicability.as_deref();
            span.suggested_replacement.is_none() || applicability == Some("MachineApplicable")
        };
        Some(Suggestion {
            message: child.message.clone(),
            certain: child.spans.iter().all(certain),
            edits,
        })
    }

    fn at(&self, span: &Span) -> Option<Place> {
        Some(Place {
            path: path_in(self.tree, &self.place.join(&span.file_name))?,
            line: span.line_start,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGE: &str = r#"{"reason":"compiler-message","package_id":"p","manifest_path":"/s/tree/a/Cargo.toml","target":{"kind":["lib"],"name":"a"},"message":{"level":"error","code":{"code":"E0432","explanation":null},"message":"unresolved import `crate::x`","rendered":"error[E0432]\n --> src/lib.rs:3:5\n","spans":[{"file_name":"src/other.rs","line_start":9,"is_primary":false,"expansion":null},{"file_name":"src/m.rs","line_start":1,"is_primary":true,"expansion":{"span":{"file_name":"src/lib.rs","line_start":3,"is_primary":false,"expansion":null}}},{"file_name":"/rustc/x/core.rs","line_start":5,"is_primary":false,"expansion":null}]}}"#;
    const ARTIFACT: &str = r#"{"reason":"compiler-artifact","manifest_path":"/s/tree/b/Cargo.toml","target":{"kind":["bin"],"name":"b"},"profile":{"test":false}}"#;
    const OTHERS: &str = r#"{"reason":"compiler-artifact","manifest_path":"/registry/c/Cargo.toml","target":{"kind":["lib"],"name":"c"},"profile":{"test":false}}"#;
    const SUM: &str = r#"{"reason":"compiler-message","package_id":"p","manifest_path":"/s/tree/a/Cargo.toml","target":{"kind":["lib"],"name":"a"},"message":{"level":"error","code":null,"message":"aborting due to 1 previous error","rendered":"x","spans":[]}}"#;

    fn outcome(code: i32, lines: &[&str], stderr: &str) -> Result<Outcome, Error> {
        let reader = Reader {
            tree: Path::new("/s/tree"),
            place: Path::new("/s/tree/a"),
            command: "cargo check".to_owned(),
            set: Vec::new(),
        };
        reader.outcome(&Finished {
            code: Some(code),
            stdout: lines.join("\n").into_bytes(),
            stderr: stderr.to_owned(),
        })
    }

    #[test]
    fn errors_come_with_their_places_nearest_first() {
        // Once from the library, once from its tests.
        let outcome = outcome(101, &[MESSAGE, MESSAGE, SUM, ARTIFACT, OTHERS], "").unwrap();
        assert_eq!((outcome.judged, outcome.failures.len()), (2, 1));
        assert_eq!(outcome.hopeless, None);
        let failure = outcome.failures.first().unwrap();
        assert_eq!(failure.subject, "lib `a`");
        assert_eq!(failure.key, "E0432 unresolved import `crate::x`");
        let places: Vec<String> = failure
            .places
            .iter()
            .map(|place| format!("{}:{}", place.path, place.line))
            .collect();
        assert_eq!(
            places,
            ["a/src/m.rs:1", "a/src/lib.rs:3", "a/src/other.rs:9"]
        );
    }

    #[test]
    fn what_ends_without_a_message_is_told_in_its_own_words() {
        let done = outcome(101, &[], "error: failed to parse manifest\n").unwrap();
        assert_eq!(
            done.hopeless.as_deref(),
            Some("error: failed to parse manifest")
        );
        assert_eq!((done.judged, done.failures.len()), (1, 1));
        let done = outcome(0, &[ARTIFACT], "").unwrap();
        assert_eq!(
            (done.judged, done.failures.len(), done.hopeless),
            (1, 0, None)
        );
        let error = outcome(0, &["{nonsense"], "").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Report);
    }

    #[test]
    fn what_the_compiler_suggests_comes_with_its_certainty() {
        let child = |applicability: &str| {
            format!(
                r#"{{"level":"help","code":null,"message":"consider importing this struct","rendered":null,"children":[],"spans":[{{"file_name":"src/m.rs","line_start":1,"byte_start":0,"byte_end":0,"is_primary":true,"suggested_replacement":"use crate::x::X;\n","suggestion_applicability":"{applicability}","expansion":null}}]}}"#
            )
        };
        let message = |children: &str| {
            format!(
                r#"{{"reason":"compiler-message","package_id":"p","manifest_path":"/s/tree/a/Cargo.toml","target":{{"kind":["lib"],"name":"a"}},"message":{{"level":"error","code":{{"code":"E0412","explanation":null}},"message":"cannot find type `X`","rendered":"error","spans":[{{"file_name":"src/m.rs","line_start":3,"is_primary":true,"expansion":null}}],"children":[{children}]}}}}"#
            )
        };
        for (applicability, certain) in [("MaybeIncorrect", false), ("MachineApplicable", true)] {
            let line = message(&child(applicability));
            let outcome = outcome(101, &[&line], "").unwrap();
            let failure = outcome.failures.first().unwrap();
            let suggestion = failure.suggestions.first().unwrap();
            assert_eq!(suggestion.certain, certain);
            let edit = suggestion.edits.first().unwrap();
            assert_eq!((edit.path.as_str(), edit.start), ("a/src/m.rs", 0));
            assert_eq!(edit.text, "use crate::x::X;\n");
        }
    }
}
