//! The page of `audit`: what to act on, worst first.

use coalesce_model::{
    Guard, LanguageKind, ModuleKind, Root, Severity,
    envelope::{
        Audit, CycleEntry, Envelope, FindingEntry, GpuLines, GuardedImport, ImportOutcome,
        ModuleEntry,
    },
    finding::codes,
};

use crate::{
    duplicates,
    page::{BAD, BOLD, DIM, PLACE, PLAIN, Page, WARN, count, listed, plural},
    proposal,
};

/// Roots that are shown: more of them say nothing that a reader acts on.
const ROOTS_SHOWN: usize = 6;

/// Names of importers that are shown beside a stub or redirect.
const IMPORTERS_SHOWN: usize = 4;
/// Names of modules that are shown of a cycle's component.
const MEMBERS_SHOWN: usize = 8;

/// Writes the page.
pub fn write(page: &mut Page, envelope: &Envelope, audit: &Audit) {
    if page.quiet() {
        findings_alone(page, &envelope.findings, audit);
        write_proposal(page, audit);
        return;
    }
    let guarded = audit.guarded_imports.iter();
    let broken = guarded.filter(|import| import.outcome == ImportOutcome::Unresolved);
    let broken: Vec<&GuardedImport> = broken.collect();
    let findings = sorted_findings(&envelope.findings, &broken);
    let mut actions = broken_guards(page, &broken);
    actions += findings_of(page, &findings, Kind::Unresolved);
    actions += findings_of(page, &findings, Kind::Syntax);
    actions += cycles(page, &audit.cycles, true);
    actions += findings_of(page, &findings, Kind::Orphan);
    actions += hollow_modules(page, &audit.modules);
    actions += duplicates::write(page, audit);
    actions += findings_of(page, &findings, Kind::Other);
    findings_of(page, &findings, Kind::Note);
    cycles(page, &audit.cycles, false);
    page.skipped(&audit.files);
    write_proposal(page, audit);
    roots(page, &envelope.roots, ROOTS_SHOWN);
    last_line(page, audit, actions);
    next(page, envelope, audit);
}

fn write_proposal(page: &mut Page, audit: &Audit) {
    if let Some(proposal) = &audit.proposal {
        proposal::write(page, proposal);
    }
}

/// A line for each finding; where some make the command fail, for those alone.
fn findings_alone(page: &mut Page, findings: &[FindingEntry], audit: &Audit) {
    let failing = failing_findings(findings, audit);
    let all = audit.fail_on.is_empty();
    let asked = findings
        .iter()
        .filter(|finding| all || failing.contains(finding));
    for finding in asked {
        page.finding(finding);
    }
}

/// The findings that make `audit --fail-on` fail. Of duplicates those that the page lists to be acted on; where a baseline
/// says what is known, all that it lacks.
#[must_use]
pub fn failing_findings<'f>(findings: &'f [FindingEntry], audit: &Audit) -> Vec<&'f FindingEntry> {
    let classes = duplicates::failing(audit);
    let is_of = |finding: &FindingEntry| {
        let mut first = classes.iter().filter_map(|class| class.members.first());
        first.any(|first| {
            let line = finding.range.as_ref().map(|range| range.line);
            first.path.as_str() == finding.path && line == Some(first.lines[0])
        })
    };
    let fails = |finding: &&FindingEntry| {
        let asked = audit.fail_on.contains(&finding.code);
        asked && (finding.code != codes::DUPLICATES || is_of(finding))
    };
    findings.iter().filter(fails).collect()
}

/// What to type next: of what there is to act on, what takes the most away.
fn next(page: &mut Page, envelope: &Envelope, audit: &Audit) {
    let mut classes = audit.duplicates.iter();
    let copies = classes.any(|class| class.new != Some(false));
    let spare = audit.modules.iter().find(|module| {
        module.kind == ModuleKind::Stub && is_hollow(module) && module.importers.is_empty()
    });
    let mut modules = audit.modules.iter();
    if copies && audit.proposal.is_none() {
        let file = format!("{}migrations/copies.toml", folder(&envelope.root));
        let what = "a manifest by which copies give way to one of them";
        page.next(what, &["audit", "--propose", &file]);
    } else if let Some(module) = spare {
        let what = "what would go with an empty module";
        page.next(what, &["remove", &module.name]);
    } else if let Some(worst) = envelope.findings.first() {
        let what = "what the first finding means";
        page.next(what, &["explain", worst.code.0]);
    } else if modules.any(|module| module.kind == ModuleKind::Shim) {
        page.next("which shims are left, and who uses them", &["status"]);
    } else if !audit.cycles.is_empty() {
        let what = "what cycles of imports mean";
        page.next(what, &["explain", codes::IMPORT_CYCLE.0]);
    }
}

/// What paths of a tree begin with, as it was named.
fn folder(root: &str) -> String {
    match root {
        "." => String::new(),
        root => format!("{}/", root.trim_end_matches('/')),
    }
}

/// The sections that are made of findings.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Unresolved,
    Syntax,
    Orphan,
    Other,
    /// Worth knowing, and nothing to act on.
    Note,
}

impl Kind {
    fn of(finding: &FindingEntry) -> Self {
        match finding.code {
            _ if finding.severity == Severity::Note => Self::Note,
            codes::UNRESOLVED_IMPORT => Self::Unresolved,
            codes::SYNTAX_ERROR => Self::Syntax,
            codes::ORPHAN_FILE => Self::Orphan,
            _ => Self::Other,
        }
    }

    const fn heading(self) -> (&'static str, &'static str) {
        match self {
            Self::Unresolved => (
                "Imports of names that do not exist",
                "They fail when they run.",
            ),
            Self::Syntax => (
                "Files that do not parse",
                "Their import statements are still seen; the rest of them is not.",
            ),
            Self::Orphan => (
                "Source files that no module reaches",
                "Nothing compiles or imports them.",
            ),
            Self::Other => ("Other findings", ""),
            Self::Note => ("Notes", "Worth knowing; nothing has to be done."),
        }
    }
}

/// Findings that no other section says already, worst first.
fn sorted_findings<'f>(
    findings: &'f [FindingEntry],
    broken: &[&GuardedImport],
) -> Vec<&'f FindingEntry> {
    let said = |finding: &FindingEntry| match finding.code {
        codes::IMPORT_CYCLE | codes::EMPTY_STUB | codes::DUPLICATES => true,
        codes::UNRESOLVED_IMPORT | codes::STALE_GUARD => broken
            .iter()
            .any(|import| import.path.as_str() == finding.path && import.range == finding.range),
        _ => false,
    };
    let mut left: Vec<_> = findings.iter().filter(|finding| !said(finding)).collect();
    left.sort_by_key(|finding| (finding.severity, &finding.path, finding.range));
    left
}

fn broken_guards(page: &mut Page, broken: &[&GuardedImport]) -> usize {
    if broken.is_empty() {
        return 0;
    }
    let why =
        "The name is gone and the failure is hidden: the fallback runs, always, without a word.";
    page.section(
        BAD,
        "Guarded imports that can no longer succeed",
        broken.len(),
        why,
    );
    for import in broken {
        page.put(PLAIN, "  ")
            .place(&import.path, import.range)
            .put(PLAIN, "  ");
        page.put(BOLD, &import.name)
            .put(DIM, format_args!("  ({})", guard(import.guard)))
            .end();
    }
    broken.len()
}

const fn guard(guard: Guard) -> &'static str {
    match guard {
        Guard::ImportError => "in try/except ImportError",
        Guard::Fallback => "in the fallback of a try",
        Guard::Suppressed => "failure suppressed",
        Guard::TypeChecking => "under TYPE_CHECKING",
        Guard::Conditional => "under a condition",
        Guard::None => "unguarded",
    }
}

fn findings_of(page: &mut Page, findings: &[&FindingEntry], kind: Kind) -> usize {
    let of_kind: Vec<_> = findings
        .iter()
        .filter(|finding| Kind::of(finding) == kind)
        .collect();
    let Some(first) = of_kind.first() else {
        return 0;
    };
    let style = match first.severity {
        Severity::Error => BAD,
        Severity::Warning => WARN,
        Severity::Note => BOLD,
    };
    let (heading, why) = kind.heading();
    page.section(style, heading, of_kind.len(), why);
    for finding in &of_kind {
        page.put(PLAIN, "  ");
        if matches!(kind, Kind::Other | Kind::Note) {
            page.finding(finding);
        } else {
            page.place(&finding.path, finding.range);
            page.put(PLAIN, format_args!("  {}", finding.message)).end();
            page.help(finding);
        }
    }
    of_kind.len()
}

fn cycles(page: &mut Page, cycles: &[CycleEntry], eager: bool) -> usize {
    let of_kind: Vec<_> = cycles.iter().filter(|cycle| cycle.eager == eager).collect();
    if of_kind.is_empty() {
        return 0;
    }
    if eager {
        let why = "Which module is imported first decides whether a name is there yet.";
        page.section(
            WARN,
            "Import cycles that run at import time",
            of_kind.len(),
            why,
        );
    } else {
        let why = "Harmless when running; they keep the modules from being moved apart.";
        page.section(
            BOLD,
            "Import cycles through late imports",
            of_kind.len(),
            why,
        );
    }
    page.some(&of_kind, |page, cycle| write_cycle(page, cycle));
    of_kind.len()
}

fn write_cycle(page: &mut Page, cycle: &CycleEntry) {
    let members = listed(&cycle.modules, MEMBERS_SHOWN);
    page.put(PLAIN, "  ")
        .put(BOLD, count(cycle.modules.len(), "module"));
    page.put(PLAIN, format_args!(": {members}")).end();
    for step in &cycle.shortest {
        page.put(PLAIN, "    ")
            .put(PLACE, format_args!("{}:{}", step.path, step.line));
        let late = if step.eager { "" } else { ", late" };
        page.put(
            PLAIN,
            format_args!("  {} imports {}{late}", step.from, step.to),
        )
        .end();
    }
}

/// Stubs, redirects and shims: each with those that still import it.
fn hollow_modules(page: &mut Page, modules: &[ModuleEntry]) -> usize {
    let hollow: Vec<_> = modules.iter().filter(|module| is_hollow(module)).collect();
    if hollow.is_empty() {
        return 0;
    }
    let why = "An empty one can go; the users of a redirect can name what it leads to.";
    page.section(WARN, "Modules that define nothing", hollow.len(), why);
    page.some(&hollow, |page, module| {
        page.put(PLAIN, "  ")
            .put(PLACE, &module.path)
            .put(PLAIN, "  ");
        let kind = match module.kind {
            ModuleKind::Module => "module",
            ModuleKind::Stub => "stub",
            ModuleKind::Redirect => "redirect",
            ModuleKind::Shim => "shim",
        };
        page.put(BOLD, &module.name)
            .put(PLAIN, format_args!("  {kind}, {}", imported_by(module)));
        page.end();
    });
    hollow.len()
}

/// A package's own `__init__` or a crate root may well be empty: it only holds others.
fn is_hollow(module: &ModuleEntry) -> bool {
    match module.kind {
        ModuleKind::Module => false,
        ModuleKind::Shim => true,
        ModuleKind::Stub => !module.holds_others(),
        // One that is imported is a facade that somebody wants.
        ModuleKind::Redirect => !module.holds_others() && module.importers.is_empty(),
    }
}

fn imported_by(module: &ModuleEntry) -> String {
    if module.importers.is_empty() {
        return "imported by nobody".to_owned();
    }
    format!("imported by {}", listed(&module.importers, IMPORTERS_SHOWN))
}

/// What names begin at, the first `usual` unless all are asked for.
pub fn roots(page: &mut Page, roots: &[Root], usual: usize) {
    page.section(BOLD, "Names begin at", roots.len(), "");
    page.first(usual, roots, |page, root| {
        page.put(PLAIN, "  ")
            .put(PLACE, &root.path)
            .put(PLAIN, "  ");
        if !root.name.is_empty() {
            page.put(BOLD, &root.name).put(PLAIN, " ");
        }
        page.put(PLAIN, &root.kind)
            .put(DIM, format_args!(", {}", root.reason))
            .end();
    });
}

fn last_line(page: &mut Page, audit: &Audit, actions: usize) {
    page.gap();
    if audit.gpu_lines.total > 0 {
        let GpuLines { total, duplicate } = audit.gpu_lines;
        let percent = 100 * duplicate / total;
        page.line(format_args!(
            "GPU code: {}, {duplicate} of them copies ({percent} %)",
            count(total as usize, "line")
        ));
    }
    let verdict = match actions {
        0 => "nothing to act on".to_owned(),
        actions => format!("{actions} {} to act on", plural(actions, "thing")),
    };
    page.line(format_args!(
        "checked {}, skipped {}: {} ({}), {} hidden behind a guard, {verdict}",
        count(audit.files.read, "file"),
        audit.files.skipped.len(),
        count(audit.modules.len(), "module"),
        modules_by_language(&audit.modules),
        count(audit.guarded_imports.len(), "import"),
    ));
}

fn modules_by_language(modules: &[ModuleEntry]) -> String {
    let of = |language| {
        let modules = modules.iter();
        modules.filter(|module| module.language == language).count()
    };
    let kernels = match of(LanguageKind::Kernel) {
        0 => String::new(),
        kernels => format!(", {kernels} of kernels"),
    };
    let (python, rust) = (of(LanguageKind::Python), of(LanguageKind::Rust));
    format!("{python} Python, {rust} Rust{kernels}")
}
