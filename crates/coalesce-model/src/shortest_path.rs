//! The shortest way through a graph.

use std::collections::{BTreeMap, VecDeque, btree_map::Entry};

/// The nodes on a shortest way from `start` to a node that `is_goal` accepts, both included; of several as short the
/// one whose successors come first. `None` where there is none.
pub fn shortest_path<Successors: IntoIterator<Item = usize>>(
    start: usize,
    successors: impl Fn(usize) -> Successors,
    is_goal: impl Fn(usize) -> bool,
) -> Option<Vec<usize>> {
    let mut came_from = BTreeMap::from([(start, None)]);
    let mut waiting = VecDeque::from([start]);
    while let Some(node) = waiting.pop_front() {
        if is_goal(node) {
            let back = std::iter::successors(Some(node), |at| came_from.get(at).copied()?);
            let mut path: Vec<usize> = back.collect();
            path.reverse();
            return Some(path);
        }
        for next in successors(node) {
            if let Entry::Vacant(entry) = came_from.entry(next) {
                entry.insert(Some(node));
                waiting.push_back(next);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_are_the_shortest() {
        let edges = [vec![1, 3], vec![2], vec![3], vec![0]];
        for (from, to, expected) in [
            (0, 3, Some(vec![0, 3])),
            (1, 0, Some(vec![1, 2, 3, 0])),
            (2, 2, Some(vec![2])),
            (3, 9, None),
        ] {
            let next = |node: usize| edges.get(node).cloned().unwrap_or_default();
            let found = shortest_path(from, next, |node| node == to);
            assert_eq!(found, expected, "{from} to {to}");
        }
    }
}
