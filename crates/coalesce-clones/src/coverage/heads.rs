//! The heads of two definitions: parameters, defaults, decorators, attributes, visibility, bases.
//!
//! The name itself is no difference. Names of parameters are part of a signature where callers may spell them; else they
//! are local names.

use coalesce_model::{envelope::DifferenceAspect, outline::marks};

use super::{
    PartKind,
    aspects::Within,
    compare::{self, Compared, Piece, Told},
    meaning::{Meaning, Meant},
    parts::Part,
};

/// A head in pieces.
#[derive(Default)]
struct Head {
    parameters: Vec<Piece>,
    rest: Vec<Piece>,
}

/// Compares two heads.
pub(super) fn compare(a: &Meaning<'_>, left: &Part, b: &Meaning<'_>, right: &Part) -> Compared {
    let bound = left.kind != right.kind;
    let (x, y) = (Head::new(a, left, bound), Head::new(b, right, bound));
    let parameters = compare::compare(
        (a, &x.parameters),
        (b, &y.parameters),
        Told {
            aspect: Some(DifferenceAspect::Default),
            ..Told::default()
        },
    );
    let told = Told {
        aspect: Some(DifferenceAspect::Signature),
        ..Told::default()
    };
    let mut found = compare::compare((a, &x.rest), (b, &y.rest), told);
    found.differences.extend(parameters.differences);
    found.renamed.extend(parameters.renamed);
    found
}

/// Parameters of two definitions that are each other, as hashes of their names: those of one
/// name where callers may spell it, else those of one place.
pub(super) fn parameters(
    a: &Meaning<'_>,
    left: &Part,
    b: &Meaning<'_>,
    right: &Part,
) -> Vec<(u32, u32)> {
    let (x, y) = (names(a, left), names(b, right));
    if !a.reader.file.lexicon().spells_parameters {
        return x.into_iter().zip(y).collect();
    }
    let both = x.into_iter().filter(|name| y.contains(name));
    both.map(|name| (name, name)).collect()
}

/// Whether both take parameters, other than the one that a method is bound to.
pub(super) fn both_take(a: &Meaning<'_>, left: &Part, b: &Meaning<'_>, right: &Part) -> bool {
    !names(a, left).is_empty() && !names(b, right).is_empty()
}

/// Hashes of the names of parameters.
fn names(meaning: &Meaning<'_>, part: &Part) -> Vec<u32> {
    let tokens = (part.head.0..part.head.1).filter_map(|at| meaning.reader.token(at));
    let declared = tokens.filter(|token| token.has(marks::PARAMETER));
    declared.map(|token| token.id).collect()
}

impl Head {
    /// `bound` leaves out the parameter that a method is bound to.
    fn new(meaning: &Meaning<'_>, part: &Part, bound: bool) -> Self {
        let callable = matches!(part.kind, PartKind::Function | PartKind::Method);
        let mut head = Self::default();
        let (mut piece, mut depth, mut defined) = (Vec::new(), 0usize, false);
        let (mut inside, mut listed) = (false, false);
        for word in meaning.read(part.head) {
            let token = meaning.reader.token(word.token);
            let is = |mark: u8| token.is_some_and(|token| token.has(mark));
            if is(marks::DEFINED) {
                defined = true;
                continue;
            }
            if is(marks::STATEMENT)
                && piece
                    .last()
                    .is_none_or(|last: &Meant| last.token != word.token)
            {
                head.add(meaning, &mut piece, inside, bound);
            }
            let text = meaning.reader.word(word.token);
            let opens = matches!(text, "(" | "[" | "{");
            let closes = matches!(text, ")" | "]" | "}");
            depth = depth.saturating_sub(usize::from(closes));
            if closes && inside && depth == 0 {
                head.add(meaning, &mut piece, inside, bound);
                inside = false;
            }
            let separates = text == "," && inside && depth == 1;
            let begins = text == "(" && depth == 0 && callable && defined && !inside && !listed;
            depth += usize::from(opens);
            if begins {
                head.add(meaning, &mut piece, false, bound);
                (inside, listed) = (true, true);
                continue;
            }
            // The bracket behind the last parameter says nothing.
            let ends = closes && listed && !inside && piece.is_empty() && depth == 0;
            if !separates && !ends {
                piece.push(settled(meaning, word));
            }
            // The end of an attribute.
            if separates || (text == "]" && depth == 0 && !defined) {
                head.add(meaning, &mut piece, inside, bound);
            }
        }
        head.add(meaning, &mut piece, inside, bound);
        head
    }

    fn add(&mut self, meaning: &Meaning<'_>, piece: &mut Vec<Meant>, inside: bool, bound: bool) {
        let words = std::mem::take(piece);
        let is_self = match words.as_slice() {
            [word] => matches!(meaning.reader.word(word.token), "self" | "cls"),
            _ => false,
        };
        if words.is_empty() || (inside && bound && is_self) {
            return;
        }
        let list = if inside {
            &mut self.parameters
        } else {
            &mut self.rest
        };
        list.push(Piece::new(words, Within::default()));
    }
}

/// A word whose name counts, if the language says so.
fn settled(meaning: &Meaning<'_>, word: Meant) -> Meant {
    Meant {
        local: word.local && !meaning.reader.file.lexicon().spells_parameters,
        ..word
    }
}
