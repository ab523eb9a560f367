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

/// What a block is at the moment: given out, a hole, none at all, or free in an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State(u32);

impl State {
    /// Given out.
    pub const TAKEN: State = State(u32::MAX);
    /// Addresses that the memory was taken away from.
    pub const HOLE: State = State(u32::MAX - 1);
    /// The node stands for no block.
    const VACANT: State = State(u32::MAX - 2);

    /// In the bins of that order.
    #[inline]
    pub fn free_in(order: Order) -> State {
        State(order.0)
    }

    /// The order that it is free in.
    #[inline]
    pub fn order(self) -> Option<Order> {
        (self.0 < State::VACANT.0).then_some(Order(self.0))
    }
}

/// A block; lengths and positions in units of the alignment. Half a cache line: an operation looks
/// at several that lie anywhere.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
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
}

const _: () = assert!(size_of::<Node>() == 32);

impl Node {
    /// A block that is given out.
    pub fn taken(segment: u32, start: u32, units: u32) -> Node {
        Node {
            segment,
            start,
            units,
            before: None,
            after: None,
            state: State::TAKEN,
            list_before: None,
            list_after: None,
        }
    }
}

/// All nodes. Grows, never shrinks.
#[derive(Debug, Default)]
pub struct Slab {
    nodes: Vec<Node>,
    /// When each block was freed, as its stream counts (for orders other than idle).
    freed_at: Vec<u64>,
    vacant: Option<NodeId>,
}

impl Slab {
    /// When the block was freed, as its stream counts.
    #[inline]
    pub fn freed_at(&self, id: NodeId) -> u64 {
        self.freed_at[id.index()]
    }

    /// Notes when the block was freed.
    #[inline]
    pub fn set_freed_at(&mut self, id: NodeId, tick: u64) {
        let known = &mut self.freed_at[id.index()];
        // Nearly always the same; what is not written need not be brought near.
        if *known != tick {
            *known = tick;
        }
    }

    /// Puts a node in; none if there are four thousand million already.
    #[inline]
    pub fn insert(&mut self, node: Node) -> Option<NodeId> {
        if let Some(id) = self.vacant {
            self.vacant = self[id].list_after;
            self[id] = node;
            return Some(id);
        }
        let id = NodeId::at(self.nodes.len())?;
        self.nodes.push(node);
        self.freed_at.push(0);
        Some(id)
    }

    /// Makes the node free for another block.
    #[inline]
    pub fn remove(&mut self, id: NodeId) {
        let vacant = self.vacant;
        let node = &mut self[id];
        node.state = State::VACANT;
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
