//! A tree as arrays.

use std::ops::Range;

use crate::{
    error::AstError,
    kinds::{KINDS, SourceLanguage},
    python, rust,
};

/// No node.
pub const NONE: u32 = u32::MAX;

/// A tree as arrays of one length: see the crate's page for each. The root is node 0; a text without any
/// node does not exist, for the file itself is one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AstTensors {
    /// Which kind each node is.
    pub kinds: Vec<u32>,
    /// The node around each; [`NONE`] for the root.
    pub parents: Vec<u32>,
    /// The first node within each, or [`NONE`].
    pub first_children: Vec<u32>,
    /// The next node of the same parent, or [`NONE`].
    pub next_siblings: Vec<u32>,
    /// Nodes around each.
    pub depths: Vec<u32>,
    /// Hash of the tokens that are each one's own: the lower half, the upper half.
    pub token_hashes: Vec<[u32; 2]>,
    /// The first byte of each.
    pub starts: Vec<u32>,
    /// One past the last byte of each.
    pub ends: Vec<u32>,
}

impl AstTensors {
    /// Bytes that the arrays have for each node.
    pub const BYTES_PER_NODE: usize = 36;

    /// The tree of a text.
    ///
    /// # Errors
    /// [`AstError::Syntax`], [`AstError::TooDeep`], [`AstError::TooLong`]; [`AstError::NoThread`] and
    /// [`AstError::GaveUp`], which say nothing of the text.
    pub fn parse(text: &str, language: SourceLanguage) -> Result<AstTensors, AstError> {
        if u32::try_from(text.len()).is_err() {
            return Err(AstError::TooLong(text.len()));
        }
        let depth = crate::depth::check(text)?;
        let own: Box<str> = text.into();
        crate::depth::on_a_large_stack(depth, move || match language {
            SourceLanguage::Python => python::parse(&own),
            SourceLanguage::Rust => rust::parse(&own),
        })?
    }

    /// How many nodes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// The bytes of a node, in the file.
    #[must_use]
    pub fn range(&self, node: usize) -> Option<Range<usize>> {
        Some(*self.starts.get(node)? as usize..*self.ends.get(node)? as usize)
    }

    /// The children of a node, in order.
    pub fn children(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let at = |list: &[u32], node: usize| {
            let next = list.get(node).copied().filter(|next| *next != NONE);
            next.map(|next| next as usize)
        };
        let first = at(&self.first_children, node);
        std::iter::successors(first, move |child| at(&self.next_siblings, *child))
    }

    pub(crate) fn with_capacity(nodes: usize) -> AstTensors {
        AstTensors {
            kinds: Vec::with_capacity(nodes),
            parents: Vec::with_capacity(nodes),
            first_children: Vec::with_capacity(nodes),
            next_siblings: Vec::with_capacity(nodes),
            depths: Vec::with_capacity(nodes),
            token_hashes: Vec::with_capacity(nodes),
            starts: Vec::with_capacity(nodes),
            ends: Vec::with_capacity(nodes),
        }
    }

    /// The root has every byte of the file, those before the first token and after the last too.
    pub(crate) fn root_is_file(&mut self, text: &str) {
        if let (Some(start), Some(end)) = (self.starts.first_mut(), self.ends.first_mut()) {
            (*start, *end) = (0, u32::try_from(text.len()).unwrap_or(u32::MAX));
        }
    }

    /// A node after all that come before it, its parent among them, with no tokens yet.
    pub(crate) fn push(&mut self, kind: u32, parent: u32, range: (u32, u32)) {
        let number = u32::try_from(self.len()).unwrap_or(NONE);
        let mut depth = 0;
        if let Some(around) = self.depths.get(parent as usize) {
            depth = around + 1;
            self.link(number, parent);
        }
        self.add(kind, parent, depth, range);
    }

    /// The same for who links it.
    pub(crate) fn add(&mut self, kind: u32, parent: u32, depth: u32, (start, end): (u32, u32)) {
        self.kinds.push(kind);
        self.parents.push(parent);
        self.first_children.push(NONE);
        self.next_siblings.push(NONE);
        self.depths.push(depth);
        self.token_hashes.push([0; 2]);
        self.starts.push(start);
        self.ends.push(end);
    }

    /// Takes back the last node, which nothing is linked to.
    pub(crate) fn pop(&mut self) {
        self.kinds.pop();
        self.parents.pop();
        self.first_children.pop();
        self.next_siblings.pop();
        self.depths.pop();
        self.token_hashes.pop();
        self.starts.pop();
        self.ends.pop();
    }

    /// Keeps no more memory than the nodes take.
    pub(crate) fn shrink(&mut self) {
        self.kinds.shrink_to_fit();
        self.parents.shrink_to_fit();
        self.first_children.shrink_to_fit();
        self.next_siblings.shrink_to_fit();
        self.depths.shrink_to_fit();
        self.token_hashes.shrink_to_fit();
        self.starts.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    /// Makes a new node the last child: the one before it is around the last node that was pushed.
    fn link(&mut self, number: u32, parent: u32) {
        let first = &mut self.first_children[parent as usize];
        if *first == NONE {
            *first = number;
            return;
        }
        let mut before = number - 1;
        while self.parents[before as usize] != parent {
            before = self.parents[before as usize];
        }
        self.next_siblings[before as usize] = number;
    }

    /// Whether the arrays are a tree: one root, each node after its parent and within its bytes, links
    /// and depths as the parents say.
    ///
    /// # Errors
    /// [`AstError::NoTree`], with what does not fit.
    pub fn validate(&self) -> Result<(), AstError> {
        let nodes = self.len();
        let lengths = [
            self.parents.len(),
            self.first_children.len(),
            self.next_siblings.len(),
            self.depths.len(),
            self.token_hashes.len(),
            self.starts.len(),
            self.ends.len(),
        ];
        if lengths.iter().any(|length| *length != nodes) || nodes >= NONE as usize {
            return Err(AstError::NoTree("the arrays differ in length"));
        }
        if self.parents.first() != Some(&NONE) {
            return Err(AstError::NoTree("the first node is no root"));
        }
        let mut again = AstTensors::with_capacity(nodes);
        let mut last = 0_usize;
        for node in 0..nodes {
            let parent = self.parents[node] as usize;
            if node > 0 {
                if parent >= node || !again.is_around(parent, last) {
                    return Err(AstError::NoTree("a node does not follow its parent"));
                }
                let inside = self.starts[parent] <= self.starts[node];
                if !inside || self.ends[node] > self.ends[parent] {
                    return Err(AstError::NoTree("a node has bytes that its parent has not"));
                }
            }
            if self.starts[node] > self.ends[node] || self.kinds[node] >= KINDS {
                return Err(AstError::NoTree("a node has no such kind or range"));
            }
            again.push(
                self.kinds[node],
                self.parents[node],
                (self.starts[node], self.ends[node]),
            );
            last = node;
        }
        let same = again.first_children == self.first_children
            && again.next_siblings == self.next_siblings
            && again.depths == self.depths;
        same.then_some(()).ok_or(AstError::NoTree(
            "links or depths are not as the parents say",
        ))
    }

    /// Whether a node is the other one or around it.
    fn is_around(&self, node: usize, mut other: usize) -> bool {
        while other > node {
            other = self.parents[other] as usize;
        }
        other == node
    }
}
