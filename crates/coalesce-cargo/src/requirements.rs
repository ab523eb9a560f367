//! Requirements of versions, as far as they tell whether two of them are met by one version.

use std::cmp::Ordering;

/// What two requirements have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// No version meets both.
    None,
    /// Some version meets both, and cargo may take another one for each.
    Some,
    /// Cargo takes one version for both, for it takes no two that are compatible.
    OneVersion,
}

/// A version without what is before a release.
type Version = [u64; 3];

/// Versions from one, that among them, up to another one, that not.
#[derive(Clone, Copy)]
struct Range {
    low: Version,
    high: Version,
}

/// What two requirements have in common, as cargo reads them.
#[must_use]
pub fn overlap(one: &str, other: &str) -> Overlap {
    let plain = |text: &str| text.split_whitespace().collect::<String>();
    let (one, other) = (plain(one), plain(other));
    if one.trim_start_matches('^') == other.trim_start_matches('^') {
        return Overlap::OneVersion;
    }
    let (Some(a), Some(b)) = (range(&one), range(&other)) else {
        return Overlap::Some;
    };
    if a.low.max(b.low) >= a.high.min(b.high) {
        return Overlap::None;
    }
    // Both within what is compatible with the lower one.
    if a.high.max(b.high) <= caret(a.low.min(b.low), 3).1 {
        return Overlap::OneVersion;
    }
    Overlap::Some
}

/// The versions that a requirement takes; `None` where it is not read.
fn range(requirement: &str) -> Option<Range> {
    let mut found = Range {
        low: [0; 3],
        high: [u64::MAX; 3],
    };
    for part in requirement.split(',') {
        let one = comparator(part)?;
        found.low = found.low.max(one.low);
        found.high = found.high.min(one.high);
    }
    Some(found)
}

fn comparator(part: &str) -> Option<Range> {
    let start = part.find(|c: char| c.is_ascii_digit() || c == '*')?;
    let (operator, version) = (part.get(..start)?, part.get(start..)?);
    // What comes before a release is taken by rules of its own.
    if version.contains(['-', '+']) {
        return None;
    }
    let said: Vec<&str> = version.split('.').collect();
    let numbers = said
        .iter()
        .take_while(|one| !matches!(**one, "*" | "x" | "X"));
    let numbers: Vec<u64> = numbers.map(|one| one.parse().ok()).collect::<Option<_>>()?;
    let is_wild = numbers.len() < said.len();
    let at = |at: usize| numbers.get(at).copied().unwrap_or(0);
    let low = [at(0), at(1), at(2)];
    let given = numbers.len();
    let behind = |given: usize| match given {
        0 => [u64::MAX; 3],
        given => next(low, given - 1),
    };
    let (low, high) = match operator {
        "" if is_wild => (low, behind(given)),
        "" | "^" => caret(low, given),
        "~" => (low, behind(given.min(2))),
        "=" => (low, behind(given)),
        ">=" => (low, [u64::MAX; 3]),
        ">" => (behind(given), [u64::MAX; 3]),
        "<" => ([0; 3], low),
        "<=" => ([0; 3], behind(given)),
        _ => return None,
    };
    Some(Range { low, high })
}

/// The versions that are compatible with one of which so many numbers are given.
fn caret(low: Version, given: usize) -> (Version, Version) {
    let first = low.iter().position(|number| *number != 0);
    let at = first.unwrap_or(given.saturating_sub(1)).min(2);
    (low, next(low, at))
}

/// The first version behind all that have these numbers up to a place.
fn next(version: Version, at: usize) -> Version {
    std::array::from_fn(|place| {
        let number = version.get(place).copied().unwrap_or(0);
        match place.cmp(&at) {
            Ordering::Less => number,
            Ordering::Equal => number.saturating_add(1),
            Ordering::Greater => 0,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_meet_as_cargo_reads_them() {
        for (one, other, expected) in [
            ("1", "1.2.3", Overlap::OneVersion),
            ("1.3", "2.4", Overlap::None),
            ("0.3", "0.4", Overlap::None),
            ("0.4", "0.4.20", Overlap::OneVersion),
            ("0.0.3", "0.0.4", Overlap::None),
            ("1.9", "1.2", Overlap::OneVersion),
            ("=1.0.4", "1", Overlap::OneVersion),
            ("=1.0.4", "1.0.5", Overlap::None),
            ("~1.2", "1.2.3", Overlap::OneVersion),
            ("~1.2", "1.3", Overlap::None),
            ("1.*", "1", Overlap::OneVersion),
            ("*", "1", Overlap::Some),
            (">=1, <3", "2", Overlap::Some),
            (">=1, <2", "1.4", Overlap::OneVersion),
            (">=1", "0.3", Overlap::None),
            ("0", "0.3", Overlap::Some),
            ("1.0.0-rc.1", "1", Overlap::Some),
        ] {
            assert_eq!(overlap(one, other), expected, "{one} {other}");
            assert_eq!(overlap(other, one), expected, "{other} {one}");
        }
    }
}
