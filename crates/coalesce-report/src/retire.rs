//! The page of `retire`: the diff, which shims go, and who keeps the others.

use coalesce_model::envelope::{Envelope, Retire, RetiredShim};

use crate::{
    migration,
    page::{BOLD, DIM, PLAIN, Page, WARN, count, read_counts},
    plan,
    status::shim_name,
};

/// Places that are shown of those that name a shim.
const PLACES_SHOWN: usize = 6;

/// Writes the page.
pub fn write(page: &mut Page, envelope: &Envelope, retire: &Retire) {
    if !retire.applied {
        plan::diff(page, &without_deletions(&retire.plan.diff));
    }
    let (going, staying): (Vec<_>, Vec<_>) = retire.shims.iter().partition(|shim| shim.goes);
    let (heading, what) = match retire.applied {
        true => ("Shims that are gone", "gone"),
        false => ("Shims that go", "going"),
    };
    if !going.is_empty() {
        page.section(BOLD, heading, going.len(), "");
        page.some(&going, |page, shim| write_shim(page, shim));
    }
    if !staying.is_empty() {
        let why = "They are still named. `--even-used` removes them all the same.";
        page.section(WARN, "Shims that stay", staying.len(), why);
        page.some(&staying, |page, shim| write_shim(page, shim));
    }
    plan::findings(page, envelope);
    if page.quiet() {
        return;
    }
    page.gap();
    let (goes, all) = (going.len(), count(retire.shims.len(), "shim"));
    let read = read_counts(&retire.plan.files);
    page.line(format_args!("{what}: {goes} of {all}; {read}"));
    last_line(page, retire);
}

/// The diff without files that go as a whole: a shim is ours, and nobody wants to read it.
fn without_deletions(diff: &str) -> String {
    const FILE: &str = "diff --git ";
    let mut kept = String::new();
    let mut keep = true;
    let mut lines = diff.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        if line.starts_with(FILE) {
            keep = !lines
                .peek()
                .is_some_and(|next| next.starts_with("deleted file mode"));
        }
        if keep {
            kept.push_str(line);
        }
    }
    kept
}

fn last_line(page: &mut Page, retire: &Retire) {
    if let Some(saved) = &retire.plan.saved {
        page.line(format_args!(
            "saved to {saved}; apply it with `{}`",
            page.command(&["migrate", "--plan", saved])
        ));
    } else if let Some(id) = &retire.migration {
        migration::applied(page, ("applied", id), retire.committed.as_ref());
    } else if !retire.plan.operations.is_empty() && !retire.plan.answer.refused() {
        page.line("nothing is written; `--apply` removes them, `--out FILE` saves the plan");
    }
}

fn write_shim(page: &mut Page, retired: &RetiredShim) {
    shim_name(page, &retired.shim);
    page.end();
    for reference in retired.references.iter().take(PLACES_SHOWN) {
        page.put(PLAIN, "    named at ")
            .place(&reference.path, Some(reference.range))
            .put(PLAIN, format_args!("  {}", reference.line_text))
            .end();
    }
    let more = retired.references.len().saturating_sub(PLACES_SHOWN);
    if more > 0 {
        page.put(DIM, format_args!("    and {more} more places"))
            .end();
    }
}
