//! From what a parser visits to arrays: nodes are entered and left, put into the order of the text, and
//! given the tokens that are theirs.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::tensors::{AstTensors, NONE};

/// A node that was entered and not left yet.
#[derive(Clone, Copy)]
struct Open {
    number: u32,
    last_child: u32,
    /// Where that begins.
    last_start: u32,
}

/// Nodes while a tree is walked. They are arrays from the beginning: each is pushed when it is entered, and linked
/// when it is left.
pub struct Builder {
    tensors: AstTensors,
    open: Vec<Open>,
    /// A node began before an elder sibling.
    is_out_of_order: bool,
}

/// Bytes of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    pub start: u32,
    pub end: u32,
}

impl Builder {
    /// For about so many nodes.
    pub fn with_capacity(nodes: usize) -> Self {
        Self {
            tensors: AstTensors::with_capacity(nodes),
            open: Vec::with_capacity(64),
            is_out_of_order: false,
        }
    }

    /// A node of these bytes at least; it has those of its children besides.
    pub fn enter(&mut self, kind: u32, start: u32, end: u32) {
        self.enter_nowhere(kind);
        self.cover(start, end.max(start));
    }

    /// A node that stands where [`Builder::cover`] and its children say. Where none does, it is none.
    pub fn enter_nowhere(&mut self, kind: u32) {
        let parent = self.open.last().map_or(NONE, |open| open.number);
        let number = u32::try_from(self.tensors.len()).unwrap_or(NONE);
        let depth = u32::try_from(self.open.len()).unwrap_or(NONE);
        self.tensors.add(kind, parent, depth, (NONE, 0));
        self.open.push(Open {
            number,
            last_child: NONE,
            last_start: 0,
        });
    }

    /// The node that was entered last and not left has these bytes.
    pub fn cover(&mut self, start: u32, end: u32) {
        if let Some(open) = self.open.last() {
            let at = open.number as usize;
            let (from, to) = (&mut self.tensors.starts[at], &mut self.tensors.ends[at]);
            (*from, *to) = ((*from).min(start), (*to).max(end));
        }
    }

    pub fn leave(&mut self) {
        let Some(open) = self.open.pop() else {
            return;
        };
        let at = open.number as usize;
        let (start, end) = (self.tensors.starts[at], self.tensors.ends[at]);
        if start == NONE {
            // What is in it stands nowhere either, and has gone: it is the last.
            self.tensors.pop();
            return;
        }
        let Some(around) = self.open.last_mut() else {
            return;
        };
        match around.last_child {
            NONE => self.tensors.first_children[around.number as usize] = open.number,
            elder => self.tensors.next_siblings[elder as usize] = open.number,
        }
        self.is_out_of_order |= start < around.last_start;
        (around.last_child, around.last_start) = (open.number, start);
        self.cover(start, end);
    }

    /// The arrays. Children stand where they stand in the text, whichever was visited first.
    pub fn finish(self, text: &str, tokens: impl IntoIterator<Item = Token>) -> AstTensors {
        let mut tensors = match self.is_out_of_order {
            true => in_text_order(&self.tensors),
            false => self.tensors,
        };
        hash_tokens(&mut tensors, text, tokens);
        tensors.shrink();
        tensors
    }
}

/// The same tree, the children of each node by their first byte; of one place as they were visited.
fn in_text_order(tensors: &AstTensors) -> AstTensors {
    let mut sorted = AstTensors::with_capacity(tensors.len());
    let mut children = Vec::new();
    let mut waiting = vec![(0_usize, NONE)];
    while let Some((node, parent)) = waiting.pop() {
        let number = u32::try_from(sorted.len()).unwrap_or(NONE);
        let range = (tensors.starts[node], tensors.ends[node]);
        sorted.push(tensors.kinds[node], parent, range);
        children.extend(tensors.children(node));
        children.sort_by_key(|child| tensors.starts[*child]);
        waiting.extend(children.drain(..).rev().map(|child| (child, number)));
    }
    sorted
}

/// Gives each token to the innermost node around it. Tokens are in order and do not overlap.
fn hash_tokens(tensors: &mut AstTensors, text: &str, tokens: impl IntoIterator<Item = Token>) {
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

    /// The arrays of a root of ten bytes with these children.
    fn visited(children: &[(u32, u32, u32)]) -> AstTensors {
        let mut builder = Builder::with_capacity(0);
        builder.enter(0, 0, 10);
        for (kind, start, end) in children {
            builder.enter(*kind, *start, *end);
            builder.leave();
        }
        builder.leave();
        let in_order = children.is_sorted_by_key(|(_, start, _)| *start);
        assert_eq!(builder.is_out_of_order, !in_order);
        let tensors = builder.finish("0123456789", []);
        tensors.validate().unwrap();
        tensors
    }

    #[test]
    fn children_stand_where_they_stand_in_the_text() {
        let children = [(1, 2, 4), (2, 4, 6), (3, 6, 6), (4, 6, 9)];
        assert_eq!(visited(&children).kinds, [0, 1, 2, 3, 4]);
        assert_eq!(in_text_order(&visited(&children)), visited(&children));
        assert_eq!(visited(&[(1, 4, 6), (2, 2, 4)]).kinds, [0, 2, 1]);
    }

    #[test]
    fn a_node_stands_where_its_children_do_and_nowhere_without_any() {
        let mut builder = Builder::with_capacity(0);
        builder.enter(0, 0, 10);
        for (around, within) in [(1, Some((3, 5))), (2, None), (3, Some((6, 7)))] {
            builder.enter_nowhere(around);
            builder.enter_nowhere(9);
            if let Some((start, end)) = within {
                builder.cover(start, end);
            }
            builder.leave();
            builder.leave();
        }
        builder.leave();
        let tensors = builder.finish("0123456789", []);
        tensors.validate().unwrap();
        assert_eq!(tensors.kinds, [0, 1, 9, 3, 9]);
        assert_eq!((tensors.starts[3], tensors.ends[3]), (6, 7));
    }
}
