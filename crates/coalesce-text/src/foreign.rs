//! Files of other languages, data, and whatever else is text: nobody here reads them, so that nothing in them changes.
//! A full name of what moves, and the path of a file that does, are told.

use coalesce_model::{ByteSpan, Form};

use crate::{Found, Subject, line_before, line_behind};

const NAMED: &str = "a file of another kind names it: change it by hand";

/// Longer texts are data that a program wrote.
const LONGEST_TEXT: usize = 1 << 20;

/// Tells what a file of another kind names. In Python a program may load it by that name.
pub(crate) fn tell(subject: &Subject<'_>, text: &str, found: &mut Found) {
    let first = text.lines().next().unwrap_or_default();
    // A program without an ending: what it imports is asked for where code is that nobody reads.
    let is_program = first.starts_with("#!") && first.contains("python");
    if text.len() > LONGEST_TEXT || is_program {
        return;
    }
    for (span, from, _) in subject.names(text) {
        found.leave(span, Form::String, &from, NAMED);
        if subject.separator == "." && is_loaded(text, span) {
            found.doubt(span, &from, NAMED);
        }
    }
    subject.places.elsewhere(text, found);
}

/// Whether a name stands where programs have what they load: in quotes, or behind `-m`, and in no comment.
fn is_loaded(text: &str, span: ByteSpan) -> bool {
    let before = line_before(text, span.start);
    let behind = line_behind(text, span.end);
    let is_quoted = before.contains(['"', '\'']) && behind.contains(['"', '\'']);
    let is_run = before.trim_end().ends_with("-m");
    (is_quoted || is_run) && !begins_comment(before)
}

/// Whether a comment begins in what stands before a place of its line, and does not end there.
fn begins_comment(before: &str) -> bool {
    let line = before.trim_start();
    let by_line = ["#", "//", "--", ";", "%", "::", "REM "];
    let open = before.rfind("/*").is_some_and(|at| {
        let rest = before.get(at..).unwrap_or_default();
        !rest.contains("*/")
    });
    open || line.starts_with("* ") || by_line.iter().any(|start| line.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_quotes_and_behind_options_are_loaded() {
        for (text, expected) in [
            ("py::module_::import(\"acme.old\");", true),
            ("/* imports */ PyImport_ImportModule(\"acme.old\");", true),
            ("exec python -m acme.old", true),
            ("// mirrors acme.old, \"more or less\"", false),
            ("/* like \"acme.old\"", false),
            ("class acme.old", false),
        ] {
            let at = text.find("acme.old").unwrap();
            let span = ByteSpan::from_range(at..at + "acme.old".len());
            assert_eq!(is_loaded(text, span), expected, "{text}");
        }
    }
}
