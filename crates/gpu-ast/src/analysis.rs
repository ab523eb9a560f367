//! What is asked of trees, on the processor: the same numbers as the kernels' in `kernels/`.

use crate::{kinds::KINDS, tensors::AstTensors};

/// Hash of a node with everything in it: its kind, its tokens, and its children's hashes in order. Equal
/// text laid out otherwise has equal hashes; bytes and places have no part in it.
pub type SubtreeHash = [u32; 2];

/// How many nodes there are of each kind, [`KINDS`] numbers.
///
/// ```
/// use gpu_ast::{AstTensors, SourceLanguage, kind_histogram, kind_name};
///
/// # fn main() -> Result<(), gpu_ast::AstError> {
/// let tree = AstTensors::parse("f(1)\nf(2)\n", SourceLanguage::Python)?;
/// let counts = kind_histogram(&tree);
/// let calls = (0..).zip(&counts).find(|(kind, _)| kind_name(*kind) == Some("ExprCall"));
/// assert_eq!(calls.map(|(_, count)| *count), Some(2));
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn kind_histogram(tensors: &AstTensors) -> Vec<u32> {
    let mut counts = vec![0_u32; KINDS as usize];
    for kind in &tensors.kinds {
        if let Some(count) = counts.get_mut(*kind as usize) {
            *count += 1;
        }
    }
    counts
}

/// The hash of each node's subtree.
///
/// ```
/// use gpu_ast::{AstTensors, SourceLanguage, subtree_hashes};
///
/// # fn main() -> Result<(), gpu_ast::AstError> {
/// let hash = |text| -> Result<_, gpu_ast::AstError> {
///     Ok(subtree_hashes(&AstTensors::parse(text, SourceLanguage::Rust)?)[0])
/// };
/// assert_eq!(hash("fn f() { g(1) }")?, hash("fn f() {\n    g( 1 )\n}")?);
/// assert_ne!(hash("fn f() { g(1) }")?, hash("fn f() { g(2) }")?);
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn subtree_hashes(tensors: &AstTensors) -> Vec<SubtreeHash> {
    let mut hashes = vec![[0; 2]; tensors.len()];
    // Children come after their parents.
    for node in (0..tensors.len()).rev() {
        let [low, high] = tensors.token_hashes[node];
        let kind = tensors.kinds[node];
        let own = [
            mix(mix(SEEDS[0], kind), low),
            mix(mix(SEEDS[1], kind), high),
        ];
        let children = tensors.children(node);
        hashes[node] = children.fold(own, |hash: SubtreeHash, child| {
            let [low, high]: SubtreeHash = hashes[child];
            [mix(hash[0], low), mix(hash[1], high)]
        });
    }
    hashes
}

/// What the two halves begin with.
const SEEDS: [u32; 2] = [0x9e37_79b9, 0x85eb_ca6b];

/// One step of MurmurHash3 for 32 bits (Austin Appleby, public domain), and its end's mixing: a kernel
/// has 32-bit numbers everywhere.
const fn mix(hash: u32, word: u32) -> u32 {
    let word = word.wrapping_mul(0xcc9e_2d51).rotate_left(15);
    let hash = (hash ^ word.wrapping_mul(0x1b87_3593)).rotate_left(13);
    let hash = hash.wrapping_mul(5).wrapping_add(0xe654_6b64);
    let hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    let hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}
