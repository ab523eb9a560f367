//! From what a parser visits to arrays: nodes are entered and left, put into the order of the text, and
//! given the tokens that are theirs.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::tensors::{AstTensors, NONE};

/// A node as it was visited.
struct Visited {
    kind: u32,
    start: u32,
    end: u32,
    parent: u32,
}

/// Nodes while a tree is walked.
#[derive(Default)]
pub struct Builder {
    nodes: Vec<Visited>,
    open: Vec<u32>,
}

/// Bytes of a token.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    pub start: u32,
    pub end: u32,
}

impl Builder {
    pub fn enter(&mut self, kind: u32, start: u32, end: u32) {
        let parent = self.open.last().copied().unwrap_or(NONE);
        let number = u32::try_from(self.nodes.len()).unwrap_or(NONE);
        self.nodes.push(Visited {
            kind,
            start,
            end: end.max(start),
            parent,
        });
        self.open.push(number);
    }

    pub fn leave(&mut self) {
        self.open.pop();
    }

    /// The arrays. Children stand where they stand in the text, whichever was visited first.
    pub fn finish(mut self, text: &str, tokens: &[Token]) -> AstTensors {
        self.cover_children();
        let mut tensors = match self.is_in_text_order() {
            true => self.as_visited(),
            false => self.reordered(),
        };
        hash_tokens(&mut tensors, text, tokens);
        tensors
    }

    /// Whether every node begins where its elder siblings do, or behind: so for nearly every text.
    fn is_in_text_order(&self) -> bool {
        let mut last = vec![0; self.nodes.len()];
        self.nodes.iter().all(|node| {
            let Some(last) = last.get_mut(node.parent as usize) else {
                return true;
            };
            std::mem::replace(last, node.start) <= node.start
        })
    }

    fn as_visited(&self) -> AstTensors {
        let mut tensors = AstTensors::with_capacity(self.nodes.len());
        for node in &self.nodes {
            tensors.push(node.kind, node.parent, (node.start, node.end));
        }
        tensors
    }

    fn reordered(&self) -> AstTensors {
        let order = self.in_text_order();
        let mut place = vec![NONE; order.len()];
        for (new, old) in (0_u32..).zip(&order) {
            place[*old as usize] = new;
        }
        let mut tensors = AstTensors::with_capacity(order.len());
        for old in &order {
            let node = &self.nodes[*old as usize];
            let parent = match node.parent {
                NONE => NONE,
                parent => place[parent as usize],
            };
            tensors.push(node.kind, parent, (node.start, node.end));
        }
        tensors
    }

    /// A node has at least the bytes of its children.
    fn cover_children(&mut self) {
        for child in (0..self.nodes.len()).rev() {
            let Visited {
                start, end, parent, ..
            } = self.nodes[child];
            if let Some(parent) = self.nodes.get_mut(parent as usize) {
                parent.start = parent.start.min(start);
                parent.end = parent.end.max(end);
            }
        }
    }

    /// Numbers of nodes, each before its children, those by their first byte.
    fn in_text_order(&self) -> Vec<u32> {
        let mut children: Vec<(u32, u32, u32)> = self
            .nodes
            .iter()
            .zip(0_u32..)
            .map(|(node, number)| (node.parent.wrapping_add(1), node.start, number))
            .collect();
        // By parent, the root's lack of one first, then by place; of one place as visited.
        children.sort_unstable();
        let mut first = vec![0_usize; self.nodes.len() + 2];
        for (parent, ..) in &children {
            first[*parent as usize + 1] += 1;
        }
        for at in 1..first.len() {
            first[at] += first[at - 1];
        }
        let of = |parent: usize| &children[first[parent]..first[parent + 1]];
        let mut order = Vec::with_capacity(self.nodes.len());
        let mut waiting: Vec<u32> = of(0).iter().rev().map(|child| child.2).collect();
        while let Some(next) = waiting.pop() {
            order.push(next);
            waiting.extend(of(next as usize + 1).iter().rev().map(|child| child.2));
        }
        order
    }
}

/// Gives each token to the innermost node around it. Tokens are in order and do not overlap.
fn hash_tokens(tensors: &mut AstTensors, text: &str, tokens: &[Token]) {
    let (mut current, mut next) = (0_usize, 1_usize);
    if tensors.is_empty() {
        return;
    }
    for token in tokens {
        while tensors
            .starts
            .get(next)
            .is_some_and(|start| *start <= token.start)
        {
            current = next;
            next += 1;
        }
        while tensors.ends[current] <= token.start && tensors.parents[current] != NONE {
            current = tensors.parents[current] as usize;
        }
        let bytes = text
            .as_bytes()
            .get(token.start as usize..token.end as usize);
        let [low, high] = tensors.token_hashes[current];
        let seed = (u64::from(high) << 32) | u64::from(low);
        let hash = xxh3_64_with_seed(bytes.unwrap_or_default(), seed);
        tensors.token_hashes[current] = [hash as u32, (hash >> 32) as u32];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes by kind, in the order of the arrays.
    fn order(of: Builder) -> Vec<u32> {
        let tensors = of.finish("0123456789", &[]);
        tensors.validate().unwrap();
        tensors.kinds
    }

    fn visited(children: &[(u32, u32, u32)]) -> Builder {
        let mut builder = Builder::default();
        builder.enter(0, 0, 10);
        for (kind, start, end) in children {
            builder.enter(*kind, *start, *end);
            builder.leave();
        }
        builder.leave();
        builder
    }

    #[test]
    fn children_stand_where_they_stand_in_the_text() {
        let in_order = visited(&[(1, 2, 4), (2, 4, 6), (3, 6, 6), (4, 6, 9)]);
        assert!(in_order.is_in_text_order());
        let both = [in_order.as_visited(), in_order.reordered()];
        assert_eq!(both[0], both[1]);
        assert_eq!(order(in_order), [0, 1, 2, 3, 4]);
        let otherwise = visited(&[(1, 4, 6), (2, 2, 4)]);
        assert!(!otherwise.is_in_text_order());
        assert_eq!(order(otherwise), [0, 2, 1]);
    }
}
