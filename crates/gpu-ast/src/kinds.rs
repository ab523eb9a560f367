//! Kinds of nodes: a number for each, the same for as long as this version lives. Python's begin at 0,
//! Rust's at [`RUST`].

use crate::rust::RUST_KINDS;

/// Kinds are less than this.
pub const KINDS: u32 = 512;
/// The first kind of Rust's.
pub(crate) const RUST: u32 = 256;

/// A language that trees are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceLanguage {
    /// Python 3.
    Python,
    /// Rust, edition 2024.
    Rust,
}

impl SourceLanguage {
    /// By the name of a file.
    #[must_use]
    pub fn of(path: &std::path::Path) -> Option<SourceLanguage> {
        match path.extension()?.to_str()? {
            "py" | "pyi" => Some(SourceLanguage::Python),
            "rs" => Some(SourceLanguage::Rust),
            _ => None,
        }
    }
}

/// The name of a kind, as its parser has it; none for a number that is no kind.
#[must_use]
pub fn kind_name(kind: u32) -> Option<&'static str> {
    match kind.checked_sub(RUST) {
        None => crate::python::kind_name(kind),
        Some(rust) => RUST_KINDS.get(rust as usize).copied(),
    }
}
