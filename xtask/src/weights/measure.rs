//! From labelled places to numbers: reads each tree as `audit` does, finds the units that stand at
//! the places, and compares them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use coalesce_clones::{
    Corpus, SourceFile,
    evidence::{Evidence, Room},
    grams::Runs,
    likelihood,
};
use coalesce_model::{Language, LanguageKind, Texts as _};
use coalesce_python::Python;
use coalesce_rust::Rust;
use coalesce_tree::SourceTree;
use rayon::prelude::*;

use super::{
    fit::Row,
    labels::{Class, Labels, Origin, Place, Tree},
};

/// The least share of the lines of a place and a unit that both have, of all that one has.
const LEAST: f64 = 0.3;
/// Common tokens of all from which on a pair of a class counts where there is one.
const SIMILAR: f32 = 0.5;

/// A class in numbers.
pub struct Measured {
    /// What is fitted.
    pub row: Row,
    /// Where the label comes from.
    pub origin: Origin,
    /// Its repository: what is fitted to some of it is not tried on the rest.
    pub repository: String,
    /// Its language.
    pub language: LanguageKind,
}

/// All classes in numbers, and what is lacking.
#[derive(Default)]
pub struct Measurement {
    /// Classes.
    pub classes: Vec<Measured>,
    /// Trees that are not there.
    pub missing: Vec<String>,
    /// Places without a unit, and classes that were left out, as they are told.
    pub lacking: Vec<String>,
}

impl Measurement {
    /// Measures the classes of all trees in `directory`.
    pub fn new(directory: &Path, labels: &Labels) -> anyhow::Result<Self> {
        let mut measurement = Self::default();
        for tree in &labels.trees {
            let Some(own) = LabelledTree::read(directory, tree, labels.classes.iter())? else {
                measurement.missing.push(tree.name.clone());
                continue;
            };
            // What two units are to each other does not depend on what else there is.
            let units = Units::new(own.files, own.classes.iter().copied());
            for class in own.classes {
                measurement.add(&units, class, &tree.repository);
            }
        }
        Ok(measurement)
    }

    fn add(&mut self, units: &Units, class: &Class, repository: &str) {
        let told = |place: &Place| {
            let (first, last) = place.lines;
            format!("{} {}:{first}-{last}", class.tree, place.path)
        };
        let is_lost = |place: &&Place| units.at(place).is_none();
        let lost = class.places.iter().filter(is_lost);
        self.lacking
            .extend(lost.map(|place| format!("no unit: {}", told(place))));
        let Some((language, features)) = units.features(class) else {
            let first = class.places.first().map(told).unwrap_or_default();
            self.lacking
                .push(format!("left out, no two units to compare: {first}"));
            return;
        };
        self.classes.push(Measured {
            row: Row {
                features,
                duplicated: class.duplicated,
                weight: class.weight,
            },
            origin: class.origin,
            repository: repository.to_owned(),
            language,
        });
    }
}

/// The classes of one tree, and the files that their places are in.
pub(super) struct LabelledTree<'l> {
    pub classes: Vec<&'l Class>,
    pub files: Vec<SourceFile>,
}

impl<'l> LabelledTree<'l> {
    /// Reads what these classes have in a tree; `None` where the tree is not there.
    pub fn read(
        directory: &Path,
        tree: &Tree,
        classes: impl Iterator<Item = &'l Class>,
    ) -> anyhow::Result<Option<Self>> {
        let root = directory.join(&tree.name);
        if !root.is_dir() {
            return Ok(None);
        }
        let classes: Vec<&Class> = classes.filter(|class| class.tree == tree.name).collect();
        let paths = paths(classes.iter().copied());
        let files = sources_of(&root, |path| paths.contains(path))?;
        Ok(Some(Self { classes, files }))
    }
}

/// The files of labelled places.
pub(super) fn paths<'l>(classes: impl Iterator<Item = &'l Class>) -> BTreeSet<&'l str> {
    let places = classes.flat_map(|class| &class.places);
    places.map(|place| place.path.as_str()).collect()
}

/// The outlined files of a tree, without those that a program wrote.
pub(super) fn sources(root: &Path) -> anyhow::Result<Vec<SourceFile>> {
    sources_of(root, |_| true)
}

/// Those of them that are `wanted`.
pub(super) fn sources_of(
    root: &Path,
    wanted: impl Fn(&str) -> bool + Sync,
) -> anyhow::Result<Vec<SourceFile>> {
    let tree = SourceTree::open(root)?;
    let mut files = of_language(&tree, &Python, &wanted);
    files.extend(of_language(&tree, &Rust, &wanted));
    files.retain(|file| !file.is_generated());
    Ok(files)
}

fn of_language<L: Language>(
    tree: &SourceTree,
    language: &L,
    wanted: &(impl Fn(&str) -> bool + Sync),
) -> Vec<SourceFile> {
    let files = tree.files().par_iter().map(|file| &file.path);
    // Of a stub file and its module only one runs.
    let files = files.filter(|path| language.claims(path) && path.extension() != Some("pyi"));
    let files = files.filter(|path| wanted(path.as_str()));
    let source = |path| SourceFile::outlined(language, path, tree.text(path)?);
    files.filter_map(source).collect()
}

/// The units of a tree, and which stand at the labelled places.
pub(super) struct Units {
    pub(super) corpus: Corpus,
    runs: Runs,
    /// Entries by file.
    by_path: BTreeMap<String, Vec<u32>>,
}

impl Units {
    pub(super) fn new<'l>(
        files: Vec<SourceFile>,
        classes: impl Iterator<Item = &'l Class>,
    ) -> Self {
        let corpus = Corpus::new(files);
        let mut by_path: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for (at, entry) in (0..).zip(&corpus.entries) {
            let path = corpus.file(entry).path.to_string();
            by_path.entry(path).or_default().push(at);
        }
        let mut units = Self {
            runs: Runs::new(&corpus, Vec::new()),
            corpus,
            by_path,
        };
        let places = classes.flat_map(|class| &class.places);
        let chosen: BTreeSet<u32> = places.filter_map(|place| units.at(place)).collect();
        units.runs = Runs::new(&units.corpus, chosen.into_iter().collect());
        units
    }

    /// The unit whose lines are most nearly those of the place.
    pub(super) fn at(&self, place: &Place) -> Option<u32> {
        let mut best = None;
        let mut most = LEAST;
        for at in self.by_path.get(&place.path)? {
            let entry = self.corpus.entries.get(*at as usize)?;
            let share = overlap(self.corpus.unit(entry).lines, place.lines);
            if share > most {
                (best, most) = (Some(*at), share);
            }
        }
        best
    }

    /// The language and the features of a class; `None` where no two of its places have units.
    fn features(&self, class: &Class) -> Option<(LanguageKind, Vec<f64>)> {
        let places = class.places.iter();
        let units: BTreeSet<u32> = places.filter_map(|place| self.at(place)).collect();
        let units: Vec<u32> = units.into_iter().collect();
        let mut room = Room::default();
        let mut pairs = Vec::new();
        for (at, a) in units.iter().enumerate() {
            for b in units.iter().skip(at + 1) {
                pairs.extend(Evidence::of_pair(
                    &self.corpus,
                    &self.runs,
                    (*a, *b),
                    &mut room,
                ));
            }
        }
        let language = pairs.first()?.language;
        pairs.retain(|pair| pair.language == language);
        if pairs.iter().any(|pair| pair.similarity() >= SIMILAR) {
            pairs.retain(|pair| pair.similarity() >= SIMILAR);
        }
        let features = pairs.iter().map(likelihood::features);
        Some((language, medians(&features.collect::<Vec<_>>())))
    }
}

/// Lines that both have, of all that one of them has.
pub(super) fn overlap(a: (u32, u32), b: (u32, u32)) -> f64 {
    let common = (a.1.min(b.1) + 1).saturating_sub(a.0.max(b.0));
    let all = a.1.max(b.1) + 1 - a.0.min(b.0);
    f64::from(common) / f64::from(all)
}

/// The middle of each feature.
fn medians<const N: usize>(pairs: &[[f32; N]]) -> Vec<f64> {
    let median = |feature: usize| {
        let values = pairs.iter().filter_map(|pair| pair.get(feature));
        let mut values: Vec<f64> = values.map(|value| f64::from(*value)).collect();
        values.sort_by(f64::total_cmp);
        let at = |place: usize| values.get(place).copied().unwrap_or(0.0);
        f64::midpoint(at(values.len().saturating_sub(1) / 2), at(values.len() / 2))
    };
    (0..N).map(median).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_in_common_are_counted_once() {
        let cases = [
            ((1, 10), (1, 10), 1.0),
            ((1, 10), (6, 15), 1.0 / 3.0),
            ((1, 4), (5, 8), 0.0),
            ((1, 4), (50, 80), 0.0),
            ((1, 10), (3, 4), 0.2),
        ];
        for (a, b, expected) in cases {
            assert!((overlap(a, b) - expected).abs() < 1e-12, "{a:?} {b:?}");
            assert!((overlap(b, a) - expected).abs() < 1e-12, "{b:?} {a:?}");
        }
    }

    #[test]
    fn the_middle_of_two_is_between_them() {
        assert_eq!(medians(&[[3.0, 1.0], [1.0, 2.0]]), [2.0, 1.5]);
        assert_eq!(medians(&[[3.0], [1.0], [10.0]]), [3.0]);
    }

    #[test]
    fn a_class_is_measured_by_the_units_at_its_places() {
        let directory = tempfile::tempdir().unwrap();
        let tree = directory.path().join("made");
        std::fs::create_dir_all(&tree).unwrap();
        let text = "def total(items):\n    done = 0\n    for item in items:\n        \
                    done += item.price * 3\n    return done\n";
        std::fs::write(tree.join("a.py"), text).unwrap();
        std::fs::write(tree.join("b.py"), text.replace("done", "sum")).unwrap();
        let place = |path: &str, lines| Place {
            path: path.to_owned(),
            lines,
        };
        let class = |places| Class {
            origin: Origin::Read,
            tree: "made".to_owned(),
            kind: "function".to_owned(),
            duplicated: true,
            weight: 1.0,
            places,
        };
        let labels = Labels {
            trees: ["made", "gone"]
                .map(|name| Tree {
                    name: name.to_owned(),
                    repository: "owner/made".to_owned(),
                })
                .to_vec(),
            classes: vec![
                class(vec![place("a.py", (1, 5)), place("b.py", (2, 5))]),
                class(vec![place("a.py", (1, 5)), place("c.py", (1, 5))]),
            ],
            wanted: Vec::new(),
        };
        let found = Measurement::new(directory.path(), &labels).unwrap();
        assert_eq!(found.missing, ["gone"]);
        let expected = [
            "no unit: made c.py:1-5",
            "left out, no two units to compare: made a.py:1-5",
        ];
        assert_eq!(found.lacking, expected);
        let [one] = found.classes.as_slice() else {
            panic!("one class has two units");
        };
        assert_eq!(one.language, LanguageKind::Python);
        // All names in common, and no token that only one has.
        assert_eq!(one.row.features.get(4), Some(&1.0));
        assert_eq!(one.row.features.get(5), Some(&0.0));
    }
}
