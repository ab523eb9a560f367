//! Which functions, constants and types that the token scanner sees belong to an `impl` or a trait: their names are
//! said through a type, and hide nothing around them.

use super::tokens::Scanner;
use crate::lexer::{self, TokenKind};

impl Scanner<'_, '_, '_> {
    /// Whether the declaration whose keyword stands at `at` is a member: it takes `self`, as in a body of methods that a
    /// macro puts into an `impl`, or stands in the braces of an `impl` or a trait.
    pub(super) fn is_member(&self, at: usize) -> bool {
        match self.text(at) {
            "fn" if self.takes_self(at) => true,
            "fn" | "const" | "type" => self.is_in_members(at),
            _ => false,
        }
    }

    /// Whether `self` is the first parameter of the function whose keyword stands at `at`.
    fn takes_self(&self, at: usize) -> bool {
        let behind = at + 1..self.tokens.len();
        let ends = |next: &usize| {
            matches!(self.text(*next), ";" | "{" | "}")
                || self.kind(*next) == Some(TokenKind::Open(b'('))
        };
        let Some(open) = behind.clone().find(ends) else {
            return false;
        };
        let mut first = (open + 1..self.tokens.len())
            .take_while(|next| !matches!(self.text(*next), "," | ")" | ":"));
        self.text(open) == "(" && first.any(|next| self.text(next) == "self")
    }

    /// Whether the braces around `at` are those of an `impl` or a trait.
    fn is_in_members(&self, at: usize) -> bool {
        let Some(open) = lexer::opening(self.tokens, at) else {
            return false;
        };
        let head = (0..open)
            .rev()
            .take_while(|before| !self.ends_item(*before));
        let mut words = head.map(|before| self.text(before));
        self.text(open) == "{" && words.any(|word| matches!(word, "impl" | "trait"))
    }

    /// Whether what stands before `at` is no part of the head that goes on behind it.
    fn ends_item(&self, at: usize) -> bool {
        matches!(self.text(at), ";" | "{" | "}")
            || (self.text(at) == ">" && at > 0 && self.text(at - 1) == "=")
    }

    fn kind(&self, at: usize) -> Option<TokenKind> {
        self.tokens.get(at).map(|token| token.kind)
    }
}
