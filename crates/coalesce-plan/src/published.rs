//! What those notice who use the packages from elsewhere: public names that go, and functions and classes that are called
//! another way.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
};

use coalesce_model::{
    Change, ChangeKind, LanguageGraph, Subject, Texts, change::Renames, envelope::ChangedSignature,
};

/// The public names of the packages of a tree that are made to be published, before and after.
pub struct Published<'a, G> {
    before: &'a G,
    /// Those that others can write before, in packages that are not published, too.
    old: BTreeSet<String>,
    new: BTreeSet<String>,
    changes: &'a [Change],
    texts: &'a dyn Texts,
    separator: &'static str,
    /// Whether each package that was asked of is published.
    packages: RefCell<BTreeMap<String, bool>>,
}

impl<'a, G: LanguageGraph> Published<'a, G> {
    pub fn new((before, after): (&'a G, &G), changes: &'a [Change], texts: &'a dyn Texts) -> Self {
        Self {
            before,
            old: before.public_names(),
            new: after.public_names(),
            changes,
            texts,
            separator: before.language().separator(),
            packages: RefCell::default(),
        }
    }

    /// Names that nobody can write any more, without those below a module that is gone itself, each with the name that it
    /// has instead, if that is public.
    pub fn lost_names(&self) -> Vec<(String, Option<String>)> {
        let members = self.public_members();
        let names = self.old.iter().chain(&members).map(String::as_str);
        let lost: BTreeSet<&str> = names.filter(|name| !self.new.contains(*name)).collect();
        let renames = Renames::new(self.changes, self.separator);
        let is_inside = |name: &str| {
            let parent = self.parent(name);
            let mut around = std::iter::successors(parent, |name| self.parent(name));
            around.any(|name| lost.contains(name))
        };
        let told = lost
            .iter()
            .filter(|name| !is_inside(name) && self.is_published(name));
        told.map(|name| {
            let renamed = renames.renamed(name);
            let instead = renamed.filter(|renamed| self.new.contains(renamed));
            ((*name).to_owned(), instead)
        })
        .collect()
    }

    /// Members of public types that others can write, and that a change takes from them.
    fn public_members(&self) -> Vec<String> {
        let taken = self.changes.iter().filter(|change| {
            let of = self.parent(&change.from);
            change.subject == Subject::Item
                && change.shim.is_none()
                && of.is_some_and(|of| self.old.contains(of))
                && self.before.has_public_member(&change.from, self.texts)
        });
        taken.map(|change| change.from.clone()).collect()
    }

    /// Functions and classes that gave way to others which are called another way.
    pub fn changed_signatures(&self) -> Vec<ChangedSignature> {
        let stand_ins = StandIns::of(self.changes, self.separator);
        if stand_ins.is_empty() {
            return Vec::new();
        }
        let (names, pairs): (Vec<&String>, Vec<(String, String)>) = self
            .old
            .iter()
            .filter_map(|name| Some((name, self.stand_in(&stand_ins, name)?)))
            .unzip();
        let apart = self
            .before
            .signatures_apart(&pairs, self.changes, self.texts);
        let found = names.into_iter().zip(apart).filter_map(|(name, apart)| {
            let (before, after) = apart?;
            Some(ChangedSignature {
                name: name.clone(),
                now: self.name_after(&stand_ins, name)?,
                before,
                after,
            })
        });
        found.collect()
    }

    /// What a public name leads to, and what takes the place of that.
    fn stand_in(&self, stand_ins: &StandIns<'_>, name: &str) -> Option<(String, String)> {
        let definition = self.before.definition_of(name)?;
        let instead = self
            .before
            .definition_of(&stand_ins.of_definition(&definition)?)?;
        // Who asks for a shim has such users, wherever they have the package from.
        let known = stand_ins.leaves_shim(&definition) || self.is_published(name);
        known.then_some((definition, instead))
    }

    /// The public name by which its users get it from now on.
    fn name_after(&self, stand_ins: &StandIns<'_>, name: &str) -> Option<String> {
        if self.new.contains(name) {
            return Some(name.to_owned());
        }
        let renamed = stand_ins.renames.renamed(name);
        renamed.filter(|renamed| self.new.contains(renamed))
    }

    /// Whether the package of a name is made to be published; its project file is read once.
    fn is_published(&self, name: &str) -> bool {
        let package = name.split(self.separator).next().unwrap_or(name);
        if let Some(known) = self.packages.borrow().get(package) {
            return *known;
        }
        let found = self.before.is_published(package, self.texts);
        self.packages.borrow_mut().insert(package.to_owned(), found);
        found
    }

    fn parent<'n>(&self, name: &'n str) -> Option<&'n str> {
        name.rsplit_once(self.separator).map(|(parent, _)| parent)
    }
}

/// What takes whose place.
struct StandIns<'c> {
    renames: Renames<'c>,
    superseded: BTreeMap<&'c str, &'c str>,
    replaces: bool,
}

impl<'c> StandIns<'c> {
    fn of(changes: &'c [Change], separator: &'static str) -> Self {
        let replaces = |change: &&Change| matches!(change.kind, ChangeKind::Replace { .. });
        let supersedes = changes
            .iter()
            .filter(|change| change.kind == ChangeKind::Supersede);
        Self {
            renames: Renames::new(changes.iter().filter(replaces), separator),
            superseded: supersedes
                .map(|change| (change.to.as_str(), change.from.as_str()))
                .collect(),
            replaces: changes.iter().any(|change| replaces(&change)),
        }
    }

    fn is_empty(&self) -> bool {
        !self.replaces && self.superseded.is_empty()
    }

    /// Whether a shim stays at the name of a definition.
    fn leaves_shim(&self, definition: &str) -> bool {
        let nearest = self.renames.nearest(definition);
        nearest.is_some_and(|(change, _)| change.shim.is_some())
    }

    /// What users of a definition get instead, where that is another one.
    fn of_definition(&self, definition: &str) -> Option<String> {
        match self.superseded.get(definition) {
            Some(from) => Some((*from).to_owned()),
            // What takes another one's place is what its users have from then on, too.
            None if self.superseded.values().any(|from| *from == definition) => None,
            None => self.renames.renamed(definition),
        }
    }
}
