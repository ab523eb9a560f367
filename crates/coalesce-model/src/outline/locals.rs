//! Marks the names that functions declare, in one walk however deep functions stand in each other.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Outline, OutlineToken, OutlineUnit, TokenClass, UnitKind, marks};

/// How a language says what a function declares.
pub struct Declares<P, V> {
    /// Marks the parameters in the head of a function and gives their names.
    pub parameters: P,
    /// Adds what the body of a function binds, functions in it included.
    pub variables: V,
    /// Tokens with one of these marks are no names of variables.
    pub free: u8,
}

/// Marks the names that a function around them declares.
pub fn mark<'t, P, V>(text: &'t str, outline: &mut Outline, mut declares: Declares<P, V>)
where
    P: FnMut(&OutlineUnit, &mut [OutlineToken]) -> Vec<&'t str>,
    V: FnMut(&OutlineUnit, &[OutlineToken], &mut FxHashSet<&'t str>),
{
    let functions = outline.units.iter();
    let functions =
        functions.filter(|unit| matches!(unit.kind, UnitKind::Function | UnitKind::Method));
    let heads = functions.map(|unit| (unit, (declares.parameters)(unit, &mut outline.tokens)));
    let heads: Vec<_> = heads.collect();
    let mut walk = Walk {
        text,
        tokens: &mut outline.tokens,
        free: declares.free,
        at: 0,
        open: Vec::new(),
        parameters: FxHashMap::default(),
        variables: FxHashSet::default(),
    };
    for (unit, parameters) in &heads {
        walk.advance(unit.body);
        if walk.open.is_empty() {
            walk.variables.clear();
            (declares.variables)(unit, walk.tokens, &mut walk.variables);
        }
        walk.enter(unit, parameters);
    }
    walk.advance(u32::MAX);
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
                let own = token.span.of(self.text).unwrap_or("");
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
