//! Release numbers: which of two comes first.

use std::cmp::Ordering;

/// A text that is no release number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no release number")]
pub struct ReleaseError(String);

/// Orders releases by their numbers; `4.0` is `4.0.0`, and what follows a number (`rc1`, `-beta`)
/// is left out of the comparison.
///
/// # Errors
/// When one of them begins with no number.
pub fn compare(a: &str, b: &str) -> Result<Ordering, ReleaseError> {
    let (mut a, mut b) = (numbers(a)?, numbers(b)?);
    let length = a.len().max(b.len());
    a.resize(length, 0);
    b.resize(length, 0);
    Ok(a.cmp(&b))
}

fn numbers(release: &str) -> Result<Vec<u64>, ReleaseError> {
    let number = |part: &str| {
        let digits = part.find(|c: char| !c.is_ascii_digit());
        let (digits, rest) = part.split_at(digits.unwrap_or(part.len()));
        Some((digits.parse().ok()?, rest.is_empty()))
    };
    let mut found = Vec::new();
    for part in release.trim().trim_start_matches('v').split('.') {
        match number(part) {
            Some((number, true)) => found.push(number),
            Some((number, false)) => {
                found.push(number);
                break;
            }
            None => break,
        }
    }
    if found.is_empty() {
        return Err(ReleaseError(release.to_owned()));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_compare_by_number() {
        for (a, b, order) in [
            ("4.0.0", "4.0.0", Ordering::Equal),
            ("4.0", "4.0.0", Ordering::Equal),
            ("v4", "4.0.1", Ordering::Less),
            ("3.10.0", "3.9", Ordering::Greater),
            ("4.0.0rc1", "4.0.0", Ordering::Equal),
            ("4.0-beta", "4.0.1", Ordering::Less),
        ] {
            assert_eq!(compare(a, b).unwrap(), order, "{a} {b}");
        }
        for wrong in ["", "next", "-1", "99999999999999999999999"] {
            assert!(compare(wrong, "1").is_err(), "{wrong}");
        }
    }
}
