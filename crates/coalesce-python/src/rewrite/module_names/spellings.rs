//! How code asks for the module of a definition: `f.__module__`, `getattr(f, "__module__")`, `inspect.getmodule(f)`, and
//! names that hold the answer.

use super::{NAME, in_parentheses};
use crate::names::{is_word, last_word, places_of_word};

/// Where the module of a definition is asked for.
pub(super) struct Place {
    /// Where the expression ends of which it is asked.
    pub object: usize,
    /// Where the whole expression ends.
    pub end: usize,
    /// It gives the module, and not its name.
    pub is_module: bool,
}

/// All such places of a text, in order.
pub(super) fn places(text: &str) -> Vec<Place> {
    let named = memchr::memmem::find_iter(text.as_bytes(), NAME.as_bytes());
    let mut found: Vec<Place> = named
        .map(|at| Place {
            object: at,
            end: at + NAME.len(),
            is_module: false,
        })
        .collect();
    found.extend(read_by_text(text));
    found.extend(given_by_inspect(text));
    found.sort_by_key(|place| place.object);
    found
}

/// `getattr(f, "__module__")`
fn read_by_text(text: &str) -> impl Iterator<Item = Place> {
    let places = text.match_indices("__module__");
    places.filter_map(|(at, word)| {
        let before = text.get(..at)?.strip_suffix(['"', '\''])?.trim_end();
        let object = before.strip_suffix(',')?;
        let called = object.get(object.rfind("getattr(")?..)?;
        let end = at + word.len() + text.get(at + word.len()..)?.find(')')? + 1;
        (!called.contains([')', '\n'])).then_some(Place {
            object: object.len(),
            end,
            is_module: false,
        })
    })
}

/// `inspect.getmodule(f)`, of no frame.
fn given_by_inspect(text: &str) -> impl Iterator<Item = Place> {
    let places = text.match_indices("getmodule(");
    places.filter_map(|(at, call)| {
        let start = at + call.len();
        let inside = in_parentheses(text.get(start..)?);
        let of_frame = is_of_frames(inside) || holds_frame(text, inside);
        let object = start + inside.len();
        // `inspect.getmodule(f).__name__` is the name again.
        let name = ").__name__";
        let is_name = text.get(object..)?.starts_with(name);
        (!inside.is_empty() && !of_frame).then_some(Place {
            object,
            end: object + if is_name { name.len() } else { 1 },
            is_module: !is_name,
        })
    })
}

/// Whether a piece of code asks for frames. Who looks at those is told by itself.
fn is_of_frames(code: &str) -> bool {
    ["frame", "stack"].iter().any(|word| code.contains(word))
}

/// Whether what an expression begins with is given frames, and nothing else: `caller = inspect.stack()[1]`.
fn holds_frame(text: &str, expression: &str) -> bool {
    let name = expression
        .split(|c: char| !is_word(c))
        .next()
        .unwrap_or_default();
    let lines = text.lines().map(str::trim_start);
    let given = |line: &&str| {
        let target = line.strip_prefix("for ").unwrap_or(line);
        let rest = target.strip_prefix(name).map(str::trim_start);
        rest.is_some_and(|rest| rest.starts_with(['=', ':', ',']) || rest.starts_with("in "))
    };
    let parameter = |line: &str| {
        let mut places = places_of_word(line, name);
        line.contains("def ") && places.next().is_some()
    };
    let mut given = lines.clone().filter(given).peekable();
    !name.is_empty()
        && given.peek().is_some()
        && given.all(is_of_frames)
        && !lines.clone().any(parameter)
}

/// The texts that a constant of the module has, where a word is one: `PREFIXES = ("a", "b")`, given once.
pub(super) fn texts_of_constant<'t>(code: &'t str, word: &str) -> Vec<&'t str> {
    let mut given = code.lines().enumerate().filter(|(_, line)| {
        let rest = line.strip_prefix(word).map(str::trim_start);
        rest.is_some_and(|rest| rest.starts_with('=') || rest.starts_with(':'))
    });
    let (Some((at, line)), None) = (given.next(), given.next()) else {
        return Vec::new();
    };
    let before: usize = code.split_inclusive('\n').take(at).map(str::len).sum();
    let value = line.split_once('=').and_then(|(head, _)| {
        let rest = code.get(before + head.len() + 1..)?.trim_start();
        match rest.strip_prefix('(') {
            Some(rest) => Some(in_parentheses(rest)),
            None => rest.lines().next(),
        }
    });
    let value = value.unwrap_or_default();
    let mut between = value.split(['"', '\'']).step_by(2);
    let plain = between.all(|part| part.chars().all(|c| c == ',' || c.is_whitespace()));
    match plain {
        true => super::literals(value),
        false => Vec::new(),
    }
}

/// Where a name that is given the answer stands afterwards, as far as the block goes: `name = cls.__module__`.
pub(super) fn later_uses(text: &str, place: &Place) -> Vec<usize> {
    held(text, place).unwrap_or_default()
}

fn held(text: &str, place: &Place) -> Option<Vec<usize>> {
    let start = text.get(..place.object)?.rfind('\n').map_or(0, |at| at + 1);
    let (target, _) = text.get(start..place.object)?.split_once(" = ")?;
    let name = last_word(target.trim_end());
    let indentation = target.len() - target.trim_start().len();
    let rest = text.get(place.end..)?;
    let ends = rest.lines().next().unwrap_or_default().trim();
    let plain = ends.is_empty() || ends.starts_with('#');
    if !plain || name.is_empty() || target.trim() != name {
        return None;
    }
    let further = |line: &&str| {
        let own = line.len() - line.trim_start().len();
        line.trim().is_empty() || own >= indentation
    };
    let lines = rest.split_inclusive('\n').skip(1).take_while(further);
    let length = lines.map(str::len).sum::<usize>();
    let first = rest.find('\n')? + 1;
    let block = rest.get(first..first + length)?;
    let from = place.end + first;
    let uses = places_of_word(block, name).map(|at| from + at + name.len());
    Some(uses.collect())
}

/// A text without the call of `type` that it ends with, up to what the call is given: `type(x)` is `type(x`.
pub(super) fn without_type(before: &str) -> &str {
    let inside = before.strip_suffix(')').unwrap_or(before);
    let word = last_word(inside);
    let called = inside.strip_suffix(word).unwrap_or_default();
    let is_type = inside.len() < before.len()
        && !word.is_empty()
        && called.ends_with("type(")
        && !called
            .strip_suffix("type(")
            .is_some_and(|head| head.ends_with(is_word));
    if is_type { inside } else { before }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_told_from_definitions() {
        for (text, expected) in [
            ("caller = inspect.stack()[1]\ngetmodule(caller[0])", 0),
            (
                "for caller in inspect.stack():\n    getmodule(caller[0])",
                0,
            ),
            ("getmodule(sys._getframe(1))", 0),
            ("def f(caller):\n    getmodule(caller)", 1),
            ("caller = inspect.stack()\ncaller = f\ngetmodule(caller)", 1),
            (
                "def f(caller=None):\n    caller = inspect.stack()\n    getmodule(caller)",
                1,
            ),
        ] {
            assert_eq!(places(text).len(), expected, "{text}");
        }
    }
}
