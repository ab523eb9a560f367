//! What each kind of finding means: the text of `explain`, one file a code in `explain/`, each with the
//! same headings.

use coalesce_model::{
    Code,
    envelope::{Body, Command, Envelope, Explain},
    finding::codes,
};

use crate::page::{BOLD, PLAIN, Page};

/// What there is to know about one kind of finding.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The kind.
    pub code: Code,
    /// What it finds.
    pub what: String,
    /// Why it is bad.
    pub why: String,
    /// Code that has it.
    pub example: String,
    /// What to write instead.
    pub instead: String,
}

/// The explanation of `code`; every code of [`codes::ALL`] has one.
#[must_use]
pub fn explanation(code: Code) -> Option<Explanation> {
    let (_, text) = PAGES.iter().find(|(known, _)| *known == code)?;
    let [what, why, example, instead] = parts(text)?;
    Some(Explanation {
        code,
        what,
        why,
        example,
        instead,
    })
}

/// What `explain` prints about `code`.
///
/// # Panics
/// For a code that is not in [`codes::ALL`], which only this workspace could make.
#[must_use]
pub fn envelope(code: Code) -> Envelope {
    let explanation = explanation(code).expect("invariant: every code is explained");
    Envelope::new(".", Command::Explain, Body::Explain(explanation.into()))
}

impl From<Explanation> for Explain {
    fn from(explanation: Explanation) -> Self {
        Self {
            code: explanation.code,
            what: explanation.what,
            why: explanation.why,
            example: explanation.example,
            instead: explanation.instead,
        }
    }
}

/// Writes the page of `explain`.
pub fn write(page: &mut Page, explain: &Explain) {
    page.put(BOLD, explain.code).end();
    let parts = [
        ("What it finds", &explain.what),
        ("Why it is bad", &explain.why),
        ("Example", &explain.example),
        ("Use instead", &explain.instead),
    ];
    for (heading, text) in parts {
        page.gap();
        page.put(BOLD, heading).end();
        for line in text.lines() {
            page.put(PLAIN, format_args!("  {line}")).end();
        }
    }
}

/// The pages, one file a code, in the order of [`codes::ALL`].
const PAGES: &[(Code, &str)] = &[
    (
        codes::UNRESOLVED_IMPORT,
        include_str!("explain/unresolved-internal-import.md"),
    ),
    (
        codes::REMOVED_REFERENCE,
        include_str!("explain/removed-reference.md"),
    ),
    (
        codes::DEPRECATED_PATH,
        include_str!("explain/deprecated-path.md"),
    ),
    (
        codes::FORBIDDEN_PATH,
        include_str!("explain/forbidden-path.md"),
    ),
    (
        codes::FORBIDDEN_EDGE,
        include_str!("explain/forbidden-edge.md"),
    ),
    (codes::EXPIRED_SHIM, include_str!("explain/expired-shim.md")),
    (codes::UNUSED_SHIM, include_str!("explain/unused-shim.md")),
    (
        codes::GPU_OUTSIDE_HOME,
        include_str!("explain/gpu-outside-home.md"),
    ),
    (codes::PROJECT_RULE, include_str!("explain/project-rule.md")),
    (codes::UNUSED_ALLOW, include_str!("explain/unused-allow.md")),
    (
        codes::SPENT_BASELINE,
        include_str!("explain/spent-baseline-entry.md"),
    ),
    (
        codes::NEW_EAGER_CYCLE,
        include_str!("explain/new-eager-cycle.md"),
    ),
    (codes::SYNTAX_ERROR, include_str!("explain/syntax-error.md")),
    (codes::ORPHAN_FILE, include_str!("explain/orphan-file.md")),
    (codes::IMPORT_CYCLE, include_str!("explain/import-cycle.md")),
    (
        codes::STALE_GUARD,
        include_str!("explain/stale-guarded-import.md"),
    ),
    (codes::EMPTY_STUB, include_str!("explain/empty-stub.md")),
    (codes::DUPLICATES, include_str!("explain/duplicates.md")),
    (codes::MANIFEST, include_str!("explain/manifest.md")),
    (
        codes::UNSAFE_CHANGE,
        include_str!("explain/unsafe-change.md"),
    ),
    (
        codes::UNDECIDED_MERGE,
        include_str!("explain/undecided-merge.md"),
    ),
    (codes::NEW_FAILURE, include_str!("explain/new-failure.md")),
    (
        codes::FAILS_WITHOUT_SHIM,
        include_str!("explain/fails-without-shim.md"),
    ),
    (codes::NOT_PROVEN, include_str!("explain/not-proven.md")),
    (
        codes::UNRESOLVED_AFTER_CHANGE,
        include_str!("explain/unresolved-after-change.md"),
    ),
    (
        codes::UNPARSABLE_AFTER_CHANGE,
        include_str!("explain/unparsable-after-change.md"),
    ),
    (
        codes::NEW_SILENT_FALLBACK,
        include_str!("explain/new-silent-fallback.md"),
    ),
    (
        codes::OCCUPIED_PATH,
        include_str!("explain/occupied-path.md"),
    ),
    (
        codes::CONFLICTING_EDITS,
        include_str!("explain/conflicting-edits.md"),
    ),
    (
        codes::UNREADABLE_SOURCE,
        include_str!("explain/unreadable-source.md"),
    ),
    (
        codes::LINK_IN_THE_WAY,
        include_str!("explain/link-in-the-way.md"),
    ),
    (codes::SHIM_IN_USE, include_str!("explain/shim-in-use.md")),
    (codes::PLAN_REMARK, include_str!("explain/plan-remark.md")),
    (codes::OUT_OF_REACH, include_str!("explain/out-of-reach.md")),
    (
        codes::MISSING_CONDITION,
        include_str!("explain/missing-condition.md"),
    ),
    (codes::NAME_TAKEN, include_str!("explain/name-taken.md")),
    (
        codes::MISMATCHED_REPLACEMENT,
        include_str!("explain/mismatched-replacement.md"),
    ),
    (
        codes::LOST_DEFINITION,
        include_str!("explain/lost-definition.md"),
    ),
    (codes::LOST_TEST, include_str!("explain/lost-test.md")),
    (
        codes::REMOVED_IN_USE,
        include_str!("explain/removed-in-use.md"),
    ),
    (
        codes::TIED_TO_PLACE,
        include_str!("explain/tied-to-place.md"),
    ),
    (
        codes::FORBIDDEN_IN_TARGET,
        include_str!("explain/forbidden-in-target.md"),
    ),
    (
        codes::CIRCULAR_PACKAGES,
        include_str!("explain/circular-packages.md"),
    ),
    (
        codes::READ_BEFORE_BOUND,
        include_str!("explain/read-before-bound.md"),
    ),
    (
        codes::NEW_REQUIREMENT,
        include_str!("explain/new-requirement.md"),
    ),
    (
        codes::CHANGED_GUARD,
        include_str!("explain/changed-guard.md"),
    ),
];

/// The headings of a page, in order.
const HEADINGS: [&str; 4] = ["What it finds", "Why it is bad", "Example", "Use instead"];

/// The parts of a page below its headings; `None` for a page that has others.
fn parts(text: &'static str) -> Option<[String; 4]> {
    let mut sections = text.split("\n## ");
    sections.next()?;
    let mut parts = Vec::new();
    for heading in HEADINGS {
        let body = sections.next()?.strip_prefix(heading)?;
        let lines = body.trim().lines();
        let shown: Vec<&str> = lines.filter(|line| !line.starts_with("```")).collect();
        parts.push(shown.join("\n"));
    }
    let whole = sections.next().is_none();
    parts.try_into().ok().filter(|_| whole)
}

/// All pages as one document.
#[must_use]
pub fn document() -> String {
    let mut out = String::from(
        "# What Coalesce finds\n\n\
         <!-- Written by `cargo xtask codegen` from `crates/coalesce-report/src/explain`. -->\n\n\
         `coalesce explain CODE` prints any of these.\n",
    );
    for (_, text) in PAGES {
        out.push('\n');
        let mut fenced = false;
        for line in text.trim().lines() {
            fenced ^= line.starts_with("```");
            if !fenced && line.starts_with('#') {
                out.push('#');
            }
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_explained_once_in_the_order_of_the_list() {
        let explained: Vec<_> = PAGES.iter().map(|(code, _)| *code).collect();
        assert_eq!(explained, codes::ALL);
        for (code, text) in PAGES {
            assert!(text.starts_with(&format!("# {code}\n\n## ")), "{code}");
            let parts = parts(text).unwrap_or_else(|| panic!("{code}: other headings"));
            assert!(parts.iter().all(|part| !part.is_empty()), "{code}");
        }
        let made = include_str!("../../coalesce-model/src/finding.rs");
        let constants = made.matches(": Code = Code(").count();
        assert_eq!(constants, codes::ALL.len(), "a code is missing in the list");
    }
}
