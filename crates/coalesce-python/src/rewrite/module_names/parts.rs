//! Parts of a module's name that are held against texts: `cls.__module__.split(".")[1] == "gpu"`.

use crate::names::{is_word, last_word};

/// Whether the part of the one name that is compared is a text that the same part of the other name is not. `method` takes
/// the names apart, `argument` is what it is given, `rest` follows the call.
pub(super) fn tells_apart(
    (from, to): (&str, &str),
    (method, argument, rest): (&str, &str, &str),
    compared: &[&str],
) -> bool {
    let index = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let index = index.and_then(|(index, _)| index.trim().parse::<i64>().ok());
    let known = index.and_then(|index| {
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
