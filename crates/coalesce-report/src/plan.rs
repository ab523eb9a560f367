//! The page of `plan`: the diff, the reason of every change, what stays and why, and what was proven.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{
    Safety, Severity, TreePath,
    envelope::{
        Answer, ChangedSignature, Command, Envelope, FindingEntry, Grade, NotChecked,
        NotRewrittenEntry, OperationKind, Plan, Range, RewriteEntry, UnprovenEntry,
    },
    finding::codes,
};

use crate::{
    page::{
        ADDED, BAD, BOLD, DIM, GOOD, PLACE, PLAIN, Page, REMOVED, SECTION_LIMIT, WARN, count,
        is_obeyed, read_counts,
    },
    refs::form,
};

/// Lines of a diff beyond which a page begins with the summary instead.
const LONG_DIFF: usize = 400;

/// Writes the page.
pub fn write(page: &mut Page, envelope: &Envelope, plan: &Plan) {
    if page.quiet() {
        errors(page, envelope, plan);
        return;
    }
    let lines = plan.diff.lines().count();
    let is_long = lines > LONG_DIFF && !page.shows_diff();
    if is_long {
        summary(page, plan);
        answer(page, &plan.answer);
    } else {
        diff(page, &plan.diff);
        references(page, plan);
    }
    operations(page, plan);
    let limit = if is_long { SECTION_LIMIT } else { usize::MAX };
    not_rewritten(page, &plan.not_rewritten, limit);
    published(page, envelope.command, plan);
    unproven(page, &plan.unproven, usize::MAX);
    findings(page, envelope);
    if is_long {
        say_how_to_see(page, envelope.command, lines);
        say_where_saved(page, plan);
    } else {
        summary(page, plan);
        say_where_saved(page, plan);
        answer(page, &plan.answer);
    }
}

/// How to see a diff that is too long for the page.
fn say_how_to_see(page: &mut Page, command: Command, lines: usize) {
    page.gap();
    // What has no manifest yet is no other command's.
    let by = match command {
        Command::Plan | Command::Migrate => page.command(&["plan", "--diff"]),
        _ => "--all".to_owned(),
    };
    page.line(format_args!(
        "the diff has {lines} lines: `{by}` shows it, with each reference and why"
    ));
}

fn say_where_saved(page: &mut Page, plan: &Plan) {
    if let Some(saved) = &plan.saved {
        let command = page.command(&["migrate", "--plan", saved]);
        page.line(format_args!("saved to {saved}; apply it with `{command}`"));
    }
}

/// The change itself, as `git apply` takes it: a carriage return before a line's end stays, which no
/// terminal minds. What one would obey is spelled out, and that is said.
pub fn diff(page: &mut Page, diff: &str) {
    let mut spelled_out = false;
    for whole in diff.split_terminator('\n') {
        let line = whole.strip_suffix('\r').unwrap_or(whole);
        spelled_out |= line.chars().any(is_obeyed);
        let style = match line.as_bytes() {
            [b'-', b'-', b'-', b' ', ..]
            | [b'+', b'+', b'+', b' ', ..]
            | [b'd', b'i', b'f', b'f', ..] => BOLD,
            [b'-', ..] => REMOVED,
            [b'+', ..] => ADDED,
            [b'@', ..] => PLACE,
            _ => PLAIN,
        };
        page.put(style, line).end_as(whole);
    }
    if spelled_out {
        page.line(
            "characters that a terminal would obey are spelled out above; --format json has the diff \
             that `git apply` takes",
        );
    }
}

fn references(page: &mut Page, plan: &Plan) {
    if plan.rewrites.is_empty() {
        return;
    }
    page.section(BOLD, "References that change", plan.rewrites.len(), "");
    for entry in &plan.rewrites {
        rewrite(page, entry);
    }
}

/// Those that were applied and deserve a look.
pub fn needs_review(page: &mut Page, plan: &Plan) {
    let wanted = |entry: &&RewriteEntry| entry.safety == Safety::NeedsReview;
    let entries: Vec<_> = plan.rewrites.iter().filter(wanted).collect();
    if !entries.is_empty() {
        page.section(WARN, "Changed, and worth a look", entries.len(), "");
        page.some(&entries, |page, entry| rewrite(page, entry));
    }
}

fn rewrite(page: &mut Page, entry: &RewriteEntry) {
    page.put(PLAIN, "  ").place(&entry.path, entry.range);
    page.put(PLAIN, format_args!("  {}", entry.from));
    // A relative import of a file that moves is spelled anew and names what it named.
    if entry.from != entry.to {
        page.put(PLAIN, format_args!(" -> {}", entry.to));
    }
    page.put(DIM, format_args!("  [{}] ", form(entry.form)));
    page.put(PLAIN, &entry.reason);
    match entry.safety {
        Safety::Safe => {}
        Safety::NeedsReview => _ = page.put(WARN, ", worth a look"),
        Safety::ReportOnly => _ = page.put(WARN, ", shown only, not applied"),
    }
    page.end();
}

fn operations(page: &mut Page, plan: &Plan) {
    let structural = |kind| kind != OperationKind::Edit;
    let files: Vec<_> = plan
        .operations
        .iter()
        .filter(|entry| structural(entry.operation))
        .collect();
    if files.is_empty() {
        return;
    }
    page.section(BOLD, "Files that move, come and go", files.len(), "");
    for entry in files {
        let verb = match entry.operation {
            OperationKind::Move => "move  ",
            OperationKind::Create => "create",
            OperationKind::Edit => "edit  ",
            OperationKind::Delete => "delete",
        };
        page.put(PLAIN, format_args!("  {verb}  "))
            .put(PLACE, &entry.path);
        if let Some(to) = &entry.to {
            page.put(PLAIN, " -> ").put(PLACE, to);
        }
        if let Some(reason) = &entry.reason {
            page.put(DIM, format_args!("  {reason}"));
        }
        page.end();
    }
}

/// What stays as it is, and why; the first `limit` places.
pub fn not_rewritten(page: &mut Page, entries: &[NotRewrittenEntry], limit: usize) {
    let why = "These name what moves. Look at them yourself.";
    let places = entries.iter().map(|entry| UntouchedPlace {
        path: &entry.path,
        range: entry.range,
        name: &entry.name,
        what: form(entry.form),
        why: &entry.why,
    });
    untouched(page, ("Not touched", why), places, limit);
}

/// What could not be proven, and why; the first `limit` places.
pub fn unproven(page: &mut Page, entries: &[UnprovenEntry], limit: usize) {
    let why = "What moves may be named here, and reading cannot tell. `migrate --verify` settles some kinds.";
    let places = entries.iter().map(|entry| UntouchedPlace {
        path: &entry.path,
        range: entry.range,
        name: &entry.name,
        what: entry.kind.as_str(),
        why: &entry.why,
    });
    untouched(page, ("Not proven", why), places, limit);
}

/// A place that the plan leaves to the reader.
struct UntouchedPlace<'e> {
    path: &'e TreePath,
    range: Option<Range>,
    name: &'e str,
    /// How it is written, or what keeps it from being proven.
    what: &'static str,
    why: &'e str,
}

fn untouched<'e>(
    page: &mut Page,
    (title, why): (&str, &str),
    places: impl ExactSizeIterator<Item = UntouchedPlace<'e>>,
    limit: usize,
) {
    let count = places.len();
    if count == 0 {
        return;
    }
    page.section(WARN, title, count, why);
    for place in places.take(limit) {
        page.put(PLAIN, "  ").place(place.path, place.range);
        page.put(PLAIN, format_args!("  {}", place.name));
        page.put(DIM, format_args!("  [{}] ", place.what))
            .put(PLAIN, place.why)
            .end();
    }
    and_more(page, count, limit);
}

/// How many entries a shortened list leaves out, and where they are.
fn and_more(page: &mut Page, count: usize, limit: usize) {
    if let Some(more) = count.checked_sub(limit).filter(|more| *more > 0) {
        let all = page.command(&["plan", "--diff"]);
        page.put(DIM, format_args!("  and {more} more, which `{all}` lists"))
            .end();
    }
}

/// What those notice who use the packages elsewhere.
pub fn published(page: &mut Page, command: Command, plan: &Plan) {
    if !page.quiet() {
        lost_names(page, command, plan);
        changed_signatures(page, plan);
    }
}

/// Public names that are gone: who uses them elsewhere breaks.
fn lost_names(page: &mut Page, command: Command, plan: &Plan) {
    if plan.lost_names.is_empty() {
        return;
    }
    // A name that leads nowhere afterwards can be kept by nothing.
    let kept = plan.lost_names.iter().any(|lost| lost.shim_keeps);
    let why = match command {
        Command::Move | Command::Replace | Command::Merge if kept => {
            "Those who use the packages elsewhere break. `--shim` keeps the old name."
        }
        Command::Plan | Command::Migrate if kept => {
            "Those who use the packages elsewhere break. `shim = true` of an entry keeps the old name."
        }
        _ => "Those who use the packages elsewhere break.",
    };
    page.section(WARN, "Public names that go", plan.lost_names.len(), why);
    page.some(&plan.lost_names, |page, lost| {
        page.put(PLAIN, format_args!("  {}", lost.name));
        match &lost.instead {
            Some(name) => page.put(DIM, format_args!("  is {name}")).end(),
            None => page
                .put(DIM, "  is gone, or nobody outside can name it")
                .end(),
        }
    });
}

/// Public functions and classes that are called another way: who calls them elsewhere breaks.
fn changed_signatures(page: &mut Page, plan: &Plan) {
    if plan.changed_signatures.is_empty() {
        return;
    }
    page.section(
        WARN,
        "Public names that change their signature",
        plan.changed_signatures.len(),
        "Those who call them elsewhere may have to change the call; a shim does not help.",
    );
    page.some(&plan.changed_signatures, |page, changed| {
        let ChangedSignature {
            name,
            now,
            before,
            after,
        } = changed;
        page.put(PLAIN, format_args!("  {name}{before}"));
        match now == name {
            true => page.put(DIM, format_args!("  becomes {after}")).end(),
            false => page.put(DIM, format_args!("  is {now}{after}")).end(),
        }
    });
}

/// As many of them as a page after the fact shows.
pub const NOT_REWRITTEN_SHOWN: usize = SECTION_LIMIT;

/// What keeps a plan from being applied, and nothing else.
pub fn errors(page: &mut Page, envelope: &Envelope, plan: &Plan) {
    let is_error = |finding: &&FindingEntry| finding.severity == Severity::Error;
    let errors = envelope.findings.iter().filter(is_error);
    // That error points to them.
    if errors.clone().any(|error| error.code == codes::NOT_PROVEN) {
        unproven(page, &plan.unproven, NOT_REWRITTEN_SHOWN);
    }
    some_findings(page, errors);
}

/// Refusals and notes. Of many of one kind the first are shown: one cause can have a reason in each file.
pub fn findings(page: &mut Page, envelope: &Envelope) {
    if !envelope.findings.is_empty() {
        page.gap();
    }
    some_findings(page, envelope.findings.iter());
}

fn some_findings<'f>(page: &mut Page, findings: impl Iterator<Item = &'f FindingEntry>) {
    let limit = page.limit(SECTION_LIMIT);
    let mut shown: BTreeMap<_, usize> = BTreeMap::new();
    let mut left = 0;
    for finding in findings {
        let shown = shown.entry((finding.severity, finding.code)).or_default();
        *shown += 1;
        if *shown <= limit {
            page.finding(finding);
        } else {
            left += 1;
        }
    }
    if left > 0 {
        page.put(DIM, format_args!("and {left} more of these kinds (--all)"))
            .end();
    }
}

/// What changes, in numbers, and the cycles on both sides.
pub fn summary(page: &mut Page, plan: &Plan) {
    if page.quiet() {
        return;
    }
    page.gap();
    let of = |kind| {
        let operations = plan.operations.iter();
        operations.filter(|entry| entry.operation == kind).count()
    };
    let rewritten: BTreeSet<_> = plan.rewrites.iter().map(|rewrite| &rewrite.path).collect();
    page.line(format_args!(
        "{}: {} moved, {} created, {} edited, {} deleted; {} rewritten in {}, {} not touched",
        plan.manifests.join(", "),
        count(of(OperationKind::Move), "file"),
        of(OperationKind::Create),
        of(OperationKind::Edit),
        of(OperationKind::Delete),
        count(plan.rewrites.len(), "reference"),
        count(rewritten.len(), "file"),
        plan.not_rewritten.len(),
    ));
    let (before, after) = (plan.cycles_before, plan.cycles_after);
    let cycles = if plan.answer.refused() {
        // What is refused was not worked out to its end.
        "import cycles were not compared".to_owned()
    } else {
        format!(
            "import cycles: {} eager and {} late before, {} eager and {} late after",
            before.eager, before.lazy, after.eager, after.lazy
        )
    };
    page.line(format_args!("{}; {cycles}", read_counts(&plan.files)));
}

/// The last lines: what was proven, and no more.
pub fn answer(page: &mut Page, answer: &Answer) {
    let (style, label) = match answer.grade {
        None => (BAD, "Refused"),
        Some(Grade::NotProven) => (WARN, "Not proven"),
        Some(Grade::Resolved) => (GOOD, "Resolved"),
        Some(Grade::Compiled) => (GOOD, "Compiled"),
        Some(Grade::Tested) => (GOOD, "Tested"),
    };
    page.put(style, label)
        .put(PLAIN, format_args!(": {}", answer.message))
        .end();
    for configuration in &answer.configurations {
        page.put(DIM, format_args!("  with {configuration}")).end();
    }
    not_checked(page, &answer.not_checked);
}

/// What a manifest names and nobody could check.
pub fn not_checked(page: &mut Page, not_checked: &[NotChecked]) {
    for one in not_checked {
        page.put(WARN, "  not checked: ");
        page.put(PLAIN, format_args!("{}: {}", one.check, one.why))
            .end();
    }
}
