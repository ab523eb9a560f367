//! Blocks as nodes of a slab: neighbours in the segment, and neighbours in a list of free blocks.

use std::num::NonZeroU32;

/// Names a block while it exists. Numbers are used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NodeId(NonZeroU32);

impl NodeId {
    /// Position in the slab.
    #[inline]
    pub fn index(self) -> usize {
        self.0.get() as usize - 1
    }

    fn at(index: usize) -> Option<NodeId> {
        let number = u32::try_from(index).ok()?.checked_add(1)?;
        NonZeroU32::new(number).map(NodeId)
    }
}

/// Which work has to be done before a free block may be touched: none, or what is on one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Order(pub u32);

impl Order {
    /// No work: any stream may have it at once.
    pub const IDLE: Order = Order(0);
}

/// What a block is at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Given out.
    Taken,
    /// In the bins of that order.
    Free(Order),
    /// Addresses that the memory was taken away from.
    Hole,
    /// The node stands for no block.
    Vacant,
}

/// A block; lengths and positions in units of the alignment.
#[derive(Debug, Clone, Copy)]
pub struct Node {
    pub segment: u32,
    pub start: u32,
    pub units: u32,
    pub before: Option<NodeId>,
    pub after: Option<NodeId>,
    pub state: State,
    /// Neighbours in the list of its bin while it is free.
    pub list_before: Option<NodeId>,
    /// Also the list of vacant nodes.
    pub list_after: Option<NodeId>,
    /// When the block was freed, as its stream counts (for orders other than idle).
    pub freed_at: u64,
}

impl Node {
    /// A block that is given out.
    pub fn taken(segment: u32, start: u32, units: u32) -> Node {
        Node {
            segment,
            start,
            units,
            before: None,
            after: None,
            state: State::Taken,
            list_before: None,
            list_after: None,
            freed_at: 0,
        }
    }
}

/// All nodes. Grows, never shrinks.
#[derive(Debug, Default)]
pub struct Slab {
    nodes: Vec<Node>,
    vacant: Option<NodeId>,
}

impl Slab {
    /// Puts a node in; none if there are four thousand million already.
    pub fn insert(&mut self, node: Node) -> Option<NodeId> {
        if let Some(id) = self.vacant {
            self.vacant = self[id].list_after;
            self[id] = node;
            return Some(id);
        }
        let id = NodeId::at(self.nodes.len())?;
        self.nodes.push(node);
        Some(id)
    }

    /// Makes the node free for another block.
    pub fn remove(&mut self, id: NodeId) {
        let vacant = self.vacant;
        let node = &mut self[id];
        node.state = State::Vacant;
        node.list_after = vacant;
        self.vacant = Some(id);
    }
}

impl std::ops::Index<NodeId> for Slab {
    type Output = Node;
    #[inline]
    fn index(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }
}

impl std::ops::IndexMut<NodeId> for Slab {
    #[inline]
    fn index_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.index()]
    }
}
