//! What names a package that goes, or what moves by a path without its crate: commands of CI, filters of tests.
//!
//! Of Rust alone. Nothing is changed: what should stand there instead is for a person to say.

use coalesce_model::{Change, Form, Subject};

use crate::{Found, TextRewriter, line_before, names::occurrences};

/// Why a package's name is told.
const GOES: &str = "a package of this name goes, and what runs here may name it";

/// Why a path without its crate is told.
const FILTERS: &str = "a path without its crate, and what it names gets another one";

/// Tells them, once each; `runs` says whether a file runs the project, where packages are named by words.
pub(crate) fn tell(rewriter: &TextRewriter<'_>, runs: bool, text: &str, found: &mut Found) {
    if rewriter.separator != "::" {
        return;
    }
    for change in rewriter.changes {
        match change.from.split_once("::") {
            None if runs => package(change, text, found),
            Some((_, path)) => filters(change, path, text, found),
            None => {}
        }
    }
}

fn package(change: &Change, text: &str, found: &mut Found) {
    // Where a shim stays, so does its package.
    if change.subject != Subject::Module || change.shim.is_some() {
        return;
    }
    let (plain, dashed) = (change.from.clone(), change.from.replace('_', "-"));
    let dashed = (dashed != plain).then_some(dashed);
    for name in std::iter::once(plain).chain(dashed) {
        tell_first(text, &name, (&|_| true, GOES), found);
    }
}

fn filters(change: &Change, path: &str, text: &str, found: &mut Found) {
    let (_, to) = change.to.split_once("::").unwrap_or(("", &change.to));
    // One name alone may be any word.
    let leads_on = |end: u32| {
        let rest = text.get(end as usize..).unwrap_or_default();
        path.contains("::") || rest.starts_with("::")
    };
    if path != to {
        tell_first(text, path, (&leads_on, FILTERS), found);
        test_filters((path, to), text, found);
    }
}

/// Commands that are given parts of the names of tests.
const RUNNERS: [&str; 4] = ["cargo bench", "cargo nextest", "cargo t ", "cargo test"];

/// Tells the ends of a path, one name among them, by which tests are chosen, and that the new path does not end with.
fn test_filters((path, to): (&str, &str), text: &str, found: &mut Found) {
    let ends_so = |end: &str| {
        let before = to.strip_suffix(end);
        before.is_some_and(|before| before.is_empty() || before.ends_with("::"))
    };
    let chooses = |end: u32| {
        let line = line_before(text, end);
        RUNNERS.iter().any(|runner| line.contains(runner))
    };
    let ends = std::iter::successors(Some(path), |end| Some(end.split_once("::")?.1));
    for end in ends {
        if !ends_so(end) {
            tell_first(text, end, (&chooses, FILTERS), found);
        }
    }
}

/// Tells the first place of a name that nothing else was said of, where what stands behind it is as it should be.
fn tell_first(
    text: &str,
    name: &str,
    (is_meant, why): (&dyn Fn(u32) -> bool, &str),
    found: &mut Found,
) {
    let mut places = occurrences(text, name);
    let open =
        places.find(|span| is_meant(span.end) && !found.covered(*span) && !found.is_left(*span));
    if let Some(span) = open {
        found.leave(span, Form::Configuration, name, why);
    }
}

#[cfg(test)]
mod tests {
    use coalesce_model::TreePath;

    use super::*;

    #[test]
    fn tests_are_chosen_by_ends_of_paths() {
        for (text, to, expected) in [
            ("run: cargo test gpu::old", "gpu::new", 1),
            ("run: cargo test old", "gpu::new", 1),
            ("run: cargo nextest run old", "gpu::new", 1),
            ("run: cargo test old", "cpu::old", 0),
            ("run: cargo test gpu::old", "cpu::old", 1),
            ("run: echo old", "gpu::new", 0),
            ("run: cargo test older", "gpu::new", 0),
        ] {
            let mut found = Found::new(TreePath::new("ci.yml").unwrap());
            test_filters(("gpu::old", to), text, &mut found);
            assert_eq!(found.told.not_rewritten.len(), expected, "{text}");
        }
    }
}
