//! Strongly connected components: what leads to each other.

/// The component of each node: nobody has an edge to a node of a later one.
///
/// Tarjan's algorithm (SIAM J. Comput. 1(2), 1972), which finds components in just that order; the
/// stack is explicit. Takes time linear in nodes and edges.
#[must_use]
pub fn components(edges: &[Vec<usize>]) -> Vec<usize> {
    let mut search = Search {
        edges,
        order: vec![0; edges.len()],
        low: vec![0; edges.len()],
        group: vec![None; edges.len()],
        next: 1,
        groups: 0,
        stack: Vec::new(),
    };
    for node in 0..edges.len() {
        search.visit(node);
    }
    let groups = search.group.into_iter();
    groups.map(Option::unwrap_or_default).collect()
}

struct Search<'e> {
    edges: &'e [Vec<usize>],
    /// Order of discovery, from 1; 0 means not seen.
    order: Vec<usize>,
    low: Vec<usize>,
    group: Vec<Option<usize>>,
    next: usize,
    groups: usize,
    stack: Vec<usize>,
}

#[expect(
    clippy::indexing_slicing,
    reason = "every index is a node of the same list of edges"
)]
impl Search<'_> {
    fn visit(&mut self, root: usize) {
        if self.order[root] != 0 {
            return;
        }
        let mut path = vec![(root, 0)];
        self.enter(root);
        while let Some((node, edge)) = path.pop() {
            if let Some(target) = self.edges[node].get(edge).copied() {
                path.push((node, edge + 1));
                if self.order[target] == 0 {
                    self.enter(target);
                    path.push((target, 0));
                } else if self.group[target].is_none() {
                    self.low[node] = self.low[node].min(self.order[target]);
                }
            } else {
                self.leave(node);
                if let Some((parent, _)) = path.last() {
                    self.low[*parent] = self.low[*parent].min(self.low[node]);
                }
            }
        }
    }

    fn enter(&mut self, node: usize) {
        self.order[node] = self.next;
        self.low[node] = self.next;
        self.next += 1;
        self.stack.push(node);
    }

    fn leave(&mut self, node: usize) {
        if self.low[node] != self.order[node] {
            return;
        }
        while let Some(member) = self.stack.pop() {
            self.group[member] = Some(self.groups);
            if member == node {
                break;
            }
        }
        self.groups += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_names_a_later_group() {
        for (edges, expected) in [
            (vec![], vec![]),
            // A chain, named from its end.
            (vec![vec![1], vec![2], vec![]], vec![2, 1, 0]),
            // 0 and 1 name each other, 2 names both.
            (vec![vec![1], vec![0], vec![0, 1]], vec![0, 0, 1]),
            (vec![vec![0], vec![0]], vec![0, 1]),
        ] {
            assert_eq!(components(&edges), expected, "{edges:?}");
        }
    }

    #[test]
    fn a_long_chain_does_not_overflow_the_stack() {
        let count = 100_000;
        let edges: Vec<_> = (0..count)
            .map(|at| if at + 1 < count { vec![at + 1] } else { vec![] })
            .collect();
        assert_eq!(components(&edges).first(), Some(&(count - 1)));
    }
}
