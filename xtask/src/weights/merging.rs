//! The weights of `coalesce-clones::merging`: of labelled classes those that readers or a project's
//! history say something of whether they are merged, in numbers, and what fits them.

use std::{collections::BTreeSet, path::Path};

use coalesce_clones::{
    Chapter, SourceFile, Unit, corpus,
    merging::{self, Place as Member},
};

use super::{
    fit::{self, Row},
    labels::{Class, Labels, Origin, Place},
    measure::{LabelledTree, overlap},
};

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Print {
    /// The weights, and how often they are right on other repositories.
    Weights,
    /// What they are fitted to.
    Rows,
}

/// What the labels count against the size of weights: two features need little holding back.
const STRENGTH: f64 = 1.0;
/// The least share of the lines of a place and a unit that both have, of all that one has.
const LEAST: f64 = 0.3;

/// A class in numbers.
struct MeasuredClass<'l> {
    row: Row,
    is_test: bool,
    chapter: Chapter,
    class: &'l Class,
    repository: &'l str,
}

/// How much a pair counts that maintainers merged: pairs of histories are easier than what is told.
const MERGED: f64 = 0.5;
/// How much a class counts of which readers say that it is not even duplicated.
const NOT_DUPLICATED: f64 = 0.3;
/// Where the table is cut, in percent.
const CUTS: [u32; 6] = [50, 60, 65, 70, 75, 80];

/// `cargo xtask weights DIRECTORY --merging`.
pub fn run(directory: &Path, labels: &Labels, print: Print) -> anyhow::Result<()> {
    let rows = measured(directory, labels)?;
    match print {
        Print::Rows => rows.iter().for_each(tell_row),
        Print::Weights => tell_weights(&rows)?,
    }
    Ok(())
}

/// The weights that all rows ask for, and for what readers were asked whether they would merge it, how
/// often the weights of other repositories are right.
fn tell_weights(rows: &[MeasuredClass<'_>]) -> anyhow::Result<()> {
    let fitted = rows.iter().filter(|one| one.is_fitted());
    let all: Vec<&Row> = fitted.map(|one| &one.row).collect();
    fit::fit_and_tell(&all, STRENGTH)?;
    let judged = judged_by_others(rows)?;
    let merged = judged.iter().filter(|one| one.merged).count();
    println!("read: {}, {merged} would be merged", judged.len());
    for cut in CUTS {
        let least = f64::from(cut) / 100.0;
        let above = judged.iter().filter(|one| one.likelihood >= least);
        let right = above.clone().filter(|one| one.merged).count();
        println!(
            "from {cut} %: {}, {right} of them would be merged",
            above.count()
        );
    }
    Ok(())
}

/// A class that readers were asked about, as the weights of other repositories judge it.
struct JudgedClass {
    likelihood: f64,
    /// Whether readers would merge it.
    merged: bool,
}

fn judged_by_others(rows: &[MeasuredClass<'_>]) -> anyhow::Result<Vec<JudgedClass>> {
    let repositories: BTreeSet<&str> = rows.iter().map(|one| one.repository).collect();
    let mut judged = Vec::new();
    for repository in repositories {
        let (own, others): (Vec<_>, Vec<_>) =
            rows.iter().partition(|one| one.repository == repository);
        let asked: Vec<_> = own.into_iter().filter(|one| one.is_asked()).collect();
        if asked.is_empty() {
            continue;
        }
        let fitted = others.into_iter().filter(|one| one.is_fitted());
        let weights = fit::fit(&fitted.map(|one| &one.row).collect::<Vec<_>>(), STRENGTH)?;
        judged.extend(asked.into_iter().map(|one| JudgedClass {
            likelihood: weights.likelihood(&one.row.features),
            merged: one.row.duplicated,
        }));
    }
    Ok(judged)
}

impl MeasuredClass<'_> {
    /// Whether the weights are fitted to it: that something is duplicated does not say that anybody
    /// merges it, and tests have a chapter of their own.
    fn is_fitted(&self) -> bool {
        let says = self.class.origin != Origin::Read || !self.row.duplicated;
        says && !self.is_test
    }

    /// Whether readers were asked, of what a program does.
    fn is_asked(&self) -> bool {
        self.class.origin == Origin::Wanted && self.chapter == Chapter::Product
    }
}

fn tell_row(one: &MeasuredClass<'_>) {
    let MeasuredClass {
        row,
        class,
        repository,
        ..
    } = one;
    let first = class.places.first();
    let first = first.map_or(String::new(), |place| {
        format!("{}:{}-{}", place.path, place.lines.0, place.lines.1)
    });
    let label = u8::from(row.duplicated);
    print!(
        "{repository}\t{}\t{label}\t{}\t{}\t{first}",
        class.origin.file(),
        row.weight,
        class.kind
    );
    for feature in &row.features {
        print!("\t{feature:.4}");
    }
    println!();
}

/// All classes whose places have units.
fn measured<'l>(directory: &Path, labels: &'l Labels) -> anyhow::Result<Vec<MeasuredClass<'l>>> {
    let mut measured = Vec::new();
    for tree in &labels.trees {
        let all = labels.classes.iter().chain(&labels.wanted);
        let Some(own) = LabelledTree::read(directory, tree, all)? else {
            println!("no tree: {}", tree.name);
            continue;
        };
        for class in own.classes {
            match measure(class, &tree.repository, &own.files) {
                Some(class) => measured.push(class),
                None => println!("left out: {} {:?}", class.tree, class.places.first()),
            }
        }
    }
    Ok(measured)
}

/// A class by its units; `None` where fewer than two of its places have one.
fn measure<'l>(
    class: &'l Class,
    repository: &'l str,
    files: &[SourceFile],
) -> Option<MeasuredClass<'l>> {
    let places = class.places.iter();
    let members = places.filter_map(|place| unit_at(files, place, &class.kind));
    let members: Vec<Member<'_>> = members.collect();
    if members.len() < 2 {
        return None;
    }
    let features = merging::Measure::new(&members).features;
    let counts = match (class.origin, class.duplicated) {
        (Origin::Merged, true) => MERGED,
        (Origin::Read, _) => NOT_DUPLICATED,
        (Origin::Merged, false) | (Origin::Wanted, _) => 1.0,
    };
    Some(MeasuredClass {
        row: Row {
            features: features.iter().map(|one| f64::from(*one)).collect(),
            duplicated: class.duplicated,
            weight: class.weight * counts,
        },
        is_test: members
            .iter()
            .all(|(file, unit)| corpus::is_test(file, unit)),
        chapter: Chapter::of_places(&told(&members)),
        class,
        repository,
    })
}

/// Units as a report names them.
fn told(members: &[Member<'_>]) -> Vec<coalesce_clones::Member> {
    let member = |(file, unit): &Member<'_>| coalesce_clones::Member {
        path: file.path.clone(),
        item: file.item_name(unit),
        lines: unit.lines,
        start: 0,
    };
    members.iter().map(member).collect()
}

/// The unit of a kind whose lines are most nearly those of the place.
fn unit_at<'f>(files: &'f [SourceFile], place: &Place, kind: &str) -> Option<Member<'f>> {
    let file = files.iter().find(|file| file.path.as_str() == place.path)?;
    let share = |unit: &Unit| overlap(unit.lines, place.lines);
    let is_module = kind == "module";
    let units = file.units.iter().enumerate();
    let units = units.filter(|(at, unit)| (*at == 0) == is_module && share(unit) > LEAST);
    let best = units.max_by(|(_, a), (_, b)| share(a).total_cmp(&share(b)));
    best.map(|(_, unit)| (file, unit))
}
