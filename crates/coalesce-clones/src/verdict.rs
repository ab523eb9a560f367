//! What a pair of units is: copies, look-alikes, or neither.
//!
//! Two questions decide. *Is one text there in the other?* is answered by the alignment, in which
//! local names and messages are equal. *Does it do the same?* is answered by what is distinctive:
//! names of callees and attributes, keys and numbers, weighted by how rare they are. A copy says yes
//! to both; the same shape with other callees, keys or numbers is a sibling. A common name that few
//! others have is evidence of its own: then less of the text has to be the same. Whether anybody wants
//! to hear of it is a third question, for `likelihood`.

use crate::{
    evidence::Evidence,
    likelihood::{Fitted, NEARLY, likelihood, told_from},
};

/// What a pair of units is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// One is a copy of the other, or stands in it, and a maintainer would want to know.
    Duplicate,
    /// The same, but nothing to tell alone: it counts where what is around both is compared.
    Minor,
    /// Alike in shape; what they work on, or what they call, differs.
    Sibling,
    /// Neither.
    Unrelated,
}

/// Tokens that a unit needs to be found inside of a larger one under another name.
const CONTAINED_TOKENS: u32 = 60;
/// Below so many tokens, shape is no evidence.
const SHORT_TOKENS: u32 = 30;
/// Below so many tokens, two of one file that differ at all are two on purpose.
const VARIANT_TOKENS: u32 = 60;
/// Below so many tokens, a common name is all that there is.
const TINY_TOKENS: u32 = 16;
/// A name that no more functions have was made for what these do.
const RARE_NAME: u32 = 4;
/// So many times larger, any text holds the tokens of a small one in some order: then runs count.
const MUCH_LARGER: u32 = 3;

/// What the evidence amounts to, of which `likelihood` was worked out.
#[must_use]
pub fn verdict(evidence: &Evidence, likelihood: f32) -> Verdict {
    let apart = evidence.opposite || evidence.other_cases;
    let copies = !apart && is_duplicate(evidence);
    let alike = evidence.similarity() >= 0.7 && evidence.alike() >= 0.2;
    let possible = copies || (!apart && is_comparable(evidence));
    if possible && likelihood >= told_from(evidence, copies) {
        Verdict::Duplicate
    } else if copies {
        Verdict::Minor
    } else if alike {
        Verdict::Sibling
    } else {
        Verdict::Unrelated
    }
}

/// Whether enough of both is in common that the likelihood means something.
fn is_comparable(evidence: &Evidence) -> bool {
    evidence.similarity() >= 0.55 && evidence.alike() >= 0.2
}

/// Whether what is costly to find out can make it something that is told, or nearly.
#[must_use]
pub fn can_be_told(evidence: &Evidence, fitted: &Fitted) -> bool {
    let copies = is_duplicate(evidence);
    let from = NEARLY.min(told_from(evidence, copies));
    (copies || is_comparable(evidence)) && likelihood(evidence, fitted) >= from
}

/// Whether runs and the alignment can still make it more than unrelated, going by names and sizes:
/// most candidates end here, before the costly part.
#[must_use]
pub fn is_possible(evidence: &Evidence) -> bool {
    if evidence.substituted || (evidence.same_name && evidence.contained() >= 0.3) {
        return true;
    }
    let shape = is_of_a_size(evidence) && evidence.alike() >= 0.2;
    shape || (is_long(evidence) && evidence.contained() >= 0.85)
}

/// The same going by runs as well.
#[must_use]
pub fn is_likely(evidence: &Evidence) -> bool {
    let runs = evidence.run_containment();
    let shape = is_of_a_size(evidence) && runs >= 0.35 && evidence.alike() >= 0.2;
    let inside = runs >= 0.7 && evidence.contained() >= 0.85;
    evidence.substituted || shape || inside || (evidence.same_name && evidence.contained() >= 0.3)
}

/// Whether so many tokens can be a copy of so many others, or stand in them.
#[must_use]
pub const fn can_be_copies(small: u32, large: u32) -> bool {
    small >= CONTAINED_TOKENS || 20 * small >= 7 * (small + large)
}

/// Whether the smaller one is large enough to be looked for inside of another.
#[must_use]
pub const fn is_long(evidence: &Evidence) -> bool {
    evidence.sizes.0 >= CONTAINED_TOKENS
}

/// Whether the sizes allow a similarity of seven tenths.
#[must_use]
pub const fn is_of_a_size(evidence: &Evidence) -> bool {
    let (small, large) = evidence.sizes;
    20 * small >= 7 * (small + large)
}

fn is_duplicate(evidence: &Evidence) -> bool {
    // Types of one name in two modules are many, and their fields have the names of the trade.
    let namesake = evidence.same_name && !evidence.declarations && is_namesake(evidence);
    evidence.substituted || is_copy(evidence) || is_inside(evidence) || namesake
}

/// Whether one is the other with small changes. Of a short one, what differs is much of it: then
/// only a name that few have speaks for a copy; and short ones of one file are two on purpose.
fn is_copy(evidence: &Evidence) -> bool {
    let least = if evidence.same_file {
        VARIANT_TOKENS
    } else {
        SHORT_TOKENS
    };
    let rare_name = evidence.same_name && evidence.name_count <= RARE_NAME;
    (evidence.sizes.0 >= least || (rare_name && !evidence.same_file))
        && evidence.similarity() >= 0.7
        && evidence.alike() >= 0.7
}

/// Whether one stands inside the other as it is. Two of one file and about one size are variants of
/// each other: an upload and a download.
fn is_inside(evidence: &Evidence) -> bool {
    let variants = evidence.same_file && evidence.sizes.1 < 2 * evidence.sizes.0;
    is_long(evidence)
        && !variants
        && !evidence.is_list()
        && evidence.containment() >= 0.85
        && evidence.run_containment().min(evidence.gathered) >= 0.7
        && evidence.contained() >= if evidence.same_file { 0.95 } else { 0.85 }
}

/// The share of distinctive names that two of one name have in common at least. The more methods share it, the more it
/// is that of an interface, and the less it says.
const fn needed_of_namesakes(evidence: &Evidence) -> f32 {
    match evidence.name_count {
        4..=8 if evidence.methods => 0.75,
        9.. if evidence.methods => 0.85,
        _ => 0.65,
    }
}

/// Whether two units of the same rare name do the same.
fn is_namesake(evidence: &Evidence) -> bool {
    if evidence.sizes.1 > MUCH_LARGER * evidence.sizes.0 && evidence.run_containment() < 0.5 {
        return false;
    }
    // A name and half of a short text are what any two methods of one interface have in common; only
    // a function's name that few have was made for what it does.
    let own_name = !evidence.methods && evidence.name_count <= RARE_NAME;
    let short = evidence.sizes.0 < VARIANT_TOKENS && evidence.similarity() < 0.7;
    if evidence.is_repetitive() || (short && !own_name && !evidence.forwards) {
        return false;
    }
    let interface = evidence.parameters >= 0.5 || evidence.local_names() >= 0.4;
    let forwards = evidence.forwards && evidence.contained() >= 0.3;
    let needed = needed_of_namesakes(evidence);
    if evidence.sizes.0 < TINY_TOKENS && evidence.contained() < 0.8 && !forwards {
        return false;
    }
    let text =
        evidence.containment() >= 0.85 && (evidence.contained() >= needed - 0.05 || forwards);
    let both = evidence.containment() >= 0.65 && evidence.contained() >= needed;
    // Two of one name in one file are two on purpose.
    let apart =
        !evidence.same_file || (evidence.alike() >= 0.7 && evidence.sizes.0 >= VARIANT_TOKENS);
    apart && (interface && both || text && (interface || forwards))
}
