//! From the envelope to what a person reads: terminal pages, unified diffs, explanations.
//!
//! Pure functions. A page says nothing that the JSON does not say, because it is made from the
//! same [`Envelope`]; it is no interface, the JSON is. Whether there is a terminal, and whether it
//! wants colour, is the caller's to know.

mod annotations;
mod audit;
mod check;
mod coverage;
mod date;
mod devices;
pub mod diff;
mod duplicates;
mod entry;
mod error;
mod excerpt;
mod existing;
pub mod explain;
mod fleet;
mod html;
mod migration;
mod page;
mod plan;
mod proposal;
pub mod reference;
mod refs;
mod retire;
mod sarif;
mod status;
pub mod typed;
mod verify;

use coalesce_model::envelope::{Body, Envelope, ErrorEntry, UnprovenEntry};

pub use annotations::{annotations, summary};
pub use audit::failing_findings;
pub use html::html;
use page::Page;
pub use sarif::sarif;

/// How a page is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether to use ANSI colours; nothing is said by colour alone.
    pub color: bool,
    /// Only errors and what was asked for as data: no answer, no advice, no counts.
    pub quiet: bool,
    /// Whether long lists are shown to their end.
    pub all: bool,
    /// Columns for texts side by side; `None` for one below the other.
    pub columns: Option<usize>,
    /// Whether a long diff is shown as a whole.
    pub diff: bool,
}

/// The page of a command. It ends with a newline, unless it is empty.
#[must_use]
pub fn page(envelope: &Envelope, options: Options) -> String {
    let mut page = Page::new(options).about(&envelope.root);
    match &envelope.body {
        Body::Audit(body) => audit::write(&mut page, envelope, body),
        Body::Refs(body) => refs::write(&mut page, envelope, body),
        Body::Find(body) => existing::write(&mut page, body),
        Body::Fleet(body) => fleet::write(&mut page, body),
        Body::Diff(body) => coverage::write(&mut page, envelope, body),
        Body::Plan(body) => plan::write(&mut page, envelope, body),
        Body::Entry(body) => entry::write(&mut page, envelope, body),
        Body::Init(body) => entry::write_init(&mut page, envelope, body),
        Body::Migrate(body) => migration::write_migrate(&mut page, envelope, body),
        Body::Rollback(body) => migration::write_rollback(&mut page, envelope, body),
        Body::Recover(body) => migration::write_recover(&mut page, envelope, body),
        Body::Status(body) => status::write(&mut page, envelope, body),
        Body::Check(body) => check::write(&mut page, envelope, body),
        Body::Verify(body) => verify::write(&mut page, envelope, body),
        Body::Retire(body) => retire::write(&mut page, envelope, body),
        Body::Explain(body) => explain::write(&mut page, body),
        Body::Devices(body) => devices::write(&mut page, body),
        Body::Failed(body) => error::write(&mut page, &body.error),
    }
    page.finish()
}

/// An error as the terminal shows it: what, where with the line, and what would help.
#[must_use]
pub fn error_page(error: &ErrorEntry, options: Options) -> String {
    let mut page = Page::new(options);
    error::write(&mut page, error);
    page.finish()
}

/// The places that could not be proven, the first of them, harmless for a terminal.
#[must_use]
pub fn unproven_places(entries: &[UnprovenEntry]) -> String {
    let mut page = Page::new(Options::default());
    plan::unproven(&mut page, entries, plan::NOT_REWRITTEN_SHOWN);
    page.finish()
}

/// The JSON of an envelope, indented, with a newline at the end.
///
/// # Errors
/// None in practice: the envelope holds nothing but text, numbers and lists.
pub fn json(envelope: &Envelope) -> Result<String, serde_json::Error> {
    Ok(escaped(&serde_json::to_string_pretty(envelope)?) + "\n")
}

/// JSON with every character spelled out that a terminal would obey. Outside of strings there is none
/// of them, so the value stays the same.
fn escaped(json: &str) -> String {
    page::spell_out(json, |character| {
        page::is_obeyed(character) && character != '\n'
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_holds_nothing_that_a_terminal_obeys_and_means_the_same() {
        let text = "a\u{202e}b\u{9b}31m\u{7f}\u{2066}\u{85}\u{200f}\tc\nd\u{1f600}é";
        let json = serde_json::to_string_pretty(&[text]).unwrap();
        let escaped = escaped(&json);
        let shown = |c: char| c == '\n' || !page::is_obeyed(c);
        assert!(escaped.chars().all(shown), "{escaped}");
        let read: Vec<String> = serde_json::from_str(&escaped).unwrap();
        assert_eq!(read, [text]);
        assert!(escaped.contains('é'));
    }
}
