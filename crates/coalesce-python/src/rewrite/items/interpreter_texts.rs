//! Texts in which Python itself, or its library, says the name of a function: `f() missing 1 required positional argument`,
//! `invalid f value`, `Thread-1 (f)`. One that stands in the tree is compared with what is said of a function by its old name.

use coalesce_model::{ByteSpan, Unproven, UnprovenKind};

use super::found_by_name::Traveller;
use crate::{analysis::DefinitionKind, names::is_word};

/// What follows the name and its brackets in messages about calls.
const ABOUT_CALLS: [&str; 5] = [" missing", " takes", " got", " argument", " expected"];

impl Traveller<'_> {
    /// The first text that says the name as a message does.
    pub(super) fn in_messages(&self) -> Option<Unproven> {
        let is_function = self.own.kind == DefinitionKind::Function;
        let mut mentions = self.mentions().filter(|_| is_function);
        mentions.find_map(|(path, text)| {
            let item = self.moved.item.as_str();
            let places = text.match_indices(item).map(|(at, _)| at);
            let at = places.into_iter().find(|at| is_said(text, *at, item))?;
            Some(Unproven {
                path: path.clone(),
                span: Some(ByteSpan::from_range(at..at + item.len())),
                kind: UnprovenKind::OwnPlace,
                name: self.moved.change.from.clone(),
                why:
                    "a text that says its name as messages of Python do, which say another one then"
                        .to_owned(),
            })
        })
    }
}

/// Whether a name stands in a text as in a message.
fn is_said(text: &str, at: usize, name: &str) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let after = text.get(at + name.len()..).unwrap_or_default();
    if before.ends_with(is_word) || after.starts_with(is_word) {
        return false;
    }
    // As it is, and as a regular expression has it.
    let called = ["()", "\\(\\)", "\\\\(\\\\)"].iter();
    let mut rests = called.filter_map(|brackets| after.strip_prefix(brackets));
    let thread = before
        .strip_suffix('(')
        .map(|head| head.trim_end_matches(['\\', ' ']));
    let number = thread.map(|head| head.trim_end_matches(|c: char| c.is_ascii_digit()));
    rests.any(|rest| ABOUT_CALLS.iter().any(|word| rest.starts_with(word)))
        || before.ends_with("invalid ") && after.starts_with(" value")
        || number.is_some_and(|head| head.ends_with("Thread-") || head.ends_with("Thread-\\d+"))
}

#[cfg(test)]
mod tests {
    use super::is_said;

    #[test]
    fn names_are_said_as_messages_have_them() {
        for (before, after, expected) in [
            ("invalid ", " value: '3'", true),
            ("", "() missing 1 required", true),
            ("", r"\(\) takes 2", true),
            ("Thread-1 (", ")", true),
            ("call ", "() first", false),
            ("of ", " value", false),
            ("(", ")", false),
        ] {
            let text = format!("{before}name{after}");
            assert_eq!(is_said(&text, before.len(), "name"), expected, "{text}");
        }
    }
}
