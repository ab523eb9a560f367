//! Patterns of a shell as tools take them: of names, and of paths, in which `*` stays within one name.
//!
//! They are Python's `fnmatch`, where braces and backslashes are letters and a bracket that nothing closes is one. `globset`,
//! which the walk over files has, takes all three otherwise, and `**/` at the start of a name for nothing.

/// One sign of a pattern.
enum Sign {
    /// `*`: any letters.
    Any,
    /// `?`
    One,
    /// `[a-z]`, or all but these.
    Of {
        ranges: Vec<(char, char)>,
        others: bool,
    },
    Letter(char),
}

impl Sign {
    fn is(&self, letter: char) -> bool {
        match self {
            Self::Any | Self::One => true,
            Self::Of { ranges, others } => {
                let mut ranges = ranges.iter();
                ranges.any(|(first, last)| (*first..=*last).contains(&letter)) != *others
            }
            Self::Letter(own) => *own == letter,
        }
    }
}

/// Whether a name fits a pattern; `*` goes over slashes.
pub fn fits(pattern: &str, name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    let is_any = |sign: &Sign| matches!(sign, Sign::Any);
    all_fit(&signs(pattern), &name, is_any, |sign, letter| {
        sign.is(*letter)
    })
}

/// Whether a path fits a pattern as a whole: `**` stands for any folders, and anything else stays within one name.
pub fn fits_path(pattern: &str, path: &str) -> bool {
    let pattern: Vec<&str> = pattern.split('/').collect();
    fits_by_names(&pattern, path)
}

/// Whether a path, or a folder around it, fits a pattern. Nothing, or `.`, is above all paths.
pub fn reaches(pattern: &str, path: &str) -> bool {
    let parts = pattern.split('/');
    let parts = parts.filter(|part| !matches!(*part, "" | "."));
    let pattern: Vec<&str> = parts.chain(["**"]).collect();
    fits_by_names(&pattern, path)
}

/// Whether the names of a path fit the parts of a pattern.
fn fits_by_names(pattern: &[&str], path: &str) -> bool {
    let path: Vec<&str> = path.split('/').collect();
    all_fit(
        pattern,
        &path,
        |part| *part == "**",
        |part, name| fits(part, name),
    )
}

fn signs(pattern: &str) -> Vec<Sign> {
    let mut signs = Vec::new();
    let mut rest = pattern.chars();
    while let Some(letter) = rest.next() {
        let class = (letter == '[').then(|| class(rest.as_str())).flatten();
        signs.push(match (letter, class) {
            (_, Some((class, after))) => {
                rest = after.chars();
                class
            }
            ('*', _) => Sign::Any,
            ('?', _) => Sign::One,
            _ => Sign::Letter(letter),
        });
    }
    signs
}

/// The class of letters that stands behind a bracket, and what comes after it. A bracket that nothing closes is one.
fn class(text: &str) -> Option<(Sign, &str)> {
    let inner = text.strip_prefix(['!', '^']);
    let (others, inner) = (inner.is_some(), inner.unwrap_or(text));
    // The first letter closes nothing.
    let first = inner.chars().next()?.len_utf8();
    let end = first + inner.get(first..)?.find(']')?;
    let letters: Vec<char> = inner.get(..end)?.chars().collect();
    let mut ranges = Vec::new();
    let mut rest = letters.as_slice();
    while let Some((first, after)) = rest.split_first() {
        rest = match after {
            ['-', last, after @ ..] => {
                ranges.push((*first, *last));
                after
            }
            _ => {
                ranges.push((*first, *first));
                after
            }
        };
    }
    Some((Sign::Of { ranges, others }, inner.get(end + 1..)?))
}

/// Whether each of a row fits the pattern's part at its place, where some parts stand for any number. The last such part
/// alone is tried again, so that it takes no more than the product of both lengths.
fn all_fit<P, T>(
    pattern: &[P],
    row: &[T],
    is_any: impl Fn(&P) -> bool,
    is_one: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut part, mut at) = (0, 0);
    let mut again: Option<(usize, usize)> = None;
    while let Some(each) = row.get(at) {
        let own = pattern.get(part);
        if own.is_some_and(&is_any) {
            again = Some((part + 1, at));
            part += 1;
        } else if own.is_some_and(|own| is_one(own, each)) {
            (part, at) = (part + 1, at + 1);
        } else if let Some((behind, from)) = again {
            again = Some((behind, from + 1));
            (part, at) = (behind, from + 1);
        } else {
            return false;
        }
    }
    pattern.iter().skip(part).all(is_any)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_as_in_a_shell() {
        for (pattern, name, expected) in [
            ("*.egg", "a.egg", true),
            (".*", ".git", true),
            (".*", "git", false),
            ("build", "build", true),
            ("buil?", "build", true),
            ("tests/*_slow.py", "tests/a/b_slow.py", true),
            ("test_[a-c]*.py", "test_bx.py", true),
            ("test_[a-c]*.py", "test_dx.py", false),
            ("test_[!a-c].py", "test_d.py", true),
            ("[]]", "]", true),
            ("a[b", "a[b", true),
            ("**/a", "a", false),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn paths_fit_by_their_names() {
        for (pattern, path, whole, around) in [
            ("old/data/*.json", "old/data/b.json", true, true),
            ("old/data/*.json", "core/old/data/b.json", false, false),
            ("*/data/*.json", "old/data/b.json", true, true),
            ("**/*.json", "core/old/data/b.json", true, true),
            ("**/*.json", "b.json", true, true),
            ("data/**", "data/a/b.txt", true, true),
            ("?.txt", "a.txt", true, true),
            ("*.txt", "a/b.txt", false, false),
            ("a", "a/test_x.py", false, true),
            ("./a/", "a/b/test_x.py", false, true),
            ("a", "ab/test_x.py", false, false),
            (".", "a/test_x.py", false, true),
            ("a*/tests", "ab/tests/test_x.py", false, true),
            ("a*/tests", "a/b/tests/test_x.py", false, false),
            ("a/**/tests", "a/b/c/tests/test_x.py", false, true),
            ("ph/**/*.py", "ph/run.py", true, true),
            // Which would take for ever to be tried letter by letter.
            (&"*a".repeat(40), &"a".repeat(30), false, false),
        ] {
            assert_eq!(fits_path(pattern, path), whole, "{pattern} {path}");
            assert_eq!(reaches(pattern, path), around, "{pattern} {path}");
        }
    }
}
