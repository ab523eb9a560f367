//! Parts of a module's name that are held against texts: `cls.__module__.split(".")[1] == "gpu"`.

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
