//! Tests in a module that gives way: nobody calls them, and yet they go along with what they test.

use coalesce_clones::coverage::Entry;

use super::{
    Merge,
    fates::{Fate, Part, last},
};

/// Whether a definition, with its attributes, is a test or a benchmark of Rust.
pub(super) fn is_test(text: &str) -> bool {
    let mut rest = text.trim_start();
    loop {
        if let Some((_, below)) = comment(rest) {
            rest = below.trim_start();
            continue;
        }
        let Some(attribute) = rest.strip_prefix("#[") else {
            return false;
        };
        let end = end_of(attribute);
        let said = attribute.get(..end).unwrap_or_default();
        let path = said.split(['(', '=', '[', '{']).next().unwrap_or_default();
        if matches!(last(path.trim()), "test" | "bench") {
            return true;
        }
        rest = attribute.get(end + 1..).unwrap_or_default().trim_start();
    }
}

/// A comment of one line that a text begins with, and what stands below.
fn comment(text: &str) -> Option<(&str, &str)> {
    text.starts_with("//")
        .then(|| text.split_once('\n').unwrap_or((text, "")))
}

/// Where the bracket is that closes an attribute.
fn end_of(attribute: &str) -> usize {
    let (mut depth, mut quoted) = (0_usize, false);
    for (at, letter) in attribute.char_indices() {
        match letter {
            '"' => quoted = !quoted,
            '[' if !quoted => depth += 1,
            ']' if !quoted && depth == 0 => return at,
            ']' if !quoted => depth -= 1,
            _ => {}
        }
    }
    attribute.len()
}

/// What becomes of a test: it goes along where nothing is said of it, under another name where the module that stays
/// has one of its name which tests something else.
pub(super) fn fate(merge: &Merge<'_>, part: &Part<'_>, all: &[Entry]) -> Fate {
    let Fate::Pending { .. } = part.fate else {
        return part.fate.clone();
    };
    let taken = |name: &str| {
        let mut there = all.iter().filter_map(|entry| entry.right.as_ref());
        there.any(|place| last(&place.name) == name)
    };
    let [name] = part.names.as_slice() else {
        return Fate::Move(None);
    };
    if !taken(name) {
        return Fate::Move(None);
    }
    let new = format!("{name}_of_{}", last(&merge.open.entry.from.text));
    let mut own = all.iter().filter_map(|entry| entry.left.as_ref());
    match taken(&new) || own.any(|place| last(&place.name) == new) {
        true => Fate::Undecided,
        false => Fate::Move(Some(new)),
    }
}
