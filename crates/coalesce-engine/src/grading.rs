//! What was proven of a plan, and no more: by reading, and by what ran on the planned tree.

use std::collections::BTreeMap;

use coalesce_model::{
    Safety, Severity, UnprovenKind,
    envelope::{Answer, Grade, TreeState, UnprovenCount, Verify},
};

use crate::MigrationPlan;

/// The answer to what `plan` is worth; `verification` is what ran on the tree that it leaves.
#[must_use]
pub fn answer(plan: &MigrationPlan, verification: Option<&Verify>) -> Answer {
    let refusals = plan.assembled.refusals.iter();
    let refusals = refusals.filter(|finding| finding.severity == Severity::Error);
    match refusals.count() {
        0 if plan.nothing_to_do() => Answer {
            grade: Some(Grade::Resolved),
            message: "there is nothing to do".to_owned(),
            ..Answer::default()
        },
        0 => graded(
            plan,
            verification.filter(|verification| verification.passed),
        ),
        refusals => Answer {
            message: format!(
                "{} above; nothing will be written",
                counted(refusals, "reason")
            ),
            ..Answer::default()
        },
    }
}

/// The answer to a plan that may be applied; `ran` is a verification that passed.
fn graded(plan: &MigrationPlan, ran: Option<&Verify>) -> Answer {
    let unproven = unproven_counts(plan);
    let grade = if unproven.is_empty() {
        ran.and_then(|ran| ran.grade).unwrap_or(Grade::Resolved)
    } else {
        Grade::NotProven
    };
    Answer {
        grade: Some(grade),
        message: message(plan, ran, &unproven),
        unproven,
        configurations: ran
            .map(|ran| ran.configurations.clone())
            .unwrap_or_default(),
        not_checked: ran.map(|ran| ran.not_checked.clone()).unwrap_or_default(),
        edited_lines: ran.map(|ran| ran.edited_lines).unwrap_or_default(),
    }
}

fn unproven_counts(plan: &MigrationPlan) -> Vec<UnprovenCount> {
    let mut counts: BTreeMap<UnprovenKind, usize> = BTreeMap::new();
    for place in &plan.assembled.unproven {
        *counts.entry(place.kind).or_default() += 1;
    }
    counts
        .into_iter()
        .map(|(kind, places)| UnprovenCount { kind, places })
        .collect()
}

/// The answer in a sentence: what is open first, then what is known.
fn message(plan: &MigrationPlan, ran: Option<&Verify>, unproven: &[UnprovenCount]) -> String {
    let mut parts = Vec::new();
    if !unproven.is_empty() {
        parts.push(open_part(unproven));
    }
    parts.push(match plan.proven.resolved_imports {
        0 => "no module of the planned tree imports another".to_owned(),
        1 => "the 1 import between modules of the planned tree resolves".to_owned(),
        count => format!("all {count} imports between modules of the planned tree resolve"),
    });
    match ran {
        Some(ran) => parts.extend(ran_parts(ran)),
        None => parts.push("nothing was compiled or run (`migrate --verify` does)".to_owned()),
    }
    match review_count(plan) {
        0 => {}
        1 => parts.push("1 rewrite deserves a look".to_owned()),
        review => parts.push(format!("{review} rewrites deserve a look")),
    }
    parts.join("; ")
}

/// How many places are open, and of which kinds.
fn open_part(unproven: &[UnprovenCount]) -> String {
    let places: usize = unproven.iter().map(|count| count.places).sum();
    let kinds: Vec<String> = unproven
        .iter()
        .map(|count| format!("{}: {}", count.kind.as_str(), count.places))
        .collect();
    let (places, kinds) = (counted(places, "place"), kinds.join(", "));
    format!("{places} above that reading cannot tell ({kinds})")
}

fn ran_parts(ran: &Verify) -> Vec<String> {
    let after = |run: &&coalesce_model::envelope::CheckRun| run.state == TreeState::After;
    let judged: usize = ran.runs.iter().filter(after).map(|run| run.judged).sum();
    let mut parts = vec![format!(
        "{judged} checked on the planned tree, none fails that did not"
    )];
    let lines = ran.edited_lines;
    if !ran.not_checked.is_empty() {
        parts.push(format!(
            "{} of `matrix` could not be checked",
            counted(ran.not_checked.len(), "configuration")
        ));
    }
    if lines.only_resolved > 0 {
        parts.push(format!(
            "{} of {} edited lines were in no configuration, and are resolved by reading only",
            lines.only_resolved, lines.all
        ));
    }
    parts
}

fn review_count(plan: &MigrationPlan) -> usize {
    let rewrites = plan.assembled.rewrites.iter();
    rewrites
        .filter(|rewrite| rewrite.safety == Safety::NeedsReview)
        .count()
}

fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
