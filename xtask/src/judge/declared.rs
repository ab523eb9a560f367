//! What a consolidation says that it changes of the names of modules, by its manifest and by the answer of
//! the program. Everything else has to be as it was.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    consolidation::{Consolidation, Kind},
    names::{ModulePair, Name, Names, Reading, UNSETTLED},
};

/// The declaration, with what was there before.
pub struct Declared<'a> {
    done: &'a Consolidation,
    before: &'a BTreeMap<String, Reading>,
    /// Full names that the answer says are gone.
    lost: BTreeSet<String>,
}

impl<'a> Declared<'a> {
    /// Reads what the answer says.
    pub fn new(
        done: &'a Consolidation,
        before: &'a BTreeMap<String, Reading>,
        answer: &Value,
    ) -> Self {
        let lost = answer.get("lost_names").and_then(Value::as_array);
        let lost = lost.into_iter().flatten();
        let lost = lost.filter_map(|lost| lost.get("name")?.as_str());
        Self {
            done,
            before,
            lost: lost.map(ToOwned::to_owned).collect(),
        }
    }

    /// Whether a module goes, and not an item.
    fn is_of_module(&self) -> bool {
        self.before.contains_key(&self.done.from)
    }

    /// Whether the module is looked at by an old name that is kept.
    pub fn is_shim(&self, pair: ModulePair<'_>) -> bool {
        self.done.shim && self.is_of_module() && is_within(pair.new, &self.done.from)
    }

    /// Whether a name that was there may be gone.
    pub fn may_go(&self, pair: ModulePair<'_>, name: &str, one: &Name, after: &Names) -> bool {
        let full = format!("{}.{name}", pair.old);
        let said = self.lost.iter().any(|lost| is_within(&full, lost));
        let moved = is_within(&full, &self.done.from) && !self.done.shim && pair.old == pair.new;
        said || moved
            || self.went_along(pair, name, one)
            || self.is_renamed_import(pair, name, one, after)
    }

    /// Whether it is an import of the module that an item leaves, which nothing of that needs any more. Of a
    /// package, or in `__all__`, it would be a name for others. A star import of that module loses it, too: what is
    /// no library there is a name that somebody may take from there.
    fn went_along(&self, pair: ModulePair<'_>, name: &str, one: &Name) -> bool {
        let source = parent(&self.done.from);
        let before = self.before.get(source).and_then(Reading::names);
        let there = before.and_then(|before| before.names.get(name));
        let list = before.and_then(|before| before.names.get("__all__"));
        let entry = format!("'{name}'");
        let offered = list.is_some_and(|list| list.what.contains(&entry));
        let imported = there.is_some_and(|there| there.how == "imported" && there.what == one.what);
        let library = one.kind == "module" && !one.what.iter().any(|what| self.is_own(what));
        let by_star = one.how == "own" && library;
        !self.is_of_module()
            && imported
            && !offered
            && (pair.old == source || by_star)
            && !self.is_package(pair.old)
    }

    /// Whether it is a user's import of what moved, which is imported by its new name now. Of a package it
    /// would be a name for others.
    fn is_renamed_import(
        &self,
        pair: ModulePair<'_>,
        name: &str,
        one: &Name,
        after: &Names,
    ) -> bool {
        let new = last(&self.done.to);
        name == last(&self.done.from)
            && name != new
            && !self.is_package(pair.old)
            && pair.old != parent(&self.done.from)
            && after
                .names
                .get(new)
                .is_some_and(|now| one.kind == now.kind && self.leads_alike(one, now))
    }

    /// Whether a name that was not there may come.
    pub fn may_come(&self, pair: ModulePair<'_>, name: &str, one: &Name) -> bool {
        let (from, to) = (&self.done.from, &self.done.to);
        let is_target = match self.done.kind {
            // A module has what it had; who stands around it gets a submodule.
            Kind::Module => false,
            Kind::Item => pair.new == parent(to),
            Kind::Replace | Kind::Merge => pair.new == parent(to) || pair.new == to,
        };
        let own_module = one.kind == "module" && one.what.iter().all(|what| self.is_own(what));
        let of_shim = self.done.shim
            && (name.starts_with('_') && pair.new == parent(from) || self.is_shim(pair));
        is_target || own_module || of_shim || name == last(from) || name == last(to)
    }

    /// Whether a name may leave what a star import gives, though the module has it.
    pub fn may_leave_star(&self, pair: ModulePair<'_>, name: &str) -> bool {
        format!("{}.{name}", pair.new) == self.done.from || self.is_shim(pair)
    }

    /// Whether reading a name may warn.
    pub fn may_warn(&self, pair: ModulePair<'_>, name: &str) -> bool {
        self.done.shim && is_within(&format!("{}.{name}", pair.new), &self.done.from)
    }

    /// The first warning that was not there before, by old names or by new ones.
    pub fn new_warning<'w>(&self, before: &[String], after: &'w [String]) -> Option<&'w String> {
        let renamed = |text: &String| text.replace(&self.done.from, &self.done.to);
        let known: BTreeSet<String> = before.iter().map(renamed).collect();
        after.iter().find(|new| !known.contains(&renamed(new)))
    }

    /// Whether two names of one kind lead to the same, as far as the consolidation does not change it.
    pub fn leads_alike(&self, one: &Name, now: &Name) -> bool {
        if one.what == now.what {
            return true;
        }
        if one.kind == "constant" {
            return self.holds_alike(&one.what, &now.what);
        }
        match (one.what.first(), now.what.first()) {
            (Some(old), Some(new)) if one.kind == "module" => {
                renamed(old, &self.done.from, &self.done.to) == *new
            }
            (Some(old), Some(new)) => self.is_same_place(old, new),
            _ => false,
        }
    }

    /// Whether `module:name` is what another such place has become.
    fn is_same_place(&self, old: &str, new: &str) -> bool {
        let (from, to) = (&self.done.from, &self.done.to);
        let (Some((old_module, old_name)), Some((new_module, new_name))) =
            (old.split_once(':'), new.split_once(':'))
        else {
            return false;
        };
        if self.is_of_module() {
            let moved = is_within(old_module, from);
            let there = renamed(old_module, from, to) == new_module && old_name == new_name;
            return moved && (there || self.was(to, old_name, new));
        }
        let moved = old_module == parent(from) && is_within(old_name, last(from));
        let there = new_module == parent(to) && renamed(old_name, last(from), last(to)) == new_name;
        // What a definition needs may come along.
        let along = old_module == parent(from) && new_module == parent(to) && old_name == new_name;
        moved && (there || self.was(parent(to), last(to), new)) || along
    }

    /// Whether something that stays led there before.
    fn was(&self, module: &str, name: &str, place: &str) -> bool {
        let gives_way = matches!(self.done.kind, Kind::Replace | Kind::Merge);
        let names = self.before.get(module).and_then(Reading::names);
        let there = names.and_then(|names| names.names.get(name));
        gives_way && there.is_some_and(|there| there.what.first().is_some_and(|what| what == place))
    }

    /// Whether two constants of one type differ in nothing but entries that say what moved.
    fn holds_alike(&self, one: &[String], now: &[String]) -> bool {
        let (Some((old_type, old)), Some((new_type, new))) = (one.split_first(), now.split_first())
        else {
            return false;
        };
        let unsettled = old == [UNSETTLED];
        let same = old_type == new_type || self.is_same_place(old_type, new_type);
        let lost = without(old, new);
        let come = without(new, old);
        let mut differing = lost.iter().chain(&come);
        same && (unsettled || differing.all(|leaf| self.says_what_moved(leaf)))
    }

    fn says_what_moved(&self, leaf: &str) -> bool {
        let mut words = leaf.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.any(|word| word == last(&self.done.from) || word == last(&self.done.to))
    }

    fn is_package(&self, module: &str) -> bool {
        let below = format!("{module}.");
        self.before.keys().any(|name| name.starts_with(&below))
    }

    fn is_own(&self, module: &str) -> bool {
        let top = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
        self.before.keys().any(|name| top(name) == top(module))
    }
}

/// What one list has more often than another.
fn without(one: &[String], other: &[String]) -> Vec<String> {
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    for leaf in other {
        *counts.entry(leaf).or_default() += 1;
    }
    let left = one.iter().filter(|leaf| match counts.get_mut(leaf) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
    left.cloned().collect()
}

/// Whether a dotted name is another one or below it.
fn is_within(name: &str, whole: &str) -> bool {
    name.strip_prefix(whole)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// `name` with `from` at its beginning made `to`.
pub fn renamed(name: &str, from: &str, to: &str) -> String {
    match name.strip_prefix(from) {
        Some(rest) if rest.is_empty() || rest.starts_with('.') => format!("{to}{rest}"),
        _ => name.to_owned(),
    }
}

fn parent(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(parent, _)| parent)
}

fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}
