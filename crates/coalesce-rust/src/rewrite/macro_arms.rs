//! Definitions of `macro_rules!` as words: what each arm takes, and what it makes of that.
//!
//! Comments, space, the brackets around both sides of an arm and the names of what it takes have no
//! meaning, so that two texts which differ in these alone read alike. Nothing is expanded.

use std::collections::BTreeMap;

use coalesce_model::ByteSpan;

use crate::lexer::{self, Token, TokenKind};

/// One arm of a macro.
pub(super) struct Arm<'t> {
    pub takes: Vec<ArmWord<'t>>,
    pub makes: Vec<ArmWord<'t>>,
}

/// A word of an arm.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArmWord<'t> {
    pub text: &'t str,
    pub span: ByteSpan,
    /// Which of the things that the arm takes it stands for, in their order.
    pub taken: Option<usize>,
}

impl PartialEq for ArmWord<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.taken == other.taken && (self.taken.is_some() || self.text == other.text)
    }
}

/// The arms of a definition, whose rules stand in `span` of a text; `None` of what does not read as arms.
pub(super) fn arms(text: &str, span: ByteSpan) -> Option<Vec<Arm<'_>>> {
    let tokens = lexer::tokens(text, span);
    if tokens.is_empty() {
        // Of a definition in a call of another macro, only the head is known.
        return None;
    }
    let mut found = Vec::new();
    let mut at = 0;
    while tokens.get(at).is_some_and(|token| is_open(*token)) {
        let (taken, opens, made) = brackets_of_arm(&tokens, at)?;
        let mut names = BTreeMap::new();
        found.push(Arm {
            takes: words(text, tokens.get(at + 1..taken)?, &mut names, true),
            makes: words(text, tokens.get(opens + 1..made)?, &mut names, false),
        });
        at = made + 1;
        if tokens.get(at).is_some_and(|token| token.is(b';')) {
            at += 1;
        }
    }
    // What is left is the bracket that closes the definition.
    let closes = |token: &Token| matches!(token.kind, TokenKind::Close(_));
    tokens.get(at).is_none_or(closes).then_some(found)
}

/// Where the pattern of an arm ends that begins at a token, and where what it makes begins and ends.
fn brackets_of_arm(tokens: &[Token], at: usize) -> Option<(usize, usize, usize)> {
    let taken = lexer::closing(tokens, at)?;
    let arrow = tokens.get(taken + 1..=taken + 2)?;
    let leads = matches!(arrow, [a, b] if a.is(b'=') && b.is(b'>'));
    let opens = taken + 3;
    let leads = leads && tokens.get(opens).is_some_and(|token| is_open(*token));
    let made = lexer::closing(tokens, opens).filter(|_| leads)?;
    Some((taken, opens, made))
}

fn is_open(token: Token) -> bool {
    matches!(token.kind, TokenKind::Open(_))
}

/// The words of one side; what is taken gets its numbers where that is said.
fn words<'t>(
    text: &'t str,
    tokens: &[Token],
    names: &mut BTreeMap<&'t str, usize>,
    takes: bool,
) -> Vec<ArmWord<'t>> {
    let mut found = Vec::with_capacity(tokens.len());
    let mut is_behind_dollar = false;
    for (at, token) in tokens.iter().enumerate() {
        let said = token.span.of(text).unwrap_or_default();
        let is_name = is_behind_dollar && token.is_ident() && said != "crate";
        let is_declared = takes && tokens.get(at + 1).is_some_and(|next| next.is(b':'));
        if is_name && is_declared {
            let next = names.len();
            names.entry(said).or_insert(next);
        }
        found.push(ArmWord {
            text: said,
            span: token.span,
            taken: names.get(said).copied().filter(|_| is_name),
        });
        is_behind_dollar = token.is(b'$');
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alike(one: &str, other: &str) -> (bool, bool) {
        let read = |text| arms(text, ByteSpan::from_range(0..str::len(text))).unwrap();
        let (one, other) = (read(one), read(other));
        assert_eq!(one.len(), other.len());
        let mut pairs = one.iter().zip(&other);
        let takes = pairs.clone().all(|(a, b)| a.takes == b.takes);
        (takes, pairs.all(|(a, b)| a.makes == b.makes))
    }

    #[test]
    fn arms_read_alike_by_their_words() {
        let text = "($e:expr) => { $e + 1 }; () => { 0 }";
        assert_eq!(
            alike(text, "[ $e : expr ] => ($e+1 /* one */); () => [0];"),
            (true, true)
        );
        assert_eq!(
            alike(text, "($x:expr) => { $x + 1 }; () => { 0 };}"),
            (true, true)
        );
        assert_eq!(
            alike(text, "($x:expr) => { x + 1 }; () => { 0 }"),
            (true, false)
        );
        assert_eq!(
            alike(text, "($e:ident) => { $e + 1 }; () => { 0 }"),
            (false, true)
        );
        let two = "($a:expr, $b:expr) => { $a - $b }";
        assert_eq!(
            alike(two, "($b:expr, $a:expr) => { $b - $a }"),
            (true, true)
        );
        assert_eq!(
            alike(two, "($b:expr, $a:expr) => { $a - $b }"),
            (true, false)
        );
        assert_eq!(alike("(a b) => {}", "(ab) => {}"), (false, true));
    }

    #[test]
    fn what_is_no_arm_is_not_read() {
        for text in ["", "(a) = {}", "(a) => {}; x", "(a) =>", "a => {}"] {
            let whole = ByteSpan::from_range(0..text.len());
            assert!(arms(text, whole).is_none(), "{text}");
        }
        assert!(arms("}", ByteSpan::from_range(0..1)).unwrap().is_empty());
    }
}
