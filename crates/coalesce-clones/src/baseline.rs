//! The duplicates that were there when the rule was switched on, so that only what is new fails.
//!
//! Lines shift and are left out; a member is its file and name. A class that has a member which the
//! baseline's class did not have is new: that is how a fourth copy of three shows.

use std::collections::BTreeMap;

use coalesce_model::TreePath;
use serde::{Deserialize, Serialize};

use crate::report::Duplicate;

const VERSION: u32 = 1;

/// A baseline file: JSON, sorted, so that it diffs and merges well.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    duplicates_baseline: u32,
    /// Classes that were there.
    classes: Vec<Known>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    kind: String,
    /// File and name of each member, sorted; what has no name stands once for each place.
    members: Vec<(TreePath, String)>,
}

/// Why a baseline cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BaselineError {
    /// It is no baseline.
    #[error("not a baseline of duplicates: {0}")]
    Malformed(#[from] serde_json::Error),
    /// It was written by another version.
    #[error("baseline format {0} is not supported by this version, which writes {VERSION}")]
    Version(u32),
}

impl Baseline {
    /// What there is now.
    #[must_use]
    pub fn of(duplicates: &[Duplicate]) -> Self {
        let mut classes: Vec<Known> = duplicates
            .iter()
            .map(|class| Known {
                kind: class.kind.as_str().to_owned(),
                members: keys(class),
            })
            .collect();
        classes.sort();
        Self {
            duplicates_baseline: VERSION,
            classes,
        }
    }

    /// Reads a baseline.
    ///
    /// # Errors
    /// When it is none, or one of another version.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        let baseline: Self = serde_json::from_str(text)?;
        if baseline.duplicates_baseline == VERSION {
            Ok(baseline)
        } else {
            Err(BaselineError::Version(baseline.duplicates_baseline))
        }
    }

    /// As it is written to a file.
    ///
    /// # Errors
    /// None in practice: it holds nothing but text.
    pub fn to_json(&self) -> Result<String, BaselineError> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// For each class whether it, or one of its members, is new.
    #[must_use]
    pub fn news(&self, duplicates: &[Duplicate]) -> Vec<bool> {
        let mut by_member: BTreeMap<&(TreePath, String), Vec<&Known>> = BTreeMap::new();
        for known in &self.classes {
            for member in &known.members {
                by_member.entry(member).or_default().push(known);
            }
        }
        let is_new = |class: &Duplicate| {
            let keys = keys(class);
            let candidates = keys.first().and_then(|first| by_member.get(first));
            !candidates
                .into_iter()
                .flatten()
                .any(|known| known.kind == class.kind.as_str() && contains(&known.members, &keys))
        };
        duplicates.iter().map(is_new).collect()
    }

    /// The classes of this baseline that `now` lacks, whole or in part: a baseline is exact.
    #[must_use]
    pub fn spent(&self, now: &Self) -> Vec<Spent> {
        let spent = |known: &Known| {
            let gone = now.gone(known);
            let path = gone.first()?.0.clone();
            let name = |(path, item): &(TreePath, String)| format!("{path} {item}");
            Some(Spent {
                kind: known.kind.clone(),
                path,
                members: gone
                    .iter()
                    .map(|key| name(key).trim_end().to_owned())
                    .collect(),
            })
        };
        self.classes.iter().filter_map(spent).collect()
    }

    /// This baseline without what `now` does not have: it never grows.
    #[must_use]
    pub fn shrunk_to(&self, now: &Self) -> Self {
        let left = |known: &Known| {
            let gone = now.gone(known);
            let mut members = known.members.clone();
            for one in gone {
                if let Some(at) = members.iter().position(|member| *member == one) {
                    members.remove(at);
                }
            }
            (members.len() > 1).then(|| Known {
                kind: known.kind.clone(),
                members,
            })
        };
        let mut classes: Vec<Known> = self.classes.iter().filter_map(left).collect();
        classes.sort();
        Self {
            duplicates_baseline: VERSION,
            classes,
        }
    }

    /// The members of a class that are in no class of this baseline together with another one of it. A class may have
    /// fallen apart into several that share members.
    fn gone(&self, known: &Known) -> Vec<(TreePath, String)> {
        let same_kind = self.classes.iter().filter(|other| other.kind == known.kind);
        let shared = same_kind.map(|other| common(&known.members, &other.members));
        let mut still: BTreeMap<&(TreePath, String), usize> = BTreeMap::new();
        for shared in shared.filter(|shared| shared.values().sum::<usize>() > 1) {
            for (member, count) in shared {
                let most = still.entry(member).or_default();
                *most = count.max(*most);
            }
        }
        let is_gone = |member: &&(TreePath, String)| match still.get_mut(*member) {
            Some(left) if *left > 0 => {
                *left -= 1;
                false
            }
            _ => true,
        };
        known.members.iter().filter(is_gone).cloned().collect()
    }
}

/// What two lists have in common, and how often.
fn common<'a, T: Ord>(one: &'a [T], other: &[T]) -> BTreeMap<&'a T, usize> {
    let mut counts: BTreeMap<&T, usize> = BTreeMap::new();
    for member in other {
        *counts.entry(member).or_default() += 1;
    }
    let mut shared: BTreeMap<&T, usize> = BTreeMap::new();
    for member in one {
        if let Some(left) = counts.get_mut(member).filter(|left| **left > 0) {
            *left -= 1;
            *shared.entry(member).or_default() += 1;
        }
    }
    shared
}

/// A class of a baseline that is not there any more, or has lost members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spent {
    /// What its members were.
    pub kind: String,
    /// File of the first member that is gone.
    pub path: TreePath,
    /// The members that are gone.
    pub members: Vec<String>,
}

fn keys(class: &Duplicate) -> Vec<(TreePath, String)> {
    let members = class.members.iter();
    let mut keys: Vec<_> = members
        .map(|member| (member.path.clone(), member.item.clone()))
        .collect();
    keys.sort();
    keys
}

/// Whether a sorted list holds all of another one, as often.
fn contains<T: Ord>(all: &[T], some: &[T]) -> bool {
    let mut left = all.iter();
    some.iter()
        .all(|wanted| left.by_ref().any(|found| found == wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Classes of functions, a letter a member.
    fn baseline(classes: &[&str]) -> Baseline {
        let class = |members: &&str| Known {
            kind: "function".to_owned(),
            members: members
                .chars()
                .map(|name| (TreePath::new("a.py").unwrap(), name.to_string()))
                .collect(),
        };
        Baseline {
            duplicates_baseline: VERSION,
            classes: classes.iter().map(class).collect(),
        }
    }

    #[test]
    fn a_member_is_gone_when_it_is_alike_to_no_other_one_of_its_class() {
        for (before, now, after) in [
            (["abc"].as_slice(), ["abc"].as_slice(), ["abc"].as_slice()),
            (&["abc"], &["ab"], &["ab"]),
            // It fell apart, and each of its members is in one of the parts.
            (&["abc"], &["ab", "bc"], &["abc"]),
            (&["abcd"], &["ab", "cd"], &["abcd"]),
            (&["abc"], &["abx", "cx"], &["ab"]),
            (&["abc"], &["ax", "bx", "cx"], &[]),
            // Without a name, twice in a file.
            (&["aab"], &["aa"], &["aa"]),
            (&["aab"], &["ab"], &["ab"]),
            (&["ab"], &[], &[]),
        ] {
            let (before, now) = (baseline(before), baseline(now));
            let shrunk = before.shrunk_to(&now);
            assert_eq!(shrunk, baseline(after));
            assert_eq!(before.spent(&now).is_empty(), shrunk == before);
            assert!(shrunk.spent(&now).is_empty());
        }
    }
}
