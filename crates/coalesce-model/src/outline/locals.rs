//! Marks the names that functions declare, in one walk however deep functions stand in each other.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Outline, OutlineToken, OutlineUnit, TokenClass, UnitKind, marks, word_at};

/// How a language says what names are to a function.
pub trait Names {
    /// What stands before the name of a member.
    const MEMBER: &[&str];
    /// What stands behind the name of what is called.
    const CALL: &[&str];
    /// Tokens with one of these marks are no names of variables.
    const FREE: u8;

    /// Marks what else the words before and after a token say; `depth` brackets are open.
    fn mark_more(token: &mut OutlineToken, words: Neighbours<'_>, depth: usize);

    /// Where the parameters in the head of a function begin: at or before their bracket.
    fn parameters_begin(text: &str, head: &[OutlineToken]) -> Option<usize>;

    /// Whether a token in the brackets of a head declares a parameter.
    fn is_parameter(token: OutlineToken, words: Neighbours<'_>, depth: usize) -> bool;

    /// Adds what the body of a function binds, functions in it included.
    fn variables<'t>(text: &'t str, body: &[OutlineToken], names: &mut FxHashSet<&'t str>);
}

/// A token's word, and those before and after it.
#[derive(Clone, Copy, Debug)]
pub struct Neighbours<'t> {
    /// The word before.
    pub before: &'t str,
    /// Its own.
    pub own: &'t str,
    /// The word after.
    pub after: &'t str,
}

impl<'t> Neighbours<'t> {
    fn of(text: &'t str, tokens: &[OutlineToken], at: usize, before: &'t str) -> Self {
        Self {
            before,
            own: word_at(tokens, at, text),
            after: word_at(tokens, at + 1, text),
        }
    }
}

/// Marks members, callees, parameters and the names that a function around them declares.
pub fn mark<N: Names>(text: &str, outline: &mut Outline) {
    mark_by_neighbours::<N>(text, &mut outline.tokens);
    let functions = outline.units.iter();
    let functions =
        functions.filter(|unit| matches!(unit.kind, UnitKind::Function | UnitKind::Method));
    let heads = functions.map(|unit| {
        let head = unit.first as usize..unit.body as usize;
        let head = outline.tokens.get_mut(head).unwrap_or_default();
        (unit, mark_parameters::<N>(text, head))
    });
    let heads: Vec<_> = heads.collect();
    let mut walk = Walk {
        text,
        tokens: &mut outline.tokens,
        free: N::FREE,
        at: 0,
        open: Vec::new(),
        parameters: FxHashMap::default(),
        variables: FxHashSet::default(),
    };
    for (unit, parameters) in &heads {
        walk.advance(unit.body);
        if walk.open.is_empty() {
            walk.variables.clear();
            let body = unit.body as usize..unit.end as usize;
            let body = walk.tokens.get(body).unwrap_or_default();
            N::variables(text, body, &mut walk.variables);
        }
        walk.enter(unit, parameters);
    }
    walk.advance(u32::MAX);
}

/// What the tokens before and after say.
fn mark_by_neighbours<N: Names>(text: &str, tokens: &mut [OutlineToken]) {
    let mut words = Neighbours::of(text, tokens, 0, "");
    let mut depth = 0_usize;
    for at in 0..tokens.len() {
        let after = word_at(tokens, at + 2, text);
        let Some(token) = tokens.get_mut(at) else {
            return;
        };
        if token.has(marks::STATEMENT) {
            depth = 0;
        }
        match token.class {
            TokenClass::Word => {
                if N::MEMBER.contains(&words.before) {
                    token.marks |= marks::ATTRIBUTE;
                }
                if N::CALL.contains(&words.after) {
                    token.marks |= marks::CALLEE;
                }
                N::mark_more(token, words, depth);
            }
            TokenClass::Punct => match words.own {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            },
            _ => {}
        }
        words = Neighbours {
            before: words.own,
            own: words.after,
            after,
        };
    }
}

/// Marks the parameters in the brackets of a head, and gives their names.
fn mark_parameters<'t, N: Names>(text: &'t str, head: &mut [OutlineToken]) -> Vec<&'t str> {
    let mut names = Vec::new();
    let start = N::parameters_begin(text, head).unwrap_or(head.len());
    let (mut depth, mut before) = (0_usize, "");
    for at in start..head.len() {
        let words = Neighbours::of(text, head, at, before);
        before = words.own;
        match words.own {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return names;
                }
            }
            own => {
                let declares = |token: &&mut OutlineToken| {
                    depth > 0
                        && token.class == TokenClass::Word
                        && N::is_parameter(**token, words, depth)
                };
                if let Some(token) = head.get_mut(at).filter(declares) {
                    token.marks |= marks::PARAMETER | marks::LOCAL;
                    token.marks &= !marks::KEYWORD_ARGUMENT;
                    names.push(own);
                }
            }
        }
    }
    names
}

/// What the outermost function binds are all variables of those in it, and each adds its parameters.
struct Walk<'t, 'o> {
    text: &'t str,
    tokens: &'o mut [OutlineToken],
    free: u8,
    at: u32,
    /// The functions around, each with its parameters.
    open: Vec<(&'o OutlineUnit, &'o [&'t str])>,
    /// How many of them have a parameter of this name.
    parameters: FxHashMap<&'t str, usize>,
    /// What the outermost of them binds.
    variables: FxHashSet<&'t str>,
}

impl<'t, 'o> Walk<'t, 'o> {
    fn enter(&mut self, unit: &'o OutlineUnit, parameters: &'o [&'t str]) {
        for name in parameters {
            *self.parameters.entry(name).or_default() += 1;
        }
        self.open.push((unit, parameters));
    }

    /// Leaves the functions that end here.
    fn leave(&mut self) {
        while let Some((_, parameters)) = self.open.pop_if(|(unit, _)| unit.end <= self.at) {
            for name in parameters {
                if let Some(count) = self.parameters.get_mut(name) {
                    *count = count.saturating_sub(1);
                }
            }
        }
    }

    /// Marks the tokens up to `end`.
    fn advance(&mut self, end: u32) {
        self.leave();
        while self.at < end && !self.open.is_empty() {
            if let Some(token) = self.tokens.get_mut(self.at as usize)
                && token.class == TokenClass::Word
                && token.marks & self.free == 0
            {
                let own = token.word(self.text);
                let given = self.parameters.get(own).is_some_and(|count| *count > 0);
                if given || self.variables.contains(own) {
                    token.marks |= marks::LOCAL;
                }
            }
            self.at += 1;
            self.leave();
        }
        self.at = self.at.max(end);
        self.leave();
    }
}
