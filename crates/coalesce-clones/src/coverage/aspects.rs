//! What a difference is about, going by the words in which two statements differ.

use coalesce_model::{
    TokenClass,
    envelope::DifferenceAspect,
    grammar::{Blocks, Tokens},
};

use super::{
    compare::Piece,
    meaning::{Meaning, Meant},
    parts::Reader,
};

/// What a statement stands in, as far as that says what it is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Within {
    /// Whether it is done when something fails or is not there.
    fallback: bool,
    /// What the statement is about by its first word, if that says something.
    lead: Option<DifferenceAspect>,
    /// The piece that opens the block that it stands in.
    pub parent: Option<usize>,
}

/// Follows the blocks of a text from statement to statement.
pub(crate) struct Flow<'r, 'f> {
    reader: &'r Reader<'f>,
    /// Blocks that are open.
    open: Vec<Block>,
}

/// A block that is open.
struct Block {
    /// Where columns mark blocks, that of what opens it.
    column: usize,
    /// The piece that opens it; of a bare block, the one around it.
    piece: Option<usize>,
    /// Whether it is for what fails or is not there.
    fallback: bool,
}

impl<'r, 'f> Flow<'r, 'f> {
    pub(crate) const fn new(reader: &'r Reader<'f>) -> Self {
        Self {
            reader,
            open: Vec::new(),
        }
    }

    /// What a statement stands in, which will be the piece `at`; and the statement without the
    /// brackets that end blocks.
    pub(crate) fn statement(&mut self, words: Vec<Meant>, at: usize) -> (Within, Vec<Meant>) {
        let Some(first) = words.first() else {
            return (Within::default(), words);
        };
        let word = self.reader.word(first.token);
        match self.reader.file.lexicon().blocks {
            Blocks::Indented => {
                let tokens: &dyn Tokens = self.reader.file;
                let column = tokens.column(first.token);
                self.open.retain(|block| block.column < column);
                let within = self.within(word);
                self.open.push(Block {
                    column,
                    piece: Some(at),
                    fallback: matches!(word, "except" | "else"),
                });
                (within, words)
            }
            Blocks::Braced => {
                let within = self.within(word);
                let fallback = word == "else";
                (within, self.braces(words, at, fallback))
            }
        }
    }

    /// The statement that was to be the piece `at` says nothing and is none: what stands in its
    /// blocks stands in what is around it.
    pub(crate) fn is_no_piece(&mut self, at: usize, around: Option<usize>) {
        let blocks = self.open.iter_mut().rev();
        for block in blocks.take_while(|block| block.piece == Some(at)) {
            block.piece = around;
        }
    }

    fn within(&self, word: &str) -> Within {
        Within {
            fallback: self.open.iter().any(|block| block.fallback),
            lead: lead(word),
            parent: self.open.last().and_then(|block| block.piece),
        }
    }

    /// Opens and closes blocks of braces; closing ones that the statement does not open itself go.
    fn braces(&mut self, words: Vec<Meant>, at: usize, fallback: bool) -> Vec<Meant> {
        let before = self.open.len();
        let mut kept = Vec::with_capacity(words.len());
        for word in words {
            let text = match word.class {
                TokenClass::Punct => self.reader.word(word.token),
                _ => "",
            };
            if text == "{" {
                self.open.push(Block {
                    column: 0,
                    piece: Some(at),
                    fallback,
                });
            }
            let own = self.open.len() > before;
            if text == "}" {
                self.open.pop();
            }
            if text != "}" || own {
                kept.push(word);
            }
        }
        kept
    }
}

fn lead(word: &str) -> Option<DifferenceAspect> {
    match word {
        "if" | "elif" | "while" | "assert" | "match" | "debug_assert" => {
            Some(DifferenceAspect::Guard)
        }
        "except" | "raise" | "Err" | "panic" | "bail" => Some(DifferenceAspect::Exception),
        "else" | "finally" => Some(DifferenceAspect::Fallback),
        "import" | "from" | "use" => Some(DifferenceAspect::Import),
        "return" | "yield" => Some(DifferenceAspect::Return),
        _ => None,
    }
}

/// What the difference of two statements is about; of one, what it is about itself.
pub(crate) fn of_pair(
    a: (&Meaning<'_>, Option<&Piece>),
    b: (&Meaning<'_>, Option<&Piece>),
) -> DifferenceAspect {
    match (a.1, b.1) {
        (Some(left), Some(right)) => of_two((a.0, left), (b.0, right)),
        (Some(piece), None) => alone(a.0, piece),
        (None, Some(piece)) => alone(b.0, piece),
        (None, None) => DifferenceAspect::Statement,
    }
}

/// Whether a statement only tells somebody something.
fn is_talk(meaning: &Meaning<'_>, piece: &Piece) -> bool {
    let mut words = piece
        .words
        .iter()
        .map(|word| meaning.reader.word(word.token));
    let talks = |word: &str| {
        matches!(
            word,
            "print"
                | "logger"
                | "logging"
                | "log"
                | "warnings"
                | "println"
                | "eprintln"
                | "info"
                | "warn"
                | "debug"
                | "trace"
                | "tracing"
        )
    };
    words.next().is_some_and(talks)
}

fn alone(meaning: &Meaning<'_>, piece: &Piece) -> DifferenceAspect {
    if is_talk(meaning, piece) {
        return DifferenceAspect::Statement;
    }
    if let Some(lead) = piece.within.lead.or_else(|| first_word(meaning, piece)) {
        return match lead {
            DifferenceAspect::Return if piece.within.fallback => DifferenceAspect::Fallback,
            lead => lead,
        };
    }
    let words = piece
        .words
        .iter()
        .map(|word| meaning.reader.word(word.token));
    by_words(words).unwrap_or(if piece.within.fallback {
        DifferenceAspect::Fallback
    } else if is_value(meaning, piece) {
        DifferenceAspect::Return
    } else {
        DifferenceAspect::Statement
    })
}

fn of_two(a: (&Meaning<'_>, &Piece), b: (&Meaning<'_>, &Piece)) -> DifferenceAspect {
    if is_talk(a.0, a.1) && is_talk(b.0, b.1) {
        return DifferenceAspect::Statement;
    }
    let (left, right) = (surplus(a.1, b.1), surplus(b.1, a.1));
    let both = || left.iter().chain(&right);
    if both().all(|word| word.local) {
        // The same words, of which some stand elsewhere.
        return lead_of(a, b).unwrap_or(DifferenceAspect::Statement);
    }
    let is_value = |word: &&&Meant| matches!(word.class, TokenClass::Number | TokenClass::Key);
    let rest = both().filter(|word| !is_value(word));
    if both().any(|word| is_value(&word))
        && rest.clone().all(|word| word.class == TokenClass::Punct)
    {
        return DifferenceAspect::Constant;
    }
    let words = |side: (&Meaning<'_>, &Piece), surplus: &[&Meant]| -> Option<DifferenceAspect> {
        by_words(surplus.iter().map(|word| side.0.reader.word(word.token)))
    };
    let leads = [first_word(a.0, a.1), first_word(b.0, b.1)];
    let guards = leads
        .iter()
        .filter(|lead| **lead == Some(DifferenceAspect::Guard));
    // Where one of both is a condition and the other is none, two statements stand there.
    let is_guard = guards.count() != 1;
    let told = [words(a, &left), words(b, &right)];
    let least = |told: [Option<DifferenceAspect>; 2]| {
        let stays = |aspect: &DifferenceAspect| is_guard || *aspect != DifferenceAspect::Guard;
        told.into_iter().flatten().filter(stays).min()
    };
    let by_words = least(told).or_else(|| least(leads));
    by_words.unwrap_or(if is_guard {
        alone(a.0, a.1).min(alone(b.0, b.1))
    } else {
        DifferenceAspect::Statement
    })
}

fn lead_of(a: (&Meaning<'_>, &Piece), b: (&Meaning<'_>, &Piece)) -> Option<DifferenceAspect> {
    let leads = [first_word(a.0, a.1), first_word(b.0, b.1)];
    leads.into_iter().flatten().min()
}

fn first_word(meaning: &Meaning<'_>, piece: &Piece) -> Option<DifferenceAspect> {
    let mut words = piece
        .words
        .iter()
        .map(|word| meaning.reader.word(word.token));
    piece
        .within
        .lead
        .or_else(|| lead(words.find(|word| *word != "}")?))
}

/// Words of one that the other has not, or less often.
fn surplus<'p>(a: &'p Piece, b: &Piece) -> Vec<&'p Meant> {
    let mut left: Vec<u32> = b.words.iter().map(Meant::blind).collect();
    let mut found = Vec::new();
    for word in &a.words {
        match left.iter().position(|other| *other == word.blind()) {
            Some(at) => drop(left.swap_remove(at)),
            None => found.push(word),
        }
    }
    found
}

/// What words say that stand in one statement alone.
fn by_words<'w>(words: impl Iterator<Item = &'w str>) -> Option<DifferenceAspect> {
    let aspect = |word| match word {
        "if" | "and" | "not" | "is" | "&&" | "<" | ">" | "<=" | ">=" | "==" | "!=" => {
            Some(DifferenceAspect::Guard)
        }
        "else" | "or" | "||" | "unwrap_or" | "unwrap_or_else" | "unwrap_or_default" | "or_else" => {
            Some(DifferenceAspect::Fallback)
        }
        "?" | "Err" => Some(DifferenceAspect::Exception),
        _ => None,
    };
    words.filter_map(aspect).min()
}

/// Whether it is the value of a block: the last statement of one, without a semicolon.
fn is_value(meaning: &Meaning<'_>, piece: &Piece) -> bool {
    let values = meaning.reader.file.lexicon().block_values;
    let last = piece
        .words
        .last()
        .map_or("", |word| meaning.reader.word(word.token));
    values && !matches!(last, ";" | "{" | ",")
}
