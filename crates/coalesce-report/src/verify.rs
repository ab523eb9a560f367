//! The page of `verify`: what ran, what fails that did not, and the planned change behind it.

use coalesce_model::envelope::{
    CheckRun, Envelope, FailureCause, Grade, TreeState, UnusedImport, Verify, VerifyFailure,
};

use crate::{
    page::{BAD, BOLD, DIM, GOOD, PLACE, PLAIN, Page, count},
    plan,
};

/// Lines that are shown of what a failing check said.
const LINES_SHOWN: usize = 4;

/// Writes the page.
pub fn write(page: &mut Page, envelope: &Envelope, verify: &Verify) {
    if page.quiet() {
        failures(page, verify);
        plan::findings(page, envelope);
        return;
    }
    if verify.runs.is_empty() && verify.passed {
        page.line("nothing to verify: every entry is done");
        return;
    }
    write_runs(page, verify);
    mended(page, verify);
    settled(page, verify);
    unused_imports(page, verify);
    failures(page, verify);
    unreached(page, verify);
    plan::findings(page, envelope);
    verdict(page, verify);
}

/// Edited lines that nothing of what ran has reached.
pub fn unreached(page: &mut Page, verify: &Verify) {
    if verify.unreached.is_empty() {
        return;
    }
    let what = "They are resolved by reading only.";
    let lines = verify.edited_lines.only_resolved;
    page.section(BOLD, "Edited lines that no check has reached", lines, what);
    page.some(&verify.unreached, |page, entry| {
        page.put(PLAIN, "  ").put(PLACE, &entry.path);
        page.put(PLAIN, format_args!(": {}", line_ranges(&entry.lines)));
        page.put(DIM, format_args!("  {}", entry.why)).end();
    });
}

/// `3-5, 9`.
fn line_ranges(lines: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for line in lines {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *line => *last = *line,
            _ => ranges.push((*line, *line)),
        }
    }
    let shown = ranges.iter().map(|(first, last)| {
        if first == last {
            first.to_string()
        } else {
            format!("{first}-{last}")
        }
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// What ran, tree by tree.
fn write_runs(page: &mut Page, verify: &Verify) {
    if verify.runs.is_empty() {
        return;
    }
    let what = "They ran the project's own code, in a copy outside the tree.";
    page.section(BOLD, "Checks", verify.runs.len(), what);
    for run in &verify.runs {
        write_run(page, run);
    }
    plan::not_checked(page, &verify.not_checked);
    for left_out in &verify.left_out {
        page.put(DIM, format_args!("  left out: {left_out}")).end();
    }
}

fn write_run(page: &mut Page, run: &CheckRun) {
    let style = if run.failed == 0 { GOOD } else { BAD };
    page.put(PLAIN, format_args!("  {:<14} ", state(run.state)));
    page.put(style, format_args!("{} of {} fail", run.failed, run.judged));
    page.put(PLAIN, format_args!("  {}", run.command));
    if run.remembered {
        page.put(DIM, "  (remembered: the tree is the same)");
    }
    page.end();
}

const fn state(state: TreeState) -> &'static str {
    match state {
        TreeState::Before => "before",
        TreeState::After => "after",
        TreeState::ShimsHidden => "shims hidden",
    }
}

/// What the compiler found wrong with the plan's own edits, and was mended.
pub fn mended(page: &mut Page, verify: &Verify) {
    if verify.mended.is_empty() {
        return;
    }
    let what =
        "The compiler found these in the plan's own edits; its suggestion is in the plan now.";
    page.section(BOLD, "Mended", verify.mended.len(), what);
    page.some(&verify.mended, |page, entry| {
        page.put(PLAIN, "  ");
        page.put(PLACE, format_args!("{}:{}", entry.path, entry.line));
        page.put(PLAIN, format_args!(": {}", entry.error));
        page.put(DIM, format_args!("  {}", entry.mended)).end();
    });
}

/// Open places that the imports of Python have settled.
pub fn settled(page: &mut Page, verify: &Verify) {
    if verify.settled_places.is_empty() {
        return;
    }
    let what =
        "Reading could not prove these; importing every module has, here and as it is installed.";
    page.section(BOLD, "Settled", verify.settled_places.len(), what);
    page.some(&verify.settled_places, |page, entry| {
        page.put(PLAIN, "  ").place(&entry.path, entry.range);
        page.put(PLAIN, format_args!("  {}  ", entry.name));
        let kind = entry.kind.as_str();
        page.put(DIM, format_args!("[{kind}] {}", entry.why)).end();
    });
}

/// Imports that the compiler calls unused, and did not before.
pub fn unused_imports(page: &mut Page, verify: &Verify) {
    if verify.unused_imports.is_empty() {
        return;
    }
    let what = "A method call could have needed them; the compiler finds that none does.";
    page.section(BOLD, "Unused imports", verify.unused_imports.len(), what);
    page.some(&verify.unused_imports, write_unused);
}

fn write_unused(page: &mut Page, import: &UnusedImport) {
    page.put(PLAIN, "  ");
    page.put(PLACE, format_args!("{}:{}", import.path, import.line));
    page.put(PLAIN, format_args!(": {} ", import.name));
    match &import.kept {
        None => page.put(GOOD, "taken out of the plan"),
        Some(why) => page.put(DIM, format_args!("stays: {why}")),
    };
    page.end();
}

/// What fails and did not before.
pub fn failures(page: &mut Page, verify: &Verify) {
    if verify.failures.is_empty() {
        return;
    }
    let why = "These pass in the tree as it is.";
    page.section(BAD, "New failures", verify.failures.len(), why);
    page.some(&verify.failures, write_failure);
}

fn write_failure(page: &mut Page, failure: &VerifyFailure) {
    page.put(PLAIN, "  ");
    if let Some(path) = &failure.path {
        match failure.line {
            Some(line) => page.put(PLACE, format_args!("{path}:{line}")),
            None => page.put(PLACE, path),
        }
        .put(PLAIN, ": ");
    }
    page.put(BOLD, &failure.subject);
    page.put(DIM, format_args!(" [{}]", failure.code)).end();
    let mut lines = failure
        .message
        .lines()
        .filter(|line| !line.trim().is_empty());
    for line in lines.by_ref().take(LINES_SHOWN) {
        page.line(format_args!("    {line}"));
    }
    match &failure.cause {
        Some(cause) => write_cause(page, cause),
        None => {
            page.put(DIM, "    no planned change stands at this place")
                .end();
        }
    }
}

fn write_cause(page: &mut Page, cause: &FailureCause) {
    page.put(PLAIN, "    ").put(BOLD, "because").put(PLAIN, " ");
    if cause.line == 0 {
        page.put(PLACE, &cause.path);
        page.put(PLAIN, " moves:");
    } else {
        page.put(PLACE, format_args!("{}:{}", cause.path, cause.line));
        page.put(PLAIN, " named");
    }
    page.put(PLAIN, format_args!(" {}", cause.from));
    if cause.from != cause.to {
        page.put(PLAIN, format_args!(" -> {}", cause.to));
    }
    page.put(DIM, format_args!("  {}", cause.reason)).end();
}

/// The last line: does the project still pass?
pub fn verdict(page: &mut Page, verify: &Verify) {
    page.gap();
    page.put(BOLD, "Do the project's own checks still pass? ");
    if !verify.passed {
        let new = count(verify.failures.len(), "new failure");
        page.put(BAD, format_args!("no: {new}")).end();
        return;
    }
    let after = verify
        .runs
        .iter()
        .filter(|run| run.state == TreeState::After);
    let judged: usize = after.map(|run| run.judged).sum();
    page.put(GOOD, "yes");
    page.put(PLAIN, format_args!(": {judged} checked after the change"));
    match verify.grade {
        Some(Grade::NotProven) => {
            let open = "; not proven: places are left that this does not tell";
            page.put(PLAIN, open);
        }
        Some(grade) => {
            page.put(PLAIN, format_args!("; proven as `{}`", grade.as_str()));
        }
        None => {}
    }
    if !verify.not_checked.is_empty() {
        let configurations = count(verify.not_checked.len(), "configuration");
        let unknown = format_args!("; {configurations} of `matrix` could not be checked");
        page.put(PLAIN, unknown);
    }
    if verify.failing_before > 0 {
        let failures = count(verify.failing_before, "failure");
        let unknown = format_args!("; {failures} before and after, of which nothing is known");
        page.put(PLAIN, unknown);
    }
    page.end();
}
