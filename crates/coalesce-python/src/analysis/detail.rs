//! How much the analysis of a file takes in.

/// How much of a file is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// No uses of names, and nothing of what executing the file does.
    Structure,
    /// Without those in types that stand in quotes.
    Uses,
    /// All of it.
    Annotations,
}
