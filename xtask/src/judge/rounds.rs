//! One round: apply, ask, undo.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use anyhow::Context as _;
use coalesce_model::LanguageKind;
use serde_json::Value;

use super::{
    arguments::Arguments,
    consolidation::Consolidation,
    oracle::{Objection, Oracle},
    planted::{Plant, Tree},
    scratch::Scratch,
};
use crate::random::Random;

/// How often more is drawn than shall be planted: most draws do not fit, and some do not work.
const PLANTING_TRIES: usize = 150;
/// How often for those that are tried together: in a small tree little stands apart from what was drawn.
const TRIES_TOGETHER: usize = 60;

/// What a warning begins with that names what users get in the place of something else.
const READS_OTHERWISE: &str = "users get what reads otherwise: ";

/// How a round ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was told to be resolved, and works as before.
    Right,
    /// Reading could not prove it, the program's own check did, and it works as before.
    Checked,
    /// It was told to be resolved, or proven by a check, and does not work as before.
    Wrong(String),
    /// The same, and it works, but names are not as they were.
    Names(String),
    /// The program ended without an answer.
    Crashed(String),
    /// The program says that it cannot prove it; why.
    NotProven(String),
    /// The program refuses; why.
    Refused(String),
}

impl Outcome {
    /// The outcome in a word.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Checked => "checked",
            Self::Wrong(_) => "WRONG",
            Self::Names(_) => "NAMES",
            Self::Crashed(_) => "CRASHED",
            Self::NotProven(_) => "unproven",
            Self::Refused(_) => "refused",
        }
    }

    /// What there is to say about it.
    pub fn reason(&self) -> &str {
        match self {
            Self::Right | Self::Checked => "",
            Self::Wrong(why)
            | Self::Names(why)
            | Self::Crashed(why)
            | Self::NotProven(why)
            | Self::Refused(why) => why,
        }
    }

    /// Whether the program said more than is true, or nothing at all.
    pub const fn is_failure(&self) -> bool {
        matches!(self, Self::Wrong(_) | Self::Names(_) | Self::Crashed(_))
    }

    /// Writes manifest and answer to a folder.
    pub fn keep(&self, folder: &Path, number: usize, done: &Consolidation) -> anyhow::Result<()> {
        let mut text = format!("# {}", self.word());
        for line in self.reason().lines() {
            text.push_str(&format!(": {line}\n#"));
        }
        text.push_str(&format!("\n{}", done.manifest()));
        let file = folder.join(format!("{number:04}-{}.toml", self.word().to_lowercase()));
        fs::write(&file, text).with_context(|| format!("failed to write {}", file.display()))
    }
}

/// What came of asking the program to apply a manifest.
enum Tried {
    /// It did; what is worse than before, and what it says.
    Applied(Option<Objection>, Value),
    /// It did not; what it says.
    Left(Value),
    /// It ended without an answer; how.
    Crashed(String),
}

/// What the program said.
struct ProgramAnswer {
    /// Whether it did its work.
    done: bool,
    /// In its own words; how it ended, where it gave none.
    said: Result<Value, String>,
}

/// The scratch copy with those who decide.
pub struct Judge<'a> {
    arguments: &'a Arguments,
    scratch: Scratch,
    target: PathBuf,
    oracle: Oracle,
}

impl<'a> Judge<'a> {
    /// Copies the tree, and asks about it as it is.
    pub fn new(arguments: &'a Arguments) -> anyhow::Result<Self> {
        let scratch = Scratch::copy(&arguments.tree)?;
        let target = arguments.target.clone();
        let target = target.unwrap_or_else(|| scratch.beside("target"));
        let oracle = Oracle::new(&scratch.root(), &target, arguments)?;
        Ok(Self {
            arguments,
            scratch,
            target,
            oracle,
        })
    }

    /// Plants copies that leave the tree working, and asks about the tree that they make. Those that touch no file of
    /// each other are tried together.
    pub fn plant(&mut self, random: &mut Random) -> anyhow::Result<Vec<Plant>> {
        let root = self.scratch.root();
        let mut plants: Vec<Plant> = Vec::new();
        let mut tries = PLANTING_TRIES * self.arguments.plants;
        while plants.len() < self.arguments.plants && tries > 0 {
            let tree = Tree::read(&root, self.arguments)?;
            let drawn = self.draw_together((&tree, &plants), random, &mut tries);
            plants.extend(self.plant_together(drawn)?);
        }
        self.scratch.settle()?;
        self.oracle = Oracle::new(&root, &self.target, self.arguments)?;
        Ok(plants)
    }

    /// Draws copies for a tree with some, as many as are wanted besides where they touch no file of each other.
    fn draw_together(
        &self,
        (tree, plants): (&Tree, &[Plant]),
        random: &mut Random,
        tries: &mut usize,
    ) -> Vec<Plant> {
        let mut drawn: Vec<Plant> = Vec::new();
        let wanted = self.arguments.plants - plants.len();
        let last = tries.saturating_sub(TRIES_TOGETHER);
        while drawn.len() < wanted && *tries > last {
            *tries -= 1;
            let fits = |plant: &Plant| {
                let mut all = plants.iter().chain(&drawn);
                let touched = drawn.iter().any(|one: &Plant| one.touches(plant));
                all.all(|one| one.is_apart_from(plant)) && !touched
            };
            drawn.extend(tree.plant(random).filter(fits));
        }
        drawn
    }

    /// Writes copies, and takes those back that errors are about; those are tried with other users, where they have any.
    fn plant_together(&self, drawn: Vec<Plant>) -> anyhow::Result<Vec<Plant>> {
        let root = self.scratch.root();
        let write = |plant: Plant| -> anyhow::Result<PlantWritten> {
            let before = self.scratch.write(&plant.texts)?;
            Ok((plant, before))
        };
        let mut planted = drawn
            .into_iter()
            .map(write)
            .collect::<anyhow::Result<Vec<_>>>()?;
        while !planted.is_empty() {
            let errors = self.oracle.errors(&root)?;
            if errors.is_empty() {
                break;
            }
            let (kept, failing) = apart(planted, &errors);
            planted = kept;
            for ((mut plant, before), error) in failing {
                Scratch::restore(&before)?;
                match plant.change_users() {
                    true => planted.push(write(plant)?),
                    false => println!("not planted: {}: {error}", plant.told()),
                }
            }
        }
        for (plant, _) in &planted {
            println!("planted: {}", plant.told());
        }
        Ok(planted.into_iter().map(|(plant, _)| plant).collect())
    }

    /// Copies the tree as it is judged to a folder.
    pub fn keep(&self, folder: &Path) -> anyhow::Result<()> {
        self.scratch.keep(folder)
    }

    /// What is judged, a line for each.
    pub fn told(&self) -> Vec<String> {
        self.oracle.told()
    }

    /// One consolidation, from the manifest to the tree as it was.
    pub fn round(&self, done: &Consolidation) -> anyhow::Result<Outcome> {
        let manifest = self.scratch.beside("manifest.toml");
        fs::write(&manifest, done.manifest())?;
        let answer = match self.tried(&["migrate"], &manifest, done)? {
            Tried::Applied(objection, answer) => {
                let objection = objection.or_else(|| undecided(done, &answer));
                return Ok(outcome(objection, Outcome::Right, ""));
            }
            Tried::Crashed(how) => return Ok(Outcome::Crashed(how)),
            Tried::Left(answer) => answer,
        };
        let refusal = refusal(&answer);
        // Of Python alone: the oracle of Rust is the compiler that `--verify` would ask.
        let asked = self.arguments.verify && done.language == LanguageKind::Python;
        if !asked || !matches!(refusal, Outcome::NotProven(_)) {
            return Ok(refusal);
        }
        Ok(
            match self.tried(&["migrate", "--verify"], &manifest, done)? {
                Tried::Applied(objection, _) => outcome(objection, Outcome::Checked, "checked: "),
                Tried::Crashed(how) => Outcome::Crashed(format!("--verify: {how}")),
                Tried::Left(answer) => not_proven(&answer).unwrap_or(refusal),
            },
        )
    }

    /// Lets the program apply a manifest, asks about what that comes to, and undoes it.
    fn tried(
        &self,
        words: &[&str],
        manifest: &Path,
        done: &Consolidation,
    ) -> anyhow::Result<Tried> {
        let ProgramAnswer {
            done: applied,
            said,
        } = self.program(words, Some(manifest))?;
        let changed = self.scratch.first_change()?;
        if !applied {
            anyhow::ensure!(
                changed.is_none(),
                "{} was refused, and {:?} is not as it was",
                done.summary(),
                changed.unwrap_or_default()
            );
            return Ok(said.map_or_else(Tried::Crashed, Tried::Left));
        }
        let objection = match (&said, changed) {
            (Err(how), _) => Some(Objection::Fails(format!("done, without an answer: {how}"))),
            (_, None) => Some(Objection::Fails("done, and no file has changed".to_owned())),
            (Ok(answer), _) => self.oracle.objection(&self.scratch.root(), done, answer)?,
        };
        let undone = self.program(&["rollback"], None)?.done;
        let left = self.scratch.first_change()?;
        anyhow::ensure!(
            undone && left.is_none(),
            "{} was not undone: {:?}",
            done.summary(),
            left.unwrap_or_default()
        );
        Ok(Tried::Applied(objection, said.unwrap_or_default()))
    }

    fn program(&self, words: &[&str], manifest: Option<&Path>) -> anyhow::Result<ProgramAnswer> {
        let output = Command::new(&self.arguments.program)
            .args(words)
            .args(["--yes", "--format", "json", "--root"])
            .arg(self.scratch.root())
            .args(manifest)
            .env("COALESCE_PYTHON", &self.arguments.python)
            .env("COALESCE_CACHE_DIR", self.scratch.beside("cache"))
            .output()
            .context("failed to start the program")?;
        Ok(ProgramAnswer {
            done: output.status.success(),
            said: said(&output),
        })
    }
}

/// A copy that is written, with what its files were before.
type PlantWritten = (Plant, BTreeMap<PathBuf, Option<Vec<u8>>>);
/// The same, with an error that is about it.
type Failing = (PlantWritten, String);

/// The copies that no error is about, and the others with the error; the last one where errors are about none.
fn apart(planted: Vec<PlantWritten>, errors: &[String]) -> (Vec<PlantWritten>, Vec<Failing>) {
    let mut kept = Vec::new();
    let mut failing = Vec::new();
    for one in planted {
        match errors.iter().find(|error| one.0.is_about(error)) {
            Some(error) => failing.push((one, error.clone())),
            None => kept.push(one),
        }
    }
    if failing.is_empty() {
        let error = errors.first().cloned().unwrap_or_default();
        failing.extend(kept.pop().map(|one| (one, error)));
    }
    (kept, failing)
}

/// The answer that the program printed; how it ended where it printed none.
fn said(output: &Output) -> Result<Value, String> {
    let answer = serde_json::from_slice::<Value>(&output.stdout);
    let ended = output.status.code().is_some();
    answer
        .ok()
        .filter(|answer| ended && answer.is_object())
        .ok_or_else(|| {
            let errors = String::from_utf8_lossy(&output.stderr);
            format!("{}: {}", output.status, errors.trim())
        })
}

/// What of a planted copy means something else, and was neither decided on nor told.
fn undecided(done: &Consolidation, answer: &Value) -> Option<Objection> {
    let planted = done.planted.as_ref()?;
    let names = planted.differs.join(", ");
    let told = planted.differs.iter().any(|name| is_told(answer, name));
    let objection = format!("they do not mean the same: {names}");
    (!names.is_empty() && !told).then_some(Objection::Fails(objection))
}

/// Whether the program warns that users get another one in the place of a definition.
fn is_told(answer: &Value, name: &str) -> bool {
    let findings = answer.get("findings").and_then(Value::as_array);
    let messages = findings
        .into_iter()
        .flatten()
        .filter_map(|finding| finding.get("message")?.as_str());
    let own = format!("::{name}`");
    messages
        .filter_map(|message| message.strip_prefix(READS_OTHERWISE))
        .any(|which| which.contains(&own))
}

/// What a round comes to that was applied.
fn outcome(objection: Option<Objection>, good: Outcome, how: &str) -> Outcome {
    match objection {
        None => good,
        Some(Objection::Fails(why)) => Outcome::Wrong(format!("{how}{why}")),
        Some(Objection::Names(why)) => Outcome::Names(format!("{how}{why}")),
    }
}

/// What the program says instead of doing it.
fn refusal(answer: &Value) -> Outcome {
    let word = |value: &Value, key: &str| {
        let word = value.get(key).and_then(Value::as_str);
        word.unwrap_or_default().to_owned()
    };
    if let Some(error) = answer.get("error") {
        return Outcome::Refused(word(error, "message"));
    }
    let findings = answer.get("findings").and_then(Value::as_array);
    let mut errors = findings.into_iter().flatten();
    let error = errors.find(|finding| word(finding, "severity") == "error");
    let unproven = not_proven(answer);
    let error = error.filter(|error| unproven.is_none() || word(error, "code") != "not-proven");
    if let Some(error) = error {
        return Outcome::Refused(format!(
            "{}: {}",
            word(error, "code"),
            word(error, "message")
        ));
    }
    unproven.unwrap_or_else(|| Outcome::Refused("the program gave no reason".to_owned()))
}

/// The first of the places that the program cannot prove.
fn not_proven(answer: &Value) -> Option<Outcome> {
    let unproven = answer.get("unproven").and_then(Value::as_array);
    let first = unproven.and_then(|unproven| unproven.first())?;
    let word = |key: &str| first.get(key).and_then(Value::as_str).unwrap_or_default();
    Some(Outcome::NotProven(format!(
        "{}: {}",
        word("kind"),
        word("why")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::consolidation::{Kind, Planted};

    fn control() -> Consolidation {
        Consolidation {
            kind: Kind::Replace,
            language: LanguageKind::Rust,
            from: "one::header2".to_owned(),
            to: "one::header".to_owned(),
            shim: false,
            decide: Vec::new(),
            planted: Some(Planted {
                changes: Vec::new(),
                differs: vec!["Header".to_owned(), "read".to_owned()],
            }),
        }
    }

    #[test]
    fn a_control_of_which_users_are_told_is_not_wrong() {
        let answer = |message: &str| serde_json::json!({"findings": [{"message": message}]});
        let told =
            "users get what reads otherwise: `one::header::Header` than `one::header2::Header`";
        assert_eq!(undecided(&control(), &answer(told)), None);
        let other =
            "users get what reads otherwise: `one::header::Reader` than `one::header2::Reader`";
        for said in [
            answer(other),
            answer("`one::header2::Header` goes"),
            Value::Null,
        ] {
            assert!(undecided(&control(), &said).is_some(), "{said}");
        }
    }
}
