//! Names that say the opposite of each other: what they name is two on purpose, however alike it is
//! written. It knows words, not what they mean to a program.

/// Words for the sides of one thing. Whoever does the same on each side has one function with a parameter
/// where nothing but the side differs, and two on purpose otherwise.
const SIDES: [(&str, &str); 9] = [
    ("lhs", "rhs"),
    ("left", "right"),
    ("top", "bottom"),
    ("upper", "lower"),
    ("row", "column"),
    ("rows", "columns"),
    ("row", "col"),
    ("width", "height"),
    ("horizontal", "vertical"),
];
/// Words that come in twos.
const PAIRS: [(&str, &str); 45] = [
    ("up", "down"),
    ("first", "last"),
    ("head", "tail"),
    ("front", "back"),
    ("next", "previous"),
    ("next", "prev"),
    ("before", "after"),
    ("forward", "backward"),
    ("begin", "end"),
    ("start", "end"),
    ("start", "stop"),
    ("min", "max"),
    ("gt", "lt"),
    ("ge", "le"),
    ("add", "sub"),
    ("add", "remove"),
    ("add", "delete"),
    ("create", "delete"),
    ("create", "destroy"),
    ("insert", "remove"),
    ("read", "write"),
    ("load", "store"),
    ("save", "load"),
    ("get", "set"),
    ("push", "pop"),
    ("send", "receive"),
    ("open", "close"),
    ("grant", "revoke"),
    ("show", "hide"),
    ("increment", "decrement"),
    ("upload", "download"),
    ("source", "target"),
    ("inner", "outer"),
    ("even", "odd"),
    ("positive", "negative"),
    ("from", "to"),
    ("import", "export"),
    ("input", "output"),
    ("request", "response"),
    ("acquire", "release"),
    ("attach", "detach"),
    ("mul", "div"),
    ("and", "or"),
    ("any", "all"),
    ("floor", "ceil"),
];
/// Words for what is done to one or two values: each is a thing of its own, however alike its texts.
const OPERATORS: [&str; 28] = [
    "add", "sub", "mul", "div", "mod", "rem", "pow", "inc", "dec", "neg", "abs", "eq", "ne", "lt",
    "le", "gt", "ge", "min", "max", "minimum", "maximum", "nanmin", "nanmax", "and", "or", "xor",
    "floor", "ceil",
];
/// What turns a word into its opposite.
const PREFIXES: [&str; 3] = ["un", "de", "dis"];

/// Whether two names differ, and only in words that are opposites of each other.
#[must_use]
pub fn are_opposite(a: &str, b: &str) -> bool {
    differ_only_in(a, b, opposite)
}

/// Whether two names differ, and only in words for sides of one thing.
#[must_use]
pub fn are_sides(a: &str, b: &str) -> bool {
    differ_only_in(a, b, |one, other| is_among(&SIDES, one, other))
}

/// Whether two names differ, and only in what is done to values.
#[must_use]
pub fn are_operators(a: &str, b: &str) -> bool {
    differ_only_in(a, b, |one, other| {
        OPERATORS.contains(&one) && OPERATORS.contains(&other)
    })
}

fn differ_only_in(a: &str, b: &str, differ: fn(&str, &str) -> bool) -> bool {
    if a == b {
        return false;
    }
    // Most names are in lower case, and most pairs of them are over at the first word.
    let lower = |name: &str| name.is_ascii() && !name.bytes().any(|byte| byte.is_ascii_uppercase());
    if lower(a) && lower(b) {
        return do_words_differ_only_in(a.split('_'), b.split('_'), differ);
    }
    let (a, b) = (words_of_name(a), words_of_name(b));
    do_words_differ_only_in(
        a.iter().map(String::as_str),
        b.iter().map(String::as_str),
        differ,
    )
}

fn do_words_differ_only_in<'w>(
    a: impl Iterator<Item = &'w str>,
    b: impl Iterator<Item = &'w str>,
    differ: fn(&str, &str) -> bool,
) -> bool {
    let is_word = |word: &&str| !word.is_empty();
    let (mut a, mut b) = (a.filter(is_word), b.filter(is_word));
    let mut differs = false;
    loop {
        match (a.next(), b.next()) {
            (None, None) => return differs,
            (Some(one), Some(other)) if one == other => {}
            (Some(one), Some(other)) if differ(one, other) => differs = true,
            _ => return false,
        }
    }
}

fn opposite(a: &str, b: &str) -> bool {
    is_among(&PAIRS, a, b) || is_among(&SIDES, a, b) || turned(a, b) || turned(b, a)
}

fn is_among(pairs: &[(&str, &str)], a: &str, b: &str) -> bool {
    let fits = |pair: &(&str, &str)| *pair == (a, b) || *pair == (b, a);
    pairs.iter().any(fits)
}

/// Whether one word is the other with a prefix that turns it: `lock` and `unlock`, `enable` and
/// `disable`.
fn turned(a: &str, b: &str) -> bool {
    let stem = a.strip_prefix("en").unwrap_or(a);
    let mut rests = PREFIXES.iter().filter_map(|prefix| b.strip_prefix(prefix));
    a.len() > 2 && rests.any(|rest| rest == a || rest == stem)
}

/// The words of `snake_case` and `camelCase`, in lower case.
pub(crate) fn words_of_name(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut begins = true;
    for letter in name.chars() {
        if letter == '_' {
            begins = true;
            continue;
        }
        if begins || letter.is_uppercase() {
            words.push(String::new());
        }
        begins = false;
        if let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opposites_are_told_from_other_names() {
        let cases = [
            ("catch_up_lhs", "catch_up_rhs", true),
            ("catchup_rhs_with_lhs", "catchup_lhs_with_rhs", true),
            ("readHeader", "writeHeader", true),
            ("read_header", "read_header", false),
            ("read_header", "write_footer", false),
            ("read", "read_all", false),
            ("set_insertion", "unset_insertion", true),
            ("encode_frame", "decode_frame", true),
            ("enable", "disable", true),
            ("test_gt", "test_lt", true),
            ("__add__", "__sub__", true),
            ("points_from_homogeneous", "points_to_homogeneous", true),
        ];
        for (a, b, expected) in cases {
            assert_eq!(are_opposite(a, b), expected, "{a} {b}");
        }
    }

    #[test]
    fn operators_are_told_from_other_words() {
        let cases = [
            ("complex_ge_impl", "complex_lt_impl", true),
            ("atomicAdd", "atomicSub", true),
            ("add_row", "add_row", false),
            ("add_row", "sub_rows", false),
            ("read_max", "write_max", false),
        ];
        for (a, b, expected) in cases {
            assert_eq!(are_operators(a, b), expected, "{a} {b}");
        }
    }

    #[test]
    fn sides_are_told_from_what_is_done() {
        let cases = [
            ("catch_up_lhs", "catch_up_rhs", true),
            ("sumRows", "sumColumns", true),
            ("read_rows", "write_columns", false),
            ("encode_left", "decode_left", false),
            ("left", "left", false),
        ];
        for (a, b, expected) in cases {
            assert_eq!(are_sides(a, b), expected, "{a} {b}");
        }
    }
}
