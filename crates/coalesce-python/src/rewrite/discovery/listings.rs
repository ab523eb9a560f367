//! What calls list of a folder, as far as their text says it.

use crate::{
    names::{arguments_at, content_of, is_word},
    rewrite::module_names::in_parentheses,
};

/// Whether a text lists files that may be sources, by a call that lists all (`whole`) or by a pattern. `entries` are the
/// names that lists of folders may lose and get.
pub(super) fn may_list(text: &str, whole: &[&str], entries: &[&str]) -> bool {
    whole.iter().any(|call| text.contains(call))
        || text.match_indices("glob(").any(|(at, call)| {
            let rest = text.get(at + call.len()..).unwrap_or_default();
            may_match(rest, entries)
        })
}

/// Whether the pattern that a text begins with may be of sources: it is not written out (`"*.json" + …`), or it neither ends
/// with the extension of something else nor begins with what no entry does.
fn may_match(text: &str, entries: &[&str]) -> bool {
    let pattern = literal(text).or_else(|| joined(text));
    let Some(pattern) = pattern.or_else(|| behind(text)) else {
        return true;
    };
    let last = pattern.rsplit('/').next().unwrap_or(pattern);
    let extension = last.rsplit_once('.').map(|(_, extension)| extension);
    let plain = |extension: &&str| {
        !extension.is_empty() && extension.chars().all(|c| c.is_ascii_alphanumeric())
    };
    if let Some(extension) = extension.filter(plain) {
        return extension.starts_with("py") || matches!(extension, "so" | "pxd" | "ipynb");
    }
    let begins = last
        .split(|c: char| !is_word(c) && c != '-' && c != ' ')
        .next();
    let begins = begins.unwrap_or_default().to_lowercase();
    entries
        .iter()
        .any(|entry| entry.to_lowercase().starts_with(&begins))
}

/// The text in quotes that is all of the first argument of a call.
fn literal(text: &str) -> Option<&str> {
    let rest = text.trim_start();
    let quote = rest
        .chars()
        .next()
        .filter(|first| matches!(first, '"' | '\''))?;
    let (pattern, after) = rest.get(1..)?.split_once(quote)?;
    // More may follow the literal.
    let ends = after.trim_start().starts_with([')', ',']);
    ends.then_some(pattern)
}

/// The text in quotes that a call of `join` ends with which is all of the argument: `glob(path.join(folder, "*.lua"))`.
fn joined(text: &str) -> Option<&str> {
    let argument = in_parentheses(text).trim();
    let (called, inside) = argument.strip_suffix(')')?.split_once("join(")?;
    let plain = called.chars().all(|c| is_word(c) || c == '.');
    let last = inside.rsplit(',').next()?.trim();
    content_of(last).filter(|_| plain && inside.contains(','))
}

/// The one pattern among the arguments behind the first one: `find_glob(folder, "*.nii.gz")`.
fn behind(text: &str) -> Option<&str> {
    let arguments = arguments_at(text, 0);
    let others = arguments.iter().skip(1);
    let mut patterns = others.filter_map(|(_, argument)| {
        let value = argument.rsplit('=').next()?.trim();
        content_of(value).filter(|value| value.contains('*'))
    });
    patterns.next().filter(|_| patterns.next().is_none())
}

/// The folders that a file in the folder `own` lists, where every call that lists one says which: `Path(__file__)`, the
/// folders above it and names below those. Patterns that no entry matches list nothing of it.
pub(super) fn folders(text: &str, own: &str, entries: &[&str]) -> Option<Vec<String>> {
    if may_list(text, &["listdir", "scandir", "walk("], entries) {
        return None;
    }
    let listed = text.match_indices(".iterdir").map(|(at, _)| {
        let before = text.get(..at)?;
        let line = before.rsplit('\n').next()?;
        let start = line.rfind("Path(__file__)")?;
        folder(line.get(start + "Path(__file__)".len()..)?, own)
    });
    let listed: Option<Vec<String>> = listed.collect();
    listed.filter(|listed| !listed.is_empty())
}

/// Where steps lead from a file in the folder `own`: `.parent.joinpath("name")`.
fn folder(steps: &str, own: &str) -> Option<String> {
    let mut path: Vec<&str> = own.split('/').filter(|part| !part.is_empty()).collect();
    // The file itself is below its folder.
    path.push("");
    let mut rest = steps;
    while !rest.is_empty() {
        let (step, others) = next_step(rest)?;
        match step {
            Step::Stay => {}
            Step::Up => drop(path.pop()?),
            Step::Down(name) => path.push(name),
        }
        rest = others;
    }
    (path.last() != Some(&"")).then(|| path.join("/"))
}

enum Step<'t> {
    Stay,
    Up,
    Down(&'t str),
}

fn next_step(text: &str) -> Option<(Step<'_>, &str)> {
    for same in [".resolve()", ".absolute()"] {
        if let Some(rest) = text.strip_prefix(same) {
            return Some((Step::Stay, rest));
        }
    }
    if let Some(rest) = text.strip_prefix(".parent") {
        return (!rest.starts_with(is_word)).then_some((Step::Up, rest));
    }
    let given = text.strip_prefix(".joinpath(")?;
    let name = literal(given)?;
    let rest = given.get(name.len() + 2..)?.strip_prefix(')')?;
    let plain = !name.is_empty() && name.chars().all(is_word);
    plain.then_some((Step::Down(name), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_sources_are_told_from_others() {
        for (text, expected) in [
            ("p.glob('*.json')", false),
            ("p.glob('*.json' + x)", true),
            ("p.glob('*.py')", true),
            ("p.glob('*')", true),
            ("p.glob('ITK-SNAP*')", false),
            ("p.glob('tool*')", true),
            ("p.glob('TOOL*')", true),
            ("p.glob('**/*')", true),
            ("p.glob(pattern)", true),
            ("glob.glob(path.join(folder, '*.lua'))", false),
            ("glob.glob(os.path.join(folder, '*.py'))", true),
            ("glob.glob(os.path.join(folder, name))", true),
            ("glob.glob(os.path.join(folder, '*.lua') + x)", true),
            ("sglob(folder / 'label', '*.nii.gz')", false),
            ("sglob(folder, '*.py')", true),
            ("sglob(folder, '*.c', '*.py')", true),
        ] {
            assert_eq!(may_list(text, &[], &["tools", "added"]), expected, "{text}");
        }
        assert!(may_list("os.listdir(x)", &["listdir("], &[]));
    }

    #[test]
    fn folders_that_a_file_says_are_known() {
        for (text, expected) in [
            ("Path(__file__).parent.iterdir()", Some("a/b")),
            (
                "Path(__file__).resolve().parent.parent.iterdir()",
                Some("a"),
            ),
            (
                "Path(__file__).parent.joinpath(\"c\").iterdir()",
                Some("a/b/c"),
            ),
            ("Path(__file__).parent.joinpath(name).iterdir()", None),
            ("Path(__file__).parent.iterdir(); p.glob('x*')", Some("a/b")),
            ("Path(__file__).parent.iterdir(); p.glob('o*')", None),
            ("Path(__file__).parents[1].iterdir()", None),
            ("folder.iterdir()", None),
            ("Path(__file__).parent.iterdir(); os.listdir(x)", None),
        ] {
            let found = folders(text, "a/b", &["old"]).and_then(|mut all| all.pop());
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }
}
