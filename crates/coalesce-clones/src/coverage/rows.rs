//! The lines of two definitions, aligned: which line of one stands for which of the other.
//!
//! Works on the text as it is written, comments included; what the differences mean is said by
//! [`super::Difference`]. Indentation that all lines of a definition share does not count, so that a
//! function and a method can be compared.

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

use super::in_order;

/// Lines of context around a change.
const CONTEXT: usize = 3;
/// The share of words that two lines need to stand for each other.
const ALIKE: f32 = 0.5;

/// A line of both sides, or of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Whether both are equal up to the indentation that their definitions have.
    pub equal: bool,
    /// Line of the left side, 1-based.
    pub left: Option<u32>,
    /// Line of the right side, 1-based.
    pub right: Option<u32>,
}

/// The changed lines of two ranges of lines with those around them, hunk by hunk; empty when nothing
/// differs. Ranges are first and last line, 1-based; lines that a text has not are passed over.
#[must_use]
pub fn hunks(left: (&str, (u32, u32)), right: (&str, (u32, u32))) -> Vec<Vec<Row>> {
    let (a, b) = (lines(left.0, left.1), lines(right.0, right.1));
    let operations = capture_diff_slices(Algorithm::Myers, &a, &b);
    let first = (left.1.0, right.1.0);
    let groups = group_diff_ops(operations, CONTEXT);
    let hunk = |group: Vec<DiffOp>| {
        let rows = group.into_iter().flat_map(|op| rows(&op, &a, &b, first));
        rows.collect::<Vec<Row>>()
    };
    groups.into_iter().map(hunk).collect()
}

/// Lines of a text, without the indentation that all of them share and without spaces at the end.
fn lines(text: &str, (first, last): (u32, u32)) -> Vec<&str> {
    let count = (last + 1).saturating_sub(first) as usize;
    let lines = text
        .lines()
        .skip(first.saturating_sub(1) as usize)
        .take(count);
    let lines: Vec<&str> = lines.map(str::trim_end).collect();
    let indent = |line: &&str| line.len() - line.trim_start().len();
    let written = lines.iter().filter(|line| !line.is_empty());
    let shared = written.map(indent).min().unwrap_or(0);
    let cut = |line: &str| -> usize { shared.min(line.len()) };
    lines
        .into_iter()
        .map(|line| line.get(cut(line)..).unwrap_or(line))
        .collect()
}

fn rows(op: &DiffOp, a: &[&str], b: &[&str], first: (u32, u32)) -> Vec<Row> {
    let number = |first: u32, at: usize| first + u32::try_from(at).unwrap_or(u32::MAX);
    let row = |equal, left: Option<usize>, right: Option<usize>| Row {
        equal,
        left: left.map(|at| number(first.0, at)),
        right: right.map(|at| number(first.1, at)),
    };
    let (old, new) = (op.old_range(), op.new_range());
    if matches!(op, DiffOp::Equal { .. }) {
        let both = old.zip(new);
        return both
            .map(|(left, right)| row(true, Some(left), Some(right)))
            .collect();
    }
    let left = a.get(old.clone()).unwrap_or_default();
    let right = b.get(new.clone()).unwrap_or_default();
    let pairs = paired(left, right).into_iter();
    pairs
        .map(|(left, right)| {
            row(
                false,
                left.map(|at| old.start + at),
                right.map(|at| new.start + at),
            )
        })
        .collect()
}

/// Which changed line stands for which; in order.
fn paired(a: &[&str], b: &[&str]) -> Vec<(Option<usize>, Option<usize>)> {
    let x: Vec<Vec<&str>> = a.iter().map(|line| words(line)).collect();
    let y: Vec<Vec<&str>> = b.iter().map(|line| words(line)).collect();
    in_order::paired(&x, &y, |x, y| likeness(x, y))
}

/// Words and signs of a line, sorted.
fn words(line: &str) -> Vec<&str> {
    let in_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let is_sign = |letter: char| !in_word(letter) && !letter.is_whitespace();
    let mut words: Vec<&str> = line.split(|letter| !in_word(letter)).collect();
    words.retain(|word| !word.is_empty());
    words.extend(line.matches(is_sign));
    words.sort_unstable();
    words
}

/// Words of two lines in common, of all; 0 where it is too little.
fn likeness(a: &[&str], b: &[&str]) -> f32 {
    let (mut i, mut j, mut common) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        let order = x.cmp(y);
        common += usize::from(order.is_eq());
        i += usize::from(order.is_le());
        j += usize::from(order.is_ge());
    }
    let share = 2.0 * common as f32 / (a.len() + b.len()).max(1) as f32;
    if share >= ALIKE { share } else { 0.0 }
}
