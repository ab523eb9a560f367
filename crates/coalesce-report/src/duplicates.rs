//! The parts of the page of `audit` that tell of duplicates, idioms and GPU roles.

use coalesce_model::envelope::{Audit, DuplicateEntry, DuplicateKind, RoleEntry, StubKind};

use crate::page::{BOLD, DIM, PLACE, PLAIN, Page, WARN, count, listed};

/// Members of a class that are shown.
const MEMBERS_SHOWN: usize = 6;
/// Differences of a class that are shown.
const DIFFERENCES_SHOWN: usize = 6;
/// Classes that are shown before the rest is counted.
const CLASSES_SHOWN: usize = 15;

/// Writes duplicates, idioms and roles; returns how many classes there are to act on.
pub fn write(page: &mut Page, audit: &Audit) -> usize {
    let told = |class: &&DuplicateEntry| class.new != Some(false);
    let told: Vec<&DuplicateEntry> = audit.duplicates.iter().filter(told).collect();
    let of = |idiom: bool| -> Vec<&DuplicateEntry> {
        let wanted = |class: &&&DuplicateEntry| (class.kind == DuplicateKind::Idiom) == idiom;
        told.iter().filter(wanted).copied().collect()
    };
    let why = "Lines that would go if one copy stayed come first; what each does alone is below it. \
               Likelihood: that a maintainer calls it duplicated.";
    classes(page, "Duplicates", why, &of(false));
    let why = "The same question asked again in each place; one of them should answer it.";
    classes(page, "Scattered GPU idioms", why, &of(true));
    if audit.generated_files > 0 {
        let left_out = format!(
            "{} say they are generated and were not searched for duplicates (--generated)",
            count(audit.generated_files, "file")
        );
        page.put(DIM, left_out).end();
    }
    forwarders(page, audit);
    roles(page, &audit.roles);
    told.len()
}

fn classes(page: &mut Page, heading: &str, why: &str, classes: &[&DuplicateEntry]) {
    if classes.is_empty() {
        return;
    }
    page.section(WARN, heading, classes.len(), why);
    let limit = page.limit(CLASSES_SHOWN);
    for class in classes.iter().take(limit) {
        write_class(page, class);
    }
    let more = classes.len().saturating_sub(limit);
    if more > 0 {
        page.put(DIM, format_args!("  and {more} more (--all)"))
            .end();
    }
}

fn write_class(page: &mut Page, class: &DuplicateEntry) {
    page.put(PLAIN, "  ").put(BOLD, &class.id);
    let members = count(class.members.len(), "place");
    match &class.title {
        Some(title) => page.put(PLAIN, format_args!("  {members}: {title}")),
        None => page.put(
            PLAIN,
            format_args!(
                "  {members}, {} alike{}, {} could go",
                class.similarity,
                likely(class),
                count(class.removable_lines as usize, "line")
            ),
        ),
    }
    .end();
    let limit = page.limit(MEMBERS_SHOWN);
    for member in class.members.iter().take(limit) {
        page.put(PLAIN, "    ").put(
            PLACE,
            format_args!("{}:{}-{}", member.path, member.lines[0], member.lines[1]),
        );
        page.put(PLAIN, format_args!("  {}", member.item)).end();
    }
    let more = class.members.len().saturating_sub(limit);
    if more > 0 {
        page.put(DIM, format_args!("    and {more} more")).end();
    }
    if page.quiet() {
        return;
    }
    let limit = page.limit(DIFFERENCES_SHOWN);
    for difference in class.differences.iter().take(limit) {
        let path = class.members.get(difference.member);
        let path = path.map_or("", |member| member.path.file_name());
        page.put(DIM, format_args!("      only {path}:{}", difference.line))
            .put(DIM, format_args!("  [{}] ", difference.aspect.as_str()))
            .put(PLAIN, &difference.text)
            .end();
    }
    let more = class.differences.len().saturating_sub(limit);
    if more > 0 {
        let more = count(more, "more difference");
        page.put(DIM, format_args!("      and {more}")).end();
    }
}

/// How sure it is, where that is known.
fn likely(class: &DuplicateEntry) -> String {
    let likely = |likelihood| format!(", likelihood {likelihood}");
    class.likelihood.map_or(String::new(), likely)
}

/// Modules that are neither empty nor redirects, and still do nothing themselves.
fn forwarders(page: &mut Page, audit: &Audit) {
    let forwarders: Vec<_> = audit
        .stubs
        .iter()
        .filter(|stub| stub.kind == StubKind::Forwarder)
        .collect();
    if forwarders.is_empty() {
        return;
    }
    let why = "Each of their functions hands its arguments on to another one.";
    page.section(WARN, "Modules that only forward", forwarders.len(), why);
    page.some(&forwarders, |page, stub| {
        page.put(PLAIN, "  ")
            .put(PLACE, &stub.path)
            .put(PLAIN, "  ");
        page.put(BOLD, &stub.module);
        let importers = if stub.importers.is_empty() {
            "nobody".to_owned()
        } else {
            listed(&stub.importers, 4)
        };
        page.put(PLAIN, format_args!("  imported by {importers}"))
            .end();
    });
}

/// The role × module table.
fn roles(page: &mut Page, roles: &[RoleEntry]) {
    if roles.is_empty() || page.quiet() {
        return;
    }
    let why = "What each module calls GPU libraries for, and how often.";
    page.section(BOLD, "GPU roles", roles.len(), why);
    page.some(roles, |page, entry| {
        page.put(PLAIN, "  ").put(BOLD, &entry.module);
        let packages = listed(&entry.packages, 4);
        page.put(DIM, format_args!("  {packages}")).put(PLAIN, " ");
        for role in &entry.roles {
            page.put(PLAIN, format_args!("  {} {}", role.role, role.count));
        }
        page.end();
    });
}
