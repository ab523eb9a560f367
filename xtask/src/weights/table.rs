//! How often likelihoods are right: what is above a cut, how much of it is true, and how much of what
//! is true is above it. Also how rows are parted, so that nothing is tried on what it was fitted to.

use std::{collections::BTreeMap, fmt};

use super::{
    fit::{self, Row},
    labels::Origin,
    measure::Measured,
};

/// Parts of the trees that are left out in turn.
const FOLDS: usize = 8;
/// Cuts of the table, in percent.
const CUTS: [u32; 10] = [50, 55, 60, 65, 70, 75, 80, 85, 90, 95];

/// The likelihood of each row by weights that were fitted to the other repositories' rows.
pub fn tried(classes: &[&Measured]) -> anyhow::Result<Vec<f64>> {
    let names: Vec<&str> = classes.iter().map(|one| one.repository.as_str()).collect();
    let folds = folds(&names);
    let mut found = vec![0.0; classes.len()];
    for fold in 0..FOLDS.min(folds.iter().max().map_or(0, |last| last + 1)) {
        let rows = classes.iter().zip(&folds);
        let others: Vec<&Row> = rows
            .filter(|(_, of)| **of != fold)
            .map(|(one, _)| &one.row)
            .collect();
        let weights = fit::fit(&others, fit::STRENGTH)?;
        for ((likely, class), _) in found
            .iter_mut()
            .zip(classes)
            .zip(&folds)
            .filter(|(_, of)| **of == fold)
        {
            *likely = weights.likelihood(&class.row.features);
        }
    }
    Ok(found)
}

/// For each row its fold: all rows of a group in one, folds about as large as each other.
fn folds(groups: &[&str]) -> Vec<usize> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for group in groups {
        *counts.entry(group).or_default() += 1;
    }
    let mut by_size: Vec<(usize, &str)> =
        counts.iter().map(|(name, count)| (*count, *name)).collect();
    by_size.sort_by(|a, b| (b.0, a.1).cmp(&(a.0, b.1)));
    let mut filled = [0; FOLDS];
    let mut of: BTreeMap<&str, usize> = BTreeMap::new();
    for (count, name) in by_size {
        let least = (0..).zip(filled.iter_mut()).min_by_key(|(_, rows)| **rows);
        if let Some((fold, rows)) = least {
            *rows += count;
            of.insert(name, fold);
        }
    }
    groups
        .iter()
        .filter_map(|group| of.get(group).copied())
        .collect()
}

/// What one cut does with the classes of one origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    /// Classes above it.
    above: usize,
    /// True ones of them.
    right: usize,
}

/// The classes of one origin, cut by cut.
struct Column {
    origin: Origin,
    all: usize,
    duplicated: usize,
    counts: Vec<Count>,
}

impl Column {
    fn new(origin: Origin, judged: &[(Origin, bool, f64)]) -> Self {
        let own: Vec<_> = judged.iter().filter(|one| one.0 == origin).collect();
        let count = |cut: u32| {
            let above = own.iter().filter(|one| one.2 >= f64::from(cut) / 100.0);
            let right = above.clone().filter(|one| one.1);
            Count {
                above: above.count(),
                right: right.count(),
            }
        };
        Self {
            origin,
            all: own.len(),
            duplicated: own.iter().filter(|one| one.1).count(),
            counts: CUTS.into_iter().map(count).collect(),
        }
    }
}

/// The table of one language.
pub struct Table {
    columns: [Column; 2],
}

impl Table {
    /// Counts classes whose likelihoods are `likely`, one for each.
    pub fn new(classes: &[&Measured], likely: &[f64]) -> Self {
        let judged = classes.iter().zip(likely);
        let judged = judged.map(|(one, likely)| (one.origin, one.row.duplicated, *likely));
        Self::of(&judged.collect::<Vec<_>>())
    }

    fn of(judged: &[(Origin, bool, f64)]) -> Self {
        Self {
            columns: Origin::ALL.map(|origin| Column::new(origin, judged)),
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "    ")?;
        for column in &self.columns {
            let Column {
                all, duplicated, ..
            } = column;
            let name = column.origin.file();
            let head = format!("{name}: {all}, {duplicated} true");
            write!(f, "  {head:>32}")?;
        }
        write!(f, "\n cut")?;
        for _ in &self.columns {
            write!(f, "  {:>12}{:>10}{:>10}", "above", "true", "found")?;
        }
        for (at, cut) in CUTS.into_iter().enumerate() {
            write!(f, "\n{:4.2}", f64::from(cut) / 100.0)?;
            for column in &self.columns {
                let count = column.counts.get(at).copied().unwrap_or_default();
                let right = share(count.right, count.above);
                let found = share(count.right, column.duplicated);
                write!(f, "  {:>12}{right:>10}{found:>10}", count.above)?;
            }
        }
        writeln!(f)
    }
}

/// A share in percent; a dash of nothing.
fn share(part: usize, all: usize) -> String {
    if all == 0 {
        return "-".to_owned();
    }
    format!("{:.1}%", part as f64 / all as f64 * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use coalesce_model::LanguageKind;

    #[test]
    fn groups_stay_together_and_folds_are_balanced() {
        let names: Vec<String> = (0..20).map(|at| format!("tree{at}")).collect();
        // Tree n has n + 1 rows.
        let rows = (0..20).flat_map(|at| std::iter::repeat_n(at, at + 1));
        let rows: Vec<&str> = rows
            .filter_map(|at| names.get(at))
            .map(String::as_str)
            .collect();
        let folds = folds(&rows);
        assert_eq!(folds.len(), rows.len());
        let mut of = BTreeMap::new();
        for (row, fold) in rows.iter().zip(&folds) {
            assert_eq!(of.entry(row).or_insert(fold), &fold);
        }
        for fold in 0..FOLDS {
            let count = folds.iter().filter(|of| **of == fold).count();
            assert!((24..=30).contains(&count), "{count}");
        }
    }

    /// Two classes of each of ten repositories, of which the last has its labels the other way round.
    fn made() -> Vec<Measured> {
        let classes = (0..20).map(|at: u32| {
            let large = at.is_multiple_of(2);
            Measured {
                row: Row {
                    features: vec![f64::from(u8::from(large)), f64::from(at)],
                    duplicated: large == (at < 18),
                    weight: 1.0,
                },
                origin: Origin::Read,
                repository: format!("owner/tree{}", at / 2),
                language: LanguageKind::Python,
            }
        });
        classes.collect()
    }

    #[test]
    fn nothing_is_tried_on_what_it_was_fitted_to() {
        let classes = made();
        let classes: Vec<&Measured> = classes.iter().collect();
        let likely = tried(&classes).unwrap();
        for (class, likely) in classes.iter().zip(likely) {
            let is_right = class.row.duplicated == (likely > 0.5);
            assert_eq!(is_right, class.repository != "owner/tree9");
        }
        let few: Vec<&Measured> = classes.into_iter().take(2).collect();
        assert!(tried(&few).is_err());
    }

    #[test]
    fn what_is_above_a_cut_is_counted() {
        let judged = [
            (Origin::Read, true, 0.97),
            (Origin::Read, true, 0.8),
            (Origin::Read, false, 0.79),
            (Origin::Read, false, 0.1),
            (Origin::Read, true, 0.3),
            (Origin::Merged, true, 0.6),
        ];
        let table = Table::of(&judged);
        let [read, merged] = &table.columns;
        assert_eq!((read.all, read.duplicated), (5, 3));
        assert_eq!((merged.all, merged.duplicated), (1, 1));
        let counts: Vec<_> = read
            .counts
            .iter()
            .map(|one| (one.above, one.right))
            .collect();
        let three = [(3, 2); 6];
        assert_eq!(
            counts,
            [&three[..], &[(2, 2), (1, 1), (1, 1), (1, 1)]].concat()
        );
        let text = table.to_string();
        let row = text.lines().find(|line| line.starts_with("0.75")).unwrap();
        let words: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(words, ["0.75", "3", "66.7%", "66.7%", "0", "-", "0.0%"]);
    }
}
