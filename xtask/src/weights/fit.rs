//! Logistic regression: the weights that make labelled rows most likely, large ones made dear.
//!
//! What scikit-learn's `LogisticRegression(C)` behind a `StandardScaler` finds, by Newton steps: a
//! handful of features and some thousand rows need nothing more.

use anyhow::{Context as _, bail};

/// What the labels count against the size of weights: scikit-learn's `C`.
pub const STRENGTH: f64 = 0.1;
/// Steps after which the search is given up; ten are usual.
const STEPS: usize = 100;
/// A step that changes no weight by more is the last.
const STILL: f64 = 1e-10;

/// What is known of one class, and its label.
#[derive(Clone, Debug)]
pub struct Row {
    /// What is weighed.
    pub features: Vec<f64>,
    /// The label.
    pub duplicated: bool,
    /// How much it counts.
    pub weight: f64,
}

/// A fitted function.
#[derive(Clone, Debug)]
pub struct Weights {
    /// What is added whatever the features are.
    pub base: f64,
    /// For each feature.
    pub of: Vec<f64>,
}

impl Weights {
    /// How likely the label is true, 0 to 1.
    pub fn likelihood(&self, features: &[f64]) -> f64 {
        logistic(self.base + product(&self.of, features))
    }
}

/// The weights that `rows` ask for. An error when there are no rows of both labels, or when the
/// search does not come to rest.
pub fn fit(rows: &[&Row], strength: f64) -> anyhow::Result<Weights> {
    let both = [true, false].map(|label| rows.iter().any(|row| row.duplicated == label));
    if both != [true, true] {
        bail!("rows of both labels are needed");
    }
    let scales = scales(rows);
    let standard = rows.iter().map(|row| Standard::new(row, &scales));
    let problem = Problem {
        rows: standard.collect(),
        strength,
    };
    let mut found = problem.solve(scales.len() + 1)?;
    let base = found.pop().context("there is a base")?;
    let scaled = found.iter().zip(&scales);
    let of: Vec<f64> = scaled.map(|(weight, (_, scale))| weight / scale).collect();
    let middle: Vec<f64> = scales.iter().map(|(mean, _)| *mean).collect();
    Ok(Weights {
        base: base - product(&of, &middle),
        of,
    })
}

/// The weights that `rows` ask for, which are printed.
pub fn fit_and_tell(rows: &[&Row], strength: f64) -> anyhow::Result<Weights> {
    let weights = fit(rows, strength)?;
    println!(
        "{} classes: base {:.3}, of {:.3?}",
        rows.len(),
        weights.base,
        weights.of
    );
    Ok(weights)
}

/// Mean and standard deviation of each feature; 1 for one that is always the same.
fn scales(rows: &[&Row]) -> Vec<(f64, f64)> {
    let count = rows.len() as f64;
    let features = rows.first().map_or(0, |row| row.features.len());
    let scale = |at: usize| {
        let values = || rows.iter().filter_map(move |row| row.features.get(at));
        let mean = values().sum::<f64>() / count;
        let variance = values().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
        (mean, if variance > 0.0 { variance.sqrt() } else { 1.0 })
    };
    (0..features).map(scale).collect()
}

/// A row with features of mean 0 and deviation 1, and 1 for the base behind them.
struct Standard {
    features: Vec<f64>,
    label: f64,
    weight: f64,
}

impl Standard {
    fn new(row: &Row, scales: &[(f64, f64)]) -> Self {
        let scaled = row.features.iter().zip(scales);
        let scaled = scaled.map(|(value, (mean, scale))| (value - mean) / scale);
        Self {
            features: scaled.chain([1.0]).collect(),
            label: f64::from(u8::from(row.duplicated)),
            weight: row.weight,
        }
    }
}

/// What is made as small as it goes: `strength` times the rows' surprise, and half the squares of all
/// weights but the last, which is the base.
struct Problem {
    rows: Vec<Standard>,
    strength: f64,
}

impl Problem {
    fn solve(&self, size: usize) -> anyhow::Result<Vec<f64>> {
        let mut weights = vec![0.0; size];
        let mut cost = self.cost(&weights);
        for _ in 0..STEPS {
            let (gradient, curvature) = self.derivatives(&weights);
            let step = solved(curvature, gradient).context("the features hang together")?;
            let (next, reached) = self.stepped(&weights, cost, &step);
            (weights, cost) = (next, reached);
            if step.iter().all(|part| part.abs() < STILL) {
                return Ok(weights);
            }
        }
        bail!("the weights do not come to rest within {STEPS} steps");
    }

    /// Goes down by `step`, or by so small a part of it that it is not uphill.
    fn stepped(&self, weights: &[f64], cost: f64, step: &[f64]) -> (Vec<f64>, f64) {
        let mut part = 1.0;
        loop {
            let moved = weights.iter().zip(step);
            let next: Vec<f64> = moved.map(|(weight, step)| weight - part * step).collect();
            let reached = self.cost(&next);
            // Near the bottom, rounding hides what is gained.
            if reached <= cost + cost.abs() * 1e-12 || part < 1e-6 {
                return (next, reached);
            }
            part /= 2.0;
        }
    }

    fn cost(&self, weights: &[f64]) -> f64 {
        let surprise = |row: &Standard| {
            let sum = product(weights, &row.features);
            let against = if row.label > 0.5 { -sum } else { sum };
            // ln(1 + e^x) without a number too large on the way.
            row.weight * (against.max(0.0) + (-against.abs()).exp().ln_1p())
        };
        let surprise: f64 = self.rows.iter().map(surprise).sum();
        let penalised = weights.split_last().map_or(&[][..], |(_, of)| of);
        self.strength * surprise + product(penalised, penalised) / 2.0
    }

    /// The first and second derivatives of the cost.
    fn derivatives(&self, weights: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
        let size = weights.len();
        let mut gradient = weights.to_vec();
        let mut curvature = vec![vec![0.0; size]; size];
        for (at, line) in curvature.iter_mut().enumerate().take(size - 1) {
            line[at] = 1.0;
        }
        gradient[size - 1] = 0.0;
        for row in &self.rows {
            let likely = logistic(product(weights, &row.features));
            let weight = self.strength * row.weight;
            let slope = weight * (likely - row.label);
            let bend = weight * likely * (1.0 - likely);
            for (at, feature) in row.features.iter().enumerate() {
                gradient[at] += slope * feature;
                for (cell, other) in curvature[at].iter_mut().zip(&row.features) {
                    *cell += bend * feature * other;
                }
            }
        }
        (gradient, curvature)
    }
}

/// Solves `matrix · x = right` for a symmetric positive matrix by Cholesky's method; `None` for one
/// that is not.
fn solved(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let size = right.len();
    // The lower half becomes the factor.
    for row in 0..size {
        for column in 0..=row {
            let before = product(&matrix[row][..column], &matrix[column][..column]);
            let rest = matrix[row][column] - before;
            if row == column {
                // Also false for what is no number.
                matrix[row][row] = (rest > 0.0).then(|| rest.sqrt())?;
            } else {
                matrix[row][column] = rest / matrix[column][column];
            }
        }
    }
    for row in 0..size {
        let known = product(&matrix[row][..row], &right[..row]);
        right[row] = (right[row] - known) / matrix[row][row];
    }
    for row in (0..size).rev() {
        let known: f64 = (row + 1..size).map(|at| matrix[at][row] * right[at]).sum();
        right[row] = (right[row] - known) / matrix[row][row];
    }
    Some(right)
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn logistic(value: f64) -> f64 {
    1.0 / (1.0 + (-value).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows all over a box, each with both labels, which count as often as `weights` say.
    fn made(weights: &Weights) -> Vec<Row> {
        let points = (0..512).map(|at| {
            let part = |by: usize| f64::from(u8::try_from((at / by) % 8).unwrap());
            vec![part(1), part(8) / 4.0 - 1.0, part(64) * 3.0]
        });
        let rows = points.flat_map(|features| {
            let likely = weights.likelihood(&features);
            [(true, likely), (false, 1.0 - likely)].map(|(duplicated, weight)| Row {
                features: features.clone(),
                duplicated,
                weight,
            })
        });
        rows.collect()
    }

    fn assert_near(found: &Weights, base: f64, of: &[f64], off: f64) {
        let pairs = found.of.iter().zip(of).chain([(&found.base, &base)]);
        for (found, expected) in pairs {
            assert!((found - expected).abs() < off, "{found} for {expected}");
        }
        assert_eq!(found.of.len(), of.len());
    }

    #[test]
    fn known_weights_come_back() {
        let known = Weights {
            base: -1.5,
            of: vec![0.4, -1.25, 0.05],
        };
        let rows = made(&known);
        let rows: Vec<&Row> = rows.iter().collect();
        let found = fit(&rows, 1e9).unwrap();
        assert_near(&found, known.base, &known.of, 1e-5);
    }

    #[test]
    fn the_penalty_is_the_one_that_the_strength_is_known_for() {
        let points = [
            ([0.0, 10.0], false, 1.0),
            ([1.0, 8.0], false, 0.5),
            ([2.0, 11.0], true, 1.0),
            ([3.0, 3.0], false, 0.5),
            ([4.0, 5.0], true, 1.0),
            ([5.0, 1.0], true, 1.0),
            ([2.0, 2.0], true, 0.5),
            ([1.0, 9.0], false, 1.0),
        ];
        let rows = points.map(|(features, duplicated, weight)| Row {
            features: features.to_vec(),
            duplicated,
            weight,
        });
        let found = fit(&rows.each_ref(), 0.1).unwrap();
        // As scikit-learn 1.9 has it.
        assert_near(&found, 0.026_765_28, &[0.129_094_46, -0.025_453_07], 1e-7);
    }

    #[test]
    fn a_feature_that_says_nothing_weighs_nothing() {
        let known = Weights {
            base: 0.5,
            of: vec![0.4, 0.0, 0.0],
        };
        let mut rows = made(&known);
        for row in &mut rows {
            row.features.push(7.0);
        }
        let rows: Vec<&Row> = rows.iter().collect();
        let found = fit(&rows, 1e9).unwrap();
        assert_near(&found, 0.5, &[0.4, 0.0, 0.0, 0.0], 1e-5);
    }

    #[test]
    fn one_label_alone_is_refused() {
        let row = Row {
            features: vec![1.0],
            duplicated: true,
            weight: 1.0,
        };
        assert!(fit(&[&row, &row], STRENGTH).is_err());
        assert!(fit(&[], STRENGTH).is_err());
    }
}
