//! Files of other languages, data, and whatever else is text: nobody here reads them, so that nothing in them changes.
//! A full name of what moves, and the path of a file that does, are told.

use coalesce_model::{ByteSpan, Form, TreePath};

use crate::{Found, TextRewriter, line_before, line_behind};

const NAMED: &str = "a file of another kind names it: change it by hand";

/// Endings of files, and names of folders, that hold what tests expect programs to say.
const EXPECTED: [&str; 17] = [
    "__snapshots__",
    "ambr",
    "approved",
    "baseline",
    "baselines",
    "expected",
    "golden",
    "goldens",
    "out",
    "output",
    "ref",
    "reference",
    "snap",
    "snapshots",
    "stderr",
    "stdout",
    "testdata",
];

const SAID: &str =
    "what tests expect may be in it: its name is said otherwise where the program says it";

/// Tells what a file of another kind names. In Python a program may load it by that name, or say it.
pub(crate) fn tell(rewriter: &TextRewriter<'_>, path: &TreePath, text: &str, found: &mut Found) {
    let first = text.lines().next().unwrap_or_default();
    // A program without an ending: what it imports is asked for where code is that nobody reads.
    let is_program = first.starts_with("#!") && first.contains("python");
    if is_program {
        return;
    }
    for (span, from, _) in rewriter.names(text) {
        found.leave(span, Form::String, &from, NAMED);
        if rewriter.separator != "." {
            continue;
        }
        if is_loaded(text, span) {
            found.doubt(span, &from, NAMED);
        } else if is_expected(path) {
            found.doubt(span, &from, SAID);
        }
    }
    rewriter.places.elsewhere(text, found);
}

/// Whether a file is one of those that tests hold against what programs say.
fn is_expected(path: &TreePath) -> bool {
    let is_known = |word: &str| EXPECTED.contains(&word);
    path.extension().is_some_and(is_known) || path.components().any(is_known)
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
    fn what_tests_expect_lies_in_files_of_known_names() {
        for (path, expected) in [
            ("tests/expected.golden", true),
            ("tests/__snapshots__/a.ambr", true),
            ("tests/expected/a.dat", true),
            ("tests/a.dat", false),
            ("native/output.c", false),
        ] {
            assert_eq!(
                is_expected(&TreePath::new(path).unwrap()),
                expected,
                "{path}"
            );
        }
    }

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
