//! The page of `check`: findings as a compiler prints them, what they were held against, and what to
//! type next.

use std::collections::BTreeSet;

use coalesce_model::{
    Severity,
    envelope::{Check, Envelope, FindingEntry, UncheckedImport},
};

use crate::{
    migration,
    page::{BAD, BOLD, DIM, GOOD, PLACE, PLAIN, Page, count, read_counts},
};

/// Writes the page.
pub fn write(page: &mut Page, envelope: &Envelope, check: &Check) {
    // What a new baseline lists is known from now on.
    let told = envelope.findings.iter().filter(|_| check.written.is_none());
    for finding in told {
        page.finding_with_excerpt(finding);
    }
    fixed(page, check);
    if let Some(written) = &check.written {
        page.put(PLAIN, "wrote the baseline ")
            .put(PLACE, written)
            .end();
    }
    if page.quiet() {
        return;
    }
    page.gap();
    page.put(PLAIN, format_args!("{}: ", read_counts(&check.files)));
    if envelope.findings.is_empty() {
        page.put(GOOD, "clean");
    } else {
        counted(page, &envelope.findings);
    }
    page.end();
    held_against(page, check);
    unchecked(page, &check.unchecked);
    next(page, envelope, check);
}

fn fixed(page: &mut Page, check: &Check) {
    let Some(fixed) = &check.fixed else {
        return;
    };
    page.gap();
    if let Some(id) = &fixed.migration {
        let done = format!("fixed {}", count(fixed.files, "file"));
        migration::applied(page, (&done, id), fixed.committed.as_ref());
    }
    if let Some(baseline) = &fixed.baseline {
        page.put(PLAIN, "took what is gone out of ")
            .put(PLACE, baseline)
            .end();
    }
}

/// How many there are, by how bad they are.
fn counted(page: &mut Page, findings: &[FindingEntry]) {
    let of = |severity| {
        findings
            .iter()
            .filter(|finding| finding.severity == severity)
            .count()
    };
    let levels = [
        (Severity::Error, "error"),
        (Severity::Warning, "warning"),
        (Severity::Note, "note"),
    ];
    let told = levels.iter().filter(|(severity, _)| of(*severity) > 0);
    let told: Vec<String> = told
        .map(|(severity, noun)| count(of(*severity), noun))
        .collect();
    let files: BTreeSet<_> = findings.iter().map(|finding| &finding.path).collect();
    let bad = findings
        .iter()
        .any(|finding| finding.severity != Severity::Note);
    page.put(if bad { BAD } else { BOLD }, told.join(", "))
        .put(PLAIN, format_args!(" in {}", count(files.len(), "file")));
}

/// What is not shown, and why.
fn held_against(page: &mut Page, check: &Check) {
    let baseline = check.baseline.as_deref().unwrap_or("the baseline");
    let elsewhere = match &check.changed_since {
        Some(since) => format!("in files that were not asked about, or are as at {since}"),
        None => "in files that were not asked about".to_owned(),
    };
    let hidden = [
        (check.known, format!("that {baseline} lists")),
        (check.allowed, "that comments allow".to_owned()),
        (check.elsewhere, elsewhere),
    ];
    for (number, which) in hidden.iter().filter(|(number, _)| *number > 0) {
        let findings = count(*number, "finding");
        page.put(DIM, format_args!("not shown: {findings} {which}"))
            .end();
    }
}

/// What reading cannot check, so that a clean page says no more than is true.
fn unchecked(page: &mut Page, imports: &[UncheckedImport]) {
    if imports.is_empty() {
        return;
    }
    let names = count(imports.len(), "import");
    let listed = if page.all() {
        ""
    } else {
        " (--all lists them)"
    };
    page.put(
        DIM,
        format_args!(
            "not checked: {names} of names that are made at run time or by a build{listed}"
        ),
    )
    .end();
    if !page.all() {
        return;
    }
    for import in imports {
        page.put(PLAIN, "  ")
            .put(PLACE, format_args!("{}:{}", import.path, import.line))
            .put(PLAIN, format_args!("  {}", import.name))
            .end();
    }
}

/// What to type next.
fn next(page: &mut Page, envelope: &Envelope, check: &Check) {
    let Some(first) = envelope.findings.first() else {
        return;
    };
    // Where one of the files has changes that are not committed, its help says what that takes.
    let fix = envelope.findings.iter().filter_map(fix);
    let fix = fix.max_by_key(|call| call.contains("--allow-dirty"));
    match fix.filter(|_| check.fixed.is_none()) {
        Some(fix) => page
            .put(PLAIN, "imports of old names are led on by ")
            .put(BOLD, fix)
            .end(),
        None => page.next("what a finding means", &["explain", first.code.0]),
    }
}

/// What mends a finding by itself, as its help says.
fn fix(finding: &FindingEntry) -> Option<&str> {
    let help = finding.help.as_deref()?;
    let call = help.get(help.find("coalesce check --fix")?..)?;
    call.split('`').next()
}
