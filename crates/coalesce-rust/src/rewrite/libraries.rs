//! Paths from one crate to another: how a crate names a library, and what moved code finds where
//! it goes.

use super::{
    needs::{Because, Need, NeededThing, Purpose},
    place::Place,
    spell::{Respelling, Speller},
    standard,
    walk::{Goal, Leaving},
};
use crate::{
    discover::{Edition, TargetKind},
    facts::ItemKind,
    resolve::{CrateId, FileId, Found, ItemId, Res, Site},
};

impl Speller<'_> {
    /// Code in documents is outside of its crate: it names it, and needs others for tests alone.
    pub(super) fn in_documents(&self, here: &Place, new: &mut Respelling, needs: &mut [Need]) {
        if new.start == 0 {
            self.start_at_crate(here, &mut new.path);
        }
        for need in needs {
            match &mut need.subject {
                NeededThing::Crate(_, purpose) | NeededThing::External(_, _, purpose) => {
                    *purpose = Purpose::Documents;
                }
                NeededThing::Module(_) | NeededThing::Item(_) => {}
            }
        }
    }

    /// Has a path that starts in the crate of a place, or in its module, begin at the name of the crate: a document is
    /// a crate of its own.
    pub(super) fn start_at_crate(&self, here: &Place, path: &mut Vec<String>) {
        let first = path.first().map(String::as_str);
        let mut names = here.path.clone();
        let up = path.iter().take_while(|name| *name == "super").count();
        let said = match first {
            Some("crate") => {
                names.clear();
                1
            }
            Some("self") => 1,
            Some("super") => {
                names.truncate(names.len().saturating_sub(up));
                up
            }
            _ => return,
        };
        names.insert(0, self.world()[here.krate].name.clone());
        path.splice(..said, names);
    }

    /// Where code that goes to another crate finds, without a way through its old one, what it goes
    /// there with.
    pub(super) fn at_home(
        &self,
        site: &Site<'_>,
        leaving: Option<Leaving<'_, '_>>,
        here: &Place,
    ) -> Option<(usize, Goal)> {
        if self.mapping.krate(self.here(site)) == here.krate {
            return None;
        }
        let mut ways = site.trace.steps.iter().filter_map(Found::module);
        let leaves = ways.any(|module| self.mapping.after(module).krate != here.krate);
        let (at, res) = last_known(site)?;
        let goal = match res {
            Res::Module(module) if self.mapping.after(module).krate == here.krate => {
                Goal::Module(module)
            }
            Res::Item(item) if leaving.is_none_or(|leaving| leaving.set.of(item).is_none()) => {
                Goal::Path(here.krate, self.definition_in(item, here.krate)?)
            }
            _ => return None,
        };
        leaves.then_some((at, goal))
    }

    /// The path by which a crate that defines an item says it.
    pub fn definition_in(&self, item: ItemId, krate: CrateId) -> Option<Vec<String>> {
        let node = &self.world()[item];
        let place = self.mapping.after(node.module);
        // Macros are named by other paths than where they are defined.
        let plain = !node.local && node.kind != ItemKind::Macro && place.krate == krate;
        let mut path = self.rooted(&place);
        path.push(node.name.clone());
        plain.then_some(path)
    }

    /// The crate after of the module that has an import.
    pub fn krate_of(&self, (file, leaf): (FileId, u32)) -> Option<CrateId> {
        let facts = self.world().facts(file);
        let scope = facts.declaration_of(leaf).scope;
        let load = *self.world()[file].loads.first()?;
        let load = self.world().loads.get(load as usize)?;
        let space = load.spaces.get(scope.0 as usize)?;
        Some(self.mapping.after(self.world().module_of(*space)).krate)
    }

    /// The path to a place as a crate says it.
    pub fn rooted_in(&self, user: CrateId, place: &Place) -> Vec<String> {
        let mut path = self.rooted(place);
        if user != place.krate
            && let Some(first) = path.first_mut()
        {
            *first = self.name_of_crate(user, place.krate);
        }
        path
    }

    /// The name that a crate has for a library of the tree, or gets.
    pub fn name_of_crate(&self, user: CrateId, of: CrateId) -> String {
        let crates = &self.world().crates;
        let externs = crates.get(user.index()).map(|user| user.externs.as_slice());
        let mut known = externs.unwrap_or_default().iter();
        // What a library brings along keeps the name that it has there.
        let arriving = self.mapping.libraries.iter().filter(|library| {
            self.mapping.after(library.module).krate == user
                && !self.mapping.is_replaced(library.module)
        });
        let brought = arriving
            .filter_map(|library| crates.get(library.krate.index()))
            .flat_map(|krate| &krate.externs);
        let name = known
            .find(|(_, krate)| *krate == Some(of))
            .or_else(|| brought.into_iter().find(|(_, krate)| *krate == Some(of)));
        name.map(|(name, _)| name.clone())
            .or_else(|| Some(crates.get(of.index())?.name.clone()))
            .unwrap_or_default()
    }

    /// What a crate has to depend on to name a library from elsewhere as `source` does.
    pub fn outside(&self, source: CrateId, name: &str, here: &Place) -> Option<Need> {
        let standard = ["std", "core", "alloc", "proc_macro", "test"];
        let sym = self.world().names.get(name)?;
        (!standard.contains(&name) && source != here.krate).then(|| {
            Need::new(
                NeededThing::External(sym, source, Purpose::Code),
                here.clone(),
            )
        })
    }

    /// A path that reads so from anywhere in one crate, as a place in another one says it.
    pub fn said_in(
        &self,
        mut path: Vec<String>,
        krate: CrateId,
        here: &Place,
        needs: &mut Vec<Need>,
    ) -> Vec<String> {
        let Some(first) = path.first().cloned() else {
            return path;
        };
        let Some(target) = self.crate_named(&first, krate) else {
            needs.extend(self.outside(krate, &first, here));
            let names: Vec<&str> = path.iter().map(String::as_str).collect();
            let said = standard::said_in(self.mapping, (krate, here.krate), &names, false);
            rename_first(&mut path, said);
            return path;
        };
        if target == here.krate {
            rename_first(&mut path, Some("crate"));
        } else {
            rename_first(&mut path, Some(&self.name_of_crate(here.krate, target)));
            let because = Because::Names(path.join("::"));
            let need = Need::new(NeededThing::Crate(target, Purpose::Code), here.clone());
            needs.push(need.because(because));
        }
        self.see_path(target, &path, here, needs);
        path
    }

    /// The crate of the tree that a path of another one begins with.
    fn crate_named(&self, first: &str, krate: CrateId) -> Option<CrateId> {
        if first == "crate" {
            return Some(krate);
        }
        let crates = &self.world().crates;
        let externs = crates.get(krate.index()).map(|krate| &krate.externs);
        let mut externs = externs.into_iter().flatten();
        if let Some((_, known)) = externs.find(|(name, _)| name == first) {
            return *known;
        }
        // A dependency that comes with the changes.
        let mut all = crates.iter();
        let at = all.position(|krate| krate.kind == TargetKind::Lib && krate.name == *first)?;
        u32::try_from(at).ok().map(CrateId)
    }

    /// By the name that a crate has for the crate of a place.
    pub(super) fn through_dependency(&self, here: &Place, place: &Place) -> Option<Vec<String>> {
        let own = &self.world()[here.krate];
        // There, an `extern crate` would have to come first.
        (own.edition != Edition::E2015).then(|| self.rooted_in(here.krate, place))
    }
}

/// The last step of a site that leads to an item or a module, and to which.
pub(super) fn last_known(site: &Site<'_>) -> Option<(usize, Res)> {
    let mut steps = site.trace.steps.iter().enumerate().rev();
    steps.find_map(|(at, step)| {
        let mut all = step.all().map(|(res, _)| res);
        let res = all.find(|res| matches!(res, Res::Item(_) | Res::Module(_)))?;
        Some((at, res))
    })
}

/// Gives a path another first name, if there is one.
fn rename_first(path: &mut [String], name: Option<&str>) {
    if let Some((first, name)) = path.first_mut().zip(name) {
        name.clone_into(first);
    }
}
