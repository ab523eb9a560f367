//! What can go wrong.

use std::path::PathBuf;

use core_gpu_memory::{AllocError, InsertError};

/// Why there is no tree.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AstError {
    /// The parser does not take the text.
    #[error("line {line}: {message}")]
    Syntax {
        /// Counted from 1.
        line: usize,
        /// What the parser says.
        message: String,
    },
    /// Nested further than a parser that recurses can be trusted with.
    #[error("line {line}: nested too deeply to be parsed")]
    TooDeep {
        /// Counted from 1.
        line: usize,
    },
    /// The system gives no thread with a stack to parse on: 512 MiB of addresses, of which little is used.
    #[error("no thread to parse on: {0}")]
    NoThread(std::io::Error),
    /// The parser panicked: a mistake of the parser's, not of the text's.
    #[error("the parser gave up on this text")]
    GaveUp,
    /// A file of 4 GiB and more.
    #[error("a text of {0} bytes is too long")]
    TooLong(usize),
    /// Arrays that are no tree.
    #[error("these arrays are no tree: {0}")]
    NoTree(&'static str),
    /// The file is neither Rust nor Python by its name.
    #[error("{0} is neither `.rs` nor `.py`")]
    Language(PathBuf),
    /// The file could not be read as UTF-8.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// It could not be sent to the device.
    #[error(transparent)]
    Insert(#[from] InsertError),
    /// There is no memory for it, or the device failed.
    #[error(transparent)]
    Memory(#[from] AllocError),
}

/// The line that a byte is on, counted from 1.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}
