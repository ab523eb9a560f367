//! Classes whose instances hand their own class to a function: `Name.of(type(self))`, where nothing else calls that.

use std::sync::Arc;

use super::{first_parameters, innermost_function, sets};
use crate::{
    analysis::{Analysis, Called, Use},
    names::{arguments_at, occurrences_of_word},
};

/// The classes of which all calls of a function hand one, or one below it, for the argument with this number; none where
/// there is no call, or one hands something else.
pub(super) fn of_calls(texts: &[Arc<str>], function: &str, argument: usize) -> Option<Vec<String>> {
    let texts = texts.iter();
    let naming = texts.filter(|text| occurrences_of_word(text, function));
    let mut classes = Vec::new();
    for text in naming {
        classes.extend(of_text(text, function, argument)?);
    }
    (!classes.is_empty()).then_some(classes)
}

fn of_text(text: &str, function: &str, argument: usize) -> Option<Vec<String>> {
    let analysis = Analysis::new(text);
    let mut strings = analysis.strings.iter();
    let quoted =
        strings.any(|string| !string.documentation && string.span.of(text) == Some(function));
    let mut imports = analysis.imports.iter();
    let renamed = imports.any(|(import, _)| {
        let mut leaves = import.leaves.iter();
        leaves.any(|leaf| leaf.name.text == function && leaf.alias.is_some())
    });
    if quoted || renamed {
        return None;
    }
    let uses = analysis.uses.iter();
    let naming = uses.filter(|used| used.chain.iter().any(|link| link.text == function));
    naming
        .map(|used| class_handed(text, &analysis, (used, function), argument))
        .collect()
}

/// The class whose method hands its own class at a call.
fn class_handed(
    text: &str,
    analysis: &Analysis,
    (used, function): (&Use, &str),
    argument: usize,
) -> Option<String> {
    let last = used.chain.last()?;
    let called = last.text == function && used.called == Called::Callee && !used.store;
    let rest = text.get(last.span.end as usize..)?.strip_prefix('(');
    let given = arguments_at(rest.filter(|_| called)?, 0);
    let (_, given) = given.get(argument)?;
    let method = innermost_function(analysis, last.span)?;
    let code = method.span.of(text)?;
    let parameters = first_parameters(code);
    let [own] = parameters.as_slice() else {
        return None;
    };
    let given = given.trim();
    let of_class = code.trim_start().starts_with("@classmethod");
    let is_own_class = given == format!("type({own})")
        || given == format!("{own}.__class__")
        || of_class && given == *own;
    let plain = !code.contains("@staticmethod") && !sets(code, own);
    method.class.clone().filter(|_| is_own_class && plain)
}
