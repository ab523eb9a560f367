//! What was meant by a word that names nothing: every refusal asks it in the same words.

/// Letters that the last part of a name has to have to tell it from others by itself.
const LAST: usize = 4;

/// The candidate nearest to `name`, close enough to be a slip of the pen: at most a third of its
/// length away by Damerau–Levenshtein distance.
#[must_use]
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= (name.chars().count() / 3).max(2))
        .min()
        .map(|(_, candidate)| candidate)
}

/// The question whether the candidate nearest to `word` was meant.
#[must_use]
pub fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    nearest(word, candidates).map(|near| format!("did you mean `{near}`?"))
}

/// The name that was meant, if it is near one: names of tests only where a test is asked for, or
/// nothing else is near.
fn meant<'n>(wanted: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let (tests, others): (Vec<&str>, Vec<&str>) = names.partition(|name| is_of_test(name));
    let near = if is_of_test(wanted) {
        nearest(wanted, tests.iter().chain(&others).copied())
    } else {
        nearest(wanted, others.iter().copied()).or_else(|| nearest(wanted, tests.iter().copied()))
    };
    near.or_else(|| elsewhere(wanted, &others))
}

/// The one name that ends as this one does: right, and in the wrong place.
fn elsewhere<'n>(wanted: &str, names: &[&'n str]) -> Option<&'n str> {
    let last = |name: &'_ str| name.rsplit(['.', ':']).next().map(str::len);
    let end = wanted.get(wanted.len() - last(wanted)?..)?;
    let mut same = names.iter().filter(|name| {
        let head = name.strip_suffix(end);
        head.is_some_and(|head| head.ends_with(['.', ':']))
    });
    let found = same.next().filter(|_| end.len() >= LAST)?;
    same.next().is_none().then_some(*found)
}

/// The question whether a name of the tree was meant that is near this one, or that ends as it does.
#[must_use]
pub fn name_meant<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>) -> Option<String> {
    meant(wanted, names.into_iter()).map(|near| format!("did you mean `{near}`?"))
}

/// Whether a name is one of a test, by the habits of both languages.
fn is_of_test(name: &str) -> bool {
    name.split(['.', ':']).any(|part| {
        matches!(part, "test" | "tests" | "testing" | "conftest")
            || part.starts_with("test_")
            || part.ends_with("_test")
            || part.ends_with("_tests")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_not_what_is_meant() {
        for (wanted, names, expected) in [
            ("p.pool", &["p.test_pool", "p.pools"][..], Some("p.pools")),
            ("q.conftes", &["q.conftest"], Some("q.conftest")),
            ("tests.pol", &["tests.pool", "p.pol"], Some("tests.pool")),
            ("p::zz", &["a::completely_other"], None),
            (
                "p.helpers.matmul",
                &["p.kernels.dense.matmul", "p.x"],
                Some("p.kernels.dense.matmul"),
            ),
            (
                "p.helpers.matmul",
                &["a.other.matmul", "b.other.matmul"],
                None,
            ),
            ("p.helpers.run", &["a.completely_other.run"], None),
        ] {
            assert_eq!(meant(wanted, names.iter().copied()), expected, "{wanted}");
        }
    }
}
