//! The part of the page of `audit` that tells of the manifest it proposed.

use coalesce_model::envelope::{CycleCounts, Forecast, Proposal, ProposedEntry, ProposedState};

use crate::page::{BOLD, DIM, GOOD, PLAIN, Page, WARN, count};

/// Writes the section: what can be followed, what is left, and what it would change.
pub fn write(page: &mut Page, proposal: &Proposal) {
    if proposal.entries.is_empty() {
        page.gap();
        page.line("Nothing to propose: no copies, stubs or redirects that a manifest could name.");
        return;
    }
    let why = "What can be followed is an entry of the file, what is left to you a comment in it.";
    page.section(GOOD, "Proposal", proposal.entries.len(), why);
    page.some(&proposal.entries, write_entry);
    if page.quiet() {
        return;
    }
    let open = proposal
        .entries
        .iter()
        .filter(|entry| entry.state == ProposedState::Open);
    let open = count(open.count(), "entry");
    match &proposal.forecast {
        Some(forecast) => page.line(format_args!("  {open} to follow: {}", told(forecast))),
        None => page.line(format_args!("  {open} to follow")),
    }
    let look = page.command(&["plan", &proposal.path]);
    page.put(DIM, format_args!("  look: {look}")).end();
}

/// What following the entries would change.
fn told(forecast: &Forecast) -> String {
    let cycles = |counts: CycleCounts| counts.eager + counts.lazy;
    format!(
        "{}, {}, {}; import cycles {} before, {} after",
        count(forecast.files, "file"),
        count(forecast.references, "reference"),
        forecast.lines(),
        cycles(forecast.cycles_before),
        cycles(forecast.cycles_after),
    )
}

fn write_entry(page: &mut Page, entry: &ProposedEntry) {
    page.put(PLAIN, "  ").put(BOLD, &entry.verb);
    page.put(PLAIN, format_args!(" {}", entry.from));
    if !entry.to.is_empty() {
        page.put(PLAIN, format_args!(" → {}", entry.to));
    }
    match entry.state {
        ProposedState::Open => page.end(),
        ProposedState::Decide => page
            .put(
                WARN,
                format_args!("  to decide: {}", entry.decide.join(", ")),
            )
            .end(),
        ProposedState::Refused => {
            let why = entry.refused.as_deref().unwrap_or_default();
            page.put(WARN, "  left to you").end();
            page.put(DIM, format_args!("    {why}")).end();
        }
    }
}
