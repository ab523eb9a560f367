//! Parts of a module's name that are held against texts: `cls.__module__.split(".")[1] == "gpu"`.

use crate::names::{is_word, last_word};

/// Parts that are counted farther are taken for others.
const MAXIMUM_DEPTH: u64 = 16;

/// Whether the part of the one name that is compared is a text that the same part of the other name is not. `method` takes
/// the names apart, `argument` is what it is given, `rest` follows the call.
pub(super) fn tells_apart(
    (from, to): (&str, &str),
    (method, argument, rest): (&str, &str, &str),
    compared: &[&str],
) -> bool {
    let known = index(rest).and_then(|index| {
        let part = |name| part(name, (method, argument), index);
        Some((part(from)?, part(to)?))
    });
    match known {
        Some((one, two)) => one != two && compared.iter().any(|text| *text == one || *text == two),
        // Which part that is cannot be said: one of either name.
        None => {
            let has = |text: &&str| {
                [from, to]
                    .iter()
                    .any(|name| name.split('.').any(|part| part == *text))
            };
            from != to && compared.iter().any(has)
        }
    }
}

/// Whether the part that is taken is the same of both names, whatever is done with it: `f.__module__.rsplit(".", 1)[-1]` of
/// what keeps its last part. With `below`, modules below are asked as well, whose names begin with these.
pub(super) fn is_the_same(
    (from, to): (&str, &str),
    (method, argument, rest): (&str, &str, &str),
    below: bool,
) -> bool {
    let Some(index) = index(rest).filter(|index| index.unsigned_abs() < MAXIMUM_DEPTH) else {
        return false;
    };
    let same = |further: &str| {
        let [old, new] = [from, to].map(|name| format!("{name}{further}"));
        let old = part(&old, (method, argument), index);
        old.is_some() && old == part(&new, (method, argument), index)
    };
    // What stands farther below than the part that is counted to is no other case.
    let deepest = if below { index.unsigned_abs() + 1 } else { 0 };
    (0..=deepest).all(|depth| {
        let further: String = (0..depth).map(|at| format!(".{at}")).collect();
        same(&further)
    })
}

/// The index behind a call: `[-1]`.
fn index(rest: &str) -> Option<i64> {
    let (index, _) = rest.strip_prefix('[')?.split_once(']')?;
    index.trim().parse().ok()
}

/// Whether looking for a text among the parts of a name finds it in one of two names alone; none where that is not what is
/// done: `"gpu" in cls.__module__.split(".")`. `before` ends with whose module it is. What is looked for and is no text
/// there may be any text of the tree (`may_be`), but for private parts of names, which nobody says.
pub(super) fn is_member_of_one(
    before: &str,
    (from, to): (&str, &str),
    (argument, rest): (&str, &str),
    may_be: impl Fn(&str) -> bool,
) -> Option<bool> {
    let splits = matches!(argument.trim(), "'.'" | "\".\"");
    let object = before.trim_end_matches(|c: char| is_word(c) || c == '.');
    let asked = object.trim_end().strip_suffix(" in")?.trim_end();
    let asked = asked.strip_suffix(" not").unwrap_or(asked).trim_end();
    let word = last_word(asked);
    let is_loop = asked.strip_suffix(word)?.ends_with("for ");
    if !splits || rest.starts_with(['[', '.']) || is_loop {
        return None;
    }
    let has = |name: &str, text: &str| name.split('.').any(|part| part == text);
    if let Some(quote @ ('"' | '\'')) = asked.chars().last() {
        let (ahead, text) = asked.get(..asked.len() - 1)?.rsplit_once(quote)?;
        // With a letter before it, or as a part of something longer, it is not what is looked for.
        let ahead = ahead.trim_end();
        let whole = ahead.is_empty() || ahead.ends_with(['(', '[', '{', ',', ':', '=']);
        let word = [
            "if", "elif", "and", "or", "not", "return", "while", "assert",
        ];
        if whole || word.contains(&last_word(ahead)) {
            return Some(has(from, text) != has(to, text));
        }
        return Some(from != to);
    }
    let of_one = |one: &str, other: &str| {
        let mut parts = one.split('.').filter(|part| !has(other, part));
        parts.any(|part| !part.starts_with('_') && may_be(part))
    };
    Some(of_one(from, to) || of_one(to, from))
}

/// A part of a name, an empty one where it has fewer; none where the call is not known.
fn part<'n>(name: &'n str, (method, argument): (&str, &str), index: i64) -> Option<&'n str> {
    let given: Vec<&str> = argument.split(',').map(str::trim).collect();
    let parts: Vec<&str> = match (method, given.as_slice()) {
        ("split" | "rsplit", ["'.'" | "\".\""]) => name.split('.').collect(),
        ("split", ["'.'" | "\".\"", "1"]) => name.splitn(2, '.').collect(),
        ("rsplit", ["'.'" | "\".\"", "1"]) => match name.rsplit_once('.') {
            Some((above, last)) => vec![above, last],
            None => vec![name],
        },
        ("partition", ["'.'" | "\".\""]) => match name.split_once('.') {
            Some((first, rest)) => vec![first, ".", rest],
            None => vec![name, "", ""],
        },
        ("rpartition", ["'.'" | "\".\""]) => match name.rsplit_once('.') {
            Some((above, last)) => vec![above, ".", last],
            None => vec!["", "", name],
        },
        _ => return None,
    };
    let count = i64::try_from(parts.len()).ok()?;
    let at = if index < 0 { index + count } else { index };
    let found = usize::try_from(at).ok().and_then(|at| parts.get(at));
    Some(found.copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_is_looked_for_decides() {
        for (before, to, expected) in [
            ("if 'old' in cls", "pkg.sub.old", Some(false)),
            ("if 'old' not in cls", "pkg.new", Some(true)),
            ("if 'sub' in a.b", "pkg.sub.old", Some(true)),
            ("if f'{old}' in cls", "pkg.sub.old", Some(true)),
            ("if start + 'x' in cls", "pkg.sub.old", Some(true)),
            ("any(name in o", "pkg._sub.old", Some(false)),
            ("any(name in o", "pkg.sub.old", Some(true)),
            ("for name in o", "pkg._sub.old", None),
            ("name = o", "pkg._sub.old", None),
        ] {
            let found =
                is_member_of_one(before, ("pkg.old", to), ("'.'", " for o in mro)"), |_| true);
            assert_eq!(found, expected, "{before} {to}");
        }
        let taken = is_member_of_one("'a' in o", ("pkg.old", "pkg.new"), ("'.'", "[0]"), |_| true);
        assert_eq!(taken, None);
    }

    #[test]
    fn a_part_that_both_names_have_makes_no_difference() {
        for (method, argument, rest, to, expected) in [
            ("rsplit", "'.', 1", "[-1]", "pkg.sub.old", [true, true]),
            ("split", "'.'", "[-1].title()", "pkg.sub.old", [true, true]),
            ("rpartition", "'.'", "[2]", "pkg.sub.old", [true, true]),
            ("split", "'.'", "[-1]", "pkg.sub.new", [false, false]),
            // Of a module below it is the part that changes.
            ("split", "'.'", "[-2]", "pkg.new", [true, false]),
            ("split", "'.'", "[2]", "pkg.sub.old", [false, false]),
            ("split", "'.'", "[0]", "pkg.new", [true, true]),
            ("split", "'.'", "[-1:]", "pkg.sub.old", [false, false]),
            ("split", "'.'", "[n]", "pkg.sub.old", [false, false]),
            ("rsplit", "'.', 1", "[0]", "pkg.sub.old", [false, false]),
        ] {
            let given = (method, argument, rest);
            let found = [false, true].map(|below| is_the_same(("pkg.old", to), given, below));
            assert_eq!(found, expected, "{method}({argument}){rest} {to}");
        }
    }

    #[test]
    fn the_part_that_is_compared_decides() {
        for (method, argument, rest, to, expected) in [
            ("split", "'.'", "[1] == 'old'", "pkg.sub.old", true),
            ("split", "'.'", "[0] == 'pkg'", "pkg.sub.old", false),
            ("split", "'.'", "[-1] == 'old'", "pkg.sub.old", false),
            ("split", "'.'", "[1] == 'other'", "pkg.sub.old", false),
            ("partition", "'.'", "[2] == 'old'", "pkg.sub.old", true),
            ("rpartition", "'.'", "[2] == 'old'", "pkg.sub.old", false),
            ("rsplit", "'.', 1", "[0] == 'pkg'", "pkg.sub.old", true),
            ("split", "'.'", "[n] == 'old'", "pkg.sub.old", true),
            ("split", "'.'", "[n] == 'other'", "pkg.sub.old", false),
        ] {
            let compared: Vec<&str> = rest.split('\'').skip(1).step_by(2).collect();
            let found = tells_apart(("pkg.old", to), (method, argument, rest), &compared);
            assert_eq!(found, expected, "{method}({argument}){rest}");
        }
    }
}
