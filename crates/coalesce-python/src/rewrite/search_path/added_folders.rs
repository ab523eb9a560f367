//! What a file puts into `sys.path`, as far as it says that: folders above its own.

use coalesce_model::TreePath;

use super::CHANGING;
use crate::{names::is_word, rewrite::module_names::in_parentheses};

/// Words of paths that go up from a file, and of the calls that add them.
const UPWARDS: [&str; 14] = [
    "Path", "abspath", "dirname", "file", "fspath", "join", "os", "parent", "parents", "path",
    "pathlib", "realpath", "resolve", "str",
];

/// Whether a file changes where modules are looked for, by more than a comment.
pub(super) fn changes_path(text: &str) -> bool {
    places(text).next().is_some()
}

/// Whether all that a file adds lies above it: `sys.path.insert(0, os.path.abspath(".."))` in a `conf.py`, which is executed
/// in its folder, or what goes up from `__file__`. Nothing of another folder is found by that.
pub(super) fn are_above(path: &TreePath, text: &str) -> bool {
    let in_folder = path.file_name() == "conf.py";
    places(text).all(|at| {
        let rest = text
            .get(at..)
            .and_then(|rest| rest.strip_prefix("sys.path."));
        let call = rest.and_then(|rest| {
            let rest = rest
                .strip_prefix("insert(")
                .or_else(|| rest.strip_prefix("append("));
            rest.map(in_parentheses)
        });
        call.is_some_and(|given| goes_up(given) && (in_folder || given.contains("__file__")))
    })
}

/// Whether a path is made of dots and of what goes up alone.
fn goes_up(given: &str) -> bool {
    let is_upwards = |code: &str| {
        let mut words = code
            .split(|c: char| !is_word(c))
            .map(|word| word.trim_matches('_'));
        words.all(|word| word.chars().all(|c| c.is_ascii_digit()) || UPWARDS.contains(&word))
    };
    // Every other part stands between quotes.
    let mut parts = given.split(['"', '\'']).enumerate();
    parts.all(|(at, part)| match at % 2 {
        0 => is_upwards(part),
        _ => part.chars().all(|c| matches!(c, '.' | '/')),
    })
}

/// Where the words stand that change it, but for lines that are comments.
fn places(text: &str) -> impl Iterator<Item = usize> {
    let words = CHANGING.iter().flat_map(|word| text.match_indices(word));
    words.map(|(at, _)| at).filter(|at| {
        let before = text.get(..*at).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        !line.trim_start().starts_with('#')
    })
}
