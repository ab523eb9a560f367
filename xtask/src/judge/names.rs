//! Every name of every module of Python before and after, and what of it nobody said would differ.
//!
//! That all modules import proves little: a package can lack a name, a table an entry, and a name can
//! lead to another thing, or warn.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::declared::Declared;

/// How many differences of a module are told.
const TOLD: usize = 5;
/// What a constant holds that is another thing each time.
pub const UNSETTLED: &str = "?";

/// One name of a module.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Name {
    /// `own`, `imported` where a statement of the module imports it, or `asked` where the module gives it when it
    /// is asked for.
    pub how: String,
    /// `module`, `class`, `function`, `constant`, or `raises`.
    pub kind: String,
    /// What it leads to; of a constant its type and what it holds.
    pub what: Vec<String>,
    /// What is warned of when it is read.
    pub warnings: Vec<String>,
}

/// What a star import gives.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Star {
    /// Names, and what it warns of.
    Names {
        /// The names.
        names: BTreeSet<String>,
        /// What is warned of.
        warnings: Vec<String>,
    },
    /// It raises.
    Raises {
        /// What.
        error: String,
    },
}

/// The names of a module that could be read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Names {
    /// All of them, private ones too.
    pub names: BTreeMap<String, Name>,
    /// What `from module import *` gives.
    pub star: Star,
}

/// What reading the names of a module came to.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Reading {
    /// They were read.
    Known(Names),
    /// It took too long.
    Late {
        /// Always.
        late: bool,
    },
    /// The interpreter ended over it.
    Ended {
        /// The status that it ended with.
        ended: i32,
    },
}

impl Reading {
    /// The names, where they could be read.
    pub const fn names(&self) -> Option<&Names> {
        match self {
            Self::Known(names) => Some(names),
            Self::Late { .. } | Self::Ended { .. } => None,
        }
    }

    /// Forgets what differs from a second reading of the same tree: it says nothing of a change.
    pub fn settle(&mut self, again: Option<&Self>) {
        let Self::Known(names) = self else {
            return;
        };
        let Some(Self::Known(again)) = again else {
            return;
        };
        for (name, one) in &mut names.names {
            match again.names.get(name) {
                Some(other) if other.what != one.what => {
                    one.what.truncate(1);
                    one.what.push(UNSETTLED.to_owned());
                }
                _ => {}
            }
        }
    }
}

/// A module by the name that it had, and by the one under which it is looked at now.
#[derive(Clone, Copy)]
pub struct ModulePair<'a> {
    /// Its name before.
    pub old: &'a str,
    /// Its name now.
    pub new: &'a str,
}

/// What differs between two readings of a module and is not declared; the first few.
pub fn differences(
    pair: ModulePair<'_>,
    before: &Names,
    after: &Names,
    declared: &Declared<'_>,
) -> Vec<String> {
    let kept = before.names.iter().filter_map(|(name, one)| {
        let now = after.names.get(name);
        match now {
            Some(now) => changed(pair, name, (one, now), declared),
            None => {
                let goes = declared.may_go(pair, name, one, after);
                (!goes).then(|| format!("{}.{name}: {} before, gone after", pair.old, one.told()))
            }
        }
    });
    let come = after.names.iter().filter(|(name, one)| {
        !before.names.contains_key(*name) && !declared.may_come(pair, name, one)
    });
    let come = come
        .map(|(name, one)| format!("{}.{name}: nothing before, {} after", pair.new, one.told()));
    let stars = star(pair, before, after, declared);
    kept.chain(come).chain(stars).take(TOLD).collect()
}

/// How a name differs that is there before and after.
fn changed(
    pair: ModulePair<'_>,
    name: &str,
    (one, now): (&Name, &Name),
    declared: &Declared<'_>,
) -> Option<String> {
    if one.kind != now.kind || !declared.leads_alike(one, now) {
        return Some(format!(
            "{}.{name}: {} before, {} after",
            pair.new,
            one.told(),
            now.told()
        ));
    }
    let new = declared.new_warning(&one.warnings, &now.warnings)?;
    (!declared.may_warn(pair, name)).then(|| format!("{}.{name}: warns anew: {new}", pair.new))
}

fn star(
    pair: ModulePair<'_>,
    before: &Names,
    after: &Names,
    declared: &Declared<'_>,
) -> Vec<String> {
    let Star::Names {
        names: old,
        warnings,
    } = &before.star
    else {
        return Vec::new();
    };
    let told = |what: String| vec![format!("from {} import *: {what}", pair.new)];
    let (new, warned) = match &after.star {
        Star::Raises { error } => return told(format!("{error} after")),
        Star::Names { names, warnings } => (names, warnings),
    };
    // What the module has no more is told as such.
    let mut lost = old
        .difference(new)
        .filter(|name| after.names.contains_key(*name));
    let lost = lost.find(|name| !declared.may_leave_star(pair, name));
    if let Some(lost) = lost {
        return told(format!("gives `{lost}` before, and not after"));
    }
    match declared.new_warning(warnings, warned) {
        Some(new) if !declared.is_shim(pair) => told(format!("warns anew: {new}")),
        _ => Vec::new(),
    }
}

impl Name {
    /// In a few words.
    fn told(&self) -> String {
        let mut what = self.what.join(", ");
        if let Some((at, _)) = what.char_indices().nth(160) {
            what.truncate(at);
            what.push('…');
        }
        format!("{} {what}", self.kind)
    }
}
