//! What examples in documentation are expected to print: `<class 'pkg.old.X'>`, the last line of a traceback. Their input
//! follows; where somebody runs them, what they print has to be what stands there.

use coalesce_model::{
    ByteSpan, Change, LanguagePlan, Subject, Texts, TreePath, Unproven, UnprovenKind,
};

use super::mapping::Mapping;
use crate::names::occurrences;

/// Files of settings and of commands that say whether examples are run.
const RUNNING: [&str; 12] = [
    "Makefile",
    "conf.py",
    "conftest.py",
    "justfile",
    "nox.py",
    "noxfile.py",
    "pyproject.toml",
    "pytest.ini",
    ".pytest.ini",
    "setup.cfg",
    "tasks.py",
    "tox.ini",
];

/// Tells names of what changes in the expected output of examples, where the tree has something that runs them.
pub fn check(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    if mapping.all.is_empty() || !are_run(mapping, texts) {
        return;
    }
    for path in texts.paths().iter().filter(|path| has_examples(path)) {
        let Some(text) = texts.text(path).filter(|text| text.contains(">>>")) else {
            continue;
        };
        let named: Vec<&Change> = mapping.named_in(&text).collect();
        // In blocks of code of a document full names follow, whatever they are there for.
        let is_document = path.extension() != Some("py");
        let outputs = expected(&text).into_iter();
        for output in outputs.filter(|output| !(is_document && output.in_block)) {
            let found = named.iter().filter_map(|change| {
                let name = output
                    .names(change)
                    .into_iter()
                    .find_map(|name| Some((occurrences(output.line, name).next()?, name)));
                let (at, name) = name?;
                let at = output.start + at.start as usize;
                Some((ByteSpan::from_range(at..at + name.len()), change))
            });
            // The longest name says it best.
            let told = found.max_by_key(|(span, _)| span.len());
            // What leaves with its definition is cut out, and no rewrite of its own.
            let follows = |span: &ByteSpan| {
                let mut rewrites = plan.rewrites.iter();
                rewrites.any(|one| one.path == *path && one.span.contains(*span))
            };
            let told = told.filter(|(span, _)| !follows(span));
            plan.unproven.extend(told.map(|(span, change)| Unproven {
                path: path.clone(),
                span: Some(span),
                kind: UnprovenKind::OwnPlace,
                name: change.from.clone(),
                why: "an example is expected to print this, and prints the new name".to_owned(),
            }));
        }
    }
}

fn has_examples(path: &TreePath) -> bool {
    matches!(path.extension(), Some("py" | "md" | "rst" | "txt"))
}

/// Whether something in the tree runs examples.
fn are_run(mapping: &Mapping<'_>, texts: &dyn Texts) -> bool {
    let facts = mapping.graph.facts.iter();
    let mut imports = facts.flat_map(|facts| facts.import_leaves());
    let by_code = imports.any(|(import, leaf)| match &import.from {
        Some(from) => from.level == 0 && from.module == "doctest",
        None => leaf.name.text == "doctest",
    });
    let mut paths = texts.paths().iter();
    by_code
        || paths.any(|path| {
            let is_script = matches!(path.extension(), Some("sh" | "yaml" | "yml"));
            (is_script || RUNNING.contains(&path.file_name()))
                && texts
                    .text(path)
                    .is_some_and(|text| text.contains("doctest"))
        })
}

/// A line that an example is expected to print.
struct Output<'t> {
    start: usize,
    line: &'t str,
    /// The last line of what is executed.
    input: &'t str,
    /// It stands in a block of code.
    in_block: bool,
}

impl Output<'_> {
    /// The names of what changes that may be printed: its own, and that of its module where it is asked for.
    fn names<'c>(&self, change: &'c Change) -> Vec<&'c str> {
        let mut names = vec![change.from.as_str()];
        if change.subject == Subject::Item && self.input.contains("__module__") {
            names.extend(change.from.rsplit_once('.').map(|(module, _)| module));
        }
        names
    }
}

/// The lines that examples are expected to print.
fn expected(text: &str) -> Vec<Output<'_>> {
    let mut found = Vec::new();
    let (mut at, mut inside, mut input) = (0, false, "");
    let (mut fenced, mut directive) = (false, None);
    for line in text.split_inclusive('\n') {
        let content = line.trim();
        let indentation = line.len() - line.trim_start().len();
        fenced ^= content.starts_with("```") || content.starts_with("~~~");
        if directive.is_some_and(|around| !content.is_empty() && indentation <= around) {
            directive = None;
        }
        if content.starts_with(".. ") && content.contains("::") {
            directive = Some(indentation);
        }
        let is_input = content.starts_with(">>>") || inside && content.starts_with("... ");
        // The dots of a traceback are no input, and nothing of it ends at them.
        let ends =
            content.is_empty() || content.starts_with("```") || content.starts_with("\"\"\"");
        match (is_input, inside && !ends) {
            (true, _) => (inside, input) = (true, content),
            (false, true) => found.push(Output {
                start: at,
                line,
                input,
                in_block: fenced || directive.is_some(),
            }),
            (false, false) => inside = false,
        }
        at += line.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_an_input_is_expected_up_to_an_empty_line() {
        let text = "pkg.old\n>>> f(\n... 1)\nTraceback (most recent call last):\n    ...\npkg.old.Error: no\n\npkg.old\n";
        let lines = expected(text).into_iter();
        let lines: Vec<&str> = lines.map(|output| output.line.trim()).collect();
        assert_eq!(
            lines,
            [
                "Traceback (most recent call last):",
                "...",
                "pkg.old.Error: no"
            ]
        );
    }
}
