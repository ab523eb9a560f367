//! Lines that a package has already for what arriving code names: they have to lead to what the code
//! named where it comes from, with no less of its features.
//!
//! A feature that is missing is asked for; a line that leads elsewhere is refused. What lists turn on
//! by default where the code comes from was on for it as well.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_cargo::{
    dependencies::{self, Entry},
    features,
    requirements::{Overlap, overlap},
};
use coalesce_model::{ChangeKind, Finding, Unproven, UnprovenKind, finding::codes};

use super::{
    Gets, Wanted, kind_for,
    manifests::{User, Writing},
    sees,
};
use crate::{
    discover::crate_name,
    rewrite::{
        mapping::{Mapping, refusal},
        needs::{NeededThing, Needs},
        packages::{Effective, Wrong},
        place::Place,
    },
};

/// What code that goes from one package to another names of a third one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TakenAlong {
    /// The package that the code comes from.
    source: usize,
    gets: Gets,
}

/// What arriving code names, and where.
pub(super) fn taken(mapping: &Mapping<'_>, needs: &Needs) -> BTreeMap<TakenAlong, String> {
    let mut found = BTreeMap::new();
    for (subject, users) in needs.dependencies() {
        let taken = users.iter().flat_map(|user| {
            let taken = taken_by(mapping, subject, user).into_iter();
            taken.map(move |taken| (taken, user))
        });
        for (taken, user) in taken {
            found.entry(taken).or_insert_with(|| mapping.name_of(user));
        }
    }
    found
}

/// What one place names of other packages, by each package that something comes from.
fn taken_by(mapping: &Mapping<'_>, subject: NeededThing, user: &Place) -> Vec<TakenAlong> {
    let world = mapping.world;
    let krate = &world[user.krate];
    let package = mapping.package_after(krate.package);
    let kind = kind_for(mapping, subject, user, krate.kind);
    let wanted = wanted_of(mapping, subject, package).into_iter();
    wanted
        .filter(|(source, _)| mapping.package_after(*source) != package)
        .map(|(source, wanted)| {
            let gets = Gets {
                package,
                wanted,
                kind,
            };
            TakenAlong { source, gets }
        })
        .collect()
}

/// What a package wants that names a subject, and the packages that this comes from.
fn wanted_of(mapping: &Mapping<'_>, subject: NeededThing, package: usize) -> Vec<(usize, Wanted)> {
    let world = mapping.world;
    match subject {
        NeededThing::External(name, source, _) => {
            let source = world[source].package;
            let name = world.names.text(name).to_string();
            vec![(source, Wanted::Outside { name, source })]
        }
        NeededThing::Crate(of, _) => {
            let of = mapping.package_after(world[of].package);
            let sources = senders(mapping, package).into_iter();
            let sources = sources.filter(|source| *source != of && package != of);
            let of_tree = sources.map(|source| (source, Wanted::Tree { package: of }));
            of_tree.collect()
        }
        NeededThing::Module(_) | NeededThing::Item(_) => Vec::new(),
    }
}

/// The packages from which something moves to one.
fn senders(mapping: &Mapping<'_>, package: usize) -> BTreeSet<usize> {
    let world = mapping.world;
    let of_crate = |name: &str| {
        let first = name.split("::").next();
        let mut crates = world.crates.iter();
        let found = crates.find(|krate| first == Some(krate.canonical.as_str()));
        found.map(|krate| krate.package)
    };
    let moves = mapping
        .changes
        .iter()
        .filter(|change| change.kind == ChangeKind::Move && of_crate(&change.to) == Some(package));
    moves
        .filter_map(|change| of_crate(&change.from))
        .filter(|source| *source != package)
        .collect()
}

/// What holding lines against each other comes to.
#[derive(Default)]
pub(super) struct Agreement {
    pub refusals: Vec<Finding>,
    pub unproven: Vec<Unproven>,
}

impl Writing<'_, '_> {
    /// Holds the lines of a package for what arrives in it against those that the code had.
    pub fn agree(&mut self, taken: &TakenAlong, by: &str) -> Result<Agreement, Wrong> {
        let mut agreement = Agreement::default();
        let gets = &taken.gets;
        let (user, there) = (self.user(gets.package)?, self.user(taken.source)?);
        let had = self.lines(&there, gets);
        if let Some(refused) = self.is_taken(&user, gets, &had, by) {
            agreement.refusals.push(refused);
            return Ok(agreement);
        }
        let known = self.lines(&user, gets);
        let Some(had) = Had::of(self, &there, &had) else {
            return Ok(agreement);
        };
        for entry in known {
            let line = Effective::of(&mut self.book, self.mapping.texts, user.package, &entry);
            match had.differs(&line) {
                Some(Difference::Other(why)) => {
                    agreement.refusals.push(is_another(&user, &entry, by, &why));
                }
                Some(Difference::Open(why)) => {
                    agreement.unproven.push(may_be_another(&user, &entry, &why));
                }
                None => self.level(&user, (&entry, &line), &had, by)?,
            }
        }
        Ok(agreement)
    }

    /// The lines of a package for what is wanted, in the tables that code of a kind sees.
    fn lines(&self, user: &User<'_>, gets: &Gets) -> Vec<Entry> {
        let fits = |entry: &&Entry| match &gets.wanted {
            Wanted::Tree { package } => self.names(user, entry, *package),
            Wanted::Outside { name, .. } => crate_name(&entry.key) == *name,
        };
        let seen = user.entries.iter();
        let seen = seen.filter(|entry| sees(gets.kind, entry.kind()) && fits(entry));
        seen.cloned().collect()
    }

    /// Whether a line leads to a package of the tree, be it one that the package had or one that it got.
    fn names(&self, user: &User<'_>, entry: &Entry, package: usize) -> bool {
        let name = crate_name(&entry.key);
        let mut known = user.package.dependencies.iter();
        let is_new = !known.any(|known| known.name == name);
        let target = &self.mapping.world.package(package).name;
        self.leads_to(user.package, entry) == Some(package) || is_new && entry.key == *target
    }

    /// A package of the tree whose name leads to something else there.
    fn is_taken(&self, user: &User<'_>, gets: &Gets, had: &[Entry], by: &str) -> Option<Finding> {
        let Wanted::Tree { package } = gets.wanted else {
            return None;
        };
        let name = &self.mapping.world.package(package).name;
        let mut lines = user.entries.iter();
        let other = lines.find(|entry| entry.key == *name && !self.names(user, entry, package))?;
        let theirs = had
            .first()
            .map_or_else(|| format!("`{name}`"), |had| format!("`{}`", had.line()));
        let message = format!(
            "`{by}` would name `{name}`, which is another one here: `{}` here, {theirs} where it comes from",
            other.line()
        );
        Some(refusal(user.path.clone(), message).coded(codes::NAME_TAKEN))
    }

    /// Has a line ask for what the code had.
    fn level(
        &mut self,
        user: &User<'_>,
        (entry, line): (&Entry, &Effective),
        had: &Had,
        by: &str,
    ) -> Result<(), Wrong> {
        let (more, gained) = had.asked_of(entry, line);
        if more == *entry {
            return Ok(());
        }
        self.book.change(&user.path, |text| {
            let old = dependencies::find(text, entry)?;
            Ok(dependencies::replace(text, &old, &more)?)
        })?;
        let reason = format!("`{by}` comes from where it has {}", gained.join(", "));
        self.rewrites
            .push(user.rewrite(entry.line(), more.line(), reason));
        Ok(())
    }
}

/// What code had of a dependency where it comes from.
struct Had {
    lines: Vec<Effective>,
    features: Vec<String>,
    defaults: bool,
}

impl Had {
    fn of(writing: &mut Writing<'_, '_>, there: &User<'_>, lines: &[Entry]) -> Option<Self> {
        let texts = writing.mapping.texts;
        let mut had = Self {
            lines: Vec::new(),
            features: Vec::new(),
            defaults: false,
        };
        let on = features::defaults(&there.features);
        for entry in lines {
            let line = Effective::of(&mut writing.book, texts, there.package, entry);
            had.features.extend(line.entry.features());
            let by_default = on.iter().filter_map(|said| said.split_once('/'));
            let own = by_default.filter(|(key, _)| key.trim_end_matches('?') == entry.key);
            had.features
                .extend(own.map(|(_, feature)| feature.to_owned()));
            had.defaults |= line.defaults;
            had.lines.push(line);
        }
        let mut seen = BTreeSet::new();
        had.features.retain(|name| seen.insert(name.clone()));
        (!had.lines.is_empty()).then_some(had)
    }

    /// A line that asks for what the code had, and what it gains by that.
    fn asked_of(&self, entry: &Entry, line: &Effective) -> (Entry, Vec<String>) {
        let mut more = entry.clone();
        let known = line.entry.features();
        let missing = self.features.iter().filter(|name| !known.contains(name));
        let missing: Vec<String> = missing.cloned().collect();
        more.ask(&missing);
        let mut gained: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
        if self.defaults && !line.defaults {
            let inherits = entry.is("workspace");
            more.put("default_features", None);
            more.put("default-features", inherits.then(|| "true".to_owned()));
            gained.push("its default features".to_owned());
        }
        (more, gained)
    }

    /// How a line differs from each of these, the least of it: one of them may be for the same system.
    fn differs(&self, line: &Effective) -> Option<Difference> {
        let mut all = self.lines.iter().map(|own| difference(own, line));
        let first = all.next().flatten()?;
        all.try_fold(first, |_, one| one)
    }
}

/// Why two lines of one name may lead to two packages.
enum Difference {
    Other(String),
    Open(String),
}

fn difference(own: &Effective, here: &Effective) -> Option<Difference> {
    let both = format!(
        "`{}` here, `{}` where it comes from",
        here.entry.line(),
        own.entry.line()
    );
    if !is_of_one_source(own, here) {
        return Some(Difference::Other(both));
    }
    // What a path or a repository leads to has one version.
    if own.place().is_some() || own.entry.raw("git").is_some() {
        return None;
    }
    let versions = own
        .entry
        .string("version")
        .zip(here.entry.string("version"));
    match versions.map(|(own, here)| overlap(&own, &here)) {
        Some(Overlap::None) => Some(Difference::Other(both)),
        Some(Overlap::Some) => Some(Difference::Open(both)),
        Some(Overlap::OneVersion) | None => None,
    }
}

fn is_another(user: &User<'_>, entry: &Entry, by: &str, why: &str) -> Finding {
    let message = format!(
        "`{by}` would name `{}`, which is another one here: {why}",
        crate_name(&entry.key)
    );
    refusal(user.path.clone(), message)
        .coded(codes::NAME_TAKEN)
        .with_help("have both lines say the same first".to_owned())
}

fn may_be_another(user: &User<'_>, entry: &Entry, why: &str) -> Unproven {
    Unproven {
        path: user.path.clone(),
        span: None,
        kind: UnprovenKind::Equivalence,
        name: entry.key.clone(),
        why: format!("whether it is one version for both is not known: {why}"),
    }
}

/// Whether two lines say the same of where a package comes from, its version aside.
fn is_of_one_source(own: &Effective, here: &Effective) -> bool {
    let same = ["git", "branch", "tag", "rev", "registry"]
        .into_iter()
        .all(|name| own.entry.string(name) == here.entry.string(name));
    same && own.entry.package() == here.entry.package() && own.place() == here.place()
}
