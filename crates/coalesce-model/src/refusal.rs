//! Why a plan must not be applied, as far as no language is asked: one variant a reason, from which its code, its words and
//! what helps come. What `explain` says is kept by the code. Entries that do not fit the tree are errors of the manifest,
//! told by `coalesce-plan::check`, and have none.
//!
//! The languages' own reasons are sentences that only they can word; what kind of reason each is, is said by
//! [`Finding::coded`], and those that are none of these kinds stay [`codes::UNSAFE_CHANGE`].

use crate::{ByteSpan, Code, Finding, Severity, TreePath, finding::codes};

/// A reason to refuse a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// An import that resolves would not any more.
    UnresolvedAfter {
        /// What it would name.
        name: String,
    },
    /// An edited file would not parse, and does now.
    UnparsableAfter {
        /// What the parser says.
        problem: String,
    },
    /// An import whose failure is caught would fail, and does not now.
    NewSilentFallback,
    /// A file is where another one would land.
    OccupiedPath,
    /// Two files would land at one place.
    TwoFilesAtOnce {
        /// The other one's place before, or as it would be spelled.
        other: TreePath,
    },
    /// A file would move to two places.
    TwoTargets {
        /// The one place.
        one: TreePath,
        /// The other.
        other: TreePath,
    },
    /// Edits of one file contradict each other, or the file cannot be read.
    ConflictingEdits {
        /// How.
        why: String,
    },
    /// A source file that may name what moves cannot be read as text.
    UnreadableSource {
        /// Why not.
        why: String,
    },
    /// A link or device would have to move.
    LinkWouldMove,
    /// A link may lead to a file that would leave its place.
    LinkLeadsHere {
        /// The link.
        link: TreePath,
    },
    /// Version control would not see the file where it goes, nor would this program.
    IgnoredPlace {
        /// The file that says so.
        by: TreePath,
    },
    /// A shim that is to go is still named.
    ShimInUse {
        /// The old name.
        name: String,
        /// At how many places.
        places: usize,
    },
}

impl Refusal {
    /// What kind of reason it is.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::UnresolvedAfter { .. } => codes::UNRESOLVED_AFTER_CHANGE,
            Self::UnparsableAfter { .. } => codes::UNPARSABLE_AFTER_CHANGE,
            Self::NewSilentFallback => codes::NEW_SILENT_FALLBACK,
            Self::OccupiedPath | Self::TwoFilesAtOnce { .. } | Self::TwoTargets { .. } => {
                codes::OCCUPIED_PATH
            }
            Self::IgnoredPlace { .. } => codes::UNSAFE_CHANGE,
            Self::ConflictingEdits { .. } => codes::CONFLICTING_EDITS,
            Self::UnreadableSource { .. } => codes::UNREADABLE_SOURCE,
            Self::LinkWouldMove | Self::LinkLeadsHere { .. } => codes::LINK_IN_THE_WAY,
            Self::ShimInUse { .. } => codes::SHIM_IN_USE,
        }
    }

    /// What is wrong: lower-case, no final period.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Self::UnresolvedAfter { name } => {
                format!("after the migration, `{name}` would not resolve any more")
            }
            Self::UnparsableAfter { problem } => {
                format!("the edited file would not parse: {problem}")
            }
            Self::NewSilentFallback => {
                "a guarded import would fail silently after the migration".to_owned()
            }
            Self::OccupiedPath => "a file is there already".to_owned(),
            Self::TwoFilesAtOnce { other } => format!("{other} would land there as well"),
            Self::TwoTargets { one, other } => format!("it would move to both {one} and {other}"),
            Self::ConflictingEdits { why } => why.clone(),
            Self::UnreadableSource { why } => {
                format!("it may name what moves, and cannot be read as text: {why}")
            }
            Self::LinkWouldMove => "it would have to move, and is no plain file".to_owned(),
            Self::LinkLeadsHere { link } => {
                format!("it would leave its place, and the link {link} may lead to it")
            }
            Self::IgnoredPlace { by } => {
                format!(
                    "{by} leaves this place out: a file that goes there is lost to version control"
                )
            }
            Self::ShimInUse { name, places: 1 } => format!("`{name}` is still named at 1 place"),
            Self::ShimInUse { name, places } => {
                format!("`{name}` is still named at {places} places")
            }
        }
    }

    /// What to do about it, where that is known.
    #[must_use]
    pub const fn help(&self) -> Option<&'static str> {
        match self {
            Self::UnreadableSource { .. } => Some(
                "make it readable as UTF-8, leave it out with `exclude` in coalesce.toml, or pass \
                     --allow-unread",
            ),
            Self::IgnoredPlace { .. } => {
                Some("name the place there as an exception (`!path`), or move to another one")
            }
            Self::LinkWouldMove => Some("move or remove the link by hand first"),
            Self::LinkLeadsHere { .. } => Some("put a file in the place of the link first"),
            Self::ShimInUse { .. } => Some("let them name the new home, or pass --even-used"),
            _ => None,
        }
    }

    /// The reason at a file, or a place of it.
    #[must_use]
    pub fn at(self, path: &TreePath, span: Option<ByteSpan>) -> Finding {
        Finding {
            code: self.code(),
            severity: Severity::Error,
            path: path.clone(),
            span,
            message: self.message(),
            help: self.help().map(str::to_owned),
        }
    }
}
