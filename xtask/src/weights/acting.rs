//! The weights of `coalesce-clones::acting`: of the classes that `audit` tells in labelled trees those that a reader
//! would act on, and which not, in numbers, and what fits them.

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::Context as _;
use coalesce_clones::{Chapter, Duplicate, Options, acting, find};

use super::{
    fit::{self, Row, Weights},
    measure,
};

/// Where the table is cut, in percent.
const CUTS: [u32; 7] = [30, 40, 45, 50, 55, 60, 70];
/// Classes of a tree that are told first at most.
const FIRST: usize = 10;
/// What the labels count against the size of weights: eleven features need little holding back.
const STRENGTH: f64 = 0.3;
/// Members by which a class is known again.
const KNOWN: usize = 7;

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActingPrint {
    /// The weights, and how often they are right.
    Weights,
    /// What they are fitted to, and what the weights of other trees make of it.
    Rows,
}

/// A class that a reader was shown.
struct LabelledClass {
    tree: String,
    acts: bool,
    places: Vec<String>,
}

/// The same as the finder tells it today.
struct ToldClass {
    tree: String,
    chapter: Chapter,
    row: Row,
    /// Its first place, by which it is found again.
    place: String,
}

/// `cargo xtask weights DIRECTORY --acting` and `--acting-rows`.
pub fn run(directory: &Path, labels: &Path, print: ActingPrint) -> anyhow::Result<()> {
    let path = labels.join("acting.tsv");
    let text = fs::read_to_string(&path);
    let text = text.with_context(|| format!("failed to read {}", path.display()))?;
    let labelled: Vec<LabelledClass> = text.lines().filter_map(LabelledClass::read).collect();
    let trees: BTreeSet<&str> = labelled.iter().map(|class| class.tree.as_str()).collect();
    let mut told = Vec::new();
    for tree in trees {
        let root = directory.join(tree);
        if !root.is_dir() {
            println!("no tree: {tree}");
            continue;
        }
        let report = find(measure::sources(&root)?, Options::default());
        let own = labelled.iter().filter(|class| class.tree == tree);
        told.extend(own.filter_map(|class| class.told(&report.duplicates)));
    }
    if print == ActingPrint::Rows {
        return tell_rows(&told);
    }
    println!("{} of {} classes are told", told.len(), labelled.len());
    tell_chapters(&told);
    tell_weights(&told)
}

/// A line for each class: how likely it is worth it by the weights of other trees, where those decide, whether it is,
/// its chapter, tree, first place and features.
fn tell_rows(told: &[ToldClass]) -> anyhow::Result<()> {
    let weighed: Vec<&ToldClass> = told.iter().filter(|class| class.is_weighed()).collect();
    let trees: BTreeSet<&str> = told.iter().map(|class| class.tree.as_str()).collect();
    for tree in trees {
        let weights = weights_of_others(&weighed, tree)?;
        for class in told.iter().filter(|class| class.tree == tree) {
            let likely = weights.likelihood(&class.row.features);
            println!(
                "{likely:.3}\t{}\t{}\t{tree}\t{}\t{:?}",
                if class.row.duplicated { "yes" } else { "no" },
                class.chapter.as_str(),
                class.place,
                class.row.features
            );
        }
    }
    Ok(())
}

/// The weights that all trees but one ask for.
fn weights_of_others(weighed: &[&ToldClass], tree: &str) -> anyhow::Result<Weights> {
    let others = weighed.iter().filter(|class| class.tree != tree);
    let others: Vec<&Row> = others.map(|class| &class.row).collect();
    fit::fit(&others, STRENGTH)
}

impl LabelledClass {
    /// Reads a line: tree, whether the reader would act, whether they would merge it, kind and places.
    fn read(line: &str) -> Option<Self> {
        let mut fields = line.split('\t').map(str::to_owned);
        let tree = fields.next()?;
        let acts = fields.next()? == "yes";
        Some(Self {
            tree,
            acts,
            places: fields.skip(2).collect(),
        })
    }

    /// It among the classes of its tree; `None` where none has its places.
    fn told(&self, classes: &[Duplicate]) -> Option<ToldClass> {
        let class = classes.iter().find(|class| places(class) == self.places)?;
        let features = acting::features(&class.measure?, class.likelihood, &class.members);
        Some(ToldClass {
            tree: self.tree.clone(),
            chapter: class.chapter,
            place: self.places.first()?.clone(),
            row: Row {
                features: features.iter().map(|one| f64::from(*one)).collect(),
                duplicated: self.acts,
                weight: 1.0,
            },
        })
    }
}

impl ToldClass {
    /// Whether the weights decide where it belongs.
    fn is_weighed(&self) -> bool {
        matches!(
            self.chapter,
            Chapter::Product | Chapter::Next | Chapter::Alike
        )
    }
}

fn places(class: &Duplicate) -> Vec<String> {
    let members = class.members.iter().take(KNOWN);
    let place = |member: &coalesce_clones::Member| {
        format!("{}:{}-{}", member.path, member.lines.0, member.lines.1)
    };
    members.map(place).collect()
}

/// How many of each chapter a reader would act on.
fn tell_chapters(told: &[ToldClass]) {
    let chapters: BTreeSet<Chapter> = told.iter().map(|class| class.chapter).collect();
    for chapter in chapters {
        let own = told.iter().filter(|class| class.chapter == chapter);
        let acted = own.clone().filter(|class| class.row.duplicated).count();
        println!("{}: {acted} of {} worth it", chapter.as_str(), own.count());
    }
}

/// The weights that all classes ask for, and how often those of other trees are right.
fn tell_weights(told: &[ToldClass]) -> anyhow::Result<()> {
    let weighed: Vec<&ToldClass> = told.iter().filter(|class| class.is_weighed()).collect();
    let all: Vec<&Row> = weighed.iter().map(|class| &class.row).collect();
    fit::fit_and_tell(&all, STRENGTH)?;
    let trees: BTreeSet<&str> = weighed.iter().map(|class| class.tree.as_str()).collect();
    let judged = trees
        .into_iter()
        .map(|tree| judged_by_others(&weighed, tree));
    let judged: Vec<Vec<(f64, bool)>> = judged.collect::<anyhow::Result<_>>()?;
    for cut in CUTS {
        tell_cut(&judged, cut);
    }
    Ok(())
}

/// How likely the classes of a tree are worth it by the weights of all other trees, and whether they are, the likeliest first.
fn judged_by_others(weighed: &[&ToldClass], tree: &str) -> anyhow::Result<Vec<(f64, bool)>> {
    let own = weighed.iter().filter(|class| class.tree == tree);
    let weights = weights_of_others(weighed, tree)?;
    let judged = own.map(|class| {
        let row = &class.row;
        (weights.likelihood(&row.features), row.duplicated)
    });
    let mut judged: Vec<(f64, bool)> = judged.collect();
    judged.sort_by(|one, other| other.0.total_cmp(&one.0));
    Ok(judged)
}

/// What comes first of each tree at a cut, and how much of it is worth acting on.
fn tell_cut(judged: &[Vec<(f64, bool)>], cut: u32) {
    let least = f64::from(cut) / 100.0;
    let first = judged.iter().map(|tree| {
        let above = tree
            .iter()
            .take(FIRST)
            .filter(|(likely, _)| *likely >= least);
        let acted = above.clone().filter(|(_, acts)| *acts).count();
        (acted, above.count())
    });
    let first: Vec<(usize, usize)> = first.collect();
    let acted: usize = first.iter().map(|(acted, _)| acted).sum();
    let all: usize = first.iter().map(|(_, all)| all).sum();
    let empty = first.iter().filter(|(_, all)| *all == 0).count();
    println!("from {cut} %: {acted} of {all} worth it, nothing in {empty} trees");
}
