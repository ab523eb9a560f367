//! Two units side by side, statement by statement, and what each has that the others lack.
//!
//! Statements are equal when they differ in local names and messages only, so a renamed variable is
//! no difference and a changed threshold is one.

use coalesce_model::{
    ByteSpan, TokenClass,
    envelope::DifferenceAspect,
    outline::{brackets, marks},
};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::hash::Hasher as _;

use crate::{
    renaming,
    source::{SourceFile, Token, Unit},
};

/// Differences that are told of one member.
const TOLD: usize = 8;
/// Characters of a statement that are shown.
const SHOWN: usize = 120;

/// One statement of a unit; the head is the first.
#[derive(Clone, Copy, Debug)]
pub struct Statement {
    /// Hash without local names and messages.
    pub blind: u64,
    /// The same without numbers and keys.
    pub shape: u64,
    /// Tokens, as indices into those of the file.
    pub tokens: (u32, u32),
    /// Line of its first token, 1-based.
    pub line: u32,
}

/// Something that one member of a class has and no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Which member.
    pub member: usize,
    /// What it is about.
    pub aspect: DifferenceAspect,
    /// Line in the member's file, 1-based.
    pub line: u32,
    /// The text, on one line and cut where it is long.
    pub text: String,
}

/// The statements of a unit's body.
#[must_use]
pub fn statements(file: &SourceFile, unit: &Unit) -> Vec<Statement> {
    let mut line = LineCounter::new(file, unit);
    statements_in(file, (unit.body, unit.end), &mut line)
}

/// The statements of these tokens, which stand behind what was counted before.
pub fn statements_in(
    file: &SourceFile,
    (first, end): (u32, u32),
    line: &mut LineCounter<'_>,
) -> Vec<Statement> {
    let (mut found, mut start) = (Vec::new(), first);
    for at in first + 1..=end {
        let token = file.tokens.get(at as usize);
        let ends = at == end || token.is_some_and(|token| token.has(marks::STATEMENT));
        if ends && at > start {
            let tokens = file
                .tokens
                .get(start as usize..at as usize)
                .unwrap_or_default();
            found.extend(statement_of(tokens, (start, at), line));
            start = at;
        }
    }
    found
}

/// These tokens as a statement; `None` of a bracket alone.
fn statement_of(
    tokens: &[Token],
    place: (u32, u32),
    line: &mut LineCounter<'_>,
) -> Option<Statement> {
    let says = tokens.len() > 1 || tokens.iter().any(|token| token.class != TokenClass::Punct);
    let (blind, shape) = hashes(tokens);
    let first = tokens.first().map_or(0, |token| token.start);
    says.then(|| Statement {
        blind,
        shape,
        tokens: place,
        line: line.at(first),
    })
}

/// Counts lines forward from the beginning of a unit.
pub struct LineCounter<'f> {
    text: &'f [u8],
    at: usize,
    line: u32,
}

impl<'f> LineCounter<'f> {
    /// From the beginning of a file.
    #[must_use]
    pub fn of_file(file: &'f SourceFile) -> Self {
        Self {
            text: file.text.as_bytes(),
            at: 0,
            line: 1,
        }
    }

    fn new(file: &'f SourceFile, unit: &Unit) -> Self {
        let first = file
            .tokens
            .get(unit.first as usize)
            .map_or(0, |token| token.start);
        Self {
            text: file.text.as_bytes(),
            at: first as usize,
            line: unit.lines.0,
        }
    }

    fn at(&mut self, offset: u32) -> u32 {
        let between = self.text.get(self.at..offset as usize).unwrap_or_default();
        self.line += u32::try_from(memchr::memchr_iter(b'\n', between).count()).unwrap_or(0);
        self.at = self.at.max(offset as usize);
        self.line
    }
}

fn hashes(tokens: &[Token]) -> (u64, u64) {
    let (mut blind, mut shape) = (FxHasher::default(), FxHasher::default());
    for token in tokens {
        blind.write_u32(token.blind());
        match token.class {
            TokenClass::Number | TokenClass::Key => shape.write_u32(1),
            _ => shape.write_u32(token.blind()),
        }
    }
    (blind.finish(), shape.finish())
}

/// The alignment of two lists of statements: runs that are equal, replaced, only in one.
#[must_use]
pub fn align(a: &[Statement], b: &[Statement]) -> Vec<DiffOp> {
    let hashes =
        |list: &[Statement]| -> Vec<u64> { list.iter().map(|statement| statement.blind).collect() };
    capture_diff_slices(Algorithm::Myers, &hashes(a), &hashes(b))
}

/// What each member has that no other has: statements first in order, then parameters.
#[must_use]
pub fn differences(members: &[(&SourceFile, &Unit)]) -> Vec<Difference> {
    let all: Vec<Vec<Statement>> = members
        .iter()
        .map(|(file, unit)| statements(file, unit))
        .collect();
    let (mut owners, mut shapes) = (Owners::default(), Owners::default());
    for (member, statements) in all.iter().enumerate() {
        for statement in statements {
            owners.add(statement.blind, member);
            shapes.add(statement.shape, member);
        }
    }
    let torn = torn_statements(members, &all);
    let mut found = Vec::new();
    for (member, ((file, unit), statements)) in members.iter().zip(&all).enumerate() {
        let own = (0..).zip(statements).filter(|(at, statement)| {
            owners.is_alone(statement.blind) || torn.contains(&(member, *at))
        });
        let own = own.map(|(_, statement)| {
            let varied = !shapes.is_alone(statement.shape);
            Difference {
                member,
                aspect: aspect(file, statement, varied),
                line: statement.line,
                text: shown(file, statement.tokens),
            }
        });
        found.extend(
            own.chain(parameters(members, member, file, unit))
                .take(TOLD),
        );
    }
    found
}

/// Statements in which a name stands for another one than the rest of the first member has it, by member and place;
/// of two members those of both.
fn torn_statements(
    members: &[(&SourceFile, &Unit)],
    all: &[Vec<Statement>],
) -> FxHashSet<(usize, usize)> {
    let mut found = FxHashSet::default();
    let mut texts = members.iter().zip(all).map(|((file, _), own)| (*file, own));
    let Some((file, first)) = texts.next() else {
        return found;
    };
    for (member, (other_file, other)) in (1..).zip(texts) {
        let torn = renaming::torn((file, first), (other_file, other), &align(first, other));
        for (own, others) in torn {
            found.insert((member, others));
            if members.len() == 2 {
                found.insert((0, own));
            }
        }
    }
    found
}

/// Which members have a hash: one, or several.
#[derive(Default)]
struct Owners(FxHashMap<u64, (usize, bool)>);

impl Owners {
    fn add(&mut self, hash: u64, member: usize) {
        let owner = self.0.entry(hash).or_insert((member, true));
        owner.1 &= owner.0 == member;
    }

    fn is_alone(&self, hash: u64) -> bool {
        self.0.get(&hash).is_none_or(|owner| owner.1)
    }
}

fn aspect(file: &SourceFile, statement: &Statement, varied: bool) -> DifferenceAspect {
    let range = statement.tokens.0 as usize..statement.tokens.1 as usize;
    let tokens = file.tokens.get(range).unwrap_or_default();
    if varied {
        return DifferenceAspect::Constant;
    }
    let word = |token: &Token| token.span().of(&file.text).unwrap_or("");
    let mut words = tokens.iter().map(word).skip_while(|word| *word == "}");
    let first = words.next().unwrap_or("");
    match first {
        "if" | "elif" | "while" | "assert" | "match" | "switch" | "static_assert" => {
            DifferenceAspect::Guard
        }
        "except" | "raise" | "Err" => DifferenceAspect::Exception,
        "else" | "finally" => DifferenceAspect::Fallback,
        "import" | "from" | "use" => DifferenceAspect::Import,
        "return" | "yield" => DifferenceAspect::Return,
        // The value of a block, which its last statement may be.
        _ if file.lexicon().block_values && tokens.last().is_some_and(|last| word(last) == "}") => {
            DifferenceAspect::Return
        }
        _ => DifferenceAspect::Statement,
    }
}

/// The text of some tokens on one line.
fn shown(file: &SourceFile, tokens: (u32, u32)) -> String {
    let first = file
        .tokens
        .get(tokens.0 as usize)
        .map_or(0, |token| token.start);
    let last = (tokens.1 as usize)
        .checked_sub(1)
        .and_then(|last| file.tokens.get(last));
    let end = last.map_or(first, |token| token.span().end);
    let text = file.text.get(first as usize..end as usize).unwrap_or("");
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut line = words.join(" ");
    if let Some((cut, _)) = line.char_indices().nth(SHOWN) {
        line.truncate(cut);
        line.push('…');
    }
    line
}

/// Parameters that only this member has, or that have another default elsewhere.
fn parameters<'m>(
    members: &'m [(&SourceFile, &Unit)],
    member: usize,
    file: &'m SourceFile,
    unit: &'m Unit,
) -> impl Iterator<Item = Difference> + 'm {
    let others = parameters_of_others(members, member);
    parameter_list(file, unit)
        .into_iter()
        .filter_map(move |(name, value, tokens)| {
            let known = others.iter().flatten().any(|other| *other == (name, value));
            let line = LineCounter::new(file, unit).at(file.tokens.get(tokens.0 as usize)?.start);
            (!known && !others.is_empty()).then(|| Difference {
                member,
                aspect: DifferenceAspect::Default,
                line,
                text: shown(file, tokens),
            })
        })
}

/// Names and hashes of defaults of the parameters of all other members.
fn parameters_of_others(members: &[(&SourceFile, &Unit)], member: usize) -> Vec<Vec<(u32, u64)>> {
    let others = members.iter().enumerate();
    let others = others.filter(|(at, _)| *at != member);
    let of_other = |(_, (file, unit)): (usize, &(&SourceFile, &Unit))| {
        let parameters = parameter_list(file, unit).into_iter();
        parameters.map(|(name, value, _)| (name, value)).collect()
    };
    others.map(of_other).collect()
}

/// Name, hash of the default, and tokens of each parameter.
fn parameter_list(file: &SourceFile, unit: &Unit) -> Vec<(u32, u64, (u32, u32))> {
    let (mut found, mut at) = (Vec::new(), unit.first);
    while at < unit.body {
        let Some(token) = file.tokens.get(at as usize) else {
            return found;
        };
        if token.has(marks::PARAMETER) {
            let end = parameter_end(file, at, unit.body);
            let value = (at..end).skip_while(|at| word(file, *at) != "=");
            let mut hasher = FxHasher::default();
            for token in value.filter_map(|at| file.tokens.get(at as usize)) {
                hasher.write_u32(token.id);
            }
            found.push((token.id, hasher.finish(), (at, end)));
            at = end;
        } else {
            at += 1;
        }
    }
    found
}

fn word(file: &SourceFile, at: u32) -> &str {
    let token = file.tokens.get(at as usize);
    ByteSpan::text_under(token.map(Token::span), &file.text)
}

/// Where a parameter ends: the comma or bracket behind it.
fn parameter_end(file: &SourceFile, start: u32, end: u32) -> u32 {
    let word = |at: usize| word(file, u32::try_from(at).unwrap_or(u32::MAX));
    let at = brackets::end_of_part(&word, start as usize..end as usize, &[","]);
    u32::try_from(at).unwrap_or(end)
}
