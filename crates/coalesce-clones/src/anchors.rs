//! Places of two long sequences that can only belong together: runs of symbols that stand once in
//! each, as far as they come in the same order in both. It does not look for what is between them.

use rustc_hash::FxHasher;
use std::hash::Hasher as _;

/// Symbols of a run.
const RUN: usize = 4;

/// Places of `a` and `b`, rising in both, where the same symbol stands.
#[must_use]
pub fn find(a: &[u32], b: &[u32]) -> Vec<(usize, usize)> {
    let (left, right) = (once(a), once(b));
    let mut common = Vec::new();
    let mut rest = right.iter().peekable();
    for (run, at) in &left {
        while rest.next_if(|(other, _)| other < run).is_some() {}
        if let Some((_, other)) = rest.next_if(|(other, _)| other == run) {
            let place = (*at as usize, *other as usize);
            // Two runs of one hash are rare, and no anchor.
            if a.get(place.0) == b.get(place.1) {
                common.push(place);
            }
        }
    }
    common.sort_unstable();
    rising(&common)
}

/// The runs that stand once in a sequence, by their hash, with their place.
fn once(sequence: &[u32]) -> Vec<(u64, u32)> {
    let mut runs: Vec<(u64, u32)> = sequence.windows(RUN).map(hash).zip(0..).collect();
    runs.sort_unstable();
    let alone = runs.chunk_by(|x, y| x.0 == y.0);
    alone
        .filter_map(|same| match same {
            [one] => Some(*one),
            _ => None,
        })
        .collect()
}

fn hash(run: &[u32]) -> u64 {
    let mut hasher = FxHasher::default();
    for symbol in run {
        hasher.write_u32(*symbol);
    }
    hasher.finish()
}

/// The longest part of pairs, sorted by their first place, in which the second places rise too.
fn rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length, the pair that ends such a part with the smallest second place.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    let second = |at: &usize| pairs.get(*at).map_or(0, |pair| pair.1);
    for (at, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| second(end) < pair.1);
        let last = length.checked_sub(1).and_then(|last| ends.get(last));
        before.push(last.copied());
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut found = Vec::new();
    let mut next = ends.last().copied();
    while let Some(at) = next {
        found.extend(pairs.get(at));
        next = before.get(at).copied().flatten();
    }
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn anchors_rise_in_both_and_are_equal(
            a in prop::collection::vec(0u32..9, 0..300),
            b in prop::collection::vec(0u32..9, 0..300),
        ) {
            let anchors = find(&a, &b);
            prop_assert!(anchors.iter().all(|(x, y)| a[*x] == b[*y]));
            prop_assert!(anchors.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1));
        }
    }

    #[test]
    fn what_moved_is_no_anchor() {
        let a = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
        let b = [9, 10, 11, 12, 1, 2, 3, 4, 5, 6, 7, 8];
        let expected: Vec<(usize, usize)> = (0..5).map(|at| (at, at + 4)).collect();
        assert_eq!(find(&a, &b), expected);
    }
}
