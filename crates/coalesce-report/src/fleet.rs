//! The page of `fleet`: who has whose code, and which copy is behind.

use coalesce_model::envelope::{Behind, Fleet, FleetCopy, FleetMember, RepositoryPair};

use crate::{
    date::day,
    duplicates::{Only, first_differences, first_members},
    page::{BOLD, DIM, PLACE, PLAIN, Page, WARN, count},
};

/// Pairs and copies that are shown before the rest is counted.
const SHOWN: usize = 15;

/// Writes the page.
pub fn write(page: &mut Page, fleet: &Fleet) {
    let why = "Whose functions stand in another repository; forks and vendored code come first.";
    section(
        page,
        ("Repositories that share code", why),
        &fleet.pairs,
        pair,
    );
    let (modules, functions): (Vec<&FleetCopy>, Vec<&FleetCopy>) =
        fleet.copies.iter().partition(|copy| copy.module);
    let write_copy = |page: &mut Page, one: &&FleetCopy| copy(page, one);
    let why = "Most functions of the smaller one stand in the other one; the newest is the first.";
    let heading = "Modules in several repositories";
    section(page, (heading, why), &modules, write_copy);
    let why = "Functions and types that are not in a module above.";
    let heading = "Functions in several repositories";
    section(page, (heading, why), &functions, write_copy);
    if fleet.unread_files > 0 {
        tell_unread(page, fleet.unread_files);
    }
    let counts = format!(
        "{} in {}; {} of different texts, {} compared ({})",
        count(usize::try_from(fleet.units).unwrap_or(usize::MAX), "unit"),
        count(fleet.repositories, "repository"),
        count(fleet.candidates, "candidate"),
        fleet.compared,
        fleet.engine
    );
    page.put(DIM, counts).end();
}

/// How many files are no longer as their rows say.
fn tell_unread(page: &mut Page, files: usize) {
    let gone = count(files, "file");
    page.put(
        WARN,
        format_args!("{gone} of candidates could not be read as when they were audited: "),
    );
    page.put(
        PLAIN,
        "of these, only what is the same is told (`audit --parquet` again, or `--trees`)",
    )
    .end();
}

fn section<T>(
    page: &mut Page,
    (heading, why): (&str, &str),
    entries: &[T],
    write: impl FnMut(&mut Page, &T),
) {
    if !entries.is_empty() {
        page.section(WARN, heading, entries.len(), why);
        page.first(SHOWN, entries, write);
    }
}

fn pair(page: &mut Page, pair: &RepositoryPair) {
    let [a, b] = &pair.repositories;
    page.put(PLAIN, "  ")
        .put(BOLD, format_args!("{a}, {b}"))
        .put(
            PLAIN,
            format_args!(
                "  {} lines, {} of the smaller one; {}",
                pair.lines,
                pair.share,
                count(pair.modules, "module")
            ),
        )
        .end();
}

fn copy(page: &mut Page, copy: &FleetCopy) {
    let places = count(copy.members.len(), "place");
    let lines = count(usize::try_from(copy.lines).unwrap_or(usize::MAX), "line");
    let what = match copy.same {
        true => "the same",
        false => "with differences",
    };
    page.put(PLAIN, "  ")
        .put(BOLD, places)
        .put(PLAIN, format_args!(", {what}, {lines} copied"))
        .end();
    first_members(page, &copy.members, |page, at, one| {
        let behind = copy.behind.iter().find(|behind| behind.member == at);
        member(page, one, behind);
    });
    copy_differences(page, copy);
}

fn copy_differences(page: &mut Page, copy: &FleetCopy) {
    let only = copy.differences.iter().map(|difference| {
        let at = if difference.in_first {
            0
        } else {
            difference.member
        };
        let owner = copy.members.get(at);
        let owner = owner.map(|one| format!("{}/{}", one.repository, one.path));
        let owner = owner.unwrap_or_else(|| "/".to_owned());
        Only {
            place: format!("{owner}:{}", difference.line),
            aspect: difference.aspect,
            text: &difference.text,
        }
    });
    first_differences(page, &only.collect::<Vec<_>>());
}

fn member(page: &mut Page, member: &FleetMember, behind: Option<&Behind>) {
    page.put(PLAIN, "    ");
    let line = member
        .lines
        .map_or(String::new(), |[first, _]| format!(":{first}"));
    page.put(
        PLACE,
        format_args!("{}/{}{line}", member.repository, member.path),
    );
    page.put(PLAIN, format_args!("  {}", member.item));
    if let Some(changed) = member.changed {
        page.put(DIM, format_args!("  last changed {}", day(changed)));
    }
    match behind {
        Some(Behind { by_date: true, .. }) => {
            page.put(WARN, "  behind: the first was changed later")
        }
        Some(_) => page.put(WARN, "  behind: it has nothing that the first one lacks"),
        None => page,
    }
    .end();
}
