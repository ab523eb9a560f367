//! From classes of copies to the entries of a draft.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_clones::{Chapter, Report};
use coalesce_model::{LanguageGraph, ModuleKind, Texts, envelope::DuplicateKind};

use super::{
    copies::{Class, Copy, Modules},
    draft::{Decision, Draft, DraftEntry, DraftVerb},
    primary::{Ranked, Standing, rank},
    unspeakable,
};

/// The share of a module that the one to stay must have: below it, single items give way.
const LEAST_SHARE: f32 = 0.5;
/// The similarity of a class from which on its copies are likely to give way without a decision.
const LIKELY: f32 = 0.9;
/// The share of the time that whole modules may take, so that some is left for items.
const FOR_MODULES: f32 = 0.6;
/// How many others a copy is compared with to see which one stays.
const COMPARED: usize = 6;
/// Reasons for a choice that are told.
const REASONS: usize = 3;
/// Names of a list that are told.
const NAMED: usize = 6;

/// How a copy stands to another one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Relation {
    /// The share of the copy's definitions, by lines, that the other one has, 0 to 1.
    pub share: f32,
    /// Definitions that both have, the same.
    pub same: usize,
    /// `(name, name in the other)` of those that are called otherwise there.
    pub rename: Vec<(String, String)>,
    /// Definitions that differ.
    pub decisions: Vec<Decision>,
    /// Names of definitions that the other one lacks.
    pub unique: Vec<String>,
}

/// What a draft is made from.
pub struct Drafting<'a> {
    /// What the finder found.
    pub report: &'a Report,
    /// The graphs of the tree.
    pub graphs: &'a [&'a dyn LanguageGraph],
    /// The texts of the tree.
    pub texts: &'a dyn Texts,
    /// How a copy (the first) stands to the one that stays; `None` where they cannot be compared.
    pub relate: &'a dyn Fn(&Copy, &Copy) -> Option<Relation>,
    /// Which copies are homes for which.
    pub homes: &'a dyn Homes,
    /// Whether old names go on working for a release.
    pub shims: bool,
    /// Whether there is no time for more, of a share of the time, 0 to 1.
    pub stop: &'a (dyn Fn(f32) -> bool + Sync),
}

/// Knows what stands in the way of a home.
pub trait Homes {
    /// Why nobody should come to use this copy, whoever it is: a script, something deprecated.
    fn unfit(&self, stays: &Copy) -> Option<String>;

    /// Why those who use `goes` cannot use `stays` where it is: they would come to need more, or stand
    /// beside it.
    fn out_of_reach(&self, stays: &Copy, goes: &Copy) -> Option<String>;

    /// The full name that `stays` would have in the nearest place that both can use already.
    fn common(&self, stays: &Copy, goes: &Copy) -> Option<String>;
}

impl Drafting<'_> {
    /// The entries that the duplicates of the tree come to, those with most lines first, then the
    /// stubs. For each a second one where another copy might stay: `None` where there is none.
    #[must_use]
    pub fn draft(&self) -> (Draft, Vec<Option<DraftEntry>>) {
        let mut made = Made::default();
        let mut remarks = Vec::new();
        for graph in self.graphs {
            let modules = Modules::new(*graph, self.report);
            let duplicates = self
                .report
                .duplicates
                .iter()
                .filter(|one| is_asked(one.chapter));
            let classes = duplicates.filter_map(|duplicate| modules.class(duplicate));
            let mut classes: Vec<Class<'_>> = classes.collect();
            remarks.extend(unspeakable::take_out(&modules, &mut classes));
            // Large families of modules that are little alike come to questions only, and take longest.
            classes.sort_by_key(|class| class.duplicate.similarity < LIKELY);
            let is_module = |class: &Class<'_>| class.duplicate.kind == DuplicateKind::Module;
            let (wholes, parts): (Vec<_>, Vec<_>) = classes.into_iter().partition(is_module);
            self.classes_give_way(&modules, &wholes, FOR_MODULES, &mut made);
            self.classes_give_way(&modules, &parts, 1.0, &mut made);
            for copies in modules.flags(self.report, self.texts) {
                self.give_way(&modules, &Copies::new(&copies), 1.0, &mut made);
            }
            self.stubs(&modules, &mut made);
        }
        let draft = Draft {
            description: "one home for what stands in several places".to_owned(),
            entries: made.entries,
            forecast: Vec::new(),
            remarks,
        };
        (draft, made.seconds)
    }

    fn classes_give_way(
        &self,
        modules: &Modules<'_>,
        classes: &[Class<'_>],
        time: f32,
        made: &mut Made,
    ) {
        for class in classes {
            let of_backends = class.duplicate.chapter == Chapter::Backends;
            let all = std::iter::once(class.copies.clone()).chain(namesakes(&class.copies));
            for all in all {
                let copies = Copies {
                    all: &all,
                    of_backends,
                };
                self.give_way(modules, &copies, time, made);
            }
        }
    }

    /// All of the copies but the best give way to it, where this share of the time is not over.
    fn give_way(&self, modules: &Modules<'_>, class: &Copies<'_>, time: f32, made: &mut Made) {
        if (self.stop)(time) {
            return;
        }
        let copies = class.all;
        let mut ranked = self.ranked(modules, copies);
        let unfit = |one: &Ranked| {
            copies
                .get(one.index)
                .is_none_or(|copy| self.homes.unfit(copy).is_some())
        };
        let built_on = |one: &Ranked| {
            let copy = copies.get(one.index);
            copy.is_some_and(|copy| copies.iter().any(|other| modules.builds_on(copy, other)))
        };
        ranked.sort_by_key(|one| (unfit(one), built_on(one)));
        let Some((first, others)) = ranked.split_first().filter(|(first, _)| !unfit(first)) else {
            return;
        };
        for other in others {
            let (Some(stays), Some(goes)) = (copies.get(first.index), copies.get(other.index))
            else {
                continue;
            };
            // What it imports of the other it does not have itself.
            if !made.is_free(goes, stays) || modules.builds_on(stays, goes) {
                continue;
            }
            if class.of_backends {
                self.share(goes, stays, first, made);
                continue;
            }
            let swapped = (others.len() == 1 && !unfit(other) && !modules.builds_on(goes, stays))
                .then(|| self.entry(stays, goes, other))
                .flatten()
                .filter(|_| self.homes.out_of_reach(goes, stays).is_none());
            if let Some(entry) = self.entry(goes, stays, first) {
                self.decide((goes, stays), entry, swapped, made);
            }
        }
    }

    /// Of two backends none is a home for the other: what is the same goes where both can use it, or is left with the reason.
    fn share(&self, goes: &Copy, stays: &Copy, why: &Ranked, made: &mut Made) {
        let entry = self.entry(goes, stays, why);
        let Some(entry) = entry.filter(|entry| entry.decisions.is_empty()) else {
            return;
        };
        let why = self
            .homes
            .out_of_reach(stays, goes)
            .unwrap_or_else(|| format!("`{}` stands beside it, for another backend", stays.name));
        let shared = self.elsewhere(entry, stays, goes, why);
        made.add(shared, None, goes, stays);
    }

    /// Takes the entry by which one copy gives way to the other, or the one the other way round, by who can use which.
    fn decide(
        &self,
        (goes, stays): (&Copy, &Copy),
        entry: DraftEntry,
        swapped: Option<DraftEntry>,
        made: &mut Made,
    ) {
        match (self.homes.out_of_reach(stays, goes), swapped) {
            (None, _) if is_private(stays) => {
                let (entry, second) = self.shared(entry, stays, goes);
                made.add(entry, second, goes, stays);
            }
            (None, swapped) => made.add(entry, swapped, goes, stays),
            (Some(_), Some(swapped)) => made.add(swapped, None, stays, goes),
            (Some(why), None) => {
                let entry = self.elsewhere(entry, stays, goes, why);
                made.add(entry, None, goes, stays);
            }
        }
    }

    /// What two modules keep to themselves is best kept by one that both use already: the entry for that, and
    /// the plain one in case that the planner refuses it.
    fn shared(
        &self,
        entry: DraftEntry,
        stays: &Copy,
        goes: &Copy,
    ) -> (DraftEntry, Option<DraftEntry>) {
        let Some(home) = self.homes.common(stays, goes) else {
            return (entry, None);
        };
        let mut reasons = entry.reasons.clone();
        reasons.push(format!("Both use what stands beside `{home}`."));
        let shared = DraftEntry {
            to: home.clone(),
            first_move: Some((stays.name.clone(), home)),
            reasons,
            ..entry.clone()
        };
        (shared, is_beside(goes, stays).then_some(entry))
    }

    /// The same where the copy that stays goes to a place first that both can use, or with the reason
    /// why there is none.
    fn elsewhere(&self, entry: DraftEntry, stays: &Copy, goes: &Copy, why: String) -> DraftEntry {
        match self.homes.common(stays, goes) {
            Some(home) if entry.verb != DraftVerb::Merge => {
                let mut reasons = entry.reasons;
                reasons.push(format!("{why}; both can use `{home}`."));
                DraftEntry {
                    to: home.clone(),
                    first_move: Some((stays.name.clone(), home)),
                    reasons,
                    ..entry
                }
            }
            Some(_) => DraftEntry {
                refused: Some(why),
                ..entry
            },
            None => DraftEntry {
                refused: Some(format!(
                    "{why}; nothing that both depend on could be its home: a new package that both depend on could"
                )),
                ..entry
            },
        }
    }

    /// The copies, the one to stay first.
    fn ranked(&self, modules: &Modules<'_>, copies: &[Copy]) -> Vec<Ranked> {
        let standing = |copy: &Copy| -> Standing {
            let others = copies
                .iter()
                .filter(|other| other.name != copy.name && other.item.is_none());
            let step = copies.len().div_ceil(COMPARED).max(1);
            let shares: Vec<f32> = others
                .step_by(step)
                .filter_map(|other| (self.relate)(other, copy))
                .map(|relation| relation.share)
                .collect();
            #[expect(clippy::cast_precision_loss, reason = "a handful of copies")]
            let coverage = shares.iter().sum::<f32>() / shares.len().max(1) as f32;
            Standing {
                coverage,
                ..modules.standing(copy, copies, self.texts)
            }
        };
        let standings: Vec<Standing> = copies.iter().map(standing).collect();
        rank(&standings)
    }

    /// Whether one copy may take the place of the other.
    fn fits(&self, goes: &Copy, stays: &Copy, relation: &Relation) -> bool {
        let nothing = relation.same == 0 && relation.decisions.is_empty();
        if goes.item.is_none() && (nothing || relation.share < LEAST_SHARE) {
            return false;
        }
        // Alike, and called otherwise: nobody takes the one for the other.
        if goes.item.is_some() && goes.item != stays.item && !relation.decisions.is_empty() {
            return false;
        }
        if is_program(goes) || is_program(stays) {
            return false;
        }
        if self.is_run(goes) && self.is_run(stays) {
            return false;
        }
        // Two types of one shape and two names are two types.
        if goes.is_type && goes.item != stays.item {
            return false;
        }
        // What a module keeps to itself is no home for others, but for the very same thing beside it, or
        // where it can go to helpers that both use.
        let same = relation.decisions.is_empty() && goes.item == stays.item;
        let near = || is_beside(goes, stays) || self.homes.common(stays, goes).is_some();
        !is_private(stays) || (same && near())
    }

    /// Whether an item is what its file does when it is run itself: each program has its own.
    fn is_run(&self, copy: &Copy) -> bool {
        let item = copy.item.as_deref();
        let text = item.and_then(|_| self.texts.text(&copy.path));
        item.zip(text)
            .is_some_and(|(item, text)| is_run_by(&text, item))
    }

    fn entry(&self, goes: &Copy, stays: &Copy, why: &Ranked) -> Option<DraftEntry> {
        let relation = (self.relate)(goes, stays)?;
        if !self.fits(goes, stays, &relation) {
            return None;
        }
        let verb = match (&goes.item, relation.unique.is_empty()) {
            (Some(_), _) => DraftVerb::ReplaceItem,
            (None, true) if relation.decisions.is_empty() => DraftVerb::ReplaceModule,
            (None, _) => DraftVerb::Merge,
        };
        let mut reasons = vec![covered(goes, stays, &relation)];
        if !why.reasons.is_empty() {
            let told = why.reasons.iter().take(REASONS);
            let told: Vec<&str> = told.map(String::as_str).collect();
            reasons.push(format!("`{}` stays: {}.", stays.name, told.join("; ")));
        }
        Some(DraftEntry {
            verb,
            from: goes.name.clone(),
            to: stays.name.clone(),
            rename: if goes.item.is_none() {
                relation.rename
            } else {
                Vec::new()
            },
            decisions: relation.decisions,
            shim: self.shims,
            first_move: None,
            reasons,
            refused: None,
        })
    }

    /// Modules that hold nothing go; those that only lead on give way to where they lead.
    fn stubs(&self, modules: &Modules<'_>, made: &mut Made) {
        for (at, module) in modules.all().iter().enumerate() {
            if module.package || module.inline.is_some() || made.from.contains(&module.name) {
                continue;
            }
            let (tests, users) = modules.users(at);
            let used = tests.len() + users.len();
            let entry = match module.kind {
                ModuleKind::Stub if used == 0 => Some(removal(&module.name)),
                // What a test imports is kept on purpose, for others.
                ModuleKind::Redirect if !users.is_empty() && tests.is_empty() => {
                    let target = modules.redirected_to(at);
                    target
                        .filter(|target| !made.from.contains(&target.name))
                        .map(|target| self.redirect(modules, (&module.name, &target.name), used))
                }
                _ => None,
            };
            if let Some(entry) = entry {
                made.push(entry, None);
            }
        }
    }

    fn redirect(&self, modules: &Modules<'_>, (from, to): (&str, &str), used: usize) -> DraftEntry {
        let users = if used == 1 {
            "1 module still imports".to_owned()
        } else {
            format!("{used} modules still import")
        };
        DraftEntry {
            reasons: vec![format!("`{from}` only leads on to `{to}`, and {users} it.")],
            verb: DraftVerb::ReplaceModule,
            to: to.to_owned(),
            shim: self.shims,
            refused: modules.offered_by(from, to),
            ..removal(from)
        }
    }
}

/// Copies of each other.
struct Copies<'c> {
    all: &'c [Copy],
    /// They stand once for each backend.
    of_backends: bool,
}

impl<'c> Copies<'c> {
    const fn new(all: &'c [Copy]) -> Self {
        Self {
            all,
            of_backends: false,
        }
    }
}

/// Whether a class is one that somebody may want as one: not what has its reason to be there more than once, and not
/// what nobody imports.
const fn is_asked(chapter: Chapter) -> bool {
    match chapter {
        Chapter::Product
        | Chapter::Next
        | Chapter::Alike
        | Chapter::Variants
        | Chapter::Kernels
        | Chapter::Packages
        | Chapter::Idioms
        | Chapter::Backends
        | Chapter::Kept => true,
        Chapter::Asked
        | Chapter::Programs
        | Chapter::Tests
        | Chapter::Examples
        | Chapter::Generated
        | Chapter::Vendored => false,
    }
}

/// What was made so far.
#[derive(Default)]
struct Made {
    entries: Vec<DraftEntry>,
    seconds: Vec<Option<DraftEntry>>,
    /// Names that go, names that stay, and the modules of pairs that are dealt with as a whole.
    from: BTreeSet<String>,
    to: BTreeSet<String>,
    pairs: BTreeSet<(usize, usize)>,
    whole: BTreeSet<usize>,
}

impl Made {
    /// Whether an entry may say that the one gives way to the other: no chains, and nothing that an
    /// entry on the modules says already.
    fn is_free(&self, goes: &Copy, stays: &Copy) -> bool {
        let name = |copy: &Copy| self.from.contains(&copy.name);
        let inside = goes.item.is_some()
            && (self.whole.contains(&goes.module) || self.whole.contains(&stays.module));
        let known = self.pairs.contains(&(goes.module, stays.module));
        let same_place = goes.item.is_some() && goes.module == stays.module;
        !name(goes)
            && !name(stays)
            && !self.to.contains(&goes.name)
            && !inside
            && !known
            && !same_place
    }

    fn add(&mut self, entry: DraftEntry, second: Option<DraftEntry>, goes: &Copy, stays: &Copy) {
        if goes.item.is_none() {
            self.pairs.insert((goes.module, stays.module));
            self.whole.insert(goes.module);
        }
        self.push(entry, second);
    }

    fn push(&mut self, entry: DraftEntry, second: Option<DraftEntry>) {
        self.from.insert(entry.from.clone());
        self.to.insert(entry.to.clone());
        self.entries.push(entry);
        self.seconds.push(second);
    }
}

/// Whether a name says that it is its module's own.
fn is_private(copy: &Copy) -> bool {
    let item = copy.item.as_deref();
    item.is_some_and(|item| item.starts_with('_') && !item.starts_with("__"))
}

/// Whether both stand in files of one folder.
fn is_beside(a: &Copy, b: &Copy) -> bool {
    a.path.parent() == b.path.parent()
}

/// What a program begins with, and what the language calls of a module by its name: nobody takes that of another one.
fn is_program(copy: &Copy) -> bool {
    let item = copy.item.as_deref();
    matches!(
        item,
        Some("main" | "cli_main" | "_main" | "__getattr__" | "__dir__")
    )
}

/// Whether a Python file calls an item where it asks whether it is run itself.
fn is_run_by(text: &str, item: &str) -> bool {
    let is_guard = |line: &&str| line.starts_with("if __name__ ==") && line.contains("__main__");
    let mut lines = text.lines().skip_while(|line| !is_guard(line));
    let guard = lines.next();
    let inside = lines.take_while(|line| line.is_empty() || line.starts_with([' ', '\t']));
    let call = format!("{item}(");
    let mut all = guard.into_iter().chain(inside);
    all.any(|line| {
        let mut found = line.match_indices(&call);
        found.any(|(at, _)| {
            let before = line.get(..at).and_then(|before| before.chars().next_back());
            before.is_none_or(|letter| !(letter.is_alphanumeric() || "_.".contains(letter)))
        })
    })
}

/// The items of a class that are called the same, where others are called otherwise: a class holds
/// what is alike, and one of another name may be the best of it and no home for any of these.
fn namesakes(copies: &[Copy]) -> Vec<Vec<Copy>> {
    let mut by_item: BTreeMap<&str, Vec<Copy>> = BTreeMap::new();
    for copy in copies {
        if let Some(item) = &copy.item {
            by_item.entry(item).or_default().push(copy.clone());
        }
    }
    let groups = by_item.into_values();
    groups
        .filter(|group| group.len() > 1 && group.len() < copies.len())
        .collect()
}

fn removal(from: &str) -> DraftEntry {
    DraftEntry {
        verb: DraftVerb::Remove,
        from: from.to_owned(),
        to: String::new(),
        rename: Vec::new(),
        decisions: Vec::new(),
        shim: false,
        first_move: None,
        reasons: vec![format!("`{from}` defines nothing, and nothing imports it.")],
        refused: None,
    }
}

/// The first of some names, and how many there are besides.
pub(super) fn first_of<S: AsRef<str>>(names: &[S], most: usize) -> String {
    let shown: Vec<&str> = names.iter().take(most).map(AsRef::as_ref).collect();
    let rest = match names.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{rest}", shown.join(", "))
}

fn covered(goes: &Copy, stays: &Copy, relation: &Relation) -> String {
    if goes.item.is_some() {
        let what = match relation.decisions.is_empty() {
            true => "is a copy of",
            false => "is nearly",
        };
        return format!("`{}` {what} `{}`.", goes.name, stays.name);
    }
    let mut parts = vec![format!("{} the same", relation.same)];
    if !relation.rename.is_empty() {
        parts.push(format!("{} by another name", relation.rename.len()));
    }
    if !relation.decisions.is_empty() {
        parts.push(format!("{} otherwise", relation.decisions.len()));
    }
    if !relation.unique.is_empty() {
        parts.push(format!("lacks {}", first_of(&relation.unique, NAMED)));
    }
    format!(
        "What `{}` defines, `{}` has: {}.",
        goes.name,
        stays.name,
        parts.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::is_run_by;

    #[test]
    fn a_program_calls_its_own_function() {
        for (text, is_run) in [
            (
                "def run():\n    pass\n\nif __name__ == \"__main__\":\n    run()\n",
                true,
            ),
            ("if __name__ == '__main__':\n    sys.exit(run(1))\n", true),
            ("if __name__ == '__main__': run()\n", true),
            (
                "if __name__ == '__main__':\n    dry_run()\n    a.run()\n",
                false,
            ),
            ("if __name__ == '__main__':\n    pass\nrun()\n", false),
            ("def f():\n    run()\n", false),
        ] {
            assert_eq!(is_run_by(text, "run"), is_run, "{text}");
        }
    }
}
