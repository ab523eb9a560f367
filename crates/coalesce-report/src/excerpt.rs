//! A finding with the line that it stands on, laid out as rustc lays it out.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use coalesce_model::{
    Severity,
    envelope::{Excerpt, FindingEntry},
};

use crate::page::{harmless, is_obeyed};

/// The finding as lines of a terminal, without a line end at the end; `None` where its line is not
/// known.
pub fn render(finding: &FindingEntry, color: bool) -> Option<String> {
    let (range, excerpt) = (finding.range?, finding.excerpt.as_ref()?);
    let (line, start, end) = shown(excerpt);
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let message = harmless(&finding.message);
    let mut title = level.primary_title(message);
    // A note finds fault with nothing, so there is no fault to name.
    if finding.severity != Severity::Note {
        title = title.id(finding.code.0);
    }
    let source = Snippet::source(line)
        .path(harmless(&finding.path))
        .line_start(range.line as usize)
        .annotation(AnnotationKind::Primary.span(start..end));
    let mut group = Group::with_title(title).element(source);
    if let Some(help) = &finding.help {
        group = group.element(Level::HELP.message(harmless(help)));
    }
    let renderer = if color {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    Some(renderer.render(&[group]))
}

/// The line with every character replaced that a terminal would obey, and where in it the place is now.
fn shown(excerpt: &Excerpt) -> (String, usize, usize) {
    let mut line = String::with_capacity(excerpt.line.len());
    let (mut start, mut end) = (None, None);
    for (at, character) in excerpt.line.char_indices() {
        if at >= excerpt.start {
            start.get_or_insert(line.len());
        }
        if at >= excerpt.end {
            end.get_or_insert(line.len());
        }
        line.push(if is_obeyed(character) {
            char::REPLACEMENT_CHARACTER
        } else {
            character
        });
    }
    let start = start.unwrap_or(line.len());
    let end = end.unwrap_or(line.len()).max(start);
    (line, start, end)
}

#[cfg(test)]
mod tests {
    use coalesce_model::{envelope::Range, finding::codes};

    use super::*;

    fn finding(line: &str, meant: &str) -> FindingEntry {
        let start = line.find(meant).unwrap();
        FindingEntry {
            code: codes::FORBIDDEN_PATH,
            severity: Severity::Error,
            path: "a/b.py".to_owned(),
            range: Some(Range {
                start: 0,
                end: 0,
                line: 7,
                column: 1,
            }),
            message: "`old` is \u{1b}[2Jforbidden".to_owned(),
            help: Some("use new".to_owned()),
            excerpt: Some(Excerpt {
                line: line.to_owned(),
                start,
                end: start + meant.len(),
            }),
            changed: None,
        }
    }

    #[test]
    fn carets_stand_below_what_is_meant() {
        let text = render(&finding("    import é.old  # why", "old"), false).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0],
            "error[forbidden-path]: `old` is \\u{1b}[2Jforbidden"
        );
        assert_eq!(lines[1], " --> a/b.py:7:14");
        let source = lines.iter().find(|line| line.contains("import")).unwrap();
        let carets = lines.iter().find(|line| line.contains('^')).unwrap();
        let column = |line: &str, part: &str| line[..line.find(part).unwrap()].chars().count();
        assert_eq!(column(source, "old"), column(carets, "^^^"), "{text}");
        assert!(text.contains("help: use new"), "{text}");
    }

    #[test]
    fn nothing_that_a_terminal_obeys_is_shown_and_a_place_at_the_end_is_one() {
        for (line, meant) in [
            ("a\u{1b}[31m\u{202e}b = old", "old"),
            ("\tx = old", "old"),
            ("x", ""),
        ] {
            let text = render(&finding(line, meant), false).unwrap();
            let obeyed = text.chars().find(|c| is_obeyed(*c) && *c != '\n');
            assert_eq!(obeyed, None, "{text:?}");
        }
    }
}
