//! Whether local names of one text stand for those of another one throughout. Where statements are compared, local
//! names do not count; that `a` is `b` in one place and `c` in the next is a difference all the same, and often a
//! slip of whoever copied.

use coalesce_model::outline::marks;
use rustc_hash::FxHashMap;
use similar::DiffOp;

use crate::{align::Statement, source::SourceFile};

/// The statements of one text.
pub type Statements<'s> = (&'s SourceFile, &'s [Statement]);

/// What one name stands for, by its number and that of the other one.
type Names = (u32, u32);

/// Pairs of statements, one of each text, that are equal by `parts` and in which a name stands for another one than
/// most of the text has it.
#[must_use]
pub fn torn(a: Statements<'_>, b: Statements<'_>, parts: &[DiffOp]) -> Vec<(usize, usize)> {
    let equal = parts.iter().filter_map(|part| match part {
        DiffOp::Equal {
            old_index,
            new_index,
            len,
        } => Some((0..*len).map(move |at| (old_index + at, new_index + at))),
        _ => None,
    });
    let renamed = equal
        .flatten()
        .map(|pair| (pair, names(a, b, pair)))
        .filter(|(_, names)| !names.is_empty());
    let renamed: Vec<((usize, usize), Vec<Names>)> = renamed.collect();
    let meant = most_meant(renamed.iter().flat_map(|(_, names)| names));
    let is_torn = |names: &Names| meant.get(&names.0) != Some(&names.1);
    let torn = renamed
        .iter()
        .filter(|(_, names)| names.iter().any(is_torn));
    torn.map(|(pair, _)| *pair).collect()
}

/// The local names that stand at one place in two equal statements.
fn names(a: Statements<'_>, b: Statements<'_>, (left, right): (usize, usize)) -> Vec<Names> {
    fn tokens<'s>((file, list): Statements<'s>, at: usize) -> &'s [crate::Token] {
        let range = list.get(at).map(|statement| statement.tokens);
        let range = range.map_or(0..0, |(first, end)| first as usize..end as usize);
        file.tokens.get(range).unwrap_or_default()
    }
    let both = tokens(a, left).iter().zip(tokens(b, right));
    let local = both.filter(|(one, other)| one.has(marks::LOCAL) && other.has(marks::LOCAL));
    local.map(|(one, other)| (one.id, other.id)).collect()
}

/// For each name of the first text the one that it stands for most often, each for one: those that stand together
/// oftenest come first, and of these those that come first.
fn most_meant<'n>(names: impl Iterator<Item = &'n Names>) -> FxHashMap<u32, u32> {
    let mut counts: FxHashMap<Names, (usize, usize)> = FxHashMap::default();
    for (at, names) in names.enumerate() {
        counts.entry(*names).or_insert((0, at)).0 += 1;
    }
    let mut counts: Vec<(Names, (usize, usize))> = counts.into_iter().collect();
    counts.sort_unstable_by_key(|(_, (count, first))| (std::cmp::Reverse(*count), *first));
    let (mut there, mut back) = (FxHashMap::default(), FxHashMap::default());
    for ((one, other), _) in counts {
        if !there.contains_key(&one) && !back.contains_key(&other) {
            there.insert(one, other);
            back.insert(other, one);
        }
    }
    there
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align;
    use coalesce_model::{ByteSpan, Outline, OutlineToken, TokenClass, TreePath, outline::marks};

    /// Statements of one line each: words in capitals are local names.
    fn file(text: &str) -> (SourceFile, Vec<Statement>) {
        let mut at = 0;
        let mut tokens = Vec::new();
        for line in text.split(';') {
            for (place, word) in line.split(' ').enumerate() {
                let start = at;
                at += u32::try_from(word.len()).expect("it is short") + 1;
                let is_local = word.bytes().all(|byte| byte.is_ascii_uppercase());
                let local = if is_local { marks::LOCAL } else { 0 };
                let begins = if place == 0 { marks::STATEMENT } else { 0 };
                tokens.push(OutlineToken {
                    span: ByteSpan::new(start, at - 1),
                    class: TokenClass::Word,
                    marks: local | begins,
                });
            }
        }
        let outline = Outline {
            tokens,
            units: Vec::new(),
        };
        let path = TreePath::new("a.py").expect("it is a path");
        let file = SourceFile::new(path, &coalesce_python::Python, text.into(), &outline);
        let end = u32::try_from(file.tokens.len()).expect("it is short");
        let mut lines = align::LineCounter::of_file(&file);
        let statements = align::statements_in(&file, (0, end), &mut lines);
        (file, statements)
    }

    #[test]
    fn a_name_that_stands_for_two_is_a_difference() {
        let cases: [(&str, &str, &[usize]); 5] = [
            ("get X;put X", "get Y;put Y", &[]),
            ("low X Y;get X;put Y", "low X Y;get X;put X", &[2]),
            ("low X;low Y;get X;put Y", "low Y;low X;get Y;put X", &[]),
            ("get X;put X;set X", "get Y;put Y;set Z", &[2]),
            // Two names for one: the one that stands there less often is the slip.
            ("get X;put X;set Y", "get Z;put Z;set Z", &[2]),
        ];
        for (a, b, expected) in cases {
            let (left, right) = (file(a), file(b));
            let parts = align::align(&left.1, &right.1);
            let torn = torn((&left.0, &left.1), (&right.0, &right.1), &parts);
            let torn: Vec<usize> = torn.into_iter().map(|(at, _)| at).collect();
            assert_eq!(torn, expected, "{a} / {b}");
        }
    }
}
