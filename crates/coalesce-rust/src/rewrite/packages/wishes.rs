//! Features that code needs in the package that it goes to, or of packages that it uses there.
//!
//! A feature comes with its name and with what it says of dependencies that are there; the package
//! that the code leaves turns it on along with its own, so that who asked for it still gets it.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_cargo::{
    dependencies::{self as entries, Entry},
    features::{self, Fate, Features},
    join::fate,
};
use coalesce_model::Unproven;

use super::{
    super::mapping::Mapping,
    book::{Book, Wrong},
    switches,
};
use crate::discover::crate_name;

/// What moved code needs switched on.
#[derive(Debug, Default)]
pub(in super::super) struct Wishes {
    /// Features that go along.
    pub features: BTreeSet<Switch>,
    /// Features that the package has already by the same name, and whether conditions inside of what
    /// moves name them: what these do is told by no error where the feature is off.
    pub shared: BTreeMap<Switch, bool>,
    /// Features that a copy names which gives way, and that the package of what takes its place has as well.
    pub replaced: BTreeSet<Switch>,
    /// Features of packages that the code uses.
    pub asks: BTreeSet<Ask>,
}

/// A feature of the package that code leaves, for the one that it goes to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) struct Switch {
    pub from: usize,
    pub to: usize,
    pub feature: String,
}

/// A feature of a package that code uses where it goes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) struct Ask {
    /// The package that the code leaves.
    pub from: usize,
    /// The package that it goes to.
    pub to: usize,
    /// The package that it uses.
    pub used: usize,
    /// The feature of that.
    pub feature: String,
    /// The feature of its own that the code stands under.
    pub under: Option<String>,
}

impl Wishes {
    pub fn is_empty(&self) -> bool {
        self.features.is_empty()
            && self.shared.is_empty()
            && self.replaced.is_empty()
            && self.asks.is_empty()
    }

    /// Grants them all; what is left open is told.
    pub(super) fn grant(
        &self,
        mapping: &Mapping<'_>,
        book: &mut Book<'_>,
    ) -> Result<Vec<Unproven>, Wrong> {
        let mut open = Vec::new();
        for switch in &self.features {
            self.bring(mapping, book, switch, true)?;
            open.extend(switches::carry(mapping, book, switch)?);
        }
        for (switch, inside) in &self.shared {
            self.bring(mapping, book, switch, false)?;
            open.extend(switches::carry(mapping, book, switch)?);
            if *inside {
                open.extend(switches::on_by_others(mapping, switch)?);
            }
        }
        for switch in &self.replaced {
            open.extend(switches::carry(mapping, book, switch)?);
            open.extend(switches::on_by_others(mapping, switch)?);
        }
        for ask in &self.asks {
            grant(mapping, book, ask)?;
        }
        Ok(open)
    }

    /// Has the package say of the feature what the one says that the code leaves: all of it where it
    /// is new, and what it turns on of dependencies where it is not.
    fn bring(
        &self,
        mapping: &Mapping<'_>,
        book: &mut Book<'_>,
        switch: &Switch,
        is_new: bool,
    ) -> Result<(), Wrong> {
        let world = mapping.world;
        let (from, to, name) = (switch.from, switch.to, &switch.feature);
        let (old, new) = (world.manifest_of(from), world.manifest_of(to));
        let text = book.text(&old)?;
        let wrong = |why: coalesce_cargo::Error| (old.clone(), why.to_string());
        let said = features::features(&text).map_err(wrong)?;
        let own = entries::dependencies(&text).map_err(wrong)?;
        let there = entries::dependencies(&book.text(&new)?).map_err(wrong)?;
        let known = features::features(&book.text(&new)?).map_err(wrong)?;
        let fates = own.iter().map(|entry| {
            let itself = names(mapping, from, to, entry);
            let fate = if itself {
                Fate::Own
            } else {
                fate(&there, &entry.key)
            };
            (entry.key.clone(), fate)
        });
        let fates: BTreeMap<String, Fate> = fates.collect();
        let implicit = vec![format!("dep:{name}")];
        let mut list = features::translated(features::of(&said, name).unwrap_or(&implicit), &fates);
        list.retain(|other| {
            let plain = !other.contains([':', '/']);
            let there =
                is_new && (self.comes(switch, other) || features::of(&known, other).is_some());
            other != name && (!plain || there)
        });
        if !is_new && (list.is_empty() || features::of(&known, name).is_none()) {
            return Ok(());
        }
        let mut more: Features = vec![(name.to_owned(), list)];
        let is_default = is_new && features::defaults(&said).contains(name);
        if is_default && switches::is_on_for_all(mapping, switch)? {
            more.push(("default".to_owned(), vec![name.to_owned()]));
        }
        book.change(&new, |text| Ok(features::join(text, &more)?))
    }

    /// Whether another feature goes the same way.
    fn comes(&self, switch: &Switch, feature: &str) -> bool {
        self.features.contains(&Switch {
            feature: feature.to_owned(),
            ..switch.clone()
        })
    }
}

/// Whether an entry of a package names another package of the tree.
pub(super) fn names(mapping: &Mapping<'_>, package: usize, of: usize, entry: &Entry) -> bool {
    let world = mapping.world;
    let (package, of) = (world.package(package), world.package(of));
    let name = crate_name(&entry.key);
    let known = package
        .dependencies
        .iter()
        .any(|known| known.name == name && known.directory.as_ref() == Some(&of.directory));
    known || entry.package() == of.name
}

pub(super) fn ask(text: &str, entry: &Entry, feature: &str) -> Result<String, String> {
    let mut more = entry.clone();
    if !more.ask(&[feature.to_owned()]) {
        return Ok(text.to_owned());
    }
    Ok(entries::replace(text, entry, &more)?)
}

/// A feature of a package that moved code uses.
fn grant(mapping: &Mapping<'_>, book: &mut Book<'_>, wish: &Ask) -> Result<(), Wrong> {
    let world = mapping.world;
    let (old, new) = (world.manifest_of(wish.from), world.manifest_of(wish.to));
    let name = &*world.package(wish.used).name;
    let text = book.text(&old)?;
    let entries = entries::dependencies(&text).map_err(|why| (old.clone(), why.to_string()))?;
    let asked = entries.iter().any(|entry| {
        let own = entry.features().contains(&wish.feature);
        own && names(mapping, wish.from, wish.used, entry)
    });
    if wish.under.is_none() && !asked {
        let why = format!(
            "what moves uses `{name}` with its feature `{}`, which nobody asks for here",
            wish.feature
        );
        return Err((old, why));
    }
    book.change(&new, |text| grant_in(text, mapping, wish, asked))
}

/// A manifest whose line for the package that is used turns the feature on, or its own feature that the code
/// stands under does.
fn grant_in(text: &str, mapping: &Mapping<'_>, wish: &Ask, asked: bool) -> Result<String, String> {
    let all = entries::dependencies(text)?;
    let mut lines = all.iter();
    let line = lines.find(|entry| names(mapping, wish.to, wish.used, entry));
    let Some(line) = line else {
        return Ok(text.to_owned());
    };
    match &wish.under {
        Some(under) if !asked => {
            let list = vec![format!("{}/{}", line.key, wish.feature)];
            Ok(features::join(text, &vec![(under.clone(), list)])?)
        }
        _ => ask(text, line, &wish.feature),
    }
}
