//! Copies across repositories. Each repository's fingerprints are a Parquet file; one SQL query, which an
//! engine for such queries answers, names candidates; only those are read and compared as `audit` compares.
//!
//! Nothing is joined here: that is the engine's work, so that a thousand repositories are asked like ten.

pub mod answer;
pub mod closer;
pub mod engine;
mod fingerprints;
pub mod rows;
#[cfg(feature = "parquet")]
pub mod write;

use thiserror::Error as ThisError;

/// What goes wrong.
#[derive(Debug, ThisError)]
pub enum Error {
    /// A tree cannot be read.
    #[error("{0}")]
    Tree(String),
    /// A file cannot be read or written.
    #[error("{path}: {error}")]
    File {
        /// Which.
        path: String,
        /// Why.
        error: std::io::Error,
    },
    /// The Parquet file cannot be written.
    #[error("the Parquet file cannot be written: {0}")]
    Parquet(String),
    /// There is no engine, or it failed.
    #[error("{0}")]
    Engine(String),
}

impl Error {
    fn file(path: &std::path::Path, error: std::io::Error) -> Self {
        Self::File {
            path: path.display().to_string(),
            error,
        }
    }
}
