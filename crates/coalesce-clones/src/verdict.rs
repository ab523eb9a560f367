//! What a pair of units is: copies, look-alikes, or neither.
//!
//! Two questions decide. *Is one text there in the other?* is answered by the alignment, in which
//! local names and messages are equal. *Does it do the same?* is answered by what is distinctive:
//! names of callees and attributes, keys and numbers, weighted by how rare they are. A copy says yes
//! to both; the same shape with other callees, keys or numbers is a sibling. A common name that few
//! others have is evidence of its own: then less of the text has to be the same.

use crate::evidence::Evidence;

/// What a pair of units is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// One is a copy of the other, or stands in it.
    Duplicate,
    /// Alike in shape; what they work on, or what they call, differs.
    Sibling,
    /// Neither.
    Unrelated,
}

/// Tokens that a unit needs to be found inside of a larger one under another name.
const CONTAINED_TOKENS: u32 = 50;
/// Below so many tokens, shape is no evidence.
const SHORT_TOKENS: u32 = 30;

/// What the evidence amounts to.
#[must_use]
pub fn verdict(evidence: &Evidence) -> Verdict {
    if is_duplicate(evidence) {
        Verdict::Duplicate
    } else if evidence.similarity() >= 0.7 && evidence.alike() >= 0.2 {
        Verdict::Sibling
    } else {
        Verdict::Unrelated
    }
}

/// Whether the alignment can still make it a duplicate, going by names alone.
#[must_use]
pub fn is_possible(evidence: &Evidence) -> bool {
    let floor = if evidence.same_name { 0.3 } else { 0.6 };
    evidence.contained() >= floor
}

fn is_duplicate(evidence: &Evidence) -> bool {
    let short = evidence.sizes.0 < SHORT_TOKENS;
    let as_a_whole = if short { 0.85 } else { 0.7 };
    let copied = evidence.similarity() >= 0.7 && evidence.alike() >= as_a_whole;
    let inside = evidence.sizes.0 >= CONTAINED_TOKENS
        && evidence.containment() >= 0.85
        && evidence.contained() >= 0.85;
    copied || inside || (evidence.same_name && is_namesake(evidence))
}

/// Whether two units of the same rare name do the same.
fn is_namesake(evidence: &Evidence) -> bool {
    let interface = evidence.parameters >= 0.5 || evidence.local_names() >= 0.4;
    let forwards = evidence.forwards && evidence.contained() >= 0.3;
    let text = evidence.containment() >= 0.85 && (evidence.contained() >= 0.6 || forwards);
    let both = evidence.containment() >= 0.65 && evidence.contained() >= 0.65;
    interface && both || text && (interface || forwards)
}
