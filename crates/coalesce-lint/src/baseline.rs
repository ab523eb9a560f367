//! What was there when the rules were switched on, so that only what is new fails.
//!
//! It is exact: what it lists and is not there any more is a finding as well, so that it only shrinks.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_index::Index;
use coalesce_model::{Finding, Severity, TreePath, finding::codes};
use serde::{Deserialize, Serialize};

use crate::Subject;

const VERSION: u32 = 2;

/// A baseline file: JSON, sorted, one line for each value, so that it diffs and merges well.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    baseline: u32,
    /// Modules of each eager cycle.
    eager_cycles: BTreeSet<BTreeSet<String>>,
    /// Findings, without their lines, which shift.
    findings: Vec<Known>,
}

/// A finding that was there, and how often.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    path: TreePath,
    code: String,
    message: String,
    count: u32,
}

/// Why a baseline cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BaselineError {
    /// It is no baseline.
    #[error("not a baseline: {0}")]
    Malformed(#[from] serde_json::Error),
    /// It was written by another version.
    #[error("baseline format {0} is not supported by this version, which writes {VERSION}")]
    Version(u32),
}

type Key = (TreePath, String, String);

fn key(finding: &Finding) -> Key {
    (
        finding.path.clone(),
        finding.code.0.to_owned(),
        finding.message.clone(),
    )
}

/// Notes fail nothing, and cycles, duplicates and the baseline's own findings are kept otherwise.
fn is_listed(finding: &Finding) -> bool {
    let own = [
        codes::NEW_EAGER_CYCLE,
        codes::DUPLICATES,
        codes::SPENT_BASELINE,
        codes::UNUSED_ALLOW,
    ];
    finding.severity != Severity::Note && !own.contains(&finding.code)
}

impl Baseline {
    /// The state of a tree in which these findings are.
    #[must_use]
    pub fn of(index: &Index<'_>, findings: &[Finding]) -> Self {
        let cycles = index.cycles().into_iter().filter(|cycle| cycle.eager);
        let mut counts: BTreeMap<Key, u32> = BTreeMap::new();
        for finding in findings.iter().filter(|finding| is_listed(finding)) {
            *counts.entry(key(finding)).or_default() += 1;
        }
        Self {
            baseline: VERSION,
            eager_cycles: cycles
                .map(|cycle| cycle.modules.into_iter().collect())
                .collect(),
            findings: listed(counts),
        }
    }

    /// Reads a baseline.
    ///
    /// # Errors
    /// [`BaselineError`] when the text is none, or of another version.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        #[derive(Deserialize)]
        struct Version {
            baseline: u32,
        }
        let version: Version = serde_json::from_str(text)?;
        if version.baseline != VERSION {
            return Err(BaselineError::Version(version.baseline));
        }
        Ok(serde_json::from_str(text)?)
    }

    /// The text of the file.
    ///
    /// # Errors
    /// None in practice: every part is data that JSON can hold.
    pub fn to_json(&self) -> Result<String, BaselineError> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// Whether a cycle of these modules is inside one that was there.
    #[must_use]
    pub fn has_cycle(&self, modules: &[String]) -> bool {
        self.eager_cycles
            .iter()
            .any(|known| modules.iter().all(|module| known.contains(module)))
    }

    /// This baseline without what `now` does not have: it never grows.
    #[must_use]
    pub fn shrunk_to(&self, now: &Self) -> Self {
        let mut left = counts(&now.findings);
        let mut kept = BTreeMap::new();
        for (key, count) in counts(&self.findings) {
            let there = left.remove(&key).unwrap_or(0).min(count);
            if there > 0 {
                kept.insert(key, there);
            }
        }
        let cycles = now.eager_cycles.iter();
        let known =
            cycles.filter(|cycle| self.eager_cycles.iter().any(|known| cycle.is_subset(known)));
        Self {
            baseline: VERSION,
            eager_cycles: known.cloned().collect(),
            findings: listed(kept),
        }
    }

    /// Takes the findings out that it lists, as many as it lists, and adds one for each entry that is
    /// not there any more; how many findings went.
    pub(crate) fn subtract(&self, findings: &mut Vec<Finding>, subject: &Subject<'_>) -> usize {
        let mut left = counts(&self.findings);
        let before = findings.len();
        findings.sort_by(|a, b| (&a.path, a.span).cmp(&(&b.path, b.span)));
        findings.retain(|finding| {
            let listed = left.get_mut(&key(finding)).filter(|_| is_listed(finding));
            match listed.filter(|count| **count > 0) {
                Some(count) => {
                    *count -= 1;
                    false
                }
                None => true,
            }
        });
        let gone = before - findings.len();
        let off = |code: &str| subject.settings.off.iter().any(|off| off == code);
        for ((path, code, message), count) in left {
            if count > 0 && !off(&code) {
                findings.push(spent(path, &code, &message, count));
            }
        }
        let code = codes::NEW_EAGER_CYCLE.0;
        if !off(code) {
            findings.extend(self.broken_cycles(subject).into_iter().map(|modules| {
                let message = format!("between {}", modules.join(", "));
                spent(TreePath::root(), code, &message, 1)
            }));
        }
        gone
    }

    /// The cycles that it lists and that are no more.
    fn broken_cycles(&self, subject: &Subject<'_>) -> Vec<Vec<&str>> {
        let cycles = subject.index.cycles().into_iter();
        let eager = cycles.filter(|cycle| cycle.eager);
        let now: Vec<BTreeSet<String>> = eager
            .map(|cycle| cycle.modules.into_iter().collect())
            .collect();
        let is_there = |known: &BTreeSet<String>| now.iter().any(|cycle| cycle.is_subset(known));
        let broken = self.eager_cycles.iter().filter(|known| !is_there(known));
        broken
            .map(|known| known.iter().map(String::as_str).collect())
            .collect()
    }
}

fn counts(known: &[Known]) -> BTreeMap<Key, u32> {
    let mut counts = BTreeMap::new();
    for one in known {
        let key = (one.path.clone(), one.code.clone(), one.message.clone());
        *counts.entry(key).or_default() += one.count;
    }
    counts
}

fn listed(counts: BTreeMap<Key, u32>) -> Vec<Known> {
    let known = counts
        .into_iter()
        .map(|((path, code, message), count)| Known {
            path,
            code,
            message,
            count,
        });
    known.collect()
}

fn spent(path: TreePath, code: &str, message: &str, count: u32) -> Finding {
    let times = if count == 1 {
        String::new()
    } else {
        format!(" {count} times")
    };
    Finding {
        code: codes::SPENT_BASELINE,
        severity: Severity::Error,
        path,
        span: None,
        message: format!("the baseline lists `{code}`{times} and it is gone: {message}"),
        help: Some(
            "`coalesce check --baseline FILE --fix` takes it out of the baseline".to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn baseline(entries: &[(&str, u32)]) -> Baseline {
        let known = entries.iter().map(|(message, count)| Known {
            path: TreePath::new("a.py").unwrap(),
            code: "forbidden-path".to_owned(),
            message: (*message).to_owned(),
            count: *count,
        });
        Baseline {
            baseline: VERSION,
            eager_cycles: BTreeSet::new(),
            findings: known.collect(),
        }
    }

    #[test]
    fn it_only_shrinks() {
        let old = baseline(&[("x", 2), ("y", 1)]);
        let now = baseline(&[("x", 3), ("z", 1)]);
        assert_eq!(old.shrunk_to(&now), baseline(&[("x", 2)]));
        let now = baseline(&[("x", 1), ("y", 1)]);
        assert_eq!(old.shrunk_to(&now), now);
    }

    #[test]
    fn another_format_is_refused_by_its_number() {
        let error = Baseline::parse("{\"baseline\": 1, \"unresolved\": []}").unwrap_err();
        assert!(
            error.to_string().starts_with("baseline format 1 "),
            "{error}"
        );
        let text = baseline(&[("x", 2)]).to_json().unwrap();
        assert_eq!(Baseline::parse(&text).unwrap(), baseline(&[("x", 2)]));
    }
}
