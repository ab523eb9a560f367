//! Each place of a file that names something, resolved: what the rewriter and `references` read.

use coalesce_model::{ByteSpan, Certainty, Form};

use crate::{
    facts::{Origin, ScopeId},
    resolve::{BodyId, FileId, ModuleId, Target},
};

/// Where a [`PathUse`] stands in the facts of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UseSite {
    /// Index into `SourceFacts::paths`.
    Path(u32),
    /// Index into `SourceFacts::leaves`.
    Leaf(u32),
    /// Index into `SourceFacts::extern_crates`.
    ExternCrate(u32),
}

/// One segment of a path and what the path up to it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedSegment {
    /// The name as written.
    pub name: String,
    /// Its place.
    pub span: ByteSpan,
    /// What it names, all candidates (a name may be a type and a value); empty: not known.
    pub targets: Vec<Target>,
}

/// A path, a use leaf or an `extern crate`, as one crate sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathUse {
    /// The file.
    pub file: FileId,
    /// The module it stands in. A file of several crates gives one use for each.
    pub module: ModuleId,
    /// The body of that module.
    pub body: BodyId,
    /// The innermost scope around it.
    pub scope: ScopeId,
    /// Its facts.
    pub site: UseSite,
    /// Its segments with what each prefix names.
    pub segments: Vec<ResolvedSegment>,
    /// Whether it starts with `::`.
    pub leading_colons: bool,
    /// The import that its first segment was found by, if it was: file and index into `leaves`.
    pub via_import: Option<(FileId, u32)>,
    /// Whether its first segment was found by a glob import.
    pub via_glob: bool,
    /// How it is written.
    pub form: Form,
    /// Where it was read from.
    pub origin: Origin,
    /// How sure the resolution is.
    pub certainty: Certainty,
}
