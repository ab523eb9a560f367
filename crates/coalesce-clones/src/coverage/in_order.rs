//! Two lists, and which of one stands for which of the other without crossing: what has most in common
//! in all.

/// Pairs beyond which nothing is paired.
const PAIRED: usize = 40_000;

/// Pairs in order, and what is left of both lists between them. `score` says how much two have in
/// common; 0 for nothing.
pub(super) fn paired<T>(
    a: &[T],
    b: &[T],
    score: impl Fn(&T, &T) -> f32,
) -> Vec<(Option<usize>, Option<usize>)> {
    let (many, others) = (a.len(), b.len());
    let score = |i: usize, j: usize| match (a.get(i), b.get(j)) {
        (Some(a), Some(b)) => score(a, b),
        _ => 0.0,
    };
    if many * others > PAIRED {
        let left = (0..many).map(|at| (Some(at), None));
        return left.chain((0..others).map(|at| (None, Some(at)))).collect();
    }
    let table = Table::new(many, others, score);
    let (mut i, mut j, mut found) = (0, 0, Vec::new());
    while i < many || j < others {
        let here = table.best(i, j);
        let score = table.score(i, j);
        if score > 0.0 && here <= score + table.best(i + 1, j + 1) {
            found.push((Some(i), Some(j)));
            (i, j) = (i + 1, j + 1);
        } else if i < many && (j == others || here <= table.best(i + 1, j)) {
            found.push((Some(i), None));
            i += 1;
        } else {
            found.push((None, Some(j)));
            j += 1;
        }
    }
    found
}

/// Scores of all pairs, and the most that is to be had behind each.
struct Table {
    others: usize,
    scores: Vec<f32>,
    best: Vec<f32>,
}

impl Table {
    fn new(many: usize, others: usize, score: impl Fn(usize, usize) -> f32) -> Self {
        let pairs = (0..many).flat_map(|i| (0..others).map(move |j| (i, j)));
        let mut table = Self {
            others,
            scores: pairs.map(|(i, j)| score(i, j)).collect(),
            best: vec![0.0; (many + 1) * (others + 1)],
        };
        for i in (0..many).rev() {
            for j in (0..others).rev() {
                let own = table.score(i, j);
                let with = if own > 0.0 {
                    own + table.best(i + 1, j + 1)
                } else {
                    0.0
                };
                let most = with.max(table.best(i + 1, j)).max(table.best(i, j + 1));
                if let Some(cell) = table.best.get_mut(i * (others + 1) + j) {
                    *cell = most;
                }
            }
        }
        table
    }

    fn score(&self, i: usize, j: usize) -> f32 {
        let inside = j < self.others;
        let score = self.scores.get(i * self.others + j).filter(|_| inside);
        score.copied().unwrap_or(0.0)
    }

    fn best(&self, i: usize, j: usize) -> f32 {
        self.best
            .get(i * (self.others + 1) + j)
            .copied()
            .unwrap_or(0.0)
    }
}
