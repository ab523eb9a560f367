//! From duplicates to a manifest: which copy stays, what becomes of the others, and what is left for
//! a person to decide.
//!
//! Pure. What the copies are comes from the duplicate finder, whether an entry can be followed from
//! the planner; the caller asks both.

mod copies;
mod draft;
mod drafting;
mod primary;
mod unspeakable;

pub use copies::{Copy, is_documented};
pub use draft::{Decision, Draft, DraftEntry, DraftVerb};
pub use drafting::{Drafting, Homes, Relation};
pub use primary::{Ranked, Standing, is_apart, rank};
