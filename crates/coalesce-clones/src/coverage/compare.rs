//! Two definitions side by side: every statement that one has and the other lacks, in pairs where one
//! stands for the other.
//!
//! Unlike [`crate::align::differences`] it cuts nothing off, and a local name that is exchanged for
//! another one is a difference unless it is exchanged everywhere.

use coalesce_model::{TokenClass, envelope::DifferenceAspect, outline::marks};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::hash::Hasher as _;

use super::{
    Difference, Text,
    aspects::{self, Within},
    in_order,
    meaning::{Meaning, Meant},
    parts::Range,
};

/// Statements with more words than this are compared between their commas.
const LONG: usize = 32;
/// The share of words that two statements need to stand for each other.
const ALIKE: f32 = 0.4;
/// The share of distinctive words that makes two bodies one thing, in whatever order they stand.
const DISTINCTIVE: f32 = 0.6;
/// The same share of the smaller body.
const CONTAINED: f32 = 0.8;
/// Characters of a statement that are shown.
const SHOWN: usize = 160;

/// A statement, or a part of one between commas.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub words: Vec<Meant>,
    blind: u64,
    shape: u64,
    /// Its words as they are compared, sorted.
    bag: Vec<u32>,
    /// What it stands in.
    pub within: Within,
}

impl Piece {
    pub(crate) fn new(words: Vec<Meant>, within: Within) -> Self {
        let hash = |of: fn(&Meant) -> u32| {
            let mut hasher = FxHasher::default();
            words.iter().for_each(|word| hasher.write_u32(of(word)));
            hasher.finish()
        };
        let mut bag: Vec<u32> = words.iter().map(Meant::blind).collect();
        bag.sort_unstable();
        Self {
            blind: hash(Meant::blind),
            shape: hash(Meant::shape),
            bag,
            words,
            within,
        }
    }

    /// Its tokens in the file.
    fn tokens(&self) -> Range {
        let first = self.words.first().map_or(0, |word| word.token);
        let last = self.words.iter().map(|word| word.token).max();
        (first, last.map_or(first, |last| last + 1))
    }
}

/// What a comparison of two texts found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Compared {
    pub differences: Vec<Difference>,
    /// Local names that are other ones everywhere.
    pub renamed: Vec<(String, String)>,
    /// Words that both have, and of the smaller and the larger one.
    pub common: usize,
    pub sizes: (usize, usize),
    /// The share of names, keys and numbers that both have, whatever their order: of all, and of the
    /// one with fewer; 0 to 1.
    distinctive: (f32, f32),
}

impl Compared {
    /// Whether both work on the same things, in whatever order.
    pub(crate) fn is_alike(&self) -> bool {
        self.distinctive.0 >= DISTINCTIVE || self.distinctive.1 >= CONTAINED
    }

    /// Whether what one has says little about the other.
    pub(crate) fn is_other(&self) -> bool {
        let (small, large) = self.sizes;
        let similar = 2 * self.common * 10 >= 4 * (small + large);
        let contained = self.common * 10 >= 7 * small;
        !(similar || contained || self.is_alike())
    }
}

/// The statements of a range.
pub(crate) fn pieces(meaning: &Meaning<'_>, range: Range) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut statement: Vec<Meant> = Vec::new();
    let mut flow = aspects::Flow::new(&meaning.reader);
    for word in meaning.read(range) {
        let starts = |token: u32| {
            let token = meaning.reader.token(token);
            token.is_some_and(|token| token.has(marks::STATEMENT))
        };
        let goes_on = statement
            .last()
            .is_some_and(|last| last.token == word.token);
        if starts(word.token) && !goes_on {
            finish(
                meaning,
                &mut flow,
                std::mem::take(&mut statement),
                &mut found,
            );
        }
        statement.push(word);
    }
    finish(meaning, &mut flow, statement, &mut found);
    found
}

/// Adds a statement, cut at commas where it is a table or a list of arms.
fn finish(
    meaning: &Meaning<'_>,
    flow: &mut aspects::Flow<'_, '_>,
    statement: Vec<Meant>,
    found: &mut Vec<Piece>,
) {
    let (within, statement) = flow.statement(statement, found.len());
    let says =
        |word: &Meant| word.class != TokenClass::Punct || meaning.reader.word(word.token) == "?";
    if !statement.iter().any(says) {
        flow.is_no_piece(found.len(), within.parent);
        return;
    }
    let long = statement.len() > LONG;
    let braces = meaning.reader.file.lexicon().has_braces();
    let (mut open, mut piece) = (Vec::new(), Vec::new());
    let mut add = |piece: &mut Vec<Meant>| {
        found.push(Piece::new(std::mem::take(piece), within));
    };
    for word in statement {
        let text = if word.class == TokenClass::Punct {
            meaning.reader.word(word.token)
        } else {
            ""
        };
        match text {
            "(" | "[" | "{" => open.push(text),
            ")" | "]" | "}" => drop(open.pop()),
            _ => {}
        }
        piece.push(word);
        let arm = braces && open.last().is_none_or(|last| *last == "{");
        if text == "," && (arm || (long && open.len() <= 1)) {
            add(&mut piece);
        }
    }
    if !piece.is_empty() {
        add(&mut piece);
    }
}

/// What is known of two texts before they are compared.
#[derive(Clone, Copy, Default)]
pub(crate) struct Told<'p> {
    /// What all differences are about, if the texts are parts of heads.
    pub aspect: Option<DifferenceAspect>,
    /// Parameters that are each other: hashes of their names.
    pub parameters: &'p [(u32, u32)],
}

/// Compares two lists of pieces.
pub(crate) fn compare(
    a: (&Meaning<'_>, &[Piece]),
    b: (&Meaning<'_>, &[Piece]),
    told: Told<'_>,
) -> Compared {
    let aspect = told.aspect;
    let aligned = Aligned::new(a.1, b.1);
    let exchanged = Exchanged::new(told.parameters, &aligned.equal, a.1, b.1);
    let mut told_blocks = FxHashSet::default();
    let mut found = Compared {
        sizes: sizes(a.1, b.1),
        distinctive: distinctive(a.1, b.1),
        renamed: exchanged.told(a.0, b.0),
        ..Compared::default()
    };
    for (left, right) in &aligned.equal {
        let (Some(x), Some(y)) = (a.1.get(*left), b.1.get(*right)) else {
            continue;
        };
        found.common += x.words.len();
        let blocks = aligned.blocks(x, y, a.1, b.1);
        // Of a block whose statements stand in another one, one is told.
        let moved = blocks.is_some_and(|blocks| told_blocks.insert(blocks));
        let told = exchanged.violated(x, y);
        if let Some(told) = moved.then_some(DifferenceAspect::Statement).or(told) {
            let told = aspect
                .filter(|_| told != DifferenceAspect::Wording)
                .unwrap_or(told);
            found.differences.push(Difference {
                moved,
                ..difference(a.0, b.0, Some(x), Some(y), told)
            });
        }
    }
    for (left, right) in &aligned.others {
        let left = left.and_then(|at| a.1.get(at));
        let right = right.and_then(|at| b.1.get(at));
        if let (Some(left), Some(right)) = (left, right) {
            found.common += bag_common(left, right);
        }
        let told = aspect.unwrap_or_else(|| aspects::of_pair((a.0, left), (b.0, right)));
        let mut difference = difference(a.0, b.0, left, right, told);
        let text = |side: &Option<Text>| side.as_ref().map(|side| side.text.clone());
        if text(&difference.left) == text(&difference.right) {
            // One text with two meanings: its names are imported from elsewhere.
            difference.aspect = DifferenceAspect::Import;
            name_both((a.0, left), (b.0, right), &mut difference);
        }
        found.differences.push(difference);
    }
    sort(&mut found.differences);
    found
}

/// Which piece of one list is which of the other.
struct Aligned {
    /// Equal but for local names and messages.
    equal: Vec<(usize, usize)>,
    /// Changed, or only in one.
    others: Vec<(Option<usize>, Option<usize>)>,
    /// For each piece on the left the one that it is on the right.
    forth: FxHashMap<usize, usize>,
    back: FxHashMap<usize, usize>,
}

impl Aligned {
    fn new(a: &[Piece], b: &[Piece]) -> Self {
        let hashes =
            |list: &[Piece]| -> Vec<u64> { list.iter().map(|piece| piece.blind).collect() };
        let mut found = Self {
            equal: Vec::new(),
            others: Vec::new(),
            forth: FxHashMap::default(),
            back: FxHashMap::default(),
        };
        for op in capture_diff_slices(Algorithm::Myers, &hashes(a), &hashes(b)) {
            let (old, new) = (op.old_range(), op.new_range());
            if matches!(op, DiffOp::Equal { .. }) {
                found.equal.extend(old.zip(new));
                continue;
            }
            let left = a.get(old.clone()).unwrap_or_default();
            let right = b.get(new.clone()).unwrap_or_default();
            let pairs = paired(left, right).into_iter();
            found.others.extend(pairs.map(|(left, right)| {
                (
                    left.map(|at| old.start + at),
                    right.map(|at| new.start + at),
                )
            }));
        }
        let both = found
            .others
            .iter()
            .filter_map(|(left, right)| Some(((*left)?, (*right)?)));
        for (left, right) in found.equal.iter().copied().chain(both) {
            found.forth.insert(left, right);
            found.back.insert(right, left);
        }
        found
    }

    /// The blocks that two pieces stand in, if these are not the same: the nearest around each that
    /// both lists have.
    fn blocks(
        &self,
        x: &Piece,
        y: &Piece,
        a: &[Piece],
        b: &[Piece],
    ) -> Option<(Option<usize>, Option<usize>)> {
        let nearest = |piece: &Piece, list: &[Piece], known: &FxHashMap<usize, usize>| {
            let mut next = piece.within.parent;
            while let Some(at) = next.filter(|at| !known.contains_key(at)) {
                next = list.get(at).and_then(|piece| piece.within.parent);
            }
            next
        };
        let left = nearest(x, a, &self.forth);
        let right = nearest(y, b, &self.back);
        (left.and_then(|at| self.forth.get(&at).copied()) != right).then_some((left, right))
    }
}

/// What hurts first; then by place.
pub(crate) fn sort(differences: &mut [Difference]) {
    let line = |text: &Option<Text>| text.as_ref().map_or(u32::MAX, |text| text.line);
    differences.sort_by_key(|found| (found.aspect, line(&found.left), line(&found.right)));
}

/// The shares of words in common that are neither local names nor signs nor of the language.
fn distinctive(a: &[Piece], b: &[Piece]) -> (f32, f32) {
    let words = |list: &[Piece]| {
        let words = list.iter().flat_map(|piece| &piece.words);
        let tells = |word: &&Meant| {
            !word.local
                && !matches!(
                    word.class,
                    TokenClass::Punct | TokenClass::Keyword | TokenClass::Prose
                )
        };
        Piece::new(words.filter(tells).copied().collect(), Within::default())
    };
    let (a, b) = (words(a), words(b));
    let fewer = a.words.len().min(b.words.len()).max(1) as f32;
    (share(&a, &b), bag_common(&a, &b) as f32 / fewer)
}

fn sizes(a: &[Piece], b: &[Piece]) -> (usize, usize) {
    let words = |list: &[Piece]| list.iter().map(|piece| piece.words.len()).sum::<usize>();
    let (a, b) = (words(a), words(b));
    (a.min(b), a.max(b))
}

fn difference(
    a: &Meaning<'_>,
    b: &Meaning<'_>,
    left: Option<&Piece>,
    right: Option<&Piece>,
    aspect: DifferenceAspect,
) -> Difference {
    let text = |meaning: &Meaning<'_>, piece: &Piece| text(meaning, piece.tokens());
    Difference {
        aspect,
        moved: false,
        left: left.map(|piece| text(a, piece)),
        right: right.map(|piece| text(b, piece)),
    }
}

/// Of one text with two meanings, tells the full name of the first thing that is another one in place of the text.
fn name_both(
    a: (&Meaning<'_>, Option<&Piece>),
    b: (&Meaning<'_>, Option<&Piece>),
    difference: &mut Difference,
) {
    let (Some(x), Some(y)) = (a.1, b.1) else {
        return;
    };
    let other = (0..x.words.len().max(y.words.len())).find(|at| {
        let id = |piece: &Piece| piece.words.get(*at).map(|word| word.id);
        id(x) != id(y)
    });
    let name = |(meaning, _): (&Meaning<'_>, Option<&Piece>), piece: &Piece| {
        let word = piece.words.get(other?)?;
        meaning.full_name(word.token, piece.tokens().1)
    };
    if let (Some(left), Some(right)) = (name(a, x), name(b, y))
        && left != right
        && let (Some(old), Some(new)) = (&mut difference.left, &mut difference.right)
    {
        (old.text, new.text) = (left, right);
    }
}

/// Tokens as they are shown: on one line, and cut where they are long.
pub(crate) fn text(meaning: &Meaning<'_>, tokens: Range) -> Text {
    let mut line = meaning.reader.text(tokens);
    if let Some((cut, _)) = line.char_indices().nth(SHOWN) {
        line.truncate(cut);
        line.push('…');
    }
    Text {
        line: meaning.reader.line(tokens.0),
        text: line,
    }
}

/// Pieces that stand for each other, in order; others alone.
fn paired(a: &[Piece], b: &[Piece]) -> Vec<(Option<usize>, Option<usize>)> {
    in_order::paired(a, b, likeness)
}

/// How much of two pieces is the same, 0 where it is too little; the same shape is the most.
fn likeness(a: &Piece, b: &Piece) -> f32 {
    if a.shape == b.shape {
        return 1.0;
    }
    let share = share(a, b);
    if share >= ALIKE { share } else { 0.0 }
}

/// Words that both have, of all, 0 to 1.
pub(crate) fn share(a: &Piece, b: &Piece) -> f32 {
    2.0 * bag_common(a, b) as f32 / (a.words.len() + b.words.len()).max(1) as f32
}

/// Words that both have, each as often as in the one with less.
fn bag_common(a: &Piece, b: &Piece) -> usize {
    let (a, b) = (&a.bag, &b.bag);
    let (mut left, mut right, mut common) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(left), b.get(right)) {
        match x.cmp(y) {
            std::cmp::Ordering::Equal => {
                common += 1;
                left += 1;
                right += 1;
            }
            std::cmp::Ordering::Less => left += 1,
            std::cmp::Ordering::Greater => right += 1,
        }
    }
    common
}

/// Which local name of one side is which of the other, going by statements that are equal.
struct Exchanged {
    forth: FxHashMap<u32, u32>,
    back: FxHashMap<u32, u32>,
    /// A place of each pair, for its text.
    places: Vec<(u32, u32)>,
}

impl Exchanged {
    fn new(parameters: &[(u32, u32)], equal: &[(usize, usize)], a: &[Piece], b: &[Piece]) -> Self {
        let mut counts: FxHashMap<(u32, u32), (usize, (u32, u32))> = FxHashMap::default();
        let pieces = equal
            .iter()
            .filter_map(|(left, right)| Some((a.get(*left)?, b.get(*right)?)));
        for (left, right) in pieces {
            for (x, y) in left.words.iter().zip(&right.words) {
                if x.local && y.local {
                    let count = counts
                        .entry((x.id, y.id))
                        .or_insert((0, (x.token, y.token)));
                    count.0 += 1;
                }
            }
        }
        let mut order: Vec<_> = counts.into_iter().collect();
        order.sort_by_key(|((x, y), (count, place))| {
            (std::cmp::Reverse(*count), x != y, *place, *x, *y)
        });
        let mut found = Self {
            forth: parameters.iter().copied().collect(),
            back: parameters.iter().map(|(x, y)| (*y, *x)).collect(),
            places: Vec::new(),
        };
        for ((x, y), (_, place)) in order {
            let free = !found.forth.contains_key(&x) && !found.back.contains_key(&y);
            if free {
                found.forth.insert(x, y);
                found.back.insert(y, x);
            }
            if x != y && found.forth.get(&x) == Some(&y) {
                found.places.push(place);
            }
        }
        found.places.sort_unstable();
        found
    }

    fn told(&self, a: &Meaning<'_>, b: &Meaning<'_>) -> Vec<(String, String)> {
        let names = self.places.iter().map(|(left, right)| {
            let (left, right) = (a.reader.word(*left), b.reader.word(*right));
            (left.to_owned(), right.to_owned())
        });
        names.collect()
    }

    /// What differs between two pieces that are equal but for local names and messages.
    fn violated(&self, left: &Piece, right: &Piece) -> Option<DifferenceAspect> {
        let mut told = None;
        for (x, y) in left.words.iter().zip(&right.words) {
            if x.local && y.local && self.forth.get(&x.id) != Some(&y.id) {
                return Some(DifferenceAspect::Statement);
            }
            if x.class == TokenClass::Prose && x.id != y.id {
                told = Some(DifferenceAspect::Wording);
            }
        }
        told
    }
}
