//! `cargo xtask weights DIRECTORY`: fits the weights of `coalesce-clones::likelihood` to the labelled
//! classes, and says how often they are right where they were not fitted. It writes no file.

mod acting;
mod fit;
mod found;
mod labels;
mod measure;
mod merging;
mod table;
pub mod words;

use std::path::Path;

use anyhow::{Context as _, bail};
use coalesce_model::LanguageKind;

use crate::repository::Repository;
use fit::{Row, Weights};
use found::Scope;
use labels::Labels;
use measure::{Measured, Measurement};
use merging::Print;
use table::Table;

const HELP: &str = "\
cargo xtask weights DIRECTORY [--found | --alone | --merging | --rows | --acting | --acting-rows]

Fits the weights of crates/coalesce-clones/src/likelihood.rs to the classes of xtask/labels/, whose
README says how to get the trees: DIRECTORY holds one folder for each.

  --found   instead of it, runs the whole finder over the trees of merged pairs, each by weights that
            were fitted to other repositories, and says which pairs it tells, and why not the others
  --alone   the same with only the files of the pairs before it
  --merging fits the weights of crates/coalesce-clones/src/merging.rs: whether anybody would merge it
  --rows    prints what these are fitted to, a class a line
  --acting  fits the weights of crates/coalesce-clones/src/acting.rs: whether it is worth acting on
  --acting-rows  prints what these are fitted to, and what weights of other trees say of each
";
/// What the columns of a table are.
const LEGEND: &str = "\
By weights that were fitted to other repositories: classes above a likelihood, how many of them are
true, and how many of the true ones are above it.
";
/// Columns of a line of code.
const WIDTH: usize = 100;

/// `cargo xtask weights`.
pub fn run(repository: &Repository, arguments: Vec<String>) -> anyhow::Result<()> {
    let (directory, question) = match arguments.as_slice() {
        [directory] => (directory, Question::Fit),
        [directory, option] => (directory, Question::of(option)?),
        _ => bail!("{HELP}"),
    };
    if directory.starts_with('-') {
        bail!("{HELP}");
    }
    let directory = Path::new(directory);
    let folder = repository.root.join("xtask/labels");
    if let Question::Acting(print) = question {
        return acting::run(directory, &folder, print);
    }
    let labels = Labels::read(&folder)?;
    if let Question::Merging(print) = question {
        return merging::run(directory, &labels, print);
    }
    let measurement = Measurement::new(directory, &labels)?;
    for line in &measurement.lacking {
        println!("{line}");
    }
    for name in &measurement.missing {
        println!("no tree: {name}");
    }
    match question {
        Question::Found(scope) => found::run(directory, &labels, &measurement, scope),
        Question::Fit | Question::Merging(_) | Question::Acting(_) => {
            tell_fit(&labels, &measurement)
        }
    }
}

/// What the command line asks for.
enum Question {
    /// The weights of the likelihood.
    Fit,
    /// What the finder tells of merged pairs.
    Found(Scope),
    /// The weights of merging, or what they are fitted to.
    Merging(Print),
    /// The weights of what comes first, or what they are fitted to.
    Acting(acting::ActingPrint),
}

impl Question {
    fn of(option: &str) -> anyhow::Result<Self> {
        Ok(match option {
            "--found" => Self::Found(Scope::Tree),
            "--alone" => Self::Found(Scope::Pairs),
            "--merging" => Self::Merging(Print::Weights),
            "--acting" => Self::Acting(acting::ActingPrint::Weights),
            "--acting-rows" => Self::Acting(acting::ActingPrint::Rows),
            "--rows" => Self::Merging(Print::Rows),
            _ => bail!("{HELP}"),
        })
    }
}

/// How much was measured, and the weights of each language.
fn tell_fit(labels: &Labels, measurement: &Measurement) -> anyhow::Result<()> {
    let Measurement { classes, .. } = measurement;
    println!(
        "{} of {} classes measured, in {} of {} trees",
        classes.len(),
        labels.classes.len(),
        labels.trees.len() - measurement.missing.len(),
        labels.trees.len()
    );
    for (language, name) in [
        (LanguageKind::Python, "Python"),
        (LanguageKind::Rust, "Rust"),
    ] {
        let own = classes.iter().filter(|class| class.language == language);
        print!("\n{}", report(name, &own.collect::<Vec<_>>())?);
    }
    Ok(())
}

/// Everything about one language.
fn report(language: &str, classes: &[&Measured]) -> anyhow::Result<String> {
    if classes.is_empty() {
        return Ok(format!("{language}: no classes\n"));
    }
    let rows: Vec<&Row> = classes.iter().map(|class| &class.row).collect();
    let weights = fit::fit(&rows, fit::STRENGTH).with_context(|| language.to_owned())?;
    let table = match table::tried(classes) {
        Ok(likely) => format!("{LEGEND}{}", Table::new(classes, &likely)),
        Err(error) => format!("not tried, too few repositories: {error}\n"),
    };
    Ok(format!(
        "{language}: {} classes\n{}\n{table}",
        classes.len(),
        constant(language, &weights)
    ))
}

/// The weights as they stand in the source file.
fn constant(language: &str, weights: &Weights) -> String {
    let name = language.to_lowercase();
    let mut lines = vec![String::new()];
    for weight in &weights.of {
        let text = format!(" {weight:.3},");
        match lines.last_mut() {
            Some(line) if 3 + line.len() + text.len() <= WIDTH => line.push_str(&text),
            _ => lines.push(text),
        }
    }
    let lines: Vec<String> = lines.iter().map(|line| format!("   {line}\n")).collect();
    format!(
        "[{name}]\nbase = {:.3}\nof = [\n{}]\n",
        weights.base,
        lines.concat()
    )
}
