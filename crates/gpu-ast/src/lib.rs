//! Syntax trees of Rust and Python as flat arrays ([`AstTensors`]), and in device memory
//! ([`GpuAstManager`]).
//!
//! | you want | take |
//! | --- | --- |
//! | a file's tree as arrays | [`AstTensors::parse`] |
//! | a tree of nodes, to arrays and back | [`AstNode`], [`AstTensors::from_tree`], [`AstTensors::to_tree`] |
//! | trees in device memory, each file once, the least recently used first to go | [`GpuAstManager`], [`LoadAst`] |
//! | how many nodes of which kind, equal subtrees | [`kind_histogram`], [`subtree_hashes`]; on a device [`kernels`] |
//!
//! # The arrays
//! Nodes stand in the order of the text, each before its children. All arrays have one length, and
//! [`NONE`] stands for no node.
//!
//! | array | type | meaning |
//! | --- | --- | --- |
//! | `kinds` | `u32` | which kind of node; [`kind_name`] |
//! | `parents`, `first_children`, `next_siblings` | `u32` | numbers of nodes |
//! | `depths` | `u32` | 0 for the root |
//! | `token_hashes` | two `u32` | XXH3 of the tokens that are this node's and no child's, without spaces and plain comments (Rust's documentation comments are attributes to syn, and count); zero where there are none |
//! | `starts`, `ends` | `u32` | bytes of the file, as it lies on disk |
//!
//! That is 36 bytes a node; in device memory it is 40 and a head of 16 ([`AstTensors::to_words`]).
//!
//! The parsers are those that the toolkit uses: ruff's for Python, syn for Rust. What is within a macro's
//! brackets is tokens to syn, and so it is here: they count for the macro's node. Most of the time is the parser's: of 150,000
//! lines of Rust syn alone takes 0.19 s on two cores, which leaves next to nothing of 0.2 s for the arrays; of Python they take 0.07 s
//! (`docs/evidence/runtime.md`). A text is parsed on a thread with
//! 512 MiB of stack, of which up to 16 are kept: addresses, not memory, but where those are limited (`RLIMIT_AS`) a
//! text may find no thread ([`AstError::NoThread`]).
//!
//! ```
//! use gpu_ast::{AstTensors, SourceLanguage, kind_name};
//!
//! # fn main() -> Result<(), gpu_ast::AstError> {
//! let text = "def area(r):\n    return 3 * r * r\n";
//! let tree = AstTensors::parse(text, SourceLanguage::Python)?;
//! let place = tree.kinds.iter().position(|kind| kind_name(*kind) == Some("StmtReturn"));
//! let bytes = place.and_then(|node| tree.range(node));
//! assert_eq!(bytes.and_then(|bytes| text.get(bytes)), Some("return 3 * r * r"));
//! # Ok(())
//! # }
//! ```

mod analysis;
mod build;
mod depth;
mod ends;
mod error;
pub mod kernels;
mod kinds;
mod lexer;
mod load;
mod manager;
mod python;
mod rust;
mod settings;
mod tensors;
mod tree;
mod words;

pub use analysis::{SubtreeHash, kind_histogram, subtree_hashes};
pub use error::AstError;
pub use kinds::{KINDS, SourceLanguage, kind_name};
pub use load::LoadAst;
pub use manager::{AstLimits, AstStatistics, GpuAst, GpuAstManager};
pub use settings::AstSettings;
pub use tensors::{AstTensors, NONE};
pub use tree::AstNode;
