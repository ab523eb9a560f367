//! Findings as GitHub shows them on a change: workflow commands, and the summary of a job.
//!
//! Syntax: "Workflow commands for GitHub Actions" of GitHub's documentation. A step shows ten
//! errors, ten warnings and ten notices; what comes after them is dropped there without a word.
//! The worst come first, therefore, of one level those on lines that have changed, and the summary has
//! the rest.

use std::fmt::{self, Display, Write as _};

use coalesce_model::{
    Severity,
    envelope::{Envelope, FindingEntry},
};

/// How many annotations of each level a step shows.
pub const SHOWN: usize = 10;
/// How many findings the summary lists; GitHub cuts a summary of more than 1 MiB off.
const LISTED: usize = 1000;
/// The levels, the worst first.
const LEVELS: [(Severity, &str); 3] = [
    (Severity::Error, "error"),
    (Severity::Warning, "warning"),
    (Severity::Note, "notice"),
];

/// The findings as workflow commands, a line each, and a last line that counts those not shown.
#[must_use]
pub fn annotations(envelope: &Envelope) -> String {
    let mut out = String::new();
    let mut left = 0;
    for (severity, level) in LEVELS {
        let of_level = envelope.findings.iter();
        let mut of_level: Vec<_> = of_level
            .filter(|finding| finding.severity == severity)
            .collect();
        of_level.sort_by_key(|finding| is_elsewhere(finding));
        for finding in of_level.iter().take(SHOWN) {
            write_command(&mut out, level, finding)
                .expect("invariant: writing to a String does not fail");
        }
        left += of_level.len().saturating_sub(SHOWN);
    }
    if left > 0 {
        out.push_str(&format!("{left} more in the summary of the job\n"));
    }
    out
}

/// Whether a finding is on no line of the change: those that are come first.
fn is_elsewhere(finding: &FindingEntry) -> bool {
    finding.changed != Some(true)
}

fn write_command(out: &mut String, level: &str, finding: &FindingEntry) -> fmt::Result {
    write!(out, "::{level} file={}", Property(&finding.path))?;
    if let Some(range) = finding.range {
        write!(out, ",line={},col={}", range.line, range.column)?;
    }
    write!(out, ",title={}", Property(finding.code.0))?;
    write!(out, "::{}", Data(&finding.message))?;
    if let Some(help) = &finding.help {
        write!(out, "%0A{}", Data(help))?;
    }
    out.push('\n');
    Ok(())
}

/// All findings as the Markdown of a job's summary, the worst first.
#[must_use]
pub fn summary(envelope: &Envelope) -> String {
    let command = envelope.command.as_str();
    if envelope.findings.is_empty() {
        return format!("### coalesce {command}\n\nNothing found.\n");
    }
    let mut findings: Vec<_> = envelope.findings.iter().collect();
    findings.sort_by_key(|finding| (finding.severity, is_elsewhere(finding)));
    let mut out = format!(
        "### coalesce {command}: {} found\n\n| | place | what |\n| --- | --- | --- |\n",
        findings.len()
    );
    for finding in findings.iter().take(LISTED) {
        let line = finding.range.map_or(0, |range| range.line);
        let place = match line {
            0 => finding.path.clone(),
            line => format!("{}:{line}", finding.path),
        };
        out.push_str(&format!(
            "| {} | {} | {} |\n",
            Cell(finding.code.0),
            Cell(&place),
            Cell(&finding.message)
        ));
    }
    if let Some(more) = findings.len().checked_sub(LISTED).filter(|more| *more > 0) {
        out.push_str(&format!("\nand {more} more\n"));
    }
    out
}

/// Text as the value of a command.
struct Data<'a>(&'a str);

impl Display for Data<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '%' => f.write_str("%25")?,
                '\r' => f.write_str("%0D")?,
                '\n' => f.write_str("%0A")?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

/// Text as a property of a command: there, `:` and `,` mean something as well.
struct Property<'a>(&'a str);

impl Display for Property<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = Data(self.0).to_string();
        f.write_str(&value.replace(':', "%3A").replace(',', "%2C"))
    }
}

/// Text in a cell of a Markdown table: nothing in it is markup.
struct Cell<'a>(&'a str);

impl Display for Cell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '\r' | '\n' => f.write_str(" ")?,
                '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '~' => write!(f, "\\{character}")?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use coalesce_model::{
        envelope::{Body, Check, Command, Range},
        finding::codes,
    };

    use super::*;

    fn envelope(severities: impl IntoIterator<Item = Severity>) -> Envelope {
        let mut envelope = Envelope::new(".", Command::Check, Body::Check(Check::default()));
        for (at, severity) in severities.into_iter().enumerate() {
            envelope.findings.push(FindingEntry {
                code: codes::FORBIDDEN_PATH,
                severity,
                path: format!("a,b:{at}.py"),
                range: Some(Range {
                    start: 0,
                    end: 1,
                    line: 3,
                    column: 2,
                }),
                message: "100 % | `old`\nis <gone>".to_owned(),
                help: Some("use new".to_owned()),
                excerpt: None,
                changed: None,
            });
        }
        envelope
    }

    #[test]
    fn a_command_is_one_line_whatever_the_text() {
        let text = annotations(&envelope([Severity::Error]));
        assert_eq!(
            text,
            "::error file=a%2Cb%3A0.py,line=3,col=2,title=forbidden-path::\
             100 %25 | `old`%0Ais <gone>%0Ause new\n"
        );
    }

    #[test]
    fn ten_of_each_level_are_shown_and_the_worst_come_first() {
        let notes = std::iter::repeat_n(Severity::Note, 12);
        let errors = std::iter::repeat_n(Severity::Error, 11);
        let text = annotations(&envelope(notes.chain(errors)));
        let count = |start: &str| text.lines().filter(|line| line.starts_with(start)).count();
        assert_eq!((count("::error "), count("::notice ")), (SHOWN, SHOWN));
        assert!(text.starts_with("::error "), "{text}");
        assert!(
            text.ends_with("3 more in the summary of the job\n"),
            "{text}"
        );
    }

    #[test]
    fn of_one_level_those_on_changed_lines_come_first() {
        let mut envelope = envelope(std::iter::repeat_n(Severity::Error, 12));
        envelope.findings[11].changed = Some(true);
        let text = annotations(&envelope);
        assert!(text.starts_with("::error file=a%2Cb%3A11.py,"), "{text}");
        let summary = summary(&envelope);
        let first = summary.lines().nth(4).unwrap();
        assert!(first.contains("a,b:11.py:3"), "{summary}");
        assert!(
            text.ends_with("2 more in the summary of the job\n"),
            "{text}"
        );
    }

    #[test]
    fn the_summary_has_no_markup_of_the_tree() {
        let text = summary(&envelope([Severity::Note, Severity::Error]));
        assert!(text.contains("100 % \\| \\`old\\` is &lt;gone>"), "{text}");
        assert_eq!(text.lines().count(), 6);
    }
}
