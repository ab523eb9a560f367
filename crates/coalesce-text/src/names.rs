//! Full names in plain text.

use std::ops::Range;

use coalesce_model::{ByteSpan, reference::ends_with_name_scheme};

fn joins(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where `name` stands as a whole: nothing that could belong to a longer name or path touches its
/// start, and no identifier goes on at its end.
pub fn occurrences<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = ByteSpan> + 't {
    let found = memchr::memmem::find_iter(text.as_bytes(), name.as_bytes());
    let found = found.map(|at| at..at + name.len());
    found
        .filter(|place| stands_alone(text, place.clone()))
        .map(ByteSpan::from_range)
}

/// Whether the name at this place is a whole one: nothing that could belong to a longer name or path touches
/// its start, and no identifier goes on at its end.
pub fn stands_alone(text: &str, place: Range<usize>) -> bool {
    let parts = (
        text.get(..place.start),
        text.get(place.clone()),
        text.get(place.end..),
    );
    let (Some(before), Some(name), Some(after)) = parts else {
        return false;
    };
    let starts = !before.chars().next_back().is_some_and(|c| {
        joins(c)
            || matches!(c, '.' | '/' | '-' | ':') && !is_punctuation(text, place.start, (c, name))
    });
    let ends = !after.chars().next().is_some_and(|c| joins(c) || c == '-');
    starts && ends
}

/// Whether what stands before a name is punctuation of the file, not a part of the name: `./path`, a
/// path from the root of the tree, the colon of `key:value` or of `error::pkg.Warning`.
fn is_punctuation(text: &str, at: usize, (before, name): (char, &str)) -> bool {
    let head = text.get(..at).unwrap_or_default();
    match before {
        '/' if ends_with_name_scheme(head) => true,
        '/' if head.ends_with("./") => !head.ends_with("../"),
        '/' if name.contains('/') => {
            let first = head.trim_end_matches('/').chars().next_back();
            first.is_none_or(|c| c.is_whitespace() || "\"'=!^:,([{".contains(c))
        }
        ':' => !(head.ends_with("::") && name.contains("::")),
        _ => false,
    }
}

/// Every dotted or `::` name of two and more segments in a text.
pub fn dotted(text: &str) -> Vec<(ByteSpan, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    let bytes = text.as_bytes();
    let part = |byte: u8| {
        byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.' || byte == b':' || byte >= 0x80
    };
    while at < bytes.len() {
        if !bytes.get(at).copied().is_some_and(part) {
            at += 1;
            continue;
        }
        let end = bytes
            .iter()
            .skip(at)
            .position(|byte| !part(*byte))
            .map_or(bytes.len(), |length| at + length);
        let path = at
            .checked_sub(1)
            .and_then(|before| bytes.get(before))
            .is_some_and(|byte| matches!(byte, b'/' | b'-'))
            && !text.get(..at).is_some_and(ends_with_name_scheme);
        let whole = text.get(at..end).unwrap_or_default();
        let name = whole.trim_end_matches(['.', ':']);
        let name = if name.contains("::") {
            name
        } else {
            name.split(':').next().unwrap_or(name)
        };
        if !path && (name.contains('.') || name.contains("::")) && !name.starts_with(['.', ':']) {
            found.push((ByteSpan::from_range(at..at + name.len()), name));
        }
        at = end;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_alone_or_goes_on_with_a_dot() {
        for (text, count) in [
            ("_target_: p.old.Class", 1),
            ("class: p.old", 1),
            ("cli = \"p.old:main\"", 1),
            ("x.p.old", 0),
            ("p.old_memory", 0),
            ("a/p.old", 0),
            ("key:p.old", 1),
            ("error::p.old.W", 1),
            ("/p.old", 0),
            ("stream: ext://p.old.STREAM", 1),
            ("https://p.old", 0),
        ] {
            assert_eq!(occurrences(text, "p.old").count(), count, "{text}");
        }
        for (text, count) in [
            ("/src/a.py @team", 1),
            ("include ./src/a.py", 1),
            ("../src/a.py", 0),
            ("https://host/src/a.py", 0),
            ("other/src/a.py", 0),
        ] {
            assert_eq!(occurrences(text, "src/a.py").count(), count, "{text}");
        }
        let names: Vec<_> = dotted("a: p.q.R, x::y; v1 p.q:main")
            .into_iter()
            .map(|(_, name)| name)
            .collect();
        assert_eq!(names, ["p.q.R", "x::y", "p.q"]);
    }
}
