//! A tree of nodes, to arrays and back.

use crate::{
    error::AstError,
    tensors::{AstTensors, NONE},
};

/// A node with everything in it.
///
/// ```
/// use gpu_ast::{AstTensors, SourceLanguage};
///
/// # fn main() -> Result<(), gpu_ast::AstError> {
/// let arrays = AstTensors::parse("x = f(1)\n", SourceLanguage::Python)?;
/// let tree = arrays.to_tree()?;
/// assert_eq!((tree.start, tree.end, tree.children.len()), (0, 9, 1));
/// assert_eq!(AstTensors::from_tree(&tree)?, arrays);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default, PartialEq, Eq)]
pub struct AstNode {
    /// Which kind it is.
    pub kind: u32,
    /// Hash of its own tokens.
    pub token_hash: [u32; 2],
    /// Its first byte.
    pub start: u32,
    /// One past its last byte.
    pub end: u32,
    /// What is in it, in order.
    pub children: Vec<AstNode>,
}

impl AstNode {
    /// A node of these bytes, with no tokens and nothing in it.
    #[must_use]
    pub fn new(kind: u32, (start, end): (u32, u32)) -> AstNode {
        AstNode {
            kind,
            token_hash: [0; 2],
            start,
            end,
            children: Vec::new(),
        }
    }
}

impl AstTensors {
    /// The arrays of a tree.
    ///
    /// # Errors
    /// [`AstError::NoTree`]: a kind that is none, a child outside of its parent's bytes.
    pub fn from_tree(root: &AstNode) -> Result<AstTensors, AstError> {
        let mut tensors = AstTensors::default();
        // Not by recursion: nobody knows how deep a tree is.
        let mut waiting = vec![(root, NONE)];
        while let Some((node, parent)) = waiting.pop() {
            let number = u32::try_from(tensors.len()).unwrap_or(NONE);
            tensors.push(node.kind, parent, (node.start, node.end));
            if let Some(hash) = tensors.token_hashes.last_mut() {
                *hash = node.token_hash;
            }
            waiting.extend(node.children.iter().rev().map(|child| (child, number)));
        }
        tensors.validate()?;
        Ok(tensors)
    }

    /// The tree of these arrays.
    ///
    /// # Errors
    /// As [`AstTensors::validate`].
    pub fn to_tree(&self) -> Result<AstNode, AstError> {
        self.validate()?;
        let node = |number: usize| AstNode {
            kind: self.kinds[number],
            token_hash: self.token_hashes[number],
            start: self.starts[number],
            end: self.ends[number],
            children: Vec::new(),
        };
        let mut built: Vec<AstNode> = (0..self.len()).map(node).collect();
        // The last first, so that each has all of its own when it goes to its parent.
        for number in (1..self.len()).rev() {
            let mut child = built.pop().unwrap_or_default();
            child.children.reverse();
            let parent = self.parents[number] as usize;
            built[parent].children.push(child);
        }
        let mut root = built.pop().ok_or(AstError::NoTree("there is no node"))?;
        root.children.reverse();
        Ok(root)
    }
}

impl Drop for AstNode {
    /// Not by recursion either.
    fn drop(&mut self) {
        let mut waiting = std::mem::take(&mut self.children);
        while let Some(mut node) = waiting.pop() {
            waiting.append(&mut node.children);
        }
    }
}
