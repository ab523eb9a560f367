//! What people change in a copy, and what is changed in one so that it means something else.

use std::{collections::BTreeSet, ops::Range};

use coalesce_model::{LanguageKind, UnitKind, grammar::Tokens as _, outline::marks};

use super::{
    code::{Code, Part, PartKind},
    spell::{Spot, can_be_rewritten, import_lines},
};
use crate::random::Random;

/// What differs between a copy and its original.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// Nothing.
    Nothing,
    /// A local variable has another name.
    Locals,
    /// A docstring or a comment says something else.
    Words,
    /// Two functions stand the other way round.
    Order,
    /// There is one function more.
    Added,
    /// A function has one parameter more, with a default.
    Parameter,
    /// Imports are spelled otherwise.
    Imports,
    /// A control: a number is another one.
    Constant,
    /// A control: the same text calls a function that means something else.
    Callee,
    /// A control: a branch is gone.
    Branch,
}

impl Change {
    /// All of them; controls last.
    pub const ALL: [Self; 10] = [
        Self::Nothing,
        Self::Locals,
        Self::Words,
        Self::Order,
        Self::Added,
        Self::Parameter,
        Self::Imports,
        Self::Constant,
        Self::Callee,
        Self::Branch,
    ];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Nothing => "same",
            Self::Locals => "locals",
            Self::Words => "words",
            Self::Order => "order",
            Self::Added => "added",
            Self::Parameter => "parameter",
            Self::Imports => "imports",
            Self::Constant => "constant!",
            Self::Callee => "callee!",
            Self::Branch => "branch!",
        }
    }
}

/// A copy that was changed.
pub struct Changed {
    /// Its text.
    pub text: String,
    /// The definition that differs in meaning, or in what it takes.
    pub name: Option<String>,
}

/// The function that is added.
const ADDED: &str = "first_or_none";

/// Changes a copy so; `None` where it has nothing of the kind. `item` is what a copied item is called.
pub fn change(
    what: Change,
    code: &Code,
    (item, spot): (Option<&str>, Spot<'_>),
    random: &mut Random,
) -> Option<Changed> {
    let plain = |text: String| Changed { text, name: None };
    match what {
        Change::Nothing => Some(plain(code.text().to_owned())),
        Change::Locals => rename_local(code, random).map(plain),
        Change::Words => change_words(code, random).map(plain),
        Change::Order => swap(code, random).map(plain),
        Change::Added => add(code, item).map(plain),
        Change::Parameter => add_parameter(code, random),
        Change::Imports => respell(code, spot, random).map(plain),
        Change::Constant => change_number(code, &|_| true, random),
        Change::Callee => change_callee(code, item, random),
        Change::Branch => remove_branch(code, &|_| true, random),
    }
}

fn rename_local(code: &Code, random: &mut Random) -> Option<String> {
    let units = code.file.units.iter();
    let functions = units.filter(|unit| {
        matches!(unit.kind, UnitKind::Function | UnitKind::Method) && unit.end > unit.body
    });
    let mut renamings = Vec::new();
    for unit in functions {
        let range = (unit.first, unit.end);
        let locals = code.words(range).into_iter();
        renamings.extend(locals.filter_map(|word| renaming(code, range, &word)));
    }
    code.edited(random.choose(&renamings)?.clone())
}

/// The edits by which a local of a function gets another name; `None` where it is none, or not all of its uses are known.
fn renaming(
    code: &Code,
    (first, end): (u32, u32),
    word: &str,
) -> Option<Vec<(Range<usize>, String)>> {
    let text = code.text().get(code.start(first)..code.stop(end - 1))?;
    let new = format!("{word}_value");
    let by_text = ["global", "nonlocal", "exec", "eval", "locals", "vars", &new];
    if by_text.iter().any(|name| occurrences(text, name) > 0) {
        return None;
    }
    let tokens: Vec<u32> = (first..end).filter(|at| code.word(*at) == word).collect();
    let elsewhere = |at: &u32| {
        code.file
            .has(*at, marks::ATTRIBUTE | marks::KEYWORD_ARGUMENT)
    };
    let (apart, own): (Vec<u32>, Vec<u32>) = tokens.iter().partition(|at| elsewhere(at));
    let local =
        |at: &u32| code.file.has(*at, marks::LOCAL) && !code.file.has(*at, marks::PARAMETER);
    // A name that a text says would be left behind.
    let all = occurrences(text, word) == tokens.len();
    let fits = all && apart.is_empty() && own.len() > 1 && own.iter().all(local);
    let edits = own
        .iter()
        .map(|at| (code.start(*at)..code.stop(*at), new.clone()));
    fits.then(|| edits.collect())
}

/// How often a word stands in a text, as a word.
fn occurrences(text: &str, word: &str) -> usize {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let found = text.match_indices(word).filter(|(at, _)| {
        let before = text.get(..*at).and_then(|text| text.chars().next_back());
        let behind = text
            .get(at + word.len()..)
            .and_then(|text| text.chars().next());
        !before.is_some_and(part) && !behind.is_some_and(part)
    });
    found.count()
}

fn change_words(code: &Code, random: &mut Random) -> Option<String> {
    let items: Vec<&Part> = code.parts.iter().filter(|part| part.is_item()).collect();
    let part = random.choose(&items)?;
    if code.language() == LanguageKind::Rust {
        let at = code.lines(part).start;
        return code.edited(vec![(
            at..at,
            "// Kept in step with the other one.\n".to_owned(),
        )]);
    }
    let head_end = code.stop(part.body.max(1) - 1);
    let gap = code.text().get(head_end..code.start(part.body))?;
    if let Some(quotes) = gap.find("\"\"\"").filter(|_| part.body < part.end) {
        let at = head_end + quotes + 3;
        return code.edited(vec![(at..at, "As elsewhere: ".to_owned())]);
    }
    let at = code.start(part.body);
    let line = code.line_start(at);
    let indent = code.indent(at).to_owned();
    let alone = !indent.is_empty() && indent.trim().is_empty();
    let comment = format!("{indent}# As it stands elsewhere.\n");
    code.edited(vec![(line..line, comment)]).filter(|_| alone)
}

/// Lets two functions that follow each other change places.
fn swap(code: &Code, random: &mut Random) -> Option<String> {
    let two: Vec<(&Part, &Part)> = code
        .parts
        .windows(2)
        .filter_map(|two| match two {
            [one, other] if may_swap(code, one, other) => Some((one, other)),
            _ => None,
        })
        .collect();
    let (one, other) = random.choose(&two)?;
    let (first, second) = (code.lines(one), code.lines(other));
    if first.end > second.start {
        return None;
    }
    let texts = (code.of(one).to_owned(), code.of(other).to_owned());
    code.edited(vec![(first, texts.1), (second, texts.0)])
}

fn may_swap(code: &Code, one: &Part, other: &Part) -> bool {
    // What stands in a head is evaluated where it stands.
    let head = code.words((other.first, other.body));
    let free = |part: &Part| part.kind == PartKind::Function && code.word(part.first) != "@";
    let apart = one.name() != other.name() && !head.contains(one.name());
    free(one) && free(other) && apart && code.words((one.first, one.body)).len() < 40
}

/// Adds a function to a copied module.
fn add(code: &Code, item: Option<&str>) -> Option<String> {
    if item.is_some() || occurrences(code.text(), ADDED) > 0 {
        return None;
    }
    let function = match code.language() {
        LanguageKind::Python => format!(
            "\n\ndef {ADDED}(values):\n    \"\"\"The first of some values, if there is one.\"\"\"\n    return next(iter(values), None)\n"
        ),
        _ => format!(
            "\n/// The first of some values, if there is one.\npub fn {ADDED}(values: &[u8]) -> Option<u8> {{\n    values.first().copied()\n}}\n"
        ),
    };
    Some(format!("{}{function}", code.text()))
}

/// Gives a function of Python one parameter more, which nobody has to give.
fn add_parameter(code: &Code, random: &mut Random) -> Option<Changed> {
    if code.language() != LanguageKind::Python {
        return None;
    }
    let functions: Vec<(&Part, usize)> = code
        .parts
        .iter()
        .filter_map(|part| Some((part, parameters_end(code, part)?)))
        .collect();
    let (part, at) = random.choose(&functions)?;
    let before = code.text().get(..*at)?.trim_end();
    let comma = if before.ends_with(['(', ',']) {
        ""
    } else {
        ", "
    };
    Some(Changed {
        text: code.edited(vec![(*at..*at, format!("{comma}quiet=False"))])?,
        name: Some(part.name().to_owned()),
    })
}

/// Where the parameters of a function end, where they are plain.
fn parameters_end(code: &Code, part: &Part) -> Option<usize> {
    let named = (part.first..part.body).find(|at| code.file.has(*at, marks::DEFINED))?;
    let plain = part.kind == PartKind::Function && code.word(part.first) == "def";
    if !plain || code.word(named + 1) != "(" {
        return None;
    }
    let tokens: &dyn coalesce_model::grammar::Tokens = &code.file;
    let close = tokens.behind_closing(named + 1, part.body) - 1;
    let words: BTreeSet<&str> = (named + 1..close).map(|at| code.word(at)).collect();
    let plain = !words.contains("*") && !words.contains("**") && !words.contains("/");
    let taken = occurrences(code.of(part), "quiet") > 0;
    (plain && !taken).then(|| code.start(close))
}

/// Writes an import of several names as several.
fn respell(code: &Code, spot: Spot<'_>, random: &mut Random) -> Option<String> {
    let parts = code.parts.iter().filter(|part| {
        let several = part.leaves.len() > 1 || part.leaves.iter().any(|leaf| leaf.dots > 0);
        several && can_be_rewritten(code, part)
    });
    let parts: Vec<&Part> = parts.collect();
    let part = random.choose(&parts)?;
    let lines = import_lines(code, part, spot, &|_| None)?;
    let range = code.start(part.first)..code.stop(part.end - 1);
    code.edited(vec![(range, lines.join("\n"))])
}

/// The parts of which a change alters what they do.
fn changeable<'c>(code: &'c Code, fits: &dyn Fn(&Part) -> bool) -> Vec<&'c Part> {
    let parts = code.parts.iter().filter(|part| {
        let apart = matches!(part.kind, PartKind::Import | PartKind::Other);
        // What tests alone use has no meaning for others.
        let acts = !apart && !code.is_for_tests(part);
        let own = !part.name().is_empty() && !part.name().starts_with("__");
        acts && own && !part.name().starts_with("test") && fits(part)
    });
    parts.collect()
}

fn change_number(
    code: &Code,
    fits: &dyn Fn(&Part) -> bool,
    random: &mut Random,
) -> Option<Changed> {
    let numbers = changeable(code, fits).into_iter().flat_map(|part| {
        let numbers = code.numbers((part.body, part.end)).into_iter();
        // The length of an array is a part of its type.
        let length = |at: &u32| code.word(at - 1) == ";" && code.word(at + 1) == "]";
        let numbers = numbers.filter(move |at| *at == 0 || !length(at));
        numbers.map(move |at| (part, at))
    });
    let numbers: Vec<(&Part, u32)> = numbers.collect();
    let (part, at) = random.choose(&numbers)?;
    let new = match code.word(*at).split_once('.') {
        Some((whole, rest)) => format!("{}.{rest}", whole.parse::<u64>().ok()? + 1),
        None => (code.word(*at).parse::<u64>().ok()? + 1).to_string(),
    };
    Some(Changed {
        text: code.edited(vec![(code.start(*at)..code.stop(*at), new)])?,
        name: Some(part.name().to_owned()),
    })
}

/// Changes what another definition calls, so that one text means two things.
fn change_callee(code: &Code, item: Option<&str>, random: &mut Random) -> Option<Changed> {
    let uses = code.uses();
    let called = |part: &Part| {
        let mut callers = uses
            .iter()
            .filter(|(name, words)| **name != part.name() && words.contains(part.name()));
        item != Some(part.name()) && callers.any(|(name, _)| item.is_none_or(|item| item == *name))
    };
    match random.percent(50) {
        true => {
            change_number(code, &called, random).or_else(|| remove_branch(code, &called, random))
        }
        false => {
            remove_branch(code, &called, random).or_else(|| change_number(code, &called, random))
        }
    }
}

fn remove_branch(
    code: &Code,
    fits: &dyn Fn(&Part) -> bool,
    random: &mut Random,
) -> Option<Changed> {
    let find = match code.language() {
        LanguageKind::Python => indented_branch,
        _ => braced_branch,
    };
    let branches = changeable(code, fits).into_iter().flat_map(|part| {
        let range = (part.body, part.end);
        let branches = (part.body..part.end).filter_map(move |at| find(code, range, at));
        branches.map(move |range| (part, range))
    });
    let branches: Vec<(&Part, Range<usize>)> = branches.collect();
    let (part, range) = random.choose(&branches)?;
    Some(Changed {
        text: code.edited(vec![(range.clone(), String::new())])?,
        name: Some(part.name().to_owned()),
    })
}

/// The lines of an `else`, or of an `if` that has no other branch, and that do something; not the only ones of a block.
fn indented_branch(code: &Code, (first, end): (u32, u32), at: u32) -> Option<Range<usize>> {
    let starts = |at: &u32| code.file.has(*at, marks::STATEMENT);
    let column = |at: u32| code.indent(code.start(at)).to_owned();
    if !starts(&at) || !matches!(code.word(at), "if" | "else") || !column(at).trim().is_empty() {
        return None;
    }
    let own = column(at);
    let outside = |next: &u32| starts(next) && column(*next).len() <= own.len();
    let stop = (at + 1..end).find(outside).unwrap_or(end);
    let continued = stop < end
        && column(stop) == own
        && matches!(code.word(stop), "elif" | "else" | "except" | "finally");
    let goes_on = stop < end && column(stop) == own;
    let before = (first..at)
        .rev()
        .find(|before| starts(before) && column(*before).len() <= own.len());
    let alone = code.word(at) == "if" && !goes_on && before.is_none_or(|one| column(one) != own);
    let body = code.words((at + 1, stop)).len() + code.numbers((at + 1, stop)).len();
    let ends = code.line_end(code.stop(stop - 1).max(1) - 1);
    (!continued && !alone && body > 0).then(|| code.line_start(code.start(at))..ends)
}

/// The last `else` of an `if` that stands as a statement, with its block, or all of it where it has none.
fn braced_branch(code: &Code, (_, end): (u32, u32), at: u32) -> Option<Range<usize>> {
    let tokens: &dyn coalesce_model::grammar::Tokens = &code.file;
    let statement = at > 0 && matches!(code.word(at - 1), ";" | "}" | "{");
    if code.word(at) != "if" || !statement {
        return None;
    }
    let block = |from: u32| {
        let open = (from..end).find(|open| code.word(*open) == "{")?;
        Some((open, tokens.behind_closing(open, end)))
    };
    let (mut from, (mut open, mut behind)) = (at, block(at)?);
    while code.word(behind) == "else" {
        from = behind;
        (open, behind) = block(behind)?;
    }
    // At the end of a block it may be its value.
    let value = from != at && code.word(behind) == "}";
    let last = from == at || code.word(from + 1) == "{";
    (behind > open + 2 && last && !value).then(|| code.start(from)..code.stop(behind - 1))
}
