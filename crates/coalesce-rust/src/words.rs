//! Lists of names that the language, its library and its tools have: data, in `words.txt`, with what
//! each list is for.

use std::sync::OnceLock;

use rustc_hash::FxHashSet;

use crate::discover::Edition;

/// The text of all lists.
const TEXT: &str = include_str!("words.txt");

/// One list.
pub(crate) struct Words {
    section: &'static str,
    known: OnceLock<FxHashSet<&'static str>>,
}

impl Words {
    /// Whether a word is on the list.
    pub fn contains(&self, word: &str) -> bool {
        let known = self.known.get_or_init(|| read(self.section));
        known.contains(word)
    }
}

macro_rules! lists {
    ($($name:ident = $section:literal;)*) => {
        $(pub(crate) static $name: Words = Words { section: $section, known: OnceLock::new() };)*

        #[cfg(test)]
        const ALL: &[&Words] = &[$(&$name),*];
    };
}

lists! {
    KEYWORDS = "keywords";
    NESTING_WORDS = "words that nest";
    PRIMITIVES = "primitives";
    PRELUDE = "prelude";
    EVERYWHERE = "names that signatures may say anywhere";
    COMPILER_ATTRIBUTES = "attributes of the compiler";
    BUILT_IN_ATTRIBUTES = "built-in attributes";
    NAMED_ALONE = "attributes of what is reached by its name";
    PLAIN_ATTRIBUTES = "plain attributes";
    PLAIN_DERIVES = "plain derives";
    STANDARD_DERIVES = "derives of the standard library";
    CRATE_ATTRIBUTES = "attributes of a crate alone";
    CRATE_DOCS = "options of doc for a crate";
    EXPRESSION_MACROS = "macros of expressions";
    FORMAT_MACROS = "macros with a format";
    QUIET_LINTS = "quiet lints";
    LOUD_TOOL_LINTS = "loud lints of tools";
    BODY_LINTS = "lints of bodies";
    INHERENT_METHODS = "methods that types have by themselves";
    NUMBER_METHODS = "methods that numbers have by themselves";
    ORDINARY_METHODS = "methods that no trait gives";
    WRAPPING_MACROS = "macros around definitions";
    GIVING_UP_MACROS = "macros that give up";
    LOG_MACROS = "macros that log";
    NAMELESS_DERIVES = "derives that show no name";
    OF_CORE = "names of std that core has";
    OF_ALLOC = "names of std that alloc has";
    FLOAT_METHODS = "methods of floats in std alone";
    ALLOCATING_METHODS = "methods of slices and texts in alloc alone";
    KNOWN_CONDITIONS = "conditions that the compiler knows";
}

/// Traits of the standard library that no prelude of all editions has, with their methods.
pub(crate) const STANDARD_TRAITS: &str = "traits of the standard library";
/// Traits of crates that many use, with their methods, as those crates document them.
pub(crate) const KNOWN_TRAITS: &str = "traits of known crates";

/// Conditions that the compiler knows with a few values, with those.
pub(crate) const VALUES_OF_CONDITIONS: &str = "values of conditions";

/// Lints that say nothing of code which has none of certain words.
pub(crate) const LINTS_OF_WORDS: &str = "lints of words";

/// Words that an edition reads otherwise than the one before, with what becomes of it.
pub(crate) const EDITIONS: [(Edition, &str); 2] = [
    (Edition::E2021, "words of edition 2021"),
    (Edition::E2024, "words of edition 2024"),
];

/// What a line of a section says of a name.
pub(crate) fn text_of(section: &str, name: &str) -> Option<&'static str> {
    let mut pairs = lines(section).filter_map(|line| line.split_once(" = "));
    let (_, found) = pairs.find(|(known, _)| *known == name)?;
    Some(found)
}

/// The words that a line of a section has for a name: the methods of a trait.
pub(crate) fn words_of(section: &str, name: &str) -> Option<impl Iterator<Item = &'static str>> {
    let mut pairs = lines(section).filter_map(|line| line.split_once(" = "));
    let (_, found) = pairs.find(|(known, _)| *known == name)?;
    Some(found.split(' '))
}

/// All that is said behind the names of a section.
pub(crate) fn words_in(section: &str) -> impl Iterator<Item = &'static str> {
    let pairs = lines(section).filter_map(|line| line.split_once(" = "));
    pairs.flat_map(|(_, found)| found.split(' '))
}

fn read(section: &str) -> FxHashSet<&'static str> {
    let mut found = FxHashSet::default();
    for line in lines(section) {
        match line.strip_prefix('+') {
            Some(other) => found.extend(read(other)),
            None => found.extend(line.split_ascii_whitespace()),
        }
    }
    found
}

fn lines(section: &str) -> impl Iterator<Item = &'static str> {
    let after = TEXT.lines().skip_while(move |line| {
        let name = line
            .strip_prefix('[')
            .and_then(|line| line.strip_suffix(']'));
        name != Some(section)
    });
    after.skip(1).take_while(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_has_words() {
        for words in ALL {
            assert!(!read(words.section).is_empty(), "{}", words.section);
        }
        assert!(PRELUDE.contains("u8") && PRELUDE.contains("Vec") && PRELUDE.contains("vec"));
        assert!(!EVERYWHERE.contains("vec"));
        for section in [STANDARD_TRAITS, KNOWN_TRAITS, LINTS_OF_WORDS] {
            assert!(lines(section).all(|line| line.contains(" = ")));
        }
    }
}
