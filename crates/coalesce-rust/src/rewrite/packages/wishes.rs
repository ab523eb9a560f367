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
use coalesce_model::TreePath;

use super::{
    super::mapping::Mapping,
    book::{Book, Wrong},
};
use crate::discover::{DependencyKind, crate_name};

/// What moved code needs switched on.
#[derive(Debug, Default)]
pub(in super::super) struct Wishes {
    /// Features that go along: of this package, to that one.
    pub features: BTreeSet<(usize, usize, String)>,
    /// Features of packages that the code uses.
    pub asks: BTreeSet<Ask>,
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
        self.features.is_empty() && self.asks.is_empty()
    }

    /// Grants them all.
    pub(super) fn grant(&self, mapping: &Mapping<'_>, book: &mut Book<'_>) -> Result<(), Wrong> {
        for (from, to, name) in &self.features {
            self.bring(mapping, book, (*from, *to), name)?;
        }
        for ask in &self.asks {
            grant(mapping, book, ask)?;
        }
        Ok(())
    }

    fn bring(
        &self,
        mapping: &Mapping<'_>,
        book: &mut Book<'_>,
        (from, to): (usize, usize),
        name: &str,
    ) -> Result<(), Wrong> {
        let world = mapping.world;
        let (old, new) = (world.manifest_of(from), world.manifest_of(to));
        let text = book.text(&old)?;
        let wrong = |why: coalesce_cargo::Error| (old.clone(), why.to_string());
        let said = features::features(&text).map_err(wrong)?;
        let own = entries::dependencies(&text).map_err(wrong)?;
        let there = entries::dependencies(&book.text(&new)?).map_err(wrong)?;
        let known = features::features(&book.text(&new)?).map_err(wrong)?;
        let mut fates: BTreeMap<String, Fate> = BTreeMap::new();
        for entry in &own {
            let itself = names(mapping, from, to, entry);
            let fate = if itself {
                Fate::Own
            } else {
                fate(&there, &entry.key)
            };
            fates.insert(entry.key.clone(), fate);
        }
        let implicit = vec![format!("dep:{name}")];
        let mut list = features::translated(features::of(&said, name).unwrap_or(&implicit), &fates);
        list.retain(|other| {
            let plain = !other.contains([':', '/']);
            let comes = self.features.contains(&(from, to, other.clone()));
            other != name && (!plain || comes || features::of(&known, other).is_some())
        });
        let mut more: Features = vec![(name.to_owned(), list)];
        if features::defaults(&said).contains(name) {
            more.push(("default".to_owned(), vec![name.to_owned()]));
        }
        book.change(&new, |text| Ok(features::join(text, &more)?))?;
        forward(mapping, book, (from, to), name, &old)?;
        users(mapping, book, (from, to), name)
    }
}

/// Whether an entry of a package names another package of the tree.
fn names(mapping: &Mapping<'_>, package: usize, of: usize, entry: &Entry) -> bool {
    let world = mapping.world;
    let (package, of) = (world.package(package), world.package(of));
    let name = crate_name(&entry.key);
    let known = package
        .dependencies
        .iter()
        .any(|known| known.name == name && known.directory.as_ref() == Some(&of.directory));
    known || entry.package() == of.name
}

/// Who turns the feature on in the package that the code leaves turns it on where it is.
fn forward(
    mapping: &Mapping<'_>,
    book: &mut Book<'_>,
    (from, to): (usize, usize),
    name: &str,
    old: &TreePath,
) -> Result<(), Wrong> {
    book.change(old, |text| {
        let own = entries::dependencies(text)?;
        let line = own.iter().find(|entry| {
            entry.kind() == DependencyKind::Normal && names(mapping, from, to, entry)
        });
        let Some(line) = line else {
            return Ok(text.to_owned());
        };
        let weak = if line.is("optional") { "?" } else { "" };
        let said = features::features(text)?;
        let mut list = match features::of(&said, name) {
            Some(list) => list.clone(),
            None => vec![format!("dep:{name}")],
        };
        let more = format!("{}{weak}/{name}", line.key);
        if list.contains(&more) {
            return Ok(text.to_owned());
        }
        list.push(more);
        Ok(features::put(text, name, &list)?)
    })
}

/// Who asked the old package for the feature and names the new one asks that, too.
fn users(
    mapping: &Mapping<'_>,
    book: &mut Book<'_>,
    (from, to): (usize, usize),
    name: &str,
) -> Result<(), Wrong> {
    for at in 0..mapping.world.packages.len() {
        let old = &mapping.world.package(from).directory;
        let mut known = mapping.world.package(at).dependencies.iter();
        let knows = known.any(|known| known.directory.as_ref() == Some(old));
        if at == from || at == to || !knows {
            continue;
        }
        let path = mapping.world.manifest_of(at);
        book.change(&path, |text| {
            let all = entries::dependencies(text)?;
            let asks = all.iter().any(|entry| {
                names(mapping, at, from, entry) && entry.features().iter().any(|own| own == name)
            });
            let new = all.iter().find(|entry| names(mapping, at, to, entry));
            match new.filter(|_| asks) {
                Some(entry) => ask(text, entry, name),
                None => Ok(text.to_owned()),
            }
        })?;
    }
    Ok(())
}

fn ask(text: &str, entry: &Entry, feature: &str) -> Result<String, String> {
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
    let asked = entries::dependencies(&text)
        .map_err(|why| (old.clone(), why.to_string()))?
        .iter()
        .any(|entry| {
            let own = entry.features().contains(&wish.feature);
            own && names(mapping, wish.from, wish.used, entry)
        });
    if wish.under.is_none() && !asked {
        return Err((
            old,
            format!(
                "what moves uses `{name}` with its feature `{}`, which nobody asks for here",
                wish.feature
            ),
        ));
    }
    book.change(&new, |text| {
        let all = entries::dependencies(text)?;
        let line = all
            .iter()
            .find(|entry| names(mapping, wish.to, wish.used, entry));
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
    })
}
