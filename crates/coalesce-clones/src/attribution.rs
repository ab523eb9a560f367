//! Whose text something is, as far as comments say: they tell what it was taken from, or where to read it. Such a text
//! is kept as it came, so that it can be held against its source again. Whose it is in the end nobody asks, and one file
//! in which it stands twice is free to write it once.

use std::collections::BTreeSet;

use crate::{merging::Place, standing};

/// Lines at the beginning of a file in which it is looked for.
const HEAD: usize = 24;
/// Places that are looked at: what holds of these holds of a class.
const ASKED: usize = 7;
/// What authors write who have a text from elsewhere, in lower case, and what stands behind it.
const TAKEN: [&str; 9] = [
    "adapted", "adopted", "borrowed", "copied", "derived", "forked", "modified", "ported", "taken",
];
const OF: [&str; 2] = ["from", "version"];
/// How addresses begin.
const ADDRESSES: [&str; 2] = ["http://", "https://"];
/// Where licences are read, behind how an address begins: any file names one.
const OF_LICENCES: [&str; 8] = [
    "apache.org",
    "creativecommons.org",
    "gnu.org",
    "mozilla.org",
    "opensource.org",
    "spdx.org",
    "unlicense.org",
    "choosealicense.com",
];

/// Whether several files have it, and one of them says at its beginning, or at the place, where the text is from.
pub fn of_files(places: &[Place<'_>]) -> bool {
    let files: BTreeSet<_> = places.iter().map(|(file, _)| &file.path).collect();
    files.len() > 1 && places.iter().take(ASKED).any(is_attributed)
}

fn is_attributed((file, unit): &Place<'_>) -> bool {
    let head = file.text.lines().take(HEAD);
    head.chain(standing::beginning(file, unit).lines())
        .any(names_source)
}

/// Whether a line says where a text is from.
fn names_source(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    let behind = |address: &str| {
        let (_, rest) = line.split_once(address)?;
        Some(rest.strip_prefix("www.").unwrap_or(rest).to_owned())
    };
    let is_of_licence = |rest: &String| OF_LICENCES.iter().any(|place| rest.starts_with(place));
    let mut addresses = ADDRESSES.into_iter().filter_map(behind);
    addresses.any(|rest| !is_of_licence(&rest)) || is_taken(&line)
}

/// Whether two words in a row say that it was taken.
fn is_taken(line: &str) -> bool {
    let is_mark = |letter: char| !letter.is_alphanumeric() && letter != '_';
    let words = line.split_whitespace();
    let words = words.map(|word| word.trim_matches(is_mark));
    let next = words.clone().skip(1);
    words
        .zip(next)
        .any(|(word, next)| TAKEN.contains(&word) && OF.contains(&next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_where_a_text_is_from() {
        for (line, expected) in [
            ("# Adapted from the reference implementation", true),
            ("// modified version of the encoder", true),
            ("# https://github.com/someone/project/blob/main/a.py", true),
            ("#   http://www.apache.org/licenses/LICENSE-2.0", false),
            ("# see https://opensource.org/licenses/MIT", false),
            ("# Copied when the device is lost", false),
            ("from adapted import version", false),
            ("taken = from_device(x)", false),
        ] {
            assert_eq!(names_source(line), expected, "{line}");
        }
    }
}
