//! Whether two texts are one text with other words in it: `constant_u32` and `constant_f32`, what is done
//! to the rows and what is done to the columns. Where the same word always stands for the same other one,
//! and there are no more than two such pairs, both are one function with a parameter.

use coalesce_model::{TokenClass, outline::marks};
use rustc_hash::FxHashMap;

use crate::{
    opposites,
    source::{SourceFile, Token},
};

/// Pairs of words beyond which what differs is more than a parameter or two.
const MOST_PAIRS: usize = 2;

/// Tokens in their file.
pub type Text<'f> = (&'f SourceFile, &'f [Token]);

/// How many pairs of words one text is rewritten by to be the other one; `None` where more than two are
/// needed, a word stands for several, or the texts differ in anything but words. Local names may be
/// others, each for one, and messages do not count.
#[must_use]
pub fn pairs_between(a: Text<'_>, b: Text<'_>) -> Option<usize> {
    if a.1.len() != b.1.len() {
        return None;
    }
    let (mut locals, mut words) = (OneToOne::default(), OneToOne::default());
    for (left, right) in a.1.iter().zip(b.1) {
        if kind(left) != kind(right) {
            return None;
        }
        if left.has(marks::LOCAL) {
            if !locals.add(left.id, right.id) {
                return None;
            }
        } else if left.id != right.id && left.class != TokenClass::Prose {
            rewrite((a.0, left), (b.0, right), &mut words)?;
        }
    }
    Some(words.there.len())
}

/// What a token is, as far as no words are rewritten: the rest has to be the same.
pub const fn kind(token: &Token) -> (u8, u32) {
    match token.class {
        TokenClass::Prose => (1, 0),
        TokenClass::Key => (2, 0),
        TokenClass::Number => (3, 0),
        TokenClass::Word if token.has(marks::LOCAL) => (4, 0),
        TokenClass::Word => (5, 0),
        TokenClass::Punct | TokenClass::Keyword => (6, token.id),
    }
}

/// Adds the words by which two names, keys or numbers differ.
fn rewrite(
    (left_file, left): (&SourceFile, &Token),
    (right_file, right): (&SourceFile, &Token),
    words: &mut OneToOne<String>,
) -> Option<()> {
    let text = |file: &SourceFile, token: &Token| -> Vec<String> {
        let text = token.span().of(&file.text).unwrap_or("");
        match token.class {
            TokenClass::Number => vec![text.to_owned()],
            _ => opposites::words_of_name(
                &text.replace(|letter: char| !letter.is_alphanumeric(), "_"),
            ),
        }
    };
    let (a, b) = (text(left_file, left), text(right_file, right));
    if a.len() == b.len() {
        for (one, other) in a.into_iter().zip(b).filter(|(one, other)| one != other) {
            words.add(one, other).then_some(())?;
        }
    } else {
        words.add(a.join("_"), b.join("_")).then_some(())?;
    }
    (words.there.len() <= MOST_PAIRS).then_some(())
}

/// What stands for what, each for one.
struct OneToOne<T> {
    there: FxHashMap<T, T>,
    back: FxHashMap<T, T>,
}

impl<T> Default for OneToOne<T> {
    fn default() -> Self {
        Self {
            there: FxHashMap::default(),
            back: FxHashMap::default(),
        }
    }
}

impl<T: Clone + Eq + std::hash::Hash> OneToOne<T> {
    /// Whether the second still stands for the first, and for nothing else.
    fn add(&mut self, one: T, other: T) -> bool {
        let there = self
            .there
            .entry(one.clone())
            .or_insert_with(|| other.clone());
        let fits = *there == other;
        fits && *self.back.entry(other).or_insert_with(|| one.clone()) == one
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use coalesce_model::{Outline, OutlineToken, TreePath};

    /// Words in a row, as one text: those in capitals are local names.
    fn file(words: &str) -> SourceFile {
        let mut at = 0;
        let token = |word: &str| {
            let start = at;
            at += u32::try_from(word.len()).expect("it is short") + 1;
            let is_local = word.bytes().all(|byte| byte.is_ascii_uppercase());
            OutlineToken {
                span: coalesce_model::ByteSpan::new(start, at - 1),
                class: match word.as_bytes() {
                    [b'0'..=b'9', ..] => TokenClass::Number,
                    [b'a'..=b'z' | b'A'..=b'Z', ..] => TokenClass::Word,
                    _ => TokenClass::Punct,
                },
                marks: if is_local { marks::LOCAL } else { 0 },
            }
        };
        let outline = Outline {
            tokens: words.split(' ').map(token).collect(),
            units: Vec::new(),
        };
        let path = TreePath::new("a.py").expect("it is a path");
        SourceFile::new(path, &coalesce_python::Python, words.into(), &outline)
    }

    fn pairs(a: &str, b: &str) -> Option<usize> {
        let (a, b) = (file(a), file(b));
        pairs_between((&a, &a.tokens), (&b, &b.tokens))
    }

    #[test]
    fn one_text_is_another_with_a_word_in_place_of_another() {
        let cases = [
            (
                "constant_u32 ( X , write_u32 )",
                "constant_f32 ( X , write_f32 )",
                Some(1),
            ),
            // Local names are what they are.
            ("get ( X ) + X", "get ( Y ) + Y", Some(0)),
            ("get ( X ) + X", "get ( Y ) + Z", None),
            // The case does not part words, and what is counted goes along.
            ("readLeft ( left , 1 )", "readRight ( right , 2 )", Some(2)),
            // A word that stands for two is no parameter, nor are three words.
            ("left ( left )", "right ( center )", None),
            (
                "a_one ( b_two , c_three )",
                "a_four ( b_five , c_six )",
                None,
            ),
            ("f ( x )", "f [ x ]", None),
            ("f ( x )", "f ( x ) + 1", None),
        ];
        for (a, b, expected) in cases {
            assert_eq!(pairs(a, b), expected, "{a} / {b}");
        }
    }
}
